/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples in docs/reference/files/ are what the documents say. The build tells where they stand by the
 * environment variable STINT_FORMATS.
 */
#include <stdlib.h>

#include "base/test/check.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/jobs_csv.h"
#include "trace/matrix_csv.h"

static void read_file(const char *name, struct input_file *ret)
{
    const char *folder = getenv("STINT_FORMATS");
    struct error error = { "" };
    char path[4096];

    assert_non_null(folder);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (input_file_read(path, ret, &error) < 0)
        fail_msg("%s", error.text);
}

static void read_catalogue(struct catalogue *ret)
{
    struct input_file file;
    struct error error = { "" };

    read_file("catalogue.example.yaml", &file);
    if (catalogue_file_read(file.text, file.length, ret, &error) < 0)
        fail_msg("%s", error.text);
    input_file_done(&file);
}

TEST(the_example_of_a_catalogue_has_three_types_and_five_offers)
{
    struct catalogue catalogue;
    read_catalogue(&catalogue);

    assert_int_equal(catalogue.type_count, 3);
    assert_int_equal(catalogue.offer_count, 5);
    assert_int_equal(catalogue.types[1].acquire_ms, 45000);
    assert_int_equal(catalogue.types[1].setup_ms, 60000);
    assert_int_equal(catalogue.offers[0].billing.minimum_ms, 60000);
    assert_int_equal(catalogue.offers[3].price.count, 3);
    assert_int_equal(catalogue.offers[3].interruption.high, 10);
    catalogue_done(&catalogue);
}

TEST(the_example_of_a_jobs_table_fits_the_catalogue)
{
    struct input_file file;
    struct error error = { "" };
    struct catalogue catalogue;
    struct trace trace;
    read_catalogue(&catalogue);
    read_file("jobs.example.csv", &file);

    if (jobs_csv_read(file.text, file.length, &catalogue.families, &trace, &error) < 0)
        fail_msg("%s", error.text);

    assert_int_equal(trace.job_count, 4);
    assert_int_equal(trace.task_total, 113);
    assert_int_equal(trace.shapes.count, 3);
    assert_true(trace.jobs[1].gang);
    assert_false(trace.jobs[2].gang);
    trace_done(&trace);
    input_file_done(&file);
    catalogue_done(&catalogue);
}

TEST(the_example_of_a_matrix_has_three_workloads)
{
    struct input_file file;
    struct error error = { "" };
    struct colocation_matrix matrix;
    read_file("colocation.example.csv", &file);

    if (matrix_csv_read(file.text, file.length, 0.95, &matrix, &error) < 0)
        fail_msg("%s", error.text);

    assert_int_equal(matrix.count, 3);
    assert_float_equal(colocation_matrix_rate(&matrix, 2, 0), 0.8, 0);
    assert_float_equal(colocation_matrix_rate(&matrix, 0, 2), 0.88, 0);
    colocation_matrix_done(&matrix);
    input_file_done(&file);
}

CHECK_MAIN(RUN(the_example_of_a_catalogue_has_three_types_and_five_offers),
           RUN(the_example_of_a_jobs_table_fits_the_catalogue),
           RUN(the_example_of_a_matrix_has_three_workloads))
