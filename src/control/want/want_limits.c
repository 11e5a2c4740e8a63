/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a plan is not carried out: rents above a limit, in the order of the plan; places of tasks
 * that must not be placed yet; places that can be left to the engine. What hangs on them goes too:
 *
 *   1. with a rent, all places on it;
 *   2. with one place of a gang, all its places;
 *   3. with a task that would have moved, whoever would have taken its room, the last first, and
 *      whoever must not be beside it;
 *   4. a rent of which no place is left; the room that it took below the limit is given to the next;
 *   5. the release of a machine on which somebody stays.
 *
 * And where a limit was met, empty machines that the policy would keep go back.
 *
 * When machines do not become ready, one after the other, all may suffer from the same. Then one rent
 * at a time is let through, the probe, with or without tasks, until a machine becomes ready.
 *
 * A policy may plan the same again and again: nothing here asks for another decision. What was
 * dropped is looked at again when something happens, or when the wait of a task is over.
 *
 * Costs:  nothing for a plan that is carried out in full, but a look at each of its items; else
 *         O(plan) for each gang that is dropped, and at most PASSES_MAX times.
 */
#include <assert.h>

#include "control/want/want.h"
#include "model/billing.h"

enum { PASSES_MAX = 16 };

#define RENT_NONE UINT32_MAX

enum drop {
    KEEP,
    LEAVE,      /* to the engine, which has the task: its machine is rented all the same */
    DROP_LIMIT, /* may come back when another is dropped permanently */
    DROP,
};

struct trim {
    struct wanting *want;
    const struct turns *turns;
    struct plan *plan;
    uint8_t *rents;  /* enum drop, of each rent */
    uint8_t *places; /* of each place */
    uint32_t *left;  /* places on each rent that are kept */
    bool *used;      /* rents that had a place */
    uint8_t *limits; /* enum controller_limit, of each rent that is dropped for one */
    uint8_t
        *turn; /* enum turn, of each rent: the first of those on it; TURN_LATER: only of moves */
    uint32_t limited; /* rents above a limit, in the pass that had most of them */
    uint32_t unproven;
    bool any;
    bool is_last;   /* pass: no gang waits for the room of another */
    bool has_gone;  /* a gang that was partly above a limit, in this pass */
    bool has_mixed; /* another one is still there, and may get what that one had */
};

/* What limits are held against. */
struct load {
    uint64_t count;
    uint64_t unproven; /* counted while the brake is on */
    money_t price;
    money_t charge; /* of what is to be rented: its first */
};

static bool is_gang(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.gang[job] && view->job.task_count[job] > 1;
}

/* A move that would end a run that must go on: no plan has such, but nobody's job depends on that. */
static bool is_forbidden(const struct wanting *want, uint32_t task)
{
    const struct view *view = &want->state->view;

    return want->state->steps[task].has_started && view->job.fixed[view->task.job[task]];
}

/* The engine has had an empty machine for the task for a while, and has not used it: its own queue has
 * something before it, say. Taken back, it may be placed. */
static void take_back_overlooked(struct wanting *want, const struct plan_place *place)
{
    static const msec_t patience_ms = 5 * MSEC_PER_SEC;

    const struct view *view = &want->state->view;
    const msec_t ready_at = want->state->instance_notes[place->target].ready_at;
    const msec_t empty_since = view->instance.empty_since[place->target];
    const msec_t due = (ready_at > empty_since ? ready_at : empty_since) + patience_ms;

    if (view->instance.task_count[place->target] > 0 ||
        view->instance.state[place->target] != INSTANCE_READY)
        return;
    if (view->now >= due)
        state_want_queued(want->state, place->task, false);
    else if (due < want->next_retry)
        want->next_retry = due;
}

static void hold_back(struct wanting *want, msec_t until)
{
    if (until < want->next_retry)
        want->next_retry = until;
    want->state->stats.held_back++;
}

