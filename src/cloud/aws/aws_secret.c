/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

struct aws_secret *aws_secret_create(void)
{
    void *page = mmap(NULL, sizeof(struct aws_secret), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        abort();
    (void)madvise(page, sizeof(struct aws_secret), MADV_DONTDUMP);
    /* Swap is a file too; where locking is not allowed, go on without. */
    (void)mlock(page, sizeof(struct aws_secret));

    struct aws_secret *secret = page;

    secret->expires_at = MSEC_NEVER;
    return secret;
}

void aws_secret_destroy(struct aws_secret *secret)
{
    if (secret == NULL)
        return;
    aws_secret_wipe(secret);
    (void)munmap(secret, sizeof(*secret));
}

void aws_secret_wipe(struct aws_secret *secret)
{
    explicit_bzero(secret, sizeof(*secret));
    secret->expires_at = MSEC_NEVER;
}

static bool is_printable(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);

    for (size_t i = 0; i < length; i++) {
        if (text[i] <= 0x20 || text[i] >= 0x7f)
            return false;
    }
    return length < size;
}

bool aws_secret_is_good(const struct aws_secret *secret)
{
    return secret->access_key[0] != '\0' && secret->secret_key[0] != '\0' &&
           is_printable(secret->access_key, sizeof(secret->access_key)) &&
           is_printable(secret->secret_key, sizeof(secret->secret_key)) &&
           is_printable(secret->session_token, sizeof(secret->session_token));
}

void aws_secret_guard(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
