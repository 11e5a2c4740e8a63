/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no-wait: every job gets machines at once, idle ones first, new ones for the rest.
 *
 * The naive aggregation of the SEC paper (TPDS'16, section 8.2). With a pool per user it is how users
 * rent who each keep their own idle machines until the paid time ends. Every task has its machine to
 * itself.
 */
#include "decide/elastic_queue.h"
#include "decide/lease.h"
#include "policy/policy.h"

enum option { OPT_POOL, OPT_PLACEMENT, OPT_CHECK, OPT_COUNT };

enum pool_choice { POOL_SHARED, POOL_USER };

static const char *const pool_choices[] = { "shared", "user", NULL };

static const struct policy_option options[OPT_COUNT] = {
    [OPT_POOL] = { .name = "pool",
                   .help = "idle machines are for everybody, or only for who used them last",
                   .kind = OPTION_CHOICE,
                   .normal = POOL_SHARED,
                   .choices = pool_choices },
    [OPT_PLACEMENT] = { .name = "placement",
                        .help = "which idle machine first: by paid time left, or by idle time",
                        .kind = OPTION_CHOICE,
                        .normal = LEASE_MAX_MARGIN,
                        .choices = lease_order_words },
    [OPT_CHECK] = { .name = "check",
                    .help = "how often to look for machines whose paid time ends",
                    .kind = OPTION_DURATION,
                    .normal = 60 * MSEC_PER_SEC },
};

/* Give the job idle machines that this plan has not given away yet, and rent what is missing. */
static void start(const struct policy_input *in, const struct elastic_queue *queue, uint32_t index,
                  bool *given, struct plan *plan)
{
    const struct view *view = in->view;
    const struct elastic_job *job = &queue->jobs[index];
    const struct plan_reason why =
        plan_because(REASON_FIRST_IN_QUEUE, view->offer_price[job->offer]);
    const struct lease_query query = {
        .offer = job->offer,
        .owner = in->option[OPT_POOL] == POOL_USER ? view->job.user[job->job] : NAME_NONE,
        .order = (enum lease_order)in->option[OPT_PLACEMENT],
        .most = UINT64_MAX, /* some may be given away already */
    };
    uint32_t *idle;
    const uint32_t idle_count = lease_idle(view, &query, in->arena, &idle);
    uint32_t task = job->first_task;
    uint32_t next = 0;

    for (uint32_t n = 0; n < queue->backfill[index].size; n++) {
        while (next < idle_count && given[idle[next]])
            next++;
        if (next < idle_count) {
            given[idle[next]] = true;
            plan_place_kept(plan, task, idle[next], why);
        } else {
            plan_place_fresh(plan, task, plan_rent_with(plan, job->offer, job->job, why), why);
        }
        task = elastic_queue_next_task(view, task);
    }
}

static void decide(const struct policy_input *in, struct plan *ret)
{
    struct elastic_queue queue;
    bool *given = ARENA_ARRAY(in->arena, bool, in->view->instance.count);

    elastic_queue_build(&queue, in->view, in->arena);
    for (uint32_t i = 0; i < queue.count; i++)
        start(in, &queue, i, given, ret);
    lease_release(in->view, in->option[OPT_CHECK], given, ret);
}

const struct policy policy_no_wait = {
    .name = "no-wait",
    .summary = "idle machines first, new ones for the rest, at once; kept for their paid time",
    .options = options,
    .option_count = OPT_COUNT,
    .is_for_alike = true,
    .decide = decide,
};
