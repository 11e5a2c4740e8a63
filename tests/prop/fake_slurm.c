/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_slurm.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

static const msec_t schedule_ms = 1000;   /* the main scheduler */
static const msec_t requeued_ms = 121000; /* Slurm lets what was put back wait for so long */
static const msec_t stopped_ms = 2000;    /* what ran before begins a little later */
static const msec_t ping_ms = 10000;      /* within this a node that does not answer is noticed */
static const uint32_t placed_priority = 0xfffff000U;
static const uint32_t usual_priority = 1000000;

static void job_changed(struct fake_slurm *slurm)
{
    slurm->jobs_version++;
    slurm->is_due = true;
}

static void node_changed(struct fake_slurm *slurm)
{
    slurm->nodes_version++;
    slurm->is_due = true;
}

void fake_slurm_init(struct fake_slurm *slurm, uint64_t seed, msec_t now)
{
    *slurm = (struct fake_slurm){ .now = now,
                                  .silence_s = 60,
                                  .clear_ms = 500,
                                  .back_at = MSEC_NEVER,
                                  .next_id = 1,
                                  .jobs_version = 1,
                                  .nodes_version = 1,
                                  .schedule_at = now };
    rng_init(&slurm->rng, seed, 77);
}

void fake_slurm_done(struct fake_slurm *slurm)
{
    mem_free(slurm->jobs);
    mem_free(slurm->nodes);
}

/* ---- jobs ---- */

static struct fake_job *add_job(struct fake_slurm *slurm, const struct fake_job *like)
{
    const struct fake_job copy = *like; /* 'like' may be one of them */

    MEM_ROOM(slurm->jobs, slurm->jobs_room, slurm->job_count + 1);
    slurm->jobs[slurm->job_count] = copy;
    return &slurm->jobs[slurm->job_count++];
}

uint32_t fake_slurm_submit(struct fake_slurm *slurm, const struct fake_job *spec)
{
    struct fake_job *job = add_job(slurm, spec);

    job->id = slurm->next_id++;
    if (job->task_count > 0)
        job->array = job->id;
    if (job->task_count == 0)
        job->task = FAKE_NO_TASK;
    job->phase = FAKE_WAITING;
    job->hold = job->hold == FAKE_FREE ? FAKE_BY_PLUGIN : job->hold;
    job->is_gated = true;
    job->priority = usual_priority;
    job->submitted_at = slurm->now;
    if (job->begin_at < slurm->now)
        job->begin_at = slurm->now;
    job_changed(slurm);
    return job->id;
}

/* Slurm gives the last task that is left the record itself. */
static struct fake_job *split(struct fake_slurm *slurm, struct fake_job *whole, uint32_t task)
{
    const uint32_t row = (uint32_t)(whole - slurm->jobs);
    uint32_t at = 0;

    while (at < whole->task_count && whole->tasks[at] != task)
        at++;
    if (at == whole->task_count)
        return NULL;
    if (whole->task_count == 1) {
        whole->task_count = 0;
        whole->task = task;
        job_changed(slurm);
        return whole;
    }
    struct fake_job *one = add_job(slurm, whole);

    whole = &slurm->jobs[row];
    whole->task_count--;
    memmove(&whole->tasks[at], &whole->tasks[at + 1],
            (whole->task_count - at) * sizeof(whole->tasks[0]));
    one->id = slurm->next_id++;
    one->task = task;
    one->task_count = 0;
    job_changed(slurm);
    return one;
}

struct fake_job *fake_slurm_find(struct fake_slurm *slurm, uint32_t id, uint32_t task, bool splits)
{
    struct fake_job *whole = NULL;

    for (uint32_t i = 0; i < slurm->job_count; i++) {
        struct fake_job *job = &slurm->jobs[i];

        if (job->is_forgotten)
            continue;
        if (task == FAKE_NO_TASK && job->id == id)
            return job;
        if (task != FAKE_NO_TASK && job->array == id && job->task_count == 0 && job->task == task)
            return job;
        if (task != FAKE_NO_TASK && job->array == id && job->task_count > 0)
            whole = job;
    }
    if (whole == NULL)
        return NULL;
    if (splits)
        return split(slurm, whole, task);
    for (uint32_t i = 0; i < whole->task_count; i++) {
        if (whole->tasks[i] == task)
            return whole;
    }
    return NULL;
}

