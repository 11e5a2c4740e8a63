/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_history.h"

#include "store/store_private.h"

static struct ledger_bill read_bill(const struct store_question *ask, int column)
{
    struct ledger_bill bill = {
        .from = store_number(ask, column),
        .to = store_number(ask, column + 1),
        .sums = {
            .boot = store_number(ask, column + 2),
            .idle = store_number(ask, column + 3),
            .work = store_number(ask, column + 4),
            .boot_ms = store_number(ask, column + 5),
            .idle_ms = store_number(ask, column + 6),
            .work_ms = store_number(ask, column + 7),
        },
    };

    bill.sums.bill = bill.sums.boot + bill.sums.idle + bill.sums.work;
    return bill;
}

int store_each_stay(struct store *store, msec_t since, uint32_t most,
                    void (*each)(void *context, const struct store_stay *stay), void *context,
                    struct error *reterr)
{
    struct store_question ask =
        STORE_ASK(store, SQL_STAY_EACH, STORE_NUMBER(since), STORE_NUMBER(most));

    while (store_row(&ask)) {
        const struct store_stay stay = {
            .instance = (uint64_t)store_number(&ask, 0),
            .name = store_text(&ask, 1),
            .type = store_text(&ask, 2),
            .zone = store_text(&ask, 3),
            .market = store_text(&ask, 4),
            .bill = read_bill(&ask, 5),
        };

        each(context, &stay);
    }
    return store_asked(&ask, reterr);
}

int store_each_bound(struct store *store, msec_t since,
                     void (*each)(void *context, const struct store_bound *bound), void *context,
                     struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_BOUND_EACH, STORE_NUMBER(since));

    while (store_row(&ask)) {
        const struct store_bound bound = {
            .at = store_number(&ask, 0),
            .cost = store_number(&ask, 1),
            .least = store_number(&ask, 2),
        };

        each(context, &bound);
    }
    return store_asked(&ask, reterr);
}

int store_each_run(struct store *store, msec_t since, uint64_t instance, uint32_t most,
                   void (*each)(void *context, const struct store_run *run), void *context,
                   struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_RUN_EACH, STORE_NUMBER(since),
                                          STORE_NUMBER(instance), STORE_NUMBER(most));

    while (store_row(&ask)) {
        const struct store_run run = {
            .task = (uint64_t)store_number(&ask, 0),
            .instance = (uint64_t)store_number(&ask, 1),
            .began_at = store_number(&ask, 2),
            .label = store_text(&ask, 3),
            .name = store_text(&ask, 4),
            .user = store_text(&ask, 5),
            .ended_at = store_text(&ask, 3) != NULL ? store_number(&ask, 6) : -1,
        };

        each(context, &run);
    }
    return store_asked(&ask, reterr);
}

int store_each_user(struct store *store, msec_t since, uint32_t most,
                    void (*each)(void *context, const struct store_ledger_row *row), void *context,
                    struct error *reterr)
{
    struct store_question ask =
        STORE_ASK(store, SQL_USER_SINCE, STORE_NUMBER(since), STORE_NUMBER(most));

    while (store_row(&ask)) {
        const struct store_ledger_row row = {
            .name = store_text(&ask, 0),
            .cost = store_number(&ask, 1),
            .alone_cost = store_number(&ask, 2),
            .ms = store_number(&ask, 3),
            .count = (uint64_t)store_number(&ask, 4),
        };

        each(context, &row);
    }
    return store_asked(&ask, reterr);
}
