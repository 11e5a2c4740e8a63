/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_policy.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

enum { KEY_SIZE = 4096, WORDS_MAX = 1 << 18 };

void slurm_policy_init(struct slurm_policy *policy)
{
    *policy = (struct slurm_policy){ .profile_count = 1 };
    names_init(&policy->words);
    names_init(&policy->keys);
    names_init(&policy->quota_names);
    MEM_ROOM(policy->profiles, policy->profiles_room, 1);
    policy->profiles[0] = (struct slurm_profile){ .bar = NAME_NONE, .bar_text = NAME_NONE };
}

void slurm_policy_done(struct slurm_policy *policy)
{
    names_done(&policy->words);
    names_done(&policy->keys);
    names_done(&policy->quota_names);
    mem_free(policy->profiles);
    mem_free(policy->draws);
    mem_free(policy->quotas);
}

uint32_t slurm_policy_word(struct slurm_policy *policy, const char *text)
{
    if (text == NULL)
        return NAME_NONE;
    const size_t length = strnlen(text, LIMIT_NAME);

    if (policy->words.count >= WORDS_MAX && names_find(&policy->words, text, length) == NAME_NONE)
        return names_add(&policy->words, "...", 3);
    return names_add(&policy->words, text, length);
}

/* The row of a quota, which need not have been reported yet; SLURM_QUOTA_NONE: there are too many. */
static uint32_t quota_row(struct slurm_policy *policy, const char *name, size_t length)
{
    uint32_t row = names_find(&policy->quota_names, name, length);

    if (row != NAME_NONE)
        return row;
    if (policy->quota_names.count >= SLURM_QUOTAS_MAX)
        return SLURM_QUOTA_NONE;
    row = names_add(&policy->quota_names, name, length);
    MEM_ROOM(policy->quotas, policy->quotas_room, row + 1);
    policy->quotas[row] = (struct slurm_policy_quota){ .reason = NAME_NONE, .text = NAME_NONE };
    return row;
}

/* The components of a job may draw on the same quota. */
static bool add_to_draw(struct slurm_policy *policy, const struct slurm_profile *profile,
                        uint32_t quota, uint64_t amount)
{
    for (uint32_t i = profile->first; i < profile->first + profile->count; i++) {
        struct slurm_draw *draw = &policy->draws[i];

        if (draw->quota != quota)
            continue;
        draw->amount = amount < INT64_MAX - draw->amount ? draw->amount + amount : INT64_MAX;
        return true;
    }
    return false;
}

/* "lic:matlab=1;assoc:12:GrpJobs=1": what cannot be read is passed over. */
static void read_draws(struct slurm_policy *policy, const char *text, struct slurm_profile *to)
{
    to->first = policy->draw_count;
    while (text != NULL && *text != '\0' && to->count < SLURM_DRAWS_MAX) {
        const size_t length = strcspn(text, ";");
        size_t named = length;

        while (named > 0 && text[named - 1] != '=')
            named--;
        if (named > 1 && named < length) {
            const uint64_t amount = strtoull(text + named, NULL, 10);
            const uint32_t quota =
                amount == 0 ? SLURM_QUOTA_NONE : quota_row(policy, text, named - 1);

            if (quota != SLURM_QUOTA_NONE && !add_to_draw(policy, to, quota, amount)) {
                MEM_ROOM(policy->draws, policy->draws_room, policy->draw_count + 1);
                policy->draws[policy->draw_count++] =
                    (struct slurm_draw){ .amount = amount < INT64_MAX ? amount : INT64_MAX,
                                         .quota = quota };
                to->count++;
            }
        }
        text += length + (text[length] == ';');
    }
}

uint32_t slurm_policy_profile(struct slurm_policy *policy, const char *bar, const char *bar_text,
                              const char *draws)
{
    char key[KEY_SIZE];

    if (bar == NULL && draws == NULL)
        return 0;
    int size = snprintf(key, sizeof(key), "%s\n%s\n%s", bar == NULL ? "" : bar,
                        bar_text == NULL ? "" : bar_text, draws == NULL ? "" : draws);

    if (size >= (int)sizeof(key))
        size = (int)sizeof(key) - 1;
    const uint32_t known = names_find(&policy->keys, key, (size_t)size);

    if (known != NAME_NONE)
        return known + 1;
    if (policy->profile_count >= SLURM_PROFILES_MAX)
        return 0;
    const uint32_t row = names_add(&policy->keys, key, (size_t)size) + 1;

    assert(row == policy->profile_count);
    struct slurm_profile profile = { .bar = slurm_policy_word(policy, bar),
                                     .bar_text = slurm_policy_word(policy, bar_text) };

    read_draws(policy, draws, &profile);
    MEM_ROOM(policy->profiles, policy->profiles_room, row + 1);
    policy->profiles[row] = profile;
    policy->profile_count++;
    return row;
}

