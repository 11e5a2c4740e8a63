/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cloud/clouds.h"
#include "engine/engines.h"
#include "serve/http_guard.h"
#include "sim/scenario.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/input_file.h"
#include "trace/input_text.h"
#include "trace/settings.h"
#include "trace/short_doc.h"

enum {
    CLUSTER_MAX = 40, /* letters: it is a tag in clouds and a part of host names */
    PREFIX_MAX = 24,
};

static const struct doc_range any_time = { 0, LIMIT_TIME_MS };
static const struct doc_range some_time = { 1, LIMIT_TIME_MS };

static const char *const mode_words[] = {
    [CONF_SHADOW] = "shadow",
    [CONF_ADVISE] = "advise",
    [CONF_ACT] = "act",
    [CONF_MODES] = NULL,
};

static const char *const level_words[] = {
    [CONF_LOG_ERROR] = "error", [CONF_LOG_WARNING] = "warning", [CONF_LOG_INFO] = "info",
    [CONF_LOG_DEBUG] = "debug", [CONF_LOG_LEVELS] = NULL,
};

/* What a configuration has where it says nothing. */
static const struct conf defaults = {
    .mode = CONF_SHADOW,
    .log_level = CONF_LOG_INFO,
    .node_prefix = "st-",
    .state = "/var/lib/stint/stint.db",
    .default_estimate_ms = MSEC_PER_HOUR,
    .learn = true,
    .warn_percent = 80,
    .replace_percent = 10,
    .replace_after_ms = MSEC_PER_HOUR,
    .timing = {
        .decide_delay_ms = 100,
        .audit_ms = 60 * MSEC_PER_SEC,
        .boot_timeout_ms = 300 * MSEC_PER_SEC,
        .refused_ms = 120 * MSEC_PER_SEC,
        .place_retry_ms = 5 * MSEC_PER_SEC,
        .start_timeout_ms = 180 * MSEC_PER_SEC,
        .queue_ahead_ms = 60 * MSEC_PER_SEC,
        .queue_ahead_most = 512,
    },
    .http = { .socket = "/run/stint/stintd.sock", .socket_mode = 0660 },
};

const char *conf_mode_word(enum conf_mode mode)
{
    return mode_words[mode];
}

/*
 * Small readers.
 */

/* A word that may be a part of a host name and of a tag. */
static int get_label(const struct doc_node *map, const char *key, size_t max, const char **ret,
                     struct error *reterr)
{
    const struct doc_node *node = doc_find(map, key);
    const char *text = NULL;
    const int rc = doc_get_name(map, key, &text, reterr);

    if (rc < 0 || node == NULL)
        return rc;

    const size_t length = strlen(text);
    bool good = length <= max && islower((unsigned char)text[0]);

    for (size_t i = 0; i < length; i++)
        good = good && (islower((unsigned char)text[i]) || isdigit((unsigned char)text[i]) ||
                        text[i] == '-');
    if (!good)
        return error_set(
            reterr, -EINVAL,
            "line %u: '%s' must be 1 to %zu of a-z, 0-9 and '-', a letter first, as it "
            "becomes part of host names; not '%s'",
            node->line, key, max, text_excerpt(text, length).text);
    *ret = text;
    return 0;
}

/* A whole number that fits 32 bits. */
static int get_count(const struct doc_node *map, const char *key, int64_t max, uint32_t *ret,
                     struct error *reterr)
{
    int64_t count = *ret;
    const int rc = doc_get_int(map, key, (struct doc_range){ 0, max }, &count, reterr);

    if (rc == 0)
        *ret = (uint32_t)count;
    return rc;
}

/* What is read, and where to. */
struct reading {
    struct settings from;
    struct conf *conf;
    struct error *reterr;
};

/*
 * Sections.
 */

