/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller reports on its way goes into the journal: reasons, dues, bills, runtimes,
 * counts. Everything is put into words here, for rows and numbers do not outlive the process.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "daemon/offer_index.h"
#include "learn/boots.h"
#include "trace/input_file.h"
#include "trace/sacct.h"

enum { NEARLY_PERCENT = 90 };

static const msec_t count_every_ms = 10 * MSEC_PER_SEC;
static const msec_t count_soon_ms = 1 * MSEC_PER_SEC;

/* A time limit that is not known. */
static const uint32_t no_limit = UINT32_MAX - 1;

static const char *offer_words(const struct daemon *daemon, uint32_t offer, char *buf, size_t size)
{
    if (offer >= daemon->catalogue.offer_count)
        return NULL;
    (void)offer_index_words(&daemon->catalogue, offer, buf, size);
    return buf;
}

/*
 * Reasons.
 */

static struct store_reason reason_of(const struct daemon *daemon, const struct view *view,
                                     const struct plan_reason *why, char *buf, size_t size)
{
    return (struct store_reason){
        .at = view->now,
        .decision = controller_stats(daemon->controller)->decisions,
        .why = *why,
        .passed_offer = offer_words(daemon, why->passed_offer, buf, size),
    };
}

static void note_places(struct daemon *daemon, const struct view *view, const struct plan *plan)
{
    char passed[SERVE_TEXT];
    char target[SERVE_TEXT];

    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];
        struct store_reason reason = reason_of(daemon, view, &place->why, passed, sizeof(passed));

        if (place->fresh)
            (void)offer_index_words(&daemon->catalogue, plan->rents[place->target].offer, target,
                                    sizeof(target));
        else
            serve_machine_text(&daemon->world, view->instance.id[place->target], target,
                               sizeof(target));
        reason.subject = STORE_TASK;
        reason.id = view->task.id[place->task];
        reason.target = target;
        journal_reason(&daemon->journal, &reason);
    }
}

/* Machines of a plan have no number yet: they get the next ones, in the order of the plan. */
static void note_rents(struct daemon *daemon, const struct view *view, const struct plan *plan)
{
    const uint64_t first = controller_next_key(daemon->controller);
    char passed[SERVE_TEXT];
    char target[SERVE_TEXT];

    for (uint32_t i = 0; i < plan->rent_count; i++) {
        struct store_reason reason =
            reason_of(daemon, view, &plan->rents[i].why, passed, sizeof(passed));

        (void)offer_index_words(&daemon->catalogue, plan->rents[i].offer, target, sizeof(target));
        reason.subject = STORE_RENTED;
        reason.id = first + i;
        reason.target = target;
        journal_reason(&daemon->journal, &reason);
    }
}

/* Those that wait by choice, when they begin to wait by a rule. Machines of the plan have no number yet,
 * see note_rents. */
static void note_waits(struct daemon *daemon, const struct view *view, const struct plan *plan)
{
    const uint64_t first = controller_next_key(daemon->controller);
    const struct plan_reason none = plan_because(REASON_FITS_KEPT, MONEY_UNKNOWN);
    char passed[SERVE_TEXT];
    char target[SERVE_TEXT];
    char text[1024];

    for (uint32_t i = 0; i < plan->wait_count; i++) {
        const struct plan_wait *wait = &plan->waits[i];
        const uint64_t instance = wait->target == UINT32_MAX ? 0
                                  : wait->fresh              ? first + wait->target
                                                             : view->instance.id[wait->target];
        struct store_reason reason = reason_of(daemon, view, &none, passed, sizeof(passed));

        if (!wait->is_new)
            continue;
        serve_wait_text(&daemon->world, view, wait, instance, text, sizeof(text));
        if (instance != 0)
            serve_machine_text(&daemon->world, instance, target, sizeof(target));
        reason.subject = STORE_WAITED;
        reason.id = view->task.id[wait->task];
        reason.target =
            instance != 0 ? target : offer_words(daemon, wait->offer, target, sizeof(target));
        reason.text = text;
        journal_reason(&daemon->journal, &reason);
    }
}

void daemon_on_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct daemon *daemon = context;
    char passed[SERVE_TEXT];

    serve_note_plan(&daemon->world, view, plan);
    note_rents(daemon, view, plan);
    note_places(daemon, view, plan);
    note_waits(daemon, view, plan);
    for (uint32_t i = 0; i < plan->release_count; i++) {
        struct store_reason reason =
            reason_of(daemon, view, &plan->releases[i].why, passed, sizeof(passed));

        reason.subject = STORE_RELEASED;
        reason.id = view->instance.id[plan->releases[i].instance];
        journal_reason(&daemon->journal, &reason);
    }
}

