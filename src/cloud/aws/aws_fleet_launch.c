/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch says. It depends on the configuration, the offer, the first key and the count, and on
 * nothing else: EC2 takes the same client token only with the same parameters.
 *
 * Machines of one launch share its tags and user data. EC2 numbers them from 0 on (the launch index),
 * tells them that number and shows it with each, so the key of each is the first one plus its index.
 *
 * An offer in no zone in particular, where each zone has a subnet of its own, goes to CreateFleet, the
 * only request that names several subnets: EC2 takes the zone that has the machine. A fleet promises no
 * launch index and carries no user data, so it starts one machine, which learns its name from its tags.
 * Whoever writes its own user data wants it carried: then such an offer goes to our subnets in turn.
 */
#include "cloud/aws/aws_fleet_private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

/* What stands for "{name}" in user data. */
struct filling {
    const char *name;
    const char *value;
};

enum { FILLINGS = 6 };

static const char standard_user_data[] =
    "STINT_CLUSTER={cluster}\nSTINT_NODE={node}\nSTINT_TYPE={type}\n"
    "STINT_ZONE={zone}\nSTINT_MARKET={market}\nSTINT_IDLE={idle}\n";

static const char *zone_of(const struct aws_fleet *fleet, uint32_t offer)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    const uint32_t zone = catalogue->offers[offer].zone;

    return zone != NAME_NONE ? names_text(&catalogue->names, zone) : "";
}

bool fleet_takes_any_subnet(const struct aws_fleet *fleet, uint32_t offer)
{
    return fleet->config.catalogue->offers[offer].zone == NAME_NONE &&
           fleet->config.subnet_count > 0 && fleet->config.launch_template != NULL &&
           fleet->config.user_data == NULL;
}

uint32_t fleet_together_max(const struct aws_fleet *fleet, uint32_t offer)
{
    const char *own = fleet->config.user_data;
    const size_t prefix = strlen(fleet->config.node_prefix);

    /* Whoever writes its own user data with the node's name in it expects that name. */
    if (fleet_takes_any_subnet(fleet, offer) || (own != NULL && strstr(own, "{node}") != NULL))
        return 1;
    /* A machine adds its launch index to the number that its name ends in: the key must be all of it. */
    if (prefix > 0 && isdigit((unsigned char)fleet->config.node_prefix[prefix - 1]))
        return 1;
    return fleet->config.together;
}

static void put_user_data(struct aws_fleet *fleet, const struct filling *fillings)
{
    const char *from =
        fleet->config.user_data != NULL ? fleet->config.user_data : standard_user_data;
    char *text = mem_alloc(AWS_FLEET_USER_DATA_MAX, 1);
    size_t size = 0;

    while (*from != '\0' && size + LIMIT_NAME < AWS_FLEET_USER_DATA_MAX) {
        const struct filling *found = NULL;

        for (int i = 0; *from == '{' && i < FILLINGS; i++) {
            if (strncmp(from, fillings[i].name, strlen(fillings[i].name)) == 0)
                found = &fillings[i];
        }
        if (found == NULL) {
            text[size++] = *from++;
            continue;
        }
        size += (size_t)snprintf(text + size, LIMIT_NAME, "%.255s", found->value);
        from += strlen(found->name);
    }
    aws_form_base64(&fleet->form, "UserData", text, size);
    mem_free(text);
}

/* The tags of a launch, which are the same for all that it makes. */
enum { TAGS = 5 };

struct tag {
    const char *key;
    const char *value;
};

static void put_specification(struct aws_form *form, uint32_t number, const char *resource,
                              const struct tag *tags)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "TagSpecification.%" PRIu32 ".ResourceType", number);
    aws_form_add(form, name, resource);
    for (uint32_t i = 0; i < TAGS; i++) {
        (void)snprintf(name, sizeof(name), "TagSpecification.%" PRIu32 ".Tag.#.Key", number);
        aws_form_item(form, name, i + 1, tags[i].key);
        (void)snprintf(name, sizeof(name), "TagSpecification.%" PRIu32 ".Tag.#.Value", number);
        aws_form_item(form, name, i + 1, tags[i].value);
    }
}

