/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_findings.h"

#include "engine/slurm/slurm_conf_check.h"
#include "engine/slurm/slurm_engine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/ports/findings.h"

enum { TEXT_SIZE = 256, UNIT_PATHS = 8 };

struct teller {
    struct slurm_engine *engine;
    bool (*knows)(void *context, uint64_t instance);
    void *context;
    const struct finding_sink *to;
};

static void tell_unholdable(void *context, uint64_t task, const char *reason)
{
    const struct teller *teller = context;
    const bool is_heterogeneous = strcmp(reason, SLURM_HETEROGENEOUS) == 0;
    char label[TEXT_SIZE] = "";

    (void)slurm_engine_label(teller->engine, task, label, sizeof(label));
    finding_tell(
        teller->to,
        &(struct finding_case){ is_heterogeneous ? FINDING_HETEROGENEOUS : FINDING_UNHOLDABLE,
                                .subject = label },
        "%s", reason);
}

static void tell_barred(void *context, uint64_t task, const struct slurm_wait *wait)
{
    const struct teller *teller = context;
    const bool is_refused = wait->kind == SLURM_WAIT_REFUSED;
    char label[TEXT_SIZE] = "";

    (void)slurm_engine_label(teller->engine, task, label, sizeof(label));
    finding_tell(teller->to,
                 &(struct finding_case){ is_refused ? FINDING_NOT_STARTED : FINDING_POLICY,
                                         .subject = label },
                 "%s: %s", wait->word,
                 is_refused ? "Slurm did not start it when Stint placed it" : wait->reason);
}

static void tell_stray(void *context, uint64_t instance, bool is_up)
{
    const struct teller *teller = context;
    char name[64];

    if (teller->knows(teller->context, instance))
        return;
    (void)slurm_engine_node_name(teller->engine, instance, name, sizeof(name));
    if (is_up)
        finding_tell(teller->to, &(struct finding_case){ FINDING_UNKNOWN_NODE, .subject = name },
                     "Slurm has a running node with our prefix, but Stint rents no machine of this "
                     "name");
    else
        finding_tell(teller->to, &(struct finding_case){ FINDING_STUCK_NODE, .subject = name },
                     "Slurm still has a node for a machine that is gone");
}

void slurm_findings_each(struct slurm_engine *engine,
                         bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to)
{
    struct teller teller = { .engine = engine, .knows = knows, .context = context, .to = to };

    slurm_lease_tell(engine, to);
    to->next_kind(to->context);
    slurm_engine_each_unholdable(engine, tell_unholdable, &teller);
    to->next_kind(to->context);
    slurm_engine_each_barred(engine, tell_barred, &teller);
    to->next_kind(to->context);
    slurm_engine_each_stray(engine, tell_stray, &teller);
    to->next_kind(to->context);
    slurm_engine_check_conf(engine, to);
}

/* Whether there is such a program, by its path or in $PATH. */
static bool is_program(const char *name)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");

    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0;
    while (at != NULL && *at != 0) {
        const size_t length = strcspn(at, ":");

        if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, name) < sizeof(path) &&
            access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Where systemd's units are: as for systemd itself, $SYSTEMD_UNIT_PATH names other folders, with colons between them. */
static bool is_restarted(void)
{
    const char *usual[] = { "/usr/lib/systemd/system", "/lib/systemd/system", "/etc/systemd/system",
                            NULL };
    const char *given = getenv("SYSTEMD_UNIT_PATH");
    const char *roots[UNIT_PATHS + 1] = { NULL };
    char *copy;
    char *rest;
    uint32_t count = 0;
    bool ret;

    if (given == NULL)
        return slurm_conf_is_restarted(usual);
    copy = strdup(given);
    rest = copy;
    while (rest != NULL && count < UNIT_PATHS)
        roots[count++] = strsep(&rest, ":");
    ret = slurm_conf_is_restarted(roots);
    free(copy);
    return ret;
}

void slurm_findings_examine(const struct slurm_settings *settings, const struct finding_sink *to)
{
    if (!is_restarted())
        finding_tell(to,
                     &(struct finding_case){ FINDING_NO_RESTART, .subject = "slurmctld.service" },
                     "systemd does not start slurmctld again after a crash, and no job starts "
                     "until you do");
    if (settings->program == NULL || is_program(settings->program))
        return;
    finding_tell(to,
                 &(struct finding_case){ FINDING_ENGINE, .subject = "engine.program",
                                         .severity = "warning",
                                         .advice = "Install it, or name its full path." },
                 "the program %s is missing, or stintd may not run it", settings->program);
}
