/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_mask.h against plain comparisons: no row that fits is left out, and few are let through that do not.
 */
#include "decide/fit_mask.h"

#include "base/rng.h"
#include "decide/test/yard.h"

enum { WORLDS = 2000 };

/* Of all sizes alike, 0 and beyond the last step included. */
static int64_t draw(struct rng *rng)
{
    const int64_t most = (int64_t)1 << rng_below(rng, FIT_LAST_BITS + 8);

    return (int64_t)rng_below(rng, (uint64_t)most);
}

static struct res draw_res(struct rng *rng)
{
    struct res res;

    for (int kind = 0; kind < RES_KINDS; kind++)
        res.amount[kind] = kind < RES_PRICED ? draw(rng) : 0;
    return res;
}

TEST(steps_grow_with_the_amount_and_end_in_time)
{
    const int64_t last = (int64_t)1 << (FIT_LAST_BITS + 1);
    uint32_t before = 0;

    assert_int_equal(fit_step(0), 0);
    for (int64_t amount = 0; amount < last; amount++) {
        const uint32_t step = fit_step(amount);

        assert_true(step == before || step == before + 1);
        before = step;
    }
    assert_int_equal(before, FIT_STEPS - 1);
    assert_int_equal(fit_step(INT64_MAX), FIT_STEPS - 1);
}

TEST(all_that_fit_and_few_others)
{
    struct rng rng;
    uint32_t asked = 0;
    uint32_t wrong = 0;

    rng_init(&rng, 1, 0);
    for (int world = 0; world < WORLDS; world++) {
        const uint32_t count = 1 + (uint32_t)rng_below(&rng, FIT_ROWS);
        struct res demand[FIT_ROWS];
        struct fit_mask mask;

        fit_mask_begin(&mask);
        for (uint32_t row = 0; row < count; row++) {
            demand[row] = draw_res(&rng);
            fit_mask_add(&mask, row, &demand[row]);
        }
        fit_mask_end(&mask);

        const struct res free = draw_res(&rng);
        const uint64_t may_fit = fit_mask_ask(&mask, &free);

        for (uint32_t row = 0; row < FIT_ROWS; row++) {
            const bool is_asked = may_fit >> row & 1;
            const bool fits = row < count && res_fits(&demand[row], &free);

            assert_true(is_asked || !fits);
            assert_true(row >= count || fit_now(&demand[row], &free) == fits);
            asked += is_asked;
            wrong += is_asked && !fits;
        }
    }
    assert_true(asked > 1000);
    assert_true(wrong < asked / 2);
}

TEST(a_row_of_unknown_demand_may_always_fit)
{
    const struct res nothing = { { 0 } };
    const struct res large = { { INT64_MAX, INT64_MAX, INT64_MAX, 0 } };
    struct fit_mask mask;

    fit_mask_begin(&mask);
    fit_mask_add(&mask, 0, &large);
    fit_mask_add(&mask, FIT_ROWS - 1, NULL);
    fit_mask_end(&mask);
    assert_true(fit_mask_ask(&mask, &nothing) == (uint64_t)1 << (FIT_ROWS - 1));
    assert_true(fit_mask_ask(&mask, &large) == ((uint64_t)1 << (FIT_ROWS - 1) | 1));
}

TEST(rows_behind_a_row)
{
    const uint64_t all = ~(uint64_t)0;

    assert_int_equal(fit_first(fit_behind(all, 0)), 1);
    assert_int_equal(fit_first(fit_behind(all, 62)), 63);
    assert_true(fit_behind(all, 63) == 0);
    assert_true(fit_behind((uint64_t)1 << 5, 5) == 0);
}

CHECK_MAIN(RUN(steps_grow_with_the_amount_and_end_in_time), RUN(all_that_fit_and_few_others),
           RUN(a_row_of_unknown_demand_may_always_fit), RUN(rows_behind_a_row))
