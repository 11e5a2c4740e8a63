/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semi-elastic: a batch queue with EASY backfill on a cluster that grows and shrinks.
 *
 * Niu et al., "Building semi-elastic virtual clusters for cost-effective HPC cloud resource
 * provisioning", TPDS'16. Machines are added when the first job in the queue would wait longer than
 * a limit, and given back when nothing waits and their paid time ends. Every task has its machine to
 * itself.
 */
#include "decide/elastic_queue.h"
#include "decide/lease.h"
#include "policy/policy.h"

enum option { OPT_SIZE, OPT_WAIT, OPT_SHORT, OPT_PLACEMENT, OPT_CHECK, OPT_OWNED, OPT_COUNT };

static const char *const size_choices[] = { "first", "sum", "best", NULL };

static const struct policy_option options[OPT_COUNT] = {
    [OPT_SIZE] = { .name = "size",
                   .help = "machines to add: for the first job, for all, or for all long jobs and "
                           "the first short one",
                   .kind = OPTION_CHOICE,
                   .normal = ELASTIC_BEST,
                   .choices = size_choices },
    [OPT_WAIT] = { .name = "wait_limit",
                   .help = "how long the first job in the queue may be made to wait",
                   .kind = OPTION_DURATION,
                   .normal = 300 * MSEC_PER_SEC },
    [OPT_SHORT] = { .name = "short",
                    .help = "jobs estimated to run no longer than this are short",
                    .kind = OPTION_DURATION,
                    .normal = MSEC_PER_HOUR },
    [OPT_PLACEMENT] = { .name = "placement",
                        .help = "which idle machine first: by paid time left, or by idle time",
                        .kind = OPTION_CHOICE,
                        .normal = LEASE_MAX_MARGIN,
                        .choices = lease_order_words },
    [OPT_CHECK] = { .name = "check",
                    .help = "how often to look for machines whose paid time ends",
                    .kind = OPTION_DURATION,
                    .normal = 60 * MSEC_PER_SEC },
    [OPT_OWNED] = { .name = "owned",
                    .help = "own this many machines instead of renting (0: rent)",
                    .kind = OPTION_COUNT,
                    .normal = 0 },
};

struct run {
    const struct policy_input *in;
    const struct view *view;
    struct elastic_queue queue;
    bool *given; /* per instance: this plan gives it work */
    struct plan *plan;
    bool waits; /* some job does not start now */
};

/* Start the jobs [from, to) that backfill chose, on the idle instances in their order. */
static void start_jobs(struct run *run, uint32_t from, uint32_t to, uint32_t top,
                       const uint32_t *idle)
{
    const struct view *view = run->view;
    uint32_t next = 0;

    for (uint32_t i = from; i < to; i++) {
        const struct plan_reason why =
            plan_because(i < top ? REASON_FIRST_IN_QUEUE : REASON_BACKFILL,
                         view->offer_price[run->queue.jobs[i].offer]);
        uint32_t task = run->queue.jobs[i].first_task;

        if (!run->queue.backfill[i].starts)
            continue;
        for (uint32_t n = 0; n < run->queue.backfill[i].size; n++) {
            run->given[idle[next]] = true;
            plan_place_kept(run->plan, task, idle[next++], why);
            task = elastic_queue_next_task(view, task);
        }
    }
}

/* Add machines for the jobs [from, to) of one offer if the first of them would wait too long. */
static void add_machines(struct run *run, uint32_t from, uint32_t to,
                         const struct backfill_result *result)
{
    const int64_t *option = run->in->option;
    const uint32_t offer = run->queue.jobs[from].offer;

    if (option[OPT_OWNED] > 0 || (result->reserved_at != MSEC_NEVER &&
                                  result->reserved_at - run->view->now <= option[OPT_WAIT]))
        return;

    const uint64_t wanted = elastic_queue_wanted(
        &run->queue, from, to, (enum elastic_size)option[OPT_SIZE], option[OPT_SHORT]);
    const uint64_t have = (uint64_t)result->free_after + elastic_queue_booting(run->view, offer);

    for (uint64_t i = have; i < wanted; i++)
        (void)plan_rent(run->plan, offer,
                        plan_because(REASON_WAIT_TOO_LONG, run->view->offer_price[offer]));
}

/* The queue [from, to) of one offer. */
static void serve(struct run *run, uint32_t from, uint32_t to)
{
    struct arena *arena = run->in->arena;
    const uint32_t offer = run->queue.jobs[from].offer;
    struct backfill_end *ends = NULL;
    uint32_t *idle;
    uint32_t end_count = 0;
    uint64_t all = 0;

    for (uint32_t i = from; i < to; i++)
        all += run->queue.backfill[i].size;

    const uint32_t free =
        lease_idle(run->view,
                   &(struct lease_query){ .offer = offer,
                                          .owner = NAME_NONE,
                                          .order = (enum lease_order)run->in->option[OPT_PLACEMENT],
                                          .most = all },
                   arena, &idle);

    if (all > free) /* else everything starts, whatever ends when */
        end_count = elastic_queue_ends(run->view, offer, arena, &ends);

    const struct backfill_result result = backfill_easy(&(struct backfill_input){
        .now = run->view->now,
        .free = free,
        .ends = ends,
        .end_count = end_count,
        .jobs = run->queue.backfill + from,
        .job_count = to - from,
    });

    if (result.any_starts)
        start_jobs(run, from, to, from + result.top, idle);
    if (result.top < to - from) {
        run->waits = true;
        add_machines(run, from, to, &result);
    }
}

/* An owned cluster has its machines from the beginning. */
static void own_machines(const struct run *run)
{
    const int64_t owned = run->in->option[OPT_OWNED];

    for (int64_t i = run->view->instance.living; i < owned && run->queue.count > 0; i++)
        (void)plan_rent(run->plan, run->queue.jobs[0].offer,
                        plan_because(REASON_CHEAPEST_ALONE, 0));
}

static void decide(const struct policy_input *in, struct plan *ret)
{
    struct run run = { .in = in, .view = in->view, .plan = ret };

    run.given = ARENA_ARRAY(in->arena, bool, in->view->instance.count);
    elastic_queue_build(&run.queue, in->view, in->arena);
    for (uint32_t from = 0; from < run.queue.count;) {
        uint32_t to = from + 1;

        while (to < run.queue.count && run.queue.jobs[to].offer == run.queue.jobs[from].offer)
            to++;
        serve(&run, from, to);
        from = to;
    }
    if (in->option[OPT_OWNED] > 0)
        own_machines(&run);
    else if (!run.waits)
        lease_release(in->view, in->option[OPT_CHECK], run.given, ret);
}

const struct policy policy_semi_elastic = {
    .name = "semi-elastic",
    .summary = "a queue with backfill; rents when the first would wait too long, by the hour",
    .options = options,
    .option_count = OPT_COUNT,
    .decide = decide,
};
