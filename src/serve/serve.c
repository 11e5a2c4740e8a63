/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include <assert.h>
#include <inttypes.h>

#include "base/limits.h"
#include "base/mem.h"

const uint64_t serve_time_bounds_us[SERVE_TIME_BUCKETS - 1] = {
    100, 250, 500, 1000, 5000, 10000, 50000, 100000, 500000, 1000000, 5000000,
};

void serve_world_init(struct serve_world *world)
{
    *world = (struct serve_world){
        .audited_at = -1,
        .plan = { .at = -1 },
    };
}

void serve_world_done(struct serve_world *world)
{
    mem_free(world->plan.rents);
    mem_free(world->plan.places);
    mem_free(world->plan.releases);
    world->plan = (struct serve_plan){ .at = -1 };
}

/* Words. -------------------------------------------------------------------------------------- */

void serve_offer_text(const struct catalogue *catalogue, uint32_t offer, char *ret, size_t size)
{
    if (catalogue == NULL || offer >= catalogue->offer_count) {
        snprintf(ret, size, "an offer that is not in the catalogue");
        return;
    }

    const struct offer *row = &catalogue->offers[offer];
    const char *zone = row->zone != NAME_NONE ? names_text(&catalogue->names, row->zone) : NULL;

    snprintf(ret, size, "%s%s%s, %s", catalogue_offer_type_name(catalogue, offer),
             zone != NULL ? " in " : "", zone != NULL ? zone : "", market_name(row->market));
}

static const char *prefix_of(const struct serve_world *world)
{
    return world->node_prefix != NULL ? world->node_prefix : "st-";
}

void serve_machine_text(const struct serve_world *world, uint64_t instance, char *ret, size_t size)
{
    if (instance >= OWNED_ID_FIRST && instance - OWNED_ID_FIRST < world->owned_count)
        snprintf(ret, size, "%s", world->owned_nodes[instance - OWNED_ID_FIRST]);
    else
        snprintf(ret, size, "%s%" PRIu64, prefix_of(world), instance);
}

uint64_t serve_machine_find(const struct serve_world *world, const char *name)
{
    const size_t length = strlen(prefix_of(world));
    uint64_t id = 0;

    for (uint32_t i = 0; i < world->owned_count; i++) {
        if (strcmp(name, world->owned_nodes[i]) == 0)
            return OWNED_ID_FIRST + i;
    }
    if (strncmp(name, prefix_of(world), length) != 0 || name[length] == '0')
        return 0;
    for (const char *digit = name + length; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || id > (UINT64_MAX - 9) / 10)
            return 0;
        id = id * 10 + (uint64_t)(*digit - '0');
    }
    return id;
}

void serve_task_text(const struct serve_world *world, uint64_t task, char *ret, size_t size)
{
    if (world->task_label != NULL)
        world->task_label(world->context, task, ret, size);
    else
        snprintf(ret, size, "%" PRIu64, task);
}

void serve_job_text(const struct serve_world *world, uint64_t job, char *ret, size_t size)
{
    if (world->job_label != NULL)
        world->job_label(world->context, job, ret, size);
    else
        serve_task_text(world, job, ret, size);
}

void serve_money_text(money_t money, char *ret, size_t size)
{
    const uint64_t amount = money < 0 ? -(uint64_t)money : (uint64_t)money;
    const uint64_t per_usd = (uint64_t)MONEY_PER_USD;

    snprintf(ret, size, "%s%" PRIu64 ".%06" PRIu64, money < 0 ? "-" : "", amount / per_usd,
             amount % per_usd);
}

void serve_budget_text(const struct serve_budget *budget, msec_t now, char *ret, size_t size)
{
    char spent[SERVE_TEXT];
    char limit[SERVE_TEXT];
    char until[SERVE_TEXT];

    serve_money_text(budget->spent, spent, sizeof(spent));
    serve_money_text(budget->limit, limit, sizeof(limit));
    adapter_clock_text(budget->until, now, until, sizeof(until));
    (void)snprintf(ret, size,
                   "dollars_per_%s: $%.40s of $%.40s are spent or committed, the next %s begins at "
                   "%.60s",
                   budget->period, spent, limit, budget->period, until);
}

