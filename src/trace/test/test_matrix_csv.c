/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/test/check.h"
#include "trace/matrix_csv.h"

static const double unmeasured = 0.95;

static double rate(const struct colocation_matrix *matrix, const char *row, const char *column)
{
    return colocation_matrix_rate(matrix, names_find(&matrix->workloads, row, strlen(row)),
                                  names_find(&matrix->workloads, column, strlen(column)));
}

static void read_text(struct colocation_matrix *matrix, const char *text)
{
    struct error error = { "" };

    if (matrix_csv_read(text, strlen(text), unmeasured, matrix, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(a_value_is_of_the_row_beside_the_column)
{
    struct colocation_matrix matrix;
    read_text(&matrix, ",a_node0,b_node0\na_node0,0.9,x\nb_node0,1.25,\n");

    assert_int_equal(matrix.count, 2);
    assert_float_equal(rate(&matrix, "a", "a"), 0.9, 0);
    assert_float_equal(rate(&matrix, "a", "b"), 0.95, 0);
    assert_float_equal(rate(&matrix, "b", "a"), 1.25, 0);
    assert_float_equal(rate(&matrix, "b", "b"), 0.95, 0);
    colocation_matrix_done(&matrix);
}

TEST(rows_may_come_in_any_order_and_name_others)
{
    struct colocation_matrix matrix;
    read_text(&matrix, "w,a,b\nc,0.3,0.4\nb,0.1,0.2\n");

    assert_int_equal(matrix.count, 3);
    assert_float_equal(rate(&matrix, "c", "b"), 0.4, 0);
    assert_float_equal(rate(&matrix, "b", "a"), 0.1, 0);
    assert_float_equal(rate(&matrix, "a", "a"), 0.95, 0);
    assert_float_equal(rate(&matrix, "b", "c"), 0.95, 0);
    colocation_matrix_done(&matrix);
}

TEST(an_empty_matrix_is_one)
{
    struct colocation_matrix matrix;
    read_text(&matrix, "workload\n");

    assert_int_equal(matrix.count, 0);
    colocation_matrix_done(&matrix);
}

TEST(bad_matrices_are_refused_with_the_line)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "", "is empty: the first line must name the columns" },
        { ",a,a_node0\n", "line 1: the workload 'a' is there twice" },
        { ",a\nb,1\nb,1\n", "line 3: the workload 'b' is there twice" },
        { ",a,\n", "line 1: the name of a workload is empty" },
        { ",a\na,0\n", "line 2, field 2: a throughput must be a number above 0 and at most 2, or x "
                       "where it was not measured, not '0'" },
        { ",a\na,2.01\n", "line 2, field 2: a throughput must be a number above 0 and at most 2, "
                          "or x where it was not measured, not '2.01'" },
        { ",a\na,nan\n", "line 2, field 2: a throughput must be a number above 0 and at most 2, or "
                         "x where it was not measured, not 'nan'" },
        { ",a\na,1,1\n", "line 2: has 3 fields, but the header names 2" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct colocation_matrix matrix = { .count = 42 };
        struct error error = { "" };

        assert_int_equal(
            matrix_csv_read(cases[i].text, strlen(cases[i].text), unmeasured, &matrix, &error),
            -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(matrix.count, 42);
    }
}

TEST(workloads_have_a_limit)
{
    enum { ROOM = 8 * (LIMIT_CONTENTION_NAMES + 2) };
    char *text = mem_alloc(ROOM, 1);
    struct colocation_matrix matrix;
    struct error error;
    size_t used = 1;

    text[0] = 'w';
    for (int i = 0; i <= LIMIT_CONTENTION_NAMES; i++)
        used += (size_t)snprintf(text + used, ROOM - used, ",w%d", i);

    assert_int_equal(matrix_csv_read(text, used, unmeasured, &matrix, &error), -E2BIG);
    assert_string_equal(error.text, "line 1: there are more than 4096 workloads");
    mem_free(text);
}

CHECK_MAIN(RUN(a_value_is_of_the_row_beside_the_column),
           RUN(rows_may_come_in_any_order_and_name_others), RUN(an_empty_matrix_is_one),
           RUN(bad_matrices_are_refused_with_the_line), RUN(workloads_have_a_limit))
