/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - the world as a decision sees it: jobs, tasks, instances, offers, and now.
 *
 * The controller keeps one view up to date, event by event; a decision reads it and changes
 * nothing. Tables are columns addressed by 32-bit rows; a row that is freed is used again, an id is
 * not. Tests build views by the same functions.
 *
 * Invariants:
 *  1. a task is in exactly one list: the waiting list, or that of the one instance it is bound to;
 *     only one that is hidden is in none;
 *  2. 'used' of an instance is the sum of the demands of the tasks bound to it, and never above its
 *     capacity, unless it is crowded;
 *  3. lists are in the order of entry, so that equal histories give equal iterations;
 *  4. no two tasks of jobs that keep apart from each other are bound to one instance, unless it is crowded;
 *  5. nothing that has happened is later than 'now', and 'now' never goes back.
 *
 * Changes: whatever changes an instance or a task that is bound to it writes the instance's row into a log, so
 *          that who keeps an index of them (decide/machine_index.h) looks again at these rows alone.
 * Costs:   every change is O(1) (amortised), but view_add_job is O(its tasks). 136 bytes a task,
 *          170 an instance.
 * Memory:  owned by the view; catalogue and shapes are borrowed and outlive it.
 */
#ifndef STINT_MODEL_VIEW_H
#define STINT_MODEL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/units.h"
#include "model/burst_rule.h"
#include "model/catalogue.h"
#include "model/job_rules.h"
#include "model/res.h"
#include "model/shape.h"

#define ROW_NONE  UINT32_MAX
#define RATE_NONE UINT32_MAX /* no throughput reported */

enum { RATE_FULL_PPM = 1000000 };

enum task_state {
    TASK_FREE,    /* the row is not in use */
    TASK_WAITING, /* bound to nothing */
    TASK_BOUND,   /* bound to an instance, on its way there: booting, leaving another, launching */
    TASK_RUNNING, /* launched on its instance */
    TASK_HIDDEN,  /* waits, and is not shown to the decision: see view_show_waiting */
};

enum instance_state {
    INSTANCE_FREE,      /* the row is not in use */
    INSTANCE_REQUESTED, /* asked for; not billed yet */
    INSTANCE_BOOTING,   /* runs and is billed, takes no work yet */
    INSTANCE_READY,
    INSTANCE_DRAINING, /* takes no more work; goes back when its last task has left */
    INSTANCE_RETURNED, /* returned; the cloud has not confirmed yet */
};

/*
 * Each column: type and name. A row of 'task' belongs to a row of 'job'.
 */
/* clang-format off */
#define TASK_COLUMNS(X) \
    X(uint64_t, id)             /* the engine's, stable */ \
    X(uint64_t, run_key)        /* of the action that put it where it is, 0: none */ \
    X(uint64_t, order)          /* of arrival; breaks ties */ \
    X(uint32_t, job) \
    X(uint32_t, shape) \
    X(uint32_t, instance)       /* bound to, or ROW_NONE */ \
    X(uint32_t, next)           /* in the waiting list or the instance's */ \
    X(uint32_t, prev) \
    X(uint32_t, sibling)        /* next task of the same job */ \
    X(uint32_t, sibling_prev) \
    X(uint32_t, rate_ppm)       /* reported throughput, of its full speed; RATE_NONE */ \
    X(uint32_t, launches)       /* times it was launched so far */ \
    X(uint32_t, stops)          /* times it was stopped so far */ \
    X(msec_t, estimate_ms)      /* of its whole runtime, at full speed; MSEC_NEVER: it has no end */ \
    X(msec_t, executed_ms)      /* in earlier launches */ \
    X(msec_t, saved_ms)         /* of that, what was saved as it was stopped */ \
    X(msec_t, lost_ms)          /* and what went with machines that were lost */ \
    X(msec_t, launched_at)      /* of the current launch, or -1 */ \
    X(msec_t, bound_at)         /* of the current binding, or -1 */ \
    X(uint8_t, state)           /* enum task_state */