const char *serve_instance_word(enum instance_state state)
{
    switch (state) {
    case INSTANCE_FREE:
        return "gone";
    case INSTANCE_REQUESTED:
        return "requested";
    case INSTANCE_BOOTING:
        return "booting";
    case INSTANCE_READY:
        return "ready";
    case INSTANCE_DRAINING:
        return "draining";
    case INSTANCE_RETURNED:
        return "returned";
    }
    return "unknown";
}

const char *serve_task_word(enum task_state state)
{
    switch (state) {
    case TASK_FREE:
        return "ended";
    case TASK_WAITING:
    case TASK_HIDDEN:
        return "waiting";
    case TASK_BOUND:
        return "bound";
    case TASK_RUNNING:
        return "running";
    }
    return "unknown";
}

/* Sums. --------------------------------------------------------------------------------------- */

static void count_proposal(void *to, const struct serve_proposal *proposal)
{
    uint32_t *count = to;

    (void)proposal;
    (*count)++;
}

const char *const serve_severity_words[SERVE_SEVERITIES] = { "error", "warning", "note" };

static void count_finding(void *to, const struct finding *finding)
{
    uint32_t *counts = to;

    for (int i = 0; i < SERVE_SEVERITIES; i++)
        counts[i] += strcmp(finding->severity, serve_severity_words[i]) == 0;
}

double serve_bound_gap(const struct view_bound_answer *bound)
{
    if (bound->bound <= 0)
        return -1;
    return (double)(bound->cost - bound->bound) / (double)bound->bound;
}

struct serve_sums serve_sums(const struct serve_world *world)
{
    const struct view *view = controller_view(world->controller);
    const msec_t now = world->now(world->context);
    struct serve_sums sums = { .jobs = view->job.living };

    INSTANCE_EACH(row, view)
    {
        const struct offer *offer = &view->catalogue->offers[view->instance.offer[row]];

        sums.instances[view->instance.state[row]]++;
        if (view->instance.billed_from[row] >= 0)
            sums.per_hour += price_at(&offer->price, now);
    }
    for (uint32_t row = 0; row < view->task.count; row++)
        sums.tasks[view->task.state[row]]++;
    if (world->each_proposal != NULL)
        world->each_proposal(world->context, count_proposal, &sums.proposals);
    if (world->each_finding != NULL)
        world->each_finding(world->context, count_finding, sums.findings);
    return sums;
}

/* The last plan. ------------------------------------------------------------------------------ */

static struct serve_reason copy_reason(const struct view *view, const struct plan_reason *why)
{
    struct serve_reason reason = {
        .chosen = why->chosen,
        .passed_over = why->passed_over,
        .saving = why->saving,
        .move_cost = why->move_cost,
    };

    (void)snprintf(reason.text, sizeof(reason.text), "%s", plan_reason_text(why->code));
    if (why->passed_offer != OFFER_NONE)
        serve_offer_text(view->catalogue, why->passed_offer, reason.passed_offer,
                         sizeof(reason.passed_offer));
    return reason;
}

static void copy_rents(struct serve_plan *to, const struct view *view, const struct plan *plan)
{
    const struct plan_rent *last = NULL;

    for (uint32_t i = 0; i < plan->rent_count; i++) {
        const struct plan_rent *rent = &plan->rents[i];

        if (last != NULL && last->offer == rent->offer && last->why.code == rent->why.code) {
            to->rents[to->rent_count - 1].count++;
            continue;
        }
        if (to->rent_count == SERVE_PLAN_ITEMS)
            break;
        MEM_ROOM(to->rents, to->rents_room, to->rent_count + 1);

        struct serve_rent *row = &to->rents[to->rent_count++];

        *row = (struct serve_rent){
            .offer_row = rent->offer,
            .count = 1,
            .why = copy_reason(view, &rent->why),
        };
        serve_offer_text(view->catalogue, rent->offer, row->offer, sizeof(row->offer));
        last = rent;
    }
}

