/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of the Parallel Workloads Archive read as they are published. They are no part of Stint: the
 * environment variable STINT_DATA says where they stand; without it these tests are skipped.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/test/check.h"
#include "trace/input_file.h"
#include "trace/swf.h"

static const char *folder(void)
{
    return getenv("STINT_DATA");
}

static void read_log(const char *name, const struct swf_options *options, struct swf_log *ret)
{
    struct input_file file;
    struct error error = { "" };
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/swf/%s.swf.gz", folder(), name);
    if (input_file_read(path, &file, &error) < 0)
        fail_msg("%s", error.text);
    if (swf_read(file.text, file.length, options, ret, &error) < 0)
        fail_msg("%s: %s", name, error.text);
    input_file_done(&file);
}

TEST(datastar_has_84893_jobs_of_up_to_93_instances)
{
    struct swf_options options = swf_options_default();
    struct swf_log log;
    uint32_t largest = 0;
    int64_t instance_ms = 0;
    uint32_t outrun = 0;

    options.arrival_from_log = true;
    read_log("SDSC-DS-2004-2.1-cln", &options, &log);

    for (uint32_t i = 0; i < log.trace.job_count; i++) {
        const struct trace_job *job = &log.trace.jobs[i];

        if (job->task_count > largest)
            largest = job->task_count;
        instance_ms += job->task_count * job->work_ms;
        outrun += job->estimate_ms == job->work_ms;
    }
    assert_int_equal(log.records, 96069);
    assert_int_equal(log.trace.job_count, 84893);
    assert_int_equal(log.left_out.never_ran, 11024 + 152);
    assert_int_equal(largest, 93);
    assert_int_equal(instance_ms / MSEC_PER_HOUR, 647778);
    assert_true(outrun >= 10658);
    assert_int_equal(log.trace.jobs[0].arrival_ms, 2137605000); /* day 24.7 */
    assert_int_equal(log.trace.jobs[0].arrival_ms * 10 / (24 * MSEC_PER_HOUR), 247);
    assert_int_equal(log.unix_start_s, 1078605840);
    assert_int_equal(log.max_processors, 1664);
    assert_int_equal(log.trace.shapes.count, 1);
    swf_done(&log);
}

TEST(every_log_reads_and_every_record_is_accounted_for)
{
    static const struct {
        const char *name;
        uint32_t records;
        uint32_t jobs;
    } logs[] = {
        { "CEA-Curie-2011-2.1-cln", 312826, 295540 },
        { "CTC-SP2-1996-3.1-cln", 77222, 77205 },
        { "HPC2N-2002-2.2-cln", 202871, 202871 },
        { "KTH-SP2-1996-2.1-cln", 28476, 28467 },
        { "LANL-CM5-1994-4.1-cln", 122060, 122055 },
        { "LLNL-Atlas-2006-2.1-cln", 43778, 36600 },
        { "LLNL-Thunder-2007-1.1-cln", 121039, 113613 },
        { "LPC-EGEE-2004-1.2-cln", 234889, 214322 },
        { "OSC-Clust-2000-3.1-cln", 36097, 35592 },
        { "SDSC-BLUE-2000-4.2-cln", 243306, 232536 },
        { "SDSC-DS-2004-2.1-cln", 96069, 84893 },
        { "SDSC-Par-1996-3.1-cln", 32135, 32128 },
        { "SDSC-SP2-1998-4.2-cln", 59715, 54034 },
        { "Sandia-Ross-2001-1.1-cln", 57882, 55595 },
    };
    const struct swf_options options = swf_options_default();

    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        struct swf_log log;

        read_log(logs[i].name, &options, &log);

        const struct swf_left_out *out = &log.left_out;

        assert_int_equal(log.records, logs[i].records);
        assert_int_equal(log.trace.job_count, logs[i].jobs);
        assert_int_equal(log.trace.job_count + out->partial + out->never_ran + out->no_processors +
                             out->no_submit + out->not_completed,
                         log.records);
        assert_int_equal(log.trace.jobs[0].arrival_ms, 0);
        assert_true(log.max_processors > 0);
        assert_true(log.unix_start_s > 0);
        swf_done(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(datastar_has_84893_jobs_of_up_to_93_instances),
        RUN(every_log_reads_and_every_record_is_accounted_for),
    };

    if (folder() == NULL) {
        puts("1..0 # SKIP STINT_DATA does not say where the published logs stand");
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
