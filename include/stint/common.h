/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.h - what every header of libstint stands on: linkage, errors, units.
 *
 * Time     is whole milliseconds, int64_t, since any zero that the caller keeps to (the epoch, say). Nothing
 *          here reads a clock. From 0 to STINT_TIME_MAX.
 * Money    is whole micro-dollars, int64_t: $1.50 is 1500000. Prices are per hour.
 * Failure  is a negative errno as the return value; 0 is success. Where a person will read why, the last
 *          argument takes the text; it may be NULL. A call that fails has changed nothing.
 * Structs  that the caller fills begin with their own size, so that a program that was built against an
 *          older libstint keeps working. Use the stint_..._init function of each; it clears the rest.
 */
#ifndef STINT_COMMON_H
#define STINT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define STINT_BEGIN extern "C" {
#define STINT_END   }
#else
#define STINT_BEGIN
#define STINT_END
#endif

#if defined(__GNUC__)
#define STINT_API __attribute__((visibility("default")))
#else
#define STINT_API
#endif

/* Of these headers; stint_version() is that of the library. */
#define STINT_VERSION "0.2.0"

#define STINT_NEVER         INT64_MAX          /* a time that does not come */
#define STINT_MONEY_UNKNOWN INT64_MAX          /* no price to compare with */
#define STINT_TIME_MAX      ((int64_t)1 << 42) /* milliseconds: 139 years */
#define STINT_MONEY_MAX     ((int64_t)1 << 40) /* micro-dollars per hour: 1.1 million dollars */
#define STINT_AMOUNT_MAX    ((int64_t)1 << 40) /* of a resource */
#define STINT_NONE          UINT32_MAX         /* no such offer, rent or shape */

enum { STINT_ERROR_SIZE = 512 };

struct stint_error {
    char text[STINT_ERROR_SIZE]; /* one line, no full stop */
};

/* What a machine has or a task takes. */
struct stint_resources {
    int64_t cpu_milli; /* 1000 is one CPU */
    int64_t memory_mib;
    int64_t accel_milli; /* accelerators; 500 is half of one, which may be shared */
    int64_t unused[5];   /* must be 0 */
};

STINT_BEGIN

/* "0.2.0" */
STINT_API const char *stint_version(void);

STINT_END

#endif
