/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_record.h"

#include <stddef.h>
#include <sys/wait.h>

#include "engine/slurm/slurm_fields.h"
#include "engine/slurm/slurm_protocol.h"
#include "engine/slurm/slurm_rules.h"

/* In libslurm since long before 22.05, but in no header. */
extern void slurm_xfree(void **item);

static const char *const states[] = {
    [JOB_PENDING] = "pending",     [JOB_RUNNING] = "running",     [JOB_SUSPENDED] = "suspended",
    [JOB_COMPLETE] = "completed",  [JOB_CANCELLED] = "cancelled", [JOB_FAILED] = "failed",
    [JOB_TIMEOUT] = "timeout",     [JOB_NODE_FAIL] = "node_fail", [JOB_PREEMPTED] = "preempted",
    [JOB_BOOT_FAIL] = "boot_fail", [JOB_DEADLINE] = "deadline",   [JOB_OOM] = "out_of_memory",
};

static const char *state_name(const slurm_job_info_t *job)
{
    const uint32_t base = job->job_state & JOB_STATE_BASE;

    return base < JOB_END ? states[base] : "unknown";
}

enum slurm_phase slurm_record_phase(const slurm_job_info_t *job)
{
    switch (job->job_state & JOB_STATE_BASE) {
    case JOB_PENDING:
        return SLURM_WAITING;
    case JOB_RUNNING:
    case JOB_SUSPENDED:
        return SLURM_RUNNING;
    default:
        return SLURM_ENDED;
    }
}

bool slurm_record_is_gated(const slurm_job_info_t *job)
{
    return slurm_record_phase(job) == SLURM_WAITING && job->eligible_time > SLURM_GATED_FROM;
}

/* Its user held it behind the gate, and may have released it since. */
static bool is_held_behind_gate(const slurm_job_info_t *job)
{
    return slurm_record_is_gated(job) && job->eligible_time > SLURM_GATED_FROM + SLURM_GATE_S;
}

time_t slurm_record_begin(const slurm_job_info_t *job)
{
    if (is_held_behind_gate(job))
        return job->eligible_time - 2 * SLURM_GATE_S;
    return slurm_record_is_gated(job) ? job->eligible_time - SLURM_GATE_S : job->eligible_time;
}

/* Slurm holds by itself what the required nodes cannot run, and what could not be launched because
 * its node died or its prolog failed. Another placement heals both. What was put back and held by a
 * person (scontrol requeuehold), by its exit code (RequeueExitHold) or because Slurm gave it up
 * (MaxBatchRequeue) looks much the same, and stays held. */
static bool is_launch_failure(const slurm_job_info_t *job)
{
    static const char launch_failed[] = "launch failed requeued held"; /* all that Slurm tells */

    return job->priority == 0 &&
           (job->state_reason == FAIL_LAUNCH ||
            (job->state_reason != WAIT_MAX_REQUEUE && job->state_desc != NULL &&
             strcmp(job->state_desc, launch_failed) == 0));
}

static bool is_held_by_slurm(const slurm_job_info_t *job)
{
    return is_launch_failure(job) ||
           (job->priority == 0 && job->state_reason == FAIL_BAD_CONSTRAINTS);
}

/* Who keeps it from running. */
static const char *hold_name(const slurm_job_info_t *job)
{
    if (is_held_by_slurm(job))
        return slurm_record_is_gated(job) ? "gate" : "none";
    if (job->priority == 0 && job->state_reason == WAIT_HELD)
        return "admin";
    if (job->priority == 0 && is_held_behind_gate(job))
        return "user";
    if (slurm_record_is_gated(job)) /* the gate holds new jobs as well, see there */
        return job->priority == 0 ? "held-gate" : "gate";
    return job->priority == 0 ? "user" : "none";
}

bool slurm_record_is_held(const slurm_job_info_t *job)
{
    const char *who = hold_name(job);

    return strcmp(who, "user") == 0 || strcmp(who, "admin") == 0;
}

