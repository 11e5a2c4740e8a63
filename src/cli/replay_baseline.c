/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_baseline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct end {
    msec_t at;
    uint32_t node;
    uint32_t shape;
    uint32_t tasks;
};

struct node {
    uint32_t type;
    uint32_t tasks;
    msec_t up_at;       /* billed since */
    msec_t ready_at;    /* takes work */
    msec_t empty_since; /* of use without tasks */
    struct res left;
    bool is_up;
};

struct baseline {
    const struct replay_input *input;
    uint32_t *offer_of; /* by shape: the cheapest on demand that holds a task */
    struct end *heap;   /* by time */
    uint32_t heap_count;
    uint32_t heap_room;
    struct node *nodes;
    uint32_t node_count;
    uint32_t nodes_room;
};

/* Which machine. ------------------------------------------------------------------------------- */

static money_t price_of(const struct replay_input *input, uint32_t offer)
{
    return price_at(&input->catalogue.offers[offer].price, 0);
}

static uint32_t cheapest(const struct replay_input *input, uint32_t shape, enum market market)
{
    uint32_t best = OFFER_NONE;

    for (uint32_t i = 0; i < input->catalogue.offer_count; i++) {
        if (input->catalogue.offers[i].market == market &&
            shape_fits_offer(&input->trace.shapes, shape, &input->catalogue, i) &&
            (best == OFFER_NONE || price_of(input, i) < price_of(input, best)))
            best = i;
    }
    return best;
}

/* Of the same type, in another market; OFFER_NONE: there is none. */
static uint32_t same_type(const struct replay_input *input, uint32_t offer, enum market market)
{
    const struct catalogue *catalogue = &input->catalogue;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].market == market &&
            catalogue->offers[i].type == catalogue->offers[offer].type)
            return i;
    }
    return OFFER_NONE;
}

static const struct machine_type *type_of(const struct replay_input *input, uint32_t offer)
{
    return catalogue_type_of(&input->catalogue, offer);
}

static const struct res *demand_of(const struct replay_input *input, uint32_t shape, uint32_t offer)
{
    return shape_taken(&input->trace.shapes, shape, &input->catalogue, offer,
                       &type_of(input, offer)->capacity);
}

/* Ends, the first on top. ---------------------------------------------------------------------- */

static void push(struct baseline *of, struct end end)
{
    MEM_ROOM(of->heap, of->heap_room, of->heap_count + 1);

    uint32_t at = of->heap_count++;

    while (at > 0 && of->heap[(at - 1) / 2].at > end.at) {
        of->heap[at] = of->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    of->heap[at] = end;
}

static struct end pop(struct baseline *of)
{
    const struct end first = of->heap[0];
    const struct end last = of->heap[--of->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= of->heap_count)
            break;
        if (child + 1 < of->heap_count && of->heap[child + 1].at < of->heap[child].at)
            child++;
        if (of->heap[child].at >= last.at)
            break;
        of->heap[at] = of->heap[child];
        at = child;
    }
    if (of->heap_count > 0)
        of->heap[at] = last;
    return first;
}

/* Around the clock. ---------------------------------------------------------------------------- */

/* Millionths of machines of each offer in use, now and at the most. */
struct use {
    int64_t now;
    int64_t most;
};

static int64_t part_of_machine(const struct baseline *of, uint32_t shape)
{
    const uint32_t offer = of->offer_of[shape];

    return (int64_t)(res_dominant_share(demand_of(of->input, shape, offer),
                                        &type_of(of->input, offer)->capacity) *
                     1e6) +
           1;
}

static struct use *uses_of(struct baseline *of)
{
    const struct trace *trace = &of->input->trace;
    struct use *uses = mem_alloc(of->input->catalogue.offer_count, sizeof(*uses));

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];
        struct use *use = &uses[of->offer_of[job->shape]];

        while (of->heap_count > 0 && of->heap[0].at <= job->arrival_ms) {
            const struct end end = pop(of);

            uses[of->offer_of[end.shape]].now -= end.tasks * part_of_machine(of, end.shape);
        }
        use->now += job->task_count * part_of_machine(of, job->shape);
        use->most = use->now > use->most ? use->now : use->most;
        push(of, (struct end){ .at = job->arrival_ms + job->work_ms,
                               .shape = job->shape,
                               .tasks = job->task_count });
    }
    of->heap_count = 0;
    return uses;
}

static msec_t last_end(const struct trace *trace)
{
    msec_t last = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const msec_t end = trace->jobs[i].arrival_ms + trace->jobs[i].work_ms;

        last = end > last ? end : last;
    }
    return last;
}

/* The fixed cluster, and the same at reserved prices. */
static void around_the_clock(struct baseline *of, struct replay_baseline *on_demand,
                             struct replay_baseline *reserved)
{
    const struct replay_input *input = of->input;
    const msec_t span = last_end(&input->trace) - input->trace.jobs[0].arrival_ms;
    struct use *uses = uses_of(of);

    reserved->cost = 0;
    for (uint32_t i = 0; i < input->catalogue.offer_count; i++) {
        const int64_t machines = (uses[i].most + 999999) / 1000000;
        const uint32_t other = same_type(input, i, MARKET_RESERVED);

        if (machines == 0)
            continue;
        on_demand->machines += (uint64_t)machines;
        on_demand->cost += money_for(price_of(input, i), span) * machines;
        if (other == OFFER_NONE)
            reserved->cost = MONEY_UNKNOWN;
        else if (reserved->cost != MONEY_UNKNOWN)
            reserved->cost += money_for(price_of(input, other), span) * machines;
    }
    reserved->machines = on_demand->machines;
    mem_free(uses);
}

