/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/doc_value.h"
#include "trace/input_file.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

enum { PATH_TEXT = 4096 };

static char *copy(const char *text, size_t length)
{
    char *to = mem_alloc(length + 1, 1);

    memcpy(to, text, length);
    return to;
}

static void wipe(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    mem_free(text);
}

void kube_blob_done(struct kube_blob *blob)
{
    if (blob->data != NULL)
        explicit_bzero(blob->data, blob->size);
    mem_free(blob->data);
    *blob = (struct kube_blob){ 0 };
}

static int value_of(char letter)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = letter != '\0' ? strchr(letters, letter) : NULL;

    return at != NULL ? (int)(at - letters) : -1;
}

int kube_base64(const char *text, size_t length, struct kube_blob *ret)
{
    char *to = mem_alloc(length + 1, 1);
    size_t used = 0;
    uint32_t bits = 0;
    uint32_t count = 0;
    size_t padding = 0;

    for (size_t i = 0; i < length; i++) {
        const int value = value_of(text[i]);

        if (text[i] == '=') {
            padding++;
            continue;
        }
        if (value < 0 || padding > 0) {
            mem_free(to);
            return -EINVAL;
        }
        bits = bits << 6 | (uint32_t)value;
        if (++count % 4 != 1)
            to[used++] = (char)(bits >> (8 - count % 4 * 2) % 8 & 0xff);
    }
    if (count % 4 == 1 || (count + padding) % 4 != 0 || padding > 2) {
        mem_free(to);
        return -EINVAL;
    }
    *ret = (struct kube_blob){ .data = to, .size = used };
    return 0;
}

static int read_blob(const char *path, struct kube_blob *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    const int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    *ret = (struct kube_blob){ .data = copy(file.text, file.length), .size = file.length };
    explicit_bzero(file.text, file.length);
    input_file_done(&file);
    return 0;
}

/* The entry of a list of {name, KEY: {...}} that has the name; NULL: there is none. */
static const struct doc_node *entry_of(const struct doc_node *root, const char *list,
                                       const char *name, const char *key)
{
    const struct doc_node *entries = doc_find(root, list);

    if (entries == NULL || entries->kind != DOC_LIST)
        return NULL;
    DOC_EACH(entry, entries)
    {
        const struct doc_node *named = entry->kind == DOC_MAP ? doc_find(entry, "name") : NULL;

        if (named != NULL && named->kind == DOC_SCALAR && strcmp(named->text, name) == 0) {
            const struct doc_node *found = doc_find(entry, key);

            return found != NULL && found->kind == DOC_MAP ? found : NULL;
        }
    }
    return NULL;
}

/* The text of a member, or NULL. */
static const char *text_of(const struct doc_node *map, const char *key)
{
    const struct doc_node *node = doc_find(map, key);

    return node != NULL && node->kind == DOC_SCALAR && !doc_is_null(node) && node->text_length > 0
               ? node->text
               : NULL;
}

/* A path beside that of the kubeconfig, unless it is absolute. */
static void beside(const char *path, const char *name, char *ret)
{
    const char *slash = strrchr(path, '/');

    if (name[0] == '/' || slash == NULL)
        (void)snprintf(ret, PATH_TEXT, "%s", name);
    else
        (void)snprintf(ret, PATH_TEXT, "%.*s/%s", (int)(slash - path), path, name);
}

/* 'key' names a file, and "KEY-data" has the same in the text, which counts more. */
static int take_blob(const struct doc_node *map, const char *key, const char *path,
                     struct kube_blob *ret, struct error *reterr)
{
    char data_key[64];
    char file[PATH_TEXT];

    (void)snprintf(data_key, sizeof(data_key), "%s-data", key);

    const char *data = text_of(map, data_key);
    const char *name = text_of(map, key);

    if (data != NULL)
        return kube_base64(data, strlen(data), ret) == 0
                   ? 0
                   : error_set(reterr, -EINVAL, "'%s' is no base64", data_key);
    if (name == NULL)
        return 0;
    beside(path, name, file);
    return read_blob(file, ret, reterr);
}

static int take_cluster(const struct doc_node *map, const char *path, struct kube_config *config,
                        struct error *reterr)
{
    const char *server = text_of(map, "server");
    const char *name = text_of(map, "tls-server-name");
    const char *insecure = text_of(map, "insecure-skip-tls-verify");

    if (server == NULL || strncmp(server, "https://", 8) != 0)
        return error_set(reterr, -EINVAL, "'server' of the cluster must begin with https://");
    config->server = copy(server, strcspn(server, "?#"));
    while (strlen(config->server) > 8 && config->server[strlen(config->server) - 1] == '/')
        config->server[strlen(config->server) - 1] = '\0';
    if (name != NULL)
        config->server_name = copy(name, strlen(name));
    config->is_insecure = insecure != NULL && strcmp(insecure, "true") == 0;
    return take_blob(map, "certificate-authority", path, &config->ca, reterr);
}

static int take_words(const struct doc_node *exec, struct kube_config *config, struct error *reterr)
{
    const struct doc_node *arguments = doc_find(exec, "args");
    const struct doc_node *variables = doc_find(exec, "env");
    uint32_t count = 1;

    if (arguments != NULL && arguments->kind == DOC_LIST) {
        DOC_EACH(word, arguments)
        {
            if (word->kind != DOC_SCALAR || count == KUBE_WORDS)
                return error_set(reterr, -EINVAL,
                                 "'args' of the exec plugin are no words, or too many");
            config->exec[count++] = copy(word->text, word->text_length);
        }
    }
    count = 0;
    if (variables == NULL || variables->kind != DOC_LIST)
        return 0;
    DOC_EACH(variable, variables)
    {
        const char *name = variable->kind == DOC_MAP ? text_of(variable, "name") : NULL;
        const char *value = name != NULL ? text_of(variable, "value") : NULL;
        char text[PATH_TEXT];

        if (name == NULL || count == KUBE_WORDS)
            return error_set(reterr, -EINVAL, "'env' of the exec plugin has no names, or too many");
        (void)snprintf(text, sizeof(text), "%s=%s", name, value != NULL ? value : "");
        config->exec_env[count++] = copy(text, strlen(text));
    }
    return 0;
}

