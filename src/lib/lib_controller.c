/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of control/, with a catalogue, shapes and names of its own, behind ports that are the
 * caller's. 'is_busy' is up while ports may be called; whatever would change the controller then is refused.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "lib/lib_private.h"

enum {
    ENGINE_LEAST = sizeof(struct stint_engine),
    CLOUD_LEAST = sizeof(struct stint_cloud),
    BOOKS_LEAST = sizeof(struct stint_books),
};

int lib_enter(struct stint_controller *controller)
{
    if (controller->is_busy)
        return -EBUSY;
    controller->is_busy = true;
    return 0;
}

void lib_leave(struct stint_controller *controller)
{
    controller->is_busy = false;
}

/*
 * The ports, from one form to the other.
 */

static void admit(void *self, uint64_t instance)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    if (engine->admit != NULL)
        engine->admit(engine->self, instance);
}

static void retire(void *self, uint64_t instance)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    if (engine->retire != NULL)
        engine->retire(engine->self, instance);
}

static void forget(void *self, uint64_t instance)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    if (engine->forget != NULL)
        engine->forget(engine->self, instance);
}

static void place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    if (engine->place != NULL)
        engine->place(engine->self, key, task, instance);
}

static void place_gang(void *self, uint64_t key, const uint64_t *tasks, const uint64_t *instances,
                       uint32_t count)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    engine->place_gang(engine->self, key, tasks, instances, count);
}

static void queue(void *self, uint64_t key, uint64_t task)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    engine->queue(engine->self, key, task);
}

static void cancel(void *self, uint64_t key, uint64_t task)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    if (engine->cancel != NULL)
        engine->cancel(engine->self, key, task);
}

static void stop(void *self, uint64_t key, uint64_t task)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    if (engine->stop != NULL)
        engine->stop(engine->self, key, task);
}

static void list_engine(void *self, uint64_t key)
{
    const struct stint_engine *engine = &((struct stint_controller *)self)->engine;

    engine->list(engine->self, key);
}

static void rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    const struct stint_cloud *cloud = &((struct stint_controller *)self)->cloud;

    if (cloud->rent != NULL)
        cloud->rent(cloud->self, first, count, offer);
}

static void give_back(void *self, uint64_t instance)
{
    const struct stint_cloud *cloud = &((struct stint_controller *)self)->cloud;

    if (cloud->give_back != NULL)
        cloud->give_back(cloud->self, instance);
}

static void list_cloud(void *self, uint64_t key)
{
    const struct stint_cloud *cloud = &((struct stint_controller *)self)->cloud;

    cloud->list(cloud->self, key);
}

/* What the caller's engine cannot do is NULL here too. */
static struct engine_ops engine_ops(const struct stint_engine *engine)
{
    return (struct engine_ops){
        .admit = admit,
        .retire = retire,
        .forget = forget,
        .place = place,
        .place_gang = engine->place_gang != NULL ? place_gang : NULL,
        .queue = engine->queue != NULL ? queue : NULL,
        .cancel = cancel,
        .stop = stop,
        .list = list_engine,
    };
}

static const struct cloud_ops cloud_ops = {
    .rent = rent,
    .give_back = give_back,
    .list = list_cloud,
};

static void settled(void *context, const struct view *view, uint32_t task, struct ledger_due due)
{
    const struct stint_books *books = &((struct stint_controller *)context)->books;

    if (books->task_settled != NULL)
        books->task_settled(books->self, view->task.id[task], due.cost, due.occupied_ms);
}

static void billed(void *context, const struct view *view, uint32_t instance,
                   const struct ledger_bill *bill)
{
    const struct stint_books *books = &((struct stint_controller *)context)->books;

    if (books->instance_billed != NULL)
        books->instance_billed(books->self, view->instance.id[instance], bill->from, bill->to,
                               bill->sums.bill);
}

/*
 * Life.
 */

