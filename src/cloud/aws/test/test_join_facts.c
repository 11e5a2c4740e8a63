/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <errno.h>
#include <string.h>

#include "cloud/aws/join_facts.h"

static int read_text(const char *text, struct join_facts *ret)
{
    struct error error = { "" };
    const int rc = join_facts_read(text, strlen(text), ret, &error);

    assert_true((rc < 0) == (error.text[0] != '\0'));
    return rc;
}

TEST(the_lines_that_stint_writes_are_read)
{
    struct join_facts facts;

    assert_int_equal(read_text("STINT_CLUSTER=lab\nSTINT_NODE=st-17\nSTINT_TYPE=c7i.large\n"
                               "STINT_ZONE=us-east-1a\nSTINT_MARKET=on-demand\n",
                               &facts),
                     0);
    assert_string_equal(facts.cluster, "lab");
    assert_string_equal(facts.node, "st-17");
    assert_string_equal(facts.type, "c7i.large");
    assert_string_equal(facts.zone, "us-east-1a");
    assert_string_equal(facts.market, "on-demand");
}

TEST(the_lines_may_stand_in_a_script)
{
    struct join_facts facts;

    assert_int_equal(read_text("#!/bin/sh\nSTINT_CLUSTER=lab\r\necho STINT_NODE=other\n"
                               "STINT_NODE=st-1\r\nSTINT_ZONE=\nSTINT_NODE=st-1",
                               &facts),
                     0);
    assert_string_equal(facts.cluster, "lab");
    assert_string_equal(facts.node, "st-1");
    assert_string_equal(facts.zone, "");
}

TEST(values_that_could_be_more_than_a_name_are_refused)
{
    static const char *const cases[] = {
        "STINT_NODE=-Nother",
        "STINT_NODE=a b",
        "STINT_NODE=$(reboot)",
        "STINT_NODE=a;b",
        "STINT_NODE=`a`",
        "STINT_NODE=\"a\"",
        "STINT_NODE=../a",
        "STINT_NODE=a/b",
        "STINT_NODE=a,b",
        "STINT_NODE=a[1-9]",
        "STINT_NODE=a=b",
        "STINT_NODE=a\tb",
        "STINT_NODE=\xc3\xa9",
        "STINT_NODE={type}",
        "STINT_NODE=.a",
        "STINT_CLUSTER=abcdefghijklmnopqrstuvwxyz1234567",
        "STINT_NODE=abcdefghijklmnopqrstuvwxyz1234567890abcdefghijklmnopqrstuvwxyz12",
        "STINT_NODE=st-1\nSTINT_NODE=st-2",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct join_facts facts = { .node = "as it was" };
        char text[256];

        (void)snprintf(text, sizeof(text), "STINT_CLUSTER=lab\n%s\n", cases[i]);
        if (strncmp(cases[i], "STINT_CLUSTER", 13) == 0)
            (void)snprintf(text, sizeof(text), "STINT_NODE=st-1\n%s\n", cases[i]);
        assert_int_equal(read_text(text, &facts), -EINVAL);
        assert_string_equal(facts.node, "as it was");
    }
    assert_int_equal(join_facts_read("STINT_CLUSTER=lab\nSTINT_NODE=a\0b\n", 33,
                                     &(struct join_facts){ 0 }, NULL),
                     -EINVAL);
}

TEST(without_a_node_there_is_nothing_to_join)
{
    struct join_facts facts;

    assert_int_equal(read_text("", &facts), -ENOENT);
    assert_int_equal(read_text("#cloud-config\n", &facts), -ENOENT);
    assert_int_equal(read_text("STINT_NODE=\n", &facts), -ENOENT);
    assert_int_equal(read_text("STINT_NODE=st-1\n", &facts), -EINVAL);
    assert_int_equal(read_text("STINT_CLUSTER=lab\n", &facts), -EINVAL);
    assert_int_equal(read_text("STINT_MARKET=spot\n", &facts), -EINVAL);
}

