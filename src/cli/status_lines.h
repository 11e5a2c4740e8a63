/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_lines.h - the daemon's /v1/status in a few lines, for `stint status` and `stint top`.
 */
#ifndef STINT_CLI_STATUS_LINES_H
#define STINT_CLI_STATUS_LINES_H

#include <jansson.h>
#include <stdio.h>

/* One line each: who it is and how it is; what runs; what it costs. */
void status_line_who(FILE *out, const json_t *status);
void status_line_work(FILE *out, const json_t *status);
void status_line_machines(FILE *out, const json_t *status);
/* What the machines could cost at the least; nothing, if that is not known. */
void status_line_bound(FILE *out, const char *before, const json_t *status);

void status_line_money(FILE *out, const json_t *status);

#endif
