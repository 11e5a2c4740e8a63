/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/blocks.h"

#include <math.h>

enum { EIGHTHS = 8 };

static double within(double share)
{
    return isfinite(share) ? fmin(1, fmax(0, share)) : 0;
}

/* U+2588 is a full block; U+2589 to U+258F are seven eighths to one. */
static void put_eighths(FILE *out, uint32_t eighths)
{
    (void)fprintf(out, "\xE2\x96%c", 0x90 - (int)eighths);
}

static void bar_of_eighths(FILE *out, double share, uint32_t columns)
{
    const uint32_t filled = (uint32_t)lround(share * columns * EIGHTHS);

    for (uint32_t i = 0; i < columns; i++) {
        const uint32_t left = filled > i * EIGHTHS ? filled - i * EIGHTHS : 0;

        if (left == 0)
            (void)fputc(' ', out);
        else
            put_eighths(out, left < EIGHTHS ? left : EIGHTHS);
    }
}

void blocks_bar(FILE *out, double share, uint32_t columns, bool is_utf8)
{
    const uint32_t filled = (uint32_t)lround(within(share) * columns);

    if (is_utf8) {
        bar_of_eighths(out, within(share), columns);
        return;
    }
    for (uint32_t i = 0; i < columns; i++)
        (void)fputc(i < filled ? '#' : '.', out);
}

/* U+2581 to U+2588: one eighth to eight. */
void blocks_spark(FILE *out, const double *values, uint32_t count)
{
    double most = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (isfinite(values[i]))
            most = fmax(most, values[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const double share = most > 0 ? within(values[i] / most) : 0;

        (void)fprintf(out, "\xE2\x96%c", 0x81 + (int)lround(share * (EIGHTHS - 1)));
    }
}
