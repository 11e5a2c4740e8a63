/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with the world, looked for when somebody asks. Each finding says what it is about,
 * what is wrong, and what to do.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon_private.h"
#include "daemon/offer_index.h"

/* What has been open so long deserves a look. */
static const msec_t long_ms = 600 * MSEC_PER_SEC;

/* What was returned ends within this, or somebody has to look. */
static const msec_t return_ms = 60 * MSEC_PER_SEC;

/* A limit that stopped a rent so lately is still of interest. */
static const msec_t lately_ms = 600 * MSEC_PER_SEC;

/* Of one kind; the rest is reported as a number. */
enum { FINDINGS_PER_KIND = 20 };

/* Whom to tell. */
struct doctor {
    struct daemon *daemon;
    void (*each)(void *to, const struct finding *finding);
    void *to;
    uint32_t found; /* of the kind that is looked for */
};

static void tell(struct doctor *doctor, const struct finding *finding)
{
    if (doctor->found++ < FINDINGS_PER_KIND)
        doctor->each(doctor->to, finding);
}

/* The next kind; of the last one, say how many were left out. */
static void next_kind(struct doctor *doctor)
{
    char text[64];

    if (doctor->found > FINDINGS_PER_KIND) {
        (void)snprintf(text, sizeof(text), "%u more like these", doctor->found - FINDINGS_PER_KIND);
        doctor->each(doctor->to, &(struct finding){
                                     .severity = "note",
                                     .kind = "more",
                                     .subject = "",
                                     .text = text,
                                     .advice = "See to the first ones, then ask again.",
                                 });
    }
    doctor->found = 0;
}

static void machine(const struct doctor *doctor, uint64_t instance, char *buf, size_t size)
{
    serve_machine_text(&doctor->daemon->world, instance, buf, size);
}

static const char *link_advice(const struct doctor *doctor, const struct serve_link *link)
{
    const struct cloud_adapter *cloud = doctor->daemon->cloud_kind;

    if (cloud->down_advice != NULL && strcmp(link->name, cloud->name) == 0)
        return cloud->down_advice;
    return "Nothing is decided until it is back. See that the program at the other end runs.";
}

