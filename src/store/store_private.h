/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_private.h - shared by the parts of the store:
 *
 *   store.c          the file, transactions, keys, counters, marks, statements
 *   store_journal.c  intents, reasons, history
 *   store_books.c    instances, bills, accounts, dues
 *   store_ledger.c   what the books add up to
 *   store_history.c  what was rented and what ran in a time
 *   store_seal.c     checksums over the books, the check of the whole file
 *   store_care.c     check, backup, restore from outside
 */
#ifndef STINT_STORE_STORE_PRIVATE_H
#define STINT_STORE_STORE_PRIVATE_H

#include <sqlite3.h>

#include "store/store.h"

/* What is sealed of each row: every column, and last of all its money. */
#define STORE_SEALED_BILL                                                                         \
    "SELECT instance,billed_from,billed_to,boot,idle,work,boot_ms,idle_ms,work_ms,boot+idle+work" \
    " FROM bill"
#define STORE_SEALED_ACCOUNT                                                                  \
    "SELECT instance,billed_from,until,boot,idle,work,boot_ms,idle_ms,work_ms,rest,is_ready," \
    "boot+idle+work FROM account"
#define STORE_SEALED_DUE \
    "SELECT task,label,job,name,user,type,alone,occupied_ms,ended_at,cost FROM due"
#define STORE_SEALED_OWED "SELECT task,label,job,name,user,occupied_ms,cost FROM owed"
#define STORE_SEALED_INSTANCE \
    "SELECT id,name,offer,type,zone,market,per_hour,asked_at,ended_at,0 FROM instance"
#define STORE_SEALED_COUNTER "SELECT name,value,0 FROM counter"

/* A machine on the bill, and one that still is. */
#define STORE_MACHINES_BILLED                                                                     \
    "SELECT instance,name,type,zone,market,COALESCE(per_hour,0),billed_from,billed_to,boot,idle," \
    "work,boot_ms,idle_ms,work_ms,0 FROM bill LEFT JOIN instance ON id=instance"
#define STORE_MACHINES_OPEN                                                                        \
    "SELECT instance,name,type,zone,market,COALESCE(per_hour,0),billed_from,until,boot,idle,work," \
    "boot_ms,idle_ms,work_ms,1 FROM account LEFT JOIN instance ON id=instance"

