/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_path.h - where stintd keeps its books: as an option says, as the configuration says, or the usual place.
 */
#ifndef STINT_CLI_STATE_PATH_H
#define STINT_CLI_STATE_PATH_H

#include "base/error.h"
#include "store/store_care.h"

#define STATE_CONF_PATH "/etc/stint/stint.conf"

/* Each may be NULL. What the mode shadow writes is in a file of its own, and '*ret_shadow' says that it is that one. */
int state_path(const char *conf, const char *state, char ret[STORE_PATH_ROOM], bool *ret_shadow,
               struct error *reterr);

#endif
