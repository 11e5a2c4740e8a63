/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/data_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int data_dir_path(const char *file, char *ret, size_t size)
{
    const char *dir = getenv("STINT_DATA");
    const int length =
        snprintf(ret, size, "%s/%s", dir != NULL && *dir != 0 ? dir : "../shared/data", file);

    if (length < 0 || (size_t)length >= size || access(ret, R_OK) != 0)
        return -ENOENT;
    return 0;
}
