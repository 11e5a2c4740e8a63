/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_report.h"

#include <inttypes.h>

#include "base/rng.h"
#include "store/store_history.h"
#include "store/test/store_file.h"

#define DAY ((msec_t)86400000)

enum { SEED = 20261116, MACHINES = 60, TASKS = 300, WORDS = 4 };

struct rows {
    money_t sum;
    money_t overhead;
    char text[4096];
};

static void take_row(void *context, const struct store_ledger_row *row)
{
    struct rows *rows = context;
    const size_t used = strlen(rows->text);

    rows->sum += row->cost;
    rows->overhead += row->overhead;
    snprintf(rows->text + used, sizeof(rows->text) - used, "%s %" PRId64 " x%" PRIu64 ";",
             row->name, row->cost, row->count);
}

static struct rows report(struct store *store, const struct store_query *query,
                          struct store_totals *ret)
{
    struct rows rows = { .sum = 0 };

    assert_int_equal(store_report(store, query, take_row, &rows, ret, NULL), 0);
    return rows;
}

static void add_machine(struct store *store, uint64_t id, const char *market, msec_t from,
                        msec_t to, struct ledger_sums sums)
{
    sums.bill = sums.boot + sums.idle + sums.work;
    store_instance(store, &(struct store_instance){ .id = id, .type = "a", .market = market });
    store_bill(store, id, &(struct ledger_bill){ .from = from, .to = to, .sums = sums });
}

static void add_due(struct store *store, uint64_t task, const char *user, const char *account,
                    money_t cost, msec_t from, msec_t to)
{
    store_due(store, &(struct store_due){ .task = task,
                                          .label = "1",
                                          .user = user,
                                          .account = account,
                                          .partition = "cloud",
                                          .qos = task % 2 == 0 ? "normal" : NULL,
                                          .cost = cost,
                                          .alone_cost = 2 * cost,
                                          .occupied_ms = to - from,
                                          .ended_at = to });
}

/* Two machines, one over two days, and who used them. */
static void fill(struct store *store)
{
    store_begin(store);
    add_machine(store, 1, "spot", 0, DAY / 2,
                (struct ledger_sums){ .boot = 10, .idle = 30, .work = 60 });
    add_machine(store, 2, "on-demand", DAY / 2, DAY / 2 + DAY,
                (struct ledger_sums){ .idle = 20, .work = 180 });
    add_due(store, 1, "ada", "physics", 60, 0, DAY / 2);
    add_due(store, 2, "bob", "biology", 180, DAY / 2, DAY / 2 + DAY);
    assert_int_equal(store_commit(store, NULL), 0);
}

static const struct store_query always = { .period = { INT64_MIN, INT64_MAX }, .most = 100 };

TEST(the_books_can_be_cut_by_whom_the_engine_charges)
{
    struct store_file file;
    struct store_query query = always;

    store_file_make(&file);
    fill(file.store);
    query.by = STORE_BY_ACCOUNT;
    assert_string_equal(report(file.store, &query, NULL).text,
                        "biology 180 x1;physics 60 x1;(idle and boot) 60 x2;");
    query.by = STORE_BY_PARTITION;
    assert_string_equal(report(file.store, &query, NULL).text,
                        "cloud 240 x2;(idle and boot) 60 x2;");
    query.by = STORE_BY_QOS;
    assert_string_equal(report(file.store, &query, NULL).text,
                        "normal 180 x1;(none) 60 x1;(idle and boot) 60 x2;");
    query.by = STORE_BY_MARKET;
    assert_string_equal(report(file.store, &query, NULL).text, "on-demand 200 x1;spot 100 x1;");
    query.by = STORE_BY_MONTH;
    assert_string_equal(report(file.store, &query, NULL).text, "1970-01 300 x3;");
    store_file_remove(&file);
}

