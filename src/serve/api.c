/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is held against one table of routes: path, method, the arguments that it takes, and who
 * answers. Rights are checked before anything is looked up, so that unauthorised clients learn nothing.
 */
#include "serve/api.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "serve/api_private.h"
#include "serve/live.h"
#include "serve/metrics.h"
#include "serve/page.h"

enum {
    ARGUMENTS_OF_ROUTE = 7,
    AUDITS_MISSED = 3,  /* before the audit is called late */
    AUDIT_SLACK = 30000 /* and at least so many milliseconds */
};

/* Answers. ------------------------------------------------------------------------------------ */

/* Any bytes as a JSON string: what is not UTF-8 loses its bytes beyond ASCII. */
json_t *api_text(const char *text)
{
    if (text == NULL)
        return json_null();

    json_t *value = json_string(text);

    if (value != NULL)
        return value;

    char *plain = strdup(text);

    for (char *at = plain; at != NULL && *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    }
    value = plain != NULL ? json_string(plain) : NULL;
    free(plain);
    return value;
}

void api_set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, api_text(text));
}

void api_set_number(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

void api_set_bool(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

void api_set_money(json_t *object, const char *key, money_t value)
{
    json_object_set_new(object, key, value == MONEY_UNKNOWN ? json_null() : json_integer(value));
}

void api_set_time(json_t *object, const char *key, msec_t value)
{
    json_object_set_new(object, key,
                        value < 0 || value == MSEC_NEVER ? json_null() : json_integer(value));
}

void api_set_resources(json_t *object, const struct res *res)
{
    api_set_number(object, "cpu_milli", res->amount[RES_CPU]);
    api_set_number(object, "mem_mib", res->amount[RES_MEM]);
    api_set_number(object, "accel_milli", res->amount[RES_ACCEL]);
}

const char *api_name(const struct names *names, uint32_t number)
{
    return names != NULL && number < names->count ? names_text(names, number) : NULL;
}

void api_json(struct api_call *call, unsigned status, json_t *object)
{
    struct api_reply *reply = call->reply;

    reply->status = status;
    reply->content_type = "application/json";
    if (call->tree != NULL) {
        *call->tree = object;
        return;
    }
    reply->body =
        object != NULL
            ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))
            : NULL;
    json_decref(object);
    if (reply->body == NULL) {
        reply->status = 500;
        reply->body = strdup("{\"error\":\"out of memory\"}");
    }
    reply->size = reply->body != NULL ? strlen(reply->body) : 0;
}

void api_error(struct api_call *call, unsigned status, const char *format, ...)
{
    char text[ERROR_TEXT_SIZE];
    json_t *object = json_object();
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    api_set_text(object, "error", text);
    api_json(call, status, object);
}

/* Plain text, which is copied. */
static void answer_text(struct api_call *call, unsigned status, const char *text)
{
    call->reply->status = status;
    call->reply->content_type = "text/plain; charset=utf-8";
    call->reply->body = strdup(text);
    call->reply->size = call->reply->body != NULL ? strlen(text) : 0;
}

/* Arguments. ---------------------------------------------------------------------------------- */

const char *api_argument(const struct api_call *call, const char *key)
{
    for (uint32_t i = 0; i < call->request->argument_count; i++) {
        if (strcmp(call->request->arguments[i].key, key) == 0)
            return call->request->arguments[i].value;
    }
    return NULL;
}

/* A whole number above 0 in digits; 0: it is none. */
static uint64_t parse_number(const char *text, size_t length)
{
    uint64_t number = 0;

    if (length == 0 || length > 20)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > (UINT64_MAX - 9) / 10)
            return 0;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return number;
}

bool api_limit(struct api_call *call, uint32_t *ret)
{
    const char *text = api_argument(call, "limit");

    *ret = API_LIMIT_DEFAULT;
    if (text == NULL)
        return true;

    const uint64_t limit = parse_number(text, strlen(text));

    if (limit == 0 || limit > API_LIMIT_MAX) {
        api_error(call, 400, "limit must be a number from 1 to %d", API_LIMIT_MAX);
        return false;
    }
    *ret = (uint32_t)limit;
    return true;
}

/* Status. ------------------------------------------------------------------------------------- */

