/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bill_export.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/names.h"
#include "control/ports/engine_port.h"
#include "draw/csv_text.h"
#include "draw/digits.h"
#include "trace/usage_csv.h"

#define MSEC_PER_DAY (24 * MSEC_PER_HOUR)

enum { TIME_TEXT = 32, MICRO_DIGITS = 6 };

/* In alphabetical order, as the specification lists them; then our own. */
static const char focus_header[] =
    "AvailabilityZone,BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,"
    "BillingPeriodEnd,BillingPeriodStart,ChargeCategory,ChargeClass,ChargeDescription,"
    "ChargeFrequency,ChargePeriodEnd,ChargePeriodStart,CommitmentDiscountCategory,"
    "CommitmentDiscountId,CommitmentDiscountName,CommitmentDiscountStatus,CommitmentDiscountType,"
    "ConsumedQuantity,ConsumedUnit,ContractedCost,ContractedUnitPrice,EffectiveCost,"
    "InvoiceIssuerName,ListCost,ListUnitPrice,PricingCategory,PricingQuantity,PricingUnit,"
    "ProviderName,PublisherName,RegionId,RegionName,ResourceId,ResourceName,ResourceType,"
    "ServiceCategory,ServiceName,SkuId,SkuPriceId,SubAccountId,SubAccountName,Tags,"
    "x_StintBootCost,x_StintIdleCost,x_StintWorkCost\n";

struct focus {
    const struct store_period *period;
    const struct bill_names *names;
    FILE *out;
};

