/* SPDX-License-Identifier: Apache-2.0 */
/* Credential files with the roles that they name, the keys that services and programs hand out, what
 * STS refuses with, and the command of a program; the first byte says which. */
#include "fuzz.h"

#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_ini.h"
#include "cloud/aws/aws_process.h"
#include "cloud/aws/aws_role.h"
#include "cloud/aws/aws_secret_read.h"
#include "cloud/aws/aws_sts.h"

struct text {
    const char *start;
    size_t size;
};

static void on_value(void *context, const char *section, const char *name, const char *value)
{
    (*(size_t *)context)++;
    assert(section[0] != '\0');
    assert(strlen(section) < 256);
    assert(strlen(name) + strlen(value) < AWS_INI_LINE_MAX);
    assert(strchr(value, '\n') == NULL);
}

static void check_keys(int rc, const struct aws_secret *secret, const struct error *error)
{
    if (rc < 0) {
        fuzz_check_error(error);
        assert(secret->access_key[0] == '\0' && secret->secret_key[0] == '\0');
        return;
    }
    assert(aws_secret_is_good(secret));
    assert(secret->expires_at >= -1);
}

static void read_profile(void *context, const char *name, struct aws_profile *ret,
                         struct aws_secret *keys)
{
    const struct text *file = context;

    *ret = (struct aws_profile){ 0 };
    aws_secret_wipe(keys);
    aws_profile_add(file->start, file->size, name, ret, keys);
}

static void check_plan(struct text *file, struct aws_secret *keys)
{
    struct aws_role_plan plan;
    struct error error = { "" };

    if (aws_role_plan("default", NULL, read_profile, file, &plan, keys, &error) < 0) {
        fuzz_check_error(&error);
        assert(keys->access_key[0] == '\0' && keys->secret_key[0] == '\0');
        return;
    }
    assert((plan.base == AWS_ROLE_BASE_PROFILE) == (keys->access_key[0] != '\0'));
    assert(plan.count <= AWS_ROLE_STEPS_MAX);
    for (uint32_t i = 0; i < plan.count; i++) {
        const uint32_t seconds = plan.steps[i].seconds;

        assert(plan.steps[i].role[0] != '\0');
        assert(seconds == 0 ||
               (seconds >= AWS_ROLE_SECONDS_MIN && seconds <= AWS_ROLE_SECONDS_MAX));
    }
}

static void check_refusal(const char *body, size_t size, struct aws_secret *keys)
{
    const struct aws_http_answer answer = { .status = 403, .body = body, .size = size };
    struct error error = { "" };

    assert(aws_sts_read(&answer, keys, &error) < 0);
    fuzz_check_error(&error);
}

/* All words are within the command, in order. */
static void check_words(const struct text *command)
{
    static char copy[4096];
    char *words[AWS_PROCESS_WORDS_MAX + 1];
    struct error error = { "" };
    const char *end = copy;

    if (command->size >= sizeof(copy))
        return;
    memcpy(copy, command->start, command->size);
    copy[command->size] = '\0';
    if (aws_process_split(copy, words, &error) < 0) {
        fuzz_check_error(&error);
        return;
    }
    assert(words[0] != NULL && words[0][0] != '\0');
    for (uint32_t i = 0; words[i] != NULL; i++) {
        assert(i < AWS_PROCESS_WORDS_MAX && words[i] >= end);
        assert(strpbrk(words[i], "\"\\'") == NULL);
        end = words[i] + strlen(words[i]) + 1;
        assert(end <= copy + command->size + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct aws_secret *secret;
    struct error error = { "" };
    size_t values = 0;

    if (secret == NULL)
        secret = aws_secret_create();
    if (size == 0)
        return 0;

    struct text file = { (const char *)data + 1, size - 1 };

    if (data[0] == '{') {
        check_keys(aws_secret_read_json((const char *)data, size, secret, &error), secret, &error);
        check_keys(aws_secret_read_process((const char *)data, size, secret, &error), secret,
                   &error);
    } else if (data[0] == '!') {
        check_words(&file);
    } else if (data[0] == '<') {
        check_keys(aws_secret_read_xml((const char *)data, size, secret, &error), secret, &error);
        check_refusal((const char *)data, size, secret);
    } else {
        if (aws_ini_read(file.start, file.size, on_value, &values, &error) < 0)
            fuzz_check_error(&error);
        check_plan(&file, secret);
    }
    assert(values <= size);
    return 0;
}
