/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - the numbers of the daemon as Prometheus text.
 *
 * Few series, whatever the size of the cluster: no label names a job, a user or an instance, and offers do so
 * only where machines of them were rented, 64 at the most. Dollars
 * are printed exactly, from whole micro-dollars. Counters come from the store and survive a restart.
 */
#ifndef STINT_SERVE_METRICS_H
#define STINT_SERVE_METRICS_H

#include "serve/serve.h"

enum { METRICS_OFFERS_MAX = 64 }; /* spot offers that have series of their own */

/* The text, which the caller frees with free(); 'size' without the final zero. NULL: the store cannot
 * be read. */
char *metrics_text(const struct serve_world *world, size_t *ret_size, struct error *reterr);

#endif
