/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint repro SYSTEM - measure a published system on its own data, beside what its paper says.
 */
#include "cli/verb.h"

static int run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return EXIT_USAGE;
}

const struct verb verb_repro = {
    .name = "repro",
    .summary = "reproduce a published system's results on its own data",
    .run = run,
};
