/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/journal.h"

#include <string.h>

#include "base/mem.h"

enum record_kind {
    RECORD_INTENT_OPEN,
    RECORD_INTENT_CLOSE,
    RECORD_INSTANCE,
    RECORD_INSTANCE_END,
    RECORD_BILL,
    RECORD_ACCOUNT,
    RECORD_DUE,
    RECORD_OWED,
    RECORD_REASON,
    RECORD_RUNTIME,
    RECORD_INTERRUPTION,
    RECORD_BOUND,
    RECORD_COUNT,
    RECORD_KEY,
    RECORD_MARK,
};

struct journal_record {
    enum record_kind kind;
    union {
        struct store_intent intent;
        struct store_instance instance;
        struct store_account account;
        struct store_due due;
        struct store_reason reason;
        struct store_runtime runtime;
        struct store_interruption interruption;
        struct store_bound bound;
        struct {
            uint64_t key;
            msec_t at;
            enum store_outcome outcome;
        } closing;
        struct {
            uint64_t id;
            struct ledger_bill bill;
        } bill;
        struct {
            enum store_counter counter;
            uint64_t more;
        } count;
        struct {
            enum store_mark mark;
            const char *value;
        } mark;
    };
};

void journal_init(struct journal *journal)
{
    *journal = (struct journal){ 0 };
    arena_init(&journal->arena);
}

void journal_done(struct journal *journal)
{
    arena_done(&journal->arena);
    mem_free(journal->records);
    *journal = (struct journal){ 0 };
}

static const char *copy(struct journal *journal, const char *text)
{
    if (text == NULL)
        return NULL;

    const size_t size = strlen(text) + 1;
    char *kept = arena_alloc(&journal->arena, size, 1);

    memcpy(kept, text, size);
    return kept;
}

static struct journal_record *add(struct journal *journal, enum record_kind kind)
{
    MEM_ROOM(journal->records, journal->room, journal->count + 1);

    struct journal_record *record = &journal->records[journal->count++];

    *record = (struct journal_record){ .kind = kind };
    return record;
}

void journal_intent_open(struct journal *journal, const struct store_intent *intent)
{
    struct journal_record *record = add(journal, RECORD_INTENT_OPEN);

    record->intent = *intent;
    record->intent.offer = copy(journal, intent->offer);
}

void journal_intent_close(struct journal *journal, uint64_t key, msec_t at,
                          enum store_outcome outcome)
{
    struct journal_record *record = add(journal, RECORD_INTENT_CLOSE);

    record->closing.key = key;
    record->closing.at = at;
    record->closing.outcome = outcome;
}

void journal_instance(struct journal *journal, const struct store_instance *instance)
{
    struct journal_record *record = add(journal, RECORD_INSTANCE);

    record->instance = *instance;
    record->instance.name = copy(journal, instance->name);
    record->instance.offer = copy(journal, instance->offer);
    record->instance.type = copy(journal, instance->type);
    record->instance.zone = copy(journal, instance->zone);
    record->instance.market = copy(journal, instance->market);
}

void journal_instance_end(struct journal *journal, uint64_t id, msec_t at)
{
    struct journal_record *record = add(journal, RECORD_INSTANCE_END);

    record->closing.key = id;
    record->closing.at = at;
}

void journal_bill(struct journal *journal, uint64_t id, const struct ledger_bill *bill)
{
    struct journal_record *record = add(journal, RECORD_BILL);

    record->bill.id = id;
    record->bill.bill = *bill;
}

void journal_account(struct journal *journal, const struct store_account *account)
{
    add(journal, RECORD_ACCOUNT)->account = *account;
}

static void add_due(struct journal *journal, enum record_kind kind, const struct store_due *due)
{
    struct journal_record *record = add(journal, kind);

    record->due = *due;
    record->due.label = copy(journal, due->label);
    record->due.job = copy(journal, due->job);
    record->due.name = copy(journal, due->name);
    record->due.user = copy(journal, due->user);
    record->due.type = copy(journal, due->type);
    record->due.account = copy(journal, due->account);
    record->due.partition = copy(journal, due->partition);
    record->due.qos = copy(journal, due->qos);
}

void journal_due(struct journal *journal, const struct store_due *due)
{
    add_due(journal, RECORD_DUE, due);
}

void journal_owed(struct journal *journal, const struct store_due *owed)
{
    add_due(journal, RECORD_OWED, owed);
}

