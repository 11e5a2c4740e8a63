/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_host.h - makes and ends the namespaces that are the machines of the local cloud.
 *
 * A machine is a process of local_init.h with a folder of its own and a veth link to a bridge.
 * Everything runs beside each other in the given loop; nothing here waits, but for the bridge, when
 * the server begins and ends. When its processes end the kernel takes link and namespaces away, so
 * nothing has to be undone; the folder stays, for whoever wants to read the console.
 *
 * Machine number n has the link <bridge>-n and the address x.y.(1 + k / 254).(1 + k % 254), where k is
 * n - 1 modulo 254 * 254: neither is used again soon.
 */
#ifndef STINT_CLOUD_LOCAL_HOST_H
#define STINT_CLOUD_LOCAL_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"

enum {
    LOCAL_BRIDGE_MAX = 8, /* letters, so that a link's name fits into 15 */
    LOCAL_ENV_MAX = 64,   /* variables that the server hands to every machine */
};

struct local_host;

struct local_host_config {
    uv_loop_t *loop;
    const char *program; /* stint-cloud-local itself */
    char *script;
    const char *state; /* a folder */
    const char *bridge;
    unsigned network[2];
    char *env[LOCAL_ENV_MAX + 1]; /* "K=V" for every script; ends with NULL */
    void (*on_up)(void *context, uint32_t row);
    void (*on_down)(void *context, uint32_t row);
    void *context;
};

/* A machine to be made, for its script's environment. */
struct local_order {
    uint32_t row;
    uint32_t number;
    const char *name;
    const char *type;
    const char *family;
    const char *market;
    const char *zone;
    const char *features;  /* of its type, with commas */
    const char *gpu_model; /* "": none is said */
    int64_t cpu_milli;
    int64_t mem_mib;
    int64_t accel_milli;
};

struct local_host *local_host_create(const struct local_host_config *config);

/* All machines must be down. */
void local_host_destroy(struct local_host *host);

/* Make it: on_up, then on_down, or on_down alone. false: it could not begin; nothing follows. */
bool local_host_boot(struct local_host *host, const struct local_order *order);

/* End it: on_down follows. */
void local_host_kill(struct local_host *host, uint32_t row);

/* Whether a job runs there (job_watch.h); yes, if that cannot be determined. */
bool local_host_is_busy(const struct local_host *host, uint32_t row);

/* Make the bridge if it is not there, and note in the state folder that Stint made it. */
int local_host_make_bridge(const struct local_host_config *config, struct error *reterr);

/* Remove the bridge if Stint made it. */
void local_host_remove_bridge(const struct local_host_config *config);

/* End the machines and remove the folders and the bridge that a killed server left. */
void local_host_cleanup(const struct local_host_config *config);

#endif
