/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why: in fields for programs and in sentences for people. What there is comes from the view, what
 * was thought at the time from the reasons in the store, what a decision left out from the controller
 * (limits, starts that are tried again), what engine and cloud keep to themselves (a job that its user
 * holds, an offer in back-off) from the daemon. Nothing is decided here a second time.
 */
#include "serve/api_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "learn/runtimes.h"

enum {
    REASONS_SHOWN = 10,
    TASKS_SHOWN = 64,
    REFUSALS_SHOWN = 3,
    SENTENCE = 1024,
};

struct explanation {
    struct api_call *call;
    json_t *object;
    json_t *sentences;
};

static void say(struct explanation *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct explanation *to, const char *format, ...)
{
    char text[SENTENCE];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    json_array_append_new(to->sentences, api_text(text));
}

static struct explanation begin(struct api_call *call)
{
    return (struct explanation){
        .call = call,
        .object = json_object(),
        .sentences = json_array(),
    };
}

static void end(struct explanation *explanation)
{
    json_object_set_new(explanation->object, "text", explanation->sentences);
    api_json(explanation->call, 200, explanation->object);
}

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "unknown";
}

/* Reasons. ------------------------------------------------------------------------------------ */

struct reason_list {
    struct explanation *to;
    const char *opening; /* of the sentence about the newest; NULL: there is none */
    json_t *reasons;
};

static void say_reason(const struct reason_list *list, const struct store_reason *reason)
{
    char chosen[SERVE_TEXT];
    char passed[SERVE_TEXT];

    serve_money_text(reason->why.chosen, chosen, sizeof(chosen));
    serve_money_text(reason->why.passed_over, passed, sizeof(passed));
    if (reason->why.passed_over == MONEY_UNKNOWN || reason->why.chosen == MONEY_UNKNOWN)
        say(list->to, "%s%s%s because: %s.", list->opening, reason->target != NULL ? " " : "",
            reason->target != NULL ? reason->target : "", or_unknown(reason->text));
    else
        say(list->to,
            "%s%s%s because: %s. It costs $%s per hour; %s would cost $%s for the same tasks.",
            list->opening, reason->target != NULL ? " " : "",
            reason->target != NULL ? reason->target : "", or_unknown(reason->text), chosen,
            reason->passed_offer != NULL ? reason->passed_offer : "another machine", passed);
}

static void add_reason(void *context, const struct store_reason *reason)
{
    struct reason_list *list = context;
    json_t *object = json_object();

    if (json_array_size(list->reasons) == 0 && list->opening != NULL)
        say_reason(list, reason);
    api_set_time(object, "at", reason->at);
    api_set_number(object, "decision", (int64_t)reason->decision);
    api_set_text(object, "where", reason->target);
    api_set_text(object, "why", reason->text);
    api_set_money(object, "chosen_microdollars_per_hour", reason->why.chosen);
    api_set_money(object, "passed_over_microdollars_per_hour", reason->why.passed_over);
    api_set_text(object, "passed_over", reason->passed_offer);
    json_array_append_new(list->reasons, object);
}

static bool is_shadow(const struct api_call *call)
{
    const char *mode = call->world->mode;

    return mode != NULL && strcmp(mode, "shadow") == 0;
}

/* In the mode shadow nothing was done: it is what would have been. */
static const char *opening(const struct api_call *call, const char *done, const char *would)
{
    return is_shadow(call) ? would : done;
}

static void say_shadow(struct explanation *to)
{
    if (is_shadow(to->call))
        say(to,
            "Shadow mode: these machines exist only in Stint's forecast. Nothing is rented, and "
            "jobs may run elsewhere in your cluster.");
}

static void set_reasons(struct explanation *to, const char *key, enum store_subject subject,
                        uint64_t id, const char *opening)
{
    struct reason_list list = { .to = to, .opening = opening, .reasons = json_array() };

    (void)store_each_reason(to->call->world->store, subject, id, REASONS_SHOWN, add_reason, &list,
                            NULL);
    json_object_set_new(to->object, key, list.reasons);
}

/* Waiting. ------------------------------------------------------------------------------------ */

