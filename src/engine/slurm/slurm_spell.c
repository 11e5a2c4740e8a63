/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_spell.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits at '*at', which is moved past them; -EINVAL if there are none or too many. */
static int take_number(const char **at, uint32_t *ret)
{
    uint64_t number = 0;
    const char *begin = *at;

    while (is_digit(**at) && *at - begin < 10)
        number = number * 10 + (uint64_t)(*(*at)++ - '0');
    if (*at == begin || is_digit(**at) || number > UINT32_MAX)
        return -EINVAL;
    *ret = (uint32_t)number;
    return 0;
}

/* A walk over node names: what stands before the bracket, and how many may still come. */
struct node_walk {
    char name[SLURM_NODE_NAME_MAX + 1];
    size_t before;
    uint32_t left;
    slurm_name_fn_t *each;
    void *context;
};

static int tell_name(struct node_walk *walk, size_t length)
{
    if (walk->left == 0)
        return -E2BIG;
    walk->left--;
    walk->name[length] = '\0';
    return walk->each(walk->context, walk->name, length);
}

/* "1-3" or "007" within brackets, at '*at'. */
static int walk_range(struct node_walk *walk, const char **at)
{
    const char *begin = *at;
    uint32_t from = 0;
    uint32_t to = 0;

    if (take_number(at, &from) < 0)
        return -EINVAL;
    const int width = (int)(*at - begin);

    to = from;
    if (**at == '-') {
        (*at)++;
        if (take_number(at, &to) < 0)
            return -EINVAL;
    }
    if (to < from)
        return -EINVAL;
    for (uint64_t number = from; number <= to; number++) {
        const int length = snprintf(walk->name + walk->before, sizeof(walk->name) - walk->before,
                                    "%0*" PRIu64, width, number);
        if (length < 0 || walk->before + (size_t)length > SLURM_NODE_NAME_MAX)
            return -EINVAL;
        const int error = tell_name(walk, walk->before + (size_t)length);

        if (error != 0)
            return error;
    }
    return 0;
}

/* "[1-3,007]", at '*at'. Slurm writes nothing behind the bracket where there is but one. */
static int walk_bracket(struct node_walk *walk, const char **at)
{
    do {
        (*at)++;
        const int error = walk_range(walk, at);

        if (error != 0)
            return error;
    } while (**at == ',');
    if (**at != ']')
        return -EINVAL;
    (*at)++;
    return 0;
}

int slurm_spell_nodes(const char *list, uint32_t most, slurm_name_fn_t *each, void *context)
{
    struct node_walk walk = { .left = most, .each = each, .context = context };
    const char *at = list;

    for (;;) {
        walk.before = strcspn(at, ",[]");
        if (walk.before == 0 || walk.before > SLURM_NODE_NAME_MAX)
            return -EINVAL;
        memcpy(walk.name, at, walk.before);
        at += walk.before;
        const int error = *at == '[' ? walk_bracket(&walk, &at) : tell_name(&walk, walk.before);

        if (error != 0)
            return error;
        if (*at == '\0')
            return 0;
        if (*at != ',')
            return -EINVAL;
        at++;
    }
}

/* "3", "0-9" or "0-98:2", at '*at'. */
static int walk_tasks(const char **at, uint32_t *left, slurm_index_fn_t *each, void *context)
{
    uint32_t from = 0;
    uint32_t step = 1;

    if (take_number(at, &from) < 0)
        return -EINVAL;
    uint32_t to = from;

    if (**at == '-') {
        (*at)++;
        if (take_number(at, &to) < 0)
            return -EINVAL;
        if (**at == ':') {
            (*at)++;
            if (take_number(at, &step) < 0)
                return -EINVAL;
        }
    }
    if (to < from || to > SLURM_ARRAY_INDEX_MAX || step == 0)
        return -EINVAL;
    for (uint64_t index = from; index <= to; index += step) {
        if (*left == 0)
            return -E2BIG;
        (*left)--;
        const int error = each(context, (uint32_t)index);

        if (error != 0)
            return error;
    }
    return 0;
}

int slurm_spell_tasks(const char *list, uint32_t most, slurm_index_fn_t *each, void *context,
                      uint32_t *ret_limit)
{
    const char *percent = strchr(list, '%');
    const char *at = list;

    *ret_limit = 0;
    if (percent != NULL) {
        percent++;
        if (take_number(&percent, ret_limit) < 0 || *percent != '\0')
            return -EINVAL;
    }
    for (;;) {
        const int error = walk_tasks(&at, &most, each, context);

        if (error != 0)
            return error;
        if (*at == '\0' || *at == '%')
            return 0;
        if (*at != ',')
            return -EINVAL;
        at++;
    }
}

uint32_t slurm_spell_ranges(const uint32_t *index, uint32_t from, uint32_t count, char *buf,
                            size_t size)
{
    size_t used = 0;

    assert(size > 32);
    buf[0] = '\0';
    while (from < count) {
        uint32_t last = from;
        char range[32];

        while (last + 1 < count && index[last + 1] == index[last] + 1)
            last++;
        const int length = last == from ? snprintf(range, sizeof(range), "%" PRIu32, index[from])
                                        : snprintf(range, sizeof(range), "%" PRIu32 "-%" PRIu32,
                                                   index[from], index[last]);

        if (used + (size_t)length + 2 > size)
            break;
        if (used > 0)
            buf[used++] = ',';
        memcpy(buf + used, range, (size_t)length + 1);
        used += (size_t)length;
        from = last + 1;
    }
    return from;
}

/* One part of "gres:gpu:t4:2", of 'length' bytes. */
static int take_gres(const char *text, size_t length, uint64_t times, struct slurm_gres *sum)
{
    char part[128];
    char *field[3] = { NULL, NULL, NULL };
    uint32_t fields = 0;
    uint32_t count = 1;

    if (length >= sizeof(part))
        return -EINVAL;
    memcpy(part, text, length);
    part[length] = '\0';
    char *at = part;

    if (strncmp(at, "gres", 4) == 0 && (at[4] == ':' || at[4] == '/'))
        at += 5;
    while (at != NULL && fields < 3) {
        field[fields++] = at;
        at = strpbrk(at, ":=");
        if (at != NULL)
            *at++ = '\0';
    }
    const char *digits = field[fields - 1];

    if (at != NULL || *field[0] == '\0')
        return -EINVAL;
    if (fields > 1 && is_digit(*digits)) {
        if (take_number(&digits, &count) < 0 || *digits != '\0')
            return -EINVAL;
        fields--;
    }
    if (strcmp(field[0], "cpu") ==
        0) /* newer releases tell -c among the resources of a task, too */
        return 0;
    if (strcmp(field[0], "gpu") != 0) {
        (void)snprintf(sum->other, sizeof(sum->other), "%.*s", (int)sizeof(sum->other) - 1,
                       field[0]);
        return 0;
    }
    if (fields > 1)
        (void)snprintf(sum->type, sizeof(sum->type), "%s", field[1]);
    sum->gpus += count * times;
    return sum->gpus > LIMIT_RESOURCE / 1000 ? -EINVAL : 0;
}

int slurm_spell_gres(const char *text, uint64_t times, struct slurm_gres *sum)
{
    if (times > LIMIT_TASKS)
        return -EINVAL;
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, ",");
        const int error = take_gres(text, length, times, sum);

        if (error < 0)
            return error;
        text += length + (text[length] == ',');
    }
    return 0;
}
