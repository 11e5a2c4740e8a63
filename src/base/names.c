/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void names_init(struct names *names)
{
    *names = (struct names){ 0 };
    map_init(&names->by_hash);
}

void names_done(struct names *names)
{
    mem_free(names->text);
    mem_free(names->offset);
    mem_free(names->chain);
    map_done(&names->by_hash);
    names_init(names);
}

void names_copy(struct names *to, const struct names *from)
{
    *to = *from;
    to->text = mem_copy(from->text, from->text_used, from->text_room, 1);
    to->offset = mem_copy(from->offset, from->count, from->offset_room, sizeof(*from->offset));
    to->chain = mem_copy(from->chain, from->count, from->chain_room, sizeof(*from->chain));
    map_copy(&to->by_hash, &from->by_hash);
}

/* FNV-1a, 64 bit. */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3U;
    return hash;
}

uint32_t names_find(const struct names *names, const char *text, size_t length)
{
    uint32_t name = map_get(&names->by_hash, hash_text(text, length));

    while (name != NAME_NONE) {
        const char *known = names->text + names->offset[name];

        if (strlen(known) == length && memcmp(known, text, length) == 0)
            return name;
        name = names->chain[name];
    }
    return NAME_NONE;
}

uint32_t names_add(struct names *names, const char *text, size_t length)
{
    const uint32_t known = names_find(names, text, length);

    if (known != NAME_NONE)
        return known;
    assert(memchr(text, 0, length) == NULL);
    assert(length < UINT32_MAX / 2 - names->text_used);

    const uint32_t name = names->count;
    const uint64_t hash = hash_text(text, length);

    MEM_ROOM(names->text, names->text_room, names->text_used + (uint32_t)length + 1);
    memcpy(names->text + names->text_used, text, length);
    names->text[names->text_used + length] = 0;
    MEM_ROOM(names->offset, names->offset_room, name + 1);
    MEM_ROOM(names->chain, names->chain_room, name + 1);
    names->offset[name] = names->text_used;
    names->chain[name] = map_get(&names->by_hash, hash);
    names->text_used += (uint32_t)length + 1;
    names->count++;
    map_put(&names->by_hash, hash, name);
    return name;
}

const char *names_text(const struct names *names, uint32_t name)
{
    assert(name < names->count);
    return names->text + names->offset[name];
}
