/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller_state.h - the controller's own state, shared by its parts:
 *
 *   controller.c          creation, questions, the decision
 *   hear_times.c    what times events may bring
 *   hear_events.c   what events change
 *   hear_found.c    what is there though nobody asked for it
 *   hear_audit.c    what is known, held against lists
 *   want_limits.c   what of a plan is not carried out
 *   brake.c    what is rented while machines prove bad
 *   want_queue.c    tasks that the engine may start by itself
 *   reconcile.c    how plans become acts
 */
#ifndef STINT_CONTROL_CONTROLLER_STATE_H
#define STINT_CONTROL_CONTROLLER_STATE_H

#include "base/arena.h"
#include "base/map.h"
#include "control/controller.h"
#include "decide/turns.h"

/* Where the engine has a task, as far as we asked and heard. */
enum step_state {
    STEP_NONE,       /* nowhere: it is ours to place */
    STEP_QUEUED,     /* the engine starts it wherever there is room; 'at' is ROW_NONE */
    STEP_PLACED,     /* asked to start at 'at', or running there */
    STEP_CANCELLING, /* asked not to start, wherever that would be */
    STEP_STOPPING,   /* asked to end its run */
};

/* One per row of the view's tasks. */
struct task_step {
    uint64_t key;  /* of the last act */
    uint32_t at;   /* the instance it was placed on; ROW_NONE: none */
    uint32_t next; /* in the list of those who are there */
    uint32_t prev;
    uint8_t state;
    bool has_started; /* the engine said that it runs at 'at' */
};

/* One per row of the view's tasks: what outlives its steps. */
struct task_note {
    msec_t since;        /* of the last step: asked for, left */
    msec_t not_before;   /* it is not placed again before */
    msec_t started_at;   /* of the last start since the last loss; -1: none */
    uint32_t mention;    /* the audit in which it was heard of last */
    uint32_t queue_next; /* among those that are queued at the engine */
    uint32_t queue_prev;
    uint32_t
        limited_in; /* the last decision, cut to 32 bits, in which a limit dropped its machine */
    uint8_t limited_by; /* enum controller_limit */
    uint8_t losses;     /* of placements, without a start in between that lasted */
    uint8_t absences;   /* lists in a row that did not name it though it was asked for */
};

/* One per row of the view's instances. */
struct instance_note {
    uint64_t returned_key; /* the next key when it was given back; 0: it was not */
    msec_t started_at;     /* of the last start there since the last loss; -1: none */
    msec_t asked_at;       /* to leave, or given back */
    msec_t leaving_since;  /* asked to leave first */
    msec_t ready_at;       /* it takes work since */
    msec_t missing_since;  /* the first list in a row that did not name it; -1: the last one did */
    uint32_t mention;      /* the audit in which the cloud spoke of it last */
    uint32_t engine_mention; /* and the engine */
    uint8_t absences;        /* lists in a row that did not name it */
    uint8_t engine_absences;
    uint8_t losses;      /* of placements there, without a start in between that lasted */
    bool is_closed;      /* it drains because the engine gives it no new work, and may again */
    bool is_uncaught;    /* adopted; the books wait for the end of the engine's list */
    bool is_asked_again; /* it was given back again in this audit */
    bool is_leaving;     /* the engine was asked to let it leave */
    bool is_good;        /* a task has run there */
    bool is_faulted;     /* the engine closed it, or we gave it up */
    bool is_noticed;     /* the cloud said that it takes it */
    bool is_unbilled;    /* its bill has ended, and it lives on: it has no account */
};

/* A list that was asked for. */
struct audit_list {
    uint64_t key;    /* 0: none is under way */
    uint32_t number; /* of its audit */
    msec_t asked_at;
    msec_t waiting_since; /* the first that was asked for and has not ended; -1: the last one has */
    bool has_ended;       /* one of its kind, at least once */
};

/* One per row of the view's jobs: what its runtime teaches when it has ended. */
struct job_lesson {
    struct runtime_traits traits;
    uint64_t seen;      /* see runtimes.h */
    msec_t executed_ms; /* by its tasks that have finished, added up */
    uint32_t mention;   /* the audit in which it was heard of last */
};

/* One per offer: machines of it that did not become ready, since the last that did. */
struct boot_record {
    msec_t failed_at;  /* what was asked for before that is no news */
    uint32_t failures; /* those that were asked for before the last failure count once */
};

