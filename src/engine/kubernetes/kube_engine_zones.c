/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_zones.c - pods whose zone depends on other pods: which one a pod at the gate is for.
 *
 * Those of a rule are a group, which is counted by zone: at the gate, placed and bound. Of the zones where a machine of the catalogue can
 * hold the pod, and that other pods leave to it (where=-,a, not these; where=+,a, one of these), a pod that is spread has the one with the fewest of its group, so that no
 * zone has more than one more than another by what was decided here; it does not count when it is on its way out. One that keeps apart has
 * a zone with none; as kube-scheduler does, it counts until it is no more. With 'least', where fewer zones can hold the pod, none has more than
 * 'skew' of the group. One that must be near others has the zone with the most of its group, and counts until it is no more, too; if nothing is said
 * of where others are, it goes where one of its group does, as nothing else is bound that the scheduler would have it near.
 *
 * From then on the zone is part of what the pod asks of its machine. A pod that no zone may have is held: it has no job, and its line is
 * taken again when a zone may have become free for it.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/offer_set.h"

enum { NEEDS_TEXT = 2048 };

/* Zones of the catalogue, in its order. */
static void learn_zones(struct kube_engine *engine)
{
    const struct catalogue *catalogue = engine->config.catalogue;

    for (uint32_t i = engine->zones_of; i < catalogue->offer_count; i++) {
        const uint32_t zone = catalogue->offers[i].zone;
        bool is_known =
            zone == NAME_NONE || strcmp(names_text(&catalogue->names, zone), OWNED_ZONE) == 0;

        for (uint32_t j = 0; j < engine->zone_count && !is_known; j++)
            is_known = engine->zones[j] == zone;
        if (is_known)
            continue;
        MEM_ROOM(engine->zones, engine->zones_room, engine->zone_count + 1);
        engine->zones[engine->zone_count++] = zone;
    }
    engine->zones_of = catalogue->offer_count;
}

static uint64_t key_of(uint64_t group, uint32_t zone)
{
    return map_mix(group ^ ((uint64_t)(zone + 1) << 40)) | 1;
}

static uint32_t count_of(const struct kube_engine *engine, uint64_t key)
{
    const uint32_t count = map_get(&engine->in_zone, key);

    return count != MAP_NONE ? count : 0;
}

static bool add_zone(const struct kube_engine *engine, const char *needs, uint32_t zone, char *ret)
{
    const char *name = names_text(&engine->config.catalogue->names, zone);
    const int length = needs != NULL ? snprintf(ret, NEEDS_TEXT, "(%s)&zone=%s", needs, name)
                                     : snprintf(ret, NEEDS_TEXT, "zone=%s", name);

    return length > 0 && length < NEEDS_TEXT && offer_text_is_valid(ret);
}

/*
 * Rules.
 */

/* What a line says of zones. */
struct asking {
    uint64_t group;
    const char *where; /* "-,a,b,": not these; "+,a,b,": one of these; "": any */
    uint32_t least;    /* zones; 0: as many as there are */
    uint32_t most; /* of the group in one zone; with 'least' if there are fewer zones than that */
    bool is_apart;
    bool is_near;
};

static struct asking asking_of(const struct line *line)
{
    const char *rule = line_get(line, "rule");
    const char *where = line_get(line, "where");
    const bool is_apart = rule != NULL && strcmp(rule, "apart") == 0;
    const uint32_t least = (uint32_t)(kube_engine_amount(line, "least") & INT32_MAX);
    const uint32_t skew = (uint32_t)(kube_engine_amount(line, "skew") & INT32_MAX);

    return (struct asking){ .group = (uint64_t)kube_engine_amount(line, "zones"),
                            .where = where != NULL ? where : "",
                            .least = least,
                            .most = is_apart    ? 1
                                    : least > 0 ? skew
                                                : UINT32_MAX,
                            .is_apart = is_apart,
                            .is_near = rule != NULL && strcmp(rule, "near") == 0 };
}

