/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of the simulated daemon: whatever is due next happens, what was said arrives, and then the
 * daemon has its turn. A kill falls between two steps of a turn.
 */
#include "daemon_world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/log.h"
#include "daemon_world_private.h"
#include "fault_vfs.h"

enum { SPINS_MAX = 2000, LINE_ROOM = 1 << 16 };

static const msec_t epoch_ms = 1794700000000;

static struct sim *logging; /* whose daemon it is that logs */

const char *daemon_fault_name(enum daemon_fault fault)
{
    static const char *const names[] = {
        [FAULT_KILL] = "kill",
        [FAULT_TORN] = "torn",
        [FAULT_CUT] = "cut",
        [FAULT_BRIDGE] = "bridge",
        [FAULT_SLURMCTLD] = "slurmctld",
        [FAULT_LIST_EMPTY] = "list-empty",
        [FAULT_LIST_PART] = "list-part",
        [FAULT_LIST_STALE] = "list-stale",
        [FAULT_LIST_LATE] = "list-late",
        [FAULT_REFUSE] = "refuse",
        [FAULT_BOOT] = "boot",
        [FAULT_DEATH] = "death",
        [FAULT_NOTICE] = "notice",
        [FAULT_MUTE] = "mute",
        [FAULT_DISK] = "disk",
        [FAULT_CLOCK] = "clock",
        [FAULT_REQUEUE] = "requeue",
        [FAULT_HOLD] = "hold",
        [FAULT_CANCEL] = "cancel",
        [FAULT_NODE_DRAIN] = "node-drain",
        [FAULT_DRAIN] = "drain",
        [FAULT_LIMITS] = "limits",
        [FAULT_RIVAL] = "rival",
    };

    return names[fault];
}

const char *daemon_judge_name(enum daemon_judge judge)
{
    static const char *const names[] = {
        [JUDGE_LIMIT] = "limit",       [JUDGE_KEY] = "key",
        [JUDGE_RESTART] = "restart",   [JUDGE_UNDER_JOB] = "under-job",
        [JUDGE_LOST_JOB] = "lost-job", [JUDGE_LEFT_OVER] = "left-over",
        [JUDGE_BOOKS] = "books",       [JUDGE_IDLE] = "idle",
        [JUDGE_STUCK] = "stuck",       [JUDGE_BOUND] = "bound",
        [JUDGE_MARKET] = "market",     [JUDGE_ORDERS] = "orders",
        [JUDGE_NODES] = "nodes",       [JUDGE_START] = "start",
        [JUDGE_WRITERS] = "writers",   [JUDGE_CHARGES] = "charges",
    };

    return names[judge];
}

uint64_t sim_below(struct sim *sim, uint64_t bound)
{
    return rng_below(&sim->rng, bound);
}

msec_t sim_between(struct sim *sim, msec_t low, msec_t high)
{
    return low + (msec_t)sim_below(sim, (uint64_t)(high - low) + 1);
}

/* ---- trace ---- */

static void print_trace(const struct sim *sim)
{
    const uint64_t first = sim->trace_next > TRACE_LINES ? sim->trace_next - TRACE_LINES : 0;

    for (uint64_t i = first; i < sim->trace_next; i++)
        (void)fprintf(stderr, "%s\n", sim->trace[i % TRACE_LINES]);
}

void sim_trace(struct sim *sim, const char *format, ...)
{
    char *line = sim->trace[sim->trace_next++ % TRACE_LINES];
    const msec_t at = sim->now - sim->begin;
    va_list arguments;
    int used;

    used = snprintf(line, TRACE_SIZE, "%7" PRId64 ".%03" PRId64 " ", at / 1000, at % 1000);
    va_start(arguments, format);
    (void)vsnprintf(line + used, TRACE_SIZE - (size_t)used, format, arguments);
    va_end(arguments);
    for (const char *c = line; *c != '\0'; c++)
        sim->out->digest = (sim->out->digest ^ (unsigned char)*c) * 1099511628211U;
    if (sim->traces)
        (void)printf("%s\n", line);
}

