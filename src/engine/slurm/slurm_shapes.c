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
    WANT_TEXT = 2048,
    WORKLOADS_MAX = 2000, /* different names; those of later jobs count as one */
    KNOWN_MAX = 1 << 16,
    KNOWN_BYTES = 1 << 23, /* of their texts */
    EXACT_MAX = 1 << 16,
    CONSTRAINED_MAX = 1 << 17,
    SETS_MAX = 1 << 13,     /* different constraints */
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
}

struct slurm_wish slurm_shapes_refuse(struct slurm_shapes *shapes, const char *reason)
{
    return (struct slurm_wish){
        .shape = SHAPE_NONE,
        .reason = names_add(&shapes->reasons, reason, strlen(reason)),
    };
}

/* What the wish asks of a machine besides its size, as an expression; false: it is none. */
static bool print_offers(const struct slurm_want *want, char *buf, size_t size)
{
    const char *features = want->features != NULL ? want->features : "";
    const bool has_model = want->gpus > 0 && *want->gpu_type != '\0';
    char model[64 + 8];
    int length;

    if (!offer_text_is_valid(features))
        return false;
    (void)snprintf(model, sizeof(model), "gpu=%.64s", want->gpu_type);
    if (has_model && (strlen(want->gpu_type) > 64 || !offer_text_is_valid(model)))
        return false;
    if (has_model && *features != '\0')
        length = snprintf(buf, size, "(%s)&%s", features, model);
    else
        length = snprintf(buf, size, "%s", has_model ? model : features);
    return length >= 0 && (size_t)length < size;
}

/* Whether some offer that meets the expression has what is asked for. */
static bool is_held(const struct catalogue *catalogue, const struct res *res, const char *offers)
{
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if ((!catalogue->offers[offer].is_former || catalogue->offers[offer].is_owned) &&
            res_fits(res, &catalogue_type_of(catalogue, offer)->capacity) &&
            offer_text_has(offers, catalogue, offer))
            return true;
    }
    return false;
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

/* "64 CPUs and 2.5 GiB of memory", with what else it asks for, for people. */
static void print_want(const struct slurm_want *want, char *buf, size_t size)
{
    char mem[64] = "";
    char gpus[128] = "";

    if (want->mem_mib >= 1024)
        (void)snprintf(mem, sizeof(mem), " and %.*f GiB of memory", want->mem_mib % 1024 != 0,
                       (double)want->mem_mib / 1024);
    else if (want->mem_mib > 0)
        (void)snprintf(mem, sizeof(mem), " and %" PRIu64 " MiB of memory", want->mem_mib);
    if (want->gpus > 0)
        (void)snprintf(gpus, sizeof(gpus), " and %" PRIu64 " GPU%s%s%.64s", want->gpus,
                       want->gpus == 1 ? "" : "s", *want->gpu_type == '\0' ? "" : " of type ",
                       want->gpu_type);
    (void)snprintf(buf, size, "%" PRIu64 " CPU%s%s%s%s%.200s", want->cpus,
                   want->cpus == 1 ? "" : "s", mem, gpus, want->features != NULL ? " with " : "",
                   want->features != NULL ? want->features : "");
}

static struct slurm_wish refuse_size(struct slurm_shapes *shapes, const struct slurm_want *want)
{
    char name[WANT_TEXT];
    char reason[WANT_TEXT + 64];

    print_want(want, name, sizeof(name));
    (void)snprintf(reason, sizeof(reason), "no machine of the catalogue has %s",
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
    struct shape_demand demand = {
        .family = FAMILY_NONE,
        .res = { .amount = { [RES_CPU] = (int64_t)want->cpus * 1000,
                             [RES_MEM] = (int64_t)want->mem_mib,
                             [RES_ACCEL] = (int64_t)want->gpus * 1000 } },
    };
    char name[WANT_TEXT];
    char offers[OFFER_TEXT_MAX + 128];

    if (!is_exact) {
        int64_t *amount = demand.res.amount;

        amount[RES_CPU] = round_up(shapes, RES_CPU, amount[RES_CPU], 1000);
        amount[RES_MEM] = round_up(shapes, RES_MEM, amount[RES_MEM], 1);
    }
    if (!print_offers(want, offers, sizeof(offers)))
        return slurm_shapes_refuse(shapes, "its --constraint is not understood");
    if (!is_held(shapes->catalogue, &demand.res, offers))
        return refuse_size(shapes, want);
    if (shapes->shapes->count >= LIMIT_SHAPES ||
        ((*offers != '\0' || want->has_rules) && (has_many(shapes, shapes->constrained_max) ||
                                                  shapes->shapes->sets.texts.count >= SETS_MAX)))
        return slurm_shapes_refuse(shapes, "there are too many kinds of jobs");
    print_name(want, name, sizeof(name));
    const struct shape_spec spec = {
        .name = is_exact ? name : "other",
        .workload = is_exact ? workload : "",
        .demands = &demand,
        .demand_count = 1,
        .offers = offers,
        .alike = want->is_in_one_zone ? ALIKE_ZONE : 0,
        .by_market = want->has_rules,
        .whole = want->is_whole_machine,
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
        return slurm_shapes_refuse(shapes, "it requests more than Stint can count");
    print_workload(shapes, want->workload, workload, sizeof(workload));
    const int length =
        snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64 "%c%c%c%s %s %s",
                 want->cpus, want->mem_mib, want->gpus, want->is_whole_machine ? 'x' : ' ',
                 want->is_in_one_zone ? 'z' : ' ', want->has_rules ? 'm' : ' ', want->gpu_type,
                 workload, want->features == NULL ? "" : want->features);

    if (length < 0 || (size_t)length >= sizeof(text))
        return slurm_shapes_refuse(shapes, "its --constraint is too long");
    const struct slurm_wish *known = find_known(&shapes->known, text, (size_t)length);

    if (known != NULL)
        return *known;
    known = find_known(&shapes->before, text, (size_t)length);
    const struct slurm_wish wish = known != NULL ? *known : find(shapes, want, workload);

    remember(shapes, text, (size_t)length, wish);
    return wish;
}
