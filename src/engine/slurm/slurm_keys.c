/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_keys.c - see slurm_keys.h.
 *
 * A ring: slot 'next' is overwritten. A forgotten key leaves its slot behind with no entry in
 * 'index_of', so a slot counts only if the map points back at it.
 */
#include "engine/slurm/slurm_keys.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

void slurm_keys_init(struct slurm_keys *keys)
{
    *keys = (struct slurm_keys){ .count = 0 };
    map_init(&keys->index_of);
    keys->key = mem_alloc(SLURM_KEYS_MAX, sizeof(*keys->key));
    keys->answer = mem_alloc(SLURM_KEYS_MAX, sizeof(*keys->answer));
}

void slurm_keys_done(struct slurm_keys *keys)
{
    for (uint32_t i = 0; i < keys->count; i++)
        mem_free(keys->answer[i]);
    mem_free(keys->answer);
    mem_free(keys->key);
    map_done(&keys->index_of);
    *keys = (struct slurm_keys){ .count = 0 };
}

enum slurm_key_state slurm_keys_find(const struct slurm_keys *keys, uint64_t key,
                                     const char **ret_answer)
{
    const uint32_t slot = map_get(&keys->index_of, key);

    if (slot == MAP_NONE)
        return SLURM_KEY_NEW;
    if (keys->answer[slot] == NULL)
        return SLURM_KEY_OPEN;
    *ret_answer = keys->answer[slot];
    return SLURM_KEY_ANSWERED;
}

void slurm_keys_open(struct slurm_keys *keys, uint64_t key)
{
    const uint32_t slot = keys->next;

    assert(map_get(&keys->index_of, key) == MAP_NONE);
    if (keys->count == SLURM_KEYS_MAX) {
        if (map_get(&keys->index_of, keys->key[slot]) == slot)
            (void)map_remove(&keys->index_of, keys->key[slot]);
        mem_free(keys->answer[slot]);
    } else {
        keys->count++;
    }
    keys->key[slot] = key;
    keys->answer[slot] = NULL;
    map_put(&keys->index_of, key, slot);
    keys->next = (slot + 1) % SLURM_KEYS_MAX;
}

void slurm_keys_answer(struct slurm_keys *keys, uint64_t key, const char *answer, uint32_t size)
{
    const uint32_t slot = map_get(&keys->index_of, key);

    if (slot == MAP_NONE)
        return;
    mem_free(keys->answer[slot]);
    keys->answer[slot] = mem_alloc((size_t)size + 1, 1);
    memcpy(keys->answer[slot], answer, size);
}

void slurm_keys_forget(struct slurm_keys *keys, uint64_t key)
{
    (void)map_remove(&keys->index_of, key);
}