static json_t *add_wait(struct explanation *to, json_t *waits, const char *why, msec_t until,
                        const char *text)
{
    json_t *wait = json_object();

    api_set_text(wait, "why", why);
    api_set_time(wait, "until", until);
    api_set_text(wait, "text", text);
    json_array_append_new(waits, wait);
    say(to, "It waits: %s.", text);
    return wait;
}

/* An offer that is left alone for a while. 'times' is 0 if the controller does so by itself: then 'at'
 * is not known. */
struct refused_offer {
    uint32_t offer;
    money_t price;
    struct cloud_refusal refusal;
};

/* Of the offers that hold a task of the shape: how many, how many are refused, until when the first,
 * the cheapest, the cheapest that is not refused, and the cheapest that are, in order. */
struct choice {
    uint32_t holding;
    uint32_t blocked;
    msec_t first_free;
    uint32_t cheapest;
    money_t price;
    money_t free_price;
    struct refused_offer refused[REFUSALS_SHOWN];
    uint32_t refused_count;
};

/* Controller and cloud each have a back-off of their own; the later end counts. */
bool api_is_refused(const struct api_call *call, uint32_t offer, struct cloud_refusal *ret)
{
    const struct serve_world *world = call->world;
    const msec_t until = call->view->offer_blocked_until[offer];

    *ret = (struct cloud_refusal){ .at = -1 };
    if (world->refusal != NULL)
        (void)world->refusal(world->context, offer, ret);
    if (until > ret->until)
        ret->until = until;
    return ret->until > call->now;
}

static void add_refused(struct choice *choice, const struct refused_offer *refused)
{
    uint32_t at = choice->refused_count;

    while (at > 0 && choice->refused[at - 1].price > refused->price)
        at--;
    if (at == REFUSALS_SHOWN)
        return;
    if (choice->refused_count < REFUSALS_SHOWN)
        choice->refused_count++;
    memmove(&choice->refused[at + 1], &choice->refused[at],
            (choice->refused_count - 1 - at) * sizeof(*refused));
    choice->refused[at] = *refused;
}

static struct choice choose(const struct api_call *call, uint32_t shape)
{
    const struct view *view = call->view;
    const struct catalogue *catalogue = view->catalogue;
    struct choice choice = { .first_free = MSEC_NEVER,
                             .cheapest = OFFER_NONE,
                             .price = MONEY_UNKNOWN,
                             .free_price = MONEY_UNKNOWN };

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (!shape_fits_offer(view->shapes, shape, catalogue, i))
            continue;

        struct refused_offer refused = { .offer = i,
                                         .price =
                                             price_at(&catalogue->offers[i].price, call->now) };

        choice.holding++;
        if (refused.price < choice.price) {
            choice.price = refused.price;
            choice.cheapest = i;
        }
        if (api_is_refused(call, i, &refused.refusal)) {
            choice.blocked++;
            if (refused.refusal.until < choice.first_free)
                choice.first_free = refused.refusal.until;
            add_refused(&choice, &refused);
        } else if (refused.price < choice.free_price) {
            choice.free_price = refused.price;
        }
    }
    return choice;
}

/* Offers that would have been taken before those that are to be had. */
static void explain_refused(struct explanation *to, json_t *waits, const struct choice *choice)
{
    const struct api_call *call = to->call;
    char offer[SERVE_TEXT];
    char at[SERVE_TEXT];
    char until[SERVE_TEXT];
    char text[SENTENCE];

    for (uint32_t i = 0; i < choice->refused_count; i++) {
        const struct refused_offer *refused = &choice->refused[i];
        const struct cloud_refusal *refusal = &refused->refusal;

        if (refused->price >= choice->free_price)
            break;
        serve_offer_text(call->view->catalogue, refused->offer, offer, sizeof(offer));
        adapter_clock_text(refusal->at, call->now, at, sizeof(at));
        adapter_clock_text(refusal->until, call->now, until, sizeof(until));
        if (refusal->is_placeless)
            snprintf(text, sizeof(text),
                     "%s: 'subnets' of the configuration has no entry for its zone", offer);
        else if (refusal->times == 0)
            snprintf(text, sizeof(text), "%s: refused or late, no request before %s", offer, until);
        else
            snprintf(text, sizeof(text),
                     "%s: %s by the cloud at %s, no request before %s (refused %u %s)", offer,
                     refusal->is_quota ? "its quota was refused" : "refused", at, until,
                     refusal->times, refusal->times == 1 ? "time" : "times");
        (void)add_wait(to, waits, "refused", refusal->until, text);
    }
}

