/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb.h - one verb of the command line, `stint VERB ...`.
 *
 * Each verb is one file, verb_NAME.c, with one entry in the table of main.c. It parses its own
 * arguments with argp, prints its answer on standard output and everything else on standard error,
 * and returns one of the exit codes below, which stint(1) documents.
 */
#ifndef STINT_CLI_VERB_H
#define STINT_CLI_VERB_H

#include "base/error.h"

enum exit_code {
    EXIT_DONE = 0,    /* it worked */
    EXIT_FAILED = 1,  /* it did not: a file is missing or wrong, output cannot be written */
    EXIT_USAGE = 2,   /* the command line makes no sense */
    EXIT_NO_DATA = 3, /* the public data that this needs is not there; see STINT_DATA */
    EXIT_DIFFERS = 4, /* it ran, and what it measured is not what it should be (--check) */
    EXIT_FINDINGS =
        EXIT_NO_DATA, /* of `stint doctor`, which needs no such data: there are errors */
};

struct verb {
    const char *name;
    const char *summary; /* one line for `stint --help` */
    int (*run)(int argc, char **argv);
};

extern const struct verb verb_sim;
extern const struct verb verb_replay;
extern const struct verb verb_repro;
extern const struct verb verb_catalogue;
extern const struct verb verb_commit;
extern const struct verb verb_pool;
extern const struct verb verb_demo;
extern const struct verb verb_state;
extern const struct verb verb_bench;

/* Those that ask the daemon. */
extern const struct verb verb_status;
extern const struct verb verb_top;
extern const struct verb verb_open;
extern const struct verb verb_report;
extern const struct verb verb_plan;
extern const struct verb verb_explain;
extern const struct verb verb_ledger;
extern const struct verb verb_doctor;
extern const struct verb verb_approve;
extern const struct verb verb_reject;
extern const struct verb verb_drain;
extern const struct verb verb_reload;

/* Print "stint VERB: text" on standard error; returns EXIT_FAILED. */
int verb_fail(const char *verb, const struct error *error);

#endif
