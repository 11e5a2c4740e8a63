/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_credentials.h - where the keys come from, and when they are fetched again.
 *
 * The usual chain; the first source that is configured counts:
 *   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
 *   2. AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, by STS AssumeRoleWithWebIdentity
 *   3. the profile (AWS_PROFILE, else default) in ~/.aws/credentials, then in ~/.aws/config, with
 *      AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE: its keys, or a role (role_arn) by STS through
 *      a web identity, another profile (source_profile) or credential_source (aws_role.h), or those
 *      that a program prints (credential_process)
 *   4. a container's role: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI
 *   5. the instance's role, by IMDSv2, unless AWS_EC2_METADATA_DISABLED is true
 * Not read: single sign-on.
 *
 * Promises:  keys that end are fetched again five minutes before; if that fails, the old ones serve
 *            as long as they last. No text that we give to anybody holds a key.
 */
#ifndef STINT_CLOUD_AWS_CREDENTIALS_H
#define STINT_CLOUD_AWS_CREDENTIALS_H

#include "base/units.h"
#include "cloud/aws/aws_secret.h"

struct uv_loop_s;
struct aws_http;
struct aws_credentials;

enum {
    AWS_CREDENTIALS_EARLY_MS = 5 * 60 * 1000,
    AWS_CREDENTIALS_LAST_MS = 10 * 1000, /* keys that end sooner than this are of no use */
};

struct aws_credentials_config {
    struct aws_http *http;
    struct uv_loop_s *loop;                                  /* of programs that print keys */
    const char *profile;                                     /* NULL: AWS_PROFILE, else "default" */
    const char *region;                                      /* of STS; NULL: the profile's */
    const char *(*get_env)(void *context, const char *name); /* NULL: the environment */
    msec_t (*get_now)(void *context);
    void *context;
};

/* Texts are copied. */
struct aws_credentials *aws_credentials_create(const struct aws_credentials_config *config);

/* Those who wait are not called any more. Destroy the requests (aws_http_destroy) before; the loop must turn
 * until a program that prints keys has ended. */
void aws_credentials_destroy(struct aws_credentials *credentials);

/* Call back with keys, at once or later; NULL: there are none, and 'why' says why. The keys are good
 * until the callback returns. */
void aws_credentials_get(struct aws_credentials *credentials,
                         void (*on_keys)(void *context, const struct aws_secret *secret,
                                         const char *why),
                         void *context);

/* The keys were refused: fetch them again before they are used. */
void aws_credentials_forget(struct aws_credentials *credentials);

/* Where the keys come from, or would have: "the environment", "the profile lab, role R through the profile
 * base"; empty: they were not asked for yet. */
const char *aws_credentials_source(const struct aws_credentials *credentials);

/* A setting of the profile, such as its region; NULL: none. */
const char *aws_credentials_profile_region(struct aws_credentials *credentials);

#endif
