/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/api_private.h"

enum {
    INSTANCES_OF_JOB = 16, /* that a row of the list names */
    TASKS_OF_INSTANCE = 64,
};

/* What a row needs to know. -------------------------------------------------------------------- */

money_t api_bill_now(const struct api_call *call, uint32_t instance)
{
    const struct view *view = call->view;
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
    const msec_t from = view->instance.billed_from[instance];

    if (from < 0 || call->now <= from)
        return 0;
    return billing_charge(&offer->billing, &offer->price, from, call->now);
}

money_t api_job_cost(const struct api_call *call, uint32_t job)
{
    const struct ledger *ledger = controller_ledger(call->world->controller);
    money_t cost = 0;

    for (uint32_t task = call->view->job.first_task[job]; task != ROW_NONE;
         task = call->view->task.sibling[task])
        cost += ledger_due_at(ledger, task, call->now).cost;
    return cost;
}

msec_t api_executed(const struct api_call *call, uint32_t task)
{
    const msec_t since = call->view->task.launched_at[task];

    return call->view->task.executed_ms[task] +
           (since >= 0 && call->now > since ? call->now - since : 0);
}

const struct res *api_shape_demand(const struct api_call *call, uint32_t shape)
{
    const struct view *view = call->view;
    const struct shapes *shapes = view->shapes;

    if (shape < view->shapes_priced && view->shape_offer[shape] != OFFER_NONE) {
        const struct res *demand =
            shape_demand_at(shapes, shape, view->catalogue, view->shape_offer[shape]);

        if (demand != NULL)
            return demand;
    }
    return &shapes->demands[shapes->rows[shape].demand_first].res;
}

enum task_state api_job_state(const struct view *view, uint32_t job, uint32_t ret_count[4])
{
    enum task_state furthest = TASK_WAITING;

    for (int state = 0; state < 4; state++)
        ret_count[state] = 0;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        ret_count[view->task.state[task]]++;
        if (view->task.state[task] > furthest)
            furthest = view->task.state[task];
    }
    return furthest;
}

/* Jobs. --------------------------------------------------------------------------------------- */

static json_t *instances_of_job(const struct api_call *call, uint32_t job)
{
    const struct view *view = call->view;
    json_t *names = json_array();
    uint32_t last = ROW_NONE;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];
        char name[SERVE_TEXT];

        if (instance == ROW_NONE || instance == last)
            continue;
        if (json_array_size(names) == INSTANCES_OF_JOB)
            break;
        serve_machine_text(call->world, view->instance.id[instance], name, sizeof(name));
        json_array_append_new(names, api_text(name));
        last = instance;
    }
    return names;
}

static json_t *job_json(const struct api_call *call, uint32_t job)
{
    const struct view *view = call->view;
    const uint32_t task = view->job.first_task[job];
    uint32_t count[4];
    const enum task_state state = api_job_state(view, job, count);
    json_t *object = json_object();
    char label[SERVE_TEXT];

    serve_job_text(call->world, view->job.id[job], label, sizeof(label));
    api_set_text(object, "job", label);
    api_set_text(object, "name", api_name(call->world->job_names, view->job.name[job]));
    api_set_text(object, "user", api_name(call->world->users, view->job.user[job]));
    api_set_text(object, "state", serve_task_word(state));
    api_set_time(object, "arrived_at", view->job.arrived_at[job]);
    api_set_number(object, "tasks", view->job.task_count[job]);
    api_set_number(object, "waiting", count[TASK_WAITING]);
    api_set_number(object, "bound", count[TASK_BOUND]);
    api_set_number(object, "running", count[TASK_RUNNING]);
    api_set_bool(object, "gang", view->job.gang[job] != 0);
    if (task != ROW_NONE) {
        api_set_resources(object, api_shape_demand(call, view->task.shape[task]));
        api_set_time(object, "estimate_ms", api_expected_ms(call, task));
        api_set_number(object, "executed_ms", api_executed(call, task));
    }
    json_object_set_new(object, "instances", instances_of_job(call, job));
    api_set_number(object, "cost_microdollars", api_job_cost(call, job));
    return object;
}

struct job_filter {
    const char *user;
    bool by_state;
    enum task_state state;
};

