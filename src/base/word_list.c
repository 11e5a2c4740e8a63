/* SPDX-License-Identifier: Apache-2.0 */
#include "base/word_list.h"

#include <string.h>

bool word_list_has(const char *list, const char *separators, const char *word, size_t length)
{
    while (list != NULL && *list != '\0' && length > 0) {
        const size_t other = strcspn(list, separators);

        if (other == length && strncmp(list, word, length) == 0)
            return true;
        list += other + (list[other] != '\0');
    }
    return false;
}
