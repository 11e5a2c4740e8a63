/* SPDX-License-Identifier: Apache-2.0 */
/* What any user may send to the daemon's socket of rates. */
#include "fuzz.h"

#include "daemon/rate_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rate_report report;

    if (rate_report_parse((const char *)data, size, &report) < 0)
        return 0;
    assert(report.rate_ppm > 0 && report.rate_ppm <= 1000000);
    assert(strlen(report.label) > 0 && strlen(report.label) < RATE_LABEL_MAX);
    assert(strpbrk(report.label, " /\\\n\"'") == NULL);
    return 0;
}
