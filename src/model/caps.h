/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caps.h - limits for a part of the work: for an account, a user, a partition, a QOS, or what else an engine tells
 * jobs apart by. Here they are numbers; whoever adds them knows their names.
 *
 * A job is under a set of caps, all of which hold. A machine counts in full for every cap that has a task on it, so
 * a machine that is shared by two accounts counts for both. Machines that are owned do not count.
 *
 * Promises:  equal sets have equal numbers. Set 0 has no caps.
 * Costs:     caps_set is O(sets), for there are as many as kinds of owners, and is asked once for each owner.
 * Memory:    the table's own.
 */
#ifndef STINT_MODEL_CAPS_H
#define STINT_MODEL_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { CAPS_PER_SET = 32 };

#define CAP_NONE UINT32_MAX

struct cap {
    uint32_t max_instances;     /* that have a task of it; 0: any number */
    money_t max_price_per_hour; /* of those, added up; 0: any */
    bool is_spent;              /* its budget is used up: nothing new starts */
};

struct cap_set {
    uint32_t count;
    uint32_t cap[CAPS_PER_SET]; /* in ascending order */
};

struct caps {
    struct cap *row;
    uint32_t count, room;
    struct cap_set *sets;
    uint32_t set_count, sets_room;
};

void caps_init(struct caps *caps);
void caps_done(struct caps *caps);

/* The number of a new cap. */
uint32_t caps_add(struct caps *caps, const struct cap *cap);

/* The number of the set of these, at most CAPS_PER_SET and each once, in any order. */
uint32_t caps_set(struct caps *caps, const uint32_t *cap, uint32_t count);

/* The first cap of the set whose budget is used up, or CAP_NONE. */
uint32_t caps_spent(const struct caps *caps, uint32_t set);

#endif