static bool fits_filter(const struct api_call *call, const struct job_filter *filter, uint32_t job)
{
    uint32_t count[4];

    if (filter->user != NULL) {
        const char *user = api_name(call->world->users, call->view->job.user[job]);

        if (user == NULL || strcmp(user, filter->user) != 0)
            return false;
    }
    if (!filter->by_state)
        return true;
    (void)api_job_state(call->view, job, count);
    return count[filter->state] > 0;
}

/* The arguments 'user' and 'state'; false: it was answered. */
static bool read_filter(struct api_call *call, struct job_filter *ret)
{
    const char *word = api_argument(call, "state");

    *ret = (struct job_filter){ .user = api_argument(call, "user"), .by_state = word != NULL };
    if (word == NULL)
        return true;
    for (enum task_state state = TASK_WAITING; state <= TASK_RUNNING; state++) {
        if (strcmp(word, serve_task_word(state)) == 0) {
            ret->state = state;
            return true;
        }
    }
    api_error(call, 400, "state must be waiting, bound or running");
    return false;
}

void api_jobs(struct api_call *call)
{
    const struct view *view = call->view;
    struct job_filter filter;
    uint32_t limit = 0;
    uint32_t total = 0;

    if (!read_filter(call, &filter) || !api_limit(call, &limit))
        return;

    json_t *jobs = json_array();

    for (uint32_t job = 0; job < view->job.count; job++) {
        if (!view->job.used[job] || !fits_filter(call, &filter, job))
            continue;
        if (total++ < limit)
            json_array_append_new(jobs, job_json(call, job));
    }
    api_json(call, 200,
             json_pack("{s:I,s:I,s:o}", "now", (json_int_t)call->now, "total", (json_int_t)total,
                       "jobs", jobs));
}

/* Instances. ---------------------------------------------------------------------------------- */

static json_t *tasks_of_instance(const struct api_call *call, uint32_t instance)
{
    const struct view *view = call->view;
    json_t *tasks = json_array();
    char label[SERVE_TEXT];

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (json_array_size(tasks) == TASKS_OF_INSTANCE)
            break;
        serve_task_text(call->world, view->task.id[task], label, sizeof(label));
        json_array_append_new(tasks, api_text(label));
    }
    return tasks;
}

static json_t *resources_json(const struct res *res)
{
    json_t *object = json_object();

    api_set_resources(object, res);
    return object;
}

static json_t *instance_json(const struct api_call *call, uint32_t row)
{
    const struct view *view = call->view;
    const struct catalogue *catalogue = view->catalogue;
    const struct instance_table *table = &view->instance;
    const struct offer *offer = &catalogue->offers[table->offer[row]];
    json_t *object = json_object();
    char name[SERVE_TEXT];

    serve_machine_text(call->world, table->id[row], name, sizeof(name));
    api_set_text(object, "instance", name);
    api_set_number(object, "id", (int64_t)table->id[row]);
    api_set_text(object, "type", catalogue_offer_type_name(catalogue, table->offer[row]));
    api_set_text(object, "zone", api_name(&catalogue->names, offer->zone));
    api_set_text(object, "market", market_name(offer->market));
    api_set_text(object, "state", serve_instance_word(table->state[row]));
    api_set_money(object, "price_microdollars_per_hour", price_at(&offer->price, call->now));
    api_set_time(object, "rented_at", table->rented_at[row]);
    api_set_time(object, "billed_since", table->billed_from[row]);
    api_set_time(object, "ready_expected_at", table->ready_expected[row]);
    api_set_time(object, "empty_since", table->task_count[row] > 0 ? -1 : table->empty_since[row]);
    json_object_set_new(object, "tasks", tasks_of_instance(call, row));
    api_set_number(object, "task_count", table->task_count[row]);
    json_object_set_new(object, "capacity", resources_json(view_capacity(view, row)));
    json_object_set_new(object, "used", resources_json(&table->used[row]));
    api_set_number(object, "bill_microdollars", api_bill_now(call, row));
    return object;
}

void api_instances(struct api_call *call)
{
    uint32_t limit = 0;

    if (!api_limit(call, &limit))
        return;

    json_t *instances = json_array();

    INSTANCE_EACH(row, call->view)
    {
        if (json_array_size(instances) == limit)
            break;
        json_array_append_new(instances, instance_json(call, row));
    }
    api_json(call, 200,
             json_pack("{s:I,s:I,s:o}", "now", (json_int_t)call->now, "total",
                       (json_int_t)call->view->instance.living, "instances", instances));
}

