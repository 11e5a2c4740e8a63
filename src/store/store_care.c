/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy is made by SQLite's backup API in one step, from a snapshot: the daemon continues to write
 * meanwhile and loses nothing. It is written beside its place and renamed when it is whole, so that
 * there is never half a file under a name that is trusted.
 */
#include "store/store_care.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/store_private.h"

_Static_assert((int)STORE_REPORT_TABLES == (int)STORE_SEALED_TABLES,
               "each sealed table is reported");

/* One number, or 'otherwise'. */
static int64_t number_of(struct store *store, const char *text, int64_t otherwise)
{
    sqlite3_stmt *ask = NULL;
    int64_t number = otherwise;

    if (sqlite3_prepare_v2(store->db, text, -1, &ask, NULL) == SQLITE_OK &&
        sqlite3_step(ask) == SQLITE_ROW && sqlite3_column_type(ask, 0) == SQLITE_INTEGER)
        number = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return number;
}

static uint64_t next_key_of(struct store *store)
{
    struct store_question ask = store_ask(store, SQL_KEY_READ, NULL, 0);
    const uint64_t key = store_row(&ask) ? (uint64_t)store_number(&ask, 0) : 0;

    store_asked(&ask, NULL);
    return key;
}

static void fill_report(struct store *store, struct store_report *report)
{
    report->next_key = next_key_of(store);
    report->open_intents = store_open_intents(store);
    report->living =
        (uint64_t)number_of(store, "SELECT COUNT(*) FROM instance WHERE ended_at IS NULL", 0);
    report->newest_at = number_of(
        store,
        "SELECT MAX(at) FROM (SELECT MAX(opened_at) AS at FROM intent UNION ALL"
        " SELECT MAX(closed_at) FROM intent UNION ALL SELECT MAX(until) FROM account UNION ALL"
        " SELECT MAX(billed_to) FROM bill UNION ALL SELECT MAX(ended_at) FROM due UNION ALL"
        " SELECT MAX(at) FROM reason)",
        -1);
}

static int check_open(struct store *store, struct store_report *ret, struct error *reterr)
{
    struct store_report report = {
        .bytes = number_of(
            store, "SELECT page_count*page_size FROM pragma_page_count,pragma_page_size", 0),
        .version = number_of(store, "PRAGMA user_version", 0),
    };

    if (report.version > STORE_SCHEMA_VERSION)
        return error_set(reterr, -EPROTO,
                         "was written by a newer version (schema %" PRId64 ", known up to %d)",
                         report.version, STORE_SCHEMA_VERSION);

    const bool is_state =
        number_of(store, "SELECT COUNT(*) FROM sqlite_schema WHERE name='intent'", 0) == 1;

    report.is_sealed = report.version >= 2;

    const int rc =
        report.is_sealed ? store_verify(store, reterr) : store_verify_structure(store, reterr);

    if (rc < 0)
        return rc;
    if (!is_state)
        return error_set(reterr, -EBADMSG, "it has no journal: it is not a state file of stintd");
    for (enum store_sealed i = 0; i < STORE_SEALED_TABLES; i++) {
        report.tables[i].name = store_sealed_word(i);
        report.tables[i].rows = store->sums.seals[i].rows;
        report.tables[i].money = (money_t)store->sums.seals[i].money;
    }
    fill_report(store, &report);
    *ret = report;
    return 0;
}

/* All questions are answered from one snapshot, whatever the daemon writes meanwhile. */
static int check_snapshot(struct store *store, const char *path, struct store_report *ret,
                          struct error *reterr)
{
    int rc = store_exec(store, "BEGIN", reterr);

