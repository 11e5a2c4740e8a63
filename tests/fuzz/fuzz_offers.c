/* SPDX-License-Identifier: Apache-2.0 */
/* An expression over offers is refused or met by each offer or not; in brackets it means the same, behind '!' the
 * opposite, and a set has what its text says. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/offer_set.h"

static void fill(struct catalogue *catalogue)
{
    static const struct price_change price = { 0 };
    static const char *const zones[] = { "a", "b", NULL };

    catalogue_init(catalogue);
    for (uint32_t i = 0; i < 3; i++) {
        const struct machine_type type = { .setup_ms = 0 };
        const uint32_t row = catalogue_add_type(catalogue, (const char *[]){ "x", "y.z", "a" }[i],
                                                i == 1 ? "y" : "x", &type);

        catalogue_add_word(catalogue, row, i == 0 ? "gpu=t" : "w");
        for (uint32_t k = 0; k < 3; k++) {
            const struct offer offer = { .type = row,
                                         .market = k == 1 ? MARKET_SPOT : MARKET_ON_DEMAND,
                                         .billing = { .step_ms = 1 },
                                         .price = { &price, 1 } };

            (void)catalogue_add_offer(catalogue, zones[k], &offer);
        }
    }
}

static void check(const struct catalogue *catalogue, const char *text, size_t length)
{
    char *bracketed = malloc(length + 8);
    char *opposite = malloc(length + 8);
    struct offer_sets sets;

    assert(bracketed != NULL && opposite != NULL);
    (void)snprintf(bracketed, length + 8, "(%s)", text);
    (void)snprintf(opposite, length + 8, "![%s]", text);
    offer_sets_init(&sets);
    offer_sets_bind(&sets, catalogue);
    const uint32_t set = offer_sets_add(&sets, text);

    assert(strcmp(offer_sets_text(&sets, set), text) == 0);
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const bool has = offer_text_has(text, catalogue, i);

        assert(offer_sets_has(&sets, set, i) == has);
        assert(offer_text_has(bracketed, catalogue, i) == has);
        assert(offer_text_has(opposite, catalogue, i) != has);
    }
    offer_sets_done(&sets);
    free(bracketed);
    free(opposite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct catalogue catalogue;

    assert(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    fill(&catalogue);
    if (offer_text_is_valid(text) && *text != '\0')
        check(&catalogue, text, strlen(text));
    catalogue_done(&catalogue);
    free(text);
    return 0;
}
