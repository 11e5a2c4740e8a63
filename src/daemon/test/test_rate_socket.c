/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real socket: what is sent there, and what comes back.
 */
#include "daemon/rate_socket.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test/check.h"
#include "daemon/rate_report.h"

/* A socket in a folder of its own, somebody who writes to it, and what was heard. */
struct scene {
    char folder[64];
    char path[96];
    struct rate_socket *socket;
    int sender;
    const char *refusal;
    char user[64]; /* "-": the superuser */
    char text[RATE_REPORT_MAX + 1];
    unsigned heard;
};

static const char *take(void *context, const char *user, const char *text, size_t size)
{
    struct scene *scene = context;

    (void)snprintf(scene->user, sizeof(scene->user), "%s", user != NULL ? user : "-");
    (void)snprintf(scene->text, sizeof(scene->text), "%.*s", (int)size, text);
    scene->heard++;
    return scene->refusal;
}

static void scene_init(struct scene *scene)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const struct sockaddr_un any = { .sun_family = AF_UNIX };
    struct error error = { "" };

    *scene = (struct scene){ .folder = "/tmp/stint-rates-XXXXXX" };
    assert_non_null(mkdtemp(scene->folder));
    (void)snprintf(scene->path, sizeof(scene->path), "%s/rate.sock", scene->folder);
    assert_int_equal(rate_socket_open(scene->path, &scene->socket, &error), 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", scene->path);
    scene->sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(
        bind(scene->sender, (const struct sockaddr *)(const void *)&any, sizeof(any.sun_family)),
        0);
    assert_int_equal(
        connect(scene->sender, (const struct sockaddr *)(const void *)&address, sizeof(address)),
        0);
}

static void scene_done(struct scene *scene)
{
    (void)close(scene->sender);
    rate_socket_close(scene->socket);
    assert_int_equal(access(scene->path, F_OK), -1);
    assert_int_equal(rmdir(scene->folder), 0);
}

static void check_answer(const struct scene *scene, const char *expected)
{
    char answer[256];
    const ssize_t size = recv(scene->sender, answer, sizeof(answer) - 1, 0);

    assert_true(size >= 0);
    answer[size] = '\0';
    assert_string_equal(answer, expected);
}

static void say(struct scene *scene, const char *text)
{
    assert_int_equal(send(scene->sender, text, strlen(text), 0), (ssize_t)strlen(text));
    rate_socket_run(scene->socket, &(struct rate_taker){ .take = take, .context = scene });
}

TEST(a_report_comes_with_the_name_of_who_sent_it_and_is_answered)
{
    const struct passwd *me = getpwuid(getuid());
    struct scene scene;

    scene_init(&scene);
    say(&scene, "12 0.5");
    assert_string_equal(scene.text, "12 0.5");
    assert_string_equal(scene.user, getuid() == 0 ? "-" : me != NULL ? me->pw_name : "");
    check_answer(&scene, "ok");
    scene.refusal = "you have no such job";
    say(&scene, "13 0.5");
    check_answer(&scene, "you have no such job");
    scene_done(&scene);
}

/* To say who one is not, one must be the superuser. */
TEST(the_name_is_that_of_the_user_the_kernel_tells)
{
    struct scene scene;
    const struct passwd *nobody = getpwnam("nobody");

    if (getuid() != 0 || nobody == NULL)
        skip();

    int status = 0;

    scene_init(&scene);
    assert_int_equal(chmod(scene.folder, 0755), 0);

    const pid_t child = fork();

    if (child == 0) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

        (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", scene.path);
        if (setuid(nobody->pw_uid) != 0)
            _exit(1);
        _exit(sendto(fd, "7 1", 3, 0, (const struct sockaddr *)(const void *)&address,
                     sizeof(address)) == 3
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rate_socket_run(scene.socket, &(struct rate_taker){ .take = take, .context = &scene });
    assert_int_equal(scene.heard, 1);
    assert_string_equal(scene.user, "nobody");
    scene_done(&scene);
}

TEST(what_is_too_long_is_refused)
{
    char text[RATE_REPORT_MAX + 8];
    struct scene scene;

    scene_init(&scene);
    memset(text, '1', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    say(&scene, text);
    assert_int_equal(scene.heard, 0);
    check_answer(&scene, "that is too long");
    scene_done(&scene);
}

TEST(a_file_that_is_no_socket_is_left_alone)
{
    char path[] = "/tmp/stint-rates-XXXXXX";
    struct rate_socket *socket = NULL;
    struct error error = { "" };
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_true(rate_socket_open(path, &socket, &error) < 0);
    assert_non_null(strstr(error.text, "is no socket"));
    assert_int_equal(access(path, F_OK), 0);
    (void)close(fd);
    (void)unlink(path);
}

CHECK_MAIN(RUN(a_report_comes_with_the_name_of_who_sent_it_and_is_answered),
           RUN(the_name_is_that_of_the_user_the_kernel_tells), RUN(what_is_too_long_is_refused),
           RUN(a_file_that_is_no_socket_is_left_alone))