/* Tasks that wait after a loss, those that must stay, and those that the engine will start by itself. */
static void drop_held_back(struct trim *trim)
{
    struct wanting *want = trim->want;

    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        const struct plan_place *place = &trim->plan->places[i];
        msec_t until = want->state->task_notes[place->task].not_before;

        if (until > want->state->view.now || state_is_kept(want->state, place->task, &until)) {
            hold_back(want, until);
            trim->places[i] = DROP;
        } else if (want_is_capped(want, place->task)) {
            trim->places[i] = DROP;
        } else if (is_forbidden(want, place->task)) {
            want->state->stats.forbidden++;
            trim->places[i] = DROP;
        } else if (turns_forbids(trim->turns, &want->state->view, trim->plan, place)) {
            trim->places[i] = DROP;
            want->state->task_notes[place->task].limited_by = LIMIT_TURN;
            want->state->task_notes[place->task].limited_in =
                (uint32_t)want->state->stats.decisions;
        } else if (want->state->steps[place->task].state == STEP_QUEUED) {
            trim->places[i] = LEAVE;
            if (place->fresh)
                trim->plan->rents[place->target].is_for_engine = true;
            else
                take_back_overlooked(want, place);
        }
        trim->any = trim->any || trim->places[i] != KEEP;
    }
}

/* Whether a gang, of which 'of_gang' says what becomes of its places, is dropped as a whole now. Of those
 * that are partly above a limit only the first is in one pass: what it would have rented may be what the
 * next one lacks. */
static bool gang_goes(struct trim *trim, uint8_t of_gang, bool is_first)
{
    if (of_gang == 0 || of_gang == 1U << KEEP || of_gang == 1U << DROP_LIMIT)
        return false;
    if ((of_gang & 1U << DROP) != 0 || trim->is_last)
        return true;
    trim->has_mixed = trim->has_mixed || !is_first;
    return is_first;
}

/* A gang of which a part is dropped is dropped permanently; if all of it is above a limit, there may be room
 * for it when another is dropped. Whether a place was dropped because of this. */
static bool drop_gangs(struct trim *trim)
{
    const struct view *view = &trim->want->state->view;
    const uint8_t mixed = 1U << KEEP | 1U << DROP_LIMIT;
    uint8_t *seen = ARENA_ARRAY(&trim->want->state->arena, uint8_t, view->job.count);
    uint32_t first = ROW_NONE;
    bool changed = false;

    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        const uint32_t task = trim->plan->places[i].task;

        if (is_gang(view, task))
            seen[view->task.job[task]] |= (uint8_t)(1U << trim->places[i]);
    }
    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        const uint32_t job = view->task.job[trim->plan->places[i].task];

        if (first == ROW_NONE && !trim->has_gone && seen[job] == mixed)
            first = job;
        if (trim->places[i] == DROP || !gang_goes(trim, seen[job], job == first))
            continue;
        changed = changed || trim->places[i] == KEEP;
        trim->places[i] = DROP;
    }
    trim->has_gone = trim->has_gone || first != ROW_NONE;
    return changed;
}

/* What each machine would hold: those whose places are dropped stay where they are. Whoever does not
 * fit then is dropped, the last first. */
static bool drop_overfull(struct trim *trim)
{
    const struct view *view = &trim->want->state->view;
    struct res *used = ARENA_ARRAY(&trim->want->state->arena, struct res, view->instance.count);
    bool changed = false;

    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        const struct plan_place *place = &trim->plan->places[i];
        const uint32_t from = view->task.instance[place->task];

        if (trim->places[i] != KEEP)
            continue;
        if (from != ROW_NONE)
            res_sub(&used[from], view_demand(view, place->task, from));
        if (!place->fresh)
            res_add(&used[place->target], view_demand(view, place->task, place->target));
    }
    for (uint32_t i = 0; i < trim->plan->suspend_count; i++) {
        const uint32_t task = trim->plan->suspends[i].task;
        const uint32_t from = view->task.instance[task];

        res_sub(&used[from], view_taken(view, task, from));
    }
    for (uint32_t i = trim->plan->place_count; i-- > 0;) {
        const struct plan_place *place = &trim->plan->places[i];

        if (trim->places[i] != KEEP || place->fresh)
            continue;

        struct res sum = view->instance.used[place->target];

        res_add(&sum, &used[place->target]);
        if (res_fits(&sum, view_capacity(view, place->target)))
            continue;
        res_sub(&used[place->target], view_demand(view, place->task, place->target));
        trim->places[i] = DROP;
        changed = true;
    }
    return changed;
}

