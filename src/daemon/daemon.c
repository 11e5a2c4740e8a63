/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/daemon.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <systemd/sd-daemon.h>

#include "base/mem.h"
#include "daemon/daemon_check.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"

/* Closings and bills wait this long for company, if no act waits for them: a commit is a write to
 * the disk. */
static const msec_t write_delay_ms = 100;

static const msec_t store_retry_ms = 1 * MSEC_PER_SEC;

/* EC2 may show an instance only some time after it was asked for: as long as aws_timing.settle, and so
 * long by default. Meanwhile lists are asked for more often. */
static const msec_t settle_ms = 60 * MSEC_PER_SEC;
static const msec_t seek_every_ms = 10 * MSEC_PER_SEC;

/* Reasons and closed intents are kept for a month, of runtimes as many as are taught. */
static const msec_t prune_every_ms = 1 * MSEC_PER_HOUR;
static const msec_t keep_ms = 720 * MSEC_PER_HOUR;

msec_t daemon_now(struct daemon *daemon)
{
    const msec_t ahead_min_ms = 1 * MSEC_PER_SEC;
    struct timespec time;

    if (clock_gettime(CLOCK_REALTIME, &time) == 0) {
        const msec_t now = (msec_t)time.tv_sec * MSEC_PER_SEC + time.tv_nsec / 1000000;
        const bool was_ahead = daemon->is_ahead;

        daemon->now = steady_clock_read(&daemon->clock, now, (msec_t)(uv_hrtime() / 1000000));
        daemon->is_ahead = daemon->now - now >= ahead_min_ms;
        if (daemon->is_ahead && !was_ahead)
            LOG_WARNING(
                "the clock was set back seconds=%lld; going on without that until the clock "
                "has caught up or stintd is started again",
                (long long)((daemon->now - now) / MSEC_PER_SEC));
    }
    return daemon->now;
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
    for (uint32_t i = 0; i < daemon->event_count; i++) {
        const struct daemon_event event = daemon->events[i];

        hear(daemon, &event);
    }
    daemon->event_count = 0;
}

static void tick(struct daemon *daemon, msec_t now)
{
    if (slurm_engine_next_wake(daemon->engine) <= now)
        slurm_engine_tick(daemon->engine, now);
    if (daemon->cloud != NULL && local_cloud_next_wake(daemon->cloud) <= now)
        local_cloud_tick(daemon->cloud, now);
    if (daemon->shadow != NULL)
        shadow_tick(daemon->shadow, now);
}

/* Nothing is rented while the daemon drains, or while machines of an earlier life may turn up: they
 * would come on top, beyond every limit. */
static void hold_rents(struct daemon *daemon)
{
    const bool holds = daemon->is_draining || gate_seeks(daemon->gate);

    if (daemon->control.rent_nothing == holds)
        return;
    daemon->control.rent_nothing = holds;
    controller_tune(daemon->controller, &daemon->control);
}

static void audit(struct daemon *daemon, msec_t now)
{
    const msec_t every = daemon->conf.timing.audit_ms;

    if (now < daemon->audit_at || daemon->store_failed || !daemon_is_connected(daemon))
        return;
    daemon->audit_at = now + (gate_seeks(daemon->gate) ? sooner(every, seek_every_ms) : every);
    controller_audit(daemon->controller, now);
}

static uint64_t monotonic_us(void)
{
    return uv_hrtime() / 1000;
}

static void decide(struct daemon *daemon, msec_t now)
{
    const bool wants = controller_wants_decision(daemon->controller);
    const msec_t wake = controller_next_wake(daemon->controller);

    if (!controller_is_audited(daemon->controller) || daemon->store_failed ||
        !daemon_is_connected(daemon))
        return;
    if (wants && daemon->decide_at == MSEC_NEVER)
        daemon->decide_at = now + daemon->conf.timing.decide_delay_ms;
    if (daemon->decide_at > now && wake > now)
        return;

    const uint64_t begin = monotonic_us();

    daemon_let_rents_wait(daemon, now);
    controller_decide(daemon->controller, now);
    if (daemon->is_draining)
        controller_drain(daemon->controller);
    serve_note_decision(&daemon->world, monotonic_us() - begin);
    daemon->decide_at = MSEC_NEVER;
}

static void store_is_good(struct daemon *daemon)
{
    if (daemon->store_failed)
        LOG_INFO("store can be written again; going on");
    daemon->store_failed = false;
    daemon->store_fault[0] = '\0';
}

static void store_is_bad(struct daemon *daemon, const struct error *error, msec_t now)
{
    if (!daemon->store_failed)
        LOG_ERROR("store cannot be written, so nothing is done until it can: %s", error->text);
    daemon->store_failed = true;
    daemon->store_retry_at = now + store_retry_ms;
    (void)snprintf(daemon->store_fault, sizeof(daemon->store_fault), "%s", error->text);
}

