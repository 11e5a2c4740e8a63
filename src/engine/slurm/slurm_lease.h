/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_lease.h - which stintd may act on this Slurm. One does at a time.
 *
 * The lease is a reservation without nodes, "stint-lease.EPOCH". slurmctld creates a name once. The
 * highest epoch rules. Its owner extends it every fifth of a life. A contender creates the next epoch
 * if nobody extended the highest one for half a life. It acts a whole life later. The owner before it
 * stops within that time.
 *
 * This file decides. slurm_lease_thread.c carries out each step and reports the answer.
 *
 * Promises:  pure. Two contenders never act at a time. Calls and answers may be late or lost, and
 *            slurmctld may forget its last seconds or all of its state.
 */
#ifndef STINT_ENGINE_SLURM_LEASE_H
#define STINT_ENGINE_SLURM_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum { SLURM_LEASE_NAME = 48, SLURM_LEASE_TEXT = 200 };

#define SLURM_LEASE_LIFE_MS (20 * (msec_t)MSEC_PER_SEC)

enum slurm_lease_do {
    SLURM_LEASE_REST,   /* until 'at' */
    SLURM_LEASE_LOOK,   /* at all reservations */
    SLURM_LEASE_CREATE, /* 'name', for 'seconds' */
    SLURM_LEASE_EXTEND, /* 'name', to end in 'seconds' */
    SLURM_LEASE_REMOVE, /* 'name' */
};

struct slurm_lease_step {
    enum slurm_lease_do what;
    msec_t at;
    int64_t seconds;
    char name[SLURM_LEASE_NAME];
};

enum slurm_lease_answer {
    SLURM_LEASE_DONE,
    SLURM_LEASE_TAKEN, /* the name is */
    SLURM_LEASE_GONE,  /* there is no such name */
    SLURM_LEASE_FAILED /* whatever else; it may have been done */
};

/* The reservations. Begin with the time of slurmctld, and add each. */
struct slurm_lease_list {
    int64_t now_s;
    bool has_top, has_lower;
    uint64_t top;
    int64_t top_end_s;
    char top_text[SLURM_LEASE_TEXT];
    uint64_t lower;                /* some epoch below it */
    char caller[SLURM_LEASE_TEXT]; /* of somebody else who waits; "": nobody does */
};

enum slurm_lease_state { SLURM_LEASE_WAITS, SLURM_LEASE_SETTLES, SLURM_LEASE_HELD };

struct slurm_lease {
    char text[SLURM_LEASE_TEXT]; /* "v1;TOKEN;HOST;CLUSTER" */
    msec_t life_ms;
    enum slurm_lease_state state;
    uint64_t epoch;
    msec_t until;                  /* it may act before then; 0: not at all */
    char other[SLURM_LEASE_TEXT];  /* who has it; "": nobody */
    char caller[SLURM_LEASE_TEXT]; /* who waits for it; "": nobody */

    enum slurm_lease_do next;
    bool is_calling; /* the next step is about the record of those who wait */
    bool has_called; /* it is there */
    msec_t next_at, called_at;
    msec_t since;       /* the highest one has not changed */
    msec_t sent, owned; /* the extension that is to be confirmed; the epoch is held since */
    bool has_seen, has_lower;
    uint64_t seen, lower;
    int64_t seen_end_s;
    char seen_text[SLURM_LEASE_TEXT];
};

/* A contender with the same 'token' goes on at once. Use it for one state file on one host. */
void slurm_lease_init(struct slurm_lease *lease, const char *token, const char *host,
                      const char *cluster, msec_t life_ms);

struct slurm_lease_step slurm_lease_next(const struct slurm_lease *lease, msec_t now);

/* The answer to the step that was sent at 'sent'. 'list' is of a look that was done. */
void slurm_lease_told(struct slurm_lease *lease, const struct slurm_lease_step *step, msec_t sent,
                      msec_t now, enum slurm_lease_answer answer,
                      const struct slurm_lease_list *list);

void slurm_lease_add(struct slurm_lease_list *list, const struct slurm_lease *lease,
                     const char *name, int64_t end_s, const char *text);

/* "HOST, cluster 'CLUSTER'" of such a text; returns 'buf'. */
const char *slurm_lease_words(const char *text, char *buf, size_t size);

#endif
