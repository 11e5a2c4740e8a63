/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sense.h"

#include <assert.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/apart.h"
#include "model/price.h"
#include "model/shape.h"

enum step {
    NOWHERE,
    ASKED,  /* to start on its machine */
    RUNS,   /* there */
    LEAVES, /* was asked to */
};

struct fact_task {
    uint64_t id;
    uint64_t run_key;  /* of the place, and of events of that run */
    uint64_t ask_key;  /* of the last order */
    uint64_t left_key; /* of the run before */
    msec_t since;      /* the last order, or its end */
    uint32_t job;
    uint32_t shape;
    uint32_t machine; /* ROW_NONE: it is on none */
    uint32_t next;    /* on that machine; of a free row: the next one */
    uint32_t prev;
    uint32_t list;        /* the engine's last list with it */
    uint32_t recalled_by; /* the last order to leave at this moment, counted from 1 */
    enum step step;
};

struct fact_job {
    uint64_t id;
    uint64_t first_task;
    uint32_t had;  /* tasks in all */
    uint32_t left; /* living tasks; of a free row: the next one */
    uint32_t apart;
    uint32_t list;
    enum market_rule market; /* at any time; else _ANY */
    bool is_used;
    bool is_fixed;
};

struct fact_machine {
    uint64_t id;
    struct res capacity;
    uint32_t offer;
    uint32_t first; /* task; of a free row: the next one */
    uint32_t list;  /* the cloud's last list with it */
    uint32_t ready; /* the engine's last one */
    bool is_used;
    bool is_ours;    /* somebody here asked for it */
    bool counts;     /* against the limits */
    bool is_running; /* the cloud said so */
    bool is_noticed; /* the cloud takes it */
    bool is_returned;
    bool is_lost; /* the engine has given its node up */
};

struct sense {
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    struct sense_limits limits;
    struct fact_task *tasks;
    struct fact_job *jobs;
    struct fact_machine *machines;
    uint32_t task_rows, tasks_room, free_task;
    uint32_t job_rows, jobs_room, free_job;
    uint32_t machine_rows, machines_room, free_machine;
    struct map task_by_id;
    struct map job_by_id;
    struct map machine_by_id;
    uint64_t engine_list; /* its key, while it is under way */
    uint64_t cloud_list;
    uint32_t engine_lists; /* so far */
    uint32_t cloud_lists;
};

struct sense *sense_create(const struct catalogue *catalogue, const struct shapes *shapes)
{
    struct sense *sense = mem_alloc(1, sizeof(*sense));

    sense->catalogue = catalogue;
    sense->shapes = shapes;
    sense->free_task = ROW_NONE;
    sense->free_job = ROW_NONE;
    sense->free_machine = ROW_NONE;
    map_init(&sense->task_by_id);
    map_init(&sense->job_by_id);
    map_init(&sense->machine_by_id);
    return sense;
}

void sense_destroy(struct sense *sense)
{
    if (sense == NULL)
        return;
    map_done(&sense->task_by_id);
    map_done(&sense->job_by_id);
    map_done(&sense->machine_by_id);
    mem_free(sense->tasks);
    mem_free(sense->jobs);
    mem_free(sense->machines);
    mem_free(sense);
}

void sense_limit(struct sense *sense, const struct sense_limits *limits)
{
    sense->limits = *limits;
}

const char *sense_text(enum sense_verdict verdict)
{
    static const char *const texts[SENSES] = {
        [SENSE_GOOD] = "it makes sense",
        [SENSE_NO_TASK] = "no job has this task",
        [SENSE_NO_MACHINE] = "the machine does not exist",
        [SENSE_FORBIDDEN] = "the job may not run on this machine",
        [SENSE_NO_ROOM] = "the machine has no room for it",
        [SENSE_TOGETHER] = "a task that it must be apart from is on the machine",
        [SENSE_FIXED] = "the job runs and must not be stopped",
        [SENSE_IN_USE] = "a job is on the machine",
        [SENSE_NO_OFFER] = "no cloud has this offer",
        [SENSE_TWICE] = "the machine was rented before",
        [SENSE_HELD] = "nothing may be rented now",
        [SENSE_INSTANCES] = "it is above the limit of machines",
        [SENSE_PRICE] = "it is above the limit of dollars per hour",
    };

    return texts[verdict];
}

