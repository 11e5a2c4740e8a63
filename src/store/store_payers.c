/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines and tasks in the books, with what they owe by now where that is known; see store_report.h.
 */
#include "store/store_payers.h"

#include "base/map.h"
#include "control/ports/engine_port.h"
#include "store/store_owed.h"

/* What is in the books. ----------------------------------------------------------------------- */

static struct ledger_sums read_sums(const struct store_question *ask, int column)
{
    struct ledger_sums sums = {
        .boot = store_number(ask, column),
        .idle = store_number(ask, column + 1),
        .work = store_number(ask, column + 2),
        .boot_ms = store_number(ask, column + 3),
        .idle_ms = store_number(ask, column + 4),
        .work_ms = store_number(ask, column + 5),
    };

    sums.bill = sums.boot + sums.idle + sums.work;
    return sums;
}

bool store_machine_is_owned(const struct store_machine *machine)
{
    return machine->id >= OWNED_ID_FIRST;
}

static void take_live(struct store_machine *machine, const struct store_live *live)
{
    struct ledger_account account;

    if (live == NULL || !machine->is_open || !live->account(live->context, machine->id, &account))
        return;
    machine->to = account.until;
    machine->sums = account.sums;
}

int store_read_machines(struct store_question ask, const struct store_live *live,
                        void (*each)(void *context, const struct store_machine *machine),
                        void *context, struct error *reterr)
{
    while (store_row(&ask)) {
        struct store_machine machine = {
            .id = (uint64_t)store_number(&ask, 0),
            .name = store_text(&ask, 1),
            .type = store_text(&ask, 2),
            .zone = store_text(&ask, 3),
            .market = store_text(&ask, 4),
            .per_hour = store_number(&ask, 5),
            .from = store_number(&ask, 6),
            .to = store_number(&ask, 7),
            .sums = read_sums(&ask, 8),
            .is_open = store_number(&ask, 14) != 0,
        };

        take_live(&machine, live);
        each(context, &machine);
    }
    return store_asked(&ask, reterr);
}

int store_each_machine(struct store *store, const struct store_live *live,
                       void (*each)(void *context, const struct store_machine *machine),
                       void *context, struct error *reterr)
{
    return store_read_machines(store_ask(store, SQL_MACHINES, NULL, 0), live, each, context,
                               reterr);
}

/* Those that owe something and are not in the books yet. */
struct newcomers {
    const struct map *in_books;
    void (*each)(void *context, const struct store_payer *payer);
    void *context;
};

static bool is_new(const void *context, uint64_t task)
{
    const struct newcomers *newcomers = context;

    return map_get(newcomers->in_books, task) == MAP_NONE;
}

static void show_newcomer(void *context, const struct store_payer *payer)
{
    const struct newcomers *newcomers = context;

    newcomers->each(newcomers->context, payer);
}

static void each_newcomer(struct newcomers newcomers, const struct store_live *live)
{
    if (live != NULL && live->each_new != NULL)
        live->each_new(live->context, is_new, show_newcomer, &newcomers);
}

int store_each_due(struct store_question ask, const struct store_live *live, msec_t now,
                   void (*each)(void *context, const struct store_payer *payer), void *context,
                   struct error *reterr)
{
    struct map in_books;

    map_init(&in_books);
    while (store_row(&ask)) {
        const bool is_open = store_text(&ask, 9) == NULL;
        const uint64_t task = (uint64_t)store_number(&ask, 10);
        struct ledger_due due = { .cost = store_number(&ask, 6),
                                  .occupied_ms = store_number(&ask, 8) };
        const msec_t to = is_open ? now : store_number(&ask, 9);

        if (is_open && live != NULL) {
            (void)live->owed(live->context, task, &due);
            map_put(&in_books, task, 0);
        }

        const struct store_payer payer = {
            .task = task,
            .job = store_text(&ask, 0),
            .user = store_text(&ask, 1),
            .job_name = store_text(&ask, 2),
            .account = store_text(&ask, 3),
            .partition = store_text(&ask, 4),
            .qos = store_text(&ask, 5),
            .cost = due.cost,
            .alone_cost = store_number(&ask, 7),
            .occupied_ms = due.occupied_ms,
            .from = to - due.occupied_ms,
            .to = to,
            .is_open = is_open,
        };

        each(context, &payer);
    }

    const int rc = store_asked(&ask, reterr);

    if (rc == 0)
        each_newcomer((struct newcomers){ &in_books, each, context }, live);
    map_done(&in_books);
    return rc;
}

struct open_books {
    const struct store_live *live;
    void (*each)(void *context, uint64_t task, const struct ledger_due *due);
    void (*fresh)(void *context, const struct store_payer *payer);
    void *context;
    struct map in_books; /* as far as they are read from the file */
};

static void show_open(const struct open_books *open, uint64_t task, const struct ledger_due *owed)
{
    struct ledger_due now = *owed;

    if (open->live != NULL)
        (void)open->live->owed(open->live->context, task, &now);
    open->each(open->context, task, &now);
}

