/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib_private.h - what stands behind the opaque structs of include/stint/, and what checks enter by.
 *
 * This layer trusts no caller: whatever the layers below assert of their arguments is checked here and answered
 * with an error, so that no call of a program that embeds the library can abort it.
 */
#ifndef STINT_LIB_LIB_PRIVATE_H
#define STINT_LIB_LIB_PRIVATE_H

#include <stint/stint.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/names.h"
#include "control/controller.h"
#include "model/catalogue.h"
#include "model/shape.h"

struct stint_catalogue {
    struct catalogue rows;
    uint32_t price_points;
};

struct stint_settings {
    struct controller_config config; /* only what keys can set */
};

/* In ids, as rows are used again. */
struct stint_plan {
    struct stint_rent *rents;
    struct stint_place *places;
    struct stint_release *releases;
    uint32_t rent_count, rents_room;
    uint32_t place_count, places_room;
    uint32_t release_count, releases_room;
};

struct stint_controller {
    struct controller *control;
    struct catalogue catalogue;
    uint32_t *price_room; /* of each offer's series */
    struct shapes shapes;
    struct names job_names;
    struct names user_names;
    struct stint_engine engine;
    struct engine_ops engine_ops; /* those that call it */
    struct stint_cloud cloud;
    struct stint_books books;
    struct stint_plan plan;
    bool is_busy; /* a call that may call ports is under way */
};

/* An error whose text is 'what'. */
int lib_fail(struct stint_error *reterr, int code, const char *what);

/* The same for what went wrong below. */
int lib_fail_as(struct stint_error *reterr, int code, const struct error *error);

/*
 * Copy a struct that begins with its size, filled by a caller who may know more or fewer fields of it than we
 * do. Fields that are not given are 0; fields that we do not know must be. 'least' is the size in the first
 * release.
 */
int lib_take(void *ret, size_t size, const void *given, size_t least);

/* The other way: as much of 'from' as the caller has room for. */
int lib_give(void *ret, const void *from, size_t size, size_t least);

static inline bool lib_is_time(int64_t at)
{
    return at >= 0 && at <= LIMIT_TIME_MS;
}

/* Whether every amount is in its range and at least one is not 0. */
bool lib_read_resources(const struct stint_resources *given, struct res *ret);
struct stint_resources lib_resources(const struct res *res);

/* Whether there is such a name and it is not too long. */
bool lib_is_name(const char *name);

/* All keys at their defaults. */
void lib_settings_defaults(struct controller_config *ret);

/* -EBUSY: from inside a port. */
int lib_enter(struct stint_controller *controller);
void lib_leave(struct stint_controller *controller);

/* What controller_config.on_plan wants. */
void lib_keep_plan(void *context, const struct view *view, const struct plan *plan);
void lib_plan_done(struct stint_plan *plan);

#endif