bool fake_slurm_is_held(const struct fake_job *job)
{
    return job->hold == FAKE_BY_USER || job->hold == FAKE_BY_ADMIN;
}

void fake_slurm_gate(struct fake_slurm *slurm, struct fake_job *job)
{
    assert(job->phase == FAKE_WAITING);
    job->is_gated = true;
    if (job->hold == FAKE_BY_PLUGIN)
        job->hold = FAKE_FREE;
    job->required_count = 0;
    job->priority = usual_priority;
    job->begin_at = slurm->now;
    job_changed(slurm);
}

void fake_slurm_unhold(struct fake_slurm *slurm, struct fake_job *job)
{
    assert(job->phase == FAKE_WAITING && job->hold == FAKE_BY_PLUGIN);
    job->hold = FAKE_FREE;
    job_changed(slurm);
}

void fake_slurm_free(struct fake_slurm *slurm, struct fake_job *job, const uint64_t *required,
                     uint32_t count)
{
    assert(job->phase == FAKE_WAITING && count <= FAKE_NODES_MAX);
    job->is_gated = false;
    job->hold = FAKE_FREE;
    job->begin_at = slurm->now + (job->run > 0 ? stopped_ms : 0);
    job->required_count = count;
    if (count > 0)
        memcpy(job->required, required, count * sizeof(*required));
    job->priority = count > 0 ? placed_priority : usual_priority;
    job->comment++;
    job->note[0] = '\0';
    job_changed(slurm);
    if (count > 0 && slurm->on_place != NULL)
        slurm->on_place(slurm->context, job);
}

static void use(struct fake_slurm *slurm, const struct fake_job *job, bool begins)
{
    for (uint32_t i = 0; i < job->nodes_count; i++) {
        struct fake_node *node = fake_slurm_node(slurm, job->nodes[i]);

        if (node == NULL)
            continue;
        node->used_cpus += begins ? job->cpus : 0 - job->cpus;
        node->used_mem_mib += begins ? job->mem_mib : 0 - job->mem_mib;
    }
    slurm->nodes_version++; /* what is allocated there is told with the node */
}

static bool is_on(const struct fake_job *job, uint64_t instance)
{
    for (uint32_t i = 0; i < job->nodes_count; i++) {
        if (job->nodes[i] == instance)
            return true;
    }
    return false;
}

/* Whether all of its nodes do what they are told. */
static bool is_reachable(struct fake_slurm *slurm, const struct fake_job *job)
{
    for (uint32_t i = 0; i < job->nodes_count; i++) {
        const struct fake_node *node = fake_slurm_node(slurm, job->nodes[i]);

        if (node != NULL && node->state != FAKE_DOWN &&
            (!node->is_alive || node->mute_until > slurm->now))
            return false;
    }
    return true;
}

/* It is over there, and being cleared away. */
static void begin_clearing(struct fake_slurm *slurm, struct fake_job *job)
{
    job->is_completing = true;
    job->clear_due =
        slurm->now + 20 + (msec_t)rng_below(&slurm->rng, (uint64_t)slurm->clear_ms + 1);
    job->ended_at = slurm->now;
    job_changed(slurm);
}

static void end_clearing(struct fake_slurm *slurm, struct fake_job *job)
{
    job->is_completing = false;
    job->clear_due = MSEC_NEVER;
    use(slurm, job, false);
    if (job->phase == FAKE_WAITING)
        job->nodes_count = 0;
    job_changed(slurm);
}

static void finish(struct fake_slurm *slurm, struct fake_job *job, enum fake_end end)
{
    static const char *const how[] = { "completed", "cancelled", "node-fail" };
    const bool ran = job->phase == FAKE_RUNNING;

    job->phase = FAKE_ENDED;
    job->end = end;
    job->ended_at = slurm->now;
    job->completions += end == FAKE_COMPLETED;
    if (slurm->on_end != NULL)
        slurm->on_end(slurm->context, job, how[end]);
    if (ran)
        begin_clearing(slurm, job);
    job_changed(slurm);
}

void fake_slurm_cancel(struct fake_slurm *slurm, struct fake_job *job)
{
    if (job->phase != FAKE_ENDED)
        finish(slurm, job, FAKE_CANCELLED);
}

