/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

void kube_credential_done(struct kube_credential *credential)
{
    kube_blob_done(&credential->token);
    kube_blob_done(&credential->certificate);
    kube_blob_done(&credential->key);
}

static void take(const json_t *status, const char *key, struct kube_blob *ret)
{
    const json_t *value = json_object_get(status, key);

    if (!json_is_string(value) || json_string_length(value) == 0)
        return;
    ret->size = json_string_length(value);
    ret->data = mem_alloc(ret->size + 1, 1);
    memcpy(ret->data, json_string_value(value), ret->size);
}

int kube_credential_read(const char *text, size_t length, struct kube_credential *ret,
                         struct error *reterr)
{
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *status = json_object_get(root, "status");

    *ret = (struct kube_credential){ 0 };
    take(status, "token", &ret->token);
    take(status, "clientCertificateData", &ret->certificate);
    take(status, "clientKeyData", &ret->key);
    json_decref(root);
    if (ret->token.data == NULL && (ret->certificate.data == NULL || ret->key.data == NULL)) {
        kube_credential_done(ret);
        return error_set(reterr, -EBADMSG,
                         "the exec plugin printed no ExecCredential with a token or a certificate");
    }
    return 0;
}

/* Our environment, with that of the plugin before it: the first of a name counts. */
static char **environment(const struct kube_config *config)
{
    uint32_t count = 0;
    uint32_t own = 0;
    uint32_t used = 0;

    while (environ[count] != NULL)
        count++;
    while (config->exec_env[own] != NULL)
        own++;

    char **all = mem_alloc((size_t)count + own + 1, sizeof(*all));

    for (uint32_t i = 0; i < own; i++)
        all[used++] = config->exec_env[i];
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "STINT_", 6) != 0)
            all[used++] = environ[i];
    }
    return all;
}

static int start(const struct kube_config *config, int out, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    char **env = environment(config);
    int rc;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    rc = posix_spawnp(ret, config->exec[0], &actions, NULL, config->exec, env);
    (void)posix_spawn_file_actions_destroy(&actions);
    mem_free(env);
    return -rc;
}

/* All that it prints, up to the bound; what is beyond it makes 'ret' too large. */
static size_t read_all(int from, char *text, size_t size)
{
    size_t used = 0;

    while (used < size) {
        const ssize_t more = read(from, text + used, size - used);

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        used += (size_t)more;
    }
    return used;
}

static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int kube_exec(const struct kube_config *config, struct kube_credential *ret, struct error *reterr)
{
    char *text;
    size_t length;
    pid_t child;
    int ends[2];
    int rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(reterr, -errno, "no pipe for the exec plugin: %s", strerror(errno));
    rc = start(config, ends[1], &child);
    (void)close(ends[1]);
    if (rc < 0) {
        (void)close(ends[0]);
        return error_set(reterr, rc, "the exec plugin %.200s cannot be started: %s",
                         config->exec[0], strerror(-rc));
    }
    text = mem_alloc(KUBE_EXEC_OUTPUT + 1, 1);
    length = read_all(ends[0], text, KUBE_EXEC_OUTPUT + 1);
    (void)close(ends[0]);
    rc = wait_for(child);
    if (rc != 0 || length > KUBE_EXEC_OUTPUT)
        rc = error_set(reterr, -EIO, "the exec plugin %.200s failed or printed too much",
                       config->exec[0]);
    else
        rc = kube_credential_read(text, length, ret, reterr);
    explicit_bzero(text, KUBE_EXEC_OUTPUT + 1);
    mem_free(text);
    return rc;
}
