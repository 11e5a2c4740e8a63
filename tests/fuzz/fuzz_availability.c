/* SPDX-License-Identifier: Apache-2.0 */
/* A series of availability that can be read has a step, values, and the offer that it is for. */
#include "fuzz.h"

#include "sim/scenario_losses.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct price_change price = { 0, 1000000 };
    const struct machine_type type = { .capacity = { { 1000, 1024, 0 } } };
    struct offer offer = { .billing = BILLING_PER_SECOND, .price = { &price, 1 } };
    const struct offer_pattern any = { 0 };
    struct sim_market market = { 0 };
    struct catalogue catalogue;
    struct error error = { "" };
    struct arena arena;

    arena_init(&arena);
    catalogue_init(&catalogue);
    offer.type = catalogue_add_type(&catalogue, "a", "a", &type);
    (void)catalogue_add_offer(&catalogue, NULL, &offer);
    if (scenario_availability_read(&any, (const char *)data, size, &catalogue, &arena, &market,
                                   &error) < 0) {
        fuzz_check_error(&error);
        assert(market.series_count == 0);
    } else {
        assert(market.series_count == 1 && market.series[0].offer == 0);
        assert(market.series[0].step_ms > 0 && market.series[0].count > 0);
    }
    catalogue_done(&catalogue);
    arena_done(&arena);
    return 0;
}
