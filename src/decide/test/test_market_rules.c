/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/market_rules.h"

#include "decide/bonds.h"
#include "decide/test/yard.h"

/* One type in two zones, on demand and spot; a machine takes a minute. */
enum { A_DEMAND, B_DEMAND, A_SPOT, B_SPOT, OFFERS };
enum { SPOT = 1 << A_SPOT | 1 << B_SPOT, SAFE = 1 << A_DEMAND | 1 << B_DEMAND };

static const struct shape_delays delays = {
    .fetch_ms = 1000, .build_ms = 2000, .init_ms = 3000, .kill_ms = 4000, .upload_ms = 5000
};

enum { RESTART = YARD_MINUTE + 15000 };

static void add_offers(struct yard *yard, uint32_t type, bool has_safe)
{
    static const double dollars[] = { 2.0, 1.9, 0.5, 0.6 };

    for (uint32_t i = has_safe ? A_DEMAND : A_SPOT; i < OFFERS; i++) {
        const struct price_change price = { 0, YARD_USD(dollars[i]) };
        const struct offer offer = { .type = type,
                                     .market = i < A_SPOT ? MARKET_ON_DEMAND : MARKET_SPOT,
                                     .billing = BILLING_PER_SECOND,
                                     .price = { &price, 1 } };

        (void)catalogue_add_offer(&yard->catalogue, i % 2 == 0 ? "a" : "b", &offer);
    }
}

static void markets_init(struct yard *yard, bool has_safe)
{
    const struct machine_type type = { .capacity = { { 4000, 8192, 0 } },
                                       .acquire_ms = YARD_MINUTE };

    yard_init(yard);
    add_offers(yard, catalogue_add_type(&yard->catalogue, "m", "m", &type), has_safe);
    shapes_bind(&yard->shapes, &yard->catalogue);
}

static uint32_t ruled_shape(struct yard *yard, uint8_t alike)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 4000, 1024, 0 } } };
    const struct shape_spec spec = { .name = "ruled",
                                     .workload = "ruled",
                                     .delays = delays,
                                     .demands = &demand,
                                     .demand_count = 1,
                                     .alike = alike,
                                     .by_market = true };

    return shapes_add(&yard->shapes, &spec);
}

/* A job of tasks of an hour. */
static uint32_t ruled_job(struct yard *yard, uint8_t alike, uint32_t tasks, struct job_rules rules)
{
    const uint32_t task = yard_job(yard, ruled_shape(yard, alike), tasks, tasks > 1);

    view_set_rules(&yard->view, yard->view.task.job[task], &rules);
    return task;
}

static msec_t update(struct yard *yard, msec_t now)
{
    yard->view.now = now;
    reservation_update(&yard->view);

    const msec_t next = market_rules_update(&yard->view);

    bonds_update(&yard->view);
    view_check(&yard->view);
    return next;
}

/* The offers that the task may run on, bit by bit. */
static uint32_t places(const struct yard *yard, uint32_t task)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < yard->catalogue.offer_count; i++)
        bits |= (uint32_t)shape_fits_offer(&yard->shapes, yard->view.task.shape[task],
                                           &yard->catalogue, i)
                << i;
    return bits;
}

TEST(a_market_allows_its_machines_and_no_others)
{
    static const struct {
        enum market_rule market;
        uint32_t places;
    } cases[] = {
        { MARKET_RULE_ANY, SPOT | SAFE },
        { MARKET_RULE_SPOT, SPOT },
        { MARKET_RULE_SAFE, SAFE },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct yard yard;

        markets_init(&yard, true);
        const uint32_t task =
            ruled_job(&yard, 0, 1, (struct job_rules){ .market = cases[i].market });

        assert_true(update(&yard, 5) == MSEC_NEVER);
        assert_int_equal(places(&yard, task), cases[i].places);
        yard_done(&yard);
    }
}

TEST(spot_comes_first_until_its_time_is_over)
{
    struct yard yard;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(
        &yard, 0, 1, (struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 20000 });

    assert_int_equal(update(&yard, 0), 20000);
    assert_int_equal(places(&yard, task), SPOT);
    assert_int_equal(update(&yard, 19999), 20000);
    assert_int_equal(places(&yard, task), SPOT);
    assert_true(update(&yard, 20000) == MSEC_NEVER);
    assert_int_equal(places(&yard, task), SAFE);
    yard_done(&yard);
}

