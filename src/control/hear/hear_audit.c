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
 * two lists in a row did not name it, and an act is repeated only when it is old.
 */
#include <assert.h>

#include "control/state/controller_state.h"

enum {
    ABSENCES_MAX = 2,
    FEW_LEAST = 2,  /* so many machines may be missing from a list that is believed, */
    FEW_SHARE = 10, /* or one of so many */
};

static const msec_t patience_ms = 60 * MSEC_PER_SEC;

/* What a list that is doubted lacks is given back only after so long, unless the engine vouches for it. */
static const msec_t doubt_ms = 900 * MSEC_PER_SEC;

bool controller_is_audited(const struct controller *controller)
{
    return controller->cloud_list.has_ended && controller->engine_list.has_ended;
}

/* News is never so late that those of two lists ago need to be known. */
static void forget_ended(struct controller *controller)
{
    map_done(&controller->ended_before);
    controller->ended_before = controller->ended_jobs;
    map_init(&controller->ended_jobs);
}

/* Clouds name machines that went for hours at the most. */
static void forget_gone(struct controller *controller, msec_t at)
{
    const msec_t keep_ms = 24 * MSEC_PER_HOUR;

    if (at - controller->gone_since < keep_ms)
        return;
    controller->gone_since = at;
    map_done(&controller->gone_before);
    controller->gone_before = controller->gone;
    map_init(&controller->gone);
}

static void note_asked(struct audit_list *list, msec_t now)
{
    list->asked_at = now;
    if (list->waiting_since < 0)
        list->waiting_since = now;
}

msec_t controller_waits_for_cloud(const struct controller *controller)
{
    return controller->cloud_list.waiting_since;
}

msec_t controller_waits_for_engine(const struct controller *controller)
{
    return controller->engine_list.waiting_since;
}

static void ask_engine(struct controller *controller)
{
    forget_ended(controller);
    controller->engine_list_is_due = false;
    controller->engine_list.key = controller_key(controller);
    controller->engine_list.number = controller->audit;
    note_asked(&controller->engine_list, controller->view.now);
    controller->config.engine.ops->list(controller->config.engine.self,
                                        controller->engine_list.key);
}

void controller_audit(struct controller *controller, msec_t now)
{
    struct view *view = &controller->view;

    (void)controller_advance(controller, now);
    controller->audit++;
    controller->rivals_now = 0;
    controller->rivals_price_now = 0;
    INSTANCE_EACH(instance, view)
    {
        controller->instance_notes[instance].is_asked_again = false;
    }
    controller->cloud_list.key = controller_key(controller);
    controller->cloud_list.number = controller->audit;
    note_asked(&controller->cloud_list, controller->view.now);
    controller->config.cloud.ops->list(controller->config.cloud.self, controller->cloud_list.key);
    if (controller->cloud_list.has_ended)
        ask_engine(controller);
    else
        controller->engine_list_is_due = true;
}

