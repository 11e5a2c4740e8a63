/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - what the daemon says to whoever looks after it: lines on standard error.
 *
 * Fixed words, then key=value. Under systemd each line begins with its level for the journal. What
 * comes from outside is made printable, so that nobody can forge a line. Secrets never get here.
 *
 * The level is the one global of the daemon.
 */
#ifndef STINT_DAEMON_LOG_H
#define STINT_DAEMON_LOG_H

#include "daemon/conf.h"

/* Say lines of this level and the more serious ones. */
void log_set_level(enum conf_log_level level);

void log_say(enum conf_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define LOG_ERROR(...)   log_say(CONF_LOG_ERROR, __VA_ARGS__)
#define LOG_WARNING(...) log_say(CONF_LOG_WARNING, __VA_ARGS__)
#define LOG_INFO(...)    log_say(CONF_LOG_INFO, __VA_ARGS__)
#define LOG_DEBUG(...)   log_say(CONF_LOG_DEBUG, __VA_ARGS__)

#endif
