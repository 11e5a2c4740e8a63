/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_cloud.h - the local cloud behind the cloud port: the daemon's end of the talk with
 * stint-cloud-local.
 *
 * It has no socket and no clock: whoever owns the connection hands over whole lines and sends what
 * it is given. What is asked through the port is noted and sent by local_cloud_flush, or once the
 * other side has said hello. What was not answered when a connection ends is asked again over the
 * next one; the other side does nothing twice. What happened while there was no connection is asked
 * for too, by a list of its own under the key 0, and reported as if it had just happened.
 *
 * Promises:  any bytes may come in; a line that makes no sense is counted and has no effect. News of
 *            machines that were never asked for here are passed on (they were rented by an earlier
 *            run of the daemon). Events are never reported from within an action.
 * Costs:     memory in proportion to what is asked and not answered.
 */
#ifndef STINT_CLOUD_LOCAL_CLOUD_H
#define STINT_CLOUD_LOCAL_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "control/ports/cloud_port.h"
#include "model/catalogue.h"

struct local_cloud;

struct local_cloud_config {
    const struct catalogue *catalogue; /* must outlive it; prices may change meanwhile */
    const char *cluster;               /* whose machines these are */
    const char *node_prefix;           /* machine 17 is called <prefix>17 */
    void (*on_event)(void *context, const struct cloud_event *event);
    void (*on_send)(void *context, const char *lines, size_t size);
    void *context;
};

/* The texts of 'config' are copied. */
struct local_cloud *local_cloud_create(const struct local_cloud_config *config);
void local_cloud_destroy(struct local_cloud *cloud);

struct cloud_port local_cloud_port(struct local_cloud *cloud);

/* The connection is open: say hello. */
void local_cloud_connected(struct local_cloud *cloud, msec_t now);

/* It is gone. */
void local_cloud_disconnected(struct local_cloud *cloud, msec_t now);

/* One line without its line feed, with room for one byte behind it; SIZE_MAX: it was too long. */
void local_cloud_line(struct local_cloud *cloud, msec_t now, char *text, size_t length);

/* Send what was asked since, if there is someone to send it to. */
void local_cloud_flush(struct local_cloud *cloud, msec_t now);

/* It has no timers. */
msec_t local_cloud_next_wake(const struct local_cloud *cloud);
void local_cloud_tick(struct local_cloud *cloud, msec_t now);

/* Whether the other side has said hello. */
bool local_cloud_is_ready(const struct local_cloud *cloud);

/* What was asked and not answered yet. */
uint32_t local_cloud_open_count(const struct local_cloud *cloud);

/* Lines that made no sense, and what was wrong with the last one, or "". */
uint64_t local_cloud_bad_lines(const struct local_cloud *cloud);
const char *local_cloud_complaint(const struct local_cloud *cloud);

#endif
