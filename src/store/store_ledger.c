/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the books add up to. All there is: B = sum of bills and accounts = boot + idle + work.
 *
 *     by type, by day    each bill and account is in one row (or split among days): the sum is B
 *     by user, by job    dues and what is owed, "(idle and boot)", and "(unassigned)", which is B
 *                        less the others: zero unless a crash lost what a task owed
 */
#include "store/store_private.h"

#include <assert.h>
#include <errno.h>

#include "base/map.h"
#include "base/mem.h"

#define MSEC_PER_DAY (24 * MSEC_PER_HOUR)

enum {
    DAY_TEXT = 32,
    DAYS_MOST = 36525, /* a bill over more than a century is somebody's mistake: it is not split */
};

struct sink {
    void (*each)(void *context, const struct store_ledger_row *row);
    void *context;
    uint32_t left; /* rows that may still be shown */
    struct store_ledger_row others;
    uint64_t other_rows;
    money_t sum;
};

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

int store_totals(struct store *store, struct store_totals *ret, struct error *reterr)
{
    const struct store_sums *sums = store->commit != NULL ? &store->kept_sums : &store->sums;
    const struct ledger_sums *bills = &sums->bills;
    struct ledger_sums open = { .bill = 0 };
    struct store_totals totals = { .instances = sums->bill_count };
    struct store_question ask = store_ask(store, SQL_TOTAL_ACCOUNTS, NULL, 0);

    if (store_row(&ask)) {
        open = read_sums(&ask);
        totals.instances += (uint64_t)store_number(&ask, 6);
    }

    int error = store_asked(&ask, reterr);

    if (error < 0)
        return error;
    ask = store_ask(store, SQL_TOTAL_OWED, NULL, 0);
    if (store_row(&ask))
        totals.owed = store_number(&ask, 0);
    error = store_asked(&ask, reterr);
    if (error < 0)
        return error;
    totals.boot = bills->boot + open.boot;
    totals.idle = bills->idle + open.idle;
    totals.work = bills->work + open.work;
    totals.bill = bills->bill + open.bill;
    totals.boot_ms = bills->boot_ms + open.boot_ms;
    totals.idle_ms = bills->idle_ms + open.idle_ms;
    totals.work_ms = bills->work_ms + open.work_ms;
    totals.settled = sums->dues;
    totals.alone = sums->alone;
    totals.tasks = sums->due_count;
    *ret = totals;
    return 0;
}

money_t store_savings(const struct store_totals *totals)
{
    return totals->alone - (totals->bill - totals->owed);
}

const char *store_by_word(enum store_by by)
{
    static const char *const word[STORE_BYS] = { "user", "job", "type", "day" };

    assert(by < STORE_BYS);
    return word[by];
}

static void show(struct sink *sink, const struct store_ledger_row *row)
{
    sink->sum += row->cost;
    if (sink->left > 0) {
        sink->left--;
        sink->each(sink->context, row);
        return;
    }
    sink->other_rows++;
    sink->others.cost += row->cost;
    sink->others.alone_cost += row->alone_cost;
    sink->others.ms += row->ms;
    sink->others.count += row->count;
}

static void show_others(struct sink *sink)
{
    sink->others.name = "(others)";
    if (sink->other_rows > 0)
        sink->each(sink->context, &sink->others);
}

static int show_rows(struct store *store, enum store_statement statement, struct sink *sink,
                     struct error *reterr)
{
    struct store_question ask = store_ask(store, statement, NULL, 0);

    while (store_row(&ask)) {
        const struct store_ledger_row row = {
            .name = store_text(&ask, 0),
            .user = store_text(&ask, 1),
            .job_name = store_text(&ask, 2),
            .cost = store_number(&ask, 3),
            .alone_cost = store_number(&ask, 4),
            .ms = store_number(&ask, 5),
            .count = (uint64_t)store_number(&ask, 6),
        };

        show(sink, &row);
    }

    const int error = store_asked(&ask, reterr);

    if (error == 0)
        show_others(sink);
    return error;
}

/* By user or job: what nobody pays, in rows of its own. */
static int show_rest(struct store *store, const struct sink *sink, struct error *reterr)
{
    struct store_totals totals = { .bill = 0 };
    const int error = store_totals(store, &totals, reterr);

    if (error < 0)
        return error;

    const struct store_ledger_row idle = {
        .name = "(idle and boot)",
        .cost = totals.boot + totals.idle,
        .ms = totals.boot_ms + totals.idle_ms,
        .count = totals.instances,
    };
    const struct store_ledger_row unassigned = {
        .name = "(unassigned)",
        .cost = totals.work - sink->sum,
    };

    sink->each(sink->context, &idle);
    if (unassigned.cost != 0)
        sink->each(sink->context, &unassigned);
    return 0;
}