static json_t *links_json(const struct serve_world *world)
{
    json_t *links = json_array();

    for (uint32_t i = 0; i < world->link_count; i++) {
        json_t *link = json_object();

        api_set_text(link, "name", world->links[i].name);
        api_set_bool(link, "up", world->links[i].up);
        api_set_time(link, "since", world->links[i].since);
        api_set_text(link, "detail", world->links[i].detail != NULL ? world->links[i].detail : "");
        json_array_append_new(links, link);
    }
    return links;
}

static void set_counts(json_t *object, const struct serve_world *world,
                       const struct serve_sums *sums)
{
    const struct store *store = world->store;
    json_t *tasks = json_object();
    json_t *instances = json_object();

    for (enum task_state state = TASK_WAITING; state <= TASK_RUNNING; state++)
        api_set_number(tasks, serve_task_word(state), sums->tasks[state]);
    for (enum instance_state state = INSTANCE_REQUESTED; state <= INSTANCE_RETURNED; state++)
        api_set_number(instances, serve_instance_word(state), sums->instances[state]);
    json_object_set_new(object, "jobs", json_pack("{s:I}", "living", (json_int_t)sums->jobs));
    json_object_set_new(object, "tasks", tasks);
    json_object_set_new(object, "instances", instances);
    api_set_number(object, "launches", (int64_t)store_counted(store, COUNT_LAUNCHES));
    json_object_set_new(object, "launch_failures",
                        json_pack("{s:I,s:I,s:I}", "refused",
                                  (json_int_t)store_counted(store, COUNT_REFUSED), "boot_timeout",
                                  (json_int_t)store_counted(store, COUNT_BOOT_TIMEOUT), "vanished",
                                  (json_int_t)store_counted(store, COUNT_VANISHED)));
    json_object_set_new(object, "evictions",
                        json_pack("{s:I,s:I,s:I,s:I}", "notice",
                                  (json_int_t)store_counted(store, COUNT_EVICTED_BY_NOTICE), "lost",
                                  (json_int_t)store_counted(store, COUNT_EVICTED_BY_LOSS), "moved",
                                  (json_int_t)store_counted(store, COUNT_EVICTED_BY_MOVE), "engine",
                                  (json_int_t)store_counted(store, COUNT_EVICTED_BY_ENGINE)));
    api_set_number(object, "decisions", (int64_t)store_counted(store, COUNT_DECISIONS));
    api_set_number(object, "proposals", sums->proposals);
    api_set_number(object, "findings", sums->findings[0] + sums->findings[1] + sums->findings[2]);
}

static void set_limits(json_t *object, const struct serve_world *world)
{
    json_t *limits = json_object();

    api_set_number(limits, "instances", world->max_instances);
    api_set_number(limits, "microdollars_per_hour", world->max_price_per_hour);
    api_set_number(limits, "limited", (int64_t)store_counted(world->store, COUNT_LIMITED));
    json_object_set_new(object, "limits", limits);
}

static void set_budgets(json_t *object, const struct serve_world *world)
{
    json_t *budgets = json_object();

    for (uint32_t i = 0; i < world->budget_count; i++) {
        const struct serve_budget *budget = &world->budgets[i];
        json_t *one = json_object();

        api_set_number(one, "microdollars", budget->limit);
        api_set_number(one, "spent_microdollars", budget->spent);
        api_set_number(one, "until", budget->until);
        json_object_set_new(budgets, budget->period, one);
    }
    json_object_set_new(object, "budgets", budgets);
}

static void add_cap(void *to, const struct serve_cap *cap)
{
    json_t *one = json_object();

    json_object_set_new(one, "owner", api_text(cap->owner));
    api_set_number(one, "instances", cap->instances);
    api_set_number(one, "microdollars_per_hour", cap->price_per_hour);
    if (cap->max_instances > 0)
        api_set_number(one, "max_instances", cap->max_instances);
    if (cap->max_price_per_hour > 0)
        api_set_number(one, "max_microdollars_per_hour", cap->max_price_per_hour);
    for (int i = 0; i < 2; i++) {
        const struct serve_budget *budget = &cap->budgets[i];
        json_t *of_period;

        if (budget->limit == 0)
            continue;
        of_period = json_object();
        api_set_number(of_period, "microdollars", budget->limit);
        api_set_number(of_period, "spent_microdollars", budget->spent);
        api_set_number(of_period, "until", budget->until);
        json_object_set_new(one, budget->period, of_period);
    }
    json_object_set_new(one, "spent", json_boolean(cap->is_spent));
    json_array_append_new(to, one);
}

