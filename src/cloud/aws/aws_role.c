/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_role.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "trace/input_text.h"

struct walk {
    struct aws_role_plan *plan;
    struct aws_profile profile;
    char names[AWS_ROLE_STEPS_MAX + 1][AWS_PROFILE_NAME_SIZE];
    uint32_t count;    /* of names; the last one is of 'profile' */
    const char *files; /* where the first must be; NULL: it need not */
    struct error *reterr;
};

static const char *name_of(const struct walk *walk)
{
    return walk->names[walk->count - 1];
}

static struct excerpt quote(const char *name)
{
    return text_excerpt(name, strlen(name));
}

static void tell(struct walk *walk, const char *words, const char *name)
{
    char *source = walk->plan->source;
    const size_t used = strlen(source);

    (void)snprintf(source + used, AWS_ROLE_SOURCE_SIZE - used, "%s%s", words, name);
}

static bool is_plain(const char *text)
{
    while (*text > ' ' && *text < 0x7f)
        text++;
    return *text == '\0';
}

static int check_step(const struct walk *walk, uint32_t *ret_seconds)
{
    const struct aws_profile *profile = &walk->profile;
    const char *duration = profile->duration;
    const unsigned long seconds = strtoul(duration, NULL, 10);

    if (walk->plan->count == AWS_ROLE_STEPS_MAX)
        return error_set(walk->reterr, -E2BIG, "more than %d roles lead one to the other",
                         AWS_ROLE_STEPS_MAX);
    if (!is_plain(profile->role))
        return error_set(walk->reterr, -EINVAL, "role_arn of the profile '%s' is no ARN",
                         quote(name_of(walk)).text);
    if (profile->mfa_serial[0] != '\0')
        return error_set(
            walk->reterr, -ENOTSUP,
            "the profile '%s' has mfa_serial, but the daemon has no one to type the code: use a role without it",
            quote(name_of(walk)).text);
    if (duration[0] != '\0' && (duration[strspn(duration, "0123456789")] != '\0' ||
                                seconds < AWS_ROLE_SECONDS_MIN || seconds > AWS_ROLE_SECONDS_MAX))
        return error_set(walk->reterr, -EINVAL,
                         "duration_seconds of the profile '%s' is not %d to %d",
                         quote(name_of(walk)).text, AWS_ROLE_SECONDS_MIN, AWS_ROLE_SECONDS_MAX);
    *ret_seconds = (uint32_t)seconds;
    return 0;
}

static int add_step(struct walk *walk)
{
    const struct aws_profile *profile = &walk->profile;
    uint32_t seconds = 0;
    const int rc = check_step(walk, &seconds);

    if (rc < 0)
        return rc;

    struct aws_role_step *step = &walk->plan->steps[walk->plan->count++];

    memcpy(step->role, profile->role, sizeof(step->role));
    memcpy(step->session, profile->session, sizeof(step->session));
    memcpy(step->external_id, profile->external_id, sizeof(step->external_id));
    step->seconds = seconds;
    tell(walk, ", role ", profile->role);
    return 0;
}

static int take_credential_source(struct walk *walk)
{
    static const struct {
        const char *name;
        const char *words;
        enum aws_role_base base;
    } sources[] = {
        { "Environment", " through the environment", AWS_ROLE_BASE_ENVIRONMENT },
        { "EcsContainer", " through the container's role", AWS_ROLE_BASE_CONTAINER },
        { "Ec2InstanceMetadata", " through the instance's role", AWS_ROLE_BASE_INSTANCE },
    };

    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        if (strcasecmp(walk->profile.credential_source, sources[i].name) != 0)
            continue;
        walk->plan->base = sources[i].base;
        tell(walk, sources[i].words, "");
        return 0;
    }
    return error_set(walk->reterr, -EINVAL,
                     "credential_source of the profile '%s' is none of Environment, "
                     "EcsContainer, Ec2InstanceMetadata",
                     quote(name_of(walk)).text);
}

