/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_settings.h - the map 'engine' of a configuration whose kind is slurm. man/stint.conf.5 has
 * every key.
 *
 * Memory:  in the arena of the settings that are read.
 */
#ifndef STINT_ENGINE_SLURM_SETTINGS_H
#define STINT_ENGINE_SLURM_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "engine/slurm/slurm_burst.h"
#include "engine/slurm/slurm_market.h"
#include "engine/slurm/slurm_owned.h"
#include "trace/settings.h"

struct slurm_settings {
    const char *program;
    msec_t poll_ms;
    const char *partition; /* NULL: jobs stay in theirs */
    int64_t tmp_mib;       /* temporary disk space of every machine */
    bool any_zone;         /* the nodes of one job may be in several zones */
    struct settings_words only_partitions;
    struct settings_words ignore_partitions;
    struct settings_words ignore_users;
    struct slurm_markets markets;
    struct slurm_owned owned;
    struct slurm_bursts bursts;
    const char *stop_signal; /* NULL: none */
    msec_t stop_grace_ms;
    msec_t lease_ms;
};

int slurm_settings_read(const struct settings *in, const struct doc_node *map,
                        struct slurm_settings *ret);

/* Whether a daemon that runs with one may go on with the other. */
bool slurm_settings_same(const struct slurm_settings *a, const struct slurm_settings *b);

/* The arguments of stint-slurm, NULL at the end. What it keeps is beside the daemon's file 'state'. */
const char *const *slurm_settings_argv(const struct slurm_settings *settings, const char *state,
                                       struct arena *arena);

#endif
