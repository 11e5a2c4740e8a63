/* SPDX-License-Identifier: Apache-2.0 */
/* In which markets jobs may run: their comments, their deadlines, and the configuration. */
#include "engine/slurm/slurm_market.h"

#include <errno.h>

#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_settings.h"
#include "engine/slurm/test/engine_world.h"

enum { SUBMIT = 1794716000 };

static const struct job_rules *rules_for(struct world *world, const char *asks)
{
    static int id = 100;
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "job id=%d name=a state=pending run=0 hold=gate submit=%d cpus=1 %s", id++,
                   SUBMIT, asks);
    world->last = (struct engine_event){ .kind = ENGINE_LISTED };
    line(world, text);
    assert_int_equal(world->last.kind, ENGINE_JOB_ARRIVED);
    assert_int_equal(world->shapes.rows[world->last.job.shape].by_market,
                     job_has_rules(&world->last.job.rules));
    return &world->last.job.rules;
}

static void check_rules(struct world *world, const char *asks, struct job_rules expected)
{
    const struct job_rules *rules = rules_for(world, asks);

    if (rules->market != expected.market || rules->spot_for_ms != expected.spot_for_ms ||
        rules->deadline != expected.deadline)
        fail_msg("%s: %d %" PRId64 " %" PRId64, asks, (int)rules->market, rules->spot_for_ms,
                 rules->deadline);
}

#define AT(seconds) ((msec_t)(SUBMIT + (seconds)) * MSEC_PER_SEC)

TEST(the_comment_says_in_which_markets_a_job_may_run)
{
    static const struct {
        const char *asks;
        struct job_rules rules;
    } cases[] = {
        { "user_comment=nothing", { MARKET_RULE_ANY, 0, 0 } },
        { "user_comment=stint:move", { MARKET_RULE_ANY, 0, 0 } },
        { "user_comment=stint:market=spot", { MARKET_RULE_SPOT, 0, 0 } },
        { "user_comment=stint:market=spot,after=20m", { MARKET_RULE_SPOT, 1200000, 0 } },
        { "user_comment=stint:move%20stint:after=5m", { MARKET_RULE_SPOT, 300000, 0 } },
        { "user_comment=stint:move,market=on-demand", { MARKET_RULE_SAFE, 0, 0 } },
        { "user_comment=a;stint:market=on-demand;b", { MARKET_RULE_SAFE, 0, 0 } },
        { "user_comment=stint:within=1h", { MARKET_RULE_ANY, 0, AT(3600) } },
        { "deadline=1794720000", { MARKET_RULE_ANY, 0, AT(4000) } },
        { "deadline=1794720000 user_comment=stint:within=1h", { MARKET_RULE_ANY, 0, AT(3600) } },
        { "deadline=1794717000 user_comment=stint:within=1h", { MARKET_RULE_ANY, 0, AT(1000) } },
    };
    struct world world;

    meet(&world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_rules(&world, cases[i].asks, cases[i].rules);
    finish(&world);
}

static void keep_reason(void *context, uint64_t task, const char *reason)
{
    assert_true(task != 0);
    (void)snprintf(context, 256, "%s", reason);
}

TEST(a_comment_that_is_not_understood_keeps_the_job_back_and_says_so)
{
    static const char *const comments[] = {
        "stint:market=cheap",
        "stint:",
        "stint:after=5m,market=any",
        "stint:market=spot%20stint:after=5m",
        "stint:moved",
        "stint:move,market=",
    };

    for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        struct world world;
        char buf[256] = "";
        char text[256];

        meet(&world);
        (void)snprintf(text, sizeof(text),
                       "job id=12 name=a state=pending run=0 hold=gate cpus=1 user_comment=%s",
                       comments[i]);
        line(&world, text);
        heard(&world, "");
        slurm_engine_each_unholdable(world.engine, keep_reason, buf);
        if (strstr(buf, "its comment is not understood") == NULL)
            fail_msg("%s: '%s'", comments[i], buf);
        finish(&world);
    }
}

TEST(a_rule_that_changes_while_the_job_waits_is_told)
{
    static const char job[] = "job id=12 name=a state=pending run=0 hold=gate cpus=1 "
                              "user_comment=stint:after=5";
    struct world world;
    char text[256];

    meet(&world);
    (void)snprintf(text, sizeof(text), "%sm", job);
    line(&world, text);
    heard(&world, "arrived 12x1\n");
    line(&world, text);
    heard(&world, "");
    (void)snprintf(text, sizeof(text), "%s0m", job);
    line(&world, text);
    heard(&world, "withdrawn 12\narrived 12x1\n");
    assert_int_equal(world.last.job.rules.spot_for_ms, 50 * 60 * MSEC_PER_SEC);
    finish(&world);
}

/* What the text says of a line. */
static struct market_words words_for(const char *conf, const char *partition, const char *account)
{
    struct slurm_job_line of = { .partition = partition,
                                 .account = account,
                                 .deadline = NUMBER_NONE };
    struct error error = { "" };
    const struct doc_node *map = NULL;
    struct slurm_settings settings = { 0 };
    struct slurm_market_rules rules;
    struct arena arena;

    arena_init(&arena);
    const struct settings in = { .path = "stint.conf", .arena = &arena, .reterr = &error };

    if (doc_parse(conf, strlen(conf), &arena, &map, &error) < 0 ||
        slurm_settings_read(&in, map, &settings) < 0)
        fail_msg("%s", error.text);
    assert_true(slurm_markets_same(&settings.markets, &settings.markets));
    assert_false(slurm_markets_same(&settings.markets, &(struct slurm_markets){ 0 }));
    assert_true(slurm_market_of(&settings.markets, &of, "stint:move", &rules));
    arena_done(&arena);
    return rules.words;
}

