/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a seed draws: settings, a load, and one or two kinds of trouble.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon_world_private.h"
#include "fault_vfs.h"
#include "trace/catalogue_file.h"

uint32_t daemon_world_faults(uint64_t seed)
{
    const uint64_t pairs = FAULT_KINDS * (FAULT_KINDS - 1) / 2;
    uint64_t number = seed % (1 + FAULT_KINDS + pairs);

    if (number == 0)
        return 0;
    if (number <= FAULT_KINDS)
        return 1U << (number - 1);
    number -= 1 + FAULT_KINDS;
    for (uint32_t a = 0; a < FAULT_KINDS; a++) {
        for (uint32_t b = a + 1; b < FAULT_KINDS; b++) {
            if (number-- == 0)
                return 1U << a | 1U << b;
        }
    }
    return 0;
}

/* ---- settings ---- */

/* An offer of so many thousandths of a dollar an hour; in some worlds the price of spot machines steps. Where prices are
 * limited it only falls: one that rises may bring what is there above the limit. */
static int draw_offer(struct sim *sim, char *text, size_t size, bool is_spot, uint32_t thousandths)
{
    const uint64_t fault = sim->out->faults;
    const bool may_step =
        is_spot && sim->has_steps && (sim->price_limit == 0 || (fault >> FAULT_CLOCK & 1) == 0);
    const bool rises = sim->price_limit == 0 && rng_below(&sim->disk, 2) == 0;
    const uint32_t after = rises ? thousandths * 3 / 2 : thousandths * 2 / 3;
    struct sim_price *price = &sim->prices[sim->price_count++];
    char what[80];

    price->before = (int64_t)thousandths * 1000;
    price->after = may_step ? (int64_t)after * 1000 : price->before;
    price->step_at = sim->begin + 60000 + (msec_t)rng_below(&sim->disk, 600000);
    if (may_step)
        (void)snprintf(what, sizeof(what), "[[0, 0.%03u], [%" PRId64 "ms, 0.%03u]]", thousandths,
                       price->step_at, after);
    else
        (void)snprintf(what, sizeof(what), "0.%03u", thousandths);
    return snprintf(text, size, "      - { zone: a, %sprice: %s }\n",
                    is_spot ? "market: spot, " : "", what);
}

static void draw_catalogue(struct sim *sim)
{
    const msec_t acquire = sim_between(sim, 500, 30000);
    const msec_t setup = sim_between(sim, 500, 40000);
    const msec_t release = sim_below(sim, 2) == 0 ? 0 : sim_between(sim, 100, 10000);
    const msec_t minimum = sim_below(sim, 2) == 0 ? 0 : 60000;
    struct error error = { "" };

    sim->minimum_ms = minimum;

    int used = snprintf(sim->text, sizeof(sim->text),
                        "billing: { step: 1s, minimum: %" PRId64 "ms }\n"
                        "boot: { acquire: %" PRId64 "ms, setup: %" PRId64 "ms, release: %" PRId64
                        "ms }\ntypes:\n",
                        minimum, acquire, setup, release);

    for (uint32_t cpus = 2; cpus <= 8; cpus *= 2) {
        used += snprintf(sim->text + used, sizeof(sim->text) - (size_t)used,
                         "  - name: m%u\n    cpu: %u\n    mem_gib: %u\n    offers:\n", cpus, cpus,
                         4 * cpus);
        used +=
            draw_offer(sim, sim->text + used, sizeof(sim->text) - (size_t)used, false, 48 * cpus);
        if (sim_below(sim, 2) == 0)
            used += draw_offer(sim, sim->text + used, sizeof(sim->text) - (size_t)used, true,
                               19 * cpus);
    }
    catalogue_init(&sim->catalogue);

    struct catalogue catalogue;

    if (catalogue_file_read(sim->text, strlen(sim->text), &catalogue, &error) < 0) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    catalogue_done(&sim->catalogue);
    sim->catalogue = catalogue;

    FILE *file = fopen(sim->catalogue_path, "w");

    if (file == NULL || fputs(sim->text, file) < 0 || fclose(file) != 0)
        abort();
}

