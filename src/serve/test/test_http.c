/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real requests by libcurl over real sockets, in one thread: curl's transfers and the server take
 * turns. TLS needs the program openssl for a certificate, and is skipped without it.
 */
#include "serve/http.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <curl/curl.h>

#include "base/test/check.h"
#include "serve/api.h"
#include "serve/test/serve_stage.h"

#define TOKEN      "0123456789abcdef0123"
#define READ_TOKEN "reader-reader-reader"

struct http_test {
    struct serve_stage stage;
    struct serve_http *http;
    char socket[100];
    char token_file[128];
    char read_token_file[128];
    char certificate[128];
    char key[128];
};

struct fetched {
    CURLcode code;
    long status;
    char body[65536];
    size_t size;
};

static void write_file(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void make(struct http_test *test)
{
    stage_init(&test->stage);
    test->http = NULL;
    snprintf(test->socket, sizeof(test->socket), "%s/s", test->stage.folder);
    snprintf(test->token_file, sizeof(test->token_file), "%s/token", test->stage.folder);
    snprintf(test->certificate, sizeof(test->certificate), "%s/c.pem", test->stage.folder);
    snprintf(test->key, sizeof(test->key), "%s/k.pem", test->stage.folder);

    write_file(test->token_file, TOKEN "\n");
    snprintf(test->read_token_file, sizeof(test->read_token_file), "%s/r", test->stage.folder);
    write_file(test->read_token_file, READ_TOKEN "\n");
}

static void start(struct http_test *test, const struct serve_http_config *config)
{
    struct error error = { "" };

    if (serve_http_start(config, &test->stage.world, &test->http, &error) < 0)
        fail_msg("%s", error.text);
}

static void finish(struct http_test *test)
{
    serve_http_stop(test->http);
    stage_done(&test->stage);
}

static size_t take(char *data, size_t size, size_t count, void *context)
{
    struct fetched *to = context;
    const size_t bytes = size * count;

    if (to->size + bytes < sizeof(to->body)) {
        memcpy(to->body + to->size, data, bytes);
        to->size += bytes;
        to->body[to->size] = '\0';
    }
    return bytes;
}

/* Let the server and curl take turns until the transfer is over. */
static void transfer(struct http_test *test, CURL *easy, struct fetched *ret)
{
    CURLM *multi = curl_multi_init();
    int running = 1;
    int left = 0;

    *ret = (struct fetched){ .code = CURLE_OK };
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, ret);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 20L);
    curl_multi_add_handle(multi, easy);
    while (running > 0) {
        struct curl_waitfd extra = { .fd = serve_http_fd(test->http), .events = CURL_WAIT_POLLIN };
        const int timeout = serve_http_timeout_ms(test->http);

        curl_multi_perform(multi, &running);
        if (running > 0)
            curl_multi_poll(multi, &extra, 1, timeout >= 0 && timeout < 1000 ? timeout : 1000,
                            NULL);
        serve_http_run(test->http);
    }

    const CURLMsg *message = curl_multi_info_read(multi, &left);

    assert_non_null(message);
    ret->code = message->data.result;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &ret->status);
    curl_multi_remove_handle(multi, easy);
    curl_multi_cleanup(multi);
}

static CURL *easy_of(const char *url)
{
    CURL *easy = curl_easy_init();

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    return easy;
}

static void get_unix(struct http_test *test, const char *url, struct fetched *ret)
{
    CURL *easy = easy_of(url);

    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, test->socket);
    transfer(test, easy, ret);
    curl_easy_cleanup(easy);
}

/* Over TCP; 'token' may be NULL. */
static void get_tcp(struct http_test *test, const char *scheme, const char *path, const char *token,
                    bool post, struct fetched *ret)
{
    char url[256];
    char header[256];
    struct curl_slist *headers = NULL;

    snprintf(url, sizeof(url), "%s://127.0.0.1:%u%s", scheme, serve_http_port(test->http), path);
    CURL *easy = easy_of(url);

    if (token != NULL) {
        snprintf(header, sizeof(header), "Authorization: Bearer %s", token);
        headers = curl_slist_append(headers, header);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    }
    if (post)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
    curl_easy_setopt(easy, CURLOPT_CAINFO, test->certificate);
    transfer(test, easy, ret);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
}

