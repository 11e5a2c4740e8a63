/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each listener is a server of libmicrohttpd with an epoll descriptor of its own; ours watches
 * both, so that the daemon has one to wait for. The body of a request is counted and thrown away:
 * no path of the API takes one. The library limits silence only; a client that sends or takes a byte now and then
 * would hold a connection for ever, and a few of them all there are. So the time of each is limited, too.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/api.h"
#include "serve/http_guard.h"

enum {
    BODY_MAX = 64 * 1024,
    MEMORY_PER_CONNECTION = 32 * 1024,
    CONNECTIONS_MAX = 64,
    CONNECTIONS_PER_ADDRESS = 16,
    SILENCE_S = 10,
    PATIENCE_MS = 30000,
    KEPT_MS = 1000,
    BACKLOG = 64,
    SOCKET_MODE = 0660,
    LISTENERS = 2,
};

#define TLS_VERSIONS "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* A connection that is open. */
struct caller {
    struct MHD_Connection *connection;
    struct caller *next;
    msec_t since;   /* it came, or its last request was over */
    bool is_let_in; /* has a request under way that it has a right to */
};

struct listener {
    struct serve_http *http;
    struct MHD_Daemon *server; /* NULL: not there */
    struct caller *callers;
    bool is_unix;
    bool near;
};

struct serve_http {
    struct serve_world *world;
    int poll;
    struct listener listener[LISTENERS];
    char *socket; /* path to remove at the end, or NULL */
    char *certificate;
    char *key;
    char token[HTTP_TOKEN_MAX + 1]; /* "": none */
    char read_token[HTTP_TOKEN_MAX + 1];
    unsigned port;
    msec_t patience_ms;
    struct api_reply metrics; /* the last that went to who has no right to more; no body: none */
    msec_t metrics_at;
    struct error said; /* by the library, while it starts */
};

/* One request under way. */
struct upload {
    size_t size; /* of its body so far */
};

/* Connections. -------------------------------------------------------------------------------- */

static msec_t monotonic_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (msec_t)now.tv_sec * MSEC_PER_SEC + now.tv_nsec / 1000000;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct listener *listener = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct caller *caller = mem_alloc(1, sizeof(*caller));

        *caller = (struct caller){ .connection = connection,
                                   .next = listener->callers,
                                   .since = monotonic_ms() };
        listener->callers = caller;
        *state = caller;
        return;
    }
    for (struct caller **at = &listener->callers; *at != NULL; at = &(*at)->next) {
        if (*at == *state) {
            *at = (*at)->next;
            break;
        }
    }
    mem_free(*state);
    *state = NULL;
}

static struct caller *caller_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* The library sees that the connection is over, and closes it. */
static void cut_off_slow(const struct listener *listener)
{
    const msec_t now = monotonic_ms();

    for (const struct caller *caller = listener->callers; caller != NULL; caller = caller->next) {
        if (caller->is_let_in || now - caller->since < listener->http->patience_ms)
            continue;
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(caller->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

        (void)shutdown(info->connect_fd, SHUT_RDWR);
    }
}

/* Requests. ----------------------------------------------------------------------------------- */

/* Whether 'given' is the token, in a time that does not tell how much of it is right. */
static bool is_token(const char *token, const char *given)
{
    const size_t length = strlen(token);
    const size_t given_length = strlen(given);
    volatile unsigned char differs = given_length == length ? 0 : 1;

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char byte = given[i < given_length ? i : given_length];

        differs = (unsigned char)(differs | (unsigned char)(byte ^ token[i]));
    }
    return differs == 0;
}

/* Whether the request has the read-only token as its password. A browser sends that along with every
 * request, whoever made it do so, which is why the other token is not taken this way. */
static bool has_password(const struct serve_http *http, struct MHD_Connection *connection)
{
    bool ret = false;

#if MHD_VERSION >= 0x00097701
    struct MHD_BasicAuthInfo *info = MHD_basic_auth_get_username_password3(connection);

    ret = info != NULL && info->password != NULL && is_token(http->read_token, info->password);
    MHD_free(info);
#else
    char *password = NULL;
    char *user = MHD_basic_auth_get_username_password(connection, &password);

    ret = password != NULL && is_token(http->read_token, password);
    MHD_free(password);
    MHD_free(user);
#endif
    return ret;
}

/* What the caller may do. */
static void find_rights(const struct listener *listener, struct MHD_Connection *connection,
                        struct api_request *request)
{
    static const char scheme[] = "Bearer ";
    const struct serve_http *http = listener->http;
    const char *header =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    const char *given = "";

