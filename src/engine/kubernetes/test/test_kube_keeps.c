/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that keep apart: what the controller hears of it, and of what changes. */
#include "engine/kubernetes/test/kube_stage.h"

static void pod(struct world *world, const char *uid, const char *more)
{
    char text[512];

    (void)snprintf(
        text, sizeof(text),
        "pod space=a name=p%s uid=%s owner=r kind=ReplicaSet cpu=1000 mem=1024 accel=0 %s", uid,
        uid, more);
    line(world, text);
}

/* What the job of one pod keeps apart from, after it has been announced. */
static uint32_t keeps_of(struct world *world, const char *uid, const char *more)
{
    pod(world, uid, more);
    settle(world);
    assert_int_equal(world->last.kind, ENGINE_JOB_ARRIVED);
    return world->last.job.keeps;
}

static uint32_t number(struct world *world, const struct apart_mark *marks, uint32_t count)
{
    return aparts_add(&world->shapes.aparts, marks, count);
}

TEST(what_a_pod_says_comes_with_its_job)
{
    struct world world;
    const struct apart_mark both[] = { { 1, APART_SHUNS }, { 2, APART_HAS } };

    begin(&world);
    assert_int_equal(keeps_of(&world, "1", "state=waiting like=5 keeps=b99"), apart_group(99));
    assert_int_equal(keeps_of(&world, "2", "state=waiting like=6"), APART_NONE);
    assert_int_equal(keeps_of(&world, "3", "state=waiting like=7 keeps=s1,h2"),
                     number(&world, both, 2));
    end(&world);
}

TEST(what_is_not_written_as_it_should_be_is_left_to_the_scheduler)
{
    static const char *const texts[] = { "x1", "b", "b1;s2", "b1/0", "b-1", "b1/", "1" };
    struct world world;
    char text[64];
    char uid[8];

    begin(&world);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        world.task_count = 0;
        (void)snprintf(text, sizeof(text), "state=waiting like=5 keeps=%s", texts[i]);
        (void)snprintf(uid, sizeof(uid), "%zu", i);
        pod(&world, uid, text);
        settle(&world);
        assert_int_equal(world.task_count, 0);
    }
    end(&world);
}

/* A skew of two: two may be on one machine. */
TEST(of_several_marks_a_job_gets_one)
{
    struct world world;
    uint32_t seen[2] = { 0, 0 };
    char uid[8];

    begin(&world);
    for (int i = 0; i < 16; i++) {
        (void)snprintf(uid, sizeof(uid), "%d", i);

        const uint32_t keeps = keeps_of(&world, uid, "state=waiting like=5 keeps=b99/2");

        if (seen[0] == 0 || seen[0] == keeps)
            seen[0] = keeps;
        else if (seen[1] == 0 || seen[1] == keeps)
            seen[1] = keeps;
        else
            fail();
    }
    assert_true(seen[1] != 0);
    end(&world);
}

TEST(what_is_said_of_a_kind_holds_for_its_pods_before_and_after)
{
    struct world world;
    const struct apart_mark has = { 3, APART_HAS };
    const struct apart_mark with_own[] = { { 3, APART_HAS }, { 9, APART_BOTH } };

    begin(&world);
    assert_int_equal(keeps_of(&world, "1", "state=waiting like=5"), APART_NONE);
    line(&world, "marks like=5 keeps=h3");
    assert_int_equal(world.last.kind, ENGINE_JOB_CHANGED);
    assert_int_equal(world.last.job.first_task_id, world.tasks[0]);
    assert_int_equal(world.last.job.keeps, number(&world, &has, 1));
    assert_int_equal(world.last.changes, CHANGE_APART);
    assert_int_equal(keeps_of(&world, "2", "state=waiting like=5 keeps=b9"),
                     number(&world, with_own, 2));
    assert_int_equal(keeps_of(&world, "3", "state=waiting like=6"), APART_NONE);
    /* It is over. */
    line(&world, "marks like=5");
    assert_int_equal(world.last.kind, ENGINE_JOB_CHANGED);
    assert_int_equal(keeps_of(&world, "4", "state=waiting like=5"), APART_NONE);
    end(&world);
}

TEST(a_pod_whose_labels_change_is_one_of_another_kind)
{
    struct world world;

    begin(&world);
    line(&world, "marks like=6 keeps=b3");
    assert_int_equal(keeps_of(&world, "1", "state=waiting like=5"), APART_NONE);
    pod(&world, "1", "state=waiting like=6");
    assert_int_equal(world.last.kind, ENGINE_JOB_CHANGED);
    assert_int_equal(world.last.job.keeps, apart_group(3));
    pod(&world, "1", "state=waiting like=5 keeps=b4");
    assert_int_equal(world.last.kind, ENGINE_JOB_CHANGED);
    assert_int_equal(world.last.job.keeps, apart_group(4));
    end(&world);
}

/* They start together, and room is planned for them alike. */
TEST(a_gang_keeps_apart_from_what_any_of_its_pods_does)
{
    struct world world;
    const struct apart_mark all[] = { { 1, APART_BOTH }, { 2, APART_HAS }, { 3, APART_HAS } };

    begin(&world);
    line(&world, "marks like=6 keeps=h2");
    line(&world, "pod space=a name=p1 uid=1 owner=r kind=Job group=g gang=2 cpu=1 mem=1 accel=0 "
                 "state=waiting like=5 keeps=b1");
    line(&world, "pod space=a name=p2 uid=2 owner=r kind=Job group=g gang=2 cpu=1 mem=1 accel=0 "
                 "state=waiting like=6");
    settle(&world);
    assert_int_equal(world.last.kind, ENGINE_JOB_ARRIVED);
    assert_int_equal(world.last.job.keeps, number(&world, all, 2));
    line(&world, "marks like=5 keeps=h3");
    assert_int_equal(world.last.kind, ENGINE_JOB_CHANGED);
    assert_int_equal(world.last.job.keeps, number(&world, all, 3));
    line(&world, "marks like=6");
    assert_int_equal(world.last.kind, ENGINE_JOB_CHANGED);
    end(&world);
}

CHECK_MAIN(RUN(what_a_pod_says_comes_with_its_job),
           RUN(what_is_not_written_as_it_should_be_is_left_to_the_scheduler),
           RUN(of_several_marks_a_job_gets_one),
           RUN(what_is_said_of_a_kind_holds_for_its_pods_before_and_after),
           RUN(a_pod_whose_labels_change_is_one_of_another_kind),
           RUN(a_gang_keeps_apart_from_what_any_of_its_pods_does))
