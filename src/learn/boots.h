/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boots.h - how long machines take until they take work, learned from those that did.
 *
 * A catalogue's boot times are a guess of whoever wrote it; those of a cluster depend on its image. What
 * is expected of a type is the median of its latest BOOTS_KEPT lessons, so that one slow boot changes
 * nothing; of a type with fewer than BOOTS_LEAST, the median of the latest of all types, as one image
 * boots much alike on all. The time until a machine is there is the cloud's affair, and that of all types:
 * were it a little different for each, no offer would be better than another in every way, and a plan
 * would have to weigh them all.
 *
 * Costs:     O(1) a lesson, a sort of BOOTS_KEPT numbers an answer. Memory per type.
 */
#ifndef STINT_LEARN_BOOTS_H
#define STINT_LEARN_BOOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { BOOTS_KEPT = 15, BOOTS_LEAST = 5 };

struct boot_times {
    msec_t acquire; /* from the request until the bill begins */
    msec_t setup;   /* from then until it takes work */
};

struct boot_lessons {
    uint32_t count; /* since ever; the latest BOOTS_KEPT are there */
    struct boot_times times[BOOTS_KEPT];
};

struct boots {
    struct boot_lessons *lessons; /* of each type, then those of all */
    uint32_t types;
};

void boots_init(struct boots *boots, uint32_t types);
void boots_done(struct boots *boots);

void boots_learn(struct boots *boots, uint32_t type, struct boot_times times);

/* False: too little is known. */
bool boots_expect(const struct boots *boots, uint32_t type, struct boot_times *ret);

#endif
