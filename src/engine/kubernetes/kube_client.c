/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_exec.h"

enum {
    CONNECT_SECONDS = 10,
    STALLED_SECONDS = 60, /* without a byte */
    TRIES = 6,
    WAIT_MOST_SECONDS = 30,
    URL_TEXT = 8192,
    FAULT_TEXT = 16384,
    TOKEN_TEXT = 16384,
};

struct kube_client {
    const struct kube_config *config;
    CURL *curl;
    char *base;                        /* what paths are put behind: "https://host:port" */
    struct curl_slist *detour;         /* to where connections to that really go, or NULL */
    struct kube_credential credential; /* of a plugin */
    char header[TOKEN_TEXT + 32];      /* "Authorization: Bearer ..." */
};

/* One answer, as it comes in. */
struct answer {
    CURL *curl;
    struct kube_objects *objects;
    FILE *copy;
    struct error *reterr;
    int rc;
    char fault[FAULT_TEXT]; /* of an answer that is no list */
    size_t fault_size;
};

static struct curl_blob blob_of(const struct kube_blob *blob)
{
    return (struct curl_blob){ .data = blob->data, .len = blob->size, .flags = CURL_BLOB_NOCOPY };
}

static void set_blob(CURL *curl, CURLoption option, const struct kube_blob *blob)
{
    struct curl_blob of = blob_of(blob);

    if (blob->data != NULL)
        (void)curl_easy_setopt(curl, option, &of);
}

/* Who we are: a certificate of the configuration or of the plugin. */
static void set_identity(const struct kube_client *client, CURL *curl)
{
    const bool of_plugin = client->credential.certificate.data != NULL;

    set_blob(curl, CURLOPT_SSLCERT_BLOB,
             of_plugin ? &client->credential.certificate : &client->config->certificate);
    set_blob(curl, CURLOPT_SSLKEY_BLOB, of_plugin ? &client->credential.key : &client->config->key);
}

static int put_token(struct kube_client *client, const char *token, size_t length,
                     struct error *reterr)
{
    while (length > 0 && strchr(" \t\r\n", token[length - 1]) != NULL)
        length--;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)token[i] <= ' ' || (unsigned char)token[i] >= 0x7f)
            length = 0;
    }
    if (length == 0 || length > TOKEN_TEXT)
        return error_set(reterr, -EINVAL, "the token for the API server is no token");
    (void)snprintf(client->header, sizeof(client->header), "Authorization: Bearer %.*s",
                   (int)length, token);
    return 0;
}

static int read_token(struct kube_client *client, struct error *reterr)
{
    FILE *in = fopen(client->config->token_path, "re");
    char token[TOKEN_TEXT];

    if (in == NULL)
        return error_set(reterr, -errno, "the token file %.200s cannot be read: %s",
                         client->config->token_path, strerror(errno));

    const size_t length = fread(token, 1, sizeof(token), in);
    const int rc = put_token(client, token, length, reterr);

    (void)fclose(in);
    explicit_bzero(token, sizeof(token));
    return rc;
}

int kube_client_prove(struct kube_client *client, struct error *reterr)
{
    const struct kube_config *config = client->config;
    int rc = 0;

    if (config->exec[0] != NULL) {
        kube_credential_done(&client->credential);
        rc = kube_exec(config, &client->credential, reterr);
        if (rc == 0 && client->credential.token.data != NULL)
            rc = put_token(client, client->credential.token.data, client->credential.token.size,
                           reterr);
    } else if (config->token_path != NULL) {
        rc = read_token(client, reterr);
    } else if (config->token.data != NULL) {
        rc = put_token(client, config->token.data, config->token.size, reterr);
    }
    if (rc == 0 && client->curl != NULL)
        set_identity(client, client->curl);
    return rc;
}

/* A certificate that is for another name is checked by that: its name stands in the URL, and the connection goes to the
 * address of the configuration. */
