/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How it is kept. A group has its latest runtimes, for the median, and its latest snapshots: what
 * each estimator said after a run, and how many runs had been learned by then in all. The newest
 * snapshot is what the group says now; an older one is what it said when a job arrived that ends
 * only now, which is what that job must score.
 *
 * Invariants:
 *  1. every group holds at least one run, and is in 'by_hash' under its hash;
 *  2. it is in exactly one list: 'once' if it holds one run, else 'again'; both are ordered by use;
 *  3. groups[0 .. count) are all in use: a slot is freed only to be taken again at once.
 *
 * The numbers (16, 8, 3 runs; rates of forgetting; weights) were chosen by replaying eight logs of
 * the Parallel Workloads Archive; results hardly move when any is doubled or halved.
 */
#include "learn/runtimes.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"

enum {
    TRAITS = 6,
    SNAPSHOTS = 8,
    OWN_WEIGHT_MAX = 16, /* scored runs that a group's own error counts for */
    KIND_WEIGHT = 16,    /* and its kind's */
    ONCE_AGES = 8,       /* times as fast ages a group that was used once */
    GROUP_SIZE_MAX = 700,
    PPM = 1000000,
    LINE_SIZE = 64, /* of memory that is fetched at once */
    KINDS_ALL = (1U << RUNTIME_KINDS) - 1,
};

static const uint32_t nowhere = UINT32_MAX;

static const double own_rate = 0.1;    /* at which a group's errors are forgotten */
static const double kind_rate = 0.004; /* and a kind's */
static const double prior_error = 0.5; /* of a kind never scored: a factor of two */

struct snapshot {
    uint64_t learned; /* runs of all groups, this one included */
    double estimate[RUNTIME_ESTIMATORS];
};

struct runtime_group {
    uint64_t hash;
    uint64_t count;  /* runs */
    uint64_t scored; /* of them, those that were estimated before */
    double error[RUNTIME_ESTIMATORS];
    struct snapshot snapshots[SNAPSHOTS]; /* run i is in slot i % SNAPSHOTS */
    msec_t runs[RUNTIMES_MEDIAN_RUNS];    /* the same way */
    uint8_t order[RUNTIMES_MEDIAN_RUNS];  /* their slots, the shortest run first */
    uint32_t key[TRAITS];                 /* RUNTIME_UNKNOWN where its kind does not look */
    enum runtime_kind kind;
};

/* The neighbours of a group in its list. They are apart from what the group knows, as a group that is used touches those of others. */
struct runtime_link {
    uint32_t newer;
    uint32_t older;
};

static_assert(sizeof(struct runtime_group) + sizeof(struct runtime_link) < GROUP_SIZE_MAX,
              "the header promises less");

/* The traits that a kind compares, as bits in the order of struct runtime_traits. */
enum { NAME = 1, USER = 2, SHAPE = 4, TASKS = 8, HOUR = 16, LIMIT = 32 };

static const struct {
    uint32_t traits;
    const char *words;
} kinds[RUNTIME_KINDS] = {
    [RUNTIME_BY_USER_NAME_LIMIT] = { USER | NAME | LIMIT,
                                     "of the same name and time limit by the same user" },
    [RUNTIME_BY_USER_NAME_TASKS] = { USER | NAME | TASKS,
                                     "of the same name with as many tasks by the same user" },
    [RUNTIME_BY_USER_TASKS_LIMIT] = { USER | TASKS | LIMIT,
                                      "of the same time limit and task count by the same user" },
    [RUNTIME_BY_USER_NAME] = { USER | NAME, "of the same name by the same user" },
    [RUNTIME_BY_USER_LIMIT] = { USER | LIMIT, "of the same time limit by the same user" },
    [RUNTIME_BY_USER_TASKS] = { USER | TASKS, "with as many tasks by the same user" },
    [RUNTIME_BY_USER_SHAPE] = { USER | SHAPE, "of the same shape by the same user" },
    [RUNTIME_BY_NAME_SHAPE] = { NAME | SHAPE, "of the same name and shape" },
    [RUNTIME_BY_NAME_HOUR] = { NAME | HOUR, "of the same name at the same hour of the day" },
    [RUNTIME_BY_NAME] = { NAME, "of the same name" },
    [RUNTIME_BY_USER] = { USER, "by the same user" },
    [RUNTIME_BY_SHAPE] = { SHAPE, "of the same shape" },
    [RUNTIME_BY_NOTHING] = { 0, "of any work" },
};