/*
 * Tables.
 */

static void put_on(struct sense *sense, uint32_t task, uint32_t machine)
{
    struct fact_task *fact = &sense->tasks[task];
    const uint32_t first = sense->machines[machine].first;

    fact->machine = machine;
    fact->prev = ROW_NONE;
    fact->next = first;
    if (first != ROW_NONE)
        sense->tasks[first].prev = task;
    sense->machines[machine].first = task;
}

static void take_off(struct sense *sense, uint32_t task)
{
    struct fact_task *fact = &sense->tasks[task];

    fact->step = NOWHERE;
    if (fact->machine == ROW_NONE)
        return;
    if (fact->prev != ROW_NONE)
        sense->tasks[fact->prev].next = fact->next;
    else
        sense->machines[fact->machine].first = fact->next;
    if (fact->next != ROW_NONE)
        sense->tasks[fact->next].prev = fact->prev;
    fact->machine = ROW_NONE;
}

/* Its run is over, or was never begun. */
static void leave(struct sense *sense, uint32_t task, msec_t at)
{
    struct fact_task *fact = &sense->tasks[task];

    take_off(sense, task);
    fact->left_key = fact->run_key;
    fact->run_key = 0;
    if (at > fact->since)
        fact->since = at;
}

static void clear_machine(struct sense *sense, uint32_t machine, msec_t at)
{
    while (sense->machines[machine].first != ROW_NONE)
        leave(sense, sense->machines[machine].first, at);
}

static uint32_t new_task(struct sense *sense)
{
    const uint32_t row = sense->free_task;

    if (row != ROW_NONE) {
        sense->free_task = sense->tasks[row].next;
        return row;
    }
    MEM_ROOM(sense->tasks, sense->tasks_room, sense->task_rows + 1);
    return sense->task_rows++;
}

static void add_task(struct sense *sense, uint32_t job, uint64_t id, uint32_t shape)
{
    if (map_get(&sense->task_by_id, id) != MAP_NONE)
        return;

    const uint32_t row = new_task(sense);

    sense->tasks[row] = (struct fact_task){
        .id = id,
        .job = job,
        .shape = shape,
        .machine = ROW_NONE,
        .since = -1,
    };
    map_put(&sense->task_by_id, id, row);
    sense->jobs[job].left++;
}

static void drop_task(struct sense *sense, uint32_t task)
{
    struct fact_task *fact = &sense->tasks[task];
    struct fact_job *job = &sense->jobs[fact->job];

    take_off(sense, task);
    (void)map_remove(&sense->task_by_id, fact->id);
    *fact = (struct fact_task){ .next = sense->free_task };
    sense->free_task = task;
    if (--job->left > 0)
        return;
    (void)map_remove(&sense->job_by_id, job->id);
    job->is_used = false;
    job->left = sense->free_job;
    sense->free_job = (uint32_t)(job - sense->jobs);
}

static void drop_job(struct sense *sense, uint32_t job)
{
    const struct fact_job fact = sense->jobs[job];

    for (uint32_t i = 0; i < fact.had; i++) {
        const uint32_t task = map_get(&sense->task_by_id, fact.first_task + i);

        if (task != MAP_NONE && sense->tasks[task].job == job)
            drop_task(sense, task);
    }
}

static uint32_t add_machine(struct sense *sense, uint64_t id, uint32_t offer)
{
    uint32_t row = sense->free_machine;

    if (row != ROW_NONE) {
        sense->free_machine = sense->machines[row].first;
    } else {
        MEM_ROOM(sense->machines, sense->machines_room, sense->machine_rows + 1);
        row = sense->machine_rows++;
    }
    sense->machines[row] = (struct fact_machine){
        .id = id,
        .offer = offer,
        .first = ROW_NONE,
        .is_used = true,
        .counts = true,
        .list = sense->cloud_lists,
    };
    if (offer < sense->catalogue->offer_count)
        sense->machines[row].capacity = catalogue_type_of(sense->catalogue, offer)->capacity;
    map_put(&sense->machine_by_id, id, row);
    return row;
}