static void set_base(struct kube_client *client)
{
    const char *server = client->config->server;
    const char *name = client->config->server_name;
    const char *host = server + strlen("https://");
    const char *rest = host + strcspn(host, "/");
    const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    const char *colon = memchr(bracket != NULL ? bracket : host, ':',
                               (size_t)(rest - (bracket != NULL ? bracket : host)));
    const int host_length = (int)((colon != NULL ? colon : rest) - host);
    const char *port = colon != NULL ? colon + 1 : "443";
    const int port_length = colon != NULL ? (int)(rest - port) : 3;
    const size_t size = strlen(server) + (name != NULL ? 2 * strlen(name) : 0) + 64;
    char *text = mem_alloc(size, 1);

    client->base = text;
    if (name == NULL) {
        (void)snprintf(text, size, "%s", server);
        return;
    }
    (void)snprintf(text, size, "%s:%.*s:%.*s:%.*s", name, port_length, port, host_length, host,
                   port_length, port);
    client->detour = curl_slist_append(NULL, text);
    (void)snprintf(text, size, "https://%s:%.*s%s", name, port_length, port, rest);
}

void *kube_client_handle(const struct kube_client *client)
{
    CURL *curl = curl_easy_init();

    if (curl == NULL)
        return NULL;
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
    (void)curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALLED_SECONDS);
    if (client->config->is_insecure) {
        (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (client->detour != NULL)
        (void)curl_easy_setopt(curl, CURLOPT_CONNECT_TO, client->detour);
    set_blob(curl, CURLOPT_CAINFO_BLOB, &client->config->ca);
    set_identity(client, curl);
    return curl;
}

const char *kube_client_base(const struct kube_client *client)
{
    return client->base;
}

const char *kube_client_header(const struct kube_client *client)
{
    return client->header;
}

int kube_client_create(const struct kube_config *config, struct kube_client **ret,
                       struct error *reterr)
{
    struct kube_client *client = mem_alloc(1, sizeof(*client));
    int rc;

    client->config = config;
    set_base(client);
    rc = kube_client_prove(client, reterr);
    if (rc == 0)
        client->curl = kube_client_handle(client);
    if (rc == 0 && client->curl == NULL)
        rc = error_set(reterr, -ENOMEM, "libcurl has no handle");
    if (rc < 0) {
        kube_client_destroy(client);
        return rc;
    }
    *ret = client;
    return 0;
}

void kube_client_destroy(struct kube_client *client)
{
    if (client == NULL)
        return;
    curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->detour);
    mem_free(client->base);
    kube_credential_done(&client->credential);
    explicit_bzero(client->header, sizeof(client->header));
    mem_free(client);
}

static size_t on_bytes(char *data, size_t size, size_t count, void *context)
{
    struct answer *answer = context;
    const size_t more = size * count;
    long status = 0;

    (void)curl_easy_getinfo(answer->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        const size_t room = sizeof(answer->fault) - answer->fault_size;
        const size_t kept = more < room ? more : room;

        memcpy(answer->fault + answer->fault_size, data, kept);
        answer->fault_size += kept;
        return more;
    }
    if (answer->copy != NULL && fwrite(data, 1, more, answer->copy) != more)
        answer->rc =
            error_set(answer->reterr, -EIO, "the snapshot cannot be written: %s", strerror(errno));
    if (answer->rc == 0)
        answer->rc = kube_objects_read(answer->objects, data, more, answer->reterr);
    return answer->rc == 0 ? more : 0;
}

/* The message of a Status, which says what is missing; letters that are none are left out. */
static void fault_words(const struct answer *answer, char *ret, size_t size)
{
    json_t *root = json_loadb(answer->fault, answer->fault_size, 0, NULL);
    const char *message = json_string_value(json_object_get(root, "message"));
    size_t used = 0;

    for (size_t i = 0; message != NULL && message[i] != '\0' && used + 1 < size; i++) {
        if ((unsigned char)message[i] >= ' ' && (unsigned char)message[i] < 0x7f)
            ret[used++] = message[i];
    }
    ret[used] = '\0';
    json_decref(root);
}

