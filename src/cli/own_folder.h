/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_folder.h - where this program is, to find those that were built or installed with it.
 */
#ifndef STINT_CLI_OWN_FOLDER_H
#define STINT_CLI_OWN_FOLDER_H

#include <stddef.h>

/* Write the folder of this program. Returns 0, or a negative errno. */
int own_folder(char *ret, size_t size);

#endif
