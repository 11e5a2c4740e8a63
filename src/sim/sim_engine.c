/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated engine. The life of a task on a machine:
 *
 *   queued (no room yet) -> launching (fetch, build) -> init -> running -> complete
 *                                any of these, asked to stop -> halting -> saving -> away
 *
 * It holds its room from launching to the end of saving, and disturbs its neighbours from init until
 * it halts. What it did since the last save, by a stop or by itself, is lost with its machine; a stop of one that is
 * fixed saves nothing.
 */
#include <assert.h>

#include "base/mem.h"
#include "sim/world.h"

static const struct res *demand_of(const struct world *world, uint32_t task,
                                   const struct world_machine *machine)
{
    return shape_demand_at(&world->config->trace->shapes, world_job(world, task)->shape,
                           world->config->catalogue, machine->offer);
}

static void tell_task(struct world *world, enum engine_event_kind kind, uint32_t task, uint64_t key)
{
    const struct engine_event event = {
        .kind = kind,
        .at = world->now,
        .task = task,
        .key = key,
    };

    sim_news_engine(world, &event);
}

static struct engine_event found_event(const struct world *world, uint32_t task)
{
    const struct world_task *of = &world->tasks[task];

    return (struct engine_event){
        .kind = ENGINE_TASK_FOUND,
        .at = world->now,
        .task = task,
        .instance = world->machines[of->machine].id,
        .key = of->place_key,
        .started_at = of->started_at,
    };
}

/* What happens next to the task; whatever was expected before is void. */
static void next_phase(struct world *world, uint32_t task, enum task_phase phase, msec_t after,
                       enum world_event kind)
{
    struct world_task *of = &world->tasks[task];

    of->phase = (uint8_t)phase;
    of->epoch++;
    world_at(world, world->now + after, kind, task, of->epoch);
}

/*
 * Machines join and leave.
 */

static void admit(void *self, uint64_t id)
{
    struct world *world = self;
    const uint32_t row = map_get(&world->machine_by_id, id);

    if (row != MAP_NONE)
        world->machines[row].is_retired = false; /* by an earlier controller */
    if (row == MAP_NONE || world->machines[row].state != MACHINE_BOOTING ||
        world->now < world->config->faults.dud_until_ms)
        return;

    const struct machine_type *type =
        catalogue_type_of(world->config->catalogue, world->machines[row].offer);

    world_at(world, world->now + type->setup_ms, WORLD_MACHINE_READY, row,
             world->machines[row].epoch);
}

/* Nothing new starts there; reported when nothing is there any more. */
static void tell_left(struct world *world, uint64_t id)
{
    timeline_add(&world->timeline,
                 (struct timeline_event){ .at = world->now, .kind = WORLD_MACHINE_LEFT, .id = id });
}

static void retire(void *self, uint64_t id)
{
    struct world *world = self;
    const uint32_t row = map_get(&world->machine_by_id, id);

    if (row != MAP_NONE)
        world->machines[row].is_retired = true;
    if (row == MAP_NONE || world->machines[row].first == WORLD_NONE)
        tell_left(world, id);
}

static void forget(void *self, uint64_t id)
{
    (void)self;
    (void)id; /* it went with its machine */
}

static bool takes_work(const struct world_machine *machine)
{
    return machine->state == MACHINE_READY && !machine->is_retired;
}

static void has_left(struct world *world, uint64_t id)
{
    const uint32_t row = map_get(&world->machine_by_id, id);
    const struct engine_event event = {
        .kind = ENGINE_NODE_LEFT,
        .at = world->now,
        .instance = id,
    };

    if (row == MAP_NONE || world->machines[row].first == WORLD_NONE)
        sim_news_engine(world, &event);
}

static void machine_ready(struct world *world, uint32_t row)
{
    const struct engine_event event = {
        .kind = ENGINE_NODE_READY,
        .at = world->now,
        .instance = world->machines[row].id,
    };

    if (world->machines[row].state != MACHINE_BOOTING)
        return;
    world->machines[row].state = MACHINE_READY;
    sim_news_engine(world, &event);
    sim_engine_serve(world);
}

