/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/job_watch.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

enum { FILE_MAX = 1 << 17, PATH_SIZE = 512 };

/* The bytes of a process's file, a zero behind them; how many. 0: it is empty, or the process has ended. */
static size_t read_file(const char *proc, const char *pid, const char *name, char *ret)
{
    char path[PATH_SIZE];
    FILE *file;
    size_t size = 0;

    (void)snprintf(path, sizeof(path), "%s/%s/%s", proc, pid, name);
    file = fopen(path, "re");
    if (file != NULL) {
        size = fread(ret, 1, FILE_MAX - 1, file);
        (void)fclose(file);
    }
    ret[size] = '\0';
    return size;
}

/* slurmd keeps a "slurmstepd infinity" for its control group, which runs no job. */
static bool is_step(const char *proc, const char *pid, char *text)
{
    size_t size;

    if (read_file(proc, pid, "comm", text) == 0 || strncmp(text, "slurmstepd", 10) != 0)
        return false;
    size = read_file(proc, pid, "cmdline", text);
    for (size_t i = 0; i < size; i += strlen(text + i) + 1) {
        if (strcmp(text + i, "infinity") == 0)
            return false;
    }
    return true;
}

static bool has_job_id(const char *proc, const char *pid, char *text)
{
    static const char name[] = "SLURM_JOB_ID=";
    const size_t size = read_file(proc, pid, "environ", text);

    for (size_t i = 0; i < size; i += strlen(text + i) + 1) {
        if (strncmp(text + i, name, sizeof(name) - 1) == 0)
            return true;
    }
    return false;
}

static bool is_in_space(const char *proc, const char *pid, uint64_t space)
{
    char path[PATH_SIZE];
    struct stat about;

    if (space == 0)
        return true;
    (void)snprintf(path, sizeof(path), "%s/%s/ns/pid", proc, pid);
    return stat(path, &about) == 0 && about.st_ino == space;
}

bool job_watch_is_busy(const char *proc, uint64_t space)
{
    DIR *processes = opendir(proc);
    char *text;
    bool is_busy = false;

    if (processes == NULL)
        return true;
    text = mem_alloc(FILE_MAX, 1);
    while (!is_busy) {
        const struct dirent *one =
            readdir(processes); /* NOLINT(concurrency-mt-unsafe): one thread */

        if (one == NULL)
            break;
        if (one->d_name[0] >= '0' && one->d_name[0] <= '9' && is_in_space(proc, one->d_name, space))
            is_busy = is_step(proc, one->d_name, text) || has_job_id(proc, one->d_name, text);
    }
    (void)closedir(processes);
    mem_free(text);
    return is_busy;
}

uint64_t job_watch_space_of(int pid)
{
    char path[PATH_SIZE];
    struct stat about;

    (void)snprintf(path, sizeof(path), "/proc/%d/ns/pid_for_children", pid);
    return stat(path, &about) == 0 ? about.st_ino : 0;
}
