/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_caps.h - 'limits.for' of stint.conf: limits and budgets for accounts, users, partitions and QOS.
 *
 * An entry is for jobs that match everything it names; "*" stands for any, each of them with a limit of its own:
 * { user: "*", instances: 4 } gives four machines to every user.
 *
 * Memory:  the texts are the configuration's.
 */
#ifndef STINT_DAEMON_CONF_CAPS_H
#define STINT_DAEMON_CONF_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "trace/settings.h"

enum conf_owner { OWNER_ACCOUNT, OWNER_USER, OWNER_PARTITION, OWNER_QOS, OWNERS };

struct conf_cap {
    const char *owner[OWNERS]; /* NULL: whatever it is */
    uint32_t max_instances;    /* 0: no limit, as of all that follow */
    money_t max_price_per_hour;
    money_t max_per_day;
    money_t max_per_month;
};

struct conf_caps {
    struct conf_cap *row;
    uint32_t count;
};

/* The key 'for' of the map 'limits', if it is there. */
int conf_caps_read(const struct settings *in, const struct doc_node *map, struct conf_caps *ret);

/* Whether both name the same owners in the same order; their limits may differ. */
bool conf_caps_same_owners(const struct conf_caps *a, const struct conf_caps *b);

/* "account", "user", "partition", "qos". */
const char *conf_owner_word(enum conf_owner owner);

#endif
