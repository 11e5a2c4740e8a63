/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/improve_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decide/lease.h"
#include "decide/machine_index.h"
#include "decide/place_reason.h"
#include "decide/reservation.h"
#include "decide/risk.h"

enum { WINDOW = 24 }; /* machines that are looked at where there are too many */

static const double least_worth = 10000; /* micro-dollars an hour: work is never worth nothing */
static const msec_t delay_step = 900 * MSEC_PER_SEC; /* so far delays are rounded down */
static const msec_t busy_most = 1000 * MSEC_PER_HOUR;
static const double risk_most = 4;
static const double moves_at_once = 3;
static const double moves_per_hour = 2;
static const double slow_share = 0.4; /* of the price of waiting */
static const uint32_t partner_arrivals =
    12; /* of so many jobs that come, one is somebody to share a machine with */
static const msec_t wait_most =
    24 * MSEC_PER_HOUR; /* who is as late as that does not wait by choice */
static const msec_t short_times =
    2; /* who ends within so many times what a machine takes to start is short */
static const msec_t worthwhile = 2; /* so many times what a move takes a task must go on for */
static const msec_t lease_step = 300 * MSEC_PER_SEC; /* and leases */

static double hours(msec_t span)
{
    return (double)span / (double)MSEC_PER_HOUR;
}

static uint64_t mix_real(uint64_t hash, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return map_mix(hash ^ bits);
}

/*
 * Kinds of tasks: workloads and shapes, numbered as they come.
 */

static void grow(struct arena *arena, void **rows, uint32_t *room, uint32_t count, size_t size)
{
    if (count < *room)
        return;

    const uint32_t more = *room > 0 ? *room * 2 : 32;
    void *fresh = arena_alloc(arena, more, size);

    if (count > 0)
        memcpy(fresh, *rows, count * size);
    *rows = fresh;
    *room = more;
}

static uint32_t workload_of(struct search *search, uint32_t workload)
{
    const uint32_t known = row_map_get(&search->workload_of, workload);

    if (known > 0)
        return known - 1;
    grow(search->arena, (void **)&search->workloads, &search->workload_room, search->workload_count,
         sizeof(*search->workloads));
    search->workloads[search->workload_count++] = workload;
    row_map_set(&search->workload_of, workload, search->workload_count);
    return search->workload_count - 1;
}

/* The market of a task that runs; of one that waits, any. Who leaves a machine for one that is refused has lost both, so work that
 * runs goes to another market only when the machine is there (search_ask). */
static uint32_t market_of(const struct view *view, uint32_t task)
{
    const uint32_t instance = view->task.instance[task];

    return instance != ROW_NONE ? view->catalogue->offers[view->instance.offer[instance]].market
                                : MARKET_COUNT;
}

/* Rounded down to eight steps between powers of two, so that it seldom changes. */
static msec_t roughly(msec_t span)
{
    msec_t step = 1;

    while (step * 8 <= span)
        step *= 2;
    return span / step * step;
}

/* What one loss of a machine undoes. */
static struct risk_stake stake_of(const struct search *search, uint32_t task)
{
    const struct view *view = search->view;

    if (!search->has_risk)
        return (struct risk_stake){ 0 };

    const msec_t whole = runtime_of_task(view, task, RUNTIME_TOTAL);

    return risk_stake_of(view, view->task.shape[task],
                         roughly(whole < busy_most ? whole : busy_most),
                         view->job.fixed[view->task.job[task]]);
}

static bool is_kind(const struct search_kind *kind, struct risk_stake stake)
{
    return kind->stake.redo <= stake.redo && kind->stake.redo >= stake.redo &&
           kind->stake.restart <= stake.restart && kind->stake.restart >= stake.restart;
}

static uint32_t kind_of(struct search *search, uint32_t task)
{
    const uint32_t shape = search->view->task.shape[task];
    const uint32_t market = market_of(search->view, task);
    const struct risk_stake stake = stake_of(search, task);
    const uint32_t key = shape * (MARKET_COUNT + 1) + market;
    const uint32_t last = row_map_get(&search->kind_of, key);

    for (uint32_t known = last; known > 0; known = search->kinds[known - 1].next) {
        if (is_kind(&search->kinds[known - 1], stake))
            return known - 1;
    }
    grow(search->arena, (void **)&search->kinds, &search->kind_room, search->kind_count,
         sizeof(*search->kinds));
    search->kinds[search->kind_count++] =
        (struct search_kind){ .shape = shape, .market = market, .stake = stake, .next = last };
    row_map_set(&search->kind_of, key, search->kind_count);
    return search->kind_count - 1;
}

