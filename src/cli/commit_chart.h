/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_chart.h - draw the history as it would have been paid for with the advice in place.
 *
 * Each panel is a column: what each class would have carried, stacked, and on demand above. Hours
 * are too dense to be seen, so a point is the mean of a day, or of several where there are many;
 * the line above is the busiest hour of each.
 */
#ifndef STINT_CLI_COMMIT_CHART_H
#define STINT_CLI_COMMIT_CHART_H

#include <stdint.h>
#include <stdio.h>

#include "cli/commit_answer.h"

/* Print the SVG document and flush. A negative errno when 'out' fails. */
int commit_chart_write(const struct commit_answer *answers, uint32_t count, FILE *out);

#endif
