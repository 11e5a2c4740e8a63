/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/finding_watch.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

struct told {
    char text[4096];
};

static void add(struct told *told, char sign, const struct finding *finding)
{
    const size_t used = strlen(told->text);

    (void)snprintf(told->text + used, sizeof(told->text) - used, "%c%s:%s ", sign, finding->kind,
                   finding->subject);
}

static void on_new(void *context, const struct finding *finding)
{
    assert_non_null(finding->advice);
    add(context, '+', finding);
}

static void on_gone(void *context, const struct finding *finding)
{
    add(context, '-', finding);
}

static struct finding_watch watch;
static msec_t now;

static void look(const char *const *subjects, const char *kind, const char *text)
{
    finding_watch_begin(&watch, now += 10000);
    for (; *subjects != NULL; subjects++)
        finding_watch_see(&watch, &(struct finding){ .severity = "error",
                                                     .kind = kind,
                                                     .subject = *subjects,
                                                     .text = text,
                                                     .advice = "do" });
    finding_watch_end(&watch);
}

TEST(a_finding_is_told_when_it_comes_and_when_it_goes_and_not_between)
{
    struct told told = { "" };

    watch = (struct finding_watch){ .on_new = on_new, .on_gone = on_gone, .context = &told };
    look((const char *const[]){ "a", "b", NULL }, "leaked", "1 s");
    look((const char *const[]){ "a", "b", NULL }, "leaked", "2 s");
    assert_string_equal(told.text, "+leaked:a +leaked:b ");
    told.text[0] = '\0';
    look((const char *const[]){ "b", "c", NULL }, "leaked", "3 s");
    assert_string_equal(told.text, "+leaked:c -leaked:a ");
    told.text[0] = '\0';
    look((const char *const[]){ NULL }, "leaked", "");
    look((const char *const[]){ "a", NULL }, "leaked", "again");
    assert_string_equal(told.text, "-leaked:b -leaked:c +leaked:a ");
}

static void on_past(void *to, const struct serve_past_finding *past)
{
    struct told *told = to;
    const size_t used = strlen(told->text);

    (void)snprintf(told->text + used, sizeof(told->text) - used, "%s:%s %lld-%lld ", past->kind,
                   past->subject, (long long)past->since, (long long)past->until);
}

TEST(what_is_gone_is_kept_for_ten_minutes)
{
    struct told told = { "" };

    watch = (struct finding_watch){ 0 };
    now = 0;
    look((const char *const[]){ "a", "b", NULL }, "leaked", "1 s");
    look((const char *const[]){ "b", NULL }, "leaked", "2 s");
    look((const char *const[]){ NULL }, "leaked", "");
    finding_watch_each_past(&watch, now, on_past, &told);
    assert_string_equal(told.text, "leaked:b 10000-30000 leaked:a 10000-20000 ");
    told.text[0] = '\0';
    finding_watch_each_past(&watch, 20000 + FINDING_WATCH_PAST_MS, on_past, &told);
    assert_string_equal(told.text, "leaked:b 10000-30000 ");
    for (int i = 0; i < FINDING_WATCH_PAST + 5; i++) {
        look((const char *const[]){ "c", NULL }, "leaked", "");
        look((const char *const[]){ NULL }, "leaked", "");
    }
    assert_int_equal(watch.past_count, FINDING_WATCH_PAST);
}

TEST(each_kind_has_a_tally_that_outlives_its_findings)
{
    watch = (struct finding_watch){ 0 };
    look((const char *const[]){ "a", "b", "b", NULL }, "leaked", "");
    look((const char *const[]){ "x", NULL }, "no-boot", "");

    assert_int_equal(watch.tally_count, 2);
    assert_string_equal(watch.tallies[0].kind, "leaked");
    assert_string_equal(watch.tallies[0].severity, "error");
    assert_int_equal(watch.tallies[0].now, 0);
    assert_int_equal(watch.tallies[0].appeared, 2);
    assert_int_equal(watch.tallies[1].now, 1);
}

TEST(too_many_findings_are_counted_and_no_harm)
{
    static char names[FINDING_WATCH_MAX + 10][16];
    static const char *subjects[FINDING_WATCH_MAX + 11];

    for (int i = 0; i < FINDING_WATCH_MAX + 10; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "st-%d", i);
        subjects[i] = names[i];
    }
    watch = (struct finding_watch){ 0 };
    look(subjects, "stuck-node", "");
    assert_int_equal(watch.count, FINDING_WATCH_MAX);
    assert_int_equal(watch.tallies[0].now, FINDING_WATCH_MAX + 10);
    for (int i = 0; i < FINDING_WATCH_KINDS + 5; i++)
        look((const char *const[]){ "x", NULL }, names[i], "");
    assert_int_equal(watch.tally_count, FINDING_WATCH_KINDS);
}

CHECK_MAIN(RUN(a_finding_is_told_when_it_comes_and_when_it_goes_and_not_between),
           RUN(what_is_gone_is_kept_for_ten_minutes),
           RUN(each_kind_has_a_tally_that_outlives_its_findings),
           RUN(too_many_findings_are_counted_and_no_harm))
