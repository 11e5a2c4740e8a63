/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario that can be read is one that can be run: every number is within its range. */
#include "fuzz.h"

#include "base/limits.h"
#include "sim/scenario.h"

enum { MILLION = 1000000 };

static void check_policies(const struct scenario *scenario)
{
    assert(scenario->policy_count > 0);
    for (uint32_t i = 0; i < scenario->policy_count; i++) {
        const struct scenario_policy *entry = &scenario->policies[i];

        assert(entry->policy != NULL && entry->label[0] != 0);
        for (uint32_t k = 0; k < entry->policy->option_count; k++)
            assert(entry->option[k] >= 0 && entry->option[k] <= LIMIT_TIME_MS);
        for (uint32_t k = 0; k < i; k++)
            assert(strcmp(scenario->policies[k].label, entry->label) != 0);
    }
}

static void check_drawn(const struct synthetic_spec *spec)
{
    assert(spec->task_count > 0 && spec->task_count <= LIMIT_TASKS);
    assert((spec->mean_gap_ms > 0) != (spec->horizon_ms > 0));
    assert(spec->work_min_ms > 0 && spec->work_min_ms <= spec->work_max_ms);
    assert(spec->gang_ppm <= MILLION && spec->gang_tasks_max >= 2);
    assert(spec->mix_count > 0);
    for (uint32_t i = 0; i < spec->mix_count; i++) {
        assert(spec->mix[i].weight > 0);
        assert(spec->mix[i].spec.name[0] != 0 && spec->mix[i].spec.workload[0] != 0);
        assert(spec->mix[i].spec.demand_count == 1);
    }
}

static void check_run(const struct sim_config *run)
{
    const struct sim_faults *faults = &run->faults;

    assert(run->tick_ms > 0);
    assert(run->round_ms == 0 || run->round_ms >= MSEC_PER_SEC);
    assert(run->settle_ms == 0 || run->round_ms == 0);
    assert(run->default_rate > 0 && run->default_rate <= 1);
    assert(run->noise_ppm <= 100 * MILLION);
    assert(faults->refuse_ppm < MILLION && faults->slow_ppm <= MILLION);
    assert(faults->notice_ppm <= MILLION && faults->duplicate_ppm <= MILLION);
    assert(faults->late_ppm <= MILLION && faults->slow_factor > 0);
    assert(faults->lose_mean_ms >= 0 && faults->notice_ms > 0 && faults->late_ms > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario scenario = { 0 };
    struct error error = { "" };
    struct arena arena;

    arena_init(&arena);
    if (scenario_parse((const char *)data, size, &arena, &scenario, &error) < 0) {
        fuzz_check_error(&error);
        assert(scenario.policies == NULL);
    } else {
        assert(scenario.catalogue_file != NULL);
        assert(scenario.pair_rate > 0 && scenario.pair_rate <= COLOCATION_RATE_MAX);
        assert((scenario.matrix_file != NULL) == (scenario.interference == INTERFERENCE_MATRIX));
        check_policies(&scenario);
        check_run(&scenario.run);
        if (scenario.trace_file == NULL)
            check_drawn(&scenario.drawn.spec);
    }
    arena_done(&arena);
    return 0;
}
