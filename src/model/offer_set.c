/* SPDX-License-Identifier: Apache-2.0 */
#include "model/offer_set.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void offer_sets_init(struct offer_sets *sets)
{
    *sets = (struct offer_sets){ .catalogue = NULL };
    names_init(&sets->texts);
    names_init(&sets->words);
}

void offer_sets_done(struct offer_sets *sets)
{
    for (uint32_t set = 0; set < sets->texts.count; set++)
        mem_free(sets->bits[set]);
    mem_free(sets->bits);
    mem_free(sets->class_of);
    mem_free(sets->given);
    names_done(&sets->texts);
    names_done(&sets->words);
    offer_sets_init(sets);
}

void offer_sets_name(struct offer_sets *sets, const char *word, const char *of)
{
    MEM_ROOM(sets->given, sets->given_room, sets->given_count + 1);
    sets->given[sets->given_count++] = (struct offer_word){
        .word = names_add(&sets->words, word, strlen(word)),
        .of = names_add(&sets->words, of, strlen(of)),
    };
}

/*
 * Words.
 */

/* The names of an offer. */
struct offer_names {
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

/* Whether the type or family was given the word. */
static bool is_given(const struct offer_sets *sets, const struct offer_names *names,
                     const char *word, size_t length)
{
    const uint32_t found = names_find(&sets->words, word, length);

    for (uint32_t i = 0; found != NAME_NONE && i < sets->given_count; i++) {
        const char *of = names_text(&sets->words, sets->given[i].of);

        if (sets->given[i].word == found &&
            (strcmp(of, names->type) == 0 || strcmp(of, names->family) == 0))
            return true;
    }
    return false;
}

/* Whether the word is "KEY=name". */
static bool is_keyed(const char *word, size_t length, const char *key, const char *name)
{
    const size_t skipped = strlen(key);

    return length > skipped && strncmp(word, key, skipped) == 0 &&
           is_same(name, word + skipped, length - skipped);
}

static bool has_word(const struct offer_sets *sets, const struct offer_names *names,
                     const char *word, size_t length)
{
    return is_same("cloud", word, length) || is_same(names->type, word, length) ||
           is_same(names->family, word, length) || is_same(names->zone, word, length) ||
           is_same(names->market, word, length) || is_keyed(word, length, "type=", names->type) ||
           is_keyed(word, length, "family=", names->family) ||
           is_keyed(word, length, "zone=", names->zone) ||
           is_keyed(word, length, "market=", names->market) ||
           is_keyed(word, length, "gpu=", names->type) ||
           is_keyed(word, length, "gpu=", names->family) || is_given(sets, names, word, length);
}

/*
 * Expressions.
 */

/* One that is read, for an offer; without names its syntax only is looked at. */
struct expression {
    const char *at;
    const struct offer_sets *sets;
    const struct offer_names *names;
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
        length > 0 && text->names != NULL && has_word(text->sets, text->names, text->at, length);

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

    while ((*text->at == '(' || *text->at == '[') && *depth + 1 < OFFER_DEPTH_MAX) {
        level[++*depth] = (struct level){ .product = true, .negated = negated };
        text->at++;
        negated = skip_negation(text);
    }
    return read_word(text) != negated;
}

static bool evaluate(struct expression *text)
{
    struct level level[OFFER_DEPTH_MAX] = { { .product = true } };
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

bool offer_text_is_valid(const char *text)
{
    struct expression expression = { .at = text };

    if (*text == '\0')
        return true;
    if (strnlen(text, OFFER_TEXT_MAX) == OFFER_TEXT_MAX)
        return false;
    (void)evaluate(&expression);
    return !expression.is_bad;
}

/*
 * Sets and classes.
 */

static void fill(struct offer_sets *sets, uint32_t set)
{
    const uint32_t count = sets->offer_count;

    mem_free(sets->bits[set]);
    sets->bits[set] = mem_alloc(count / 64 + 1, sizeof(uint64_t));
    for (uint32_t offer = 0; offer < count; offer++) {
        const struct offer_names names = names_of(sets->catalogue, offer);
        struct expression text = {
            .at = names_text(&sets->texts, set),
            .sets = sets,
            .names = &names,
        };

        if (evaluate(&text))
            sets->bits[set][offer / 64] |= (uint64_t)1 << (offer % 64);
    }
}

/* Tell those of each class that are in the set from those that are not, which stay. */
static void split_classes(struct offer_sets *sets, uint32_t set)
{
    const uint32_t before = sets->class_count;
    uint32_t *with = mem_alloc(before, sizeof(*with)); /* the class of those in it, + 1 */
    bool *has_others = mem_alloc(before, sizeof(*has_others));

    for (uint32_t offer = 0; offer < sets->offer_count; offer++) {
        if (!offer_sets_has(sets, set, offer))
            has_others[sets->class_of[offer]] = true;
    }
    for (uint32_t offer = 0; offer < sets->offer_count; offer++) {
        const uint32_t class = sets->class_of[offer];

        if (!has_others[class] || !offer_sets_has(sets, set, offer))
            continue;
        if (with[class] == 0)
            with[class] = ++sets->class_count;
        sets->class_of[offer] = with[class] - 1;
    }
    mem_free(with);
    mem_free(has_others);
}

void offer_sets_bind(struct offer_sets *sets, const struct catalogue *catalogue)
{
    sets->catalogue = catalogue;
    sets->offer_count = catalogue->offer_count;
    sets->class_count = catalogue->type_count;
    MEM_ROOM(sets->class_of, sets->class_room, sets->offer_count);
    for (uint32_t offer = 0; offer < sets->offer_count; offer++)
        sets->class_of[offer] = catalogue->offers[offer].type;
    for (uint32_t set = 0; set < sets->texts.count; set++) {
        fill(sets, set);
        split_classes(sets, set);
    }
}

uint32_t offer_sets_add(struct offer_sets *sets, const char *text)
{
    const size_t length = strlen(text);
    const uint32_t before = sets->texts.count;

    if (length == 0)
        return OFFERS_ALL;
    assert(offer_text_is_valid(text));

    const uint32_t set = names_add(&sets->texts, text, length);

    if (sets->texts.count == before)
        return set;
    MEM_ROOM(sets->bits, sets->bits_room, sets->texts.count);
    sets->bits[set] = NULL;
    if (sets->catalogue != NULL && sets->catalogue->offer_count != sets->offer_count) {
        offer_sets_bind(sets, sets->catalogue);
    } else if (sets->catalogue != NULL) {
        fill(sets, set);
        split_classes(sets, set);
    }
    return set;
}

const char *offer_sets_text(const struct offer_sets *sets, uint32_t set)
{
    return set == OFFERS_ALL ? "" : names_text(&sets->texts, set);
}

bool offer_sets_imply(const struct offer_sets *sets, uint32_t offer, uint32_t other)
{
    if (sets->texts.count == 0 || sets->class_of[offer] == sets->class_of[other])
        return true;
    for (uint32_t set = 0; set < sets->texts.count; set++) {
        if (offer_sets_has(sets, set, offer) && !offer_sets_has(sets, set, other))
            return false;
    }
    return true;
}

uint32_t offer_sets_class(const struct offer_sets *sets, const struct catalogue *catalogue,
                          uint32_t offer)
{
    if (sets->texts.count == 0)
        return catalogue->offers[offer].type;
    assert(offer < sets->offer_count);
    return sets->class_of[offer];
}

uint32_t offer_sets_class_count(const struct offer_sets *sets, const struct catalogue *catalogue)
{
    return sets->texts.count == 0 ? catalogue->type_count : sets->class_count;
}
