/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/offer_index.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

int offer_index_words(const struct catalogue *catalogue, uint32_t offer, char *buf, size_t size)
{
    const struct offer *of = &catalogue->offers[offer];
    const char *zone = of->zone != NAME_NONE ? names_text(&catalogue->names, of->zone) : NULL;

    return snprintf(buf, size, "%s%s%s, %s", catalogue_offer_type_name(catalogue, offer),
                    zone != NULL ? " in " : "", zone != NULL ? zone : "", market_name(of->market));
}

void offer_index_init(struct offer_index *index, const struct catalogue *catalogue)
{
    char words[256];

    names_init(&index->words);
    index->offers = mem_alloc(catalogue->offer_count, sizeof(*index->offers));
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        (void)offer_index_words(catalogue, i, words, sizeof(words));
        index->offers[names_add(&index->words, words, strlen(words))] = i;
    }
}

void offer_index_done(struct offer_index *index)
{
    names_done(&index->words);
    mem_free(index->offers);
}

uint32_t offer_index_find(const struct offer_index *index, const char *words)
{
    const uint32_t name =
        words != NULL ? names_find(&index->words, words, strlen(words)) : NAME_NONE;

    return name != NAME_NONE ? index->offers[name] : OFFER_NONE;
}
