/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the queue of notices. */
#include "fuzz.h"

#include "cloud/aws/aws_notices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char id[AWS_NOTICE_ID_SIZE] = "";
    bool is_certain = false;
    struct error error = { "" };
    const int rc = aws_notice_read((const char *)data, size, id, &is_certain, &error);

    assert(rc <= 1);
    if (rc < 0)
        fuzz_check_error(&error);
    assert((rc == 1) == (id[0] != '\0'));
    assert(strnlen(id, sizeof(id)) < sizeof(id));
    return 0;
}
