/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what every fuzz target starts with.
 *
 * A target asks libFuzzer's question (whatever the bytes are, nothing breaks) and checks what the
 * reader promises: a failure has a text and leaves the output as it was, a success is within the
 * limits.
 */
#ifndef STINT_FUZZ_FUZZ_H
#define STINT_FUZZ_FUZZ_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An error text is there, ends, and is one line that a terminal may show. */
static inline void fuzz_check_error(const struct error *error)
{
    const size_t length = strnlen(error->text, sizeof(error->text));

    assert(length > 0);
    assert(length < sizeof(error->text));
    for (size_t i = 0; i < length; i++)
        assert(error->text[i] >= 0x20 && error->text[i] < 0x7f);
}

#endif