/* The plan. ----------------------------------------------------------------------------------- */

static void set_reason(json_t *object, const struct serve_reason *why)
{
    api_set_text(object, "why", why->text);
    api_set_money(object, "chosen_microdollars_per_hour", why->chosen);
    api_set_money(object, "passed_over_microdollars_per_hour", why->passed_over);
    api_set_text(object, "passed_over", why->passed_offer[0] != '\0' ? why->passed_offer : NULL);
    if (why->saving != MONEY_UNKNOWN && why->move_cost != MONEY_UNKNOWN) {
        api_set_money(object, "saving_microdollars", why->saving);
        api_set_money(object, "move_cost_microdollars", why->move_cost);
    }
}

static json_t *rents_json(const struct serve_plan *plan, uint32_t most)
{
    json_t *rents = json_array();

    for (uint32_t i = 0; i < plan->rent_count && i < most; i++) {
        json_t *rent = json_object();

        api_set_text(rent, "offer", plan->rents[i].offer);
        api_set_number(rent, "count", plan->rents[i].count);
        set_reason(rent, &plan->rents[i].why);
        json_array_append_new(rents, rent);
    }
    return rents;
}

static json_t *places_json(const struct api_call *call, const struct serve_plan *plan,
                           uint32_t most)
{
    json_t *places = json_array();

    for (uint32_t i = 0; i < plan->place_count && i < most; i++) {
        const struct serve_place *from = &plan->places[i];
        json_t *place = json_object();

        api_set_text(place, "task", from->task);
        api_set_text(place, "job", from->job);
        api_set_text(place, "user", api_name(call->world->users, from->user));
        api_set_text(place, "where", from->where);
        api_set_bool(place, "fresh", from->fresh);
        set_reason(place, &from->why);
        json_array_append_new(places, place);
    }
    return places;
}

static json_t *releases_json(const struct api_call *call, const struct serve_plan *plan,
                             uint32_t most)
{
    json_t *releases = json_array();
    char name[SERVE_TEXT];

    for (uint32_t i = 0; i < plan->release_count && i < most; i++) {
        json_t *release = json_object();

        serve_machine_text(call->world, plan->releases[i].instance, name, sizeof(name));
        api_set_text(release, "instance", name);
        set_reason(release, &plan->releases[i].why);
        json_array_append_new(releases, release);
    }
    return releases;
}

static json_t *candidate_json(const struct serve_plan *plan, const struct plan_candidate *candidate)
{
    if (plan->kind == PLAN_PLAIN)
        return json_null();
    return json_pack("{s:I,s:I,s:I}", "saving_microdollars_per_hour",
                     (json_int_t)candidate->saving_per_hour, "migration_microdollars",
                     (json_int_t)candidate->migration, "total_microdollars",
                     (json_int_t)candidate->total);
}

void api_plan(struct api_call *call)
{
    static const char *const kind[] = { "plain", "partial", "full" };
    const struct serve_plan *plan = &call->world->plan;
    uint32_t most = 0;

    if (!api_limit(call, &most))
        return;

    json_t *object = json_object();

    api_set_number(object, "decision", (int64_t)plan->decision);
    api_set_time(object, "at", plan->at);
    api_set_number(object, "decision_us", (int64_t)plan->decision_us);
    api_set_text(object, "kind", kind[plan->kind]);
    json_object_set_new(object, "full", candidate_json(plan, &plan->full));
    json_object_set_new(object, "partial", candidate_json(plan, &plan->partial));
    api_set_time(object, "expected_ms", plan->kind == PLAN_PLAIN ? -1 : plan->expected_ms);
    json_object_set_new(object, "rents", rents_json(plan, most));
    json_object_set_new(object, "places", places_json(call, plan, most));
    json_object_set_new(object, "releases", releases_json(call, plan, most));
    json_object_set_new(object, "waits",
                        api_waits(call, most < SERVE_PLAN_WAITS ? most : SERVE_PLAN_WAITS));
    api_set_number(object, "rent_count", plan->rent_total);
    api_set_number(object, "place_count", plan->place_total);
    api_set_number(object, "release_count", plan->release_total);
    api_set_number(object, "wait_count", call->view->task.waiting_count);
    json_object_set_new(object, "bound", api_bound(call->world));
    api_json(call, 200, object);
}
