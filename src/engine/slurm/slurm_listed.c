/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_listed.h"

#include <string.h>

bool slurm_listed(const char *list, const char *separators, const char *word, size_t length)
{
    while (list != NULL && *list != '\0' && length > 0) {
        const size_t other = strcspn(list, separators);

        if (other == length && strncmp(list, word, length) == 0)
            return true;
        list += other + (list[other] != '\0');
    }
    return false;
}

bool slurm_listed_rule(const char *partition, const char *account, const char *partitions,
                       const char *of_account)
{
    if (partition != NULL && !slurm_listed(partitions, ",", partition, strlen(partition)))
        return false;
    return account == NULL || (of_account != NULL && strcmp(account, of_account) == 0);
}