/* Limits of accounts and the like, if there are any. */
static void set_caps(json_t *object, const struct serve_world *world)
{
    json_t *caps = json_array();

    if (world->each_cap != NULL)
        world->each_cap(world->context, add_cap, caps);
    json_object_set_new(object, "limits_for", caps);
}

json_t *api_bound(const struct serve_world *world)
{
    const struct view_bound_answer *bound = &world->bound;
    const double gap = serve_bound_gap(bound);
    json_t *object = json_object();

    if (!world->has_bound) {
        json_decref(object);
        return json_null();
    }
    api_set_time(object, "at", bound->at);
    api_set_number(object, "tasks", bound->tasks);
    api_set_money(object, "cost_microdollars_per_hour", bound->cost);
    api_set_money(object, "bound_microdollars_per_hour", bound->bound);
    json_object_set_new(object, "gap",
                        bound->bound > 0 ? json_real(round(gap * 1e6) / 1e6) : json_null());
    api_set_money(object, "resources_microdollars_per_hour", bound->by_resources);
    api_set_money(object, "empty_microdollars_per_hour", bound->empty);
    api_set_bool(object, "finished", bound->is_finished);
    return object;
}

static void answer_status(struct api_call *call)
{
    const struct serve_world *world = call->world;
    struct store_totals totals;
    struct error error;

    if (serve_totals(world, &totals, &error) < 0) {
        api_error(call, 500, "%s", error.text);
        return;
    }

    const struct serve_sums sums = serve_sums(world);
    json_t *object = json_object();
    json_t *audit = json_object();

    api_set_text(object, "version", STINT_VERSION);
    api_set_text(object, "cluster", world->cluster);
    api_set_text(object, "mode", world->mode);
    api_set_text(object, "policy", world->policy);
    api_set_number(object, "now", call->now);
    api_set_time(object, "started_at", world->started_at);
    api_set_bool(object, "ready", world->ready);
    api_set_bool(object, "draining", world->draining);
    json_object_set_new(object, "links", links_json(world));
    api_set_time(audit, "last_at", world->audited_at);
    api_set_time(audit, "age_ms", world->audited_at < 0 ? -1 : call->now - world->audited_at);
    api_set_number(audit, "adopted", (int64_t)store_counted(world->store, COUNT_ADOPTED));
    json_object_set_new(object, "audit", audit);
    set_counts(object, world, &sums);
    api_set_money(object, "cost_microdollars_per_hour", sums.per_hour);
    json_object_set_new(object, "bound", api_bound(world));
    api_set_money(object, "bill_microdollars", totals.bill);
    api_set_money(object, "committed_microdollars", totals.committed);
    api_set_money(object, "savings_microdollars", store_savings(&totals));
    api_set_text(object, "savings_baseline", STORE_BASELINE);
    api_set_money(object, "alone_microdollars", totals.alone);
    api_set_number(object, "decision_ms_last", (int64_t)(world->times.last_us / 1000));
    api_set_number(object, "decision_ms_max", (int64_t)(world->times.max_us / 1000));
    api_set_number(object, "turn_ms_max", (int64_t)(world->turn_max_us / 1000));
    api_set_number(object, "turn_cpu_ms_max", (int64_t)(world->turn_cpu_max_us / 1000));
    api_set_time(object, "next_wake_at", controller_next_wake(world->controller));
    api_set_number(object, "open_intents", (int64_t)store_open_intents(world->store));
    set_limits(object, world);
    set_budgets(object, world);
    set_caps(object, world);
    api_json(call, 200, object);
}

/* "" if all is well. */
static void health(const struct api_call *call, char *ret, size_t size)
{
    const struct serve_world *world = call->world;
    const msec_t patience = world->audit_every_ms * AUDITS_MISSED + AUDIT_SLACK;

    ret[0] = '\0';
    if (!world->ready) {
        snprintf(ret, size, "starting");
        return;
    }
    for (uint32_t i = 0; i < world->link_count; i++) {
        if (!world->links[i].up) {
            snprintf(ret, size, "link down: %s", world->links[i].name);
            return;
        }
    }
    if (world->audit_every_ms > 0 && call->now - world->audited_at > patience)
        snprintf(ret, size, "audit late");
}

