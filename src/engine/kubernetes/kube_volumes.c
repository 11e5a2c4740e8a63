/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_volumes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/kubernetes/kube_needs.h"
#include "engine/kubernetes/kube_talk.h"

enum { AGAIN_S = 5, AGAIN_MOST_S = 60, PATH_TEXT = 1024 };

enum step { AT_CLAIM, AT_VOLUME, AT_CLASS, KNOWN };

/* A pod with claims. */
struct entry {
    uint64_t key; /* hash of its uid */
    char *space;
    char *name;
    char *uid;
    char *claims; /* names, each ended by a zero */
    uint32_t count;
    uint32_t at; /* the claim at hand */
    enum step step;
    char *words;
    const char *why;
    bool is_seen;
    int again_s; /* it was looked at again after so long; 0: it was not */
};

struct kube_volumes {
    struct kube_volumes_config config;
    struct entry *entries;
    uint32_t entry_count, entries_room;
    struct map by_key;
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return map_mix(hash);
}

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *to = mem_alloc(size, 1);

    memcpy(to, text, size);
    return to;
}

/*
 * Entries.
 */

static struct entry *find(struct kube_volumes *volumes, uint64_t key)
{
    const uint32_t at = map_get(&volumes->by_key, key);

    return at != MAP_NONE ? &volumes->entries[at] : NULL;
}

/* The last row takes its place. */
static void drop(struct kube_volumes *volumes, struct entry *entry)
{
    const uint32_t at = (uint32_t)(entry - volumes->entries);

    (void)map_remove(&volumes->by_key, entry->key);
    mem_free(entry->space);
    mem_free(entry->name);
    mem_free(entry->uid);
    mem_free(entry->claims);
    mem_free(entry->words);
    if (at != --volumes->entry_count) {
        *entry = volumes->entries[volumes->entry_count];
        map_put(&volumes->by_key, entry->key, at);
    }
}

static char *copy_claims(const struct kube_object *pod)
{
    size_t size = 0;
    char *to;
    char *at;

    for (uint32_t i = 0; i < pod->claim_count; i++)
        size += strlen(pod->claim[i]) + 1;
    to = at = mem_alloc(size, 1);
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const size_t length = strlen(pod->claim[i]) + 1;

        memcpy(at, pod->claim[i], length);
        at += length;
    }
    return to;
}

static struct entry *add(struct kube_volumes *volumes, const struct kube_object *pod)
{
    const uint64_t key = hash_of(pod->uid);
    struct entry *entry;

    MEM_ROOM(volumes->entries, volumes->entries_room, volumes->entry_count + 1);
    assert(volumes->entries != NULL);
    entry = &volumes->entries[volumes->entry_count];
    *entry = (struct entry){ .key = key,
                             .space = copy(pod->name_space),
                             .name = copy(pod->name),
                             .uid = copy(pod->uid),
                             .claims = copy_claims(pod),
                             .count = pod->claim_count,
                             .words = copy("") };
    map_put(&volumes->by_key, key, volumes->entry_count++);
    return entry;
}

/*
 * Steps.
 */

static void refuse(struct entry *entry, const char *why)
{
    entry->why = why;
    entry->step = KNOWN;
}

static void ask(struct kube_volumes *volumes, const struct entry *entry, enum kube_kind kind,
                const char *path, int after_s)
{
    volumes->config.ask(volumes->config.context, path, kind, after_s, entry->key);
}

static const char *claim_of(const struct entry *entry)
{
    const char *name = entry->claims;

    for (uint32_t i = 0; i < entry->at; i++)
        name += strlen(name) + 1;
    return name;
}

static void ask_claim(struct kube_volumes *volumes, struct entry *entry, int after_s)
{
    const char *name;
    char path[PATH_TEXT];

    if (entry->at == entry->count) {
        entry->step = KNOWN;
        return;
    }
    name = claim_of(entry);
    entry->step = AT_CLAIM;
    if (!kube_talk_is_name(entry->space) || !kube_talk_is_name(name)) {
        refuse(entry, "its volume claim has no name");
        return;
    }
    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/persistentvolumeclaims/%s",
                   entry->space, name);
    ask(volumes, entry, KUBE_VOLUME_CLAIM, path, after_s);
}

/* As kube-scheduler would; each time for longer, so that pods which nobody makes volumes for cost the server little. */
static void wait_for_claim(struct kube_volumes *volumes, struct entry *entry)
{
    if (entry->again_s == 0 && volumes->config.on_wait != NULL)
        volumes->config.on_wait(volumes->config.context,
                                &(struct kube_volumes_wait){ .space = entry->space,
                                                             .name = entry->name,
                                                             .uid = entry->uid,
                                                             .claim = claim_of(entry) });
    entry->again_s = entry->again_s == 0 ? AGAIN_S : 2 * entry->again_s;
    if (entry->again_s > AGAIN_MOST_S)
        entry->again_s = AGAIN_MOST_S;
    ask_claim(volumes, entry, entry->again_s);
}

static void next_claim(struct kube_volumes *volumes, struct entry *entry)
{
    entry->at++;
    ask_claim(volumes, entry, 0);
}