static void drop_machine(struct sense *sense, uint32_t machine, msec_t at)
{
    clear_machine(sense, machine, at);
    (void)map_remove(&sense->machine_by_id, sense->machines[machine].id);
    sense->machines[machine] = (struct fact_machine){ .first = sense->free_machine };
    sense->free_machine = machine;
}

void sense_know(struct sense *sense, uint64_t instance, uint32_t offer)
{
    if (map_get(&sense->machine_by_id, instance) != MAP_NONE)
        return;

    const uint32_t row = add_machine(sense, instance, offer);

    sense->machines[row].is_ours = true;
}

void sense_never(struct sense *sense, uint64_t instance)
{
    const uint32_t machine = map_get(&sense->machine_by_id, instance);

    if (machine != MAP_NONE)
        drop_machine(sense, machine, -1);
}

/*
 * What the engine says.
 */

static uint32_t apart_of(const struct job_spec *spec, uint32_t job)
{
    if (spec->keeps != 0)
        return spec->keeps;
    if (spec->apart != 0)
        return apart_group(spec->apart);
    return spec->spread ? job : APART_NONE;
}

static enum market_rule market_of(const struct job_rules *rules)
{
    const bool is_for_ever =
        rules->market != MARKET_RULE_SPOT || (rules->spot_for_ms == 0 && rules->deadline == 0);

    return is_for_ever ? rules->market : MARKET_RULE_ANY;
}

static uint32_t new_job(struct sense *sense, uint64_t id)
{
    uint32_t row = sense->free_job;

    if (row != ROW_NONE) {
        sense->free_job = sense->jobs[row].left;
    } else {
        MEM_ROOM(sense->jobs, sense->jobs_room, sense->job_rows + 1);
        row = sense->job_rows++;
    }
    sense->jobs[row] = (struct fact_job){ .id = id, .is_used = true };
    map_put(&sense->job_by_id, id, row);
    return row;
}

/* The shape of its task of this number. */
static uint32_t shape_of(const struct job_spec *spec, uint32_t number)
{
    for (uint32_t i = 0; i < spec->part_count; i++) {
        if (number < spec->parts[i].task_count)
            return spec->parts[i].shape;
        number -= spec->parts[i].task_count;
    }
    return spec->shape;
}

static void heard_job(struct sense *sense, const struct job_spec *spec)
{
    uint32_t row = map_get(&sense->job_by_id, spec->id);
    const bool is_new = row == MAP_NONE;

    if (spec->task_count == 0)
        return;
    if (is_new)
        row = new_job(sense, spec->id);

    struct fact_job *job = &sense->jobs[row];

    job->list = sense->engine_lists;
    if (!is_new)
        return;
    job->first_task = spec->first_task_id;
    job->had = spec->task_count;
    job->apart = apart_of(spec, row);
    job->market = market_of(&spec->rules);
    job->is_fixed = spec->fixed && !spec->yields;
    for (uint32_t i = 0; i < spec->task_count; i++)
        add_task(sense, row, spec->first_task_id + i, shape_of(spec, i));
}

static void heard_changed(struct sense *sense, const struct engine_event *event)
{
    const struct job_spec *spec = &event->job;
    const uint32_t row = map_get(&sense->job_by_id, spec->id);

    if (row == MAP_NONE)
        return;

    struct fact_job *job = &sense->jobs[row];

    job->list = sense->engine_lists;
    if ((event->changes & CHANGE_APART) != 0)
        job->apart = apart_of(spec, row);
    if ((event->changes & CHANGE_TASKS) == 0 || spec->task_count <= job->had)
        return;

    uint32_t like = ROW_NONE;

    for (uint32_t i = 0; like == ROW_NONE && i < job->had; i++)
        like = map_get(&sense->task_by_id, job->first_task + i);
    while (like != MAP_NONE && job->had < spec->task_count)
        add_task(sense, row, job->first_task + job->had++, sense->tasks[like].shape);
}

