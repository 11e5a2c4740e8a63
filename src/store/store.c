/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a turn becomes true at once:
 *
 *  1. store_begin notes that a turn has begun; SQLite's own transaction begins with the first write,
 *     so that a turn without writes costs nothing.
 *  2. The first write that fails is remembered, and later ones are not tried.
 *  3. store_commit writes key and counters, then commits, or undoes everything; what this module
 *     keeps in memory goes back to what the file has.
 *
 * Another process is kept out by a lock on a file beside the database: SQLite's own locks would let
 * two daemons take turns, and each would believe its keys to be its own. (It cannot be a lock on
 * the database file: closing any descriptor of that would drop SQLite's locks.)
 */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store_kept.h"
#include "store/store_private.h"
#include "store/store_tally.h"

enum {
    BUSY_MS = 5000, /* how long a foreign reader may hold up a checkpoint */
    PATH_ROOM = 4096,
    HOLDER_ROOM = 64, /* what a lock says of who holds it */
};

static const char *const schema =
    "CREATE TABLE counter(name TEXT PRIMARY KEY,value INTEGER NOT NULL) STRICT,WITHOUT ROWID;"
    "CREATE TABLE intent(key INTEGER PRIMARY KEY,kind TEXT NOT NULL,instance INTEGER NOT NULL,"
    " task INTEGER NOT NULL,offer TEXT,opened_at INTEGER NOT NULL,closed_at INTEGER,"
    " outcome TEXT NOT NULL DEFAULT 'open') STRICT;"
    "CREATE INDEX intent_open ON intent(key) WHERE outcome='open';"
    "CREATE INDEX intent_instance ON intent(instance) WHERE outcome='open';"
    "CREATE INDEX intent_task ON intent(task) WHERE outcome='open';"
    "CREATE INDEX intent_closed ON intent(closed_at) WHERE outcome<>'open';"
    "CREATE TABLE instance(id INTEGER PRIMARY KEY,name TEXT,offer TEXT,type TEXT,zone TEXT,"
    " market TEXT,per_hour INTEGER NOT NULL,asked_at INTEGER NOT NULL,ended_at INTEGER) STRICT;"
    "CREATE INDEX instance_living ON instance(id) WHERE ended_at IS NULL;"
    "CREATE TABLE bill(instance INTEGER PRIMARY KEY,billed_from INTEGER NOT NULL,"
    " billed_to INTEGER NOT NULL,boot INTEGER NOT NULL,idle INTEGER NOT NULL,"
    " work INTEGER NOT NULL,boot_ms INTEGER NOT NULL,idle_ms INTEGER NOT NULL,"
    " work_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE account(instance INTEGER PRIMARY KEY,billed_from INTEGER NOT NULL,"
    " until INTEGER NOT NULL,boot INTEGER NOT NULL,idle INTEGER NOT NULL,work INTEGER NOT NULL,"
    " boot_ms INTEGER NOT NULL,idle_ms INTEGER NOT NULL,work_ms INTEGER NOT NULL,"
    " rest INTEGER NOT NULL,is_ready INTEGER NOT NULL) STRICT;"
    "CREATE TABLE due(task INTEGER PRIMARY KEY,label TEXT NOT NULL,job TEXT NOT NULL,name TEXT,"
    " user TEXT NOT NULL,type TEXT,cost INTEGER NOT NULL,alone INTEGER NOT NULL,"
    " occupied_ms INTEGER NOT NULL,ended_at INTEGER NOT NULL) STRICT;"
    "CREATE INDEX due_label ON due(label);"
    "CREATE INDEX due_job ON due(job);"
    "CREATE TABLE owed(task INTEGER PRIMARY KEY,label TEXT NOT NULL,job TEXT NOT NULL,name TEXT,"
    " user TEXT NOT NULL,cost INTEGER NOT NULL,occupied_ms INTEGER NOT NULL) STRICT;"
    "CREATE TABLE reason(at INTEGER NOT NULL,decision INTEGER NOT NULL,subject INTEGER NOT NULL,"
    " id INTEGER NOT NULL,target TEXT,text TEXT NOT NULL,chosen INTEGER,passed_over INTEGER,"
    " passed_offer TEXT) STRICT;"
    "CREATE INDEX reason_of ON reason(subject,id);"
    "CREATE INDEX reason_at ON reason(at);"
    "CREATE TABLE runtime(at INTEGER NOT NULL,name TEXT,user TEXT,shape TEXT,"
    " tasks INTEGER NOT NULL,hour INTEGER NOT NULL,time_limit INTEGER NOT NULL,"
    " runtime_ms INTEGER NOT NULL) STRICT;";

/* Version 2: what the books must add up to. An older version would not keep it. */
static const char *const schema_seal =
    "CREATE TABLE seal(name TEXT PRIMARY KEY,rows INTEGER NOT NULL,money INTEGER NOT NULL,"
    " hash INTEGER NOT NULL) STRICT,WITHOUT ROWID;"
    "PRAGMA user_version=2;";

/* Came later, and is of no use to an older version. */
static const char *const schema_more =
    "CREATE TABLE IF NOT EXISTS mark(name TEXT PRIMARY KEY,value TEXT NOT NULL)"
    " STRICT,WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS bill_to ON bill(billed_to);"
    "CREATE INDEX IF NOT EXISTS due_ended ON due(ended_at);"
    "CREATE INDEX IF NOT EXISTS due_user ON due(user,cost,alone,occupied_ms);"
    "CREATE TABLE IF NOT EXISTS interruption(offer TEXT PRIMARY KEY,losses_micro INTEGER NOT NULL,"
    " machine_ms INTEGER NOT NULL,at INTEGER NOT NULL) STRICT,WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS bound(at INTEGER PRIMARY KEY,cost INTEGER NOT NULL,"
    " least INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS payer(task INTEGER PRIMARY KEY,account TEXT,partition TEXT,qos TEXT)"
    " STRICT;";

static const char *counter_word(enum store_counter counter)
{
    static const char *const word[STORE_COUNTERS] = {
        [COUNT_DECISIONS] = "decisions",
        [COUNT_LAUNCHES] = "launches",
        [COUNT_REFUSED] = "refused",
        [COUNT_BOOT_TIMEOUT] = "boot_timeout",
        [COUNT_VANISHED] = "vanished",
        [COUNT_EVICTED_BY_NOTICE] = "evicted_by_notice",
        [COUNT_EVICTED_BY_LOSS] = "evicted_by_loss",
        [COUNT_EVICTED_BY_MOVE] = "evicted_by_move",
        [COUNT_EVICTED_BY_ENGINE] = "evicted_by_engine",
        [COUNT_ADOPTED] = "adopted",
        [COUNT_LATE_EVENTS] = "late_events",
        [COUNT_RATES] = "rates",
        [COUNT_LIMITED] = "limited",
        [COUNT_WITHHELD] = "withheld",
        [COUNT_TASKS_ENDED] = "tasks_ended",
        [COUNT_TAKEN] = "taken",
        [COUNT_LOST_COST] = "lost_cost",
        [COUNT_EXPECTED_LOSS] = "expected_loss",
        [COUNT_NOTICE_SAVED] = "notice_saved",
        [COUNT_NOTICE_LOST] = "notice_lost",
    };

    return word[counter];
}

/* Opening. ------------------------------------------------------------------------------------ */

/* Hold '<path>.lock', so that there is one daemon for one file. It says by whom it is held. */
int store_take_lock(const char *path, int *ret, struct error *reterr)
{
    char name[PATH_ROOM];
    char holder[HOLDER_ROOM] = "";
    const int length = snprintf(name, sizeof(name), "%s.lock", path);

    if (length < 0 || (size_t)length >= sizeof(name))
        return error_set(reterr, -ENAMETOOLONG, "%s: the path is too long", path);

    const int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (lock < 0)
        return error_set(reterr, -errno, "%s: %s", name, strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
        const ssize_t size = read(lock, holder, sizeof(holder) - 1);

        holder[size > 0 ? strcspn(holder, "\n") : 0] = '\0';
        close(lock);
        return error_set(reterr, -EBUSY,
                         "%s: another process uses this state (%s): a second daemon needs another "
                         "'state' and another 'cluster'",
                         path, holder[0] != '\0' ? holder : "it does not say which");
    }
    *ret = lock;
    return 0;
}

/* Whether the lock is one of a file that was in use: then there must be something in it. */
static bool was_used(int lock)
{
    struct stat stat = { .st_size = 0 };

    return fstat(lock, &stat) == 0 && stat.st_size > 0;
}

/* The process that has the lock, for error messages of others; on a full disk it stays unwritten. */
static void sign_lock(int lock)
{
    char holder[HOLDER_ROOM];
    const int length = snprintf(holder, sizeof(holder), "pid %ld\n", (long)getpid());

    if (pwrite(lock, holder, (size_t)length, 0) == length)
        (void)!ftruncate(lock, length);
}

/* The file is there, is a plain file, and only its owner may read or write it. */
static int make_file(const char *path, struct error *reterr)
{
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat stat = { .st_mode = 0 };
    int error = 0;

    if (file < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    if (fstat(file, &stat) < 0 || !S_ISREG(stat.st_mode))
        error = error_set(reterr, -EINVAL, "%s: not a plain file", path);
    else if ((stat.st_mode & 077) != 0 && fchmod(file, 0600) < 0)
        error = error_set(reterr, -errno, "%s: cannot be kept from other users: %s", path,
                          strerror(errno));
    close(file);
    return error;
}

int store_exec(struct store *store, const char *text, struct error *reterr)
{
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return error_set(reterr, store_sqlite_error(store->db), "%s", sqlite3_errmsg(store->db));
}

static int read_version(struct store *store, int64_t *ret, struct error *reterr)
{
    sqlite3_stmt *ask = NULL;

    if (sqlite3_prepare_v2(store->db, "PRAGMA user_version", -1, &ask, NULL) != SQLITE_OK ||
        sqlite3_step(ask) != SQLITE_ROW) {
        sqlite3_finalize(ask);
        return error_set(reterr, store_sqlite_error(store->db), "%s", sqlite3_errmsg(store->db));
    }
    *ret = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return 0;
}

/* The tables that a file of that version lacks. */
static int make_tables(struct store *store, int64_t version, struct error *reterr)
{
    int error = store_exec(store, "BEGIN EXCLUSIVE", reterr);

    if (error == 0 && version == 0)
        error = store_exec(store, schema, reterr);
    if (error == 0)
        error = store_exec(store, schema_seal, reterr);
    return error == 0 ? store_exec(store, "COMMIT", reterr) : error;
}

/* The file comes from a version that had no seals. */
static int seal_tables(struct store *store, struct error *reterr)
{
    store_begin(store);

    const int error = store_make_seals(store, reterr);

    if (error < 0) {
        store_rollback(store);
        return error;
    }
    return store_commit(store, reterr);
}

static int make_schema(struct store *store, struct error *reterr)
{
    int64_t version = 0;
    int error = read_version(store, &version, reterr);

    if (error < 0)
        return error;
    if (version > STORE_SCHEMA_VERSION)
        return error_set(reterr, -EPROTO,
                         "was written by a newer version (schema %" PRId64 ", known up to %d)",
                         version, STORE_SCHEMA_VERSION);
    if (version == 0 && store->was_used)
        return error_set(reterr, -EBADMSG, "the file is empty, and was not before");
    if (version < STORE_SCHEMA_VERSION)
        error = make_tables(store, version, reterr);
    if (error == 0)
        error = store_exec(store, schema_more, reterr);
    if (error == 0 && version < STORE_SCHEMA_VERSION)
        error = seal_tables(store, reterr);
    return error;
}

static int read_counters(struct store *store, struct error *reterr)
{
    struct store_question ask = STORE_ASK(store, SQL_KEY_READ, STORE_TEXT(NULL));

    if (store_row(&ask))
        store->next_key = (uint64_t)store_number(&ask, 0);

    int error = store_asked(&ask, reterr);

    for (enum store_counter i = 0; i < STORE_COUNTERS && error == 0; i++) {
        ask = STORE_ASK(store, SQL_COUNTER_READ, STORE_TEXT(counter_word(i)));
        if (store_row(&ask))
            store->counted[i] = (uint64_t)store_number(&ask, 0);
        error = store_asked(&ask, reterr);
    }
    return error;
}

/* What is in memory is what is in the file. */
static void keep(struct store *store)
{
    store->kept_key = store->next_key;
    store->kept_sums = store->sums;
    memcpy(store->kept_counted, store->counted, sizeof(store->counted));
}

/*
 * 'alone': the index of the log is kept in memory instead of a file beside it, which others would need to
 * read along. It can be opened on a full disk so.
 */
static int open_database(struct store *store, const char *path, bool alone, struct error *reterr)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK)
        return error_set(reterr, -EACCES, "%s",
                         store->db != NULL ? sqlite3_errmsg(store->db) : "out of memory");
    sqlite3_extended_result_codes(store->db, 0);
    sqlite3_busy_timeout(store->db, BUSY_MS);

    int error = alone ? store_exec(store, "PRAGMA locking_mode=EXCLUSIVE", reterr) : 0;

    if (error == 0)
        error = store_exec(store,
                           "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA foreign_keys=ON;"
                           "PRAGMA trusted_schema=OFF",
                           reterr);
    if (error == 0)
        error = make_schema(store, reterr);
    if (error == 0)
        error = store_verify(store, reterr);
    if (error == 0)
        error = read_counters(store, reterr);
    if (error == 0)
        error = store_read_sums(store, reterr);
    keep(store);
    return error;
}

