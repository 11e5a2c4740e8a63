/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_costing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/reservation.h"
#include "decide/view_bound.h"
#include "model/view.h"
#include "policy/policy.h"

enum {
    BOUND_STEPS = 2000000,  /* of the search for the bound: under a second */
    BOUND_SEARCH = 200000,  /* of a single one */
    RESERVE_PERMILLE = 100, /* where no node tells what is reserved */
    NEED_TEXT = 2 * OFFER_TEXT_MAX,
    PODS_PER_NODE = 110, /* the kubelet's default */
};

/* What the work is done with. */
struct costing {
    const struct kube_snapshot *snapshot;
    const struct catalogue *catalogue;
    bool may_use_spot;
    struct kube_costing *ret;
    uint32_t *node_offer;              /* per node: of the catalogue, or OFFER_NONE */
    struct kube_amounts *node_daemons; /* per node: what its daemons ask for */
    struct kube_amounts *node_held;    /* and its pods that stay */
    struct kube_amounts *node_pods;    /* and all others */
    struct catalogue usable;           /* what is left for pods, in the same order */
    struct map row_by_offer;
    struct map zones;         /* of the catalogue, in which there is a node */
    struct map offer_by_kind; /* of nodes that were looked for; + 1 */
};

/* One pool, or all pods for the bound. */
struct pool {
    struct costing *of;
    struct shapes shapes;
    struct view view;
    uint32_t *pod_of_task; /* by task id */
    uint32_t task_count;
    uint32_t pods_room;
    uint32_t *node_of_instance; /* by instance id */
    uint32_t instance_count;
    uint32_t nodes_room;
};

static void add_to(struct kube_amounts *sum, const struct kube_amounts *more)
{
    sum->cpu += more->cpu;
    sum->mem += more->mem;
    sum->accel += more->accel;
    sum->pods += more->pods;
}

static const char *text_of(const struct costing *costing, uint32_t name)
{
    return name != NAME_NONE ? names_text(&costing->snapshot->texts, name) : "";
}

static bool market_is(const struct costing *costing, const struct kube_node_row *node,
                      enum market market)
{
    const bool is_spot = strcmp(text_of(costing, node->market), "spot") == 0;

    return market == (is_spot ? MARKET_SPOT : MARKET_ON_DEMAND);
}

/* The offer that a node is of: in its zone, else the cheapest of a catalogue without that zone. */
static uint32_t look_for_offer(const struct costing *costing, const struct kube_node_row *node)
{
    const struct catalogue *catalogue = costing->catalogue;
    const char *type = text_of(costing, node->type);
    const char *zone = text_of(costing, node->zone);
    const uint32_t row = catalogue_find_type(catalogue, type, strlen(type));
    uint32_t best = OFFER_NONE;

    for (uint32_t i = 0; row != UINT32_MAX && i < catalogue->offer_count; i++) {
        const struct offer *offer = &catalogue->offers[i];

        if (offer->type != row || offer->is_former || !market_is(costing, node, offer->market))
            continue;
        if (offer->zone != NAME_NONE &&
            strcmp(names_text(&catalogue->names, offer->zone), zone) == 0)
            return i;
        if (best == OFFER_NONE ||
            price_at(&offer->price, 0) < price_at(&catalogue->offers[best].price, 0))
            best = i;
    }
    return best;
}

/* The same, once for all nodes of a kind. */
static uint32_t offer_of(struct costing *costing, const struct kube_node_row *node)
{
    const uint64_t key = map_mix(map_mix(map_mix(node->type) ^ node->zone) ^ node->market);
    uint32_t found = map_get(&costing->offer_by_kind, key);

    if (found == MAP_NONE) {
        found = look_for_offer(costing, node) + 1; /* OFFER_NONE + 1 is 0 */
        map_put(&costing->offer_by_kind, key, found);
    }
    return found - 1;
}

static money_t price_of(const struct costing *costing, uint32_t offer)
{
    return price_at(&costing->catalogue->offers[offer].price, 0);
}

