/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_advisor.h"

#include <string.h>

#include "base/test/check.h"

#define RANGES                                                                                 \
    "\"ranges\": [{\"index\": 0, \"label\": \"<5%\", \"dots\": 0, \"max\": 5},\n"              \
    "{\"index\": 2, \"label\": \">20%\", \"max\": 100}, {\"index\": 1, \"label\": \"5-10%\", " \
    "\"max\": 11}]"

static struct aws_catalogue gathered;

static int set_up(void **state)
{
    (void)state;
    aws_catalogue_init(&gathered);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    aws_catalogue_done(&gathered);
    return 0;
}

static struct interruption band_of(const char *type)
{
    const uint32_t index = names_find(&gathered.type_names, type, strlen(type));

    return index != NAME_NONE ? gathered.types[index].interruption : (struct interruption){ 0, 0 };
}

TEST(bands_are_those_of_the_region_and_of_linux)
{
    static const char TEXT[] =
        "{\"global_rate\": \"<10%\", \"instance_types\": {\"c5.large\": {\"cores\": 2}},\n" RANGES
        ", \"spot_advisor\": {\n"
        "\"us-east-1\": {\"Windows\": {\"c5.large\": {\"s\": 7, \"r\": 2}},\n"
        "\"Linux\": {\"c5.large\": {\"s\": 60, \"r\": 0}, \"m5.large\": {\"r\": 1, \"s\": 50},\n"
        "\"p3.2xlarge\": {\"s\": 70, \"r\": 2}}},\n"
        "\"us-east-2\": {\"Linux\": {\"c5.large\": {\"s\": 60, \"r\": 1}}}}}";
    struct error error = { "" };

    if (aws_advisor_read(TEXT, strlen(TEXT), "us-east-1", &gathered, &error) < 0)
        fail_msg("%s", error.text);

    assert_int_equal(band_of("c5.large").low, 0);
    assert_int_equal(band_of("c5.large").high, 5);
    assert_int_equal(band_of("m5.large").low, 5);
    assert_int_equal(band_of("m5.large").high, 10);
    assert_int_equal(band_of("p3.2xlarge").low, 20);
    assert_int_equal(band_of("p3.2xlarge").high, 100);
    assert_int_equal(band_of("r5.large").high, 0);
}

TEST(what_is_no_advice_is_refused_and_leaves_no_trace)
{
#define OF_X "\"spot_advisor\": {\"x\": {\"Linux\": "
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "[]", "line 1: the document must be a map of keys and values, not a list" },
        { "{" RANGES "}", "line 1: the document lacks the key 'spot_advisor'" },
        { "{\"ranges\": {}, " OF_X "{\"a\": {\"r\": 0}}}}}",
          "line 1: 'ranges' must be a list, not a map of keys and values" },
        { "{\"ranges\": [{\"index\": 0, \"label\": \"rarely\"}], " OF_X "{\"a\": {\"r\": 0}}}}}",
          "line 1: 'label' must be percentages such as <5%, 5-10% or >20%, not 'rarely'" },
        { "{\"ranges\": [{\"index\": 0, \"label\": \"10-5%\"}], " OF_X "{\"a\": {\"r\": 0}}}}}",
          "line 1: 'label' must be percentages such as <5%, 5-10% or >20%, not '10-5%'" },
        { "{\"ranges\": [{\"index\": 0, \"label\": \"5-101%\"}], " OF_X "{\"a\": {\"r\": 0}}}}}",
          "line 1: 'label' must be percentages such as <5%, 5-10% or >20%, not '5-101%'" },
        { "{\"ranges\": [{\"index\": 0, \"label\": \"<5%\"}, {\"index\": 0, \"label\": \">5%\"}], "
          "" OF_X "{\"a\": {\"r\": 0}}}}}",
          "line 1: entry 2 of 'ranges' has the same index as one before it" },
        { "{\"ranges\": [{\"index\": 16, \"label\": \"<5%\"}], " OF_X "{\"a\": {\"r\": 0}}}}}",
          "line 1: 'index' must be a whole number from 0 to 15, not '16'" },
        { "{" RANGES ", \"spot_advisor\": {\"y\": {}}}",
          "line 2: 'spot_advisor' has nothing about 'x'" },
        { "{" RANGES ", \"spot_advisor\": {\"x\": {\"Windows\": {}}}}",
          "line 2: 'x' has nothing about 'Linux'" },
        { "{" RANGES ", " OF_X "{}}}}", "line 2: 'Linux' has no types" },
        { "{" RANGES ", " OF_X "{\"a\": {\"r\": 0}, \"b\": {\"r\": 3}}}}}",
          "line 2: 'b' has an 'r' that is not in 'ranges'" },
        { "{" RANGES ", " OF_X "{\"a\": {\"r\": 0}, \"b\": {\"s\": 3}}}}}",
          "line 2: 'b' lacks the key 'r'" },
        { "{" RANGES ", " OF_X "{\"a\": {\"r\": 0}, \"b\": {\"r\": 0.5}}}}}",
          "line 2: 'r' must be a whole number from 0 to 15, not '0.5'" },
        { "{" RANGES ", " OF_X "{\"a\": 0}}}}",
          "line 2: 'a' must be a map of keys and values, not a single value" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct error error = { "" };

        assert_true(aws_advisor_read(cases[i].text, strlen(cases[i].text), "x", &gathered, &error) <
                    0);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(gathered.type_names.count, 0);
    }
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

CHECK_MAIN(WITH(bands_are_those_of_the_region_and_of_linux),
           WITH(what_is_no_advice_is_refused_and_leaves_no_trace))