    if (rc == 0)
        rc = check_open(store, ret, reterr);
    (void)store_exec(store, "ROLLBACK", NULL);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

int store_check(const char *path, struct store_report *ret, struct error *reterr)
{
    struct store *store = NULL;
    int rc = store_open_reader(path, &store, reterr);

    if (rc < 0)
        return rc;
    rc = check_snapshot(store, path, ret, reterr);
    store_close(store);
    return rc;
}

/* Copies. ------------------------------------------------------------------------------------- */

/* An empty file of that name with rights for its owner only; it must not be there. */
static int make_empty(const char *path, struct error *reterr)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (file < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    close(file);
    return 0;
}

static int sync_path(const char *path, int flags, struct error *reterr)
{
    const int file = open(path, flags | O_CLOEXEC);
    const int rc = file < 0 || fsync(file) < 0 ? -errno : 0;

    if (file >= 0)
        close(file);
    return rc < 0 ? error_set(reterr, rc, "%s: %s", path, strerror(-rc)) : 0;
}

/* The folder of a file, so that a new name in it outlives a crash. */
static int sync_folder(const char *path, struct error *reterr)
{
    char folder[STORE_PATH_ROOM];

    (void)snprintf(folder, sizeof(folder), "%s", path);
    return sync_path(dirname(folder), O_RDONLY | O_DIRECTORY, reterr);
}

static int copy_pages(sqlite3 *from, const char *to, struct error *reterr)
{
    sqlite3 *db = NULL;
    int rc = 0;

    if (sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        rc =
            error_set(reterr, -EACCES, "%s: %s", to, db != NULL ? sqlite3_errmsg(db) : "no memory");
        sqlite3_close(db);
        return rc;
    }

    sqlite3_backup *backup = sqlite3_backup_init(db, "main", from, "main");

    if (backup != NULL) {
        (void)sqlite3_backup_step(backup, -1);
        (void)sqlite3_backup_finish(backup);
    }
    if (sqlite3_errcode(db) != SQLITE_OK)
        rc = error_set(reterr, -EIO, "%s: cannot be written: %s", to, sqlite3_errmsg(db));
    /* One file: no log beside it. */
    else if (sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK)
        rc = error_set(reterr, -EIO, "%s: %s", to, sqlite3_errmsg(db));
    sqlite3_close(db);
    return rc;
}

/* A checked copy of 'path' under the name 'to', which is new. */
static int copy(const char *path, const char *to, struct store_report *ret, struct error *reterr)
{
    struct store *store = NULL;
    int rc = store_open_reader(path, &store, reterr);

    if (rc == 0)
        rc = make_empty(to, reterr);
    if (rc < 0) {
        store_close(store);
        return rc;
    }
    rc = copy_pages(store->db, to, reterr);
    store_close(store);
    if (rc == 0)
        rc = store_check(to, ret, reterr);
    if (rc == 0)
        rc = sync_path(to, O_RDONLY, reterr);
    if (rc < 0)
        (void)unlink(to);
    return rc;
}

/* "<path><more>" in 'ret'. */
static int name_beside(const char *path, const char *more, char ret[STORE_PATH_ROOM],
                       struct error *reterr)
{
    const int length = snprintf(ret, STORE_PATH_ROOM, "%s%s", path, more);

    if (length < 0 || length >= STORE_PATH_ROOM)
        return error_set(reterr, -ENAMETOOLONG, "%s: the path is too long", path);
    return 0;
}

int store_backup(const char *path, const char *to, struct error *reterr)
{
    struct store_report report;
    char part[STORE_PATH_ROOM];
    int rc = name_beside(to, ".part", part, reterr);

    if (rc < 0)
        return rc;
    if (access(to, F_OK) == 0)
        return error_set(reterr, -EEXIST, "%s: is there already; a backup gets a name of its own",
                         to);
    (void)unlink(part); /* of a backup that was killed */
    rc = copy(path, part, &report, reterr);
    if (rc < 0)
        return rc;
    if (link(part, to) < 0) { /* unlike rename, it replaces nothing */
        rc = error_set(reterr, -errno, "%s: %s", to, strerror(errno));
        (void)unlink(part);
        return rc;
    }
    (void)unlink(part);
    return sync_folder(to, reterr);
}

/* Restoring. ---------------------------------------------------------------------------------- */

/* The first key that cannot have been used since the backup. */
static uint64_t first_free_key(const char *path, const struct store_report *backup, msec_t now)
{
    const msec_t age =
        backup->newest_at >= 0 && now > backup->newest_at ? now - backup->newest_at : 0;
    uint64_t key =
        backup->next_key + STORE_KEYS_STEP + (uint64_t)(age / MSEC_PER_SEC) * STORE_KEYS_PER_SECOND;
    struct store *store = NULL;

    if (store_open_reader(path, &store, NULL) == 0) {
        const uint64_t known = next_key_of(store); /* 0: it cannot be read */

        if (known + STORE_KEYS_STEP > key)
            key = known + STORE_KEYS_STEP;
        store_close(store);
    }
    return key;
}

/* Open the copy as the daemon will, and leave the keys out. Leaves one file. */
static int skip_keys(const char *path, uint64_t key, struct error *reterr)
{
    struct store *store = NULL;
    int rc = store_open(path, &store, reterr);
    char lock[STORE_PATH_ROOM];

    if (rc < 0)
        return rc;
    store_begin(store);
    store_note_key(store, key);
    rc = store_commit(store, reterr);
    store_close(store); /* the last connection: its log goes into the file */
    if (rc == 0 && name_beside(path, ".lock", lock, reterr) == 0)
        (void)unlink(lock);
    return rc;
}

/* The file, its log and the index of that, if they are there. */
static int move_aside(const char *path, const char *aside, struct error *reterr)
{
    static const char *const parts[] = { "", "-wal", "-shm" };
    char from[STORE_PATH_ROOM];
    char to[STORE_PATH_ROOM];
    int rc = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == 0; i++) {
        rc = name_beside(path, parts[i], from, reterr);
        if (rc == 0)
            rc = name_beside(aside, parts[i], to, reterr);
        if (rc == 0 && rename(from, to) < 0 && errno != ENOENT)
            rc = error_set(reterr, -errno, "%s: %s", from, strerror(errno));
    }
    return rc;
}

