/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "engine/kubernetes/kube_config.h"
#include "engine/kubernetes/kube_exec.h"

static const char plain[] =
    "apiVersion: v1\n"
    "kind: Config\n"
    "current-context: here\n"
    "contexts:\n"
    "- name: there\n"
    "  context: { cluster: two, user: nobody }\n"
    "- name: here\n"
    "  context: { cluster: one, user: me, namespace: x }\n"
    "clusters:\n"
    "- name: one\n"
    "  cluster: { server: 'https://10.0.0.1:6443/', certificate-authority-data: Y2E= }\n"
    "- name: two\n"
    "  cluster: { server: 'https://two.example', insecure-skip-tls-verify: true }\n"
    "users:\n"
    "- name: me\n"
    "  user: { token: secret, client-certificate-data: Y2VydA==, client-key-data: a2V5 }\n";

TEST(the_current_context_says_where_and_who)
{
    struct kube_config config;
    struct error error = { "" };

    assert_int_equal(kube_config_read(plain, sizeof(plain) - 1, "config", NULL, &config, &error),
                     0);
    assert_string_equal(config.server, "https://10.0.0.1:6443");
    assert_string_equal(config.ca.data, "ca");
    assert_string_equal(config.certificate.data, "cert");
    assert_string_equal(config.key.data, "key");
    assert_string_equal(config.token.data, "secret");
    assert_false(config.is_insecure);
    kube_config_done(&config);
}

TEST(another_context_may_be_asked_for)
{
    struct kube_config config;
    struct error error = { "" };

    assert_int_equal(kube_config_read(plain, sizeof(plain) - 1, "config", "there", &config, &error),
                     0);
    assert_string_equal(config.server, "https://two.example");
    assert_true(config.is_insecure);
    assert_null(config.token.data);
    kube_config_done(&config);
    assert_int_equal(
        kube_config_read(plain, sizeof(plain) - 1, "config", "nowhere", &config, &error), -ENOENT);
    assert_non_null(strstr(error.text, "nowhere"));
}

TEST(files_are_looked_for_beside_the_kubeconfig)
{
    static const char text[] = "current-context: c\n"
                               "contexts: [ { name: c, context: { cluster: k, user: u } } ]\n"
                               "clusters: [ { name: k, cluster: { server: 'https://h', "
                               "certificate-authority: ca.crt } } ]\n"
                               "users: [ { name: u, user: { tokenFile: token } } ]\n";
    char folder[] = "/tmp/kube-config-XXXXXX";
    struct kube_config config;
    struct error error = { "" };
    char path[128];
    char ca[128];
    FILE *file;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/config", folder);
    (void)snprintf(ca, sizeof(ca), "%s/ca.crt", folder);
    assert_int_equal(kube_config_read(text, sizeof(text) - 1, path, NULL, &config, &error),
                     -ENOENT);
    file = fopen(ca, "we");
    assert_non_null(file);
    (void)fputs("trusted", file);
    (void)fclose(file);
    assert_int_equal(kube_config_read(text, sizeof(text) - 1, path, NULL, &config, &error), 0);
    assert_string_equal(config.ca.data, "trusted");
    assert_non_null(strstr(config.token_path, folder));
    kube_config_done(&config);
    (void)unlink(ca);
    (void)rmdir(folder);
}

TEST(what_is_not_supported_is_refused_and_no_secret_is_told)
{
    static const char *const users[] = { "{ username: a, password: hunter2 }",
                                         "{ auth-provider: { name: gcp } }",
                                         "{ client-key-data: 'hunter2!' }",
                                         "{ exec: { args: [ hunter2 ] } }" };

    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
        struct kube_config config;
        struct error error = { "" };
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "current-context: c\n"
                       "contexts: [ { name: c, context: { cluster: k, user: u } } ]\n"
                       "clusters: [ { name: k, cluster: { server: 'https://h' } } ]\n"
                       "users: [ { name: u, user: %s } ]\n",
                       users[i]);
        assert_true(kube_config_read(text, strlen(text), "c", NULL, &config, &error) < 0);
        assert_true(strlen(error.text) > 0);
        assert_null(strstr(error.text, "hunter2"));
    }
}

TEST(a_server_without_tls_is_refused)
{
    static const char text[] = "current-context: c\n"
                               "contexts: [ { name: c, context: { cluster: k } } ]\n"
                               "clusters: [ { name: k, cluster: { server: 'http://h' } } ]\n";
    struct kube_config config;
    struct error error = { "" };

    assert_int_equal(kube_config_read(text, sizeof(text) - 1, "c", NULL, &config, &error), -EINVAL);
}

TEST(base64_comes_back_as_it_was)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct rng rng;

    rng_init(&rng, 3, 0);
    for (uint32_t size = 0; size < 200; size++) {
        unsigned char bytes[200];
        char text[280];
        struct kube_blob blob;
        size_t used = 0;

        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)rng_next(&rng);
        for (uint32_t i = 0; i < size; i += 3) {
            const uint32_t left = size - i;
            const uint32_t bits = (uint32_t)bytes[i] << 16 |
                                  (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                                  (left > 2 ? bytes[i + 2] : 0U);

            text[used++] = letters[bits >> 18];
            text[used++] = letters[bits >> 12 & 63];
            text[used++] = left > 1 ? letters[bits >> 6 & 63] : '=';
            text[used++] = left > 2 ? letters[bits & 63] : '=';
        }
        assert_int_equal(kube_base64(text, used, &blob), 0);
        assert_int_equal(blob.size, size);
        assert_memory_equal(blob.data, bytes, size);
        kube_blob_done(&blob);
    }
    for (size_t i = 0; i < 5; i++) {
        const char *bad[] = { "A", "AA", "AAA=A", "A===", "A*AA" };
        struct kube_blob blob;

        assert_int_equal(kube_base64(bad[i], strlen(bad[i]), &blob), -EINVAL);
    }
}

TEST(a_plugin_is_run_with_its_arguments_and_environment)
{
    static char shell[] = "/bin/sh";
    static char flag[] = "-c";
    static char prints[] =
        "printf '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s-%s\"}}' \"$1\" \"$WHO\"";
    static char name[] = "plugin";
    static char word[] = "word";
    static char who[] = "WHO=me";
    static char fails[] = "exit 3";
    static char says_nothing[] = "echo '{}'";
    static char nowhere[] = "/nowhere/plugin";
    struct kube_config config = { .exec = { shell, flag, prints, name, word },
                                  .exec_env = { who } };
    struct kube_credential credential;
    struct error error = { "" };

    assert_int_equal(kube_exec(&config, &credential, &error), 0);
    assert_string_equal(credential.token.data, "word-me");
    kube_credential_done(&credential);
    config.exec[2] = fails;
    assert_int_equal(kube_exec(&config, &credential, &error), -EIO);
    config.exec[2] = says_nothing;
    assert_int_equal(kube_exec(&config, &credential, &error), -EBADMSG);
    config.exec[0] = nowhere;
    assert_int_equal(kube_exec(&config, &credential, &error), -ENOENT);
}

CHECK_MAIN(RUN(the_current_context_says_where_and_who), RUN(another_context_may_be_asked_for),
           RUN(files_are_looked_for_beside_the_kubeconfig),
           RUN(what_is_not_supported_is_refused_and_no_secret_is_told),
           RUN(a_server_without_tls_is_refused), RUN(base64_comes_back_as_it_was),
           RUN(a_plugin_is_run_with_its_arguments_and_environment))
