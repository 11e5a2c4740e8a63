/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/limits.h"
#include "trace/market_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct market_words words = { .within_ms = -1 };
    struct error error = { "" };

    if (market_words_read((const char *)data, size, &words, &error) < 0) {
        fuzz_check_error(&error);
        assert(words.within_ms == -1);
        return 0;
    }
    assert(words.within_ms >= 0 && words.within_ms <= LIMIT_TIME_MS);
    assert(words.spot_for_ms >= 0 && words.spot_for_ms <= LIMIT_TIME_MS);
    assert(words.spot_for_ms == 0 || words.market == MARKET_RULE_SPOT);
    assert(market_words_rules(&words, LIMIT_TIME_MS).deadline >= words.within_ms);
    return 0;
}
