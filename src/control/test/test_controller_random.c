/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random stories between the controller and a world that keeps the rules of the ports and no others.
 *
 * The world knows the truth about each machine and task. What happens there is written into a box of
 * news, from which it is handed to the controller in any order, some of it twice and some of it long
 * after: machines join by themselves before anybody said that they run, tasks crash or are refused
 * without a reason, machines are lost or refused. The plans are drawn at random. In the end all work
 * is done, all machines are gone, and the books are the sum of the bills.
 *
 * In some stories the clocks behind the ports are wrong, too: whatever is said may bring a time that
 * cannot be. Then only the controller's own clock is right, and nobody knows what the bills should be.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "control/controller.h"

enum {
    SEEDS = 500,
    ODD_SEEDS = 250,
    JOBS = 8,
    TASKS_MAX = JOBS * 3,
    MACHINES_MAX = 4000,
    NEWS_MAX = 8192,
    STEPS = 1500, /* with faults; then everything comes to its end */
    STEPS_MAX = 60000,
    BLOCK_MS = 50,
};

enum truth {
    TASK_AWAY,
    TASK_PLACED,
    TASK_STARTED,
    TASK_STOPS,
    TASK_DONE,
};

struct true_task {
    enum truth state;
    uint64_t place_key;
    uint64_t stop_key;
    uint64_t machine;
};

enum true_machine_state { MACHINE_NONE, MACHINE_ASKED, MACHINE_RUNS, MACHINE_READY, MACHINE_ENDED };

struct true_machine {
    enum true_machine_state state;
    msec_t billed_from;
    bool admitted;
    bool given_back;
    bool retired; /* to be let go when it is empty */
};

struct news {
    bool is_cloud;
    struct engine_event engine;
    struct cloud_event cloud;
};

struct story {
    uint64_t seed;
    struct rng rng;
    bool calm; /* no more faults */
    bool odd;  /* clocks are wrong */
    msec_t now;
    struct catalogue catalogue;
    struct shapes shapes;
    struct controller *controller;
    struct true_task tasks[TASKS_MAX];
    uint32_t task_count;
    struct true_machine *machines; /* by id */
    uint64_t first_living;         /* ids below this are over */
    uint64_t last_asked;
    struct news *box; /* on their way */
    uint32_t box_count;
    struct news *told; /* the last so many that were handed over, to be told again */
    uint32_t told_count;
    money_t billed;
};

static struct story *playing; /* what the policy draws its plans from */

static bool one_in(struct story *story, uint64_t count)
{
    return rng_below(&story->rng, count) == 0;
}

static void fail_story(const struct story *story, const char *what)
{
    fail_msg("seed %" PRIu64 ", at %" PRId64 ": %s", story->seed, story->now, what);
}

/*
 * News.
 */

/* A time that the news brings along; in a story of wrong clocks, any time. */
static msec_t warp(struct story *story, msec_t time)
{
    const msec_t any = (msec_t)(rng_next(&story->rng) >> rng_below(&story->rng, 64));

    switch (story->odd ? rng_below(&story->rng, 12) : UINT64_MAX) {
    case 0:
        return INT64_MAX;
    case 1:
        return INT64_MIN;
    case 2:
        return any;
    case 3:
        return -1 - (any < 0 ? 0 : any);
    case 4:
        return story->now + (any & 4095);
    case 5:
        return story->now - (any & 4095);
    default:
        return time;
    }
}

static void warp_all(struct story *story, struct news *news)
{
    news->engine.at = warp(story, news->engine.at);
    news->engine.started_at = warp(story, news->engine.started_at);
    news->engine.job.arrived_at = warp(story, news->engine.job.arrived_at);
    news->engine.job.estimate_ms = warp(story, news->engine.job.estimate_ms);
    news->cloud.at = warp(story, news->cloud.at);
    news->cloud.billed_from = warp(story, news->cloud.billed_from);
    news->cloud.billed_to = warp(story, news->cloud.billed_to);
    news->cloud.for_ms = story->calm ? 0 : warp(story, news->cloud.for_ms) & 1023;
}

static void send(struct story *story, struct news news)
{
    if (story->odd)
        warp_all(story, &news);
    if (story->box_count == NEWS_MAX) {
        fail_story(story, "too much news");
        return;
    }
    story->box[story->box_count++] = news;
}

