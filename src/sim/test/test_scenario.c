/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "sim/scenario.h"
#include "trace/input_file.h"

/* What every scenario needs; the line after it is line 3. */
#define NEEDED "trace: jobs.csv\ncatalogue: machines.yaml\n"

static struct arena arena;

static struct scenario parse(const char *text)
{
    struct scenario scenario = { 0 };
    struct error error = { "" };

    arena_reset(&arena);
    if (scenario_parse(text, strlen(text), &arena, &scenario, &error) < 0)
        fail_msg("%s", error.text);
    return scenario;
}

static bool near(double a, double b)
{
    return a - b < 1e-12 && b - a < 1e-12;
}

TEST(a_scenario_of_two_files_has_the_documented_defaults)
{
    const struct scenario scenario = parse(NEEDED);

    assert_null(scenario.name);
    assert_string_equal(scenario.trace_file, "jobs.csv");
    assert_string_equal(scenario.catalogue_file, "machines.yaml");
    assert_int_equal(scenario.interference, INTERFERENCE_NONE);
    assert_int_equal(scenario.run.round_ms, 300000);
    assert_int_equal(scenario.run.settle_ms, 0);
    assert_int_equal(scenario.run.tick_ms, 1000);
    assert_int_equal(scenario.run.estimates, SIM_ESTIMATES_ORACLE);
    assert_int_equal(scenario.run.noise_ppm, 0);
    assert_true(near(scenario.run.default_rate, 0.95));
    assert_int_equal(scenario.run.seed, 1);
    assert_int_equal(scenario.run.faults.refuse_ppm, 0);
    assert_int_equal(scenario.run.faults.slow_factor, 5);
    assert_int_equal(scenario.run.faults.lose_mean_ms, 0);
    assert_int_equal(scenario.run.faults.notice_ms, 120000);
    assert_int_equal(scenario.run.faults.late_ms, 60000);
}

TEST(without_a_list_all_policies_are_compared_at_their_defaults)
{
    const struct scenario scenario = parse(NEEDED);

    assert_int_equal(scenario.policy_count, policy_count);
    for (uint32_t i = 0; i < policy_count; i++) {
        int64_t normal[POLICY_OPTIONS_MAX] = { 0 };

        policy_defaults(policies[i], normal);
        assert_ptr_equal(scenario.policies[i].policy, policies[i]);
        assert_string_equal(scenario.policies[i].label, policies[i]->name);
        assert_memory_equal(scenario.policies[i].option, normal, sizeof(normal));
    }
}

TEST(a_policy_takes_options_of_each_kind)
{
    const struct scenario scenario =
        parse(NEEDED "policies:\n"
                     "  - policy: eva\n"
                     "    label: other\n"
                     "    options: { throughput: false, mode: partial, start_cost: 7s }\n"
                     "  - eva\n");
    const struct policy *eva = &policy_eva;
    const int64_t *option = scenario.policies[0].option;

    assert_int_equal(scenario.policy_count, 2);
    assert_string_equal(scenario.policies[0].label, "other");
    assert_int_equal(option[policy_find_option(eva, "throughput")], 0);
    assert_int_equal(option[policy_find_option(eva, "mode")], 2);
    assert_int_equal(option[policy_find_option(eva, "start_cost")], 7000);
    assert_int_equal(option[policy_find_option(eva, "gangs")], 1);
    assert_string_equal(scenario.policies[1].label, "eva");
}

TEST(machines_are_owned_of_a_type_or_of_their_own_kind)
{
    const struct scenario scenario =
        parse(NEEDED "owned:\n"
                     "  - { type: c1, count: 4 }\n"
                     "  - { name: rack, cpu: 64, mem_gib: 256, accel: 2, dollars_per_hour: 0.40 }\n"
                     "burst: { after: 10m, waiting_hour: 0.50 }\n");
    const struct owned_entry *rows = scenario.owned.rows;

    assert_int_equal(scenario.owned.count, 2);
    assert_string_equal(rows[0].type, "c1");
    assert_int_equal(rows[0].count, 4);
    assert_int_equal(rows[0].per_hour, 0);
    assert_null(rows[1].type);
    assert_string_equal(rows[1].name, "rack");
    assert_int_equal(rows[1].capacity.amount[RES_CPU], 64000);
    assert_int_equal(rows[1].capacity.amount[RES_ACCEL], 2000);
    assert_int_equal(rows[1].count, 1);
    assert_int_equal(rows[1].per_hour, 400000);
    assert_int_equal(scenario.run.burst.after_ms, 600000);
    assert_int_equal(scenario.run.burst.waiting_hour, 500000);
    assert_true(parse(NEEDED "burst: { after: never }\n").run.burst.after_ms == MSEC_NEVER);
}

