/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "decide/reservation.h"

/* Whether some shape asks for other amounts in some family. */
static bool is_choosy(const struct shapes *shapes)
{
    for (uint32_t i = 0; i < shapes->demand_count; i++) {
        if (shapes->demands[i].family != FAMILY_NONE)
            return true;
    }
    return false;
}

/* The two ways to get a machine of one class differ in nothing but their prices and interruptions. */
static bool is_same_way(const struct view *view, uint32_t a, uint32_t b)
{
    const struct offer *of_a = &view->catalogue->offers[a];
    const struct offer *of_b = &view->catalogue->offers[b];

    return of_a->billing.step_ms == of_b->billing.step_ms &&
           of_a->billing.minimum_ms == of_b->billing.minimum_ms;
}

/* What an hour costs grows with the stake, and the more so the less long machines last: what is cheaper where nothing
 * is at stake and where most is, is so for all in between. */
static bool is_dearer(const struct rival *a, const struct rival *b)
{
    return b->least <= a->least && b->most <= a->most;
}

/* Note an offer of the way, unless another one is cheaper for every runtime; those that it beats go. Of
 * two that are alike the first is kept. */
static void add_rival(struct way *way, struct rival *rival)
{
    struct rival **link = &way->rivals;

    for (const struct rival *other = way->rivals; other != NULL; other = other->next) {
        if (is_dearer(rival, other))
            return;
    }
    while (*link != NULL) {
        if (is_dearer(*link, rival))
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
    *link = rival;
    if (rival->least < way->least)
        way->least = rival->least;
    if (rival->most < way->most)
        way->most = rival->most;
}

/* Whether for every runtime some offer of 'b' is as cheap as those of 'a'. */
static bool is_dearer_way(const struct way *a, const struct way *b)
{
    if (b->least > a->least || b->most > a->most)
        return false;
    for (const struct rival *mine = a->rivals; mine != NULL; mine = mine->next) {
        const struct rival *other = b->rivals;

        while (other != NULL && !is_dearer(mine, other))
            other = other->next;
        if (other == NULL)
            return false;
    }
    return true;
}

/* Whether what can be done on a machine of 'a' can be done on one of 'b', as soon and billed alike. */
static bool is_as_good(const struct offer_classes *classes, const struct way *a,
                       const struct way *b, bool choosy)
{
    const struct catalogue *catalogue = classes->view->catalogue;
    const struct offer *offer_a = &catalogue->offers[a->rivals->offer];
    const struct offer *offer_b = &catalogue->offers[b->rivals->offer];
    const struct machine_type *of_a = &catalogue->types[offer_a->type];
    const struct machine_type *of_b = &catalogue->types[offer_b->type];

    return res_fits(&of_a->capacity, &of_b->capacity) && of_b->acquire_ms == of_a->acquire_ms &&
           of_b->setup_ms <= of_a->setup_ms &&
           offer_b->billing.step_ms == offer_a->billing.step_ms &&
           offer_b->billing.minimum_ms == offer_a->billing.minimum_ms &&
           (!choosy || of_a->family == of_b->family) &&
           offer_classes_imply(classes, a->rivals->offer, b->rivals->offer);
}

/* Whether it can be done there for no more. Of two that are alike the one with the first offer is kept. */
static bool is_beaten(const struct offer_classes *classes, const struct way *a, const struct way *b,
                      bool choosy)
{
    if (!is_dearer_way(a, b) || !is_as_good(classes, a, b, choosy))
        return false;

    const struct catalogue *catalogue = classes->view->catalogue;
    const struct machine_type *of_a = catalogue_type_of(catalogue, a->rivals->offer);
    const struct machine_type *of_b = catalogue_type_of(catalogue, b->rivals->offer);

    return (b->rivals->offer < a->rivals->offer || !is_dearer_way(b, a) ||
            !res_fits(&of_b->capacity, &of_a->capacity) || of_b->setup_ms < of_a->setup_ms);
}

/* What tells most pairs of ways apart, side by side: many are held against many, in each decision that rents. */
struct face {
    double least;
    double most;
    struct res capacity;
    int64_t size; /* what it has of everything, added up */
    uint32_t way;
};

/* Below 0: 'a' may beat 'b', and not the other way round; 0: either may. */
static int compare_worth(const struct face *a, const struct face *b)
{
    if (a->least < b->least || a->least > b->least)
        return a->least < b->least ? -1 : 1;
    if (a->most < b->most || a->most > b->most)
        return a->most < b->most ? -1 : 1;
    return (a->size < b->size) - (a->size > b->size);
}

static int compare_faces(const void *left, const void *right)
{
    const struct face *a = left;
    const struct face *b = right;
    const int worth = compare_worth(a, b);

    return worth != 0 ? worth : (a->way > b->way) - (a->way < b->way);
}

/* Cheap ones first, of equal price large ones: what beats another comes before it, but for those of equal price and size. */
static struct face *list_faces(const struct rent_ways *ways)
{
    struct face *faces = ARENA_ARRAY(ways->arena, struct face, ways->count);

    for (uint32_t i = 0; i < ways->count; i++) {
        const struct way *way = &ways->rows[i];

        faces[i] = (struct face){
            .least = way->least,
            .most = way->most,
            .capacity = catalogue_type_of(ways->view->catalogue, way->rivals->offer)->capacity,
            .way = i,
        };
        for (int kind = 0; kind < RES_KINDS; kind++)
            faces[i].size += faces[i].capacity.amount[kind];
    }
    if (ways->count > 1)
        qsort(faces, ways->count, sizeof(*faces), compare_faces);
    return faces;
}

/* Whether a machine of 'b' has no less and may cost no more: what is_beaten() asks first. Without branches, which no
 * processor could foretell. */
static inline bool may_be_beaten(const struct face *a, const struct face *b)
{
    int is = (b->least <= a->least) & (b->most <= a->most);

    for (int kind = 0; kind < RES_KINDS; kind++)
        is &= a->capacity.amount[kind] <= b->capacity.amount[kind];
    return is != 0;
}

/* How many of the kept ways come before the first that has, of each resource alone, some way up to it with as much as the
 * face: what beats a face is not among them. Cheap machines are small, so that few are left to be looked at. */
static uint32_t skip_narrow(const struct face *face, const struct res *widest, uint32_t count)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (res_fits(&face->capacity, &widest[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The most that a way up to this one has, of each resource alone. */
static struct res widen(const struct res *before, const struct res *capacity)
{
    struct res ret = *capacity;

    for (int kind = 0; kind < RES_KINDS && before != NULL; kind++) {
        if (before->amount[kind] > ret.amount[kind])
            ret.amount[kind] = before->amount[kind];
    }
    return ret;
}

/* Whether one of 'others' beats it. */
static bool is_beaten_by_any(const struct rent_ways *ways, const struct face *face,
                             const struct face *others, uint32_t count, bool choosy)
{
    bool beaten = false;

    for (uint32_t i = 0; i < count && !beaten; i++)
        beaten =
            may_be_beaten(face, &others[i]) && face->way != others[i].way &&
            is_beaten(&ways->classes, &ways->rows[face->way], &ways->rows[others[i].way], choosy);
    return beaten;
}

/*
 * Only the ways that no other one beats. Who is beaten by one that is beaten itself is beaten by one that is not: so each is
 * held against those that are left, and against those behind it that are like it in price and size.
 */
static void drop_beaten(struct rent_ways *ways)
{
    const bool choosy = is_choosy(ways->view->shapes);
    const uint32_t count = ways->count;
    const struct face *faces = list_faces(ways);
    struct face *kept = ARENA_ARRAY(ways->arena, struct face, count);
    struct res *widest = ARENA_ARRAY(ways->arena, struct res, count);
    struct way *rows = ARENA_ARRAY(ways->arena, struct way, count);
    bool *is_kept = ARENA_ARRAY(ways->arena, bool, count);
    uint32_t kept_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t skipped = skip_narrow(&faces[i], widest, kept_count);
        uint32_t alike = i + 1;

        while (alike < count && compare_worth(&faces[i], &faces[alike]) == 0)
            alike++;
        if (is_beaten_by_any(ways, &faces[i], &kept[skipped], kept_count - skipped, choosy) ||
            is_beaten_by_any(ways, &faces[i], &faces[i + 1], alike - i - 1, choosy))
            continue;
        is_kept[faces[i].way] = true;
        widest[kept_count] =
            widen(kept_count > 0 ? &widest[kept_count - 1] : NULL, &faces[i].capacity);
        kept[kept_count++] = faces[i];
    }
    ways->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_kept[i])
            rows[ways->count++] = ways->rows[i];
    }
    ways->rows = rows;
}

struct risk_stake rent_stake_of(const struct view *view, const struct batch *batch)
{
    return risk_stake_of(view, batch->shape, batch->stake, batch->fixed);
}

/* No machine has more at stake than this. */
static struct risk_stake most_at_stake(const struct batches *batches)
{
    struct risk_stake most = { 0, 0 };

    for (uint32_t i = 0; i < batches->count; i++) {
        if (batches->rows[i].left == 0)
            continue;

        const struct risk_stake stake = rent_stake_of(batches->view, &batches->rows[i]);

        most.redo = stake.redo > most.redo ? stake.redo : most.redo;
        most.restart = stake.restart > most.restart ? stake.restart : most.restart;
    }
    return most;
}

/* The ways to get a machine of each class, with their open offers; those of a class are chained. */
static struct way **find_ways(const struct rent_ways *ways, const struct batches *batches)
{
    const struct view *view = ways->view;
    const struct catalogue *catalogue = view->catalogue;
    struct arena *arena = ways->arena;
    struct way **of_class = ARENA_ARRAY(arena, struct way *, ways->classes.count);
    struct rival *rivals = ARENA_ARRAY(arena, struct rival, catalogue->offer_count);
    const struct risk_stake most = most_at_stake(batches);

    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if (!reservation_is_open(view, offer))
            continue;

        struct way **link = &of_class[offer_class(&ways->classes, offer)];

        rivals[offer] = (struct rival){
            .offer = offer,
            .least = (double)view->offer_price[offer],
            .most = risk_price(view, offer, most),
        };
        while (*link != NULL && !is_same_way(view, (*link)->rivals->offer, offer))
            link = &(*link)->next;
        if (*link == NULL) {
            *link = ARENA_ARRAY(arena, struct way, 1);
            **link = (struct way){ .least = HUGE_VAL, .most = HUGE_VAL };
        }
        add_rival(*link, &rivals[offer]);
    }
    return of_class;
}

