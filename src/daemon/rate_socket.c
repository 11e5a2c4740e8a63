/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/rate_socket.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/rate_report.h"

enum {
    AT_ONCE = 64, /* reports, before others have their turn */
    USERS = 64,
    NAME_SIZE = 256,
    PASSWD_SIZE = 4096,
};

struct known_user {
    uid_t uid;
    char name[NAME_SIZE]; /* "": there is no such user */
};

struct rate_socket {
    int fd;
    char *path;
    struct known_user users[USERS];
    uint32_t user_count;
    uint32_t next; /* to be forgotten */
};

/* The user's name; "": nobody knows one. */
static const char *name_of(struct rate_socket *socket, uid_t uid)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char room[PASSWD_SIZE];

    for (uint32_t i = 0; i < socket->user_count; i++) {
        if (socket->users[i].uid == uid)
            return socket->users[i].name;
    }

    const uint32_t at =
        socket->user_count < USERS ? socket->user_count++ : socket->next++ % (uint32_t)USERS;
    struct known_user *user = &socket->users[at];

    *user = (struct known_user){ .uid = uid };
    if (getpwuid_r(uid, &entry, room, sizeof(room), &found) == 0 && found != NULL &&
        strlen(entry.pw_name) < NAME_SIZE)
        (void)snprintf(user->name, sizeof(user->name), "%s", entry.pw_name);
    return user->name;
}

static int bind_to(int fd, const char *path, struct error *reterr)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat there;
    const int on = 1;

    if (strlen(path) >= sizeof(address.sun_path))
        return error_set(reterr, -ENAMETOOLONG, "%s: the path of a socket has at most %zu bytes",
                         path, sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (lstat(path, &there) == 0 && !S_ISSOCK(there.st_mode))
        return error_set(reterr, -EEXIST, "%s: is there and is no socket", path);
    (void)unlink(path);
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0 ||
        bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) < 0 ||
        chmod(path, 0666) < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    return 0;
}

int rate_socket_open(const char *path, struct rate_socket **ret, struct error *reterr)
{
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return error_set(reterr, -errno, "socket: %s", strerror(errno));

    const int rc = bind_to(fd, path, reterr);

    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    *ret = mem_alloc(1, sizeof(**ret));
    **ret = (struct rate_socket){ .fd = fd, .path = strdup(path) };
    return 0;
}

void rate_socket_close(struct rate_socket *socket)
{
    if (socket == NULL)
        return;
    (void)close(socket->fd);
    if (socket->path != NULL)
        (void)unlink(socket->path);
    free(socket->path);
    mem_free(socket);
}

int rate_socket_fd(const struct rate_socket *socket)
{
    return socket->fd;
}

/* Who the kernel says has sent it; false: it does not say. */
static bool sender_of(struct msghdr *message, uid_t *ret)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        struct ucred credentials;

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
            continue;
        memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
        *ret = credentials.uid;
        return true;
    }
    return false;
}

/* Why it is not taken, or NULL. */
static const char *judge(struct rate_socket *socket, struct msghdr *message, size_t size,
                         const struct rate_taker *taker)
{
    uid_t uid;

    if ((message->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
        return "that is too long";
    if (!sender_of(message, &uid))
        return "the kernel does not say who you are";
    if (uid == 0)
        return taker->take(taker->context, NULL, message->msg_iov->iov_base, size);

    const char *name = name_of(socket, uid);

    return name[0] == '\0' ? "you have no name here"
                           : taker->take(taker->context, name, message->msg_iov->iov_base, size);
}

/* One report; false: there is none. */
static bool take_one(struct rate_socket *socket, const struct rate_taker *taker)
{
    union {
        char room[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    char text[RATE_REPORT_MAX + 1];
    struct sockaddr_un from = { .sun_family = AF_UNSPEC };
    struct iovec part = { .iov_base = text, .iov_len = sizeof(text) };
    struct msghdr message = { .msg_name = &from,
                              .msg_namelen = sizeof(from),
                              .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof(control) };
    const ssize_t size = recvmsg(socket->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (size < 0)
        return errno == EINTR;

    const char *why = judge(socket, &message, (size_t)size, taker);
    const char *answer = why != NULL ? why : "ok";

    if (message.msg_namelen > sizeof(sa_family_t))
        (void)sendto(socket->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)(const void *)&from, message.msg_namelen);
    return true;
}

void rate_socket_run(struct rate_socket *socket, const struct rate_taker *taker)
{
    for (int i = 0; i < AT_ONCE && take_one(socket, taker); i++)
        ;
}
