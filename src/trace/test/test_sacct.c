/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/sacct.h"

#define HEADER \
    "JobID|JobName|User|Submit|Start|End|Elapsed|Timelimit|State|ReqTRES|AllocTRES|NNodes\n"

static struct sacct_log read_as(const char *text, enum sacct_demand demand)
{
    struct sacct_log log;
    struct error error = { "" };

    if (sacct_read(text, strlen(text), demand, &log, &error) < 0)
        fail_msg("%s", error.text);
    return log;
}

static struct sacct_log read_text(const char *text)
{
    return read_as(text, SACCT_DEMAND_REQUESTED);
}

static void check_error(const char *text, const char *what)
{
    struct sacct_log log = { .records = 42 };
    struct error error = { "" };

    assert_true(sacct_read(text, strlen(text), SACCT_DEMAND_REQUESTED, &log, &error) < 0);
    assert_string_equal(error.text, what);
    assert_int_equal(log.records, 42);
}

static const struct res *demand_of(const struct sacct_log *log, uint32_t job)
{
    return shape_demand_on(&log->trace.shapes, log->trace.jobs[job].shape, 0);
}

TEST(a_job_on_two_nodes_is_a_gang_of_halves)
{
    struct sacct_log log = read_text(
        HEADER "77|relax|ada|2026-10-01T12:00:00|2026-10-01T12:05:00|2026-10-01T13:05:00|01:00:00|"
               "02:00:00|COMPLETED|billing=16,cpu=16,gres/gpu=2,mem=64G,node=2|"
               "billing=16,cpu=16,gres/gpu=2,gres/gpu:a100=2,mem=64G,node=2|2\n");
    const struct trace_job *job = &log.trace.jobs[0];

    assert_int_equal(log.records, 1);
    assert_int_equal(log.trace.job_count, 1);
    assert_int_equal(job->id, 2);
    assert_int_equal(job->task_count, 2);
    assert_true(job->gang);
    assert_int_equal(job->arrival_ms, 0);
    assert_int_equal(job->work_ms, 3600000);
    assert_int_equal(job->estimate_ms, 7200000);
    assert_int_equal(demand_of(&log, 0)->amount[RES_CPU], 8000);
    assert_int_equal(demand_of(&log, 0)->amount[RES_MEM], 32768);
    assert_int_equal(demand_of(&log, 0)->amount[RES_ACCEL], 1000);
    assert_string_equal(names_text(&log.trace.names, job->name), "relax");
    assert_string_equal(names_text(&log.trace.users, job->user), "ada");
    assert_int_equal(log.start_s, 1790856000);
    assert_int_equal(log.waits.count, 1);
    assert_int_equal(log.waits.mean_ms, 300000);
    sacct_done(&log);
}

TEST(steps_are_part_of_their_job)
{
    struct sacct_log log = read_text("JobID|Submit|Elapsed|ReqCPUS\n"
                                     "5|2026-10-01T12:00:00|00:10:00|4\n"
                                     "5.batch|2026-10-01T12:00:00|00:10:00|4\n"
                                     "5.extern|2026-10-01T12:00:00|00:10:00|4\n"
                                     "5.0|2026-10-01T12:00:00|nonsense|4\n"
                                     "6_1.batch|2026-10-01T12:00:00|00:10:00|4\n"
                                     "7+0.0|2026-10-01T12:00:00|00:10:00|4\n");

    assert_int_equal(log.records, 1);
    assert_int_equal(log.steps, 5);
    assert_int_equal(log.trace.job_count, 1);
    sacct_done(&log);
}

TEST(array_elements_and_parts_of_het_jobs_are_jobs)
{
    struct sacct_log log = read_text("JobID|Submit|Elapsed|ReqCPUS|State\n"
                                     "5_1|2026-10-01T12:00:00|00:10:00|4|COMPLETED\n"
                                     "5_2|2026-10-01T12:00:00|00:10:00|4|FAILED\n"
                                     "5_[3-9%2]|2026-10-01T12:00:00|00:00:00|4|PENDING\n"
                                     "7+0|2026-10-01T12:00:00|00:10:00|4|COMPLETED\n"
                                     "7+1|2026-10-01T12:00:00|00:10:00|8|COMPLETED\n");

    assert_int_equal(log.records, 5);
    assert_int_equal(log.trace.job_count, 4);
    assert_int_equal(log.left_out.pending, 1);
    sacct_done(&log);
}

