/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would become of a job if it were submitted now: when it would start, where, at what cost, and what would be cheaper.
 * Nothing is computed here that a decision computes: the controller decides on a copy of what it knows, once with
 * the job as it is and once for each change that might make it cheaper, and the answers are compared.
 *
 * Costs:  up to four copies of the view and as many decisions, on the thread that makes the real ones; so after each
 *         estimate there is none for nine times as long as it took, whoever asks.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "decide/reservation.h"
#include "learn/runtimes.h"
#include "serve/api_private.h"

enum {
    SENTENCE = 1024,
    FIELDS_MAX = 8192, /* bytes of the job's description */
    WHERES_SHOWN = 16,
    LEAST_PERCENT = 75, /* of what is asked for: a change that asks for less is no advice */
    PAUSE_TIMES = 9,
    WORTH_PERCENT = 97, /* a change is reported if it costs no more than so much of the whole */
};

/* What a trial said of the job. */
struct outcome {
    msec_t starts_at;  /* MSEC_NEVER: no place is known */
    msec_t not_before; /* then; MSEC_NEVER: not known */
    money_t per_hour;  /* of all its tasks; MONEY_UNKNOWN */
    money_t cost;      /* for as long as it is expected to run */
    money_t most;      /* for the whole time limit */
    uint32_t ahead;    /* tasks of others that wait */
    struct forecast forecast;
    struct controller_wait wait;
};

struct estimate {
    struct api_call *call;
    const char *fields; /* of the job */
    json_t *object;
    json_t *sentences;
    json_t *cheaper;
    struct outcome plain;
};

static void say(struct estimate *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct estimate *to, const char *format, ...)
{
    char text[SENTENCE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    json_array_append_new(to->sentences, api_text(text));
}

/* Time. --------------------------------------------------------------------------------------- */

static msec_t ends_at(const struct view *view, uint32_t task)
{
    const msec_t estimate = view->task.estimate_ms[task];

    if (estimate == MSEC_NEVER)
        return MSEC_NEVER;
    return view->now + runtime_remaining(estimate, view_executed(view, task));
}

/* The first of those on the instance that ends after 'after', or at the same time in a later row. */
static uint32_t next_to_end(const struct view *view, uint32_t instance, msec_t after, uint32_t row)
{
    uint32_t found = ROW_NONE;
    msec_t best = MSEC_NEVER;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        const msec_t at = ends_at(view, task);

        if (at == MSEC_NEVER || at < after || (at == after && task <= row && row != ROW_NONE))
            continue;
        if (at < best || (at == best && task < found)) {
            best = at;
            found = task;
        }
    }
    return found;
}

/* When the instance has room for a task of the shape, by the estimates of what is there. */
static msec_t room_at(const struct view *view, uint32_t shape, uint32_t instance)
{
    const struct res *demand = view_shape_demand(view, shape, instance);
    struct res left = view_free(view, instance);
    msec_t at = view->now;
    uint32_t last = ROW_NONE;

    if (demand == NULL || !view_is_open(view, instance))
        return MSEC_NEVER;
    while (!res_fits(demand, &left)) {
        last = next_to_end(view, instance, at, last);
        if (last == ROW_NONE)
            return MSEC_NEVER;
        at = ends_at(view, last);
        res_add(&left, view_taken(view, last, instance));
    }
    return at > view->instance.ready_expected[instance] ? at
                                                        : view->instance.ready_expected[instance];
}

static int compare_times(const void *a, const void *b)
{
    const msec_t x = *(const msec_t *)a;
    const msec_t y = *(const msec_t *)b;

    return (x > y) - (x < y);
}

/* When as many machines that there are have room for it, if no other task took that. */
static msec_t earliest(const struct view *view, uint32_t job)
{
    const uint32_t shape = view->task.shape[view->job.first_task[job]];
    const uint32_t needs = view_is_spread(view, job) ? view->job.task_count[job] : 1;
    msec_t *times = mem_alloc(view->instance.count, sizeof(*times));
    msec_t found = MSEC_NEVER;
    uint32_t count = 0;

    INSTANCE_EACH(instance, view)
    {
        const msec_t at = room_at(view, shape, instance);

        if (at != MSEC_NEVER)
            times[count++] = at;
    }
    qsort(times, count, sizeof(*times), compare_times);
    if (count >= needs)
        found = times[needs - 1];
    mem_free(times);
    return found;
}