/*
 * Groups: found by a hash, verified by their key, kept in order of use.
 */

struct group_key {
    uint64_t hash;
    uint32_t key[TRAITS];
};

/* False if the work lacks a trait that the kind looks at. */
static bool make_key(const struct runtime_traits *traits, enum runtime_kind kind,
                     struct group_key *ret)
{
    const uint32_t values[TRAITS] = { traits->name,  traits->user, traits->shape,
                                      traits->tasks, traits->hour, traits->limit };

    ret->hash = map_mix((uint64_t)kind);
    for (uint32_t i = 0; i < TRAITS; i++) {
        const bool looks = (kinds[kind].traits >> i & 1) != 0;

        if (looks && values[i] == RUNTIME_UNKNOWN)
            return false;
        ret->key[i] = looks ? values[i] : RUNTIME_UNKNOWN;
        if (looks)
            ret->hash = map_mix(ret->hash ^ values[i]);
    }
    return true;
}

static bool is_group(const struct runtime_group *group, enum runtime_kind kind,
                     const struct group_key *key)
{
    return group->kind == kind && memcmp(group->key, key->key, sizeof(key->key)) == 0;
}

/* The keys of some work, by kind, and what is there under their hashes: a group, or MAP_NONE. Of kinds that are not in 'has' nothing
 * is known. */
struct group_keys {
    struct group_key of_kind[RUNTIME_KINDS];
    uint32_t index[RUNTIME_KINDS];
    uint32_t has; /* bits of kinds */
};

/* The first kind in a set that has one; and the set without it. */
static enum runtime_kind first_kind(uint32_t set)
{
    return (enum runtime_kind)__builtin_ctz(set);
}

static uint32_t without_first(uint32_t set)
{
    return set & (set - 1);
}

/* What a group holds takes several lines of memory; whoever learns needs most of them. */
static void expect_group(const struct runtime_group *group)
{
    for (size_t at = 0; at < sizeof(*group); at += LINE_SIZE)
        __builtin_prefetch((const char *)group + at);
}

/* The keys of the kinds in 'which'. They lie anywhere in memory, so that they are fetched all at once before the first is needed. */
static void make_keys(const struct runtimes *runtimes, const struct runtime_traits *traits,
                      uint32_t which, struct group_keys *ret)
{
    ret->has = 0;
    for (uint32_t rest = which; rest != 0; rest = without_first(rest)) {
        const enum runtime_kind kind = first_kind(rest);

        if (!make_key(traits, kind, &ret->of_kind[kind]))
            continue;
        ret->has |= 1U << kind;
        map_expect(&runtimes->by_hash, ret->of_kind[kind].hash);
    }
    for (uint32_t rest = ret->has; rest != 0; rest = without_first(rest)) {
        const enum runtime_kind kind = first_kind(rest);
        const uint32_t index = map_get(&runtimes->by_hash, ret->of_kind[kind].hash);

        ret->index[kind] = index;
        if (index != MAP_NONE)
            expect_group(&runtimes->groups[index]);
    }
}

static const struct runtime_group *find_group(const struct runtimes *runtimes,
                                              const struct group_keys *keys, enum runtime_kind kind)
{
    const uint32_t index = (keys->has >> kind & 1) != 0 ? keys->index[kind] : MAP_NONE;

    if (index == MAP_NONE || !is_group(&runtimes->groups[index], kind, &keys->of_kind[kind]))
        return NULL;
    return &runtimes->groups[index];
}

static const struct snapshot *newest(const struct runtime_group *group)
{
    assert(group->count > 0);
    return &group->snapshots[(group->count - 1) % SNAPSHOTS];
}