/*
 * Tasks: what they are worth, and what it costs to do something with them.
 */

/* How much longer the task has been there than it has got on. */
static msec_t delay_of(const struct view *view, uint32_t task)
{
    const msec_t since = view->task.launched_at[task];
    const msec_t there = view->now - view->job.arrived_at[view->task.job[task]];
    msec_t delay = there - view_executed(view, task);

    if (since >= 0 && view->now > since && view->task.rate_ppm[task] < RATE_FULL_PPM)
        delay +=
            mul_div(view->now - since, RATE_FULL_PPM - view->task.rate_ppm[task], RATE_FULL_PPM);
    return delay > 0 ? delay : 0;
}

static double price_of(const struct search *search, uint32_t shape)
{
    const struct improve_input *input = search->input;
    double price = (double)search->view->shape_price[shape];

    if (shape < input->work_price_count && input->work_price[shape] > 0)
        price = input->work_price[shape];
    return price > least_worth ? price : least_worth;
}

/* What an hour of an average task costs. Nothing for who may meet a limit: it has to wait anyway, and is not worth more for it. */
static double mean_price(const struct search *search, uint32_t task)
{
    const double mean = search->input->mean_price;

    if (scarcity_meets(search->input->scarcity, search->view, task))
        return 0;
    return mean > 0 ? mean : price_of(search, search->view->task.shape[task]);
}

/* What an hour costs that others take from the task by slowing it down: the same for all, as all are equally late by it. Less than one
 * in which it waits, and no more the later it is: else what is long, which is late by that in the end, would drive others
 * off their machines, and be moved, again and again. */
static double slow_price(const struct search *search, uint32_t task)
{
    return mean_price(search, task) * search->input->options.waiting * slow_share;
}

/*
 * What an hour of waiting costs: a share of what lies between an average task's price and its own. By the mean alone what is
 * expensive would wait for days, as its delay hardly counts beside its price; by its own alone what is cheap would be late for
 * nothing.
 *
 * Who has a machine for itself meanwhile pays for more room than it uses until somebody comes to share it, or until it ends. If
 * somebody is expected after p hours, and it runs for r, there is a chance of r / (r + p) that waiting saves anything: so it costs
 * (r + p) / r times as much. What is short, or alone in a quiet night, does not wait.
 */
static double waiting_price(const struct search *search, uint32_t task)
{
    const struct view *view = search->view;
    const struct improve_options *options = &search->input->options;
    const double mean = mean_price(search, task);
    const double price = sqrt(mean * sqrt(mean * price_of(search, view->task.shape[task])));
    const msec_t grace =
        options->grace_ms + (msec_t)(options->grace_share * (double)view_executed(view, task));
    const msec_t over = delay_of(view, task) - grace;
    const double late = over > 0 ? hours(over / delay_step * delay_step) : 0;
    const msec_t left = runtime_of_task(view, task, RUNTIME_REMAINING);
    const double runs = hours(roughly(left < busy_most ? left : busy_most) + 1);

    return price *
           (options->waiting * (runs + search->partner_hours) / runs + options->ageing * late);
}

static double pace_of(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.gang[job] && view->job.tasks_left[job] > 1 ? (double)view->job.tasks_left[job]
                                                                : 1;
}

bool improve_takes(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    const uint32_t shape = view->task.shape[task];
    const uint32_t offer = view->shape_offer[shape];

    if (view->job.fixed[job] || view_has_apart(view, job) || offer == OFFER_NONE ||
        (view->job.gang[job] && view->job.task_count[job] > 1) ||
        view->shapes->rows[shape].variant_of != SHAPE_NONE ||
        view->task.estimate_ms[task] == MSEC_NEVER)
        return false;

    const msec_t start = catalogue_boot_ms(view->catalogue, offer) +
                         view->catalogue->offers[offer].billing.minimum_ms;

    return runtime_of_task(view, task, RUNTIME_REMAINING) > short_times * start;
}

