/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/test/http_double.h"

#include <unistd.h>

#include "cloud/aws/aws_credentials.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_ini.h"
#include "cloud/aws/aws_secret_read.h"

/* An environment of our own. */
static const char *environment[16][2];
static int environment_count;
static msec_t now;

static struct aws_http *http;
static struct aws_credentials *credentials;
static char got_key[256];
static char got_secret[256];
static char got_token[256];
static char got_why[512];
static int answers;
static char folder[] = "/tmp/stint-aws-XXXXXX";
static char paths[3][64];

static const char *get_env(void *context, const char *name)
{
    (void)context;
    for (int i = 0; i < environment_count; i++) {
        if (strcmp(environment[i][0], name) == 0)
            return environment[i][1];
    }
    return NULL;
}

static void set_env(const char *name, const char *value)
{
    environment[environment_count][0] = name;
    environment[environment_count++][1] = value;
}

static msec_t get_now(void *context)
{
    (void)context;
    return now;
}

static void on_keys(void *context, const struct aws_secret *secret, const char *why)
{
    (void)context;
    answers++;
    (void)snprintf(got_why, sizeof(got_why), "%s", why);
    (void)snprintf(got_key, sizeof(got_key), "%s", secret != NULL ? secret->access_key : "");
    (void)snprintf(got_secret, sizeof(got_secret), "%s", secret != NULL ? secret->secret_key : "");
    (void)snprintf(got_token, sizeof(got_token), "%.255s",
                   secret != NULL ? secret->session_token : "");
}

static void open_chain(const char *profile)
{
    http = aws_http_create(&http_loop);
    credentials = aws_credentials_create(&(struct aws_credentials_config){ .http = http,
                                                                           .loop = &http_loop,
                                                                           .profile = profile,
                                                                           .region = "us-east-1",
                                                                           .get_env = get_env,
                                                                           .get_now = get_now });
}

static void get(void)
{
    const int before = answers;

    aws_credentials_get(credentials, on_keys, NULL);
    while (answers == before)
        (void)uv_run(&http_loop, UV_RUN_ONCE);
}

static int set_up(void **state)
{
    environment_count = 0;
    answers = 0;
    now = 1700000000000;
    set_env("HOME", "/nonexistent");
    set_env("AWS_EC2_METADATA_DISABLED", "true");
    return http_set_up(state);
}

static int tear_down(void **state)
{
    aws_http_destroy(http);
    aws_credentials_destroy(credentials);
    return http_tear_down(state);
}

