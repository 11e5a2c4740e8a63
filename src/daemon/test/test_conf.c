/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/test/check.h"
#include "cloud/aws/aws_settings.h"
#include "cloud/local/local_adapter.h"
#include "daemon/conf.h"
#include "engine/slurm/slurm_settings.h"

/* What every configuration needs, on lines 1 to 5. */
#define NEEDED                   \
    "cluster: lab\n"             \
    "catalogue: machines.yaml\n" \
    "policy: stratus\n"          \
    "engine: { kind: slurm }\n"  \
    "cloud: { kind: local }\n"

static struct conf parse(const char *text)
{
    struct conf conf = { 0 };
    struct error error = { "" };

    if (conf_parse("/etc/stint/stint.conf", text, strlen(text), &conf, &error) < 0)
        fail_msg("%s", error.text);
    return conf;
}

/* The configuration is refused with this text. */
static void refuse(const char *text, const char *expected)
{
    struct conf conf = { 0 };
    struct error error = { "" };

    assert_true(conf_parse("/etc/stint/stint.conf", text, strlen(text), &conf, &error) < 0);
    if (strstr(error.text, expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, error.text);
    assert_null(conf.cluster);
}

TEST(a_short_configuration_has_the_documented_defaults)
{
    struct conf conf = parse(NEEDED);
    const struct slurm_settings *engine = conf.engine.settings;
    const struct local_settings *cloud = conf.cloud.settings;

    assert_string_equal(conf.cluster, "lab");
    assert_string_equal(conf.catalogue, "/etc/stint/machines.yaml");
    assert_string_equal(conf.policy->name, "stratus");
    assert_int_equal(conf.mode, CONF_SHADOW);
    assert_string_equal(conf.node_prefix, "st-");
    assert_string_equal(conf.state, "/var/lib/stint/stint.db");
    assert_int_equal(conf.default_estimate_ms, 3600000);
    assert_true(conf.learn);
    assert_int_equal(conf.max_instances, 0);
    assert_int_equal(conf.max_price_per_hour, 0);
    assert_int_equal(conf.timing.decide_delay_ms, 100);
    assert_int_equal(conf.timing.audit_ms, 60000);
    assert_int_equal(conf.timing.boot_timeout_ms, 300000);
    assert_int_equal(conf.timing.refused_ms, 120000);
    assert_int_equal(conf.timing.place_retry_ms, 5000);
    assert_int_equal(conf.timing.start_timeout_ms, 180000);
    assert_int_equal(engine->tmp_mib, 0);
    assert_int_equal(conf.timing.queue_ahead_ms, 60000);
    assert_int_equal(conf.timing.queue_ahead_most, 512);
    assert_int_equal(conf.replace_percent, 10);
    assert_int_equal(conf.replace_after_ms, MSEC_PER_HOUR);
    assert_string_equal(engine->program, "stint-slurm");
    assert_int_equal(engine->poll_ms, 500);
    assert_null(engine->partition);
    assert_null(engine->stop_signal);
    assert_string_equal(cloud->socket, "/run/stint/cloud.sock");
    assert_string_equal(conf.http.socket, "/run/stint/stintd.sock");
    assert_int_equal(conf.http.socket_mode, 0660);
    assert_null(conf.http.listen);
    assert_int_equal(conf.log_level, CONF_LOG_INFO);
    conf_done(&conf);
}

TEST(every_key_reaches_its_place)
{
    struct conf conf = parse(
        "cluster: lab\n"
        "mode: act\n"
        "node_prefix: n\n"
        "state: here.db\n"
        "catalogue: /c.yaml\n"
        "policy: { name: no-wait }\n"
        "estimates: { default: 2h, learn: false }\n"
        "limits: { instances: 7, dollars_per_hour: 1.5 }\n"
        "replace_outdated: { percent: 25, after: 10m }\n"
        "timing: { decide_delay: 20ms, audit: 5s, boot_timeout: 1m,\n"
        "  refused: 3s, place_retry: 4s, start_timeout: 2m, queue_ahead: 0, queue_ahead_most: 9 }\n"
        "engine: { kind: slurm, program: /bin/x, poll: 100ms, partition: p, tmp_gib: 100, gang_zones: any,\n"
        "  only_partitions: [a, b], ignore_partitions: [c], ignore_users: [d],\n"
        "  stop: { signal: USR2, grace: 3s } }\n"
        "cloud: { kind: local, socket: c.sock }\n"
        "http: { socket: /s, socket_mode: 600, listen: 127.0.0.1:1,\n"
        "  tls_certificate: t, tls_key: k, token_file: f, read_token_file: r }\n"
        "log: { level: debug }\n");
    const struct slurm_settings *engine = conf.engine.settings;
    const struct local_settings *cloud = conf.cloud.settings;

    assert_int_equal(conf.mode, CONF_ACT);
    assert_string_equal(conf.node_prefix, "n");
    assert_string_equal(conf.state, "/etc/stint/here.db");
    assert_string_equal(conf.catalogue, "/c.yaml");
    assert_string_equal(conf.policy->name, "no-wait");
    assert_int_equal(conf.default_estimate_ms, 7200000);
    assert_false(conf.learn);
    assert_int_equal(conf.max_instances, 7);
    assert_int_equal(conf.max_price_per_hour, 1500000);
    assert_int_equal(conf.timing.decide_delay_ms, 20);
    assert_int_equal(conf.replace_percent, 25);
    assert_int_equal(conf.replace_after_ms, 600000);
    assert_int_equal(conf.timing.audit_ms, 5000);
    assert_int_equal(conf.timing.boot_timeout_ms, 60000);
    assert_int_equal(conf.timing.refused_ms, 3000);
    assert_int_equal(conf.timing.place_retry_ms, 4000);
    assert_int_equal(conf.timing.start_timeout_ms, 120000);
    assert_int_equal(engine->tmp_mib, 102400);
    assert_int_equal(conf.timing.queue_ahead_ms, 0);
    assert_int_equal(conf.timing.queue_ahead_most, 9);
    assert_string_equal(engine->program, "/bin/x");
    assert_int_equal(engine->poll_ms, 100);
    assert_string_equal(engine->partition, "p");
    assert_int_equal(engine->only_partitions.count, 2);
    assert_string_equal(engine->only_partitions.word[1], "b");
    assert_string_equal(engine->ignore_partitions.word[0], "c");
    assert_string_equal(engine->ignore_users.word[0], "d");
    assert_string_equal(engine->stop_signal, "USR2");
    assert_int_equal(engine->stop_grace_ms, 3000);
    assert_string_equal(cloud->socket, "/etc/stint/c.sock");
    assert_string_equal(conf.http.socket, "/s");
    assert_int_equal(conf.http.socket_mode, 0600);
    assert_string_equal(conf.http.listen, "127.0.0.1:1");
    assert_string_equal(conf.http.tls_certificate, "/etc/stint/t");
    assert_string_equal(conf.http.tls_key, "/etc/stint/k");
    assert_string_equal(conf.http.token_file, "/etc/stint/f");
    assert_string_equal(conf.http.read_token_file, "/etc/stint/r");
    assert_int_equal(conf.log_level, CONF_LOG_DEBUG);
    conf_done(&conf);
}

TEST(what_is_missing_is_named)
{
    refuse("cluster: lab\n", "'catalogue'");
    refuse("catalogue: c\npolicy: stratus\nengine: { kind: slurm }\ncloud: { kind: local }\n",
           "'cluster'");
    refuse("cluster: lab\ncatalogue: c\npolicy: stratus\nengine: { }\ncloud: { kind: local }\n",
           "'kind'");
    refuse("", "");
}

TEST(what_is_wrong_is_named_with_its_line_and_what_would_be_right)
{
    refuse(NEEDED "mood: act\n", "line 6: ");
    refuse(NEEDED "mode: acts\n", "line 6: 'mode' must be one of shadow, advise, act, not 'acts'");
    refuse(NEEDED "node_prefix: St_\n", "line 6: 'node_prefix' must be 1 to 24 of a-z, 0-9");
    refuse(NEEDED "node_prefix: 4\n", "a letter first");
    refuse(NEEDED "timing: { audit: 10ms }\n", "line 6: 'audit' must be");
    refuse(NEEDED "timing: { decide: 1s }\n", "'decide'");
    refuse(NEEDED "limits: { instances: -1 }\n", "'instances' must be");
    refuse(NEEDED "limits: { dollars_per_hour: cheap }\n", "'dollars_per_hour'");
    refuse(NEEDED "limits: { dollars_per_day: -1 }\n", "'dollars_per_day'");
    refuse(NEEDED "limits: { warn_at: 101 }\n", "'warn_at'");
    refuse(NEEDED "replace_outdated: { percent: 101 }\n", "'percent'");
    refuse(NEEDED "replace_outdated: { after: soon }\n", "'after'");
    refuse(NEEDED "replace_outdated: { share: 5 }\n", "'share'");
    refuse(NEEDED "estimates: { default: 0 }\n", "'default'");
    refuse(NEEDED "state: ''\n", "line 6: 'state' must name a file");
    refuse(NEEDED "http: { socket_mode: 0990 }\n", "three or four octal digits");
    refuse(NEEDED "http: { socket_mode: 7777 }\n", "at most 0777");
    refuse(NEEDED "http: { listen: '127.0.0.1:1', tls_key: k }\n", "go together");
    refuse(NEEDED "http: { token_file: t }\n", "for 'listen'");
    refuse(NEEDED "http: { read_token_file: t }\n", "for 'listen'");
    refuse(NEEDED "log: { level: loud }\n", "error, warning, info, debug");
    refuse("cluster: lab\ncatalogue: c\npolicy: thrift\nengine: { kind: slurm }\n"
           "cloud: { kind: local }\n",
           "line 3: there is no policy 'thrift'; there are: ");
    refuse("cluster: lab\ncatalogue: c\npolicy: { name: stratus, hope: 1 }\n"
           "engine: { kind: slurm }\ncloud: { kind: local }\n",
           "'hope'");
    refuse("cluster: lab\ncatalogue: c\npolicy: stratus\nengine: { kind: pbs }\n"
           "cloud: { kind: local }\n",
           "line 4: 'kind' must be one of slurm, kubernetes, not 'pbs'");
    refuse("cluster: lab\ncatalogue: c\npolicy: stratus\n"
           "engine: { kind: slurm, only_partitions: ['a,b'] }\ncloud: { kind: local }\n",
           "line 4: entry 1 of 'only_partitions' must be one name");
    refuse("cluster: lab\ncatalogue: c\npolicy: stratus\n"
           "engine: { kind: slurm, stop: { signal: KILL } }\ncloud: { kind: local }\n",
           "'signal' must be one of USR1");
}

TEST(a_socket_whose_path_the_kernel_would_cut_is_refused)
{
    char text[512];

    (void)snprintf(text, sizeof(text), NEEDED "http: { socket: /%0120d }\n", 0);
    refuse(text, "at most 107 bytes, not 121");
}

TEST(what_may_change_under_way_is_no_difference)
{
    struct conf old = parse(NEEDED "mode: act\n");
    struct conf new = parse(NEEDED "mode: advise\nlimits: { instances: 3 }\n"
                                   "timing: { audit: 7s }\nlog: { level: debug }\n");

    assert_null(conf_fixed_difference(&old, &new));
    conf_done(&old);
    conf_done(&new);
}

TEST(what_may_not_change_under_way_is_named)
{
    static const struct {
        const char *text;
        const char *key;
    } cases[] = {
        { NEEDED "mode: shadow\n", "mode" },
        { NEEDED "mode: act\nstate: other.db\n", "state" },
        { NEEDED "mode: act\nnode_prefix: x\n", "node_prefix" },
        { NEEDED "mode: act\nestimates: { learn: false }\n", "estimates" },
        { NEEDED "mode: act\nestimates: { accounting: sacct.txt }\n", "estimates" },
        { NEEDED "mode: act\nhttp: { socket: /elsewhere }\n", "http" },
    };
    struct conf old = parse(NEEDED "mode: act\n");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct conf new = parse(cases[i].text);

        assert_string_equal(conf_fixed_difference(&old, &new), cases[i].key);
        conf_done(&new);
    }
    conf_done(&old);
}

