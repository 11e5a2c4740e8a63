/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h - what was spent this day and this month, and what is left.
 *
 * Days and months are those of UTC, as in the ledger by day. Spent is what the closed bills have in the
 * period, a bill over several days split by time, and of each machine that is rented what it would cost
 * if it were returned now: its time so far, rounded up to the step and the minimum that its offer is
 * billed by. So a rent counts with its minimum from the moment it is asked for.
 *
 *     budget_begin(&budget, now)              the period has changed, or bills must be read again
 *     budget_add_bill(&budget, from, to, cost)  each closed bill, once
 *     budget_count(&budget, view)             now and then, and before each decision
 *
 * Costs:   budget_count is O(machines); nothing if there are no limits.
 */
#ifndef STINT_DAEMON_BUDGET_H
#define STINT_DAEMON_BUDGET_H

#include <stdbool.h>

#include "base/units.h"
#include "model/view.h"

enum budget_kind { BUDGET_DAY, BUDGET_MONTH, BUDGETS };

struct budget_period {
    money_t limit;  /* 0: none */
    msec_t from;    /* the first moment */
    msec_t until;   /* the first one after it */
    money_t closed; /* bills that have ended */
    money_t spent;  /* with what is rented */
};

struct budget {
    struct budget_period of[BUDGETS];
};

/* The day or the month of 'now'. */
void budget_span(enum budget_kind kind, msec_t now, msec_t *ret_from, msec_t *ret_until);

bool budget_has_limits(const struct budget *budget);

/* Whether the periods are not those of 'now' any more: then start over, and add the bills again. */
bool budget_is_over(const struct budget *budget, msec_t now);
void budget_begin(struct budget *budget, msec_t now);
void budget_add_bill(struct budget *budget, msec_t from, msec_t to, money_t cost);

/* Count what is rented, at the view's time. */
void budget_count(struct budget *budget, const struct view *view, msec_t now);

/* What may still be spent under all limits; below 0 if more was. Only with limits. */
money_t budget_left(const struct budget *budget);

/* "day", "month". */
const char *budget_word(enum budget_kind kind);

#endif
