/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_partition.h - which jobs are short, and how many transient servers stand beside the servers that only they
 * use.
 *
 * Short jobs run at once unless long ones hold the servers. So the share of servers with long work, the
 * long-load ratio, says when short jobs need servers of their own (CloudCoaster, section 3.2): above a
 * threshold transient servers are requested, below it they are taken out of service one at a time.
 *
 * Promises:  pure, whole numbers. A strict rule never has more than 'most' alive, and takes none out
 *            of service that it would request again at once.
 * Costs:     O(1).
 */
#ifndef STINT_DECIDE_SHORT_PARTITION_H
#define STINT_DECIDE_SHORT_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { SHORT_PARTITION_PPM = 1000000 };

struct short_partition_rule {
    uint32_t most;          /* transient servers */
    uint32_t threshold_ppm; /* long-load ratio in millionths */

    /* The two readings of the paper. Strict: servers that finish their queues count towards 'most', and
     * one stays if the ratio without it would pass the threshold. Loose: neither. */
    bool strict;
};

/* The cluster as the rule sees it. */
struct short_partition_view {
    uint32_t with_long; /* servers that run long tasks or have some in their queue */
    uint32_t fixed;     /* servers that always stay, for long and short */
    uint32_t booting;   /* transient servers, by what they do */
    uint32_t active;
    uint32_t draining; /* take no new work, and leave when their queue is done */
};

/* What to do now: above 0, request so many; -1, take one active server out of service; 0, nothing.
 * Ask again when a long job is placed, a long task ends, a transient server becomes ready or leaves. */
int64_t short_partition_step(const struct short_partition_rule *rule,
                             const struct short_partition_view *view);

/* How many transient servers the price of 'servers' on demand pays for, at a price 'ratio' times lower:
 * the 'most' of a rule that keeps to the budget of the servers that it replaces (section 3.1). */
uint32_t short_partition_budget(uint32_t servers, uint32_t ratio);

/* What is known of a job before it runs. */
struct short_partition_job {
    msec_t limit_ms;    /* after which it is ended; MSEC_NEVER: none */
    msec_t estimate_ms; /* by history; MSEC_NEVER: there is none */
    uint32_t
        error_ppm; /* that is expected of the estimate, as runtimes.h counts it: half is a factor of two */
};

/* Whether the job is short: it cannot run for longer than 'cutoff_ms', or is not expected to even if it takes as
 * much longer than its estimate as estimates like it are wrong by. */
bool short_partition_admits(msec_t cutoff_ms, const struct short_partition_job *job);

/* Whether a short task may start before a long one that waits for the same room and was passed over for so long
 * already, so that it is not kept waiting for longer than it runs ("boundary pull"). */
static inline bool short_partition_may_pass(msec_t short_ms, msec_t long_ms, msec_t passed_ms)
{
    return short_ms <= long_ms - passed_ms;
}

#endif
