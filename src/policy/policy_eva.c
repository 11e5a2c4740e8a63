/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eva: reservation prices, learned interference, full or partial reconfiguration.
 *
 * Chang and Venkataraman, "Eva: Cost-Efficient Cloud-Based Cluster Scheduling", EuroSys'25. The
 * options are the paper's ablations, two rules that the paper leaves open, and one that it does not
 * have: it decides every five minutes, where this may do so whenever something happens.
 */
#include "decide/reconfigure.h"
#include "policy/policy.h"

enum option {
    OPT_THROUGHPUT,
    OPT_GANGS,
    OPT_MODE,
    OPT_FILL_KEPT,
    OPT_START_COST,
    OPT_STAY,
    OPT_COUNT
};

static const char *const modes[] = { "both", "full", "partial", NULL };

static const struct policy_option options[OPT_COUNT] = {
    [OPT_THROUGHPUT] = { .name = "throughput",
                         .help = "weigh reservation prices by expected throughput (the paper's "
                                 "Eva-TNRP; off: Eva-RP)",
                         .kind = OPTION_BOOL,
                         .normal = 1 },
    [OPT_GANGS] = { .name = "gangs",
                    .help = "count a gang member's slow-down for its whole gang (off: Eva-Single)",
                    .kind = OPTION_BOOL,
                    .normal = 1 },
    [OPT_MODE] = { .name = "mode",
                   .help = "which reconfigurations to consider",
                   .kind = OPTION_CHOICE,
                   .normal = RECONFIGURE_BEST,
                   .choices = modes },
    [OPT_FILL_KEPT] = { .name = "fill_kept",
                        .help = "a partial reconfiguration uses room on machines that stay",
                        .kind = OPTION_BOOL,
                        .normal = 1 },
    [OPT_START_COST] = { .name = "start_cost",
                         .help = "time for which a new machine is counted as paid but idle",
                         .kind = OPTION_DURATION,
                         .normal = 300 * MSEC_PER_SEC },
    [OPT_STAY] = { .name = "stay",
                   .help =
                       "a task that was moved runs at least this many times as long as the move took "
                       "before the next one, and twice as long each time (0: as in the paper, no "
                       "minimum)",
                   .kind = OPTION_COUNT,
                   .normal = 6 },
};

static void decide(const struct policy_input *in, struct plan *ret)
{
    const struct worth_rules rules = {
        .view = in->view,
        .colocation = in->option[OPT_THROUGHPUT] != 0 ? &in->knowledge->colocation : NULL,
        .siblings = in->option[OPT_GANGS] != 0,
    };
    const struct reconfigure_options how = {
        .mode = (enum reconfigure_mode)in->option[OPT_MODE],
        .penalise = in->option[OPT_GANGS] != 0,
        .fill_kept = in->option[OPT_FILL_KEPT] != 0,
        .expected_ms = tempo_expected(&in->knowledge->tempo, in->view->now),
        .per_instance_ms = in->option[OPT_START_COST],
        .stay = in->option[OPT_STAY],
    };

    reconfigure(&rules, &how, ret);
}

const struct policy policy_eva = {
    .name = "eva",
    .summary = "packs by reservation price, learns interference, reconfigures when it pays",
    .options = options,
    .option_count = OPT_COUNT,
    .learns_colocation = true,
    .decide = decide,
};
