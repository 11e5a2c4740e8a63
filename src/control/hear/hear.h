/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hear.h - what the ports tell becomes what is known.
 *
 * Events and lists are held against the state, change it and mark rows; no port is called, and none can be:
 * there is none in reach. In the order in which the files stand on each other:
 *
 *   hear_times.c    what times events may bring
 *   hear_coming.c   a machine is billed, takes work
 *   hear_tasks.c    a task starts, leaves, is lost, ends
 *   hear_going.c    a machine takes no more work, never came, is gone
 *   hear_notice.c   the cloud will take a machine: what becomes of what runs there
 *   hear_owned.c    machines that are owned
 *   hear_found.c    what is there though nobody asked for it
 *   hear_audit.c    what is known, held against lists
 *   hear_events.c   which event means what
 */
#ifndef STINT_CONTROL_HEAR_H
#define STINT_CONTROL_HEAR_H

#include "control/books/books.h"
#include "control/state/state.h"

/* A list that was asked for. */
struct audit_list {
    uint64_t key;    /* 0: none is under way */
    uint32_t number; /* of its audit */
    msec_t asked_at;
    msec_t waiting_since; /* the first that was asked for and has not ended; -1: the last one has */
    bool has_ended;       /* one of its kind, at least once */
    bool is_due;          /* it is to be asked for */
};

/* So many lists in a row that lack what they should name are believed. */
enum { HEAR_ABSENCES_MAX = 2 };

struct hearing {
    struct state *state;
    struct books *books;
    struct audit_list cloud_list;
    struct audit_list engine_list;
    bool engine_list_waits; /* for the end of the cloud's, to be asked for */
    uint32_t rivals_now;    /* in the list that is under way: see struct doubts */
    money_t rivals_price_now;
    struct id_set ended_jobs;   /* ids of jobs that are over, to know late news of them: those that
                                ended since the engine's list was asked for last */
    struct id_set ended_before; /* and those that ended between the last two */
    msec_t next_boot_timeout;   /* when the next machine should be ready at last */
    msec_t next_deadline; /* when what still runs on a machine that is taken should be stopped */
};

void hear_init(struct hearing *hear, struct state *state, struct books *books);
void hear_done(struct hearing *hear);

void hear_engine(struct hearing *hear, const struct engine_event *event);
void hear_cloud(struct hearing *hear, const struct cloud_event *event);

/*
 * Times.
 */

/* The event, with times that can be. */
struct engine_event hear_sane_engine(const struct state *state, const struct engine_event *event);
struct cloud_event hear_sane_cloud(const struct state *state, const struct cloud_event *event);

/*
 * A machine comes.
 */

/* The instance begins to be billed. False: it is already. */
bool hear_billed(struct hearing *hear, uint32_t instance, msec_t billed_from);

/* It takes work. */
void hear_ready(struct hearing *hear, uint32_t instance, msec_t at);

/*
 * Tasks.
 */

/* The task is no longer where it was placed, as of 'at'. */
void hear_left(struct hearing *hear, uint32_t task, msec_t at);

/* Whoever was there is nowhere now; what the engine will say of it, or has said, is old news. */
void hear_forget_present(struct hearing *hear, uint32_t instance, msec_t at);

/* The task, which may be anywhere as far as we know, runs on the instance. */
void hear_runs_at(struct hearing *hear, uint32_t task, uint32_t instance, uint64_t key,
                  msec_t started_at);

/* It ran there while nobody listened, and its end will be heard next. */
void hear_ran(struct hearing *hear, uint32_t task, uint32_t instance, msec_t from, msec_t to);

void hear_stopped(struct hearing *hear, uint32_t task, msec_t at);

/* The stop of the task is refused until then: it goes on where it is. */
void hear_kept(struct hearing *hear, uint32_t task, msec_t until);

/* What the job's tasks keep apart from has changed: what is only on its way to where it may not be goes elsewhere. */
void hear_apart(struct hearing *hear, uint32_t job, msec_t at);

/* The engine says what tasks may use of the instance. */
void hear_capacity(struct hearing *hear, uint32_t instance, const struct res *capacity, msec_t at);

/* The task was placed and nothing came of it, or it runs no more. 'is_faultless': nobody is to blame; if it was to start, it
 * is only tried again a little later. */
void hear_lost(struct hearing *hear, uint32_t task, bool is_faultless, msec_t at);

void hear_finished(struct hearing *hear, uint32_t task, msec_t at);

/* The task has left its job, and is no lesson. */
void hear_withdrawn(struct hearing *hear, uint32_t task, msec_t at);

/* The job leaves without a lesson. */
void hear_drop_job(struct hearing *hear, uint32_t job, msec_t at);

/*
 * A machine goes.
 */

/* The instance takes no more work, and nothing runs there any more. */
void hear_instance_lost(struct hearing *hear, uint32_t instance, msec_t at);

/* The engine has nothing on it any more. */
void hear_instance_left(struct hearing *hear, uint32_t instance);

/* The cloud may take it, or not: see hear_notice.c. */
void hear_at_risk(struct hearing *hear, uint32_t instance, msec_t at);

/* The cloud will take it, not before 'until' (0: nobody knows): see hear_notice.c. */
void hear_notice(struct hearing *hear, uint32_t instance, msec_t until, msec_t at);

/* Stop what did not end in time on machines that are taken soon, and what waited there for another place. */
void hear_check_deadlines(struct hearing *hear);

/* It was asked for and will never be. */
void hear_never(struct hearing *hear, uint32_t instance, msec_t at);

/* It is no more, as the event tells. */
void hear_gone(struct hearing *hear, uint32_t instance, const struct cloud_event *event);

/* Give up what should be ready long ago. */
void hear_check_boots(struct hearing *hear);

/* Know when to look again. */
void hear_watch_boots(struct hearing *hear);

/*
 * Machines that are owned.
 */

/* See controller_own and controller_disown. */
void hear_own(struct hearing *hear, uint64_t instance, uint32_t offer, msec_t since,
              bool catches_up);
void hear_disown(struct hearing *hear, uint64_t instance, msec_t at);

/*
 * What nobody asked for.
 */

void hear_cloud_found(struct hearing *hear, const struct cloud_event *event);
void hear_unknown_gone(struct hearing *hear, const struct cloud_event *event);

/* See controller_remember and controller_remember_return. */
void hear_remember(struct hearing *hear, uint64_t instance, uint32_t offer, msec_t asked_at);
void hear_remember_return(struct hearing *hear, uint64_t instance);

/*
 * Lists.
 */

/* An audit begins: both lists are to be asked for. */
void hear_audit(struct hearing *hear);

/* The list, which was due, was asked for under the key. */
void hear_cloud_list_asked(struct hearing *hear, uint64_t key);
void hear_engine_list_asked(struct hearing *hear, uint64_t key);

void hear_cloud_listed(struct hearing *hear, const struct cloud_event *event);
void hear_engine_listed(struct hearing *hear, const struct engine_event *event);

#endif
