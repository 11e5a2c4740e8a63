/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process around the core: libuv's loop, signals, systemd, the links that carry lines, the cloud
 * that has a connection of its own, and HTTP. It tells the core the time whenever it calls it.
 */
#include "daemon/daemon.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <systemd/sd-daemon.h>
#include <uv.h>

#include "base/mem.h"
#include "daemon/daemon_private.h"
#include "daemon/link.h"
#include "daemon/log.h"
#include "serve/http.h"

struct process {
    struct daemon *daemon;
    struct arena arena; /* texts that live as long as the process */
    uv_loop_t loop;
    uv_prepare_t prepare;
    uv_timer_t timer;
    uv_timer_t watchdog;
    uv_signal_t signals[3];
    uv_poll_t http_poll;
    bool has_http_poll;
    uv_work_t work;        /* the commit that is under way */
    bool is_writing;       /* there is one: no turn before it has ended */
    bool shall_stop;       /* when it has */
    uint64_t spent_us;     /* on the turn, before the commit */
    struct link *links[2]; /* by core_side; NULL: there is none */
    struct serve_http *http;
};

/* Time goes on while a turn is worked off: to be called before whatever enters the core. */
static void tell_time(struct process *process)
{
    struct timespec time;

    if (clock_gettime(CLOCK_REALTIME, &time) == 0)
        core_tell_time(process->daemon, (msec_t)time.tv_sec * MSEC_PER_SEC + time.tv_nsec / 1000000,
                       (msec_t)(uv_hrtime() / 1000000));
}

static uint64_t monotonic_us(void *context)
{
    (void)context;
    return uv_hrtime() / 1000;
}

static void run_http(struct process *process)
{
    tell_time(process);
    serve_http_run(process->http);
}

/*
 * The turn.
 */

static void on_timer(uv_timer_t *timer)
{
    struct process *process = timer->data;

    if (process->http != NULL)
        run_http(process);
}

static void set_timer(struct process *process)
{
    const int http_ms = process->http != NULL ? serve_http_timeout_ms(process->http) : -1;
    msec_t wait = core_next_wake(process->daemon) - process->daemon->now;

    if (process->is_writing) /* its end wakes us */
        wait = MSEC_PER_HOUR;
    if (http_ms >= 0 && http_ms < wait)
        wait = http_ms;
    if (wait < 0)
        wait = 0;
    (void)uv_timer_start(&process->timer, on_timer, (uint64_t)wait, 0);
}

static void stop(struct process *process);

/* On a thread of libuv. */
static void commit(uv_work_t *work)
{
    const struct process *process = work->data;

    core_write_run(process->daemon);
}

/* The second half of a turn. */
static void end_turn(struct process *process, bool may_pass, uint64_t begin)
{
    struct daemon *daemon = process->daemon;

    if (may_pass)
        core_pass(daemon);
    core_rest(daemon);

    const uint64_t spent = process->spent_us + monotonic_us(NULL) - begin;

    if (spent > daemon->world.turn_max_us)
        daemon->world.turn_max_us = spent;
    set_timer(process);
}

static void committed(uv_work_t *work, int status)
{
    struct process *process = work->data;
    const uint64_t begin = monotonic_us(NULL);

    assert(status == 0); /* nobody cancels it */
    process->is_writing = false;
    tell_time(process);
    end_turn(process, core_write_end(process->daemon), begin);
    if (process->shall_stop)
        stop(process);
}

/* Before the loop sleeps: work off what happened since. A disk may take seconds to write it down: that
 * is waited for by another thread, and the API answers meanwhile. */
static void turn(struct process *process)
{
    struct daemon *daemon = process->daemon;
    const uint64_t begin = monotonic_us(NULL);

    process->spent_us = 0;
    tell_time(process);
    core_think(daemon);

    const enum core_write how = core_write_begin(daemon);

    if (how != CORE_WRITING) {
        end_turn(process, how == CORE_WRITTEN, begin);
        return;
    }
    process->spent_us = monotonic_us(NULL) - begin;
    process->is_writing = true;
    process->work.data = process;
    if (uv_queue_work(&process->loop, &process->work, commit, committed) < 0) {
        commit(&process->work);
        committed(&process->work, 0);
    }
    set_timer(process);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct process *process = prepare->data;

    if (process->is_writing)
        set_timer(process);
    else if (!process->daemon->is_stopping)
        turn(process);
}