/* Each statement: its name and its text. Prepared on first use, kept until the store is closed. */
/* clang-format off */
#define STORE_STATEMENTS(X) \
    X(SQL_BEGIN, "BEGIN IMMEDIATE") \
    X(SQL_COMMIT, "COMMIT") \
    X(SQL_ROLLBACK, "ROLLBACK") \
    X(SQL_KEY_READ, "SELECT MAX(" \
        "COALESCE((SELECT value FROM counter WHERE name='next_key'),1)," \
        "COALESCE((SELECT MAX(key) FROM intent),0)+1," \
        "COALESCE((SELECT MAX(id) FROM instance),0)+1)") \
    X(SQL_COUNTER_READ, "SELECT value FROM counter WHERE name=?1") \
    X(SQL_COUNTER_WRITE, "INSERT INTO counter(name,value) VALUES(?1,?2)" \
        " ON CONFLICT(name) DO UPDATE SET value=excluded.value") \
    X(SQL_MARK_READ, "SELECT value FROM mark WHERE name=?1") \
    X(SQL_MARK_WRITE, "INSERT OR REPLACE INTO mark(name,value) VALUES(?1,?2)") \
    X(SQL_INTENT_OPEN, "INSERT OR IGNORE INTO intent(key,kind,instance,task,offer,opened_at)" \
        " VALUES(?1,?2,?3,?4,?5,?6)") \
    X(SQL_INTENT_CLOSE, "UPDATE intent SET closed_at=?2,outcome=?3 WHERE key=?1 AND outcome='open'") \
    X(SQL_INTENT_CLOSE_INSTANCE, "UPDATE intent SET closed_at=?3,outcome=?4" \
        " WHERE instance=?2 AND kind=?1 AND outcome='open'") \
    X(SQL_INTENT_CLOSE_TASK, "UPDATE intent SET closed_at=?3,outcome=?4" \
        " WHERE task=?2 AND kind=?1 AND outcome='open'") \
    X(SQL_INTENT_EACH, "SELECT key,kind,instance,task,offer,opened_at FROM intent" \
        " WHERE outcome='open' ORDER BY key") \
    X(SQL_RENT_EACH, "SELECT offer,opened_at,closed_at,outcome='refused' FROM intent" \
        " WHERE outcome<>'open' AND closed_at>=?1 AND kind='rent'" \
        " AND outcome IN('done','refused') ORDER BY closed_at,key") \
    X(SQL_INTENT_COUNT, "SELECT COUNT(*) FROM intent WHERE outcome='open'") \
    X(SQL_INTENT_PRUNE, "DELETE FROM intent WHERE outcome<>'open' AND closed_at<?1") \
    X(SQL_INSTANCE_ADD, "INSERT INTO" \
        " instance(id,name,offer,type,zone,market,per_hour,asked_at)" \
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT(id) DO UPDATE SET ended_at=NULL" \
        " WHERE NOT EXISTS(SELECT 1 FROM bill WHERE instance=excluded.id)") \
    X(SQL_INSTANCE_END, "UPDATE instance SET ended_at=?2 WHERE id=?1 AND ended_at IS NULL") \
    X(SQL_INSTANCE_EACH, "SELECT id,name,offer,type,zone,market,per_hour,asked_at,ended_at" \
        " FROM instance WHERE ended_at IS NULL ORDER BY id") \
    X(SQL_INSTANCE_FIND, "SELECT id,name,offer,type,zone,market,per_hour,asked_at,ended_at" \
        " FROM instance WHERE id=?1") \
    X(SQL_BILL_SET, "INSERT OR REPLACE INTO bill(instance,billed_from,billed_to,boot,idle,work," \
        "boot_ms,idle_ms,work_ms) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)") \
    X(SQL_BILL_SINCE, "SELECT billed_from,billed_to,boot+idle+work FROM bill WHERE billed_to>?1") \
    X(SQL_BILL_FIND, "SELECT billed_from,billed_to,boot,idle,work,boot_ms,idle_ms,work_ms" \
        " FROM bill WHERE instance=?1") \
    X(SQL_ACCOUNT_SET, "INSERT OR REPLACE INTO account(instance,billed_from,until,boot,idle,work," \
        "boot_ms,idle_ms,work_ms,rest,is_ready) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)") \
    X(SQL_ACCOUNT_REMOVE, "DELETE FROM account WHERE instance=?1") \
    X(SQL_ACCOUNT_FIND, "SELECT instance,billed_from,until,boot,idle,work,boot_ms,idle_ms," \
        "work_ms,rest,is_ready FROM account WHERE instance=?1") \
    X(SQL_ACCOUNT_EACH, "SELECT instance,billed_from,until,boot,idle,work,boot_ms,idle_ms," \
        "work_ms,rest,is_ready FROM account ORDER BY instance") \
    X(SQL_BOOT_EACH, "SELECT type,acquire_ms,boot_ms FROM (SELECT id,type," \
        "MAX(billed_from-asked_at,0) AS acquire_ms,boot_ms FROM (SELECT * FROM (SELECT instance AS id," \
        "billed_from,boot_ms FROM bill WHERE idle_ms+work_ms>0 ORDER BY instance DESC LIMIT ?1)" \
        " UNION ALL SELECT instance,billed_from,boot_ms FROM account WHERE is_ready<>0)" \
        " JOIN instance USING(id) WHERE type IS NOT NULL ORDER BY id DESC LIMIT ?1) ORDER BY id") \
    X(SQL_DUE_ADD, "INSERT INTO due(task,label,job,name,user,type,cost,alone,occupied_ms,ended_at)" \
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10) ON CONFLICT(task) DO UPDATE SET" \
        " cost=cost+excluded.cost,alone=alone+excluded.alone," \
        "occupied_ms=occupied_ms+excluded.occupied_ms,ended_at=excluded.ended_at") \
    X(SQL_DUE_FIND, "SELECT MIN(task),?1,job,name,user,MAX(type),SUM(cost),SUM(alone)," \
        "SUM(occupied_ms),MAX(ended_at) FROM due WHERE label=?1 OR job=?1" \
        " GROUP BY job,user,name ORDER BY 10 DESC LIMIT 1") \
    X(SQL_DUE_KNOWN, "SELECT 1 FROM due WHERE task=?1") \
    X(SQL_OWED_SET, "INSERT OR REPLACE INTO owed(task,label,job,name,user,cost,occupied_ms)" \
        " VALUES(?1,?2,?3,?4,?5,?6,?7)") \
    X(SQL_OWED_REMOVE, "DELETE FROM owed WHERE task=?1") \
    X(SQL_OWED_FIND, "SELECT task,cost,occupied_ms FROM owed WHERE task=?1") \
    X(SQL_OWED_EACH, "SELECT task,cost,occupied_ms FROM owed ORDER BY task") \
    X(SQL_REASON_ADD, "INSERT INTO reason(at,decision,subject,id,target,text,chosen,passed_over," \
        "passed_offer) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)") \
    X(SQL_REASON_EACH, "SELECT at,decision,target,text,chosen,passed_over,passed_offer" \
        " FROM reason WHERE subject=?1 AND id=?2 ORDER BY rowid DESC LIMIT ?3") \
    X(SQL_REASON_PRUNE, "DELETE FROM reason WHERE at<?1") \
    X(SQL_RUNTIME_ADD, "INSERT INTO runtime(at,name,user,shape,tasks,hour,time_limit,runtime_ms)" \
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8)") \
    X(SQL_RUNTIME_PRUNE, "DELETE FROM runtime WHERE rowid<=" \
        "(SELECT rowid FROM runtime ORDER BY rowid DESC LIMIT 1 OFFSET ?1)") \
    X(SQL_RUNTIME_EACH, "SELECT at,name,user,shape,tasks,hour,time_limit,runtime_ms FROM" \
        " (SELECT rowid AS row,* FROM runtime ORDER BY rowid DESC LIMIT ?1) ORDER BY row") \
    X(SQL_INTERRUPTION_SET, "INSERT OR REPLACE INTO interruption(offer,losses_micro,machine_ms,at)" \
        " VALUES(?1,?2,?3,?4)") \
    X(SQL_INTERRUPTION_EACH, "SELECT offer,losses_micro,machine_ms,at FROM interruption" \
        " ORDER BY offer") \
    X(SQL_BOUND_ADD, "INSERT OR REPLACE INTO bound(at,cost,least) VALUES(?1,?2,?3)") \
    X(SQL_BOUND_EACH, "SELECT at,cost,least FROM bound WHERE at>=?1 ORDER BY at") \
    X(SQL_BOUND_PRUNE, "DELETE FROM bound WHERE at<?1") \
    X(SQL_TOTAL_BILLS, "SELECT COALESCE(SUM(boot),0),COALESCE(SUM(idle),0),COALESCE(SUM(work),0)," \
        "COALESCE(SUM(boot_ms),0),COALESCE(SUM(idle_ms),0),COALESCE(SUM(work_ms),0),COUNT(*)" \
        " FROM bill") \
    X(SQL_TOTAL_DUES, "SELECT COALESCE(SUM(cost),0),COALESCE(SUM(alone),0),COUNT(*) FROM due") \
    X(SQL_MACHINES, STORE_MACHINES_BILLED " UNION ALL " STORE_MACHINES_OPEN) \
    X(SQL_MACHINES_BILLED, STORE_MACHINES_BILLED) \
    X(SQL_MACHINE_BILLED, STORE_MACHINES_BILLED " WHERE instance=?1") \
    X(SQL_MACHINES_OPEN, STORE_MACHINES_OPEN) \
    X(SQL_PAYERS, "SELECT job,user,name,account,partition,qos,cost,alone,occupied_ms,ended_at,task" \
        " FROM due LEFT JOIN payer USING(task)" \
        " UNION ALL SELECT job,user,name,account,partition,qos,cost,0,occupied_ms,NULL,task" \
        " FROM owed LEFT JOIN payer USING(task)") \
    X(SQL_PAYERS_SINCE, "SELECT job,user,name,account,partition,qos,cost,alone,occupied_ms,ended_at,task" \
        " FROM due LEFT JOIN payer USING(task) WHERE ended_at>=?1" \
        " UNION ALL SELECT job,user,name,account,partition,qos,cost,0,occupied_ms,NULL,task" \
        " FROM owed LEFT JOIN payer USING(task)") \
    X(SQL_PAYERS_OPEN, "SELECT job,user,name,account,partition,qos,cost,0,occupied_ms,NULL,task" \
        " FROM owed LEFT JOIN payer USING(task)") \
    X(SQL_PAYER_OPEN, "SELECT job,user,name,account,partition,qos,cost,0,occupied_ms,NULL,task" \
        " FROM owed LEFT JOIN payer USING(task) WHERE task=?1") \
    X(SQL_PAYERS_ENDED, "SELECT job,user,name,account,partition,qos,cost,alone,occupied_ms,ended_at," \
        "task FROM due LEFT JOIN payer USING(task)") \
    X(SQL_PAYER_ENDED, "SELECT job,user,name,account,partition,qos,cost,alone,occupied_ms,ended_at," \
        "task FROM due LEFT JOIN payer USING(task) WHERE task=?1") \
    X(SQL_PAYER_SET, "INSERT INTO payer(task,account,partition,qos) VALUES(?1,?2,?3,?4)" \
        " ON CONFLICT(task) DO UPDATE SET account=excluded.account,partition=excluded.partition," \
        "qos=excluded.qos WHERE account IS NOT excluded.account" \
        " OR partition IS NOT excluded.partition OR qos IS NOT excluded.qos") \
    X(SQL_HOLD, "BEGIN") \
    X(SQL_STAY_EACH, "SELECT instance,name,type,zone,market,billed_from,billed_to,boot,idle,work," \
        "boot_ms,idle_ms,work_ms FROM bill LEFT JOIN instance ON id=instance" \
        " WHERE billed_to>?1 ORDER BY billed_to DESC,instance DESC LIMIT ?2") \
    X(SQL_RUN_EACH, "SELECT intent.task,intent.instance,closed_at,due.label,due.name,due.user," \
        "due.ended_at FROM intent LEFT JOIN due ON due.task=intent.task" \
        " WHERE outcome<>'open' AND closed_at>=?1 AND kind='place' AND outcome='done'" \
        " AND (?2=0 OR intent.instance=?2) ORDER BY closed_at DESC,key DESC LIMIT ?3") \
    X(SQL_USER_SINCE, "SELECT user,SUM(cost),SUM(alone),SUM(occupied_ms),COUNT(*) FROM due" \
        " WHERE ended_at>=?1 GROUP BY user ORDER BY 2 DESC,1 LIMIT ?2") \
    X(SQL_SEAL_READ, "SELECT rows,money,hash FROM seal WHERE name=?1") \
    X(SQL_SEAL_WRITE, "INSERT OR REPLACE INTO seal(name,rows,money,hash) VALUES(?1,?2,?3,?4)") \
    X(SQL_SEALED_BILLS, STORE_SEALED_BILL) \
    X(SQL_SEALED_BILL, STORE_SEALED_BILL " WHERE instance=?1") \
    X(SQL_SEALED_ACCOUNTS, STORE_SEALED_ACCOUNT) \
    X(SQL_SEALED_ACCOUNT, STORE_SEALED_ACCOUNT " WHERE instance=?1") \
    X(SQL_SEALED_DUES, STORE_SEALED_DUE) \
    X(SQL_SEALED_DUE, STORE_SEALED_DUE " WHERE task=?1") \
    X(SQL_SEALED_OWEDS, STORE_SEALED_OWED) \
    X(SQL_SEALED_OWED, STORE_SEALED_OWED " WHERE task=?1") \
    X(SQL_SEALED_INSTANCES, STORE_SEALED_INSTANCE) \
    X(SQL_SEALED_INSTANCE, STORE_SEALED_INSTANCE " WHERE id=?1") \
    X(SQL_SEALED_COUNTERS, STORE_SEALED_COUNTER) \
    X(SQL_SEALED_COUNTER, STORE_SEALED_COUNTER " WHERE name=?1")