/* Whether the task may wait by choice: not for ever, not where it may meet a limit, and only if it is the search that then takes
 * it, as the fast rules would place it at once. */
static bool may_wait(const struct search *search, uint32_t task)
{
    return search->input->options.suspends && improve_takes(search->view, task) &&
           !scarcity_meets(search->input->scarcity, search->view, task) &&
           delay_of(search->view, task) < wait_most;
}

static struct search_task describe(struct search *search, uint32_t task, uint32_t home)
{
    const struct view *view = search->view;
    const uint32_t shape = view->task.shape[task];
    const struct shape_delays *delays = &view->shapes->rows[shape].delays;
    const uint32_t job = view->task.job[task];
    struct search_task row = {
        .task = task,
        .workload = workload_of(search, view->shapes->rows[shape].workload),
        .kind = kind_of(search, task),
        .home = home,
        .apart = view->job.apart[job],
        .worth = price_of(search, shape) + slow_price(search, task),
        .price = price_of(search, shape),
        .wait_price = waiting_price(search, task) - slow_price(search, task),
        .pace = pace_of(view, task),
    };
    msec_t still = delays->fetch_ms + delays->build_ms + delays->init_ms;

    if (home != UNIT_NONE)
        still += delays->kill_ms + delays->upload_ms;
    row.start = row.worth * row.pace * hours(still);
    row.wait = may_wait(search, task) ? row.start : REGROUP_NEVER; /* it has to start some day */
    row.token = map_mix((uint64_t)shape << 32 | row.apart) + market_of(view, task);
    row.token = mix_real(mix_real(row.token, search->kinds[row.kind].stake.redo), row.worth);
    row.token = mix_real(mix_real(row.token, row.price), row.wait_price);
    row.token = mix_real(mix_real(row.token, row.pace), row.wait + row.start);
    return row;
}

static uint32_t add_task(struct search *search, const struct search_task *task)
{
    grow(search->arena, (void **)&search->tasks, &search->task_room, search->task_count,
         sizeof(*search->tasks));
    search->tasks[search->task_count] = *task;
    return search->task_count++;
}

struct unit *search_add_unit(struct search *search)
{
    grow(search->arena, (void **)&search->units, &search->unit_room, search->unit_count,
         sizeof(*search->units));
    search->units[search->unit_count] = (struct unit){ .offer = UNIT_NONE };
    return &search->units[search->unit_count++];
}

/*
 * Units.
 */

/* Whether the task has not been moved too often for what it has run: a few times at once, then now and then. Each move
 * pays, by what is known; but what is known may change back and forth. */
static bool is_settled(const struct view *view, uint32_t task)
{
    return (double)view->task.stops[task] <=
           moves_at_once + moves_per_hour * hours(view_executed(view, task));
}

/* Whether the task goes on for so long that a move can pay for itself. */
static bool goes_on(const struct view *view, uint32_t task)
{
    const uint32_t shape = view->task.shape[task];
    const struct shape_delays *delays = &view->shapes->rows[shape].delays;
    const msec_t move = delays->kill_ms + delays->upload_ms + delays->fetch_ms + delays->build_ms +
                        delays->init_ms +
                        catalogue_boot_ms(view->catalogue, view->shape_offer[shape]);

    return runtime_of_task(view, task, RUNTIME_REMAINING) > worthwhile * move;
}

/* Whether the task may leave its machine. Services are not interrupted for a few percent: they leave machines that are
 * little used (clearing.h), and no others. */
static bool is_movable(const struct view *view, uint32_t task)
{
    const uint32_t shape = view->task.shape[task];

    return view->task.state[task] == TASK_RUNNING && view->task.estimate_ms[task] != MSEC_NEVER &&
           view_job_may_move(view, view->task.job[task]) &&
           view->shape_offer[shape] != OFFER_NONE &&
           view->shapes->rows[shape].variant_of == SHAPE_NONE && is_settled(view, task) &&
           goes_on(view, task);
}

