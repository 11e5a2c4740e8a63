/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the file is what was written.
 *
 * SQLite notices a page that is no page, but not a number that has changed: it has no checksums. So
 * each table of the books has a seal: how many rows there are, what they add up to, and the sum of a
 * 64-bit hash of each. A change takes the hash of the old row off and adds that of the new one, in
 * the same transaction, whatever the table's size. The sum does not depend on the order of rows, and
 * two different sets of rows have the same one by a chance of 2^-64. It finds damage, not forgery:
 * whoever may write the file may also write the seal.
 *
 * The row is read before and after the statement that changes it, so that what is sealed is what the
 * file has, also where the statement adds to what is there or leaves it alone.
 */
#include "store/store_private.h"

#include <errno.h>
#include <inttypes.h>

/* Beyond this size only the structure of tables is checked, not that each index entry has its row:
 * that grows faster than the file. */
static const int64_t thorough_bytes = 64 << 20;

static const struct {
    const char *name;
    enum store_statement one;
    enum store_statement all;
} sealed[STORE_SEALED_TABLES] = {
    [SEALED_BILL] = { "bill", SQL_SEALED_BILL, SQL_SEALED_BILLS },
    [SEALED_ACCOUNT] = { "account", SQL_SEALED_ACCOUNT, SQL_SEALED_ACCOUNTS },
    [SEALED_DUE] = { "due", SQL_SEALED_DUE, SQL_SEALED_DUES },
    [SEALED_OWED] = { "owed", SQL_SEALED_OWED, SQL_SEALED_OWEDS },
    [SEALED_INSTANCE] = { "instance", SQL_SEALED_INSTANCE, SQL_SEALED_INSTANCES },
    [SEALED_COUNTER] = { "counter", SQL_SEALED_COUNTER, SQL_SEALED_COUNTERS },
};

const char *store_sealed_word(enum store_sealed table)
{
    return sealed[table].name;
}

/* FNV-1a over bytes; numbers go in as eight. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001B3U;
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ ((number >> (8 * i)) & 0xFF)) * 0x100000001B3U;
    return hash;
}

/* So that hashes of neighbours do not cancel out in a sum; from splitmix64. */
static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9U;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBU;
    return hash ^ (hash >> 31);
}

static uint64_t hash_row(const struct store_question *ask)
{
    const int columns = sqlite3_column_count(ask->statement);
    uint64_t hash = 0xCBF29CE484222325U;

    for (int i = 0; i < columns; i++) {
        const int type = sqlite3_column_type(ask->statement, i);

        hash = hash_number(hash, (uint64_t)type);
        if (type == SQLITE_INTEGER) {
            hash = hash_number(hash, (uint64_t)store_number(ask, i));
        } else if (type != SQLITE_NULL) {
            const char *text = store_text(ask, i);
            const size_t size = (size_t)sqlite3_column_bytes(ask->statement, i);

            hash = hash_number(hash, size);
            if (text != NULL)
                hash = hash_bytes(hash, text, size);
        }
    }
    return mix(hash);
}

static void add_row(struct store_seal *seal, const struct store_question *ask, bool is_more)
{
    const int money = sqlite3_column_count(ask->statement) - 1;
    const uint64_t sign = is_more ? 1 : UINT64_MAX; /* -1 */

    seal->rows += sign;
    seal->money += sign * (uint64_t)store_number(ask, money);
    seal->hash += sign * hash_row(ask);
}

static void add_one(struct store *store, enum store_sealed table, struct store_value key,
                    bool is_more)
{
    struct store_question ask = store_ask(store, sealed[table].one, &key, 1);

    if (store_row(&ask))
        add_row(&store->sums.seals[table], &ask, is_more);
    store_asked(&ask, NULL); /* what cannot be read cannot be written either */
}

void store_write_sealed(struct store *store, enum store_sealed table, struct store_value key,
                        enum store_statement statement, const struct store_value *values, int count)
{
    if (store->failure == 0)
        add_one(store, table, key, false);
    store_write(store, statement, values, count);
    if (store->failure == 0)
        add_one(store, table, key, true);
}

static bool is_equal(const struct store_seal *a, const struct store_seal *b)
{
    return a->rows == b->rows && a->money == b->money && a->hash == b->hash;
}

static void write_seal(struct store *store, enum store_sealed table)
{
    const struct store_seal *seal = &store->sums.seals[table];

    STORE_WRITE(store, SQL_SEAL_WRITE, STORE_TEXT(sealed[table].name), STORE_NUMBER(seal->rows),
                STORE_NUMBER(seal->money), STORE_NUMBER(seal->hash));
}

void store_write_seals(struct store *store)
{
    for (enum store_sealed i = 0; i < STORE_SEALED_TABLES; i++) {
        if (!is_equal(&store->sums.seals[i], &store->kept_sums.seals[i]))
            write_seal(store, i);
    }
}

