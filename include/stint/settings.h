/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - how a controller decides and what limits it: keys and values.
 *
 *     stint_settings_set(settings, "policy", "eva", &error);
 *     stint_settings_set(settings, "policy.mode", "partial", &error);
 *     stint_settings_set(settings, "max_instances", "40", &error);
 *
 * | key                | value           | default   |                                                 |
 * |--------------------|-----------------|-----------|-------------------------------------------------|
 * | policy             | a policy's name | stint     | its options go back to their defaults           |
 * | policy.OPTION      | by the option   | by it     | of the policy that is set                       |
 * | estimates          | given, learned  | given     | * how long work runs: as given, or from history |
 * | default_estimate   | duration        | 1h        | * where nothing is known                        |
 * | default_rate_ppm   | 1 to 1000000    | 1000000   | * of full speed, of pairs never seen together   |
 * | first_key          | number          | 1         | * above all keys that were ever used            |
 * | refused            | duration        | 5m        | how long a refused offer is left alone          |
 * | boot_timeout       | duration        | 5m        | late machines are returned; 0: never            |
 * | place_retry        | duration        | 5s        | pause after a placement that came to nothing    |
 * | starts_slowly      | true, false     | false     | few machines until one has proved good          |
 * | max_instances      | number          | 0         | at a time; 0: no limit                          |
 * | max_price_per_hour | micro-dollars   | 0         | of all machines; 0: no limit                    |
 * | rent_nothing       | true, false     | false     |                                                 |
 * | replace_percent    | 0 to 100        | 10        | of the machines, if outdated, at a time          |
 * | replace_after      | duration        | 1h        | and only those that were rented so long ago     |
 * | queue_ahead        | duration        | 0         | tasks so short may be queued at the engine      |
 * | queue_ahead_most   | number          | 512       | so many of them at a time                       |
 *
 * Those with a * are fixed when a controller is created; stint_controller_tune leaves them as they were. A
 * duration is a whole number with a unit: ms, s, m, h, d; 0 needs none.
 */
#ifndef STINT_SETTINGS_H
#define STINT_SETTINGS_H

#include <stint/common.h>

struct stint_settings;

STINT_BEGIN

STINT_API struct stint_settings *stint_settings_create(void);
STINT_API void stint_settings_destroy(struct stint_settings *settings);

/* -ENOENT: no such key, policy or option; -EINVAL: not such a value. Both strings are copied. */
STINT_API int stint_settings_set(struct stint_settings *settings, const char *key,
                                 const char *value, struct stint_error *reterr);

/* The policies there are, and their options; NULL above the last. All strings live for ever. */
STINT_API const char *stint_policy_name(uint32_t policy);
STINT_API const char *stint_policy_summary(uint32_t policy);
STINT_API const char *stint_policy_option(uint32_t policy, uint32_t option);
STINT_API const char *stint_policy_option_help(uint32_t policy, uint32_t option);

STINT_END

#endif
