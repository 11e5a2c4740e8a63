/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_job_line.h"

#include <stddef.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/word_list.h"
#include "engine/slurm/slurm_spell.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    { "id", offsetof(struct slurm_job_line, id) },
    { "array", offsetof(struct slurm_job_line, array) },
    { "task", offsetof(struct slurm_job_line, task) },
    { "het", offsetof(struct slurm_job_line, het) },
    { "run", offsetof(struct slurm_job_line, run) },
    { "submit", offsetof(struct slurm_job_line, submit) },
    { "begin", offsetof(struct slurm_job_line, begin) },
    { "start", offsetof(struct slurm_job_line, start) },
    { "end", offsetof(struct slurm_job_line, end) },
    { "limit_s", offsetof(struct slurm_job_line, limit_s) },
    { "node_count", offsetof(struct slurm_job_line, node_count) },
    { "cpus", offsetof(struct slurm_job_line, cpus) },
    { "mem_mib", offsetof(struct slurm_job_line, mem_mib) },
    { "mem_all", offsetof(struct slurm_job_line, mem_all) },
    { "ntasks", offsetof(struct slurm_job_line, ntasks) },
    { "sockets", offsetof(struct slurm_job_line, sockets) },
    { "exclusive", offsetof(struct slurm_job_line, exclusive) },
    { "requeue", offsetof(struct slurm_job_line, requeue) },
    { "completing", offsetof(struct slurm_job_line, completing) },
    { "array_most", offsetof(struct slurm_job_line, array_most) },
    { "tmp_mib", offsetof(struct slurm_job_line, tmp_mib) },
    { "priority", offsetof(struct slurm_job_line, priority) },
    { "deadline", offsetof(struct slurm_job_line, deadline) },
    { "backfill_s", offsetof(struct slurm_job_line, backfill_s) },
};

static const struct {
    const char *key;
    size_t offset;
} texts[] = {
    { "tasks", offsetof(struct slurm_job_line, tasks) },
    { "user", offsetof(struct slurm_job_line, user) },
    { "account", offsetof(struct slurm_job_line, account) },
    { "qos", offsetof(struct slurm_job_line, qos) },
    { "name", offsetof(struct slurm_job_line, name) },
    { "partition", offsetof(struct slurm_job_line, partition) },
    { "state", offsetof(struct slurm_job_line, state) },
    { "hold", offsetof(struct slurm_job_line, hold) },
    { "reason", offsetof(struct slurm_job_line, reason) },
    { "depend", offsetof(struct slurm_job_line, depend) },
    { "nodes", offsetof(struct slurm_job_line, nodes) },
    { "gres_node", offsetof(struct slurm_job_line, gres_node) },
    { "gres_job", offsetof(struct slurm_job_line, gres_job) },
    { "gres_task", offsetof(struct slurm_job_line, gres_task) },
    { "gres_socket", offsetof(struct slurm_job_line, gres_socket) },
    { "features", offsetof(struct slurm_job_line, features) },
    { "user_comment", offsetof(struct slurm_job_line, user_comment) },
    { "comment", offsetof(struct slurm_job_line, comment) },
    { "bar", offsetof(struct slurm_job_line, bar) },
    { "bar_text", offsetof(struct slurm_job_line, bar_text) },
    { "draws", offsetof(struct slurm_job_line, draws) },
    { "parts", offsetof(struct slurm_job_line, parts) },
};

static const struct {
    const char *word;
    enum slurm_phase_of phase;
} states[] = {
    { "pending", PHASE_WAITING }, { "running", PHASE_RUNNING }, { "suspended", PHASE_RUNNING },
    { "completed", PHASE_ENDED }, { "cancelled", PHASE_ENDED }, { "failed", PHASE_ENDED },
    { "timeout", PHASE_ENDED },   { "node_fail", PHASE_ENDED }, { "preempted", PHASE_ENDED },
    { "boot_fail", PHASE_ENDED }, { "deadline", PHASE_ENDED },  { "out_of_memory", PHASE_ENDED },
};

static bool read_field(const struct line_field *field, struct slurm_job_line *to)
{
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (strcmp(numbers[i].key, field->key) == 0)
            return line_number(field->value, NUMBER_NONE - 1,
                               (uint64_t *)(void *)((char *)to + numbers[i].offset)) == 0;
    }
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (strcmp(texts[i].key, field->key) == 0) {
            *(const char **)(void *)((char *)to + texts[i].offset) = field->value;
            return true;
        }
    }
    return true;
}

static bool read_phase(struct slurm_job_line *job)
{
    for (size_t i = 0; job->state != NULL && i < COUNT_OF(states); i++) {
        if (strcmp(states[i].word, job->state) == 0) {
            job->phase = states[i].phase;
            return true;
        }
    }
    return false;
}

static bool is_id(uint64_t id)
{
    return id > 0 && id <= ID_JOB_MAX;
}