static void list_ways(struct rent_ways *ways, const struct batches *batches)
{
    const struct catalogue *catalogue = ways->view->catalogue;

    offer_classes_init(&ways->classes, ways->view, ways->arena);
    for (uint32_t i = 0; i < batches->count; i++)
        offer_classes_note(&ways->classes, batches->rows[i].shape);
    offer_classes_make(&ways->classes);

    struct way **of_class = find_ways(ways, batches);

    ways->rows = ARENA_ARRAY(ways->arena, struct way, catalogue->offer_count);
    for (uint32_t i = 0; i < ways->classes.count; i++) {
        for (const struct way *way = of_class[i]; way != NULL; way = way->next)
            ways->rows[ways->count++] = *way;
    }
    drop_beaten(ways);
}

static int compare_prices(const void *left, const void *right)
{
    const struct way *a = left;
    const struct way *b = right;

    if (a->least > b->least)
        return -1;
    if (a->least < b->least)
        return 1;
    return (a->rivals->offer > b->rivals->offer) - (a->rivals->offer < b->rivals->offer);
}

static int compare_sized(const void *left, const void *right)
{
    const struct sized_way *a = left;
    const struct sized_way *b = right;

    return compare_prices(b->way, a->way);
}

static void list_sized(struct rent_ways *ways)
{
    const struct view *view = ways->view;
    const uint32_t count = ways->count;
    struct way *rows = ARENA_ARRAY(ways->arena, struct way, count);

    ways->sized = ARENA_ARRAY(ways->arena, struct sized_way, count);
    ways->sized_count = count;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = ways->rows[i];
        ways->sized[i] = (struct sized_way){
            .capacity = catalogue_type_of(view->catalogue, rows[i].rivals->offer)->capacity,
            .way = &rows[i],
        };
        for (const struct rival *rival = rows[i].rivals; rival != NULL; rival = rival->next)
            ways->has_risk = ways->has_risk || view->offer_lasts[rival->offer] != MSEC_NEVER;
    }
    qsort(ways->sized, count, sizeof(*ways->sized), compare_sized);
}

