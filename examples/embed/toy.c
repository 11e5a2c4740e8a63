/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toy.c - a scheduler for a toy cluster, by libstint. Compiles as C and as C++:
 *
 *     cc toy.c $(pkg-config --cflags --libs stint) && ./a.out
 *
 * A real program has its cluster and its cloud where this one has a list of news to come: what the controller
 * asks for happens a little later, in a time that is made up.
 */
#include <stdio.h>
#include <stdlib.h>

#include <stint/stint.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, IDS_MAX = 1000 };
enum what { ARRIVES, RUNS, READY, STARTED, FINISHED, STOPPED, LEFT, GONE };

struct news {
    int64_t at;
    enum what what;
    uint64_t id;  /* of a job, a machine or a task */
    uint64_t key; /* of a task's run, or of its stop */
};

static struct toy {
    int64_t now;
    struct stint_catalogue *catalogue;
    struct stint_controller *controller;
    struct stint_job jobs[3];
    int64_t runtime_ms[IDS_MAX];  /* of each task, which a real scheduler does not know */
    uint64_t run_key[IDS_MAX];    /* of each task that runs */
    int64_t billed_from[IDS_MAX]; /* of each machine */
    struct news news[IDS_MAX];    /* to come, in time order */
    int news_count;
} toy;

static void check(int rc, const char *text)
{
    if (rc < 0) {
        fprintf(stderr, "toy: %s (error %d)\n", text, -rc);
        exit(1);
    }
}

static void later(int64_t delay_ms, enum what what, uint64_t id, uint64_t key)
{
    const struct news news = { toy.now + delay_ms, what, id, key };
    int i = toy.news_count++;

    check(i < IDS_MAX && id < IDS_MAX ? 0 : -1, "too much for a toy");
    for (; i > 0 && toy.news[i - 1].at > news.at; i--)
        toy.news[i] = toy.news[i - 1];
    toy.news[i] = news;
}

static void say(const char *what, const char *type, uint64_t machine)
{
    printf("%3d:%02d  %s%s: machine %d\n", (int)(toy.now / MINUTE), (int)(toy.now / SECOND % 60),
           what, type, (int)machine);
}

/* The cloud: machines run 20 s after they were asked for. */
static void rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    (void)self;
    for (uint64_t id = first; id < first + count; id++) {
        say("rent ", stint_catalogue_offer_type(toy.catalogue, offer), id);
        later(20 * SECOND, RUNS, id, 0);
    }
}

static void give_back(void *self, uint64_t machine)
{
    (void)self;
    say("return", "", machine);
    later(SECOND, GONE, machine, 0);
}

/* The engine: machines join in 40 s, tasks start in a second. */
static void admit(void *self, uint64_t machine)
{
    (void)self;
    later(40 * SECOND, READY, machine, 0);
}

static void retire(void *self, uint64_t machine)
{
    (void)self;
    later(SECOND, LEFT, machine, 0);
}

static void place(void *self, uint64_t key, uint64_t task, uint64_t machine)
{
    (void)self;
    (void)machine;
    later(SECOND, STARTED, task, key);
    later(SECOND + toy.runtime_ms[task], FINISHED, task, key);
    toy.run_key[task] = key;
}

static void stop(void *self, uint64_t key, uint64_t task)
{
    (void)self;
    later(SECOND, STOPPED, task, key);
    toy.run_key[task] = 0;
}

/* Something has happened: tell the controller. Of a run that was stopped there is nothing to tell. */
static int tell(const struct news *news)
{
    struct stint_controller *controller = toy.controller;
    const uint64_t id = news->id;

    toy.now = news->at;
    switch (news->what) {
    case ARRIVES:
        return stint_engine_job_arrived(controller, toy.now, &toy.jobs[id], NULL);
    case RUNS:
        toy.billed_from[id] = toy.now;
        return stint_cloud_running(controller, toy.now, id, toy.now);
    case READY:
        return stint_engine_node_ready(controller, toy.now, id, NULL);
    case STARTED:
        return stint_engine_task_started(controller, toy.now, id, news->key);
    case FINISHED:
        return toy.run_key[id] == news->key ? stint_engine_task_finished(controller, toy.now, id)
                                            : 0;
    case STOPPED:
        return stint_engine_task_stopped(controller, toy.now, id, news->key);
    case LEFT:
        return stint_engine_node_left(controller, toy.now, id);
    case GONE:
        return stint_cloud_gone(controller, toy.now, id, toy.billed_from[id], toy.now);
    }
    return 0;
}

