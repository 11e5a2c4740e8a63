/* SPDX-License-Identifier: Apache-2.0 */
#include "random_world.h"

#include <stdio.h>
#include <string.h>

enum {
    NAME_SIZE = 32,
    WORKLOADS_MAX = 5,
    CHANGES_MAX = 8,
    FAMILIES_MAX = 3,
    ZONES_MAX = 3,
    NEEDS_SIZE = 64,
};

static const msec_t minute = 60 * MSEC_PER_SEC;

int64_t random_between(struct rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(rng, (uint64_t)(high - low) + 1);
}

static bool one_in(struct rng *rng, uint64_t count)
{
    return rng_below(rng, count) == 0;
}

/* Mostly small, now and then large: evenly over the powers of two of 'unit'. */
static int64_t skewed(struct rng *rng, int64_t unit, int powers)
{
    const int64_t low = unit << random_between(rng, 0, powers - 1);

    return random_between(rng, low, low * 2);
}

/*
 * What can be rented.
 */

static struct billing_rule draw_billing(struct rng *rng)
{
    static const struct billing_rule rules[] = {
        { .step_ms = 1, .minimum_ms = 0 },          { .step_ms = 1000, .minimum_ms = 0 },
        { .step_ms = 1000, .minimum_ms = 60000 },   { .step_ms = 60000, .minimum_ms = 0 },
        { .step_ms = 60000, .minimum_ms = 600000 }, { .step_ms = 3600000, .minimum_ms = 3600000 },
    };

    return rules[rng_below(rng, sizeof(rules) / sizeof(rules[0]))];
}

static void add_offer(struct catalogue *catalogue, uint32_t type, enum market market,
                      struct rng *rng)
{
    const struct res *has = &catalogue->types[type].capacity;
    const money_t full =
        has->amount[RES_CPU] * 40 + has->amount[RES_MEM] * 5 + has->amount[RES_ACCEL] * 900;
    struct price_change changes[CHANGES_MAX];
    const uint32_t count =
        market == MARKET_SPOT ? (uint32_t)random_between(rng, 1, CHANGES_MAX) : 1;
    msec_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        changes[i] = (struct price_change){ .at = at };
        changes[i].per_hour =
            full * random_between(rng, market == MARKET_SPOT ? 20 : 70, 130) / 100;
        at += random_between(rng, 1, 60 * minute);
    }
    if (market == MARKET_RESERVED)
        changes[0].per_hour = 0; /* paid already */

    const struct offer offer = {
        .type = type,
        .market = market,
        .billing = draw_billing(rng),
        .price = { changes, count },
    };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
}

/* In every third world machines take a few tasks at a time, however small these are. */
static int64_t pods_of(uint32_t index, uint32_t types)
{
    return types % 3 == 0 ? 1 + (int64_t)(index * 5 % 7) : 0;
}

static void add_type(struct catalogue *catalogue, uint32_t index, uint32_t types, uint32_t families,
                     struct rng *rng)
{
    const uint32_t family = index % families;
    const int64_t size = 1 << random_between(rng, 0, 4);
    const int64_t accel = family + 1 == families ? 1000 << random_between(rng, 0, 3) : 0;
    struct machine_type type = {
        .capacity = { { 2000 * size, 4096 * size * random_between(rng, 1, 3), accel,
                        pods_of(index, types) } },
        .acquire_ms = one_in(rng, 4) ? 0 : random_between(rng, 0, 120 * MSEC_PER_SEC),
        .setup_ms = one_in(rng, 4) ? 0 : random_between(rng, 0, 180 * MSEC_PER_SEC),
        .release_ms = one_in(rng, 4) ? 0 : random_between(rng, 0, 5 * MSEC_PER_SEC),
    };
    char name[NAME_SIZE];
    char family_name[NAME_SIZE];

