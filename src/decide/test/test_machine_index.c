/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_machine_index [CHANGES [FIRST_SEED]] - random changes to the indexes, held against twins that look at
 * everything: a sorted array beside each room_order, and the view itself beside a machine_index. So many changes of
 * each in all (400,000 if nothing is said), from that seed on.
 */
#include "decide/machine_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "decide/lease.h"
#include "decide/test/yard.h"

static uint64_t changes_wanted = 400000;
static uint64_t first_seed = 1;
static uint64_t changes_made;

/*
 * The twin of a room_order: entries in order.
 */

enum { ENTRIES_MAX = 2000, ORDER_STEPS = 20000 };

struct order_twin {
    struct room_entry entries[ENTRIES_MAX];
    uint32_t count;
};

static uint32_t twin_index(const struct order_twin *twin, struct room_place at)
{
    uint32_t i = 0;
    uint32_t high = twin->count;

    while (i < high) {
        const uint32_t middle = (i + high) / 2;

        if (room_place_before(twin->entries[middle].at, at))
            i = middle + 1;
        else
            high = middle;
    }
    return i;
}

static struct room_entry draw_entry(struct rng *rng, uint64_t span)
{
    struct room_entry entry = {
        .at = { (msec_t)rng_below(rng, span) - (msec_t)(span / 2), rng_below(rng, 8) },
        .row = (uint32_t)rng_below(rng, 100),
    };

    for (int kind = 0; kind < RES_KINDS; kind++)
        entry.free.amount[kind] = (int64_t)rng_below(rng, kind == RES_CPU ? 9 : 40) - 1;
    return entry;
}

static bool has_even_row(const void *context, const struct room_entry *entry)
{
    (void)context;
    return entry->row % 2 == 0;
}

/* What the twin would find, or NULL. */
static const struct room_entry *twin_search(const struct order_twin *twin,
                                            const struct room_query *query)
{
    const struct room_entry *found = NULL;
    int64_t above = query->sum_above;

    for (uint32_t i = 0; i < twin->count; i++) {
        const struct room_entry *entry = &twin->entries[i];

        if (room_place_before(entry->at, query->from) || !room_place_before(entry->at, query->to) ||
            !res_fits(&query->least, &entry->free) || !has_even_row(NULL, entry))
            continue;
        if (query->walk == ROOM_MOST && room_sum(&entry->free) <= above)
            continue;
        found = entry;
        above = room_sum(&entry->free);
        if (query->walk == ROOM_FIRST)
            return found;
    }
    return found;
}

static void check_search(const struct room_order *order, const struct order_twin *twin,
                         struct rng *rng, uint64_t span, uint64_t seed)
{
    const struct room_query query = {
        .walk = (enum room_walk)rng_below(rng, 3),
        .from = draw_entry(rng, span).at,
        .to = draw_entry(rng, span).at,
        .least = draw_entry(rng, span).free,
        .sum_above = rng_below(rng, 4) == 0 ? (int64_t)rng_below(rng, 30) : INT64_MIN,
        .will_do = has_even_row,
    };
    const struct room_entry *mine = room_order_search(order, &query);
    const struct room_entry *other = twin_search(twin, &query);

    if ((mine == NULL) != (other == NULL) ||
        (mine != NULL && memcmp(&mine->at, &other->at, sizeof(mine->at)) != 0))
        fail_msg("seed %" PRIu64 ": a search finds something else", seed);
}

static void check_next(const struct room_order *order, const struct order_twin *twin,
                       struct room_place from, uint64_t seed)
{
    const struct room_entry *mine = room_order_next(order, from);
    const uint32_t i = twin_index(twin, from);

    if ((mine == NULL) != (i == twin->count) ||
        (mine != NULL && memcmp(&mine->at, &twin->entries[i].at, sizeof(mine->at)) != 0))
        fail_msg("seed %" PRIu64 ": another entry is next", seed);
}

