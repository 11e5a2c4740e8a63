/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_fleet_private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *zone_of(const struct catalogue *catalogue, uint32_t offer)
{
    const uint32_t zone = catalogue->offers[offer].zone;

    return zone != NAME_NONE ? names_text(&catalogue->names, zone) : "";
}

void fleet_offer_name(const struct catalogue *catalogue, uint32_t offer, char *ret)
{
    (void)snprintf(ret, 160, "%s/%s/%s", catalogue_offer_type_name(catalogue, offer),
                   zone_of(catalogue, offer), market_name(catalogue->offers[offer].market));
}

/* An offer of the type in the market, in the zone or, if there is none, in no zone in particular. */
static uint32_t find_offer(const struct catalogue *catalogue, const char *type, const char *zone,
                           enum market market)
{
    uint32_t anywhere = OFFER_NONE;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].market != market ||
            strcmp(catalogue_offer_type_name(catalogue, i), type) != 0)
            continue;
        if (strcmp(zone_of(catalogue, i), zone) == 0)
            return i;
        if (zone_of(catalogue, i)[0] == '\0')
            anywhere = i;
    }
    return anywhere;
}

uint32_t fleet_offer_of(const struct catalogue *catalogue, const struct ec2_instance *row)
{
    char type[sizeof(row->tag_offer)];
    char *zone;
    char *market;

    (void)snprintf(type, sizeof(type), "%s", row->tag_offer);
    zone = strchr(type, '/');
    market = zone != NULL ? strchr(zone + 1, '/') : NULL;
    if (market != NULL) {
        *zone = '\0';
        *market = '\0';
        for (int i = 0; i < MARKET_COUNT; i++) {
            if (strcmp(market + 1, market_name((enum market)i)) == 0)
                return find_offer(catalogue, type, zone + 1, (enum market)i);
        }
    }
    return find_offer(catalogue, row->type, row->zone,
                      row->is_spot ? MARKET_SPOT : MARKET_ON_DEMAND);
}

const char *fleet_quota_of(const char *type)
{
    static const struct {
        const char *start;
        const char *quota;
    } quotas[] = {
        { "inf", "inf" }, { "trn", "trn" }, { "dl", "dl" }, { "hpc", "hpc" }, { "u-", "u" },
        { "vt", "g" },    { "g", "g" },     { "p", "p" },   { "f", "f" },     { "x", "x" },
    };

    for (size_t i = 0; i < sizeof(quotas) / sizeof(*quotas); i++) {
        if (strncmp(type, quotas[i].start, strlen(quotas[i].start)) == 0)
            return quotas[i].quota;
    }
    return "standard";
}

bool fleet_is_blocked(const struct aws_fleet *fleet, uint32_t offer, msec_t now)
{
    return offer != OFFER_NONE && now < fleet->blocks[offer].until;
}

void fleet_block(struct aws_fleet *fleet, msec_t now, uint32_t offer, msec_t sent_at)
{
    struct offer_block *block = &fleet->blocks[offer];
    const struct aws_timing *timing = &fleet->config.timing;

    /* Of several that were sent together only the first one doubles the wait. */
    if (block->wait > 0 && sent_at <= block->since) {
        block->until = now + block->wait;
        return;
    }
    block->wait = block->wait == 0                         ? timing->refused
                  : block->wait < timing->refused_most / 2 ? block->wait * 2
                                                           : timing->refused_most;
    block->since = now;
    block->until = now + block->wait;
    block->times++;
    block->is_quota = false;
}

void fleet_block_quota(struct aws_fleet *fleet, msec_t now, uint32_t offer, msec_t sent_at)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    const char *quota = fleet_quota_of(catalogue_offer_type_name(catalogue, offer));

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].market == catalogue->offers[offer].market &&
            strcmp(fleet_quota_of(catalogue_offer_type_name(catalogue, i)), quota) == 0) {
            fleet_block(fleet, now, i, sent_at);
            fleet->blocks[i].is_quota = true;
        }
    }
}

const struct aws_subnet *fleet_subnet_of(const struct aws_fleet *fleet, uint32_t offer,
                                         uint64_t first)
{
    const struct aws_fleet_config *config = &fleet->config;
    const char *zone = zone_of(config->catalogue, offer);

    if (config->subnet_count > 0 && zone[0] == '\0')
        return &config->subnets[first % config->subnet_count];
    for (uint32_t i = 0; i < config->subnet_count; i++) {
        if (strcmp(config->subnets[i].zone, zone) == 0)
            return &config->subnets[i];
    }
    return NULL;
}

bool fleet_has_place(const struct aws_fleet *fleet, uint32_t offer)
{
    return fleet->config.subnet_count == 0 || fleet_subnet_of(fleet, offer, 0) != NULL;
}

bool aws_fleet_refusal(const struct aws_fleet *fleet, uint32_t offer, msec_t now,
                       struct cloud_refusal *ret)
{
    assert(offer < fleet->config.catalogue->offer_count);

    const struct offer_block *block = &fleet->blocks[offer];

    if (!fleet_has_place(fleet, offer)) {
        *ret = (struct cloud_refusal){ .at = now,
                                       .until = now + FLEET_PLACELESS_MS,
                                       .is_placeless = true };
        return true;
    }
    if (!fleet_is_blocked(fleet, offer, now))
        return false;
    *ret = (struct cloud_refusal){ .at = block->since,
                                   .until = block->until,
                                   .times = block->times,
                                   .is_quota = block->is_quota };
    return true;
}

void aws_fleet_recall(struct aws_fleet *fleet, uint32_t offer, msec_t asked_at, msec_t at,
                      bool was_refused)
{
    assert(offer < fleet->config.catalogue->offer_count);

    const struct offer_block *block = &fleet->blocks[offer];

    /* What was decided while the offer was blocked was held back here and tells nothing. */
    if (asked_at > block->since && asked_at < block->until)
        return;
    if (was_refused)
        fleet_block(fleet, at, offer, asked_at);
    else
        fleet_unblock(fleet, offer, asked_at);
}

msec_t aws_fleet_memory(const struct aws_fleet *fleet)
{
    return 2 * fleet->config.timing.refused_most;
}

void fleet_unblock(struct aws_fleet *fleet, uint32_t offer, msec_t sent_at)
{
    /* What was sent before the refusal got the last ones that were there. */
    if (offer != OFFER_NONE && sent_at > fleet->blocks[offer].since)
        fleet->blocks[offer] = (struct offer_block){ 0 };
}
