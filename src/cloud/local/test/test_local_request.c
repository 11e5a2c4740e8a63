/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <string.h>

#include "cloud/local/local_protocol.h"
#include "cloud/local/local_request.h"

static char buffer[4096];

static int take(const char *text, struct local_request *ret, struct error *reterr)
{
    struct line line;
    const size_t length = strlen(text);

    assert_true(length < sizeof(buffer));
    memcpy(buffer, text, length);
    assert_int_equal(line_parse(buffer, length, &line, reterr), 0);
    return local_request_read(&line, ret, reterr);
}

TEST(a_rent_has_offer_and_prefix_and_counts_one)
{
    struct local_request request;

    assert_int_equal(take("rent key=17 offer=a/b/spot prefix=st-", &request, NULL), 0);

    assert_int_equal(request.verb, LOCAL_RENT);
    assert_int_equal(request.key, 17);
    assert_int_equal(request.count, 1);
    assert_string_equal(request.offer, "a/b/spot");
    assert_string_equal(request.prefix, "st-");
}

TEST(a_capacity_without_a_count_is_none)
{
    struct local_request request;

    assert_int_equal(take("capacity key=1 offer=x", &request, NULL), 0);
    assert_true(request.count == LOCAL_NO_LIMIT);
    assert_int_equal(take("capacity key=1 offer=x count=0", &request, NULL), 0);
    assert_int_equal(request.count, 0);
}

TEST(a_revocation_may_name_a_machine_and_a_notice)
{
    struct local_request request;

    assert_int_equal(take("revoke key=1", &request, NULL), 0);
    assert_false(request.has_id);
    assert_int_equal(take("revoke key=1 id=5 notice_ms=200", &request, NULL), 0);
    assert_true(request.has_id);
    assert_int_equal(request.id, 5);
    assert_int_equal(request.notice_ms, 200);
}

TEST(only_the_faults_that_are_named_are_given)
{
    struct local_request request;

    assert_int_equal(take("fault key=1 refuse=200 delay_ms=50", &request, NULL), 0);
    assert_true(request.is_fault_given[LOCAL_FAULT_REFUSE]);
    assert_int_equal(request.fault[LOCAL_FAULT_REFUSE], 200);
    assert_true(request.is_fault_given[LOCAL_FAULT_DELAY_MS]);
    assert_false(request.is_fault_given[LOCAL_FAULT_CUT]);
    assert_false(request.is_fault_given[LOCAL_FAULT_QUOTA]);
}

TEST(what_makes_no_sense_is_refused_and_says_why)
{
    static const char *const BAD[] = {
        "sing",
        "hello",
        "hello protocol=1",
        "hello protocol=1 cluster=",
        "hello protocol=1 cluster=%0A",
        "hello protocol=x cluster=lab",
        "rent",
        "rent key=1 offer=a",
        "rent key=1 prefix=st-",
        "rent offer=a prefix=st-",
        "rent key=18446744073709551615 offer=a prefix=st-",
        "rent key=1 offer=a prefix=",
        "rent key=1 offer=a prefix=-a",
        "rent key=1 offer=a prefix=1a",
        "rent key=1 offer=a prefix=../a",
        "rent key=1 offer=a prefix=a.b",
        "rent key=1 offer=a prefix=a%20b",
        "rent key=1 offer=a prefix=a%0Ab",
        "rent key=1 offer=a prefix=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "rent key=1 offer=a prefix=a count=0",
        "rent key=1 offer=a prefix=a count=1001",
        "rent key=1 offer=a prefix=a id=4",
        "rent key=1 offer=a prefix=a refuse=4",
        "give-back",
        "give-back key=",
        "give-back key=1 offer=a",
        "list key=-1",
        "revoke key=1 notice_ms=3600001",
        "revoke key=1 id=x",
        "fault key=1 refuse=1001",
        "fault key=1 colour=1",
        "capacity key=1",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct local_request request = { .key = 77 };
        struct error error = { "" };

        if (take(BAD[i], &request, &error) == 0)
            fail_msg("taken: %s", BAD[i]);
        assert_true(error.text[0] != '\0');
        assert_int_equal(request.key, 77);
    }
}

CHECK_MAIN(RUN(a_rent_has_offer_and_prefix_and_counts_one), RUN(a_capacity_without_a_count_is_none),
           RUN(a_revocation_may_name_a_machine_and_a_notice),
           RUN(only_the_faults_that_are_named_are_given),
           RUN(what_makes_no_sense_is_refused_and_says_why))
