/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What EC2 says about launches and terminations. A machine of a launch that the answer does not name
 * was not to be had; what the answer leaves open is asked for again.
 */
#include "cloud/aws/aws_fleet_private.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/aws/aws_http.h"

static msec_t retry_at(struct aws_fleet *fleet, msec_t now, uint32_t attempt)
{
    return now + aws_fault_wait(&fleet->rng, fleet->config.timing.retry,
                                fleet->config.timing.retry_most, attempt);
}

/* ---- launches ---- */

struct told {
    struct ec2_instance *rows; /* by launch index; an empty id: not among them */
    uint32_t room;
    uint32_t count;
    char code[EC2_NAME_SIZE]; /* why a fleet could not start it */
    enum aws_verdict verdict;
    struct ec2_answer answer;
    msec_t again_at;
};

static void on_instance(void *context, const struct ec2_instance *row)
{
    struct told *told = context;

    if (row->launch_index >= told->room || row->id[0] == '\0' ||
        told->rows[row->launch_index].id[0] != '\0')
        return; /* a round will show it */
    told->rows[row->launch_index] = *row;
    told->count++;
}

static void on_fleet(void *context, const struct ec2_fleet_row *row)
{
    struct told *told = context;
    struct ec2_instance instance = { .state = EC2_PENDING, .launched_at = -1, .changed_at = -1 };

    if (row->id[0] == '\0' && told->code[0] == '\0')
        memcpy(told->code, row->code, sizeof(told->code));
    memcpy(instance.id, row->id, sizeof(instance.id));
    on_instance(told, &instance);
}

/* What a fleet could not start is an answer like any other, under which its token stays: the same
 * request would get the same answer for ever, whatever the reason. */
static enum aws_verdict judge_fleet(const struct aws_http_answer *http, const char *code)
{
    const enum aws_verdict verdict = aws_fault_judge(http, code);

    return verdict == AWS_NO_QUOTA || verdict == AWS_NOT_ALLOWED || verdict == AWS_BAD_OFFER ||
                   verdict == AWS_WRONG
               ? verdict
               : AWS_NO_CAPACITY;
}

static void read_answer(const struct aws_http_answer *http, const char *action, struct told *told)
{
    const struct ec2_sink sink = {
        .on_instance = on_instance,
        .on_fleet = on_fleet,
        .context = told,
    };
    int rc = 0;

    if (http->fault == 0)
        rc = ec2_answer_read(http->body, http->size, action, &sink, &told->answer, NULL);
    told->verdict = aws_fault_judge(http, told->answer.code);
    if (told->verdict != AWS_DONE || (rc == 0 && told->count > 0))
        return;
    told->verdict = AWS_LOST;
    if (rc == 0 && told->code[0] != '\0') {
        memcpy(told->answer.code, told->code, sizeof(told->answer.code));
        told->verdict = judge_fleet(http, told->code);
    }
}

static void complain(struct aws_fleet *fleet, bool is_error, const struct machine *machine,
                     const struct ec2_answer *answer)
{
    char name[160] = "an unknown offer";

    if (machine->offer != OFFER_NONE)
        fleet_offer_name(fleet->config.catalogue, machine->offer, name);
    fleet_note(fleet, is_error,
               "EC2 refuses instance=%" PRIu64 " count=%" PRIu32 " offer=%s code=%s: %s",
               machine->first, machine->together, name, answer->code, answer->message);
}

/* What concerns the launch as a whole. */
static void take_in(struct aws_fleet *fleet, msec_t now, const struct machine *machine,
                    struct told *told)
{
    told->again_at = retry_at(fleet, now, machine->attempts);
    switch (told->verdict) {
    case AWS_DONE:
        fleet_look_soon(fleet, now);
        return;
    case AWS_LOST:
        fleet->stats.lost++;
        fleet_look_soon(fleet, now);
        return;
    case AWS_THROTTLED:
        fleet->stats.throttled++;
        aws_bucket_drain(&fleet->launches, now);
        return;
    case AWS_TOO_MANY:
        if (machine->together > 1)
            fleet->config.together = machine->together / 2;
        complain(fleet, machine->together == 1, machine, &told->answer);
        return;
    case AWS_STALE_KEYS:
        if (machine->attempts > 0) /* other keys were read meanwhile, or the same again */
            complain(fleet, true, machine, &told->answer);
        if (fleet->config.on_stale_keys != NULL)
            fleet->config.on_stale_keys(fleet->config.context);
        return;
    case AWS_NOT_SENT:
        return;
    case AWS_MISMATCH:
        complain(fleet, true, machine, &told->answer);
        fleet_look_soon(fleet, now);
        return;
    case AWS_NO_CAPACITY:
    case AWS_NO_QUOTA:
        complain(fleet, false, machine, &told->answer);
        return;
    case AWS_NOT_ALLOWED:
    case AWS_BAD_OFFER:
    case AWS_NOT_FOUND:
    case AWS_WRONG:
        complain(fleet, true, machine, &told->answer);
        return;
    }
}

