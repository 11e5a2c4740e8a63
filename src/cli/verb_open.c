/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint open - the daemon's page in a browser.
 *
 * A browser cannot open a Unix socket nor send a token. So this listens on 127.0.0.1, hands GET requests on
 * to the daemon and the answers back. Who is on this computer can reach the port, so all paths begin with a
 * random key of 128 bits, which only the printed link has; it is worth nothing once this has ended. Nothing but
 * GET is handed on: with the link nobody can change anything. A name in front of the address other than
 * 127.0.0.1 is refused, so that no site can pass for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "cli/operator.h"
#include "cli/verb.h"
#include "serve/http_guard.h"

enum { KEY_BYTES = 16, KEY_SIZE = 2 * KEY_BYTES + 1, PATH_MOST = 2048, HOST_SIZE = 64 };

static const char doc[] =
    "Print a link to the daemon's page for a browser on this computer, and serve the page "
    "until Ctrl-C. The page is read-only. It shows running and waiting jobs with reasons, "
    "costs, and decisions.\vExamples:\n"
    "  stint open\n"
    "  stint open --url https://head:9178 --token-file ~/.stint-read-token\n"
    "\n"
    "The link contains a random key and works while this command runs. On a head node without"
    " a browser, forward the port: ssh -L 9180:127.0.0.1:9180 head, and there stint open "
    "--port 9180.\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage.";

static const struct argp_option options[] = {
    { "port", 'p', "PORT", 0, "Listen on this port (default: any free one)", 0 },
    { 0 },
};

struct opening {
    struct daemon_options daemon;
    uint16_t port;
    char key[KEY_SIZE];
    char host[HOST_SIZE]; /* what a browser must have asked for: "127.0.0.1:9180" */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct opening *opening = state->input;
    char *end = NULL;
    unsigned long port;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &opening->daemon;
        return 0;
    case 'p':
        errno = 0;
        port = strtoul(arg, &end, 10);
        if (errno != 0 || *end != 0 || port == 0 || port > UINT16_MAX || arg[0] == '-')
            argp_error(state, "--port is a number from 1 to 65535, not '%s'", arg);
        opening->port = (uint16_t)port;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *type,
                             const char *text, size_t size)
{
    char *copy = malloc(size + 1);

    if (copy == NULL)
        return MHD_NO;
    memcpy(copy, text, size);

    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, copy, MHD_RESPMEM_MUST_FREE);

    if (response == NULL) {
        free(copy);
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (const struct http_header *header = http_guard_headers; header->name != NULL; header++)
        (void)MHD_add_response_header(response, header->name, header->value);

    const enum MHD_Result result = MHD_queue_response(connection, status, response);

    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    return reply(connection, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* The path behind the key; NULL: it does not begin with that, or has bytes that no address has. In a time that does
 * not tell how much of the key is right. */
static const char *path_within(const struct opening *opening, const char *whole)
{
    volatile unsigned char differs = 0;

    if (strlen(whole) > PATH_MOST || strlen(whole) < KEY_SIZE + 1 || whole[0] != '/' ||
        whole[KEY_SIZE] != '/')
        return NULL;
    for (size_t i = 0; i + 1 < KEY_SIZE; i++)
        differs = (unsigned char)(differs | (unsigned char)(whole[i + 1] ^ opening->key[i]));
    for (const char *c = whole; *c != 0; c++) {
        if (*c <= ' ' || *c > '~')
            return NULL;
    }
    return differs == 0 ? whole + KEY_SIZE : NULL;
}

static enum MHD_Result hand_on(const struct opening *opening, struct MHD_Connection *connection,
                               const char *path)
{
    struct daemon_body body;
    struct error error = { "" };

    if (daemon_fetch(&opening->daemon, path, &body, &error) < 0)
        return refuse(connection, MHD_HTTP_BAD_GATEWAY, error.text);

    const enum MHD_Result result = reply(connection, (unsigned)body.status, body.type,
                                         body.text != NULL ? body.text : "", body.size);

    mem_free(body.text);
    return result;
}

/* NOLINTNEXTLINE(readability-function-size): the library chose the parameters */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *decoded, const char *method, const char *version,
                                  const char *data, size_t *size, void **state)
{
    const struct opening *opening = context;
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    const char *path = path_within(opening, *state);

    (void)decoded;
    (void)version;
    (void)data;
    if (*size > 0) { /* a body, which nothing here takes */
        *size = 0;
        return MHD_NO;
    }
    if (host == NULL || strcmp(host, opening->host) != 0 || path == NULL)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "stint open: use the whole link\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "stint open: only GET\n");
    return hand_on(opening, connection, path);
}

/* The address as it came, before the library decodes it: it becomes the state of the request. */
static void *keep_address(void *context, const char *address, struct MHD_Connection *connection)
{
    (void)context;
    (void)connection;
    return strdup(address);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    free(*state);
    *state = NULL;
}

static int make_key(char *key)
{
    unsigned char bytes[KEY_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return -EIO;
    for (size_t i = 0; i < KEY_BYTES; i++)
        (void)snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int serve(struct opening *opening, struct error *reterr)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(opening->port) };
    sigset_t signals;
    int number = 0;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before the library starts its thread */

    struct MHD_Daemon *server = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD, opening->port, NULL, NULL, on_request, opening,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_URI_LOG_CALLBACK, keep_address, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_CONNECTION_LIMIT, 32U,
        MHD_OPTION_CONNECTION_TIMEOUT, 30U, MHD_OPTION_END);

    if (server == NULL)
        return error_set(reterr, -EADDRINUSE,
                         "port %u of 127.0.0.1 cannot be opened; is it in use?", opening->port);

    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT);

    (void)snprintf(opening->host, sizeof(opening->host), "127.0.0.1:%u", info->port);
    (void)printf("http://%s/%s/\n", opening->host, opening->key);
    (void)fflush(stdout);
    (void)fputs("This link works on this computer until Ctrl-C. It shows, and changes nothing.\n",
                stderr);
    (void)sigwait(&signals, &number);
    MHD_stop_daemon(server);
    return 0;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint open";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    struct opening opening = { .daemon = { .no_csv = true } };
    struct error error = { "" };
    json_t *status = NULL;

    if (!operator_parse(&argp, name, argc, argv, &opening))
        return EXIT_USAGE;
    if (daemon_get(&opening.daemon, "/v1/status", &status, &error) < 0)
        return verb_fail("open", &error);
    json_decref(status);
    if (make_key(opening.key) < 0)
        (void)error_set(&error, -EIO, "no random numbers can be had");
    else if (serve(&opening, &error) == 0)
        return EXIT_DONE;
    return verb_fail("open", &error);
}

const struct verb verb_open = {
    .name = "open",
    .summary = "open the daemon's page in a browser on this computer",
    .run = run,
};
