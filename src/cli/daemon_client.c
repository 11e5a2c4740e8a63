/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/daemon_client.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    CONNECT_SECONDS = 5,
    WHOLE_SECONDS = 30,
    URL_SIZE = 4096,
    TOKEN_SIZE = 4096,
};

static const size_t answer_max = (size_t)64 << 20;

enum key { KEY_SOCKET = 0x1000, KEY_URL, KEY_TOKEN_FILE, KEY_CA_FILE, KEY_SORT };

#define DAEMON_OPTIONS                                                                          \
    { "socket",                                                                                 \
      KEY_SOCKET,                                                                               \
      "FILE",                                                                                   \
      0,                                                                                        \
      "The daemon's Unix socket (default: $STINT_SOCKET, else " DAEMON_SOCKET ")",              \
      1 },                                                                                      \
        { "url", KEY_URL, "URL", 0, "Ask over the network, for example https://host:9178", 1 }, \
        { "token-file", KEY_TOKEN_FILE, "FILE", 0, "With --url: file with your token", 1 },     \
    {                                                                                           \
        "ca-file", KEY_CA_FILE, "FILE", 0,                                                      \
            "With --url: trusted certificates (default: the system's)", 1                       \
    }

static const struct argp_option argp_options[] = {
    DAEMON_OPTIONS,
    { "output", 'o', "FORMAT", 0, "table (default), wide, json, yaml or csv", 1 },
    { "sort", KEY_SORT, "COLUMN", 0,
      "Sort the rows by this column of the CSV (-COLUMN: largest first)", 1 },
    { 0 },
};

