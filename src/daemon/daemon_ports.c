/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's two sides: the adapters of engine and cloud, the lines they take and give, and the news
 * they bring into the daemon's one queue.
 */
#include <stdio.h>

#include "base/mem.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "serve/wait_line.h"

/*
 * News.
 */

static struct daemon_event *add_event(struct daemon *daemon)
{
    MEM_ROOM(daemon->events, daemon->events_room, daemon->event_count + 1);
    return &daemon->events[daemon->event_count++];
}

void daemon_on_engine(void *context, const struct engine_event *event)
{
    *add_event(context) = (struct daemon_event){ .engine = *event };
}

void daemon_on_cloud(void *context, const struct cloud_event *event)
{
    *add_event(context) = (struct daemon_event){ .is_cloud = true, .cloud = *event };
}

/* The real engine's news, in mode shadow. */
static void heard_in_shadow(void *context, const struct engine_event *event)
{
    struct daemon *daemon = context;

    shadow_heard(daemon->shadow, event);
}

/* From an adapter that has a connection of its own: the loop's order counts, so that an event is of the
 * turn that hears it. */
static msec_t time_of_loop(struct daemon *daemon)
{
    daemon->host.tell_time(daemon->host.context);
    return daemon->now;
}

static void on_loop_engine(void *context, const struct engine_event *event)
{
    struct daemon *daemon = context;
    struct engine_event heard = *event;

    heard.at = time_of_loop(daemon);
    if (daemon->shadow != NULL)
        shadow_heard(daemon->shadow, &heard);
    else
        daemon_on_engine(daemon, &heard);
}

static void on_loop_cloud(void *context, const struct cloud_event *event)
{
    struct daemon *daemon = context;
    struct cloud_event heard = *event;

    heard.at = time_of_loop(daemon);
    daemon_on_cloud(daemon, &heard);
}

static int on_account(void *context, const char *account, struct error *reterr)
{
    struct daemon *daemon = context;

    daemon->host.tell_time(daemon->host.context);
    return daemon_check_account(daemon, account, reterr);
}

static void on_say(void *context, const char *text)
{
    const struct daemon *daemon = context;

    LOG_INFO("%s: %s", daemon->engine_kind->name, text);
}

/* New machines have so much less for tasks; those that are there say themselves what they have. */
static void on_taken(void *context, const struct res *taken)
{
    struct daemon *daemon = context;

    for (uint32_t i = 0; i < daemon->whole_count; i++) {
        struct res *left = &daemon->catalogue.types[i].capacity;

        *left = daemon->whole[i];
        for (int kind = 0; kind < RES_KINDS; kind++)
            left->amount[kind] = left->amount[kind] > taken[i].amount[kind]
                                     ? left->amount[kind] - taken[i].amount[kind]
                                     : 0;
    }
    shapes_bind(&daemon->shapes, &daemon->catalogue);
    if (daemon->controller != NULL)
        controller_catalogue_changed(daemon->controller);
    LOG_INFO(
        "new machines have less capacity for tasks, because the scheduler's own work takes a part"
        " of it");
}

static void on_note(void *context, bool is_error, const char *text)
{
    const struct daemon *daemon = context;

    if (is_error)
        LOG_WARNING("%s: %s", daemon->cloud_kind->name, text);
    else
        LOG_INFO("%s: %s", daemon->cloud_kind->name, text);
}

/* "m1.large, $0.096000 an hour for all that run there" */
static int describe_machine(void *context, uint64_t instance, char *buf, size_t size)
{
    const struct daemon *daemon = context;
    const struct view *view = controller_view(daemon->controller);
    const uint32_t row = view_find_instance(view, instance);

    if (row == ROW_NONE)
        return 0;
    const uint32_t offer = view->instance.offer[row];
    const money_t price = view->offer_price[offer];

    return snprintf(buf, size, "%s, $%lld.%06lld an hour for all that run there",
                    catalogue_offer_type_name(&daemon->catalogue, offer),
                    (long long)(price / MONEY_PER_USD), (long long)(price % MONEY_PER_USD));
}

static int explain_wait(void *context, uint64_t task, char *buf, size_t size)
{
    struct daemon *daemon = context;

    return daemon->world.controller == NULL
               ? -1
               : serve_wait_line(&daemon->world, task, daemon->now, buf, size);
}

static void send_to_engine(void *context, const char *lines, size_t size)
{
    const struct daemon *daemon = context;

    daemon->host.send(daemon->host.context, CORE_ENGINE, lines, size);
}

static void send_to_cloud(void *context, const char *lines, size_t size)
{
    const struct daemon *daemon = context;

    daemon->host.send(daemon->host.context, CORE_CLOUD, lines, size);
}

/*
 * Sides.
 */

static void *self_of(const struct daemon *daemon, enum core_side side)
{
    return side == CORE_ENGINE ? daemon->engine : daemon->cloud;
}

const struct adapter_lines *daemon_lines(const struct daemon *daemon, enum core_side side)
{
    if (self_of(daemon, side) == NULL)
        return NULL;
    return side == CORE_ENGINE ? daemon->engine_kind->lines : daemon->cloud_kind->lines;
}

void core_connected(struct daemon *daemon, enum core_side side)
{
    const struct adapter_lines *lines = daemon_lines(daemon, side);

    if (lines != NULL)
        lines->connected(self_of(daemon, side), daemon->now);
}

void core_disconnected(struct daemon *daemon, enum core_side side)
{
    const struct adapter_lines *lines = daemon_lines(daemon, side);

    if (lines != NULL)
        lines->disconnected(self_of(daemon, side), daemon->now);
    if (daemon->watch_at > daemon->now)
        daemon->watch_at = daemon->now; /* it may be back in a second, and was down all the same */
}