#define JOB_COLUMNS(X) \
    X(uint64_t, id) \
    X(uint64_t, kin)            /* see job_spec */ \
    X(msec_t, arrived_at) \
    X(msec_t, more_until)       /* see job_spec */ \
    X(uint32_t, name)           /* numbers given by the engine; equal ones are equal names */ \
    X(uint32_t, user) \
    X(uint32_t, priority)       /* higher values come first where not all can be served */ \
    X(uint32_t, caps)           /* the set of limits that it is under, see model/caps.h; 0: none */ \
    X(uint32_t, short_ppb)      /* see job_spec */ \
    X(uint32_t, apart)          /* what its tasks keep apart from, see model/apart.h; ROW_NONE: nothing */ \
    X(uint32_t, first_task)     /* in the list by 'sibling' */ \
    X(uint32_t, task_count)     /* that it came with */ \
    X(uint32_t, tasks_left)     /* that have not finished */ \
    X(uint32_t, tasks_bound)    /* to an instance; running ones are */ \
    X(uint32_t, tasks_running) \
    X(uint32_t, ruled_next)     /* among those whose rules for markets change with time, the last that came first */ \
    X(uint32_t, ruled_prev) \
    X(msec_t, spot_until)       /* until then spot machines only, then all others; MSEC_NEVER: no end */ \
    X(msec_t, deadline)         /* it should have ended by then; MSEC_NEVER: whenever */ \
    X(msec_t, safe_from)        /* from then on no spot machines, for the deadline; decide/market_rules.h keeps it */ \
    X(msec_t, burst_after)      /* see model/burst_rule.h */ \
    X(money_t, waiting_hour) \
    X(uint8_t, market)          /* enum market_rule */ \
    X(uint8_t, gang)            /* its tasks run together or not at all, and share one pace */ \
    X(uint8_t, fixed)           /* its running tasks are never moved: a stop would lose their work */ \
    X(uint8_t, yields)          /* see job_spec */ \
    X(uint8_t, unknown)         /* see job_spec */ \
    X(uint8_t, mixed)           /* its tasks came with several shapes */ \
    X(uint8_t, used)            /* whether the row is in use */

#define INSTANCE_COLUMNS(X) \
    X(uint64_t, id)             /* the key of the action that rented it */ \
    X(uint32_t, offer) \
    X(uint32_t, first_task)     /* bound to it, in order of binding */ \
    X(uint32_t, last_task) \
    X(uint32_t, task_count) \
    X(uint32_t, next)           /* living instances, in order of renting */ \
    X(uint32_t, prev) \
    X(uint32_t, empty_next)     /* among those without tasks, by time of emptying */ \
    X(uint32_t, empty_prev) \
    X(uint32_t, owner)          /* user whose task was bound to it last, or NAME_NONE */ \
    X(struct res, capacity)     /* what it has: as its type, unless the engine has said otherwise */ \
    X(struct res, used)         /* by the tasks that are bound to it */ \
    X(msec_t, rented_at) \
    X(msec_t, ready_expected)   /* when it was expected to take work, as it was rented */ \
    X(msec_t, billed_from)      /* -1: not billed yet */ \
    X(msec_t, empty_since)      /* without tasks since; of use while it is empty */ \
    X(msec_t, under_half_since) /* used by less than half in every kind; MSEC_NEVER: it is not */ \
    X(msec_t, steady_since)     /* no task has come to it or left it, and it has had as much room */ \
    X(uint8_t, has_shrunk)      /* a task has ended on it */ \
    X(msec_t, deadline)         /* the cloud takes it, not before then; MSEC_NEVER: it has not said so */ \
    X(uint8_t, state)           /* enum instance_state */ \
    X(uint8_t, crowded)         /* the engine runs more there than we think it holds */
/* clang-format on */

#define VIEW_COLUMN(type, name) type *name;

struct task_table {
    TASK_COLUMNS(VIEW_COLUMN)
    uint32_t count; /* rows ever used */
    uint32_t room;
    uint32_t free_row; /* first free row, chained by 'next' */
    uint32_t waiting_first;
    uint32_t waiting_last;
    uint32_t waiting_count;
    uint32_t living; /* tasks that have not finished */
};

/* Living jobs that arrived within one span of time; see view_arrivals. */
enum { ARRIVALS_SPANS = 16 };

#define VIEW_ARRIVALS_MS (4 * MSEC_PER_HOUR)

struct arrivals {
    int64_t span; /* the number of the span */
    uint32_t jobs;
};

struct job_table {
    JOB_COLUMNS(VIEW_COLUMN)
    uint32_t ruled_first; /* with rules for markets that change with time */
    uint32_t count;
    uint32_t room;
    uint32_t free_row; /* chained by 'first_task' */
    uint32_t living;
    uint32_t promised; /* of them, those with a promise */
    uint32_t unknowns; /* and those of unknown runtime */
    uint32_t movables; /* and those that are not fixed */
    struct arrivals recent[ARRIVALS_SPANS];
};

