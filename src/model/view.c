/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

void view_init(struct view *view, const struct catalogue *catalogue, const struct shapes *shapes)
{
    *view = (struct view){ .catalogue = catalogue, .shapes = shapes };
    view->task.free_row = ROW_NONE;
    view->task.waiting_first = ROW_NONE;
    view->task.waiting_last = ROW_NONE;
    view->job.free_row = ROW_NONE;
    view->job.ruled_first = ROW_NONE;
    view->instance.free_row = ROW_NONE;
    view->instance.first = ROW_NONE;
    view->instance.last = ROW_NONE;
    view->instance.empty_first = ROW_NONE;
    view->instance.empty_last = ROW_NONE;
    map_init(&view->task_by_id);
    map_init(&view->job_by_id);
    map_init(&view->instance_by_id);
    view_catalogue_grew(view);
}

void view_catalogue_grew(struct view *view)
{
    const uint32_t count = view->catalogue->offer_count;

    assert(count >= view->offer_count);
    view->offer_price = mem_resize(view->offer_price, count, sizeof(*view->offer_price));
    view->offer_blocked_until =
        mem_resize(view->offer_blocked_until, count, sizeof(*view->offer_blocked_until));
    view->offer_doubted_until =
        mem_resize(view->offer_doubted_until, count, sizeof(*view->offer_doubted_until));
    view->offer_lasts = mem_resize(view->offer_lasts, count, sizeof(*view->offer_lasts));
    view->offer_risk_changed =
        mem_resize(view->offer_risk_changed, count, sizeof(*view->offer_risk_changed));
    for (uint32_t i = view->offer_count; i < count; i++) {
        view->offer_price[i] = price_at(&view->catalogue->offers[i].price, view->now);
        view->offer_blocked_until[i] = 0;
        view->offer_doubted_until[i] = 0;
        view->offer_lasts[i] = interruption_mean_ms(view->catalogue->offers[i].interruption);
        view->offer_risk_changed[i] = 0;
    }
    view->offer_count = count;
}

#define FREE_COLUMN(type, name) mem_free(table->name);

static void tasks_done(struct task_table *table)
{
    TASK_COLUMNS(FREE_COLUMN)
}

static void jobs_done(struct job_table *table)
{
    JOB_COLUMNS(FREE_COLUMN)
}

static void instances_done(struct instance_table *table)
{
    INSTANCE_COLUMNS(FREE_COLUMN)
}

void view_done(struct view *view)
{
    tasks_done(&view->task);
    jobs_done(&view->job);
    instances_done(&view->instance);
    map_done(&view->task_by_id);
    map_done(&view->job_by_id);
    map_done(&view->instance_by_id);
    mem_free(view->changes.rows);
    mem_free(view->offer_price);
    mem_free(view->offer_blocked_until);
    mem_free(view->offer_lasts);
    mem_free(view->offer_risk_changed);
    mem_free(view->offer_doubted_until);
    mem_free(view->shape_offer);
    mem_free(view->shape_price);
    *view = (struct view){ 0 };
}

/*
 * Rows: the first free one, or one more at the end. Free rows are chained by the column 'link'.
 */

#define GROW_COLUMN(type, name) table->name = mem_resize(table->name, table->room, sizeof(type));

#define DEFINE_TAKE_ROW(function, table_type, link, COLUMNS)            \
    static uint32_t function(struct table_type *table)                  \
    {                                                                   \
        const uint32_t row = table->free_row;                           \
                                                                        \
        if (row != ROW_NONE) {                                          \
            table->free_row = table->link[row];                         \
            return row;                                                 \
        }                                                               \
        if (table->count == table->room) {                              \
            table->room = mem_next_room(table->room, table->count + 1); \
            COLUMNS(GROW_COLUMN)                                        \
        }                                                               \
        return table->count++;                                          \
    }

DEFINE_TAKE_ROW(task_row, task_table, next, TASK_COLUMNS)
DEFINE_TAKE_ROW(job_row, job_table, first_task, JOB_COLUMNS)
DEFINE_TAKE_ROW(instance_row, instance_table, next, INSTANCE_COLUMNS)