    if (one_in(rng, 4)) {
        type.boot_count = 2;
        type.boot[0] = (struct boot_point){ .count = 1, .ms = type.acquire_ms };
        type.boot[1] = (struct boot_point){ .count = 4, .ms = type.acquire_ms + minute };
    }
    (void)snprintf(name, sizeof(name), "type%u", index);
    (void)snprintf(family_name, sizeof(family_name), "family%u", family);

    const uint32_t row = catalogue_add_type(catalogue, name, family_name, &type);

    add_offer(catalogue, row, MARKET_ON_DEMAND, rng);
    if (one_in(rng, 2))
        add_offer(catalogue, row, MARKET_SPOT, rng);
    if (one_in(rng, 8))
        add_offer(catalogue, row, MARKET_ON_DEMAND, rng);
    if (one_in(rng, 20))
        add_offer(catalogue, row, MARKET_RESERVED, rng);
}

/* A copy of the offer in another zone, at another price. */
static void copy_offer(struct catalogue *catalogue, uint32_t row, const char *zone, struct rng *rng)
{
    struct offer offer = catalogue->offers[row];
    struct price_change changes[CHANGES_MAX];
    const int64_t percent = random_between(rng, 80, 120);

    for (uint32_t i = 0; i < offer.price.count; i++) {
        changes[i] = offer.price.changes[i];
        changes[i].per_hour = changes[i].per_hour * percent / 100;
    }
    offer.price.changes = changes;
    (void)catalogue_add_offer(catalogue, zone, &offer);
}

void random_zones(struct catalogue *catalogue, struct rng *rng)
{
    static const char *const zones[ZONES_MAX] = { "z0", "z1", "z2" };
    const uint32_t count = catalogue->offer_count;

    for (uint32_t row = 0; row < count; row++) {
        const uint64_t at = rng_below(rng, ZONES_MAX);

        catalogue->offers[row].zone = names_add(&catalogue->names, zones[at], strlen(zones[at]));
        if (catalogue->offers[row].market == MARKET_RESERVED)
            catalogue->owned_prices[row][0].per_hour = random_between(rng, 1000, 100000);
        if (one_in(rng, 3))
            copy_offer(catalogue, row, zones[(at + 1) % ZONES_MAX], rng);
    }
}

void random_catalogue(struct catalogue *catalogue, struct rng *rng)
{
    const uint32_t families = (uint32_t)random_between(rng, 2, FAMILIES_MAX);
    const uint32_t types = (uint32_t)random_between(rng, families, 10);

    for (uint32_t i = 0; i < types; i++)
        add_type(catalogue, i, types, families, rng);
}

/*
 * What asks for it.
 */

/* A part of what the type has, so that it fits there. */
static struct res draw_part(const struct machine_type *type, struct rng *rng)
{
    const int64_t parts = 1 << random_between(rng, 0, 3);
    struct res part = { 0 };

    part.amount[RES_PODS] = type->capacity.amount[RES_PODS] > 0;
    if (one_in(rng, 30))
        return part; /* it asks for nothing else, as some pods do */
    for (int kind = 0; kind < RES_PRICED; kind++)
        part.amount[kind] =
            type->capacity.amount[kind] * random_between(rng, 1, 100) / (100 * parts);
    if (one_in(rng, 3))
        part.amount[RES_ACCEL] = 0;
    return part;
}

/* The same on any family, or different on some of them, or only on some. */
static uint32_t draw_demands(const struct catalogue *catalogue, struct shape_demand *demands,
                             struct rng *rng)
{
    const uint32_t families = catalogue->families.count;
    uint32_t count = 0;

    if (one_in(rng, 2)) {
        const uint32_t like = (uint32_t)rng_below(rng, catalogue->type_count);

        demands[count++] =
            (struct shape_demand){ FAMILY_NONE, draw_part(&catalogue->types[like], rng) };
    }
    for (uint32_t family = 0; family < families; family++) {
        if (one_in(rng, 3) || (count == 0 && family + 1 == families)) {
            /* The types are dealt out to the families in turn: type 'family' is of it. */
            demands[count++] =
                (struct shape_demand){ family, draw_part(&catalogue->types[family], rng) };
        }
    }
    return count;
}