/* clang-format on */

#define STORE_STATEMENT_NAME(name, text) name,

enum store_statement { STORE_STATEMENTS(STORE_STATEMENT_NAME) STORE_STATEMENT_COUNT };

/* The tables that are sealed; see store_seal.c. */
enum store_sealed {
    SEALED_BILL,
    SEALED_ACCOUNT,
    SEALED_DUE,
    SEALED_OWED,
    SEALED_INSTANCE,
    SEALED_COUNTER,
    STORE_SEALED_TABLES,
};

struct store_seal {
    uint64_t rows;
    uint64_t money; /* what the rows add up to; wraps */
    uint64_t hash;  /* the sum of the rows' hashes; wraps */
};

/* What bills and dues add up to, kept in memory: they only grow, and are asked for all the time. */
struct store_sums {
    struct ledger_sums bills;
    uint64_t bill_count;
    money_t dues;
    money_t alone;
    uint64_t due_count;
    struct store_seal seals[STORE_SEALED_TABLES];
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statement[STORE_STATEMENT_COUNT];
    char *path;
    sqlite3 *reader; /* what is asked while a commit is under way; NULL: not opened yet */
    sqlite3_stmt *reader_statement[STORE_STATEMENT_COUNT];
    sqlite3_stmt *commit; /* that is under way: 'db' belongs to whoever runs it; NULL: none is */
    int commit_result;    /* of SQLite */
    int lock;             /* descriptor of the file that keeps others out */
    bool was_used;        /* there was something in the file before */
    bool begun;
    bool open;   /* SQLite has a transaction */
    bool dirty;  /* something was written since store_begin */
    int failure; /* of the first write that failed since then; 0: none */
    struct error failure_text;
    uint64_t next_key, kept_key; /* kept: as of the last commit */
    uint64_t counted[STORE_COUNTERS], kept_counted[STORE_COUNTERS];
    struct store_sums sums, kept_sums;
    struct store_tally *tally[STORE_PAYER_BYS]; /* what ended tasks paid; NULL: unknown */
    bool is_too_long[STORE_PAYER_BYS];          /* to be kept */
    struct store_span *spans; /* of each task that the tallies have, if 'has_spans' */
    uint32_t span_count, span_room;
    bool has_spans;
    struct store_owed *owed;   /* the tasks that have not ended; NULL: unknown */
    struct store_bills *bills; /* the machines that are gone; NULL: unknown */
    uint64_t *ended;           /* tasks that the tallies do not have yet */
    uint32_t ended_count, ended_room;
};