TEST(a_launch_index_is_a_number_and_nothing_else)
{
    static const char *const bad[] = { "",   "-1", "+1",     " 1",      "1 ",     "1\n",
                                       "0x", "1a", "100000", "9999999", "000001 " };
    uint32_t index = 7;
    struct error error = { "" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(join_index_read(bad[i], strlen(bad[i]), &index, &error), -EINVAL);
        assert_int_equal(index, 7);
        assert_true(error.text[0] != '\0');
    }
    assert_int_equal(join_index_read("1\0", 2, &index, NULL), -EINVAL);
    assert_int_equal(join_index_read("12345", 3, &index, NULL), 0);
    assert_int_equal(index, 123);
    assert_int_equal(join_index_read("99999", 5, &index, NULL), 0);
    assert_int_equal(index, 99999);
    assert_int_equal(join_index_read("0", 1, &index, NULL), 0);
    assert_int_equal(index, 0);
}

static int count_on(const char *node, uint32_t index, char ret[JOIN_VALUE_SIZE])
{
    struct error error = { "" };
    struct join_facts facts = { .cluster = "lab" };
    int rc;

    (void)snprintf(facts.node, sizeof(facts.node), "%s", node);
    rc = join_facts_count_on(&facts, index, &error);
    assert_true((rc < 0) == (error.text[0] != '\0'));
    assert_string_equal(facts.cluster, "lab");
    if (rc < 0)
        assert_string_equal(facts.node, node);
    memcpy(ret, facts.node, JOIN_VALUE_SIZE);
    return rc;
}

TEST(the_launch_index_counts_on_from_the_name_of_the_first)
{
    static const struct {
        const char *node;
        uint32_t index;
        const char *wanted;
    } cases[] = {
        { "c-17", 0, "c-17" },
        { "c-17", 3, "c-20" },
        { "c-99999", 1, "c-100000" },
        { "7", 5, "12" },
        { "c-0", 2, "c-2" },
        { "c-00", 2, "c-02" },
        { "n09", 1, "n010" }, /* a prefix "n0" and key 9 */
        { "head", 0, "head" },
        { "a1b2", 99999, "a1b100001" },
        { "c-18446744073709551614", 1, "c-18446744073709551615" },
        { "c-99999999999999999999", 0, "c-99999999999999999999" },
    };
    char name[JOIN_VALUE_SIZE];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(count_on(cases[i].node, cases[i].index, name), 0);
        assert_string_equal(name, cases[i].wanted);
    }
}

TEST(a_name_that_cannot_be_counted_on_from_is_refused)
{
    static const char longest[] = "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxy-9";
    char name[JOIN_VALUE_SIZE];

    assert_int_equal(strlen(longest), JOIN_VALUE_SIZE - 1);
    assert_int_equal(count_on(longest, 1, name), -E2BIG);
    assert_int_equal(count_on("head", 1, name), -EINVAL);
    assert_int_equal(count_on("st-1a", 1, name), -EINVAL);
    assert_int_equal(count_on("c-18446744073709551615", 1, name), -ERANGE);
    assert_int_equal(count_on("c-99999999999999999999", 1, name), -ERANGE);
}

static int take_tag(enum join_tag tag, const char *text, struct join_facts *facts)
{
    struct error error = { "" };
    const struct join_facts before = *facts;
    const int rc = join_facts_take_tag(tag, text, strlen(text), facts, &error);

    assert_true((rc < 0) == (error.text[0] != '\0'));
    if (rc < 0)
        assert_memory_equal(facts, &before, sizeof(before));
    return rc;
}

TEST(tags_tell_what_user_data_would)
{
    struct join_facts facts = { 0 };

    assert_int_equal(take_tag(JOIN_TAG_CLUSTER, "lab", &facts), 0);
    assert_int_equal(take_tag(JOIN_TAG_NODE, "st-17", &facts), 0);
    assert_int_equal(take_tag(JOIN_TAG_OFFER, "m7i.large//on-demand", &facts), 0);
    assert_string_equal(facts.zone, "");
    assert_int_equal(take_tag(JOIN_TAG_ZONE, "us-east-1b", &facts), 0);
    assert_string_equal(facts.cluster, "lab");
    assert_string_equal(facts.node, "st-17");
    assert_string_equal(facts.type, "m7i.large");
    assert_string_equal(facts.market, "on-demand");
    assert_string_equal(facts.zone, "us-east-1b");
    assert_int_equal(take_tag(JOIN_TAG_OFFER, "c5.large/us-east-1a/spot", &facts), 0);
    assert_string_equal(facts.type, "c5.large");
    assert_string_equal(facts.market, "spot");
    assert_string_equal(facts.zone, "us-east-1b");
}