uint32_t view_find_task(const struct view *view, uint64_t id)
{
    return map_get(&view->task_by_id, id);
}

uint32_t view_find_job(const struct view *view, uint64_t id)
{
    return map_get(&view->job_by_id, id);
}

uint32_t view_find_instance(const struct view *view, uint64_t id)
{
    return map_get(&view->instance_by_id, id);
}

/* Note that the instance, or a task on it, is not what it was. */
static void log_change(struct view *view, uint32_t instance)
{
    enum { LOG_LEAST = 4096 };

    struct change_log *log = &view->changes;
    const uint32_t most = view->instance.count > LOG_LEAST ? view->instance.count : LOG_LEAST;

    if (log->count >= most) { /* who reads it now and then misses nothing */
        const uint32_t cut = log->count - most / 2;

        memmove(log->rows, &log->rows[cut], (log->count - cut) * sizeof(*log->rows));
        log->begin += cut;
        log->count -= cut;
    }
    MEM_ROOM(log->rows, log->room, log->count + 1);
    log->rows[log->count++] = instance;
}

/*
 * The lists of tasks: of those who wait, and of each instance.
 */

static void list_append(struct task_table *table, uint32_t task, uint32_t *first, uint32_t *last)
{
    table->next[task] = ROW_NONE;
    table->prev[task] = *last;
    if (*last != ROW_NONE)
        table->next[*last] = task;
    else
        *first = task;
    *last = task;
}

static void list_remove(struct task_table *table, uint32_t task, uint32_t *first, uint32_t *last)
{
    const uint32_t next = table->next[task];
    const uint32_t prev = table->prev[task];

    if (prev != ROW_NONE)
        table->next[prev] = next;
    else
        *first = next;
    if (next != ROW_NONE)
        table->prev[next] = prev;
    else
        *last = prev;
}

static void waiting_append(struct view *view, uint32_t task)
{
    struct task_table *table = &view->task;

    list_append(table, task, &table->waiting_first, &table->waiting_last);
    table->waiting_count++;
    table->state[task] = TASK_WAITING;
    table->instance[task] = ROW_NONE;
    table->bound_at[task] = -1;
    table->rate_ppm[task] = RATE_NONE;
}

static void waiting_remove(struct view *view, uint32_t task)
{
    struct task_table *table = &view->task;

    list_remove(table, task, &table->waiting_first, &table->waiting_last);
    table->waiting_count--;
}

void view_show_waiting(struct view *view, const uint32_t *tasks, uint32_t count)
{
    while (view->task.waiting_first != ROW_NONE) {
        const uint32_t task = view->task.waiting_first;

        waiting_remove(view, task);
        view->task.state[task] = TASK_HIDDEN;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert(view->task.state[tasks[i]] == TASK_HIDDEN);
        waiting_append(view, tasks[i]);
    }
}

static bool is_under_half(const struct res *used, const struct res *capacity)
{
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (capacity->amount[kind] > 0 && used->amount[kind] * 2 >= capacity->amount[kind])
            return false;
    }
    return true;
}

static void note_use(struct view *view, uint32_t instance)
{
    struct instance_table *table = &view->instance;

    table->steady_since[instance] = view->now;
    if (!is_under_half(&table->used[instance], view_capacity(view, instance)))
        table->under_half_since[instance] = MSEC_NEVER;
    else if (table->under_half_since[instance] == MSEC_NEVER)
        table->under_half_since[instance] = view->now;
}

static void empty_append(struct instance_table *table, uint32_t instance)
{
    table->empty_next[instance] = ROW_NONE;
    table->empty_prev[instance] = table->empty_last;
    if (table->empty_last != ROW_NONE)
        table->empty_next[table->empty_last] = instance;
    else
        table->empty_first = instance;
    table->empty_last = instance;
}

static void empty_remove(struct instance_table *table, uint32_t instance)
{
    const uint32_t next = table->empty_next[instance];
    const uint32_t prev = table->empty_prev[instance];

    if (prev != ROW_NONE)
        table->empty_next[prev] = next;
    else
        table->empty_first = next;
    if (next != ROW_NONE)
        table->empty_prev[next] = prev;
    else
        table->empty_last = prev;
}

