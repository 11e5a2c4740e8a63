/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_owned.h"

#include <errno.h>
#include <string.h>

#include "base/names.h"
#include "engine/slurm/slurm_spell.h"
#include "trace/input_text.h"

/* The names so far; equal ones are one. */
struct expansion {
    struct names names;
    uint32_t kind_of[OWNED_MACHINES_MAX];
    uint32_t kind;
    bool is_twice;
};

static int add_name(void *context, const char *name, size_t length)
{
    struct expansion *all = context;
    const uint32_t before = all->names.count;
    const uint32_t row = names_add(&all->names, name, length);

    if (row >= OWNED_MACHINES_MAX)
        return -E2BIG;
    all->is_twice = all->is_twice || row < before;
    if (row == before)
        all->kind_of[row] = all->kind;
    return 0;
}

static int expand(struct expansion *all, struct owned_entry *entry, struct error *reterr)
{
    const uint32_t before = all->names.count;
    const int rc = slurm_spell_nodes(entry->nodes, OWNED_MACHINES_MAX, add_name, all);

    entry->count = all->names.count - before;
    if (rc < 0)
        return error_set(reterr, rc,
                         "line %u: 'nodes' must be a list of at most %d nodes as Slurm writes it, "
                         "such as n[1-4],m7, not '%s'",
                         entry->line, OWNED_MACHINES_MAX,
                         text_excerpt(entry->nodes, strlen(entry->nodes)).text);
    if (all->is_twice)
        return error_set(reterr, -EINVAL,
                         "line %u: '%s' has a node that is in 'owned' already; name each once",
                         entry->line, text_excerpt(entry->nodes, strlen(entry->nodes)).text);
    return 0;
}

static const char *copy(const char *text, struct arena *arena)
{
    const size_t size = strlen(text) + 1;
    char *own = ARENA_ARRAY(arena, char, size);

    memcpy(own, text, size);
    return own;
}

static void keep(const struct expansion *all, struct arena *arena, struct slurm_owned *ret)
{
    ret->count = all->names.count;
    ret->names = ARENA_ARRAY(arena, const char *, ret->count);
    ret->kind_of = ARENA_ARRAY(arena, uint32_t, ret->count);
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->names[i] = copy(names_text(&all->names, i), arena);
        ret->kind_of[i] = all->kind_of[i];
    }
}

int slurm_owned_read(const struct settings *in, const struct doc_node *map, struct slurm_owned *ret)
{
    struct slurm_owned owned = { 0 };
    int rc = owned_nodes_read(map, in->arena, &owned.kinds, in->reterr);

    if (rc < 0 || owned.kinds.count == 0)
        return rc;

    struct expansion *all = ARENA_ARRAY(in->arena, struct expansion, 1);

    names_init(&all->names);
    for (all->kind = 0; rc == 0 && all->kind < owned.kinds.count; all->kind++)
        rc = expand(all, &owned.kinds.rows[all->kind], in->reterr);
    if (rc == 0)
        keep(all, in->arena, &owned);
    names_done(&all->names);
    if (rc == 0)
        *ret = owned;
    return rc;
}

static bool same_kind(const struct owned_entry *a, const struct owned_entry *b)
{
    return settings_same_text(a->type, b->type) && settings_same_text(a->name, b->name) &&
           settings_same_text(a->nodes, b->nodes) && a->per_hour == b->per_hour &&
           memcmp(&a->capacity, &b->capacity, sizeof(a->capacity)) == 0;
}

bool slurm_owned_same(const struct slurm_owned *a, const struct slurm_owned *b)
{
    if (a->kinds.count != b->kinds.count)
        return false;
    for (uint32_t i = 0; i < a->kinds.count; i++) {
        if (!same_kind(&a->kinds.rows[i], &b->kinds.rows[i]))
            return false;
    }
    return true;
}