static bool is_usable(const struct view *view, uint32_t instance, const struct row_map *uses)
{
    return view->instance.state[instance] != INSTANCE_FREE && view_is_open(view, instance) &&
           view->instance.deadline[instance] == MSEC_NEVER && !view->instance.crowded[instance] &&
           view->instance.task_count[instance] <= UNIT_STAYERS_MOST && !row_map_has(uses, instance);
}

/* When somebody may be expected to share a machine with, by who came of late. Rounded. */
static double partner_hours(const struct view *view)
{
    const uint32_t jobs = view_arrivals(view);

    return hours(roughly(partner_arrivals * VIEW_ARRIVALS_MS / (jobs > 0 ? jobs : 1)));
}

/* How far it pays to look: as long as the tasks go on, on average, and no further than the most. Rounded, so that it
 * seldom changes. */
static double horizon_of(const struct search *search)
{
    const msec_t most = (msec_t)(SEARCH_HOURS_MOST * (double)MSEC_PER_HOUR);
    msec_t sum = 0;

    for (uint32_t i = 0; i < search->task_count; i++) {
        const msec_t left = runtime_of_task(search->view, search->tasks[i].task, RUNTIME_REMAINING);

        sum += left < most ? left : most;
    }
    return hours(roughly(sum / search->task_count));
}

/* How long machines of the offer last. Losses of others than spot machines are rare, and what few of them seem to tell
 * of a type is chance. */
static msec_t lasts_of(const struct view *view, uint32_t offer)
{
    const msec_t lasts = view->offer_lasts[offer];

    return view->catalogue->offers[offer].market == MARKET_SPOT && lasts != MSEC_NEVER
               ? roughly(lasts)
               : MSEC_NEVER;
}

/* Losses count up to a few times the price: work that is lost again and again is placed again by the fast rules, and need
 * not be driven off on the strength of an estimate. */
static double risk_at(const struct view *view, struct risk_stake stake, uint32_t offer)
{
    const double factor = risk_factor_of(
        lasts_of(view, offer), catalogue_type_of(view->catalogue, offer)->setup_ms, stake);

    return (factor < risk_most ? factor : risk_most) - 1;
}

double search_risk(const struct search *search, const struct search_task *of, uint32_t offer)
{
    return search->has_risk ? risk_at(search->view, search->kinds[of->kind].stake, offer) : 0;
}

static bool find_risk(const struct view *view)
{
    for (uint32_t i = 0; i < view->offer_count; i++) {
        if (lasts_of(view, i) != MSEC_NEVER)
            return true;
    }
    return false;
}

/* How much of the horizon has to be paid for the machine. */
static double keep_price(const struct search *search, uint32_t instance)
{
    const struct view *view = search->view;
    const uint32_t offer = view->instance.offer[instance];
    const msec_t paid = lease_left(view, instance) / lease_step * lease_step;
    const double left = search->hours - hours(paid);

    return left > 0 ? left * (double)view->offer_price[offer] : 0;
}

static void hash_unit(const struct search *search, struct unit *unit)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < unit->task_count; i++)
        sum += search->tasks[unit->tasks[i]].token;
    for (uint32_t i = 0; i < unit->stayer_count; i++)
        sum += map_mix(unit->stayers[i].token);
    if (unit->instance != ROW_NONE) {
        sum =
            mix_real(map_mix(sum + search->view->instance.offer[unit->instance] + 1), unit->price);
        sum += search_is_asked(search->view, unit->instance);
        for (int kind = 0; kind < RES_KINDS; kind++)
            sum = map_mix(sum ^ (uint64_t)unit->free.amount[kind]);
    }
    unit->hash = map_mix(sum);
}

static void add_machine(struct search *search, uint32_t instance)
{
    const struct view *view = search->view;
    const uint32_t number = search->unit_count;
    struct search_task *stayers =
        ARENA_ARRAY(search->arena, struct search_task, view->instance.task_count[instance]);
    struct unit *unit = search_add_unit(search);

    unit->instance = instance;
    unit->free = *view_capacity(view, instance);
    unit->stayers = stayers;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (unit->task_count < UNIT_FREE_MOST && is_movable(view, task)) {
            const struct search_task row = describe(search, task, number);

            unit->tasks[unit->task_count++] = add_task(search, &row);
            continue;
        }
        stayers[unit->stayer_count++] = describe(search, task, number);
        res_sub(&unit->free, view_taken(view, task, instance));
    }
}

