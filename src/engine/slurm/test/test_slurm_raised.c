/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "scontrol top" raised, from one stint-slurm to the next. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_raised.h"

/* Set 7: the fourth was raised at look 20, when the first and third were there. Nobody was in the others. */
static const struct slurm_raise_row queue[] = {
    { .set = 7, .submitted = 100, .id = 1, .nice = 11, .seen = 12 },
    { .set = 6, .submitted = 101, .id = 2, .nice = 10, .seen = 12 },
    { .set = 7, .submitted = 102, .id = 3, .run = 2, .nice = 11, .seen = 15 },
    { .set = 8, .submitted = 102, .id = 7, .nice = 10, .seen = 9 },
    { .set = 7, .submitted = 103, .id = 4, .nice = 10, .seen = 15, .raised = 20 },
};
enum { QUEUE = sizeof(queue) / sizeof(queue[0]), LOOK = 23 };

static const char kept[] = "raised version=1 look=12\n"
                           "job id=4 run=0 submit=103 nice=10 seen=4 raised=9\n"
                           "job id=1 run=0 submit=100 nice=11 seen=1 raised=0\n"
                           "job id=3 run=2 submit=102 nice=11 seen=4 raised=0\n"
                           "end count=3\n";

static struct slurm_raised parse(const char *text)
{
    struct slurm_raised raised = { .rows = NULL };
    struct error error = { "" };
    char own[1024];

    assert_true(strlen(text) < sizeof(own));
    memcpy(own, text, strlen(text) + 1);
    if (slurm_raised_parse(own, strlen(text), &raised, &error) < 0)
        fail_msg("%s", error.text);
    return raised;
}

static void refuse(const char *text, size_t length, const char *why)
{
    struct slurm_raised raised = { .rows = NULL };
    struct error error = { "" };
    char own[1024];

    memcpy(own, text, length);
    assert_int_equal(slurm_raised_parse(own, length, &raised, &error), -EINVAL);
    assert_null(raised.rows);
    if (why != NULL)
        assert_string_equal(error.text, why);
}

TEST(sets_in_which_one_was_raised_are_kept_and_looks_begin_anew)
{
    struct slurm_raise_row rows[QUEUE];
    struct line_text out = { .text = NULL };

    memcpy(rows, queue, sizeof(queue));
    slurm_raised_print(rows, QUEUE, LOOK, &out);
    line_text_append(&out, "", 1);
    assert_string_equal(out.text, kept);
    line_text_done(&out);
}

TEST(who_was_there_is_known_again)
{
    struct slurm_raised raised = parse(kept);
    struct slurm_raise_row third = { .submitted = 102, .id = 3, .run = 2, .nice = 11 };
    struct slurm_raise_row fourth = { .submitted = 103, .id = 4, .nice = 10 };
    struct slurm_raise_row fifth = { .submitted = 104, .id = 5, .nice = 10 };

    assert_int_equal(raised.look, 12);
    assert_true(slurm_raised_recall(&raised, &third));
    assert_int_equal(third.seen, 4);
    assert_int_equal(third.raised, 0);
    assert_int_equal(third.old_nice, 11);
    assert_true(slurm_raised_recall(&raised, &fourth));
    assert_int_equal(fourth.raised, 9);
    assert_false(slurm_raised_recall(&raised, &fifth));
    assert_int_equal(fifth.seen, 0);
    slurm_raised_done(&raised);
}

TEST(another_job_of_the_same_number_is_not_taken_for_it)
{
    struct slurm_raised raised = parse(kept);
    struct slurm_raise_row other = { .submitted = 900, .id = 4 };
    struct slurm_raise_row put_back = { .submitted = 900, .id = 4, .run = 1 };

    assert_false(slurm_raised_recall(&raised, &other));
    assert_true(slurm_raised_recall(&raised, &put_back));
    slurm_raised_done(&raised);
}

TEST(a_file_that_was_cut_anywhere_is_refused)
{
    for (size_t length = 0; length + 1 < sizeof(kept); length++)
        refuse(kept, length, NULL);
}