TEST(what_has_a_place_keeps_its_market_when_the_time_is_over)
{
    struct yard yard;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(
        &yard, 0, 1, (struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 20000 });

    (void)update(&yard, 0);
    yard_run(&yard, task, yard_machine(&yard, B_SPOT));
    assert_true(update(&yard, 0) == MSEC_NEVER); /* nobody has to wake up for it */
    (void)update(&yard, 20000);
    assert_int_equal(places(&yard, task), SPOT);
    assert_false(market_should_leave(&yard.view, task));
    yard_done(&yard);
}

TEST(a_deadline_forbids_spot_when_a_loss_would_make_it_late)
{
    struct yard yard;
    const msec_t deadline = 3 * YARD_HOUR;
    const msec_t from = deadline - YARD_HOUR - RESTART;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .deadline = deadline });

    assert_int_equal(update(&yard, 0), from);
    assert_int_equal(places(&yard, task), SPOT | SAFE);
    assert_int_equal(update(&yard, from - 1), from);
    assert_int_equal(places(&yard, task), SPOT | SAFE);
    assert_true(update(&yard, from) == MSEC_NEVER);
    assert_int_equal(places(&yard, task), SAFE);
    yard_done(&yard);
}

TEST(work_that_cannot_be_stopped_needs_time_for_two_runs)
{
    struct yard yard;
    const msec_t deadline = 4 * YARD_HOUR;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .deadline = deadline });

    yard_fix(&yard.view, yard.view.task.job[task], true);
    assert_int_equal(update(&yard, 0), deadline - 2 * (YARD_HOUR + RESTART));
    yard_done(&yard);
}

TEST(what_is_saved_counts_and_what_is_lost_does_not)
{
    struct yard yard;
    const msec_t deadline = 10 * YARD_HOUR;
    const msec_t from = deadline - YARD_HOUR - RESTART;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .deadline = deadline });
    const uint32_t machine = yard_machine(&yard, A_SPOT);

    (void)update(&yard, 0);
    yard_run(&yard, task, machine);
    yard.view.now = 10 * YARD_MINUTE;
    view_mark_stopped(&yard.view, task, yard.view.now);
    view_unbind(&yard.view, task);
    view_note_lost(&yard.view, task);
    assert_int_equal(update(&yard, 10 * YARD_MINUTE), from);
    yard_run(&yard, task, machine);
    yard.view.now = 15 * YARD_MINUTE;
    view_mark_stopped(&yard.view, task, yard.view.now);
    view_unbind(&yard.view, task);
    view_note_saved(&yard.view, task);
    assert_int_equal(update(&yard, 15 * YARD_MINUTE), from + 5 * YARD_MINUTE);
    yard_done(&yard);
}

TEST(once_it_has_come_it_stays)
{
    struct yard yard;
    const msec_t deadline = 3 * YARD_HOUR;
    const msec_t from = deadline - YARD_HOUR - RESTART;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .deadline = deadline });

    (void)update(&yard, 0);
    yard_run(&yard, task, yard_machine(&yard, A_SPOT));
    assert_false(market_should_leave(&yard.view, task));
    (void)update(&yard, from);
    assert_true(market_should_leave(&yard.view, task) == false); /* it ends sooner than that */
    view_set_estimate(&yard.view, yard.view.task.job[task], 9 * YARD_HOUR, false);
    assert_true(market_should_leave(&yard.view, task));
    view_mark_stopped(&yard.view, task, from);
    view_unbind(&yard.view, task);
    view_note_saved(&yard.view, task);
    (void)update(&yard, from + 1);
    assert_int_equal(places(&yard, task), SAFE);
    yard_done(&yard);
}

