/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound by fillings against exhaustive search: in small markets every filling is listed, and the cheapest
 * mix is the best of all sets of as many fillings as there are shapes.
 */
#include "decide/filling_bound.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "decide/test/yard.h"

enum { ROUNDS = 1500, SHAPES_MAX = 3, FILLINGS_MAX = 4000, NODES = 1 << 24 };

/* One filling, with the progress of each shape. */
struct filling {
    double price;
    double progress[SHAPES_MAX];
};

struct scene {
    struct yard yard;
    struct bound_demand demands[SHAPES_MAX];
    double rates[SHAPES_MAX * SHAPES_MAX];
    double rate_error;
    struct filling *fillings;
    uint32_t count;
};

static struct filling_input question_of(const struct scene *scene, uint64_t node_most)
{
    return (struct filling_input){
        .catalogue = &scene->yard.catalogue,
        .shapes = &scene->yard.shapes,
        .price = scene->yard.view.offer_price,
        .demands = scene->demands,
        .demand_count = scene->yard.shapes.count,
        .pair_rate = scene->rates,
        .workloads = scene->yard.shapes.workloads.count,
        .rate_error = scene->rate_error,
        .node_most = node_most,
    };
}

static struct filling_bound solve(struct scene *scene, uint64_t node_most)
{
    const struct filling_input input = question_of(scene, node_most);
    struct filling_bound bound;

    filling_bound(&input, &scene->yard.arena, &bound);
    return bound;
}

/* One task of each shape for an hour, nobody disturbing anybody. */
static void ask_one_of_each(struct scene *scene)
{
    yard_open(&scene->yard);
    for (uint32_t i = 0; i < SHAPES_MAX; i++)
        scene->demands[i] = (struct bound_demand){ .shape = i, .amount = 1 };
    for (uint32_t i = 0; i < SHAPES_MAX * SHAPES_MAX; i++)
        scene->rates[i] = 1;
}

/*
 * Exhaustive search.
 */

static double rate_in(const struct scene *scene, const uint32_t *number, uint32_t which)
{
    const struct shapes *shapes = &scene->yard.shapes;
    const uint32_t workloads = shapes->workloads.count;
    double rate = 1;

    for (uint32_t other = 0; other < shapes->count; other++) {
        for (uint32_t n = other == which ? 1 : 0; n < number[other]; n++)
            rate *= scene->rates[shapes->rows[which].workload * workloads +
                                 shapes->rows[other].workload];
    }
    return rate + scene->rate_error;
}

static void list_filling(struct scene *scene, uint32_t offer, const uint32_t *number)
{
    struct filling *filling = &scene->fillings[scene->count++];

    assert_true(scene->count < FILLINGS_MAX);
    *filling = (struct filling){ .price = (double)scene->yard.view.offer_price[offer] };
    for (uint32_t i = 0; i < scene->yard.shapes.count; i++) {
        if (number[i] > 0)
            filling->progress[i] = number[i] * rate_in(scene, number, i);
    }
}

/* Every number of tasks of the shape, and of the next ones, that fits into what is free. */
static void list_fillings(struct scene *scene, uint32_t offer, uint32_t shape, uint32_t *number,
                          struct res free)
{
    const struct yard *yard = &scene->yard;

    if (shape == yard->shapes.count) {
        list_filling(scene, offer, number);
        return;
    }
    number[shape] = 0;
    list_fillings(scene, offer, shape + 1, number, free);
    if (!shape_fits_offer(&yard->shapes, shape, &yard->catalogue, offer))
        return;

    const struct res *demand = shape_demand_at(&yard->shapes, shape, &yard->catalogue, offer);

    while (res_fits(demand, &free)) {
        res_sub(&free, demand);
        number[shape]++;
        list_fillings(scene, offer, shape + 1, number, free);
    }
    number[shape] = 0;
}

static void list_all(struct scene *scene)
{
    uint32_t number[SHAPES_MAX] = { 0 };

    scene->fillings = ARENA_ARRAY(&scene->yard.arena, struct filling, FILLINGS_MAX);
    for (uint32_t offer = 0; offer < scene->yard.catalogue.offer_count; offer++)
        list_fillings(scene, offer, 0, number,
                      catalogue_type_of(&scene->yard.catalogue, offer)->capacity);
    for (uint32_t i = 0; i < scene->yard.shapes.count; i++) {
        struct filling *surplus = &scene->fillings[scene->count++];

        *surplus = (struct filling){ .price = 0 };
        surplus->progress[i] = -1;
    }
}

/* The determinant of three columns. */
static double volume(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) +
           c[0] * (a[1] * b[2] - a[2] * b[1]);
}