static void check_whole_order(const struct room_order *order, const struct order_twin *twin,
                              uint64_t seed)
{
    struct room_place at = { INT64_MIN, 0 };

    if (order->count != twin->count)
        fail_msg("seed %" PRIu64 ": there are %u entries, not %u", seed, order->count, twin->count);
    for (uint32_t i = 0; i < twin->count; i++) {
        const struct room_entry *entry = room_order_next(order, at);

        if (entry == NULL || memcmp(&entry->at, &twin->entries[i].at, sizeof(at)) != 0 ||
            memcmp(&entry->free, &twin->entries[i].free, sizeof(entry->free)) != 0 ||
            entry->row != twin->entries[i].row)
            fail_msg("seed %" PRIu64 ": entry %u is another one", seed, i);
        at = (struct room_place){ entry->at.key, entry->at.tie + 1 };
    }
}

static void change_order(struct room_order *order, struct order_twin *twin, struct rng *rng,
                         uint64_t span, uint32_t aim)
{
    const struct room_entry entry = draw_entry(rng, span);
    const uint32_t i = twin_index(twin, entry.at);
    const bool is_there = i < twin->count && memcmp(&twin->entries[i].at, &entry.at, 16) == 0;
    const uint32_t any = twin->count > 0 ? (uint32_t)rng_below(rng, twin->count) : 0;

    if (twin->count > 0 && rng_below(rng, 4) == 0) {
        twin->entries[any].free = entry.free;
        room_order_set_free(order, twin->entries[any].at, &entry.free);
    } else if (!is_there && twin->count < ENTRIES_MAX &&
               rng_below(rng, (uint64_t)2 * aim) >= twin->count) {
        memmove(&twin->entries[i + 1], &twin->entries[i], (twin->count - i) * sizeof(entry));
        twin->entries[i] = entry;
        twin->count++;
        room_order_insert(order, &entry);
    } else if (twin->count > 0) {
        room_order_remove(order, twin->entries[any].at);
        twin->count--;
        memmove(&twin->entries[any], &twin->entries[any + 1], (twin->count - any) * sizeof(entry));
    }
}

/* The number of entries goes up and down, from a handful to many; keys are crowded or far apart. */
static void play_order(uint64_t seed)
{
    static struct order_twin twin;
    struct room_order order;
    struct rng rng;

    rng_init(&rng, seed, 0);
    room_order_init(&order, true, NULL);
    twin.count = 0;

    const uint64_t span = (uint64_t)10 << rng_below(&rng, 40);
    uint32_t aim = 10;

    for (uint32_t step = 0; step < ORDER_STEPS; step++) {
        if (step % 1000 == 0)
            aim = 1 + (uint32_t)rng_below(&rng, (uint64_t)8 << rng_below(&rng, 8));
        change_order(&order, &twin, &rng, span, aim);
        if (step % 8 == 0)
            check_next(&order, &twin, draw_entry(&rng, span).at, seed);
        if (step % 64 == 0)
            check_search(&order, &twin, &rng, span, seed);
        if (step % 2048 == 0)
            check_whole_order(&order, &twin, seed);
    }
    check_whole_order(&order, &twin, seed);
    room_order_done(&order);
    changes_made += ORDER_STEPS;
}

/* Play until there were enough changes. */
static void play_on(void (*play)(uint64_t seed))
{
    uint64_t seed = first_seed;

    changes_made = 0;
    while (changes_made < changes_wanted)
        play(seed++);
    (void)fprintf(stderr, "%" PRIu64 " changes, seeds %" PRIu64 " to %" PRIu64 "\n", changes_made,
                  first_seed, seed - 1);
}

TEST(an_order_agrees_with_a_sorted_array)
{
    play_on(play_order);
}

/*
 * The twin of a machine_index: the view.
 */

enum { MACHINES_MAX = 60, TASKS_MAX = 300, VIEW_STEPS = 20000, SHAPES = 6, OFFERS = 4 };

struct scene {
    struct yard yard;
    struct rng rng;
    uint64_t seed;
    struct machine_index index;
};

