/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_cloud.c - see local_cloud.h.
 *
 * Everything that was asked and not answered is one row of 'asks', in the order in which it was
 * asked, and goes out in that order: a machine is never returned before it is rented.
 *
 *     asked --flush--> sent --answer--> done (the row is dropped)
 *       ^                |
 *       +--disconnected--+
 *
 * What answers a row: a rent, 'running', 'refused' or 'gone' of that id; a return, 'gone'; a
 * list, 'listed' of that key.
 *
 * Every connection but the first begins with a list under OWN_LIST, for what was missed in between:
 * what it finds running is reported as CLOUD_RUNNING and CLOUD_NOTICE. After the first, whoever starts
 * a daemon asks for a list anyway.
 */
#include "cloud/local/local_cloud.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/line.h"
#include "base/map.h"
#include "base/mem.h"
#include "cloud/local/local_offers.h"
#include "cloud/local/local_protocol.h"

#define OWN_LIST ((uint64_t)0) /* a key that is not used elsewhere */

enum ask_kind {
    ASK_RENT,
    ASK_RETURN,
    ASK_LIST,
    ASK_KINDS,
};

struct ask {
    enum ask_kind kind;
    uint64_t id;    /* of the machine, or the key of the list */
    uint64_t first; /* of the machines that are rented together */
    uint32_t offer;
    bool is_sent;
    bool is_done;
};

struct local_cloud {
    struct local_cloud_config config;
    char cluster[LOCAL_CLUSTER_MAX + 1];
    char prefix[LOCAL_NAME_MAX + 1];
    struct local_offers offers;
    struct ask *asks;
    uint32_t ask_count;
    uint32_t asks_room;
    uint32_t open_count;      /* of those that are not done */
    uint32_t sent_until;      /* all asks before this one were sent, or are done */
    struct map of[ASK_KINDS]; /* from an id to its row of 'asks', while it is open */
    struct line_text out;
    bool is_connected;
    bool is_greeted;
    bool was_greeted; /* over this or an earlier connection */
    uint64_t bad_lines;
    struct error complaint;
};

static void note(struct local_cloud *cloud, const struct ask *ask)
{
    if (map_get(&cloud->of[ask->kind], ask->id) != MAP_NONE)
        return;
    MEM_ROOM(cloud->asks, cloud->asks_room, cloud->ask_count + 1);
    map_put(&cloud->of[ask->kind], ask->id, cloud->ask_count);
    cloud->asks[cloud->ask_count++] = *ask;
    cloud->open_count++;
}

/* Drop the rows that are done, once they are the greater part. */
static void compact(struct local_cloud *cloud)
{
    uint32_t kept = 0;
    uint32_t sent = 0;

    if (cloud->ask_count < 64 || cloud->open_count * 2 > cloud->ask_count)
        return;
    for (uint32_t i = 0; i < cloud->ask_count; i++) {
        if (cloud->asks[i].is_done)
            continue;
        if (i < cloud->sent_until)
            sent++;
        map_put(&cloud->of[cloud->asks[i].kind], cloud->asks[i].id, kept);
        cloud->asks[kept++] = cloud->asks[i];
    }
    cloud->ask_count = kept;
    cloud->sent_until = sent;
}

/* Whether there was such a row. */
static bool settle(struct local_cloud *cloud, enum ask_kind kind, uint64_t id)
{
    const uint32_t row = map_get(&cloud->of[kind], id);

    if (row == MAP_NONE)
        return false;
    map_remove(&cloud->of[kind], id);
    cloud->asks[row].is_done = true;
    cloud->open_count--;
    compact(cloud);
    return true;
}

static void rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    for (uint32_t i = 0; i < count; i++)
        note(self,
             &(struct ask){ .kind = ASK_RENT, .id = first + i, .first = first, .offer = offer });
}

static void give_back(void *self, uint64_t instance)
{
    note(self, &(struct ask){ .kind = ASK_RETURN, .id = instance });
}

static void list(void *self, uint64_t key)
{
    note(self, &(struct ask){ .kind = ASK_LIST, .id = key });
}

struct cloud_port local_cloud_port(struct local_cloud *cloud)
{
    static const struct cloud_ops ops = {
        .rent = rent,
        .give_back = give_back,
        .list = list,
    };

