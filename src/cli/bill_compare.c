/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bill_compare.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "control/ports/engine_port.h"

#define MSEC_PER_DAY (24 * MSEC_PER_HOUR)

static const struct {
    const char *word;
    const char *text;
} causes[RECONCILE_CAUSES] = {
    [CAUSE_ROUNDING] = { "rounding", "rounding" },
    [CAUSE_MISSING_TAG] = { "missing-tag", "machines of ours without the tag stint:cluster" },
    [CAUSE_UNKNOWN_RESOURCE] = { "unknown-resource", "machines with our tag, not in the books" },
    [CAUSE_OTHER_REGION] = { "other-region", "machines with our tag in another region" },
    [CAUSE_NOT_BILLED] = { "not-billed", "in the books, not (yet) on the bill" },
    [CAUSE_PRICE] = { "price", "another price for the same time" },
    [CAUSE_TIME] = { "time", "another time at the same price" },
    [CAUSE_OTHER_SERVICE] = { "other-service", "disks, addresses, traffic and other services" },
    [CAUSE_CREDIT] = { "credit", "credits, refunds and discounts" },
    [CAUSE_TAX] = { "tax", "taxes" },
    [CAUSE_FEE] = { "fee", "purchases, fees and adjustments" },
};

const char *reconcile_cause_text(enum reconcile_cause cause)
{
    assert(cause < RECONCILE_CAUSES);
    return causes[cause].text;
}

const char *reconcile_cause_word(enum reconcile_cause cause)
{
    assert(cause < RECONCILE_CAUSES);
    return causes[cause].word;
}

/* One type on one day. */
struct cell {
    money_t ledger;
    msec_t ledger_ms;
    money_t billed; /* with our tag */
    msec_t billed_ms;
    money_t untagged;
    msec_t untagged_ms;
    money_t slack; /* what rounding may amount to */
    uint64_t untagged_lines;
};

struct work {
    const struct bill *bill;
    const char *region;
    uint32_t cluster; /* in the bill's words; NAME_NONE: no line has it */
    struct reconciliation *to;
    struct names types;   /* of the books */
    struct map instances; /* of the books, by key */
    uint32_t *type_of;    /* by the bill's words; NAME_NONE: no type of the books */
    struct map cell_of;   /* by type and day */
    struct cell *cells;
    uint32_t count;
    uint32_t room;
};

static struct cell *cell_at(struct work *work, uint32_t type, msec_t at)
{
    const uint64_t key = (uint64_t)type << 32 | (uint64_t)(at / MSEC_PER_DAY);
    uint32_t row = map_get(&work->cell_of, key);

    if (row == MAP_NONE) {
        row = work->count++;
        MEM_ROOM(work->cells, work->room, work->count);
        work->cells[row] = (struct cell){ .ledger = 0 };
        map_put(&work->cell_of, key, row);
    }
    return &work->cells[row];
}

/* The books. ---------------------------------------------------------------------------------- */

static uint32_t type_number(struct work *work, const char *type)
{
    const char *text = type != NULL ? type : "unknown";

    return names_add(&work->types, text, strlen(text));
}

static void note_machine(void *context, const struct store_machine *machine)
{
    struct work *work = context;

    if (store_machine_is_owned(machine))
        return;
    (void)type_number(work, machine->type);
    map_put(&work->instances, machine->id, 0);
}

/* A second of each machine: bills are cut at whole ones. */
static void add_machine(void *context, const struct store_machine *machine)
{
    struct work *work = context;

    if (store_machine_is_owned(machine))
        return;

    const struct store_period *period = &work->to->period;
    const uint32_t type = type_number(work, machine->type);
    const msec_t from = machine->from > period->since ? machine->from : period->since;
    const msec_t to = machine->to < period->until ? machine->to : period->until;
    const msec_t paid = machine->sums.boot_ms + machine->sums.idle_ms + machine->sums.work_ms;

    for (msec_t begin = from; begin < to;) {
        const msec_t next = (begin / MSEC_PER_DAY + 1) * MSEC_PER_DAY;
        const struct store_period day = { begin, next < to ? next : to };
        const money_t cost = store_part(machine->sums.bill, machine->from, machine->to, &day);
        const msec_t ms = store_part(paid, machine->from, machine->to, &day);
        struct cell *cell = cell_at(work, type, begin);

        cell->ledger += cost;
        cell->ledger_ms += ms;
        cell->slack += money_for(machine->per_hour, MSEC_PER_SEC) + 1;
        work->to->ledger += cost;
        work->to->forecast += money_for(machine->per_hour, ms);
        begin = next;
    }
}

