/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "scontrol top" among the jobs of one user, whose age Slurm does not count behind the gate. */
#include <string.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_raise.h"

enum { ROWS = 8 };

/* The jobs of a world, as the watch keeps them between looks. */
struct world {
    struct slurm_raise_row rows[ROWS];
    uint32_t count;
    uint32_t look;
};

static struct slurm_raise_row *find(struct world *world, uint32_t id)
{
    uint32_t i = 0;

    while (i < world->count - 1 && world->rows[i].id != id)
        i++;
    assert_int_equal(world->rows[i].id, id);
    return &world->rows[i];
}

static void submit(struct world *world, uint32_t id, uint64_t set)
{
    world->rows[world->count++] = (struct slurm_raise_row){
        .set = set, .submitted = id, .id = id, .nice = 100, .seen = world->look + 1
    };
}

/* Priority 5000 less the nice value, and a hundred of age less ten for each later job. */
static void look(struct world *world)
{
    world->look++;
    for (uint32_t i = 0; i < world->count; i++) {
        struct slurm_raise_row *row = &world->rows[i];

        row->rank = 5000 + 100 - row->nice + 100 - 10 * row->id;
    }
    slurm_raise(world->rows, world->count, world->look);
    for (uint32_t i = 0; i < world->count; i++)
        world->rows[i].old_nice = world->rows[i].nice;
}

static int compare(const void *left, const void *right)
{
    const struct slurm_raise_row *a = left;
    const struct slurm_raise_row *b = right;

    return a->rank != b->rank ? (a->rank < b->rank ? 1 : -1) : a->submitted < b->submitted ? -1 : 1;
}

/* As the daemon takes them: by rank, and of equal rank the older. */
static void assert_order(struct world *world, const char *expected)
{
    struct slurm_raise_row rows[ROWS];
    char order[ROWS + 1] = { 0 };

    memcpy(rows, world->rows, sizeof(rows));
    qsort(rows, world->count, sizeof(*rows), compare);
    for (uint32_t i = 0; i < world->count; i++)
        order[i] = (char)('0' + rows[i].id);
    assert_string_equal(order, expected);
}

/* As Slurm does it: the others' nice values grow until it is first. */
static void top(struct world *world, uint32_t id)
{
    for (uint32_t i = 0; i < world->count; i++)
        world->rows[i].nice = world->rows[i].id == id ? 100 : 101;
}

static struct world four_jobs(void)
{
    struct world world = { .count = 0 };

    for (uint32_t id = 1; id <= 4; id++)
        submit(&world, id, 7);
    look(&world);
    return world;
}

TEST(a_raised_job_passes_older_ones)
{
    struct world world = four_jobs();

    assert_order(&world, "1234");
    top(&world, 4);
    look(&world);
    assert_order(&world, "4123");
    look(&world); /* and stays where it is */
    assert_order(&world, "4123");
}

TEST(the_last_one_that_was_raised_is_first)
{
    struct world world = four_jobs();

    top(&world, 4);
    look(&world);
    top(&world, 3); /* the values of 1 and 2 stay, that of 3 falls, that of 4 grows */
    look(&world);
    assert_order(&world, "3412");
}

TEST(what_comes_later_is_not_raised)
{
    struct world world = four_jobs();

    top(&world, 4);
    look(&world);
    submit(&world, 5, 7);
    look(&world);
    assert_order(&world, "41235");
    find(&world, 4)->set = 8; /* it has started, say */
    look(&world);
    find(&world, 4)->rank = 0;
    assert_order(&world, "12354");
}

TEST(other_sets_neither_gain_nor_lose)
{
    struct world world = four_jobs();
    uint32_t before = 0;
    uint32_t after = 0;

    submit(&world, 5, 8);
    submit(&world, 6, 8);
    look(&world);
    const uint32_t fifth = find(&world, 5)->rank;

    for (uint32_t id = 1; id <= 4; id++)
        before += find(&world, id)->rank;
    find(&world, 1)->nice = find(&world, 2)->nice = find(&world, 3)->nice = 101;
    look(&world);
    assert_order(&world, "412356");
    assert_int_equal(find(&world, 5)->rank, fifth);
    assert_int_equal(find(&world, 4)->rank,
                     5000 + 100 - 10 - 1); /* that of the first, which Slurm has put down by one */
    for (uint32_t id = 1; id <= 4; id++)
        after += find(&world, id)->rank;
    assert_int_equal(after, before - 3);
}

TEST(equal_ranks_do_not_let_the_older_go_first)
{
    struct world world = four_jobs();

    top(&world, 4);
    for (uint32_t i = 0; i < world.count; i++)
        world.rows[i].rank = 5000;
    slurm_raise(world.rows, world.count, ++world.look);
    assert_order(&world, "4123");
}

TEST(a_nice_value_that_is_taken_back_does_not_count)
{
    struct world world = four_jobs();

    find(&world, 1)->nice = 105; /* five points, which its age outweighs */
    look(&world);
    assert_order(&world, "2341");
    find(&world, 1)->nice = 100;
    look(&world);
    assert_order(&world, "1234");
}

TEST(what_is_held_is_left_alone)
{
    struct world world = four_jobs();

    top(&world, 4);
    for (uint32_t i = 0; i < world.count; i++)
        world.rows[i].rank = world.rows[i].id == 1 ? 0 : 5000 - world.rows[i].id;
    slurm_raise(world.rows, world.count, ++world.look);
    assert_int_equal(find(&world, 1)->rank, 0);
    assert_order(&world, "4231");
}

CHECK_MAIN(RUN(a_raised_job_passes_older_ones), RUN(the_last_one_that_was_raised_is_first),
           RUN(what_comes_later_is_not_raised), RUN(other_sets_neither_gain_nor_lose),
           RUN(equal_ranks_do_not_let_the_older_go_first),
           RUN(a_nice_value_that_is_taken_back_does_not_count), RUN(what_is_held_is_left_alone))