static void put_tags(struct aws_fleet *fleet, const struct launch *launch, const char *node)
{
    struct aws_form *form = &fleet->form;
    char name[LIMIT_NAME + 24];
    char key[24];
    char offer[160];

    if (launch->count == 1)
        (void)snprintf(name, sizeof(name), "%s", node);
    else
        (void)snprintf(name, sizeof(name), "%s..%" PRIu64, node, launch->first + launch->count - 1);
    (void)snprintf(key, sizeof(key), "%" PRIu64, launch->first);
    fleet_offer_name(fleet->config.catalogue, launch->offer, offer);

    const struct tag tags[TAGS] = {
        { "Name", name },       { "stint:cluster", fleet->config.cluster },
        { "stint:key", key },   { "stint:offer", offer },
        { "stint:node", node },
    };

    put_specification(form, 1, "instance", tags);
    /* A fleet of type instant tags nothing else; there the template can. */
    if (fleet_takes_any_subnet(fleet, launch->offer))
        return;
    put_specification(form, 2, "volume", tags);
    if (fleet->config.catalogue->offers[launch->offer].market == MARKET_SPOT)
        put_specification(form, 3, "spot-instances-request", tags);
}

static void put_token(struct aws_fleet *fleet, const struct launch *launch)
{
    char token[LIMIT_NAME];
    int size =
        snprintf(token, sizeof(token), "stint-%s-%" PRIu64, fleet->config.cluster, launch->first);

    if (launch->count > 1)
        (void)snprintf(token + size, sizeof(token) - (size_t)size, "+%" PRIu32, launch->count);
    aws_form_add(&fleet->form, "ClientToken", token);
}

/* What a spot machine of the offer may cost at most, in words; empty: what EC2 thinks, which is the price
 * on demand of the day. Of several prices on demand the highest counts. */
static void spot_cap(const struct aws_fleet *fleet, uint32_t offer, char *ret, size_t size)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    const char *type = catalogue_offer_type_name(catalogue, offer);
    money_t most = 0;

    ret[0] = '\0';
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct price_series *prices = &catalogue->offers[i].price;

        if (catalogue->offers[i].market != MARKET_ON_DEMAND ||
            strcmp(catalogue_offer_type_name(catalogue, i), type) != 0)
            continue;
        for (uint32_t k = 0; k < prices->count; k++)
            most = prices->changes[k].per_hour > most ? prices->changes[k].per_hour : most;
    }
    most =
        most / 100 * fleet->config.spot_price_cap + most % 100 * fleet->config.spot_price_cap / 100;
    if (most > 0)
        (void)snprintf(ret, size, "%" PRId64 ".%06" PRId64, (int64_t)(most / MONEY_PER_USD),
                       (int64_t)(most % MONEY_PER_USD));
}

static bool is_template_id(const char *template)
{
    return strncmp(template, "lt-", 3) == 0;
}

static void put_template(struct aws_fleet *fleet)
{
    const char *template = fleet->config.launch_template;

    aws_form_add(&fleet->form, "ImageId", fleet->config.image);
    if (template == NULL) {
        /* Only IMDSv2. A template says for itself; what is given here would replace all of its options. */
        aws_form_add(&fleet->form, "MetadataOptions.HttpTokens", "required");
        return;
    }
    aws_form_add(&fleet->form,
                 is_template_id(template) ? "LaunchTemplate.LaunchTemplateId"
                                          : "LaunchTemplate.LaunchTemplateName",
                 template);
    aws_form_add(&fleet->form, "LaunchTemplate.Version", fleet->config.launch_template_version);
}

/* After how many seconds without a job a machine ends itself. stintd returns an empty machine when the
 * time that is paid for is over: one that is empty for longer than a billing step and half an hour is
 * no longer managed. */
static void idle_seconds(const struct aws_fleet *fleet, char *ret, size_t size)
{
    static const msec_t spare = 1800 * MSEC_PER_SEC;
    const struct catalogue *catalogue = fleet->config.catalogue;
    msec_t idle = fleet->config.idle_shutdown;

    if (idle == 0) {
        for (uint32_t i = 0; i < catalogue->offer_count; i++) {
            const struct billing_rule *billing = &catalogue->offers[i].billing;
            const msec_t paid =
                billing->step_ms > billing->minimum_ms ? billing->step_ms : billing->minimum_ms;

            idle = paid > idle ? paid : idle;
        }
        idle += spare;
    }
    (void)snprintf(ret, size, "%" PRId64, idle < 0 ? 0 : (int64_t)(idle / MSEC_PER_SEC));
}

