/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/history.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "store/store_history.h"

#define MSEC_PER_DAY   (24 * MSEC_PER_HOUR)
#define BOUND_LASTS_MS (900 * MSEC_PER_SEC)

/* How much of [from, to) lies in [since, until). */
static double overlap(msec_t from, msec_t to, msec_t since, msec_t until)
{
    const msec_t begin = from > since ? from : since;
    const msec_t end = to < until ? to : until;

    return end > begin ? (double)(end - begin) : 0;
}

/* Money that was spent evenly over [from, to): the part from 'since' on. */
static money_t part_since(msec_t from, msec_t to, money_t cost, msec_t since)
{
    if (from >= since || to <= from)
        return to < since ? 0 : cost;
    return (money_t)llround((double)cost * overlap(from, to, since, to) / (double)(to - from));
}

static void add_stay(struct history *to, enum market market, msec_t from, msec_t end, money_t cost)
{
    const msec_t step = (to->until - to->since) / HISTORY_STEPS;
    const double length = end > from ? (double)(end - from) : 1;

    to->machines++;
    to->spent[market] += part_since(from, end, cost, to->since);
    for (msec_t i = from > to->since ? (from - to->since) / step : 0; i < HISTORY_STEPS; i++) {
        const msec_t begin = to->since + i * step;
        const double share = overlap(from, end, begin, begin + step);

        if (begin >= end)
            break;
        to->steps[i].spent[market] += (double)cost * share / length;
        to->steps[i].machines += share / (double)step;
    }
}

static enum market market_of(const char *word)
{
    for (enum market market = 0; market < MARKET_COUNT; market++) {
        if (word != NULL && strcmp(word, market_name(market)) == 0)
            return market;
    }
    return MARKET_ON_DEMAND; /* it was not written down */
}

static void take_stay(void *context, const struct store_stay *stay)
{
    struct history *to = context;

    to->boot_ms += stay->bill.sums.boot_ms;
    to->idle_ms += stay->bill.sums.idle_ms;
    to->work_ms += stay->bill.sums.work_ms;
    add_stay(to, market_of(stay->market), stay->bill.from, stay->bill.to, stay->bill.sums.bill);
}

/* The bounds so far, and for how long each step is covered by them. */
struct bounds {
    struct history *to;
    struct store_bound last; /* which counts until the next one; 'at' -1: none yet */
    double covered[HISTORY_STEPS];
};

/* The last one counts until 'until'. */
static void end_bound(struct bounds *bounds, msec_t until)
{
    struct history *to = bounds->to;
    const msec_t step = (to->until - to->since) / HISTORY_STEPS;
    const msec_t end =
        until < bounds->last.at + BOUND_LASTS_MS ? until : bounds->last.at + BOUND_LASTS_MS;
    const msec_t first = bounds->last.at > to->since ? (bounds->last.at - to->since) / step : 0;

    for (msec_t i = first; bounds->last.at >= 0 && i < HISTORY_STEPS; i++) {
        const msec_t begin = to->since + i * step;
        const double part = overlap(bounds->last.at, end, begin, begin + step);

        if (begin >= end)
            break;
        to->steps[i].least += part * (double)bounds->last.least;
        bounds->covered[i] += part;
    }
}

static void take_bound(void *context, const struct store_bound *bound)
{
    struct bounds *bounds = context;

    end_bound(bounds, bound->at);
    bounds->last = *bound;
}

static int read_bounds(const struct api_call *call, struct history *to, struct error *reterr)
{
    struct bounds bounds = { .to = to, .last = { .at = -1 } };
    const int rc = store_each_bound(call->world->store, to->since - BOUND_LASTS_MS, take_bound,
                                    &bounds, reterr);

    end_bound(&bounds, to->until);
    for (uint32_t i = 0; i < HISTORY_STEPS; i++) {
        to->has_least = to->has_least || bounds.covered[i] > 0;
        to->steps[i].least =
            bounds.covered[i] > 0 ? to->steps[i].least / bounds.covered[i] : (double)NAN;
    }
    return rc;
}

int history_read(const struct api_call *call, msec_t since, struct history *ret,
                 struct error *reterr)
{
    const struct view *view = call->view;

    /* A step has at least a millisecond. */
    if (since > call->now - HISTORY_STEPS)
        since = call->now - HISTORY_STEPS;
    *ret = (struct history){ .since = since, .until = call->now };

    const int rc =
        store_each_past(call->world->store, since, HISTORY_STAYS_MAX, take_stay, ret, reterr);

    if (rc < 0 || read_bounds(call, ret, reterr) < 0)
        return -1;
    ret->is_whole = rc == 1 || ret->machines < HISTORY_STAYS_MAX;
    INSTANCE_EACH(row, view)
    {
        const msec_t from = view->instance.billed_from[row];
        const enum market market = view->catalogue->offers[view->instance.offer[row]].market;

        if (from >= 0 && from < call->now)
            add_stay(ret, market, from, call->now, api_bill_now(call, row));
    }
    return 0;
}

struct spending {
    msec_t since;
    money_t sum;
};

static void take_bill(void *context, msec_t from, msec_t to, money_t cost)
{
    struct spending *spending = context;

    spending->sum += part_since(from, to, cost, spending->since);
}

int history_spent(const struct api_call *call, msec_t since, money_t *ret, struct error *reterr)
{
    const struct view *view = call->view;
    struct spending spending = { .since = since };
    const int rc = store_each_bill_since(call->world->store, since, take_bill, &spending, reterr);

    if (rc < 0)
        return rc;
    INSTANCE_EACH(row, view)
    {
        const msec_t from = view->instance.billed_from[row];

        if (from >= 0 && from < call->now)
            take_bill(&spending, from, call->now, api_bill_now(call, row));
    }
    *ret = spending.sum;
    return 0;
}

void history_day(msec_t now, msec_t *ret_from, msec_t *ret_until)
{
    *ret_from = now - now % MSEC_PER_DAY;
    *ret_until = *ret_from + MSEC_PER_DAY;
}

void history_month(msec_t now, msec_t *ret_from, msec_t *ret_until)
{
    const time_t seconds = (time_t)(now / MSEC_PER_SEC);
    struct tm parts = { .tm_mday = 1 };
    struct tm begin = { .tm_mday = 1 };

    (void)gmtime_r(&seconds, &parts);
    begin.tm_year = parts.tm_year;
    begin.tm_mon = parts.tm_mon;
    *ret_from = (msec_t)timegm(&begin) * MSEC_PER_SEC;
    begin = (struct tm){ .tm_mday = 1, .tm_year = parts.tm_year, .tm_mon = parts.tm_mon + 1 };
    *ret_until = (msec_t)timegm(&begin) * MSEC_PER_SEC;
}
