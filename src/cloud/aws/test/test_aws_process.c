/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cloud/aws/aws_process.h"

static uv_loop_t loop;
static struct error error;
static char printed[AWS_PROCESS_OUTPUT_MAX + 1];
static char got_why[256];
static int answers;

static void on_done(void *context, const char *text, size_t size, const char *why)
{
    (void)context;
    answers++;
    (void)snprintf(got_why, sizeof(got_why), "%s", why != NULL ? why : "");
    assert_true(size < sizeof(printed));
    if (text != NULL)
        memcpy(printed, text, size);
    printed[size] = '\0';
}

static struct aws_process *start(const char *command)
{
    struct aws_process *process = NULL;

    answers = 0;
    error.text[0] = '\0';
    (void)aws_process_start(
        &(struct aws_process_config){
            .loop = &loop, .command = command, .timeout_ms = 2000, .on_done = on_done },
        &process, &error);
    return process;
}

/* All handles are closed when it returns. */
static void run(const char *command)
{
    assert_non_null(start(command));
    assert_int_equal(answers, 0);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(answers, 1);
}

TEST(words_are_cut_at_space_outside_of_quotes)
{
    static const struct {
        const char *command;
        const char *words; /* each in brackets */
    } cases[] = {
        { "a", "[a]" },
        { "  a\tb  c ", "[a][b][c]" },
        { "\"/opt/my tool\" get --for \"x y\"", "[/opt/my tool][get][--for][x y]" },
        { "a b\"c d\"e \"\" f", "[a][bc de][][f]" },
        { "a $HOME ~ ; | > & `b`", "[a][$HOME][~][;][|][>][&][`b`]" },
    };
    char *words[AWS_PROCESS_WORDS_MAX + 1];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char command[128];
        char found[256] = "";

        (void)snprintf(command, sizeof(command), "%s", cases[i].command);
        assert_int_equal(aws_process_split(command, words, &error), 0);
        for (int k = 0; words[k] != NULL; k++) {
            const size_t used = strlen(found);

            (void)snprintf(found + used, sizeof(found) - used, "[%s]", words[k]);
        }
        assert_string_equal(found, cases[i].words);
    }
}

TEST(what_a_shell_would_read_otherwise_is_refused)
{
    static const char *const commands[] = { "", "  ", "\"\"", "a \"b", "a 'b c'", "a\\ b" };
    char *words[AWS_PROCESS_WORDS_MAX + 1];
    char many[2 * AWS_PROCESS_WORDS_MAX + 3] = "";

    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        char command[32];

        (void)snprintf(command, sizeof(command), "%s", commands[i]);
        assert_true(aws_process_split(command, words, &error) < 0);
    }
    for (size_t i = 0; i <= AWS_PROCESS_WORDS_MAX; i++)
        memcpy(many + 2 * i, "a ", 2);
    assert_true(aws_process_split(many, words, &error) < 0);
}

TEST(a_program_is_heard_to_its_end)
{
    run("/bin/sh -c \"echo one; sleep 0.1; echo two\"");
    assert_string_equal(printed, "one\ntwo\n");
    assert_string_equal(got_why, "");

    run("/bin/echo $HOME \"a  b\"");
    assert_string_equal(printed, "$HOME a  b\n");
}

TEST(a_program_is_not_given_the_keys_that_we_have)
{
    assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "do-not-tell", 1), 0);
    assert_int_equal(setenv("AWS_PROFILE", "tool", 1), 0);
    run("env");

    assert_null(strstr(printed, "do-not-tell"));
    assert_non_null(strstr(printed, "AWS_PROFILE=tool"));
    assert_non_null(strstr(printed, "PATH="));
    assert_int_equal(unsetenv("AWS_SECRET_ACCESS_KEY"), 0);
}

TEST(a_program_that_fails_is_told)
{
    run("/bin/sh -c \"echo secret; echo secret >&2; exit 3\"");
    assert_string_equal(got_why, "it ended with status 3");
    assert_string_equal(printed, "");

    run("/bin/sh -c \"kill -9 $$\"");
    assert_string_equal(got_why, "it was ended by signal 9");
}

TEST(a_program_that_is_not_there_is_told_at_once)
{
    assert_null(start("/nonexistent/program"));
    assert_non_null(strstr(error.text, "cannot be started"));
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(answers, 0);
}

TEST(a_program_that_prints_too_much_is_killed)
{
    run("/bin/sh -c \"while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\"");
    assert_non_null(strstr(got_why, "too much"));

    run("/usr/bin/head -c 16384 /dev/zero");
    assert_string_equal(got_why, "");
}

TEST(a_program_that_takes_too_long_is_killed)
{
    const uint64_t began = uv_hrtime();

    run("/bin/sh -c \"sleep 60 & sleep 60\"");
    assert_non_null(strstr(got_why, "too long"));
    assert_true(uv_hrtime() - began < 30000000000);

    /* The first process ends, its child holds the output open. */
    run("/bin/sh -c \"sleep 5 & exit 0\"");
    assert_non_null(strstr(got_why, "too long"));
}

TEST(a_program_that_is_dropped_says_nothing_and_does_not_live_on)
{
    aws_process_drop(NULL);
    aws_process_drop(start("/bin/sh -c \"echo x; sleep 60\""));
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(answers, 0);
}

static int set_up(void **state)
{
    (void)state;
    return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
    (void)state;
    return uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_cut_at_space_outside_of_quotes),
        cmocka_unit_test(what_a_shell_would_read_otherwise_is_refused),
        cmocka_unit_test(a_program_is_heard_to_its_end),
        cmocka_unit_test(a_program_is_not_given_the_keys_that_we_have),
        cmocka_unit_test(a_program_that_fails_is_told),
        cmocka_unit_test(a_program_that_is_not_there_is_told_at_once),
        cmocka_unit_test(a_program_that_prints_too_much_is_killed),
        cmocka_unit_test(a_program_that_takes_too_long_is_killed),
        cmocka_unit_test(a_program_that_is_dropped_says_nothing_and_does_not_live_on),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
