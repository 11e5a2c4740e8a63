/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold, by the records of Slurm and the cloud.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "daemon_world_private.h"

/* So long after a change by reload the limits from before may still be met: what was asked for under
 * them may be on its way, or wait for a connection. */
static const msec_t reload_ms = 60000;

/* After all trouble and the last submission everything has ended within this. */
static const msec_t done_ms = MSEC_PER_HOUR * 4;

/* Once all jobs have ended, nothing is rented any more within this, and a little later the books are
 * closed. */
static const msec_t left_over_ms = MSEC_PER_HOUR / 3;
static const msec_t closing_ms = 70 * MSEC_PER_SEC;

/* A machine without work is paid for no longer, as long as nothing is broken. */
static const msec_t idle_ms = MSEC_PER_HOUR / 20;
static const msec_t settle_ms = 150 * MSEC_PER_SEC; /* after something was */

/* A stintd that acts again has read what ended before, and written it down, within this. */
static const msec_t catch_up_ms = MSEC_PER_HOUR / 60;

static int64_t price_of(const struct sim *sim, uint32_t offer, msec_t at)
{
    if (offer >= sim->price_count)
        return 0;
    return at < sim->prices[offer].step_at ? sim->prices[offer].before : sim->prices[offer].after;
}

void sim_judge_rent(struct sim *sim, uint64_t key, uint32_t count, const char *offer)
{
    uint32_t hash = 5381;

    for (const char *c = offer; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t old = map_get(&sim->offer_of, key + i);

        if (old != MAP_NONE && old != (hash & 0x7fffffff))
            sim_fail(sim, JUDGE_KEY, "key %" PRIu64 " rents a second thing", key + i);
        map_put(&sim->offer_of, key + i, hash & 0x7fffffff);
    }
}

static bool has_fault(const struct sim *sim, enum daemon_fault fault)
{
    return (sim->out->faults >> fault & 1) != 0;
}

static bool is_spot(const struct sim *sim, uint64_t key)
{
    for (uint32_t row = 0; row < local_world_machine_count(sim->cloud); row++) {
        const struct local_machine *machine = local_world_machine(sim->cloud, row);

        if (machine->key == key && machine->offer < sim->catalogue.offer_count)
            return sim->catalogue.offers[machine->offer].market == MARKET_SPOT;
    }
    return false;
}

void sim_judge_nodes(struct sim *sim, const struct fake_job *job, const uint64_t *nodes,
                     uint32_t count)
{
    if (count != job->node_count)
        sim_fail(sim, JUDGE_NODES, "job %u asks for %u nodes and gets %u", job->id, job->node_count,
                 count);
    for (uint32_t i = 0; i < count; i++) {
        const struct fake_node *node = fake_slurm_node(&sim->slurm, nodes[i]);

        for (uint32_t k = 0; k < i; k++) {
            if (nodes[k] == nodes[i])
                sim_fail(sim, JUDGE_NODES, "job %u gets st-%" PRIu64 " twice", job->id, nodes[i]);
        }
        if (node != NULL && (node->used_cpus > node->cpus || node->used_mem_mib > node->mem_mib))
            sim_fail(sim, JUDGE_NODES, "job %u overfills st-%" PRIu64, job->id, nodes[i]);
    }
}

/* Only of the first run, as Slurm may start later ones by itself. Its clock counts in seconds. */
void sim_judge_market(struct sim *sim, const struct fake_job *job)
{
    if (job->market == FAKE_ANY_MARKET || job->run > 0 || job->starts > 1 || job->by_operator > 0)
        return;
    for (uint32_t i = 0; i < job->nodes_count; i++) {
        const bool on_spot = is_spot(sim, job->nodes[i]);

        sim->out->ruled_spot += on_spot;
        sim->out->ruled_safe += !on_spot;
        if (job->market == FAKE_ON_DEMAND && on_spot)
            sim_fail(sim, JUDGE_MARKET, "job %u is for on demand and starts on st-%" PRIu64,
                     job->id, job->nodes[i]);
        if (job->market == FAKE_SPOT_FIRST && !on_spot && !has_fault(sim, FAULT_CLOCK) &&
            sim->now < job->submitted_at + (FAKE_SPOT_S - 2) * MSEC_PER_SEC)
            sim_fail(sim, JUDGE_MARKET, "job %u is for spot first and starts on st-%" PRIu64,
                     job->id, job->nodes[i]);
    }
}

