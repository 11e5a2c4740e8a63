/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The brake: what is rented while machines prove bad. One may be bad by itself; when they are bad one after
 * the other, all may suffer from the same: the image, a key, the network, a prolog. A machine proves good
 * when a task has run there for a while or to its end. It proves bad when it does not become ready in time,
 * or when the engine closed it, or we gave it up, after starts there had failed and nothing had run.
 *
 *     no machine has ever proved good          FRESH_MOST unproven ones at a time, if that is configured
 *     the last one or two proved bad           fewer
 *     PROBE_AFTER or more in a row             one at a time, the probe, after a wait that doubles
 *     one proves good                          as many as there is work for
 *
 * The state is small and is kept over a restart by whoever runs the controller.
 *
 * Costs:  nothing while the brake is off; else once through the machines a decision.
 */
#include <assert.h>

#include "control/state/controller_state.h"

enum { PROBE_AFTER = 3, FRESH_MOST = 4 };

static const msec_t proof_ms = 10 * MSEC_PER_SEC;
static const msec_t wait_ms = 60 * MSEC_PER_SEC;

bool controller_is_coming(const struct view *view, uint32_t instance)
{
    return view->instance.state[instance] == INSTANCE_REQUESTED ||
           view->instance.state[instance] == INSTANCE_BOOTING;
}

static uint32_t failures(const struct controller *controller)
{
    const struct controller_brake *brake = &controller->brake;

    return brake->failed_boots > brake->failed_starts ? brake->failed_boots : brake->failed_starts;
}

uint32_t controller_failed_boots(const struct controller *controller)
{
    return failures(controller) >= PROBE_AFTER ? failures(controller) : 0;
}

bool controller_is_probing(const struct controller *controller)
{
    return failures(controller) >= PROBE_AFTER;
}

struct controller_brake controller_brake(const struct controller *controller)
{
    return controller->brake;
}

uint64_t controller_brake_allows(const struct controller *controller)
{
    const uint32_t failed = failures(controller);

    if (controller->config.boot_timeout_ms == 0)
        return BRAKE_OFF;
    if (failed >= PROBE_AFTER)
        return controller->view.now >= controller->brake.not_before ? 1 : 0;
    if (failed > 0 && controller->config.starts_slowly)
        return FRESH_MOST - failed;
    return controller->brake.is_proven || !controller->config.starts_slowly ? BRAKE_OFF
                                                                            : FRESH_MOST;
}

/* A machine that is ready is proof enough where only boots have failed. */
static bool counts_as_unproven(const struct controller *controller, uint32_t instance)
{
    const struct view *view = &controller->view;

    if (controller->instance_notes[instance].is_good ||
        view->instance.state[instance] == INSTANCE_RETURNED)
        return false;
    return controller_is_coming(view, instance) || controller->brake.failed_starts > 0 ||
           (controller->config.starts_slowly && !controller->brake.is_proven);
}

uint64_t controller_unproven(const struct controller *controller)
{
    const struct view *view = &controller->view;
    uint64_t count = 0;

    if (controller_brake_allows(controller) == BRAKE_OFF)
        return 0;
    INSTANCE_EACH(instance, view)
    {
        count += counts_as_unproven(controller, instance);
    }
    return count;
}

/* One more in a row. */
static void engage(struct controller *controller, uint32_t *count, msec_t at)
{
    static const msec_t most_ms = MSEC_PER_HOUR;
    msec_t wait = wait_ms;

    ++*count;
    if (failures(controller) < PROBE_AFTER || !controller->config.starts_slowly)
        return;
    for (uint32_t i = PROBE_AFTER; i < failures(controller) && wait < most_ms; i++)
        wait *= 2;
    controller->brake.not_before = at + (wait < most_ms ? wait : most_ms);
}

void controller_proved_good(struct controller *controller, uint32_t instance)
{
    struct controller_brake *brake = &controller->brake;

    if (controller->instance_notes[instance].is_good)
        return;
    controller->instance_notes[instance].is_good = true;
    if (brake->is_proven && failures(controller) == 0)
        return;
    *brake = (struct controller_brake){ .is_proven = true };
    controller->wants_decision = true;
}