static msec_t draw_delay(struct rng *rng)
{
    return one_in(rng, 3) ? 0 : random_between(rng, 1, 20 * MSEC_PER_SEC);
}

static void draw_needs_text(const struct catalogue *catalogue, struct rng *rng, char *ret)
{
    const unsigned zone = (unsigned)rng_below(rng, ZONES_MAX);
    const unsigned type = (unsigned)rng_below(rng, catalogue->type_count);

    switch (rng_below(rng, 7)) {
    case 0:
        (void)snprintf(ret, NEEDS_SIZE, "zone=z%u", zone);
        break;
    case 1:
        (void)snprintf(ret, NEEDS_SIZE, "market=on-demand");
        break;
    case 2:
        (void)snprintf(ret, NEEDS_SIZE, "!spot&!z%u", zone);
        break;
    case 3:
        (void)snprintf(ret, NEEDS_SIZE, "type%u", type);
        break;
    case 4:
        (void)snprintf(ret, NEEDS_SIZE, "family=family%u", type % 2);
        break;
    case 5:
        (void)snprintf(ret, NEEDS_SIZE, "z%u|(spot&!type%u)", zone, type);
        break;
    default:
        (void)snprintf(ret, NEEDS_SIZE, "!type=type%u", type);
        break;
    }
}

static const struct res *demand_in(const struct shape_spec *spec, uint32_t family)
{
    const struct res *any = NULL;

    for (uint32_t i = 0; i < spec->demand_count; i++) {
        if (spec->demands[i].family == family)
            return &spec->demands[i].res;
        if (spec->demands[i].family == FAMILY_NONE)
            any = &spec->demands[i].res;
    }
    return any;
}

/* Whether some offer meets the needs and holds the demand. */
static bool is_possible(const struct catalogue *catalogue, const struct shape_spec *spec)
{
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        const struct machine_type *type = catalogue_type_of(catalogue, offer);
        const struct res *demand = demand_in(spec, type->family);

        if (demand != NULL && res_fits(demand, &type->capacity) &&
            offer_text_has(spec->offers, catalogue, offer))
            return true;
    }
    return false;
}

/* Half of the shapes may run on some offers only, some want machines for themselves, and of some all tasks of
 * a job must be in one zone or market. 'text' is room for the expression. */
static void draw_needs(const struct catalogue *catalogue, struct shape_spec *spec, char *text,
                       struct rng *rng)
{
    if (one_in(rng, 2)) {
        draw_needs_text(catalogue, rng, text);
        spec->offers = text;
        if (!is_possible(catalogue, spec))
            spec->offers = NULL;
    }
    spec->whole = one_in(rng, 6);
    if (one_in(rng, 3))
        spec->alike = (uint8_t)random_between(rng, ALIKE_ZONE, ALIKE_ZONE | ALIKE_MARKET);
}

void random_shapes(struct shapes *shapes, const struct catalogue *catalogue, struct rng *rng)
{
    uint32_t rows[SHAPES_MAX];

    (void)random_shapes_needing(shapes, catalogue, rng, NULL, rows);
}

uint32_t random_shapes_needing(struct shapes *shapes, const struct catalogue *catalogue,
                               struct rng *rng, struct rng *needs, uint32_t *ret)
{
    const uint32_t workloads = (uint32_t)random_between(rng, 1, WORKLOADS_MAX);
    const uint32_t count = (uint32_t)random_between(rng, 2, SHAPES_MAX);
    const bool instant = one_in(rng, 5);

