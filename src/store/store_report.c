/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_report.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "store/store_bills.h"
#include "store/store_owed.h"
#include "store/store_payers.h"
#include "store/store_private.h"
#include "store/store_tally.h"

#define MSEC_PER_DAY (24 * MSEC_PER_HOUR)

enum {
    DAY_TEXT = 32,
    MONTH_TEXT = 7,    /* of "2026-11-15" */
    DAYS_MOST = 36525, /* a bill over more than a century is a mistake: it is not split */
    KEY_ROOM = 1024,
};

/* Words. -------------------------------------------------------------------------------------- */

static const char *const by_words[STORE_BYS] = {
    [STORE_BY_USER] = "user",           [STORE_BY_JOB] = "job", [STORE_BY_ACCOUNT] = "account",
    [STORE_BY_PARTITION] = "partition", [STORE_BY_QOS] = "qos", [STORE_BY_TYPE] = "type",
    [STORE_BY_MARKET] = "market",       [STORE_BY_DAY] = "day", [STORE_BY_MONTH] = "month",
};

const char *store_by_word(enum store_by by)
{
    assert(by < STORE_BYS);
    return by_words[by];
}

enum store_by store_by_find(const char *word)
{
    enum store_by by = 0;

    while (by < STORE_BYS && strcmp(word, by_words[by]) != 0)
        by++;
    return by;
}

const char *store_by_words(void)
{
    return "user, job, account, partition, qos, type, market, day or month";
}

bool store_by_payer(enum store_by by)
{
    return by <= STORE_BY_QOS;
}

/* Spans. -------------------------------------------------------------------------------------- */

/* The part of 'whole' that belongs to the first 'part' of 'span'. */
static int64_t share(int64_t whole, int64_t part, int64_t span)
{
    __extension__ typedef __int128 wide_t;

    return (int64_t)((wide_t)whole * part / span);
}

int64_t store_part(int64_t whole, msec_t from, msec_t to, const struct store_period *period)
{
    const msec_t begin = from > period->since ? from : period->since;
    const msec_t end = to < period->until ? to : period->until;

    if (to <= from)
        return from >= period->since && from < period->until ? whole : 0;
    if (begin == from && end == to)
        return whole;
    if (end <= begin)
        return 0;
    return share(whole, end - from, to - from) - share(whole, begin - from, to - from);
}

static bool overlaps(msec_t from, msec_t to, const struct store_period *period)
{
    return period->since < period->until && from < period->until &&
           (to > period->since || (to == from && to >= period->since));
}

static int64_t day_of(msec_t at)
{
    return at >= 0 ? at / MSEC_PER_DAY : -((-at + MSEC_PER_DAY - 1) / MSEC_PER_DAY);
}

/* "2026-11-15", in UTC. */
static void day_text(int64_t number, char ret[DAY_TEXT])
{
    const time_t at = (time_t)(number * (MSEC_PER_DAY / MSEC_PER_SEC));
    struct tm parts;

    if (gmtime_r(&at, &parts) == NULL || strftime(ret, DAY_TEXT, "%Y-%m-%d", &parts) == 0)
        snprintf(ret, DAY_TEXT, "(no day)");
}

/* Rows. --------------------------------------------------------------------------------------- */

static struct store_tally_row *row_of(struct store_tally *report, const char *key, size_t length)
{
    const uint32_t name = names_add(&report->names, key, length);

    if (name == report->count) {
        report->count++;
        MEM_ROOM(report->rows, report->room, report->count);
        report->rows[name] = (struct store_tally_row){ .key = name };
    }
    return &report->rows[name];
}

static const char *or_none(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "(none)";
}

static const char *payer_key(const struct store_payer *payer, enum store_by by, char *buf)
{
    switch (by) {
    case STORE_BY_USER:
        return or_none(payer->user);
    case STORE_BY_ACCOUNT:
        return or_none(payer->account);
    case STORE_BY_PARTITION:
        return or_none(payer->partition);
    case STORE_BY_QOS:
        return or_none(payer->qos);
    case STORE_BY_JOB:
        (void)snprintf(buf, KEY_ROOM, "%s\x1f%s\x1f%s", payer->job != NULL ? payer->job : "",
                       payer->user != NULL ? payer->user : "",
                       payer->job_name != NULL ? payer->job_name : "");
        return buf;
    case STORE_BY_TYPE:
    case STORE_BY_MARKET:
    case STORE_BY_DAY:
    case STORE_BY_MONTH:
    case STORE_BYS:
        break;
    }
    assert(store_by_payer(by));
    return "";
}

