/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h - the loop: events in, a decision, actions out.
 *
 *     create; then, in a loop: report events (events.h); if stint_controller_wants_decision, or
 *     stint_controller_next_wake has come, stint_controller_decide.
 *
 * Threads:    a controller belongs to one thread at a time. Controllers share nothing: each may have a thread
 *             of its own.
 * Memory:     all that is handed in is copied, but for the 'self' pointers. Running out of memory, or a bug
 *             in the library, ends the process (abort).
 * Reentrancy: see ports.h. From inside a port only functions that take a const controller may be called; they
 *             show the state in the middle of the change.
 * Costs:      an event is O(tasks on the instance it concerns), a decision what its policy costs.
 */
#ifndef STINT_CONTROLLER_H
#define STINT_CONTROLLER_H

#include <string.h>

#include <stint/catalogue.h>
#include <stint/common.h>
#include <stint/ports.h>
#include <stint/settings.h>

struct stint_controller;

/* Of a family that takes another amount. */
struct stint_family_demand {
    const char *family;
    struct stint_resources demand;
};

/* What makes two tasks interchangeable. */
struct stint_shape {
    size_t size;
    const char *name;
    const char *workload; /* what it does, for what is learned of sharing; NULL: the name */
    struct stint_resources demand;
    const struct stint_family_demand *families; /* that take another amount than 'demand' */
    size_t family_count;
    bool only_families; /* it runs on those alone, and 'demand' counts for nothing */
    int64_t fetch_ms;   /* bring code and data to the machine */
    int64_t build_ms;   /* prepare the image, once per workload and machine */
    int64_t init_ms;    /* from launch to progress */
    int64_t kill_ms;    /* from the order to stop until it stands still */
    int64_t upload_ms;  /* save what it has done */
};

enum stint_task_state {
    STINT_TASK_WAITING,
    STINT_TASK_BOUND, /* to an instance; on its way there */
    STINT_TASK_RUNNING,
};

struct stint_task {
    size_t size;
    enum stint_task_state state;
    uint64_t job;
    uint64_t instance;   /* 0: it waits */
    int64_t started_at;  /* -1: it does not run */
    int64_t estimate_ms; /* that decisions go by */
    int64_t cost;        /* so far, up to the last change at its machine */
    int64_t
        not_before;    /* its last placement came to nothing; it is placed again then. 0: no such */
    const char *limit; /* the limit that took its machine out of the last plan; NULL: none */
};

/* Why a task waits, by the last decision. Times and costs are those of a choice of the policy; of other rules they are
 * STINT_NEVER and STINT_MONEY_UNKNOWN. */
struct stint_wait {
    size_t size;
    const char *rule;    /* a word, as "room" or "limit"; NULL: it does not wait, or nothing was
                            decided yet */
    const char *text;    /* the same for people; NULL as 'rule' */
    const char *limit;   /* as of struct stint_task */
    uint64_t instance;   /* that it waits for; 0: none */
    uint32_t offer;      /* that it waits for, or the machine's; or STINT_NONE */
    uint32_t rent_offer; /* that could be rented for it alone now, or STINT_NONE */
    int64_t expected_at; /* by the estimates it starts then */
    int64_t until;       /* it waits no longer by this rule */
    int64_t
        rent_cost; /* of 'rent_offer', as long as the task is expected to run; by "worth" per hour */
    int64_t wait_cost; /* what it costs to wait instead and run it there; by "worth" per hour */
};

enum stint_instance_state {
    STINT_INSTANCE_REQUESTED, /* asked for; not billed yet */
    STINT_INSTANCE_BOOTING,   /* billed, takes no work yet */
    STINT_INSTANCE_READY,
    STINT_INSTANCE_DRAINING, /* takes no more work; goes back when it is empty */
    STINT_INSTANCE_RETURNED, /* returned; not confirmed yet */
};

struct stint_instance {
    size_t size;
    enum stint_instance_state state;
    uint32_t offer;
    uint32_t task_count;
    struct stint_resources used;
    int64_t rented_at;
    int64_t billed_from; /* -1: not billed yet */
};

/* Money and what happened, since the controller was created. 'bill' is boot + idle + work: for an instance
 * that exists, up to its last change; closed ones with what the billing rule adds. */
struct stint_totals {
    size_t size;
    int64_t bill;
    int64_t boot;
    int64_t idle;
    int64_t work;
    int64_t price_per_hour; /* of all that live now */
    uint32_t tasks;         /* that live */
    uint32_t tasks_waiting;
    uint32_t instances; /* that live */
    uint32_t bills_open;
    uint64_t decisions;
    uint64_t rented;
    uint64_t refused;
    uint64_t lost;       /* instances that were taken away */
    uint64_t migrations; /* of tasks that had run before */
    uint64_t evictions;  /* runs that ended though their task had not */
    uint64_t late_events;
};