void fake_slurm_hold(struct fake_slurm *slurm, struct fake_job *job, bool on)
{
    if (job->phase != FAKE_WAITING || job->is_completing)
        return;
    if (on) {
        job->hold = FAKE_BY_ADMIN;
    } else if (fake_slurm_is_held(job)) {
        job->hold = FAKE_FREE;
    }
    job_changed(slurm);
}

static bool is_excused(struct fake_slurm *slurm, const struct fake_job *job)
{
    for (uint32_t i = 0; i < job->nodes_count; i++) {
        const struct fake_node *node = fake_slurm_node(slurm, job->nodes[i]);

        if (node == NULL || node->is_excused)
            return true;
    }
    return false;
}

void fake_slurm_requeue(struct fake_slurm *slurm, struct fake_job *job, enum fake_cause cause)
{
    assert(job->phase == FAKE_RUNNING);
    const bool excused = is_excused(slurm, job);

    if (cause == FAKE_CAUSE_OPERATOR)
        job->by_operator++;
    else if (cause == FAKE_CAUSE_US && (job->may_move || excused))
        job->by_us_rightly++;
    else if (cause == FAKE_CAUSE_NODE && excused)
        job->losses++;
    else
        job->by_us++;
    if (slurm->on_end != NULL)
        slurm->on_end(slurm->context, job,
                      cause == FAKE_CAUSE_NODE ? "lost its node" : "was put back");
    if (!job->may_requeue && cause == FAKE_CAUSE_NODE) {
        finish(slurm, job, FAKE_NODE_FAIL);
        return;
    }
    job->phase = FAKE_WAITING;
    job->run++;
    job->is_gated = cause == FAKE_CAUSE_US;
    job->begin_at = slurm->now + requeued_ms;
    begin_clearing(slurm, job);
}

uint32_t fake_slurm_allocated(const struct fake_slurm *slurm, uint64_t instance,
                              uint32_t *ret_running)
{
    uint32_t count = 0;
    uint32_t running = 0;

    for (uint32_t i = 0; i < slurm->job_count; i++) {
        const struct fake_job *job = &slurm->jobs[i];

        if ((job->phase != FAKE_RUNNING && !job->is_completing) || !is_on(job, instance))
            continue;
        count++;
        running += job->phase == FAKE_RUNNING;
    }
    if (ret_running != NULL)
        *ret_running = running;
    return count;
}

uint32_t fake_slurm_open(const struct fake_slurm *slurm)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < slurm->job_count; i++)
        count += slurm->jobs[i].phase != FAKE_ENDED || slurm->jobs[i].is_completing;
    return count;
}

bool fake_slurm_has_work(const struct fake_slurm *slurm)
{
    for (uint32_t i = 0; i < slurm->job_count; i++) {
        const struct fake_job *job = &slurm->jobs[i];

        if (job->phase == FAKE_RUNNING || job->is_completing)
            return true;
        if (job->phase == FAKE_WAITING && !fake_slurm_is_held(job) && job->depends_on == 0 &&
            job->begin_at <= slurm->now)
            return true;
    }
    return false;
}

/* ---- nodes ---- */

struct fake_node *fake_slurm_node(struct fake_slurm *slurm, uint64_t instance)
{
    for (uint32_t i = slurm->node_count; i > 0; i--) {
        if (slurm->nodes[i - 1].instance == instance && slurm->nodes[i - 1].is_there)
            return &slurm->nodes[i - 1];
    }
    return NULL;
}

void fake_slurm_join(struct fake_slurm *slurm, uint64_t instance, uint32_t cpus, uint32_t mem_mib)
{
    MEM_ROOM(slurm->nodes, slurm->nodes_room, slurm->node_count + 1);
    slurm->nodes[slurm->node_count++] = (struct fake_node){
        .instance = instance,
        .cpus = cpus,
        .mem_mib = mem_mib,
        .state = FAKE_JOINING,
        .is_there = true,
        .is_alive = true,
        .lost_at = MSEC_NEVER,
        .change_due = slurm->now + 50 + (msec_t)rng_below(&slurm->rng, 1500),
    };
    node_changed(slurm);
}