/* The budget that has the least left is the one that its machine would break first. */
static void explain_budget(struct explanation *to, json_t *waits)
{
    const struct serve_world *world = to->call->world;
    const struct serve_budget *tight = NULL;
    char spent[SERVE_TEXT];
    char text[SENTENCE];

    for (uint32_t i = 0; i < world->budget_count; i++) {
        const struct serve_budget *budget = &world->budgets[i];

        if (tight == NULL || budget->limit - budget->spent < tight->limit - tight->spent)
            tight = budget;
    }
    if (tight == NULL)
        return;
    serve_budget_text(tight, to->call->now, spent, sizeof(spent));
    (void)snprintf(text, sizeof(text), "the budget: %s; its machine would exceed that", spent);
    (void)add_wait(to, waits, "budget", tight->until, text);
}

static const char *probe_word(const struct explanation *to)
{
    return controller_failed_starts(to->call->world->controller) > 0 ? "no-start" : "no-boot";
}

static void explain_limit(struct explanation *to, json_t *waits, enum controller_limit limit)
{
    char text[SENTENCE];

    if (limit == LIMIT_BUDGET)
        explain_budget(to, waits);
    api_limit_text(to->call, limit, text, sizeof(text));
    if (text[0] != '\0')
        (void)add_wait(to, waits, limit == LIMIT_PROBE ? probe_word(to) : "limit", MSEC_NEVER,
                       text);
}

/* What the last decision left out, and what the engine was left to do. */
static void explain_undone(struct explanation *to, json_t *waits, uint32_t task)
{
    const struct api_call *call = to->call;
    const struct controller_wait wait = controller_wait_of(call->world->controller, task);
    char until[SERVE_TEXT];
    char text[SENTENCE];

    explain_limit(to, waits, wait.limit);
    if (wait.not_before > call->now) {
        adapter_clock_text(wait.not_before, call->now, until, sizeof(until));
        snprintf(text, sizeof(text), "its last start failed (%u in a row); the next try is at %s",
                 wait.losses, until);
        (void)add_wait(to, waits, "back-off", wait.not_before, text);
    }
    if (wait.is_queued)
        (void)add_wait(
            to, waits, "queued", MSEC_NEVER,
            "a short job: the scheduler starts it as soon as any machine has free capacity");
}

/* By which rule the last decision left it waiting, where nothing else tells. */
static void explain_rule(struct explanation *to, json_t *waits, uint32_t task)
{
    const struct controller_wait wait = controller_wait_of(to->call->world->controller, task);
    json_t *fields = json_object();
    char text[SENTENCE];

    if (api_wait_choice(to->call, &wait, fields, text, sizeof(text)))
        (void)json_object_update(
            add_wait(to, waits, plan_wait_word(wait.rule), wait.choice.until, text), fields);
    else if (json_array_size(waits) == 0 && wait.rule != WAIT_NONE)
        (void)add_wait(to, waits, plan_wait_word(wait.rule), MSEC_NEVER, plan_wait_text(wait.rule));
    json_decref(fields);
}

static void explain_unbound(struct explanation *to, json_t *waits, uint32_t task,
                            const struct choice *choice)
{
    const struct api_call *call = to->call;
    char span[SERVE_TEXT];
    char text[SENTENCE];

    if (!call->world->ready)
        (void)add_wait(to, waits, "not-ready", MSEC_NEVER,
                       "the daemon waits for the first lists of the scheduler and the cloud");
    if (choice->holding == 0)
        (void)add_wait(to, waits, "no-offer", MSEC_NEVER,
                       shape_has_rules(call->view->shapes, call->view->task.shape[task])
                           ? "no machine type in its current markets is large enough"
                           : "no machine type of the catalogue is large enough");
    else if (choice->blocked == choice->holding) {
        api_span_text(choice->first_free - call->now, span, sizeof(span));
        snprintf(text, sizeof(text),
                 "the cloud refused every offer that is large enough; the next request is in %s",
                 span);
        (void)add_wait(to, waits, "offer-blocked", choice->first_free, text);
    }
    explain_undone(to, waits, task);
    if (call->world->draining)
        (void)add_wait(to, waits, "draining", MSEC_NEVER, "Stint is draining and rents nothing");
}