/* Whether a task stays on the machine of the place that the placed one must be apart from. */
static bool is_too_near(const struct view *view, const struct plan_place *place, const bool *moves)
{
    TASK_EACH(task, view, view->instance.first_task[place->target])
    {
        if (!moves[task] && view_keep_apart(view, place->task, task))
            return true;
    }
    return false;
}

/* Who would have come to where a task stays after all that it must be apart from. */
static bool drop_too_near(struct trim *trim)
{
    const struct view *view = &trim->want->state->view;
    bool *moves = ARENA_ARRAY(&trim->want->state->arena, bool, view->task.count);
    bool changed = false;

    for (uint32_t i = 0; i < trim->plan->place_count; i++)
        moves[trim->plan->places[i].task] = trim->places[i] == KEEP;
    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        const struct plan_place *place = &trim->plan->places[i];

        if (trim->places[i] != KEEP || place->fresh ||
            !view_has_apart(view, view->task.job[place->task]) || !is_too_near(view, place, moves))
            continue;
        trim->places[i] = DROP;
        moves[place->task] = false;
        changed = true;
    }
    return changed;
}

/* All that hangs on what is dropped; true: a rent lost all its places permanently, or a gang waits for that. */
static bool settle(struct trim *trim)
{
    bool changed = true;
    bool freed = false;

    trim->has_gone = false;
    trim->has_mixed = false;
    while (changed) {
        changed = drop_gangs(trim);
        changed = drop_overfull(trim) || changed;
        changed = drop_too_near(trim) || changed;
    }
    for (uint32_t i = 0; i < trim->plan->rent_count; i++)
        trim->left[i] = 0;
    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        if (trim->plan->places[i].fresh && trim->places[i] != DROP)
            trim->left[trim->plan->places[i].target]++;
    }
    for (uint32_t i = 0; i < trim->plan->rent_count; i++) {
        if (!trim->used[i] || trim->left[i] > 0 || trim->rents[i] == DROP)
            continue;
        freed = freed || trim->rents[i] == KEEP;
        trim->rents[i] = DROP;
    }
    return freed || trim->has_mixed;
}

money_t want_price_per_hour(const struct view *view)
{
    money_t sum = 0;

    INSTANCE_EACH(instance, view)
    {
        if (!view_is_owned(view, instance))
            sum += view->offer_price[view->instance.offer[instance]];
    }
    return sum;
}

money_t want_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now)
{
    const struct offer *row = &catalogue->offers[offer];

    return billing_charge(&row->billing, &row->price, now, now + 1);
}

static struct load load_of(const struct wanting *want)
{
    const struct view *view = &want->state->view;
    struct load load = { .count = view->instance.living - want->state->owned +
                                  want->state->doubts.rivals };

    if (want->state->config.max_price_per_hour > 0)
        load.price = want_price_per_hour(&want->state->view) + want->state->doubts.rivals_price;
    load.unproven = brake_unproven(want->books);
    return load;
}

static void add_rent(const struct wanting *want, struct load *load, uint32_t offer)
{
    const struct view *view = &want->state->view;

    load->count++;
    load->unproven++;
    load->price += view->offer_price[offer];
    load->charge += want_first_charge(view->catalogue, offer, view->now);
}

/* The limit that forbids one machine more, of this offer. */
static enum controller_limit limit_met(const struct wanting *want, const struct load *load,
                                       uint32_t offer)
{
    const struct view *view = &want->state->view;
    const money_t price = view->offer_price[offer];
    const struct controller_config *config = &want->state->config;

    if (config->rent_nothing)
        return LIMIT_NO_RENT;
    if (want->state->doubts.is_doubting)
        return LIMIT_DOUBT;
    if (want->state->doubts.rivals > 0)
        return LIMIT_RIVAL;
    if (config->max_instances > 0 && load->count >= config->max_instances)
        return LIMIT_INSTANCES;
    if (config->max_price_per_hour > 0 && load->price + price > config->max_price_per_hour)
        return LIMIT_PRICE;
    if (config->has_budget &&
        load->charge + want_first_charge(view->catalogue, offer, view->now) > config->budget_left)
        return LIMIT_BUDGET;
    if (load->unproven >= brake_allows(want->books))
        return LIMIT_PROBE;
    return LIMIT_NONE;
}

