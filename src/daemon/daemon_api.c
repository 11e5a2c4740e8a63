/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the HTTP API asks and orders. Orders change what the next turn does; they act on nothing
 * themselves.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "daemon/offer_index.h"
#include "store/store_report.h"

static msec_t now_of(void *context)
{
    const struct daemon *daemon = context;

    return daemon->now;
}

static void label_of(void *context, uint64_t task, char *ret, size_t size)
{
    struct daemon *daemon = context;

    (void)daemon->engine_kind->label(daemon->engine, task, ret, size);
}

static void payer_of(void *context, uint64_t task, struct store_payer *ret)
{
    struct daemon *daemon = context;
    struct engine_payer payer = { .account = NULL };

    if (daemon->engine_kind->payer == NULL ||
        !daemon->engine_kind->payer(daemon->engine, task, &payer))
        return;
    ret->account = payer.account;
    ret->partition = payer.partition;
    ret->qos = payer.qos;
}

static uint64_t find(void *context, const char *label)
{
    struct daemon *daemon = context;

    return daemon->engine_kind->find(daemon->engine, label);
}

static int imagine(void *context, const char *fields, struct shapes *shapes, struct job_spec *ret,
                   struct error *reterr)
{
    struct daemon *daemon = context;
    const int rc = daemon->engine_kind->imagine(daemon->engine, fields, shapes, ret, reterr);

    if (rc == 0)
        ret->arrived_at = daemon->now;
    return rc;
}

/*
 * Why a job waits.
 */

static bool refusal_of(void *context, uint32_t offer, struct cloud_refusal *ret)
{
    const struct daemon *daemon = context;

    return daemon->cloud != NULL && daemon->cloud_kind->refusal != NULL &&
           daemon->cloud_kind->refusal(daemon->cloud, offer, daemon->now, ret);
}

/* Whether the task, or the machine that is chosen for it, waits for the operator's word. */
static bool waits_for_word(const struct daemon *daemon, uint64_t task, struct serve_wait *ret)
{
    const struct view *view = controller_view(daemon->controller);
    const uint32_t row = view_find_task(view, task);
    const uint32_t machine = row != ROW_NONE ? view->task.instance[row] : ROW_NONE;
    const struct gate_proposal *proposal = gate_proposal_about(
        daemon->gate, task, machine != ROW_NONE ? view->instance.id[machine] : 0);

    if (proposal == NULL)
        return false;
    *ret = (struct serve_wait){ .why = "proposal", .until = MSEC_NEVER };
    (void)snprintf(ret->text, sizeof(ret->text), "approval needed to %s it%s: stint approve %llu",
                   gate_act_word(proposal->act.kind), proposal->act.task == 0 ? "s machine" : "",
                   (unsigned long long)proposal->id);
    return true;
}

/* Whether it has no machine, and none is rented before those of a previous run are found. */
static bool waits_for_search(const struct daemon *daemon, uint64_t task, struct serve_wait *ret)
{
    const struct view *view = controller_view(daemon->controller);
    const uint32_t row = view_find_task(view, task);

    if (row == ROW_NONE || view->task.instance[row] != ROW_NONE || !gate_seeks(daemon->gate))
        return false;
    *ret = (struct serve_wait){ .why = "seeking", .until = MSEC_NEVER };
    (void)snprintf(
        ret->text, sizeof(ret->text),
        "Stint looks for machines requested before its restart, and rents nothing until it has "
        "found them or stopped looking");
    return true;
}

/* Whether it has no machine, and nothing may be spent any more. What is left but too little is the
 * controller's to tell: it is a limit like others. */
static bool waits_for_budget(const struct daemon *daemon, uint64_t task, struct serve_wait *ret)
{
    const struct view *view = controller_view(daemon->controller);
    const uint32_t row = view_find_task(view, task);
    char spent[SERVE_TEXT] = "";

    if (row == ROW_NONE || view->task.instance[row] != ROW_NONE || !daemon_budget_is_spent(daemon))
        return false;
    *ret = (struct serve_wait){ .why = "budget", .until = MSEC_NEVER };
    for (uint32_t i = 0; i < daemon->world.budget_count; i++) {
        const struct serve_budget *budget = &daemon->world.budgets[i];

        if (budget->spent < budget->limit)
            continue;
        serve_budget_text(budget, daemon->now, spent, sizeof(spent));
        ret->until = budget->until; /* the month's, if both are spent */
    }
    (void)snprintf(ret->text, sizeof(ret->text), "the budget is spent: %.230s", spent);
    return true;
}

