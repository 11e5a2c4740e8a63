/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "trace/jobs_csv.h"
#include "trace/synthetic.h"
#include "trace/trace_write.h"

/* Write the trace into memory, to be freed with free. */
static char *write_text(const struct trace *trace, const struct names *families)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_int_equal(trace_write_csv(out, trace, families, NULL), 0);
    (void)fclose(out);
    return text;
}

static void read_text(struct trace *trace, const char *text, const struct names *families)
{
    struct error error = { "" };

    if (jobs_csv_read(text, strlen(text), families, trace, &error) < 0)
        fail_msg("%s", error.text);
}

/* Writing what was read of 'text' gives the same text. */
static void check_same_text(const char *text, const struct names *families)
{
    struct trace trace;
    read_text(&trace, text, families);

    char *again = write_text(&trace, families);

    assert_string_equal(again, text);
    free(again);
    trace_done(&trace);
}

#define HEAD                                                                            \
    "job_id,name,workload,user,arrival_s,duration_s,estimate_s,tasks,gang,fetch_delay," \
    "build_image_delay,init_delay,kill_delay,upload_delay,cpu,mem_gb,gpu"

TEST(what_was_written_reads_the_same)
{
    check_same_text(HEAD "\n"
                         "7,nightly,gcn[4],ann,0.5,60,,1,0,1,2,3.001,4,5,0.25,0.5,1\n"
                         "18446744073709551615,b,b,,0.5,60,70.125,2,1,0,0,0,0,0,1,0.000976562,0\n"
                         "3,b,b,,9,0,0,2,0,0,0,0,0,0,1,1073741823.999023437,0\n",
                    NULL);
}

TEST(jobs_that_are_fixed_or_spread_are_written_as_such)
{
    check_same_text(HEAD ",fixed,spread\n"
                         "0,a,a,,0,1,,2,1,0,0,0,0,0,1,0,0,0,1\n"
                         "1,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,1,0\n",
                    NULL);
}

TEST(how_often_tasks_save_by_themselves_is_written)
{
    check_same_text(HEAD ",checkpoint_every_s\n"
                         "0,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,900\n"
                         "1,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,\n",
                    NULL);
}

TEST(what_jobs_need_of_machines_is_written)
{
    check_same_text(HEAD ",needs,whole_machine,one_zone,one_market\n"
                         "0,a,a,,0,1,,2,1,0,0,0,0,0,1,0,0,\"(a|b),!c\",0,1,0\n"
                         "1,a,a,,0,1,,2,1,0,0,0,0,0,1,0,0,spot,1,0,1\n"
                         "2,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,,0,0,0\n",
                    NULL);
}

TEST(rules_for_markets_are_written)
{
    check_same_text(HEAD ",market,spot_for_s,deadline_s\n"
                         "0,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,spot,1200,\n"
                         "1,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,on-demand,,\n"
                         "2,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,any,,86400.5\n"
                         "3,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,any,,\n",
                    NULL);
}

TEST(priorities_are_written)
{
    check_same_text(HEAD ",priority\n"
                         "0,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,4294967295\n"
                         "1,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,0\n",
                    NULL);
}

TEST(services_and_what_they_were_promised_are_written)
{
    check_same_text(HEAD ",availability\n"
                         "0,a,a,,0,1,,3,0,0,0,0,0,0,1,0,0,0.999999999\n"
                         "1,a,a,,0,1,,1,0,0,0,0,0,0,1,0,0,0\n"
                         "2,a,a,,0,1,9,1,0,0,0,0,0,0,1,0,0,\n",
                    NULL);
}

TEST(names_that_need_quotes_get_them)
{
    check_same_text(HEAD "\n"
                         "0,\"a,b\",\"say \"\"x\"\"\",\" ann \",0,1,,1,0,0,0,0,0,0,1,0,0\n",
                    NULL);
}

TEST(demands_of_families_are_written)
{
    struct names families;

    names_init(&families);
    names_add(&families, "c7i", 3);
    names_add(&families, "r7i", 3);
    names_add(&families, "p,3", 3);

    check_same_text(HEAD ",cpu@c7i,mem_gb@c7i,gpu@c7i,\"cpu@p,3\",\"mem_gb@p,3\",\"gpu@p,3\"\n"
                         "0,a,a,,0,1,,1,0,0,0,0,0,0,4,8,0,,,,10,8,1\n"
                         "1,b,b,,0,1,,1,0,0,0,0,0,0,,,,2,0,0,,,\n",
                    &families);
    names_done(&families);
}

TEST(a_synthetic_trace_survives_the_round_trip)
{
    struct synthetic_spec spec = {
        .seed = 1,
        .task_count = 500,
        .mean_gap_ms = 20000,
        .work_min_ms = 60000,
        .work_max_ms = 36000000,
        .gang_ppm = 100000,
        .gang_tasks_max = 8,
        .user_count = 5,
    };
    struct trace drawn;
    struct trace read;
    spec.mix = synthetic_default_mix(&spec.mix_count);
    assert_int_equal(synthetic_draw(&spec, &drawn, NULL), 0);

    char *text = write_text(&drawn, NULL);
    read_text(&read, text, NULL);
    char *again = write_text(&read, NULL);

    assert_string_equal(again, text);
    assert_int_equal(read.job_count, drawn.job_count);
    assert_int_equal(read.task_total, 500);
    free(again);
    free(text);
    trace_done(&read);
    trace_done(&drawn);
}

TEST(a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    struct error error;
    struct trace trace;

    if (full == NULL)
        return; /* no such device on this system */
    trace_init(&trace);

    assert_int_equal(trace_write_csv(full, &trace, NULL, &error), -EIO);
    assert_string_equal(error.text, "the trace cannot be written: is the disk full?");
    trace_done(&trace);
    (void)fclose(full);
}

CHECK_MAIN(RUN(what_was_written_reads_the_same),
           RUN(jobs_that_are_fixed_or_spread_are_written_as_such),
           RUN(how_often_tasks_save_by_themselves_is_written),
           RUN(what_jobs_need_of_machines_is_written), RUN(rules_for_markets_are_written),
           RUN(priorities_are_written), RUN(services_and_what_they_were_promised_are_written),
           RUN(names_that_need_quotes_get_them), RUN(demands_of_families_are_written),
           RUN(a_synthetic_trace_survives_the_round_trip), RUN(a_full_disk_is_an_error))
