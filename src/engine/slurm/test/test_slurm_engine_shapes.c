/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs ask for, what they cost, and many of them. */
#include <time.h>

#include "engine/slurm/slurm_findings.h"
#include "engine/slurm/slurm_shapes.h"
#include "engine/slurm/test/engine_world.h"

static void keep_reason(void *context, uint64_t task, const char *reason)
{
    assert_true(task != 0);
    (void)snprintf(context, 256, "%s", reason);
}

static const char *reason_for(struct world *world, const char *asks, char *buf)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "job id=12 name=a state=pending run=0 hold=gate %s", asks);
    buf[0] = '\0';
    line(world, text);
    slurm_engine_each_unholdable(world->engine, keep_reason, buf);
    return buf;
}

TEST(what_no_machine_can_hold_is_not_announced_but_said)
{
    struct world world;
    char buf[256];

    meet(&world);
    assert_string_equal(reason_for(&world, "node_count=1 cpus=64 mem_mib=100", buf),
                        "no machine of the catalogue has 64 CPUs and 100 MiB of memory");
    assert_string_equal(reason_for(&world, "node_count=1 cpus=1 gres_node=gres:gpu:v100:1", buf),
                        "no machine of the catalogue has 1 CPU and 1 GPU of type v100");
    assert_non_null(strstr(reason_for(&world, "cpus=1 features=slow", buf), "slow"));
    assert_non_null(strstr(reason_for(&world, "cpus=1 features=a&(b", buf), "not understood"));
    assert_non_null(
        strstr(reason_for(&world, "cpus=1 gres_node=gres:nvme:1", buf), "other than gpu"));
    assert_non_null(strstr(reason_for(&world, "cpus=1 het=11", buf), "heterogeneous"));
    heard(&world, "");
    assert_string_equal(reason_for(&world, "cpus=1", buf), "");
    heard(&world, "arrived 12x1\n");
    finish(&world);
}

static void keep_finding(void *context, const struct finding *finding)
{
    (void)snprintf(context, 512, "%s %s %s: %s", finding->severity, finding->kind, finding->subject,
                   finding->advice);
}

static void pass_over(void *context)
{
    (void)context;
}

TEST(a_heterogeneous_job_is_left_to_slurm_and_nobody_is_to_add_a_larger_type)
{
    struct world world;
    char buf[512] = "";
    const struct finding_sink sink = { .tell = keep_finding,
                                       .next_kind = pass_over,
                                       .context = buf };

    meet(&world);
    line(&world, "job id=12 name=a state=pending run=0 cpus=1 het=12");
    heard(&world, "");
    slurm_findings_each(world.engine, NULL, NULL, &sink);
    assert_non_null(strstr(buf, "warning heterogeneous 12: The job starts when"));
    assert_null(strstr(buf, "larger type"));
    line(&world, "job id=12 name=a state=running run=0 cpus=1 het=12 nodes=n1 start=5");
    heard(&world, "");
    buf[0] = '\0';
    slurm_findings_each(world.engine, NULL, NULL, &sink);
    assert_string_equal(buf, "");
    finish(&world);
}

/* The types that hold the job that was announced last: l, x and g. */
static const char *types_of(struct world *world, const char *asks, char *buf)
{
    static int id = 100;
    char text[512];
    size_t used = 0;

    (void)snprintf(text, sizeof(text), "job id=%d name=a state=pending run=0 hold=gate %s", id++,
                   asks);
    world->last.kind = ENGINE_LISTED;
    line(world, text);
    for (uint32_t i = 0; i < 3 && world->last.kind == ENGINE_JOB_ARRIVED; i++) {
        if (shape_fits_offer(&world->shapes, world->last.job.shape, &world->catalogue, i))
            buf[used++] = "lxg"[i];
    }
    buf[used] = '\0';
    return buf;
}

TEST(constraints_and_accelerators_choose_the_machines)
{
    struct world world;
    char buf[8];

    meet(&world);
    assert_string_equal(types_of(&world, "cpus=1", buf), "lxg");
    assert_string_equal(types_of(&world, "cpus=4", buf), "xg");
    assert_string_equal(types_of(&world, "cpus=1 mem_mib=9000", buf), "g");
    assert_string_equal(types_of(&world, "cpus=1 features=m5", buf), "lx");
    assert_string_equal(types_of(&world, "cpus=1 features=m5|g4dn", buf), "lxg");
    assert_string_equal(types_of(&world, "cpus=1 features=m5&g4dn", buf), "");
    assert_string_equal(types_of(&world, "cpus=1 features=g4dn|m5&fast", buf), "xg");
    assert_string_equal(types_of(&world, "cpus=1 features=(g4dn|m5)&cloud&z1&on-demand", buf),
                        "lxg");
    assert_string_equal(types_of(&world, "cpus=1 features=spot", buf), "");
    assert_string_equal(types_of(&world, "cpus=1 features=fast", buf), "x");
    assert_string_equal(types_of(&world, "cpus=1 gres_node=gres:gpu:1", buf), "g");
    assert_string_equal(types_of(&world, "cpus=1 gres_node=gres:gpu:t4:1", buf), "g");
    assert_string_equal(types_of(&world, "node_count=2 cpus=2 gres_job=gres:gpu:2", buf), "g");
    assert_string_equal(types_of(&world, "node_count=1 cpus=2 gres_job=gres:gpu:2", buf), "");
    assert_string_equal(types_of(&world, "cpus=2 ntasks=2 gres_task=gres:gpu:1", buf), "");
    assert_string_equal(types_of(&world, "cpus=1 gres_task=cpu=1,gres/gpu:t4=1", buf), "g");
    assert_string_equal(types_of(&world, "cpus=1 gres_socket=gres:gpu:1", buf), "g");
    finish(&world);
}

