/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_fleet.h - our machines at EC2: what was asked for, what is there, what must be asked again.
 *
 * The cloud port of control/ on one side, requests and answers of the EC2 API on the other. It does
 * no I/O and reads no clock: whoever owns it (aws_cloud.h, or a test) carries its requests, brings
 * the answers and says what time it is.
 *
 * Words:      a round is one look at all of our instances, page by page. A launch is one request for
 *             one machine or several of the same offer.
 * Promises:   a launch is asked for under the client token of its keys, again and again with the
 *             same one until an answer says what became of it: never two for one key. A refusal is
 *             reported only when EC2 has refused, or when an offer's zone has no subnet and others have.
 *             What is returned is terminated until EC2 shows it as ending. An offer that was
 *             refused is not asked for before its back-off ends. Events come from aws_fleet_tick and
 *             aws_fleet_answer only.
 *             A machine is gone only when EC2 says so: shows it as ending, in a list or as the answer to
 *             a termination, or says that there is no such instance. One that lists merely lack stays
 *             ours and is asked for by its id. An answer that is malformed, of another request, account
 *             or region, or whose pages have no end is not believed in any part.
 * Bounds:     AWS_FLEET_CALLS requests under way. A round is O(instances); all else O(1) per machine
 *             that waits for something. About 200 bytes per machine.
 */
#ifndef STINT_CLOUD_AWS_FLEET_H
#define STINT_CLOUD_AWS_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "control/ports/cloud_port.h"

struct aws_fleet;
struct aws_http_answer;

enum {
    AWS_FLEET_CALLS = 32,
    AWS_FLEET_TOGETHER_MAX = 50,
    AWS_FLEET_CLUSTER_MAX = 32,      /* letters of a cluster's name: the token has room for 64 */
    AWS_FLEET_USER_DATA_MAX = 16384, /* EC2's own limit */
};

/* Where machines of a zone live, if not in its default subnet. */
struct aws_subnet {
    const char *zone;
    const char *subnet;
};

/* How long things take; 0 stands for the default in brackets. */
struct aws_timing {
    msec_t look;          /* between two rounds while something is changing (2 s) */
    msec_t look_idle;     /* and while nothing is (15 s) */
    msec_t retry;         /* first wait before asking again, doubling, with jitter (500 ms) */
    msec_t retry_most;    /* its end (20 s) */
    msec_t refused;       /* first back-off of an offer that was refused, doubling (30 s) */
    msec_t refused_most;  /* its end (16 min) */
    msec_t settle;        /* after so long, what no round has shown is not there (60 s) */
    msec_t timeout;       /* of one request (30 s) */
    int64_t launch_burst; /* launches at once (5) */
    msec_t launch_every;  /* and then one every so often (500 ms): EC2's own rule */
};

struct aws_fleet_config {
    const struct catalogue *catalogue; /* outlives the fleet */
    const char *cluster;
    const char *node_prefix;
    const char *launch_template;         /* "lt-..." or a name; NULL: 'image' */
    const char *launch_template_version; /* NULL: the default one */
    const char *image;                   /* "ami-..."; NULL: the template's */
    const char *
        user_data; /* text; {node} {cluster} {type} {zone} {market} {idle} are filled in. NULL: those
                              six as NAME=value lines */
    const struct aws_subnet *subnets;
    uint32_t subnet_count;
    struct aws_timing timing;
    bool waits_for_account;  /* nothing is sent before aws_fleet_open */
    uint32_t spot_price_cap; /* percent of the price on demand; 0: none of ours */
    msec_t
        idle_shutdown; /* without a job for so long a machine ends itself; 0: as the catalogue bills; below 0: never */
    uint64_t seed;     /* of the jitter */
    uint32_t page;     /* instances of one page (0: 1000) */
    uint32_t together; /* machines of one launch, at most (0: AWS_FLEET_TOGETHER_MAX) */

