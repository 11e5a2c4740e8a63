/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_profile.h - one profile of the shared files, ~/.aws/credentials and ~/.aws/config.
 *
 * Promises:  any bytes may be read. What stands in the file that is read first goes before. Keys go
 *            into 'keys' and nowhere else.
 */
#ifndef STINT_CLOUD_AWS_PROFILE_H
#define STINT_CLOUD_AWS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cloud/aws/aws_secret.h"

enum {
    AWS_PROFILE_NAME_SIZE = 256,
    AWS_PROFILE_PATH_SIZE = 1024,
    AWS_PROFILE_COMMAND_SIZE = 4096,
    /* As long as STS takes them, and the zero. */
    AWS_PROFILE_ROLE_SIZE = 2049,
    AWS_PROFILE_EXTERNAL_ID_SIZE = 1225,
    AWS_PROFILE_SESSION_SIZE = 65,
};

/* Texts are as the files have them; empty: not there. */
struct aws_profile {
    char role[AWS_PROFILE_ROLE_SIZE];
    char session[AWS_PROFILE_SESSION_SIZE];
    char external_id[AWS_PROFILE_EXTERNAL_ID_SIZE];
    char duration[16];
    char mfa_serial[AWS_PROFILE_NAME_SIZE];
    char source_profile[AWS_PROFILE_NAME_SIZE];
    char credential_source[32];
    char token_file[AWS_PROFILE_PATH_SIZE];
    char process[AWS_PROFILE_COMMAND_SIZE];
    char region[64];
    const char *too_long; /* the name of a setting that does not fit; NULL: none */
    struct error fault;   /* why a file that was named cannot be read; empty: none was */
    bool is_there;
};

struct aws_profile_file {
    const char *path;
    bool is_named; /* by whoever set us up: then it is read, or that is an error */
};

/* Add what 'section' says in the text of a file. */
void aws_profile_add(const char *text, size_t length, const char *section, struct aws_profile *ret,
                     struct aws_secret *keys);

/* Read the profile from both files; one that is not there is empty, and so is one that may not be
 * read, unless it was named. */
void aws_profile_read(const struct aws_profile_file *credentials,
                      const struct aws_profile_file *config, const char *name,
                      struct aws_profile *ret, struct aws_secret *keys);

#endif
