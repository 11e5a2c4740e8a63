/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of `stint doctor`: looks for problems on each request. Each finding names its subject, the problem and
 * the advice.
 */
#include <stdio.h>
#include <string.h>

#include "control/ports/findings.h"
#include "daemon/daemon_private.h"
#include "daemon/offer_index.h"

/* An intent that is open for so long is a finding. */
static const msec_t long_ms = 600 * MSEC_PER_SEC;

/* A returned machine ends within this time. Later it is a finding. */
static const msec_t return_ms = 60 * MSEC_PER_SEC;

/* A limit that stopped a rent so lately is still of interest. */
static const msec_t lately_ms = 600 * MSEC_PER_SEC;

/* Of one kind; the rest is reported as a number. */
enum { FINDINGS_PER_KIND = 20 };

/* Who receives the findings. */
struct doctor {
    struct daemon *daemon;
    void (*each)(void *to, const struct finding *finding);
    void *to;
    uint32_t found; /* of the kind that is looked for */
    struct finding_sink sink;
};

static void tell_found(void *context, const struct finding *finding)
{
    struct doctor *doctor = context;

    if (doctor->found++ < FINDINGS_PER_KIND)
        doctor->each(doctor->to, finding);
}

/* The next kind; of the last one, say how many were left out. */
static void next_kind(struct doctor *doctor)
{
    const uint32_t found = doctor->found;

    doctor->found = 0;
    if (found > FINDINGS_PER_KIND)
        finding_tell(&doctor->sink, &(struct finding_case){ FINDING_MORE, .subject = "" },
                     "%u more like these", found - FINDINGS_PER_KIND);
    doctor->found = 0;
}

static void next_found(void *context)
{
    next_kind(context);
}

static void machine(const struct doctor *doctor, uint64_t instance, char *buf, size_t size)
{
    serve_machine_text(&doctor->daemon->world, instance, buf, size);
}

/* Of a link that is down; NULL: that of the table. */
static const char *link_advice(const struct doctor *doctor, const struct serve_link *link)
{
    const struct cloud_adapter *cloud = doctor->daemon->cloud_kind;

    return strcmp(link->name, cloud->name) == 0 ? cloud->down_advice : NULL;
}

static void look_at_links(struct doctor *doctor)
{
    const struct serve_world *world = &doctor->daemon->world;

    for (uint32_t i = 0; i < world->link_count; i++) {
        const struct serve_link *link = &world->links[i];
        const bool is_store = strcmp(link->name, "store") == 0;

        if (!link->up)
            finding_tell(&doctor->sink,
                         &(struct finding_case){
                             .id = is_store ? FINDING_STORE : FINDING_LINK_DOWN,
                             .subject = link->name,
                             .advice = is_store ? NULL : link_advice(doctor, link),
                         },
                         "%s", link->detail);
    }
    next_kind(doctor);
}

