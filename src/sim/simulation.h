/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation.h - run the controller over a simulated engine and cloud, and measure.
 *
 * The world behind the ports: machines boot, launches fetch and build, tasks slow each other down,
 * moves save and restore, requests are refused, machines are lost, news comes late, twice or never,
 * the controller ends and another takes over. The controller is the one that runs in production.
 *
 * Order within one moment: what was under way ends; jobs arrive; the controller decides; tasks
 * complete. So a job that arrives at the moment of a decision takes part in it, and a task that
 * completes then is seen by the next.
 *
 * Promises:  same configuration and seed, same result, to the bit.
 * Costs:     O((events + rounds) log n) beside what the policy costs; about 250 bytes a task.
 */
#ifndef STINT_SIM_SIMULATION_H
#define STINT_SIM_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "control/controller.h"
#include "model/short_pool_rule.h"
#include "policy/policy.h"
#include "sim/contention.h"
#include "sim/sim_losses.h"
#include "trace/trace.h"

/* What goes wrong, and how often. All zero: nothing does. */
struct sim_faults {
    uint32_t refuse_ppm; /* of requests for a machine */
    uint32_t slow_ppm;   /* of boots that take 'slow_factor' times as long */
    uint32_t slow_factor;
    msec_t dud_until_ms;  /* a machine that runs before that is billed and never becomes ready */
    msec_t lose_mean_ms;  /* a running machine is lost after this time on average; 0: never */
    bool lose_one_market; /* but only one of 'lose_market' */
    enum market lose_market;
    struct sim_market market; /* losses of single offers, by chance and by the market */
    bool lose_by_band; /* but one whose offer says how often it is interrupted, as often as that */
    uint32_t notice_ppm; /* of losses that are announced 'notice_ms' before */
    msec_t notice_ms;
    msec_t risk_mean_ms; /* a running machine is at risk after this time on average; 0: never, */
    msec_t
        risk_lasts_ms; /* and taken without a notice so long after that on average; 0: it is not, */
    bool risk_is_silent;    /* and nobody says that it is at risk */
    uint32_t duplicate_ppm; /* of events that come twice */
    uint32_t late_ppm;      /* of events that come late, by up to 'late_ms' */
    msec_t late_ms;
    uint32_t rate_noise_ppm; /* standard deviation of what tasks say of their rate, of the truth */
    uint32_t lost_ppm;       /* of events that never come; only an audit makes up for them */
    msec_t restart_mean_ms;  /* the controller is thrown away, and a new one takes over, after this
                               time on average; 0: never */
};

/* Which way estimates are wrong that are the truth times a factor. */
enum sim_noise {
    SIM_NOISE_BOTH,
    SIM_NOISE_UNDER, /* never too long */
    SIM_NOISE_OVER,  /* never too short */
};

/* Limits and patience of the controller: see controller_config. */
struct sim_control {
    msec_t audit_ms; /* hold all against lists so often; 0: never */
    uint32_t max_instances;
    money_t max_price_per_hour;
    const struct caps *caps; /* limits for parts of the work; NULL: none */
    msec_t queue_ahead_ms;
    uint32_t queue_ahead_most;
    msec_t boot_timeout_ms;
    msec_t place_retry_ms;
};

/* Machines that are owned: so many, of an offer of the catalogue that is. */
struct sim_owned {
    uint32_t offer;
    uint32_t count;
};

/* What the controller knows about runtimes. */
enum sim_estimates {
    SIM_ESTIMATES_ORACLE,  /* the truth, times a factor if 'noise_ppm' is given */
    SIM_ESTIMATES_USER,    /* what the trace says users said; the truth where they said nothing */
    SIM_ESTIMATES_LEARNED, /* nothing: the controller learns */
};