void core_line(struct daemon *daemon, enum core_side side, char *text, size_t length)
{
    const struct adapter_lines *lines = daemon_lines(daemon, side);

    if (lines != NULL)
        lines->line(self_of(daemon, side), daemon->now, text, length);
}

bool core_peer(struct daemon *daemon, enum core_side side, struct adapter_peer *ret)
{
    const struct conf *conf = &daemon->conf;

    if (daemon_lines(daemon, side) == NULL)
        return false;
    *ret = side == CORE_ENGINE
               ? daemon->engine_kind->peer(conf->engine.settings, daemon_state_file(daemon),
                                           &daemon->arena)
               : daemon->cloud_kind->peer(conf->cloud.settings, &daemon->arena);
    return true;
}

/* Whether nobody has to carry its lines, or somebody does. */
static bool is_carried(const struct daemon *daemon, enum core_side side)
{
    return daemon_lines(daemon, side) == NULL || daemon->host.is_up(daemon->host.context, side);
}

const char *daemon_side_fault(const struct daemon *daemon, enum core_side side)
{
    if (!is_carried(daemon, side))
        return daemon->host.fault(daemon->host.context, side);
    return side == CORE_ENGINE ? daemon->engine_kind->fault(daemon->engine)
                               : daemon->cloud_kind->fault(daemon->cloud);
}

bool daemon_may_act(const struct daemon *daemon)
{
    return !daemon->has_lease || daemon->monotonic < daemon->lease.until;
}

/* What we know of machines and jobs is of the epoch that we acted in. After another daemon's it is too old to act on. */
static void on_lease(void *context, const struct engine_lease *lease)
{
    struct daemon *daemon = context;

    daemon->has_lease = true;
    daemon->lease = *lease;
    if (lease->until == 0)
        return;
    daemon->is_outdated =
        daemon->is_outdated || (daemon->lease_epoch != 0 && daemon->lease_epoch != lease->epoch);
    daemon->lease_epoch = lease->epoch;
}

bool daemon_is_connected(const struct daemon *daemon)
{
    return daemon_may_act(daemon) && !daemon->is_outdated && is_carried(daemon, CORE_ENGINE) &&
           daemon->engine_kind->is_usable(daemon->engine) &&
           (daemon->cloud == NULL ||
            (is_carried(daemon, CORE_CLOUD) && daemon->cloud_kind->is_usable(daemon->cloud)));
}

/*
 * Adapters.
 */

static int create_engine(struct daemon *daemon, struct error *reterr)
{
    const struct conf *conf = &daemon->conf;
    const struct engine_adapter *kind = daemon->engine_kind;
    const bool is_shadow = conf->mode == CONF_SHADOW;

    return kind->create(
        &(struct engine_config){
            .settings = conf->engine.settings,
            .catalogue = &daemon->catalogue,
            .shapes = &daemon->shapes,
            .users = &daemon->users,
            .job_names = &daemon->job_names,
            .cluster = conf->cluster,
            .node_prefix = conf->node_prefix,
            .start_timeout_ms = conf->timing.start_timeout_ms,
            .observes = is_shadow,
            .loop = daemon->host.loop,
            .on_event = kind->lines == NULL ? on_loop_engine
                        : is_shadow         ? heard_in_shadow
                                            : daemon_on_engine,
            .on_send = send_to_engine,
            .on_say = on_say,
            .on_taken = on_taken,
            .describe = describe_machine,
            .explain = explain_wait,
            .caps = conf->caps.count > 0 ? daemon_caps_of : NULL,
            .on_lease = on_lease,
            .is_booked = daemon_is_booked,
            .context = daemon,
        },
        &daemon->engine, reterr);
}

static int create_cloud(struct daemon *daemon, struct error *reterr)
{
    const struct conf *conf = &daemon->conf;
    const struct cloud_adapter *kind = daemon->cloud_kind;

    return kind->create(
        &(struct cloud_config){
            .settings = conf->cloud.settings,
            .catalogue = &daemon->catalogue,
            .cluster = conf->cluster,
            .node_prefix = conf->node_prefix,
            .loop = daemon->host.loop,
            .seed = daemon->host.seed,
            .on_event = kind->lines == NULL ? on_loop_cloud : daemon_on_cloud,
            .on_send = send_to_cloud,
            .on_note = on_note,
            .on_account = on_account,
            .context = daemon,
        },
        &daemon->cloud, reterr);
}

static void create_shadow(struct daemon *daemon)
{
    const struct engine_lags lags = daemon->engine_kind->lags(daemon->conf.engine.settings);

    daemon->shadow = shadow_create(&(struct shadow_config){
        .start_lag_min_ms = lags.start_min_ms,
        .start_lag_max_ms = lags.start_max_ms,
        .news_lag_ms = lags.news_ms,
        .engine = daemon->engine_kind->port(daemon->engine),
        .catalogue = &daemon->catalogue,
        .on_engine = daemon_on_engine,
        .on_cloud = daemon_on_cloud,
        .context = daemon,
    });
}

int daemon_create_adapters(struct daemon *daemon, struct error *reterr)
{
    const int rc = create_engine(daemon, reterr);

    if (rc < 0)
        return rc;
    if (daemon->conf.mode != CONF_SHADOW)
        return create_cloud(daemon, reterr);
    create_shadow(daemon);
    return 0;
}

struct cloud_port daemon_cloud_port(struct daemon *daemon)
{
    return daemon->shadow != NULL ? shadow_cloud_port(daemon->shadow)
                                  : daemon->cloud_kind->port(daemon->cloud);
}