/* The bill. ----------------------------------------------------------------------------------- */

static bool is_part_of_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '.' || letter == '-';
}

/* Whether 'word' stands in the text by itself. */
static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == text || !is_part_of_word(at[-1])) && !is_part_of_word(at[length]))
            return true;
    }
    return false;
}

static uint32_t type_in(const struct work *work, const char *text)
{
    for (uint32_t i = 0; i < work->types.count; i++) {
        if (has_word(text, names_text(&work->types, i)))
            return i;
    }
    return NAME_NONE;
}

static void find_types(struct work *work)
{
    const struct names *words = &work->bill->words;

    work->type_of = mem_alloc(words->count + 1, sizeof(*work->type_of));
    for (uint32_t i = 0; i < words->count; i++)
        work->type_of[i] = type_in(work, names_text(words, i));
}

static bool is_elsewhere(const struct work *work, const struct bill_line *line)
{
    return work->region != NULL && line->region != NAME_NONE &&
           strcmp(names_text(&work->bill->words, line->region), work->region) != 0;
}

/* Half of the last digit. */
static money_t half_digit(uint8_t digits)
{
    money_t unit = 1000000;

    for (uint8_t i = 0; i < digits && unit > 0; i++)
        unit /= 10;
    return unit / 2 + 1;
}

static void charge(struct work *work, enum reconcile_cause cause, money_t cost)
{
    work->to->cause[cause] += cost;
    work->to->lines[cause]++;
}

static uint32_t type_of_line(const struct work *work, const struct bill_line *line)
{
    return line->what != NAME_NONE ? work->type_of[line->what] : NAME_NONE;
}

static void add_ours(struct work *work, const struct bill_line *line)
{
    const uint32_t type = type_of_line(work, line);

    if (line->key >= OWNED_ID_FIRST) /* of our own export: no cloud bills an owned node */
        return;
    work->to->bill += line->cost;
    work->to->ours++;
    if (line->kind == BILL_CREDIT)
        charge(work, CAUSE_CREDIT, line->cost);
    else if (line->kind == BILL_TAX)
        charge(work, CAUSE_TAX, line->cost);
    else if (line->kind == BILL_FEE)
        charge(work, CAUSE_FEE, line->cost);
    else if (!line->is_machine)
        charge(work, CAUSE_OTHER_SERVICE, line->cost);
    else if (is_elsewhere(work, line))
        charge(work, CAUSE_OTHER_REGION, line->cost);
    else if (type == NAME_NONE ||
             (line->key != 0 && map_get(&work->instances, line->key) == MAP_NONE))
        charge(work, CAUSE_UNKNOWN_RESOURCE, line->cost);
    else {
        struct cell *cell = cell_at(work, type, line->from);

        cell->billed += line->cost;
        cell->billed_ms += line->used_ms > 0 ? line->used_ms : line->to - line->from;
        cell->slack += half_digit(line->digits);
    }
}

static void add_untagged(struct work *work, const struct bill_line *line)
{
    const uint32_t type = type_of_line(work, line);

    work->to->others++;
    if (!line->is_machine || type == NAME_NONE || is_elsewhere(work, line))
        return;

    struct cell *cell = cell_at(work, type, line->from);

    cell->untagged += line->cost;
    cell->untagged_ms += line->used_ms > 0 ? line->used_ms : line->to - line->from;
    cell->slack += half_digit(line->digits);
    cell->untagged_lines++;
}

/* What differs. ------------------------------------------------------------------------------- */

