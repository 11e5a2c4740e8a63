/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_rate.h"

#include <string.h>

#include "trace/number.h"

static const char prefix[] = "stint:";
static const char key[] = "rate=";

bool slurm_rate_is_word(const char *word, size_t length)
{
    return length >= strlen(key) && memcmp(word, key, strlen(key)) == 0;
}

/* The last such word of the comment, behind its key; NULL: there is none. */
static const char *find_word(const char *comment, size_t *ret_length)
{
    static const char separators[] = " ;\t\n";
    const char *found = NULL;

    for (const char *at = comment + strspn(comment, separators); *at != '\0';
         at += strspn(at, separators)) {
        const size_t length = strcspn(at, separators);
        const size_t begin = strlen(prefix);

        if (length > begin && memcmp(at, prefix, begin) == 0 &&
            slurm_rate_is_word(at + begin, length - begin)) {
            found = at + begin + strlen(key);
            *ret_length = length - begin - strlen(key);
        }
        at += length;
    }
    return found;
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619U;
    return hash;
}

bool slurm_rate_hear(const char *comment, uint32_t *last, uint32_t *ret_ppm)
{
    size_t length = 0;
    const char *word = comment == NULL ? NULL : find_word(comment, &length);
    const uint32_t report = word == NULL ? 0 : hash_of(word, length);

    if (report == *last)
        return false;
    *last = report;
    if (word == NULL)
        return false;

    const char *mark = memchr(word, '#', length);

    return number_rate(word, mark == NULL ? length : (size_t)(mark - word), ret_ppm) == 0;
}
