/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_words.h - what keeps a job from running at the engine, as the API says it.
 */
#ifndef STINT_DAEMON_WAIT_WORDS_H
#define STINT_DAEMON_WAIT_WORDS_H

#include <stdbool.h>

#include "engine/slurm/slurm_engine.h"
#include "serve/serve.h"

/* False: nothing does. */
bool wait_words(const struct slurm_wait *wait, msec_t now, struct serve_wait *ret);

#endif