TEST(what_is_on_a_safe_machine_stays_on_such)
{
    struct yard yard;
    const msec_t deadline = 2 * YARD_HOUR;
    const msec_t from = deadline - YARD_HOUR - RESTART;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .deadline = deadline });

    (void)update(&yard, 0);
    yard_run(&yard, task, yard_machine(&yard, B_DEMAND));
    assert_true(update(&yard, from - 1) == MSEC_NEVER);
    assert_int_equal(places(&yard, task), SPOT | SAFE);
    (void)update(&yard, from);
    assert_int_equal(places(&yard, task), SAFE);
    assert_false(market_should_leave(&yard.view, task));
    yard_done(&yard);
}

TEST(work_without_an_end_has_no_deadline)
{
    struct yard yard;

    markets_init(&yard, true);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .deadline = 1 });

    yard.view.task.estimate_ms[task] = MSEC_NEVER;
    assert_true(update(&yard, YARD_HOUR) == MSEC_NEVER);
    assert_int_equal(places(&yard, task), SPOT | SAFE);
    yard_done(&yard);
}

TEST(a_job_that_only_spot_machines_hold_stays_with_these)
{
    struct yard yard;

    markets_init(&yard, false);
    const uint32_t task = ruled_job(
        &yard, 0, 1,
        (struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 1000, .deadline = 1 });

    assert_true(update(&yard, 5000) == MSEC_NEVER);
    assert_int_equal(places(&yard, task), 3);
    yard_done(&yard);
}

TEST(a_market_that_is_not_offered_leaves_it_nowhere)
{
    struct yard yard;

    markets_init(&yard, false);
    const uint32_t task = ruled_job(&yard, 0, 1, (struct job_rules){ .market = MARKET_RULE_SAFE });

    (void)update(&yard, 0);
    assert_int_equal(places(&yard, task), 0);
    yard_done(&yard);
}

TEST(bonds_are_kept_within_the_market)
{
    struct yard yard;

    markets_init(&yard, true);
    const uint32_t task =
        ruled_job(&yard, ALIKE_ZONE, 2,
                  (struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 1000 });

    (void)update(&yard, 0);
    assert_int_equal(places(&yard, task), 1 << A_SPOT);
    yard_run(&yard, task, yard_machine(&yard, A_SPOT));
    (void)update(&yard, 1000); /* the zone of the other, though the next one is cheaper */
    assert_int_equal(places(&yard, task + 1), 1 << A_DEMAND);
    yard_done(&yard);
}

TEST(a_job_in_one_market_stays_in_the_one_that_it_began_in)
{
    struct yard yard;

    markets_init(&yard, true);
    const uint32_t task =
        ruled_job(&yard, ALIKE_MARKET, 2,
                  (struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 1000 });

    (void)update(&yard, 0);
    assert_int_equal(places(&yard, task), SPOT);
    yard_run(&yard, task, yard_machine(&yard, A_SPOT));
    (void)update(&yard, 1000);
    assert_int_equal(places(&yard, task + 1), SPOT);
    yard_done(&yard);
}

TEST(rules_without_variants_are_not_kept)
{
    struct yard yard;

    markets_init(&yard, true);
    const uint32_t task = yard_job(&yard, yard_shape(&yard, 1, 1, 0), 1, false);
    const struct job_rules rules = { .market = MARKET_RULE_SPOT, .deadline = 5 };

    view_set_rules(&yard.view, yard.view.task.job[task], &rules);
    assert_int_equal(yard.view.job.ruled_first, ROW_NONE);
    yard_done(&yard);
}

CHECK_MAIN(RUN(a_market_allows_its_machines_and_no_others),
           RUN(spot_comes_first_until_its_time_is_over),
           RUN(what_has_a_place_keeps_its_market_when_the_time_is_over),
           RUN(a_deadline_forbids_spot_when_a_loss_would_make_it_late),
           RUN(work_that_cannot_be_stopped_needs_time_for_two_runs),
           RUN(what_is_saved_counts_and_what_is_lost_does_not), RUN(once_it_has_come_it_stays),
           RUN(what_is_on_a_safe_machine_stays_on_such), RUN(work_without_an_end_has_no_deadline),
           RUN(a_job_that_only_spot_machines_hold_stays_with_these),
           RUN(a_market_that_is_not_offered_leaves_it_nowhere),
           RUN(bonds_are_kept_within_the_market),
           RUN(a_job_in_one_market_stays_in_the_one_that_it_began_in),
           RUN(rules_without_variants_are_not_kept))
