/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public interface as a program sees it that embeds it: a desk that notes what it was asked for.
 */
#include <errno.h>
#include <stint/stint.h>
#include <string.h>

#include "base/test/check.h"
#include "lib/lib_private.h"

enum { SECOND = 1000, HOUR = 3600 * SECOND, DOLLAR = 1000000 };

struct desk {
    struct stint_catalogue *catalogue;
    struct stint_settings *settings;
    struct stint_controller *controller;
    uint32_t shape;
    int64_t now;

    uint64_t rented; /* the latest id */
    uint32_t rent_count;
    uint32_t offer;
    uint64_t placed; /* the key of the latest placement */
    uint64_t placed_at;
    uint64_t returned;
    uint64_t retired;
    uint64_t cloud_list;
    uint64_t engine_list;
    int64_t settled;
    int64_t billed;
    int call_back; /* what the controller said to a port that called it */
    bool calls_back;
};

static void desk_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct desk *desk = self;

    desk->rented = first + count - 1;
    desk->rent_count += count;
    desk->offer = offer;
    if (desk->calls_back)
        desk->call_back = stint_cloud_running(desk->controller, desk->now, first, desk->now);
}

static void desk_give_back(void *self, uint64_t instance)
{
    ((struct desk *)self)->returned = instance;
}

static void desk_retire(void *self, uint64_t instance)
{
    ((struct desk *)self)->retired = instance;
}

static void desk_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    struct desk *desk = self;

    (void)task;
    desk->placed = key;
    desk->placed_at = instance;
}

static void desk_list_cloud(void *self, uint64_t key)
{
    ((struct desk *)self)->cloud_list = key;
}

static void desk_list_engine(void *self, uint64_t key)
{
    ((struct desk *)self)->engine_list = key;
}

static void desk_settled(void *self, uint64_t task, int64_t cost, int64_t occupied_ms)
{
    (void)task;
    (void)occupied_ms;
    ((struct desk *)self)->settled += cost;
}

static void desk_billed(void *self, uint64_t instance, int64_t from_ms, int64_t to_ms, int64_t bill)
{
    (void)instance;
    (void)from_ms;
    (void)to_ms;
    ((struct desk *)self)->billed += bill;
}

/* One type of 4 CPUs at a dollar an hour, billed by the second. */
static struct stint_catalogue *one_offer(void)
{
    struct stint_catalogue *catalogue = stint_catalogue_create();
    struct stint_type type;
    struct stint_offer offer;

    stint_type_init(&type);
    type.name = "box";
    type.capacity.cpu_milli = 4000;
    type.capacity.memory_mib = 8192;
    assert_int_equal(stint_catalogue_add_type(catalogue, &type, NULL, NULL), 0);
    stint_offer_init(&offer);
    offer.per_hour = DOLLAR;
    assert_int_equal(stint_catalogue_add_offer(catalogue, &offer, NULL, NULL), 0);
    return catalogue;
}

static uint32_t add_shape(struct desk *desk, const char *name, int cpus)
{
    struct stint_shape shape;
    uint32_t index = STINT_NONE;

    stint_shape_init(&shape);
    shape.name = name;
    shape.demand.cpu_milli = cpus * 1000;
    assert_int_equal(stint_controller_add_shape(desk->controller, &shape, &index, NULL), 0);
    return index;
}

/* Settings may be made before. */
static void desk_open(struct desk *desk)
{
    struct stint_engine engine;
    struct stint_cloud cloud;
    struct stint_books books;

    stint_engine_init(&engine);
    engine.self = desk;
    engine.retire = desk_retire;
    engine.place = desk_place;
    engine.list = desk_list_engine;
    stint_cloud_init(&cloud);
    cloud.self = desk;
    cloud.rent = desk_rent;
    cloud.give_back = desk_give_back;
    cloud.list = desk_list_cloud;
    stint_books_init(&books);
    books.self = desk;
    books.task_settled = desk_settled;
    books.instance_billed = desk_billed;
    desk->catalogue = one_offer();
    assert_int_equal(stint_controller_create(desk->catalogue, desk->settings, &engine, &cloud,
                                             &books, &desk->controller, NULL),
                     0);
    desk->shape = add_shape(desk, "work", 4);
}

static void desk_close(struct desk *desk)
{
    stint_controller_destroy(desk->controller);
    stint_settings_destroy(desk->settings);
    stint_catalogue_destroy(desk->catalogue);
}

