/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets of accounts, users and the like: who is under which, what is counted where, what is kept. */
#include "daemon/cap_books.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

#define DAY   ((msec_t)24 * MSEC_PER_HOUR)
#define START ((msec_t)1794744000000) /* 2026-11-15 12:00 UTC */

struct scene {
    struct conf_cap rows[3];
    struct conf_caps conf;
    struct cap_books books;
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    uint64_t next_id;
};

static void scene_init(struct scene *scene)
{
    static const struct shape_demand demand = { FAMILY_NONE, { { 1000, 1000, 0 } } };

    *scene = (struct scene){
        .rows = { { .owner = { [OWNER_ACCOUNT] = "physics" },
                    .max_instances = 4,
                    .max_per_day = 1000 },
                  { .owner = { [OWNER_USER] = "*" }, .max_per_month = 5000 },
                  { .owner = { [OWNER_PARTITION] = "gpu", [OWNER_QOS] = "low" },
                    .max_instances = 1 } },
        .next_id = 1,
    };
    scene->conf = (struct conf_caps){ scene->rows, 3 };
    cap_books_init(&scene->books, &scene->conf, START);
    catalogue_init(&scene->catalogue);
    shapes_init(&scene->shapes);
    (void)shapes_add(&scene->shapes,
                     &(struct shape_spec){
                         .name = "s", .workload = "s", .demands = &demand, .demand_count = 1 });
    view_init(&scene->view, &scene->catalogue, &scene->shapes);
    scene->view.now = START;
}

static void scene_done(struct scene *scene)
{
    cap_books_done(&scene->books);
    view_done(&scene->view);
    shapes_done(&scene->shapes);
    catalogue_done(&scene->catalogue);
}

static uint32_t set_of(struct scene *scene, const char *account, const char *user,
                       const char *partition, const char *qos)
{
    return cap_books_set(&scene->books, &(struct engine_owner){ account, user, partition, qos });
}

/* The row of a task of a new job under the set. */
static uint32_t task_of(struct scene *scene, uint32_t set)
{
    const uint64_t id = scene->next_id++;

    (void)view_add_job(
        &scene->view,
        &(struct job_spec){
            .id = id, .first_task_id = id, .task_count = 1, .caps = set, .arrived_at = START });
    return view_find_task(&scene->view, id);
}

static uint32_t cap_named(const struct scene *scene, const char *label)
{
    return names_find(&scene->books.labels, label, strlen(label));
}

TEST(jobs_are_under_all_entries_that_match)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t ann = set_of(&scene, "physics", "ann", "cpu", "low");
    const uint32_t ben = set_of(&scene, "physics", "ben", "cpu", "low");

    assert_int_not_equal(ann, ben);
    assert_int_equal(set_of(&scene, "physics", "ann", "other", NULL), ann);
    assert_int_equal(scene.books.caps.sets[ann].count, 2);
    assert_int_equal(scene.books.caps.sets[ann].cap[0], scene.books.caps.sets[ben].cap[0]);
    assert_int_equal(set_of(&scene, "chemistry", NULL, NULL, NULL), 0);

    const uint32_t low = set_of(&scene, NULL, NULL, "cpu,gpu", "low");

    assert_int_equal(scene.books.caps.sets[low].count, 1);
    assert_int_equal(scene.books.caps.row[scene.books.caps.sets[low].cap[0]].max_instances, 1);
    assert_int_equal(set_of(&scene, NULL, NULL, "gpu", "high"), 0);
    assert_true(cap_named(&scene, "0:account physics") != NAME_NONE);
    assert_true(cap_named(&scene, "1:user ben") != NAME_NONE);
    assert_true(cap_named(&scene, "2:partition gpu, qos low") != NAME_NONE);
    scene_done(&scene);
}

TEST(what_tasks_owe_counts_once_for_each_of_their_caps)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t set = set_of(&scene, "physics", "ann", NULL, NULL);
    const uint32_t one = task_of(&scene, set);
    const uint32_t two = task_of(&scene, set_of(&scene, "physics", "ben", NULL, NULL));
    const uint32_t none = task_of(&scene, 0);
    const struct cap_spent *physics = &scene.books.row[cap_named(&scene, "0:account physics")];

    cap_books_due(&scene.books, &scene.view, one, 300);
    cap_books_due(&scene.books, &scene.view, one, 300);
    cap_books_due(&scene.books, &scene.view, two, 100);
    cap_books_due(&scene.books, &scene.view, none, 900);
    assert_int_equal(physics->spent[BUDGET_DAY], 400);
    assert_int_equal(scene.books.row[cap_named(&scene, "1:user ann")].spent[BUDGET_MONTH], 300);
    assert_false(cap_books_judge(&scene.books));
    cap_books_settle(&scene.books, &scene.view, one, 900);
    assert_int_equal(physics->spent[BUDGET_DAY], 1000);
    assert_int_equal(cap_books_percent(&scene.books), 100);
    assert_true(cap_books_judge(&scene.books));
    assert_true(scene.books.caps.row[cap_named(&scene, "0:account physics")].is_spent);
    assert_false(scene.books.caps.row[cap_named(&scene, "1:user ann")].is_spent);
    assert_false(cap_books_judge(&scene.books));

    /* The next task of that row begins at nothing. */
    (void)view_finish_task(&scene.view, one);
    const uint32_t three = task_of(&scene, set);

    assert_int_equal(three, one);
    cap_books_due(&scene.books, &scene.view, three, 50);
    assert_int_equal(physics->spent[BUDGET_DAY], 1050);
    scene_done(&scene);
}