static void heard_node(struct sense *sense, const struct engine_event *event)
{
    const uint32_t row = map_get(&sense->machine_by_id, event->instance);

    if (row == MAP_NONE)
        return;

    struct fact_machine *machine = &sense->machines[row];

    if (event->kind == ENGINE_NODE_READY)
        machine->ready = sense->engine_lists;
    machine->is_lost = event->kind == ENGINE_NODE_LOST && !event->runs_on;
    if (machine->is_lost)
        clear_machine(sense, row, event->at);
    if (event->kind == ENGINE_NODE_LOST || !event->has_capacity)
        return;

    const struct res *type = machine->offer < sense->catalogue->offer_count
                                 ? &catalogue_type_of(sense->catalogue, machine->offer)->capacity
                                 : &machine->capacity;

    for (int kind = 0; kind < RES_KINDS; kind++)
        machine->capacity.amount[kind] = event->capacity.amount[kind] == ENGINE_AS_TYPE
                                             ? type->amount[kind]
                                             : event->capacity.amount[kind];
}

static void heard_found(struct sense *sense, struct fact_task *task,
                        const struct engine_event *event)
{
    const uint32_t machine = map_get(&sense->machine_by_id, event->instance);
    const uint32_t row = (uint32_t)(task - sense->tasks);

    sense->jobs[task->job].list = sense->engine_lists;
    if (machine == MAP_NONE || event->at < task->since ||
        (event->at == task->since && event->key == task->left_key))
        return;
    take_off(sense, row);
    put_on(sense, row, machine);
    sense->machines[machine].is_lost = false;
    task->step = RUNS;
    task->run_key = event->key;
}

static void heard_task(struct sense *sense, const struct engine_event *event)
{
    const uint32_t row = map_get(&sense->task_by_id, event->task);

    if (row == MAP_NONE)
        return;

    struct fact_task *task = &sense->tasks[row];

    task->list = sense->engine_lists;
    switch (event->kind) {
    case ENGINE_TASK_STARTED:
        if (task->step == ASKED && event->key == task->run_key)
            task->step = RUNS;
        break;
    case ENGINE_TASK_FOUND:
        heard_found(sense, task, event);
        break;
    case ENGINE_TASK_STOPPED:
        if (event->key == task->ask_key)
            leave(sense, row, event->at);
        break;
    case ENGINE_TASK_KEPT:
        if (event->key == task->ask_key && task->step == LEAVES)
            task->step = RUNS;
        break;
    case ENGINE_TASK_LOST:
        if (event->key == task->run_key)
            leave(sense, row, event->at);
        break;
    case ENGINE_TASK_FINISHED:
    case ENGINE_TASK_WITHDRAWN:
        drop_task(sense, row);
        break;
    case ENGINE_JOB_ARRIVED:
    case ENGINE_JOB_CHANGED:
    case ENGINE_JOB_WITHDRAWN:
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_RATE:
    case ENGINE_LISTED:
        break;
    }
}

static bool runs_something(const struct sense *sense, const struct fact_machine *machine)
{
    for (uint32_t task = machine->first; task != ROW_NONE; task = sense->tasks[task].next)
        if (sense->tasks[task].step != ASKED)
            return true;
    return false;
}

/* The end of a list: everything else is over. */
static void heard_engine_listed(struct sense *sense, const struct engine_event *event)
{
    if (sense->engine_list == 0 || event->key != sense->engine_list)
        return;
    sense->engine_list = 0;
    for (uint32_t job = 0; job < sense->job_rows; job++) {
        if (sense->jobs[job].is_used && sense->jobs[job].list < sense->engine_lists)
            drop_job(sense, job);
    }
    for (uint32_t task = 0; task < sense->task_rows; task++) {
        if (sense->tasks[task].step != NOWHERE && sense->tasks[task].list < sense->engine_lists)
            leave(sense, task, sense->tasks[task].since);
    }
    for (uint32_t row = 0; row < sense->machine_rows; row++) {
        struct fact_machine *machine = &sense->machines[row];

        if (machine->is_used && machine->ready < sense->engine_lists &&
            !runs_something(sense, machine))
            machine->is_lost = true;
    }
}

