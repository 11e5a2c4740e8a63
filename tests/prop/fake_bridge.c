/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_bridge.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/slurm/slurm_protocol.h"
#include "engine/slurm/slurm_request.h"
#include "engine/slurm/slurm_spell.h"
#include "fake_line.h"

enum { NAMES_SIZE = 512, CODE_INVALID_NODE = 2018, CODE_BUSY = 2069, CODE_NOT_PENDING = 2021 };

static void flush(struct fake_bridge *bridge)
{
    if (bridge->out.size > 0)
        bridge->say(bridge->context, bridge->out.text, bridge->out.size);
    line_text_reset(&bridge->out);
}

void fake_bridge_init(struct fake_bridge *bridge, struct fake_slurm *slurm, const char *prefix,
                      msec_t poll_ms, uint64_t seed)
{
    *bridge = (struct fake_bridge){ .slurm = slurm,
                                    .prefix = prefix,
                                    .poll_ms = poll_ms,
                                    .act_ms = 8,
                                    .now = slurm->now,
                                    .look_at = slurm->now };
    rng_init(&bridge->rng, seed, 78);
    slurm_keys_init(&bridge->keys);
}

void fake_bridge_greet(struct fake_bridge *bridge,
                       void (*say)(void *context, const char *lines, size_t size), void *context)
{
    bridge->say = say;
    bridge->context = context;
    line_text_begin(&bridge->out, "hello");
    line_text_number(&bridge->out, "protocol", SLURM_PROTOCOL);
    line_text_string(&bridge->out, "stint", "0.0.0");
    line_text_string(&bridge->out, "slurm", "22.05.8");
    line_text_number(&bridge->out, "lease", 1);
    line_text_end(&bridge->out);
    flush(bridge);
}

void fake_bridge_done(struct fake_bridge *bridge)
{
    for (uint32_t i = 0; i < bridge->request_count; i++)
        mem_free(bridge->requests[i].text);
    mem_free(bridge->requests);
    mem_free(bridge->stops);
    mem_free(bridge->jobs);
    mem_free(bridge->nodes);
    slurm_keys_done(&bridge->keys);
    line_text_done(&bridge->out);
}

/* ---- looks ---- */

static void tell_started(struct fake_bridge *bridge, const struct fake_job *job)
{
    line_text_begin(&bridge->out, "started");
    line_text_number(&bridge->out, "job", job->id);
    fake_line_run(bridge, job, &bridge->out);
    line_text_end(&bridge->out);
}

static void tell_ended(struct fake_bridge *bridge, const struct fake_job *job)
{
    line_text_begin(&bridge->out, "ended");
    line_text_number(&bridge->out, "job", job->id);
    line_text_string(&bridge->out, "state", fake_line_state(job));
    line_text_number(&bridge->out, "exit", 0);
    line_text_number(&bridge->out, "signal", 0);
    fake_line_run(bridge, job, &bridge->out);
    fake_line_time(bridge, &bridge->out, "end", job->ended_at);
    line_text_end(&bridge->out);
}

/* By the rules of slurm_watch.c. */
static void tell_what_happened(struct fake_bridge *bridge, const struct fake_seen_job *old,
                               const struct fake_job *job)
{
    const bool is_other_run = old->run != job->run;
    const bool is_new_phase = is_other_run || old->phase != job->phase;

    if (is_other_run || (is_new_phase && job->phase == FAKE_WAITING)) {
        line_text_begin(&bridge->out, "requeued");
        line_text_number(&bridge->out, "job", job->id);
        line_text_number(&bridge->out, "run", job->run);
        line_text_end(&bridge->out);
    }
    if (!is_new_phase || job->phase == FAKE_WAITING)
        return;
    if (job->phase == FAKE_RUNNING) {
        tell_started(bridge, job);
        return;
    }
    if (job->nodes_count > 0 && (is_other_run || old->phase == FAKE_WAITING))
        tell_started(bridge, job);
    tell_ended(bridge, job);
}

static struct fake_seen_job *seen_job(struct fake_bridge *bridge, const struct fake_job *job)
{
    for (uint32_t i = 0; i < bridge->job_count; i++) {
        if (bridge->jobs[i].id == job->id)
            return &bridge->jobs[i];
    }
    MEM_ROOM(bridge->jobs, bridge->jobs_room, bridge->job_count + 1);
    bridge->jobs[bridge->job_count] =
        (struct fake_seen_job){ .id = job->id, .run = job->run, .phase = FAKE_WAITING };
    return &bridge->jobs[bridge->job_count++];
}

