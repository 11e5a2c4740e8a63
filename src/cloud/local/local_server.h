/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_server.h - the socket of stint-cloud-local: who is connected, what they ask, what they are
 * answered, and the faults of a connection (late, double and lost answers).
 *
 * Promises:  a bad line is answered with 'error' and affects no other connection. Answers to one
 *            connection keep their order, late or not. Who does not read is cut off.
 */
#ifndef STINT_CLOUD_LOCAL_SERVER_H
#define STINT_CLOUD_LOCAL_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"
#include "base/units.h"
#include "cloud/local/local_world.h"

struct local_server;

struct local_server_config {
    uv_loop_t *loop;
    struct local_world *world;
    const char *socket;
    uint32_t mode; /* of the socket's file */
    uint64_t seed;
    msec_t (*now)(void *context);
    void *context;
};

/* Listen. */
int local_server_open(const struct local_server_config *config, struct local_server **ret,
                      struct error *reterr);

/* Cut everyone off and stop listening; freed by the loop, which must still run. */
void local_server_close(struct local_server *server);

/* Tell everyone who speaks for 'cluster'. */
void local_server_tell(struct local_server *server, const char *cluster, const char *lines,
                       uint32_t size);

/* Whether a client of 'cluster' is connected. */
bool local_server_hears(const struct local_server *server, const char *cluster);

#endif