TEST(a_new_day_begins_at_nothing_and_the_month_goes_on)
{
    struct scene scene;

    scene_init(&scene);
    const uint32_t task = task_of(&scene, set_of(&scene, "physics", "ann", NULL, NULL));
    const uint32_t physics = cap_named(&scene, "0:account physics");

    cap_books_due(&scene.books, &scene.view, task, 2000);
    assert_true(cap_books_judge(&scene.books));
    assert_int_equal(cap_books_until(&scene.books), START + DAY / 2);
    cap_books_roll(&scene.books, START + DAY / 2 - 1);
    assert_int_equal(scene.books.row[physics].spent[BUDGET_DAY], 2000);
    cap_books_roll(&scene.books, START + DAY / 2);
    assert_int_equal(scene.books.row[physics].spent[BUDGET_DAY], 0);
    assert_int_equal(scene.books.row[physics].spent[BUDGET_MONTH], 2000);
    assert_true(cap_books_judge(&scene.books));
    assert_false(scene.books.caps.row[physics].is_spent);
    cap_books_due(&scene.books, &scene.view, task, 2100);
    assert_int_equal(scene.books.row[physics].spent[BUDGET_DAY], 100);
    cap_books_roll(&scene.books, START + 20 * DAY);
    assert_int_equal(scene.books.row[physics].spent[BUDGET_MONTH], 0);
    scene_done(&scene);
}

TEST(another_process_goes_on_where_the_last_one_stood)
{
    struct scene scene;
    struct cap_books next;
    struct line_text text = { .text = NULL };

    scene_init(&scene);
    const uint32_t set = set_of(&scene, "physics", "ann", NULL, NULL);
    const uint32_t task = task_of(&scene, set);

    cap_books_due(&scene.books, &scene.view, task, 700);
    assert_true(scene.books.is_changed);
    cap_books_text(&scene.books, &text);
    assert_false(scene.books.is_changed);
    cap_books_init(&next, &scene.conf, START + 60000);
    assert_true(cap_books_read(&next, text.text));
    cap_books_resume(&next, scene.view.task.id[task], 700);
    /* Sets may have other numbers there. */
    scene.view.job.caps[scene.view.task.job[task]] =
        cap_books_set(&next, &(struct engine_owner){ "physics", "ann", NULL, NULL });
    cap_books_due(&next, &scene.view, task, 800);
    const uint32_t physics = names_find(&next.labels, "0:account physics", 17);
    const uint32_t ann = names_find(&next.labels, "1:user ann", 10);

    assert_int_equal(next.row[physics].spent[BUDGET_DAY], 800);
    assert_int_equal(next.row[ann].spent[BUDGET_MONTH], 800);
    cap_books_done(&next);

    /* A day later only the month counts. */
    cap_books_init(&next, &scene.conf, START + DAY);
    assert_true(cap_books_read(&next, text.text));
    const uint32_t again = names_find(&next.labels, "0:account physics", 17);

    assert_int_equal(next.row[again].spent[BUDGET_DAY], 0);
    assert_int_equal(next.row[again].spent[BUDGET_MONTH], 700);
    assert_false(cap_books_read(&next, "x"));
    assert_false(cap_books_read(&next, "1\t2\nnonsense\n"));
    assert_true(cap_books_read(&next, ""));
    cap_books_done(&next);
    line_text_done(&text);
    scene_done(&scene);
}

TEST(other_limits_count_at_once)
{
    struct scene scene;
    struct conf_cap rows[3];

    scene_init(&scene);
    const uint32_t task = task_of(&scene, set_of(&scene, "physics", "ann", NULL, NULL));

    cap_books_due(&scene.books, &scene.view, task, 700);
    assert_false(cap_books_judge(&scene.books));
    memcpy(rows, scene.rows, sizeof(rows));
    rows[0].max_per_day = 500;
    rows[0].max_instances = 9;
    cap_books_tune(&scene.books, &(struct conf_caps){ rows, 3 });
    assert_true(cap_books_judge(&scene.books));
    assert_int_equal(scene.books.caps.row[cap_named(&scene, "0:account physics")].max_instances, 9);
    scene_done(&scene);
}

TEST(too_many_names_share_a_limit)
{
    struct scene scene;
    char name[32];
    uint32_t last = 0;

    scene_init(&scene);
    for (uint32_t i = 0; i < CAPS_MAX + 20; i++) {
        (void)snprintf(name, sizeof(name), "user%u", i);
        last = set_of(&scene, NULL, name, NULL, NULL);
        assert_int_equal(scene.books.caps.sets[last].count, 1);
    }
    assert_true(scene.books.caps.count <= CAPS_MAX + 3);
    assert_int_equal(set_of(&scene, NULL, "user-new", NULL, NULL), last);
    scene_done(&scene);
}

CHECK_MAIN(RUN(jobs_are_under_all_entries_that_match),
           RUN(what_tasks_owe_counts_once_for_each_of_their_caps),
           RUN(a_new_day_begins_at_nothing_and_the_month_goes_on),
           RUN(another_process_goes_on_where_the_last_one_stood), RUN(other_limits_count_at_once),
           RUN(too_many_names_share_a_limit))