static void look_at_phase(struct fake_bridge *bridge, enum fake_phase phase, bool is_full)
{
    for (uint32_t i = 0; i < bridge->slurm->job_count; i++) {
        const struct fake_job *job = &bridge->slurm->jobs[i];

        if (job->phase != phase || job->is_forgotten)
            continue;
        struct fake_seen_job *old = seen_job(bridge, job);
        const uint32_t size = bridge->out.size;
        const uint64_t hash = fake_line_job(bridge, job, &bridge->out);

        if (hash == old->hash && !is_full)
            bridge->out.size = size;
        tell_what_happened(bridge, old, job);
        old->hash = hash;
        old->run = job->run;
        old->phase = job->phase;
        old->look = bridge->look;
    }
}

static uint32_t look_at_jobs(struct fake_bridge *bridge, bool is_full)
{
    if (!is_full && bridge->jobs_version == bridge->slurm->jobs_version)
        return 0;
    bridge->jobs_version = bridge->slurm->jobs_version;
    bridge->look++;
    look_at_phase(bridge, FAKE_ENDED, is_full);
    look_at_phase(bridge, FAKE_WAITING, is_full);
    look_at_phase(bridge, FAKE_RUNNING, is_full);
    for (uint32_t i = 0; i < bridge->job_count;) {
        if (bridge->jobs[i].look == bridge->look) {
            i++;
            continue;
        }
        line_text_begin(&bridge->out, "job-gone");
        line_text_number(&bridge->out, "job", bridge->jobs[i].id);
        line_text_end(&bridge->out);
        bridge->jobs[i] = bridge->jobs[--bridge->job_count];
    }
    return bridge->job_count;
}

static struct fake_seen_node *seen_node(struct fake_bridge *bridge, uint64_t instance)
{
    for (uint32_t i = 0; i < bridge->node_count; i++) {
        if (bridge->nodes[i].instance == instance)
            return &bridge->nodes[i];
    }
    MEM_ROOM(bridge->nodes, bridge->nodes_room, bridge->node_count + 1);
    bridge->nodes[bridge->node_count] = (struct fake_seen_node){ .instance = instance };
    return &bridge->nodes[bridge->node_count++];
}

static uint32_t look_at_nodes(struct fake_bridge *bridge, bool is_full)
{
    if (!is_full && bridge->nodes_version == bridge->slurm->nodes_version)
        return 0;
    bridge->nodes_version = bridge->slurm->nodes_version;
    bridge->look++;
    for (uint32_t i = 0; i < bridge->slurm->node_count; i++) {
        const struct fake_node *node = &bridge->slurm->nodes[i];

        if (!node->is_there)
            continue;
        struct fake_seen_node *old = seen_node(bridge, node->instance);
        const uint32_t size = bridge->out.size;
        const uint64_t hash = fake_line_node(bridge, node, &bridge->out);

        if (hash == old->hash && !is_full)
            bridge->out.size = size;
        old->hash = hash;
        old->look = bridge->look;
    }
    for (uint32_t i = 0; i < bridge->node_count;) {
        char name[64];

        if (bridge->nodes[i].look == bridge->look) {
            i++;
            continue;
        }
        (void)snprintf(name, sizeof(name), "%s%" PRIu64, bridge->prefix, bridge->nodes[i].instance);
        line_text_begin(&bridge->out, "node-gone");
        line_text_string(&bridge->out, "name", name);
        line_text_end(&bridge->out);
        bridge->nodes[i] = bridge->nodes[--bridge->node_count];
    }
    return bridge->node_count;
}

/* Say what became of slurmctld, when that changes. */
static void set_lost(struct fake_bridge *bridge, bool is_lost)
{
    if (is_lost == bridge->is_lost)
        return;
    bridge->is_lost = is_lost;
    line_text_begin(&bridge->out, "controller");
    line_text_string(&bridge->out, "state", is_lost ? "lost" : "back");
    if (is_lost)
        line_text_prose(&bridge->out, "text", "Unable to contact slurm controller");
    line_text_end(&bridge->out);
    bridge->jobs_version = 0;
    bridge->nodes_version = 0;
}

static void look_around(struct fake_bridge *bridge)
{
    set_lost(bridge, bridge->slurm->is_away);
    if (!bridge->is_lost) {
        (void)look_at_nodes(bridge, false);
        (void)look_at_jobs(bridge, false);
        bridge->looks++;
    }
    bridge->look_at = bridge->now + bridge->poll_ms;
}