/* A place on a fresh machine goes with that; the reason is kept for whoever asks why the task waits. */
static void follow_rent(struct trim *trim, uint32_t place)
{
    const struct plan_place *of = &trim->plan->places[place];
    struct task_note *note = &trim->want->state->task_notes[of->task];
    const bool is_kept = trim->rents[of->target] == KEEP;

    if (trim->places[place] != LEAVE)
        trim->places[place] = is_kept ? KEEP : DROP_LIMIT;
    note->limited_by = is_kept ? LIMIT_NONE : trim->limits[of->target];
    note->limited_in = (uint32_t)trim->want->state->stats.decisions;
}

/* Rents of that turn above a limit; how many. */
static uint32_t drop_turn(struct trim *trim, enum turn turn, struct load *sum)
{
    struct load load = *sum;
    uint32_t limited = 0;

    for (uint32_t i = 0; i < trim->plan->rent_count; i++) {
        const uint32_t offer = trim->plan->rents[i].offer;

        if (trim->rents[i] == DROP || trim->turn[i] != turn)
            continue;
        trim->limits[i] = (uint8_t)limit_met(trim->want, &load, offer);
        if (trim->limits[i] != LIMIT_NONE) {
            trim->rents[i] = DROP_LIMIT;
            limited += trim->limits[i] != LIMIT_PROBE;
            trim->unproven += trim->limits[i] == LIMIT_PROBE;
            trim->any = true;
            continue;
        }
        trim->rents[i] = KEEP;
        add_rent(trim->want, &load, offer);
    }
    *sum = load;
    return limited;
}

/* Rents above a limit, with the places on them; whose turn it is comes first. */
static void drop_above_limits(struct trim *trim)
{
    struct load load = load_of(trim->want);
    uint32_t limited = 0;

    trim->unproven = 0;
    for (enum turn turn = TURN_NOW; turn <= TURN_LATER; turn++)
        limited += drop_turn(trim, turn, &load);
    if (limited > trim->limited)
        trim->limited = limited;
    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        if (trim->plan->places[i].fresh && trim->places[i] != DROP)
            follow_rent(trim, i);
    }
}

static bool has_limits(const struct wanting *want)
{
    const struct controller_config *config = &want->state->config;

    return config->rent_nothing || config->max_instances > 0 || config->max_price_per_hour > 0 ||
           config->has_budget || want->state->doubts.is_doubting ||
           want->state->doubts.rivals > 0 || brake_allows(want->books) != BRAKE_OFF;
}

/* The first rent that the plan has for a task which is not held back, or for none; RENT_NONE: there
 * is no such. */
static uint32_t find_probe(const struct trim *trim)
{
    uint32_t probe = RENT_NONE;

    for (uint32_t i = trim->plan->rent_count; i-- > 0;) {
        if (!trim->used[i])
            probe = i;
    }
    for (uint32_t i = 0; i < trim->plan->place_count; i++) {
        const struct plan_place *place = &trim->plan->places[i];

        if (place->fresh && trim->places[i] == KEEP && place->target < probe)
            probe = place->target;
    }
    return probe;
}

/* A gang that needs several machines would wait for ever for a single one: a machine is tried without
 * it then. */
static void keep_probe(struct trim *trim, uint32_t probe)
{
    if (probe == RENT_NONE)
        return;
    for (uint32_t i = 0; i < trim->plan->rent_count; i++) {
        if (trim->rents[i] == KEEP)
            return;
    }

    const struct load load = load_of(trim->want);

    if (limit_met(trim->want, &load, trim->plan->rents[probe].offer) == LIMIT_NONE)
        trim->rents[probe] = KEEP;
}

/* Machines on which somebody stays, those that the engine may use for what is queued there, and a
 * probe of which nothing is known yet. */