/* A value for a statement: a whole number or a text (NULL: no value). */
struct store_value {
    bool is_text;
    int64_t number;
    const char *text;
};

#define STORE_NUMBER(value) ((struct store_value){ .number = (int64_t)(value) })
#define STORE_TEXT(value)   ((struct store_value){ .is_text = true, .text = (value) })

/* The statement with its values; NULL if it cannot be prepared. */
sqlite3_stmt *store_prepare(struct store *store, enum store_statement statement,
                            const struct store_value *values, int count);

/* Run a statement that answers nothing; 0 or what SQLite says. */
int store_run(struct store *store, enum store_statement statement, const struct store_value *values,
              int count);

/* What SQLite said last, as a negative errno. */
int store_sqlite_error(sqlite3 *db);

/* The first failure is kept for the commit. */
void store_note_failure(struct store *store);

/* Run a statement that changes something; its failure is kept for the commit. */
void store_write(struct store *store, enum store_statement statement,
                 const struct store_value *values, int count);

#define STORE_WRITE(store, statement, ...)                                 \
    store_write(                                                           \
        (store), (statement), (const struct store_value[]){ __VA_ARGS__ }, \
        (int)(sizeof((const struct store_value[]){ __VA_ARGS__ }) / sizeof(struct store_value)))

/*
 * Read: store_ask, then store_row until it says false, then store_asked, which must be called even
 * after a failure. While a question is open, the same one cannot be asked again.
 */
