/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cloud/local/local_world.h"
#include "cloud/local/test/local_yard.h"

enum { TEXT_MAX = 16384, ROWS_MAX = 64 };

/* A world whose machines come up and go down when the test says so. */
struct stage {
    struct catalogue catalogue;
    struct local_world *world;
    struct line_text answer;
    char told[TEXT_MAX];
    char noted[TEXT_MAX];
    char logged[TEXT_MAX];
    uint32_t booted[ROWS_MAX];
    uint32_t boot_count;
    uint32_t killed[ROWS_MAX];
    uint32_t kill_count;
    bool is_boot_broken;
};

static struct stage stage;

static void add(char *text, const char *more, size_t size)
{
    const size_t used = strlen(text);

    assert_true(used + size < TEXT_MAX);
    memcpy(text + used, more, size);
    text[used + size] = '\0';
}

static bool on_boot(void *context, uint32_t row)
{
    struct stage *here = context;

    assert_true(here->boot_count < ROWS_MAX);
    here->booted[here->boot_count++] = row;
    return !here->is_boot_broken;
}

static void on_kill(void *context, uint32_t row)
{
    struct stage *here = context;

    assert_true(here->kill_count < ROWS_MAX);
    here->killed[here->kill_count++] = row;
}

static void on_tell(void *context, const char *cluster, const char *lines, uint32_t size)
{
    struct stage *here = context;

    assert_true(strcmp(cluster, "lab") == 0 || strcmp(cluster, "other") == 0);
    add(here->told, lines, size);
}

static void on_note(void *context, const char *lines, uint32_t size)
{
    struct stage *here = context;

    add(here->noted, lines, size);
}

static void on_log(void *context, const char *line)
{
    struct stage *here = context;

    add(here->logged, line, strlen(line));
}

static void make_world(uint64_t seed)
{
    stage.world = local_world_create(&(struct local_world_config){
        .catalogue = &stage.catalogue,
        .seed = seed,
        .boot = on_boot,
        .kill = on_kill,
        .tell = on_tell,
        .note = on_note,
        .log = on_log,
        .context = &stage,
    });
}

static int set_up(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof(stage));
    yard_make(&stage.catalogue);
    make_world(1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    local_world_destroy(stage.world);
    line_text_done(&stage.answer);
    catalogue_done(&stage.catalogue);
    return 0;
}

/* Ask for 'cluster', and return what it alone was answered. */
static const char *ask_as(const char *cluster, msec_t now, const char *text)
{
    static char answer[TEXT_MAX];
    char copy[512];
    struct line line;
    struct local_request request;

    (void)snprintf(copy, sizeof(copy), "%s", text);
    assert_int_equal(line_parse(copy, strlen(copy), &line, NULL), 0);
    assert_int_equal(local_request_read(&line, &request, NULL), 0);
    line_text_reset(&stage.answer);
    local_world_obey(stage.world, now, cluster, &request, &stage.answer);
    if (stage.answer.size > 0)
        memcpy(answer, stage.answer.text, stage.answer.size);
    answer[stage.answer.size] = '\0';
    return answer;
}

static const char *ask(msec_t now, const char *text)
{
    return ask_as("lab", now, text);
}

/* What everyone was told since the last call. */
static const char *told(void)
{
    static char text[TEXT_MAX];

    memcpy(text, stage.told, strlen(stage.told) + 1);
    stage.told[0] = '\0';
    return text;
}

/* Machine 'key' runs since 1000. */
static void start(uint64_t key)
{
    char line[128];

    (void)snprintf(line, sizeof(line), "rent key=%" PRIu64 " offer=%s prefix=st-", key,
                   YARD_SPOT_NAME);
    assert_string_equal(ask(0, line), "");
    local_world_tick(stage.world, 1000);
    local_world_up(stage.world, stage.booted[stage.boot_count - 1], 1000);
    (void)told();
}

