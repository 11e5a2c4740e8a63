/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/local/local_server.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/line_input.h"
#include "base/mem.h"
#include "base/rng.h"

enum {
    BACKLOG = 64,
    CLIENTS_MAX = 64,
    UNREAD_MAX = 64 << 20, /* bytes that a client has not read, before it is cut off */
};

/* One stream of random numbers for each purpose; local_world.c has the lower ones. */
enum { RNG_DELAY = 11, RNG_DUPLICATE = 12, RNG_CUT = 13 };

/* Lines that wait for their time, oldest first. */
struct parcel {
    struct parcel *next;
    msec_t due;
    uint32_t size;
    char text[];
};

struct client {
    struct local_server *server;
    struct client *next;
    uv_pipe_t pipe;
    uv_timer_t timer;
    uint32_t handles;
    bool is_greeted;
    bool is_closing;
    char cluster[LOCAL_CLUSTER_MAX + 1];
    struct line_input input;
    struct line_text answer;
    struct parcel *first;
    struct parcel *last;
};

struct local_server {
    struct local_server_config config;
    uv_pipe_t pipe;
    struct client *clients;
    uint32_t client_count;
    bool is_closing;
    struct rng delay_rng;
    struct rng duplicate_rng;
    struct rng cut_rng;
};

struct sending {
    uv_write_t write;
    char text[];
};

static void free_if_over(struct local_server *server)
{
    if (server->is_closing && server->client_count == 0 && server->pipe.data == NULL)
        mem_free(server);
}

static void forget(struct client *client)
{
    struct local_server *server = client->server;
    struct client **at = &server->clients;

    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    server->client_count--;
    while (client->first != NULL) {
        struct parcel *parcel = client->first;

        client->first = parcel->next;
        mem_free(parcel);
    }
    line_input_done(&client->input);
    line_text_done(&client->answer);
    mem_free(client);
    free_if_over(server);
}

static void on_client_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;

    client->handles--;
    if (client->handles == 0)
        forget(client);
}

static void hang_up(struct client *client)
{
    if (client->is_closing)
        return;
    client->is_closing = true;
    uv_close((uv_handle_t *)&client->pipe, on_client_closed);
    uv_close((uv_handle_t *)&client->timer, on_client_closed);
}

static void on_sent(uv_write_t *write, int status)
{
    struct client *client = write->handle->data;

    mem_free(write->data);
    if (status < 0)
        hang_up(client);
}

static void send_now(struct client *client, const char *text, uint32_t size)
{
    struct sending *sending = mem_alloc(1, sizeof(*sending) + size);

    memcpy(sending->text, text, size);
    sending->write.data = sending;
    const uv_buf_t buffer = uv_buf_init(sending->text, size);

    if (uv_write(&sending->write, (uv_stream_t *)&client->pipe, &buffer, 1, on_sent) < 0) {
        mem_free(sending);
        hang_up(client);
    } else if (uv_stream_get_write_queue_size((uv_stream_t *)&client->pipe) > UNREAD_MAX) {
        hang_up(client);
    }
}

static void on_due(uv_timer_t *timer);

static void arm(struct client *client, msec_t now)
{
    if (client->first == NULL || client->is_closing)
        return;
    const msec_t due = client->first->due;

    (void)uv_timer_start(&client->timer, on_due, due > now ? (uint64_t)(due - now) : 0, 0);
}

static void on_due(uv_timer_t *timer)
{
    struct client *client = timer->data;
    const msec_t now = client->server->config.now(client->server->config.context);

    while (client->first != NULL && client->first->due <= now && !client->is_closing) {
        struct parcel *parcel = client->first;

        client->first = parcel->next;
        if (client->first == NULL)
            client->last = NULL;
        send_now(client, parcel->text, parcel->size);
        mem_free(parcel);
    }
    arm(client, now);
}

/* Send now, or behind what already waits. */
static void post(struct client *client, const char *text, uint32_t size, msec_t delay)
{
    const msec_t now = client->server->config.now(client->server->config.context);

    if (client->is_closing)
        return;
    if (delay == 0 && client->first == NULL) {
        send_now(client, text, size);
        return;
    }
    struct parcel *parcel = mem_alloc(1, sizeof(*parcel) + size);

    parcel->due = now + delay;
    parcel->size = size;
    memcpy(parcel->text, text, size);
    if (client->last != NULL) {
        if (parcel->due < client->last->due)
            parcel->due = client->last->due;
        client->last->next = parcel;
    } else {
        client->first = parcel;
    }
    client->last = parcel;
    arm(client, now);
}

static bool happens(struct local_server *server, enum local_fault fault, struct rng *rng)
{
    const uint32_t share = local_world_fault(server->config.world, fault);

    return share > 0 && rng_below(rng, 1000) < share;
}

/* Post lines, with the faults that were asked for. */
static void post_faulty(struct client *client, const char *text, uint32_t size)
{
    struct local_server *server = client->server;
    const uint32_t most = local_world_fault(server->config.world, LOCAL_FAULT_DELAY_MS);
    const msec_t delay = most == 0 ? 0 : (msec_t)rng_below(&server->delay_rng, (uint64_t)most + 1);

    post(client, text, size, delay);
    if (happens(server, LOCAL_FAULT_DUPLICATE, &server->duplicate_rng))
        post(client, text, size, delay);
}

