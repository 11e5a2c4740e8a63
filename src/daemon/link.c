/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link is in one of these states; a timer leads from WAITING to the next try:
 *
 *     WAITING -> CONNECTING -> UP -> FALLING -> WAITING
 *                     |________________^
 *     any -> CLOSED
 *
 *  1. In FALLING the handles of the old connection are being closed; only when all are, and the
 *     child has been reaped, does the next try begin, so that two children never live side by side.
 *  2. A child is one handle for its life and two pipes; a socket is one pipe for both ways.
 *  3. A write owns its bytes. What the kernel takes at once is not copied.
 *  4. What a child writes to its standard error goes to ours as it is. The last line is kept: it says
 *     why a child ended. That pipe stays open until the child has ended, so that writing never kills it.
 *  5. A child has a small environment: PATH, the locale, what is for it or for Stint. Keys of a cloud
 *     in ours are not its business.
 */
#include "daemon/link.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/line_input.h"
#include "base/mem.h"

/* A connection that held so long is a good one. */
enum { GOOD_AFTER_MS = 10000 };

enum link_state { LINK_WAITING, LINK_CONNECTING, LINK_UP, LINK_FALLING, LINK_CLOSED };

struct link {
    struct link_config config;
    uv_loop_t *loop;
    enum link_state state;
    uint32_t open; /* handles of the connection that are not closed yet */
    uv_timer_t timer;
    uv_pipe_t input;  /* we read from it */
    uv_pipe_t output; /* we write to it; of a child only */
    uv_process_t process;
    uv_connect_t connect;
    struct line_input lines;
    uint64_t retry_ms;
    uint64_t up_since_ms;
    uint64_t silence_ms; /* it may say nothing for so long; 0: for ever */
    uint64_t heard_ms;   /* when it last said something */
    uint64_t checked_ms; /* when that was looked at last */
    uint64_t connects;
    bool has_child;   /* it was started and is not reaped yet */
    bool has_spoken;  /* since it is up */
    bool failed;      /* a write failed; the fall is for the next turn of the loop */
    uv_pipe_t errors; /* standard error of a child; open until the child has ended */
    char heard[4096]; /* of it */
    char said[200];   /* the last line there that is not empty */
    uint32_t said_size;
    bool said_ended;
    char fault[400];
};

static void begin(struct link *link);
static void fall(struct link *link, const char *why);

static uv_stream_t *writer(struct link *link)
{
    return (uv_stream_t *)(link->config.argv != NULL ? &link->output : &link->input);
}

/* Whether it has said nothing for too long. If we were stopped ourselves, it may have spoken meanwhile. */
static bool is_silent(struct link *link)
{
    const uint64_t now_ms = uv_now(link->loop);

    if (now_ms - link->checked_ms > link->silence_ms / 2)
        link->heard_ms = now_ms;
    link->checked_ms = now_ms;
    return now_ms - link->heard_ms >= link->silence_ms;
}

static void fall_silent(struct link *link)
{
    char why[96];

    (void)snprintf(why, sizeof(why), "it was silent for %llu s, so stintd ended it",
                   (unsigned long long)(link->silence_ms / 1000));
    if (link->has_child)
        (void)uv_process_kill(&link->process, SIGKILL);
    fall(link, why);
}

static void on_timer(uv_timer_t *timer)
{
    struct link *link = timer->data;

    if (link->state == LINK_WAITING)
        begin(link);
    else if (link->state == LINK_UP && link->failed)
        fall(link, link->fault);
    else if (link->state == LINK_UP && link->silence_ms > 0 && is_silent(link))
        fall_silent(link);
    else if (link->state == LINK_UP)
        return;
    else if (link->has_child)
        (void)uv_process_kill(&link->process, SIGKILL); /* its grace is over */
}

static void wait_for_next(struct link *link)
{
    link->state = LINK_WAITING;
    (void)uv_timer_start(&link->timer, on_timer, link->retry_ms, 0);
    link->retry_ms *= 2;
    if (link->retry_ms > LINK_RETRY_MAX_MS)
        link->retry_ms = LINK_RETRY_MAX_MS;
}