/* Whether the engine does not let it run. */
static bool waits_at_engine(const struct daemon *daemon, uint64_t task, struct serve_wait *ret)
{
    struct engine_wait wait;

    if (!daemon->engine_kind->wait(daemon->engine, task, daemon->now, &wait))
        return false;
    *ret = (struct serve_wait){ .why = wait.why, .until = wait.until };
    (void)snprintf(ret->text, sizeof(ret->text), "%s", wait.text);
    return true;
}

static size_t waits_of(void *context, uint64_t task, struct serve_wait *ret, size_t most)
{
    struct daemon *daemon = context;
    size_t count = 0;

    if (count < most && waits_at_engine(daemon, task, &ret[count]))
        count++;
    if (count < most && waits_for_word(daemon, task, &ret[count]))
        count++;
    if (count < most && waits_for_search(daemon, task, &ret[count]))
        count++;
    if (count < most && waits_for_budget(daemon, task, &ret[count]))
        count++;
    if (count < most && daemon_waits_for_cap(daemon, task, &ret[count]))
        count++;
    return count;
}

/*
 * Proposals.
 */

static enum store_intent_kind intent_kind(enum gate_act_kind kind)
{
    switch (kind) {
    case GATE_RENT:
        return STORE_RENT;
    case GATE_GIVE_BACK:
        return STORE_GIVE_BACK;
    case GATE_QUEUE:
        return STORE_QUEUE;
    case GATE_STOP:
        return STORE_STOP;
    case GATE_ADMIT:
        return STORE_ADMIT;
    case GATE_RETIRE: /* the first half of it */
        return STORE_GIVE_BACK;
    case GATE_PLACE:
    case GATE_FORGET:
    case GATE_CANCEL:
    case GATE_LIST_ENGINE:
    case GATE_LIST_CLOUD:
        break;
    }
    return STORE_PLACE;
}

/* Where the plan's reason for the action stands in the store. Nobody planned what is queued. */
static void set_reason(struct serve_proposal *shown, const struct gate_act *act)
{
    shown->reason_subject = act->kind == GATE_RENT ? STORE_RENTED
                            : act->task != 0       ? STORE_TASK
                                                   : STORE_RELEASED;
    shown->reason_id = act->task != 0 ? act->task : act->instance;
    if (act->kind == GATE_QUEUE)
        shown->why = "a short job: the scheduler starts it on any free capacity";
}

static void machine_name(const struct daemon *daemon, uint64_t instance, char *buf, size_t size)
{
    serve_machine_text(&daemon->world, instance, buf, size);
}

static void tell_proposal(struct daemon *daemon, const struct gate_proposal *proposal,
                          void (*each)(void *to, const struct serve_proposal *proposal), void *to)
{
    const struct gate_act *act = &proposal->act;
    char subject[SERVE_TEXT] = "";
    char detail[SERVE_TEXT] = "";
    struct serve_proposal shown = {
        .id = proposal->id,
        .at = proposal->at,
        .act = store_intent_word(intent_kind(act->kind)),
        .subject = subject,
        .per_hour = MONEY_UNKNOWN,
    };

    if (act->task != 0)
        label_of(daemon, act->task, subject, sizeof(subject));
    else
        machine_name(daemon, act->instance, subject, sizeof(subject));
    if (act->kind == GATE_RENT) {
        const size_t used = (size_t)snprintf(detail, sizeof(detail), "%u x ", act->count);

        (void)offer_index_words(&daemon->catalogue, act->offer, detail + used,
                                sizeof(detail) - used);
        shown.per_hour =
            act->count * price_at(&daemon->catalogue.offers[act->offer].price, daemon->now);
    } else if (act->kind == GATE_PLACE) {
        machine_name(daemon, act->instance, detail, sizeof(detail));
    }
    shown.detail = detail[0] != '\0' ? detail : NULL;
    set_reason(&shown, act);
    each(to, &shown);
}

static void each_proposal(void *context,
                          void (*each)(void *to, const struct serve_proposal *proposal), void *to)
{
    struct daemon *daemon = context;

    for (uint32_t i = 0; i < gate_proposal_count(daemon->gate); i++)
        tell_proposal(daemon, gate_proposal(daemon->gate, i), each, to);
}

