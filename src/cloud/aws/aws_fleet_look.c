/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round asks for every instance with our cluster's tag, page by page. What it shows is taken in at
 * once; what it does not show is judged when its last page is there, and only if we knew of it before
 * the round began. Lists that were asked for before a round are answered at its end.
 *
 * Nothing of a page is taken in before all of it was read and found to be of our account and region. A
 * list that merely lacks a machine ends nothing: it is asked for by its id (a probe), where EC2 must say
 * what it is, or that there is no such instance. Until then the machine stays ours, and is reported.
 */
#include "cloud/aws/aws_fleet_private.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/aws/aws_http.h"
#include "trace/number.h"

enum {
    ROUND_MISSED_MAX = 3,
    ROUND_PAGES_MAX = 128,  /* a hundred thousand instances, and less than a minute */
    ROUND_PAGES_QUICK = 16, /* from then on each page waits a moment */
    ROUND_PAGE_MS = 250,
    PROBE_AGAIN_MS = 5000,
};

/* ---- what is not believed ---- */

/* Lists are not to be had, or not believed. Said once, until it is something else or over. */
static void set_fault(struct aws_fleet *fleet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_fault(struct aws_fleet *fleet, const char *format, ...)
{
    char text[sizeof(fleet->fault)];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (strcmp(text, fleet->fault) == 0)
        return;
    memcpy(fleet->fault, text, sizeof(fleet->fault));
    fleet_note(fleet, true, "%s", fleet->fault);
}

static void clear_fault(struct aws_fleet *fleet)
{
    if (fleet->fault[0] == '\0')
        return;
    fleet->fault[0] = '\0';
    fleet_note(fleet, false, "EC2's lists are believed again");
}

static void keep_row(void *context, const struct ec2_instance *row)
{
    struct aws_fleet *fleet = context;

    MEM_ROOM(fleet->rows, fleet->row_room, fleet->row_count + 1);
    fleet->rows[fleet->row_count++] = *row;
}

/* Whether all rows are of our account and region. */
static bool is_at_home(struct aws_fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->row_count; i++) {
        const struct ec2_instance *row = &fleet->rows[i];

        if (fleet->account[0] != '\0' && row->owner[0] != '\0' &&
            strcmp(row->owner, fleet->account) != 0) {
            set_fault(fleet, "EC2 shows instances of account %s, and ours is %s: not believed",
                      row->owner, fleet->account);
            return false;
        }
        if (fleet->region[0] != '\0' && row->zone[0] != '\0' &&
            strncmp(row->zone, fleet->region, strlen(fleet->region)) != 0) {
            set_fault(fleet, "EC2 shows instances in %s, and our region is %s: not believed",
                      row->zone, fleet->region);
            return false;
        }
    }
    return true;
}

/* Read a page into fleet.rows; what it is worth. */
static enum aws_verdict read_page(struct aws_fleet *fleet, const struct aws_http_answer *http,
                                  struct ec2_answer *ret)
{
    const struct ec2_sink sink = { .on_instance = keep_row, .context = fleet };
    struct error error = { "" };
    int rc = 0;

    fleet->row_count = 0;
    *ret = (struct ec2_answer){ 0 };
    if (http->fault == 0)
        rc = ec2_answer_read(http->body, http->size, "DescribeInstances", &sink, ret, &error);

    const enum aws_verdict verdict = aws_fault_judge(http, ret->code);

    if (verdict != AWS_DONE)
        return verdict;
    if (rc < 0)
        set_fault(fleet, "EC2's list is not believed: %.150s", error.text);
    else if (is_at_home(fleet))
        return AWS_DONE;
    else if (fleet->config.on_foreign != NULL)
        fleet->config.on_foreign(fleet->config.context);
    fleet->stats.disbelieved++;
    return AWS_LOST;
}

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
 * of a right to its key. Asking for the same again at once gives no machine. */
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
    machine->probed_at = 0;
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
static void show_again(struct aws_fleet *fleet, msec_t now, struct ended *ended,
                       const struct ec2_instance *row)
{
    const bool is_second = strcmp(ended->id, row->id) != 0;

    if (!is_second && fleet->round.started_at <= ended->at)
        return;
    /* A list may be old: once in a while is enough. */
    if (ended->stray_at > 0 && now - ended->stray_at < fleet->config.timing.settle / 4)
        return;
    ended->stray_at = now;
    fleet->stats.doubles += is_second ? 1 : 0;
    fleet_note(fleet, true, "%s for a key that has ended: instance=%" PRIu64 " ends=%s",
               is_second ? "a second instance" : "the instance is there again", ended->key,
               row->id);
    fleet_terminate_stray(fleet, now, row->id);
}

