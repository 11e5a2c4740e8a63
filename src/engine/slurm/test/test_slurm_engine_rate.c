/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a job runs, as its user's comment says. */
#include "engine/slurm/test/engine_world.h"

#define RUNS "job id=12 user=ann name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS

static void run_it(struct world *world)
{
    meet(world);
    line(world, "job id=12 user=ann name=a state=pending run=0 hold=gate " ASKS);
    heard(world, "arrived 12x1\n");
    place(world, 5, "12", 7);
    sent(world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(world, "done key=1");
    line(world, RUNS);
    line(world, "started job=12 run=0 nodes=st-7 start=1794717000");
    heard(world, "started 12 key 5\n");
}

TEST(each_report_counts_once)
{
    struct world world;

    run_it(&world);
    line(&world, RUNS " user_comment=stint:rate=0.83#1");
    heard(&world, "rate 12 key 5\n");
    assert_int_equal(world.last.rate_ppm, 830000);
    line(&world, RUNS " user_comment=stint:rate=0.83#1 priority=9");
    heard(&world, "");
    line(&world, RUNS " user_comment=mine%20stint:rate=0.83#2;stint:move");
    heard(&world, "rate 12 key 5\n");
    line(&world, RUNS " user_comment=stint:rate=1");
    heard(&world, "rate 12 key 5\n");
    assert_int_equal(world.last.rate_ppm, 1000000);
    finish(&world);
}

TEST(what_is_no_rate_is_passed_over)
{
    static const char *const wrong[] = {
        "0", "1.1", "-1", "nan", "", "#1", "0.5x", "0.5,1", "1e-1"
    };
    struct world world;

    run_it(&world);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[512];

        (void)snprintf(text, sizeof(text), RUNS " user_comment=stint:rate=%s", wrong[i]);
        line(&world, text);
        heard(&world, "");
    }
    line(&world, RUNS " user_comment=rate=0.5%20xstint:rate=0.5");
    heard(&world, "");
    line(&world, RUNS);
    heard(&world, "");
    finish(&world);
}

TEST(what_an_earlier_run_reported_is_no_report)
{
    struct world world;

    meet(&world);
    line(&world, "job id=12 user=ann name=a state=pending run=1 hold=gate "
                 "user_comment=stint:rate=0.5#3%20stint:market=spot " ASKS);
    heard(&world, "arrived 12x1\n");
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=1 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, "started job=12 run=1 nodes=st-7 start=1794717000");
    heard(&world, "started 12 key 5\n");
    line(&world, "job id=12 user=ann name=a state=running run=1 nodes=st-7 start=1794717000 "
                 "user_comment=stint:rate=0.5#3%20stint:market=spot " ASKS);
    heard(&world, "");
    finish(&world);
}

CHECK_MAIN(RUN(each_report_counts_once), RUN(what_is_no_rate_is_passed_over),
           RUN(what_an_earlier_run_reported_is_no_report))