/*
 * Links.
 */

static void send_lines(void *context, enum core_side side, const char *lines, size_t size)
{
    const struct process *process = context;

    link_send(process->links[side], lines, size);
}

static bool is_up(void *context, enum core_side side)
{
    const struct process *process = context;

    return process->links[side] != NULL && link_is_up(process->links[side]);
}

static const char *fault_of(void *context, enum core_side side)
{
    const struct process *process = context;

    return process->links[side] != NULL ? link_fault(process->links[side]) : "not tried yet";
}

static void engine_up(void *context)
{
    struct process *process = context;

    LOG_INFO("link up name=slurm");
    tell_time(process);
    core_connected(process->daemon, CORE_ENGINE);
}

static void engine_down(void *context, const char *why)
{
    struct process *process = context;

    LOG_WARNING("link down name=slurm why=\"%s\"", why);
    tell_time(process);
    core_disconnected(process->daemon, CORE_ENGINE);
}

/* stint-slurm says that it is alive every few seconds; one that was heard so once must go on. */
static void engine_line(void *context, char *text, size_t length)
{
    static const char alive[] = "alive";
    enum { SILENCE_MS = 30000 };
    struct process *process = context;

    if (length == strlen(alive) && memcmp(text, alive, length) == 0)
        link_expect(process->links[CORE_ENGINE], SILENCE_MS);
    tell_time(process);
    core_line(process->daemon, CORE_ENGINE, text, length);
}

static void cloud_up(void *context)
{
    struct process *process = context;

    LOG_INFO("link up name=local");
    tell_time(process);
    core_connected(process->daemon, CORE_CLOUD);
}

static void cloud_down(void *context, const char *why)
{
    struct process *process = context;

    LOG_WARNING("link down name=local why=\"%s\"", why);
    tell_time(process);
    core_disconnected(process->daemon, CORE_CLOUD);
}

static void cloud_line(void *context, char *text, size_t length)
{
    struct process *process = context;

    tell_time(process);
    core_line(process->daemon, CORE_CLOUD, text, length);
}

static const char *keep(struct process *process, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *kept = arena_alloc(&process->arena, size, 1);

    memcpy(kept, text, size);
    return kept;
}

static const char *join(struct process *process, const struct conf_words *words)
{
    size_t size = 1;

    for (uint32_t i = 0; i < words->count; i++)
        size += strlen(words->word[i]) + 1;

    char *text = arena_alloc(&process->arena, size, 1);
    size_t used = 0;

    for (uint32_t i = 0; i < words->count; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "," : "", words->word[i]);
    return text;
}

static const char *const *engine_argv(struct process *process)
{
    enum { ARGUMENTS_MAX = 12 };
    const struct conf_engine *engine = &process->daemon->conf.engine;
    const char **argv = ARENA_ARRAY(&process->arena, const char *, ARGUMENTS_MAX);
    char poll[32];
    uint32_t count = 0;

    (void)snprintf(poll, sizeof(poll), "%lld.%03lld", (long long)(engine->poll_ms / MSEC_PER_SEC),
                   (long long)(engine->poll_ms % MSEC_PER_SEC));
    argv[count++] = engine->program;
    argv[count++] = "--poll";
    argv[count++] = keep(process, poll);
    if (engine->only_partitions.count > 0) {
        argv[count++] = "--partitions";
        argv[count++] = join(process, &engine->only_partitions);
    }
    if (engine->ignore_partitions.count > 0) {
        argv[count++] = "--ignore-partitions";
        argv[count++] = join(process, &engine->ignore_partitions);
    }
    if (engine->ignore_users.count > 0) {
        argv[count++] = "--ignore-users";
        argv[count++] = join(process, &engine->ignore_users);
    }
    if (engine->partition != NULL) {
        argv[count++] = "--place-in";
        argv[count++] = keep(process, engine->partition);
    }
    assert(count < ARGUMENTS_MAX);
    return argv;
}

