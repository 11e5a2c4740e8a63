/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_settings.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/settings.h"

static const struct doc_range some_time = { 1, LIMIT_TIME_MS };

static int read_timing(const struct doc_node *map, struct aws_timing *timing, struct error *reterr)
{
    const struct {
        const char *key;
        msec_t *place;
    } times[] = {
        { "look", &timing->look },
        { "look_idle", &timing->look_idle },
        { "retry", &timing->retry },
        { "retry_most", &timing->retry_most },
        { "refused", &timing->refused },
        { "refused_most", &timing->refused_most },
        { "settle", &timing->settle },
        { "timeout", &timing->timeout },
        { "launch_every", &timing->launch_every },
    };
    const struct doc_node *node = NULL;
    int rc = doc_get_map(map, "timing", &node, reterr);

    if (rc < 0 || node == NULL)
        return rc;
    rc = doc_allow_keys(node,
                        (const char *const[]){ "look", "look_idle", "retry", "retry_most",
                                               "refused", "refused_most", "settle", "timeout",
                                               "launch_every", "launch_burst", NULL },
                        reterr);
    for (size_t i = 0; rc == 0 && i < sizeof(times) / sizeof(*times); i++)
        rc = doc_get_duration(node, times[i].key, some_time, times[i].place, reterr);
    if (rc == 0)
        rc = doc_get_int(node, "launch_burst", (struct doc_range){ 1, 100000 },
                         &timing->launch_burst, reterr);
    return rc;
}

static int read_subnets(const struct doc_node *map, struct arena *arena, struct aws_settings *ret,
                        struct error *reterr)
{
    const struct doc_node *node = NULL;
    int rc = doc_get_map(map, "subnets", &node, reterr);

    if (rc < 0 || node == NULL)
        return rc;
    ret->subnets = ARENA_ARRAY(arena, struct aws_subnet, node->count);
    DOC_EACH(entry, node)
    {
        ret->subnets[ret->subnet_count].zone = entry->key;
        rc = doc_as_name(entry, &ret->subnets[ret->subnet_count].subnet, reterr);
        if (rc < 0)
            return rc;
        ret->subnet_count++;
    }
    return 0;
}

int aws_settings_read(const struct doc_node *map, struct arena *arena, struct aws_settings *ret,
                      struct error *reterr)
{
    struct aws_settings settings = { 0 };
    int64_t together = 0;
    int64_t spot_price_cap = 100;
    msec_t idle = -1;
    const struct {
        const char *key;
        const char **place;
    } names[] = {
        { "region", &settings.region },
        { "endpoint", &settings.endpoint },
        { "profile", &settings.profile },
        { "launch_template", &settings.launch_template },
        { "launch_template_version", &settings.launch_template_version },
        { "image", &settings.image },
        { "queue", &settings.queue },
    };
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(map,
                            (const char *const[]){
                                "kind", "region", "endpoint", "profile", "launch_template",
                                "launch_template_version", "image", "queue", "user_data", "subnets",
                                "together", "timing", "spot_price_cap", "idle_shutdown", NULL },
                            reterr);
    for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(*names); i++)
        rc = doc_get_name(map, names[i].key, names[i].place, reterr);
    if (rc == 0)
        rc = doc_get_text(map, "user_data", &settings.user_data, reterr);
    if (rc == 0)
        rc = read_subnets(map, arena, &settings, reterr);
    if (rc == 0)
        rc = doc_get_int(map, "together", (struct doc_range){ 1, AWS_FLEET_TOGETHER_MAX },
                         &together, reterr);
    settings.together = (uint32_t)together;
    if (rc == 0)
        rc = doc_get_int(map, "spot_price_cap", (struct doc_range){ 0, 1000 }, &spot_price_cap,
                         reterr);
    settings.spot_price_cap = (uint32_t)spot_price_cap;
    if (rc == 0)
        rc = doc_get_duration(map, "idle_shutdown", (struct doc_range){ 0, LIMIT_TIME_MS }, &idle,
                              reterr);
    settings.idle_shutdown = idle == 0 ? -1 : idle < 0 ? 0 : idle; /* 0 in the file is never */
    if (rc == 0)
        rc = read_timing(map, &settings.timing, reterr);
    if (rc == 0)
        *ret = settings;
    return rc;
}

int aws_settings_check(const struct settings *in, const struct doc_node *map,
                       const struct aws_settings *settings)
{
    const size_t length = strlen(in->cluster);

    if (length > AWS_FLEET_CLUSTER_MAX)
        return error_set(in->reterr, -EINVAL,
                         "line %u: with kind aws 'cluster' has at most %d characters, not %zu",
                         doc_find(in->root, "cluster")->line, AWS_FLEET_CLUSTER_MAX, length);
    if (settings->user_data != NULL && strlen(settings->user_data) > AWS_FLEET_USER_DATA_MAX / 2)
        return error_set(in->reterr, -EINVAL, "line %u: 'user_data' has at most %d bytes, not %zu",
                         doc_find(map, "user_data")->line, AWS_FLEET_USER_DATA_MAX / 2,
                         strlen(settings->user_data));
    if (!in->is_shadow && settings->image == NULL && settings->launch_template == NULL)
        return error_set(in->reterr, -EINVAL,
                         "line %u: kind aws needs 'launch_template' or 'image' in mode %s",
                         map->line, in->mode);
    return 0;
}

bool aws_settings_same(const struct aws_settings *x, const struct aws_settings *y)
{
    bool is_same =
        settings_same_text(x->region, y->region) && settings_same_text(x->endpoint, y->endpoint) &&
        settings_same_text(x->profile, y->profile) && settings_same_text(x->image, y->image) &&
        settings_same_text(x->launch_template, y->launch_template) &&
        settings_same_text(x->launch_template_version, y->launch_template_version) &&
        settings_same_text(x->user_data, y->user_data) && settings_same_text(x->queue, y->queue) &&
        x->subnet_count == y->subnet_count && x->together == y->together &&
        x->spot_price_cap == y->spot_price_cap && x->idle_shutdown == y->idle_shutdown &&
        memcmp(&x->timing, &y->timing, sizeof(x->timing)) == 0;

    for (uint32_t i = 0; is_same && i < x->subnet_count; i++)
        is_same = settings_same_text(x->subnets[i].zone, y->subnets[i].zone) &&
                  settings_same_text(x->subnets[i].subnet, y->subnets[i].subnet);
    return is_same;
}