TEST(a_cloud_may_be_ec2)
{
    static const char text[] = "cluster: lab\n"
                               "catalogue: machines.yaml\n"
                               "policy: stratus\n"
                               "engine: { kind: slurm }\n"
                               "cloud: { kind: aws, region: us-east-1, launch_template: lt-1, "
                               "subnets: { us-east-1a: subnet-1 }, timing: { look: 3s } }\n";
    struct conf conf = parse(text);
    struct conf other = parse(NEEDED);
    const struct aws_settings *cloud = conf.cloud.settings;

    assert_string_equal(conf.cloud.kind->name, "aws");
    assert_string_equal(cloud->region, "us-east-1");
    assert_string_equal(cloud->launch_template, "lt-1");
    assert_int_equal(cloud->subnet_count, 1);
    assert_string_equal(cloud->subnets[0].subnet, "subnet-1");
    assert_int_equal(cloud->timing.look, 3000);
    assert_string_equal(other.cloud.kind->name, "local");
    assert_string_equal(conf_fixed_difference(&conf, &other), "cloud");
    assert_null(conf_fixed_difference(&conf, &conf));
    conf_done(&conf);
    conf_done(&other);
}

#define NEEDED_AWS               \
    "catalogue: machines.yaml\n" \
    "policy: stratus\n"          \
    "engine: { kind: slurm }\n"