static struct runtime_list *list_of(struct runtimes *runtimes, const struct runtime_group *group)
{
    return group->count > 1 ? &runtimes->again : &runtimes->once;
}

static void list_remove(struct runtimes *runtimes, uint32_t index)
{
    struct runtime_link *links = runtimes->links;
    struct runtime_list *list = list_of(runtimes, &runtimes->groups[index]);
    const struct runtime_link link = links[index];

    assert(list->count > 0);
    if (link.newer == nowhere)
        list->first = link.older;
    else
        links[link.newer].older = link.older;
    if (link.older == nowhere)
        list->last = link.newer;
    else
        links[link.older].newer = link.newer;
    list->count--;
}

static void list_add(struct runtimes *runtimes, uint32_t index)
{
    struct runtime_link *links = runtimes->links;
    struct runtime_list *list = list_of(runtimes, &runtimes->groups[index]);

    links[index] = (struct runtime_link){ .newer = nowhere, .older = list->first };
    if (list->first == nowhere)
        list->last = index;
    else
        links[list->first].newer = index;
    list->first = index;
    list->count++;
}

static uint64_t unused_for(const struct runtimes *runtimes, uint32_t index)
{
    return runtimes->learned - newest(&runtimes->groups[index])->learned;
}

/*
 * Drop the group that has been unused the longest, and return its slot. It is never one that was
 * just used for the run that is being learned: those have been unused for 0 runs, and they cannot
 * fill both lists.
 */
static uint32_t evict(struct runtimes *runtimes)
{
    static_assert(RUNTIMES_GROUPS_MIN > (int)RUNTIME_KINDS, "a run must not drop its own groups");

    const uint32_t once = runtimes->once.last;
    const uint32_t again = runtimes->again.last;
    uint32_t index = once;

    if (once == nowhere ||
        (again != nowhere && unused_for(runtimes, once) * ONCE_AGES < unused_for(runtimes, again)))
        index = again;
    assert(index != nowhere);
    assert(unused_for(runtimes, index) > 0);

    const bool was_there = map_remove(&runtimes->by_hash, runtimes->groups[index].hash);

    assert(was_there);
    list_remove(runtimes, index);
    return index;
}

static uint32_t new_slot(struct runtimes *runtimes)
{
    if (runtimes->count == runtimes->groups_max)
        return evict(runtimes);
    MEM_ROOM(runtimes->groups, runtimes->room, runtimes->count + 1);
    MEM_ROOM(runtimes->links, runtimes->links_room, runtimes->count + 1);
    return runtimes->count++;
}

/* The sums. */

static uint32_t kept_runs(const struct runtime_group *group)
{
    return group->count < RUNTIMES_MEDIAN_RUNS ? (uint32_t)group->count : RUNTIMES_MEDIAN_RUNS;
}

/* Put the run that was counted last into its slot, in the place of the one that is forgotten for it, and into the order. */
static void put_run(struct runtime_group *group, msec_t runtime_ms)
{
    const uint8_t slot = (uint8_t)((group->count - 1) % RUNTIMES_MEDIAN_RUNS);
    const uint32_t others = kept_runs(group) - 1;
    uint32_t at = 0;

    if (group->count > RUNTIMES_MEDIAN_RUNS) {
        while (group->order[at] != slot)
            at++;
        memmove(&group->order[at], &group->order[at + 1], others - at);
    }
    group->runs[slot] = runtime_ms;
    for (at = others; at > 0 && group->runs[group->order[at - 1]] > runtime_ms; at--)
        group->order[at] = group->order[at - 1];
    group->order[at] = slot;
}

static double middle(const struct runtime_group *group)
{
    const uint32_t count = kept_runs(group);

    assert(count > 0);

    const msec_t lower = group->runs[group->order[(count - 1) / 2]];
    const msec_t upper = group->runs[group->order[count / 2]];

    return (double)(lower + upper) / 2.0;
}

static double mean_of_recent(const struct runtime_group *group)
{
    const uint32_t count =
        group->count < RUNTIMES_RECENT_RUNS ? (uint32_t)group->count : RUNTIMES_RECENT_RUNS;
    msec_t sum = 0;

    for (uint32_t back = 1; back <= count; back++)
        sum += group->runs[(group->count - back) % RUNTIMES_MEDIAN_RUNS];
    return (double)sum / (double)count;
}