/* ---- requests ---- */

static void tell_failure(struct fake_bridge *bridge, const char *word, uint64_t key, uint64_t code,
                         const char *text)
{
    line_text_begin(&bridge->out, word);
    line_text_number(&bridge->out, "key", key);
    line_text_number(&bridge->out, "code", code);
    line_text_prose(&bridge->out, "text", text);
    line_text_end(&bridge->out);
}

/* 'why' of NULL: it is done. */
static void answer(struct fake_bridge *bridge, uint64_t key, uint64_t code, const char *why,
                   const char *was)
{
    const uint32_t begin = bridge->out.size;

    if (why == NULL) {
        line_text_begin(&bridge->out, "done");
        line_text_number(&bridge->out, "key", key);
        line_text_string(&bridge->out, "was", was);
        line_text_end(&bridge->out);
    } else {
        tell_failure(bridge, "refused", key, code, why);
    }
    slurm_keys_answer(&bridge->keys, key, bridge->out.text + begin, bridge->out.size - begin);
}

struct name_list {
    const struct fake_bridge *bridge;
    uint64_t instance[64];
    uint32_t count;
};

static int add_name(void *context, const char *name, size_t length)
{
    struct name_list *list = context;
    const size_t prefix = strlen(list->bridge->prefix);

    if (list->count < 64 && length > prefix)
        list->instance[list->count++] = strtoull(name + prefix, NULL, 10);
    return 0;
}

static void read_names(const struct fake_bridge *bridge, const char *text, struct name_list *ret)
{
    *ret = (struct name_list){ .bridge = bridge };
    (void)slurm_spell_nodes(text, 64, add_name, ret);
}

/* "12" or "12_3" */
static struct fake_job *find_job(struct fake_bridge *bridge, const char *job, bool splits)
{
    char *end = NULL;
    const uint32_t id = (uint32_t)strtoul(job, &end, 10);
    const uint32_t task = *end == '_' ? (uint32_t)strtoul(end + 1, NULL, 10) : FAKE_NO_TASK;

    return fake_slurm_find(bridge->slurm, id, task, splits);
}

static bool is_there_already(const struct fake_job *job, const struct name_list *names)
{
    uint32_t same = 0;

    for (uint32_t i = 0; i < names->count; i++) {
        for (uint32_t k = 0; k < job->nodes_count; k++)
            same += job->nodes[k] == names->instance[i];
    }
    return same == job->nodes_count && same == names->count;
}

static char why_text[256];

static const char *why_runs(const struct fake_job *job, const char *prefix)
{
    (void)snprintf(why_text, sizeof(why_text), "job %u already runs on %s%" PRIu64, job->id, prefix,
                   job->nodes[0]);
    return why_text;
}

static const char *why_of(const struct fake_job *job, const char *what)
{
    (void)snprintf(why_text, sizeof(why_text), "job %u %s", job->id, what);
    return why_text;
}

static bool is_other_run(const struct fake_job *job, uint32_t run)
{
    return run != SLURM_RUN_ANY && job->run != run;
}

static void place(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct fake_job *job = find_job(bridge, request->job, true);
    struct name_list names;
    const char *why = NULL;
    uint64_t code = 0;

    read_names(bridge, request->nodes, &names);
    for (uint32_t i = 0; i < names.count; i++) {
        if (fake_slurm_node(bridge->slurm, names.instance[i]) == NULL) {
            answer(bridge, request->key, CODE_INVALID_NODE, "Invalid node name specified", NULL);
            return;
        }
    }
    if (job == NULL)
        why = "Invalid job id specified", code = 2017;
    else if (is_other_run(job, request->run))
        why = why_of(job, "is in another run");
    else if (job->phase == FAKE_ENDED)
        why = why_of(job, "has ended");
    else if (job->phase == FAKE_RUNNING && is_there_already(job, &names))
        ;
    else if (job->phase == FAKE_RUNNING)
        why = why_runs(job, bridge->prefix);
    else if (job->is_completing)
        why = why_of(job, "is being cleared away");
    else if (fake_slurm_is_held(job))
        why = why_of(job, "is held");
    else
        fake_slurm_free(bridge->slurm, job, names.instance,
                        names.count < FAKE_NODES_MAX ? names.count : FAKE_NODES_MAX);
    answer(bridge, request->key, code, why, NULL);
}

