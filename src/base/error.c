/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *reterr, int code, const char *format, ...)
{
    assert(code < 0);

    if (reterr != NULL) {
        va_list args;

        va_start(args, format);
        (void)vsnprintf(reterr->text, sizeof(reterr->text), format, args);
        va_end(args);
    }
    return code;
}

int error_prefix(struct error *reterr, int code, const char *what)
{
    assert(code < 0);

    if (reterr != NULL) {
        struct error inner = *reterr;

        (void)snprintf(reterr->text, sizeof(reterr->text), "%.200s: %.300s", what, inner.text);
    }
    return code;
}
