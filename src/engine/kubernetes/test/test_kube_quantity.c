/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "engine/kubernetes/kube_quantity.h"

static int64_t milli(const char *text)
{
    int64_t amount = -1;

    assert_int_equal(kube_quantity_milli(text, strlen(text), &amount), 0);
    return amount;
}

static int64_t bytes(const char *text)
{
    int64_t amount = -1;

    assert_int_equal(kube_quantity_whole(text, strlen(text), &amount), 0);
    return amount;
}

TEST(processors_are_read_in_thousandths)
{
    assert_int_equal(milli("250m"), 250);
    assert_int_equal(milli("1"), 1000);
    assert_int_equal(milli("1.5"), 1500);
    assert_int_equal(milli(".5"), 500);
    assert_int_equal(milli("+2"), 2000);
    assert_int_equal(milli("0"), 0);
    assert_int_equal(milli("1k"), 1000000);
    assert_int_equal(milli("1e3"), 1000000);
    assert_int_equal(milli("12E-1"), 1200);
}

TEST(what_is_less_than_the_unit_counts_as_one)
{
    assert_int_equal(milli("1u"), 1);
    assert_int_equal(milli("1500u"), 2);
    assert_int_equal(milli("0.0000000000000000000001"), 1);
    assert_int_equal(bytes("1"), 1);
    assert_int_equal(bytes("400m"), 1);
    assert_int_equal(bytes("1.0001"), 2);
}

TEST(memory_is_read_in_binary_and_decimal_units)
{
    assert_int_equal(bytes("64Mi"), INT64_C(64) << 20);
    assert_int_equal(bytes("1Gi"), INT64_C(1) << 30);
    assert_int_equal(bytes("1.5Gi"), INT64_C(1536) << 20);
    assert_int_equal(bytes("129e6"), 129000000);
    assert_int_equal(bytes("129M"), 129000000);
    assert_int_equal(bytes("123456789"), 123456789);
    assert_int_equal(bytes("2Ti"), INT64_C(2) << 40);
}

TEST(what_is_too_large_is_brought_down)
{
    assert_int_equal(milli("999999999999999999E"), INT64_C(1) << 62);
    assert_int_equal(milli("999999999999999999999999999999"), INT64_C(1) << 62);
    assert_int_equal(bytes("15Ei"), INT64_C(1) << 62);
    assert_int_equal(bytes("3Ei"), INT64_C(3) << 60);
}

TEST(what_is_no_quantity_is_refused)
{
    static const char *const bad[] = { "",   "-1", "m",    "1.2.3", "1Xi", "1mm", "Gi", "e3",
                                       "1e", "1 ", "1e99", "0x10",  ".",   "1i",  "++1" };
    int64_t amount;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(kube_quantity_milli(bad[i], strlen(bad[i]), &amount), -EINVAL);
        assert_int_equal(kube_quantity_whole(bad[i], strlen(bad[i]), &amount), -EINVAL);
    }
    assert_int_equal(kube_quantity_milli("1\0i", 3, &amount), -EINVAL);
}

/* Any amount in thousandths is read back as it was written, in each way to write it. */
TEST(amounts_come_back_as_they_were_written)
{
    struct rng rng;

    rng_init(&rng, 7, 0);
    for (int i = 0; i < 20000; i++) {
        const int64_t amount = (int64_t)(rng_next(&rng) >> (14 + i % 50));
        char text[64];

        (void)snprintf(text, sizeof(text), "%lldm", (long long)amount);
        assert_int_equal(milli(text), amount);
        (void)snprintf(text, sizeof(text), "%lld.%03lld", (long long)(amount / 1000),
                       (long long)(amount % 1000));
        assert_int_equal(milli(text), amount);
        (void)snprintf(text, sizeof(text), "%llde-3", (long long)amount);
        assert_int_equal(milli(text), amount);
        (void)snprintf(text, sizeof(text), "%lldKi", (long long)(amount >> 10));
        assert_int_equal(bytes(text), amount >> 10 << 10);
    }
}

CHECK_MAIN(RUN(processors_are_read_in_thousandths), RUN(what_is_less_than_the_unit_counts_as_one),
           RUN(memory_is_read_in_binary_and_decimal_units), RUN(what_is_too_large_is_brought_down),
           RUN(what_is_no_quantity_is_refused), RUN(amounts_come_back_as_they_were_written))
