/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/budget.h"

#include <time.h>

#include "model/billing.h"

const char *budget_word(enum budget_kind kind)
{
    return kind == BUDGET_DAY ? "day" : "month";
}

static msec_t moment_of(struct tm *parts)
{
    return (msec_t)timegm(parts) * MSEC_PER_SEC;
}

void budget_span(enum budget_kind kind, msec_t now, msec_t *ret_from, msec_t *ret_until)
{
    const time_t seconds = (time_t)(now / MSEC_PER_SEC);
    struct tm parts = { 0 };

    (void)gmtime_r(&seconds, &parts);
    parts.tm_hour = 0;
    parts.tm_min = 0;
    parts.tm_sec = 0;
    if (kind == BUDGET_MONTH)
        parts.tm_mday = 1;
    *ret_from = moment_of(&parts);
    if (kind == BUDGET_MONTH)
        parts.tm_mon++;
    else
        parts.tm_mday++;
    *ret_until = moment_of(&parts); /* timegm carries over */
}

bool budget_has_limits(const struct budget *budget)
{
    return budget->of[BUDGET_DAY].limit > 0 || budget->of[BUDGET_MONTH].limit > 0;
}

bool budget_is_over(const struct budget *budget, msec_t now)
{
    return now < budget->of[BUDGET_DAY].from || now >= budget->of[BUDGET_DAY].until ||
           now >= budget->of[BUDGET_MONTH].until;
}

void budget_begin(struct budget *budget, msec_t now)
{
    for (enum budget_kind i = 0; i < BUDGETS; i++) {
        struct budget_period *period = &budget->of[i];

        budget_span(i, now, &period->from, &period->until);
        period->closed = 0;
        period->spent = 0;
    }
}

/* What of 'cost' for [from, to) falls at or after 'since'; as much as the ledger by day says. */
static money_t part_since(msec_t from, msec_t to, money_t cost, msec_t since)
{
    __extension__ typedef __int128 wide_t;

    if (from >= since || to <= from)
        return to <= from && from < since ? 0 : cost;
    if (to <= since)
        return 0;
    return cost - (money_t)((wide_t)cost * (since - from) / (to - from));
}

void budget_add_bill(struct budget *budget, msec_t from, msec_t to, money_t cost)
{
    for (enum budget_kind i = 0; i < BUDGETS; i++)
        budget->of[i].closed += part_since(from, to, cost, budget->of[i].from);
}

void budget_count(struct budget *budget, const struct view *view, msec_t now)
{
    for (enum budget_kind i = 0; i < BUDGETS; i++)
        budget->of[i].spent = budget->of[i].closed;
    if (!budget_has_limits(budget))
        return;
    INSTANCE_EACH(instance, view)
    {
        const struct view_charge charge = view_charge_now(view, instance, now);

        for (enum budget_kind i = 0; i < BUDGETS; i++)
            budget->of[i].spent +=
                part_since(charge.from, charge.to, charge.cost, budget->of[i].from);
    }
}

money_t budget_left(const struct budget *budget)
{
    money_t left = MONEY_UNKNOWN; /* the highest there is */

    for (enum budget_kind i = 0; i < BUDGETS; i++) {
        const struct budget_period *period = &budget->of[i];

        if (period->limit > 0 && period->limit - period->spent < left)
            left = period->limit - period->spent;
    }
    return left;
}
