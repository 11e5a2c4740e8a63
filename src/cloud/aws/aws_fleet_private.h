/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_fleet_private.h - shared by aws_fleet*.c: the state, and who changes it.
 *
 *   aws_fleet.c        the port, time and answers, life
 *   aws_fleet_table.c  machines and requests: the rows
 *   aws_fleet_ask.c    launches and terminations: what is due is sent
 *   aws_fleet_told.c   and their answers
 *   aws_fleet_launch.c what a launch says
 *   aws_fleet_look.c   rounds, lists, and what an instance that is shown means
 *   aws_fleet_offer.c  offers: their names, back-offs and quotas
 *
 * A machine's way:
 *
 *            rent                    answer, or shown            shown running
 *   (none) --------> MACHINE_ASKED ------------------> MACHINE_STARTING -------> MACHINE_RUNNING
 *                       |  refused: gone                     |                      |
 *                       v  returned, answer lost           v  returned          v
 *                    MACHINE_SOUGHT --- shown -----------> (is_unwanted, terminated until shown
 *                       |  shown neither by tag nor by      as ending): gone
 *                       |  token for 'settle': gone
 *
 * Machines of one offer whose keys follow each other are asked for in one launch. Which ones is settled
 * when it is first sent, and stays so while an answer may be lost: the client token stands for all.
 */
#ifndef STINT_CLOUD_AWS_FLEET_PRIVATE_H
#define STINT_CLOUD_AWS_FLEET_PRIVATE_H

#include "base/map.h"
#include "base/rng.h"
#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_fleet.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/ec2_answer.h"

#define EC2_VERSION "2016-11-15"

/* What has no place will not have one before the daemon is started again. */
#define FLEET_PLACELESS_MS (24 * MSEC_PER_HOUR)

enum machine_state {
    MACHINE_ASKED,  /* no answer yet */
    MACHINE_SOUGHT, /* not asked for any more; it may be there or not */
    MACHINE_STARTING,
    MACHINE_RUNNING,
};

struct machine {
    uint64_t key;
    uint32_t offer; /* OFFER_NONE: not in our catalogue */
    enum machine_state state;
    bool is_unwanted;     /* returned */
    bool is_queued;       /* in fleet.queue */
    bool is_maybe_there;  /* a request was sent whose answer was lost */
    bool is_alone;        /* to be terminated in a request of its own */
    bool is_token_sought; /* a round by client tokens has not shown it either */
    uint64_t in_call;     /* the request about it that is under way; 0: none */
    uint32_t attempts;    /* requests since the last answer that helped */
    uint32_t missed;      /* rounds in a row that did not show it */
    uint64_t shown_in;    /* last round that did */
    uint64_t first;       /* of the launch it belongs to */
    uint32_t together;    /* machines of that launch; 0: it belongs to none yet */
    msec_t next_at;       /* when to send the next request */
    msec_t asked_at;      /* when the last one was sent, or when it was returned */
    msec_t seen_at;       /* when EC2 last said that it is there; below 0: never */
    msec_t launched_at;   /* below 0: not known */
    msec_t given_back_at; /* 0: it was not, or no tick was since */
    msec_t refused_at;    /* when EC2 first refused to terminate it; 0: it did not */
    msec_t proof_at;      /* when EC2 said that it is ending; 0: it did not */
    msec_t probed_at;     /* when it was last asked for by its id; 0: never */
    char id[EC2_ID_SIZE]; /* empty: not known */
};

/* What has ended, so that an old answer does not bring it back. */
struct ended {
    uint64_t key;
    uint32_t offer;
    msec_t at; /* when we took it to have ended */
    msec_t billed_from;
    msec_t billed_to;
    msec_t stray_at; /* when it was last ended once more; 0: never */
    char id[EC2_ID_SIZE];
};

enum { FLEET_ENDED_MAX = 1 << 14, FLEET_BATCH_MAX = 50 };

struct offer_block {
    msec_t until;   /* not to be asked for before; 0: free */
    msec_t since;   /* when it was refused last */
    msec_t wait;    /* the last back-off; 0: none since it was last to be had */
    uint32_t times; /* refused since then */
    bool is_quota;  /* the last refusal was for the quota */
};

enum call_kind { CALL_FREE, CALL_LAUNCH, CALL_TERMINATE, CALL_DESCRIBE, CALL_PROBE };

/* Machines that are asked for in one request: the keys from 'first' on. */
struct launch {
    uint64_t first;
    uint32_t count;
    uint32_t offer;
};

struct call {
    enum call_kind kind;
    uint64_t id;
    msec_t sent_at;
    bool is_fleet; /* CALL_LAUNCH: by CreateFleet */
    uint32_t count;
    uint64_t keys[FLEET_BATCH_MAX]; /* CALL_LAUNCH: by launch index. 0: one that is not known */
};

struct fleet_round {
    bool is_active;
    bool is_in_flight; /* a page is under way */
    bool is_by_token; /* asks for client tokens instead of tags; ends nothing and answers no list */
    uint32_t pages;   /* that were read */
    uint64_t number;
    uint32_t attempts;
    msec_t started_at;
    msec_t next_at; /* of the next page, or of the next round */
    char token[EC2_TOKEN_SIZE];
};