static void instance_append(struct view *view, uint32_t task, uint32_t instance)
{
    struct instance_table *table = &view->instance;

    view->task.instance[task] = instance;
    view->job.tasks_bound[view->task.job[task]]++;
    list_append(&view->task, task, &table->first_task[instance], &table->last_task[instance]);
    if (table->task_count[instance]++ == 0)
        empty_remove(table, instance);
    res_add(&table->used[instance], view_taken(view, task, instance));
    note_use(view, instance);
    log_change(view, instance);
}

/* Invariant 4, for one task and those that were bound to its instance after it. */
static bool is_apart(const struct view *view, uint32_t task)
{
    if (!view_has_apart(view, view->task.job[task]))
        return true;
    TASK_EACH(other, view, view->task.next[task])
    {
        if (view_keep_apart(view, task, other))
            return false;
    }
    return true;
}

static bool is_overfull(const struct view *view, uint32_t instance)
{
    return !res_fits(&view->instance.used[instance], view_capacity(view, instance));
}

/* More is there than there is room for, or tasks that should be apart. */
static bool is_crowded(const struct view *view, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (!is_apart(view, task))
            return true;
    }
    return is_overfull(view, instance);
}

static void instance_detach(struct view *view, uint32_t task)
{
    struct instance_table *table = &view->instance;
    const uint32_t instance = view->task.instance[task];

    view->job.tasks_bound[view->task.job[task]]--;
    list_remove(&view->task, task, &table->first_task[instance], &table->last_task[instance]);
    if (--table->task_count[instance] == 0) {
        empty_append(table, instance);
        table->empty_since[instance] = view->now;
    }
    res_sub(&table->used[instance], view_taken(view, task, instance));
    table->crowded[instance] = table->crowded[instance] && is_crowded(view, instance);
    note_use(view, instance);
    log_change(view, instance);
}

static void detach(struct view *view, uint32_t task)
{
    if (view->task.instance[task] != ROW_NONE)
        instance_detach(view, task);
    else
        waiting_remove(view, task);
}

/*
 * Jobs and tasks.
 */

static void add_task(struct view *view, const struct job_spec *spec, uint32_t shape, uint32_t job,
                     uint32_t index)
{
    struct task_table *table = &view->task;
    const uint32_t task = task_row(table);

    table->id[task] = spec->first_task_id + index;
    table->run_key[task] = 0;
    table->order[task] = view->next_order++;
    table->job[task] = job;
    table->shape[task] = shape;
    table->sibling[task] = view->job.first_task[job];
    table->sibling_prev[task] = ROW_NONE;
    if (view->job.first_task[job] != ROW_NONE)
        table->sibling_prev[view->job.first_task[job]] = task;
    table->launches[task] = 0;
    table->stops[task] = 0;
    table->estimate_ms[task] = spec->estimate_ms;
    table->executed_ms[task] = 0;
    table->saved_ms[task] = 0;
    table->lost_ms[task] = 0;
    table->launched_at[task] = -1;
    view->job.first_task[job] = task;
    waiting_append(view, task);
    table->living++;
    map_put(&view->task_by_id, table->id[task], task);
}

static void unlink_ruled(struct job_table *table, uint32_t job)
{
    const uint32_t next = table->ruled_next[job];
    const uint32_t prev = table->ruled_prev[job];

    if (prev != ROW_NONE)
        table->ruled_next[prev] = next;
    else if (table->ruled_first == job)
        table->ruled_first = next;
    if (next != ROW_NONE)
        table->ruled_prev[next] = prev;
    table->ruled_next[job] = ROW_NONE;
    table->ruled_prev[job] = ROW_NONE;
}

static void link_ruled(struct job_table *table, uint32_t job)
{
    table->ruled_next[job] = table->ruled_first;
    if (table->ruled_first != ROW_NONE)
        table->ruled_prev[table->ruled_first] = job;
    table->ruled_first = job;
}