static void create_links(struct process *process)
{
    const struct daemon *daemon = process->daemon;

    process->links[CORE_ENGINE] = link_create(&process->loop, &(struct link_config){
                                                                  .name = "slurm",
                                                                  .argv = engine_argv(process),
                                                                  .on_up = engine_up,
                                                                  .on_down = engine_down,
                                                                  .on_line = engine_line,
                                                                  .context = process,
                                                              });
    if (daemon->cloud == NULL)
        return;
    process->links[CORE_CLOUD] =
        link_create(&process->loop, &(struct link_config){
                                        .name = "local",
                                        .socket = daemon->conf.cloud.socket,
                                        .on_up = cloud_up,
                                        .on_down = cloud_down,
                                        .on_line = cloud_line,
                                        .context = process,
                                    });
}

/*
 * The cloud aws.
 */

/* The loop's order is ours: an event is of the turn that hears it. */
static void on_aws_event(void *context, const struct cloud_event *event)
{
    struct process *process = context;
    struct cloud_event heard = *event;

    tell_time(process);
    heard.at = process->daemon->now;
    daemon_on_cloud(process->daemon, &heard);
}

static void on_aws_note(void *context, bool is_error, const char *text)
{
    (void)context;
    if (is_error)
        LOG_WARNING("aws: %s", text);
    else
        LOG_INFO("aws: %s", text);
}

static int on_aws_account(void *context, const char *account, struct error *reterr)
{
    struct process *process = context;

    tell_time(process);
    return daemon_check_account(process->daemon, account, reterr);
}

static int create_aws(void *context, struct daemon *daemon, struct error *reterr)
{
    struct process *process = context;

    return aws_cloud_create(&(struct aws_cloud_config){ .loop = &process->loop,
                                                        .catalogue = &daemon->catalogue,
                                                        .cluster = daemon->conf.cluster,
                                                        .node_prefix = daemon->conf.node_prefix,
                                                        .settings = &daemon->conf.cloud.aws,
                                                        .seed = uv_hrtime(),
                                                        .on_event = on_aws_event,
                                                        .on_note = on_aws_note,
                                                        .on_account = on_aws_account,
                                                        .context = process },
                            &daemon->aws, reterr);
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
static void stop(struct process *process)
{
    struct daemon *daemon = process->daemon;

    process->shall_stop = true;
    if (daemon->is_stopping || process->is_writing)
        return;
    LOG_INFO("stopping; machines and jobs stay as they are");
    (void)sd_notify(0, "STOPPING=1");
    tell_time(process);
    core_stop(daemon);
    link_close(process->links[CORE_ENGINE]);
    if (process->links[CORE_CLOUD] != NULL)
        link_close(process->links[CORE_CLOUD]);
    aws_cloud_destroy(daemon->aws);
    daemon->aws = NULL;
    close_any(&process->prepare);
    close_any(&process->timer);
    close_any(&process->watchdog);
    for (int i = 0; i < 3; i++)
        close_any(&process->signals[i]);
    if (process->has_http_poll)
        close_any(&process->http_poll);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct process *process = handle->data;
    struct error error = { "" };
    char changed[256];

    if (number != SIGHUP) {
        stop(process);
        return;
    }
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)monotonic_us(NULL));
    tell_time(process);
    if (daemon_reload(process->daemon, changed, sizeof(changed), &error) < 0)
        LOG_ERROR("configuration not taken over: %s", error.text);
    (void)sd_notify(0, "READY=1");
}

static void on_watchdog(uv_timer_t *timer)
{
    const struct process *process = timer->data;
    const struct daemon *daemon = process->daemon;
    const struct view *view = controller_view(daemon->controller);

    (void)sd_notifyf(0, "WATCHDOG=1\nSTATUS=mode %s, %u machines, %u tasks",
                     conf_mode_word(daemon->conf.mode), view->instance.living, view->task.living);
}

