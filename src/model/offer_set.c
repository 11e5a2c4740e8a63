/* SPDX-License-Identifier: Apache-2.0 */
#include "model/offer_set.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void offer_sets_init(struct offer_sets *sets)
{
    *sets = (struct offer_sets){ .catalogue = NULL };
    names_init(&sets->texts);
}

void offer_sets_done(struct offer_sets *sets)
{
    for (uint32_t set = 0; set < sets->texts.count; set++)
        mem_free(sets->bits[set]);
    mem_free(sets->bits);
    names_done(&sets->texts);
    offer_sets_init(sets);
}

void offer_sets_copy(struct offer_sets *to, const struct offer_sets *from)
{
    const size_t words = from->offer_count / 64 + 1;

    *to = *from;
    names_copy(&to->texts, &from->texts);
    to->bits = mem_copy(from->bits, from->texts.count, from->bits_room, sizeof(*from->bits));
    for (uint32_t set = 0; set < from->texts.count; set++) {
        if (from->bits[set] != NULL)
            to->bits[set] = mem_copy(from->bits[set], words, words, sizeof(uint64_t));
    }
}

/*
 * Words.
 */

/* The names of an offer. */
struct offer_names {
    const struct catalogue *catalogue;
    uint32_t type_row;
    const char *type;
    const char *family;
    const char *zone; /* "" if it has none */
    const char *market;
};

static struct offer_names names_of(const struct catalogue *catalogue, uint32_t index)
{
    const struct offer *offer = &catalogue->offers[index];
    const struct machine_type *type = &catalogue->types[offer->type];

    return (struct offer_names){
        .catalogue = catalogue,
        .type_row = offer->type,
        .type = names_text(&catalogue->names, type->name),
        .family = names_text(&catalogue->families, type->family),
        .zone = offer->zone != NAME_NONE ? names_text(&catalogue->names, offer->zone) : "",
        .market = market_name(offer->market),
    };
}

static bool is_same(const char *text, const char *word, size_t length)
{
    return strncmp(text, word, length) == 0 && text[length] == '\0';
}

/* Whether the word is "KEY=name". */
static bool is_keyed(const char *word, size_t length, const char *key, const char *name)
{
    const size_t skipped = strlen(key);

    return length > skipped && strncmp(word, key, skipped) == 0 &&
           is_same(name, word + skipped, length - skipped);
}

static bool has_word(const struct offer_names *names, const char *word, size_t length)
{
    return is_same("cloud", word, length) || is_same(names->type, word, length) ||
           is_same(names->family, word, length) || is_same(names->zone, word, length) ||
           is_same(names->market, word, length) || is_keyed(word, length, "type=", names->type) ||
           is_keyed(word, length, "family=", names->family) ||
           is_keyed(word, length, "zone=", names->zone) ||
           is_keyed(word, length, "market=", names->market) ||
           is_keyed(word, length, "gpu=", names->type) ||
           is_keyed(word, length, "gpu=", names->family) ||
           catalogue_has_word(names->catalogue, names->type_row, word, length);
}

/*
 * Expressions.
 */

enum { DEPTH_MAX = 2 * OFFER_DEPTH_MAX };

/* One that is read, for an offer; without names its syntax only is looked at. */
struct expression {
    const char *at;
    const struct offer_names *names;
    uint32_t depth_max;
    bool is_bad;
};

/* What is open: the value so far of each bracket, and of the run of '&' in it. */
struct level {
    bool sum;
    bool product;
    bool negated; /* as a whole */
};

static bool read_word(struct expression *text)
{
    const size_t length = strcspn(text->at, "&|,()[]*!");
    const bool is_met =
        length > 0 && text->names != NULL && has_word(text->names, text->at, length);

    text->is_bad = text->is_bad || length == 0;
    text->at += length;
    if (*text->at == '*')
        text->at += 1 + strspn(text->at + 1, "0123456789");
    return is_met;
}