static money_t scaled(money_t whole, msec_t part, msec_t of)
{
    __extension__ typedef __int128 wide_t;

    return of > 0 ? (money_t)((wide_t)whole * part / of) : 0;
}

static void note(struct work *work, enum reconcile_cause cause, money_t amount, money_t slack)
{
    const money_t size = amount < 0 ? -amount : amount;

    if (amount != 0)
        charge(work, size <= slack ? CAUSE_ROUNDING : cause, amount);
}

/*
 * bill = ledger + price + time - missing. What lacks a tag is Stint's as far as time is missing.
 */
static void compare(struct work *work, const struct cell *cell)
{
    const msec_t lacking = cell->ledger_ms - cell->billed_ms;
    const msec_t found = lacking <= 0                   ? 0
                         : cell->untagged_ms <= lacking ? cell->untagged_ms
                                                        : lacking;
    const bool takes_all =
        lacking > 0 &&
        cell->untagged_ms <= lacking + MSEC_PER_SEC * (msec_t)(cell->untagged_lines + 1);
    const money_t missing =
        takes_all ? cell->untagged : scaled(cell->untagged, found, cell->untagged_ms);
    const msec_t ms = cell->billed_ms + (takes_all ? cell->untagged_ms : found);
    const money_t at_same_time = scaled(cell->ledger, ms, cell->ledger_ms);

    if (missing > 0)
        charge(work, CAUSE_MISSING_TAG, -missing);
    if (ms == 0) {
        note(work, CAUSE_NOT_BILLED, -cell->ledger, 0);
    } else if (cell->ledger_ms == 0) {
        note(work, CAUSE_UNKNOWN_RESOURCE, cell->billed + missing, 0);
    } else {
        note(work, CAUSE_PRICE, cell->billed + missing - at_same_time, cell->slack);
        note(work, CAUSE_TIME, at_same_time - cell->ledger, cell->slack);
    }
}

static void take_lines(struct work *work)
{
    for (uint32_t i = 0; i < work->bill->count; i++) {
        const struct bill_line *line = &work->bill->lines[i];

        if (line->cluster == NAME_NONE)
            add_untagged(work, line);
        else if (line->cluster == work->cluster)
            add_ours(work, line);
        else
            work->to->others++;
    }
}

/* Whole days around all machine lines. */
static struct store_period period_of(const struct bill *bill)
{
    struct store_period period = { INT64_MAX, 0 };

    for (uint32_t i = 0; i < bill->count; i++) {
        const struct bill_line *line = &bill->lines[i];

        if (!line->is_machine)
            continue;
        period.since = line->from < period.since ? line->from : period.since;
        period.until = line->to > period.until ? line->to : period.until;
    }
    period.since = period.since / MSEC_PER_DAY * MSEC_PER_DAY;
    period.until = (period.until + MSEC_PER_DAY - 1) / MSEC_PER_DAY * MSEC_PER_DAY;
    return period;
}

static void work_done(struct work *work)
{
    names_done(&work->types);
    map_done(&work->instances);
    map_done(&work->cell_of);
    mem_free(work->type_of);
    mem_free(work->cells);
}

int bill_compare(struct store *store, const struct bill *bill, const char *cluster,
                 const char *region, struct reconciliation *ret, struct error *reterr)
{
    struct work work = {
        .bill = bill,
        .region = region,
        .cluster = names_find(&bill->words, cluster, strlen(cluster)),
        .to = ret,
    };

    *ret = (struct reconciliation){ .period = period_of(bill) };
    if (ret->period.since >= ret->period.until)
        return error_set(reterr, -ENODATA, "the bill has no line of a machine");
    names_init(&work.types);
    map_init(&work.instances);
    map_init(&work.cell_of);

    int rc = store_each_machine(store, NULL, note_machine, &work, reterr);

    if (rc == 0) {
        find_types(&work);
        rc = store_each_machine(store, NULL, add_machine, &work, reterr);
    }
    if (rc == 0) {
        take_lines(&work);
        for (uint32_t i = 0; i < work.count; i++)
            compare(&work, &work.cells[i]);
    }
    work_done(&work);
    return rc;
}
