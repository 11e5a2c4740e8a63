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

#include <stdbool.h>

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
    const char *report_title; /* of --html and --md (present.h); NULL: it has none */
    const char *baseline;     /* what that compares with what; NULL: the answer says so */
    const char *not_counted;  /* likewise */
    bool has_colour;          /* it takes --color itself */
    bool has_rows;            /* --sort sorts those of its tables (present.h) */
    const char *sort_columns; /* by which: "a, b"; NULL: known only when the answer is there */
    bool is_query;            /* it asks the daemon and changes nothing: --watch may repeat it */
};

extern const struct verb verb_sim;
extern const struct verb verb_replay;
extern const struct verb verb_repro;
extern const struct verb verb_catalogue;
extern const struct verb verb_commit;
extern const struct verb verb_pool;
extern const struct verb verb_demo;
extern const struct verb verb_kubernetes;
extern const struct verb verb_state;
extern const struct verb verb_bench;

/* Options of verbs with a report or with rows, for their help; present.c takes them away. */
enum { VERB_KEY_HTML = 0x1300, VERB_KEY_MD, VERB_KEY_SORT };

#define VERB_SORT_OPTION                                                          \
    {                                                                             \
        "sort", VERB_KEY_SORT, "COLUMN", 0,                                       \
            "Sort the rows by this column of the CSV (-COLUMN: largest first)", 0 \
    }

#define VERB_HTML_OPTION                                                                         \
    {                                                                                            \
        "html", VERB_KEY_HTML, "FILE", 0, "Write the answer to FILE as a shareable HTML page", 0 \
    }
#define VERB_MD_OPTION                                                          \
    {                                                                           \
        "md", VERB_KEY_MD, "FILE", 0, "Write the answer to FILE as Markdown", 0 \
    }

/* Those that ask the daemon. */
extern const struct verb verb_status;
extern const struct verb verb_top;
extern const struct verb verb_open;
extern const struct verb verb_reconcile;
extern const struct verb verb_report;
extern const struct verb verb_notify;
extern const struct verb verb_plan;
extern const struct verb verb_explain;
extern const struct verb verb_estimate;
extern const struct verb verb_ledger;
extern const struct verb verb_doctor;
extern const struct verb verb_approve;
extern const struct verb verb_reject;
extern const struct verb verb_drain;
extern const struct verb verb_reload;
extern const struct verb verb_report_rate;

/* Print "stint VERB: text" on standard error; returns EXIT_FAILED. */
int verb_fail(const char *verb, const struct error *error);

#endif
