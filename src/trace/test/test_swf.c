/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/swf.h"

static int read_text(const char *text, const struct swf_options *options, struct swf_log *ret,
                     struct error *reterr)
{
    return swf_read(text, strlen(text), options, ret, reterr);
}

static struct swf_log read_with(const char *text, const struct swf_options *options)
{
    struct swf_log log;
    struct error error = { "" };

    if (read_text(text, options, &log, &error) < 0)
        fail_msg("%s", error.text);
    return log;
}

static struct swf_log read_default(const char *text)
{
    const struct swf_options options = swf_options_default();

    return read_with(text, &options);
}

static void check_error(const char *text, const char *what)
{
    const struct swf_options options = swf_options_default();
    struct swf_log log = { .records = 42 };
    struct error error = { "" };

    assert_int_equal(read_text(text, &options, &log, &error) < 0, 1);
    assert_string_equal(error.text, what);
    assert_int_equal(log.records, 42);
}

TEST(a_record_becomes_a_gang_of_whole_machines)
{
    struct swf_log log = read_default("  7 100 5 3600 40 -1 -1 40 7200 -1 1 14 10 3 9 3 -1 -1\n");
    const struct trace_job *job = &log.trace.jobs[0];

    assert_int_equal(log.records, 1);
    assert_int_equal(log.trace.job_count, 1);
    assert_int_equal(job->id, 7);
    assert_int_equal(job->task_count, 3);
    assert_true(job->gang);
    assert_int_equal(job->work_ms, 3600000);
    assert_int_equal(job->estimate_ms, 7200000);
    assert_string_equal(names_text(&log.trace.users, job->user), "14");
    assert_string_equal(names_text(&log.trace.names, job->name), "executable 3");
    assert_int_equal(shape_demand_on(&log.trace.shapes, job->shape, 0)->amount[RES_CPU], 16000);
    assert_int_equal(shape_demand_on(&log.trace.shapes, job->shape, 0)->amount[RES_MEM], 0);
    swf_done(&log);
}

TEST(instances_are_rounded_up)
{
    static const struct {
        const char *processors;
        uint32_t per_instance;
        uint32_t instances;
    } cases[] = {
        { "1", 16, 1 }, { "16", 16, 1 }, { "17", 16, 2 }, { "1480", 16, 93 }, { "5", 1, 5 }
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct swf_options options = swf_options_default();
        char text[128];

        options.processors_per_instance = cases[i].per_instance;
        (void)snprintf(text, sizeof(text), "1 0 0 9 %s -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n",
                       cases[i].processors);
        struct swf_log log = read_with(text, &options);

        assert_int_equal(log.trace.jobs[0].task_count, cases[i].instances);
        assert_int_equal(log.trace.jobs[0].gang, cases[i].instances > 1);
        swf_done(&log);
    }
}

TEST(header_comments_tell_the_machine_and_the_start)
{
    struct swf_log log = read_default("; Version: 2.2\n"
                                      ";   UnixStartTime: 1078605840\n"
                                      "; MaxNodes: 184  ( 6,  171,   7)\r\n"
                                      ";MaxProcs:1664\n"
                                      "; Note: MaxProcs: 5\n"
                                      ";\n"
                                      ";");

    assert_int_equal(log.unix_start_s, 1078605840);
    assert_int_equal(log.max_nodes, 184);
    assert_int_equal(log.max_processors, 1664);
    assert_int_equal(log.records, 0);
    swf_done(&log);
}

TEST(a_header_that_says_nothing_leaves_it_unknown)
{
    struct swf_log log = read_default("; MaxNodes: many\n; UnixStartTime:\n");

    assert_int_equal(log.unix_start_s, -1);
    assert_int_equal(log.max_nodes, -1);
    assert_int_equal(log.max_processors, -1);
    swf_done(&log);
}