static bool skip_negation(struct expression *text)
{
    bool negated = false;

    for (; *text->at == '!'; text->at++)
        negated = !negated;
    return negated;
}

/* Read "!((word", opening a level for each bracket; the value of the word. */
static bool read_operand(struct expression *text, struct level *level, uint32_t *depth)
{
    bool negated = skip_negation(text);

    while ((*text->at == '(' || *text->at == '[') && *depth < text->depth_max) {
        level[++*depth] = (struct level){ .product = true, .negated = negated };
        text->at++;
        negated = skip_negation(text);
    }
    return read_word(text) != negated;
}

static bool evaluate(struct expression *text)
{
    struct level level[DEPTH_MAX + 1] = { { .product = true } };
    uint32_t depth = 0;

    while (!text->is_bad) {
        bool value = read_operand(text, level, &depth);

        while ((*text->at == ')' || *text->at == ']') && depth > 0) {
            value = (level[depth].sum || (level[depth].product && value)) != level[depth].negated;
            depth--;
            text->at++;
        }
        level[depth].product = level[depth].product && value;
        if (*text->at == '|') {
            level[depth].sum = level[depth].sum || level[depth].product;
            level[depth].product = true;
        } else if (*text->at != '&' && *text->at != ',') {
            break;
        }
        text->at++;
    }
    text->is_bad = text->is_bad || *text->at != '\0' || depth != 0;
    return level[0].sum || level[0].product;
}

static bool is_expression(const char *text, uint32_t depth_max)
{
    struct expression expression = { .at = text, .depth_max = depth_max };

    (void)evaluate(&expression);
    return !expression.is_bad;
}

bool offer_text_is_valid(const char *text)
{
    if (*text == '\0')
        return true;
    return strnlen(text, OFFER_TEXT_MAX + 1) <= OFFER_TEXT_MAX &&
           is_expression(text, OFFER_DEPTH_MAX);
}

bool offer_text_has(const char *text, const struct catalogue *catalogue, uint32_t offer)
{
    const struct offer_names names = names_of(catalogue, offer);
    struct expression expression = { .at = text, .names = &names, .depth_max = DEPTH_MAX };

    return *text == '\0' || evaluate(&expression);
}

/*
 * Sets.
 */

static void fill(struct offer_sets *sets, uint32_t set)
{
    const uint32_t count = sets->offer_count;

    mem_free(sets->bits[set]);
    sets->bits[set] = mem_alloc(count / 64 + 1, sizeof(uint64_t));
    for (uint32_t offer = 0; offer < count; offer++) {
        if (offer_text_has(names_text(&sets->texts, set), sets->catalogue, offer))
            sets->bits[set][offer / 64] |= (uint64_t)1 << (offer % 64);
    }
}

void offer_sets_bind(struct offer_sets *sets, const struct catalogue *catalogue)
{
    sets->catalogue = catalogue;
    sets->offer_count = catalogue->offer_count;
    for (uint32_t set = 0; set < sets->texts.count; set++)
        fill(sets, set);
}

uint32_t offer_sets_add(struct offer_sets *sets, const char *text)
{
    const size_t length = strlen(text);
    const uint32_t before = sets->texts.count;

    if (length == 0)
        return OFFERS_ALL;
    assert(is_expression(text, DEPTH_MAX));

    const uint32_t set = names_add(&sets->texts, text, length);

    if (sets->texts.count == before)
        return set;
    MEM_ROOM(sets->bits, sets->bits_room, sets->texts.count);
    sets->bits[set] = NULL;
    if (sets->catalogue != NULL && sets->catalogue->offer_count != sets->offer_count)
        offer_sets_bind(sets, sets->catalogue);
    else if (sets->catalogue != NULL)
        fill(sets, set);
    return set;
}

const char *offer_sets_text(const struct offer_sets *sets, uint32_t set)
{
    return set == OFFERS_ALL ? "" : names_text(&sets->texts, set);
}
