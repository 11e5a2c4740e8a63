/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_owned.h - the key 'owned' of the map 'engine': nodes that Slurm has anyway.
 *
 *     owned:
 *       - { nodes: "n[1-4]", name: rack, cpu: 64, mem_gib: 256, dollars_per_hour: 0.40 }
 *
 * Memory:  in the arena of the settings that are read.
 */
#ifndef STINT_ENGINE_SLURM_OWNED_H
#define STINT_ENGINE_SLURM_OWNED_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/owned_doc.h"
#include "trace/settings.h"

struct slurm_owned {
    struct owned_doc kinds;
    const char **names;
    uint32_t *kind_of; /* of each name */
    uint32_t count;
};

int slurm_owned_read(const struct settings *in, const struct doc_node *map,
                     struct slurm_owned *ret);
bool slurm_owned_same(const struct slurm_owned *a, const struct slurm_owned *b);

#endif