    for (uint32_t i = 0; i < count; i++) {
        struct shape_demand demands[FAMILIES_MAX + 1];
        char name[NAME_SIZE];
        char workload[NAME_SIZE];
        char text[NEEDS_SIZE];
        struct shape_spec spec = { .name = name, .workload = workload, .demands = demands };

        (void)snprintf(name, sizeof(name), "shape%u", i);
        (void)snprintf(workload, sizeof(workload), "workload%u", i % workloads);
        spec.demand_count = draw_demands(catalogue, demands, rng);
        if (!instant)
            spec.delays = (struct shape_delays){
                .fetch_ms = draw_delay(rng),
                .build_ms = draw_delay(rng),
                .init_ms = draw_delay(rng),
                .kill_ms = draw_delay(rng),
                .upload_ms = draw_delay(rng),
            };
        if (needs != NULL)
            draw_needs(catalogue, &spec, text, needs);
        ret[i] = shapes_add(shapes, &spec);
    }
    shapes_bind(shapes, catalogue);
    return count;
}

bool random_has_bonds(uint64_t seed)
{
    return seed % 4 == 3;
}

/* From the seed itself and not from its stream of numbers: nothing else is drawn differently. */
bool random_is_fixed(uint64_t seed, uint64_t job)
{
    return random_has_bonds(seed) && map_mix(seed * 1000 + job) % 4 == 0;
}

bool random_is_spread(uint64_t seed, uint64_t job)
{
    return random_has_bonds(seed) && map_mix(seed * 1000 + job) / 4 % 2 == 0;
}

uint32_t random_keeps(uint64_t seed, uint64_t job, struct aparts *aparts)
{
    static const struct {
        uint32_t count;
        struct apart_mark marks[2];
    } kinds[] = {
        { 1, { { 100, APART_BOTH } } },
        { 1, { { 101, APART_BOTH } } },
        { 1, { { 101, APART_SHUNS } } },
        { 1, { { 100, APART_HAS } } },
        { 2, { { 101, APART_HAS }, { 102, APART_SHUNS } } },
        { 2, { { 100, APART_BOTH }, { 102, APART_HAS } } },
    };
    const uint64_t dice = map_mix(seed * 1000 + job) / 8 % 12;

    if (!random_has_bonds(seed) || seed / 4 % 2 != 0 || dice >= sizeof(kinds) / sizeof(kinds[0]))
        return 0;
    return aparts_add(aparts, kinds[dice].marks, kinds[dice].count);
}

static void draw_bonds(struct trace *trace, uint64_t seed)
{
    for (uint32_t i = 0; i < trace->job_count; i++) {
        trace->jobs[i].fixed = random_is_fixed(seed, trace->jobs[i].id);
        trace->jobs[i].spread = random_is_spread(seed, trace->jobs[i].id);
        trace->jobs[i].keeps = random_keeps(seed, trace->jobs[i].id, &trace->shapes.aparts);
    }
}

/* How many jobs, of which shapes, and how long they are, see skewed. */
struct work {
    uint32_t jobs;
    const uint32_t *shapes;
    uint32_t shape_count;
    int powers;
};

static void draw_jobs(struct trace *trace, const struct work *work, struct rng *rng)
{
    const msec_t gap = skewed(rng, 5 * MSEC_PER_SEC, 7);
    msec_t at = 0;

    for (uint32_t i = 0; i < work->jobs; i++) {
        const char *name = &"abcdef"[rng_below(rng, 6)];
        const char *user = &"xyz"[rng_below(rng, 3)];
        struct trace_job job = {
            .id = i,
            .name = names_add(&trace->names, name, 1),
            .user = names_add(&trace->users, user, 1),
            .shape = work->shapes[rng_below(rng, work->shape_count)],
            .task_count = one_in(rng, 3) ? (uint32_t)random_between(rng, 2, 4) : 1,
            .gang = one_in(rng, 2),
            .arrival_ms = at,
            .work_ms = skewed(rng, MSEC_PER_SEC, work->powers),
            .estimate_ms = -1,
        };

        if (one_in(rng, 2))
            job.estimate_ms = job.work_ms * random_between(rng, 10, 300) / 100;
        trace_add_job(trace, &job);
        if (!one_in(rng, 4)) /* else the next one comes with it */
            at += random_between(rng, 0, 2 * gap);
    }
    trace_sort(trace);
}

