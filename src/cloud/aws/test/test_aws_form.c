/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <string.h>

#include "cloud/aws/aws_clock.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_secret.h"

TEST(a_request_is_escaped_byte_by_byte)
{
    struct aws_form form = { 0 };

    aws_form_begin(&form, "RunInstances", "2016-11-15");
    aws_form_add(&form, "Name", "a b&c=d/\xc3\xa9~");
    aws_form_add(&form, "Absent", NULL);
    aws_form_number(&form, "MinCount", 1);
    aws_form_item(&form, "Filter.#.Name", 12, "tag:stint:key");

    assert_string_equal(form.text, "Action=RunInstances&Version=2016-11-15&"
                                   "Name=a%20b%26c%3Dd%2F%C3%A9~&MinCount=1&"
                                   "Filter.12.Name=tag%3Astint%3Akey");
    aws_form_begin(&form, "X", "1");
    assert_string_equal(form.text, "Action=X&Version=1");
    aws_form_done(&form);
}

TEST(user_data_is_base64_with_its_padding)
{
    static const struct {
        const char *data;
        const char *base64;
    } CASES[] = {
        { "", "U=" },        { "f", "U=Zg%3D%3D" },        { "fo", "U=Zm8%3D" },
        { "foo", "U=Zm9v" }, { "foob", "U=Zm9vYg%3D%3D" }, { "\xff\xfe\xfd", "U=%2F%2F79" },
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct aws_form form = { 0 };

        aws_form_base64(&form, "U", CASES[i].data, strlen(CASES[i].data));
        assert_string_equal(form.text, CASES[i].base64);
        aws_form_done(&form);
    }
}

TEST(times_are_read_in_all_forms_that_aws_writes)
{
    assert_int_equal(aws_clock_read("1970-01-01T00:00:00Z"), 0);
    assert_int_equal(aws_clock_read("2024-02-29T12:34:56.789Z"), 1709210096789);
    assert_int_equal(aws_clock_read("2024-02-29T12:34:56Z"), 1709210096000);
    assert_int_equal(aws_clock_read("User initiated (2024-02-29 12:34:56 GMT)"), 1709210096000);
    assert_int_equal(aws_clock_read(""), -1);
    assert_int_equal(aws_clock_read("User initiated"), -1);
    assert_int_equal(aws_clock_read("2024-13-29T12:34:56Z"), -1);
    assert_int_equal(aws_clock_read("2024-02-29T12:34:5"), -1);
    assert_int_equal(aws_clock_read("0001-01-01T00:00:00Z"), -1);
}

TEST(a_time_that_is_printed_reads_the_same)
{
    char text[32];

    aws_clock_print(1709210096000, text);

    assert_string_equal(text, "2024-02-29T12:34:56Z");
    assert_int_equal(aws_clock_read(text), 1709210096000);
}

TEST(keys_with_a_line_end_are_no_good)
{
    struct aws_secret *secret = aws_secret_create();

    assert_false(aws_secret_is_good(secret));
    memcpy(secret->access_key, "AKIDEXAMPLE", 12);
    memcpy(secret->secret_key, "abc/def+ghi", 12);
    assert_true(aws_secret_is_good(secret));
    memcpy(secret->session_token, "x\r\nHost: y", 11);
    assert_false(aws_secret_is_good(secret));
    aws_secret_wipe(secret);
    assert_int_equal(secret->secret_key[0], 0);
    aws_secret_destroy(secret);
}

CHECK_MAIN(RUN(a_request_is_escaped_byte_by_byte), RUN(user_data_is_base64_with_its_padding),
           RUN(times_are_read_in_all_forms_that_aws_writes),
           RUN(a_time_that_is_printed_reads_the_same), RUN(keys_with_a_line_end_are_no_good))
