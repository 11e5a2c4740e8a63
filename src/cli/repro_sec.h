/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_sec.h - the semi-elastic cluster's published results (TPDS'16), measured on its own logs.
 *
 *   repro_sec_world.c    the logs, the two clouds, one run of one mode, what it is billed
 *   repro_sec_table.c    all modes on SDSC-DS-2004
 *   repro_sec_figures.c  figures 4 to 6: modes, scheduling parameters, estimates
 *   repro_sec_plans.c    figures 7 and 8: commitments, two clouds
 */
#ifndef STINT_CLI_REPRO_SEC_H
#define STINT_CLI_REPRO_SEC_H

#include "base/error.h"
#include "cli/repro.h"
#include "model/commitment.h"
#include "policy/policy.h"
#include "sim/simulation.h"
#include "trace/swf.h"

enum {
    SEC_PROCESSORS_PER_INSTANCE = 16,
    SEC_INTEREST_PPM = 0, /* the published figures know no interest */
};

#define SEC_LOG   "swf/SDSC-DS-2004-2.1-cln.swf.gz"
#define SEC_PRICE ((money_t)2400000) /* cc2.8xlarge on demand, per hour */

/* How time is billed. */
enum sec_billing {
    SEC_EC2, /* by the hour */
    SEC_GCE, /* by the minute, ten at the least */
};

/* One mode: a policy, its options, how it is billed. */
struct sec_mode {
    const char *label;
    const struct policy *policy;
    int64_t option[POLICY_OPTIONS_MAX];
    enum sec_billing billing;
    bool boots_at_once; /* machines that are owned need no boot */
};

/* A mode with the policy's default options. */
struct sec_mode sec_mode(const char *label, const struct policy *policy, enum sec_billing billing);

/* What a run of a mode came to. */
struct sec_run {
    struct sim_result result;
    double used_hours; /* machine-hours that jobs ran */
    double paid_hours;
    uint32_t *usage; /* machines that were paid for, per hour */
    uint32_t hours;
    double seconds; /* processor time */
};

/* 'alpha_ppm' makes estimates so much as wrong as users gave them. Returns 0, -ENOENT where the
 * data is not there, or another negative errno. */
int sec_log_read(const char *file, uint32_t alpha_ppm, struct swf_log *ret, struct error *reterr);

int sec_run(const struct swf_log *log, const struct sec_mode *mode, struct sec_run *ret,
            struct error *reterr);
void sec_run_done(struct sec_run *run);

/* The EC2 price classes of 2012; the first is on demand. Returns their number. */
uint32_t sec_classes(const struct commitment **ret);

/* What the run costs on demand, with the best reservations for its usage, or with the discounts
 * that GCE gives by itself at 'ratio' of EC2's price. */
money_t sec_cost_on_demand(const struct sec_run *run);
money_t sec_cost_hybrid(const struct sec_run *run);
money_t sec_cost_gce(const struct sec_run *run, double ratio);

/* What a cluster of 'nodes' costs to own for the time of the run (table 3 of the paper). */
money_t sec_cost_owned(const struct sec_run *run, uint32_t nodes);

/* The modes of the table, from 0 on; NULL: there are no more. */
const char *repro_sec_name(uint32_t index);

/* The ways to answer; each returns an exit code of verb.h. */
int repro_sec_table(const struct repro_options *options);
int repro_sec_figure(const struct repro_options *options);
int repro_sec_figure_plans(const struct repro_options *options);

#endif