void sim_fail(struct sim *sim, enum daemon_judge judge, const char *format, ...)
{
    va_list arguments;

    if (sim->out->failed[judge])
        return;
    sim->out->failed[judge] = true;
    va_start(arguments, format);
    (void)vsnprintf(sim->out->text[judge], sizeof(sim->out->text[judge]), format, arguments);
    va_end(arguments);
    sim_trace(sim, "!! %s: %s", daemon_judge_name(judge), sim->out->text[judge]);
    if (!sim->traces && !sim->is_told && (sim->telling >> judge & 1) != 0) {
        sim->is_told = true;
        print_trace(sim);
    }
}

/* In the place of log.c: what the daemon logs goes into the trace. */
void log_set_level(enum conf_log_level level)
{
    (void)level;
}

void log_say(enum conf_log_level level, const char *format, ...)
{
    char text[TRACE_SIZE];
    va_list arguments;

    if (logging == NULL || level > CONF_LOG_INFO)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    sim_trace(logging, "   stintd: %s", text);
}

/* ---- pipes ---- */

static const char *const arrows[PIPES] = { "->slurm ", "->cloud ", "<-slurm ", "<-cloud " };

/* What is late lets others pass. */
static void push(struct sim *sim, enum pipe_kind kind, const char *text, size_t length, msec_t due)
{
    struct pipe *pipe = &sim->pipes[kind];
    uint32_t at;

    if (pipe->first > 0 && pipe->first + pipe->count == pipe->room) {
        memmove(pipe->lines, pipe->lines + pipe->first, pipe->count * sizeof(*pipe->lines));
        pipe->first = 0;
    }
    MEM_ROOM(pipe->lines, pipe->room, pipe->first + pipe->count + 1);
    at = pipe->first + pipe->count++;
    while (at > pipe->first && pipe->lines[at - 1].due > due) {
        pipe->lines[at] = pipe->lines[at - 1];
        at--;
    }

    char *own = mem_alloc(length + 2, 1);

    memcpy(own, text, length);
    pipe->lines[at] = (struct pipe_line){ .due = due, .text = own, .length = length };
}

void sim_send(struct sim *sim, enum pipe_kind kind, const char *lines, size_t size, msec_t more)
{
    struct pipe *pipe = &sim->pipes[kind];
    msec_t due = sim->now + (msec_t)sim_below(sim, (uint64_t)sim->lag_ms + 1) + more;

    if (due < pipe->last_due)
        due = pipe->last_due;
    if (more == 0)
        pipe->last_due = due;
    while (size > 0) {
        const char *end = memchr(lines, '\n', size);
        const size_t length = end == NULL ? size : (size_t)(end - lines);

        push(sim, kind, lines, length, due);
        size -= length + (end != NULL);
        lines += length + (end != NULL);
    }
}

void sim_pipe_clear(struct sim *sim, enum pipe_kind kind)
{
    struct pipe *pipe = &sim->pipes[kind];

    for (uint32_t i = 0; i < pipe->count; i++)
        mem_free(pipe->lines[pipe->first + i].text);
    pipe->first = 0;
    pipe->count = 0;
    pipe->last_due = 0;
}

static msec_t pipe_due(const struct pipe *pipe)
{
    return pipe->count > 0 ? pipe->lines[pipe->first].due : MSEC_NEVER;
}

/* By the clock of its host, which may be set wrong. */
static void tell_time(struct sim *sim)
{
    core_tell_time(sim->daemon, sim->now + sim->clock_offset, sim->now - sim->begin);
}

/* From when on it may act again: after it was killed, or had lost the lease. */
static void hear_lease(struct sim *sim, const char *line)
{
    static const char lease[] = "lease state=";
    static const char held[] = "held";
    const bool was_held = sim->holds_lease;

    if (strncmp(line, lease, sizeof(lease) - 1) != 0)
        return;
    sim->holds_lease = strncmp(line + sizeof(lease) - 1, held, sizeof(held) - 1) == 0;
    if (was_held || !sim->holds_lease)
        return;
    if (sim->has_acted && sim->start_count < STARTS_MAX)
        sim->starts[sim->start_count++] = sim->now;
    sim->has_acted = true;
}