/* When all its tasks have their machines; MSEC_NEVER: one has none. */
static msec_t starts_at(const struct view *view, uint32_t job)
{
    msec_t at = view->now;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        if (instance == ROW_NONE)
            return MSEC_NEVER;
        if (view->instance.state[instance] != INSTANCE_READY &&
            view->instance.ready_expected[instance] > at)
            at = view->instance.ready_expected[instance];
    }
    return at;
}

/* Trials. ------------------------------------------------------------------------------------- */

static struct outcome outcome_of(const struct estimate *of, const struct controller_trial *trial)
{
    const struct view *view = controller_trial_view(trial);
    const uint32_t job = controller_trial_job(trial);
    const uint32_t first = view->job.first_task[job];
    struct api_call call = *of->call;
    struct outcome outcome = {
        .starts_at = starts_at(view, job),
        .not_before = MSEC_NEVER,
        .forecast = *controller_trial_forecast(trial),
        .wait = controller_trial_wait(trial, first),
    };

    call.view = view;
    for (uint32_t task = first; task != ROW_NONE; task = view->task.sibling[task])
        outcome.per_hour = api_add_money(
            outcome.per_hour,
            api_pays_per_hour(&call, task, view->shape_price[view->task.shape[task]]));
    outcome.cost = api_price_of_span(outcome.per_hour, outcome.forecast.runtime_ms);
    outcome.most = api_price_of_span(
        outcome.per_hour, outcome.forecast.limit_ms >= 0 ? outcome.forecast.limit_ms : MSEC_NEVER);
    if (outcome.starts_at == MSEC_NEVER) {
        outcome.not_before = earliest(view, job);
        outcome.ahead = view->task.waiting_count;
        for (uint32_t task = first; task != ROW_NONE; task = view->task.sibling[task])
            outcome.ahead -= view->task.instance[task] == ROW_NONE;
    }
    return outcome;
}

/* Ask for a job with these fields; 'each' may be NULL. */
static int try_job(const struct estimate *of, const char *fields, struct outcome *ret,
                   void (*each)(void *to, const struct view *view, uint32_t job), void *to,
                   struct error *reterr)
{
    const struct serve_world *world = of->call->world;
    struct job_spec spec;
    struct shapes shapes;
    int rc;

    shapes_copy(&shapes, of->call->view->shapes);
    rc = world->imagine(world->context, fields, &shapes, &spec, reterr);
    if (rc == 0) {
        struct controller_trial *trial =
            controller_try(world->controller, &shapes, &spec, of->call->now);

        *ret = outcome_of(of, trial);
        if (each != NULL)
            each(to, controller_trial_view(trial), controller_trial_job(trial));
        controller_trial_destroy(trial);
    }
    shapes_done(&shapes);
    return rc;
}

/* Changes. ------------------------------------------------------------------------------------ */

/* Where the value of the field begins, or NULL. */
static const char *find_field(const char *fields, const char *key)
{
    const size_t length = strlen(key);

    for (const char *at = fields; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

static uint64_t field_number(const char *fields, const char *key, uint64_t missing)
{
    const char *value = find_field(fields, key);

    return value != NULL ? strtoull(value, NULL, 10) : missing;
}

/* The fields with another value of 'key', which is set if it is not there. */
static void with_field(const char *fields, const char *key, const char *value, char *ret,
                       size_t size)
{
    const char *old = find_field(fields, key);

    if (old == NULL)
        (void)snprintf(ret, size, "%s%s%s=%s", fields, *fields != '\0' ? " " : "", key, value);
    else
        (void)snprintf(ret, size, "%.*s%s%s", (int)(old - fields), fields, value,
                       old + strcspn(old, " "));
}

static void add_cheaper(struct estimate *to, const char *change, const struct outcome *outcome,
                        const char *caution)
{
    json_t *object = json_object();
    char cost[SERVE_TEXT];
    char more[SERVE_TEXT] = "";

    api_set_text(object, "change", change);
    api_set_money(object, "cost_microdollars", outcome->cost);
    api_set_time(object, "starts_at", outcome->starts_at);
    api_set_text(object, "note", caution);
    json_array_append_new(to->cheaper, object);
    serve_money_text(outcome->cost, cost, sizeof(cost));
    if (outcome->starts_at != MSEC_NEVER && outcome->starts_at > to->plain.starts_at) {
        api_span_text(outcome->starts_at - to->plain.starts_at, more, sizeof(more));
        (void)snprintf(more + strlen(more), sizeof(more) - strlen(more), " later, ");
    }
    say(to, "Cheaper: with %s it would cost $%s; %s%s.", change, cost, more, caution);
}

/* Try the job with other fields, and tell if that is cheaper. */
static void weigh(struct estimate *to, const char *fields, const char *change, const char *caution)
{
    struct outcome outcome;
    struct error error;

    if (try_job(to, fields, &outcome, NULL, NULL, &error) < 0 ||
        outcome.per_hour == MONEY_UNKNOWN || to->plain.per_hour == MONEY_UNKNOWN ||
        (to->plain.starts_at != MSEC_NEVER && outcome.starts_at == MSEC_NEVER))
        return;
    if (mul_div(to->plain.per_hour, WORTH_PERCENT, 100) >= outcome.per_hour)
        add_cheaper(to, change, &outcome, caution);
}

static bool has_spot(const struct catalogue *catalogue)
{
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].market == MARKET_SPOT && !catalogue->offers[i].is_former)
            return true;
    }
    return false;
}

