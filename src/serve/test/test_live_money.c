/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Money at one instant: status, ledger in every view, the page and the metrics say the same, and it is what the cloud's own
 * log says: the price of each machine times the time since its bill began, and the bills that have ended.
 */
#include <inttypes.h>
#include <jansson.h>

#include "base/test/check.h"
#include "serve/api.h"
#include "serve/live.h"
#include "serve/test/serve_stage.h"
#include "store/store_report.h"

static char *answer(struct serve_stage *stage, const char *path, const char *by)
{
    struct api_request request = { .method = "GET", .path = path, .authorised = true };
    struct api_reply reply;

    if (by != NULL)
        request.arguments[request.argument_count++] = (struct api_argument){ "by", by };
    api_answer(&stage->world, &request, &reply);
    assert_non_null(reply.body);
    assert_int_equal(reply.status, 200);
    return reply.body;
}

/* What the daemon does at the end of a turn: keep what has changed; or only the accounts of machines. */
static void keep(struct serve_stage *stage, bool with_tasks)
{
    const struct view *view = controller_view(stage->controller);
    struct ledger_account account;
    struct ledger_due due;
    uint64_t id = 0;

    store_begin(stage->store);
    while (controller_take_changed_account(stage->controller, &id, &account))
        store_account_set(stage->store, &(struct store_account){ .instance = id,
                                                                 .from = account.from,
                                                                 .until = account.until,
                                                                 .rest = account.rest,
                                                                 .sums = account.sums,
                                                                 .is_ready = account.is_ready });
    while (controller_take_changed_due(stage->controller, &id, &due)) {
        if (with_tasks && view_find_task(view, id) != ROW_NONE)
            store_owed_set(stage->store, &(struct store_due){ .task = id,
                                                              .label = "1",
                                                              .user = "ada",
                                                              .cost = due.cost,
                                                              .occupied_ms = due.occupied_ms });
    }
    assert_int_equal(store_commit(stage->store, NULL), 0);
}

static void keep_books(struct serve_stage *stage)
{
    keep(stage, true);
}

/* By the cloud's log: it knows when each machine began to be billed, and its price. */
static money_t bill_by_cloud(const struct serve_stage *stage)
{
    const struct view *view = controller_view(stage->controller);
    const money_t ended = 60000; /* stage_fill_store */
    money_t sum = ended;

    INSTANCE_EACH(instance, view)
    {
        const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
        const msec_t from = view->instance.billed_from[instance];

        if (from >= 0 && stage->now > from)
            sum += price_at(&offer->price, from) * (stage->now - from) / MSEC_PER_HOUR;
    }
    return sum;
}

static money_t bill_of_status(struct serve_stage *stage)
{
    char *text = answer(stage, "/v1/status", NULL);
    json_t *json = json_loads(text, 0, NULL);
    const money_t bill = json_integer_value(json_object_get(json, "bill_microdollars"));

    json_decref(json);
    free(text);
    return bill;
}

/* The total, which the rows must add up to. */
static money_t bill_of_ledger(struct serve_stage *stage, enum store_by by)
{
    char *text = answer(stage, "/v1/ledger", store_by_word(by));
    json_t *json = json_loads(text, 0, NULL);
    const money_t bill =
        json_integer_value(json_object_get(json_object_get(json, "total"), "bill_microdollars"));
    money_t sum = 0;
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(json, "rows"), i, row) sum +=
        json_integer_value(json_object_get(row, "cost_microdollars"));
    assert_int_equal(sum, bill);
    json_decref(json);
    free(text);
    return bill;
}

static money_t bill_of_metrics(struct serve_stage *stage)
{
    char *text = answer(stage, "/metrics", NULL);
    const char *at = strstr(text, "\nstint_bill_dollars ");
    char whole[32];
    int64_t dollars = 0;
    int64_t micro = 0;

    assert_non_null(at);
    snprintf(whole, sizeof(whole), "%s", at + strlen("\nstint_bill_dollars "));
    assert_int_equal(sscanf(whole, "%" SCNd64 ".%6" SCNd64, &dollars, &micro), 2);
    free(text);
    return dollars * 1000000 + micro;
}

TEST(all_figures_are_of_the_same_instant_and_agree_with_the_cloud)
{
    struct serve_stage stage;

    stage_init(&stage);
    keep_books(&stage);

    const money_t first = bill_by_cloud(&stage);

    for (uint32_t i = 0; i < 50; i++) {
        stage.now += 977 + 13 * (msec_t)i; /* nothing happens; money accrues */

        const money_t bill = bill_by_cloud(&stage);

        assert_int_equal(bill_of_status(&stage), bill);
        assert_int_equal(bill_of_metrics(&stage), bill);
        for (enum store_by by = 0; by < STORE_BYS; by++)
            assert_int_equal(bill_of_ledger(&stage, by), bill);
    }
    assert_true(bill_by_cloud(&stage) > first);
    stage_done(&stage);
}

/* Work that nobody has paid for, by the ledger. */
static money_t unassigned(struct serve_stage *stage)
{
    char *text = answer(stage, "/v1/ledger", store_by_word(STORE_BY_USER));
    json_t *json = json_loads(text, 0, NULL);
    money_t cost = 0;
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "name")), "(unassigned)") == 0)
            cost = json_integer_value(json_object_get(row, "cost_microdollars"));
    }
    json_decref(json);
    free(text);
    return cost;
}

TEST(a_task_that_was_never_booked_owes_as_well)
{
    struct serve_stage stage;
    struct store_totals totals;
    struct store_totals later;
    struct error error;

    stage_init(&stage);
    keep(&stage, false); /* tasks run, and nothing of what they owe is in the store */
    stage.now += 3600000;
    assert_int_equal(serve_totals(&stage.world, &totals, &error), 0);
    assert_true(totals.owed > 0);
    assert_int_equal(unassigned(&stage), totals.work - totals.settled - totals.owed);
    store_begin(stage.store);
    store_owed_set(stage.store, &(struct store_due){ .task = 101, .label = "1", .user = "ada" });
    assert_int_equal(store_commit(stage.store, NULL),
                     0); /* nor does it count twice when it is there */
    assert_int_equal(serve_totals(&stage.world, &later, &error), 0);
    assert_int_equal(later.owed, totals.owed);
    stage_done(&stage);
}

TEST(asking_changes_nothing)
{
    struct serve_stage stage;
    uint64_t id = 0;
    struct ledger_account account;

    stage_init(&stage);
    keep_books(&stage);
    stage.now += 5000;
    (void)bill_of_ledger(&stage, STORE_BY_USER);
    assert_false(controller_take_changed_account(stage.controller, &id, &account));
    stage_done(&stage);
}

CHECK_MAIN(RUN(all_figures_are_of_the_same_instant_and_agree_with_the_cloud),
           RUN(a_task_that_was_never_booked_owes_as_well), RUN(asking_changes_nothing))