static void send_task(struct story *story, enum engine_event_kind kind, uint64_t task, uint64_t key)
{
    send(story,
         (struct news){
             .engine = {
                 .kind = kind, .at = story->now, .task = task, .key = key, .rate_ppm = 900000 } });
}

static void send_machine(struct story *story, enum cloud_event_kind kind, uint64_t id, msec_t from,
                         msec_t to)
{
    send(story, (struct news){ .is_cloud = true,
                               .cloud = { .kind = kind,
                                          .at = story->now,
                                          .instance = id,
                                          .billed_from = from,
                                          .billed_to = to } });
}

static void hand_over(struct story *story, const struct news *news)
{
    if (story->odd)
        controller_tell_time(story->controller, story->now);
    if (news->is_cloud)
        controller_on_cloud(story->controller, &news->cloud);
    else
        controller_on_engine(story->controller, &news->engine);
    controller_check(story->controller);
}

/* Any piece of news, the oldest most likely; some stay in the box and are told again. */
static void deliver(struct story *story)
{
    if (story->box_count == 0)
        return;

    const uint32_t at =
        story->calm || one_in(story, 2) ? 0 : (uint32_t)rng_below(&story->rng, story->box_count);
    const struct news news = story->box[at];

    if (story->calm || !one_in(story, 5)) {
        story->box_count--;
        for (uint32_t i = at; i < story->box_count; i++)
            story->box[i] = story->box[i + 1];
    }
    story->told[story->told_count++ % NEWS_MAX] = news;
    hand_over(story, &news);
}

static void tell_again(struct story *story)
{
    const uint32_t known = story->told_count < NEWS_MAX ? story->told_count : NEWS_MAX;

    if (known > 0)
        hand_over(story, &story->told[rng_below(&story->rng, known)]);
}

/*
 * The ports: what is asked for must be possible.
 */

static struct true_machine *machine_of(struct story *story, uint64_t id)
{
    if (id == 0 || id >= MACHINES_MAX)
        fail_story(story, "a machine that there is not");
    return &story->machines[id % MACHINES_MAX];
}

static void world_admit(void *self, uint64_t id)
{
    struct story *story = self;

    if (machine_of(story, id)->admitted)
        fail_story(story, "a machine was admitted twice");
    machine_of(story, id)->admitted = true;
}

static void world_retire(void *self, uint64_t id)
{
    machine_of(self, id)->retired = true;
}

static void world_forget(void *self, uint64_t id)
{
    (void)machine_of(self, id);
}

static void world_place(void *self, uint64_t key, uint64_t id, uint64_t instance)
{
    struct story *story = self;
    struct true_task *task = &story->tasks[id];

    if (task->state == TASK_DONE) {
        send_task(story, ENGINE_TASK_FINISHED, id, 0);
        return;
    }
    if (task->state != TASK_AWAY)
        fail_story(story, "a task was placed that is somewhere");
    if (machine_of(story, instance)->given_back)
        fail_story(story, "a task was placed on a machine that was given back");
    *task = (struct true_task){ .state = TASK_PLACED, .place_key = key, .machine = instance };
    if (machine_of(story, instance)->state == MACHINE_ENDED) {
        task->state = TASK_AWAY;
        send_task(story, ENGINE_TASK_LOST, id, key);
    }
}

/* All of the gang that is away, and nothing of it is on its way elsewhere. */
static void world_place_gang(void *self, uint64_t key, const uint64_t *tasks,
                             const uint64_t *instances, uint32_t count)
{
    if (count == 0)
        fail_story(self, "nobody was placed together");
    for (uint32_t i = 0; i < count; i++)
        world_place(self, key, tasks[i], instances[i]);
}

static void world_stop(void *self, uint64_t key, uint64_t id)
{
    struct story *story = self;
    struct true_task *task = &story->tasks[id];

    task->stop_key = key;
    if (task->state == TASK_STOPS)
        fail_story(story, "a task was told twice to stop");
    if (task->state == TASK_DONE)
        send_task(story, ENGINE_TASK_FINISHED, id, 0);
    else if (task->state == TASK_AWAY)
        send_task(story, ENGINE_TASK_STOPPED, id, key);
    else
        task->state = TASK_STOPS;
}

