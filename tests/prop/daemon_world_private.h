/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_world_private.h - what the parts of the simulated daemon share:
 *
 *   daemon_world.c          the loop, the daemon's process, the pipes
 *   daemon_world_cloud.c    the cloud behind its lines, and its lies
 *   daemon_world_script.c   the load and what goes wrong
 *   daemon_world_judge.c    what must hold
 */
#ifndef STINT_TESTS_PROP_DAEMON_WORLD_PRIVATE_H
#define STINT_TESTS_PROP_DAEMON_WORLD_PRIVATE_H

#include <stddef.h>

#include "base/map.h"
#include "base/rng.h"
#include "cloud/local/local_world.h"
#include "daemon/daemon_private.h"
#include "daemon_world.h"
#include "fake_bridge.h"
#include "fake_slurm.h"

enum {
    TRACE_LINES = 400,
    TRACE_SIZE = 260,
    SCRIPT_MAX = 64,
    STARTS_MAX = 64,
    JOBS_DRAWN_MAX = 40,
    PATH_SIZE = 256,
};

/* Lines on their way, in order. */
struct pipe_line {
    msec_t due;
    char *text;
    size_t length;
};

struct pipe {
    struct pipe_line *lines;
    uint32_t first, count, room;
    msec_t last_due;
};

enum pipe_kind { TO_ENGINE, TO_CLOUD, FROM_ENGINE, FROM_CLOUD, PIPES };

/* What an offer costs, in micro-dollars an hour: by what was drawn, not by what the product reads. */
struct sim_price {
    int64_t before;
    int64_t after;
    msec_t step_at;
};

enum { SIM_OFFERS_MAX = 8 };

/* A machine between its rent and its node. */
struct boot {
    uint32_t row;
    msec_t up_at;   /* MSEC_NEVER: it is, or never will be */
    msec_t join_at; /* likewise */
    msec_t down_at; /* its processes have ended */
};

struct script_event {
    msec_t at;
    msec_t length;
    enum daemon_fault kind;
    uint64_t number;
    bool is_end;
};

enum kill_point { KILL_NONE, KILL_BEFORE_WRITE, KILL_AFTER_WRITE, KILL_IN_PASS, KILL_AFTER };

struct sim {
    uint64_t seed;
    struct rng rng;
    struct daemon_outcome *out;
    bool traces;
    uint32_t telling;
    bool is_told;
    char (*trace)[TRACE_SIZE];
    uint64_t trace_next;

    msec_t begin;
    msec_t now;          /* the world's */
    msec_t clock_offset; /* the daemon's host's */
    bool is_one_host;    /* slurmctld is there too, and is set wrong with it */
    msec_t lag_ms;
    char conf_path[PATH_SIZE];
    char state_path[PATH_SIZE];
    char catalogue_path[PATH_SIZE];
    char text[4096];

    /* Settings. */
    struct catalogue catalogue;
    struct sim_price prices[SIM_OFFERS_MAX]; /* of its offers, in order */
    uint32_t price_count;
    msec_t minimum_ms; /* that is billed */
    const char *policy;
    msec_t audit_ms;
    msec_t boot_timeout_ms;
    uint32_t limit;
    money_t price_limit; /* 0: none */
    uint32_t limit_before;
    money_t price_before;
    msec_t limit_changed_at;
    msec_t poll_ms;
    msec_t bound_at; /* of the last bound that was judged */

