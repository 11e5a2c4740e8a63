/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_report.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char key[] = "stint:rate=";
static const char separators[] = " ;\t\n";

/* "0.83#7": 7. */
static unsigned long number_of(const char *word, size_t length)
{
    const char *mark = memchr(word, '#', length);

    return mark == NULL ? 0 : strtoul(mark + 1, NULL, 10);
}

bool slurm_report_compose(const char *old, const char *rate, char *ret, size_t size)
{
    unsigned long reports = 0;
    size_t used = 0;

    for (const char *at = old; *at != '\0';) {
        const size_t gap = strspn(at, separators);
        const char *word = at + gap;
        const size_t length = strcspn(word, separators);

        if (strncmp(word, key, strlen(key)) == 0) {
            reports = number_of(word, length);
        } else if (length > 0) {
            const size_t from = used == 0 ? gap : 0; /* a gap before the first is of no use */

            if (used + gap + length >= size)
                return false;
            memcpy(ret + used, at + from, gap + length - from);
            used += gap + length - from;
        }
        at = word + length;
    }

    const int length = snprintf(ret + used, size - used, "%s%s%s#%lu", used > 0 ? " " : "", key,
                                rate, reports + 1);

    return length > 0 && (size_t)length < size - used;
}

bool slurm_report_is_job(const char *job)
{
    const size_t length = strspn(job, "0123456789_+");

    return isdigit((unsigned char)job[0]) != 0 && job[length] == '\0' && length < 64;
}

/* Run the program, and wait; what it prints is in 'ret', cut to its size. Its exit status, or below 0. */
static int run_program(char *const *words, char *ret, size_t size)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child = 0;
    size_t used = 0;
    ssize_t got = 0;
    int status = 0;

    if (pipe(ends) < 0)
        return -errno;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);

    const int rc = posix_spawnp(&child, words[0], &actions, NULL, words, environ);

    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    while (rc == 0 && used + 1 < size && (got = read(ends[0], ret + used, size - 1 - used)) > 0)
        used += (size_t)got;
    (void)close(ends[0]);
    ret[used] = '\0';
    if (rc != 0)
        return -rc;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

static int fail(const char *program, int code, struct error *reterr)
{
    if (code > 0)
        return error_set(reterr, -EPERM, "not taken: %s has failed", program);
    return error_set(reterr, -EIO,
                     "%s: %s; on the machine of stintd, http.rate_socket of stint.conf takes "
                     "reports without it",
                     program, strerror(-code));
}

static const char *environment(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? text : NULL;
}

bool slurm_report_own_job(char *ret, size_t size)
{
    const char *array = environment("SLURM_ARRAY_JOB_ID");
    const char *task = environment("SLURM_ARRAY_TASK_ID");
    const char *job = environment("SLURM_JOB_ID");
    int length = -1;

    if (array != NULL && task != NULL)
        length = snprintf(ret, size, "%s_%s", array, task);
    else if (job != NULL)
        length = snprintf(ret, size, "%s", job);
    return length > 0 && (size_t)length < size;
}

int slurm_report_rate(const char *job, const char *rate, struct error *reterr)
{
    char old[SLURM_REPORT_MAX];
    char which[128];
    char comment[SLURM_REPORT_MAX + sizeof("Comment=")] = "Comment=";
    char none[16];
    const size_t begin = strlen(comment);
    char squeue[] = "squeue";
    char scontrol[] = "scontrol";
    char no_header[] = "--noheader";
    char format[] = "--format=%k";
    char update[] = "update";

    if (!slurm_report_is_job(job))
        return -ENOENT;
    (void)snprintf(which, sizeof(which), "--jobs=%s", job);

    int code =
        run_program((char *const[]){ squeue, no_header, which, format, NULL }, old, sizeof(old));

    if (code != 0)
        return fail(squeue, code, reterr);
    old[strcspn(old, "\n")] = '\0';
    if (strcmp(old, "(null)") == 0)
        old[0] = '\0';
    if (!slurm_report_compose(old, rate, comment + begin, sizeof(comment) - begin))
        return error_set(reterr, -E2BIG, "not taken: the job's comment is too long");
    (void)snprintf(which, sizeof(which), "JobId=%s", job);
    code =
        run_program((char *const[]){ scontrol, update, which, comment, NULL }, none, sizeof(none));
    return code == 0 ? 0 : fail(scontrol, code, reterr);
}
