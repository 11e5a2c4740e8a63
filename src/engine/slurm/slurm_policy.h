/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_policy.h - what Slurm's policy lets run: bars and quotas.
 *
 * stint-slurm tells of each job that waits why Slurm would not start it at all (its bar), and of which
 * quotas it takes how much while it runs (its draws): a licence, the jobs of a user, the CPUs of an
 * account. Of each quota it tells the size and what runs of it. Jobs that are reported alike share one
 * profile, so that a job costs four bytes here.
 *
 * Who is admitted takes of its quotas; what is left is max - used - taken. 'used' comes with the look
 * that tells a job as running, so that nothing is counted for nobody in between.
 *
 * Promises:  pure; any text may be given. A quota that was never reported has no limit. Beyond
 *            SLURM_PROFILES_MAX profiles a job is taken as one without limits: Slurm's own answer to
 *            its placement is the second line.
 * Costs:     a profile is parsed once; the rest is O(draws), a handful.
 */
#ifndef STINT_ENGINE_SLURM_POLICY_H
#define STINT_ENGINE_SLURM_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/names.h"

enum { SLURM_PROFILES_MAX = 1 << 18, SLURM_QUOTAS_MAX = 1 << 16, SLURM_DRAWS_MAX = 256 };

#define SLURM_QUOTA_NONE UINT32_MAX

struct slurm_policy_quota {
    uint64_t max, used, taken;
    uint32_t reason, text; /* in 'words' */
    bool is_known;         /* it was reported */
};

struct slurm_draw {
    uint64_t amount;
    uint32_t quota;
};

struct slurm_profile {
    uint32_t bar, bar_text; /* in 'words', or NAME_NONE */
    uint32_t first, count;  /* in 'draws' */
};

struct slurm_policy {
    struct names words;
    struct names keys; /* of profiles: all three texts together */
    struct names quota_names;
    struct slurm_profile
        *profiles; /* by number in 'keys', plus one; the first is of those without */
    uint32_t profile_count, profiles_room;
    struct slurm_draw *draws;
    uint32_t draw_count, draws_room;
    struct slurm_policy_quota *quotas; /* by number in 'quota_names' */
    uint32_t quotas_room;
};

void slurm_policy_init(struct slurm_policy *policy);
void slurm_policy_done(struct slurm_policy *policy);

/* The profile of a job; each text may be NULL. 0: nothing keeps it. */
uint32_t slurm_policy_profile(struct slurm_policy *policy, const char *bar, const char *bar_text,
                              const char *draws);

/* The size and the use of a quota; whether anything about it is new. */
bool slurm_policy_set(struct slurm_policy *policy, const char *name, uint64_t max, uint64_t used,
                      const char *reason, const char *text);

/* A word of ours for a text of Slurm's, which is kept. */
uint32_t slurm_policy_word(struct slurm_policy *policy, const char *text);

/* Whether something but the number of those that run keeps it; the reason is Slurm's word. */
bool slurm_policy_is_barred(const struct slurm_policy *policy, uint32_t profile);
bool slurm_policy_has_draws(const struct slurm_policy *policy, uint32_t profile);

/* Nobody has taken anything. */
void slurm_policy_clear(struct slurm_policy *policy);

/* The first quota of which there is not enough left, or SLURM_QUOTA_NONE. */
uint32_t slurm_policy_lacking(const struct slurm_policy *policy, uint32_t profile);

void slurm_policy_take(struct slurm_policy *policy, uint32_t profile);
void slurm_policy_give(struct slurm_policy *policy, uint32_t profile);

/* Whether Slurm says of a job that was placed that it will not start it, by the word of its reason. */
bool slurm_policy_is_refusal(const char *reason);

#endif