/*
 * How it is run.
 */

void random_options(const struct policy *policy, int64_t *option, struct rng *rng)
{
    enum { DRAWN_AT_FIRST = 10 };
    struct rng copy = { 0 };

    policy_defaults(policy, option);
    for (uint32_t i = 0; i < policy->option_count; i++) {
        const struct policy_option *of = &policy->options[i];
        int64_t choices = 0;

        if (i == DRAWN_AT_FIRST) { /* what came later changes nothing else of a world */
            copy = *rng;
            rng = &copy;
        }
        if (policy == &policy_stint && of->kind == OPTION_COUNT)
            continue; /* its search is off here; test_memory.c has it on */
        if (one_in(rng, 2))
            continue;
        switch (of->kind) {
        case OPTION_BOOL:
            option[i] = random_between(rng, 0, 1);
            break;
        case OPTION_CHOICE:
            while (of->choices[choices] != NULL)
                choices++;
            option[i] = random_between(rng, 0, choices - 1);
            break;
        case OPTION_COUNT:
            break; /* so many machines and no more: what needs more would wait for ever */
        case OPTION_DURATION:
            option[i] = random_between(rng, 0, 10 * minute);
            break;
        }
    }
}

/* Half of the faults at a time, each between rare and frequent. */
static struct sim_faults draw_faults(struct rng *rng)
{
    struct sim_faults faults = { 0 };

    if (one_in(rng, 2))
        faults.refuse_ppm = (uint32_t)skewed(rng, 5000, 6);
    if (one_in(rng, 2)) {
        faults.slow_ppm = (uint32_t)skewed(rng, 10000, 6);
        faults.slow_factor = (uint32_t)random_between(rng, 2, 10);
    }
    if (one_in(rng, 2)) {
        faults.lose_mean_ms = skewed(rng, 5 * minute, 5);
        faults.notice_ppm = (uint32_t)random_between(rng, 0, 1000000);
        faults.notice_ms = skewed(rng, 5 * MSEC_PER_SEC, 6);
    }
    if (one_in(rng, 2))
        faults.duplicate_ppm = (uint32_t)skewed(rng, 10000, 5);
    if (one_in(rng, 2))
        faults.late_ppm = (uint32_t)skewed(rng, 20000, 5);
    faults.late_ms = skewed(rng, 10, 14); /* duplicates also come some time later */
    return faults;
}

/* 'least': how fast, in thousands, two tasks are beside each other that disturb each other most. */
static void draw_contention(struct random_world *world, int64_t least, struct rng *rng)
{
    const uint32_t count = world->trace.shapes.workloads.count;

    contention_init_uniform(&world->contention, count,
                            (double)random_between(rng, least + (1000 - least) / 3, 1000) / 1000);
    if (one_in(rng, 3))
        return;
    for (uint32_t i = 0; i < count * count; i++)
        world->contention.pair[i] = (double)random_between(rng, least, 1000) / 1000;
}

static void draw_rhythm(struct sim_config *config, struct rng *rng)
{
    static const msec_t ticks[] = { 1, 10, 1000 };

    config->tick_ms = ticks[rng_below(rng, sizeof(ticks) / sizeof(ticks[0]))];
    if (one_in(rng, 2))
        config->round_ms = random_between(rng, 60, 300) * MSEC_PER_SEC;
    else
        config->settle_ms = one_in(rng, 4) ? 0 : skewed(rng, 1, 15);
}

