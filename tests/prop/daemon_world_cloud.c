/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local cloud's own world behind its lines: what stint-cloud-local does with a connection, and the
 * machines that boot, join and die. Here also stands who lies about lists.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon_world_private.h"

static const char *const cluster = "swarm";

static struct boot *boot_of(struct sim *sim, uint32_t row)
{
    for (uint32_t i = 0; i < sim->boot_count; i++) {
        if (sim->boots[i].row == row)
            return &sim->boots[i];
    }
    MEM_ROOM(sim->boots, sim->boots_room, sim->boot_count + 1);
    sim->boots[sim->boot_count] = (struct boot){
        .row = row, .up_at = MSEC_NEVER, .join_at = MSEC_NEVER, .down_at = MSEC_NEVER
    };
    return &sim->boots[sim->boot_count++];
}

/* ---- what the world asks for ---- */

static bool on_boot(void *context, uint32_t row)
{
    struct sim *sim = context;
    const struct local_machine *machine = local_world_machine(sim->cloud, row);
    const msec_t setup = catalogue_type_of(&sim->catalogue, machine->offer)->setup_ms;
    struct boot *boot = boot_of(sim, row);

    boot->up_at = sim->now + sim_between(sim, 5, 300);
    boot->join_at = boot->up_at + setup / 2 + sim_between(sim, 0, setup + 500);
    if (sim->active[FAULT_BOOT] > 0) {
        boot->join_at = MSEC_NEVER;
        if (sim_below(sim, 3) == 0)
            boot->up_at = MSEC_NEVER;
        sim->out->happened[FAULT_BOOT]++;
    }
    return true;
}

static void on_kill(void *context, uint32_t row)
{
    struct sim *sim = context;
    const struct local_machine *machine = local_world_machine(sim->cloud, row);
    struct boot *boot = boot_of(sim, row);

    boot->up_at = MSEC_NEVER;
    boot->join_at = MSEC_NEVER;
    boot->down_at = sim->now + sim_between(sim, 1, 200);
    fake_slurm_kill_node(&sim->slurm, machine->key,
                         machine->why != NULL && strcmp(machine->why, "returned") != 0);
}

static void on_tell(void *context, const char *of, const char *lines, uint32_t size)
{
    struct sim *sim = context;

    (void)of;
    if (sim->is_cloud_up && sim->is_cloud_greeted)
        sim_send(sim, FROM_CLOUD, lines, size, 0);
}

static void on_note(void *context, const char *lines, uint32_t size)
{
    (void)context;
    (void)lines;
    (void)size;
}

/* "when,event,key,name,..." */
static void on_log(void *context, const char *line)
{
    struct sim *sim = context;
    const char *event = strchr(line, ',') + 1;
    const char *key = strchr(event, ',') + 1;
    const uint64_t number = strtoull(key, NULL, 10);

    sim_trace(sim, "   cloud: %.*s st-%" PRIu64, (int)(key - event - 1), event, number);
    if (strncmp(event, "returned,", 9) == 0)
        sim_judge_return(sim, number);
    if (strncmp(event, "rented,", 7) == 0)
        sim->out->machines++;
}

void sim_cloud_create(struct sim *sim)
{
    sim->cloud = local_world_create(&(struct local_world_config){
        .catalogue = &sim->catalogue,
        .seed = sim->seed,
        .boot = on_boot,
        .kill = on_kill,
        .tell = on_tell,
        .note = on_note,
        .log = on_log,
        .context = sim,
    });
}

void sim_cloud_destroy(struct sim *sim)
{
    local_world_destroy(sim->cloud);
}

/* ---- lists, and lies ---- */

/* Copy the lines of a list from 'from', of the key 'old', to 'to' under the key 'key'; of the machines
 * that are found only so many percent. */
static void retell(struct sim *sim, const struct line_text *from, uint64_t key, uint32_t percent,
                   struct line_text *to)
{
    const char *at = from->text;
    const char *end = from->text + from->size;
    uint32_t count = 0;
    char head[64];

    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const uint32_t length = (uint32_t)(line_end - at) + 1;
        const char *id = memmem(at, length, " id=", 4);

