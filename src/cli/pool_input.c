/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pool_input.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/names.h"
#include "cli/pool_defaults.h"
#include "model/catalogue.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/offer_table.h"
#include "trace/price_history.h"

enum { OFFERS_MAX = POOL_MARKET_OFFERS_MAX };

/* An offer on its way, with all that may be known of it. */
struct draft {
    struct promise_offer offer; /* its type is set at the end */
    struct pool_about about;
    struct price_series series; /* none: a count of 0 */
};

struct drafts {
    struct pool_input *input;
    struct draft *list;
    uint32_t count;
};

static const char *keep_text(struct pool_input *input, const char *text)
{
    char *copy = arena_alloc(&input->arena, strlen(text) + 1, 1);

    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static void keep_series(struct pool_input *input, const struct price_series *from,
                        struct price_series *to)
{
    assert(from != NULL);

    struct price_change *changes = ARENA_ARRAY(&input->arena, struct price_change, from->count);

    memcpy(changes, from->changes, from->count * sizeof(*changes));
    *to = (struct price_series){ .changes = changes, .count = from->count };
}

/* Remember the cheapest unit on demand. */
static void note_on_demand(struct pool_input *input, money_t price, int64_t capacity)
{
    struct promise_offer *best = &input->on_demand;

    __extension__ typedef __int128 wide_t;
    if (price > 0 && capacity > 0 &&
        (best->price == 0 || (wide_t)price * best->capacity < (wide_t)best->price * capacity))
        *best = (struct promise_offer){ .capacity = capacity, .price = price };
}

static int too_many(struct error *reterr)
{
    return error_set(reterr, -EFBIG,
                     "more than %d spot offers; name the types or zones that count "
                     "in a catalogue of its own",
                     OFFERS_MAX);
}

/* ---- a table with availabilities ---- */

static int read_table(struct drafts *drafts, const char *text, size_t length, struct error *reterr)
{
    struct offer_table table = { 0 };
    const int rc = offer_table_read(text, length, &table, reterr);

    if (rc < 0)
        return rc;
    if (table.count > OFFERS_MAX) {
        offer_table_done(&table);
        return too_many(reterr);
    }
    drafts->list = ARENA_ARRAY(&drafts->input->arena, struct draft, table.count);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct offer_row *row = &table.rows[i];
        struct draft *draft = &drafts->list[drafts->count++];

        draft->offer = (struct promise_offer){ .capacity = row->capacity,
                                               .price = row->price,
                                               .down = row->down };
        draft->about = (struct pool_about){
            .type = keep_text(drafts->input, names_text(&table.names, row->type)),
            .zone = row->zone != NAME_NONE
                        ? keep_text(drafts->input, names_text(&table.names, row->zone))
                        : NULL,
            .on_demand = row->on_demand,
            .source = POOL_TABLE,
        };
        note_on_demand(drafts->input, row->on_demand, row->capacity);
    }
    offer_table_done(&table);
    return 0;
}

/* ---- a catalogue ---- */

static int64_t units_of(const struct machine_type *type, enum pool_unit unit)
{
    switch (unit) {
    case POOL_CPU:
        return type->capacity.amount[RES_CPU] / 1000;
    case POOL_GIB:
        return type->capacity.amount[RES_MEM] / 1024;
    case POOL_ACCEL:
        return type->capacity.amount[RES_ACCEL] / 1000;
    }
    return 0;
}

static void read_band(struct draft *draft, struct interruption interruption, msec_t outage)
{
    const msec_t mean = interruption_mean_ms(interruption);

    if (mean == MSEC_NEVER)
        return;
    draft->offer.down = (double)outage / (double)(mean + outage);
    draft->about.source = POOL_BAND;
}

/* The cheapest price on demand of each type; 0: none. */
static money_t *prices_on_demand(struct pool_input *input, const struct catalogue *catalogue,
                                 enum pool_unit unit)
{
    money_t *prices = ARENA_ARRAY(&input->arena, money_t, catalogue->type_count);

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct offer *offer = &catalogue->offers[i];
        const money_t price = offer->price.changes[offer->price.count - 1].per_hour;

        if (offer->market != MARKET_ON_DEMAND || offer->is_former)
            continue;
        if (prices[offer->type] == 0 || price < prices[offer->type])
            prices[offer->type] = price;
        note_on_demand(input, price, units_of(&catalogue->types[offer->type], unit));
    }
    return prices;
}

