/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - a named way to decide.
 *
 * A policy is one file that wires parts of decide/ together. It is a pure function: a view and what
 * history taught in, a plan out. It may have a memory of the view, so that a decision costs what has changed; with or
 * without it the plan is the same, to the bit. Its options are a table, from which scenario files, help texts and
 * defaults come; their values reach it as whole numbers in the order of the table.
 */
#ifndef STINT_POLICY_POLICY_H
#define STINT_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/scarcity.h"
#include "learn/knowledge.h"
#include "model/plan.h"
#include "model/view.h"

enum policy_option_kind {
    OPTION_BOOL,     /* 0 or 1 */
    OPTION_CHOICE,   /* index into 'choices' */
    OPTION_DURATION, /* milliseconds */
    OPTION_COUNT,    /* a whole number, not below 0 */
};

struct policy_option {
    const char *name;
    const char *help;
    enum policy_option_kind kind;
    int64_t normal;             /* the default */
    const char *const *choices; /* OPTION_CHOICE: the words, NULL at the end */
};

enum { POLICY_OPTIONS_MAX = 12 };

struct policy_input {
    const struct view *view;
    const struct knowledge *knowledge;
    const int64_t *option;           /* one value per option of the policy */
    const struct scarcity *scarcity; /* for whom limits may bind; NULL: there are none */
    const struct slot_queue
        *slots; /* what waits where a limit on machines binds; NULL: there are enough */
    struct arena *arena;
    void *memory; /* of this view, by policy_memory_create; NULL: all is looked at again */
};

struct policy {
    const char *name;
    const char *summary; /* one line for people */
    const struct policy_option *options;
    uint32_t option_count;
    bool learns_colocation; /* what tasks report of their rates is worth observing */
    bool learns_pairs;      /* and goes to knowledge.pairs, not to knowledge.colocation */
    bool
        is_for_alike; /* it leaves gangs whose tasks are not alike: each of these gets a machine of its own */
    void (*decide)(const struct policy_input *in, struct plan *ret); /* call policy_decide */
    void *(*memory_create)(void);                                    /* NULL: it has no memory */
    void (*memory_destroy)(void *memory);
};

extern const struct policy policy_task_per_instance;
extern const struct policy policy_hotspot;
extern const struct policy policy_first_fit;
extern const struct policy policy_fleet;
extern const struct policy policy_supercloud;
extern const struct policy policy_stratus;
extern const struct policy policy_eva;
extern const struct policy policy_synergy;
extern const struct policy policy_owl;
extern const struct policy policy_no_wait;
extern const struct policy policy_semi_elastic;
extern const struct policy policy_stint;

/* All policies, in the order in which they are listed. */
extern const struct policy *const policies[];
extern const uint32_t policy_count;

/* By name, or NULL. */
const struct policy *policy_find(const char *name);

/* The index of an option by name, or UINT32_MAX. */
uint32_t policy_find_option(const struct policy *policy, const char *name);

/* Every option at its default; 'values' has POLICY_OPTIONS_MAX elements. */
void policy_defaults(const struct policy *policy, int64_t *values);

/*
 * Ask the policy for a plan: 'ret' is fresh from plan_init, and the view's reservation prices are of now.
 * That, and that the plan speaks only of offers, tasks and machines that there are, is asserted.
 */
void policy_decide(const struct policy *policy, const struct policy_input *in, struct plan *ret);

/* A machine for every task that waits, the cheapest that holds it; those of one job are asked for together. */
void policy_place_alone(const struct view *view, struct plan *plan);

/* A memory for decisions on one view, or NULL if the policy has none. It is brought up to date by each decision, and
 * can be destroyed at any time, even if the view is no more. */
void *policy_memory_create(const struct policy *policy);
void policy_memory_destroy(const struct policy *policy, void *memory);

/* Let go of every open instance without tasks. */
void policy_release_empty(const struct view *view, struct plan *plan);

#endif
