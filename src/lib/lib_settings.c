/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "lib/lib_private.h"

/* Where a number goes. */
enum target {
    TO_BOOL,
    TO_U32,
    TO_U64,
    TO_I64,
};

enum form {
    FORM_BOOL,
    FORM_NUMBER,
    FORM_DURATION,
};

struct key {
    const char *name;
    enum form form;
    enum target target;
    size_t offset; /* in struct controller_config */
    int64_t least;
    int64_t most;
};

#define AT(field) offsetof(struct controller_config, field)

static const struct key keys[] = {
    { "default_estimate", FORM_DURATION, TO_I64, AT(default_estimate_ms), 0, LIMIT_TIME_MS },
    { "first_key", FORM_NUMBER, TO_U64, AT(first_key), 1, INT64_MAX / 2 },
    { "refused", FORM_DURATION, TO_I64, AT(refused_block_ms), 0, LIMIT_TIME_MS },
    { "boot_timeout", FORM_DURATION, TO_I64, AT(boot_timeout_ms), 0, LIMIT_TIME_MS },
    /* It is doubled up to five times. */
    { "place_retry", FORM_DURATION, TO_I64, AT(place_retry_ms), 0, LIMIT_TIME_MS / 32 },
    { "starts_slowly", FORM_BOOL, TO_BOOL, AT(starts_slowly), 0, 1 },
    { "max_instances", FORM_NUMBER, TO_U32, AT(max_instances), 0, UINT32_MAX - 1 },
    { "max_price_per_hour", FORM_NUMBER, TO_I64, AT(max_price_per_hour), 0, INT64_MAX / 2 },
    { "rent_nothing", FORM_BOOL, TO_BOOL, AT(rent_nothing), 0, 1 },
    { "replace_percent", FORM_NUMBER, TO_U32, AT(replace_percent), 0, 100 },
    { "replace_after", FORM_DURATION, TO_I64, AT(replace_after_ms), 0, LIMIT_TIME_MS },
    { "queue_ahead", FORM_DURATION, TO_I64, AT(queue_ahead_ms), 0, LIMIT_TIME_MS },
    { "queue_ahead_most", FORM_NUMBER, TO_U32, AT(queue_ahead_most), 0, LIMIT_TASKS },
};

void lib_settings_defaults(struct controller_config *ret)
{
    *ret = (struct controller_config){
        .policy = &policy_stint,
        .default_estimate_ms = MSEC_PER_HOUR,
        .refused_block_ms = 300 * MSEC_PER_SEC,
        .boot_timeout_ms = 300 * MSEC_PER_SEC,
        .place_retry_ms = 5 * MSEC_PER_SEC,
        .default_rate = 1.0,
        .replace_percent = 10,
        .replace_after_ms = MSEC_PER_HOUR,
        .queue_ahead_most = 512,
        .first_key = 1,
    };
    policy_defaults(ret->policy, ret->option);
}

struct stint_settings *stint_settings_create(void)
{
    struct stint_settings *settings = mem_alloc(1, sizeof(*settings));

    lib_settings_defaults(&settings->config);
    return settings;
}

void stint_settings_destroy(struct stint_settings *settings)
{
    mem_free(settings);
}

/*
 * Values.
 */

/* The digits at the beginning of 'text'; false: there are none, or too many. */
static bool read_digits(const char **text, int64_t *ret)
{
    int64_t value = 0;
    const char *next = *text;

    for (; *next >= '0' && *next <= '9'; next++) {
        if (value > (INT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (*next - '0');
    }
    if (next == *text)
        return false;
    *text = next;
    *ret = value;
    return true;
}

static bool read_number(const char *text, int64_t *ret)
{
    return read_digits(&text, ret) && *text == '\0';
}

static bool read_duration(const char *text, int64_t *ret)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {
        { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 },
    };
    int64_t value;

    if (!read_digits(&text, &value) || value > LIMIT_TIME_MS)
        return false;
    if (value == 0 && *text == '\0') {
        *ret = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].name) == 0) {
            *ret = value * units[i].ms;
            return *ret <= LIMIT_TIME_MS;
        }
    }
    return false;
}

static bool read_bool(const char *text, int64_t *ret)
{
    *ret = strcmp(text, "true") == 0;
    return *ret != 0 || strcmp(text, "false") == 0;
}