/* Returns false if it paid nothing in the period. */
static bool add_to_totals(struct store_tally *report, const struct store_payer *payer)
{
    const struct store_period *period = &report->query->period;

    if (!overlaps(payer->from, payer->to, period))
        return false;
    if (!payer->is_open && payer->from < report->since)
        report->since = payer->from;
    if (!payer->is_open && payer->to > report->until)
        report->until = payer->to;

    const money_t cost = store_part(payer->cost, payer->from, payer->to, period);

    *(payer->is_open ? &report->totals.owed : &report->totals.settled) += cost;
    report->totals.alone += store_part(payer->alone_cost, payer->from, payer->to, period);
    report->totals.tasks += payer->is_open ? 0 : 1;
    report->paid += cost;
    return true;
}

static uint32_t find_row(struct store_tally *report, const struct store_payer *payer)
{
    char buf[KEY_ROOM];
    const char *key = payer_key(payer, report->query->by, buf);

    return row_of(report, key, strlen(key))->key;
}

static void add_to_its_row(const struct store_tally *report, uint32_t row,
                           const struct store_payer *payer)
{
    const struct store_period *period = &report->query->period;
    struct store_tally_row *to = &report->rows[row];

    to->cost += store_part(payer->cost, payer->from, payer->to, period);
    to->alone_cost += store_part(payer->alone_cost, payer->from, payer->to, period);
    to->ms += store_part(payer->occupied_ms, payer->from, payer->to, period);
    to->count++;
}

/* Returns the row, or UINT32_MAX if there is none. */
static uint32_t add_to_report(struct store_tally *report, const struct store_payer *payer)
{
    if (!add_to_totals(report, payer) || !store_by_payer(report->query->by))
        return UINT32_MAX;

    const uint32_t row = find_row(report, payer);

    add_to_its_row(report, row, payer);
    return row;
}

static void add_payer(void *context, const struct store_payer *payer)
{
    (void)add_to_report(context, payer);
}

static void add_to_row(struct store_tally *report, const char *key, size_t length, money_t cost,
                       msec_t ms)
{
    struct store_tally_row *row = row_of(report, key, length);

    row->cost += cost;
    row->ms += ms;
    row->count++;
}

/* One row for each day, or month, that the machine was on the bill in the period. */
static void add_days(struct store_tally *report, const struct store_machine *machine)
{
    const struct store_period *period = &report->query->period;
    const msec_t ms = machine->sums.boot_ms + machine->sums.idle_ms + machine->sums.work_ms;
    const bool by_month = report->query->by == STORE_BY_MONTH;
    int64_t first = day_of(machine->from);
    int64_t last = machine->to > machine->from ? day_of(machine->to - 1) : first;

    if (last - first > DAYS_MOST)
        last = first;
    for (int64_t day = first; day <= last; day++) {
        const msec_t begin = day * MSEC_PER_DAY;
        const bool is_only = last == first;
        struct store_period part = { is_only ? machine->from : begin,
                                     is_only ? INT64_MAX : begin + MSEC_PER_DAY };
        char text[DAY_TEXT];

        part.since = part.since > period->since ? part.since : period->since;
        part.until = part.until < period->until ? part.until : period->until;
        if (!overlaps(machine->from, machine->to, &part))
            continue;
        day_text(day, text);
        add_to_row(report, text, by_month ? MONTH_TEXT : strlen(text),
                   store_part(machine->sums.bill, machine->from, machine->to, &part),
                   store_part(ms, machine->from, machine->to, &part));
    }
}

static void add_totals(struct store_totals *to, const struct store_machine *machine,
                       const struct store_period *period)
{
    const struct ledger_sums *sums = &machine->sums;
    const msec_t from = machine->from;
    const msec_t end = machine->to;
    const money_t bill = store_part(sums->bill, from, end, period);
    const money_t boot = store_part(sums->boot, from, end, period);
    const money_t idle = store_part(sums->idle, from, end, period);

    to->bill += bill;
    to->boot += boot;
    to->idle += idle;
    to->work += bill - boot - idle;
    to->boot_ms += store_part(sums->boot_ms, from, end, period);
    to->idle_ms += store_part(sums->idle_ms, from, end, period);
    to->work_ms += store_part(sums->work_ms, from, end, period);
    to->instances++;
}