/*
 * Launching.
 */

static bool was_built(const struct world_machine *machine, uint32_t workload)
{
    for (uint32_t i = 0; i < machine->built_count; i++) {
        if (machine->built[i] == workload)
            return true;
    }
    return false;
}

static bool has_room(const struct world *world, uint32_t task, const struct world_machine *machine)
{
    const struct res *capacity =
        &catalogue_type_of(world->config->catalogue, machine->offer)->capacity;
    struct res used = machine->used;

    res_add(&used, demand_of(world, task, machine));
    return res_fits(&used, capacity);
}

static void launch(struct world *world, uint32_t task)
{
    struct world_machine *machine = &world->machines[world->tasks[task].machine];
    const struct shape *shape = world_shape(world, task);
    msec_t needs = shape->delays.fetch_ms;

    assert(has_room(world, task, machine));
    world->doomed_starts += machine->is_warned;
    res_add(&machine->used, demand_of(world, task, machine));
    if (!was_built(machine, shape->workload))
        needs += shape->delays.build_ms;
    next_phase(world, task, PHASE_LAUNCHING, needs, WORLD_TASK_LAUNCHED);
}

/* Room has become free: whoever fits now, in the order in which they came. */
static void serve_queue(struct world *world, uint32_t row)
{
    struct world_machine *machine = &world->machines[row];

    for (uint32_t task = machine->first; machine->queued > 0 && task != WORLD_NONE;
         task = world->tasks[task].next) {
        if (world->tasks[task].phase != PHASE_QUEUED || !has_room(world, task, machine))
            continue;
        machine->queued--;
        launch(world, task);
    }
}

static void come(struct world *world, uint32_t task, uint32_t row)
{
    struct world_task *of = &world->tasks[task];
    struct world_machine *machine = &world->machines[row];

    of->machine = row;
    of->next = WORLD_NONE;
    of->prev = machine->last;
    if (machine->last != WORLD_NONE)
        world->tasks[machine->last].next = task;
    else
        machine->first = task;
    machine->last = task;
}

static void leave(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];
    struct world_machine *machine = &world->machines[of->machine];

    if (of->prev != WORLD_NONE)
        world->tasks[of->prev].next = of->next;
    else
        machine->first = of->next;
    if (of->next != WORLD_NONE)
        world->tasks[of->next].prev = of->prev;
    else
        machine->last = of->prev;
    of->machine = WORLD_NONE;
    if (machine->is_retired && machine->first == WORLD_NONE)
        tell_left(world, machine->id);
}

static void free_room(struct world *world, uint32_t task)
{
    const uint32_t row = world->tasks[task].machine;
    struct world_machine *machine = &world->machines[row];

    res_sub(&machine->used, demand_of(world, task, machine));
    leave(world, task);
    serve_queue(world, row);
    if (world->queue_count > 0)
        timeline_add(&world->timeline,
                     (struct timeline_event){ .at = world->now, .kind = WORLD_QUEUE_SERVED });
}

/* Start it there. It is nowhere. */
static void place_at(struct world *world, uint32_t task, uint64_t key, uint64_t instance)
{
    const uint32_t row = map_get(&world->machine_by_id, instance);
    struct world_task *of = &world->tasks[task];

    assert(of->phase == PHASE_AWAY);
    of->epoch++;
    of->place_key = key;
    of->by_itself = false;
    if (row == MAP_NONE || !takes_work(&world->machines[row])) {
        of->machine = WORLD_NONE;
        world_at(world, world->now, WORLD_TASK_LAUNCHED, task, of->epoch); /* refused */
        return;
    }
    come(world, task, row);
    if (has_room(world, task, &world->machines[row])) {
        launch(world, task);
    } else {
        of->phase = PHASE_QUEUED;
        world->machines[row].queued++;
    }
}

