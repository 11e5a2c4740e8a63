/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks wait for by a choice of the policy: the rule, the machine or offer, for how long at the most, and what it would
 * cost to rent a machine now instead. All of it comes from the last plan. And limits, in words.
 */
#include <inttypes.h>
#include <string.h>

#include "serve/api_private.h"

enum { PHRASE = 1024 };

static const msec_t minute_ms = 60 * MSEC_PER_SEC;

/* "; renting m5.large for it alone now would cost $0.034, waiting nothing more" */
static void cost_text(const struct view *view, const struct plan_wait *wait, char *ret, size_t size)
{
    char offer[SERVE_TEXT];
    char rent[SERVE_TEXT];
    char later[SERVE_TEXT];

    ret[0] = '\0';
    if (wait->rent_offer == OFFER_NONE || wait->rent_cost == MONEY_UNKNOWN)
        return;
    serve_offer_text(view->catalogue, wait->rent_offer, offer, sizeof(offer));
    serve_money_text(wait->rent_cost, rent, sizeof(rent));
    serve_money_text(wait->wait_cost, later, sizeof(later));
    if (wait->wait_cost == MONEY_UNKNOWN)
        (void)snprintf(ret, size, "; renting %s for it alone now would cost $%s", offer, rent);
    else if (wait->wait_cost == 0)
        (void)snprintf(ret, size,
                       "; renting %s for it alone now would cost $%s, and waiting is free", offer,
                       rent);
    else
        (void)snprintf(ret, size, "; renting %s for it alone now would cost $%s, waiting $%s",
                       offer, rent, later);
}

/* The machine or the offer that it waits for, or "". */
static void target_text(const struct serve_world *world, const struct view *view,
                        const struct plan_wait *wait, uint64_t instance, char *ret, size_t size)
{
    ret[0] = '\0';
    if (instance != 0)
        serve_machine_text(world, instance, ret, size);
    else if (wait->offer != OFFER_NONE)
        serve_offer_text(view->catalogue, wait->offer, ret, size);
}

/* "up to 2 min 10 s " or "": rounded down to minutes it would be too little. */
static void patience_text(const struct view *view, const struct plan_wait *wait, char *ret,
                          size_t size)
{
    const msec_t left = wait->until > view->now ? wait->until - view->now : 0;
    char span[SERVE_TEXT];

    ret[0] = '\0';
    if (wait->until == MSEC_NEVER)
        return;
    if (left >= 2 * minute_ms && left < MSEC_PER_HOUR)
        (void)snprintf(span, sizeof(span), "%" PRId64 " min %" PRId64 " s", left / minute_ms,
                       left % minute_ms / MSEC_PER_SEC);
    else
        api_span_text(left, span, sizeof(span));
    (void)snprintf(ret, size, "up to %s ", span);
}

static void worth_text(const struct view *view, const struct plan_wait *wait, char *ret,
                       size_t size)
{
    char offer[SERVE_TEXT];
    char rent[SERVE_TEXT];
    char worth[SERVE_TEXT];

    serve_offer_text(view->catalogue, wait->rent_offer, offer, sizeof(offer));
    serve_money_text(wait->rent_cost, rent, sizeof(rent));
    serve_money_text(wait->wait_cost, worth, sizeof(worth));
    (void)snprintf(
        ret, size,
        "for a cheaper place: %s costs $%s per hour now, and the job is worth $%s per hour, which"
        " grows while it waits",
        offer, rent, worth);
}