/*
 * Dues and runtimes.
 */

/*
 * What the task would have cost with a machine of its own: the cheapest that holds it, billed from
 * its boot to its release. 0 if nothing is known to hold it.
 */
static money_t alone_cost(const struct daemon *daemon, const struct view *view, uint32_t task,
                          msec_t executed)
{
    const uint32_t shape = view->task.shape[task];

    if (shape >= view->shapes_priced || view->shape_offer[shape] >= daemon->catalogue.offer_count)
        return 0;

    const uint32_t row = view->shape_offer[shape];
    const struct offer *offer = &daemon->catalogue.offers[row];
    const struct machine_type *type = catalogue_type_of(&daemon->catalogue, row);
    const msec_t span = type->setup_ms + executed + type->release_ms;
    const msec_t from = view->now > span ? view->now - span : 0;

    return billing_charge(&offer->billing, &offer->price, from, from + span);
}

static const char *text_of(const struct names *names, uint32_t name)
{
    return name < names->count ? names_text(names, name) : "";
}

static void note_runtime(struct daemon *daemon, const struct view *view, uint32_t task,
                         msec_t executed)
{
    const uint32_t job = view->task.job[task];
    const uint32_t limit = map_get(&daemon->limits, view->job.id[job]);

    if (view->job.tasks_left[job] > 1)
        return;
    (void)map_remove(&daemon->limits, view->job.id[job]);
    if (executed <= 0)
        return;
    journal_runtime(&daemon->journal,
                    &(struct store_runtime){
                        .at = view->now,
                        .name = text_of(&daemon->job_names, view->job.name[job]),
                        .user = text_of(&daemon->users, view->job.user[job]),
                        .shape = text_of(&daemon->shapes.names,
                                         daemon->shapes.rows[view->task.shape[task]].name),
                        .tasks = view->job.task_count[job],
                        .hour = (uint32_t)(view->job.arrived_at[job] / MSEC_PER_HOUR % 24),
                        .limit = limit < no_limit ? limit : UINT32_MAX,
                        .runtime_ms = executed,
                    });
}

/* Who owes, in words; what, is for the caller to say. The texts live until the next call. */
static struct store_due due_of(struct daemon *daemon, const struct view *view, uint32_t task)
{
    static char label[SERVE_TEXT];
    static char job_label[SERVE_TEXT];
    const uint32_t job = view->task.job[task];
    const uint32_t instance = view->task.instance[task];

    struct engine_payer payer = { .account = NULL };

    label[0] = '\0';
    job_label[0] = '\0';
    if (daemon->engine_kind->payer != NULL)
        (void)daemon->engine_kind->payer(daemon->engine, view->task.id[task], &payer);
    (void)daemon->engine_kind->label(daemon->engine, view->task.id[task], label, sizeof(label));
    (void)daemon->engine_kind->label(daemon->engine, view->job.id[job], job_label,
                                     sizeof(job_label));
    return (struct store_due){
        .task = view->task.id[task],
        .label = label,
        .job = job_label,
        .name = text_of(&daemon->job_names, view->job.name[job]),
        .user = text_of(&daemon->users, view->job.user[job]),
        .type = instance == ROW_NONE
                    ? NULL
                    : catalogue_offer_type_name(&daemon->catalogue, view->instance.offer[instance]),
        .account = payer.account,
        .partition = payer.partition,
        .qos = payer.qos,
        .ended_at = view->now,
    };
}

void daemon_on_settled(void *context, const struct view *view, uint32_t task, struct ledger_due due)
{
    struct daemon *daemon = context;
    const msec_t executed = view_executed(view, task);

    cap_books_settle(&daemon->caps, view, task, due.cost);
    if (due.cost == 0 && executed <= 0 && view->task.launches[task] == 0) { /* it never ran */
        note_runtime(daemon, view, task, 0);
        return;
    }

    struct store_due record = due_of(daemon, view, task);

    record.cost = due.cost;
    record.alone_cost = alone_cost(daemon, view, task, executed);
    record.occupied_ms = due.occupied_ms;
    journal_due(&daemon->journal, &record);
    note_runtime(daemon, view, task, view_progress(view, task));
    if (daemon->shadow == NULL)
        daemon->engine_kind->cost(daemon->engine, view->task.id[task], due.cost, record.type);
}

/*
 * Accounts that are open, and what living tasks owe: kept with every write, so that the books go on
 * where they stood.
 */

