/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a program calls, in whatever order and with whatever numbers, the library answers: no assert below
 * it fails. Half of what is told answers what was asked, so that the controller gets somewhere; the other half
 * is nonsense: wrong keys, wrong ids, times out of order, things that cannot have happened.
 *
 *     test_lib_random [SEED [COUNT]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stint/stint.h>

#include "base/rng.h"
#include "base/units.h"
#include "control/books/ledger.h"
#include "lib/lib_private.h"

enum { SEEDS = 400, CALLS = 400, ACTS_MAX = 4096, MACHINES = 3, SHAPES = 4 };

enum act_kind { ACT_ADMIT, ACT_RETIRE, ACT_PLACE, ACT_QUEUE, ACT_STOP, ACT_RENT, ACT_RETURN };

struct act {
    enum act_kind kind;
    uint64_t key;
    uint64_t id;
};

struct mess {
    struct rng rng;
    struct stint_controller *controller;
    int64_t now;
    struct act acts[ACTS_MAX]; /* asked and not answered */
    uint32_t act_count;
    uint64_t cloud_list;
    uint64_t engine_list;
    uint64_t next_job;
};

static void note(struct mess *mess, enum act_kind kind, uint64_t key, uint64_t id)
{
    if (mess->act_count < ACTS_MAX)
        mess->acts[mess->act_count++] = (struct act){ .kind = kind, .key = key, .id = id };
}

static void mess_admit(void *self, uint64_t instance)
{
    note(self, ACT_ADMIT, 0, instance);
}

static void mess_retire(void *self, uint64_t instance)
{
    note(self, ACT_RETIRE, 0, instance);
}

static void mess_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    (void)instance;
    note(self, ACT_PLACE, key, task);
}

static void mess_place_gang(void *self, uint64_t key, const uint64_t *tasks,
                            const uint64_t *instances, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mess_place(self, key, tasks[i], instances[i]);
}

static void mess_queue(void *self, uint64_t key, uint64_t task)
{
    note(self, ACT_QUEUE, key, task);
}

static void mess_stop(void *self, uint64_t key, uint64_t task)
{
    note(self, ACT_STOP, key, task);
}

static void mess_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    (void)offer;
    for (uint32_t i = 0; i < count; i++)
        note(self, ACT_RENT, 0, first + i);
}

static void mess_give_back(void *self, uint64_t instance)
{
    note(self, ACT_RETURN, 0, instance);
}

static void mess_list_engine(void *self, uint64_t key)
{
    ((struct mess *)self)->engine_list = key;
}

static void mess_list_cloud(void *self, uint64_t key)
{
    ((struct mess *)self)->cloud_list = key;
}

static uint64_t below(struct mess *mess, uint64_t bound)
{
    return rng_below(&mess->rng, bound);
}

static bool chance(struct mess *mess, uint32_t percent)
{
    return below(mess, 100) < percent;
}

/* Mostly now, sometimes a little before, seldom anything. */
static int64_t some_time(struct mess *mess)
{
    if (chance(mess, 2))
        return (int64_t)rng_next(&mess->rng);
    if (chance(mess, 15))
        return mess->now - (int64_t)below(mess, 100000);
    return mess->now;
}

static uint64_t some_id(struct mess *mess)
{
    return chance(mess, 2) ? rng_next(&mess->rng)
                           : below(mess, stint_controller_next_key(mess->controller) + 2);
}

static uint64_t some_task(struct mess *mess)
{
    return 1 + below(mess, mess->next_job + 1) * 10 + below(mess, 5);
}

static void add_catalogue(struct mess *mess, struct stint_catalogue *catalogue)
{
    static const char *const names[MACHINES] = { "a", "b", "c" };

    for (uint32_t i = 0; i < MACHINES; i++) {
        struct stint_type type;
        struct stint_offer offer;

        stint_type_init(&type);
        type.name = names[i];
        type.capacity.cpu_milli = 1000 << (2 * i);
        type.capacity.memory_mib = (int64_t)below(mess, 10000);
        type.acquire_ms = (int64_t)below(mess, 100000);
        type.setup_ms = (int64_t)below(mess, 100000);
        stint_offer_init(&offer);
        offer.per_hour = (int64_t)below(mess, 3000000);
        offer.market = (enum stint_market)below(mess, 2);
        offer.bill_step_ms = chance(mess, 50) ? 0 : 3600000;
        (void)stint_catalogue_add_type(catalogue, &type, &offer.type, NULL);
        (void)stint_catalogue_add_offer(catalogue, &offer, NULL, NULL);
    }
}

