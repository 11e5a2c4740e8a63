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
    KNOWN_MAX = 1 << 16,
    KNOWN_BYTES = 1 << 23, /* of their texts */
    EXACT_MAX = 1 << 16,
    CONSTRAINED_MAX = 1 << 17,
    DEMANDS_PER_SHAPE = 16, /* on average; with more, that many shapes are reached earlier */
    REASONS_MAX = 4096,
    STEPS_PER_DOUBLING = 8, /* of sizes that are rounded */
};

void slurm_shapes_init(struct slurm_shapes *shapes)
{
    names_init(&shapes->known.wants);
    names_init(&shapes->before.wants);
    names_init(&shapes->reasons);
    shapes->known_max = KNOWN_MAX;
    shapes->exact_max = EXACT_MAX;
    shapes->constrained_max = CONSTRAINED_MAX;
}

static void forget_wishes(struct slurm_wishes *wishes)
{
    names_done(&wishes->wants);
    mem_free(wishes->row);
}

void slurm_shapes_done(struct slurm_shapes *shapes)
{
    forget_wishes(&shapes->known);
    forget_wishes(&shapes->before);
    names_done(&shapes->reasons);
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
    (void)snprintf(reason, sizeof(reason), "no machine of the catalogue holds %s",
                   shapes->reasons.count < REASONS_MAX ? name : "what it asks for");
    return slurm_shapes_refuse(shapes, reason);
}

/* Whether there are so many shapes already, or so many demands of them. */
static bool has_many(const struct slurm_shapes *shapes, uint32_t count)
{
    return shapes->shapes->count >= count ||
           shapes->shapes->demand_count / DEMANDS_PER_SHAPE >= count;
}

/* The next of a few steps, but no more than the smallest type has that holds the amount as it is: every
 * machine that holds the one holds the other. */
static int64_t round_up(const struct slurm_shapes *shapes, enum res_kind kind, int64_t amount,
                        int64_t unit)
{
    int64_t step = unit;

    while (amount / step >= (int64_t)2 * STEPS_PER_DOUBLING)
        step *= 2;
    int64_t up = (amount + step - 1) / step * step;

    for (uint32_t i = 0; i < shapes->catalogue->type_count; i++) {
        const int64_t has = shapes->catalogue->types[i].capacity.amount[kind];

        if (has >= amount && has < up)
            up = has;
    }
    return up;
}

/* Work out a wish that was never seen. */
static struct slurm_wish find(struct slurm_shapes *shapes, const struct slurm_want *want,
                              const char *workload)
{
    const bool is_exact = !has_many(shapes, shapes->exact_max);
    struct res res = { .amount = { [RES_CPU] = (int64_t)want->cpus * 1000,
                                   [RES_MEM] = (int64_t)want->mem_mib,
                                   [RES_ACCEL] = (int64_t)want->gpus * 1000 } };
    char name[WANT_TEXT];
    bool is_bad = false;

    if (!is_exact) {
        res.amount[RES_CPU] = round_up(shapes, RES_CPU, res.amount[RES_CPU], 1000);
        res.amount[RES_MEM] = round_up(shapes, RES_MEM, res.amount[RES_MEM], 1);
    }
    const uint32_t count = find_demands(shapes, want, &res, &is_bad);

    if (is_bad)
        return slurm_shapes_refuse(shapes, "its constraint is not understood");
    if (count == 0)
        return refuse_size(shapes, want);
    if (shapes->shapes->count >= LIMIT_SHAPES ||
        (want->features != NULL && has_many(shapes, shapes->constrained_max)))
        return slurm_shapes_refuse(shapes, "there are too many kinds of jobs");
    print_name(want, name, sizeof(name));
    const struct shape_spec spec = {
        .name = is_exact ? name : "other",
        .workload = is_exact ? workload : "",
        .demands = shapes->demands,
        .demand_count = count,
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

static struct slurm_wish *find_known(const struct slurm_wishes *wishes, const char *text,
                                     size_t length)
{
    const uint32_t row = names_find(&wishes->wants, text, length);

    return row == NAME_NONE ? NULL : &wishes->row[row];
}

/* What comes again before as many others have come stays known. */
static void remember(struct slurm_shapes *shapes, const char *text, size_t length,
                     struct slurm_wish wish)
{
    struct slurm_wishes *known = &shapes->known;

    if (known->wants.count >= shapes->known_max || known->wants.text_used >= KNOWN_BYTES) {
        forget_wishes(&shapes->before);
        shapes->before = *known;
        *known = (struct slurm_wishes){ .row = NULL };
        names_init(&known->wants);
    }
    const uint32_t row = names_add(&known->wants, text, length);

    MEM_ROOM(known->row, known->rows_room, row + 1);
    known->row[row] = wish;
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
    const struct slurm_wish *known = find_known(&shapes->known, text, (size_t)length);

    if (known != NULL)
        return *known;
    known = find_known(&shapes->before, text, (size_t)length);
    const struct slurm_wish wish = known != NULL ? *known : find(shapes, want, workload);

    remember(shapes, text, (size_t)length, wish);
    return wish;
}
