/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's two sides: the adapters of engine and cloud, the lines they take and give, and the news
 * they bring into the daemon's one queue.
 */
#include <stdio.h>

#include "base/mem.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"

/* In mode shadow: Slurm looks at what it was told once a second, and so starts a job 0.5 to 0.8 s after
 * it was placed; an engine that takes longer had no room for it. */
static const msec_t start_lag_min_ms = 800;
static const msec_t start_lag_max_ms = 2 * MSEC_PER_SEC;

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

static void on_say(void *context, const char *text)
{
    (void)context;
    LOG_INFO("slurm: %s", text);
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

void core_connected(struct daemon *daemon, enum core_side side)
{
    if (side == CORE_ENGINE)
        slurm_engine_connected(daemon->engine, daemon->now);
    else
        local_cloud_connected(daemon->cloud, daemon->now);
}

void core_disconnected(struct daemon *daemon, enum core_side side)
{
    if (side == CORE_ENGINE)
        slurm_engine_disconnected(daemon->engine, daemon->now);
    else
        local_cloud_disconnected(daemon->cloud, daemon->now);
}

void core_line(struct daemon *daemon, enum core_side side, char *text, size_t length)
{
    if (side == CORE_ENGINE)
        slurm_engine_line(daemon->engine, daemon->now, text, length);
    else
        local_cloud_line(daemon->cloud, daemon->now, text, length);
}

static bool is_up(const struct daemon *daemon, enum core_side side)
{
    return daemon->host.is_up(daemon->host.context, side);
}

bool daemon_is_connected(const struct daemon *daemon)
{
    return is_up(daemon, CORE_ENGINE) && slurm_engine_is_up(daemon->engine) &&
           (daemon->cloud == NULL ||
            (is_up(daemon, CORE_CLOUD) && local_cloud_is_ready(daemon->cloud))) &&
           (daemon->aws == NULL || aws_cloud_is_usable(daemon->aws));
}

/*
 * Adapters.
 */

int daemon_create_adapters(struct daemon *daemon, struct error *reterr)
{
    const struct conf *conf = &daemon->conf;
    const bool is_shadow = conf->mode == CONF_SHADOW;
    const struct slurm_engine_config engine = {
        .catalogue = &daemon->catalogue,
        .shapes = &daemon->shapes,
        .users = &daemon->users,
        .job_names = &daemon->job_names,
        .node_prefix = conf->node_prefix,
        .partition = conf->engine.partition,
        .stop_signal = conf->engine.stop_signal,
        .stop_grace_ms = conf->engine.stop_grace_ms,
        .tmp_mib = (uint64_t)conf->engine.tmp_mib,
        .start_timeout_ms = conf->timing.start_timeout_ms,
        .observes = is_shadow,
        .on_event = is_shadow ? heard_in_shadow : daemon_on_engine,
        .on_send = send_to_engine,
        .on_say = on_say,
        .describe = describe_machine,
        .context = daemon,
    };
    const struct local_cloud_config cloud = {
        .catalogue = &daemon->catalogue,
        .cluster = conf->cluster,
        .node_prefix = conf->node_prefix,
        .on_event = daemon_on_cloud,
        .on_send = send_to_cloud,
        .context = daemon,
    };

    daemon->engine = slurm_engine_create(&engine);
    if (!is_shadow && conf->cloud.is_aws)
        return daemon->host.create_aws(daemon->host.context, daemon, reterr);
    if (!is_shadow) {
        daemon->cloud = local_cloud_create(&cloud);
        return 0;
    }
    daemon->shadow = shadow_create(&(struct shadow_config){
        .start_lag_min_ms = start_lag_min_ms,
        .start_lag_max_ms = start_lag_max_ms,
        .news_lag_ms = daemon->conf.engine.poll_ms / 2,
        .engine = slurm_engine_port(daemon->engine),
        .catalogue = &daemon->catalogue,
        .on_engine = daemon_on_engine,
        .on_cloud = daemon_on_cloud,
        .context = daemon,
    });
    return 0;
}

struct cloud_port daemon_cloud_port(struct daemon *daemon)
{
    if (daemon->shadow != NULL)
        return shadow_cloud_port(daemon->shadow);
    return daemon->aws != NULL ? aws_cloud_port(daemon->aws) : local_cloud_port(daemon->cloud);
}
