/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books: instances, their bills or unfinished accounts, what tasks owe and owed. A bill takes
 * the place of the account, a due that of what was owed, in the same transaction, so that no moment
 * counts a dollar twice or not at all.
 */
#include "store/store_kept.h"
#include "store/store_private.h"
#include "store/store_tally.h"

static const char *text_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

/* Instances and bills. ------------------------------------------------------------------------ */

void store_instance(struct store *store, const struct store_instance *instance)
{
    STORE_WRITE_SEALED(store, SEALED_INSTANCE, STORE_NUMBER(instance->id), SQL_INSTANCE_ADD,
                       STORE_NUMBER(instance->id), STORE_TEXT(instance->name),
                       STORE_TEXT(instance->offer), STORE_TEXT(instance->type),
                       STORE_TEXT(instance->zone), STORE_TEXT(instance->market),
                       STORE_NUMBER(instance->per_hour), STORE_NUMBER(instance->asked_at));
    store_bills_named(store);
}

void store_instance_end(struct store *store, uint64_t id, msec_t at)
{
    STORE_WRITE_SEALED(store, SEALED_INSTANCE, STORE_NUMBER(id), SQL_INSTANCE_END, STORE_NUMBER(id),
                       STORE_NUMBER(at));
    store_account_remove(store, id);
}

static void add_sums(struct ledger_sums *to, const struct ledger_sums *more, int sign)
{
    to->boot += sign * more->boot;
    to->idle += sign * more->idle;
    to->work += sign * more->work;
    to->boot_ms += sign * more->boot_ms;
    to->idle_ms += sign * more->idle_ms;
    to->work_ms += sign * more->work_ms;
    to->bill = to->boot + to->idle + to->work;
}

void store_bill(struct store *store, uint64_t id, const struct ledger_bill *bill)
{
    const struct ledger_sums *sums = &bill->sums;
    struct ledger_bill old;

    const bool is_known = store_find_bill(store, id, &old);

    if (is_known)
        add_sums(&store->sums.bills, &old.sums, -1);
    else
        store->sums.bill_count++;
    store_bills_note(store, id, is_known);
    add_sums(&store->sums.bills, sums, 1);
    STORE_WRITE_SEALED(store, SEALED_BILL, STORE_NUMBER(id), SQL_BILL_SET, STORE_NUMBER(id),
                       STORE_NUMBER(bill->from), STORE_NUMBER(bill->to), STORE_NUMBER(sums->boot),
                       STORE_NUMBER(sums->idle), STORE_NUMBER(sums->work),
                       STORE_NUMBER(sums->boot_ms), STORE_NUMBER(sums->idle_ms),
                       STORE_NUMBER(sums->work_ms));
    store_instance_end(store, id, bill->to);
}

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

bool store_find_bill(struct store *store, uint64_t id, struct ledger_bill *ret)
{
    struct store_question ask = STORE_ASK(store, SQL_BILL_FIND, STORE_NUMBER(id));
    const bool found = store_row(&ask);

    if (found)
        *ret = (struct ledger_bill){
            .from = store_number(&ask, 0),
            .to = store_number(&ask, 1),
            .sums = read_sums(&ask, 2),
        };
    store_asked(&ask, NULL);
    return found;
}

bool store_is_settled(struct store *store, uint64_t id)
{
    struct ledger_bill bill;

    return store_find_bill(store, id, &bill);
}

static struct store_instance read_instance(const struct store_question *ask)
{
    return (struct store_instance){
        .id = (uint64_t)store_number(ask, 0),
        .name = store_text(ask, 1),
        .offer = store_text(ask, 2),
        .type = store_text(ask, 3),
        .zone = store_text(ask, 4),
        .market = store_text(ask, 5),
        .per_hour = store_number(ask, 6),
        .asked_at = store_number(ask, 7),
        .ended_at = store_text(ask, 8) == NULL ? -1 : store_number(ask, 8),
    };
}

