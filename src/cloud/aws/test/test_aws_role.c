/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <stdio.h>
#include <string.h>

#include "cloud/aws/aws_role.h"

static struct aws_secret *keys;
static struct aws_role_plan plan;
static struct error error;

/* 'context' is the text of a config file. */
static void read_profile(void *context, const char *name, struct aws_profile *ret,
                         struct aws_secret *ret_keys)
{
    char section[300];

    *ret = (struct aws_profile){ 0 };
    aws_secret_wipe(ret_keys);
    (void)snprintf(section, sizeof(section), "profile %s", name);
    aws_profile_add(context, strlen(context), section, ret, ret_keys);
}

static int make(const char *text)
{
    const union {
        const char *text;
        void *context;
    } file = { text };

    error.text[0] = '\0';
    return aws_role_plan("a", NULL, read_profile, file.context, &plan, keys, &error);
}

/* The settings are refused, with these words and without any key. */
static void refused(const char *text, const char *words)
{
    assert_true(make(text) < 0);
    if (strstr(error.text, words) == NULL)
        fail_msg("found '%s', wanted '%s'", error.text, words);
    assert_null(strstr(error.text, "SECRET"));
    assert_int_equal(keys->access_key[0], 0);
    assert_int_equal(keys->secret_key[0], 0);
}

#define KEYS "aws_access_key_id = AKX\naws_secret_access_key = SECRET\n"

TEST(keys_need_no_role)
{
    assert_int_equal(make("[profile a]\n" KEYS), 0);
    assert_int_equal(plan.base, AWS_ROLE_BASE_PROFILE);
    assert_int_equal(plan.count, 0);
    assert_string_equal(plan.source, "the profile a");
    assert_string_equal(keys->access_key, "AKX");
}

TEST(a_profile_without_anything_leaves_it_to_the_machine)
{
    assert_int_equal(make("[profile a]\nregion = eu-west-1\n"), 0);
    assert_int_equal(plan.base, AWS_ROLE_BASE_MACHINE);
    assert_int_equal(make(""), 0);
    assert_int_equal(plan.base, AWS_ROLE_BASE_MACHINE);
}

TEST(a_role_comes_with_all_that_is_said_of_it)
{
    assert_int_equal(make("[profile a]\nrole_arn = R\nsource_profile = b\nexternal_id = x y\n"
                          "role_session_name = me\nduration_seconds = 900\n[profile b]\n" KEYS),
                     0);
    assert_int_equal(plan.base, AWS_ROLE_BASE_PROFILE);
    assert_int_equal(plan.count, 1);
    assert_string_equal(plan.steps[0].role, "R");
    assert_string_equal(plan.steps[0].session, "me");
    assert_string_equal(plan.steps[0].external_id, "x y");
    assert_int_equal(plan.steps[0].seconds, 900);
    assert_string_equal(keys->access_key, "AKX");
    assert_string_equal(plan.source, "the profile a, role R through the profile b");
}

TEST(roles_lead_to_roles_at_most_four)
{
    static const char FOUR[] = "[profile a]\nrole_arn = R1\nsource_profile = b\n"
                               "[profile b]\nrole_arn = R2\nsource_profile = c\n"
                               "[profile c]\nrole_arn = R3\nsource_profile = d\n"
                               "[profile d]\nrole_arn = R4\nsource_profile = e\n";
    char text[1024];

    (void)snprintf(text, sizeof(text), "%s[profile e]\n" KEYS, FOUR);
    assert_int_equal(make(text), 0);
    assert_int_equal(plan.count, 4);
    assert_string_equal(plan.steps[3].role, "R4");
    assert_string_equal(plan.source,
                        "the profile a, role R1 through the profile b, role R2 through the profile "
                        "c, role R3 through the profile d, role R4 through the profile e");

    (void)snprintf(text, sizeof(text),
                   "%s[profile e]\nrole_arn = R5\nsource_profile = f\n[profile f]\n" KEYS, FOUR);
    refused(text, "more than 4 roles");
}

TEST(keys_of_a_source_go_before_its_role_and_a_role_before_the_keys_beside_it)
{
    assert_int_equal(make("[profile a]\nrole_arn = R1\nsource_profile = b\n[profile b]\n"
                          "role_arn = R2\nsource_profile = c\n" KEYS),
                     0);
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.base, AWS_ROLE_BASE_PROFILE);

    assert_int_equal(make("[profile a]\nrole_arn = R1\nsource_profile = a\n" KEYS), 0);
    assert_int_equal(plan.count, 1);
    assert_string_equal(keys->access_key, "AKX");
}

