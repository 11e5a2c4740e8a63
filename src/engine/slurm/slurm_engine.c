/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_engine.c - see slurm_engine.h. Here are the handshake, the lists and who gets which line;
 * slurm_jobs.c has what is read, slurm_places.c what is asked for, slurm_nodes.c the machines, and
 * slurm_asks.c the requests that are under way.
 */
#include "engine/slurm/slurm_engine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/engine_adapter.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_label.h"
#include "engine/slurm/slurm_protocol.h"

enum {
    NODE_LOST_MS_DEFAULT = 15000,
    SILENCE_MS_DEFAULT = 300000, /* SlurmdTimeout's */
    START_TIMEOUT_MS_DEFAULT = 180000,
    GRACE_MS_MAX = 600000,
    JOBS_MAX_DEFAULT = 1 << 21,
    GANG_TASKS_MAX_DEFAULT = 1 << 20,
};

static char *copy(const char *text, const char *otherwise)
{
    const char *from = text == NULL ? otherwise : text;

    if (from == NULL)
        return NULL;
    const size_t size = strlen(from) + 1;
    char *own = mem_alloc(size, 1);

    memcpy(own, from, size);
    return own;
}

struct slurm_engine *slurm_engine_create(const struct slurm_engine_config *config)
{
    struct slurm_engine *engine = mem_alloc(1, sizeof(*engine));

    assert(config->on_event != NULL);
    assert(config->on_send != NULL);
    engine->config = *config;
    engine->config.node_prefix = engine->texts[0] = copy(config->node_prefix, "st-");
    engine->config.partition = engine->texts[1] = copy(config->partition, NULL);
    engine->config.move_word = engine->texts[2] = copy(config->move_word, "stint:move");
    engine->config.stop_signal = engine->texts[3] = copy(config->stop_signal, NULL);
    engine->config.cluster = engine->texts[4] = copy(config->cluster, NULL);
    arena_init(&engine->kept);
    engine->config.markets = slurm_markets_copy(&config->markets, &engine->kept);
    engine->config.bursts = slurm_bursts_copy(&config->bursts, &engine->kept);
    if (config->node_lost_ms <= 0)
        engine->config.node_lost_ms = NODE_LOST_MS_DEFAULT;
    if (config->stop_grace_ms < 0 || config->stop_grace_ms > GRACE_MS_MAX)
        engine->config.stop_grace_ms = GRACE_MS_MAX;
    if (config->start_timeout_ms <= 0)
        engine->config.start_timeout_ms = START_TIMEOUT_MS_DEFAULT;
    if (config->jobs_max == 0)
        engine->config.jobs_max = JOBS_MAX_DEFAULT;
    if (config->gang_tasks_max == 0)
        engine->config.gang_tasks_max = GANG_TASKS_MAX_DEFAULT;
    engine->shapes = (struct slurm_shapes){
        .catalogue = config->catalogue,
        .shapes = config->shapes,
    };
    shapes_bind(config->shapes, config->catalogue);
    slurm_shapes_init(&engine->shapes);
    slurm_policy_init(&engine->policy);
    names_init(&engine->words);
    names_init(&engine->owned);
    for (uint32_t i = 0; i < config->owned_count; i++)
        (void)names_add(&engine->owned, config->owned[i], strlen(config->owned[i]));
    names_init(&engine->payers);
    map_init(&engine->by_slot);
    map_init(&engine->by_record);
    map_init(&engine->by_array);
    map_init(&engine->by_instance);
    engine->job_free = engine->array_free = engine->node_free = INDEX_NONE;
    engine->crowd_first = engine->crowd_last = INDEX_NONE;
    engine->nodes_wake = engine->late_wake = engine->begin_wake = engine->costs_wake = MSEC_NEVER;
    engine->admit_wake = engine->watch_wake = engine->over_since = MSEC_NEVER;
    engine->unhold_wake = engine->notes_wake = MSEC_NEVER;
    engine->note_round = 1;
    engine->asks.first_key = 1;
    engine->silence_ms = SILENCE_MS_DEFAULT;
    return engine;
}

