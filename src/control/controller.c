/* SPDX-License-Identifier: Apache-2.0 */
#include "control/controller.h"

#include <assert.h>

#include "base/mem.h"
#include "control/hear/hear.h"
#include "control/reconcile/reconcile.h"
#include "control/want/want.h"
#include "decide/bonds.h"
#include "decide/reservation.h"

struct controller {
    struct state state;
    struct books books;
    struct hearing hear;
    struct wanting want;
    struct reconciler reconciler;
};

struct controller *controller_create(const struct controller_config *config)
{
    struct controller *controller = mem_alloc(1, sizeof(*controller));

    state_init(&controller->state, config);
    books_init(&controller->books, &controller->state);
    hear_init(&controller->hear, &controller->state, &controller->books);
    want_init(&controller->want, &controller->state, &controller->books);
    reconcile_init(&controller->reconciler, &controller->hear, &config->engine, &config->cloud);
    return controller;
}

void controller_destroy(struct controller *controller)
{
    if (controller == NULL)
        return;
    reconcile_done(&controller->reconciler);
    want_done(&controller->want);
    hear_done(&controller->hear);
    books_done(&controller->books);
    state_done(&controller->state);
    mem_free(controller);
}

/*
 * What it is notified of.
 */

void controller_tell_time(struct controller *controller, msec_t now)
{
    controller->state.has_clock = true;
    (void)state_advance(&controller->state, now);
}

void controller_on_engine(struct controller *controller, const struct engine_event *event)
{
    hear_engine(&controller->hear, event);
    (void)reconcile(&controller->reconciler);
}

void controller_on_cloud(struct controller *controller, const struct cloud_event *event)
{
    hear_cloud(&controller->hear, event);
    (void)reconcile(&controller->reconciler);
}

void controller_remember(struct controller *controller, uint64_t instance, uint32_t offer,
                         msec_t asked_at, msec_t now)
{
    (void)state_advance(&controller->state, now);
    hear_remember(&controller->hear, instance, offer, asked_at);
    (void)reconcile(&controller->reconciler);
}

void controller_remember_return(struct controller *controller, uint64_t instance)
{
    hear_remember_return(&controller->hear, instance);
    (void)reconcile(&controller->reconciler);
}

void controller_own(struct controller *controller, uint64_t instance, uint32_t offer, msec_t since,
                    bool catches_up)
{
    hear_own(&controller->hear, instance, offer, since, catches_up);
    (void)reconcile(&controller->reconciler);
}

void controller_disown(struct controller *controller, uint64_t instance, msec_t at)
{
    hear_disown(&controller->hear, instance, state_advance(&controller->state, at));
    (void)reconcile(&controller->reconciler);
}

void controller_tune(struct controller *controller, const struct controller_config *config)
{
    struct controller_config *mine = &controller->state.config;

    want_policy(&controller->want, config->policy);
    for (uint32_t i = 0; i < POLICY_OPTIONS_MAX; i++)
        mine->option[i] = config->option[i];
    mine->refused_block_ms = config->refused_block_ms;
    mine->replace_percent = config->replace_percent;
    mine->replace_after_ms = config->replace_after_ms;
    mine->max_instances = config->max_instances;
    mine->max_price_per_hour = config->max_price_per_hour;
    mine->rent_nothing = config->rent_nothing;
    mine->caps = config->caps;
    mine->queue_ahead_ms = config->queue_ahead_ms;
    mine->queue_ahead_most = config->queue_ahead_most;
    mine->boot_timeout_ms = config->boot_timeout_ms;
    mine->starts_slowly = config->starts_slowly;
    mine->ready_proves = config->ready_proves;
    mine->place_retry_ms = config->place_retry_ms;
    mine->stop_ms = config->stop_ms;
    controller->state.wants_decision = true;
}

void controller_prices_changed(struct controller *controller)
{
    controller->books.next_price = 0;
    controller->state.wants_decision = true;
}

void controller_catalogue_changed(struct controller *controller)
{
    view_catalogue_grew(&controller->state.view);
    books_catalogue_changed(&controller->books);
    controller_prices_changed(controller);
}