static const struct argp_option rowless_options[] = {
    DAEMON_OPTIONS,
    { "output", 'o', "FORMAT", 0, "table (default), json or yaml", 1 },
    { "sort", KEY_SORT, "COLUMN", OPTION_HIDDEN, NULL, 1 }, /* refused with a reason */
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct daemon_options *options = state->input;
    struct error error;

    switch (key) {
    case KEY_SOCKET:
        options->socket = arg;
        return 0;
    case KEY_URL:
        options->url = arg;
        return 0;
    case KEY_TOKEN_FILE:
        options->token_file = arg;
        return 0;
    case KEY_CA_FILE:
        options->ca_file = arg;
        return 0;
    case KEY_SORT:
        if (options->no_csv)
            argp_error(state, "this answer has no rows to sort");
        options->sort = arg;
        return 0;
    case 'o':
        if (output_format_parse(arg, &options->format, &error) != 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARGS:
        argp_error(state, "'%s' is one argument too many: there are only options",
                   state->argv[state->next]);
        return 0;
    case ARGP_KEY_END:
        if (options->format == OUTPUT_CSV && options->no_csv)
            argp_error(state, "this answer has no rows for a CSV. Use -o json");
        if (options->url == NULL && (options->token_file != NULL || options->ca_file != NULL))
            argp_error(state, "--token-file and --ca-file go with --url");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp daemon_argp = { .options = argp_options, .parser = parse };
const struct argp daemon_rowless_argp = { .options = rowless_options, .parser = parse };

static const char *socket_of(const struct daemon_options *options)
{
    if (options->socket != NULL)
        return options->socket;

    const char *named = getenv("STINT_SOCKET");

    return named != NULL && named[0] != 0 ? named : DAEMON_SOCKET;
}

const char *daemon_place(const struct daemon_options *options)
{
    return options->url != NULL ? options->url : socket_of(options);
}

/* An answer as it comes in. */
struct answer {
    char *text;
    size_t size;
    size_t room;
};

static size_t take(char *data, size_t size, size_t count, void *context)
{
    struct answer *answer = context;
    const size_t more = size * count;

    if (more > answer_max - answer->size)
        return 0; /* curl ends the transfer with an error */
    if (answer->size + more > answer->room) {
        answer->room = (answer->size + more) * 2;
        answer->text = mem_resize(answer->text, answer->room, 1);
    }
    memcpy(answer->text + answer->size, data, more);
    answer->size += more;
    return more;
}

/* The first line of the token file. */
static int read_token(const char *path, char *ret, size_t size, struct error *reterr)
{
    FILE *in = fopen(path, "re");

    if (in == NULL)
        return error_set(reterr, -errno, "the token file %s cannot be read: %s", path,
                         strerror(errno));

    const bool any = fgets(ret, (int)size, in) != NULL;

    (void)fclose(in);
    if (any)
        ret[strcspn(ret, "\r\n")] = 0;
    if (!any || ret[0] == 0)
        return error_set(reterr, -EINVAL, "the token file %s has no token in its first line", path);
    for (const char *c = ret; *c != 0; c++) {
        if (!isgraph((unsigned char)*c))
            return error_set(reterr, -EINVAL,
                             "the token file %s has more than a token in its first line", path);
    }
    return 0;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether nobody on the way could read what is sent there. */
static bool is_private(const char *url)
{
    static const char *const hosts[] = { "http://127.0.0.1", "http://[::1]", "http://localhost" };

    if (has_prefix(url, "https://"))
        return true;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (has_prefix(url, hosts[i]) && strchr(":/", url[strlen(hosts[i])]) != NULL)
            return true; /* strchr finds the end, too */
    }
    return false;
}

/* Where to, and what proves that we may. */
static int aim(CURL *curl, const struct daemon_options *options, const char *path,
               struct curl_slist **headers, struct error *reterr)
{
    char url[URL_SIZE];
    char line[TOKEN_SIZE + 32] = "Authorization: Bearer ";
    const size_t start = strlen(line);
    const char *base = options->url != NULL ? options->url : "http://localhost";
    size_t length = strlen(base);

    while (length > 0 && base[length - 1] == '/')
        length--;
    if (options->url != NULL && !is_private(base))
        return error_set(
            reterr, -EINVAL,
            "'%s' is neither https://HOST:PORT nor an address of this machine: others could "
            "read along",
            base);
    if ((size_t)snprintf(url, sizeof(url), "%.*s%s", (int)length, base, path) >= sizeof(url))
        return error_set(reterr, -EINVAL, "the address is too long");
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    if (options->url == NULL)
        (void)curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket_of(options));
    if (options->ca_file != NULL)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    if (options->token_file != NULL) {
        const int rc = read_token(options->token_file, line + start, sizeof(line) - start, reterr);

        if (rc < 0)
            return rc;
        *headers = curl_slist_append(*headers, line);
    }
    return 0;
}

/* What went wrong on the way. */
static int way_error(CURL *curl, CURLcode code, const struct daemon_options *options,
                     struct error *reterr)
{
    const char *place = daemon_place(options);
    long os_error = 0;

    (void)curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os_error);
    if (code == CURLE_COULDNT_CONNECT && options->url != NULL)
        return error_set(reterr, -ECONNREFUSED,
                         "nothing answers at %s: is stintd running there, and "
                         "does it listen (http.listen)?",
                         place);
    if (code == CURLE_COULDNT_CONNECT && os_error == EACCES)
        return error_set(reterr, -EACCES,
                         "you may not open %s: ask to be let into its group, or see "
                         "http.socket_mode in stint.conf(5)",
                         place);
    if (code == CURLE_COULDNT_CONNECT)
        return error_set(reterr, -ECONNREFUSED,
                         "no stintd listens on %s: is it running? systemctl status stintd", place);
    if (code == CURLE_SSL_CONNECT_ERROR)
        return error_set(reterr, -EPROTO,
                         "no TLS at %s: is it the right port, and is http.tls_certificate set in "
                         "its stint.conf?",
                         place);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return error_set(reterr, -ETIMEDOUT, "stintd at %s did not answer in time", place);
    if (code == CURLE_WRITE_ERROR)
        return error_set(reterr, -EPROTO, "the answer of %s is longer than any should be", place);
    return error_set(reterr, -EPROTO, "%s: %s", place, curl_easy_strerror(code));
}

static int status_error(long status)
{
    switch (status) {
    case 401:
        return -EACCES;
    case 404:
        return -ENOENT;
    case 409:
    case 503:
        return -EBUSY;
    default:
        return -EPROTO;
    }
}

/* What the daemon said. */
static int read_answer(const struct daemon_options *options, long status,
                       const struct answer *answer, json_t **ret, struct error *reterr)
{
    json_error_t where;
    json_t *root = json_loadb(answer->size > 0 ? answer->text : "", answer->size, 0, &where);

    if (root == NULL || !json_is_object(root)) {
        json_decref(root);
        return error_set(reterr, -EPROTO, "%s answers, but not as stintd would (HTTP status %ld)",
                         daemon_place(options), status);
    }
    if (status == 401 && options->token_file == NULL) {
        json_decref(root);
        return error_set(reterr, -EACCES,
                         "the daemon wants its token: give --token-file (http.token_file in "
                         "stint.conf names it)");
    }
    if (status != 200) {
        const char *text = json_string_value(json_object_get(root, "error"));
        const int rc = error_set(
            reterr, status_error(status), "%s%s",
            text != NULL ? text : "stintd failed without a reason",
            status == 401
                ? ": the token of --token-file differs from http.token_file and http.read_token_file in the"
                  " daemon's stint.conf"
                : "");

        json_decref(root);
        return rc;
    }
    *ret = root;
    return 0;
}

/* One request; 'ret->type' is the kind of what came, or "". */
static int fetch(const struct daemon_options *options, const char *path, bool post,
                 struct answer *answer, struct daemon_body *ret, struct error *reterr)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = NULL;
    const char *type = NULL;

    if (curl == NULL)
        return error_set(reterr, -ENOMEM, "libcurl cannot be used");

    int rc = aim(curl, options, path, &headers, reterr);

    if (rc == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
        (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
        (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)WHOLE_SECONDS);
        (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
        (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
        (void)curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
        (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        if (post)
            (void)curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, "");

        const CURLcode code = curl_easy_perform(curl);

        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ret->status);
        (void)curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
        (void)snprintf(ret->type, sizeof(ret->type), "%s", type != NULL ? type : "");
        rc = code != CURLE_OK ? way_error(curl, code, options, reterr) : 0;
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return rc;
}

static int ask(const struct daemon_options *options, const char *path, bool post, json_t **ret,
               struct error *reterr)
{
    struct answer answer = { 0 };
    struct daemon_body body = { 0 };
    int rc = fetch(options, path, post, &answer, &body, reterr);

    if (rc == 0)
        rc = read_answer(options, body.status, &answer, ret, reterr);
    mem_free(answer.text);
    return rc;
}

int daemon_fetch(const struct daemon_options *options, const char *path, struct daemon_body *ret,
                 struct error *reterr)
{
    struct answer answer = { 0 };

    *ret = (struct daemon_body){ 0 };

    const int rc = fetch(options, path, false, &answer, ret, reterr);

    if (rc < 0) {
        mem_free(answer.text);
        return rc;
    }
    ret->text = answer.text;
    ret->size = answer.size;
    return 0;
}

int daemon_get(const struct daemon_options *options, const char *path, json_t **ret,
               struct error *reterr)
{
    return ask(options, path, false, ret, reterr);
}

int daemon_post(const struct daemon_options *options, const char *path, json_t **ret,
                struct error *reterr)
{
    return ask(options, path, true, ret, reterr);
}

int daemon_get_with(const struct daemon_options *options, const char *path, const char *key,
                    const char *value, json_t **ret, struct error *reterr)
{
    char whole[URL_SIZE];
    char *escaped = curl_easy_escape(NULL, value, 0);

    if (escaped == NULL)
        return error_set(reterr, -ENOMEM, "'%s' cannot be asked for", value);

    const int length = snprintf(whole, sizeof(whole), "%s?%s=%s", path, key, escaped);

    curl_free(escaped);
    if (length < 0 || (size_t)length >= sizeof(whole))
        return error_set(reterr, -EINVAL, "what is asked for is too long");
    return daemon_get(options, whole, ret, reterr);
}
