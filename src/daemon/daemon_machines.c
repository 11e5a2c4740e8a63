/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines of an earlier process. What the store knows as rented is known to the controller before it
 * asks anybody, so that it counts in every limit whatever the cloud's first list says. A machine whose
 * offer has left the catalogue keeps its recorded price under a former offer, which is never asked for:
 * what runs there may end, then it goes back. The brake, too, goes on where it was: a restart is no reason
 * to try many machines at once again.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "daemon/offer_index.h"

static uint32_t find_offer(const struct catalogue *catalogue, const char *words)
{
    char other[SERVE_TEXT];

    for (uint32_t i = 0; words != NULL && i < catalogue->offer_count; i++) {
        (void)offer_index_words(catalogue, i, other, sizeof(other));
        if (strcmp(other, words) == 0)
            return i;
    }
    return OFFER_NONE;
}

static enum market market_of(const char *word)
{
    static const enum market markets[] = { MARKET_ON_DEMAND, MARKET_SPOT, MARKET_RESERVED };

    for (size_t i = 0; word != NULL && i < sizeof(markets) / sizeof(markets[0]); i++) {
        if (strcmp(market_name(markets[i]), word) == 0)
            return markets[i];
    }
    return MARKET_ON_DEMAND;
}

static uint32_t add_former(struct catalogue *catalogue, const char *type, const char *zone,
                           enum market market, money_t per_hour)
{
    const struct price_change price = { 0, per_hour };
    uint32_t row = catalogue_find_type(catalogue, type, strlen(type));

    if (row >= catalogue->type_count)
        row = catalogue_add_type(catalogue, type, type, &(struct machine_type){ .setup_ms = 0 });

    const struct offer offer = {
        .type = row,
        .market = market,
        .billing = catalogue->offer_count > 0 ? catalogue->offers[0].billing
                                              : (struct billing_rule){ .step_ms = 1000 },
        .price = { &price, 1 },
        .is_former = true,
    };

    return catalogue_add_offer(catalogue, zone, &offer);
}

static void keep_offer(void *context, const struct store_instance *instance)
{
    struct daemon *daemon = context;

    if (find_offer(&daemon->catalogue, instance->offer) != OFFER_NONE || instance->type == NULL)
        return;
    LOG_WARNING(
        "the catalogue has lost the offer of a machine, so Stint returns it when its jobs have "
        "ended name=%s offer=\"%s\"",
        instance->name, instance->offer);
    (void)add_former(&daemon->catalogue, instance->type, instance->zone,
                     market_of(instance->market), instance->per_hour);
    daemon->former_count++;
}

int daemon_keep_offers(struct daemon *daemon, struct error *reterr)
{
    if (daemon->conf.mode == CONF_SHADOW)
        return 0;
    const int rc = store_each_instance(daemon->store, keep_offer, daemon, reterr);

    if (rc == 0)
        daemon->unknown_offer =
            add_former(&daemon->catalogue, "unknown type", NULL, MARKET_ON_DEMAND, 0);
    return rc;
}

static void remember(void *context, const struct store_instance *instance)
{
    struct daemon *daemon = context;
    const uint32_t offer = find_offer(&daemon->catalogue, instance->offer);

    if (offer == OFFER_NONE)
        return;
    sense_know(daemon->sense, instance->id, offer);
    controller_remember(daemon->controller, instance->id, offer, instance->asked_at, daemon->now);
}

int daemon_remember_machines(struct daemon *daemon, struct error *reterr)
{
    const struct view *view = controller_view(daemon->controller);

    if (daemon->conf.mode == CONF_SHADOW)
        return 0; /* the virtual world starts over */
    const int rc = store_each_instance(daemon->store, remember, daemon, reterr);

    if (rc == 0 && view->instance.living > 0)
        LOG_INFO("took over the machines of an earlier run count=%u", view->instance.living);
    return rc;
}

static bool is_same(const struct controller_brake *a, const struct controller_brake *b)
{
    return a->failed_boots == b->failed_boots && a->failed_starts == b->failed_starts &&
           a->not_before == b->not_before && a->is_proven == b->is_proven;
}

void daemon_note_brake(struct daemon *daemon)
{
    const struct controller_brake now = controller_brake(daemon->controller);
    char text[128];

    if (is_same(&now, &daemon->noted_brake) || daemon->shadow != NULL)
        return;
    if (now.failed_starts > daemon->noted_brake.failed_starts ||
        now.failed_boots > daemon->noted_brake.failed_boots)
        LOG_WARNING("machines fail: boots failed in a row=%u, machines without a start=%u",
                    now.failed_boots, now.failed_starts);
    daemon->noted_brake = now;
    (void)snprintf(text, sizeof(text), "%u %u %lld %d", now.failed_boots, now.failed_starts,
                   (long long)now.not_before, now.is_proven ? 1 : 0);
    journal_mark(&daemon->journal, MARK_BRAKE, text);
}

struct controller_brake daemon_kept_brake(struct daemon *daemon)
{
    struct controller_brake brake = { 0 };
    long long not_before = 0;
    int is_proven = 0;
    char text[128];

    store_marked(daemon->store, MARK_BRAKE, text, sizeof(text));
    if (sscanf(text, "%u %u %lld %d", &brake.failed_boots, &brake.failed_starts, &not_before,
               &is_proven) != 4) /* NOLINT(cert-err34-c): our own words */
        return (struct controller_brake){ 0 };
    brake.not_before = not_before;
    brake.is_proven = is_proven == 1;
    daemon->noted_brake = brake;
    return brake;
}
