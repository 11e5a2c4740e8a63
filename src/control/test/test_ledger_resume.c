/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Books that another process takes up: what was kept, what has changed since, and that a bill is the
 * same however often the process that keeps it changes.
 */
#include "control/books/ledger.h"

#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"

enum { SEEDS = 300, INSTANCES = 4, TASKS = 6, STEPS = 120 };

/* Fractions of a micro-dollar each millisecond, and changes at awkward moments. */
static const struct price_change price[] = {
    { 100, 1234567 }, { 777, 1 }, { 1001, 99999999 }, { 2500, 31 }, { 4000, 7777777 },
};
static const struct offer offer = {
    .type = 2,
    .market = MARKET_SPOT,
    .billing = { .step_ms = 7, .minimum_ms = 50 },
    .price = { price, sizeof(price) / sizeof(*price) },
};

/* What a daemon would have written down. */
struct store {
    struct ledger_account accounts[INSTANCES];
    bool is_open[INSTANCES];
    struct ledger_due dues[TASKS];
};

static void keep(struct ledger *ledger, struct store *store)
{
    for (uint32_t row = ledger_take_changed_account(ledger); row != LEDGER_NONE;
         row = ledger_take_changed_account(ledger))
        store->is_open[row] = ledger_account(ledger, row, &store->accounts[row]);
    for (uint32_t row = ledger_take_changed_due(ledger); row != LEDGER_NONE;
         row = ledger_take_changed_due(ledger))
        store->dues[row] = ledger_due(ledger, row);
}

static struct ledger *take_over(struct ledger *ledger, const struct store *store)
{
    ledger_check(ledger);
    ledger_destroy(ledger);
    ledger = ledger_create();
    for (uint32_t i = 0; i < INSTANCES; i++) {
        if (store->is_open[i])
            assert_true(ledger_resume(ledger, i, &offer, &store->accounts[i]));
    }
    for (uint32_t i = 0; i < TASKS; i++)
        ledger_resume_due(ledger, i, store->dues[i]);
    ledger_check(ledger);
    return ledger;
}

/* The sums of a run in which the books change hands 'handovers' times a hundred steps. */
struct sums {
    struct ledger_sums bills;
    money_t settled;
};

static void add_bill(struct sums *sums, const struct ledger_bill *bill)
{
    sums->bills.bill += bill->sums.bill;
    sums->bills.boot += bill->sums.boot;
    sums->bills.idle += bill->sums.idle;
    sums->bills.work += bill->sums.work;
}

/* Tasks stay on their machine over a handover: they enter again as of the last cut. */
static void enter_again(struct ledger *ledger, const bool (*there)[TASKS])
{
    for (uint32_t i = 0; i < INSTANCES; i++) {
        for (uint32_t task = 0; task < TASKS; task++) {
            if (there[i][task])
                (void)ledger_enter(ledger, i, task, 1000 * (task + 1), 0);
        }
    }
}

static void step(struct ledger *ledger, struct rng *rng, bool (*there)[TASKS], msec_t now,
                 struct sums *sums)
{
    const uint32_t i = (uint32_t)rng_below(rng, INSTANCES);
    const uint32_t task = (uint32_t)rng_below(rng, TASKS);
    struct ledger_bill bill;

    switch (rng_below(rng, 8)) {
    case 0:
        (void)ledger_open(ledger, i, &offer, now);
        break;
    case 1:
        (void)ledger_ready(ledger, i, now);
        break;
    case 2:
    case 3:
    case 4:
        there[i][task] = ledger_enter(ledger, i, task, 1000 * (task + 1), now) || there[i][task];
        break;
    case 5:
        (void)ledger_leave(ledger, i, task, now);
        there[i][task] = false;
        break;
    case 6:
        (void)ledger_book(ledger, i, now);
        break;
    default:
        bill = ledger_close(ledger, i, now);
        add_bill(sums, &bill);
        for (uint32_t each = 0; each < TASKS; each++)
            there[i][each] = false;
        break;
    }
}

static struct sums run(uint64_t seed, uint64_t handovers)
{
    struct ledger *ledger = ledger_create();
    struct store store = { 0 };
    bool there[INSTANCES][TASKS] = { 0 };
    struct sums sums = { 0 };
    struct rng rng;
    struct rng when;
    msec_t now = 100;