TEST(what_ran_is_a_job_however_it_ended)
{
    static const char *const states[] = {
        "COMPLETED", "FAILED",    "TIMEOUT",       "CANCELLED", "CANCELLED by 1000",
        "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE",  "REQUEUED"
    };

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        char text[256];

        (void)snprintf(text, sizeof(text),
                       "JobID|Submit|Elapsed|ReqCPUS|State\n5|2026-10-01T12:00:00|00:10:00|4|%s\n",
                       states[i]);
        struct sacct_log log = read_text(text);

        assert_int_equal(log.trace.job_count, 1);
        assert_int_equal(log.still_running, 0);
        sacct_done(&log);
    }
}

TEST(what_never_ran_is_counted_by_its_reason)
{
    struct sacct_log log = read_text("JobID|Submit|Elapsed|ReqCPUS|State\n"
                                     "1|2026-10-01T12:00:00|00:00:00|4|CANCELLED by 7\n"
                                     "2|2026-10-01T12:00:00|00:00:00|4|PENDING\n"
                                     "3|2026-10-01T12:00:00|00:03:00|4|BOOT_FAIL\n"
                                     "4|2026-10-01T12:00:00|00:03:00|4|REVOKED\n"
                                     "5|Unknown|00:03:00|4|COMPLETED\n"
                                     "6|2026-10-01T12:00:00|00:03:00||COMPLETED\n"
                                     "7|2026-10-01T12:00:00|00:03:00|0|COMPLETED\n"
                                     "8|2026-10-01T12:00:00|INVALID|4|COMPLETED\n"
                                     "9|2026-10-01T12:00:00|00:03:00|4|COMPLETED\n");

    assert_int_equal(log.records, 9);
    assert_int_equal(log.trace.job_count, 1);
    assert_int_equal(log.left_out.never_ran, 2);
    assert_int_equal(log.left_out.pending, 1);
    assert_int_equal(log.left_out.no_start, 2);
    assert_int_equal(log.left_out.no_submit, 1);
    assert_int_equal(log.left_out.no_size, 2);
    sacct_done(&log);
}

TEST(what_still_runs_is_taken_as_far_as_it_ran)
{
    struct sacct_log log = read_text("JobID|Submit|Start|End|Elapsed|ReqCPUS|State\n"
                                     "1|2026-10-01T12:00:00|2026-10-01T12:00:30|Unknown|01:00:00|4|"
                                     "RUNNING\n");

    assert_int_equal(log.trace.job_count, 1);
    assert_int_equal(log.trace.jobs[0].work_ms, 3600000);
    assert_int_equal(log.still_running, 1);
    sacct_done(&log);
}

TEST(columns_come_in_any_order_and_unknown_ones_are_passed_over)
{
    struct sacct_log log = read_text("Cluster|reqcpus|ELAPSEDRAW|Submit|Planned|JobID|\n"
                                     "lab|4|90|1790856000|00:01:00|12|\n");

    assert_int_equal(log.trace.job_count, 1);
    assert_int_equal(log.trace.jobs[0].work_ms, 90000);
    assert_int_equal(log.trace.jobs[0].task_count, 1);
    assert_false(log.trace.jobs[0].gang);
    assert_int_equal(log.trace.jobs[0].estimate_ms, -1);
    assert_string_equal(names_text(&log.trace.names, 0), "job");
    assert_string_equal(names_text(&log.trace.users, 0), "");
    sacct_done(&log);
}

TEST(without_elapsed_the_time_from_start_to_end_counts)
{
    struct sacct_log log = read_text("JobID|Submit|Start|End|NCPUS\n"
                                     "1|2026-10-01T12:00:00|2026-10-01T12:00:30|"
                                     "2026-10-01T12:01:30|4\n");

    assert_int_equal(log.trace.jobs[0].work_ms, 60000);
    sacct_done(&log);
}

