/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/mem.h"
#include "decide/view_bound.h"
#include "lib/lib_private.h"

/* Steps of search that stint_controller_bound may take: some tens of milliseconds. */
enum { BOUND_NODES = 100000 };

static struct stint_reason reason_of(const struct plan_reason *why)
{
    return (struct stint_reason){
        .text = plan_reason_text(why->code),
        .chosen = why->chosen,
        .passed_over = why->passed_over,
        .passed_offer = why->passed_offer,
    };
}

static void keep_rents(struct stint_plan *kept, const struct plan *plan)
{
    MEM_ROOM(kept->rents, kept->rents_room, plan->rent_count);
    for (uint32_t i = 0; i < plan->rent_count; i++)
        kept->rents[i] = (struct stint_rent){
            .offer = plan->rents[i].offer,
            .why = reason_of(&plan->rents[i].why),
        };
    kept->rent_count = plan->rent_count;
}

static void keep_places(struct stint_plan *kept, const struct view *view, const struct plan *plan)
{
    MEM_ROOM(kept->places, kept->places_room, plan->place_count);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        kept->places[i] = (struct stint_place){
            .task = view->task.id[place->task],
            .instance = place->fresh ? 0 : view->instance.id[place->target],
            .rent = place->fresh ? place->target : STINT_NONE,
            .why = reason_of(&place->why),
        };
    }
    kept->place_count = plan->place_count;
}

static void keep_releases(struct stint_plan *kept, const struct view *view, const struct plan *plan)
{
    MEM_ROOM(kept->releases, kept->releases_room, plan->release_count);
    for (uint32_t i = 0; i < plan->release_count; i++)
        kept->releases[i] = (struct stint_release){
            .instance = view->instance.id[plan->releases[i].instance],
            .why = reason_of(&plan->releases[i].why),
        };
    kept->release_count = plan->release_count;
}

void lib_keep_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct stint_plan *kept = &((struct stint_controller *)context)->plan;

    keep_rents(kept, plan);
    keep_places(kept, view, plan);
    keep_releases(kept, view, plan);
}

void lib_plan_done(struct stint_plan *plan)
{
    mem_free(plan->rents);
    mem_free(plan->places);
    mem_free(plan->releases);
}

const struct stint_plan *stint_controller_plan(const struct stint_controller *controller)
{
    return &controller->plan;
}

uint32_t stint_plan_rent_count(const struct stint_plan *plan)
{
    return plan->rent_count;
}

uint32_t stint_plan_place_count(const struct stint_plan *plan)
{
    return plan->place_count;
}

uint32_t stint_plan_release_count(const struct stint_plan *plan)
{
    return plan->release_count;
}

int stint_plan_rent(const struct stint_plan *plan, uint32_t index, struct stint_rent *ret)
{
    if (index >= plan->rent_count)
        return -ENOENT;
    return lib_give(ret, &plan->rents[index], sizeof(*ret), sizeof(struct stint_rent));
}

int stint_plan_place(const struct stint_plan *plan, uint32_t index, struct stint_place *ret)
{
    if (index >= plan->place_count)
        return -ENOENT;
    return lib_give(ret, &plan->places[index], sizeof(*ret), sizeof(struct stint_place));
}

int stint_plan_release(const struct stint_plan *plan, uint32_t index, struct stint_release *ret)
{
    if (index >= plan->release_count)
        return -ENOENT;
    return lib_give(ret, &plan->releases[index], sizeof(*ret), sizeof(struct stint_release));
}

int64_t stint_controller_bound(const struct stint_controller *controller)
{
    return view_bound(controller_view(controller->control),
                      &(struct view_bound_spec){ .is_of_all = true, .node_most = BOUND_NODES })
        .bound;
}