static struct kube_costing_row *row_of(struct costing *costing, uint32_t offer)
{
    struct kube_costing *ret = costing->ret;
    uint32_t row = map_get(&costing->row_by_offer, offer);

    if (row == MAP_NONE) {
        row = ret->row_count++;
        MEM_ROOM(ret->rows, ret->rows_room, ret->row_count);
        ret->rows[row] = (struct kube_costing_row){ .offer = offer };
        map_put(&costing->row_by_offer, offer, row);
    }
    return &ret->rows[row];
}

/* The part that 'amount' is of 'whole', in processor and memory alike, of the price. */
static money_t share(money_t price, const struct kube_amounts *amount,
                     const struct kube_amounts *whole)
{
    const double cpu = whole->cpu > 0 ? (double)amount->cpu / (double)whole->cpu : 0;
    const double mem = whole->mem > 0 ? (double)amount->mem / (double)whole->mem : 0;

    return (money_t)((double)price * (cpu + mem) / 2);
}

static void add_shares(struct costing *costing, uint32_t node, money_t price)
{
    const struct kube_node_row *row = &costing->snapshot->nodes[node];
    struct kube_shares *shares = &costing->ret->shares;
    const struct kube_amounts reserved = { .cpu = row->capacity.cpu - row->allocatable.cpu,
                                           .mem = row->capacity.mem - row->allocatable.mem };
    struct kube_amounts pods = costing->node_pods[node];

    add_to(&pods, &costing->node_held[node]);

    const money_t for_pods = share(price, &pods, &row->capacity);
    const money_t for_daemons = share(price, &costing->node_daemons[node], &row->capacity);
    const money_t for_system = share(price, &reserved, &row->capacity);

    shares->pods += for_pods;
    shares->daemons += for_daemons;
    shares->reserved += for_system;
    shares->idle += price - for_pods - for_daemons - for_system;
}

static void price_nodes(struct costing *costing)
{
    struct kube_costing *ret = costing->ret;

    for (uint32_t i = 0; i < costing->snapshot->node_count; i++) {
        const struct kube_node_row *node = &costing->snapshot->nodes[i];

        costing->node_offer[i] = node->is_other ? OFFER_NONE : offer_of(costing, node);
        if (node->is_other) {
            ret->other_nodes++;
        } else if (costing->node_offer[i] == OFFER_NONE) {
            ret->unpriced_nodes++;
        } else {
            const money_t price = price_of(costing, costing->node_offer[i]);

            ret->priced_nodes++;
            ret->now += price;
            map_put(&costing->zones, costing->catalogue->offers[costing->node_offer[i]].zone, 1);
            row_of(costing, costing->node_offer[i])->now++;
            add_shares(costing, i, price);
        }
    }
}

static void sum_pods(struct costing *costing)
{
    for (uint32_t i = 0; i < costing->snapshot->pod_count; i++) {
        const struct kube_pod_row *pod = &costing->snapshot->pods[i];

        if (pod->node == KUBE_ROW_NONE)
            continue;
        if (pod->stay == KUBE_STAYS_DAEMON)
            add_to(&costing->node_daemons[pod->node], &pod->asks);
        else if (pod->stay != KUBE_MOVES)
            add_to(&costing->node_held[pod->node], &pod->asks);
        else
            add_to(&costing->node_pods[pod->node], &pod->asks);
    }
}

/* What part of the catalogue's amount is not allocatable, in thousandths, at most over all nodes that are priced. */
struct reserve {
    int64_t cpu;
    int64_t mem;
};

static int64_t lacking(int64_t whole, int64_t usable)
{
    return whole > usable && whole > 0 ? (whole - usable) * 1000 / whole : 0;
}

static struct reserve observed_reserve(const struct costing *costing)
{
    struct reserve most = { 0, 0 };
    bool has_any = false;

