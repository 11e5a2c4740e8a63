/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - what is still open in the books, as the controller's ledger has it at the instant of the question, so that status,
 * ledger, page and metrics agree.
 *
 * Promises:  asking changes nothing.
 * Costs:     O(price changes since the last cut) for a machine, O(tasks that share its machines) for a task.
 */
#ifndef STINT_SERVE_LIVE_H
#define STINT_SERVE_LIVE_H

#include "serve/serve.h"
#include "store/store_report.h"

struct serve_books {
    const struct serve_world *world;
    msec_t now;
};

/* 'books' must outlive the answer. */
struct store_live serve_live(const struct serve_world *world, struct serve_books *books);

/* What the books add up to by now. O(living machines and tasks). */
int serve_totals(const struct serve_world *world, struct store_totals *ret, struct error *reterr);

#endif
