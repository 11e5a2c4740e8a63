/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_fleet.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cloud/aws/aws_fleet_private.h"
#include "cloud/aws/aws_http.h"

/* ---- the port ---- */

/* For actions, which must not call back before they return. */
static void tell_later(struct aws_fleet *fleet, const struct cloud_event *event)
{
    MEM_ROOM(fleet->events, fleet->event_room, fleet->event_count + 1);
    fleet->events[fleet->event_count++] = *event;
}

static void port_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct aws_fleet *fleet = self;

    assert(offer < fleet->config.catalogue->offer_count);
    for (uint64_t key = first; key < first + count; key++) {
        if (map_get(&fleet->by_key, key) != MAP_NONE || fleet_find_ended(fleet, key) != NULL)
            continue; /* asked before */
        if (!fleet_has_place(fleet, offer)) {
            tell_later(fleet, &(struct cloud_event){ .kind = CLOUD_REFUSED,
                                                     .instance = key,
                                                     .billed_from = -1,
                                                     .billed_to = -1,
                                                     .offer = offer,
                                                     .for_ms = FLEET_PLACELESS_MS });
            continue;
        }

        struct machine *machine = fleet_add(fleet, key, offer);

        machine->state = MACHINE_ASKED;
        fleet_queue(fleet, machine, 0);
    }
}

static void port_give_back(void *self, uint64_t key)
{
    struct aws_fleet *fleet = self;
    struct machine *machine = fleet_find(fleet, key);
    const struct ended *ended = fleet_find_ended(fleet, key);

    if (machine == NULL && ended != NULL) {
        tell_later(fleet, &(struct cloud_event){ .kind = CLOUD_GONE,
                                                 .instance = key,
                                                 .billed_from = ended->billed_from,
                                                 .billed_to = ended->billed_to,
                                                 .offer = ended->offer });
        return;
    }
    if (machine == NULL) { /* rented before we were started */
        machine = fleet_add(fleet, key, OFFER_NONE);
        machine->state = MACHINE_SOUGHT;
        machine->asked_at = MSEC_NEVER; /* the next tick says when */
    }
    if (machine->is_unwanted)
        return;
    machine->is_unwanted = true;
    machine->attempts = 0;
    fleet_queue(fleet, machine, 0);
}

static void port_list(void *self, uint64_t key)
{
    struct aws_fleet *fleet = self;

    MEM_ROOM(fleet->lists, fleet->list_room, fleet->list_count + 1);
    fleet->lists[fleet->list_count++] = key;
}

struct cloud_port aws_fleet_port(struct aws_fleet *fleet)
{
    static const struct cloud_ops ops = { port_rent, port_give_back, port_list };

    return (struct cloud_port){ &ops, fleet };
}

/* ---- time and answers ---- */

static void tell_events(struct aws_fleet *fleet, msec_t now)
{
    struct cloud_event *events = fleet->events;
    const uint32_t count = fleet->event_count;

    /* Those who are notified may act, and so add to a new list. */
    fleet->events = NULL;
    fleet->event_count = 0;
    fleet->event_room = 0;
    for (uint32_t i = 0; i < count; i++) {
        events[i].at = now;
        fleet_tell(fleet, &events[i]);
    }
    mem_free(events);
}

void aws_fleet_tick(struct aws_fleet *fleet, msec_t now)
{
    tell_events(fleet, now);
    if (fleet->is_shut)
        return;
    fleet_pump(fleet, now);
    fleet_look(fleet, now);
}

msec_t aws_fleet_next_wake(const struct aws_fleet *fleet)
{
    if (fleet->event_count > 0)
        return 0;
    if (fleet->is_shut)
        return MSEC_NEVER;

    const msec_t queue = fleet_queue_wake(fleet);
    const msec_t look = fleet_look_wake(fleet);

    return queue < look ? queue : look;
}

void aws_fleet_answer(struct aws_fleet *fleet, msec_t now, uint64_t call_id,
                      const struct aws_http_answer *answer)
{
    struct call call = { 0 };

    for (int i = 0; i < AWS_FLEET_CALLS; i++) {
        if (fleet->calls[i].kind != CALL_FREE && fleet->calls[i].id == call_id) {
            call = fleet->calls[i];
            fleet->calls[i].kind = CALL_FREE;
            fleet->call_count--;
            break;
        }
    }
    switch (call.kind) {
    case CALL_LAUNCH:
        fleet_launch_answer(fleet, now, &call, answer);
        break;
    case CALL_TERMINATE:
        fleet_terminate_answer(fleet, now, &call, answer);
        break;
    case CALL_DESCRIBE:
        fleet_look_answer(fleet, now, answer);
        break;
    case CALL_PROBE:
        fleet_probe_answer(fleet, now, &call, answer);
        break;
    case CALL_FREE:
        break;
    }
    aws_fleet_tick(fleet, now);
}