static int judge(const struct answer *answer, long status, struct error *reterr)
{
    char words[256];

    fault_words(answer, words, sizeof(words));
    if (status == 410)
        return error_set(reterr, -ESTALE, "the list is too old to be gone on with");
    if (status == 401 || status == 403)
        return error_set(reterr, -EACCES,
                         "the API server refuses (%ld): %s. Stint needs to list nodes, pods and "
                         "poddisruptionbudgets in all namespaces",
                         status, words);
    return error_set(reterr, -EIO, "the API server answered %ld: %s", status, words);
}

/* One request. 0, or what went wrong; 'ret_status' is 0 if there was no answer. */
static int ask(struct kube_client *client, const char *url, struct answer *answer, long *ret_status,
               struct error *reterr)
{
    struct curl_slist *headers = NULL;
    char why[CURL_ERROR_SIZE] = "";
    CURLcode code;

    if (client->header[0] != '\0')
        headers = curl_slist_append(headers, client->header);
    answer->curl = client->curl;
    answer->fault_size = 0;
    (void)curl_easy_setopt(client->curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, answer);
    (void)curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, why);
    code = curl_easy_perform(client->curl);
    (void)curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    *ret_status = 0;
    (void)curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, ret_status);
    if (answer->rc != 0)
        return answer->rc;
    if (code != CURLE_OK)
        return error_set(reterr, -EIO, "the API server at %.200s cannot be asked: %s",
                         client->config->server, why[0] != '\0' ? why : curl_easy_strerror(code));
    return *ret_status == 200 ? 0 : judge(answer, *ret_status, reterr);
}

/* What the server asks for, or twice as long each time. */
static void pause_for(const struct kube_client *client, int attempt)
{
    curl_off_t seconds = 0;

    (void)curl_easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &seconds);
    if (seconds <= 0)
        seconds = (curl_off_t)1 << attempt;
    (void)sleep((unsigned)(seconds < WAIT_MOST_SECONDS ? seconds : WAIT_MOST_SECONDS));
}

/* One page; asked again where that may help and nothing of it was read yet. */
static int get_page(struct kube_client *client, const char *url, struct answer *answer,
                    struct error *reterr)
{
    bool has_proved_again = false;

    for (int attempt = 0;; attempt++) {
        long status = 0;
        const int rc = ask(client, url, answer, &status, reterr);

        if (rc == 0 || attempt == TRIES)
            return rc;
        if (status == 401 && !has_proved_again) {
            has_proved_again = true;
            if (kube_client_prove(client, reterr) < 0)
                return -EACCES;
        } else if (status == 429 || status == 503) {
            pause_for(client, attempt);
        } else {
            return rc;
        }
    }
}

static int list_pages(struct kube_client *client, const char *path, struct answer *answer,
                      struct error *reterr)
{
    char url[URL_TEXT];
    int rc = 0;

    (void)snprintf(url, sizeof(url), "%s%s?limit=%d", client->base, path, KUBE_PAGE);
    while (rc == 0) {
        const struct kube_list *list = kube_objects_list(answer->objects);

        rc = get_page(client, url, answer, reterr);
        if (rc < 0 || list->next[0] == '\0')
            return rc;

        char *next = curl_easy_escape(client->curl, list->next, 0);

        (void)snprintf(url, sizeof(url), "%s%s?limit=%d&continue=%s", client->base, path, KUBE_PAGE,
                       next);
        curl_free(next);
        kube_objects_next_page(answer->objects);
    }
    return rc;
}

int kube_client_list(struct kube_client *client, const char *path, enum kube_kind kind,
                     const struct kube_object_sink *sink, FILE *copy, struct error *reterr)
{
    struct answer *answer = mem_alloc(1, sizeof(*answer));
    int rc;

    answer->objects = kube_objects_create(kind, false, sink);
    answer->copy = copy;
    answer->reterr = reterr;
    rc = list_pages(client, path, answer, reterr);
    if (rc == 0)
        rc = kube_objects_end(answer->objects, reterr);
    kube_objects_destroy(answer->objects);
    mem_free(answer);
    return rc == -EBADMSG ? -EIO : rc;
}
