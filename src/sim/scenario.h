/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - what to simulate, read from a YAML file: a trace, a catalogue, how tasks disturb each
 * other, policies to compare, the controller's rhythm, faults and a seed. docs/reference/files/scenario.md
 * has every key and its default.
 *
 *     struct loaded_scenario loaded;
 *     struct sim_result result;
 *
 *     int rc = scenario_load("examples/small.yaml", &loaded, &error);
 *     if (rc == 0) {
 *         const struct sim_config config =
 *             loaded_scenario_config(&loaded, &loaded.scenario.policies[0]);
 *
 *         rc = simulation_run(&config, &result, &error);
 *         loaded_scenario_done(&loaded);
 *     }
 *
 * Promises:  scenario_parse is pure. On failure nothing is kept and 'ret' is untouched; the error
 *            says the line, what is wrong and what would be right; one of a file names the file.
 * Bounds:    O(bytes); SCENARIO_POLICIES_MAX policies; for traces, catalogues and matrices those of
 *            their readers.
 */
#ifndef STINT_SIM_SCENARIO_H
#define STINT_SIM_SCENARIO_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/catalogue.h"
#include "policy/policy.h"
#include "sim/contention.h"
#include "sim/scenario_losses.h"
#include "sim/scenario_markets.h"
#include "sim/simulation.h"
#include "sim/synthetic_doc.h"
#include "trace/doc.h"
#include "trace/owned_doc.h"
#include "trace/trace.h"

enum { SCENARIO_POLICIES_MAX = 64 };

/* One line of the comparison. */
struct scenario_policy {
    const struct policy *policy;
    const char *label; /* different for each; the policy's name if nothing else was said */
    int64_t option[POLICY_OPTIONS_MAX];
};

enum scenario_interference {
    INTERFERENCE_NONE,
    INTERFERENCE_UNIFORM, /* every pair of tasks runs at 'pair_rate' */
    INTERFERENCE_MATRIX,  /* 'matrix_file', and 'pair_rate' for what it does not say */
};

/* What the text says. All texts live in the arena that it was parsed into. */
struct scenario {
    const char *name;           /* NULL: none was given */
    const char *trace_file;     /* as written: relative to the scenario's folder; NULL: none */
    struct synthetic_doc drawn; /* where there is no file: what to draw */
    const char *catalogue_file; /* relative as well */
    enum scenario_interference interference;
    const char *matrix_file;
    double pair_rate;
    struct scenario_policy *policies; /* at least one */
    uint32_t policy_count;
    struct scenario_losses losses;
    struct scenario_markets markets;
    struct owned_doc owned;

    /* Rhythm, estimates, faults and seed; what is missing comes from loaded_scenario_config. */
    struct sim_config run;
};

/* With all its files in memory. */
struct loaded_scenario {
    struct scenario scenario;
    struct trace trace;
    struct catalogue catalogue;
    struct contention contention;
    struct arena arena;
    money_t work_bound; /* see work_bound.h */
    bool is_fixed;
};

/* Parse the whole text; touches no file. */
int scenario_parse(const char *text, size_t length, struct arena *arena, struct scenario *ret,
                   struct error *reterr);

/* Read the scenario at 'path' and the files that it names. A scenario without a name gets that of
 * its file. To be freed by loaded_scenario_done. */
int scenario_load(const char *path, struct loaded_scenario *ret, struct error *reterr);

/* Another seed: of the runs, and of a synthetic trace that has no seed of its own. */
int loaded_scenario_reseed(struct loaded_scenario *loaded, uint64_t seed, struct error *reterr);

/* No running task may be moved, whatever the trace says. */
void loaded_scenario_fix(struct loaded_scenario *loaded);

void loaded_scenario_done(struct loaded_scenario *loaded);

/* What simulation_run wants for one of the policies. Points into 'loaded', which must stay. */
struct sim_config loaded_scenario_config(const struct loaded_scenario *loaded,
                                         const struct scenario_policy *policy);

/* A policy at its defaults, under its own name. */
struct scenario_policy scenario_policy_plain(const struct policy *policy);

/* All names of policies, "eva, owl, ...", for errors and help texts. */
struct scenario_policy_names {
    char text[1024];
};

struct scenario_policy_names scenario_policy_names(void);

/* The value of one option of a policy, as policy.h wants it. */
int scenario_read_option(const struct policy_option *option, const struct doc_node *node,
                         int64_t *ret, struct error *reterr);

#endif
