/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reports of stint-slurm about the lease. The daemon learns until when it may act, and people
 * learn of other daemons.
 */
#include <stdio.h>
#include <string.h>

#include "control/ports/findings.h"
#include "engine/engine_adapter.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_findings.h"

static void tell_daemon(const struct slurm_engine *engine, const struct engine_lease *lease)
{
    if (engine->config.on_lease != NULL)
        engine->config.on_lease(engine->config.context, lease);
}

bool slurm_lease_wants(struct slurm_engine *engine, const struct line *hello)
{
    const bool wants = engine->config.cluster != NULL && !engine->config.observes &&
                       line_get(hello, "lease") != NULL;

    if (wants && !engine->lease.is_wanted)
        tell_daemon(engine, &(struct engine_lease){ .until = 0 });
    engine->lease.is_wanted = wants;
    return wants;
}

static uint64_t number_of(const struct line *line, const char *field)
{
    const char *text = line_get(line, field);
    uint64_t number = 0;

    if (text != NULL)
        (void)line_number(text, INT64_MAX, &number);
    return number;
}

static void keep(char *to, const struct line *line, const char *field)
{
    const char *text = line_get(line, field);

    (void)snprintf(to, SLURM_LEASE_TEXT, "%s", text != NULL ? text : "");
}

void slurm_lease_on_line(struct slurm_engine *engine, const struct line *line)
{
    const bool was_held = engine->lease.until > 0;
    const struct engine_lease lease = { .until = (msec_t)number_of(line, "until"),
                                        .epoch = number_of(line, "epoch") };

    if (!engine->lease.is_wanted)
        return;
    engine->lease.until = lease.until;
    keep(engine->lease.other, line, "other");
    keep(engine->lease.caller, line, "caller");
    keep(engine->lease.fault, line, "text");
    tell_daemon(engine, &lease);
    if (lease.until > 0) /* it may have ended in between, and requests were put off */
        slurm_asks_resend(engine, false);
    if ((lease.until > 0) != was_held)
        slurm_engine_say(engine, was_held
                                     ? "the lease is lost; stintd waits, and machines and jobs stay"
                                     : "stintd holds the lease and acts");
}

const char *slurm_engine_lease_fault(const struct slurm_engine *engine)
{
    if (!engine->lease.is_wanted || engine->lease.until > 0)
        return NULL;
    if (engine->lease.other[0] != '\0')
        return "another stintd acts on this Slurm";
    return engine->lease.fault[0] != '\0' ? engine->lease.fault
                                          : "waiting for the lease of this Slurm";
}

void slurm_lease_tell(const struct slurm_engine *engine, const struct finding_sink *to)
{
    char words[SLURM_LEASE_TEXT];

    if (engine->lease.is_wanted && engine->lease.until == 0 && engine->lease.other[0] != '\0')
        finding_tell(to, &(struct finding_case){ FINDING_SECOND_DAEMON, .subject = "slurm" },
                     "another stintd acts on this Slurm (%s), so this one only waits",
                     slurm_lease_words(engine->lease.other, words, sizeof(words)));
    else if (engine->lease.caller[0] != '\0')
        finding_tell(to, &(struct finding_case){ FINDING_SECOND_DAEMON, .subject = "slurm" },
                     "another stintd waits to act on this Slurm (%s)",
                     slurm_lease_words(engine->lease.caller, words, sizeof(words)));
}
