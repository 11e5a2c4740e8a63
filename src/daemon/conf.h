/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h - stint.conf, read and checked. man/stint.conf.5 has every key.
 *
 * Promises:  conf_parse touches no file. Every error says the line, the key, what would be right and
 *            what was found; nothing is kept on failure. Unknown keys are errors.
 * Memory:    all texts live in the arena of the struct, until conf_done.
 */
#ifndef STINT_DAEMON_CONF_H
#define STINT_DAEMON_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/units.h"
#include "cloud/cloud_adapter.h"
#include "daemon/conf_caps.h"
#include "engine/engine_adapter.h"
#include "model/short_pool_rule.h"
#include "policy/policy.h"

enum conf_mode {
    CONF_SHADOW, /* decide and record, touch nothing */
    CONF_ADVISE, /* ask the operator before each action */
    CONF_ACT,
    CONF_MODES,
};

enum conf_log_level {
    CONF_LOG_ERROR,
    CONF_LOG_WARNING,
    CONF_LOG_INFO,
    CONF_LOG_DEBUG,
    CONF_LOG_LEVELS,
};

struct conf_timing {
    msec_t decide_delay_ms; /* from the first news to the decision, so that news come together */
    msec_t audit_ms;        /* compare world and memory so often */
    msec_t boot_timeout_ms;
    msec_t refused_ms;
    msec_t place_retry_ms;
    msec_t start_timeout_ms; /* a placement that nothing comes of is given up */
    msec_t queue_ahead_ms;
    uint32_t queue_ahead_most;
};

/* An adapter and what it has read of its map. */
struct conf_engine {
    const struct engine_adapter *kind;
    const void *settings;
};

struct conf_cloud {
    const struct cloud_adapter *kind;
    const void *settings;
};

struct conf_http {
    const char *socket;
    uint32_t socket_mode;
    const char *listen; /* "address:port", or NULL */
    const char *tls_certificate;
    const char *tls_key;
    const char *token_file;
    const char *read_token_file; /* of the token that may only read */
    const char *rate_socket;     /* at which jobs report their speed, or NULL */
};

struct conf {
    struct arena arena;
    enum conf_mode mode;
    enum conf_log_level log_level;
    const char *cluster;
    const char *node_prefix;
    const char *state;
    const char *catalogue;
    const struct policy *policy;
    int64_t option[POLICY_OPTIONS_MAX];
    msec_t default_estimate_ms;
    bool learn;
    const char *accounting; /* a file of sacct, or NULL */
    uint32_t max_instances;
    money_t max_price_per_hour;
    money_t max_per_day;   /* 0: no limit */
    money_t max_per_month; /* likewise */
    uint32_t warn_percent; /* of these two that are spent */
    uint32_t
        replace_percent; /* of the machines, that are replaced at a time because they are outdated */
    msec_t replace_after_ms; /* none that was rented less long ago */
    struct conf_caps caps;   /* of accounts, users, partitions and QOS */
    struct short_pool_rule short_pool;
    struct conf_timing timing;
    struct conf_engine engine;
    struct conf_cloud cloud;
    struct conf_http http;
};

/* Parse the whole text. Files that are named relative to the folder of 'path' are made so; 'path'
 * itself is not read. */
int conf_parse(const char *path, const char *text, size_t length, struct conf *ret,
               struct error *reterr);

/* Read the file. Errors begin with its name. */
int conf_load(const char *path, struct conf *ret, struct error *reterr);

/* Takes what was never filled, if it is zeroed. */
void conf_done(struct conf *conf);

/*
 * What differs between the two and cannot change while the daemon runs, as the name of a key; NULL:
 * nothing does.
 */
const char *conf_fixed_difference(const struct conf *old, const struct conf *new);

/* "shadow", "advise", "act". */
const char *conf_mode_word(enum conf_mode mode);

#endif