static void look_at_machine(struct doctor *doctor, const struct view *view, uint32_t instance)
{
    const msec_t late = view->now - view->instance.ready_expected[instance];
    const uint8_t state = view->instance.state[instance];
    char name[64];

    machine(doctor, view->instance.id[instance], name, sizeof(name));
    if ((state == INSTANCE_REQUESTED || state == INSTANCE_BOOTING) && late > 60 * MSEC_PER_SEC)
        finding_tell(
            &doctor->sink,
            &(struct finding_case){ FINDING_NOT_READY, .subject = name,
                                    .advice = doctor->daemon->engine_kind->words.not_ready },
            "still %s %lld s after it was expected to be ready",
            serve_instance_word((enum instance_state)state), (long long)(late / MSEC_PER_SEC));
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

/* An order was kept back of late. */
static void tell_withheld(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const struct gate_act *act = &daemon->withheld.act;
    char job[64] = "";
    char name[64] = "";

    if (daemon->withheld.at < 0 || daemon->now - daemon->withheld.at >= lately_ms)
        return;
    if (act->instance != 0)
        machine(doctor, act->instance, name, sizeof(name));
    if (act->task != 0)
        serve_task_text(&daemon->world, act->task, job, sizeof(job));
    finding_tell(
        &doctor->sink,
        &(struct finding_case){ FINDING_WITHHELD_ORDER, .subject = act->task != 0 ? job : name },
        "Stint kept back its own order to %s%s%s, because %s", gate_act_word(act->kind),
        act->task != 0 && act->instance != 0 ? " it on " : "", act->task != 0 ? name : " it",
        sense_text(daemon->withheld.why));
}

static void look_at_counts(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const struct controller_stats *stats = controller_stats(daemon->controller);

    if (stats->strangers > 0)
        finding_tell(&doctor->sink,
                     &(struct finding_case){ FINDING_LEAKED, .subject = daemon->conf.cluster },
                     "the cloud listed machines of this cluster with a type or offer unknown to "
                     "the catalogue (%llu times)",
                     (unsigned long long)stats->strangers);
    if (daemon->former_count > 0)
        finding_tell(
            &doctor->sink,
            &(struct finding_case){ FINDING_FORMER_OFFER, .subject = daemon->conf.catalogue },
            "the catalogue has lost offers of machines that are still rented");
    if (daemon->limited_at >= 0 && daemon->now - daemon->limited_at < lately_ms)
        finding_tell(&doctor->sink, &(struct finding_case){ FINDING_LIMIT, .subject = "limits" },
                     "jobs wait, because a limit has kept Stint from renting machines within the "
                     "last 10 minutes");
    tell_withheld(doctor);
    if (stats->bad_machines > 0)
        finding_tell(&doctor->sink,
                     &(struct finding_case){ FINDING_BAD_MACHINE, .subject = daemon->conf.cluster,
                                             .advice = daemon->engine_kind->words.bad_machine },
                     "Stint returned %llu machines because every job failed to start on them",
                     (unsigned long long)stats->bad_machines);
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
    finding_tell(
        &doctor->sink,
        &(struct finding_case){ is_spent ? FINDING_OWNER_BUDGET_SPENT : FINDING_OWNER_BUDGET_LOW,
                                .subject = cap->owner },
        "%s", spent);
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
        finding_tell(&doctor->sink,
                     &(struct finding_case){ is_spent ? FINDING_BUDGET_SPENT : FINDING_BUDGET_LOW,
                                             .subject = "limits" },
                     "%s", text);
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
    char advice[2 * SERVE_TEXT];

    (void)snprintf(advice, sizeof(advice),
                   "Check in the cloud console whether they exist. If they do, check that stintd "
                   "uses the right keys, account and region (`stint doctor --cloud`). Machines "
                   "whose node answers %s keep their jobs. All of them count against the limits.",
                   daemon->engine_kind->title);
    if (missing > 0)
        finding_tell(
            &doctor->sink,
            &(struct finding_case){ FINDING_MISSING_MACHINES, .subject = daemon->conf.cluster,
                                    .severity = doubts ? "error" : "warning", .advice = advice },
            "the cloud does not list %u of our %u machines%s", missing,
            controller_view(daemon->controller)->instance.living,
            doubts ? ", so Stint ignores this list and has stopped renting" : "");
    if (rivals > 0)
        finding_tell(
            &doctor->sink,
            &(struct finding_case){ FINDING_SECOND_DAEMON, .subject = daemon->conf.cluster },
            "another process rented %u machines of this cluster, so Stint has stopped renting",
            rivals);
    next_kind(doctor);
}

/* A list that does not end: the side may well be there, and answer nothing that helps. */
static void tell_late_list(struct doctor *doctor, const char *side, const char *name, msec_t since)
{
    const msec_t late = doctor->daemon->now - since;
    char advice[SERVE_TEXT];

    if (since < 0 || late < 30 * MSEC_PER_SEC)
        return;
    (void)snprintf(advice, sizeof(advice),
                   "Stint works with the last complete list, so it misses new and lost machines "
                   "and jobs. Check the log and the load of %s.",
                   name);
    finding_tell(&doctor->sink,
                 &(struct finding_case){ FINDING_AUDIT_LATE, .subject = side, .advice = advice },
                 "%s has sent no complete list of machines and jobs for %lld s", name,
                 (long long)(late / MSEC_PER_SEC));
}

static void look_at_late_lists(struct doctor *doctor)
{
    tell_late_list(doctor, "cloud", "the cloud",
                   controller_waits_for_cloud(doctor->daemon->controller));
    tell_late_list(doctor, "engine", doctor->daemon->engine_kind->title,
                   controller_waits_for_engine(doctor->daemon->controller));
    next_kind(doctor);
}

static void look_at_leaving(struct doctor *doctor)
{
    const struct view *view = controller_view(doctor->daemon->controller);
    char name[64];

    INSTANCE_EACH(instance, view)
    {
        const msec_t since = controller_leaving_since(doctor->daemon->controller, instance);

        if (since < 0 || doctor->daemon->now - since < 60 * MSEC_PER_SEC)
            continue;
        machine(doctor, view->instance.id[instance], name, sizeof(name));
        finding_tell(
            &doctor->sink,
            &(struct finding_case){ FINDING_STILL_BUSY, .subject = name,
                                    .advice = doctor->daemon->engine_kind->words.still_busy },
            "has waited %lld s to be returned, because %s still runs work on it that "
            "Stint does not manage",
            (long long)((doctor->daemon->now - since) / MSEC_PER_SEC),
            doctor->daemon->engine_kind->title);
    }
    next_kind(doctor);
}

static void look_at_boots(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const uint32_t failed = controller_failed_boots(daemon->controller);
    const uint32_t idle = controller_failed_starts(daemon->controller);
    const uint64_t outlived = controller_stats(daemon->controller)->outlived;

    if (failed > 0)
        finding_tell(&doctor->sink,
                     &(struct finding_case){ FINDING_NO_BOOT, .subject = daemon->conf.cluster,
                                             .advice = daemon->engine_kind->words.no_boot },
                     "the last %u machines never became ready, so Stint rents one at a time until "
                     "one does",
                     failed);
    if (idle > 0)
        finding_tell(&doctor->sink,
                     &(struct finding_case){ FINDING_NO_START, .subject = daemon->conf.cluster,
                                             .advice = daemon->engine_kind->words.no_start },
                     "no job could start on the last %u machines, so Stint rents one at a time "
                     "until one works",
                     idle);
    if (outlived > 0)
        finding_tell(&doctor->sink,
                     &(struct finding_case){ FINDING_OUTLIVED, .subject = daemon->conf.cluster },
                     "machines that the ledger had closed still existed, and Stint returned them "
                     "(%llu times)",
                     (unsigned long long)outlived);
    next_kind(doctor);
}

static const char *outdated_advice(const struct daemon *daemon,
                                   const struct controller_outdated *count)
{
    if (daemon->conf.replace_percent == 0)
        return "Stint keeps them, because 'replace_outdated' in stint.conf is 0.";
    if (count->held > 0)
        return "Stint replaces the others a few at a time ('replace_outdated' in stint.conf). Run "
               "`stint explain NAME` to see the work on a machine, and stop or move that "
               "work yourself.";
    return "Stint replaces them a few at a time ('replace_outdated' in stint.conf).";
}

static void look_at_outdated(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const struct controller_outdated count = controller_outdated(daemon->controller);

    if (count.all > 0)
        finding_tell(&doctor->sink,
                     &(struct finding_case){
                         .id = FINDING_OUTDATED,
                         .subject = daemon->conf.cluster,
                         .severity = count.held > 0 ? "warning" : "note",
                         .advice = outdated_advice(daemon, &count),
                     },
                     "%u of %u machines have an old image or old settings: %u are being replaced, "
                     "%u run work that must stay",
                     count.all, controller_view(daemon->controller)->instance.living,
                     count.replaced, count.held);
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

    if (intent->kind != STORE_GIVE_BACK || late < return_ms)
        return;
    if (daemon->cloud != NULL && daemon->cloud_kind->return_fault != NULL)
        (void)daemon->cloud_kind->return_fault(daemon->cloud, fault, sizeof(fault));
    machine(doctor, intent->instance, name, sizeof(name));
    finding_tell(&doctor->sink, &(struct finding_case){ FINDING_NOT_RETURNED, .subject = name },
                 "Stint returned it %lld s ago, but the cloud has not confirmed that%s%s%s, so it "
                 "may still cost money",
                 (long long)(late / MSEC_PER_SEC), fault[0] != '\0' ? " (" : "", fault,
                 fault[0] != '\0' ? ")" : "");
}

static void look_at_returns(struct doctor *doctor)
{
    (void)store_each_open_intent(doctor->daemon->store, tell_late_return, doctor, NULL);
    next_kind(doctor);
}

/*
 * What engine and cloud find themselves.
 */

static bool knows(void *context, uint64_t instance)
{
    const struct daemon *daemon = context;

    return view_find_instance(controller_view(daemon->controller), instance) != ROW_NONE;
}

static void look_at_engine(struct doctor *doctor)
{
    struct daemon *daemon = doctor->daemon;

    daemon->engine_kind->each_finding(daemon->engine, knows, daemon, &doctor->sink);
}

static void look_at_cloud(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;

    if (daemon->cloud != NULL && daemon->cloud_kind->each_finding != NULL)
        daemon->cloud_kind->each_finding(daemon->cloud, daemon->conf.cluster, &doctor->sink);
}

static void look_at_offers(struct doctor *doctor)
{
    const struct view *view = controller_view(doctor->daemon->controller);
    char subject[SERVE_TEXT];

    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        const msec_t left = view->offer_blocked_until[i] - doctor->daemon->now;

        if (left <= 0 || view->catalogue->offers[i].is_former)
            continue;
        (void)offer_index_words(view->catalogue, i, subject, sizeof(subject));
        finding_tell(&doctor->sink,
                     &(struct finding_case){ FINDING_BLOCKED_OFFER, .subject = subject },
                     "the cloud refused it, so Stint skips it for another %lld s",
                     (long long)(left / MSEC_PER_SEC) + 1);
    }
    next_kind(doctor);
}

