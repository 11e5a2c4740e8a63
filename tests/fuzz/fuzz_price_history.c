/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/price_history.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct price_history history = { 0 };
    struct error error = { "" };
    uint32_t changes = 0;

    if (price_history_read((const char *)data, size, &history, &error) < 0) {
        fuzz_check_error(&error);
        assert(history.changes == NULL);
        return 0;
    }
    for (uint32_t i = 0; i < history.offer_count; i++) {
        const struct price_series *series = &history.offers[i].series;

        for (uint32_t k = 0; k < series->count; k++) {
            assert(series->changes[k].at >= history.first && series->changes[k].at <= history.last);
            assert(series->changes[k].per_hour >= 0);
            assert(k == 0 || series->changes[k - 1].at <= series->changes[k].at);
        }
        changes += series->count;
    }
    assert(changes == history.change_count);
    price_history_done(&history);
    return 0;
}
