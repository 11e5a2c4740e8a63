/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Prometheus would read, read back and held against store and world; and promtool's own word,
 * where it is installed.
 */
#include "serve/metrics.h"

#include "base/test/check.h"
#include "serve/test/serve_stage.h"

static char *text_of(const struct serve_stage *stage)
{
    struct error error = { "" };
    size_t size = 0;
    char *text = metrics_text(&stage->world, &size, &error);

    if (text == NULL) {
        fail_msg("%s", error.text);
        return NULL;
    }
    assert_int_equal(strlen(text), size);
    return text;
}

/* The value of the line that begins with 'series' and a space, as it is printed. */
static const char *value_of(const char *text, const char *series)
{
    static char values[8][64];
    static int next;
    char *value = values[next++ % 8];
    const size_t length = strlen(series);

    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');

        if (strncmp(line, series, length) == 0 && line[length] == ' ') {
            snprintf(value, 64, "%.*s", (int)(end - line - (ptrdiff_t)length - 1),
                     line + length + 1);
            return value;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    fail_msg("there is no %s", series);
    return "";
}

TEST(numbers_are_those_of_store_and_world)
{
    struct serve_stage stage;

    stage_init(&stage);
    char *text = text_of(&stage);

    assert_string_equal(value_of(text, "stint_launches_total"), "3");
    assert_string_equal(value_of(text, "stint_launch_failures_total{kind=\"refused\"}"), "1");
    assert_string_equal(value_of(text, "stint_launch_failures_total{kind=\"vanished\"}"), "0");
    assert_string_equal(value_of(text, "stint_evictions_total{reason=\"notice\"}"), "2");
    assert_string_equal(value_of(text, "stint_instances{state=\"ready\"}"), "1");
    assert_string_equal(value_of(text, "stint_tasks{state=\"waiting\"}"), "2");
    assert_string_equal(value_of(text, "stint_open_intents"), "1");
    assert_string_equal(value_of(text, "stint_link_up{link=\"slurm\"}"), "1");
    assert_string_equal(value_of(text, "stint_audit_age_seconds"), "102.000");
    assert_string_equal(value_of(text, "stint_tasks_ended_total"), "1");
    assert_string_equal(value_of(text, "stint_findings{severity=\"error\"}"), "1");
    assert_string_equal(value_of(text, "stint_findings{severity=\"warning\"}"), "0");
    assert_string_equal(value_of(text, "stint_findings{severity=\"note\"}"), "1");
    free(text);
    stage_done(&stage);
}

TEST(money_agrees_with_the_ledger_to_the_micro_dollar)
{
    struct serve_stage stage;
    struct store_totals totals;
    char amount[64];

    stage_init(&stage);
    store_begin(stage.store);
    store_account_set(stage.store,
                      &(struct store_account){ .instance = 2000,
                                               .from = STAGE_T0,
                                               .until = STAGE_T0 + 1,
                                               .sums = { .idle = -7, .work = 123456789 } });
    assert_int_equal(store_commit(stage.store, NULL), 0);
    assert_int_equal(store_totals(stage.store, &totals, NULL), 0);
    char *text = text_of(&stage);

    serve_money_text(totals.bill, amount, sizeof(amount));
    assert_string_equal(value_of(text, "stint_bill_dollars"), amount);
    assert_string_equal(amount, "123.516782");
    assert_string_equal(value_of(text, "stint_bill_part_dollars{part=\"work\"}"), "123.506789");
    assert_string_equal(value_of(text, "stint_bill_part_dollars{part=\"idle\"}"), "0.002993");
    assert_string_equal(value_of(text, "stint_bill_part_dollars{part=\"boot\"}"), "0.007000");
    assert_string_equal(value_of(text, "stint_savings_dollars"), "-123.312982");
    assert_string_equal(value_of(text, "stint_cost_dollars_per_hour"), "0.360000");
    assert_string_equal(value_of(text, "stint_bound_cost_dollars_per_hour"), "1.080000");
    assert_string_equal(value_of(text, "stint_bound_dollars_per_hour"), "0.899999");
    assert_string_equal(value_of(text, "stint_bound_gap_ratio"), "0.200001");
    free(text);
    stage_done(&stage);
}

TEST(spot_offers_that_had_machines_have_series_and_no_others)
{
    struct serve_stage stage;
    const struct interruption_memory seen = { .losses_micro = 2500000,
                                              .machine_ms = 100 * MSEC_PER_HOUR,
                                              .at = STAGE_T0 };

    stage_init(&stage);
    char *text = text_of(&stage);

    assert_string_equal(value_of(text, "stint_spot_losses_seen{type=\"a.large\",zone=\"z1\"}"),
                        "0.000000");
    assert_null(strstr(text, "b.large")); /* on demand */
    assert_null(strstr(text, "stint_spot_lasts_seconds{"));
    free(text);
    assert_true(controller_resume_risk(stage.controller, 0, &seen));
    stage.now = STAGE_T0;
    text = text_of(&stage);
    assert_string_equal(value_of(text, "stint_spot_losses_seen{type=\"a.large\",zone=\"z1\"}"),
                        "2.500000");
    assert_string_equal(
        value_of(text, "stint_spot_machine_seconds_seen{type=\"a.large\",zone=\"z1\"}"), "360000");
    /* (100 + 36 hours) / (2.5 + 0.05 losses): with a prior of a twentieth of a loss in a month */
    assert_string_equal(value_of(text, "stint_spot_lasts_seconds{type=\"a.large\",zone=\"z1\"}"),
                        "192000");
    free(text);
    stage_done(&stage);
}

TEST(the_histogram_is_cumulative_and_in_seconds)
{
    struct serve_stage stage;

    stage_init(&stage);
    serve_note_decision(&stage.world, 100);
    serve_note_decision(&stage.world, 101);
    serve_note_decision(&stage.world, 6000000);
    char *text = text_of(&stage);

    assert_string_equal(value_of(text, "stint_decision_seconds_bucket{le=\"0.000100\"}"), "1");
    assert_string_equal(value_of(text, "stint_decision_seconds_bucket{le=\"0.000250\"}"), "2");
    assert_string_equal(value_of(text, "stint_decision_seconds_bucket{le=\"0.005000\"}"), "4");
    assert_string_equal(value_of(text, "stint_decision_seconds_bucket{le=\"5.000000\"}"), "4");
    assert_string_equal(value_of(text, "stint_decision_seconds_bucket{le=\"+Inf\"}"), "5");
    assert_string_equal(value_of(text, "stint_decision_seconds_count"), "5");
    assert_string_equal(value_of(text, "stint_decision_seconds_sum"), "6.003201");
    free(text);
    stage_done(&stage);
}

TEST(no_label_can_break_out_of_its_quotes)
{
    struct serve_stage stage;

    stage_init(&stage);
    stage.world.cluster = "a\"} 1\nevil 2 \\ \xff";
    char *text = text_of(&stage);

    assert_null(strstr(text, "\nevil"));
    assert_non_null(strstr(text, "cluster=\"a\\\"} 1\\nevil 2 \\\\ ?\"} 1\n"));
    free(text);
    stage_done(&stage);
}

static uint32_t lines_of(const char *text)
{
    uint32_t count = 0;

    for (const char *at = text; at != NULL && *at != '\0'; at++)
        count += *at == '\n';
    return count;
}

TEST(the_number_of_series_does_not_grow_with_the_cluster)
{
    struct serve_stage stage;

    stage_init(&stage);
    char *text = text_of(&stage);
    const uint32_t before = lines_of(text);

    free(text);
    for (uint64_t i = 0; i < 200; i++) {
        char user[32];

        snprintf(user, sizeof(user), "user%u", (unsigned)i);
        stage_arrive(
            &stage,
            (struct job_spec){ .id = 10000 + i, .first_task_id = 10000 + i, .task_count = 1 }, user,
            user, 1);
    }
    stage_decide(&stage);
    text = text_of(&stage);
    assert_int_equal(lines_of(text), before);
    assert_string_equal(value_of(text, "stint_instances{state=\"requested\"}"), "203");
    free(text);
    stage_done(&stage);
}

TEST(promtool_finds_nothing_wrong)
{
    struct serve_stage stage;
    char command[256];

    if (system("command -v promtool >/dev/null") != 0)
        skip();
    stage_init(&stage);
    char *text = text_of(&stage);

    snprintf(command, sizeof(command), "promtool check metrics >%s/said 2>&1", stage.folder);

    FILE *pipe = popen(command, "w");

    assert_non_null(pipe);
    fputs(text, pipe);
    const int status = pclose(pipe);

    snprintf(command, sizeof(command), "%s/said", stage.folder);
    FILE *said = fopen(command, "r");
    char line[256] = "";

    assert_non_null(said);
    line[fread(line, 1, sizeof(line) - 1, said)] = '\0';
    fclose(said);
    free(text);
    stage_done(&stage);
    assert_string_equal(line, "");
    assert_int_equal(status, 0);
}

CHECK_MAIN(RUN(numbers_are_those_of_store_and_world),
           RUN(money_agrees_with_the_ledger_to_the_micro_dollar),
           RUN(spot_offers_that_had_machines_have_series_and_no_others),
           RUN(the_histogram_is_cumulative_and_in_seconds),
           RUN(no_label_can_break_out_of_its_quotes),
           RUN(the_number_of_series_does_not_grow_with_the_cluster),
           RUN(promtool_finds_nothing_wrong))
