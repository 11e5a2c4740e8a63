/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has ended adds up to, in memory; store_report.c has the totals and the rows.
 */
#include "store/store_private.h"

static struct ledger_sums read_sums(const struct store_question *ask)
{
    struct ledger_sums sums = {
        .boot = store_number(ask, 0),
        .idle = store_number(ask, 1),
        .work = store_number(ask, 2),
        .boot_ms = store_number(ask, 3),
        .idle_ms = store_number(ask, 4),
        .work_ms = store_number(ask, 5),
    };

    sums.bill = sums.boot + sums.idle + sums.work;
    return sums;
}

int store_read_sums(struct store *store, struct error *reterr)
{
    struct store_question ask = store_ask(store, SQL_TOTAL_BILLS, NULL, 0);

    if (store_row(&ask)) {
        store->sums.bills = read_sums(&ask);
        store->sums.bill_count = (uint64_t)store_number(&ask, 6);
    }

    const int error = store_asked(&ask, reterr);

    if (error < 0)
        return error;
    ask = store_ask(store, SQL_TOTAL_DUES, NULL, 0);
    if (store_row(&ask)) {
        store->sums.dues = store_number(&ask, 0);
        store->sums.alone = store_number(&ask, 1);
        store->sums.due_count = (uint64_t)store_number(&ask, 2);
    }
    return store_asked(&ask, reterr);
}

money_t store_savings(const struct store_totals *totals)
{
    return totals->alone - (totals->bill - totals->owed + totals->committed);
}
