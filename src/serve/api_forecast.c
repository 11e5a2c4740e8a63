/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a job will run, by what source and how certainly; and that it has run longer than expected.
 */
#include <inttypes.h>
#include <stdio.h>

#include "learn/forecast.h"
#include "serve/api_private.h"

enum { PPM_PER_PERCENT = 10000 };

void api_span_text(msec_t span, char *ret, size_t size)
{
    const msec_t seconds = span > 0 ? span / MSEC_PER_SEC : 0;

    if (seconds < 120)
        snprintf(ret, size, "%" PRId64 " s", seconds);
    else if (seconds < 7200)
        snprintf(ret, size, "%" PRId64 " min", seconds / 60);
    else
        snprintf(ret, size, "%" PRId64 " h %" PRId64 " min", seconds / 3600, seconds / 60 % 60);
}

static bool is_overrun(const struct view *view, uint32_t task)
{
    return view_progress(view, task) > view->task.estimate_ms[task];
}

msec_t api_expected_ms(const struct api_call *call, uint32_t task)
{
    const struct view *view = call->view;
    const struct forecast *forecast =
        controller_forecast(call->world->controller, view->task.job[task]);
    const msec_t done = view_progress(view, task);
    const msec_t estimate = view->task.estimate_ms[task];

    if (!is_overrun(view, task))
        return estimate;

    const msec_t all = done + runtime_remaining(estimate, done);

    return forecast->limit_ms > done && forecast->limit_ms < all ? forecast->limit_ms : all;
}

static unsigned percent(uint32_t ppm)
{
    return (ppm + PPM_PER_PERCENT / 2) / PPM_PER_PERCENT;
}

static void put_words(const struct api_call *call, uint32_t task, const struct forecast *forecast,
                      char *ret, size_t size)
{
    const struct view *view = call->view;
    char words[FORECAST_WORDS_SIZE];
    char done[SERVE_TEXT];
    char estimate[SERVE_TEXT];

    forecast_words(forecast, words, sizeof(words));
    api_span_text(view_progress(view, task), done, sizeof(done));
    api_span_text(view->task.estimate_ms[task], estimate, sizeof(estimate));
    if (is_overrun(view, task))
        (void)snprintf(ret, size, "%s; it has run for %s, longer than the expected %s", words, done,
                       estimate);
    else
        (void)snprintf(ret, size, "%s", words);
}

json_t *api_forecast_json(const struct forecast *forecast)
{
    json_t *object = json_object();

    api_set_text(object, "source", forecast_source_word(forecast->source));
    api_set_time(object, "limit_ms", forecast->limit_ms);
    api_set_number(object, "forecast_ms", forecast->runtime_ms);
    api_set_number(object, "runs", forecast->history.samples);
    api_set_number(object, "weight_percent", percent(forecast->weight_ppm));
    api_set_number(object, "confidence_percent", percent(forecast->confidence_ppm));
    return object;
}

json_t *api_forecast(const struct api_call *call, uint32_t task, char *ret, size_t size)
{
    const struct view *view = call->view;
    const struct forecast *forecast =
        controller_forecast(call->world->controller, view->task.job[task]);

    ret[0] = '\0';
    if (view->task.estimate_ms[task] == MSEC_NEVER)
        return json_null();

    json_t *object = api_forecast_json(forecast);

    put_words(call, task, forecast, ret, size);
    api_set_bool(object, "overrun", is_overrun(view, task));
    return object;
}
