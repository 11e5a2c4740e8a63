/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/test/check.h"
#include "trace/doc.h"

static const struct doc_node *parse(struct arena *arena, const char *text)
{
    const struct doc_node *root = NULL;
    struct error error = { "" };

    arena_init(arena);
    if (doc_parse(text, strlen(text), arena, &root, &error) < 0)
        fail_msg("%s", error.text);
    return root;
}

TEST(yaml_becomes_a_tree_in_the_order_of_the_file)
{
    struct arena arena;
    const struct doc_node *root = parse(&arena, "seed: 7\n"
                                                "types:\n"
                                                "  - name: a\n"
                                                "    cpu: 2\n"
                                                "  - [1, 'x']\n"
                                                "last:\n");
    const struct doc_node *types = doc_find(root, "types");

    assert_int_equal(root->kind, DOC_MAP);
    assert_int_equal(root->count, 3);
    assert_string_equal(doc_find(root, "seed")->text, "7");
    assert_int_equal(types->kind, DOC_LIST);
    assert_int_equal(types->count, 2);
    assert_int_equal(types->first->line, 3);
    assert_string_equal(doc_find(types->first, "cpu")->text, "2");
    assert_int_equal(doc_find(types->first, "cpu")->line, 4);
    assert_string_equal(types->first->next->first->next->text, "x");
    assert_true(types->first->next->first->next->quoted);
    assert_int_equal(types->first->next->index, 1);
    assert_ptr_equal(types->first->parent, types);
    assert_true(doc_is_null(doc_find(root, "last")));
    assert_null(doc_find(root, "nothing"));
    arena_done(&arena);
}

TEST(json_is_a_document_too)
{
    struct arena arena;
    const struct doc_node *root =
        parse(&arena, "{\n\t\"a\":{\"b\":[1,2,{\"c\":null}]},\"d/e\":\"x\\/y\\u00e4\\n\"\n}");
    const struct doc_node *list = doc_find(doc_find(root, "a"), "b");

    assert_int_equal(list->count, 3);
    assert_true(doc_is_null(doc_find(list->first->next->next, "c")));
    assert_string_equal(doc_find(root, "d/e")->text, "x/y\xc3\xa4\n");
    arena_done(&arena);
}

TEST(a_byte_order_mark_and_a_document_mark_are_no_matter)
{
    struct arena arena;
    const struct doc_node *root = parse(&arena, "\xef\xbb\xbf--- # comment\na: 1\n...\n");

    assert_string_equal(doc_find(root, "a")->text, "1");
    arena_done(&arena);
}

TEST(quoted_null_is_a_text)
{
    struct arena arena;
    const struct doc_node *root = parse(&arena, "a: 'null'\nb: null\nc: ~\nd: ''\n");

    assert_false(doc_is_null(doc_find(root, "a")));
    assert_true(doc_is_null(doc_find(root, "b")));
    assert_true(doc_is_null(doc_find(root, "c")));
    assert_false(doc_is_null(doc_find(root, "d")));
    arena_done(&arena);
}

TEST(what_a_configuration_does_not_need_is_refused)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "", "is empty: it must be YAML" },
        { "# only a comment\n", "is empty: it must be YAML" },
        { "a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is given twice, first in line 1" },
        { "a: &x 1\nb: *x\n", "line 1: anchors and aliases ('&...', '*...') are not supported: "
                              "write the value out" },
        { "a: &x [1]\n", "line 1: anchors and aliases ('&...', '*...') are not supported: "
                         "write the value out" },
        { "a: *x\n", "line 1: anchors and aliases ('&...', '*...') are not supported: "
                     "write the value out" },
        { "a: !!str 1\n", "line 1: tags ('!...') are not supported: remove it" },
        { "a: !x {}\n", "line 1: tags ('!...') are not supported: remove it" },
        { "a: 1\n---\nb: 2\n", "line 2: a second document begins; a file holds one" },
        { "? [1]\n: 2\n", "line 1: a key must be plain text, no list or map" },
        { "'': 2\n", "line 1: a key is empty" },
        { "a: \"x\\0y\"\n", "line 1: a text holds a zero byte" },
        { "a: b: c\n", "line 1: mapping values are not allowed in this context" },
        { "a: [1\nb: 2\n", "line 2: did not find expected ',' or ']', while parsing a flow "
                           "sequence (begun in line 1)" },
        { "a: 1\nb: \xff\n",
          "line 2: invalid leading UTF-8 octet; the file must be text in UTF-8" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct doc_node *root = NULL;
        struct error error = { "" };
        struct arena arena;

        arena_init(&arena);
        assert_int_equal(doc_parse(cases[i].text, strlen(cases[i].text), &arena, &root, &error),
                         -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        assert_null(root);
        arena_done(&arena);
    }
}

TEST(zero_bytes_are_refused)
{
    const struct doc_node *root = NULL;
    struct error error;
    struct arena arena;

    arena_init(&arena);
    assert_int_equal(doc_parse("a: 1\n\0b: 2", 10, &arena, &root, &error), -EINVAL);
    assert_string_equal(error.text, "line 2: holds a zero byte; this is no text file in UTF-8");
    arena_done(&arena);
}

static int parse_nested(int levels, struct error *error)
{
    char text[2 * LIMIT_DOC_DEPTH + 8];
    const struct doc_node *root = NULL;
    struct arena arena;

    memset(text, '[', (size_t)levels);
    memset(text + levels, ']', (size_t)levels);
    arena_init(&arena);

    const int rc = doc_parse(text, 2 * (size_t)levels, &arena, &root, error);

    arena_done(&arena);
    return rc;
}

TEST(nesting_has_a_limit)
{
    struct error error;

    assert_int_equal(parse_nested(LIMIT_DOC_DEPTH, &error), 0);
    assert_int_equal(parse_nested(LIMIT_DOC_DEPTH + 1, &error), -E2BIG);
    assert_string_equal(error.text, "line 1: is nested more than 32 levels deep");
}

TEST(equal_keys_of_a_large_map_are_found)
{
    enum { KEYS = 20000, ROOM = 16 * (KEYS + 1) };
    char *text = mem_alloc(ROOM, 1);
    const struct doc_node *root = NULL;
    struct error error;
    struct arena arena;
    size_t used = 0;

    for (int i = 0; i < KEYS; i++)
        used += (size_t)snprintf(text + used, ROOM - used, "k%d: %d\n", i, i);
    arena_init(&arena);

    assert_int_equal(doc_parse(text, used, &arena, &root, &error), 0);
    assert_int_equal(root->count, KEYS);
    used += (size_t)snprintf(text + used, ROOM - used, "k77: 0\n");
    assert_int_equal(doc_parse(text, used, &arena, &root, &error), -EINVAL);
    assert_string_equal(error.text, "line 20001: the key 'k77' is given twice, first in line 78");
    arena_done(&arena);
    mem_free(text);
}

CHECK_MAIN(RUN(yaml_becomes_a_tree_in_the_order_of_the_file), RUN(json_is_a_document_too),
           RUN(a_byte_order_mark_and_a_document_mark_are_no_matter), RUN(quoted_null_is_a_text),
           RUN(what_a_configuration_does_not_need_is_refused), RUN(zero_bytes_are_refused),
           RUN(nesting_has_a_limit), RUN(equal_keys_of_a_large_map_are_found))