static struct stint_job job_of(const struct desk *desk, uint64_t id, uint32_t tasks)
{
    struct stint_job job;

    stint_job_init(&job);
    job.id = id;
    job.first_task = id * 100;
    job.task_count = tasks;
    job.shape = desk->shape;
    job.arrived_at = desk->now;
    job.estimate_ms = HOUR;
    return job;
}

static void arrive(struct desk *desk, uint64_t id, uint32_t tasks)
{
    const struct stint_job job = job_of(desk, id, tasks);

    assert_int_equal(stint_engine_job_arrived(desk->controller, desk->now, &job, NULL), 0);
}

static void decide(struct desk *desk)
{
    assert_int_equal(stint_controller_decide(desk->controller, desk->now), 0);
}

/* The machine that was rented last is there and ready. */
static void boot(struct desk *desk)
{
    assert_int_equal(stint_cloud_running(desk->controller, desk->now, desk->rented, desk->now), 0);
    assert_int_equal(stint_engine_node_ready(desk->controller, desk->now, desk->rented, NULL), 0);
}

/* Task 100 runs on a machine that was rented for it. */
static void run_one(struct desk *desk)
{
    desk_open(desk);
    arrive(desk, 1, 1);
    decide(desk);
    boot(desk);
    assert_int_equal(stint_engine_task_started(desk->controller, desk->now, 100, desk->placed), 0);
}

/* It ends, and the machine goes back. */
static void end_one(struct desk *desk, int64_t at)
{
    desk->now = at;
    assert_int_equal(stint_engine_task_finished(desk->controller, at, 100), 0);
    decide(desk);
    assert_int_equal(stint_engine_node_left(desk->controller, at, desk->retired), 0);
    assert_int_equal(stint_cloud_gone(desk->controller, at, desk->returned, 0, at), 0);
}

static struct stint_totals totals_of(const struct desk *desk)
{
    struct stint_totals totals;

    stint_totals_init(&totals);
    assert_int_equal(stint_controller_totals(desk->controller, &totals), 0);
    return totals;
}

/*
 * The loop.
 */

TEST(a_job_gets_a_machine_which_goes_back_and_is_billed_to_the_micro_dollar)
{
    struct desk desk = { 0 };

    run_one(&desk);
    end_one(&desk, 1234567);

    const struct stint_totals totals = totals_of(&desk);

    assert_int_equal(desk.rent_count, 1);
    assert_int_equal(desk.placed_at, desk.rented);
    assert_int_equal(desk.returned, desk.rented);
    assert_int_equal(totals.bill, (int64_t)DOLLAR * 1235 * SECOND / HOUR); /* by the second */
    assert_int_equal(totals.bill, totals.boot + totals.idle + totals.work);
    assert_int_equal(totals.bill, desk.billed);
    assert_int_equal(totals.work, desk.settled);
    assert_true(stint_controller_is_idle(desk.controller));
    desk_close(&desk);
}

TEST(a_port_that_calls_back_is_refused_and_nothing_else_is)
{
    struct desk desk = { .calls_back = true };

    desk_open(&desk);
    arrive(&desk, 1, 1);
    decide(&desk);

    assert_int_equal(desk.call_back, -EBUSY);
    boot(&desk);
    assert_int_not_equal(desk.placed, 0);
    desk_close(&desk);
}

TEST(a_job_may_grow_and_shrink)
{
    struct desk desk = { .now = 5000 };

    desk_open(&desk);
    arrive(&desk, 1, 2);
    arrive(&desk, 2, 1);

    struct stint_job job = job_of(&desk, 1, 4);
    const struct view *view = controller_view(desk.controller->control);

    assert_int_equal(stint_engine_job_changed(desk.controller, desk.now, &job, NULL), 0);
    assert_int_equal(view->task.living, 5);
    assert_int_equal(stint_engine_task_withdrawn(desk.controller, desk.now, 103), 0);
    assert_int_equal(view->task.living, 4);
    job.task_count = 101; /* the last would be the other job's */
    assert_int_equal(stint_engine_job_changed(desk.controller, desk.now, &job, NULL), -EEXIST);
    job.id = 3;
    assert_int_equal(stint_engine_job_changed(desk.controller, desk.now, &job, NULL), -ENOENT);
    assert_int_equal(view->task.living, 4);
    desk_close(&desk);
}