/* Where there are too many machines to look at all: the first of those whose turn it is. */
static uint32_t first_of_turn(const struct view *view)
{
    const uint64_t turn = (uint64_t)(view->now / (view->round_ms > 0 ? view->round_ms : 1000));

    return (uint32_t)(turn * WINDOW % view->instance.count);
}

static void add_machines(struct search *search, const struct row_map *uses)
{
    const struct view *view = search->view;

    if (view->instance.living <= IMPROVE_MACHINES_MOST) {
        INSTANCE_EACH(instance, view)
        {
            if (is_usable(view, instance, uses))
                add_machine(search, instance);
        }
        return;
    }

    const uint32_t first = first_of_turn(view);

    for (uint32_t i = 0; i < WINDOW; i++) {
        const uint32_t instance = (first + i) % view->instance.count;

        if (is_usable(view, instance, uses))
            add_machine(search, instance);
    }
}

static bool has_movable(const struct view *view, uint32_t instance, const struct row_map *uses)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (is_movable(view, task))
            return is_usable(view, instance, uses);
    }
    return false;
}

bool improve_has_any(const struct view *view, uint32_t waiting_count, const struct row_map *uses)
{
    if (waiting_count > 0)
        return true;
    if (view->job.movables == 0)
        return false;
    if (view->instance.living <= IMPROVE_MACHINES_MOST) {
        INSTANCE_EACH(instance, view)
        {
            if (has_movable(view, instance, uses))
                return true;
        }
        return false;
    }

    const uint32_t first = first_of_turn(view);

    for (uint32_t i = 0; i < WINDOW; i++) {
        const uint32_t instance = (first + i) % view->instance.count;

        if (view->instance.state[instance] != INSTANCE_FREE && has_movable(view, instance, uses))
            return true;
    }
    return false;
}

static void add_waiting(struct search *search)
{
    for (uint32_t i = 0; i < search->input->waiting_count; i++) {
        const struct search_task row = describe(search, search->input->waiting[i], UNIT_NONE);
        const uint32_t task = add_task(search, &row);
        struct unit *unit = search_add_unit(search);

        unit->instance = ROW_NONE;
        unit->tasks[unit->task_count++] = task;
    }
}

/*
 * Offers and rates.
 */

struct priced {
    double price;
    uint32_t offer;
};

static int compare_priced(const void *left, const void *right)
{
    const struct priced *a = left;
    const struct priced *b = right;

    if (a->price < b->price || a->price > b->price)
        return a->price < b->price ? -1 : 1;
    return (a->offer > b->offer) - (a->offer < b->offer);
}

static void list_offers(struct search *search)
{
    const struct view *view = search->view;
    const uint32_t most = view->catalogue->offer_count;
    struct priced *rows = ARENA_ARRAY(search->arena, struct priced, most);
    uint32_t count = 0;

    for (uint32_t i = 0; i < most; i++) {
        const double least = hours(view->catalogue->offers[i].billing.minimum_ms);
        const double busy = search->hours + hours(catalogue_type_of(view->catalogue, i)->setup_ms);
        const double span = busy > least ? busy : least;

        if (reservation_is_open(view, i) && !view->catalogue->offers[i].is_former)
            rows[count++] = (struct priced){ span * (double)view->offer_price[i], i };
    }
    qsort(rows, count, sizeof(*rows), compare_priced);
    search->offers = ARENA_ARRAY(search->arena, struct regroup_offer, count);
    search->offer_rows = ARENA_ARRAY(search->arena, uint32_t, count);
    search->offer_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct machine_type *type = catalogue_type_of(view->catalogue, rows[i].offer);

        search->offer_rows[i] = rows[i].offer;
        search->offers[i] = (struct regroup_offer){
            .price = rows[i].price,
            .boot = hours(catalogue_boot_ms(view->catalogue, rows[i].offer)),
            .capacity = type->capacity,
        };
        search->era = mix_real(search->era + rows[i].offer, rows[i].price);
        search->era = map_mix(search->era ^ (uint64_t)lasts_of(view, rows[i].offer));
        search->era += reservation_is_doubtful(view, rows[i].offer);
    }
}

