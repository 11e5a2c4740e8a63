/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_form.h - the body of a request in AWS's Query protocol: Action=...&Name=value&...
 *
 * Promises:  values are escaped byte by byte; only letters, digits and "-_.~" stay as they are.
 * Memory:    a struct aws_form owns its text; all zero is an empty one.
 */
#ifndef STINT_CLOUD_AWS_FORM_H
#define STINT_CLOUD_AWS_FORM_H

#include <stddef.h>
#include <stdint.h>

#define AWS_FORM_TYPE "Content-Type: application/x-www-form-urlencoded; charset=utf-8"

struct aws_form {
    char *text; /* with a zero behind it once anything was added */
    uint32_t size;
    uint32_t room;
};

void aws_form_done(struct aws_form *form);

/* Forget all, and begin a request of EC2's API. */
void aws_form_begin(struct aws_form *form, const char *action, const char *version);

/* Add a parameter; a 'value' of NULL is left out. */
void aws_form_add(struct aws_form *form, const char *name, const char *value);
void aws_form_number(struct aws_form *form, const char *name, uint64_t value);

/* The same with the number 'index' in place of the '#' of 'name': "Filter.#.Name". */
void aws_form_item(struct aws_form *form, const char *name, uint32_t index, const char *value);

/* Add bytes in base64, which is how user data travels. */
void aws_form_base64(struct aws_form *form, const char *name, const char *data, size_t size);

#endif