TEST(a_job_for_itself_takes_the_whole_machine)
{
    struct world world;
    char buf[8];

    meet(&world);
    assert_string_equal(types_of(&world, "cpus=1 mem_mib=100 exclusive=1", buf), "lxg");
    for (uint32_t i = 0; i < 3; i++)
        assert_memory_equal(
            shape_demand_at(&world.shapes, world.last.job.shape, &world.catalogue, i),
            &world.catalogue.types[i].capacity, sizeof(struct res));
    assert_string_equal(types_of(&world, "cpus=3 mem_mib=0 mem_all=1", buf), "xg");
    finish(&world);
}

/* One more offer: m5.large on the spot market of another zone. */
TEST(zones_and_markets_are_met_exactly)
{
    const struct price_change price = { 0, 50000 };
    const struct offer offer = { .market = MARKET_SPOT,
                                 .billing = { 1000, 60000 },
                                 .price = { &price, 1 } };
    struct world world;
    char buf[8];

    meet(&world);
    const uint32_t spot = catalogue_add_offer(&world.catalogue, "z2", &offer);

    shapes_bind(&world.shapes, &world.catalogue);
    assert_string_equal(types_of(&world, "cpus=1 features=z1", buf), "lxg");
    assert_false(shape_fits_offer(&world.shapes, world.last.job.shape, &world.catalogue, spot));
    assert_string_equal(types_of(&world, "cpus=1 features=spot", buf), "");
    assert_true(shape_fits_offer(&world.shapes, world.last.job.shape, &world.catalogue, spot));
    assert_string_equal(types_of(&world, "cpus=1 mem_mib=5000 features=z2", buf), "");
    assert_int_equal(world.last.kind, ENGINE_LISTED); /* nothing holds it: it is not announced */
    finish(&world);
}

TEST(the_nodes_of_one_job_are_in_one_zone)
{
    struct world world;
    char buf[8];

    meet(&world);
    (void)types_of(&world, "cpus=2 node_count=2", buf);
    assert_int_equal(world.shapes.rows[world.last.job.shape].alike, ALIKE_ZONE);
    assert_int_equal(world.shapes.rows[world.last.job.shape].variant_count, 1);
    (void)types_of(&world, "cpus=2 node_count=1", buf);
    assert_int_equal(world.shapes.rows[world.last.job.shape].alike, 0);
    finish(&world);
}

/* A job that waits changes what it asks for again and again. */
TEST(a_user_cannot_use_up_the_kinds_of_jobs)
{
    struct world world;
    char text[512];
    char buf[8];

    meet(&world);
    for (int i = 0; i < 160000; i++) {
        (void)snprintf(text, sizeof(text),
                       "job id=12 name=w%dx state=pending run=0 hold=gate cpus=1 mem_mib=%d",
                       i % 40, i / 40 + 1);
        line(&world, text);
    }
    assert_in_range(world.shapes.count, 65536, 66000);
    assert_string_equal(types_of(&world, "cpus=2 mem_mib=3999", buf), "lxg");
    assert_string_equal(types_of(&world, "cpus=3 mem_mib=7777", buf), "xg");
    assert_string_equal(types_of(&world, "cpus=4 mem_mib=8001 features=g4dn", buf), "g");
    finish(&world);
}

static struct slurm_wish wish_of(struct slurm_shapes *table, uint64_t mem_mib,
                                 const char *constraint)
{
    const struct slurm_want want = {
        .cpus = 1, .mem_mib = mem_mib, .gpu_type = "", .features = constraint, .workload = ""
    };

    return slurm_shapes_of(table, &want);
}

static int64_t memory_of(struct world *world, struct slurm_wish wish)
{
    assert_true(wish.shape != SHAPE_NONE);
    return shape_demand_on(&world->shapes, wish.shape, 0)->amount[RES_MEM];
}

