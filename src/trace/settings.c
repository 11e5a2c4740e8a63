/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "trace/doc_value.h"
#include "trace/input_text.h"

enum { WORDS_MAX = 1024 }; /* entries of one list */

int settings_choice(const struct settings *in, const struct doc_node *map, const char *key,
                    const char *const *words, int *ret)
{
    const struct doc_node *node = doc_find(map, key);
    const char *text = NULL;
    char list[160] = "";
    size_t used = 0;
    const int rc = doc_get_text(map, key, &text, in->reterr);

    if (rc < 0 || node == NULL)
        return rc;
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return 0;
        }
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                     words[i]);
    }
    return error_set(in->reterr, -EINVAL, "line %u: '%s' must be one of %s, not '%s'", node->line,
                     key, list, text_excerpt(text, strlen(text)).text);
}

/* A name that may not hold what separates names in a list of our own or of an engine's. */
static int check_word(const struct doc_node *node, const char *text, struct error *reterr)
{
    if (text[0] == '-' || strpbrk(text, ", \t=") != NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: %s must be one name without comma, space or '=', and not begin "
                         "with '-'; not '%s'",
                         node->line, doc_label(node).text, text_excerpt(text, strlen(text)).text);
    return 0;
}

int settings_word(const struct settings *in, const struct doc_node *map, const char *key,
                  const char **ret)
{
    const struct doc_node *node = doc_find(map, key);
    const char *text = NULL;
    int rc = doc_get_name(map, key, &text, in->reterr);

    if (rc == 0 && node != NULL)
        rc = check_word(node, text, in->reterr);
    if (rc == 0 && node != NULL)
        *ret = text;
    return rc;
}

int settings_words(const struct settings *in, const struct doc_node *map, const char *key,
                   struct settings_words *ret)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(map, key, &list, in->reterr);

    if (rc < 0 || list == NULL)
        return rc;
    if (list->count > WORDS_MAX)
        return error_set(in->reterr, -E2BIG, "line %u: '%s' has at most %d entries, not %u",
                         list->line, key, WORDS_MAX, list->count);

    struct settings_words words = { .word = ARENA_ARRAY(in->arena, const char *, list->count) };

    DOC_EACH(node, list)
    {
        rc = doc_as_name(node, &words.word[words.count], in->reterr);
        if (rc == 0)
            rc = check_word(node, words.word[words.count], in->reterr);
        if (rc < 0)
            return rc;
        words.count++;
    }
    *ret = words;
    return 0;
}

int settings_file(const struct settings *in, const struct doc_node *map, const char *key,
                  const char **ret)
{
    const struct doc_node *node = doc_find(map, key);
    const char *text = NULL;
    const int rc = doc_get_text(map, key, &text, in->reterr);

    if (rc < 0 || node == NULL)
        return rc;
    if (text[0] == '\0')
        return error_set(in->reterr, -EINVAL, "line %u: '%s' must name a file, not be empty",
                         node->line, key);

    const char *slash = strrchr(in->path, '/');
    const size_t folder = slash != NULL && text[0] != '/' ? (size_t)(slash - in->path) + 1 : 0;
    const size_t size = folder + strlen(text) + 1;
    char *file = arena_alloc(in->arena, size, 1);

    (void)snprintf(file, size, "%.*s%s", (int)folder, in->path, text);
    *ret = file;
    return 0;
}

int settings_socket(const struct settings *in, const struct doc_node *map, const char *key,
                    const char **ret)
{
    const struct doc_node *node = doc_find(map, key);
    const char *file = NULL;
    const size_t max = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
    const int rc = settings_file(in, map, key, &file);

    if (rc < 0 || file == NULL)
        return rc;
    if (strlen(file) > max)
        return error_set(in->reterr, -ENAMETOOLONG,
                         "line %u: '%s' is the file of a socket, so its path has at most %zu "
                         "bytes, not %zu",
                         node->line, key, max, strlen(file));
    *ret = file;
    return 0;
}

int settings_section(const struct settings *in, const struct doc_node *root, const char *key,
                     const char *const *allowed, const struct doc_node **ret)
{
    const struct doc_node *map = NULL;
    int rc = doc_get_map(root, key, &map, in->reterr);

    if (rc == 0 && map != NULL)
        rc = doc_allow_keys(map, allowed, in->reterr);
    if (rc == 0)
        *ret = map;
    return rc;
}

bool settings_same_text(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

bool settings_same_words(const struct settings_words *a, const struct settings_words *b)
{
    bool same = a->count == b->count;

    for (uint32_t i = 0; same && i < a->count; i++)
        same = strcmp(a->word[i], b->word[i]) == 0;
    return same;
}
