/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/core.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/daemon_check.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"

/* Closings and bills wait this long for company, if no action waits for them: a commit is a write to
 * the disk. */
static const msec_t write_delay_ms = 100;

static const msec_t store_retry_ms = 1 * MSEC_PER_SEC;

/* What cannot be written for so long is no hiccup: a full disk, a broken one. */
static const msec_t store_patience_ms = 10 * MSEC_PER_SEC;

/* While machines of a previous run are sought, lists are asked for more often. */
static const msec_t seek_every_ms = 10 * MSEC_PER_SEC;

/* A list that has not ended by then is asked for again. */
static const msec_t list_patience_ms = 30 * MSEC_PER_SEC;

/* Reasons and closed intents are kept for a month, of runtimes as many as are taught. */
static const msec_t prune_every_ms = 1 * MSEC_PER_HOUR;
static const msec_t keep_ms = 720 * MSEC_PER_HOUR;

void core_tell_time(struct daemon *daemon, msec_t wall, msec_t monotonic)
{
    const msec_t ahead_min_ms = 1 * MSEC_PER_SEC;
    const bool was_ahead = daemon->is_ahead;

    daemon->monotonic = monotonic;
    daemon->now = steady_clock_read(&daemon->clock, wall, monotonic);
    daemon->is_ahead = daemon->now - wall >= ahead_min_ms;
    if (daemon->is_ahead && !was_ahead)
        LOG_WARNING(
            "the clock was set back seconds=%lld; stintd keeps its own time until the clock has "
            "caught up or stintd restarts",
            (long long)((daemon->now - wall) / MSEC_PER_SEC));
}

/*
 * The turn.
 */

static msec_t sooner(msec_t a, msec_t b)
{
    return a < b ? a : b;
}

static void hear(struct daemon *daemon, const struct daemon_event *event)
{
    if (event->is_cloud) {
        if (event->cloud.kind == CLOUD_FOUND)
            daemon_note_found(daemon, &event->cloud);
        gate_heard_cloud(daemon->gate, &event->cloud);
        controller_on_cloud(daemon->controller, &event->cloud);
        return;
    }
    if (event->engine.kind == ENGINE_JOB_ARRIVED)
        daemon_note_arrival(daemon, &event->engine.job);
    gate_heard_engine(daemon->gate, &event->engine);
    controller_on_engine(daemon->controller, &event->engine);
}

/* Events may bring events; those are heard in the same turn. */
static void hear_all(struct daemon *daemon)
{
    controller_tell_time(daemon->controller, daemon->now);
    for (uint32_t i = 0; i < daemon->event_count; i++) {
        const struct daemon_event event = daemon->events[i];

        hear(daemon, &event);
    }
    daemon->event_count = 0;
}

static void tick(struct daemon *daemon, msec_t now)
{
    const struct adapter_lines *engine = daemon_lines(daemon, CORE_ENGINE);
    const struct adapter_lines *cloud = daemon_lines(daemon, CORE_CLOUD);

    if (engine != NULL && engine->next_wake(daemon->engine) <= now)
        engine->tick(daemon->engine, now);
    if (cloud != NULL && cloud->next_wake(daemon->cloud) <= now)
        cloud->tick(daemon->cloud, now);
    if (daemon->shadow != NULL)
        shadow_tick(daemon->shadow, now);
}

/* The limits for the orders that follow. */
static void limit_sense(struct daemon *daemon)
{
    sense_limit(daemon->sense,
                &(struct sense_limits){
                    .instances = daemon->conf.max_instances,
                    .price_per_hour = daemon->conf.max_price_per_hour,
                    .rents_nothing = daemon->control.rent_nothing || daemon_budget_is_spent(daemon),
                });
}

/* Nothing is rented while the daemon drains, or while machines of a previous run may turn up: they
 * would come on top, beyond every limit. */
static void hold_rents(struct daemon *daemon)
{
    const bool holds = daemon->is_draining || gate_seeks(daemon->gate);

    if (daemon->control.rent_nothing == holds)
        return;
    daemon->control.rent_nothing = holds;
    controller_tune(daemon->controller, &daemon->control);
}

/* Whether the store has failed for so long that machines are returned without it. Giving back needs
 * no journal: done twice it is harmless, and what was forgotten is seen in the next list. */
static bool gives_back_only(const struct daemon *daemon)
{
    return daemon->store_failed && daemon_may_act(daemon) && !daemon->is_outdated &&
           daemon->now - daemon->store_failed_at >= store_patience_ms;
}