TEST(a_decision_in_the_past_is_refused_and_late_news_is_not)
{
    struct desk desk = { .now = 5000 };

    run_one(&desk);

    assert_int_equal(stint_controller_decide(desk.controller, 4999), -EINVAL);
    assert_int_equal(stint_controller_drain(desk.controller, 4999), -EINVAL);
    assert_int_equal(stint_controller_decide(desk.controller, STINT_TIME_MAX + 1), -EINVAL);
    assert_int_equal(stint_engine_node_ready(desk.controller, 4999, 77, NULL), 0);
    assert_int_equal(totals_of(&desk).late_events, 1);
    desk_close(&desk);
}

TEST(draining_lets_the_work_end_and_gives_the_machine_back)
{
    struct desk desk = { 0 };

    run_one(&desk);
    assert_int_equal(stint_controller_drain(desk.controller, desk.now), 0);
    assert_int_equal(desk.returned, 0);
    desk.now = SECOND;
    assert_int_equal(stint_engine_task_finished(desk.controller, desk.now, 100), 0);
    assert_int_equal(stint_controller_drain(desk.controller, desk.now), 0);
    assert_int_equal(stint_engine_node_left(desk.controller, desk.now, desk.rented), 0);

    assert_int_equal(desk.returned, desk.rented);
    desk_close(&desk);
}

TEST(another_process_takes_over_what_runs)
{
    struct desk first = { 0 };
    struct desk next = { 0 };
    struct stint_task task;

    run_one(&first);
    desk_open(&next);
    next.now = SECOND;
    assert_int_equal(stint_controller_audit(next.controller, next.now), 0);
    assert_int_equal(stint_cloud_found(next.controller, next.now, first.rented, first.offer, 0), 0);
    assert_int_equal(stint_cloud_listed(next.controller, next.now, next.cloud_list), 0);
    arrive(&next, 1, 1);
    assert_int_equal(stint_engine_node_ready(next.controller, next.now, first.rented, NULL), 0);
    assert_int_equal(
        stint_engine_task_found(next.controller, next.now, 100, first.placed, first.rented, 0), 0);
    assert_int_equal(stint_engine_listed(next.controller, next.now, next.engine_list), 0);
    decide(&next);

    stint_task_init(&task);
    assert_int_equal(stint_controller_task(next.controller, 100, &task), 0);
    assert_int_equal(task.state, STINT_TASK_RUNNING);
    assert_int_equal(task.instance, first.rented);
    assert_int_equal(next.rent_count, 0);
    assert_true(stint_controller_next_key(next.controller) > first.rented);
    desk_close(&first);
    desk_close(&next);
}

TEST(an_audit_needs_lists_of_both_ports)
{
    struct stint_catalogue *catalogue = one_offer();
    struct stint_controller *controller;

    assert_int_equal(stint_controller_create(catalogue, NULL, NULL, NULL, NULL, &controller, NULL),
                     0);
    assert_int_equal(stint_controller_audit(controller, 0), -ENOTSUP);
    stint_controller_destroy(controller);
    stint_catalogue_destroy(catalogue);
}

/*
 * What is asked of it.
 */

TEST(a_plan_without_ports_says_what_and_why_and_is_not_below_the_bound)
{
    struct desk desk = { .catalogue = one_offer() };
    struct stint_rent rent;
    struct stint_place place;

    assert_int_equal(
        stint_controller_create(desk.catalogue, NULL, NULL, NULL, NULL, &desk.controller, NULL), 0);
    desk.shape = add_shape(&desk, "third", 3);
    arrive(&desk, 1, 2);
    decide(&desk);

    const struct stint_plan *plan = stint_controller_plan(desk.controller);

    stint_rent_init(&rent);
    stint_place_init(&place);
    assert_int_equal(stint_plan_rent_count(plan), 2);
    assert_int_equal(stint_plan_place_count(plan), 2);
    assert_int_equal(stint_plan_release_count(plan), 0);
    assert_int_equal(stint_plan_rent(plan, 1, &rent), 0);
    assert_int_equal(rent.offer, 0);
    assert_true(strlen(rent.why.text) > 0);
    assert_int_equal(stint_plan_place(plan, 0, &place), 0);
    assert_int_equal(place.instance, 0);
    assert_true(place.rent < 2);
    assert_int_equal(stint_plan_rent(plan, 2, &rent), -ENOENT);
    /* No two fit on a machine; the search ends within a ten-thousandth. */
    assert_in_range(stint_controller_bound(desk.controller), DOLLAR * 2 - 200, DOLLAR * 2);
    desk_close(&desk);
}

