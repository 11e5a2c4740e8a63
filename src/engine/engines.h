/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engines.h - the engines that there are: the one table.
 *
 * To add one: a folder beside slurm/ with a struct engine_adapter, a line in engines.c, and one in the
 * meson.build beside it.
 */
#ifndef STINT_ENGINE_ENGINES_H
#define STINT_ENGINE_ENGINES_H

#include "engine/engine_adapter.h"

enum { ENGINES_MAX = 8 };

/* NULL at the end. */
extern const struct engine_adapter *const engines[];

#endif
