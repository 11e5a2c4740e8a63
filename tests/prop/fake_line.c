/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/slurm/slurm_spell.h"

enum { NAMES_SIZE = 512 };

static const uint64_t wall_unit = 1000;

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037U;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211U;
    return hash;
}

static void put_names(const struct fake_bridge *bridge, struct line_text *out, const char *key,
                      const uint64_t *instances, uint32_t count)
{
    char text[NAMES_SIZE] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%" PRIu64, i > 0 ? "," : "",
                                 bridge->prefix, instances[i]);
    if (count > 0)
        line_text_string(out, key, text);
}

void fake_line_time(const struct fake_bridge *bridge, struct line_text *out, const char *key,
                    msec_t at)
{
    if (at > 0)
        line_text_number(out, key, (uint64_t)(at + bridge->clock_offset) / wall_unit);
}

const char *fake_line_state(const struct fake_job *job)
{
    static const char *const ends[] = { "completed", "cancelled", "node_fail" };

    if (job->phase == FAKE_WAITING)
        return "pending";
    return job->phase == FAKE_RUNNING ? "running" : ends[job->end];
}

static const char *hold_of(const struct fake_job *job)
{
    switch (job->hold) {
    case FAKE_BY_ADMIN:
        return "admin";
    case FAKE_BY_USER:
        return "user";
    case FAKE_BY_PLUGIN:
        return "held-gate";
    case FAKE_FREE:
        break;
    }
    return job->is_gated ? "gate" : "none";
}

static const char *reason_of(const struct fake_bridge *bridge, const struct fake_job *job)
{
    if (job->hold == FAKE_BY_ADMIN)
        return "JobHeldAdmin";
    if (job->hold != FAKE_FREE)
        return "JobHeldUser";
    if (job->depends_on != 0)
        return "Dependency";
    if (job->is_gated || job->begin_at > bridge->slurm->now)
        return "BeginTime";
    return job->required_count > 0 ? "Resources" : "Priority";
}

static void put_identity(const struct fake_job *job, struct line_text *out)
{
    char text[256];

    line_text_number(out, "id", job->id);
    if (job->array != 0) {
        line_text_number(out, "array", job->array);
        if (job->task_count == 0) {
            line_text_number(out, "task", job->task);
        } else {
            (void)slurm_spell_ranges(job->tasks, 0, job->task_count, text, sizeof(text));
            line_text_string(out, "tasks", text);
        }
    }
    line_text_number(out, "uid", 1000 + job->user);
    (void)snprintf(text, sizeof(text), "user%u", job->user);
    line_text_string(out, "user", text);
    (void)snprintf(text, sizeof(text), "work%u", job->name);
    line_text_string(out, "name", text);
    line_text_string(out, "partition", "cloud");
}

static void put_comment(const struct fake_job *job, struct line_text *out)
{
    static const char *const words[] = {
        [FAKE_ANY_MARKET] = "",
        [FAKE_ON_DEMAND] = "stint:market=on-demand",
        [FAKE_SPOT_FIRST] = "stint:market=spot,after=30s",
        [FAKE_DEADLINE] = "stint:within=5m",
    };
    char text[64];

    (void)snprintf(text, sizeof(text), "%s%s%s", job->may_move ? "stint:move" : "",
                   job->may_move && job->market != FAKE_ANY_MARKET ? " " : "", words[job->market]);
    if (text[0] != '\0')
        line_text_prose(out, "user_comment", text);
}

_Static_assert(FAKE_SPOT_S == 30, "the text above names it");

/* As slurm_record_job() writes it; without the priority its hash is returned. */
uint64_t fake_line_job(const struct fake_bridge *bridge, const struct fake_job *job,
                       struct line_text *out)
{
    const uint32_t begin = out->size;
    char text[64];

    line_text_begin(out, "job");
    put_identity(job, out);
    line_text_string(out, "state", fake_line_state(job));
    line_text_number(out, "run", job->run);
    if (job->is_completing)
        line_text_number(out, "completing", 1);
    if (job->phase == FAKE_WAITING) {
        line_text_string(out, "hold", hold_of(job));
        line_text_string(out, "reason", reason_of(bridge, job));
        if (job->depends_on != 0) {
            (void)snprintf(text, sizeof(text), "afterany:%u(unfulfilled)", job->depends_on);
            line_text_string(out, "depend", text);
        }
        put_names(bridge, out, "req_nodes", job->required, job->required_count);
        fake_line_time(bridge, out, "begin", job->begin_at);
    } else {
        put_names(bridge, out, "nodes", job->nodes, job->nodes_count);
        if (job->starts > 0)
            fake_line_time(bridge, out, "start", job->started_at);
    }
    if (job->phase == FAKE_ENDED)
        fake_line_time(bridge, out, "end", job->ended_at);
    line_text_number(out, "node_count", job->node_count);
    line_text_number(out, "cpus", (uint64_t)job->cpus * job->node_count);
    line_text_number(out, "mem_mib", job->mem_mib);
    line_text_number(out, "ntasks", job->node_count);
    line_text_number(out, "limit_s", job->limit_s);
    line_text_number(out, "requeue", job->may_requeue);
    fake_line_time(bridge, out, "submit", job->submitted_at);
    if (job->note[0] != '\0') {
        line_text_prose(out, "comment", job->note);
    } else if (job->comment > 0) {
        (void)snprintf(text, sizeof(text), "stint: comment %u", job->comment);
        line_text_prose(out, "comment", text);
    }
    put_comment(job, out);

    const uint64_t hash = hash_of(out->text + begin, out->size - begin);

    if (job->phase == FAKE_WAITING && job->hold == FAKE_FREE && job->required_count == 0)
        line_text_number(out, "priority", job->priority + job->id * 37 % 101);
    line_text_end(out);
    return hash;
}

void fake_line_run(const struct fake_bridge *bridge, const struct fake_job *job,
                   struct line_text *out)
{
    line_text_number(out, "run", job->run);
    put_names(bridge, out, "nodes", job->nodes, job->nodes_count);
    fake_line_time(bridge, out, "start", job->started_at);
}

uint64_t fake_line_node(const struct fake_bridge *bridge, const struct fake_node *node,
                        struct line_text *out)
{
    static const char *const states[] = { "joining", "up", "silent", "down" };
    const uint32_t begin = out->size;
    char name[64];

    (void)snprintf(name, sizeof(name), "%s%" PRIu64, bridge->prefix, node->instance);
    line_text_begin(out, "node");
    line_text_string(out, "name", name);
    line_text_string(out, "state", states[node->state]);
    line_text_number(out, "drain", node->is_drained);
    line_text_number(out, "cpus", node->cpus);
    line_text_number(out, "mem_mib", node->mem_mib);
    line_text_string(out, "features", "cloud");
    if (node->is_drained)
        line_text_string(out, "reason", node->is_our_drain ? "stint: leaving" : "bad disk");
    if (fake_slurm_allocated(bridge->slurm, node->instance, NULL) > 0)
        line_text_number(out, "busy", 1);
    line_text_end(out);
    return hash_of(out->text + begin, out->size - begin);
}
