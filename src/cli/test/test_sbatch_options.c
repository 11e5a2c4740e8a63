/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sbatch_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

/* What the options mean, as fields; "" if they are refused. */
static const char *fields_of(const char *const *words, int count)
{
    static char text[2048];
    struct sbatch_options options;
    struct line_text line = { 0 };
    struct error error;

    sbatch_options_init(&options);
    if (sbatch_options_words(&options, words, count, &error) < 0)
        return "";
    sbatch_options_print(&options, NULL, &line);
    (void)snprintf(text, sizeof(text), "%.*s", (int)line.size - 1, line.text);
    line_text_done(&line);
    return text;
}

#define FIELDS(...)                                 \
    fields_of((const char *const[]){ __VA_ARGS__ }, \
              (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

TEST(options_say_what_a_job_needs)
{
    assert_string_equal(FIELDS("-n", "4"), "job node_count=1 ntasks=4 cpus=4 requeue=1");
    assert_string_equal(FIELDS("-N2", "--ntasks-per-node=3", "-c", "2", "--mem=4G"),
                        "job node_count=2 ntasks=6 cpus=12 mem_mib=4096 requeue=1");
    assert_string_equal(FIELDS("-N", "2-4", "-n", "5", "--mem-per-cpu", "1000"),
                        "job node_count=2 ntasks=5 cpus=5 mem_mib=3000 requeue=1");
    assert_string_equal(FIELDS("--mem=0", "--exclusive=user", "--no-requeue"),
                        "job node_count=1 ntasks=1 cpus=1 mem_all=1 exclusive=1 requeue=0");
    assert_string_equal(FIELDS("--gres=gpu:t4:2", "-G", "a100:4", "-C", "spot&a b"),
                        "job node_count=1 ntasks=1 cpus=1 requeue=1 gres_node=gpu:t4:2 "
                        "gres_job=gpu:a100:4 features=spot&a%20b");
    assert_string_equal(FIELDS("-t", "1-0", "-p", "cloud", "-o", "out", "--hold", "job.sh", "-n9"),
                        "job node_count=1 ntasks=1 cpus=1 limit_s=86400 requeue=1 partition=cloud");
}

TEST(what_makes_no_sense_is_refused)
{
    assert_string_equal(FIELDS("-n", "none"), "");
    assert_string_equal(FIELDS("-n", "0"), "");
    assert_string_equal(FIELDS("-n"), "");
    assert_string_equal(FIELDS("-n", "99999999999999999999"), "");
    assert_string_equal(FIELDS("--mem=4Q"), "");
    assert_string_equal(FIELDS("--colour"), "");
    assert_string_equal(FIELDS("-Hk"), "");
    assert_string_equal(FIELDS("-N", "4-2"), "");
    assert_string_equal(FIELDS("-a", "3-1"), "");
}

TEST(times_are_as_sbatch_takes_them)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -2: refused */
    } cases[] = {
        { "30", 1800 },      { "30:10", 1810 },     { "1:00:00", 3600 },
        { "2-12", 216000 },  { "2-12:30", 217800 }, { "2-12:30:05", 217805 },
        { "UNLIMITED", -1 }, { "0", -1 },           { "", -2 },
        { "1:2:3:4", -2 },   { "1-", -2 },          { "1-2-3", -2 },
        { "x", -2 },         { "1-1:1:1:1", -2 },   { "5m", -2 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t seconds = -2;
        const int rc = sbatch_time(cases[i].text, &seconds);

        if (seconds != cases[i].seconds || (rc == -EINVAL) != (cases[i].seconds == -2))
            fail_msg("'%s': %d, %ld", cases[i].text, rc, (long)seconds);
    }
}

TEST(the_lines_of_a_script_are_read_up_to_its_first_command)
{
    char script[] = "#!/bin/sh\n"
                    "#SBATCH -n 3 --job-name='a long name' # and a comment\r\n"
                    "# another\n"
                    "\n"
                    "#SBATCH --time=5\n"
                    "#SBATCH -a 0-9:3,20%2\n"
                    "hostname\n"
                    "#SBATCH -n 9\n";
    char wrong[] = "#SBATCH -n 3\n#SBATCH -n x\n";
    char several[] = "#SBATCH -n 3\n#SBATCH hetjob\n#SBATCH -n 64\n";
    const char *const two[] = { "-n3", ":", "-n64" };
    struct sbatch_options options;
    struct error error;

    sbatch_options_init(&options);
    assert_int_equal(sbatch_options_script(&options, script, &error), 0);
    assert_int_equal(options.ntasks, 3);
    assert_int_equal(options.limit_s, 300);
    assert_int_equal(options.array_size, 5);
    assert_string_equal(options.name, "a long name");
    assert_int_equal(sbatch_options_script(&options, wrong, &error), -EINVAL);
    assert_non_null(strstr(error.text, "line 2"));
    assert_int_equal(sbatch_options_script(&options, several, &error), -EINVAL);
    assert_non_null(strstr(error.text, "line 2: a heterogeneous job"));
    assert_int_equal(sbatch_options_words(&options, two, 3, &error), -EINVAL);
    assert_non_null(strstr(error.text, "heterogeneous"));
}

CHECK_MAIN(RUN(options_say_what_a_job_needs), RUN(what_makes_no_sense_is_refused),
           RUN(times_are_as_sbatch_takes_them),
           RUN(the_lines_of_a_script_are_read_up_to_its_first_command))