/* The newest snapshot that a job could know that arrived when 'seen' runs were learned; if all
 * that are kept came later, the oldest, which knows least of what came since. */
static const struct snapshot *snapshot_at(const struct runtime_group *group, uint64_t seen)
{
    const uint64_t kept = group->count < SNAPSHOTS ? group->count : SNAPSHOTS;
    const struct snapshot *found = newest(group);

    for (uint64_t back = 2; back <= kept && found->learned > seen; back++)
        found = &group->snapshots[(group->count - back) % SNAPSHOTS];
    return found;
}

/* Take one run in; 'learned' counts it. */
static void take(struct runtime_group *group, msec_t runtime_ms, uint64_t learned)
{
    static const struct snapshot nothing;
    const struct snapshot *before = group->count > 0 ? newest(group) : &nothing;
    const double runtime = (double)runtime_ms;
    const double decay = group->count > 0 ? 0.5 : 1.0;

    group->count++;
    put_run(group, runtime_ms);

    const double mean = before->estimate[RUNTIME_MEAN];
    const double decayed = before->estimate[RUNTIME_DECAYED];

    group->snapshots[(group->count - 1) % SNAPSHOTS] = (struct snapshot){
        .learned = learned,
        .estimate = {
            [RUNTIME_MEDIAN] = middle(group),
            [RUNTIME_MEAN] = mean + (runtime - mean) / (double)group->count,
            [RUNTIME_RECENT] = mean_of_recent(group),
            [RUNTIME_DECAYED] = decayed + decay * (runtime - decayed),
            [RUNTIME_LAST] = runtime,
        },
    };
}

static double error_of(double estimate, double truth)
{
    const double least = estimate < truth ? estimate : truth;
    const double most = estimate < truth ? truth : estimate;

    return most > 0.0 ? 1.0 - least / most : 0.0;
}

/* What the last of so many weighs in their mean: an equal share of all so far, but at least 'rate'. */
static double share_of_last(uint64_t count, double rate)
{
    const bool is_few = (double)count * rate < 2.0; /* with more, the rate is more for certain */
    const double share = is_few ? 1.0 / (double)count : 0.0;

    return share > rate ? share : rate;
}

static void score(struct runtimes *runtimes, struct runtime_group *group, msec_t runtime_ms,
                  uint64_t seen)
{
    const struct snapshot *said = snapshot_at(group, seen);
    struct runtime_track *track = &runtimes->of_kind[group->kind];

    group->scored++;
    track->count++;

    const double own = share_of_last(group->scored, own_rate);
    const double of_kind = share_of_last(track->count, kind_rate);

    for (uint32_t i = 0; i < RUNTIME_ESTIMATORS; i++) {
        const double error = error_of(said->estimate[i], (double)runtime_ms);

        group->error[i] += own * (error - group->error[i]);
        track->error[i] += of_kind * (error - track->error[i]);
    }
}

static double expected_error(const struct runtimes *runtimes, const struct runtime_group *group,
                             enum runtime_estimator estimator)
{
    const double own =
        group->scored < OWN_WEIGHT_MAX ? (double)group->scored : (double)OWN_WEIGHT_MAX;
    const double of_kind = runtimes->of_kind[group->kind].error[estimator];

    return (own * group->error[estimator] + KIND_WEIGHT * of_kind) / (own + KIND_WEIGHT);
}

/* The interface. */

void runtimes_init(struct runtimes *runtimes, msec_t default_ms, uint32_t groups_max)
{
    assert(default_ms >= 0);
    assert(groups_max >= RUNTIMES_GROUPS_MIN);
    assert(groups_max <= LIMIT_RUNTIME_GROUPS);

    *runtimes = (struct runtimes){
        .default_ms = default_ms,
        .groups_max = groups_max,
        .once = { .first = nowhere, .last = nowhere },
        .again = { .first = nowhere, .last = nowhere },
    };
    map_init(&runtimes->by_hash);
    for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++) {
        runtimes->of_kind[kind].count = 1;
        for (uint32_t i = 0; i < RUNTIME_ESTIMATORS; i++)
            runtimes->of_kind[kind].error[i] = prior_error;
    }
}