/* An instance with our tags that we do not know. */
static void show_new(struct aws_fleet *fleet, msec_t now, uint64_t key,
                     const struct ec2_instance *row)
{
    struct ended *ended = fleet_find_ended(fleet, key);
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

static void put_filter(struct aws_fleet *fleet)
{
    char tokens[EC2_NAME_SIZE];

    if (!fleet->round.is_by_token) {
        aws_form_add(&fleet->form, "Filter.1.Name", "tag:stint:cluster");
        aws_form_add(&fleet->form, "Filter.1.Value.1", fleet->config.cluster);
        return;
    }
    (void)snprintf(tokens, sizeof(tokens), "stint-%s-*", fleet->config.cluster);
    aws_form_add(&fleet->form, "Filter.1.Name", "client-token");
    aws_form_add(&fleet->form, "Filter.1.Value.1", tokens);
}

static void send_page(struct aws_fleet *fleet, msec_t now)
{
    const struct call *call = fleet_begin_call(fleet, now, CALL_DESCRIBE);

    if (call == NULL)
        return;
    aws_form_begin(&fleet->form, "DescribeInstances", EC2_VERSION);
    aws_form_number(&fleet->form, "MaxResults", fleet->config.page);
    put_filter(fleet);
    if (fleet->round.token[0] != '\0')
        aws_form_add(&fleet->form, "NextToken", fleet->round.token);
    fleet->round.is_in_flight = true;
    fleet_send(fleet, call);
}

static bool is_wanted(const struct aws_fleet *fleet)
{
    return fleet->machine_count > 0 || fleet->list_count > 0;
}

/* Whether a machine was sought by its tags for so long that only the client token is left. Who takes the
 * tags away takes away how we know our machines; the token stays. */
static bool is_token_wanted(const struct aws_fleet *fleet, msec_t now)
{
    for (uint32_t i = 0; i < fleet->machine_count; i++) {
        const struct machine *machine = &fleet->machines[i];

        if (machine->state == MACHINE_SOUGHT && machine->id[0] == '\0' &&
            !machine->is_token_sought && now - machine->asked_at >= fleet->config.timing.settle)
            return true;
    }
    return false;
}

static void begin_round(struct aws_fleet *fleet, msec_t now)
{
    fleet->round.is_by_token = is_token_wanted(fleet, now);
    fleet->round.pages = 0;
    fleet->round.is_active = true;
    fleet->round.number++;
    fleet->round.started_at = now;
    fleet->round.token[0] = '\0';
    fleet->round.attempts = 0;
    fleet->round.next_at = now;
    fleet->list_active = fleet->round.is_by_token ? 0 : fleet->list_count;
    fleet->gone_count = 0;
}

/* Ask for the machine that lists have lacked for longest, by its id. */
static void probe(struct aws_fleet *fleet, msec_t now)
{
    struct machine *next = NULL;

    for (uint32_t i = 0; i < fleet->machine_count && fleet->missing > 0; i++) {
        struct machine *machine = &fleet->machines[i];

        if (fleet_is_missing(fleet, machine) && !machine->is_unwanted &&
            (next == NULL || machine->probed_at < next->probed_at))
            next = machine;
    }

    struct call *call =
        next != NULL && !fleet->is_probing && fleet->call_count < AWS_FLEET_CALLS - 2
            ? fleet_begin_call(fleet, now, CALL_PROBE)
            : NULL;

    if (call == NULL) {
        fleet->probe_at = now + PROBE_AGAIN_MS;
        return;
    }
    next->probed_at = now;
    call->count = 1;
    call->keys[0] = next->key;
    fleet->is_probing = true;
    aws_form_begin(&fleet->form, "DescribeInstances", EC2_VERSION);
    aws_form_item(&fleet->form, "InstanceId.#", 1, next->id);
    fleet_send(fleet, call);
}

void fleet_look(struct aws_fleet *fleet, msec_t now)
{
    struct fleet_round *round = &fleet->round;

    if (now >= fleet->probe_at)
        probe(fleet, now);
    if (round->is_in_flight)
        return;
    if (!round->is_active && fleet->list_count == 0 && (!is_wanted(fleet) || now < round->next_at))
        return;
    if (!round->is_active)
        begin_round(fleet, now);
    if (now >= round->next_at)
        send_page(fleet, now);
}

static msec_t round_wake(const struct aws_fleet *fleet)
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

msec_t fleet_look_wake(const struct aws_fleet *fleet)
{
    const msec_t round = round_wake(fleet);

    return fleet->missing > 0 && !fleet->is_probing && fleet->probe_at < round &&
                   fleet->call_count < AWS_FLEET_CALLS - 2
               ? fleet->probe_at
               : round;
}

/* A machine that a whole round has not shown. What counts is the age of the question: its answer may have
 * taken long. */
static void miss(struct aws_fleet *fleet, msec_t now, struct machine *machine)
{
    const struct fleet_round *round = &fleet->round;
    const bool is_old = round->started_at - machine->asked_at >= fleet->config.timing.settle;

    if (machine->state == MACHINE_SOUGHT && machine->id[0] == '\0') {
        if (is_old && machine->is_token_sought)
            fleet_refuse(fleet, now, machine);
        else if (is_old && round->is_by_token)
            machine->is_token_sought = true;
        return;
    }
    /* A fleet's machines have tokens that we did not choose. */
    if (machine->id[0] == '\0' || machine->seen_at >= round->started_at || round->is_by_token)
        return;
    machine->missed++;
}

bool fleet_is_missing(const struct aws_fleet *fleet, const struct machine *machine)
{
    return machine->missed >= ROUND_MISSED_MAX &&
           fleet->round.started_at - machine->seen_at >= fleet->config.timing.settle / 2;
}

/* EC2 has said that the machine ends, and no list has shown it for so long. */
static bool is_proven(const struct aws_fleet *fleet, const struct machine *machine)
{
    return machine->proof_at > 0 &&
           fleet->round.started_at - machine->proof_at >= fleet->config.timing.settle;
}

static void count_missing(struct aws_fleet *fleet)
{
    const uint32_t before = fleet->missing;

    fleet->missing = 0;
    for (uint32_t i = 0; i < fleet->machine_count; i++)
        fleet->missing += fleet_is_missing(fleet, &fleet->machines[i]) ? 1 : 0;
    if (fleet->missing > before)
        fleet_note(fleet, true,
                   "EC2's lists lack machines=%" PRIu32 " of=%" PRIu32
                   "; nothing shows their end, so they still count as rented",
                   fleet->missing, fleet->machine_count);
    else if (fleet->missing == 0 && before > 0)
        fleet_note(fleet, false, "EC2's lists lack none of our machines any more");
}

static bool is_changing(const struct machine *machine)
{
    return machine->is_unwanted || machine->state != MACHINE_RUNNING || machine->missed > 0;
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
    fleet->round.attempts = 0;
    fleet->stats.rounds++;
    clear_fault(fleet);
    for (uint32_t i = fleet->machine_count; i > 0; i--) {
        struct machine *machine = &fleet->machines[i - 1];

        if (is_proven(fleet, machine))
            fleet_end(fleet, now, machine, machine->proof_at);
        else if (machine->shown_in != fleet->round.number)
            miss(fleet, now, machine);
    }
    count_missing(fleet);
    for (uint32_t i = 0; i < fleet->machine_count && !is_busy; i++)
        is_busy = is_changing(&fleet->machines[i]);
    fleet->round.next_at = now + (is_busy ? timing->look : timing->look_idle);
    answer_lists(fleet, now);
}

/* The key that a client token of ours names: "stint-CLUSTER-KEY", or "stint-CLUSTER-KEY+COUNT". 0: none. */
static uint64_t key_of_token(const struct aws_fleet *fleet, const char *token)
{
    char start[EC2_NAME_SIZE];
    const int length = snprintf(start, sizeof(start), "stint-%s-", fleet->config.cluster);
    uint64_t key = 0;

    if (strncmp(token, start, (size_t)length) != 0)
        return 0;
    token += length;
    return number_id(token, strcspn(token, "+"), &key) == 0 ? key : 0;
}

static void take_row(struct aws_fleet *fleet, msec_t now, const struct ec2_instance *row)
{
    uint64_t key = 0;

    if (row->tag_cluster[0] == '\0' && fleet->round.is_by_token)
        key = key_of_token(fleet, row->client_token);
    else if (strcmp(row->tag_cluster, fleet->config.cluster) != 0)
        return; /* not managed by Stint, whatever was asked for */
    else if (number_id(row->tag_key, strlen(row->tag_key), &key) < 0)
        key = 0;
    if (key == 0) {
        if (!is_over(row->state))
            fleet_note(fleet, true, "an instance has our tag and no key: id=%s", row->id);
        return;
    }
    fleet_show(fleet, now, key + row->launch_index, row);
}

/* The page was not to be had, or is not believed: later, and from the start if it has to be. */
static void page_failed(struct aws_fleet *fleet, msec_t now, bool from_start)
{
    struct fleet_round *round = &fleet->round;

    if (from_start) {
        round->token[0] = '\0';
        round->pages = 0;
    }
    round->next_at = now + aws_fault_wait(&fleet->rng, fleet->config.timing.retry,
                                          fleet->config.timing.retry_most, round->attempts);
    round->attempts++;
}

static void page_read(struct aws_fleet *fleet, msec_t now, const char *token)
{
    struct fleet_round *round = &fleet->round;

    for (uint32_t i = 0; i < fleet->row_count; i++)
        take_row(fleet, now, &fleet->rows[i]);
    if (token[0] == '\0') {
        end_round(fleet, now);
        return;
    }
    round->pages++;
    if (strcmp(token, round->token) == 0 || round->pages >= ROUND_PAGES_MAX) {
        set_fault(fleet, "EC2's list is not believed: %s",
                  round->pages >= ROUND_PAGES_MAX ? "it has more pages than it could need"
                                                  : "the token of its pages repeats");
        fleet->stats.disbelieved++;
        page_failed(fleet, now, true);
        return;
    }
    memcpy(round->token, token, sizeof(round->token));
    if (round->pages >= ROUND_PAGES_QUICK)
        round->next_at = now + ROUND_PAGE_MS;
}

void fleet_look_answer(struct aws_fleet *fleet, msec_t now, const struct aws_http_answer *http)
{
    struct ec2_answer answer;
    const enum aws_verdict verdict = read_page(fleet, http, &answer);

    fleet->round.is_in_flight = false;
    if (verdict == AWS_DONE) {
        page_read(fleet, now, answer.next_token);
        return;
    }
    fleet->stats.throttled += verdict == AWS_THROTTLED ? 1 : 0;
    fleet->stats.lost += verdict == AWS_LOST ? 1 : 0;
    if (verdict == AWS_STALE_KEYS && fleet->config.on_stale_keys != NULL)
        fleet->config.on_stale_keys(fleet->config.context);
    if (answer.code[0] != '\0' && verdict != AWS_THROTTLED && verdict != AWS_LOST)
        set_fault(fleet, "EC2 does not show our instances code=%s: %.150s", answer.code,
                  answer.message);
    /* A page's token may have grown old. */
    page_failed(fleet, now, verdict == AWS_WRONG);
}

void fleet_probe_answer(struct aws_fleet *fleet, msec_t now, const struct call *call,
                        const struct aws_http_answer *http)
{
    struct ec2_answer answer;
    const enum aws_verdict verdict = read_page(fleet, http, &answer);
    struct machine *machine = fleet_find(fleet, call->keys[0]);

    fleet->is_probing = false;
    fleet->probe_at = now + fleet->config.timing.retry;
    if (machine == NULL)
        return;
    if (verdict != AWS_NOT_FOUND) /* one at a time is enough while EC2 says nothing */
        fleet->probe_at = now + PROBE_AGAIN_MS;
    for (uint32_t i = 0; i < fleet->row_count && verdict == AWS_DONE; i++) {
        if (strcmp(fleet->rows[i].id, machine->id) == 0) {
            fleet_show(fleet, now, machine->key, &fleet->rows[i]);
            return;
        }
    }
    /* EC2 shows what is new a little late; after that its word is proof. */
    if (verdict == AWS_NOT_FOUND &&
        call->sent_at - machine->seen_at >= fleet->config.timing.settle) {
        fleet_note(fleet, true, "EC2 knows nothing any more of instance=%" PRIu64 " id=%s",
                   machine->key, machine->id);
        fleet_end(fleet, now, machine, machine->seen_at);
        count_missing(fleet);
    }
}
