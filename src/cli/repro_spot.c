/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repro_spot.h"

#include <errno.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/repro.h"
#include "trace/csv.h"
#include "trace/input_file.h"

enum { ZONES = 6 };

static const char *const zones[ZONES] = { "us-east-1a", "us-east-1b", "us-east-1c",
                                          "us-east-1d", "us-east-1e", "us-east-1f" };

/* Of a type in a zone. */
struct changes {
    struct price_change *changes;
    uint32_t count;
    uint32_t room;
};

/* The zone by its last letter, a to f; ZONES: another. */
static uint32_t zone_of(struct csv_field field)
{
    const int last = field.length > 0 ? field.text[field.length - 1] : 0;

    return last >= 'a' && last < 'a' + ZONES ? (uint32_t)(last - 'a') : (uint32_t)ZONES;
}

/* From the last change before the window on. */
static int add_change(struct changes *of, const struct csv *csv, const struct repro_spot *spot,
                      struct error *reterr)
{
    int64_t at = 0;
    int64_t price = 0;
    int rc = repro_get_number(csv, "unix_time", 0, 0, LIMIT_TIME_MS / MSEC_PER_SEC, &at, reterr);

    if (rc == 0)
        rc = repro_get_number(csv, "spot_price", 6, 1, 1000 * MONEY_PER_USD, &price, reterr);
    if (rc != 0 || at > spot->from + spot->window_s)
        return rc;

    const msec_t since = at > spot->from ? (at - spot->from) * MSEC_PER_SEC : 0;

    if (of->count > 0 && since < of->changes[of->count - 1].at)
        return error_set(reterr, -EINVAL, "line %u: earlier than a line before; sort the table",
                         csv->line);
    if (of->count > 0 && since == of->changes[of->count - 1].at)
        of->count--;
    MEM_ROOM(of->changes, of->room, of->count + 1);
    of->changes[of->count++] = (struct price_change){ since, price };
    return 0;
}

static int read_changes(const struct input_file *file, const struct catalogue *catalogue,
                        const struct repro_spot *spot, struct changes *of, struct error *reterr)
{
    struct csv csv;
    int rc = csv_open(&csv, file->text, file->length, reterr);

    if (rc != 0)
        return rc;

    const uint32_t type_column = csv_column(&csv, "instance_type");
    const uint32_t zone_column = csv_column(&csv, "az");

    while ((rc = csv_next(&csv, reterr)) == 1) {
        const struct csv_field name = csv_field(&csv, type_column);
        const uint32_t type = catalogue_find_type(catalogue, name.text, name.length);
        const uint32_t zone = zone_of(csv_field(&csv, zone_column));

        if (type == UINT32_MAX || zone == ZONES)
            continue;
        rc = add_change(&of[type * ZONES + zone], &csv, spot, reterr);
        if (rc != 0)
            break;
    }
    csv_close(&csv);
    return rc;
}

static void add_offers(struct catalogue *catalogue, const struct repro_spot *spot,
                       const struct changes *changes, uint32_t types)
{
    for (uint32_t i = 0; i < types * ZONES; i++) {
        const char *zone = zones[i % ZONES];
        const struct offer offer = {
            .type = i / ZONES,
            .market = MARKET_SPOT,
            .billing = spot->billing,
            .price = { changes[i].changes, changes[i].count },
        };

        if (changes[i].count > 0 &&
            (spot->wants == NULL || spot->wants(catalogue, offer.type, zone)))
            (void)catalogue_add_offer(catalogue, zone, &offer);
    }
}

int repro_spot_add(struct catalogue *catalogue, const struct repro_spot *spot, struct error *reterr)
{
    const char *name = spot->is_2015 ? "spot-2015/us-east-1-linux.csv.zst"
                                     : "spot-2024-2026/us-east-1-selected.csv.zst";
    const uint32_t types = catalogue->type_count;
    struct changes *changes = NULL;
    struct input_file file = { 0 };
    int rc = repro_read_data(name, &file, reterr);

    if (rc != 0)
        return rc;
    changes = mem_alloc((size_t)types * ZONES, sizeof(*changes));
    rc = read_changes(&file, catalogue, spot, changes, reterr);
    input_file_done(&file);
    if (rc == 0)
        add_offers(catalogue, spot, changes, types);
    else
        rc = error_prefix(reterr, rc, name);
    for (uint32_t i = 0; i < types * ZONES; i++)
        mem_free(changes[i].changes);
    mem_free(changes);
    return rc;
}
