/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint sim SCENARIO.yaml - simulate a scenario under its policies.
 */
#include "cli/verb.h"

static int run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return EXIT_USAGE;
}

const struct verb verb_sim = {
    .name = "sim",
    .summary = "simulate a scenario: a trace, a catalogue, policies, faults",
    .run = run,
};