/* Where the row of a machine is that no order was written down for: those that are owned were never rented. */
static const char *nameless(const struct store_machine *machine)
{
    return store_machine_is_owned(machine) ? "(owned)" : "(unknown)";
}

static void add_machine(void *context, const struct store_machine *machine)
{
    struct store_tally *report = context;
    const struct store_period *period = &report->query->period;
    const enum store_by by = report->query->by;
    const msec_t ms = machine->sums.boot_ms + machine->sums.idle_ms + machine->sums.work_ms;

    store_note_newest(&report->newest, machine);
    if (!overlaps(machine->from, machine->to, period))
        return;
    add_totals(&report->totals, machine, period);
    if (by == STORE_BY_DAY || by == STORE_BY_MONTH) {
        add_days(report, machine);
    } else if (!store_by_payer(by)) {
        const char *text = by == STORE_BY_TYPE ? machine->type : machine->market;
        const char *key = text != NULL ? text : nameless(machine);

        add_to_row(report, key, strlen(key),
                   store_part(machine->sums.bill, machine->from, machine->to, period),
                   store_part(ms, machine->from, machine->to, period));
    }
}

/* In what order. ------------------------------------------------------------------------------ */

struct sorted {
    struct store_tally_row *row;
    const char *key;
};

static int by_cost(const void *a, const void *b)
{
    const struct sorted *left = a;
    const struct sorted *right = b;

    if (left->row->cost != right->row->cost)
        return left->row->cost > right->row->cost ? -1 : 1;
    return strcmp(left->key, right->key);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct sorted *)a)->key, ((const struct sorted *)b)->key);
}

typedef int (*compare_t)(const void *a, const void *b);

/* 'rows' is a heap with the last in order at its root, which may be out of place. */
static void sift_down(struct sorted *rows, uint32_t count, compare_t compare)
{
    uint32_t at = 0;

    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && compare(&rows[child + 1], &rows[child]) > 0)
            child++;
        if (compare(&rows[child], &rows[at]) <= 0)
            return;

        const struct sorted moved = rows[at];

        rows[at] = rows[child];
        rows[child] = moved;
        at = child;
    }
}

/* The first rows in order, of any that are offered: a heap once it is full. */
struct first_rows {
    struct sorted *rows;
    uint32_t count;
    uint32_t most;
    compare_t compare;
};

static void reverse(struct sorted *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        const struct sorted first = rows[i];

        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = first;
    }
}

/* O(1) for a row that is not among the first, else O(log(most)). */
static void offer_row(struct first_rows *first, struct sorted row)
{
    if (first->count < first->most) {
        first->rows[first->count++] = row;
        if (first->count == first->most) {
            qsort(first->rows, first->count, sizeof(*first->rows), first->compare);
            reverse(first->rows, first->count);
        }
    } else if (first->most > 0 && first->compare(&row, &first->rows[0]) < 0) {
        first->rows[0] = row;
        sift_down(first->rows, first->count, first->compare);
    }
}

/*
 * In proportion to what each has paid, to the micro-dollar. In the order of the names, so that what is lost by
 * rounding falls on the same rows however they were found.
 */
static void apportion(struct store_tally *report, money_t overhead)
{
    struct sorted *sorted = mem_alloc(report->count + 1, sizeof(*sorted));
    money_t before = 0;
    money_t given = 0;

    for (uint32_t i = 0; i < report->count; i++)
        sorted[i] = (struct sorted){ &report->rows[i], names_text(&report->names, i) };
    qsort(sorted, report->count, sizeof(*sorted), by_key);
    for (uint32_t i = 0; i < report->count; i++) {
        struct store_tally_row *row = sorted[i].row;

        before += row->cost;

        const money_t until = share(overhead, before, report->paid);

        row->overhead = until - given;
        row->cost += until - given;
        given = until;
    }
    mem_free(sorted);
}

/* A key of a job is three texts. */
static void show_row(const struct store_tally *report, const struct sorted *sorted,
                     void (*each)(void *context, const struct store_ledger_row *row), void *context)
{
    char text[KEY_ROOM];
    struct store_ledger_row row = {
        .name = sorted->key,
        .cost = sorted->row->cost,
        .overhead = sorted->row->overhead,
        .alone_cost = sorted->row->alone_cost,
        .ms = sorted->row->ms,
        .count = sorted->row->count,
    };

    if (report->query->by == STORE_BY_JOB) {
        (void)snprintf(text, sizeof(text), "%s", sorted->key);

        char *user = strchr(text, '\x1f');
        char *name = user != NULL ? strchr(user + 1, '\x1f') : NULL;

        if (user != NULL && name != NULL) {
            *user = '\0';
            *name = '\0';
            row.name = text;
            row.user = user + 1;
            row.job_name = name + 1;
        }
    }
    each(context, &row);
}