/* What a mix of the three costs that gives each shape exactly its amount; HUGE_VAL: there is none. */
static double cost_of_three(const struct filling *a, const struct filling *b,
                            const struct filling *c, const double *amount)
{
    const double whole = volume(a->progress, b->progress, c->progress);

    if (fabs(whole) < 1e-9)
        return HUGE_VAL;

    const double of_a = volume(amount, b->progress, c->progress) / whole;
    const double of_b = volume(a->progress, amount, c->progress) / whole;
    const double of_c = volume(a->progress, b->progress, amount) / whole;

    if (of_a < -1e-12 || of_b < -1e-12 || of_c < -1e-12)
        return HUGE_VAL;
    return of_a * a->price + of_b * b->price + of_c * c->price;
}

/* Whether the filling gives no more of anything than an earlier one, or a cheaper one, does. */
static bool is_beaten(const struct scene *scene, uint32_t which)
{
    const struct filling *filling = &scene->fillings[which];

    for (uint32_t i = 0; i < scene->count; i++) {
        const struct filling *other = &scene->fillings[i];
        bool beats = i != which && other->price <= filling->price;
        bool equals = other->price >= filling->price;

        for (uint32_t k = 0; k < SHAPES_MAX; k++) {
            beats &= other->progress[k] >= filling->progress[k];
            equals &= other->progress[k] <= filling->progress[k];
        }
        if (beats && (!equals || i < which))
            return true;
    }
    return false;
}

static double cheapest_mix(struct scene *scene)
{
    struct filling *fillings = ARENA_ARRAY(&scene->yard.arena, struct filling, scene->count);
    uint32_t count = 0;
    double amount[SHAPES_MAX];
    double best = HUGE_VAL;

    assert_int_equal(scene->yard.shapes.count, SHAPES_MAX);
    for (uint32_t i = 0; i < SHAPES_MAX; i++)
        amount[i] = scene->demands[i].amount;
    for (uint32_t i = 0; i < scene->count; i++) {
        if (scene->fillings[i].price <= 0 || !is_beaten(scene, i))
            fillings[count++] = scene->fillings[i];
    }
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < a; b++) {
            for (uint32_t c = 0; c < b; c++) {
                const double cost = cost_of_three(&fillings[a], &fillings[b], &fillings[c], amount);

                if (cost < best)
                    best = cost;
            }
        }
    }
    return best;
}

/*
 * Markets.
 */

static void draw_shape(struct scene *scene, struct rng *rng, uint32_t which)
{
    static const char *const workloads[] = { "u", "v", "w" };
    static const char *const offers[] = { "", "", "", "!spot", "a" };
    const struct shape_demand demands[] = {
        { FAMILY_NONE,
          { { 3000 + (int64_t)rng_below(rng, 10000), 1024 + (int64_t)rng_below(rng, 30000),
              (int64_t)rng_below(rng, 2) * 1000 } } },
        { 1,
          { { 3000 + (int64_t)rng_below(rng, 8000), 1024 + (int64_t)rng_below(rng, 30000), 0 } } },
    };
    char name[16];
    const struct shape_spec spec = {
        .name = name,
        .workload = workloads[rng_below(rng, 3)],
        .demands = demands,
        .demand_count = 1 + (uint32_t)rng_below(rng, 2),
        .offers = offers[rng_below(rng, 5)],
        .whole = rng_below(rng, 10) == 0,
    };

    (void)snprintf(name, sizeof(name), "s%u", which);
    (void)shapes_add(&scene->yard.shapes, &spec);
}

static void draw_market(struct scene *scene, uint64_t seed)
{
    static const char *const families[] = { "a", "b" };
    struct yard *yard = &scene->yard;
    struct rng rng;

    rng_init(&rng, seed, 0);
    *scene = (struct scene){ .rate_error = seed % 3 == 0 ? 0.01 : 0 };
    yard_init(yard);

    const uint32_t first = yard_type(yard, "a", 16, 64, 4, 1.0 + 3 * rng_unit(&rng));

    if (rng_below(&rng, 2) == 0)
        (void)yard_offer(yard, first, 0.5 + 2 * rng_unit(&rng));
    for (uint64_t i = 1 + rng_below(&rng, 3); i > 0; i--)
        (void)yard_type(yard, families[rng_below(&rng, 2)], 4 + (int64_t)rng_below(&rng, 12),
                        4 + (int64_t)rng_below(&rng, 60), (int64_t)rng_below(&rng, 3),
                        0.3 + 3 * rng_unit(&rng));
    for (uint32_t i = 0; i < SHAPES_MAX; i++)
        draw_shape(scene, &rng, i);
    shapes_bind(&yard->shapes, &yard->catalogue);
    yard_open(yard);
    for (uint32_t i = 0; i < SHAPES_MAX; i++)
        scene->demands[i] = (struct bound_demand){ .shape = i, .amount = 0.1 + 9 * rng_unit(&rng) };
    for (uint32_t i = 0; i < SHAPES_MAX * SHAPES_MAX; i++) {
        const uint64_t dice = rng_below(&rng, 5);

        scene->rates[i] = dice == 0 ? 1 : dice == 1 ? 0.9 : 0.5 + rng_unit(&rng) / 2;
        if (seed % 4 == 0)
            scene->rates[i] = 1; /* nobody disturbs anybody */
    }
    list_all(scene);
}