static void copy_catalogue(const struct catalogue *from, struct catalogue *ret)
{
    catalogue_init(ret);
    for (uint32_t i = 0; i < from->type_count; i++) {
        const struct machine_type *type = &from->types[i];

        const uint32_t row = catalogue_add_type(ret, names_text(&from->names, type->name),
                                                names_text(&from->families, type->family), type);

        catalogue_copy_words(ret, row, from, i);
    }
    for (uint32_t i = 0; i < from->offer_count; i++) {
        const struct offer *offer = &from->offers[i];

        (void)catalogue_add_offer(
            ret, offer->zone != NAME_NONE ? names_text(&from->names, offer->zone) : NULL, offer);
    }
}

/* The ports as given; those that are not stay empty. */
static int take_ports(struct stint_controller *controller, const struct stint_engine *engine,
                      const struct stint_cloud *cloud, const struct stint_books *books)
{
    int rc = 0;

    if (engine != NULL)
        rc = lib_take(&controller->engine, sizeof(controller->engine), engine, ENGINE_LEAST);
    if (rc == 0 && cloud != NULL)
        rc = lib_take(&controller->cloud, sizeof(controller->cloud), cloud, CLOUD_LEAST);
    if (rc == 0 && books != NULL)
        rc = lib_take(&controller->books, sizeof(controller->books), books, BOOKS_LEAST);
    return rc;
}

static void start(struct stint_controller *controller, const struct stint_catalogue *catalogue,
                  const struct stint_settings *settings)
{
    struct controller_config config;

    if (settings != NULL)
        config = settings->config;
    else
        lib_settings_defaults(&config);
    copy_catalogue(&catalogue->rows, &controller->catalogue);
    controller->price_room =
        mem_alloc(catalogue->rows.offer_count, sizeof(*controller->price_room));
    for (uint32_t i = 0; i < catalogue->rows.offer_count; i++)
        controller->price_room[i] = controller->catalogue.offers[i].price.count;
    shapes_init(&controller->shapes);
    shapes_bind(&controller->shapes, &controller->catalogue);
    names_init(&controller->job_names);
    names_init(&controller->user_names);
    config.catalogue = &controller->catalogue;
    config.shapes = &controller->shapes;
    controller->engine_ops = engine_ops(&controller->engine);
    config.engine = (struct engine_port){ .ops = &controller->engine_ops, .self = controller };
    config.cloud = (struct cloud_port){ .ops = &cloud_ops, .self = controller };
    config.on_plan = lib_keep_plan;
    config.on_settled = settled;
    config.on_bill = billed;
    config.context = controller;
    controller->control = controller_create(&config);
}

int stint_controller_create(const struct stint_catalogue *catalogue,
                            const struct stint_settings *settings,
                            const struct stint_engine *engine, const struct stint_cloud *cloud,
                            const struct stint_books *books, struct stint_controller **ret,
                            struct stint_error *reterr)
{
    if (catalogue == NULL || ret == NULL)
        return lib_fail(reterr, -EINVAL, "no catalogue, or nowhere to put the controller");
    if (catalogue->rows.offer_count == 0)
        return lib_fail(reterr, -EINVAL, "the catalogue offers nothing");

    struct stint_controller *controller = mem_alloc(1, sizeof(*controller));

    if (take_ports(controller, engine, cloud, books) < 0) {
        mem_free(controller);
        return lib_fail(reterr, -EINVAL, "a port that its stint_..._init did not see");
    }
    start(controller, catalogue, settings);
    *ret = controller;
    return 0;
}

void stint_controller_destroy(struct stint_controller *controller)
{
    if (controller == NULL)
        return;
    assert(!controller->is_busy);
    controller_destroy(controller->control);
    lib_plan_done(&controller->plan);
    catalogue_done(&controller->catalogue);
    mem_free(controller->price_room);
    shapes_done(&controller->shapes);
    names_done(&controller->job_names);
    names_done(&controller->user_names);
    mem_free(controller);
}

int stint_controller_tune(struct stint_controller *controller,
                          const struct stint_settings *settings)
{
    if (controller == NULL || settings == NULL)
        return -EINVAL;
    if (controller->is_busy)
        return -EBUSY;
    controller_tune(controller->control, &settings->config);
    return 0;
}

int stint_controller_set_budget(struct stint_controller *controller, int64_t left)
{
    if (controller == NULL || left < 0)
        return -EINVAL;
    if (controller->is_busy)
        return -EBUSY;
    controller_set_budget(controller->control, left != STINT_NEVER, left);
    return 0;
}