/* Whether lists are under way that may still end. */
static bool is_listing(const struct daemon *daemon, msec_t now)
{
    const msec_t cloud = controller_waits_for_cloud(daemon->controller);
    const msec_t engine = controller_waits_for_engine(daemon->controller);

    return (cloud >= 0 && now - cloud < list_patience_ms) ||
           (engine >= 0 && now - engine < list_patience_ms);
}

static void audit(struct daemon *daemon, msec_t now)
{
    const msec_t every = daemon->conf.timing.audit_ms;

    if (now < daemon->audit_at || (daemon->store_failed && !gives_back_only(daemon)) ||
        !daemon_is_connected(daemon))
        return;
    if (is_listing(daemon, now)) { /* another question would make both wait for longer */
        daemon->audit_at = now + sooner(every, store_retry_ms);
        return;
    }
    daemon->audit_at = now + (gate_seeks(daemon->gate) ? sooner(every, seek_every_ms) : every);
    controller_audit(daemon->controller, now);
}

static uint64_t monotonic_us(const struct daemon *daemon)
{
    return daemon->host.monotonic_us(daemon->host.context);
}

static void decide(struct daemon *daemon, msec_t now)
{
    const bool wants = controller_wants_decision(daemon->controller);
    const msec_t wake = controller_next_wake(daemon->controller);

    if (!controller_is_audited(daemon->controller) || !daemon_is_connected(daemon))
        return;
    if (daemon->store_failed) {
        if (gives_back_only(daemon))
            controller_drain(daemon->controller, now);
        return;
    }
    if (wants && daemon->decide_at == MSEC_NEVER)
        daemon->decide_at = now + daemon->conf.timing.decide_delay_ms;
    if (daemon->decide_at > now && wake > now)
        return;

    const uint64_t begin = monotonic_us(daemon);

    daemon->has_decided = true;
    daemon_let_rents_wait(daemon, now);
    daemon_count_budget(daemon, true);
    daemon_count_caps(daemon);
    limit_sense(daemon);
    if (daemon_budget_is_spent(daemon))
        gate_withdraw_rents(daemon->gate);
    if (daemon->is_draining || daemon_budget_is_spent(daemon))
        controller_drain(daemon->controller, now);
    else
        controller_decide(daemon->controller, now);
    serve_note_decision(&daemon->world, monotonic_us(daemon) - begin);
    daemon->decide_at = MSEC_NEVER;
}

static void store_is_good(struct daemon *daemon)
{
    if (daemon->store_failed)
        LOG_INFO("store can be written again; continuing");
    daemon->store_failed = false;
    daemon->store_fault[0] = '\0';
}

static void store_is_bad(struct daemon *daemon, const struct error *error, msec_t now)
{
    if (!daemon->store_failed) {
        LOG_ERROR(
            "store cannot be written, so Stint rents and places nothing until it can; it returns "
            "empty machines after seconds=%lld: %s",
            (long long)(store_patience_ms / MSEC_PER_SEC), error->text);
        daemon->store_failed_at = now;
    }
    daemon->store_failed = true;
    daemon->store_retry_at = now + store_retry_ms;
    (void)snprintf(daemon->store_fault, sizeof(daemon->store_fault), "%s", error->text);
}

/* What became of the transaction; true: actions may pass. */
static bool written(struct daemon *daemon, int rc, const struct error *error)
{
    if (rc < 0) {
        store_is_bad(daemon, error, daemon->now);
        return false;
    }
    store_is_good(daemon);
    daemon->write_at = MSEC_NEVER;
    return true;
}

enum core_write core_write_begin(struct daemon *daemon)
{
    const msec_t now = daemon->now;
    struct error error = { "" };
    const bool has_acts = gate_has_acts(daemon->gate);
    const uint64_t next = controller_next_key(daemon->controller);

    if (has_acts && next != daemon->noted_key) {
        journal_key(&daemon->journal, next);
        daemon->noted_key = next;
    }
    if (daemon->journal.count > 0 && daemon->write_at == MSEC_NEVER)
        daemon->write_at = now + write_delay_ms;
    if (daemon->store_failed && now < daemon->store_retry_at)
        return CORE_NOT_WRITTEN;
    if (!has_acts && !daemon->store_failed && now < daemon->write_at && !daemon->is_stopping)
        return CORE_NOT_WRITTEN;
    daemon_note_books(daemon);
    daemon_note_risks(daemon);