static void set_some(struct mess *mess, struct stint_settings *settings)
{
    static const char *const limits[] = { "0", "1", "3", "20" };
    uint32_t count = 0;

    while (stint_policy_name(count) != NULL)
        count++;
    (void)stint_settings_set(settings, "policy", stint_policy_name((uint32_t)below(mess, count)),
                             NULL);
    (void)stint_settings_set(settings, "max_instances", limits[below(mess, 4)], NULL);
    (void)stint_settings_set(settings, "estimates", chance(mess, 50) ? "given" : "learned", NULL);
    (void)stint_settings_set(settings, "queue_ahead", chance(mess, 50) ? "0" : "10m", NULL);
    (void)stint_settings_set(settings, "place_retry", chance(mess, 50) ? "0" : "5s", NULL);
    (void)stint_settings_set(settings, "boot_timeout", chance(mess, 50) ? "0" : "2m", NULL);
    (void)stint_settings_set(settings, "replace_after", chance(mess, 80) ? "0" : "1h", NULL);
    (void)stint_settings_set(settings, "replace_percent", chance(mess, 50) ? "10" : "100", NULL);
    (void)stint_settings_set(settings, "starts_slowly", chance(mess, 20) ? "true" : "false", NULL);
}

static void tune(struct mess *mess)
{
    struct stint_settings *settings = stint_settings_create();

    set_some(mess, settings);
    (void)stint_controller_tune(mess->controller, settings);
    stint_settings_destroy(settings);
}

static void make(struct mess *mess)
{
    struct stint_catalogue *catalogue = stint_catalogue_create();
    struct stint_settings *settings = stint_settings_create();
    struct stint_engine engine;
    struct stint_cloud cloud;

    stint_engine_init(&engine);
    engine.self = mess;
    engine.admit = mess_admit;
    engine.retire = mess_retire;
    engine.place = mess_place;
    engine.place_gang = chance(mess, 50) ? mess_place_gang : NULL;
    engine.queue = chance(mess, 50) ? mess_queue : NULL;
    engine.cancel = mess_stop;
    engine.stop = mess_stop;
    engine.list = mess_list_engine;
    stint_cloud_init(&cloud);
    cloud.self = mess;
    cloud.rent = mess_rent;
    cloud.give_back = mess_give_back;
    cloud.list = mess_list_cloud;
    add_catalogue(mess, catalogue);
    set_some(mess, settings);
    if (stint_controller_create(catalogue, settings, &engine, &cloud, NULL, &mess->controller,
                                NULL) < 0)
        abort();
    stint_settings_destroy(settings);
    stint_catalogue_destroy(catalogue);
}

static void add_shape(struct mess *mess)
{
    struct stint_shape shape;
    char name[2] = { (char)('a' + below(mess, 20)), '\0' };

    stint_shape_init(&shape);
    shape.name = name;
    shape.demand.cpu_milli = (int64_t)below(mess, 20000);
    shape.demand.memory_mib = (int64_t)below(mess, 500);
    (void)stint_controller_add_shape(mess->controller, &shape, NULL, NULL);
}

static void tell_job(struct mess *mess)
{
    struct stint_job job;

    stint_job_init(&job);
    job.id = chance(mess, 90) ? ++mess->next_job : 1 + below(mess, mess->next_job + 1);
    job.first_task = 1 + job.id * 10;
    job.task_count = (uint32_t)below(mess, 5);
    job.shape = (uint32_t)below(mess, SHAPES);
    job.name = chance(mess, 50) ? "x" : NULL;
    job.user = chance(mess, 50) ? "u" : NULL;
    job.arrived_at = some_time(mess);
    job.estimate_ms = chance(mess, 20)   ? -1
                      : chance(mess, 10) ? STINT_NEVER
                                         : (int64_t)below(mess, 10000000);
    job.gang = chance(mess, 30);
    job.fixed = chance(mess, 30);
    job.spread = chance(mess, 30);
    (void)stint_engine_job_arrived(mess->controller, some_time(mess), &job, NULL);
}

/* As a good port does, most of the time. */
static void answer(struct mess *mess)
{
    if (mess->act_count == 0)
        return;

    const uint32_t index = (uint32_t)below(mess, mess->act_count);
    const struct act act = mess->acts[index];
    const int64_t at = mess->now;

    mess->acts[index] = mess->acts[--mess->act_count];
    switch (act.kind) {
    case ACT_ADMIT:
        (void)stint_engine_node_ready(mess->controller, at, act.id, NULL);
        break;
    case ACT_RETIRE:
        (void)stint_engine_node_left(mess->controller, at, act.id);
        break;
    case ACT_PLACE:
        (void)stint_engine_task_started(mess->controller, at, act.id, act.key);
        break;
    case ACT_QUEUE:
        (void)stint_engine_task_found(mess->controller, at, act.id, act.key, some_id(mess), at);
        break;
    case ACT_STOP:
        (void)stint_engine_task_stopped(mess->controller, at, act.id, act.key);
        break;
    case ACT_RENT:
        (void)stint_cloud_running(mess->controller, at, act.id, at);
        break;
    case ACT_RETURN:
        (void)stint_cloud_gone(mess->controller, at, act.id, at > 1000 ? at - 1000 : 0, at);
        break;
    }
}