static void draw_scene(struct scene *scene, uint64_t seed)
{
    static const msec_t steps[] = { 1, 1000, 60000, 3600000 };
    struct yard *yard = &scene->yard;

    scene->seed = seed;
    rng_init(&scene->rng, seed, 1);
    yard_init(yard);
    for (uint32_t i = 0; i < OFFERS; i++) {
        const uint32_t offer =
            yard_type(yard, i % 2 == 0 ? "a" : "b", 1 + (int64_t)rng_below(&scene->rng, 16),
                      1 + (int64_t)rng_below(&scene->rng, 64), 0, 1.0);
        const msec_t step = steps[rng_below(&scene->rng, 4)];

        yard->catalogue.offers[offer].billing = (struct billing_rule){
            .step_ms = step,
            .minimum_ms = (msec_t)rng_below(&scene->rng, 3) * (msec_t)rng_below(&scene->rng, 90000),
        };
        yard->catalogue.types[yard->catalogue.offers[offer].type].setup_ms =
            (msec_t)rng_below(&scene->rng, 100000);
    }
    for (uint32_t i = 0; i < SHAPES; i++) {
        const struct shape_demand demand = { FAMILY_NONE,
                                             { { (int64_t)rng_below(&scene->rng, 3000),
                                                 (int64_t)rng_below(&scene->rng, 9000), 0 } } };
        char name[16];
        const struct shape_spec spec = {
            .name = name, .workload = name, .demands = &demand, .demand_count = 1
        };

        (void)snprintf(name, sizeof(name), "s%u", i);
        (void)shapes_add(&yard->shapes, &spec);
    }
    yard_open(yard);
    yard->view.now = 1000000;
    machine_index_init(&scene->index, RUNTIME_PAID, true, NULL);
}

static uint32_t draw_task(struct scene *scene)
{
    const struct task_table *table = &scene->yard.view.task;
    const uint32_t row = table->count > 0 ? (uint32_t)rng_below(&scene->rng, table->count) : 0;

    return row < table->count && table->state[row] != TASK_FREE ? row : ROW_NONE;
}

static uint32_t draw_machine(struct scene *scene)
{
    const struct instance_table *table = &scene->yard.view.instance;
    const uint32_t row = table->count > 0 ? (uint32_t)rng_below(&scene->rng, table->count) : 0;

    return row < table->count && table->state[row] != INSTANCE_FREE ? row : ROW_NONE;
}

static void step_add_job(struct scene *scene)
{
    struct yard *yard = &scene->yard;
    struct rng *rng = &scene->rng;
    const uint64_t dice = rng_below(rng, 20);
    const struct job_spec spec = {
        .id = yard->next_id,
        .first_task_id = yard->next_id * 100,
        .shape = (uint32_t)rng_below(rng, SHAPES),
        .task_count = 1 + (uint32_t)rng_below(rng, 3),
        .fixed = rng_below(rng, 8) == 0,
        .arrived_at = yard->view.now,
        .estimate_ms = dice == 0   ? MSEC_NEVER
                       : dice == 1 ? 0
                       : dice == 2 ? (msec_t)40000000000 /* beyond the horizon */
                                   : (msec_t)rng_below(rng, (uint64_t)1000 << rng_below(rng, 14)),
    };

    yard->next_id++;
    if (yard->view.task.living + 4 < TASKS_MAX)
        (void)view_add_job(&yard->view, &spec);
}

static void step_task(struct scene *scene, uint32_t task)
{
    struct view *view = &scene->yard.view;
    const uint32_t machine = draw_machine(scene);
    const uint64_t dice = rng_below(&scene->rng, 12);

    if (view->task.state[task] == TASK_RUNNING) {
        if (dice < 3)
            view_mark_stopped(view, task, view->now);
        else if (dice < 6)
            (void)view_finish_task(view, task);
        return;
    }
    if (view->task.state[task] == TASK_BOUND && dice < 6) {
        view_mark_running(view, task, view->now - (msec_t)rng_below(&scene->rng, 3) * 1000);
    } else if (view->task.state[task] == TASK_BOUND && dice < 7) {
        view_unbind(view, task);
    } else if (machine != ROW_NONE && dice < 11) {
        const struct res *demand = view_demand(view, task, machine);
        const struct res free = view_free(view, machine);

        if (view_is_open(view, machine) && demand != NULL && res_fits(demand, &free))
            view_bind(view, task, machine);
        else if (dice == 9)
            view_bind_found(view, task, machine);
    } else if (dice == 11) {
        (void)view_finish_task(view, task);
    }
}