void sense_heard_engine(struct sense *sense, const struct engine_event *event)
{
    uint32_t job;

    switch (event->kind) {
    case ENGINE_JOB_ARRIVED:
        heard_job(sense, &event->job);
        break;
    case ENGINE_JOB_CHANGED:
        heard_changed(sense, event);
        break;
    case ENGINE_JOB_WITHDRAWN:
        job = map_get(&sense->job_by_id, event->job.id);
        if (job != MAP_NONE)
            drop_job(sense, job);
        break;
    case ENGINE_NODE_READY:
    case ENGINE_NODE_LOST:
        heard_node(sense, event);
        break;
    case ENGINE_LISTED:
        heard_engine_listed(sense, event);
        break;
    case ENGINE_NODE_LEFT:
    case ENGINE_TASK_RATE:
        break;
    case ENGINE_TASK_STARTED:
    case ENGINE_TASK_FOUND:
    case ENGINE_TASK_STOPPED:
    case ENGINE_TASK_LOST:
    case ENGINE_TASK_FINISHED:
    case ENGINE_TASK_KEPT:
    case ENGINE_TASK_WITHDRAWN:
        heard_task(sense, event);
        break;
    }
}

/*
 * What the cloud says.
 */

/* The machines of another process count as long as lists name them. */
static void heard_cloud_listed(struct sense *sense, uint64_t key)
{
    if (sense->cloud_list == 0 || key != sense->cloud_list)
        return;
    sense->cloud_list = 0;
    for (uint32_t row = 0; row < sense->machine_rows; row++) {
        struct fact_machine *machine = &sense->machines[row];

        if (machine->is_used && !machine->is_ours && machine->list < sense->cloud_lists)
            machine->counts = false;
    }
}

void sense_heard_cloud(struct sense *sense, const struct cloud_event *event)
{
    uint32_t row = map_get(&sense->machine_by_id, event->instance);

    if (event->kind == CLOUD_LISTED) {
        heard_cloud_listed(sense, event->key);
        return;
    }
    if (event->kind == CLOUD_FOUND && row == MAP_NONE && sense->cloud_list != 0)
        row = add_machine(sense, event->instance, event->offer);
    if (row == MAP_NONE)
        return;

    struct fact_machine *machine = &sense->machines[row];

    switch (event->kind) {
    case CLOUD_RUNNING:
        machine->is_running = true;
        break;
    case CLOUD_FOUND:
        machine->list = sense->cloud_lists;
        machine->counts = true;
        machine->is_running = machine->is_running || event->billed_from >= 0;
        break;
    case CLOUD_REFUSED:
        if (!machine->is_running)
            drop_machine(sense, row, event->at);
        break;
    case CLOUD_NOTICE:
        machine->is_noticed = true;
        break;
    case CLOUD_GONE:
        drop_machine(sense, row, event->at);
        break;
    case CLOUD_LISTED:
    case CLOUD_OUTDATED:
        break;
    }
}

/*
 * Orders.
 */

static bool is_recall(const struct gate_act *act)
{
    return act->kind == GATE_CANCEL || act->kind == GATE_STOP;
}

static void mark_recalls(struct sense *sense, const struct gate_act *acts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t task =
            is_recall(&acts[i]) ? map_get(&sense->task_by_id, acts[i].task) : MAP_NONE;

        if (task != MAP_NONE)
            sense->tasks[task].recalled_by = i + 1;
    }
}

static void unmark_recall(struct sense *sense, const struct gate_act *act, uint32_t number)
{
    const uint32_t task = is_recall(act) ? map_get(&sense->task_by_id, act->task) : MAP_NONE;

    if (task != MAP_NONE && sense->tasks[task].recalled_by == number + 1)
        sense->tasks[task].recalled_by = 0;
}

/* Whether the task is certain to be there when another one starts. */
static bool stays(const struct sense *sense, const struct fact_task *task, uint32_t number)
{
    if (task->step == LEAVES || task->recalled_by > number)
        return false;
    return task->step == ASKED || sense->jobs[task->job].is_fixed;
}

