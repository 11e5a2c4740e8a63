/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_secret_read.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cloud/aws/aws_clock.h"
#include "cloud/aws/aws_xml.h"

enum { KEYS_JSON_MAX = 65536 };

void aws_secret_set(char *part, size_t size, const char *text)
{
    const size_t length = strlen(text);

    explicit_bzero(part, size);
    if (length < size)
        memcpy(part, text, length + 1);
}

static int finish(struct aws_secret *ret, msec_t expires_at, struct error *reterr)
{
    if (!aws_secret_is_good(ret)) {
        aws_secret_wipe(ret);
        return error_set(reterr, -EBADMSG, "the answer has no keys in it");
    }
    ret->expires_at = expires_at;
    return 0;
}

/* Copy a text of the object and wipe the original. */
static void take_json(const json_t *object, const char *name, char *part, size_t size)
{
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);

    if (text == NULL || text[0] == '\0')
        return;
    aws_secret_set(part, size, text);

    const union {
        const char *theirs;
        void *to_wipe;
    } pointer = { text };

    assert(pointer.to_wipe != NULL);
    explicit_bzero(pointer.to_wipe, json_string_length(value));
}

int aws_secret_read_json(const char *text, size_t size, struct aws_secret *ret,
                         struct error *reterr)
{
    json_t *object;

    aws_secret_wipe(ret);
    if (size > KEYS_JSON_MAX)
        return error_set(reterr, -E2BIG, "the answer is too long for keys");
    object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(object)) {
        json_decref(object);
        return error_set(reterr, -EBADMSG, "the answer is not a JSON object");
    }

    const char *expiration = json_string_value(json_object_get(object, "Expiration"));
    const msec_t expires_at = expiration != NULL ? aws_clock_read(expiration) : MSEC_NEVER;

    take_json(object, "AccessKeyId", ret->access_key, sizeof(ret->access_key));
    take_json(object, "SecretAccessKey", ret->secret_key, sizeof(ret->secret_key));
    take_json(object, "Token", ret->session_token, sizeof(ret->session_token));
    json_decref(object);
    return finish(ret, expires_at, reterr);
}

/* A time with its zone: "Z" or "+02:00"; -1: it is none. */
static msec_t read_zoned(const char *text)
{
    const msec_t at = text[0] >= '0' && text[0] <= '9' ? aws_clock_read(text) : -1;
    int hours = 0;
    int minutes = 0;
    int length = 0;
    char sign = 'Z';

    if (at < 0)
        return -1;
    text += 19;
    if (text[0] == '.')
        text += 1 + strspn(text + 1, "0123456789");
    if (strcmp(text, "Z") == 0)
        return at;
    if (sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &length) != 3 || length != 6 ||
        text[6] != '\0' || strspn(text + 1, "0123456789:") != 5 || (sign != '+' && sign != '-'))
        return -1;

    const msec_t ahead = (msec_t)(hours * 60 + minutes) * 60000;

    return sign == '+' ? at - ahead : at + ahead;
}

/* What is wrong with what a program printed, apart from the keys; NULL: nothing. */
static const char *process_fault(const json_t *object, msec_t *ret_expires_at)
{
    const json_t *version = json_object_get(object, "Version");
    const json_t *expiration = json_object_get(object, "Expiration");
    const json_t *token = json_object_get(object, "SessionToken");

    *ret_expires_at = MSEC_NEVER;
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return "its Version is not 1";
    if (token != NULL && !json_is_string(token))
        return "its SessionToken is no text";
    if (expiration == NULL)
        return NULL;
    *ret_expires_at = json_is_string(expiration) ? read_zoned(json_string_value(expiration)) : -1;
    return *ret_expires_at < 0 ? "its Expiration is no time with a zone" : NULL;
}

int aws_secret_read_process(const char *text, size_t size, struct aws_secret *ret,
                            struct error *reterr)
{
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    msec_t expires_at = MSEC_NEVER;
    const char *fault =
        json_is_object(object) ? process_fault(object, &expires_at) : "it is not a JSON object";

    aws_secret_wipe(ret);
    take_json(object, "AccessKeyId", ret->access_key, sizeof(ret->access_key));
    take_json(object, "SecretAccessKey", ret->secret_key, sizeof(ret->secret_key));
    take_json(object, "SessionToken", ret->session_token, sizeof(ret->session_token));
    json_decref(object);
    if (fault == NULL)
        return finish(ret, expires_at, reterr);
    aws_secret_wipe(ret);
    return error_set(reterr, -EBADMSG, "its output cannot be used: %s", fault);
}

struct sts_reading {
    struct aws_secret *ret;
    msec_t expires_at;
};

static void on_open(void *context, const char *path, uint32_t depth)
{
    (void)context;
    (void)path;
    (void)depth;
}

static void on_close(void *context, const char *path, uint32_t depth, const char *text)
{
    struct sts_reading *reading = context;

    (void)depth;
    if (aws_xml_ends_in(path, "Credentials/AccessKeyId"))
        aws_secret_set(reading->ret->access_key, sizeof(reading->ret->access_key), text);
    else if (aws_xml_ends_in(path, "Credentials/SecretAccessKey"))
        aws_secret_set(reading->ret->secret_key, sizeof(reading->ret->secret_key), text);
    else if (aws_xml_ends_in(path, "Credentials/SessionToken"))
        aws_secret_set(reading->ret->session_token, sizeof(reading->ret->session_token), text);
    else if (aws_xml_ends_in(path, "Credentials/Expiration"))
        reading->expires_at = aws_clock_read(text);
}

int aws_secret_read_xml(const char *text, size_t size, struct aws_secret *ret, struct error *reterr)
{
    struct sts_reading reading = { ret, MSEC_NEVER };
    const struct aws_xml_sink sink = { .on_open = on_open,
                                       .on_close = on_close,
                                       .context = &reading };

    aws_secret_wipe(ret);

    const int rc = aws_xml_read(text, size, &sink, reterr);

    if (rc < 0) {
        aws_secret_wipe(ret);
        return rc;
    }
    return finish(ret, reading.expires_at, reterr);
}
