/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_wait_words.h - what keeps a job from running at Slurm, as the API says it.
 */
#ifndef STINT_ENGINE_SLURM_WAIT_WORDS_H
#define STINT_ENGINE_SLURM_WAIT_WORDS_H

#include <stdbool.h>

#include "engine/engine_adapter.h"
#include "engine/slurm/slurm_engine.h"

/* False: nothing does. */
bool slurm_wait_words(const struct slurm_wait *wait, msec_t now, struct engine_wait *ret);

#endif