static void judge_limit(struct sim *sim)
{
    const bool is_fresh = sim->now - sim->limit_changed_at < reload_ms && sim->limit_changed_at > 0;
    const uint32_t limit =
        is_fresh && sim->limit_before > sim->limit ? sim->limit_before : sim->limit;
    const money_t cap = is_fresh && (sim->price_before == 0 || sim->price_before > sim->price_limit)
                            ? sim->price_before
                            : sim->price_limit;
    money_t price = 0;

    if (sim->limit_changed_at > 0 && !is_fresh) { /* what is there from before may stay */
        if (local_world_living(sim->cloud) <= sim->limit)
            sim->limit_before = sim->limit;
        else
            return;
    }
    if (local_world_living(sim->cloud) > limit)
        sim_fail(sim, JUDGE_LIMIT, "%u machines, the limit is %u", local_world_living(sim->cloud),
                 limit);
    if (cap == 0 || sim->limit_changed_at > 0)
        return;
    for (uint32_t row = 0; row < local_world_machine_count(sim->cloud); row++) {
        const struct local_machine *machine = local_world_machine(sim->cloud, row);

        if (machine->state != LOCAL_GONE && machine->state != LOCAL_REFUSED)
            price += price_of(sim, machine->offer, sim->now);
    }
    if (price > cap)
        sim_fail(sim, JUDGE_LIMIT, "%" PRId64 " micro-dollars an hour, the limit is %" PRId64,
                 price, cap);
}

void sim_judge_return(struct sim *sim, uint64_t key)
{
    const struct fake_node *node = fake_slurm_node(&sim->slurm, key);
    uint32_t running = 0;

    if (node == NULL || node->is_excused || map_get(&sim->noticed, key) != MAP_NONE)
        return;
    (void)fake_slurm_allocated(&sim->slurm, key, &running);
    if (running > 0)
        sim_fail(sim, JUDGE_UNDER_JOB, "st-%" PRIu64 " is given back while %u jobs run there", key,
                 running);
}

static bool is_healthy(const struct sim *sim)
{
    if (sim->daemon == NULL || !sim->is_cloud_up || !sim->is_engine_up || sim->slurm.is_away)
        return false;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        if (sim->active[kind] > 0)
            return false;
    }
    return true;
}

/* Machines that nobody needs, by how long that lasts while nothing is broken. */
static void judge_idle(struct sim *sim, msec_t passed)
{
    if (!is_healthy(sim))
        sim->healthy_since = sim->now;
    if (sim->now - sim->healthy_since < settle_ms || fake_slurm_has_work(&sim->slurm))
        return;
    for (uint32_t row = 0; row < local_world_machine_count(sim->cloud); row++) {
        const struct local_machine *machine = local_world_machine(sim->cloud, row);

        if (machine->state == LOCAL_GONE || machine->state == LOCAL_REFUSED ||
            machine->state == LOCAL_LEAVING)
            continue;
        const uint32_t old = map_get(&sim->idle_ms, machine->key);
        const msec_t idle = (old == MAP_NONE ? 0 : (msec_t)old) + passed;

        map_put(&sim->idle_ms, machine->key, (uint32_t)idle);
        if (idle > sim->out->worst_idle_ms)
            sim->out->worst_idle_ms = idle;
        if (idle > idle_ms)
            sim_fail(sim, JUDGE_IDLE, "st-%" PRIu64 " has been without work for %" PRId64 " s",
                     machine->key, idle / 1000);
    }
}