void view_set_rules(struct view *view, uint32_t job, const struct job_rules *rules)
{
    struct job_table *table = &view->job;
    const bool holds = shape_has_rules(view->shapes, view->task.shape[table->first_task[job]]);
    const bool has_end = rules->market == MARKET_RULE_SPOT && rules->spot_for_ms > 0;

    unlink_ruled(table, job);
    table->market[job] = (uint8_t)(holds ? rules->market : MARKET_RULE_ANY);
    table->spot_until[job] =
        holds && has_end ? table->arrived_at[job] + rules->spot_for_ms : MSEC_NEVER;
    table->deadline[job] = holds && rules->deadline > 0 ? rules->deadline : MSEC_NEVER;
    table->safe_from[job] = MSEC_NEVER;
    if (table->spot_until[job] != MSEC_NEVER || table->deadline[job] != MSEC_NEVER)
        link_ruled(table, job); /* else nothing changes with time */
}

/* The shape that a task begins with: the first variant, if there are any. */
static uint32_t first_shape(const struct view *view, uint32_t shape)
{
    const struct shape *row = &view->shapes->rows[shape];

    assert(shape < view->shapes->count);
    return row->variant_count > 0 ? view->shapes->variants[row->variant_first] : shape;
}

static void add_tasks(struct view *view, const struct job_spec *spec, uint32_t job)
{
    const struct job_part all = { .shape = spec->shape, .task_count = spec->task_count };
    const struct job_part *parts = spec->part_count > 0 ? spec->parts : &all;
    const uint32_t count = spec->part_count > 0 ? spec->part_count : 1;
    uint32_t index = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t shape = first_shape(view, parts[i].shape);

        view->job.mixed[job] = view->job.mixed[job] || parts[i].shape != parts[0].shape;
        for (uint32_t task = 0; task < parts[i].task_count; task++)
            add_task(view, spec, shape, job, index++);
    }
    assert(index == spec->task_count);
}

static int64_t arrival_span(msec_t at)
{
    return at / (VIEW_ARRIVALS_MS / ARRIVALS_SPANS);
}

/* A span takes the place of an earlier one, which is too long ago to be asked for. */
static void count_arrival(struct job_table *table, msec_t at)
{
    const int64_t span = arrival_span(at);
    struct arrivals *recent = &table->recent[(uint64_t)span % ARRIVALS_SPANS];

    if (recent->span < span)
        *recent = (struct arrivals){ .span = span };
    recent->jobs += recent->span == span;
}

static void uncount_arrival(struct job_table *table, msec_t at)
{
    const int64_t span = arrival_span(at);
    struct arrivals *recent = &table->recent[(uint64_t)span % ARRIVALS_SPANS];

    recent->jobs -= recent->span == span;
}

uint32_t view_arrivals(const struct view *view)
{
    const int64_t now = arrival_span(view->now);
    uint32_t jobs = 0;

    for (uint32_t i = 0; i < ARRIVALS_SPANS; i++) {
        const struct arrivals *recent = &view->job.recent[i];

        jobs += recent->span > now - ARRIVALS_SPANS ? recent->jobs : 0;
    }
    return jobs;
}

static uint32_t apart_of(const struct job_spec *spec, uint32_t job)
{
    assert(job < APART_GROUPS);
    if (spec->keeps != 0)
        return spec->keeps;
    if (spec->apart != 0)
        return apart_group(spec->apart);
    return spec->spread ? job : ROW_NONE;
}

