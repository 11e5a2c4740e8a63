/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text exposition format 0.0.4: for each name HELP, TYPE, then its samples, together. Values are
 * printed from whole numbers: micro-dollars and microseconds with six digits, milliseconds with three.
 */
#include "serve/metrics.h"

#include <inttypes.h>

#include "serve/live.h"

struct text {
    FILE *file;
};

static void head(const struct text *text, const char *name, const char *type, const char *help)
{
    fprintf(text->file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void whole(const struct text *text, const char *name, const char *type, const char *help,
                  uint64_t value)
{
    head(text, name, type, help);
    fprintf(text->file, "%s %" PRIu64 "\n", name, value);
}

static void dollars(const struct text *text, const char *name, const char *help, money_t value)
{
    char amount[SERVE_TEXT];

    serve_money_text(value, amount, sizeof(amount));
    head(text, name, "gauge", help);
    fprintf(text->file, "%s %s\n", name, amount);
}

static void seconds(const struct text *text, const char *name, const char *help, msec_t value)
{
    const msec_t span = value > 0 ? value : 0;

    head(text, name, "gauge", help);
    fprintf(text->file, "%s %" PRId64 ".%03" PRId64 "\n", name, span / 1000, span % 1000);
}

/* A label's value, with what must be escaped escaped; other control characters are left out. */
static void label(const struct text *text, const char *key, const char *value, const char *before)
{
    fprintf(text->file, "%s%s=\"", before, key);
    for (const char *at = value != NULL ? value : ""; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;

        if (byte == '\\' || byte == '"')
            fputc('\\', text->file);
        if (byte == '\n')
            fputs("\\n", text->file);
        else if (byte >= 0x20 && byte < 0x7f)
            fputc(byte, text->file);
        else
            fputc('?', text->file);
    }
    fputc('"', text->file);
}

static void labelled(const struct text *text, const char *name, const char *key, const char *value,
                     uint64_t number)
{
    fputs(name, text->file);
    label(text, key, value, "{");
    fprintf(text->file, "} %" PRIu64 "\n", number);
}

static void write_info(const struct text *text, const struct serve_world *world)
{
    head(text, "stint_info", "gauge", "Always 1; version, mode, policy and cluster are labels.");
    fputs("stint_info", text->file);
    label(text, "version", STINT_VERSION, "{");
    label(text, "mode", world->mode, ",");
    label(text, "policy", world->policy, ",");
    label(text, "cluster", world->cluster, ",");
    fputs("} 1\n", text->file);
    seconds(text, "stint_up_seconds", "Time since the daemon started.",
            world->now(world->context) - world->started_at);
    whole(text, "stint_ready", "gauge", "1 once the first audit of engine and cloud has ended.",
          world->ready ? 1 : 0);
    if (world->audited_at >= 0)
        seconds(text, "stint_audit_age_seconds", "Time since the last audit ended.",
                world->now(world->context) - world->audited_at);
    head(text, "stint_link_up", "gauge", "Whether the link to an engine or cloud stands.");
    for (uint32_t i = 0; i < world->link_count; i++)
        labelled(text, "stint_link_up", "link", world->links[i].name, world->links[i].up ? 1 : 0);
}

static void micro(const struct text *text, uint64_t value)
{
    fprintf(text->file, "%" PRIu64 ".%06" PRIu64, value / 1000000, value % 1000000);
}

static void write_times(const struct text *text, const struct serve_times *times)
{
    static const char *const name = "stint_decision_seconds";
    uint64_t sum = 0;

    head(text, name, "histogram", "Time that a decision took.");
    for (uint32_t i = 0; i < SERVE_TIME_BUCKETS - 1; i++) {
        sum += times->bucket[i];
        fprintf(text->file, "%s_bucket{le=\"", name);
        micro(text, serve_time_bounds_us[i]);
        fprintf(text->file, "\"} %" PRIu64 "\n", sum);
    }
    fprintf(text->file, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum ", name, times->count, name);
    micro(text, times->sum_us);
    fprintf(text->file, "\n%s_count %" PRIu64 "\n", name, times->count);
}

static void write_money(const struct text *text, const struct store_totals *totals,
                        const struct serve_sums *sums)
{
    static const char *const word[] = { "boot", "idle", "work" };
    const money_t part[] = { totals->boot, totals->idle, totals->work };
    char amount[SERVE_TEXT];

    dollars(text, "stint_cost_dollars_per_hour", "Current price of all that is billed.",
            sums->per_hour);
    dollars(text, "stint_bill_dollars", "All that the ledger knows to be owed.", totals->bill);
    head(text, "stint_bill_part_dollars", "gauge", "The bill, by what was paid for.");
    for (int i = 0; i < 3; i++) {
        serve_money_text(part[i], amount, sizeof(amount));
        fprintf(text->file, "stint_bill_part_dollars{part=\"%s\"} %s\n", word[i], amount);
    }
    dollars(
        text, "stint_committed_dollars",
        "Owed beyond the bill for machines that are rented now, even if they are returned at once.",
        totals->committed);
    dollars(text, "stint_alone_dollars",
            "Cost of the finished tasks if each had its own cheapest machine.", totals->alone);
    dollars(text, "stint_savings_dollars",
            "Saved against one machine per task, with boot, idle and committed time paid.",
            store_savings(totals));
}

/* Nothing before it is known. */
static void write_bound(const struct text *text, const struct serve_world *world)
{
    const struct view_bound_answer *bound = &world->bound;
    const double gap = serve_bound_gap(bound);

    if (!world->has_bound)
        return;
    dollars(text, "stint_bound_dollars_per_hour",
            "The least possible price of machines for the placed tasks.", bound->bound);
    dollars(text, "stint_bound_cost_dollars_per_hour",
            "Current price of all machines, booting ones included.", bound->cost);
    if (bound->bound > 0) {
        head(text, "stint_bound_gap_ratio", "gauge",
             "By what part of the bound the machines cost more.");
        fprintf(text->file, "stint_bound_gap_ratio %.6f\n", gap);
    }
    seconds(text, "stint_bound_age_seconds", "How long ago that was.",
            world->now(world->context) - bound->at);
}

static void write_budgets(const struct text *text, const struct serve_world *world)
{
    static const char *const name[] = { "stint_budget_dollars", "stint_spent_dollars" };
    static const char *const help[] = { "The budget of the period, if there is one.",
                                        "What was spent or is committed in the period." };
    char amount[SERVE_TEXT];

    for (int k = 0; k < 2 && world->budget_count > 0; k++) {
        head(text, name[k], "gauge", help[k]);
        for (uint32_t i = 0; i < world->budget_count; i++) {
            const struct serve_budget *budget = &world->budgets[i];

            serve_money_text(k == 0 ? budget->limit : budget->spent, amount, sizeof(amount));
            fprintf(text->file, "%s{period=\"%s\"} %s\n", name[k], budget->period, amount);
        }
    }
}

enum cap_figure { CAP_INSTANCES, CAP_PRICE, CAP_DAY, CAP_MONTH, CAP_FIGURES };

/* One figure of each cap: what is in use, or the limit. */
struct cap_column {
    const struct text *text;
    const char *name;
    enum cap_figure figure;
    bool is_limit;
};

static void write_cap(void *to, const struct serve_cap *cap)
{
    const struct cap_column *column = to;
    const struct serve_budget *budget = &cap->budgets[column->figure == CAP_MONTH];
    char amount[SERVE_TEXT];

    switch (column->figure) {
    case CAP_INSTANCES:
        if (!column->is_limit || cap->max_instances > 0)
            fprintf(column->text->file, "%s{owner=\"%s\"} %u\n", column->name, cap->owner,
                    column->is_limit ? cap->max_instances : cap->instances);
        return;
    case CAP_PRICE:
        serve_money_text(column->is_limit ? cap->max_price_per_hour : cap->price_per_hour, amount,
                         sizeof(amount));
        if (!column->is_limit || cap->max_price_per_hour > 0)
            fprintf(column->text->file, "%s{owner=\"%s\"} %s\n", column->name, cap->owner, amount);
        return;
    case CAP_DAY:
    case CAP_MONTH:
    case CAP_FIGURES:
        break;
    }
    serve_money_text(column->is_limit ? budget->limit : budget->spent, amount, sizeof(amount));
    if (budget->limit > 0)
        fprintf(column->text->file, "%s{owner=\"%s\",period=\"%s\"} %s\n", column->name, cap->owner,
                budget->period, amount);
}

static void write_caps(const struct text *text, const struct serve_world *world)
{
    static const struct {
        const char *name, *help;
        enum cap_figure first, last;
        bool is_limit;
    } columns[] = {
        { "stint_owner_instances", "Machines with work of the account, user, partition or QOS.",
          CAP_INSTANCES, CAP_INSTANCES, false },
        { "stint_owner_instances_limit", "How many it may have, if that is limited.", CAP_INSTANCES,
          CAP_INSTANCES, true },
        { "stint_owner_dollars_per_hour", "What these machines cost.", CAP_PRICE, CAP_PRICE,
          false },
        { "stint_owner_dollars_per_hour_limit", "The limit of their price, if there is one.",
          CAP_PRICE, CAP_PRICE, true },
        { "stint_owner_spent_dollars", "What its jobs were charged in the period.", CAP_DAY,
          CAP_MONTH, false },
        { "stint_owner_budget_dollars", "What they may be charged in the period.", CAP_DAY,
          CAP_MONTH, true },
    };

    if (world->each_cap == NULL || !world->has_caps)
        return;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        head(text, columns[i].name, "gauge", columns[i].help);
        for (enum cap_figure k = columns[i].first; k <= columns[i].last; k++) {
            struct cap_column column = { text, columns[i].name, k, columns[i].is_limit };

            world->each_cap(world->context, write_cap, &column);
        }
    }
}

static void write_revocations(const struct text *text, const struct store *store)
{
    static const char name[] = "stint_revocation_dollars_total";
    char lost[SERVE_TEXT];
    char expected[SERVE_TEXT];

    serve_money_text((money_t)store_counted(store, COUNT_LOST_COST), lost, sizeof(lost));
    serve_money_text((money_t)store_counted(store, COUNT_EXPECTED_LOSS), expected,
                     sizeof(expected));
    head(text, name, "counter", "Losses with interrupted spot machines, by kind.");
    fprintf(text->file, "%s{kind=\"lost\"} %s\n%s{kind=\"expected\"} %s\n", name, lost, name,
            expected);
}

static void write_counters(const struct text *text, const struct store *store)
{
    static const struct {
        const char *name;
        const char *help;
        enum store_counter counter;
    } plain[] = {
        { "stint_decisions_total", "Decisions made.", COUNT_DECISIONS },
        { "stint_launches_total", "Machines asked for.", COUNT_LAUNCHES },
        { "stint_adopted_total", "Machines that an audit found.", COUNT_ADOPTED },
        { "stint_limited_total", "Rents that a limit stopped.", COUNT_LIMITED },
        { "stint_withheld_orders_total", "Orders that failed Stint's own check.", COUNT_WITHHELD },
        { "stint_late_events_total", "Ignored events about machines or tasks that are gone.",
          COUNT_LATE_EVENTS },
        { "stint_rate_reports_total", "Reports of jobs on how fast they run.", COUNT_RATES },
        { "stint_tasks_ended_total", "Tasks that ended.", COUNT_TASKS_ENDED },
        { "stint_revocations_total", "Spot machines that the cloud took away.", COUNT_TAKEN },
    };
    static const struct {
        const char *name;
        const char *key;
        const char *word;
        enum store_counter counter;
    } kinds[] = {
        { "stint_launch_failures_total", "kind", "refused", COUNT_REFUSED },
        { "stint_launch_failures_total", "kind", "boot_timeout", COUNT_BOOT_TIMEOUT },
        { "stint_launch_failures_total", "kind", "vanished", COUNT_VANISHED },
        { "stint_evictions_total", "reason", "notice", COUNT_EVICTED_BY_NOTICE },
        { "stint_evictions_total", "reason", "lost", COUNT_EVICTED_BY_LOSS },
        { "stint_evictions_total", "reason", "moved", COUNT_EVICTED_BY_MOVE },
        { "stint_evictions_total", "reason", "engine", COUNT_EVICTED_BY_ENGINE },
    };

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        whole(text, plain[i].name, "counter", plain[i].help,
              store_counted(store, plain[i].counter));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (i == 0)
            head(text, kinds[i].name, "counter", "Machines that were asked for in vain, by kind.");
        if (i == 3)
            head(text, kinds[i].name, "counter",
                 "Runs that ended before their task was done, by reason.");
        labelled(text, kinds[i].name, kinds[i].key, kinds[i].word,
                 store_counted(store, kinds[i].counter));
    }
}

/* Kinds are the doctor's words: no user's text gets here. */
static void write_tallies(const struct text *text, const struct serve_world *world)
{
    static const char *const name[] = { "stint_finding", "stint_findings_appeared_total" };
    static const char *const type[] = { "gauge", "counter" };
    static const char *const help[] = { "Findings of the doctor, by kind; looked for every 10 s.",
                                        "Findings that appeared since the start, by kind." };

    for (int k = 0; k < 2 && world->tally_count > 0; k++) {
        head(text, name[k], type[k], help[k]);
        for (uint32_t i = 0; i < world->tally_count; i++) {
            const struct serve_finding_tally *tally = &world->tallies[i];

            fputs(name[k], text->file);
            label(text, "kind", tally->kind, "{");
            label(text, "severity", tally->severity, ",");
            fprintf(text->file, "} %" PRIu64 "\n", k == 0 ? tally->now : tally->appeared);
        }
    }
}

static void write_states(const struct text *text, const struct serve_world *world,
                         const struct serve_sums *sums)
{
    head(text, "stint_instances", "gauge", "Machines that are asked for or paid for, by state.");
    for (enum instance_state state = INSTANCE_REQUESTED; state <= INSTANCE_RETURNED; state++)
        labelled(text, "stint_instances", "state", serve_instance_word(state),
                 sums->instances[state]);
    head(text, "stint_tasks", "gauge", "Unfinished tasks, by state.");
    for (enum task_state state = TASK_WAITING; state <= TASK_RUNNING; state++)
        labelled(text, "stint_tasks", "state", serve_task_word(state), sums->tasks[state]);
    whole(text, "stint_jobs", "gauge", "Jobs that have not ended.", sums->jobs);
    whole(text, "stint_open_intents", "gauge", "Requests without an answer so far.",
          store_open_intents(world->store));
    whole(text, "stint_proposals", "gauge", "Actions that wait for approval by an operator.",
          sums->proposals);
    head(text, "stint_findings", "gauge", "What the doctor would say, by severity.");
    for (int i = 0; i < SERVE_SEVERITIES; i++)
        labelled(text, "stint_findings", "severity", serve_severity_words[i], sums->findings[i]);
}

/*
 * Offers of whose machines something was seen: those with the most time of machines, so that a large catalogue
 * does not make many series.
 */

struct seen_offer {
    uint32_t offer;
    struct interruption_memory memory;
};

/* Put it among those that are listed, from the longest time down; the last falls out where there is no room. */
static uint32_t insert_seen(struct seen_offer *list, uint32_t count, const struct seen_offer *seen)
{
    uint32_t at = count;

    while (at > 0 && list[at - 1].memory.machine_ms < seen->memory.machine_ms)
        at--;
    if (at == METRICS_OFFERS_MAX)
        return count;
    if (count < METRICS_OFFERS_MAX)
        count++;
    for (uint32_t i = count - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = *seen;
    return count;
}

static uint32_t list_seen(const struct serve_world *world, struct seen_offer *ret)
{
    const struct interruptions *learned = &controller_knowledge(world->controller)->interruptions;
    const msec_t now = world->now(world->context);
    uint32_t count = 0;

    for (uint32_t offer = 0; offer < learned->offer_count; offer++) {
        struct seen_offer seen = { .offer = offer };

        if (interruptions_save(learned, offer, now, &seen.memory))
            count = insert_seen(ret, count, &seen);
    }
    return count;
}

enum risk_metric { RISK_LOSSES, RISK_MACHINE_SECONDS, RISK_LASTS_SECONDS, RISK_METRICS };

static void write_risk(const struct text *text, const struct serve_world *world,
                       enum risk_metric metric, const char *name, const struct seen_offer *seen)
{
    const struct catalogue *catalogue = world->catalogue;
    const uint32_t zone = catalogue->offers[seen->offer].zone;
    const struct serve_risk risk = serve_risk(world, seen->offer);

    if (metric == RISK_LASTS_SECONDS && !risk.is_learned)
        return;
    fputs(name, text->file);
    label(text, "type", catalogue_offer_type_name(catalogue, seen->offer), "{");
    label(text, "zone", zone != NAME_NONE ? names_text(&catalogue->names, zone) : "", ",");
    if (metric == RISK_LOSSES)
        fprintf(text->file, "} %" PRId64 ".%06" PRId64 "\n", seen->memory.losses_micro / 1000000,
                seen->memory.losses_micro % 1000000);
    else
        fprintf(text->file, "} %" PRId64 "\n",
                (metric == RISK_LASTS_SECONDS ? risk.lasts_ms : seen->memory.machine_ms) /
                    MSEC_PER_SEC);
}

static void write_risks(const struct text *text, const struct serve_world *world)
{
    static const char *const name[RISK_METRICS] = { "stint_spot_losses_seen",
                                                    "stint_spot_machine_seconds_seen",
                                                    "stint_spot_lasts_seconds" };
    static const char *const help[RISK_METRICS] = {
        "Machines of the spot offer that the cloud took away; fades to one half in a week.",
        "Time of its machines; fades to one half in a week.",
        "Time until a machine of it is taken away, on average, as learned.",
    };
    struct seen_offer seen[METRICS_OFFERS_MAX];
    const uint32_t count = list_seen(world, seen);

    for (enum risk_metric metric = 0; metric < RISK_METRICS && count > 0; metric++) {
        head(text, name[metric], "gauge", help[metric]);
        for (uint32_t i = 0; i < count; i++)
            write_risk(text, world, metric, name[metric], &seen[i]);
    }
}

char *metrics_text(const struct serve_world *world, size_t *ret_size, struct error *reterr)
{
    struct store_totals totals;
    char *body = NULL;
    size_t size = 0;

    if (serve_totals(world, &totals, reterr) < 0)
        return NULL;

    const struct serve_sums sums = serve_sums(world);
    const struct text text = { .file = open_memstream(&body, &size) };

    if (text.file == NULL) {
        error_set(reterr, -1, "out of memory");
        return NULL;
    }
    write_info(&text, world);
    write_times(&text, &world->times);
    write_money(&text, &totals, &sums);
    write_bound(&text, world);
    write_budgets(&text, world);
    write_caps(&text, world);
    write_counters(&text, world->store);
    write_revocations(&text, world->store);
    write_states(&text, world, &sums);
    write_tallies(&text, world);
    write_risks(&text, world);
    if (fclose(text.file) != 0) {
        free(body);
        error_set(reterr, -1, "out of memory");
        return NULL;
    }
    *ret_size = size;
    return body;
}