TEST(a_circle_is_refused)
{
    refused("[profile a]\nrole_arn = R1\nsource_profile = a\n",
            "source_profile of the profile 'a' leads back to 'a'");
    refused("[profile a]\nrole_arn = R1\nsource_profile = b\n" KEYS
            "[profile b]\nrole_arn = R2\nsource_profile = a\n",
            "source_profile of the profile 'b' leads back to 'a'");
    refused("[profile a]\nrole_arn = R1\nsource_profile = b\n[profile b]\nrole_arn = R2\n"
            "source_profile = c\n[profile c]\nrole_arn = R3\nsource_profile = b\n",
            "source_profile of the profile 'c' leads back to 'b'");
}

TEST(a_source_that_has_nothing_is_refused)
{
    refused("[profile a]\nrole_arn = R\nsource_profile = b\n" KEYS,
            "there is no profile 'b', which 'a' has as source_profile");
    refused("[profile a]\nrole_arn = R\nsource_profile = b\n[profile b]\nregion = x\n",
            "has no keys, role or credential_process");
    refused("[profile a]\nrole_arn = R\n" KEYS, "either source_profile or credential_source");
    refused("[profile a]\nrole_arn = R\nsource_profile = b\ncredential_source = Environment\n",
            "either source_profile or credential_source");
}

TEST(a_credential_source_is_one_of_three)
{
    static const struct {
        const char *name;
        enum aws_role_base base;
        const char *words;
    } cases[] = {
        { "Environment", AWS_ROLE_BASE_ENVIRONMENT, "the environment" },
        { "EcsContainer", AWS_ROLE_BASE_CONTAINER, "the container's role" },
        { "Ec2InstanceMetadata", AWS_ROLE_BASE_INSTANCE, "the instance's role" },
    };
    char text[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)snprintf(text, sizeof(text),
                       "[profile a]\nrole_arn = R\ncredential_source = %s\n" KEYS, cases[i].name);
        assert_int_equal(make(text), 0);
        assert_int_equal(plan.base, cases[i].base);
        assert_int_equal(keys->access_key[0], 0);
        (void)snprintf(text, sizeof(text), "the profile a, role R through %s", cases[i].words);
        assert_string_equal(plan.source, text);
    }
    refused("[profile a]\nrole_arn = R\ncredential_source = Elsewhere\n", "is none of Environment");
}

TEST(a_source_may_have_a_web_identity)
{
    assert_int_equal(make("[profile a]\nrole_arn = R1\nsource_profile = b\n[profile b]\n"
                          "role_arn = R2\nweb_identity_token_file = /t\n"),
                     0);
    assert_int_equal(plan.base, AWS_ROLE_BASE_WEB_IDENTITY);
    assert_int_equal(plan.count, 2);
    assert_string_equal(plan.token_file, "/t");
}

TEST(what_nobody_can_type_and_what_sts_would_not_take_is_refused)
{
    static const char *const durations[] = { "899", "43201", "1h", "-900", "4294968196" };
    char text[2400];

    refused("[profile a]\nrole_arn = R\nsource_profile = b\nmfa_serial = m\n[profile b]\n" KEYS,
            "use a role without it");
    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
        (void)snprintf(
            text, sizeof(text),
            "[profile a]\nrole_arn = R\nsource_profile = a\nduration_seconds = %s\n" KEYS,
            durations[i]);
        refused(text, "is not 900 to 43200");
    }
    (void)snprintf(text, sizeof(text), "[profile a]\n" KEYS "role_arn = %02100d\n", 0);
    refused(text, "role_arn of the profile 'a' is too long");
}

static int set_up(void **state)
{
    (void)state;
    keys = aws_secret_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    aws_secret_destroy(keys);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_need_no_role),
        cmocka_unit_test(a_profile_without_anything_leaves_it_to_the_machine),
        cmocka_unit_test(a_role_comes_with_all_that_is_said_of_it),
        cmocka_unit_test(roles_lead_to_roles_at_most_four),
        cmocka_unit_test(keys_of_a_source_go_before_its_role_and_a_role_before_the_keys_beside_it),
        cmocka_unit_test(a_circle_is_refused),
        cmocka_unit_test(a_source_that_has_nothing_is_refused),
        cmocka_unit_test(a_credential_source_is_one_of_three),
        cmocka_unit_test(a_source_may_have_a_web_identity),
        cmocka_unit_test(what_nobody_can_type_and_what_sts_would_not_take_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