TEST(the_unix_socket_answers_and_decodes_arguments)
{
    struct http_test test;
    struct fetched got;

    make(&test);
    start(&test, &(struct serve_http_config){ .socket = test.socket });
    get_unix(&test, "http://x/v1/explain?job=12%5f1", &got);
    assert_int_equal(got.code, CURLE_OK);
    assert_int_equal(got.status, 200);
    assert_non_null(strstr(got.body, "\"job\":\"12_1\""));
    get_unix(&test, "http://x/nothing", &got);
    assert_int_equal(got.status, 404);
    get_unix(&test, "http://x/v1/explain?job=9%00x", &got);
    assert_int_equal(got.status, 400);
    finish(&test);
}

TEST(the_socket_has_its_mode_and_goes_with_the_server)
{
    struct http_test test;
    struct stat stat_now;

    make(&test);
    start(&test, &(struct serve_http_config){ .socket = test.socket, .socket_mode = 0600 });
    assert_int_equal(stat(test.socket, &stat_now), 0);
    assert_true(S_ISSOCK(stat_now.st_mode));
    assert_int_equal(stat_now.st_mode & 0777, 0600);
    serve_http_stop(test.http);
    assert_int_equal(stat(test.socket, &stat_now), -1);
    test.http = NULL;
    finish(&test);
}

static void leave_stale_socket(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int left = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(left, (struct sockaddr *)(void *)&address, sizeof(address)), 0);
    close(left);
}

TEST(a_stale_socket_is_replaced_and_a_used_one_is_not)
{
    struct http_test test;
    struct serve_http *second = NULL;
    struct error error = { "" };
    struct fetched got;
    const struct serve_http_config config = { .socket = test.socket };

    make(&test);
    leave_stale_socket(test.socket);
    start(&test, &config);
    get_unix(&test, "http://x/healthz", &got);
    assert_int_equal(got.status, 200);
    assert_int_equal(serve_http_start(&config, &test.stage.world, &second, &error), -EADDRINUSE);
    assert_null(second);
    get_unix(&test, "http://x/healthz", &got);
    assert_int_equal(got.status, 200);
    finish(&test);
}

TEST(a_file_in_the_way_is_left_alone)
{
    struct http_test test;
    struct error error = { "" };
    const struct serve_http_config config = { .socket = test.token_file };

    make(&test);
    assert_int_equal(serve_http_start(&config, &test.stage.world, &test.http, &error), -EEXIST);
    assert_int_equal(access(test.token_file, F_OK), 0);
    finish(&test);
}

TEST(over_tcp_only_the_token_opens_more_than_metrics)
{
    struct http_test test;
    struct fetched got;

    make(&test);
    start(&test,
          &(struct serve_http_config){ .listen = "127.0.0.1:0", .token_file = test.token_file });
    get_tcp(&test, "http", "/metrics", NULL, false, &got);
    assert_int_equal(got.status, 200);
    assert_non_null(strstr(got.body, "stint_bill_dollars 0.060000"));
    get_tcp(&test, "http", "/v1/status", NULL, false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/v1/status", TOKEN "x", false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/v1/status", "0123456789abcdef012", false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/v1/status", "", false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/v1/drain", NULL, true, &got);
    assert_int_equal(got.status, 401);
    assert_false(test.stage.drained);
    get_tcp(&test, "http", "/v1/status", TOKEN, false, &got);
    assert_int_equal(got.status, 200);
    get_tcp(&test, "http", "/v1/drain", TOKEN, true, &got);
    assert_int_equal(got.status, 200);
    assert_true(test.stage.drained);
    finish(&test);
}

/* With a password, as a browser does. */
static void get_with_password(struct http_test *test, const char *path, const char *password,
                              bool post, struct fetched *ret)
{
    char url[256];
    char both[256];

    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", serve_http_port(test->http), path);
    snprintf(both, sizeof(both), "anybody:%s", password);

    CURL *easy = easy_of(url);

    curl_easy_setopt(easy, CURLOPT_USERPWD, both);
    if (post) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "");
    }
    transfer(test, easy, ret);
    curl_easy_cleanup(easy);
}