static void copy_places(struct serve_world *world, const struct view *view, const struct plan *plan)
{
    struct serve_plan *to = &world->plan;

    for (uint32_t i = 0; i < plan->place_count && i < SERVE_PLAN_ITEMS; i++) {
        const struct plan_place *place = &plan->places[i];
        const uint32_t job = view->task.job[place->task];

        MEM_ROOM(to->places, to->places_room, to->place_count + 1);

        struct serve_place *row = &to->places[to->place_count++];

        *row = (struct serve_place){
            .user = view->job.user[job],
            .fresh = place->fresh,
            .why = copy_reason(view, &place->why),
        };
        serve_task_text(world, view->task.id[place->task], row->task, sizeof(row->task));
        serve_job_text(world, view->job.id[job], row->job, sizeof(row->job));
        if (place->fresh)
            serve_offer_text(view->catalogue, plan->rents[place->target].offer, row->where,
                             sizeof(row->where));
        else
            serve_machine_text(world, view->instance.id[place->target], row->where,
                               sizeof(row->where));
    }
}

void serve_note_plan(struct serve_world *world, const struct view *view, const struct plan *plan)
{
    struct serve_plan *to = &world->plan;

    if (plan->rent_count == 0 && plan->place_count == 0 && plan->release_count == 0)
        return;
    to->decision = world->controller != NULL ? controller_stats(world->controller)->decisions : 0;
    to->at = view->now;
    to->decision_us = 0;
    to->kind = plan->kind;
    to->full = plan->full;
    to->partial = plan->partial;
    to->expected_ms = plan->expected_ms;
    to->rent_total = plan->rent_count;
    to->place_total = plan->place_count;
    to->release_total = plan->release_count;
    to->rent_count = 0;
    to->place_count = 0;
    to->release_count = 0;
    copy_rents(to, view, plan);
    copy_places(world, view, plan);
    for (uint32_t i = 0; i < plan->release_count && i < SERVE_PLAN_ITEMS; i++) {
        const struct plan_release *release = &plan->releases[i];

        MEM_ROOM(to->releases, to->releases_room, to->release_count + 1);
        to->releases[to->release_count++] = (struct serve_release){
            .instance = view->instance.id[release->instance],
            .why = copy_reason(view, &release->why),
        };
    }
}

void serve_note_decision(struct serve_world *world, uint64_t microseconds)
{
    struct serve_times *times = &world->times;
    uint32_t bucket = 0;

    while (bucket < SERVE_TIME_BUCKETS - 1 && microseconds > serve_time_bounds_us[bucket])
        bucket++;
    times->bucket[bucket]++;
    times->count++;
    times->sum_us += microseconds;
    times->last_us = microseconds;
    if (microseconds > times->max_us)
        times->max_us = microseconds;
    if (world->plan.decision_us == 0)
        world->plan.decision_us = microseconds;
}

struct serve_risk serve_risk(const struct serve_world *world, uint32_t offer)
{
    const struct interruptions *learned = &controller_knowledge(world->controller)->interruptions;
    const msec_t now = world->now(world->context);
    struct interruption_rate rate;
    struct serve_risk risk = { .lasts_ms = interruptions_mean_ms(learned, offer, now),
                               .low_ms = -1,
                               .high_ms = -1 };

    risk.is_learned = interruptions_rate(learned, offer, now, &rate);
    if (risk.is_learned) {
        risk.low_ms = interruption_span_ms(rate.high);
        risk.high_ms = interruption_span_ms(rate.low);
        risk.losses_milli = (int64_t)(rate.losses * 1000 + 0.5);
        risk.machine_ms = (msec_t)(rate.hours * (double)MSEC_PER_HOUR);
    }
    return risk;
}