/* Power saving. --------------------------------------------------------------------------------- */

static void power_down(struct baseline *of, struct node *node, msec_t at,
                       struct replay_baseline *to)
{
    const struct offer *offer = &of->input->catalogue.offers[node->type];

    to->cost += billing_charge(&offer->billing, &offer->price, node->up_at, at);
    node->is_up = false;
}

/* The first node of the type with room; those that have been empty for too long go first. */
static uint32_t node_for(struct baseline *of, uint32_t offer, const struct res *demand, msec_t now,
                         msec_t suspend_ms, struct replay_baseline *to)
{
    const struct machine_type *type = type_of(of->input, offer);
    uint32_t room = UINT32_MAX;

    for (uint32_t i = 0; i < of->node_count; i++) {
        struct node *node = &of->nodes[i];

        if (node->is_up && node->tasks == 0 && now - node->empty_since >= suspend_ms)
            power_down(of, node, node->empty_since + suspend_ms, to);
        if (node->is_up && node->type == offer && res_fits(demand, &node->left))
            return i;
        if (!node->is_up)
            room = i;
    }
    if (room == UINT32_MAX) {
        room = of->node_count++;
        MEM_ROOM(of->nodes, of->nodes_room, of->node_count);
    }
    to->machines++;
    of->nodes[room] = (struct node){
        .type = offer,
        .up_at = now + type->acquire_ms,
        .ready_at = now + type->acquire_ms + type->setup_ms,
        .left = type->capacity,
        .is_up = true,
    };
    return room;
}

static void end_task(struct baseline *of, const struct end *end)
{
    struct node *node = &of->nodes[end->node];

    res_add(&node->left, demand_of(of->input, end->shape, node->type));
    if (--node->tasks == 0)
        node->empty_since = end->at;
}

/* When the last of its nodes is ready. */
static msec_t start_job(struct baseline *of, const struct trace_job *job, msec_t suspend_ms,
                        uint32_t *nodes, struct replay_baseline *to)
{
    const uint32_t offer = of->offer_of[job->shape];
    const struct res *demand = demand_of(of->input, job->shape, offer);
    msec_t start = job->arrival_ms;

    for (uint32_t i = 0; i < job->task_count; i++) {
        nodes[i] = node_for(of, offer, demand, job->arrival_ms, suspend_ms, to);

        struct node *node = &of->nodes[nodes[i]];

        res_sub(&node->left, demand);
        node->tasks++;
        start = node->ready_at > start ? node->ready_at : start;
    }
    return start;
}

static void power_saving(struct baseline *of, msec_t suspend_ms, struct replay_baseline *to)
{
    const struct trace *trace = &of->input->trace;
    msec_t *waits = mem_alloc(trace->job_count, sizeof(*waits));
    uint32_t *nodes = mem_alloc(trace->task_total, sizeof(*nodes));

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];

        while (of->heap_count > 0 && of->heap[0].at <= job->arrival_ms) {
            const struct end end = pop(of);

            end_task(of, &end);
        }

        const msec_t start = start_job(of, job, suspend_ms, nodes, to);

        waits[i] = start - job->arrival_ms;
        for (uint32_t task = 0; task < job->task_count; task++)
            push(of, (struct end){
                         .at = start + job->work_ms, .node = nodes[task], .shape = job->shape });
    }
    while (of->heap_count > 0) {
        const struct end end = pop(of);

        end_task(of, &end);
    }
    for (uint32_t i = 0; i < of->node_count; i++) {
        if (of->nodes[i].is_up)
            power_down(of, &of->nodes[i], of->nodes[i].empty_since + suspend_ms, to);
    }
    to->waits = wait_stats_of(waits, trace->job_count);
    mem_free(waits);
    mem_free(nodes);
}

void replay_baselines(const struct replay_input *input, msec_t suspend_ms,
                      struct replay_baseline ret[REPLAY_BASELINES])
{
    struct baseline of = {
        .input = input,
        .offer_of = mem_alloc(input->trace.shapes.count + 1, sizeof(*of.offer_of)),
    };
    bool is_known = true;

    ret[0] = (struct replay_baseline){ .name = "always-on" };
    ret[1] = (struct replay_baseline){ .name = "reserved" };
    ret[2] = (struct replay_baseline){ .name = "power-saving" };
    for (uint32_t i = 0; i < input->trace.shapes.count; i++)
        of.offer_of[i] = cheapest(input, i, MARKET_ON_DEMAND);
    for (uint32_t i = 0; i < input->trace.job_count; i++)
        is_known = is_known && of.offer_of[input->trace.jobs[i].shape] != OFFER_NONE;
    if (is_known) {
        around_the_clock(&of, &ret[0], &ret[1]);
        power_saving(&of, suspend_ms, &ret[2]);
    } else {
        for (int i = 0; i < REPLAY_BASELINES; i++)
            ret[i].cost = MONEY_UNKNOWN;
    }
    mem_free(of.offer_of);
    mem_free(of.heap);
    mem_free(of.nodes);
}