/* The gate's hold alone; an array that is named whole stays one record. */
static void unhold(struct fake_bridge *bridge, const char *name, uint32_t *good, uint32_t *bad)
{
    struct fake_job *job = find_job(bridge, name, false);
    const bool is_ours =
        job != NULL && job->phase == FAKE_WAITING && job->is_gated && job->hold == FAKE_BY_PLUGIN;

    if (is_ours)
        fake_slurm_unhold(bridge->slurm, job);
    *good += is_ours;
    *bad += !is_ours;
}

static void release_or_hold(struct fake_bridge *bridge, const char *name, bool holds, uint64_t key,
                            uint32_t *good, uint32_t *bad)
{
    struct fake_job *job = find_job(bridge, name, true);
    const char *why = NULL;

    if (job == NULL)
        why = "Invalid job id specified";
    else if (fake_slurm_is_held(job))
        why = why_of(job, "is held");
    else if (job->phase != FAKE_WAITING)
        why = "Job is no longer pending execution";
    else if (holds)
        fake_slurm_gate(bridge->slurm, job);
    else
        fake_slurm_free(bridge->slurm, job, NULL, 0);
    *good += why == NULL;
    *bad += why != NULL;
    if (why == NULL)
        return;
    line_text_begin(&bridge->out, "failed");
    line_text_number(&bridge->out, "key", key);
    line_text_string(&bridge->out, "job", name);
    line_text_number(&bridge->out, "code", CODE_NOT_PENDING);
    line_text_prose(&bridge->out, "text", why);
    line_text_end(&bridge->out);
}

struct spread {
    struct fake_bridge *bridge;
    const struct slurm_request *request;
    uint32_t id;
    uint32_t good;
    uint32_t bad;
};

static int one_task(void *context, uint32_t index)
{
    struct spread *spread = context;
    char name[64];

    (void)snprintf(name, sizeof(name), "%u_%u", spread->id, index);
    if (spread->request->verb == SLURM_UNHOLD) {
        unhold(spread->bridge, name, &spread->good, &spread->bad);
        return 0;
    }
    release_or_hold(spread->bridge, name, spread->request->verb == SLURM_HOLD, spread->request->key,
                    &spread->good, &spread->bad);
    return 0;
}

static void act_on_list(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct spread spread = { .bridge = bridge, .request = request };
    const char *rest = request->jobs;
    char name[SLURM_JOB_ID_SIZE];

    while ((rest = slurm_request_next_job(rest, name)) != NULL) {
        char *inside = strchr(name, '[');
        const struct fake_job *whole = inside == NULL ? find_job(bridge, name, false) : NULL;

        spread.id = (uint32_t)strtoul(name, NULL, 10);
        if (inside != NULL) {
            inside[strcspn(inside, "]")] = '\0';
            (void)slurm_spell_tasks(inside + 1, FAKE_TASKS_MAX, one_task, &spread,
                                    &(uint32_t){ 0 });
        } else if (whole != NULL && whole->task_count > 0 && strchr(name, '_') == NULL) {
            while ((whole = find_job(bridge, name, false)) != NULL && whole->task_count > 0)
                (void)one_task(&spread, whole->tasks[0]);
        } else if (request->verb == SLURM_UNHOLD) {
            unhold(bridge, name, &spread.good, &spread.bad);
        } else {
            release_or_hold(bridge, name, request->verb == SLURM_HOLD, request->key, &spread.good,
                            &spread.bad);
        }
    }
    const uint32_t begin = bridge->out.size;

    line_text_begin(&bridge->out, "done");
    line_text_number(&bridge->out, "key", request->key);
    line_text_number(&bridge->out, "count", spread.good);
    line_text_number(&bridge->out, "failed", spread.bad);
    line_text_end(&bridge->out);
    slurm_keys_answer(&bridge->keys, request->key, bridge->out.text + begin,
                      bridge->out.size - begin);
}