static void step_machine(struct scene *scene, uint32_t machine)
{
    struct view *view = &scene->yard.view;
    const uint64_t dice = rng_below(&scene->rng, 10);
    struct res capacity = *view_capacity(view, machine);

    if (dice < 4) {
        view_set_state(view, machine,
                       INSTANCE_REQUESTED + (enum instance_state)rng_below(&scene->rng, 5));
    } else if (dice < 6) {
        view_set_billed_from(view, machine,
                             rng_below(&scene->rng, 5) == 0
                                 ? -1
                                 : view->now - (msec_t)rng_below(&scene->rng, 100000));
    } else if (dice < 8) {
        view_set_ready_expected(view, machine,
                                view->now + (msec_t)rng_below(&scene->rng, 300000) - 100000);
    } else if (dice == 8) {
        capacity.amount[RES_CPU] = 1000 + (int64_t)rng_below(&scene->rng, 16000);
        view_set_capacity(view, machine, &capacity);
    } else if (view->instance.task_count[machine] == 0) {
        view_remove_instance(view, machine);
    }
}

static void random_step(struct scene *scene)
{
    struct view *view = &scene->yard.view;
    const uint64_t dice = rng_below(&scene->rng, 20);
    const uint32_t task = draw_task(scene);
    const uint32_t machine = draw_machine(scene);

    if (dice < 2)
        step_add_job(scene);
    else if (dice < 3 && view->instance.living < MACHINES_MAX)
        (void)view_add_instance(view, scene->yard.next_id++,
                                (uint32_t)rng_below(&scene->rng, OFFERS));
    else if (dice < 15 && task != ROW_NONE)
        step_task(scene, task);
    else if (dice < 18 && machine != ROW_NONE)
        step_machine(scene, machine);
    else
        view->now += (msec_t)rng_below(&scene->rng, (uint64_t)2 << rng_below(&scene->rng, 16));
}

/* How long the machine lasts, when its first task ends, and what else is asked of it, by all of its tasks. */
static void check_machine(const struct scene *scene, uint32_t row)
{
    const struct view *view = &scene->yard.view;
    const struct machine *machine = &scene->index.machines[row];
    const struct res free = view_free(view, row);
    msec_t lasts = lease_left(view, row);
    msec_t first = MSEC_NEVER;
    msec_t known_first = MSEC_NEVER;
    bool has_fixed = false;

    TASK_EACH(task, view, view->instance.first_task[row])
    {
        const msec_t runtime = runtime_of_task(view, task, RUNTIME_PAID);

        lasts = runtime > lasts ? runtime : lasts;
        first = runtime < first ? runtime : first;
        has_fixed = has_fixed || view->job.fixed[view->task.job[task]];
    }
    for (enum machine_line line = 0; line < LINES; line++) {
        const msec_t at = machine->first_end[line];

        if (at != MSEC_NEVER && at + line_shift(line, view->now) < known_first)
            known_first = at + line_shift(line, view->now);
    }

    const bool may_move = view->instance.task_count[row] > 0 && !has_fixed;

    if (machine_lasts(&scene->index, row) != lasts)
        fail_msg("seed %" PRIu64 ": a machine lasts for another time", scene->seed);
    if (known_first != first)
        fail_msg("seed %" PRIu64 ": the first end is another one", scene->seed);
    if (memcmp(&machine->free, &free, sizeof(free)) != 0)
        fail_msg("seed %" PRIu64 ": other room is free", scene->seed);
    if (machine->is_listed != may_move ||
        machine->under_since != (may_move ? view->instance.under_half_since[row] : MSEC_NEVER))
        fail_msg("seed %" PRIu64 ": it is under-used or not", scene->seed);
}