uint32_t view_add_job(struct view *view, const struct job_spec *spec)
{
    assert(spec->task_count > 0);
    assert(spec->estimate_ms >= 0);
    assert(spec->part_count <= JOB_PARTS_MAX);

    struct job_table *table = &view->job;
    const uint32_t job = job_row(table);

    table->id[job] = spec->id;
    table->kin[job] = spec->kin;
    table->arrived_at[job] = spec->arrived_at;
    table->more_until[job] = spec->more_until;
    table->name[job] = spec->name;
    table->user[job] = spec->user;
    table->priority[job] = spec->priority;
    table->burst_after[job] = spec->burst.after_ms;
    table->waiting_hour[job] = spec->burst.waiting_hour;
    table->caps[job] = spec->caps;
    table->short_ppb[job] = spec->gang ? 0 : spec->short_ppb;
    table->promised += table->short_ppb[job] > 0;
    table->unknown[job] = spec->unknown;
    table->unknowns += spec->unknown;
    table->first_task[job] = ROW_NONE;
    table->task_count[job] = spec->task_count;
    table->tasks_left[job] = spec->task_count;
    table->tasks_bound[job] = 0;
    table->tasks_running[job] = 0;
    table->gang[job] = spec->gang;
    table->fixed[job] = spec->fixed;
    table->movables += !spec->fixed;
    table->apart[job] = apart_of(spec, job);
    table->yields[job] = spec->yields;
    table->mixed[job] = false;
    table->ruled_next[job] = ROW_NONE;
    table->ruled_prev[job] = ROW_NONE;
    table->used[job] = true;
    table->living++;
    count_arrival(table, spec->arrived_at);
    map_put(&view->job_by_id, spec->id, job);
    add_tasks(view, spec, job);
    view_set_rules(view, job, &spec->rules);
    return job;
}

void view_grow_job(struct view *view, uint32_t job, uint64_t first_task_id, uint32_t count)
{
    const uint32_t like = view->job.first_task[job];
    const struct job_spec spec = {
        .first_task_id = first_task_id,
        .estimate_ms = view->task.estimate_ms[like],
    };

    for (uint32_t i = 0; i < count; i++)
        add_task(view, &spec, view->task.shape[like], job, i);
    view->job.task_count[job] += count;
    view->job.tasks_left[job] += count;
}

void view_set_estimate(struct view *view, uint32_t job, msec_t estimate_ms, bool unknown)
{
    assert(estimate_ms >= 0);

    view->job.unknowns += unknown;
    view->job.unknowns -= view->job.unknown[job];
    view->job.unknown[job] = unknown;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        view->task.estimate_ms[task] = estimate_ms;
        if (view->task.instance[task] != ROW_NONE)
            log_change(view, view->task.instance[task]);
    }
}

void view_mark_running(struct view *view, uint32_t task, msec_t at)
{
    view->task.launches[task]++;
    view_mark_resumed(view, task, at);
}

void view_mark_resumed(struct view *view, uint32_t task, msec_t at)
{
    assert(view->task.state[task] == TASK_BOUND);

    view->task.state[task] = TASK_RUNNING;
    view->task.launched_at[task] = at;
    view->job.tasks_running[view->task.job[task]]++;
    log_change(view, view->task.instance[task]);
}

void view_mark_stopped(struct view *view, uint32_t task, msec_t at)
{
    assert(view->task.state[task] == TASK_RUNNING);

    const msec_t since = view->task.launched_at[task];

    view->task.state[task] = TASK_BOUND;
    view->task.executed_ms[task] += at > since ? at - since : 0;
    view->task.launched_at[task] = -1;
    view->task.rate_ppm[task] = RATE_NONE;
    view->job.tasks_running[view->task.job[task]]--;
    log_change(view, view->task.instance[task]);
}

/* It may be bound already to where it goes next. */
static void log_bound(struct view *view, uint32_t task)
{
    if (view->task.instance[task] != ROW_NONE)
        log_change(view, view->task.instance[task]);
}

struct view_charge view_charge_now(const struct view *view, uint32_t instance, msec_t now)
{
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
    const msec_t began = view->instance.billed_from[instance];
    const msec_t from = began >= 0 && began < now ? began : now;

    return (struct view_charge){
        .from = from,
        .to = from + billing_paid_span(&offer->billing, now + 1 - from),
        .cost = billing_charge(&offer->billing, &offer->price, from, now + 1),
    };
}

void view_note_saved(struct view *view, uint32_t task)
{
    view->task.saved_ms[task] = view->task.executed_ms[task] - view->task.lost_ms[task];
    log_bound(view, task);
}

void view_note_lost(struct view *view, uint32_t task)
{
    const msec_t every = view->shapes->rows[view->task.shape[task]].delays.checkpoint_ms;
    const msec_t done =
        view->task.executed_ms[task] - view->task.lost_ms[task] - view->task.saved_ms[task];

    if (every > 0)
        view->task.saved_ms[task] += done / every * every;
    view->task.lost_ms[task] = view->task.executed_ms[task] - view->task.saved_ms[task];
    log_bound(view, task);
}