static void judge_jobs(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->slurm.job_count; i++) {
        const struct fake_job *job = &sim->slurm.jobs[i];

        if (job->starts > 1 + job->losses + job->by_operator + job->by_us_rightly)
            sim_fail(sim, JUDGE_RESTART,
                     "job %u has started %u times: it lost %u nodes, an operator put it back %u "
                     "times, and we %u times rightly and %u times not",
                     job->id, job->starts, job->losses, job->by_operator, job->by_us_rightly,
                     job->by_us);
        if (job->by_us > 0)
            sim_fail(sim, JUDGE_RESTART, "job %u was stopped and must not be", job->id);
    }
}

/* Machines that hold the tasks never cost less than the bound says. */
static void judge_bound(struct sim *sim)
{
    const struct serve_world *world = sim->daemon != NULL ? &sim->daemon->world : NULL;

    if (world == NULL || !world->has_bound || world->bound.at == sim->bound_at)
        return;
    sim->bound_at = world->bound.at;
    sim->out->bounds += world->bound.bound > 0;
    if (world->bound.bound > world->bound.cost - world->bound.empty)
        sim_fail(sim, JUDGE_BOUND,
                 "machines of %" PRId64 " micro-dollars an hour, the bound is %" PRId64,
                 world->bound.cost - world->bound.empty, world->bound.bound);
}

static void judge_orders(struct sim *sim)
{
    const struct daemon_withheld *withheld = sim->daemon != NULL ? &sim->daemon->withheld : NULL;

    if (withheld != NULL && withheld->at >= 0)
        sim_fail(sim, JUDGE_ORDERS, "withheld, because %s: %s task %" PRIu64 " machine %" PRIu64,
                 sense_text(withheld->why), gate_act_word(withheld->act.kind), withheld->act.task,
                 withheld->act.instance);
}

void sim_judge_instant(struct sim *sim)
{
    const msec_t passed = sim->now - sim->judged_at;

    judge_orders(sim);
    judge_limit(sim);
    judge_bound(sim);
    if (passed > 0)
        judge_idle(sim, passed);
    sim->judged_at = sim->now;
}

static uint32_t nodes_there(const struct sim *sim)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sim->slurm.node_count; i++)
        count += sim->slurm.nodes[i].is_there;
    return count;
}

bool sim_is_over(struct sim *sim)
{
    const bool is_submitted = sim->jobs_submitted == sim->jobs_drawn;
    const msec_t last = sim->submits[sim->jobs_drawn - 1] > sim->script_end
                            ? sim->submits[sim->jobs_drawn - 1]
                            : sim->script_end;
    const uint32_t open = fake_slurm_open(&sim->slurm);
    const uint32_t living = local_world_living(sim->cloud);

    if (sim->out->failed[JUDGE_START])
        return true; /* it never will */
    if (!is_submitted || sim->script_count > 0 || sim->now < sim->script_end)
        return false;
    if (sim->daemon == NULL) {
        sim->clean_since = MSEC_NEVER;
        return false;
    }
    if (open > 0 && sim->now - last > done_ms) {
        sim_fail(sim, JUDGE_LOST_JOB, "%u jobs have not ended after %" PRId64 " s", open,
                 (sim->now - last) / 1000);
        return true;
    }
    if (open > 0) {
        sim->empty_since = MSEC_NEVER;
        sim->clean_since = MSEC_NEVER;
        return false;
    }
    if (sim->empty_since == MSEC_NEVER)
        sim->empty_since = sim->now > sim->script_end ? sim->now : sim->script_end;
    if (living + nodes_there(sim) > 0) {
        sim->clean_since = MSEC_NEVER;
        if (sim->now - sim->empty_since <= left_over_ms)
            return false;
        sim_fail(sim, JUDGE_LEFT_OVER, "%u machines and %u nodes are left after %" PRId64 " s",
                 living, nodes_there(sim), (sim->now - sim->empty_since) / 1000);
        return true;
    }
    if (sim->clean_since == MSEC_NEVER)
        sim->clean_since = sim->now;
    return sim->now - sim->clean_since > closing_ms;
}

