/* SPDX-License-Identifier: Apache-2.0 */
#include "control/books/ledger.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"

enum { HOUR = 3600000 };

#define MICRO_A_MS ((money_t)HOUR) /* per hour: one micro-dollar a millisecond */

/* One micro-dollar a millisecond, billed by the millisecond: money and time are the same number. */
static const struct price_change plain_price[] = { { 0, MICRO_A_MS } };
static const struct offer plain = {
    .type = 0,
    .market = MARKET_ON_DEMAND,
    .billing = { .step_ms = 1, .minimum_ms = 0 },
    .price = { plain_price, 1 },
};

/* The plain offer, billed in steps of a second and a minute at the least. */
static const struct offer at_least_a_minute = {
    .type = 1,
    .market = MARKET_SPOT,
    .billing = { .step_ms = 1000, .minimum_ms = 60000 },
    .price = { plain_price, 1 },
};

static const struct offer hourly = {
    .type = 2,
    .market = MARKET_ON_DEMAND,
    .billing = { .step_ms = HOUR, .minimum_ms = HOUR },
    .price = { plain_price, 1 },
};

/* Fractions of a micro-dollar each millisecond, and changes at awkward moments. */
static const struct price_change spot_price[] = {
    { 100, 1234567 }, { 777, 1 }, { 1000, 0 }, { 1001, 99999999 }, { 2500, 31 }, { 4000, 7777777 },
};
static const struct offer spot = {
    .type = 3,
    .market = MARKET_SPOT,
    .billing = { .step_ms = 7, .minimum_ms = 50 },
    .price = { spot_price, sizeof(spot_price) / sizeof(*spot_price) },
};

/* A ledger with an account of the plain offer: instance 0, billed from 1000. */
static struct ledger *plain_ledger(void)
{
    struct ledger *ledger = ledger_create();

    assert_true(ledger_open(ledger, 0, &plain, 1000));
    return ledger;
}

/* The same, ready from the start. */
static struct ledger *ready_ledger(void)
{
    struct ledger *ledger = plain_ledger();

    assert_true(ledger_ready(ledger, 0, 1000));
    return ledger;
}

static void done(struct ledger *ledger)
{
    ledger_check(ledger);
    ledger_destroy(ledger);
}

TEST(time_before_ready_is_boot_and_after_it_idle)
{
    struct ledger *ledger = plain_ledger();

    (void)ledger_ready(ledger, 0, 1300);
    const struct ledger_bill bill = ledger_close(ledger, 0, 2000);

    assert_int_equal(bill.from, 1000);
    assert_int_equal(bill.to, 2000);
    assert_int_equal(bill.sums.bill, 1000);
    assert_int_equal(bill.sums.boot, 300);
    assert_int_equal(bill.sums.boot_ms, 300);
    assert_int_equal(bill.sums.idle, 700);
    assert_int_equal(bill.sums.idle_ms, 700);
    assert_int_equal(bill.sums.work, 0);
    done(ledger);
}

TEST(a_machine_that_never_was_ready_is_all_boot)
{
    struct ledger *ledger = plain_ledger();

    (void)ledger_enter(ledger, 0, 4, 500000, 1100);
    const struct ledger_bill bill = ledger_close(ledger, 0, 1500);

    assert_int_equal(bill.sums.boot, 500);
    assert_int_equal(bill.sums.bill, 500);
    assert_int_equal(ledger_settle(ledger, 4).cost, 0);
    done(ledger);
}

TEST(a_task_that_entered_during_boot_pays_from_ready)
{
    struct ledger *ledger = plain_ledger();

    (void)ledger_enter(ledger, 0, 4, 500000, 1100);
    (void)ledger_ready(ledger, 0, 1300);
    (void)ledger_leave(ledger, 0, 4, 1900);

    const struct ledger_due due = ledger_settle(ledger, 4);

    assert_int_equal(due.cost, 600);
    assert_int_equal(due.occupied_ms, 600);
    done(ledger);
}

TEST(a_task_alone_pays_the_whole_machine_whatever_its_weight)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 2, 1, 1200);
    (void)ledger_leave(ledger, 0, 2, 1700);
    const struct ledger_bill bill = ledger_close(ledger, 0, 2000);

    assert_int_equal(bill.sums.work, 500);
    assert_int_equal(bill.sums.work_ms, 500);
    assert_int_equal(bill.sums.idle, 500);
    assert_int_equal(ledger_settle(ledger, 2).cost, 500);
    done(ledger);
}