bool slurm_record_only_requires(const slurm_job_info_t *job)
{
    const bool is_on_nodes = job->nodes != NULL && *job->nodes != '\0';

    return slurm_record_phase(job) == SLURM_WAITING && (job->job_state & JOB_COMPLETING) == 0 &&
           !is_on_nodes && job->req_nodes != NULL && *job->req_nodes != '\0' &&
           (slurm_record_is_gated(job) || slurm_record_is_held(job));
}

static void put_text(struct line_text *out, const char *key, const char *value)
{
    if (value != NULL && *value != '\0')
        line_text_string(out, key, value);
}

static void put_time(struct line_text *out, const char *key, time_t at)
{
    if (at > 0)
        line_text_number(out, key, (uint64_t)at);
}

bool slurm_record_is_part(const slurm_job_info_t *job)
{
    return job->het_job_id != 0 && job->het_job_id != job->job_id;
}

/* The nodes of all components, in their order. */
static void put_nodes(const slurm_job_info_t *job, const struct slurm_parts *parts,
                      struct line_text *out)
{
    struct line_text all = { .text = NULL };

    if (parts->count == 0) {
        put_text(out, "nodes", job->nodes);
        return;
    }
    for (uint32_t i = 0; i <= parts->count; i++) {
        const char *nodes = i == 0 ? job->nodes : parts->rows[i - 1]->nodes;

        if (nodes == NULL || *nodes == '\0')
            continue;
        if (all.size > 0)
            line_text_append(&all, ",", 1);
        line_text_append(&all, nodes, (uint32_t)strlen(nodes));
    }
    line_text_append(&all, "", 1);
    put_text(out, "nodes", all.text);
    line_text_done(&all);
}

static void put_identity(const slurm_job_info_t *job, const char *user, struct line_text *out)
{
    line_text_number(out, "id", job->job_id);
    if (job->array_job_id != 0) {
        line_text_number(out, "array", job->array_job_id);
        if (job->array_task_id != NO_VAL)
            line_text_number(out, "task", job->array_task_id);
        put_text(out, "tasks", job->array_task_str);
        if (job->array_max_tasks != 0 && job->array_max_tasks < NO_VAL)
            line_text_number(out, "array_most", job->array_max_tasks);
    }
    if (job->het_job_id != 0)
        line_text_number(out, "het", job->het_job_id);
    line_text_number(out, "uid", job->user_id);
    put_text(out, "user", user);
    put_text(out, "account", job->account);
    put_text(out, "qos", job->qos);
    line_text_prose(out, "name", job->name);
    put_text(out, "partition", job->partition);
}

/* What it asks for. For a job that waits, num_nodes is a guess; tres_req_str is what was asked. */
static void put_shape(const slurm_job_info_t *job, bool is_mem_counted, struct line_text *out)
{
    const bool is_waiting = slurm_record_phase(job) == SLURM_WAITING;
    const char *tres = is_waiting ? job->tres_req_str : NULL;
    const uint64_t nodes = slurm_fields_tres(tres, "node", job->num_nodes);
    const uint64_t cpus = slurm_fields_tres(tres, "cpu", job->num_cpus);

    line_text_number(out, "node_count", nodes);
    line_text_number(out, "cpus", cpus);
    line_text_number(out, "mem_mib", slurm_fields_mem_mib(job->pn_min_memory, cpus, nodes));
    if (is_mem_counted && (job->pn_min_memory & ~MEM_PER_CPU) == 0)
        line_text_number(out, "mem_all", 1);
    if (job->num_tasks != 0 && job->num_tasks != NO_VAL)
        line_text_number(out, "ntasks", job->num_tasks);
    if (job->sockets_per_node != 0 && job->sockets_per_node < NO_VAL16)
        line_text_number(out, "sockets", job->sockets_per_node);
    put_text(out, "gres_node", job->tres_per_node);
    put_text(out, "gres_job", job->tres_per_job);
    put_text(out, "gres_task", job->tres_per_task);
    put_text(out, "gres_socket", job->tres_per_socket);
    put_text(out, "features", job->features);
    if (job->pn_min_tmp_disk != 0 && job->pn_min_tmp_disk < NO_VAL)
        line_text_number(out, "tmp_mib", job->pn_min_tmp_disk);
    if (job->shared == JOB_SHARED_NONE)
        line_text_number(out, "exclusive", 1);
    if (job->time_limit != INFINITE && job->time_limit != NO_VAL)
        line_text_number(out, "limit_s", (uint64_t)job->time_limit * 60);
    put_time(out, "deadline", job->deadline);
}

