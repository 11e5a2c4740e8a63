/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/slurm_text.h"

TEST(times_are_seconds_since_1970)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        { "1970-01-01T00:00:00", 0 },
        { "2000-02-29T23:59:59", 951868799 },
        { "2000-03-01T00:00:00", 951868800 },
        { "2026-10-01T12:00:00", 1790856000 },
        { "2026-12-31T23:59:59", 1798761599 },
        { "1790856000", 1790856000 },
        { "Unknown", SLURM_UNKNOWN },
        { "None", SLURM_UNKNOWN },
        { "", SLURM_UNKNOWN },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = 42;

        assert_int_equal(slurm_time(cases[i].text, strlen(cases[i].text), &got), 0);
        assert_int_equal(got, cases[i].seconds);
    }
}

TEST(what_is_no_time_is_refused)
{
    static const char *const cases[] = {
        "2026-02-29T00:00:00",
        "2026-13-01T00:00:00",
        "2026-00-01T00:00:00",
        "2026-01-32T00:00:00",
        "2026-01-01T24:00:00",
        "2026-01-01T00:60:00",
        "2026-01-01 00:00:00",
        "2026-01-01",
        "1969-12-31T23:59:59",
        "noon",
        "-5",
        "20261001T12:00:0000",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = 42;

        assert_int_equal(slurm_time(cases[i], strlen(cases[i]), &got), -EINVAL);
        assert_int_equal(got, 42);
    }
    int64_t got = 42;

    assert_int_equal(slurm_time("9999-12-31T23:59:59", 19, &got), -ERANGE);
    assert_int_equal(slurm_time("99999999999999", 14, &got), -ERANGE);
    assert_int_equal(got, 42);
}

TEST(durations_have_days_or_not)
{
    static const struct {
        const char *text;
        msec_t ms;
    } cases[] = {
        { "00:00:00", 0 },
        { "00:05:01", 301000 },
        { "1-02:03:04", 93784000 },
        { "365-00:00:00", (msec_t)365 * 86400000 },
        { "05:01", 301000 },
        { "00:00.250", 250 },
        { "100:00:00", 360000000 },
        { "UNLIMITED", SLURM_UNKNOWN },
        { "Partition_Limit", SLURM_UNKNOWN },
        { "INVALID", SLURM_UNKNOWN },
        { "", SLURM_UNKNOWN },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        msec_t got = 42;

        assert_int_equal(slurm_duration(cases[i].text, strlen(cases[i].text), &got), 0);
        assert_int_equal(got, cases[i].ms);
    }
}

TEST(what_is_no_duration_is_refused)
{
    static const char *const cases[] = { "5",       "1-00",      "1-00:00", "a:b",    "1:2:3:4",
                                         "1:2:",    "::",        "-1:00",   "1:2:-3", "1:2:3e4",
                                         "1-2-3:4", "unlimited", "1:2:.",   ":" };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        msec_t got = 42;

        if (slurm_duration(cases[i], strlen(cases[i]), &got) != -EINVAL)
            fail_msg("'%s' was taken", cases[i]);
        assert_int_equal(got, 42);
    }
    msec_t got = 42;

    assert_int_equal(slurm_duration("99999-00:00:00", 14, &got), -ERANGE);
    assert_int_equal(slurm_duration("0:999999999999999999", 20, &got), -EINVAL);
    assert_int_equal(slurm_duration("0:99999999999999", 16, &got), -ERANGE);
    assert_int_equal(slurm_duration("999999999999999999-0:0:0", 24, &got), -ERANGE);
    assert_int_equal(got, 42);
}

