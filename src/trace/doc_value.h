/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_value.h - what the values of a document mean: texts, numbers, money, lengths of time.
 *
 * A reader of a map says first which keys there may be and which must, then fetches the values:
 *
 *     int rc = doc_allow_keys(map, (const char *const[]){ "seed", "tick", NULL }, reterr);
 *     if (rc == 0)
 *         rc = doc_need_keys(map, (const char *const[]){ "seed", NULL }, reterr);
 *     if (rc == 0)
 *         rc = doc_get_int(map, "seed", (struct doc_range){ 0, INT64_MAX }, &seed, reterr);
 *     if (rc == 0)
 *         rc = doc_get_duration(map, "tick", (struct doc_range){ 1, LIMIT_TIME_MS }, &tick, reterr);
 *
 * doc_get_* leave 'ret' as it is when the key is absent: put the default there before. doc_as_* take
 * the value itself, such as an entry of a list.
 *
 * Promises:  no output is written on failure. Errors say the line, the key, what would be right and
 *            what was found: "line 12: 'seed' must be a whole number from 0 to 9, not 'x'".
 */
#ifndef STINT_TRACE_DOC_VALUE_H
#define STINT_TRACE_DOC_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "trace/doc.h"

struct doc_range {
    int64_t min;
    int64_t max;
};

/* A decimal number kept as a whole number of 10^-digits; 'range' is of the whole number. */
struct doc_decimal {
    int digits;
    bool exact; /* finer numbers are refused; else they are rounded to the nearest */
    struct doc_range range;
};

/* "'seed'", or "entry 3 of 'price'": how errors call a value. */
struct doc_label {
    char text[80];
};

struct doc_label doc_label(const struct doc_node *node);

/* Refuse keys that are not in 'allowed', which ends in NULL; the error says which was likely meant. */
int doc_allow_keys(const struct doc_node *map, const char *const *allowed, struct error *reterr);

/* Refuse a map that lacks one of 'needed', which ends in NULL. */
int doc_need_keys(const struct doc_node *map, const char *const *needed, struct error *reterr);

/* Refuse a value of another kind. */
int doc_expect(const struct doc_node *node, enum doc_kind kind, struct error *reterr);

/* Any scalar but null; it lives as long as the tree. */
int doc_as_text(const struct doc_node *node, const char **ret, struct error *reterr);

/* A text of 1 to LIMIT_NAME bytes without control characters. */
int doc_as_name(const struct doc_node *node, const char **ret, struct error *reterr);

/* true or false. */
int doc_as_bool(const struct doc_node *node, bool *ret, struct error *reterr);

int doc_as_int(const struct doc_node *node, struct doc_range range, int64_t *ret,
               struct error *reterr);

int doc_as_decimal(const struct doc_node *node, const struct doc_decimal *rule, int64_t *ret,
                   struct error *reterr);

/* Dollars, exact to the micro-dollar, from 0 to LIMIT_MONEY. */
int doc_as_money(const struct doc_node *node, money_t *ret, struct error *reterr);

/* "250ms", "300s", "5m", "1.5h", "2d"; a plain number is seconds. To the nearest millisecond. */
int doc_as_duration(const struct doc_node *node, struct doc_range range, msec_t *ret,
                    struct error *reterr);

/* A share from 0 to 1 in millionths: "0.95" is 950000. */
int doc_as_ppm(const struct doc_node *node, uint32_t *ret, struct error *reterr);

/* GiB from 0 to LIMIT_RESOURCE MiB, as MiB, to the nearest. */
int doc_as_mib(const struct doc_node *node, int64_t *ret, struct error *reterr);

/* The same of the value under 'key', if there is one. */
int doc_get_map(const struct doc_node *map, const char *key, const struct doc_node **ret,
                struct error *reterr);
int doc_get_list(const struct doc_node *map, const char *key, const struct doc_node **ret,
                 struct error *reterr);
int doc_get_text(const struct doc_node *map, const char *key, const char **ret,
                 struct error *reterr);
int doc_get_name(const struct doc_node *map, const char *key, const char **ret,
                 struct error *reterr);
int doc_get_bool(const struct doc_node *map, const char *key, bool *ret, struct error *reterr);
int doc_get_int(const struct doc_node *map, const char *key, struct doc_range range, int64_t *ret,
                struct error *reterr);
int doc_get_decimal(const struct doc_node *map, const char *key, const struct doc_decimal *rule,
                    int64_t *ret, struct error *reterr);
int doc_get_money(const struct doc_node *map, const char *key, money_t *ret, struct error *reterr);
int doc_get_duration(const struct doc_node *map, const char *key, struct doc_range range,
                     msec_t *ret, struct error *reterr);
int doc_get_ppm(const struct doc_node *map, const char *key, uint32_t *ret, struct error *reterr);
int doc_get_mib(const struct doc_node *map, const char *key, int64_t *ret, struct error *reterr);

#endif