    const int rc = journal_write_begin(&daemon->journal, daemon->store, &error);

    if (rc > 0)
        return CORE_WRITING;
    return written(daemon, rc, &error) ? CORE_WRITTEN : CORE_NOT_WRITTEN;
}

void core_write_run(struct daemon *daemon)
{
    store_commit_run(daemon->store);
}

bool core_write_end(struct daemon *daemon)
{
    struct error error = { "" };
    const int rc = journal_write_end(&daemon->journal, daemon->store, &error);

    return written(daemon, rc, &error);
}

static void prune(struct daemon *daemon, msec_t now)
{
    struct error error = { "" };

    if (now < daemon->prune_at || daemon->store_failed)
        return;
    daemon->prune_at = now + prune_every_ms;
    store_begin(daemon->store);
    store_prune(daemon->store, now - keep_ms);
    if (store_commit(daemon->store, &error) < 0)
        store_is_bad(daemon, &error, now);
    else
        daemon_learn_boots(daemon);
}

msec_t core_next_wake(const struct daemon *daemon)
{
    const bool can_act = !daemon->store_failed && daemon_is_connected(daemon);
    const struct adapter_lines *engine = daemon_lines(daemon, CORE_ENGINE);
    const struct adapter_lines *cloud = daemon_lines(daemon, CORE_CLOUD);
    msec_t wake = engine != NULL ? engine->next_wake(daemon->engine) : MSEC_NEVER;

    if (daemon->event_count > 0) /* the gate may have reported something */
        return daemon->now;
    if (cloud != NULL)
        wake = sooner(wake, cloud->next_wake(daemon->cloud));
    if (daemon->shadow != NULL)
        wake = sooner(wake, shadow_next_wake(daemon->shadow));
    if (can_act)
        wake = sooner(wake, daemon->audit_at);
    if (can_act && controller_is_audited(daemon->controller))
        wake = sooner(wake, sooner(daemon->decide_at, controller_next_wake(daemon->controller)));
    wake = sooner(wake, sooner(daemon->watch_at, daemon->bound_at));
    if (budget_has_limits(&daemon->budget))
        wake = sooner(wake, daemon->budget_at);
    if (daemon->conf.caps.count > 0)
        wake = sooner(wake, daemon->caps_at);
    if (daemon->store_failed) /* nothing is pruned either */
        return sooner(wake, daemon->store_retry_at);
    return sooner(wake, sooner(daemon->write_at, daemon->prune_at));
}

/* A node of ours that is down and belongs to no machine was left by a previous run: the engine may
 * still wait for it to clear a job away. */
static void retire_stray(void *context, uint64_t instance, bool is_up)
{
    struct daemon *daemon = context;
    const struct engine_port *engine = &daemon->control.engine;

    if (is_up || view_find_instance(controller_view(daemon->controller), instance) != ROW_NONE)
        return;
    LOG_INFO("removing a node left over from an earlier run name=%s%llu", daemon->conf.node_prefix,
             (unsigned long long)instance);
    engine->ops->forget(engine->self, instance);
}

/* The first audit, or another one, has ended. */
static void audit_ended(struct daemon *daemon)
{
    daemon->world.audited_at = daemon->now;
    if (!daemon->world.ready)
        LOG_INFO("first audit ended machines=%u tasks=%u",
                 controller_view(daemon->controller)->instance.living,
                 controller_view(daemon->controller)->task.living);
    if (daemon->conf.mode == CONF_ACT)
        daemon->engine_kind->each_stray(daemon->engine, retire_stray, daemon);
}

void core_think(struct daemon *daemon)
{
    const msec_t now = daemon->now;
    const uint64_t audits = controller_stats(daemon->controller)->audits;

    daemon->has_decided = false;
    tick(daemon, now);
    hear_all(daemon);
    if (controller_stats(daemon->controller)->audits != audits)
        audit_ended(daemon);
    audit(daemon, now);
    hold_rents(daemon);
    decide(daemon, now);
    gate_note(daemon->gate, now);
    daemon_note_brake(daemon);
    daemon_note_counts(daemon);
}

bool core_write(struct daemon *daemon)
{
    const enum core_write how = core_write_begin(daemon);

    if (how != CORE_WRITING)
        return how == CORE_WRITTEN;
    core_write_run(daemon);
    return core_write_end(daemon);
}