TEST(rows_can_be_chosen_by_a_part_of_their_name_before_they_are_cut)
{
    struct store_file file;
    struct store_query query = always;

    store_file_make(&file);
    fill(file.store);
    query.by = STORE_BY_ACCOUNT;
    query.most = 1;
    query.name = "PHYS";
    assert_string_equal(report(file.store, &query, NULL).text, "physics 60 x1;");
    query.name = "i";
    assert_string_equal(report(file.store, &query, NULL).text,
                        "biology 180 x1;(others) 60 x1;(idle and boot) 60 x2;");
    query.name = "nobody";
    assert_string_equal(report(file.store, &query, NULL).text, "");
    query.by = STORE_BY_MARKET;
    query.name = "spot";
    assert_string_equal(report(file.store, &query, NULL).text, "spot 100 x1;");
    store_file_remove(&file);
}

TEST(a_period_has_what_lies_within_it)
{
    struct store_file file;
    struct store_query query = always;
    struct store_totals totals;

    store_file_make(&file);
    fill(file.store);
    query.period = (struct store_period){ 0, DAY };
    assert_string_equal(report(file.store, &query, &totals).text,
                        "bob 90 x1;ada 60 x1;(idle and boot) 50 x2;");
    assert_int_equal(totals.bill, 200);
    query.period = (struct store_period){ DAY, 2 * DAY };
    assert_string_equal(report(file.store, &query, &totals).text,
                        "bob 90 x1;(idle and boot) 10 x1;");
    query.by = STORE_BY_DAY;
    assert_string_equal(report(file.store, &query, &totals).text, "1970-01-02 100 x1;");
    query.period = (struct store_period){ 2 * DAY, 3 * DAY };
    assert_string_equal(report(file.store, &query, &totals).text, "");
    store_file_remove(&file);
}

TEST(overhead_is_apportioned_by_what_was_paid_for_work)
{
    struct store_file file;
    struct store_query query = always;

    store_file_make(&file);
    fill(file.store);
    query.is_apportioned = true;

    const struct rows rows = report(file.store, &query, NULL);

    assert_string_equal(rows.text, "bob 225 x1;ada 75 x1;");
    assert_int_equal(rows.overhead, 60);
    store_file_remove(&file);
}

static void fill_at_random(struct store *store, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 1);
    store_begin(store);
    for (uint64_t id = 1; id <= MACHINES; id++) {
        const msec_t from = (msec_t)rng_below(&rng, 40 * (uint64_t)DAY);

        add_machine(store, id, id % 3 == 0 ? "spot" : "on-demand", from,
                    from + (msec_t)rng_below(&rng, 5 * (uint64_t)DAY),
                    (struct ledger_sums){ .boot = (money_t)rng_below(&rng, 1000),
                                          .idle = (money_t)rng_below(&rng, 100000),
                                          .work = (money_t)rng_below(&rng, 10000000) });
    }
    for (uint64_t task = 1; task <= TASKS; task++) {
        const msec_t from = (msec_t)rng_below(&rng, 40 * (uint64_t)DAY);

        add_due(store, task, task % 7 == 0 ? "ada" : "bob", task % 3 == 0 ? NULL : "physics",
                (money_t)rng_below(&rng, 1000000), from,
                from + 1 + (msec_t)rng_below(&rng, 3 * (uint64_t)DAY));
    }
    assert_int_equal(store_commit(store, NULL), 0);
}

/* However the books are cut, and whatever the period: rows add up, and adjacent periods too. */
TEST(every_cut_of_random_books_adds_up)
{
    for (uint64_t round = 0; round < 5; round++) {
        struct store_file file;
        struct store_totals all;
        struct rng rng;

        store_file_make(&file);
        fill_at_random(file.store, SEED + round);
        rng_init(&rng, SEED + round, 2);
        assert_int_equal(store_totals(file.store, &all, NULL), 0);
        for (enum store_by by = 0; by < STORE_BYS; by++) {
            const msec_t border = (msec_t)rng_below(&rng, 45 * (uint64_t)DAY);
            struct store_totals before;
            struct store_totals after;
            struct store_query query = always;

            query.by = by;
            query.is_apportioned = rng_below(&rng, 2) == 0;
            query.period.until = border;
            money_t sum = report(file.store, &query, &before).sum;

            assert_int_equal(sum, before.bill);
            query.period = (struct store_period){ border, INT64_MAX };
            sum = report(file.store, &query, &after).sum;
            assert_int_equal(sum, after.bill);
            assert_int_equal(before.bill + after.bill, all.bill);
            assert_int_equal(before.boot + after.boot, all.boot);
            assert_int_equal(before.settled + after.settled, all.settled);
        }
        store_file_remove(&file);
    }
}