/* No filling is worth more than its price, and the bound is the worth of the work. */
static void check_duals(const struct scene *scene, const struct filling_bound *bound, uint64_t seed)
{
    double sum = 0;

    for (uint32_t f = 0; f < scene->count; f++) {
        const struct filling *filling = &scene->fillings[f];
        double worth = 0;

        for (uint32_t i = 0; i < SHAPES_MAX; i++)
            worth += filling->progress[i] * bound->dual[i];
        if (worth > filling->price * (1 + 1e-9) + 1e-6)
            fail_msg("seed %" PRIu64 ": a filling is worth %f and costs %f", seed, worth,
                     filling->price);
    }
    for (uint32_t i = 0; i < SHAPES_MAX; i++)
        sum += scene->demands[i].amount * bound->dual[i];
    assert_true(fabs(sum - (double)bound->cost) < 2);
}

TEST(the_bound_is_the_cheapest_mix_of_all_fillings)
{
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct scene scene;

        draw_market(&scene, seed);

        const double best = cheapest_mix(&scene);
        const struct filling_bound bound = solve(&scene, NODES);

        assert_true(bound.is_finished);
        check_duals(&scene, &bound, seed);
        if ((double)bound.cost > best || (double)bound.cost < best * (1 - 2e-4) - 2 ||
            bound.mix_cost < best * (1 - 1e-9))
            fail_msg("seed %" PRIu64 ": the bound is %" PRId64 ", the mix %f, the optimum %f", seed,
                     bound.cost, bound.mix_cost, best);
        yard_done(&scene.yard);
    }
}

TEST(the_bound_holds_wherever_the_search_is_stopped)
{
    uint32_t stopped = 0;
    uint32_t known = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct scene scene;

        draw_market(&scene, seed);
        for (uint64_t nodes = 1; nodes < 2000; nodes = nodes * 3 / 2 + 1) {
            const struct filling_bound bound = solve(&scene, nodes);

            check_duals(&scene, &bound, seed);
            stopped += !bound.is_finished;
            known += !bound.is_finished && bound.cost > 0;
        }
        yard_done(&scene.yard);
    }
    assert_true(stopped > ROUNDS);
    assert_true(known > stopped / 2); /* it says something, and not only zero */
}

TEST(the_same_question_has_the_same_answer_to_the_bit)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct scene scene;

        draw_market(&scene, seed);

        const struct filling_bound one = solve(&scene, 500 * seed);
        const struct filling_bound two = solve(&scene, 500 * seed);

        assert_int_equal(one.cost, two.cost);
        assert_int_equal(one.nodes, two.nodes);
        assert_memory_equal(one.dual, two.dual, SHAPES_MAX * sizeof(double));
        yard_done(&scene.yard);
    }
}

TEST(pieces_of_any_size_end_with_the_same_answer)
{
    uint32_t many = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct scene scene;
        uint32_t pieces = 0;

        draw_market(&scene, seed);

        const struct filling_input input = question_of(&scene, 50 * seed);
        const struct filling_bound whole = solve(&scene, 50 * seed);
        struct filling_search *search = filling_begin(&input, &scene.yard.arena);
        money_t last = 0;

        do {
            const struct filling_bound known = filling_so_far(search);

            assert_true(known.cost >= last);
            last = known.cost;
            pieces++;
        } while (filling_go_on(search, 1 + seed % 40));

        const struct filling_bound bound = filling_so_far(search);

        many += pieces > 3;
        assert_int_equal(bound.cost, whole.cost);
        assert_int_equal(bound.nodes, whole.nodes);
        assert_int_equal(bound.is_finished, whole.is_finished);
        assert_memory_equal(bound.dual, whole.dual, SHAPES_MAX * sizeof(double));
        yard_done(&scene.yard);
    }
    assert_true(many > 100);
}