static void world_cancel(void *self, uint64_t key, uint64_t id)
{
    struct story *story = self;
    const struct true_task *task = &story->tasks[id];

    if (task->state != TASK_STARTED) {
        world_stop(self, key, id);
        return;
    }
    send(story, (struct news){ .engine = { .kind = ENGINE_TASK_FOUND,
                                           .at = story->now,
                                           .task = id,
                                           .instance = task->machine,
                                           .key = task->place_key,
                                           .started_at = story->now } });
}

static void world_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct story *story = self;

    (void)offer;
    for (uint64_t id = first; id < first + count; id++) {
        if (machine_of(story, id)->state != MACHINE_NONE)
            fail_story(story, "an id was used twice");
        machine_of(story, id)->state = MACHINE_ASKED;
        story->last_asked = id;
    }
}

static void world_give_back(void *self, uint64_t id)
{
    struct story *story = self;

    if (machine_of(story, id)->given_back)
        fail_story(story, "a machine was given back twice");
    machine_of(story, id)->given_back = true;
    for (uint32_t i = 0; i < story->task_count; i++) {
        if (story->tasks[i].state != TASK_AWAY && story->tasks[i].state != TASK_DONE &&
            story->tasks[i].machine == id)
            fail_story(story, "a machine was given back with a task on it");
    }
}

static const struct engine_ops world_engine = {
    .admit = world_admit,
    .retire = world_retire,
    .forget = world_forget,
    .place = world_place,
    .cancel = world_cancel,
    .stop = world_stop,
};
static const struct engine_ops world_gang_engine = {
    .admit = world_admit,
    .retire = world_retire,
    .forget = world_forget,
    .place = world_place,
    .place_gang = world_place_gang,
    .cancel = world_cancel,
    .stop = world_stop,
};
static const struct cloud_ops world_cloud = { .rent = world_rent, .give_back = world_give_back };

/*
 * What goes on there.
 */

static void end_task(struct story *story, uint32_t id, enum engine_event_kind kind)
{
    struct true_task *task = &story->tasks[id];

    task->state = kind == ENGINE_TASK_FINISHED ? TASK_DONE : TASK_AWAY;
    send_task(story, kind, id, kind == ENGINE_TASK_STOPPED ? task->stop_key : task->place_key);
}

static void step_task(struct story *story, uint32_t id)
{
    struct true_task *task = &story->tasks[id];
    const bool fault = !story->calm && one_in(story, 6);

    switch (task->state) {
    case TASK_AWAY:
    case TASK_DONE:
        break;
    case TASK_PLACED:
        if (fault) {
            end_task(story, id, ENGINE_TASK_LOST);
        } else if (story->machines[task->machine].state == MACHINE_READY) {
            task->state = TASK_STARTED;
            send_task(story, ENGINE_TASK_STARTED, id, task->place_key);
        }
        break;
    case TASK_STARTED:
        if (fault)
            end_task(story, id, ENGINE_TASK_LOST);
        else if (story->calm || one_in(story, 12))
            end_task(story, id, ENGINE_TASK_FINISHED);
        else
            send_task(story, ENGINE_TASK_RATE, id, task->place_key);
        break;
    case TASK_STOPS:
        if (fault && one_in(story, 2)) {
            task->state = TASK_STARTED;
            send_task(story, ENGINE_TASK_KEPT, id, task->stop_key);
            break;
        }
        end_task(story, id, fault ? ENGINE_TASK_LOST : ENGINE_TASK_STOPPED);
        break;
    }
}

static void end_machine(struct story *story, uint64_t id)
{
    struct true_machine *machine = &story->machines[id];

    machine->state = MACHINE_ENDED;
    for (uint32_t i = 0; i < story->task_count; i++) {
        const enum truth state = story->tasks[i].state;

        if (story->tasks[i].machine == id && state != TASK_AWAY && state != TASK_DONE)
            end_task(story, i, ENGINE_TASK_LOST);
    }
    if (machine->billed_from >= 0)
        story->billed += story->now - machine->billed_from;
    send_machine(story, CLOUD_GONE, id, machine->billed_from, story->now);
}

static bool is_empty(const struct story *story, uint64_t id)
{
    for (uint32_t i = 0; i < story->task_count; i++) {
        const enum truth state = story->tasks[i].state;

        if (story->tasks[i].machine == id && state != TASK_AWAY && state != TASK_DONE)
            return false;
    }
    return true;
}

