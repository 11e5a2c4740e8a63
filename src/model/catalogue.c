/* SPDX-License-Identifier: Apache-2.0 */
#include "model/catalogue.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void catalogue_init(struct catalogue *catalogue)
{
    *catalogue = (struct catalogue){ 0 };
    names_init(&catalogue->names);
    names_init(&catalogue->families);
}

void catalogue_done(struct catalogue *catalogue)
{
    for (uint32_t i = 0; i < catalogue->offer_count; i++)
        mem_free(catalogue->owned_prices[i]);
    mem_free(catalogue->owned_prices);
    mem_free(catalogue->offers);
    mem_free(catalogue->types);
    mem_free(catalogue->words);
    names_done(&catalogue->families);
    names_done(&catalogue->names);
    catalogue_init(catalogue);
}

uint32_t catalogue_add_type(struct catalogue *catalogue, const char *name, const char *family,
                            const struct machine_type *type)
{
    const uint32_t index = catalogue->type_count;

    MEM_ROOM(catalogue->types, catalogue->types_room, index + 1);
    catalogue->types[index] = *type;
    catalogue->types[index].acquire_ms = machine_type_acquire_ms(type, 1);
    catalogue->types[index].word_first = 0;
    catalogue->types[index].name = names_add(&catalogue->names, name, strlen(name));
    catalogue->types[index].family = names_add(&catalogue->families, family, strlen(family));
    catalogue->type_count++;
    return index;
}

void catalogue_set_most(struct catalogue *catalogue, enum res_kind kind, int64_t most)
{
    for (uint32_t i = 0; i < catalogue->type_count; i++) {
        int64_t *amount = &catalogue->types[i].capacity.amount[kind];

        *amount = *amount > 0 ? *amount : most;
    }
    catalogue->changes++;
}

void catalogue_set_boot(struct catalogue *catalogue, uint32_t type, msec_t acquire_ms,
                        msec_t setup_ms)
{
    struct machine_type *row = &catalogue->types[type];

    assert(type < catalogue->type_count);
    catalogue->changes += row->acquire_ms != acquire_ms || row->setup_ms != setup_ms;
    row->acquire_ms = acquire_ms;
    row->setup_ms = setup_ms;
}

void catalogue_add_word(struct catalogue *catalogue, uint32_t type, const char *word)
{
    assert(type < catalogue->type_count);
    MEM_ROOM(catalogue->words, catalogue->words_room, catalogue->word_count + 1);
    catalogue->words[catalogue->word_count++] = (struct type_word){
        .word = names_add(&catalogue->names, word, strlen(word)),
        .next = catalogue->types[type].word_first,
    };
    catalogue->types[type].word_first = catalogue->word_count;
}

bool catalogue_has_word(const struct catalogue *catalogue, uint32_t type, const char *word,
                        size_t length)
{
    uint32_t at = catalogue->types[type].word_first;

    if (at == 0)
        return false;

    const uint32_t wanted = names_find(&catalogue->names, word, length);

    while (at != 0 && catalogue->words[at - 1].word != wanted)
        at = catalogue->words[at - 1].next;
    return at != 0;
}

void catalogue_copy_words(struct catalogue *catalogue, uint32_t type, const struct catalogue *from,
                          uint32_t from_type)
{
    for (uint32_t at = from->types[from_type].word_first; at != 0; at = from->words[at - 1].next)
        catalogue_add_word(catalogue, type, names_text(&from->names, from->words[at - 1].word));
}

uint32_t catalogue_find_type(const struct catalogue *catalogue, const char *name, size_t length)
{
    const uint32_t wanted = names_find(&catalogue->names, name, length);

    for (uint32_t i = 0; wanted != NAME_NONE && i < catalogue->type_count; i++) {
        if (catalogue->types[i].name == wanted)
            return i;
    }
    return UINT32_MAX;
}

uint32_t catalogue_add_offer(struct catalogue *catalogue, const char *zone,
                             const struct offer *offer)
{
    assert(offer->type < catalogue->type_count);
    assert(offer->price.count > 0);
    assert(offer->billing.step_ms > 0);

    const uint32_t index = catalogue->offer_count;
    const size_t size = offer->price.count * sizeof(struct price_change);
    struct price_change *changes = mem_alloc(offer->price.count, sizeof(*changes));

    memcpy(changes, offer->price.changes, size);
    MEM_ROOM(catalogue->offers, catalogue->offers_room, index + 1);
    MEM_ROOM(catalogue->owned_prices, catalogue->owned_room, index + 1);
    catalogue->owned_prices[index] = changes;
    catalogue->offers[index] = *offer;
    catalogue->offers[index].price.changes = changes;
    catalogue->offers[index].zone =
        zone != NULL ? names_add(&catalogue->names, zone, strlen(zone)) : NAME_NONE;
    catalogue->has_moving_prices = catalogue->has_moving_prices || offer->price.count > 1;
    catalogue->offer_count++;
    return index;
}

uint32_t catalogue_add_owned(struct catalogue *catalogue, uint32_t type, money_t per_hour)
{
    const struct price_change price = { .at = 0, .per_hour = per_hour };
    const struct offer offer = {
        .type = type,
        .market = MARKET_ON_DEMAND,
        .billing = { .step_ms = 1 },
        .price = { &price, 1 },
        .is_former = true,
        .is_owned = true,
    };

    return catalogue_add_offer(catalogue, OWNED_ZONE, &offer);
}

msec_t machine_type_acquire_ms(const struct machine_type *type, uint32_t count)
{
    const struct boot_point *boot = type->boot;
    uint32_t i = 1;

    if (type->boot_count == 0)
        return type->acquire_ms;
    if (count <= boot[0].count || type->boot_count == 1)
        return boot[0].ms;
    while (i + 1 < type->boot_count && count > boot[i].count)
        i++;

    const int64_t wide = (int64_t)boot[i].count - boot[i - 1].count;
    const int64_t past = (int64_t)count - boot[i - 1].count;

    assert(wide > 0);
    return boot[i - 1].ms + (boot[i].ms - boot[i - 1].ms) * past / wide;
}

msec_t interruption_mean_ms(struct interruption interruption)
{
    static const msec_t month = 730 * MSEC_PER_HOUR;
    const int64_t twice_middle = interruption.low + interruption.high;

    return twice_middle > 0 ? month * 2 * 100 / twice_middle : MSEC_NEVER;
}

const char *catalogue_offer_type_name(const struct catalogue *catalogue, uint32_t offer)
{
    return names_text(&catalogue->names, catalogue_type_of(catalogue, offer)->name);
}

const char *market_name(enum market market)
{
    static const char *const name[MARKET_COUNT] = { "on-demand", "spot", "reserved" };

    assert(market < MARKET_COUNT);
    return name[market];
}