void slurm_engine_destroy(struct slurm_engine *engine)
{
    if (engine == NULL)
        return;
    slurm_jobs_done(engine);
    slurm_asks_done(engine);
    arena_done(&engine->kept);
    slurm_shapes_done(&engine->shapes);
    slurm_policy_done(&engine->policy);
    mem_free(engine->watched.row);
    names_done(&engine->words);
    names_done(&engine->owned);
    names_done(&engine->payers);
    map_done(&engine->by_instance);
    mem_free(engine->nodes);
    mem_free(engine->dirty.row);
    mem_free(engine->late.row);
    mem_free(engine->costs.row);
    mem_free(engine->gone.row);
    mem_free(engine->drains.row);
    mem_free(engine->held.row);
    mem_free(engine->fresh.row);
    mem_free(engine->instances);
    mem_free(engine->later);
    mem_free(engine->pasts);
    mem_free(engine->list_keys);
    line_text_done(&engine->out);
    for (size_t i = 0; i < sizeof(engine->texts) / sizeof(engine->texts[0]); i++)
        mem_free(engine->texts[i]);
    mem_free(engine);
}

/* ---- lists ---- */

static void on_list(void *self, uint64_t key)
{
    struct slurm_engine *engine = self;

    MEM_ROOM(engine->list_keys, engine->lists_room, engine->list_count + 1);
    engine->list_keys[engine->list_count++] = key;
    engine->is_list_due = true;
}

/* What was asked for before the list began is answered by it. */
static void begin_list(struct slurm_engine *engine)
{
    if (!engine->is_list_due || engine->is_listing || !engine->is_greeted)
        return;
    engine->is_list_due = false;
    engine->is_listing = true;
    engine->list_taken = engine->list_count;
    (void)slurm_ask_begin(engine, "list");
    line_text_string(&engine->out, "what", "nodes");
    slurm_ask_end(engine, ASK_LIST_NODES, 0);
    (void)slurm_ask_begin(engine, "list");
    line_text_string(&engine->out, "what", "jobs");
    slurm_ask_end(engine, ASK_LIST_JOBS, 0);
}

static void end_list(struct slurm_engine *engine)
{
    const uint32_t taken = engine->list_taken;

    slurm_jobs_end_list(engine);
    slurm_jobs_tell_past(engine);
    slurm_admit_tick(engine);
    slurm_jobs_tell(engine);
    slurm_nodes_tell(engine);
    slurm_jobs_tell_tasks(engine);
    slurm_nodes_tell_closed(engine);
    engine->is_listing = false;
    engine->list_taken = 0;
    for (uint32_t i = 0; i < taken; i++)
        slurm_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_LISTED,
                                                          .at = engine->now,
                                                          .key = engine->list_keys[i] });
    engine->list_count -= taken;
    if (taken > 0)
        memmove(engine->list_keys, engine->list_keys + taken,
                engine->list_count * sizeof(*engine->list_keys));
    begin_list(engine);
}

/* Half a list is none; it is asked for again when there is somebody to ask. */
static void break_list(struct slurm_engine *engine)
{
    if (!engine->is_listing)
        return;
    slurm_ask_cancel_lists(engine);
    engine->is_listing = false;
    engine->is_list_due = true;
}

/* From here on the lines of the list follow. */
static void on_list_begins(struct slurm_engine *engine, const struct line *line)
{
    const char *what = line_get(line, "what");
    const char *silence = line_get(line, "silence_s");
    uint64_t seconds = 0;

    if (silence != NULL && line_number(silence, UINT16_MAX, &seconds) == 0)
        engine->silence_ms = (msec_t)seconds * MSEC_PER_SEC;
    if (engine->is_listing && what != NULL && strcmp(what, "nodes") == 0)
        engine->round++;
}

/* ---- lines ---- */

static void on_hello(struct slurm_engine *engine, const struct line *line)
{
    const char *protocol = line_get(line, "protocol");
    uint64_t number = 0;

    if (protocol == NULL || line_number(protocol, UINT32_MAX, &number) < 0 ||
        number != SLURM_PROTOCOL) {
        slurm_engine_say(engine, "stint-slurm speaks another protocol: %s",
                         protocol == NULL ? "none" : protocol);
        return;
    }
    if (!engine->is_connected || engine->is_greeted)
        return;
    line_text_reset(&engine->out);
    line_text_begin(&engine->out, "hello");
    line_text_number(&engine->out, "protocol", SLURM_PROTOCOL);
    if (slurm_lease_wants(engine, line))
        line_text_string(&engine->out, "lease", engine->config.cluster);
    line_text_end(&engine->out);
    engine->config.on_send(engine->config.context, engine->out.text, engine->out.size);
    engine->is_greeted = true;
    engine->is_lost = false;
    if (engine->was_connected)
        engine->is_list_due = true; /* what went while nobody listened is reported by a list only */
    engine->was_connected = true;
    engine->catches_up = true;
    slurm_nodes_reset(engine);
    slurm_asks_resend(engine, true);
    begin_list(engine);
}

