/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of intents, the reasons of decisions and the history of runtimes and interruptions. Kinds and outcomes
 * are words in the file, so that a later version cannot mistake one number for another.
 */
#include "store/store_private.h"

#include <assert.h>

const char *store_intent_word(enum store_intent_kind kind)
{
    static const char *const word[STORE_INTENT_KINDS] = {
        [STORE_RENT] = "rent",     [STORE_GIVE_BACK] = "give-back", [STORE_PLACE] = "place",
        [STORE_QUEUE] = "queue",   [STORE_STOP] = "stop",           [STORE_ADMIT] = "admit",
        [STORE_RETIRE] = "retire",
    };

    assert(kind < STORE_INTENT_KINDS);
    return word[kind];
}

const char *store_outcome_word(enum store_outcome outcome)
{
    static const char *const word[STORE_OUTCOMES] = {
        [STORE_OPEN] = "open", [STORE_DONE] = "done",         [STORE_REFUSED] = "refused",
        [STORE_LOST] = "lost", [STORE_OBSOLETE] = "obsolete",
    };

    assert(outcome < STORE_OUTCOMES);
    return word[outcome];
}

void store_intent_open(struct store *store, const struct store_intent *intent)
{
    STORE_WRITE(store, SQL_INTENT_OPEN, STORE_NUMBER(intent->key),
                STORE_TEXT(store_intent_word(intent->kind)), STORE_NUMBER(intent->instance),
                STORE_NUMBER(intent->task), STORE_TEXT(intent->offer), STORE_NUMBER(intent->at));
}

void store_intent_close(struct store *store, uint64_t key, msec_t at, enum store_outcome outcome)
{
    assert(outcome != STORE_OPEN);
    STORE_WRITE(store, SQL_INTENT_CLOSE, STORE_NUMBER(key), STORE_NUMBER(at),
                STORE_TEXT(store_outcome_word(outcome)));
}

void store_intent_close_of(struct store *store, enum store_intent_kind kind, uint64_t instance,
                           uint64_t task, msec_t at, enum store_outcome outcome)
{
    assert(outcome != STORE_OPEN);
    assert((instance == 0) != (task == 0));
    STORE_WRITE(store, instance != 0 ? SQL_INTENT_CLOSE_INSTANCE : SQL_INTENT_CLOSE_TASK,
                STORE_TEXT(store_intent_word(kind)), STORE_NUMBER(instance != 0 ? instance : task),
                STORE_NUMBER(at), STORE_TEXT(store_outcome_word(outcome)));
}

/* The kind of a word; false: none of ours. */
static bool intent_kind(const char *word, enum store_intent_kind *ret)
{
    for (enum store_intent_kind kind = 0; word != NULL && kind < STORE_INTENT_KINDS; kind++) {
        if (strcmp(word, store_intent_word(kind)) == 0) {
            *ret = kind;
            return true;
        }
    }
    return false;
}

int store_each_open_intent(struct store *store,
                           void (*each)(void *context, const struct store_intent *intent),
                           void *context, struct error *reterr)
{
    struct store_question ask = store_ask(store, SQL_INTENT_EACH, NULL, 0);

    while (store_row(&ask)) {
        struct store_intent intent = {
            .key = (uint64_t)store_number(&ask, 0),
            .instance = (uint64_t)store_number(&ask, 2),
            .task = (uint64_t)store_number(&ask, 3),
            .offer = store_text(&ask, 4),
            .at = store_number(&ask, 5),
        };

        if (intent_kind(store_text(&ask, 1), &intent.kind))
            each(context, &intent);
    }
    return store_asked(&ask, reterr);
}

int store_each_rent(struct store *store, msec_t since,
                    void (*each)(void *context, const struct store_rent *rent), void *context,
                    struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_RENT_EACH, STORE_NUMBER(since));

    while (store_row(&ask)) {
        const struct store_rent rent = {
            .offer = store_text(&ask, 0),
            .at = store_number(&ask, 1),
            .closed_at = store_number(&ask, 2),
            .was_refused = store_number(&ask, 3) != 0,
        };

        each(context, &rent);
    }
    return store_asked(&ask, reterr);
}

uint64_t store_open_intents(struct store *store)
{
    struct store_question ask = store_ask(store, SQL_INTENT_COUNT, NULL, 0);
    const uint64_t count = store_row(&ask) ? (uint64_t)store_number(&ask, 0) : 0;

    store_asked(&ask, NULL);
    return count;
}

/* A price that is not known has no number in the file. */
static struct store_value price(money_t value)
{
    return value == MONEY_UNKNOWN ? STORE_TEXT(NULL) : STORE_NUMBER(value);
}

