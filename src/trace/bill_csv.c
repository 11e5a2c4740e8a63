/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/bill_csv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/csv.h"
#include "trace/input_text.h"
#include "trace/number.h"

enum column {
    COST,
    KIND,
    FROM,
    TO,
    AMOUNT,
    UNIT,
    WHAT,
    MORE_WHAT,
    REGION,
    CATEGORY,
    TAGS,        /* all, as a JSON object */
    TAG_CLUSTER, /* or one by one */
    TAG_KEY,
    COLUMNS,
    TIME_SIZE = 32,
    MICRO = 6,
};

enum { NAMES_OF_COLUMN = 2 };

static const char *const aws_columns[COLUMNS][NAMES_OF_COLUMN] = {
    [COST] = { "lineItem/UnblendedCost", "line_item_unblended_cost" },
    [KIND] = { "lineItem/LineItemType", "line_item_line_item_type" },
    [FROM] = { "lineItem/UsageStartDate", "line_item_usage_start_date" },
    [TO] = { "lineItem/UsageEndDate", "line_item_usage_end_date" },
    [AMOUNT] = { "lineItem/UsageAmount", "line_item_usage_amount" },
    [UNIT] = { "pricing/unit", "pricing_unit" },
    [WHAT] = { "lineItem/UsageType", "line_item_usage_type" },
    [MORE_WHAT] = { "product/instanceType", "product_instance_type" },
    [REGION] = { "product/region", "product_region_code" },
    [CATEGORY] = { "lineItem/ProductCode", "line_item_product_code" },
    [TAGS] = { "resourceTags", "resource_tags" },
    [TAG_CLUSTER] = { "resourceTags/user:stint:cluster", "resource_tags_user_stint_cluster" },
    [TAG_KEY] = { "resourceTags/user:stint:key", "resource_tags_user_stint_key" },
};

static const char *const focus_columns[COLUMNS][NAMES_OF_COLUMN] = {
    [COST] = { "BilledCost", NULL },
    [KIND] = { "ChargeCategory", NULL },
    [FROM] = { "ChargePeriodStart", NULL },
    [TO] = { "ChargePeriodEnd", NULL },
    [AMOUNT] = { "ConsumedQuantity", NULL },
    [UNIT] = { "ConsumedUnit", NULL },
    [WHAT] = { "ChargeDescription", NULL },
    [MORE_WHAT] = { "SkuId", NULL },
    [REGION] = { "RegionId", NULL },
    [CATEGORY] = { "ServiceCategory", NULL },
    [TAGS] = { "Tags", NULL },
    [TAG_CLUSTER] = { NULL, NULL },
    [TAG_KEY] = { NULL, NULL },
};

struct reading {
    struct csv csv;
    struct bill bill;
    uint32_t column[COLUMNS];
    const char *const (*names)[NAMES_OF_COLUMN];
    struct error *reterr;
};

static struct csv_field field(const struct reading *in, enum column column)
{
    return csv_field(&in->csv, in->column[column]);
}

static bool is_word(struct csv_field text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.text, word, text.length) == 0;
}

static bool contains(struct csv_field text, const char *word)
{
    return text.length > 0 && memmem(text.text, text.length, word, strlen(word)) != NULL;
}

static int refuse(const struct reading *in, enum column column, const char *wanted)
{
    const struct csv_field text = field(in, column);

    return error_set(in->reterr, -EINVAL, "line %u: %s must be %s, not '%s'", in->csv.line,
                     in->names[column][0], wanted, text_excerpt(text.text, text.length).text);
}

/* The value of a key of a flat JSON object; empty: there is none. AWS writes user_stint_cluster there. */
static struct csv_field tag_of(struct csv_field tags, const char *key)
{
    const struct csv_field none = { "", 0 };
    char quoted[TIME_SIZE];
    const int size = snprintf(quoted, sizeof(quoted), "%s\"", key);
    const char *at = tags.length > 0 ? memmem(tags.text, tags.length, quoted, (size_t)size) : NULL;
    const char *end = tags.text + tags.length;

    if (at == NULL)
        return none;
    at += size;
    while (at < end && (*at == ' ' || *at == ':'))
        at++;
    if (at == end || *at != '"')
        return none;
    at++;

    const char *close = memchr(at, '"', (size_t)(end - at));

    return close == NULL ? none : (struct csv_field){ at, (size_t)(close - at) };
}

static struct csv_field either(struct csv_field first, struct csv_field second)
{
    return first.length > 0 ? first : second;
}

static uint32_t word_of(struct reading *in, struct csv_field text)
{
    return text.length > 0 ? names_add(&in->bill.words, text.text, text.length) : NAME_NONE;
}

/* 2026-11-01T00:00:00Z, or with a blank, as AWS writes it in places. */
static int read_time(const struct reading *in, enum column column, msec_t *ret)
{
    const struct csv_field text = field(in, column);
    struct tm parts = { 0 };
    char copy[TIME_SIZE];

    if (text.length >= sizeof(copy))
        return refuse(in, column, "a time such as 2026-11-01T00:00:00Z");
    memcpy(copy, text.text, text.length);
    copy[text.length] = '\0';
    if (text.length > 10 && copy[10] == ' ')
        copy[10] = 'T';

    const char *end = strptime(copy, "%Y-%m-%dT%H:%M:%S", &parts);

    if (end == NULL || parts.tm_year < 70 || parts.tm_year > 1000)
        return refuse(in, column, "a time such as 2026-11-01T00:00:00Z");
    *ret = (msec_t)timegm(&parts) * MSEC_PER_SEC;
    return 0;
}

