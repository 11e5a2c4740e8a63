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

static int64_t mib(const char *text)
{
    int64_t amount = -1;

    assert_int_equal(kube_quantity_mib(text, strlen(text), &amount), 0);
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
    assert_int_equal(mib("1"), 1);
    assert_int_equal(mib("1048577"), 2);
    assert_int_equal(mib("128974848"), 123);
}

TEST(memory_is_read_in_binary_and_decimal_units)
{
    assert_int_equal(mib("64Mi"), 64);
    assert_int_equal(mib("1Gi"), 1024);
    assert_int_equal(mib("1.5Gi"), 1536);
    assert_int_equal(mib("129e6"), 124);
    assert_int_equal(mib("129M"), 124);
    assert_int_equal(mib("2Ti"), 2097152);
    assert_int_equal(mib("400m"), 1);
}

TEST(what_is_too_large_is_brought_down)
{
    assert_int_equal(milli("999999999999999999E"), INT64_C(1) << 62);
    assert_int_equal(milli("999999999999999999999999999999"), INT64_C(1) << 62);
    assert_int_equal(mib("15Ei"), INT64_C(15) << 40);
}

TEST(what_is_no_quantity_is_refused)
{
    static const char *const bad[] = { "",   "-1", "m",    "1.2.3", "1Xi", "1mm", "Gi", "e3",
                                       "1e", "1 ", "1e99", "0x10",  ".",   "1i",  "++1" };
    int64_t amount;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(kube_quantity_milli(bad[i], strlen(bad[i]), &amount), -EINVAL);
        assert_int_equal(kube_quantity_mib(bad[i], strlen(bad[i]), &amount), -EINVAL);
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
        (void)snprintf(text, sizeof(text), "%lldMi", (long long)amount);
        assert_int_equal(mib(text), amount);
    }
}

CHECK_MAIN(RUN(processors_are_read_in_thousandths), RUN(what_is_less_than_the_unit_counts_as_one),
           RUN(memory_is_read_in_binary_and_decimal_units), RUN(what_is_too_large_is_brought_down),
           RUN(what_is_no_quantity_is_refused), RUN(amounts_come_back_as_they_were_written))