/* The texts of a key are apart by what is in none of them, so that nothing is found across two. */
static bool is_asked_for(const struct store_tally *report, const char *key)
{
    return report->query->name == NULL || strcasestr(key, report->query->name) != NULL;
}

static void add_row(struct store_ledger_row *to, const struct store_tally_row *row, int sign)
{
    to->cost += sign * row->cost;
    to->overhead += sign * row->overhead;
    to->alone_cost += sign * row->alone_cost;
    to->ms += sign * row->ms;
    to->count += (uint64_t)sign * row->count;
}

static void show_rows(const struct store_tally *report,
                      void (*each)(void *context, const struct store_ledger_row *row),
                      void *context)
{
    const bool by_time = report->query->by == STORE_BY_DAY || report->query->by == STORE_BY_MONTH;
    const uint32_t most = report->query->most < report->count ? report->query->most : report->count;
    struct first_rows first = { .rows = mem_alloc((size_t)most + 1, sizeof(*first.rows)),
                                .most = most,
                                .compare = by_time ? by_key : by_cost };
    struct store_ledger_row others = { .name = "(others)" };
    uint32_t count = 0;

    for (uint32_t i = 0; i < report->count; i++) {
        struct store_tally_row *row = &report->rows[i];
        const char *key = names_text(&report->names, i);

        if (row->count == 0 || !is_asked_for(report, key))
            continue;
        add_row(&others, row, 1);
        offer_row(&first, (struct sorted){ row, key });
        count++;
    }
    if (first.count > 0)
        qsort(first.rows, first.count, sizeof(*first.rows), first.compare);
    for (uint32_t i = 0; i < first.count; i++) {
        add_row(&others, first.rows[i].row, -1);
        show_row(report, &first.rows[i], each, context);
    }
    if (count > first.count)
        each(context, &others);
    mem_free(first.rows);
}

/* By payers: what none of them has paid, in rows of its own. */
static void show_rest(const struct store_tally *report, bool is_apportioned,
                      void (*each)(void *context, const struct store_ledger_row *row),
                      void *context)
{
    const struct store_totals *totals = &report->totals;
    const struct store_ledger_row idle = {
        .name = "(idle and boot)",
        .cost = totals->boot + totals->idle,
        .ms = totals->boot_ms + totals->idle_ms,
        .count = totals->instances,
    };
    const struct store_ledger_row unassigned = {
        .name = "(unassigned)",
        .cost = totals->work - report->paid,
    };

    if (!is_apportioned && is_asked_for(report, idle.name))
        each(context, &idle);
    if (unassigned.cost != 0 && is_asked_for(report, unassigned.name))
        each(context, &unassigned);
}

/* What ended tasks paid, from one question to the next. -------------------------------------------- */

static const struct store_query tally_query[STORE_PAYER_BYS] = {
    [STORE_BY_USER] = { .by = STORE_BY_USER, .period = { INT64_MIN, INT64_MAX } },
    [STORE_BY_JOB] = { .by = STORE_BY_JOB, .period = { INT64_MIN, INT64_MAX } },
    [STORE_BY_ACCOUNT] = { .by = STORE_BY_ACCOUNT, .period = { INT64_MIN, INT64_MAX } },
    [STORE_BY_PARTITION] = { .by = STORE_BY_PARTITION, .period = { INT64_MIN, INT64_MAX } },
    [STORE_BY_QOS] = { .by = STORE_BY_QOS, .period = { INT64_MIN, INT64_MAX } },
};

struct filling {
    struct store *store;
    bool found;
};

static void add_to_tallies(void *context, const struct store_payer *payer)
{
    struct filling *filling = context;
    struct store_span span = { .from = payer->from,
                               .to = payer->to,
                               .cost = payer->cost,
                               .alone_cost = payer->alone_cost,
                               .ms = payer->occupied_ms };

    filling->found = true;
    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++) {
        struct store_tally *tally = filling->store->tally[by];

        if (tally != NULL && tally->count <= STORE_TALLY_ROWS)
            span.row[by] = add_to_report(tally, payer);
    }
    store_tally_span(filling->store, &span);
}

