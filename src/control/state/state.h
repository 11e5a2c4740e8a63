/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what the controller knows and what it wants, row by row.
 *
 * A task and an instance have a row in the view and, beside it, columns of the controller's own. For a task,
 * the view says where it is to be (its instance), and its step where the engine has it, as far as we asked
 * and heard. For an instance, the view's state says both what it is and, where it drains, that it is to go.
 *
 * Whoever changes one of the two marks the row. Whoever reconciles looks at the marked rows, in the order in
 * which they were marked, and asks the ports for what brings the two nearer. So nothing here calls a port,
 * and there is no port in the state: 'config' has none.
 *
 * Each of these columns is written here and nowhere else: the state of an instance (state_set_instance), the
 * steps and the tasks that are present on an instance (state_step_*), the list of what is wanted to be queued
 * (state_want_queued), a task's run key.
 *
 * Costs:   every function O(1), but state_close_instance and state_evacuate O(tasks there).
 * Memory:  its own; 80 bytes a task, 84 an instance and 32 a job beside the view's.
 */
#ifndef STINT_CONTROL_STATE_H
#define STINT_CONTROL_STATE_H

#include "base/arena.h"
#include "base/id_set.h"
#include "control/state/controller_config.h"

/* Where the engine has a task, as far as we asked and heard. */
enum step_state {
    STEP_NONE,       /* nowhere: it may be placed */
    STEP_QUEUED,     /* the engine starts it wherever there is room; 'at' is ROW_NONE */
    STEP_PLACED,     /* asked to start at 'at', or running there */
    STEP_CANCELLING, /* asked not to start, wherever that would be */
    STEP_STOPPING,   /* asked to end its run */
};

/* One per row of the view's tasks. */
struct task_step {
    uint64_t key;  /* of the last action */
    uint32_t at;   /* the instance it was placed on; ROW_NONE: none */
    uint32_t next; /* in the list of those who are there */
    uint32_t prev;
    uint8_t state;
    bool has_started; /* the engine said that it runs at 'at' */
};

/* One per row of the view's tasks: what outlives its steps. */
struct task_note {
    msec_t since;       /* of the last step: asked for, left */
    uint64_t left_key;  /* of the run that it left last; 0: none */
    msec_t not_before;  /* it is not placed again before */
    msec_t stays_until; /* the engine stops it not before */
    msec_t started_at;  /* of the last start since the last loss; -1: none */
    msec_t lingers_since;
    uint32_t mention;    /* the audit in which it was heard of last */
    uint32_t queue_next; /* among those that are wanted to be queued at the engine */
    uint32_t queue_prev;
    uint32_t
        limited_in;   /* the last decision, cut to 32 bits, in which a limit dropped its machine */
    uint32_t ran_at;  /* the instance of a run before the first list, or ROW_NONE */
    uint32_t wait_at; /* in the waits of the last decision, if it is one of those */
    struct capped capped; /* where that is LIMIT_CAP */
    uint8_t wait_rule;    /* enum plan_wait_rule, by the last decision */
    uint8_t wait_limit; /* of the machine that it was to wait for, where that rule is WAIT_LIMIT */
    uint8_t limited_by; /* enum controller_limit */
    uint8_t losses;     /* of placements, without a start in between that lasted */
    uint8_t absences;   /* lists in a row that did not name it though it was asked for */
    bool is_to_queue;   /* wanted to be queued at the engine */
    bool is_unheard;    /* nothing came of the last action: it is to be asked for again */
    bool lingers;       /* see state_linger */
    bool is_marked;
};

