/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/notify_post.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { CONNECT_SECONDS = 5, WHOLE_SECONDS = 15, PAUSE_MS = 1000 };

/* Whether nobody on the way could read the address. */
static bool is_private(const char *url)
{
    static const char *const hosts[] = { "http://127.0.0.1", "http://[::1]", "http://localhost" };

    if (strncmp(url, "https://", 8) == 0)
        return true;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        const size_t length = strlen(hosts[i]);

        if (strncmp(url, hosts[i], length) == 0 && strchr(":/", url[length]) != NULL)
            return true; /* strchr finds the end, too */
    }
    return false;
}

static bool is_one_word(const char *text)
{
    for (; *text != 0; text++) {
        if (!isgraph((unsigned char)*text))
            return false;
    }
    return true;
}

int notify_hook_read(const char *path, struct notify_hook *ret, struct error *reterr)
{
    FILE *in = fopen(path, "re");
    struct stat file;

    *ret = (struct notify_hook){ .pause_ms = PAUSE_MS };
    if (in == NULL)
        return error_set(reterr, -errno, "the webhook file %s cannot be read: %s", path,
                         strerror(errno));
    if (fstat(fileno(in), &file) != 0 || (file.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        (void)fclose(in);
        return error_set(reterr, -EACCES,
                         "others may read the webhook file %s, and whoever knows the address may "
                         "post: chmod 600 it",
                         path);
    }

    const bool any = fgets(ret->url, sizeof(ret->url), in) != NULL;

    (void)fclose(in);
    ret->url[strcspn(ret->url, "\r\n")] = 0;
    if (!any || ret->url[0] == 0 || !is_one_word(ret->url) ||
        strlen(ret->url) + 1 == sizeof(ret->url))
        return error_set(reterr, -EINVAL, "the webhook file %s has no address in its first line",
                         path);
    if (!is_private(ret->url))
        return error_set(reterr, -EINVAL,
                         "the address in %s is neither https:// nor one of this machine: others "
                         "could read along",
                         path);
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): curl says what it is */
static size_t ignore(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

/* One try. The HTTP status, 0 if there was none. */
static long post_once(const struct notify_hook *hook, const char *json, CURLcode *ret_code)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    long status = 0;

    *ret_code = CURLE_FAILED_INIT;
    if (curl != NULL) {
        (void)curl_easy_setopt(curl, CURLOPT_URL, hook->url);
        (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
        (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)WHOLE_SECONDS);
        (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
        (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json);
        *ret_code = curl_easy_perform(curl);
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return *ret_code == CURLE_OK ? status : 0;
}

static void wait_ms(msec_t ms)
{
    (void)nanosleep(
        &(struct timespec){ .tv_sec = ms / MSEC_PER_SEC, .tv_nsec = ms % MSEC_PER_SEC * 1000000 },
        NULL);
}

int notify_post(const struct notify_hook *hook, const char *json, struct error *reterr)
{
    msec_t pause = hook->pause_ms;
    CURLcode code = CURLE_OK;
    long status = 0;

    for (int i = 0; i < NOTIFY_TRIES; i++) {
        if (i > 0) {
            wait_ms(pause);
            pause *= 2;
        }
        status = post_once(hook, json, &code);
        if (status >= 200 && status < 300)
            return 0;
        if (status >= 400 && status < 500 && status != 408 && status != 429)
            return error_set(reterr, -EACCES,
                             "the webhook refuses the message (HTTP status %ld): is its address "
                             "still valid, and --format what it expects?",
                             status);
    }
    if (status == 0)
        return error_set(reterr, -EIO, "the webhook cannot be reached: %s",
                         curl_easy_strerror(code));
    return error_set(reterr, -EIO, "the webhook answers with HTTP status %ld", status);
}