static void step_machine(struct story *story, uint64_t id)
{
    struct true_machine *machine = &story->machines[id];

    if (machine->retired && is_empty(story, id)) {
        machine->retired = false;
        send(story, (struct news){
                        .engine = { .kind = ENGINE_NODE_LEFT, .at = story->now, .instance = id } });
    }
    const bool fault = !story->calm && one_in(story, 30);

    switch (machine->state) {
    case MACHINE_NONE:
    case MACHINE_ENDED:
        return;
    case MACHINE_ASKED:
        machine->billed_from = -1;
        if (machine->given_back || fault) {
            end_machine(story, id);
        } else if (!story->calm && one_in(story, 8)) {
            machine->state = MACHINE_ENDED;
            send_machine(story, CLOUD_REFUSED, id, -1, 0);
        } else {
            machine->state = MACHINE_RUNS;
            machine->billed_from = story->now;
            send_machine(story, CLOUD_RUNNING, id, story->now, 0);
        }
        return;
    case MACHINE_RUNS:
    case MACHINE_READY:
        break;
    }
    if (machine->given_back || fault) {
        end_machine(story, id);
    } else if (machine->state == MACHINE_RUNS && (machine->admitted || one_in(story, 4))) {
        machine->state = MACHINE_READY;
        send(story,
             (struct news){
                 .engine = { .kind = ENGINE_NODE_READY, .at = story->now, .instance = id } });
    } else if (!story->calm && one_in(story, 40)) {
        send(story, (struct news){ .is_cloud = true,
                                   .cloud = { .kind = CLOUD_NOTICE,
                                              .at = story->now,
                                              .instance = id,
                                              .may_stay = one_in(story, 2) } });
    } else if (!story->calm && one_in(story, 20)) {
        send(story, (struct news){ .is_cloud = true,
                                   .cloud = { .kind = CLOUD_OUTDATED,
                                              .at = story->now,
                                              .instance = id,
                                              .is_outdated = !one_in(story, 4) } });
    }
}

/*
 * Plans at random: each machine gets at most one task more.
 */

static bool has_room(const struct view *view, uint32_t task, uint32_t machine)
{
    const struct res *demand = view_demand(view, task, machine);
    const struct res room = view_free(view, machine);

    const uint32_t apart = view->job.apart[view->task.job[task]];

    return view_is_open(view, machine) && res_fits(demand, &room) &&
           (apart == ROW_NONE || !view_apart_is_on(view, apart, machine));
}

/* An open machine with room that the plan has not used yet, or ROW_NONE. */
static uint32_t pick_machine(const struct view *view, uint32_t task, const bool *used)
{
    INSTANCE_EACH(instance, view)
    {
        if (!used[instance] && instance != view->task.instance[task] &&
            has_room(view, task, instance) && !one_in(playing, 3))
            return instance;
    }
    return ROW_NONE;
}

static void plan_task(const struct view *view, uint32_t task, bool *used, struct plan *plan)
{
    const struct plan_reason why = plan_because(REASON_CHEAPEST_ALONE, 0);
    const uint32_t machine = pick_machine(view, task, used);
    const uint32_t offer = view->shape_offer[view->task.shape[task]];

    if (machine != ROW_NONE) {
        used[machine] = true;
        plan_place_kept(plan, task, machine, why);
    } else if (offer != OFFER_NONE) {
        plan_place_fresh(plan, task, plan_rent(plan, offer, why), why);
    }
}

/* Jobs of which the plan moves nothing, now and then; gangs as a whole. */
static void suspend_some(const struct view *view, struct arena *arena, struct plan *plan)
{
    bool *is_planned = ARENA_ARRAY(arena, bool, view->job.count);

    for (uint32_t i = 0; i < plan->place_count; i++)
        is_planned[view->task.job[plan->places[i].task]] = true;
    for (uint32_t job = 0; job < view->job.count; job++) {
        if (!view->job.used[job] || is_planned[job] || !view_job_may_move(view, job) ||
            !one_in(playing, 15))
            continue;
        for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
             task = view->task.sibling[task])
            plan_suspend(plan, task, plan_because(REASON_YIELDS, 0));
    }
}