static void answer_health(struct api_call *call)
{
    char text[SERVE_TEXT];

    health(call, text, sizeof(text));
    if (text[0] == '\0')
        answer_text(call, 200, "ok\n");
    else
        answer_text(call, 503, text);
}

static void answer_metrics(struct api_call *call)
{
    struct error error;
    char *text = metrics_text(call->world, &call->reply->size, &error);

    if (text == NULL) {
        api_error(call, 500, "%s", error.text);
        return;
    }
    call->reply->status = 200;
    call->reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
    call->reply->body = text;
}

/* Doctor, proposals. ------------------------------------------------------------------ */

static void add_finding(void *to, const struct finding *finding)
{
    json_t *object = json_object();

    api_set_text(object, "severity", finding->severity);
    api_set_text(object, "kind", finding->kind);
    api_set_text(object, "subject", finding->subject);
    api_set_text(object, "text", finding->text);
    api_set_text(object, "advice", finding->advice);
    if (finding->address != NULL)
        api_set_text(object, "address", finding->address);
    json_array_append_new(to, object);
}

static void add_past(void *to, const struct serve_past_finding *past)
{
    json_t *object = json_object();

    api_set_text(object, "severity", past->severity);
    api_set_text(object, "kind", past->kind);
    api_set_text(object, "subject", past->subject);
    api_set_time(object, "since", past->since);
    api_set_time(object, "until", past->until);
    json_array_append_new(to, object);
}

static void answer_doctor(struct api_call *call)
{
    json_t *findings = json_array();
    json_t *resolved = json_array();

    if (call->world->each_finding != NULL)
        call->world->each_finding(call->world->context, add_finding, findings);
    if (call->world->each_past != NULL)
        call->world->each_past(call->world->context, add_past, resolved);
    api_json(call, 200, json_pack("{s:o, s:o}", "findings", findings, "resolved", resolved));
}

struct proposal_list {
    struct store *store;
    json_t *proposals;
};

static void set_why(void *object, const struct store_reason *reason)
{
    api_set_text(object, "why", reason->text);
}

static void add_proposal(void *to, const struct serve_proposal *proposal)
{
    const struct proposal_list *list = to;
    json_t *object = json_object();

    api_set_number(object, "id", (int64_t)proposal->id);
    api_set_time(object, "at", proposal->at);
    api_set_text(object, "act", proposal->act);
    api_set_text(object, "subject", proposal->subject);
    api_set_text(object, "detail", proposal->detail);
    api_set_text(object, "why", proposal->why);
    if (proposal->why == NULL)
        (void)store_each_reason(list->store, proposal->reason_subject, proposal->reason_id, 1,
                                set_why, object, NULL);
    api_set_money(object, "price_microdollars_per_hour", proposal->per_hour);
    json_array_append_new(list->proposals, object);
}

static void answer_proposals(struct api_call *call)
{
    struct proposal_list list = { .store = call->world->store, .proposals = json_array() };

    if (call->world->each_proposal != NULL)
        call->world->each_proposal(call->world->context, add_proposal, &list);
    api_json(call, 200, json_pack("{s:o}", "proposals", list.proposals));
}

/* Actions. ------------------------------------------------------------------------------------ */

#define PROPOSALS "/v1/proposals/"

/* /v1/proposals/ID/approve, or /reject, with a number or "all"; false: it is no such path. */
static bool parse_proposal(const char *path, uint64_t *ret_id, bool *ret_approve)
{
    if (strncmp(path, PROPOSALS, strlen(PROPOSALS)) != 0)
        return false;

    const char *id = path + strlen(PROPOSALS);
    const size_t length = strcspn(id, "/");

    if (strcmp(id + length, "/approve") != 0 && strcmp(id + length, "/reject") != 0)
        return false;
    *ret_approve = strcmp(id + length, "/approve") == 0;
    *ret_id = parse_number(id, length);
    return *ret_id != 0 || (length == 3 && strncmp(id, "all", 3) == 0);
}

