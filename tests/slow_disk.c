/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_disk - to be preloaded: each sync of a file takes SLOW_DISK_MS longer, as on a disk that is busy.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void)
{
    const char *text = getenv("SLOW_DISK_MS");
    const long ms = text != NULL ? strtol(text, NULL, 10) : 0;
    struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) < 0)
        ;
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

    wait_for_disk();
    return real(fd);
}

__attribute__((visibility("default"))) int fdatasync(int fildes)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

    wait_for_disk();
    return real(fildes);
}