/* One per row of the view's instances. */
struct instance_note {
    uint64_t rent;         /* the first key of the request by which it is to be rented; 0: it is */
    uint64_t returned_key; /* the next key when it was returned; 0: it was not */
    uint64_t
        awaited_in; /* the last plan by which somebody waits for its room, counted from 1; 0: none */
    uint64_t
        replaced_in; /* the plan since which it drains because it is outdated, counted from 1; 0: none */
    msec_t started_at;    /* of the last start there since the last loss; -1: none */
    msec_t asked_at;      /* to leave, or returned */
    msec_t leaving_since; /* asked to leave first */
    msec_t ready_at;      /* it takes work since */
    msec_t missing_since; /* the first list in a row that did not name it; -1: the last one did */
    uint32_t mention;     /* the audit in which the cloud spoke of it last */
    uint32_t engine_mention; /* and the engine */
    uint32_t pool;           /* the row of the service whose pool it is in, + 1; 0: none */
    uint8_t shown_from;      /* its state, while it is shown as leaving */
    uint8_t absences;        /* lists in a row that did not name it */
    uint8_t engine_absences;
    uint8_t losses;      /* of placements there, without a start in between that lasted */
    bool is_admitted;    /* the engine was asked to let it join */
    bool is_closed;      /* it drains because the engine gives it no new work, and may again */
    bool is_uncaught;    /* adopted; the books wait for the end of the engine's list */
    bool has_booted;     /* an earlier process saw it ready */
    bool is_asked_again; /* it was returned again in this audit */
    bool is_unheard;     /* it was returned, and is still there: it is to be returned again */
    bool is_leaving;     /* the engine was asked to let it leave */
    bool has_left;       /* the engine has nothing on it any more */
    bool is_good;        /* a task has run there */
    bool is_faulted;     /* the engine closed it, or we gave it up */
    bool is_short;       /* it stands ready for short tasks, by the last decision */
    bool is_noticed;     /* the cloud said that it takes it */
    bool is_released;    /* it drains because a plan has let it go */
    bool is_outdated;    /* its image or settings are not those of new machines */
    bool is_shut;     /* the engine was asked to start nothing more there, while something runs */
    bool is_unbilled; /* its bill has ended, and it lives on: it has no account */
    bool is_marked;
};

/* One per row of the view's jobs. */
struct job_note {
    uint64_t first_id;  /* of its tasks */
    uint64_t end_id;    /* above those of all the tasks that it has had */
    msec_t stays_until; /* the latest of its tasks' */
    uint32_t mention;   /* the audit in which the engine spoke of it last */
    uint32_t lingering; /* tasks that linger */
};

enum mark_kind {
    MARK_TASK,
    MARK_INSTANCE,
    MARK_GONE, /* an instance that has no row any more: the engine is to forget it */
    MARK_CLOUD_LIST,
    MARK_ENGINE_LIST,
};

/* What is to be looked at: a row, or the id of an instance. */
struct mark {
    uint64_t what;
    enum mark_kind kind;
};

/* What keeps anything from being rented until the next list of the cloud's. */
struct doubts {
    uint32_t missing;     /* machines that the last one did not name */
    bool is_doubting;     /* too many for it to be believed */
    uint32_t rivals;      /* machines in it that nobody here asked for */
    money_t rivals_price; /* of them, per hour */
};

struct state {
    struct controller_config config; /* without the ports */
    bool can_queue;                  /* the engine can start tasks by itself */
    struct view view;
    struct controller_stats stats;
    struct arena arena; /* of one decision */

    struct task_step *steps;
    struct task_note *task_notes;
    uint32_t *present; /* per row of the view's instances: the first task that was placed there and
                          has not left; ROW_NONE: nobody */
    struct instance_note *instance_notes;
    struct job_note *job_notes;
    uint32_t steps_room;
    uint32_t task_notes_room;
    uint32_t present_room;
    uint32_t instance_notes_room;
    uint32_t job_notes_room;

    struct mark *marks;
    uint32_t mark_count;
    uint32_t marks_room;

    uint64_t next_key;
    struct id_set asked;  /* ids of instances that this process asked for */
    uint32_t outdated;    /* instances that are */
    uint32_t owned;       /* instances that are: never rented, never returned */
    uint64_t plans;       /* so far */
    msec_t planned_at;    /* the last of them */
    uint32_t audit;       /* number of the last one that began */
    uint32_t queued;      /* tasks that are wanted to be queued at the engine */
    uint32_t queue_first; /* of them */
    struct doubts doubts;
    bool is_limited;                 /* the last decision would have rented more */
    enum plan_when_empty when_empty; /* of the last plan */
    bool wants_decision;
    bool has_clock; /* the time is given, not taken from events */
};

void state_init(struct state *state, const struct controller_config *config);
void state_done(struct state *state);

/* The same state with other shapes, which have at least those that it has, and with nothing marked; 'to' is not initialised.
 * Nobody is called back from it. */
void state_copy(struct state *to, const struct state *from, const struct shapes *shapes);

/* It is 'now', or later if time was there already; returns what it is. */
msec_t state_advance(struct state *state, msec_t now);

/* A key that was never used. */
uint64_t state_key(struct state *state);