TEST(interference_is_nothing_a_number_or_a_file)
{
    const struct scenario none = parse(NEEDED "interference: none\n");
    const struct scenario uniform = parse(NEEDED "interference: 0.9\n");
    const struct scenario matrix = parse(NEEDED "interference: m.csv\nunmeasured: 0.8\n");
    const struct scenario odd = parse(NEEDED "interference: '0.9'\n");

    assert_int_equal(none.interference, INTERFERENCE_NONE);
    assert_int_equal(uniform.interference, INTERFERENCE_UNIFORM);
    assert_true(near(uniform.pair_rate, 0.9));
    assert_int_equal(matrix.interference, INTERFERENCE_MATRIX);
    assert_true(near(matrix.pair_rate, 0.8));
    assert_int_equal(odd.interference, INTERFERENCE_MATRIX);
    assert_string_equal(odd.matrix_file, "0.9");
}

TEST(the_matrix_keeps_the_default_for_what_it_does_not_say)
{
    assert_true(near(parse(NEEDED "interference: m.csv\n").pair_rate, 0.95));
}

TEST(decisions_come_by_events_if_the_scenario_says_so)
{
    const struct scenario scenario = parse(NEEDED "rounds: events\nsettle: 10s\ntick: 250ms\n");

    assert_int_equal(scenario.run.round_ms, 0);
    assert_int_equal(scenario.run.settle_ms, 10000);
    assert_int_equal(scenario.run.tick_ms, 250);
}

TEST(every_fault_can_be_set)
{
    const struct sim_faults faults =
        parse(
            NEEDED
            "faults: { refuse: 0.1, slow: 0.2, slow_factor: 6, lose_mean: 12h, lose_market: spot,\n"
            "  lose_by_band: true, notice: 0.5, notice_time: 30s, duplicate: 0.01, late: 0.02, late_by: 5m,\n"
            "  rate_noise: 0.1 }\n")
            .run.faults;

    assert_int_equal(faults.refuse_ppm, 100000);
    assert_int_equal(faults.slow_ppm, 200000);
    assert_int_equal(faults.slow_factor, 6);
    assert_int_equal(faults.lose_mean_ms, 12 * MSEC_PER_HOUR);
    assert_true(faults.lose_one_market);
    assert_int_equal(faults.lose_market, MARKET_SPOT);
    assert_true(faults.lose_by_band);
    assert_int_equal(faults.notice_ppm, 500000);
    assert_int_equal(faults.notice_ms, 30000);
    assert_int_equal(faults.duplicate_ppm, 10000);
    assert_int_equal(faults.late_ppm, 20000);
    assert_int_equal(faults.late_ms, 300000);
    assert_int_equal(faults.rate_noise_ppm, 100000);
}

TEST(losses_of_single_offers_can_be_set)
{
    const struct scenario_losses losses =
        parse(NEEDED
              "faults:\n"
              "  bid: 1.5\n"
              "  losses: [{ type: a, zone: n, market: spot, mean: 10h, from: 1h, until: 2d },\n"
              "    { mean: 0 }]\n"
              "  availability: [{ type: b, file: b.json }]\n")
            .losses;

    assert_int_equal(losses.bid_ppm, 1500000);
    assert_int_equal(losses.loss_count, 2);
    assert_string_equal(losses.losses[0].of.type, "a");
    assert_string_equal(losses.losses[0].of.zone, "n");
    assert_true(losses.losses[0].of.has_market);
    assert_int_equal(losses.losses[0].loss.mean_ms, 10 * MSEC_PER_HOUR);
    assert_int_equal(losses.losses[0].loss.from, MSEC_PER_HOUR);
    assert_int_equal(losses.losses[0].loss.until, 48 * MSEC_PER_HOUR);
    assert_null(losses.losses[1].of.type);
    assert_int_equal(losses.losses[1].loss.until, MSEC_NEVER);
    assert_int_equal(losses.series_count, 1);
    assert_string_equal(losses.series[0].file, "b.json");
}