static inline void stint_shape_init(struct stint_shape *shape)
{
    memset(shape, 0, sizeof(*shape));
    shape->size = sizeof(*shape);
}

static inline void stint_task_init(struct stint_task *task)
{
    memset(task, 0, sizeof(*task));
    task->size = sizeof(*task);
}

static inline void stint_wait_init(struct stint_wait *wait)
{
    memset(wait, 0, sizeof(*wait));
    wait->size = sizeof(*wait);
}

static inline void stint_instance_init(struct stint_instance *instance)
{
    memset(instance, 0, sizeof(*instance));
    instance->size = sizeof(*instance);
}

static inline void stint_totals_init(struct stint_totals *totals)
{
    memset(totals, 0, sizeof(*totals));
    totals->size = sizeof(*totals);
}

STINT_BEGIN

/* 'settings', each port and 'books' may be NULL: defaults, nobody. */
STINT_API int stint_controller_create(const struct stint_catalogue *catalogue,
                                      const struct stint_settings *settings,
                                      const struct stint_engine *engine,
                                      const struct stint_cloud *cloud,
                                      const struct stint_books *books,
                                      struct stint_controller **ret, struct stint_error *reterr);

/* Gives nothing back: drain first. Takes NULL; not from inside a port. */
STINT_API void stint_controller_destroy(struct stint_controller *controller);

/* Other limits, times, policy from the next decision on. -EBUSY: from inside a port; so below. */
STINT_API int stint_controller_tune(struct stint_controller *controller,
                                    const struct stint_settings *settings);

/* The offer costs so much from 'now' on. -EINVAL: also if a later price is known already. */
STINT_API int stint_controller_set_price(struct stint_controller *controller, int64_t now,
                                         uint32_t offer, int64_t per_hour);

/* No more is rented than 'left' pays the first charge of, from the next decision on; STINT_NEVER: as much as
 * one likes. */
STINT_API int stint_controller_set_budget(struct stint_controller *controller, int64_t left);

/* The index of the shape, an older one if they are equal. -ENOENT: no such family in the catalogue. */
STINT_API int stint_controller_add_shape(struct stint_controller *controller,
                                         const struct stint_shape *shape, uint32_t *ret,
                                         struct stint_error *reterr);

/* Decide now, and begin to carry it out through the ports. 'now' is not before the last report. */
STINT_API int stint_controller_decide(struct stint_controller *controller, int64_t now);

/* Something happened since the last decision that may call for another. */
STINT_API bool stint_controller_wants_decision(const struct stint_controller *controller);

/* When a decision is due though nothing happens, or STINT_NEVER. */
STINT_API int64_t stint_controller_next_wake(const struct stint_controller *controller);

/* Instead of a decision: nothing new starts, and each instance goes when what runs there has ended. */
STINT_API int stint_controller_drain(struct stint_controller *controller, int64_t now);

/* Ask both ports for lists and hold what is known against them: after a restart, before the first decision,
 * and now and then. -ENOTSUP: a port has no list. */
STINT_API int stint_controller_audit(struct stint_controller *controller, int64_t now);

/* Before the first audit: an instance that an earlier process asked for and whose end it did not see.
 * -EINVAL: an offer or a time that there is not. */
STINT_API int stint_controller_remember(struct stint_controller *controller, int64_t now,
                                        uint64_t instance, uint32_t offer, int64_t asked_at);

/* For the next process: its setting first_key. Keep it before what was asked under lower keys is done. */
STINT_API uint64_t stint_controller_next_key(const struct stint_controller *controller);

/* No task and no instance is left. */
STINT_API bool stint_controller_is_idle(const struct stint_controller *controller);

/* -ENOENT: it is not known, or has ended. 'ret' is filled up to its size. */
STINT_API int stint_controller_task(const struct stint_controller *controller, uint64_t task,
                                    struct stint_task *ret);
STINT_API int stint_controller_wait(const struct stint_controller *controller, uint64_t task,
                                    struct stint_wait *ret);
STINT_API int stint_controller_instance(const struct stint_controller *controller,
                                        uint64_t instance, struct stint_instance *ret);

/* The instance that was rented after 'instance' among those that live; after 0 the first. 0: no more. */
STINT_API uint64_t stint_controller_next_instance(const struct stint_controller *controller,
                                                  uint64_t instance);

/* -EINVAL: the size of 'ret' is not set. */
STINT_API int stint_controller_totals(const struct stint_controller *controller,
                                      struct stint_totals *ret);

STINT_END

#endif
