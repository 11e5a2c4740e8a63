/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/usage_csv.h"

static void check_usage(const struct usage *usage)
{
    assert(usage->hours > 0 && usage->hours <= USAGE_HOURS_MAX);
    assert(usage->columns.count > 0);
    assert((uint64_t)usage->hours * usage->columns.count <= USAGE_CELLS_MAX);
    assert(usage->gap_hours < usage->hours);
    for (uint32_t i = 0; i < usage->columns.count; i++) {
        const uint32_t *counts = usage_column(usage, i);

        for (uint32_t k = 0; k < usage->hours; k++)
            assert(counts[k] <= USAGE_COUNT_MAX);
    }
    assert(strlen(usage_time_text(usage, 0).text) > 0);
    assert(strlen(usage_time_text(usage, usage->hours - 1).text) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct usage usage = { 0 };
    struct error error = { "" };

    if (usage_csv_read((const char *)data, size, &usage, &error) < 0) {
        fuzz_check_error(&error);
        assert(usage.counts == NULL);
        return 0;
    }
    check_usage(&usage);
    usage_done(&usage);
    return 0;
}