bool slurm_policy_set(struct slurm_policy *policy, const char *name, uint64_t max, uint64_t used,
                      const char *reason, const char *text)
{
    const uint32_t row = quota_row(policy, name, strnlen(name, LIMIT_NAME));

    if (row == SLURM_QUOTA_NONE)
        return false;
    const struct slurm_policy_quota before = policy->quotas[row];
    const struct slurm_policy_quota after = {
        .max = max,
        .used = used,
        .taken = before.taken,
        .reason = slurm_policy_word(policy, reason),
        .text = slurm_policy_word(policy, text),
        .is_known = true,
    };

    policy->quotas[row] = after;
    return !before.is_known || before.max != max || before.used != used ||
           before.reason != after.reason || before.text != after.text;
}

bool slurm_policy_is_barred(const struct slurm_policy *policy, uint32_t profile)
{
    return policy->profiles[profile].bar != NAME_NONE;
}

bool slurm_policy_has_draws(const struct slurm_policy *policy, uint32_t profile)
{
    return policy->profiles[profile].count > 0;
}

void slurm_policy_clear(struct slurm_policy *policy)
{
    for (uint32_t i = 0; i < policy->quota_names.count; i++)
        policy->quotas[i].taken = 0;
}

static bool is_enough(const struct slurm_policy_quota *quota, uint64_t amount)
{
    if (!quota->is_known)
        return true;
    if (quota->used > quota->max || quota->taken > quota->max - quota->used)
        return false;
    return amount <= quota->max - quota->used - quota->taken;
}

uint32_t slurm_policy_lacking(const struct slurm_policy *policy, uint32_t profile)
{
    const struct slurm_profile *of = &policy->profiles[profile];

    for (uint32_t i = 0; i < of->count; i++) {
        const struct slurm_draw *draw = &policy->draws[of->first + i];

        if (!is_enough(&policy->quotas[draw->quota], draw->amount))
            return draw->quota;
    }
    return SLURM_QUOTA_NONE;
}

void slurm_policy_take(struct slurm_policy *policy, uint32_t profile)
{
    const struct slurm_profile *of = &policy->profiles[profile];

    for (uint32_t i = 0; i < of->count; i++) {
        const struct slurm_draw *draw = &policy->draws[of->first + i];
        uint64_t *taken = &policy->quotas[draw->quota].taken;

        *taken = draw->amount > UINT64_MAX - *taken ? UINT64_MAX : *taken + draw->amount;
    }
}

void slurm_policy_give(struct slurm_policy *policy, uint32_t profile)
{
    const struct slurm_profile *of = &policy->profiles[profile];

    for (uint32_t i = 0; i < of->count; i++) {
        const struct slurm_draw *draw = &policy->draws[of->first + i];
        uint64_t *taken = &policy->quotas[draw->quota].taken;

        *taken = draw->amount > *taken ? 0 : *taken - draw->amount;
    }
}

/* Reasons of Slurm 22.05 that waiting for room, for priority or for a node will not change. */
bool slurm_policy_is_refusal(const char *reason)
{
    static const char *const families[] = { "Assoc",     "QOS",         "Max",
                                            "Partition", "BurstBuffer", "Power" };
    static const char *const reasons[] = {
        "Licenses",          "Reservation",   "ReservationDeleted", "AccountNotAllowed",
        "InvalidAccount",    "InvalidQOS",    "AccountingPolicy",   "BadConstraints",
        "FrontEndDown",      "FedJobLock",    "DeadLine",           "DependencyNeverSatisfied",
        "JobHoldMaxRequeue", "SystemFailure",
    };

    for (size_t i = 0; reason != NULL && i < sizeof(families) / sizeof(families[0]); i++) {
        if (strncmp(reason, families[i], strlen(families[i])) == 0)
            return true;
    }
    for (size_t i = 0; reason != NULL && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (strcmp(reason, reasons[i]) == 0)
            return true;
    }
    return false;
}