/*
 * EC2 means it. If the answer to an earlier request was lost, only what it says of machines tells that
 * there is none: a right that was taken away since, or a template that was deleted, does not.
 */
static void refused(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                    enum aws_verdict verdict, msec_t sent_at)
{
    fleet->stats.refused++;
    if (verdict == AWS_NO_QUOTA)
        fleet_block_quota(fleet, now, machine->offer, sent_at);
    else
        fleet_block(fleet, now, machine->offer, sent_at);
    if (machine->is_maybe_there &&
        (verdict == AWS_NOT_ALLOWED || verdict == AWS_BAD_OFFER || verdict == AWS_WRONG)) {
        machine->state = MACHINE_SOUGHT;
        fleet_look_soon(fleet, now);
        return;
    }
    fleet_refuse(fleet, now, machine);
}

static void started(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                    const struct ec2_instance *row)
{
    machine->attempts = 0;
    machine->is_maybe_there = true;
    if (row->launched_at >= 0) {
        fleet_show(fleet, now, machine->key, row);
        return;
    }
    /* A fleet does not say since when; the next round does. */
    memcpy(machine->id, row->id, sizeof(machine->id));
    machine->state = MACHINE_STARTING;
    machine->seen_at = now;
    if (machine->is_unwanted)
        fleet_queue(fleet, machine, now);
}

/* Ask again later. What was surely not done leaves its launch: others may stand beside it then. */
static void ask_again(struct aws_fleet *fleet, struct machine *machine, msec_t at)
{
    machine->attempts++;
    if (!machine->is_maybe_there)
        machine->together = 0;
    fleet_queue(fleet, machine, at);
}

/* One machine of the launch; 'row' is NULL if the answer does not name it. */
static void hear(struct aws_fleet *fleet, msec_t now, const struct call *call,
                 struct machine *machine, const struct ec2_instance *row, const struct told *told)
{
    const bool is_asked = machine->in_call == call->id;

    if (is_asked)
        machine->in_call = 0;
    if (machine->id[0] != '\0') { /* a round was faster */
        fleet_queue(fleet, machine, now);
        if (row != NULL && row->launched_at >= 0)
            fleet_show(fleet, now, machine->key, row);
        return;
    }
    if (row != NULL) {
        started(fleet, now, machine, row);
        return;
    }
    if (!is_asked)
        return;
    switch (told->verdict) {
    case AWS_LOST:
        machine->is_maybe_there = true;
        ask_again(fleet, machine, told->again_at);
        return;
    case AWS_THROTTLED:
    case AWS_TOO_MANY:
    case AWS_STALE_KEYS:
    case AWS_NOT_SENT:
        ask_again(fleet, machine, told->again_at);
        return;
    case AWS_MISMATCH:
        machine->is_maybe_there = true;
        machine->state = MACHINE_SOUGHT;
        return;
    case AWS_DONE: /* there were not so many */
    case AWS_NO_CAPACITY:
    case AWS_NO_QUOTA:
    case AWS_NOT_ALLOWED:
    case AWS_BAD_OFFER:
    case AWS_NOT_FOUND:
    case AWS_WRONG:
        refused(fleet, now, machine, told->verdict, call->sent_at);
        return;
    }
}

void fleet_launch_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                         const struct aws_http_answer *http)
{
    struct told told = {
        .rows = mem_alloc(call->count, sizeof(*told.rows)),
        .room = call->count,
    };
    bool is_taken_in = false;

    read_answer(http, call->is_fleet ? "CreateFleet" : "RunInstances", &told);
    for (uint32_t i = 0; i < call->count; i++) {
        struct machine *machine = fleet_find(fleet, call->keys[i]);
        const bool is_named = told.verdict == AWS_DONE && told.rows[i].id[0] != '\0';

        if (machine == NULL)
            continue; /* a round was faster and has reported its end */
        if (!is_taken_in)
            take_in(fleet, now, machine, &told);
        is_taken_in = true;
        hear(fleet, now, call, machine, is_named ? &told.rows[i] : NULL, &told);
    }
    mem_free(told.rows);
}

