/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"
#include "trace/number.h"
#include "trace/short_doc.h"

/* Shares and rates are kept in millionths. */
enum { RATE_DIGITS = 6 };

/* A cloud that refuses everything leaves nothing to simulate. */
static const int64_t refuse_ppm_max = 990000;

/* Estimates may be wrong by up to the factor 1 + noise. */
static const int64_t noise_ppm_max = 100000000;

static const double rate_unit = 1e6;
static const struct doc_range any_time = { 0, LIMIT_TIME_MS };
static const struct doc_range some_time = { 1, LIMIT_TIME_MS };
static const struct doc_range round_time = { MSEC_PER_SEC, LIMIT_TIME_MS };

/* What a scenario has where it says nothing. */
static const struct scenario defaults = {
    .pair_rate = 0.95,
    .run = {
        .round_ms = 300 * MSEC_PER_SEC,
        .tick_ms = MSEC_PER_SEC,
        .estimates = SIM_ESTIMATES_ORACLE,
        .default_rate = 0.95,
        .seed = 1,
        .faults = {
            .slow_factor = 5,
            .notice_ms = 120 * MSEC_PER_SEC,
            .late_ms = 60 * MSEC_PER_SEC,
        },
    },
};

/*
 * Policies.
 */

struct scenario_policy_names scenario_policy_names(void)
{
    struct scenario_policy_names names = { "" };
    size_t used = 0;

    for (uint32_t i = 0; i < policy_count; i++) {
        const int length = snprintf(names.text + used, sizeof(names.text) - used, "%s%s",
                                    i > 0 ? ", " : "", policies[i]->name);

        assert(length > 0);
        used += (size_t)length;
        assert(used < sizeof(names.text));
    }
    return names;
}

struct scenario_policy scenario_policy_plain(const struct policy *policy)
{
    struct scenario_policy plain = { .policy = policy, .label = policy->name };

    policy_defaults(policy, plain.option);
    return plain;
}

static int find_policy(const struct doc_node *node, const struct policy **ret, struct error *reterr)
{
    const char *name = NULL;
    const int rc = doc_as_name(node, &name, reterr);

    if (rc < 0)
        return rc;

    const struct policy *policy = policy_find(name);

    if (policy == NULL)
        return error_set(reterr, -EINVAL, "line %u: there is no policy '%s'; there are: %s",
                         node->line, text_excerpt(name, strlen(name)).text,
                         scenario_policy_names().text);
    *ret = policy;
    return 0;
}

/* One of the option's words, by its index. */
static int read_choice(const struct policy_option *option, const struct doc_node *node,
                       int64_t *ret, struct error *reterr)
{
    const char *text = NULL;
    char list[160] = "";
    size_t used = 0;
    const int rc = doc_as_text(node, &text, reterr);

    if (rc < 0)
        return rc;
    for (int i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(text, option->choices[i]) == 0) {
            *ret = i;
            return 0;
        }
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 option->choices[i]);
        assert(used < sizeof(list));
    }
    return error_set(reterr, -EINVAL, "line %u: '%s' must be one of %s, not '%s'", node->line,
                     option->name, list, text_excerpt(text, strlen(text)).text);
}

int scenario_read_option(const struct policy_option *option, const struct doc_node *node,
                         int64_t *ret, struct error *reterr)
{
    bool flag = false;
    int rc = 0;

    switch (option->kind) {
    case OPTION_BOOL:
        rc = doc_as_bool(node, &flag, reterr);
        if (rc == 0)
            *ret = flag;
        break;
    case OPTION_CHOICE:
        rc = read_choice(option, node, ret, reterr);
        break;
    case OPTION_DURATION:
        rc = doc_as_duration(node, any_time, ret, reterr);
        break;
    case OPTION_COUNT:
        rc = doc_as_int(node, (struct doc_range){ 0, LIMIT_TASKS }, ret, reterr);
        break;
    }
    return rc;
}