/* Whether this is the end of the list that is under way. */
static bool end_list(struct controller *controller, struct audit_list *list, uint64_t key)
{
    if (list->key == 0 || key != list->key) {
        controller->stats.late_events++;
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
static void note_absence(struct controller *controller, uint32_t instance, msec_t at)
{
    struct instance_note *note = &controller->instance_notes[instance];

    if (was_named(note->mention, &controller->cloud_list)) {
        note->absences = 0;
        note->missing_since = -1;
        return;
    }
    if (note->absences < UINT8_MAX)
        note->absences++;
    if (note->missing_since < 0)
        note->missing_since = at;
}

static bool is_missing(const struct controller *controller, uint32_t instance)
{
    return controller->instance_notes[instance].missing_since >= 0 &&
           controller->view.instance.state[instance] != INSTANCE_RETURNED;
}

/* The engine's last list named it: its node answers, or something runs there. */
static bool is_vouched_for(const struct controller *controller, uint32_t instance)
{
    const uint8_t state = controller->view.instance.state[instance];

    return (state == INSTANCE_READY || state == INSTANCE_DRAINING) &&
           was_named(controller->instance_notes[instance].engine_mention, &controller->engine_list);
}

/* It was given back, and the cloud does not know it any more. */
static void take_for_gone(struct controller *controller, uint32_t instance, msec_t at)
{
    const struct cloud_event gone = {
        .kind = CLOUD_GONE,
        .at = at,
        .instance = controller->view.instance.id[instance],
        .billed_from = controller->view.instance.billed_from[instance],
        .billed_to = at,
    };

    controller->stats.vanished++;
    controller_gone(controller, instance, &gone);
}

/* One list is not enough, and neither is one witness. What nobody has seen for long enough takes no work
 * any more and is given back: the cloud's answer to that says what became of it, and only then does it
 * count no more. */
static void judge_missing_one(struct controller *controller, uint32_t instance, msec_t at)
{
    const struct instance_note *note = &controller->instance_notes[instance];
    const uint8_t state = controller->view.instance.state[instance];
    const msec_t patience = controller->is_doubting ? doubt_ms : patience_ms;

    if (note->missing_since < 0 || note->absences < ABSENCES_MAX ||
        at - note->missing_since < patience)
        return;
    if (state == INSTANCE_RETURNED) {
        if (at - note->asked_at >= patience)
            take_for_gone(controller, instance, at);
        return;
    }
    if (state == INSTANCE_DRAINING || is_vouched_for(controller, instance))
        return;
    controller->stats.vanished++;
    controller_give_up(controller, instance, false, at);
}

/* Both lists of one audit have ended. */
static void judge_missing(struct controller *controller, msec_t at)
{
    const struct view *view = &controller->view;
    uint32_t next;

    if (controller->cloud_list.key != 0 || controller->engine_list.key != 0 ||
        controller->cloud_list.number != controller->engine_list.number)
        return;
    for (uint32_t instance = view->instance.first; instance != ROW_NONE; instance = next) {
        next = view->instance.next[instance];
        judge_missing_one(controller, instance, at);
    }
}

uint32_t controller_missing(const struct controller *controller)
{
    return controller->missing;
}

bool controller_doubts(const struct controller *controller)
{
    return controller->is_doubting;
}

uint32_t controller_rivals(const struct controller *controller)
{
    return controller->rivals;
}

static void count_missing(struct controller *controller, uint64_t list_key, msec_t at)
{
    const struct view *view = &controller->view;
    const uint32_t few = view->instance.living / FEW_SHARE;

    controller->missing = 0;
    INSTANCE_EACH(instance, view)
    {
        if (view->instance.id[instance] >= list_key)
            continue; /* it was asked for after the list */
        note_absence(controller, instance, at);
        controller->missing += is_missing(controller, instance);
    }
    controller->is_doubting = controller->missing > (few > FEW_LEAST ? few : FEW_LEAST);
}

void controller_on_cloud_listed(struct controller *controller, const struct cloud_event *event)
{
    const bool was_held = controller->is_doubting || controller->rivals > 0;

    if (!end_list(controller, &controller->cloud_list, event->key))
        return;
    forget_gone(controller, event->at);
    count_missing(controller, event->key, event->at);
    controller->rivals = controller->rivals_now;
    controller->rivals_price = controller->rivals_price_now;
    if (was_held && !controller->is_doubting && controller->rivals == 0)
        controller->wants_decision = true;
    if (controller->engine_list_is_due)
        ask_engine(controller);
    judge_missing(controller, event->at);
}

/*
 * Tasks.
 */

/* Ask for the same again: nothing came of it. */
static void place_again(struct controller *controller, uint32_t task)
{
    controller->stats.asked_anew++;
    controller_left(controller, task, controller->view.now);
    controller_try_place(controller, task);
}

/* A cancel or a stop. */
static void recall_again(struct controller *controller, uint32_t task)
{
    struct task_step *step = &controller->steps[task];

    controller->stats.asked_anew++;
    step->state = STEP_PLACED;
    controller_recall(controller, task, true);
}

/* It was named, or was asked for after the list: whatever it does goes on. Only a stop or a
 * cancel that nobody heard is repeated. */
static void judge_named(struct controller *controller, uint32_t task, bool is_old)
{
    struct task_note *note = &controller->task_notes[task];

    if (controller->steps[task].state == STEP_PLACED || !is_old)
        note->absences = 0;
    else if (++note->absences >= ABSENCES_MAX)
        recall_again(controller, task);
}

/* It may wait at the engine for long; only now and then it is asked again. */
static void judge_queued(struct controller *controller, uint32_t task, bool is_old)
{
    struct task_note *note = &controller->task_notes[task];

    if (note->absences < ABSENCES_MAX && ++note->absences < ABSENCES_MAX)
        return;
    if (is_old)
        controller_queue_again(controller, task);
}

/* It is asked to start or to stop, and the list does not show it. */
static void judge_unnamed(struct controller *controller, uint32_t task, bool is_old, msec_t at)
{
    struct task_note *note = &controller->task_notes[task];

    if (note->absences < ABSENCES_MAX && ++note->absences < ABSENCES_MAX)
        return;
    if (is_old && controller->steps[task].state == STEP_PLACED) {
        place_again(controller, task);
    } else if (is_old && controller->steps[task].state == STEP_CANCELLING) {
        recall_again(controller, task); /* only a confirmation frees it */
    } else if (is_old) {
        controller->stats.tasks_missed++; /* it has stopped, and nobody said so */
        controller_lost(controller, task, at);
    }
}

static void judge_task(struct controller *controller, uint32_t task, msec_t at)
{
    const struct view *view = &controller->view;
    const struct task_note *note = &controller->task_notes[task];
    const bool is_old = at - note->since > patience_ms;

    if (note->since >= controller->engine_list.asked_at)
        return;
    if (controller->steps[task].state == STEP_NONE)
        return;
    if (controller->steps[task].state == STEP_QUEUED) {
        judge_queued(controller, task, is_old);
    } else if (was_named(note->mention, &controller->engine_list)) {
        judge_named(controller, task, is_old);
    } else if (view->task.state[task] == TASK_RUNNING) {
        controller->stats.tasks_missed++;
        controller_lost(controller, task, at);
    } else {
        judge_unnamed(controller, task, is_old, at);
    }
}

static void judge_job(struct controller *controller, uint32_t job, msec_t at)
{
    const struct view *view = &controller->view;
    const uint64_t id = view->job.id[job];

    if (!was_named(controller->lessons[job].mention, &controller->engine_list)) {
        controller->stats.jobs_vanished++;
        controller_drop_job(controller, job, at);
        map_put(&controller->ended_jobs, id, 0);
        return;
    }
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task])
        judge_task(controller, task, at);
}