static void note_caps(struct daemon *daemon)
{
    struct line_text text = { .text = NULL };

    if (daemon->conf.caps.count == 0 || !daemon->caps.is_changed)
        return;
    cap_books_text(&daemon->caps, &text);
    journal_mark(&daemon->journal, MARK_CAPS, text.text);
    line_text_done(&text);
}

void daemon_note_books(struct daemon *daemon)
{
    const struct view *view = controller_view(daemon->controller);
    struct ledger_account account;
    struct ledger_due due;
    uint64_t id = 0;

    while (controller_take_changed_account(daemon->controller, &id, &account))
        journal_account(&daemon->journal, &(struct store_account){
                                              .instance = id,
                                              .from = account.from,
                                              .until = account.until,
                                              .rest = account.rest,
                                              .sums = account.sums,
                                              .is_ready = account.is_ready,
                                          });
    while (controller_take_changed_due(daemon->controller, &id, &due)) {
        const uint32_t task = view_find_task(view, id);

        if (task == ROW_NONE)
            continue;

        struct store_due owed = due_of(daemon, view, task);

        owed.cost = due.cost;
        owed.occupied_ms = due.occupied_ms;
        journal_owed(&daemon->journal, &owed);
        cap_books_due(&daemon->caps, view, task, due.cost);
    }
    note_caps(daemon);
}

/*
 * What accounts and the like have spent is booked every ten seconds, every second while a budget is nearly used up, and at
 * the end of each day. So a budget is exceeded by what runs then, and by what started within that time.
 */

void daemon_count_caps(struct daemon *daemon)
{
    struct cap_books *books = &daemon->caps;
    const msec_t now = daemon->now;
    const msec_t until = cap_books_until(books);

    if (daemon->conf.caps.count == 0)
        return;
    if (now >= until) { /* what was before belongs to the day before */
        controller_book_capped(daemon->controller, until);
        daemon_note_books(daemon);
        cap_books_roll(books, now);
    }
    if (now >= daemon->caps_at) {
        controller_book_capped(daemon->controller, now);
        daemon_note_books(daemon);
        daemon->caps_at =
            now + (cap_books_percent(books) >= NEARLY_PERCENT ? count_soon_ms : count_every_ms);
    }
    if (cap_books_judge(books))
        controller_caps_changed(daemon->controller);
}

bool daemon_resume_account(void *context, uint64_t instance, struct ledger_account *ret)
{
    struct daemon *daemon = context;
    struct store_account account;

    if (!store_account_get(daemon->store, instance, &account))
        return false;
    *ret = (struct ledger_account){
        .from = account.from,
        .until = account.until,
        .rest = account.rest,
        .sums = account.sums,
        .is_ready = account.is_ready,
    };
    return true;
}

bool daemon_resume_due(void *context, uint64_t task, struct ledger_due *ret)
{
    struct daemon *daemon = context;

    if (!store_owed_get(daemon->store, task, ret))
        return false;
    cap_books_resume(&daemon->caps, task, ret->cost);
    return true;
}

void daemon_note_arrival(struct daemon *daemon, const struct job_spec *job)
{
    const msec_t limit = job->estimate_ms / MSEC_PER_SEC;

    if (job->estimate_ms >= 0 && limit < no_limit)
        map_put(&daemon->limits, job->id, (uint32_t)limit);
}

static uint32_t number_of(struct names *names, const char *text)
{
    return text != NULL && text[0] != '\0' ? names_add(names, text, strlen(text)) : RUNTIME_UNKNOWN;
}

static void teach(void *context, const struct store_runtime *runtime)
{
    struct daemon *daemon = context;
    const struct runtime_traits traits = {
        .name = number_of(&daemon->job_names, runtime->name),
        .user = number_of(&daemon->users, runtime->user),
        .shape = RUNTIME_UNKNOWN, /* shapes are numbered again in each run */
        .tasks = runtime->tasks,
        .hour = runtime->hour,
        .limit = runtime->limit,
    };

    controller_teach(daemon->controller, &traits, runtime->runtime_ms);
}

static void teach_trace(struct daemon *daemon, const struct sacct_log *log)
{
    const struct trace *trace = &log->trace;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];
        const msec_t limit = job->estimate_ms / MSEC_PER_SEC;
        const msec_t submitted = log->start_s * MSEC_PER_SEC + job->arrival_ms;
        const struct runtime_traits traits = {
            .name = number_of(&daemon->job_names, names_text(&trace->names, job->name)),
            .user = number_of(&daemon->users, names_text(&trace->users, job->user)),
            .shape = RUNTIME_UNKNOWN,
            .tasks = job->task_count,
            .hour = (uint32_t)(submitted / MSEC_PER_HOUR % 24),
            .limit = job->estimate_ms >= 0 && limit < no_limit ? (uint32_t)limit : RUNTIME_UNKNOWN,
        };

        controller_teach(daemon->controller, &traits, job->work_ms);
    }
}

