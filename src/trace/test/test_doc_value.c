/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/doc_value.h"

static struct arena memory;

static const struct doc_node *parse(const char *text)
{
    const struct doc_node *root = NULL;
    struct error error = { "" };

    arena_done(&memory);
    if (doc_parse(text, strlen(text), &memory, &root, &error) < 0)
        fail_msg("%s", error.text);
    return root;
}

TEST(values_are_read_by_their_kind)
{
    const struct doc_node *root = parse("text: hello\nyes: true\nno: false\nseed: 7\n"
                                        "price: 3.06\ntick: 5m\nshare: 0.95\nmem: 0.5\ncpu: 1.5\n"
                                        "list: [1]\nmap: {a: 1}\n");
    const struct doc_decimal milli = { .digits = 3, .exact = true, .range = { 0, 9999 } };
    const struct doc_node *node = NULL;
    const char *text = NULL;
    bool yes = false;
    bool no = true;
    int64_t number = 0;
    uint32_t ppm = 0;

    assert_int_equal(doc_get_text(root, "text", &text, NULL), 0);
    assert_string_equal(text, "hello");
    assert_int_equal(doc_get_name(root, "seed", &text, NULL), 0);
    assert_string_equal(text, "7");
    assert_int_equal(doc_get_bool(root, "yes", &yes, NULL), 0);
    assert_int_equal(doc_get_bool(root, "no", &no, NULL), 0);
    assert_true(yes && !no);
    assert_int_equal(doc_get_int(root, "seed", (struct doc_range){ 0, 9 }, &number, NULL), 0);
    assert_int_equal(number, 7);
    assert_int_equal(doc_get_money(root, "price", &number, NULL), 0);
    assert_int_equal(number, 3060000);
    assert_int_equal(
        doc_get_duration(root, "tick", (struct doc_range){ 0, LIMIT_TIME_MS }, &number, NULL), 0);
    assert_int_equal(number, 300000);
    assert_int_equal(doc_get_ppm(root, "share", &ppm, NULL), 0);
    assert_int_equal(ppm, 950000);
    assert_int_equal(doc_get_mib(root, "mem", &number, NULL), 0);
    assert_int_equal(number, 512);
    assert_int_equal(doc_get_decimal(root, "cpu", &milli, &number, NULL), 0);
    assert_int_equal(number, 1500);
    assert_int_equal(doc_get_list(root, "list", &node, NULL), 0);
    assert_int_equal(node->kind, DOC_LIST);
    assert_int_equal(doc_get_map(root, "map", &node, NULL), 0);
    assert_int_equal(node->kind, DOC_MAP);
}

TEST(an_absent_key_leaves_the_default)
{
    const struct doc_node *root = parse("a: 1\n");
    const struct doc_node *node = NULL;
    int64_t number = 42;
    uint32_t ppm = 42;

    assert_int_equal(doc_get_int(root, "seed", (struct doc_range){ 0, 9 }, &number, NULL), 0);
    assert_int_equal(doc_get_money(root, "price", &number, NULL), 0);
    assert_int_equal(doc_get_ppm(root, "share", &ppm, NULL), 0);
    assert_int_equal(doc_get_map(root, "map", &node, NULL), 0);

    assert_int_equal(number, 42);
    assert_int_equal(ppm, 42);
    assert_null(node);
}

static int get_int(const struct doc_node *node, struct error *error)
{
    int64_t value = 42;
    const int rc = doc_as_int(node, (struct doc_range){ 0, 9 }, &value, error);

    assert_int_equal(value, 42);
    return rc;
}

static int get_money(const struct doc_node *node, struct error *error)
{
    money_t value = 42;
    const int rc = doc_as_money(node, &value, error);

    assert_int_equal(value, 42);
    return rc;
}

static int get_duration(const struct doc_node *node, struct error *error)
{
    msec_t value = 42;
    const int rc = doc_as_duration(node, (struct doc_range){ 1, 3600000 }, &value, error);

    assert_int_equal(value, 42);
    return rc;
}

static int get_ppm(const struct doc_node *node, struct error *error)
{
    uint32_t value = 42;
    const int rc = doc_as_ppm(node, &value, error);

    assert_int_equal(value, 42);
    return rc;
}

static int get_mib(const struct doc_node *node, struct error *error)
{
    int64_t value = 42;
    const int rc = doc_as_mib(node, &value, error);

    assert_int_equal(value, 42);
    return rc;
}

static int get_bool(const struct doc_node *node, struct error *error)
{
    bool value = true;
    const int rc = doc_as_bool(node, &value, error);

    assert_true(value);
    return rc;
}

