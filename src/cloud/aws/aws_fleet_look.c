/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round asks for every instance with our cluster's tag, page by page. What it shows is taken in at
 * once; what it does not show is judged when its last page is there, and only if we knew of it before
 * the round began. Lists that were asked for before a round are answered at its end.
 */
#include "cloud/aws/aws_fleet_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/aws/aws_http.h"
#include "trace/number.h"

enum { ROUND_MISSED_MAX = 3 };

/* ---- one instance ---- */

static bool is_over(enum ec2_state state)
{
    return state == EC2_SHUTTING_DOWN || state == EC2_TERMINATED;
}

static msec_t end_of(const struct ec2_instance *row, msec_t now)
{
    const msec_t end =
        row->changed_at >= row->launched_at && row->changed_at <= now && row->changed_at >= 0
            ? row->changed_at
            : now;

    return fleet_billed_to(row->launched_at, end);
}

/* EC2 shows an instance under a key that has one already. The later of the two must go. */
static void show_double(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                        const struct ec2_instance *row)
{
    const bool is_earlier =
        row->launched_at < machine->launched_at ||
        (row->launched_at == machine->launched_at && strcmp(row->id, machine->id) < 0);
    char stray[EC2_ID_SIZE];

    if (is_over(row->state))
        return;
    memcpy(stray, is_earlier ? machine->id : row->id, sizeof(stray));
    if (is_earlier) {
        memcpy(machine->id, row->id, sizeof(machine->id));
        machine->launched_at = row->launched_at;
    }
    fleet->stats.doubles++;
    fleet_note(fleet, true, "two instances for one key: instance=%" PRIu64 " keeps=%s ends=%s",
               machine->key, machine->id, stray);
    fleet_terminate_stray(fleet, now, stray);
}

/* EC2 may grant a launch and end the machine before it runs: for want of capacity after all, of a volume or
 * of a right to its key. Nobody gets a machine by asking for the same again at once. */
static void end_machine(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                        const struct ec2_instance *row)
{
    if (!machine->is_unwanted && machine->offer != OFFER_NONE &&
        (machine->state == MACHINE_ASKED || machine->state == MACHINE_STARTING)) {
        const bool is_ours = strncmp(row->reason, "Client.", 7) == 0;

        fleet_note(fleet, is_ours, "ended before it ran: instance=%" PRIu64 " id=%s reason=%s",
                   machine->key, machine->id, row->reason);
        fleet_block(fleet, now, machine->offer, machine->asked_at);
    }
    fleet_end(fleet, now, machine, end_of(row, now));
}

static void show_machine(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                         const struct ec2_instance *row)
{
    machine->seen_at = now;
    machine->missed = 0;
    machine->shown_in = fleet->round.number;
    if (machine->launched_at < 0)
        machine->launched_at = row->launched_at >= 0 ? row->launched_at : now;
    if (is_over(row->state)) {
        end_machine(fleet, now, machine, row);
        return;
    }
    if (machine->state == MACHINE_ASKED || machine->state == MACHINE_SOUGHT)
        machine->state = MACHINE_STARTING;
    if (row->state == EC2_RUNNING && machine->state == MACHINE_STARTING) {
        machine->state = MACHINE_RUNNING;
        fleet_unblock(fleet, machine->offer, machine->asked_at);
        if (!machine->is_unwanted)
            fleet_tell(fleet, &(struct cloud_event){ .kind = CLOUD_RUNNING,
                                                     .at = now,
                                                     .instance = machine->key,
                                                     .billed_from = machine->launched_at,
                                                     .offer = machine->offer });
    }
}

/* A living instance of a key that has ended: an old answer about the same, a second one, or one that
 * EC2 did not show for so long that we took it for gone. The last two must not be left running. */
static void show_again(struct aws_fleet *fleet, msec_t now, const struct ended *ended,
                       const struct ec2_instance *row)
{
    const bool is_second = strcmp(ended->id, row->id) != 0;

    if (!is_second && fleet->round.started_at <= ended->at)
        return;
    fleet->stats.doubles += is_second ? 1 : 0;
    fleet_note(fleet, true, "%s for a key that has ended: instance=%" PRIu64 " ends=%s",
               is_second ? "a second instance" : "the instance is there again", ended->key,
               row->id);
    fleet_terminate_stray(fleet, now, row->id);
}