static void draw_settings(struct sim *sim)
{
    static const char *const others[] = { "no-wait", "stratus", "eva", "synergy" };
    static const msec_t audits[] = { 5000, 20000, 60000, 60000 };

    sim->policy = sim_below(sim, 4) != 0 ? "stint" : others[sim_below(sim, 4)];
    if (policy_find(sim->policy) == NULL)
        sim->policy = "stint";
    sim->audit_ms = audits[sim_below(sim, 4)];
    sim->boot_timeout_ms = sim_between(sim, 100000, 300000);
    sim->limit = (uint32_t)sim_between(sim, 3, 10);
    sim->price_limit = sim_below(sim, 2) == 0 ? 0 : sim_between(sim, 1200000, 3000000);
    sim->limit_before = sim->limit;
    sim->price_before = sim->price_limit;
    sim->limit_changed_at = 0;
    sim->poll_ms = sim_below(sim, 4) == 0 ? 2000 : 500;
    sim->lag_ms = sim_below(sim, 4) == 0 ? sim_between(sim, 20, 400) : 3;
    sim->slurm.clear_ms = sim_below(sim, 4) == 0 ? sim_between(sim, 500, 8000) : 500;
    sim->slurm.silence_s = sim_below(sim, 2) == 0 ? 60 : 300;
}

/* ---- load ---- */

static struct fake_job draw_job(struct sim *sim, uint32_t index)
{
    static const uint32_t cpus[] = { 1, 1, 1, 2, 2, 3, 4, 6, 8 };
    struct fake_job job = {
        .user = (uint32_t)sim_below(sim, 3),
        .name = (uint32_t)sim_below(sim, 5),
        .node_count = 1,
        .cpus = cpus[sim_below(sim, 9)],
        .may_requeue = sim_below(sim, 20) != 0,
        .may_move = sim_below(sim, 8) == 0,
        .task = FAKE_NO_TASK,
    };

    job.mem_mib = job.cpus * 1024 * (uint32_t)sim_between(sim, 1, 3);
    job.runtime =
        sim_below(sim, 3) == 0 ? sim_between(sim, 100, 5000) : sim_between(sim, 5000, 240000);
    job.limit_s = (uint32_t)(job.runtime / 1000 * 2 + 60) / 60 * 60;
    if (sim_below(sim, 8) == 0) {
        job.node_count = 2 + (uint32_t)sim_below(sim, 2);
        job.cpus = job.cpus > 4 ? 4 : job.cpus;
        job.mem_mib = job.cpus * 1024;
    } else if (sim_below(sim, 8) == 0) {
        job.task_count = (uint32_t)sim_between(sim, 2, 10);
        for (uint32_t i = 0; i < job.task_count; i++)
            job.tasks[i] = i;
        job.runtime /= 2;
    }
    if (sim_below(sim, 10) == 0)
        job.begin_at = sim->now + sim_between(sim, 10000, 200000);
    if (index > 0 && job.task_count == 0 && sim_below(sim, 10) == 0)
        job.depends_on = (uint32_t)sim_below(sim, index) + 1; /* a drawn one; its id is set later */
    return job;
}

/* In every third seed half of the jobs ask for a market. From the seed itself: nothing else is drawn differently. */
static enum fake_market draw_market(uint64_t seed, uint32_t index)
{
    const uint64_t drawn = map_mix(seed * JOBS_DRAWN_MAX + index);

    return seed % 3 == 0 && drawn % 2 == 0 ? (enum fake_market)(1 + drawn / 2 % FAKE_DEADLINE)
                                           : FAKE_ANY_MARKET;
}

static void draw_load(struct sim *sim)
{
    msec_t at = sim->now + sim_between(sim, 0, 5000);

    sim->jobs_drawn = (uint32_t)sim_between(sim, 3, sim_below(sim, 4) == 0 ? JOBS_DRAWN_MAX : 14);
    for (uint32_t i = 0; i < sim->jobs_drawn; i++) {
        sim->jobs[i] = draw_job(sim, i);
        sim->jobs[i].market = draw_market(sim->seed, i);
        sim->submits[i] = at;
        if (sim_below(sim, 3) == 0) /* they come in bursts */
            at += sim_between(sim, 100, 60000);
    }
}