/* ---- books ---- */

/* By arithmetic of its own: whole seconds, the minimum, and each part of the time at its price. */
static int64_t truth_of(const struct sim *sim, const struct local_machine *machine)
{
    const int64_t ran = machine->billed_to - machine->billed_from;
    int64_t before;
    int64_t paid;

    if (machine->billed_from < 0 || machine->billed_to < 0 || ran == 0)
        return 0;
    if (machine->offer >= sim->price_count)
        return -1;

    const struct sim_price *price = &sim->prices[machine->offer];

    paid = (ran + 999) / 1000 * 1000;
    if (paid < sim->minimum_ms)
        paid = sim->minimum_ms;
    before = price->step_at - machine->billed_from;
    if (before < 0)
        before = 0;
    if (before > paid)
        before = paid;
    return (price->before * before + price->after * (paid - before)) / 3600000;
}

static money_t booked(sqlite3_stmt *ask, uint64_t key)
{
    money_t sum = 0;

    (void)sqlite3_bind_int64(ask, 1, (sqlite3_int64)key);
    if (sqlite3_step(ask) == SQLITE_ROW)
        sum = sqlite3_column_int64(ask, 0);
    (void)sqlite3_reset(ask);
    return sum;
}

/*
 * What all processes together learned of spot machines: so long they ran, what two processes have seen counted once.
 * What ended while none was there is not known, and by a clock that was set nothing is right.
 */
static void judge_experience(struct sim *sim, sqlite3 *db)
{
    const bool has_gaps =
        has_fault(sim, FAULT_KILL) || has_fault(sim, FAULT_TORN) || has_fault(sim, FAULT_RIVAL);
    sqlite3_stmt *all = NULL;
    msec_t ran = 0;
    msec_t late = 0; /* news of their ends, at the most */
    msec_t known = -1;

    for (uint32_t row = 0; row < local_world_machine_count(sim->cloud); row++) {
        const struct local_machine *machine = local_world_machine(sim->cloud, row);

        if (sim->catalogue.offers[machine->offer].market == MARKET_SPOT &&
            machine->billed_from >= 0)
            ran += machine->billed_to - machine->billed_from;
        late += has_fault(sim, FAULT_CUT) ? MSEC_PER_HOUR / 60 : MSEC_PER_SEC;
    }
    if (sqlite3_prepare_v2(db, "SELECT sum(machine_ms) FROM interruption", -1, &all, NULL) ==
            SQLITE_OK &&
        sqlite3_step(all) == SQLITE_ROW)
        known = sqlite3_column_int64(all, 0);
    (void)sqlite3_finalize(all);
    if (!has_fault(sim, FAULT_CLOCK) &&
        (known > ran + ran / 10 + late || known < (has_gaps ? 0 : ran - ran / 50)))
        sim_fail(sim, JUDGE_BOOKS,
                 "spot machines ran for %" PRId64 " ms, and %" PRId64 " are known", ran, known);
}

/* Its machine was gone, or Slurm had forgotten it, before a stintd that acts again had caught up. */
static bool is_lost_run(const struct sim *sim, const struct fake_job *job)
{
    msec_t gone = job->ended_at + FAKE_FORGET_MS;

    for (uint32_t row = 0; row < local_world_machine_count(sim->cloud); row++) {
        const struct local_machine *machine = local_world_machine(sim->cloud, row);

        if (machine->key == job->nodes[0] && machine->state == LOCAL_GONE &&
            machine->billed_to < gone)
            gone = machine->billed_to;
    }
    for (uint32_t i = 0; i < sim->start_count; i++)
        if (job->started_at <= sim->starts[i] && gone <= sim->starts[i] + catch_up_ms)
            return true;
    return false;
}

