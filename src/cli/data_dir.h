/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_dir.h - where the public data sets are that reproductions measure on.
 *
 * They are no part of Stint: docs/research/data.md says where to get them. Found through the environment
 * variable STINT_DATA, else in ../shared/data.
 */
#ifndef STINT_CLI_DATA_DIR_H
#define STINT_CLI_DATA_DIR_H

#include <stddef.h>

/* Write the path of a file below the data folder. Returns 0, or -ENOENT if there is none. */
int data_dir_path(const char *file, char *ret, size_t size);

#endif
