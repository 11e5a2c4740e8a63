/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test/check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "engine/slurm/slurm_request.h"

static char buffer[4096];

static int take(const char *text, struct slurm_request *ret, struct error *reterr)
{
    struct line line;
    const size_t length = strlen(text);

    assert_true(length < sizeof(buffer));
    memcpy(buffer, text, length);
    assert_int_equal(line_parse(buffer, length, &line, reterr), 0);
    return slurm_request_read(&line, ret, reterr);
}

TEST(a_placement_has_a_job_and_nodes)
{
    struct slurm_request request;

    assert_int_equal(take("place key=7 job=12_3 nodes=n[1-2] run=2", &request, NULL), 0);

    assert_int_equal(request.verb, SLURM_PLACE);
    assert_int_equal(request.key, 7);
    assert_string_equal(request.job, "12_3");
    assert_string_equal(request.nodes, "n[1-2]");
    assert_int_equal(request.run, 2);
    assert_null(request.partition);
}

TEST(without_a_run_any_run_is_meant)
{
    struct slurm_request request;

    assert_int_equal(take("place key=7 job=12 nodes=n1", &request, NULL), 0);

    assert_true(request.run == SLURM_RUN_ANY);
}

TEST(a_stop_may_carry_a_signal_and_a_grace)
{
    struct slurm_request request;

    assert_int_equal(
        take("stop key=1 job=5 signal=USR1 grace_ms=1500 signal_to=all", &request, NULL), 0);

    assert_int_equal(request.signal, SIGUSR1);
    assert_int_equal(request.grace_ms, 1500);
    assert_true(request.is_for_all);
}

TEST(every_word_is_known)
{
    static const char *const GOOD[] = {
        "hello protocol=1",
        "hello protocol=1 lease=lab",
        "list key=1 what=jobs",
        "list key=1 what=nodes",
        "release key=1 jobs=1,2_3,4_[5-9,11],6",
        "hold key=1 jobs=1",
        "place key=1 job=1 nodes=n1;n[2-3],n7",
        "comment key=1 job=1 text=a%20b whose=user",
        "explain key=1 job=1 text=Stint:%20full",
        "explain key=1 job=1",
        "down key=1 nodes=n1 text=lost",
        "drain key=1 nodes=n1",
        "resume key=1 nodes=n1",
        "delete key=1 nodes=n[1-9]",
    };

    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        struct slurm_request request;

        assert_int_equal(take(GOOD[i], &request, NULL), 0);
    }
}

TEST(what_makes_no_sense_is_refused_with_a_text)
{
    static const char *const BAD[] = {
        "dance key=1",
        "place key=1 job=1",
        "place key=1 nodes=n1",
        "place job=1 nodes=n1",
        "place key=x job=1 nodes=n1",
        "place key=-1 job=1 nodes=n1",
        "place key=1 job=1_ nodes=n1",
        "place key=1 job=_1 nodes=n1",
        "place key=1 job=1_[2-3] nodes=n1",
        "place key=1 job=12345678901 nodes=n1",
        "place key=1 job=1 nodes=",
        "place key=1 job=1 nodes=n1|reboot",
        "place key=1 job=1 nodes=n1;",
        "place key=1 job=1 nodes=n1;;n2",
        "down key=1 nodes=n1;n2",
        "place key=1 job=1 nodes=n1 run=-1",
        "place key=1 job=1 nodes=n1 run=4294967295",
        "place key=1 job=1 nodes=n1 whose=user",
        "place key=1 job=1 nodes=n1 partition=",
        "release key=1 jobs=",
        "release key=1 jobs=1,",
        "release key=1 jobs=1,,2",
        "release key=1 jobs=1_[2",
        "release key=1 jobs=1_[]",
        "stop key=1 job=1 signal=9",
        "stop key=1 job=1 grace_ms=600001",
        "stop key=1 job=1 signal_to=some",
        "list key=1 what=users",
        "comment key=1 job=1 text=x whose=nobody",
        "explain key=1 text=x",
        "explain key=1 job=1,2 text=x",
        "hello protocol=one",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct slurm_request request = { .key = 77 };
        struct error error = { "" };

        assert_int_equal(take(BAD[i], &request, &error), -EINVAL);
        assert_string_not_equal(error.text, "");
        assert_int_equal(request.key, 77);
    }
}

TEST(a_list_is_handed_out_one_by_one)
{
    char job[SLURM_JOB_ID_SIZE];
    const char *rest = "1,2_3,4_[5-9,11],6";

    rest = slurm_request_next_job(rest, job);
    assert_string_equal(job, "1");
    rest = slurm_request_next_job(rest, job);
    assert_string_equal(job, "2_3");
    rest = slurm_request_next_job(rest, job);
    assert_string_equal(job, "4_[5-9,11]");
    rest = slurm_request_next_job(rest, job);
    assert_string_equal(job, "6");
    assert_null(slurm_request_next_job(rest, job));
}

CHECK_MAIN(RUN(a_placement_has_a_job_and_nodes), RUN(without_a_run_any_run_is_meant),
           RUN(a_stop_may_carry_a_signal_and_a_grace), RUN(every_word_is_known),
           RUN(what_makes_no_sense_is_refused_with_a_text), RUN(a_list_is_handed_out_one_by_one))