void runtimes_done(struct runtimes *runtimes)
{
    map_done(&runtimes->by_hash);
    mem_free(runtimes->groups);
    mem_free(runtimes->links);
    runtimes->groups = NULL;
    runtimes->links = NULL;
    runtimes->count = 0;
}

/* Score and take in, for one kind; 'learned' of 'runtimes' counts the run already. */
static void learn_by(struct runtimes *runtimes, const struct group_keys *keys,
                     enum runtime_kind kind, msec_t runtime_ms, uint64_t seen)
{
    const struct group_key *key = &keys->of_kind[kind];
    uint32_t index = keys->index[kind];

    /* It may have made room for another since it was looked up. */
    if (index == MAP_NONE || runtimes->groups[index].hash != key->hash)
        index = map_get(&runtimes->by_hash, key->hash);
    if (index == MAP_NONE) {
        index = new_slot(runtimes);
        runtimes->groups[index] = (struct runtime_group){ .hash = key->hash, .kind = kind };
        memcpy(runtimes->groups[index].key, key->key, sizeof(key->key));
        map_put(&runtimes->by_hash, key->hash, index);
    } else if (is_group(&runtimes->groups[index], kind, key)) {
        score(runtimes, &runtimes->groups[index], runtime_ms, seen);
        list_remove(runtimes, index);
    } else {
        return; /* another group has this hash */
    }
    take(&runtimes->groups[index], runtime_ms, runtimes->learned);
    list_add(runtimes, index);
}

void runtimes_learn(struct runtimes *runtimes, const struct runtime_traits *traits,
                    msec_t runtime_ms, uint64_t seen)
{
    assert(runtime_ms >= 0);
    assert(runtime_ms <= LIMIT_TIME_MS);

    struct group_keys keys;

    make_keys(runtimes, traits, KINDS_ALL, &keys);
    runtimes->learned++;
    for (uint32_t rest = keys.has; rest != 0; rest = without_first(rest))
        learn_by(runtimes, &keys, first_kind(rest), runtime_ms, seen);
}

static struct runtime_estimate no_estimate(const struct runtimes *runtimes, enum runtime_kind kind,
                                           enum runtime_estimator estimator)
{
    return (struct runtime_estimate){
        .runtime_ms = runtimes->default_ms,
        .kind = kind,
        .estimator = estimator,
        .error_ppm = PPM,
        .seen = runtimes->learned,
    };
}

static struct runtime_estimate say(const struct runtimes *runtimes, const struct group_keys *keys,
                                   enum runtime_kind kind, enum runtime_estimator estimator)
{
    const struct runtime_group *group = find_group(runtimes, keys, kind);
    struct runtime_estimate said = no_estimate(runtimes, kind, estimator);

    if (group == NULL)
        return said;

    said.runtime_ms = (msec_t)(newest(group)->estimate[estimator] + 0.5);
    said.samples = group->count < UINT32_MAX ? (uint32_t)group->count : UINT32_MAX;
    said.error_ppm = (uint32_t)(expected_error(runtimes, group, estimator) * PPM + 0.5);
    return said;
}

struct runtime_estimate runtimes_candidate(const struct runtimes *runtimes,
                                           const struct runtime_traits *traits,
                                           enum runtime_kind kind, enum runtime_estimator estimator)
{
    struct group_keys keys;

    make_keys(runtimes, traits, 1U << kind, &keys);
    return say(runtimes, &keys, kind, estimator);
}