static void take_claim(struct kube_volumes *volumes, struct entry *entry,
                       const struct kube_object *claim)
{
    const char *name = claim->volume != NULL ? claim->volume : claim->class_name;
    char path[PATH_TEXT];

    if (name == NULL) {
        wait_for_claim(volumes, entry); /* somebody makes a volume for it, and binds them */
        return;
    }
    if (!kube_talk_is_name(name)) {
        refuse(entry, "its volume or storage class has no name");
        return;
    }
    entry->step = claim->volume != NULL ? AT_VOLUME : AT_CLASS;
    (void)snprintf(path, sizeof(path), "%s/%s",
                   claim->volume != NULL ? "/api/v1/persistentvolumes"
                                         : "/apis/storage.k8s.io/v1/storageclasses",
                   name);
    ask(volumes, entry, claim->volume != NULL ? KUBE_VOLUME : KUBE_STORAGE_CLASS, path, 0);
}

/* A volume of another region is of no use in this one: that is not said in words. */
static bool is_region(const char *key)
{
    const size_t length = strlen(key);

    return length > 7 && strcmp(key + length - 7, "/region") == 0;
}

static void take_volume(struct kube_volumes *volumes, struct entry *entry,
                        const struct kube_object *volume)
{
    struct kube_object *plain = mem_alloc(1, sizeof(*plain));
    struct kube_need need = { .offers = "" };
    const size_t before = strlen(entry->words);
    const char *why;
    char *words;
    size_t size;

    *plain = *volume;
    plain->requirement_count = 0;
    for (uint32_t i = 0; i < volume->requirement_count; i++) {
        if (!is_region(volume->requirement[i].key))
            plain->requirement[plain->requirement_count++] = volume->requirement[i];
    }
    why = (volume->flags & KUBE_POD_STRANGE) != 0 ? volume->strange : kube_need_of(plain, &need);
    mem_free(plain);
    if (why != NULL || need.pool[0] != '\0') {
        refuse(entry, "its volume names nodes in a form unknown to Stint");
        return;
    }
    if (need.offers[0] != '\0') {
        size = before + strlen(need.offers) + 4;
        words = mem_alloc(size, 1);
        (void)snprintf(words, size, "%s%s%s", entry->words, before > 0 ? "&" : "", need.offers);
        mem_free(entry->words);
        entry->words = words;
    }
    next_claim(volumes, entry);
}

static void take_class(struct kube_volumes *volumes, struct entry *entry,
                       const struct kube_object *class)
{
    if (!class->is_late)
        wait_for_claim(volumes, entry);
    else if (class->is_by_hand || class->has_topologies)
        refuse(entry, "its storage class has volumes in some places only");
    else
        next_claim(volumes, entry);
}

static void take(struct kube_volumes *volumes, struct entry *entry, long status,
                 const struct kube_object *object)
{
    if (status == 403 || status == 401)
        refuse(entry, "Stint may not read its volumes (see `stint kubernetes install`)");
    else if (object == NULL)
        wait_for_claim(volumes, entry);
    else if (entry->step == AT_CLAIM)
        take_claim(volumes, entry, object);
    else if (entry->step == AT_VOLUME)
        take_volume(volumes, entry, object);
    else
        take_class(volumes, entry, object);
}

void kube_volumes_answer(struct kube_volumes *volumes, uint64_t cookie, long status,
                         const struct kube_object *object)
{
    struct entry *entry = find(volumes, cookie);

    if (entry == NULL || entry->step == KNOWN)
        return;
    take(volumes, entry, status, object);
    if (entry->step == KNOWN) {
        char *space = copy(entry->space);
        char *name = copy(entry->name);

        volumes->config.on_known(volumes->config.context, space, name); /* it may add others */
        mem_free(space);
        mem_free(name);
    }
}

bool kube_volumes_of(struct kube_volumes *volumes, const struct kube_object *pod,
                     const char **words, const char **why)
{
    struct entry *entry = find(volumes, hash_of(pod->uid));

    *words = "";
    *why = NULL;
    if ((pod->flags & KUBE_POD_ODD_CLAIMS) != 0)
        *why = "its volumes are unknown to Stint";
    if (*why != NULL || pod->claim_count == 0)
        return true;
    if (entry == NULL) {
        entry = add(volumes, pod);
        ask_claim(volumes, entry, 0);
    }
    entry->is_seen = true;
    *words = entry->words;
    *why = entry->why;
    return entry->step == KNOWN;
}

void kube_volumes_gone(struct kube_volumes *volumes, const char *uid)
{
    struct entry *entry = find(volumes, hash_of(uid));

    if (entry != NULL)
        drop(volumes, entry);
}

void kube_volumes_begin(struct kube_volumes *volumes)
{
    for (uint32_t i = 0; i < volumes->entry_count; i++)
        volumes->entries[i].is_seen = false;
}

void kube_volumes_end(struct kube_volumes *volumes)
{
    for (uint32_t i = volumes->entry_count; i-- > 0;) {
        if (!volumes->entries[i].is_seen)
            drop(volumes, &volumes->entries[i]);
    }
}

struct kube_volumes *kube_volumes_create(const struct kube_volumes_config *config)
{
    struct kube_volumes *volumes = mem_alloc(1, sizeof(*volumes));

    volumes->config = *config;
    map_init(&volumes->by_key);
    return volumes;
}

void kube_volumes_destroy(struct kube_volumes *volumes)
{
    if (volumes == NULL)
        return;
    while (volumes->entry_count > 0)
        drop(volumes, &volumes->entries[volumes->entry_count - 1]);
    mem_free(volumes->entries);
    map_done(&volumes->by_key);
    mem_free(volumes);
}