static void on_controller(struct slurm_engine *engine, const struct line *line)
{
    const char *state = line_get(line, "state");
    const bool is_lost = state != NULL && strcmp(state, "lost") == 0;

    if (is_lost == engine->is_lost)
        return;
    engine->is_lost = is_lost;
    slurm_engine_say(engine, is_lost ? "slurmctld does not answer" : "slurmctld is back");
    slurm_nodes_reset(engine);
    if (!is_lost) {
        slurm_asks_resend(engine, false);
        begin_list(engine);
    }
}

static struct slurm_ask *ask_of(struct slurm_engine *engine, const struct line *line)
{
    const char *key = line_get(line, "key");
    uint64_t number = 0;

    if (key == NULL || line_number(key, UINT64_MAX, &number) < 0) {
        engine->stats.bad_lines++;
        return NULL;
    }
    return slurm_ask_find(engine, number);
}

static void on_done(struct slurm_engine *engine, const struct line *line)
{
    struct slurm_ask *ask = ask_of(engine, line);

    if (ask == NULL)
        return;
    const struct slurm_ask done = *ask;

    slurm_ask_close(engine, ask);
    if (done.kind == ASK_LIST_NODES)
        slurm_nodes_end_list(engine);
    else if (done.kind == ASK_LIST_JOBS)
        end_list(engine);
    else if (done.kind == ASK_DRAIN || done.kind == ASK_RESUME)
        slurm_nodes_done(engine, &done);
    else
        slurm_places_done(engine, &done, line);
}

static uint64_t code_of(const struct line *line)
{
    const char *code = line_get(line, "code");
    uint64_t number = 0;

    if (code != NULL)
        (void)line_number(code, UINT32_MAX, &number);
    return number;
}

static void on_refused(struct slurm_engine *engine, const struct line *line)
{
    struct slurm_ask *ask = ask_of(engine, line);

    if (ask == NULL)
        return;
    const struct slurm_ask done = *ask;
    const char *text = line_get(line, "text");

    engine->stats.refused++;
    if (done.kind != ASK_DELETE && done.kind != ASK_EXPLAIN &&
        (done.kind != ASK_COMMENT || (!engine->are_costs_refused && code_of(line) != 0)))
        slurm_engine_say(engine, "Slurm refused: %.*s: %s", (int)done.size - 1, done.text,
                         text == NULL ? "" : text);
    slurm_ask_close(engine, ask);
    switch (done.kind) {
    case ASK_LIST_NODES:
    case ASK_LIST_JOBS:
        break_list(engine);
        break;
    case ASK_DELETE:
    case ASK_DOWN:
    case ASK_DRAIN:
    case ASK_RESUME:
        slurm_nodes_refused(engine, &done, code_of(line));
        break;
    case ASK_COMMENT:
        engine->are_costs_refused =
            engine->are_costs_refused || (text != NULL && strstr(text, "no accounting") != NULL);
        break;
    case ASK_EXPLAIN: /* it was placed, held or commented on meanwhile: a line tells */
        break;
    case ASK_PLACE:
    case ASK_RELEASE:
    case ASK_HOLD:
    case ASK_UNHOLD:
    case ASK_CANCEL:
    case ASK_GIVE_UP:
    case ASK_STOP:
        slurm_places_refused(engine, &done, line);
        break;
    }
}

/* stint-slurm says next that slurmctld is lost; what nobody knows of is asked again when it is
 * back. */