/* ---- trouble ---- */

/* One kind: how long it lasts, and what happens when it begins and ends. */
struct trouble {
    msec_t low, high;           /* 0: it is a moment */
    msec_t long_low, long_high; /* every other one; 0: as above */
    bool counts_itself;
    void (*begin)(struct sim *sim, const struct script_event *event);
    void (*end)(struct sim *sim, const struct script_event *event);
};

static const struct trouble troubles[FAULT_KINDS];

static msec_t length_of(struct sim *sim, enum daemon_fault kind)
{
    const struct trouble *trouble = &troubles[kind];
    const bool is_long = trouble->long_high > 0 && sim_below(sim, 2) == 0;

    if (trouble->high == 0)
        return 0;
    return is_long ? sim_between(sim, trouble->long_low, trouble->long_high)
                   : sim_between(sim, trouble->low, trouble->high);
}

static void add_event(struct sim *sim, msec_t at, msec_t length, enum daemon_fault kind)
{
    const uint64_t number = rng_next(&sim->rng);

    if (sim->script_count + 2 > SCRIPT_MAX)
        return;
    sim->script[sim->script_count++] =
        (struct script_event){ .at = at, .length = length, .kind = kind, .number = number };
    if (length > 0)
        sim->script[sim->script_count++] = (struct script_event){
            .at = at + length, .kind = kind, .number = number, .is_end = true
        };
    if (at + length > sim->script_end)
        sim->script_end = at + length;
}

static int by_time(const void *a, const void *b)
{
    const struct script_event *one = a;
    const struct script_event *other = b;

    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return (int)one->is_end - (int)other->is_end;
}

/* The second kind mostly comes while the first lasts, or a moment after it has begun. */
static void draw_trouble(struct sim *sim)
{
    const uint32_t bits = sim->out->faults;
    const msec_t last = sim->submits[sim->jobs_drawn - 1] + 120000;
    msec_t centre = sim_between(sim, sim->begin + 2000, last);
    msec_t span = 20000;
    bool is_second = false;

    sim->script_end = sim->begin;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        if ((bits >> kind & 1) == 0)
            continue;
        for (uint64_t i = 1 + sim_below(sim, 3); i > 0; i--) {
            const bool is_near = is_second && sim_below(sim, 4) != 0;
            const msec_t length = length_of(sim, (enum daemon_fault)kind);
            const msec_t at = is_near ? centre + sim_between(sim, 0, span)
                                      : sim_between(sim, sim->begin + 2000, last);

            add_event(sim, at, length, (enum daemon_fault)kind);
            if (!is_second) {
                centre = at;
                span = length > 1000 ? length : 20000;
            }
        }
        is_second = true;
    }
    qsort(sim->script, sim->script_count, sizeof(sim->script[0]), by_time);
}

void sim_draw(struct sim *sim)
{
    sim->out->faults = daemon_world_faults(sim->seed);
    draw_settings(sim);
    draw_catalogue(sim);
    draw_load(sim);
    draw_trouble(sim);
    sim->out->jobs = sim->jobs_drawn;
    sim_trace(sim,
              "** policy %s, limits %u machines and %" PRId64
              " micro-dollars an hour, audit %" PRId64 " ms, boot timeout %" PRId64
              " ms, poll %" PRId64 " ms, lag %" PRId64 " ms, SlurmdTimeout %u s",
              sim->policy, sim->limit, sim->price_limit, sim->audit_ms, sim->boot_timeout_ms,
              sim->poll_ms, sim->lag_ms, sim->slurm.silence_s);
}

/* ---- what happens ---- */

static struct fake_job *some_job(struct sim *sim, uint64_t number, enum fake_phase phase)
{
    uint32_t count = 0;