void fake_slurm_kill_node(struct fake_slurm *slurm, uint64_t instance, bool is_chance)
{
    struct fake_node *node = fake_slurm_node(slurm, instance);

    if (node == NULL)
        return;
    node->is_alive = false;
    node->is_excused = node->is_excused || is_chance;
    if (node->lost_at == MSEC_NEVER)
        node->lost_at = slurm->now;
}

void fake_slurm_excuse(struct fake_slurm *slurm, uint64_t instance)
{
    struct fake_node *node = fake_slurm_node(slurm, instance);

    if (node != NULL)
        node->is_noticed = node->is_excused = true;
}

void fake_slurm_mute(struct fake_slurm *slurm, uint64_t instance, msec_t until)
{
    struct fake_node *node = fake_slurm_node(slurm, instance);

    if (node == NULL || !node->is_alive)
        return;
    node->mute_until = until;
    node->is_excused = true; /* if it lasts, Slurm gives the node up, and so may we */
    if (node->lost_at == MSEC_NEVER)
        node->lost_at = slurm->now;
}

/* Put back what runs there; what is being cleared away there is not waited for. */
static void clear_node(struct fake_slurm *slurm, uint64_t instance)
{
    for (uint32_t i = 0; i < slurm->job_count; i++) {
        struct fake_job *job = &slurm->jobs[i];

        if (job->phase == FAKE_RUNNING && is_on(job, instance))
            fake_slurm_requeue(slurm, job, FAKE_CAUSE_NODE);
    }
}

static void set_state(struct fake_slurm *slurm, struct fake_node *node, enum fake_node_state state)
{
    if (node->state == state)
        return;
    node->state = state;
    node_changed(slurm);
    if (state == FAKE_DOWN)
        clear_node(slurm, node->instance);
}

const char *fake_slurm_set_down(struct fake_slurm *slurm, uint64_t instance)
{
    struct fake_node *node = fake_slurm_node(slurm, instance);

    if (node == NULL)
        return "Invalid node name specified";
    node->is_drained = true;
    node_changed(slurm);
    set_state(slurm, node, FAKE_DOWN);
    return NULL;
}

const char *fake_slurm_drain(struct fake_slurm *slurm, uint64_t instance, bool on)
{
    struct fake_node *node = fake_slurm_node(slurm, instance);

    if (node == NULL)
        return "Invalid node name specified";
    node_changed(slurm); /* at least the reason is another one */
    node->is_drained = on;
    node->is_our_drain = false;
    if (!on && node->state == FAKE_DOWN && node->is_alive)
        set_state(slurm, node, FAKE_JOINING), node->change_due = slurm->now + 1000;
    return NULL;
}

const char *fake_slurm_delete(struct fake_slurm *slurm, uint64_t instance)
{
    struct fake_node *node = fake_slurm_node(slurm, instance);

    if (node == NULL)
        return "Invalid node name specified";
    if (fake_slurm_allocated(slurm, instance, NULL) > 0)
        return "Requested nodes are busy";
    node->is_there = false;
    node_changed(slurm);
    return NULL;
}

void fake_slurm_leave(struct fake_slurm *slurm, msec_t until)
{
    slurm->is_away = true;
    slurm->back_at = until;
}

static void come_back(struct fake_slurm *slurm)
{
    slurm->is_away = false;
    slurm->back_at = MSEC_NEVER;
    for (uint32_t i = 0; i < slurm->node_count; i++) {
        struct fake_node *node = &slurm->nodes[i];

        if (!node->is_there || node->state == FAKE_DOWN)
            continue;
        node->state = FAKE_SILENT; /* all of them, until they have answered */
        if (node->lost_at == MSEC_NEVER || !node->is_alive || node->mute_until > slurm->now)
            node->lost_at = slurm->now;
        node->change_due = slurm->now + 200 + (msec_t)rng_below(&slurm->rng, 4000);
    }
    node_changed(slurm);
    job_changed(slurm);
}

/* When one that does not answer comes to its next state. */
static msec_t fade_due(const struct fake_slurm *slurm, const struct fake_node *node)
{
    if (node->state == FAKE_DOWN)
        return MSEC_NEVER;
    if (node->state == FAKE_SILENT)
        return node->lost_at + (msec_t)slurm->silence_s * MSEC_PER_SEC;
    return node->lost_at + ping_ms;
}