void serve_wait_text(const struct serve_world *world, const struct view *view,
                     const struct plan_wait *wait, uint64_t instance, char *ret, size_t size)
{
    char patience[PHRASE];
    char target[SERVE_TEXT];
    char cost[PHRASE];

    patience_text(view, wait, patience, sizeof(patience));
    target_text(world, view, wait, instance, target, sizeof(target));
    cost_text(view, wait, cost, sizeof(cost));
    switch (wait->rule) {
    case WAIT_ROOM:
        (void)snprintf(ret, size,
                       "%sfor capacity on %s, free before a new machine would be ready%s", patience,
                       target, cost);
        break;
    case WAIT_PAID_ROOM:
        (void)snprintf(ret, size, "%sfor capacity on %s, within time that is paid for anyway%s",
                       patience, target, cost);
        break;
    case WAIT_MACHINES:
        (void)snprintf(ret, size, "%sfor machines that become free, the last of them %s%s",
                       patience, target, cost);
        break;
    case WAIT_SHARED:
        (void)snprintf(
            ret, size,
            "%sfor capacity on %s after the jobs before it there, within time that is paid for "
            "anyway%s",
            patience, target, cost);
        break;
    case WAIT_OFFER:
        (void)snprintf(ret, size, "%sfor %s, refused before and requested again soon%s", patience,
                       target, cost);
        break;
    case WAIT_CROWD:
        (void)snprintf(ret, size, "%sfor arriving jobs, to share a machine with them%s", patience,
                       cost);
        break;
    case WAIT_WORTH:
        worth_text(view, wait, ret, size);
        break;
    case WAIT_QUEUE:
    case WAIT_NO_OFFER:
    case WAIT_SERVICE:
    case WAIT_YIELDED:
    case WAIT_LIMIT:
    case WAIT_BACK_OFF:
    case WAIT_ENGINE:
    case WAIT_GANG:
    case WAIT_PUT_OFF:
    case WAIT_NONE:
    case WAIT_RULES:
        (void)snprintf(ret, size, "%s", plan_wait_text(wait->rule));
        break;
    }
}

/* Whether there is something to tell of it beyond its rule. */
static bool is_choice(enum plan_wait_rule rule)
{
    return rule >= WAIT_ROOM && rule <= WAIT_WORTH;
}

bool api_wait_choice(const struct api_call *call, const struct controller_wait *wait,
                     json_t *object, char *ret, size_t size)
{
    const struct plan_wait *choice = &wait->choice;
    const bool is_known = is_choice(choice->rule);
    char text[SERVE_TEXT] = "";
    char rent[SERVE_TEXT] = "";

    if (is_known)
        target_text(call->world, call->view, choice, wait->instance, text, sizeof(text));
    if (is_known && choice->rent_offer != OFFER_NONE)
        serve_offer_text(call->view->catalogue, choice->rent_offer, rent, sizeof(rent));
    api_set_text(object, "for", text[0] != '\0' ? text : NULL);
    api_set_time(object, "expected_at", choice->expected);
    api_set_text(object, "rent", rent[0] != '\0' ? rent : NULL);
    api_set_money(object, "rent_microdollars", choice->rent_cost);
    api_set_money(object, "wait_microdollars", choice->wait_cost);
    if (is_known)
        serve_wait_text(call->world, call->view, choice, wait->instance, ret, size);
    return is_known;
}