        if (strncmp(at, "found ", 6) == 0) {
            if (sim_below(sim, 100) < percent) {
                const int size = snprintf(head, sizeof(head), "found key=%" PRIu64, key);

                line_text_append(to, head, (uint32_t)size);
                line_text_append(to, id, (uint32_t)(at + length - id));
                count++;
            }
        } else if (strncmp(at, "listed ", 7) != 0) {
            line_text_append(to, at, length);
        }
        at += length;
    }
    line_text_begin(to, "listed");
    line_text_number(to, "key", key);
    line_text_number(to, "count", count);
    line_text_end(to);
}

void sim_cloud_keep_list(struct sim *sim)
{
    const struct local_request request = { .verb = LOCAL_LIST, .key = 1 };

    line_text_reset(&sim->stale);
    local_world_obey(sim->cloud, sim->now, cluster, &request, &sim->stale);
}

static void answer_list(struct sim *sim, const struct local_request *request)
{
    struct line_text truth = { .text = NULL };
    struct line_text told = { .text = NULL };
    msec_t more = 0;

    local_world_obey(sim->cloud, sim->now, cluster, request, &truth);
    if (sim->active[FAULT_LIST_EMPTY] > 0) {
        retell(sim, &truth, request->key, 0, &told);
        sim->out->happened[FAULT_LIST_EMPTY]++;
    } else if (sim->active[FAULT_LIST_PART] > 0) {
        retell(sim, &truth, request->key, sim->part_percent, &told);
        sim->out->happened[FAULT_LIST_PART]++;
    } else if (sim->active[FAULT_LIST_STALE] > 0 && sim->stale.size > 0) {
        retell(sim, &sim->stale, request->key, 100, &told);
        sim->out->happened[FAULT_LIST_STALE]++;
    } else {
        retell(sim, &truth, request->key, 100, &told);
    }
    if (sim->active[FAULT_LIST_LATE] > 0) {
        more = sim->late_ms;
        sim->out->happened[FAULT_LIST_LATE]++;
    }
    sim_send(sim, FROM_CLOUD, told.text, told.size, more);
    line_text_done(&truth);
    line_text_done(&told);
}

/* ---- requests ---- */

static void answer_error(struct sim *sim, const char *text)
{
    struct line_text out = { .text = NULL };

    line_text_begin(&out, "error");
    line_text_prose(&out, "text", text);
    line_text_end(&out);
    sim_send(sim, FROM_CLOUD, out.text, out.size, 0);
    line_text_done(&out);
}

void sim_cloud_hear(struct sim *sim, char *text, size_t length)
{
    struct line line;
    struct local_request request;
    struct error error = { "" };
    struct line_text answer = { .text = NULL };

    if (line_parse(text, length, &line, &error) < 0 ||
        local_request_read(&line, &request, &error) < 0) {
        answer_error(sim, error.text);
        return;
    }
    if (request.verb == LOCAL_HELLO) {
        sim->is_cloud_greeted = true;
        line_text_begin(&answer, "hello");
        line_text_number(&answer, "protocol", LOCAL_PROTOCOL);
        line_text_string(&answer, "stint", "0.0.0");
        line_text_end(&answer);
    } else if (request.verb == LOCAL_LIST) {
        answer_list(sim, &request);
        return;
    } else {
        if (request.verb == LOCAL_RENT)
            sim_judge_rent(sim, request.key, request.count, request.offer);
        local_world_obey(sim->cloud, sim->now, cluster, &request, &answer);
    }
    if (answer.size > 0 && sim->is_cloud_up)
        sim_send(sim, FROM_CLOUD, answer.text, answer.size, 0);
    line_text_done(&answer);
}

/* ---- machines ---- */

uint64_t sim_cloud_some_running(struct sim *sim, uint64_t number)
{
    const uint32_t count = local_world_machine_count(sim->cloud);
    uint64_t running = 0;

    for (int pass = 0; pass < 2; pass++) {
        uint64_t at = running > 0 ? number % running : 0;

        for (uint32_t row = 0; row < count; row++) {
            const struct local_machine *machine = local_world_machine(sim->cloud, row);

            if (machine->state != LOCAL_RUNNING)
                continue;
            if (pass == 0)
                running++;
            else if (at-- == 0)
                return machine->key;
        }
        if (running == 0)
            return 0;
    }
    return 0;
}