static void on_unsure(struct slurm_engine *engine, const struct line *line)
{
    struct slurm_ask *ask = ask_of(engine, line);

    if (ask == NULL)
        return;
    if (ask->kind == ASK_LIST_NODES || ask->kind == ASK_LIST_JOBS)
        break_list(engine);
    else if (ask->kind == ASK_EXPLAIN) { /* it may be another reason by then */
        slurm_notes_failed(engine, ask);
        slurm_ask_close(engine, ask);
    } else
        ask->is_unsure = true;
}

static void on_error(struct slurm_engine *engine, const struct line *line)
{
    const char *text = line_get(line, "text");

    slurm_engine_say(engine, "stint-slurm: %s", text == NULL ? "an error" : text);
}

/* That it was heard is all there is to it. */
static void on_alive(struct slurm_engine *engine, const struct line *line)
{
    (void)engine;
    (void)line;
}

static void on_configuration(struct slurm_engine *engine, const struct line *line)
{
    engine->facts = slurm_conf_facts_read(line);
}

static const struct {
    const char *word;
    void (*take)(struct slurm_engine *engine, const struct line *line);
    bool is_before_hello;
} words[] = {
    { "job", slurm_jobs_on_job, false },
    { "started", slurm_jobs_on_started, false },
    { "ended", slurm_jobs_on_ended, false },
    { "requeued", slurm_jobs_on_requeued, false },
    { "job-gone", slurm_jobs_on_gone, false },
    { "priority", slurm_priority_on_line, false },
    { "quota", slurm_admit_on_quota, false },
    { "node", slurm_nodes_on_node, false },
    { "node-gone", slurm_nodes_on_gone, false },
    { "done", on_done, false },
    { "refused", on_refused, false },
    { "failed", slurm_places_failed, false },
    { "unsure", on_unsure, false },
    { "list", on_list_begins, false },
    { "controller", on_controller, false },
    { "lease", slurm_lease_on_line, false },
    { "configuration", on_configuration, false },
    { "alive", on_alive, true },
    { "error", on_error, true },
    { "hello", on_hello, true },
};

static void set_now(struct slurm_engine *engine, msec_t now)
{
    if (now > engine->now)
        engine->now = now;
}

static void tell_later_ones(struct slurm_engine *engine)
{
    /* Whoever hears one may act, which may add more: those wait for the next time. */
    const uint32_t count = engine->later_count;

    for (uint32_t i = 0; i < count; i++) {
        struct engine_event event = engine->later[i];

        event.at = engine->now;
        slurm_engine_emit(engine, &event);
    }
    engine->later_count -= count;
    if (count > 0)
        memmove(engine->later, engine->later + count, engine->later_count * sizeof(*engine->later));
}

void slurm_engine_line(struct slurm_engine *engine, msec_t now, char *text, size_t length)
{
    struct line line;
    struct error error = { "" };

    set_now(engine, now);
    engine->stats.lines++;
    if (length == SIZE_MAX || line_parse(text, length, &line, &error) < 0) {
        engine->stats.bad_lines++;
        slurm_engine_say(engine, "stint-slurm: an unreadable line: %s",
                         length == SIZE_MAX ? "it is too long" : error.text);
        return;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].word, line.word) != 0)
            continue;
        if (engine->is_greeted || words[i].is_before_hello)
            words[i].take(engine, &line);
        return;
    }
    engine->stats.bad_lines++;
}

/* ---- the rest of the pattern ---- */

void slurm_engine_connected(struct slurm_engine *engine, msec_t now)
{
    set_now(engine, now);
    engine->is_connected = true;
    engine->is_greeted = false;
}

void slurm_engine_disconnected(struct slurm_engine *engine, msec_t now)
{
    set_now(engine, now);
    engine->is_connected = false;
    engine->is_greeted = false;
    engine->are_costs_refused = false;
    break_list(engine);
}

void slurm_engine_flush(struct slurm_engine *engine, msec_t now)
{
    set_now(engine, now);
    slurm_nodes_send(engine);
    slurm_places_send(engine);
    begin_list(engine);
}

static msec_t earlier(msec_t a, msec_t b)
{
    return a < b ? a : b;
}

msec_t slurm_engine_next_wake(const struct slurm_engine *engine)
{
    if (engine->later_count > 0 || engine->dirty.count > 0 || engine->gone.count > 0 ||
        engine->drains.count > 0)
        return engine->now;
    return earlier(earlier(earlier(engine->nodes_wake, engine->late_wake),
                           earlier(engine->begin_wake, engine->costs_wake)),
                   earlier(earlier(engine->unhold_wake, engine->notes_wake),
                           earlier(engine->admit_wake, engine->watch_wake)));
}

