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
 * Where an engine's word that a machine is ready is as good (ready_proves), the first that is ready ends the slow
 * start. Starts that fail there count as everywhere.
 *
 * The state is small and is kept over a restart by whoever runs the controller.
 *
 * Costs:  nothing while the brake is off; else once through the machines a decision.
 */
#include <assert.h>

#include "control/books/books.h"

enum { PROBE_AFTER = 3, FRESH_MOST = 4 };

static const msec_t proof_ms = 10 * MSEC_PER_SEC;
static const msec_t wait_ms = 60 * MSEC_PER_SEC;

bool brake_is_coming(const struct view *view, uint32_t instance)
{
    return view->instance.state[instance] == INSTANCE_REQUESTED ||
           view->instance.state[instance] == INSTANCE_BOOTING;
}

uint32_t brake_failures(const struct books *books)
{
    const struct controller_brake *brake = &books->brake;

    return brake->failed_boots > brake->failed_starts ? brake->failed_boots : brake->failed_starts;
}

bool brake_is_probing(const struct books *books)
{
    return brake_failures(books) >= PROBE_AFTER;
}

uint64_t brake_allows(const struct books *books)
{
    const uint32_t failed = brake_failures(books);

    if (books->state->config.boot_timeout_ms == 0)
        return BRAKE_OFF;
    if (failed >= PROBE_AFTER)
        return books->state->view.now >= books->brake.not_before ? 1 : 0;
    if (failed > 0 && books->state->config.starts_slowly)
        return FRESH_MOST - failed;
    return books->brake.is_proven || !books->state->config.starts_slowly ? BRAKE_OFF : FRESH_MOST;
}

/* A machine that is ready is proof enough where only boots have failed. */
static bool counts_as_unproven(const struct books *books, uint32_t instance)
{
    const struct view *view = &books->state->view;

    if (books->state->instance_notes[instance].is_good ||
        view->instance.state[instance] == INSTANCE_RETURNED)
        return false;
    return brake_is_coming(view, instance) || books->brake.failed_starts > 0 ||
           (books->state->config.starts_slowly && !books->brake.is_proven);
}

uint64_t brake_unproven(const struct books *books)
{
    const struct view *view = &books->state->view;
    uint64_t count = 0;

    if (brake_allows(books) == BRAKE_OFF)
        return 0;
    INSTANCE_EACH(instance, view)
    {
        count += counts_as_unproven(books, instance);
    }
    return count;
}

/* One more in a row, which was asked for then. While it is waited, or the probe is under way, those that were asked for before say nothing new: many may fail in
 * one moment, and the wait doubles with the probes. */
static void engage(struct books *books, uint32_t *count, msec_t asked_at, msec_t at)
{
    static const msec_t most_ms = MSEC_PER_HOUR;
    msec_t wait = wait_ms;

    if (brake_is_probing(books) && asked_at < books->brake.not_before)
        return;
    ++*count;
    if (brake_failures(books) < PROBE_AFTER || !books->state->config.starts_slowly)
        return;
    for (uint32_t i = PROBE_AFTER; i < brake_failures(books) && wait < most_ms; i++)
        wait *= 2;
    books->brake.not_before = at + (wait < most_ms ? wait : most_ms);
}

void brake_proved_good(struct books *books, uint32_t instance)
{
    struct controller_brake *brake = &books->brake;

    if (books->state->instance_notes[instance].is_good)
        return;
    books->state->instance_notes[instance].is_good = true;
    if (brake->is_proven && brake_failures(books) == 0)
        return;
    *brake = (struct controller_brake){ .is_proven = true };
    books->state->wants_decision = true;
}

void brake_boot_worked(struct books *books, uint32_t instance)
{
    const struct view *view = &books->state->view;

    books->boots[view->instance.offer[instance]].failures = 0;
    books->brake.failed_boots = 0;
    books->brake.is_proven |= books->state->config.ready_proves;
    if (view->instance.rented_at[instance] > books->proven_at)
        books->proven_at = view->instance.rented_at[instance];
}

void brake_starts_failed(struct books *books, uint32_t instance)
{
    struct instance_note *note = &books->state->instance_notes[instance];

    if (books->state->config.boot_timeout_ms == 0 || note->is_good || !note->is_faulted ||
        note->losses == 0)
        return;
    note->is_faulted = false; /* it counts once */
    engage(books, &books->brake.failed_starts, books->state->view.instance.rented_at[instance],
           books->state->view.now);
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

void brake_boot_failed(struct books *books, uint32_t instance, msec_t at)
{
    const struct view *view = &books->state->view;
    const uint32_t offer = view->instance.offer[instance];
    const msec_t asked_at = view->instance.rented_at[instance];
    struct boot_record *record = &books->boots[offer];

    if (record->failures == 0 || asked_at >= record->failed_at) {
        record->failures++;
        record->failed_at = at;
    }
    /* If one that was asked for as late or later became ready, it is this machine that is bad. */
    if (asked_at > books->proven_at)
        engage(books, &books->brake.failed_boots, asked_at, at);
    books_block(books, offer, at, block_ms(&books->state->config, record->failures));
}

void brake_room_told(struct books *books, uint32_t instance, bool is_too_small, msec_t at)
{
    const uint32_t offer = books->state->view.instance.offer[instance];
    struct boot_record *record = &books->boots[offer];

    record->too_small = is_too_small ? record->too_small + 1 : 0;
    if (is_too_small)
        books_block(books, offer, at, block_ms(&books->state->config, record->too_small));
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

void brake_check_proofs(struct books *books)
{
    const struct view *view = &books->state->view;

    books->next_proof = MSEC_NEVER;
    if (brake_allows(books) == BRAKE_OFF)
        return;
    if (books->brake.not_before > view->now)
        books->next_proof = books->brake.not_before;
    INSTANCE_EACH(instance, view)
    {
        if (!books->state->instance_notes[instance].is_good &&
            has_proof(view, instance, &books->next_proof))
            brake_proved_good(books, instance);
    }
}
