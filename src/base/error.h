/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - the text that goes with a failure.
 *
 * A function that can fail because of the world returns 0 or a negative errno and, when a person
 * will read it, fills a struct error in the same statement:
 *
 *     return error_set(reterr, -EINVAL, "line %u: price below zero", line);
 *
 * The text says what is wrong and, where it can, what to do. 'reterr' may be NULL.
 */
#ifndef STINT_BASE_ERROR_H
#define STINT_BASE_ERROR_H

enum { ERROR_TEXT_SIZE = 512 };

struct error {
    char text[ERROR_TEXT_SIZE];
};

/* Write the text, cut to what fits, and return 'code' (which is negative). */
int error_set(struct error *reterr, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "what: " in front of the text that is there, and return 'code'. */
int error_prefix(struct error *reterr, int code, const char *what);

#endif