struct sim_config {
    const struct trace *trace;
    const struct catalogue *catalogue;
    const struct contention *contention; /* NULL: tasks do not disturb each other */
    const struct policy *policy;
    int64_t option[POLICY_OPTIONS_MAX];
    msec_t round_ms;  /* decide at every multiple; 0: when something happened */
    msec_t settle_ms; /* with round_ms 0: so long after it */
    msec_t tick_ms;   /* tasks complete at multiples of this; above 0 */
    enum sim_estimates estimates;
    uint32_t noise_ppm;
    enum sim_noise noise_side;
    double default_rate;
    struct sim_faults faults;
    struct sim_control control;
    const struct sim_owned *owned; /* there from the beginning to the end, and never lost */
    uint32_t owned_count;
    struct burst_rule burst; /* of all jobs */
    struct short_pool_rule short_pool;
    uint64_t seed;
    money_t work_bound; /* of work_bound.h, where it is known; the result has no lower one */
    uint64_t max_steps; /* fail after so many events, arrivals and decisions; 0: go on for ever */
    msec_t give_up_ms;  /* fail when the last job has been there for so long; 0: the same */

    /* Called at 'change_ms' and then at the time that it returned last, MSEC_NEVER for no more: changes the catalogue,
     * and binds the shapes to it again; see controller_catalogue_changed. May be NULL. */
    msec_t (*change_catalogue)(void *context, msec_t now);
    msec_t change_ms;

    /* Called now and then with the jobs that are done; may be NULL. */
    void (*on_progress)(void *context, uint32_t done, uint32_t total);
    void (*on_plan)(void *context, const struct view *view, const struct plan *plan);
    /* Called when a machine's bill ends: it was billed in [from, to). */
    void (*on_billed)(void *context, uint32_t offer, msec_t from, msec_t to);
    /* Called when a task has ended, with what it cost; see controller_config. */
    void (*on_settled)(void *context, const struct view *view, uint32_t task,
                       struct ledger_due due);
    /* Called when a job of the trace is done, so long after it arrived. */
    void (*on_job_done)(void *context, uint32_t job, msec_t jct_ms);
    void *context;
};

struct sim_result {
    money_t cost;       /* of all instances */
    money_t boot_cost;  /* of it: until they took work */
    money_t idle_cost;  /* of it: while nothing ran */
    money_t owned_cost; /* of it: of machines that are owned */
    money_t work_bound; /* no way to run the same work can cost less */
    msec_t ended_at;
    uint64_t jobs;
    uint64_t tasks;
    msec_t served_ms;          /* of services, in all: from when all their tasks ran */
    msec_t short_ms;           /* of it: with fewer tasks than they have */
    double jct_hours;          /* mean, from arrival to completion */
    double slowest_hours;      /* the longest of them */
    double wait_seconds;       /* mean, of a job's time: without progress */
    double idle_hours;         /* mean, of a job's time: not launched */
    double norm_throughput;    /* mean, of a job's pace while it makes progress */
    double tasks_per_instance; /* in time */
    double migrations_per_task;
    double full_share; /* of the decisions that weighed full against partial */
    struct controller_stats stats;

    /* For those who check the simulation itself. */
    uint64_t completions; /* of tasks */
    uint64_t launches;
    uint64_t restarts; /* of the controller; 'stats' are those of the last one */
    money_t billed;    /* by the cloud's own count */
    money_t kept_cost; /* of it: of machines that were not lost */
    msec_t
        lost_work_ms; /* done since the last save and lost with a machine; of a gang, each task's */
    uint64_t doomed_starts; /* of tasks on machines of which it was said that they would be taken */
    money_t time_cost;      /* the same if each millisecond were billed */
    uint64_t left_running;  /* machines at the end */
    bool ledger_agrees;     /* it adds up, to the micro-dollar */
};

/* Fails if some job can run on no machine of the catalogue, or with -ETIME after 'max_steps' or
 * 'give_up_ms'. */
int simulation_run(const struct sim_config *config, struct sim_result *ret, struct error *reterr);

#endif