struct instance_table {
    INSTANCE_COLUMNS(VIEW_COLUMN)
    uint32_t count;
    uint32_t room;
    uint32_t free_row; /* chained by 'next' */
    uint32_t first;    /* living, in order of renting */
    uint32_t last;
    uint32_t living;
    uint32_t requested;   /* of them, those that are no more than asked for */
    uint32_t empty_first; /* living and without tasks */
    uint32_t empty_last;
};

/* The rows of instances that changed, in order. Each reader remembers how far it has read; the log is cut
 * when it has become long, and a reader that has not read it by then must look at everything. */
struct change_log {
    uint32_t *rows;
    uint32_t count;
    uint32_t room;
    uint64_t begin; /* the number of rows[0]: so many were cut */
};

struct view {
    msec_t now;
    msec_t round_ms; /* decisions are made so far apart; 0: whenever one is asked for */
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    struct task_table task;
    struct job_table job;
    struct instance_table instance;
    struct map task_by_id;
    struct map job_by_id;
    struct map instance_by_id;
    uint64_t next_order;
    struct change_log changes;

    /* What each offer costs per hour now, until when it is not to be asked for again, and until when it would
     * probably be refused. */
    money_t *offer_price;
    msec_t *offer_blocked_until;
    msec_t *offer_doubted_until;
    uint32_t offer_count; /* of which that is known */

    /* After how long a machine of each offer is taken away, on average: by what was learned, else by the catalogue;
     * MSEC_NEVER: not known. */
    msec_t *offer_lasts;
    msec_t *offer_risk_changed; /* when that became another one, by a quarter and more; 0: never */
    msec_t notice_ms;           /* that the cloud takes a machine is announced so long before, */
    uint32_t notice_ppm;        /* in so many cases of a million */

    /* Of each shape: the cheapest offer that holds one task, and its price; see
     * decide/reservation.h, which keeps them. OFFER_NONE: no offer does. */
    uint32_t *shape_offer;
    money_t *shape_price;
    uint32_t shapes_priced;
    uint32_t shapes_priced_room;
    uint32_t shapes_offer_room;
};

enum { JOB_PARTS_MAX = 8 };

/* Tasks of a job that are alike. */
struct job_part {
    uint32_t shape;
    uint32_t task_count;
};

struct job_spec {
    uint64_t id;
    uint64_t first_task_id; /* its tasks have this id and those that follow */
    uint64_t
        kin; /* equal for jobs submitted as one, which run about as long; 0: it has none. Kin of a job with a promise that have
                     none are spares of it */
    uint64_t
        apart; /* equal for jobs of which no two tasks may be on one instance; 0: none. Implies 'spread' */
    uint32_t
        keeps; /* instead of these two: what its tasks keep apart from, a number of aparts_add of the view's shapes; 0: see them */
    uint32_t name;
    uint32_t user;
    uint32_t shape;
    uint32_t task_count;
    uint32_t priority; /* above others where not all can be served; 0: like all */
    uint32_t caps;     /* the set of limits that it is under; 0: none */
    uint32_t
        short_ppb; /* billionths of the time in which there may be machines for fewer of its tasks; 0:
                           nothing is promised. Not of a gang */
    bool gang;
    bool fixed;
    bool spread; /* no two of its tasks may be on one instance */
    bool
        unknown; /* of its runtime hardly more is known than its time limit, which is the estimate then */
    bool yields; /* it may be stopped for a service, even if it is fixed and its work is lost */
    msec_t arrived_at;
    msec_t
        more_until; /* the engine expects more jobs by then, of the crowd that it came with; 0: none */
    msec_t estimate_ms;     /* 0 or more; MSEC_NEVER: it has no end */
    struct job_rules rules; /* if there are any, the shape has variants for markets */
    struct burst_rule burst;
    uint32_t part_count;                  /* of a job whose tasks are not all alike; 0: they are */
    struct job_part parts[JOB_PARTS_MAX]; /* its tasks in this order; 'shape' is that of the first,
                                             and all have variants if one has, for the same zones and markets */
};

void view_init(struct view *view, const struct catalogue *catalogue, const struct shapes *shapes);
void view_done(struct view *view);