static void arrive(struct sim *sim, enum pipe_kind kind, struct pipe_line *line)
{
    sim->out->lines++;
    sim_trace(sim, "%s%.*s", arrows[kind], (int)line->length, line->text);
    switch (kind) {
    case TO_ENGINE:
        if (sim->has_bridge)
            fake_bridge_hear(&sim->bridge, line->text, line->length, sim->now);
        break;
    case TO_CLOUD:
        sim_cloud_hear(sim, line->text, line->length);
        break;
    case FROM_ENGINE:
        hear_lease(sim, line->text);
        __attribute__((fallthrough));
    case FROM_CLOUD:
        tell_time(sim);
        core_line(sim->daemon, kind == FROM_ENGINE ? CORE_ENGINE : CORE_CLOUD, line->text,
                  line->length);
        sim->was_heard = true;
        break;
    case PIPES:
        break;
    }
    mem_free(line->text);
}

static void deliver(struct sim *sim)
{
    for (int kind = 0; kind < PIPES; kind++) {
        while (pipe_due(&sim->pipes[kind]) <= sim->now) {
            struct pipe *pipe = &sim->pipes[kind];
            struct pipe_line line = pipe->lines[pipe->first];

            pipe->first++;
            pipe->count--;
            arrive(sim, (enum pipe_kind)kind, &line);
        }
    }
}

/* ---- the other sides ---- */

static bool rival_acts(const struct sim *sim)
{
    return fake_contender_acts(&sim->rival, sim->now);
}

static void on_act(void *context)
{
    struct sim *sim = context;

    if (rival_acts(sim))
        sim_fail(sim, JUDGE_WRITERS, "Slurm is changed while another stintd may act");
}

static void bridge_says(void *context, const char *lines, size_t size)
{
    struct sim *sim = context;

    if (sim->daemon != NULL && sim->is_engine_up)
        sim_send(sim, FROM_ENGINE, lines, size, 0);
}

void sim_cut_bridge(struct sim *sim, msec_t until)
{
    sim_pipe_clear(sim, FROM_ENGINE);
    sim_pipe_clear(sim, TO_ENGINE);
    if (sim->has_bridge)
        fake_bridge_done(&sim->bridge);
    sim->has_bridge = false;
    if (sim->is_engine_up && sim->daemon != NULL) {
        sim->is_engine_up = false;
        tell_time(sim);
        core_disconnected(sim->daemon, CORE_ENGINE);
        sim->was_heard = true;
    }
    sim->is_engine_up = false;
    sim->bridge_at = until;
}

void sim_cut_cloud(struct sim *sim, msec_t until)
{
    sim_pipe_clear(sim, FROM_CLOUD);
    sim_pipe_clear(sim, TO_CLOUD);
    sim->is_cloud_greeted = false;
    if (sim->is_cloud_up && sim->daemon != NULL) {
        sim->is_cloud_up = false;
        tell_time(sim);
        core_disconnected(sim->daemon, CORE_CLOUD);
        sim->was_heard = true;
    }
    sim->is_cloud_up = false;
    sim->cloud_connect_at = until;
}

static void connect_sides(struct sim *sim)
{
    if (sim->daemon == NULL)
        return;
    if (sim->bridge_at <= sim->now) {
        sim->bridge_at = MSEC_NEVER;
        sim->is_engine_up = true;
        tell_time(sim);
        core_connected(sim->daemon, CORE_ENGINE);
        sim->has_bridge = true;
        fake_bridge_init(&sim->bridge, &sim->slurm, "st-", sim->poll_ms,
                         sim->seed + (uint64_t)sim->now);
        sim->bridge.begin = sim->begin;
        sim->bridge.on_act = on_act;
        sim->bridge.unsure_ppm = sim->unsure_ppm;
        sim->bridge.slow_ms = sim->slow_ms;
        fake_bridge_greet(&sim->bridge, bridge_says, sim);
        sim->was_heard = true;
    }
    if (sim->cloud_connect_at <= sim->now) {
        sim->cloud_connect_at = MSEC_NEVER;
        sim->is_cloud_up = true;
        tell_time(sim);
        core_connected(sim->daemon, CORE_CLOUD);
        sim->was_heard = true;
    }
}

/* ---- the daemon's process ---- */