static void weigh_spot(struct estimate *to)
{
    char fields[FIELDS_MAX + 64];

    if (!has_spot(to->call->view->catalogue) || find_field(to->fields, "user_comment") != NULL)
        return;
    with_field(to->fields, "user_comment", "stint:market=spot", fields, sizeof(fields));
    weigh(to, fields, "--comment=stint:market=spot",
          "its machine may be taken away, and the job would start over");
}

/* What one node of the job asks for. */
struct request {
    uint64_t nodes;
    int64_t cpu_milli;
    int64_t mem_mib;
};

/* Whether a machine of the type nearly holds the request, so that asking for a little less would do. */
static bool nearly_holds(const struct res *has, const struct request *request)
{
    return (has->amount[RES_CPU] < request->cpu_milli || has->amount[RES_MEM] < request->mem_mib) &&
           has->amount[RES_CPU] * 100 >= request->cpu_milli * LEAST_PERCENT &&
           has->amount[RES_MEM] * 100 >= request->mem_mib * LEAST_PERCENT;
}

/* The cheapest type that nearly holds it; OFFER_NONE: there is none. */
static uint32_t find_smaller(const struct estimate *of, const struct request *request)
{
    const struct view *view = of->call->view;
    uint32_t found = OFFER_NONE;

    for (uint32_t i = 0; i < view->offer_count; i++) {
        const struct machine_type *type = catalogue_type_of(view->catalogue, i);

        if (view->catalogue->offers[i].is_former || !reservation_is_open(view, i) ||
            view->catalogue->offers[i].market == MARKET_SPOT ||
            !nearly_holds(&type->capacity, request))
            continue;
        if (found == OFFER_NONE || view->offer_price[i] < view->offer_price[found])
            found = i;
    }
    return found;
}

static void weigh_smaller(struct estimate *to)
{
    const uint64_t nodes = field_number(to->fields, "node_count", 1);
    const struct request request = {
        .nodes = nodes > 0 ? nodes : 1,
        .cpu_milli =
            (int64_t)(field_number(to->fields, "cpus", 1) / (nodes > 0 ? nodes : 1) * 1000),
        .mem_mib = (int64_t)field_number(to->fields, "mem_mib", 0),
    };
    const uint32_t offer =
        request.cpu_milli > 0 && request.cpu_milli < INT32_MAX && request.mem_mib < INT32_MAX
            ? find_smaller(to, &request)
            : OFFER_NONE;
    char value[32];
    char change[SERVE_TEXT];
    char first[FIELDS_MAX + 64];
    char fields[FIELDS_MAX + 64];

    if (offer == OFFER_NONE)
        return;

    const struct res *has = &catalogue_type_of(to->call->view->catalogue, offer)->capacity;
    const int64_t cpus =
        (has->amount[RES_CPU] < request.cpu_milli ? has->amount[RES_CPU] : request.cpu_milli) /
        1000;
    const int64_t mem =
        has->amount[RES_MEM] < request.mem_mib ? has->amount[RES_MEM] : request.mem_mib;

    (void)snprintf(value, sizeof(value), "%" PRId64, cpus * (int64_t)request.nodes);
    with_field(to->fields, "cpus", value, first, sizeof(first));
    (void)snprintf(value, sizeof(value), "%" PRId64, mem);
    with_field(first, "mem_mib", value, fields, sizeof(fields));
    (void)snprintf(change, sizeof(change),
                   "%" PRId64 " CPUs and %" PRId64 " MiB a node, which %s holds,", cpus, mem,
                   catalogue_offer_type_name(to->call->view->catalogue, offer));
    weigh(to, fields, change, "if the job can do with less");
}