static void put_run(const slurm_job_info_t *job, const struct slurm_parts *parts,
                    struct line_text *out)
{
    line_text_number(out, "run", job->restart_cnt);
    put_nodes(job, parts, out);
    put_time(out, "start", job->start_time);
}

/* What each other component asks for, as a line 'part' each; and when Slurm looks for room for all of them. */
static void put_parts(const struct slurm_record_extra *extra, struct line_text *out)
{
    struct line_text lines = { .text = NULL };

    if (extra->parts->count == 0)
        return;
    for (uint32_t i = 0; i < extra->parts->count; i++) {
        line_text_begin(&lines, "part");
        put_shape(extra->parts->rows[i], extra->is_mem_counted, &lines);
        line_text_end(&lines);
    }
    line_text_append(&lines, "", 1);
    line_text_string(out, "parts", lines.text);
    line_text_number(out, "backfill_s", extra->backfill_s);
    line_text_done(&lines);
}

static bool is_completing(const slurm_job_info_t *job, const struct slurm_parts *parts)
{
    bool is_any = (job->job_state & JOB_COMPLETING) != 0;

    for (uint32_t i = 0; i < parts->count; i++)
        is_any = is_any || (parts->rows[i]->job_state & JOB_COMPLETING) != 0;
    return is_any;
}

/* The component that a person holds, if one is: that holds all. */
static const slurm_job_info_t *held_of(const slurm_job_info_t *job, const struct slurm_parts *parts)
{
    for (uint32_t i = 0; i < parts->count && !slurm_record_is_held(job); i++) {
        if (slurm_record_is_held(parts->rows[i]))
            job = parts->rows[i];
    }
    return job;
}

uint64_t slurm_record_job(const slurm_job_info_t *job, const struct slurm_record_extra *extra,
                          struct line_text *out)
{
    const uint32_t begin = out->size;
    const enum slurm_phase phase = slurm_record_phase(job);

    line_text_begin(out, "job");
    put_identity(job, extra->user, out);
    line_text_string(out, "state", state_name(job));
    line_text_number(out, "run", job->restart_cnt);
    if (is_completing(job, extra->parts))
        line_text_number(out, "completing", 1);
    if (phase == SLURM_WAITING) {
        line_text_string(out, "hold", hold_name(held_of(job, extra->parts)));
        put_text(out, "reason",
                 slurm_release_reason(is_launch_failure(job) ? FAIL_LAUNCH : job->state_reason));
        put_text(out, "depend", job->dependency);
        put_text(out, "req_nodes", job->req_nodes);
        put_time(out, "begin", slurm_record_begin(job) - extra->skew);
        if (extra->rules != NULL)
            slurm_rules_judge(extra->rules, job, extra->parts, extra->now, out);
    } else {
        put_nodes(job, extra->parts, out);
        put_time(out, "start", job->start_time);
    }
    if (phase == SLURM_ENDED)
        put_time(out, "end", job->end_time);
    put_shape(job, extra->is_mem_counted, out);
    put_parts(extra, out);
    line_text_number(out, "requeue", job->requeue);
    put_time(out, "submit", job->submit_time);
    line_text_prose(out, "comment", job->admin_comment);
    if (job->comment != NULL && *job->comment != '\0')
        line_text_prose(out, "user_comment", job->comment);

    const uint64_t hash = slurm_fields_hash(out->text + begin, out->size - begin);

    if (phase == SLURM_WAITING && extra->rank != 0)
        line_text_number(out, "priority", extra->rank);
    line_text_end(out);
    return hash;
}

void slurm_record_priority(const slurm_job_info_t *job, uint32_t rank, struct line_text *out)
{
    line_text_begin(out, "priority");
    line_text_number(out, "id", job->job_id);
    if (job->array_job_id != 0 && job->array_task_id == NO_VAL)
        line_text_number(out, "array", job->array_job_id);
    line_text_number(out, "value", rank);
    line_text_end(out);
}