    for (uint32_t i = 0; i < costing->snapshot->node_count; i++) {
        const struct kube_amounts *usable = &costing->snapshot->nodes[i].allocatable;

        if (costing->node_offer[i] == OFFER_NONE)
            continue;

        const struct res *whole =
            &catalogue_type_of(costing->catalogue, costing->node_offer[i])->capacity;
        const int64_t cpu = lacking(whole->amount[RES_CPU], usable->cpu);
        const int64_t mem = lacking(whole->amount[RES_MEM], usable->mem);

        has_any = true;
        most.cpu = cpu > most.cpu ? cpu : most.cpu;
        most.mem = mem > most.mem ? mem : most.mem;
    }
    return has_any ? most : (struct reserve){ RESERVE_PERMILLE, RESERVE_PERMILLE };
}

static struct kube_amounts most_daemons(const struct costing *costing)
{
    struct kube_amounts most = { 0 };

    for (uint32_t i = 0; i < costing->snapshot->node_count; i++) {
        const struct kube_amounts *one = &costing->node_daemons[i];

        if (costing->node_offer[i] == OFFER_NONE)
            continue;
        most.cpu = one->cpu > most.cpu ? one->cpu : most.cpu;
        most.mem = one->mem > most.mem ? one->mem : most.mem;
    }
    return most;
}

