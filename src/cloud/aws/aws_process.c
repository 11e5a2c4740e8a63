/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_process.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

struct aws_process {
    struct aws_process_config config;
    uv_process_t child;
    uv_pipe_t output;
    uv_timer_t timer;
    uint32_t open; /* handles; the last one to close frees all */
    bool has_ended;
    bool is_output_read;
    bool is_done;
    int64_t status;
    int signal;
    size_t size;
    char text[AWS_PROCESS_OUTPUT_MAX + 1]; /* one byte more than is allowed */
};

/* ---- words ---- */

/* Take the quotes out of the word at 'from', end it with a zero, and return where the next may begin. */
static char *end_word(char *from)
{
    char *to = from;
    bool is_quoted = false;

    while (*from != '\0' && (is_quoted || (*from != ' ' && *from != '\t'))) {
        if (*from == '"')
            is_quoted = !is_quoted;
        else
            *to++ = *from;
        from++;
    }
    if (*from != '\0')
        from++;
    *to = '\0';
    return from;
}

int aws_process_split(char *command, char *ret_words[AWS_PROCESS_WORDS_MAX + 1],
                      struct error *reterr)
{
    uint32_t count = 0;
    uint32_t quotes = 0;

    for (const char *at = command; *at != '\0'; at++)
        quotes += *at == '"' ? 1 : 0;
    if (quotes % 2 != 0 || strpbrk(command, "\\'") != NULL)
        return error_set(reterr, -EINVAL,
                         "credential_process may have words and pairs of double quotes, no "
                         "backslash and no single quote");
    while (*(command += strspn(command, " \t")) != '\0') {
        if (count == AWS_PROCESS_WORDS_MAX)
            return error_set(reterr, -E2BIG, "credential_process has more than %d words",
                             AWS_PROCESS_WORDS_MAX);
        ret_words[count++] = command;
        command = end_word(command);
    }
    ret_words[count] = NULL;
    return count > 0 && ret_words[0][0] != '\0'
               ? 0
               : error_set(reterr, -EINVAL, "credential_process names no program");
}

/* ---- the end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct aws_process *process = handle->data;

    process->open--;
    if (process->open > 0)
        return;
    explicit_bzero(process->text, sizeof(process->text));
    mem_free(process);
}

/* The child's handle stays until it has ended: libuv fetches its status, or it would stay a zombie. */
static void finish(struct aws_process *process)
{
    process->is_done = true;
    if (process->has_ended)
        uv_close((uv_handle_t *)&process->child, on_closed);
    else
        (void)uv_kill(-process->child.pid, SIGKILL);
    uv_close((uv_handle_t *)&process->output, on_closed);
    uv_close((uv_handle_t *)&process->timer, on_closed);
}

static void tell(struct aws_process *process, const char *why)
{
    finish(process);
    process->config.on_done(process->config.context, why == NULL ? process->text : NULL,
                            why == NULL ? process->size : 0, why);
    explicit_bzero(process->text, sizeof(process->text));
}

static void tell_if_whole(struct aws_process *process)
{
    char why[64];

    if (!process->has_ended || !process->is_output_read)
        return;
    if (process->status == 0 && process->signal == 0) {
        tell(process, NULL);
        return;
    }
    if (process->signal != 0)
        (void)snprintf(why, sizeof(why), "it was ended by signal %d", process->signal);
    else
        (void)snprintf(why, sizeof(why), "it ended with status %d", (int)process->status);
    tell(process, why);
}

static void on_end(uv_process_t *child, int64_t status, int signal)
{
    struct aws_process *process = child->data;

    process->has_ended = true;
    process->status = status;
    process->signal = signal;
    if (process->is_done)
        uv_close((uv_handle_t *)child, on_closed);
    else
        tell_if_whole(process);
}

static void on_late(uv_timer_t *timer)
{
    tell(timer->data, "it takes too long (30 s)");
}

/* ---- what it prints ---- */

