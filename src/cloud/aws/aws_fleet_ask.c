/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules:
 *  1. A launch is sent again only with the same token and the same parameters, so what is in it
 *     depends on the configuration, the offer and the key, and on nothing else.
 *  2. After a lost answer the machine counts as perhaps there: until EC2 refuses, shows it, or has
 *     not shown it for 'settle', nobody is told that it is not.
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

#define EC2_VERSION "2016-11-15"

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

/* ---- what a launch says ---- */

/* What stands for "{name}" in user data. */
struct filling {
    const char *name;
    const char *value;
};

enum { FILLINGS = 5 };

static void put_user_data(struct aws_fleet *fleet, const struct filling *fillings)
{
    static const char standard[] = "STINT_CLUSTER={cluster}\nSTINT_NODE={node}\nSTINT_TYPE={type}\n"
                                   "STINT_ZONE={zone}\nSTINT_MARKET={market}\n";
    const char *from = fleet->config.user_data != NULL ? fleet->config.user_data : standard;
    char *text = mem_alloc(AWS_FLEET_USER_DATA_MAX, 1);
    size_t size = 0;

    while (*from != '\0' && size + LIMIT_NAME < AWS_FLEET_USER_DATA_MAX) {
        const struct filling *found = NULL;

        for (int i = 0; *from == '{' && i < FILLINGS; i++) {
            if (strncmp(from, fillings[i].name, strlen(fillings[i].name)) == 0)
                found = &fillings[i];
        }
        if (found == NULL) {
            text[size++] = *from++;
            continue;
        }
        size += (size_t)snprintf(text + size, LIMIT_NAME, "%.255s", found->value);
        from += strlen(found->name);
    }
    aws_form_base64(&fleet->form, "UserData", text, size);
    mem_free(text);
}

static void put_tag(struct aws_form *form, uint32_t number, const char *key, const char *value)
{
    aws_form_item(form, "TagSpecification.1.Tag.#.Key", number, key);
    aws_form_item(form, "TagSpecification.1.Tag.#.Value", number, value);
}

static void put_place(struct aws_fleet *fleet, const char *zone)
{
    if (zone[0] == '\0')
        return;
    for (uint32_t i = 0; i < fleet->config.subnet_count; i++) {
        if (strcmp(fleet->config.subnets[i].zone, zone) == 0) {
            aws_form_add(&fleet->form, "SubnetId", fleet->config.subnets[i].subnet);
            return;
        }
    }
    aws_form_add(&fleet->form, "Placement.AvailabilityZone", zone);
}

static void put_template(struct aws_fleet *fleet)
{
    const char *template = fleet->config.launch_template;

    aws_form_add(&fleet->form, "ImageId", fleet->config.image);
    if (template == NULL)
        return;
    aws_form_add(&fleet->form,
                 strncmp(template, "lt-", 3) == 0 ? "LaunchTemplate.LaunchTemplateId"
                                                  : "LaunchTemplate.LaunchTemplateName",
                 template);
    aws_form_add(&fleet->form, "LaunchTemplate.Version", fleet->config.launch_template_version);
}

static void put_launch(struct aws_fleet *fleet, const struct machine *machine)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    const struct offer *offer = &catalogue->offers[machine->offer];
    const char *type = catalogue_offer_type_name(catalogue, machine->offer);
    const char *zone = offer->zone != NAME_NONE ? names_text(&catalogue->names, offer->zone) : "";
    struct aws_form *form = &fleet->form;
    char text[LIMIT_NAME];
    char key[24];
    char name[160];

    aws_form_begin(form, "RunInstances", EC2_VERSION);
    aws_form_number(form, "MinCount", 1);
    aws_form_number(form, "MaxCount", 1);
    aws_form_add(form, "InstanceType", type);
    (void)snprintf(text, sizeof(text), "stint-%s-%" PRIu64, fleet->config.cluster, machine->key);
    aws_form_add(form, "ClientToken", text);
    aws_form_add(form, "InstanceInitiatedShutdownBehavior", "terminate");
    put_template(fleet);
    put_place(fleet, zone);
    if (offer->market == MARKET_SPOT) {
        aws_form_add(form, "InstanceMarketOptions.MarketType", "spot");
        aws_form_add(form, "InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time");
        aws_form_add(form, "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior",
                     "terminate");
    }
    (void)snprintf(text, sizeof(text), "%.128s%" PRIu64, fleet->config.node_prefix, machine->key);
    (void)snprintf(key, sizeof(key), "%" PRIu64, machine->key);
    fleet_offer_name(catalogue, machine->offer, name);
    put_user_data(fleet,
                  (const struct filling[FILLINGS]){ { "{node}", text },
                                                    { "{cluster}", fleet->config.cluster },
                                                    { "{type}", type },
                                                    { "{zone}", zone },
                                                    { "{market}", market_name(offer->market) } });
    aws_form_add(form, "TagSpecification.1.ResourceType", "instance");
    put_tag(form, 1, "Name", text);
    put_tag(form, 2, "stint:cluster", fleet->config.cluster);
    put_tag(form, 3, "stint:key", key);
    put_tag(form, 4, "stint:offer", name);
}

