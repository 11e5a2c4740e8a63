/* SPDX-License-Identifier: Apache-2.0 */
#include "store/test/store_file.h"

#include <inttypes.h>

#include "base/rng.h"
#include "control/ports/engine_port.h"

#define DAY ((msec_t)86400000)

struct rows {
    money_t sum;
    uint32_t count;
    char text[4096];
};

static void take_row(void *context, const struct store_ledger_row *row)
{
    struct rows *rows = context;
    const size_t used = strlen(rows->text);

    rows->sum += row->cost;
    rows->count++;
    snprintf(rows->text + used, sizeof(rows->text) - used, "%s%s%s %" PRId64 " x%" PRIu64 ";",
             row->name, row->user != NULL ? "/" : "", row->user != NULL ? row->user : "", row->cost,
             row->count);
}

static const char *ledger(struct store *store, enum store_by by, uint32_t most, struct rows *rows)
{
    *rows = (struct rows){ .sum = 0 };
    assert_int_equal(store_ledger(store, by, most, take_row, rows, NULL), 0);
    return rows->text;
}

static void add_instance(struct store *store, uint64_t id, const char *type)
{
    store_instance(store, &(struct store_instance){ .id = id, .type = type });
}

static void add_bill(struct store *store, uint64_t id, msec_t from, msec_t to, money_t work)
{
    store_bill(store, id,
               &(struct ledger_bill){
                   .from = from, .to = to, .sums = { .boot = 10, .idle = 5, .work = work } });
}

static void add_due(struct store *store, uint64_t task, const char *user, money_t cost)
{
    char label[32];

    snprintf(label, sizeof(label), "%u.%u", (unsigned)(task / 10), (unsigned)(task % 10));

    char job[32];

    snprintf(job, sizeof(job), "%u", (unsigned)(task / 10));
    store_due(store, &(struct store_due){ .task = task,
                                          .label = label,
                                          .job = job,
                                          .name = "fit",
                                          .user = user,
                                          .cost = cost,
                                          .alone_cost = cost * 2,
                                          .occupied_ms = 100 });
}

static void fill(struct store *store)
{
    store_begin(store);
    add_instance(store, 1, "a.large");
    add_instance(store, 2, "b.large");
    add_instance(store, 3, "a.large");
    add_bill(store, 1, 0, 1000, 100);
    add_bill(store, 2, 1000, 2000, 200);
    store_account_set(store, &(struct store_account){ .instance = 3,
                                                      .from = DAY,
                                                      .until = DAY + 10,
                                                      .rest = 1234,
                                                      .sums = { .boot = 1, .work = 50 },
                                                      .is_ready = true });
    add_due(store, 11, "ada", 120);
    add_due(store, 12, "ada", 80);
    add_due(store, 21, "bob", 70);
    store_owed_set(store, &(struct store_due){
                              .task = 31, .label = "3.1", .job = "3", .user = "bob", .cost = 80 });
    assert_int_equal(store_commit(store, NULL), 0);
}

TEST(every_way_to_look_adds_up_to_the_same_total)
{
    struct store_file file;
    struct rows rows;
    struct store_totals totals;

    store_file_make(&file);
    fill(file.store);

    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    assert_int_equal(totals.bill, 381);
    assert_int_equal(totals.bill, totals.boot + totals.idle + totals.work);
    assert_string_equal(ledger(file.store, STORE_BY_USER, 100, &rows),
                        "ada 200 x2;bob 150 x2;(idle and boot) 31 x3;");
    assert_string_equal(ledger(file.store, STORE_BY_JOB, 100, &rows),
                        "1/ada 200 x2;3/bob 80 x1;2/bob 70 x1;(idle and boot) 31 x3;");
    assert_string_equal(ledger(file.store, STORE_BY_TYPE, 100, &rows),
                        "b.large 215 x1;a.large 166 x2;");
    assert_string_equal(ledger(file.store, STORE_BY_DAY, 100, &rows),
                        "1970-01-01 330 x2;1970-01-02 51 x1;");
    store_file_remove(&file);
}

TEST(rows_beyond_the_limit_are_one_row)
{
    struct store_file file;
    struct rows rows;

    store_file_make(&file);
    fill(file.store);
    assert_string_equal(ledger(file.store, STORE_BY_JOB, 1, &rows),
                        "1/ada 200 x2;(others) 150 x2;(idle and boot) 31 x3;");
    assert_string_equal(ledger(file.store, STORE_BY_TYPE, 0, &rows), "(others) 381 x3;");
    store_file_remove(&file);
}