void controller_set_budget(struct controller *controller, bool has_budget, money_t left)
{
    struct controller_config *mine = &controller->state.config;
    const bool could = !mine->has_budget || mine->budget_left > 0;
    const bool can = !has_budget || left > 0;

    mine->has_budget = has_budget;
    mine->budget_left = left;
    controller->state.wants_decision = controller->state.wants_decision || could != can;
}

void controller_caps_changed(struct controller *controller)
{
    controller->state.wants_decision = true;
}

void controller_book_capped(struct controller *controller, msec_t at)
{
    const struct view *view = &controller->state.view;

    INSTANCE_EACH(instance, view)
    {
        bool is_capped = false;

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            is_capped = is_capped || view->job.caps[view->task.job[task]] != 0;
        }
        if (is_capped)
            (void)ledger_book(controller->books.ledger, instance, at);
    }
}

/* ROW_NONE: it is not known, or there already. */
static uint32_t find_requested(const struct view *view, uint64_t instance)
{
    const uint32_t row = view_find_instance(view, instance);

    return row != ROW_NONE && view->instance.state[row] == INSTANCE_REQUESTED ? row : ROW_NONE;
}

void controller_rent_waits(struct controller *controller, uint64_t instance, msec_t now)
{
    struct view *view = &controller->state.view;
    const uint32_t row = find_requested(view, instance);

    now = state_advance(&controller->state, now);
    if (row == ROW_NONE)
        return;
    view_set_ready_expected(view, row,
                            now + catalogue_boot_ms(view->catalogue, view->instance.offer[row]));
}

void controller_rent_withdrawn(struct controller *controller, uint64_t instance, msec_t now)
{
    const uint32_t row = find_requested(&controller->state.view, instance);

    now = state_advance(&controller->state, now);
    if (row != ROW_NONE)
        hear_never(&controller->hear, row, now);
    (void)reconcile(&controller->reconciler);
}

void controller_teach(struct controller *controller, const struct runtime_traits *traits,
                      msec_t runtime_ms)
{
    books_teach(&controller->books, traits, runtime_ms, RUNTIME_SEEN_ALL);
}

/*
 * What it does.
 */

void controller_audit(struct controller *controller, msec_t now)
{
    (void)state_advance(&controller->state, now);
    hear_audit(&controller->hear);
    (void)reconcile(&controller->reconciler);
}

/* What time tells before a decision, and what the plan is made of. */
static void prepare(struct controller *controller, msec_t now)
{
    struct state *state = &controller->state;

    state->wants_decision = false;
    brake_check_proofs(&controller->books);
    hear_check_deadlines(&controller->hear);
    hear_check_boots(&controller->hear);
    (void)reconcile(&controller->reconciler);
    books_refresh_offers(&controller->books, now);
    books_refresh_risks(&controller->books, now);
    reservation_update(&state->view);
    want_rules(&controller->want);
    want_outdated(&controller->want);
    (void)reconcile(&controller->reconciler);
    bonds_update(&state->view);
    if (state->config.policy->learns_pairs)
        books_observe_pairs(&controller->books);
    else if (state->config.policy->learns_colocation)
        books_observe(&controller->books);
    arena_reset(&state->arena);
}

static void count_plan(struct controller *controller, const struct plan *plan)
{
    struct controller_stats *stats = &controller->state.stats;

    stats->decisions++;
    if (plan->kind != PLAN_PLAIN)
        stats->weighed++;
    if (plan->kind == PLAN_FULL) {
        stats->fulls++;
        tempo_full(&controller->books.knowledge.tempo);
    }
}

void controller_decide(struct controller *controller, msec_t now)
{
    struct state *state = &controller->state;
    struct plan plan;
    struct turns turns;

    prepare(controller, state_advance(state, now));
    want_decision(&controller->want, &plan, &turns);
    count_plan(controller, &plan);
    want_trim(&controller->want, &plan, &turns);
    want_tell_outdated(&controller->want, &plan);
    (void)reconcile(&controller->reconciler);
    if (state->config.on_plan != NULL)
        state->config.on_plan(state->config.context, &state->view, &plan);
    want_plan(&controller->want, &plan);
    (void)reconcile(&controller->reconciler);
    want_queue_ahead(&controller->want, turns.first);
    (void)reconcile(&controller->reconciler);
    hear_watch_boots(&controller->hear);
}