static void look_at_intents(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const msec_t oldest = gate_oldest(daemon->gate);

    if (oldest == MSEC_NEVER || daemon->now - oldest < long_ms)
        return;
    finding_tell(&doctor->sink, &(struct finding_case){ FINDING_OPEN_INTENT, .subject = "journal" },
                 "%u requests to %s or the cloud are unanswered, the oldest for %lld s",
                 gate_open_count(daemon->gate), daemon->engine_kind->title,
                 (long long)((daemon->now - oldest) / MSEC_PER_SEC));
    next_kind(doctor);
}

static void look_at_mode(struct doctor *doctor)
{
    const struct daemon *daemon = doctor->daemon;
    const char *cluster = daemon->conf.cluster;
    const uint32_t proposals = gate_proposal_count(daemon->gate);

    if (daemon->conf.mode == CONF_SHADOW)
        finding_tell(&doctor->sink, &(struct finding_case){ FINDING_SHADOW, .subject = cluster },
                     "mode shadow: Stint rents and places nothing, and every amount is a forecast");
    if (daemon->is_draining)
        finding_tell(&doctor->sink, &(struct finding_case){ FINDING_DRAINING, .subject = cluster },
                     "Stint is draining: it rents nothing and returns empty machines");
    if (proposals > 0)
        finding_tell(&doctor->sink, &(struct finding_case){ FINDING_PROPOSALS, .subject = cluster },
                     "%u action%s for your approval", proposals,
                     proposals == 1 ? " waits" : "s wait");
    next_kind(doctor);
}

void doctor_each(void *context, void (*each)(void *to, const struct finding *finding), void *to)
{
    struct doctor doctor = { .daemon = context, .each = each, .to = to };

    doctor.sink =
        (struct finding_sink){ .tell = tell_found, .next_kind = next_found, .context = &doctor };
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