/* What the cluster did before there was Stint. */
static int teach_accounting(struct daemon *daemon, struct error *reterr)
{
    struct input_file file = { 0 };
    struct sacct_log log;
    struct error error = { "" };
    int rc = input_file_read(daemon->conf.accounting, &file, reterr);

    if (rc < 0)
        return rc;
    rc = sacct_read(file.text, file.length, SACCT_DEMAND_REQUESTED, &log, &error);
    input_file_done(&file);
    if (rc < 0)
        return error_set(reterr, rc, "%s: %s", daemon->conf.accounting, error.text);
    teach_trace(daemon, &log);
    LOG_INFO("learned from accounting file=%s jobs=%u", daemon->conf.accounting,
             log.trace.job_count);
    sacct_done(&log);
    return 0;
}

/* The older first: what is learned later weighs more. */
int daemon_teach(struct daemon *daemon, struct error *reterr)
{
    int rc = 0;

    if (!daemon->conf.learn)
        return 0;
    if (daemon->conf.accounting != NULL)
        rc = teach_accounting(daemon, reterr);
    if (rc < 0)
        return rc;
    return store_each_runtime(daemon->store, STORE_RUNTIMES_MAX, teach, daemon, reterr);
}

/*
 * Boot times. A catalogue has a guess; the machines that became ready have the truth.
 */

enum { BOOTS_READ = 500 };

struct boot_lesson {
    const struct catalogue *catalogue;
    struct boots boots;
};

static void learn_boot(void *context, const struct store_boot *boot)
{
    struct boot_lesson *lesson = context;
    const uint32_t type = catalogue_find_type(lesson->catalogue, boot->type, strlen(boot->type));

    /* What took hours was not a boot: nobody was there to see its end. */
    if (type < lesson->catalogue->type_count && boot->acquire_ms <= MSEC_PER_HOUR &&
        boot->setup_ms >= 0 && boot->setup_ms <= MSEC_PER_HOUR)
        boots_learn(&lesson->boots, type,
                    (struct boot_times){ .acquire = boot->acquire_ms, .setup = boot->setup_ms });
}

static uint32_t expect_boots(struct catalogue *catalogue, const struct boots *boots)
{
    uint32_t learned = 0;

    for (uint32_t i = 0; i < catalogue->type_count; i++) {
        const struct machine_type *type = &catalogue->types[i];
        struct boot_times times;

        if (!boots_expect(boots, i, &times))
            continue;
        catalogue_set_boot(catalogue, i, type->boot_count == 0 ? times.acquire : type->acquire_ms,
                           times.setup);
        learned++;
    }
    return learned;
}

/* The virtual world has no machines to learn from: theirs are the catalogue's times. */
void daemon_learn_boots(struct daemon *daemon)
{
    struct boot_lesson lesson = { .catalogue = &daemon->catalogue };
    struct error error = { "" };

    if (!daemon->conf.learn || daemon->shadow != NULL)
        return;
    boots_init(&lesson.boots, daemon->catalogue.type_count);
    if (store_each_boot(daemon->store, BOOTS_READ, learn_boot, &lesson, &error) < 0)
        LOG_WARNING("boot times cannot be learned: %s", error.text);

    const uint32_t learned = expect_boots(&daemon->catalogue, &lesson.boots);

    if (learned > 0 && !daemon->has_learned_boots)
        LOG_INFO("boot times are learned from past machines types=%u", learned);
    daemon->has_learned_boots = learned > 0;
    boots_done(&lesson.boots);
}

struct recall {
    struct daemon *daemon;
    struct offer_index index;
};

static void recall_rent(void *context, const struct store_rent *rent)
{
    const struct recall *recall = context;
    const uint32_t offer = offer_index_find(&recall->index, rent->offer);

    if (offer != OFFER_NONE) /* else the catalogue has changed */
        recall->daemon->cloud_kind->recall(recall->daemon->cloud, offer, rent->at, rent->closed_at,
                                           rent->was_refused);
}

int daemon_recall_rents(struct daemon *daemon, struct error *reterr)
{
    const msec_t since = daemon->now - daemon->cloud_kind->memory(daemon->cloud);
    struct recall recall = { .daemon = daemon };

    offer_index_init(&recall.index, &daemon->catalogue);

    const int rc = store_each_rent(daemon->store, since, recall_rent, &recall, reterr);

    offer_index_done(&recall.index);
    return rc;
}

