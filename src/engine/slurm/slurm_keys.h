/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_keys.h - which actions were asked for, and what was answered.
 *
 * A request that is repeated under its key gets its answer again, and nothing is done twice. The
 * last SLURM_KEYS_MAX keys are known; after that, or after a restart, the 'run' of a request keeps
 * an old one from doing harm.
 *
 * Memory:    owns the answers. Needs no libslurm.
 */
#ifndef STINT_ENGINE_SLURM_KEYS_H
#define STINT_ENGINE_SLURM_KEYS_H

#include <stdint.h>

#include "base/map.h"

enum { SLURM_KEYS_MAX = 1 << 16 };

struct slurm_keys {
    struct map index_of; /* key -> slot */
    uint64_t *key;       /* a ring of SLURM_KEYS_MAX */
    char **answer;       /* NULL: the action is under way */
    uint32_t count;
    uint32_t next;
};

enum slurm_key_state { SLURM_KEY_NEW, SLURM_KEY_OPEN, SLURM_KEY_ANSWERED };

void slurm_keys_init(struct slurm_keys *keys);
void slurm_keys_done(struct slurm_keys *keys);

/* What is known of 'key'; an answer, one line, goes to 'ret_answer'. */
enum slurm_key_state slurm_keys_find(const struct slurm_keys *keys, uint64_t key,
                                     const char **ret_answer);

/* The act of 'key', a new one, is under way; the oldest key may be forgotten for it. */
void slurm_keys_open(struct slurm_keys *keys, uint64_t key);

/* Remember the answer of 'size' bytes. A key that is forgotten by now is left so. */
void slurm_keys_answer(struct slurm_keys *keys, uint64_t key, const char *answer, uint32_t size);

/* Nobody knows whether the action was done: forget the key, so that it can be asked for again. */
void slurm_keys_forget(struct slurm_keys *keys, uint64_t key);

#endif