static bool was_changed(const struct serve_stage *stage)
{
    return stage->drained || stage->reloads > 0 || !stage->proposed[0] || !stage->proposed[1];
}

TEST(the_read_only_token_changes_nothing_on_any_route)
{
    struct http_test test;
    struct fetched got;
    const char *method = NULL;
    const char *path = NULL;
    uint32_t posts = 0;

    make(&test);
    start(&test, &(struct serve_http_config){ .listen = "127.0.0.1:0",
                                              .token_file = test.token_file,
                                              .read_token_file = test.read_token_file });
    for (uint32_t i = 0; api_route(i, &method, &path); i++) {
        const bool is_post = strcmp(method, "POST") == 0;
        char whole[128];

        snprintf(whole, sizeof(whole), "%s%s", path,
                 strcmp(path, "/v1/proposals/") == 0 ? "all/approve" : "");
        posts += is_post;
        get_tcp(&test, "http", whole, READ_TOKEN, true, &got);
        assert_int_equal(got.status, is_post ? 403 : 405);
        get_with_password(&test, whole, READ_TOKEN, true, &got);
        assert_int_equal(got.status, is_post ? 403 : 405);
        get_with_password(&test, whole, TOKEN, true, &got);
        assert_int_equal(got.status, is_post ? 401 : got.status);
        assert_true(got.status == 401 || got.status == 405);
        assert_false(was_changed(&test.stage));
    }
    assert_int_equal(posts, 3);
    get_tcp(&test, "http", "/v1/status", READ_TOKEN, false, &got);
    assert_int_equal(got.status, 200);
    get_with_password(&test, "/v1/status", READ_TOKEN, false, &got);
    assert_int_equal(got.status, 200);
    get_with_password(&test, "/v1/status", READ_TOKEN "x", false, &got);
    assert_int_equal(got.status, 401);
    get_with_password(&test, "/v1/status", "", false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/v1/drain", TOKEN, true, &got);
    assert_int_equal(got.status, 200);
    assert_true(was_changed(&test.stage));
    finish(&test);
}

TEST(two_tokens_must_differ)
{
    struct http_test test;
    struct error error = { "" };
    const struct serve_http_config config = { .listen = "127.0.0.1:0",
                                              .token_file = test.token_file,
                                              .read_token_file = test.token_file };

    make(&test);
    assert_int_equal(serve_http_start(&config, &test.stage.world, &test.http, &error), -EINVAL);
    assert_non_null(strstr(error.text, "make one"));
    test.http = NULL;
    finish(&test);
}

TEST(metrics_without_a_token_are_made_once_a_second)
{
    struct http_test test;
    struct fetched got;

    make(&test);
    start(&test,
          &(struct serve_http_config){ .listen = "127.0.0.1:0", .token_file = test.token_file });
    test.stage.world.times.count = 71;
    get_tcp(&test, "http", "/metrics", NULL, false, &got);
    assert_non_null(strstr(got.body, "stint_decision_seconds_count 71\n"));
    test.stage.world.times.count = 72;
    get_tcp(&test, "http", "/metrics", NULL, false, &got);
    assert_non_null(strstr(got.body, "stint_decision_seconds_count 71\n"));
    get_tcp(&test, "http", "/metrics", TOKEN, false, &got);
    assert_non_null(strstr(got.body, "stint_decision_seconds_count 72\n"));
    (void)usleep(1100000);
    get_tcp(&test, "http", "/metrics", NULL, false, &got);
    assert_non_null(strstr(got.body, "stint_decision_seconds_count 72\n"));
    finish(&test);
}

TEST(without_a_token_tcp_serves_metrics_and_health_only)
{
    struct http_test test;
    struct fetched got;

    make(&test);
    start(&test, &(struct serve_http_config){ .listen = "127.0.0.1:0" });
    get_tcp(&test, "http", "/healthz", NULL, false, &got);
    assert_int_equal(got.status, 200);
    get_tcp(&test, "http", "/v1/status", "", false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/v1/status", TOKEN, false, &got);
    assert_int_equal(got.status, 401);
    finish(&test);
}

static void refuse_start(struct http_test *test, const struct serve_http_config *config,
                         const char *text)
{
    struct error error = { "" };

    assert_true(serve_http_start(config, &test->stage.world, &test->http, &error) < 0);
    assert_null(test->http);
    assert_non_null(strstr(error.text, text));
}

TEST(what_others_can_reach_needs_tls_and_token)
{
    struct http_test test;

    make(&test);
    refuse_start(&test, &(struct serve_http_config){ .listen = "0.0.0.0:0" }, "others can reach");
    refuse_start(&test, &(struct serve_http_config){ .listen = "[::]:0" }, "others can reach");
    refuse_start(
        &test, &(struct serve_http_config){ .listen = "0.0.0.0:0", .token_file = test.token_file },
        "others can reach");
    refuse_start(&test,
                 &(struct serve_http_config){
                     .listen = "0.0.0.0:0", .certificate = test.certificate, .key = test.key },
                 "others can reach");
    refuse_start(&test, &(struct serve_http_config){ .listen = "127.0.0.1:0", .key = test.key },
                 "both");
    refuse_start(&test, &(struct serve_http_config){ .listen = "localhost:1" }, "in numbers");
    refuse_start(&test, &(struct serve_http_config){ .listen = "127.0.0.1" }, "and a port");
    finish(&test);
}

TEST(secrets_that_everybody_can_read_are_refused)
{
    struct http_test test;
    const struct serve_http_config config = { .listen = "127.0.0.1:0",
                                              .token_file = test.token_file };

    make(&test);
    assert_int_equal(chmod(test.token_file, 0644), 0);
    refuse_start(&test, &config, "every user may read it");
    assert_int_equal(chmod(test.token_file, 0600), 0);
    assert_int_equal(truncate(test.token_file, 10), 0);
    refuse_start(&test, &config, "must be a token");
    finish(&test);
}

TEST(a_body_that_is_too_long_is_refused)
{
    static char body[64 * 1024 + 2];
    struct http_test test;
    struct fetched got;

    make(&test);
    start(&test, &(struct serve_http_config){ .socket = test.socket });
    memset(body, 'x', sizeof(body) - 1);
    CURL *easy = easy_of("http://x/v1/drain");

    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, test.socket);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    transfer(&test, easy, &got);
    assert_true(got.status == 413 || got.code != CURLE_OK);
    assert_false(test.stage.drained);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 64L * 1024);
    transfer(&test, easy, &got);
    assert_int_equal(got.status, 200);
    assert_true(test.stage.drained);
    curl_easy_cleanup(easy);
    finish(&test);
}