/* Of a process that is killed in the middle of this only the first lines leave. */
static void on_send(void *context, enum core_side side, const char *lines, size_t size)
{
    struct sim *sim = context;
    const bool is_up = side == CORE_ENGINE ? sim->is_engine_up : sim->is_cloud_up;
    size_t used = 0;

    if (!is_up)
        return;
    while (used < size && sim->pass_lines > 0) {
        const char *end = memchr(lines + used, '\n', size - used);

        used = end == NULL ? size : (size_t)(end - lines) + 1;
        sim->pass_lines -= sim->pass_lines != UINT32_MAX;
    }
    if (side == CORE_CLOUD && rival_acts(sim) && strncmp(lines, "hello", 5) != 0 &&
        strncmp(lines, "list", 4) != 0)
        sim_fail(sim, JUDGE_WRITERS,
                 "the cloud is asked for something while another stintd may act");
    sim_send(sim, side == CORE_ENGINE ? TO_ENGINE : TO_CLOUD, lines, used, 0);
}

static bool on_is_up(void *context, enum core_side side)
{
    const struct sim *sim = context;

    return side == CORE_ENGINE ? sim->is_engine_up : sim->is_cloud_up;
}

static const char *on_fault(void *context, enum core_side side)
{
    (void)context;
    (void)side;
    return "cut";
}