static enum bill_kind kind_of(struct csv_field text)
{
    if (contains(text, "Credit") || contains(text, "Refund") || contains(text, "Discount"))
        return is_word(text, "DiscountedUsage") ? BILL_USAGE : BILL_CREDIT;
    if (is_word(text, "Tax"))
        return BILL_TAX;
    if (contains(text, "Usage"))
        return BILL_USAGE;
    return BILL_FEE;
}

static int read_cost(const struct reading *in, struct bill_line *line)
{
    const struct csv_field text = field(in, COST);
    const char *point = memchr(text.text, '.', text.length);
    const size_t digits = point != NULL ? (size_t)(text.text + text.length - point) - 1 : 0;

    if (number_nearest(text.text, text.length, MICRO, &line->cost) < 0)
        return refuse(in, COST, "an amount of money");
    line->digits = digits < BILL_DIGITS_MAX ? (uint8_t)digits : (uint8_t)BILL_DIGITS_MAX;
    return 0;
}

/* Hours and seconds are machine time, if it is a machine. */
static int read_amount(const struct reading *in, struct bill_line *line)
{
    const struct csv_field unit = field(in, UNIT);
    const struct csv_field text = field(in, AMOUNT);
    int64_t micro = 0;

    if (!line->is_machine || text.length == 0)
        return 0;
    if (number_nearest(text.text, text.length, MICRO, &micro) < 0 || micro < 0 ||
        micro > LIMIT_TIME_MS)
        return refuse(in, AMOUNT, "an amount");
    line->used_ms = contains(unit, "econd") ? micro / 1000 : micro * (MSEC_PER_HOUR / 1000) / 1000;
    return 0;
}

static bool is_machine(const struct reading *in, const struct bill_line *line)
{
    const struct csv_field what = field(in, WHAT);

    if (line->kind != BILL_USAGE)
        return false;
    if (!in->bill.is_focus)
        return contains(what, "BoxUsage") || contains(what, "SpotUsage");
    return is_word(field(in, CATEGORY), "Compute") &&
           (contains(field(in, UNIT), "our") || contains(field(in, UNIT), "rs") ||
            contains(field(in, UNIT), "econd"));
}

static int read_line(struct reading *in)
{
    const struct csv_field tags = field(in, TAGS);
    const struct csv_field cluster =
        either(field(in, TAG_CLUSTER),
               either(tag_of(tags, "stint:cluster"), tag_of(tags, "stint_cluster")));
    const struct csv_field key =
        either(field(in, TAG_KEY), either(tag_of(tags, "stint:key"), tag_of(tags, "stint_key")));
    struct bill_line line = { .kind = kind_of(field(in, KIND)) };
    int rc = read_cost(in, &line);

    if (rc == 0)
        rc = read_time(in, FROM, &line.from);
    if (rc == 0)
        rc = read_time(in, TO, &line.to);
    if (rc < 0)
        return rc;
    if (line.to < line.from)
        return refuse(in, TO, "no earlier than its start");
    line.is_machine = is_machine(in, &line);
    rc = read_amount(in, &line);
    if (rc < 0)
        return rc;
    line.what = word_of(in, either(field(in, MORE_WHAT), field(in, WHAT)));
    line.region = word_of(in, field(in, REGION));
    line.cluster = word_of(in, cluster);
    (void)number_id(key.text, key.length, &line.key);
    if (in->bill.count == BILL_LINES_MAX)
        return error_set(in->reterr, -E2BIG, "more than %d lines", BILL_LINES_MAX);
    MEM_ROOM(in->bill.lines, in->bill.room, in->bill.count + 1);
    in->bill.lines[in->bill.count++] = line;
    return 0;
}

/* Which format it is, and where its columns are. */
static int find_columns(struct reading *in)
{
    static const enum column needed[] = { COST, KIND, FROM, TO, WHAT };

    in->bill.is_focus = csv_column(&in->csv, focus_columns[COST][0]) != CSV_COLUMN_NONE;
    in->names = in->bill.is_focus ? focus_columns : aws_columns;
    for (int i = 0; i < COLUMNS; i++) {
        in->column[i] = CSV_COLUMN_NONE;
        for (int name = 0; name < NAMES_OF_COLUMN && in->column[i] == CSV_COLUMN_NONE; name++) {
            if (in->names[i][name] != NULL)
                in->column[i] = csv_column(&in->csv, in->names[i][name]);
        }
    }
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (in->column[needed[i]] == CSV_COLUMN_NONE)
            return error_set(in->reterr, -EINVAL,
                             "there is no column %s: a Cost and Usage Report of AWS or a FOCUS "
                             "table is wanted, as CSV with its header",
                             in->names[needed[i]][0]);
    }
    return 0;
}

int bill_csv_read(const char *text, size_t length, struct bill *ret, struct error *reterr)
{
    struct reading in = { .reterr = reterr };
    int rc = csv_open(&in.csv, text, length, reterr);

    if (rc < 0)
        return rc;
    names_init(&in.bill.words);
    rc = find_columns(&in);
    while (rc == 0) {
        rc = csv_next(&in.csv, reterr);
        if (rc <= 0)
            break;
        rc = read_line(&in);
    }
    csv_close(&in.csv);
    if (rc < 0) {
        bill_done(&in.bill);
        return rc;
    }
    *ret = in.bill;
    return 0;
}

void bill_done(struct bill *bill)
{
    names_done(&bill->words);
    mem_free(bill->lines);
    *bill = (struct bill){ .lines = NULL };
}
