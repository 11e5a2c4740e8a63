/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http_guard.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { FILE_MAX = 1 << 20 };

const struct http_header http_guard_headers[] = {
    { "Cache-Control", "no-store" },
    { "X-Content-Type-Options", "nosniff" },
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { NULL, NULL },
};

static bool is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 six;

        memcpy(&six, address, sizeof(six));
        return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    }

    struct sockaddr_in four;

    memcpy(&four, address, sizeof(four));
    return address->ss_family == AF_INET && (ntohl(four.sin_addr.s_addr) >> 24) == 127;
}

int http_guard_address(const char *text, struct http_address *ret, struct error *reterr)
{
    /* No name service decides who may come in. */
    const struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    const char *colon = strrchr(text, ':');
    struct addrinfo *found = NULL;
    char host[128];

    if (colon == NULL || (size_t)(colon - text) >= sizeof(host) || colon[1] == '\0')
        return error_set(reterr, -EINVAL, "%s: write an address and a port, 127.0.0.1:9178", text);
    snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);

    const size_t length = strlen(host);
    const bool bracketed = length > 1 && host[0] == '[' && host[length - 1] == ']';

    if (bracketed)
        host[length - 1] = '\0';
    if (getaddrinfo(bracketed ? host + 1 : host, colon + 1, &hints, &found) != 0)
        return error_set(reterr, -EINVAL, "%s: not an address in numbers and a port", text);
    *ret = (struct http_address){ .length = found->ai_addrlen };
    memcpy(&ret->socket, found->ai_addr, found->ai_addrlen);
    ret->is_near = is_loopback(&ret->socket);
    freeaddrinfo(found);
    return 0;
}

int http_guard_reach(const char *text, const struct http_address *address, bool has_tls,
                     bool has_token, struct error *reterr)
{
    if (address->is_near || (has_tls && has_token))
        return 0;
    return error_set(reterr, -EACCES,
                     "%s: an address that others can reach needs tls_certificate, tls_key and "
                     "token_file",
                     text);
}

int http_guard_file(const char *path, bool secret, char **ret, struct error *reterr)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat stat = { .st_mode = 0 };

    if (file < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    if (fstat(file, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_size > FILE_MAX) {
        close(file);
        return error_set(reterr, -EINVAL, "%s: not a file of at most 1 MiB", path);
    }
    if (secret && (stat.st_mode & 07) != 0) {
        close(file);
        return error_set(reterr, -EPERM, "%s: every user may read it; chmod o= first", path);
    }

    char *text = mem_alloc((size_t)stat.st_size + 1, 1);
    const ssize_t size = read(file, text, (size_t)stat.st_size);

    close(file);
    if (size != stat.st_size) {
        mem_free(text);
        return error_set(reterr, -EIO, "%s: cannot be read", path);
    }
    *ret = text;
    return 0;
}

int http_guard_token(const char *path, char *ret, struct error *reterr)
{
    char *text = NULL;
    int error = http_guard_file(path, true, &text, reterr);

    if (error < 0)
        return error;

    assert(text != NULL);

    const size_t length = strcspn(text, "\r\n");

    if (length < HTTP_TOKEN_MIN || length > HTTP_TOKEN_MAX || strspn(text, " \t") > 0)
        error =
            error_set(reterr, -EINVAL, "%s: the first line must be a token of %d to %d characters",
                      path, HTTP_TOKEN_MIN, HTTP_TOKEN_MAX);
    else
        snprintf(ret, HTTP_TOKEN_MAX + 1, "%.*s", (int)length, text);
    explicit_bzero(text, strlen(text));
    mem_free(text);
    return error;
}
