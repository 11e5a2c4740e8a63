/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_credentials.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_ini.h"
#include "cloud/aws/aws_secret_read.h"
#include "trace/input_file.h"

enum { PATH_SIZE = 1024, URL_SIZE = 2048, ANSWER_MAX = 65536, NEAR_TIMEOUT_MS = 2000 };

struct waiter {
    void (*on_keys)(void *context, const struct aws_secret *secret, const char *why);
    void *context;
};

struct profile {
    char role[256];
    char token_file[PATH_SIZE];
    char session[128];
    char region[64];
};

struct aws_credentials {
    struct aws_credentials_config config;
    char *profile_copy;
    char *region_copy;
    struct aws_secret *secret; /* in use */
    struct aws_secret *fresh;  /* being filled */
    struct waiter *waiters;
    uint32_t waiter_count;
    uint32_t waiter_room;
    bool is_loaded;
    bool is_fetching;
    bool is_profile_read;
    struct profile profile;
    char imds_token[512];
    char source[160];
    char why[ERROR_TEXT_SIZE];
};

static const char *env(const struct aws_credentials *c, const char *name)
{
    const char *value =
        c->config.get_env != NULL ? c->config.get_env(c->config.context, name) : getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- the end of a fetch ---- */

static void tell_all(struct aws_credentials *c, const struct aws_secret *secret)
{
    struct waiter *waiters = c->waiters;
    const uint32_t count = c->waiter_count;

    c->waiters = NULL;
    c->waiter_count = 0;
    c->waiter_room = 0;
    for (uint32_t i = 0; i < count; i++)
        waiters[i].on_keys(waiters[i].context, secret, c->why);
    mem_free(waiters);
}

static void fetched(struct aws_credentials *c)
{
    struct aws_secret *old = c->secret;

    c->secret = c->fresh;
    c->fresh = old;
    aws_secret_wipe(c->fresh);
    c->is_loaded = true;
    c->is_fetching = false;
    tell_all(c, c->secret);
}

static bool is_usable(const struct aws_credentials *c, msec_t ahead)
{
    return c->is_loaded && (c->secret->expires_at == MSEC_NEVER ||
                            c->config.get_now(c->config.context) + ahead < c->secret->expires_at);
}

static void failed(struct aws_credentials *c, const char *what, const char *why)
{
    (void)snprintf(c->why, sizeof(c->why), "no AWS credentials from %s: %s", what, why);
    aws_secret_wipe(c->fresh);
    c->is_fetching = false;
    tell_all(c, is_usable(c, AWS_CREDENTIALS_LAST_MS) ? c->secret : NULL);
}

/* What is wrong with an answer that should hold something, or NULL. */
static const char *fault_of(const struct aws_http_answer *answer, char *buffer, size_t size)
{
    if (answer->fault < 0)
        return answer->reason;
    if (answer->status == 200)
        return NULL;
    (void)snprintf(buffer, size, "HTTP status %d", answer->status);
    return buffer;
}

static void take_json(struct aws_credentials *c, const struct aws_http_answer *answer,
                      const char *what)
{
    struct error error = { "" };
    char buffer[48];
    const char *fault = fault_of(answer, buffer, sizeof(buffer));

    if (fault == NULL && aws_secret_read_json(answer->body, answer->size, c->fresh, &error) < 0)
        fault = error.text;
    if (fault != NULL)
        failed(c, what, fault);
    else
        fetched(c);
}

/* ---- the files ---- */

struct file_reading {
    struct aws_credentials *c;
    const char *section;
};

static void on_value(void *context, const char *section, const char *name, const char *value)
{
    const struct file_reading *reading = context;
    struct aws_secret *secret = reading->c->fresh;
    struct profile *profile = &reading->c->profile;
    const struct {
        const char *name;
        char *place;
        size_t size;
    } parts[] = {
        { "aws_access_key_id", secret->access_key, sizeof(secret->access_key) },
        { "aws_secret_access_key", secret->secret_key, sizeof(secret->secret_key) },
        { "aws_session_token", secret->session_token, sizeof(secret->session_token) },
        { "role_arn", profile->role, sizeof(profile->role) },
        { "web_identity_token_file", profile->token_file, sizeof(profile->token_file) },
        { "role_session_name", profile->session, sizeof(profile->session) },
        { "region", profile->region, sizeof(profile->region) },
    };

    if (strcmp(section, reading->section) != 0)
        return;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        /* What stands in the credentials file, which is read first, goes before. */
        if (strcmp(parts[i].name, name) == 0 && parts[i].place[0] == '\0')
            aws_secret_set(parts[i].place, parts[i].size, value);
    }
}