    for (int pass = 0; pass < 2; pass++) {
        uint64_t at = count > 0 ? number % count : 0;

        for (uint32_t i = 0; i < sim->slurm.job_count; i++) {
            struct fake_job *job = &sim->slurm.jobs[i];

            if (job->phase != phase || job->task_count > 0 || job->is_completing)
                continue;
            if (pass == 0)
                count++;
            else if (at-- == 0)
                return job;
        }
        if (count == 0)
            return NULL;
    }
    return NULL;
}

static void begin_kill(struct sim *sim, const struct script_event *event)
{
    sim->kill_point = (enum kill_point)(KILL_BEFORE_WRITE + event->number % 4);
    sim->kill_turns = (uint32_t)(event->number / 4 % 4);
}

static void begin_torn(struct sim *sim, const struct script_event *event)
{
    (void)event;
    sim->dies_torn = true;
}

static void begin_cut(struct sim *sim, const struct script_event *event)
{
    if (sim->daemon != NULL)
        sim_cut_cloud(sim, sim->now + event->length);
}

static void begin_bridge(struct sim *sim, const struct script_event *event)
{
    if (sim->daemon != NULL)
        sim_cut_bridge(sim, sim->now + event->length);
}

static void begin_slurmctld(struct sim *sim, const struct script_event *event)
{
    fake_slurm_leave(&sim->slurm, sim->now + event->length);
}

static void begin_list_part(struct sim *sim, const struct script_event *event)
{
    sim->part_percent = (uint32_t)(event->number % 100);
}

static void begin_list_stale(struct sim *sim, const struct script_event *event)
{
    (void)event;
    sim_cloud_keep_list(sim);
}

static void begin_list_late(struct sim *sim, const struct script_event *event)
{
    sim->late_ms = 200 + (msec_t)(event->number % 60000);
}

static void begin_refuse(struct sim *sim, const struct script_event *event)
{
    local_world_set_fault(sim->cloud, LOCAL_FAULT_REFUSE, 300 + (uint32_t)(event->number % 701));
}

static void end_refuse(struct sim *sim, const struct script_event *event)
{
    (void)event;
    local_world_set_fault(sim->cloud, LOCAL_FAULT_REFUSE, 0);
}

static void begin_death(struct sim *sim, const struct script_event *event)
{
    sim_cloud_die(sim, event->number);
}

static void begin_notice(struct sim *sim, const struct script_event *event)
{
    sim_cloud_notice(sim, event->number, (msec_t)(event->number / 64 % 120000));
}

static void begin_mute(struct sim *sim, const struct script_event *event)
{
    fake_slurm_mute(&sim->slurm, sim_cloud_some_running(sim, event->number),
                    sim->now + event->length);
}

static void begin_disk(struct sim *sim, const struct script_event *event)
{
    (void)sim;
    (void)event;
    fault_vfs_fill(0);
}

static void end_disk(struct sim *sim, const struct script_event *event)
{
    (void)sim;
    (void)event;
    fault_vfs_fill(UINT64_MAX);
}

static void begin_clock(struct sim *sim, const struct script_event *event)
{
    static const msec_t steps[] = { 2000, -2000, 30000, -30000, 3600000, -3600000, 600, -100000 };

    const msec_t step = steps[event->number % 8];

    /* A daemon whose clock is behind that of a slurmctld elsewhere waits for begin times that have come
     * there: it is only ever ahead. */
    sim->clock_offset += sim->is_one_host || step > 0 ? step : -step;
}

static void begin_requeue(struct sim *sim, const struct script_event *event)
{
    struct fake_job *job = some_job(sim, event->number, FAKE_RUNNING);

    if (job == NULL || sim->slurm.is_away)
        return;
    sim->out->happened[FAULT_REQUEUE]++;
    fake_slurm_requeue(&sim->slurm, job, FAKE_CAUSE_OPERATOR);
}

static void begin_hold(struct sim *sim, const struct script_event *event)
{
    struct fake_job *job = some_job(sim, event->number, FAKE_WAITING);

    if (job == NULL)
        return;
    sim->out->happened[FAULT_HOLD]++;
    fake_slurm_hold(&sim->slurm, job, true);
}

