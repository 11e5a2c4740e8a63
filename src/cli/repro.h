/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro.h - what `stint repro` was asked, and what all reproductions share.
 */
#ifndef STINT_CLI_REPRO_H
#define STINT_CLI_REPRO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/report_table.h"
#include "draw/chart.h"
#include "trace/csv.h"
#include "trace/input_file.h"

enum { REPRO_POLICIES_MAX = 16 };

/* What the command line asks for. */
struct repro_options {
    enum output_format format;
    const char *policies[REPRO_POLICIES_MAX]; /* only these; none: all */
    uint32_t policy_count;
    uint32_t figure;          /* 0: the table */
    uint32_t jobs;            /* only the first so many; 0: all */
    uint64_t seed;            /* of what is drawn at random */
    uint32_t seeds;           /* how many from that one on are averaged over, where they are */
    const char *interference; /* "matrix", "permuted", or a number */
    const char *vary; /* how the trace differs, see docs/research/yardstick.md; NULL: not at all */
    const char *wait_price; /* of stint, as in a scenario file; NULL: its default */
    const char *svg;        /* where to write the picture; NULL: nowhere */
    bool check;
    const char *workloads[REPRO_POLICIES_MAX]; /* all: only these; none: all */
    uint32_t workload_count;
    uint32_t limit_s; /* all: of processor time, for each run */
    bool is_fixed;    /* all: no running task may be moved */
};

/* Whether the named row is asked for. */
bool repro_wants(const struct repro_options *options, const char *name);

/* Read a file of the data folder. Returns 0, -ENOENT where it is not there, or another errno. */
int repro_read_data(const char *file, struct input_file *ret, struct error *reterr);

/* A column of the row that was read last as a whole number of its smallest unit, within [least, most]. */
int repro_get_number(const struct csv *csv, const char *name, int digits, int64_t least,
                     int64_t most, int64_t *ret, struct error *reterr);

/* Print the error; the exit code that goes with it. */
int repro_fail(int rc, const struct error *error);

/* Say on standard error if 'measured' is further from 'expected' than allowed; whether it is not. */
bool repro_is_near(const char *who, const char *what, double measured, double expected,
                   double tolerance);

/* Write a chart to a file; says on standard error why it cannot. */
int repro_write_chart(const struct chart *chart, const char *path);

#endif