struct controller {
    struct controller_config config;
    struct view view;
    struct knowledge knowledge;
    struct ledger *ledger;
    void *memory;       /* of the policy, or NULL */
    struct arena arena; /* of one decision */
    struct controller_stats stats;
    struct task_step *steps;
    uint32_t *present; /* per row of the view's instances: the first task that was placed there and
                          has not left; ROW_NONE: nobody */
    struct task_note *task_notes;
    struct instance_note *instance_notes;
    struct job_lesson *lessons;
    struct boot_record *boots; /* per offer of the catalogue */
    uint32_t task_notes_room;
    uint32_t instance_notes_room;
    uint32_t lessons_room;
    uint32_t steps_room;
    uint32_t present_room;
    uint64_t next_key;
    struct map ended_jobs;   /* ids of jobs that are over, to know late news of them: those that
                                ended since the engine's list was asked for last */
    struct map ended_before; /* and those that ended between the last two */
    struct map asked;        /* ids of instances that this process asked for */
    struct map gone; /* ids of instances whose bill has ended, to know late news of them: those
                                that were heard of since 'gone_since' */
    struct map gone_before; /* and in the time before; what nobody spoke of in both is forgotten */
    msec_t gone_since;
    struct audit_list cloud_list;
    struct audit_list engine_list;
    uint32_t audit;       /* number of the last one that began */
    uint32_t missing;     /* machines that the cloud's last list did not name */
    bool is_doubting;     /* too many for it to be believed */
    uint32_t rivals;      /* machines in the cloud's last list that nobody here asked for */
    money_t rivals_price; /* of them, per hour */
    uint32_t rivals_now;  /* in the list that is under way */
    money_t rivals_price_now;
    bool engine_list_is_due; /* when the cloud's has ended */
    bool is_limited;         /* the last decision would have rented more */
    uint32_t queued;         /* tasks that are queued at the engine */
    uint32_t queue_first;    /* of them */
    struct controller_brake brake;
    msec_t next_proof;        /* when a machine may have proved good, or the next probe is due */
    msec_t proven_at;         /* when the latest machine that became ready was asked for */
    msec_t next_retry;        /* when the next lost task may be placed again */
    msec_t next_boot_timeout; /* when the next machine should be ready at last */
    msec_t next_unblock;      /* when the next refused offer may be asked again */
    msec_t next_price;        /* when the next price changes */
    msec_t next_wake;         /* when the policy wants to decide again */
    bool wants_decision;
    bool release_when_empty; /* of the last plan */
    bool has_clock; /* the time is told by controller_tell_time, not by events */
};

/* Make room for the rows that the view has. */
void controller_grow(struct controller *controller);

/* It is 'now', or later if time was there already; returns what it is. */
msec_t controller_advance(struct controller *controller, msec_t now);

/* The event, with times that can be: see hear_times.c. */
struct engine_event controller_sane_engine(const struct controller *controller,
                                           const struct engine_event *event);
struct cloud_event controller_sane_cloud(const struct controller *controller,
                                         const struct cloud_event *event);

/* A key that was never used. */
uint64_t controller_key(struct controller *controller);

/* Carry out a plan. */
void controller_apply(struct controller *controller, const struct plan *plan);

/* Start the task at the instance it is bound to, if both are ready for it. */
void controller_try_place(struct controller *controller, uint32_t task);

/* If the instance is draining and nothing of ours is left there, let the engine let it leave. */
void controller_try_return(struct controller *controller, uint32_t instance);

/* The engine has nothing on it any more: give it back, if we have nothing there either. */
void controller_has_left(struct controller *controller, uint32_t instance);

/* Something was asked of the task, or it left, at 'at': what was said of it before is old news. */
void controller_note_step(struct controller *controller, uint32_t task, msec_t at);

/* The task is no longer where it was placed, as of 'at'. */
void controller_left(struct controller *controller, uint32_t task, msec_t at);

/* Take the task back from the engine: a start that has not happened is cancelled. A run is ended only
 * if 'ends_run'; else it goes on where it is, and the engine says so. */
void controller_recall(struct controller *controller, uint32_t task, bool ends_run);

/* The task, which may be anywhere as far as we know, runs on the instance. */
void controller_runs_at(struct controller *controller, uint32_t task, uint32_t instance,
                        uint64_t key, msec_t started_at);

/* Take the task off what it is bound to; it waits again. */
void controller_unbind(struct controller *controller, uint32_t task, msec_t at);

/*
 * Parts of what events do, for several of them.
 */

