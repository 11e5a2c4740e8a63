/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/reuse.h"

#include "base/test/check.h"

TEST(what_was_never_seen_is_as_likely_as_not)
{
    const struct reuse reuse = { 0 };

    assert_int_equal(reuse_chance(&reuse), REUSE_PPM / 2);
}

TEST(the_chance_comes_close_to_the_share_that_was_used)
{
    struct reuse reuse = { 0 };

    for (int i = 0; i < 100; i++)
        reuse_note(&reuse, 4, 1);

    assert_in_range(reuse_chance(&reuse), 249000, 252000);
}

TEST(what_is_new_outweighs_what_is_old)
{
    struct reuse reuse = { 0 };

    reuse_note(&reuse, 1000000, 1000000);
    assert_true(reuse_chance(&reuse) > 990000);
    for (int i = 0; i < 4; i++)
        reuse_note(&reuse, REUSE_SEEN_MOST, 0);

    assert_true(reuse_chance(&reuse) < 100000);
    assert_true(reuse.idle <= REUSE_SEEN_MOST && reuse.used <= reuse.idle);
}

CHECK_MAIN(RUN(what_was_never_seen_is_as_likely_as_not),
           RUN(the_chance_comes_close_to_the_share_that_was_used),
           RUN(what_is_new_outweighs_what_is_old))
