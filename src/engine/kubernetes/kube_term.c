/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_term.h"

#include <stdio.h>
#include <string.h>

/*
 * Writing.
 */

void kube_term_begin(struct kube_term *term)
{
    term->used = 0;
    term->text[0] = '\0';
    term->has_selector = false;
    term->is_everywhere = false;
    term->is_loose = false;
}

/* Behind what is there, or not at all: a text that lacks a requirement is about more pods. */
static bool append(char *to, size_t size, size_t *used, char mark, const char *text, size_t length)
{
    if (length + 2 > size - *used || memchr(text, 0, length) != NULL)
        return false;
    to[(*used)++] = mark;
    memcpy(to + *used, text, length);
    *used += length;
    to[*used] = '\0';
    return true;
}

/* "\n+key\tvalue" */
static bool require(struct kube_term *term, char mark, const char *key, const char *values,
                    size_t length)
{
    char text[KUBE_NAME + KUBE_TERM_TEXT + 2];
    const int size = snprintf(text, sizeof(text), "%c%s%.*s", mark, key, (int)length, values);

    return size > 0 && (size_t)size < sizeof(text) &&
           append(term->text, sizeof(term->text), &term->used, '\n', text, (size_t)size);
}

void kube_term_value(struct kube_term *term, const char *text, size_t length)
{
    if (!append(term->values, sizeof(term->values), &term->values_used, '\t', text, length))
        term->is_cut = true;
}

void kube_term_label(struct kube_term *term, const char *key, const char *text, size_t length)
{
    term->values_used = 0;
    term->is_cut = false;
    kube_term_value(term, text, length);
    if (term->is_cut || !require(term, '+', key, term->values, term->values_used))
        term->is_loose = true;
}

void kube_term_space(struct kube_term *term, const char *text, size_t length)
{
    if (require(term, 'S', "", text, length))
        return;
    term->is_everywhere = true;
    term->is_loose = true;
}

void kube_term_expression_begin(struct kube_term *term)
{
    term->key[0] = '\0';
    term->values_used = 0;
    term->is_cut = false;
    term->comparison = KUBE_STRANGE_OPERATOR;
}

void kube_term_expression_end(struct kube_term *term)
{
    static const char marks[] = {
        [KUBE_IN] = '+', [KUBE_NOT_IN] = '-', [KUBE_EXISTS] = '?', [KUBE_ABSENT] = '!'
    };

    if (term->comparison == KUBE_STRANGE_OPERATOR || term->is_cut ||
        !require(term, marks[term->comparison], term->key, term->values, term->values_used))
        term->is_loose = true;
}

int kube_term_write(const struct kube_term *term, const char *topology_key, char *buf, size_t size)
{
    return snprintf(buf, size, "%s%s%s", topology_key, term->is_everywhere ? "\n*" : "",
                    term->text);
}

/*
 * Reading.
 */

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool kube_term_is_by(const char *text, const char *topology_key)
{
    return is_word(text, strcspn(text, "\n"), topology_key);
}

/* Whether the value is among those after the tabs. */
static bool has_value(const char *at, const char *end, const char *value)
{
    while (at < end) {
        const char *from = at + 1;
        const size_t length = strcspn(from, "\t\n");

        if (is_word(from, length, value))
            return true;
        at = from + length;
    }
    return false;
}

/* One requirement of labels, "+key\tvalue". */
static bool holds(const char *line, size_t length, const struct kube_pair *labels, uint32_t count)
{
    const size_t of_key = strcspn(line + 1, "\t\n");
    const char *value = NULL;
    bool is_among;

    for (uint32_t i = 0; i < count && value == NULL; i++)
        value = is_word(line + 1, of_key, labels[i].key) ? labels[i].value : NULL;
    is_among = value != NULL && has_value(line + 1 + of_key, line + length, value);
    switch (line[0]) {
    case '+':
        return is_among;
    case '-':
        return !is_among;
    case '?':
        return value != NULL;
    default:
        return value == NULL;
    }
}

bool kube_term_is_about(const char *text, const char *own, const char *space,
                        const struct kube_pair *labels, uint32_t count)
{
    bool has_spaces = false;
    bool is_in_space = false;

    for (const char *at = text + strcspn(text, "\n"); *at == '\n';
         at += 1 + strcspn(at + 1, "\n")) {
        const char *line = at + 1;
        const size_t length = strcspn(line, "\n");

        if (line[0] == '*' || line[0] == 'S') {
            has_spaces = true;
            is_in_space |= line[0] == '*' || is_word(line + 1, length - 1, space);
        } else if (length > 0 && !holds(line, length, labels, count)) {
            return false;
        }
    }
    return has_spaces ? is_in_space : strcmp(own, space) == 0;
}
