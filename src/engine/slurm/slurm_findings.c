/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_findings.h"

#include "engine/slurm/slurm_conf_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 256, UNIT_PATHS = 8 };

struct teller {
    struct slurm_engine *engine;
    bool (*knows)(void *context, uint64_t instance);
    void *context;
    const struct finding_sink *to;
};

static void tell(const struct teller *teller, const struct finding *finding)
{
    teller->to->tell(teller->to->context, finding);
}

static void tell_unholdable(void *context, uint64_t task, const char *reason)
{
    const struct teller *teller = context;
    const bool is_heterogeneous = strcmp(reason, SLURM_HETEROGENEOUS) == 0;
    char label[TEXT_SIZE] = "";

    (void)slurm_engine_label(teller->engine, task, label, sizeof(label));
    tell(teller,
         &(struct finding){
             .severity = is_heterogeneous ? "warning" : "error",
             .kind = is_heterogeneous ? "heterogeneous" : "unholdable",
             .subject = label,
             .text = reason,
             .advice = is_heterogeneous
                           ? "It starts when Slurm's backfill scheduler finds room for all of its "
                             "components on owned nodes or on machines that are rented for other "
                             "jobs. To have machines rented for such jobs, let it run more often "
                             "(bf_interval=30 in SchedulerParameters; Slurm 23.02.1 or later)."
                           : "Nothing in the catalogue can hold this job. Add a larger type, or "
                             "tell its user to ask for less.",
         });
}

static void tell_barred(void *context, uint64_t task, const struct slurm_wait *wait)
{
    const struct teller *teller = context;
    const bool is_refused = wait->kind == SLURM_WAIT_REFUSED;
    char label[TEXT_SIZE] = "";
    char text[TEXT_SIZE];

    (void)slurm_engine_label(teller->engine, task, label, sizeof(label));
    (void)snprintf(text, sizeof(text), "%s: %s", wait->word,
                   is_refused ? "Slurm did not start it when it was placed" : wait->reason);
    tell(teller,
         &(struct finding){
             .severity = is_refused ? "warning" : "note",
             .kind = is_refused ? "not-started" : "policy",
             .subject = label,
             .text = text,
             .advice = is_refused
                           ? "It is tried again later. `scontrol show job` has more; see what "
                             "Slurm's partitions, limits and reservations say of it."
                           : "Nothing is rented for it while Slurm would not start it. Change "
                             "the job or the limit, or wait.",
         });
}

static void tell_stray(void *context, uint64_t instance, bool is_up)
{
    const struct teller *teller = context;
    char name[64];

    if (teller->knows(teller->context, instance))
        return;
    (void)slurm_engine_node_name(teller->engine, instance, name, sizeof(name));
    tell(teller,
         &(struct finding){
             .severity = "warning",
             .kind = "stuck-node",
             .subject = name,
             .text = is_up ? "Slurm has a node with our prefix that runs, but no machine of "
                             "ours has this name"
                           : "Slurm still has a node of a machine that is no more",
             .advice = is_up ? "Find out who started it; end it there."
                             : "It does no harm. Remove it: scontrol delete "
                               "nodename=NAME",
         });
}

void slurm_findings_each(struct slurm_engine *engine,
                         bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to)
{
    struct teller teller = { .engine = engine, .knows = knows, .context = context, .to = to };

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
    char text[PATH_MAX + 64];

    if (!is_restarted())
        to->tell(
            to->context,
            &(struct finding){ "warning", "no-restart", "slurmctld.service",
                               "systemd does not start slurmctld again after a crash, and no job "
                               "starts until you do",
                               "Run: systemctl edit slurmctld, and add the lines [Service] and "
                               "Restart=on-failure." });
    if (settings->program == NULL || is_program(settings->program))
        return;
    (void)snprintf(text, sizeof(text), "the program %s is not there, or cannot be run",
                   settings->program);
    to->tell(to->context, &(struct finding){ "warning", "engine", "engine.program", text,
                                             "install it, or name its whole path" });
}