/* Write what there is to write; true: acts may pass. */
static bool write_journal(struct daemon *daemon, msec_t now)
{
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
        return false;
    if (!has_acts && !daemon->store_failed && now < daemon->write_at && !daemon->is_stopping)
        return false;
    daemon_note_books(daemon);
    if (journal_write(&daemon->journal, daemon->store, &error) < 0) {
        store_is_bad(daemon, &error, now);
        return false;
    }
    store_is_good(daemon);
    daemon->write_at = MSEC_NEVER;
    return true;
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

static void on_timer(uv_timer_t *timer)
{
    struct daemon *daemon = timer->data;

    if (daemon->http != NULL)
        serve_http_run(daemon->http);
}

static msec_t next_wake(const struct daemon *daemon)
{
    const bool can_act = !daemon->store_failed && daemon_is_connected(daemon);
    msec_t wake = slurm_engine_next_wake(daemon->engine);

    if (daemon->cloud != NULL)
        wake = sooner(wake, local_cloud_next_wake(daemon->cloud));
    if (daemon->shadow != NULL)
        wake = sooner(wake, shadow_next_wake(daemon->shadow));
    if (can_act)
        wake = sooner(wake, daemon->audit_at);
    if (can_act && controller_is_audited(daemon->controller))
        wake = sooner(wake, sooner(daemon->decide_at, controller_next_wake(daemon->controller)));
    wake = sooner(wake, daemon->store_failed ? daemon->store_retry_at : daemon->write_at);
    return sooner(wake, daemon->prune_at);
}

static void set_timer(struct daemon *daemon, msec_t now)
{
    const int http_ms = daemon->http != NULL ? serve_http_timeout_ms(daemon->http) : -1;
    msec_t wait = next_wake(daemon) - now;

    if (http_ms >= 0 && http_ms < wait)
        wait = http_ms;
    if (wait < 0 || daemon->event_count > 0) /* the gate may have told something */
        wait = 0;
    (void)uv_timer_start(&daemon->timer, on_timer, (uint64_t)wait, 0);
}

/* A node of ours that is down and belongs to no machine was left by an earlier life: Slurm may still
 * wait for it to clear a job away. */
static void retire_stray(void *context, uint64_t instance, bool is_up)
{
    struct daemon *daemon = context;
    const struct engine_port *engine = &daemon->control.engine;

    if (is_up || view_find_instance(controller_view(daemon->controller), instance) != ROW_NONE)
        return;
    LOG_INFO("node left over, removing it name=%s%llu", daemon->conf.node_prefix,
             (unsigned long long)instance);
    engine->ops->retire(engine->self, instance);
}

/* Before the loop sleeps: work off what happened since. */
static void turn(struct daemon *daemon)
{
    const msec_t now = daemon_now(daemon);
    const uint64_t begin = monotonic_us();
    const uint64_t audits = controller_stats(daemon->controller)->audits;

    tick(daemon, now);
    hear_all(daemon);
    if (controller_stats(daemon->controller)->audits != audits) {
        daemon->world.audited_at = now;
        if (!daemon->world.ready)
            LOG_INFO("first audit ended machines=%u tasks=%u",
                     controller_view(daemon->controller)->instance.living,
                     controller_view(daemon->controller)->task.living);
        if (daemon->conf.mode == CONF_ACT)
            slurm_engine_each_stray(daemon->engine, retire_stray, daemon);
    }
    audit(daemon, now);
    hold_rents(daemon);
    decide(daemon, now);
    gate_note(daemon->gate, now);
    daemon_note_counts(daemon);
    if (write_journal(daemon, now)) {
        gate_pass(daemon->gate);
        slurm_engine_flush(daemon->engine, now);
        if (daemon->cloud != NULL)
            local_cloud_flush(daemon->cloud, now);
    }
    prune(daemon, now);
    daemon_refresh_world(daemon);
    set_timer(daemon, now);
    if (monotonic_us() - begin > daemon->world.turn_max_us)
        daemon->world.turn_max_us = monotonic_us() - begin;
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct daemon *daemon = prepare->data;

    if (!daemon->is_stopping)
        turn(daemon);
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
    control->default_rate = 1.0; /* Slurm gives each task its own processors */
    control->refused_block_ms = conf->timing.refused_ms;
    control->max_instances = conf->max_instances;
    control->max_price_per_hour = conf->max_price_per_hour;
    control->queue_ahead_ms = conf->timing.queue_ahead_ms;
    control->queue_ahead_most = conf->timing.queue_ahead_most;
    control->boot_timeout_ms = conf->timing.boot_timeout_ms;
    control->place_retry_ms = conf->timing.place_retry_ms;
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

/*
 * Signals, systemd, HTTP.
 */

static void close_any(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* Write down what is known, then let go of everything; the loop ends when all handles have. */
static void stop(struct daemon *daemon)
{
    const msec_t now = daemon_now(daemon);

    if (daemon->is_stopping)
        return;
    LOG_INFO("stopping; machines and jobs stay as they are");
    (void)sd_notify(0, "STOPPING=1");
    daemon->is_stopping = true;
    if (daemon->shadow != NULL) {
        shadow_end(daemon->shadow, now);
        hear_all(daemon);
    }
    daemon_note_counts(daemon);
    daemon->store_retry_at = now;
    (void)write_journal(daemon, now); /* acts that were not handed over are not, on purpose */
    link_close(daemon->engine_link);
    if (daemon->cloud_link != NULL)
        link_close(daemon->cloud_link);
    aws_cloud_destroy(daemon->aws);
    daemon->aws = NULL;
    close_any(&daemon->prepare);
    close_any(&daemon->timer);
    close_any(&daemon->watchdog);
    for (int i = 0; i < 3; i++)
        close_any(&daemon->signals[i]);
    if (daemon->has_http_poll)
        close_any(&daemon->http_poll);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;
    struct error error = { "" };
    char changed[256];

    if (number != SIGHUP) {
        stop(daemon);
        return;
    }
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)monotonic_us());
    if (daemon_reload(daemon, changed, sizeof(changed), &error) < 0)
        LOG_ERROR("configuration not taken over: %s", error.text);
    (void)sd_notify(0, "READY=1");
}

static void on_watchdog(uv_timer_t *timer)
{
    const struct daemon *daemon = timer->data;
    const struct view *view = controller_view(daemon->controller);

    (void)sd_notifyf(0, "WATCHDOG=1\nSTATUS=mode %s, %u machines, %u tasks",
                     conf_mode_word(daemon->conf.mode), view->instance.living, view->task.living);
}

static void on_http(uv_poll_t *handle, int status, int events)
{
    struct daemon *daemon = handle->data;

    (void)status;
    (void)events;
    serve_http_run(daemon->http);
}

/*
 * Creation.
 */

static msec_t settle_of(const struct daemon *daemon)
{
    const msec_t given = daemon->conf.cloud.aws.timing.settle;

    if (daemon->aws == NULL)
        return 0; /* a list of the others is the truth */
    return given > 0 ? given : settle_ms;
}

static void on_withdrawn(void *context, uint64_t instance)
{
    struct daemon *daemon = context;

    controller_rent_withdrawn(daemon->controller, instance, daemon_now(daemon));
}

static void create_gate(struct daemon *daemon)
{
    const bool is_shadow = daemon->shadow != NULL;

    daemon->gate = gate_create(&(struct gate_config){
        .engine =
            is_shadow ? shadow_engine_port(daemon->shadow) : slurm_engine_port(daemon->engine),
        .cloud = daemon_cloud_port(daemon),
        .journal = &daemon->journal,
        .catalogue = &daemon->catalogue,
        .node_prefix = daemon->conf.node_prefix,
        .asks = daemon->conf.mode == CONF_ADVISE,
        .settle_ms = settle_of(daemon),
        .on_withdrawn = on_withdrawn,
        .on_engine = daemon_on_engine,
        .on_cloud = daemon_on_cloud,
        .context = daemon,
    });
}

static void create_controller(struct daemon *daemon)
{
    daemon->control = (struct controller_config){
        .catalogue = &daemon->catalogue,
        .shapes = &daemon->shapes,
        .engine = gate_engine_port(daemon->gate),
        .cloud = gate_cloud_port(daemon->gate),
        .first_key = store_next_key(daemon->store),
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
}

/* What an earlier life left. A virtual world begins anew, so that what it meant is void. */
static int restore(struct daemon *daemon, struct error *reterr)
{
    int rc = daemon_teach(daemon, reterr);

    if (rc == 0)
        rc = store_each_open_intent(daemon->store, restore_intent, daemon, reterr);
    if (rc == 0 && daemon->aws != NULL)
        rc = daemon_recall_rents(daemon, reterr);
    if (rc == 0 && gate_open_count(daemon->gate) > 0)
        LOG_INFO("an earlier life left intents open count=%u", gate_open_count(daemon->gate));
    return rc;
}

static int start_http(struct daemon *daemon, struct error *reterr)
{
    const struct conf_http *http = &daemon->conf.http;
    const struct serve_http_config config = {
        .socket = http->socket,
        .socket_mode = http->socket_mode,
        .listen = http->listen,
        .certificate = http->tls_certificate,
        .key = http->tls_key,
        .token_file = http->token_file,
    };
    int rc = serve_http_start(&config, &daemon->world, &daemon->http, reterr);

    if (rc < 0)
        return rc;
    rc = uv_poll_init(&daemon->loop, &daemon->http_poll, serve_http_fd(daemon->http));
    if (rc < 0)
        return error_set(reterr, rc, "cannot wait for HTTP: %s", uv_strerror(rc));
    daemon->has_http_poll = true;
    daemon->http_poll.data = daemon;
    rc = uv_poll_start(&daemon->http_poll, UV_READABLE, on_http);
    return rc < 0 ? error_set(reterr, rc, "cannot wait for HTTP: %s", uv_strerror(rc)) : 0;
}

static void start_loop(struct daemon *daemon)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
    uint64_t watchdog_us = 0;

    (void)uv_prepare_init(&daemon->loop, &daemon->prepare);
    daemon->prepare.data = daemon;
    (void)uv_prepare_start(&daemon->prepare, on_prepare);
    (void)uv_timer_init(&daemon->loop, &daemon->timer);
    daemon->timer.data = daemon;
    for (int i = 0; i < 3; i++) {
        (void)uv_signal_init(&daemon->loop, &daemon->signals[i]);
        daemon->signals[i].data = daemon;
        (void)uv_signal_start(&daemon->signals[i], on_signal, numbers[i]);
    }
    (void)uv_timer_init(&daemon->loop, &daemon->watchdog);
    daemon->watchdog.data = daemon;
    if (sd_watchdog_enabled(0, &watchdog_us) > 0 && watchdog_us > 4000)
        (void)uv_timer_start(&daemon->watchdog, on_watchdog, 0, watchdog_us / 4000);
}

/* All that can fail; what was built stays for destroy. */
static int start(struct daemon *daemon, struct error *reterr)
{
    struct catalogue catalogue;
    int rc = daemon_check_catalogue(&daemon->conf, &catalogue, reterr);

    if (rc < 0)
        return rc;
    catalogue_done(&daemon->catalogue);
    daemon->catalogue = catalogue;
    rc = daemon_open_state(daemon, reterr);
    if (rc < 0)
        return rc;
    rc = daemon_create_adapters(daemon, reterr);
    if (rc < 0)
        return rc;
    create_gate(daemon);
    create_controller(daemon);
    rc = restore(daemon, reterr);
    if (rc < 0)
        return rc;
    serve_world_init(&daemon->world);
    daemon_fill_world(daemon);
    return start_http(daemon, reterr);
}

static void destroy(struct daemon *daemon)
{
    serve_http_stop(daemon->http);
    serve_world_done(&daemon->world);
    link_destroy(daemon->engine_link);
    link_destroy(daemon->cloud_link);
    controller_destroy(daemon->controller);
    gate_destroy(daemon->gate);
    shadow_destroy(daemon->shadow);
    slurm_engine_destroy(daemon->engine);
    local_cloud_destroy(daemon->cloud);
    if (daemon->store != NULL)
        store_close(daemon->store);
    journal_done(&daemon->journal);
    map_done(&daemon->limits);
    names_done(&daemon->users);
    names_done(&daemon->job_names);
    shapes_done(&daemon->shapes);
    catalogue_done(&daemon->catalogue);
    arena_done(&daemon->arena);
    arena_done(&daemon->findings_arena);
    mem_free(daemon->events);
    conf_done(&daemon->conf);
    mem_free(daemon);
}

static struct daemon *create(const char *path, struct conf *conf)
{
    struct daemon *daemon = mem_alloc(1, sizeof(*daemon));

    daemon->path = path;
    daemon->conf = *conf;
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
    return daemon;
}

int daemon_run(const char *path, struct conf *conf, struct error *reterr)
{
    struct daemon *daemon = create(path, conf);
    int rc = uv_loop_init(&daemon->loop);

    assert(rc == 0);
    log_set_level(daemon->conf.log_level);
    (void)signal(SIGPIPE,
                 SIG_IGN); /* NOLINT(bugprone-signal-handler): it is the default to ignore */
    rc = start(daemon, reterr);
    if (rc == 0) {
        daemon_create_links(daemon);
        start_loop(daemon);
        LOG_INFO("started cluster=%s mode=%s policy=%s", daemon->conf.cluster,
                 conf_mode_word(daemon->conf.mode), daemon->conf.policy->name);
        (void)sd_notify(0, "READY=1");
    } else {
        aws_cloud_destroy(daemon->aws);
        if (daemon->has_http_poll)
            close_any(&daemon->http_poll);
    }
    (void)uv_run(&daemon->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&daemon->loop);
    if (rc == 0)
        LOG_INFO("stopped");
    destroy(daemon);
    return rc;
}