TEST(how_machines_are_launched_may_not_change_under_way)
{
    static const char *const others[] = {
        "cluster: lab\n" NEEDED_AWS "cloud: { kind: aws, together: 3 }\n",
        "cluster: lab\n" NEEDED_AWS "cloud: { kind: aws, spot_price_cap: 90 }\n",
        "cluster: lab\n" NEEDED_AWS "cloud: { kind: aws, idle_shutdown: 1h }\n",
    };
    struct conf old = parse("cluster: lab\n" NEEDED_AWS "cloud: { kind: aws }\n");

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct conf new = parse(others[i]);

        assert_string_equal(conf_fixed_difference(&old, &new), "cloud");
        conf_done(&new);
    }
    conf_done(&old);
}

TEST(what_ec2_would_refuse_at_the_start_is_refused)
{
    char text[16384];

    refuse("cluster: lab\n" NEEDED_AWS "cloud: { kind: aws, region: r }\nmode: act\n",
           "line 5: kind aws needs 'launch_template' or 'image' in mode act");
    refuse("cluster: lab\n" NEEDED_AWS "cloud: { kind: aws, region: r }\nmode: advise\n",
           "in mode advise");
    refuse("cluster: a12345678901234567890123456789012\n" NEEDED_AWS
           "cloud: { kind: aws, image: ami-1 }\n",
           "line 1: with kind aws 'cluster' has at most 32 characters, not 33");
    (void)snprintf(
        text, sizeof(text),
        "cluster: lab\n" NEEDED_AWS "cloud: { kind: aws, image: ami-1, user_data: %08193d }\n", 0);
    refuse(text, "line 5: 'user_data' has at most 8192 bytes, not 8193");
}