bool aws_fleet_notice(struct aws_fleet *fleet, msec_t now, const char *instance_id, bool is_certain)
{
    for (uint32_t i = 0; i < fleet->machine_count; i++) {
        if (strcmp(fleet->machines[i].id, instance_id) != 0)
            continue;
        fleet_tell(fleet, &(struct cloud_event){ .kind = CLOUD_NOTICE,
                                                 .at = now,
                                                 .instance = fleet->machines[i].key,
                                                 .offer = fleet->machines[i].offer,
                                                 .may_stay = !is_certain });
        fleet_look_soon(fleet, now);
        return true;
    }
    return false;
}

void aws_fleet_open(struct aws_fleet *fleet, const char *account, const char *region)
{
    (void)snprintf(fleet->account, sizeof(fleet->account), "%s", account);
    (void)snprintf(fleet->region, sizeof(fleet->region), "%s", region);
    fleet->is_shut = false;
}

void aws_fleet_shut(struct aws_fleet *fleet)
{
    fleet->is_shut = true;
}

struct aws_fleet_trouble aws_fleet_trouble(const struct aws_fleet *fleet, msec_t now)
{
    struct aws_fleet_trouble trouble = {
        .missing = fleet->missing,
        .oldest = MSEC_NEVER,
        .code = fleet->refused_code,
        .fault = fleet->fault[0] != '\0' ? fleet->fault : NULL,
    };

    for (uint32_t i = 0; i < fleet->machine_count; i++) {
        const struct machine *machine = &fleet->machines[i];

        trouble.refused += machine->refused_at > 0 ? 1 : 0;
        if (machine->given_back_at <= 0 || now - machine->given_back_at < AWS_FLEET_LATE_MS)
            continue;
        trouble.not_ended++;
        if (machine->given_back_at < trouble.oldest)
            trouble.oldest = machine->given_back_at;
    }
    return trouble;
}

struct aws_fleet_stats aws_fleet_stats(const struct aws_fleet *fleet)
{
    struct aws_fleet_stats stats = fleet->stats;

    stats.machines = fleet->machine_count;
    return stats;
}

/* ---- life ---- */

static const char *copy_text(const char *text)
{
    if (text == NULL)
        return NULL;

    const size_t size = strlen(text) + 1;
    char *copy = mem_alloc(size, 1);

    memcpy(copy, text, size);
    return copy;
}

/* The texts of our configuration are copies of our own; only the type says that they are not. */
static void free_const(const void *copy)
{
    const union {
        const void *theirs;
        void *ours;
    } pointer = { copy };

    mem_free(pointer.ours);
}

static void set_defaults(struct aws_timing *timing)
{
    static const struct aws_timing standard = {
        .look = 2000,
        .look_idle = 15000,
        .retry = 500,
        .retry_most = 20000,
        .refused = 30000,
        .refused_most = 960000,
        .settle = 60000,
        .timeout = 30000,
        .launch_burst = 5,
        .launch_every = 500,
    };
#define OR_DEFAULT(member) timing->member = timing->member > 0 ? timing->member : standard.member
    OR_DEFAULT(look);
    OR_DEFAULT(look_idle);
    OR_DEFAULT(retry);
    OR_DEFAULT(retry_most);
    OR_DEFAULT(refused);
    OR_DEFAULT(refused_most);
    OR_DEFAULT(settle);
    OR_DEFAULT(timeout);
    OR_DEFAULT(launch_burst);
    OR_DEFAULT(launch_every);
#undef OR_DEFAULT
    if (timing->retry_most < timing->retry)
        timing->retry_most = timing->retry;
}