static void random_decide(const struct policy_input *in, struct plan *ret)
{
    const struct view *view = in->view;
    bool *used = ARENA_ARRAY(in->arena, bool, view->instance.count);

    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (playing->calm || !one_in(playing, 4))
            plan_task(view, task, used, ret);
    }
    for (uint32_t task = 0; task < view->task.count && !playing->calm; task++) {
        if (view->task.state[task] == TASK_RUNNING &&
            view_job_is_settled(view, view->task.job[task]) && one_in(playing, 10))
            plan_task(view, task, used, ret);
    }
    /* By a wrong clock, old news of a run that was stopped may pass for new. */
    if (!playing->calm && !playing->odd)
        suspend_some(view, in->arena, ret);
    EMPTY_EACH(instance, view)
    {
        if (view_is_open(view, instance) && !used[instance] &&
            (playing->calm || one_in(playing, 2)))
            plan_release(ret, instance, plan_because(REASON_EMPTY, 0));
    }
}

static const struct policy random_policy = {
    .name = "random",
    .summary = "plans anything that can be carried out",
    .learns_colocation = true,
    .decide = random_decide,
};

/*
 * A story from its beginning to its end.
 */

static void make_world(struct story *story)
{
    const struct price_change price = { 0, 3600000 }; /* a micro-dollar a millisecond */
    const struct shape_demand demand = { FAMILY_NONE, { { 1000, 0, 0 } } };
    const struct shape_spec spec = {
        .name = "one",
        .workload = "one",
        .demands = &demand,
        .demand_count = 1,
    };

    catalogue_init(&story->catalogue);
    shapes_init(&story->shapes);
    (void)shapes_add(&story->shapes, &spec);
    for (int64_t cpus = 2; cpus <= 4; cpus++) {
        const struct machine_type type = { .capacity = { { cpus * 1000, 1024, 0 } } };
        char name[32];

        (void)snprintf(name, sizeof(name), "type%" PRId64, cpus);

        const struct offer offer = {
            .type = catalogue_add_type(&story->catalogue, name, "family", &type),
            .billing = { .step_ms = 1 },
            .price = { &price, 1 },
        };

        (void)catalogue_add_offer(&story->catalogue, NULL, &offer);
    }
}

static void story_init(struct story *story, uint64_t seed, bool odd)
{
    *story = (struct story){ .seed = seed, .odd = odd, .now = 1000 };
    rng_init(&story->rng, seed, 0);
    story->machines = test_calloc(MACHINES_MAX, sizeof(*story->machines));
    story->box = test_calloc(NEWS_MAX, sizeof(*story->box));
    story->told = test_calloc(NEWS_MAX, sizeof(*story->told));
    make_world(story);

    const struct controller_config config = {
        .policy = &random_policy,
        .catalogue = &story->catalogue,
        .shapes = &story->shapes,
        .engine = { .ops = seed % 2 == 0 ? &world_gang_engine : &world_engine, .self = story },
        .cloud = { .ops = &world_cloud, .self = story },
        .default_estimate_ms = 1000,
        .refused_block_ms = BLOCK_MS,
        .default_rate = 0.95,
        .estimates = odd ? ESTIMATES_LEARNED : ESTIMATES_GIVEN,
        .replace_percent = seed % 5 == 0 ? 0 : 30,
        .replace_after_ms = seed % 7 == 0 ? 500 : 0,
    };

    story->controller = controller_create(&config);
    playing = story;
}

static void story_done(struct story *story)
{
    controller_destroy(story->controller);
    shapes_done(&story->shapes);
    catalogue_done(&story->catalogue);
    test_free(story->machines);
    test_free(story->box);
    test_free(story->told);
}

static void arrive(struct story *story, uint64_t job)
{
    const uint32_t tasks = 1 + (uint32_t)rng_below(&story->rng, 3);
    const uint64_t dice = map_mix(story->seed * JOBS + job); /* nothing else is drawn differently */
    const bool has_bonds = story->seed % 3 == 0;

    send(story, (struct news){
                    .engine = { .kind = ENGINE_JOB_ARRIVED,
                                .at = story->now,
                                .job = { .id = job,
                                         .first_task_id = story->task_count,
                                         .task_count = tasks,
                                         .gang = one_in(story, 2),
                                         .spread = has_bonds && dice % 3 == 0,
                                         .apart = has_bonds ? dice / 3 % 3 : 0,
                                         .fixed = story->seed % 4 == 1 && dice / 9 % 3 == 0,
                                         .estimate_ms = story->seed % 4 == 1 && dice / 27 % 3 == 0
                                                            ? MSEC_NEVER
                                                            : -1 } } });
    story->task_count += tasks;
}