static void begin_stop(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct fake_job *job = find_job(bridge, request->job, true);

    if (job == NULL)
        answer(bridge, request->key, 2017, "Invalid job id specified", NULL);
    else if (is_other_run(job, request->run))
        answer(bridge, request->key, 0, why_of(job, "is in another run"), NULL);
    else if (job->phase == FAKE_ENDED)
        answer(bridge, request->key, 2022, "Job is not running", NULL);
    else if (job->phase == FAKE_WAITING) {
        if (!fake_slurm_is_held(job))
            fake_slurm_gate(bridge->slurm, job);
        answer(bridge, request->key, 0, NULL, "waiting");
    } else {
        MEM_ROOM(bridge->stops, bridge->stops_room, bridge->stop_count + 1);
        bridge->stops[bridge->stop_count++] =
            (struct fake_stop){ .key = request->key,
                                .id = job->id,
                                .run = job->run,
                                .due = bridge->now + request->grace_ms };
    }
}

static bool may_act(const struct fake_bridge *bridge)
{
    return !bridge->contender.is_there || fake_contender_acts(&bridge->contender, bridge->now);
}

static void put_off(struct fake_bridge *bridge, uint64_t key)
{
    tell_failure(bridge, "unsure", key, 0, "another stintd may have the lease");
    slurm_keys_forget(&bridge->keys, key);
}

static void finish_stops(struct fake_bridge *bridge)
{
    for (uint32_t i = 0; i < bridge->stop_count && !bridge->is_lost;) {
        const struct fake_stop stop = bridge->stops[i];

        if (stop.due > bridge->now) {
            i++;
            continue;
        }
        bridge->stops[i] = bridge->stops[--bridge->stop_count];
        if (!may_act(bridge)) {
            put_off(bridge, stop.key);
            continue;
        }
        struct fake_job *job = fake_slurm_find(bridge->slurm, stop.id, FAKE_NO_TASK, false);

        if (job == NULL || job->phase != FAKE_RUNNING || job->run != stop.run) {
            answer(bridge, stop.key, CODE_NOT_PENDING, "Job is not running", NULL);
            continue;
        }
        fake_slurm_requeue(bridge->slurm, job, FAKE_CAUSE_US);
        answer(bridge, stop.key, 0, NULL, "running");
    }
}

/* Take back what has not begun. */
static void cancel(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct fake_job *job = find_job(bridge, request->job, true);
    const uint64_t key = request->key;

    if (job == NULL)
        answer(bridge, key, 2017, "Invalid job id specified", NULL);
    else if (is_other_run(job, request->run))
        answer(bridge, key, 0, why_of(job, "is in another run"), NULL);
    else if (job->phase == FAKE_RUNNING)
        answer(bridge, key, 0, why_runs(job, bridge->prefix), NULL);
    else if (job->phase == FAKE_ENDED)
        answer(bridge, key, 0, why_of(job, "has ended"), NULL);
    else {
        if (!fake_slurm_is_held(job))
            fake_slurm_gate(bridge->slurm, job);
        answer(bridge, key, 0, NULL, "waiting");
    }
}

static void comment(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct fake_job *job = find_job(bridge, request->job, true);

    if (job == NULL || job->phase == FAKE_ENDED) {
        answer(bridge, request->key, 2021, "Job/step already completing or completed", NULL);
        return;
    }
    job->comment++;
    job->note[0] = '\0';
    bridge->slurm->jobs_version++;
    answer(bridge, request->key, 0, NULL, NULL);
}

static void explain(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct fake_job *job = find_job(bridge, request->job, false);
    const char *text = request->text == NULL ? "" : request->text;

    if (job == NULL) {
        answer(bridge, request->key, 2017, "Invalid job id specified", NULL);
        return;
    }
    if (*text != '\0' && (job->phase != FAKE_WAITING || fake_slurm_is_held(job))) {
        answer(bridge, request->key, 0, why_of(job, "does not wait, or is held"), NULL);
        return;
    }
    assert(*text == '\0' || strncmp(text, SLURM_NOTE, sizeof(SLURM_NOTE) - 1) == 0);
    if (strcmp(job->note, text) != 0) {
        (void)snprintf(job->note, sizeof(job->note), "%s", text);
        bridge->slurm->jobs_version++;
    }
    answer(bridge, request->key, 0, NULL, NULL);
}