struct aws_fleet {
    struct aws_fleet_config config; /* its texts belong to the fleet */
    struct rng rng;
    struct aws_bucket launches;
    struct machine *machines;
    uint32_t machine_count;
    uint32_t machines_room;
    struct map by_key;
    uint64_t *queue; /* keys of machines that want a request */
    uint32_t queue_count;
    uint32_t queue_room;
    struct ended *ended; /* a ring */
    uint32_t ended_count;
    uint32_t ended_next;
    uint32_t ended_room;
    struct map ended_by_key;
    struct cloud_event *events; /* that actions have caused, to be reported by the next tick */
    uint32_t event_count;
    uint32_t event_room;
    struct offer_block *blocks; /* one per offer */
    struct call calls[AWS_FLEET_CALLS];
    uint32_t call_count;
    uint64_t last_call;
    struct fleet_round round;
    uint64_t *lists; /* keys of lists; the first 'list_active' belong to the round under way */
    uint32_t list_count;
    uint32_t list_active;
    uint32_t list_room;
    struct cloud_event *gone; /* shown as ended in the round of a list */
    uint32_t gone_count;
    uint32_t gone_room;
    struct ec2_instance *rows; /* of a page, until all of it is read */
    uint32_t row_count;
    uint32_t row_room;
    bool is_shut;
    bool is_probing; /* a machine is being asked for by its id */
    uint32_t missing;
    msec_t probe_at;              /* not before */
    char account[EC2_OWNER_SIZE]; /* empty: any */
    char region[EC2_NAME_SIZE];   /* likewise */
    char fault[256];              /* why lists are not believed; empty: they are */
    char refused_code[EC2_NAME_SIZE];
    struct aws_form form;
    struct aws_fleet_stats stats;
};

/* ---- aws_fleet_table.c ---- */

struct machine *fleet_find(struct aws_fleet *fleet, uint64_t key);
struct machine *fleet_add(struct aws_fleet *fleet, uint64_t key, uint32_t offer);
void fleet_queue(struct aws_fleet *fleet, struct machine *machine, msec_t at);

/* Tell the machine's end and forget it. */
void fleet_refuse(struct aws_fleet *fleet, msec_t now, struct machine *machine);
void fleet_end(struct aws_fleet *fleet, msec_t now, struct machine *machine, msec_t billed_to);

/* The end of a bill that begins with the launch. */
msec_t fleet_billed_to(msec_t launched_at, msec_t end);

void fleet_tell(struct aws_fleet *fleet, const struct cloud_event *event);
void fleet_note(struct aws_fleet *fleet, bool is_error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct ended *fleet_find_ended(const struct aws_fleet *fleet, uint64_t key);

struct call *fleet_begin_call(struct aws_fleet *fleet, msec_t now, enum call_kind kind);
void fleet_send(struct aws_fleet *fleet, const struct call *call);

/* Something has changed: look again soon. */
void fleet_look_soon(struct aws_fleet *fleet, msec_t now);

/* ---- aws_fleet_ask.c ---- */

void fleet_pump(struct aws_fleet *fleet, msec_t now);
msec_t fleet_queue_wake(const struct aws_fleet *fleet);
void fleet_terminate_stray(struct aws_fleet *fleet, msec_t now, const char *id);

/* ---- aws_fleet_told.c ---- */

void fleet_launch_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                         const struct aws_http_answer *http);
void fleet_terminate_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                            const struct aws_http_answer *http);

/* ---- aws_fleet_launch.c ---- */

/* How many machines of the offer may be asked for in one launch. */
uint32_t fleet_together_max(const struct aws_fleet *fleet, uint32_t offer);

/* Whether EC2 chooses among our subnets, by CreateFleet. */
bool fleet_takes_any_subnet(const struct aws_fleet *fleet, uint32_t offer);

/* Into fleet.form. */
void fleet_put_launch(struct aws_fleet *fleet, const struct launch *launch);

/* ---- aws_fleet_look.c ---- */

void fleet_look(struct aws_fleet *fleet, msec_t now);

msec_t fleet_look_wake(const struct aws_fleet *fleet);
void fleet_look_answer(struct aws_fleet *fleet, msec_t now, const struct aws_http_answer *http);
void fleet_probe_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                        const struct aws_http_answer *http);

/* Whether lists lack the machine for so long that it is reported. */
bool fleet_is_missing(const struct aws_fleet *fleet, const struct machine *machine);

/* EC2 shows this instance under this key. */
void fleet_show(struct aws_fleet *fleet, msec_t now, uint64_t key, const struct ec2_instance *row);

/* ---- aws_fleet_offer.c ---- */

/* "c5.large/us-east-1a/spot" into 'ret' of 160 bytes. */
void fleet_offer_name(const struct catalogue *catalogue, uint32_t offer, char *ret);

/* Our subnet for the launch of that key; NULL: there is none. In no zone in particular they take turns. */
const struct aws_subnet *fleet_subnet_of(const struct aws_fleet *fleet, uint32_t offer,
                                         uint64_t first);

/* Whether the configuration says where its machines live. In a zone without a subnet, where others
 * have one, EC2 would take the default one of the account, which was not chosen. */
bool fleet_has_place(const struct aws_fleet *fleet, uint32_t offer);

/* The offer of that name, or of the instance's own type, zone and market; OFFER_NONE: none. */
uint32_t fleet_offer_of(const struct catalogue *catalogue, const struct ec2_instance *row);

bool fleet_is_blocked(const struct aws_fleet *fleet, uint32_t offer, msec_t now);

/* A request of 'sent_at' for the offer was refused. */
void fleet_block(struct aws_fleet *fleet, msec_t now, uint32_t offer, msec_t sent_at);

/* The same for all offers that share its quota. */
void fleet_block_quota(struct aws_fleet *fleet, msec_t now, uint32_t offer, msec_t sent_at);

/* A request of 'sent_at' was granted. */
void fleet_unblock(struct aws_fleet *fleet, uint32_t offer, msec_t sent_at);

/* The name of the vCPU quota that a type counts against: "standard", "g", "p", ... */
const char *fleet_quota_of(const char *type);

#endif