static void step_machines(struct story *story)
{
    bool all_over = true;

    for (uint64_t id = story->first_living; id <= story->last_asked; id++) {
        const enum true_machine_state state = story->machines[id].state;

        all_over = all_over && (state == MACHINE_NONE || state == MACHINE_ENDED);
        if (all_over)
            story->first_living = id;
        else if (story->calm || one_in(story, 4))
            step_machine(story, id);
    }
}

static void step(struct story *story)
{
    const uint64_t dice = rng_below(&story->rng, 20);

    story->now += (msec_t)rng_below(&story->rng, 10);
    if (dice < 8) {
        deliver(story);
    } else if (dice < 9 && !story->calm) {
        tell_again(story);
    } else if (dice < 14 && story->task_count > 0) {
        step_task(story, (uint32_t)rng_below(&story->rng, story->task_count));
    } else if (dice < 18) {
        step_machines(story);
    } else if (controller_wants_decision(story->controller) || story->calm) {
        controller_decide(story->controller, story->now);
        controller_check(story->controller);
        ledger_check(controller_ledger(story->controller));
    }
}

static bool is_over(const struct story *story)
{
    for (uint32_t i = 0; i < story->task_count; i++) {
        if (story->tasks[i].state != TASK_DONE)
            return false;
    }
    return story->box_count == 0 && controller_is_idle(story->controller);
}

/* 'seen' gathers how often the rare things happened. */
static void play(uint64_t seed, bool odd, struct controller_stats *seen)
{
    static struct story story;
    uint64_t jobs = 0;
    uint64_t steps = 0;

    story_init(&story, seed, odd);
    while (!is_over(&story) || jobs < JOBS) {
        if (jobs < JOBS && (jobs == 0 || one_in(&story, 60)))
            arrive(&story, jobs++);
        step(&story);
        story.calm = ++steps > STEPS;
        if (steps > STEPS_MAX) {
            fail_story(&story, "it does not end");
            break;
        }
    }

    const struct ledger_totals *books = ledger_totals(controller_ledger(story.controller));

    if ((!odd && books->sums.bill != story.billed) || books->open != 0)
        fail_story(&story, "the books are not the sum of the bills");
    if (books->sums.bill < 0 ||
        books->sums.bill > (story.now + 9600 * MSEC_PER_HOUR) * (msec_t)story.last_asked)
        fail_story(&story, "more was billed than there was time");
    if (books->sums.work != books->settled)
        fail_story(&story, "not all work was paid for");

    const struct controller_stats *stats = controller_stats(story.controller);

    seen->refused += stats->refused;
    seen->lost += stats->lost;
    seen->noticed += stats->noticed;
    seen->at_risk += stats->at_risk;
    seen->replaced += stats->replaced;
    seen->migrations += stats->migrations;
    seen->suspended += stats->suspended;
    seen->late_events += stats->late_events;
    story_done(&story);
}

TEST(whatever_order_news_comes_in_all_work_is_done_and_paid_for_once)
{
    struct controller_stats seen = { 0 };

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play(seed, false, &seen);
    assert_true(seen.refused > SEEDS);
    assert_true(seen.lost > SEEDS);
    assert_true(seen.noticed > SEEDS / 4);
    assert_true(seen.at_risk > SEEDS / 4);
    assert_true(seen.replaced > SEEDS / 4);
    assert_true(seen.migrations > SEEDS / 2);
    assert_true(seen.suspended > SEEDS / 2);
    assert_true(seen.late_events > 10 * SEEDS);
}

TEST(whatever_times_news_brings_all_work_is_done_and_paid_for_once)
{
    struct controller_stats seen = { 0 };

    for (uint64_t seed = 1; seed <= ODD_SEEDS; seed++)
        play(seed, true, &seen);
    assert_true(seen.lost > ODD_SEEDS);
    assert_true(seen.migrations > ODD_SEEDS / 2);
}

CHECK_MAIN(RUN(whatever_order_news_comes_in_all_work_is_done_and_paid_for_once),
           RUN(whatever_times_news_brings_all_work_is_done_and_paid_for_once))