/* Two tasks fill the large type at 1.00, one fills the small type at 0.60. */
static money_t bound_of_a_pair(double rate)
{
    struct scene scene = { .count = 0 };

    yard_init(&scene.yard);
    (void)yard_type(&scene.yard, "a", 8, 64, 0, 1.0);
    (void)yard_type(&scene.yard, "a", 4, 32, 0, 0.6);
    (void)yard_shape(&scene.yard, 4, 8, 0);
    ask_one_of_each(&scene);
    scene.rates[0] = rate;

    const money_t cost = solve(&scene, NODES).cost;

    yard_done(&scene.yard);
    return cost;
}

TEST(tasks_that_disturb_each_other_share_only_if_it_pays)
{
    assert_in_range(bound_of_a_pair(1.0), YARD_USD(0.49994), YARD_USD(0.5));
    assert_in_range(bound_of_a_pair(0.9), YARD_USD(0.55549), YARD_USD(1 / 1.8));
    assert_in_range(bound_of_a_pair(0.8), YARD_USD(0.59993), YARD_USD(0.6));
    assert_in_range(bound_of_a_pair(0.0), YARD_USD(0.59993), YARD_USD(0.6));
}

TEST(whole_tasks_count_where_the_bound_by_resources_sees_none)
{
    struct scene scene = { .count = 0 };
    struct yard *yard = &scene.yard;

    yard_init(yard);
    (void)yard_type(yard, "a", 8, 64, 0, 1.0);
    (void)yard_shape(yard, 5, 8, 0); /* no two fit */
    ask_one_of_each(&scene);

    assert_int_equal(
        bound_cost(&yard->catalogue, &yard->shapes, yard->view.offer_price, scene.demands, 1),
        YARD_USD(0.625) - 1);
    assert_in_range(solve(&scene, NODES).cost, YARD_USD(0.9999), YARD_USD(1));
    yard_done(yard);
}

TEST(the_dual_is_what_a_shape_costs_at_the_margin)
{
    struct scene scene = { .count = 0 };

    yard_init(&scene.yard);
    (void)yard_type(&scene.yard, "a", 8, 64, 0, 1.0);
    (void)yard_shape(&scene.yard, 5, 8, 0);
    (void)yard_shape(&scene.yard, 3, 8,
                     0); /* goes beside the other, or beside another of its own */
    ask_one_of_each(&scene);
    scene.demands[0].amount = 3;

    /* Three large ones pay for three machines; a small one finds room there for nothing. */
    struct filling_bound bound = solve(&scene, NODES);

    assert_in_range(bound.cost, YARD_USD(2.9996), YARD_USD(3));
    assert_true(fabs(bound.dual[0] - 1e6) < 200);
    assert_true(fabs(bound.dual[1]) < 200);

    /* Where small ones are in the majority, they pay for machines of their own. */
    scene.demands[1].amount = 10;
    bound = solve(&scene, NODES);
    assert_true(fabs(bound.dual[0] - 0.5e6) < 200);
    assert_true(fabs(bound.dual[1] - 0.5e6) < 200);
    yard_done(&scene.yard);
}

TEST(nothing_is_known_of_what_is_free_or_fits_nowhere)
{
    struct scene scene = { .count = 0 };

    yard_init(&scene.yard);
    (void)yard_type(&scene.yard, "a", 8, 64, 0, 1.0);
    (void)yard_type(&scene.yard, "b", 1, 1, 0, 0.0);
    (void)yard_shape(&scene.yard, 9, 1, 0);
    (void)yard_shape(&scene.yard, 0, 0, 0);
    (void)yard_shape(&scene.yard, 1, 1, 0);
    ask_one_of_each(&scene);
    assert_int_equal(solve(&scene, NODES).cost, 0);
    yard_done(&scene.yard);
}

TEST(nothing_is_known_where_tasks_speed_each_other_up)
{
    assert_int_equal(bound_of_a_pair(1.1), 0);
    assert_int_equal(bound_of_a_pair((double)NAN), 0);
}

CHECK_MAIN(RUN(the_bound_is_the_cheapest_mix_of_all_fillings),
           RUN(the_bound_holds_wherever_the_search_is_stopped),
           RUN(the_same_question_has_the_same_answer_to_the_bit),
           RUN(pieces_of_any_size_end_with_the_same_answer),
           RUN(tasks_that_disturb_each_other_share_only_if_it_pays),
           RUN(whole_tasks_count_where_the_bound_by_resources_sees_none),
           RUN(the_dual_is_what_a_shape_costs_at_the_margin),
           RUN(nothing_is_known_of_what_is_free_or_fits_nowhere),
           RUN(nothing_is_known_where_tasks_speed_each_other_up))
