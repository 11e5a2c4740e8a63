/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/interruptions.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static const double prior_losses = 0.05;
static const double prior_hours_to_loss = 30 * 24.0; /* where the catalogue has no band */
static const double half_life_hours = 7 * 24.0;
static const double same_region = 0.30; /* what another zone's experience counts */
static const double other_region = 0.14;
static const double micro = 1e6;

static double hours_of(msec_t span)
{
    return (double)span / (double)MSEC_PER_HOUR;
}

void interruptions_init(struct interruptions *interruptions, const struct catalogue *catalogue)
{
    *interruptions = (struct interruptions){ .catalogue = catalogue };
    interruptions_catalogue_grew(interruptions);
}

void interruptions_catalogue_grew(struct interruptions *interruptions)
{
    const struct catalogue *catalogue = interruptions->catalogue;
    const uint32_t known = interruptions->offer_count;

    interruptions->records =
        mem_resize(interruptions->records, catalogue->offer_count, sizeof(*interruptions->records));
    interruptions->next =
        mem_resize(interruptions->next, catalogue->offer_count, sizeof(*interruptions->next));
    interruptions->first =
        mem_resize(interruptions->first, catalogue->type_count, sizeof(*interruptions->first));
    interruptions->changed =
        mem_resize(interruptions->changed, catalogue->offer_count, sizeof(*interruptions->changed));
    interruptions->offer_count = catalogue->offer_count;
    for (uint32_t offer = known; offer < catalogue->offer_count; offer++)
        interruptions->records[offer] = (struct interruption_record){ 0 };
    for (uint32_t type = 0; type < catalogue->type_count; type++)
        interruptions->first[type] = OFFER_NONE;
    for (uint32_t offer = catalogue->offer_count; offer-- > 0;) {
        uint32_t *first = &interruptions->first[catalogue->offers[offer].type];

        interruptions->next[offer] = *first;
        *first = offer;
    }
    interruptions->has_changed = true;
}

void interruptions_done(struct interruptions *interruptions)
{
    mem_free(interruptions->records);
    mem_free(interruptions->next);
    mem_free(interruptions->first);
    mem_free(interruptions->changed);
    *interruptions = (struct interruptions){ 0 };
}

/*
 * What was seen.
 */

/* The record as it is at 'now', what was seen faded and the hours of those that live added, which fade as well. */
static struct interruption_record record_at(const struct interruption_record *record, msec_t now)
{
    struct interruption_record ret = *record;

    if (now <= record->at)
        return ret;

    const double fade = exp2(-hours_of(now - record->at) / half_life_hours);

    ret.losses *= fade;
    ret.hours = ret.hours * fade + record->living * (1 - fade) * half_life_hours / M_LN2;
    ret.at = now;
    return ret;
}

static bool is_market(const struct interruptions *interruptions, uint32_t offer)
{
    return interruptions->catalogue->offers[offer].market == MARKET_SPOT;
}

static void mark(struct interruptions *interruptions, uint32_t offer)
{
    struct interruption_record *record = &interruptions->records[offer];

    if (record->is_changed)
        return;
    record->is_changed = true;
    interruptions->changed[interruptions->changed_count++] = offer;
}

void interruptions_begin(struct interruptions *interruptions, uint32_t offer, msec_t at)
{
    struct interruption_record *record = &interruptions->records[offer];

    if (!is_market(interruptions, offer))
        return;
    *record = record_at(record, at);
    record->living++;
    mark(interruptions, offer);
}

void interruptions_end(struct interruptions *interruptions, uint32_t offer, msec_t at,
                       bool was_lost)
{
    struct interruption_record *record = &interruptions->records[offer];

    if (!is_market(interruptions, offer))
        return;
    *record = record_at(record, at);
    if (record->living > 0)
        record->living--;
    if (was_lost) {
        record->losses += 1;
        interruptions->has_changed = true;
    }
    mark(interruptions, offer);
}

/*
 * What it tells.
 */

/* The length of the region's name in that of the zone: "us-east-1" of "us-east-1a", "us-central1" of "us-central1-a". */
static size_t region_length(const char *zone)
{
    size_t length = strlen(zone);

    if (length > 0)
        length--;
    if (length > 0 && zone[length - 1] == '-')
        length--;
    return length;
}

static bool is_same_region(const struct catalogue *catalogue, uint32_t a, uint32_t b)
{
    if (a == NAME_NONE || b == NAME_NONE)
        return a == b;

    const char *first = names_text(&catalogue->names, a);
    const char *second = names_text(&catalogue->names, b);
    const size_t length = region_length(first);

    return length == region_length(second) && memcmp(first, second, length) == 0;
}

