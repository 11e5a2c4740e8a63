/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_line.h - why a task waits, in one short line for the lists of the engine, where users look.
 *
 * It says the first of what 'stint explain' says, without the figures that move while it waits: the line stays the same
 * as long as the reason does, so that it is not written again and again.
 *
 * Costs:  O(tasks of its job) and, if no limit and nothing else keeps it, O(offers) until one is found that would do.
 */
#ifndef STINT_SERVE_WAIT_LINE_H
#define STINT_SERVE_WAIT_LINE_H

#include "serve/serve.h"

/* "waits for st-7, which boots (expected 10:20:30 UTC)"; returns its length; 0: it does not wait; below 0: that
 * is not known now, as after a restart. */
int serve_wait_line(struct serve_world *world, uint64_t task, msec_t now, char *ret, size_t size);

#endif