/* One handle of the old connection is closed. */
static void on_closed(uv_handle_t *handle)
{
    struct link *link = handle->data;

    assert(link->open > 0);
    link->open--;
    if (link->open > 0)
        return;
    if (link->state == LINK_FALLING) {
        wait_for_next(link);
    } else if (link->state == LINK_CLOSED && !uv_is_closing((uv_handle_t *)&link->timer)) {
        uv_close((uv_handle_t *)&link->timer, NULL);
    }
}

static void close_handle(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* Copy the child's standard error to ours, and keep its last line. */
static void hear_errors(struct link *link, const char *text, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n = write(STDERR_FILENO, text + done, size - done);

        if (n <= 0 && errno != EINTR)
            break; /* as if it had been lost on the way to the log */
        done += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n') {
            link->said_ended = true;
        } else {
            if (link->said_ended)
                link->said_size = 0;
            link->said_ended = false;
            if (link->said_size + 1 < sizeof(link->said))
                link->said[link->said_size++] = text[i];
            link->said[link->said_size] = '\0';
        }
    }
}

static void on_errors_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct link *link = handle->data;

    (void)suggested;
    *ret = uv_buf_init(link->heard, sizeof(link->heard));
}

static void on_errors(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    if (size > 0)
        hear_errors(stream->data, buffer->base, (size_t)size);
    else if (size < 0)
        (void)uv_read_stop(stream);
}

/* What the loop has not read yet of a child that has ended. Its own children may still write: not for ever. */
static void drain_errors(struct link *link)
{
    uv_os_fd_t fd;
    ssize_t size = 1;

    if (uv_fileno((uv_handle_t *)&link->errors, &fd) != 0)
        return;
    for (int turns = 0; turns < 16 && size > 0; turns++) {
        size = read(fd, link->heard, sizeof(link->heard));
        if (size > 0)
            hear_errors(link, link->heard, (size_t)size);
    }
}

static void on_exit_of_child(uv_process_t *process, int64_t status, int signal_number)
{
    struct link *link = process->data;
    char why[sizeof(link->fault)];

    link->has_child = false;
    drain_errors(link);
    close_handle(&link->errors);

    const bool has_said = link->said_size > 0 && (status != 0 || signal_number != 0);

    (void)snprintf(why, sizeof(why), "it %s %d%s%s",
                   signal_number != 0 ? "was ended by signal" : "ended with status",
                   signal_number != 0 ? signal_number : (int)status, has_said ? ": " : "",
                   has_said ? link->said : "");
    if (link->state == LINK_UP)
        fall(link, why);
    else if (link->state == LINK_FALLING) /* this says more than that its output ended */
        (void)snprintf(link->fault, sizeof(link->fault), "%s", why);
    close_handle(process);
}

/*
 * Close what is open. A child that lives sees the end of its input, finishes what was requested and
 * ends; it is a handle of its own until then.
 */
static void close_connection(struct link *link)
{
    close_handle(&link->input);
    if (link->config.argv == NULL)
        return;
    close_handle(&link->output);
    if (link->has_child)
        (void)uv_timer_start(&link->timer, on_timer, LINK_GRACE_MS, 0);
}

static void fall(struct link *link, const char *why)
{
    const bool was_up = link->state == LINK_UP;

    if (why != link->fault)
        (void)snprintf(link->fault, sizeof(link->fault), "%s", why);
    if (was_up && uv_now(link->loop) - link->up_since_ms >= GOOD_AFTER_MS)
        link->retry_ms = LINK_RETRY_MIN_MS;
    link->state = LINK_FALLING;
    link->failed = false;
    (void)uv_timer_stop(&link->timer);
    close_connection(link);
    if (was_up)
        link->config.on_down(link->config.context, link->fault);
    if (link->open == 0)
        wait_for_next(link);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct link *link = handle->data;
    size_t size = 0;

    (void)suggested;
    ret->base = line_input_room(&link->lines, &size);
    ret->len = size;
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct link *link = stream->data;
    char *line = NULL;
    size_t length = 0;

    (void)buffer;
    if (link->state != LINK_UP)
        return;
    if (size < 0) {
        fall(link,
             size == UV_EOF ? "the other side closed the connection" : uv_strerror((int)size));
        return;
    }
    link->heard_ms = uv_now(link->loop);
    link->has_spoken = true;
    line_input_add(&link->lines, (size_t)size);
    while (link->state == LINK_UP && line_input_next(&link->lines, &line, &length))
        link->config.on_line(link->config.context, line, length);
}

