/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_options.h - parse the options of a verb, and say which one was probably meant where there is none of that name.
 *
 * Costs:  O(words x options) in addition to argp's.
 */
#ifndef STINT_CLI_VERB_OPTIONS_H
#define STINT_CLI_VERB_OPTIONS_H

#include <argp.h>

/* argp_parse(), but that a long option which is like one of the verb's, and none of them, is answered with that one: then nothing is
 * parsed, it is said on standard error, and the result is EINVAL. argv[0] is "stint VERB". */
error_t verb_options(const struct argp *argp, int argc, char **argv, void *input);

#endif
