/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which markets a job may run, and until when: for people and for programs.
 */
#include <stdio.h>
#include <string.h>

#include "control/ports/adapter.h"
#include "decide/market_rules.h"
#include "serve/api_private.h"

static void append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : "", more);
}

static void put_market(const struct view *view, uint32_t job, msec_t now, char *ret, size_t size)
{
    const msec_t until = view->job.spot_until[job];
    char clock[SERVE_TEXT];
    char text[2 * SERVE_TEXT] = "";

    adapter_clock_text(until, now, clock, sizeof(clock));
    if (view->job.market[job] == MARKET_RULE_SAFE)
        snprintf(text, sizeof(text), "on-demand machines only");
    else if (view->job.market[job] == MARKET_RULE_SPOT && until == MSEC_NEVER)
        snprintf(text, sizeof(text), "spot machines only");
    else if (view->job.market[job] == MARKET_RULE_SPOT)
        snprintf(text, sizeof(text), "spot only until %s, then on demand", clock);
    if (text[0] != '\0')
        append(ret, size, text);
}

static void put_deadline(const struct view *view, uint32_t job, msec_t now, char *ret, size_t size)
{
    const msec_t from = view->job.safe_from[job];
    char deadline[SERVE_TEXT];
    char clock[SERVE_TEXT];
    char text[2 * SERVE_TEXT + 64];

    if (view->job.deadline[job] == MSEC_NEVER)
        return;
    adapter_clock_text(view->job.deadline[job], now, deadline, sizeof(deadline));
    adapter_clock_text(from, now, clock, sizeof(clock));
    if (from == MSEC_NEVER)
        snprintf(text, sizeof(text), "deadline %s", deadline);
    else if (from == 0)
        snprintf(text, sizeof(text), "deadline %s: only on-demand machines", deadline);
    else
        snprintf(text, sizeof(text), "deadline %s: only on-demand machines from %s", deadline,
                 clock);
    append(ret, size, text);
}

json_t *api_market(const struct api_call *call, uint32_t job, char *ret, size_t size)
{
    static const char *const words[] = {
        [MARKET_RULE_ANY] = "any", [MARKET_RULE_SPOT] = "spot", [MARKET_RULE_SAFE] = "on-demand"
    };
    const struct view *view = call->view;
    json_t *object = NULL;

    ret[0] = '\0';
    put_market(view, job, call->now, ret, size);
    put_deadline(view, job, call->now, ret, size);
    if (ret[0] == '\0')
        return json_null();
    object = json_object();
    api_set_text(object, "now", words[market_rule_now(view, job)]);
    api_set_time(object, "spot_until", view->job.spot_until[job]);
    api_set_time(object, "deadline", view->job.deadline[job]);
    api_set_time(object, "on_demand_from", view->job.safe_from[job]);
    return object;
}
