/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_settings.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "trace/doc_value.h"

static const msec_t lease_default_ms = 20 * MSEC_PER_SEC;

static int read_stop(const struct settings *in, const struct doc_node *root,
                     struct slurm_settings *ret)
{
    static const char *const allowed[] = { "signal", "grace", NULL };
    static const char *const signals[] = { "USR1", "USR2", "TERM", "INT", "HUP", "CONT", NULL };
    static const struct doc_range grace = { 0, 600 * MSEC_PER_SEC };
    const struct doc_node *map = NULL;
    int which = -1;
    int rc = settings_section(in, root, "stop", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = settings_choice(in, map, "signal", signals, &which);
    if (rc == 0 && which >= 0)
        ret->stop_signal = signals[which];
    if (rc == 0)
        rc = doc_get_duration(map, "grace", grace, &ret->stop_grace_ms, in->reterr);
    return rc;
}

int slurm_settings_read(const struct settings *in, const struct doc_node *map,
                        struct slurm_settings *ret)
{
    static const char *const allowed[] = {
        "kind",         "program", "poll",    "partition",  "only_partitions", "ignore_partitions",
        "ignore_users", "stop",    "tmp_gib", "gang_zones", "markets",         "owned",
        "burst",        "bursts",  "lease",   NULL,
    };
    static const struct doc_range poll = { 50, 60 * MSEC_PER_SEC };
    static const struct doc_range lease = { MSEC_PER_SEC, 600 * MSEC_PER_SEC };
    struct slurm_settings settings = {
        .program = "stint-slurm",
        .poll_ms = 500,
        .stop_grace_ms = 10 * MSEC_PER_SEC,
        .lease_ms = lease_default_ms,
    };
    int zones = -1;
    int rc = doc_allow_keys(map, allowed, in->reterr);

    if (rc == 0)
        rc = doc_get_name(map, "program", &settings.program, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "poll", poll, &settings.poll_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "lease", lease, &settings.lease_ms, in->reterr);
    if (rc == 0)
        rc = settings_word(in, map, "partition", &settings.partition);
    if (rc == 0)
        rc = doc_get_mib(map, "tmp_gib", &settings.tmp_mib, in->reterr);
    if (rc == 0)
        rc = settings_words(in, map, "only_partitions", &settings.only_partitions);
    if (rc == 0)
        rc = settings_words(in, map, "ignore_partitions", &settings.ignore_partitions);
    if (rc == 0)
        rc = settings_words(in, map, "ignore_users", &settings.ignore_users);
    if (rc == 0)
        rc = settings_choice(in, map, "gang_zones", (const char *const[]){ "one", "any", NULL },
                             &zones);
    settings.any_zone = zones == 1;
    if (rc == 0)
        rc = slurm_markets_read(in, map, &settings.markets);
    if (rc == 0)
        rc = slurm_owned_read(in, map, &settings.owned);
    if (rc == 0)
        rc = slurm_bursts_read(in, map, &settings.bursts);
    if (rc == 0)
        rc = read_stop(in, map, &settings);
    if (rc == 0)
        *ret = settings;
    return rc;
}

bool slurm_settings_same(const struct slurm_settings *a, const struct slurm_settings *b)
{
    return settings_same_text(a->program, b->program) && a->poll_ms == b->poll_ms &&
           settings_same_text(a->partition, b->partition) &&
           settings_same_text(a->stop_signal, b->stop_signal) &&
           a->stop_grace_ms == b->stop_grace_ms && a->lease_ms == b->lease_ms &&
           a->tmp_mib == b->tmp_mib && a->any_zone == b->any_zone &&
           slurm_markets_same(&a->markets, &b->markets) && slurm_owned_same(&a->owned, &b->owned) &&
           slurm_bursts_same(&a->bursts, &b->bursts) &&
           settings_same_words(&a->only_partitions, &b->only_partitions) &&
           settings_same_words(&a->ignore_partitions, &b->ignore_partitions) &&
           settings_same_words(&a->ignore_users, &b->ignore_users);
}

static const char *join(const struct settings_words *words, struct arena *arena)
{
    size_t size = 1;

    for (uint32_t i = 0; i < words->count; i++)
        size += strlen(words->word[i]) + 1;

    char *text = arena_alloc(arena, size, 1);
    size_t used = 0;

    for (uint32_t i = 0; i < words->count; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "," : "", words->word[i]);
    return text;
}

static const char *beside(const char *state, const char *end, struct arena *arena)
{
    const size_t size = strlen(state) + strlen(end) + 1;
    char *path = arena_alloc(arena, size, 1);

    (void)snprintf(path, size, "%s%s", state, end);
    return path;
}

static const char *seconds(msec_t span, struct arena *arena)
{
    enum { SIZE = 32 };
    char *text = arena_alloc(arena, SIZE, 1);

    (void)snprintf(text, SIZE, "%lld.%03lld", (long long)(span / MSEC_PER_SEC),
                   (long long)(span % MSEC_PER_SEC));
    return text;
}

const char *const *slurm_settings_argv(const struct slurm_settings *settings, const char *state,
                                       struct arena *arena)
{
    enum { ARGUMENTS_MAX = 20 };
    const char **argv = ARENA_ARRAY(arena, const char *, ARGUMENTS_MAX);
    uint32_t count = 0;

    argv[count++] = settings->program;
    argv[count++] = "--poll";
    argv[count++] = seconds(settings->poll_ms, arena);
    argv[count++] = "--raised";
    argv[count++] = beside(state, ".raised", arena);
    argv[count++] = "--lease";
    argv[count++] = beside(state, ".lease", arena);
    if (settings->lease_ms != lease_default_ms) {
        argv[count++] = "--lease-life";
        argv[count++] = seconds(settings->lease_ms, arena);
    }
    if (settings->only_partitions.count > 0) {
        argv[count++] = "--partitions";
        argv[count++] = join(&settings->only_partitions, arena);
    }
    if (settings->ignore_partitions.count > 0) {
        argv[count++] = "--ignore-partitions";
        argv[count++] = join(&settings->ignore_partitions, arena);
    }
    if (settings->ignore_users.count > 0) {
        argv[count++] = "--ignore-users";
        argv[count++] = join(&settings->ignore_users, arena);
    }
    if (settings->partition != NULL) {
        argv[count++] = "--place-in";
        argv[count++] = settings->partition;
    }
    assert(count < ARGUMENTS_MAX);
    argv[count] = NULL;
    return argv;
}
