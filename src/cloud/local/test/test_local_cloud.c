/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <string.h>

#include "base/line.h"
#include "cloud/local/local_cloud.h"
#include "cloud/local/test/local_yard.h"

enum { NOW = 5000, HEARD_MAX = 32 };

/* A client, what it sent since last asked, and what it told. */
struct bench {
    struct catalogue catalogue;
    struct local_cloud *cloud;
    struct cloud_port port;
    char sent[4096];
    size_t sent_size;
    struct cloud_event heard[HEARD_MAX];
    uint32_t heard_count;
};

static struct bench bench;

static void on_event(void *context, const struct cloud_event *event)
{
    struct bench *here = context;

    assert_true(here->heard_count < HEARD_MAX);
    here->heard[here->heard_count++] = *event;
}

static void on_send(void *context, const char *lines, size_t size)
{
    struct bench *here = context;

    assert_true(size > 0);
    assert_true(here->sent_size + size < sizeof(here->sent));
    memcpy(here->sent + here->sent_size, lines, size);
    here->sent_size += size;
    here->sent[here->sent_size] = '\0';
}

static void hear(const char *text)
{
    char line[512];
    const size_t length = strlen(text);

    assert_true(length < sizeof(line));
    memcpy(line, text, length);
    local_cloud_line(bench.cloud, NOW, line, length);
}

/* What was sent since the last call. */
static const char *sent(void)
{
    static char text[sizeof(bench.sent)];

    memcpy(text, bench.sent, bench.sent_size);
    text[bench.sent_size] = '\0';
    bench.sent_size = 0;
    return text;
}

static void flush(void)
{
    local_cloud_flush(bench.cloud, NOW);
}

static void connect(void)
{
    local_cloud_connected(bench.cloud, NOW);
    hear("hello protocol=1 stint=0.2.0");
}

static int set_up(void **state)
{
    (void)state;
    memset(&bench, 0, sizeof(bench));
    yard_make(&bench.catalogue);
    bench.cloud = local_cloud_create(&(struct local_cloud_config){
        .catalogue = &bench.catalogue,
        .cluster = "lab one",
        .node_prefix = "st-",
        .on_event = on_event,
        .on_send = on_send,
        .context = &bench,
    });
    bench.port = local_cloud_port(bench.cloud);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    local_cloud_destroy(bench.cloud);
    catalogue_done(&bench.catalogue);
    return 0;
}

static void rent(uint64_t first, uint32_t count, uint32_t offer)
{
    bench.port.ops->rent(bench.port.self, first, count, offer);
}

static void give_back(uint64_t instance)
{
    bench.port.ops->give_back(bench.port.self, instance);
}

static void list(uint64_t key)
{
    bench.port.ops->list(bench.port.self, key);
}

static void connected_and_quiet(void)
{
    connect();
    (void)sent();
}

TEST(it_says_hello_and_nothing_else_before_it_is_answered)
{
    rent(1, 1, YARD_SMALL);
    local_cloud_connected(bench.cloud, NOW);
    flush();

    assert_string_equal(sent(), "hello protocol=1 cluster=lab%20one\n");
    assert_false(local_cloud_is_ready(bench.cloud));
}

TEST(what_was_asked_before_goes_out_with_the_hello_of_the_other_side)
{
    rent(1, 1, YARD_SMALL);
    connect();

    assert_string_equal(sent(), "hello protocol=1 cluster=lab%20one\n"
                                "rent key=1 count=1 offer=" YARD_SMALL_NAME " prefix=st-\n");
    assert_true(local_cloud_is_ready(bench.cloud));
}

TEST(another_protocol_is_not_spoken)
{
    rent(1, 1, YARD_SMALL);
    local_cloud_connected(bench.cloud, NOW);
    (void)sent();
    hear("hello protocol=2");
    flush();

    assert_string_equal(sent(), "");
    assert_int_equal(local_cloud_bad_lines(bench.cloud), 1);
    assert_string_equal(local_cloud_complaint(bench.cloud), "no common protocol");
}

