/* SPDX-License-Identifier: Apache-2.0 */
#include "model/apart.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void aparts_init(struct aparts *aparts)
{
    *aparts = (struct aparts){ 0 };
    map_init(&aparts->by_hash);
}

void aparts_done(struct aparts *aparts)
{
    map_done(&aparts->by_hash);
    mem_free(aparts->words);
    mem_free(aparts->first);
    mem_free(aparts->chain);
    aparts_init(aparts);
}

void aparts_copy(struct aparts *to, const struct aparts *from)
{
    const uint32_t firsts = from->set_count > 0 ? from->set_count + 1 : 0;

    *to = *from;
    to->words = mem_copy(from->words, from->word_count, from->words_room, sizeof(*from->words));
    to->first = mem_copy(from->first, firsts, from->first_room, sizeof(*from->first));
    to->chain = mem_copy(from->chain, from->set_count, from->chain_room, sizeof(*from->chain));
    map_copy(&to->by_hash, &from->by_hash);
}

uint32_t apart_group(uint64_t mark)
{
    return APART_GROUPS + (uint32_t)(map_mix(mark) % (APART_SETS - APART_GROUPS));
}

/* In the order of the marks, each once. */
static uint32_t sort(const struct apart_mark *marks, uint32_t count, struct apart_word *ret)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct apart_word word = { .mark = apart_group(marks[i].mark),
                                         .sides = marks[i].sides };
        uint32_t at = kept;

        while (at > 0 && ret[at - 1].mark > word.mark)
            at--;
        if (word.sides == 0)
            continue;
        if (at > 0 && ret[at - 1].mark == word.mark) {
            ret[at - 1].sides |= word.sides;
        } else {
            memmove(ret + at + 1, ret + at, (kept - at) * sizeof(*ret));
            ret[at] = word;
            kept++;
        }
    }
    return kept;
}

static bool is_same(const struct aparts *aparts, uint32_t set, const struct apart_word *words,
                    uint32_t count)
{
    const uint32_t first = aparts->first[set];

    return aparts->first[set + 1] - first == count &&
           memcmp(aparts->words + first, words, count * sizeof(*words)) == 0;
}

static uint32_t append(struct aparts *aparts, const struct apart_word *words, uint32_t count)
{
    const uint32_t set = aparts->set_count++;

    assert(set < APART_NONE - APART_SETS);
    MEM_ROOM(aparts->words, aparts->words_room, aparts->word_count + count);
    MEM_ROOM(aparts->first, aparts->first_room, set + 2);
    MEM_ROOM(aparts->chain, aparts->chain_room, set + 1);
    memcpy(aparts->words + aparts->word_count, words, count * sizeof(*words));
    aparts->first[set] = aparts->word_count;
    aparts->word_count += count;
    aparts->first[set + 1] = aparts->word_count;
    return set;
}

/* The number of the words, which are sorted. */
static uint32_t intern(struct aparts *aparts, const struct apart_word *words, uint32_t count)
{
    uint64_t hash = 0;

    if (count == 0)
        return APART_NONE;
    if (count == 1 && words[0].sides == APART_BOTH)
        return words[0].mark;
    for (uint32_t i = 0; i < count; i++)
        hash = map_mix(hash ^ ((uint64_t)words[i].mark << 2 | words[i].sides));

    const uint32_t last = map_get(&aparts->by_hash, hash);

    for (uint32_t set = last; set != MAP_NONE; set = aparts->chain[set]) {
        if (is_same(aparts, set, words, count))
            return APART_SETS + set;
    }

    const uint32_t set = append(aparts, words, count);

    aparts->chain[set] = last;
    map_put(&aparts->by_hash, hash, set);
    return APART_SETS + set;
}

uint32_t aparts_add(struct aparts *aparts, const struct apart_mark *marks, uint32_t count)
{
    struct apart_word words[APART_MARKS_MAX];

    assert(count <= APART_MARKS_MAX);
    return intern(aparts, words, sort(marks, count, words));
}

uint32_t aparts_join(struct aparts *aparts, uint32_t a, uint32_t b)
{
    struct apart_word room[2];
    const struct apart_word *of_a = NULL;
    const struct apart_word *of_b = NULL;
    const uint32_t count_a = aparts_words(aparts, a, &room[0], &of_a);
    const uint32_t count_b = aparts_words(aparts, b, &room[1], &of_b);
    struct apart_word *words;
    uint32_t count = 0;
    uint32_t ret;

    if (a == b || count_b == 0)
        return a;
    if (count_a == 0)
        return b;
    words = mem_alloc((size_t)count_a + count_b, sizeof(*words));
    for (uint32_t i = 0, j = 0; i < count_a || j < count_b;) {
        const bool is_a = j == count_b || (i < count_a && of_a[i].mark <= of_b[j].mark);
        const bool is_b = i == count_a || (j < count_b && of_b[j].mark <= of_a[i].mark);

        words[count] = is_a ? of_a[i] : of_b[j];
        if (is_a && is_b)
            words[count].sides |= of_b[j].sides;
        count++;
        i += is_a;
        j += is_b;
    }
    ret = intern(aparts, words, count);
    mem_free(words);
    return ret;
}

uint32_t aparts_words(const struct aparts *aparts, uint32_t apart, struct apart_word *room,
                      const struct apart_word **ret)
{
    if (apart == APART_NONE)
        return 0;
    if (apart < APART_SETS) {
        *room = (struct apart_word){ .mark = apart, .sides = APART_BOTH };
        *ret = room;
        return 1;
    }
    assert(apart - APART_SETS < aparts->set_count);
    *ret = aparts->words + aparts->first[apart - APART_SETS];
    return aparts->first[apart - APART_SETS + 1] - aparts->first[apart - APART_SETS];
}

bool aparts_sets_meet(const struct aparts *aparts, uint32_t a, uint32_t b)
{
    struct apart_word room[2];
    const struct apart_word *of_a = NULL;
    const struct apart_word *of_b = NULL;
    const uint32_t count_a = aparts_words(aparts, a, &room[0], &of_a);
    const uint32_t count_b = aparts_words(aparts, b, &room[1], &of_b);
    uint32_t i = 0;
    uint32_t j = 0;

    while (i < count_a && j < count_b) {
        if (of_a[i].mark < of_b[j].mark) {
            i++;
        } else if (of_a[i].mark > of_b[j].mark) {
            j++;
        } else {
            if ((of_a[i].sides & APART_SHUNS && of_b[j].sides & APART_HAS) ||
                (of_a[i].sides & APART_HAS && of_b[j].sides & APART_SHUNS))
                return true;
            i++;
            j++;
        }
    }
    return false;
}
