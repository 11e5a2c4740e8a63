/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"
#include "engine/slurm/slurm_wait_words.h"

#define NOON ((msec_t)1794744000000) /* 2026-11-15 12:00:00 UTC */

static struct engine_wait words_of(enum slurm_wait_kind kind, msec_t until)
{
    const struct slurm_wait wait = { .kind = kind, .until = until, .reason = "it wants 512 CPUs" };
    struct engine_wait words;

    assert_true(slurm_wait_words(&wait, NOON, &words));
    assert_int_equal(words.until, until);
    return words;
}

TEST(what_nothing_keeps_has_no_words)
{
    const struct slurm_wait wait = { .kind = SLURM_WAIT_NONE, .until = MSEC_NEVER };
    struct engine_wait words;

    assert_false(slurm_wait_words(&wait, NOON, &words));
}

TEST(holds_say_whose_they_are)
{
    const struct engine_wait user = words_of(SLURM_WAIT_USER_HOLD, MSEC_NEVER);
    const struct engine_wait admin = words_of(SLURM_WAIT_ADMIN_HOLD, MSEC_NEVER);

    assert_string_equal(user.why, "held");
    assert_string_equal(user.text, "its user holds it");
    assert_string_equal(admin.why, "held");
    assert_string_equal(admin.text, "an administrator holds it");
}

TEST(a_dependency_and_the_limit_of_an_array_have_words_of_their_own)
{
    assert_string_equal(words_of(SLURM_WAIT_DEPENDENCY, MSEC_NEVER).why, "depends");
    assert_string_equal(words_of(SLURM_WAIT_ARRAY_LIMIT, MSEC_NEVER).why, "array-limit");
    assert_string_equal(words_of(SLURM_WAIT_ROOM, MSEC_NEVER).why, "crowded");
}

TEST(a_time_to_begin_is_told_with_its_day_unless_that_is_today)
{
    const struct engine_wait today = words_of(SLURM_WAIT_BEGIN, NOON + 3723000);
    const struct engine_wait tomorrow = words_of(SLURM_WAIT_BEGIN, NOON + 86400000);

    assert_string_equal(today.why, "begins");
    assert_string_equal(today.text, "its begin time is 13:02:03 UTC");
    assert_string_equal(tomorrow.text, "its begin time is 2026-11-16 12:00:00 UTC");
}

TEST(what_no_machine_holds_is_said_in_the_words_of_the_engine)
{
    const struct engine_wait words = words_of(SLURM_WAIT_UNHOLDABLE, MSEC_NEVER);

    assert_string_equal(words.why, "no-offer");
    assert_string_equal(words.text, "it wants 512 CPUs");
}

TEST(what_slurm_would_not_start_is_said_with_its_own_word)
{
    const struct slurm_wait wait = { .kind = SLURM_WAIT_POLICY,
                                     .until = MSEC_NEVER,
                                     .word = "PartitionDown",
                                     .reason = "partition a is down" };
    const struct slurm_wait refused = { .kind = SLURM_WAIT_REFUSED,
                                        .until = NOON + 3723000,
                                        .word = "QOSUsageThreshold" };
    struct engine_wait words;

    assert_true(slurm_wait_words(&wait, NOON, &words));
    assert_string_equal(words.why, "policy");
    assert_string_equal(words.text,
                        "Slurm would not start it: PartitionDown (partition a is down)");
    assert_true(slurm_wait_words(&refused, NOON, &words));
    assert_string_equal(words.why, "not-started");
    assert_non_null(strstr(words.text, "QOSUsageThreshold"));
    assert_non_null(strstr(words.text, "13:02:03 UTC"));
}

CHECK_MAIN(RUN(what_slurm_would_not_start_is_said_with_its_own_word),
           RUN(what_nothing_keeps_has_no_words), RUN(holds_say_whose_they_are),
           RUN(a_dependency_and_the_limit_of_an_array_have_words_of_their_own),
           RUN(a_time_to_begin_is_told_with_its_day_unless_that_is_today),
           RUN(what_no_machine_holds_is_said_in_the_words_of_the_engine))