void store_reason(struct store *store, const struct store_reason *reason)
{
    char text[PLAN_REASON_SIZE];

    plan_reason_words(&reason->why, text);
    STORE_WRITE(store, SQL_REASON_ADD, STORE_NUMBER(reason->at), STORE_NUMBER(reason->decision),
                STORE_NUMBER(reason->subject), STORE_NUMBER(reason->id), STORE_TEXT(reason->target),
                STORE_TEXT(reason->text != NULL ? reason->text : text), price(reason->why.chosen),
                price(reason->why.passed_over), STORE_TEXT(reason->passed_offer));
}

static money_t read_price(const struct store_question *ask, int column)
{
    return store_text(ask, column) == NULL ? MONEY_UNKNOWN : store_number(ask, column);
}

int store_each_reason(struct store *store, enum store_subject subject, uint64_t id, uint32_t most,
                      void (*each)(void *context, const struct store_reason *reason), void *context,
                      struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_REASON_EACH, STORE_NUMBER(subject),
                                          STORE_NUMBER(id), STORE_NUMBER(most));

    while (store_row(&ask)) {
        const struct store_reason reason = {
            .at = store_number(&ask, 0),
            .decision = (uint64_t)store_number(&ask, 1),
            .subject = subject,
            .id = id,
            .why = { .chosen = read_price(&ask, 4),
                     .passed_over = read_price(&ask, 5),
                     .passed_offer = OFFER_NONE,
                     .saving = MONEY_UNKNOWN },
            .target = store_text(&ask, 2),
            .text = store_text(&ask, 3),
            .passed_offer = store_text(&ask, 6),
        };

        each(context, &reason);
    }
    return store_asked(&ask, reterr);
}

void store_prune(struct store *store, msec_t before)
{
    STORE_WRITE(store, SQL_REASON_PRUNE, STORE_NUMBER(before));
    STORE_WRITE(store, SQL_INTENT_PRUNE, STORE_NUMBER(before));
    STORE_WRITE(store, SQL_BOUND_PRUNE, STORE_NUMBER(before));
    STORE_WRITE(store, SQL_RUNTIME_PRUNE, STORE_NUMBER(STORE_RUNTIMES_MAX));
}

void store_runtime(struct store *store, const struct store_runtime *runtime)
{
    STORE_WRITE(store, SQL_RUNTIME_ADD, STORE_NUMBER(runtime->at), STORE_TEXT(runtime->name),
                STORE_TEXT(runtime->user), STORE_TEXT(runtime->shape), STORE_NUMBER(runtime->tasks),
                STORE_NUMBER(runtime->hour), STORE_NUMBER(runtime->limit),
                STORE_NUMBER(runtime->runtime_ms));
}

int store_each_runtime(struct store *store, uint32_t most,
                       void (*each)(void *context, const struct store_runtime *runtime),
                       void *context, struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_RUNTIME_EACH, STORE_NUMBER(most));

    while (store_row(&ask)) {
        const struct store_runtime runtime = {
            .at = store_number(&ask, 0),
            .name = store_text(&ask, 1),
            .user = store_text(&ask, 2),
            .shape = store_text(&ask, 3),
            .tasks = (uint32_t)store_number(&ask, 4),
            .hour = (uint32_t)store_number(&ask, 5),
            .limit = (uint32_t)store_number(&ask, 6),
            .runtime_ms = store_number(&ask, 7),
        };

        each(context, &runtime);
    }
    return store_asked(&ask, reterr);
}

void store_bound(struct store *store, const struct store_bound *bound)
{
    STORE_WRITE(store, SQL_BOUND_ADD, STORE_NUMBER(bound->at), STORE_NUMBER(bound->cost),
                STORE_NUMBER(bound->least));
}

void store_interruption_set(struct store *store, const struct store_interruption *interruption)
{
    STORE_WRITE(store, SQL_INTERRUPTION_SET, STORE_TEXT(interruption->offer),
                STORE_NUMBER(interruption->losses_micro), STORE_NUMBER(interruption->machine_ms),
                STORE_NUMBER(interruption->at));
}

int store_each_interruption(struct store *store,
                            void (*each)(void *context,
                                         const struct store_interruption *interruption),
                            void *context, struct error *reterr)
{
    struct store_question ask = store_ask(store, SQL_INTERRUPTION_EACH, NULL, 0);

    while (store_row(&ask)) {
        const struct store_interruption interruption = {
            .offer = store_text(&ask, 0),
            .losses_micro = store_number(&ask, 1),
            .machine_ms = store_number(&ask, 2),
            .at = store_number(&ask, 3),
        };

        each(context, &interruption);
    }
    return store_asked(&ask, reterr);
}