static bool read_choice(const char *const *choices, const char *text, int64_t *ret)
{
    for (int64_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool read_form(enum form form, const char *text, int64_t *ret)
{
    switch (form) {
    case FORM_BOOL:
        return read_bool(text, ret);
    case FORM_NUMBER:
        return read_number(text, ret);
    case FORM_DURATION:
        return read_duration(text, ret);
    }
    return false;
}

static bool read_option(const struct policy_option *option, const char *text, int64_t *ret)
{
    switch (option->kind) {
    case OPTION_BOOL:
        return read_bool(text, ret);
    case OPTION_CHOICE:
        return read_choice(option->choices, text, ret);
    case OPTION_DURATION:
        return read_duration(text, ret);
    case OPTION_COUNT:
        return read_number(text, ret) && *ret <= INT32_MAX;
    }
    return false;
}

static void store(const struct key *key, int64_t value, struct controller_config *config)
{
    char *field = (char *)config + key->offset;

    switch (key->target) {
    case TO_BOOL: {
        const bool yes = value != 0;

        memcpy(field, &yes, sizeof(yes));
        break;
    }
    case TO_U32: {
        const uint32_t narrow = (uint32_t)value;

        memcpy(field, &narrow, sizeof(narrow));
        break;
    }
    case TO_U64:
    case TO_I64:
        memcpy(field, &value, sizeof(value));
        break;
    }
}

/*
 * Keys.
 */

static int fail_value(struct stint_error *reterr, const char *key, const char *value,
                      const char *wanted)
{
    struct error error;

    return lib_fail_as(
        reterr, error_set(&error, -EINVAL, "%.64s: '%.64s' is not %s", key, value, wanted), &error);
}

static int fail_unknown(struct stint_error *reterr, const char *what, const char *name)
{
    struct error error;

    return lib_fail_as(reterr, error_set(&error, -ENOENT, "there is no %s '%.64s'", what, name),
                       &error);
}

static int set_policy(struct controller_config *config, const char *name,
                      struct stint_error *reterr)
{
    const struct policy *policy = policy_find(name);

    if (policy == NULL)
        return fail_unknown(reterr, "policy", name);
    config->policy = policy;
    policy_defaults(policy, config->option);
    return 0;
}

static int set_option(struct controller_config *config, const char *key, const char *name,
                      const char *value, struct stint_error *reterr)
{
    const uint32_t option = policy_find_option(config->policy, name);
    int64_t number;

    if (option == UINT32_MAX)
        return fail_unknown(reterr, "option", name);
    if (!read_option(&config->policy->options[option], value, &number))
        return fail_value(reterr, key, value, "a value of this option");
    config->option[option] = number;
    return 0;
}

static int set_estimates(struct controller_config *config, const char *value,
                         struct stint_error *reterr)
{
    static const char *const words[] = { "given", "learned", NULL };
    int64_t number;

    if (!read_choice(words, value, &number))
        return fail_value(reterr, "estimates", value, "'given' or 'learned'");
    config->estimates = number == 0 ? ESTIMATES_GIVEN : ESTIMATES_LEARNED;
    return 0;
}

static int set_rate(struct controller_config *config, const char *value, struct stint_error *reterr)
{
    int64_t number;

    if (!read_number(value, &number) || number < 1 || number > RATE_FULL_PPM)
        return fail_value(reterr, "default_rate_ppm", value, "a number from 1 to 1000000");
    config->default_rate = (double)number / RATE_FULL_PPM;
    return 0;
}

int stint_settings_set(struct stint_settings *settings, const char *key, const char *value,
                       struct stint_error *reterr)
{
    static const char *const wanted[] = {
        [FORM_BOOL] = "'true' or 'false'",
        [FORM_NUMBER] = "a whole number in its range",
        [FORM_DURATION] = "a whole number with a unit (ms, s, m, h, d) in its range",
    };
    static const char option[] = "policy.";
    int64_t number;

    if (settings == NULL || key == NULL || value == NULL)
        return lib_fail(reterr, -EINVAL, "no settings, no key or no value");

    struct controller_config *config = &settings->config;

    if (strcmp(key, "policy") == 0)
        return set_policy(config, value, reterr);
    if (strncmp(key, option, sizeof(option) - 1) == 0)
        return set_option(config, key, key + sizeof(option) - 1, value, reterr);
    if (strcmp(key, "estimates") == 0)
        return set_estimates(config, value, reterr);
    if (strcmp(key, "default_rate_ppm") == 0)
        return set_rate(config, value, reterr);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].name, key) != 0)
            continue;
        if (!read_form(keys[i].form, value, &number) || number < keys[i].least ||
            number > keys[i].most)
            return fail_value(reterr, key, value, wanted[keys[i].form]);
        store(&keys[i], number, config);
        return 0;
    }
    return fail_unknown(reterr, "key", key);
}

/*
 * What policies there are.
 */

const char *stint_policy_name(uint32_t policy)
{
    return policy < policy_count ? policies[policy]->name : NULL;
}

const char *stint_policy_summary(uint32_t policy)
{
    return policy < policy_count ? policies[policy]->summary : NULL;
}

static const struct policy_option *find_option(uint32_t policy, uint32_t option)
{
    return policy < policy_count && option < policies[policy]->option_count
               ? &policies[policy]->options[option]
               : NULL;
}

const char *stint_policy_option(uint32_t policy, uint32_t option)
{
    const struct policy_option *found = find_option(policy, option);

    return found != NULL ? found->name : NULL;
}

const char *stint_policy_option_help(uint32_t policy, uint32_t option)
{
    const struct policy_option *found = find_option(policy, option);

    return found != NULL ? found->help : NULL;
}
