/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that others published read as they are. They are no part of Stint: the environment variable
 * STINT_DATA says where they stand; without it these tests are skipped, all in one, in the way that
 * the build understands (cmocka's skip() prints a "not ok").
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/test/check.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/jobs_csv.h"
#include "trace/matrix_csv.h"

static void read_file(const char *name, struct input_file *ret)
{
    const char *folder = getenv("STINT_DATA");
    struct error error = { "" };
    char path[4096];

    assert_non_null(folder);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (input_file_read(path, ret, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(the_trace_of_eva_has_6274_jobs_and_94_shapes)
{
    struct input_file file;
    struct error error = { "" };
    struct trace trace;
    read_file("eva/pai_full.csv", &file);

    if (jobs_csv_read(file.text, file.length, NULL, &trace, &error) < 0)
        fail_msg("%s", error.text);

    assert_int_equal(trace.job_count, 6274);
    assert_int_equal(trace.task_total, 6274);
    assert_int_equal(trace.shapes.names.count, 94);
    assert_int_equal(trace.shapes.count, 94);
    assert_int_equal(trace.jobs[0].arrival_ms, 960000);
    trace_done(&trace);
    input_file_done(&file);
}

TEST(the_catalogue_of_eva_has_21_types_of_3_families)
{
    struct input_file file;
    struct error error = { "" };
    struct catalogue catalogue;
    read_file("eva/ec2_config_virt.json", &file);

    if (catalogue_file_read(file.text, file.length, &catalogue, &error) < 0)
        fail_msg("%s", error.text);

    assert_int_equal(catalogue.type_count, 21);
    assert_int_equal(catalogue.offer_count, 21);
    assert_int_equal(catalogue.families.count, 3);
    assert_string_equal(catalogue_offer_type_name(&catalogue, 0), "p3.2xlarge");
    assert_int_equal(price_at(&catalogue.offers[3].price, 0), 89250);
    catalogue_done(&catalogue);
    input_file_done(&file);
}

TEST(the_matrix_of_eva_has_9_workloads)
{
    struct input_file file;
    struct error error = { "" };
    struct colocation_matrix matrix;
    read_file("eva/contention_matrix.csv", &file);

    if (matrix_csv_read(file.text, file.length, 0.95, &matrix, &error) < 0)
        fail_msg("%s", error.text);

    assert_int_equal(matrix.count, 9);
    assert_string_equal(names_text(&matrix.workloads, 0), "resnet18");
    assert_float_equal(colocation_matrix_rate(&matrix, 0, 0), 0.928, 0);
    assert_float_equal(colocation_matrix_rate(&matrix, 0, 6), 0.95, 0);
    colocation_matrix_done(&matrix);
    input_file_done(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(the_trace_of_eva_has_6274_jobs_and_94_shapes),
        RUN(the_catalogue_of_eva_has_21_types_of_3_families),
        RUN(the_matrix_of_eva_has_9_workloads),
    };

    if (getenv("STINT_DATA") == NULL) {
        puts("1..0 # SKIP STINT_DATA does not say where the published files stand");
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