/* The policy 'stint', Stratus' rivals and first-fit decreasing have seeds of their own, so that the others keep theirs. */
static const struct policy *draw_policy(uint64_t seed, struct rng *rng)
{
    static const struct policy *const old[] = {
        &policy_task_per_instance, &policy_stratus,      &policy_synergy, &policy_owl, &policy_eva,
        &policy_no_wait,           &policy_semi_elastic,
    };
    static const struct policy *const rivals[] = { &policy_hotspot, &policy_fleet,
                                                   &policy_supercloud };
    const struct policy *drawn = old[rng_below(rng, sizeof(old) / sizeof(old[0]))];

    if (seed % 56 == 13)
        return &policy_first_fit;
    if (seed % 14 == 6)
        return rivals[seed / 14 % (sizeof(rivals) / sizeof(rivals[0]))];
    return seed % 7 == 1 || seed % 7 == 4 ? &policy_stint : drawn;
}

static void draw_config(struct random_world *world, uint64_t seed, struct rng *rng)
{
    const struct sim_faults faults = world->config.faults;
    struct sim_config *config = &world->config;

    *config = (struct sim_config){
        .trace = &world->trace,
        .catalogue = &world->catalogue,
        .contention = one_in(rng, 4) ? NULL : &world->contention,
        .policy = draw_policy(seed, rng),
        .estimates = (enum sim_estimates)rng_below(rng, 3),
        .noise_ppm = one_in(rng, 2) ? 0 : (uint32_t)rng_below(rng, 500000),
        .default_rate = (double)random_between(rng, 800, 1000) / 1000,
        .faults = faults,
        .seed = seed,
    };
    random_options(config->policy, config->option, rng);
    draw_rhythm(config, rng);
}

static void draw_beginning(struct random_world *world, struct rng *rng)
{
    *world = (struct random_world){ .has_faults = !one_in(rng, 3) };
    if (world->has_faults)
        world->config.faults = draw_faults(rng);
    catalogue_init(&world->catalogue);
    trace_init(&world->trace);
    random_catalogue(&world->catalogue, rng);
}

/* Where machines are lost, work must be short enough to get through between two losses. */
static int powers_of(const struct random_world *world)
{
    return world->config.faults.lose_mean_ms > 0 ? 8 : 12;
}

void random_world_draw(struct random_world *world, uint64_t seed)
{
    struct work work;
    struct rng rng;
    uint32_t shapes[SHAPES_MAX];

    rng_init(&rng, seed, 100);
    draw_beginning(world, &rng);
    work.shapes = shapes;
    work.shape_count =
        random_shapes_needing(&world->trace.shapes, &world->catalogue, &rng, NULL, shapes);
    work.jobs = (uint32_t)random_between(&rng, 20, 60);
    work.powers = powers_of(world);
    draw_jobs(&world->trace, &work, &rng);
    draw_bonds(&world->trace, seed);
    draw_contention(world, 700, &rng);
    draw_config(world, seed, &rng);
}

/* In every third world some work is endless, as far as anybody can tell: its user ends it. */
static void draw_endless(struct trace *trace, struct rng *rng)
{
    const bool has_some = one_in(rng, 3);

    for (uint32_t i = 0; i < trace->job_count; i++) {
        if (has_some && one_in(rng, 5))
            trace->jobs[i].estimate_ms = MSEC_NEVER;
    }
}

/* Of work that is endless, half is a service that was promised machines. */
static void draw_promises(struct random_world *world, uint64_t seed)
{
    static const uint32_t short_ppb[] = { 100000000, 10000000, 1000000, 10000 };
    struct rng rng;

    rng_init(&rng, seed, 105);
    for (uint32_t i = 0; i < world->trace.job_count; i++) {
        struct trace_job *job = &world->trace.jobs[i];

        if (job->estimate_ms != MSEC_NEVER || one_in(&rng, 2))
            continue;
        if (one_in(&rng, 2))
            job->gang = false;
        if (!job->gang)
            job->short_ppb = short_ppb[rng_below(&rng, 4)];
        world->has_promises = world->has_promises || job->short_ppb > 0;
    }
}