    /* Send this body to EC2; the answer comes back by aws_fleet_answer under the same 'call'. */
    void (*on_send)(void *context, uint64_t call, const char *body, size_t size, msec_t timeout);
    void (*on_event)(void *context, const struct cloud_event *event);
    /* Words for the log. */
    void (*on_note)(void *context, bool is_error, const char *text);
    /* The keys have expired; fetch new ones. May be NULL. */
    void (*on_stale_keys)(void *context);
    /* An answer is about another account or region. May be NULL. */
    void (*on_foreign)(void *context);
    void *context;
};

struct aws_fleet_stats {
    uint64_t launches;  /* requests for one machine or several, repeated ones included */
    uint64_t repeated;  /* of those: asked again */
    uint64_t refused;   /* machines, by EC2 */
    uint64_t held_back; /* refused here, as the offer's back-off had not ended */
    uint64_t throttled; /* answers */
    uint64_t lost;      /* answers */
    uint64_t rounds;
    uint64_t disbelieved; /* answers */
    uint64_t doubles;     /* second instances of one key: never, if EC2 keeps its word */
    uint32_t machines;    /* now */
};

/* What is not as it should be. */
struct aws_fleet_trouble {
    uint32_t
        missing; /* machines that lists have lacked for a while, and that nothing shows to have ended */
    uint32_t refused; /* machines whose termination EC2 refuses */
    uint32_t
        not_ended; /* machines returned more than AWS_FLEET_LATE_MS ago; the last ones included */
    msec_t oldest; /* when the first of those was returned; MSEC_NEVER: none */
    const char *code;  /* of the last refusal; empty: none */
    const char *fault; /* why lists are not believed or not had; NULL: they are */
};

#define AWS_FLEET_LATE_MS (60 * MSEC_PER_SEC)

/* Texts are copied. Fails if a name cannot be used with EC2. */
int aws_fleet_create(const struct aws_fleet_config *config, struct aws_fleet **ret,
                     struct error *reterr);

/* Machines stay as they are. Takes NULL. */
void aws_fleet_destroy(struct aws_fleet *fleet);

struct cloud_port aws_fleet_port(struct aws_fleet *fleet);

/* The keys are of this account, which is the right one: requests may be sent, and answers about another
 * account, or another region, are not believed. */
void aws_fleet_open(struct aws_fleet *fleet, const char *account, const char *region);

/* Whose keys these are is not known any more: send nothing. Answers to what was sent are still heard. */
void aws_fleet_shut(struct aws_fleet *fleet);

/* What became of a machine that a previous run of the daemon asked for at 'asked_at': it was refused
 * or it ran, at 'at'. In order of 'at', before the first tick; back-offs go on from there. */
void aws_fleet_recall(struct aws_fleet *fleet, uint32_t offer, msec_t asked_at, msec_t at,
                      bool was_refused);

/* Whether the offer is in back-off, and if so why and until when. */
bool aws_fleet_refusal(const struct aws_fleet *fleet, uint32_t offer, msec_t now,
                       struct cloud_refusal *ret);

/* How far back aws_fleet_recall need look: two of the longest back-offs. */
msec_t aws_fleet_memory(const struct aws_fleet *fleet);

/* When to call aws_fleet_tick next; MSEC_NEVER: only after the next act or answer. */
msec_t aws_fleet_next_wake(const struct aws_fleet *fleet);
void aws_fleet_tick(struct aws_fleet *fleet, msec_t now);

void aws_fleet_answer(struct aws_fleet *fleet, msec_t now, uint64_t call_id,
                      const struct aws_http_answer *answer);

/* A notice from elsewhere (a queue): the instance of this EC2 id will be taken away, or is only at
 * risk of it. Whether it is one of ours that we know of. */
bool aws_fleet_notice(struct aws_fleet *fleet, msec_t now, const char *instance_id,
                      bool is_certain);

struct aws_fleet_stats aws_fleet_stats(const struct aws_fleet *fleet);
struct aws_fleet_trouble aws_fleet_trouble(const struct aws_fleet *fleet, msec_t now);

#endif
