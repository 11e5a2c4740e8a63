/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ec2_answer.h - what EC2 answers, row by row.
 *
 * One reader for all actions that we ask for: it knows rows by where they stand (an instance is an
 * 'item' of an 'instancesSet', whatever the action), so an answer of another version with more in
 * it reads the same. The root element must be that of the action, or of an error that has a code:
 * anything else, such as the page of a proxy, is no answer.
 *
 * Promises:  any bytes may be read; a failure has a text. Texts are printable ASCII, cut to their
 *            place; numbers that are none are 0, times that are none are -1. Unknown elements are
 *            passed over. Rows are reported in order while reading, also before a later failure, but none of
 *            an answer to something else.
 * Bounds:    those of aws_xml.h; EC2_ROWS_MAX rows of one answer. O(bytes).
 */
#ifndef STINT_CLOUD_EC2_ANSWER_H
#define STINT_CLOUD_EC2_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"

enum {
    EC2_ROWS_MAX = 1 << 18,
    EC2_ID_SIZE = 32,
    EC2_NAME_SIZE = 64,
    EC2_TOKEN_SIZE = 4096,
    EC2_OWNER_SIZE = 16, /* an account has 12 digits */
};

enum ec2_state {
    EC2_UNKNOWN, /* none given */
    EC2_PENDING,
    EC2_RUNNING,
    EC2_SHUTTING_DOWN,
    EC2_TERMINATED,
    EC2_STOPPING,
    EC2_STOPPED,
};

struct ec2_instance {
    char id[EC2_ID_SIZE];
    char type[EC2_NAME_SIZE];
    char zone[EC2_NAME_SIZE];
    char client_token[80];
    char owner[EC2_OWNER_SIZE]; /* the account of its reservation; empty: not given before it */
    char tag_cluster[EC2_NAME_SIZE]; /* of the tags stint:cluster, stint:key, stint:offer */
    char tag_key[24];
    char tag_offer[160];
    char reason[EC2_NAME_SIZE]; /* code of the last change: "Server.SpotInstanceTermination" */
    enum ec2_state state;
    bool is_spot;
    uint32_t launch_index;
    msec_t launched_at;
    msec_t changed_at; /* time inside the words of the last change; -1: none */
};

struct ec2_type {
    char name[EC2_NAME_SIZE];
    char arch[EC2_NAME_SIZE]; /* "i386,x86_64" */
    uint32_t cpus;
    uint32_t mem_mib;
    uint32_t gpus;
    uint32_t accelerators; /* of inference and training chips */
    bool has_spot;
    bool has_on_demand;
    bool is_bare_metal;
    bool is_current;
};

struct ec2_offering {
    char type[EC2_NAME_SIZE];
    char location[EC2_NAME_SIZE];
};

struct ec2_spot_price {
    char type[EC2_NAME_SIZE];
    char zone[EC2_NAME_SIZE];
    char product[EC2_NAME_SIZE]; /* "Linux/UNIX" */
    money_t price;               /* per hour; below 0: not read */
    msec_t at;
};

/* An instance that CreateFleet started, or a refusal among its errors. */
struct ec2_fleet_row {
    char id[EC2_ID_SIZE];     /* empty: a refusal */
    char code[EC2_NAME_SIZE]; /* of a refusal */
    char type[EC2_NAME_SIZE];
    char zone[EC2_NAME_SIZE];
};

/* Those that are NULL are passed over. */
struct ec2_sink {
    void (*on_instance)(void *context, const struct ec2_instance *row);
    void (*on_type)(void *context, const struct ec2_type *row);
    void (*on_offering)(void *context, const struct ec2_offering *row);
    void (*on_spot_price)(void *context, const struct ec2_spot_price *row);
    void (*on_fleet)(void *context, const struct ec2_fleet_row *row);
    void *context;
};

struct ec2_answer {
    uint32_t rows;
    char code[EC2_NAME_SIZE];        /* of an error; empty: none */
    char message[512];               /* a refusal names the right behind the ARN of whoever asked */
    char next_token[EC2_TOKEN_SIZE]; /* empty: this was the last page */
};

/* 'action' is what was asked for ("DescribeInstances"); NULL: any root will do, for whoever looks for an
 * error only. 'ret' is written whole, also on failure: what was read until then. */
int ec2_answer_read(const char *text, size_t size, const char *action, const struct ec2_sink *sink,
                    struct ec2_answer *ret, struct error *reterr);

#endif
