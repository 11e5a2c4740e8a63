/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budgets of the daemon: counted from the books, passed to the controller, shown to the API.
 *
 * Closed bills are read from the store when a period begins and counted as they come after that, so
 * that a restart finds what was spent before it. What is rented is counted again every second, and
 * before each decision.
 */
#include <string.h>

#include "daemon/daemon_private.h"
#include "daemon/log.h"

static const msec_t count_every_ms = 1 * MSEC_PER_SEC;

static void add_bill(void *context, msec_t from, msec_t to, money_t cost)
{
    budget_add_bill(context, from, to, cost);
}

static void show(struct daemon *daemon)
{
    struct serve_world *world = &daemon->world;

    world->budget_count = 0;
    for (enum budget_kind i = 0; i < BUDGETS; i++) {
        const struct budget_period *period = &daemon->budget.of[i];

        if (period->limit > 0)
            world->budgets[world->budget_count++] = (struct serve_budget){
                .period = budget_word(i),
                .limit = period->limit,
                .spent = period->spent,
                .until = period->until,
                .warn_percent = daemon->conf.warn_percent,
            };
    }
}

/* Read the bills of the month: it begins with or before the day. What waits in the journal is in the
 * store by then, or the old numbers stay for another second. */
static bool begin(struct daemon *daemon, msec_t now)
{
    struct budget fresh = daemon->budget;
    struct error error = { "" };

    if (daemon->journal.count > 0)
        return false;
    budget_begin(&fresh, now);
    if (store_each_bill_since(daemon->store, fresh.of[BUDGET_MONTH].from, add_bill, &fresh,
                              &error) < 0) {
        LOG_WARNING("the bills of the month cannot be read: %s", error.text);
        return false;
    }
    daemon->budget = fresh;
    daemon->is_budget_stale = false;
    return true;
}

void daemon_count_budget(struct daemon *daemon, bool is_due)
{
    const msec_t now = daemon->now;
    struct budget *budget = &daemon->budget;

    budget->of[BUDGET_DAY].limit = daemon->conf.max_per_day;
    budget->of[BUDGET_MONTH].limit = daemon->conf.max_per_month;
    if (!budget_has_limits(budget)) {
        if (daemon->world.budget_count > 0)
            controller_set_budget(daemon->controller, false, 0);
        daemon->world.budget_count = 0;
        daemon->is_budget_stale = true; /* bills are not counted meanwhile */
        return;
    }
    if (!is_due && now < daemon->budget_at)
        return;
    if ((daemon->is_budget_stale || budget_is_over(budget, now)) && !begin(daemon, now) &&
        budget_is_over(budget, now)) {
        controller_set_budget(daemon->controller, true, 0); /* nothing before it was counted */
        return;
    }
    daemon->budget_at = now + count_every_ms;
    budget_count(budget, controller_view(daemon->controller), now);
    controller_set_budget(daemon->controller, true, budget_left(budget));
    daemon->control.has_budget = true;
    daemon->control.budget_left = budget_left(budget);
    show(daemon);
}

void daemon_budget_bill(struct daemon *daemon, uint64_t instance, const struct ledger_bill *bill)
{
    if (daemon->is_budget_stale)
        return;
    if (store_is_settled(daemon->store, instance)) /* this bill takes the place of another */
        daemon->is_budget_stale = true;
    else
        budget_add_bill(&daemon->budget, bill->from, bill->to, bill->sums.bill);
}

bool daemon_budget_is_spent(const struct daemon *daemon)
{
    return budget_has_limits(&daemon->budget) && daemon->world.budget_count > 0 &&
           budget_left(&daemon->budget) <= 0;
}
