/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_report.h - what a job says of its own speed: one datagram, "LABEL RATE".
 *
 * LABEL is the job as its user writes it ("12", "12_3"), RATE its throughput as a share of what it has alone: 0.83, or 1. A
 * datagram is one report, at most RATE_REPORT_MAX bytes, and may end with a newline.
 *
 * Promises:  anything else is refused; nothing is read beyond 'length'. Rates are rounded to a millionth.
 * Costs:     O(length).
 */
#ifndef STINT_DAEMON_RATE_REPORT_H
#define STINT_DAEMON_RATE_REPORT_H

#include <stddef.h>
#include <stdint.h>

enum { RATE_REPORT_MAX = 128, RATE_LABEL_MAX = 64 };

struct rate_report {
    char label[RATE_LABEL_MAX];
    uint32_t rate_ppm; /* above 0, at most 1,000,000 */
};

/* 0, or -EINVAL. */
int rate_report_parse(const char *text, size_t length, struct rate_report *ret);

#endif