struct store_question {
    struct store *store;
    sqlite3_stmt *statement; /* NULL: it could not be prepared */
    sqlite3 *db;             /* of the statement; may be NULL then */
    int result;              /* of SQLite */
};

struct store_question store_ask(struct store *store, enum store_statement statement,
                                const struct store_value *values, int count);
bool store_row(struct store_question *question);
int store_asked(struct store_question *question, struct error *reterr);

#define STORE_ASK(store, statement, ...)                                   \
    store_ask(                                                             \
        (store), (statement), (const struct store_value[]){ __VA_ARGS__ }, \
        (int)(sizeof((const struct store_value[]){ __VA_ARGS__ }) / sizeof(struct store_value)))

/*
 * While a commit is under way the file may change between two questions: those between SQL_HOLD and SQL_COMMIT are of
 * one state of it. At other times nothing is to be done.
 */
int store_hold(struct store *store, enum store_statement statement, struct error *reterr);

/*
 * Run a statement that changes the one row of that key in a sealed table, and keep its seal right. The
 * key is of 'table', and need not be a value of the statement.
 */
void store_write_sealed(struct store *store, enum store_sealed table, struct store_value key,
                        enum store_statement statement, const struct store_value *values,
                        int count);

#define STORE_WRITE_SEALED(store, table, key, statement, ...)                              \
    store_write_sealed(                                                                    \
        (store), (table), (key), (statement), (const struct store_value[]){ __VA_ARGS__ }, \
        (int)(sizeof((const struct store_value[]){ __VA_ARGS__ }) / sizeof(struct store_value)))

