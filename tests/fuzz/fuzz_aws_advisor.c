/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "cloud/aws/aws_advisor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct aws_catalogue gathered;
    struct error error = { "" };

    aws_catalogue_init(&gathered);
    if (aws_advisor_read((const char *)data, size, "us-east-1", &gathered, &error) < 0) {
        fuzz_check_error(&error);
        assert(gathered.type_names.count == 0);
        assert(gathered.dropped == 0);
    } else {
        assert(gathered.type_names.count + gathered.dropped > 0);
    }
    for (uint32_t i = 0; i < gathered.type_names.count; i++) {
        const struct interruption band = gathered.types[i].interruption;

        assert(band.low < band.high && band.high <= 100);
    }
    aws_catalogue_done(&gathered);
    return 0;
}
