/* SPDX-License-Identifier: Apache-2.0 */
/* Leases and the elastic queue, on a small view: one type of machine, billed by the hour. */
#include "base/test/check.h"
#include "decide/elastic_queue.h"
#include "decide/lease.h"
#include "decide/reservation.h"

enum { MINUTE = 60000 };

struct fixture {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct arena arena;
    struct plan plan;
    uint64_t next_task;
};

static void set_up(struct fixture *f)
{
    const struct price_change price = { .per_hour = 2400000 };
    const struct machine_type type = { .capacity = { { 16000, 0, 0 } } };
    const struct shape_demand demand = { .family = FAMILY_NONE, .res = { { 16000, 0, 0 } } };

    *f = (struct fixture){ .next_task = 1 };
    catalogue_init(&f->catalogue);
    (void)catalogue_add_type(&f->catalogue, "node", "node", &type);
    (void)catalogue_add_offer(
        &f->catalogue, NULL,
        &(struct offer){ .billing = { MSEC_PER_HOUR, MSEC_PER_HOUR }, .price = { &price, 1 } });
    shapes_init(&f->shapes);
    (void)shapes_add(&f->shapes, &(struct shape_spec){ .name = "node",
                                                       .workload = "node",
                                                       .demands = &demand,
                                                       .demand_count = 1 });
    view_init(&f->view, &f->catalogue, &f->shapes);
    reservation_update(&f->view);
    arena_init(&f->arena);
    plan_init(&f->plan, &f->arena);
}

static void tear_down(struct fixture *f)
{
    arena_done(&f->arena);
    view_done(&f->view);
    shapes_done(&f->shapes);
    catalogue_done(&f->catalogue);
}

/* An idle machine that is billed since then. */
static uint32_t add_idle(struct fixture *f, uint64_t id, msec_t billed_from)
{
    const uint32_t row = view_add_instance(&f->view, id, 0);

    view_set_state(&f->view, row, INSTANCE_READY);
    view_set_billed_from(&f->view, row, billed_from);
    return row;
}

static void add_job(struct fixture *f, uint32_t tasks, msec_t estimate)
{
    (void)view_add_job(&f->view, &(struct job_spec){ .id = f->next_task,
                                                     .first_task_id = f->next_task,
                                                     .task_count = tasks,
                                                     .gang = tasks > 1,
                                                     .estimate_ms = estimate });
    f->next_task += tasks;
}

TEST(a_lease_ends_with_the_hour_that_began)
{
    struct fixture f;
    set_up(&f);
    const uint32_t row = add_idle(&f, 1, 10 * MINUTE);

    f.view.now = 10 * MINUTE;
    assert_int_equal(lease_end(&f.view, row), 70 * MINUTE);
    f.view.now = 69 * MINUTE;
    assert_int_equal(lease_end(&f.view, row), 70 * MINUTE);
    f.view.now = 70 * MINUTE;
    assert_int_equal(lease_end(&f.view, row), 130 * MINUTE);
    tear_down(&f);
}

TEST(an_idle_machine_goes_at_the_last_check_of_its_paid_hour)
{
    struct fixture f;
    set_up(&f);
    const uint32_t row = add_idle(&f, 1, 30000);

    f.view.now = 30 * MINUTE;
    lease_release(&f.view, MINUTE, NULL, &f.plan);
    assert_int_equal(f.plan.release_count, 0);
    assert_int_equal(f.plan.wake_at, 60 * MINUTE); /* the hour ends 30 s later */

    f.view.now = 60 * MINUTE;
    plan_init(&f.plan, &f.arena);
    lease_release(&f.view, MINUTE, NULL, &f.plan);
    assert_int_equal(f.plan.release_count, 1);
    assert_int_equal(f.plan.releases[0].instance, row);
    tear_down(&f);
}

TEST(machines_are_offered_by_the_paid_time_that_is_left)
{
    struct fixture f;
    uint32_t *idle;
    struct lease_query query = { .owner = NAME_NONE, .order = LEASE_MAX_MARGIN, .most = 2 };
    set_up(&f);
    const uint32_t early = add_idle(&f, 1, 0);
    const uint32_t late = add_idle(&f, 2, 40 * MINUTE);
    const uint32_t middle = add_idle(&f, 3, 20 * MINUTE);
    f.view.now = 50 * MINUTE;

    assert_int_equal(lease_idle(&f.view, &query, &f.arena, &idle), 3);
    assert_int_equal(idle[0], late);
    assert_int_equal(idle[1], middle);

    query.order = LEASE_MIN_MARGIN;
    assert_int_equal(lease_idle(&f.view, &query, &f.arena, &idle), 3);
    assert_int_equal(idle[0], early);
    tear_down(&f);
}

