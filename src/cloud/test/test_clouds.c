/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/test/check.h"
#include "cloud/clouds.h"

static void check_lines(const struct adapter_lines *lines)
{
    assert_non_null(lines->connected);
    assert_non_null(lines->disconnected);
    assert_non_null(lines->line);
    assert_non_null(lines->flush);
    assert_non_null(lines->next_wake);
    assert_non_null(lines->tick);
}

TEST(every_cloud_brings_all_that_is_asked_of_one)
{
    assert_non_null(clouds[0]);
    for (int i = 0; clouds[i] != NULL; i++) {
        const struct cloud_adapter *cloud = clouds[i];

        assert_true(cloud->read != NULL && cloud->is_same != NULL && cloud->examine != NULL);
        assert_true(cloud->region != NULL && cloud->settle_ms != NULL);
        assert_true(cloud->create != NULL && cloud->destroy != NULL && cloud->port != NULL);
        assert_true(cloud->is_usable != NULL && cloud->fault != NULL);
        assert_int_equal(cloud->lines != NULL, cloud->peer != NULL);
        if (cloud->lines != NULL)
            check_lines(cloud->lines);
    }
}

TEST(what_goes_together_is_there_together)
{
    for (int i = 0; clouds[i] != NULL; i++) {
        const struct cloud_adapter *cloud = clouds[i];

        assert_int_equal(cloud->recall != NULL, cloud->memory != NULL);
        assert_int_equal(cloud->recall != NULL, cloud->refusal != NULL);
        assert_int_equal(cloud->gather != NULL, cloud->gather_help != NULL);
        if (cloud->lines == NULL) /* there is no program whose end could be the fault */
            assert_non_null(cloud->down_advice);
    }
}

/* The name is in the state file: with another one, machines would not be found again. */
TEST(names_are_what_they_were)
{
    assert_string_equal(clouds[0]->name, "local");
    assert_string_equal(clouds[1]->name, "aws");
    for (int i = 0; clouds[i] != NULL; i++) {
        for (int j = 0; j < i; j++)
            assert_string_not_equal(clouds[i]->name, clouds[j]->name);
    }
}

CHECK_MAIN(RUN(every_cloud_brings_all_that_is_asked_of_one),
           RUN(what_goes_together_is_there_together), RUN(names_are_what_they_were))
