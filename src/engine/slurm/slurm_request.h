/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_request.h - what the daemon may ask of stint-slurm.
 *
 * One table says which fields each word must have and which it may have; a field that the word does
 * not know is refused, so that a misspelt one is never ignored. Ids and node names are checked for
 * their form here; whether they exist, Slurm says.
 *
 * Promises:  any parsed line may be given. Needs no libslurm.
 * Memory:    a request points into the line that it was read from.
 */
#ifndef STINT_ENGINE_SLURM_REQUEST_H
#define STINT_ENGINE_SLURM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/line.h"

enum slurm_verb {
    SLURM_HELLO,
    SLURM_LIST,
    SLURM_PLACE,
    SLURM_RELEASE,
    SLURM_HOLD,
    SLURM_UNHOLD,
    SLURM_CANCEL,
    SLURM_GIVE_UP,
    SLURM_STOP,
    SLURM_COMMENT,
    SLURM_EXPLAIN,
    SLURM_DOWN,
    SLURM_DRAIN,
    SLURM_RESUME,
    SLURM_DELETE,
};

enum { SLURM_GRACE_MS_MAX = 600000, SLURM_JOB_ID_SIZE = 256 };

#define SLURM_RUN_ANY UINT32_MAX /* no 'run' was given */

struct slurm_request {
    enum slurm_verb verb;
    uint64_t key;
    uint32_t protocol; /* of SLURM_HELLO */
    const char *lease; /* of SLURM_HELLO: the cluster that acts with it only; NULL: without */
    const char *what;  /* "jobs" or "nodes" */
    const char *job;   /* "12" or "12_3" */
    const char *jobs;  /* several, with commas; also "12_[3-9]" */
    const char *nodes; /* a host list in Slurm's spelling */
    const char *partition;
    const char *text;
    bool is_for_user; /* the comment that belongs to the user, not to the admin */
    uint32_t run;     /* only if the job is in this run, or SLURM_RUN_ANY */
    uint16_t signal;  /* 0: none */
    bool is_for_all;  /* the signal goes to all steps, not only to the batch script */
    uint32_t grace_ms;
};

int slurm_request_read(const struct line *line, struct slurm_request *ret, struct error *reterr);

/*
 * Copy the next id of 'list' into 'ret' and return what follows it, or NULL if there was none. A
 * comma within brackets does not end an id.
 */
const char *slurm_request_next_job(const char *list, char ret[SLURM_JOB_ID_SIZE]);

#endif