/*
 * Bills.
 */

void daemon_on_bill(void *context, const struct view *view, uint32_t instance,
                    const struct ledger_bill *bill)
{
    struct daemon *daemon = context;

    daemon_budget_bill(daemon, view->instance.id[instance], bill);
    journal_bill(&daemon->journal, view->instance.id[instance], bill);
    LOG_DEBUG("machine billed name=%s%llu microdollars=%lld", daemon->conf.node_prefix,
              (unsigned long long)view->instance.id[instance], (long long)bill->sums.bill);
}

bool daemon_is_booked(void *context, uint64_t task)
{
    const struct daemon *daemon = context;

    return store_is_due(daemon->store, task);
}

bool daemon_is_settled(void *context, uint64_t instance)
{
    struct daemon *daemon = context;

    return store_is_settled(daemon->store, instance);
}

void daemon_note_found(struct daemon *daemon, const struct cloud_event *event)
{
    const struct catalogue *catalogue = &daemon->catalogue;
    char name[64];
    char words[SERVE_TEXT];

    if (event->offer >= catalogue->offer_count ||
        view_find_instance(controller_view(daemon->controller), event->instance) != ROW_NONE)
        return;

    const struct offer *offer = &catalogue->offers[event->offer];

    (void)snprintf(name, sizeof(name), "%s%llu", daemon->conf.node_prefix,
                   (unsigned long long)event->instance);
    (void)offer_index_words(catalogue, event->offer, words, sizeof(words));
    journal_instance(
        &daemon->journal,
        &(struct store_instance){
            .id = event->instance,
            .name = name,
            .offer = words,
            .type = catalogue_offer_type_name(catalogue, event->offer),
            .zone = offer->zone != NAME_NONE ? names_text(&catalogue->names, offer->zone) : NULL,
            .market = market_name(offer->market),
            .per_hour = price_at(&offer->price, event->at),
            .asked_at = event->billed_from >= 0 ? event->billed_from : event->at,
        });
}

/*
 * Counts. Launches and refusals are the gate's: it knows what really left.
 */

static void count_more(struct daemon *daemon, enum store_counter counter, uint64_t now,
                       uint64_t *before)
{
    if (now != *before)
        journal_count(&daemon->journal, counter, now - *before);
    *before = now;
}

static void count_money(struct daemon *daemon, enum store_counter counter, money_t now,
                        money_t *before)
{
    if (now > *before)
        journal_count(&daemon->journal, counter, (uint64_t)(now - *before));
    *before = now;
}

void daemon_note_counts(struct daemon *daemon)
{
    const struct controller_stats *now = controller_stats(daemon->controller);
    struct controller_stats *before = &daemon->counted.stats;
    static const enum store_counter evicted[EVICTION_CAUSES] = {
        [EVICTED_BY_NOTICE] = COUNT_EVICTED_BY_NOTICE,
        [EVICTED_BY_LOSS] = COUNT_EVICTED_BY_LOSS,
        [EVICTED_BY_MOVE] = COUNT_EVICTED_BY_MOVE,
        [EVICTED_BY_ENGINE] = COUNT_EVICTED_BY_ENGINE,
    };

    if (now->limited != before->limited && !daemon->control.rent_nothing)
        daemon->limited_at = daemon->now;
    count_more(daemon, COUNT_DECISIONS, now->decisions, &before->decisions);
    count_more(daemon, COUNT_BOOT_TIMEOUT, now->boot_timeouts, &before->boot_timeouts);
    count_more(daemon, COUNT_VANISHED, now->vanished, &before->vanished);
    for (uint32_t i = 0; i < EVICTION_CAUSES; i++)
        count_more(daemon, evicted[i], now->evicted[i], &before->evicted[i]);
    count_more(daemon, COUNT_ADOPTED, now->adopted, &before->adopted);
    count_more(daemon, COUNT_LATE_EVENTS, now->late_events, &before->late_events);
    count_more(daemon, COUNT_RATES, now->rates, &before->rates);
    count_more(daemon, COUNT_LIMITED, now->limited, &before->limited);
    count_more(daemon, COUNT_TAKEN, now->taken, &before->taken);
    count_money(daemon, COUNT_LOST_COST, now->lost_cost, &before->lost_cost);
    count_money(daemon, COUNT_EXPECTED_LOSS, now->expected_loss, &before->expected_loss);
    count_more(daemon, COUNT_NOTICE_SAVED, now->notice_saved, &before->notice_saved);
    count_more(daemon, COUNT_NOTICE_LOST, now->notice_lost, &before->notice_lost);
}