/* ISO 8601 in UTC, as the specification wants it. */
static void time_text(msec_t at, char ret[TIME_TEXT])
{
    const time_t seconds = (time_t)(at / MSEC_PER_SEC);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(ret, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        (void)snprintf(ret, TIME_TEXT, "1970-01-01T00:00:00Z");
}

/* The first moment of the month of 'at', or of the one after it. */
static msec_t month_of(msec_t at, int after)
{
    const time_t seconds = (time_t)(at / MSEC_PER_SEC);
    struct tm parts = { 0 };

    (void)gmtime_r(&seconds, &parts);

    struct tm first = { .tm_year = parts.tm_year, .tm_mon = parts.tm_mon + after, .tm_mday = 1 };

    return (msec_t)timegm(&first) * MSEC_PER_SEC;
}

static void put_text(FILE *out, const char *text)
{
    if (text != NULL && text[0] != '\0')
        csv_text(out, text);
    (void)fputc(',', out);
}

static void put_time(FILE *out, msec_t at)
{
    char text[TIME_TEXT];

    time_text(at, text);
    (void)fprintf(out, "%s,", text);
}

static void put_fixed(FILE *out, int64_t value, uint32_t digits, const char *end)
{
    (void)fprintf(out, "%s%s", digits_of_fixed(value, digits, digits, DIGITS_PLAIN).text, end);
}

static void put_empty(FILE *out, int count)
{
    while (count-- > 0)
        (void)fputc(',', out);
}

static const char *pricing_category(const struct store_machine *machine)
{
    const char *market = machine->market;

    if (store_machine_is_owned(machine))
        return "Other";
    return market != NULL && strcmp(market, "spot") == 0       ? "Dynamic"
           : market != NULL && strcmp(market, "reserved") == 0 ? "Committed"
                                                               : "Standard";
}

static void put_tags(FILE *out, const struct focus *focus, const struct store_machine *machine)
{
    char key[TIME_TEXT];

    (void)snprintf(key, sizeof(key), "%" PRIu64, machine->id);

    json_t *tags = json_pack("{s:s,s:s}", "stint:cluster", focus->names->cluster, "stint:key", key);
    char *text = tags != NULL ? json_dumps(tags, JSON_COMPACT) : NULL;

    put_text(out, text != NULL ? text : "{}");
    free(text);
    json_decref(tags);
}

struct focus_row {
    const struct store_machine *machine;
    struct store_period day; /* of the machine, within the period */
    money_t cost;
    msec_t ms;
    money_t per_hour;
    const char *type;
    const char *provider; /* who has the machine, and is paid for it */
    const char *name;
};

static void put_charge(const struct focus *focus, const struct focus_row *row)
{
    FILE *out = focus->out;

    put_text(out, row->machine->zone);
    put_fixed(out, row->cost, MICRO_DIGITS, ",");
    put_text(out, focus->names->account != NULL ? focus->names->account : focus->names->cluster);
    put_text(out, focus->names->cluster);
    (void)fputs("USD,", out);
    put_time(out, month_of(row->day.since, 1));
    put_time(out, month_of(row->day.since, 0));
    (void)fputs("Usage,,", out);
    put_text(out, row->type);
    (void)fputs("Usage-Based,", out);
    put_time(out, row->day.until);
    put_time(out, row->day.since);
    put_empty(out, 5);
}

/* Hours with six digits: of the day's cost and time. */
static void put_quantities(const struct focus *focus, const struct focus_row *row)
{
    const int64_t micro_hours = row->ms * 1000000 / MSEC_PER_HOUR;
    FILE *out = focus->out;

    put_fixed(out, micro_hours, MICRO_DIGITS, ",Hours,");
    put_fixed(out, row->cost, MICRO_DIGITS, ",");
    put_fixed(out, row->per_hour, MICRO_DIGITS, ",");
    put_fixed(out, row->cost, MICRO_DIGITS, ",");
    put_text(out, row->provider);
    put_fixed(out, row->cost, MICRO_DIGITS, ",");
    put_fixed(out, row->per_hour, MICRO_DIGITS, ",");
    (void)fprintf(out, "%s,", pricing_category(row->machine));
    put_fixed(out, micro_hours, MICRO_DIGITS, ",Hours,");
    put_text(out, row->provider);
    put_text(out, row->provider);
}

static void put_resource(const struct focus *focus, const struct focus_row *row)
{
    const struct store_machine *machine = row->machine;
    FILE *out = focus->out;

    const bool is_owned = store_machine_is_owned(machine);

    put_text(out, is_owned ? NULL : focus->names->region);
    put_text(out, is_owned ? NULL : focus->names->region);
    put_text(out, row->name);
    put_text(out, row->name);
    (void)fprintf(out, "%s,",
                  is_owned ? "Server,Compute,Owned Nodes"
                           : "Virtual Machine,Compute,Virtual Machines");
    put_text(out, row->type);
    put_empty(out, 3);
    put_tags(out, focus, machine);
}

static void put_parts(const struct focus *focus, const struct focus_row *row)
{
    const struct store_machine *machine = row->machine;
    const money_t boot = store_part(machine->sums.boot, machine->from, machine->to, &row->day);
    const money_t idle = store_part(machine->sums.idle, machine->from, machine->to, &row->day);

    put_fixed(focus->out, boot, MICRO_DIGITS, ",");
    put_fixed(focus->out, idle, MICRO_DIGITS, ",");
    put_fixed(focus->out, row->cost - boot - idle, MICRO_DIGITS, "\n");
}

/* The books have no order of an owned node: its number, and what it cost per hour so far. */
static void name_owned(const struct store_machine *machine, msec_t paid, char name[TIME_TEXT],
                       struct focus_row *ret)
{
    (void)snprintf(name, TIME_TEXT, "owned-%" PRIu64, machine->id - OWNED_ID_FIRST);
    ret->name = name;
    ret->type = "(owned)";
    ret->provider = "(owned)";
    ret->per_hour = paid > 0 ? machine->sums.bill / paid * MSEC_PER_HOUR +
                                   machine->sums.bill % paid * MSEC_PER_HOUR / paid
                             : 0;
}

static void put_machine(void *context, const struct store_machine *machine)
{
    const struct focus *focus = context;
    const struct store_period *period = focus->period;
    const msec_t from = machine->from > period->since ? machine->from : period->since;
    const msec_t to = machine->to < period->until ? machine->to : period->until;
    const msec_t paid = machine->sums.boot_ms + machine->sums.idle_ms + machine->sums.work_ms;
    char name[TIME_TEXT];

    for (msec_t begin = from; begin < to;) {
        const msec_t next = (begin / MSEC_PER_DAY + 1) * MSEC_PER_DAY;
        struct focus_row row = { .machine = machine,
                                 .day = { begin, next < to ? next : to },
                                 .per_hour = machine->per_hour,
                                 .type = machine->type,
                                 .provider = focus->names->provider,
                                 .name = machine->name };

        row.cost = store_part(machine->sums.bill, machine->from, machine->to, &row.day);
        row.ms = store_part(paid, machine->from, machine->to, &row.day);
        if (store_machine_is_owned(machine))
            name_owned(machine, paid, name, &row);
        put_charge(focus, &row);
        put_quantities(focus, &row);
        put_resource(focus, &row);
        put_parts(focus, &row);
        begin = next;
    }
}

int bill_export_focus(struct store *store, const struct store_period *period,
                      const struct bill_names *names, FILE *out, struct error *reterr)
{
    struct focus focus = { .period = period, .names = names, .out = out };

    (void)fputs(focus_header, out);
    return store_each_machine(store, NULL, put_machine, &focus, reterr);
}

/* Usage. -------------------------------------------------------------------------------------- */

struct usage_spans {
    const struct store_period *period;
    struct names types;
    struct span {
        uint32_t type;
        msec_t from;
        msec_t to;
    } * rows;
    uint32_t count;
    uint32_t room;
    msec_t first;
    msec_t last;
};

static void add_span(void *context, const struct store_machine *machine)
{
    struct usage_spans *spans = context;
    const char *type = machine->type != NULL ? machine->type : "unknown";
    const msec_t from = machine->from > spans->period->since ? machine->from : spans->period->since;
    const msec_t to = machine->to < spans->period->until ? machine->to : spans->period->until;

    if (from >= to || store_machine_is_owned(machine)) /* no one commits to what they have */
        return;
    MEM_ROOM(spans->rows, spans->room, spans->count + 1);
    spans->rows[spans->count++] =
        (struct span){ names_add(&spans->types, type, strlen(type)), from, to };
    spans->first = from < spans->first ? from : spans->first;
    spans->last = to > spans->last ? to : spans->last;
}

/* Machine milliseconds of each hour and type, one hour after the other. */
static int64_t *hours_of(const struct usage_spans *spans, int64_t first, int64_t hours)
{
    int64_t *ms = mem_alloc((size_t)hours * spans->types.count, sizeof(*ms));

    for (uint32_t i = 0; i < spans->count; i++) {
        const struct span *span = &spans->rows[i];

        for (msec_t at = span->from; at < span->to;) {
            const msec_t next = (at / MSEC_PER_HOUR + 1) * MSEC_PER_HOUR;
            const msec_t end = next < span->to ? next : span->to;

            ms[(at / MSEC_PER_HOUR - first) * spans->types.count + span->type] += end - at;
            at = next;
        }
    }
    return ms;
}

static void put_usage(const struct usage_spans *spans, int64_t first, int64_t hours,
                      const int64_t *ms, FILE *out)
{
    (void)fputs("time", out);
    for (uint32_t type = 0; type < spans->types.count; type++) {
        (void)fputc(',', out);
        csv_text(out, names_text(&spans->types, type));
    }
    (void)fputc('\n', out);
    for (int64_t hour = 0; hour < hours; hour++) {
        char text[TIME_TEXT];

        time_text((first + hour) * MSEC_PER_HOUR, text);
        (void)fprintf(out, "%.16sZ", text);
        for (uint32_t type = 0; type < spans->types.count; type++)
            (void)fprintf(out, ",%" PRId64,
                          (ms[hour * spans->types.count + type] + MSEC_PER_HOUR / 2) /
                              MSEC_PER_HOUR);
        (void)fputc('\n', out);
    }
}

int bill_export_usage(struct store *store, const struct store_period *period, FILE *out,
                      struct error *reterr)
{
    struct usage_spans spans = { .period = period, .first = INT64_MAX };

    names_init(&spans.types);

    int rc = store_each_machine(store, NULL, add_span, &spans, reterr);
    const int64_t first = spans.first / MSEC_PER_HOUR;
    const int64_t hours = spans.count > 0 ? (spans.last - 1) / MSEC_PER_HOUR + 1 - first : 0;

    if (rc == 0 && spans.count == 0)
        rc = error_set(reterr, -ENODATA, "no machine was on the bill in that period");
    else if (rc == 0 && hours * spans.types.count > USAGE_CELLS_MAX)
        rc = error_set(reterr, -E2BIG,
                       "%" PRId64 " hours of %u types are more than `stint commit` reads; give "
                       "--since and --until",
                       hours, spans.types.count);
    if (rc == 0) {
        int64_t *ms = hours_of(&spans, first, hours);

        put_usage(&spans, first, hours, ms, out);
        mem_free(ms);
    }
    names_done(&spans.types);
    mem_free(spans.rows);
    return rc;
}
