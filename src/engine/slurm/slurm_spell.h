/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_spell.h - how Slurm writes lists of nodes, tasks of an array, and accelerators.
 *
 * Promises:  pure; any text may be given. A text that Slurm would not write is -EINVAL, one that
 *            stands for more than the caller takes is -E2BIG.
 */
#ifndef STINT_ENGINE_SLURM_SPELL_H
#define STINT_ENGINE_SLURM_SPELL_H

#include <stddef.h>
#include <stdint.h>

enum {
    SLURM_NODE_NAME_MAX = 255,
    SLURM_ARRAY_INDEX_MAX = (1 << 22) - 2, /* what a task id can hold */
};

/* Called with one name or number after another; what it returns, if not 0, ends the walk. */
typedef int slurm_name_fn_t(void *context, const char *name, size_t length);
typedef int slurm_index_fn_t(void *context, uint32_t index);

/* "a,n[1-3,007],m7": each name; at most 'most' of them. */
int slurm_spell_nodes(const char *list, uint32_t most, slurm_name_fn_t *each, void *context);

/* "0-9,12", "0-98:2", with "%4" or without: each number, at most 'most'; 'ret_limit' is what stands
 * behind the percent sign, or 0. */
int slurm_spell_tasks(const char *list, uint32_t most, slurm_index_fn_t *each, void *context,
                      uint32_t *ret_limit);

/* The numbers of 'index', which is sorted, as "3-5,9"; as many from 'from' on as fit into 'size'.
 * Returns the first that did not. */
uint32_t slurm_spell_ranges(const uint32_t *index, uint32_t from, uint32_t count, char *buf,
                            size_t size);

/* What "gres:gpu:t4:2" asks for. */
struct slurm_gres {
    uint64_t gpus;
    char type[64];  /* "": any */
    char other[64]; /* something that is no accelerator, or "" */
};

/* Add what 'text', which may be NULL, asks for 'times' times over. */
int slurm_spell_gres(const char *text, uint64_t times, struct slurm_gres *sum);

#endif
