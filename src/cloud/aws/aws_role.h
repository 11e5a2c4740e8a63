/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_role.h - how a profile comes to its keys: whose keys come first, and which roles are taken on
 * with them, one after the other.
 *
 * As the SDKs do it: of the profile that is asked for, a role goes before keys that stand beside it; of
 * one that is only a source, keys go before a role. So a profile with both may be its own source. A
 * program (credential_process) goes behind both.
 *
 * Promises:  pure but for 'read'; any settings may be read. An error names the profile and what to do,
 *            and no key.
 */
#ifndef STINT_CLOUD_AWS_ROLE_H
#define STINT_CLOUD_AWS_ROLE_H

#include <stdint.h>

#include "base/error.h"
#include "cloud/aws/aws_profile.h"
#include "cloud/aws/aws_secret.h"

enum {
    AWS_ROLE_STEPS_MAX = 4,
    AWS_ROLE_SECONDS_MIN = 900,
    AWS_ROLE_SECONDS_MAX = 43200,
    AWS_ROLE_SOURCE_SIZE = 512,
};

/* Where the first keys come from. */
enum aws_role_base {
    AWS_ROLE_BASE_PROFILE, /* they are read */
    AWS_ROLE_BASE_PROCESS, /* a program prints them */
    AWS_ROLE_BASE_ENVIRONMENT,
    AWS_ROLE_BASE_WEB_IDENTITY, /* none are needed: a token is shown for the first role */
    AWS_ROLE_BASE_CONTAINER,
    AWS_ROLE_BASE_INSTANCE,
    AWS_ROLE_BASE_MACHINE, /* the container if there is one, else the instance */
};

struct aws_role_step {
    char role[AWS_PROFILE_ROLE_SIZE];
    char session[AWS_PROFILE_SESSION_SIZE];         /* empty: ours */
    char external_id[AWS_PROFILE_EXTERNAL_ID_SIZE]; /* empty: none */
    uint32_t seconds;                               /* 0: as long as STS likes */
};

struct aws_role_plan {
    enum aws_role_base base;
    char token_file[AWS_PROFILE_PATH_SIZE]; /* of a web identity */
    char process[AWS_PROFILE_COMMAND_SIZE]; /* the program and its arguments */
    uint32_t count;
    struct aws_role_step steps[AWS_ROLE_STEPS_MAX]; /* the last one is taken first */
    char source
        [AWS_ROLE_SOURCE_SIZE]; /* for people: "the profile a, role R through the profile b" */
};

/* Fill 'ret', and 'keys' if they are those of a profile. 'read' reads one profile and its keys.
 * 'files', in words, are where the profile must be found; NULL: it was not named, so that it need
 * not be there. */
int aws_role_plan(const char *name, const char *files,
                  void (*read)(void *context, const char *name, struct aws_profile *ret,
                               struct aws_secret *keys),
                  void *context, struct aws_role_plan *ret, struct aws_secret *keys,
                  struct error *reterr);

#endif