/* An instance that is ours and that we do not know. */
static void show_new(struct aws_fleet *fleet, msec_t now, uint64_t key,
                     const struct ec2_instance *row)
{
    const struct ended *ended = fleet_find_ended(fleet, key);
    const uint32_t offer = fleet_offer_of(fleet->config.catalogue, row);

    if (is_over(row->state)) {
        if (fleet->list_active == 0)
            return;
        MEM_ROOM(fleet->gone, fleet->gone_room, fleet->gone_count + 1);
        fleet->gone[fleet->gone_count++] = (struct cloud_event){
            .kind = CLOUD_GONE,
            .at = now,
            .instance = key,
            .billed_from = row->launched_at,
            .billed_to = ended != NULL ? ended->billed_to : end_of(row, now),
            .offer = offer,
        };
        return;
    }
    if (ended != NULL) {
        show_again(fleet, now, ended, row);
        return;
    }

    struct machine *machine = fleet_add(fleet, key, offer);

    memcpy(machine->id, row->id, sizeof(machine->id));
    machine->state = row->state == EC2_RUNNING ? MACHINE_RUNNING : MACHINE_STARTING;
    machine->is_maybe_there = true;
    show_machine(fleet, now, machine, row);
}

void fleet_show(struct aws_fleet *fleet, msec_t now, uint64_t key, const struct ec2_instance *row)
{
    struct machine *machine = fleet_find(fleet, key);

    if (row->state == EC2_UNKNOWN || row->id[0] == '\0')
        return;
    if (machine == NULL) {
        show_new(fleet, now, key, row);
        return;
    }
    if (machine->id[0] == '\0') {
        memcpy(machine->id, row->id, sizeof(machine->id));
        machine->launched_at = row->launched_at;
        if (machine->offer == OFFER_NONE)
            machine->offer = fleet_offer_of(fleet->config.catalogue, row);
        machine->attempts = 0;
        if (machine->is_unwanted)
            fleet_queue(fleet, machine, now);
    } else if (strcmp(machine->id, row->id) != 0) {
        show_double(fleet, now, machine, row);
        return;
    }
    show_machine(fleet, now, machine, row);
}

/* ---- rounds ---- */

static void send_page(struct aws_fleet *fleet, msec_t now)
{
    const struct call *call = fleet_begin_call(fleet, now, CALL_DESCRIBE);

    if (call == NULL)
        return;
    aws_form_begin(&fleet->form, "DescribeInstances", EC2_VERSION);
    aws_form_number(&fleet->form, "MaxResults", fleet->config.page);
    aws_form_add(&fleet->form, "Filter.1.Name", "tag:stint:cluster");
    aws_form_add(&fleet->form, "Filter.1.Value.1", fleet->config.cluster);
    if (fleet->round.token[0] != '\0')
        aws_form_add(&fleet->form, "NextToken", fleet->round.token);
    fleet->round.is_in_flight = true;
    fleet_send(fleet, call);
}

static bool is_wanted(const struct aws_fleet *fleet)
{
    return fleet->machine_count > 0 || fleet->list_count > 0;
}

static void begin_round(struct aws_fleet *fleet, msec_t now)
{
    fleet->round.is_active = true;
    fleet->round.number++;
    fleet->round.started_at = now;
    fleet->round.token[0] = '\0';
    fleet->round.attempts = 0;
    fleet->round.next_at = now;
    fleet->list_active = fleet->list_count;
    fleet->gone_count = 0;
}

void fleet_look(struct aws_fleet *fleet, msec_t now)
{
    struct fleet_round *round = &fleet->round;

    if (round->is_in_flight)
        return;
    if (!round->is_active && fleet->list_count == 0 && (!is_wanted(fleet) || now < round->next_at))
        return;
    if (!round->is_active)
        begin_round(fleet, now);
    if (now >= round->next_at)
        send_page(fleet, now);
}

msec_t fleet_look_wake(const struct aws_fleet *fleet)
{
    const struct fleet_round *round = &fleet->round;

    if (round->is_in_flight || fleet->call_count >= AWS_FLEET_CALLS)
        return MSEC_NEVER; /* the next answer goes on */
    if (round->is_active)
        return round->next_at;
    if (fleet->list_count > 0)
        return 0;
    return is_wanted(fleet) ? round->next_at : MSEC_NEVER;
}

/* A machine that a whole round has not shown. */
static void miss(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    const msec_t settle = fleet->config.timing.settle;

    if (machine->state == MACHINE_SOUGHT && machine->id[0] == '\0') {
        if (fleet->round.started_at - machine->asked_at >= settle)
            fleet_refuse(fleet, now, machine);
        return;
    }
    if (machine->id[0] == '\0' || machine->seen_at >= fleet->round.started_at)
        return;
    machine->missed++;
    /* What counts is the age of the question: its answer may have taken long. */
    if (machine->missed >= ROUND_MISSED_MAX &&
        fleet->round.started_at - machine->seen_at >= settle) {
        fleet_note(fleet, true, "EC2 shows no trace any more of instance=%" PRIu64 " id=%s",
                   machine->key, machine->id);
        fleet_end(fleet, now, machine, machine->seen_at);
    }
}