struct runtime_estimate runtimes_estimate_by(const struct runtimes *runtimes,
                                             const struct runtime_traits *traits, uint32_t which)
{
    enum runtime_kind best_kind = RUNTIME_BY_NOTHING;
    enum runtime_estimator best_estimator = RUNTIME_MEDIAN;
    struct group_keys keys;
    double least = 2.0; /* above any error */

    make_keys(runtimes, traits, which & KINDS_ALL, &keys);
    for (uint32_t rest = keys.has; rest != 0; rest = without_first(rest)) {
        const enum runtime_kind kind = first_kind(rest);
        const struct runtime_group *group = find_group(runtimes, &keys, kind);

        for (uint32_t i = 0; group != NULL && i < RUNTIME_ESTIMATORS; i++) {
            const double error = expected_error(runtimes, group, (enum runtime_estimator)i);

            if (error < least) {
                least = error;
                best_kind = kind;
                best_estimator = (enum runtime_estimator)i;
            }
        }
    }
    return least < 2.0 ? say(runtimes, &keys, best_kind, best_estimator)
                       : no_estimate(runtimes, best_kind, best_estimator);
}

struct runtime_estimate runtimes_estimate(const struct runtimes *runtimes,
                                          const struct runtime_traits *traits)
{
    return runtimes_estimate_by(runtimes, traits, KINDS_ALL);
}

static void estimator_words(const struct runtime_estimate *estimate, char *ret, size_t size)
{
    const uint32_t samples = estimate->samples;

    switch (estimate->estimator) {
    case RUNTIME_MEDIAN:
        if (samples <= RUNTIMES_MEDIAN_RUNS)
            (void)snprintf(ret, size, "median of %u earlier runs", samples);
        else
            (void)snprintf(ret, size, "median of the last %d runs", RUNTIMES_MEDIAN_RUNS);
        return;
    case RUNTIME_MEAN:
        (void)snprintf(ret, size, "mean of %u earlier runs", samples);
        return;
    case RUNTIME_RECENT:
        (void)snprintf(ret, size, "mean of the last %u runs",
                       samples < RUNTIMES_RECENT_RUNS ? samples : RUNTIMES_RECENT_RUNS);
        return;
    case RUNTIME_DECAYED:
        (void)snprintf(ret, size, "decayed mean of %u earlier runs", samples);
        return;
    case RUNTIME_LAST:
        (void)snprintf(ret, size, "last run");
        return;
    case RUNTIME_ESTIMATORS:
        break;
    }
}

void runtime_words(const struct runtime_estimate *estimate, char *ret, size_t size)
{
    char estimator[64] = "only earlier run";

    assert(estimate->kind < RUNTIME_KINDS);
    assert(estimate->estimator < RUNTIME_ESTIMATORS);
    if (estimate->samples == 0) {
        (void)snprintf(ret, size, "without an earlier run");
        return;
    }
    if (estimate->samples > 1)
        estimator_words(estimate, estimator, sizeof(estimator));
    (void)snprintf(ret, size, "%s %s", estimator, kinds[estimate->kind].words);
}

msec_t runtime_expected(msec_t estimate_ms)
{
    assert(estimate_ms >= 0);
    return estimate_ms < RUNTIME_HORIZON_MS ? estimate_ms : RUNTIME_HORIZON_MS;
}

msec_t runtime_remaining(msec_t estimate_ms, msec_t executed_ms)
{
    assert(estimate_ms >= 0);
    assert(executed_ms >= 0);

    if (estimate_ms == MSEC_NEVER)
        return RUNTIME_HORIZON_MS;
    if (executed_ms < estimate_ms)
        return runtime_expected(estimate_ms - executed_ms);
    return executed_ms > 0 ? runtime_expected(executed_ms) : 1;
}

msec_t runtime_oracle(msec_t true_ms, uint32_t noise_ppm, struct rng *rng)
{
    assert(true_ms >= 0);
    assert(true_ms <= LIMIT_TIME_MS);

    if (noise_ppm == 0)
        return true_ms;

    const double noise = (double)noise_ppm / PPM;
    const double drawn = 2.0 * rng_unit(rng) - 1.0;
    const double truth = (double)true_ms;
    const double wrong =
        drawn < 0.0 ? truth / (1.0 - noise * drawn) : truth * (1.0 + noise * drawn);
    const msec_t rounded = (msec_t)(wrong + 0.5);

    return rounded == 0 && true_ms > 0 ? 1 : rounded;
}