/* It waits for room on a machine or is being launched there, and is to go elsewhere. */
static void take_back(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];
    const uint32_t row = of->machine;

    if (of->phase == PHASE_QUEUED) {
        world->machines[row].queued--;
        leave(world, task);
    } else {
        free_room(world, task);
    }
    of->phase = PHASE_AWAY;
}

static void place(void *self, uint64_t key, uint64_t id, uint64_t instance)
{
    struct world *world = self;
    const uint32_t task = (uint32_t)id;
    struct world_task *of = &world->tasks[task];

    of->queue_key = 0;
    switch ((enum task_phase)of->phase) {
    case PHASE_COMPLETE:
        of->epoch++;
        of->place_key = key;
        world_at(world, world->now, WORLD_TASK_SAVED, task, of->epoch); /* says so again */
        break;
    case PHASE_AWAY:
        place_at(world, task, key, instance);
        break;
    case PHASE_QUEUED:
    case PHASE_LAUNCHING:
        if (world->machines[of->machine].id == instance) {
            of->place_key = key;
            of->by_itself = false;
            break;
        }
        take_back(world, task);
        place_at(world, task, key, instance);
        break;
    case PHASE_INIT:
    case PHASE_RUNNING:
        of->place_key = key;
        timeline_add(&world->timeline,
                     (struct timeline_event){
                         .at = world->now, .kind = WORLD_TASK_TOLD, .who = task, .id = key });
        break;
    case PHASE_HALTING:
    case PHASE_SAVING:
        of->next_key = key;
        of->next_instance = instance;
        break;
    }
}

/* It was placed while it was stopping, or being lost. */
static void go_on(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];
    const uint64_t key = of->next_key;

    of->next_key = 0;
    if (key != 0 && of->phase == PHASE_AWAY)
        place_at(world, task, key, of->next_instance);
}

/*
 * Tasks that were queued: the engine starts them wherever there is room.
 */

static void queue(void *self, uint64_t key, uint64_t id)
{
    struct world *world = self;
    const uint32_t task = (uint32_t)id;

    world->tasks[task].queue_key = key;
    MEM_ROOM(world->queue, world->queue_room, world->queue_count + 1);
    world->queue[world->queue_count++] = task;
    timeline_add(&world->timeline,
                 (struct timeline_event){ .at = world->now, .kind = WORLD_QUEUE_SERVED });
}

static uint32_t machine_with_room(const struct world *world, uint32_t task)
{
    for (uint32_t row = 0; row < world->machine_count; row++) {
        const struct world_machine *machine = &world->machines[row];

        if (takes_work(machine) && demand_of(world, task, machine) != NULL &&
            has_room(world, task, machine))
            return row;
    }
    return WORLD_NONE;
}

/* Whether the task is queued no more. */
static bool serve_one(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];

    if (of->queue_key == 0 || of->phase == PHASE_COMPLETE)
        return true;
    if (of->phase != PHASE_AWAY)
        return false;

    const uint32_t row = machine_with_room(world, task);

    if (row == WORLD_NONE)
        return false;
    of->epoch++;
    of->place_key = of->queue_key;
    of->queue_key = 0;
    of->by_itself = true;
    come(world, task, row);
    launch(world, task);
    return true;
}

void sim_engine_serve(struct world *world)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < world->queue_count; i++) {
        const uint32_t task = world->queue[i];

        if (!serve_one(world, task))
            world->queue[left++] = task;
    }
    world->queue_count = left;
}

static void begins(struct world *world, uint32_t task)
{
    world->tasks[task].phase = PHASE_RUNNING;
    sim_pace_begin(world, task);
}

