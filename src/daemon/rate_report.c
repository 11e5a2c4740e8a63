/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/rate_report.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "trace/number.h"

/* What a label may have: numbers of jobs, of array tasks and of components. */
static bool is_label(char letter)
{
    return isalnum((unsigned char)letter) != 0 ||
           (letter != '\0' && strchr("_+.-", letter) != NULL);
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
    return number_rate(text + label + 1, length - label - 1, &ret->rate_ppm);
}