/* What the kind needs on a new machine of the offer; NULL: it is not to be asked for. */
static const struct res *demand_at(const struct search *search, const struct search_kind *kind,
                                   uint32_t offer, bool with_doubtful)
{
    const struct catalogue *catalogue = search->view->catalogue;
    const uint32_t market = catalogue->offers[offer].market;
    const bool is_kept = search->asks && kind->market < MARKET_COUNT;

    if (is_kept ? market != MARKET_SPOT : kind->market < MARKET_COUNT && market != kind->market)
        return NULL;
    if (!with_doubtful && reservation_is_doubtful(search->view, offer))
        return NULL;
    return shape_demand_at(search->view->shapes, kind->shape, catalogue, offer);
}

static const double *list_risks(const struct search *search, struct risk_stake stake)
{
    double *row = ARENA_ARRAY(search->arena, double, search->offer_count);

    for (uint32_t i = 0; i < search->offer_count; i++)
        row[i] = risk_at(search->view, stake, search->offer_rows[i]);
    return row;
}

/* Returns whether there is any offer. */
static bool list_demand(const struct search *search, struct search_kind *kind, bool with_doubtful)
{
    const struct res **row = ARENA_ARRAY(search->arena, const struct res *, search->offer_count);
    bool has_any = false;

    for (uint32_t i = 0; i < search->offer_count; i++) {
        row[i] = demand_at(search, kind, search->offer_rows[i], with_doubtful);
        has_any = has_any || row[i] != NULL;
    }
    kind->demand = row;
    return has_any;
}

static void list_demands(struct search *search)
{
    for (uint32_t number = 0; number < search->kind_count; number++) {
        struct search_kind *kind = &search->kinds[number];

        if (!list_demand(search, kind, search->asks) && !search->asks &&
            kind->market == MARKET_COUNT)
            (void)list_demand(search, kind, true);
        if (!search->asks)
            kind->risk = search->has_risk ? list_risks(search, kind->stake) : NULL;
    }
}

static void list_rates(struct search *search)
{
    const uint32_t count = search->workload_count;

    search->rate = ARENA_ARRAY(search->arena, double, (size_t)count *count);
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++)
            search->rate[a * count + b] =
                pairs_rate(search->input->pairs, search->workloads[a], search->workloads[b]);
    }
    search->era = map_mix(search->era ^ search->input->pairs->version);
    search->era = map_mix(search->era ^ search->input->view->catalogue->changes);
}

void search_begin(struct search *search, const struct improve_input *input, struct arena *arena,
                  const struct row_map *uses)
{
    *search = (struct search){ .input = input, .view = input->view, .arena = arena };
    search->has_risk = find_risk(input->view);
    search->partner_hours = partner_hours(input->view);
    row_map_init(&search->kind_of, arena);
    row_map_init(&search->workload_of, arena);
    add_machines(search, uses);
    add_waiting(search);
    if (search->task_count == 0)
        return;
    search->hours = horizon_of(search);
    for (uint32_t i = 0; i < search->unit_count; i++) {
        if (search->units[i].instance != ROW_NONE)
            search->units[i].price = keep_price(search, search->units[i].instance);
        hash_unit(search, &search->units[i]);
    }
    list_offers(search);
    list_demands(search);
    list_rates(search);
}

/*
 * The plan.
 */

/* What the task costs per hour where it is now; of one that waits, on a machine of its own. */
static money_t price_before(const struct search *search, const struct search_task *task)
{
    const struct view *view = search->view;

    return task->home != UNIT_NONE
               ? place_price(view, task->task, search->units[task->home].instance)
               : view->shape_price[view->task.shape[task->task]];
}

/* That machine's offer. */
static uint32_t offer_before(const struct search *search, const struct search_task *task)
{
    const struct view *view = search->view;

    return task->home != UNIT_NONE ? view->instance.offer[search->units[task->home].instance]
                                   : view->shape_offer[view->task.shape[task->task]];
}

