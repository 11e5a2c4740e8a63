/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real children and a real socket; the loop runs until what is expected has happened, and a limit of
 * time makes a test that waits in vain fail.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/test/check.h"
#include "daemon/link.h"

/* The loop never sleeps longer than a tick, so that each condition is looked at. */
enum { PATIENCE_MS = 20000, TICK_MS = 10, HEARD_SIZE = 4096 };

/* What a link told us. */
struct listener {
    uv_loop_t loop;
    uv_timer_t patience;
    struct link *link;
    char heard[HEARD_SIZE]; /* lines, each with a bar behind it */
    uint32_t lines;
    uint32_t too_long;
    uint32_t ups;
    uint32_t downs;
    const char *greeting; /* sent whenever it goes up */
    uint64_t began_ms;
    uint64_t waited_ms; /* by the loop's clock: a busy machine leaves ticks out */
    bool gave_up;
};

static void on_up(void *context)
{
    struct listener *listener = context;

    listener->ups++;
    if (listener->greeting != NULL)
        link_send(listener->link, listener->greeting, strlen(listener->greeting));
}

static void on_down(void *context, const char *why)
{
    struct listener *listener = context;

    assert_true(strlen(why) > 0);
    listener->downs++;
}

static void on_line(void *context, char *text, size_t length)
{
    struct listener *listener = context;
    const size_t used = strlen(listener->heard);

    if (length == SIZE_MAX) {
        listener->too_long++;
        return;
    }
    listener->lines++;
    (void)snprintf(listener->heard + used, HEARD_SIZE - used, "%.*s|", (int)length, text);
}

static void on_patience(uv_timer_t *timer)
{
    struct listener *listener = timer->data;

    listener->waited_ms = uv_now(&listener->loop) - listener->began_ms;
    listener->gave_up = listener->waited_ms >= PATIENCE_MS;
}

static void listen_to(struct listener *listener, const char *const *argv, const char *socket)
{
    static const char *const environment[] = { "ENGINE_", "OTHER_", NULL };
    const struct link_config config = {
        .name = "test",
        .argv = argv,
        .environment = environment,
        .socket = socket,
        .on_up = on_up,
        .on_down = on_down,
        .on_line = on_line,
        .context = listener,
    };

    assert_int_equal(uv_loop_init(&listener->loop), 0);
    assert_int_equal(uv_timer_init(&listener->loop, &listener->patience), 0);
    listener->patience.data = listener;
    listener->began_ms = uv_now(&listener->loop);
    assert_int_equal(uv_timer_start(&listener->patience, on_patience, TICK_MS, TICK_MS), 0);
    listener->link = link_create(&listener->loop, &config);
}

#define RUN_UNTIL(listener, condition)                    \
    do {                                                  \
        while (!(condition) && !(listener)->gave_up)      \
            (void)uv_run(&(listener)->loop, UV_RUN_ONCE); \
        assert_false((listener)->gave_up);                \
    } while (0)

static void stop_listening(struct listener *listener)
{
    link_close(listener->link);
    uv_close((uv_handle_t *)&listener->patience, NULL);
    (void)uv_run(&listener->loop, UV_RUN_DEFAULT);
    link_destroy(listener->link);
    assert_int_equal(uv_loop_close(&listener->loop), 0);
}

TEST(a_child_that_echoes_says_what_it_was_told)
{
    struct listener listener = { .greeting = "one\ntwo\n" };

    listen_to(&listener, (const char *const[]){ "cat", NULL }, NULL);
    RUN_UNTIL(&listener, listener.lines == 2);

    assert_string_equal(listener.heard, "one|two|");
    assert_int_equal(listener.ups, 1);
    assert_int_equal(listener.downs, 0);
    assert_true(link_is_up(listener.link));
    stop_listening(&listener);
}

TEST(a_child_is_given_nothing_of_a_cloud_s_keys)
{
    struct listener listener = { 0 };

    assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "do-not-tell", 1), 0);
    assert_int_equal(setenv("AWS_SESSION_TOKEN", "do-not-tell", 1), 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", "/run/none", 1), 0);
    assert_int_equal(setenv("OTHER_CONF", "/etc/other.conf", 1), 0);
    assert_int_equal(setenv("STINT_SOCKET", "/run/stint.sock", 1), 0);
    listen_to(&listener, (const char *const[]){ "sh", "-c", "env; echo end; cat", NULL }, NULL);
    RUN_UNTIL(&listener, strstr(listener.heard, "end|") != NULL);

    assert_null(strstr(listener.heard, "do-not-tell"));
    assert_null(strstr(listener.heard, "NOTIFY_SOCKET"));
    assert_non_null(strstr(listener.heard, "OTHER_CONF=/etc/other.conf|"));
    assert_non_null(strstr(listener.heard, "STINT_SOCKET=/run/stint.sock|"));
    assert_non_null(strstr(listener.heard, "PATH="));
    stop_listening(&listener);
}