/* As may_delete() of stint-slurm: a job that is on the node or requires it keeps it. */
static const char *may_delete(struct fake_bridge *bridge, uint64_t instance)
{
    struct fake_slurm *slurm = bridge->slurm;
    const char *why = NULL;

    if (bridge->looks < bridge->look_wanted)
        return "not before the next look";
    for (uint32_t i = 0; i < slurm->job_count; i++) {
        struct fake_job *job = &slurm->jobs[i];
        bool keeps = false;

        for (uint32_t k = 0; k < job->nodes_count; k++)
            keeps = keeps || (job->nodes[k] == instance &&
                              (job->phase == FAKE_RUNNING || job->is_completing));
        for (uint32_t k = 0; k < job->required_count && job->phase != FAKE_ENDED; k++) {
            if (job->required[k] != instance)
                continue;
            keeps = true;
            if (job->phase == FAKE_WAITING && !job->is_completing &&
                (job->is_gated || job->hold != FAKE_FREE)) {
                job->required_count = 0;
                slurm->jobs_version++;
            }
        }
        if (keeps)
            why = why_of(job, "is not cleared off it yet, or requires it");
    }
    return why;
}

static void act_on_nodes(struct fake_bridge *bridge, const struct slurm_request *request)
{
    struct name_list names;
    const char *why = NULL;
    uint64_t code = 0;

    read_names(bridge, request->nodes, &names);
    if (request->verb == SLURM_DOWN)
        bridge->look_wanted = bridge->looks + 1;
    for (uint32_t i = 0; i < names.count && why == NULL; i++) {
        const uint64_t instance = names.instance[i];

        if (fake_slurm_node(bridge->slurm, instance) == NULL) {
            why = "Invalid node name specified";
            code = CODE_INVALID_NODE;
        } else if (request->verb == SLURM_DOWN) {
            why = fake_slurm_set_down(bridge->slurm, instance);
        } else if (request->verb == SLURM_DELETE) {
            why = may_delete(bridge, instance);
            if (why == NULL) {
                why = fake_slurm_delete(bridge->slurm, instance);
                code = why != NULL ? CODE_BUSY : 0;
            }
        } else {
            why = fake_slurm_drain(bridge->slurm, instance, request->verb == SLURM_DRAIN);
            fake_slurm_node(bridge->slurm, instance)->is_our_drain = true;
        }
    }
    answer(bridge, request->key, code, why, NULL);
}

static void send_list(struct fake_bridge *bridge, const struct slurm_request *request)
{
    uint32_t count;

    line_text_begin(&bridge->out, "list");
    line_text_number(&bridge->out, "key", request->key);
    line_text_string(&bridge->out, "what", request->what);
    line_text_number(&bridge->out, "silence_s", bridge->slurm->silence_s);
    line_text_end(&bridge->out);
    count = strcmp(request->what, "jobs") == 0 ? look_at_jobs(bridge, true)
                                               : look_at_nodes(bridge, true);
    line_text_begin(&bridge->out, "done");
    line_text_number(&bridge->out, "key", request->key);
    line_text_number(&bridge->out, "count", count);
    line_text_end(&bridge->out);
}

static void act(struct fake_bridge *bridge, const struct slurm_request *request)
{
    slurm_keys_open(&bridge->keys, request->key);
    switch (request->verb) {
    case SLURM_RELEASE:
    case SLURM_HOLD:
    case SLURM_UNHOLD:
        act_on_list(bridge, request);
        break;
    case SLURM_STOP:
        begin_stop(bridge, request);
        break;
    case SLURM_CANCEL:
        cancel(bridge, request);
        break;
    case SLURM_PLACE:
        place(bridge, request);
        break;
    case SLURM_COMMENT:
        comment(bridge, request);
        break;
    case SLURM_EXPLAIN:
        explain(bridge, request);
        break;
    case SLURM_GIVE_UP: /* nobody would ever release it here */
        answer(bridge, request->key, CODE_BUSY, "not held here", NULL);
        break;
    case SLURM_DOWN:
    case SLURM_DELETE:
    case SLURM_DRAIN:
    case SLURM_RESUME:
        act_on_nodes(bridge, request);
        break;
    case SLURM_HELLO:
    case SLURM_LIST:
        break;
    }
}

/* slurmctld does what it is asked for, and its answer does not come. As stint-slurm has it then, nothing is known of the
 * request any more: repeated, it is done once more. */
static void act_and_forget(struct fake_bridge *bridge, const struct slurm_request *request)
{
    const uint32_t begin = bridge->out.size;

    act(bridge, request);
    if (bridge->out.size == begin || rng_below(&bridge->rng, 1000000) >= bridge->unsure_ppm)
        return;
    bridge->out.size = begin;
    bridge->unsure++;
    tell_failure(bridge, "unsure", request->key, 1800, "Socket timed out on send/recv operation");
    slurm_keys_forget(&bridge->keys, request->key);
    set_lost(bridge, true);
}