/* Dozens of tasks may share a machine, and each slows down all others, and not every policy heeds it: work must
 * not become so slow that it does not get through between two losses, or that one task lasts for weeks. */
static int64_t least_pace(const struct random_world *world)
{
    return world->config.faults.lose_mean_ms > 0 || world->trace.job_count > 30 ? 970 : 900;
}

void random_world_draw_wide(struct random_world *world, uint64_t seed)
{
    struct work work;
    struct rng rng;
    struct rng needs;
    uint32_t shapes[SHAPES_MAX];

    rng_init(&rng, seed, 102);
    rng_init(&needs, seed, 103);
    draw_beginning(world, &rng);
    random_zones(&world->catalogue, &rng);
    work.shapes = shapes;
    work.shape_count =
        random_shapes_needing(&world->trace.shapes, &world->catalogue, &rng, &needs, shapes);
    work.jobs =
        (uint32_t)(one_in(&rng, 20) ? random_between(&rng, 60, 150) : random_between(&rng, 5, 30));
    work.powers = powers_of(world);
    draw_jobs(&world->trace, &work, &rng);
    draw_bonds(&world->trace, seed);
    draw_contention(world, least_pace(world), &rng);
    draw_config(world, seed, &rng);
    draw_endless(&world->trace, &needs);
    draw_promises(world, seed);
    rng_init(&world->changes, seed, 104);
    if (one_in(&world->changes, 2)) {
        world->changes_left = (uint32_t)random_between(&world->changes, 1, 12);
        world->config.change_ms = skewed(&world->changes, minute, 4);
    }
}

/* Whether every task has another offer, and none may have to stay in the zone or market of this one. */
static bool can_do_without(const struct random_world *world, uint32_t gone)
{
    const struct shapes *shapes = &world->trace.shapes;

    for (uint32_t shape = 0; shape < shapes->count; shape++) {
        bool has_another = !shape_fits_offer(shapes, shape, &world->catalogue, gone);

        if (!has_another &&
            (shapes->rows[shape].alike != 0 || shapes->rows[shape].variant_of != SHAPE_NONE))
            return false;
        for (uint32_t i = 0; i < world->catalogue.offer_count && !has_another; i++)
            has_another = i != gone && !world->catalogue.offers[i].is_former &&
                          shape_fits_offer(shapes, shape, &world->catalogue, i);
        if (!has_another)
            return false;
    }
    return true;
}

msec_t random_world_change(struct random_world *world, msec_t now)
{
    static const char *const zones[] = { "z0", "z1", "z2", "z3" };
    struct catalogue *catalogue = &world->catalogue;
    const uint32_t row = (uint32_t)rng_below(&world->changes, catalogue->offer_count);

    if (catalogue->offers[row].is_owned)
        ; /* nobody takes it away */
    else if (one_in(&world->changes, 2))
        copy_offer(catalogue, row, zones[rng_below(&world->changes, 4)], &world->changes);
    else if (catalogue->offers[row].is_former)
        catalogue->offers[row].is_former = false;
    else
        catalogue->offers[row].is_former = can_do_without(world, row);
    shapes_bind(&world->trace.shapes, catalogue);
    return --world->changes_left > 0 ? now + skewed(&world->changes, minute, 5) : MSEC_NEVER;
}

static struct burst_rule draw_burst(struct rng *rng)
{
    switch (rng_below(rng, 5)) {
    case 0:
        return (struct burst_rule){ 0 };
    case 1:
        return (struct burst_rule){ .after_ms = MSEC_NEVER };
    case 2:
        return (struct burst_rule){ .waiting_hour = random_between(rng, 1000, 2000000) };
    case 3:
        return (struct burst_rule){ .after_ms = random_between(rng, 1, 60 * minute),
                                    .waiting_hour = random_between(rng, 1000, 2000000) };
    default:
        return (struct burst_rule){ .after_ms = random_between(rng, 1, 20 * minute) };
    }
}

