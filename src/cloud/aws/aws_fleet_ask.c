/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules:
 *  1. A launch that may have been done is sent again only with the same token and the same parameters:
 *     the machines that belong to it are the same, wanted or not.
 *  2. After a lost answer the machine counts as perhaps there: until EC2 refuses, shows it, or has
 *     not shown it for 'settle', it is not reported as absent.
 *  3. While an offer's back-off lasts, nothing is sent for it: what was surely not done is refused,
 *     what may have been done waits.
 */
#include "cloud/aws/aws_fleet_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cloud/aws/aws_http.h"

/* ---- the queue ---- */

/* A machine that is asked for and may be part of a launch that is sent now. */
static bool may_join(const struct machine *machine, uint32_t offer, msec_t now)
{
    return machine != NULL && machine->state == MACHINE_ASKED && machine->offer == offer &&
           machine->together == 0 && !machine->is_unwanted && machine->in_call == 0 &&
           machine->id[0] == '\0' && machine->next_at <= now;
}

/* Settle who is asked for together with the machine: those whose keys follow its own. */
static void form_launch(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    const uint32_t most = fleet_together_max(fleet, machine->offer);
    uint32_t count = 1;

    while (count < most && may_join(fleet_find(fleet, machine->key + count), machine->offer, now))
        count++;
    for (uint32_t i = 0; i < count; i++) {
        struct machine *one = fleet_find(fleet, machine->key + i);

        one->first = machine->key;
        one->together = count;
    }
}

static void send_launch(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    struct call *call = fleet_begin_call(fleet, now, CALL_LAUNCH);
    char name[160];

    assert(call != NULL);
    if (machine->together == 0)
        form_launch(fleet, now, machine);
    fleet->stats.launches++;
    fleet->stats.repeated += machine->is_maybe_there ? 1 : 0;
    call->count = machine->together;
    call->is_fleet = fleet_takes_any_subnet(fleet, machine->offer);
    for (uint32_t i = 0; i < call->count; i++) {
        struct machine *one = fleet_find(fleet, machine->first + i);

        call->keys[i] = machine->first + i;
        if (one != NULL && one->state == MACHINE_ASKED) {
            one->in_call = call->id;
            one->asked_at = now;
        }
    }
    fleet_offer_name(fleet->config.catalogue, machine->offer, name);
    fleet_note(fleet, false, "asks for instance=%" PRIu64 " count=%" PRIu32 " offer=%s%s",
               machine->first, call->count, name, machine->is_maybe_there ? " again" : "");
    fleet_put_launch(
        fleet,
        &(struct launch){ .first = machine->first, .count = call->count, .offer = machine->offer });
    fleet_send(fleet, call);
}

/* Whether a caller still waits for a machine of its launch. */
static bool is_launch_wanted(struct aws_fleet *fleet, const struct machine *machine)
{
    for (uint32_t i = 0; i < machine->together; i++) {
        const struct machine *one = fleet_find(fleet, machine->first + i);

        if (one != NULL && one->state == MACHINE_ASKED && !one->is_unwanted)
            return true;
    }
    return false;
}

enum step { STEP_DONE, STEP_WAIT, STEP_TERMINATE };

/* A machine that is asked for, whose time has come: send it, unless something is in the way. */
static enum step launch(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    if (fleet_is_blocked(fleet, machine->offer, now)) {
        if (machine->is_maybe_there) {
            machine->next_at = fleet->blocks[machine->offer].until;
            return STEP_WAIT;
        }
        fleet->stats.held_back++;
        fleet_refuse(fleet, now, machine);
        return STEP_DONE;
    }
    /* One place is kept for the rounds and one for terminations. */
    if (fleet->call_count >= AWS_FLEET_CALLS - 2)
        return STEP_WAIT;
    if (!aws_bucket_take(&fleet->launches, now)) {
        machine->next_at = aws_bucket_next(&fleet->launches, now);
        return STEP_WAIT;
    }
    send_launch(fleet, now, machine);
    return STEP_DONE;
}

