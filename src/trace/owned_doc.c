/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/owned_doc.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"

static const struct doc_decimal milli = { .digits = 3, .range = { 0, LIMIT_RESOURCE } };

static int read_capacity(const struct doc_node *map, struct res *res, struct error *reterr)
{
    int rc = doc_get_decimal(map, "cpu", &milli, &res->amount[RES_CPU], reterr);

    if (rc == 0)
        rc = doc_get_mib(map, "mem_gib", &res->amount[RES_MEM], reterr);
    if (rc == 0)
        rc = doc_get_decimal(map, "accel", &milli, &res->amount[RES_ACCEL], reterr);
    return rc;
}

/* Either a type of the catalogue, or a name and what such a machine has. */
static int check_kind(const struct doc_node *map, const struct owned_entry *entry,
                      struct error *reterr)
{
    const struct res none = { 0 };
    const bool has_capacity = !res_fits(&entry->capacity, &none);

    if (entry->type != NULL && (entry->name != NULL || has_capacity))
        return error_set(reterr, -EINVAL,
                         "line %u: %s has a 'type' of the catalogue, which says what its machines "
                         "have: leave out name, cpu, mem_gib and accel, or the type",
                         map->line, doc_label(map).text);
    if (entry->type == NULL && (entry->name == NULL || !has_capacity))
        return error_set(reterr, -EINVAL,
                         "line %u: %s does not say what machines they are: give a 'type' of the "
                         "catalogue, or a 'name' with cpu, mem_gib or accel above 0",
                         map->line, doc_label(map).text);
    return 0;
}

static int read_count(const struct doc_node *map, uint32_t *ret, struct error *reterr)
{
    int64_t count = 1;
    const int rc =
        doc_get_int(map, "count", (struct doc_range){ 0, OWNED_MACHINES_MAX }, &count, reterr);

    *ret = (uint32_t)count;
    return rc;
}

static int read_nodes(const struct doc_node *map, const char **ret, struct error *reterr)
{
    static const char *const needed[] = { "nodes", NULL };
    const int rc = doc_need_keys(map, needed, reterr);

    return rc == 0 ? doc_get_text(map, "nodes", ret, reterr) : rc;
}

static int read_entry(const struct doc_node *map, bool has_nodes, struct owned_entry *ret,
                      struct error *reterr)
{
    const char *const allowed[] = { "type",
                                    "name",
                                    "cpu",
                                    "mem_gib",
                                    "accel",
                                    "dollars_per_hour",
                                    has_nodes ? "nodes" : "count",
                                    NULL };
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc = doc_get_name(map, "type", &ret->type, reterr);
    if (rc == 0)
        rc = doc_get_name(map, "name", &ret->name, reterr);
    if (rc == 0)
        rc = read_capacity(map, &ret->capacity, reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_hour", &ret->per_hour, reterr);
    if (rc == 0)
        rc =
            has_nodes ? read_nodes(map, &ret->nodes, reterr) : read_count(map, &ret->count, reterr);
    if (rc == 0)
        rc = check_kind(map, ret, reterr);
    ret->line = map->line;
    return rc;
}

static int read_list(const struct doc_node *root, bool has_nodes, struct arena *arena,
                     struct owned_doc *ret, struct error *reterr)
{
    const struct doc_node *list = NULL;
    uint64_t machines = 0;
    int rc = doc_get_list(root, "owned", &list, reterr);

    if (rc < 0 || list == NULL)
        return rc;
    if (list->count > OWNED_ENTRIES_MAX)
        return error_set(reterr, -E2BIG, "line %u: 'owned' has more than %d entries", list->line,
                         OWNED_ENTRIES_MAX);
    ret->rows = ARENA_ARRAY(arena, struct owned_entry, list->count);
    DOC_EACH(entry, list)
    {
        if (rc == 0)
            rc = read_entry(entry, has_nodes, &ret->rows[entry->index], reterr);
        machines += ret->rows[entry->index].count;
    }
    if (rc == 0 && machines > OWNED_MACHINES_MAX)
        return error_set(reterr, -E2BIG, "line %u: 'owned' has more than %d machines", list->line,
                         OWNED_MACHINES_MAX);
    ret->count = list->count;
    return rc;
}

int owned_doc_read(const struct doc_node *root, struct arena *arena, struct owned_doc *ret,
                   struct error *reterr)
{
    return read_list(root, false, arena, ret, reterr);
}

int owned_nodes_read(const struct doc_node *root, struct arena *arena, struct owned_doc *ret,
                     struct error *reterr)
{
    return read_list(root, true, arena, ret, reterr);
}

int owned_entry_add(const struct owned_entry *entry, struct catalogue *catalogue, uint32_t *ret,
                    struct error *reterr)
{
    const char *name = entry->type != NULL ? entry->type : entry->name;
    uint32_t type = catalogue_find_type(catalogue, name, strlen(name));

    if (entry->type != NULL && type == UINT32_MAX)
        return error_set(reterr, -EINVAL,
                         "line %u: the catalogue has no type '%s'; take one that it has, or give a "
                         "'name' with cpu, mem_gib and accel",
                         entry->line, text_excerpt(name, strlen(name)).text);
    if (entry->type == NULL && type != UINT32_MAX)
        return error_set(
            reterr, -EINVAL,
            "line %u: the catalogue has a type '%s' already; take another name, or say "
            "'type' to mean that one",
            entry->line, text_excerpt(name, strlen(name)).text);
    if (type == UINT32_MAX)
        type = catalogue_add_type(catalogue, name, name,
                                  &(struct machine_type){ .capacity = entry->capacity });
    *ret = catalogue_add_owned(catalogue, type, entry->per_hour);
    return 0;
}

static int read_after(const struct doc_node *map, struct burst_rule *rule, struct error *reterr)
{
    const struct doc_node *node = doc_find(map, "after");

    if (node != NULL && node->kind == DOC_SCALAR && strcmp(node->text, "never") == 0) {
        rule->after_ms = MSEC_NEVER;
        return 0;
    }
    return doc_get_duration(map, "after", (struct doc_range){ 0, LIMIT_TIME_MS }, &rule->after_ms,
                            reterr);
}

int burst_keys_read(const struct doc_node *map, struct burst_rule *ret, struct error *reterr)
{
    struct burst_rule rule = { 0 };
    int rc = read_after(map, &rule, reterr);

    if (rc == 0)
        rc = doc_get_money(map, "waiting_hour", &rule.waiting_hour, reterr);
    if (rc == 0)
        *ret = rule;
    return rc;
}

int burst_doc_read(const struct doc_node *root, struct burst_rule *ret, struct error *reterr)
{
    static const char *const allowed[] = { "after", "waiting_hour", NULL };
    const struct doc_node *map = NULL;
    int rc = doc_get_map(root, "burst", &map, reterr);

    if (rc < 0 || map == NULL)
        return rc;
    rc = doc_allow_keys(map, allowed, reterr);
    return rc == 0 ? burst_keys_read(map, ret, reterr) : rc;
}
