/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_check.h - whether what a good configuration names can be used, by the code that will use it.
 *
 * Reads files, and touches nothing else: no socket, no program, no cloud.
 */
#ifndef STINT_DAEMON_DAEMON_CHECK_H
#define STINT_DAEMON_DAEMON_CHECK_H

#include "base/error.h"
#include "daemon/conf.h"

struct catalogue;

/* All that stops stintd at its start: the first that is wrong. */
int daemon_check(const struct conf *conf, struct error *reterr);

/* The parts, for those who want to know of all. What is not named is good. */
int daemon_check_catalogue(const struct conf *conf, struct catalogue *ret, struct error *reterr);
int daemon_check_accounting(const struct conf *conf, struct error *reterr);
int daemon_check_token(const struct conf *conf, struct error *reterr);
int daemon_check_certificate(const struct conf *conf, struct error *reterr);
int daemon_check_key(const struct conf *conf, struct error *reterr);

/* What keeps this configuration from another mode than shadow; NULL: nothing. */
const char *daemon_check_note(const struct conf *conf);

#endif