void journal_reason(struct journal *journal, const struct store_reason *reason)
{
    if (journal->count >= JOURNAL_RECORDS_MAX) {
        journal->dropped++;
        return;
    }

    struct journal_record *record = add(journal, RECORD_REASON);

    record->reason = *reason;
    record->reason.target = copy(journal, reason->target);
    record->reason.passed_offer = copy(journal, reason->passed_offer);
    record->reason.text = copy(journal, reason->text);
}

void journal_runtime(struct journal *journal, const struct store_runtime *runtime)
{
    struct journal_record *record = add(journal, RECORD_RUNTIME);

    record->runtime = *runtime;
    record->runtime.name = copy(journal, runtime->name);
    record->runtime.user = copy(journal, runtime->user);
    record->runtime.shape = copy(journal, runtime->shape);
}

void journal_interruption(struct journal *journal, const struct store_interruption *interruption)
{
    struct journal_record *record = add(journal, RECORD_INTERRUPTION);

    record->interruption = *interruption;
    record->interruption.offer = copy(journal, interruption->offer);
}

void journal_bound(struct journal *journal, const struct store_bound *bound)
{
    add(journal, RECORD_BOUND)->bound = *bound;
}

void journal_count(struct journal *journal, enum store_counter counter, uint64_t more)
{
    struct journal_record *record = add(journal, RECORD_COUNT);

    record->count.counter = counter;
    record->count.more = more;
}

void journal_key(struct journal *journal, uint64_t next)
{
    add(journal, RECORD_KEY)->closing.key = next;
}

void journal_mark(struct journal *journal, enum store_mark mark, const char *value)
{
    struct journal_record *record = add(journal, RECORD_MARK);

    record->mark.mark = mark;
    record->mark.value = copy(journal, value);
}

static void write_record(struct store *store, const struct journal_record *record)
{
    switch (record->kind) {
    case RECORD_INTENT_OPEN:
        store_intent_open(store, &record->intent);
        break;
    case RECORD_INTENT_CLOSE:
        store_intent_close(store, record->closing.key, record->closing.at, record->closing.outcome);
        break;
    case RECORD_INSTANCE:
        store_instance(store, &record->instance);
        break;
    case RECORD_INSTANCE_END:
        store_instance_end(store, record->closing.key, record->closing.at);
        break;
    case RECORD_BILL:
        store_bill(store, record->bill.id, &record->bill.bill);
        break;
    case RECORD_ACCOUNT:
        store_account_set(store, &record->account);
        break;
    case RECORD_DUE:
        store_due(store, &record->due);
        break;
    case RECORD_OWED:
        store_owed_set(store, &record->due);
        break;
    case RECORD_REASON:
        store_reason(store, &record->reason);
        break;
    case RECORD_RUNTIME:
        store_runtime(store, &record->runtime);
        break;
    case RECORD_INTERRUPTION:
        store_interruption_set(store, &record->interruption);
        break;
    case RECORD_BOUND:
        store_bound(store, &record->bound);
        break;
    case RECORD_COUNT:
        store_count(store, record->count.counter, record->count.more);
        break;
    case RECORD_KEY:
        store_note_key(store, record->closing.key);
        break;
    case RECORD_MARK:
        store_mark(store, record->mark.mark, record->mark.value);
        break;
    }
}

/* Forget those that the store has. Texts of the others stay where they are. */
static void forget_written(struct journal *journal)
{
    journal->count -= journal->writing;
    if (journal->count > 0)
        memmove(journal->records, journal->records + journal->writing,
                journal->count * sizeof(*journal->records));
    else
        arena_reset(&journal->arena);
    journal->writing = 0;
}

int journal_write_begin(struct journal *journal, struct store *store, struct error *reterr)
{
    if (journal->count == 0)
        return 0;
    store_begin(store);
    for (uint32_t i = 0; i < journal->count; i++)
        write_record(store, &journal->records[i]);

    const int rc = store_commit_begin(store, reterr);

    journal->writing = rc < 0 ? 0 : journal->count;
    if (rc == 0)
        forget_written(journal);
    return rc;
}

int journal_write_end(struct journal *journal, struct store *store, struct error *reterr)
{
    const int rc = store_commit_end(store, reterr);

    if (rc == 0)
        forget_written(journal);
    journal->writing = 0;
    return rc;
}

int journal_write(struct journal *journal, struct store *store, struct error *reterr)
{
    const int rc = journal_write_begin(journal, store, reterr);

    if (rc <= 0)
        return rc;
    store_commit_run(store);
    return journal_write_end(journal, store, reterr);
}