TEST(an_act_is_sent_by_flush_and_once)
{
    connected_and_quiet();
    rent(7, 1, YARD_SPOT);
    assert_string_equal(sent(), "");
    flush();
    flush();

    assert_string_equal(sent(), "rent key=7 count=1 offer=" YARD_SPOT_NAME " prefix=st-\n");
}

TEST(what_is_rented_together_is_one_request_and_what_is_not_is_not)
{
    connected_and_quiet();
    rent(7, 3, YARD_SMALL);
    rent(10, 1, YARD_SMALL);
    flush();

    assert_string_equal(sent(), "rent key=7 count=3 offer=" YARD_SMALL_NAME " prefix=st-\n"
                                "rent key=10 count=1 offer=" YARD_SMALL_NAME " prefix=st-\n");
}

TEST(acts_keep_their_order)
{
    connected_and_quiet();
    rent(7, 1, YARD_SMALL);
    give_back(7);
    list(8);
    flush();

    assert_string_equal(sent(), "rent key=7 count=1 offer=" YARD_SMALL_NAME " prefix=st-\n"
                                "give-back key=7\n"
                                "list key=8\n");
}

TEST(running_tells_since_when_it_is_billed)
{
    connected_and_quiet();
    rent(7, 1, YARD_SMALL);
    flush();
    hear("running id=7 billed_from=4000");

    assert_int_equal(bench.heard_count, 1);
    assert_int_equal(bench.heard[0].kind, CLOUD_RUNNING);
    assert_int_equal(bench.heard[0].at, NOW);
    assert_int_equal(bench.heard[0].instance, 7);
    assert_int_equal(bench.heard[0].billed_from, 4000);
    assert_int_equal(local_cloud_open_count(bench.cloud), 0);
}

TEST(a_refusal_settles_a_rent)
{
    connected_and_quiet();
    rent(7, 2, YARD_SMALL);
    flush();
    hear("refused id=8 reason=capacity");

    assert_int_equal(bench.heard[0].kind, CLOUD_REFUSED);
    assert_int_equal(bench.heard[0].instance, 8);
    assert_int_equal(local_cloud_open_count(bench.cloud), 1);
}

TEST(gone_settles_rent_and_return_and_has_the_bill)
{
    connected_and_quiet();
    rent(7, 1, YARD_SPOT);
    give_back(7);
    flush();
    hear("gone id=7 offer=" YARD_SPOT_NAME " billed_from=10 billed_to=20 why=returned");

    assert_int_equal(bench.heard[0].kind, CLOUD_GONE);
    assert_int_equal(bench.heard[0].billed_from, 10);
    assert_int_equal(bench.heard[0].billed_to, 20);
    assert_int_equal(bench.heard[0].offer, YARD_SPOT);
    assert_int_equal(local_cloud_open_count(bench.cloud), 0);
}

TEST(one_that_never_ran_was_never_billed)
{
    connected_and_quiet();
    hear("gone id=7 why=returned");

    assert_int_equal(bench.heard[0].kind, CLOUD_GONE);
    assert_true(bench.heard[0].billed_from < 0);
    assert_int_equal(bench.heard[0].offer, OFFER_NONE);
}

TEST(a_notice_is_passed_on)
{
    connected_and_quiet();
    hear("notice id=7 until=9000");

    assert_int_equal(bench.heard[0].kind, CLOUD_NOTICE);
    assert_int_equal(bench.heard[0].instance, 7);
}

TEST(answers_that_come_twice_are_passed_on_and_settle_once)
{
    connected_and_quiet();
    rent(7, 1, YARD_SMALL);
    flush();
    hear("running id=7 billed_from=4000");
    hear("running id=7 billed_from=4000");

    assert_int_equal(bench.heard_count, 2);
    assert_int_equal(local_cloud_open_count(bench.cloud), 0);
    assert_int_equal(local_cloud_bad_lines(bench.cloud), 0);
}

