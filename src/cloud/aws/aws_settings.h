/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_settings.h - the map 'cloud' of a configuration whose kind is aws. docs/reference/aws-config.md has every key.
 *
 * Memory:  texts live as long as the document that they were read from; the subnets in its arena.
 */
#ifndef STINT_CLOUD_AWS_SETTINGS_H
#define STINT_CLOUD_AWS_SETTINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "cloud/aws/aws_fleet.h"

struct doc_node;
struct settings;

struct aws_settings {
    const char *region; /* NULL in any of these: not given */
    const char *endpoint;
    const char *profile;
    const char *launch_template;
    const char *launch_template_version;
    const char *image;
    const char *user_data;
    const char *queue; /* URL of the queue of notices */
    struct aws_subnet *subnets;
    uint32_t subnet_count;
    uint32_t together;       /* machines of one launch, at most; 0: not given */
    uint32_t spot_price_cap; /* percent of the price on demand; 0: none */
    msec_t idle_shutdown;    /* as in struct aws_fleet_config */
    struct aws_timing timing;
};

int aws_settings_read(const struct doc_node *map, struct arena *arena, struct aws_settings *ret,
                      struct error *reterr);

/* Refuse what the client of EC2 would refuse when the daemon starts. */
int aws_settings_check(const struct settings *in, const struct doc_node *map,
                       const struct aws_settings *settings);

/* Whether a daemon that runs with one may go on with the other. */
bool aws_settings_same(const struct aws_settings *x, const struct aws_settings *y);

#endif