/* Days. --------------------------------------------------------------------------------------- */

struct day {
    int64_t number; /* since 1970 */
    money_t cost;
    msec_t ms;
    uint64_t count;
};

struct days {
    struct day *rows;
    uint32_t count;
    uint32_t room;
    struct map by_number;
};

static int64_t day_of(msec_t at)
{
    return at >= 0 ? at / MSEC_PER_DAY : -((-at + MSEC_PER_DAY - 1) / MSEC_PER_DAY);
}

static void add_to_day(struct days *days, int64_t number, money_t cost, msec_t ms)
{
    uint32_t row = map_get(&days->by_number, (uint64_t)number);

    if (row == MAP_NONE) {
        row = days->count++;
        MEM_ROOM(days->rows, days->room, days->count);
        days->rows[row] = (struct day){ .number = number };
        map_put(&days->by_number, (uint64_t)number, row);
    }
    days->rows[row].cost += cost;
    days->rows[row].ms += ms;
    days->rows[row].count++;
}

/* The part of 'whole' that belongs to the first 'part' of 'span'. */
static int64_t share(int64_t whole, msec_t part, msec_t span)
{
    __extension__ typedef __int128 wide_t;

    return (int64_t)((wide_t)whole * part / span);
}

/* Borders are rounded, and a day has what lies between two of them: the days add up. */
static void add_span(struct days *days, msec_t from, msec_t to, money_t cost, msec_t ms)
{
    const int64_t first = day_of(from);
    const int64_t last = to > from ? day_of(to - 1) : first;
    money_t cost_before = 0;
    msec_t ms_before = 0;

    if (last == first || last - first > DAYS_MOST) {
        add_to_day(days, first, cost, ms);
        return;
    }
    for (int64_t day = first; day <= last; day++) {
        const msec_t end = day == last ? to : (day + 1) * MSEC_PER_DAY;
        const money_t cost_until = share(cost, end - from, to - from);
        const msec_t ms_until = share(ms, end - from, to - from);

        add_to_day(days, day, cost_until - cost_before, ms_until - ms_before);
        cost_before = cost_until;
        ms_before = ms_until;
    }
}

static int by_number(const void *a, const void *b)
{
    const struct day *left = a;
    const struct day *right = b;

    return (left->number > right->number) - (left->number < right->number);
}

/* "2026-11-15", in UTC. */
static void day_text(int64_t number, char ret[DAY_TEXT])
{
    const time_t at = (time_t)(number * (MSEC_PER_DAY / MSEC_PER_SEC));
    struct tm parts;

    if (gmtime_r(&at, &parts) == NULL || strftime(ret, DAY_TEXT, "%Y-%m-%d", &parts) == 0)
        snprintf(ret, DAY_TEXT, "(no day)");
}

static int show_days(struct store *store, struct sink *sink, struct error *reterr)
{
    struct days days = { .rows = NULL };
    struct store_question ask = store_ask(store, SQL_SPANS, NULL, 0);
    char text[DAY_TEXT];

    map_init(&days.by_number);
    while (store_row(&ask))
        add_span(&days, store_number(&ask, 0), store_number(&ask, 1), store_number(&ask, 2),
                 store_number(&ask, 3));

    const int error = store_asked(&ask, reterr);

    if (days.count > 0)
        qsort(days.rows, days.count, sizeof(*days.rows), by_number);
    for (uint32_t i = 0; error == 0 && i < days.count; i++) {
        const struct day *day = &days.rows[i];

        day_text(day->number, text);
        show(sink, &(struct store_ledger_row){
                       .name = text, .cost = day->cost, .ms = day->ms, .count = day->count });
    }
    if (error == 0)
        show_others(sink);
    map_done(&days.by_number);
    mem_free(days.rows);
    return error;
}

int store_ledger(struct store *store, enum store_by by, uint32_t most,
                 void (*each)(void *context, const struct store_ledger_row *row), void *context,
                 struct error *reterr)
{
    struct sink sink = { .each = each, .context = context, .left = most };
    int error = 0;

    switch (by) {
    case STORE_BY_USER:
    case STORE_BY_JOB:
        error = show_rows(store, by == STORE_BY_USER ? SQL_BY_USER : SQL_BY_JOB, &sink, reterr);
        return error < 0 ? error : show_rest(store, &sink, reterr);
    case STORE_BY_TYPE:
        return show_rows(store, SQL_BY_TYPE, &sink, reterr);
    case STORE_BY_DAY:
        return show_days(store, &sink, reterr);
    case STORE_BYS:
        break;
    }
    assert(by < STORE_BYS);
    return -EINVAL;
}