static void look_at_links(struct doctor *doctor)
{
    const struct serve_world *world = &doctor->daemon->world;

    for (uint32_t i = 0; i < world->link_count; i++) {
        const struct serve_link *link = &world->links[i];
        const bool is_store = strcmp(link->name, "store") == 0;

        if (link->up)
            continue;
        tell(doctor,
             &(struct finding){
                 .severity = "error",
                 .kind = is_store ? "store" : "link-down",
                 .subject = link->name,
                 .text = link->detail,
                 .advice = is_store ? "Nothing is rented or placed while the store cannot be "
                                      "written; empty machines go back. Make room on its "
                                      "disk, or correct its rights."
                                    : link_advice(doctor, link),
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
        tell(doctor, &(struct finding){
                         .severity = "warning",
                         .kind = "not-ready",
                         .subject = name,
                         .text = text,
                         .advice = doctor->daemon->engine_kind->words.not_ready,
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
                       "machines with our tag were found whose type or offer is unknown (%llu "
                       "times)",
                       (unsigned long long)stats->strangers);
        tell(doctor, &(struct finding){
                         .severity = "error",
                         .kind = "leaked",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = "They count in the limits and are returned when nothing runs "
                                   "there; what they cost is only on the cloud's own bill.",
                     });
    }
    if (daemon->former_count > 0)
        tell(doctor, &(struct finding){
                         .severity = "warning",
                         .kind = "former-offer",
                         .subject = daemon->conf.catalogue,
                         .text = "the catalogue has lost offers of which machines are rented",
                         .advice = "They are returned when the jobs there have ended. To keep "
                                   "them, put the offers back and restart stintd.",
                     });
    if (daemon->limited_at >= 0 && daemon->now - daemon->limited_at < lately_ms)
        tell(doctor, &(struct finding){
                         .severity = "warning",
                         .kind = "limit",
                         .subject = "limits",
                         .text = "a limit keeps machines from being rented; work waits",
                         .advice = "Raise 'limits' in stint.conf and reload, or wait.",
                     });
    if (stats->bad_machines > 0) {
        (void)snprintf(text, sizeof(text),
                       "%llu machines were returned because nothing would start there",
                       (unsigned long long)stats->bad_machines);
        tell(doctor, &(struct finding){
                         .severity = "warning",
                         .kind = "bad-machine",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = daemon->engine_kind->words.bad_machine,
                     });
    }
    next_kind(doctor);
}

/* One budget of an account or the like. */
static void tell_cap_budget(struct doctor *doctor, const struct serve_cap *cap,
                            const struct serve_budget *budget)
{
    const bool is_spent = budget->spent >= budget->limit;
    char spent[SERVE_TEXT];

    if (budget->limit == 0 ||
        (!is_spent && budget->spent < budget->limit / 100 * budget->warn_percent))
        return;
    serve_budget_text(budget, doctor->daemon->now, spent, sizeof(spent));
    tell(doctor,
         &(struct finding){
             .severity = "warning",
             .kind = is_spent ? "owner-budget-spent" : "owner-budget-low",
             .subject = cap->owner,
             .text = spent,
             .advice = is_spent ? "Its new jobs wait; those that run continue, and so do all "
                                  "others. Raise its limit in stint.conf and reload, or wait."
                                : "When it is spent, its new jobs wait.",
         });
}

static void look_at_cap(void *to, const struct serve_cap *cap)
{
    for (int i = 0; i < 2; i++)
        tell_cap_budget(to, cap, &cap->budgets[i]);
}

static void look_at_budgets(struct doctor *doctor)
{
    const struct serve_world *world = &doctor->daemon->world;
    char text[SERVE_TEXT];

    for (uint32_t i = 0; i < world->budget_count; i++) {
        const struct serve_budget *budget = &world->budgets[i];
        const bool is_spent = budget->spent >= budget->limit;

        /* Money times a hundred fits: limits are far below 2^63 micro-dollars. */
        if (!is_spent && budget->spent < budget->limit / 100 * budget->warn_percent)
            continue;
        serve_budget_text(budget, doctor->daemon->now, text, sizeof(text));
        tell(doctor,
             &(struct finding){
                 .severity = is_spent ? "error" : "warning",
                 .kind = is_spent ? "budget-spent" : "budget-low",
                 .subject = "limits",
                 .text = text,
                 .advice = is_spent ? "Nothing is rented and empty machines go back; jobs that "
                                      "run continue. Raise the limit in stint.conf and reload, "
                                      "or wait."
                                    : "At the limit nothing more is rented and empty machines "
                                      "go back. Raise it in stint.conf and reload if that "
                                      "is too soon.",
             });
    }
    next_kind(doctor);
}

/* What the cloud's lists say against what should be there. */
static void look_at_witnesses(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const uint32_t missing = controller_missing(daemon->controller);
    const uint32_t rivals = controller_rivals(daemon->controller);
    const bool doubts = controller_doubts(daemon->controller);
    char text[SERVE_TEXT];
    char advice[2 * SERVE_TEXT];

    if (missing > 0) {
        (void)snprintf(text, sizeof(text), "the cloud's list lacks %u of %u machines%s", missing,
                       controller_view(daemon->controller)->instance.living,
                       doubts ? "; it is not believed, and nothing is rented" : "");
        (void)snprintf(advice, sizeof(advice),
                       "Look at the cloud's console: are they there? Then see whose keys, "
                       "account and region stintd uses (`stint doctor --cloud`). Machines whose "
                       "node answers %s keep their jobs; all count in the limits.",
                       daemon->engine_kind->title);
        tell(doctor, &(struct finding){
                         .severity = doubts ? "error" : "warning",
                         .kind = "missing-machines",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = advice,
                     });
    }
    if (rivals > 0) {
        (void)snprintf(
            text, sizeof(text),
            "%u machines of this cluster were rented by another process; nothing is rented",
            rivals);
        tell(doctor, &(struct finding){
                         .severity = "error",
                         .kind = "second-daemon",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = "Is there a second stintd with the same 'cluster'? Stop it, or "
                                   "give it another name. If there is none, restart this one: it "
                                   "takes those machines over.",
                     });
    }
    next_kind(doctor);
}

/* A list that does not end: the side may well be there, and answer nothing that helps. */
static void tell_late_list(struct doctor *doctor, const char *side, msec_t since)
{
    const msec_t late = doctor->daemon->now - since;
    char text[SERVE_TEXT];

    if (since < 0 || late < 30 * MSEC_PER_SEC)
        return;
    (void)snprintf(text, sizeof(text), "has been asked for %lld s what there is, and has not ended",
                   (long long)(late / MSEC_PER_SEC));
    tell(doctor, &(struct finding){
                     .severity = "error",
                     .kind = "audit-late",
                     .subject = side,
                     .text = text,
                     .advice = "What was known before still holds; lost and new machines or jobs "
                               "are noticed only when it answers. See its log and its load.",
                 });
}

static void look_at_late_lists(struct doctor *doctor)
{
    tell_late_list(doctor, "cloud", controller_waits_for_cloud(doctor->daemon->controller));
    tell_late_list(doctor, "engine", controller_waits_for_engine(doctor->daemon->controller));
    next_kind(doctor);
}

static void look_at_leaving(struct doctor *doctor)
{
    const struct view *view = controller_view(doctor->daemon->controller);
    char name[64];
    char text[SERVE_TEXT];

    INSTANCE_EACH(instance, view)
    {
        const msec_t since = controller_leaving_since(doctor->daemon->controller, instance);

        if (since < 0 || doctor->daemon->now - since < 60 * MSEC_PER_SEC)
            continue;
        machine(doctor, view->instance.id[instance], name, sizeof(name));
        (void)snprintf(text, sizeof(text),
                       "should have been returned %lld s ago, but %s has something allocated "
                       "there that is not managed by Stint",
                       (long long)((doctor->daemon->now - since) / MSEC_PER_SEC),
                       doctor->daemon->engine_kind->title);
        tell(doctor, &(struct finding){
                         .severity = "warning",
                         .kind = "still-busy",
                         .subject = name,
                         .text = text,
                         .advice = doctor->daemon->engine_kind->words.still_busy,
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
        tell(doctor, &(struct finding){
                         .severity = "error",
                         .kind = "no-boot",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = daemon->engine_kind->words.no_boot,
                     });
    }
    if (outlived > 0) {
        (void)snprintf(text, sizeof(text),
                       "machines whose bill had ended were still there and were returned (%llu "
                       "times)",
                       (unsigned long long)outlived);
        tell(doctor, &(struct finding){
                         .severity = "warning",
                         .kind = "outlived",
                         .subject = daemon->conf.cluster,
                         .text = text,
                         .advice = "What they cost since is not in the ledger: see the cloud's own "
                                   "bill. If this persists, terminate them by hand.",
                     });
    }
    next_kind(doctor);
}

static void look_at_outdated(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const struct controller_outdated count = controller_outdated(daemon->controller);
    char text[SERVE_TEXT];

    if (count.all > 0) {
        (void)snprintf(
            text, sizeof(text),
            "%u of %u machines have an image or settings that are no longer those of "
            "new ones; %u are being replaced, %u are kept by work that must not be moved",
            count.all, controller_view(daemon->controller)->instance.living, count.replaced,
            count.held);
        tell(doctor,
             &(struct finding){
                 .severity = count.held > 0 ? "warning" : "note",
                 .kind = "outdated",
                 .subject = daemon->conf.cluster,
                 .text = text,
                 .advice = daemon->conf.replace_percent == 0
                               ? "None is replaced, as 'replace_outdated' in stint.conf says."
                           : count.held > 0
                               ? "The others are replaced a few at a time (replace_outdated in "
                                 "stint.conf). `stint explain instance NAME` shows what runs on a "
                                 "machine; stop or move it yourself when it may be interrupted."
                               : "They are replaced a few at a time: replace_outdated in "
                                 "stint.conf says how many.",
             });
    }
    next_kind(doctor);
}

/* A return that is not confirmed, at whichever cloud. */
static void tell_late_return(void *context, const struct store_intent *intent)
{
    struct doctor *doctor = context;
    const struct daemon *daemon = doctor->daemon;
    const msec_t late = daemon->now - intent->at;
    char fault[128] = "";
    char name[64];
    char text[SERVE_TEXT];

    if (intent->kind != STORE_GIVE_BACK || late < return_ms)
        return;
    if (daemon->cloud != NULL && daemon->cloud_kind->return_fault != NULL)
        (void)daemon->cloud_kind->return_fault(daemon->cloud, fault, sizeof(fault));
    machine(doctor, intent->instance, name, sizeof(name));
    (void)snprintf(text, sizeof(text),
                   "was returned %lld s ago and the cloud has not confirmed it%s%s; it may be "
                   "paid for still",
                   (long long)(late / MSEC_PER_SEC), fault[0] != '\0' ? "; " : "", fault);
    tell(doctor, &(struct finding){
                     .severity = "error",
                     .kind = "not-returned",
                     .subject = name,
                     .text = text,
                     .advice = "Take its termination protection away, or give stintd the right to "
                               "end it (`stint doctor --cloud`); or end it by hand at the cloud. "
                               "It is asked for again meanwhile.",
                 });
}

static void look_at_returns(struct doctor *doctor)
{
    (void)store_each_open_intent(doctor->daemon->store, tell_late_return, doctor, NULL);
    next_kind(doctor);
}

/*
 * What engine and cloud find themselves.
 */

static void tell_found(void *context, const struct finding *finding)
{
    tell(context, finding);
}

static void next_found(void *context)
{
    next_kind(context);
}

static bool knows(void *context, uint64_t instance)
{
    const struct daemon *daemon = context;

    return view_find_instance(controller_view(daemon->controller), instance) != ROW_NONE;
}

static void look_at_engine(struct doctor *doctor)
{
    struct daemon *daemon = doctor->daemon;
    const struct finding_sink sink = { .tell = tell_found,
                                       .next_kind = next_found,
                                       .context = doctor };

    daemon->engine_kind->each_finding(daemon->engine, knows, daemon, &sink);
}

static void look_at_cloud(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const struct finding_sink sink = { .tell = tell_found,
                                       .next_kind = next_found,
                                       .context = doctor };

    if (daemon->cloud != NULL && daemon->cloud_kind->each_finding != NULL)
        daemon->cloud_kind->each_finding(daemon->cloud, daemon->conf.cluster, &sink);
}

static void look_at_offers(struct doctor *doctor)
{
    const struct view *view = controller_view(doctor->daemon->controller);
    char subject[SERVE_TEXT];
    char text[SERVE_TEXT];

    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        const msec_t left = view->offer_blocked_until[i] - doctor->daemon->now;

        if (left <= 0 || view->catalogue->offers[i].is_former)
            continue;
        (void)offer_index_words(view->catalogue, i, subject, sizeof(subject));
        (void)snprintf(text, sizeof(text), "was refused and is not asked for again for %lld s",
                       (long long)(left / MSEC_PER_SEC) + 1);
        tell(doctor, &(struct finding){
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
    tell(doctor, &(struct finding){
                     .severity = "warning",
                     .kind = "open-intent",
                     .subject = "journal",
                     .text = text,
                     .advice = "Engine or cloud do not answer what was asked. See their logs; the "
                               "next audit asks again.",
                 });
    next_kind(doctor);
}

static void look_at_mode(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;

    if (daemon->conf.mode == CONF_SHADOW)
        tell(doctor,
             &(struct finding){
                 .severity = "note",
                 .kind = "shadow",
                 .subject = daemon->conf.cluster,
                 .text = "mode shadow: nothing is rented or placed, all money is a forecast",
                 .advice = "Set 'mode: advise' or 'mode: act' in stint.conf and restart "
                           "stintd to let it work.",
             });
    if (daemon->is_draining)
        tell(doctor, &(struct finding){
                         .severity = "note",
                         .kind = "draining",
                         .subject = daemon->conf.cluster,
                         .text = "no machine is rented, and empty ones go back",
                         .advice = "`stint drain --off` ends this.",
                     });
    if (gate_proposal_count(daemon->gate) > 0)
        tell(doctor, &(struct finding){
                         .severity = "note",
                         .kind = "proposals",
                         .subject = daemon->conf.cluster,
                         .text = "actions wait for approval",
                         .advice = "See `stint proposals`; then approve or reject them.",
                     });
    next_kind(doctor);
}

void doctor_each(void *context, void (*each)(void *to, const struct finding *finding), void *to)
{
    struct doctor doctor = { .daemon = context, .each = each, .to = to };

    look_at_links(&doctor);
    look_at_counts(&doctor);
    look_at_budgets(&doctor);
    daemon_each_cap(doctor.daemon, look_at_cap, &doctor);
    next_kind(&doctor);
    look_at_witnesses(&doctor);
    look_at_late_lists(&doctor);
    look_at_leaving(&doctor);
    look_at_boots(&doctor);
    look_at_outdated(&doctor);
    look_at_machines(&doctor);
    look_at_engine(&doctor);
    look_at_returns(&doctor);
    look_at_cloud(&doctor);
    look_at_intents(&doctor);
    look_at_offers(&doctor);
    look_at_mode(&doctor);
}