/* ---- terminations ---- */

struct ending {
    const struct call *call;
    struct aws_fleet *fleet;
    msec_t now;
};

/* EC2 says in what state the instance is after the termination: that is proof, whatever lists say. */
static void on_ending(void *context, const struct ec2_instance *row)
{
    const struct ending *ending = context;

    if (row->state != EC2_SHUTTING_DOWN && row->state != EC2_TERMINATED)
        return;
    for (uint32_t i = 0; i < ending->call->count; i++) {
        struct machine *machine = fleet_find(ending->fleet, ending->call->keys[i]);

        if (machine != NULL && machine->proof_at == 0 && strcmp(machine->id, row->id) == 0)
            machine->proof_at = ending->now;
    }
}

static void note_refused(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                         const struct ec2_answer *answer)
{
    memcpy(fleet->refused_code, answer->code, sizeof(fleet->refused_code));
    if (machine->refused_at > 0)
        return;
    machine->refused_at = now;
    fleet_note(fleet, true,
               "EC2 refuses to terminate instance=%" PRIu64
               " id=%s code=%s: %.300s. It is paid for until it ends; take its termination "
               "protection away, or grant ec2:TerminateInstances",
               machine->key, machine->id, answer->code, answer->message);
}

/* One machine of a termination that was not done. */
static void terminate_again(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                            const struct call *call, enum aws_verdict verdict,
                            const struct ec2_answer *answer)
{
    const bool is_refused = verdict == AWS_NOT_ALLOWED || verdict == AWS_WRONG;

    if ((verdict == AWS_NOT_FOUND || verdict == AWS_WRONG) && call->count > 1) {
        machine->is_alone = true; /* one bad or protected id fails them all */
        fleet_queue(fleet, machine, now);
        return;
    }
    /* EC2 shows what is new a little late and what has ended for an hour: after that it is gone. */
    if (verdict == AWS_NOT_FOUND &&
        call->sent_at - machine->seen_at > fleet->config.timing.settle) {
        fleet_end(fleet, now, machine, machine->seen_at);
        return;
    }
    if (is_refused)
        note_refused(fleet, now, machine, answer);
    fleet_queue(fleet, machine, retry_at(fleet, now, machine->attempts));
    machine->attempts++;
}

/* One that was terminated. Should EC2 not say that it is ending, ask again. */
static void terminated(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    machine->attempts = 0;
    machine->refused_at = 0;
    if (machine->proof_at == 0)
        fleet_queue(fleet, machine, now + fleet->config.timing.settle / 2);
}

void fleet_terminate_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                            const struct aws_http_answer *http)
{
    const struct ec2_sink sink = {
        .on_instance = on_ending,
        .context = &(struct ending){ .call = call, .fleet = fleet, .now = now },
    };
    struct ec2_answer answer = { 0 };
    int rc = 0;

    if (http->fault == 0)
        rc = ec2_answer_read(http->body, http->size, "TerminateInstances", &sink, &answer, NULL);

    enum aws_verdict verdict = aws_fault_judge(http, answer.code);

    if (verdict == AWS_DONE && rc < 0) {
        fleet->stats.disbelieved++;
        verdict = AWS_LOST;
    }
    fleet->stats.throttled += verdict == AWS_THROTTLED ? 1 : 0;
    fleet->stats.lost += verdict == AWS_LOST ? 1 : 0;
    if (verdict == AWS_STALE_KEYS && fleet->config.on_stale_keys != NULL)
        fleet->config.on_stale_keys(fleet->config.context);
    for (uint32_t i = 0; i < call->count; i++) {
        struct machine *machine = fleet_find(fleet, call->keys[i]);

        if (machine == NULL)
            continue;
        machine->in_call = 0;
        if (verdict == AWS_DONE)
            terminated(fleet, now, machine);
        else
            terminate_again(fleet, now, machine, call, verdict, &answer);
    }
    fleet_look_soon(fleet, now);
}
