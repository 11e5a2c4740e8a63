/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/limits.h"
#include "trace/catalogue_file.h"

static void check_catalogue(const struct catalogue *catalogue)
{
    assert(catalogue->offer_count > 0);
    for (uint32_t i = 0; i < catalogue->type_count; i++) {
        const struct machine_type *type = &catalogue->types[i];

        assert(type->family < catalogue->families.count);
        assert(type->acquire_ms >= 0 && type->setup_ms >= 0 && type->release_ms >= 0);
        for (int kind = 0; kind < RES_KINDS; kind++)
            assert(type->capacity.amount[kind] >= 0 &&
                   type->capacity.amount[kind] <= LIMIT_RESOURCE);
    }
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct offer *offer = &catalogue->offers[i];

        assert(offer->type < catalogue->type_count);
        assert(offer->billing.step_ms > 0 && offer->billing.minimum_ms >= 0);
        assert(price_at(&offer->price, 0) >= 0 && price_at(&offer->price, 0) <= LIMIT_MONEY);
        assert(offer->interruption.high <= 100);
        assert(offer->interruption.high == 0
                   ? offer->interruption.low == 0
                   : offer->market == MARKET_SPOT &&
                         offer->interruption.low < offer->interruption.high);
        for (uint32_t k = 1; k < offer->price.count; k++)
            assert(offer->price.changes[k].at > offer->price.changes[k - 1].at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct catalogue catalogue = { 0 };
    struct error error = { "" };

    if (catalogue_file_read((const char *)data, size, &catalogue, &error) < 0) {
        fuzz_check_error(&error);
        assert(catalogue.types == NULL);
        return 0;
    }
    check_catalogue(&catalogue);
    catalogue_done(&catalogue);
    return 0;
}
