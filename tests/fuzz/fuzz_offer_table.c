/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/offer_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct offer_table table = { 0 };
    struct error error = { "" };

    (void)offer_table_looks_like((const char *)data, size);
    if (offer_table_read((const char *)data, size, &table, &error) < 0) {
        fuzz_check_error(&error);
        assert(table.rows == NULL);
        return 0;
    }
    assert(table.count > 0);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct offer_row *row = &table.rows[i];

        assert(row->capacity > 0 && row->price > 0 && row->on_demand >= 0);
        assert(row->down >= 0 && row->down <= 1);
        assert(row->tail <= 9999);
        assert(strlen(names_text(&table.names, row->type)) > 0);
    }
    offer_table_done(&table);
    return 0;
}
