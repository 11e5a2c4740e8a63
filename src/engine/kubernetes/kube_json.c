/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_json.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/mem.h"

/* An object or array that is open and wanted. */
struct level {
    const struct kube_rule *rule; /* of the object, or of the array's elements */
    bool is_array;
};

struct kube_json {
    yajl_handle parser;
    struct kube_rule root;
    struct kube_reader reader;
    struct level level[KUBE_JSON_DEPTH];
    uint32_t depth;               /* levels that are wanted */
    uint32_t nesting;             /* all that are open */
    uint32_t skipped;             /* open within something that is not wanted; 0: we are not */
    const struct kube_rule *next; /* of the member whose key was read; NULL: not wanted */
    const char *fault;            /* why we stopped; NULL: we did not */
    int rc;                       /* what the reader stopped with */
    char key[KUBE_JSON_KEY];
};

static int stop(struct kube_json *json, const char *fault)
{
    json->fault = fault;
    return 0;
}

/* The rule of a value that begins here, or NULL. */
static const struct kube_rule *rule_here(const struct kube_json *json)
{
    if (json->skipped > 0)
        return NULL;
    if (json->depth == 0)
        return &json->root;
    if (json->level[json->depth - 1].is_array)
        return json->level[json->depth - 1].rule;
    return json->next;
}

static int open_level(struct kube_json *json, bool is_array)
{
    const struct kube_rule *rule = rule_here(json);

    if (++json->nesting > KUBE_JSON_NESTING)
        return stop(json, "it is nested too deep");
    if (rule == NULL || (rule->members == NULL && !is_array)) {
        json->skipped++;
        return 1;
    }
    if (json->depth == KUBE_JSON_DEPTH)
        return stop(json, "it is nested too deep");
    json->level[json->depth++] = (struct level){ .rule = rule, .is_array = is_array };
    json->next = NULL;
    if (!is_array && rule->id != 0 && json->reader.begin != NULL)
        json->reader.begin(json->reader.context, rule->id);
    return 1;
}

static int close_level(struct kube_json *json)
{
    json->nesting--;
    if (json->skipped > 0) {
        json->skipped--;
        return 1;
    }
    assert(json->depth > 0);
    json->depth--;

    const struct level *level = &json->level[json->depth];

    if (!level->is_array && level->rule->id != 0 && json->reader.end != NULL)
        json->reader.end(json->reader.context, level->rule->id);
    json->next = NULL;
    return 1;
}

static int tell(struct kube_json *json, enum kube_value kind, const char *text, size_t length)
{
    const struct kube_rule *rule = rule_here(json);

    if (rule == NULL || rule->id == 0 || rule->members != NULL)
        return 1;
    json->rc = json->reader.value(json->reader.context, rule->id, json->key, kind, text, length);
    return json->rc == 0 ? 1 : 0;
}

static int on_null(void *context)
{
    (void)context;
    return 1;
}

static int on_boolean(void *context, int truth)
{
    return tell(context, KUBE_TRUTH, truth != 0 ? "true" : "false", truth != 0 ? 4 : 5);
}

static int on_number(void *context, const char *text, size_t length)
{
    return tell(context, KUBE_NUMBER, text, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    return tell(context, KUBE_TEXT, (const char *)text, length);
}

static int on_start_map(void *context)
{
    return open_level(context, false);
}

static int on_end(void *context)
{
    return close_level(context);
}

static int on_start_array(void *context)
{
    return open_level(context, true);
}

/* A key that is too long is that of a member nobody wants: those that are wanted are short, or limited by Kubernetes. */
static int on_key(void *context, const unsigned char *text, size_t length)
{
    struct kube_json *json = context;

    json->next = NULL;
    if (json->skipped > 0 || length >= KUBE_JSON_KEY || memchr(text, 0, length) != NULL)
        return 1;

    const struct kube_rule *rule = json->level[json->depth - 1].rule->members;

    for (; rule->key != NULL; rule++) {
        if (strcmp(rule->key, "*") == 0 ||
            (strlen(rule->key) == length && memcmp(rule->key, text, length) == 0)) {
            memcpy(json->key, text, length);
            json->key[length] = '\0';
            json->next = rule;
            return 1;
        }
    }
    return 1;
}

struct kube_json *kube_json_create(const struct kube_rule *rules, const struct kube_reader *reader,
                                   bool several)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_start_map,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end,
        .yajl_start_array = on_start_array,
        .yajl_end_array = on_end,
    };
    struct kube_json *json = mem_alloc(1, sizeof(*json));

    json->root = (struct kube_rule){ .key = "", .id = 0, .members = rules };
    json->reader = *reader;
    json->parser = yajl_alloc(&callbacks, NULL, json);
    assert(json->parser != NULL);
    if (several)
        (void)yajl_config(json->parser, yajl_allow_multiple_values, 1);
    return json;
}

void kube_json_destroy(struct kube_json *json)
{
    if (json == NULL)
        return;
    yajl_free(json->parser);
    mem_free(json);
}

static int judge(struct kube_json *json, yajl_status status, struct error *reterr)
{
    if (status == yajl_status_ok)
        return 0;
    if (json->rc != 0)
        return json->rc;
    return error_set(reterr, -EBADMSG, "no valid JSON: %s",
                     json->fault != NULL ? json->fault : "the text is broken or cut off");
}

int kube_json_read(struct kube_json *json, const char *text, size_t length, struct error *reterr)
{
    return judge(json, yajl_parse(json->parser, (const unsigned char *)text, length), reterr);
}

int kube_json_end(struct kube_json *json, struct error *reterr)
{
    return judge(json, yajl_complete_parse(json->parser), reterr);
}