/* The same world, every row where it was, with shapes that have at least those of 'from' (view_copy.c); 'to' is not
 * initialised. O(rows). */
void view_copy(struct view *to, const struct view *from, const struct shapes *shapes);

/* The catalogue has got more offers: they can be asked for, at their price of now. */
void view_catalogue_grew(struct view *view);

/* The row of a thing by its id, or ROW_NONE. */
uint32_t view_find_task(const struct view *view, uint64_t id);
uint32_t view_find_job(const struct view *view, uint64_t id);
uint32_t view_find_instance(const struct view *view, uint64_t id);

/* A new job; its tasks join the waiting list. Returns its row. */
uint32_t view_add_job(struct view *view, const struct job_spec *spec);

/* How many of the living jobs arrived within the last VIEW_ARRIVALS_MS, to a sixteenth of it. O(1). */
uint32_t view_arrivals(const struct view *view);

/* 'count' tasks more for a job that lives, with the ids from 'first_task_id' on, like those that it has. */
void view_grow_job(struct view *view, uint32_t job, uint64_t first_task_id, uint32_t count);

/* Other rules for a job. Those that a shape has no variants for are not kept. */
void view_set_rules(struct view *view, uint32_t job, const struct job_rules *rules);

/* What is expected of all its tasks, and whether it is known; see job_spec. O(its tasks). */
void view_set_estimate(struct view *view, uint32_t job, msec_t estimate_ms, bool unknown);

/* A new instance in state INSTANCE_REQUESTED. Returns its row. */
uint32_t view_add_instance(struct view *view, uint64_t id, uint32_t offer);

/* Bind a task to an instance that has room for it; it leaves where it was bound or waited. */
void view_bind(struct view *view, uint32_t task, uint32_t instance);

/* The same for a task that runs there by the engine's word: there may be no room by what we know, the
 * instance may be on its way out, and its type one that the task should not run on. If its shape has variants
 * the task gets the one of that place. */
void view_bind_found(struct view *view, uint32_t task, uint32_t instance);

/* Another variant of its shape for a task; if it is bound, one that may run where it is. */
void view_set_variant(struct view *view, uint32_t task, uint32_t variant);

/* Take a task off its instance, to the end of the waiting list. */
void view_unbind(struct view *view, uint32_t task);

/* Of the tasks that wait the list has these, in this order, and no others until it is set again. To be
 * used around a decision only: nothing else may change while some are hidden. O(waiting + count). */
void view_show_waiting(struct view *view, const uint32_t *tasks, uint32_t count);

/* The task was launched on the instance that it is bound to, at 'at'. */
void view_mark_running(struct view *view, uint32_t task, msec_t at);

/* The same for one that was to be stopped and was not: the launch is the one that it had. */
void view_mark_resumed(struct view *view, uint32_t task, msec_t at);

/* The task runs no more, at 'at'; it stays bound. What it executed is kept. */
void view_mark_stopped(struct view *view, uint32_t task, msec_t at);

/* What it executed until it was stopped is saved, or lost but for what it saved by itself. */
void view_note_saved(struct view *view, uint32_t task);

/* The charge for an instance if it is returned now. It includes the minimum and the rest of the billing step. */
struct view_charge {
    msec_t from; /* the time that is paid */
    msec_t to;
    money_t cost;
};
struct view_charge view_charge_now(const struct view *view, uint32_t instance, msec_t now);

void view_note_lost(struct view *view, uint32_t task);

/* The task executed so much more, in a launch that was taken for stopped and was not yet. */
void view_add_executed(struct view *view, uint32_t task, msec_t ms);

/* The task has ended: its row is freed, and its job's with the last one (then: true). */
bool view_finish_task(struct view *view, uint32_t task);

/* The instance, which has no tasks, is no more. */
void view_remove_instance(struct view *view, uint32_t instance);

/* What the instance has. */
static inline const struct res *view_capacity(const struct view *view, uint32_t instance)
{
    return &view->instance.capacity[instance];
}

/* The instance has this, whatever its type has. What runs there stays; it may be crowded from now on. */
void view_set_capacity(struct view *view, uint32_t instance, const struct res *capacity);

/* The state of an instance, since when it is billed (-1: it is not), and when it is expected to take work. These are
 * columns that others may read, but must change by these. */
