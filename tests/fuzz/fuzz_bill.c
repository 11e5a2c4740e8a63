/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/bill_csv.h"

static void check_line(const struct bill *bill, const struct bill_line *line)
{
    assert(line->to >= line->from && line->from >= 0);
    assert(line->used_ms >= 0);
    assert(!line->is_machine || line->kind == BILL_USAGE);
    assert(line->what == NAME_NONE || line->what < bill->words.count);
    assert(line->region == NAME_NONE || line->region < bill->words.count);
    assert(line->cluster == NAME_NONE || line->cluster < bill->words.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bill bill = { .lines = NULL };
    struct error error = { "" };

    if (bill_csv_read((const char *)data, size, &bill, &error) < 0) {
        fuzz_check_error(&error);
        assert(bill.lines == NULL);
        return 0;
    }
    for (uint32_t i = 0; i < bill.count; i++)
        check_line(&bill, &bill.lines[i]);
    bill_done(&bill);
    return 0;
}