TEST(a_limit_holds_and_is_named)
{
    struct desk desk = { .settings = stint_settings_create() };
    struct stint_task task;
    struct stint_wait wait;

    assert_int_equal(stint_settings_set(desk.settings, "max_instances", "1", NULL), 0);
    desk_open(&desk);
    arrive(&desk, 1, 2);
    decide(&desk);

    stint_task_init(&task);
    assert_int_equal(desk.rent_count, 1);
    assert_int_equal(stint_controller_task(desk.controller, 101, &task), 0);
    assert_int_equal(task.state, STINT_TASK_WAITING);
    assert_string_equal(task.limit, "max_instances");
    stint_wait_init(&wait);
    assert_int_equal(stint_controller_wait(desk.controller, 101, &wait), 0);
    assert_string_equal(wait.rule, "limit");
    assert_non_null(wait.text);
    assert_string_equal(wait.limit, "max_instances");
    assert_int_equal(wait.until, STINT_NEVER);
    assert_int_equal(stint_controller_wait(desk.controller, 100, &wait), 0);
    assert_null(wait.rule); /* it has a machine */
    assert_null(wait.text);
    assert_int_equal(stint_controller_wait(desk.controller, 999, &wait), -ENOENT);
    wait.size = sizeof(wait.size);
    assert_int_equal(stint_controller_wait(desk.controller, 101, &wait), -EINVAL);

    assert_int_equal(stint_settings_set(desk.settings, "max_instances", "2", NULL), 0);
    assert_int_equal(stint_controller_tune(desk.controller, desk.settings), 0);
    decide(&desk);
    assert_int_equal(desk.rent_count, 2);
    desk_close(&desk);
}

TEST(nothing_is_rented_beyond_the_budget)
{
    struct desk desk = { 0 };

    desk_open(&desk);
    arrive(&desk, 1, 1);
    assert_int_equal(stint_controller_set_budget(desk.controller, 0), 0);
    decide(&desk);
    assert_int_equal(desk.rent_count, 0);
    assert_int_equal(stint_controller_set_budget(desk.controller, STINT_NEVER), 0);
    decide(&desk);
    assert_int_equal(desk.rent_count, 1);
    desk_close(&desk);
}

TEST(instances_are_listed_in_the_order_of_renting)
{
    struct desk desk = { 0 };
    struct stint_instance instance;

    desk_open(&desk);
    arrive(&desk, 1, 2);
    decide(&desk);

    const uint64_t one = stint_controller_next_instance(desk.controller, 0);
    const uint64_t two = stint_controller_next_instance(desk.controller, one);

    stint_instance_init(&instance);
    assert_true(one > 0 && two > one);
    assert_int_equal(stint_controller_next_instance(desk.controller, two), 0);
    assert_int_equal(stint_controller_instance(desk.controller, one, &instance), 0);
    assert_int_equal(instance.state, STINT_INSTANCE_REQUESTED);
    assert_int_equal(instance.used.cpu_milli, 4000);
    assert_int_equal(stint_controller_instance(desk.controller, two + 1, &instance), -ENOENT);
    desk_close(&desk);
}

/*
 * Prices.
 */

TEST(a_bill_counts_each_price_for_the_time_that_it_held)
{
    struct desk desk = { 0 };

    run_one(&desk);
    assert_int_equal(stint_controller_set_price(desk.controller, HOUR, 0, 3 * DOLLAR), 0);
    assert_true(stint_controller_wants_decision(desk.controller));
    end_one(&desk, 2 * HOUR);
    assert_int_equal(totals_of(&desk).bill, 4 * DOLLAR);
    desk_close(&desk);
}

TEST(a_decision_goes_by_the_price_that_was_set)
{
    struct desk desk = { .settings = stint_settings_create() };

    assert_int_equal(stint_settings_set(desk.settings, "max_price_per_hour", "2000000", NULL), 0);
    desk_open(&desk);
    decide(&desk);
    desk.now = SECOND;
    assert_int_equal(stint_controller_set_price(desk.controller, SECOND, 0, 3 * DOLLAR), 0);
    arrive(&desk, 1, 1);
    decide(&desk);
    assert_int_equal(desk.rent_count, 0);
    desk_close(&desk);
}

