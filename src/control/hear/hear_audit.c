/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known, held against lists. Events can be lost: while the daemon was down, with a connection,
 * by a fault of another program. A list names everything there is; so what was known before it was
 * asked for, and was not heard of until it ended, should be no more. But lists lie, too: the cloud's may
 * be empty, partial, old or another account's. So a machine that it lacks is only missing. It keeps its
 * work and counts in every limit until a later list lacks it as well, the engine does not vouch for its
 * node, and the cloud has confirmed its end. If more than a few are missing, nothing is rented.
 *
 * Audits are numbered. Whatever is heard of, by the list or by any event, is stamped with the number
 * of the audit that began last; at the end of its list, what has an older stamp was not named. A
 * machine whose key is above the list's, and a task that was asked for something since the list was,
 * are not judged by it.
 *
 * A request may still be on its way when the list is made. So what was only asked for is judged when
 * two lists in a row did not name it, and an action is repeated only when it is old.
 */
#include "control/hear/hear.h"

enum {
    FEW_LEAST = 2,  /* so many machines may be missing from a list that is believed, */
    FEW_SHARE = 10, /* or one of so many */
};

static const msec_t patience_ms = 60 * MSEC_PER_SEC;

/* What a list that is doubted lacks is returned only after so long, unless the engine vouches for it. */
static const msec_t doubt_ms = 900 * MSEC_PER_SEC;

/* News is never so late that those of two lists ago need to be known. */
static void forget_ended(struct hearing *hear)
{
    id_set_done(&hear->ended_before);
    hear->ended_before = hear->ended_jobs;
    id_set_init(&hear->ended_jobs);
}

static void want_list(struct hearing *hear, struct audit_list *list, enum mark_kind kind)
{
    list->is_due = true;
    state_mark(hear->state, kind, 0);
}

void hear_audit(struct hearing *hear)
{
    const struct view *view = &hear->state->view;

    hear->state->audit++;
    hear->rivals_now = 0;
    hear->rivals_price_now = 0;
    INSTANCE_EACH(instance, view)
    {
        hear->state->instance_notes[instance].is_asked_again = false;
    }
    want_list(hear, &hear->cloud_list, MARK_CLOUD_LIST);
    if (hear->cloud_list.has_ended)
        want_list(hear, &hear->engine_list, MARK_ENGINE_LIST);
    else
        hear->engine_list_waits = true;
}

static void note_asked(const struct hearing *hear, struct audit_list *list, uint64_t key)
{
    list->is_due = false;
    list->key = key;
    list->number = hear->state->audit;
    list->asked_at = hear->state->view.now;
    if (list->waiting_since < 0)
        list->waiting_since = list->asked_at;
}

void hear_cloud_list_asked(struct hearing *hear, uint64_t key)
{
    note_asked(hear, &hear->cloud_list, key);
}

void hear_engine_list_asked(struct hearing *hear, uint64_t key)
{
    forget_ended(hear);
    hear->engine_list_waits = false;
    note_asked(hear, &hear->engine_list, key);
}

/* Whether this is the end of the list that is under way. */
static bool end_list(struct hearing *hear, struct audit_list *list, uint64_t key)
{
    if (list->key == 0 || key != list->key) {
        hear->state->stats.late_events++;
        return false;
    }
    list->key = 0;
    list->waiting_since = -1;
    list->has_ended = true;
    return true;
}

static bool was_named(uint32_t mention, const struct audit_list *list)
{
    return mention >= list->number;
}

/*
 * Machines.
 */

/* Of a machine that the list that has ended could have named. */
static void note_absence(struct hearing *hear, uint32_t instance, msec_t at)
{
    struct instance_note *note = &hear->state->instance_notes[instance];

    if (was_named(note->mention, &hear->cloud_list)) {
        note->absences = 0;
        note->missing_since = -1;
        return;
    }
    if (note->absences < UINT8_MAX)
        note->absences++;
    if (note->missing_since < 0)
        note->missing_since = at;
}

static bool is_missing(const struct hearing *hear, uint32_t instance)
{
    return hear->state->instance_notes[instance].missing_since >= 0 &&
           hear->state->view.instance.state[instance] != INSTANCE_RETURNED;
}

/* The engine's last list named it: its node answers, or something runs there. */
static bool is_vouched_for(const struct hearing *hear, uint32_t instance)
{
    const uint8_t state = hear->state->view.instance.state[instance];

    return (state == INSTANCE_READY || state == INSTANCE_DRAINING) &&
           was_named(hear->state->instance_notes[instance].engine_mention, &hear->engine_list);
}

