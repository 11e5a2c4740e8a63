/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - one line on standard error that says how far a long run is; nothing if that is no
 * terminal.
 */
#ifndef STINT_CLI_PROGRESS_H
#define STINT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    bool shown;      /* standard error is a terminal */
    uint32_t permil; /* that was shown last */
};

void progress_start(struct progress *progress, const char *what);

/* 'done' of 'total'; cheap to call often. Fits sim_config.on_progress, the progress being its context. */
void progress_step(void *context, uint32_t done, uint32_t total);

/* Wipe the line. */
void progress_end(struct progress *progress);

#endif