/* A new machine, against staying where they are, or a machine for each of its tasks. */
static struct plan_reason reason_of_fresh(const struct search *search, const struct unit *unit)
{
    const uint32_t offer = search->offer_rows[unit->offer];
    struct plan_reason why =
        plan_because(unit->task_count > 1 ? REASON_SHARES_FRESH : REASON_CHEAPEST_ALONE,
                     search->view->offer_price[offer]);
    uint32_t other = OFFER_NONE;
    money_t price = 0;

    for (uint32_t i = 0; i < unit->task_count; i++) {
        const struct search_task *task = &search->tasks[unit->tasks[i]];
        const uint32_t before = offer_before(search, task);

        price += price_before(search, task);
        if (before != offer && other == OFFER_NONE)
            other = before;
    }
    plan_reject(&why, offer, other, price);
    return why;
}

static void place(const struct search *search, const struct unit *unit,
                  const struct search_task *task, uint32_t rent, struct plan *plan)
{
    const struct view *view = search->view;
    struct plan_reason why;

    if (unit->instance == ROW_NONE)
        why = reason_of_fresh(search, unit);
    else
        why = place_reason(view, REASON_FITS_KEPT, task->task, unit->instance);
    if (task->home != UNIT_NONE) {
        why.code = REASON_BETTER_PLACE;
        why.saving = (money_t)llround(task->move_saves);
        why.move_cost = (money_t)llround(task->move_cost);
        if (unit->instance != ROW_NONE)
            plan_reject(&why, view->instance.offer[unit->instance], offer_before(search, task),
                        price_before(search, task));
    }
    if (unit->instance != ROW_NONE)
        plan_place_kept(plan, task->task, unit->instance, why);
    else
        plan_place_fresh(plan, task->task, rent, why);
}

static void plan_machine(const struct search *search, uint32_t number, struct plan *plan,
                         struct row_map *uses)
{
    const struct unit *unit = &search->units[number];
    const struct view *view = search->view;
    const uint32_t offer = view->instance.offer[unit->instance];

    for (uint32_t i = 0; i < unit->task_count; i++) {
        const struct search_task *task = &search->tasks[unit->tasks[i]];

        if (task->home != number)
            place(search, unit, task, 0, plan);
        row_map_set(uses, unit->instance, USE_PLACED);
    }
    if (unit->task_count + unit->stayer_count > 0 || view->instance.task_count[unit->instance] == 0)
        return;
    plan_release(plan, unit->instance,
                 plan_because(REASON_NOT_WORTH_PRICE, view->offer_price[offer]));
    row_map_set(uses, unit->instance, USE_LEFT);
}

static void plan_fresh(const struct search *search, const struct unit *unit, struct plan *plan)
{
    const uint32_t rent =
        plan_rent(plan, search->offer_rows[unit->offer], reason_of_fresh(search, unit));

    for (uint32_t i = 0; i < unit->task_count; i++)
        place(search, unit, &search->tasks[unit->tasks[i]], rent, plan);
}

static void plan_wait(const struct search *search, const struct unit *unit, struct plan *plan)
{
    for (uint32_t i = 0; i < unit->task_count; i++) {
        const struct search_task *task = &search->tasks[unit->tasks[i]];

        struct plan_reason why =
            plan_because(REASON_YIELDS, (money_t)(task->worth + task->wait_price));

        if (task->home == UNIT_NONE)
            continue;
        plan_reject(&why, OFFER_NONE, offer_before(search, task), price_before(search, task));
        plan_suspend(plan, task->task, why);
    }
}

/* Who came to wait and is left waiting: to run it costs more than it is worth now. */
static void say_waiting(const struct search *search, const struct search_task *task,
                        struct plan *plan)
{
    const struct view *view = search->view;

    const uint32_t shape = view->task.shape[task->task];
    struct plan_wait wait = plan_wait_by(WAIT_WORTH, task->task);

    if (view->shape_offer[shape] == OFFER_NONE)
        return;
    wait.rent_offer = view->shape_offer[shape];
    wait.rent_cost = view->shape_price[shape];
    wait.wait_cost = (money_t)(task->worth + task->wait_price);
    plan_let_wait(plan, &wait);
}

static void note_waiting(struct search *search, const struct unit *unit)
{
    for (uint32_t i = 0; i < unit->task_count; i++) {
        struct search_task *task = &search->tasks[unit->tasks[i]];

        task->waits = task->home == UNIT_NONE;
    }
}

