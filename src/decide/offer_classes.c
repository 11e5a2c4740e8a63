/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/offer_classes.h"

#include <assert.h>

#include "decide/reservation.h"

void offer_classes_init(struct offer_classes *classes, const struct view *view, struct arena *arena)
{
    *classes = (struct offer_classes){
        .view = view,
        .arena = arena,
        .count = view->catalogue->type_count,
    };
}

void offer_classes_note(struct offer_classes *classes, uint32_t shape)
{
    const uint32_t set = classes->view->shapes->rows[shape].offers;

    if (set == OFFERS_ALL)
        return;
    if (classes->noted == NULL) {
        const uint32_t count = classes->view->shapes->sets.texts.count;

        classes->noted = ARENA_ARRAY(classes->arena, bool, count);
        classes->sets = ARENA_ARRAY(classes->arena, uint32_t, count);
    }
    if (!classes->noted[set])
        classes->sets[classes->set_count++] = set;
    classes->noted[set] = true;
}

/* Tell those of each class that are in the set from those that are not, which stay in it. */
static void split(struct offer_classes *classes, uint32_t set)
{
    const struct offer_sets *sets = &classes->view->shapes->sets;
    const uint32_t offers = classes->view->catalogue->offer_count;
    uint32_t *with = ARENA_ARRAY(classes->arena, uint32_t, classes->count); /* new class + 1 */
    bool *has_others = ARENA_ARRAY(classes->arena, bool, classes->count);

    for (uint32_t offer = 0; offer < offers; offer++) {
        if (!offer_sets_has(sets, set, offer))
            has_others[classes->class_of[offer]] = true;
    }
    for (uint32_t offer = 0; offer < offers; offer++) {
        const uint32_t class = classes->class_of[offer];

        if (!has_others[class] || !offer_sets_has(sets, set, offer))
            continue;
        if (with[class] == 0)
            with[class] = ++classes->count;
        classes->class_of[offer] = with[class] - 1;
    }
}

void offer_classes_make(struct offer_classes *classes)
{
    const struct catalogue *catalogue = classes->view->catalogue;

    if (classes->set_count == 0)
        return;
    assert(classes->view->shapes->sets.offer_count == catalogue->offer_count);
    classes->class_of = ARENA_ARRAY(classes->arena, uint32_t, catalogue->offer_count);
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++)
        classes->class_of[offer] = catalogue->offers[offer].type;
    for (uint32_t i = 0; i < classes->set_count; i++)
        split(classes, classes->sets[i]);
}

uint32_t offer_classes_cheapest(const struct offer_classes *classes, uint32_t *ret)
{
    const struct view *view = classes->view;
    uint32_t *cheapest = ARENA_ARRAY(classes->arena, uint32_t, classes->count); /* offer + 1 */
    uint32_t count = 0;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        uint32_t *best = &cheapest[offer_class(classes, offer)];

        if (reservation_is_open(view, offer) &&
            (*best == 0 || view->offer_price[offer] < view->offer_price[*best - 1]))
            *best = offer + 1;
    }
    for (uint32_t i = 0; i < classes->count; i++) {
        if (cheapest[i] != 0)
            ret[count++] = cheapest[i] - 1;
    }
    return count;
}

bool offer_classes_imply(const struct offer_classes *classes, uint32_t offer, uint32_t other)
{
    const struct offer_sets *sets = &classes->view->shapes->sets;

    for (uint32_t i = 0; i < classes->set_count; i++) {
        if (offer_sets_has(sets, classes->sets[i], offer) &&
            !offer_sets_has(sets, classes->sets[i], other))
            return false;
    }
    return true;
}