void view_set_state(struct view *view, uint32_t instance, enum instance_state state);
void view_set_billed_from(struct view *view, uint32_t instance, msec_t at);
void view_set_ready_expected(struct view *view, uint32_t instance, msec_t at);
void view_set_deadline(struct view *view, uint32_t instance, msec_t at);

/* The number that the next change will have in the log. */
static inline uint64_t view_changes_end(const struct view *view)
{
    return view->changes.begin + view->changes.count;
}

/* Whether it is owned: neither rented nor ever returned. */
static inline bool view_is_owned(const struct view *view, uint32_t instance)
{
    return view->catalogue->offers[view->instance.offer[instance]].is_owned;
}

/* What is left of it. */
struct res view_free(const struct view *view, uint32_t instance);

/* What a task of the shape takes of the instance, or NULL: it may not run there. */
static inline const struct res *view_shape_demand(const struct view *view, uint32_t shape,
                                                  uint32_t instance)
{
    return shape_taken(view->shapes, shape, view->catalogue, view->instance.offer[instance],
                       &view->instance.capacity[instance]);
}

/* The same for a task. */
static inline const struct res *view_demand(const struct view *view, uint32_t task,
                                            uint32_t instance)
{
    return view_shape_demand(view, view->task.shape[task], instance);
}

/* What the task takes of the instance; nothing, if it should not run there. */
const struct res *view_taken(const struct view *view, uint32_t task, uint32_t instance);

/* Whether new work may be bound to the instance (requested, booting or ready). */
bool view_is_open(const struct view *view, uint32_t instance);

/* How long the task has executed, up to now. */
msec_t view_executed(const struct view *view, uint32_t task);

/* The same without what was lost and is to be done again. */
static inline msec_t view_progress(const struct view *view, uint32_t task)
{
    return view_executed(view, task) - view->task.lost_ms[task];
}

/* Whether every task of the job runs. */
bool view_job_is_settled(const struct view *view, uint32_t job);

/* Whether tasks of the job that are bound may be put elsewhere: it is settled, and not fixed. */
bool view_job_may_move(const struct view *view, uint32_t job);

/* Whether a task of the job is bound to the instance. O(tasks there). */
bool view_job_is_on(const struct view *view, uint32_t job, uint32_t instance);

/* Whether the job's tasks keep apart from anything: from each other, or from tasks of other jobs. */
static inline bool view_has_apart(const struct view *view, uint32_t job)
{
    return view->job.apart[job] != ROW_NONE;
}

/* Whether no task with the one 'apart' may be beside one with the other. */
static inline bool view_aparts_meet(const struct view *view, uint32_t a, uint32_t b)
{
    return aparts_meet(&view->shapes->aparts, a, b);
}

/* Whether no two tasks of the job may be on one instance. */
static inline bool view_is_spread(const struct view *view, uint32_t job)
{
    return view_aparts_meet(view, view->job.apart[job], view->job.apart[job]);
}

/* Whether the two tasks must not be on one instance. */
static inline bool view_keep_apart(const struct view *view, uint32_t task, uint32_t other)
{
    return task != other && view_aparts_meet(view, view->job.apart[view->task.job[task]],
                                             view->job.apart[view->task.job[other]]);
}

/* Whether a task is bound to the instance that must not be beside one with that 'apart'. O(tasks there). */
bool view_apart_is_on(const struct view *view, uint32_t apart, uint32_t instance);

/* The job's tasks keep apart from what the specification says from now on; true: that is something else. What is together stays so, on a
 * crowded instance. O(tasks of the job + tasks on their instances, squared), and O(1) if nothing changes. */
bool view_set_apart(struct view *view, uint32_t job, const struct job_spec *spec);

/* Check the invariants above by brute force; for tests. */
void view_check(const struct view *view);

#define TASK_EACH(row, view, first_row) \
    for (uint32_t row = (first_row); row != ROW_NONE; row = (view)->task.next[row])

/* Jobs with rules for markets that change with time. */
#define RULED_EACH(row, view) \
    for (uint32_t row = (view)->job.ruled_first; row != ROW_NONE; row = (view)->job.ruled_next[row])

#define INSTANCE_EACH(row, view) \
    for (uint32_t row = (view)->instance.first; row != ROW_NONE; row = (view)->instance.next[row])

#define EMPTY_EACH(row, view)                                          \
    for (uint32_t row = (view)->instance.empty_first; row != ROW_NONE; \
         row = (view)->instance.empty_next[row])

#endif
