/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cloud/aws/aws_ini.h"
#include "cloud/aws/aws_secret_read.h"
#include "trace/input_file.h"

struct reading {
    const char *section;
    struct aws_profile *profile;
    struct aws_secret *keys;
};

static void on_value(void *context, const char *section, const char *name, const char *value)
{
    const struct reading *reading = context;
    struct aws_profile *profile = reading->profile;
    struct aws_secret *keys = reading->keys;
    const struct {
        const char *name;
        char *place;
        size_t size;
    } parts[] = {
        { "aws_access_key_id", keys->access_key, sizeof(keys->access_key) },
        { "aws_secret_access_key", keys->secret_key, sizeof(keys->secret_key) },
        { "aws_session_token", keys->session_token, sizeof(keys->session_token) },
        { "role_arn", profile->role, sizeof(profile->role) },
        { "role_session_name", profile->session, sizeof(profile->session) },
        { "external_id", profile->external_id, sizeof(profile->external_id) },
        { "duration_seconds", profile->duration, sizeof(profile->duration) },
        { "mfa_serial", profile->mfa_serial, sizeof(profile->mfa_serial) },
        { "source_profile", profile->source_profile, sizeof(profile->source_profile) },
        { "credential_source", profile->credential_source, sizeof(profile->credential_source) },
        { "web_identity_token_file", profile->token_file, sizeof(profile->token_file) },
        { "credential_process", profile->process, sizeof(profile->process) },
        { "region", profile->region, sizeof(profile->region) },
    };

    if (strcmp(section, reading->section) != 0)
        return;
    profile->is_there = true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (strcmp(parts[i].name, name) != 0 || parts[i].place[0] != '\0')
            continue;
        if (strlen(value) >= parts[i].size)
            profile->too_long = parts[i].name;
        aws_secret_set(parts[i].place, parts[i].size, value);
    }
}

void aws_profile_add(const char *text, size_t length, const char *section, struct aws_profile *ret,
                     struct aws_secret *keys)
{
    struct reading reading = { section, ret, keys };

    (void)aws_ini_read(text, length, on_value, &reading, NULL);
}

static void add_file(const struct aws_profile_file *from, const char *section,
                     struct aws_profile *ret, struct aws_secret *keys)
{
    struct input_file file = { 0 };
    struct error error = { "" };
    const int rc = input_file_read(from->path, &file, &error);

    if (rc < 0) {
        if (from->is_named && rc != -ENOENT)
            ret->fault = error;
        return;
    }
    aws_profile_add(file.text, file.length, section, ret, keys);
    explicit_bzero(file.text, file.length);
    input_file_done(&file);
}

void aws_profile_read(const struct aws_profile_file *credentials,
                      const struct aws_profile_file *config, const char *name,
                      struct aws_profile *ret, struct aws_secret *keys)
{
    char section[AWS_PROFILE_NAME_SIZE + 16];

    *ret = (struct aws_profile){ 0 };
    aws_secret_wipe(keys);
    add_file(credentials, name, ret, keys);
    (void)snprintf(section, sizeof(section), "%s%.255s",
                   strcmp(name, "default") == 0 ? "" : "profile ", name);
    add_file(config, section, ret, keys);
}