    return (struct cloud_port){ .ops = &ops, .self = cloud };
}

/* How many rows from 'row' on can be rented in one request. */
static uint32_t group_size(const struct local_cloud *cloud, uint32_t row)
{
    const struct ask *first = &cloud->asks[row];
    uint32_t count = 1;

    while (row + count < cloud->ask_count && count < LOCAL_RENT_MAX) {
        const struct ask *next = &cloud->asks[row + count];

        if (next->kind != ASK_RENT || next->is_done || next->is_sent ||
            next->first != first->first || next->id != first->id + count)
            break;
        count++;
    }
    return count;
}

/* Write the request of 'row' and those that go with it; how many those are. */
static uint32_t write_ask(struct local_cloud *cloud, uint32_t row)
{
    const struct ask *ask = &cloud->asks[row];
    uint32_t count = 1;

    switch (ask->kind) {
    case ASK_RENT:
        count = group_size(cloud, row);
        line_text_begin(&cloud->out, "rent");
        line_text_number(&cloud->out, "key", ask->id);
        line_text_number(&cloud->out, "count", count);
        line_text_string(&cloud->out, "offer", local_offers_text(&cloud->offers, ask->offer));
        line_text_string(&cloud->out, "prefix", cloud->prefix);
        break;
    case ASK_RETURN:
        line_text_begin(&cloud->out, "give-back");
        line_text_number(&cloud->out, "key", ask->id);
        break;
    case ASK_LIST:
        line_text_begin(&cloud->out, "list");
        line_text_number(&cloud->out, "key", ask->id);
        break;
    case ASK_KINDS:
        assert(false);
    }
    line_text_end(&cloud->out);
    for (uint32_t i = row; i < row + count; i++)
        cloud->asks[i].is_sent = true;
    return count;
}

static void send_out(struct local_cloud *cloud)
{
    if (cloud->out.size > 0)
        cloud->config.on_send(cloud->config.context, cloud->out.text, cloud->out.size);
    line_text_reset(&cloud->out);
}

void local_cloud_flush(struct local_cloud *cloud, msec_t now)
{
    (void)now;
    if (!cloud->is_greeted)
        return;
    uint32_t row = cloud->sent_until;

    while (row < cloud->ask_count) {
        if (cloud->asks[row].is_done || cloud->asks[row].is_sent)
            row++;
        else
            row += write_ask(cloud, row);
    }
    cloud->sent_until = row;
    send_out(cloud);
}

void local_cloud_connected(struct local_cloud *cloud, msec_t now)
{
    local_cloud_disconnected(cloud, now);
    cloud->is_connected = true;
    line_text_begin(&cloud->out, "hello");
    line_text_number(&cloud->out, "protocol", LOCAL_PROTOCOL);
    line_text_string(&cloud->out, "cluster", cloud->cluster);
    line_text_end(&cloud->out);
    send_out(cloud);
}

void local_cloud_disconnected(struct local_cloud *cloud, msec_t now)
{
    (void)now;
    cloud->is_connected = false;
    cloud->is_greeted = false;
    cloud->sent_until = 0;
    for (uint32_t i = 0; i < cloud->ask_count; i++)
        cloud->asks[i].is_sent = false;
}

/* A time in 'key' of the line into 'ret', which stays as it is if there is none; false: no time. */
static bool read_time(const struct line *line, const char *key, msec_t *ret)
{
    const char *text = line_get(line, key);
    uint64_t value = 0;

    if (text == NULL)
        return true;
    if (line_number(text, (uint64_t)LIMIT_TIME_MS, &value) < 0)
        return false;
    *ret = (msec_t)value;
    return true;
}

static bool read_id(const struct line *line, const char *key, uint64_t *ret)
{
    const char *text = line_get(line, key);

    return text != NULL && line_number(text, UINT64_MAX, ret) == 0;
}

/* What the line says about one machine, without its kind; false: it makes no sense. */
static bool read_event(const struct local_cloud *cloud, const struct line *line,
                       struct cloud_event *ret)
{
    const char *offer = line_get(line, "offer");