static void flush(struct daemon *daemon)
{
    const struct adapter_lines *engine = daemon_lines(daemon, CORE_ENGINE);
    const struct adapter_lines *cloud = daemon_lines(daemon, CORE_CLOUD);

    if (engine != NULL)
        engine->flush(daemon->engine, daemon->now);
    if (cloud != NULL)
        cloud->flush(daemon->cloud, daemon->now);
}

/* A process that was stopped in between, and whose lease is over, keeps its orders until it has it again. */
void core_pass(struct daemon *daemon)
{
    if (!daemon_may_act(daemon) || daemon->is_outdated)
        return;
    gate_pass(daemon->gate);
    flush(daemon);
}

bool core_is_outdated(const struct daemon *daemon)
{
    return daemon->is_outdated;
}

void core_rest(struct daemon *daemon)
{
    if (gives_back_only(daemon)) {
        gate_pass_unwritten(daemon->gate, daemon->now);
        flush(daemon);
    }
    prune(daemon, daemon->now);
    daemon_count_budget(daemon, false);
    daemon_count_caps(daemon);
    daemon_refresh_world(daemon);
    daemon_watch_findings(daemon);
    daemon_seek_bound(daemon);
}

void core_stop(struct daemon *daemon)
{
    daemon->is_stopping = true;
    if (daemon->shadow != NULL) {
        shadow_end(daemon->shadow, daemon->now);
        hear_all(daemon);
    }
    daemon_note_counts(daemon);
    daemon->store_retry_at = daemon->now;
    (void)core_write(daemon);
}

/*
 * Reload.
 */

static void fill_control(struct daemon *daemon)
{
    const struct conf *conf = &daemon->conf;
    struct controller_config *control = &daemon->control;

    control->policy = conf->policy;
    memcpy(control->option, conf->option, sizeof(control->option));
    control->estimates = conf->learn ? ESTIMATES_LEARNED : ESTIMATES_GIVEN;
    control->default_estimate_ms = conf->default_estimate_ms;
    control->default_rate = conf->engine.kind->default_rate;
    control->ready_proves = conf->engine.kind->ready_proves;
    control->notice_ms = conf->cloud.kind->notice_ms;
    control->notice_ppm = conf->cloud.kind->notice_ppm;
    control->refused_block_ms = conf->timing.refused_ms;
    control->short_pool = conf->short_pool;
    control->max_instances = conf->max_instances;
    control->max_price_per_hour = conf->max_price_per_hour;
    control->caps = conf->caps.count > 0 ? &daemon->caps.caps : NULL;
    control->replace_percent = conf->replace_percent;
    control->replace_after_ms = conf->replace_after_ms;
    control->queue_ahead_ms = conf->timing.queue_ahead_ms;
    control->queue_ahead_most = conf->timing.queue_ahead_most;
    control->boot_timeout_ms = conf->timing.boot_timeout_ms;
    control->place_retry_ms = conf->timing.place_retry_ms;
    control->stop_ms = conf->engine.kind->lags(conf->engine.settings).stop_ms;
}

/* Take over what may change; texts stay those of the first configuration. */
static void adopt_conf(struct daemon *daemon, const struct conf *conf)
{
    daemon->conf.mode = conf->mode;
    daemon->conf.log_level = conf->log_level;
    daemon->conf.policy = conf->policy;
    memcpy(daemon->conf.option, conf->option, sizeof(conf->option));
    daemon->conf.max_instances = conf->max_instances;
    daemon->conf.max_price_per_hour = conf->max_price_per_hour;
    daemon->conf.max_per_day = conf->max_per_day;
    daemon->conf.max_per_month = conf->max_per_month;
    daemon->conf.warn_percent = conf->warn_percent;
    daemon->conf.replace_percent = conf->replace_percent;
    daemon->conf.replace_after_ms = conf->replace_after_ms;
    daemon_caps_tune(daemon, &conf->caps);
    daemon->budget_at = daemon->now;
    daemon->conf.timing = conf->timing;
}

