/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's two sides: the adapters of engine and cloud, the links that carry their lines, and the
 * news they bring into the daemon's one queue.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

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
    struct daemon *daemon = context;

    link_send(daemon->engine_link, lines, size);
}

static void send_to_cloud(void *context, const char *lines, size_t size)
{
    struct daemon *daemon = context;

    link_send(daemon->cloud_link, lines, size);
}

static void engine_up(void *context)
{
    struct daemon *daemon = context;

    LOG_INFO("link up name=slurm");
    slurm_engine_connected(daemon->engine, daemon_now(daemon));
}

static void engine_down(void *context, const char *why)
{
    struct daemon *daemon = context;

    LOG_WARNING("link down name=slurm why=\"%s\"", why);
    slurm_engine_disconnected(daemon->engine, daemon_now(daemon));
}

static void engine_line(void *context, char *text, size_t length)
{
    struct daemon *daemon = context;

    slurm_engine_line(daemon->engine, daemon_now(daemon), text, length);
}

static void cloud_up(void *context)
{
    struct daemon *daemon = context;

    LOG_INFO("link up name=local");
    local_cloud_connected(daemon->cloud, daemon_now(daemon));
}

static void cloud_down(void *context, const char *why)
{
    struct daemon *daemon = context;

    LOG_WARNING("link down name=local why=\"%s\"", why);
    local_cloud_disconnected(daemon->cloud, daemon_now(daemon));
}

static void cloud_line(void *context, char *text, size_t length)
{
    struct daemon *daemon = context;

    local_cloud_line(daemon->cloud, daemon_now(daemon), text, length);
}

/* The loop's order is ours: an event is of the turn that hears it. */
static void on_aws_event(void *context, const struct cloud_event *event)
{
    struct cloud_event heard = *event;

    heard.at = daemon_now(context);
    daemon_on_cloud(context, &heard);
}

static void on_aws_note(void *context, bool is_error, const char *text)
{
    (void)context;
    if (is_error)
        LOG_WARNING("aws: %s", text);
    else
        LOG_INFO("aws: %s", text);
}

bool daemon_is_connected(const struct daemon *daemon)
{
    return link_is_up(daemon->engine_link) && slurm_engine_is_up(daemon->engine) &&
           (daemon->cloud == NULL ||
            (link_is_up(daemon->cloud_link) && local_cloud_is_ready(daemon->cloud)));
}

/*
 * Adapters.
 */

static int create_aws(struct daemon *daemon, struct error *reterr)
{
    return aws_cloud_create(&(struct aws_cloud_config){ .loop = &daemon->loop,
                                                        .catalogue = &daemon->catalogue,
                                                        .cluster = daemon->conf.cluster,
                                                        .node_prefix = daemon->conf.node_prefix,
                                                        .settings = &daemon->conf.cloud.aws,
                                                        .seed = uv_hrtime(),
                                                        .on_event = on_aws_event,
                                                        .on_note = on_aws_note,
                                                        .context = daemon },
                            &daemon->aws, reterr);
}

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
        return create_aws(daemon, reterr);
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

/*
 * Links.
 */

static const char *keep(struct daemon *daemon, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *kept = arena_alloc(&daemon->arena, size, 1);

    memcpy(kept, text, size);
    return kept;
}

static const char *join(struct daemon *daemon, const struct conf_words *words)
{
    size_t size = 1;

    for (uint32_t i = 0; i < words->count; i++)
        size += strlen(words->word[i]) + 1;

    char *text = arena_alloc(&daemon->arena, size, 1);
    size_t used = 0;

    for (uint32_t i = 0; i < words->count; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "," : "", words->word[i]);
    return text;
}

static const char *const *engine_argv(struct daemon *daemon)
{
    enum { ARGUMENTS_MAX = 10 };
    const struct conf_engine *engine = &daemon->conf.engine;
    const char **argv = ARENA_ARRAY(&daemon->arena, const char *, ARGUMENTS_MAX);
    char poll[32];
    uint32_t count = 0;

    (void)snprintf(poll, sizeof(poll), "%lld.%03lld", (long long)(engine->poll_ms / MSEC_PER_SEC),
                   (long long)(engine->poll_ms % MSEC_PER_SEC));
    argv[count++] = engine->program;
    argv[count++] = "--poll";
    argv[count++] = keep(daemon, poll);
    if (engine->only_partitions.count > 0) {
        argv[count++] = "--partitions";
        argv[count++] = join(daemon, &engine->only_partitions);
    }
    if (engine->ignore_partitions.count > 0) {
        argv[count++] = "--ignore-partitions";
        argv[count++] = join(daemon, &engine->ignore_partitions);
    }
    if (engine->ignore_users.count > 0) {
        argv[count++] = "--ignore-users";
        argv[count++] = join(daemon, &engine->ignore_users);
    }
    assert(count < ARGUMENTS_MAX);
    return argv;
}

void daemon_create_links(struct daemon *daemon)
{
    daemon->engine_link = link_create(&daemon->loop, &(struct link_config){
                                                         .name = "slurm",
                                                         .argv = engine_argv(daemon),
                                                         .on_up = engine_up,
                                                         .on_down = engine_down,
                                                         .on_line = engine_line,
                                                         .context = daemon,
                                                     });
    if (daemon->cloud == NULL)
        return;
    daemon->cloud_link = link_create(&daemon->loop, &(struct link_config){
                                                        .name = "local",
                                                        .socket = daemon->conf.cloud.socket,
                                                        .on_up = cloud_up,
                                                        .on_down = cloud_down,
                                                        .on_line = cloud_line,
                                                        .context = daemon,
                                                    });
}
