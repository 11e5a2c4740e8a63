/* SPDX-License-Identifier: Apache-2.0 */
#include "model/plan.h"

#include <string.h>

#include "base/test/check.h"

TEST(a_new_plan_changes_nothing)
{
    struct arena arena;
    struct plan plan;

    arena_init(&arena);
    plan_init(&plan, &arena);

    assert_int_equal(plan.rent_count, 0);
    assert_int_equal(plan.place_count, 0);
    assert_int_equal(plan.release_count, 0);
    assert_int_equal(plan.kind, PLAN_PLAIN);
    arena_done(&arena);
}

TEST(rents_are_numbered_in_order_and_survive_growth)
{
    enum { MANY = 1000 };
    struct arena arena;
    struct plan plan;

    arena_init(&arena);
    plan_init(&plan, &arena);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(plan_rent(&plan, i * 3, plan_because(REASON_BEST_SCORE, i)), i);

    assert_int_equal(plan.rent_count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(plan.rents[i].offer, i * 3);
        assert_int_equal(plan.rents[i].why.chosen, i);
    }
    arena_done(&arena);
}

TEST(places_keep_their_order_and_survive_growth)
{
    enum { MANY = 1000 };
    struct arena arena;
    struct plan plan;

    arena_init(&arena);
    plan_init(&plan, &arena);
    for (uint32_t i = 0; i < MANY; i++)
        plan_place_kept(&plan, i, i + 7, plan_because(REASON_FITS_KEPT, 0));

    assert_int_equal(plan.place_count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(plan.places[i].task, i);
        assert_int_equal(plan.places[i].target, i + 7);
    }
    arena_done(&arena);
}

TEST(releases_keep_their_order_and_survive_growth)
{
    enum { MANY = 1000 };
    struct arena arena;
    struct plan plan;

    arena_init(&arena);
    plan_init(&plan, &arena);
    for (uint32_t i = 0; i < MANY; i++)
        plan_release(&plan, MANY - i, plan_because(REASON_EMPTY, i));

    assert_int_equal(plan.release_count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(plan.releases[i].instance, MANY - i);
        assert_int_equal(plan.releases[i].why.chosen, i);
    }
    arena_done(&arena);
}

TEST(expected_places_keep_those_before_and_leave_room)
{
    enum { MANY = 100 };

    struct arena arena;
    struct plan plan;

    arena_init(&arena);
    plan_init(&plan, &arena);
    plan_place_kept(&plan, 9, 3, plan_because(REASON_FITS_KEPT, 0));
    plan_expect_places(&plan, MANY);
    assert_int_equal(plan.places_room, MANY + 1);
    assert_int_equal(plan.place_count, 1);
    assert_int_equal(plan.places[0].task, 9);

    const struct plan_place *places = plan.places;

    for (uint32_t i = 0; i < MANY; i++)
        plan_place_kept(&plan, i, 3, plan_because(REASON_FITS_KEPT, 0));
    assert_ptr_equal(plan.places, places);
    plan_expect_places(&plan, 0);
    assert_ptr_equal(plan.places, places);
    plan_place_kept(&plan, 77, 3, plan_because(REASON_FITS_KEPT, 0));
    assert_int_equal(plan.places[0].task, 9);
    assert_int_equal(plan.places[MANY].task, MANY - 1);
    assert_int_equal(plan.places[MANY + 1].task, 77);
    arena_done(&arena);
}

TEST(a_place_says_whether_its_target_is_rented_by_the_plan)
{
    struct arena arena;
    struct plan plan;

    arena_init(&arena);
    plan_init(&plan, &arena);
    const uint32_t rent = plan_rent(&plan, 4, plan_because(REASON_CHEAPEST_ALONE, 100));
    plan_place_fresh(&plan, 8, rent, plan_because(REASON_CHEAPEST_ALONE, 100));
    plan_place_kept(&plan, 9, rent, plan_because(REASON_FITS_KEPT, 0));

    assert_true(plan.places[0].fresh);
    assert_int_equal(plan.places[0].target, rent);
    assert_false(plan.places[1].fresh);
    arena_done(&arena);
}

TEST(a_plain_reason_names_no_alternative)
{
    const struct plan_reason why = plan_because(REASON_SAME_BIN, 1234);

    assert_int_equal(why.code, REASON_SAME_BIN);
    assert_int_equal(why.chosen, 1234);
    assert_true(why.passed_over == MONEY_UNKNOWN);
    assert_int_equal(why.passed_offer, UINT32_MAX);
}

TEST(every_reason_has_words_of_its_own)
{
    for (int code = 0; code < REASON_COUNT; code++) {
        const char *text = plan_reason_text((enum plan_reason_code)code);

        if (text == NULL || *text == 0) {
            fail_msg("reason %d has no words", code);
            return;
        }
        for (int other = 0; other < code; other++) {
            if (strcmp(text, plan_reason_text((enum plan_reason_code)other)) == 0)
                fail_msg("reasons %d and %d read alike", other, code);
        }
    }
}

TEST(what_was_chosen_is_no_alternative_to_itself)
{
    struct plan_reason why = plan_because(REASON_BEST_VALUE, 992000);

    plan_reject(&why, 3, 4, 1100000);
    assert_int_equal(why.passed_offer, 4);
    assert_int_equal(why.passed_over, 1100000);
    plan_reject(&why, 3, 3, 992000);
    assert_int_equal(why.passed_offer, UINT32_MAX);
    assert_true(why.passed_over == MONEY_UNKNOWN);
    plan_reject(&why, 3, UINT32_MAX, 5);
    assert_true(why.passed_over == MONEY_UNKNOWN);
}

TEST(a_move_says_what_it_saves_and_what_it_costs)
{
    struct plan_reason why = plan_because(REASON_REPACKED, 992000);
    char text[PLAN_REASON_SIZE];
    char want[PLAN_REASON_SIZE];

    plan_reason_words(&why, text);
    assert_string_equal(text, plan_reason_text(REASON_REPACKED));
    why.saving = 12345600;
    why.move_cost = 21499;
    plan_reason_words(&why, text);
    (void)snprintf(want, sizeof(want), "%s: saves $12.35, and the move costs $0.021",
                   plan_reason_text(REASON_REPACKED));
    assert_string_equal(text, want);
    why.saving = -999900;
    plan_reason_words(&why, text);
    assert_non_null(strstr(text, "saves -$1.000,"));
}

TEST(parts_of_a_saving_add_up_to_it)
{
    struct plan_place places[3] = { { 0 } };
    money_t saving = 0;
    money_t cost = 0;

    plan_share_saving(places, 3, 1000000, 50);
    for (int i = 0; i < 3; i++) {
        saving += places[i].why.saving;
        cost += places[i].why.move_cost;
    }

    assert_int_equal(saving, 1000000);
    assert_int_equal(cost, 50);
    assert_int_equal(places[0].why.saving, 333333);
}

CHECK_MAIN(RUN(a_new_plan_changes_nothing), RUN(rents_are_numbered_in_order_and_survive_growth),
           RUN(places_keep_their_order_and_survive_growth),
           RUN(releases_keep_their_order_and_survive_growth),
           RUN(expected_places_keep_those_before_and_leave_room),
           RUN(a_place_says_whether_its_target_is_rented_by_the_plan),
           RUN(a_plain_reason_names_no_alternative), RUN(every_reason_has_words_of_its_own),
           RUN(what_was_chosen_is_no_alternative_to_itself),
           RUN(a_move_says_what_it_saves_and_what_it_costs), RUN(parts_of_a_saving_add_up_to_it))