/*
 * The tasks that ended since the last question, into what is there. While a commit is under way, those of
 * the commit are in the file together or not at all: the first tells.
 */
static int add_ended(struct store *store, struct error *reterr)
{
    struct filling filling = { .store = store };
    uint32_t added = 0;
    int rc = 0;

    while (added < store->ended_count && rc == 0) {
        filling.found = false;
        rc = store_each_due(STORE_ASK(store, SQL_PAYER_ENDED, STORE_NUMBER(store->ended[added])),
                            NULL, 0, add_to_tallies, &filling, reterr);
        if (!filling.found && store->commit != NULL)
            break;
        added++;
    }
    if (rc < 0) {
        store_tally_drop(store);
        return rc;
    }
    store_tally_added(store, added);
    store_tally_trim(store);
    return 0;
}

/* Only where it will be found. */
static void note_open(void *context, const struct store_payer *payer)
{
    struct filling *filling = context;

    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++) {
        struct store_tally *tally = filling->store->tally[by];

        if (tally != NULL && tally->count <= STORE_TALLY_ROWS)
            map_put(&tally->open, payer->task, find_row(tally, payer));
    }
}

/* All that are not too long, in one pass over the file. */
static int make_tallies(struct store *store, struct error *reterr)
{
    struct filling filling = { .store = store };

    store_tally_begin(store);
    for (enum store_by by = 0; by < STORE_PAYER_BYS; by++) {
        if (store->is_too_long[by])
            continue;
        store->tally[by] = mem_alloc(1, sizeof(struct store_tally));
        store->tally[by]->query = &tally_query[by];
        store->tally[by]->since = INT64_MAX;
        store->tally[by]->until = INT64_MIN;
        names_init(&store->tally[by]->names);
    }

    int rc = store_each_due(store_ask(store, SQL_PAYERS_ENDED, NULL, 0), NULL, 0, add_to_tallies,
                            &filling, reterr);

    if (rc == 0)
        rc = store_each_due(store_ask(store, SQL_PAYERS_OPEN, NULL, 0), NULL, 0, note_open,
                            &filling, reterr);
    if (rc < 0)
        store_tally_drop(store);
    else
        store_tally_trim(store);
    return rc;
}

static void ignore(void *context, const struct store_machine *machine)
{
    (void)context;
    (void)machine;
}

int store_warm(struct store *store, struct error *reterr)
{
    assert(store->commit == NULL && !store->dirty);

    const struct store_owed *owed = NULL;
    int rc = make_tallies(store, reterr);

    if (rc == 0)
        rc = store_owed_all(store, &owed, reterr);
    return rc < 0 ? rc : store_each_billed(store, ignore, NULL, reterr);
}

/*
 * Which tally has the ended tasks of the question; STORE_BYS: none, they are read. A tally is of this process's own
 * writes.
 */
static enum store_by tally_for(const struct store *store, const struct store_query *query)
{
    const enum store_by by = store_by_payer(query->by) ? query->by : STORE_BY_USER;

    if (store->lock < 0)
        return STORE_BYS;
    if (store->commit == NULL)
        return store->dirty ? STORE_BYS : by;
    return store->tally[by] != NULL ? by : STORE_BYS;
}

/* Whether all that ended lies in the period: then a part of time is the whole. */
static bool has_all(const struct store_period *period, const struct store_tally *tally)
{
    return tally->since > tally->until ||
           (period->since <= tally->since && tally->until < period->until);
}

/* The tally of the question, as the file is now; STORE_BYS: there is none. */
static int ready_tally(struct store *store, const struct store_query *query, enum store_by *ret,
                       struct error *reterr)
{
    const enum store_by by = tally_for(store, query);
    int rc = 0;

    *ret = STORE_BYS;
    if (by == STORE_BYS)
        return 0;
    rc = add_ended(store, reterr);
    if (rc == 0 && store->tally[by] == NULL && !store->is_too_long[by] && store->commit == NULL)
        rc = make_tallies(store, reterr);
    if (rc == 0 && store->tally[by] != NULL &&
        (store->has_spans || has_all(&query->period, store->tally[by])))
        *ret = by;
    return rc;
}