/* Look at it when the ports are called next. Marked twice, it is looked at once. */
void state_mark_task(struct state *state, uint32_t task);
void state_mark_instance(struct state *state, uint32_t instance);
void state_mark(struct state *state, enum mark_kind kind, uint64_t what);

/*
 * Rows.
 */

/* A job and its tasks; the notes of the tasks are fresh. */
uint32_t state_add_job(struct state *state, const struct job_spec *spec);

/* More tasks for the job, with the ids that follow those it has had. */
void state_grow_job(struct state *state, uint32_t job, uint32_t count);

/* An instance, with a fresh note. */
uint32_t state_add_instance(struct state *state, uint64_t id, uint32_t offer);

/* The one place where the state of an instance changes. */
void state_set_instance(struct state *state, uint32_t instance, enum instance_state next);

/* Whether its image or settings are those of new machines. */
void state_set_outdated(struct state *state, uint32_t instance, bool is_outdated);

/* Show it to a policy as if it drained, or as it is again; around a decision only. */
void state_show_as_leaving(struct state *state, uint32_t instance, bool is_leaving);

/* Nothing of ours is there: bound, placed, or on its way. */
bool state_is_empty(const struct state *state, uint32_t instance);

/* Whether it stays though nothing runs there: a service's, or ready for short tasks, or owned. */
bool state_stays_idle(const struct state *state, uint32_t instance);

/* The engine gives it no new work, and may again. One that is owned and takes no work may always again. */
bool state_is_closed(const struct state *state, uint32_t instance);

/*
 * Where a task is to be.
 */

void state_bind(struct state *state, uint32_t task, uint32_t instance);

/* Take the task off what it is bound to; it waits again. */
void state_unbind(struct state *state, uint32_t task, msec_t at);

/* It is to end its run and begin another one, where it is. */
void state_restart(struct state *state, uint32_t task);

/*
 * The task, which runs where it must not be any more, is not stopped until it, or its whole gang, can start where
 * it is to be: until then its machine is of use. That ends with state_end_linger (of a gang: for all of it), and
 * when it is stopped or leaves.
 */
void state_linger(struct state *state, uint32_t task);
void state_end_linger(struct state *state, uint32_t task);

/* Whether it is not to be stopped yet for that reason, or because the engine does not let it end now. */
bool state_lingers(const struct state *state, uint32_t task);

/* What it is to be on is ready. */
bool state_has_place(const struct state *state, uint32_t task);

/* Look at all tasks of the job, if some linger: one of them got a place, or needs none any more. */
void state_mark_lingering(struct state *state, uint32_t job);

/* The engine is to start it wherever there is room, or no longer is. */
void state_want_queued(struct state *state, uint32_t task, bool is_wanted);

/* All that is bound to the instance waits again. */
void state_evacuate(struct state *state, uint32_t instance, msec_t at);

/* The instance takes no more work and goes when what runs there has ended; the rest waits again. */
void state_close_instance(struct state *state, uint32_t instance, msec_t at);

/* What is bound to the instance and has not begun waits again. */
void state_take_back(struct state *state, uint32_t instance, msec_t at);

/*
 * Where the engine has it.
 */

/* Something was asked of the task, or it left, at 'at': what was said of it before is old news. */
void state_note_step(struct state *state, uint32_t task, msec_t at);

/* Asked to start on the instance, or found there. */
void state_step_placed(struct state *state, uint32_t task, uint32_t instance, uint64_t key);

/* It runs where it was placed, and events of that carry the key. */
void state_step_runs(struct state *state, uint32_t task, uint64_t key);

/* ... and it has begun to. */
void state_step_started(struct state *state, uint32_t task);

void state_step_queued(struct state *state, uint32_t task, uint64_t key);

/* A cancel or a stop was asked for. */
void state_step_recalled(struct state *state, uint32_t task, enum step_state next, uint64_t key);

/* The stop was refused: it runs where it was, and is asked again not before 'until'. */
void state_step_kept(struct state *state, uint32_t task, msec_t until);

/* Whether a move of the task would end a run that the engine does not let end now; until when. */
bool state_is_kept(const struct state *state, uint32_t task, msec_t *ret_until);

/* It is nowhere any more, as of 'at'. */
void state_step_left(struct state *state, uint32_t task, msec_t at);

/* Look at every row whose wish and fact may differ and mark it; for tests: after everything was reconciled,
 * nothing comes of it. */
void state_mark_all(struct state *state);

#endif
