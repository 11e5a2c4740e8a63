/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/doc_value.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "trace/input_text.h"
#include "trace/number.h"

enum { NEAR_LENGTH = 31 };

struct doc_label doc_label(const struct doc_node *node)
{
    struct doc_label label;
    const struct doc_node *named = node;

    while (named != NULL && named->key == NULL)
        named = named->parent;

    const char *key = named != NULL ? named->key : "";
    const struct excerpt excerpt = text_excerpt(key, strlen(key));

    if (node->key != NULL)
        (void)snprintf(label.text, sizeof(label.text), "'%s'", excerpt.text);
    else if (node->parent == NULL)
        (void)snprintf(label.text, sizeof(label.text), "the document");
    else if (named != NULL)
        (void)snprintf(label.text, sizeof(label.text), "entry %u of '%s'", node->index + 1,
                       excerpt.text);
    else
        (void)snprintf(label.text, sizeof(label.text), "entry %u", node->index + 1);
    return label;
}

/* How many letters must be put in, taken out or changed to make 'b' of 'a'. */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t a_length = strlen(a);
    const size_t b_length = strlen(b);
    size_t row[NEAR_LENGTH + 1];

    if (a_length > NEAR_LENGTH || b_length > NEAR_LENGTH)
        return NEAR_LENGTH;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t change = diagonal + (a[i - 1] != b[j - 1]);
            const size_t least = row[j] < row[j - 1] ? row[j] : row[j - 1];

            diagonal = row[j];
            row[j] = change < least + 1 ? change : least + 1;
        }
    }
    return row[b_length];
}

/* Join the keys with ", " into 'out', as many as fit. */
static void join_keys(const char *const *keys, char *out, size_t size)
{
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; keys[i] != NULL; i++) {
        const size_t length = strlen(keys[i]) + 2;

        if (used + length >= size)
            return;
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", keys[i]);
    }
}

static int unknown_key(const struct doc_node *node, const char *const *allowed,
                       struct error *reterr)
{
    const struct excerpt excerpt = text_excerpt(node->key, strlen(node->key));
    const char *nearest = NULL;
    size_t distance = 3;
    char list[256];

    for (size_t i = 0; allowed[i] != NULL; i++) {
        const size_t other = edit_distance(node->key, allowed[i]);

        if (other < distance) {
            distance = other;
            nearest = allowed[i];
        }
    }
    join_keys(allowed, list, sizeof(list));
    if (nearest != NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: unknown key '%s': did you mean '%s'? There may be: %s",
                         node->line, excerpt.text, nearest, list);
    return error_set(reterr, -EINVAL, "line %u: unknown key '%s': there may be %s", node->line,
                     excerpt.text, list);
}

static bool is_listed(const char *key, const char *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        if (strcmp(key, list[i]) == 0)
            return true;
    }
    return false;
}

int doc_allow_keys(const struct doc_node *map, const char *const *allowed, struct error *reterr)
{
    assert(map->kind == DOC_MAP);

    DOC_EACH(child, map)
    {
        if (!is_listed(child->key, allowed))
            return unknown_key(child, allowed, reterr);
    }
    return 0;
}

int doc_need_keys(const struct doc_node *map, const char *const *needed, struct error *reterr)
{
    for (size_t i = 0; needed[i] != NULL; i++) {
        if (doc_find(map, needed[i]) == NULL)
            return error_set(reterr, -EINVAL, "line %u: %s lacks the key '%s'", map->line,
                             doc_label(map).text, needed[i]);
    }
    return 0;
}

int doc_expect(const struct doc_node *node, enum doc_kind kind, struct error *reterr)
{
    static const char *const words[] = {
        [DOC_SCALAR] = "a single value",
        [DOC_LIST] = "a list",
        [DOC_MAP] = "a map of keys and values",
    };

    if (node->kind == kind)
        return 0;
    return error_set(reterr, -EINVAL, "line %u: %s must be %s, not %s", node->line,
                     doc_label(node).text, words[kind],
                     doc_is_null(node) ? "nothing" : words[node->kind]);
}

/* "line 3: 'x' must be <what>, not '<text>'". */
static int must_be(const struct doc_node *node, const char *what, struct error *reterr)
{
    assert(node->kind == DOC_SCALAR);
    return error_set(reterr, -EINVAL, "line %u: %s must be %s, not '%s'", node->line,
                     doc_label(node).text, what, text_excerpt(node->text, node->text_length).text);
}

/* Refuse what is no scalar or null; then node->text is the value. */
static int expect_text(const struct doc_node *node, struct error *reterr)
{
    const int rc = doc_expect(node, DOC_SCALAR, reterr);

    if (rc == 0 && doc_is_null(node))
        return error_set(reterr, -EINVAL, "line %u: %s has no value", node->line,
                         doc_label(node).text);
    return rc;
}

int doc_as_text(const struct doc_node *node, const char **ret, struct error *reterr)
{
    const int rc = expect_text(node, reterr);

    if (rc == 0)
        *ret = node->text;
    return rc;
}

int doc_as_name(const struct doc_node *node, const char **ret, struct error *reterr)
{
    const int rc = expect_text(node, reterr);

    if (rc < 0)
        return rc;

    const char *fault = text_name_fault(node->text, node->text_length);

    if (fault != NULL)
        return error_set(reterr, -EINVAL, "line %u: %s %s", node->line, doc_label(node).text,
                         fault);
    *ret = node->text;
    return 0;
}