static const char *state_words(const struct api_call *call, const char *state)
{
    const bool is_placed = strcmp(state, serve_task_word(TASK_BOUND)) == 0;

    if (is_shadow(call) && strcmp(state, serve_task_word(TASK_RUNNING)) == 0)
        return "running in the forecast";
    if (!is_placed)
        return state;
    return is_shadow(call) ? "assigned to a machine in the forecast" : "assigned to a machine";
}

static void explain_bound(struct explanation *to, json_t *waits, uint32_t task)
{
    const struct view *view = to->call->view;
    const uint32_t instance = view->task.instance[task];
    const uint8_t state = view->instance.state[instance];
    const msec_t expected = view->instance.ready_expected[instance];
    char name[SERVE_TEXT];
    char ready[SERVE_TEXT];
    char text[SENTENCE];

    serve_machine_text(to->call->world, view->instance.id[instance], name, sizeof(name));
    if (state == INSTANCE_REQUESTED || state == INSTANCE_BOOTING) {
        adapter_clock_text(expected, to->call->now, ready, sizeof(ready));
        snprintf(text, sizeof(text), "machine %s %s, %s %s", name,
                 state == INSTANCE_REQUESTED ? "is requested" : "boots",
                 expected > to->call->now ? "expected" : "was expected", ready);
        (void)add_wait(to, waits, "booting", expected, text);
    } else {
        snprintf(text, sizeof(text), "%s is ready, and the scheduler was asked to start the job",
                 name);
        (void)add_wait(to, waits, "launching", MSEC_NEVER, text);
    }
}

/* What the daemon knows beyond the controller. */
static void explain_beyond(struct explanation *to, json_t *waits, uint64_t id)
{
    const struct serve_world *world = to->call->world;
    struct serve_wait beyond[SERVE_WAITS_MAX];
    size_t count = 0;

    if (world->waits != NULL)
        count = world->waits(world->context, id, beyond, SERVE_WAITS_MAX);
    assert(count <= SERVE_WAITS_MAX);
    for (size_t i = 0; i < count; i++)
        (void)add_wait(to, waits, beyond[i].why, beyond[i].until, beyond[i].text);
}

/* The task of the job that is the furthest behind: what the whole waits for. */
static uint32_t hindmost(const struct view *view, uint32_t job)
{
    uint32_t found = view->job.first_task[job];

    for (uint32_t task = found; task != ROW_NONE; task = view->task.sibling[task]) {
        if (view->task.state[task] < view->task.state[found])
            found = task;
    }
    return found;
}

static void set_waits(struct explanation *to, uint32_t task, const struct choice *choice)
{
    const struct view *view = to->call->view;
    json_t *waits = json_array();

    if (view->task.state[task] != TASK_RUNNING) {
        if (view->task.state[task] == TASK_WAITING)
            explain_unbound(to, waits, task, choice);
        else
            explain_bound(to, waits, task);
        explain_beyond(to, waits, view->task.id[task]);
        if (view->task.state[task] == TASK_WAITING)
            explain_rule(to, waits, task);
        if (json_array_size(waits) == 0)
            (void)add_wait(to, waits, "undecided",
                           controller_next_wake(to->call->world->controller),
                           "the next decision places it");
        if (view->task.state[task] == TASK_WAITING)
            explain_refused(to, waits, choice);
    }
    json_object_set_new(to->object, "waits", waits);
}

/* Cost. --------------------------------------------------------------------------------------- */

money_t api_add_money(money_t sum, money_t more)
{
    if (sum == MONEY_UNKNOWN || more == MONEY_UNKNOWN || sum > MONEY_UNKNOWN / 2 ||
        more > MONEY_UNKNOWN / 2)
        return MONEY_UNKNOWN;
    return sum + more;
}

money_t api_price_of_span(money_t per_hour, msec_t span)
{
    if (per_hour == MONEY_UNKNOWN || per_hour < 0 || span < 0 || span == MSEC_NEVER)
        return MONEY_UNKNOWN;
    return money_for(per_hour, span);
}

static int64_t weight_of(const struct view *view, uint32_t task, uint32_t instance)
{
    const struct res *demand = view_demand(view, task, instance);

    if (demand == NULL)
        return 1;
    return 1 + (int64_t)(res_dominant_share(demand, view_capacity(view, instance)) * 1e6);
}

