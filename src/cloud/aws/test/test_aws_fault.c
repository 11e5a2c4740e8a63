/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <errno.h>

#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_http.h"

TEST(the_code_decides_and_the_status_only_without_one)
{
    static const struct {
        int fault;
        int status;
        const char *code;
        enum aws_verdict verdict;
    } CASES[] = {
        { 0, 200, "", AWS_DONE },
        { 0, 500, "InsufficientInstanceCapacity", AWS_NO_CAPACITY },
        { 0, 500, "InsufficientVolumeCapacity", AWS_NO_CAPACITY },
        { 0, 401, "AuthFailure", AWS_STALE_KEYS },
        { 0, 400, "ResourceCountLimitExceeded", AWS_TOO_MANY },
        { 0, 400, "IdempotentInstanceTerminated", AWS_MISMATCH },
        { 0, 400, "VcpuLimitExceeded", AWS_NO_QUOTA },
        { 0, 503, "RequestLimitExceeded", AWS_THROTTLED },
        { 0, 400, "RequestExpired", AWS_STALE_KEYS },
        { 0, 403, "UnauthorizedOperation", AWS_NOT_ALLOWED },
        { 0, 400, "IdempotentParameterMismatch", AWS_MISMATCH },
        { 0, 400, "InvalidInstanceID.NotFound", AWS_NOT_FOUND },
        { 0, 500, "InternalError", AWS_LOST },
        { 0, 500, "", AWS_LOST },
        { 0, 502, "SomethingNew", AWS_LOST },
        { 0, 400, "SomethingNew", AWS_WRONG },
        { 0, 403, "", AWS_NOT_ALLOWED },
        { 0, 302, "", AWS_LOST },
        { -ETIMEDOUT, 0, "", AWS_LOST },
        { -ECONNRESET, 200, "", AWS_LOST },
        { -ENOKEY, 0, "", AWS_NOT_SENT },
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const struct aws_http_answer answer = { .fault = CASES[i].fault,
                                                .status = CASES[i].status };

        assert_int_equal(aws_fault_judge(&answer, CASES[i].code), CASES[i].verdict);
    }
}

TEST(the_wait_doubles_to_its_end_and_uses_all_of_its_span)
{
    struct rng rng;
    msec_t most[8] = { 0 };
    msec_t least[8] = { MSEC_NEVER, MSEC_NEVER, MSEC_NEVER, MSEC_NEVER,
                        MSEC_NEVER, MSEC_NEVER, MSEC_NEVER, MSEC_NEVER };

    rng_init(&rng, 1, 0);
    for (int i = 0; i < 20000; i++) {
        const uint32_t attempt = (uint32_t)i % 8;
        const msec_t wait = aws_fault_wait(&rng, 100, 1000, attempt);

        most[attempt] = wait > most[attempt] ? wait : most[attempt];
        least[attempt] = wait < least[attempt] ? wait : least[attempt];
    }

    assert_int_equal(most[0], 100);
    assert_int_equal(most[1], 200);
    assert_in_range((uintmax_t)most[7], 990, 1000);
    assert_in_range((uintmax_t)least[7], 50, 60); /* never at once */
}

TEST(a_bucket_gives_its_burst_and_then_its_rate)
{
    struct aws_bucket bucket;
    int taken = 0;

    aws_bucket_init(&bucket, 3, 500);
    for (msec_t now = 10000; now < 12000; now += 10)
        taken += aws_bucket_take(&bucket, now) ? 1 : 0;

    assert_int_equal(taken, 3 + 3);
    assert_int_equal(aws_bucket_next(&bucket, 11990), 12000);
    aws_bucket_drain(&bucket, 12000);
    assert_int_equal(aws_bucket_next(&bucket, 12000), 12500);
    assert_false(aws_bucket_take(&bucket, 12499));
    assert_true(aws_bucket_take(&bucket, 12500));
}

CHECK_MAIN(RUN(the_code_decides_and_the_status_only_without_one),
           RUN(the_wait_doubles_to_its_end_and_uses_all_of_its_span),
           RUN(a_bucket_gives_its_burst_and_then_its_rate))