/* ---- the queue ---- */

static void send_launch(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    struct call *call = fleet_begin_call(fleet, now, CALL_RUN);
    char name[160];

    assert(call != NULL);
    call->count = 1;
    call->keys[0] = machine->key;
    fleet->stats.launches++;
    fleet->stats.repeated += machine->is_maybe_there ? 1 : 0;
    machine->is_in_flight = true;
    machine->asked_at = now;
    fleet_offer_name(fleet->config.catalogue, machine->offer, name);
    fleet_note(fleet, false, "asks for instance=%" PRIu64 " offer=%s%s", machine->key, name,
               machine->is_maybe_there ? " again" : "");
    put_launch(fleet, machine);
    fleet_send(fleet, call);
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
    if (machine->next_at > now)
        return STEP_WAIT;
    if (machine->id[0] != '\0')
        return machine->is_unwanted ? STEP_TERMINATE : STEP_DONE;
    if (machine->state == MACHINE_ASKED && !machine->is_unwanted)
        return launch(fleet, now, machine);
    if (machine->state == MACHINE_ASKED && !machine->is_maybe_there) {
        fleet_refuse(fleet, now, machine); /* given back before it was ever sent */
        return STEP_DONE;
    }
    machine->state = MACHINE_SOUGHT;
    if (machine->asked_at == MSEC_NEVER)
        machine->asked_at = now;
    fleet_look_soon(fleet, now);
    return STEP_DONE;
}

/* Terminate those of 'keys' in one request; false: there is no room for it now. */
static bool send_terminate(struct aws_fleet *fleet, msec_t now, const uint64_t *keys,
                           uint32_t count)
{
    struct call *call = fleet_begin_call(fleet, now, CALL_TERMINATE);

    if (call == NULL)
        return false;
    aws_form_begin(&fleet->form, "TerminateInstances", EC2_VERSION);
    call->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct machine *machine = fleet_find(fleet, keys[i]);

        call->keys[i] = keys[i];
        machine->is_in_flight = true;
        aws_form_item(&fleet->form, "InstanceId.#", i + 1, machine->id);
    }
    fleet_send(fleet, call);
    return true;
}

/* Send what is due; each key stands in 'queue' once. What is told on the way may add to the queue, so
 * it is taken away first. */
void fleet_pump(struct aws_fleet *fleet, msec_t now)
{
    uint64_t batch[FLEET_BATCH_MAX];
    uint32_t batch_count = 0;
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

        if (what == STEP_WAIT) {
            fleet_queue(fleet, machine, machine->next_at);
        } else if (what == STEP_TERMINATE &&
                   (machine->is_alone || batch_count == FLEET_BATCH_MAX)) {
            if (!send_terminate(fleet, now, &queue[i], 1))
                fleet_queue(fleet, machine, machine->next_at);
        } else if (what == STEP_TERMINATE) {
            batch[batch_count++] = queue[i];
        }
    }
    mem_free(queue);
    if (batch_count == 0 || send_terminate(fleet, now, batch, batch_count))
        return;
    for (uint32_t i = 0; i < batch_count; i++)
        fleet_queue(fleet, fleet_find(fleet, batch[i]), now);
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
    struct call *call = fleet_begin_call(fleet, now, CALL_TERMINATE);

    if (call == NULL)
        return; /* the next round shows it again */
    call->count = 1;
    aws_form_begin(&fleet->form, "TerminateInstances", EC2_VERSION);
    aws_form_item(&fleet->form, "InstanceId.#", 1, id);
    fleet_send(fleet, call);
}

/* ---- answers ---- */

static msec_t retry_at(struct aws_fleet *fleet, msec_t now, uint32_t attempt)
{
    return now + aws_fault_wait(&fleet->rng, fleet->config.timing.retry,
                                fleet->config.timing.retry_most, attempt);
}

struct run_rows {
    struct ec2_instance first;
    uint32_t count;
};

static void keep_first(void *context, const struct ec2_instance *row)
{
    struct run_rows *rows = context;

    if (rows->count++ == 0)
        rows->first = *row;
}

static void complain(struct aws_fleet *fleet, bool is_error, const struct machine *machine,
                     const struct ec2_answer *answer)
{
    char name[160] = "an unknown offer";

    if (machine->offer != OFFER_NONE)
        fleet_offer_name(fleet->config.catalogue, machine->offer, name);
    fleet_note(fleet, is_error, "EC2 refuses instance=%" PRIu64 " offer=%s code=%s: %s",
               machine->key, name, answer->code, answer->message);
}

/* The launch was surely not done, and EC2 means it. */
static void refused(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                    enum aws_verdict verdict, msec_t sent_at)
{
    fleet->stats.refused++;
    if (verdict == AWS_NO_QUOTA)
        fleet_block_quota(fleet, now, machine->offer, sent_at);
    else
        fleet_block(fleet, now, machine->offer, sent_at);
    fleet_refuse(fleet, now, machine);
}

/* Ask again later, under the same token. */
static void ask_again(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    machine->state = MACHINE_ASKED;
    fleet_queue(fleet, machine, retry_at(fleet, now, machine->attempts));
    machine->attempts++;
}