/*
 * Prices.
 */

/* The earliest time from which a bill of this offer is still open, and 'now' if there is none. */
static msec_t oldest_bill(const struct view *view, uint32_t offer, msec_t now)
{
    msec_t oldest = now;

    INSTANCE_EACH(row, view)
    {
        const msec_t from = view->instance.billed_from[row];

        if (view->instance.offer[row] == offer && from >= 0 && from < oldest)
            oldest = from;
    }
    return oldest;
}

/* Drop the changes that no open bill needs: all before the one that holds at 'since'. */
static void drop_old(struct price_series *series, struct price_change *changes, msec_t since)
{
    uint32_t first = 0;

    while (first + 1 < series->count && changes[first + 1].at <= since)
        first++;
    memmove(changes, changes + first, (series->count - first) * sizeof(*changes));
    series->count -= first;
}

/* What is full is emptied first. */
static void append_price(struct stint_controller *controller, uint32_t offer, msec_t now,
                         money_t per_hour)
{
    struct price_series *series = &controller->catalogue.offers[offer].price;
    struct price_change **owned = &controller->catalogue.owned_prices[offer];

    if (series->count == controller->price_room[offer]) {
        drop_old(series, *owned, oldest_bill(controller_view(controller->control), offer, now));
        MEM_ROOM(*owned, controller->price_room[offer], series->count + 1);
        series->changes = *owned;
    }
    (*owned)[series->count++] = (struct price_change){ .at = now, .per_hour = per_hour };
}

int stint_controller_set_price(struct stint_controller *controller, int64_t now, uint32_t offer,
                               int64_t per_hour)
{
    if (controller == NULL || offer >= controller->catalogue.offer_count || !lib_is_time(now) ||
        per_hour < 0 || per_hour > LIMIT_MONEY)
        return -EINVAL;
    if (controller->is_busy)
        return -EBUSY;

    const struct price_series *series = &controller->catalogue.offers[offer].price;
    const struct price_change *last = &series->changes[series->count - 1];

    if (last->at > now)
        return -EINVAL;
    if (last->per_hour == per_hour)
        return 0;
    append_price(controller, offer, now, per_hour);
    controller_prices_changed(controller->control);
    return 0;
}

/*
 * Shapes.
 */

static bool has_delays(const struct stint_shape *shape)
{
    return lib_is_time(shape->fetch_ms) && lib_is_time(shape->build_ms) &&
           lib_is_time(shape->init_ms) && lib_is_time(shape->kill_ms) &&
           lib_is_time(shape->upload_ms);
}

/* 'ret' has room for all families and one more; negative errno, or how many there are. */
static int read_demands(const struct stint_controller *controller, const struct stint_shape *shape,
                        struct shape_demand *ret, struct stint_error *reterr)
{
    const struct names *families = &controller->catalogue.families;
    int count = 0;

    for (size_t i = 0; i < shape->family_count; i++) {
        const struct stint_family_demand *given = &shape->families[i];

        if (!lib_is_name(given->family))
            return lib_fail(reterr, -EINVAL, "the name of a family has 1 to 256 bytes");
        ret[count].family = names_find(families, given->family, strlen(given->family));
        if (ret[count].family == NAME_NONE)
            return lib_fail(reterr, -ENOENT, "the catalogue has no such family");
        if (!lib_read_resources(&given->demand, &ret[count].res))
            return lib_fail(reterr, -EINVAL, "a demand is of nothing, or an amount out of range");
        count++;
    }
    if (!shape->only_families) {
        ret[count].family = FAMILY_NONE;
        if (!lib_read_resources(&shape->demand, &ret[count].res))
            return lib_fail(reterr, -EINVAL, "a demand is of nothing, or an amount out of range");
        count++;
    }
    return count > 0 ? count : lib_fail(reterr, -EINVAL, "a shape without any demand");
}