/* libslurm 22.05 forgets to free the admin's comments: 50,000 of them would be a leak of megabytes a
 * look. What is freed here is NULL afterwards, so one that does not forget does not mind. */
void slurm_record_free_jobs(job_info_msg_t *all)
{
    if (all == NULL)
        return;
    for (uint32_t i = 0; i < all->record_count; i++) {
        void *comment = all->job_array[i].admin_comment;

        slurm_xfree(&comment);
        all->job_array[i].admin_comment = NULL;
    }
    slurm_free_job_info_msg(all);
}

void slurm_record_started(const slurm_job_info_t *job, const struct slurm_parts *parts,
                          struct line_text *out)
{
    line_text_begin(out, "started");
    line_text_number(out, "job", job->job_id);
    put_run(job, parts, out);
    line_text_end(out);
}

void slurm_record_ended(const slurm_job_info_t *job, const struct slurm_parts *parts,
                        struct line_text *out)
{
    const int status = (int)job->exit_code;

    line_text_begin(out, "ended");
    line_text_number(out, "job", job->job_id);
    line_text_string(out, "state", state_name(job));
    line_text_number(out, "exit", WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 0);
    line_text_number(out, "signal", WIFSIGNALED(status) ? (uint64_t)WTERMSIG(status) : 0);
    put_run(job, parts, out);
    put_time(out, "end", job->end_time);
    line_text_end(out);
}

bool slurm_record_is_node(const node_info_t *node)
{
    return node->name != NULL && *node->name != '\0' &&
           (node->node_state & NODE_STATE_BASE) != NODE_STATE_FUTURE;
}

/* up: takes work; joining: will, once it has answered; down: neither. asleep, waking: Slurm saves power there, and
 * wakes it up for a job. silent: it missed a ping, which
 * a busy network is enough for; Slurm lets its jobs be until SlurmdTimeout is over, and then sets it
 * down. */
static const char *node_state(uint32_t state)
{
    const uint32_t base = state & NODE_STATE_BASE;

    if (base == NODE_STATE_UNKNOWN)
        return "joining";
    if (base == NODE_STATE_DOWN || base == NODE_STATE_ERROR ||
        (state & (NODE_STATE_FAIL | NODE_STATE_INVALID_REG)) != 0)
        return "down";
    if ((state & NODE_STATE_POWERING_UP) != 0)
        return "waking";
    if ((state & (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN)) != 0)
        return "asleep";
    return (state & NODE_STATE_NO_RESPOND) != 0 ? "silent" : "up";
}

/*
 * Something is allocated there, whoever's it is, or being cleared away by a node that answers. The state of
 * a node that was reconfigured under work stays "allocated" for ever in 22.05, with nothing on it; so
 * where it is known what is given away there, that counts.
 */
static bool is_busy(const node_info_t *node)
{
    const uint32_t base = node->node_state & NODE_STATE_BASE;
    uint64_t cpus = 0;
    uint64_t memory = 0;

    if ((node->node_state & NODE_STATE_COMPLETING) != 0 && base != NODE_STATE_DOWN)
        return true;
    if (slurm_release_allocated(node, &cpus, &memory))
        return cpus > 0 || memory > 0;
    return base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED;
}

uint64_t slurm_record_node(const node_info_t *node, struct line_text *out)
{
    const uint32_t begin = out->size;

    line_text_begin(out, "node");
    put_text(out, "name", node->name);
    line_text_string(out, "state", node_state(node->node_state));
    line_text_number(out, "drain", (node->node_state & NODE_STATE_DRAIN) != 0);
    if (is_busy(node))
        line_text_number(out, "busy", 1);
    line_text_number(out, "cpus", node->cpus);
    line_text_number(out, "mem_mib", node->real_memory);
    put_text(out, "gres", node->gres);
    put_text(out, "features", node->features);
    put_text(out, "addr", node->node_addr);
    line_text_prose(out, "reason", node->reason);
    line_text_end(out);
    return slurm_fields_hash(out->text + begin, out->size - begin);
}
