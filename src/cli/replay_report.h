/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_report.h - the answer of `stint replay`, in invoice terms.
 *
 * Table:  the policies, some sentences around them, then the users who cost most.
 * JSON:   {"policies": {...}, "users": {...}}, each as report_table.h prints a table; all users.
 * CSV:    the policies, or, if asked for, all users.
 *
 * Promises:  equal runs give equal bytes.
 */
#ifndef STINT_CLI_REPLAY_REPORT_H
#define STINT_CLI_REPLAY_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/replay_baseline.h"
#include "cli/replay_input.h"
#include "cli/replay_run.h"
#include "cli/report_table.h"

enum { REPLAY_USERS_SHOWN = 10 };

struct replay_report {
    const struct replay_source *source;
    const struct replay_input *input;
    const struct replay_run *runs; /* at least one */
    uint32_t run_count;
    const struct replay_baseline *baselines; /* REPLAY_BASELINES of them */
    msec_t suspend_ms;                       /* of power saving */
    enum sim_estimates estimates;
    money_t paid; /* what the invoice said; MONEY_UNKNOWN: nobody knows */
    bool
        all_users; /* table: not only those who cost most; CSV: the users instead of the policies */
    enum output_format format;
};

/* A negative errno when 'out' fails. */
int replay_report_write(const struct replay_report *report, FILE *out);

#endif
