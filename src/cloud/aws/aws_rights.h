/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_rights.h - which rights the keys have, asked of AWS itself.
 *
 * One request for each right, so built that nothing happens: with DryRun where EC2 has it, else with
 * a request that cannot change anything (a message that stays visible, a receipt that does not exist).
 * The launch that is tried is the daemon's own, for the first offer of each market. A fleet is tried
 * where one could be asked for: with a launch template and subnets.
 *
 * Promises:  nothing is launched, ended or taken out of a queue. No key is in the report.
 * Costs:     about ten requests, one after another; each is asked up to RIGHTS_ATTEMPTS times.
 */
#ifndef STINT_CLOUD_AWS_RIGHTS_H
#define STINT_CLOUD_AWS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cloud/aws/aws_settings.h"

struct uv_loop_s;
struct aws_client;
struct catalogue;

enum aws_right_name {
    AWS_RIGHT_DESCRIBE,
    AWS_RIGHT_RUN,
    AWS_RIGHT_FLEET, /* with a launch template and subnets */
    AWS_RIGHT_TAG,
    AWS_RIGHT_PASS_ROLE,
    AWS_RIGHT_TERMINATE,
    AWS_RIGHT_RECEIVE,
    AWS_RIGHT_DELETE,
    AWS_RIGHT_TYPES,
    AWS_RIGHT_OFFERINGS,
    AWS_RIGHT_SPOT_PRICES,
    AWS_RIGHT_PRODUCTS,
    AWS_RIGHTS,
};

struct aws_right {
    const char *action;    /* "ec2:RunInstances" */
    bool is_for_catalogue; /* `stint catalogue refresh` needs it; else the daemon does */
};

extern const struct aws_right aws_rights[AWS_RIGHTS];

enum aws_right_state {
    AWS_RIGHT_UNASKED, /* not needed with these settings, or known from another's answer */
    AWS_RIGHT_THERE,
    AWS_RIGHT_MISSING,
    AWS_RIGHT_UNTRIED, /* nothing to try it with; 'detail' says what is needed */
    AWS_RIGHT_WRONG,   /* the request fails, but not for want of a right; 'detail' says why */
};

struct aws_right_answer {
    enum aws_right_state state;
    char detail[ERROR_TEXT_SIZE];
};

struct aws_rights_report {
    bool has_keys;
    char why[ERROR_TEXT_SIZE]; /* there are no keys, or none that AWS knows */
    char source[512];          /* where the keys come from: "the environment" */
    char who[256];             /* ARN of whose they are; may be empty */
    char account[16];
    struct aws_right_answer rights[AWS_RIGHTS];
};

struct aws_rights_config {
    struct uv_loop_s *loop;
    struct aws_client *client;
    const struct catalogue *catalogue; /* NULL: no launch is tried */
    const char *cluster;
    const char *node_prefix;
    const struct aws_settings *settings;
};

/* Runs the loop until all is known. -EINVAL: a launch cannot be built from the settings. */
int aws_rights_ask(const struct aws_rights_config *config, struct aws_rights_report *ret,
                   struct error *reterr);

/* The right that EC2 names in a refusal: "... not authorized to perform: ec2:CreateTags on ...";
 * AWS_RIGHTS: none that we know. */
enum aws_right_name aws_rights_named(const char *message);

#endif