TEST(prices_that_no_open_bill_needs_are_forgotten)
{
    struct desk desk = { 0 };
    const int64_t days = 100;

    run_one(&desk);
    for (int64_t i = 1; i <= days; i++)
        assert_int_equal(
            stint_controller_set_price(desk.controller, i * HOUR, 0, (1 + i % 2) * DOLLAR), 0);
    end_one(&desk, days * HOUR);
    assert_int_equal(totals_of(&desk).bill, 150 * (int64_t)DOLLAR); /* 50 hours at 1, 50 at 2 */
    for (int64_t i = days + 1; i <= 100 * days; i++)
        assert_int_equal(
            stint_controller_set_price(desk.controller, i * HOUR, 0, (1 + i % 2) * DOLLAR), 0);
    assert_true(desk.controller->price_room[0] <= 256);
    assert_int_equal(stint_controller_set_price(desk.controller, HOUR, 0, DOLLAR), -EINVAL);
    assert_int_equal(stint_controller_set_price(desk.controller, HOUR, 1, DOLLAR), -EINVAL);
    desk_close(&desk);
}

/*
 * What is refused.
 */

TEST(numbers_out_of_range_are_refused_by_every_event)
{
    struct desk desk = { .now = 1000 };

    run_one(&desk);

    struct stint_controller *mind = desk.controller;
    const int64_t past = -1;
    const int64_t far = STINT_TIME_MAX + 1;

    assert_int_equal(stint_engine_job_withdrawn(mind, past, 1), -EINVAL);
    assert_int_equal(stint_engine_node_ready(mind, past, 1, NULL), -EINVAL);
    assert_int_equal(stint_engine_node_lost(mind, far, 1, false), -EINVAL);
    assert_int_equal(stint_engine_node_left(mind, far, 1), -EINVAL);
    assert_int_equal(stint_engine_task_started(mind, past, 1, 1), -EINVAL);
    assert_int_equal(stint_engine_task_found(mind, 2000, 100, 9, 1, 2001), -EINVAL);
    assert_int_equal(stint_engine_task_found(mind, 2000, 100, 9, 1, past), -EINVAL);
    assert_int_equal(stint_engine_task_rate(mind, 2000, 100, 1, 0), -EINVAL);
    assert_int_equal(stint_engine_task_stopped(mind, past, 1, 1), -EINVAL);
    assert_int_equal(stint_engine_task_lost(mind, past, 1, 1), -EINVAL);
    assert_int_equal(stint_engine_task_kept(mind, past, 1, 1, 0), -EINVAL);
    assert_int_equal(stint_engine_task_kept(mind, 0, 1, 1, -1), -EINVAL);
    assert_int_equal(stint_engine_task_withdrawn(mind, past, 1), -EINVAL);
    assert_int_equal(stint_engine_job_changed(mind, 0, NULL, NULL), -EINVAL);
    assert_int_equal(stint_engine_task_finished(mind, past, 1), -EINVAL);
    assert_int_equal(stint_engine_listed(mind, past, 1), -EINVAL);
    assert_int_equal(stint_cloud_running(mind, 2000, 1, 2001), -EINVAL);
    assert_int_equal(stint_cloud_running(mind, 2000, 1, past), -EINVAL);
    assert_int_equal(stint_cloud_refused(mind, 2000, 1, past), -EINVAL);
    assert_int_equal(stint_cloud_notice(mind, far, 1, false, 0), -EINVAL);
    assert_int_equal(stint_cloud_notice(mind, 0, 1, false, -1), -EINVAL);
    assert_int_equal(
        stint_engine_node_ready(mind, 0, 1, &(struct stint_resources){ .cpu_milli = -1 }), -EINVAL);
    assert_int_equal(stint_cloud_gone(mind, 2000, 1, 1000, 999), -EINVAL);
    assert_int_equal(stint_cloud_found(mind, 2000, 1, 0, 2001), -EINVAL);
    assert_int_equal(stint_cloud_found(mind, 2000, UINT64_MAX, 0, 0), -EINVAL);
    assert_int_equal(stint_cloud_listed(mind, past, 1), -EINVAL);
    assert_int_equal(stint_engine_node_ready(NULL, 0, 1, NULL), -EINVAL);
    assert_int_equal(stint_cloud_notice(NULL, 0, 1, true, 0), -EINVAL);
    assert_int_equal(stint_cloud_outdated(NULL, 0, 1, true), -EINVAL);
    assert_int_equal(stint_cloud_outdated(mind, far, 1, true), -EINVAL);
    desk_close(&desk);
}

