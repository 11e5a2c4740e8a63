/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with the world, looked for when somebody asks. Each finding says what it is about,
 * what is wrong, and what to do.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon_private.h"

/* What has been open so long deserves a look. */
static const msec_t long_ms = 600 * MSEC_PER_SEC;

/* A limit that stopped a rent so lately is still of interest. */
static const msec_t lately_ms = 600 * MSEC_PER_SEC;

/* Of one kind; the rest is told as a number. */
enum { FINDINGS_PER_KIND = 20 };

/* Whom to tell. */
struct doctor {
    struct daemon *daemon;
    void (*each)(void *to, const struct serve_finding *finding);
    void *to;
    uint32_t told; /* of the kind that is looked for */
};

static void tell(struct doctor *doctor, const struct serve_finding *finding)
{
    if (doctor->told++ < FINDINGS_PER_KIND)
        doctor->each(doctor->to, finding);
}

/* The next kind; of the last one, say how many were not told. */
static void next_kind(struct doctor *doctor)
{
    char text[64];

    if (doctor->told > FINDINGS_PER_KIND) {
        (void)snprintf(text, sizeof(text), "%u more like these", doctor->told - FINDINGS_PER_KIND);
        doctor->each(doctor->to, &(struct serve_finding){
                                     .severity = "note",
                                     .kind = "more",
                                     .subject = "",
                                     .text = text,
                                     .advice = "See to the first ones, then ask again.",
                                 });
    }
    doctor->told = 0;
}

static void machine(const struct doctor *doctor, uint64_t instance, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s%llu", doctor->daemon->conf.node_prefix,
                   (unsigned long long)instance);
}

static void look_at_links(struct doctor *doctor)
{
    const struct serve_world *world = &doctor->daemon->world;

    for (uint32_t i = 0; i < world->link_count; i++) {
        const struct serve_link *link = &world->links[i];
        const bool is_store = strcmp(link->name, "store") == 0;
        const bool is_aws = strcmp(link->name, "aws") == 0;

        if (link->up)
            continue;
        tell(doctor, &(struct serve_finding){
                         .severity = "error",
                         .kind = is_store ? "store" : "link-down",
                         .subject = link->name,
                         .text = link->detail,
                         .advice = is_store ? "Nothing is done while the store cannot be written. "
                                              "Make room on its disk, or mend its rights."
                                   : is_aws ? "Nothing is rented or ended meanwhile. `stint doctor "
                                              "--cloud` says what is wrong with keys and rights."
                                            : "Nothing is decided until it is back. See that the "
                                              "program at the other end runs.",
                     });
    }
    next_kind(doctor);
}

static void look_at_machine(struct doctor *doctor, const struct view *view, uint32_t instance)
{
    const msec_t late = view->now - view->instance.ready_expected[instance];
    const uint8_t state = view->instance.state[instance];
    char name[64];
    char text[SERVE_TEXT];

    machine(doctor, view->instance.id[instance], name, sizeof(name));
    if ((state == INSTANCE_REQUESTED || state == INSTANCE_BOOTING) && late > 60 * MSEC_PER_SEC) {
        (void)snprintf(text, sizeof(text), "is %s and should have been ready %lld s ago",
                       serve_instance_word((enum instance_state)state),
                       (long long)(late / MSEC_PER_SEC));
        tell(doctor, &(struct serve_finding){
                         .severity = "warning",
                         .kind = "not-ready",
                         .subject = name,
                         .text = text,
                         .advice = "Look at its console: does it boot, does slurmd start and reach "
                                   "slurmctld? It is given back after 'boot_timeout'.",
                     });
    }
}

static void look_at_machines(struct doctor *doctor)
{
    const struct view *view = controller_view(doctor->daemon->controller);

    INSTANCE_EACH(instance, view)
    {
        look_at_machine(doctor, view, instance);
    }
    next_kind(doctor);
}

static void look_at_counts(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const struct controller_stats *stats = controller_stats(daemon->controller);
    char text[SERVE_TEXT];

    if (stats->strangers > 0) {
        (void)snprintf(text, sizeof(text),
                       "machines with our tag were found whose offer is not in the catalogue "
                       "(%llu times)",
                       (unsigned long long)stats->strangers);
        tell(doctor, &(struct serve_finding){
                         .severity = "error",
                         .kind = "leaked",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = "They are paid for and left alone. Put their offer back into "
                                   "the catalogue, or end them by hand.",
                     });
    }
    if (daemon->limited_at >= 0 && daemon->now - daemon->limited_at < lately_ms)
        tell(doctor, &(struct serve_finding){
                         .severity = "warning",
                         .kind = "limit",
                         .subject = "limits",
                         .text = "a limit keeps machines from being rented; work waits",
                         .advice = "Raise 'limits' in stint.conf and reload, or wait.",
                     });
    if (stats->bad_machines > 0) {
        (void)snprintf(text, sizeof(text),
                       "%llu machines were given back because nothing would start there",
                       (unsigned long long)stats->bad_machines);
        tell(doctor, &(struct serve_finding){
                         .severity = "warning",
                         .kind = "bad-machine",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = "Compare what the catalogue says of the type with what slurmd "
                                   "reports (processors, memory, gres, features).",
                     });
    }
    next_kind(doctor);
}