TEST(a_child_that_ends_is_started_again)
{
    struct listener listener = { 0 };

    listen_to(&listener, (const char *const[]){ "sh", "-c", "echo hello; exit 3", NULL }, NULL);
    RUN_UNTIL(&listener, listener.downs == 2);

    assert_int_equal(listener.ups, 2);
    assert_string_equal(listener.heard, "hello|hello|");
    assert_false(link_is_up(listener.link));
    RUN_UNTIL(&listener, strcmp(link_fault(listener.link), "it ended with status 3") == 0);
    stop_listening(&listener);
}

TEST(a_child_that_fails_says_why_in_the_last_line_of_its_standard_error)
{
    struct listener listener = { 0 };

    listen_to(&listener,
              (const char *const[]){
                  "sh", "-c", "echo '# first' >&2; echo '# no libslurm' >&2; exit 127", NULL },
              NULL);
    RUN_UNTIL(&listener,
              strcmp(link_fault(listener.link), "it ended with status 127: # no libslurm") == 0);

    assert_true(listener.ups > 0);
    assert_false(link_is_up(listener.link));
    stop_listening(&listener);
}

TEST(a_child_that_has_said_nothing_yet_is_not_up)
{
    struct listener listener = { 0 };

    listen_to(&listener, (const char *const[]){ "cat", NULL }, NULL);
    RUN_UNTIL(&listener, listener.ups == 1);

    assert_false(link_is_up(listener.link));
    link_send(listener.link, "word\n", 5);
    RUN_UNTIL(&listener, listener.lines == 1);
    assert_true(link_is_up(listener.link));
    stop_listening(&listener);
}

TEST(a_child_that_cannot_be_started_is_tried_again_and_never_up)
{
    struct listener listener = { 0 };

    listen_to(&listener, (const char *const[]){ "/nonexistent/program", NULL }, NULL);
    RUN_UNTIL(&listener, listener.waited_ms >= 400);

    assert_int_equal(listener.ups, 0);
    assert_int_equal(listener.downs, 0);
    assert_non_null(strstr(link_fault(listener.link), "cannot start /nonexistent/program"));
    stop_listening(&listener);
}

TEST(a_line_that_is_too_long_is_reported_and_the_next_is_heard)
{
    struct listener listener = { 0 };

    listen_to(
        &listener,
        (const char *const[]){ "sh", "-c", "head -c 2000000 /dev/zero; echo; echo x; cat", NULL },
        NULL);
    RUN_UNTIL(&listener, listener.lines == 1);

    assert_int_equal(listener.too_long, 1);
    assert_string_equal(listener.heard, "x|");
    stop_listening(&listener);
}

TEST(a_child_that_does_not_read_is_left)
{
    struct listener listener = { 0 };
    const size_t size = 1 << 20;
    char *much = mem_alloc(1, size);

    memset(much, 'x', size);
    much[size - 1] = '\n';
    listen_to(&listener, (const char *const[]){ "sleep", "60", NULL }, NULL);
    RUN_UNTIL(&listener, listener.ups == 1);
    for (int i = 0; i < 80; i++)
        link_send(listener.link, much, size);
    RUN_UNTIL(&listener, listener.downs == 1);

    assert_string_equal(link_fault(listener.link), "it does not read its input");
    mem_free(much);
    stop_listening(&listener);
}

/* Who listens on a socket: echoes, and closes when it hears "bye". */
struct peer {
    uv_pipe_t server;
    uv_pipe_t client;
    char room[256];
};

static void peer_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    struct peer *peer = handle->data;

    (void)suggested;
    *ret = uv_buf_init(peer->room, sizeof(peer->room));
}

static void peer_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    if (size < 0 || strncmp(buffer->base, "bye", 3) == 0) {
        uv_close((uv_handle_t *)stream, NULL);
        return;
    }

    const uv_buf_t echo = uv_buf_init(buffer->base, (unsigned)size);

    assert_int_equal(uv_try_write(stream, &echo, 1), size);
}