    ret->billed_from = -1;
    ret->billed_to = -1;
    ret->is_outdated = strcmp(line->word, "outdated") == 0 && line_get(line, "why") != NULL;
    ret->offer = offer == NULL ? OFFER_NONE : local_offers_find(&cloud->offers, offer);
    return read_id(line, "id", &ret->instance) &&
           read_time(line, "billed_from", &ret->billed_from) &&
           read_time(line, "billed_to", &ret->billed_to);
}

static bool take_running(struct local_cloud *cloud, struct cloud_event *event)
{
    event->kind = CLOUD_RUNNING;
    if (event->billed_from < 0)
        return false;
    (void)settle(cloud, ASK_RENT, event->instance);
    return true;
}

static bool take_refused(struct local_cloud *cloud, struct cloud_event *event)
{
    event->kind = CLOUD_REFUSED;
    (void)settle(cloud, ASK_RENT, event->instance);
    return true;
}

static bool take_notice(struct local_cloud *cloud, struct cloud_event *event)
{
    (void)cloud;
    event->kind = CLOUD_NOTICE;
    return true;
}

/* A machine that was never billed has no times; one that was has both, in order. */
static bool take_gone(struct local_cloud *cloud, struct cloud_event *event)
{
    event->kind = CLOUD_GONE;
    if (event->billed_from < 0)
        event->billed_to = -1;
    else if (event->billed_to < event->billed_from)
        return false;
    (void)settle(cloud, ASK_RENT, event->instance);
    (void)settle(cloud, ASK_RETURN, event->instance);
    return true;
}

static bool take_outdated(struct local_cloud *cloud, struct cloud_event *event)
{
    (void)cloud;
    event->kind = CLOUD_OUTDATED;
    return true;
}

static const struct {
    const char *word;
    bool (*take)(struct local_cloud *cloud, struct cloud_event *event);
} machine_words[] = {
    { "running", take_running }, { "refused", take_refused },   { "notice", take_notice },
    { "gone", take_gone },       { "outdated", take_outdated },
};

static void complain(struct local_cloud *cloud, const char *what, const char *text)
{
    cloud->bad_lines++;
    (void)error_set(&cloud->complaint, -1, "%s%s%.200s", what, text[0] == '\0' ? "" : ": ", text);
}

static void greet(struct local_cloud *cloud, msec_t now, const struct line *line)
{
    uint64_t protocol = 0;

    if (!cloud->is_connected || !read_id(line, "protocol", &protocol) ||
        protocol != LOCAL_PROTOCOL) {
        complain(cloud, "no common protocol", "");
        return;
    }
    if (!cloud->is_greeted && cloud->was_greeted)
        list(cloud, OWN_LIST);
    cloud->is_greeted = true;
    cloud->was_greeted = true;
    local_cloud_flush(cloud, now);
}

static void end_list(struct local_cloud *cloud, msec_t now, const struct line *line)
{
    uint64_t key = 0;

    if (!read_id(line, "key", &key)) {
        complain(cloud, "a list without a key", "");
        return;
    }
    if (!settle(cloud, ASK_LIST, key) || key == OWN_LIST)
        return; /* answered before, or asked for by this module itself */
    cloud->config.on_event(cloud->config.context, &(struct cloud_event){ .kind = CLOUD_LISTED,
                                                                         .at = now,
                                                                         .key = key,
                                                                         .billed_from = -1,
                                                                         .billed_to = -1,
                                                                         .offer = OFFER_NONE });
}

/* One machine of our own list: what was missed about it. */
static void catch_up(struct local_cloud *cloud, const struct line *line, struct cloud_event *event)
{
    const char *state = line_get(line, "state");
    const bool is_noticed = state != NULL && strcmp(state, "noticed") == 0;

    if (event->billed_from < 0 || (!is_noticed && (state == NULL || strcmp(state, "running") != 0)))
        return;
    event->kind = CLOUD_RUNNING;
    (void)settle(cloud, ASK_RENT, event->instance);
    cloud->config.on_event(cloud->config.context, event);
    event->kind = CLOUD_NOTICE;
    if (is_noticed)
        cloud->config.on_event(cloud->config.context, event);
}

/* A machine of ours is called by the prefix and its number; one that is not is another cluster's. */
static bool has_our_name(const struct local_cloud *cloud, const struct line *line,
                         uint64_t instance)
{
    const char *name = line_get(line, "name");
    char ours[LOCAL_NAME_MAX + 1 + 20];

    (void)snprintf(ours, sizeof(ours), "%s%llu", cloud->prefix, (unsigned long long)instance);
    return name == NULL || strcmp(name, ours) == 0;
}