static void put_run(struct aws_fleet *fleet, const struct launch *launch, const char *node)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    const enum market market = catalogue->offers[launch->offer].market;
    const char *type = catalogue_offer_type_name(catalogue, launch->offer);
    const struct aws_subnet *subnet = fleet_subnet_of(fleet, launch->offer, launch->first);
    const char *zone = subnet != NULL ? subnet->zone : zone_of(fleet, launch->offer);
    struct aws_form *form = &fleet->form;
    char cap[32];
    char idle[24];

    idle_seconds(fleet, idle, sizeof(idle));
    aws_form_begin(form, "RunInstances", EC2_VERSION);
    aws_form_number(form, "MinCount", 1);
    aws_form_number(form, "MaxCount", launch->count);
    aws_form_add(form, "InstanceType", type);
    aws_form_add(form, "InstanceInitiatedShutdownBehavior", "terminate");
    put_template(fleet);
    if (subnet != NULL)
        aws_form_add(form, "SubnetId", subnet->subnet);
    else if (zone[0] != '\0')
        aws_form_add(form, "Placement.AvailabilityZone", zone);
    if (market == MARKET_SPOT) {
        aws_form_add(form, "InstanceMarketOptions.MarketType", "spot");
        aws_form_add(form, "InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time");
        aws_form_add(form, "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior",
                     "terminate");
        spot_cap(fleet, launch->offer, cap, sizeof(cap));
        if (cap[0] != '\0')
            aws_form_add(form, "InstanceMarketOptions.SpotOptions.MaxPrice", cap);
    }
    put_user_data(fleet, (const struct filling[FILLINGS]){ { "{node}", node },
                                                           { "{cluster}", fleet->config.cluster },
                                                           { "{type}", type },
                                                           { "{zone}", zone },
                                                           { "{market}", market_name(market) },
                                                           { "{idle}", idle } });
}

static void put_fleet(struct aws_fleet *fleet, const struct launch *launch)
{
    const struct catalogue *catalogue = fleet->config.catalogue;
    const bool is_spot = catalogue->offers[launch->offer].market == MARKET_SPOT;
    const char *type = catalogue_offer_type_name(catalogue, launch->offer);
    const char *template = fleet->config.launch_template;
    const char *version = fleet->config.launch_template_version;
    struct aws_form *form = &fleet->form;
    char cap[32] = "";

    if (is_spot)
        spot_cap(fleet, launch->offer, cap, sizeof(cap));

    aws_form_begin(form, "CreateFleet", EC2_VERSION);
    aws_form_add(form, "Type", "instant");
    aws_form_number(form, "TargetCapacitySpecification.TotalTargetCapacity", launch->count);
    aws_form_add(form, "TargetCapacitySpecification.DefaultTargetCapacityType",
                 is_spot ? "spot" : "on-demand");
    aws_form_add(form,
                 is_spot ? "SpotOptions.AllocationStrategy" : "OnDemandOptions.AllocationStrategy",
                 is_spot ? "price-capacity-optimized" : "lowest-price");
    aws_form_add(form,
                 is_template_id(template)
                     ? "LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateId"
                     : "LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName",
                 template);
    aws_form_add(form, "LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version",
                 version != NULL ? version : "$Default");
    for (uint32_t i = 0; i < fleet->config.subnet_count; i++) {
        aws_form_item(form, "LaunchTemplateConfigs.1.Overrides.#.InstanceType", i + 1, type);
        aws_form_item(form, "LaunchTemplateConfigs.1.Overrides.#.SubnetId", i + 1,
                      fleet->config.subnets[i].subnet);
        if (cap[0] != '\0')
            aws_form_item(form, "LaunchTemplateConfigs.1.Overrides.#.MaxPrice", i + 1, cap);
        if (fleet->config.image != NULL)
            aws_form_item(form, "LaunchTemplateConfigs.1.Overrides.#.ImageId", i + 1,
                          fleet->config.image);
    }
}

void fleet_put_launch(struct aws_fleet *fleet, const struct launch *launch)
{
    char node[LIMIT_NAME];

    (void)snprintf(node, sizeof(node), "%.128s%" PRIu64, fleet->config.node_prefix, launch->first);
    if (fleet_takes_any_subnet(fleet, launch->offer))
        put_fleet(fleet, launch);
    else
        put_run(fleet, launch, node);
    put_token(fleet, launch);
    put_tags(fleet, launch, node);
}