/* Whether ",a,b," has the zone. */
static bool has_zone(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = strchr(list, ','); at != NULL; at = strchr(at + 1, ',')) {
        if (strncmp(at + 1, name, length) == 0 && at[length + 1] == ',')
            return true;
    }
    return false;
}

/* Whether other pods leave the zone to it. */
static bool is_left(const struct asking *asking, const char *name)
{
    return asking->where[0] == '\0' || has_zone(asking->where, name) == (asking->where[0] == '+');
}

static const char *hold_of(const struct asking *asking, bool is_full)
{
    if (asking->is_apart)
        return "anti-affinity excludes it from every zone that could hold it";
    if (asking->is_near)
        return "its pod affinity matches no pod in a zone that could hold it";
    return is_full
               ? "its topology spread needs more zones than could hold it, and each of these is full"
               : "other pods exclude it from every zone that could hold it";
}

/* A zone that can hold it. */
struct candidate {
    uint64_t key;
    uint32_t count; /* of the group */
    uint32_t shape;
    bool is_left;
};

static bool look_at(struct kube_engine *engine, const struct line *line,
                    const struct asking *asking, uint32_t zone, struct candidate *ret)
{
    char text[NEEDS_TEXT];

    if (!add_zone(engine, line_get(line, "needs"), zone, text) ||
        kube_engine_shape_of(engine, line, text, &ret->shape) != NULL)
        return false;
    ret->key = key_of(asking->group, zone);
    ret->count = count_of(engine, ret->key);
    ret->is_left = is_left(asking, names_text(&engine->config.catalogue->names, zone));
    return true;
}

/* Whether any of the group has a zone: those that must be near each other go there, and nowhere else. */
static bool has_begun(const struct kube_engine *engine, const struct asking *asking)
{
    for (uint32_t i = 0; i < engine->zone_count; i++) {
        if (count_of(engine, key_of(asking->group, engine->zones[i])) > 0)
            return true;
    }
    return false;
}

/* Whether one candidate is better than what is there, of which 'count' is that of the best one. */
static bool is_better(const struct asking *asking, const struct candidate *one, bool is_first,
                      uint32_t count)
{
    if (!one->is_left)
        return false;
    return is_first || (asking->is_near ? one->count > count : one->count < count);
}

/* The zone of a pod at the gate. */
static const char *choose(struct kube_engine *engine, const struct line *line,
                          const struct asking *asking, struct kube_zoned *ret)
{
    const bool is_tied = asking->is_near && asking->where[0] != '+' && has_begun(engine, asking);
    uint32_t count = 0;
    uint32_t zones = 0;
    bool is_full;

    for (uint32_t i = 0; i < engine->zone_count; i++) {
        struct candidate one;

        if (!look_at(engine, line, asking, engine->zones[i], &one))
            continue;
        zones++;
        if ((is_tied && one.count == 0) || !is_better(asking, &one, ret->key == 0, count))
            continue;
        count = one.count;
        ret->key = one.key;
        ret->shape = one.shape;
    }
    if (zones == 0)
        return "no machine of the catalogue can hold it";
    is_full =
        ret->key != 0 && count >= asking->most && (asking->least == 0 || zones < asking->least);
    if (ret->key == 0 || is_full)
        ret->hold = hold_of(asking, is_full);
    return NULL;
}

/* One that has a slot is where it is; its node may be in a zone that the catalogue no longer has. */
static const char *stay(struct kube_engine *engine, const struct line *line,
                        const struct asking *asking, struct kube_zoned *ret)
{
    const char *at = line_get(line, "zone");
    const char *needs = line_get(line, "needs");
    char text[NEEDS_TEXT];

    for (uint32_t i = 0; at != NULL && i < engine->zone_count; i++) {
        if (strcmp(names_text(&engine->config.catalogue->names, engine->zones[i]), at) != 0)
            continue;
        ret->key = key_of(asking->group, engine->zones[i]);
        if (add_zone(engine, needs, engine->zones[i], text) &&
            kube_engine_shape_of(engine, line, text, &ret->shape) == NULL)
            return NULL;
    }
    return kube_engine_shape_of(engine, line, needs, &ret->shape);
}

