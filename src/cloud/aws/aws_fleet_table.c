/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of machines and of requests that are under way, and what is reported when a row ends. It knows
 * nothing of what EC2 says: the other files of the fleet stand on it.
 */
#include "cloud/aws/aws_fleet_private.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- what we tell ---- */

void fleet_tell(struct aws_fleet *fleet, const struct cloud_event *event)
{
    fleet->config.on_event(fleet->config.context, event);
}

void fleet_note(struct aws_fleet *fleet, bool is_error, const char *format, ...)
{
    char text[512];
    va_list arguments;

    if (fleet->config.on_note == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fleet->config.on_note(fleet->config.context, is_error, text);
}

/* ---- machines ---- */

struct machine *fleet_find(struct aws_fleet *fleet, uint64_t key)
{
    const uint32_t index = map_get(&fleet->by_key, key);

    return index != MAP_NONE ? &fleet->machines[index] : NULL;
}

struct machine *fleet_add(struct aws_fleet *fleet, uint64_t key, uint32_t offer)
{
    assert(key > 0);
    assert(map_get(&fleet->by_key, key) == MAP_NONE);
    MEM_ROOM(fleet->machines, fleet->machines_room, fleet->machine_count + 1);
    map_put(&fleet->by_key, key, fleet->machine_count);

    struct machine *machine = &fleet->machines[fleet->machine_count++];

    *machine = (struct machine){ .key = key, .offer = offer, .seen_at = -1, .launched_at = -1 };
    return machine;
}

static void forget(struct aws_fleet *fleet, const struct machine *machine)
{
    const uint32_t index = map_get(&fleet->by_key, machine->key);
    const uint32_t last = fleet->machine_count - 1;

    (void)map_remove(&fleet->by_key, machine->key);
    if (index != last) {
        fleet->machines[index] = fleet->machines[last];
        map_put(&fleet->by_key, fleet->machines[index].key, index);
    }
    fleet->machine_count--;
}

void fleet_queue(struct aws_fleet *fleet, struct machine *machine, msec_t at)
{
    machine->next_at = at;
    if (machine->is_queued || machine->in_call != 0)
        return;
    machine->is_queued = true;
    MEM_ROOM(fleet->queue, fleet->queue_room, fleet->queue_count + 1);
    fleet->queue[fleet->queue_count++] = machine->key;
}

struct ended *fleet_find_ended(const struct aws_fleet *fleet, uint64_t key)
{
    const uint32_t index = map_get(&fleet->ended_by_key, key);

    return index != MAP_NONE ? &fleet->ended[index] : NULL;
}

static void remember_end(struct aws_fleet *fleet, const struct ended *ended)
{
    const uint32_t index = fleet->ended_next;

    if (fleet->ended_count < FLEET_ENDED_MAX) {
        MEM_ROOM(fleet->ended, fleet->ended_room, fleet->ended_count + 1);
        fleet->ended_count++;
    } else {
        (void)map_remove(&fleet->ended_by_key, fleet->ended[index].key);
    }
    fleet->ended[index] = *ended;
    map_put(&fleet->ended_by_key, ended->key, index);
    fleet->ended_next = (index + 1) % FLEET_ENDED_MAX;
}

void fleet_refuse(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    const struct cloud_event event = {
        .kind = machine->is_unwanted ? CLOUD_GONE : CLOUD_REFUSED,
        .at = now,
        .instance = machine->key,
        .billed_from = -1,
        .billed_to = -1,
        .offer = machine->offer,
    };

    forget(fleet, machine);
    fleet_tell(fleet, &event);
}

/* EC2 tells whole seconds. What began and ended within one was there for a moment, and is charged. */
msec_t fleet_billed_to(msec_t launched_at, msec_t end)
{
    return end > launched_at ? end : launched_at + 1;
}

void fleet_end(struct aws_fleet *fleet, msec_t now, struct machine *machine, msec_t billed_to)
{
    struct ended ended = {
        .key = machine->key,
        .offer = machine->offer,
        .at = now,
        .billed_from = machine->launched_at,
        .billed_to = fleet_billed_to(machine->launched_at, billed_to),
    };
    const struct cloud_event event = {
        .kind = CLOUD_GONE,
        .at = now,
        .instance = ended.key,
        .billed_from = ended.billed_from,
        .billed_to = ended.billed_to,
        .offer = ended.offer,
    };

    memcpy(ended.id, machine->id, sizeof(ended.id));
    remember_end(fleet, &ended);
    forget(fleet, machine);
    fleet_tell(fleet, &event);
}

/* ---- requests ---- */

struct call *fleet_begin_call(struct aws_fleet *fleet, msec_t now, enum call_kind kind)
{
    for (int i = 0; i < AWS_FLEET_CALLS; i++) {
        if (fleet->calls[i].kind == CALL_FREE) {
            fleet->calls[i] =
                (struct call){ .kind = kind, .id = ++fleet->last_call, .sent_at = now };
            fleet->call_count++;
            return &fleet->calls[i];
        }
    }
    return NULL;
}

void fleet_send(struct aws_fleet *fleet, const struct call *call)
{
    fleet->config.on_send(fleet->config.context, call->id, fleet->form.text, fleet->form.size,
                          fleet->config.timing.timeout);
}

void fleet_look_soon(struct aws_fleet *fleet, msec_t now)
{
    const msec_t soon = now + fleet->config.timing.look;

    if (!fleet->round.is_active && fleet->round.next_at > soon)
        fleet->round.next_at = soon;
}