/* What the machine wants now. STEP_DONE: it leaves the queue. */
static enum step step(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    if (machine->is_unwanted && machine->given_back_at == 0)
        machine->given_back_at = now;
    if (machine->in_call != 0)
        return STEP_DONE; /* sent a moment ago, with another of its launch */
    if (machine->next_at > now)
        return STEP_WAIT;
    if (machine->id[0] != '\0')
        return machine->is_unwanted ? STEP_TERMINATE : STEP_DONE;
    /* One that is no longer wanted is asked for as long as another of its launch is. */
    if (machine->state == MACHINE_ASKED &&
        (!machine->is_unwanted || is_launch_wanted(fleet, machine)))
        return launch(fleet, now, machine);
    if (machine->state == MACHINE_ASKED && !machine->is_maybe_there) {
        fleet_refuse(fleet, now, machine); /* returned before it was ever sent */
        return STEP_DONE;
    }
    machine->state = MACHINE_SOUGHT;
    if (machine->asked_at == MSEC_NEVER)
        machine->asked_at = now;
    fleet_look_soon(fleet, now);
    return STEP_DONE;
}

/* One place is kept for the rounds. */
static struct call *begin_terminate(struct aws_fleet *fleet, msec_t now)
{
    if (fleet->call_count >= AWS_FLEET_CALLS - 1)
        return NULL;
    aws_form_begin(&fleet->form, "TerminateInstances", EC2_VERSION);
    return fleet_begin_call(fleet, now, CALL_TERMINATE);
}

struct batch {
    uint32_t count;
    uint64_t keys[FLEET_BATCH_MAX];
};

/* Terminate those of the batch in one request, or when there is room for one; then it is empty. */
static void send_terminate(struct aws_fleet *fleet, msec_t now, struct batch *batch)
{
    struct call *call = batch->count > 0 ? begin_terminate(fleet, now) : NULL;

    for (uint32_t i = 0; i < batch->count; i++) {
        struct machine *machine = fleet_find(fleet, batch->keys[i]);

        if (call == NULL) {
            fleet_queue(fleet, machine, now);
            continue;
        }
        call->keys[call->count++] = machine->key;
        machine->in_call = call->id;
        aws_form_item(&fleet->form, "InstanceId.#", call->count, machine->id);
    }
    if (call != NULL)
        fleet_send(fleet, call);
    batch->count = 0;
}

/* Send what is due; each key stands in 'queue' once. What is reported on the way may add to the queue, so
 * it is taken away first. */
void fleet_pump(struct aws_fleet *fleet, msec_t now)
{
    struct batch batch = { 0 };
    uint64_t *queue = fleet->queue;
    const uint32_t count = fleet->queue_count;

    fleet->queue = NULL;
    fleet->queue_count = 0;
    fleet->queue_room = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct machine *machine = fleet_find(fleet, queue[i]);

        if (machine == NULL)
            continue;

        machine->is_queued = false;

        const enum step what = step(fleet, now, machine);

        if (what == STEP_WAIT)
            fleet_queue(fleet, machine, machine->next_at);
        else if (what == STEP_TERMINATE && machine->is_alone)
            send_terminate(fleet, now, &(struct batch){ .count = 1, .keys = { machine->key } });
        else if (what == STEP_TERMINATE)
            batch.keys[batch.count++] = machine->key;
        if (batch.count == FLEET_BATCH_MAX)
            send_terminate(fleet, now, &batch);
    }
    mem_free(queue);
    send_terminate(fleet, now, &batch);
}

msec_t fleet_queue_wake(const struct aws_fleet *fleet)
{
    msec_t wake = MSEC_NEVER;

    if (fleet->call_count >= AWS_FLEET_CALLS - 2)
        return wake; /* the next answer makes room */
    for (uint32_t i = 0; i < fleet->queue_count; i++) {
        const uint32_t index = map_get(&fleet->by_key, fleet->queue[i]);

        if (index != MAP_NONE && fleet->machines[index].next_at < wake)
            wake = fleet->machines[index].next_at;
    }
    return wake;
}

void fleet_terminate_stray(struct aws_fleet *fleet, msec_t now, const char *id)
{
    struct call *call = begin_terminate(fleet, now);

    if (call == NULL)
        return; /* the next round shows it again */
    call->count = 1;
    aws_form_item(&fleet->form, "InstanceId.#", 1, id);
    fleet_send(fleet, call);
}