/* It was returned, and the cloud does not know it any more. */
static void take_for_gone(struct hearing *hear, uint32_t instance, msec_t at)
{
    const struct cloud_event gone = {
        .kind = CLOUD_GONE,
        .at = at,
        .instance = hear->state->view.instance.id[instance],
        .billed_from = hear->state->view.instance.billed_from[instance],
        .billed_to = at,
    };

    hear->state->stats.vanished++;
    hear_gone(hear, instance, &gone);
}

/* One list is not enough, and neither is one witness. What nobody has seen for long enough takes no work
 * any more and is returned: the cloud's answer to that says what became of it, and only then does it
 * count no more. */
static void judge_missing_one(struct hearing *hear, uint32_t instance, msec_t at)
{
    const struct instance_note *note = &hear->state->instance_notes[instance];
    const uint8_t state = hear->state->view.instance.state[instance];
    const msec_t patience = hear->state->doubts.is_doubting ? doubt_ms : patience_ms;

    if (note->missing_since < 0 || note->absences < HEAR_ABSENCES_MAX ||
        at - note->missing_since < patience)
        return;
    if (state == INSTANCE_RETURNED) {
        if (at - note->asked_at >= patience)
            take_for_gone(hear, instance, at);
        return;
    }
    if (state == INSTANCE_DRAINING || is_vouched_for(hear, instance))
        return;
    hear->state->stats.vanished++;
    hear_instance_lost(hear, instance, at);
}

/* Both lists of one audit have ended. */
static void judge_missing(struct hearing *hear, msec_t at)
{
    const struct view *view = &hear->state->view;
    uint32_t next;

    if (hear->cloud_list.key != 0 || hear->engine_list.key != 0 || hear->engine_list.is_due ||
        hear->cloud_list.number != hear->engine_list.number)
        return;
    for (uint32_t instance = view->instance.first; instance != ROW_NONE; instance = next) {
        next = view->instance.next[instance];
        judge_missing_one(hear, instance, at);
    }
}

static void count_missing(struct hearing *hear, uint64_t list_key, msec_t at)
{
    const struct view *view = &hear->state->view;
    const uint32_t few = (view->instance.living - hear->state->owned) / FEW_SHARE;

    hear->state->doubts.missing = 0;
    INSTANCE_EACH(instance, view)
    {
        if (view->instance.id[instance] >= list_key || view_is_owned(view, instance))
            continue; /* it was asked for after the list, or is not the cloud's */
        note_absence(hear, instance, at);
        hear->state->doubts.missing += is_missing(hear, instance);
    }
    hear->state->doubts.is_doubting =
        hear->state->doubts.missing > (few > FEW_LEAST ? few : FEW_LEAST);
}

void hear_cloud_listed(struct hearing *hear, const struct cloud_event *event)
{
    const bool was_held = hear->state->doubts.is_doubting || hear->state->doubts.rivals > 0;

    if (!end_list(hear, &hear->cloud_list, event->key))
        return;
    books_forget_gone(hear->books, event->at);
    count_missing(hear, event->key, event->at);
    hear->state->doubts.rivals = hear->rivals_now;
    hear->state->doubts.rivals_price = hear->rivals_price_now;
    if (was_held && !hear->state->doubts.is_doubting && hear->state->doubts.rivals == 0)
        hear->state->wants_decision = true;
    if (hear->engine_list_waits)
        want_list(hear, &hear->engine_list, MARK_ENGINE_LIST);
    judge_missing(hear, event->at);
}

/*
 * Tasks.
 */

/* Nothing came of it: where it is to be has not changed, so it is asked for again. */
static void place_again(struct hearing *hear, uint32_t task)
{
    hear->state->stats.asked_anew++;
    hear_left(hear, task, hear->state->view.now);
}

/* The same for what is not placed: a cancel, a stop, or that it is queued. */
static void ask_again(struct hearing *hear, uint32_t task)
{
    hear->state->stats.asked_anew++;
    hear->state->task_notes[task].is_unheard = true;
    state_mark_task(hear->state, task);
}

/* It was named, or was asked for after the list: whatever it does goes on. Only a stop or a
 * cancel that nobody heard is repeated. */
static void judge_named(struct hearing *hear, uint32_t task, bool is_old)
{
    struct task_note *note = &hear->state->task_notes[task];

    if (hear->state->steps[task].state == STEP_PLACED || !is_old)
        note->absences = 0;
    else if (++note->absences >= HEAR_ABSENCES_MAX)
        ask_again(hear, task);
}