static uint64_t on_monotonic(void *context)
{
    const struct sim *sim = context;

    return (uint64_t)(sim->now - sim->begin) * 1000;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

void sim_write_conf(struct sim *sim)
{
    (void)snprintf(sim->text, sizeof(sim->text),
                   "cluster: swarm\nmode: act\nnode_prefix: st-\nstate: %s\ncatalogue: %s\n"
                   "policy: %s\nestimates: { default: 10m, learn: true }\n"
                   "limits: { instances: %u, dollars_per_hour: %" PRId64 ".%06" PRId64 " }\n"
                   "timing: { decide_delay: 100ms, audit: %" PRId64 "ms, boot_timeout: %" PRId64
                   "ms, refused: 30s, place_retry: 5s }\n"
                   "engine: { kind: slurm, program: stint-slurm, poll: %" PRId64
                   "ms, stop: { signal: USR1, grace: 1s } }\n"
                   "cloud: { kind: local, socket: /nowhere/cloud.sock }\n"
                   "http: { socket: /nowhere/stintd.sock }\nlog: { level: info }\n",
                   sim->state_path, sim->catalogue_path, sim->policy, sim->limit,
                   sim->price_limit / MONEY_PER_USD, sim->price_limit % MONEY_PER_USD,
                   sim->audit_ms, sim->boot_timeout_ms, sim->poll_ms);
    write_file(sim->conf_path, sim->text);
}

static void start_daemon(struct sim *sim)
{
    struct conf conf = { 0 };
    struct error error = { "" };
    const struct core_host host = {
        .send = on_send,
        .is_up = on_is_up,
        .fault = on_fault,
        .monotonic_us = on_monotonic,
        .context = sim,
    };

    if (conf_load(sim->conf_path, &conf, &error) < 0) {
        (void)fprintf(stderr, "%s\n", error.text);
        abort();
    }
    sim->daemon = core_create(sim->conf_path, &conf, &host);
    tell_time(sim);
    sim->start_at = MSEC_NEVER;
    sim->pass_lines = UINT32_MAX;
    if (core_start(sim->daemon, &error) < 0) {
        sim_trace(sim, "== stintd does not start: %s", error.text);
        core_destroy(sim->daemon);
        sim->daemon = NULL;
        sim->start_at = sim->now + 5000; /* systemd tries again */
        if (sim->active[FAULT_DISK] == 0)
            sim_fail(sim, JUDGE_START, "stintd does not start: %s", error.text);
        return;
    }
    sim_trace(sim, "== stintd starts");
    sim->is_engine_up = false;
    sim->is_cloud_up = false;
    sim->bridge_at = sim->now + sim_between(sim, 5, 100);
    sim->cloud_connect_at = sim->now + sim_between(sim, 5, 100);
    sim->was_heard = true;
}

/* What it had sent is read by the others, or is not. */
static void flush_or_lose(struct sim *sim)
{
    const bool arrives = sim_below(sim, 2) == 0;

    for (int kind = TO_ENGINE; kind <= TO_CLOUD; kind++) {
        struct pipe *pipe = &sim->pipes[kind];

        while (arrives && pipe->count > 0) {
            struct pipe_line line = pipe->lines[pipe->first];

            pipe->first++;
            pipe->count--;
            arrive(sim, (enum pipe_kind)kind, &line);
        }
    }
    while (arrives && sim->has_bridge && sim->bridge.request_count > 0 && !sim->bridge.is_lost) {
        sim->bridge.busy_until = sim->now;
        fake_bridge_tick(&sim->bridge, sim->now);
    }
}

/* A commit that is under way ends, and nobody looks at its end. */
static void settle_write(struct sim *sim)
{
    if (sim->daemon == NULL || sim->write_due == MSEC_NEVER)
        return;
    sim->write_due = MSEC_NEVER;
    core_write_run(sim->daemon);
    (void)core_write_end(sim->daemon);
}

void sim_kill(struct sim *sim)
{
    struct daemon *daemon = sim->daemon;

    if (daemon == NULL)
        return;
    sim_trace(sim, "== stintd is killed%s", sim->is_host_killed ? ", and its host" : "");
    sim->holds_lease = false;
    sim->out->kills++;
    settle_write(sim);
    sim->daemon = NULL;
    if (sim->is_host_killed)
        fault_vfs_cut((uint32_t)rng_below(&sim->disk, 101));
    core_destroy(daemon);
    fault_vfs_restore();
    flush_or_lose(sim);
    sim_cut_bridge(sim, MSEC_NEVER);
    sim_cut_cloud(sim, MSEC_NEVER);
    sim->kill_point = KILL_NONE;
    sim->pass_lines = UINT32_MAX;
    sim->start_at = sim->now + (sim_below(sim, 3) == 0 ? sim_between(sim, 5000, 90000)
                                                       : sim_between(sim, 100, 5000));
}

/* Whether the moment of the kill that was drawn is now. */
static bool dies(struct sim *sim, enum kill_point point)
{
    if (sim->kill_point != point)
        return false;
    if (sim->kill_turns > 0) {
        sim->kill_turns--;
        return false;
    }
    sim_kill(sim);
    return true;
}

static bool tears(const struct sim *sim)
{
    return sim->dies_torn && sim->daemon->journal.count > 0 && gate_has_acts(sim->daemon->gate);
}

/* In the middle of a transaction: the disk takes some writes and then no more. False: it died. */
static bool write_down(struct sim *sim, bool *ret_passes)
{
    struct daemon *daemon = sim->daemon;
    const bool is_torn = tears(sim);

    if (is_torn)
        fault_vfs_fill(sim_below(sim, 12));
    *ret_passes = core_write(daemon);
    if (is_torn && daemon->store_failed) {
        sim->dies_torn = false;
        sim_kill(sim);
    }
    if (is_torn)
        fault_vfs_fill(sim->active[FAULT_DISK] > 0 ? 0 : UINT64_MAX);
    return sim->daemon != NULL;
}

/* False: it died meanwhile. */
static bool pass(struct sim *sim)
{
    const bool has_acts = gate_has_acts(sim->daemon->gate);

    if (has_acts && dies(sim, KILL_AFTER_WRITE))
        return false;
    if (has_acts && sim->kill_point == KILL_IN_PASS && sim->kill_turns-- == 0)
        sim->pass_lines = (uint32_t)sim_below(sim, 4);
    core_pass(sim->daemon);
    if (sim->pass_lines != UINT32_MAX)
        sim_kill(sim);
    return sim->daemon != NULL;
}

/* As stintd does with a thread: it hears meanwhile, and has no turn. */
static void begin_write(struct sim *sim, enum core_write *ret)
{
    *ret = core_write_begin(sim->daemon);
    if (*ret != CORE_WRITING)
        return;
    sim->write_due = sim->now + (msec_t)rng_below(&sim->disk, (uint64_t)sim->commit_ms + 1);
    sim_trace(sim, "   stintd: commits until %" PRId64, sim->write_due - sim->begin);
}

static void rest(struct sim *sim, bool passes)
{
    if (passes && !pass(sim))
        return;
    core_rest(sim->daemon);
    if (dies(sim, KILL_AFTER) || !core_is_outdated(sim->daemon))
        return;
    core_stop(sim->daemon);
    sim_kill(sim); /* it ends, and systemd starts it again */
}

static void end_write(struct sim *sim)
{
    sim->write_due = MSEC_NEVER;
    tell_time(sim);
    core_write_run(sim->daemon);
    rest(sim, core_write_end(sim->daemon));
}

static void turn(struct sim *sim)
{
    struct daemon *daemon = sim->daemon;
    enum core_write how;
    bool passes = false;

    if (sim->write_due != MSEC_NEVER) {
        end_write(sim);
        return;
    }
    sim->was_heard = false;
    sim->out->turns++;
    tell_time(sim);
    core_think(daemon);
    if ((gate_has_acts(daemon->gate) || daemon->journal.count > 0) && dies(sim, KILL_BEFORE_WRITE))
        return;
    if (sim->commit_ms > 0 && !tears(sim)) {
        begin_write(sim, &how);
        if (how != CORE_WRITING)
            rest(sim, how == CORE_WRITTEN);
        return;
    }
    if (write_down(sim, &passes))
        rest(sim, passes);
}

static msec_t sooner(msec_t a, msec_t b)
{
    return a < b ? a : b;
}

/* By the world's clock. */
static msec_t daemon_wake(struct sim *sim)
{
    if (sim->daemon == NULL)
        return sim->start_at;
    if (sim->write_due != MSEC_NEVER)
        return sim->write_due > sim->now ? sim->write_due : sim->now;
    if (sim->was_heard)
        return sim->now;
    tell_time(sim);

    const msec_t wake = core_next_wake(sim->daemon);

    return wake == MSEC_NEVER ? MSEC_NEVER : sim->now + (wake - sim->daemon->now);
}

static msec_t next_wake(struct sim *sim)
{
    msec_t wake = sooner(daemon_wake(sim), fake_slurm_next_wake(&sim->slurm));

    wake = sooner(wake, sim_cloud_next_wake(sim));
    wake = sooner(wake, sim_script_next(sim));
    wake = sooner(wake, fake_contender_next_wake(&sim->rival));
    if (sim->has_bridge)
        wake = sooner(wake, fake_bridge_next_wake(&sim->bridge));
    if (sim->daemon != NULL)
        wake = sooner(wake, sooner(sim->bridge_at, sim->cloud_connect_at));
    for (int kind = 0; kind < PIPES; kind++)
        wake = sooner(wake, pipe_due(&sim->pipes[kind]));
    return wake > sim->now ? wake : sim->now;
}

static void step(struct sim *sim)
{
    const msec_t next = next_wake(sim);

    if (next > sim->now) {
        sim->same_time_turns = 0;
    } else if (++sim->same_time_turns > SPINS_MAX) {
        sim_fail(sim, JUDGE_STUCK, "turn follows turn without end");
        sim->now++;
    }
    sim->now = next > sim->now ? next : sim->now;
    sim_script_tick(sim);
    sim_cloud_tick(sim);
    fake_contender_tick(&sim->rival, &sim->slurm, sim->now);
    fake_slurm_tick(&sim->slurm, sim->now);
    if (sim->has_bridge) {
        sim->bridge.clock_offset = sim->is_one_host ? sim->clock_offset : 0;
        fake_bridge_tick(&sim->bridge, sim->now);
    }
    if (sim->daemon == NULL && sim->start_at <= sim->now)
        start_daemon(sim);
    connect_sides(sim);
    deliver(sim);
    if (sim->daemon != NULL && daemon_wake(sim) <= sim->now)
        turn(sim);
    sim_judge_instant(sim);
}

/* ---- the world ---- */

static void on_place(void *context, const struct fake_job *job)
{
    sim_judge_nodes(context, job, job->required, job->required_count);
}

static void on_start(void *context, const struct fake_job *job)
{
    struct sim *sim = context;

    sim->out->starts++;
    sim_trace(sim, "   slurm: job %u starts on st-%" PRIu64 ", run %u, start %u", job->id,
              job->nodes[0], job->run, job->starts);
    sim_judge_nodes(sim, job, job->nodes, job->nodes_count);
    sim_judge_market(sim, job);
}

static void on_end(void *context, const struct fake_job *job, const char *how)
{
    sim_trace(context, "   slurm: job %u %s", job->id, how);
}

/* How long a commit takes at the most: nothing, what a disk takes, or what a bad one does. */
static msec_t draw_commit(struct rng *rng)
{
    static const msec_t most[] = { 0, 50, 2000, 8000 };

    return most[rng_below(rng, 4)];
}

static void create(struct sim *sim, uint64_t seed, const char *folder)
{
    sim->seed = seed;
    sim->is_one_host = seed / 277 % 2 == 0;
    rng_init(&sim->rng, seed, 70);
    sim->begin = epoch_ms + (msec_t)sim_below(sim, 1000000);
    sim->now = sim->begin;
    sim->judged_at = sim->now;
    sim->healthy_since = sim->now;
    sim->empty_since = MSEC_NEVER;
    sim->clean_since = MSEC_NEVER;
    sim->bridge_at = MSEC_NEVER;
    sim->cloud_connect_at = MSEC_NEVER;
    sim->start_at = sim->now;
    sim->write_due = MSEC_NEVER;
    rng_init(&sim->disk, seed, 71);
    sim->commit_ms = draw_commit(&sim->disk);
    sim->is_host_killed = rng_below(&sim->disk, 2) == 0;
    sim->has_steps = rng_below(&sim->disk, 2) == 0;
    sim->unsure_ppm = rng_below(&sim->disk, 3) == 0 ? 50000 : 0;
    sim->slow_ms = rng_below(&sim->disk, 4) == 0 ? (msec_t)rng_below(&sim->disk, 30001) : 0;
    sim->pass_lines = UINT32_MAX;
    sim->trace = mem_alloc(TRACE_LINES, sizeof(*sim->trace));
    map_init(&sim->offer_of);
    map_init(&sim->noticed);
    map_init(&sim->idle_ms);
    (void)snprintf(sim->conf_path, sizeof(sim->conf_path), "%s/stint.conf", folder);
    (void)snprintf(sim->state_path, sizeof(sim->state_path), "%s/stint.db", folder);
    (void)snprintf(sim->catalogue_path, sizeof(sim->catalogue_path), "%s/machines.yaml", folder);
    fake_slurm_init(&sim->slurm, seed, sim->now);
    sim->slurm.on_place = on_place;
    sim->slurm.on_start = on_start;
    sim->slurm.on_end = on_end;
    sim->slurm.context = sim;
    sim_draw(sim);
    sim_write_conf(sim);
    sim_cloud_create(sim);
}

static void remove_state(const struct sim *sim)
{
    static const char *const tails[] = { "", "-wal", "-shm", ".lock", "-journal" };
    char path[PATH_SIZE + 16];

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", sim->state_path, tails[i]);
        (void)unlink(path);
    }
}