void local_server_tell(struct local_server *server, const char *cluster, const char *lines,
                       uint32_t size)
{
    if (server == NULL)
        return;
    for (struct client *client = server->clients; client != NULL; client = client->next) {
        if (client->is_greeted && strcmp(client->cluster, cluster) == 0)
            post_faulty(client, lines, size);
    }
}

static void tell_error(struct client *client, const char *text)
{
    line_text_begin(&client->answer, "error");
    line_text_prose(&client->answer, "text", text);
    line_text_end(&client->answer);
}

static void greet(struct client *client, const struct local_request *request)
{
    if (request->protocol != LOCAL_PROTOCOL) {
        tell_error(client, "no common protocol");
        return;
    }
    client->is_greeted = true;
    (void)snprintf(client->cluster, sizeof(client->cluster), "%s", request->cluster);
    line_text_begin(&client->answer, "hello");
    line_text_number(&client->answer, "protocol", LOCAL_PROTOCOL);
    line_text_string(&client->answer, "stint", STINT_VERSION);
    line_text_end(&client->answer);
}

static void obey(struct client *client, const struct local_request *request)
{
    struct local_server *server = client->server;
    const bool is_act = request->verb == LOCAL_RENT || request->verb == LOCAL_GIVE_BACK;

    if (request->verb == LOCAL_HELLO) {
        greet(client, request);
        return;
    }
    if (!client->is_greeted) {
        tell_error(client, "say hello first");
        return;
    }
    local_world_obey(server->config.world, server->config.now(server->config.context),
                     client->cluster, request, &client->answer);
    if (is_act && happens(server, LOCAL_FAULT_CUT, &server->cut_rng))
        hang_up(client);
}

static void read_line(struct client *client, char *text, size_t length)
{
    struct line line;
    struct local_request request;
    struct error error = { "" };

    line_text_reset(&client->answer);
    if (length == SIZE_MAX)
        tell_error(client, "the line is too long");
    else if (line_parse(text, length, &line, &error) < 0 ||
             local_request_read(&line, &request, &error) < 0)
        tell_error(client, error.text);
    else
        obey(client, &request);
    if (client->answer.size > 0 && !client->is_closing)
        post_faulty(client, client->answer.text, client->answer.size);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    struct client *client = handle->data;
    size_t size = 0;
    char *room = line_input_room(&client->input, &size);

    (void)wanted;
    *ret = uv_buf_init(room, (unsigned)size);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *bytes)
{
    struct client *client = stream->data;
    char *text = NULL;
    size_t length = 0;

    (void)bytes;
    if (size < 0) {
        hang_up(client);
        return;
    }
    line_input_add(&client->input, (size_t)size);
    while (!client->is_closing && line_input_next(&client->input, &text, &length))
        read_line(client, text, length);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct local_server *server = stream->data;

    if (status < 0)
        return;
    struct client *client = mem_alloc(1, sizeof(*client));

    client->server = server;
    client->next = server->clients;
    server->clients = client;
    server->client_count++;
    client->handles = 2;
    client->pipe.data = client;
    client->timer.data = client;
    line_input_init(&client->input);
    (void)uv_pipe_init(server->config.loop, &client->pipe, 0);
    (void)uv_timer_init(server->config.loop, &client->timer);
    if (uv_accept(stream, (uv_stream_t *)&client->pipe) < 0 || server->client_count > CLIENTS_MAX ||
        uv_read_start((uv_stream_t *)&client->pipe, on_room, on_read) < 0)
        hang_up(client);
}

static void on_server_closed(uv_handle_t *handle)
{
    struct local_server *server = handle->data;

    server->pipe.data = NULL;
    free_if_over(server);
}

/* A socket that an earlier server left is removed; anything else stays and is an error. */
static int make_socket(struct local_server *server, struct error *reterr)
{
    const char *path = server->config.socket;
    struct stat about;
    int error = 0;

    if (lstat(path, &about) == 0 && S_ISSOCK(about.st_mode))
        (void)unlink(path);
    const mode_t mask = umask(0777 & ~(mode_t)server->config.mode);

    error = uv_pipe_bind(&server->pipe, path);
    (void)umask(mask);
    if (error == 0)
        error = uv_listen((uv_stream_t *)&server->pipe, BACKLOG, on_connection);
    if (error < 0)
        return error_set(reterr, error, "%s: %s", path, uv_strerror(error));
    return 0;
}

int local_server_open(const struct local_server_config *config, struct local_server **ret,
                      struct error *reterr)
{
    struct local_server *server = mem_alloc(1, sizeof(*server));

    server->config = *config;
    server->pipe.data = server;
    rng_init(&server->delay_rng, config->seed, RNG_DELAY);
    rng_init(&server->duplicate_rng, config->seed, RNG_DUPLICATE);
    rng_init(&server->cut_rng, config->seed, RNG_CUT);
    (void)uv_pipe_init(config->loop, &server->pipe, 0);
    const int error = make_socket(server, reterr);

    if (error < 0) {
        local_server_close(server);
        return error;
    }
    *ret = server;
    return 0;
}

void local_server_close(struct local_server *server)
{
    server->is_closing = true;
    for (struct client *client = server->clients; client != NULL; client = client->next)
        hang_up(client);
    uv_close((uv_handle_t *)&server->pipe, on_server_closed);
}

bool local_server_hears(const struct local_server *server, const char *cluster)
{
    for (const struct client *client = server->clients; client != NULL; client = client->next) {
        if (client->is_greeted && !client->is_closing && strcmp(client->cluster, cluster) == 0)
            return true;
    }
    return false;
}