TEST(a_list_finds_offers_by_name_and_ends)
{
    connected_and_quiet();
    list(9);
    flush();
    hear("found key=9 id=1 name=st-1 offer=" YARD_LARGE_NAME " state=running billed_from=3");
    hear("found key=9 id=2 name=st-2 offer=elsewhere//spot state=asked");
    hear("gone id=3 offer=" YARD_SMALL_NAME " billed_from=1 billed_to=2 why=died");
    hear("listed key=9 count=2");
    hear("listed key=9 count=2");

    assert_int_equal(bench.heard_count, 4);
    assert_int_equal(bench.heard[0].kind, CLOUD_FOUND);
    assert_int_equal(bench.heard[0].offer, YARD_LARGE);
    assert_int_equal(bench.heard[0].billed_from, 3);
    assert_int_equal(bench.heard[1].offer, OFFER_NONE);
    assert_true(bench.heard[1].billed_from < 0);
    assert_int_equal(bench.heard[2].kind, CLOUD_GONE);
    assert_int_equal(bench.heard[2].offer, YARD_SMALL);
    assert_int_equal(bench.heard[3].kind, CLOUD_LISTED);
    assert_int_equal(bench.heard[3].key, 9);
}

TEST(what_does_not_have_our_name_is_not_ours)
{
    connected_and_quiet();
    list(9);
    flush();
    hear("found key=9 id=1 name=other-1 offer=" YARD_LARGE_NAME " state=running billed_from=3");
    hear("found key=9 id=2 name=st-1 offer=" YARD_LARGE_NAME " state=running billed_from=3");
    hear("listed key=9 count=2");

    assert_int_equal(local_cloud_bad_lines(bench.cloud), 2);
    assert_int_equal(bench.heard_count, 1);
    assert_int_equal(bench.heard[0].kind, CLOUD_LISTED);
}

TEST(after_a_new_connection_only_what_is_open_is_asked_again)
{
    connected_and_quiet();
    rent(7, 4, YARD_SMALL);
    give_back(3);
    give_back(4);
    list(20);
    flush();
    hear("running id=8 billed_from=4000");
    hear("gone id=3 billed_from=1 billed_to=2");
    local_cloud_disconnected(bench.cloud, NOW);
    (void)sent();
    flush();
    assert_string_equal(sent(), "");
    connect();

    assert_string_equal(sent(), "hello protocol=1 cluster=lab%20one\n"
                                "rent key=7 count=1 offer=" YARD_SMALL_NAME " prefix=st-\n"
                                "rent key=9 count=2 offer=" YARD_SMALL_NAME " prefix=st-\n"
                                "give-back key=4\n"
                                "list key=20\n"
                                "list key=0\n");
}

TEST(a_lost_connection_tells_nothing)
{
    connected_and_quiet();
    rent(7, 1, YARD_SMALL);
    flush();
    local_cloud_disconnected(bench.cloud, NOW);

    assert_int_equal(bench.heard_count, 0);
    assert_int_equal(local_cloud_open_count(bench.cloud), 1);
}

TEST(the_same_act_twice_is_sent_once)
{
    connected_and_quiet();
    give_back(7);
    give_back(7);
    flush();
    give_back(7);
    flush();

    assert_string_equal(sent(), "give-back key=7\n");
}

TEST(a_return_of_what_is_gone_may_be_asked_for_anew)
{
    connected_and_quiet();
    give_back(7);
    flush();
    hear("gone id=7");
    (void)sent();
    give_back(7);
    flush();

    assert_string_equal(sent(), "give-back key=7\n");
}

TEST(many_acts_and_answers_leave_nothing_behind)
{
    connected_and_quiet();
    for (uint64_t id = 1; id <= 1000; id++) {
        char line[64];

        rent(id, 1, YARD_SMALL);
        flush();
        (void)sent();
        (void)snprintf(line, sizeof(line), "refused id=%u reason=quota", (unsigned)id);
        if (id % 100 != 0)
            hear(line);
        bench.heard_count = 0;
    }
    local_cloud_disconnected(bench.cloud, NOW);
    connect();
    const char *text = sent();
    uint32_t lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    assert_int_equal(local_cloud_open_count(bench.cloud), 11);
    assert_int_equal(lines, 12);
}