/* A shorter limit makes no run cheaper; it may let the job use room that would else stay empty. */
static void weigh_limit(struct estimate *to)
{
    const uint64_t limit = field_number(to->fields, "limit_s", 0);
    char value[32];
    char change[64];
    char fields[FIELDS_MAX + 64];

    if (limit < 120 || limit > INT32_MAX || to->plain.forecast.history.samples > 0)
        return;
    (void)snprintf(value, sizeof(value), "%" PRIu64, limit / 2);
    with_field(to->fields, "limit_s", value, fields, sizeof(fields));
    (void)snprintf(change, sizeof(change), "-t %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                   limit / 2 / 3600, limit / 2 / 60 % 60, limit / 2 % 60);
    weigh(to, fields, change, "if the job ends within that time");
}

/* The answer. --------------------------------------------------------------------------------- */

struct wheres {
    const struct estimate *to;
    json_t *list;
    char text[SENTENCE];
    msec_t now;
};

/* Each machine that the job would be on. */
static void list_wheres(void *pointer, const struct view *view, uint32_t job)
{
    struct wheres *wheres = pointer;
    const struct serve_world *world = wheres->to->call->world;
    size_t used = 0;

    for (uint32_t task = view->job.first_task[job];
         task != ROW_NONE && json_array_size(wheres->list) < WHERES_SHOWN;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];
        json_t *one = json_object();
        char offer[SERVE_TEXT];
        char machine[SERVE_TEXT] = "";

        if (instance == ROW_NONE) {
            json_decref(one);
            continue;
        }

        const bool is_new =
            view_find_instance(wheres->to->call->view, view->instance.id[instance]) == ROW_NONE;

        serve_offer_text(view->catalogue, view->instance.offer[instance], offer, sizeof(offer));
        if (!is_new)
            serve_machine_text(world, view->instance.id[instance], machine, sizeof(machine));
        api_set_text(one, "offer", offer);
        api_set_text(one, "machine", is_new ? NULL : machine);
        api_set_money(one, "price_microdollars_per_hour",
                      view->offer_price[view->instance.offer[instance]]);
        api_set_number(one, "tasks_there", view->instance.task_count[instance]);
        json_array_append_new(wheres->list, one);
        if (used < sizeof(wheres->text))
            used += (size_t)snprintf(wheres->text + used, sizeof(wheres->text) - used, "%s%s%s%s%s",
                                     used > 0 ? "; " : "", is_new ? "a new machine, " : machine,
                                     is_new ? "" : " (", offer, is_new ? "" : ")");
    }
}

/* A machine that only the trial has is known by its offer. */
static json_t *wait_of(const struct estimate *of, char *ret, size_t size)
{
    struct controller_wait wait = of->plain.wait;
    json_t *object = json_object();

    if (wait.instance != 0 && view_find_instance(of->call->view, wait.instance) == ROW_NONE)
        wait.instance = 0;
    api_wait_fields(of->call, &wait, object, ret, size);
    if (of->call->world->draining)
        (void)snprintf(ret, size, "Stint is draining and rents nothing");
    api_set_text(object, "why", ret);
    return object;
}

static void say_start(struct estimate *to, const struct wheres *wheres)
{
    const struct outcome *plain = &to->plain;
    const msec_t now = to->call->now;
    char span[SERVE_TEXT];
    char why[SENTENCE - 32];

    json_object_set_new(to->object, "wait", json_null());
    if (plain->starts_at != MSEC_NEVER) {
        api_span_text(plain->starts_at - now, span, sizeof(span));
        say(to, "It would start %s%s, on %s.", plain->starts_at > now ? "in about " : "at once",
            plain->starts_at > now ? span : "", wheres->text);
        return;
    }
    json_object_set_new(to->object, "wait", wait_of(to, why, sizeof(why)));
    say(to, "It would wait: %s.", why);
    if (plain->not_before != MSEC_NEVER) {
        api_span_text(plain->not_before - now, span, sizeof(span));
        say(to,
            "By what is expected of running jobs there is room for it in %s at the earliest; "
            "tasks that wait besides it: %u.",
            span, plain->ahead);
    }
}

