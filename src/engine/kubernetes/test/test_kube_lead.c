/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who leads: what a copy does about the lease that it sees.
 */
#include "engine/kubernetes/kube_lead.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

enum { LASTS = KUBE_LEAD_LASTS_MS };

static struct kube_lead copy(const char *name)
{
    struct kube_lead lead = { .held_ms = -1 };

    (void)snprintf(lead.identity, sizeof(lead.identity), "%s", name);
    return lead;
}

static enum kube_lead_move look(struct kube_lead *lead, const char *holder, const char *version,
                                msec_t now_ms)
{
    struct kube_lead_seen seen = { .lasts_ms = LASTS };

    (void)snprintf(seen.holder, sizeof(seen.holder), "%s", holder);
    (void)snprintf(seen.version, sizeof(seen.version), "%s", version);
    return kube_lead_judge(lead, &seen, now_ms);
}

TEST(a_lease_that_nobody_holds_is_taken_at_once)
{
    struct kube_lead lead = copy("a");

    assert_int_equal(look(&lead, "", "7", 1000), KUBE_LEAD_WRITE);
}

TEST(a_lease_that_is_renewed_is_left_and_one_that_is_not_is_taken_when_it_has_run_out)
{
    struct kube_lead lead = copy("a");

    assert_int_equal(look(&lead, "b", "7", 100), KUBE_LEAD_WAIT);
    assert_int_equal(look(&lead, "b", "8", LASTS), KUBE_LEAD_WAIT);
    assert_int_equal(look(&lead, "b", "8", 2 * LASTS - 1), KUBE_LEAD_WAIT);
    assert_int_equal(look(&lead, "b", "8", 2 * LASTS), KUBE_LEAD_WRITE);
}

TEST(who_holds_it_renews_it_and_knows_when_another_has_it)
{
    struct kube_lead lead = copy("a");

    assert_int_equal(look(&lead, "a", "7", 0), KUBE_LEAD_WRITE);
    lead.held_ms = 0;
    assert_int_equal(look(&lead, "a", "8", 2000), KUBE_LEAD_WRITE);
    assert_int_equal(look(&lead, "b", "9", 4000), KUBE_LEAD_LOST);
    assert_int_equal(look(&lead, "", "9", 4000), KUBE_LEAD_LOST);
}

/* When one gives up and when the next one begins, whatever the moment at which each of them looks. */
TEST(two_copies_never_lead_at_the_same_time)
{
    for (msec_t late = 0; late < 2000; late += 100) {
        struct kube_lead next = copy("b");
        const msec_t renewed = 5000;
        msec_t taken = -1;

        for (msec_t now = renewed + late; taken < 0; now += 2000) {
            if (look(&next, "a", "5", now) == KUBE_LEAD_WRITE)
                taken = now;
        }
        assert_true(taken >= renewed + KUBE_LEAD_GIVE_UP_MS + 5000);
        assert_true(taken < renewed + LASTS + 4000);
    }
}

TEST(a_lease_is_read_and_what_is_none_is_refused)
{
    static const char good[] =
        "{\"metadata\":{\"resourceVersion\":\"42\"},\"spec\":{\"holderIdentity\":\"b-1\","
        "\"leaseDurationSeconds\":20,\"leaseTransitions\":3}}";
    static const char bare[] =
        "{\"metadata\":{\"resourceVersion\":\"42\"},\"spec\":{\"leaseDurationSeconds\":-1}}";
    static const char *const bad[] = { "", "[]", "{\"metadata\":{}}",
                                       "{\"metadata\":{\"resourceVersion\":\"4\\\"2\"}}",
                                       "{\"metadata\":{\"resourceVersion\":42}}" };
    struct kube_lead_seen seen;

    assert_int_equal(kube_lead_read(good, strlen(good), &seen), 0);
    assert_string_equal(seen.holder, "b-1");
    assert_string_equal(seen.version, "42");
    assert_int_equal(seen.lasts_ms, 20000);
    assert_int_equal(seen.transitions, 3);
    assert_int_equal(kube_lead_read(bare, strlen(bare), &seen), 0);
    assert_string_equal(seen.holder, "");
    assert_int_equal(seen.lasts_ms, LASTS);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(kube_lead_read(bad[i], strlen(bad[i]), &seen) < 0);
}

CHECK_MAIN(RUN(a_lease_that_nobody_holds_is_taken_at_once),
           RUN(a_lease_that_is_renewed_is_left_and_one_that_is_not_is_taken_when_it_has_run_out),
           RUN(who_holds_it_renews_it_and_knows_when_another_has_it),
           RUN(two_copies_never_lead_at_the_same_time),
           RUN(a_lease_is_read_and_what_is_none_is_refused))
