/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - who paid what: each bill, split among boot, idle time and the tasks that ran.
 *
 * The controller opens an account when an instance begins to be billed, reports when it takes work
 * and which tasks hold a part of it, and closes it when the bill ends. Every report cuts the time
 * of that instance; what the time since the last cut costs is booked at once:
 *
 *     billed from      ready        enter a     enter b    leave a, b       close    paid until
 *          |-- boot ------|-- idle ----|- a --------|- a and b ----|-- idle ---|-- idle --|
 *
 * Tasks that hold a machine together pay it in proportion to their weights. What a billing rule adds
 * at the end (its minimum, the rest of the last step) is idle time: paid, and of no use to anybody.
 *
 * Words:      an instance and a task are rows of the view; a row may be used again for another
 *             instance once its account is closed, for another task once it is settled.
 * Promises:   nothing is lost to rounding: of a closed account, boot + idle + work is what
 *             billing_charge says for its time, and work is what its tasks were charged, to the
 *             micro-dollar. A task's part of a cut is its exact share, rounded up or down by less
 *             than one micro-dollar. Same reports, same books.
 * Faults:     reports may be late, repeated or lost. A time before the last cut is taken as the last
 *             cut, for what is booked stays booked; but when a bill ended is for the cloud to say:
 *             what was booked beyond its end is taken back from idle, which then may be below zero
 *             for that instance. What names no open account, a task that is there already or one
 *             that is not there, changes nothing and returns false.
 * Costs:      a report is O(tasks on that instance + price changes since the last cut), a settlement
 *             O(instances that the task is still on), closing O(price changes of the whole bill).
 * Restarts:   open accounts and what tasks owe can be kept and taken up by another ledger; what all of
 *             them charged to tasks, with boot and idle time, is still the sum of the bills.
 * Memory:     the ledger's own: 128 bytes an instance row, 28 a task row, 24 a task on an instance.
 *             Offers are borrowed while an account is open; their prices of the past do not change.
 */
#ifndef STINT_CONTROL_LEDGER_H
#define STINT_CONTROL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/catalogue.h"

struct ledger;

/* Money, and the machine time that it paid for; 'bill' is always boot + idle + work. */
struct ledger_sums {
    money_t bill;
    money_t boot;
    money_t idle;
    money_t work;
    msec_t boot_ms;
    msec_t idle_ms;
    msec_t work_ms; /* with at least one task; not once for each of them */
};

/* One instance, from the first to the last moment on the bill. */
struct ledger_bill {
    msec_t from;
    msec_t to; /* when it ended, without what the billing rule adds */
    struct ledger_sums sums;
};

/* One task, all instances and launches together. */
struct ledger_due {
    money_t cost;
    msec_t occupied_ms; /* for which it paid; time on two machines at once counts for each */
};

/* An open account, as it is kept and taken up again by another process. */
struct ledger_account {
    msec_t from;
    msec_t until; /* the last cut: what is below is booked until then */
    int64_t rest; /* of a micro-dollar that is not booked yet, times MSEC_PER_HOUR */
    struct ledger_sums sums;
    bool is_ready;
};

/* Everything ever booked. For an open account this is the time up to its last cut, without what
 * the billing rule will add. */
struct ledger_totals {
    struct ledger_sums sums;
    money_t settled; /* of sums.work: what ledger_settle has handed out */
    money_t
        carried; /* of sums.work: what was taken up with accounts, less what with dues: tasks that
                        had ended before have paid it */
    money_t of_market[MARKET_COUNT];
    const money_t *of_type; /* by type of the catalogue; valid until the next ledger_open */
    uint32_t type_count;    /* types above have no money yet */
    uint32_t open;          /* accounts */
    uint64_t opened;        /* accounts ever */
};

struct ledger *ledger_create(void);
void ledger_destroy(struct ledger *ledger);

/* The instance is billed since 'billed_from'. False: it has an open account already. */
bool ledger_open(struct ledger *ledger, uint32_t instance, const struct offer *offer,
                 msec_t billed_from);

/* The same for an account that another process kept. What it had booked counts among the totals from
 * now on. False: as above, or the account contradicts itself. */
bool ledger_resume(struct ledger *ledger, uint32_t instance, const struct offer *offer,
                   const struct ledger_account *account);

/* The catalogue has grown: the instance's offer, if it has an open account, is here now. */
void ledger_offer_moved(struct ledger *ledger, uint32_t instance, const struct offer *offer);

/* What the task owed to another process is added to what it owes. */
void ledger_resume_due(struct ledger *ledger, uint32_t task, struct ledger_due due);

/* The open account, to be kept. False: there is none. */
bool ledger_account(const struct ledger *ledger, uint32_t instance, struct ledger_account *ret);

/* The same as it would be if the time until 'at' were booked; nothing changes. O(price changes since the last cut). */
bool ledger_account_at(const struct ledger *ledger, uint32_t instance, msec_t at,
                       struct ledger_account *ret);

/*
 * One account that was opened or changed since it was handed out last, and the same for what tasks
 * owe; LEDGER_NONE: no more. Some may have been closed or settled since. All that is handed out until
 * LEDGER_NONE comes, kept together, is a state to go on from.
 */
#define LEDGER_NONE UINT32_MAX
uint32_t ledger_take_changed_account(struct ledger *ledger);
uint32_t ledger_take_changed_due(struct ledger *ledger);

/* The instance takes work from now on. False: no open account, or it did before. */
bool ledger_ready(struct ledger *ledger, uint32_t instance, msec_t at);

/*
 * The task holds a part of the instance from now on; it pays from when the instance is ready.
 * 'weight_ppm' is its share of the machine (0 counts as 1); only the ratio to the others there
 * matters. A task may hold parts of several instances, as when it moves. To change a weight, leave
 * and enter. False: no open account, or the task is there already.
 */
bool ledger_enter(struct ledger *ledger, uint32_t instance, uint32_t task, uint32_t weight_ppm,
                  msec_t at);

/* The task is off the instance. False: no open account, or the task is not there. */
bool ledger_leave(struct ledger *ledger, uint32_t instance, uint32_t task, msec_t at);

/* Book the time until 'at', so that the totals include it. False: no open account. */
bool ledger_book(struct ledger *ledger, uint32_t instance, msec_t at);

/* The bill ends, or ended before the last cut. Tasks that are still there pay until then and are
 * off. Without an open account the answer is all zero. */
struct ledger_bill ledger_close(struct ledger *ledger, uint32_t instance, msec_t at);

bool ledger_is_open(const struct ledger *ledger, uint32_t instance);

/* What the task owes since its row was last settled. */
struct ledger_due ledger_due(const struct ledger *ledger, uint32_t task);

/* The same with the time until 'at', as if it were booked. O(tasks that share its instances). */
struct ledger_due ledger_due_at(const struct ledger *ledger, uint32_t task, msec_t at);

/*
 * The task has ended: hand out what it owes and forget it. From an instance that it was not reported
 * to have left it is taken off as of the last cut there, so that the row's next task inherits
 * nothing.
 */
struct ledger_due ledger_settle(struct ledger *ledger, uint32_t task);

/* Valid until the next call that changes the ledger. */
const struct ledger_totals *ledger_totals(const struct ledger *ledger);

/* Check by brute force that all money is accounted for and all lists agree; for tests. */
void ledger_check(const struct ledger *ledger);

#endif