static int64_t no_less_than_zero(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

/* The catalogue with what is left for pods: types as nodes of them have shown, others by the largest reserve. */
static void make_usable(struct costing *costing)
{
    const struct catalogue *from = costing->catalogue;
    const struct reserve reserve = observed_reserve(costing);
    const struct kube_amounts daemons = most_daemons(costing);

    catalogue_init(&costing->usable);
    for (uint32_t i = 0; i < from->type_count; i++) {
        struct machine_type type = from->types[i];
        int64_t cpu = type.capacity.amount[RES_CPU] * (1000 - reserve.cpu) / 1000;
        int64_t mem = type.capacity.amount[RES_MEM] * (1000 - reserve.mem) / 1000;

        type.word_first = 0;
        for (uint32_t n = 0; n < costing->snapshot->node_count; n++) {
            const struct kube_amounts *seen = &costing->snapshot->nodes[n].allocatable;

            if (costing->node_offer[n] != OFFER_NONE &&
                from->offers[costing->node_offer[n]].type == i) {
                cpu = seen->cpu;
                mem = seen->mem;
                break;
            }
        }
        type.capacity.amount[RES_CPU] = no_less_than_zero(cpu - daemons.cpu);
        type.capacity.amount[RES_MEM] = no_less_than_zero(mem - daemons.mem);
        (void)catalogue_add_type(&costing->usable, names_text(&from->names, from->types[i].name),
                                 names_text(&from->families, from->types[i].family), &type);
        catalogue_copy_words(&costing->usable, i, from, i);
    }
    for (uint32_t i = 0; i < from->offer_count; i++) {
        const uint32_t zone = from->offers[i].zone;

        (void)catalogue_add_offer(&costing->usable,
                                  zone != NAME_NONE ? names_text(&from->names, zone) : NULL,
                                  &from->offers[i]);
    }
}

/* Offers that must not be asked for: commitments, and zones in which the cluster is not. */
static void block_offers(const struct costing *costing, struct view *view)
{
    for (uint32_t i = 0; i < costing->catalogue->offer_count; i++) {
        const struct offer *offer = &costing->catalogue->offers[i];
        const bool is_elsewhere = offer->zone != NAME_NONE && costing->ret->priced_nodes > 0 &&
                                  map_get(&costing->zones, offer->zone) == MAP_NONE;

        if (offer->market == MARKET_RESERVED || is_elsewhere)
            view->offer_blocked_until[i] = MSEC_NEVER;
    }
}

/* The expression of the pod, with what it keeps of its node. */
static void need_of(const struct costing *costing, const struct kube_pod_row *pod, char *to,
                    size_t size)
{
    const char *need = text_of(costing, pod->need);
    const struct kube_node_row *node =
        pod->node != KUBE_ROW_NONE ? &costing->snapshot->nodes[pod->node] : NULL;
    const bool is_spot = node != NULL && strcmp(text_of(costing, node->market), "spot") == 0;
    const bool is_arm = node != NULL && strcmp(text_of(costing, node->arch), "arm64") == 0;
    int used = snprintf(to, size, "%sarch=arm64", is_arm ? "" : "!");

    if (need[0] != '\0')
        used += snprintf(to + used, size - (size_t)used, "&(%s)", need);
    if (!is_spot && !costing->may_use_spot && strstr(need, "market=") == NULL)
        used += snprintf(to + used, size - (size_t)used, "&market=on-demand");
    if (node == NULL)
        return;
    if ((pod->flags & (KUBE_POD_CLAIMS | KUBE_POD_ZONES)) != 0 && node->zone != NAME_NONE)
        used +=
            snprintf(to + used, size - (size_t)used, "&zone=%.200s", text_of(costing, node->zone));
    if (pod->asks.accel > 0 && costing->node_offer[pod->node] != OFFER_NONE) {
        const struct machine_type *type =
            catalogue_type_of(costing->catalogue, costing->node_offer[pod->node]);

        (void)snprintf(to + used, size - (size_t)used, "&family=%.200s",
                       names_text(&costing->catalogue->families, type->family));
    }
}

static uint32_t shape_of(struct pool *pool, const struct kube_pod_row *pod)
{
    const bool asks_nothing = pod->asks.cpu == 0 && pod->asks.mem == 0 && pod->asks.accel == 0;
    const struct shape_demand demand = {
        .family = FAMILY_NONE,
        .res = { .amount = { [RES_CPU] = asks_nothing ? 1 : pod->asks.cpu,
                             [RES_MEM] = pod->asks.mem,
                             [RES_ACCEL] = pod->asks.accel } },
    };
    char need[NEED_TEXT];

    need_of(pool->of, pod, need, sizeof(need));
    return shapes_add(&pool->shapes, &(struct shape_spec){ .name = "pod",
                                                           .workload = "pod",
                                                           .demands = &demand,
                                                           .demand_count = 1,
                                                           .offers = need });
}

static void pool_init(struct pool *pool, struct costing *costing)
{
    *pool = (struct pool){ .of = costing };
    shapes_init(&pool->shapes);
    shapes_bind(&pool->shapes, &costing->usable);
    view_init(&pool->view, &costing->usable, &pool->shapes);
    block_offers(costing, &pool->view);
}

static void pool_done(struct pool *pool)
{
    view_done(&pool->view);
    shapes_done(&pool->shapes);
    mem_free(pool->pod_of_task);
    mem_free(pool->node_of_instance);
}

/* A job of this pod alone; those of one owner may have to keep apart. */
static void pool_add(struct pool *pool, uint32_t pod)
{
    const struct kube_pod_row *row = &pool->of->snapshot->pods[pod];
    const bool is_apart = (row->flags & (KUBE_POD_APART | KUBE_POD_HOST_PORT)) != 0;
    const uint64_t task = ++pool->task_count;

    MEM_ROOM(pool->pod_of_task, pool->pods_room, pool->task_count + 1);
    pool->pod_of_task[task] = pod;
    (void)view_add_job(&pool->view,
                       &(struct job_spec){
                           .id = task,
                           .first_task_id = task,
                           .shape = shape_of(pool, row),
                           .task_count = 1,
                           .apart = is_apart ? ((uint64_t)row->space << 32) + row->owner + 1 : 0,
                           .estimate_ms = MSEC_NEVER,
                       });
}

/* The room that is left on a node which stays anyway. */
static void pool_keep_node(struct pool *pool, uint32_t node)
{
    const struct costing *costing = pool->of;
    const struct kube_amounts *whole = &costing->snapshot->nodes[node].allocatable;
    const struct kube_amounts *daemons = &costing->node_daemons[node];
    const struct kube_amounts *held = &costing->node_held[node];
    const struct res left = {
        .amount = { [RES_CPU] = no_less_than_zero(whole->cpu - daemons->cpu - held->cpu),
                    [RES_MEM] = no_less_than_zero(whole->mem - daemons->mem - held->mem),
                    [RES_ACCEL] = no_less_than_zero(whole->accel - daemons->accel - held->accel) }
    };
    const uint64_t id = ++pool->instance_count;
    const uint32_t row = view_add_instance(&pool->view, id, costing->node_offer[node]);

    MEM_ROOM(pool->node_of_instance, pool->nodes_room, pool->instance_count + 1);
    pool->node_of_instance[id] = node;
    view_set_billed_from(&pool->view, row, 0);
    view_set_state(&pool->view, row, INSTANCE_READY);
    view_set_capacity(&pool->view, row, &left);
}

static bool node_is_kept(const struct costing *costing, uint32_t node)
{
    return costing->node_offer[node] != OFFER_NONE && costing->snapshot->nodes[node].held > 0;
}

/* Which present node a planned machine could be: one of its offer that has most of its pods. */
struct overlap {
    uint32_t rent;
    uint32_t node;
    uint32_t pods;
};

static int compare_overlaps(const void *left, const void *right)
{
    const struct overlap *a = left;
    const struct overlap *b = right;

    if (a->pods != b->pods)
        return a->pods > b->pods ? -1 : 1;
    if (a->rent != b->rent)
        return a->rent < b->rent ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static int compare_places(const void *left, const void *right)
{
    const struct overlap *a = left;
    const struct overlap *b = right;

    if (a->rent != b->rent)
        return a->rent < b->rent ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Fold equal (rent, node) into one with their number; returns how many are left. */
static uint32_t fold(struct overlap *overlaps, uint32_t count)
{
    uint32_t kept = 0;

    qsort(overlaps, count, sizeof(*overlaps), compare_places);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && overlaps[kept - 1].rent == overlaps[i].rent &&
            overlaps[kept - 1].node == overlaps[i].node)
            overlaps[kept - 1].pods++;
        else
            overlaps[kept++] = overlaps[i];
    }
    return kept;
}

/* The pods that need not move if each planned machine is the present node with most of its pods, best first. */
static uint32_t pods_that_stay(const struct pool *pool, const struct plan *plan,
                               struct arena *arena)
{
    const struct costing *costing = pool->of;
    struct overlap *overlaps = ARENA_ARRAY(arena, struct overlap, plan->place_count + 1);
    bool *rent_is_used = ARENA_ARRAY(arena, bool, plan->rent_count + 1);
    bool *node_is_used = ARENA_ARRAY(arena, bool, costing->snapshot->node_count + 1);
    uint32_t count = 0;
    uint32_t stay = 0;

    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        const uint32_t pod = pool->pod_of_task[pool->view.task.id[place->task]];
        const uint32_t node = costing->snapshot->pods[pod].node;

        if (node == KUBE_ROW_NONE)
            continue;
        if (!place->fresh)
            stay += pool->node_of_instance[pool->view.instance.id[place->target]] == node ? 1 : 0;
        else if (!node_is_kept(costing, node) &&
                 costing->node_offer[node] == plan->rents[place->target].offer)
            overlaps[count++] = (struct overlap){ .rent = place->target, .node = node, .pods = 1 };
    }
    count = fold(overlaps, count);
    qsort(overlaps, count, sizeof(*overlaps), compare_overlaps);
    for (uint32_t i = 0; i < count; i++) {
        if (rent_is_used[overlaps[i].rent] || node_is_used[overlaps[i].node])
            continue;
        rent_is_used[overlaps[i].rent] = true;
        node_is_used[overlaps[i].node] = true;
        stay += overlaps[i].pods;
    }
    return stay;
}

