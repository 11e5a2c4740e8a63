/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_ids.h - hold that no two jobs of a trace have the same id.
 *
 * Bounds:  O(jobs) if the ids rise, else O(jobs log jobs).
 */
#ifndef STINT_TRACE_TRACE_IDS_H
#define STINT_TRACE_TRACE_IDS_H

#include <stdint.h>

#include "base/error.h"
#include "trace/trace.h"

/* 'lines' has the line of each job; 'word' is what the format calls an id, for the error. */
int trace_ids_check(const struct trace *trace, const uint32_t *lines, const char *word,
                    struct error *reterr);

#endif
