/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h - stintd: the controller between a real engine and a real cloud.
 *
 * One thread and one loop (libuv) around core.h. Whatever happens outside becomes an event in one
 * queue; each turn of the loop works it off:
 *
 *     events -> controller -> decision, if it is time -> gate -> store -> gate -> engine and cloud
 *
 *  1. Nothing is decided before both lists of the first audit have ended, while a link is down, or
 *     while the store cannot be written: nothing is rented or placed without a journal. After 10 s of
 *     that, machines that are or become empty are returned without it.
 *  2. News that come together are decided together: the decision waits 'decide_delay' from the first.
 *  3. A clean stop leaves machines and jobs as they are; the next start finds them.
 */
#ifndef STINT_DAEMON_DAEMON_H
#define STINT_DAEMON_DAEMON_H

#include "base/error.h"
#include "daemon/conf.h"

/* Run until a signal ends it. 'path' is for reloading. Takes 'conf'. */
int daemon_run(const char *path, struct conf *conf, struct error *reterr);

#endif