static bool tell_account(void *context, uint64_t instance, struct ledger_account *ret)
{
    (void)context;
    *ret = (struct ledger_account){ .until = 2 * DAY, .sums = { .bill = 90, .work = 90 } };
    return instance == 9;
}

static bool tell_owed(void *context, uint64_t task, struct ledger_due *ret)
{
    (void)context;
    *ret = (struct ledger_due){ .cost = 90, .occupied_ms = DAY };
    return task == 9;
}

TEST(what_is_open_is_of_now_if_somebody_knows)
{
    const struct store_live live = { .account = tell_account, .owed = tell_owed };
    struct store_file file;
    struct store_query query = always;
    struct store_totals totals;

    store_file_make(&file);
    store_begin(file.store);
    store_account_set(file.store,
                      &(struct store_account){
                          .instance = 9, .from = DAY, .until = DAY + 10, .sums = { .work = 10 } });
    store_owed_set(file.store,
                   &(struct store_due){
                       .task = 9, .label = "9", .user = "ada", .cost = 10, .occupied_ms = 10 });
    assert_int_equal(store_commit(file.store, NULL), 0);
    assert_string_equal(report(file.store, &query, NULL).text, "ada 10 x1;(idle and boot) 0 x1;");
    query.live = &live;
    assert_string_equal(report(file.store, &query, NULL).text, "ada 90 x1;(idle and boot) 0 x1;");
    assert_int_equal(store_totals_live(file.store, &live, &totals, NULL), 0);
    assert_int_equal(totals.bill, 90);
    assert_int_equal(totals.owed, 90);
    store_file_remove(&file);
}

TEST(the_books_are_read_beside_the_daemon_and_without_it)
{
    struct store_file file;
    struct store *reader = NULL;
    struct store_query query = always;

    store_file_make(&file);
    fill(file.store);
    assert_int_equal(store_open_books(file.path, &reader, NULL), 0);
    assert_string_equal(report(reader, &query, NULL).text,
                        "bob 180 x1;ada 60 x1;(idle and boot) 60 x2;");
    store_close(reader);
    store_file_remove(&file);
    assert_true(store_open_books("/nowhere/stint.db", &reader, NULL) < 0);
}

/* Machines that are rented, booked and paid, in any order, some of them twice. */
static void write_machines(struct store *store, struct rng *rng)
{
    static const char *const types[] = { "a.large", "b.large", NULL };

    for (uint64_t i = rng_below(rng, 3); i > 0; i--) {
        const uint64_t id = 2 + rng_below(rng, 400);
        const msec_t from = DAY - (msec_t)rng_below(rng, 200);
        const msec_t to = from + (msec_t)rng_below(rng, 200);
        const struct ledger_sums sums = { .boot = (money_t)rng_below(rng, 10),
                                          .idle = (money_t)rng_below(rng, 10),
                                          .work = (money_t)rng_below(rng, 90),
                                          .work_ms = to - from };
        const uint64_t what = rng_below(rng, 4);

        if (what == 0)
            store_instance(store, &(struct store_instance){ .id = id,
                                                            .name = "m",
                                                            .offer = "o",
                                                            .type = types[rng_below(rng, 3)],
                                                            .market = "spot" });
        else if (what == 1)
            store_account_set(store, &(struct store_account){
                                         .instance = id, .from = from, .until = to, .sums = sums });
        else
            store_bill(store, id, &(struct ledger_bill){ .from = from, .to = to, .sums = sums });
    }
}