/* What a node that does not answer, or does again, becomes, and when. */
static msec_t node_due(const struct fake_slurm *slurm, const struct fake_node *node)
{
    if (!node->is_there)
        return MSEC_NEVER;
    if (!node->is_alive)
        return fade_due(slurm, node);
    if (node->mute_until > slurm->now) {
        const msec_t next = fade_due(slurm, node);

        return next < node->mute_until ? next : node->mute_until;
    }
    if (node->state == FAKE_UP || (node->state == FAKE_DOWN && node->is_drained))
        return MSEC_NEVER;
    return node->change_due;
}

static void tick_node(struct fake_slurm *slurm, struct fake_node *node)
{
    const bool answers = node->is_alive && node->mute_until <= slurm->now;

    if (answers && node->mute_until != 0) { /* it answers again */
        node->mute_until = 0;
        node->change_due = slurm->now + 1000;
    }
    if (node_due(slurm, node) > slurm->now)
        return;
    if (answers) {
        node->lost_at = MSEC_NEVER;
        node->is_excused = node->is_noticed;
        set_state(slurm, node, FAKE_UP);
        return;
    }
    if (node->state != FAKE_SILENT && node->state != FAKE_DOWN)
        set_state(slurm, node, FAKE_SILENT);
    else if (slurm->now >= node->lost_at + (msec_t)slurm->silence_s * MSEC_PER_SEC)
        set_state(slurm, node, FAKE_DOWN);
}

/* ---- the scheduler ---- */

static bool takes(const struct fake_node *node, const struct fake_job *job)
{
    return node->is_there && node->state == FAKE_UP && !node->is_drained &&
           node->used_cpus + job->cpus <= node->cpus &&
           node->used_mem_mib + job->mem_mib <= node->mem_mib;
}

static bool is_eligible(const struct fake_slurm *slurm, const struct fake_job *job)
{
    return job->phase == FAKE_WAITING && !job->is_completing && !job->is_gated &&
           job->hold == FAKE_FREE && job->depends_on == 0 && job->begin_at <= slurm->now &&
           !job->is_forgotten;
}

static void start_job(struct fake_slurm *slurm, struct fake_job *job, const uint64_t *nodes)
{
    job->phase = FAKE_RUNNING;
    job->nodes_count = job->node_count;
    memcpy(job->nodes, nodes, job->node_count * sizeof(*nodes));
    job->started_at = slurm->now;
    job->end_due = slurm->now + job->runtime;
    job->starts++;
    use(slurm, job, true);
    job_changed(slurm);
    if (slurm->on_start != NULL)
        slurm->on_start(slurm->context, job);
}

static bool has(const uint64_t *nodes, uint32_t count, uint64_t instance)
{
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] == instance)
            return true;
    }
    return false;
}

/* The nodes where it can start now; false: there are not enough. 'kept' are for others. What is required is a set, so
 * a node that is named twice leaves one to be found among the others. */
static bool find_nodes(struct fake_slurm *slurm, const struct fake_job *job, const uint64_t *kept,
                       uint32_t kept_count, uint64_t *ret)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < job->required_count && found < job->node_count; i++) {
        const struct fake_node *node = fake_slurm_node(slurm, job->required[i]);

        if (node == NULL || !takes(node, job))
            return false;
        if (!has(ret, found, job->required[i]))
            ret[found++] = job->required[i];
    }
    for (uint32_t i = 0; i < slurm->node_count && found < job->node_count; i++) {
        const struct fake_node *node = &slurm->nodes[i];

        if (takes(node, job) && !has(kept, kept_count, node->instance) &&
            !has(ret, found, node->instance))
            ret[found++] = node->instance;
    }
    return found == job->node_count;
}

/* Nodes that are kept free for those that are placed there and cannot start yet. */
struct kept {
    uint64_t instance[256];
    uint32_t count;
};

/* Of a record of several, as many as there is room for. */
static void start_several(struct fake_slurm *slurm, uint32_t row, const struct kept *kept)
{
    uint64_t nodes[FAKE_NODES_MAX];

    while (slurm->jobs[row].task_count > 0 && is_eligible(slurm, &slurm->jobs[row]) &&
           find_nodes(slurm, &slurm->jobs[row], kept->instance, kept->count, nodes)) {
        struct fake_job *job = &slurm->jobs[row];

        start_job(slurm, split(slurm, job, job->tasks[0]), nodes);
    }
}