TEST(tasks_that_share_a_machine_pay_by_weight)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 300000, 1000);
    (void)ledger_enter(ledger, 0, 1, 100000, 1400);
    (void)ledger_leave(ledger, 0, 0, 1800);
    (void)ledger_leave(ledger, 0, 1, 2000);

    assert_int_equal(ledger_settle(ledger, 0).cost, 400 + 300);
    assert_int_equal(ledger_settle(ledger, 1).cost, 100 + 200);
    done(ledger);
}

TEST(time_with_two_tasks_counts_once_for_the_machine_and_once_for_each)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 1, 1000);
    (void)ledger_enter(ledger, 0, 1, 1, 1000);
    const struct ledger_bill bill = ledger_close(ledger, 0, 1600);

    assert_int_equal(bill.sums.work_ms, 600);
    assert_int_equal(ledger_due(ledger, 0).occupied_ms, 600);
    assert_int_equal(ledger_due(ledger, 1).occupied_ms, 600);
    done(ledger);
}

TEST(an_odd_micro_dollar_is_paid_by_exactly_one_task)
{
    struct ledger *ledger = ready_ledger();

    for (uint32_t task = 0; task < 3; task++)
        (void)ledger_enter(ledger, 0, task, 250000, 1000);
    (void)ledger_close(ledger, 0, 1100);

    const money_t a = ledger_settle(ledger, 0).cost;
    const money_t b = ledger_settle(ledger, 1).cost;
    const money_t c = ledger_settle(ledger, 2).cost;

    assert_int_equal(a + b + c, 100);
    assert_in_range(a, 33, 34);
    assert_in_range(b, 33, 34);
    assert_in_range(c, 33, 34);
    done(ledger);
}

TEST(weight_zero_counts_as_one)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 0, 1000);
    (void)ledger_enter(ledger, 0, 1, 1, 1000);
    (void)ledger_close(ledger, 0, 1200);

    assert_int_equal(ledger_due(ledger, 0).cost, 100);
    assert_int_equal(ledger_due(ledger, 1).cost, 100);
    done(ledger);
}

TEST(the_minimum_of_the_bill_is_idle)
{
    struct ledger *ledger = ledger_create();

    (void)ledger_open(ledger, 3, &at_least_a_minute, 0);
    (void)ledger_ready(ledger, 3, 1000);
    (void)ledger_enter(ledger, 3, 0, 1000000, 1000);
    const struct ledger_bill bill = ledger_close(ledger, 3, 5000);

    assert_int_equal(bill.to, 5000);
    assert_int_equal(bill.sums.bill, 60000);
    assert_int_equal(bill.sums.boot, 1000);
    assert_int_equal(bill.sums.work, 4000);
    assert_int_equal(bill.sums.idle, 55000);
    assert_int_equal(bill.sums.idle_ms, 55000);
    done(ledger);
}

TEST(the_rest_of_a_started_hour_is_idle)
{
    struct ledger *ledger = ledger_create();

    (void)ledger_open(ledger, 0, &hourly, 500);
    (void)ledger_ready(ledger, 0, 500);
    (void)ledger_enter(ledger, 0, 0, 1000000, 500);
    const struct ledger_bill bill = ledger_close(ledger, 0, 500 + HOUR + 1);

    assert_int_equal(bill.sums.bill, 2 * HOUR);
    assert_int_equal(bill.sums.work, HOUR + 1);
    assert_int_equal(bill.sums.idle, HOUR - 1);
    done(ledger);
}

TEST(a_machine_that_ran_for_no_time_costs_nothing)
{
    struct ledger *ledger = ledger_create();

    (void)ledger_open(ledger, 0, &hourly, 500);
    const struct ledger_bill bill = ledger_close(ledger, 0, 500);

    assert_int_equal(bill.sums.bill, 0);
    assert_int_equal(bill.sums.idle_ms, 0);
    done(ledger);
}

TEST(a_cut_each_millisecond_loses_no_fraction_of_a_changing_price)
{
    struct ledger *ledger = ledger_create();

    (void)ledger_open(ledger, 0, &spot, 3);
    (void)ledger_ready(ledger, 0, 3);
    (void)ledger_enter(ledger, 0, 0, 1000000, 3);
    for (msec_t at = 4; at < 5000; at++) {
        assert_true(ledger_book(ledger, 0, at));
        assert_int_equal(ledger_due(ledger, 0).cost, price_between(&spot.price, 3, at));
    }
    const struct ledger_bill bill = ledger_close(ledger, 0, 5000);

    assert_int_equal(bill.sums.bill, billing_charge(&spot.billing, &spot.price, 3, 5000));
    done(ledger);
}

