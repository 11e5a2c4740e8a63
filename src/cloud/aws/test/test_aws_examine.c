/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <jansson.h>
#include <string.h>

#include "cloud/aws/aws_examine.h"
#include "cloud/aws/aws_rights.h"
#include "cloud/aws/iam_policies.h"

static const struct iam_words none;

/* The right of that name in the table; AWS_RIGHTS: none. */
static int find_right(const char *action)
{
    int i = 0;

    while (i < AWS_RIGHTS && strcmp(aws_rights[i].action, action) != 0)
        i++;
    return i;
}

static void check_policy(const char *text, bool is_for_catalogue, bool seen[AWS_RIGHTS])
{
    json_t *policy = json_loads(text, 0, NULL);
    const json_t *list = json_object_get(policy, "Statement");

    assert_true(json_array_size(list) > 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *actions = json_object_get(json_array_get(list, i), "Action");

        assert_true(json_array_size(actions) > 0);
        for (size_t j = 0; j < json_array_size(actions); j++) {
            const int right = find_right(json_string_value(json_array_get(actions, j)));

            assert_int_not_equal(right, AWS_RIGHTS);
            assert_int_equal(aws_rights[right].is_for_catalogue, is_for_catalogue);
            seen[right] = true;
        }
    }
    json_decref(policy);
}

TEST(the_policies_have_the_rights_that_are_asked_for_and_no_more)
{
    bool seen[AWS_RIGHTS] = { false };

    check_policy(iam_policy, false, seen);
    check_policy(iam_catalogue, true, seen);
    for (int i = 0; i < AWS_RIGHTS; i++)
        assert_true(seen[i]);
}

TEST(every_right_has_a_statement_of_json)
{
    for (int i = 0; i < AWS_RIGHTS; i++) {
        char text[4096];
        char list[4200];
        json_t *object;

        iam_statements(aws_rights[i].action, &none, text, sizeof(text));
        (void)snprintf(list, sizeof(list), "[%s]", text);
        object = json_loads(list, 0, NULL);
        assert_true(json_array_size(object) > 0);
        json_decref(object);
    }
}

TEST(words_in_capitals_are_filled_in)
{
    const struct iam_words words = { "123456789012", "lab", "lt-0abc", "notices" };
    char text[4096];

    iam_statements("sqs:ReceiveMessage", &words, text, sizeof(text));
    assert_non_null(strstr(text, "arn:aws:sqs:*:123456789012:notices"));
    iam_statements("ec2:RunInstances", &words, text, sizeof(text));
    assert_non_null(strstr(text, "launch-template/lt-0abc"));
    assert_non_null(strstr(text, "\"aws:RequestTag/stint:cluster\": \"lab\""));
    assert_null(strstr(text, "ACCOUNT"));
    assert_null(strstr(text, "CLUSTER"));
    iam_statements("ec2:Nothing", &words, text, sizeof(text));
    assert_string_equal(text, "");
}

TEST(a_place_that_is_too_small_is_not_left)
{
    const struct iam_words words = { "123456789012", "lab", "lt-0abc", "notices" };
    char whole[4096];
    char text[4096];

    iam_statements("ec2:RunInstances", &words, whole, sizeof(whole));
    for (size_t size = 1; size < 600; size++) {
        memset(text, 'x', sizeof(text));
        iam_statements("ec2:RunInstances", &words, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, whole, size - 1);
        assert_int_equal(text[size], 'x');
    }
}

TEST(a_refusal_names_the_right)
{
    assert_int_equal(
        aws_rights_named("You are not authorized to perform this operation. User: x is "
                         "not authorized to perform: ec2:CreateTags on resource: y"),
        AWS_RIGHT_TAG);
    assert_int_equal(aws_rights_named("x is not authorized to perform: ec2:DescribeInstanceTypes"),
                     AWS_RIGHT_TYPES);
    assert_int_equal(aws_rights_named("x is not authorized to perform: iam:PassRole."),
                     AWS_RIGHT_PASS_ROLE);
    assert_int_equal(aws_rights_named("x is not authorized to perform: ec2:Other"), AWS_RIGHTS);
    assert_int_equal(aws_rights_named(""), AWS_RIGHTS);
}

CHECK_MAIN(RUN(the_policies_have_the_rights_that_are_asked_for_and_no_more),
           RUN(every_right_has_a_statement_of_json), RUN(words_in_capitals_are_filled_in),
           RUN(a_place_that_is_too_small_is_not_left), RUN(a_refusal_names_the_right))
