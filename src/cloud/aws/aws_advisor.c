/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_advisor.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"

struct bands {
    struct interruption of[ADVISOR_BANDS_MAX]; /* by index; not known: the file has no such index */
};

/* Up to three digits at '*at', which moves behind them. */
static bool take_percent(const char **at, uint32_t *ret)
{
    const char *from = *at;
    uint32_t value = 0;

    while (**at >= '0' && **at <= '9' && *at - from < 3)
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    *ret = value;
    return *at > from && value <= 100;
}

/* "<5%", "5-10%" or ">20%". */
static bool parse_label(const char *label, struct interruption *ret)
{
    const char *at = label;
    uint32_t low = 0;
    uint32_t high = 100;
    bool is_read;

    if (*at == '<') {
        at++;
        is_read = take_percent(&at, &high);
    } else if (*at == '>') {
        at++;
        is_read = take_percent(&at, &low);
    } else {
        is_read = take_percent(&at, &low) && *at++ == '-' && take_percent(&at, &high);
    }
    *ret = (struct interruption){ (uint8_t)low, (uint8_t)high };
    return is_read && strcmp(at, "%") == 0 && low < high;
}

static int read_band(const struct doc_node *map, struct bands *bands, struct error *reterr)
{
    const char *label = NULL;
    int64_t index = 0;
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_need_keys(map, (const char *const[]){ "index", "label", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_int(map, "index", (struct doc_range){ 0, ADVISOR_BANDS_MAX - 1 }, &index,
                         reterr);
    if (rc == 0)
        rc = doc_get_text(map, "label", &label, reterr);
    if (rc < 0)
        return rc;
    assert(label != NULL);
    if (bands->of[index].high > 0)
        return error_set(reterr, -EINVAL, "line %u: %s has the same index as one before it",
                         map->line, doc_label(map).text);
    if (!parse_label(label, &bands->of[index]))
        return error_set(reterr, -EINVAL,
                         "line %u: 'label' must be percentages such as <5%%, 5-10%% or >20%%, not "
                         "'%s'",
                         map->line, text_excerpt(label, strlen(label)).text);
    return 0;
}

static int read_bands(const struct doc_node *root, struct bands *ret, struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(root, "ranges", &list, reterr);

    if (rc < 0)
        return rc;
    assert(list != NULL);
    DOC_EACH(entry, list)
    {
        rc = read_band(entry, ret, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The map under 'key', which must be there. */
static int need_map(const struct doc_node *map, const char *key, const struct doc_node **ret,
                    struct error *reterr)
{
    const struct doc_node *found = NULL;
    int rc = doc_get_map(map, key, &found, reterr);

    if (rc == 0 && found == NULL)
        rc = error_set(reterr, -ENOENT, "line %u: %s has nothing about '%s'", map->line,
                       doc_label(map).text, text_excerpt(key, strlen(key)).text);
    if (rc == 0)
        *ret = found;
    return rc;
}

static int read_type(const struct doc_node *map, const struct bands *bands,
                     struct interruption *ret, struct error *reterr)
{
    int64_t index = 0;
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_need_keys(map, (const char *const[]){ "r", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_int(map, "r", (struct doc_range){ 0, ADVISOR_BANDS_MAX - 1 }, &index, reterr);
    if (rc == 0 && bands->of[index].high == 0)
        rc = error_set(reterr, -EINVAL, "line %u: %s has an 'r' that is not in 'ranges'", map->line,
                       doc_label(map).text);
    if (rc == 0)
        *ret = bands->of[index];
    return rc;
}

static int read_types(const struct doc_node *types, const struct bands *bands,
                      struct aws_catalogue *catalogue, struct error *reterr)
{
    struct interruption band;

    if (types->count == 0 || types->count > LIMIT_OFFERS)
        return error_set(reterr, -EINVAL, "line %u: %s has %s", types->line, doc_label(types).text,
                         types->count == 0 ? "no types" : "too many types");
    /* All is checked before anything is kept. */
    DOC_EACH(type, types)
    {
        const int rc = read_type(type, bands, &band, reterr);

        if (rc < 0)
            return rc;
    }
    DOC_EACH(type, types)
    {
        if (read_type(type, bands, &band, reterr) == 0)
            aws_catalogue_add_interruption(catalogue, type->key, band);
    }
    return 0;
}

int aws_advisor_read(const char *text, size_t size, const char *region,
                     struct aws_catalogue *catalogue, struct error *reterr)
{
    static const char *const needed[] = { "ranges", "spot_advisor", NULL };
    const struct doc_node *node = NULL;
    struct bands bands = { 0 };
    struct arena arena;
    int rc;

    arena_init(&arena);
    rc = doc_parse(text, size, &arena, &node, reterr);
    if (rc == 0)
        rc = doc_expect(node, DOC_MAP, reterr);
    if (rc == 0)
        rc = doc_need_keys(node, needed, reterr);
    if (rc == 0)
        rc = read_bands(node, &bands, reterr);
    if (rc == 0)
        rc = need_map(node, "spot_advisor", &node, reterr);
    if (rc == 0)
        rc = need_map(node, region, &node, reterr);
    if (rc == 0)
        rc = need_map(node, "Linux", &node, reterr);
    if (rc == 0)
        rc = read_types(node, &bands, catalogue, reterr);
    arena_done(&arena);
    return rc;
}