static void on_http(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    run_http(handle->data);
}

static int start_http(struct process *process, struct error *reterr)
{
    const struct conf_http *http = &process->daemon->conf.http;
    const struct serve_http_config config = {
        .socket = http->socket,
        .socket_mode = http->socket_mode,
        .listen = http->listen,
        .certificate = http->tls_certificate,
        .key = http->tls_key,
        .token_file = http->token_file,
    };
    int rc = serve_http_start(&config, &process->daemon->world, &process->http, reterr);

    if (rc < 0)
        return rc;
    rc = uv_poll_init(&process->loop, &process->http_poll, serve_http_fd(process->http));
    if (rc < 0)
        return error_set(reterr, rc, "cannot wait for HTTP: %s", uv_strerror(rc));
    process->has_http_poll = true;
    process->http_poll.data = process;
    rc = uv_poll_start(&process->http_poll, UV_READABLE, on_http);
    return rc < 0 ? error_set(reterr, rc, "cannot wait for HTTP: %s", uv_strerror(rc)) : 0;
}

static void start_loop(struct process *process)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
    uint64_t watchdog_us = 0;

    (void)uv_prepare_init(&process->loop, &process->prepare);
    process->prepare.data = process;
    (void)uv_prepare_start(&process->prepare, on_prepare);
    (void)uv_timer_init(&process->loop, &process->timer);
    process->timer.data = process;
    for (int i = 0; i < 3; i++) {
        (void)uv_signal_init(&process->loop, &process->signals[i]);
        process->signals[i].data = process;
        (void)uv_signal_start(&process->signals[i], on_signal, numbers[i]);
    }
    (void)uv_timer_init(&process->loop, &process->watchdog);
    process->watchdog.data = process;
    if (sd_watchdog_enabled(0, &watchdog_us) > 0 && watchdog_us > 4000)
        (void)uv_timer_start(&process->watchdog, on_watchdog, 0, watchdog_us / 4000);
}

static int start(struct process *process, struct error *reterr)
{
    const int rc = core_start(process->daemon, reterr);

    return rc < 0 ? rc : start_http(process, reterr);
}

static void destroy(struct process *process)
{
    serve_http_stop(process->http);
    link_destroy(process->links[CORE_ENGINE]);
    link_destroy(process->links[CORE_CLOUD]);
    core_destroy(process->daemon);
    arena_done(&process->arena);
    mem_free(process);
}

static struct process *create(const char *path, struct conf *conf)
{
    struct process *process = mem_alloc(1, sizeof(*process));

    arena_init(&process->arena);
    process->daemon = core_create(path, conf,
                                  &(struct core_host){
                                      .send = send_lines,
                                      .is_up = is_up,
                                      .fault = fault_of,
                                      .monotonic_us = monotonic_us,
                                      .create_aws = create_aws,
                                      .context = process,
                                  });
    tell_time(process);
    return process;
}

int daemon_run(const char *path, struct conf *conf, struct error *reterr)
{
    struct process *process = create(path, conf);
    struct daemon *daemon = process->daemon;
    int rc = uv_loop_init(&process->loop);

    assert(rc == 0);
    log_set_level(daemon->conf.log_level);
    (void)signal(SIGPIPE,
                 SIG_IGN); /* NOLINT(bugprone-signal-handler): it is the default to ignore */
    rc = start(process, reterr);
    if (rc == 0) {
        create_links(process);
        start_loop(process);
        LOG_INFO("started cluster=%s mode=%s policy=%s", daemon->conf.cluster,
                 conf_mode_word(daemon->conf.mode), daemon->conf.policy->name);
        (void)sd_notify(0, "READY=1");
    } else {
        aws_cloud_destroy(daemon->aws);
        daemon->aws = NULL;
        if (process->has_http_poll)
            close_any(&process->http_poll);
    }
    (void)uv_run(&process->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&process->loop);
    if (rc == 0)
        LOG_INFO("stopped");
    destroy(process);
    return rc;
}