static void say_cost(struct estimate *to)
{
    const struct outcome *plain = &to->plain;
    char span[SERVE_TEXT];
    char cost[SERVE_TEXT];
    char most[SERVE_TEXT];
    char words[FORECAST_WORDS_SIZE];

    if (plain->cost == MONEY_UNKNOWN)
        return;
    api_span_text(plain->forecast.runtime_ms, span, sizeof(span));
    serve_money_text(plain->cost, cost, sizeof(cost));
    serve_money_text(plain->most, most, sizeof(most));
    forecast_words(&plain->forecast, words, sizeof(words));
    if (plain->most == MONEY_UNKNOWN || plain->most == plain->cost)
        say(to, "It is expected to run %s and to cost $%s, besides boot and idle time.", span,
            cost);
    else
        say(to,
            "It is expected to run %s and to cost $%s, besides boot and idle time; for its whole "
            "time limit $%s.",
            span, cost, most);
    say(to, "Its runtime is estimated by: %s.", words);
}

static void answer(struct estimate *to, struct wheres *wheres)
{
    const struct outcome *plain = &to->plain;

    api_set_text(to->object, "verdict", plain->starts_at != MSEC_NEVER ? "starts" : "waits");
    api_set_time(to->object, "starts_at", plain->starts_at);
    api_set_time(to->object, "not_before", plain->not_before);
    api_set_number(to->object, "waiting_tasks", plain->ahead);
    json_object_set_new(to->object, "where", wheres->list);
    api_set_money(to->object, "price_microdollars_per_hour", plain->per_hour);
    api_set_money(to->object, "cost_microdollars", plain->cost);
    api_set_money(to->object, "limit_cost_microdollars", plain->most);
    json_object_set_new(to->object, "estimate", api_forecast_json(&plain->forecast));
    say_start(to, wheres);
    say_cost(to);
    weigh_spot(to);
    weigh_smaller(to);
    weigh_limit(to);
    json_object_set_new(to->object, "cheaper", to->cheaper);
    json_object_set_new(to->object, "text", to->sentences);
    api_json(to->call, 200, to->object);
}

/* It could never run. */
static void answer_never(struct estimate *to, const char *why)
{
    say(to, "It would never run: %s.", why);
    api_set_text(to->object, "verdict", "never");
    api_set_text(to->object, "why", why);
    json_object_set_new(to->object, "text", to->sentences);
    json_decref(to->cheaper);
    api_json(to->call, 200, to->object);
}

static msec_t clock_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

/* Whether it may be answered now; else it was answered with an error. */
static bool may_estimate(struct api_call *call, const char *fields)
{
    const struct serve_world *world = call->world;
    char span[SERVE_TEXT];

    if (fields == NULL || strlen(fields) > FIELDS_MAX) {
        api_error(call, 400, "job must be given, with at most %d bytes", FIELDS_MAX);
        return false;
    }
    if (world->imagine == NULL) {
        api_error(call, 409, "jobs of this engine cannot be estimated before they are submitted");
        return false;
    }
    if (!world->ready) {
        api_error(call, 409, "the daemon waits for the first lists of the scheduler and the cloud");
        return false;
    }
    if (call->now < world->estimate_from) {
        api_span_text(world->estimate_from - call->now + MSEC_PER_SEC, span, sizeof(span));
        api_error(call, 409, "estimates are limited: ask again in %s", span);
        return false;
    }
    return true;
}

static void estimate_job(struct api_call *call, const char *fields)
{
    struct error error = { "" };
    struct estimate estimate = { .call = call,
                                 .fields = fields,
                                 .object = json_object(),
                                 .sentences = json_array(),
                                 .cheaper = json_array() };
    struct wheres wheres = { .to = &estimate, .list = json_array(), .now = call->now };
    const int rc = try_job(&estimate, fields, &estimate.plain, list_wheres, &wheres, &error);

    if (rc == 0) {
        answer(&estimate, &wheres);
        return;
    }
    json_decref(wheres.list);
    if (rc == -ERANGE) {
        answer_never(&estimate, error.text);
        return;
    }
    json_decref(estimate.object);
    json_decref(estimate.sentences);
    json_decref(estimate.cheaper);
    api_error(call, 400, "%s", error.text);
}

void api_estimate(struct api_call *call)
{
    const char *fields = api_argument(call, "job");
    const msec_t begun = clock_ms();

    if (!may_estimate(call, fields))
        return;
    estimate_job(call, fields);
    call->world->estimate_from = call->now + PAUSE_TIMES * (clock_ms() - begun);
}
