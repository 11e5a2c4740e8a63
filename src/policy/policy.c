/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <assert.h>
#include <string.h>

#include "decide/reservation.h"

const struct policy *const policies[] = {
    &policy_task_per_instance,
    &policy_stratus,
    &policy_synergy,
    &policy_owl,
    &policy_eva,
    &policy_no_wait,
    &policy_semi_elastic,
    &policy_hotspot,
    &policy_fleet,
    &policy_supercloud,
    &policy_first_fit,
    &policy_stint,
};
const uint32_t policy_count = sizeof(policies) / sizeof(policies[0]);

const struct policy *policy_find(const char *name)
{
    for (uint32_t i = 0; i < policy_count; i++) {
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    }
    return NULL;
}

uint32_t policy_find_option(const struct policy *policy, const char *name)
{
    for (uint32_t i = 0; i < policy->option_count; i++) {
        if (strcmp(policy->options[i].name, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

void policy_defaults(const struct policy *policy, int64_t *values)
{
    assert(policy->option_count <= POLICY_OPTIONS_MAX);
    for (uint32_t i = 0; i < policy->option_count; i++)
        values[i] = policy->options[i].normal;
}

static void check_input(const struct policy_input *in, const struct plan *plan)
{
    assert(in->view->now >= 0);
    assert(in->view->shapes_priced == in->view->shapes->count);
    assert(plan->arena != NULL);
    assert(plan->rent_count == 0);
    assert(plan->place_count == 0);
    assert(plan->release_count == 0);
    assert(plan->suspend_count == 0);
    assert(plan->wait_count == 0);
    assert(plan->wake_at == MSEC_NEVER);
}

/* Whether it can be carried out is for the tests to say, by plan_judge. */
static void check_plan(const struct view *view, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->rent_count; i++)
        assert(plan->rents[i].offer < view->catalogue->offer_count);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        assert(place->task < view->task.count);
        assert(view->task.state[place->task] != TASK_FREE);
        if (place->fresh) {
            assert(place->target < plan->rent_count);
        } else {
            assert(place->target < view->instance.count);
            assert(view_is_open(view, place->target));
        }
    }
    for (uint32_t i = 0; i < plan->release_count; i++) {
        assert(plan->releases[i].instance < view->instance.count);
        assert(view_is_open(view, plan->releases[i].instance));
    }
    for (uint32_t i = 0; i < plan->suspend_count; i++) {
        assert(plan->suspends[i].task < view->task.count);
        assert(view->task.state[plan->suspends[i].task] == TASK_RUNNING);
        assert(!view->job.fixed[view->task.job[plan->suspends[i].task]]);
    }
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        assert(view->task.state[plan->waits[i].task] == TASK_WAITING);
        assert(!plan->waits[i].fresh || plan->waits[i].target < plan->rent_count);
    }
    assert(plan->wake_at > view->now);
}

static void place_alone(const struct view *view, bool only_mixed, struct plan *plan)
{
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t offer = view->shape_offer[view->task.shape[task]];

        if (!reservation_has_offer(view, task) ||
            (only_mixed && !view->job.mixed[view->task.job[task]]))
            continue;

        const struct plan_reason why =
            plan_because(REASON_CHEAPEST_ALONE, view->offer_price[offer]);

        plan_place_fresh(plan, task, plan_rent_with(plan, offer, view->task.job[task], why), why);
    }
}

void policy_place_alone(const struct view *view, struct plan *plan)
{
    place_alone(view, false, plan);
}

void policy_decide(const struct policy *policy, const struct policy_input *in, struct plan *ret)
{
    check_input(in, ret);
    policy->decide(in, ret);
    if (policy->is_for_alike)
        place_alone(in->view, true, ret);
    check_plan(in->view, ret);
}

void *policy_memory_create(const struct policy *policy)
{
    return policy->memory_create != NULL ? policy->memory_create() : NULL;
}

void policy_memory_destroy(const struct policy *policy, void *memory)
{
    if (memory != NULL)
        policy->memory_destroy(memory);
}

void policy_release_empty(const struct view *view, struct plan *plan)
{
    EMPTY_EACH(instance, view)
    {
        if (view_is_open(view, instance))
            plan_release(
                plan, instance,
                plan_because(REASON_EMPTY, view->offer_price[view->instance.offer[instance]]));
    }
}