TEST(a_machine_that_is_billed_cannot_have_been_refused)
{
    struct desk desk = { 0 };

    run_one(&desk);
    assert_int_equal(stint_cloud_refused(desk.controller, 0, desk.rented, 0), -EINVAL);
    end_one(&desk, HOUR);
    assert_int_equal(totals_of(&desk).bill, DOLLAR);
    desk_close(&desk);
}

TEST(jobs_that_cannot_be_are_refused_with_a_reason)
{
    struct desk desk = { 0 };
    struct stint_error error = { "" };
    struct stint_job job;

    run_one(&desk);

    job = job_of(&desk, 2, 1);
    job.first_task = 100;
    assert_int_equal(stint_engine_job_arrived(desk.controller, 0, &job, &error), -EEXIST);
    assert_true(strlen(error.text) > 0);
    job = job_of(&desk, 2, 0);
    assert_int_equal(stint_engine_job_arrived(desk.controller, 0, &job, NULL), -EINVAL);
    job = job_of(&desk, 2, 1);
    job.shape = 1;
    assert_int_equal(stint_engine_job_arrived(desk.controller, 0, &job, NULL), -EINVAL);
    job = job_of(&desk, 2, 1 << 21);
    assert_int_equal(stint_engine_job_arrived(desk.controller, 0, &job, NULL), -E2BIG);
    job = job_of(&desk, 2, 1);
    job.estimate_ms = STINT_NEVER - 1;
    assert_int_equal(stint_engine_job_arrived(desk.controller, 0, &job, NULL), -EINVAL);
    job = job_of(&desk, 2, 2);
    job.first_task = UINT64_MAX - 1;
    assert_int_equal(stint_engine_job_arrived(desk.controller, 0, &job, NULL), -EINVAL);
    assert_int_equal(totals_of(&desk).tasks, 1);
    desk_close(&desk);
}

TEST(shapes_that_cannot_be_are_refused_and_equal_ones_are_one)
{
    struct desk desk = { 0 };
    struct stint_family_demand family = { .family = "none" };
    struct stint_shape shape;

    desk_open(&desk);
    assert_int_equal(add_shape(&desk, "work", 4), desk.shape);
    assert_int_not_equal(add_shape(&desk, "other", 4), desk.shape);
    stint_shape_init(&shape);
    shape.name = "x";
    assert_int_equal(stint_controller_add_shape(desk.controller, &shape, NULL, NULL), -EINVAL);
    shape.demand.cpu_milli = -1;
    assert_int_equal(stint_controller_add_shape(desk.controller, &shape, NULL, NULL), -EINVAL);
    shape.demand.cpu_milli = 1;
    shape.demand.unused[4] = 1;
    assert_int_equal(stint_controller_add_shape(desk.controller, &shape, NULL, NULL), -EINVAL);
    shape.demand.unused[4] = 0;
    shape.families = &family;
    shape.family_count = 1;
    family.demand.cpu_milli = 1;
    assert_int_equal(stint_controller_add_shape(desk.controller, &shape, NULL, NULL), -ENOENT);
    family.family = "box";
    shape.only_families = true;
    assert_int_equal(stint_controller_add_shape(desk.controller, &shape, NULL, NULL), 0);
    shape.family_count = 0;
    assert_int_equal(stint_controller_add_shape(desk.controller, &shape, NULL, NULL), -EINVAL);
    desk_close(&desk);
}