static void show_read(void *context, uint64_t task, const struct ledger_due *owed)
{
    struct open_books *open = context;

    map_put(&open->in_books, task, 0);
    show_open(open, task, owed);
}

static int read_open(struct store *store, struct open_books *open, struct error *reterr)
{
    map_init(&open->in_books);

    const int rc = store_each_owed(store, show_read, open, reterr);

    if (rc == 0)
        each_newcomer((struct newcomers){ &open->in_books, open->fresh, open->context },
                      open->live);
    map_done(&open->in_books);
    return rc;
}

int store_each_open(struct store *store, const struct store_live *live,
                    void (*each)(void *context, uint64_t task, const struct ledger_due *due),
                    void (*fresh)(void *context, const struct store_payer *payer), void *context,
                    struct error *reterr)
{
    struct open_books open = { .live = live, .each = each, .fresh = fresh, .context = context };
    const struct store_owed *owed = NULL;
    const int rc = store_owed_all(store, &owed, reterr);

    if (rc < 0)
        return rc;
    if (owed == NULL)
        return read_open(store, &open, reterr);
    for (uint32_t i = 0; i < owed->count; i++)
        show_open(&open, owed->rows[i].task, &owed->rows[i].due);
    each_newcomer((struct newcomers){ &owed->places, fresh, context }, live);
    return 0;
}

void store_note_newest(void *context, const struct store_machine *machine)
{
    msec_t *newest = context;

    if (machine->is_open && machine->to > *newest)
        *newest = machine->to;
}

int store_each_payer(struct store *store, const struct store_live *live,
                     void (*each)(void *context, const struct store_payer *payer), void *context,
                     struct error *reterr)
{
    msec_t now = 0;
    const int rc = store_each_machine(store, live, store_note_newest, &now, reterr);

    return rc < 0 ? rc
                  : store_each_due(store_ask(store, SQL_PAYERS, NULL, 0), live, now, each, context,
                                   reterr);
}

/* What the books add up to: bill = boot + idle + work, the sum of bills and accounts. --------------- */

static void add_open(struct store_totals *to, const struct ledger_sums *sums)
{
    to->boot += sums->boot;
    to->idle += sums->idle;
    to->work += sums->work;
    to->boot_ms += sums->boot_ms;
    to->idle_ms += sums->idle_ms;
    to->work_ms += sums->work_ms;
    to->instances++;
}

struct open_accounts {
    const struct store_live *live;
    struct store_totals *to;
};

static void sum_account(void *context, const struct store_account *account)
{
    const struct open_accounts *open = context;
    struct ledger_account now = { .sums = account->sums };

    if (open->live != NULL)
        (void)open->live->account(open->live->context, account->instance, &now);
    add_open(open->to, &now.sums);
}

static void sum_owed(void *context, uint64_t task, const struct ledger_due *due)
{
    struct store_totals *to = context;

    (void)task;
    to->owed += due->cost;
}

static void sum_newcomer(void *context, const struct store_payer *payer)
{
    struct store_totals *to = context;

    to->owed += payer->cost;
}

static int add_up(struct store *store, const struct store_live *live, struct store_totals *ret,
                  struct error *reterr)
{
    const struct store_sums *sums = &store->sums;
    int rc = store->commit != NULL ? store_held_sums(store, &sums, reterr) : 0;
    const struct ledger_sums *bills = &sums->bills;
    struct open_accounts open = { .live = live, .to = ret };

    *ret = (struct store_totals){
        .boot = bills->boot,
        .idle = bills->idle,
        .work = bills->work,
        .boot_ms = bills->boot_ms,
        .idle_ms = bills->idle_ms,
        .work_ms = bills->work_ms,
        .settled = sums->dues,
        .alone = sums->alone,
        .instances = sums->bill_count,
        .tasks = sums->due_count,
    };
    if (rc == 0)
        rc = store_each_account(store, sum_account, &open, reterr);
    if (rc == 0)
        rc = store_each_open(store, live, sum_owed, sum_newcomer, ret, reterr);
    ret->bill = ret->boot + ret->idle + ret->work;
    return rc;
}

money_t store_committed(const struct store_live *live)
{
    return live != NULL && live->committed != NULL ? live->committed(live->context) : 0;
}

int store_totals_live(struct store *store, const struct store_live *live, struct store_totals *ret,
                      struct error *reterr)
{
    struct store_totals totals;
    int rc = store_hold(store, SQL_HOLD, reterr);

    if (rc < 0)
        return rc;
    rc = add_up(store, live, &totals, reterr);
    (void)store_hold(store, SQL_COMMIT, NULL);
    if (rc == 0) {
        *ret = totals;
        ret->committed = store_committed(live);
    }
    return rc;
}

int store_totals(struct store *store, struct store_totals *ret, struct error *reterr)
{
    return store_totals_live(store, NULL, ret, reterr);
}
