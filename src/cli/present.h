/* SPDX-License-Identifier: Apache-2.0 */
/*
 * present.h - what every verb can do with its answer without knowing of it: -o yaml, -o wide, --watch, --color, --sort of
 * verbs that need no daemon, and --html and --md of those whose answer is passed around.
 *
 * The verb runs in a child whose standard output is a pipe. YAML is made of what `-o json` prints; `wide` is the table
 * as it is where there is no terminal, with nothing cut; --watch shows the answer again and again; --html and
 * --md make a report of it (answer_report.h) instead of printing it. Whatever else the
 * verb prints, such as its help or errors, is passed on as it is.
 *
 * Promises:  the exit code is the verb's. YAML is ASCII and holds the same values as the JSON.
 * Costs:     one process for each answer; the answer is kept in memory once.
 */
#ifndef STINT_CLI_PRESENT_H
#define STINT_CLI_PRESENT_H

#include <stdio.h>

#include "cli/verb.h"

/* Run the verb, presented as its arguments ask. Returns an exit code. */
int present(const struct verb *verb, int argc, char **argv);

/* Whether colour is wanted, by --color=WHEN: auto is where the answer goes to a terminal and NO_COLOR is not set. False: it is no WHEN. */
bool present_colour(const char *when, bool is_terminal, bool *ret);

/* The JSON text as YAML. -EINVAL: it is no JSON, and nothing was written. */
int present_yaml(const char *json, size_t size, FILE *out);

#endif
