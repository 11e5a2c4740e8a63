/* SPDX-License-Identifier: Apache-2.0 */
#include "model/caps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void caps_init(struct caps *caps)
{
    *caps = (struct caps){ .count = 0 };
    (void)caps_set(caps, NULL, 0);
}

void caps_done(struct caps *caps)
{
    mem_free(caps->row);
    mem_free(caps->sets);
    *caps = (struct caps){ .count = 0 };
}

uint32_t caps_add(struct caps *caps, const struct cap *cap)
{
    MEM_ROOM(caps->row, caps->room, caps->count + 1);
    caps->row[caps->count] = *cap;
    return caps->count++;
}

static int compare_u32(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

uint32_t caps_set(struct caps *caps, const uint32_t *cap, uint32_t count)
{
    struct cap_set set = { .count = count };

    assert(count <= CAPS_PER_SET);
    if (count > 0) {
        memcpy(set.cap, cap, count * sizeof(*cap));
        qsort(set.cap, count, sizeof(*set.cap), compare_u32);
    }
    for (uint32_t i = 0; i < caps->set_count; i++) {
        if (memcmp(&caps->sets[i], &set, sizeof(set)) == 0)
            return i;
    }
    MEM_ROOM(caps->sets, caps->sets_room, caps->set_count + 1);
    caps->sets[caps->set_count] = set;
    return caps->set_count++;
}

uint32_t caps_spent(const struct caps *caps, uint32_t set)
{
    for (uint32_t i = 0; i < caps->sets[set].count; i++) {
        if (caps->row[caps->sets[set].cap[i]].is_spent)
            return caps->sets[set].cap[i];
    }
    return CAP_NONE;
}