TEST(jobs_without_rules_get_those_of_the_first_entry_that_is_for_them)
{
    const struct scenario scenario =
        parse(NEEDED "markets:\n"
                     "  - { user: ada, workload: fit, market: on-demand }\n"
                     "  - { user: ada, after: 20m }\n"
                     "  - { workload: fit, within: 2h }\n");
    const struct shape_demand demand = { FAMILY_NONE, { { 1000, 0, 0 } } };
    static const struct {
        const char *user;
        const char *workload;
        struct job_rules expected;
    } cases[] = {
        { "ada", "fit", { MARKET_RULE_SAFE, 0, 0 } },
        { "ada", "run", { MARKET_RULE_SPOT, 1200000, 0 } },
        { "bob", "fit", { MARKET_RULE_ANY, 0, 7205000 } },
        { "bob", "run", { MARKET_RULE_ANY, 0, 0 } },
        { "bob", "own", { MARKET_RULE_SPOT, 0, 0 } },
    };
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    struct trace trace;

    trace_init(&trace);
    for (size_t i = 0; i < CASES; i++) {
        const struct shape_spec spec = { .name = cases[i].workload,
                                         .workload = cases[i].workload,
                                         .demands = &demand,
                                         .demand_count = 1 };
        struct trace_job job = {
            .id = i,
            .name = names_add(&trace.names, "job", 3),
            .user = names_add(&trace.users, cases[i].user, strlen(cases[i].user)),
            .shape = shapes_add(&trace.shapes, &spec),
            .task_count = 1,
            .arrival_ms = 5000,
        };

        if (i + 1 == CASES) { /* it has one of its own */
            job.rules.market = MARKET_RULE_SPOT;
            job.shape = shapes_by_market(&trace.shapes, job.shape);
        }
        trace_add_job(&trace, &job);
    }
    scenario_markets_apply(&scenario.markets, &trace);
    for (size_t i = 0; i < CASES; i++) {
        const struct trace_job *job = &trace.jobs[i];

        assert_int_equal(job->rules.market, cases[i].expected.market);
        assert_int_equal(job->rules.spot_for_ms, cases[i].expected.spot_for_ms);
        assert_int_equal(job->rules.deadline, cases[i].expected.deadline);
        assert_int_equal(trace.shapes.rows[job->shape].by_market, job_has_rules(&job->rules));
    }
    trace_done(&trace);
}

TEST(estimates_come_from_the_source_that_was_named)
{
    assert_int_equal(parse(NEEDED "estimates: user\n").run.estimates, SIM_ESTIMATES_USER);
    assert_int_equal(parse(NEEDED "estimates: learned\n").run.estimates, SIM_ESTIMATES_LEARNED);
    assert_int_equal(parse(NEEDED "noise: 0.3\n").run.noise_ppm, 300000);
    assert_int_equal(parse(NEEDED "noise: 0.3\nnoise_side: over\n").run.noise_side, SIM_NOISE_OVER);
}

