/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what every test program starts with: cmocka and the headers it wants before it.
 *
 * A test is a function TEST(name_that_can_be_false); a program runs them with CHECK_MAIN. Output is
 * TAP, so that the build counts each test and not each program.
 */
#ifndef STINT_BASE_CHECK_H
#define STINT_BASE_CHECK_H

/* cmocka.h leans on these without including them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state __attribute__((unused)))

#define CHECK_MAIN(...)                                    \
    int main(void)                                         \
    {                                                      \
        const struct CMUnitTest tests[] = { __VA_ARGS__ }; \
                                                           \
        cmocka_set_message_output(CM_OUTPUT_TAP);          \
        return cmocka_run_group_tests(tests, NULL, NULL);  \
    }

#define RUN(name) cmocka_unit_test(name)

#endif