TEST(a_task_that_moves_pays_on_both_machines_while_it_holds_both)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_open(ledger, 1, &plain, 1000);
    (void)ledger_ready(ledger, 1, 1000);
    (void)ledger_enter(ledger, 0, 7, 1000000, 1000);
    (void)ledger_enter(ledger, 1, 7, 1000000, 1500);
    (void)ledger_leave(ledger, 0, 7, 1600);
    (void)ledger_leave(ledger, 1, 7, 2000);

    const struct ledger_due due = ledger_settle(ledger, 7);

    assert_int_equal(due.cost, 600 + 500);
    assert_int_equal(due.occupied_ms, 600 + 500);
    done(ledger);
}

TEST(settling_clears_the_row_for_its_next_task)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 5, 1000000, 1000);
    (void)ledger_leave(ledger, 0, 5, 1500);
    (void)ledger_settle(ledger, 5);

    assert_int_equal(ledger_due(ledger, 5).cost, 0);
    assert_int_equal(ledger_settle(ledger, 5).occupied_ms, 0);
    assert_int_equal(ledger_totals(ledger)->settled, 500);
    done(ledger);
}

TEST(a_row_of_an_instance_is_used_again_after_its_bill)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_close(ledger, 0, 1500);
    assert_false(ledger_is_open(ledger, 0));
    assert_true(ledger_open(ledger, 0, &plain, 9000));
    const struct ledger_bill second = ledger_close(ledger, 0, 9100);

    assert_int_equal(second.sums.bill, 100);
    assert_int_equal(second.sums.boot, 100);
    assert_int_equal(ledger_totals(ledger)->opened, 2);
    assert_int_equal(ledger_totals(ledger)->open, 0);
    done(ledger);
}

TEST(totals_are_kept_by_market_and_by_type)
{
    struct ledger *ledger = ledger_create();

    (void)ledger_open(ledger, 0, &plain, 0);
    (void)ledger_open(ledger, 1, &at_least_a_minute, 0);
    (void)ledger_open(ledger, 2, &hourly, 0);
    for (uint32_t instance = 0; instance < 3; instance++)
        (void)ledger_close(ledger, instance, 10);

    const struct ledger_totals *totals = ledger_totals(ledger);

    assert_int_equal(totals->of_market[MARKET_ON_DEMAND], 10 + HOUR);
    assert_int_equal(totals->of_market[MARKET_SPOT], 60000);
    assert_int_equal(totals->of_market[MARKET_RESERVED], 0);
    assert_int_equal(totals->type_count, 3);
    assert_int_equal(totals->of_type[0], 10);
    assert_int_equal(totals->of_type[1], 60000);
    assert_int_equal(totals->of_type[2], HOUR);
    assert_int_equal(totals->sums.boot, 30);
    done(ledger);
}

TEST(booking_brings_the_totals_of_an_open_account_up_to_date)
{
    struct ledger *ledger = ready_ledger();

    assert_int_equal(ledger_totals(ledger)->sums.bill, 0);
    assert_true(ledger_book(ledger, 0, 1750));
    assert_int_equal(ledger_totals(ledger)->sums.bill, 750);
    assert_int_equal(ledger_totals(ledger)->sums.idle, 750);
    done(ledger);
}

/* Faults. */

TEST(reports_about_an_instance_without_account_change_nothing)
{
    struct ledger *ledger = ready_ledger();

    assert_false(ledger_ready(ledger, 1, 1100));
    assert_false(ledger_enter(ledger, 1, 0, 1, 1100));
    assert_false(ledger_leave(ledger, 1, 0, 1100));
    assert_false(ledger_book(ledger, 1, 1100));
    assert_int_equal(ledger_close(ledger, 1, 1100).sums.bill, 0);
    assert_int_equal(ledger_totals(ledger)->sums.bill, 0);
    assert_int_equal(ledger_totals(ledger)->opened, 1);
    done(ledger);
}