TEST(a_trace_can_be_drawn_from_a_mix)
{
    const struct scenario scenario = parse(
        "catalogue: m.yaml\n"
        "trace:\n"
        "  { tasks: 9, gap: 2m, runtime: [1m, 2h], gangs: 0.5, gang_tasks: 3, users: 2,\n"
        "    seed: 7, mix: [{ workload: 'fit[2]', weight: 3, cpu: 1.5, mem_gib: 2, accel: 1,\n"
        "    fetch: 1s, build: 2s, init: 3s, kill: 4s, upload: 5s }] }\n");
    const struct synthetic_spec *spec = &scenario.drawn.spec;

    assert_null(scenario.trace_file);
    assert_true(scenario.drawn.has_seed);
    assert_int_equal(spec->seed, 7);
    assert_int_equal(spec->task_count, 9);
    assert_int_equal(spec->mean_gap_ms, 120000);
    assert_int_equal(spec->work_min_ms, 60000);
    assert_int_equal(spec->work_max_ms, 2 * MSEC_PER_HOUR);
    assert_int_equal(spec->gang_ppm, 500000);
    assert_int_equal(spec->gang_tasks_max, 3);
    assert_int_equal(spec->user_count, 2);
    assert_int_equal(spec->mix_count, 1);
    assert_int_equal(spec->mix[0].weight, 3);
    assert_string_equal(spec->mix[0].spec.name, "fit[2]");
    assert_string_equal(spec->mix[0].spec.workload, "fit");
    assert_int_equal(spec->mix[0].spec.demands[0].res.amount[RES_CPU], 1500);
    assert_int_equal(spec->mix[0].spec.demands[0].res.amount[RES_MEM], 2048);
    assert_int_equal(spec->mix[0].spec.demands[0].res.amount[RES_ACCEL], 1000);
    assert_int_equal(spec->mix[0].spec.delays.fetch_ms, 1000);
    assert_int_equal(spec->mix[0].spec.delays.upload_ms, 5000);
}