/* The part of the machine for a task of the shape; NULL: the machine is forbidden. */
static const struct res *taken_of(const struct sense *sense, uint32_t shape,
                                  const struct fact_machine *machine)
{
    if (sense->shapes->rows[shape].variant_count > 0)
        shape = shape_variant_at(sense->shapes, shape, machine->offer, false);
    return shape == SHAPE_NONE ? NULL
                               : shape_taken(sense->shapes, shape, sense->catalogue, machine->offer,
                                             &machine->capacity);
}

static bool is_market_good(const struct sense *sense, enum market_rule rule, uint32_t offer)
{
    const bool is_spot = sense->catalogue->offers[offer].market == MARKET_SPOT;

    return rule == MARKET_RULE_ANY || (rule == MARKET_RULE_SPOT) == is_spot;
}

static enum sense_verdict judge_place(const struct sense *sense, const struct gate_act *act,
                                      uint32_t number)
{
    const uint32_t row = map_get(&sense->task_by_id, act->task);
    const uint32_t at = map_get(&sense->machine_by_id, act->instance);

    if (row == MAP_NONE)
        return SENSE_NO_TASK;
    if (at == MAP_NONE || sense->machines[at].is_returned)
        return SENSE_NO_MACHINE;

    const struct fact_machine *machine = &sense->machines[at];
    const struct fact_job *job = &sense->jobs[sense->tasks[row].job];
    struct res left = machine->capacity;
    const struct res *taken = NULL;

    if (machine->offer >= sense->catalogue->offer_count)
        return SENSE_GOOD;
    taken = taken_of(sense, sense->tasks[row].shape, machine);
    if (taken == NULL || !is_market_good(sense, job->market, machine->offer))
        return SENSE_FORBIDDEN;
    res_sub(&left, taken);
    for (uint32_t other = machine->first; other != ROW_NONE; other = sense->tasks[other].next) {
        const struct fact_task *there = &sense->tasks[other];

        if (other == row || !stays(sense, there, number))
            continue;
        if (aparts_meet(&sense->shapes->aparts, job->apart, sense->jobs[there->job].apart))
            return SENSE_TOGETHER;
        taken = taken_of(sense, there->shape, machine);
        if (taken != NULL)
            res_sub(&left, taken);
    }
    return res_fits(&(struct res){ { 0 } }, &left) ? SENSE_GOOD : SENSE_NO_ROOM;
}

static enum sense_verdict judge_rent(const struct sense *sense, const struct gate_act *act,
                                     msec_t now)
{
    const struct catalogue *catalogue = sense->catalogue;
    uint64_t count = act->count;
    money_t price = 0;

    if (act->offer >= catalogue->offer_count || catalogue->offers[act->offer].is_owned ||
        catalogue->offers[act->offer].is_former)
        return SENSE_NO_OFFER;
    for (uint32_t i = 0; i < act->count; i++) {
        if (map_get(&sense->machine_by_id, act->instance + i) != MAP_NONE)
            return SENSE_TWICE;
    }
    if (sense->limits.rents_nothing)
        return SENSE_HELD;
    if (sense->limits.instances == 0 && sense->limits.price_per_hour == 0)
        return SENSE_GOOD;
    for (uint32_t row = 0; row < sense->machine_rows; row++) {
        const struct fact_machine *machine = &sense->machines[row];

        if (!machine->is_used || !machine->counts || machine->id >= OWNED_ID_FIRST)
            continue;
        count++;
        if (machine->offer < catalogue->offer_count)
            price += price_at(&catalogue->offers[machine->offer].price, now);
    }
    price += (money_t)act->count * price_at(&catalogue->offers[act->offer].price, now);
    if (sense->limits.instances > 0 && count > sense->limits.instances)
        return SENSE_INSTANCES;
    if (sense->limits.price_per_hour > 0 && price > sense->limits.price_per_hour)
        return SENSE_PRICE;
    return SENSE_GOOD;
}

/* The end of a machine. */
static enum sense_verdict judge_end(const struct sense *sense, uint64_t instance)
{
    const uint32_t row = map_get(&sense->machine_by_id, instance);

