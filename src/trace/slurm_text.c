/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/slurm_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "trace/number.h"

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* A whole number of at most 18 digits; -1: it is none. */
static int64_t whole(const char *text, size_t length)
{
    int64_t value = 0;

    if (length == 0 || length > 18)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* ---- points in time ---- */

/* Days from 1970-01-01 to a day of the Gregorian calendar: years begin in March, so that the leap
 * day is the last of a year, and months of the year follow a straight line of 153 days for 5. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    const int64_t shifted = month <= 2 ? year - 1 : year;
    const int64_t era = shifted / 400;
    const int64_t year_of_era = shifted % 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int64_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static int take_iso(const char *text, int64_t *ret_s)
{
    static const struct {
        int at;
        int length;
        char behind;
    } parts[] = { { 0, 4, '-' },  { 5, 2, '-' },  { 8, 2, 'T' },
                  { 11, 2, ':' }, { 14, 2, ':' }, { 17, 2, 0 } };
    int64_t value[6];

    for (int i = 0; i < 6; i++) {
        value[i] = whole(text + parts[i].at, (size_t)parts[i].length);
        if (value[i] < 0)
            return -EINVAL;
        if (parts[i].behind != 0 && text[parts[i].at + parts[i].length] != parts[i].behind)
            return -EINVAL;
    }
    /* 60: the leap second that a clock may show. */
    if (value[0] < 1970 || value[1] < 1 || value[1] > 12 || value[2] < 1 ||
        value[2] > days_in_month(value[0], value[1]) || value[3] > 23 || value[4] > 59 ||
        value[5] > 60)
        return -EINVAL;
    *ret_s = days_since_1970(value[0], value[1], value[2]) * 86400 + value[3] * 3600 +
             value[4] * 60 + value[5];
    return 0;
}

int slurm_time(const char *text, size_t length, int64_t *ret_s)
{
    enum { ISO_LENGTH = 19 };
    int64_t value = SLURM_UNKNOWN;

    if (length == 0 || is_word(text, length, "Unknown") || is_word(text, length, "None")) {
        *ret_s = SLURM_UNKNOWN;
        return 0;
    }
    if (length == ISO_LENGTH) {
        if (take_iso(text, &value) < 0)
            return -EINVAL;
    } else {
        value = whole(text, length);
        if (value < 0)
            return -EINVAL;
    }
    if (value > LIMIT_TIME_MS / MSEC_PER_SEC)
        return -ERANGE;
    *ret_s = value;
    return 0;
}

/* ---- lengths of time ---- */

/* Digits, perhaps with a point in them, as thousandths; -1: it is none. */
static int64_t plain_milli(const char *text, size_t length)
{
    int64_t value = -1;

    for (size_t i = 0; i < length; i++) {
        if ((text[i] < '0' || text[i] > '9') && text[i] != '.')
            return -1;
    }
    return number_nearest(text, length, 3, &value) < 0 ? -1 : value;
}

/* hours:minutes:seconds, or minutes:seconds if there are no 'days' (-1). */
static int take_clock(const char *at, const char *end, int64_t days, msec_t *ret)
{
    int64_t part[2] = { 0 };
    int colons = 0;

    for (; colons < 2; colons++) {
        const char *colon = memchr(at, ':', (size_t)(end - at));

        if (colon == NULL)
            break;
        part[colons] = whole(at, (size_t)(colon - at));
        if (part[colons] < 0)
            return -EINVAL;
        at = colon + 1;
    }

    const int64_t seconds_ms = plain_milli(at, (size_t)(end - at));

    if (seconds_ms < 0 || colons == 0 || (colons == 1 && days >= 0))
        return -EINVAL;

    const int64_t hours = colons == 2 ? part[0] : 0;
    const int64_t minutes = part[colons - 1];

    if (days > LIMIT_TIME_MS || hours > LIMIT_TIME_MS || minutes > LIMIT_TIME_MS)
        return -ERANGE;

    const int64_t seconds = (((days > 0 ? days : 0) * 24 + hours) * 60 + minutes) * 60;

    if (seconds > LIMIT_TIME_MS / MSEC_PER_SEC ||
        seconds_ms > LIMIT_TIME_MS - seconds * MSEC_PER_SEC)
        return -ERANGE;
    *ret = seconds * MSEC_PER_SEC + seconds_ms;
    return 0;
}

