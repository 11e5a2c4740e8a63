/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_report.h - what a cluster cost in a stretch of time, as a page or as Markdown to pass around.
 *
 * Made of the daemon's answers (docs/reference/api.md), so that its numbers are those of `stint status` and
 * `stint ledger`. The page is one file: style and pictures are in it, it loads nothing and runs nothing.
 */
#ifndef STINT_CLI_USAGE_REPORT_H
#define STINT_CLI_USAGE_REPORT_H

#include <jansson.h>
#include <stdio.h>

struct usage_report {
    const json_t *status;  /* /v1/status */
    const json_t *history; /* /v1/history */
    const json_t *types;   /* /v1/ledger by type, of all time */
    const json_t *doctor;  /* /v1/doctor */
};

void usage_report_html(const struct usage_report *report, FILE *out);
void usage_report_md(const struct usage_report *report, FILE *out);

#endif
