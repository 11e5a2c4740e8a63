/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_ini.h - the files of ~/.aws: sections of name = value lines.
 *
 * Promises:  any bytes may be read. Section, name and value are reported without the space around them;
 *            names are in small letters. Indented lines (nested settings) and lines that are none
 *            of these are passed over, as the SDKs do. What was copied is wiped before return.
 * Bounds:    AWS_INI_FILE_MAX bytes, AWS_INI_LINE_MAX bytes of one line. O(bytes).
 */
#ifndef STINT_CLOUD_AWS_INI_H
#define STINT_CLOUD_AWS_INI_H

#include <stddef.h>

#include "base/error.h"

enum {
    AWS_INI_FILE_MAX = 1 << 20,
    AWS_INI_LINE_MAX = 16384,
};

/* Tell each value. -E2BIG: the file or one of its lines is too long. */
int aws_ini_read(const char *text, size_t length,
                 void (*on_value)(void *context, const char *section, const char *name,
                                  const char *value),
                 void *context, struct error *reterr);

#endif