TEST(the_first_entry_of_the_configuration_that_is_for_the_job_counts)
{
    static const char conf[] =
        "{ kind: slurm, markets: [ { partition: long, account: phys, market: on-demand },\n"
        "  { partition: long, after: 20m }, { account: phys, market: spot, within: 2h } ] }";

    assert_int_equal(words_for(conf, "long", "phys").market, MARKET_RULE_SAFE);
    assert_int_equal(words_for(conf, "long", "chem").market, MARKET_RULE_SPOT);
    assert_int_equal(words_for(conf, "long", NULL).spot_for_ms, 1200000);
    assert_int_equal(words_for(conf, "short", "phys").market, MARKET_RULE_SPOT);
    assert_int_equal(words_for(conf, "short", "phys").within_ms, 7200000);
    assert_int_equal(words_for(conf, "short", "chem").market, MARKET_RULE_ANY);
    assert_int_equal(words_for(conf, "short,long", "chem").market, MARKET_RULE_SPOT);
    assert_int_equal(words_for(conf, "longer,short", "chem").market, MARKET_RULE_ANY);
}

TEST(wrong_entries_are_refused)
{
    static const struct {
        const char *conf;
        const char *error;
    } cases[] = {
        { "{ kind: slurm, markets: [ { partition: a, market: cheap } ] }", "cheap" },
        { "{ kind: slurm, markets: [ { market: on-demand, after: 5m } ] }", "'after'" },
        { "{ kind: slurm, markets: [ { user: a } ] }", "user" },
        { "{ kind: slurm, markets: [ spot ] }", "map" },
        { "{ kind: slurm, markets: spot }", "list" },
        { "{ kind: slurm, markets: [ { after: 0 } ] }", "after" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error error = { "" };
        const struct doc_node *map = NULL;
        struct slurm_settings settings = { 0 };
        struct arena arena;

        arena_init(&arena);
        const struct settings in = { .path = "stint.conf", .arena = &arena, .reterr = &error };

        assert_int_equal(doc_parse(cases[i].conf, strlen(cases[i].conf), &arena, &map, &error), 0);
        assert_true(slurm_settings_read(&in, map, &settings) < 0);
        if (strstr(error.text, cases[i].error) == NULL)
            fail_msg("%s: %s", cases[i].conf, error.text);
        arena_done(&arena);
    }
}

TEST(the_engine_keeps_what_the_configuration_said)
{
    struct world world;
    struct slurm_market market = { .partition = "long", .words = { .market = MARKET_RULE_SPOT } };

    meet(&world); /* for its catalogue */
    struct slurm_engine_config config = config_of(&world);

    config.markets = (struct slurm_markets){ &market, 1 };
    slurm_engine_destroy(world.engine);
    world.engine = slurm_engine_create(&config);
    market = (struct slurm_market){ 0 }; /* it has a copy */
    connect_it(&world);
    line(&world, "job id=5 name=a state=pending run=0 hold=gate cpus=1 partition=long");
    assert_int_equal(world.last.job.rules.market, MARKET_RULE_SPOT);
    line(&world, "job id=6 name=a state=pending run=0 hold=gate cpus=1 partition=long "
                 "user_comment=stint:market=any");
    assert_int_equal(world.last.job.rules.market, MARKET_RULE_ANY);
    finish(&world);
}

TEST(a_job_that_is_imagined_is_as_it_would_be_announced)
{
    static const char asks[] =
        "node_count=2 cpus=4 mem_mib=100 limit_s=60 name=a user_comment=stint:market=spot";
    struct world world;
    struct shapes shapes;
    struct job_spec spec;
    struct error error;
    char text[256];

    meet(&world);
    shapes_copy(&shapes, &world.shapes);
    shapes_bind(&shapes, &world.catalogue);

    const uint32_t known = world.shapes.count;

    assert_int_equal(slurm_engine_imagine(world.engine, asks, &shapes, &spec, &error), 0);
    assert_int_equal(world.shapes.count, known);
    (void)snprintf(text, sizeof(text), "job id=7 state=pending run=0 hold=gate %s", asks);
    line(&world, text);
    assert_int_equal(world.last.kind, ENGINE_JOB_ARRIVED);
    assert_int_equal(spec.shape, world.last.job.shape);
    assert_int_equal(spec.task_count, world.last.job.task_count);
    assert_int_equal(spec.estimate_ms, world.last.job.estimate_ms);
    assert_int_equal(spec.rules.market, world.last.job.rules.market);
    assert_int_equal(spec.gang, world.last.job.gang);
    assert_int_equal(slurm_engine_imagine(world.engine, "cpus=9999", &shapes, &spec, &error),
                     -ERANGE);
    assert_non_null(strstr(error.text, "no machine of the catalogue has"));
    assert_int_equal(slurm_engine_imagine(world.engine, "cpus=x", &shapes, &spec, &error), -EINVAL);
    assert_int_equal(slurm_engine_imagine(world.engine, "id=2", &shapes, &spec, &error), -EINVAL);
    shapes_done(&shapes);
    finish(&world);
}

CHECK_MAIN(RUN(a_job_that_is_imagined_is_as_it_would_be_announced),
           RUN(the_comment_says_in_which_markets_a_job_may_run),
           RUN(a_comment_that_is_not_understood_keeps_the_job_back_and_says_so),
           RUN(a_rule_that_changes_while_the_job_waits_is_told),
           RUN(the_first_entry_of_the_configuration_that_is_for_the_job_counts),
           RUN(wrong_entries_are_refused), RUN(the_engine_keeps_what_the_configuration_said))