static void end_hold(struct sim *sim, const struct script_event *event)
{
    (void)event;
    for (uint32_t i = 0; i < sim->slurm.job_count; i++) {
        if (fake_slurm_is_held(&sim->slurm.jobs[i]))
            fake_slurm_hold(&sim->slurm, &sim->slurm.jobs[i], false);
    }
}

static void begin_cancel(struct sim *sim, const struct script_event *event)
{
    struct fake_job *job =
        some_job(sim, event->number, event->number % 2 == 0 ? FAKE_RUNNING : FAKE_WAITING);

    if (job == NULL || sim->slurm.is_away)
        return;
    sim->out->happened[FAULT_CANCEL]++;
    fake_slurm_cancel(&sim->slurm, job);
}

static void begin_node_drain(struct sim *sim, const struct script_event *event)
{
    sim->drained_node = sim_cloud_some_running(sim, event->number);
    if (fake_slurm_drain(&sim->slurm, sim->drained_node, true) == NULL)
        sim->out->happened[FAULT_NODE_DRAIN]++;
}

static void end_node_drain(struct sim *sim, const struct script_event *event)
{
    const struct fake_node *node = fake_slurm_node(&sim->slurm, sim->drained_node);

    /* Else nobody thinks of it. `sinfo -R` says of one that leaves whose it is. */
    if (event->number % 2 == 0 && node != NULL && !node->is_our_drain)
        (void)fake_slurm_drain(&sim->slurm, sim->drained_node, false);
}

static void order_drain(struct sim *sim, bool on)
{
    if (sim->daemon == NULL)
        return;
    core_tell_time(sim->daemon, sim->now + sim->clock_offset, sim->now - sim->begin);
    core_drain(sim->daemon, on);
    sim->was_heard = true;
}

static void begin_drain(struct sim *sim, const struct script_event *event)
{
    (void)event;
    order_drain(sim, true);
}

static void end_drain(struct sim *sim, const struct script_event *event)
{
    (void)event;
    sim->wants_no_drain = true;
}

static void begin_limits(struct sim *sim, const struct script_event *event)
{
    const uint64_t number = event->number;
    struct error error = { "" };
    char changed[256];

    if (sim->daemon == NULL)
        return;
    sim->limit_before = sim->limit > sim->limit_before ? sim->limit : sim->limit_before;
    if (sim->price_limit == 0 || (sim->price_before != 0 && sim->price_limit > sim->price_before))
        sim->price_before = sim->price_limit;
    sim->limit_changed_at = sim->now;
    sim->limit = 3 + (uint32_t)(number % 8);
    sim->price_limit = number / 8 % 2 == 0 ? 0 : 1200000 + (money_t)(number / 16 % 1800000);
    sim_trace(sim, "** the limits are %u machines and %" PRId64 " micro-dollars an hour",
              sim->limit, sim->price_limit);
    sim_write_conf(sim);
    core_tell_time(sim->daemon, sim->now + sim->clock_offset, sim->now - sim->begin);
    if (daemon_reload(sim->daemon, changed, sizeof(changed), &error) < 0)
        sim_trace(sim, "** reload refused: %s", error.text);
    sim->was_heard = true;
}

/* Mostly it finds nothing to take. Half of the time an administrator has removed our record. */
static void begin_rival(struct sim *sim, const struct script_event *event)
{
    fake_contender_start(&sim->rival, "rival", "another", sim->begin, sim->now);
    if (event->number % 2 == 0 && !sim->slurm.is_away)
        sim->slurm.leases.count = 0;
}

static void end_rival(struct sim *sim, const struct script_event *event)
{
    (void)event;
    sim->rival.is_there = false;
}