void view_add_executed(struct view *view, uint32_t task, msec_t ms)
{
    view->task.executed_ms[task] += ms;
    log_bound(view, task);
}

static void bind(struct view *view, uint32_t task, uint32_t instance)
{
    assert(view->task.state[task] == TASK_WAITING || view->task.state[task] == TASK_BOUND);

    detach(view, task);
    instance_append(view, task, instance);
    view->instance.owner[instance] = view->job.user[view->task.job[task]];
    view->task.state[task] = TASK_BOUND;
    view->task.bound_at[task] = view->now;
    view->task.rate_ppm[task] = RATE_NONE;
}

void view_bind(struct view *view, uint32_t task, uint32_t instance)
{
    assert(view_is_open(view, instance));
    assert(view_demand(view, task, instance) != NULL);
    bind(view, task, instance);
    assert(view->instance.crowded[instance] || !is_overfull(view, instance));
}

void view_unbind(struct view *view, uint32_t task)
{
    assert(view->task.state[task] == TASK_BOUND);
    instance_detach(view, task);
    waiting_append(view, task);
}

void view_set_variant(struct view *view, uint32_t task, uint32_t variant)
{
    const uint32_t instance = view->task.instance[task];

    assert(view->shapes->rows[variant].variant_of ==
           view->shapes->rows[view->task.shape[task]].variant_of);
    if (view->task.shape[task] == variant)
        return;
    assert(instance == ROW_NONE || (view_demand(view, task, instance) != NULL &&
                                    view_shape_demand(view, variant, instance) != NULL));
    view->task.shape[task] = variant;
    if (instance != ROW_NONE)
        log_change(view, instance);
}

bool view_set_apart(struct view *view, uint32_t job, const struct job_spec *spec)
{
    const uint32_t apart = apart_of(spec, job);

    if (view->job.apart[job] == apart)
        return false;
    view->job.apart[job] = apart;
    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        if (instance == ROW_NONE)
            continue;
        view->instance.crowded[instance] = is_crowded(view, instance);
        log_change(view, instance);
    }
    return true;
}

void view_bind_found(struct view *view, uint32_t task, uint32_t instance)
{
    const uint32_t base = view->shapes->rows[view->task.shape[task]].variant_of;
    const bool is_ruled = view->job.market[view->task.job[task]] != MARKET_RULE_ANY;
    const uint32_t variant =
        base != SHAPE_NONE
            ? shape_variant_at(view->shapes, base, view->instance.offer[instance], is_ruled)
            : SHAPE_NONE;

    if (variant != SHAPE_NONE && variant != view->task.shape[task]) {
        if (view->task.instance[task] != ROW_NONE)
            view_unbind(view, task);
        view->task.shape[task] = variant;
    }
    bind(view, task, instance);
    view->instance.crowded[instance] = is_crowded(view, instance);
}

static void unlink_sibling(struct view *view, uint32_t task)
{
    const uint32_t next = view->task.sibling[task];
    const uint32_t prev = view->task.sibling_prev[task];

    if (prev != ROW_NONE)
        view->task.sibling[prev] = next;
    else
        view->job.first_task[view->task.job[task]] = next;
    if (next != ROW_NONE)
        view->task.sibling_prev[next] = prev;
}

bool view_finish_task(struct view *view, uint32_t task)
{
    struct task_table *table = &view->task;
    const uint32_t job = table->job[task];

    if (table->state[task] == TASK_RUNNING)
        view->job.tasks_running[job]--;
    if (table->instance[task] != ROW_NONE)
        view->instance.has_shrunk[table->instance[task]] = true;
    detach(view, task);
    unlink_sibling(view, task);
    (void)map_remove(&view->task_by_id, table->id[task]);
    table->state[task] = TASK_FREE;
    table->instance[task] = ROW_NONE;
    table->next[task] = table->free_row;
    table->free_row = task;
    table->living--;

    if (--view->job.tasks_left[job] > 0)
        return false;
    (void)map_remove(&view->job_by_id, view->job.id[job]);
    unlink_ruled(&view->job, job);
    view->job.used[job] = false;
    view->job.first_task[job] = view->job.free_row;
    view->job.free_row = job;
    view->job.living--;
    uncount_arrival(&view->job, view->job.arrived_at[job]);
    view->job.promised -= view->job.short_ppb[job] > 0;
    view->job.unknowns -= view->job.unknown[job];
    view->job.movables -= !view->job.fixed[job];
    return true;
}

