/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_api.c - requests to the HTTP API, after the library has taken them apart. The first byte says
 * what rights there are; then "METHOD PATH?KEY=VALUE&...". Any request gets an answer of a status
 * that docs/reference/api.md names; what says to be JSON parses; GET changes nothing; without rights
 * nothing but metrics and health is answered.
 */
#include "fuzz.h"

#include <jansson.h>
#include <stdlib.h>

#include "serve/api.h"
#include "serve/test/serve_stage.h"

static struct serve_stage stage;

static void clean_up(void)
{
    stage_done(&stage);
}

static void check_reply(const struct api_request *request, const struct api_reply *reply)
{
    static const unsigned known[] = { 200, 400, 401, 403, 404, 405, 409, 503 };
    bool is_known = false;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        is_known = is_known || reply->status == known[i];
    assert(is_known);
    assert(reply->body != NULL);
    assert(reply->content_type != NULL);
    assert(strlen(reply->body) == reply->size);
    assert((reply->allow != NULL) == (reply->status == 405));
    if (strcmp(reply->content_type, "application/json") == 0) {
        json_t *json = json_loadb(reply->body, reply->size, JSON_REJECT_DUPLICATES, NULL);

        assert(json_is_object(json));
        assert((json_object_get(json, "error") != NULL) == (reply->status != 200));
        json_decref(json);
    }
    if (!request->authorised && reply->status == 200) {
        assert(request->near);
        assert(strcmp(request->path, "/metrics") == 0 || strcmp(request->path, "/healthz") == 0);
    }
}

/* Whether something that only POST with rights may change did change. */
static bool was_changed(void)
{
    return stage.drained || stage.reloads > 0 || !stage.proposed[0] || !stage.proposed[1];
}

static void forget_changes(void)
{
    stage.drained = false;
    stage.reloads = 0;
    for (int i = 0; i < STAGE_PROPOSALS; i++)
        stage.proposed[i] = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct api_request request = { .method = "" };
    struct api_reply reply;

    if (stage.store == NULL) {
        stage_init(&stage);
        atexit(clean_up);
    }
    if (size == 0)
        return 0;
    request.authorised = (data[0] & 1) == 0;
    request.near = (data[0] & 2) == 0;

    char *text = strndup((const char *)data + 1, size - 1);
    char *rest = text;

    request.method = strsep(&rest, " ");
    request.path = rest != NULL ? strsep(&rest, "?") : "";
    while (rest != NULL) {
        char *pair = strsep(&rest, "&");
        const char *key = strsep(&pair, "=");

        if (request.argument_count < API_ARGUMENTS_MAX)
            request.arguments[request.argument_count] =
                (struct api_argument){ .key = key, .value = pair != NULL ? pair : "" };
        request.argument_count++;
    }
    api_answer(&stage.world, &request, &reply);
    check_reply(&request, &reply);
    if (was_changed()) {
        assert(request.authorised);
        assert(strcmp(request.method, "POST") == 0);
        forget_changes();
    }
    free(reply.body);
    free(text);
    return 0;
}
