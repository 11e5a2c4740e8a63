/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_secret_read.h - keys as the services hand them out.
 *
 * Promises:  any bytes may be read; a failure has a text, which never quotes what was read, and
 *            leaves 'ret' empty.
 */
#ifndef STINT_CLOUD_AWS_SECRET_READ_H
#define STINT_CLOUD_AWS_SECRET_READ_H

#include <stddef.h>

#include "base/error.h"
#include "cloud/aws/aws_secret.h"

/* Those of a container or an instance: JSON. */
int aws_secret_read_json(const char *text, size_t size, struct aws_secret *ret,
                         struct error *reterr);

/* Those that a program prints (credential_process): JSON of version 1. */
int aws_secret_read_process(const char *text, size_t size, struct aws_secret *ret,
                            struct error *reterr);

/* Those of STS: XML. */
int aws_secret_read_xml(const char *text, size_t size, struct aws_secret *ret,
                        struct error *reterr);

/* Copy 'text' into a part of 'size' bytes; too long a text leaves it empty. */
void aws_secret_set(char *part, size_t size, const char *text);

#endif