static void close_database(struct store *store)
{
    for (int i = 0; i < STORE_STATEMENT_COUNT; i++) {
        sqlite3_finalize(store->statement[i]);
        store->statement[i] = NULL;
        sqlite3_finalize(store->reader_statement[i]);
        store->reader_statement[i] = NULL;
    }
    sqlite3_close(store->reader);
    store->reader = NULL;
    sqlite3_close(store->db);
    store->db = NULL;
}

static int open_somehow(struct store *store, const char *path, struct error *reterr)
{
    const int error = open_database(store, path, false, reterr);

    if (error != -EIO && error != -ENOSPC)
        return error;
    close_database(store);
    return open_database(store, path, true, reterr);
}

/* What to do about a file that is damaged. */
static int advise(struct error *reterr, int error, const char *path)
{
    const struct error why = reterr != NULL ? *reterr : (struct error){ "" };

    if (error != -EBADMSG)
        return error_prefix(reterr, error, path);
    return error_set(
        reterr, error,
        "%s: damaged: %.160s. Restore a backup with `stint state restore`; or move the "
        "file away to start over: machines are adopted from the cloud's list, the books "
        "begin at zero",
        path, why.text);
}

int store_open(const char *path, struct store **ret, struct error *reterr)
{
    struct store *store = mem_alloc(1, sizeof(*store));
    struct stat stat_now;
    const bool is_there = stat(path, &stat_now) == 0;

    store->lock = -1;
    store->path = mem_alloc(strlen(path) + 1, 1);
    memcpy(store->path, path, strlen(path) + 1);
    int error = store_take_lock(path, &store->lock, reterr);

    store->was_used = error == 0 && is_there && was_used(store->lock);
    if (error == 0)
        error = make_file(path, reterr);
    if (error == 0) {
        error = open_somehow(store, path, reterr);
        if (error < 0)
            advise(reterr, error, path);
    }
    if (error < 0) {
        store_close(store);
        return error;
    }
    sign_lock(store->lock);
    *ret = store;
    return 0;
}

