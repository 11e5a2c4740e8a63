/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_line.h - jobs and nodes of the fake Slurm in the lines of stint-slurm, as slurm_record.c writes them.
 */
#ifndef STINT_TESTS_PROP_FAKE_LINE_H
#define STINT_TESTS_PROP_FAKE_LINE_H

#include "fake_bridge.h"

/* The whole line; returns a hash of it, without the priority. */
uint64_t fake_line_job(const struct fake_bridge *bridge, const struct fake_job *job,
                       struct line_text *out);
uint64_t fake_line_node(const struct fake_bridge *bridge, const struct fake_node *node,
                        struct line_text *out);

/* Fields: where and when it ran, a time that is above 0, and the word for its state. */
void fake_line_run(const struct fake_bridge *bridge, const struct fake_job *job,
                   struct line_text *out);
void fake_line_time(const struct fake_bridge *bridge, struct line_text *out, const char *key,
                    msec_t at);
const char *fake_line_state(const struct fake_job *job);

#endif