static uint32_t row_of(const struct sim *sim, uint64_t key)
{
    for (uint32_t row = local_world_machine_count(sim->cloud); row > 0; row--) {
        if (local_world_machine(sim->cloud, row - 1)->key == key)
            return row - 1;
    }
    return UINT32_MAX;
}

void sim_cloud_die(struct sim *sim, uint64_t number)
{
    const uint64_t key = sim_cloud_some_running(sim, number);

    if (key == 0)
        return;
    sim_trace(sim, "** machine st-%" PRIu64 " dies", key);
    sim->out->happened[FAULT_DEATH]++;
    fake_slurm_kill_node(&sim->slurm, key, true);
    boot_of(sim, row_of(sim, key))->join_at = MSEC_NEVER;
    local_world_down(sim->cloud, row_of(sim, key), sim->now);
}

void sim_cloud_notice(struct sim *sim, uint64_t number, msec_t notice_ms)
{
    const uint64_t key = sim_cloud_some_running(sim, number);
    struct line_text answer = { .text = NULL };

    if (key == 0)
        return;
    sim_trace(sim, "** machine st-%" PRIu64 " is noticed", key);
    sim->out->happened[FAULT_NOTICE]++;
    map_put(&sim->noticed, key, 1);
    fake_slurm_excuse(&sim->slurm, key);
    local_world_obey(sim->cloud, sim->now, cluster,
                     &(struct local_request){ .verb = LOCAL_REVOKE,
                                              .key = 1,
                                              .has_id = true,
                                              .id = key,
                                              .notice_ms = (uint32_t)notice_ms },
                     &answer);
    line_text_done(&answer);
}

msec_t sim_cloud_next_wake(const struct sim *sim)
{
    msec_t wake = local_world_next_wake(sim->cloud);

    for (uint32_t i = 0; i < sim->boot_count; i++) {
        const struct boot *boot = &sim->boots[i];

        if (boot->up_at < wake)
            wake = boot->up_at;
        if (boot->join_at < wake)
            wake = boot->join_at;
        if (boot->down_at < wake)
            wake = boot->down_at;
    }
    return wake;
}

static void tick_boot(struct sim *sim, uint32_t at)
{
    const uint32_t row = sim->boots[at].row;

    if (sim->boots[at].up_at <= sim->now) {
        sim->boots[at].up_at = MSEC_NEVER;
        local_world_up(sim->cloud, row, sim->now);
    }
    if (sim->boots[at].join_at <= sim->now) {
        const struct local_machine *machine = local_world_machine(sim->cloud, row);
        const struct machine_type *type = catalogue_type_of(&sim->catalogue, machine->offer);

        sim->boots[at].join_at = MSEC_NEVER;
        fake_slurm_join(&sim->slurm, machine->key,
                        (uint32_t)(type->capacity.amount[RES_CPU] / 1000),
                        (uint32_t)type->capacity.amount[RES_MEM]);
        if (map_get(&sim->noticed, machine->key) != MAP_NONE)
            fake_slurm_excuse(&sim->slurm, machine->key);
        sim_trace(sim, "   slurm: st-%" PRIu64 " joins", machine->key);
    }
    if (sim->boots[at].down_at <= sim->now) {
        sim->boots[at].down_at = MSEC_NEVER;
        local_world_down(sim->cloud, row, sim->now);
    }
}

void sim_cloud_tick(struct sim *sim)
{
    if (local_world_next_wake(sim->cloud) <= sim->now)
        local_world_tick(sim->cloud, sim->now);
    for (uint32_t i = 0; i < sim->boot_count; i++)
        tick_boot(sim, i);
    for (uint32_t i = 0; i < sim->boot_count;) {
        const struct boot *boot = &sim->boots[i];

        if (boot->up_at == MSEC_NEVER && boot->join_at == MSEC_NEVER && boot->down_at == MSEC_NEVER)
            sim->boots[i] = sim->boots[--sim->boot_count];
        else
            i++;
    }
}
