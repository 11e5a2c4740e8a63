/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

void progress_start(struct progress *progress, const char *what)
{
    *progress = (struct progress){ .what = what, .shown = isatty(STDERR_FILENO) != 0 };
}

void progress_step(void *context, uint32_t done, uint32_t total)
{
    struct progress *progress = context;
    const uint32_t permil = total > 0 ? (uint32_t)((uint64_t)done * 1000 / total) : 1000;

    if (!progress->shown || permil == progress->permil)
        return;
    progress->permil = permil;
    fprintf(stderr, "\r\033[K%s: %u.%u %%", progress->what, permil / 10, permil % 10);
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->shown && progress->permil > 0)
        fputs("\r\033[K", stderr);
}