TEST(a_catalogue_takes_nothing_that_is_wrong)
{
    struct stint_catalogue *catalogue = one_offer();
    const struct stint_price backwards[] = { { 5, 1 }, { 5, 2 } };
    struct stint_type type;
    struct stint_offer offer;

    stint_type_init(&type);
    type.name = "box";
    type.capacity.cpu_milli = 1;
    assert_int_equal(stint_catalogue_add_type(catalogue, &type, NULL, NULL), -EEXIST);
    type.name = "";
    assert_int_equal(stint_catalogue_add_type(catalogue, &type, NULL, NULL), -EINVAL);
    type.name = "new";
    type.setup_ms = -1;
    assert_int_equal(stint_catalogue_add_type(catalogue, &type, NULL, NULL), -EINVAL);
    stint_offer_init(&offer);
    offer.type = 1;
    assert_int_equal(stint_catalogue_add_offer(catalogue, &offer, NULL, NULL), -ENOENT);
    offer.type = 0;
    offer.per_hour = STINT_MONEY_MAX + 1;
    assert_int_equal(stint_catalogue_add_offer(catalogue, &offer, NULL, NULL), -EINVAL);
    offer.prices = backwards;
    offer.price_count = 2;
    assert_int_equal(stint_catalogue_add_offer(catalogue, &offer, NULL, NULL), -EINVAL);
    offer.price_count = 1;
    offer.market = (enum stint_market)3;
    assert_int_equal(stint_catalogue_add_offer(catalogue, &offer, NULL, NULL), -EINVAL);
    assert_int_equal(stint_catalogue_type_count(catalogue), 1);
    assert_int_equal(stint_catalogue_offer_count(catalogue), 1);
    assert_string_equal(stint_catalogue_offer_type(catalogue, 0), "box");
    assert_null(stint_catalogue_offer_type(catalogue, 1));
    stint_catalogue_destroy(catalogue);
}

TEST(a_controller_outlives_the_catalogue_that_it_was_made_with)
{
    struct desk desk = { 0 };

    desk_open(&desk);
    stint_catalogue_destroy(desk.catalogue);
    desk.catalogue = NULL;
    arrive(&desk, 1, 1);
    decide(&desk);
    assert_int_equal(desk.rent_count, 1);
    desk_close(&desk);
}

TEST(an_empty_catalogue_makes_no_controller)
{
    struct stint_catalogue *catalogue = stint_catalogue_create();
    struct stint_controller *controller = NULL;
    struct stint_error error = { "" };

    assert_int_equal(
        stint_controller_create(catalogue, NULL, NULL, NULL, NULL, &controller, &error), -EINVAL);
    assert_string_equal(error.text, "the catalogue offers nothing");
    assert_null(controller);
    stint_catalogue_destroy(catalogue);
}

/*
 * Settings.
 */