/* "<path>.replaced-20261115T191043Z", with a number if that is taken. */
static int name_aside(const char *path, msec_t now, char ret[STORE_PATH_ROOM], struct error *reterr)
{
    const time_t seconds = (time_t)(now / MSEC_PER_SEC);
    struct tm parts = { 0 };
    char time_text[32] = "";
    char more[64];
    int rc = 0;

    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(time_text, sizeof(time_text), "%Y%m%dT%H%M%SZ", &parts);
    for (int i = 0; i < 100 && rc == 0; i++) {
        (void)snprintf(more, sizeof(more), i > 0 ? ".replaced-%s.%d" : ".replaced-%s", time_text,
                       i);
        rc = name_beside(path, more, ret, reterr);
        if (rc == 0 && access(ret, F_OK) < 0)
            return 0;
    }
    return rc < 0 ? rc : error_set(reterr, -EEXIST, "%s: is there already", ret);
}

static int put_in_place(const char *path, const char *part, msec_t now, struct store_restored *ret,
                        struct error *reterr)
{
    int rc = 0;

    if (access(path, F_OK) == 0) {
        rc = name_aside(path, now, ret->replaced, reterr);
        if (rc == 0)
            rc = move_aside(path, ret->replaced, reterr);
    }
    if (rc == 0 && rename(part, path) < 0)
        rc = error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    return rc == 0 ? sync_folder(path, reterr) : rc;
}

/* Whoever owns the old file owns the new one: the daemon may not be the one who restores. */
static void keep_owner(const char *path, const char *part)
{
    struct stat old;

    if (stat(path, &old) == 0 && geteuid() == 0)
        (void)!chown(part, old.st_uid, old.st_gid);
}

static int restore_locked(const char *path, const char *from, msec_t now,
                          struct store_restored *ret, struct error *reterr)
{
    char part[STORE_PATH_ROOM];
    int rc = name_beside(path, ".part", part, reterr);

    if (rc < 0)
        return rc;
    (void)unlink(part);
    rc = copy(from, part, &ret->report, reterr);
    if (rc < 0)
        return rc;
    ret->first_key = first_free_key(path, &ret->report, now);
    rc = skip_keys(part, ret->first_key, reterr);
    if (rc == 0)
        keep_owner(path, part);
    if (rc == 0)
        rc = put_in_place(path, part, now, ret, reterr);
    if (rc < 0)
        (void)unlink(part);
    return rc;
}

int store_restore(const char *path, const char *from, msec_t now, struct store_restored *ret,
                  struct error *reterr)
{
    struct store_restored restored = { .replaced = "" };
    int lock = -1;
    int rc = store_take_lock(path, &lock, reterr);

    if (rc < 0)
        return rc;
    rc = restore_locked(path, from, now, &restored, reterr);
    close(lock);
    if (rc == 0)
        *ret = restored;
    return rc;
}