void api_limit_text(const struct api_call *call, enum controller_limit limit, char *ret,
                    size_t size)
{
    const struct serve_world *world = call->world;
    char spent[SERVE_TEXT];
    char most[SERVE_TEXT];

    ret[0] = '\0';

    switch (limit) {
    case LIMIT_INSTANCES:
        snprintf(ret, size, "limit instances: %u of %u machines are rented",
                 call->view->instance.living, world->max_instances);
        break;
    case LIMIT_PRICE:
        serve_money_text(controller_price_per_hour(world->controller), spent, sizeof(spent));
        serve_money_text(world->max_price_per_hour, most, sizeof(most));
        snprintf(
            ret, size,
            "limit dollars_per_hour: the machines cost $%s of $%s, and its own would exceed that",
            spent, most);
        break;
    case LIMIT_PROBE:
        if (controller_failed_boots(world->controller) > 0)
            snprintf(
                ret, size,
                "the last %u machines never became ready: Stint rents one at a time until one does; see "
                "'stint doctor'",
                controller_failed_boots(world->controller));
        else if (controller_failed_starts(world->controller) > 0)
            snprintf(
                ret, size,
                "no job could start on the last %u machines: Stint rents one at a time until one works; "
                "see 'stint doctor'",
                controller_failed_starts(world->controller));
        else
            snprintf(
                ret, size,
                "no machine has become ready and done work since Stint started: Stint rents only a few "
                "until one has");
        break;
    case LIMIT_DOUBT:
        snprintf(
            ret, size,
            "the cloud does not list %u of our machines: Stint rents nothing until it does; see "
            "'stint doctor'",
            controller_missing(world->controller));
        break;
    case LIMIT_RIVAL:
        snprintf(
            ret, size,
            "another process rented %u machines of this cluster: Stint rents nothing meanwhile; see "
            "'stint doctor'",
            controller_rivals(world->controller));
        break;
    case LIMIT_BURST:
        snprintf(
            ret, size,
            "the owned nodes for it are busy, and its burst rule allows no rented machine yet");
        break;
    case LIMIT_TURN:
        snprintf(ret, size,
                 "jobs before it in the queue wait for the same limits, and it would delay them");
        break;
    case LIMIT_BUDGET:  /* see explain_budget in api_explain.c */
    case LIMIT_CAP:     /* the daemon names it, see serve_world.waits */
    case LIMIT_NO_RENT: /* the daemon drains, which is reported anyway */
    case LIMIT_NONE:
        break;
    }
}

/* The same of every limit, for a list. */
static void limit_text(const struct api_call *call, enum controller_limit limit, char *ret,
                       size_t size)
{
    api_limit_text(call, limit, ret, size);
    if (limit == LIMIT_BUDGET)
        (void)snprintf(ret, size, "the rest of the budget is too small for its machine");
    else if (limit == LIMIT_CAP)
        (void)snprintf(ret, size, "a limit or a budget of its account, user, partition or QOS");
    else if (limit == LIMIT_NO_RENT)
        (void)snprintf(
            ret, size,
            "Stint rents nothing while it drains or looks for machines of an earlier run");
}

void api_wait_fields(const struct api_call *call, const struct controller_wait *wait,
                     json_t *object, char *ret, size_t size)
{
    api_set_text(object, "rule", plan_wait_word(wait->rule));
    api_set_time(object, "until",
                 wait->rule == WAIT_BACK_OFF ? wait->not_before : wait->choice.until);
    if (!api_wait_choice(call, wait, object, ret, size)) {
        ret[0] = '\0';
        if (wait->rule == WAIT_LIMIT)
            limit_text(call, wait->limit, ret, size);
        if (ret[0] == '\0')
            (void)snprintf(ret, size, "%s", plan_wait_text(wait->rule));
    }
    api_set_text(object, "why", ret);
}

static json_t *wait_json(const struct api_call *call, uint32_t task)
{
    const struct view *view = call->view;
    const uint32_t job = view->task.job[task];
    const struct controller_wait wait = controller_wait_of(call->world->controller, task);
    json_t *object = json_object();
    char text[PHRASE * 2];

    serve_task_text(call->world, view->task.id[task], text, sizeof(text));
    api_set_text(object, "task", text);
    serve_job_text(call->world, view->job.id[job], text, sizeof(text));
    api_set_text(object, "job", text);
    api_set_text(object, "user", api_name(call->world->users, view->job.user[job]));
    api_wait_fields(call, &wait, object, text, sizeof(text));
    return object;
}

json_t *api_waits(const struct api_call *call, uint32_t most)
{
    const struct view *view = call->view;
    json_t *waits = json_array();

    if (call->world->controller == NULL)
        return waits;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        if (json_array_size(waits) == most)
            break;
        json_array_append_new(waits, wait_json(call, task));
    }
    return waits;
}