static double weight_of(const struct catalogue *catalogue, uint32_t offer, uint32_t other)
{
    if (offer == other)
        return 1;
    return is_same_region(catalogue, catalogue->offers[offer].zone, catalogue->offers[other].zone)
               ? same_region
               : other_region;
}

/* A quantile of the gamma distribution by Wilson and Hilferty; 'z' is that of the normal distribution. */
static double gamma_quantile(double shape, double rate, double z)
{
    const double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));

    return root > 0 ? shape * root * root * root / rate : 0;
}

bool interruptions_rate(const struct interruptions *interruptions, uint32_t offer, msec_t now,
                        struct interruption_rate *ret)
{
    static const double one_in_ten = 1.2815515655446004;
    const struct catalogue *catalogue = interruptions->catalogue;
    const msec_t said = interruption_mean_ms(catalogue->offers[offer].interruption);
    struct interruption_rate rate = { 0 };

    if (!is_market(interruptions, offer))
        return false;
    for (uint32_t other = interruptions->first[catalogue->offers[offer].type]; other != OFFER_NONE;
         other = interruptions->next[other]) {
        if (!is_market(interruptions, other))
            continue;

        const struct interruption_record seen = record_at(&interruptions->records[other], now);
        const double weight = weight_of(catalogue, offer, other);

        rate.losses += weight * seen.losses;
        rate.hours += weight * seen.hours;
    }
    if (rate.losses <= 0)
        return false;

    const double prior_mean = said != MSEC_NEVER ? hours_of(said) : prior_hours_to_loss;
    const double shape = prior_losses + rate.losses;
    const double hours = prior_losses * prior_mean + rate.hours;

    rate.mean = shape / hours;
    rate.low = gamma_quantile(shape, hours, -one_in_ten);
    rate.high = gamma_quantile(shape, hours, one_in_ten);
    *ret = rate;
    return true;
}

msec_t interruption_span_ms(double rate)
{
    const double span = rate > 0 ? (double)MSEC_PER_HOUR / rate : (double)LIMIT_TIME_MS;

    return span < (double)LIMIT_TIME_MS ? (msec_t)span : LIMIT_TIME_MS;
}

msec_t interruptions_mean_ms(const struct interruptions *interruptions, uint32_t offer, msec_t now)
{
    struct interruption_rate rate;

    if (!interruptions_rate(interruptions, offer, now, &rate))
        return interruption_mean_ms(interruptions->catalogue->offers[offer].interruption);

    const double mean = (double)MSEC_PER_HOUR / rate.mean;

    return mean < (double)LIMIT_TIME_MS ? (msec_t)mean + 1 : LIMIT_TIME_MS;
}

/*
 * Over a restart.
 */

bool interruptions_save(const struct interruptions *interruptions, uint32_t offer, msec_t now,
                        struct interruption_memory *ret)
{
    const struct interruption_record record = record_at(&interruptions->records[offer], now);
    const struct interruption_memory memory = {
        .losses_micro = llround(record.losses * micro),
        .machine_ms = llround(record.hours * (double)MSEC_PER_HOUR),
        .at = record.at,
    };

    if (memory.losses_micro == 0 && memory.machine_ms == 0)
        return false;
    *ret = memory;
    return true;
}

uint32_t interruptions_take_changed(struct interruptions *interruptions)
{
    if (interruptions->changed_count == 0)
        return OFFER_NONE;

    const uint32_t offer = interruptions->changed[--interruptions->changed_count];

    interruptions->records[offer].is_changed = false;
    return offer;
}

void interruptions_mark_living(struct interruptions *interruptions)
{
    for (uint32_t offer = 0; offer < interruptions->offer_count; offer++) {
        if (interruptions->records[offer].living > 0)
            mark(interruptions, offer);
    }
}

bool interruptions_resume(struct interruptions *interruptions, uint32_t offer,
                          const struct interruption_memory *memory)
{
    if (!is_market(interruptions, offer) || memory->at < 0 || memory->at > LIMIT_TIME_MS ||
        memory->losses_micro < 0 || memory->losses_micro > LIMIT_TIME_MS ||
        memory->machine_ms < 0 || memory->machine_ms > LIMIT_TIME_MS)
        return false;
    interruptions->records[offer].losses = (double)memory->losses_micro / micro;
    interruptions->records[offer].hours = hours_of(memory->machine_ms);
    interruptions->records[offer].at = memory->at;
    interruptions->has_changed = true;
    return true;
}