static void read_file(struct aws_credentials *c, const char *path, const char *section)
{
    struct file_reading reading = { c, section };
    struct input_file file = { 0 };

    if (input_file_read(path, &file, NULL) < 0)
        return; /* not there, or not ours to read */
    (void)aws_ini_read(file.text, file.length, on_value, &reading, NULL);
    explicit_bzero(file.text, file.length);
    input_file_done(&file);
}

static const char *profile_name(const struct aws_credentials *c)
{
    const char *name = c->config.profile != NULL ? c->config.profile : env(c, "AWS_PROFILE");

    return name != NULL ? name : "default";
}

/* Fill c->profile and the keys of c->fresh. */
static void read_profile(struct aws_credentials *c)
{
    const char *home = env(c, "HOME") != NULL ? env(c, "HOME") : "";
    const char *credentials = env(c, "AWS_SHARED_CREDENTIALS_FILE");
    const char *config = env(c, "AWS_CONFIG_FILE");
    const char *name = profile_name(c);
    char path[PATH_SIZE];
    char section[300];

    memset(&c->profile, 0, sizeof(c->profile));
    (void)snprintf(path, sizeof(path), "%s/.aws/credentials", home);
    read_file(c, credentials != NULL ? credentials : path, name);
    (void)snprintf(path, sizeof(path), "%s/.aws/config", home);
    (void)snprintf(section, sizeof(section), "%s%.255s",
                   strcmp(name, "default") == 0 ? "" : "profile ", name);
    read_file(c, config != NULL ? config : path, section);
    c->is_profile_read = true;
}

const char *aws_credentials_profile_region(struct aws_credentials *c)
{
    if (!c->is_profile_read) {
        read_profile(c);
        aws_secret_wipe(c->fresh);
    }
    return c->profile.region[0] != '\0' ? c->profile.region : NULL;
}

/* ---- web identity ---- */

static void on_sts(void *context, const struct aws_http_answer *answer)
{
    struct aws_credentials *c = context;
    struct error error = { "" };
    char buffer[48];
    const char *fault = fault_of(answer, buffer, sizeof(buffer));

    if (fault == NULL && aws_secret_read_xml(answer->body, answer->size, c->fresh, &error) < 0)
        fault = error.text;
    if (fault != NULL)
        failed(c, "STS", fault);
    else
        fetched(c);
}