static void drop_releases(struct trim *trim)
{
    const struct view *view = &trim->want->state->view;
    struct plan *plan = trim->plan;
    uint32_t *leaving = ARENA_ARRAY(&trim->want->state->arena, uint32_t, view->instance.count);
    const bool *awaited = want_awaited_offers(trim->want->state);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < plan->place_count; i++) {
        const uint32_t from = view->task.instance[plan->places[i].task];

        if (from != ROW_NONE)
            leaving[from]++;
    }
    for (uint32_t i = 0; i < plan->suspend_count; i++)
        leaving[view->task.instance[plan->suspends[i].task]]++;
    for (uint32_t i = 0; i < plan->release_count; i++) {
        const uint32_t instance = plan->releases[i].instance;
        const bool stays = view->instance.task_count[instance] > leaving[instance];
        const bool is_probe =
            brake_is_probing(trim->want->books) && brake_is_coming(view, instance);

        if (!stays && !is_probe && !awaited[view->instance.offer[instance]])
            plan->releases[kept++] = plan->releases[i];
    }
    plan->release_count = kept;
}

/* Who was to wait for a machine that is not rented waits for what that one lacks. */
static void follow_dropped_rent(struct trim *trim, struct plan_wait *wait)
{
    const uint8_t limit = trim->limits[wait->target];

    *wait = plan_wait_by(limit != LIMIT_NONE ? WAIT_LIMIT : WAIT_PUT_OFF, wait->task);
    trim->want->state->task_notes[wait->task].wait_limit = limit;
}

/* The tasks whose places are dropped. */
static bool *list_dropped(const struct trim *trim)
{
    bool *dropped =
        ARENA_ARRAY(&trim->want->state->arena, bool, trim->want->state->view.task.count);

    for (uint32_t i = 0; i < trim->plan->place_count; i++)
        dropped[trim->plan->places[i].task] = trim->places[i] != KEEP;
    return dropped;
}

/* Take out what is dropped; the rents that are left get new indices. */
static void compact(struct trim *trim)
{
    struct plan *plan = trim->plan;
    uint32_t *index = trim->left; /* of no use any more */
    uint32_t rents = 0;
    uint32_t places = 0;

    for (uint32_t i = 0; i < plan->rent_count; i++) {
        if (trim->rents[i] != KEEP)
            continue;
        index[i] = rents;
        plan->rents[rents++] = plan->rents[i];
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (trim->places[i] != KEEP)
            continue;

        struct plan_place place = plan->places[i];

        if (place.fresh)
            place.target = index[place.target];
        plan->places[places++] = place;
    }
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        struct plan_wait *wait = &plan->waits[i];

        if (wait->fresh && trim->rents[wait->target] != KEEP)
            follow_dropped_rent(trim, wait);
        else if (wait->fresh)
            wait->target = index[wait->target];
    }
    plan->rent_count = rents;
    plan->place_count = places;
}

/* It makes no room for another when what runs there has ended. */
static bool stays(const void *context, uint32_t instance)
{
    const struct wanting *want = context;

    return state_stays_idle(want->state, instance);
}

/* Machines that the policy keeps though nothing runs there are in the way of what is above a limit:
 * let go as many of them as were asked for. */
static void make_room(struct trim *trim)
{
    const struct view *view = &trim->want->state->view;
    struct plan *plan = trim->plan;
    bool *taken = ARENA_ARRAY(&trim->want->state->arena, bool, view->instance.count);
    uint32_t more = trim->limited;

    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (!plan->places[i].fresh)
            taken[plan->places[i].target] = true;
    }
    for (uint32_t i = 0; i < plan->release_count; i++)
        taken[plan->releases[i].instance] = true;
    EMPTY_EACH(instance, view)
    {
        if (more == 0)
            break;
        if (taken[instance] || view->instance.state[instance] != INSTANCE_READY ||
            stays(trim->want, instance))
            continue;
        plan_release(plan, instance,
                     plan_because(REASON_EMPTY, view->offer_price[view->instance.offer[instance]]));
        more--;
    }
}

static uint64_t instances_left(const struct wanting *want, const struct load *load)
{
    const uint64_t most = want->state->config.max_instances;

    if (most == 0)
        return UINT64_MAX;
    return load->count < most ? most - load->count : 0;
}

static uint64_t unproven_left(const struct wanting *want, const struct load *load)
{
    const uint64_t most = brake_allows(want->books);

    if (most == BRAKE_OFF)
        return UINT64_MAX;
    return load->unproven < most ? most - load->unproven : 0;
}

