/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_protocol.h - what stint-cloud-local and those who talk to it must agree on;
 * docs/reference/protocols/local.md has the words.
 */
#ifndef STINT_CLOUD_LOCAL_PROTOCOL_H
#define STINT_CLOUD_LOCAL_PROTOCOL_H

enum {
    LOCAL_PROTOCOL = 1,     /* what 'hello' carries */
    LOCAL_RENT_MAX = 1000,  /* machines of one request */
    LOCAL_NAME_MAX = 63,    /* letters of a machine's name, which is a host name */
    LOCAL_CLUSTER_MAX = 63, /* letters of a cluster's name */
    LOCAL_FAULT_MS_MAX = 3600000,
};

#define LOCAL_KEY_MAX (UINT64_MAX - LOCAL_RENT_MAX) /* of a request; so that no count overflows */

#endif
