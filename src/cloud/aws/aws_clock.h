/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_clock.h - times as AWS writes them.
 *
 * Promises:  pure; -1 for what is no time between the years 1970 and 2200.
 */
#ifndef STINT_CLOUD_AWS_CLOCK_H
#define STINT_CLOUD_AWS_CLOCK_H

#include "base/units.h"

/* "2024-05-01T12:34:56.000Z", also without the fraction; the same with a space for the 'T' and with
 * " GMT" or " UTC" behind it, as in "User initiated (2024-05-01 12:34:56 GMT)": then the text up to
 * the first digit is passed over. */
msec_t aws_clock_read(const char *text);

/* "2024-05-01T12:34:56Z" into 'ret', which has 32 bytes. */
void aws_clock_print(msec_t at, char *ret);

#endif
