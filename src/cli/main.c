/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint - the tool. Finds the verb and hands over.
 */
#include <stdio.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/verb.h"

#ifndef STINT_VERSION
#define STINT_VERSION "unknown"
#endif

/* Those that need no daemon, then those that ask it. */
static const struct verb *const verbs[] = {
    &verb_sim,     &verb_replay, &verb_commit, &verb_pool,    &verb_catalogue, &verb_demo,
    &verb_repro,   &verb_bench,  &verb_state,  &verb_status,  &verb_top,       &verb_plan,
    &verb_explain, &verb_ledger, &verb_doctor, &verb_approve, &verb_reject,    &verb_drain,
    &verb_reload,  &verb_open,   &verb_report,
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]), OFFLINE_COUNT = 9 };

static void print_help(FILE *out)
{
    fputs("stint runs a cluster's work on rented machines for the least money.\n"
          "\n"
          "Usage: stint VERB [OPTION...] [ARGUMENT...]\n"
          "\n"
          "Verbs:\n",
          out);
    for (int i = 0; i < VERB_COUNT; i++) {
        if (i == OFFLINE_COUNT)
            fputs("\nVerbs that ask a running stintd:\n", out);
        fprintf(out, "  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
    }
    fputs(
        "\n"
        "`stint VERB --help` tells more about each. Answers go to standard output, everything\n"
        "else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 public data not\n"
        "found (see STINT_DATA) or errors found (doctor), 4 measured something else than expected\n"
        "(--check) or cannot promise it (pool).\n"
        "\n"
        "First steps: stint sim examples/small.yaml, or as root stint demo. Where packages are\n"
        "installed, examples/ and docs/ are in /usr/share/doc/stint/, guides in\n"
        "/usr/share/doc/stintd/.\n",
        out);
}

int verb_fail(const char *verb, const struct error *error)
{
    fprintf(stderr, "stint %s: ", verb);
    print_clean(stderr, error->text); /* it may hold names that users chose */
    fputc('\n', stderr);
    return EXIT_FAILED;
}

int main(int argc, char **argv)
{
    static char help[] = "--help";

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
            return verbs[i]->run(argc - 1, argv + 1);
    }
    fprintf(stderr, "stint: there is no verb '%s'; `stint --help` lists them\n", argv[1]);
    return EXIT_USAGE;
}
