/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is inside, no more than the bound comes out, and the text ends in a zero. */
#include "fuzz.h"

#include "base/mem.h"
#include "trace/decompress.h"

enum { SIZE_MAX_OUT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const enum compression kind = compression_of((const char *)data, size);
    struct error error = { "" };
    char *text = NULL;
    size_t length = 0;

    if (kind == COMPRESSION_NONE)
        return 0;
    if (decompress(kind, (const char *)data, size, SIZE_MAX_OUT, &text, &length, &error) < 0) {
        fuzz_check_error(&error);
        assert(text == NULL);
        return 0;
    }
    assert(length <= SIZE_MAX_OUT);
    assert(text[length] == 0);
    mem_free(text);
    return 0;
}
