/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_file.h - a whole file in memory. The only part of the readers that touches the outside.
 *
 * What gzip or zstd compressed is unfolded; the first bytes tell, not the name.
 *
 * Bounds:  at most LIMIT_FILE_BYTES, as read and unfolded; pipes and devices are read to their end.
 * Memory:  owned by the struct, freed by input_file_done.
 */
#ifndef STINT_TRACE_INPUT_FILE_H
#define STINT_TRACE_INPUT_FILE_H

#include <stddef.h>

#include "base/error.h"

struct input_file {
    char *text; /* with a zero behind it */
    size_t length;
};

/* Errors name the file and what to do. */
int input_file_read(const char *path, struct input_file *ret, struct error *reterr);

/* Takes what was never filled, if it is zeroed. */
void input_file_done(struct input_file *file);

#endif
