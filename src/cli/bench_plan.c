/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_plan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/verb.h"
#include "decide/reservation.h"
#include "decide/view_bound.h"

enum {
    TASKS_OF_MACHINE = 10,  /* that run there, if enough fit */
    BOUND_STEPS = 20000000, /* a few seconds, where it does not end before */
    KIB = 1024,
};

/* What a plan comes to; it is sent through a pipe as it is. */
struct outcome {
    double seconds;
    money_t cost; /* of all machines afterwards, for an hour */
    uint32_t rents;
    uint32_t places;
    uint32_t waiting; /* tasks without a machine afterwards */
    int64_t bytes;    /* by which the process grew */
    bool is_done;     /* else it took too long */
};

static double processor_seconds(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int64_t peak_bytes(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * KIB;
}

/* What the machines cost when the plan has been carried out. */
static money_t cost_after(const struct view *view, const struct plan *plan)
{
    money_t cost = 0;

    INSTANCE_EACH(row, view)
    {
        cost += view->offer_price[view->instance.offer[row]];
    }
    for (uint32_t i = 0; i < plan->rent_count; i++)
        cost += view->offer_price[plan->rents[i].offer];
    for (uint32_t i = 0; i < plan->release_count; i++)
        cost -= view->offer_price[view->instance.offer[plan->releases[i].instance]];
    return cost;
}

static uint32_t waiting_after(const struct view *view, const struct plan *plan)
{
    uint32_t waiting = view->task.waiting_count + plan->suspend_count;

    for (uint32_t i = 0; i < plan->place_count; i++)
        waiting -= view->task.instance[plan->places[i].task] == ROW_NONE;
    return waiting;
}

/* The decision that is measured; apart, so that a profiler can tell it by its name. */
static __attribute__((noinline)) void first_plan(const struct policy *policy, struct view *view,
                                                 const struct policy_input *input,
                                                 struct plan *plan)
{
    reservation_update(view);
    policy_decide(policy, input, plan);
}

static struct outcome decide(const struct policy *policy, struct bench_cluster *cluster)
{
    struct knowledge knowledge = { 0 };
    int64_t option[POLICY_OPTIONS_MAX];
    struct outcome outcome = { .is_done = true };
    struct arena arena;
    struct plan plan;
    const struct policy_input input = {
        .view = &cluster->view, .knowledge = &knowledge, .option = option, .arena = &arena
    };
    const int64_t before_bytes = peak_bytes();
    const double before = processor_seconds();

    arena_init(&arena);
    policy_defaults(policy, option);
    colocation_init(&knowledge.colocation, 1.0);
    plan_init(&plan, &arena);
    first_plan(policy, &cluster->view, &input, &plan);
    outcome.seconds = processor_seconds() - before;
    outcome.bytes = peak_bytes() - before_bytes;
    outcome.cost = cost_after(&cluster->view, &plan);
    outcome.rents = plan.rent_count;
    outcome.places = plan.place_count;
    outcome.waiting = waiting_after(&cluster->view, &plan);
    colocation_done(&knowledge.colocation);
    arena_done(&arena);
    return outcome;
}

/* In the process of its own; the outcome goes into the pipe. */
static void decide_within(const struct policy *policy, struct bench_cluster *cluster,
                          uint32_t limit_s, int out)
{
    const struct rlimit limit = { .rlim_cur = limit_s, .rlim_max = limit_s };

    (void)setrlimit(RLIMIT_CPU, &limit);

    const struct outcome outcome = decide(policy, cluster);

    if (write(out, &outcome, sizeof(outcome)) != sizeof(outcome))
        _exit(EXIT_FAILED);
    _exit(EXIT_DONE);
}

/* 0, or why there is no outcome but that it took too long. */
static int measure(const struct policy *policy, struct bench_cluster *cluster, uint32_t limit_s,
                   struct outcome *ret)
{
    int ends[2];

    *ret = (struct outcome){ .is_done = false };
    if (pipe(ends) < 0)
        return -errno;

    const pid_t child = fork();

    if (child == 0) {
        (void)close(ends[0]);
        decide_within(policy, cluster, limit_s, ends[1]);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return -EAGAIN;
    }

    struct outcome outcome;
    const ssize_t size = read(ends[0], &outcome, sizeof(outcome));
    int status = 0;

    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    if (size == (ssize_t)sizeof(outcome))
        *ret = outcome;
    else if (!WIFSIGNALED(status) || (WTERMSIG(status) != SIGXCPU && WTERMSIG(status) != SIGKILL))
        return -ECHILD;
    return 0;
}

static void add_outcome(struct report_table *table, const struct outcome *outcome, money_t bound,
                        const struct bench_plan_spec *spec)
{
    char why[64];

    report_table_add_real(table, outcome->seconds);
    report_table_add_integer(table, outcome->rents);
    report_table_add_integer(table, outcome->waiting);
    report_table_add_money(table, outcome->cost);
    report_table_add_money(table, bound);
    if (outcome->waiting == 0 && bound > 0)
        report_table_add_real(table, (double)(outcome->cost - bound) / (double)bound);
    else
        report_table_add_missing(table);
    report_table_add_real(table, (double)outcome->bytes / (double)spec->tasks);
    if (outcome->waiting > 0) {
        (void)snprintf(why, sizeof(why), "%u tasks wait: no gap", outcome->waiting);
        report_table_add_text(table, why);
    } else {
        report_table_add_missing(table);
    }
}

static void add_skipped(struct report_table *table, money_t bound,
                        const struct bench_plan_spec *spec)
{
    char why[64];

    for (int i = 0; i < 4; i++)
        report_table_add_missing(table);
    report_table_add_money(table, bound);
    for (int i = 0; i < 2; i++)
        report_table_add_missing(table);
    (void)snprintf(why, sizeof(why), "not done within %u s", spec->limit_s);
    report_table_add_text(table, why);
}

/* Rows for the policies; an errno if one failed. */
static int add_rows(struct report_table *table, const struct bench_plan_spec *spec,
                    struct bench_cluster *cluster, money_t bound)
{
    static const struct policy *const rivals[] = { &policy_stint, &policy_eva, &policy_first_fit };
    const uint32_t count = sizeof(rivals) / sizeof(rivals[0]);

    for (uint32_t i = 0; i < (spec->policy != NULL ? 1 : count); i++) {
        const struct policy *policy = spec->policy != NULL ? spec->policy : rivals[i];
        struct outcome outcome;
        const int rc = measure(policy, cluster, spec->limit_s, &outcome);

        if (rc < 0) {
            fprintf(stderr, "stint bench: %s: %s\n", policy->name, strerror(-rc));
            return rc;
        }
        report_table_add_text(table, policy->name);
        report_table_add_integer(table, spec->tasks);
        if (outcome.is_done)
            add_outcome(table, &outcome, bound, spec);
        else
            add_skipped(table, bound, spec);
    }
    return 0;
}

static const struct report_column columns[] = {
    { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
    { .key = "tasks", .heading = "tasks", .kind = REPORT_INTEGER },
    { .key = "seconds", .heading = "plan, s", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "rents", .heading = "rents", .kind = REPORT_INTEGER },
    { .key = "waiting", .heading = "left waiting", .kind = REPORT_INTEGER },
    { .key = "cost_usd_per_hour", .heading = "$/h", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "bound_usd_per_hour", .heading = "bound, $/h", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "gap", .heading = "gap", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "bytes_per_task", .heading = "bytes/ task", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "note", .heading = "note", .kind = REPORT_TEXT },
};

int bench_plan(const struct bench_plan_spec *spec)
{
    struct bench_cluster cluster;
    struct report_table *table =
        report_table_create("bench", columns, sizeof(columns) / sizeof(columns[0]));

    bench_cluster_init(&cluster,
                       &(struct bench_spec){
                           .machines = (spec->running + TASKS_OF_MACHINE - 1) / TASKS_OF_MACHINE,
                           .tasks = spec->running,
                           .shapes = spec->shapes,
                           .types = spec->types,
                           .waiting = spec->tasks - spec->running,
                       });

    const double before = processor_seconds();
    const struct view_bound_answer bound = view_bound(
        &cluster.view, &(struct view_bound_spec){ .is_of_all = true, .node_most = BOUND_STEPS });

    report_table_note_integer(table, "shapes", spec->shapes);
    report_table_note_integer(table, "types", spec->types);
    report_table_note_integer(table, "running", spec->running);
    report_table_note_real(table, "bound_seconds", processor_seconds() - before, 3);

    const int rc = add_rows(table, spec, &cluster, bound.bound);
    const bool written = rc == 0 && report_table_write(table, spec->format, stdout) == 0;

    bench_cluster_done(&cluster);
    report_table_destroy(table);
    return written ? EXIT_DONE : EXIT_FAILED;
}
