/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owl: at most two tasks a machine, chosen by profiled interference.
 *
 * Tian et al., SoCC'22, as the Eva paper adapts it to price (section 6.1).
 */
#include "decide/pairing.h"
#include "policy/policy.h"

enum option { OPT_STAY, OPT_COUNT };

static const struct policy_option options[OPT_COUNT] = {
    [OPT_STAY] = { .name = "stay",
                   .help =
                       "a task that was moved runs at least this many times as long as the move took "
                       "before the next one, and twice as long each time (0: as in the paper, no "
                       "minimum)",
                   .kind = OPTION_COUNT,
                   .normal = 1 },
};

static void decide(const struct policy_input *in, struct plan *ret)
{
    const struct worth_rules rules = { .view = in->view };

    pairing(&rules, &in->knowledge->profile, in->option[OPT_STAY], ret);
}

const struct policy policy_owl = {
    .name = "owl",
    .summary = "pairs tasks that disturb each other little, by profile",
    .options = options,
    .option_count = OPT_COUNT,
    .decide = decide,
};
