/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/lib_private.h"

/* NOLINTBEGIN(misc-redundant-expression): that they are the same is what is asserted */
static_assert(STINT_TIME_MAX == LIMIT_TIME_MS, "the header promises it");
static_assert(STINT_MONEY_MAX == LIMIT_MONEY, "the header promises it");
static_assert(STINT_AMOUNT_MAX == LIMIT_RESOURCE, "the header promises it");
static_assert(STINT_NEVER == MSEC_NEVER, "times are handed out as they are");
static_assert(STINT_MONEY_UNKNOWN == MONEY_UNKNOWN, "prices are handed out as they are");
static_assert(STINT_NONE == OFFER_NONE, "offers are handed out as they are");
static_assert((int)STINT_ERROR_SIZE == (int)ERROR_TEXT_SIZE, "no text is cut");
/* NOLINTEND(misc-redundant-expression) */

const char *stint_version(void)
{
    return STINT_VERSION;
}

int lib_fail(struct stint_error *reterr, int code, const char *what)
{
    struct error error;

    return lib_fail_as(reterr, error_set(&error, code, "%s", what), &error);
}

int lib_fail_as(struct stint_error *reterr, int code, const struct error *error)
{
    if (reterr != NULL)
        memcpy(reterr->text, error->text, sizeof(reterr->text));
    return code;
}

static size_t size_of(const void *given)
{
    size_t size;

    memcpy(&size, given, sizeof(size));
    return size;
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

int lib_take(void *ret, size_t size, const void *given, size_t least)
{
    if (given == NULL || size_of(given) < least)
        return -EINVAL;

    const size_t theirs = size_of(given);

    if (theirs > size && !is_zero((const unsigned char *)given + size, theirs - size))
        return -EINVAL;
    memset(ret, 0, size);
    memcpy(ret, given, theirs < size ? theirs : size);
    return 0;
}

int lib_give(void *ret, const void *from, size_t size, size_t least)
{
    if (ret == NULL || size_of(ret) < least)
        return -EINVAL;

    const size_t theirs = size_of(ret);

    memset(ret, 0, theirs);
    memcpy(ret, from, theirs < size ? theirs : size);
    memcpy(ret, &theirs, sizeof(theirs));
    return 0;
}

bool lib_read_resources(const struct stint_resources *given, struct res *ret)
{
    const struct res res = { .amount = {
                                 [RES_CPU] = given->cpu_milli,
                                 [RES_MEM] = given->memory_mib,
                                 [RES_ACCEL] = given->accel_milli,
                             } };
    bool is_some = false;

    static_assert(RES_PRICED == 3, "a further kind is a field of struct stint_resources");
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (res.amount[kind] < 0 || res.amount[kind] > LIMIT_RESOURCE)
            return false;
        is_some = is_some || res.amount[kind] > 0;
    }
    if (!is_some || !is_zero((const unsigned char *)given->unused, sizeof(given->unused)))
        return false;
    *ret = res;
    return true;
}

struct stint_resources lib_resources(const struct res *res)
{
    return (struct stint_resources){
        .cpu_milli = res->amount[RES_CPU],
        .memory_mib = res->amount[RES_MEM],
        .accel_milli = res->amount[RES_ACCEL],
    };
}

bool lib_is_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strnlen(name, LIMIT_NAME + 1) <= LIMIT_NAME;
}