TEST(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {
        { "raised version=2 look=1\nend count=0\n", "line 1 has been damaged" },
        { "raised version=1 look=4294967295\nend count=0\n", "line 1 has been damaged" },
        { "raised version=1 look=3\njob id=1 run=0 submit=1 nice=1 seen=4 raised=0\nend count=1\n",
          "line 2 has been damaged" },
        { "raised version=1 look=3\njob id=1 run=0 submit=1 nice=1 seen=0 raised=0\nend count=1\n",
          "line 2 has been damaged" },
        { "raised version=1 look=3\njob id=1 run=0 submit=1 nice=1 seen=1 raised=4\nend count=1\n",
          "line 2 has been damaged" },
        { "raised version=1 look=3\njob id=1 run=0 submit=1 nice=1 seen=1 raised=0\n"
          "job id=1 run=0 submit=1 nice=1 seen=1 raised=0\nend count=2\n",
          "line 3 has been damaged" },
        { "raised version=1 look=3\nend count=1\n", "line 2 has been damaged" },
        { "raised version=1 look=3\nend count=0\nend count=0\n", "line 2 has been damaged" },
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refuse(wrong[i].text, strlen(wrong[i].text), wrong[i].why);
}

TEST(a_file_is_replaced_and_found_again)
{
    char folder[] = "/tmp/stint-raised-XXXXXX";
    char path[64];
    struct slurm_raise_row rows[QUEUE];
    struct slurm_raised raised = { .rows = NULL };
    struct error error = { "" };

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/db.raised", folder);
    assert_int_equal(slurm_raised_load(path, &raised, &error), 0); /* there is none */
    assert_int_equal(raised.look, 0);
    for (uint32_t count = QUEUE; count >= QUEUE - 1; count--) {
        memcpy(rows, queue, sizeof(queue));
        assert_int_equal(slurm_raised_save(path, rows, count, LOOK, &error), 0);
        assert_int_equal(slurm_raised_load(path, &raised, &error), 0);
        assert_int_equal(raised.count, count == QUEUE ? 3 : 0); /* the last is the one raised */
        slurm_raised_done(&raised);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else is left there */
    assert_int_equal(slurm_raised_save(path, rows, QUEUE, LOOK, &error), -ENOENT);
    assert_non_null(strstr(error.text, "cannot write /tmp/stint-raised-"));
}

TEST(what_was_raised_goes_first_after_a_restart_and_what_came_later_does_not)
{
    struct slurm_raised raised = parse(kept);
    struct slurm_raise_row rows[] = {
        { .set = 7, .submitted = 100, .id = 1, .nice = 11, .rank = 5000 },
        { .set = 7, .submitted = 102, .id = 3, .run = 2, .nice = 11, .rank = 4900 },
        { .set = 7, .submitted = 103, .id = 4, .nice = 10, .rank = 4800 },
        { .set = 7,
          .submitted = 90,
          .id = 5,
          .nice = 10,
          .rank = 6000 }, /* it came later, with more */
    };
    const uint32_t look = raised.look + 1;

    for (int i = 0; i < 4; i++) {
        if (!slurm_raised_recall(&raised, &rows[i]))
            rows[i].seen = look;
    }
    assert_false(slurm_raise(rows, 4, look));
    for (int i = 0; i < 4; i++) {
        static const uint32_t rank_of[] = { 0, 4900, 0, 4800, 5000, 6000 };

        assert_int_equal(rows[i].rank, rank_of[rows[i].id]);
    }
    slurm_raised_done(&raised);
}

CHECK_MAIN(RUN(sets_in_which_one_was_raised_are_kept_and_looks_begin_anew),
           RUN(who_was_there_is_known_again),
           RUN(another_job_of_the_same_number_is_not_taken_for_it),
           RUN(a_file_that_was_cut_anywhere_is_refused), RUN(what_makes_no_sense_is_refused),
           RUN(a_file_is_replaced_and_found_again),
           RUN(what_was_raised_goes_first_after_a_restart_and_what_came_later_does_not))