static void take_found(struct local_cloud *cloud, msec_t now, const struct line *line)
{
    struct cloud_event event = { .kind = CLOUD_FOUND, .at = now };
    uint64_t key = 0;

    if (!read_event(cloud, line, &event) || !read_id(line, "key", &key) ||
        map_get(&cloud->of[ASK_LIST], key) == MAP_NONE)
        complain(cloud, "found, but not requested", "");
    else if (!has_our_name(cloud, line, event.instance))
        complain(cloud, "found, but not by our name", line_get(line, "name"));
    else if (key == OWN_LIST)
        catch_up(cloud, line, &event);
    else
        cloud->config.on_event(cloud->config.context, &event);
}

static void take_machine(struct local_cloud *cloud, msec_t now, const struct line *line)
{
    for (size_t i = 0; i < sizeof(machine_words) / sizeof(machine_words[0]); i++) {
        struct cloud_event event = { .at = now };

        if (strcmp(line->word, machine_words[i].word) != 0)
            continue;
        if (read_event(cloud, line, &event) && machine_words[i].take(cloud, &event))
            cloud->config.on_event(cloud->config.context, &event);
        else
            complain(cloud, "news that make no sense", line->word);
        return;
    }
    complain(cloud, "an unknown word", line->word);
}

void local_cloud_line(struct local_cloud *cloud, msec_t now, char *text, size_t length)
{
    struct line line;
    struct error error = { "" };

    if (length == SIZE_MAX) {
        complain(cloud, "a line that is too long", "");
    } else if (line_parse(text, length, &line, &error) < 0) {
        complain(cloud, error.text, "");
    } else if (strcmp(line.word, "hello") == 0) {
        greet(cloud, now, &line);
    } else if (strcmp(line.word, "error") == 0) {
        const char *said = line_get(&line, "text");

        complain(cloud, "stint-cloud-local says", said != NULL ? said : "");
    } else if (!cloud->is_greeted) {
        complain(cloud, "no hello came first", line.word);
    } else if (strcmp(line.word, "listed") == 0) {
        end_list(cloud, now, &line);
    } else if (strcmp(line.word, "found") == 0) {
        take_found(cloud, now, &line);
    } else {
        take_machine(cloud, now, &line);
    }
}

msec_t local_cloud_next_wake(const struct local_cloud *cloud)
{
    (void)cloud;
    return MSEC_NEVER;
}

void local_cloud_tick(struct local_cloud *cloud, msec_t now)
{
    (void)cloud;
    (void)now;
}

bool local_cloud_is_ready(const struct local_cloud *cloud)
{
    return cloud->is_greeted;
}

uint32_t local_cloud_open_count(const struct local_cloud *cloud)
{
    return cloud->open_count;
}

uint64_t local_cloud_bad_lines(const struct local_cloud *cloud)
{
    return cloud->bad_lines;
}

const char *local_cloud_complaint(const struct local_cloud *cloud)
{
    return cloud->complaint.text;
}

struct local_cloud *local_cloud_create(const struct local_cloud_config *config)
{
    struct local_cloud *cloud = mem_alloc(1, sizeof(*cloud));

    cloud->config = *config;
    (void)snprintf(cloud->cluster, sizeof(cloud->cluster), "%s", config->cluster);
    (void)snprintf(cloud->prefix, sizeof(cloud->prefix), "%s", config->node_prefix);
    cloud->config.cluster = cloud->cluster;
    cloud->config.node_prefix = cloud->prefix;
    local_offers_init(&cloud->offers, config->catalogue);
    for (int kind = 0; kind < ASK_KINDS; kind++)
        map_init(&cloud->of[kind]);
    return cloud;
}

void local_cloud_destroy(struct local_cloud *cloud)
{
    if (cloud == NULL)
        return;
    for (int kind = 0; kind < ASK_KINDS; kind++)
        map_done(&cloud->of[kind]);
    local_offers_done(&cloud->offers);
    line_text_done(&cloud->out);
    mem_free(cloud->asks);
    mem_free(cloud);
}
