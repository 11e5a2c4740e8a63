/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/period.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "trace/number.h"

int period_moment(const char *text, msec_t now, msec_t *ret)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d" };
    struct tm parts = { .tm_mday = 1 };
    msec_t span = 0;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const char *end = strptime(text, forms[i], &parts);

        if (end != NULL && *end == '\0') {
            *ret = (msec_t)timegm(&parts) * MSEC_PER_SEC;
            return 0;
        }
        parts = (struct tm){ .tm_mday = 1 };
    }

    const char *end = strptime(text, "%Y-%m", &parts);

    if (end != NULL && *end == '\0') {
        parts.tm_mday = 1;
        *ret = (msec_t)timegm(&parts) * MSEC_PER_SEC;
        return 0;
    }
    if (number_duration(text, strlen(text), &span) < 0 || span > now)
        return -EINVAL;
    *ret = now - span;
    return 0;
}

msec_t period_now(void)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (msec_t)now.tv_sec * MSEC_PER_SEC + now.tv_nsec / 1000000;
}