static void on_room(uv_handle_t *handle, size_t wish, uv_buf_t *ret)
{
    struct aws_process *process = handle->data;

    (void)wish;
    *ret = uv_buf_init(process->text + process->size,
                       (unsigned)(sizeof(process->text) - process->size));
}

static void on_output(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct aws_process *process = stream->data;

    (void)buffer;
    if (size < 0) {
        process->is_output_read = true;
        (void)uv_read_stop(stream);
        tell_if_whole(process);
        return;
    }
    process->size += (size_t)size;
    if (process->size > AWS_PROCESS_OUTPUT_MAX)
        tell(process, "it prints too much (16384 bytes)");
}

/* The program prints keys of its own: those that we were given are not its business, nor is the service
 * manager's socket. All else it may need: where its files are, a proxy, the name of a profile. */
static bool is_for_child(const char *variable)
{
    static const char *const withheld[] = {
        "AWS_ACCESS_KEY_ID=",
        "AWS_SECRET_ACCESS_KEY=",
        "AWS_SESSION_TOKEN=",
        "AWS_SECURITY_TOKEN=",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN=",
        "NOTIFY_SOCKET=",
        "WATCHDOG_",
        "LISTEN_",
        "STINT_",
    };

    for (size_t i = 0; i < sizeof(withheld) / sizeof(*withheld); i++) {
        if (strncmp(variable, withheld[i], strlen(withheld[i])) == 0)
            return false;
    }
    return true;
}

static char **child_env(void)
{
    size_t count = 0;
    size_t used = 0;

    while (environ[count] != NULL)
        count++;

    char **env = mem_alloc(count + 1, sizeof(*env));

    for (size_t i = 0; i < count; i++) {
        if (is_for_child(environ[i]))
            env[used++] = environ[i];
    }
    return env;
}

static int spawn(struct aws_process *process, char **words)
{
    char **env = child_env();
    uv_stdio_container_t stdio[] = {
        { .flags = UV_IGNORE },
        { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
          .data.stream = (uv_stream_t *)&process->output },
        { .flags = UV_IGNORE },
    };
    const uv_process_options_t options = {
        .exit_cb = on_end,
        .file = words[0],
        .args = words,
        .env = env,
        .flags = UV_PROCESS_DETACHED, /* a group of its own, to be killed as a whole */
        .stdio = stdio,
        .stdio_count = 3,
    };

    const int rc = uv_spawn(process->config.loop, &process->child, &options);

    mem_free(env);
    return rc;
}

int aws_process_start(const struct aws_process_config *config, struct aws_process **ret,
                      struct error *reterr)
{
    char *words[AWS_PROCESS_WORDS_MAX + 1];
    const size_t length = strlen(config->command);
    char *copy = mem_alloc(length + 1, 1);

    memcpy(copy, config->command, length + 1);

    int rc = aws_process_split(copy, words, reterr);

    if (rc == 0) {
        struct aws_process *process = mem_alloc(1, sizeof(*process));

        process->config = *config;
        process->open = 3;
        process->child.data = process;
        process->output.data = process;
        process->timer.data = process;
        (void)uv_pipe_init(config->loop, &process->output, 0);
        (void)uv_timer_init(config->loop, &process->timer);
        rc = spawn(process, words);
        if (rc < 0) {
            rc = error_set(reterr, rc, "it cannot be started: %s", uv_strerror(rc));
            process->has_ended = true; /* libuv wants even a failed one closed */
            finish(process);
        } else {
            (void)uv_timer_start(&process->timer, on_late,
                                 config->timeout_ms > 0 ? config->timeout_ms : AWS_PROCESS_MS, 0);
            (void)uv_read_start((uv_stream_t *)&process->output, on_room, on_output);
            *ret = process;
        }
    }
    mem_free(copy);
    return rc;
}

void aws_process_drop(struct aws_process *process)
{
    if (process != NULL && !process->is_done)
        finish(process);
}
