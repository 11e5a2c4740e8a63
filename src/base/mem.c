/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t count, size_t size)
{
    void *fresh = calloc(count > 0 ? count : 1, size);

    if (fresh == NULL)
        abort();
    return fresh;
}

void *mem_resize(void *old, size_t count, size_t size)
{
    assert(size > 0);
    if (count > SIZE_MAX / size)
        abort();

    void *fresh = realloc(old, count > 0 ? count * size : 1);

    if (fresh == NULL)
        abort();
    return fresh;
}

void *mem_copy(const void *from, size_t count, size_t room, size_t size)
{
    assert(count <= room);

    void *fresh = mem_alloc(room, size);

    if (count > 0)
        memcpy(fresh, from, count * size);
    return fresh;
}

void mem_free(void *old)
{
    free(old);
}

uint32_t mem_next_room(uint32_t room, uint32_t need)
{
    const uint32_t doubled = room < UINT32_MAX / 2 ? room * 2 : UINT32_MAX;
    const uint32_t least = need > 16 ? need : 16;

    return doubled > least ? doubled : least;
}