TEST(opening_twice_keeps_the_first_account)
{
    struct ledger *ledger = ready_ledger();

    assert_false(ledger_open(ledger, 0, &hourly, 1400));
    assert_int_equal(ledger_close(ledger, 0, 1500).sums.bill, 500);
    done(ledger);
}

TEST(closing_twice_bills_once)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_close(ledger, 0, 1500);
    assert_int_equal(ledger_close(ledger, 0, 1600).sums.bill, 0);
    assert_int_equal(ledger_totals(ledger)->sums.bill, 500);
    done(ledger);
}

TEST(ready_twice_counts_the_first)
{
    struct ledger *ledger = plain_ledger();

    assert_true(ledger_ready(ledger, 0, 1200));
    assert_false(ledger_ready(ledger, 0, 1400));
    assert_int_equal(ledger_close(ledger, 0, 1500).sums.boot, 200);
    done(ledger);
}

TEST(entering_twice_counts_the_first)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 1, 1000);
    assert_true(ledger_enter(ledger, 0, 1, 1, 1000));
    assert_false(ledger_enter(ledger, 0, 1, 900000, 1000));
    (void)ledger_close(ledger, 0, 1100);

    assert_int_equal(ledger_due(ledger, 1).cost, 50);
    done(ledger);
}

TEST(leaving_twice_counts_the_first)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 1, 1, 1000);
    assert_true(ledger_leave(ledger, 0, 1, 1300));
    assert_false(ledger_leave(ledger, 0, 1, 1600));
    assert_false(ledger_leave(ledger, 0, 99, 1600));
    assert_int_equal(ledger_due(ledger, 1).cost, 300);
    done(ledger);
}

TEST(a_time_before_the_last_cut_is_taken_as_the_last_cut)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 1, 1500);
    (void)ledger_enter(ledger, 0, 1, 1, 1100);
    (void)ledger_leave(ledger, 0, 1, 1700);
    const struct ledger_bill bill = ledger_close(ledger, 0, 1700);

    assert_int_equal(bill.to, 1700);
    assert_int_equal(bill.sums.idle, 500);
    assert_int_equal(ledger_due(ledger, 0).cost, 100);
    assert_int_equal(ledger_due(ledger, 1).cost, 100);
    done(ledger);
}

TEST(a_bill_that_ended_before_the_last_cut_is_not_higher_for_it)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 1, 1500);
    (void)ledger_leave(ledger, 0, 0, 1900);
    const struct ledger_bill bill = ledger_close(ledger, 0, 1800);

    assert_int_equal(bill.to, 1800);
    assert_int_equal(bill.sums.bill, 800);
    assert_int_equal(bill.sums.work, 400);
    assert_int_equal(bill.sums.idle, 400);
    assert_int_equal(bill.sums.idle_ms, 400);
    assert_int_equal(ledger_settle(ledger, 0).cost, 400);
    done(ledger);
}

TEST(closing_takes_off_the_tasks_that_are_still_there)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 1, 1000);
    (void)ledger_close(ledger, 0, 1500);
    (void)ledger_open(ledger, 0, &plain, 2000);
    (void)ledger_ready(ledger, 0, 2000);

    assert_false(ledger_leave(ledger, 0, 0, 2200));
    assert_int_equal(ledger_close(ledger, 0, 2300).sums.idle, 300);
    assert_int_equal(ledger_settle(ledger, 0).cost, 500);
    done(ledger);
}

TEST(a_task_settled_on_a_machine_is_off_it_as_of_the_last_cut)
{
    struct ledger *ledger = ready_ledger();

    (void)ledger_enter(ledger, 0, 0, 1, 1000);
    (void)ledger_book(ledger, 0, 1200);
    assert_int_equal(ledger_settle(ledger, 0).cost, 200);
    const struct ledger_bill bill = ledger_close(ledger, 0, 1500);

    assert_int_equal(bill.sums.work, 200);
    assert_int_equal(bill.sums.idle, 300);
    assert_int_equal(ledger_due(ledger, 0).cost, 0);
    done(ledger);
}

/*
 * The judge of random histories: it writes down what happened, and only at the end of a bill goes
 * through it cut by cut, asking of every stay whether it was there.
 */

enum { INSTANCES = 5, TASKS = 9, STEPS = 400, CUTS = STEPS + 2 };

/* A task that had a row: what the ledger said it owed, and the least and most it can owe. */
struct life {
    struct ledger_due due;
    money_t least;
    money_t most;
    msec_t occupied_ms;
};

