/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_fault.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cloud/aws/aws_http.h"

static const struct {
    const char *code;
    enum aws_verdict verdict;
} codes[] = {
    { "SpotMaxPriceTooLow", AWS_NO_CAPACITY },
    { "VcpuLimitExceeded", AWS_NO_QUOTA },
    { "InstanceLimitExceeded", AWS_NO_QUOTA },
    { "MaxSpotInstanceCountExceeded", AWS_NO_QUOTA },
    { "RequestLimitExceeded", AWS_THROTTLED },
    { "Throttling", AWS_THROTTLED },
    { "ThrottlingException", AWS_THROTTLED },
    { "RequestThrottled", AWS_THROTTLED },
    { "ResourceCountLimitExceeded", AWS_TOO_MANY },
    { "SlowDown", AWS_THROTTLED },
    { "ExpiredToken", AWS_STALE_KEYS },
    { "ExpiredTokenException", AWS_STALE_KEYS },
    { "RequestExpired", AWS_STALE_KEYS },
    { "InvalidClientTokenId", AWS_STALE_KEYS },
    { "AuthFailure", AWS_STALE_KEYS }, /* also of a key that was rotated: there is another one */
    { "UnauthorizedOperation", AWS_NOT_ALLOWED },
    { "AccessDenied", AWS_NOT_ALLOWED },
    { "AccessDeniedException", AWS_NOT_ALLOWED },
    { "Blocked", AWS_NOT_ALLOWED },
    { "OptInRequired", AWS_NOT_ALLOWED },
    { "PendingVerification", AWS_NOT_ALLOWED },
    { "SignatureDoesNotMatch", AWS_NOT_ALLOWED },
    { "IncompleteSignature", AWS_NOT_ALLOWED },
    { "MissingAuthenticationToken", AWS_NOT_ALLOWED },
    { "Unsupported", AWS_BAD_OFFER },
    { "UnsupportedOperation", AWS_BAD_OFFER },
    { "InvalidInstanceType", AWS_BAD_OFFER },
    { "InvalidAvailabilityZone", AWS_BAD_OFFER },
    { "InvalidInstanceID.NotFound", AWS_NOT_FOUND },
    { "InvalidInstanceID.Malformed", AWS_NOT_FOUND },
    { "IdempotentParameterMismatch", AWS_MISMATCH },
    { "IdempotentInstanceTerminated", AWS_MISMATCH },
    /* Said before anything is done, but also after: only asking again can tell. */
    { "InternalError", AWS_LOST },
    { "InternalFailure", AWS_LOST },
    { "Unavailable", AWS_LOST },
    { "ServiceUnavailable", AWS_LOST },
};

/* Of instances, hosts, volumes, addresses: EC2 has many, and all mean that another offer may do. */
static const char insufficient[] = "Insufficient";

enum aws_verdict aws_fault_judge(const struct aws_http_answer *answer, const char *code)
{
    if (answer->fault == -ENOKEY || answer->fault == -EKEYREJECTED)
        return AWS_NOT_SENT;
    if (answer->fault < 0)
        return AWS_LOST;
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        if (strcmp(codes[i].code, code) == 0)
            return codes[i].verdict;
    }
    if (strncmp(code, insufficient, sizeof(insufficient) - 1) == 0)
        return AWS_NO_CAPACITY;
    if (answer->status == 200 && code[0] == '\0')
        return AWS_DONE;
    if (answer->status == 429)
        return AWS_THROTTLED;
    if (answer->status == 401 || answer->status == 403)
        return AWS_NOT_ALLOWED;
    return answer->status >= 400 && answer->status < 500 ? AWS_WRONG : AWS_LOST;
}

bool aws_fault_is_of_keys(const char *code)
{
    static const char *const of_keys[] = { "AuthFailure",          "SignatureDoesNotMatch",
                                           "InvalidClientTokenId", "UnrecognizedClientException",
                                           "IncompleteSignature",  "MissingAuthenticationToken" };

    for (size_t i = 0; i < sizeof(of_keys) / sizeof(*of_keys); i++) {
        if (strcmp(code, of_keys[i]) == 0)
            return true;
    }
    return false;
}

msec_t aws_fault_wait(struct rng *rng, msec_t base, msec_t most, uint32_t attempt)
{
    assert(base > 0);
    assert(most >= base);

    msec_t span = base;

    for (uint32_t i = 0; i < attempt && span < most; i++)
        span *= 2;
    if (span > most)
        span = most;
    return base / 2 + (msec_t)rng_below(rng, (uint64_t)(span - base / 2) + 1);
}

void aws_bucket_init(struct aws_bucket *bucket, int64_t burst, msec_t every)
{
    assert(burst > 0);
    assert(every >= 0);
    *bucket = (struct aws_bucket){ .burst = burst, .every = every, .milli = burst * every };
}

static void fill(struct aws_bucket *bucket, msec_t now)
{
    const int64_t most = bucket->burst * bucket->every;
    const int64_t grown = now > bucket->at ? now - bucket->at : 0;

    bucket->milli = grown >= most - bucket->milli ? most : bucket->milli + grown;
    bucket->at = now;
}

bool aws_bucket_take(struct aws_bucket *bucket, msec_t now)
{
    fill(bucket, now);
    if (bucket->milli < bucket->every)
        return false;
    bucket->milli -= bucket->every;
    return true;
}

msec_t aws_bucket_next(const struct aws_bucket *bucket, msec_t now)
{
    struct aws_bucket then = *bucket;

    fill(&then, now);
    return then.milli >= then.every ? now : now + then.every - then.milli;
}

void aws_bucket_drain(struct aws_bucket *bucket, msec_t now)
{
    bucket->milli = 0;
    bucket->at = now;
}