money_t api_pays_per_hour(const struct api_call *call, uint32_t task, money_t alone)
{
    const struct view *view = call->view;
    const uint32_t instance = view->task.instance[task];
    int64_t all = 0;

    if (instance == ROW_NONE)
        return alone;
    TASK_EACH(other, view, view->instance.first_task[instance])
    {
        all += weight_of(view, other, instance);
    }

    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];

    return mul_div(price_at(&offer->price, call->now), weight_of(view, task, instance), all);
}

struct job_money {
    money_t so_far;
    money_t expected; /* in the end; MONEY_UNKNOWN */
    money_t alone;    /* with an instance for each task; MONEY_UNKNOWN */
};

static struct job_money job_money(const struct api_call *call, uint32_t job, money_t alone)
{
    const struct view *view = call->view;
    struct job_money money = { .so_far = api_job_cost(call, job) };

    money.expected = money.so_far;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const msec_t estimate = view->task.estimate_ms[task];
        const msec_t left = estimate == MSEC_NEVER
                                ? MSEC_NEVER
                                : runtime_remaining(estimate, api_executed(call, task));

        money.expected = api_add_money(
            money.expected, api_price_of_span(api_pays_per_hour(call, task, alone), left));
        money.alone = api_add_money(money.alone, api_price_of_span(alone, estimate));
    }
    return money;
}

static void set_money(struct explanation *to, uint32_t task, const struct job_money *money)
{
    const msec_t estimate = api_expected_ms(to->call, task);
    char span[SERVE_TEXT];
    char expected[SERVE_TEXT];
    char alone[SERVE_TEXT];

    api_set_money(to->object, "cost_microdollars", money->so_far);
    api_set_money(to->object, "expected_cost_microdollars", money->expected);
    api_set_money(to->object, "alone_cost_microdollars", money->alone);
    if (money->expected == MONEY_UNKNOWN || money->alone == MONEY_UNKNOWN)
        return;
    api_span_text(estimate, span, sizeof(span));
    serve_money_text(money->expected, expected, sizeof(expected));
    serve_money_text(money->alone, alone, sizeof(alone));
    say(to, "It is expected to run %s in all and to cost $%s; alone on its cheapest machine $%s.",
        span, expected, alone);
}

static void set_forecast(struct explanation *to, uint32_t task)
{
    char text[SENTENCE];

    api_set_time(to->object, "estimate_ms", api_expected_ms(to->call, task));
    json_object_set_new(to->object, "estimate", api_forecast(to->call, task, text, sizeof(text)));
    if (text[0] != '\0')
        say(to, "Its runtime is estimated by: %s.", text);
}

/* Jobs. --------------------------------------------------------------------------------------- */

static json_t *tasks_json(const struct api_call *call, uint32_t job)
{
    const struct view *view = call->view;
    json_t *tasks = json_array();
    char text[SERVE_TEXT];

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];
        json_t *object = json_object();

        if (json_array_size(tasks) == TASKS_SHOWN) {
            json_decref(object);
            break;
        }
        serve_task_text(call->world, view->task.id[task], text, sizeof(text));
        api_set_text(object, "task", text);
        api_set_text(object, "state", serve_task_word(view->task.state[task]));
        if (instance != ROW_NONE)
            serve_machine_text(call->world, view->instance.id[instance], text, sizeof(text));
        api_set_text(object, "instance", instance != ROW_NONE ? text : NULL);
        api_set_number(object, "launches", view->task.launches[task]);
        api_set_number(object, "stops", view->task.stops[task]);
        json_array_append_new(tasks, object);
    }
    return tasks;
}

static void say_job(struct explanation *to, uint32_t job, const char *label, const char *state)
{
    const struct view *view = to->call->view;
    char span[SERVE_TEXT];

    api_span_text(to->call->now - view->job.arrived_at[job], span, sizeof(span));
    say(to, "Job %s (%s, of %s) is %s; it was submitted %s ago.", label,
        or_unknown(api_name(to->call->world->job_names, view->job.name[job])),
        or_unknown(api_name(to->call->world->users, view->job.user[job])),
        state_words(to->call, state), span);
}