TEST(memory_has_a_unit_and_says_for_what_it_is)
{
    static const struct {
        const char *text;
        int64_t mib;
        enum slurm_per per;
    } cases[] = {
        { "16G", 16384, SLURM_PER_JOB },       { "4Gc", 4096, SLURM_PER_CPU },
        { "16Gn", 16384, SLURM_PER_NODE },     { "4000M", 4000, SLURM_PER_JOB },
        { "4000", 4000, SLURM_PER_JOB },       { "1.50T", 1572864, SLURM_PER_JOB },
        { "1025K", 2, SLURM_PER_JOB },         { "1K", 1, SLURM_PER_JOB },
        { "0n", 0, SLURM_PER_NODE },           { "", SLURM_UNKNOWN, SLURM_PER_JOB },
        { "?", SLURM_UNKNOWN, SLURM_PER_JOB }, { "1P", 1 << 30, SLURM_PER_JOB },
        { "0.5G", 512, SLURM_PER_JOB },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slurm_memory got = { 42, SLURM_PER_JOB };

        assert_int_equal(slurm_memory(cases[i].text, strlen(cases[i].text), &got), 0);
        assert_int_equal(got.mib, cases[i].mib);
        assert_int_equal(got.per, cases[i].per);
    }
}

TEST(what_is_no_memory_is_refused)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        { "G", -EINVAL },   { "c", -EINVAL },   { "16GB", -EINVAL },      { "16g", -EINVAL },
        { "-1G", -EINVAL }, { "1e3", -EINVAL }, { "99999999E", -ERANGE }, { "2E", -ERANGE },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slurm_memory got = { 42, SLURM_PER_JOB };

        assert_int_equal(slurm_memory(cases[i].text, strlen(cases[i].text), &got), cases[i].code);
        assert_int_equal(got.mib, 42);
    }
}

static struct slurm_tres tres(const char *text)
{
    struct slurm_tres got = { 42, 42, 42, 42 };

    assert_int_equal(slurm_tres(text, strlen(text), &got), 0);
    return got;
}

TEST(tres_of_interest_are_found_among_others)
{
    const struct slurm_tres got =
        tres("billing=8,cpu=8,energy=123,fs/disk=5,gres/gpu=2,gres/gpu:a100=2,mem=32G,node=2");

    assert_int_equal(got.cpus, 8);
    assert_int_equal(got.gpus, 2);
    assert_int_equal(got.mem_mib, 32768);
    assert_int_equal(got.nodes, 2);
}

TEST(gpus_by_type_are_added_up_where_there_is_no_total)
{
    assert_int_equal(tres("gres/gpu:a100=2,gres/gpu:t4=1").gpus, 3);
    assert_int_equal(tres("gres/gpu:a100=2,gres/gpu=2").gpus, 2);
    assert_int_equal(tres("gres/gpumem=80G,cpu=1").gpus, SLURM_UNKNOWN);
}

TEST(no_tres_are_all_unknown)
{
    const struct slurm_tres got = tres("");

    assert_int_equal(got.cpus, SLURM_UNKNOWN);
    assert_int_equal(got.gpus, SLURM_UNKNOWN);
    assert_int_equal(got.mem_mib, SLURM_UNKNOWN);
    assert_int_equal(got.nodes, SLURM_UNKNOWN);
}

TEST(what_are_no_tres_is_refused)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        { "cpu", -EINVAL },          { "cpu=", -EINVAL },     { "cpu=x", -EINVAL },
        { "cpu=1,,mem=1", -EINVAL }, { "mem=lots", -EINVAL }, { "cpu=99999999999", -ERANGE },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slurm_tres got = { .cpus = 42 };

        assert_int_equal(slurm_tres(cases[i].text, strlen(cases[i].text), &got), cases[i].code);
        assert_int_equal(got.cpus, 42);
    }
}

CHECK_MAIN(RUN(times_are_seconds_since_1970), RUN(what_is_no_time_is_refused),
           RUN(durations_have_days_or_not), RUN(what_is_no_duration_is_refused),
           RUN(memory_has_a_unit_and_says_for_what_it_is), RUN(what_is_no_memory_is_refused),
           RUN(tres_of_interest_are_found_among_others),
           RUN(gpus_by_type_are_added_up_where_there_is_no_total), RUN(no_tres_are_all_unknown),
           RUN(what_are_no_tres_is_refused))
