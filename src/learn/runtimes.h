/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes.h - how long work will run, judged by how long similar work ran.
 *
 * After JVuPredict as Stratus uses it (SoCC'18, section 3.4). Past runs are put into groups of
 * similar ones, by several kinds of likeness at once; each group makes several estimates; the one
 * that was nearest to the truth in the past is believed:
 *
 *     estimate = runtimes_estimate(&runtimes, &traits);              as the job arrives
 *     runtimes_learn(&runtimes, &traits, runtime_ms, estimate.seen); as it has run
 *
 * Words:      a trait is what is known of work before it runs; a kind is a choice of traits to
 *             compare by; a group is all past runs of one kind with the same values; a candidate
 *             is one kind and one estimator.
 * Error:      of an estimate, 1 - min / max of estimate and truth: 0 is exact, 0.5 a factor of two
 *             either way, never above 1. One value cannot spoil a mean of those, so a mean that
 *             forgets stands where the paper has a median; runtime bins, too, are made of factors.
 *             An estimate is judged by what was known when the job arrived, not when it ended:
 *             'seen' says when that was.
 * Choice:     the candidate with the least expected error: its own group's past error, counted
 *             once for each of up to 16 scored runs, and 16 times the error of the same candidate
 *             over all groups of the kind. So a group with little history is trusted as far as
 *             such groups have earned it, and a kind never scored counts as a factor of two off.
 *             Equal ones: the more special kind, then the earlier estimator, in enum order. A
 *             group without a run makes no estimate; kinds with an unknown trait are left out.
 * Promises:   pure and deterministic to the bit. Runs that all took the same time are estimated
 *             exactly. Different groups are never mixed.
 * Bounds:     to learn or to estimate is O(kinds x estimators), 13 x 5, however long the history.
 * Memory:     less than 700 bytes a group, at most 'groups_max' groups; 45 MB at the limit. When
 *             full, a new group takes the place of the one that has been unused the longest, where
 *             a group of a single run ages eight times as fast: names that never come again do not
 *             wash out those that do. (A group whose 64-bit hash is also another's, once in 2^64,
 *             is not kept.)
 * Elsewhere:  how far it is believed against a user's time limit, in forecast.h; who finished when, in
 *             control/; runtime bins in decide/runtime_bins.h.
 */
#ifndef STINT_LEARN_RUNTIMES_H
#define STINT_LEARN_RUNTIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"
#include "base/units.h"

struct rng;

enum {
    RUNTIMES_GROUPS_MIN = 64,
    RUNTIMES_MEDIAN_RUNS = 16, /* latest runs */
    RUNTIMES_RECENT_RUNS = 3,  /* latest runs */
    RUNTIME_WORDS_SIZE = 160,
};

#define RUNTIME_UNKNOWN  NAME_NONE  /* a trait that is not known */
#define RUNTIME_SEEN_ALL UINT64_MAX /* when the job arrived is not known: judge by all that is */

/* What is known of work before it runs. Any numbers, as long as equal means equal. */
struct runtime_traits {
    uint32_t name;
    uint32_t user;
    uint32_t shape;
    uint32_t tasks; /* of the job */
    uint32_t hour;  /* of the day, of arrival */
    uint32_t limit; /* the time limit that was asked for */
};

/* What runs have in common; the more special first. */
enum runtime_kind {
    RUNTIME_BY_USER_NAME_LIMIT,
    RUNTIME_BY_USER_NAME_TASKS,
    RUNTIME_BY_USER_TASKS_LIMIT,
    RUNTIME_BY_USER_NAME,
    RUNTIME_BY_USER_LIMIT,
    RUNTIME_BY_USER_TASKS,
    RUNTIME_BY_USER_SHAPE,
    RUNTIME_BY_NAME_SHAPE,
    RUNTIME_BY_NAME_HOUR,
    RUNTIME_BY_NAME,
    RUNTIME_BY_USER,
    RUNTIME_BY_SHAPE,
    RUNTIME_BY_NOTHING, /* all runs */
    RUNTIME_KINDS,
};

enum runtime_estimator {
    RUNTIME_MEDIAN,  /* of the last RUNTIMES_MEDIAN_RUNS */
    RUNTIME_MEAN,    /* of all */
    RUNTIME_RECENT,  /* mean of the last RUNTIMES_RECENT_RUNS */
    RUNTIME_DECAYED, /* mean in which each run weighs half of the next */
    RUNTIME_LAST,
    RUNTIME_ESTIMATORS,
};

struct runtime_estimate {
    msec_t runtime_ms;
    enum runtime_kind kind;
    enum runtime_estimator estimator;
    uint32_t samples;   /* runs in the group; 0: nothing to go by, 'runtime_ms' is the default */
    uint32_t error_ppm; /* expected, in millionths; see Error above */
    uint64_t seen;      /* how much was learned before; hand it to runtimes_learn */
};

struct runtime_group;
struct runtime_link;

/* Groups from the latest used to the longest unused. */
struct runtime_list {
    uint32_t first;
    uint32_t last;
    uint32_t count;
};

/* What a kind has earned: a mean that forgets, of the past errors of each estimator. */
struct runtime_track {
    double error[RUNTIME_ESTIMATORS];
    uint64_t count;
};

struct runtimes {
    msec_t default_ms;
    uint32_t groups_max;
    uint32_t count;
    uint32_t room;
    uint32_t links_room;
    struct runtime_group *groups;
    struct runtime_link *links; /* by group */
    struct map by_hash;
    struct runtime_list once;  /* groups of a single run */
    struct runtime_list again; /* all others */
    struct runtime_track of_kind[RUNTIME_KINDS];
    uint64_t learned; /* runs so far */
};

/* 'default_ms' is the estimate where there is no history; 'groups_max' from RUNTIMES_GROUPS_MIN to
 * LIMIT_RUNTIME_GROUPS. */
void runtimes_init(struct runtimes *runtimes, msec_t default_ms, uint32_t groups_max);
void runtimes_done(struct runtimes *runtimes);

/*
 * Work with 'traits' ran to its end in 'runtime_ms' (0 to LIMIT_TIME_MS). Every candidate is scored
 * by what it would have said at 'seen', or at the earliest time since then that its group recalls
 * (8 runs back); then the run joins its groups.
 *
 * A job of many equal tasks is best learned once, by its mean: Stratus does so, and a single job
 * cannot become the whole memory. What was killed or failed tells little, and is better left out.
 */
void runtimes_learn(struct runtimes *runtimes, const struct runtime_traits *traits,
                    msec_t runtime_ms, uint64_t seen);

/* The best estimate; that there is no history is an answer ('samples' 0), not an error. */
struct runtime_estimate runtimes_estimate(const struct runtimes *runtimes,
                                          const struct runtime_traits *traits);

/* The same by some kinds only: bits 1 << RUNTIME_BY_... of them. */
struct runtime_estimate runtimes_estimate_by(const struct runtimes *runtimes,
                                             const struct runtime_traits *traits, uint32_t which);

/* What one candidate says, believed or not. 'samples' is 0 if its group has no run. */
struct runtime_estimate runtimes_candidate(const struct runtimes *runtimes,
                                           const struct runtime_traits *traits,
                                           enum runtime_kind kind,
                                           enum runtime_estimator estimator);

/*
 * Where an estimate comes from, in words: "median of 14 earlier runs of the same name by the same
 * user". 'size' should be RUNTIME_WORDS_SIZE; what does not fit is cut.
 */
void runtime_words(const struct runtime_estimate *estimate, char *ret, size_t size);

/*
 * No plan looks further ahead: where lengths and costs are compared, work without an end (an estimate of
 * MSEC_NEVER) counts as work that lasts for a year, and so does what would last longer. So sums of a few
 * such times do not overflow, and times a price they are money that fits.
 */
#define RUNTIME_HORIZON_MS ((msec_t)8760 * MSEC_PER_HOUR)

/* How long the work lasts as a whole, at most the horizon. */
msec_t runtime_expected(msec_t estimate_ms);

/*
 * What is left of a task that has executed for so long, at most the horizon: of work without an end that is
 * always left. Past its estimate a task is taken to have
 * run half of its life (Harchol-Balter's rule, as in Stratus); what still runs has at least one
 * millisecond to go. Nothing is below zero.
 */
msec_t runtime_remaining(msec_t estimate_ms, msec_t executed_ms);

/*
 * For experiments: the truth, made wrong on purpose. No noise gives the truth and draws no number
 * ('rng' may be NULL). Else one number u is drawn evenly from [-1, 1), and with n = 'noise_ppm' in
 * whole units the answer is truth * (1 + n u) for u above zero, truth / (1 - n u) below: too long
 * as often as too short, by up to the factor 1 + n. What takes time keeps at least a millisecond.
 */
msec_t runtime_oracle(msec_t true_ms, uint32_t noise_ppm, struct rng *rng);

#endif