void controller_boot_worked(struct controller *controller, uint32_t instance)
{
    const struct view *view = &controller->view;

    controller->boots[view->instance.offer[instance]] = (struct boot_record){ 0 };
    controller->brake.failed_boots = 0;
    if (view->instance.rented_at[instance] > controller->proven_at)
        controller->proven_at = view->instance.rented_at[instance];
}

void controller_starts_failed(struct controller *controller, uint32_t instance)
{
    struct instance_note *note = &controller->instance_notes[instance];

    if (controller->config.boot_timeout_ms == 0 || note->is_good || !note->is_faulted ||
        note->losses == 0)
        return;
    note->is_faulted = false; /* it counts once */
    engage(controller, &controller->brake.failed_starts, controller->view.now);
}

/* For how long the offer is left alone. */
static msec_t block_ms(const struct controller_config *config, uint32_t failures)
{
    static const msec_t most_ms = MSEC_PER_HOUR;
    msec_t length = config->refused_block_ms;

    while (failures-- > 1 && length > 0 && length < most_ms)
        length = length < most_ms / 2 ? 2 * length : most_ms;
    return length;
}

void controller_boot_failed(struct controller *controller, uint32_t instance, msec_t at)
{
    const struct view *view = &controller->view;
    const uint32_t offer = view->instance.offer[instance];
    const msec_t asked_at = view->instance.rented_at[instance];
    struct boot_record *record = &controller->boots[offer];

    if (record->failures == 0 || asked_at >= record->failed_at) {
        record->failures++;
        record->failed_at = at;
    }
    /* If one that was asked for as late or later became ready, it is this machine that is bad. */
    if (asked_at > controller->proven_at)
        engage(controller, &controller->brake.failed_boots, at);
    controller_block(controller, offer, at, block_ms(&controller->config, record->failures));
}

/* Whether a task has run there for long enough; else 'ret_at' is when it will have. */
static bool has_proof(const struct view *view, uint32_t instance, msec_t *ret_at)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.state[task] != TASK_RUNNING)
            continue;
        if (view->task.launched_at[task] + proof_ms <= view->now)
            return true;
        if (view->task.launched_at[task] + proof_ms < *ret_at)
            *ret_at = view->task.launched_at[task] + proof_ms;
    }
    return false;
}

static void check_proofs(struct controller *controller)
{
    const struct view *view = &controller->view;

    controller->next_proof = MSEC_NEVER;
    if (controller_brake_allows(controller) == BRAKE_OFF)
        return;
    if (controller->brake.not_before > view->now)
        controller->next_proof = controller->brake.not_before;
    INSTANCE_EACH(instance, view)
    {
        if (!controller->instance_notes[instance].is_good &&
            has_proof(view, instance, &controller->next_proof))
            controller_proved_good(controller, instance);
    }
}

void controller_check_boots(struct controller *controller)
{
    const struct view *view = &controller->view;

    check_proofs(controller);
    if (view->now < controller->next_boot_timeout || controller->config.boot_timeout_ms == 0)
        return;
    INSTANCE_EACH(instance, view)
    {
        if (!controller_is_coming(view, instance) ||
            view->instance.ready_expected[instance] + controller->config.boot_timeout_ms >
                view->now)
            continue;
        controller->stats.boot_timeouts++;
        controller_boot_failed(controller, instance, view->now);
        controller_give_up(controller, instance, false, view->now);
    }
    controller->wants_decision = false; /* one is being made */
}

void controller_watch_boots(struct controller *controller)
{
    const struct view *view = &controller->view;

    controller->next_boot_timeout = MSEC_NEVER;
    if (controller->config.boot_timeout_ms == 0)
        return;
    INSTANCE_EACH(instance, view)
    {
        const msec_t at =
            view->instance.ready_expected[instance] + controller->config.boot_timeout_ms;

        if (controller_is_coming(view, instance) && at < controller->next_boot_timeout)
            controller->next_boot_timeout = at;
    }
}