TEST(what_is_no_job_is_counted_by_its_reason)
{
    struct swf_log log = read_default("1 0 0 -1 8 -1 -1 8 9 -1 5 1 1 1 1 1 -1 -1\n"
                                      "2 0 0  0 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "3 0 0 10 -1 -1 -1 -1 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "4 -1 0 10 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "5 0 0 20 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "5 0 0 15 8 -1 -1 8 9 -1 2 1 1 1 1 1 -1 -1\n"
                                      "5 0 0  5 8 -1 -1 8 9 -1 3 1 1 1 1 1 -1 -1\n"
                                      "6 0 0 20 8 -1 -1 8 9 -1 2 1 1 1 1 1 -1 -1\n");

    assert_int_equal(log.records, 8);
    assert_int_equal(log.trace.job_count, 2);
    assert_int_equal(log.left_out.never_ran, 2);
    assert_int_equal(log.left_out.no_processors, 1);
    assert_int_equal(log.left_out.no_submit, 1);
    assert_int_equal(log.left_out.partial, 2);
    assert_int_equal(log.left_out.not_completed, 0);
    swf_done(&log);
}

TEST(failed_and_cancelled_jobs_can_be_left_out)
{
    struct swf_options options = swf_options_default();
    options.keep = SWF_KEEP_COMPLETED;

    struct swf_log log = read_with("1 0 0 9 8 -1 -1 8 9 -1 5 1 1 1 1 1 -1 -1\n"
                                   "2 0 0 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                   "3 0 0 9 8 -1 -1 8 9 -1 0 1 1 1 1 1 -1 -1\n",
                                   &options);

    assert_int_equal(log.trace.job_count, 1);
    assert_int_equal(log.trace.jobs[0].id, 2);
    assert_int_equal(log.left_out.not_completed, 2);
    swf_done(&log);
}

TEST(arrivals_count_from_the_first_job_or_from_the_log)
{
    static const char text[] = "1 50 0 -1 8 -1 -1 8 9 -1 5 1 1 1 1 1 -1 -1\n"
                               "2 300 0 9 8 -1 -1 8 9 -1 5 1 1 1 1 1 -1 -1\n"
                               "3 100 0 9 8 -1 -1 8 9 -1 5 1 1 1 1 1 -1 -1\n";
    struct swf_options options = swf_options_default();

    struct swf_log log = read_with(text, &options);

    assert_int_equal(log.first_submit_ms, 100000);
    assert_int_equal(log.trace.jobs[0].id, 3);
    assert_int_equal(log.trace.jobs[0].arrival_ms, 0);
    assert_int_equal(log.trace.jobs[1].arrival_ms, 200000);
    swf_done(&log);
    options.arrival_from_log = true;
    log = read_with(text, &options);
    assert_int_equal(log.trace.jobs[0].arrival_ms, 100000);
    swf_done(&log);
}

TEST(estimates_are_as_wrong_as_alpha_says)
{
    static const struct {
        const char *asked;
        uint32_t alpha_ppm;
        msec_t estimate_ms;
    } cases[] = {
        { "300", SWF_ALPHA_ONE, 300000 },     { "300", 0, 100000 },
        { "300", SWF_ALPHA_ONE / 2, 200000 }, { "300", 2 * SWF_ALPHA_ONE, 500000 },
        { "50", SWF_ALPHA_ONE, 100000 },      { "50", 2 * SWF_ALPHA_ONE, 100000 },
        { "-1", SWF_ALPHA_ONE, -1 },          { "4000000000", SWF_ALPHA_MAX, LIMIT_TIME_MS },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct swf_options options = swf_options_default();
        char text[128];

        options.alpha_ppm = cases[i].alpha_ppm;
        (void)snprintf(text, sizeof(text), "1 0 0 100 8 -1 -1 8 %s -1 1 1 1 1 1 1 -1 -1\n",
                       cases[i].asked);
        struct swf_log log = read_with(text, &options);

        assert_int_equal(log.trace.jobs[0].estimate_ms, cases[i].estimate_ms);
        swf_done(&log);
    }
}

TEST(requested_processors_stand_in_for_unknown_ones)
{
    struct swf_log log = read_default("1 0 0 9 -1 -1 -1 33 9 -1 1 1 1 1 1 1 -1 -1\n");

    assert_int_equal(log.trace.jobs[0].task_count, 3);
    swf_done(&log);
}