void slurm_engine_tick(struct slurm_engine *engine, msec_t now)
{
    set_now(engine, now);
    tell_later_ones(engine);
    slurm_jobs_tick(engine);
    slurm_admit_tick(engine);
    slurm_admit_watch_tick(engine);
    slurm_nodes_tick(engine);
    slurm_places_tick(engine);
    slurm_priority_tick(engine);
    slurm_engine_flush(engine, now);
    slurm_costs_tick(engine);
    slurm_notes_tick(engine);
}

static const struct engine_ops ops = {
    .admit = slurm_nodes_on_admit,
    .retire = slurm_nodes_on_retire,
    .forget = slurm_nodes_on_forget,
    .place = slurm_places_on_place,
    .queue = slurm_places_on_queue,
    .cancel = slurm_places_on_cancel,
    .stop = slurm_places_on_stop,
    .list = on_list,
};

struct engine_port slurm_engine_port(struct slurm_engine *engine)
{
    return (struct engine_port){ .ops = &ops, .self = engine };
}

static const char *payer_text(const struct names *names, uint32_t name)
{
    return name != NAME_NONE ? names_text(names, name) : NULL;
}

bool slurm_engine_payer(const struct slurm_engine *engine, uint64_t task, struct engine_payer *ret)
{
    const uint32_t id = (uint32_t)(task >> (ID_RANK_BITS + ID_INDEX_BITS)) & ID_JOB_MAX;
    const uint32_t index = (uint32_t)(task >> ID_RANK_BITS) & ((1U << ID_INDEX_BITS) - 1);
    const uint32_t row = map_get(&engine->by_slot, slurm_slot(id, index));

    if (row == MAP_NONE)
        return false;

    const struct slurm_job *job = &engine->jobs[row];

    *ret = (struct engine_payer){
        .account = payer_text(&engine->payers, job->account),
        .partition = payer_text(&engine->payers, job->partition),
        .qos = payer_text(&engine->payers, job->qos),
    };
    return true;
}

/* Of the members of an array the first that waits, as squeue shows it, else the first that there is; MAP_NONE: there is no such array. */
static uint32_t find_of_array(const struct slurm_engine *engine, uint32_t array)
{
    const uint32_t at = map_get(&engine->by_array, array);
    const uint32_t first = at == MAP_NONE ? INDEX_NONE : engine->arrays[at].first_member;

    for (uint32_t row = first; row != INDEX_NONE; row = engine->jobs[row].next_member) {
        if (engine->jobs[row].phase == PHASE_WAITING)
            return row;
    }
    return first == INDEX_NONE ? MAP_NONE : first;
}

uint64_t slurm_engine_find(const struct slurm_engine *engine, const char *text)
{
    struct slurm_label label;

    if (!slurm_label_read(text, &label))
        return 0;

    uint32_t row =
        map_get(&engine->by_slot, slurm_slot(label.job, label.is_member ? label.index + 1 : 0));

    if (row == MAP_NONE && !label.is_member) /* components follow each other */
        row = map_get(&engine->by_record, (uint64_t)label.job + label.component);
    if (row == MAP_NONE && !label.is_member && label.component == 0) /* as sbatch said it */
        row = find_of_array(engine, label.job);
    if (row == MAP_NONE)
        return 0;
    for (uint32_t i = 0; i < label.component && i < engine->jobs[row].part_count; i++)
        label.rank += engine->jobs[row].parts[i].task_count;
    if (label.rank >= engine->jobs[row].task_count)
        return 0;
    return engine->jobs[row].id + label.rank;
}

struct slurm_engine_stats slurm_engine_stats(const struct slurm_engine *engine)
{
    struct slurm_engine_stats stats = engine->stats;

    for (uint32_t i = 0; i < engine->job_count; i++) {
        const struct slurm_job *job = &engine->jobs[i];

        if (!job->is_used || !job->is_announced)
            continue;
        stats.waiting += job->phase == PHASE_WAITING;
        stats.running += job->phase == PHASE_RUNNING;
    }
    return stats;
}