static void write_some(struct store *store, struct rng *rng)
{
    static const char *const users[] = { "ada", "bob", "carol" };
    static const char *const words[WORDS] = { NULL, "physics", "gpu", "urgent" };

    store_begin(store);
    for (uint64_t i = rng_below(rng, 4); i > 0; i--) {
        const bool is_open = rng_below(rng, 2) == 0; /* one of a few that do not end */
        const uint64_t task = is_open ? 1000 + rng_below(rng, 20) : 1 + rng_below(rng, 600);
        const money_t cost = (money_t)rng_below(rng, 50);
        char job[32];

        snprintf(job, sizeof(job), "%" PRIu64, task % 80);

        const struct store_due due = { .task = task,
                                       .label = job,
                                       .job = job,
                                       .user = users[rng_below(rng, 3)],
                                       .account = words[rng_below(rng, WORDS)],
                                       .partition = words[rng_below(rng, WORDS)],
                                       .qos = words[task % WORDS],
                                       .cost = cost,
                                       .alone_cost = 2 * cost,
                                       .occupied_ms = (msec_t)rng_below(rng, 100),
                                       .ended_at = DAY + (msec_t)rng_below(rng, 100) };

        const uint64_t what = rng_below(rng, is_open ? 3 : 6);

        if (what < 2)
            store_owed_set(store, &due);
        else if (what == 2)
            store_owed_remove(store, task);
        else
            store_due(store, &due);
    }
    write_machines(store, rng);
}

/* A query as of nobody in particular. */
static struct store_query any_query(struct rng *rng)
{
    struct store_query query = always;

    query.by = (enum store_by)rng_below(rng, STORE_BYS);
    query.most = (uint32_t)rng_below(rng, 50);
    query.is_apportioned = rng_below(rng, 4) == 0;
    if (rng_below(rng, 2) == 0)
        query.period.since =
            DAY - 150 + (msec_t)rng_below(rng, 250); /* all have ended after it, or some */
    if (rng_below(rng, 4) == 0)
        query.period.until = DAY + (msec_t)rng_below(rng, 150);
    return query;
}

static void add_bill_to(void *context, msec_t from, msec_t to, money_t cost)
{
    (void)from;
    (void)to;
    *(money_t *)context += cost;
}

static void add_stay_to(void *context, const struct store_stay *stay)
{
    const uint64_t weight = stay->type != NULL ? (uint64_t)stay->type[0] : 1;

    *(money_t *)context += stay->bill.sums.bill * (money_t)weight + stay->bill.from;
}

/* By machines that are gone since, as far as they were on the bill after the day began. */
static money_t spent(struct store *store)
{
    money_t sum = 0;

    assert_int_equal(store_each_bill_since(store, DAY, add_bill_to, &sum, NULL), 0);
    assert_true(store_each_past(store, DAY, 1000, add_stay_to, &sum, NULL) >= 0);
    return sum;
}

static void assert_same(struct store *store, struct store *reader, const struct store_query *query)
{
    struct store_totals kept;
    struct store_totals read;
    const struct rows rows = report(store, query, &kept);

    assert_string_equal(rows.text, report(reader, query, &read).text);
    assert_memory_equal(&kept, &read, sizeof(kept));
    assert_int_equal(spent(store), spent(reader));
    assert_int_equal(store_totals(store, &kept, NULL), 0);
    (void)report(reader, &always, &read);
    assert_memory_equal(&kept, &read, sizeof(kept));
}

/* Random ends and open tasks; now and then the commit fails, and is done again. */
static void take_turn(struct store *store, struct store *reader, struct rng *rng)
{
    struct rng again = *rng;
    struct store_query query = always;

    write_some(store, rng);

    /* Sees what is not committed, and must not keep it. */
    const struct rows ahead = report(store, &always, NULL);
    struct store_totals totals;

    assert_int_equal(store_totals(store, &totals, NULL), 0);
    if (rng_below(rng, 4) == 0) {
        store_rollback(store);
        write_some(store, &again);
    }
    query = any_query(rng);

    const uint64_t when = rng_below(rng, 4); /* while the commit is under way */
    const int rc = store_commit_begin(store, NULL);

    assert_true(rc >= 0);
    if (rc == 0)
        return;
    if (when == 1 || when == 3)
        assert_same(store, reader, &query);
    store_commit_run(store);
    if (when >= 2) /* it is in the file, and nobody has said so */
        assert_same(store, reader, &query);
    assert_int_equal(store_commit_end(store, NULL), 0);
    assert_string_equal(ahead.text, report(reader, &always, NULL).text);
}