static void set_cheapest(struct explanation *to, const struct choice *choice)
{
    json_t *cheapest = json_null();
    char text[SERVE_TEXT];

    if (choice->cheapest != OFFER_NONE) {
        cheapest = json_object();
        serve_offer_text(to->call->view->catalogue, choice->cheapest, text, sizeof(text));
        api_set_text(cheapest, "offer", text);
        api_set_money(cheapest, "price_microdollars_per_hour", choice->price);
    }
    json_object_set_new(to->object, "cheapest", cheapest);
}

static void set_market(struct explanation *to, uint32_t job)
{
    char text[SENTENCE];

    json_object_set_new(to->object, "market", api_market(to->call, job, text, sizeof(text)));
    if (text[0] != '\0')
        say(to, "Its market: %s.", text);
}

static void explain_living_job(struct api_call *call, uint32_t job, uint32_t asked)
{
    const struct view *view = call->view;
    struct explanation to = begin(call);
    const uint32_t task = asked != ROW_NONE ? asked : hindmost(view, job);
    uint32_t count[4];
    const char *state = serve_task_word(api_job_state(view, job, count));
    const struct choice choice = choose(call, view->task.shape[task]);
    const struct job_money money = job_money(call, job, choice.price);
    char label[SERVE_TEXT];

    serve_job_text(call->world, view->job.id[job], label, sizeof(label));
    api_set_text(to.object, "job", label);
    api_set_text(to.object, "name", api_name(call->world->job_names, view->job.name[job]));
    api_set_text(to.object, "user", api_name(call->world->users, view->job.user[job]));
    api_set_text(to.object, "state", state);
    api_set_time(to.object, "arrived_at", view->job.arrived_at[job]);
    api_set_number(to.object, "executed_ms", api_executed(call, task));
    say_shadow(&to);
    say_job(&to, job, label, state);
    set_market(&to, job);
    set_cheapest(&to, &choice);
    set_waits(&to, task, &choice);
    json_object_set_new(to.object, "tasks", tasks_json(call, job));
    set_reasons(&to, "reasons", STORE_TASK, view->task.id[task],
                opening(call, "It was put on", "It would have been put on"));
    set_reasons(&to, "waited_because", STORE_WAITED, view->task.id[task], NULL);
    set_money(&to, task, &money);
    set_forecast(&to, task);
    end(&to);
}

static void explain_due(void *context, const struct store_due *due)
{
    struct explanation *to = context;
    char cost[SERVE_TEXT];
    char alone[SERVE_TEXT];
    char span[SERVE_TEXT];

    api_set_text(to->object, "job", due->label);
    api_set_text(to->object, "name", due->name);
    api_set_text(to->object, "user", due->user);
    api_set_text(to->object, "state", "ended");
    api_set_text(to->object, "type", due->type);
    api_set_time(to->object, "ended_at", due->ended_at);
    api_set_number(to->object, "occupied_ms", due->occupied_ms);
    api_set_number(to->object, "cost_microdollars", due->cost);
    api_set_number(to->object, "alone_cost_microdollars", due->alone_cost);
    api_set_number(to->object, "task_id", (int64_t)due->task);
    serve_money_text(due->cost, cost, sizeof(cost));
    serve_money_text(due->alone_cost, alone, sizeof(alone));
    api_span_text(due->occupied_ms, span, sizeof(span));
    say(to,
        "Job %s (%s, of %s) has ended. It %s machines for %s and %s $%s; alone on its "
        "cheapest machine it would have cost $%s.",
        due->label, or_unknown(due->name), or_unknown(due->user),
        opening(to->call, "held", "would have held"), span,
        opening(to->call, "cost", "would have cost"), cost, alone);
}

/* The engine knows it and the view does not: it is not to run now. */
static void explain_withdrawn(struct api_call *call, const char *label, uint64_t id)
{
    struct explanation to = begin(call);
    json_t *waits = json_array();

    api_set_text(to.object, "job", label);
    api_set_text(to.object, "state", "held");
    say(&to, "Job %s is not eligible to run yet.", label);
    explain_beyond(&to, waits, id);
    if (json_array_size(waits) == 0)
        (void)add_wait(
            &to, waits, "held", MSEC_NEVER,
            "its user holds it, it depends on another job, or it is not for Stint to place");
    json_object_set_new(to.object, "waits", waits);
    set_reasons(&to, "reasons", STORE_TASK, id,
                opening(call, "It was put on", "It would have been put on"));
    end(&to);
}

