/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which market work is rented in, held against what it costs in each by a calculation of its own: the moments of a
 * stretch of work at which its machine may be lost, one by one.
 */
#include "decide/risk.h"

#include <math.h>

#include "base/rng.h"
#include "decide/rent_value.h"
#include "decide/test/minute_yard.h"

static const msec_t minute = YARD_MINUTE;
static const msec_t hours = YARD_HOUR;

enum { OFFERS_MAX = 6, STEPS = 4000, SEEDS = 1000 };

struct market_yard {
    struct yard yard;
    uint32_t offers;
    msec_t runtime;
    bool fixed;
};

static msec_t draw(struct rng *rng, msec_t least, msec_t most)
{
    const double span = log((double)most / (double)least);

    return (msec_t)((double)least * exp(span * (double)rng_below(rng, 1000000) / 1e6));
}

/* On demand, and some spot offers, most of which are cheaper and lost now and then. */
static void market_init(struct market_yard *market, struct rng *rng)
{
    struct yard *yard = &market->yard;

    yard_init(yard);
    (void)yard_type(yard, "a", 2, 8, 0, 1.0);
    yard->catalogue.types[0].setup_ms = draw(rng, 1000, YARD_HOUR / 4);
    market->offers = 2 + (uint32_t)rng_below(rng, OFFERS_MAX - 1);
    for (uint32_t i = 1; i < market->offers; i++)
        (void)yard_offer(yard, 0, 0.3 + (double)rng_below(rng, 1000) / 1000);
    (void)yard_shape(yard, 2, 8, 0);
    yard_delays(yard,
                (struct shape_delays){
                    .fetch_ms = (msec_t)rng_below(rng, (uint64_t)(5 * minute)),
                    .init_ms = (msec_t)rng_below(rng, YARD_MINUTE),
                    .kill_ms = (msec_t)rng_below(rng, YARD_MINUTE),
                    .upload_ms = (msec_t)rng_below(rng, (uint64_t)(3 * minute)),
                    .checkpoint_ms = rng_below(rng, 2) == 0 ? 0 : draw(rng, YARD_MINUTE, 8 * hours),
                });
    yard_open(yard);
    yard->view.notice_ms = rng_below(rng, 2) == 0 ? 0 : 2 * minute;
    yard->view.notice_ppm = (uint32_t)rng_below(rng, 1000001);
    for (uint32_t i = 1; i < market->offers; i++)
        yard->view.offer_lasts[i] = draw(rng, YARD_HOUR, 1000 * hours);
    market->runtime = draw(rng, YARD_MINUTE, 48 * hours);
    market->fixed = rng_below(rng, 2) == 0;
}

/* For how long machines of the offer are busy with a stretch of work that is saved as a whole, until it is done. At each
 * moment the machine may be lost: without a chance to save it all starts over, else it goes on where it was. */
static double stretch_takes(double stretch, double lasts, double restart, double saved)
{
    const double step = stretch / STEPS;
    const double lost = 1 - exp(-step / lasts);
    double begins_anew = 0; /* the chance that it has, by now */
    double takes = 0;       /* of all attempts that are not lost yet */

    for (int i = 0; i < STEPS; i++) {
        const double goes_on = 1 - begins_anew;

        takes += goes_on * (step * (1 - lost / 2) + lost * (restart + saved * step / 2));
        begins_anew += goes_on * lost * (1 - saved);
    }
    return takes / (1 - begins_anew);
}

static double cost_at(const struct market_yard *market, uint32_t offer)
{
    const struct view *view = &market->yard.view;
    const struct shape_delays *delays = &market->yard.shapes.rows[0].delays;
    const double setup = (double)market->yard.catalogue.types[0].setup_ms;
    const double runtime = (double)market->runtime;
    const msec_t stop = delays->kill_ms + delays->upload_ms;
    const bool saves = !market->fixed && view->notice_ms > 0 && stop <= view->notice_ms;
    const double saved = saves ? (double)view->notice_ppm / 1e6 : 0;
    const double stretch = delays->checkpoint_ms > 0 && delays->checkpoint_ms < market->runtime
                               ? (double)delays->checkpoint_ms
                               : runtime;
    double takes = runtime;

    if (view->offer_lasts[offer] != MSEC_NEVER)
        takes = runtime / stretch *
                stretch_takes(stretch, (double)view->offer_lasts[offer],
                              setup + (double)(delays->fetch_ms + delays->init_ms) +
                                  saved * (double)stop,
                              saved);
    return (double)view->offer_price[offer] * (setup + takes);
}