/* Every entry of the order is what its machine says, and there are as many as should be. */
static void check_entries(const struct scene *scene, const struct room_order *order,
                          uint32_t wanted, int line, bool is_busy)
{
    struct room_place at = { INT64_MIN, 0 };
    const struct room_entry *entry;
    uint32_t count = 0;

    while ((entry = room_order_next(order, at)) != NULL) {
        const struct machine *machine = &scene->index.machines[entry->row];
        const msec_t key = is_busy    ? machine->busy.key
                           : line < 0 ? machine->under_since
                                      : machine->first_end[line];

        if (!machine->is_open || entry->at.key != key || entry->at.tie != entry->row ||
            (is_busy && memcmp(&entry->free, &machine->free, sizeof(machine->free)) != 0))
            fail_msg("seed %" PRIu64 ": an order has a machine where it is not", scene->seed);
        at = (struct room_place){ entry->at.key, entry->at.tie + 1 };
        count++;
    }
    if (count != wanted)
        fail_msg("seed %" PRIu64 ": an order has %u machines, not %u", scene->seed, count, wanted);
}

static void check_lists(const struct scene *scene)
{
    const struct machine_index *index = &scene->index;

    for (uint32_t offer = 0; offer < index->offer_count; offer++) {
        uint32_t listed = 0;
        uint32_t wanted = 0;

        for (uint32_t i = index->of_offer[offer]; i != ROW_NONE; i = index->machines[i].next)
            listed += scene->yard.view.instance.offer[i] == offer && index->machines[i].is_listed;
        for (uint32_t i = 0; i < index->count; i++)
            wanted += index->machines[i].is_listed && index->machines[i].offer == offer;
        if (listed != wanted || listed != index->offer_used[offer])
            fail_msg("seed %" PRIu64 ": the list of an offer is wrong", scene->seed);
    }
}

static void check_index(struct scene *scene)
{
    const struct view *view = &scene->yard.view;
    const struct machine_index *index = &scene->index;
    uint32_t busy[LINES] = { 0 };
    uint32_t ends[LINES] = { 0 };
    uint32_t under = 0;

    for (uint32_t row = 0; row < view->instance.count; row++) {
        const struct machine *machine = &index->machines[row];

        if (machine->is_open != view_is_open(view, row))
            fail_msg("seed %" PRIu64 ": a machine is open or not", scene->seed);
        if (!machine->is_open)
            continue;
        check_machine(scene, row);
        busy[machine->line]++;
        for (enum machine_line line = 0; line < LINES; line++)
            ends[line] += machine->first_end[line] != MSEC_NEVER;
        under += machine->under_since != MSEC_NEVER;
    }
    for (enum machine_line line = 0; line < LINES; line++) {
        check_entries(scene, &index->busy[line], busy[line], (int)line, true);
        check_entries(scene, &index->ends[line], ends[line], (int)line, false);
    }
    check_entries(scene, &index->under, under, -1, false);
    check_lists(scene);
}

/* The index is brought up to date now and then, and looked at as a whole more seldom. */
static void play_view(uint64_t seed)
{
    static struct scene scene;

    draw_scene(&scene, seed);
    for (uint32_t step = 0; step < VIEW_STEPS; step++) {
        random_step(&scene);
        if (rng_below(&scene.rng, 4) == 0)
            machine_index_absorb(&scene.index, &scene.yard.view);
        if (step % 256 == 0) {
            machine_index_absorb(&scene.index, &scene.yard.view);
            check_index(&scene);
        }
    }
    machine_index_absorb(&scene.index, &scene.yard.view);
    machine_index_check(&scene.index);
    machine_index_done(&scene.index);
    changes_made += view_changes_end(&scene.yard.view); /* those that came to something */
    yard_done(&scene.yard);
}

TEST(an_index_agrees_with_a_look_at_every_task)
{
    play_on(play_view);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        RUN(an_order_agrees_with_a_sorted_array),
        RUN(an_index_agrees_with_a_look_at_every_task),
    };

    if (argc > 1)
        changes_wanted = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