static void nonsense_of_engine(struct mess *mess)
{
    struct stint_controller *controller = mess->controller;
    const int64_t at = some_time(mess);

    switch (below(mess, 12)) {
    case 0:
        (void)stint_engine_job_withdrawn(controller, at, 1 + below(mess, mess->next_job + 1));
        break;
    case 1:
        (void)stint_engine_node_ready(controller, at, some_id(mess), NULL);
        break;
    case 2:
        (void)stint_engine_node_lost(controller, at, some_id(mess), chance(mess, 50));
        break;
    case 3:
        (void)stint_engine_node_left(controller, at, some_id(mess));
        break;
    case 4:
        (void)stint_engine_task_started(controller, at, some_task(mess), some_id(mess));
        break;
    case 5:
        (void)stint_engine_task_found(controller, at, some_task(mess), some_id(mess), some_id(mess),
                                      some_time(mess));
        break;
    case 6:
        (void)stint_engine_task_rate(controller, at, some_task(mess), some_id(mess),
                                     (uint32_t)rng_next(&mess->rng));
        break;
    case 7:
        (void)stint_engine_task_lost(controller, at, some_task(mess), some_id(mess));
        break;
    case 8:
        (void)stint_engine_task_finished(controller, at, some_task(mess));
        break;
    case 10:
        (void)stint_engine_task_withdrawn(controller, at, some_task(mess));
        break;
    case 9:
        (void)stint_engine_task_kept(controller, at, some_task(mess), some_id(mess),
                                     some_time(mess));
        break;
    default:
        (void)stint_engine_listed(controller, at, mess->engine_list);
        break;
    }
}

static void nonsense_of_cloud(struct mess *mess)
{
    struct stint_controller *controller = mess->controller;
    const int64_t at = some_time(mess);

    switch (below(mess, 6)) {
    case 0:
        (void)stint_cloud_running(controller, at, some_id(mess), some_time(mess));
        break;
    case 1:
        (void)stint_cloud_refused(controller, at, some_id(mess), (int64_t)below(mess, 100000));
        break;
    case 2:
        (void)stint_cloud_notice(controller, at, some_id(mess), chance(mess, 50),
                                 chance(mess, 50) ? at + 60000 : 0);
        (void)stint_cloud_outdated(controller, at, some_id(mess), chance(mess, 80));
        break;
    case 3:
        (void)stint_cloud_gone(controller, at, some_id(mess), some_time(mess), some_time(mess));
        break;
    case 4:
        (void)stint_cloud_found(controller, at, some_id(mess), (uint32_t)below(mess, MACHINES + 1),
                                some_time(mess));
        break;
    default:
        (void)stint_cloud_listed(controller, at, mess->cloud_list);
        break;
    }
}

static void look(struct mess *mess)
{
    struct stint_task task;
    struct stint_instance instance;

    stint_task_init(&task);
    stint_instance_init(&instance);
    (void)stint_controller_task(mess->controller, some_task(mess), &task);
    (void)stint_controller_instance(mess->controller, some_id(mess), &instance);
    (void)stint_controller_bound(mess->controller);
}

static void act_up(struct mess *mess)
{
    struct stint_controller *controller = mess->controller;

    switch (below(mess, 8)) {
    case 0:
        add_shape(mess);
        break;
    case 1:
        (void)stint_controller_set_price(controller, some_time(mess),
                                         (uint32_t)below(mess, MACHINES + 1),
                                         (int64_t)below(mess, 5000000));
        break;
    case 2:
        (void)stint_controller_audit(controller, some_time(mess));
        break;
    case 3:
        tune(mess);
        break;
    case 4:
        (void)stint_controller_set_budget(controller, chance(mess, 80) ? STINT_NEVER : 1000000);
        break;
    case 5:
        (void)stint_controller_remember(controller, mess->now, some_id(mess),
                                        (uint32_t)below(mess, MACHINES), some_time(mess));
        break;
    case 6:
        if (chance(mess, 10))
            (void)stint_controller_drain(controller, mess->now);
        break;
    default:
        look(mess);
        break;
    }
}

static void call(struct mess *mess)
{
    const uint64_t what = below(mess, 100);

    mess->now += chance(mess, 50) ? (int64_t)below(mess, 60000) : 0;
    if (what < 10)
        tell_job(mess);
    else if (what < 45)
        answer(mess);
    else if (what < 70)
        (void)stint_controller_decide(mess->controller, some_time(mess));
    else if (what < 82)
        nonsense_of_engine(mess);
    else if (what < 92)
        nonsense_of_cloud(mess);
    else
        act_up(mess);
}

static void run(uint64_t seed)
{
    static struct mess mess;

    mess = (struct mess){ .now = 100000000 };
    rng_init(&mess.rng, seed, 0);
    make(&mess);
    for (int i = 0; i < SHAPES; i++)
        add_shape(&mess);
    for (int i = 0; i < CALLS; i++)
        call(&mess);
    ledger_check(controller_ledger(mess.controller->control));
    stint_controller_destroy(mess.controller);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : (argc > 1 ? 1 : SEEDS);

    for (uint64_t seed = first; seed < first + count; seed++) {
        (void)fprintf(stderr, "seed %ju\n", (uintmax_t)seed);
        run(seed);
    }
    puts("ok 1 - no call aborts the program\n1..1");
    return 0;
}
