/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semi-elastic: a batch queue with EASY backfill on a cluster that grows and shrinks.
 *
 * Niu et al., "Building semi-elastic virtual clusters for cost-effective HPC cloud resource
 * provisioning", TPDS'16. Machines are added when the first job in the queue would wait longer than
 * a limit, and returned when nothing waits for them and their paid time ends. Every task has its machine
 * to itself. The paper has one type of machine; here is a queue for each offer, and a job may use machines of
 * offers that no task queues for.
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

/* The jobs [from, to) that queue for one offer. */
struct queue {
    uint32_t from;
    uint32_t to;
    struct backfill_result result;
};

struct run {
    const struct policy_input *in;
    const struct view *view;
    struct elastic_queue queue;
    bool *given;  /* per instance: this plan gives it work */
    bool *kept;   /* per instance: work that waits may use it, or it is given */
    bool *wanted; /* per offer: a task queues for it */
    struct plan *plan;
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

/* The queue of one offer: what starts on its own machines. */
static void serve(struct run *run, struct queue *queue)
{
    struct arena *arena = run->in->arena;
    const uint32_t offer = run->queue.jobs[queue->from].offer;
    struct backfill_end *ends = NULL;
    uint32_t *idle;
    uint32_t end_count = 0;
    uint64_t all = 0;

    for (uint32_t i = queue->from; i < queue->to; i++)
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
    queue->result = backfill_easy(&(struct backfill_input){
        .now = run->view->now,
        .free = free,
        .ends = ends,
        .end_count = end_count,
        .jobs = run->queue.backfill + queue->from,
        .job_count = queue->to - queue->from,
    });
    if (queue->result.any_starts)
        start_jobs(run, queue->from, queue->to, queue->from + queue->result.top, idle);
    run->wanted[offer] = queue->result.top < queue->to - queue->from;
}

static struct elastic_loan loan_for(const struct run *run, uint32_t job)
{
    return (struct elastic_loan){ .offer = run->queue.jobs[job].offer,
                                  .task = run->queue.jobs[job].first_task,
                                  .wanted = run->wanted,
                                  .given = run->given };
}

/* Start the job on whatever machines there are for it; false: there are not enough. */
static bool start_anywhere(struct run *run, uint32_t job)
{
    const struct view *view = run->view;
    const uint32_t size = run->queue.backfill[job].size;
    const struct elastic_loan loan = loan_for(run, job);
    uint32_t *machines = ARENA_ARRAY(run->in->arena, uint32_t, size);
    uint32_t task = run->queue.jobs[job].first_task;

    if (elastic_queue_ready(view, &loan, size, machines) < size)
        return false;
    for (uint32_t i = 0; i < size; i++) {
        run->given[machines[i]] = true;
        plan_place_kept(run->plan, task, machines[i],
                        plan_because(REASON_FIRST_IN_QUEUE,
                                     view->offer_price[view->instance.offer[machines[i]]]));
        task = elastic_queue_next_task(view, task);
    }
    run->queue.backfill[job].starts = true;
    return true;
}

/* Add machines for the jobs of the queue from 'first' on, which does not start, if it would wait too long. */
static void add_machines(struct run *run, const struct queue *queue, uint32_t first)
{
    const int64_t *option = run->in->option;
    const struct backfill_result *result = &queue->result;
    const struct elastic_loan loan = loan_for(run, first);
    uint64_t have = 0;

    EMPTY_EACH(instance, run->view)
    {
        const bool is_usable = elastic_queue_may_use(run->view, &loan, instance);

        have += is_usable;
        run->kept[instance] |= is_usable;
    }
    if (option[OPT_OWNED] > 0 || (result->reserved_at != MSEC_NEVER &&
                                  result->reserved_at - run->view->now <= option[OPT_WAIT]))
        return;

    const uint64_t wanted = elastic_queue_wanted(
        &run->queue, first, queue->to, (enum elastic_size)option[OPT_SIZE], option[OPT_SHORT]);

    for (uint64_t i = have; i < wanted; i++)
        (void)plan_rent(run->plan, loan.offer,
                        plan_because(REASON_WAIT_TOO_LONG, run->view->offer_price[loan.offer]));
}

/* Who does not start waits for its turn, the first until its reservation. */
static void say_waits(const struct run *run, const struct queue *queue)
{
    for (uint32_t job = queue->from; job < queue->to; job++) {
        const bool is_top = job == queue->from + queue->result.top;
        uint32_t task = run->queue.jobs[job].first_task;

        if (run->queue.backfill[job].starts)
            continue;
        for (uint32_t i = 0; i < run->queue.backfill[job].size; i++) {
            struct plan_wait wait = plan_wait_by(WAIT_QUEUE, task);

            wait.offer = run->queue.jobs[job].offer;
            wait.expected = is_top ? queue->result.reserved_at : MSEC_NEVER;
            plan_let_wait(run->plan, &wait);
            task = elastic_queue_next_task(run->view, task);
        }
    }
}

/* Those of the queue who wait: what starts elsewhere, and what is to be added. */
static void serve_rest(struct run *run, const struct queue *queue)
{
    const uint32_t top = queue->from + queue->result.top;
    uint32_t first = top;

    while (first < queue->to && (run->queue.backfill[first].starts || start_anywhere(run, first)))
        first++;
    if (first < queue->to)
        add_machines(run, queue, first);
}

/* All queues, those of one offer after another. */
static void serve_all(struct run *run)
{
    struct queue *queues = ARENA_ARRAY(run->in->arena, struct queue, run->queue.count);
    uint32_t count = 0;

    for (uint32_t from = 0; from < run->queue.count; from = queues[count++].to) {
        uint32_t to = from + 1;

        while (to < run->queue.count && run->queue.jobs[to].offer == run->queue.jobs[from].offer)
            to++;
        queues[count] = (struct queue){ .from = from, .to = to };
        serve(run, &queues[count]);
    }
    for (uint32_t i = 0; i < count; i++)
        serve_rest(run, &queues[i]);
    for (uint32_t i = 0; i < count; i++)
        say_waits(run, &queues[i]);
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
    run.kept = ARENA_ARRAY(in->arena, bool, in->view->instance.count);
    run.wanted = ARENA_ARRAY(in->arena, bool, in->view->catalogue->offer_count);
    elastic_queue_build(&run.queue, in->view, in->arena);
    serve_all(&run);
    if (in->option[OPT_OWNED] > 0) {
        own_machines(&run);
        return;
    }
    EMPTY_EACH(instance, in->view)
    {
        run.kept[instance] |= run.given[instance];
    }
    lease_release(in->view, in->option[OPT_CHECK], run.kept, ret);
}

const struct policy policy_semi_elastic = {
    .name = "semi-elastic",
    .summary = "a queue with backfill; rents when the first would wait too long, by the hour",
    .options = options,
    .option_count = OPT_COUNT,
    .is_for_alike = true,
    .decide = decide,
};
