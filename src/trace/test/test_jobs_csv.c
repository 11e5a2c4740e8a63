/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/test/check.h"
#include "trace/jobs_csv.h"

static void read_text(struct trace *trace, const char *text, const struct names *families)
{
    struct error error = { "" };

    if (jobs_csv_read(text, strlen(text), families, trace, &error) < 0)
        fail_msg("%s", error.text);
}

static const struct res *demand(const struct trace *trace, uint32_t job, uint32_t family)
{
    return shape_demand_on(&trace->shapes, trace->jobs[job].shape, family);
}

TEST(every_column_is_read)
{
    struct trace trace;
    read_text(&trace,
              "job_id,name,workload,user,arrival_s,duration_s,gpu,cpu,mem_gb,tasks,gang,estimate_s,"
              "init_delay,fetch_delay,build_image_delay,kill_delay,upload_delay,colour,fixed,"
              "spread,checkpoint_every_s\n"
              "7,nightly,gcn[4],ann,1.5,60,0.5,2.25,16,3,0,100,1,2,3,4,5,red,1,1,6\n",
              NULL);
    const struct trace_job *job = &trace.jobs[0];
    const struct shape *shape = &trace.shapes.rows[job->shape];

    assert_int_equal(trace.job_count, 1);
    assert_int_equal(trace.task_total, 3);
    assert_int_equal(job->id, 7);
    assert_string_equal(names_text(&trace.names, job->name), "nightly");
    assert_string_equal(names_text(&trace.users, job->user), "ann");
    assert_string_equal(names_text(&trace.shapes.names, shape->name), "gcn[4]");
    assert_string_equal(names_text(&trace.shapes.workloads, shape->workload), "gcn");
    assert_int_equal(job->arrival_ms, 1500);
    assert_int_equal(job->work_ms, 60000);
    assert_int_equal(job->estimate_ms, 100000);
    assert_int_equal(job->task_count, 3);
    assert_false(job->gang);
    assert_true(job->fixed);
    assert_true(job->spread);
    assert_int_equal(shape->delays.init_ms, 1000);
    assert_int_equal(shape->delays.fetch_ms, 2000);
    assert_int_equal(shape->delays.build_ms, 3000);
    assert_int_equal(shape->delays.kill_ms, 4000);
    assert_int_equal(shape->delays.upload_ms, 5000);
    assert_int_equal(shape->delays.checkpoint_ms, 6000);
    assert_int_equal(demand(&trace, 0, 0)->amount[RES_CPU], 2250);
    assert_int_equal(demand(&trace, 0, 0)->amount[RES_MEM], 16384);
    assert_int_equal(demand(&trace, 0, 0)->amount[RES_ACCEL], 500);
    trace_done(&trace);
}

TEST(what_is_missing_has_its_default)
{
    struct trace trace;
    read_text(
        &trace,
        "cpu,workload,duration_s,arrival_s,tasks\n1,gcn,60,10,1\n1,gcn,70,20,2\n1,gcn,0,30,\n",
        NULL);
    const struct trace_job *job = &trace.jobs[0];

    assert_int_equal(trace.job_count, 3);
    assert_int_equal(job[0].id, 0);
    assert_int_equal(job[1].id, 1);
    assert_string_equal(names_text(&trace.names, job->name), "gcn");
    assert_string_equal(names_text(&trace.users, job->user), "");
    assert_int_equal(job->estimate_ms, -1);
    assert_false(job[0].gang);
    assert_true(job[1].gang);
    assert_false(job[1].fixed);
    assert_false(job[1].spread);
    assert_int_equal(job[2].task_count, 1);
    assert_int_equal(job[2].work_ms, 0);
    assert_int_equal(demand(&trace, 0, 0)->amount[RES_MEM], 0);
    trace_done(&trace);
}

TEST(jobs_are_in_order_of_arrival_and_ties_in_that_of_the_file)
{
    static const uint64_t order[] = { 5, 3, 1, 4, 2, 0 };
    struct trace trace;
    read_text(&trace,
              "job_id,workload,arrival_s,duration_s,cpu\n"
              "0,a,9,1,1\n1,a,5,1,1\n5,a,0,1,1\n4,a,5,1,1\n3,a,2,1,1\n2,a,5,1,1\n",
              NULL);

    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(trace.jobs[i].id, order[i]);
    trace_done(&trace);
}

TEST(shapes_differ_by_name_demand_and_delays)
{
    struct trace trace;
    read_text(&trace,
              "workload,arrival_s,duration_s,cpu,init_delay\n"
              "a,0,1,1,0\na,0,9,1,0\nb,0,1,1,0\na,0,1,2,0\na,0,1,1,5\n[x],0,1,1,0\n",
              NULL);

    assert_int_equal(trace.shapes.count, 5);
    assert_int_equal(trace.shapes.names.count, 3);
    assert_int_equal(trace.jobs[0].shape, trace.jobs[1].shape);
    assert_string_equal(names_text(&trace.shapes.workloads, 2), "[x]");
    trace_done(&trace);
}