/*
 * Instances.
 */

uint32_t view_add_instance(struct view *view, uint64_t id, uint32_t offer)
{
    assert(offer < view->catalogue->offer_count);

    struct instance_table *table = &view->instance;
    const uint32_t row = instance_row(table);

    table->id[row] = id;
    table->offer[row] = offer;
    table->first_task[row] = ROW_NONE;
    table->last_task[row] = ROW_NONE;
    table->task_count[row] = 0;
    table->used[row] = (struct res){ 0 };
    table->rented_at[row] = view->now;
    table->ready_expected[row] = view->now;
    table->empty_since[row] = view->now;
    table->owner[row] = NAME_NONE;
    table->billed_from[row] = -1;
    table->deadline[row] = MSEC_NEVER;
    table->under_half_since[row] = view->now;
    table->steady_since[row] = view->now;
    table->has_shrunk[row] = false;
    table->state[row] = INSTANCE_REQUESTED;
    table->capacity[row] = catalogue_type_of(view->catalogue, offer)->capacity;
    table->crowded[row] = false;
    table->next[row] = ROW_NONE;
    table->prev[row] = table->last;
    if (table->last != ROW_NONE)
        table->next[table->last] = row;
    else
        table->first = row;
    table->last = row;
    table->living++;
    table->requested++;
    empty_append(table, row);
    map_put(&view->instance_by_id, id, row);
    log_change(view, row);
    return row;
}

void view_set_capacity(struct view *view, uint32_t instance, const struct res *capacity)
{
    struct instance_table *table = &view->instance;

    table->capacity[instance] = *capacity;
    table->used[instance] = (struct res){ 0 };
    TASK_EACH(task, view, table->first_task[instance])
    {
        res_add(&table->used[instance], view_taken(view, task, instance));
    }
    table->crowded[instance] = is_crowded(view, instance);
    note_use(view, instance);
    log_change(view, instance);
}

void view_remove_instance(struct view *view, uint32_t instance)
{
    struct instance_table *table = &view->instance;
    const uint32_t next = table->next[instance];
    const uint32_t prev = table->prev[instance];

    assert(table->state[instance] != INSTANCE_FREE);
    assert(table->task_count[instance] == 0);

    if (prev != ROW_NONE)
        table->next[prev] = next;
    else
        table->first = next;
    if (next != ROW_NONE)
        table->prev[next] = prev;
    else
        table->last = prev;
    empty_remove(table, instance);
    (void)map_remove(&view->instance_by_id, table->id[instance]);
    table->requested -= table->state[instance] == INSTANCE_REQUESTED;
    table->state[instance] = INSTANCE_FREE;
    table->next[instance] = table->free_row;
    table->free_row = instance;
    table->living--;
    log_change(view, instance);
}

void view_set_state(struct view *view, uint32_t instance, enum instance_state state)
{
    view->instance.requested += state == INSTANCE_REQUESTED;
    view->instance.requested -= view->instance.state[instance] == INSTANCE_REQUESTED;
    view->instance.state[instance] = (uint8_t)state;
    log_change(view, instance);
}

void view_set_billed_from(struct view *view, uint32_t instance, msec_t at)
{
    view->instance.billed_from[instance] = at;
    log_change(view, instance);
}

void view_set_ready_expected(struct view *view, uint32_t instance, msec_t at)
{
    view->instance.ready_expected[instance] = at;
    log_change(view, instance);
}

void view_set_deadline(struct view *view, uint32_t instance, msec_t at)
{
    view->instance.deadline[instance] = at;
    log_change(view, instance);
}

/*
 * Questions.
 */