static void explain_job(struct api_call *call, const char *label)
{
    const struct serve_world *world = call->world;
    const uint64_t id = world->find != NULL ? world->find(world->context, label) : 0;
    const uint32_t job = id != 0 ? view_find_job(call->view, id) : ROW_NONE;
    const uint32_t task = id != 0 ? view_find_task(call->view, id) : ROW_NONE;

    if (job != ROW_NONE && call->view->job.first_task[job] != ROW_NONE) {
        explain_living_job(call, job, ROW_NONE);
        return;
    }
    if (task != ROW_NONE) {
        explain_living_job(call, call->view->task.job[task], task);
        return;
    }

    struct explanation to = begin(call);

    if (store_find_due(world->store, label, explain_due, &to)) {
        const json_t *ended = json_object_get(to.object, "task_id");

        set_reasons(&to, "reasons", STORE_TASK, (uint64_t)json_integer_value(ended),
                    opening(call, "It was put on", "It would have been put on"));
        set_reasons(&to, "waited_because", STORE_WAITED, (uint64_t)json_integer_value(ended), NULL);
        json_object_del(to.object, "task_id");
        end(&to);
        return;
    }
    json_decref(to.object);
    json_decref(to.sentences);
    if (id != 0)
        explain_withdrawn(call, label, id);
    else
        api_error(
            call, 404,
            "no job '%.64s' is known: `stint top` lists living jobs, `stint ledger --by job` ended "
            "ones",
            label);
}

/* Instances. ---------------------------------------------------------------------------------- */

static void explain_kept(struct explanation *to, uint32_t row)
{
    const struct view *view = to->call->view;
    char span[SERVE_TEXT];
    char text[SENTENCE] = "";

    api_span_text(to->call->now - view->instance.empty_since[row], span, sizeof(span));
    switch ((enum instance_state)view->instance.state[row]) {
    case INSTANCE_REQUESTED:
        snprintf(text, sizeof(text), "it is requested; waiting tasks: %u",
                 view->instance.task_count[row]);
        break;
    case INSTANCE_BOOTING:
        snprintf(text, sizeof(text), "it boots; waiting tasks: %u", view->instance.task_count[row]);
        break;
    case INSTANCE_READY:
        if (view->instance.task_count[row] > 0)
            snprintf(text, sizeof(text), "%u %s there", view->instance.task_count[row],
                     view->instance.task_count[row] == 1 ? "task is" : "tasks are");
        else
            snprintf(text, sizeof(text), "empty since %s; the policy returns it when that pays",
                     span);
        break;
    case INSTANCE_DRAINING:
        snprintf(text, sizeof(text), "it goes back when its last task has left");
        break;
    case INSTANCE_RETURNED:
        snprintf(text, sizeof(text), "it was returned, and the cloud has yet to confirm it");
        break;
    case INSTANCE_FREE:
        break;
    }
    api_set_text(to->object, "kept", text);
    say(to, "It is kept: %s.", text);
    if (controller_is_outdated(to->call->world->controller, row))
        say(to, "It is outdated: its image or settings are no longer those of new machines%s.",
            view->instance.state[row] == INSTANCE_READY ? ", and it will be replaced" : "");
}

static json_t *tasks_there(const struct api_call *call, uint32_t row)
{
    const struct view *view = call->view;
    json_t *tasks = json_array();
    char label[SERVE_TEXT];

    TASK_EACH(task, view, view->instance.first_task[row])
    {
        json_t *object = json_object();

        if (json_array_size(tasks) == TASKS_SHOWN) {
            json_decref(object);
            break;
        }
        serve_task_text(call->world, view->task.id[task], label, sizeof(label));
        api_set_text(object, "task", label);
        api_set_text(object, "state", serve_task_word(view->task.state[task]));
        json_array_append_new(tasks, object);
    }
    return tasks;
}