TEST(waits_are_those_of_the_jobs_where_the_log_knows)
{
    struct swf_log log = read_default("1 0 60 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "2 0 -1 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "3 0 30 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                                      "4 0 99 0 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n");

    assert_int_equal(log.waits.count, 2);
    assert_int_equal(log.waits.mean_ms, 45000);
    assert_int_equal(log.waits.p95_ms, 60000);
    swf_done(&log);
}

TEST(memory_is_asked_for_per_processor)
{
    struct swf_options options = swf_options_default();
    options.memory = true;

    struct swf_log log = read_with("1 0 0 9 32 -1 2048 32 9 1024 1 1 1 1 1 1 -1 -1\n"
                                   "2 0 0 9 4 -1 2048 4 9 -1 1 1 1 1 1 1 -1 -1\n"
                                   "3 0 0 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1\n",
                                   &options);
    const struct shapes *shapes = &log.trace.shapes;

    assert_int_equal(shapes->count, 3);
    assert_int_equal(shape_demand_on(shapes, log.trace.jobs[0].shape, 0)->amount[RES_MEM], 16);
    assert_int_equal(shape_demand_on(shapes, log.trace.jobs[1].shape, 0)->amount[RES_MEM], 8);
    assert_int_equal(shape_demand_on(shapes, log.trace.jobs[2].shape, 0)->amount[RES_MEM], 0);
    swf_done(&log);
}

TEST(names_are_executables_or_queues)
{
    static const char text[] = "1 0 0 9 8 -1 -1 8 9 -1 1 -1 1 5 2 1 -1 -1\n"
                               "2 0 0 9 8 -1 -1 8 9 -1 1 1 1 -1 2 1 -1 -1\n"
                               "3 0 0 9 8 -1 -1 8 9 -1 1 1 1 -1 -1 1 -1 -1\n";
    struct swf_options options = swf_options_default();

    struct swf_log log = read_with(text, &options);

    assert_string_equal(names_text(&log.trace.names, log.trace.jobs[0].name), "executable 5");
    assert_string_equal(names_text(&log.trace.names, log.trace.jobs[1].name), "queue 2");
    assert_string_equal(names_text(&log.trace.names, log.trace.jobs[2].name), "job");
    assert_string_equal(names_text(&log.trace.users, log.trace.jobs[0].user), "");
    swf_done(&log);
    options.name = SWF_NAME_QUEUE;
    log = read_with(text, &options);
    assert_string_equal(names_text(&log.trace.names, log.trace.jobs[0].name), "queue 2");
    swf_done(&log);
}

TEST(broken_seconds_tabs_and_further_fields_are_read)
{
    struct swf_log log =
        read_default("1\t0.5 0 1.25 8 969.56 -1 8 1e3 -1 1 1 1 1 1 1 -1 -1 7 8\r\n");

    assert_int_equal(log.first_submit_ms, 500);
    assert_int_equal(log.trace.jobs[0].work_ms, 1250);
    assert_int_equal(log.trace.jobs[0].estimate_ms, 1000000);
    swf_done(&log);
}

TEST(errors_name_the_line_and_the_field)
{
    check_error("1 2 3\n",
                "line 1: has 3 fields, but a record of the Standard Workload Format has 18; a "
                "comment begins with ';'");
    check_error(";\n1 0 0 x 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n",
                "line 2: field 4, the run time, must be a number up to 10^12, not 'x'");
    check_error("1 0 0 9 8.5 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n",
                "line 1: field 5, the number of processors, must be a whole number, not '8.5'");
    check_error("1 0 0 9999999999 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n",
                "line 1: field 4, the run time, is longer than 139 years");
    check_error("-1 0 0 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n", "line 1: the job has no number");
    check_error("2 0 0 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                "1 0 0 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n"
                "2 0 0 9 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n",
                "line 3: the job number 2 is that of the job in line 1 too");
    check_error("1 0 0 9 99999999 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n",
                "line 1: takes 6250000 machines, more than 1048576: give each machine more "
                "processors");
}

CHECK_MAIN(RUN(a_record_becomes_a_gang_of_whole_machines), RUN(instances_are_rounded_up),
           RUN(header_comments_tell_the_machine_and_the_start),
           RUN(a_header_that_says_nothing_leaves_it_unknown),
           RUN(what_is_no_job_is_counted_by_its_reason),
           RUN(failed_and_cancelled_jobs_can_be_left_out),
           RUN(arrivals_count_from_the_first_job_or_from_the_log),
           RUN(estimates_are_as_wrong_as_alpha_says),
           RUN(requested_processors_stand_in_for_unknown_ones),
           RUN(waits_are_those_of_the_jobs_where_the_log_knows),
           RUN(memory_is_asked_for_per_processor), RUN(names_are_executables_or_queues),
           RUN(broken_seconds_tabs_and_further_fields_are_read),
           RUN(errors_name_the_line_and_the_field))
