/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of a few lines stands in the same loop: it answers each connection with fixed bytes and
 * keeps what it was sent.
 */
#include "base/test/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "cloud/aws/aws_http.h"

static uv_loop_t loop;
static uv_tcp_t server;
static uv_tcp_t client;
static bool has_client;
static const char *reply; /* NULL: say nothing; "": hang up */
static char heard[65536];
static size_t heard_size;
static char url[64];

static struct aws_http_answer got;
static char got_body[4096];
static int answers;

static void on_alloc(uv_handle_t *handle, size_t wish, uv_buf_t *ret)
{
    (void)handle;
    (void)wish;
    *ret = uv_buf_init(heard + heard_size, (unsigned)(sizeof(heard) - 1 - heard_size));
}

static void close_client(void)
{
    if (has_client && !uv_is_closing((uv_handle_t *)&client))
        uv_close((uv_handle_t *)&client, NULL);
    has_client = false;
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    (void)buffer;
    if (size < 0) {
        close_client();
        return;
    }
    heard_size += (size_t)size;
    heard[heard_size] = '\0';
    if (strstr(heard, "\r\n\r\n") == NULL || reply == NULL)
        return;
    if (reply[0] != '\0') {
        uv_buf_t out = uv_buf_init((char *)(uintptr_t)reply, (unsigned)strlen(reply));

        (void)uv_try_write(stream, &out, 1);
    }
    close_client();
}

static void on_connect(uv_stream_t *stream, int status)
{
    assert_int_equal(status, 0);
    assert_int_equal(uv_tcp_init(&loop, &client), 0);
    assert_int_equal(uv_accept(stream, (uv_stream_t *)&client), 0);
    has_client = true;
    assert_int_equal(uv_read_start((uv_stream_t *)&client, on_alloc, on_read), 0);
}

static int set_up(void **state)
{
    struct sockaddr_in address;
    int length = sizeof(address);

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_tcp_init(&loop, &server), 0);
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &address), 0);
    assert_int_equal(uv_tcp_bind(&server, (const struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&server, 8, on_connect), 0);
    assert_int_equal(uv_tcp_getsockname(&server, (struct sockaddr *)&address, &length), 0);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", (unsigned)ntohs(address.sin_port));
    heard_size = 0;
    answers = 0;
    has_client = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_client();
    uv_close((uv_handle_t *)&server, NULL);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return 0;
}

static void on_answer(void *context, const struct aws_http_answer *answer)
{
    (void)context;
    got = *answer;
    (void)snprintf(got_body, sizeof(got_body), "%s", answer->body);
    answers++;
}

static void ask(const struct aws_http_request *request)
{
    struct aws_http *http = aws_http_create(&loop);

    aws_http_send(http, request, on_answer, NULL);
    assert_int_equal(answers, 0);
    while (answers == 0)
        (void)uv_run(&loop, UV_RUN_ONCE);
    aws_http_destroy(http);
}

TEST(a_post_is_signed_and_answered)
{
    struct aws_secret *secret = aws_secret_create();

    memcpy(secret->access_key, "AKIDEXAMPLE", 12);
    memcpy(secret->secret_key, "wJalrXUtnFEMI", 14);
    memcpy(secret->session_token, "TOKEN", 6);
    reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    ask(&(struct aws_http_request){ .url = url,
                                    .body = "Action=X",
                                    .body_size = 8,
                                    .sign_as = "aws:amz:us-east-1:ec2",
                                    .secret = secret,
                                    .timeout_ms = 5000 });

    assert_int_equal(got.fault, 0);
    assert_int_equal(got.status, 200);
    assert_string_equal(got_body, "hello");
    assert_non_null(strstr(heard, "POST / HTTP/1.1\r\n"));
    assert_non_null(strstr(heard, "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"));
    assert_non_null(strstr(heard, "/us-east-1/ec2/aws4_request"));
    assert_non_null(strstr(heard, "x-amz-security-token"));
    assert_non_null(strstr(heard, "X-Amz-Security-Token: TOKEN"));
    assert_null(strstr(heard, "wJalrXUtnFEMI"));
    assert_non_null(strstr(heard, "\r\n\r\nAction=X"));
    aws_secret_destroy(secret);
}

TEST(an_error_status_is_an_answer)
{
    reply = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy";

    ask(&(struct aws_http_request){ .url = url, .timeout_ms = 5000 });

    assert_int_equal(got.fault, 0);
    assert_int_equal(got.status, 503);
    assert_string_equal(got_body, "busy");
}

TEST(a_redirect_is_not_followed)
{
    reply = "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";

    ask(&(struct aws_http_request){ .url = url, .method = "GET", .timeout_ms = 5000 });

    assert_int_equal(got.fault, 0);
    assert_int_equal(got.status, 302);
}

TEST(a_cut_connection_is_a_fault)
{
    reply = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf";

    ask(&(struct aws_http_request){ .url = url, .timeout_ms = 5000 });

    assert_int_equal(got.fault, -ECONNRESET);
    assert_string_equal(got_body, "");
}

TEST(silence_is_a_time_out)
{
    reply = NULL;

    ask(&(struct aws_http_request){ .url = url, .timeout_ms = 50 });

    assert_int_equal(got.fault, -ETIMEDOUT);
}

TEST(an_answer_that_is_too_long_is_a_fault)
{
    reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    ask(&(struct aws_http_request){ .url = url, .timeout_ms = 5000, .answer_max = 4 });

    assert_int_equal(got.fault, -EMSGSIZE);
}

TEST(what_is_dropped_is_never_answered)
{
    struct aws_http *http = aws_http_create(&loop);

    reply = NULL;
    aws_http_send(http, &(struct aws_http_request){ .url = url, .timeout_ms = 60000 }, on_answer,
                  NULL);
    while (heard_size == 0)
        (void)uv_run(&loop, UV_RUN_ONCE);

    aws_http_destroy(http);

    assert_int_equal(answers, 0);
}

TEST(plain_text_goes_to_near_hosts_only)
{
    assert_true(aws_http_is_allowed("https://ec2.us-east-1.amazonaws.com/"));
    assert_true(aws_http_is_allowed("http://127.0.0.1:5000/"));
    assert_true(aws_http_is_allowed("http://169.254.169.254/latest/api/token"));
    assert_false(aws_http_is_allowed("http://127.0.0.1.example.org/"));
    assert_false(aws_http_is_allowed("http://example.org/"));
    assert_false(aws_http_is_allowed("file:///etc/passwd"));
    assert_false(aws_http_is_allowed("http://localhost@example.org/"));
    assert_false(aws_http_is_allowed("http://127.0.0.1:80@example.org/"));
    assert_true(aws_http_is_allowed("http://127.0.0.1:80/a@example.org"));
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

CHECK_MAIN(WITH(a_post_is_signed_and_answered), WITH(an_error_status_is_an_answer),
           WITH(a_redirect_is_not_followed), WITH(a_cut_connection_is_a_fault),
           WITH(silence_is_a_time_out), WITH(an_answer_that_is_too_long_is_a_fault),
           WITH(what_is_dropped_is_never_answered), RUN(plain_text_goes_to_near_hosts_only))