static void answer_proposal(struct api_call *call)
{
    uint64_t id = 0;
    bool approve = false;

    if (!parse_proposal(call->request->path, &id, &approve)) {
        api_error(call, 404, "no such path");
        return;
    }
    if (call->world->answer_proposal == NULL) {
        api_error(call, 409, "only mode advise has proposals");
        return;
    }

    const uint32_t changed = call->world->answer_proposal(call->world->context, id, approve);

    if (changed == 0 && id != 0)
        api_error(call, 404, "there is no proposal %" PRIu64, id);
    else
        api_json(call, 200, json_pack("{s:I}", "changed", (json_int_t)changed));
}

static void answer_reload(struct api_call *call)
{
    struct error error = { "" };
    char text[ERROR_TEXT_SIZE] = "";

    if (call->world->reload == NULL)
        api_error(call, 409, "this daemon is unable to reload");
    else if (call->world->reload(call->world->context, text, sizeof(text), &error) < 0)
        api_error(call, 409, "%s", error.text);
    else
        api_json(call, 200, json_pack("{s:b,s:o}", "reloaded", 1, "text", api_text(text)));
}

static void answer_drain(struct api_call *call)
{
    const char *off = api_argument(call, "off");
    const bool on = off == NULL;

    if (off != NULL && strcmp(off, "1") != 0) {
        api_error(call, 400, "off must be 1");
        return;
    }
    if (call->world->drain == NULL) {
        api_error(call, 409, "this daemon cannot drain");
        return;
    }
    call->world->drain(call->world->context, on);
    api_json(call, 200, json_pack("{s:b}", "draining", on ? 1 : 0));
}

/* Routes. ------------------------------------------------------------------------------------- */

struct route {
    const char *path;
    const char *method;
    void (*answer)(struct api_call *call);
    const char *arguments[ARGUMENTS_OF_ROUTE]; /* ends with NULL */
    bool open;                                 /* to who is near, without a token */
    bool prefix;                               /* 'path' is only how it begins */
};

static const struct route routes[] = {
    { .path = "/", .method = "GET", .answer = page_now },
    { .path = "/time", .method = "GET", .answer = page_time, .arguments = { "hours" } },
    { .path = "/job/", .method = "GET", .answer = page_job, .prefix = true },
    { .path = "/machine/", .method = "GET", .answer = page_machine, .prefix = true },
    { .path = "/find", .method = "GET", .answer = page_find, .arguments = { "q" } },
    { .path = "/jobs", .method = "GET", .answer = page_jobs, .arguments = { "user", "state" } },
    { .path = "/ledger",
      .method = "GET",
      .answer = page_ledger,
      .arguments = { "by", "name", "from", "to" } },
    { .path = "/ledger.csv",
      .method = "GET",
      .answer = page_ledger_csv,
      .arguments = { "by", "name", "from", "to" } },
    { .path = "/doctor", .method = "GET", .answer = page_doctor },
    { .path = "/page.css", .method = "GET", .answer = page_css },
    { .path = "/page.js", .method = "GET", .answer = page_js },
    { .path = "/metrics", .method = "GET", .answer = answer_metrics, .open = true },
    { .path = "/healthz", .method = "GET", .answer = answer_health, .open = true },
    { .path = "/v1/status", .method = "GET", .answer = answer_status },
    { .path = "/v1/jobs",
      .method = "GET",
      .answer = api_jobs,
      .arguments = { "user", "state", "limit" } },
    { .path = "/v1/instances", .method = "GET", .answer = api_instances, .arguments = { "limit" } },
    { .path = "/v1/offers", .method = "GET", .answer = api_offers, .arguments = { "limit" } },
    { .path = "/v1/plan", .method = "GET", .answer = api_plan, .arguments = { "limit" } },
    { .path = "/v1/explain",
      .method = "GET",
      .answer = api_explain,
      .arguments = { "job", "instance" } },
    { .path = "/v1/estimate", .method = "GET", .answer = api_estimate, .arguments = { "job" } },
    { .path = "/v1/ledger",
      .method = "GET",
      .answer = api_ledger,
      .arguments = { "by", "since", "until", "apportion", "name", "limit" } },
    { .path = "/v1/history",
      .method = "GET",
      .answer = api_history,
      .arguments = { "since", "limit" } },
    { .path = "/v1/doctor", .method = "GET", .answer = answer_doctor },
    { .path = "/v1/proposals", .method = "GET", .answer = answer_proposals },
    { .path = PROPOSALS, .method = "POST", .answer = answer_proposal, .prefix = true },
    { .path = "/v1/reload", .method = "POST", .answer = answer_reload },
    { .path = "/v1/drain", .method = "POST", .answer = answer_drain, .arguments = { "off" } },
};