static void explain_living_instance(struct explanation *to, const char *name, uint32_t row)
{
    const struct api_call *call = to->call;
    const struct view *view = call->view;
    const uint32_t offer_row = view->instance.offer[row];
    const struct offer *offer = &view->catalogue->offers[offer_row];
    const money_t price = price_at(&offer->price, call->now);
    const money_t bill = api_bill_now(call, row);
    char offer_text[SERVE_TEXT];
    char price_text[SERVE_TEXT];
    char bill_text[SERVE_TEXT];

    say_shadow(to);
    serve_offer_text(view->catalogue, offer_row, offer_text, sizeof(offer_text));
    serve_money_text(price, price_text, sizeof(price_text));
    serve_money_text(bill, bill_text, sizeof(bill_text));
    api_set_text(to->object, "offer", offer_text);
    api_set_text(to->object, "type", catalogue_offer_type_name(view->catalogue, offer_row));
    api_set_text(to->object, "zone", api_name(&view->catalogue->names, offer->zone));
    api_set_text(to->object, "market", market_name(offer->market));
    api_set_text(to->object, "state", serve_instance_word(view->instance.state[row]));
    api_set_money(to->object, "price_microdollars_per_hour", price);
    api_set_time(to->object, "rented_at", view->instance.rented_at[row]);
    api_set_time(to->object, "billed_since", view->instance.billed_from[row]);
    api_set_time(to->object, "ended_at", -1);
    api_set_money(to->object, "bill_microdollars", bill);
    json_object_set_new(to->object, "tasks", tasks_there(call, row));
    say(to, "%s is %s, at $%s per hour, %s; its bill is $%s so far.", name, offer_text, price_text,
        serve_instance_word(view->instance.state[row]), bill_text);
    explain_kept(to, row);
}

static void explain_past_instance(void *context, const struct store_instance *instance)
{
    struct explanation *to = context;
    const char *state = instance->ended_at >= 0 ? "gone" : "unknown";

    api_set_text(to->object, "offer", instance->offer);
    api_set_text(to->object, "type", instance->type);
    api_set_text(to->object, "zone", instance->zone);
    api_set_text(to->object, "market", instance->market);
    api_set_text(to->object, "state", state);
    api_set_money(to->object, "price_microdollars_per_hour", instance->per_hour);
    api_set_time(to->object, "rented_at", instance->asked_at);
    api_set_time(to->object, "ended_at", instance->ended_at);
    api_set_text(to->object, "kept", NULL);
    json_object_set_new(to->object, "tasks", json_array());
    say(to, "It was %s and is %s.", or_unknown(instance->offer), state);
}

static void set_past_bill(struct explanation *to, uint64_t id)
{
    struct ledger_bill bill = { .from = -1 };
    const bool paid = store_find_bill(to->call->world->store, id, &bill);
    char text[SERVE_TEXT];

    api_set_time(to->object, "billed_since", bill.from);
    api_set_money(to->object, "bill_microdollars", bill.sums.bill);
    serve_money_text(bill.sums.bill, text, sizeof(text));
    if (paid)
        say(to, "Its bill was $%s.", text);
    else
        say(to, "It was never on a bill.");
}

static void explain_instance(struct api_call *call, const char *name)
{
    const uint64_t id = serve_machine_find(call->world, name);
    const uint32_t row = id != 0 ? view_find_instance(call->view, id) : ROW_NONE;
    struct explanation to = begin(call);
    bool found = true;

    api_set_text(to.object, "instance", name);
    api_set_number(to.object, "id", (int64_t)id);
    if (row != ROW_NONE) {
        explain_living_instance(&to, name, row);
    } else {
        found = id != 0 && store_find_instance(call->world->store, id, explain_past_instance, &to);
        if (found)
            set_past_bill(&to, id);
    }
    if (!found) {
        json_decref(to.object);
        json_decref(to.sentences);
        api_error(call, 404, "no instance '%.64s' is known: `stint top` lists them", name);
        return;
    }
    set_reasons(&to, "rented_because", STORE_RENTED, id,
                opening(call, "It was rented as", "It would have been rented as"));
    set_reasons(&to, "released_because", STORE_RELEASED, id,
                opening(call, "It was let go", "It would have been let go"));
    end(&to);
}

void api_explain(struct api_call *call)
{
    const char *job = api_argument(call, "job");
    const char *instance = api_argument(call, "instance");

    if ((job == NULL) == (instance == NULL))
        api_error(call, 400, "one of job and instance must be given");
    else if (job != NULL)
        explain_job(call, job);
    else
        explain_instance(call, instance);
}