static void launched(struct aws_fleet *fleet, msec_t now, const struct call *call,
                     const struct ec2_instance *row)
{
    struct machine *machine = fleet_find(fleet, call->keys[0]);

    fleet_unblock(fleet, machine->offer, call->sent_at);
    machine->attempts = 0;
    machine->is_maybe_there = true;
    fleet_show(fleet, now, call->keys[0], row);
    fleet_look_soon(fleet, now);
}

void fleet_run_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                      const struct aws_http_answer *http)
{
    struct machine *machine = fleet_find(fleet, call->keys[0]);
    struct run_rows rows = { 0 };
    const struct ec2_sink sink = { .on_instance = keep_first, .context = &rows };
    struct ec2_answer answer = { 0 };
    const int rc =
        http->fault == 0 ? ec2_answer_read(http->body, http->size, &sink, &answer, NULL) : 0;
    enum aws_verdict verdict = aws_fault_judge(http, answer.code);

    if (machine == NULL)
        return; /* a round was faster and has told its end */
    machine->is_in_flight = false;
    if (verdict == AWS_DONE && (rc < 0 || rows.count == 0 || rows.first.id[0] == '\0'))
        verdict = AWS_LOST;
    if (machine->id[0] != '\0' && verdict != AWS_DONE) { /* a round was faster */
        fleet_queue(fleet, machine, now);
        return;
    }
    switch (verdict) {
    case AWS_DONE:
        launched(fleet, now, call, &rows.first);
        return;
    case AWS_LOST:
        fleet->stats.lost++;
        machine->is_maybe_there = true;
        fleet_look_soon(fleet, now);
        ask_again(fleet, now, machine);
        return;
    case AWS_MISMATCH:
        complain(fleet, true, machine, &answer);
        machine->is_maybe_there = true;
        machine->state = MACHINE_SOUGHT;
        fleet_look_soon(fleet, now);
        return;
    case AWS_THROTTLED:
        fleet->stats.throttled++;
        aws_bucket_drain(&fleet->launches, now);
        ask_again(fleet, now, machine);
        return;
    case AWS_STALE_KEYS:
        if (fleet->config.on_stale_keys != NULL)
            fleet->config.on_stale_keys(fleet->config.context);
        ask_again(fleet, now, machine);
        return;
    case AWS_NOT_SENT:
        ask_again(fleet, now, machine);
        return;
    case AWS_NO_CAPACITY:
    case AWS_NO_QUOTA:
        complain(fleet, false, machine, &answer);
        refused(fleet, now, machine, verdict, call->sent_at);
        return;
    case AWS_NOT_ALLOWED:
    case AWS_BAD_OFFER:
    case AWS_NOT_FOUND:
    case AWS_WRONG:
        complain(fleet, true, machine, &answer);
        refused(fleet, now, machine, verdict, call->sent_at);
        return;
    }
}

/* One machine of a termination that was not done. */
static void terminate_again(struct aws_fleet *fleet, msec_t now, struct machine *machine,
                            const struct call *call, enum aws_verdict verdict)
{
    if (verdict == AWS_NOT_FOUND && call->count > 1) {
        machine->is_alone = true; /* one bad id fails them all */
        fleet_queue(fleet, machine, now);
        return;
    }
    /* EC2 shows what is new a little late and what has ended for an hour: after that it is gone. */
    if (verdict == AWS_NOT_FOUND &&
        call->sent_at - machine->seen_at > fleet->config.timing.settle) {
        fleet_end(fleet, now, machine, machine->seen_at);
        return;
    }
    fleet_queue(fleet, machine, retry_at(fleet, now, machine->attempts));
    machine->attempts++;
}

void fleet_terminate_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                            const struct aws_http_answer *http)
{
    struct ec2_answer answer = { 0 };

    if (http->fault == 0)
        (void)ec2_answer_read(http->body, http->size, &(struct ec2_sink){ 0 }, &answer, NULL);

    const enum aws_verdict verdict = aws_fault_judge(http, answer.code);

    fleet->stats.throttled += verdict == AWS_THROTTLED ? 1 : 0;
    fleet->stats.lost += verdict == AWS_LOST ? 1 : 0;
    if (verdict == AWS_STALE_KEYS && fleet->config.on_stale_keys != NULL)
        fleet->config.on_stale_keys(fleet->config.context);
    if (verdict == AWS_NOT_ALLOWED || verdict == AWS_WRONG)
        fleet_note(fleet, true, "EC2 does not terminate instances=%" PRIu32 " code=%s: %s",
                   call->count, answer.code, answer.message);
    for (uint32_t i = 0; i < call->count; i++) {
        struct machine *machine = fleet_find(fleet, call->keys[i]);

        if (machine == NULL)
            continue;
        machine->is_in_flight = false;
        if (verdict != AWS_DONE) {
            terminate_again(fleet, now, machine, call, verdict);
            continue;
        }
        /* Done; should no round show it as ending, ask again. */
        machine->attempts = 0;
        fleet_queue(fleet, machine, now + fleet->config.timing.settle / 2);
    }
    fleet_look_soon(fleet, now);
}