static void launched(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];

    if (of->machine == WORLD_NONE) {
        tell_task(world, ENGINE_TASK_LOST, task, of->place_key);
        return;
    }

    struct world_machine *machine = &world->machines[of->machine];
    const uint32_t workload = world_shape(world, task)->workload;
    const msec_t init_ms = world_shape(world, task)->delays.init_ms;

    if (!was_built(machine, workload)) {
        MEM_ROOM(machine->built, machine->built_room, machine->built_count + 1);
        machine->built[machine->built_count++] = workload;
    }
    world->launches++;
    sim_pace_launched(world, task, 1);
    of->phase = PHASE_INIT;
    if (init_ms > 0)
        next_phase(world, task, PHASE_INIT, init_ms, WORLD_TASK_BEGINS);
    of->started_at = world->now;
    if (of->by_itself || of->place_key < world->first_key) {
        const struct engine_event event = found_event(world, task);

        sim_news_engine(world, &event);
    } else {
        tell_task(world, ENGINE_TASK_STARTED, task, of->place_key);
    }
    sim_pace_join(world, task);
    if (init_ms == 0)
        begins(world, task);
}

/*
 * Leaving a machine.
 */

static void stop(void *self, uint64_t key, uint64_t id)
{
    struct world *world = self;
    const uint32_t task = (uint32_t)id;
    struct world_task *of = &world->tasks[task];

    of->stop_key = key;
    of->next_key = 0;
    of->queue_key = 0;
    switch ((enum task_phase)of->phase) {
    case PHASE_QUEUED:
        world->machines[of->machine].queued--;
        leave(world, task);
        next_phase(world, task, PHASE_SAVING, 0, WORLD_TASK_SAVED);
        break;
    case PHASE_LAUNCHING:
    case PHASE_INIT:
    case PHASE_RUNNING:
        next_phase(world, task, PHASE_HALTING, world_shape(world, task)->delays.kill_ms,
                   WORLD_TASK_HALTS);
        break;
    case PHASE_AWAY:
    case PHASE_COMPLETE:
        of->epoch++;
        world_at(world, world->now, WORLD_TASK_SAVED, task, of->epoch);
        break;
    case PHASE_HALTING:
    case PHASE_SAVING:
        break; /* it is being stopped; the confirmation will carry the new key */
    }
}

/* What has begun to run continues, and is reported as found. */
static void cancel(void *self, uint64_t key, uint64_t id)
{
    struct world *world = self;
    const uint32_t task = (uint32_t)id;
    const struct world_task *of = &world->tasks[task];

    if (of->phase != PHASE_INIT && of->phase != PHASE_RUNNING) {
        stop(self, key, id);
        return;
    }
    timeline_add(&world->timeline,
                 (struct timeline_event){
                     .at = world->now, .kind = WORLD_TASK_TOLD, .who = task, .id = of->place_key });
}

static void complete(struct world *world, uint32_t head);

static void halts(struct world *world, uint32_t task)
{
    const uint32_t head = sim_pace_head(world, task);

    sim_pace_settle(world, head);
    if (world->tasks[head].rate_ppm > 0 && world->tasks[head].left <= 0) {
        complete(world, head); /* it was faster */
        return;
    }
    if (world->tasks[task].active)
        sim_pace_launched(world, task, -1);
    sim_pace_end(world, task);
    sim_pace_leave(world, task);
    next_phase(world, task, PHASE_SAVING, world_shape(world, task)->delays.upload_ms,
               WORLD_TASK_SAVED);
}

/* Back to the last save, by a stop or by itself. Once for a gang: then it is there already. */
static void lose_work(struct world *world, uint32_t head)
{
    struct world_task *of = &world->tasks[head];
    const struct trace_job *job = &world->config->trace->jobs[of->job];
    const int64_t every = world_shape(world, head)->delays.checkpoint_ms * (int64_t)RATE_FULL_PPM;

    if (sim_services_is(job)) { /* what a service has done is not done again */
        of->saved = of->left;
        return;
    }
    if (every > 0 && of->saved > of->left)
        of->saved -= (of->saved - of->left) / every * every;
    if (of->saved > of->left)
        world->lost_work_ms +=
            (of->saved - of->left) / RATE_FULL_PPM * (job->gang ? job->task_count : 1);
    of->left = of->saved;
}

