/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - values that only a configuration has: choices, words, files, sockets.
 *
 * The daemon reads its own part of a configuration with these, and each adapter of an engine or a
 * cloud the map that is its own.
 *
 * Promises:  as doc_value.h: 'ret' stays as it is where the key is absent or wrong, and errors say the
 *            line, the key, what would be right and what was found. No file is touched.
 */
#ifndef STINT_TRACE_SETTINGS_H
#define STINT_TRACE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "trace/doc.h"

/* What is read, and what the reader of one map may know of the rest. */
struct settings {
    const char *path;            /* files are named as seen from its folder */
    const struct doc_node *root; /* of the whole configuration */
    struct arena *arena;         /* what is made lives here, as long as the texts of the document */
    const char *cluster;         /* for adapters: these are read before their maps are */
    const char *mode;            /* in a word */
    bool is_shadow;              /* nothing real is rented or placed in this mode */
    struct error *reterr;
};

/* A list of words. */
struct settings_words {
    const char **word;
    uint32_t count;
};

/* One of 'words', which end in NULL, by its index. */
int settings_choice(const struct settings *in, const struct doc_node *map, const char *key,
                    const char *const *words, int *ret);

/* A name without comma, space or '=' that does not begin with '-'; a list of such. */
int settings_word(const struct settings *in, const struct doc_node *map, const char *key,
                  const char **ret);
int settings_words(const struct settings *in, const struct doc_node *map, const char *key,
                   struct settings_words *ret);

/* A file, as seen from the folder of the configuration. */
int settings_file(const struct settings *in, const struct doc_node *map, const char *key,
                  const char **ret);

/* The file of a Unix socket; the kernel wants it short. */
int settings_socket(const struct settings *in, const struct doc_node *map, const char *key,
                    const char **ret);

/* The map under 'key' with the keys of 'allowed' only; NULL: there is none. */
int settings_section(const struct settings *in, const struct doc_node *root, const char *key,
                     const char *const *allowed, const struct doc_node **ret);

/* NULL is a text like others. */
bool settings_same_text(const char *a, const char *b);
bool settings_same_words(const struct settings_words *a, const struct settings_words *b);

#endif