TEST(families_may_have_demands_of_their_own)
{
    struct names families;
    struct trace trace;

    names_init(&families);
    names_add(&families, "c7i", 3);
    names_add(&families, "p3", 2);
    names_add(&families, "r7i", 3);
    read_text(&trace,
              "workload,arrival_s,duration_s,cpu,mem_gb,gpu,cpu@p3,gpu@p3,cpu@c7i,net@x\n"
              "a,0,1,4,8,,10,1,,\n"
              "b,0,1,,,,,,2,\n"
              "c,0,1,4,8,,,,,\n",
              &families);

    /* Job a: its own on p3, where memory falls back to the general column. */
    assert_int_equal(demand(&trace, 0, 1)->amount[RES_CPU], 10000);
    assert_int_equal(demand(&trace, 0, 1)->amount[RES_MEM], 8192);
    assert_int_equal(demand(&trace, 0, 1)->amount[RES_ACCEL], 1000);
    assert_int_equal(demand(&trace, 0, 0)->amount[RES_CPU], 4000);
    assert_int_equal(demand(&trace, 0, 0)->amount[RES_ACCEL], 0);
    /* Job b: nowhere but on c7i. */
    assert_int_equal(demand(&trace, 1, 0)->amount[RES_CPU], 2000);
    assert_null(demand(&trace, 1, 1));
    assert_null(demand(&trace, 1, 2));
    /* Job c: the same everywhere. */
    assert_ptr_equal(demand(&trace, 2, 0), demand(&trace, 2, 1));
    trace_done(&trace);
    names_done(&families);
}

TEST(rules_for_markets_are_read_and_make_other_shapes)
{
    struct trace trace;
    read_text(&trace,
              "workload,arrival_s,duration_s,cpu,market,spot_for_s,deadline_s\n"
              "a,0,1,1,,,\na,0,1,1,any,,\na,0,1,1,spot,,\na,0,1,1,,1200,\na,0,1,1,on-demand,,90\n"
              "a,0,1,1,,,0\n",
              NULL);
    const struct trace_job *job = trace.jobs;

    assert_int_equal(trace.shapes.count, 2);
    assert_int_equal(job[0].shape, job[1].shape);
    assert_false(trace.shapes.rows[job[0].shape].by_market);
    assert_false(job_has_rules(&job[1].rules));
    for (uint32_t i = 2; i < 6; i++)
        assert_true(trace.shapes.rows[job[i].shape].by_market);
    assert_int_equal(job[2].rules.market, MARKET_RULE_SPOT);
    assert_int_equal(job[2].rules.spot_for_ms, 0);
    assert_int_equal(job[3].rules.market, MARKET_RULE_SPOT);
    assert_int_equal(job[3].rules.spot_for_ms, 1200000);
    assert_int_equal(job[4].rules.market, MARKET_RULE_SAFE);
    assert_int_equal(job[4].rules.deadline, 90000);
    assert_int_equal(job[5].rules.deadline, 1); /* 0 is none */
    trace_done(&trace);
}

TEST(a_trace_may_have_no_jobs)
{
    struct trace trace;
    read_text(&trace, "workload,arrival_s,duration_s\n", NULL);

    assert_int_equal(trace.job_count, 0);
    trace_done(&trace);
}

