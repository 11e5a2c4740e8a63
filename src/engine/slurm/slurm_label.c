/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_label.h"

#include <string.h>

#include "engine/slurm/slurm_engine_private.h"

/* Digits at '*at', which is moved past them. */
static bool take_number(const char **at, uint64_t max, uint32_t *ret)
{
    uint64_t number = 0;

    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        number = number * 10 + (uint64_t)(**at - '0');
        if (number > max)
            return false;
    }
    *ret = (uint32_t)number;
    return true;
}

/* "3", or "[3-9%2]": the first of what is there. */
static bool take_index(const char **at, uint32_t *ret)
{
    const bool is_list = **at == '[';

    if (is_list)
        (*at)++;
    if (!take_number(at, (1U << ID_INDEX_BITS) - 2, ret))
        return false;
    if (!is_list)
        return true;
    *at += strspn(*at, "0123456789,-:%");
    if (**at != ']')
        return false;
    (*at)++;
    return true;
}

static bool is_step(const char *text)
{
    return strcmp(text, "batch") == 0 || strcmp(text, "extern") == 0 ||
           strcmp(text, "interactive") == 0;
}

bool slurm_label_read(const char *text, struct slurm_label *ret)
{
    *ret = (struct slurm_label){ .job = 0 };
    if (!take_number(&text, ID_JOB_MAX, &ret->job))
        return false;
    if (*text == '+') {
        text++;
        if (!take_number(&text, ID_RANKS_MAX - 1, &ret->component))
            return false;
    } else if (*text == '_') {
        text++;
        ret->is_member = true;
        if (!take_index(&text, &ret->index))
            return false;
    }
    if (*text == '.' && is_step(text + 1))
        return true;
    if (*text == '.') {
        text++;
        if (!take_number(&text, ID_RANKS_MAX - 1, &ret->rank))
            return false;
    }
    return *text == '\0';
}