static void obey(struct fake_bridge *bridge, const struct slurm_request *request)
{
    const char *known = NULL;

    if (request->verb == SLURM_HELLO) {
        if (request->lease != NULL)
            fake_contender_start(&bridge->contender, "ours", request->lease, bridge->begin,
                                 bridge->now);
        bridge->is_greeted = true;
        bridge->look_at = bridge->now;
        return;
    }
    if (!bridge->is_greeted)
        return;
    if (bridge->slurm->is_away) { /* it went away meanwhile */
        tell_failure(bridge, "unsure", request->key, 1800, "Unable to contact slurm controller");
        set_lost(bridge, true);
        return;
    }
    if (request->verb == SLURM_LIST) {
        send_list(bridge, request);
        return;
    }
    switch (slurm_keys_find(&bridge->keys, request->key, &known)) {
    case SLURM_KEY_NEW:
        if (!may_act(bridge)) {
            put_off(bridge, request->key);
            break;
        }
        if (bridge->on_act != NULL)
            bridge->on_act(bridge->context);
        if (bridge->unsure_ppm > 0)
            act_and_forget(bridge, request);
        else
            act(bridge, request);
        break;
    case SLURM_KEY_OPEN:
        break;
    case SLURM_KEY_ANSWERED:
        line_text_append(&bridge->out, known, (uint32_t)strlen(known));
        break;
    }
}

static void read_request(struct fake_bridge *bridge, char *text)
{
    struct line line;
    struct slurm_request request;
    struct error error = { "" };
    uint64_t key = 0;

    if (line_parse(text, strlen(text), &line, &error) < 0)
        return;
    if (slurm_request_read(&line, &request, &error) == 0) {
        obey(bridge, &request);
        return;
    }
    if (line_get(&line, "key") != NULL)
        (void)line_number(line_get(&line, "key"), UINT64_MAX, &key);
    tell_failure(bridge, "refused", key, 0, error.text);
}

/* ---- time ---- */

void fake_bridge_hear(struct fake_bridge *bridge, const char *text, size_t length, msec_t now)
{
    char *own = mem_alloc(length + 2, 1);

    memcpy(own, text, length);
    MEM_ROOM(bridge->requests, bridge->requests_room, bridge->request_count + 1);
    bridge->requests[bridge->request_count++] = (struct fake_request){ .text = own, .at = now };
}

msec_t fake_bridge_next_wake(const struct fake_bridge *bridge)
{
    msec_t wake = bridge->is_greeted ? bridge->look_at : MSEC_NEVER;

    if (bridge->request_count > 0 && !bridge->is_lost)
        wake = bridge->requests[0].at < wake ? bridge->requests[0].at : wake;
    for (uint32_t i = 0; i < bridge->stop_count && !bridge->is_lost; i++) {
        if (bridge->stops[i].due < wake)
            wake = bridge->stops[i].due;
    }
    wake = wake > bridge->busy_until ? wake : bridge->busy_until;

    const msec_t step = fake_contender_next_wake(&bridge->contender); /* on a thread of its own */

    return step < wake ? step : wake;
}

/* Of one request in fifty slurmctld's answer may be long in coming. */
static msec_t duration(struct fake_bridge *bridge)
{
    const bool is_slow = bridge->slow_ms > 0 && rng_below(&bridge->rng, 50) == 0;

    return 1 +
           (msec_t)rng_below(&bridge->rng, (uint64_t)(is_slow ? bridge->slow_ms : bridge->act_ms));
}

/* One thing at a time; each takes its time. */
void fake_bridge_tick(struct fake_bridge *bridge, msec_t now)
{
    bridge->now = now;
    fake_contender_tick(&bridge->contender, bridge->slurm, now);
    fake_contender_tell(&bridge->contender, &bridge->out);
    if (bridge->busy_until > now) {
        flush(bridge);
        return;
    }
    if (bridge->is_greeted && bridge->look_at <= now) {
        look_around(bridge);
        bridge->busy_until = now + duration(bridge);
    } else if (bridge->request_count > 0 && !bridge->is_lost) {
        char *text = bridge->requests[0].text;

        bridge->request_count--;
        memmove(bridge->requests, bridge->requests + 1,
                bridge->request_count * sizeof(*bridge->requests));
        read_request(bridge, text);
        mem_free(text);
        bridge->busy_until = now + duration(bridge);
    }
    finish_stops(bridge);
    flush(bridge);
}