int store_each_instance(struct store *store,
                        void (*each)(void *context, const struct store_instance *instance),
                        void *context, struct error *reterr)
{
    struct store_question ask = store_ask(store, SQL_INSTANCE_EACH, NULL, 0);

    while (store_row(&ask)) {
        const struct store_instance instance = read_instance(&ask);

        each(context, &instance);
    }
    return store_asked(&ask, reterr);
}

bool store_find_instance(struct store *store, uint64_t id,
                         void (*each)(void *context, const struct store_instance *instance),
                         void *context)
{
    struct store_question ask = STORE_ASK(store, SQL_INSTANCE_FIND, STORE_NUMBER(id));
    const bool found = store_row(&ask);

    if (found) {
        const struct store_instance instance = read_instance(&ask);

        each(context, &instance);
    }
    store_asked(&ask, NULL);
    return found;
}

/* Accounts. ----------------------------------------------------------------------------------- */

void store_account_set(struct store *store, const struct store_account *account)
{
    const struct ledger_sums *sums = &account->sums;

    STORE_WRITE_SEALED(
        store, SEALED_ACCOUNT, STORE_NUMBER(account->instance), SQL_ACCOUNT_SET,
        STORE_NUMBER(account->instance), STORE_NUMBER(account->from), STORE_NUMBER(account->until),
        STORE_NUMBER(sums->boot), STORE_NUMBER(sums->idle), STORE_NUMBER(sums->work),
        STORE_NUMBER(sums->boot_ms), STORE_NUMBER(sums->idle_ms), STORE_NUMBER(sums->work_ms),
        STORE_NUMBER(account->rest), STORE_NUMBER(account->is_ready));
}

void store_account_remove(struct store *store, uint64_t instance)
{
    STORE_WRITE_SEALED(store, SEALED_ACCOUNT, STORE_NUMBER(instance), SQL_ACCOUNT_REMOVE,
                       STORE_NUMBER(instance));
}

static struct store_account read_account(const struct store_question *ask)
{
    return (struct store_account){
        .instance = (uint64_t)store_number(ask, 0),
        .from = store_number(ask, 1),
        .until = store_number(ask, 2),
        .sums = read_sums(ask, 3),
        .rest = store_number(ask, 9),
        .is_ready = store_number(ask, 10) != 0,
    };
}

bool store_account_get(struct store *store, uint64_t instance, struct store_account *ret)
{
    struct store_question ask = STORE_ASK(store, SQL_ACCOUNT_FIND, STORE_NUMBER(instance));
    const bool found = store_row(&ask);

    if (found)
        *ret = read_account(&ask);
    store_asked(&ask, NULL);
    return found;
}

int store_each_account(struct store *store,
                       void (*each)(void *context, const struct store_account *account),
                       void *context, struct error *reterr)
{
    struct store_question ask = store_ask(store, SQL_ACCOUNT_EACH, NULL, 0);

    while (store_row(&ask)) {
        const struct store_account account = read_account(&ask);

        each(context, &account);
    }
    return store_asked(&ask, reterr);
}

/* Boots. -------------------------------------------------------------------------------------- */

int store_each_boot(struct store *store, uint32_t most,
                    void (*each)(void *context, const struct store_boot *boot), void *context,
                    struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_BOOT_EACH, STORE_NUMBER(most));

    while (store_row(&ask)) {
        const struct store_boot boot = {
            .type = store_text(&ask, 0),
            .acquire_ms = store_number(&ask, 1),
            .setup_ms = store_number(&ask, 2),
        };

        each(context, &boot);
    }
    return store_asked(&ask, reterr);
}

/* Dues. --------------------------------------------------------------------------------------- */

bool store_is_due(struct store *store, uint64_t task)
{
    struct store_question ask = STORE_ASK(store, SQL_DUE_KNOWN, STORE_NUMBER(task));
    const bool found = store_row(&ask);

    (void)store_asked(&ask, NULL);
    return found;
}

