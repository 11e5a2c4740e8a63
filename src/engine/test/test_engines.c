/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/test/check.h"
#include "engine/engines.h"

static void check_lines(const struct adapter_lines *lines)
{
    assert_non_null(lines->connected);
    assert_non_null(lines->disconnected);
    assert_non_null(lines->line);
    assert_non_null(lines->flush);
    assert_non_null(lines->next_wake);
    assert_non_null(lines->tick);
}

TEST(every_engine_brings_all_that_is_asked_of_one)
{
    assert_non_null(engines[0]);
    for (int i = 0; engines[i] != NULL; i++) {
        const struct engine_adapter *engine = engines[i];

        assert_non_null(engine->title);
        assert_true(engine->default_rate > 0 && engine->default_rate <= 1);
        assert_non_null(engine->words.not_ready);
        assert_non_null(engine->words.no_boot);
        assert_non_null(engine->words.no_start);
        assert_non_null(engine->words.bad_machine);
        assert_non_null(engine->words.still_busy);
        assert_true(engine->read != NULL && engine->is_same != NULL && engine->examine != NULL);
        assert_true(engine->lags != NULL && engine->create != NULL && engine->destroy != NULL);
        assert_true(engine->port != NULL && engine->is_usable != NULL && engine->fault != NULL);
        assert_true(engine->label != NULL && engine->find != NULL && engine->wait != NULL);
        assert_true(engine->cost != NULL && engine->each_stray != NULL);
        assert_non_null(engine->each_finding);
        assert_int_equal(engine->lines != NULL, engine->peer != NULL);
        if (engine->lines != NULL)
            check_lines(engine->lines);
    }
}

TEST(no_two_engines_have_one_name)
{
    for (int i = 0; engines[i] != NULL; i++) {
        for (int j = 0; j < i; j++)
            assert_string_not_equal(engines[i]->name, engines[j]->name);
    }
}

CHECK_MAIN(RUN(every_engine_brings_all_that_is_asked_of_one), RUN(no_two_engines_have_one_name))