    if (header != NULL && strncasecmp(header, scheme, sizeof(scheme) - 1) == 0)
        given = header + sizeof(scheme) - 1;

    const bool may_all = listener->is_unix || is_token(http->token, given);
    const bool may_read =
        is_token(http->read_token, given) || (header != NULL && has_password(http, connection));

    request->authorised = may_all || may_read;
    request->read_only = !may_all;
}

/* A key or value with a zero byte in it is none that we know: it must not pass for its beginning. */
static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                    size_t key_size, const char *value, size_t value_size)
{
    struct api_request *request = context;
    const bool clean = strlen(key) == key_size && (value == NULL || strlen(value) == value_size);

    (void)kind;
    if (request->argument_count < API_ARGUMENTS_MAX)
        request->arguments[request->argument_count] = (struct api_argument){
            .key = clean ? key : "",
            .value = value != NULL ? value : "",
        };
    request->argument_count++;
    return request->argument_count > API_ARGUMENTS_MAX ? MHD_NO : MHD_YES;
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct api_reply *reply)
{
    struct MHD_Response *response = NULL;
    enum MHD_Result result = MHD_NO;

    if (reply->body == NULL)
        return MHD_NO;
    response = MHD_create_response_from_buffer(reply->size, reply->body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(reply->body);
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
    for (const struct http_header *header = http_guard_headers; header->name != NULL; header++)
        (void)MHD_add_response_header(response, header->name, header->value);
    if (reply->allow != NULL)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
    if (reply->status == MHD_HTTP_UNAUTHORIZED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                      reply->is_page ? "Basic realm=\"stint\"" : "Bearer");
    result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse_body(struct MHD_Connection *connection)
{
    struct api_reply reply = {
        .status = MHD_HTTP_CONTENT_TOO_LARGE,
        .content_type = "application/json",
        .body = strdup("{\"error\":\"the body is too long\"}"),
    };

    reply.size = reply.body != NULL ? strlen(reply.body) : 0;
    return send_reply(connection, &reply);
}

/* Whether the request says itself that its body is too long. */
static bool announces_too_much(struct MHD_Connection *connection)
{
    const char *length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

    return length != NULL && strtoull(length, NULL, 10) > BODY_MAX;
}

/* A copy of 'reply', whose body the caller frees. */
static struct api_reply copy_reply(const struct api_reply *reply)
{
    struct api_reply copy = *reply;

    copy.body = malloc(reply->size + 1);
    if (copy.body != NULL)
        memcpy(copy.body, reply->body, reply->size);
    return copy;
}

/* Metrics cost a look at every task and at the books; clients without a token get new ones once a second. */
static void answer(struct serve_http *http, const struct api_request *request,
                   struct api_reply *reply)
{
    const bool is_kept = !request->authorised && request->near && request->argument_count == 0 &&
                         strcmp(request->method, MHD_HTTP_METHOD_GET) == 0 &&
                         strcmp(request->path, "/metrics") == 0;
    const msec_t now = monotonic_ms();

    if (is_kept && http->metrics.body != NULL && now - http->metrics_at < KEPT_MS) {
        *reply = copy_reply(&http->metrics);
        return;
    }
    api_answer(http->world, request, reply);
    if (!is_kept || reply->body == NULL)
        return;
    free(http->metrics.body);
    http->metrics = copy_reply(reply);
    http->metrics_at = now;
}

/* NOLINTNEXTLINE(readability-function-size): the library chose the parameters */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **state)
{
    const struct listener *listener = context;
    struct upload *upload = *state;
    struct api_reply reply;

    (void)version;
    (void)data;
    if (upload == NULL) {
        *state = mem_alloc(1, sizeof(*upload));
        return announces_too_much(connection) ? refuse_body(connection) : MHD_YES;
    }
    if (*size > 0) {
        upload->size += *size;
        *size = 0;
        return upload->size > BODY_MAX ? MHD_NO : MHD_YES;
    }

    struct api_request request = {
        .method = method,
        .path = path,
        .near = listener->near,
    };

    find_rights(listener, connection, &request);
    caller_of(connection)->is_let_in = request.authorised;
    (void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, add_argument, &request);
    answer(listener->http, &request, &reply);
    return send_reply(connection, &reply);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct caller *caller = caller_of(connection);

    (void)context;
    (void)code;
    caller->is_let_in = false;
    caller->since = monotonic_ms();
    mem_free(*state);
    *state = NULL;
}

/* Listening. ---------------------------------------------------------------------------------- */

static void note_log(void *context, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

static void note_log(void *context, const char *format, va_list list)
{
    struct serve_http *http = context;

    vsnprintf(http->said.text, sizeof(http->said.text), format, list);
    http->said.text[strcspn(http->said.text, "\n")] = '\0';
}

/* Serve on a descriptor that listens; it belongs to the server from then on. */
static int start_server(struct listener *listener, int descriptor, struct error *reterr)
{
    struct serve_http *http = listener->http;
    const bool with_tls = !listener->is_unix && http->certificate != NULL;
    struct MHD_OptionItem more[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, http->certificate },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, http->key },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (char[]){ TLS_VERSIONS } },
        { MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_PER_ADDRESS, NULL },
        { MHD_OPTION_END, 0, NULL },
    };
    struct MHD_OptionItem *chosen = more;

    if (!with_tls)
        chosen = listener->is_unix ? &more[4] : &more[3];
    listener->server = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (with_tls ? MHD_USE_TLS : 0), 0, NULL, NULL, on_request,
        listener, MHD_OPTION_EXTERNAL_LOGGER, note_log, http, MHD_OPTION_LISTEN_SOCKET, descriptor,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)MEMORY_PER_CONNECTION, MHD_OPTION_ARRAY, chosen, MHD_OPTION_END);
    if (listener->server == NULL) {
        close(descriptor);
        return error_set(reterr, -EINVAL, "the HTTP server does not start: %s",
                         http->said.text[0] != '\0' ? http->said.text : "no reason given");
    }

    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(listener->server, MHD_DAEMON_INFO_EPOLL_FD);
    struct epoll_event event = { .events = EPOLLIN };

    if (epoll_ctl(http->poll, EPOLL_CTL_ADD, info->epoll_fd, &event) < 0)
        return error_set(reterr, -errno, "epoll: %s", strerror(errno));
    return 0;
}