/* What may not be stopped cannot save anything. */
static void save(struct world *world, uint32_t head)
{
    if (world_job(world, head)->fixed)
        lose_work(world, head);
    else
        world->tasks[head].saved = world->tasks[head].left;
}

static void saved(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];

    if (of->phase == PHASE_COMPLETE) {
        tell_task(world, ENGINE_TASK_FINISHED, task, of->place_key);
        return;
    }
    if (of->phase == PHASE_SAVING && of->machine != WORLD_NONE) {
        const uint32_t head = sim_pace_head(world, task);

        sim_pace_settle(world, head);
        save(world, head);
        free_room(world, task);
    }
    of->phase = PHASE_AWAY;
    tell_task(world, ENGINE_TASK_STOPPED, task, of->stop_key);
    go_on(world, task);
}

/* What the task did since its last save is lost with the machine. */
static void lose(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];
    const uint32_t head = sim_pace_head(world, task);

    sim_pace_settle(world, head);
    if (of->active)
        sim_pace_launched(world, task, -1);
    sim_pace_drop(world, task); /* its neighbours are lost as well */
    sim_pace_end(world, task);
    lose_work(world, head);
    leave(world, task);
    of->phase = PHASE_AWAY;
    of->epoch++;
    tell_task(world, ENGINE_TASK_LOST, task, of->place_key);
    go_on(world, task);
}

void sim_engine_machine_lost(struct world *world, uint32_t row)
{
    while (world->machines[row].first != WORLD_NONE)
        lose(world, world->machines[row].first);
}

/*
 * Completing.
 */

static void job_done(struct world *world, uint32_t job, uint32_t head)
{
    const struct trace_job *of = &world->config->trace->jobs[job];
    const struct world_task *unit = &world->tasks[head];
    const msec_t jct = world->now - of->arrival_ms;

    world->jobs_done++;
    world->jct_sum_ms += (double)jct;
    if (jct > world->jct_max_ms)
        world->jct_max_ms = jct;
    world->idle_sum_ms += (double)(jct - unit->launched_ms);
    world->wait_sum_ms += (double)(jct - unit->run_ms);
    world->throughput_sum += unit->run_ms > 0 ? (double)of->work_ms / (double)unit->run_ms : 1.0;
    if (world->config->on_job_done != NULL)
        world->config->on_job_done(world->config->context, job, jct);
    if (world->config->on_progress != NULL)
        world->config->on_progress(world->config->context, (uint32_t)world->jobs_done,
                                   world->config->trace->job_count);
}

static void complete(struct world *world, uint32_t head)
{
    const uint32_t job = world->tasks[head].job;
    const struct trace_job *of_job = &world->config->trace->jobs[job];
    const uint32_t size = of_job->gang ? of_job->task_count : 1;

    sim_services_end(world, head);
    for (uint32_t task = head; task < head + size; task++) {
        struct world_task *of = &world->tasks[task];

        if (of->active)
            sim_pace_launched(world, task, -1);
        sim_pace_end(world, task);
        sim_pace_leave(world, task);
        of->epoch++;
        of->phase = PHASE_COMPLETE;
        if (of->machine != WORLD_NONE)
            free_room(world, task);
        world->completions++;
    }
    world->tasks[world->first_task[job]].completed += size;
    if (world->tasks[world->first_task[job]].completed == of_job->task_count)
        job_done(world, job, head);
    for (uint32_t task = head; task < head + size; task++)
        tell_task(world, ENGINE_TASK_FINISHED, task, world->tasks[task].place_key);
}

/*
 * Lists.
 */

static void list(void *self, uint64_t key)
{
    struct world *world = self;

    timeline_add(&world->timeline,
                 (struct timeline_event){ .at = world->now, .kind = WORLD_WORK_LISTED, .id = key });
}

