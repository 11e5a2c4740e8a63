/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Days since 1970-01-01 of a date of the Gregorian calendar (after H. Hinnant's days_from_civil). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = y / 400;
    const int64_t of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The digits of 'text' from 'from', 'count' of them, or -1. */
static int64_t digits(const char *text, int from, int count)
{
    int64_t value = 0;

    for (int i = from; i < from + count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

msec_t aws_clock_read(const char *text)
{
    text += strcspn(text, "0123456789");
    if (strnlen(text, 19) < 19)
        return -1;

    const int64_t year = digits(text, 0, 4);
    const int64_t month = digits(text, 5, 2);
    const int64_t day = digits(text, 8, 2);
    const int64_t hour = digits(text, 11, 2);
    const int64_t minute = digits(text, 14, 2);
    const int64_t second = digits(text, 17, 2);
    const bool is_good = text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ' ') &&
                         text[13] == ':' && text[16] == ':';

    if (!is_good || year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31)
        return -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return -1;

    const int64_t milli = text[19] == '.' && strnlen(text + 20, 3) == 3 ? digits(text, 20, 3) : 0;

    return ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60000 + second * 1000 +
           (milli > 0 ? milli : 0);
}

void aws_clock_print(msec_t at, char *ret)
{
    const time_t seconds = (time_t)(at / MSEC_PER_SEC);
    struct tm parts = { 0 };

    (void)gmtime_r(&seconds, &parts);
    if (strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        ret[0] = '\0';
}