/* Keep no more than RENT_WAYS_MAX ways: from the dearest on, those that no larger one replaces at a price that is hardly
 * higher. What is hardly grows until there are few enough. */
static void merge_alike(struct rent_ways *ways)
{
    struct way *all = ways->rows;
    const uint32_t count = ways->count;
    const bool choosy = is_choosy(ways->view->shapes);
    double more = 0.005;

    if (count <= RENT_WAYS_MAX)
        return;
    qsort(all, count, sizeof(*all), compare_prices);
    for (; ways->count > RENT_WAYS_MAX && more < 0.5; more *= 1.25) {
        struct way *kept = ARENA_ARRAY(ways->arena, struct way, count);

        ways->count = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t k = 0;

            while (k < ways->count && (kept[k].least > all[i].least * (1 + more) ||
                                       kept[k].most > all[i].most * (1 + more) ||
                                       !is_as_good(&ways->classes, &all[i], &kept[k], choosy)))
                k++;
            if (k == ways->count)
                kept[ways->count++] = all[i];
        }
        ways->rows = kept;
    }
}

static void list_bundles(struct rent_ways *ways)
{
    ways->bundles = ARENA_ARRAY(ways->arena, struct resource_offer, ways->count);
    for (uint32_t i = 0; i < ways->count; i++) {
        const struct way *way = &ways->rows[i];

        ways->bundles[i] = (struct resource_offer){
            .capacity = catalogue_type_of(ways->view->catalogue, way->rivals->offer)->capacity,
            .price = way->most > 1 ? way->most : 1,
        };
    }
}

