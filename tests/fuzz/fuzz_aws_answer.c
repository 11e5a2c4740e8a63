/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever EC2, or somebody in its place, answers. */
#include "fuzz.h"

#include "cloud/aws/ec2_answer.h"

static void check_text(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);

    assert(length < size);
    for (size_t i = 0; i < length; i++)
        assert(text[i] >= 0x20 && text[i] < 0x7f);
}

static void on_instance(void *context, const struct ec2_instance *row)
{
    (*(uint32_t *)context)++;
    check_text(row->id, sizeof(row->id));
    check_text(row->owner, sizeof(row->owner));
    check_text(row->tag_key, sizeof(row->tag_key));
    check_text(row->tag_offer, sizeof(row->tag_offer));
    assert(row->state <= EC2_STOPPED);
    assert(row->launched_at >= -1 && row->changed_at >= -1);
}

static void on_type(void *context, const struct ec2_type *row)
{
    (*(uint32_t *)context)++;
    check_text(row->name, sizeof(row->name));
    assert(row->gpus < 1 << 18 && row->cpus <= INT32_MAX && row->mem_mib <= INT32_MAX);
}

static void on_offering(void *context, const struct ec2_offering *row)
{
    (*(uint32_t *)context)++;
    check_text(row->location, sizeof(row->location));
}

static void on_spot_price(void *context, const struct ec2_spot_price *row)
{
    (*(uint32_t *)context)++;
    check_text(row->zone, sizeof(row->zone));
    assert(row->price >= -1);
}

static void on_fleet(void *context, const struct ec2_fleet_row *row)
{
    (*(uint32_t *)context)++;
    check_text(row->code, sizeof(row->code));
}

/* What is read as the answer to an action has no more rows than what is read as the answer to any. */
static uint32_t read_as(const char *action, const uint8_t *data, size_t size)
{
    uint32_t rows = 0;
    const struct ec2_sink sink = {
        on_instance, on_type, on_offering, on_spot_price, on_fleet, &rows
    };
    struct ec2_answer answer;
    struct error error = { "" };
    const int rc = ec2_answer_read((const char *)data, size, action, &sink, &answer, &error);

    if (rc < 0)
        fuzz_check_error(&error);
    assert(rows == answer.rows);
    check_text(answer.code, sizeof(answer.code));
    check_text(answer.message, sizeof(answer.message));
    check_text(answer.next_token, sizeof(answer.next_token));
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t any = read_as(NULL, data, size);

    assert(read_as("DescribeInstances", data, size) <= any);
    assert(read_as("TerminateInstances", data, size) <= any);
    return 0;
}