/* What the store keeps in memory between two questions is what a reader finds in the file. */
TEST(what_is_kept_of_tasks_and_machines_is_what_the_file_has)
{
    struct store_file file;
    struct store *reader = NULL;
    struct rng rng;

    store_file_make(&file);
    rng_init(&rng, SEED, 3);
    store_begin(file.store);
    add_machine(file.store, 1, "spot", 0, DAY,
                (struct ledger_sums){ .boot = 101, .idle = 9998, .work = 1000 });
    assert_int_equal(store_commit(file.store, NULL), 0);
    assert_int_equal(store_warm(file.store, NULL), 0);
    assert_int_equal(store_open_books(file.path, &reader, NULL), 0);
    for (int turn = 0; turn < 600; turn++) {
        take_turn(file.store, reader, &rng);
        if (rng_below(&rng, 2) == 0)
            continue;

        struct store_query query = any_query(&rng);
        const struct rows rows = report(file.store, &query, NULL);

        assert_same(file.store, reader, &query);
        query.most = 100;

        const char *others = strstr(rows.text, "(others)");
        const size_t length = others != NULL ? (size_t)(others - rows.text) : strlen(rows.text);

        assert_int_equal(strncmp(rows.text, report(reader, &query, NULL).text, length), 0);
    }
    store_close(reader);
    store_file_remove(&file);
}

/* A task that ran, and that runs again: for another account, partition or QOS. */
TEST(who_is_charged_may_change_after_the_end)
{
    static const struct store_due charged[] = {
        { .account = "physics", .partition = "cloud", .qos = "normal" },
        { .account = "biology", .partition = "cloud", .qos = "normal" },
        { .account = "biology", .partition = "gpu", .qos = "normal" },
        { .account = "biology", .partition = "gpu", .qos = "urgent" },
        { .account = NULL, .partition = "gpu", .qos = "urgent" },
    };
    struct store_file file;

    store_file_make(&file);
    for (uint32_t i = 0; i < sizeof(charged) / sizeof(charged[0]); i++) {
        struct store_due due = charged[i];
        struct store_query query = always;

        due.task = 1;
        due.cost = 10;
        store_begin(file.store);
        (i == 0 ? store_due : store_owed_set)(file.store, &due);
        store_file_commit(&file);

        const char *const rows[] = { due.account != NULL ? due.account : "(none)", due.partition,
                                     due.qos };

        for (uint32_t by = 0; by < 3; by++) {
            query.by = STORE_BY_ACCOUNT + by;

            const struct rows found = report(file.store, &query, NULL);

            assert_int_equal(strncmp(found.text, rows[by], strlen(rows[by])), 0);
            assert_int_equal(found.sum,
                             0); /* nothing is on the bill: what they paid is unassigned */
        }
    }
    store_file_remove(&file);
}

TEST(a_user_who_owes_nothing_any_more_has_no_row)
{
    struct store_file file;

    store_file_make(&file);
    store_begin(file.store);
    store_owed_set(file.store, &(struct store_due){ .task = 1, .user = "ada", .cost = 10 });
    store_file_commit(&file);
    assert_non_null(strstr(report(file.store, &always, NULL).text, "ada 10 x1;"));
    store_begin(file.store);
    store_owed_remove(file.store, 1);
    store_file_commit(&file);
    assert_null(strstr(report(file.store, &always, NULL).text, "ada"));
    store_file_remove(&file);
}

CHECK_MAIN(RUN(the_books_can_be_cut_by_whom_the_engine_charges),
           RUN(rows_can_be_chosen_by_a_part_of_their_name_before_they_are_cut),
           RUN(a_period_has_what_lies_within_it),
           RUN(overhead_is_apportioned_by_what_was_paid_for_work),
           RUN(every_cut_of_random_books_adds_up), RUN(what_is_open_is_of_now_if_somebody_knows),
           RUN(the_books_are_read_beside_the_daemon_and_without_it),
           RUN(what_is_kept_of_tasks_and_machines_is_what_the_file_has),
           RUN(who_is_charged_may_change_after_the_end),
           RUN(a_user_who_owes_nothing_any_more_has_no_row))
