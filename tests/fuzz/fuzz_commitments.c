/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/limits.h"
#include "trace/commitments_file.h"

static void check_class(const struct commitment *commitment, money_t price)
{
    assert(commitment->unit == COMMITMENT_INSTANCE);
    assert(commitment->term_hours > 0 && commitment->term_hours <= COMMITMENTS_TERM_HOURS_MAX);
    assert(commitment->upfront >= 0 && commitment->per_hour >= 0);
    assert(commitment->per_used_hour >= 0 && commitment->per_used_hour <= price);
}

static void check_commitments(const struct commitments *commitments)
{
    struct commitment classes[COMMITMENT_CLASSES_MAX];
    const money_t price = commitments_price(commitments, "no such type");

    assert(commitments->class_count > 0 && commitments->class_count <= COMMITMENT_CLASSES_MAX);
    assert(price > 0 && price <= LIMIT_MONEY);
    assert(commitments->classes[0].term_hours == 0);
    commitments_at(commitments, price, classes);
    for (uint32_t k = 1; k < commitments->class_count; k++)
        check_class(&classes[k], price);
    for (uint32_t i = 0; i < commitments->types.count; i++) {
        assert(commitments->type_price[i] > 0);
        commitments_at(commitments, commitments->type_price[i], classes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct commitments commitments = { 0 };
    struct error error = { "" };

    if (commitments_read((const char *)data, size, &commitments, &error) < 0) {
        fuzz_check_error(&error);
        assert(commitments.class_count == 0);
        return 0;
    }
    check_commitments(&commitments);
    commitments_done(&commitments);
    return 0;
}
