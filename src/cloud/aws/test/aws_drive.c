/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_drive CATALOGUE.yaml CONFIG.yaml [CLUSTER [ACCOUNT]] - the cloud port on a pipe, for integration tests.
 *
 * CONFIG.yaml is the map 'cloud' of a configuration. Actions come as lines on standard input:
 *     rent FIRST COUNT OFFER      give_back KEY      list KEY      stats      fault      quit
 * With ACCOUNT, keys of another one are refused. 'fault' prints "fault TEXT", the text empty if there is none.
 * Events go to standard output, one line each:
 *     running|refused|notice|risk|gone|found|listed KEY billed_from billed_to offer at
 * What is noted goes to standard error: 'error' or 'note', the time and the words. At the end of the input it stops; machines stay.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/arena.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_cloud.h"
#include "trace/catalogue_file.h"
#include "trace/doc.h"
#include "trace/input_file.h"

static uv_loop_t loop;
static uv_pipe_t input;
static char buffer[65536];
static size_t buffered;
static struct aws_cloud *cloud;
static struct cloud_port port;
static struct catalogue catalogue;

static void on_event(void *context, const struct cloud_event *event)
{
    static const char *const NAME[] = { "running", "refused", "notice", "gone", "found", "listed" };

    (void)context;
    printf("%s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
           event->may_stay ? "risk" : NAME[event->kind],
           event->kind == CLOUD_LISTED ? event->key : event->instance, event->billed_from,
           event->billed_to, event->offer == OFFER_NONE ? -1 : (int64_t)event->offer, event->at);
    (void)fflush(stdout);
}

static void on_note(void *context, bool is_error, const char *text)
{
    (void)context;
    fprintf(stderr, "%s %" PRId64 " %s\n", is_error ? "error" : "note", aws_client_now(), text);
}

static const char *wanted_account;

static int on_account(void *context, const char *account, struct error *reterr)
{
    (void)context;
    return wanted_account == NULL || strcmp(account, wanted_account) == 0
               ? 0
               : error_set(reterr, -EBUSY, "the keys are of account %s, not %s", account,
                           wanted_account);
}

static void print_fault(void)
{
    const char *fault = aws_cloud_fault(cloud);
    const struct aws_fleet_trouble trouble = aws_cloud_trouble(cloud);

    printf("fault missing=%" PRIu32 " refused=%" PRIu32 " %s\n", trouble.missing, trouble.refused,
           fault != NULL ? fault : "");
    (void)fflush(stdout);
}

static void stop(void)
{
    if (uv_is_closing((uv_handle_t *)&input))
        return;
    uv_close((uv_handle_t *)&input, NULL);
    aws_cloud_destroy(cloud);
    cloud = NULL;
}

static void print_stats(void)
{
    const struct aws_fleet_stats stats = aws_cloud_stats(cloud);

    printf("stats launches=%" PRIu64 " repeated=%" PRIu64 " refused=%" PRIu64 " held_back=%" PRIu64
           " throttled=%" PRIu64 " lost=%" PRIu64 " rounds=%" PRIu64 " doubles=%" PRIu64
           " machines=%" PRIu32 "\n",
           stats.launches, stats.repeated, stats.refused, stats.held_back, stats.throttled,
           stats.lost, stats.rounds, stats.doubles, stats.machines);
    (void)fflush(stdout);
}

static void obey(const char *line)
{
    uint64_t key = 0;
    uint32_t count = 0;
    uint32_t offer = 0;

    if (sscanf(line, "rent %" SCNu64 " %" SCNu32 " %" SCNu32, &key, &count, &offer) == 3 &&
        offer < catalogue.offer_count)
        port.ops->rent(port.self, key, count, offer);
    else if (sscanf(line, "give_back %" SCNu64, &key) == 1)
        port.ops->give_back(port.self, key);
    else if (sscanf(line, "list %" SCNu64, &key) == 1)
        port.ops->list(port.self, key);
    else if (strcmp(line, "stats") == 0)
        print_stats();
    else if (strcmp(line, "fault") == 0)
        print_fault();
    else if (strcmp(line, "quit") == 0)
        stop();
    else
        fprintf(stderr, "error: no such act: %s\n", line);
}

static void on_alloc(uv_handle_t *handle, size_t wish, uv_buf_t *ret)
{
    (void)handle;
    (void)wish;
    *ret = uv_buf_init(buffer + buffered, (unsigned)(sizeof(buffer) - 1 - buffered));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
    char *feed;

    (void)stream;
    (void)buf;
    if (size < 0) {
        stop();
        return;
    }
    buffered += (size_t)size;
    buffer[buffered] = '\0';
    while (cloud != NULL && (feed = strchr(buffer, '\n')) != NULL) {
        *feed = '\0';
        obey(buffer);
        buffered -= (size_t)(feed + 1 - buffer);
        memmove(buffer, feed + 1, buffered + 1);
    }
}

static int load(const char *path, struct input_file *ret, struct error *reterr)
{
    return input_file_read(path, ret, reterr);
}

int main(int argc, char **argv)
{
    struct input_file file = { 0 };
    struct aws_settings settings;
    const struct doc_node *root = NULL;
    struct error error = { "" };
    struct arena arena;
    int rc;

    if (argc < 3) {
        fprintf(stderr, "usage: aws_drive CATALOGUE CONFIG [CLUSTER [ACCOUNT]]\n");
        return 2;
    }
    wanted_account = argc > 4 ? argv[4] : NULL;
    arena_init(&arena);
    rc = load(argv[1], &file, &error);
    if (rc == 0)
        rc = catalogue_file_read(file.text, file.length, &catalogue, &error);
    input_file_done(&file);
    file = (struct input_file){ 0 };
    if (rc == 0)
        rc = load(argv[2], &file, &error);
    if (rc == 0)
        rc = doc_parse(file.text, file.length, &arena, &root, &error);
    if (rc == 0)
        rc = aws_settings_read(root, &arena, &settings, &error);
    (void)uv_loop_init(&loop);
    if (rc == 0)
        rc = aws_cloud_create(&(struct aws_cloud_config){ .loop = &loop,
                                                          .catalogue = &catalogue,
                                                          .cluster = argc > 3 ? argv[3] : "lab",
                                                          .node_prefix = "st-",
                                                          .settings = &settings,
                                                          .seed = uv_hrtime(),
                                                          .on_account = on_account,
                                                          .on_event = on_event,
                                                          .on_note = on_note },
                              &cloud, &error);
    if (rc < 0) {
        fprintf(stderr, "aws_drive: %s\n", error.text);
        return 1;
    }
    port = aws_cloud_port(cloud);
    (void)uv_pipe_init(&loop, &input, 0);
    (void)uv_pipe_open(&input, 0);
    (void)uv_read_start((uv_stream_t *)&input, on_alloc, on_read);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    input_file_done(&file);
    catalogue_done(&catalogue);
    arena_done(&arena);
    return 0;
}
