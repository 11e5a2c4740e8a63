/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "trace/doc_value.h"

static const struct doc_range any = { INT64_MIN, INT64_MAX };

/* Every way to read a value, of every value. */
static void read_value(const struct doc_node *node)
{
    static const char *const keys[] = { "name", "price", NULL };
    const struct doc_decimal rule = { .digits = 9, .range = any };
    struct error error;
    const char *text;
    int64_t number;
    uint32_t ppm;
    bool flag;

    (void)doc_label(node);
    (void)doc_as_text(node, &text, &error);
    (void)doc_as_name(node, &text, &error);
    (void)doc_as_bool(node, &flag, &error);
    (void)doc_as_int(node, any, &number, &error);
    (void)doc_as_decimal(node, &rule, &number, &error);
    (void)doc_as_money(node, &number, &error);
    (void)doc_as_duration(node, any, &number, &error);
    (void)doc_as_ppm(node, &ppm, &error);
    (void)doc_as_mib(node, &number, &error);
    if (node->kind != DOC_MAP)
        return;
    if (doc_allow_keys(node, keys, &error) < 0)
        fuzz_check_error(&error);
    if (doc_need_keys(node, keys, &error) < 0)
        fuzz_check_error(&error);
}

/* The node behind this one, each child before the next sibling. */
static const struct doc_node *next_node(const struct doc_node *node)
{
    if (node->first != NULL)
        return node->first;
    while (node != NULL && node->next == NULL)
        node = node->parent;
    return node != NULL ? node->next : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct doc_node *root = NULL;
    struct error error = { "" };
    struct arena arena;

    arena_init(&arena);
    if (doc_parse((const char *)data, size, &arena, &root, &error) < 0) {
        fuzz_check_error(&error);
        assert(root == NULL);
    }
    for (const struct doc_node *node = root; node != NULL; node = next_node(node))
        read_value(node);
    arena_done(&arena);
    return 0;
}