    /* The daemon. */
    struct daemon *daemon;
    bool is_engine_up;
    bool is_cloud_up;
    bool is_cloud_greeted;
    bool was_heard;
    msec_t write_due; /* a commit is under way until then; MSEC_NEVER: none is */
    msec_t start_at;  /* MSEC_NEVER: it runs */
    msec_t
        starts[STARTS_MAX]; /* when it could act again: after a kill, or with the lease once more */
    uint32_t start_count;
    bool has_acted; /* it held the lease once */
    bool holds_lease;
    msec_t bridge_at; /* stint-slurm is started; MSEC_NEVER: it runs, or there is no daemon */
    msec_t cloud_connect_at; /* likewise */
    enum kill_point kill_point;
    uint32_t kill_turns; /* after so many more turns that write */
    uint32_t pass_lines; /* so many still leave, of KILL_IN_PASS */
    bool dies_torn;
    struct rng disk;     /* of its own: other draws are as before */
    msec_t commit_ms;    /* a commit takes so long at the most */
    bool has_steps;      /* of the prices of spot machines */
    uint32_t unsure_ppm; /* of what Slurm does, so much has its answer lost */
    msec_t slow_ms;      /* and a few things take so long at the most */
    bool is_host_killed; /* each kill is one of the host */
    msec_t same_time_since;
    uint32_t same_time_turns;

    struct pipe pipes[PIPES];
    struct fake_slurm slurm;
    struct fake_bridge bridge;
    bool has_bridge;
    struct local_world *cloud;
    struct boot *boots;
    uint32_t boot_count, boots_room;
    struct map offer_of; /* by key: what it rented */
    struct map noticed;  /* by key */

    /* What goes wrong now. */
    uint32_t active[FAULT_KINDS];
    struct line_text stale; /* an old list, without keys */
    uint32_t part_percent;
    msec_t late_ms;
    uint64_t drained_node;
    bool wants_no_drain;
    struct fake_contender rival; /* another stintd, as far as the lease goes */

    struct script_event script[SCRIPT_MAX];
    uint32_t script_count;
    msec_t script_end;
    struct fake_job jobs[JOBS_DRAWN_MAX];
    msec_t submits[JOBS_DRAWN_MAX];
    uint32_t jobs_drawn;
    uint32_t jobs_submitted;

    /* Judges. */
    msec_t judged_at;
    msec_t healthy_since;
    struct map idle_ms; /* by row */
    msec_t empty_since; /* no job is open; MSEC_NEVER */
    msec_t clean_since; /* and nothing is left */
};

/* daemon_world.c */
void sim_trace(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_fail(struct sim *sim, enum daemon_judge judge, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sim_send(struct sim *sim, enum pipe_kind kind, const char *lines, size_t size, msec_t more);
void sim_pipe_clear(struct sim *sim, enum pipe_kind kind);
void sim_write_conf(struct sim *sim);
void sim_kill(struct sim *sim);
void sim_cut_cloud(struct sim *sim, msec_t until);
void sim_cut_bridge(struct sim *sim, msec_t until);
uint64_t sim_below(struct sim *sim, uint64_t bound);
msec_t sim_between(struct sim *sim, msec_t low, msec_t high);

/* daemon_world_cloud.c */
void sim_cloud_create(struct sim *sim);
void sim_cloud_destroy(struct sim *sim);
void sim_cloud_hear(struct sim *sim, char *text, size_t length);
msec_t sim_cloud_next_wake(const struct sim *sim);
void sim_cloud_tick(struct sim *sim);
void sim_cloud_die(struct sim *sim, uint64_t number);
void sim_cloud_notice(struct sim *sim, uint64_t number, msec_t notice_ms);
void sim_cloud_keep_list(struct sim *sim); /* the truth of now, to be told later */
uint64_t sim_cloud_some_running(struct sim *sim, uint64_t number);

/* daemon_world_script.c */
void sim_draw(struct sim *sim);
msec_t sim_script_next(const struct sim *sim);
void sim_script_tick(struct sim *sim);

/* daemon_world_judge.c */
void sim_judge_instant(struct sim *sim);
void sim_judge_rent(struct sim *sim, uint64_t key, uint32_t count, const char *offer);
void sim_judge_nodes(struct sim *sim, const struct fake_job *job, const uint64_t *nodes,
                     uint32_t count); /* it is placed there, or starts */
void sim_judge_market(struct sim *sim, const struct fake_job *job); /* it starts */
void sim_judge_return(struct sim *sim, uint64_t key);
void sim_judge_end(struct sim *sim);
bool sim_is_over(struct sim *sim);

#endif