int daemon_reload(struct daemon *daemon, char *ret, size_t size, struct error *reterr)
{
    struct conf conf = { 0 };
    int rc = conf_load(daemon->path, &conf, reterr);

    if (rc < 0)
        return rc;

    const char *fixed = conf_fixed_difference(&daemon->conf, &conf);

    if (fixed != NULL) {
        rc = error_set(reterr, -EBUSY,
                       "%s: '%s' cannot change while stintd runs; restart it to use the new value",
                       daemon->path, fixed);
        conf_done(&conf);
        return rc;
    }
    adopt_conf(daemon, &conf);
    conf_done(&conf);
    log_set_level(daemon->conf.log_level);
    gate_ask(daemon->gate, daemon->conf.mode == CONF_ADVISE);
    fill_control(daemon);
    controller_tune(daemon->controller, &daemon->control);
    daemon->audit_at = sooner(daemon->audit_at, daemon->now + daemon->conf.timing.audit_ms);
    daemon_fill_world(daemon);
    (void)snprintf(ret, size, "mode %s, policy %s", conf_mode_word(daemon->conf.mode),
                   daemon->conf.policy->name);
    LOG_INFO("configuration read again mode=%s policy=%s", conf_mode_word(daemon->conf.mode),
             daemon->conf.policy->name);
    return 0;
}

static int reload(void *context, char *ret, size_t size, struct error *reterr)
{
    return daemon_reload(context, ret, size, reterr);
}

/*
 * Creation.
 */

static msec_t settle_of(const struct daemon *daemon)
{
    return daemon->cloud != NULL ? daemon->cloud_kind->settle_ms(daemon->conf.cloud.settings) : 0;
}

static void on_withdrawn(void *context, uint64_t instance)
{
    struct daemon *daemon = context;

    controller_rent_withdrawn(daemon->controller, instance, daemon->now);
}

static void on_withheld(void *context, const struct gate_act *act, enum sense_verdict why)
{
    struct daemon *daemon = context;

    LOG_ERROR("an order was withheld, because %s order=%s task=%llu machine=%s%llu key=%llu",
              sense_text(why), gate_act_word(act->kind), (unsigned long long)act->task,
              daemon->conf.node_prefix, (unsigned long long)act->instance,
              (unsigned long long)act->key);
    daemon->withheld = (struct daemon_withheld){ .at = daemon->now, .act = *act, .why = why };
    journal_count(&daemon->journal, COUNT_WITHHELD, 1);
}

static void create_gate(struct daemon *daemon)
{
    const bool is_shadow = daemon->shadow != NULL;

    daemon->sense = sense_create(&daemon->catalogue, &daemon->shapes);
    daemon->gate = gate_create(&(struct gate_config){
        .engine = is_shadow ? shadow_engine_port(daemon->shadow)
                            : daemon->engine_kind->port(daemon->engine),
        .cloud = daemon_cloud_port(daemon),
        .journal = &daemon->journal,
        .catalogue = &daemon->catalogue,
        .node_prefix = daemon->conf.node_prefix,
        .asks = daemon->conf.mode == CONF_ADVISE,
        .settle_ms = settle_of(daemon),
        .sense = daemon->sense,
        .on_withdrawn = on_withdrawn,
        .on_engine = daemon_on_engine,
        .on_cloud = daemon_on_cloud,
        .on_withheld = on_withheld,
        .context = daemon,
    });
}

static void create_controller(struct daemon *daemon)
{
    shapes_bind(&daemon->shapes, &daemon->catalogue);
    daemon->control = (struct controller_config){
        .catalogue = &daemon->catalogue,
        .shapes = &daemon->shapes,
        .engine = gate_engine_port(daemon->gate),
        .cloud = gate_cloud_port(daemon->gate),
        .first_key = store_next_key(daemon->store),
        .returns_strangers = daemon->shadow == NULL,
        .starts_slowly = daemon->shadow == NULL,
        .brake = daemon_kept_brake(daemon),
        .unknown_offer = daemon->unknown_offer,
        .on_plan = daemon_on_plan,
        .on_settled = daemon_on_settled,
        .on_bill = daemon_on_bill,
        .is_settled = daemon_is_settled,
        .resume_account = daemon_resume_account,
        .resume_due = daemon_resume_due,
        .context = daemon,
    };
    fill_control(daemon);
    daemon->noted_key = daemon->control.first_key;
    daemon->controller = controller_create(&daemon->control);
}

static void restore_intent(void *context, const struct store_intent *intent)
{
    struct daemon *daemon = context;

    gate_restore(daemon->gate, intent);
    if (intent->kind == STORE_GIVE_BACK)
        controller_remember_return(daemon->controller, intent->instance);
}