/* Remove what an earlier daemon left; nothing that is in use, and nothing but a socket. */
static int remove_stale(const struct sockaddr_un *address, struct error *reterr)
{
    const char *path = address->sun_path;
    struct stat stat = { .st_mode = 0 };

    if (lstat(path, &stat) < 0)
        return errno == ENOENT ? 0 : error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(stat.st_mode))
        return error_set(reterr, -EEXIST, "%s: is there and is no socket", path);

    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (probe < 0)
        return error_set(reterr, -errno, "socket: %s", strerror(errno));

    const int result =
        connect(probe, (const struct sockaddr *)(const void *)address, sizeof(*address));
    const bool stale = result < 0 && errno == ECONNREFUSED;

    close(probe);
    if (!stale)
        return error_set(reterr, -EADDRINUSE, "%s: another process listens there", path);
    if (unlink(path) < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

static int listen_unix(struct serve_http *http, const struct serve_http_config *config,
                       struct error *reterr)
{
    const unsigned mode = config->socket_mode != 0 ? config->socket_mode : SOCKET_MODE;
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(config->socket) >= sizeof(address.sun_path))
        return error_set(reterr, -ENAMETOOLONG, "%s: the path of a socket has at most %zu bytes",
                         config->socket, sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, config->socket, strlen(config->socket) + 1);

    const int error = remove_stale(&address, reterr);

    if (error < 0)
        return error;

    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (descriptor < 0)
        return error_set(reterr, -errno, "socket: %s", strerror(errno));

    /* No connection may be made between 'bind' and 'chmod'. */
    const mode_t old = umask(0177);
    const int bound =
        bind(descriptor, (const struct sockaddr *)(const void *)&address, sizeof(address));
    const int bind_error = errno;

    umask(old);
    if (bound < 0 || chmod(config->socket, mode & 0777) < 0 || listen(descriptor, BACKLOG) < 0) {
        const int failed = bound < 0 ? bind_error : errno;

        close(descriptor);
        return error_set(reterr, -failed, "%s: %s", config->socket, strerror(failed));
    }
    http->socket = strdup(config->socket);
    http->listener[0] = (struct listener){ .http = http, .is_unix = true, .near = true };
    return start_server(&http->listener[0], descriptor, reterr);
}

static int bind_tcp(struct serve_http *http, const char *text, const struct http_address *address,
                    int *ret, struct error *reterr)
{
    const int yes = 1;
    struct sockaddr_storage bound = { .ss_family = AF_UNSPEC };
    socklen_t bound_length = sizeof(bound);
    const int descriptor =
        socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (descriptor < 0)
        return error_set(reterr, -errno, "socket: %s", strerror(errno));
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(descriptor, (const struct sockaddr *)(const void *)&address->socket, address->length) <
            0 ||
        listen(descriptor, BACKLOG) < 0 ||
        getsockname(descriptor, (struct sockaddr *)(void *)&bound, &bound_length) < 0) {
        const int failed = errno;

        close(descriptor);
        return error_set(reterr, -failed, "%s: %s", text, strerror(failed));
    }

    struct sockaddr_in port; /* the port is at the same place in both families */

    memcpy(&port, &bound, sizeof(port));
    http->port = ntohs(port.sin_port);
    *ret = descriptor;
    return 0;
}