int doc_as_bool(const struct doc_node *node, bool *ret, struct error *reterr)
{
    const int rc = expect_text(node, reterr);

    if (rc < 0)
        return rc;
    if (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0)
        return must_be(node, "true or false", reterr);
    *ret = node->text[0] == 't';
    return 0;
}

int doc_as_int(const struct doc_node *node, struct doc_range range, int64_t *ret,
               struct error *reterr)
{
    int64_t value = 0;
    int rc = expect_text(node, reterr);

    if (rc < 0)
        return rc;
    rc = number_exact(node->text, node->text_length, 0, &value);
    if (rc < 0 || value < range.min || value > range.max) {
        char what[96];

        (void)snprintf(what, sizeof(what), "a whole number from %lld to %lld", (long long)range.min,
                       (long long)range.max);
        return must_be(node, what, reterr);
    }
    *ret = value;
    return 0;
}

int doc_as_decimal(const struct doc_node *node, const struct doc_decimal *rule, int64_t *ret,
                   struct error *reterr)
{
    int64_t value = 0;
    int rc = expect_text(node, reterr);

    if (rc < 0)
        return rc;
    rc = rule->exact ? number_exact(node->text, node->text_length, rule->digits, &value)
                     : number_nearest(node->text, node->text_length, rule->digits, &value);
    if (rc < 0 || value < rule->range.min || value > rule->range.max) {
        char what[192];

        (void)snprintf(what, sizeof(what), "a number from %s to %s%s",
                       number_print(rule->range.min, rule->digits).text,
                       number_print(rule->range.max, rule->digits).text,
                       rc == -EDOM ? " with fewer digits behind the point" : "");
        return must_be(node, what, reterr);
    }
    *ret = value;
    return 0;
}

int doc_as_money(const struct doc_node *node, money_t *ret, struct error *reterr)
{
    static const struct doc_decimal rule = {
        .digits = 6,
        .exact = true,
        .range = { 0, LIMIT_MONEY },
    };

    return doc_as_decimal(node, &rule, ret, reterr);
}

int doc_as_duration(const struct doc_node *node, struct doc_range range, msec_t *ret,
                    struct error *reterr)
{
    msec_t value = 0;
    int rc = expect_text(node, reterr);

    if (rc < 0)
        return rc;
    rc = number_duration(node->text, node->text_length, &value);
    if (rc < 0 || value < range.min || value > range.max) {
        char what[192];

        (void)snprintf(what, sizeof(what),
                       "a length of time from %ss to %ss, such as 300s, 5m, 1h or 250ms",
                       number_print(range.min, 3).text, number_print(range.max, 3).text);
        return must_be(node, what, reterr);
    }
    *ret = value;
    return 0;
}

int doc_as_ppm(const struct doc_node *node, uint32_t *ret, struct error *reterr)
{
    static const struct doc_decimal rule = { .digits = 6, .exact = true, .range = { 0, 1000000 } };
    int64_t value = 0;
    const int rc = doc_as_decimal(node, &rule, &value, reterr);

    if (rc == 0)
        *ret = (uint32_t)value;
    return rc;
}

int doc_as_mib(const struct doc_node *node, int64_t *ret, struct error *reterr)
{
    int64_t value = 0;
    int rc = expect_text(node, reterr);

    if (rc < 0)
        return rc;
    rc = number_mib_of_gib(node->text, node->text_length, &value);
    if (rc < 0 || value < 0 || value > LIMIT_RESOURCE) {
        char what[64];

        (void)snprintf(what, sizeof(what), "a number of GiB from 0 to %lld",
                       (long long)(LIMIT_RESOURCE / 1024));
        return must_be(node, what, reterr);
    }
    *ret = value;
    return 0;
}

static int get_kind(const struct doc_node *map, const char *key, enum doc_kind kind,
                    const struct doc_node **ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);
    const int rc = node != NULL ? doc_expect(node, kind, reterr) : 0;

    if (rc == 0 && node != NULL)
        *ret = node;
    return rc;
}

int doc_get_map(const struct doc_node *map, const char *key, const struct doc_node **ret,
                struct error *reterr)
{
    return get_kind(map, key, DOC_MAP, ret, reterr);
}

int doc_get_list(const struct doc_node *map, const char *key, const struct doc_node **ret,
                 struct error *reterr)
{
    return get_kind(map, key, DOC_LIST, ret, reterr);
}

int doc_get_text(const struct doc_node *map, const char *key, const char **ret,
                 struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_text(node, ret, reterr) : 0;
}

int doc_get_name(const struct doc_node *map, const char *key, const char **ret,
                 struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_name(node, ret, reterr) : 0;
}

int doc_get_bool(const struct doc_node *map, const char *key, bool *ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_bool(node, ret, reterr) : 0;
}

int doc_get_int(const struct doc_node *map, const char *key, struct doc_range range, int64_t *ret,
                struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_int(node, range, ret, reterr) : 0;
}

int doc_get_decimal(const struct doc_node *map, const char *key, const struct doc_decimal *rule,
                    int64_t *ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_decimal(node, rule, ret, reterr) : 0;
}

int doc_get_money(const struct doc_node *map, const char *key, money_t *ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_money(node, ret, reterr) : 0;
}

int doc_get_duration(const struct doc_node *map, const char *key, struct doc_range range,
                     msec_t *ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_duration(node, range, ret, reterr) : 0;
}

int doc_get_ppm(const struct doc_node *map, const char *key, uint32_t *ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_ppm(node, ret, reterr) : 0;
}

int doc_get_mib(const struct doc_node *map, const char *key, int64_t *ret, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL ? doc_as_mib(node, ret, reterr) : 0;
}