static void rise(struct link *link)
{
    line_input_done(&link->lines);
    line_input_init(&link->lines);
    link->state = LINK_UP;
    link->has_spoken = false;
    link->up_since_ms = uv_now(link->loop);
    link->silence_ms = 0;
    link->connects++;

    const int rc = uv_read_start((uv_stream_t *)&link->input, on_room, on_read);

    link->config.on_up(link->config.context);
    if (rc < 0)
        fall(link, uv_strerror(rc));
}

static void open_pipe(struct link *link, uv_pipe_t *pipe)
{
    const int rc = uv_pipe_init(link->loop, pipe, 0);

    assert(rc == 0);
    pipe->data = link;
    link->open++;
}

/* libuv wants the arguments writable; it does not write. */
static char **child_argv(const struct link *link)
{
    uint32_t count = 0;

    while (link->config.argv[count] != NULL)
        count++;

    char **argv = mem_alloc((size_t)count + 1, sizeof(*argv));

    memcpy(argv, link->config.argv, count * sizeof(*argv));
    return argv;
}

/* What a child is given of our environment: it has no use for keys of a cloud. */
static bool is_for_child(const struct link *link, const char *variable)
{
    static const char *const names[] = { "PATH=", "HOME=", "USER=",   "LOGNAME=", "LANG=",
                                         "LC_",   "TZ=",   "TMPDIR=", "STINT_",   "LD_" };
    const char *const *more = link->config.environment;
    static const char checkers[] = "SAN_OPTIONS="; /* of the sanitizers */
    const size_t name = strcspn(variable, "=") + 1;
    const size_t tail = sizeof(checkers) - 1;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    for (; more != NULL && *more != NULL; more++) {
        if (strncmp(variable, *more, strlen(*more)) == 0)
            return true;
    }
    return name > tail && strncmp(variable + name - tail, checkers, tail) == 0;
}

static char **child_env(const struct link *link)
{
    size_t count = 0;
    size_t used = 0;

    while (environ[count] != NULL)
        count++;

    char **env = mem_alloc(count + 1, sizeof(*env));

    for (size_t i = 0; i < count; i++) {
        if (is_for_child(link, environ[i]))
            env[used++] = environ[i];
    }
    return env;
}

static void start_child(struct link *link)
{
    open_pipe(link, &link->input);
    open_pipe(link, &link->output);
    open_pipe(link, &link->errors);
    link->said_size = 0;
    link->said[0] = '\0';
    link->said_ended = false;

    uv_stdio_container_t stdio[] = {
        { .flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&link->output },
        { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&link->input },
        { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&link->errors },
    };
    char **argv = child_argv(link);
    char **env = child_env(link);
    const uv_process_options_t options = {
        .exit_cb = on_exit_of_child,
        .file = link->config.argv[0],
        .args = argv,
        .env = env,
        .stdio = stdio,
        .stdio_count = 3,
    };

    link->process.data = link;
    link->open++;

    const int rc = uv_spawn(link->loop, &link->process, &options);

    mem_free(argv);
    mem_free(env);
    if (rc < 0) {
        char why[160];

        close_handle(&link->process); /* libuv wants even a failed one closed */
        close_handle(&link->errors);
        (void)snprintf(why, sizeof(why), "cannot start %s: %s", link->config.argv[0],
                       uv_strerror(rc));
        fall(link, why);
        return;
    }
    link->has_child = true;
    (void)uv_read_start((uv_stream_t *)&link->errors, on_errors_room, on_errors);
    rise(link);
}

static void on_connect(uv_connect_t *request, int status)
{
    struct link *link = request->data;
    char why[160];

    if (link->state != LINK_CONNECTING)
        return;
    if (status == 0) {
        rise(link);
        return;
    }
    (void)snprintf(why, sizeof(why), "cannot connect to %s: %s", link->config.socket,
                   uv_strerror(status));
    fall(link, why);
}

