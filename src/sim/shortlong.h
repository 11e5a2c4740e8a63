/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shortlong.h - simulate short jobs beside long ones: servers with queues of their own, probes, late
 * binding.
 *
 * The other simulator (simulation.h) has one place that decides where each task goes. Here, as in hybrid
 * schedulers, a short job sends probes to servers, and a server that comes to a probe asks the job for a
 * task (Eagle, SoCC'16); long jobs are placed centrally. Servers run one task at a time. Some stand in the
 * short partition and take no long task; transient ones join it and leave as decide/short_partition.h says
 * (CloudCoaster). docs/research/coaster.md has the rules and where they come from.
 *
 *   shortlong.c            a run from its first event to its result
 *   shortlong_server.c     the queue of a server, what it starts next
 *   shortlong_place.c      where probes and long tasks go
 *   shortlong_transient.c  servers that join, drain, leave or are lost
 *
 * Promises:  same trace, same settings, same seed: same result, to the bit. Every task runs to its end
 *            once; what was lost with its server starts again.
 * Costs:     O(tasks * log(servers) + probes * queue length); 0.06 s for 130,000 tasks on 4,000 servers.
 */
#ifndef STINT_SIM_SHORTLONG_H
#define STINT_SIM_SHORTLONG_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/short_partition.h"
#include "trace/hybrid_trace.h"

enum {
    SHORTLONG_SERVERS_MAX = 1 << 20, /* of each partition */
    SHORTLONG_TRANSIENT_MAX = 1 << 16,
};

struct shortlong_config {
    const struct hybrid_trace *trace;
    uint32_t short_servers; /* on demand, for short tasks only; at least one */
    uint32_t long_servers;  /* for both; at least one */
    msec_t cutoff_ms;       /* a job whose mean is above it is long */
    msec_t grain_ms;        /* durations are cut to multiples of it; at least 1 */
    uint32_t probe_ratio;   /* probes per task of a short job */
    uint32_t probes_least;  /* of a short job */

    struct short_partition_rule
        rule; /* .most 0: no transient servers; up to SHORTLONG_TRANSIENT_MAX */
    msec_t boot_ms;
    msec_t mean_life_ms; /* until a transient server is lost; 0: none is ever */

    /* A server with nothing to do starts a waiting short task. */
    bool idle_pull;

    /* A long-partition server that ends a task starts one before the next long task in its queue, which that
     * keeps waiting for no longer than it is estimated to run. */
    bool boundary_pull;

    uint64_t seed;
};

/* The settings of the public simulator of Eagle for the Yahoo trace: 4,000 servers, 80 of them short. */
struct shortlong_config shortlong_eagle(const struct hybrid_trace *trace);

struct shortlong_result {
    msec_t *delays; /* from the arrival of the job to the start, of each short task, ascending */
    uint32_t short_tasks;
    uint32_t short_in_long; /* of them, those that ran in the long partition */

    uint32_t long_jobs;
    msec_t long_sum_ms; /* of their times from arrival to the end of the last task */

    msec_t first_ms; /* arrival */
    msec_t last_ms;  /* arrival */
    msec_t end_ms;   /* of the last task */

    /* Transient servers: time of all that were up (not booting), in the whole run and until the last
     * arrival. */
    int64_t up_ms;
    int64_t up_until_last_ms;
    uint32_t peak; /* booting, active and draining at once */
    uint32_t ready_count;
    uint32_t lost_count;
    msec_t life_sum_ms; /* from ready to gone */
    msec_t life_max_ms;
};

void shortlong_run(const struct shortlong_config *config, struct shortlong_result *ret);
void shortlong_result_done(struct shortlong_result *result);

#endif
