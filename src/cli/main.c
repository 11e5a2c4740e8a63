/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint - the tool. Finds the verb and hands over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/present.h"
#include "cli/suggest.h"
#include "cli/verb.h"

#ifndef STINT_VERSION
#define STINT_VERSION "unknown"
#endif

/* Those that need no daemon, then those that ask it. */
static const struct verb *const verbs[] = {
    &verb_sim,         &verb_replay, &verb_commit, &verb_pool,    &verb_catalogue,
    &verb_demo,        &verb_repro,  &verb_bench,  &verb_state,   &verb_reconcile,
    &verb_kubernetes,  &verb_status, &verb_top,    &verb_plan,    &verb_explain,
    &verb_estimate,    &verb_ledger, &verb_doctor, &verb_approve, &verb_reject,
    &verb_drain,       &verb_reload, &verb_open,   &verb_notify,  &verb_report,
    &verb_report_rate,
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]), OFFLINE_COUNT = 11 };

static void print_help(FILE *out)
{
    fputs("Stint decides which cloud machines a cluster rents, so that its jobs cost less.\n"
          "\n"
          "Usage: stint VERB [OPTION...] [ARGUMENT...]\n"
          "\n"
          "Examples:\n"
          "  stint sim examples/small.yaml\n"
          "  sudo stint demo\n"
          "  stint VERB --help\n"
          "\n"
          "Verbs:\n",
          out);
    for (int i = 0; i < VERB_COUNT; i++) {
        if (i == OFFLINE_COUNT)
            fputs("\nVerbs that ask a running stintd:\n", out);
        fprintf(out, "  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
    }
    fputs("\n"
          "Options of most verbs:\n"
          "  -o FORMAT          table, wide, json, yaml or csv, for answers with rows\n"
          "  --sort=COLUMN      sort the rows of tables (-COLUMN: largest first)\n"
          "  --watch[=SECONDS]  repeat the answer, for verbs that ask stintd\n"
          "  --color=WHEN       auto (bold headings on a terminal, unless NO_COLOR is set),\n"
          "                     always or never\n"
          "\n"
          "Answers go to standard output, everything else to standard error. Exit codes: 0 done,\n"
          "1 failed, 2 wrong usage, 3 public data missing (repro) or errors found (doctor), 4 a\n"
          "check failed (--check) or a promise is impossible (pool).\n"
          "\n"
          "Packages put the documentation and examples into /usr/share/doc/stint/.\n",
          out);
}

static int no_such_verb(const char *word)
{
    const char *names[VERB_COUNT];

    for (int i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i]->name;

    const char *near = suggest(word, names, VERB_COUNT);

    fputs("stint: there is no verb '", stderr);
    print_clean(stderr, word);
    fputs("'; ", stderr);
    if (near != NULL)
        fprintf(stderr, "did you mean '%s'? ", near);
    fputs("`stint --help` lists them\n", stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static char help[] = "--help";

    (void)setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0 ||
        strcmp(argv[1], "--usage") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("stint " STINT_VERSION);
        return EXIT_DONE;
    }
    if (argc > 2 && strcmp(argv[2], "-h") == 0)
        argv[2] = help; /* argp knows only -? and --help */
    for (int i = 0; i < VERB_COUNT; i++) {
        if (strcmp(argv[1], verbs[i]->name) == 0)
            return present(verbs[i], argc - 1, argv + 1);
    }
    return no_such_verb(argv[1]);
}