TEST(a_bar_in_a_name_belongs_to_the_name)
{
    struct sacct_log log = read_text("JobID|JobName|Submit|Elapsed|ReqCPUS\n"
                                     "1|a|b||c|2026-10-01T12:00:00|00:10:00|4\n");

    assert_string_equal(names_text(&log.trace.names, log.trace.jobs[0].name), "a|b||c");
    assert_int_equal(log.trace.jobs[0].work_ms, 600000);
    sacct_done(&log);
}

TEST(names_that_are_no_text_are_made_printable)
{
    struct sacct_log log = read_text("JobID|JobName|User|Submit|Elapsed|ReqCPUS\n"
                                     "1|na\xefve\t|J\xc3\xb6rg|2026-10-01T12:00:00|00:10:00|4\n");

    assert_string_equal(names_text(&log.trace.names, 0), "na?ve?");
    assert_string_equal(names_text(&log.trace.users, 0), "J\xc3\xb6rg");
    sacct_done(&log);
}

TEST(memory_may_be_per_job_node_or_cpu)
{
    static const struct {
        const char *req_mem;
        int64_t mib; /* of one of two nodes with 8 CPUs in all */
    } cases[] = { { "16G", 8192 }, { "16Gn", 16384 }, { "4Gc", 16384 },
                  { "1M", 1 },     { "0n", 0 },       { "", 0 } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];

        (void)snprintf(text, sizeof(text),
                       "JobID|Submit|Elapsed|ReqCPUS|NNodes|ReqMem\n"
                       "5|2026-10-01T12:00:00|00:10:00|8|2|%s\n",
                       cases[i].req_mem);
        struct sacct_log log = read_text(text);

        assert_int_equal(demand_of(&log, 0)->amount[RES_MEM], cases[i].mib);
        sacct_done(&log);
    }
}

TEST(demand_is_what_was_requested_or_what_was_allocated)
{
    static const char text[] =
        HEADER "1|a|u|2026-10-01T12:00:00|2026-10-01T12:00:00|2026-10-01T13:00:00|01:00:00|"
               "UNLIMITED|COMPLETED|cpu=3,mem=10G,node=1|cpu=48,gres/gpu=4,mem=180G,node=1|1\n";

    struct sacct_log log = read_text(text);

    assert_int_equal(demand_of(&log, 0)->amount[RES_CPU], 3000);
    assert_int_equal(demand_of(&log, 0)->amount[RES_MEM], 10240);
    assert_int_equal(demand_of(&log, 0)->amount[RES_ACCEL], 4000);
    sacct_done(&log);
    log = read_as(text, SACCT_DEMAND_ALLOCATED);
    assert_int_equal(demand_of(&log, 0)->amount[RES_CPU], 48000);
    assert_int_equal(demand_of(&log, 0)->amount[RES_MEM], 184320);
    sacct_done(&log);
}

TEST(the_nodes_are_those_that_it_ran_on)
{
    struct sacct_log log = read_text(
        HEADER "1|a|u|2026-10-01T12:00:00|2026-10-01T12:00:00|2026-10-01T13:00:00|01:00:00|"
               "UNLIMITED|COMPLETED|cpu=100,mem=100G,node=1|cpu=120,mem=100G,node=3|3\n");

    assert_int_equal(log.trace.jobs[0].task_count, 3);
    assert_int_equal(demand_of(&log, 0)->amount[RES_CPU], 34000);
    sacct_done(&log);
}

TEST(a_job_that_was_not_eligible_had_not_arrived)
{
    struct sacct_log log =
        read_text("JobID|Submit|Eligible|Start|Elapsed|ReqCPUS\n"
                  "1|2026-10-01T12:00:00|2026-10-01T14:00:00|2026-10-01T14:00:10|00:10:00|1\n"
                  "2|2026-10-01T12:30:00|2026-10-01T12:30:00|2026-10-01T12:30:30|00:10:00|1\n"
                  "3|2026-10-01T13:00:00|Unknown|2026-10-01T13:00:20|00:10:00|1\n");

    assert_int_equal(log.trace.jobs[0].id, 3);
    assert_int_equal(log.trace.jobs[1].id, 4);
    assert_int_equal(log.trace.jobs[1].arrival_ms, 1800000);
    assert_int_equal(log.trace.jobs[2].id, 2);
    assert_int_equal(log.trace.jobs[2].arrival_ms, 5400000);
    assert_int_equal(log.waits.p50_ms, 20000);
    assert_int_equal(log.waits.p95_ms, 30000);
    sacct_done(&log);
}