bool api_route(uint32_t index, const char **ret_method, const char **ret_path)
{
    if (index >= sizeof(routes) / sizeof(routes[0]))
        return false;
    *ret_method = routes[index].method;
    *ret_path = routes[index].path;
    return true;
}

static const struct route *find_route(const char *path)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        const struct route *route = &routes[i];

        if (route->prefix ? strncmp(path, route->path, strlen(route->path)) == 0
                          : strcmp(path, route->path) == 0)
            return route;
    }
    return NULL;
}

static bool takes(const struct route *route, const char *key)
{
    for (int i = 0; i < ARGUMENTS_OF_ROUTE && route->arguments[i] != NULL; i++) {
        if (strcmp(route->arguments[i], key) == 0)
            return true;
    }
    return false;
}

/* Whether the route takes all arguments, each once; else it was answered. */
static bool check_arguments(struct api_call *call, const struct route *route)
{
    const struct api_request *request = call->request;

    if (request->argument_count > API_ARGUMENTS_MAX) {
        api_error(call, 400, "too many arguments");
        return false;
    }
    for (uint32_t i = 0; i < request->argument_count; i++) {
        const char *key = request->arguments[i].key;

        if (!takes(route, key)) {
            api_error(call, 400, "unknown argument '%.64s'", key);
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(request->arguments[j].key, key) == 0) {
                api_error(call, 400, "'%.64s' is given twice", key);
                return false;
            }
        }
    }
    return true;
}

/* HEAD is GET without the body, which the server leaves out. */
static bool fits_method(const struct route *route, const char *method)
{
    return strcmp(method, route->method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

static void answer(struct api_call *call)
{
    const struct api_request *request = call->request;
    struct api_reply *reply = call->reply;
    const struct route *route = find_route(request->path);

    *reply = (struct api_reply){ .status = 500 };
    reply->is_page = strncmp(request->path, "/v1/", 4) != 0;
    if (!request->authorised && !(request->near && route != NULL && route->open)) {
        api_error(call, 401, "a token is needed: send it as 'Authorization: Bearer TOKEN'");
        return;
    }
    if (route == NULL) {
        api_error(call, 404, "no such path");
        return;
    }
    if (request->read_only && strcmp(route->method, "GET") != 0) {
        api_error(call, 403,
                  "the read-only token may change nothing: use the token of http.token_file");
        return;
    }
    if (!fits_method(route, request->method)) {
        reply->allow = route->method;
        api_error(call, 405, "this path takes %s only", route->method);
        return;
    }
    if (check_arguments(call, route))
        route->answer(call);
}

static struct api_call begin_call(struct serve_world *world, const struct api_request *request,
                                  struct api_reply *reply)
{
    return (struct api_call){
        .world = world,
        .view = controller_view(world->controller),
        .now = world->now(world->context),
        .request = request,
        .reply = reply,
    };
}

void api_answer(struct serve_world *world, const struct api_request *request,
                struct api_reply *reply)
{
    struct api_call call = begin_call(world, request, reply);

    answer(&call);
}

json_t *api_ask(const struct api_call *call, const char *path, const struct api_argument *arguments,
                uint32_t count, unsigned *ret_status)
{
    struct api_request request = { .method = "GET", .path = path, .authorised = true };
    struct api_reply reply;
    struct api_call inner = begin_call(call->world, &request, &reply);
    json_t *tree = NULL;

    assert(count <= API_ARGUMENTS_MAX);
    for (uint32_t i = 0; i < count; i++)
        request.arguments[request.argument_count++] = arguments[i];
    inner.tree = &tree;
    answer(&inner);
    free(reply.body); /* of a path that does not answer in JSON */
    *ret_status = tree != NULL ? reply.status : 500;
    return tree;
}