struct noted_stay {
    uint32_t task;
    uint32_t life;
    uint32_t weight;
    msec_t from;
    msec_t to; /* MSEC_NEVER: still there */
};

struct note {
    const struct offer *offer; /* NULL: not open */
    msec_t ready;              /* MSEC_NEVER: not yet */
    msec_t cuts[CUTS];         /* the first is the begin of the bill */
    uint32_t cut_count;
    struct noted_stay stays[CUTS];
    uint32_t stay_count;
};

struct judge {
    uint32_t seed;
    struct rng rng;
    struct ledger *ledger;
    msec_t now;
    struct note notes[INSTANCES];
    uint32_t life_of_task[TASKS];
    struct life lives[TASKS + STEPS];
    uint32_t life_count;
    struct ledger_sums sums;
    money_t of_market[MARKET_COUNT];
    money_t of_type[4];
};

static msec_t last_cut(const struct note *note)
{
    return note->cuts[note->cut_count - 1];
}

static void note_cut(struct note *note, msec_t at)
{
    note->cuts[note->cut_count] = at > last_cut(note) ? at : last_cut(note);
    note->cut_count++;
}

static struct noted_stay *find_noted(struct note *note, uint32_t task)
{
    for (uint32_t i = 0; i < note->stay_count; i++) {
        if (note->stays[i].task == task && note->stays[i].to == MSEC_NEVER)
            return &note->stays[i];
    }
    return NULL;
}

static bool was_there(const struct noted_stay *stay, msec_t from, msec_t to)
{
    return stay->from <= from && stay->to >= to;
}

/* Share out [from, to), which costs 'cost'. Whether anybody was there. */
static bool judge_share(struct judge *judge, const struct note *note, msec_t from, msec_t to,
                        money_t cost)
{
    int64_t weight = 0;

    for (uint32_t i = 0; i < note->stay_count; i++) {
        if (was_there(&note->stays[i], from, to))
            weight += note->stays[i].weight;
    }
    for (uint32_t i = 0; i < note->stay_count; i++) {
        const struct noted_stay *stay = &note->stays[i];
        struct life *life = &judge->lives[stay->life];

        if (!was_there(stay, from, to))
            continue;
        life->least += cost * stay->weight / weight;
        life->most += (cost * stay->weight + weight - 1) / weight;
        life->occupied_ms += to - from;
    }
    return weight > 0;
}

/* What the bill of the noted instance must be, if the cloud says that it ended at 'end'. */
static struct ledger_sums judge_bill(struct judge *judge, const struct note *note, msec_t end)
{
    const struct offer *offer = note->offer;
    const msec_t begin = note->cuts[0];
    struct ledger_sums sums = { 0 };

    for (uint32_t i = 1; i < note->cut_count; i++) {
        const msec_t from = note->cuts[i - 1];
        const msec_t to = note->cuts[i];
        const money_t cost =
            price_between(&offer->price, begin, to) - price_between(&offer->price, begin, from);

        if (from == to)
            continue;
        if (from < note->ready) {
            sums.boot += cost;
            sums.boot_ms += to - from;
        } else if (judge_share(judge, note, from, to, cost)) {
            sums.work += cost;
            sums.work_ms += to - from;
        }
    }
    sums.bill = billing_charge(&offer->billing, &offer->price, begin, end);
    sums.idle = sums.bill - sums.boot - sums.work;
    sums.idle_ms = billing_paid_span(&offer->billing, end - begin) - sums.boot_ms - sums.work_ms;
    return sums;
}

static void check_sums(const struct judge *judge, const struct ledger_sums *got,
                       const struct ledger_sums *want)
{
    if (got->bill != want->bill || got->boot != want->boot || got->idle != want->idle ||
        got->work != want->work)
        fail_msg("seed %u: money differs", judge->seed);
    if (got->boot_ms != want->boot_ms || got->idle_ms != want->idle_ms ||
        got->work_ms != want->work_ms)
        fail_msg("seed %u: time differs", judge->seed);
}

static void check_answer(const struct judge *judge, bool got, bool want)
{
    if (got != want)
        fail_msg("seed %u: the ledger said %d", judge->seed, got);
}

