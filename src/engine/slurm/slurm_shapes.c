/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_shapes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine.h"

enum {
    WANT_TEXT = 1024,
    WORKLOADS_MAX = 2000, /* different names; those of later jobs count as one */
    DEPTH_MAX = 8,        /* brackets within brackets of a constraint */
};

void slurm_shapes_init(struct slurm_shapes *shapes)
{
    names_init(&shapes->wants);
    names_init(&shapes->reasons);
}

void slurm_shapes_done(struct slurm_shapes *shapes)
{
    names_done(&shapes->wants);
    names_done(&shapes->reasons);
    mem_free(shapes->row);
    mem_free(shapes->demands);
}

struct slurm_wish slurm_shapes_refuse(struct slurm_shapes *shapes, const char *reason)
{
    return (struct slurm_wish){
        .shape = SHAPE_NONE,
        .reason = names_add(&shapes->reasons, reason, strlen(reason)),
    };
}

static bool is_same(const char *text, const char *word, size_t length)
{
    return strncmp(text, word, length) == 0 && text[length] == '\0';
}

/* Whether the configuration gives 'word' to the type or to its family. */
static bool has_word(const struct catalogue *catalogue, const struct machine_type *type,
                     const struct slurm_word *words, uint32_t count, const char *word,
                     size_t length)
{
    const char *name = names_text(&catalogue->names, type->name);
    const char *family = names_text(&catalogue->families, type->family);

    for (uint32_t i = 0; i < count; i++) {
        if (is_same(words[i].word, word, length) &&
            (strcmp(words[i].of, name) == 0 || strcmp(words[i].of, family) == 0))
            return true;
    }
    return is_same(name, word, length) || is_same(family, word, length);
}

/* Whether the type is offered, and only in the market or zone of that name. */
static bool is_only_in(const struct catalogue *catalogue, const struct machine_type *type,
                       const char *word, size_t length)
{
    uint32_t met = 0;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct offer *offer = &catalogue->offers[i];

        if (&catalogue->types[offer->type] != type)
            continue;
        const bool in_zone = offer->zone != NAME_NONE &&
                             is_same(names_text(&catalogue->names, offer->zone), word, length);

        if (!in_zone && !is_same(market_name(offer->market), word, length))
            return false;
        met++;
    }
    return met > 0;
}

static bool has_feature(const struct slurm_shapes *shapes, const struct machine_type *type,
                        const char *word, size_t length)
{
    return is_same("cloud", word, length) ||
           has_word(shapes->catalogue, type, shapes->features, shapes->feature_count, word,
                    length) ||
           is_only_in(shapes->catalogue, type, word, length);
}

/* A constraint while it is read: "a&b|c", "[a|b]&c", "(a)", "a*2". */
struct constraint {
    const char *at;
    const struct slurm_shapes *shapes;
    const struct machine_type *type;
    bool is_bad;
};

/* One feature, without the count of nodes that may follow it. */
static bool read_word(struct constraint *text)
{
    const size_t length = strcspn(text->at, "&|,()[]*");
    const bool is_met = has_feature(text->shapes, text->type, text->at, length);

    text->is_bad = text->is_bad || length == 0;
    text->at += length;
    if (*text->at == '*')
        text->at += 1 + strspn(text->at + 1, "0123456789");
    return is_met;
}

/* What is open: the value so far of each bracket, and of the run of '&' in it. */
struct constraint_level {
    bool sum;
    bool product;
};

/* Whether the type meets the constraint; '&' binds more than '|'. */
static bool meets(struct constraint *text)
{
    struct constraint_level level[DEPTH_MAX];
    uint32_t depth = 0;

    level[0] = (struct constraint_level){ .sum = false, .product = true };
    while (!text->is_bad) {
        while ((*text->at == '(' || *text->at == '[') && depth + 1 < DEPTH_MAX) {
            level[++depth] = (struct constraint_level){ .sum = false, .product = true };
            text->at++;
        }
        bool value = read_word(text);

        while ((*text->at == ')' || *text->at == ']') && depth > 0) {
            value = level[depth].sum || (level[depth].product && value);
            depth--;
            text->at++;
        }
        level[depth].product = level[depth].product && value;
        if (*text->at == '|') {
            level[depth].sum = level[depth].sum || level[depth].product;
            level[depth].product = true;
        } else if (*text->at != '&' && *text->at != ',') {
            break;
        }
        text->at++;
    }
    text->is_bad = text->is_bad || *text->at != '\0' || depth != 0;
    return level[0].sum || level[0].product;
}

/* Whether the type may be used at all, whatever its size. */
static bool is_allowed(const struct slurm_shapes *shapes, const struct machine_type *type,
                       const struct slurm_want *want, bool *is_bad)
{
    if (want->gpus > 0 && *want->gpu_type != '\0' &&
        !has_word(shapes->catalogue, type, shapes->gres_types, shapes->gres_type_count,
                  want->gpu_type, strlen(want->gpu_type)))
        return false;
    if (want->features == NULL)
        return true;
    struct constraint text = { .at = want->features, .shapes = shapes, .type = type };
    const bool is_met = meets(&text);

    *is_bad = *is_bad || text.is_bad;
    return is_met && !text.is_bad;
}

static bool is_smaller(const struct res *a, const struct res *b)
{
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (a->amount[kind] != b->amount[kind])
            return a->amount[kind] < b->amount[kind];
    }
    return false;
}

/* What the types of one family are to this wish. */
struct family_fit {
    const struct machine_type *smallest; /* that holds it and may be used, or NULL */
    bool has_other;                      /* one that would hold it but may not be used */
};

