/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/own_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int own_folder(char *ret, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", ret, size - 1);

    if (length <= 0)
        return -errno;
    ret[length] = '\0';
    *strrchr(ret, '/') = '\0';
    return 0;
}