static int check_config(const struct aws_fleet_config *config, struct error *reterr)
{
    static const char *const letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *cluster = config->cluster;

    if (cluster == NULL || cluster[0] == '\0' || strlen(cluster) > AWS_FLEET_CLUSTER_MAX ||
        cluster[strspn(cluster, letters)] != '\0')
        return error_set(
            reterr, -EINVAL,
            "with EC2 the name of a cluster must have 1 to %d letters, digits, '-', '_' "
            "and '.'",
            AWS_FLEET_CLUSTER_MAX);
    if (config->node_prefix == NULL || strlen(config->node_prefix) > LIMIT_NAME / 2)
        return error_set(reterr, -EINVAL, "the prefix of node names is too long");
    if (config->launch_template == NULL && config->image == NULL)
        return error_set(reterr, -EINVAL, "EC2 needs a launch template or an image");
    if (config->user_data != NULL && strlen(config->user_data) > AWS_FLEET_USER_DATA_MAX / 2)
        return error_set(reterr, -EINVAL, "the user data is longer than %d bytes",
                         AWS_FLEET_USER_DATA_MAX / 2);
    return 0;
}

/* Say once which zones are left out. */
static void note_placeless(struct aws_fleet *fleet)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    char zones[256] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (fleet_has_place(fleet, i))
            continue;

        const char *zone = names_text(&catalogue->names, catalogue->offers[i].zone);

        if (strstr(zones, zone) == NULL && used + strlen(zone) + 3 < sizeof(zones))
            used += (size_t)snprintf(zones + used, sizeof(zones) - used, "%s%s",
                                     used > 0 ? ", " : "", zone);
    }
    if (used > 0)
        fleet_note(fleet, false, "Stint rents nothing in %s, because 'subnets' has no entry for it",
                   zones);
}

int aws_fleet_create(const struct aws_fleet_config *config, struct aws_fleet **ret,
                     struct error *reterr)
{
    const int rc = check_config(config, reterr);

    if (rc < 0)
        return rc;

    struct aws_fleet *fleet = mem_alloc(1, sizeof(*fleet));
    struct aws_subnet *subnets = mem_alloc(config->subnet_count, sizeof(*subnets));

    fleet->config = *config;
    fleet->config.cluster = copy_text(config->cluster);
    fleet->config.node_prefix = copy_text(config->node_prefix);
    fleet->config.launch_template = copy_text(config->launch_template);
    fleet->config.launch_template_version = copy_text(config->launch_template_version);
    fleet->config.image = copy_text(config->image);
    fleet->config.user_data = copy_text(config->user_data);
    for (uint32_t i = 0; i < config->subnet_count; i++) {
        subnets[i].zone = copy_text(config->subnets[i].zone);
        subnets[i].subnet = copy_text(config->subnets[i].subnet);
    }
    fleet->config.subnets = subnets;
    set_defaults(&fleet->config.timing);
    if (fleet->config.page == 0)
        fleet->config.page = 1000;
    if (fleet->config.together == 0 || fleet->config.together > AWS_FLEET_TOGETHER_MAX)
        fleet->config.together = AWS_FLEET_TOGETHER_MAX;
    rng_init(&fleet->rng, config->seed, 0);
    aws_bucket_init(&fleet->launches, fleet->config.timing.launch_burst,
                    fleet->config.timing.launch_every);
    map_init(&fleet->by_key);
    map_init(&fleet->ended_by_key);
    fleet->blocks = mem_alloc(config->catalogue->offer_count, sizeof(*fleet->blocks));
    fleet->is_shut = config->waits_for_account;
    note_placeless(fleet);
    *ret = fleet;
    return 0;
}

void aws_fleet_destroy(struct aws_fleet *fleet)
{
    if (fleet == NULL)
        return;
    free_const(fleet->config.cluster);
    free_const(fleet->config.node_prefix);
    free_const(fleet->config.launch_template);
    free_const(fleet->config.launch_template_version);
    free_const(fleet->config.image);
    free_const(fleet->config.user_data);
    for (uint32_t i = 0; i < fleet->config.subnet_count; i++) {
        free_const(fleet->config.subnets[i].zone);
        free_const(fleet->config.subnets[i].subnet);
    }
    free_const(fleet->config.subnets);
    aws_form_done(&fleet->form);
    map_done(&fleet->by_key);
    map_done(&fleet->ended_by_key);
    mem_free(fleet->machines);
    mem_free(fleet->queue);
    mem_free(fleet->ended);
    mem_free(fleet->events);
    mem_free(fleet->blocks);
    mem_free(fleet->lists);
    mem_free(fleet->gone);
    mem_free(fleet->rows);
    mem_free(fleet);
}