/* What a previous run left. A virtual world starts over, so that what it meant is void. */
static int restore(struct daemon *daemon, struct error *reterr)
{
    int rc = daemon_teach(daemon, reterr);

    if (rc == 0)
        rc = daemon_resume_risks(daemon, daemon->now, reterr);
    if (rc == 0)
        rc = daemon_remember_machines(daemon, reterr);
    if (rc == 0)
        rc = store_each_open_intent(daemon->store, restore_intent, daemon, reterr);
    if (rc == 0 && daemon->cloud != NULL && daemon->cloud_kind->recall != NULL)
        rc = daemon_recall_rents(daemon, reterr);
    if (rc == 0 && gate_open_count(daemon->gate) > 0)
        LOG_INFO("the previous run left intents open count=%u", gate_open_count(daemon->gate));
    return rc;
}

/* The types as they are before the engine takes a part of them. */
static void keep_whole(struct daemon *daemon)
{
    daemon->whole_count = daemon->catalogue.type_count;
    daemon->whole = mem_alloc(daemon->whole_count, sizeof(*daemon->whole));
    for (uint32_t i = 0; i < daemon->whole_count; i++)
        daemon->whole[i] = daemon->catalogue.types[i].capacity;
}

int core_start(struct daemon *daemon, struct error *reterr)
{
    struct catalogue catalogue;
    int rc = daemon_check_catalogue(&daemon->conf, &catalogue, reterr);

    if (rc < 0)
        return rc;
    catalogue_done(&daemon->catalogue);
    daemon->catalogue = catalogue;
    catalogue_set_most(&daemon->catalogue, RES_PODS, daemon->engine_kind->pods);
    catalogue_set_most(&daemon->catalogue, RES_VOLUMES, daemon->engine_kind->volumes);
    keep_whole(daemon);
    rc = daemon_open_state(daemon, reterr);
    if (rc == 0)
        rc = daemon_own_offers(daemon, reterr);
    if (rc == 0)
        rc = daemon_keep_offers(daemon, reterr);
    if (rc < 0)
        return rc;
    daemon_caps_start(daemon);
    rc = daemon_create_adapters(daemon, reterr);
    if (rc < 0)
        return rc;
    create_gate(daemon);
    create_controller(daemon);
    rc = restore(daemon, reterr);
    if (rc < 0)
        return rc;
    serve_world_init(&daemon->world);
    daemon->world.reload = reload;
    daemon_fill_world(daemon);
    daemon_own_machines(daemon);
    return 0;
}

void core_close(struct daemon *daemon)
{
    if (daemon->engine != NULL)
        daemon->engine_kind->destroy(daemon->engine);
    if (daemon->cloud != NULL)
        daemon->cloud_kind->destroy(daemon->cloud);
    daemon->engine = NULL;
    daemon->cloud = NULL;
}

void core_destroy(struct daemon *daemon)
{
    serve_world_done(&daemon->world);
    view_bound_destroy(daemon->bound);
    controller_destroy(daemon->controller);
    gate_destroy(daemon->gate);
    sense_destroy(daemon->sense);
    shadow_destroy(daemon->shadow);
    core_close(daemon);
    if (daemon->store != NULL)
        store_close(daemon->store);
    journal_done(&daemon->journal);
    map_done(&daemon->limits);
    cap_books_done(&daemon->caps);
    names_done(&daemon->users);
    names_done(&daemon->job_names);
    shapes_done(&daemon->shapes);
    catalogue_done(&daemon->catalogue);
    arena_done(&daemon->arena);
    arena_done(&daemon->findings_arena);
    mem_free(daemon->events);
    mem_free(daemon->whole);
    conf_done(&daemon->conf);
    mem_free(daemon);
}

struct daemon *core_create(const char *path, struct conf *conf, const struct core_host *host)
{
    struct daemon *daemon = mem_alloc(1, sizeof(*daemon));

    daemon->path = path;
    daemon->host = *host;
    daemon->conf = *conf;
    daemon->engine_kind = conf->engine.kind;
    daemon->cloud_kind = conf->cloud.kind;
    *conf = (struct conf){ 0 };
    arena_init(&daemon->arena);
    arena_init(&daemon->findings_arena);
    catalogue_init(&daemon->catalogue);
    shapes_init(&daemon->shapes);
    names_init(&daemon->users);
    names_init(&daemon->job_names);
    map_init(&daemon->limits);
    journal_init(&daemon->journal);
    daemon->decide_at = MSEC_NEVER;
    daemon->write_at = MSEC_NEVER;
    daemon->limited_at = -1;
    daemon->withheld.at = -1;
    daemon->is_budget_stale = true;
    return daemon;
}