/* Those that differ from 'kept' go into the file. */
void store_write_seals(struct store *store);

/* While a commit is under way: which of 'sums' and 'kept_sums' the file has, as it is held. */
int store_held_sums(struct store *store, const struct store_sums **ret, struct error *reterr);

/* Seal the tables as they are, within a turn. */
int store_make_seals(struct store *store, struct error *reterr);

/* The structure of the file and its seals; -EBADMSG: it is damaged. Fills the seals of the store. */
int store_verify(struct store *store, struct error *reterr);

int store_verify_structure(struct store *store, struct error *reterr);

/* The name of the table. */
const char *store_sealed_word(enum store_sealed table);

/* The file for reading only, past the lock: what a running daemon has committed. Not verified. */
int store_open_reader(const char *path, struct store **ret, struct error *reterr);

/* Run some SQL; a failure is reported in SQLite's words. */
int store_exec(struct store *store, const char *text, struct error *reterr);

/* '<path>.lock' is held, and says by whom. -EBUSY: by another process. */
int store_take_lock(const char *path, int *ret, struct error *reterr);

/* Add up bills and dues, as the store is opened. */
int store_read_sums(struct store *store, struct error *reterr);

int64_t store_number(const struct store_question *question, int column);

/* NULL if there is none; valid until the next row. */
const char *store_text(const struct store_question *question, int column);

#endif