static const char *write_file(int number, const char *text)
{
    FILE *file;

    (void)snprintf(paths[number], sizeof(paths[number]), "%s/%d", folder, number);
    file = fopen(paths[number], "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return paths[number];
}

TEST(the_environment_goes_before_all)
{
    set_env("AWS_ACCESS_KEY_ID", "AKENV");
    set_env("AWS_SECRET_ACCESS_KEY", "envsecret");
    set_env("AWS_SESSION_TOKEN", "envtoken");
    set_env("AWS_SHARED_CREDENTIALS_FILE",
            write_file(0, "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=s\n"));
    open_chain(NULL);

    get();

    assert_string_equal(got_key, "AKENV");
    assert_string_equal(got_secret, "envsecret");
    assert_string_equal(got_token, "envtoken");
}

TEST(a_profile_is_read_from_both_files)
{
    set_env("AWS_PROFILE", "work");
    set_env("AWS_SHARED_CREDENTIALS_FILE",
            write_file(0,
                       "# keys\n[default]\naws_access_key_id = AKDEFAULT\n"
                       "aws_secret_access_key = no\n[work]\r\n"
                       "AWS_Access_Key_Id =  AKWORK  \r\naws_secret_access_key=a=b/c+d # mine\n"));
    set_env("AWS_CONFIG_FILE",
            write_file(1, "[profile work]\nregion = eu-west-1\ns3 =\n  region = nested\n"
                          "aws_session_token = fromconfig\n[work]\nregion=wrong\n"));
    open_chain(NULL);

    get();

    assert_string_equal(got_key, "AKWORK");
    assert_string_equal(got_secret, "a=b/c+d");
    assert_string_equal(got_token, "fromconfig");
    assert_string_equal(aws_credentials_profile_region(credentials), "eu-west-1");
}

TEST(a_profile_that_is_asked_for_goes_before_the_environment)
{
    set_env("AWS_ACCESS_KEY_ID", "AKENV");
    set_env("AWS_SECRET_ACCESS_KEY", "envsecret");
    set_env("AWS_SHARED_CREDENTIALS_FILE",
            write_file(0, "[other]\naws_access_key_id=AKOTHER\naws_secret_access_key=s\n"));
    open_chain("other");

    get();

    assert_string_equal(got_key, "AKOTHER");
}

/* Else the instance's role would be taken, which may be of another account. */
TEST(a_profile_that_somebody_named_must_be_there)
{
    set_env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/never-asked");
    set_env("AWS_SHARED_CREDENTIALS_FILE", write_file(0, "[stint]\naws_access_key_id=AK\n"));
    open_chain("stnit");
    get();
    assert_string_equal(got_key, "");
    assert_non_null(strstr(got_why, "there is no profile 'stnit' in "));
    assert_non_null(strstr(got_why, paths[0]));
    assert_non_null(strstr(got_why, "/nonexistent/.aws/config"));
    aws_http_destroy(http);
    aws_credentials_destroy(credentials);

    set_env("AWS_PROFILE", "other");
    open_chain(NULL);
    get();
    assert_non_null(strstr(got_why, "there is no profile 'other' in "));
}

TEST(a_file_that_somebody_named_must_be_readable)
{
    set_env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/never-asked");
    set_env("AWS_CONFIG_FILE", folder); /* root reads all files, but no folder */
    open_chain(NULL);
    get();
    assert_string_equal(got_key, "");
    assert_non_null(strstr(got_why, folder));
    assert_non_null(strstr(got_why, "is a directory"));
}

static int serve_sts(const char *request, char *body, size_t size)
{
    assert_non_null(strstr(request, "Action=AssumeRoleWithWebIdentity"));
    assert_non_null(strstr(request, "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx"));
    assert_non_null(strstr(request, "WebIdentityToken=eyJ.abc"));
    assert_null(strstr(request, "WebIdentityToken=eyJ.abc%0A"));
    assert_null(strcasestr(request, "Authorization:"));
    (void)snprintf(body, size,
                   "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>"
                   "<Credentials><AccessKeyId>AKSTS</AccessKeyId><SecretAccessKey>stssecret"
                   "</SecretAccessKey><SessionToken>ststoken</SessionToken>"
                   "<Expiration>2023-11-14T23:13:20Z</Expiration></Credentials>"
                   "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>");
    return 200;
}

TEST(a_web_identity_is_changed_for_keys_and_fetched_again_before_they_end)
{
    set_env("AWS_WEB_IDENTITY_TOKEN_FILE", write_file(2, "eyJ.abc\n"));
    set_env("AWS_ROLE_ARN", "arn:aws:iam::1:role/x");
    set_env("AWS_ENDPOINT_URL_STS", http_url);
    http_serve = serve_sts;
    open_chain(NULL);

    get();
    assert_string_equal(got_key, "AKSTS");
    assert_string_equal(got_token, "ststoken");
    get();
    assert_int_equal(http_requests, 1);

    now = 1700000000000 + 3600000 - 301000; /* five minutes and a second before the end */
    get();
    assert_int_equal(http_requests, 1);
    now += 2000;
    get(); /* the old ones serve while new ones are fetched */
    assert_string_equal(got_key, "AKSTS");
    while (http_requests < 2)
        (void)uv_run(&http_loop, UV_RUN_ONCE);
}

static int serve_container(const char *request, char *body, size_t size)
{
    if (strstr(request, "GET /creds HTTP/1.1\r\n") == NULL ||
        strstr(request, "\r\nAuthorization: Bearer x\r\n") == NULL)
        return 403;
    (void)snprintf(body, size,
                   "{\"AccessKeyId\":\"AKBOX\",\"SecretAccessKey\":\"boxsecret\","
                   "\"Token\":\"boxtoken\",\"Expiration\":\"2099-01-01T00:00:00Z\"}");
    return 200;
}

TEST(a_container_has_a_role)
{
    char url[96];

    (void)snprintf(url, sizeof(url), "%s/creds", http_url);
    set_env("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    set_env("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer x");
    http_serve = serve_container;
    open_chain(NULL);

    get();

    assert_string_equal(got_key, "AKBOX");
    assert_string_equal(got_token, "boxtoken");
}

TEST(a_far_container_is_not_asked_in_plain_text)
{
    set_env("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.org/creds");
    open_chain(NULL);

    get();

    assert_string_equal(got_key, "");
    assert_non_null(strstr(got_why, "must be https"));
}

static int serve_imds(const char *request, char *body, size_t size)
{
    body[0] = '\0';
    if (strstr(request, "PUT /latest/api/token HTTP/1.1\r\n") == request) {
        assert_non_null(strstr(request, "X-aws-ec2-metadata-token-ttl-seconds: 21600"));
        (void)snprintf(body, size, "AQAE==");
        return 200;
    }
    if (strstr(request, "X-aws-ec2-metadata-token: AQAE==") == NULL)
        return 401;
    if (strstr(request, "GET /latest/meta-data/iam/security-credentials/ HTTP") == request)
        (void)snprintf(body, size, "my-role\n");
    else if (strstr(request, "GET /latest/meta-data/iam/security-credentials/my-role HTTP") ==
             request)
        (void)snprintf(body, size,
                       "{\"Code\":\"Success\",\"AccessKeyId\":\"AKINST\",\"SecretAccessKey\":"
                       "\"instsecret\",\"Token\":\"t\",\"Expiration\":\"2023-11-14T23:13:20Z\"}");
    else
        return 404;
    return 200;
}

TEST(an_instance_has_a_role_by_the_second_version_of_its_service)
{
    environment_count = 1; /* metadata is allowed */
    set_env("AWS_EC2_METADATA_SERVICE_ENDPOINT", http_url);
    http_serve = serve_imds;
    open_chain(NULL);

    get();

    assert_string_equal(got_key, "AKINST");
    assert_string_equal(got_secret, "instsecret");
    assert_int_equal(http_requests, 3);
    aws_credentials_forget(credentials);
    get();
    assert_int_equal(http_requests, 6);
}

/* STS that gives out keys for any role, named after it: RoleArn=top gets "AKtop". What was asked is
 * written down. */
static char sts_asked[4][2048];
static int sts_count;
static int sts_status;

static int serve_roles(const char *request, char *body, size_t size)
{
    const char *role = strstr(request, "&RoleArn=");

    (void)snprintf(sts_asked[sts_count++ % 4], sizeof(sts_asked[0]), "%s", request);
    assert_non_null(strstr(request, "Action=AssumeRole&Version=2011-06-15&RoleArn="));
    if (sts_status != 200) {
        (void)snprintf(body, size,
                       "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"
                       "<Message>signed was SECRET</Message></Error></ErrorResponse>");
        return sts_status;
    }
    (void)snprintf(body, size,
                   "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
                   "<AccessKeyId>AK%.*s</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
                   "<SessionToken>T%.*s</SessionToken><Expiration>2023-11-14T23:13:20Z"
                   "</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
                   (int)strcspn(role + 9, "&"), role + 9, (int)strcspn(role + 9, "&"), role + 9);
    return 200;
}

static void open_roles(const char *config)
{
    sts_count = 0;
    sts_status = 200;
    set_env("AWS_CONFIG_FILE", write_file(1, config));
    set_env("AWS_ENDPOINT_URL_STS", http_url);
    http_serve = serve_roles;
    open_chain("top");
}

static void asked_with(int number, const char *words)
{
    if (strstr(sts_asked[number], words) == NULL)
        fail_msg("no '%s' in: %s", words, sts_asked[number]);
}

TEST(a_role_is_taken_on_with_the_keys_of_its_source_and_again_before_it_ends)
{
    set_env("AWS_SHARED_CREDENTIALS_FILE",
            write_file(0, "[base]\naws_access_key_id=AKBASE\naws_secret_access_key=basesecret\n"));
    open_roles("[profile top]\nrole_arn = r\nsource_profile = base\nexternal_id = a b\n"
               "duration_seconds = 3600\n");

    get();

    assert_string_equal(got_key, "AKr");
    assert_string_equal(got_token, "Tr");
    assert_string_equal(aws_credentials_source(credentials),
                        "the profile top, role r through the profile base");
    asked_with(0, "RoleArn=r&RoleSessionName=stint&DurationSeconds=3600&ExternalId=a%20b");
    asked_with(0, "Credential=AKBASE/");
    asked_with(0, "/us-east-1/sts/aws4_request");
    assert_null(strstr(sts_asked[0], "basesecret"));
    assert_null(strcasestr(sts_asked[0], "X-Amz-Security-Token"));

    now = 1700000000000 + 3600000 - 301000; /* five minutes and a second before the end */
    get();
    assert_int_equal(http_requests, 1);
    (void)write_file(0, "[base]\naws_access_key_id=AKNEW\naws_secret_access_key=newsecret\n");
    now += 2000;
    get();
    while (http_requests < 2)
        (void)uv_run(&http_loop, UV_RUN_ONCE);
    asked_with(1, "Credential=AKNEW/");
}

TEST(roles_are_taken_on_one_with_the_keys_of_the_other)
{
    open_roles("[profile top]\nrole_arn = r1\nsource_profile = middle\nrole_session_name = me\n"
               "[profile middle]\nrole_arn = r2\nsource_profile = base\n"
               "[profile base]\naws_access_key_id=AKBASE\naws_secret_access_key=basesecret\n");

    get();

    assert_string_equal(got_key, "AKr1");
    assert_int_equal(sts_count, 2);
    asked_with(0, "Credential=AKBASE/");
    asked_with(0, "RoleArn=r2&RoleSessionName=stint");
    asked_with(1, "Credential=AKr2/");
    asked_with(1, "Token: Tr2");
    asked_with(1, "RoleArn=r1&RoleSessionName=me");
}

TEST(a_role_may_come_through_the_environment)
{
    set_env("AWS_ACCESS_KEY_ID", "AKENV");
    set_env("AWS_SECRET_ACCESS_KEY", "envsecret");
    open_roles("[profile top]\nrole_arn = r\ncredential_source = Environment\n");

    get();

    assert_string_equal(got_key, "AKr");
    asked_with(0, "Credential=AKENV/");
}

static int serve_all(const char *request, char *body, size_t size)
{
    return strncmp(request, "POST ", 5) == 0 ? serve_roles(request, body, size)
                                             : serve_imds(request, body, size);
}

TEST(a_role_may_come_through_the_instance)
{
    environment_count = 1; /* metadata is allowed */
    set_env("AWS_EC2_METADATA_SERVICE_ENDPOINT", http_url);
    open_roles("[profile top]\nrole_arn = r\ncredential_source = Ec2InstanceMetadata\n");
    http_serve = serve_all;

    get();

    assert_string_equal(got_key, "AKr");
    asked_with(0, "Credential=AKINST/");
    asked_with(0, "Token: t\r\n");
}

TEST(a_source_that_is_not_there_is_told_and_nothing_is_asked)
{
    static const char *const sources[][2] = {
        { "credential_source = Environment",
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not" },
        { "credential_source = EcsContainer", "the environment does not say where it is" },
        { "credential_source = Ec2InstanceMetadata", "AWS_EC2_METADATA_DISABLED is true" },
        { "source_profile = none", "there is no profile 'none'" },
        { "source_profile = top", "leads back to 'top'" },
    };
    char config[128];

    open_roles("");
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        (void)snprintf(config, sizeof(config), "[profile top]\nrole_arn = r\n%s\n", sources[i][0]);
        (void)write_file(1, config);
        get();
        assert_string_equal(got_key, "");
        if (strstr(got_why, sources[i][1]) == NULL)
            fail_msg("found '%s', wanted '%s'", got_why, sources[i][1]);
    }
    assert_int_equal(http_requests, 0);
}

TEST(a_role_that_is_refused_is_named_and_old_keys_serve_while_they_last)
{
    open_roles("[profile top]\nrole_arn = r\nsource_profile = base\n"
               "[profile base]\naws_access_key_id=AKBASE\naws_secret_access_key=basesecret\n");

    get();
    sts_status = 403;
    now = 1700000000000 + 3600000 - 60000;
    get();
    assert_string_equal(got_key, "AKr");
    while (http_requests < 2)
        (void)uv_run(&http_loop, UV_RUN_ONCE);
    now += 60000;
    get();

    assert_string_equal(got_key, "");
    assert_string_equal(got_why,
                        "no AWS credentials from STS: role r: HTTP status 403, AccessDenied: the "
                        "role must trust who asks, and who asks needs sts:AssumeRole");
}

TEST(without_a_region_the_profile_s_signs_for_sts)
{
    set_env("AWS_CONFIG_FILE", write_file(1, "[profile top]\nrole_arn = r\nsource_profile = top\n"
                                             "region = eu-west-1\naws_access_key_id = AKTOP\n"
                                             "aws_secret_access_key = s\n"));
    set_env("AWS_ENDPOINT_URL_STS", http_url);
    sts_count = 0;
    sts_status = 200;
    http_serve = serve_roles;
    http = aws_http_create(&http_loop);
    credentials = aws_credentials_create(&(struct aws_credentials_config){
        .http = http, .profile = "top", .get_env = get_env, .get_now = get_now });

    get();

    assert_string_equal(got_key, "AKr");
    asked_with(0, "/eu-west-1/sts/aws4_request");
}

/* A profile with a program that prints the third file. */
static void open_process(const char *more)
{
    char config[256];

    (void)snprintf(config, sizeof(config),
                   "[profile top]\n%scredential_process = /bin/cat \"%s/2\"\n", more, folder);
    open_roles(config);
}

TEST(a_program_prints_keys_and_runs_again_before_they_end)
{
    (void)write_file(
        2, "{\"Version\": 1, \"AccessKeyId\": \"AKPROC\", \"SecretAccessKey\": \"procsecret\","
           " \"SessionToken\": \"t\", \"Expiration\": \"2023-11-15T00:13:20+01:00\"}\n");
    open_process("");

    get();
    assert_string_equal(got_key, "AKPROC");
    assert_string_equal(got_token, "t");
    assert_string_equal(aws_credentials_source(credentials),
                        "the profile top, by its credential_process");

    (void)write_file(2, "{\"Version\": 1, \"AccessKeyId\": \"AKNEW\", \"SecretAccessKey\": \"s\"}");
    now = 1700000000000 + 3600000 - 301000; /* five minutes and a second before the end */
    get();
    assert_string_equal(got_key, "AKPROC");
    now += 2000;
    get();
    for (int i = 0; i < 1000 && strcmp(got_key, "AKNEW") != 0; i++) {
        (void)uv_run(&http_loop, UV_RUN_ONCE);
        get();
    }
    assert_string_equal(got_key, "AKNEW");
    assert_string_equal(got_token, "");
}

TEST(a_role_may_come_through_a_program)
{
    char config[256];

    (void)write_file(
        2, "{\"Version\":1,\"AccessKeyId\":\"AKPROC\",\"SecretAccessKey\":\"procsecret\"}");
    (void)snprintf(config, sizeof(config),
                   "[profile top]\nrole_arn = r\nsource_profile = base\n"
                   "[profile base]\ncredential_process = /bin/cat %s/2\n",
                   folder);
    open_roles(config);

    get();

    assert_string_equal(got_key, "AKr");
    asked_with(0, "Credential=AKPROC/");
    assert_string_equal(aws_credentials_source(credentials),
                        "the profile top, role r through the profile base, by its "
                        "credential_process");
}

TEST(keys_beside_a_program_go_before_it)
{
    open_process("aws_access_key_id = AKTOP\naws_secret_access_key = s\n");

    get();

    assert_string_equal(got_key, "AKTOP");
}

TEST(what_a_program_prints_wrong_is_told_and_not_quoted)
{
#define PRINTED "\"AccessKeyId\": \"AKBAD\", \"SecretAccessKey\": \"procsecret\""
    static const char *const cases[][2] = {
        { "", "not a JSON object" },
        { "[" PRINTED, "not a JSON object" },
        { "{" PRINTED "}", "Version is not 1" },
        { "{\"Version\": 2, " PRINTED "}", "Version is not 1" },
        { "{\"Version\": \"1\", " PRINTED "}", "Version is not 1" },
        { "{\"Version\": 1, \"Version\": 1, " PRINTED "}", "not a JSON object" },
        { "{\"Version\": 1, " PRINTED "} more", "not a JSON object" },
        { "{\"Version\": 1, \"SessionToken\": 5, " PRINTED "}", "SessionToken is no text" },
        { "{\"Version\": 1, \"AccessKeyId\": \"AKBAD\"}", "no keys" },
        { "{\"Version\": 1, \"Expiration\": null, " PRINTED "}", "Expiration is no time" },
        { "{\"Version\": 1, \"Expiration\": \"soon\", " PRINTED "}", "Expiration is no time" },
        { "{\"Version\": 1, \"Expiration\": \"2099-01-01T00:00:00\", " PRINTED "}",
          "Expiration is no time" },
        { "{\"Version\": 1, \"Expiration\": \"2099-01-01T00:00:00+1\", " PRINTED "}",
          "Expiration is no time" },
        { "{\"Version\": 1, \"Expiration\": \"2023-11-14T22:13:20Z\", " PRINTED "}", "have ended" },
    };

    open_process("");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        (void)write_file(2, cases[i][0]);
        get();
        assert_string_equal(got_key, "");
        if (strstr(got_why, cases[i][1]) == NULL)
            fail_msg("found '%s', wanted '%s'", got_why, cases[i][1]);
        assert_null(strstr(got_why, "AKBAD"));
        assert_null(strstr(got_why, "procsecret"));
    }
}

TEST(without_any_keys_it_is_said_where_they_were_looked_for)
{
    open_chain(NULL);

    get();

    assert_string_equal(got_key, "");
    assert_non_null(strstr(got_why, "none in the environment, in files or in a container"));
}

TEST(an_error_never_quotes_a_key)
{
    struct aws_secret *secret = aws_secret_create();
    struct error error = { "" };
    static const char BAD[] = "{\"AccessKeyId\":\"AKX\",\"SecretAccessKey\":\"top\\nsecret\"}";

    open_chain(NULL);
    assert_true(aws_secret_read_json(BAD, strlen(BAD), secret, &error) < 0);
    assert_null(strstr(error.text, "AKX"));
    assert_null(strstr(error.text, "secret\""));
    assert_int_equal(secret->access_key[0], 0);
    aws_secret_destroy(secret);
}

static void never(void *context, const char *section, const char *name, const char *value)
{
    (void)context;
    (void)section;
    (void)name;
    (void)value;
    fail();
}

TEST(what_is_no_setting_is_passed_over)
{
    static const char TEXT[] = "x = 1\n[broken\ny = 2\n[]\nz = 3\n[a]\n# c\n; d\n  e = 5\nword\n\n";

    open_chain(NULL);
    assert_int_equal(aws_ini_read(TEXT, strlen(TEXT), never, NULL, NULL), 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        (void)unlink(paths[i]);
    return rmdir(folder);
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(the_environment_goes_before_all),
        WITH(a_profile_is_read_from_both_files),
        WITH(a_profile_that_is_asked_for_goes_before_the_environment),
        WITH(a_profile_that_somebody_named_must_be_there),
        WITH(a_file_that_somebody_named_must_be_readable),
        WITH(a_web_identity_is_changed_for_keys_and_fetched_again_before_they_end),
        WITH(a_container_has_a_role),
        WITH(a_far_container_is_not_asked_in_plain_text),
        WITH(an_instance_has_a_role_by_the_second_version_of_its_service),
        WITH(a_role_is_taken_on_with_the_keys_of_its_source_and_again_before_it_ends),
        WITH(roles_are_taken_on_one_with_the_keys_of_the_other),
        WITH(a_role_may_come_through_the_environment),
        WITH(a_role_may_come_through_the_instance),
        WITH(a_source_that_is_not_there_is_told_and_nothing_is_asked),
        WITH(a_role_that_is_refused_is_named_and_old_keys_serve_while_they_last),
        WITH(without_a_region_the_profile_s_signs_for_sts),
        WITH(a_program_prints_keys_and_runs_again_before_they_end),
        WITH(a_role_may_come_through_a_program),
        WITH(keys_beside_a_program_go_before_it),
        WITH(what_a_program_prints_wrong_is_told_and_not_quoted),
        WITH(without_any_keys_it_is_said_where_they_were_looked_for),
        WITH(an_error_never_quotes_a_key),
        WITH(what_is_no_setting_is_passed_over),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