static void do_open(struct judge *judge, uint32_t instance, msec_t at)
{
    static const struct offer *const offers[] = { &plain, &at_least_a_minute, &hourly, &spot };
    const struct offer *offer = offers[rng_below(&judge->rng, 4)];
    struct note *note = &judge->notes[instance];

    check_answer(judge, ledger_open(judge->ledger, instance, offer, at), note->offer == NULL);
    if (note->offer != NULL)
        return;
    *note = (struct note){ .offer = offer, .ready = MSEC_NEVER, .cuts = { at }, .cut_count = 1 };
}

static void do_ready(struct judge *judge, uint32_t instance, msec_t at)
{
    struct note *note = &judge->notes[instance];
    const bool counts = note->offer != NULL && note->ready == MSEC_NEVER;

    check_answer(judge, ledger_ready(judge->ledger, instance, at), counts);
    if (!counts)
        return;
    note_cut(note, at);
    note->ready = last_cut(note);
}

static void do_enter(struct judge *judge, uint32_t instance, uint32_t task, msec_t at)
{
    struct note *note = &judge->notes[instance];
    const bool counts = note->offer != NULL && find_noted(note, task) == NULL;
    const uint32_t weight = 1 + (uint32_t)rng_below(&judge->rng, 1000000);

    check_answer(judge, ledger_enter(judge->ledger, instance, task, weight, at), counts);
    if (!counts)
        return;
    note_cut(note, at);
    note->stays[note->stay_count++] = (struct noted_stay){
        .task = task,
        .life = judge->life_of_task[task],
        .weight = weight,
        .from = last_cut(note),
        .to = MSEC_NEVER,
    };
}

static void do_leave(struct judge *judge, uint32_t instance, uint32_t task, msec_t at)
{
    struct note *note = &judge->notes[instance];
    struct noted_stay *stay = note->offer != NULL ? find_noted(note, task) : NULL;

    check_answer(judge, ledger_leave(judge->ledger, instance, task, at), stay != NULL);
    if (stay == NULL)
        return;
    note_cut(note, at);
    stay->to = last_cut(note);
}

static void do_book(struct judge *judge, uint32_t instance, msec_t at)
{
    struct note *note = &judge->notes[instance];

    check_answer(judge, ledger_book(judge->ledger, instance, at), note->offer != NULL);
    if (note->offer != NULL)
        note_cut(note, at);
}

static void do_close(struct judge *judge, uint32_t instance, msec_t at)
{
    struct note *note = &judge->notes[instance];
    const struct ledger_bill bill = ledger_close(judge->ledger, instance, at);
    struct ledger_sums want = { 0 };

    if (note->offer != NULL) {
        note_cut(note, at);
        for (uint32_t i = 0; i < note->stay_count; i++) {
            if (note->stays[i].to == MSEC_NEVER)
                note->stays[i].to = last_cut(note);
        }
        want = judge_bill(judge, note, at > note->cuts[0] ? at : note->cuts[0]);
        judge->sums.bill += want.bill;
        judge->sums.boot += want.boot;
        judge->sums.idle += want.idle;
        judge->sums.work += want.work;
        judge->sums.boot_ms += want.boot_ms;
        judge->sums.idle_ms += want.idle_ms;
        judge->sums.work_ms += want.work_ms;
        judge->of_market[note->offer->market] += want.bill;
        judge->of_type[note->offer->type] += want.bill;
        note->offer = NULL;
    }
    check_sums(judge, &bill.sums, &want);
}

static void do_settle(struct judge *judge, uint32_t task)
{
    judge->lives[judge->life_of_task[task]].due = ledger_settle(judge->ledger, task);
    judge->life_of_task[task] = judge->life_count++;
    for (uint32_t i = 0; i < INSTANCES; i++) {
        struct note *note = &judge->notes[i];
        struct noted_stay *stay = note->offer != NULL ? find_noted(note, task) : NULL;

        if (stay != NULL)
            stay->to = last_cut(note);
    }
}

/* One report at random: mostly in order, now and then late. */
static void random_step(struct judge *judge)
{
    struct rng *rng = &judge->rng;
    const uint32_t instance = (uint32_t)rng_below(rng, INSTANCES);
    const uint32_t task = (uint32_t)rng_below(rng, TASKS);

    judge->now += (msec_t)rng_below(rng, rng_below(rng, 10) > 0 ? 40 : 2000);

    const msec_t late = rng_below(rng, 5) > 0 ? 0 : (msec_t)rng_below(rng, 100);
    const msec_t at = judge->now - late;
    const uint64_t dice = rng_below(rng, 20);

    if (dice < 3)
        do_open(judge, instance, at);
    else if (dice < 6)
        do_ready(judge, instance, at);
    else if (dice < 12)
        do_enter(judge, instance, task, at);
    else if (dice < 16)
        do_leave(judge, instance, task, at);
    else if (dice < 17)
        do_book(judge, instance, at);
    else if (dice < 18)
        do_close(judge, instance, at);
    else
        do_settle(judge, task);
}