static uint32_t rented(struct market_yard *market)
{
    const struct wait_limits limits = { .paid_wait = 0 };
    struct yard *yard = &market->yard;
    struct batches batches;
    struct runtime_bins bins;
    const uint32_t task = yard_task_for(yard, 0, market->runtime);

    yard_fix(&yard->view, yard->view.task.job[task], market->fixed);
    minute_yard_bins(yard, &bins);
    batches_build(&batches, &yard->view, &yard->arena);
    rent_value(&batches, &bins, &limits, 0, 0, NULL, &yard->plan);
    assert_int_equal(yard->plan.rent_count, 1);
    return yard->plan.rents[0].offer;
}

TEST(what_is_rented_is_what_costs_least_with_all_that_is_done_again)
{
    uint32_t safe = 0;
    uint32_t dearer = 0; /* than the cheapest by its price alone */
    struct rng rng;

    rng_init(&rng, 1, 1);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct market_yard market;
        uint32_t cheapest = 0;
        double least = HUGE_VAL;

        market_init(&market, &rng);

        const uint32_t chosen = rented(&market);

        for (uint32_t offer = 0; offer < market.offers; offer++) {
            const double cost = cost_at(&market, offer);

            least = cost < least ? cost : least;
            if (market.yard.view.offer_price[offer] < market.yard.view.offer_price[cheapest])
                cheapest = offer;
        }
        if (cost_at(&market, chosen) > 1.002 * least)
            fail_msg("market %u: offer %u costs %.4f of the least", seed, chosen,
                     cost_at(&market, chosen) / least);
        safe += chosen == 0;
        dearer += chosen != cheapest;
        yard_done(&market.yard);
    }
    assert_true(safe > SEEDS / 50 && dearer > SEEDS / 10); /* else nothing was tried */
}

TEST(the_growth_is_that_of_the_exponential)
{
    for (double x = 1e-9; x < 12; x *= 3) {
        const double ratio = risk_growth(x) * x / expm1(x);

        assert_true(ratio > 1 - 1e-12 && ratio < 1 + 1e-12);
    }
    assert_true(risk_growth(0) >= 1 && risk_growth(0) <= 1);
    assert_true(risk_growth(1e300) <= risk_growth(12));
}

/* Each attempt at the work is lost at some moment or is the last; on average there are e^(work/lasts) of them. */
TEST(what_single_runs_were_expected_to_lose_adds_up_to_the_price_of_the_risk)
{
    struct rng rng;
    struct market_yard market;

    rng_init(&rng, 3, 1);
    market_init(&market, &rng);
    yard_delays(&market.yard, (struct shape_delays){ 0 });

    struct view *view = &market.yard.view;
    const uint32_t offer = market.offers - 1;
    const double lasts = (double)(10 * hours);

    view->offer_lasts[offer] = 10 * hours;
    for (msec_t work = hours / 6; work <= 40 * hours; work *= 3) {
        const struct risk_stake whole = risk_stake_of(view, 0, work, true);
        const double step = (double)work / STEPS;
        double sum = 0;

        for (int i = 0; i <= STEPS; i++) {
            const msec_t ran = (msec_t)(((double)i + (i < STEPS ? 0.5 : 0)) * step);
            const double ends = i < STEPS ? exp(-i * step / lasts) - exp(-(i + 1) * step / lasts)
                                          : exp(-(double)work / lasts);

            sum += ends * risk_expected_redo(view, offer, risk_stake_of(view, 0, ran, true), ran);
        }
        sum *= exp((double)work / lasts);

        const double priced = (double)work * (risk_growth(whole.redo / lasts) - 1);

        assert_true(fabs(sum / priced - 1) < 1e-3);
    }
    yard_done(&market.yard);
}

/* It has no end and nothing to do again: only the restart counts. */
TEST(work_without_an_end_loses_nothing)
{
    struct rng rng;
    struct market_yard market;

    rng_init(&rng, 2, 1);
    market_init(&market, &rng);
    assert_true(risk_stake_of(&market.yard.view, 0, RUNTIME_HORIZON_MS, true).redo <= 0);
    yard_done(&market.yard);
}

CHECK_MAIN(RUN(what_is_rented_is_what_costs_least_with_all_that_is_done_again),
           RUN(the_growth_is_that_of_the_exponential), RUN(work_without_an_end_loses_nothing),
           RUN(what_single_runs_were_expected_to_lose_adds_up_to_the_price_of_the_risk))
