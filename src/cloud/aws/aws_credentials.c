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
#include "cloud/aws/aws_process.h"
#include "cloud/aws/aws_profile.h"
#include "cloud/aws/aws_role.h"
#include "cloud/aws/aws_secret_read.h"
#include "cloud/aws/aws_sts.h"
#include "trace/input_file.h"

enum {
    PATH_SIZE = AWS_PROFILE_PATH_SIZE,
    URL_SIZE = 2048,
    ANSWER_MAX = 65536,
    NEAR_TIMEOUT_MS = 2000,
    STS_TIMEOUT_MS = 10000,
};

struct waiter {
    void (*on_keys)(void *context, const struct aws_secret *secret, const char *why);
    void *context;
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
    struct aws_process *process; /* that prints keys; NULL: none runs */
    struct aws_role_plan plan;
    uint32_t steps_left; /* roles of the plan that are still to be taken on */
    bool is_region_read;
    char profile_region[64];
    char imds_token[512];
    char source[AWS_ROLE_SOURCE_SIZE];
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

static void ask_sts(struct aws_credentials *c, const char *web_token);

/* c->fresh is filled. */
static void got_keys(struct aws_credentials *c)
{
    if (c->steps_left > 0)
        ask_sts(c, NULL);
    else
        fetched(c);
}

static void take_if_good(struct aws_credentials *c, const char *what)
{
    if (aws_secret_is_good(c->fresh))
        got_keys(c);
    else
        failed(c, what, "the keys are not such as AWS gives out");
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
        got_keys(c);
}

/* ---- the files ---- */

static const char *profile_name(const struct aws_credentials *c)
{
    const char *name = c->config.profile != NULL ? c->config.profile : env(c, "AWS_PROFILE");

    return name != NULL ? name : "default";
}

/* The one that the environment names, or the one at home, whose path is written to 'at_home'. */
static struct aws_profile_file profile_file(const struct aws_credentials *c, const char *variable,
                                            const char *name, char at_home[PATH_SIZE])
{
    const char *home = env(c, "HOME");
    const char *named = env(c, variable);

    (void)snprintf(at_home, PATH_SIZE, "%s/.aws/%s", home != NULL ? home : "", name);
    return (struct aws_profile_file){ named != NULL ? named : at_home, named != NULL };
}

static void read_profile(void *context, const char *name, struct aws_profile *ret,
                         struct aws_secret *keys)
{
    const struct aws_credentials *c = context;
    char at_home[2][PATH_SIZE];
    const struct aws_profile_file credentials =
        profile_file(c, "AWS_SHARED_CREDENTIALS_FILE", "credentials", at_home[0]);
    const struct aws_profile_file config = profile_file(c, "AWS_CONFIG_FILE", "config", at_home[1]);

