/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_request.h - what may be asked of stint-cloud-local.
 *
 * One table says which fields each word must have and which it may have; a field that the word does
 * not know is refused, so that a misspelt one is never ignored.
 *
 * Promises:  any parsed line may be given. A prefix that is let through makes, with any id behind
 *            it, a name that is good for a host, a folder and a log.
 * Memory:    a request points into the line that it was read from.
 */
#ifndef STINT_CLOUD_LOCAL_REQUEST_H
#define STINT_CLOUD_LOCAL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/line.h"

enum local_verb {
    LOCAL_HELLO,
    LOCAL_RENT,
    LOCAL_GIVE_BACK,
    LOCAL_LIST,
    LOCAL_REVOKE,
    LOCAL_FAULT,
    LOCAL_CAPACITY,
};

/* What goes wrong on purpose. */
enum local_fault {
    LOCAL_FAULT_REFUSE,    /* of 1,000 rents */
    LOCAL_FAULT_DUPLICATE, /* of 1,000 answers */
    LOCAL_FAULT_CUT,       /* of 1,000 requests: the connection ends after the action */
    LOCAL_FAULT_DELAY_MS,  /* each answer waits up to this long */
    LOCAL_FAULT_QUOTA,     /* machines in all; LOCAL_NO_LIMIT: any number */
    LOCAL_FAULT_KINDS,
};

#define LOCAL_NO_LIMIT UINT32_MAX

struct local_request {
    enum local_verb verb;
    uint64_t key;
    uint32_t protocol; /* of LOCAL_HELLO */
    const char *cluster;
    uint32_t count; /* of LOCAL_RENT: machines; of LOCAL_CAPACITY: LOCAL_NO_LIMIT if left out */
    const char *offer;
    const char *prefix;
    bool has_id; /* of LOCAL_REVOKE; without: any machine */
    uint64_t id;
    uint32_t notice_ms;
    bool is_fault_given[LOCAL_FAULT_KINDS];
    uint32_t fault[LOCAL_FAULT_KINDS];
};

int local_request_read(const struct line *line, struct local_request *ret, struct error *reterr);

/* The fault that 'key' names, its value checked; LOCAL_FAULT_KINDS: no such, or no such value. */
enum local_fault local_fault_read(const char *key, const char *value, uint32_t *ret);

#endif
