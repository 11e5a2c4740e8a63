/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process around the core: libuv's loop, signals, systemd, the links that carry lines, and HTTP. It
 * tells the core the time whenever it calls it.
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
#include "daemon/rate_socket.h"
#include "serve/http.h"

struct process;

/* A side that speaks lines, and who carries them. */
struct side {
    struct process *process;
    enum core_side which;
    const char *name;
    struct adapter_peer peer;
    struct link *link; /* NULL: there is none */
    bool has_spoken;   /* since it is up */
    char why[128];     /* why it fell last, as the log has it */
};

struct spent {
    uint64_t wall_us;
    uint64_t cpu_us; /* of the main thread */
};

struct process {
    struct daemon *daemon;
    uv_loop_t loop;
    uv_prepare_t prepare;
    uv_timer_t timer;
    uv_timer_t watchdog;
    uv_signal_t signals[3];
    uv_poll_t http_poll;
    bool has_http_poll;
    struct rate_socket *rates; /* NULL: jobs do not report */
    uv_poll_t rate_poll;
    bool has_rate_poll;
    uv_work_t work;     /* the commit that is under way */
    bool is_writing;    /* there is one: no turn before it has ended */
    bool shall_stop;    /* when it has */
    struct spent spent; /* on the turn, before the commit */
    struct side sides[CORE_SIDES];
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

static void tell_host_time(void *context)
{
    tell_time(context);
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

/* The time now, to be taken from a later one. The thread's own is what other programs on the machine cannot lengthen. */
static struct spent spent_now(void)
{
    struct timespec time = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (struct spent){
        .wall_us = monotonic_us(NULL),
        .cpu_us = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000,
    };
}

static void add_since(struct spent *spent, const struct spent *begin)
{
    const struct spent now = spent_now();

    spent->wall_us += now.wall_us - begin->wall_us;
    spent->cpu_us += now.cpu_us - begin->cpu_us;
}

static void raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

/* The second half of a turn. */
static void end_turn(struct process *process, bool may_pass, const struct spent *begin)
{
    struct daemon *daemon = process->daemon;

    if (may_pass)
        core_pass(daemon);
    core_rest(daemon);

    add_since(&process->spent, begin);
    raise_to(&daemon->world.turn_max_us, process->spent.wall_us);
    raise_to(&daemon->world.turn_cpu_max_us, process->spent.cpu_us);
    if (core_is_outdated(daemon) && !process->shall_stop) {
        LOG_ERROR(
            "another stintd acted on this cluster meanwhile, so this one ends and systemd starts it again");
        stop(process);
        return;
    }
    set_timer(process);
}

static void committed(uv_work_t *work, int status)
{
    struct process *process = work->data;
    const struct spent begin = spent_now();

    assert(status == 0); /* nobody cancels it */
    process->is_writing = false;
    tell_time(process);
    end_turn(process, core_write_end(process->daemon), &begin);
    if (process->shall_stop)
        stop(process);
}

/* Before the loop sleeps: work off what happened since. A disk may take seconds to write it down: that
 * is waited for by another thread, and the API answers meanwhile. */
static void turn(struct process *process)
{
    struct daemon *daemon = process->daemon;
    const struct spent begin = spent_now();

    process->spent = (struct spent){ 0 };
    tell_time(process);
    core_think(daemon);

    const enum core_write how = core_write_begin(daemon);

    if (how != CORE_WRITING) {
        end_turn(process, how == CORE_WRITTEN, &begin);
        return;
    }
    add_since(&process->spent, &begin);
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

    link_send(process->sides[side].link, lines, size);
}

static bool is_up(void *context, enum core_side side)
{
    const struct process *process = context;

    return process->sides[side].link != NULL && link_is_up(process->sides[side].link);
}

static const char *fault_of(void *context, enum core_side side)
{
    const struct process *process = context;
    const struct link *link = process->sides[side].link;
    const char *fault = link != NULL ? link_fault(link) : "";

    return fault[0] != '\0' ? fault : "it has not answered yet";
}

static void side_up(void *context)
{
    struct side *side = context;

    side->has_spoken = false;
    tell_time(side->process);
    core_connected(side->process->daemon, side->which);
}

static void side_down(void *context, const char *why)
{
    struct side *side = context;

    /* A program that ends at once is started again and again: once is enough. */
    if (side->has_spoken || strncmp(why, side->why, sizeof(side->why) - 1) != 0)
        LOG_WARNING("link down name=%s why=\"%s\"", side->name, why);
    (void)snprintf(side->why, sizeof(side->why), "%s", why);
    tell_time(side->process);
    core_disconnected(side->process->daemon, side->which);
}

static void side_line(void *context, char *text, size_t length)
{
    struct side *side = context;
    const char *alive = side->peer.alive;

    if (!side->has_spoken)
        LOG_INFO("link up name=%s", side->name);
    side->has_spoken = true;

    if (alive != NULL && length == strlen(alive) && memcmp(text, alive, length) == 0)
        link_expect(side->link, side->peer.silence_ms);
    tell_time(side->process);
    core_line(side->process->daemon, side->which, text, length);
}

static void create_links(struct process *process)
{
    const struct daemon *daemon = process->daemon;

    for (enum core_side i = 0; i < CORE_SIDES; i++) {
        struct side *side = &process->sides[i];

        if (!core_peer(process->daemon, i, &side->peer))
            continue;
        side->process = process;
        side->which = i;
        side->name = i == CORE_ENGINE ? daemon->engine_kind->name : daemon->cloud_kind->name;
        side->link = link_create(&process->loop, &(struct link_config){
                                                     .name = side->name,
                                                     .argv = side->peer.argv,
                                                     .environment = side->peer.environment,
                                                     .socket = side->peer.socket,
                                                     .on_up = side_up,
                                                     .on_down = side_down,
                                                     .on_line = side_line,
                                                     .context = side,
                                                 });
    }
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
    for (enum core_side i = 0; i < CORE_SIDES; i++) {
        if (process->sides[i].link != NULL)
            link_close(process->sides[i].link);
    }
    core_close(daemon);
    close_any(&process->prepare);
    close_any(&process->timer);
    close_any(&process->watchdog);
    for (int i = 0; i < 3; i++)
        close_any(&process->signals[i]);
    if (process->has_http_poll)
        close_any(&process->http_poll);
    if (process->has_rate_poll)
        close_any(&process->rate_poll);
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
        LOG_ERROR("the configuration cannot be used, so the old one stays: %s", error.text);
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
        .read_token_file = http->read_token_file,
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

static const char *take_rate(void *context, const char *user, const char *text, size_t size)
{
    const struct process *process = context;

    return core_report_rate(process->daemon, user, text, size);
}

static void on_rate(uv_poll_t *handle, int status, int events)
{
    struct process *process = handle->data;

    (void)status;
    (void)events;
    tell_time(process);
    rate_socket_run(process->rates, &(struct rate_taker){ .take = take_rate, .context = process });
}

static int start_rates(struct process *process, struct error *reterr)
{
    const char *path = process->daemon->conf.http.rate_socket;

    if (path == NULL)
        return 0;

    int rc = rate_socket_open(path, &process->rates, reterr);

    if (rc < 0)
        return rc;
    rc = uv_poll_init(&process->loop, &process->rate_poll, rate_socket_fd(process->rates));
    if (rc < 0)
        return error_set(reterr, rc, "cannot wait for reports: %s", uv_strerror(rc));
    process->has_rate_poll = true;
    process->rate_poll.data = process;
    rc = uv_poll_start(&process->rate_poll, UV_READABLE, on_rate);
    return rc < 0 ? error_set(reterr, rc, "cannot wait for reports: %s", uv_strerror(rc)) : 0;
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
    int rc = core_start(process->daemon, reterr);

    if (rc == 0)
        rc = start_http(process, reterr);
    return rc < 0 ? rc : start_rates(process, reterr);
}

static void destroy(struct process *process)
{
    serve_http_stop(process->http);
    rate_socket_close(process->rates);
    for (enum core_side i = 0; i < CORE_SIDES; i++)
        link_destroy(process->sides[i].link);
    core_destroy(process->daemon);
    mem_free(process);
}

static struct process *create(const char *path, struct conf *conf)
{
    struct process *process = mem_alloc(1, sizeof(*process));

    process->daemon = core_create(path, conf,
                                  &(struct core_host){
                                      .send = send_lines,
                                      .is_up = is_up,
                                      .fault = fault_of,
                                      .monotonic_us = monotonic_us,
                                      .loop = &process->loop,
                                      .tell_time = tell_host_time,
                                      .seed = uv_hrtime(),
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
        core_close(daemon);
        if (process->has_http_poll)
            close_any(&process->http_poll);
        if (process->has_rate_poll)
            close_any(&process->rate_poll);
    }
    (void)uv_run(&process->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&process->loop);
    if (rc == 0)
        LOG_INFO("stopped");
    if (rc == 0 && core_is_outdated(daemon))
        rc = error_set(reterr, -EAGAIN, "start stintd again: another one acted meanwhile");
    destroy(process);
    return rc;
}
