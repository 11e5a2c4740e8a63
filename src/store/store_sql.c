/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements: how the file is asked and written, one row or one change at a time. What they add up to, and when a
 * turn begins and ends, is for those above; nothing here calls them.
 *
 * Costs:  a statement is prepared once for each connection, when it is needed first.
 */
#include <assert.h>
#include <errno.h>

#include "store/store_private.h"

#define STORE_STATEMENT_TEXT(name, text) [name] = (text),

static const char *const statement_text[STORE_STATEMENT_COUNT] = { STORE_STATEMENTS(
    STORE_STATEMENT_TEXT) };

/* Where to ask: while a commit is under way on another thread, that connection is not to be used. */
static sqlite3 *connection(struct store *store)
{
    if (store->commit == NULL)
        return store->db;
    if (store->reader == NULL &&
        sqlite3_open_v2(store->path, &store->reader, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        sqlite3_close(store->reader);
        store->reader = NULL;
    }
    return store->reader;
}

sqlite3_stmt *store_prepare(struct store *store, enum store_statement statement,
                            const struct store_value *values, int count)
{
    sqlite3 *db = connection(store);
    sqlite3_stmt **slot =
        store->commit == NULL ? &store->statement[statement] : &store->reader_statement[statement];

    if (db == NULL ||
        (*slot == NULL && sqlite3_prepare_v3(db, statement_text[statement], -1,
                                             SQLITE_PREPARE_PERSISTENT, slot, NULL) != SQLITE_OK))
        return NULL;
    for (int i = 0; i < count; i++) {
        int result = SQLITE_OK;

        if (!values[i].is_text)
            result = sqlite3_bind_int64(*slot, i + 1, values[i].number);
        else if (values[i].text != NULL)
            result = sqlite3_bind_text(*slot, i + 1, values[i].text, -1, SQLITE_STATIC);
        assert(result != SQLITE_RANGE);
        assert(result != SQLITE_MISUSE);
        if (result != SQLITE_OK)
            return NULL;
    }
    return *slot;
}

int store_sqlite_error(sqlite3 *db)
{
    switch (sqlite3_errcode(db)) {
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return -EACCES;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return -EBADMSG;
    default:
        return -EIO;
    }
}

void store_note_failure(struct store *store)
{
    if (store->failure == 0)
        store->failure = error_set(&store->failure_text, store_sqlite_error(store->db),
                                   "the database cannot be written: %s", sqlite3_errmsg(store->db));
}

int store_run(struct store *store, enum store_statement statement, const struct store_value *values,
              int count)
{
    sqlite3_stmt *ready = store_prepare(store, statement, values, count);

    if (ready == NULL)
        return SQLITE_ERROR;

    const int result = sqlite3_step(ready);

    sqlite3_reset(ready);
    sqlite3_clear_bindings(ready);
    return result == SQLITE_DONE || result == SQLITE_ROW ? SQLITE_OK : result;
}

void store_write(struct store *store, enum store_statement statement,
                 const struct store_value *values, int count)
{
    assert(store->begun);
    assert(store->commit == NULL);
    store->dirty = true;
    if (store->failure != 0)
        return;
    if (!store->open) {
        if (store_run(store, SQL_BEGIN, NULL, 0) != SQLITE_OK) {
            store_note_failure(store);
            return;
        }
        store->open = true;
    }
    if (store_run(store, statement, values, count) != SQLITE_OK)
        store_note_failure(store);
}

struct store_question store_ask(struct store *store, enum store_statement statement,
                                const struct store_value *values, int count)
{
    struct store_question question = {
        .store = store,
        .statement = store_prepare(store, statement, values, count),
        .db = connection(store),
    };

    question.result = question.statement == NULL ? SQLITE_ERROR : SQLITE_ROW;
    return question;
}

bool store_row(struct store_question *question)
{
    if (question->result == SQLITE_ROW)
        question->result = sqlite3_step(question->statement);
    return question->result == SQLITE_ROW;
}

int store_asked(struct store_question *question, struct error *reterr)
{
    const bool failed = question->result != SQLITE_ROW && question->result != SQLITE_DONE;
    int error = 0;

    if (failed)
        error = error_set(reterr, store_sqlite_error(question->db),
                          "the database cannot be read: %s", sqlite3_errmsg(question->db));
    if (question->statement != NULL) {
        sqlite3_reset(question->statement);
        sqlite3_clear_bindings(question->statement);
    }
    return error;
}

int64_t store_number(const struct store_question *question, int column)
{
    return sqlite3_column_int64(question->statement, column);
}

const char *store_text(const struct store_question *question, int column)
{
    return (const char *)sqlite3_column_text(question->statement, column);
}

int store_hold(struct store *store, enum store_statement statement, struct error *reterr)
{
    if (store->commit == NULL)
        return 0;

    struct store_question ask = store_ask(store, statement, NULL, 0);

    (void)store_row(&ask);
    return store_asked(&ask, reterr);
}