void controller_drain(struct controller *controller, msec_t now)
{
    now = state_advance(&controller->state, now);
    hear_check_deadlines(&controller->hear);
    want_drain(&controller->want);
    (void)reconcile(&controller->reconciler);
    controller->books.next_proof = MSEC_NEVER;
    books_refresh_offers(&controller->books, now);
    hear_watch_boots(&controller->hear);
}

/*
 * What it is asked.
 */

bool controller_wants_decision(const struct controller *controller)
{
    return controller->state.wants_decision;
}

msec_t controller_next_wake(const struct controller *controller)
{
    msec_t wake = controller->want.next_wake;

    if (controller->state.view.task.living > 0 && controller->books.next_unblock < wake)
        wake = controller->books.next_unblock;
    if (controller->state.view.task.living > 0 && controller->books.next_price < wake)
        wake = controller->books.next_price;
    if (controller->state.view.task.living > 0 && controller->books.next_proof < wake)
        wake = controller->books.next_proof;
    if (controller->want.next_rule < wake)
        wake = controller->want.next_rule;
    if (controller->want.next_replace < wake)
        wake = controller->want.next_replace;
    if (controller->want.next_retry < wake)
        wake = controller->want.next_retry;
    if (controller->hear.next_deadline < wake)
        wake = controller->hear.next_deadline;
    if (controller->hear.next_boot_timeout < wake)
        wake = controller->hear.next_boot_timeout;
    return wake;
}

uint64_t controller_next_key(const struct controller *controller)
{
    return controller->state.next_key;
}

bool controller_take_changed_account(struct controller *controller, uint64_t *ret_instance,
                                     struct ledger_account *ret)
{
    uint32_t row = ledger_take_changed_account(controller->books.ledger);

    while (row != LEDGER_NONE && !ledger_account(controller->books.ledger, row, ret))
        row = ledger_take_changed_account(controller->books.ledger);
    if (row == LEDGER_NONE)
        return false;
    *ret_instance = controller->state.view.instance.id[row];
    return true;
}

bool controller_take_changed_due(struct controller *controller, uint64_t *ret_task,
                                 struct ledger_due *ret)
{
    const struct task_table *table = &controller->state.view.task;
    uint32_t row = ledger_take_changed_due(controller->books.ledger);

    while (row != LEDGER_NONE && table->state[row] == TASK_FREE)
        row = ledger_take_changed_due(controller->books.ledger);
    if (row == LEDGER_NONE)
        return false;
    *ret_task = table->id[row];
    *ret = ledger_due(controller->books.ledger, row);
    return true;
}

bool controller_take_changed_risk(struct controller *controller, uint32_t *ret_offer,
                                  struct interruption_memory *ret)
{
    struct interruptions *learned = &controller->books.knowledge.interruptions;
    uint32_t offer = interruptions_take_changed(learned);

    while (offer != OFFER_NONE &&
           !interruptions_save(learned, offer, controller->state.view.now, ret))
        offer = interruptions_take_changed(learned);
    *ret_offer = offer;
    return offer != OFFER_NONE;
}

bool controller_resume_risk(struct controller *controller, uint32_t offer,
                            const struct interruption_memory *memory)
{
    return offer < controller->state.view.catalogue->offer_count &&
           interruptions_resume(&controller->books.knowledge.interruptions, offer, memory);
}

void controller_resume_notices(struct controller *controller, uint64_t saved, uint64_t lost)
{
    losses_resume_notices(&controller->books, saved, lost);
}

uint32_t controller_queued(const struct controller *controller)
{
    return controller->state.queued;
}

bool controller_is_idle(const struct controller *controller)
{
    return controller->state.view.task.living == 0 &&
           controller->state.view.instance.living == controller->state.owned;
}

const struct view *controller_view(const struct controller *controller)
{
    return &controller->state.view;
}