    if (row == MAP_NONE)
        return SENSE_GOOD;

    const struct fact_machine *machine = &sense->machines[row];
    const bool is_over = machine->is_noticed || machine->is_returned || machine->is_lost;

    return is_over || machine->first == ROW_NONE ? SENSE_GOOD : SENSE_IN_USE;
}

static enum sense_verdict judge_stop(const struct sense *sense, uint64_t id)
{
    const uint32_t row = map_get(&sense->task_by_id, id);

    if (row == MAP_NONE || sense->tasks[row].step != RUNS)
        return SENSE_GOOD;
    return sense->jobs[sense->tasks[row].job].is_fixed ? SENSE_FIXED : SENSE_GOOD;
}

static enum sense_verdict judge(const struct sense *sense, const struct gate_act *act,
                                uint32_t number, msec_t now)
{
    switch (act->kind) {
    case GATE_PLACE:
        return judge_place(sense, act, number);
    case GATE_QUEUE:
        return map_get(&sense->task_by_id, act->task) == MAP_NONE ? SENSE_NO_TASK : SENSE_GOOD;
    case GATE_STOP:
        return judge_stop(sense, act->task);
    case GATE_RENT:
        return judge_rent(sense, act, now);
    case GATE_FORGET:
    case GATE_GIVE_BACK:
        return judge_end(sense, act->instance);
    case GATE_ADMIT:
    case GATE_RETIRE:
    case GATE_CANCEL:
    case GATE_LIST_ENGINE:
    case GATE_LIST_CLOUD:
        break;
    }
    return SENSE_GOOD;
}

static void note_task(struct sense *sense, const struct gate_act *act, msec_t now)
{
    const uint32_t row = map_get(&sense->task_by_id, act->task);

    if (row == MAP_NONE)
        return;

    struct fact_task *task = &sense->tasks[row];

    task->ask_key = act->key;
    task->list = sense->engine_lists;
    if (now > task->since)
        task->since = now;
    if (is_recall(act)) {
        if (task->step != NOWHERE)
            task->step = LEAVES;
        return;
    }
    take_off(sense, row);
    task->run_key = act->key;
    if (act->kind != GATE_PLACE)
        return;
    put_on(sense, row, map_get(&sense->machine_by_id, act->instance));
    task->step = ASKED;
}

/* A good order counts as done. */
static void note(struct sense *sense, const struct gate_act *act, msec_t now)
{
    const uint32_t machine = map_get(&sense->machine_by_id, act->instance);

    switch (act->kind) {
    case GATE_PLACE:
    case GATE_QUEUE:
    case GATE_CANCEL:
    case GATE_STOP:
        note_task(sense, act, now);
        break;
    case GATE_RENT:
        for (uint32_t i = 0; i < act->count; i++)
            sense_know(sense, act->instance + i, act->offer);
        break;
    case GATE_GIVE_BACK:
        if (machine != MAP_NONE)
            sense->machines[machine].is_returned = true;
        break;
    case GATE_FORGET:
        if (machine != MAP_NONE)
            drop_machine(sense, machine, now);
        break;
    case GATE_LIST_ENGINE:
        sense->engine_list = act->key;
        sense->engine_lists++;
        break;
    case GATE_LIST_CLOUD:
        sense->cloud_list = act->key;
        sense->cloud_lists++;
        break;
    case GATE_ADMIT:
    case GATE_RETIRE:
        break;
    }
}

uint32_t sense_sift(struct sense *sense, struct gate_act *acts, uint32_t count, msec_t now,
                    void (*refuse)(void *context, const struct gate_act *act,
                                   enum sense_verdict why, msec_t now),
                    void *context)
{
    uint32_t kept = 0;

    mark_recalls(sense, acts, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct gate_act act = acts[i];
        const enum sense_verdict verdict = judge(sense, &act, i, now);

        unmark_recall(sense, &act, i);
        if (verdict == SENSE_GOOD) {
            note(sense, &act, now);
            acts[kept++] = act;
        } else {
            refuse(context, &act, verdict, now);
        }
    }
    return kept;
}