TEST(tls_serves_with_token_and_refuses_garbage)
{
    struct http_test test;
    struct fetched got;
    char command[1024];

    make(&test);
    snprintf(command, sizeof(command),
             "umask 077; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
             "-keyout %s -out %s -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
             "2>/dev/null",
             test.key, test.certificate);
    if (system(command) != 0) {
        finish(&test);
        skip();
    }
    start(&test, &(struct serve_http_config){ .listen = "127.0.0.1:0",
                                              .certificate = test.certificate,
                                              .key = test.key,
                                              .token_file = test.token_file });
    get_tcp(&test, "https", "/v1/status", TOKEN, false, &got);
    assert_int_equal(got.code, CURLE_OK);
    assert_int_equal(got.status, 200);
    assert_non_null(strstr(got.body, "\"cluster\":\"lab\""));
    get_tcp(&test, "https", "/v1/status", NULL, false, &got);
    assert_int_equal(got.status, 401);
    get_tcp(&test, "http", "/metrics", NULL, false, &got);
    assert_int_not_equal(got.code, CURLE_OK);
    get_tcp(&test, "https", "/v1/ledger", TOKEN, false, &got);
    assert_int_equal(got.status, 200);
    finish(&test);
}

TEST(many_connections_do_not_stop_the_server)
{
    enum { MANY = 100 };
    struct http_test test;
    struct fetched got;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int open_sockets[MANY];

    make(&test);
    start(&test, &(struct serve_http_config){ .socket = test.socket });
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", test.socket);
    for (int i = 0; i < MANY; i++) {
        open_sockets[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(open_sockets[i], (struct sockaddr *)(void *)&address, sizeof(address));
        (void)send(open_sockets[i], "GET /v1", 7, MSG_NOSIGNAL);
        serve_http_run(test.http);
    }
    for (int i = 0; i < MANY; i++)
        close(open_sockets[i]);
    serve_http_run(test.http);
    get_unix(&test, "http://x/healthz", &got);
    assert_int_equal(got.status, 200);
    finish(&test);
}

static int dial(const struct http_test *test)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons((uint16_t)serve_http_port(test->http)),
                                         .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(
        connect(descriptor, (const struct sockaddr *)(const void *)&address, sizeof(address)), 0);
    return descriptor;
}