TEST(work_that_nobody_owes_has_a_row_of_its_own)
{
    struct store_file file;
    struct rows rows;

    store_file_make(&file);
    fill(file.store);
    store_begin(file.store);
    store_owed_remove(file.store, 31);
    store_file_commit(&file);
    assert_string_equal(ledger(file.store, STORE_BY_USER, 100, &rows),
                        "ada 200 x2;bob 70 x1;(idle and boot) 31 x3;(unassigned) 80 x0;");
    store_file_remove(&file);
}

TEST(machines_that_are_owned_have_a_row_and_those_of_nobody_another)
{
    struct store_file file;
    struct rows rows;

    store_file_make(&file);
    store_begin(file.store);
    store_account_set(
        file.store,
        &(struct store_account){ .instance = OWNED_ID_FIRST, .until = 10, .sums = { .work = 50 } });
    store_account_set(file.store, &(struct store_account){ .instance = OWNED_ID_FIRST + 1,
                                                           .until = 10,
                                                           .sums = { .idle = 20 } });
    store_account_set(file.store,
                      &(struct store_account){ .instance = 9, .until = 10, .sums = { .work = 5 } });
    store_file_commit(&file);
    assert_string_equal(ledger(file.store, STORE_BY_TYPE, 100, &rows),
                        "(owned) 70 x2;(unknown) 5 x1;");
    assert_string_equal(ledger(file.store, STORE_BY_MARKET, 100, &rows),
                        "(owned) 70 x2;(unknown) 5 x1;");
    store_file_remove(&file);
}

TEST(savings_leave_out_what_has_not_ended)
{
    struct store_file file;
    struct store_totals totals;

    store_file_make(&file);
    fill(file.store);
    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    assert_int_equal(totals.alone, 540);
    assert_int_equal(totals.owed, 80);
    assert_int_equal(store_savings(&totals), 540 - (381 - 80));
    store_file_remove(&file);
}

TEST(a_bill_takes_the_place_of_its_account_and_a_due_of_what_was_owed)
{
    struct store_file file;
    struct store_totals totals;
    struct store_account account;
    struct ledger_due owed;

    store_file_make(&file);
    fill(file.store);
    assert_true(store_account_get(file.store, 3, &account));
    assert_int_equal(account.sums.bill, 51);
    assert_int_equal(account.from, DAY);
    assert_int_equal(account.until, DAY + 10);
    assert_int_equal(account.rest, 1234);
    assert_true(account.is_ready);
    assert_true(store_owed_get(file.store, 31, &owed));
    assert_int_equal(owed.cost, 80);
    store_begin(file.store);
    add_bill(file.store, 3, DAY, DAY + 20, 55);
    add_due(file.store, 31, "bob", 85);
    store_file_commit(&file);

    assert_false(store_account_get(file.store, 3, &account));
    assert_false(store_owed_get(file.store, 31, &owed));
    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    assert_int_equal(totals.bill, 115 + 215 + 70);
    assert_int_equal(totals.settled, 355);
    assert_int_equal(totals.work, 355);
    assert_int_equal(totals.owed, 0);
    store_file_remove(&file);
}

TEST(the_same_bill_twice_is_paid_once_and_a_second_due_is_added)
{
    struct store_file file;
    struct store_totals totals;

    store_file_make(&file);
    store_begin(file.store);
    add_bill(file.store, 1, 0, 10, 100);
    add_bill(file.store, 1, 0, 10, 100);
    add_due(file.store, 11, "ada", 60);
    add_due(file.store, 11, "ada", 40);
    store_file_commit(&file);
    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    assert_int_equal(totals.bill, 115);
    assert_int_equal(totals.settled, 100);
    assert_int_equal(totals.tasks, 1);
    store_file_remove(&file);
}

TEST(a_bill_over_several_days_is_split_by_time)
{
    struct store_file file;
    struct rows rows;
    const msec_t from = 20407 * DAY + DAY / 2; /* noon of 2025-11-15 */

    store_file_make(&file);
    store_begin(file.store);
    add_bill(file.store, 1, from, from + 2 * DAY, 85);
    add_bill(file.store, 2, from, from, 0);
    store_file_commit(&file);
    assert_string_equal(ledger(file.store, STORE_BY_DAY, 100, &rows),
                        "2025-11-15 40 x2;2025-11-16 50 x1;2025-11-17 25 x1;");
    store_file_remove(&file);
}

TEST(leap_days_have_their_names)
{
    struct store_file file;
    struct rows rows;
    static const msec_t days[] = { 11016, 19782, 19783, 10956, 24855 };

    store_file_make(&file);
    store_begin(file.store);
    for (uint64_t i = 0; i < 5; i++)
        add_bill(file.store, i + 1, days[i] * DAY, days[i] * DAY + 1, 0);
    store_file_commit(&file);
    assert_string_equal(ledger(file.store, STORE_BY_DAY, 100, &rows),
                        "1999-12-31 15 x1;2000-02-29 15 x1;2024-02-29 15 x1;2024-03-01 15 x1;"
                        "2038-01-19 15 x1;");
    store_file_remove(&file);
}

