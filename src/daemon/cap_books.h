/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cap_books.h - limits and budgets of accounts, users, partitions and QOS: who is under which, and what each has spent
 * this day and this month (of UTC, as daemon/budget.h).
 *
 * An entry of the configuration that says "*" becomes one cap for each name that appears, so caps are added as jobs
 * come. Spent is what tasks are charged in the ledger: cap_books_due takes what a task owes by now, and the difference to
 * what it owed before counts for its caps, in the period of that moment. Boot and idle time, which no task pays, is in no
 * account's budget.
 *
 *     cap_books_roll(books, now)                 the period is another: it begins at nothing
 *     cap_books_due(books, view, task, cost)     whenever the books of a task change
 *     cap_books_settle(books, view, task, cost)  it has ended
 *     cap_books_judge(books)                     before a decision
 *
 * Restarts:  cap_books_text is kept with the store's books, in one transaction; the next process is given it, and what
 *            tasks owed then by cap_books_resume.
 * Promises:  no clock and no I/O. What was counted is counted once. From CAPS_MAX caps on, further names of an entry share
 *            one: a limit is never lost.
 * Costs:     cap_books_set is O(entries), cap_books_due O(caps of the job), the rest O(caps).
 */
#ifndef STINT_DAEMON_CAP_BOOKS_H
#define STINT_DAEMON_CAP_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/line.h"
#include "base/map.h"
#include "base/names.h"
#include "control/ports/engine_port.h"
#include "daemon/budget.h"
#include "daemon/conf_caps.h"
#include "model/caps.h"
#include "model/view.h"

enum { CAPS_MAX = 4096 };

struct cap_spent {
    uint32_t entry;         /* of the configuration */
    money_t limit[BUDGETS]; /* 0: none */
    money_t spent[BUDGETS];
};

struct cap_task {
    uint64_t id;
    money_t seen; /* of what it owes */
};

struct cap_books {
    struct caps caps;      /* for the controller */
    struct cap_spent *row; /* of each cap */
    uint32_t rows_room;
    struct names labels; /* of each cap: "account physics" */
    const struct conf_caps *conf;
    msec_t from[BUDGETS];
    msec_t until[BUDGETS];
    struct cap_task *tasks; /* by row of the view */
    uint32_t task_count, tasks_room;
    struct map resumed; /* by id of the task: row of 'owed' */
    money_t *owed;
    uint32_t owed_count, owed_room;
    bool is_changed; /* since cap_books_text */
};

/* 'conf' is used as long as the books are. */
void cap_books_init(struct cap_books *books, const struct conf_caps *conf, msec_t now);
void cap_books_done(struct cap_books *books);

/* Other limits for the same owners. */
void cap_books_tune(struct cap_books *books, const struct conf_caps *conf);

/* The set of caps of a job of that owner. */
uint32_t cap_books_set(struct cap_books *books, const struct engine_owner *owner);

/* When the next period begins. */
msec_t cap_books_until(const struct cap_books *books);
void cap_books_roll(struct cap_books *books, msec_t now);

void cap_books_due(struct cap_books *books, const struct view *view, uint32_t task, money_t cost);
void cap_books_settle(struct cap_books *books, const struct view *view, uint32_t task,
                      money_t cost);

/* What the task owed to an earlier process, which has counted it. */
void cap_books_resume(struct cap_books *books, uint64_t task, money_t cost);

/* Whose budget is used up; whether that is another than before. */
bool cap_books_judge(struct cap_books *books);

/* The highest share of a budget that is spent, in percent; 0: there are none. */
uint32_t cap_books_percent(const struct cap_books *books);

/* All that is spent, to be kept; and taken up again (of periods that are over nothing is). False: it cannot be read. */
void cap_books_text(struct cap_books *books, struct line_text *ret);
bool cap_books_read(struct cap_books *books, const char *text);

#endif