int store_open_reader(const char *path, struct store **ret, struct error *reterr)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    struct store *store = mem_alloc(1, sizeof(*store));

    store->lock = -1;
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK) {
        const int error = error_set(reterr, -EACCES, "%s: %s", path,
                                    store->db != NULL ? sqlite3_errmsg(store->db) : "no memory");

        store_close(store);
        return error;
    }
    sqlite3_busy_timeout(store->db, BUSY_MS);
    *ret = store;
    return 0;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    if (store->begun)
        store_rollback(store);
    close_database(store);
    store_tally_drop(store);
    store_bills_drop(store);
    store_owed_drop(store);
    if (store->lock >= 0)
        close(store->lock);
    mem_free(store->path);
    mem_free(store);
}

/* Transactions. ------------------------------------------------------------------------------- */

void store_begin(struct store *store)
{
    assert(!store->begun);
    store->begun = true;
    store->dirty = false;
    store->failure = 0;
}

bool store_is_dirty(const struct store *store)
{
    return store->dirty;
}

static void end_turn(struct store *store)
{
    store->begun = false;
    store->open = false;
    store->dirty = false;
    store->failure = 0;
}

void store_rollback(struct store *store)
{
    assert(store->begun);
    if (store->open && !sqlite3_get_autocommit(store->db))
        (void)store_run(store, SQL_ROLLBACK, NULL, 0);
    store->next_key = store->kept_key;
    store->sums = store->kept_sums;
    memcpy(store->counted, store->kept_counted, sizeof(store->counted));
    store_tally_drop(store);
    store_bills_drop(store);
    store_owed_drop(store);
    end_turn(store);
}

