/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that Slurm has anyway, and for how long jobs wait for them. */
#include "engine/slurm/slurm_burst.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_settings.h"
#include "engine/slurm/test/engine_world.h"

static const char *const nodes[] = { "n1", "rack-07" };

static void meet_owned(struct world *world, const struct slurm_bursts *bursts)
{
    begin(world);
    slurm_engine_destroy(world->engine);

    struct slurm_engine_config config = config_of(world);

    config.owned = nodes;
    config.owned_count = 2;
    if (bursts != NULL)
        config.bursts = *bursts;
    begin_with(world, &config);
    slurm_engine_connected(world->engine, world->now);
    line(world, "hello protocol=1 stint=0.2.0 slurm=22.05.8");
    world->sent[0] = '\0';
    world->heard[0] = '\0';
}

TEST(an_owned_node_is_ready_and_takes_jobs)
{
    struct world world;

    meet_owned(&world, NULL);
    line(&world, "node name=rack-07 state=up drain=0");
    heard(&world, "ready on 281474976710657\n");
    line(&world, "node name=rack-08 state=up drain=0"); /* none of ours */
    line(&world, "node name=st-281474976710657 state=up drain=0");
    heard(&world, "");
    line(&world, "job id=12 name=a state=pending run=0 hold=gate cpus=1");
    heard(&world, "arrived 12x1\n");
    world.port.ops->place(world.port.self, 5, world.tasks[0], OWNED_ID_FIRST + 1);
    slurm_engine_flush(world.engine, world.now);
    assert_non_null(strstr(world.sent, "place key="));
    assert_non_null(strstr(world.sent, "nodes=rack-07"));
    line(&world, "started job=12 run=0 nodes=rack-07 start=1794717001");
    heard(&world, "started 12 key 5\n");
    finish(&world);
}

static void count_stray(void *context, uint64_t instance, bool is_up)
{
    (void)instance;
    (void)is_up;
    ++*(uint32_t *)context;
}

TEST(it_is_never_drained_set_down_or_deleted)
{
    struct world world;
    uint32_t strays = 0;

    meet_owned(&world, NULL);
    line(&world, "node name=n1 state=up drain=0");
    world.port.ops->retire(world.port.self, OWNED_ID_FIRST);
    world.port.ops->forget(world.port.self, OWNED_ID_FIRST);
    slurm_engine_flush(world.engine, world.now);
    assert_string_equal(world.sent, "");
    slurm_engine_each_stray(world.engine, count_stray, &strays);
    assert_int_equal(strays, 0);
    finish(&world);
}

TEST(one_that_an_admin_drains_takes_no_more_work_until_it_is_resumed)
{
    struct world world;

    meet_owned(&world, NULL);
    line(&world, "node name=n1 state=up drain=0");
    heard(&world, "ready on 281474976710656\n");
    line(&world, "node name=n1 state=up drain=1 reason=disk");
    world.now += 60 * MSEC_PER_SEC;
    slurm_engine_tick(world.engine, world.now);
    heard(&world, "lost-node on 281474976710656\n");
    line(&world, "node name=n1 state=up drain=0");
    heard(&world, "ready on 281474976710656\n");
    assert_string_equal(world.sent, "");
    finish(&world);
}

TEST(one_that_saves_power_takes_work_and_one_that_is_rented_does_not)
{
    struct world world;

    meet_owned(&world, NULL);
    line(&world, "node name=n1 state=asleep drain=0");
    heard(&world, "ready on 281474976710656\n");
    line(&world, "node name=n1 state=waking drain=0");
    line(&world, "node name=st-7 state=asleep drain=0");
    world.now += 60 * MSEC_PER_SEC;
    slurm_engine_tick(world.engine, world.now);
    heard(&world, "");
    line(&world, "node name=n1 state=down drain=0");
    world.now += 60 * MSEC_PER_SEC;
    slurm_engine_tick(world.engine, world.now);
    heard(&world, "lost-node on 281474976710656\n");
    finish(&world);
}

static struct burst_rule burst_for(struct world *world, const char *asks)
{
    static int id = 100;
    char text[512];

    (void)snprintf(text, sizeof(text), "job id=%d name=a state=pending run=0 hold=gate cpus=1 %s",
                   id++, asks);
    world->last = (struct engine_event){ .kind = ENGINE_LISTED };
    line(world, text);
    assert_int_equal(world->last.kind, ENGINE_JOB_ARRIVED);
    return world->last.job.burst;
}