/* Each job that has completed is charged to somebody, also if nobody listened while it ran. */
static void judge_charges(struct sim *sim, sqlite3 *db)
{
    sqlite3_stmt *ask = NULL;
    char label[32];

    if (sqlite3_prepare_v2(db, "SELECT 1 FROM due WHERE label=?1 OR label=?1||'.0'", -1, &ask,
                           NULL) != SQLITE_OK)
        return; /* judge_books says so */
    for (uint32_t i = 0; i < sim->slurm.job_count; i++) {
        const struct fake_job *job = &sim->slurm.jobs[i];

        if (job->phase != FAKE_ENDED || job->end != FAKE_COMPLETED || job->starts == 0)
            continue;
        if (job->array != 0)
            (void)snprintf(label, sizeof(label), "%u_%u", job->array, job->task);
        else
            (void)snprintf(label, sizeof(label), "%u", job->id);
        (void)sqlite3_bind_text(ask, 1, label, -1, SQLITE_STATIC);
        if (sqlite3_step(ask) != SQLITE_ROW && !is_lost_run(sim, job))
            sim_fail(sim, JUDGE_CHARGES, "job %s has completed and is charged to nobody", label);
        (void)sqlite3_reset(ask);
    }
    (void)sqlite3_finalize(ask);
}

static void judge_books(struct sim *sim)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *ask = NULL;
    sqlite3_stmt *all = NULL;
    money_t sum = 0;

    if (sqlite3_open_v2(sim->state_path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT boot+idle+work FROM bill WHERE instance=?", -1, &ask,
                           NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT sum(boot+idle+work) FROM bill", -1, &all, NULL) !=
            SQLITE_OK) {
        sim_fail(sim, JUDGE_BOOKS, "the store cannot be read: %s", sqlite3_errmsg(db));
    } else {
        for (uint32_t row = 0; row < local_world_machine_count(sim->cloud); row++) {
            const struct local_machine *machine = local_world_machine(sim->cloud, row);
            const money_t is = booked(ask, machine->key);
            const money_t must = truth_of(sim, machine);

            sum += must;
            if (is != must)
                sim_fail(sim, JUDGE_BOOKS,
                         "the bill of st-%" PRIu64 " is %" PRId64 " and the cloud's %" PRId64,
                         machine->key, is, must);
        }
        if (sqlite3_step(all) == SQLITE_ROW && sqlite3_column_int64(all, 0) != sum)
            sim_fail(sim, JUDGE_BOOKS, "all bills are %" PRId64 " and the cloud's %" PRId64,
                     (money_t)sqlite3_column_int64(all, 0), sum);
    }
    judge_charges(sim, db);
    judge_experience(sim, db);
    (void)sqlite3_finalize(ask);
    (void)sqlite3_finalize(all);
    (void)sqlite3_close(db);
}

void sim_judge_end(struct sim *sim)
{
    judge_jobs(sim);
    for (uint32_t i = 0; i < sim->slurm.job_count; i++) {
        const struct fake_job *job = &sim->slurm.jobs[i];

        if (job->phase == FAKE_ENDED && job->end == FAKE_NODE_FAIL && job->losses == 0)
            sim_fail(sim, JUDGE_LOST_JOB, "job %u ended, as a node that was not lost was taken",
                     job->id);
        if (job->phase == FAKE_ENDED && job->end == FAKE_COMPLETED && job->completions != 1)
            sim_fail(sim, JUDGE_LOST_JOB, "job %u completed %u times", job->id, job->completions);
    }
    if (sim->daemon != NULL && local_world_living(sim->cloud) == 0) {
        core_stop(sim->daemon);
        core_destroy(sim->daemon);
        sim->daemon = NULL;
        judge_books(sim);
    }
}