int slurm_duration(const char *text, size_t length, msec_t *ret)
{
    static const char *const unknown[] = { "UNLIMITED", "Partition_Limit", "INVALID" };

    if (length == 0) {
        *ret = SLURM_UNKNOWN;
        return 0;
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (is_word(text, length, unknown[i])) {
            *ret = SLURM_UNKNOWN;
            return 0;
        }
    }

    const char *dash = memchr(text, '-', length);

    if (dash == NULL)
        return take_clock(text, text + length, -1, ret);

    const int64_t days = whole(text, (size_t)(dash - text));

    return days < 0 ? -EINVAL : take_clock(dash + 1, text + length, days, ret);
}

/* ---- memory ---- */

/* 'milli' thousandths of 1024^power KiB, in MiB, rounded up. */
static int to_mib(int64_t milli, int power, int64_t *ret)
{
    /* In thousandths of MiB, but for KiB: there a 1024th of that. */
    for (int i = 1; i < power; i++) {
        if (__builtin_mul_overflow(milli, 1024, &milli))
            return -ERANGE;
    }

    const int64_t unit = power == 0 ? 1000 * 1024 : 1000;
    const int64_t mib = milli / unit + (milli % unit != 0);

    if (mib > LIMIT_RESOURCE)
        return -ERANGE;
    *ret = mib;
    return 0;
}

int slurm_memory(const char *text, size_t length, struct slurm_memory *ret)
{
    static const char letters[] = "KMGTPE";
    struct slurm_memory memory = { SLURM_UNKNOWN, SLURM_PER_JOB };
    int power = 1;

    if (length == 0 || is_word(text, length, "?")) {
        *ret = memory;
        return 0;
    }
    if (text[length - 1] == 'c' || text[length - 1] == 'n') {
        memory.per = text[length - 1] == 'c' ? SLURM_PER_CPU : SLURM_PER_NODE;
        length--;
    }
    if (length > 0 && memchr(letters, text[length - 1], sizeof(letters) - 1) != NULL) {
        const char *letter = memchr(letters, text[length - 1], sizeof(letters) - 1);

        power = (int)(letter - letters);
        length--;
    }

    const int64_t milli = plain_milli(text, length);

    if (milli < 0)
        return -EINVAL;

    const int rc = to_mib(milli, power, &memory.mib);

    if (rc < 0)
        return rc;
    *ret = memory;
    return 0;
}

/* ---- trackable resources ---- */

struct gpus {
    int64_t any;      /* "gres/gpu" */
    int64_t of_types; /* "gres/gpu:a100" and so on, added up */
};

static bool begins(const char *text, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* The place for a count with that name; NULL: it is of no interest. */
static int64_t *place_of(const char *name, size_t length, struct slurm_tres *tres,
                         struct gpus *gpus)
{
    if (is_word(name, length, "cpu"))
        return &tres->cpus;
    if (is_word(name, length, "node"))
        return &tres->nodes;
    if (is_word(name, length, "gres/gpu"))
        return &gpus->any;
    if (begins(name, length, "gres/gpu:"))
        return &gpus->of_types;
    return NULL;
}

/* One "name=value". */
static int take_tres(const char *text, size_t length, struct slurm_tres *tres, struct gpus *gpus)
{
    const char *equals = memchr(text, '=', length);

    if (equals == NULL)
        return -EINVAL;

    const size_t name_length = (size_t)(equals - text);
    const char *value = equals + 1;
    const size_t value_length = length - name_length - 1;

    if (is_word(text, name_length, "mem")) {
        struct slurm_memory memory;
        const int rc = slurm_memory(value, value_length, &memory);

        if (rc == 0)
            tres->mem_mib = memory.mib;
        return rc;
    }

    int64_t *place = place_of(text, name_length, tres, gpus);

    if (place == NULL)
        return 0;

    const int64_t count = whole(value, value_length);

    if (count < 0)
        return -EINVAL;
    if (count > LIMIT_TASKS)
        return -ERANGE;
    *place = (place == &gpus->of_types && *place > 0 ? *place : 0) + count;
    return 0;
}

int slurm_tres(const char *text, size_t length, struct slurm_tres *ret)
{
    struct slurm_tres tres = { SLURM_UNKNOWN, SLURM_UNKNOWN, SLURM_UNKNOWN, SLURM_UNKNOWN };
    struct gpus gpus = { SLURM_UNKNOWN, SLURM_UNKNOWN };
    const char *at = text;
    const char *end = text + length;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *part_end = comma != NULL ? comma : end;
        const int rc = take_tres(at, (size_t)(part_end - at), &tres, &gpus);

        if (rc < 0)
            return rc;
        at = comma != NULL ? comma + 1 : end;
    }
    tres.gpus = gpus.any >= 0 ? gpus.any : gpus.of_types;
    *ret = tres;
    return 0;
}
