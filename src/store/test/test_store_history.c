/* SPDX-License-Identifier: Apache-2.0 */
#include "store/test/store_file.h"

#include <inttypes.h>

#include "store/store_history.h"

struct told {
    char text[1024];
};

static void add(struct told *told, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct told *told, const char *format, ...)
{
    const size_t used = strlen(told->text);
    va_list list;

    va_start(list, format);
    vsnprintf(told->text + used, sizeof(told->text) - used, format, list);
    va_end(list);
}

static void take_stay(void *context, const struct store_stay *stay)
{
    add(context, "%s %s %s %" PRId64 "-%" PRId64 " %" PRId64 ";", stay->name, stay->type,
        stay->market != NULL ? stay->market : "?", stay->bill.from, stay->bill.to,
        stay->bill.sums.bill);
}

static void take_run(void *context, const struct store_run *run)
{
    add(context, "%" PRIu64 " on %" PRIu64 " at %" PRId64 " %s %" PRId64 ";", run->task,
        run->instance, run->began_at, run->label != NULL ? run->label : "lives", run->ended_at);
}

static void take_user(void *context, const struct store_ledger_row *row)
{
    add(context, "%s %" PRId64 " of %" PRId64 " x%" PRIu64 ";", row->name, row->cost,
        row->alone_cost, row->count);
}

static void add_machine(struct store *store, uint64_t id, const char *name, const char *market,
                        msec_t from, msec_t to)
{
    store_instance(
        store, &(struct store_instance){ .id = id, .name = name, .type = "t", .market = market });
    store_bill(store, id,
               &(struct ledger_bill){
                   .from = from, .to = to, .sums = { .work = 5, .idle = 2, .bill = 7 } });
}

static void add_run(struct store *store, uint64_t key, uint64_t task, uint64_t instance, msec_t at)
{
    store_intent_open(
        store,
        &(struct store_intent){
            .key = key, .kind = STORE_PLACE, .task = task, .instance = instance, .at = at - 1 });
    store_intent_close(store, key, at, STORE_DONE);
}

static void add_due(struct store *store, uint64_t task, const char *user, msec_t at)
{
    store_due(store, &(struct store_due){ .task = task,
                                          .label = "l",
                                          .user = user,
                                          .cost = 10,
                                          .alone_cost = 30,
                                          .ended_at = at });
}

TEST(what_ended_later_comes_first_and_what_ended_before_is_left_out)
{
    struct store_file file;
    struct told told = { "" };

    store_file_make(&file);

    struct store *store = file.store;

    store_begin(store);
    add_machine(store, 1, "a", "spot", 0, 100);
    add_machine(store, 2, "b", "spot", 50, 200);
    add_machine(store, 3, "c", NULL, 60, 300);
    assert_int_equal(store_commit(store, NULL), 0);
    assert_int_equal(store_each_stay(store, 100, 10, take_stay, &told, NULL), 0);
    assert_string_equal(told.text, "c t ? 60-300 7;b t spot 50-200 7;");
    told.text[0] = '\0';
    assert_int_equal(store_each_stay(store, 0, 1, take_stay, &told, NULL), 0);
    assert_string_equal(told.text, "c t ? 60-300 7;");
    store_file_remove(&file);
}

TEST(runs_are_placements_that_began)
{
    struct store_file file;
    struct told told = { "" };

    store_file_make(&file);

    struct store *store = file.store;

    store_begin(store);
    add_run(store, 1, 11, 7, 100);
    add_run(store, 2, 12, 7, 200);
    add_run(store, 3, 13, 8, 300);
    store_intent_open(store,
                      &(struct store_intent){
                          .key = 4, .kind = STORE_PLACE, .task = 14, .instance = 7, .at = 1 });
    store_intent_open(
        store,
        &(struct store_intent){ .key = 5, .kind = STORE_STOP, .task = 11, .instance = 7, .at = 1 });
    store_intent_close(store, 5, 400, STORE_DONE);
    store_intent_open(store,
                      &(struct store_intent){
                          .key = 6, .kind = STORE_PLACE, .task = 15, .instance = 7, .at = 1 });
    store_intent_close(store, 6, 400, STORE_REFUSED);
    add_due(store, 11, "ada", 150);
    assert_int_equal(store_commit(store, NULL), 0);
    assert_int_equal(store_each_run(store, 0, 7, 10, take_run, &told, NULL), 0);
    assert_string_equal(told.text, "12 on 7 at 200 lives -1;11 on 7 at 100 l 150;");
    told.text[0] = '\0';
    assert_int_equal(store_each_run(store, 150, 0, 10, take_run, &told, NULL), 0);
    assert_string_equal(told.text, "13 on 8 at 300 lives -1;12 on 7 at 200 lives -1;");
    store_file_remove(&file);
}

static void take_bound(void *context, const struct store_bound *bound)
{
    add(context, "%" PRId64 ": %" PRId64 " of %" PRId64 ";", bound->at, bound->least, bound->cost);
}

TEST(bounds_come_in_the_order_of_time_and_are_forgotten)
{
    struct store_file file;
    struct told told = { "" };

    store_file_make(&file);

    struct store *store = file.store;

    store_begin(store);
    store_bound(store, &(struct store_bound){ .at = 300, .cost = 9, .least = 8 });
    store_bound(store, &(struct store_bound){ .at = 100, .cost = 5, .least = 3 });
    store_bound(store, &(struct store_bound){ .at = 200, .cost = 6, .least = 4 });
    assert_int_equal(store_commit(store, NULL), 0);
    assert_int_equal(store_each_bound(store, 200, take_bound, &told, NULL), 0);
    assert_string_equal(told.text, "200: 4 of 6;300: 8 of 9;");
    told.text[0] = '\0';
    store_begin(store);
    store_prune(store, 300);
    assert_int_equal(store_commit(store, NULL), 0);
    assert_int_equal(store_each_bound(store, 0, take_bound, &told, NULL), 0);
    assert_string_equal(told.text, "300: 8 of 9;");
    store_file_remove(&file);
}

TEST(users_pay_for_what_ended_since)
{
    struct store_file file;
    struct told told = { "" };

    store_file_make(&file);

    struct store *store = file.store;

    store_begin(store);
    add_due(store, 1, "ada", 100);
    add_due(store, 2, "ada", 200);
    add_due(store, 3, "ada", 300);
    add_due(store, 4, "bob", 300);
    assert_int_equal(store_commit(store, NULL), 0);
    assert_int_equal(store_each_user(store, 200, 10, take_user, &told, NULL), 0);
    assert_string_equal(told.text, "ada 20 of 60 x2;bob 10 of 30 x1;");
    store_file_remove(&file);
}

CHECK_MAIN(RUN(what_ended_later_comes_first_and_what_ended_before_is_left_out),
           RUN(runs_are_placements_that_began),
           RUN(bounds_come_in_the_order_of_time_and_are_forgotten),
           RUN(users_pay_for_what_ended_since))