TEST(bad_traces_are_refused_with_line_and_column)
{
#define HEAD "workload,arrival_s,duration_s,cpu,tasks,gang,job_id\n"
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "workload,arrival_s\n",
          "line 1: there is no column 'duration_s'; a trace needs at least workload, arrival_s and "
          "duration_s" },
        { "workload,arrival_s,duration_s,cpu,cpu\n", "line 1: the column 'cpu' is there twice" },
        { HEAD ",0,1,1,1,0,1\n", "line 2: workload is empty" },
        { HEAD "a,,1,1,1,0,1\n", "line 2: arrival_s is empty" },
        { HEAD "a,0,,1,1,0,1\n", "line 2: duration_s is empty" },
        { HEAD "a,-1,1,1,1,0,1\n",
          "line 2: arrival_s must be a number of seconds from 0 to 4398046511, not '-1'" },
        { HEAD "a,0,1e13,1,1,0,1\n",
          "line 2: duration_s must be a number of seconds from 0 to 4398046511, not '1e13'" },
        { HEAD "a,0,1,two,1,0,1\n",
          "line 2: cpu must be a number from 0 to 1073741824, not 'two'" },
        { HEAD "a,0,1,1,0,0,1\n", "line 2: tasks must be 1 or more, not '0'" },
        { HEAD "a,0,1,1,2.5,0,1\n",
          "line 2: tasks must be a whole number from 1 to 1048576, not '2.5'" },
        { HEAD "a,0,1,1,9999999,0,1\n",
          "line 2: tasks must be a whole number from 1 to 1048576, not '9999999'" },
        { HEAD "a,0,1,1,1,yes,1\n", "line 2: gang must be 0 or 1, not 'yes'" },
        { HEAD "a,0,1,1,1,0,job-1\n",
          "line 2: job_id must be a whole number of up to 64 bits (other names belong into a "
          "column 'name'), not 'job-1'" },
        { HEAD "a,0,1,1,1,0,1\nb,0,1,1,1,0,2\n\na,0,1,1,1,0,1\n",
          "line 5: the job_id 1 is that of the job in line 2 too" },
        { HEAD "a,0,1,0,1,0,1\n",
          "line 2: the job asks for nothing: give cpu, mem_gb or gpu above 0" },
        { "workload,arrival_s,duration_s,cpu,needs\na,0,1,1,a&(b\n",
          "line 2: needs must be an expression of up to 1024 bytes, such as "
          "zone=a&(c7i|m7i)&!spot, not 'a&(b'" },
        { "workload,arrival_s,duration_s,cpu,one_zone\na,0,1,1,2\n",
          "line 2: one_zone must be 0 or 1, not '2'" },
        { "workload,arrival_s,duration_s,cpu,priority\na,0,1,1,4294967296\n",
          "line 2: priority must be a whole number from 0 to 4294967295, not '4294967296'" },
        { "workload,arrival_s,duration_s,cpu,market\na,0,1,1,cheap\n",
          "line 2: market must be any, spot or on-demand, not 'cheap'" },
        { "workload,arrival_s,duration_s,cpu,market,spot_for_s\na,0,1,1,on-demand,5\n",
          "line 2: market must be spot where spot_for_s is given, not 'on-demand'" },
        { "workload,arrival_s,duration_s,cpu,deadline_s\na,0,1,1,-5\n",
          "line 2: deadline_s must be a number of seconds from 0 to 4398046511, not '-5'" },
        { "workload,arrival_s,duration_s,cpu,availability\na,0,1,1,1\n",
          "line 2: availability must be a share from 0 (no promise) to 0.999999999, not '1'" },
        { "workload,arrival_s,duration_s,cpu,tasks,gang,availability\na,0,1,1,2,1,0.99\n",
          "line 2: a gang has no availability: its tasks run together or not at all. Set gang to "
          "0, or leave availability empty" },
        { HEAD "a,0,1,1\n", "line 2: has 4 fields, but the header names 7" },
        { "workload,arrival_s,duration_s,cpu@p3\n",
          "line 1: the column 'cpu@p3' asks for a machine family, but no catalogue is given: give "
          "one, or remove the column" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trace trace = { .job_count = 42 };
        struct error error = { "" };

        assert_int_equal(jobs_csv_read(cases[i].text, strlen(cases[i].text), NULL, &trace, &error),
                         -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(trace.job_count, 42);
    }
}

TEST(a_family_that_the_catalogue_lacks_is_an_error_that_says_what_to_do)
{
    static const char text[] = "workload,arrival_s,duration_s,cpu,cpu@p9\n";
    struct names families;
    struct trace trace;
    struct error error;

    names_init(&families);
    names_add(&families, "p3", 2);

    assert_int_equal(jobs_csv_read(text, strlen(text), &families, &trace, &error), -EINVAL);
    assert_string_equal(error.text,
                        "line 1: the column 'cpu@p9' names a machine family that the catalogue "
                        "does not have: correct the name, add a type of that family to the "
                        "catalogue, or remove the column");
    names_done(&families);
}

TEST(tasks_in_all_have_a_limit)
{
    enum { ROWS = LIMIT_TASKS / LIMIT_TASKS_PER_JOB, ROOM = 64 * (ROWS + 4) };
    char *text = mem_alloc(ROOM, 1);
    size_t used = (size_t)snprintf(text, ROOM, "workload,arrival_s,duration_s,cpu,tasks\n");
    struct trace trace;
    struct error error;

    for (int i = 0; i < ROWS; i++)
        used += (size_t)snprintf(text + used, ROOM - used, "a,0,1,1,%d\n", LIMIT_TASKS_PER_JOB);

    assert_int_equal(jobs_csv_read(text, used, NULL, &trace, &error), 0);
    assert_int_equal(trace.task_total, LIMIT_TASKS);
    trace_done(&trace);
    used += (size_t)snprintf(text + used, ROOM - used, "a,0,1,1,1\n");
    assert_int_equal(jobs_csv_read(text, used, NULL, &trace, &error), -E2BIG);
    assert_string_equal(error.text, "line 18: the trace has more than 16777216 tasks");
    mem_free(text);
}

CHECK_MAIN(RUN(every_column_is_read), RUN(what_is_missing_has_its_default),
           RUN(jobs_are_in_order_of_arrival_and_ties_in_that_of_the_file),
           RUN(shapes_differ_by_name_demand_and_delays),
           RUN(families_may_have_demands_of_their_own),
           RUN(rules_for_markets_are_read_and_make_other_shapes), RUN(a_trace_may_have_no_jobs),
           RUN(bad_traces_are_refused_with_line_and_column),
           RUN(a_family_that_the_catalogue_lacks_is_an_error_that_says_what_to_do),
           RUN(tasks_in_all_have_a_limit))