static void try_to_start(struct fake_slurm *slurm, uint32_t row, struct kept *kept)
{
    struct fake_job *job = &slurm->jobs[row];
    const bool is_placed = job->priority == placed_priority;
    uint64_t nodes[FAKE_NODES_MAX];

    if (job->task_count > 0) {
        start_several(slurm, row, kept);
        return;
    }
    if (find_nodes(slurm, job, kept->instance, is_placed ? 0 : kept->count, nodes)) {
        start_job(slurm, job, nodes);
        return;
    }
    for (uint32_t k = 0; k < job->required_count && kept->count < 256; k++)
        kept->instance[kept->count++] = job->required[k];
}

/* Highest priority first, then the oldest. */
static void schedule(struct fake_slurm *slurm)
{
    struct kept kept = { .count = 0 };

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < slurm->job_count; i++) {
            const bool is_placed = slurm->jobs[i].priority == placed_priority;

            if (is_placed == (pass == 0) && is_eligible(slurm, &slurm->jobs[i]))
                try_to_start(slurm, i, &kept);
        }
    }
}

/* Of what the plugin holds Slurm does not watch the dependencies. */
static void watch_dependencies(struct fake_slurm *slurm)
{
    for (uint32_t i = 0; i < slurm->job_count; i++) {
        struct fake_job *job = &slurm->jobs[i];

        if (job->depends_on == 0 || job->phase != FAKE_WAITING || job->hold == FAKE_BY_PLUGIN)
            continue;
        bool is_over = true;

        for (uint32_t k = 0; k < slurm->job_count && is_over; k++) {
            const struct fake_job *other = &slurm->jobs[k];

            if (other->id == job->depends_on || other->array == job->depends_on)
                is_over = other->phase == FAKE_ENDED;
        }
        if (is_over) {
            job->depends_on = 0;
            job_changed(slurm);
        }
    }
}

static void tick_job(struct fake_slurm *slurm, struct fake_job *job)
{
    if (job->phase == FAKE_RUNNING && job->end_due <= slurm->now) {
        if (is_reachable(slurm, job))
            finish(slurm, job, FAKE_COMPLETED);
        else
            job->end_due = slurm->now + 500; /* nobody can say that it has ended */
    }
    if (job->is_completing && job->clear_due <= slurm->now) {
        if (is_reachable(slurm, job))
            end_clearing(slurm, job);
        else
            job->clear_due = slurm->now + 500;
    }
    if (job->phase == FAKE_ENDED && !job->is_completing && !job->is_forgotten &&
        job->ended_at + FAKE_FORGET_MS <= slurm->now) {
        job->is_forgotten = true;
        slurm->jobs_version++;
    }
}

msec_t fake_slurm_next_wake(const struct fake_slurm *slurm)
{
    msec_t wake = slurm->is_away ? slurm->back_at : slurm->schedule_at;

    if (slurm->is_away)
        return wake;
    for (uint32_t i = 0; i < slurm->job_count; i++) {
        const struct fake_job *job = &slurm->jobs[i];

        if (job->phase == FAKE_RUNNING && job->end_due < wake)
            wake = job->end_due;
        if (job->is_completing && job->clear_due < wake)
            wake = job->clear_due;
    }
    for (uint32_t i = 0; i < slurm->node_count; i++) {
        const msec_t due = node_due(slurm, &slurm->nodes[i]);

        if (due < wake)
            wake = due;
    }
    return wake;
}

void fake_slurm_tick(struct fake_slurm *slurm, msec_t now)
{
    slurm->now = now;
    if (slurm->is_away && slurm->back_at <= now)
        come_back(slurm);
    if (slurm->is_away)
        return;
    for (uint32_t i = 0; i < slurm->node_count; i++) {
        if (slurm->nodes[i].is_there)
            tick_node(slurm, &slurm->nodes[i]);
    }
    for (uint32_t i = 0; i < slurm->job_count; i++)
        tick_job(slurm, &slurm->jobs[i]);
    if (slurm->schedule_at > now)
        return;
    slurm->schedule_at = now + schedule_ms;
    watch_dependencies(slurm);
    schedule(slurm);
}
