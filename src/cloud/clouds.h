/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clouds.h - the clouds that there are: the one table.
 *
 * To add one: a folder beside local/ with a struct cloud_adapter, a line in clouds.c, and one in the
 * meson.build beside it.
 */
#ifndef STINT_CLOUD_CLOUDS_H
#define STINT_CLOUD_CLOUDS_H

#include "cloud/cloud_adapter.h"

enum { CLOUDS_MAX = 8 };

/* NULL at the end. */
extern const struct cloud_adapter *const clouds[];

#endif