TEST(an_address_that_stintd_would_not_listen_on_is_refused)
{
    refuse(NEEDED "http: { listen: nonsense }\n",
           "line 6: 'listen': nonsense: write an address and a port");
    refuse(NEEDED "http: { listen: 'example.com:9178' }\n", "not an address in numbers");
    refuse(NEEDED "http: { listen: '0.0.0.0:9178' }\n",
           "line 6: 'listen': 0.0.0.0:9178: an address that others can reach needs");
    refuse(NEEDED "http: { listen: '0.0.0.0:9178', token_file: t }\n", "others can reach");
    refuse(NEEDED "http: { listen: '[::]:9178', tls_certificate: c, tls_key: k }\n",
           "others can reach");

    struct conf conf =
        parse(NEEDED "http: { listen: '[::]:1', tls_certificate: c, tls_key: k, token_file: t }\n");

    conf_done(&conf);
}

TEST(a_file_that_is_not_there_is_named)
{
    struct conf conf = { 0 };
    struct error error = { "" };

    assert_true(conf_load("/nonexistent/stint.conf", &conf, &error) < 0);
    assert_non_null(strstr(error.text, "/nonexistent/stint.conf"));
}

TEST(accounts_users_partitions_and_qos_may_have_limits_of_their_own)
{
    struct conf conf =
        parse(NEEDED "limits:\n  for:\n"
                     "    - { account: physics, instances: 4, dollars_per_day: 2.5 }\n"
                     "    - { user: '*', partition: gpu, dollars_per_hour: 1 }\n");
    struct conf other = parse(NEEDED "limits:\n  for:\n"
                                     "    - { account: physics, instances: 9 }\n"
                                     "    - { user: '*', partition: gpu, dollars_per_month: 1 }\n");

    assert_int_equal(conf.caps.count, 2);
    assert_string_equal(conf.caps.row[0].owner[OWNER_ACCOUNT], "physics");
    assert_null(conf.caps.row[0].owner[OWNER_USER]);
    assert_int_equal(conf.caps.row[0].max_instances, 4);
    assert_int_equal(conf.caps.row[0].max_per_day, 2500000);
    assert_string_equal(conf.caps.row[1].owner[OWNER_USER], "*");
    assert_string_equal(conf.caps.row[1].owner[OWNER_PARTITION], "gpu");
    assert_int_equal(conf.caps.row[1].max_price_per_hour, 1000000);
    assert_null(conf_fixed_difference(&conf, &other)); /* amounts may change */
    conf_done(&other);
    other = parse(NEEDED "limits: { for: [ { account: physics, instances: 4 } ] }\n");
    assert_string_equal(conf_fixed_difference(&conf, &other), "limits.for");
    conf_done(&other);
    conf_done(&conf);
    refuse(NEEDED "limits: { for: [ { instances: 4 } ] }\n",
           "line 6: an entry of 'for' names whom");
    refuse(NEEDED "limits: { for: [ { user: ann } ] }\n", "at least one limit above 0");
    refuse(NEEDED "limits: { for: [ { user: ann, instances: 0 } ] }\n", "'instances' must be");
    refuse(NEEDED "limits: { for: [ { users: ann, instances: 1 } ] }\n", "'users'");
    refuse(NEEDED "limits: { for: { user: ann, instances: 1 } }\n", "'for'");
}

CHECK_MAIN(RUN(a_short_configuration_has_the_documented_defaults), RUN(every_key_reaches_its_place),
           RUN(what_is_missing_is_named),
           RUN(what_is_wrong_is_named_with_its_line_and_what_would_be_right),
           RUN(a_socket_whose_path_the_kernel_would_cut_is_refused),
           RUN(what_may_change_under_way_is_no_difference),
           RUN(what_may_not_change_under_way_is_named), RUN(a_cloud_may_be_ec2),
           RUN(how_machines_are_launched_may_not_change_under_way),
           RUN(what_ec2_would_refuse_at_the_start_is_refused),
           RUN(an_address_that_stintd_would_not_listen_on_is_refused),
           RUN(a_file_that_is_not_there_is_named),
           RUN(accounts_users_partitions_and_qos_may_have_limits_of_their_own))
