/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_bills.h"

#include <string.h>

#include "base/mem.h"
#include "store/store_history.h"
#include "store/store_kept.h"
#include "store/store_payers.h"
#include "store/store_private.h"

static uint32_t text_number(struct store_bills *bills, const char *text)
{
    return text != NULL ? names_add(&bills->names, text, strlen(text)) : STORE_NO_TEXT;
}

static void keep(void *context, const struct store_machine *machine)
{
    struct store_bills *bills = context;

    MEM_ROOM(bills->rows, bills->room, bills->count + 1);
    bills->rows[bills->count++] = (struct store_kept_bill){
        .instance = machine->id,
        .from = machine->from,
        .to = machine->to,
        .sums = machine->sums,
        .type = text_number(bills, machine->type),
        .market = text_number(bills, machine->market),
    };
    if (machine->type == NULL && !store_machine_is_owned(machine))
        bills->nameless++;
}

/* While a commit is under way, its bills are in the file together or not at all: the first tells. */
static int add_noted(struct store *store, struct error *reterr)
{
    struct store_bills *bills = store->bills;
    uint32_t added = 0;

    for (; added < bills->noted_count; added++) {
        const uint32_t before = bills->count;
        const int rc = store_read_machines(
            STORE_ASK(store, SQL_MACHINE_BILLED, STORE_NUMBER(bills->noted[added])), NULL, keep,
            bills, reterr);

        if (rc < 0) {
            store_bills_drop(store);
            return rc;
        }
        if (bills->count == before && store->commit != NULL)
            break;
    }
    bills->noted_count -= added;
    if (bills->noted_count > 0 && added > 0)
        memmove(bills->noted, bills->noted + added, bills->noted_count * sizeof(*bills->noted));
    return 0;
}

/* Of a file that others write, or that has what is not committed, nothing is kept. */
static bool may_keep(const struct store *store)
{
    return store->lock >= 0 && store->commit == NULL && !store->dirty &&
           store->sums.bill_count <= STORE_BILLS_KEPT;
}

static int ready(struct store *store, struct error *reterr)
{
    if (store->bills != NULL)
        return add_noted(store, reterr);
    if (!may_keep(store))
        return 0;
    store->bills = mem_alloc(1, sizeof(*store->bills));
    names_init(&store->bills->names);

    const int rc = store_read_machines(store_ask(store, SQL_MACHINES_BILLED, NULL, 0), NULL, keep,
                                       store->bills, reterr);

    if (rc < 0)
        store_bills_drop(store);
    return rc;
}

static const char *text_of(const struct store_bills *bills, uint32_t number)
{
    return number != STORE_NO_TEXT ? names_text(&bills->names, number) : NULL;
}

/* NULL: they are not kept now. */
static int kept_bills(struct store *store, const struct store_bills **ret, struct error *reterr)
{
    int rc = 0;

    *ret = NULL;
    if (store->commit == NULL && store->dirty)
        return 0;
    rc = ready(store, reterr);
    *ret = store->bills;
    return rc;
}

int store_each_billed(struct store *store,
                      void (*each)(void *context, const struct store_machine *machine),
                      void *context, struct error *reterr)
{
    const struct store_bills *bills = NULL;
    const int rc = kept_bills(store, &bills, reterr);

    if (rc < 0)
        return rc;
    if (bills == NULL)
        return store_read_machines(store_ask(store, SQL_MACHINES_BILLED, NULL, 0), NULL, each,
                                   context, reterr);
    for (uint32_t i = 0; i < bills->count; i++) {
        const struct store_kept_bill *bill = &bills->rows[i];
        const struct store_machine machine = { .id = bill->instance,
                                               .type = text_of(bills, bill->type),
                                               .market = text_of(bills, bill->market),
                                               .from = bill->from,
                                               .to = bill->to,
                                               .sums = bill->sums };

        each(context, &machine);
    }
    return 0;
}

int store_each_bill_since(struct store *store, msec_t since,
                          void (*each)(void *context, msec_t from, msec_t to, money_t cost),
                          void *context, struct error *reterr)
{
    const struct store_bills *bills = NULL;
    const int rc = kept_bills(store, &bills, reterr);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; bills != NULL && i < bills->count; i++) {
        const struct store_kept_bill *bill = &bills->rows[i];

        if (bill->to > since)
            each(context, bill->from, bill->to, bill->sums.bill);
    }
    if (bills != NULL)
        return 0;

    struct store_question ask = STORE_ASK(store, SQL_BILL_SINCE, STORE_NUMBER(since));

    while (store_row(&ask))
        each(context, store_number(&ask, 0), store_number(&ask, 1), store_number(&ask, 2));
    return store_asked(&ask, reterr);
}

int store_each_past(struct store *store, msec_t since, uint32_t most,
                    void (*each)(void *context, const struct store_stay *stay), void *context,
                    struct error *reterr)
{
    const struct store_bills *bills = NULL;
    const int rc = kept_bills(store, &bills, reterr);

    if (rc < 0)
        return rc;
    if (bills == NULL)
        return store_each_stay(store, since, most, each, context, reterr);
    for (uint32_t i = 0; i < bills->count; i++) {
        const struct store_kept_bill *bill = &bills->rows[i];
        const struct store_stay stay = { .instance = bill->instance,
                                         .type = text_of(bills, bill->type),
                                         .market = text_of(bills, bill->market),
                                         .bill = { bill->from, bill->to, bill->sums } };

        if (bill->to > since)
            each(context, &stay);
    }
    return 1;
}