void random_world_own(struct random_world *world, uint64_t seed)
{
    enum { KINDS_MAX = sizeof(world->owned) / sizeof(world->owned[0]) };
    struct sim_config *config = &world->config;
    struct rng rng;

    rng_init(&rng, seed, 106);
    config->owned = world->owned;
    config->owned_count = (uint32_t)random_between(&rng, 1, KINDS_MAX);
    for (uint32_t i = 0; i < config->owned_count; i++) {
        const uint32_t type = (uint32_t)rng_below(&rng, world->catalogue.type_count);
        const money_t price = one_in(&rng, 2) ? 0 : random_between(&rng, 1, 300000);

        world->owned[i] = (struct sim_owned){
            .offer = catalogue_add_owned(&world->catalogue, type, price),
            .count = (uint32_t)random_between(&rng, 1, 4),
        };
    }
    config->burst = draw_burst(&rng);
    /* Many tasks may share one of them, see least_pace. */
    for (uint32_t i = 0; i < world->contention.count * world->contention.count; i++) {
        if (world->contention.pair[i] < 0.97)
            world->contention.pair[i] = 0.97;
    }
    shapes_bind(&world->trace.shapes, &world->catalogue);
}

static money_t highest_price(const struct catalogue *catalogue)
{
    money_t most = 0;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct price_series *price = &catalogue->offers[i].price;

        for (uint32_t k = 0; k < price->count; k++)
            most = price->changes[k].per_hour > most ? price->changes[k].per_hour : most;
    }
    return most;
}

/* The longest boot of all types, and the wait for the next decision. */
static msec_t longest_start(const struct random_world *world)
{
    msec_t most = 0;

    for (uint32_t i = 0; i < world->catalogue.type_count; i++) {
        const struct machine_type *type = &world->catalogue.types[i];
        const msec_t start = machine_type_acquire_ms(type, 4) + type->setup_ms;

        most = start > most ? start : most;
    }
    return most + world->config.round_ms;
}

void random_world_trouble(struct random_world *world, uint64_t seed)
{
    struct sim_control *control = &world->config.control;
    struct rng rng;

    rng_init(&rng, seed, 101);
    world->has_faults = true;
    control->audit_ms = skewed(&rng, 10 * MSEC_PER_SEC, 5);
    if (!one_in(&rng, 4))
        world->config.faults.restart_mean_ms = skewed(&rng, 5 * minute, 4);
    if (one_in(&rng, 3))
        world->config.faults.lost_ppm = (uint32_t)skewed(&rng, 2000, 5);
    if (one_in(&rng, 4))
        control->max_instances = (uint32_t)random_between(&rng, 8, 30);
    if (one_in(&rng, 4))
        control->max_price_per_hour =
            highest_price(&world->catalogue) * random_between(&rng, 8, 20);
    if (one_in(&rng, 2)) {
        control->queue_ahead_ms = skewed(&rng, MSEC_PER_SEC, 12);
        control->queue_ahead_most = (uint32_t)random_between(&rng, 1, 20);
    }
    if (one_in(&rng, 3))
        control->boot_timeout_ms = skewed(&rng, minute, 3);
    if (one_in(&rng, 3))
        control->place_retry_ms = skewed(&rng, MSEC_PER_SEC, 4);
    if (control->boot_timeout_ms > 0 && one_in(&rng, 2))
        world->config.faults.dud_until_ms = skewed(&rng, minute, 6);
    if (one_in(&rng, 3)) /* a gang needs several machines at once that are not at risk */
        world->config.faults.risk_mean_ms = 4 * longest_start(world) + skewed(&rng, minute, 6);
}

void random_world_done(struct random_world *world)
{
    contention_done(&world->contention);
    trace_done(&world->trace);
    catalogue_done(&world->catalogue);
}
