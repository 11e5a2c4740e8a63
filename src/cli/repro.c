/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/repro.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/data_dir.h"
#include "cli/verb.h"
#include "trace/number.h"

enum { PATH_SIZE = 1024 };

bool repro_wants(const struct repro_options *options, const char *name)
{
    for (uint32_t i = 0; i < options->policy_count; i++) {
        if (strcmp(options->policies[i], name) == 0)
            return true;
    }
    return options->policy_count == 0;
}

int repro_read_data(const char *file, struct input_file *ret, struct error *reterr)
{
    char path[PATH_SIZE];

    if (data_dir_path(file, path, sizeof(path)) != 0)
        return error_set(
            reterr, -ENOENT,
            "cannot find %s; point STINT_DATA at the public data sets (docs/research/data.md "
            "says where to get them)",
            path);
    return input_file_read(path, ret, reterr);
}

int repro_get_number(const struct csv *csv, const char *name, int digits, int64_t least,
                     int64_t most, int64_t *ret, struct error *reterr)
{
    const struct csv_field field = csv_field(csv, csv_column(csv, name));

    if (number_nearest(field.text, field.length, digits, ret) == 0 && *ret >= least && *ret <= most)
        return 0;
    return error_set(reterr, -EINVAL, "line %u: '%s' is no number that can be; get the data again",
                     csv->line, name);
}

int repro_fail(int rc, const struct error *error)
{
    (void)verb_fail("repro", error);
    return rc == -ENOENT ? EXIT_NO_DATA : EXIT_FAILED;
}

bool repro_is_near(const char *who, const char *what, double measured, double expected,
                   double tolerance)
{
    if (fabs(measured - expected) <= tolerance)
        return true;
    fprintf(stderr, "stint repro: %s: %s is %.4f, expected %.4f +- %.4f\n", who, what, measured,
            expected, tolerance);
    return false;
}

int repro_write_chart(const struct chart *chart, const char *path)
{
    FILE *out = fopen(path, "w");
    int rc = out == NULL ? -errno : chart_write(chart, out);

    if (out != NULL && fclose(out) != 0 && rc == 0)
        rc = -errno;
    if (rc != 0)
        fprintf(stderr, "stint repro: cannot write %s: %s\n", path, strerror(-rc));
    return rc;
}