/* How many pods a node of the offer's type takes, by one that is there. */
static uint32_t pod_limit(const struct costing *costing, uint32_t offer)
{
    for (uint32_t i = 0; i < costing->snapshot->node_count; i++) {
        if (costing->node_offer[i] != OFFER_NONE &&
            costing->catalogue->offers[costing->node_offer[i]].type ==
                costing->catalogue->offers[offer].type &&
            costing->snapshot->nodes[i].allocatable.pods > 0)
            return (uint32_t)costing->snapshot->nodes[i].allocatable.pods;
    }
    return PODS_PER_NODE;
}

static void count_full(const struct pool *pool, const struct plan *plan, struct arena *arena)
{
    uint32_t *pods = ARENA_ARRAY(arena, uint32_t, plan->rent_count + 1);

    for (uint32_t i = 0; i < plan->place_count; i++) {
        if (plan->places[i].fresh)
            pods[plan->places[i].target]++;
    }
    for (uint32_t i = 0; i < plan->rent_count; i++) {
        if (pods[i] > pod_limit(pool->of, plan->rents[i].offer))
            pool->of->ret->over_pod_limit++;
    }
}

static void pool_plan(struct pool *pool)
{
    struct kube_costing *ret = pool->of->ret;
    struct knowledge knowledge = { 0 };
    int64_t option[POLICY_OPTIONS_MAX];
    struct arena arena;
    struct plan plan;
    const struct policy_input input = {
        .view = &pool->view, .knowledge = &knowledge, .option = option, .arena = &arena
    };

    arena_init(&arena);
    plan_init(&plan, &arena);
    policy_defaults(&policy_stint, option);
    colocation_init(&knowledge.colocation, 1.0); /* nothing is known of interference */
    reservation_update(&pool->view);
    policy_decide(&policy_stint, &input, &plan);
    for (uint32_t i = 0; i < plan.rent_count; i++) {
        ret->planned += price_of(pool->of, plan.rents[i].offer);
        ret->planned_machines++;
        row_of(pool->of, plan.rents[i].offer)->planned++;
    }
    ret->moves += plan.place_count - pods_that_stay(pool, &plan, &arena);
    ret->unplaced += pool->task_count - plan.place_count;
    count_full(pool, &plan, &arena);
    colocation_done(&knowledge.colocation);
    arena_done(&arena);
}