const char *kube_zones_shape(struct kube_engine *engine, const struct line *line, bool is_waiting,
                             struct kube_zoned *ret)
{
    const struct asking asking = asking_of(line);

    learn_zones(engine);
    *ret = (struct kube_zoned){ .shape = SHAPE_NONE, .is_last = asking.is_apart || asking.is_near };
    if (asking.group == 0 || engine->zone_count == 0)
        return kube_engine_shape_of(engine, line, line_get(line, "needs"), &ret->shape);
    return is_waiting ? choose(engine, line, &asking, ret) : stay(engine, line, &asking, ret);
}

uint64_t kube_zones_hash(const struct line *line)
{
    const char *where = line_get(line, "where");

    return kube_engine_hash_of(where != NULL ? where : "");
}

bool kube_zones_is_wrong(struct kube_engine *engine, struct kube_pod *pod, const struct line *line)
{
    const struct asking asking = asking_of(line);
    const uint64_t where = kube_zones_hash(line);

    if (asking.group == 0 || pod->where == where)
        return false;
    pod->where = where;
    for (uint32_t i = 0; pod->held == NULL && i < engine->zone_count; i++) {
        if (key_of(asking.group, engine->zones[i]) == pod->zone_key)
            return !is_left(&asking,
                            names_text(&engine->config.catalogue->names, engine->zones[i]));
    }
    return true;
}

/*
 * Counts.
 */

void kube_zones_enter(struct kube_engine *engine, struct kube_pod *pod,
                      const struct kube_zoned *zoned)
{
    pod->zone_key = zoned->key;
    pod->is_last = zoned->is_last;
    if (zoned->key != 0)
        map_put(&engine->in_zone, zoned->key, count_of(engine, zoned->key) + 1);
}

void kube_zones_leave(struct kube_engine *engine, struct kube_pod *pod)
{
    const uint32_t count = count_of(engine, pod->zone_key);

    if (pod->zone_key == 0)
        return;
    if (count > 1)
        map_put(&engine->in_zone, pod->zone_key, count - 1);
    else
        (void)map_remove(&engine->in_zone, pod->zone_key);
    pod->zone_key = 0;
    engine->is_freed = true;
}

void kube_zones_evicted(struct kube_engine *engine, struct kube_pod *pod)
{
    if (!pod->is_last)
        kube_zones_leave(engine, pod);
}

/*
 * Pods that are held.
 */

void kube_zones_hold(struct kube_engine *engine, struct kube_pod *pod, const struct line *line,
                     const char *why)
{
    struct line_text text = { 0 };
    const bool is_held = pod->held != NULL;

    line_text_begin(&text, line->word);
    for (uint32_t i = 0; i < line->count; i++)
        line_text_string(&text, line->field[i].key, line->field[i].value);
    line_text_end(&text);
    text.text[text.size - 1] = '\0'; /* for the line feed */
    mem_free(pod->held);
    pod->held = text.text;
    pod->hold = why;
    pod->where = kube_zones_hash(line);
    if (is_held)
        return;
    MEM_ROOM(engine->held, engine->held_room, engine->held_count + 1);
    engine->held[engine->held_count++] = (uint32_t)(pod - engine->pods);
}

void kube_zones_let_go(struct kube_engine *engine, struct kube_pod *pod)
{
    const uint32_t row = (uint32_t)(pod - engine->pods);
    uint32_t kept = 0;

    if (pod->held == NULL)
        return;
    mem_free(pod->held);
    pod->held = NULL;
    pod->hold = NULL;
    for (uint32_t i = 0; i < engine->held_count; i++) {
        if (engine->held[i] != row)
            engine->held[kept++] = engine->held[i];
    }
    engine->held_count = kept;
}