TEST(a_gang_whose_tasks_came_back_one_by_one_is_one_job_of_the_queue)
{
    struct fixture f;
    struct elastic_queue queue;
    set_up(&f);
    add_job(&f, 3, MINUTE);
    add_job(&f, 1, MINUTE);
    const uint32_t middle = view_find_task(&f.view, 2);
    view_bind(&f.view, middle, add_idle(&f, 1, 0));
    view_unbind(&f.view, middle); /* it is behind the other job now */

    elastic_queue_build(&queue, &f.view, &f.arena);

    assert_int_equal(queue.count, 2);
    assert_int_equal(queue.backfill[0].size, 3);
    uint32_t seen = 0;
    for (uint32_t task = queue.jobs[0].first_task; task != ROW_NONE;
         task = elastic_queue_next_task(&f.view, task))
        seen |= 1U << f.view.task.id[task];
    assert_int_equal(seen, 1U << 1 | 1U << 2 | 1U << 3);
    assert_int_equal(queue.backfill[1].size, 1);
    tear_down(&f);
}

TEST(a_task_that_outlives_its_estimate_is_not_about_to_end)
{
    struct fixture f;
    struct backfill_end *ends;
    set_up(&f);
    add_job(&f, 1, MINUTE);
    const uint32_t task = view_find_task(&f.view, 1);
    view_bind(&f.view, task, add_idle(&f, 1, 0));
    view_mark_running(&f.view, task, 0);
    f.view.now = 60 * MINUTE;

    assert_int_equal(elastic_queue_ends(&f.view, 0, &f.arena, &ends), 1);
    assert_true(ends[0].at > f.view.now + 10 * MINUTE);
    tear_down(&f);
}

TEST(a_gang_is_one_job_of_the_queue)
{
    struct fixture f;
    struct elastic_queue queue;
    set_up(&f);
    add_job(&f, 3, MINUTE);
    add_job(&f, 1, MINUTE);

    elastic_queue_build(&queue, &f.view, &f.arena);

    assert_int_equal(queue.count, 2);
    assert_int_equal(queue.backfill[0].size, 3);
    assert_int_equal(queue.backfill[1].size, 1);
    tear_down(&f);
}

TEST(requests_look_ahead_as_far_as_they_are_told)
{
    struct fixture f;
    struct elastic_queue queue;
    set_up(&f);
    add_job(&f, 3, 10 * MINUTE);  /* short */
    add_job(&f, 5, 100 * MINUTE); /* long */
    add_job(&f, 2, 10 * MINUTE);  /* short */
    elastic_queue_build(&queue, &f.view, &f.arena);

    assert_int_equal(elastic_queue_wanted(&queue, 0, 3, ELASTIC_FIRST, 60 * MINUTE), 3);
    assert_int_equal(elastic_queue_wanted(&queue, 0, 3, ELASTIC_SUM, 60 * MINUTE), 10);
    assert_int_equal(elastic_queue_wanted(&queue, 0, 3, ELASTIC_BEST, 60 * MINUTE), 8);
    tear_down(&f);
}

TEST(machines_of_one_job_become_free_together)
{
    struct fixture f;
    struct backfill_end *ends;
    set_up(&f);
    add_job(&f, 2, 30 * MINUTE);
    const uint32_t first = f.view.task.waiting_first;
    const uint32_t second = f.view.task.next[first];
    view_bind(&f.view, first, add_idle(&f, 1, 0));
    view_bind(&f.view, second, add_idle(&f, 2, 0));
    view_mark_running(&f.view, first, 0);
    view_mark_running(&f.view, second, 0);
    const uint32_t booting = view_add_instance(&f.view, 3, 0);
    view_set_ready_expected(&f.view, booting, 5 * MINUTE);
    f.view.now = MINUTE;

    assert_int_equal(elastic_queue_ends(&f.view, 0, &f.arena, &ends), 2);
    assert_int_equal(ends[0].at, 5 * MINUTE);
    assert_int_equal(ends[0].count, 1);
    assert_int_equal(ends[1].at, 30 * MINUTE);
    assert_int_equal(ends[1].count, 2);
    tear_down(&f);
}

CHECK_MAIN(RUN(a_lease_ends_with_the_hour_that_began),
           RUN(an_idle_machine_goes_at_the_last_check_of_its_paid_hour),
           RUN(machines_are_offered_by_the_paid_time_that_is_left),
           RUN(a_gang_is_one_job_of_the_queue),
           RUN(a_task_that_outlives_its_estimate_is_not_about_to_end),
           RUN(a_gang_whose_tasks_came_back_one_by_one_is_one_job_of_the_queue),
           RUN(requests_look_ahead_as_far_as_they_are_told),
           RUN(machines_of_one_job_become_free_together))
