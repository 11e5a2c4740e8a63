/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verb_options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest.h"

enum { NAMES_MAX = 96, NAME_SIZE = 32 };

/* What argp has of its own, and what is taken off the command line before (present.h). */
static const char *const always[] = { "help", "usage", "watch", "color" };

struct known {
    const char *names[NAMES_MAX];
    bool takes_word[NAMES_MAX]; /* the next one, if there is no '=' */
    uint32_t count;
};

static void add(struct known *known, const char *name, bool takes_word)
{
    if (known->count == NAMES_MAX)
        return; /* it is not suggested, and no word that is like it is refused here */
    known->names[known->count] = name;
    known->takes_word[known->count++] = takes_word;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as parsers are children of each other */
static void list(struct known *known, const struct argp *argp)
{
    const struct argp_option *option = argp->options;

    for (; option != NULL &&
           (option->name != NULL || option->key != 0 || option->doc != NULL || option->group != 0);
         option++) {
        if (option->name != NULL && (option->flags & OPTION_DOC) == 0)
            add(known, option->name,
                option->arg != NULL && (option->flags & OPTION_ARG_OPTIONAL) == 0);
    }
    for (const struct argp_child *child = argp->children; child != NULL && child->argp != NULL;
         child++)
        list(known, child->argp);
}

/* One that begins with the word, as getopt takes it; UINT32_MAX: none. */
static uint32_t find(const struct known *known, const char *word, size_t length)
{
    for (uint32_t i = 0; i < known->count; i++) {
        if (strncmp(known->names[i], word, length) == 0)
            return i;
    }
    return UINT32_MAX;
}

/* Whether it was answered. What no option could be called is left to argp. */
static bool answer(const struct known *known, const char *program, const char *word, size_t length)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char name[NAME_SIZE];

    if (length >= sizeof(name) || strspn(word, letters) < length)
        return false;
    memcpy(name, word, length);
    name[length] = '\0';

    const char *near = suggest(name, known->names, known->count);

    if (near == NULL)
        return false;
    (void)fprintf(stderr,
                  "%s: there is no option '--%s'; did you mean '--%s'? `%s --help` lists them\n",
                  program, name, near, program);
    return true;
}

error_t verb_options(const struct argp *argp, int argc, char **argv, void *input)
{
    struct known known = { .count = 0 };

    list(&known, argp);
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        add(&known, always[i], false);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && known.count < NAMES_MAX; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;

        const char *word = argv[i] + 2;
        const size_t length = strcspn(word, "=");
        const uint32_t found = find(&known, word, length);

        if (found == UINT32_MAX && answer(&known, argv[0], word, length))
            return EINVAL;
        if (found != UINT32_MAX && known.takes_word[found] && word[length] == '\0')
            i++; /* it is the option's, whatever it looks like */
    }
    return argp_parse(argp, argc, argv, 0, NULL, input);
}
