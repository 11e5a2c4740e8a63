/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_json.h - JSON as it arrives, of which only what is wanted is reported.
 *
 * A list of 150,000 pods is half a gigabyte, of which Stint reads a twentieth. So nothing is kept: a tree of rules says
 * which members of which objects are wanted, and the reader gets these as the text goes by, in pieces of any
 * size. An array is transparent: its elements are reported as if each stood in its place.
 *
 * Promises:  what no rule names is skipped, whatever it is. Texts are valid UTF-8.
 * Bounds:    KUBE_JSON_DEPTH levels that are wanted, KUBE_JSON_NESTING in all.
 * Costs:     O(bytes); for each member of a wanted object, as many comparisons as its rule has members.
 * Memory:    a few KB, and the longest single string.
 */
#ifndef STINT_ENGINE_KUBE_JSON_H
#define STINT_ENGINE_KUBE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { KUBE_JSON_DEPTH = 24, KUBE_JSON_NESTING = 128, KUBE_JSON_KEY = 384 };

/* A member that is wanted. 'key' is "*" for any key, and must be the last of its siblings then. */
struct kube_rule {
    const char *key;
    int id; /* what the reader gets; 0: it gets this member's own members only */
    const struct kube_rule *members; /* ends with a rule without key; NULL: it has none */
};

enum kube_value {
    KUBE_TEXT,
    KUBE_NUMBER, /* as it was written */
    KUBE_TRUTH,  /* "true" or "false" */
};

struct kube_reader {
    /* An object begins, or ends: an element of an array, or the member itself. NULL: not wanted. */
    void (*begin)(void *context, int id);
    void (*end)(void *context, int id);
    /* A scalar under 'key', which ends in a zero; 'text' does not. null is not reported. Nonzero stops the reading. */
    int (*value)(void *context, int id, const char *key, enum kube_value kind, const char *text,
                 size_t length);
    void *context;
};

struct kube_json;

/* 'rules' are the members of the outermost object; they outlive it. With 'several', one value may follow another. */
struct kube_json *kube_json_create(const struct kube_rule *rules, const struct kube_reader *reader,
                                   bool several);
void kube_json_destroy(struct kube_json *json);

/* Read on. -EBADMSG: it is no JSON, or nested too deep; otherwise what 'value' returned. */
int kube_json_read(struct kube_json *json, const char *text, size_t length, struct error *reterr);

/* That was all: -EBADMSG if something is missing. */
int kube_json_end(struct kube_json *json, struct error *reterr);

#endif
