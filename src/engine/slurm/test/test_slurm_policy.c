/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_policy.h"

TEST(jobs_that_are_told_alike_share_a_profile)
{
    struct slurm_policy policy;

    slurm_policy_init(&policy);
    assert_int_equal(slurm_policy_profile(&policy, NULL, NULL, NULL), 0);
    const uint32_t one = slurm_policy_profile(&policy, "PartitionDown", "it is down", NULL);
    const uint32_t two = slurm_policy_profile(&policy, NULL, NULL, "lic:a=1");

    assert_int_not_equal(one, two);
    assert_int_equal(slurm_policy_profile(&policy, "PartitionDown", "it is down", NULL), one);
    assert_true(slurm_policy_is_barred(&policy, one));
    assert_false(slurm_policy_is_barred(&policy, two));
    assert_false(slurm_policy_has_draws(&policy, one));
    assert_true(slurm_policy_has_draws(&policy, two));
    assert_false(slurm_policy_is_barred(&policy, 0));
    slurm_policy_done(&policy);
}

TEST(a_quota_has_what_its_size_leaves_besides_what_runs_and_what_was_taken)
{
    struct slurm_policy policy;

    slurm_policy_init(&policy);
    const uint32_t two = slurm_policy_profile(&policy, NULL, NULL, "assoc:1:GrpTRES:cpu=2;lic:a=1");

    assert_int_equal(slurm_policy_lacking(&policy, two), SLURM_QUOTA_NONE); /* nobody has told */
    assert_true(slurm_policy_set(&policy, "assoc:1:GrpTRES:cpu", 5, 1, "AssocGrpCpuLimit", "few"));
    assert_false(slurm_policy_set(&policy, "assoc:1:GrpTRES:cpu", 5, 1, "AssocGrpCpuLimit", "few"));
    slurm_policy_take(&policy, two);
    assert_int_equal(slurm_policy_lacking(&policy, two), SLURM_QUOTA_NONE);
    slurm_policy_take(&policy, two);
    const uint32_t lacks = slurm_policy_lacking(&policy, two);

    assert_int_not_equal(lacks, SLURM_QUOTA_NONE);
    assert_string_equal(names_text(&policy.words, policy.quotas[lacks].reason), "AssocGrpCpuLimit");
    slurm_policy_give(&policy, two);
    assert_int_equal(slurm_policy_lacking(&policy, two), SLURM_QUOTA_NONE);
    assert_true(slurm_policy_set(&policy, "assoc:1:GrpTRES:cpu", 2, 6, "AssocGrpCpuLimit", "few"));
    assert_int_equal(slurm_policy_lacking(&policy, two), lacks);
    slurm_policy_clear(&policy);
    assert_true(slurm_policy_set(&policy, "assoc:1:GrpTRES:cpu", 8, 6, "AssocGrpCpuLimit", "few"));
    assert_int_equal(slurm_policy_lacking(&policy, two), SLURM_QUOTA_NONE);
    slurm_policy_done(&policy);
}

TEST(draws_that_cannot_be_read_are_none)
{
    static const char *const bad[] = { "", ";", "=", "=1", "a=", "a", "a=x", "a=0", ";;=;a" };
    struct slurm_policy policy;

    slurm_policy_init(&policy);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(
            slurm_policy_has_draws(&policy, slurm_policy_profile(&policy, NULL, NULL, bad[i])));
    const uint32_t huge =
        slurm_policy_profile(&policy, NULL, NULL, "a=99999999999999999999999;b=c=3;");

    assert_int_equal(policy.profiles[huge].count, 2);
    (void)slurm_policy_set(&policy, "a", UINT64_MAX, 0, NULL, NULL);
    slurm_policy_take(&policy, huge);
    slurm_policy_take(&policy, huge);
    slurm_policy_take(&policy, huge);
    assert_int_not_equal(slurm_policy_lacking(&policy, huge), SLURM_QUOTA_NONE);
    slurm_policy_done(&policy);
}

TEST(reasons_that_waiting_does_not_change_are_refusals)
{
    static const char *const yes[] = {
        "AssocGrpCpuLimit",   "QOSMaxJobsPerUserLimit", "MaxCpuPerAccount",  "MaxJobsPerAccount",
        "MaxMemPerLimit",     "PartitionTimeLimit",     "PartitionDown",     "PartitionInactive",
        "PartitionConfig",    "PartitionNodeLimit",     "Licenses",          "Reservation",
        "ReservationDeleted", "AccountingPolicy",       "InvalidQOS",        "InvalidAccount",
        "BadConstraints",     "BurstBufferResources",   "AccountNotAllowed", "QOSNotAllowed"
    };
    static const char *const no[] = { "None",       "Resources",       "Priority", "BeginTime",
                                      "Dependency", "Prolog",          "Cleaning", "JobHeldUser",
                                      "NodeDown",   "ReqNodeNotAvail", "" };

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        assert_true(slurm_policy_is_refusal(yes[i]));
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        assert_false(slurm_policy_is_refusal(no[i]));
    assert_false(slurm_policy_is_refusal(NULL));
}

CHECK_MAIN(RUN(jobs_that_are_told_alike_share_a_profile),
           RUN(a_quota_has_what_its_size_leaves_besides_what_runs_and_what_was_taken),
           RUN(draws_that_cannot_be_read_are_none),
           RUN(reasons_that_waiting_does_not_change_are_refusals))