/* The brake allows less than the limits do. */
static bool is_braked(const struct wanting *want, const struct load *load)
{
    return unproven_left(want, load) < instances_left(want, load);
}

static enum controller_limit limit_of_shortage(const struct wanting *want, enum shortage shortage)
{
    const struct controller_config *config = &want->state->config;
    const struct load load = load_of(want);

    if (config->rent_nothing)
        return LIMIT_NO_RENT;
    if (want->state->doubts.is_doubting)
        return LIMIT_DOUBT;
    if (want->state->doubts.rivals > 0)
        return LIMIT_RIVAL;
    if (shortage != SHORT_OF_INSTANCES)
        return shortage == SHORT_OF_PRICE ? LIMIT_PRICE : LIMIT_BUDGET;
    return is_braked(want, &load) ? LIMIT_PROBE : LIMIT_INSTANCES;
}

/* Whoever was not shown to the policy waits for what the first one lacks. Those that are not counted as
 * limited by their rents are here. */
static void note_turns(struct trim *trim)
{
    struct wanting *want = trim->want;
    const struct view *view = &want->state->view;
    const enum controller_limit limit = limit_of_shortage(want, trim->turns->shortage);
    uint32_t *count = limit == LIMIT_PROBE ? &trim->unproven : &trim->limited;

    if (*count < trim->turns->lacking)
        *count = trim->turns->lacking;
    TASK_EACH(task, view, view->task.waiting_first)
    {
        struct task_note *note = &want->state->task_notes[task];

        if (trim->turns->of_task[task] != TURN_LATER)
            continue;
        if (note->not_before > view->now) {
            want->next_retry =
                note->not_before < want->next_retry ? note->not_before : want->next_retry;
            continue;
        }
        note->limited_by = (uint8_t)limit;
        note->limited_in = (uint32_t)want->state->stats.decisions;
    }
}

static uint8_t *turns_of_rents(const struct trim *trim)
{
    const struct view *view = &trim->want->state->view;
    const struct plan *plan = trim->plan;
    uint8_t *turn = ARENA_ARRAY(&trim->want->state->arena, uint8_t, plan->rent_count);

    for (uint32_t i = 0; i < plan->rent_count; i++)
        turn[i] = trim->used[i] ? TURN_LATER : TURN_NOW;
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        const bool waits = view->task.instance[place->task] == ROW_NONE;
        const uint8_t own = !waits                         ? TURN_LATER
                            : trim->turns->of_task == NULL ? TURN_NOW
                                                           : trim->turns->of_task[place->task];

        if (place->fresh && own < turn[place->target])
            turn[place->target] = own;
    }
    return turn;
}

bool want_is_held(const void *context, uint32_t task)
{
    const struct wanting *want = context;

    return want->state->task_notes[task].not_before > want->state->view.now;
}

/* What is left when all is rented that is in both plans, which may be NULL. */
static struct allowance allowance_of(const struct wanting *want, const struct plan *first,
                                     const struct plan *second)
{
    const struct controller_config *config = &want->state->config;
    struct load load = load_of(want);

    for (uint32_t i = 0; first != NULL && i < first->rent_count; i++)
        add_rent(want, &load, first->rents[i].offer);
    for (uint32_t i = 0; second != NULL && i < second->rent_count; i++)
        add_rent(want, &load, second->rents[i].offer);

    struct allowance left = { .instances = instances_left(want, &load),
                              .price_per_hour = ALLOWANCE_ANY,
                              .first_charge = ALLOWANCE_ANY,
                              .grows = true,
                              .slots = config->max_instances };

    if (config->max_price_per_hour > 0)
        left.price_per_hour =
            load.price < config->max_price_per_hour ? config->max_price_per_hour - load.price : 0;
    if (config->has_budget)
        left.first_charge =
            config->budget_left > load.charge ? config->budget_left - load.charge : 0;
    if (is_braked(want, &load)) {
        left.instances = unproven_left(want, &load);
        left.grows = false;
    }
    if (config->rent_nothing || want->state->doubts.is_doubting || want->state->doubts.rivals > 0) {
        left.instances = 0;
        left.grows = false;
    }
    return left;
}

