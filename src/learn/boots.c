/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/boots.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void boots_init(struct boots *boots, uint32_t types)
{
    boots->types = types;
    boots->lessons = mem_alloc((size_t)types + 1, sizeof(*boots->lessons));
}

void boots_done(struct boots *boots)
{
    mem_free(boots->lessons);
    *boots = (struct boots){ 0 };
}

static void add(struct boot_lessons *lessons, struct boot_times times)
{
    lessons->times[lessons->count++ % BOOTS_KEPT] = times;
}

void boots_learn(struct boots *boots, uint32_t type, struct boot_times times)
{
    assert(type < boots->types);
    assert(times.acquire >= 0);
    assert(times.setup >= 0);
    add(&boots->lessons[type], times);
    add(&boots->lessons[boots->types], times);
}

static int compare(const void *a, const void *b)
{
    const msec_t left = *(const msec_t *)a;
    const msec_t right = *(const msec_t *)b;

    return (left > right) - (left < right);
}

static msec_t median(msec_t *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

static uint32_t gather(const struct boot_lessons *from, msec_t *acquire, msec_t *setup)
{
    const uint32_t count = from->count < BOOTS_KEPT ? from->count : BOOTS_KEPT;

    for (uint32_t i = 0; i < count; i++) {
        acquire[i] = from->times[i].acquire;
        setup[i] = from->times[i].setup;
    }
    return count;
}

bool boots_expect(const struct boots *boots, uint32_t type, struct boot_times *ret)
{
    assert(type < boots->types);

    const struct boot_lessons *own = &boots->lessons[type];
    msec_t acquire[BOOTS_KEPT];
    msec_t setup[BOOTS_KEPT];
    uint32_t count = gather(&boots->lessons[boots->types], acquire, setup);

    if (count < BOOTS_LEAST)
        return false;
    ret->acquire = median(acquire, count);
    if (own->count >= BOOTS_LEAST)
        count = gather(own, acquire, setup);
    ret->setup = median(setup, count);
    return true;
}