TEST(settings_take_what_the_header_lists_and_nothing_else)
{
    static const char *const good[][2] = {
        { "policy", "eva" },          { "policy.mode", "partial" },
        { "policy", "stint" },        { "estimates", "learned" },
        { "default_estimate", "2h" }, { "default_rate_ppm", "950000" },
        { "first_key", "1000" },      { "refused", "250ms" },
        { "boot_timeout", "0" },      { "place_retry", "1d" },
        { "starts_slowly", "true" },  { "max_instances", "7" },
        { "rent_nothing", "false" },  { "max_price_per_hour", "1" },
        { "queue_ahead", "30s" },     { "queue_ahead_most", "9" },
        { "replace_percent", "0" },   { "replace_after", "1d" },
    };
    static const char *const bad[][2] = {
        { "policy.mode", "x" },       { "estimates", "guessed" },
        { "default_estimate", "2" },  { "default_rate_ppm", "0" },
        { "first_key", "0" },         { "refused", "-1s" },
        { "refused", "1s " },         { "refused", "99999999999999999999s" },
        { "starts_slowly", "yes" },   { "max_instances", "4294967296" },
        { "max_instances", "" },      { "refused", "51000d" },
        { "replace_percent", "101" }, { "replace_after", "1" },
    };
    struct stint_settings *settings = stint_settings_create();
    struct stint_error error = { "" };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(stint_settings_set(settings, good[i][0], good[i][1], NULL), 0);
    assert_int_equal(settings->config.refused_block_ms, 250);
    assert_int_equal(settings->config.max_instances, 7);
    assert_true(settings->config.starts_slowly);
    assert_int_equal(stint_settings_set(settings, "policy", "eva", NULL), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(stint_settings_set(settings, bad[i][0], bad[i][1], NULL), -EINVAL);
    assert_int_equal(stint_settings_set(settings, "policy", "no", &error), -ENOENT);
    assert_string_equal(error.text, "there is no policy 'no'");
    assert_int_equal(stint_settings_set(settings, "policy.no", "1", NULL), -ENOENT);
    assert_int_equal(stint_settings_set(settings, "no", "1", NULL), -ENOENT);
    assert_int_equal(settings->config.max_instances, 7);
    stint_settings_destroy(settings);
}

TEST(every_policy_has_a_name_and_every_option_a_help)
{
    bool has_stint = false;
    uint32_t policy = 0;

    for (; stint_policy_name(policy) != NULL; policy++) {
        has_stint = has_stint || strcmp(stint_policy_name(policy), "stint") == 0;
        assert_non_null(stint_policy_summary(policy));
        for (uint32_t i = 0; stint_policy_option(policy, i) != NULL; i++)
            assert_non_null(stint_policy_option_help(policy, i));
    }
    assert_true(has_stint);
    assert_null(stint_policy_summary(policy));
    assert_null(stint_policy_option(policy, 0));
}

/*
 * Structs of other versions.
 */

/* As a later libstint may have it. */
struct later_type {
    struct stint_type known;
    int64_t more;
};

TEST(a_struct_of_a_later_version_is_taken_if_what_is_new_is_zero)
{
    struct stint_catalogue *catalogue = stint_catalogue_create();
    struct later_type type = { .known = { .size = sizeof(type), .name = "a" } };

    type.known.capacity.cpu_milli = 1;
    assert_int_equal(stint_catalogue_add_type(catalogue, &type.known, NULL, NULL), 0);
    type.known.name = "b";
    type.more = 1;
    assert_int_equal(stint_catalogue_add_type(catalogue, &type.known, NULL, NULL), -EINVAL);
    type.known.size = 0;
    assert_int_equal(stint_catalogue_add_type(catalogue, &type.known, NULL, NULL), -EINVAL);
    stint_catalogue_destroy(catalogue);
}

TEST(what_is_filled_in_stays_within_the_size_that_was_given)
{
    struct {
        struct stint_totals known;
        int64_t more;
    } totals = { .known = { .size = sizeof(totals) }, .more = 5 };
    struct desk desk = { 0 };

    run_one(&desk);
    assert_int_equal(stint_controller_totals(desk.controller, &totals.known), 0);
    assert_int_equal(totals.known.size, sizeof(totals));
    assert_int_equal(totals.known.tasks, 1);
    assert_int_equal(totals.more, 0);
    totals.more = 5;
    totals.known.size = sizeof(totals.known);
    assert_int_equal(stint_controller_totals(desk.controller, &totals.known), 0);
    assert_int_equal(totals.more, 5);
    totals.known.size = 0;
    assert_int_equal(stint_controller_totals(desk.controller, &totals.known), -EINVAL);
    desk_close(&desk);
}

TEST(the_version_is_that_of_the_build)
{
    assert_string_equal(stint_version(), PROJECT_VERSION);
}

CHECK_MAIN(RUN(a_job_gets_a_machine_which_goes_back_and_is_billed_to_the_micro_dollar),
           RUN(a_port_that_calls_back_is_refused_and_nothing_else_is),
           RUN(a_job_may_grow_and_shrink),
           RUN(a_decision_in_the_past_is_refused_and_late_news_is_not),
           RUN(draining_lets_the_work_end_and_gives_the_machine_back),
           RUN(another_process_takes_over_what_runs), RUN(an_audit_needs_lists_of_both_ports),
           RUN(a_plan_without_ports_says_what_and_why_and_is_not_below_the_bound),
           RUN(a_limit_holds_and_is_named), RUN(nothing_is_rented_beyond_the_budget),
           RUN(instances_are_listed_in_the_order_of_renting),
           RUN(a_bill_counts_each_price_for_the_time_that_it_held),
           RUN(a_decision_goes_by_the_price_that_was_set),
           RUN(prices_that_no_open_bill_needs_are_forgotten),
           RUN(numbers_out_of_range_are_refused_by_every_event),
           RUN(a_machine_that_is_billed_cannot_have_been_refused),
           RUN(jobs_that_cannot_be_are_refused_with_a_reason),
           RUN(shapes_that_cannot_be_are_refused_and_equal_ones_are_one),
           RUN(a_catalogue_takes_nothing_that_is_wrong),
           RUN(a_controller_outlives_the_catalogue_that_it_was_made_with),
           RUN(an_empty_catalogue_makes_no_controller),
           RUN(settings_take_what_the_header_lists_and_nothing_else),
           RUN(every_policy_has_a_name_and_every_option_a_help),
           RUN(a_struct_of_a_later_version_is_taken_if_what_is_new_is_zero),
           RUN(what_is_filled_in_stays_within_the_size_that_was_given),
           RUN(the_version_is_that_of_the_build))