/* The loop of every program that embeds the library: news, and a decision when one is wanted or due. */
static void run(void)
{
    while (!stint_controller_is_idle(toy.controller) || toy.news_count > 0) {
        const int64_t wake = stint_controller_next_wake(toy.controller);

        if (toy.news_count > 0 && toy.news[0].at <= wake) {
            const struct news news = toy.news[0];

            memmove(toy.news, toy.news + 1, (size_t)--toy.news_count * sizeof(news));
            check(tell(&news), "news were refused");
        } else {
            check(wake == STINT_NEVER ? -1 : 0, "work is left, and nothing will happen");
            toy.now = wake > toy.now ? wake : toy.now;
        }
        if (stint_controller_wants_decision(toy.controller) || toy.now >= wake)
            check(stint_controller_decide(toy.controller, toy.now), "no decision");
    }
}

static void add_offer(const char *name, int cpus, int64_t micro_dollars_per_hour)
{
    struct stint_error error;
    struct stint_type type;
    struct stint_offer offer;

    stint_type_init(&type);
    type.name = name;
    type.capacity.cpu_milli = cpus * 1000;
    type.capacity.memory_mib = cpus * 4096;
    type.acquire_ms = 20 * SECOND;
    type.setup_ms = 40 * SECOND;
    stint_offer_init(&offer);
    offer.per_hour = micro_dollars_per_hour;
    offer.bill_minimum_ms = MINUTE;
    check(stint_catalogue_add_type(toy.catalogue, &type, &offer.type, &error), error.text);
    check(stint_catalogue_add_offer(toy.catalogue, &offer, NULL, &error), error.text);
}

/* Each comes ten minutes after the one before. */
static void add_job(int index, const char *name, int cpus, uint32_t tasks, int minutes)
{
    struct stint_job *job = &toy.jobs[index];
    struct stint_error error;
    struct stint_shape shape;

    stint_shape_init(&shape);
    shape.name = name;
    shape.demand.cpu_milli = cpus * 1000;
    shape.demand.memory_mib = cpus * 2048;
    stint_job_init(job);
    check(stint_controller_add_shape(toy.controller, &shape, &job->shape, &error), error.text);
    job->id = (uint64_t)index + 1;
    job->name = name;
    job->first_task = (uint64_t)index * 100;
    job->task_count = tasks;
    job->arrived_at = (int64_t)index * 10 * MINUTE;
    job->fixed = true; /* a stop would lose what was done here, so nothing that runs is moved */
    job->estimate_ms = (int64_t)minutes * MINUTE;
    for (uint32_t i = 0; i < tasks; i++)
        toy.runtime_ms[job->first_task + i] = job->estimate_ms;
    later(job->arrived_at, ARRIVES, (uint64_t)index, 0);
}

int main(void)
{
    struct stint_error error;
    struct stint_engine engine;
    struct stint_cloud cloud;
    struct stint_totals totals;

    stint_engine_init(&engine);
    engine.admit = admit;
    engine.retire = retire;
    engine.place = place;
    engine.cancel = stop;
    engine.stop = stop;
    stint_cloud_init(&cloud);
    cloud.rent = rent;
    cloud.give_back = give_back;

    toy.catalogue = stint_catalogue_create();
    add_offer("small", 4, 200000); /* $0.20 */
    add_offer("large", 16, 680000);
    check(stint_controller_create(toy.catalogue, NULL, &engine, &cloud, NULL, &toy.controller,
                                  &error),
          error.text);
    add_job(0, "render", 2, 14, 20);
    add_job(1, "train", 4, 4, 60);
    add_job(2, "report", 1, 3, 5);
    toy.jobs[1].gang = true;
    run();

    stint_totals_init(&totals);
    check(stint_controller_totals(toy.controller, &totals), "no totals");
    printf("%d machines for $%d.%06d, of which boot %d %%, idle %d %%\n", (int)totals.rented,
           (int)(totals.bill / 1000000), (int)(totals.bill % 1000000),
           (int)(totals.boot * 100 / totals.bill), (int)(totals.idle * 100 / totals.bill));
    stint_controller_destroy(toy.controller);
    stint_catalogue_destroy(toy.catalogue);
    return 0;
}