static const struct trouble troubles[FAULT_KINDS] = {
    [FAULT_KILL] = { .begin = begin_kill },
    [FAULT_TORN] = { .begin = begin_torn },
    [FAULT_CUT] = { 50, 20000, 0, 0, false, begin_cut, NULL },
    [FAULT_BRIDGE] = { 50, 20000, 0, 0, false, begin_bridge, NULL },
    [FAULT_SLURMCTLD] = { 500, 40000, 0, 0, false, begin_slurmctld, NULL },
    [FAULT_LIST_EMPTY] = { 1000, 30000, 30000, 300000, true, NULL, NULL },
    [FAULT_LIST_PART] = { 1000, 30000, 30000, 300000, true, begin_list_part, NULL },
    [FAULT_LIST_STALE] = { 1000, 30000, 30000, 300000, true, begin_list_stale, NULL },
    [FAULT_LIST_LATE] = { 1000, 30000, 30000, 300000, true, begin_list_late, NULL },
    [FAULT_REFUSE] = { 1000, 30000, 30000, 300000, false, begin_refuse, end_refuse },
    [FAULT_BOOT] = { 10000, 200000, 0, 0, true, NULL, NULL },
    [FAULT_DEATH] = { .counts_itself = true, .begin = begin_death },
    [FAULT_NOTICE] = { .counts_itself = true, .begin = begin_notice },
    [FAULT_MUTE] = { 5000, 50000, 50000, 200000, false, begin_mute, NULL },
    [FAULT_DISK] = { 1000, 120000, 0, 0, false, begin_disk, end_disk },
    [FAULT_CLOCK] = { .begin = begin_clock },
    [FAULT_REQUEUE] = { .counts_itself = true, .begin = begin_requeue },
    [FAULT_HOLD] = { 10000, 200000, 0, 0, true, begin_hold, end_hold },
    [FAULT_CANCEL] = { .counts_itself = true, .begin = begin_cancel },
    [FAULT_NODE_DRAIN] = { 10000, 200000, 0, 0, true, begin_node_drain, end_node_drain },
    [FAULT_DRAIN] = { 10000, 200000, 0, 0, false, begin_drain, end_drain },
    [FAULT_LIMITS] = { .begin = begin_limits },
    [FAULT_RIVAL] = { 1000, 60000, 60000, 300000, false, begin_rival, end_rival },
};

static void change(struct sim *sim, const struct script_event *event)
{
    const struct trouble *trouble = &troubles[event->kind];

    sim_trace(sim, "** %s %s", daemon_fault_name(event->kind), event->is_end ? "ends" : "begins");
    if (!event->is_end) {
        sim->active[event->kind] += event->length > 0;
        sim->out->happened[event->kind] += !trouble->counts_itself;
        if (trouble->begin != NULL)
            trouble->begin(sim, event);
        return;
    }
    sim->active[event->kind]--;
    if (sim->active[event->kind] == 0 && trouble->end != NULL)
        trouble->end(sim, event);
}

static void submit(struct sim *sim)
{
    while (sim->jobs_submitted < sim->jobs_drawn && sim->submits[sim->jobs_submitted] <= sim->now) {
        struct fake_job *job = &sim->jobs[sim->jobs_submitted++];

        if (job->depends_on != 0)
            job->depends_on = sim->jobs[job->depends_on - 1].id;
        sim->slurm.now = sim->now;
        job->id = fake_slurm_submit(&sim->slurm, job);
        sim_trace(sim, "** job %u is submitted: %u x %u CPUs, %" PRId64 " ms%s, market rule %d",
                  job->id, job->node_count, job->cpus, job->runtime,
                  job->may_move ? ", may move" : "", (int)job->market);
    }
}

msec_t sim_script_next(const struct sim *sim)
{
    msec_t next = MSEC_NEVER;

    if (sim->jobs_submitted < sim->jobs_drawn)
        next = sim->submits[sim->jobs_submitted];
    for (uint32_t i = 0; i < sim->script_count; i++) {
        if (sim->script[i].at < next)
            next = sim->script[i].at;
    }
    return next;
}

void sim_script_tick(struct sim *sim)
{
    submit(sim);
    if (sim->wants_no_drain && sim->active[FAULT_DRAIN] == 0 && sim->daemon != NULL &&
        sim->daemon->is_draining)
        order_drain(sim, false); /* an operator says it until it is done */
    while (sim->script_count > 0 && sim->script[0].at <= sim->now) {
        const struct script_event event = sim->script[0];

        sim->script_count--;
        memmove(sim->script, sim->script + 1, sim->script_count * sizeof(sim->script[0]));
        sim->slurm.now = sim->now;
        change(sim, &event);
    }
}