/* The names of the tally are lent until give_names, with its rows or with rows of nothing. */
static void lend_names(struct store_tally *report, const struct store_tally *tally, bool with_rows)
{
    names_done(&report->names);
    report->names = tally->names;
    report->count = report->room = tally->count;
    if (with_rows) {
        report->rows = mem_copy(tally->rows, tally->count, tally->count, sizeof(*report->rows));
        return;
    }
    report->rows = mem_alloc(tally->count + 1, sizeof(*report->rows));
    for (uint32_t i = 0; i < tally->count; i++)
        report->rows[i].key = i;
}

/* Begin with what ended tasks paid. */
static void begin_with_all(struct store_tally *report, const struct store_tally *tally)
{
    report->totals.settled = tally->totals.settled;
    report->totals.alone = tally->totals.alone;
    report->totals.tasks = tally->totals.tasks;
    report->paid = tally->paid;
}

/* What add_to_report() does, without the texts. */
static void add_span(struct store_tally *report, const struct store_span *span)
{
    const struct store_period *period = &report->query->period;

    if (!overlaps(span->from, span->to, period))
        return;

    const money_t cost = store_part(span->cost, span->from, span->to, period);
    const money_t alone_cost = store_part(span->alone_cost, span->from, span->to, period);

    report->totals.settled += cost;
    report->totals.alone += alone_cost;
    report->totals.tasks++;
    report->paid += cost;
    if (!store_by_payer(report->query->by))
        return;

    struct store_tally_row *row = &report->rows[span->row[report->query->by]];

    row->cost += cost;
    row->alone_cost += alone_cost;
    row->ms += store_part(span->ms, span->from, span->to, period);
    row->count++;
}

/* Begin with what ended tasks paid in the period. */
static void begin_with(struct store_tally *report, const struct store *store,
                       const struct store_tally *tally)
{
    const bool is_all = has_all(&report->query->period, tally);

    if (store_by_payer(report->query->by))
        lend_names(report, tally, is_all);
    if (is_all) {
        begin_with_all(report, tally);
        return;
    }
    for (uint32_t i = 0; i < store->span_count; i++)
        add_span(report, &store->spans[i]);
}

/* A name that only open tasks have is a row of no tasks in the tally. */
static void give_names(struct store_tally *report, struct store_tally *tally)
{
    if (!store_by_payer(report->query->by))
        return;
    tally->names = report->names;
    names_init(&report->names);
    MEM_ROOM(tally->rows, tally->room, report->count);
    for (; tally->count < report->count; tally->count++)
        tally->rows[tally->count] = (struct store_tally_row){ .key = tally->count };
}

static void show(struct store_tally *report,
                 void (*each)(void *context, const struct store_ledger_row *row), void *context)
{
    const bool by_payer = store_by_payer(report->query->by);
    const bool is_apportioned = by_payer && report->query->is_apportioned && report->paid > 0;

    if (is_apportioned)
        apportion(report, report->totals.boot + report->totals.idle);
    show_rows(report, each, context);
    if (by_payer)
        show_rest(report, is_apportioned, each, context);
}

/* Whether tasks are better read one after the other than by when they ended, as far as one can tell: the period has more than a
 * third of the time in which any ended. Looked up one by one, they take twice as long. */
static bool has_much(const struct store *store, msec_t since)
{
    const struct store_tally *tally = store->tally[STORE_BY_USER];

    return tally != NULL && tally->since <= tally->until &&
           since < tally->until - (tally->until - tally->since) / 3;
}

static struct store_question ask_payers(struct store *store, msec_t since)
{
    if (since == INT64_MIN || has_much(store, since))
        return store_ask(store, SQL_PAYERS, NULL, 0);
    return STORE_ASK(store, SQL_PAYERS_SINCE, STORE_NUMBER(since));
}

/* What has not ended, into a report that begins with a tally. */
struct opening {
    struct store *store;
    struct store_tally *report;
    struct store_tally *tally;
    uint32_t row;
    int rc;
    struct error *reterr;
};

static void note_row(void *context, const struct store_payer *payer)
{
    struct opening *opening = context;

    opening->row = find_row(opening->report, payer);
}

/* While a commit is under way, who pays may change with it: the row is not kept. */
static uint32_t read_row(struct opening *opening, uint64_t task)
{
    opening->row = UINT32_MAX;
    opening->rc = store_each_due(STORE_ASK(opening->store, SQL_PAYER_OPEN, STORE_NUMBER(task)),
                                 NULL, 0, note_row, opening, opening->reterr);
    if (opening->row != UINT32_MAX && opening->store->commit == NULL)
        map_put(&opening->tally->open, task, opening->row);
    return opening->row;
}