static void write_counters(struct store *store)
{
    if (store->next_key != store->kept_key)
        STORE_WRITE_SEALED(store, SEALED_COUNTER, STORE_TEXT("next_key"), SQL_COUNTER_WRITE,
                           STORE_TEXT("next_key"), STORE_NUMBER(store->next_key));
    for (enum store_counter i = 0; i < STORE_COUNTERS; i++) {
        if (store->counted[i] != store->kept_counted[i])
            STORE_WRITE_SEALED(store, SEALED_COUNTER, STORE_TEXT(counter_word(i)),
                               SQL_COUNTER_WRITE, STORE_TEXT(counter_word(i)),
                               STORE_NUMBER(store->counted[i]));
    }
    store_write_seals(store);
}

/* A failure on the way is reported, and everything is undone. */
static int give_up(struct store *store, struct error *reterr)
{
    const int error = error_set(reterr, store->failure, "%s", store->failure_text.text);

    store_rollback(store);
    return error;
}

int store_commit_begin(struct store *store, struct error *reterr)
{
    assert(store->begun);
    write_counters(store);
    if (store->failure == 0 && !store->open) {
        keep(store);
        end_turn(store);
        return 0;
    }

    sqlite3_stmt *commit = store->failure == 0 ? store_prepare(store, SQL_COMMIT, NULL, 0) : NULL;

    if (commit == NULL) {
        store_note_failure(store);
        return give_up(store, reterr);
    }
    store->commit = commit;
    return 1;
}