TEST(tags_that_could_be_more_than_a_name_are_refused)
{
    static const char *const words[] = { "",         "-Nother", "a b", "$(reboot)", "a/b",
                                         "a\nb",     "{type}",  ".a",  "a=b",       "\xc3\xa9",
                                         "st-1\r\n", "`a`",     "a,b", "a[1-9]",    "\"a\"" };
    static const char *const offers[] = {
        "",         "c5.large",  "c5.large/spot", "//",        "/z/spot",   "c5.large/z/",
        "a/b/c/d",  "a/-b/c",    "-a//spot",      "a//-spot",  "a b//spot", "a/b c/spot",
        "a//spot ", "a//spot\n", "a//$(x)",       "a/{conf}/b"
    };
    struct join_facts facts = { .node = "as it was" };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        assert_int_equal(take_tag(JOIN_TAG_CLUSTER, words[i], &facts), -EINVAL);
        assert_int_equal(take_tag(JOIN_TAG_NODE, words[i], &facts), -EINVAL);
        assert_int_equal(take_tag(JOIN_TAG_ZONE, words[i], &facts), -EINVAL);
    }
    for (size_t i = 0; i < sizeof(offers) / sizeof(*offers); i++)
        assert_int_equal(take_tag(JOIN_TAG_OFFER, offers[i], &facts), -EINVAL);
    assert_int_equal(take_tag(JOIN_TAG_CLUSTER, "abcdefghijklmnopqrstuvwxyz1234567", &facts),
                     -EINVAL);
    assert_int_equal(join_facts_take_tag(JOIN_TAG_NODE, "a\0b", 3, &facts, NULL), -EINVAL);
    assert_int_equal(join_facts_take_tag(JOIN_TAG_OFFER, "a//b\0", 5, &facts, NULL), -EINVAL);
}

static int read_notice(enum join_notice_kind kind, const char *text, struct join_notice *ret)
{
    struct error error = { "" };
    const int rc = join_notice_read(kind, text, strlen(text), ret, &error);

    assert_true((rc < 0) == (error.text[0] != '\0'));
    return rc;
}

TEST(notices_are_read_and_told_apart)
{
    struct join_notice a;
    struct join_notice b;
    char reason[128];

    assert_int_equal(read_notice(JOIN_INTERRUPTION,
                                 "{\"action\": \"terminate\", \"time\": \"2024-05-01T12:34:56Z\"}",
                                 &a),
                     0);
    join_notice_reason(&a, reason);
    assert_string_equal(reason, "aws-terminate-2024-05-01T12:34:56Z");
    b = a;
    assert_true(join_notice_is_same(&a, &b));
    assert_int_equal(read_notice(JOIN_REBALANCE, "{\"noticeTime\": \"2024-05-01T12:34:56Z\"}", &b),
                     0);
    assert_false(join_notice_is_same(&a, &b));
    join_notice_reason(&b, reason);
    assert_string_equal(reason, "aws-rebalance-2024-05-01T12:34:56Z");
}