static int find_policy(const struct reading *in, const struct doc_node *node)
{
    const char *name = NULL;
    const int rc = doc_as_name(node, &name, in->reterr);

    if (rc < 0)
        return rc;
    in->conf->policy = policy_find(name);
    if (in->conf->policy == NULL)
        return error_set(in->reterr, -EINVAL, "line %u: there is no policy '%s'; there are: %s",
                         node->line, text_excerpt(name, strlen(name)).text,
                         scenario_policy_names().text);
    policy_defaults(in->conf->policy, in->conf->option);
    return 0;
}

static int read_policy_options(const struct reading *in, const struct doc_node *map)
{
    const struct policy *policy = in->conf->policy;
    const char *names[POLICY_OPTIONS_MAX + 2] = { "name" };

    for (uint32_t i = 0; i < policy->option_count; i++)
        names[i + 1] = policy->options[i].name;

    int rc = doc_allow_keys(map, names, in->reterr);

    if (rc < 0)
        return rc;
    DOC_EACH(node, map)
    {
        const uint32_t index = policy_find_option(policy, node->key);

        if (index == UINT32_MAX)
            continue; /* the name */
        rc = scenario_read_option(&policy->options[index], node, &in->conf->option[index],
                                  in->reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A name, or a map of the name and options. */
static int read_policy(const struct reading *in, const struct doc_node *root)
{
    const struct doc_node *node = doc_find(root, "policy");

    if (node->kind == DOC_SCALAR)
        return find_policy(in, node);

    int rc = doc_expect(node, DOC_MAP, in->reterr);

    if (rc == 0)
        rc = doc_need_keys(node, (const char *const[]){ "name", NULL }, in->reterr);
    if (rc == 0)
        rc = find_policy(in, doc_find(node, "name"));
    return rc < 0 ? rc : read_policy_options(in, node);
}

static int read_estimates(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = { "default", "learn", "accounting", NULL };
    const struct doc_node *map = NULL;
    int rc = settings_section(&in->from, root, "estimates", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = doc_get_duration(map, "default", some_time, &in->conf->default_estimate_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_bool(map, "learn", &in->conf->learn, in->reterr);
    if (rc == 0)
        rc = settings_file(&in->from, map, "accounting", &in->conf->accounting);
    return rc;
}

static int read_limits(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = {
        "instances", "dollars_per_hour", "dollars_per_day", "dollars_per_month", "warn_at", "for",
        NULL
    };
    const struct doc_node *map = NULL;
    int rc = settings_section(&in->from, root, "limits", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = get_count(map, "instances", LIMIT_TASKS, &in->conf->max_instances, in->reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_hour", &in->conf->max_price_per_hour, in->reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_day", &in->conf->max_per_day, in->reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_month", &in->conf->max_per_month, in->reterr);
    if (rc == 0)
        rc = get_count(map, "warn_at", 100, &in->conf->warn_percent, in->reterr);
    if (rc == 0)
        rc = conf_caps_read(&in->from, map, &in->conf->caps);
    return rc;
}

static int read_replace(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = { "percent", "after", NULL };
    const struct doc_node *map = NULL;
    int rc = settings_section(&in->from, root, "replace_outdated", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = get_count(map, "percent", 100, &in->conf->replace_percent, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "after", any_time, &in->conf->replace_after_ms, in->reterr);
    return rc;
}

static int read_timing(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = {
        "decide_delay",     "audit",         "boot_timeout",
        "refused",          "place_retry",   "queue_ahead",
        "queue_ahead_most", "start_timeout", NULL,
    };
    static const struct doc_range delay = { 0, 60 * MSEC_PER_SEC };
    static const struct doc_range audit = { MSEC_PER_SEC, 24 * MSEC_PER_HOUR };
    struct conf_timing *timing = &in->conf->timing;
    const struct doc_node *map = NULL;
    int rc = settings_section(&in->from, root, "timing", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = doc_get_duration(map, "decide_delay", delay, &timing->decide_delay_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "audit", audit, &timing->audit_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "boot_timeout", any_time, &timing->boot_timeout_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "refused", any_time, &timing->refused_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "place_retry", any_time, &timing->place_retry_ms, in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "start_timeout", some_time, &timing->start_timeout_ms,
                              in->reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "queue_ahead", any_time, &timing->queue_ahead_ms, in->reterr);
    if (rc == 0)
        rc = get_count(map, "queue_ahead_most", LIMIT_TASKS, &timing->queue_ahead_most, in->reterr);
    return rc;
}

/* An adapter reads its own map, and may look at what was read before it. */
static struct settings for_adapter(const struct reading *in, const struct doc_node *root)
{
    struct settings settings = in->from;

    settings.root = root;
    settings.cluster = in->conf->cluster;
    settings.mode = conf_mode_word(in->conf->mode);
    settings.is_shadow = in->conf->mode == CONF_SHADOW;
    return settings;
}

/* The map under 'key', and which of 'kinds' it says that it is. */
static int get_kind(const struct reading *in, const struct doc_node *root, const char *key,
                    const char *const *kinds, const struct doc_node **ret_map, int *ret)
{
    int rc = doc_get_map(root, key, ret_map, in->reterr);

    if (rc == 0)
        rc = doc_need_keys(*ret_map, (const char *const[]){ "kind", NULL }, in->reterr);
    return rc < 0 ? rc : settings_choice(&in->from, *ret_map, "kind", kinds, ret);
}

static int read_engine(const struct reading *in, const struct doc_node *root)
{
    const struct settings settings = for_adapter(in, root);
    struct conf_engine *engine = &in->conf->engine;
    const struct doc_node *map = NULL;
    const char *names[ENGINES_MAX + 1] = { NULL };
    int kind = 0;

    for (int i = 0; engines[i] != NULL; i++)
        names[i] = engines[i]->name;

    const int rc = get_kind(in, root, "engine", names, &map, &kind);

    if (rc < 0)
        return rc;
    engine->kind = engines[kind];
    return engine->kind->read(&settings, map, &engine->settings);
}

static int read_cloud(const struct reading *in, const struct doc_node *root)
{
    const struct settings settings = for_adapter(in, root);
    struct conf_cloud *cloud = &in->conf->cloud;
    const struct doc_node *map = NULL;
    const char *names[CLOUDS_MAX + 1] = { NULL };
    int kind = 0;

    for (int i = 0; clouds[i] != NULL; i++)
        names[i] = clouds[i]->name;

    const int rc = get_kind(in, root, "cloud", names, &map, &kind);

    if (rc < 0)
        return rc;
    cloud->kind = clouds[kind];
    return cloud->kind->read(&settings, map, &cloud->settings);
}

/* Octal, as chmod has it: "0660" or "660". */
static int read_socket_mode(const struct reading *in, const struct doc_node *map)
{
    const struct doc_node *node = doc_find(map, "socket_mode");
    const char *text = NULL;
    const int rc = doc_get_text(map, "socket_mode", &text, in->reterr);
    uint32_t mode = 0;

    if (rc < 0 || node == NULL)
        return rc;
    if (strlen(text) < 3 || strlen(text) > 4 || strspn(text, "01234567") != strlen(text))
        return error_set(in->reterr, -EINVAL,
                         "line %u: 'socket_mode' must be three or four octal digits, such as 0660, "
                         "not '%s'",
                         node->line, text_excerpt(text, strlen(text)).text);
    for (const char *digit = text; *digit != '\0'; digit++)
        mode = mode * 8 + (uint32_t)(*digit - '0');
    if (mode > 0777)
        return error_set(in->reterr, -ERANGE, "line %u: 'socket_mode' is at most 0777, not %s",
                         node->line, text);
    in->conf->http.socket_mode = mode;
    return 0;
}

static int check_listen(const struct reading *in, const struct doc_node *map)
{
    const struct conf_http *http = &in->conf->http;
    struct http_address address;
    char line[32];
    int rc = http_guard_address(http->listen, &address, in->reterr);

    if (rc == 0)
        rc =
            http_guard_reach(http->listen, &address, http->tls_certificate != NULL,
                             http->token_file != NULL || http->read_token_file != NULL, in->reterr);
    (void)snprintf(line, sizeof(line), "line %u: 'listen'", doc_find(map, "listen")->line);
    return rc < 0 ? error_prefix(in->reterr, rc, line) : 0;
}

/* What goes only together. */
static int check_http(const struct reading *in, const struct doc_node *map)
{
    const struct conf_http *http = &in->conf->http;

    if ((http->tls_certificate == NULL) != (http->tls_key == NULL))
        return error_set(in->reterr, -EINVAL,
                         "line %u: 'tls_certificate' and 'tls_key' go together; give both or none",
                         map->line);
    if (http->listen == NULL && (http->tls_certificate != NULL || http->token_file != NULL ||
                                 http->read_token_file != NULL))
        return error_set(in->reterr, -EINVAL,
                         "line %u: TLS and the token are for 'listen'; add it, or leave them out "
                         "(the Unix socket is guarded by its file's rights)",
                         map->line);
    return http->listen != NULL ? check_listen(in, map) : 0;
}

static int read_http(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = {
        "socket",          "socket_mode", "listen", "tls_certificate", "tls_key", "token_file",
        "read_token_file", "rate_socket", NULL,
    };
    struct conf_http *http = &in->conf->http;
    const struct doc_node *map = NULL;
    int rc = settings_section(&in->from, root, "http", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = settings_socket(&in->from, map, "socket", &http->socket);
    if (rc == 0)
        rc = read_socket_mode(in, map);
    if (rc == 0)
        rc = doc_get_name(map, "listen", &http->listen, in->reterr);
    if (rc == 0)
        rc = settings_file(&in->from, map, "tls_certificate", &http->tls_certificate);
    if (rc == 0)
        rc = settings_file(&in->from, map, "tls_key", &http->tls_key);
    if (rc == 0)
        rc = settings_file(&in->from, map, "token_file", &http->token_file);
    if (rc == 0)
        rc = settings_file(&in->from, map, "read_token_file", &http->read_token_file);
    if (rc == 0)
        rc = settings_socket(&in->from, map, "rate_socket", &http->rate_socket);
    return rc < 0 ? rc : check_http(in, map);
}

static int read_log(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = { "level", NULL };
    const struct doc_node *map = NULL;
    int level = (int)in->conf->log_level;
    int rc = settings_section(&in->from, root, "log", allowed, &map);

    if (rc < 0 || map == NULL)
        return rc;
    rc = settings_choice(&in->from, map, "level", level_words, &level);
    in->conf->log_level = (enum conf_log_level)level;
    return rc;
}

/*
 * The whole.
 */

static int read_names(const struct reading *in, const struct doc_node *root)
{
    struct conf *conf = in->conf;
    int mode = (int)conf->mode;
    int rc = get_label(root, "cluster", CLUSTER_MAX, &conf->cluster, in->reterr);

    if (rc == 0)
        rc = settings_choice(&in->from, root, "mode", mode_words, &mode);
    conf->mode = (enum conf_mode)mode;
    if (rc == 0)
        rc = get_label(root, "node_prefix", PREFIX_MAX, &conf->node_prefix, in->reterr);
    if (rc == 0)
        rc = settings_file(&in->from, root, "state", &conf->state);
    if (rc == 0)
        rc = settings_file(&in->from, root, "catalogue", &conf->catalogue);
    return rc;
}

static int read_root(const struct reading *in, const struct doc_node *root)
{
    static const char *const allowed[] = {
        "cluster",   "mode",       "node_prefix",      "state",  "catalogue", "policy",
        "estimates", "limits",     "timing",           "engine", "cloud",     "http",
        "log",       "short_pool", "replace_outdated", NULL,
    };
    static const char *const needed[] = {
        "cluster", "catalogue", "policy", "engine", "cloud", NULL
    };
    int rc = doc_expect(root, DOC_MAP, in->reterr);

    if (rc == 0)
        rc = doc_allow_keys(root, allowed, in->reterr);
    if (rc == 0)
        rc = doc_need_keys(root, needed, in->reterr);
    if (rc == 0)
        rc = read_names(in, root);
    if (rc == 0)
        rc = read_policy(in, root);
    if (rc == 0)
        rc = read_estimates(in, root);
    if (rc == 0)
        rc = read_limits(in, root);
    if (rc == 0)
        rc = short_doc_read(root, &in->conf->short_pool, in->reterr);
    if (rc == 0)
        rc = read_replace(in, root);
    if (rc == 0)
        rc = read_timing(in, root);
    if (rc == 0)
        rc = read_engine(in, root);
    if (rc == 0)
        rc = read_cloud(in, root);
    if (rc == 0)
        rc = read_http(in, root);
    return rc < 0 ? rc : read_log(in, root);
}

int conf_parse(const char *path, const char *text, size_t length, struct conf *ret,
               struct error *reterr)
{
    struct conf conf = defaults;
    const struct reading in = {
        .from = { .path = path, .arena = &conf.arena, .reterr = reterr },
        .conf = &conf,
        .reterr = reterr,
    };
    const struct doc_node *root = NULL;

    arena_init(&conf.arena);

    int rc = doc_parse(text, length, &conf.arena, &root, reterr);

    if (rc == 0)
        rc = read_root(&in, root);
    if (rc == 0)
        *ret = conf;
    else
        arena_done(&conf.arena);
    return rc;
}

int conf_load(const char *path, struct conf *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = conf_parse(path, file.text, file.length, ret, reterr);
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

void conf_done(struct conf *conf)
{
    arena_done(&conf->arena);
    *conf = (struct conf){ 0 };
}

static bool same_http(const struct conf_http *a, const struct conf_http *b)
{
    return settings_same_text(a->socket, b->socket) && a->socket_mode == b->socket_mode &&
           settings_same_text(a->rate_socket, b->rate_socket) &&
           settings_same_text(a->listen, b->listen) &&
           settings_same_text(a->tls_certificate, b->tls_certificate) &&
           settings_same_text(a->tls_key, b->tls_key) &&
           settings_same_text(a->token_file, b->token_file) &&
           settings_same_text(a->read_token_file, b->read_token_file);
}

static bool same_short_pool(const struct short_pool_rule *a, const struct short_pool_rule *b)
{
    return settings_same_text(a->machine, b->machine) && a->most == b->most &&
           a->threshold_ppm == b->threshold_ppm && a->longest_ms == b->longest_ms &&
           a->pulls == b->pulls;
}

const char *conf_fixed_difference(const struct conf *old, const struct conf *new)
{
    if (!settings_same_text(old->cluster, new->cluster))
        return "cluster";
    if ((old->mode == CONF_SHADOW) != (new->mode == CONF_SHADOW))
        return "mode"; /* the virtual world and the real one are not exchanged under way */
    if (!settings_same_text(old->node_prefix, new->node_prefix))
        return "node_prefix";
    if (!settings_same_text(old->state, new->state))
        return "state";
    if (!settings_same_text(old->catalogue, new->catalogue))
        return "catalogue";
    if (old->learn != new->learn || old->default_estimate_ms != new->default_estimate_ms ||
        !settings_same_text(old->accounting, new->accounting))
        return "estimates";
    if (!conf_caps_same_owners(&old->caps, &new->caps))
        return "limits.for";
    if (!same_short_pool(&old->short_pool, &new->short_pool))
        return "short_pool";
    if (old->engine.kind != new->engine.kind ||
        !old->engine.kind->is_same(old->engine.settings, new->engine.settings))
        return "engine";
    if (old->cloud.kind != new->cloud.kind ||
        !old->cloud.kind->is_same(old->cloud.settings, new->cloud.settings))
        return "cloud";
    return same_http(&old->http, &new->http) ? NULL : "http";
}
