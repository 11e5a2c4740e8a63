/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_adapter.h - namespaces of one host as one of the daemon's clouds.
 */
#ifndef STINT_CLOUD_LOCAL_ADAPTER_H
#define STINT_CLOUD_LOCAL_ADAPTER_H

#include "cloud/cloud_adapter.h"

/* The map 'cloud' of a configuration whose kind is local. */
struct local_settings {
    const char *socket; /* of stint-cloud-local */
};

extern const struct cloud_adapter local_adapter;

#endif