TEST(sizes_are_rounded_when_there_are_many_but_never_past_a_machine)
{
    struct world world;

    begin(&world);
    struct slurm_shapes table = { .catalogue = &world.catalogue, .shapes = &world.shapes };

    slurm_shapes_init(&table);
    table.exact_max = 2;
    table.constrained_max = 4;
    assert_int_equal(memory_of(&world, wish_of(&table, 1001, NULL)), 1001);
    assert_int_equal(memory_of(&world, wish_of(&table, 1002, NULL)), 1002);
    assert_int_equal(memory_of(&world, wish_of(&table, 1003, NULL)), 1024);
    assert_int_equal(memory_of(&world, wish_of(&table, 1004, NULL)), 1024);
    assert_int_equal(memory_of(&world, wish_of(&table, 3900, NULL)), 4000); /* all of an m5.large */
    assert_int_equal(world.shapes.count, 4);
    assert_int_equal(memory_of(&world, wish_of(&table, 1001, NULL)), 1001);

    const struct slurm_wish refused = wish_of(&table, 10, "m5");

    assert_int_equal(refused.shape, SHAPE_NONE);
    assert_string_equal(names_text(&table.reasons, refused.reason),
                        "there are too many kinds of jobs");
    assert_int_equal(memory_of(&world, wish_of(&table, 10, NULL)), 10);
    slurm_shapes_done(&table);
    finish(&world);
}

TEST(wishes_that_do_not_come_again_are_forgotten)
{
    struct world world;

    begin(&world);
    struct slurm_shapes table = { .catalogue = &world.catalogue, .shapes = &world.shapes };

    slurm_shapes_init(&table);
    table.known_max = 10;
    table.exact_max = 1;
    const struct slurm_wish first = wish_of(&table, 1001, NULL);

    for (uint64_t i = 0; i < 10000; i++) {
        (void)wish_of(&table, 20000 + i, NULL); /* no machine has that much */
        assert_int_equal(wish_of(&table, 1001, NULL).shape, first.shape);
        assert_in_range(table.known.wants.count, 1, 10);
    }
    assert_int_equal(table.before.wants.count, 10);
    assert_in_range(table.reasons.count, 1, 5000);
    slurm_shapes_done(&table);
    finish(&world);
}

TEST(the_cost_is_written_once_and_summed)
{
    struct world world;

    meet(&world);
    line(&world, runs);
    line(&world, "ended job=12 state=completed run=0 nodes=st-7 end=1794717001");
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 1000, NULL);
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 1000234, "m5.large");
    sent(&world, "");
    world.now = slurm_engine_next_wake(world.engine);
    tick(&world);
    sent(&world, "comment key=1 job=12 text=stint:%20$1.001234%20on%20m5.large\n");
    line(&world, "refused key=1 code=2021 text=ended,%20and%20there%20is%20no%20accounting");
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 5, "m5.large");
    world.now += 60000;
    tick(&world);
    sent(&world, "");
    finish(&world);
}

TEST(a_hundred_thousand_jobs_are_read_within_a_second)
{
    struct world world;
    struct timespec from;
    struct timespec to;
    char text[512];

    meet(&world);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 1; i <= 100000; i++) {
        const int length = snprintf(
            text, sizeof(text),
            "job id=%d uid=1000 user=u%d account=a name=job-%d partition=cloud state=pending run=0 "
            "hold=gate reason=BeginTime begin=1794716000 node_count=1 cpus=%d mem_mib=%d "
            "limit_s=600 requeue=1 submit=1794716000 ntasks=1 priority=4294901759",
            i, i % 50, i, i % 4 + 1, i % 10 * 100 + 100);

        slurm_engine_line(world.engine, world.now, text, (size_t)length);
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);

    assert_int_equal(world.events, 100000);
    assert_int_equal(slurm_engine_stats(world.engine).waiting, 100000);
    const double took =
        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;

    print_message("# 100,000 lines: %.3f s\n", took);
    assert_true(took < 5); /* sanitizers included; 0.2 s without */
    finish(&world);
}

TEST(an_array_of_a_hundred_thousand_is_released_in_one_request)
{
    struct world world;
    char label[SLURM_LABEL_SIZE];

    meet(&world);
    line(&world, "job id=12 array=12 tasks=0-99999 name=a state=pending run=0 hold=gate " ASKS);
    assert_int_equal(world.events, 100000);
    for (uint64_t i = 0; i < 100000; i++) {
        (void)snprintf(label, sizeof(label), "12_%" PRIu64, i);
        queue(&world, i + 1, label);
    }
    sent(&world, "release key=1 jobs=12_[0-99999]\n");
    finish(&world);
}

CHECK_MAIN(RUN(what_no_machine_can_hold_is_not_announced_but_said),
           RUN(a_heterogeneous_job_is_left_to_slurm_and_nobody_is_to_add_a_larger_type),
           RUN(constraints_and_accelerators_choose_the_machines),
           RUN(a_job_for_itself_takes_the_whole_machine), RUN(zones_and_markets_are_met_exactly),
           RUN(the_nodes_of_one_job_are_in_one_zone), RUN(a_user_cannot_use_up_the_kinds_of_jobs),
           RUN(sizes_are_rounded_when_there_are_many_but_never_past_a_machine),
           RUN(wishes_that_do_not_come_again_are_forgotten),
           RUN(the_cost_is_written_once_and_summed),
           RUN(a_hundred_thousand_jobs_are_read_within_a_second),
           RUN(an_array_of_a_hundred_thousand_is_released_in_one_request))
