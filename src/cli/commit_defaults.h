/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_defaults.h - the classes that `stint commit` takes when it is given none.
 *
 * The text of examples/commitments.yaml, put into the program by the build.
 */
#ifndef STINT_CLI_COMMIT_DEFAULTS_H
#define STINT_CLI_COMMIT_DEFAULTS_H

extern const char commit_defaults[];

#endif