static void check_end(struct judge *judge)
{
    const struct ledger_totals *totals = ledger_totals(judge->ledger);
    money_t settled = 0;

    check_sums(judge, &totals->sums, &judge->sums);
    for (int market = 0; market < MARKET_COUNT; market++)
        assert_int_equal(totals->of_market[market], judge->of_market[market]);
    for (uint32_t type = 0; type < totals->type_count; type++)
        assert_int_equal(totals->of_type[type], judge->of_type[type]);
    for (uint32_t i = 0; i < judge->life_count; i++) {
        const struct life *life = &judge->lives[i];

        settled += life->due.cost;
        if (life->due.cost < life->least || life->due.cost > life->most)
            fail_msg("seed %u: the share of life %u is wrong", judge->seed, i);
        if (life->due.occupied_ms != life->occupied_ms)
            fail_msg("seed %u: the time of life %u is wrong", judge->seed, i);
    }
    assert_int_equal(settled, totals->sums.work);
}

static void random_history(struct judge *judge, uint32_t seed)
{
    *judge = (struct judge){ .seed = seed, .ledger = ledger_create(), .now = 100 };
    rng_init(&judge->rng, seed, 0);
    for (uint32_t task = 0; task < TASKS; task++)
        judge->life_of_task[task] = judge->life_count++;
    for (uint32_t step = 0; step < STEPS - TASKS; step++) {
        random_step(judge);
        ledger_check(judge->ledger);
    }
    for (uint32_t instance = 0; instance < INSTANCES; instance++)
        do_close(judge, instance, judge->now);
    for (uint32_t task = 0; task < TASKS; task++)
        do_settle(judge, task);
    ledger_check(judge->ledger);
    check_end(judge);
    ledger_destroy(judge->ledger);
}

TEST(random_histories_agree_with_a_judge_who_counts_at_the_end)
{
    static struct judge judge;

    for (uint32_t seed = 1; seed <= 400; seed++) {
        (void)fprintf(stderr, "seed %u\n", seed);
        random_history(&judge, seed);
    }
}

CHECK_MAIN(RUN(time_before_ready_is_boot_and_after_it_idle),
           RUN(a_machine_that_never_was_ready_is_all_boot),
           RUN(a_task_that_entered_during_boot_pays_from_ready),
           RUN(a_task_alone_pays_the_whole_machine_whatever_its_weight),
           RUN(tasks_that_share_a_machine_pay_by_weight),
           RUN(time_with_two_tasks_counts_once_for_the_machine_and_once_for_each),
           RUN(an_odd_micro_dollar_is_paid_by_exactly_one_task), RUN(weight_zero_counts_as_one),
           RUN(the_minimum_of_the_bill_is_idle), RUN(the_rest_of_a_started_hour_is_idle),
           RUN(a_machine_that_ran_for_no_time_costs_nothing),
           RUN(a_cut_each_millisecond_loses_no_fraction_of_a_changing_price),
           RUN(a_task_that_moves_pays_on_both_machines_while_it_holds_both),
           RUN(settling_clears_the_row_for_its_next_task),
           RUN(a_row_of_an_instance_is_used_again_after_its_bill),
           RUN(totals_are_kept_by_market_and_by_type),
           RUN(booking_brings_the_totals_of_an_open_account_up_to_date),
           RUN(reports_about_an_instance_without_account_change_nothing),
           RUN(opening_twice_keeps_the_first_account), RUN(closing_twice_bills_once),
           RUN(ready_twice_counts_the_first), RUN(entering_twice_counts_the_first),
           RUN(leaving_twice_counts_the_first),
           RUN(a_time_before_the_last_cut_is_taken_as_the_last_cut),
           RUN(a_bill_that_ended_before_the_last_cut_is_not_higher_for_it),
           RUN(closing_takes_off_the_tasks_that_are_still_there),
           RUN(a_task_settled_on_a_machine_is_off_it_as_of_the_last_cut),
           RUN(random_histories_agree_with_a_judge_who_counts_at_the_end))