TEST(what_is_no_notice_is_refused)
{
    static const char *const cases[] = {
        "",
        "[]",
        "{}",
        "null",
        "{\"action\": \"terminate\"}",
        "{\"time\": \"2024-05-01T12:34:56Z\"}",
        "{\"action\": \"-reboot\", \"time\": \"2024-05-01T12:34:56Z\"}",
        "{\"action\": \"terminate\", \"time\": \"soon\"}",
        "{\"action\": \"terminate\", \"time\": 7}",
        "{\"action\": \"terminate\", \"time\": \"2024-05-01T12:34:56Z\"",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(read_notice(JOIN_INTERRUPTION, cases[i], &(struct join_notice){ 0 }),
                         -EINVAL);
}

TEST(slurmd_says_what_the_machine_has)
{
    const struct join_facts facts = { "lab", "st-1", "m7i.xlarge", "us-east-1a", "spot", "" };
    const struct join_machine machine = { .cpus = 4, .mem_mib = 15800 };
    char line[JOIN_CONF_SIZE];

    assert_int_equal(join_conf_line(&facts, &machine, "cloud,fast", 100, line, NULL), 0);
    assert_string_equal(line, "CPUs=4 RealMemory=15800 "
                              "Feature=cloud,fast,m7i.xlarge,m7i,spot,us-east-1a");
    assert_int_equal(join_conf_line(&(struct join_facts){ .node = "st-1" },
                                    &(struct join_machine){ 8, 1000, 2 }, "", 95, line, NULL),
                     0);
    assert_string_equal(line, "CPUs=8 RealMemory=950 Gres=gpu:2");
    assert_int_equal(join_conf_line(&facts, &(struct join_machine){ 4, 0, 0 }, "", 100, line, NULL),
                     -EINVAL);
    assert_int_equal(join_read_meminfo("MemTotal:       16179200 kB\nMemFree: 5 kB\n"), 15800);
    assert_int_equal(join_read_meminfo("MemFree: 5 kB\n"), 0);
    assert_int_equal(join_read_meminfo("MemTotal: much\n"), 0);
}

TEST(features_are_words_with_commas)
{
    assert_true(join_features_are_good(""));
    assert_true(join_features_are_good("cloud"));
    assert_true(join_features_are_good("cloud,a_b,c-1.2"));
    assert_false(join_features_are_good("cloud,"));
    assert_false(join_features_are_good(",cloud"));
    assert_false(join_features_are_good("a,,b"));
    assert_false(join_features_are_good("a b"));
    assert_false(join_features_are_good("a Gres=gpu:8"));
}

TEST(a_value_never_becomes_a_second_word)
{
    const struct join_filling fillings[] = { { "{node}", "st-1" }, { "{conf}", "CPUs=4 X=1" } };
    struct join_command command;
    struct error error = { "" };

    assert_int_equal(join_command_make("  slurmd -N {node}  --conf {conf} a={node}{node}b ",
                                       fillings, 2, &command, &error),
                     0);
    assert_string_equal(command.words[0], "slurmd");
    assert_string_equal(command.words[1], "-N");
    assert_string_equal(command.words[2], "st-1");
    assert_string_equal(command.words[3], "--conf");
    assert_string_equal(command.words[4], "CPUs=4 X=1");
    assert_string_equal(command.words[5], "a=st-1st-1b");
    assert_null(command.words[6]);
    assert_int_equal(join_command_make(" ", fillings, 2, &command, &error), -EINVAL);
    assert_int_equal(join_command_make("a {nobody}", fillings, 2, &command, &error), -EINVAL);
    assert_int_equal(join_command_make("a {node", fillings, 2, &command, &error), -EINVAL);
}

TEST(a_command_that_is_too_long_is_refused)
{
    struct join_command command;
    char text[JOIN_COMMAND_MAX + 2];

    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(join_command_make(text, NULL, 0, &command, NULL), -E2BIG);
    text[JOIN_COMMAND_MAX - 1] = '\0';
    assert_int_equal(join_command_make(text, NULL, 0, &command, NULL), 0);
    for (size_t i = 0; i + 1 < sizeof(text); i++)
        text[i] = i % 2 == 0 ? 'a' : ' ';
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(join_command_make(text, NULL, 0, &command, NULL), -E2BIG);
    text[(size_t)JOIN_WORDS_MAX * 2] = '\0';
    assert_int_equal(join_command_make(text, NULL, 0, &command, NULL), 0);
}

TEST(a_token_is_printable)
{
    char text[JOIN_TOKEN_SIZE];

    memset(text, 'x', sizeof(text));
    assert_true(join_token_is_good("AQAE-_=/+", 9));
    assert_true(join_token_is_good(text, sizeof(text) - 1));
    assert_false(join_token_is_good(text, sizeof(text)));
    assert_false(join_token_is_good("", 0));
    assert_false(join_token_is_good("a\r\nHost: b", 10));
    assert_false(join_token_is_good("a b", 3));
}

CHECK_MAIN(RUN(the_lines_that_stint_writes_are_read), RUN(the_lines_may_stand_in_a_script),
           RUN(values_that_could_be_more_than_a_name_are_refused),
           RUN(without_a_node_there_is_nothing_to_join),
           RUN(a_launch_index_is_a_number_and_nothing_else),
           RUN(the_launch_index_counts_on_from_the_name_of_the_first),
           RUN(a_name_that_cannot_be_counted_on_from_is_refused),
           RUN(tags_tell_what_user_data_would),
           RUN(tags_that_could_be_more_than_a_name_are_refused),
           RUN(notices_are_read_and_told_apart), RUN(what_is_no_notice_is_refused),
           RUN(slurmd_says_what_the_machine_has), RUN(features_are_words_with_commas),
           RUN(a_value_never_becomes_a_second_word), RUN(a_command_that_is_too_long_is_refused),
           RUN(a_token_is_printable))