/* To whom the engine charges the task, beside its user. True: not to whom it did, or for the first time. */
static bool note_payer(struct store *store, const struct store_due *due)
{
    if (due->account == NULL && due->partition == NULL && due->qos == NULL)
        return false;
    STORE_WRITE(store, SQL_PAYER_SET, STORE_NUMBER(due->task), STORE_TEXT(due->account),
                STORE_TEXT(due->partition), STORE_TEXT(due->qos));
    return sqlite3_changes(store->db) > 0;
}

void store_due(struct store *store, const struct store_due *due)
{
    const char *label = text_or(due->label, "");
    const bool is_known = store_is_due(store, due->task);

    store->sums.due_count += is_known ? 0 : 1;
    store_tally_ended(store, due->task, is_known);
    store->sums.dues += due->cost;
    store->sums.alone += due->alone_cost;
    STORE_WRITE_SEALED(
        store, SEALED_DUE, STORE_NUMBER(due->task), SQL_DUE_ADD, STORE_NUMBER(due->task),
        STORE_TEXT(label), STORE_TEXT(text_or(due->job, label)), STORE_TEXT(due->name),
        STORE_TEXT(text_or(due->user, "(unknown)")), STORE_TEXT(due->type), STORE_NUMBER(due->cost),
        STORE_NUMBER(due->alone_cost), STORE_NUMBER(due->occupied_ms), STORE_NUMBER(due->ended_at));
    (void)note_payer(store, due);
    store_owed_remove(store, due->task);
    store_count(store, COUNT_TASKS_ENDED, 1);
}

void store_owed_set(struct store *store, const struct store_due *owed)
{
    const char *label = text_or(owed->label, "");

    STORE_WRITE_SEALED(store, SEALED_OWED, STORE_NUMBER(owed->task), SQL_OWED_SET,
                       STORE_NUMBER(owed->task), STORE_TEXT(label),
                       STORE_TEXT(text_or(owed->job, label)), STORE_TEXT(owed->name),
                       STORE_TEXT(text_or(owed->user, "(unknown)")), STORE_NUMBER(owed->cost),
                       STORE_NUMBER(owed->occupied_ms));
    store_owed_note(store, owed->task);
    store_tally_opened(store, owed->task);
    if (note_payer(store, owed) && store_is_due(store, owed->task))
        store_tally_payer_changed(store);
}

void store_owed_remove(struct store *store, uint64_t task)
{
    STORE_WRITE_SEALED(store, SEALED_OWED, STORE_NUMBER(task), SQL_OWED_REMOVE, STORE_NUMBER(task));
    store_owed_note(store, task);
    store_tally_opened(store, task);
}

int store_each_owed(struct store *store,
                    void (*each)(void *context, uint64_t task, const struct ledger_due *owed),
                    void *context, struct error *reterr)
{
    struct store_question ask = store_ask(store, SQL_OWED_EACH, NULL, 0);

    while (store_row(&ask)) {
        const struct ledger_due owed = { .cost = store_number(&ask, 1),
                                         .occupied_ms = store_number(&ask, 2) };

        each(context, (uint64_t)store_number(&ask, 0), &owed);
    }
    return store_asked(&ask, reterr);
}

bool store_find_due(struct store *store, const char *label,
                    void (*each)(void *context, const struct store_due *due), void *context)
{
    struct store_question ask = STORE_ASK(store, SQL_DUE_FIND, STORE_TEXT(label));
    const bool found = store_row(&ask);

    if (found) {
        const struct store_due due = {
            .task = (uint64_t)store_number(&ask, 0),
            .label = store_text(&ask, 1),
            .job = store_text(&ask, 2),
            .name = store_text(&ask, 3),
            .user = store_text(&ask, 4),
            .type = store_text(&ask, 5),
            .cost = store_number(&ask, 6),
            .alone_cost = store_number(&ask, 7),
            .occupied_ms = store_number(&ask, 8),
            .ended_at = store_number(&ask, 9),
        };

        each(context, &due);
    }
    store_asked(&ask, NULL);
    return found;
}