void store_commit_run(struct store *store)
{
    store->commit_result = sqlite3_step(store->commit);
}

int store_commit_end(struct store *store, struct error *reterr)
{
    sqlite3_stmt *commit = store->commit;

    assert(commit != NULL);
    store->commit = NULL;
    if (store->commit_result != SQLITE_DONE)
        store_note_failure(store);
    sqlite3_reset(commit);
    if (store->failure != 0)
        return give_up(store, reterr);
    keep(store);
    end_turn(store);
    return 0;
}

int store_commit(struct store *store, struct error *reterr)
{
    const int rc = store_commit_begin(store, reterr);

    if (rc <= 0)
        return rc;
    store_commit_run(store);
    return store_commit_end(store, reterr);
}

/* Keys and counters. -------------------------------------------------------------------------- */

uint64_t store_next_key(const struct store *store)
{
    return store->next_key;
}

void store_note_key(struct store *store, uint64_t next)
{
    assert(store->begun);
    if (next <= store->next_key)
        return;
    store->next_key = next;
    store->dirty = true;
}

void store_count(struct store *store, enum store_counter counter, uint64_t more)
{
    assert(store->begun);
    if (more == 0)
        return;
    store->counted[counter] += more;
    store->dirty = true;
}

uint64_t store_counted(const struct store *store, enum store_counter counter)
{
    return store->counted[counter];
}

/* Marks. -------------------------------------------------------------------------------------- */

static const char *mark_word(enum store_mark mark)
{
    static const char *const word[STORE_MARKS] = {
        [MARK_DRAINING] = "draining", [MARK_CLUSTER] = "cluster", [MARK_CLOUD] = "cloud",
        [MARK_REGION] = "region",     [MARK_ACCOUNT] = "account", [MARK_PREFIX] = "prefix",
        [MARK_BRAKE] = "brake",       [MARK_ALIVE] = "alive",     [MARK_CAPS] = "caps",
    };

    return word[mark];
}

void store_mark(struct store *store, enum store_mark mark, const char *value)
{
    STORE_WRITE(store, SQL_MARK_WRITE, STORE_TEXT(mark_word(mark)), STORE_TEXT(value));
}

void store_marked(struct store *store, enum store_mark mark, char *ret, size_t size)
{
    struct store_question ask = STORE_ASK(store, SQL_MARK_READ, STORE_TEXT(mark_word(mark)));

    (void)snprintf(ret, size, "%s", store_row(&ask) ? store_text(&ask, 0) : "");
    (void)store_asked(&ask, NULL);
}