struct res view_free(const struct view *view, uint32_t instance)
{
    return res_minus(view_capacity(view, instance), &view->instance.used[instance]);
}

const struct res *view_taken(const struct view *view, uint32_t task, uint32_t instance)
{
    static const struct res nothing = { 0 };
    const struct res *demand = view_demand(view, task, instance);

    return demand != NULL ? demand : &nothing;
}

bool view_is_open(const struct view *view, uint32_t instance)
{
    const enum instance_state state = view->instance.state[instance];

    return state == INSTANCE_REQUESTED || state == INSTANCE_BOOTING || state == INSTANCE_READY;
}

msec_t view_executed(const struct view *view, uint32_t task)
{
    const msec_t since = view->task.launched_at[task];

    return view->task.executed_ms[task] + (since >= 0 ? view->now - since : 0);
}

bool view_job_is_settled(const struct view *view, uint32_t job)
{
    return view->job.tasks_running[job] == view->job.tasks_left[job];
}

bool view_job_may_move(const struct view *view, uint32_t job)
{
    return !view->job.fixed[job] && view_job_is_settled(view, job);
}

bool view_job_is_on(const struct view *view, uint32_t job, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.job[task] == job)
            return true;
    }
    return false;
}

bool view_apart_is_on(const struct view *view, uint32_t apart, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view_aparts_meet(view, view->job.apart[view->task.job[task]], apart))
            return true;
    }
    return false;
}

/* Invariant 5. */
static void check_times(const struct view *view)
{
    for (uint32_t job = 0; job < view->job.count; job++)
        assert(!view->job.used[job] || view->job.arrived_at[job] <= view->now);
    for (uint32_t task = 0; task < view->task.count; task++) {
        if (view->task.state[task] == TASK_FREE)
            continue;
        assert(view->task.launched_at[task] <= view->now);
        assert(view->task.bound_at[task] <= view->now);
        assert(view->task.executed_ms[task] >= 0);
    }
    INSTANCE_EACH(instance, view)
    {
        assert(view->instance.rented_at[instance] <= view->now);
        assert(view->instance.billed_from[instance] <= view->now);
    }
}

void view_check(const struct view *view)
{
    uint32_t tasks = 0;
    uint32_t instances = 0;
    uint32_t empty = 0;
    uint32_t requested = 0;
    uint32_t movables = 0;
    uint32_t recent = 0;
    uint64_t bound = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        assert(view->task.state[task] == TASK_WAITING);
        assert(view->task.instance[task] == ROW_NONE);
        tasks++;
    }
    assert(tasks == view->task.waiting_count);
    INSTANCE_EACH(instance, view)
    {
        struct res sum = { 0 };
        uint32_t here = 0;

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            assert(view->task.instance[task] == instance);
            assert(view->task.state[task] == TASK_BOUND || view->task.state[task] == TASK_RUNNING);
            assert(view->instance.crowded[instance] || is_apart(view, task));
            res_add(&sum, view_taken(view, task, instance));
            here++;
        }
        assert(here == view->instance.task_count[instance]);
        empty += here == 0;
        assert(memcmp(&sum, &view->instance.used[instance], sizeof(sum)) == 0);
        assert(view->instance.crowded[instance] || res_fits(&sum, view_capacity(view, instance)));
        tasks += here;
        instances++;
        requested += view->instance.state[instance] == INSTANCE_REQUESTED;
    }
    for (uint32_t job = 0; job < view->job.count; job++) {
        bound += view->job.used[job] ? view->job.tasks_bound[job] : 0;
        movables += view->job.used[job] && !view->job.fixed[job];
        recent += view->job.used[job] && arrival_span(view->job.arrived_at[job]) >
                                             arrival_span(view->now) - ARRIVALS_SPANS;
    }
    assert(bound + view->task.waiting_count == tasks);
    assert(tasks == view->task.living);
    assert(instances == view->instance.living);
    assert(requested == view->instance.requested);
    assert(movables == view->job.movables);
    assert(recent == view_arrivals(view));
    EMPTY_EACH(instance, view)
    {
        assert(view->instance.task_count[instance] == 0);
        empty--;
    }
    assert(empty == 0);
    check_times(view);
}