static bool read_fields(const struct line *line, struct slurm_job_line *ret)
{
    *ret = (struct slurm_job_line){ .phase = PHASE_WAITING };
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        *(uint64_t *)(void *)((char *)ret + numbers[i].offset) = NUMBER_NONE;
    for (uint32_t i = 0; i < line->count; i++) {
        if (!read_field(&line->field[i], ret))
            return false;
    }
    return true;
}

bool slurm_job_line_read(const struct line *line, struct slurm_job_line *ret)
{
    struct slurm_job_line job;

    if (!read_fields(line, &job))
        return false;
    if (job.run == NUMBER_NONE)
        job.run = 0;
    if (!read_phase(&job) || !is_id(job.id) || job.run >= UINT32_MAX)
        return false;
    if (job.array != NUMBER_NONE && !is_id(job.array))
        return false;
    if (job.task != NUMBER_NONE && job.task > SLURM_ARRAY_INDEX_MAX)
        return false;
    *ret = job;
    return true;
}

enum slurm_wait_kind slurm_job_line_closed(const struct slurm_job_line *line)
{
    if (line->depend != NULL)
        return SLURM_WAIT_DEPENDENCY;
    if (line->hold == NULL || strcmp(line->hold, "none") == 0 || strcmp(line->hold, "gate") == 0 ||
        strcmp(line->hold, "held-gate") == 0)
        return SLURM_WAIT_NONE;
    return strcmp(line->hold, "user") == 0 ? SLURM_WAIT_USER_HOLD : SLURM_WAIT_ADMIN_HOLD;
}

bool slurm_job_line_is_stuck(const struct slurm_job_line *line)
{
    return line->depend != NULL && line->hold != NULL && strcmp(line->hold, "held-gate") == 0;
}

bool slurm_job_line_is_movable(const struct slurm_engine *engine, const struct slurm_job_line *line)
{
    const char *word = engine->config.move_word;

    return line->requeue == 1 && word_list_has(line->user_comment, " ,;", word, strlen(word));
}

static uint64_t or_one(uint64_t number)
{
    return number == NUMBER_NONE || number == 0 ? 1 : number;
}

static uint64_t shared_out(uint64_t number, uint64_t nodes)
{
    return number / nodes + (number % nodes != 0);
}

/* Accelerators per node, however they were asked for. */
static int sum_gres(const struct slurm_job_line *line, uint64_t nodes, struct slurm_gres *ret)
{
    struct slurm_gres of_job = { .gpus = 0 };

    if (slurm_spell_gres(line->gres_node, 1, ret) < 0 ||
        slurm_spell_gres(line->gres_task, shared_out(or_one(line->ntasks), nodes), ret) < 0 ||
        slurm_spell_gres(line->gres_socket, or_one(line->sockets), ret) < 0 ||
        slurm_spell_gres(line->gres_job, 1, &of_job) < 0)
        return -1;
    const uint64_t share = shared_out(of_job.gpus, nodes);

    /* Slurm repeats what was asked for per job in other words; the most counts. */
    if (share > ret->gpus)
        ret->gpus = share;
    if (of_job.type[0] != '\0')
        memcpy(ret->type, of_job.type, sizeof(ret->type));
    if (of_job.other[0] != '\0')
        memcpy(ret->other, of_job.other, sizeof(ret->other));
    return 0;
}

static uint32_t caps_of(const struct slurm_engine *engine, const struct slurm_job_line *line)
{
    if (engine->config.caps == NULL)
        return 0;
    return engine->config.caps(engine->config.context,
                               &(struct engine_owner){ .account = line->account,
                                                       .user = line->user,
                                                       .partition = line->partition,
                                                       .qos = line->qos });
}

/* The shape of one node of the job, or of one component of it; 'whole' is the line of the job. */
static struct slurm_wish shape_of(const struct slurm_engine *engine, struct slurm_shapes *shapes,
                                  const struct slurm_job_line *line,
                                  const struct slurm_job_line *whole, bool is_alone,
                                  const struct slurm_market_rules *rules)
{
    const uint64_t nodes = or_one(line->node_count);
    struct slurm_gres gres = { .gpus = 0 };

    if (sum_gres(line, nodes, &gres) < 0)
        return slurm_shapes_refuse(shapes, "its generic resources (--gres) are not understood");
    if (gres.other[0] != '\0')
        return slurm_shapes_refuse(shapes, "it requests generic resources other than gpu");
    if (line->tmp_mib != NUMBER_NONE && line->tmp_mib > engine->config.tmp_mib)
        return slurm_shapes_refuse(
            shapes,
            "it requests more temporary disk space (--tmp) than machines have (engine.tmp_gib in "
            "stint.conf)");
    const struct slurm_want want = {
        .cpus = shared_out(or_one(line->cpus), nodes),
        .mem_mib = line->mem_mib == NUMBER_NONE ? 0 : line->mem_mib,
        .gpus = gres.gpus,
        .gpu_type = gres.type,
        .features = line->features,
        .workload = whole->name == NULL ? "" : whole->name,
        .is_whole_machine = line->exclusive == 1 || line->mem_all == 1,
        .is_in_one_zone = !is_alone && !engine->config.any_zone,
        .has_rules = rules->deadline > 0 || rules->words.within_ms > 0 ||
                     rules->words.market != MARKET_RULE_ANY,
    };

    return slurm_shapes_of(shapes, &want);
}

