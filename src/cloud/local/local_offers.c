/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/local/local_offers.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

void local_offers_init(struct local_offers *offers, const struct catalogue *catalogue)
{
    names_init(&offers->names);
    offers->offer_of = mem_alloc(catalogue->offer_count, sizeof(*offers->offer_of));
    offers->name_of = mem_alloc(catalogue->offer_count, sizeof(*offers->name_of));
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct offer *offer = &catalogue->offers[i];
        char text[2 * LIMIT_NAME + 32];
        const uint32_t known = offers->names.count;

        (void)snprintf(text, sizeof(text), "%s/%s/%s", catalogue_offer_type_name(catalogue, i),
                       offer->zone == NAME_NONE ? "" : names_text(&catalogue->names, offer->zone),
                       market_name(offer->market));
        offers->name_of[i] = names_add(&offers->names, text, strlen(text));
        if (offers->name_of[i] == known)
            offers->offer_of[known] = i;
    }
}

void local_offers_done(struct local_offers *offers)
{
    names_done(&offers->names);
    mem_free(offers->offer_of);
    mem_free(offers->name_of);
}

uint32_t local_offers_find(const struct local_offers *offers, const char *text)
{
    const uint32_t name = names_find(&offers->names, text, strlen(text));

    return name == NAME_NONE ? OFFER_NONE : offers->offer_of[name];
}

const char *local_offers_text(const struct local_offers *offers, uint32_t offer)
{
    return names_text(&offers->names, offers->name_of[offer]);
}
