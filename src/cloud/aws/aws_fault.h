/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_fault.h - what an answer means for whoever asked, and how long to wait before asking again.
 *
 * EC2 refuses for want of capacity with a server's status (500) and throttles with another (503), so
 * the code decides and the status only where there is no code that we know.
 */
#ifndef STINT_CLOUD_AWS_FAULT_H
#define STINT_CLOUD_AWS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/units.h"

struct aws_http_answer;

enum aws_verdict {
    AWS_DONE,        /* it was done */
    AWS_LOST,        /* no answer, or none that says: it may have been done or not */
    AWS_NOT_SENT,    /* nothing was sent: there are no keys to sign with, or it is
                        not known yet whose they are */
    AWS_THROTTLED,   /* not done: too many requests */
    AWS_TOO_MANY,    /* not done: too many things in one request */
    AWS_STALE_KEYS,  /* not done: the keys have expired, or are no keys any more */
    AWS_NOT_ALLOWED, /* not done: a right is missing */
    AWS_NO_CAPACITY, /* not done: no such machine to be had now */
    AWS_NO_QUOTA,    /* not done: the account may have no more of these */
    AWS_BAD_OFFER,   /* not done: this type, zone and market do not go together */
    AWS_NOT_FOUND,   /* not done: there is no such instance */
    AWS_MISMATCH,    /* the client token stands for something else, or for what has ended */
    AWS_WRONG,       /* not done: the request is wrong */
};

/* 'code' is that of the error in the answer; empty: none. */
enum aws_verdict aws_fault_judge(const struct aws_http_answer *answer, const char *code);

/* Whether the code says that AWS does not know the keys, or not those that signed. */
bool aws_fault_is_of_keys(const char *code);

/* Evenly from half of 'base' to base * 2^attempt, at most 'most'; attempts count from 0. Nothing is asked
 * for again at once, whatever chance says. */
msec_t aws_fault_wait(struct rng *rng, msec_t base, msec_t most, uint32_t attempt);

/* A bucket of tokens that fills by itself: the API's own throttling rule, kept on our side. */
struct aws_bucket {
    int64_t burst; /* tokens that it holds at most */
    msec_t every;  /* a token comes every so many milliseconds */
    int64_t milli; /* parts of tokens that are there, in milliseconds of filling */
    msec_t at;     /* when that was */
};

void aws_bucket_init(struct aws_bucket *bucket, int64_t burst, msec_t every);

/* Whether there is a token; then it is taken. */
bool aws_bucket_take(struct aws_bucket *bucket, msec_t now);

/* When there will be one. */
msec_t aws_bucket_next(const struct aws_bucket *bucket, msec_t now);

/* The API says that there was none: it knows better. */
void aws_bucket_drain(struct aws_bucket *bucket, msec_t now);

#endif