static void take_offer(struct drafts *drafts, const struct catalogue *catalogue, uint32_t index,
                       money_t on_demand, const struct pool_settings *settings)
{
    const struct offer *offer = &catalogue->offers[index];
    struct draft *draft = &drafts->list[drafts->count++];

    draft->offer = (struct promise_offer){
        .capacity = units_of(&catalogue->types[offer->type], settings->unit),
        .price = offer->price.changes[offer->price.count - 1].per_hour,
    };
    draft->about = (struct pool_about){
        .type = keep_text(drafts->input, catalogue_offer_type_name(catalogue, index)),
        .zone = offer->zone != NAME_NONE
                    ? keep_text(drafts->input, names_text(&catalogue->names, offer->zone))
                    : NULL,
        .on_demand = on_demand,
    };
    read_band(draft, offer->interruption, settings->outage);
    if (offer->price.count > 1)
        keep_series(drafts->input, &offer->price, &draft->series);
}

static int read_catalogue(struct drafts *drafts, const char *text, size_t length,
                          const struct pool_settings *settings, struct error *reterr)
{
    struct catalogue catalogue;
    uint32_t spot = 0;
    int rc = catalogue_file_read(text, length, &catalogue, reterr);

    if (rc < 0)
        return rc;

    const money_t *on_demand = prices_on_demand(drafts->input, &catalogue, settings->unit);

    for (uint32_t i = 0; i < catalogue.offer_count; i++)
        spot += catalogue.offers[i].market == MARKET_SPOT;
    if (spot > OFFERS_MAX)
        rc = too_many(reterr);
    drafts->list = ARENA_ARRAY(&drafts->input->arena, struct draft, (size_t)spot + 1);
    for (uint32_t i = 0; rc == 0 && i < catalogue.offer_count; i++) {
        const struct offer *offer = &catalogue.offers[i];
        const int64_t units = units_of(&catalogue.types[offer->type], settings->unit);

        if (offer->market == MARKET_SPOT && !offer->is_former && units > 0 &&
            units <= POOL_UNITS_MAX && offer->price.changes[offer->price.count - 1].per_hour > 0)
            take_offer(drafts, &catalogue, i, on_demand[offer->type], settings);
    }
    catalogue_done(&catalogue);
    return rc;
}

/* ---- a history ---- */

static int read_history(struct drafts *drafts, const char *path, struct error *reterr)
{
    struct price_history history = { 0 };
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc == 0 && (rc = price_history_read(file.text, file.length, &history, reterr)) < 0)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < drafts->count; i++) {
        struct draft *draft = &drafts->list[i];
        const uint32_t found = price_history_find(&history, draft->about.type, draft->about.zone);

        if (found != UINT32_MAX)
            keep_series(drafts->input, &history.offers[found].series, &draft->series);
        else
            draft->series.count = 0; /* changes of price in the catalogue are of another time */
    }
    drafts->input->watched = (struct pool_span){ history.first, history.last };
    price_history_done(&history);
    return 0;
}

/* Without a file: from the first change of price in the catalogue to the last. */
static void watch_catalogue(struct drafts *drafts)
{
    struct pool_span *watched = &drafts->input->watched;
    bool has_one = false;

    for (uint32_t i = 0; i < drafts->count; i++) {
        const struct price_series *series = &drafts->list[i].series;

        if (series->count == 0)
            continue;

        const msec_t first = series->changes[0].at;
        const msec_t last = series->changes[series->count - 1].at;

        watched->from = !has_one || first < watched->from ? first : watched->from;
        watched->to = !has_one || last > watched->to ? last : watched->to;
        has_one = true;
    }
}

/* What the histories say: the market of those that have one, and their shares. */
static int learn(struct drafts *drafts, const struct pool_settings *settings, struct error *reterr)
{
    struct pool_input *input = drafts->input;
    struct pool_market *market = &input->market;
    uint32_t *draft_of = ARENA_ARRAY(&input->arena, uint32_t, drafts->count);

    market->offers = ARENA_ARRAY(&input->arena, struct pool_market_offer, drafts->count);
    market->on_demand = input->on_demand;
    for (uint32_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->list[i];
        const money_t known = draft->about.on_demand;

        if (draft->series.count == 0)
            continue;
        draft_of[market->count] = i;
        market->offers[market->count++] = (struct pool_market_offer){
            .series = draft->series,
            .price = draft->offer.price,
            .on_demand = known > 0 ? known : MONEY_UNKNOWN - 1,
            .capacity = draft->offer.capacity,
            .type = draft->offer.type,
        };
    }
    if (market->count == 0)
        return settings->history == NULL
                   ? 0
                   : error_set(reterr, -EINVAL,
                               "%s: no type and zone of it is a spot offer of the catalogue",
                               settings->history);
    assert(drafts->list != NULL);
    if (input->watched.to <= input->watched.from)
        return error_set(reterr, -EINVAL,
                         "the history has no length: all changes are of one moment");

    struct promise_record *records =
        ARENA_ARRAY(&input->arena, struct promise_record, market->count);
    double *down = ARENA_ARRAY(&input->arena, double, market->count);

    for (uint32_t i = 0; i < market->count; i++) {
        money_t price = 0;

        records[i] = pool_market_record(market, i, input->watched, &price);
        if (price > 0 && price < MONEY_UNKNOWN - 1)
            drafts->list[draft_of[i]].offer.price = price;
    }
    promise_trust(records, market->count, settings->confidence, settings->outage, down);
    for (uint32_t i = 0; i < market->count; i++) {
        drafts->list[draft_of[i]].offer.down = down[i];
        drafts->list[draft_of[i]].about.source = POOL_HISTORY;
    }
    return 0;
}

