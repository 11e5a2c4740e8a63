/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/api_private.h"

static const char *word_of(const struct serve_risk *risk)
{
    if (risk->is_learned)
        return "learned";
    return risk->lasts_ms != MSEC_NEVER ? "catalogue" : NULL;
}

static void set_risk(json_t *object, const struct offer *offer, const struct serve_risk *risk)
{
    const bool has_band = offer->interruption.high > 0;

    json_object_set_new(object, "interruption_percent",
                        has_band
                            ? json_pack("[i,i]", offer->interruption.low, offer->interruption.high)
                            : json_null());
    api_set_time(object, "lasts_ms", risk->lasts_ms);
    api_set_text(object, "lasts_by", word_of(risk));
    api_set_time(object, "lasts_low_ms", risk->low_ms);
    api_set_time(object, "lasts_high_ms", risk->high_ms);
    api_set_number(object, "losses_milli", risk->losses_milli);
    api_set_number(object, "machine_ms", risk->machine_ms);
}

static json_t *offer_json(const struct api_call *call, uint32_t row)
{
    const struct catalogue *catalogue = call->view->catalogue;
    const struct offer *offer = &catalogue->offers[row];
    const struct serve_risk risk = serve_risk(call->world, row);
    const msec_t until = call->view->offer_blocked_until[row];
    json_t *object = json_object();

    api_set_text(object, "type", catalogue_offer_type_name(catalogue, row));
    api_set_text(object, "zone", api_name(&catalogue->names, offer->zone));
    api_set_text(object, "market", market_name(offer->market));
    api_set_resources(object, &catalogue->types[offer->type].capacity);
    api_set_money(object, "price_microdollars_per_hour", price_at(&offer->price, call->now));
    api_set_time(object, "blocked_until", until > call->now ? until : -1);
    set_risk(object, offer, &risk);
    return object;
}

void api_offers(struct api_call *call)
{
    const struct catalogue *catalogue = call->view->catalogue;
    uint32_t limit = 0;
    uint32_t total = 0;

    if (!api_limit(call, &limit))
        return;

    json_t *offers = json_array();

    for (uint32_t row = 0; row < catalogue->offer_count; row++) {
        if (catalogue->offers[row].is_former)
            continue;
        total++;
        if (json_array_size(offers) < limit)
            json_array_append_new(offers, offer_json(call, row));
    }
    api_json(call, 200,
             json_pack("{s:I,s:I,s:o}", "now", (json_int_t)call->now, "total", (json_int_t)total,
                       "offers", offers));
}
