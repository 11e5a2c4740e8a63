/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults.c - a library before libc (LD_PRELOAD) that lets the clock and the disk of one program go wrong.
 *
 * The folder that STINT_FAULTS names has a file for each fault, with one number in it; without the file there is
 * none. They are read again at every call, so a test begins and ends a fault by writing and removing them.
 *
 *     clock   seconds by which the wall clock is off
 *     sync    milliseconds that each fsync and fdatasync takes longer
 *     write   an errno: every write to a file (not to a socket or pipe) fails with it
 *
 * It is for tests: it costs a system call for each look at the clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The number of a fault; 0: there is none. Only system calls: this is called from everywhere. */
static long fault(const char *name)
{
    static const char *folder;
    char path[512];
    char text[32] = "";

    if (folder == NULL)
        folder = getenv("STINT_FAULTS");
    if (folder == NULL || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;

    const int saved = errno;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!syscall(SYS_read, fd, text, sizeof(text) - 1);
        (void)syscall(SYS_close, fd);
    }
    errno = saved;
    return strtol(text, NULL, 10);
}

static void rest(long ms)
{
    const struct timespec span = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    if (ms > 0)
        (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &span, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int rc = (int)syscall(SYS_clock_gettime, clock, now);

    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += fault("clock");
    return rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    const int rc = (int)syscall(SYS_gettimeofday, now, zone);

    if (rc == 0)
        now->tv_sec += fault("clock");
    return rc;
}

time_t time(time_t *ret)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL)
        *ret = now.tv_sec;
    return now.tv_sec;
}

int fsync(int fd)
{
    rest(fault("sync"));
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    rest(fault("sync"));
    return (int)syscall(SYS_fdatasync, fd);
}

/* Whether a write to it fails now. */
static int fails(int fd)
{
    const long code = fault("write");
    struct stat is;

    if (code <= 0 || fstat(fd, &is) < 0 || !S_ISREG(is.st_mode))
        return 0;
    errno = (int)code;
    return 1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

int ftruncate(int fd, off_t size)
{
    return fails(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return fails(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}