/* ---- all ---- */

/* Offers of one type get one number. */
static void number_types(struct drafts *drafts)
{
    struct names types;

    names_init(&types);
    for (uint32_t i = 0; i < drafts->count; i++) {
        const char *type = drafts->list[i].about.type;
        const uint32_t known = types.count;

        drafts->list[i].offer.type = names_add(&types, type, strlen(type));
        drafts->input->has_types_in_zones |= types.count == known;
    }
    drafts->input->types = types.count;
    names_done(&types);
}

static void keep_known(struct drafts *drafts)
{
    struct pool_input *input = drafts->input;

    input->offers = ARENA_ARRAY(&input->arena, struct promise_offer, drafts->count);
    input->about = ARENA_ARRAY(&input->arena, struct pool_about, drafts->count);
    for (uint32_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->list[i];

        input->of_source[draft->about.source]++;
        if (draft->about.source == POOL_UNKNOWN)
            continue;
        input->offers[input->count] = draft->offer;
        input->about[input->count++] = draft->about;
    }
    input->left_out = input->of_source[POOL_UNKNOWN];
}

/* What was gone together, of all offers: one without a history was never gone as far as that says. */
static void take_states(struct pool_input *input)
{
    struct pool_market all = { .offers = ARENA_ARRAY(&input->arena, struct pool_market_offer,
                                                     input->count),
                               .count = input->count };
    uint32_t next = 0;

    for (uint32_t i = 0; i < input->count; i++) {
        struct price_change *always = ARENA_ARRAY(&input->arena, struct price_change, 1);

        if (input->about[i].source == POOL_HISTORY)
            all.offers[i] = input->market.offers[next++];
        else
            all.offers[i] =
                (struct pool_market_offer){ .series = { always, 1 }, .price = 1, .on_demand = 1 };
    }
    avail_states_init(&input->states, input->count, &input->arena);
    pool_market_states(&all, input->watched, &input->states);
}

static int read_offers(struct drafts *drafts, const struct pool_settings *settings,
                       struct error *reterr)
{
    struct input_file file = { 0 };

    if (settings->catalogue == NULL)
        return read_table(drafts, pool_defaults, strlen(pool_defaults), reterr);

    int rc = input_file_read(settings->catalogue, &file, reterr);

    if (rc < 0)
        return rc;
    if (offer_table_looks_like(file.text, file.length))
        rc = read_table(drafts, file.text, file.length, reterr);
    else
        rc = read_catalogue(drafts, file.text, file.length, settings, reterr);
    if (rc < 0)
        (void)error_prefix(reterr, rc, settings->catalogue);
    input_file_done(&file);
    return rc;
}

int pool_input_read(const struct pool_settings *settings, struct pool_input *ret,
                    struct error *reterr)
{
    struct drafts drafts = { .input = ret };

    *ret = (struct pool_input){ 0 };
    arena_init(&ret->arena);

    int rc = read_offers(&drafts, settings, reterr);

    if (rc == 0) {
        number_types(&drafts);
        if (settings->history != NULL)
            rc = read_history(&drafts, settings->history, reterr);
        else
            watch_catalogue(&drafts);
    }
    if (rc == 0)
        rc = learn(&drafts, settings, reterr);
    if (rc == 0) {
        keep_known(&drafts);
        if (ret->count == 0)
            rc = error_set(reterr, -EINVAL,
                           "of no spot offer is it known how often it is lost; give --history, a "
                           "table with availabilities, or a catalogue with 'interruption'");
    }
    if (rc == 0 && ret->market.count > 0)
        take_states(ret);
    if (rc < 0)
        pool_input_done(ret);
    return rc;
}

void pool_input_done(struct pool_input *input)
{
    arena_done(&input->arena);
    *input = (struct pool_input){ 0 };
}

money_t pool_input_on_demand(const struct pool_input *input, int64_t capacity)
{
    const struct promise_offer *best = &input->on_demand;

    if (best->price == 0)
        return 0;
    return best->price * ((capacity + best->capacity - 1) / best->capacity);
}