/* Add up all rows of a table. */
static int add_up(struct store *store, enum store_sealed table, struct store_seal *ret,
                  struct error *reterr)
{
    struct store_question ask = store_ask(store, sealed[table].all, NULL, 0);
    struct store_seal seal = { .rows = 0 };

    while (store_row(&ask))
        add_row(&seal, &ask, true);
    *ret = seal;
    return store_asked(&ask, reterr);
}

int store_make_seals(struct store *store, struct error *reterr)
{
    int rc = 0;

    for (enum store_sealed i = 0; i < STORE_SEALED_TABLES && rc == 0; i++) {
        rc = add_up(store, i, &store->sums.seals[i], reterr);
        write_seal(store, i);
    }
    return rc;
}

/* The seal as it is in the file. */
static int read_seal(struct store *store, enum store_sealed table, struct store_seal *ret,
                     bool *ret_is_there, struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_SEAL_READ, STORE_TEXT(sealed[table].name));

    *ret_is_there = store_row(&ask);
    *ret = (struct store_seal){ .rows = 0 };
    if (*ret_is_there)
        *ret = (struct store_seal){ .rows = (uint64_t)store_number(&ask, 0),
                                    .money = (uint64_t)store_number(&ask, 1),
                                    .hash = (uint64_t)store_number(&ask, 2) };
    return store_asked(&ask, reterr);
}

/* A table that the commit changes has one seal before it and another after it; one such table tells. */
int store_held_sums(struct store *store, const struct store_sums **ret, struct error *reterr)
{
    static const enum store_sealed summed[] = { SEALED_BILL, SEALED_DUE };

    *ret = &store->sums;
    for (size_t i = 0; i < sizeof(summed) / sizeof(summed[0]); i++) {
        const struct store_seal *after = &store->sums.seals[summed[i]];
        struct store_seal found;
        bool is_there;

        if (is_equal(after, &store->kept_sums.seals[summed[i]]))
            continue;

        const int rc = read_seal(store, summed[i], &found, &is_there, reterr);

        if (rc == 0 && !is_equal(after, &found))
            *ret = &store->kept_sums;
        return rc;
    }
    return 0;
}

static int verify_seal(struct store *store, enum store_sealed table, struct error *reterr)
{
    struct store_seal *found = &store->sums.seals[table];
    struct store_seal written;
    bool is_there;
    int rc = read_seal(store, table, &written, &is_there, reterr);

    if (rc == 0)
        rc = add_up(store, table, found, reterr);
    if (rc < 0)
        return rc;
    if (!is_there)
        return error_set(reterr, -EBADMSG, "table '%s' has lost its checksum", sealed[table].name);
    if (is_equal(&written, found))
        return 0;
    return error_set(reterr, -EBADMSG,
                     "table '%s' is not what was written: %" PRIu64 " rows and %" PRId64
                     " micro-dollars, where %" PRIu64 " and %" PRId64 " belong, %s checksum",
                     sealed[table].name, found->rows, (int64_t)found->money, written.rows,
                     (int64_t)written.money,
                     found->hash == written.hash ? "with the same" : "with another");
}

static int file_bytes(struct store *store, int64_t *ret)
{
    sqlite3_stmt *ask = NULL;
    int rc = -EBADMSG;

    if (sqlite3_prepare_v2(store->db,
                           "SELECT page_count*page_size FROM pragma_page_count,pragma_page_size",
                           -1, &ask, NULL) == SQLITE_OK &&
        sqlite3_step(ask) == SQLITE_ROW) {
        *ret = sqlite3_column_int64(ask, 0);
        rc = 0;
    }
    sqlite3_finalize(ask);
    return rc;
}

/* What SQLite itself can tell. */
int store_verify_structure(struct store *store, struct error *reterr)
{
    int64_t bytes = 0;
    sqlite3_stmt *ask = NULL;
    int rc = file_bytes(store, &bytes);

    if (rc == 0 && (sqlite3_prepare_v2(store->db,
                                       bytes <= thorough_bytes ? "PRAGMA integrity_check(1)"
                                                               : "PRAGMA quick_check(1)",
                                       -1, &ask, NULL) != SQLITE_OK ||
                    sqlite3_step(ask) != SQLITE_ROW))
        rc = -EBADMSG;
    if (rc < 0)
        rc = error_set(reterr, -EBADMSG, "%s", sqlite3_errmsg(store->db));
    else if (strcmp((const char *)sqlite3_column_text(ask, 0), "ok") != 0)
        rc = error_set(reterr, -EBADMSG, "%s", (const char *)sqlite3_column_text(ask, 0));
    sqlite3_finalize(ask);
    return rc;
}

int store_verify(struct store *store, struct error *reterr)
{
    int rc = store_verify_structure(store, reterr);

    for (enum store_sealed i = 0; i < STORE_SEALED_TABLES && rc == 0; i++)
        rc = verify_seal(store, i, reterr);
    return rc;
}
