/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <assert.h>
#include <string.h>

const struct policy *const policies[] = {
    &policy_task_per_instance, &policy_stratus,      &policy_synergy, &policy_owl, &policy_eva,
    &policy_no_wait,           &policy_semi_elastic, &policy_stint,
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