    rng_init(&rng, seed, 0);
    rng_init(&when, seed, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        now += (msec_t)rng_below(&rng, 60);
        step(ledger, &rng, there, now, &sums);
        if (rng_below(&when, 100) < handovers) {
            keep(ledger, &store);
            ledger = take_over(ledger, &store);
            enter_again(ledger, (const bool(*)[TASKS])there);
        }
    }
    for (uint32_t i = 0; i < INSTANCES; i++) {
        const struct ledger_bill bill = ledger_close(ledger, i, now);

        add_bill(&sums, &bill);
    }
    for (uint32_t task = 0; task < TASKS; task++)
        sums.settled += ledger_settle(ledger, task).cost;
    ledger_check(ledger);
    ledger_destroy(ledger);
    return sums;
}

TEST(books_that_change_hands_are_those_that_do_not)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct sums once = run(seed, 0);
        const struct sums often = run(seed, 1 + seed % 60);

        if (once.bills.bill != often.bills.bill || once.bills.boot != often.bills.boot ||
            once.bills.idle != often.bills.idle || once.bills.work != often.bills.work ||
            once.settled != often.settled)
            fail_msg("seed %u: the books differ", (unsigned)seed);
        if (often.settled != often.bills.work)
            fail_msg("seed %u: not all work was paid for", (unsigned)seed);
    }
}

TEST(what_has_changed_is_handed_out_once)
{
    struct ledger *ledger = ledger_create();

    assert_int_equal(ledger_take_changed_account(ledger), LEDGER_NONE);
    (void)ledger_open(ledger, 3, &offer, 100);
    assert_int_equal(ledger_take_changed_account(ledger), 3);
    (void)ledger_ready(ledger, 3, 100);
    assert_int_equal(ledger_take_changed_account(ledger), 3);
    assert_int_equal(ledger_take_changed_account(ledger), LEDGER_NONE);
    assert_int_equal(ledger_take_changed_due(ledger), LEDGER_NONE);
    (void)ledger_enter(ledger, 3, 5, 1, 200);
    (void)ledger_book(ledger, 3, 300);
    assert_int_equal(ledger_take_changed_account(ledger), 3);
    assert_int_equal(ledger_take_changed_due(ledger), 5);
    assert_int_equal(ledger_take_changed_due(ledger), LEDGER_NONE);
    (void)ledger_settle(ledger, 5);
    assert_int_equal(ledger_take_changed_due(ledger), 5);
    (void)ledger_close(ledger, 3, 400);
    assert_int_equal(ledger_take_changed_account(ledger), 3);

    struct ledger_account account;

    assert_false(ledger_account(ledger, 3, &account));
    ledger_check(ledger);
    ledger_destroy(ledger);
}

TEST(an_account_that_contradicts_itself_is_not_taken_up)
{
    const struct ledger_account good = {
        .from = 100,
        .until = 200,
        .rest = 5,
        .sums = { .bill = 10, .boot = 4, .work = 6, .boot_ms = 40, .work_ms = 60 },
        .is_ready = true,
    };
    struct ledger_account bad[] = { good, good, good, good, good };
    struct ledger *ledger = ledger_create();

    bad[0].rest = -1;
    bad[1].rest = MSEC_PER_HOUR;
    bad[2].until = 99;
    bad[3].sums.idle = 1;
    bad[4].sums.idle_ms = 1;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(ledger_resume(ledger, 0, &offer, &bad[i]));
    assert_false(ledger_is_open(ledger, 0));
    assert_true(ledger_resume(ledger, 0, &offer, &good));
    assert_false(ledger_resume(ledger, 0, &offer, &good));
    assert_int_equal(ledger_totals(ledger)->sums.bill, 10);
    assert_int_equal(ledger_totals(ledger)->carried, 6);
    ledger_check(ledger);
    ledger_destroy(ledger);
}

CHECK_MAIN(RUN(books_that_change_hands_are_those_that_do_not),
           RUN(what_has_changed_is_handed_out_once),
           RUN(an_account_that_contradicts_itself_is_not_taken_up))
