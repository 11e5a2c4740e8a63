/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_fields.h"

#include <stddef.h>
#include <string.h>

#include "base/map.h"

#define PER_CPU ((uint64_t)1 << 63) /* Slurm's MEM_PER_CPU */

static uint64_t leading_number(const char *text)
{
    uint64_t number = 0;

    for (; *text >= '0' && *text <= '9' && number < UINT64_MAX / 16; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return number;
}

uint64_t slurm_fields_tres(const char *tres, const char *name, uint64_t otherwise)
{
    const size_t length = strlen(name);

    while (tres != NULL) {
        if (strncmp(tres, name, length) == 0 && tres[length] == '=')
            return leading_number(tres + length + 1);
        tres = strchr(tres, ',');
        if (tres != NULL)
            tres++;
    }
    return otherwise;
}

uint64_t slurm_fields_mem_mib(uint64_t asked, uint64_t cpus, uint64_t nodes)
{
    const uint64_t amount = asked & ~PER_CPU;

    if ((asked & PER_CPU) == 0)
        return amount;
    if (nodes == 0)
        nodes = 1;
    const uint64_t per_node = cpus / nodes + (cpus % nodes != 0);

    if (per_node != 0 && amount > UINT64_MAX / per_node)
        return UINT64_MAX;
    return amount * per_node;
}

uint64_t slurm_fields_hash(const char *bytes, uint64_t size)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3U;
    return map_mix(hash);
}