TEST(what_was_missed_without_a_connection_is_told_after_the_next)
{
    connected_and_quiet();
    rent(7, 1, YARD_SMALL);
    flush();
    local_cloud_disconnected(bench.cloud, NOW);
    connect();
    hear("found key=0 id=3 offer=" YARD_SMALL_NAME " state=leaving billed_from=2");
    hear("found key=0 id=4 offer=" YARD_SMALL_NAME " state=asked");
    hear("gone id=5 billed_from=1 billed_to=9 why=revoked");
    hear("found key=0 id=7 offer=" YARD_SMALL_NAME " state=noticed billed_from=8");
    hear("listed key=0 count=3");

    assert_int_equal(bench.heard_count, 3);
    assert_int_equal(bench.heard[0].kind, CLOUD_GONE);
    assert_int_equal(bench.heard[0].instance, 5);
    assert_int_equal(bench.heard[1].kind, CLOUD_RUNNING);
    assert_int_equal(bench.heard[1].instance, 7);
    assert_int_equal(bench.heard[1].billed_from, 8);
    assert_int_equal(bench.heard[2].kind, CLOUD_NOTICE);
    assert_int_equal(local_cloud_open_count(bench.cloud), 0);
    assert_int_equal(local_cloud_bad_lines(bench.cloud), 0);
}

TEST(hostile_lines_have_no_effect)
{
    static const char *const BAD[] = {
        "",
        " ",
        "running",
        "running id=7",
        "running id=-1 billed_from=1",
        "running id=99999999999999999999 billed_from=1",
        "running id=7 billed_from=99999999999999999",
        "running id=7 billed_from=x",
        "gone",
        "gone id=7 billed_from=5",
        "gone id=7 billed_from=5 billed_to=4",
        "gone id=7 billed_from=5 billed_to=x",
        "refused reason=capacity",
        "notice id=",
        "found id=7 offer=" YARD_SMALL_NAME,
        "found key=3 id=7 offer=" YARD_SMALL_NAME,
        "found key=0 id=7 state=running billed_from=4",
        "listed",
        "listed key=x",
        "sing id=7",
        "running id=7 id=7 billed_from=1",
        "error text=no",
        "done key=4",
        "\x01",
    };

    connected_and_quiet();
    rent(7, 1, YARD_SMALL);
    flush();
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        hear(BAD[i]);
        assert_int_equal(local_cloud_bad_lines(bench.cloud), i + 1);
        assert_true(local_cloud_complaint(bench.cloud)[0] != '\0');
    }
    local_cloud_line(bench.cloud, NOW, NULL, SIZE_MAX);

    assert_int_equal(bench.heard_count, 0);
    assert_int_equal(local_cloud_open_count(bench.cloud), 1);
}

TEST(news_before_the_hello_are_not_believed)
{
    local_cloud_connected(bench.cloud, NOW);
    hear("running id=7 billed_from=1");

    assert_int_equal(bench.heard_count, 0);
    assert_int_equal(local_cloud_bad_lines(bench.cloud), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

CHECK_MAIN(CASE(it_says_hello_and_nothing_else_before_it_is_answered),
           CASE(what_was_asked_before_goes_out_with_the_hello_of_the_other_side),
           CASE(another_protocol_is_not_spoken), CASE(an_act_is_sent_by_flush_and_once),
           CASE(what_is_rented_together_is_one_request_and_what_is_not_is_not),
           CASE(acts_keep_their_order), CASE(running_tells_since_when_it_is_billed),
           CASE(a_refusal_settles_a_rent), CASE(gone_settles_rent_and_return_and_has_the_bill),
           CASE(one_that_never_ran_was_never_billed), CASE(a_notice_is_passed_on),
           CASE(answers_that_come_twice_are_passed_on_and_settle_once),
           CASE(a_list_finds_offers_by_name_and_ends),
           CASE(what_does_not_have_our_name_is_not_ours),
           CASE(after_a_new_connection_only_what_is_open_is_asked_again),
           CASE(a_lost_connection_tells_nothing), CASE(the_same_act_twice_is_sent_once),
           CASE(a_return_of_what_is_gone_may_be_asked_for_anew),
           CASE(many_acts_and_answers_leave_nothing_behind),
           CASE(what_was_missed_without_a_connection_is_told_after_the_next),
           CASE(hostile_lines_have_no_effect), CASE(news_before_the_hello_are_not_believed))
