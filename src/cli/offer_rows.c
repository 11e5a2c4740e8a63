/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/offer_rows.h"

#include <math.h>
#include <stdio.h>

#include "cli/operator.h"

struct report_table *offer_rows_create(bool experience)
{
    static const struct report_column columns[] = {
        { .key = "type", .heading = "type", .kind = REPORT_TEXT },
        { .key = "cpu", .heading = "CPUs", .kind = REPORT_DECIMAL, .digits = 0 },
        { .key = "mem_gib", .heading = "GiB", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "accel", .heading = "acc.", .kind = REPORT_DECIMAL, .digits = 0 },
        { .key = "market", .heading = "market", .kind = REPORT_TEXT },
        { .key = "zone", .heading = "zone", .kind = REPORT_TEXT },
        { .key = "price", .heading = "$ per hour", .kind = REPORT_MONEY, .digits = 4 },
        { .key = "interruption",
          .heading = "lost % a month",
          .kind = REPORT_TEXT,
          .align = REPORT_ALIGN_RIGHT },
        { .key = "lasts_hours", .heading = "lasts h", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "lasts_by", .heading = "known by", .kind = REPORT_TEXT },
        { .key = "losses", .heading = "losses", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "machine_hours", .heading = "in machine h", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "lasts_low_hours", .heading = "80 % from h", .kind = REPORT_DECIMAL, .digits = 1 },
        { .key = "lasts_high_hours", .heading = "to h", .kind = REPORT_DECIMAL, .digits = 1 },
    };

    enum { COLUMNS = sizeof(columns) / sizeof(*columns), OF_EXPERIENCE = 4 };

    return report_table_create("catalogue", columns,
                               experience ? COLUMNS : COLUMNS - OF_EXPERIENCE);
}

void offer_rows_add_interruption(struct report_table *table, struct interruption interruption)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%u-%u", interruption.low, interruption.high);
    report_table_add_text(table, interruption.high > 0 ? text : NULL);
}

static double hours_of(msec_t span)
{
    return span != MSEC_NEVER ? (double)span / (double)MSEC_PER_HOUR : (double)NAN;
}

void offer_rows_add(struct report_table *table, const struct offer_row *row, bool experience)
{
    const bool is_learned = row->losses_milli >= 0;

    report_table_add_text(table, row->type);
    report_table_add_real(table, (double)row->cpu_milli / 1000);
    report_table_add_real(table, (double)row->mem_mib / 1024);
    report_table_add_real(table, (double)row->accel_milli / 1000);
    report_table_add_text(table, row->market);
    report_table_add_text(table, row->zone);
    report_table_add_money(table, row->price);
    offer_rows_add_interruption(table, row->interruption);
    report_table_add_real(table, hours_of(row->lasts_ms));
    report_table_add_text(table, row->lasts_by);
    if (!experience)
        return;
    report_table_add_real(table, is_learned ? (double)row->losses_milli / 1000 : (double)NAN);
    report_table_add_real(table, is_learned ? hours_of(row->machine_ms) : (double)NAN);
    report_table_add_real(table, is_learned ? hours_of(row->low_ms) : (double)NAN);
    report_table_add_real(table, is_learned ? hours_of(row->high_ms) : (double)NAN);
}

struct offer_row offer_row_of(const struct catalogue *catalogue, uint32_t index)
{
    const struct offer *offer = &catalogue->offers[index];
    const struct res *capacity = &catalogue->types[offer->type].capacity;
    const msec_t lasts = interruption_mean_ms(offer->interruption);

    return (struct offer_row){
        .type = catalogue_offer_type_name(catalogue, index),
        .market = market_name(offer->market),
        .zone = offer->zone != NAME_NONE ? names_text(&catalogue->names, offer->zone) : "",
        .cpu_milli = capacity->amount[RES_CPU],
        .mem_mib = capacity->amount[RES_MEM],
        .accel_milli = capacity->amount[RES_ACCEL],
        .price = offer->price.changes[offer->price.count - 1].per_hour,
        .interruption = offer->interruption,
        .lasts_ms = lasts,
        .lasts_by = lasts != MSEC_NEVER ? "catalogue" : NULL,
        .losses_milli = -1,
    };
}

static uint8_t percent_at(const json_t *pair, size_t index)
{
    const json_int_t value = json_integer_value(json_array_get(pair, index));

    return value > 0 && value <= 100 ? (uint8_t)value : 0;
}

struct offer_row offer_row_of_json(const json_t *object)
{
    const json_t *pair = json_object_get(object, "interruption_percent");
    const char *zone = field_text(object, "zone");
    const char *by = field_text(object, "lasts_by");

    return (struct offer_row){
        .type = field_word(object, "type"),
        .market = field_word(object, "market"),
        .zone = zone != NULL ? zone : "",
        .cpu_milli = field_integer(object, "cpu_milli", 0),
        .mem_mib = field_integer(object, "mem_mib", 0),
        .accel_milli = field_integer(object, "accel_milli", 0),
        .price = field_money(object, "price_microdollars_per_hour"),
        .interruption = { percent_at(pair, 0), percent_at(pair, 1) },
        .lasts_ms = field_integer(object, "lasts_ms", MSEC_NEVER),
        .lasts_by = by,
        .losses_milli = by != NULL && strcmp(by, "learned") == 0
                            ? field_integer(object, "losses_milli", -1)
                            : -1,
        .machine_ms = field_integer(object, "machine_ms", MSEC_NEVER),
        .low_ms = field_integer(object, "lasts_low_ms", MSEC_NEVER),
        .high_ms = field_integer(object, "lasts_high_ms", MSEC_NEVER),
    };
}
