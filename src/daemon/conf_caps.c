/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/conf_caps.h"

#include <errno.h>

#include "base/limits.h"
#include "model/caps.h"
#include "trace/doc.h"
#include "trace/doc_value.h"

const char *conf_owner_word(enum conf_owner owner)
{
    static const char *const words[OWNERS] = { "account", "user", "partition", "qos" };

    return words[owner];
}

static int read_owners(const struct settings *in, const struct doc_node *map, struct conf_cap *ret)
{
    bool has_any = false;

    for (enum conf_owner owner = 0; owner < OWNERS; owner++) {
        const int rc = settings_word(in, map, conf_owner_word(owner), &ret->owner[owner]);

        if (rc < 0)
            return rc;
        has_any = has_any || ret->owner[owner] != NULL;
    }
    if (has_any)
        return 0;
    return error_set(in->reterr, -EINVAL,
                     "line %u: an entry of 'for' names whom it is for: account, user, partition or "
                     "qos; use '*' for each of them",
                     map->line);
}

static int read_cap(const struct settings *in, const struct doc_node *map, struct conf_cap *ret)
{
    static const char *const allowed[] = { "account",
                                           "user",
                                           "partition",
                                           "qos",
                                           "instances",
                                           "dollars_per_hour",
                                           "dollars_per_day",
                                           "dollars_per_month",
                                           NULL };
    int64_t instances = 0;
    int rc = doc_expect(map, DOC_MAP, in->reterr);

    if (rc == 0)
        rc = doc_allow_keys(map, allowed, in->reterr);
    if (rc == 0)
        rc = read_owners(in, map, ret);
    if (rc == 0)
        rc = doc_get_int(map, "instances", (struct doc_range){ 1, LIMIT_TASKS }, &instances,
                         in->reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_hour", &ret->max_price_per_hour, in->reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_day", &ret->max_per_day, in->reterr);
    if (rc == 0)
        rc = doc_get_money(map, "dollars_per_month", &ret->max_per_month, in->reterr);
    ret->max_instances = (uint32_t)instances;
    if (rc < 0 || instances > 0 || ret->max_price_per_hour > 0 || ret->max_per_day > 0 ||
        ret->max_per_month > 0)
        return rc;
    return error_set(in->reterr, -EINVAL,
                     "line %u: an entry of 'for' has at least one limit above 0: instances, "
                     "dollars_per_hour, dollars_per_day or dollars_per_month",
                     map->line);
}

int conf_caps_read(const struct settings *in, const struct doc_node *map, struct conf_caps *ret)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(map, "for", &list, in->reterr);

    if (rc < 0 || list == NULL)
        return rc;
    if (list->count > CAPS_PER_SET)
        return error_set(in->reterr, -E2BIG, "line %u: 'for' has more than %d entries", list->line,
                         CAPS_PER_SET);

    struct conf_caps caps = {
        .row = ARENA_ARRAY(in->arena, struct conf_cap, list->count),
        .count = list->count,
    };

    DOC_EACH(entry, list)
    {
        if (rc == 0)
            rc = read_cap(in, entry, &caps.row[entry->index]);
    }
    if (rc == 0)
        *ret = caps;
    return rc;
}

bool conf_caps_same_owners(const struct conf_caps *a, const struct conf_caps *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        for (enum conf_owner owner = 0; owner < OWNERS; owner++) {
            if (!settings_same_text(a->row[i].owner[owner], b->row[i].owner[owner]))
                return false;
        }
    }
    return true;
}