/* A program with a slash in its name is looked for beside the kubeconfig, as kubectl does. */
static int take_exec(const struct doc_node *exec, const char *path, struct kube_config *config,
                     struct error *reterr)
{
    const char *command = text_of(exec, "command");
    char program[PATH_TEXT];

    if (command == NULL)
        return error_set(reterr, -EINVAL, "the exec plugin has no 'command'");
    if (strchr(command, '/') != NULL)
        beside(path, command, program);
    else
        (void)snprintf(program, sizeof(program), "%s", command);
    config->exec[0] = copy(program, strlen(program));
    return take_words(exec, config, reterr);
}

static int take_user(const struct doc_node *map, const char *path, struct kube_config *config,
                     struct error *reterr)
{
    const struct doc_node *exec = doc_find(map, "exec");
    const char *token = text_of(map, "token");
    const char *token_path = text_of(map, "tokenFile");
    int rc;

    if (doc_find(map, "auth-provider") != NULL || doc_find(map, "username") != NULL)
        return error_set(
            reterr, -ENOTSUP,
            "the user has an auth-provider or a password; use a token, a certificate or an exec "
            "plugin");
    if (token != NULL)
        config->token =
            (struct kube_blob){ .data = copy(token, strlen(token)), .size = strlen(token) };
    if (token_path != NULL) {
        char file[PATH_TEXT];

        beside(path, token_path, file);
        config->token_path = copy(file, strlen(file));
    }
    rc = take_blob(map, "client-certificate", path, &config->certificate, reterr);
    if (rc == 0)
        rc = take_blob(map, "client-key", path, &config->key, reterr);
    if (rc == 0 && exec != NULL && exec->kind == DOC_MAP)
        rc = take_exec(exec, path, config, reterr);
    return rc;
}

static int take_context(const struct doc_node *root, const char *path, const char *name,
                        struct kube_config *config, struct error *reterr)
{
    const struct doc_node *context = entry_of(root, "contexts", name, "context");
    const char *cluster_name = context != NULL ? text_of(context, "cluster") : NULL;
    const char *user_name = context != NULL ? text_of(context, "user") : NULL;
    const struct doc_node *cluster =
        cluster_name != NULL ? entry_of(root, "clusters", cluster_name, "cluster") : NULL;
    const struct doc_node *user =
        user_name != NULL ? entry_of(root, "users", user_name, "user") : NULL;
    int rc;

    if (context == NULL)
        return error_set(reterr, -ENOENT, "there is no context '%.100s'", name);
    if (cluster == NULL)
        return error_set(reterr, -ENOENT, "the context '%.100s' names no cluster that is there",
                         name);
    rc = take_cluster(cluster, path, config, reterr);
    if (rc == 0 && user != NULL)
        rc = take_user(user, path, config, reterr);
    return rc;
}

int kube_config_read(const char *text, size_t length, const char *path, const char *context,
                     struct kube_config *ret, struct error *reterr)
{
    const struct doc_node *root = NULL;
    struct arena arena;
    int rc;

    *ret = (struct kube_config){ 0 };
    arena_init(&arena);
    rc = doc_parse(text, length, &arena, &root, reterr);
    if (rc == 0 && root->kind != DOC_MAP)
        rc = error_set(reterr, -EINVAL, "it is no kubeconfig");
    if (rc == 0 && context == NULL)
        context = text_of(root, "current-context");
    if (rc == 0 && context == NULL)
        rc = error_set(reterr, -EINVAL, "it has no current-context; name one with --context");
    if (rc == 0)
        rc = take_context(root, path, context, ret, reterr);
    arena_done(&arena);
    if (rc < 0)
        kube_config_done(ret);
    return rc;
}

int kube_config_in_cluster(struct kube_config *ret, struct error *reterr)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    char server[PATH_TEXT];

    *ret = (struct kube_config){ 0 };
    if (host == NULL || port == NULL)
        return error_set(
            reterr, -ENOENT,
            "there is no kubeconfig, and this is outside of a cluster; give --kubeconfig");
    if (strchr(host, ':') != NULL)
        (void)snprintf(server, sizeof(server), "https://[%s]:%s", host, port);
    else
        (void)snprintf(server, sizeof(server), "https://%s:%s", host, port);
    ret->server = copy(server, strlen(server));
    ret->token_path = copy(ACCOUNT "token", strlen(ACCOUNT "token"));

    const int rc = read_blob(ACCOUNT "ca.crt", &ret->ca, reterr);

    if (rc < 0)
        kube_config_done(ret);
    return rc;
}

void kube_config_done(struct kube_config *config)
{
    mem_free(config->server);
    mem_free(config->server_name);
    mem_free(config->token_path);
    kube_blob_done(&config->ca);
    kube_blob_done(&config->certificate);
    kube_blob_done(&config->key);
    kube_blob_done(&config->token);
    for (uint32_t i = 0; i < KUBE_WORDS; i++) {
        wipe(config->exec[i]);
        wipe(config->exec_env[i]);
    }
    *config = (struct kube_config){ 0 };
}
