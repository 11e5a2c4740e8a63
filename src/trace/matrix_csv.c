/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes: the first collects the names, so that the matrix is allocated once and for all rows;
 * the second reads the values.
 */
#include "trace/matrix_csv.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/csv.h"
#include "trace/input_text.h"
#include "trace/number.h"

enum { RATE_DIGITS = 9 };

static const double rate_unit = 1e9;
static const int64_t rate_max = 2000000000;

static struct csv_field cut_suffix(struct csv_field name)
{
    static const char suffix[] = "_node0";
    const size_t length = sizeof(suffix) - 1;

    if (name.length > length && memcmp(name.text + name.length - length, suffix, length) == 0)
        name.length -= length;
    return name;
}

/* Add the name to 'workloads' and to 'seen', where it must be new. */
static int take_name(struct csv_field field, uint32_t line, struct names *workloads,
                     struct names *seen, struct error *reterr)
{
    const struct csv_field name = cut_suffix(field);
    const char *fault = text_name_fault(name.text, name.length);

    if (fault != NULL)
        return error_set(reterr, -EINVAL, "line %u: the name of a workload %s", line, fault);
    if (names_find(seen, name.text, name.length) != NAME_NONE)
        return error_set(reterr, -EINVAL, "line %u: the workload '%s' is there twice", line,
                         text_excerpt(name.text, name.length).text);
    names_add(seen, name.text, name.length);
    names_add(workloads, name.text, name.length);
    if (workloads->count > LIMIT_CONTENTION_NAMES)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d workloads", line,
                         LIMIT_CONTENTION_NAMES);
    return 0;
}

static int take_columns(const struct csv *csv, struct names *workloads, struct error *reterr)
{
    struct names seen;
    int rc = 0;

    names_init(&seen);
    for (uint32_t i = 1; rc == 0 && i < csv->column_count; i++)
        rc = take_name(csv->header[i], csv->line, workloads, &seen, reterr);
    names_done(&seen);
    return rc;
}

static int take_rows(struct csv *csv, struct names *workloads, struct error *reterr)
{
    struct names seen;
    int rc;

    names_init(&seen);
    while ((rc = csv_next(csv, reterr)) > 0) {
        rc = take_name(csv_field(csv, 0), csv->line, workloads, &seen, reterr);
        if (rc < 0)
            break;
    }
    names_done(&seen);
    return rc;
}

static int take_rate(const struct csv *csv, uint32_t column, double *ret, struct error *reterr)
{
    const struct csv_field field = csv_field(csv, column);
    int64_t value = 0;

    if (field.length == 0 || (field.length == 1 && (*field.text == 'x' || *field.text == 'X')))
        return 0;

    const int rc = number_nearest(field.text, field.length, RATE_DIGITS, &value);

    if (rc < 0 || value <= 0 || value > rate_max)
        return error_set(reterr, -EINVAL,
                         "line %u, field %u: a throughput must be a number above 0 and at most 2, "
                         "or x where it was not measured, not '%s'",
                         csv->line, column + 1, text_excerpt(field.text, field.length).text);
    *ret = (double)value / rate_unit;
    return 0;
}

static int take_values(struct csv *csv, const struct colocation_matrix *matrix,
                       struct error *reterr)
{
    int rc;

    while ((rc = csv_next(csv, reterr)) > 0) {
        const struct csv_field name = cut_suffix(csv_field(csv, 0));
        const uint32_t row = names_find(&matrix->workloads, name.text, name.length);
        double *rates = matrix->rate + (size_t)row * matrix->count;

        /* The header's names came first, so column i is workload i - 1. */
        for (uint32_t i = 1; i < csv->column_count; i++) {
            rc = take_rate(csv, i, &rates[i - 1], reterr);
            if (rc < 0)
                return rc;
        }
    }
    return rc;
}

/* The names of the first pass. */
static int read_names(struct csv_field input, struct names *workloads, struct error *reterr)
{
    struct csv csv;
    int rc = csv_open(&csv, input.text, input.length, reterr);

    if (rc < 0)
        return rc;
    rc = take_columns(&csv, workloads, reterr);
    if (rc == 0)
        rc = take_rows(&csv, workloads, reterr);
    csv_close(&csv);
    return rc;
}

/* The values of the second. */
static int read_values(struct csv_field input, double unmeasured, struct colocation_matrix *matrix,
                       struct error *reterr)
{
    const size_t cells = (size_t)matrix->count * matrix->count;
    struct csv csv;
    int rc = csv_open(&csv, input.text, input.length, reterr);

    if (rc < 0)
        return rc;
    matrix->rate = mem_alloc(cells, sizeof(*matrix->rate));
    for (size_t i = 0; i < cells; i++)
        matrix->rate[i] = unmeasured;
    rc = take_values(&csv, matrix, reterr);
    csv_close(&csv);
    return rc;
}

int matrix_csv_read(const char *text, size_t length, double unmeasured,
                    struct colocation_matrix *ret, struct error *reterr)
{
    assert(unmeasured > 0 && unmeasured <= COLOCATION_RATE_MAX);

    const struct csv_field input = { text, length };
    struct colocation_matrix matrix = { 0 };

    names_init(&matrix.workloads);

    int rc = read_names(input, &matrix.workloads, reterr);

    if (rc == 0) {
        matrix.count = matrix.workloads.count;
        rc = read_values(input, unmeasured, &matrix, reterr);
    }
    if (rc < 0) {
        colocation_matrix_done(&matrix);
        return rc;
    }
    *ret = matrix;
    return 0;
}

double colocation_matrix_rate(const struct colocation_matrix *matrix, uint32_t workload,
                              uint32_t other)
{
    assert(workload < matrix->count);
    assert(other < matrix->count);
    return matrix->rate[(size_t)workload * matrix->count + other];
}

void colocation_matrix_done(struct colocation_matrix *matrix)
{
    mem_free(matrix->rate);
    names_done(&matrix->workloads);
    matrix->rate = NULL;
    matrix->count = 0;
}