const struct ledger *controller_ledger(const struct controller *controller)
{
    return controller->books.ledger;
}

const struct knowledge *controller_knowledge(const struct controller *controller)
{
    return &controller->books.knowledge;
}

const struct controller_stats *controller_stats(const struct controller *controller)
{
    return &controller->state.stats;
}

bool controller_is_audited(const struct controller *controller)
{
    return controller->hear.cloud_list.has_ended && controller->hear.engine_list.has_ended;
}

msec_t controller_waits_for_cloud(const struct controller *controller)
{
    return controller->hear.cloud_list.waiting_since;
}

msec_t controller_waits_for_engine(const struct controller *controller)
{
    return controller->hear.engine_list.waiting_since;
}

uint32_t controller_missing(const struct controller *controller)
{
    return controller->state.doubts.missing;
}

bool controller_doubts(const struct controller *controller)
{
    return controller->state.doubts.is_doubting;
}

uint32_t controller_rivals(const struct controller *controller)
{
    return controller->state.doubts.rivals;
}

/* Machines become ready, and no task starts there. */
static bool fails_at_starts(const struct controller_brake *brake)
{
    return brake->failed_starts > brake->failed_boots;
}

uint32_t controller_failed_boots(const struct controller *controller)
{
    return brake_is_probing(&controller->books) && !fails_at_starts(&controller->books.brake)
               ? brake_failures(&controller->books)
               : 0;
}

uint32_t controller_failed_starts(const struct controller *controller)
{
    return brake_is_probing(&controller->books) && fails_at_starts(&controller->books.brake)
               ? brake_failures(&controller->books)
               : 0;
}

struct controller_brake controller_brake(const struct controller *controller)
{
    return controller->books.brake;
}

struct controller_outdated controller_outdated(const struct controller *controller)
{
    return want_outdated_count(&controller->want);
}

bool controller_is_outdated(const struct controller *controller, uint32_t instance)
{
    return controller->state.instance_notes[instance].is_outdated;
}

msec_t controller_leaving_since(const struct controller *controller, uint32_t instance)
{
    const struct instance_note *note = &controller->state.instance_notes[instance];

    return controller->state.view.instance.state[instance] == INSTANCE_DRAINING &&
                   note->is_leaving && note->ready_at > 0
               ? note->leaving_since
               : -1;
}

const struct forecast *controller_forecast(const struct controller *controller, uint32_t job)
{
    assert(job < controller->state.view.job.count);
    return &controller->books.lessons[job].forecast;
}

struct controller_wait controller_wait_of(const struct controller *controller, uint32_t task)
{
    return want_wait_of(&controller->want, task);
}

money_t controller_price_per_hour(const struct controller *controller)
{
    return want_price_per_hour(&controller->state.view);
}

money_t controller_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now)
{
    return want_first_charge(catalogue, offer, now);
}

void controller_check(struct controller *controller)
{
    view_check(&controller->state.view);
    state_mark_all(&controller->state);

    const uint32_t acts = reconcile(&controller->reconciler);

    assert(acts == 0);
    (void)acts;
}

/*
 * What would be.
 */

struct controller_trial {
    struct want_trial want;
};

struct controller_trial *controller_try(const struct controller *controller,
                                        const struct shapes *shapes, const struct job_spec *spec,
                                        msec_t now)
{
    struct controller_trial *trial = mem_alloc(1, sizeof(*trial));

    want_trial_begin(&trial->want, &controller->state, &controller->books, shapes, spec, now);
    return trial;
}

void controller_trial_destroy(struct controller_trial *trial)
{
    if (trial == NULL)
        return;
    want_trial_end(&trial->want);
    mem_free(trial);
}

const struct view *controller_trial_view(const struct controller_trial *trial)
{
    return &trial->want.state.view;
}

uint32_t controller_trial_job(const struct controller_trial *trial)
{
    return trial->want.job;
}

const struct forecast *controller_trial_forecast(const struct controller_trial *trial)
{
    return &trial->want.forecast;
}

struct controller_wait controller_trial_wait(const struct controller_trial *trial, uint32_t task)
{
    return want_wait_of(&trial->want.want, task);
}