/* A machine that the engine does not know any more takes no work. */
static void judge_node(struct controller *controller, uint32_t instance, msec_t at)
{
    struct instance_note *note = &controller->instance_notes[instance];

    if (was_named(note->engine_mention, &controller->engine_list))
        note->engine_absences = 0;
    else if (++note->engine_absences >= ABSENCES_MAX) {
        controller->stats.nodes_lost++;
        controller_give_up(controller, instance, false, at);
    }
}

/* It was asked to leave, and nothing came of it. */
static void leave_again(struct controller *controller, uint32_t instance, msec_t at)
{
    struct instance_note *note = &controller->instance_notes[instance];

    if (controller->view.instance.state[instance] != INSTANCE_DRAINING || !note->is_leaving ||
        at - note->asked_at <= patience_ms)
        return;
    note->is_leaving = false;
    controller_try_return(controller, instance);
}

static void judge_nodes(struct controller *controller, uint64_t list_key, msec_t at)
{
    const struct view *view = &controller->view;

    INSTANCE_EACH(instance, view)
    {
        struct instance_note *note = &controller->instance_notes[instance];

        if (note->is_uncaught) {
            note->is_uncaught = false;
            if (view->instance.state[instance] == INSTANCE_READY)
                controller_catch_up(controller, instance);
        }
        if (view->instance.state[instance] == INSTANCE_READY &&
            view->instance.id[instance] < list_key)
            judge_node(controller, instance, at);
        else
            leave_again(controller, instance, at);
    }
}

void controller_on_engine_listed(struct controller *controller, const struct engine_event *event)
{
    const struct view *view = &controller->view;

    if (!end_list(controller, &controller->engine_list, event->key))
        return;
    for (uint32_t job = 0; job < view->job.count; job++) {
        if (view->job.used[job])
            judge_job(controller, job, event->at);
    }
    judge_nodes(controller, event->key, event->at);
    controller->stats.audits++;
    controller->wants_decision = true;
    judge_missing(controller, event->at);
}