TEST(an_accounting_without_jobs_is_an_empty_trace)
{
    struct sacct_log log = read_text("JobID|Submit|Elapsed|ReqCPUS\r\n\r\n");

    assert_int_equal(log.records, 0);
    assert_int_equal(log.trace.job_count, 0);
    assert_int_equal(log.start_s, 0);
    sacct_done(&log);
}

TEST(errors_name_the_line_the_column_and_what_is_right)
{
    check_error("", "is empty: the first line must name the columns, as `sacct --parsable2` "
                    "prints it");
    check_error("12|a|b\n",
                "line 1: the header has no column 'JobID'; this reads what `sacct --parsable2` "
                "prints, docs/reference/files/sacct.md has the whole command");
    check_error("JobID|Submit|Elapsed\n",
                "line 1: the header has no column 'ReqTRES'; this reads what `sacct --parsable2` "
                "prints, docs/reference/files/sacct.md has the whole command");
    check_error("JobID|Submit|JobID\n", "line 1: the column 'JobID' is there twice");
    check_error("JobID|Submit|Elapsed|ReqCPUS\n1|2\n",
                "line 2: has 2 fields, but the header names 4");
    check_error("JobID|Submit|Elapsed|ReqCPUS\n1|2|3|4|5\n",
                "line 2: has 5 fields, but the header names 4");
    check_error("JobID|Submit|Elapsed|ReqCPUS\n1|noon|00:01:00|4\n",
                "line 2: Submit must be like 2026-10-01T12:00:00, or seconds since 1970, not "
                "'noon'");
    check_error("JobID|Submit|Elapsed|ReqCPUS\n1|5|long|4\n",
                "line 2: Elapsed must be a length of time like 1-02:03:04, not 'long'");
    check_error("JobID|Submit|Elapsed|ReqCPUS\n1|5|00:01:00|x\n",
                "line 2: ReqCPUS must be a whole number, not 'x'");
    check_error("JobID|Submit|Elapsed|ReqTRES\n1|5|00:01:00|cpu\n",
                "line 2: ReqTRES must be like cpu=8,gres/gpu=2,mem=32G,node=2, not 'cpu'");
    check_error("JobID|Submit|Elapsed|ReqCPUS|ReqMem\n1|5|00:01:00|1|16GB\n",
                "line 2: ReqMem must be like 16G, 4000Mc or 1.5Tn, not '16GB'");
    check_error("JobID|Submit|Elapsed|ReqCPUS\n|5|00:01:00|1\n",
                "line 2: JobID must be the number of a job, not ''");
}

CHECK_MAIN(RUN(a_job_on_two_nodes_is_a_gang_of_halves), RUN(steps_are_part_of_their_job),
           RUN(array_elements_and_parts_of_het_jobs_are_jobs),
           RUN(what_ran_is_a_job_however_it_ended), RUN(what_never_ran_is_counted_by_its_reason),
           RUN(what_still_runs_is_taken_as_far_as_it_ran),
           RUN(columns_come_in_any_order_and_unknown_ones_are_passed_over),
           RUN(without_elapsed_the_time_from_start_to_end_counts),
           RUN(a_bar_in_a_name_belongs_to_the_name), RUN(names_that_are_no_text_are_made_printable),
           RUN(memory_may_be_per_job_node_or_cpu),
           RUN(demand_is_what_was_requested_or_what_was_allocated),
           RUN(the_nodes_are_those_that_it_ran_on),
           RUN(a_job_that_was_not_eligible_had_not_arrived),
           RUN(an_accounting_without_jobs_is_an_empty_trace),
           RUN(errors_name_the_line_the_column_and_what_is_right))