TEST(what_is_wrong_is_said_with_its_line_and_what_would_be_right)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "trace: a.csv\n", "line 1: the document lacks the key 'catalogue'" },
        { "catalogue: a\ntrace: [1]\n", "line 2: 'trace' must be a single value, not a list" },
        { NEEDED "polices: [eva]\n", "line 3: unknown key 'polices': did you mean 'policies'?" },
        { NEEDED "policies: eva\n", "line 3: 'policies' must be a list, not a single value" },
        { NEEDED "policies: []\n", "line 3: 'policies' has 1 to 64 entries, not 0; without" },
        { NEEDED "policies: [evva]\n",
          "line 3: there is no policy 'evva'; there are: task-per-instance, stratus, " },
        { NEEDED "policies: [eva, eva]\n",
          "line 3: 'eva' is in 'policies' twice; give one of them a 'label' of its own" },
        { NEEDED "policies:\n  - label: x\n",
          "line 4: entry 1 of 'policies' lacks the key 'policy'" },
        { NEEDED "policies:\n  - { policy: synergy, options: { mode: full } }\n",
          "line 4: the policy 'synergy' has no options; leave 'options' out" },
        { NEEDED "policies:\n  - { policy: eva, options: { mod: full } }\n",
          "line 4: unknown key 'mod': did you mean 'mode'? There may be: throughput, gangs, mode" },
        { NEEDED "policies:\n  - { policy: eva, options: { mode: half } }\n",
          "line 4: 'mode' must be one of both, full, partial, not 'half'" },
        { NEEDED "policies:\n  - { policy: eva, options: { gangs: 1 } }\n",
          "line 4: 'gangs' must be true or false, not '1'" },
        { NEEDED "interference: 0\n",
          "line 3: 'interference' must be a number from 0.000001 to 2" },
        { NEEDED "unmeasured: 0.9\n", "line 3: 'unmeasured' goes with a matrix; name its file" },
        { NEEDED "rounds: often\n",
          "line 3: 'rounds' must be a length of time of at least 1s, such as 5m, or the word events" },
        { NEEDED "rounds: 5ms\n", "line 3: 'rounds' must be a length of time of at least 1s" },
        { NEEDED "settle: 1s\n", "line 3: 'settle' goes with 'rounds: events'" },
        { NEEDED "tick: 0\n", "line 3: 'tick' must be a length of time from 0.001s" },
        { NEEDED "estimates: mine\n",
          "line 3: 'estimates' must be oracle, user or learned, not 'mine'" },
        { NEEDED "estimates: user\nnoise: 0.1\n",
          "line 4: 'noise' goes with 'estimates: oracle' (the truth, blurred)" },
        { NEEDED "noise_side: up\n", "line 3: 'noise_side' must be both, under or over, not 'up'" },
        { NEEDED "faults: { lose_market: free }\n",
          "line 3: 'lose_market' must be on-demand, spot or reserved, not 'free'" },
        { NEEDED "faults: { losses: [{ type: a }] }\n",
          "line 3: entry 1 of 'losses' lacks the key 'mean'" },
        { NEEDED "faults: { losses: [{ mean: 1h, from: 2h, until: 1h }] }\n",
          "line 3: 'until' must be later than 'from'" },
        { NEEDED "faults: { availability: [{ market: free, file: a }] }\n",
          "line 3: 'market' must be on-demand, spot or reserved, not 'free'" },
        { NEEDED "faults: { bid: 0 }\n", "line 3: 'bid' must be a number from 0.000001" },
        { NEEDED "noise: -1\n", "line 3: 'noise' must be a number from 0 to 100, not '-1'" },
        { NEEDED "default_rate: 0\n",
          "line 3: 'default_rate' must be a number from 0.000001 to 1" },
        { NEEDED "seed: -1\n", "line 3: 'seed' must be a whole number from 0" },
        { NEEDED "faults: { refuse: 1 }\n", "line 3: 'refuse' must be a number from 0 to 0.99" },
        { NEEDED "faults: { slow_factor: 0 }\n",
          "line 3: 'slow_factor' must be a whole number from 1 to 1000, not '0'" },
        { NEEDED "owned: [ { count: 4 } ]\n",
          "line 3: entry 1 of 'owned' does not say what machines they are" },
        { NEEDED "owned: [ { type: a, cpu: 4 } ]\n",
          "line 3: entry 1 of 'owned' has a 'type' of the catalogue" },
        { NEEDED "owned: [ { type: a, count: 70000 } ]\n",
          "line 3: 'count' must be a whole number from 0 to 65536" },
        { NEEDED "burst: { before: 5m }\n", "line 3: unknown key 'before'" },
        { NEEDED "markets: [ { market: cheap } ]\n",
          "line 3: 'market' must be any, spot or on-demand, not 'cheap'" },
        { NEEDED "markets: [ { market: any, after: 5m } ]\n",
          "line 3: 'after' is for spot machines: give market: spot with it" },
        { NEEDED "markets: [ { partition: a } ]\n", "line 3: unknown key 'partition'" },
        { NEEDED "faults: { loose: 1h }\n", "line 3: unknown key 'loose'" },
        { "catalogue: a\ntrace: { gap: 1s }\n", "line 2: 'trace' lacks the key 'tasks'" },
        { "catalogue: a\ntrace: { tasks: 5 }\n", "line 2: 'trace' needs either 'gap'" },
        { "catalogue: a\ntrace: { tasks: 5, gap: 1s, horizon: 1h }\n",
          "line 2: 'trace' needs either 'gap'" },
        { "catalogue: a\ntrace: { tasks: 5, gap: 1s, runtime: [1h, 1m] }\n",
          "line 2: 'runtime' must name the shorter time first" },
        { "catalogue: a\ntrace: { tasks: 5, gap: 1s, runtime: [1h] }\n",
          "line 2: 'runtime' must be a pair [shortest, longest]" },
        { "catalogue: a\ntrace: { tasks: 5, gap: 1s, mix: [] }\n",
          "line 2: 'mix' has 1 to 1048576 entries, not 0" },
        { "catalogue: a\ntrace: { tasks: 5, gap: 1s, mix: [{ workload: w }] }\n",
          "line 2: entry 1 of 'mix' asks for nothing: give cpu, mem_gib or accel above 0" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scenario scenario = { .policy_count = 77 };
        struct error error = { "" };

        arena_reset(&arena);
        const int rc =
            scenario_parse(cases[i].text, strlen(cases[i].text), &arena, &scenario, &error);

        assert_int_equal(rc, -EINVAL);
        assert_int_equal(scenario.policy_count, 77);
        if (strncmp(error.text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("expected: %s\n# but: %s", cases[i].error, error.text);
    }
}

/*
 * Loading: a folder of its own with a scenario and its files.
 */

struct folder {
    char path[64];
    char scenario[96];
};

static void write_file(const struct folder *folder, const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);

    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void folder_init(struct folder *folder, const char *scenario)
{
    (void)snprintf(folder->path, sizeof(folder->path), "test_scenario.XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->scenario, sizeof(folder->scenario), "%s/day.yaml", folder->path);
    write_file(folder, "day.yaml", scenario);
    write_file(folder, "jobs.csv", "workload,arrival_s,duration_s,cpu\nx[1],0,60,1\ny,5,60,1\n");
    write_file(folder, "machines.yaml", "types: [{ name: a.1, cpu: 2, mem_gib: 4, price: 0.1 }]\n");
    write_file(folder, "matrix.csv", "w,x,y\nx,0.9,0.8\n");
}

static void folder_done(const struct folder *folder)
{
    static const char *const names[] = { "day.yaml", "jobs.csv", "machines.yaml", "matrix.csv" };
    char path[128];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder->path, names[i]);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(folder->path), 0);
}