static void add_open(void *context, uint64_t task, const struct ledger_due *due)
{
    struct opening *opening = context;
    struct store_tally *report = opening->report;
    const struct store_payer payer = { .cost = due->cost,
                                       .occupied_ms = due->occupied_ms,
                                       .from = report->newest - due->occupied_ms,
                                       .to = report->newest,
                                       .is_open = true };

    if (opening->rc < 0 || !add_to_totals(report, &payer) || !store_by_payer(report->query->by))
        return;

    uint32_t row = map_get(&opening->tally->open, task);

    if (row == MAP_NONE)
        row = read_row(opening, task);
    assert(row != UINT32_MAX || opening->rc < 0);
    if (opening->rc == 0)
        add_to_its_row(report, row, &payer);
}

static void add_fresh(void *context, const struct store_payer *payer)
{
    const struct opening *opening = context;

    (void)add_to_report(opening->report, payer);
}

static int add_opened(struct store *store, struct store_tally *report, struct store_tally *tally,
                      struct error *reterr)
{
    struct opening opening = { .store = store, .report = report, .tally = tally, .reterr = reterr };
    const int rc =
        store_each_open(store, report->query->live, add_open, add_fresh, &opening, reterr);

    return rc < 0 ? rc : opening.rc;
}

static int fill_report(struct store *store, struct store_tally *report, enum store_by *tally,
                       struct error *reterr)
{
    const struct store_query *query = report->query;
    int rc = ready_tally(store, query, tally, reterr);

    if (rc == 0 && *tally != STORE_BYS)
        begin_with(report, store, store->tally[*tally]);
    if (rc == 0)
        rc = store_each_billed(store, add_machine, report, reterr);
    if (rc == 0)
        rc = store_read_machines(store_ask(store, SQL_MACHINES_OPEN, NULL, 0), query->live,
                                 add_machine, report, reterr);
    if (rc == 0 && *tally != STORE_BYS)
        rc = add_opened(store, report, store->tally[*tally], reterr);
    else if (rc == 0)
        rc = store_each_due(ask_payers(store, query->period.since), query->live, report->newest,
                            add_payer, report, reterr);
    return rc;
}

int store_report(struct store *store, const struct store_query *query,
                 void (*each)(void *context, const struct store_ledger_row *row), void *context,
                 struct store_totals *ret, struct error *reterr)
{
    struct store_tally report = { .query = query, .since = INT64_MAX, .until = INT64_MIN };
    enum store_by tally = STORE_BYS;
    int rc = store_hold(store, SQL_HOLD, reterr);

    names_init(&report.names);
    if (rc == 0) {
        rc = fill_report(store, &report, &tally, reterr);
        (void)store_hold(store, SQL_COMMIT, NULL);
    }
    if (rc == 0)
        show(&report, each, context);
    if (rc == 0 && ret != NULL) {
        *ret = report.totals;
        ret->committed = query->period.until == INT64_MAX ? store_committed(query->live) : 0;
    }
    if (tally != STORE_BYS) {
        give_names(&report, store->tally[tally]);
        store_tally_trim(store);
    }
    names_done(&report.names);
    mem_free(report.rows);
    return rc;
}

int store_ledger(struct store *store, enum store_by by, uint32_t most,
                 void (*each)(void *context, const struct store_ledger_row *row), void *context,
                 struct error *reterr)
{
    return store_report(store,
                        &(struct store_query){ .by = by, .period = STORE_ALWAYS, .most = most },
                        each, context, NULL, reterr);
}

int store_open_books(const char *path, struct store **ret, struct error *reterr)
{
    int rc = store_open_reader(path, ret, reterr);

    if (rc < 0)
        return rc;

    struct store_question ask = store_ask(*ret, SQL_PAYERS, NULL, 0);

    /* A file from before payers were noted has no such table. */
    if (store_asked(&ask, NULL) < 0)
        (void)store_exec(*ret,
                         "CREATE TEMP TABLE payer(task INTEGER PRIMARY KEY,account TEXT,"
                         "partition TEXT,qos TEXT)",
                         NULL);
    rc = store_read_sums(*ret, reterr);
    if (rc < 0) {
        (void)error_prefix(reterr, rc, path);
        store_close(*ret);
        *ret = NULL;
    }
    return rc;
}