static uint32_t add_shape(struct stint_controller *controller, const struct stint_shape *shape,
                          const struct shape_demand *demands, uint32_t count)
{
    const struct shape_spec spec = {
        .name = shape->name,
        .workload = shape->workload != NULL ? shape->workload : shape->name,
        .delays = { .fetch_ms = shape->fetch_ms,
                    .build_ms = shape->build_ms,
                    .init_ms = shape->init_ms,
                    .kill_ms = shape->kill_ms,
                    .upload_ms = shape->upload_ms },
        .demands = demands,
        .demand_count = count,
    };

    return shapes_add(&controller->shapes, &spec);
}

int stint_controller_add_shape(struct stint_controller *controller, const struct stint_shape *shape,
                               uint32_t *ret, struct stint_error *reterr)
{
    struct stint_shape given;

    if (controller == NULL ||
        lib_take(&given, sizeof(given), shape, sizeof(struct stint_shape)) < 0)
        return lib_fail(reterr, -EINVAL,
                        "no controller, no shape, or one that stint_shape_init did not see");
    if (controller->is_busy)
        return lib_fail(reterr, -EBUSY, "called from inside a port");
    if (!lib_is_name(given.name) || (given.workload != NULL && !lib_is_name(given.workload)))
        return lib_fail(reterr, -EINVAL, "a shape needs names of 1 to 256 bytes");
    if (!has_delays(&given))
        return lib_fail(reterr, -EINVAL, "a time is below 0 or above STINT_TIME_MAX");
    if (given.family_count > LIMIT_FAMILIES || (given.family_count > 0 && given.families == NULL))
        return lib_fail(reterr, -EINVAL, "too many families, or 'family_count' without 'families'");
    if (controller->shapes.count == LIMIT_SHAPES)
        return lib_fail(reterr, -E2BIG, "more than 1,048,576 shapes");

    struct shape_demand *demands = mem_alloc(given.family_count + 1, sizeof(*demands));
    const int count = read_demands(controller, &given, demands, reterr);

    if (count > 0) {
        const uint32_t index = add_shape(controller, &given, demands, (uint32_t)count);

        if (ret != NULL)
            *ret = index;
    }
    mem_free(demands);
    return count > 0 ? 0 : count;
}

/*
 * Decisions.
 */

/* -EINVAL: it is no time, or before the last one given. */
static int enter_at(struct stint_controller *controller, int64_t now)
{
    if (controller == NULL || !lib_is_time(now))
        return -EINVAL;
    if (!controller->is_busy && now < controller_view(controller->control)->now)
        return -EINVAL;
    return lib_enter(controller);
}

int stint_controller_decide(struct stint_controller *controller, int64_t now)
{
    const int rc = enter_at(controller, now);

    if (rc < 0)
        return rc;
    controller_decide(controller->control, now);
    lib_leave(controller);
    return 0;
}

int stint_controller_drain(struct stint_controller *controller, int64_t now)
{
    const int rc = enter_at(controller, now);

    if (rc < 0)
        return rc;
    controller_drain(controller->control, now);
    lib_leave(controller);
    return 0;
}

int stint_controller_audit(struct stint_controller *controller, int64_t now)
{
    if (controller != NULL && (controller->engine.list == NULL || controller->cloud.list == NULL))
        return -ENOTSUP;

    const int rc = enter_at(controller, now);

    if (rc < 0)
        return rc;
    controller_audit(controller->control, now);
    lib_leave(controller);
    return 0;
}

int stint_controller_remember(struct stint_controller *controller, int64_t now, uint64_t instance,
                              uint32_t offer, int64_t asked_at)
{
    if (controller == NULL || offer >= controller->catalogue.offer_count || instance == 0 ||
        instance > INT64_MAX || asked_at < 0 || asked_at > now)
        return -EINVAL;

    const int rc = enter_at(controller, now);

    if (rc < 0)
        return rc;
    controller_remember(controller->control, instance, offer, asked_at, now);
    lib_leave(controller);
    return 0;
}

bool stint_controller_wants_decision(const struct stint_controller *controller)
{
    return controller_wants_decision(controller->control);
}

int64_t stint_controller_next_wake(const struct stint_controller *controller)
{
    return controller_next_wake(controller->control);
}

uint64_t stint_controller_next_key(const struct stint_controller *controller)
{
    return controller_next_key(controller->control);
}

bool stint_controller_is_idle(const struct stint_controller *controller)
{
    return controller_is_idle(controller->control);
}