void daemon_let_rents_wait(struct daemon *daemon, msec_t now)
{
    for (uint32_t i = 0; i < gate_proposal_count(daemon->gate); i++) {
        const struct gate_act *act = &gate_proposal(daemon->gate, i)->act;

        for (uint32_t k = 0; act->kind == GATE_RENT && k < act->count; k++)
            controller_rent_waits(daemon->controller, act->instance + k, now);
    }
}

static uint32_t answer_proposal(void *context, uint64_t id, bool approve)
{
    struct daemon *daemon = context;
    const msec_t now = daemon->now;

    daemon_let_rents_wait(daemon, now); /* until now: the last decision may be long ago */

    const uint32_t count =
        approve ? gate_approve(daemon->gate, id) : gate_reject(daemon->gate, id, now);

    LOG_INFO("proposals %s id=%llu count=%u", approve ? "approved" : "rejected",
             (unsigned long long)id, count);
    return count;
}

/*
 * Orders.
 */

static void drain(void *context, bool on)
{
    core_drain(context, on);
}

void core_drain(struct daemon *daemon, bool on)
{
    if (daemon->is_draining == on)
        return;
    daemon->is_draining = on;
    daemon->world.draining = on;
    journal_mark(&daemon->journal, MARK_DRAINING, on ? "yes" : "no");
    daemon->write_at = daemon->now;
    if (on)
        gate_withdraw_rents(daemon->gate);
    daemon->decide_at = daemon->now;
    LOG_INFO("draining %s", on ? "on: no machine is rented, empty ones go back" : "off");
}

/*
 * The world.
 */

void daemon_fill_world(struct daemon *daemon)
{
    struct serve_world *world = &daemon->world;
    const struct conf *conf = &daemon->conf;

    if (world->controller == NULL) {
        world->started_at = daemon->now;
        world->audited_at = -1;
    }
    world->controller = daemon->controller;
    world->store = daemon->store;
    world->catalogue = &daemon->catalogue;
    world->users = &daemon->users;
    world->job_names = &daemon->job_names;
    world->cluster = conf->cluster;
    world->mode = conf_mode_word(conf->mode);
    world->policy = conf->policy->name;
    world->node_prefix = conf->node_prefix;
    world->draining = daemon->is_draining;
    world->audit_every_ms = conf->timing.audit_ms;
    world->max_instances = conf->max_instances;
    world->max_price_per_hour = conf->max_price_per_hour;
    world->context = daemon;
    world->now = now_of;
    world->task_label = label_of;
    world->payer = payer_of;
    world->find = find;
    world->imagine = daemon->engine_kind->imagine != NULL ? imagine : NULL;
    world->refusal = refusal_of;
    world->waits = waits_of;
    world->each_cap = daemon_each_cap;
    world->has_caps = daemon->conf.caps.count > 0;
    if (conf->mode == CONF_ADVISE || gate_proposal_count(daemon->gate) > 0) {
        world->each_proposal = each_proposal;
        world->answer_proposal = answer_proposal;
    } else {
        world->each_proposal = NULL;
        world->answer_proposal = NULL;
    }
    world->each_finding = doctor_each;
    world->each_past = daemon_each_past;
    world->drain = drain;
    daemon_refresh_world(daemon);
}

/* No 'fault': it is up. */
static void set_link(struct serve_link *link, const char *name, const char *fault, msec_t now)
{
    const bool up = fault == NULL;

    if (link->name == NULL || link->up != up)
        link->since = now;
    link->name = name;
    link->up = up;
    link->detail = up ? "" : fault;
}

void daemon_refresh_world(struct daemon *daemon)
{
    struct serve_world *world = &daemon->world;
    uint32_t count = 0;

    world->ready = controller_is_audited(daemon->controller);
    set_link(&world->links[count++], daemon->engine_kind->name,
             daemon_side_fault(daemon, CORE_ENGINE), daemon->now);
    if (daemon->cloud != NULL)
        set_link(&world->links[count++], daemon->cloud_kind->name,
                 daemon_side_fault(daemon, CORE_CLOUD), daemon->now);
    set_link(&world->links[count++], "store", daemon->store_failed ? daemon->store_fault : NULL,
             daemon->now);
    world->link_count = count;
}