/* Whether Slurm would start a heterogeneous job soon enough after it was placed. */
static bool is_backfill_fit(const struct slurm_engine *engine, const struct slurm_job_line *line)
{
    return line->backfill_s != NUMBER_NONE && line->backfill_s > 0 &&
           line->backfill_s <= (uint64_t)engine->config.start_timeout_ms / MSEC_PER_SEC / 2;
}

/* Take the lines 'part' of 'text', which is changed; false: they are not what they should be. */
static bool read_parts(char *text, struct slurm_job_line *rows, uint32_t *ret_count)
{
    struct line line;

    *ret_count = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const size_t next = length + (text[length] == '\n');
        const bool is_last = text[next] == '\0';

        if (*ret_count == JOB_PARTS_MAX - 1 || line_parse(text, length, &line, NULL) < 0 ||
            !read_fields(&line, &rows[*ret_count]))
            return false;
        (*ret_count)++;
        text += next;
        if (is_last)
            break;
    }
    return *ret_count > 0;
}

/* The shapes of all components; the reason of the first that nothing can hold. */
static void wish_for_parts(const struct slurm_engine *engine, struct slurm_shapes *shapes,
                           const struct slurm_job_line *line, const char *parts,
                           struct slurm_job_wish *ret)
{
    struct slurm_job_line rows[JOB_PARTS_MAX];
    const size_t size = strlen(parts) + 2;
    char *text = mem_alloc(size, 1);
    uint32_t count = 0;

    memcpy(text, parts, size - 1);
    rows[0] = *line;
    ret->task_count = 0;
    if (!read_parts(text, rows + 1, &count)) {
        ret->wish = slurm_shapes_refuse(shapes, SLURM_HETEROGENEOUS);
        ret->task_count = 1;
        mem_free(text);
        return;
    }
    for (uint32_t i = 0; i <= count; i++) {
        const uint64_t nodes = or_one(rows[i].node_count);
        const struct slurm_wish wish =
            nodes > ID_RANKS_MAX - ret->task_count
                ? slurm_shapes_refuse(shapes, "it requests more nodes than Stint can count")
                : shape_of(engine, shapes, &rows[i], line, false, &ret->rules);

        if (i == 0 || wish.shape == SHAPE_NONE)
            ret->wish = wish;
        if (wish.shape == SHAPE_NONE) {
            ret->task_count = 1;
            ret->parts.count = 0;
            break;
        }
        ret->parts.row[ret->parts.count++] = (struct job_part){ wish.shape, (uint32_t)nodes };
        ret->task_count += (uint32_t)nodes;
    }
    mem_free(text);
}

struct slurm_job_wish slurm_job_line_wish(const struct slurm_engine *engine,
                                          struct slurm_shapes *shapes,
                                          const struct slurm_job_line *line)
{
    const uint64_t nodes = or_one(line->node_count);
    struct slurm_job_wish ret = { .task_count = 1, .rules = { .caps = caps_of(engine, line) } };
    struct slurm_market_rules rules = { .caps = ret.rules.caps };
    const char *reason = NULL;

    if (nodes > ID_RANKS_MAX)
        reason = "it requests more nodes than Stint can count";
    else if (line->het != NUMBER_NONE && (line->parts == NULL || !is_backfill_fit(engine, line)))
        reason = SLURM_HETEROGENEOUS;
    else if (!slurm_market_of(&engine->config.markets, line, engine->config.move_word, &rules))
        reason = "its comment is not understood: after 'stint:' give market=spot, "
                 "market=on-demand or market=any, after=20m, within=6h";
    else if (!slurm_burst_of(&engine->config.bursts, line, &rules.burst))
        reason = "its comment is not understood: after 'stint:burst=' give a "
                 "length of time, such as 30m, or never";
    if (reason != NULL) {
        ret.wish = slurm_shapes_refuse(shapes, reason);
        return ret;
    }
    rules.caps = ret.rules.caps;
    ret.rules = rules;
    if (line->parts != NULL) {
        wish_for_parts(engine, shapes, line, line->parts, &ret);
        return ret;
    }
    ret.wish = shape_of(engine, shapes, line, line, nodes == 1, &rules);
    if (ret.wish.shape != SHAPE_NONE)
        ret.task_count = (uint32_t)nodes;
    return ret;
}

uint32_t slurm_job_line_name(struct names *names, const char *name)
{
    static const char one_more[] = "..."; /* than are kept apart */

    if (name == NULL)
        name = "";
    const size_t length = strnlen(name, LIMIT_NAME);

    if (names->count >= SLURM_NAMES_MAX && names_find(names, name, length) == NAME_NONE)
        return names_add(names, one_more, strlen(one_more));
    return names_add(names, name, length);
}