/* A row for the instance, with a fresh note. */
uint32_t controller_add_instance(struct controller *controller, uint64_t id, uint32_t offer);

/* The instance begins to be billed. False: it is already. */
bool controller_billed(struct controller *controller, uint32_t instance, msec_t billed_from);

/* It takes work. */
void controller_ready(struct controller *controller, uint32_t instance, msec_t at);

/* Open the books of a machine that works already. */
void controller_catch_up(struct controller *controller, uint32_t instance);

/* Everything that is bound to the instance waits again; 'stop': what runs there is stopped. */
void controller_evacuate(struct controller *controller, uint32_t instance, bool stop, msec_t at);

/* Whoever was there is nowhere now; what the engine will say of it, or has said, is old news. */
void controller_forget_present(struct controller *controller, uint32_t instance, msec_t at);

/* The offer is left alone for so long. */
void controller_block(struct controller *controller, uint32_t offer, msec_t at, msec_t length);

/* It was asked for and will never be. */
void controller_never(struct controller *controller, uint32_t instance, msec_t at);

/* It is no more, as the event tells. */
void controller_gone(struct controller *controller, uint32_t instance,
                     const struct cloud_event *event);

/* The task began to run at 'at' where it was placed. */
void controller_started(struct controller *controller, uint32_t task, msec_t at);

/* The task was placed and nothing came of it, or it runs no more. */
void controller_lost(struct controller *controller, uint32_t task, msec_t at);

/* The job leaves without a lesson. */
void controller_drop_job(struct controller *controller, uint32_t job, msec_t at);

/* hear_found.c */
void controller_on_found(struct controller *controller, const struct engine_event *event);
void controller_on_cloud_found(struct controller *controller, const struct cloud_event *event);
void controller_on_unknown_gone(struct controller *controller, const struct cloud_event *event);

/* The instance takes no more work; what does not run there yet leaves it, the rest may end. */
void controller_give_up(struct controller *controller, uint32_t instance, bool runs, msec_t at);

/* hear_audit.c */
void controller_on_cloud_listed(struct controller *controller, const struct cloud_event *event);
void controller_on_engine_listed(struct controller *controller, const struct engine_event *event);

/* want_limits.c: take out of a plan what is not to be done now. */
void controller_trim(struct controller *controller, struct plan *plan, const struct turns *turns);

/* A plan of the policy, and whose turn it is if it may not rent all that it wants. */
void controller_plan(struct controller *controller, struct plan *ret, struct turns *ret_turns);

/* brake.c: how many machines that have not proved good may be there at a time. */
#define BRAKE_OFF UINT64_MAX
uint64_t controller_brake_allows(const struct controller *controller);
uint64_t controller_unproven(const struct controller *controller);
bool controller_is_probing(const struct controller *controller);
bool controller_is_coming(const struct view *view, uint32_t instance);
void controller_proved_good(struct controller *controller, uint32_t instance);

/* It leaves: if starts there have failed, that counts. */
void controller_starts_failed(struct controller *controller, uint32_t instance);

/* It became ready, or never will be: what to think of its offer, and of all that is rented. */
void controller_boot_worked(struct controller *controller, uint32_t instance);
void controller_boot_failed(struct controller *controller, uint32_t instance, msec_t at);

/* Give back what should be ready long ago. */
void controller_check_boots(struct controller *controller);

/* Know when to look again. */
void controller_watch_boots(struct controller *controller);

/* Prices that changed and offers that may be asked again: all reservation prices are new. */
void controller_refresh_offers(struct controller *controller, msec_t now);

/* want_queue.c */
/* 'first' (or ROW_NONE) waits for room that others must not take, unless it may be queued itself. */
void controller_queue_ahead(struct controller *controller, uint32_t first);

/* Nothing is heard of a task that was queued: ask again. */
void controller_queue_again(struct controller *controller, uint32_t task);
void controller_unqueue(struct controller *controller, uint32_t task);

/* Take back all that is queued. */
void controller_recall_queued(struct controller *controller);

/* Of each offer of which a machine is ready, whether a task that is queued fits it; in the arena. */
bool *controller_awaited_offers(struct controller *controller);

/* Put the task where the engine has it: 'present' there under 'key'. */
void controller_put(struct controller *controller, uint32_t task, uint32_t instance, uint64_t key);

/* Note what the co-located tasks' throughputs tell. */
void controller_observe(struct controller *controller);

#endif
