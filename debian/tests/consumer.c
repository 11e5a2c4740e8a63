/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else's program, as small as can be: it links with libstint and lists the policies. */
#include "policy/policy.h"

#include <stdio.h>

int main(void)
{
    for (uint32_t i = 0; i < policy_count; i++)
        printf("%s: %s\n", policies[i]->name, policies[i]->summary);
    return policy_find("eva") == NULL;
}