/* Whatever the books are, no way to look at them loses or makes a micro-dollar. */
TEST(random_books_add_up_in_every_view)
{
    struct store_file file;
    struct store_totals totals;
    struct rows rows;
    struct rng rng;

    rng_init(&rng, 7, 0);
    store_file_make(&file);
    store_begin(file.store);
    for (uint64_t id = 1; id <= 300; id++) {
        const msec_t from = (msec_t)rng_below(&rng, 40) * DAY / 4;
        const msec_t to = from + (msec_t)rng_below(&rng, 5000000000);
        const char *type = id % 3 == 0 ? "a" : "b";

        if (id % 7 != 0)
            add_instance(file.store, id, type);
        add_bill(file.store, id, from, to, (money_t)rng_below(&rng, 1000000007) - 1000);
        add_due(file.store, id, id % 2 == 0 ? "ada" : "bob", (money_t)rng_below(&rng, 1000000));
    }
    store_file_commit(&file);
    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    for (enum store_by by = 0; by < STORE_BYS; by++) {
        for (uint32_t most = 0; most < 60; most += 7) {
            ledger(file.store, by, most, &rows);
            assert_int_equal(rows.sum, totals.bill);
        }
    }
    store_file_remove(&file);
}

static void check_same(const struct store_totals *a, const struct store_totals *b)
{
    assert_int_equal(a->bill, b->bill);
    assert_int_equal(a->boot, b->boot);
    assert_int_equal(a->idle, b->idle);
    assert_int_equal(a->work, b->work);
    assert_int_equal(a->boot_ms, b->boot_ms);
    assert_int_equal(a->settled, b->settled);
    assert_int_equal(a->owed, b->owed);
    assert_int_equal(a->alone, b->alone);
    assert_int_equal(a->instances, b->instances);
    assert_int_equal(a->tasks, b->tasks);
}

/* The sums that are kept in memory are those of the file. */
TEST(totals_are_the_same_after_a_restart_and_a_rollback)
{
    struct store_file file;
    struct store_totals before;
    struct store_totals after;

    store_file_make(&file);
    fill(file.store);
    store_begin(file.store);
    add_bill(file.store, 2, 5, 50, 77);
    add_due(file.store, 11, "ada", 5);
    store_file_commit(&file);
    assert_int_equal(store_totals(file.store, &before, NULL), 0);
    store_begin(file.store);
    add_bill(file.store, 2, 5, 50, 1000);
    add_bill(file.store, 8, 5, 50, 1000);
    add_due(file.store, 99, "ada", 5);
    store_rollback(file.store);
    assert_int_equal(store_totals(file.store, &after, NULL), 0);
    check_same(&before, &after);
    store_file_again(&file);
    assert_int_equal(store_totals(file.store, &after, NULL), 0);
    check_same(&before, &after);
    store_file_remove(&file);
}

static void take_due(void *context, const struct store_due *due)
{
    *(money_t *)context = due->cost;
    assert_string_equal(due->user, "ada");
}

TEST(an_ended_task_or_job_is_found_by_its_label)
{
    struct store_file file;
    money_t cost = 0;

    store_file_make(&file);
    fill(file.store);
    assert_true(store_find_due(file.store, "1.2", take_due, &cost));
    assert_int_equal(cost, 80);
    assert_true(store_find_due(file.store, "1", take_due, &cost));
    assert_int_equal(cost, 200);
    assert_false(store_find_due(file.store, "9", take_due, &cost));
    store_file_remove(&file);
}

CHECK_MAIN(RUN(every_way_to_look_adds_up_to_the_same_total), RUN(rows_beyond_the_limit_are_one_row),
           RUN(work_that_nobody_owes_has_a_row_of_its_own),
           RUN(machines_that_are_owned_have_a_row_and_those_of_nobody_another),
           RUN(savings_leave_out_what_has_not_ended),
           RUN(a_bill_takes_the_place_of_its_account_and_a_due_of_what_was_owed),
           RUN(the_same_bill_twice_is_paid_once_and_a_second_due_is_added),
           RUN(a_bill_over_several_days_is_split_by_time), RUN(leap_days_have_their_names),
           RUN(random_books_add_up_in_every_view),
           RUN(totals_are_the_same_after_a_restart_and_a_rollback),
           RUN(an_ended_task_or_job_is_found_by_its_label))