/* Who waits by choice is worth more with time. */
static void wake_for_waiting(const struct search *search, struct plan *plan)
{
    const struct view *view = search->view;

    for (uint32_t i = 0; i < search->unit_count && search->input->options.suspends; i++) {
        const struct unit *unit = &search->units[i];

        if (unit->instance != ROW_NONE || unit->offer != UNIT_NONE || unit->task_count == 0)
            continue;

        const msec_t at = view->now + delay_step;

        if (at < plan->wake_at)
            plan->wake_at = at;
    }
}

void search_end(struct search *search, struct plan *plan, struct row_map *uses)
{
    for (uint32_t i = 0; i < search->unit_count; i++) {
        const struct unit *unit = &search->units[i];

        if (unit->instance == ROW_NONE && unit->offer == UNIT_NONE)
            note_waiting(search, unit);
        if (unit->stamp == 0)
            continue;
        if (unit->instance != ROW_NONE)
            plan_machine(search, i, plan, uses);
        else if (unit->offer != UNIT_NONE && unit->task_count > 0)
            plan_fresh(search, unit, plan);
        else
            plan_wait(search, unit, plan);
    }
    wake_for_waiting(search, plan);
}

/*
 * What is asked for first.
 */

static bool is_spot(const struct view *view, uint32_t offer)
{
    return view->catalogue->offers[offer].market == MARKET_SPOT;
}

bool search_is_asked(const struct view *view, uint32_t instance)
{
    const uint32_t offer = view->instance.offer[instance];

    return is_spot(view, offer) && view->instance.state[instance] != INSTANCE_READY &&
           (view->instance.task_count[instance] == 0 || reservation_is_doubtful(view, offer));
}

/* Whether the unit is one of those to be looked at: first machines that were asked for, then others. */
static bool is_of_interest(const struct search *search, const struct unit *unit, bool asked)
{
    if (unit->instance == ROW_NONE)
        return !asked && unit->offer == UNIT_NONE && unit->task_count > 0;
    return unit->stamp == 0 && search_is_asked(search->view, unit->instance) == asked &&
           (asked || unit->task_count > 0);
}

/* What is blocked is not among the offers, and what was asked for may be of such an offer. */
static bool has_spot(const struct search *search)
{
    for (uint32_t i = 0; i < search->view->offer_count; i++) {
        if (is_spot(search->view, i))
            return true;
    }
    return false;
}

uint32_t search_ask(struct search *search, uint32_t *ret)
{
    uint32_t count = 0;

    if (!has_spot(search) || search->view->instance.living > IMPROVE_MACHINES_MOST)
        return 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < search->unit_count; i++) {
            if (is_of_interest(search, &search->units[i], pass == 0))
                ret[count++] = i;
        }
    }
    search->asks = true;
    list_demands(search);
    return count;
}

static void ask_for(struct search *search, const struct unit *unit, struct plan *plan)
{
    const uint32_t offer = search->offer_rows[unit->offer];

    if (!is_spot(search->view, offer))
        return;

    const uint32_t rent =
        plan_rent(plan, offer, plan_because(REASON_ASKED_FIRST, search->view->offer_price[offer]));

    for (uint32_t i = 0; i < unit->task_count; i++) {
        struct search_task *task = &search->tasks[unit->tasks[i]];

        if (task->home != UNIT_NONE)
            continue;
        place(search, unit, task, rent, plan);
        task->waits = false;
    }
}

void search_end_asking(struct search *search, uint32_t since, struct plan *plan,
                       struct row_map *uses)
{
    for (uint32_t i = 0; i < search->unit_count; i++) {
        const struct unit *unit = &search->units[i];

        if (unit->stamp <= since || unit->task_count == 0)
            continue;
        if (unit->instance == ROW_NONE && unit->offer != UNIT_NONE)
            ask_for(search, unit, plan);
        else if (unit->instance != ROW_NONE && search_is_asked(search->view, unit->instance))
            row_map_set(uses, unit->instance, USE_PLACED);
    }
    for (uint32_t i = 0; i < search->task_count; i++) {
        if (search->tasks[i].waits)
            say_waiting(search, &search->tasks[i], plan);
    }
}