static void sts_url(const struct aws_credentials *c, char *ret)
{
    const char *given = env(c, "AWS_ENDPOINT_URL_STS");
    const char *region = c->config.region != NULL ? c->config.region : "us-east-1";

    given = given != NULL ? given : env(c, "AWS_ENDPOINT_URL");
    if (given != NULL)
        (void)snprintf(ret, URL_SIZE, "%s%s", given, given[strlen(given) - 1] == '/' ? "" : "/");
    else
        (void)snprintf(ret, URL_SIZE, "https://sts.%s.amazonaws.com%s/", region,
                       strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
}

static void ask_sts(struct aws_credentials *c, const char *token_file, const char *role,
                    const char *session)
{
    struct input_file file = { 0 };
    struct error error = { "" };
    struct aws_form form = { 0 };
    char url[URL_SIZE];

    sts_url(c, url);
    if (!aws_http_is_allowed(url)) {
        failed(c, "STS", "its address is neither https nor on this machine");
        return;
    }
    if (input_file_read(token_file, &file, &error) < 0) {
        failed(c, "a web identity", error.text);
        return;
    }
    while (file.length > 0 && file.text[file.length - 1] <= ' ')
        file.text[--file.length] = '\0';
    aws_form_begin(&form, "AssumeRoleWithWebIdentity", "2011-06-15");
    aws_form_add(&form, "RoleArn", role);
    aws_form_add(&form, "RoleSessionName",
                 session != NULL && session[0] != '\0' ? session : "stint");
    aws_form_add(&form, "WebIdentityToken", file.text);
    explicit_bzero(file.text, file.length);
    input_file_done(&file);
    aws_http_send(c->config.http,
                  &(struct aws_http_request){ .url = url,
                                              .body = form.text,
                                              .body_size = form.size,
                                              .headers = { AWS_FORM_TYPE },
                                              .answer_max = ANSWER_MAX,
                                              .timeout_ms = 10000,
                                              .is_secret = true },
                  on_sts, c);
    explicit_bzero(form.text, form.size);
    aws_form_done(&form);
}

/* ---- a container's role ---- */

static void on_container(void *context, const struct aws_http_answer *answer)
{
    take_json(context, answer, "the container's role");
}

/* "Authorization: ..." into 'ret' of ANSWER_MAX bytes, or an empty text. */
static void container_token(const struct aws_credentials *c, char *ret)
{
    const char *path = env(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    const char *token = env(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
    struct input_file file = { 0 };

    ret[0] = '\0';
    if (path != NULL && input_file_read(path, &file, NULL) == 0)
        token = file.text;
    if (token != NULL)
        (void)snprintf(ret, ANSWER_MAX, "Authorization: %.*s", (int)strcspn(token, "\r\n"), token);
    if (file.text != NULL)
        explicit_bzero(file.text, file.length);
    input_file_done(&file);
}

static void ask_container(struct aws_credentials *c, const char *relative, const char *full)
{
    char *token = mem_alloc(ANSWER_MAX, 1);
    char url[URL_SIZE];

    (void)snprintf(url, sizeof(url), "%s%s", relative != NULL ? "http://169.254.170.2" : "",
                   relative != NULL ? relative : full);
    if (!aws_http_is_allowed(url)) {
        failed(c, "the container's role", "its address is neither https nor on this machine");
    } else {
        container_token(c, token);
        aws_http_send(c->config.http,
                      &(struct aws_http_request){ .method = "GET",
                                                  .url = url,
                                                  .headers = { token[0] != '\0' ? token : NULL },
                                                  .answer_max = ANSWER_MAX,
                                                  .timeout_ms = NEAR_TIMEOUT_MS,
                                                  .is_secret = true },
                      on_container, c);
    }
    explicit_bzero(token, ANSWER_MAX);
    mem_free(token);
}

/* ---- the instance's role ---- */

static void ask_imds(struct aws_credentials *c, const char *method, const char *path,
                     const char *header,
                     void (*on_answer)(void *context, const struct aws_http_answer *answer))
{
    const char *given = env(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    char url[URL_SIZE];

    (void)snprintf(url, sizeof(url), "%s%s", given != NULL ? given : "http://169.254.169.254",
                   path);
    if (!aws_http_is_allowed(url)) {
        failed(c, "the instance's role", "its address is neither https nor on this machine");
        return;
    }
    aws_http_send(c->config.http,
                  &(struct aws_http_request){ .method = method,
                                              .url = url,
                                              .headers = { header },
                                              .answer_max = ANSWER_MAX,
                                              .timeout_ms = NEAR_TIMEOUT_MS,
                                              .is_secret = true },
                  on_answer, c);
}

static void on_imds_keys(void *context, const struct aws_http_answer *answer)
{
    take_json(context, answer, "the instance's role");
}

static void imds_header(const struct aws_credentials *c, char *ret, size_t size)
{
    (void)snprintf(ret, size, "X-aws-ec2-metadata-token: %s", c->imds_token);
}

static void on_imds_role(void *context, const struct aws_http_answer *answer)
{
    struct aws_credentials *c = context;
    char buffer[640];
    char path[512];
    const char *fault = fault_of(answer, buffer, sizeof(buffer));
    const size_t length = strcspn(answer->body, "\r\n");

    if (fault == NULL && (length == 0 || length > 128))
        fault = "it has no role";
    if (fault != NULL) {
        failed(c, "the instance's role", fault);
        return;
    }
    (void)snprintf(path, sizeof(path), "/latest/meta-data/iam/security-credentials/%.*s",
                   (int)length, answer->body);
    imds_header(c, buffer, sizeof(buffer));
    ask_imds(c, "GET", path, buffer, on_imds_keys);
}

static void on_imds_token(void *context, const struct aws_http_answer *answer)
{
    struct aws_credentials *c = context;
    char buffer[640];
    const char *fault = fault_of(answer, buffer, sizeof(buffer));

    if (fault == NULL && (answer->size == 0 || answer->size >= sizeof(c->imds_token) ||
                          strpbrk(answer->body, "\r\n") != NULL))
        fault = "its token cannot be read";
    if (fault != NULL) {
        failed(c, "the instance's role", fault);
        return;
    }
    memcpy(c->imds_token, answer->body, answer->size + 1);
    imds_header(c, buffer, sizeof(buffer));
    ask_imds(c, "GET", "/latest/meta-data/iam/security-credentials/", buffer, on_imds_role);
}

/* ---- the chain ---- */

static void set_source(struct aws_credentials *c, const char *words, const char *name)
{
    (void)snprintf(c->source, sizeof(c->source), "%s%.100s", words, name);
}

const char *aws_credentials_source(const struct aws_credentials *c)
{
    return c->source;
}

static bool take_env(struct aws_credentials *c)
{
    const char *key = env(c, "AWS_ACCESS_KEY_ID");
    const char *secret = env(c, "AWS_SECRET_ACCESS_KEY");
    const char *token = env(c, "AWS_SESSION_TOKEN");

    if (key == NULL || secret == NULL)
        return false;
    aws_secret_set(c->fresh->access_key, sizeof(c->fresh->access_key), key);
    aws_secret_set(c->fresh->secret_key, sizeof(c->fresh->secret_key), secret);
    if (token != NULL)
        aws_secret_set(c->fresh->session_token, sizeof(c->fresh->session_token), token);
    return true;
}

static void take_if_good(struct aws_credentials *c, const char *what)
{
    if (aws_secret_is_good(c->fresh))
        fetched(c);
    else
        failed(c, what, "the keys are not such as AWS gives out");
}

static void ask_metadata(struct aws_credentials *c)
{
    const char *relative = env(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = env(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *disabled = env(c, "AWS_EC2_METADATA_DISABLED");

    set_source(c, relative != NULL || full != NULL ? "the container's role" : "the instance's role",
               "");
    if (relative != NULL || full != NULL)
        ask_container(c, relative, full);
    else if (disabled != NULL && strcmp(disabled, "true") == 0)
        failed(c, "anywhere", "neither environment, files nor a container have any");
    else
        ask_imds(c, "PUT", "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 21600",
                 on_imds_token);
}

static void fetch(struct aws_credentials *c)
{
    const char *token_file = env(c, "AWS_WEB_IDENTITY_TOKEN_FILE");
    const char *role = env(c, "AWS_ROLE_ARN");

    c->is_fetching = true;
    aws_secret_wipe(c->fresh);
    if (c->config.profile == NULL && take_env(c)) {
        set_source(c, "the environment", "");
        take_if_good(c, "the environment");
        return;
    }
    if (c->config.profile == NULL && token_file != NULL && role != NULL) {
        set_source(c, "a web identity", "");
        ask_sts(c, token_file, role, env(c, "AWS_ROLE_SESSION_NAME"));
        return;
    }
    read_profile(c);
    set_source(c, "the profile ", profile_name(c));
    if (c->profile.token_file[0] != '\0' && c->profile.role[0] != '\0') {
        aws_secret_wipe(c->fresh);
        ask_sts(c, c->profile.token_file, c->profile.role, c->profile.session);
    } else if (c->profile.role[0] != '\0') {
        failed(c, "the profile", "a role through another profile is not supported");
    } else if (c->fresh->access_key[0] != '\0') {
        take_if_good(c, "the profile");
    } else {
        ask_metadata(c);
    }
}

void aws_credentials_get(struct aws_credentials *c,
                         void (*on_keys)(void *context, const struct aws_secret *secret,
                                         const char *why),
                         void *context)
{
    if (is_usable(c, AWS_CREDENTIALS_EARLY_MS)) {
        on_keys(context, c->secret, "");
        return;
    }
    if (is_usable(c, AWS_CREDENTIALS_LAST_MS)) {
        on_keys(context, c->secret, "");
    } else {
        MEM_ROOM(c->waiters, c->waiter_room, c->waiter_count + 1);
        c->waiters[c->waiter_count++] = (struct waiter){ on_keys, context };
    }
    if (!c->is_fetching)
        fetch(c);
}

void aws_credentials_forget(struct aws_credentials *c)
{
    if (!c->is_fetching)
        c->is_loaded = false;
}

static char *copy_text(const char *text)
{
    if (text == NULL)
        return NULL;

    char *copy = mem_alloc(strlen(text) + 1, 1);

    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

struct aws_credentials *aws_credentials_create(const struct aws_credentials_config *config)
{
    struct aws_credentials *c = mem_alloc(1, sizeof(*c));

    assert(config->get_now != NULL);
    c->config = *config;
    c->profile_copy = copy_text(config->profile);
    c->region_copy = copy_text(config->region);
    c->config.profile = c->profile_copy;
    c->config.region = c->region_copy;
    c->secret = aws_secret_create();
    c->fresh = aws_secret_create();
    return c;
}

void aws_credentials_destroy(struct aws_credentials *c)
{
    if (c == NULL)
        return;
    mem_free(c->profile_copy);
    mem_free(c->region_copy);
    aws_secret_destroy(c->secret);
    aws_secret_destroy(c->fresh);
    mem_free(c->waiters);
    explicit_bzero(c->imds_token, sizeof(c->imds_token));
    mem_free(c);
}