/* Whether the pod is part of the comparison. */
static bool is_compared(const struct costing *costing, const struct kube_pod_row *pod)
{
    return pod->stay != KUBE_STAYS_DAEMON &&
           (pod->node == KUBE_ROW_NONE ? pod->stay == KUBE_MOVES
                                       : costing->node_offer[pod->node] != OFFER_NONE);
}

static void count_pods(struct costing *costing)
{
    struct kube_costing *ret = costing->ret;

    for (uint32_t i = 0; i < costing->snapshot->pod_count; i++) {
        const struct kube_pod_row *pod = &costing->snapshot->pods[i];

        if (pod->stay == KUBE_STAYS_DAEMON) {
            ret->stays[pod->stay]++;
        } else if (!is_compared(costing, pod)) {
            ret->outside++;
        } else {
            ret->pods++;
            ret->stays[pod->stay]++;
            ret->waiting += pod->node == KUBE_ROW_NONE ? 1 : 0;
            ret->without_request += pod->asks.cpu == 0 && pod->asks.mem == 0 ? 1 : 0;
        }
    }
}

static void keep_nodes(struct costing *costing, struct pool *pool)
{
    struct kube_costing *ret = costing->ret;

    for (uint32_t i = 0; i < costing->snapshot->node_count; i++) {
        if (!node_is_kept(costing, i))
            continue;
        ret->kept_nodes++;
        ret->planned_machines++;
        ret->planned += price_of(costing, costing->node_offer[i]);
        row_of(costing, costing->node_offer[i])->planned++;
        if (costing->snapshot->nodes[i].is_open)
            pool_keep_node(pool, i);
    }
}

