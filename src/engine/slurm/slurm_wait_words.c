/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_wait_words.h"

#include <stdio.h>

static void put(struct engine_wait *ret, const char *why, const char *text)
{
    ret->why = why;
    (void)snprintf(ret->text, sizeof(ret->text), "%s", text);
}

bool slurm_wait_words(const struct slurm_wait *wait, msec_t now, struct engine_wait *ret)
{
    char begin[64];

    *ret = (struct engine_wait){ .until = wait->until };
    switch (wait->kind) {
    case SLURM_WAIT_NONE:
        return false;
    case SLURM_WAIT_USER_HOLD:
        put(ret, "held", "its user holds it");
        break;
    case SLURM_WAIT_ADMIN_HOLD:
        put(ret, "held", "an administrator holds it");
        break;
    case SLURM_WAIT_DEPENDENCY:
        put(ret, "depends", "it depends on another job");
        break;
    case SLURM_WAIT_BEGIN:
        adapter_clock_text(wait->until, now, begin, sizeof(begin));
        ret->why = "begins";
        (void)snprintf(ret->text, sizeof(ret->text), "its begin time is %s", begin);
        break;
    case SLURM_WAIT_ROOM:
        put(ret, "crowded",
            "earlier jobs on several nodes already have the most tasks that Stint considers");
        break;
    case SLURM_WAIT_ARRAY_LIMIT:
        put(ret, "array-limit",
            "its array has as many running or placed tasks as its limit allows (--array=...%N)");
        break;
    case SLURM_WAIT_UNHOLDABLE:
        put(ret, "no-offer", wait->reason);
        break;
    case SLURM_WAIT_POLICY:
        ret->why = "policy";
        (void)snprintf(ret->text, sizeof(ret->text), "Slurm would not start it: %s (%s)",
                       wait->word, wait->reason);
        break;
    case SLURM_WAIT_REFUSED:
        adapter_clock_text(wait->until, now, begin, sizeof(begin));
        ret->why = "not-started";
        (void)snprintf(
            ret->text, sizeof(ret->text),
            "Slurm did not start it when Stint placed it: %s; the next try is at %s, or when the job "
            "or its limits change",
            wait->word, begin);
        break;
    }
    return true;
}
