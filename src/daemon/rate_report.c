/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/rate_report.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { FULL_PPM = 1000000, DIGITS = 6 };

/* What a label may have: numbers of jobs, of array tasks and of components. */
static bool is_label(char letter)
{
    return isalnum((unsigned char)letter) != 0 ||
           (letter != '\0' && strchr("_+.-", letter) != NULL);
}

/* "0.83", "1", "1.0": at most one digit before the point. */
static int parse_rate(const char *text, size_t length, uint32_t *ret_ppm)
{
    uint32_t ppm;
    uint32_t unit = FULL_PPM / 10;

    if (length == 0 || (text[0] != '0' && text[0] != '1') || (length > 1 && text[1] != '.') ||
        length == 2 || length > 2 + DIGITS)
        return -EINVAL;
    ppm = text[0] == '1' ? FULL_PPM : 0;
    for (size_t i = 2; i < length; i++, unit /= 10) {
        if (isdigit((unsigned char)text[i]) == 0)
            return -EINVAL;
        ppm += unit * (uint32_t)(text[i] - '0');
    }
    *ret_ppm = ppm;
    return ppm > 0 && ppm <= FULL_PPM ? 0 : -EINVAL;
}

int rate_report_parse(const char *text, size_t length, struct rate_report *ret)
{
    size_t label = 0;

    if (length > 0 && text[length - 1] == '\n')
        length--;
    if (length > RATE_REPORT_MAX)
        return -EINVAL;
    while (label < length && is_label(text[label]))
        label++;
    if (label == 0 || label >= RATE_LABEL_MAX || label == length || text[label] != ' ')
        return -EINVAL;
    memcpy(ret->label, text, label);
    ret->label[label] = '\0';
    return parse_rate(text + label + 1, length - label - 1, &ret->rate_ppm);
}