static void destroy(struct sim *sim)
{
    if (sim->daemon != NULL)
        core_destroy(sim->daemon);
    sim->daemon = NULL;
    if (sim->has_bridge)
        fake_bridge_done(&sim->bridge);
    sim->has_bridge = false;
    for (int kind = 0; kind < PIPES; kind++) {
        sim_pipe_clear(sim, (enum pipe_kind)kind);
        mem_free(sim->pipes[kind].lines);
    }
    sim_cloud_destroy(sim);
    fake_slurm_done(&sim->slurm);
    catalogue_done(&sim->catalogue);
    map_done(&sim->offer_of);
    map_done(&sim->noticed);
    map_done(&sim->idle_ms);
    mem_free(sim->boots);
    mem_free(sim->trace);
    line_text_done(&sim->stale);
}

void daemon_world_run(uint64_t seed, const char *folder, bool traces, uint32_t telling,
                      struct daemon_outcome *ret)
{
    struct sim *sim = mem_alloc(1, sizeof(*sim));

    *ret = (struct daemon_outcome){ .digest = 14695981039346656037U };
    sim->out = ret;
    sim->traces = traces;
    sim->telling = telling;
    fault_vfs_install();
    fault_vfs_fill(UINT64_MAX);
    logging = sim;
    create(sim, seed, folder);
    remove_state(sim);
    while (!sim_is_over(sim))
        step(sim);
    fault_vfs_fill(UINT64_MAX);
    settle_write(sim);
    sim_judge_end(sim);
    ret->virtual_ms = sim->now - sim->begin;
    destroy(sim);
    remove_state(sim);
    (void)unlink(sim->conf_path);
    (void)unlink(sim->catalogue_path);
    logging = NULL;
    mem_free(sim);
}