static int listen_tcp(struct serve_http *http, const struct serve_http_config *config,
                      struct error *reterr)
{
    const bool has_tls = config->certificate != NULL;
    struct http_address address;
    int descriptor = -1;
    int error = http_guard_address(config->listen, &address, reterr);

    if (error == 0 && has_tls != (config->key != NULL))
        error = error_set(reterr, -EINVAL, "TLS needs both a certificate and its key");
    if (error == 0)
        error =
            http_guard_reach(config->listen, &address, has_tls,
                             config->token_file != NULL || config->read_token_file != NULL, reterr);
    if (error == 0 && config->token_file != NULL)
        error = http_guard_token(config->token_file, http->token, reterr);
    if (error == 0 && config->read_token_file != NULL)
        error = http_guard_token(config->read_token_file, http->read_token, reterr);
    if (error == 0 && http->token[0] != '\0' && strcmp(http->token, http->read_token) == 0)
        error = error_set(reterr, -EINVAL, "%s: the read-only token is the other token; make one",
                          config->read_token_file);
    if (error == 0 && has_tls)
        error = http_guard_file(config->certificate, false, &http->certificate, reterr);
    if (error == 0 && has_tls)
        error = http_guard_file(config->key, true, &http->key, reterr);
    if (error == 0)
        error = bind_tcp(http, config->listen, &address, &descriptor, reterr);
    if (error < 0)
        return error;
    http->listener[1] = (struct listener){ .http = http, .near = address.is_near };
    return start_server(&http->listener[1], descriptor, reterr);
}

/* The whole. ---------------------------------------------------------------------------------- */

int serve_http_start(const struct serve_http_config *config, struct serve_world *world,
                     struct serve_http **ret, struct error *reterr)
{
    struct serve_http *http = mem_alloc(1, sizeof(*http));
    int error = 0;

    http->world = world;
    http->patience_ms = config->patience_ms != 0 ? config->patience_ms : PATIENCE_MS;
    http->poll = epoll_create1(EPOLL_CLOEXEC);
    if (http->poll < 0)
        error = error_set(reterr, -errno, "epoll: %s", strerror(errno));
    if (error == 0 && config->socket != NULL)
        error = listen_unix(http, config, reterr);
    if (error == 0 && config->listen != NULL)
        error = listen_tcp(http, config, reterr);
    if (error < 0) {
        serve_http_stop(http);
        return error;
    }
    *ret = http;
    return 0;
}

static void forget_secret(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    mem_free(text);
}

void serve_http_stop(struct serve_http *http)
{
    if (http == NULL)
        return;
    for (int i = 0; i < LISTENERS; i++) {
        if (http->listener[i].server != NULL)
            MHD_stop_daemon(http->listener[i].server);
    }
    if (http->socket != NULL)
        (void)unlink(http->socket);
    free(http->socket);
    free(http->metrics.body);
    mem_free(http->certificate);
    forget_secret(http->key);
    explicit_bzero(http->token, sizeof(http->token));
    explicit_bzero(http->read_token, sizeof(http->read_token));
    if (http->poll >= 0)
        close(http->poll);
    mem_free(http);
}

int serve_http_fd(const struct serve_http *http)
{
    return http->poll;
}

int serve_http_timeout_ms(const struct serve_http *http)
{
    int least = -1;

    for (int i = 0; i < LISTENERS; i++) {
        MHD_UNSIGNED_LONG_LONG timeout = 0;

        if (http->listener[i].server == NULL ||
            MHD_get_timeout(http->listener[i].server, &timeout) != MHD_YES)
            continue;

        const int milliseconds = timeout > INT_MAX ? INT_MAX : (int)timeout;

        if (least < 0 || milliseconds < least)
            least = milliseconds;
    }
    return least;
}

void serve_http_run(struct serve_http *http)
{
    for (int i = 0; i < LISTENERS; i++) {
        if (http->listener[i].server == NULL)
            continue;
        cut_off_slow(&http->listener[i]);
        (void)MHD_run(http->listener[i].server);
    }
}

unsigned serve_http_port(const struct serve_http *http)
{
    return http->port;
}