static struct pool *pool_create(struct costing *costing)
{
    struct pool *pool = mem_alloc(1, sizeof(*pool));

    pool_init(pool, costing);
    return pool;
}

/* A plan for each pool, in the order in which pods ask for them; the one without a name has the nodes that stay. */
static void plan_pools(struct costing *costing)
{
    const uint32_t nameless = names_find(&costing->snapshot->texts, "", 0);
    struct map pool_row;
    struct pool **pools = NULL;
    uint32_t count = 0;
    uint32_t room = 0;

    map_init(&pool_row);
    MEM_ROOM(pools, room, 1);
    pools[count++] = pool_create(costing);
    keep_nodes(costing, pools[0]);
    for (uint32_t i = 0; i < costing->snapshot->pod_count; i++) {
        const struct kube_pod_row *pod = &costing->snapshot->pods[i];
        uint32_t row = pod->pool == nameless ? 0 : map_get(&pool_row, pod->pool);

        if (!is_compared(costing, pod) || pod->stay != KUBE_MOVES)
            continue;
        if (row == MAP_NONE) {
            row = count++;
            MEM_ROOM(pools, room, count);
            pools[row] = pool_create(costing);
            map_put(&pool_row, pod->pool, row);
        }
        pool_add(pools[row], i);
    }
    for (uint32_t i = 0; i < count; i++) {
        pool_plan(pools[i]);
        pool_done(pools[i]);
        mem_free(pools[i]);
    }
    mem_free(pools);
    map_done(&pool_row);
}

static void find_bound(struct costing *costing)
{
    const struct view_bound_spec spec = { .is_of_all = true,
                                          .node_most = BOUND_STEPS,
                                          .search_most = BOUND_SEARCH };
    struct pool all;

    pool_init(&all, costing);
    for (uint32_t i = 0; i < costing->snapshot->pod_count; i++) {
        if (is_compared(costing, &costing->snapshot->pods[i]))
            pool_add(&all, i);
    }
    costing->ret->bound = view_bound(&all.view, &spec).bound;
    pool_done(&all);
}

static int compare_rows(const void *left, const void *right)
{
    const uint32_t a = ((const struct kube_costing_row *)left)->offer;
    const uint32_t b = ((const struct kube_costing_row *)right)->offer;

    return (a > b) - (a < b);
}

void kube_costing(const struct kube_snapshot *snapshot, const struct catalogue *catalogue,
                  bool may_use_spot, struct kube_costing *ret)
{
    const uint32_t nodes = snapshot->node_count;
    struct costing costing = {
        .snapshot = snapshot,
        .catalogue = catalogue,
        .may_use_spot = may_use_spot,
        .ret = ret,
        .node_offer = mem_alloc(nodes + 1, sizeof(uint32_t)),
        .node_daemons = mem_alloc(nodes + 1, sizeof(struct kube_amounts)),
        .node_held = mem_alloc(nodes + 1, sizeof(struct kube_amounts)),
        .node_pods = mem_alloc(nodes + 1, sizeof(struct kube_amounts)),
    };

    *ret = (struct kube_costing){ 0 };
    map_init(&costing.row_by_offer);
    map_init(&costing.zones);
    map_init(&costing.offer_by_kind);
    sum_pods(&costing);
    price_nodes(&costing);
    count_pods(&costing);
    make_usable(&costing);
    plan_pools(&costing);
    find_bound(&costing);
    qsort(ret->rows, ret->row_count, sizeof(*ret->rows), compare_rows);
    catalogue_done(&costing.usable);
    map_done(&costing.row_by_offer);
    map_done(&costing.zones);
    map_done(&costing.offer_by_kind);
    mem_free(costing.node_offer);
    mem_free(costing.node_daemons);
    mem_free(costing.node_held);
    mem_free(costing.node_pods);
}

void kube_costing_done(struct kube_costing *costing)
{
    mem_free(costing->rows);
}