static void peer_accept(uv_stream_t *server, int status)
{
    struct peer *peer = server->data;

    assert_int_equal(status, 0);
    assert_int_equal(uv_pipe_init(server->loop, &peer->client, 0), 0);
    peer->client.data = peer;
    assert_int_equal(uv_accept(server, (uv_stream_t *)&peer->client), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&peer->client, peer_room, peer_read), 0);
}

TEST(a_socket_that_is_not_there_yet_is_found_later_and_again_after_a_break)
{
    struct listener listener = { .greeting = "hello\n" };
    struct peer peer;
    char path[64];

    (void)snprintf(path, sizeof(path), "/tmp/stint-test-link-%d.sock", (int)getpid());
    listen_to(&listener, NULL, path);
    RUN_UNTIL(&listener, strlen(link_fault(listener.link)) > 0);
    assert_non_null(strstr(link_fault(listener.link), "cannot connect"));

    assert_int_equal(uv_pipe_init(&listener.loop, &peer.server, 0), 0);
    peer.server.data = &peer;
    assert_int_equal(uv_pipe_bind(&peer.server, path), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&peer.server, 1, peer_accept), 0);
    RUN_UNTIL(&listener, listener.lines == 1);
    link_send(listener.link, "bye\n", 4);
    RUN_UNTIL(&listener, listener.lines == 2);

    assert_int_equal(listener.ups, 2);
    assert_int_equal(listener.downs, 1);
    assert_string_equal(listener.heard, "hello|hello|");
    uv_close((uv_handle_t *)&peer.server, NULL);
    stop_listening(&listener);
    (void)unlink(path);
}

/* "sleep" neither speaks nor ends; 'cat' is given something to say again and again. */
TEST(a_child_that_promised_to_speak_and_does_not_is_ended_and_started_again)
{
    struct listener listener = { .greeting = "alive\n" };

    listen_to(&listener,
              (const char *const[]){ "sh", "-c", "read x; echo $x; exec sleep 100", NULL }, NULL);
    RUN_UNTIL(&listener, listener.lines == 1);
    link_expect(listener.link, 300);
    RUN_UNTIL(&listener, listener.ups == 2);
    assert_int_equal(listener.downs, 1);
    assert_true(listener.waited_ms >= 300);
    assert_non_null(strstr(link_fault(listener.link), "signal 9"));

    /* Nothing is expected of the next one before it has promised, too. */
    const uint64_t waited_ms = listener.waited_ms;

    RUN_UNTIL(&listener, listener.waited_ms > waited_ms + 600);
    assert_int_equal(listener.downs, 1);
    stop_listening(&listener);
}

TEST(a_child_that_keeps_its_promise_is_left_alone)
{
    struct listener listener = { 0 };

    listen_to(&listener,
              (const char *const[]){ "sh", "-c", "while sleep 0.1; do echo alive; done", NULL },
              NULL);
    RUN_UNTIL(&listener, listener.lines == 1);
    link_expect(listener.link, 2000);
    RUN_UNTIL(&listener, listener.lines == 30);
    assert_int_equal(listener.downs, 0);
    stop_listening(&listener);
}

TEST(a_link_can_be_closed_before_it_ever_connected)
{
    struct listener listener = { 0 };

    listen_to(&listener, (const char *const[]){ "cat", NULL }, NULL);
    stop_listening(&listener);

    assert_int_equal(listener.ups, 0);
}

CHECK_MAIN(RUN(a_child_that_fails_says_why_in_the_last_line_of_its_standard_error),
           RUN(a_child_that_has_said_nothing_yet_is_not_up),
           RUN(a_child_that_echoes_says_what_it_was_told),
           RUN(a_child_is_given_nothing_of_a_cloud_s_keys), RUN(a_child_that_ends_is_started_again),
           RUN(a_child_that_cannot_be_started_is_tried_again_and_never_up),
           RUN(a_line_that_is_too_long_is_reported_and_the_next_is_heard),
           RUN(a_child_that_does_not_read_is_left),
           RUN(a_socket_that_is_not_there_yet_is_found_later_and_again_after_a_break),
           RUN(a_child_that_promised_to_speak_and_does_not_is_ended_and_started_again),
           RUN(a_child_that_keeps_its_promise_is_left_alone),
           RUN(a_link_can_be_closed_before_it_ever_connected))
