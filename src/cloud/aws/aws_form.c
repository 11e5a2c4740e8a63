/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_form.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void aws_form_done(struct aws_form *form)
{
    mem_free(form->text);
    *form = (struct aws_form){ 0 };
}

static void put(struct aws_form *form, const char *text, size_t length)
{
    assert(length < UINT32_MAX / 4 - form->size);
    MEM_ROOM(form->text, form->room, form->size + (uint32_t)length + 1);
    memcpy(form->text + form->size, text, length);
    form->size += (uint32_t)length;
    form->text[form->size] = '\0';
}

static void put_escaped(struct aws_form *form, const char *text, size_t length)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || (byte != 0 && strchr("-_.~", byte) != NULL))
            put(form, text + i, 1);
        else
            put(form, (const char[]){ '%', hex[byte >> 4], hex[byte & 15] }, 3);
    }
}

static void put_name(struct aws_form *form, const char *name)
{
    if (form->size > 0)
        put(form, "&", 1);
    put_escaped(form, name, strlen(name));
    put(form, "=", 1);
}

void aws_form_begin(struct aws_form *form, const char *action, const char *version)
{
    form->size = 0;
    aws_form_add(form, "Action", action);
    aws_form_add(form, "Version", version);
}

void aws_form_add(struct aws_form *form, const char *name, const char *value)
{
    if (value == NULL)
        return;
    put_name(form, name);
    put_escaped(form, value, strlen(value));
}

void aws_form_number(struct aws_form *form, const char *name, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    aws_form_add(form, name, text);
}

void aws_form_item(struct aws_form *form, const char *name, uint32_t index, const char *value)
{
    const char *mark = strchr(name, '#');
    char text[96];

    assert(mark != NULL);
    (void)snprintf(text, sizeof(text), "%.*s%" PRIu32 "%s", (int)(mark - name), name, index,
                   mark + 1);
    aws_form_add(form, text, value);
}

void aws_form_base64(struct aws_form *form, const char *name, const char *data, size_t size)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

    enum { PAD = 64 };

    put_name(form, name);
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)(unsigned char)data[i] << 16 |
                              (left > 1 ? (uint32_t)(unsigned char)data[i + 1] << 8 : 0) |
                              (left > 2 ? (uint32_t)(unsigned char)data[i + 2] : 0);
        const char four[4] = { digits[bits >> 18], digits[bits >> 12 & 63],
                               digits[left > 1 ? bits >> 6 & 63 : PAD],
                               digits[left > 2 ? bits & 63 : PAD] };

        put_escaped(form, four, sizeof(four));
    }
}
