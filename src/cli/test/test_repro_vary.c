/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `stint repro eva --vary` and of `stint repro stratus --vary`.
 */
#include "base/test/check.h"
#include "cli/repro_eva.h"
#include "cli/repro_stratus.h"

TEST(every_word_sets_what_it_names)
{
    struct eva_variation variation = { 0 };
    struct error error = { "" };

    assert_int_equal(eva_variation_read(&variation, NULL, &error), 0);
    assert_int_equal(
        eva_variation_read(&variation,
                           "delays=4,arrivals=10,half=2,redraw=1,multi-gpu=0.3,noise=0.1,drift=30,"
                           "durations=philly,spot=1",
                           &error),
        0);
    assert_true(variation.delay_factor > 3.99 && variation.delay_factor < 4.01);
    assert_true(variation.rate_factor > 9.99 && variation.rate_factor < 10.01);
    assert_int_equal(variation.half, 2);
    assert_true(variation.redrawn);
    assert_true(variation.multi_gpu_share > 0.299 && variation.multi_gpu_share < 0.301);
    assert_int_equal(variation.rate_noise_ppm, 100000);
    assert_true(variation.drift_days > 29.99 && variation.drift_days < 30.01);
    assert_int_equal(variation.durations, EVA_DURATIONS_PHILLY);
    assert_true(variation.spot);
    assert_int_equal(eva_variation_read(&variation, "durations=alibaba2023", &error), 0);
    assert_int_equal(variation.durations, EVA_DURATIONS_ALIBABA_2023);
}

TEST(what_is_no_such_word_or_value_is_refused)
{
    static const char *const wrong[] = { "",           "delays",      "delays=",   "delays=x",
                                         "delays=0",   "half=3",      "half=1.5",  "noise=2",
                                         "noise=nan",  "noise=-1",    "delays=4,", "other=1",
                                         "=1",         "noise=0.1 ",  "drift=0.5", "durations",
                                         "durations=", "durations=1", "spot=2" };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct eva_variation variation = { 0 };
        struct error error = { "" };

        assert_true(eva_variation_read(&variation, wrong[i], &error) < 0);
        assert_true(error.text[0] != '\0');
    }
}

TEST(stratus_has_a_market_and_its_day_rounds_and_estimates)
{
    static const char *const wrong[] = { "",           "market",         "market=2014",
                                         "day=3",      "market=2015,",   "market=2015,day=152",
                                         "market=-1",  "market=2015,x",  "market=2015,day=",
                                         "market=201", "day=-1",         "rounds=1m",
                                         "rounds",     "estimates=user", "rounds=events,day=3" };
    struct stratus_setting setting = { .jobs = 7 };
    struct error error = { "" };

    assert_int_equal(stratus_vary(&setting, NULL, &error), 0);
    assert_false(setting.is_2015);
    assert_int_equal(setting.spot_from, 0);
    assert_int_equal(stratus_vary(&setting, "market=2015,day=2", &error), 0);
    assert_true(setting.is_2015);
    assert_int_equal(setting.spot_from, STRATUS_2015_FROM + 2 * 86400);
    assert_int_equal(setting.jobs, 7);
    setting.jobs = 0;
    assert_int_equal(stratus_vary(&setting, "market=2015", &error), 0);
    assert_int_equal(setting.spot_from, STRATUS_2015_FROM + 73 * 86400);
    assert_int_equal(setting.jobs, 2000);
    assert_false(setting.by_events || setting.is_learned);
    setting = (struct stratus_setting){ 0 };
    assert_int_equal(stratus_vary(&setting, "rounds=events,estimates=learned", &error), 0);
    assert_true(setting.by_events && setting.is_learned);
    assert_false(setting.is_2015);
    assert_int_equal(setting.jobs, 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        error.text[0] = '\0';
        assert_true(stratus_vary(&setting, wrong[i], &error) < 0);
        assert_true(error.text[0] != '\0');
    }
}

CHECK_MAIN(RUN(every_word_sets_what_it_names), RUN(what_is_no_such_word_or_value_is_refused),
           RUN(stratus_has_a_market_and_its_day_rounds_and_estimates))
