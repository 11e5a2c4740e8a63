/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_local_line.c - both ends of the talk with stint-cloud-local, and its journal. The bytes are cut
 * into lines. To the server they are requests, whose machines boot and die; to the client they are
 * answers to a few open requests, over connections that come and go; to the journal they are history.
 */
#include "fuzz.h"

#include "base/line.h"
#include "base/line_input.h"
#include "cloud/local/local_cloud.h"
#include "cloud/local/local_world.h"

enum { ROWS_MAX = 4096 };

enum fate { NOT_HOSTED, BOOTING, UP, KILLED };

struct yard {
    struct catalogue catalogue;
    struct local_world *world;
    struct local_world *restored;
    struct local_cloud *cloud;
    struct line_text answer;
    msec_t now;
    uint64_t events;
    uint32_t rows; /* that were ever hosted are below this one */
    enum fate fate[ROWS_MAX];
};

static bool on_boot(void *context, uint32_t row)
{
    struct yard *yard = context;

    if (row % 5 == 4 || row >= ROWS_MAX)
        return false;
    assert(yard->fate[row] == NOT_HOSTED);
    yard->fate[row] = BOOTING;
    if (row >= yard->rows)
        yard->rows = row + 1;
    return true;
}

static void on_kill(void *context, uint32_t row)
{
    struct yard *yard = context;

    assert(yard->fate[row] == BOOTING || yard->fate[row] == UP);
    yard->fate[row] = KILLED;
}

static void check_lines(const char *lines, uint32_t size)
{
    assert(size > 0);
    assert(lines[size - 1] == '\n');
}

static void on_tell(void *context, const char *cluster, const char *lines, uint32_t size)
{
    (void)context;
    assert(cluster[0] != '\0');
    check_lines(lines, size);
}

static void on_note(void *context, const char *lines, uint32_t size)
{
    (void)context;
    check_lines(lines, size);
}

static void on_log(void *context, const char *line)
{
    (void)context;
    check_lines(line, (uint32_t)strlen(line));
}

static void on_event(void *context, const struct cloud_event *event)
{
    struct yard *yard = context;

    yard->events++;
    assert(event->at == yard->now);
    if (event->kind == CLOUD_RUNNING)
        assert(event->billed_from >= 0);
    if (event->kind == CLOUD_GONE)
        assert(event->billed_from < 0 || event->billed_to >= event->billed_from);
    if (event->kind == CLOUD_FOUND)
        assert(event->offer == OFFER_NONE || event->offer < yard->catalogue.offer_count);
}

static void on_send(void *context, const char *lines, size_t size)
{
    (void)context;
    check_lines(lines, (uint32_t)size);
}

static struct local_world *make_world(struct yard *yard)
{
    return local_world_create(&(struct local_world_config){
        .catalogue = &yard->catalogue,
        .seed = 7,
        .boot = on_boot,
        .kill = on_kill,
        .tell = on_tell,
        .note = on_note,
        .log = on_log,
        .context = yard,
    });
}

static void set_up(struct yard *yard)
{
    static const struct price_change price = { .at = 0, .per_hour = 100000 };
    const struct machine_type type = { .acquire_ms = 2, .release_ms = 1 };
    struct offer offer = { .billing = BILLING_PER_SECOND, .price = { &price, 1 } };

    catalogue_init(&yard->catalogue);
    offer.type = catalogue_add_type(&yard->catalogue, "a", "f", &type);
    (void)catalogue_add_offer(&yard->catalogue, NULL, &offer);
    (void)catalogue_add_offer(&yard->catalogue, "z,\"", &offer);
    yard->world = make_world(yard);
    yard->restored = make_world(yard);
    yard->cloud = local_cloud_create(&(struct local_cloud_config){
        .catalogue = &yard->catalogue,
        .cluster = "lab",
        .node_prefix = "st-",
        .on_event = on_event,
        .on_send = on_send,
        .context = yard,
    });
    const struct cloud_port port = local_cloud_port(yard->cloud);

    local_cloud_connected(yard->cloud, yard->now);
    port.ops->rent(port.self, 1, 5, 0);
    port.ops->give_back(port.self, 2);
    port.ops->list(port.self, 9);
    local_cloud_flush(yard->cloud, yard->now);
}

/* The server: what is parsed is carried out. */
static void serve(struct yard *yard, const struct line *line)
{
    struct local_request request = { .key = 0 };
    struct error error = { "" };

    if (local_request_read(line, &request, &error) < 0) {
        fuzz_check_error(&error);
        return;
    }
    if (request.verb == LOCAL_HELLO)
        return;
    line_text_reset(&yard->answer);
    local_world_obey(yard->world, yard->now, "lab", &request, &yard->answer);
    local_world_tick(yard->world, yard->now);
}

/* What boots comes up, what was killed goes down, and now and then one goes by itself. */
static void host(struct yard *yard, uint32_t turn)
{
    for (uint32_t row = 0; row < yard->rows; row++) {
        const enum fate fate = yard->fate[row];

        if (fate == KILLED || (fate != NOT_HOSTED && (turn + row) % 11 == 10)) {
            yard->fate[row] = NOT_HOSTED;
            local_world_down(yard->world, row, yard->now);
        } else if (fate == BOOTING) {
            yard->fate[row] = UP;
            local_world_up(yard->world, row, yard->now);
        }
    }
}

static void drive(struct yard *yard, uint32_t turn)
{
    struct line line;
    char list[] = "list key=1";

    yard->now++;
    local_world_tick(yard->world, yard->now);
    host(yard, turn);
    line_text_reset(&yard->answer);
    const int error = line_parse(list, sizeof(list) - 1, &line, NULL);

    assert(error == 0);
    serve(yard, &line);
    assert(yard->answer.size > 0);
    if (turn % 16 == 15)
        local_cloud_connected(yard->cloud, yard->now);
}

static void check_line(struct yard *yard, char *text, size_t length)
{
    char *copy = length == SIZE_MAX ? NULL : malloc(length + 1);
    struct line line;
    struct error error = { "" };

    if (copy != NULL)
        memcpy(copy, text, length);
    local_cloud_line(yard->cloud, yard->now, copy, length);
    free(copy);
    if (length == SIZE_MAX)
        return;
    if (line_parse(text, length, &line, &error) < 0) {
        fuzz_check_error(&error);
        return;
    }
    serve(yard, &line);
    (void)local_world_restore(yard->restored, &line, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct yard yard;
    struct line_input input;
    size_t at = 0;
    uint32_t turn = 0;

    memset(&yard, 0, sizeof(yard));
    yard.now = 1000;
    set_up(&yard);
    line_input_init(&input);
    while (at < size) {
        size_t room = 0;
        char *to = line_input_room(&input, &room);
        const size_t part = room < size - at ? room : size - at;
        char *text = NULL;
        size_t length = 0;

        memcpy(to, data + at, part);
        line_input_add(&input, part);
        at += part;
        while (line_input_next(&input, &text, &length)) {
            check_line(&yard, text, length);
            drive(&yard, turn++);
        }
    }
    local_world_restored(yard.restored, yard.now);
    assert(local_world_living(yard.restored) == 0);
    local_world_close(yard.world, yard.now);
    host(&yard, 0);
    assert(local_world_living(yard.world) == 0);
    line_input_done(&input);
    local_cloud_destroy(yard.cloud);
    local_world_destroy(yard.world);
    local_world_destroy(yard.restored);
    line_text_done(&yard.answer);
    catalogue_done(&yard.catalogue);
    return 0;
}