static void look_at_boots(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const uint32_t failed = controller_failed_boots(daemon->controller);
    const uint64_t outlived = controller_stats(daemon->controller)->outlived;
    char text[SERVE_TEXT];

    if (failed > 0) {
        (void)snprintf(text, sizeof(text),
                       "%u machines in a row did not become ready; one is tried at a time until "
                       "one does",
                       failed);
        tell(doctor,
             &(struct serve_finding){
                 .severity = "error",
                 .kind = "no-boot",
                 .subject = daemon->conf.cluster,
                 .text = text,
                 .advice = "Look at the image, the munge key and the security group, and at "
                           "the console of the last one. A restart tries again at once.",
             });
    }
    if (outlived > 0) {
        (void)snprintf(text, sizeof(text),
                       "machines whose bill had ended were still there and were given back (%llu "
                       "times)",
                       (unsigned long long)outlived);
        tell(doctor, &(struct serve_finding){
                         .severity = "warning",
                         .kind = "outlived",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = "What they cost since is not in the ledger: see the cloud's own "
                                   "bill. If this goes on, end them by hand.",
                     });
    }
    next_kind(doctor);
}

static void look_at_offers(struct doctor *doctor)
{
    const struct view *view = controller_view(doctor->daemon->controller);
    char subject[SERVE_TEXT];
    char text[SERVE_TEXT];

    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        const msec_t left = view->offer_blocked_until[i] - doctor->daemon->now;

        if (left <= 0)
            continue;
        (void)gate_offer_words(view->catalogue, i, subject, sizeof(subject));
        (void)snprintf(text, sizeof(text), "was refused and is not asked for again for %lld s",
                       (long long)(left / MSEC_PER_SEC) + 1);
        tell(doctor, &(struct serve_finding){
                         .severity = "note",
                         .kind = "blocked-offer",
                         .subject = subject,
                         .text = text,
                         .advice = "Others are used meanwhile. If it stays so, ask for a higher "
                                   "quota or take it out of the catalogue.",
                     });
    }
    next_kind(doctor);
}

static void look_at_intents(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const msec_t oldest = gate_oldest(daemon->gate);
    char text[SERVE_TEXT];

    if (oldest == MSEC_NEVER || daemon->now - oldest < long_ms)
        return;
    (void)snprintf(text, sizeof(text), "of %u open intents the oldest waits for %lld s",
                   gate_open_count(daemon->gate),
                   (long long)((daemon->now - oldest) / MSEC_PER_SEC));
    tell(doctor, &(struct serve_finding){
                     .severity = "warning",
                     .kind = "open-intent",
                     .subject = "journal",
                     .text = text,
                     .advice = "Engine or cloud do not answer what was asked. See their logs; the "
                               "next audit asks again.",
                 });
    next_kind(doctor);
}

static void tell_unholdable(void *context, uint64_t task, const char *reason)
{
    struct doctor *doctor = context;
    char label[SERVE_TEXT] = "";

    (void)slurm_engine_label(doctor->daemon->engine, task, label, sizeof(label));
    tell(doctor, &(struct serve_finding){
                     .severity = "error",
                     .kind = "unholdable",
                     .subject = label,
                     .text = reason,
                     .advice = "Nothing in the catalogue can hold this job. Add a larger type, or "
                               "tell its user to ask for less.",
                 });
}

static void tell_stray(void *context, uint64_t instance, bool is_up)
{
    struct doctor *doctor = context;
    char name[64];

    if (view_find_instance(controller_view(doctor->daemon->controller), instance) != ROW_NONE)
        return;
    machine(doctor, instance, name, sizeof(name));
    tell(doctor,
         &(struct serve_finding){
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

static void look_at_mode(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;

    if (daemon->conf.mode == CONF_SHADOW)
        tell(doctor,
             &(struct serve_finding){
                 .severity = "note",
                 .kind = "shadow",
                 .subject = daemon->conf.cluster,
                 .text = "mode shadow: nothing is rented or placed, all money is a forecast",
                 .advice = "Set 'mode: advise' or 'mode: act' in stint.conf and restart "
                           "stintd to let it work.",
             });
    if (daemon->is_draining)
        tell(doctor, &(struct serve_finding){
                         .severity = "note",
                         .kind = "draining",
                         .subject = daemon->conf.cluster,
                         .text = "no machine is rented, and empty ones go back",
                         .advice = "`stint drain --off` ends this.",
                     });
    if (gate_proposal_count(daemon->gate) > 0)
        tell(doctor, &(struct serve_finding){
                         .severity = "note",
                         .kind = "proposals",
                         .subject = daemon->conf.cluster,
                         .text = "acts wait for somebody's word",
                         .advice = "See `stint proposals`; then approve or reject them.",
                     });
    next_kind(doctor);
}

void doctor_each(void *context, void (*each)(void *to, const struct serve_finding *finding),
                 void *to)
{
    struct doctor doctor = { .daemon = context, .each = each, .to = to };

    look_at_links(&doctor);
    look_at_counts(&doctor);
    look_at_boots(&doctor);
    look_at_machines(&doctor);
    slurm_engine_each_unholdable(doctor.daemon->engine, tell_unholdable, &doctor);
    next_kind(&doctor);
    slurm_engine_each_stray(doctor.daemon->engine, tell_stray, &doctor);
    next_kind(&doctor);
    look_at_intents(&doctor);
    look_at_offers(&doctor);
    look_at_mode(&doctor);
}
