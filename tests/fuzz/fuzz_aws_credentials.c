/* SPDX-License-Identifier: Apache-2.0 */
/* Credential files, and the keys that services hand out; the first byte says which. */
#include "fuzz.h"

#include "cloud/aws/aws_ini.h"
#include "cloud/aws/aws_secret_read.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct aws_secret *secret;
    struct error error = { "" };
    size_t values = 0;

    if (secret == NULL)
        secret = aws_secret_create();
    if (size == 0)
        return 0;

    const char *text = (const char *)data + 1;

    if (data[0] == '{') {
        check_keys(aws_secret_read_json((const char *)data, size, secret, &error), secret, &error);
    } else if (data[0] == '<') {
        check_keys(aws_secret_read_xml((const char *)data, size, secret, &error), secret, &error);
    } else if (aws_ini_read(text, size - 1, on_value, &values, &error) < 0) {
        fuzz_check_error(&error);
    }
    assert(values <= size);
    return 0;
}
