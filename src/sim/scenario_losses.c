/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_losses.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"

enum { RULES_MAX = 4096, PROBES_MAX = 1000000, BID_PPM_MAX = 1000000000 };

/*
 * Reading.
 */

int scenario_read_market(const struct doc_node *map, const char *key, bool *ret_is_there,
                         enum market *ret, struct error *reterr)
{
    const char *text = NULL;
    const int rc = doc_get_text(map, key, &text, reterr);

    if (rc < 0 || text == NULL)
        return rc;
    for (int i = 0; i < MARKET_COUNT; i++) {
        if (strcmp(text, market_name((enum market)i)) == 0) {
            *ret_is_there = true;
            *ret = (enum market)i;
            return 0;
        }
    }
    return error_set(reterr, -EINVAL, "line %u: '%s' must be on-demand, spot or reserved, not '%s'",
                     doc_find(map, key)->line, key, text_excerpt(text, strlen(text)).text);
}

static int read_pattern(const struct doc_node *entry, struct offer_pattern *ret,
                        struct error *reterr)
{
    int rc = doc_get_name(entry, "type", &ret->type, reterr);

    ret->line = entry->line;
    if (rc == 0)
        rc = doc_get_name(entry, "zone", &ret->zone, reterr);
    if (rc == 0)
        rc = scenario_read_market(entry, "market", &ret->has_market, &ret->market, reterr);
    return rc;
}

static int read_loss(const struct doc_node *entry, struct scenario_loss *ret, struct error *reterr)
{
    static const char *const allowed[] = {
        "type", "zone", "market", "mean", "from", "until", NULL
    };
    static const struct doc_range any_time = { 0, LIMIT_TIME_MS };
    int rc = doc_expect(entry, DOC_MAP, reterr);

    *ret = (struct scenario_loss){ .loss = { .until = MSEC_NEVER } };
    if (rc == 0)
        rc = doc_allow_keys(entry, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(entry, (const char *const[]){ "mean", NULL }, reterr);
    if (rc == 0)
        rc = read_pattern(entry, &ret->of, reterr);
    if (rc == 0)
        rc = doc_get_duration(entry, "mean", any_time, &ret->loss.mean_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(entry, "from", any_time, &ret->loss.from, reterr);
    if (rc == 0)
        rc = doc_get_duration(entry, "until", any_time, &ret->loss.until, reterr);
    if (rc == 0 && ret->loss.until <= ret->loss.from)
        return error_set(reterr, -EINVAL, "line %u: 'until' must be later than 'from'",
                         entry->line);
    return rc;
}

static int read_series(const struct doc_node *entry, struct scenario_availability *ret,
                       struct error *reterr)
{
    static const char *const allowed[] = { "type", "zone", "market", "file", NULL };
    int rc = doc_expect(entry, DOC_MAP, reterr);

    *ret = (struct scenario_availability){ 0 };
    if (rc == 0)
        rc = doc_allow_keys(entry, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(entry, (const char *const[]){ "file", NULL }, reterr);
    if (rc == 0)
        rc = read_pattern(entry, &ret->of, reterr);
    if (rc == 0)
        rc = doc_get_text(entry, "file", &ret->file, reterr);
    return rc;
}

/* The list under the key, which may be absent: NULL. */
static int get_rules(const struct doc_node *map, const char *key, const struct doc_node **ret,
                     struct error *reterr)
{
    const int rc = doc_get_list(map, key, ret, reterr);

    if (rc == 0 && *ret != NULL && (*ret)->count > RULES_MAX)
        return error_set(reterr, -EINVAL, "line %u: '%s' has at most %d entries, not %u",
                         (*ret)->line, key, RULES_MAX, (*ret)->count);
    return rc;
}

static int read_losses(const struct doc_node *map, struct arena *arena, struct scenario_losses *ret,
                       struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = get_rules(map, "losses", &list, reterr);

    if (rc < 0 || list == NULL)
        return rc;
    ret->losses = ARENA_ARRAY(arena, struct scenario_loss, list->count);
    DOC_EACH(entry, list)
    {
        rc = read_loss(entry, &ret->losses[ret->loss_count], reterr);
        if (rc < 0)
            return rc;
        ret->loss_count++;
    }
    return 0;
}

static int read_availability(const struct doc_node *map, struct arena *arena,
                             struct scenario_losses *ret, struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = get_rules(map, "availability", &list, reterr);

    if (rc < 0 || list == NULL)
        return rc;
    ret->series = ARENA_ARRAY(arena, struct scenario_availability, list->count);
    DOC_EACH(entry, list)
    {
        rc = read_series(entry, &ret->series[ret->series_count], reterr);
        if (rc < 0)
            return rc;
        ret->series_count++;
    }
    return 0;
}

int scenario_losses_read(const struct doc_node *map, struct arena *arena,
                         struct scenario_losses *ret, struct error *reterr)
{
    const struct doc_decimal bid = { .digits = 6, .exact = true, .range = { 1, BID_PPM_MAX } };
    int64_t ppm = 0;
    int rc = read_losses(map, arena, ret, reterr);

    if (rc == 0)
        rc = read_availability(map, arena, ret, reterr);
    if (rc == 0)
        rc = doc_get_decimal(map, "bid", &bid, &ppm, reterr);
    if (rc == 0)
        ret->bid_ppm = (uint32_t)ppm;
    return rc;
}

/*
 * With a catalogue.
 */

static bool is_name(const struct names *names, uint32_t name, const char *text)
{
    return text == NULL || (name != NAME_NONE && strcmp(names_text(names, name), text) == 0);
}

static bool matches(const struct offer_pattern *of, const struct catalogue *catalogue,
                    uint32_t offer)
{
    const struct offer *row = &catalogue->offers[offer];
    const struct machine_type *type = &catalogue->types[row->type];

    return is_name(&catalogue->names, type->name, of->type) &&
           is_name(&catalogue->families, type->family, of->family) &&
           is_name(&catalogue->names, row->zone, of->zone) &&
           (!of->has_market || of->market == row->market);
}

static uint32_t count_matches(const struct offer_pattern *of, const struct catalogue *catalogue)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < catalogue->offer_count; i++)
        count += matches(of, catalogue, i);
    return count;
}

static int nobody(const struct offer_pattern *of, struct error *reterr)
{
    return error_set(
        reterr, -EINVAL,
        "line %u: no offer of the catalogue has this type, zone and market; see 'stint "
        "catalogue show'",
        of->line);
}

int scenario_losses_resolve(const struct scenario_losses *of, const struct catalogue *catalogue,
                            struct arena *arena, struct sim_market *ret, struct error *reterr)
{
    size_t count = 0;

    for (uint32_t i = 0; i < of->loss_count; i++) {
        const uint32_t found = count_matches(&of->losses[i].of, catalogue);

        if (found == 0)
            return nobody(&of->losses[i].of, reterr);
        count += found;
    }

    struct sim_loss *losses = ARENA_ARRAY(arena, struct sim_loss, count);

    *ret = (struct sim_market){ .losses = losses, .bid_ppm = of->bid_ppm };
    for (uint32_t i = 0; i < of->loss_count; i++) {
        for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
            if (!matches(&of->losses[i].of, catalogue, offer))
                continue;
            losses[ret->loss_count] = of->losses[i].loss;
            losses[ret->loss_count++].offer = offer;
        }
    }
    return 0;
}

