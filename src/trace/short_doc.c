/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/short_doc.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc_value.h"

int short_doc_read(const struct doc_node *root, struct short_pool_rule *ret, struct error *reterr)
{
    static const char *const allowed[] = {
        "machine", "longest", "most", "threshold", "pull", NULL
    };
    static const char *const needed[] = { "machine", "most", NULL };
    const struct doc_node *map = NULL;
    struct short_pool_rule rule = { .threshold_ppm = 950000,
                                    .longest_ms = 600 * MSEC_PER_SEC,
                                    .pulls = true };
    int64_t most = 0;
    int rc = doc_get_map(root, "short_pool", &map, reterr);

    if (rc < 0 || map == NULL)
        return rc;
    rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(map, needed, reterr);
    if (rc == 0)
        rc = doc_get_text(map, "machine", &rule.machine, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "longest", (struct doc_range){ 1, LIMIT_TIME_MS },
                              &rule.longest_ms, reterr);
    if (rc == 0)
        rc = doc_get_int(map, "most", (struct doc_range){ 1, LIMIT_TASKS }, &most, reterr);
    if (rc == 0)
        rc = doc_get_ppm(map, "threshold", &rule.threshold_ppm, reterr);
    if (rc == 0)
        rc = doc_get_bool(map, "pull", &rule.pulls, reterr);
    if (rc == 0 && rule.threshold_ppm == 0)
        rc = error_set(reterr, -EINVAL, "line %u: 'threshold' of 'short_pool' must be above 0",
                       map->line);
    if (rc < 0)
        return rc;
    rule.most = (uint32_t)most;
    *ret = rule;
    return 0;
}

int short_doc_check(const struct short_pool_rule *rule, const struct catalogue *catalogue,
                    struct error *reterr)
{
    if (rule->most == 0)
        return 0;

    const uint32_t type = catalogue_find_type(catalogue, rule->machine, strlen(rule->machine));

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].type == type && catalogue->offers[i].market == MARKET_SPOT)
            return 0;
    }
    return error_set(reterr, -EINVAL,
                     "short_pool: the catalogue has no spot machine '%s'; take a type that it has "
                     "on the spot market",
                     rule->machine);
}
