/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_watch.h - what changed in Slurm since we last looked.
 *
 * slurmctld answers a question with everything or with "nothing new", never with a difference; the
 * watch keeps a hash of every line that it has reported, and reports only the others. From the same
 * comparison it tells what happened: started, requeued, ended, gone.
 *
 * Promises:  what the filter leaves out is never reported. The first look reports everything, as if all
 *            of it had just happened; so does nothing get lost while nobody looked.
 * Costs:     one small question each if there is nothing new; else O(jobs) or O(nodes).
 * Memory:    about 100 bytes a job.
 */
#ifndef STINT_ENGINE_SLURM_WATCH_H
#define STINT_ENGINE_SLURM_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/line.h"
#include "base/map.h"
#include "engine/slurm/slurm_raise.h"
#include "engine/slurm/slurm_raised.h"
#include "engine/slurm/slurm_rank.h"
#include "engine/slurm/slurm_record.h"
#include "engine/slurm/slurm_release.h"
#include "engine/slurm/slurm_rules.h"

enum { SLURM_FILTER_USERS_MAX = 64 };

/* What is not managed by Stint. Lists have commas; NULL: no such rule. */
struct slurm_filter {
    const char *partitions;         /* only these are managed by Stint */
    const char *ignored_partitions; /* these are not */
    uint32_t ignored_uid[SLURM_FILTER_USERS_MAX];
    uint32_t ignored_uid_count;
};

bool slurm_filter_has_rules(const struct slurm_filter *filter);
bool slurm_filter_is_ours(const struct slurm_filter *filter, const slurm_job_info_t *job);

struct slurm_watched_job {
    uint64_t hash;
    uint32_t id;
    uint32_t run;
    uint32_t look; /* the last one that saw it */
    uint32_t rank; /* as it was reported; 0: it was not */
    uint32_t next_rank;
    uint32_t nice, seen, raised; /* see slurm_raise.h */
    uint8_t phase;
    bool is_gated;      /* behind the gate, and held by nothing but the gate */
    bool has_nodes;     /* that it must run on */
    bool has_note;      /* its admin comment says why it waits */
    bool only_requires; /* see slurm_record_only_requires */
    bool is_part;    /* a component of a heterogeneous job, but not the first: it is not reported */
    char *busy;      /* the nodes that it runs on, is being cleared off or requires; or NULL */
    uint64_t member; /* array and task, if it is one that was split off; else 0 */
    time_t started;  /* the run that was seen last */
    time_t quiet_until; /* it must not start before: see slurm_watch_quiet_until */
};

struct slurm_watched_node {
    uint64_t id; /* hash of the name */
    uint64_t hash;
    char *name;
    uint32_t look;
};

struct slurm_watched_user {
    char *name; /* NULL: nobody knows it */
};

struct slurm_watch {
    const struct slurm_filter *filter;
    struct slurm_rules *rules;
    struct slurm_watched_job *jobs;
    uint32_t jobs_count, jobs_room;
    struct map job_index;    /* by id */
    struct map member_index; /* by array and task */
    struct map touched;      /* hashes of jobs that were changed since the last look */
    uint32_t
        launch_s; /* so long slurmctld waits for the word of a node that it asked to start a job */
    bool is_mem_counted;
    uint32_t backfill_s; /* see slurm_record_extra */
    struct map
        part_index; /* while a look is read: components by the id of their job and their number -> row */
    struct slurm_parts parts; /* scratch: of one job */
    struct slurm_rank_rules rank_rules;
    struct slurm_raise_row *queue; /* scratch: what waits */
    uint32_t queue_room;
    const char *raised_path;    /* where what was raised is kept; NULL: nowhere */
    struct slurm_raised raised; /* as it was found there, until the first look */
    bool is_raised_new;         /* it is not kept yet */
    bool is_raised_told;        /* nor can it be, which was said */
    struct slurm_watched_node *nodes;
    uint32_t nodes_count, nodes_room;
    struct map node_index; /* by hash of the name */
    struct slurm_watched_user *users;
    uint32_t users_count, users_room;
    struct map user_index; /* by number; a name is asked for once */
    time_t jobs_update;    /* slurmctld's time of what we know; 0: nothing */
    time_t nodes_update;
    time_t jobs_time; /* slurmctld's, of the last answer about jobs */
    time_t skew_s;    /* slurmctld's clock is ahead of ours by so much */
    uint32_t look;
};

/* What is given is used as long as the watch is. */
void slurm_watch_init(struct slurm_watch *watch, const struct slurm_filter *filter,
                      struct slurm_rules *rules);
void slurm_watch_done(struct slurm_watch *watch);

/* Keep in this file what users have raised, and recall what an earlier stint-slurm has kept there. */
int slurm_watch_keep_raised(struct slurm_watch *watch, const char *path, struct error *reterr);

/* Ask for everything at the next look, for slurmctld may have been another one meanwhile. */
void slurm_watch_distrust(struct slurm_watch *watch);

/* The rules have changed: look at all jobs the next time, and tell those that they change. */
void slurm_watch_judge_anew(struct slurm_watch *watch);

/* What slurmctld's clock shows now, which may be off from ours. */
time_t slurm_watch_now(const struct slurm_watch *watch);

/*
 * Look, and write what is news to 'out'; with 'is_full' every line, news or not. Returns 0 or
 * Slurm's error code, then with nothing written. 'ret_count', which may be NULL, is how many there
 * are.
 */
int slurm_watch_jobs(struct slurm_watch *watch, bool is_full, struct line_text *out,
                     uint32_t *ret_count);
int slurm_watch_nodes(struct slurm_watch *watch, bool is_full, struct line_text *out,
                      uint32_t *ret_count);

/* Whether this job was reported, and so is managed by Stint. */
bool slurm_watch_knows(const struct slurm_watch *watch, uint32_t job_id);

/*
 * Until when the job must not be started again; 0: it may. If a node dies before it has confirmed a start,
 * slurmctld waits for it for MessageTimeout, and then puts the job back whatever run it is in by then: a
 * start elsewhere meanwhile would be lost. (Seen with 22.05.8; Slurm itself waits for two minutes.)
 */
time_t slurm_watch_quiet_until(const struct slurm_watch *watch, uint32_t job_id, uint32_t task);

/* What the last look saw of "12" or of task 3 of it (NO_VAL: none); NULL: nothing, or it has been
 * changed since. */
const struct slurm_watched_job *slurm_watch_find(const struct slurm_watch *watch, const char *job,
                                                 uint32_t job_id, uint32_t task);

/* The next job, from '*at' on, that the last look saw on the node, running or being cleared away, or
 * that requires it; NULL: none. O(such jobs) */
const struct slurm_watched_job *slurm_watch_job_on(const struct slurm_watch *watch,
                                                   const char *node, uint32_t *at);

/* "12", "12_3" or "12_[3-9]" is being changed: what the last look saw is not true any more. */
void slurm_watch_touch(struct slurm_watch *watch, const char *job);

#endif