/* 1: the next profile is to be read. */
static int take_source_profile(struct walk *walk, bool has_keys)
{
    const char *next = walk->profile.source_profile;
    const bool is_itself = strcmp(next, name_of(walk)) == 0;

    for (uint32_t i = 0; i < walk->count; i++) {
        if (strcmp(next, walk->names[i]) == 0 && !(is_itself && has_keys))
            return error_set(
                walk->reterr, -ELOOP,
                "source_profile of the profile '%s' leads back to '%s': name a profile that has keys",
                quote(name_of(walk)).text, quote(next).text);
    }
    tell(walk, " through the profile ", quote(next).text);
    memcpy(walk->names[walk->count++], next, AWS_PROFILE_NAME_SIZE);
    return 1;
}

static int take_role(struct walk *walk, bool has_keys)
{
    const struct aws_profile *profile = &walk->profile;
    const int rc = add_step(walk);

    if (rc < 0)
        return rc;
    if (profile->token_file[0] != '\0') {
        walk->plan->base = AWS_ROLE_BASE_WEB_IDENTITY;
        memcpy(walk->plan->token_file, profile->token_file, sizeof(profile->token_file));
        tell(walk, " through a web identity", "");
        return 0;
    }
    if ((profile->source_profile[0] != '\0') == (profile->credential_source[0] != '\0'))
        return error_set(walk->reterr, -EINVAL,
                         "the role of the profile '%s' needs either source_profile or "
                         "credential_source",
                         quote(name_of(walk)).text);
    return profile->source_profile[0] != '\0' ? take_source_profile(walk, has_keys)
                                              : take_credential_source(walk);
}

static int take_profile(struct walk *walk, bool has_keys)
{
    const struct aws_profile *profile = &walk->profile;
    const bool is_source = walk->count > 1;

    if (profile->too_long != NULL)
        return error_set(walk->reterr, -E2BIG, "%s of the profile '%s' is too long",
                         profile->too_long, quote(name_of(walk)).text);
    if (profile->fault.text[0] != '\0')
        return error_set(walk->reterr, -EACCES, "%s", profile->fault.text);
    if (!is_source && walk->files != NULL && !profile->is_there)
        return error_set(walk->reterr, -ENOENT, "there is no profile '%s' in %s",
                         quote(name_of(walk)).text, walk->files);
    if (is_source && !profile->is_there)
        return error_set(walk->reterr, -ENOENT,
                         "there is no profile '%s', which '%s' has as source_profile",
                         quote(name_of(walk)).text, quote(walk->names[walk->count - 2]).text);
    if (profile->role[0] != '\0' && !(is_source && has_keys))
        return take_role(walk, has_keys);
    if (profile->process[0] != '\0' && !has_keys) {
        walk->plan->base = AWS_ROLE_BASE_PROCESS;
        memcpy(walk->plan->process, profile->process, sizeof(profile->process));
        tell(walk, ", by its credential_process", "");
        return 0;
    }
    if (is_source && !has_keys)
        return error_set(walk->reterr, -ENOENT,
                         "the profile '%s', which is a source_profile, has no keys, role or "
                         "credential_process",
                         quote(name_of(walk)).text);
    walk->plan->base = has_keys ? AWS_ROLE_BASE_PROFILE : AWS_ROLE_BASE_MACHINE;
    return 0;
}

int aws_role_plan(const char *name, const char *files,
                  void (*read)(void *context, const char *name, struct aws_profile *ret,
                               struct aws_secret *keys),
                  void *context, struct aws_role_plan *ret, struct aws_secret *keys,
                  struct error *reterr)
{
    struct walk *walk = mem_alloc(1, sizeof(*walk));
    int rc;

    *ret = (struct aws_role_plan){ 0 };
    walk->plan = ret;
    walk->reterr = reterr;
    walk->files = files;
    (void)snprintf(walk->names[0], AWS_PROFILE_NAME_SIZE, "%s", name);
    walk->count = 1;
    tell(walk, "the profile ", quote(name).text);
    do {
        read(context, name_of(walk), &walk->profile, keys);
        rc = take_profile(walk, keys->access_key[0] != '\0');
    } while (rc > 0);
    if (rc < 0 || ret->base != AWS_ROLE_BASE_PROFILE)
        aws_secret_wipe(keys);
    mem_free(walk);
    return rc;
}