static bool is_changing(const struct machine *machine)
{
    return machine->is_unwanted || machine->state != MACHINE_RUNNING;
}

static void answer_lists(struct aws_fleet *fleet, msec_t now)
{
    const uint32_t lists = fleet->list_active;

    if (lists == 0)
        return;
    for (uint32_t i = 0; i < fleet->gone_count; i++) {
        fleet->gone[i].at = now;
        fleet_tell(fleet, &fleet->gone[i]);
    }
    for (uint32_t i = 0; i < fleet->machine_count; i++) {
        const struct machine *machine = &fleet->machines[i];

        fleet_tell(fleet,
                   &(struct cloud_event){
                       .kind = CLOUD_FOUND,
                       .at = now,
                       .instance = machine->key,
                       .billed_from = machine->state == MACHINE_RUNNING ? machine->launched_at : -1,
                       .offer = machine->offer,
                   });
    }
    for (uint32_t i = 0; i < lists; i++)
        fleet_tell(fleet, &(struct cloud_event){
                              .kind = CLOUD_LISTED, .at = now, .key = fleet->lists[i] });
    fleet->list_count -= lists;
    if (lists > 0)
        memmove(fleet->lists, fleet->lists + lists, fleet->list_count * sizeof(*fleet->lists));
    fleet->list_active = 0;
}

static void end_round(struct aws_fleet *fleet, msec_t now)
{
    const struct aws_timing *timing = &fleet->config.timing;
    bool is_busy = false;

    fleet->round.is_active = false;
    fleet->stats.rounds++;
    for (uint32_t i = fleet->machine_count; i > 0; i--) {
        struct machine *machine = &fleet->machines[i - 1];

        if (machine->shown_in != fleet->round.number)
            miss(fleet, now, machine);
    }
    for (uint32_t i = 0; i < fleet->machine_count && !is_busy; i++)
        is_busy = is_changing(&fleet->machines[i]);
    fleet->round.next_at = now + (is_busy ? timing->look : timing->look_idle);
    answer_lists(fleet, now);
}

struct page {
    struct aws_fleet *fleet;
    msec_t now;
};

static void on_row(void *context, const struct ec2_instance *row)
{
    const struct page *page = context;
    struct aws_fleet *fleet = page->fleet;
    uint64_t key = 0;

    if (strcmp(row->tag_cluster, fleet->config.cluster) != 0)
        return; /* not ours, whatever was asked for */
    if (number_id(row->tag_key, strlen(row->tag_key), &key) < 0 || key == 0) {
        if (!is_over(row->state))
            fleet_note(fleet, true, "an instance has our tag and no key: id=%s", row->id);
        return;
    }
    fleet_show(fleet, page->now, key + row->launch_index, row);
}

void fleet_look_answer(struct aws_fleet *fleet, msec_t now, const struct aws_http_answer *http)
{
    struct page page = { fleet, now };
    const struct ec2_sink sink = { .on_instance = on_row, .context = &page };
    struct ec2_answer answer = { 0 };
    struct fleet_round *round = &fleet->round;
    int rc = 0;

    round->is_in_flight = false;
    if (http->fault == 0)
        rc = ec2_answer_read(http->body, http->size, &sink, &answer, NULL);

    const enum aws_verdict verdict = aws_fault_judge(http, answer.code);

    if (verdict == AWS_DONE && rc == 0) {
        round->attempts = 0;
        memcpy(round->token, answer.next_token, sizeof(round->token));
        if (round->token[0] == '\0')
            end_round(fleet, now);
        return;
    }
    fleet->stats.throttled += verdict == AWS_THROTTLED ? 1 : 0;
    fleet->stats.lost += verdict == AWS_LOST ? 1 : 0;
    if (verdict == AWS_STALE_KEYS && fleet->config.on_stale_keys != NULL)
        fleet->config.on_stale_keys(fleet->config.context);
    if (answer.code[0] != '\0' && verdict != AWS_THROTTLED && verdict != AWS_LOST)
        fleet_note(fleet, true, "EC2 does not show our instances code=%s: %s", answer.code,
                   answer.message);
    if (verdict == AWS_WRONG) /* a page's token may have grown old: from the start */
        round->token[0] = '\0';
    round->next_at = now + aws_fault_wait(&fleet->rng, fleet->config.timing.retry,
                                          fleet->config.timing.retry_most, round->attempts);
    round->attempts++;
}
