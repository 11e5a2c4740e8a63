/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cloud/job_watch.h"

static char proc[] = "/tmp/stint-proc-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(proc) != NULL ? 0 : -1;
}

static void write_file(const char *pid, const char *name, const char *text, size_t size)
{
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", proc, pid);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof(path), "%s/%s/%s", proc, pid, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#define WRITE(pid, name, text) write_file(pid, name, text, sizeof(text) - 1)

TEST(a_step_and_what_a_job_left_count_and_slurmd_does_not)
{
    WRITE("1", "comm", "systemd\n");
    WRITE("20", "comm", "slurmd\n");
    WRITE("20", "environ", "PATH=/bin\0SLURM_CONF=/etc/slurm/slurm.conf\0");
    WRITE("21", "comm", "slurmstepd\n");
    WRITE("21", "cmdline", "/usr/sbin/slurmstepd\0infinity\0");
    assert_false(job_watch_is_busy(proc, 0));

    WRITE("22", "comm", "slurmstepd\n");
    WRITE("22", "cmdline", "slurmstepd: [7.batch]\0");
    assert_true(job_watch_is_busy(proc, 0));

    WRITE("22", "comm", "sh\n");
    assert_false(job_watch_is_busy(proc, 0));
    WRITE("22", "environ", "PATH=/bin\0SLURM_JOB_ID=7\0");
    assert_true(job_watch_is_busy(proc, 0));
}

TEST(processes_that_cannot_be_read_are_taken_for_a_job)
{
    assert_true(job_watch_is_busy("/nonexistent", 0));
}

TEST(a_namespace_s_processes_are_told_apart)
{
    const uint64_t ours = job_watch_space_of((int)getpid());

    assert_true(ours != 0);
    assert_int_equal(job_watch_space_of(-1), 0);
    assert_false(job_watch_is_busy("/proc", ours + 1));

    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        static char job[] = "SLURM_JOB_ID=1";

        (void)execle("/bin/sleep", "sleep", "60", (char *)NULL, (char *const[]){ job, NULL });
        _exit(1);
    }
    for (int i = 0; i < 500 && !job_watch_is_busy("/proc", ours); i++)
        (void)usleep(10000);

    assert_true(job_watch_is_busy("/proc", ours));
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_and_what_a_job_left_count_and_slurmd_does_not),
        cmocka_unit_test(processes_that_cannot_be_read_are_taken_for_a_job),
        cmocka_unit_test(a_namespace_s_processes_are_told_apart),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