    aws_profile_read(&credentials, &config, name, ret, keys);
}

static int plan_profile(struct aws_credentials *c, struct error *reterr)
{
    const bool is_named = c->config.profile != NULL || env(c, "AWS_PROFILE") != NULL;
    char at_home[2][PATH_SIZE];
    char files[ERROR_TEXT_SIZE / 2];

    (void)snprintf(files, sizeof(files), "%.110s and %.110s",
                   profile_file(c, "AWS_SHARED_CREDENTIALS_FILE", "credentials", at_home[0]).path,
                   profile_file(c, "AWS_CONFIG_FILE", "config", at_home[1]).path);
    return aws_role_plan(profile_name(c), is_named ? files : NULL, read_profile, c, &c->plan,
                         c->fresh, reterr);
}

const char *aws_credentials_profile_region(struct aws_credentials *c)
{
    if (!c->is_region_read) {
        struct aws_profile *profile = mem_alloc(1, sizeof(*profile));
        struct aws_secret *unused = aws_secret_create();

        read_profile(c, profile_name(c), profile, unused);
        memcpy(c->profile_region, profile->region, sizeof(c->profile_region));
        c->is_region_read = true;
        aws_secret_destroy(unused);
        mem_free(profile);
    }
    return c->profile_region[0] != '\0' ? c->profile_region : NULL;
}

/* ---- roles ---- */

static const char *sts_region(struct aws_credentials *c)
{
    const char *region =
        c->config.region != NULL ? c->config.region : aws_credentials_profile_region(c);

    return region != NULL ? region : "us-east-1";
}

static void sts_url(const struct aws_credentials *c, const char *region, char *ret)
{
    const char *given = env(c, "AWS_ENDPOINT_URL_STS");

    given = given != NULL ? given : env(c, "AWS_ENDPOINT_URL");
    if (given != NULL)
        (void)snprintf(ret, URL_SIZE, "%s%s", given, given[strlen(given) - 1] == '/' ? "" : "/");
    else
        (void)snprintf(ret, URL_SIZE, "https://sts.%s.amazonaws.com%s/", region,
                       strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
}

static void on_sts(void *context, const struct aws_http_answer *answer)
{
    struct aws_credentials *c = context;
    struct error error = { "" };
    char why[ERROR_TEXT_SIZE];

    if (aws_sts_read(answer, c->fresh, &error) < 0) {
        (void)snprintf(why, sizeof(why), "role %.160s: %.300s", c->plan.steps[c->steps_left].role,
                       error.text);
        failed(c, "STS", why);
    } else {
        got_keys(c);
    }
}

/* Signed with c->fresh, unless there is a token to show. */
static void ask_sts(struct aws_credentials *c, const char *web_token)
{
    const char *region = sts_region(c);
    struct aws_form form = { 0 };
    char url[URL_SIZE];
    char sign_as[128];

    sts_url(c, region, url);
    if (!aws_http_is_allowed(url)) {
        failed(c, "STS", "its address must be https, or on this machine");
        return;
    }
    (void)snprintf(sign_as, sizeof(sign_as), "aws:amz:%s:sts", region);
    aws_sts_ask(&c->plan.steps[--c->steps_left], web_token, &form);
    aws_http_send(c->config.http,
                  &(struct aws_http_request){ .url = url,
                                              .body = form.text,
                                              .body_size = form.size,
                                              .headers = { AWS_FORM_TYPE },
                                              .sign_as = web_token == NULL ? sign_as : NULL,
                                              .secret = c->fresh,
                                              .answer_max = ANSWER_MAX,
                                              .timeout_ms = STS_TIMEOUT_MS,
                                              .is_secret = true },
                  on_sts, c);
    explicit_bzero(form.text, form.size);
    aws_form_done(&form);
    aws_secret_wipe(c->fresh); /* the next ones are on their way */
}

static void show_web_identity(struct aws_credentials *c)
{
    struct input_file file = { 0 };
    struct error error = { "" };

    if (input_file_read(c->plan.token_file, &file, &error) < 0) {
        failed(c, "a web identity", error.text);
        return;
    }
    while (file.length > 0 && file.text[file.length - 1] <= ' ')
        file.text[--file.length] = '\0';
    ask_sts(c, file.text);
    explicit_bzero(file.text, file.length);
    input_file_done(&file);
}

/* ---- a program ---- */

static void on_process(void *context, const char *text, size_t size, const char *why)
{
    struct aws_credentials *c = context;
    struct error error = { "" };

    c->process = NULL;
    if (why == NULL && aws_secret_read_process(text, size, c->fresh, &error) < 0)
        why = error.text;
    if (why == NULL && c->fresh->expires_at != MSEC_NEVER &&
        c->fresh->expires_at <= c->config.get_now(c->config.context))
        why = "the keys that it prints have ended";
    if (why != NULL)
        failed(c, "credential_process", why);
    else
        got_keys(c);
}

static void run_process(struct aws_credentials *c)
{
    struct error error = { "" };

    if (aws_process_start(&(struct aws_process_config){ .loop = c->config.loop,
                                                        .command = c->plan.process,
                                                        .on_done = on_process,
                                                        .context = c },
                          &c->process, &error) < 0)
        failed(c, "credential_process", error.text);
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
        failed(c, "the container's role", "its address must be https, or on this machine");
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
        failed(c, "the instance's role", "its address must be https, or on this machine");
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

const char *aws_credentials_source(const struct aws_credentials *c)
{
    return c->source;
}

static bool has_env_keys(const struct aws_credentials *c)
{
    return env(c, "AWS_ACCESS_KEY_ID") != NULL && env(c, "AWS_SECRET_ACCESS_KEY") != NULL;
}

static void take_env_keys(struct aws_credentials *c)
{
    const char *token = env(c, "AWS_SESSION_TOKEN");

    if (!has_env_keys(c)) {
        failed(c, "the environment", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
        return;
    }
    aws_secret_set(c->fresh->access_key, sizeof(c->fresh->access_key), env(c, "AWS_ACCESS_KEY_ID"));
    aws_secret_set(c->fresh->secret_key, sizeof(c->fresh->secret_key),
                   env(c, "AWS_SECRET_ACCESS_KEY"));
    if (token != NULL)
        aws_secret_set(c->fresh->session_token, sizeof(c->fresh->session_token), token);
    take_if_good(c, "the environment");
}

static void ask_container_role(struct aws_credentials *c)
{
    const char *relative = env(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = env(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI");

    if (relative != NULL || full != NULL)
        ask_container(c, relative, full);
    else
        failed(c, "the container's role", "the environment does not say where it is");
}

static void ask_instance_role(struct aws_credentials *c)
{
    const char *disabled = env(c, "AWS_EC2_METADATA_DISABLED");

    if (disabled == NULL || strcmp(disabled, "true") != 0)
        ask_imds(c, "PUT", "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 21600",
                 on_imds_token);
    else if (c->plan.base == AWS_ROLE_BASE_MACHINE)
        failed(c, "anywhere", "none in the environment, in files or in a container");
    else
        failed(c, "the instance's role", "AWS_EC2_METADATA_DISABLED is true");
}

static void ask_machine(struct aws_credentials *c)
{
    const bool is_container = env(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != NULL ||
                              env(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI") != NULL;

    (void)snprintf(c->source, sizeof(c->source), "the %s's role",
                   is_container ? "container" : "instance");
    if (is_container)
        ask_container_role(c);
    else
        ask_instance_role(c);
}

/* Where the keys are to come from; those of a profile are in c->fresh then. */
static int make_plan(struct aws_credentials *c, struct error *reterr)
{
    const char *token_file = env(c, "AWS_WEB_IDENTITY_TOKEN_FILE");
    const char *role = env(c, "AWS_ROLE_ARN");
    const char *session = env(c, "AWS_ROLE_SESSION_NAME");
    struct aws_role_plan *plan = &c->plan;
    const bool is_any = c->config.profile == NULL;

    *plan = (struct aws_role_plan){ 0 };
    if (is_any && has_env_keys(c)) {
        plan->base = AWS_ROLE_BASE_ENVIRONMENT;
        (void)snprintf(plan->source, sizeof(plan->source), "the environment");
        return 0;
    }
    if (!is_any || token_file == NULL || role == NULL)
        return plan_profile(c, reterr);
    plan->base = AWS_ROLE_BASE_WEB_IDENTITY;
    plan->count = 1;
    aws_secret_set(plan->steps[0].role, sizeof(plan->steps[0].role), role);
    if (session != NULL)
        aws_secret_set(plan->steps[0].session, sizeof(plan->steps[0].session), session);
    aws_secret_set(plan->token_file, sizeof(plan->token_file), token_file);
    (void)snprintf(plan->source, sizeof(plan->source), "a web identity");
    return 0;
}

static void begin_plan(struct aws_credentials *c)
{
    switch (c->plan.base) {
    case AWS_ROLE_BASE_PROFILE:
        take_if_good(c, "the profile");
        break;
    case AWS_ROLE_BASE_PROCESS:
        run_process(c);
        break;
    case AWS_ROLE_BASE_ENVIRONMENT:
        take_env_keys(c);
        break;
    case AWS_ROLE_BASE_WEB_IDENTITY:
        show_web_identity(c);
        break;
    case AWS_ROLE_BASE_CONTAINER:
        ask_container_role(c);
        break;
    case AWS_ROLE_BASE_INSTANCE:
        ask_instance_role(c);
        break;
    case AWS_ROLE_BASE_MACHINE:
        ask_machine(c);
        break;
    }
}

static void fetch(struct aws_credentials *c)
{
    struct error error = { "" };

    c->is_fetching = true;
    aws_secret_wipe(c->fresh);

    const int rc = make_plan(c, &error);

    c->steps_left = c->plan.count;
    memcpy(c->source, c->plan.source, sizeof(c->source));
    if (rc < 0)
        failed(c, "the profile", error.text);
    else
        begin_plan(c);
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
    aws_process_drop(c->process);
    mem_free(c->profile_copy);
    mem_free(c->region_copy);
    aws_secret_destroy(c->secret);
    aws_secret_destroy(c->fresh);
    mem_free(c->waiters);
    explicit_bzero(c->imds_token, sizeof(c->imds_token));
    mem_free(c);
}