static void list_all(struct rent_ways *ways, const struct batches *batches, bool few,
                     struct arena *arena)
{
    *ways = (struct rent_ways){ .view = batches->view, .arena = arena };
    list_ways(ways, batches);
    list_sized(ways);
    if (few)
        merge_alike(ways);
    list_bundles(ways);
}

void rent_ways_memory_init(struct rent_ways_memory *memory)
{
    *memory = (struct rent_ways_memory){ 0 };
    arena_init(&memory->arena);
}

void rent_ways_memory_done(struct rent_ways_memory *memory)
{
    arena_done(&memory->arena);
}

/* Whether the work is constrained as the work was for which the list was made: the sets come in the same order, by which classes are numbered. */
static bool has_same_sets(const struct rent_ways_memory *memory, const struct batches *batches,
                          struct arena *arena)
{
    const struct offer_classes *kept = &memory->ways.classes;
    struct offer_classes noted;

    offer_classes_init(&noted, batches->view, arena);
    for (uint32_t i = 0; i < batches->count; i++)
        offer_classes_note(&noted, batches->rows[i].shape);
    if (noted.set_count != kept->set_count)
        return false;
    return noted.set_count == 0 ||
           memcmp(noted.sets, kept->sets, noted.set_count * sizeof(*noted.sets)) == 0;
}

static bool has_same_open(const struct rent_ways_memory *memory, const struct view *view)
{
    bool same = true;

    for (uint32_t offer = 0; offer < memory->offer_count; offer++)
        same = same && memory->is_open[offer] == reservation_is_open(view, offer);
    return same;
}