static int get_name(const struct doc_node *node, struct error *error)
{
    const char *value = NULL;
    const int rc = doc_as_name(node, &value, error);

    assert_null(value);
    return rc;
}

static int get_map(const struct doc_node *node, struct error *error)
{
    return doc_expect(node, DOC_MAP, error);
}

TEST(errors_say_the_line_the_key_and_what_is_right)
{
    static const struct {
        const char *text;
        int (*get)(const struct doc_node *node, struct error *error);
        const char *error;
    } cases[] = {
        { "\nx: abc", get_int, "line 2: 'x' must be a whole number from 0 to 9, not 'abc'" },
        { "x: 10", get_int, "line 1: 'x' must be a whole number from 0 to 9, not '10'" },
        { "x: 1.5", get_int, "line 1: 'x' must be a whole number from 0 to 9, not '1.5'" },
        { "x: [1]", get_int, "line 1: 'x' must be a single value, not a list" },
        { "x:", get_int, "line 1: 'x' has no value" },
        { "x: -1", get_money, "line 1: 'x' must be a number from 0 to 1099511.627776, not '-1'" },
        { "x: 0.1234567", get_money,
          "line 1: 'x' must be a number from 0 to 1099511.627776 with fewer digits behind the "
          "point, not '0.1234567'" },
        { "x: 2h", get_duration,
          "line 1: 'x' must be a length of time from 0.001s to 3600s, such as 300s, 5m, 1h or "
          "250ms, not '2h'" },
        { "x: 1.01", get_ppm, "line 1: 'x' must be a number from 0 to 1, not '1.01'" },
        { "x: 2e9", get_mib,
          "line 1: 'x' must be a number of GiB from 0 to 1073741824, not '2e9'" },
        { "x: yes", get_bool, "line 1: 'x' must be true or false, not 'yes'" },
        { "x: ''", get_name, "line 1: 'x' is empty" },
        { "x: \"a\\nb\"", get_name, "line 1: 'x' holds a control character" },
        { "x: 5", get_map, "line 1: 'x' must be a map of keys and values, not a single value" },
        { "x:", get_map, "line 1: 'x' must be a map of keys and values, not nothing" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct doc_node *root = parse(cases[i].text);
        struct error error = { "" };

        assert_int_equal(cases[i].get(doc_find(root, "x"), &error), -EINVAL);
        assert_string_equal(error.text, cases[i].error);
    }
}

TEST(entries_of_lists_are_called_by_their_place)
{
    const struct doc_node *root = parse("price: [1, [2, x]]\n");
    const struct doc_node *inner = doc_find(root, "price")->first->next;

    assert_string_equal(doc_label(root).text, "the document");
    assert_string_equal(doc_label(inner).text, "entry 2 of 'price'");
    assert_string_equal(doc_label(parse("[[1]]")->first->first).text, "entry 1");
}

TEST(an_unknown_key_is_refused_and_the_likely_one_named)
{
    static const char *const allowed[] = { "seed", "policy", "trace", NULL };
    struct error error;

    assert_int_equal(doc_allow_keys(parse("seed: 1\npolicy: x\n"), allowed, &error), 0);
    assert_int_equal(doc_allow_keys(parse("seed: 1\npolcy: x\n"), allowed, &error), -EINVAL);
    assert_string_equal(error.text, "line 2: unknown key 'polcy': did you mean 'policy'? There may "
                                    "be: seed, policy, trace");
    assert_int_equal(doc_allow_keys(parse("colour: 1\n"), allowed, &error), -EINVAL);
    assert_string_equal(error.text,
                        "line 1: unknown key 'colour': there may be seed, policy, trace");
}

TEST(a_missing_key_is_named)
{
    static const char *const needed[] = { "seed", "policy", NULL };
    struct error error;

    assert_int_equal(doc_need_keys(parse("seed: 1\npolicy: x\n"), needed, &error), 0);
    assert_int_equal(doc_need_keys(parse("seed: 1\n"), needed, &error), -EINVAL);
    assert_string_equal(error.text, "line 1: the document lacks the key 'policy'");
    assert_int_equal(doc_need_keys(doc_find(parse("run:\n  seed: 1\n"), "run"), needed, &error),
                     -EINVAL);
    assert_string_equal(error.text, "line 2: 'run' lacks the key 'policy'");
    arena_done(&memory);
}

CHECK_MAIN(RUN(values_are_read_by_their_kind), RUN(an_absent_key_leaves_the_default),
           RUN(errors_say_the_line_the_key_and_what_is_right),
           RUN(entries_of_lists_are_called_by_their_place),
           RUN(an_unknown_key_is_refused_and_the_likely_one_named), RUN(a_missing_key_is_named))
