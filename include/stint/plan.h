/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what the last decision of a controller said: what to rent, where to put tasks, what to let go, and
 * why. A plan names only what changes.
 *
 * A controller without ports carries nothing out: tell it what there is, let it decide, read the plan. That
 * is the answer to "what would you do".
 *
 * Memory:  a plan belongs to its controller; it is valid until the next decision or the end of the
 *          controller. Texts live for ever.
 */
#ifndef STINT_PLAN_H
#define STINT_PLAN_H

#include <string.h>

#include <stint/common.h>

struct stint_controller;
struct stint_plan;

/* Prices are dollars per hour for the same tasks: of a machine to rent for all that is placed there, of a task on a machine that
 * there is for its share of it. The alternative is always another offer. */
struct stint_reason {
    const char *text;      /* "the cheapest machine that holds the task by itself" */
    int64_t chosen;        /* the price of what was chosen */
    int64_t passed_over;   /* of the best alternative; STINT_MONEY_UNKNOWN: there was none */
    uint32_t passed_offer; /* that alternative, or STINT_NONE */
};

struct stint_rent {
    size_t size;
    uint32_t offer;
    struct stint_reason why;
};

struct stint_place {
    size_t size;
    uint64_t task;
    uint64_t instance; /* that there is, or 0: see 'rent' */
    uint32_t rent;     /* index of the machine that this plan rents for it, or STINT_NONE */
    struct stint_reason why;
};

struct stint_release {
    size_t size;
    uint64_t instance;
    struct stint_reason why;
};

static inline void stint_rent_init(struct stint_rent *rent)
{
    memset(rent, 0, sizeof(*rent));
    rent->size = sizeof(*rent);
}

static inline void stint_place_init(struct stint_place *place)
{
    memset(place, 0, sizeof(*place));
    place->size = sizeof(*place);
}

static inline void stint_release_init(struct stint_release *release)
{
    memset(release, 0, sizeof(*release));
    release->size = sizeof(*release);
}

STINT_BEGIN

/* Never NULL; before the first decision it is empty. */
STINT_API const struct stint_plan *stint_controller_plan(const struct stint_controller *controller);

STINT_API uint32_t stint_plan_rent_count(const struct stint_plan *plan);
STINT_API uint32_t stint_plan_place_count(const struct stint_plan *plan);
STINT_API uint32_t stint_plan_release_count(const struct stint_plan *plan);

/* -ENOENT: there are not so many. 'ret' is filled up to its size. */
STINT_API int stint_plan_rent(const struct stint_plan *plan, uint32_t index,
                              struct stint_rent *ret);
STINT_API int stint_plan_place(const struct stint_plan *plan, uint32_t index,
                               struct stint_place *ret);
STINT_API int stint_plan_release(const struct stint_plan *plan, uint32_t index,
                                 struct stint_release *ret);

/* The least, per hour, that any choice of machines costs that runs all tasks that live at the same time, at
 * current prices; whole tasks count, where there are not more than a few hundred shapes. O(tasks + shapes x
 * offers), and up to some tens of milliseconds of search. */
STINT_API int64_t stint_controller_bound(const struct stint_controller *controller);

STINT_END

#endif