bool want_may_rent(const struct wanting *want)
{
    const struct allowance left = allowance_of(want, NULL, NULL);

    return left.instances > 0 && left.price_per_hour > 0 && left.first_charge > 0;
}

static void ask_policy(const void *context, const struct slot_queue *queue, struct plan *ret)
{
    const struct wanting *want = context;
    const struct policy_input input = {
        .view = &want->state->view,
        .knowledge = &want->books->knowledge,
        .option = want->state->config.option,
        .scarcity = &want->scarcity,
        .slots = queue,
        .arena = ret->arena,
        .memory = want->memory,
    };

    policy_decide(want->state->config.policy, &input, ret);
}

void want_decision(struct wanting *want, struct plan *ret, struct turns *ret_turns)
{
    struct want_services services;
    struct want_owned owned;
    const bool has_owned = want_owned_hide(want, &owned);
    const bool has_services = want_services_begin(want, &services);

    if (has_owned)
        want_owned_place(want, &owned);

    const struct plan *first = has_services ? &services.pools.plan : NULL;
    const struct allowance before = allowance_of(want, first, NULL);
    struct want_short short_pool;
    const bool has_short = want_short_begin(want, &before, &short_pool);
    const struct allowance allowance =
        has_short ? allowance_of(want, first, &short_pool.plan) : before;
    const struct turns_config config = {
        .view = &want->state->view,
        .arena = &want->state->arena,
        .allowance = &allowance,
        .plan = ask_policy,
        .is_held = want_is_held,
        .stays = stays,
        .context = want,
    };

    want->scarcity = scarcity_find(&want->state->view, &allowance, want->state->config.caps,
                                   &want->state->arena);
    want_turns(want, &config, ret, ret_turns);
    if (has_short)
        want_short_end(want, &short_pool, ret);
    if (has_owned)
        want_owned_end(want, &owned, ret);
    if (has_services)
        want_services_end(want, &services, ret);
}

void want_trim(struct wanting *want, struct plan *plan, const struct turns *turns)
{
    struct trim trim = {
        .want = want,
        .turns = turns,
        .plan = plan,
        .rents = ARENA_ARRAY(&want->state->arena, uint8_t, plan->rent_count),
        .places = ARENA_ARRAY(&want->state->arena, uint8_t, plan->place_count),
        .left = ARENA_ARRAY(&want->state->arena, uint32_t, plan->rent_count),
        .used = ARENA_ARRAY(&want->state->arena, bool, plan->rent_count),
        .limits = ARENA_ARRAY(&want->state->arena, uint8_t, plan->rent_count),
    };
    bool again = true;

    want->next_retry = MSEC_NEVER;
    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (plan->places[i].fresh)
            trim.used[plan->places[i].target] = true;
    }
    trim.turn = turns_of_rents(&trim);
    trim.any = want_drop_kept(want->state, plan);
    drop_held_back(&trim);

    const uint32_t probe = brake_is_probing(want->books) ? find_probe(&trim) : RENT_NONE;

    for (uint32_t pass = 0; again && pass < PASSES_MAX; pass++) {
        trim.is_last = pass + 1 == PASSES_MAX;
        if (has_limits(want))
            drop_above_limits(&trim);
        again = trim.any && settle(&trim);
    }
    keep_probe(&trim, probe);
    if (turns->is_limited)
        note_turns(&trim);
    want_note_capped(want);
    want->state->stats.limited += trim.limited;
    want->state->is_limited = trim.limited > 0;
    want->state->stats.unproven += trim.unproven;

    const bool *dropped = trim.any ? list_dropped(&trim) : NULL;

    if (trim.any)
        compact(&trim);
    want_waits(want, plan, turns, dropped);
    if (trim.limited > 0 && !want->state->config.rent_nothing)
        make_room(&trim);
    if (trim.any || want->state->queued > 0 || brake_is_probing(want->books))
        drop_releases(&trim);
    if (trim.any || turns->is_limited)
        want_drop_idle(want->state, plan);
    if (turns->look_again &&
        plan->place_count > 0) /* else it would be the same plan, again and again */
        plan->wake_at = want->state->view.now;
}