TEST(a_comment_counts_before_the_partition_and_the_account)
{
    struct slurm_burst rows[] = {
        { .partition = "long", .account = "rush" },
        { .partition = "long", .rule = { .waiting_hour = 500000 } },
    };
    const struct slurm_bursts bursts = { .row = rows, .count = 2, .other = { .after_ms = 600000 } };
    struct world world;

    meet_owned(&world, &bursts);
    assert_int_equal(burst_for(&world, "partition=short").after_ms, 600000);
    assert_int_equal(burst_for(&world, "partition=long").waiting_hour, 500000);
    assert_int_equal(burst_for(&world, "partition=long account=rush").after_ms, 0);
    assert_int_equal(burst_for(&world, "partition=long user_comment=stint:burst=30m").after_ms,
                     1800000);
    assert_int_equal(burst_for(&world, "user_comment=stint:move%20stint:burst=0").after_ms, 0);
    assert_true(burst_for(&world, "user_comment=stint:burst=never").after_ms == MSEC_NEVER);
    assert_int_equal(burst_for(&world, "user_comment=stint:market=spot%20stint:burst=1h").after_ms,
                     3600000);
    finish(&world);
}

TEST(a_comment_that_is_not_understood_keeps_the_job_back)
{
    struct world world;

    meet_owned(&world, NULL);
    line(&world, "job id=12 name=a state=pending run=0 hold=gate cpus=1 "
                 "user_comment=stint:burst=soon");
    assert_null(strstr(world.heard, "arrived"));
    finish(&world);
}

/* The error, or NULL. */
static const char *read_conf(const char *conf, struct arena *arena, struct slurm_settings *ret,
                             struct error *error)
{
    const struct doc_node *map = NULL;
    const struct settings in = { .path = "stint.conf", .arena = arena, .reterr = error };

    *ret = (struct slurm_settings){ 0 };
    assert_int_equal(doc_parse(conf, strlen(conf), arena, &map, error), 0);
    return slurm_settings_read(&in, map, ret) < 0 ? error->text : NULL;
}

TEST(the_configuration_lists_nodes_as_slurm_does)
{
    static const char conf[] =
        "{ kind: slurm, owned: [ { nodes: 'n[1-3],m7', name: rack, cpu: 64, mem_gib: 256 },\n"
        "  { nodes: gpu1, type: g4dn.xlarge, dollars_per_hour: 0.20 } ],\n"
        "  burst: { after: 10m }, bursts: [ { account: rush, after: 0 } ] }";
    struct slurm_settings settings;
    struct error error = { "" };
    struct arena arena;

    arena_init(&arena);
    if (read_conf(conf, &arena, &settings, &error) != NULL)
        fail_msg("%s", error.text);
    assert_int_equal(settings.owned.count, 5);
    assert_string_equal(settings.owned.names[2], "n3");
    assert_string_equal(settings.owned.names[4], "gpu1");
    assert_int_equal(settings.owned.kind_of[3], 0);
    assert_int_equal(settings.owned.kind_of[4], 1);
    assert_int_equal(settings.owned.kinds.rows[0].count, 4);
    assert_int_equal(settings.owned.kinds.rows[1].per_hour, 200000);
    assert_int_equal(settings.bursts.other.after_ms, 600000);
    assert_string_equal(settings.bursts.row[0].account, "rush");
    assert_true(slurm_owned_same(&settings.owned, &settings.owned));
    assert_false(slurm_owned_same(&settings.owned, &(struct slurm_owned){ 0 }));
    assert_true(slurm_bursts_same(&settings.bursts, &settings.bursts));
    assert_false(slurm_bursts_same(&settings.bursts, &(struct slurm_bursts){ 0 }));
    arena_done(&arena);
}

TEST(wrong_entries_are_refused)
{
    static const struct {
        const char *conf;
        const char *error;
    } cases[] = {
        { "{ kind: slurm, owned: [ { name: a, cpu: 1 } ] }", "lacks the key 'nodes'" },
        { "{ kind: slurm, owned: [ { nodes: 'n[1', name: a, cpu: 1 } ] }", "as Slurm writes it" },
        { "{ kind: slurm, owned: [ { nodes: 'n1,n1', name: a, cpu: 1 } ] }", "name each once" },
        { "{ kind: slurm, owned: [ { nodes: n1, count: 4, type: a } ] }", "unknown key 'count'" },
        { "{ kind: slurm, bursts: [ { user: a } ] }", "unknown key 'user'" },
        { "{ kind: slurm, burst: soon }", "map" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slurm_settings settings;
        struct error error = { "" };
        struct arena arena;

        arena_init(&arena);

        const char *said = read_conf(cases[i].conf, &arena, &settings, &error);

        if (said == NULL || strstr(said, cases[i].error) == NULL)
            fail_msg("%s: %s", cases[i].conf, said != NULL ? said : "was taken");
        arena_done(&arena);
    }
}

CHECK_MAIN(RUN(an_owned_node_is_ready_and_takes_jobs), RUN(it_is_never_drained_set_down_or_deleted),
           RUN(one_that_an_admin_drains_takes_no_more_work_until_it_is_resumed),
           RUN(one_that_saves_power_takes_work_and_one_that_is_rented_does_not),
           RUN(a_comment_counts_before_the_partition_and_the_account),
           RUN(a_comment_that_is_not_understood_keeps_the_job_back),
           RUN(the_configuration_lists_nodes_as_slurm_does), RUN(wrong_entries_are_refused))