static void list_job(struct world *world, uint32_t job)
{
    const uint32_t first = world->first_task[job];
    const uint32_t count = world->config->trace->jobs[job].task_count;
    struct engine_event event;

    if (world->tasks[first].completed == count)
        return;
    event = world_arrival(world, job);
    controller_on_engine(world->controller, &event);
    for (uint32_t task = first; task < first + count; task++) {
        event = (struct engine_event){ .kind = ENGINE_TASK_FINISHED, .at = world->now };
        event.task = task;
        if (world->tasks[task].phase == PHASE_COMPLETE)
            controller_on_engine(world->controller, &event);
    }
}

/* All of it at one moment: what is reported is how it is. A task that is being stopped runs no more. */
void sim_engine_list(struct world *world, uint64_t key)
{
    struct engine_event event = { .kind = ENGINE_NODE_READY, .at = world->now };

    for (uint32_t job = 0; job < world->jobs_arrived; job++)
        list_job(world, job);
    for (uint32_t row = 0; row < world->machine_count; row++) {
        event.instance = world->machines[row].id;
        if (takes_work(&world->machines[row]))
            controller_on_engine(world->controller, &event);
    }
    for (uint32_t task = 0; task < world->task_count; task++) {
        if (world->tasks[task].phase != PHASE_INIT && world->tasks[task].phase != PHASE_RUNNING)
            continue;
        event = found_event(world, task);
        controller_on_engine(world->controller, &event);
    }
    event = (struct engine_event){ .kind = ENGINE_LISTED, .at = world->now, .key = key };
    controller_on_engine(world->controller, &event);
}

/* It was placed although it runs. */
static void answer_found(struct world *world, uint32_t task, uint64_t key)
{
    const struct world_task *of = &world->tasks[task];

    if (of->place_key != key || (of->phase != PHASE_INIT && of->phase != PHASE_RUNNING))
        return;

    const struct engine_event event = found_event(world, task);

    sim_news_engine(world, &event);
}

void sim_engine_event(struct world *world, const struct timeline_event *event)
{
    if (event->kind == WORLD_MACHINE_READY) {
        if (world->machines[event->who].epoch == event->epoch)
            machine_ready(world, event->who);
        return;
    }
    if (event->kind == WORLD_MACHINE_LEFT) {
        has_left(world, event->id);
        return;
    }
    if (event->kind == WORLD_TASK_TOLD) {
        answer_found(world, event->who, event->id);
        return;
    }
    if (event->kind == WORLD_TASK_COMPLETES) {
        if (world->tasks[event->who].unit_epoch == event->epoch)
            complete(world, event->who);
        return;
    }
    if (world->tasks[event->who].epoch != event->epoch)
        return;
    switch ((enum world_event)event->kind) {
    case WORLD_TASK_LAUNCHED:
        launched(world, event->who);
        break;
    case WORLD_TASK_BEGINS:
        begins(world, event->who);
        break;
    case WORLD_TASK_HALTS:
        halts(world, event->who);
        break;
    case WORLD_TASK_SAVED:
        saved(world, event->who);
        break;
    case WORLD_MACHINE_RUNS:
    case WORLD_MACHINE_READY:
    case WORLD_MACHINE_AT_RISK:
    case WORLD_MACHINE_WARNED:
    case WORLD_MACHINE_LOST:
    case WORLD_MACHINE_ENDS:
    case WORLD_MACHINE_LEFT:
    case WORLD_MACHINE_ABSENT:
    case WORLD_RENT_REFUSED:
    case WORLD_TASK_COMPLETES:
    case WORLD_NEWS:
    case WORLD_TASK_TOLD:
    case WORLD_QUEUE_SERVED:
    case WORLD_MACHINES_LISTED:
    case WORLD_WORK_LISTED:
    case WORLD_AUDIT:
    case WORLD_RESTART:
    case WORLD_CATALOGUE_CHANGES:
    case WORLD_RATES_DRIFT:
        assert(false && "not about a task");
    }
}

const struct engine_ops sim_engine_ops = {
    .admit = admit,
    .retire = retire,
    .forget = forget,
    .place = place,
    .queue = queue,
    .cancel = cancel,
    .stop = stop,
    .list = list,
};
