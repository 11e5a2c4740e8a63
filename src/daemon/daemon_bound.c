/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machines could cost at the least, beside what they cost: the bound of the tasks that are placed is
 * sought in the background, in small pieces. Each is about a millisecond, in turns that decide nothing, not more
 * often than every 20 ms: a twentieth of the time, and no decision waits for it. How much is sought is counted in steps,
 * not in time, so the same view has the same bound. What is shown is the last search that ended.
 */
#include "daemon/daemon_private.h"

static const msec_t piece_every_ms = 20;

/* A new search begins at most so often, and only if something has changed; or else prices may have, after a while. */
static const msec_t search_every_ms = 10 * MSEC_PER_SEC;
static const msec_t search_anyway_ms = 600 * MSEC_PER_SEC;

/* One a minute is kept, to be drawn beside what was spent. */
static const msec_t keep_every_ms = 60 * MSEC_PER_SEC;

enum {
    PIECE_STEPS = 4000,
    SEARCH_STEPS = 400000, /* of the bound by fillings: two seconds of pieces */
    SINGLE_STEPS = 8000,   /* of a search that cannot be cut */
};

/* Whether there is something new to look at. */
static bool is_due(const struct daemon *daemon)
{
    const struct view *view = controller_view(daemon->controller);

    return controller_is_audited(daemon->controller) &&
           (view_changes_end(view) != daemon->bound_changes ||
            daemon->now - daemon->world.bound.at >= search_anyway_ms);
}

static void begin(struct daemon *daemon)
{
    const struct view *view = controller_view(daemon->controller);

    daemon->bound_changes = view_changes_end(view);
    daemon->bound = view_bound_begin(view, &(struct view_bound_spec){
                                               .node_most = SEARCH_STEPS,
                                               .search_most = SINGLE_STEPS,
                                           });
    daemon->bound_next = daemon->now + search_every_ms;
}

static void keep(struct daemon *daemon)
{
    const struct view_bound_answer *bound = &daemon->world.bound;

    if (bound->at < daemon->bound_kept_at + keep_every_ms)
        return;
    daemon->bound_kept_at = bound->at;
    journal_bound(
        &daemon->journal,
        &(struct store_bound){ .at = bound->at, .cost = bound->cost, .least = bound->bound });
}

static void end(struct daemon *daemon)
{
    daemon->world.bound = view_bound_so_far(daemon->bound);
    daemon->world.has_bound = true;
    keep(daemon);
    view_bound_destroy(daemon->bound);
    daemon->bound = NULL;
    daemon->bound_at = daemon->bound_next;
}

void daemon_seek_bound(struct daemon *daemon)
{
    if (daemon->now < daemon->bound_at || daemon->has_decided)
        return;
    daemon->bound_at = daemon->now + piece_every_ms;
    if (daemon->bound == NULL && is_due(daemon))
        begin(daemon);
    if (daemon->bound == NULL)
        daemon->bound_at = daemon->now + search_every_ms;
    else if (!view_bound_go_on(daemon->bound, PIECE_STEPS))
        end(daemon);
}