/* A stake makes a difference only where machines may be taken away. */
static bool has_same_stake(const struct rent_ways_memory *memory, const struct batches *batches)
{
    if (!memory->has_losses)
        return true;

    const struct risk_stake most = most_at_stake(batches);

    return most.redo >= memory->most.redo && most.redo <= memory->most.redo &&
           most.restart >= memory->most.restart && most.restart <= memory->most.restart;
}

static bool is_still_right(const struct rent_ways_memory *memory, const struct batches *batches,
                           bool few, struct arena *arena)
{
    const struct view *view = batches->view;
    const uint32_t count = view->catalogue->offer_count;

    return memory->catalogue == view->catalogue && memory->offer_count == count &&
           memory->type_count == view->catalogue->type_count &&
           memory->changes == view->catalogue->changes && memory->few == few &&
           memory->choosy == is_choosy(view->shapes) &&
           memcmp(memory->price, view->offer_price, count * sizeof(*memory->price)) == 0 &&
           memcmp(memory->lasts, view->offer_lasts, count * sizeof(*memory->lasts)) == 0 &&
           has_same_open(memory, view) && has_same_sets(memory, batches, arena) &&
           has_same_stake(memory, batches);
}

/* Make the list and keep it, with what it was made of. */
static void keep(struct rent_ways_memory *memory, const struct batches *batches, bool few)
{
    const struct view *view = batches->view;
    const uint32_t count = view->catalogue->offer_count;

    arena_reset(&memory->arena);
    memory->catalogue = view->catalogue;
    memory->offer_count = count;
    memory->type_count = view->catalogue->type_count;
    memory->changes = view->catalogue->changes;
    memory->price = ARENA_ARRAY(&memory->arena, money_t, count);
    memory->lasts = ARENA_ARRAY(&memory->arena, msec_t, count);
    memory->is_open = ARENA_ARRAY(&memory->arena, bool, count);
    memory->has_losses = false;
    for (uint32_t offer = 0; offer < count; offer++) {
        memory->price[offer] = view->offer_price[offer];
        memory->lasts[offer] = view->offer_lasts[offer];
        memory->is_open[offer] = reservation_is_open(view, offer);
        memory->has_losses = memory->has_losses || view->offer_lasts[offer] != MSEC_NEVER;
    }
    memory->most = most_at_stake(batches);
    memory->choosy = is_choosy(view->shapes);
    memory->few = few;
    list_all(&memory->ways, batches, few, &memory->arena);
    for (uint32_t i = 0; i < RENT_WAYS_WORTHS; i++)
        memory->worths[i].is_known = false;
}

void rent_ways_list(struct rent_ways *ways, const struct batches *batches, bool few,
                    struct rent_ways_memory *memory, struct arena *arena)
{
    if (memory == NULL) {
        list_all(ways, batches, few, arena);
        return;
    }
    if (!is_still_right(memory, batches, few, arena))
        keep(memory, batches, few);
    *ways = memory->ways;
    ways->view = batches->view;
    ways->classes.view = batches->view;
}

struct resource_price rent_ways_worth(const struct rent_ways *ways, const double wanted[RES_PRICED],
                                      struct rent_ways_memory *memory)
{
    uint64_t bits[RES_PRICED];
    const size_t size = sizeof(bits);
    uint64_t hash = 0;

    if (memory == NULL)
        return resource_price(ways->bundles, ways->count, wanted);
    memcpy(bits, wanted, size);
    for (int kind = 0; kind < RES_PRICED; kind++)
        hash = map_mix(hash ^ bits[kind]);

    const uint32_t slot = (uint32_t)(hash % RENT_WAYS_WORTHS);

    if (!memory->worths[slot].is_known || memcmp(memory->worths[slot].wanted, bits, size) != 0) {
        memory->worths[slot].is_known = true;
        memcpy(memory->worths[slot].wanted, bits, size);
        memory->worths[slot].worth = resource_price(ways->bundles, ways->count, wanted);
    }
    return memory->worths[slot].worth;
}