/* It may wait at the engine for long; only now and then it is asked again. */
static void judge_queued(struct hearing *hear, uint32_t task, bool is_old)
{
    struct task_note *note = &hear->state->task_notes[task];

    if (note->absences < HEAR_ABSENCES_MAX && ++note->absences < HEAR_ABSENCES_MAX)
        return;
    if (is_old)
        ask_again(hear, task);
}

/* It is asked to start or to stop, and the list does not show it. */
static void judge_unnamed(struct hearing *hear, uint32_t task, bool is_old, msec_t at)
{
    struct task_note *note = &hear->state->task_notes[task];

    if (note->absences < HEAR_ABSENCES_MAX && ++note->absences < HEAR_ABSENCES_MAX)
        return;
    if (is_old && hear->state->steps[task].state == STEP_PLACED) {
        place_again(hear, task);
    } else if (is_old && hear->state->steps[task].state == STEP_CANCELLING) {
        ask_again(hear, task); /* only a confirmation frees it */
    } else if (is_old) {
        hear->state->stats.tasks_missed++; /* it has stopped, and nobody said so */
        hear_lost(hear, task, false, at);
    }
}

static void judge_task(struct hearing *hear, uint32_t task, msec_t at)
{
    const struct view *view = &hear->state->view;
    const struct task_note *note = &hear->state->task_notes[task];
    const bool is_old = at - note->since > patience_ms;

    if (note->since >= hear->engine_list.asked_at)
        return;
    if (hear->state->steps[task].state == STEP_NONE)
        return;
    if (hear->state->steps[task].state == STEP_QUEUED) {
        judge_queued(hear, task, is_old);
    } else if (was_named(note->mention, &hear->engine_list)) {
        judge_named(hear, task, is_old);
    } else if (view->task.state[task] == TASK_RUNNING) {
        hear->state->stats.tasks_missed++;
        hear_lost(hear, task, false, at);
    } else {
        judge_unnamed(hear, task, is_old, at);
    }
}

static void judge_job(struct hearing *hear, uint32_t job, msec_t at)
{
    const struct view *view = &hear->state->view;
    const uint64_t id = view->job.id[job];

    if (!was_named(hear->state->job_notes[job].mention, &hear->engine_list)) {
        hear->state->stats.jobs_vanished++;
        hear_drop_job(hear, job, at);
        id_set_add(&hear->ended_jobs, id);
        return;
    }
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task])
        judge_task(hear, task, at);
}

/* A machine that the engine does not know any more takes no work. */
static void judge_node(struct hearing *hear, uint32_t instance, msec_t at)
{
    struct instance_note *note = &hear->state->instance_notes[instance];

    if (was_named(note->engine_mention, &hear->engine_list))
        note->engine_absences = 0;
    else if (++note->engine_absences >= HEAR_ABSENCES_MAX) {
        hear->state->stats.nodes_lost++;
        hear_instance_lost(hear, instance, at);
    }
}

/* It was asked to leave, and nothing came of it. */
static void leave_again(struct hearing *hear, uint32_t instance, msec_t at)
{
    struct instance_note *note = &hear->state->instance_notes[instance];

    if (hear->state->view.instance.state[instance] != INSTANCE_DRAINING || !note->is_leaving ||
        at - note->asked_at <= patience_ms)
        return;
    note->is_leaving = false;
    state_mark_instance(hear->state, instance);
}

static void judge_nodes(struct hearing *hear, uint64_t list_key, msec_t at)
{
    const struct view *view = &hear->state->view;

    INSTANCE_EACH(instance, view)
    {
        struct instance_note *note = &hear->state->instance_notes[instance];

        if (note->is_uncaught) {
            note->is_uncaught = false;
            if (view->instance.state[instance] == INSTANCE_READY)
                books_catch_up(hear->books, instance);
        }
        if (view->instance.state[instance] == INSTANCE_READY &&
            (view->instance.id[instance] < list_key || view_is_owned(view, instance)))
            judge_node(hear, instance, at);
        else
            leave_again(hear, instance, at);
    }
}

void hear_engine_listed(struct hearing *hear, const struct engine_event *event)
{
    const struct view *view = &hear->state->view;

    if (!end_list(hear, &hear->engine_list, event->key))
        return;
    for (uint32_t job = 0; job < view->job.count; job++) {
        if (view->job.used[job])
            judge_job(hear, job, event->at);
    }
    judge_nodes(hear, event->key, event->at);
    hear->state->stats.audits++;
    hear->state->wants_decision = true;
    judge_missing(hear, event->at);
}