static int read_options(const struct doc_node *entry, struct scenario_policy *of,
                        struct error *reterr)
{
    const char *names[POLICY_OPTIONS_MAX + 1] = { NULL };
    const struct policy *policy = of->policy;
    const struct doc_node *map = NULL;
    int rc = doc_get_map(entry, "options", &map, reterr);

    if (rc < 0 || map == NULL)
        return rc;
    if (policy->option_count == 0 && map->count > 0)
        return error_set(reterr, -EINVAL,
                         "line %u: the policy '%s' has no options; leave 'options' out", map->line,
                         policy->name);
    for (uint32_t i = 0; i < policy->option_count; i++)
        names[i] = policy->options[i].name;
    rc = doc_allow_keys(map, names, reterr);
    if (rc < 0)
        return rc;
    DOC_EACH(node, map)
    {
        const uint32_t index = policy_find_option(policy, node->key);

        assert(index < policy->option_count);
        rc = scenario_read_option(&policy->options[index], node, &of->option[index], reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A name, or a map of policy, label and options. */
static int read_policy(const struct doc_node *entry, struct scenario_policy *ret,
                       struct error *reterr)
{
    static const char *const allowed[] = { "policy", "label", "options", NULL };
    const bool plain = entry->kind == DOC_SCALAR;
    const struct policy *policy = NULL;
    int rc = plain ? 0 : doc_expect(entry, DOC_MAP, reterr);

    if (rc == 0 && !plain)
        rc = doc_allow_keys(entry, allowed, reterr);
    if (rc == 0 && !plain)
        rc = doc_need_keys(entry, (const char *const[]){ "policy", NULL }, reterr);
    if (rc == 0)
        rc = find_policy(plain ? entry : doc_find(entry, "policy"), &policy, reterr);
    if (rc < 0)
        return rc;
    assert(policy != NULL);
    *ret = scenario_policy_plain(policy);
    if (plain)
        return 0;
    rc = doc_get_name(entry, "label", &ret->label, reterr);
    return rc < 0 ? rc : read_options(entry, ret, reterr);
}

static int check_label(const struct scenario *scenario, const struct doc_node *entry,
                       struct error *reterr)
{
    const char *label = scenario->policies[scenario->policy_count].label;

    for (uint32_t i = 0; i < scenario->policy_count; i++) {
        if (strcmp(scenario->policies[i].label, label) == 0)
            return error_set(reterr, -EINVAL,
                             "line %u: '%s' is in 'policies' twice; give one of them a 'label' of "
                             "its own",
                             entry->line, text_excerpt(label, strlen(label)).text);
    }
    return 0;
}

static int read_policies(const struct doc_node *root, struct arena *arena,
                         struct scenario *scenario, struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(root, "policies", &list, reterr);

    if (rc < 0)
        return rc;
    if (list == NULL) {
        scenario->policies = ARENA_ARRAY(arena, struct scenario_policy, policy_count);
        for (uint32_t i = 0; i < policy_count; i++)
            scenario->policies[i] = scenario_policy_plain(policies[i]);
        scenario->policy_count = policy_count;
        return 0;
    }
    if (list->count == 0 || list->count > SCENARIO_POLICIES_MAX)
        return error_set(reterr, -EINVAL,
                         "line %u: 'policies' has 1 to %d entries, not %u; without the key, all "
                         "policies are compared",
                         list->line, SCENARIO_POLICIES_MAX, list->count);
    scenario->policies = ARENA_ARRAY(arena, struct scenario_policy, list->count);
    DOC_EACH(entry, list)
    {
        rc = read_policy(entry, &scenario->policies[scenario->policy_count], reterr);
        if (rc == 0)
            rc = check_label(scenario, entry, reterr);
        if (rc < 0)
            return rc;
        scenario->policy_count++;
    }
    return 0;
}

/*
 * The world: interference, rhythm, estimates, faults.
 */

/* A throughput as a share of that alone, above 0. */
static int get_rate(const struct doc_node *map, const char *key, int64_t max_ppm, double *ret,
                    struct error *reterr)
{
    const struct doc_decimal rule = { .digits = RATE_DIGITS, .range = { 1, max_ppm } };
    int64_t ppm = 0;
    const int rc = doc_get_decimal(map, key, &rule, &ppm, reterr);

    if (rc == 0 && doc_find(map, key) != NULL)
        *ret = (double)ppm / rate_unit;
    return rc;
}

static int read_interference(const struct doc_node *root, struct scenario *scenario,
                             struct error *reterr)
{
    static const int64_t max_ppm = (int64_t)(COLOCATION_RATE_MAX * 1e6);
    const struct doc_node *node = doc_find(root, "interference");
    const struct doc_node *unmeasured = doc_find(root, "unmeasured");
    const char *text = NULL;
    int64_t number = 0;
    int rc = doc_get_text(root, "interference", &text, reterr);

    if (rc < 0)
        return rc;
    if (text == NULL || strcmp(text, "none") == 0) {
        scenario->interference = INTERFERENCE_NONE;
    } else if (!node->quoted &&
               number_nearest(text, node->text_length, RATE_DIGITS, &number) != -EINVAL) {
        scenario->interference = INTERFERENCE_UNIFORM;
        rc = get_rate(root, "interference", max_ppm, &scenario->pair_rate, reterr);
    } else {
        scenario->interference = INTERFERENCE_MATRIX;
        scenario->matrix_file = text;
        rc = get_rate(root, "unmeasured", max_ppm, &scenario->pair_rate, reterr);
    }
    if (rc == 0 && unmeasured != NULL && scenario->interference != INTERFERENCE_MATRIX)
        return error_set(reterr, -EINVAL,
                         "line %u: 'unmeasured' goes with a matrix; name its file under "
                         "'interference', or leave 'unmeasured' out",
                         unmeasured->line);
    return rc;
}

/* Which of the two, and how long a round is. */
static int read_rounds(const struct doc_node *root, struct sim_config *run, struct error *reterr)
{
    const struct doc_node *node = doc_find(root, "rounds");

    if (node == NULL)
        return 0;
    if (node->kind == DOC_SCALAR && strcmp(node->text, "events") == 0) {
        run->round_ms = 0;
        return 0;
    }
    if (doc_as_duration(node, round_time, &run->round_ms, NULL) < 0)
        return error_set(
            reterr, -EINVAL,
            "line %u: 'rounds' must be a length of time of at least 1s, such as 5m, or "
            "the word events",
            node->line);
    return 0;
}

static int read_rhythm(const struct doc_node *root, struct sim_config *run, struct error *reterr)
{
    const struct doc_node *settle = doc_find(root, "settle");
    int rc = read_rounds(root, run, reterr);

    if (rc == 0 && settle != NULL && run->round_ms > 0)
        return error_set(reterr, -EINVAL,
                         "line %u: 'settle' goes with 'rounds: events' (to decide so long after "
                         "something happened); leave it out, or change 'rounds'",
                         settle->line);
    if (rc == 0)
        rc = doc_get_duration(root, "settle", any_time, &run->settle_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(root, "tick", some_time, &run->tick_ms, reterr);
    return rc;
}

/* A share in millionths, up to a limit of its own. */
static int get_ppm(const struct doc_node *map, const char *key, int64_t max, uint32_t *ret,
                   struct error *reterr)
{
    const struct doc_decimal rule = { .digits = RATE_DIGITS, .exact = true, .range = { 0, max } };
    int64_t ppm = *ret;
    const int rc = doc_get_decimal(map, key, &rule, &ppm, reterr);

    if (rc == 0)
        *ret = (uint32_t)ppm;
    return rc;
}

static int read_noise_side(const struct doc_node *root, struct sim_config *run,
                           struct error *reterr)
{
    static const char *const words[] = {
        [SIM_NOISE_BOTH] = "both",
        [SIM_NOISE_UNDER] = "under",
        [SIM_NOISE_OVER] = "over",
    };
    enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };
    const char *text = words[SIM_NOISE_BOTH];
    const int rc = doc_get_text(root, "noise_side", &text, reterr);

    if (rc < 0)
        return rc;
    for (int i = 0; i < WORD_COUNT; i++) {
        if (strcmp(text, words[i]) == 0) {
            run->noise_side = (enum sim_noise)i;
            return 0;
        }
    }
    return error_set(reterr, -EINVAL, "line %u: 'noise_side' must be both, under or over, not '%s'",
                     doc_find(root, "noise_side")->line, text_excerpt(text, strlen(text)).text);
}

static int read_estimates(const struct doc_node *root, struct sim_config *run, struct error *reterr)
{
    static const char *const words[] = {
        [SIM_ESTIMATES_ORACLE] = "oracle",
        [SIM_ESTIMATES_USER] = "user",
        [SIM_ESTIMATES_LEARNED] = "learned",
    };
    enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };
    const struct doc_node *noise = doc_find(root, "noise");
    const char *text = words[run->estimates];
    int which = 0;
    int rc = doc_get_text(root, "estimates", &text, reterr);

    if (rc < 0)
        return rc;
    while (which < WORD_COUNT && strcmp(text, words[which]) != 0)
        which++;
    if (which == WORD_COUNT)
        return error_set(reterr, -EINVAL,
                         "line %u: 'estimates' must be oracle, user or learned, not '%s'",
                         doc_find(root, "estimates")->line, text_excerpt(text, strlen(text)).text);
    run->estimates = (enum sim_estimates)which;
    if (noise != NULL && run->estimates != SIM_ESTIMATES_ORACLE)
        return error_set(reterr, -EINVAL,
                         "line %u: 'noise' goes with 'estimates: oracle' (the truth, blurred); "
                         "leave it out, or change 'estimates'",
                         noise->line);
    rc = get_ppm(root, "noise", noise_ppm_max, &run->noise_ppm, reterr);
    if (rc == 0)
        rc = read_noise_side(root, run, reterr);
    if (rc == 0)
        rc = get_rate(root, "default_rate", (int64_t)rate_unit, &run->default_rate, reterr);
    return rc;
}

static int read_faults(const struct doc_node *root, struct arena *arena, struct scenario *scenario,
                       struct error *reterr)
{
    static const char *const allowed[] = {
        "refuse", "slow",         "slow_factor", "lose_mean", "lose_market", "lose_by_band",
        "notice", "notice_time",  "duplicate",   "late",      "late_by",     "losses",
        "bid",    "availability", "rate_noise",  NULL,
    };
    struct sim_faults *faults = &scenario->run.faults;
    const struct doc_node *map = NULL;
    int64_t factor = faults->slow_factor;
    int rc = doc_get_map(root, "faults", &map, reterr);

    if (rc < 0 || map == NULL)
        return rc;
    rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc = get_ppm(map, "refuse", refuse_ppm_max, &faults->refuse_ppm, reterr);
    if (rc == 0)
        rc = doc_get_ppm(map, "slow", &faults->slow_ppm, reterr);
    if (rc == 0)
        rc = doc_get_int(map, "slow_factor", (struct doc_range){ 1, 1000 }, &factor, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "lose_mean", some_time, &faults->lose_mean_ms, reterr);
    if (rc == 0)
        rc = scenario_read_market(map, "lose_market", &faults->lose_one_market,
                                  &faults->lose_market, reterr);
    if (rc == 0)
        rc = scenario_losses_read(map, arena, &scenario->losses, reterr);
    if (rc == 0)
        rc = doc_get_bool(map, "lose_by_band", &faults->lose_by_band, reterr);
    if (rc == 0)
        rc = doc_get_ppm(map, "notice", &faults->notice_ppm, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "notice_time", some_time, &faults->notice_ms, reterr);
    if (rc == 0)
        rc = doc_get_ppm(map, "duplicate", &faults->duplicate_ppm, reterr);
    if (rc == 0)
        rc = doc_get_ppm(map, "late", &faults->late_ppm, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "late_by", some_time, &faults->late_ms, reterr);
    if (rc == 0)
        rc = doc_get_ppm(map, "rate_noise", &faults->rate_noise_ppm, reterr);
    faults->slow_factor = (uint32_t)factor;
    return rc;
}

static int read_limits(const struct doc_node *root, struct sim_control *control,
                       struct error *reterr)
{
    static const char *const allowed[] = { "instances", "dollars_per_hour", NULL };
    const struct doc_node *map = NULL;
    int64_t instances = 0;
    int rc = doc_get_map(root, "limits", &map, reterr);

    if (rc < 0 || map == NULL)
        return rc;
    rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc =
            doc_get_int(map, "instances", (struct doc_range){ 0, LIMIT_TASKS }, &instances, reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_hour", &control->max_price_per_hour, reterr);
    control->max_instances = (uint32_t)instances;
    return rc;
}

/*
 * The whole.
 */

static int read_seed(const struct doc_node *root, uint64_t *ret, struct error *reterr)
{
    int64_t seed = (int64_t)*ret;
    const int rc = doc_get_int(root, "seed", (struct doc_range){ 0, INT64_MAX }, &seed, reterr);

    if (rc == 0)
        *ret = (uint64_t)seed;
    return rc;
}

/* The name of a file, or a map that says what to draw. */
static int read_trace(const struct doc_node *root, struct arena *arena, struct scenario *scenario,
                      struct error *reterr)
{
    const struct doc_node *node = doc_find(root, "trace");

    if (node->kind == DOC_MAP)
        return synthetic_doc_read(node, arena, &scenario->drawn, reterr);
    return doc_as_text(node, &scenario->trace_file, reterr);
}

static int read_root(const struct doc_node *root, struct arena *arena, struct scenario *scenario,
                     struct error *reterr)
{
    static const char *const allowed[] = {
        "name",   "trace",  "catalogue", "interference", "unmeasured", "policies",     "rounds",
        "settle", "tick",   "estimates", "noise",        "noise_side", "default_rate", "seed",
        "faults", "limits", "markets",   "owned",        "burst",      "short_pool",   NULL,
    };
    static const char *const needed[] = { "trace", "catalogue", NULL };
    int rc = doc_expect(root, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(root, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(root, needed, reterr);
    if (rc == 0)
        rc = doc_get_name(root, "name", &scenario->name, reterr);
    if (rc == 0)
        rc = read_trace(root, arena, scenario, reterr);
    if (rc == 0)
        rc = doc_get_text(root, "catalogue", &scenario->catalogue_file, reterr);
    if (rc == 0)
        rc = read_interference(root, scenario, reterr);
    if (rc == 0)
        rc = read_policies(root, arena, scenario, reterr);
    if (rc == 0)
        rc = read_rhythm(root, &scenario->run, reterr);
    if (rc == 0)
        rc = read_estimates(root, &scenario->run, reterr);
    if (rc == 0)
        rc = read_faults(root, arena, scenario, reterr);
    if (rc == 0)
        rc = read_limits(root, &scenario->run.control, reterr);
    if (rc == 0)
        rc = scenario_markets_read(root, arena, &scenario->markets, reterr);
    if (rc == 0)
        rc = owned_doc_read(root, arena, &scenario->owned, reterr);
    if (rc == 0)
        rc = burst_doc_read(root, &scenario->run.burst, reterr);
    if (rc == 0)
        rc = short_doc_read(root, &scenario->run.short_pool, reterr);
    if (rc == 0)
        rc = read_seed(root, &scenario->run.seed, reterr);
    return rc;
}

int scenario_parse(const char *text, size_t length, struct arena *arena, struct scenario *ret,
                   struct error *reterr)
{
    struct scenario scenario = defaults;
    const struct doc_node *root = NULL;
    int rc = doc_parse(text, length, arena, &root, reterr);

    if (rc == 0)
        rc = read_root(root, arena, &scenario, reterr);
    if (rc == 0)
        *ret = scenario;
    return rc;
}
