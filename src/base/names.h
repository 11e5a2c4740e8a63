/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - each different string once, as a small number.
 *
 * Numbers count from 0 in the order the strings were first seen, so they are good indexes.
 *
 * Costs:  O(length) to intern or find; names_text is an array access.
 */
#ifndef STINT_BASE_NAMES_H
#define STINT_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define NAME_NONE UINT32_MAX

struct names {
    char *text;       /* all strings, each with its final zero */
    uint32_t *offset; /* of each string in 'text' */
    uint32_t *chain;  /* next string with the same hash */
    uint32_t count;
    uint32_t offset_room;
    uint32_t chain_room;
    uint32_t text_used;
    uint32_t text_room;
    struct map by_hash;
};

void names_init(struct names *names);
void names_done(struct names *names);

/* 'to' is not initialised; every string has the same number there. */
void names_copy(struct names *to, const struct names *from);

/* The number of the string, new if it has none yet. */
uint32_t names_add(struct names *names, const char *text, size_t length);

/* The number of the string, or NAME_NONE. */
uint32_t names_find(const struct names *names, const char *text, size_t length);

/* Valid until the next names_add. */
const char *names_text(const struct names *names, uint32_t name);

#endif
