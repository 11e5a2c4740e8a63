/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_double.h - an HTTP server of a page in the test's own loop: each request goes to a function
 * that prints the answer; then the connection ends.
 */
#ifndef STINT_CLOUD_HTTP_DOUBLE_H
#define STINT_CLOUD_HTTP_DOUBLE_H

#include "base/test/check.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

enum { HTTP_DOUBLE_SIZE = 65536 };

static uv_loop_t http_loop;
static uv_tcp_t http_server;
static char http_url[64]; /* "http://127.0.0.1:PORT" */
static uint32_t http_requests;

/* Print the body of the answer to 'request' and return its status. */
static int (*http_serve)(const char *request, char *ret_body, size_t size);

struct http_client {
    uv_tcp_t tcp;
    size_t size;
    char heard[HTTP_DOUBLE_SIZE];
    char body[HTTP_DOUBLE_SIZE];
};

static inline void http_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static inline void http_alloc(uv_handle_t *handle, size_t wish, uv_buf_t *ret)
{
    struct http_client *client = handle->data;

    (void)wish;
    *ret = uv_buf_init(client->heard + client->size,
                       (unsigned)(sizeof(client->heard) - 1 - client->size));
}

static inline bool http_is_whole(const struct http_client *client)
{
    const char *end = strstr(client->heard, "\r\n\r\n");
    const char *length = strcasestr(client->heard, "\r\nContent-Length: ");

    if (end == NULL)
        return false;
    return length == NULL ||
           client->size >= (size_t)(end + 4 - client->heard) + strtoul(length + 18, NULL, 10);
}

static inline void http_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct http_client *client = stream->data;
    char head[128];

    (void)buffer;
    if (size >= 0) {
        client->size += (size_t)size;
        client->heard[client->size] = '\0';
        if (!http_is_whole(client))
            return;
        http_requests++;

        const int status = http_serve(client->heard, client->body, sizeof(client->body));

        (void)snprintf(head, sizeof(head),
                       "HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", status,
                       strlen(client->body));
        uv_buf_t parts[2] = { uv_buf_init(head, (unsigned)strlen(head)),
                              uv_buf_init(client->body, (unsigned)strlen(client->body)) };

        (void)uv_try_write(stream, parts, 2);
    }
    if (!uv_is_closing((uv_handle_t *)stream))
        uv_close((uv_handle_t *)stream, http_closed);
}

static inline void http_connected(uv_stream_t *stream, int status)
{
    struct http_client *client = calloc(1, sizeof(*client));

    assert_int_equal(status, 0);
    assert_non_null(client);
    client->tcp.data = client;
    assert_int_equal(uv_tcp_init(&http_loop, &client->tcp), 0);
    assert_int_equal(uv_accept(stream, (uv_stream_t *)&client->tcp), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&client->tcp, http_alloc, http_read), 0);
}

static inline int http_set_up(void **state)
{
    struct sockaddr_in address;
    int length = sizeof(address);

    (void)state;
    http_requests = 0;
    assert_int_equal(uv_loop_init(&http_loop), 0);
    assert_int_equal(uv_tcp_init(&http_loop, &http_server), 0);
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &address), 0);
    assert_int_equal(uv_tcp_bind(&http_server, (const struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&http_server, 8, http_connected), 0);
    assert_int_equal(uv_tcp_getsockname(&http_server, (struct sockaddr *)&address, &length), 0);
    (void)snprintf(http_url, sizeof(http_url), "http://127.0.0.1:%u",
                   (unsigned)ntohs(address.sin_port));
    return 0;
}

static inline int http_tear_down(void **state)
{
    (void)state;
    uv_close((uv_handle_t *)&http_server, NULL);
    (void)uv_run(&http_loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&http_loop), 0);
    return 0;
}

#endif