static void load(const struct folder *folder, struct loaded_scenario *loaded)
{
    struct error error = { "" };

    if (scenario_load(folder->scenario, loaded, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(files_are_found_beside_the_scenario)
{
    struct folder folder;
    struct loaded_scenario loaded;
    folder_init(&folder, NEEDED "interference: matrix.csv\nunmeasured: 0.7\n");

    load(&folder, &loaded);
    const struct sim_config config = loaded_scenario_config(&loaded, &loaded.scenario.policies[1]);

    assert_string_equal(loaded.scenario.name, "day");
    assert_int_equal(config.trace->job_count, 2);
    assert_int_equal(config.catalogue->offer_count, 1);
    assert_ptr_equal(config.policy, policies[1]);
    assert_int_equal(config.contention->count, 2);
    assert_true(near(config.contention->pair[1], 0.8));
    assert_true(near(config.contention->pair[2], 0.7));
    loaded_scenario_done(&loaded);
    folder_done(&folder);
}

TEST(without_interference_the_simulation_gets_none)
{
    struct folder folder;
    struct loaded_scenario loaded;
    folder_init(&folder, NEEDED);

    load(&folder, &loaded);

    assert_null(loaded_scenario_config(&loaded, &loaded.scenario.policies[0]).contention);
    loaded_scenario_done(&loaded);
    folder_done(&folder);
}

TEST(a_fault_in_a_file_names_that_file)
{
    static const struct {
        const char *scenario;
        const char *error; /* behind the folder's name */
    } cases[] = {
        { "trace: jobs.csv\ncatalogue: none.yaml\n", "/none.yaml: there is no such file" },
        { "trace: none.csv\ncatalogue: machines.yaml\n", "/none.csv: there is no such file" },
        { "trace: matrix.csv\ncatalogue: machines.yaml\n", "/matrix.csv: line 1: " },
        { "trace: jobs.csv\ncatalogue: jobs.csv\n", "/jobs.csv: line 1: " },
        { NEEDED "interference: jobs.csv\n", "/jobs.csv: line 2, field 2: a throughput" },
        { NEEDED "x: y\n", "/day.yaml: line 3: unknown key 'x'" },
        { "catalogue: machines.yaml\ntrace: { tasks: 9000000, gap: 900d }\n",
          "/day.yaml: the mean gap of a synthetic trace is too long" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct folder folder;
        struct loaded_scenario loaded;
        struct error error = { "" };
        folder_init(&folder, cases[i].scenario);

        const int rc = scenario_load(folder.scenario, &loaded, &error);

        assert_true(rc < 0);
        assert_memory_equal(error.text, folder.path, strlen(folder.path));
        if (strncmp(error.text + strlen(folder.path), cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("expected: %s\n# but: %s", cases[i].error, error.text);
        folder_done(&folder);
    }
}

TEST(another_seed_draws_another_trace_unless_the_trace_has_its_own)
{
    static const char *const scenarios[] = {
        "catalogue: machines.yaml\ntrace: { tasks: 9, gap: 1m }\nseed: 5\n",
        "catalogue: machines.yaml\ntrace: { tasks: 9, gap: 1m, seed: 3 }\nseed: 5\n",
    };

    for (int fixed = 0; fixed < 2; fixed++) {
        struct folder folder;
        struct loaded_scenario loaded;
        folder_init(&folder, scenarios[fixed]);
        load(&folder, &loaded);
        const msec_t before = loaded.trace.jobs[8].arrival_ms;

        assert_int_equal(loaded_scenario_reseed(&loaded, 6, NULL), 0);
        const msec_t other = loaded.trace.jobs[8].arrival_ms;
        assert_int_equal(loaded_scenario_reseed(&loaded, 5, NULL), 0);

        assert_int_equal(other == before, fixed);
        assert_int_equal(loaded.trace.jobs[8].arrival_ms, before);
        assert_int_equal(loaded.scenario.run.seed, 5);
        loaded_scenario_done(&loaded);
        folder_done(&folder);
    }
}

/*
 * The document. The build tells where it stands by the environment variable STINT_FORMATS.
 */

TEST(the_document_names_every_policy_with_its_options_and_choices)
{
    const char *folder = getenv("STINT_FORMATS");
    struct input_file file = { 0 };
    struct error error = { "" };
    char path[4096];
    char quoted[64];

    assert_non_null(folder);
    (void)snprintf(path, sizeof(path), "%s/scenario.md", folder);
    if (input_file_read(path, &file, &error) < 0)
        fail_msg("%s", error.text);

    for (uint32_t i = 0; i < policy_count; i++) {
        (void)snprintf(quoted, sizeof(quoted), "`%s`", policies[i]->name);
        if (strstr(file.text, quoted) == NULL)
            fail_msg("the document lacks the policy %s", quoted);
        for (uint32_t k = 0; k < policies[i]->option_count; k++) {
            const struct policy_option *option = &policies[i]->options[k];

            (void)snprintf(quoted, sizeof(quoted), "`%s`", option->name);
            if (strstr(file.text, quoted) == NULL)
                fail_msg("the document lacks the option %s of %s", quoted, policies[i]->name);
            for (int c = 0; option->kind == OPTION_CHOICE && option->choices[c] != NULL; c++) {
                (void)snprintf(quoted, sizeof(quoted), "`%s`", option->choices[c]);
                if (strstr(file.text, quoted) == NULL)
                    fail_msg("the document lacks the choice %s of %s", quoted, option->name);
            }
        }
    }
    input_file_done(&file);
}

TEST(the_example_of_the_document_can_be_read)
{
    const char *folder = getenv("STINT_FORMATS");
    struct input_file file = { 0 };
    struct scenario scenario;
    struct error error = { "" };
    char path[4096];

    assert_non_null(folder);
    (void)snprintf(path, sizeof(path), "%s/scenario.example.yaml", folder);
    arena_reset(&arena);
    if (input_file_read(path, &file, &error) < 0 ||
        scenario_parse(file.text, file.length, &arena, &scenario, &error) < 0)
        fail_msg("%s", error.text);

    assert_string_equal(scenario.name, "a week in spring");
    assert_int_equal(scenario.policy_count, 3);
    assert_string_equal(scenario.policies[2].label, "eva, full only");
    assert_int_equal(scenario.interference, INTERFERENCE_MATRIX);
    assert_int_equal(scenario.run.faults.refuse_ppm, 50000);
    input_file_done(&file);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(a_scenario_of_two_files_has_the_documented_defaults),
        RUN(without_a_list_all_policies_are_compared_at_their_defaults),
        RUN(a_policy_takes_options_of_each_kind),
        RUN(machines_are_owned_of_a_type_or_of_their_own_kind),
        RUN(interference_is_nothing_a_number_or_a_file),
        RUN(the_matrix_keeps_the_default_for_what_it_does_not_say),
        RUN(decisions_come_by_events_if_the_scenario_says_so),
        RUN(every_fault_can_be_set),
        RUN(losses_of_single_offers_can_be_set),
        RUN(jobs_without_rules_get_those_of_the_first_entry_that_is_for_them),
        RUN(estimates_come_from_the_source_that_was_named),
        RUN(a_trace_can_be_drawn_from_a_mix),
        RUN(what_is_wrong_is_said_with_its_line_and_what_would_be_right),
        RUN(files_are_found_beside_the_scenario),
        RUN(without_interference_the_simulation_gets_none),
        RUN(a_fault_in_a_file_names_that_file),
        RUN(another_seed_draws_another_trace_unless_the_trace_has_its_own),
        RUN(the_document_names_every_policy_with_its_options_and_choices),
        RUN(the_example_of_the_document_can_be_read),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