TEST(a_machine_boots_after_its_acquire_time_and_is_billed_once_it_runs)
{
    (void)ask(100, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-");

    assert_int_equal(local_world_next_wake(stage.world), 1100);
    local_world_tick(stage.world, 1099);
    assert_int_equal(stage.boot_count, 0);
    local_world_tick(stage.world, 1100);
    assert_int_equal(stage.boot_count, 1);
    assert_string_equal(told(), "");
    local_world_up(stage.world, 0, 1150);
    assert_string_equal(told(), "running id=5 offer=" YARD_SPOT_NAME " billed_from=1150\n");
    assert_int_equal(local_world_next_wake(stage.world), MSEC_NEVER);
}

TEST(a_return_is_billed_until_the_release_time_is_over)
{
    start(5);
    assert_string_equal(ask(3000, "give-back key=5"), "");

    assert_int_equal(stage.kill_count, 1);
    local_world_down(stage.world, 0, 3010);
    assert_string_equal(told(), "");
    assert_int_equal(local_world_next_wake(stage.world), 3500);
    local_world_tick(stage.world, 3500);
    assert_string_equal(told(), "gone id=5 offer=" YARD_SPOT_NAME
                                " billed_from=1000 billed_to=3500 why=returned\n");
    assert_int_equal(local_world_living(stage.world), 0);
}

TEST(it_is_not_gone_before_its_processes_are)
{
    start(5);
    (void)ask(3000, "give-back key=5");
    local_world_tick(stage.world, 4000);

    assert_string_equal(told(), "");
    local_world_down(stage.world, 0, 4100);
    assert_string_equal(told(), "gone id=5 offer=" YARD_SPOT_NAME
                                " billed_from=1000 billed_to=3500 why=returned\n");
}

TEST(a_key_rents_once_and_answers_the_same)
{
    start(5);

    assert_string_equal(ask(2000, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-"),
                        "running id=5 offer=" YARD_SPOT_NAME " billed_from=1000\n");
    (void)ask(2000, "revoke key=1 id=5");
    local_world_down(stage.world, 0, 2001);
    assert_string_equal(ask(3000, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-"),
                        "gone id=5 offer=" YARD_SPOT_NAME
                        " billed_from=1000 billed_to=2000 why=revoked\n");
    assert_int_equal(stage.boot_count, 1);
}

TEST(a_key_that_was_refused_stays_refused)
{
    (void)ask(0, "capacity key=1 offer=" YARD_SPOT_NAME " count=0");
    (void)ask(0, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-");
    assert_string_equal(told(), "refused id=5 reason=capacity\n");
    (void)ask(0, "capacity key=2 offer=" YARD_SPOT_NAME);

    assert_string_equal(ask(0, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-"),
                        "refused id=5 reason=capacity\n");
}

TEST(capacity_is_free_again_when_a_machine_is_gone)
{
    (void)ask(0, "capacity key=1 offer=" YARD_SPOT_NAME " count=1");
    start(5);
    (void)ask(2000, "rent key=6 offer=" YARD_SPOT_NAME " prefix=st-");
    assert_string_equal(told(), "refused id=6 reason=capacity\n");
    (void)ask(2000, "revoke key=7");
    local_world_down(stage.world, 0, 2000);
    (void)told();
    (void)ask(2000, "rent key=8 offer=" YARD_SPOT_NAME " prefix=st-");

    assert_string_equal(told(), "");
}

TEST(a_machine_that_never_ran_is_never_billed)
{
    (void)ask(0, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-");
    (void)ask(10, "give-back key=5");
    assert_string_equal(told(), "gone id=5 offer=" YARD_SPOT_NAME " why=returned\n");
    (void)ask(20, "rent key=6 offer=" YARD_SPOT_NAME " prefix=st-");
    local_world_tick(stage.world, 1020);
    (void)ask(1030, "give-back key=6");
    local_world_up(stage.world, 1, 1031);
    local_world_down(stage.world, 1, 1032);

    assert_string_equal(told(), "gone id=6 offer=" YARD_SPOT_NAME " why=returned\n");
    assert_int_equal(stage.kill_count, 1);
}

TEST(one_that_cannot_be_made_is_refused)
{
    (void)ask(0, "rent key=5 offer=" YARD_SPOT_NAME " prefix=st-");
    local_world_tick(stage.world, 1000);
    local_world_down(stage.world, 0, 1001);
    assert_string_equal(told(), "refused id=5 reason=broken\n");
    stage.is_boot_broken = true;
    (void)ask(0, "rent key=6 offer=" YARD_SPOT_NAME " prefix=st-");
    local_world_tick(stage.world, 2000);

    assert_string_equal(told(), "refused id=6 reason=broken\n");
    assert_int_equal(local_world_living(stage.world), 0);
}

TEST(a_notice_comes_before_the_end_and_the_end_comes)
{
    start(5);
    assert_string_equal(ask(2000, "revoke key=9 notice_ms=300"), "done key=9 id=5\n");
    assert_string_equal(told(), "notice id=5 until=2300\n");
    assert_string_equal(ask(2100, "revoke key=10"),
                        "failed key=10 text=no%20such%20machine%20runs\n");
    local_world_tick(stage.world, 2300);
    local_world_down(stage.world, 0, 2310);

    assert_string_equal(told(), "gone id=5 offer=" YARD_SPOT_NAME
                                " billed_from=1000 billed_to=2300 why=revoked\n");
}

TEST(a_machine_that_dies_is_billed_until_then)
{
    start(5);
    local_world_down(stage.world, 0, 2345);

    assert_string_equal(told(), "gone id=5 offer=" YARD_SPOT_NAME
                                " billed_from=1000 billed_to=2345 why=died\n");
    assert_int_equal(stage.kill_count, 0);
}

TEST(a_list_is_of_one_cluster)
{
    start(5);
    (void)ask_as("other", 0, "rent key=5 offer=" YARD_SMALL_NAME " prefix=st-");

    assert_string_equal(ask(2000, "list key=9"), "found key=9 id=5 name=st-5 offer=" YARD_SPOT_NAME
                                                 " state=running billed_from=1000\n"
                                                 "listed key=9 count=1\n");
    assert_string_equal(ask_as("other", 2000, "list key=9"),
                        "found key=9 id=5 name=st-5 offer=" YARD_SMALL_NAME " state=asked\n"
                        "listed key=9 count=1\n");
}

TEST(the_log_has_price_and_times)
{
    start(5);
    local_world_down(stage.world, 0, 2000);

    assert_string_equal(stage.logged,
                        "0,rented,5,st-5," YARD_SPOT_NAME ",900000,,,\n"
                        "1000,running,5,st-5," YARD_SPOT_NAME ",900000,1000,,\n"
                        "2000,gone,5,st-5," YARD_SPOT_NAME ",900000,1000,2000,died\n");
}

/* As many refusals as the seed gives, of a hundred. */
static uint32_t count_refusals(void)
{
    uint32_t count = 0;

    (void)ask(0, "fault key=1 refuse=300");
    (void)ask(0, "rent key=100 count=100 offer=" YARD_SMALL_NAME " prefix=st-");
    for (const char *at = stage.told; (at = strstr(at, "refused")) != NULL; at++)
        count++;
    return count;
}

TEST(the_same_seed_refuses_the_same)
{
    static char first[TEXT_MAX];
    const uint32_t count = count_refusals();

    assert_in_range(count, 15, 45);
    memcpy(first, stage.told, sizeof(first));
    local_world_destroy(stage.world);
    stage.told[0] = stage.noted[0] = stage.logged[0] = '\0';
    make_world(1);
    (void)count_refusals();
    assert_string_equal(stage.told, first);
    local_world_destroy(stage.world);
    stage.told[0] = stage.noted[0] = stage.logged[0] = '\0';
    make_world(2);
    (void)count_refusals();
    assert_string_not_equal(stage.told, first);
}

TEST(a_journal_brings_back_every_key)
{
    static char journal[TEXT_MAX];

    start(5);
    start(6);
    local_world_down(stage.world, 0, 2000);
    (void)ask(2000, "rent key=7 offer=nothing prefix=st-");
    (void)ask(2000, "rent key=8 offer=" YARD_SMALL_NAME " prefix=st-");
    local_world_destroy(stage.world);
    memcpy(journal, stage.noted, sizeof(journal));
    stage.told[0] = stage.noted[0] = stage.logged[0] = '\0';
    make_world(1);
    for (char *at = journal; *at != '\0';) {
        char *end = strchr(at, '\n');
        struct line line;

        assert_int_equal(line_parse(at, (size_t)(end - at), &line, NULL), 0);
        assert_int_equal(local_world_restore(stage.world, &line, NULL), 0);
        at = end + 1;
    }
    local_world_restored(stage.world, 9000);

    assert_int_equal(local_world_living(stage.world), 0);
    assert_string_equal(ask(9000, "list key=1"), "gone id=5 offer=" YARD_SPOT_NAME
                                                 " billed_from=1000 billed_to=2000 why=died\n"
                                                 "gone id=6 offer=" YARD_SPOT_NAME
                                                 " billed_from=1000 billed_to=9000 why=died\n"
                                                 "gone id=8 offer=" YARD_SMALL_NAME " why=died\n"
                                                 "listed key=1 count=0\n");
    assert_string_equal(ask(9000, "rent key=7 offer=" YARD_SMALL_NAME " prefix=st-"),
                        "refused id=7 reason=unknown-offer\n");
    (void)ask(9000, "rent key=9 offer=" YARD_SMALL_NAME " prefix=st-");
    assert_int_equal(local_world_machine(stage.world, 4)->number, 4);
}

TEST(a_journal_that_makes_no_sense_is_an_error)
{
    static const char *const BAD[] = {
        "machine",
        "machine key=1 cluster=lab name=a number=1",
        "machine key=1 cluster=lab name=a number=1 state=odd",
        "machine key=1 name=a number=1 state=gone",
        "machine key=1 cluster= name=a number=1 state=gone",
        "machine key=x cluster=lab name=a number=1 state=gone",
        "other key=1 cluster=lab name=a number=1 state=gone",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char copy[256];
        struct line line;
        struct error error = { "" };

        (void)snprintf(copy, sizeof(copy), "%s", BAD[i]);
        assert_int_equal(line_parse(copy, strlen(copy), &line, NULL), 0);
        assert_true(local_world_restore(stage.world, &line, &error) < 0);
        assert_true(error.text[0] != '\0');
    }
}

TEST(at_the_end_all_are_killed_and_every_bill_is_closed)
{
    start(5);
    start(6);
    (void)ask(2000, "give-back key=6");
    (void)ask(2000, "rent key=7 offer=" YARD_SMALL_NAME " prefix=st-");
    local_world_close(stage.world, 2100);
    local_world_down(stage.world, 0, 2110);
    local_world_down(stage.world, 1, 2110);

    assert_string_equal(told(), "gone id=7 offer=" YARD_SMALL_NAME " why=died\n"
                                "gone id=5 offer=" YARD_SPOT_NAME
                                " billed_from=1000 billed_to=2100 why=died\n"
                                "gone id=6 offer=" YARD_SPOT_NAME
                                " billed_from=1000 billed_to=2100 why=returned\n");
    assert_int_equal(local_world_living(stage.world), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

CHECK_MAIN(CASE(a_machine_boots_after_its_acquire_time_and_is_billed_once_it_runs),
           CASE(a_return_is_billed_until_the_release_time_is_over),
           CASE(it_is_not_gone_before_its_processes_are),
           CASE(a_key_rents_once_and_answers_the_same), CASE(a_key_that_was_refused_stays_refused),
           CASE(capacity_is_free_again_when_a_machine_is_gone),
           CASE(a_machine_that_never_ran_is_never_billed), CASE(one_that_cannot_be_made_is_refused),
           CASE(a_notice_comes_before_the_end_and_the_end_comes),
           CASE(a_machine_that_dies_is_billed_until_then), CASE(a_list_is_of_one_cluster),
           CASE(the_log_has_price_and_times), CASE(the_same_seed_refuses_the_same),
           CASE(a_journal_brings_back_every_key), CASE(a_journal_that_makes_no_sense_is_an_error),
           CASE(at_the_end_all_are_killed_and_every_bill_is_closed))