/* {"metadata": {"gap_seconds": 195}, "data": [1, 1, 0, ...]} */
static int read_values(const char *text, size_t length, struct arena *arena,
                       struct sim_availability *ret, struct error *reterr)
{
    static const struct doc_range some_time = { 1, LIMIT_TIME_MS };
    const struct doc_node *root = NULL;
    const struct doc_node *metadata = NULL;
    const struct doc_node *data = NULL;
    int rc = doc_parse(text, length, arena, &root, reterr);

    if (rc == 0)
        rc = doc_expect(root, DOC_MAP, reterr);
    if (rc == 0)
        rc = doc_need_keys(root, (const char *const[]){ "metadata", "data", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_map(root, "metadata", &metadata, reterr);
    if (rc == 0)
        rc = doc_need_keys(metadata, (const char *const[]){ "gap_seconds", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_duration(metadata, "gap_seconds", some_time, &ret->step_ms, reterr);
    if (rc == 0)
        rc = doc_get_list(root, "data", &data, reterr);
    if (rc < 0)
        return rc;
    assert(data != NULL);
    if (data->count == 0)
        return error_set(reterr, -EINVAL, "line %u: 'data' is empty", data->line);

    uint32_t *up = ARENA_ARRAY(arena, uint32_t, data->count);

    DOC_EACH(node, data)
    {
        int64_t value = 0;

        rc = doc_as_int(node, (struct doc_range){ 0, PROBES_MAX }, &value, reterr);
        if (rc < 0)
            return rc;
        up[ret->count++] = (uint32_t)value;
    }
    ret->up = up;
    return 0;
}

static bool has_series(const struct sim_market *market, uint32_t offer)
{
    for (uint32_t i = 0; i < market->series_count; i++) {
        if (market->series[i].offer == offer)
            return true;
    }
    return false;
}

int scenario_availability_read(const struct offer_pattern *of, const char *text, size_t length,
                               const struct catalogue *catalogue, struct arena *arena,
                               struct sim_market *ret, struct error *reterr)
{
    struct sim_availability series = { 0 };
    const uint32_t found = count_matches(of, catalogue);
    const int rc = read_values(text, length, arena, &series, reterr);

    if (rc < 0)
        return rc;
    if (found == 0)
        return nobody(of, reterr);

    struct sim_availability *all =
        ARENA_ARRAY(arena, struct sim_availability, (size_t)ret->series_count + found);

    if (ret->series_count > 0)
        memcpy(all, ret->series, ret->series_count * sizeof(*all));
    ret->series = all;
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if (!matches(of, catalogue, offer))
            continue;
        if (has_series(ret, offer))
            return error_set(reterr, -EINVAL, "line %u: an offer has an availability already",
                             of->line);
        series.offer = offer;
        all[ret->series_count++] = series;
    }
    return 0;
}
