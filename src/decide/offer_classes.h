/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_classes.h - offers of one type that the work at hand treats alike.
 *
 * Some work may run on some offers only. To a decision about it, two offers of one type differ in their price and
 * bill only, if every set of offers that this work has (model/offer_set.h) has both or neither: they are one
 * class, of which the cheapest is enough. Where nothing is constrained a class is a type.
 *
 * Costs:   O(sets of the work x offers), and nothing for work that may run on all.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_OFFER_CLASSES_H
#define STINT_DECIDE_OFFER_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/view.h"

struct offer_classes {
    const struct view *view;
    struct arena *arena;
    uint32_t *sets; /* of the work that was noted, each once */
    bool *noted;    /* per set, while they are noted */
    uint32_t set_count;
    uint32_t *class_of; /* per offer; NULL: its type is its class */
    uint32_t count;
};

/* First, all work is noted; then the classes are made. */
void offer_classes_init(struct offer_classes *classes, const struct view *view,
                        struct arena *arena);
void offer_classes_note(struct offer_classes *classes, uint32_t shape);
void offer_classes_make(struct offer_classes *classes);

/* The class of the offer, below 'count'. */
static inline uint32_t offer_class(const struct offer_classes *classes, uint32_t offer)
{
    return classes->class_of != NULL ? classes->class_of[offer]
                                     : classes->view->catalogue->offers[offer].type;
}

/* Of each class the cheapest offer that is open, in the order of the classes; returns how many there are.
 * 'ret' has room for 'count'. */
uint32_t offer_classes_cheapest(const struct offer_classes *classes, uint32_t *ret);

/* Whether all work that may run on 'offer' may run on 'other' too, as far as sets tell. */
bool offer_classes_imply(const struct offer_classes *classes, uint32_t offer, uint32_t other);

#endif