/* Send a byte every 20 ms for 'ms', as slow as it may be; whether the server still listens. */
static bool dribble(struct http_test *test, int descriptor, int ms)
{
    char byte = 'x';

    for (int i = 0; i < ms / 20; i++) {
        struct pollfd fd = { .fd = serve_http_fd(test->http), .events = POLLIN };

        (void)send(descriptor, &byte, 1, MSG_NOSIGNAL);
        (void)poll(&fd, 1, 20);
        serve_http_run(test->http);
        (void)usleep(20000);
    }
    return recv(descriptor, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

TEST(who_dribbles_is_cut_off)
{
    struct http_test test;
    struct fetched got;

    make(&test);
    start(&test, &(struct serve_http_config){ .listen = "127.0.0.1:0", .patience_ms = 1000 });
    const int slow = dial(&test);

    assert_int_equal(send(slow, "GET /healthz HTTP/1.1\r\nX: ", 26, 0), 26);
    assert_true(dribble(&test, slow, 40));
    assert_false(dribble(&test, slow, 2000));
    close(slow);
    get_tcp(&test, "http", "/healthz", NULL, false, &got);
    assert_int_equal(got.status, 200);
    finish(&test);
}

TEST(who_asks_again_and_again_is_not_cut_off)
{
    static const char question[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    struct http_test test;
    char answer[4096];

    make(&test);
    start(&test, &(struct serve_http_config){ .listen = "127.0.0.1:0", .patience_ms = 1000 });
    const int steady = dial(&test);

    for (int i = 0; i < 6; i++) {
        assert_int_equal(send(steady, question, sizeof(question) - 1, MSG_NOSIGNAL),
                         sizeof(question) - 1);
        for (int turn = 0; turn < 10; turn++) {
            serve_http_run(test.http);
            (void)usleep(20000);
        }
        assert_true(recv(steady, answer, sizeof(answer), MSG_DONTWAIT) > 0);
    }
    close(steady);
    finish(&test);
}

CHECK_MAIN(RUN(the_unix_socket_answers_and_decodes_arguments),
           RUN(the_socket_has_its_mode_and_goes_with_the_server),
           RUN(a_stale_socket_is_replaced_and_a_used_one_is_not),
           RUN(a_file_in_the_way_is_left_alone),
           RUN(over_tcp_only_the_token_opens_more_than_metrics),
           RUN(the_read_only_token_changes_nothing_on_any_route), RUN(two_tokens_must_differ),
           RUN(metrics_without_a_token_are_made_once_a_second),
           RUN(without_a_token_tcp_serves_metrics_and_health_only),
           RUN(what_others_can_reach_needs_tls_and_token),
           RUN(secrets_that_everybody_can_read_are_refused),
           RUN(a_body_that_is_too_long_is_refused), RUN(tls_serves_with_token_and_refuses_garbage),
           RUN(many_connections_do_not_stop_the_server), RUN(who_dribbles_is_cut_off),
           RUN(who_asks_again_and_again_is_not_cut_off))