static void begin(struct link *link)
{
    link->state = LINK_CONNECTING;
    if (link->config.argv != NULL) {
        start_child(link);
        return;
    }
    open_pipe(link, &link->input);
    link->connect.data = link;
    uv_pipe_connect(&link->connect, &link->input, link->config.socket, on_connect);
}

struct link *link_create(uv_loop_t *loop, const struct link_config *config)
{
    struct link *link = mem_alloc(1, sizeof(*link));

    assert((config->argv == NULL) != (config->socket == NULL));
    link->config = *config;
    link->loop = loop;
    link->state = LINK_WAITING;
    link->retry_ms = LINK_RETRY_MIN_MS;
    line_input_init(&link->lines);
    (void)uv_timer_init(loop, &link->timer);
    link->timer.data = link;
    (void)uv_timer_start(&link->timer, on_timer, 0, 0);
    return link;
}

/* The bytes follow the request. */
struct write_request {
    uv_write_t write;
    struct link *link;
    char bytes[];
};

/* Fall when the loop comes round: whoever sends is in the middle of something. */
static void fail_later(struct link *link, const char *why)
{
    if (link->state != LINK_UP || link->failed)
        return;
    link->failed = true;
    (void)snprintf(link->fault, sizeof(link->fault), "%s", why);
    (void)uv_timer_start(&link->timer, on_timer, 0, 0);
}

static void on_written(uv_write_t *write, int status)
{
    struct write_request *request = write->data;

    if (status < 0 && status != UV_ECANCELED)
        fail_later(request->link, uv_strerror(status));
    mem_free(request);
}

void link_send(struct link *link, const char *lines, size_t size)
{
    if (link->state != LINK_UP || link->failed || size == 0)
        return;

    uv_stream_t *stream = writer(link);
    size_t done = 0;

    if (uv_stream_get_write_queue_size(stream) == 0) {
        uv_buf_t now = { .len = size };

        memcpy(&now.base, &lines,
               sizeof(lines)); /* libuv does not write there, and cannot say so */

        const int taken = uv_try_write(stream, &now, 1);

        done = taken > 0 ? (size_t)taken : 0;
    }
    if (done == size)
        return;
    if (uv_stream_get_write_queue_size(stream) + size - done > LINK_QUEUE_MAX) {
        fail_later(link, "it does not read its input");
        return;
    }

    struct write_request *request = mem_alloc(1, sizeof(*request) + size - done);
    const uv_buf_t rest = { .base = request->bytes, .len = size - done };

    request->link = link;
    request->write.data = request;
    memcpy(request->bytes, lines + done, size - done);

    const int rc = uv_write(&request->write, stream, &rest, 1, on_written);

    if (rc < 0) {
        mem_free(request);
        fail_later(link, uv_strerror(rc));
    }
}

void link_expect(struct link *link, uint64_t silence_ms)
{
    if (link->state != LINK_UP || link->failed || link->silence_ms == silence_ms)
        return;
    link->silence_ms = silence_ms;
    link->heard_ms = link->checked_ms = uv_now(link->loop);
    (void)uv_timer_start(&link->timer, on_timer, silence_ms / 6, silence_ms / 6);
}

bool link_is_up(const struct link *link)
{
    return link->state == LINK_UP && !link->failed && link->has_spoken;
}

const char *link_fault(const struct link *link)
{
    return link->fault;
}

uint64_t link_connects(const struct link *link)
{
    return link->connects;
}

void link_close(struct link *link)
{
    const bool has_connection = link->open > 0;

    if (link->state == LINK_CLOSED)
        return;
    link->state = LINK_CLOSED;
    (void)uv_timer_stop(&link->timer);
    if (has_connection)
        close_connection(link);
    else
        uv_close((uv_handle_t *)&link->timer, NULL);
}

void link_destroy(struct link *link)
{
    if (link == NULL)
        return;
    assert(link->open == 0);
    line_input_done(&link->lines);
    mem_free(link);
}