static struct family_fit fit_family(const struct slurm_shapes *shapes, uint32_t family,
                                    const struct slurm_want *want, const struct res *res,
                                    bool *is_bad)
{
    struct family_fit fit = { .smallest = NULL };

    for (uint32_t i = 0; i < shapes->catalogue->type_count; i++) {
        const struct machine_type *type = &shapes->catalogue->types[i];

        if (type->family != family || !res_fits(res, &type->capacity))
            continue;
        if (!is_allowed(shapes, type, want, is_bad))
            fit.has_other = true;
        else if (fit.smallest == NULL || is_smaller(&type->capacity, &fit.smallest->capacity))
            fit.smallest = type;
    }
    return fit;
}

/* Fill the demands, by the rules of the header; how many there are. */
static uint32_t find_demands(struct slurm_shapes *shapes, const struct slurm_want *want,
                             const struct res *res, bool *is_bad)
{
    const uint32_t families = shapes->catalogue->families.count;
    const bool is_plain =
        !want->is_whole_machine && want->features == NULL && *want->gpu_type == '\0';
    uint32_t count = 0;

    MEM_ROOM(shapes->demands, shapes->demands_room, families + 1);
    for (uint32_t family = 0; family < families; family++) {
        const struct family_fit fit = fit_family(shapes, family, want, res, is_bad);

        if (fit.smallest == NULL)
            continue;
        if (is_plain) {
            shapes->demands[0] = (struct shape_demand){ .family = FAMILY_NONE, .res = *res };
            return 1;
        }
        const bool is_padded = want->is_whole_machine || fit.has_other;

        shapes->demands[count++] = (struct shape_demand){
            .family = family,
            .res = is_padded ? fit.smallest->capacity : *res,
        };
    }
    return count;
}

/* "cpu2-mem300-gpu1", with what else makes it different. */
static void print_name(const struct slurm_want *want, char *buf, size_t size)
{
    int length = snprintf(buf, size, "cpu%" PRIu64 "-mem%" PRIu64, want->cpus, want->mem_mib);

    if (want->gpus > 0 && length > 0 && (size_t)length < size)
        length += snprintf(buf + length, size - (size_t)length, "-gpu%" PRIu64 "%s%s", want->gpus,
                           *want->gpu_type == '\0' ? "" : ":", want->gpu_type);
    if (want->is_whole_machine && length > 0 && (size_t)length < size)
        length += snprintf(buf + length, size - (size_t)length, "-exclusive");
    if (want->features != NULL && length > 0 && (size_t)length < size)
        (void)snprintf(buf + length, size - (size_t)length, "-%.200s", want->features);
}

static struct slurm_wish refuse_size(struct slurm_shapes *shapes, const struct slurm_want *want)
{
    char name[WANT_TEXT];
    char reason[WANT_TEXT + 64];

    print_name(want, name, sizeof(name));
    (void)snprintf(reason, sizeof(reason), "no machine of the catalogue holds %s", name);
    return slurm_shapes_refuse(shapes, reason);
}

/* Work out a wish that was never seen. */
static struct slurm_wish find(struct slurm_shapes *shapes, const struct slurm_want *want,
                              const char *workload)
{
    const struct res res = { .amount = { [RES_CPU] = (int64_t)want->cpus * 1000,
                                         [RES_MEM] = (int64_t)want->mem_mib,
                                         [RES_ACCEL] = (int64_t)want->gpus * 1000 } };
    char name[WANT_TEXT];
    bool is_bad = false;
    const uint32_t count = find_demands(shapes, want, &res, &is_bad);

    if (is_bad)
        return slurm_shapes_refuse(shapes, "its constraint is not understood");
    if (count == 0)
        return refuse_size(shapes, want);
    if (shapes->shapes->count >= LIMIT_SHAPES)
        return slurm_shapes_refuse(shapes, "there are too many kinds of jobs");
    print_name(want, name, sizeof(name));
    const struct shape_spec spec = {
        .name = name, .workload = workload, .demands = shapes->demands, .demand_count = count
    };

    return (struct slurm_wish){ .shape = shapes_add(shapes->shapes, &spec), .reason = NAME_NONE };
}

/* Jobs "sim-0001" and "sim-0002" are the same work. */
static void print_workload(const struct slurm_shapes *shapes, const char *name, char *buf,
                           size_t size)
{
    size_t length = strnlen(name, size - 1);

    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    memcpy(buf, name, length);
    buf[length] = '\0';
    if (shapes->shapes->workloads.count >= WORKLOADS_MAX &&
        names_find(&shapes->shapes->workloads, buf, length) == NAME_NONE)
        buf[0] = '\0';
}

struct slurm_wish slurm_shapes_of(struct slurm_shapes *shapes, const struct slurm_want *want)
{
    char workload[128];
    char text[WANT_TEXT];

    if (want->cpus > LIMIT_RESOURCE / 1000 || want->mem_mib > LIMIT_RESOURCE ||
        want->gpus > LIMIT_RESOURCE / 1000)
        return slurm_shapes_refuse(shapes, "it asks for more than there can be");
    print_workload(shapes, want->workload, workload, sizeof(workload));
    const int length =
        snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64 "%c%s %s %s", want->cpus,
                 want->mem_mib, want->gpus, want->is_whole_machine ? 'x' : ' ', want->gpu_type,
                 workload, want->features == NULL ? "" : want->features);

    if (length < 0 || (size_t)length >= sizeof(text))
        return slurm_shapes_refuse(shapes, "its constraint is too long");
    const uint32_t known = shapes->wants.count;
    const uint32_t row = names_add(&shapes->wants, text, (size_t)length);

    if (row == known) {
        MEM_ROOM(shapes->row, shapes->rows_room, row + 1);
        shapes->row[row] = find(shapes, want, workload);
    }
    return shapes->row[row];
}
