/* SPDX-License-Identifier: Apache-2.0 */
#include "store/test/store_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sqlite3.h>

/* Texts of what a call back was told, to compare whole. */
struct log {
    char text[2048];
};

static void add(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct log *log, const char *format, ...)
{
    const size_t used = strlen(log->text);
    va_list list;

    va_start(list, format);
    vsnprintf(log->text + used, sizeof(log->text) - used, format, list);
    va_end(list);
}

static void log_intent(void *context, const struct store_intent *intent)
{
    add(context, "%s %u i%u t%u %s@%d;", store_intent_word(intent->kind), (unsigned)intent->key,
        (unsigned)intent->instance, (unsigned)intent->task,
        intent->offer != NULL ? intent->offer : "-", (int)intent->at);
}

static void log_instance(void *context, const struct store_instance *instance)
{
    add(context, "%u %s %s %s %s %s %d..%d;", (unsigned)instance->id, instance->name,
        instance->offer, instance->type, instance->zone != NULL ? instance->zone : "-",
        instance->market, (int)instance->asked_at, (int)instance->ended_at);
}

static void log_reason(void *context, const struct store_reason *reason)
{
    add(context, "%d: %s", (int)reason->at, reason->text);
    if (reason->why.passed_over != MONEY_UNKNOWN)
        add(context, " (%d, not %s for %d)", (int)reason->why.chosen, reason->passed_offer,
            (int)reason->why.passed_over);
    add(context, " -> %s;", reason->target != NULL ? reason->target : "-");
}

static void log_runtime(void *context, const struct store_runtime *runtime)
{
    add(context, "%s/%s/%s %u %u %u %d;", runtime->user, runtime->name, runtime->shape,
        runtime->tasks, runtime->hour, runtime->limit, (int)runtime->runtime_ms);
}

static void open_rent(struct store *store, uint64_t key)
{
    store_intent_open(store, &(struct store_intent){ .key = key,
                                                     .kind = STORE_RENT,
                                                     .instance = key,
                                                     .offer = "a.large",
                                                     .at = (msec_t)key * 10 });
}

static const char *open_intents(const struct store_file *file, struct log *log)
{
    log->text[0] = '\0';
    assert_int_equal(store_each_open_intent(file->store, log_intent, log, NULL), 0);
    return log->text;
}

TEST(what_was_not_committed_is_gone_after_a_crash)
{
    struct store_file file;
    struct log log;

    store_file_make(&file);
    store_begin(file.store);
    open_rent(file.store, 1);
    store_note_key(file.store, 2);
    store_file_commit(&file);
    store_begin(file.store);
    open_rent(file.store, 2);
    store_note_key(file.store, 3);
    store_file_again(&file);

    assert_string_equal(open_intents(&file, &log), "rent 1 i1 t0 a.large@10;");
    assert_int_equal(store_next_key(file.store), 2);
    store_file_remove(&file);
}

static void log_rent(void *context, const struct store_rent *rent)
{
    struct log *log = context;
    const size_t used = strlen(log->text);

    (void)snprintf(log->text + used, sizeof(log->text) - used, "%s %d-%d%s;", rent->offer,
                   (int)rent->at, (int)rent->closed_at, rent->was_refused ? " refused" : "");
}

TEST(what_became_of_rents_is_told_in_the_order_of_their_ends)
{
    struct store_file file;
    struct log log = { "" };

    store_file_make(&file);
    store_begin(file.store);
    for (uint64_t key = 1; key <= 5; key++)
        open_rent(file.store, key);
    store_intent_close(file.store, 1, 150, STORE_REFUSED);
    store_intent_close(file.store, 2, 400, STORE_REFUSED);
    store_intent_close(file.store, 3, 300, STORE_DONE);
    store_intent_close(file.store, 4, 350, STORE_LOST);
    store_file_commit(&file);

    assert_int_equal(store_each_rent(file.store, 200, log_rent, &log, NULL), 0);
    assert_string_equal(log.text, "a.large 30-300;a.large 20-400 refused;");
    store_file_remove(&file);
}

/* A child commits, begins another turn and is killed in it, as the kernel would. */
TEST(a_killed_process_leaves_its_commits_and_nothing_else)
{
    struct store_file file;
    struct log log;

    store_file_make(&file);
    store_close(file.store);

    const pid_t child = fork();

    if (child == 0) {
        store_file_open(&file);
        store_begin(file.store);
        open_rent(file.store, 7);
        store_note_key(file.store, 8);
        if (store_commit(file.store, NULL) < 0)
            _exit(1);
        store_begin(file.store);
        open_rent(file.store, 8);
        raise(SIGKILL);
    }
    assert_true(child > 0);
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    store_file_open(&file);
    assert_string_equal(open_intents(&file, &log), "rent 7 i7 t0 a.large@70;");
    assert_int_equal(store_next_key(file.store), 8);
    store_file_remove(&file);
}

TEST(the_next_key_is_above_every_intent_and_instance)
{
    struct store_file file;

    store_file_make(&file);
    assert_int_equal(store_next_key(file.store), 1);
    store_begin(file.store);
    open_rent(file.store, 41);
    store_file_commit(&file);
    store_file_again(&file);
    assert_int_equal(store_next_key(file.store), 42);
    store_begin(file.store);
    store_instance(file.store, &(struct store_instance){ .id = 99, .name = "st-99" });
    store_file_commit(&file);
    store_file_again(&file);
    assert_int_equal(store_next_key(file.store), 100);
    store_begin(file.store);
    store_note_key(file.store, 5);
    store_file_commit(&file);
    assert_int_equal(store_next_key(file.store), 100);
    store_file_remove(&file);
}

TEST(an_intent_is_open_until_it_is_closed_and_closes_once)
{
    struct store_file file;
    struct log log;

    store_file_make(&file);
    store_begin(file.store);
    open_rent(file.store, 1);
    open_rent(file.store, 1);
    store_intent_open(file.store,
                      &(struct store_intent){
                          .key = 2, .kind = STORE_PLACE, .instance = 1, .task = 77, .at = 20 });
    store_intent_open(file.store,
                      &(struct store_intent){ .key = 3, .kind = STORE_STOP, .task = 77, .at = 30 });
    store_file_commit(&file);
    assert_int_equal(store_open_intents(file.store), 3);

    store_begin(file.store);
    store_intent_close(file.store, 1, 40, STORE_DONE);
    store_intent_close(file.store, 1, 50, STORE_REFUSED);
    store_intent_close(file.store, 1000, 50, STORE_REFUSED);
    store_intent_close_of(file.store, STORE_PLACE, 0, 77, 60, STORE_OBSOLETE);
    store_file_commit(&file);

    assert_string_equal(open_intents(&file, &log), "stop 3 i0 t77 -@30;");
    store_begin(file.store);
    open_rent(file.store, 1);
    store_file_commit(&file);
    assert_int_equal(store_open_intents(file.store), 1);
    store_file_remove(&file);
}

TEST(a_rollback_takes_keys_and_counters_back)
{
    struct store_file file;

    store_file_make(&file);
    store_begin(file.store);
    store_note_key(file.store, 10);
    store_count(file.store, COUNT_LAUNCHES, 3);
    open_rent(file.store, 4);
    assert_true(store_is_dirty(file.store));
    store_rollback(file.store);

    assert_int_equal(store_next_key(file.store), 1);
    assert_int_equal(store_counted(file.store, COUNT_LAUNCHES), 0);
    assert_int_equal(store_open_intents(file.store), 0);
    store_begin(file.store);
    assert_false(store_is_dirty(file.store));
    store_file_commit(&file);
    store_file_remove(&file);
}

TEST(counters_outlive_the_process)
{
    struct store_file file;

    store_file_make(&file);
    store_begin(file.store);
    store_count(file.store, COUNT_REFUSED, 3);
    store_file_commit(&file);
    store_file_again(&file);
    store_begin(file.store);
    store_count(file.store, COUNT_REFUSED, 2);
    store_file_commit(&file);
    store_file_again(&file);
    assert_int_equal(store_counted(file.store, COUNT_REFUSED), 5);
    store_file_remove(&file);
}

TEST(an_instance_lives_until_its_bill_or_its_end)
{
    struct store_file file;
    struct log log = { "" };
    struct ledger_bill bill = { .from = 100, .to = 300 };

    store_file_make(&file);
    store_begin(file.store);
    for (uint64_t id = 1; id <= 3; id++)
        store_instance(file.store, &(struct store_instance){ .id = id,
                                                             .name = "st",
                                                             .offer = "a.large in z",
                                                             .type = "a.large",
                                                             .zone = id == 2 ? "z" : NULL,
                                                             .market = "spot",
                                                             .asked_at = 50 });
    store_bill(file.store, 1, &bill);
    store_instance_end(file.store, 3, 70);
    store_file_commit(&file);
    store_file_again(&file);

    assert_int_equal(store_each_instance(file.store, log_instance, &log, NULL), 0);
    assert_string_equal(log.text, "2 st a.large in z a.large z spot 50..-1;");
    assert_true(store_is_settled(file.store, 1));
    assert_false(store_is_settled(file.store, 2));
    assert_false(store_is_settled(file.store, 3));
    log.text[0] = '\0';
    assert_true(store_find_instance(file.store, 3, log_instance, &log));
    assert_false(store_find_instance(file.store, 4, log_instance, &log));
    assert_string_equal(log.text, "3 st a.large in z a.large - spot 50..70;");
    store_file_remove(&file);
}

TEST(reasons_come_back_in_words_with_prices)
{
    struct store_file file;
    struct log log = { "" };

    store_file_make(&file);
    store_begin(file.store);
    store_reason(file.store, &(struct store_reason){
                                 .at = 5,
                                 .subject = STORE_TASK,
                                 .id = 7,
                                 .target = "st-1",
                                 .why = plan_because(REASON_FITS_KEPT, 0),
                             });
    store_reason(file.store, &(struct store_reason){
                                 .at = 6,
                                 .subject = STORE_TASK,
                                 .id = 7,
                                 .target = "st-2",
                                 .why = { .code = REASON_CHEAPEST_ALONE,
                                          .chosen = 40,
                                          .passed_over = 50,
                                          .saving = MONEY_UNKNOWN },
                                 .passed_offer = "b.large",
                             });
    store_reason(file.store, &(struct store_reason){
                                 .at = 6,
                                 .subject = STORE_RENTED,
                                 .id = 7,
                                 .why = plan_because(REASON_BEST_SCORE, 0),
                             });
    store_reason(file.store, &(struct store_reason){
                                 .at = 6,
                                 .subject = STORE_WAITED,
                                 .id = 7,
                                 .target = "st-3",
                                 .why = plan_because(REASON_FITS_KEPT, MONEY_UNKNOWN),
                                 .text = "up to 2 s for room on st-3",
                             });
    store_file_commit(&file);
    assert_int_equal(store_each_reason(file.store, STORE_WAITED, 7, 9, log_reason, &log, NULL), 0);
    assert_string_equal(log.text, "6: up to 2 s for room on st-3 -> st-3;");
    log.text[0] = '\0';

    assert_int_equal(store_each_reason(file.store, STORE_TASK, 7, 9, log_reason, &log, NULL), 0);
    assert_string_equal(log.text,
                        "6: the cheapest machine for this task alone (40, not b.large for 50)"
                        " -> st-2;5: fits on a machine that stays rented anyway -> st-1;");
    log.text[0] = '\0';
    store_begin(file.store);
    store_prune(file.store, 6);
    store_file_commit(&file);
    store_each_reason(file.store, STORE_TASK, 7, 9, log_reason, &log, NULL);
    assert_null(strstr(log.text, "5:"));
    assert_non_null(strstr(log.text, "6:"));
    store_file_remove(&file);
}

TEST(pruning_leaves_open_intents_and_books)
{
    struct store_file file;
    struct log log;
    struct ledger_bill bill = { .from = 1, .to = 2 };

    store_file_make(&file);
    store_begin(file.store);
    open_rent(file.store, 1);
    open_rent(file.store, 2);
    store_intent_close(file.store, 1, 20, STORE_DONE);
    store_bill(file.store, 1, &bill);
    store_prune(file.store, 1000000);
    store_file_commit(&file);
    assert_string_equal(open_intents(&file, &log), "rent 2 i2 t0 a.large@20;");
    assert_true(store_is_settled(file.store, 1));
    store_file_remove(&file);
}

static void log_boot(void *context, const struct store_boot *boot)
{
    add(context, "%s %d+%d;", boot->type, (int)boot->acquire_ms, (int)boot->setup_ms);
}

TEST(boots_are_those_of_machines_that_became_ready)
{
    static const char *const types[] = { "a.large", "a.large", "b.large", "b.large", NULL };
    struct store_file file;
    struct log log = { "" };

    store_file_make(&file);
    store_begin(file.store);
    for (uint32_t i = 1; i <= 5; i++)
        store_instance(file.store, &(struct store_instance){
                                       .id = i, .type = types[i - 1], .asked_at = 100 * i });
    store_bill(file.store, 1,
               &(struct ledger_bill){ .from = 120, .sums = { .boot_ms = 60, .work_ms = 5 } });
    store_bill(file.store, 2, &(struct ledger_bill){ .from = 230, .sums = { .boot_ms = 900 } });
    for (uint32_t i = 3; i <= 5; i++)
        store_account_set(file.store, &(struct store_account){ .instance = i,
                                                               .from = 299,
                                                               .sums = { .boot_ms = 70 + i },
                                                               .is_ready = i != 4 });
    store_file_commit(&file);
    assert_int_equal(store_each_boot(file.store, 10, log_boot, &log, NULL), 0);
    assert_string_equal(log.text, "a.large 20+60;b.large 0+73;");
    log.text[0] = '\0';
    assert_int_equal(store_each_boot(file.store, 1, log_boot, &log, NULL), 0);
    assert_string_equal(log.text, "b.large 0+73;");
    store_file_remove(&file);
}

TEST(history_comes_back_newest_but_in_order)
{
    struct store_file file;
    struct log log = { "" };

    store_file_make(&file);
    store_begin(file.store);
    for (uint32_t i = 1; i <= 4; i++)
        store_runtime(file.store, &(struct store_runtime){ .at = i,
                                                           .name = "fit",
                                                           .user = "ada",
                                                           .shape = "2 cpu",
                                                           .tasks = i,
                                                           .hour = 3,
                                                           .limit = 60,
                                                           .runtime_ms = 1000 });
    store_file_commit(&file);
    assert_int_equal(store_each_runtime(file.store, 2, log_runtime, &log, NULL), 0);
    assert_string_equal(log.text, "ada/fit/2 cpu 3 3 60 1000;ada/fit/2 cpu 4 3 60 1000;");
    store_file_remove(&file);
}

TEST(a_machine_that_turns_up_after_its_end_lives_unless_it_has_its_bill)
{
    struct store_file file;
    struct log log = { "" };
    const struct ledger_bill bill = { .from = 1, .to = 2 };
    struct store_instance machine = {
        .id = 1, .name = "st-1", .offer = "o", .type = "t", .market = "spot", .asked_at = 5
    };

    store_file_make(&file);
    store_begin(file.store);
    store_instance(file.store, &machine);
    store_instance_end(file.store, 1, 9);
    store_instance(file.store, &machine);
    machine.id = 2;
    store_instance(file.store, &machine);
    store_bill(file.store, 2, &bill);
    store_instance(file.store, &machine);
    store_file_commit(&file);
    assert_int_equal(store_each_instance(file.store, log_instance, &log, NULL), 0);
    assert_string_equal(log.text, "1 st-1 o t - spot 5..-1;");
    store_file_remove(&file);
}

TEST(marks_outlive_the_process)
{
    struct store_file file;
    char text[16];

    store_file_make(&file);
    store_marked(file.store, MARK_CLUSTER, text, sizeof(text));
    assert_string_equal(text, "");
    store_begin(file.store);
    store_mark(file.store, MARK_CLUSTER, "lab");
    store_mark(file.store, MARK_DRAINING, "yes");
    store_mark(file.store, MARK_DRAINING, "no");
    store_file_commit(&file);
    store_begin(file.store);
    store_mark(file.store, MARK_CLUSTER, "other");
    store_file_again(&file);

    store_marked(file.store, MARK_CLUSTER, text, sizeof(text));
    assert_string_equal(text, "lab");
    store_marked(file.store, MARK_DRAINING, text, sizeof(text));
    assert_string_equal(text, "no");
    store_file_remove(&file);
}

static void log_interruption(void *context, const struct store_interruption *interruption)
{
    struct log *log = context;
    const size_t used = strlen(log->text);

    (void)snprintf(log->text + used, sizeof(log->text) - used, "%s %d/%d@%d;", interruption->offer,
                   (int)interruption->losses_micro, (int)interruption->machine_ms,
                   (int)interruption->at);
}

static void keep_interruption(const struct store_file *file, const char *offer, int64_t losses)
{
    store_interruption_set(file->store,
                           &(struct store_interruption){
                               .offer = offer, .losses_micro = losses, .machine_ms = 9, .at = 3 });
}

TEST(interruptions_outlive_the_process_and_later_ones_take_the_place)
{
    struct store_file file;
    struct log log = { "" };

    store_file_make(&file);
    store_begin(file.store);
    keep_interruption(&file, "b, spot", 1);
    keep_interruption(&file, "a, spot", 2);
    keep_interruption(&file, "b, spot", 3);
    store_file_commit(&file);
    store_begin(file.store);
    keep_interruption(&file, "c, spot", 4);
    store_file_again(&file);
    assert_int_equal(store_each_interruption(file.store, log_interruption, &log, NULL), 0);
    assert_string_equal(log.text, "a, spot 2/9@3;b, spot 3/9@3;");
    store_file_remove(&file);
}

TEST(a_file_that_knows_no_interruptions_is_opened)
{
    struct store_file file;
    struct log log = { "" };
    sqlite3 *db = NULL;

    store_file_make(&file);
    store_close(file.store);
    assert_int_equal(sqlite3_open(file.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE interruption", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    store_file_open(&file);
    assert_int_equal(store_each_interruption(file.store, log_interruption, &log, NULL), 0);
    assert_string_equal(log.text, "");
    store_begin(file.store);
    keep_interruption(&file, "a, spot", 2);
    store_file_commit(&file);
    store_file_remove(&file);
}

static void count_runtime(void *context, const struct store_runtime *runtime)
{
    uint32_t *first_and_count = context;

    if (first_and_count[1]++ == 0)
        first_and_count[0] = runtime->tasks;
}

TEST(of_runtimes_the_newest_are_kept)
{
    struct store_file file;
    uint32_t first_and_count[2] = { 0, 0 };

    store_file_make(&file);
    store_begin(file.store);
    for (uint32_t i = 1; i <= STORE_RUNTIMES_MAX + 5; i++) {
        if (i == STORE_RUNTIMES_MAX + 1)
            store_prune(file.store, 0); /* nothing yet */
        store_runtime(file.store, &(struct store_runtime){ .at = 1, .tasks = i });
    }
    store_prune(file.store, 0);
    store_file_commit(&file);
    assert_int_equal(
        store_each_runtime(file.store, UINT32_MAX, count_runtime, first_and_count, NULL), 0);
    assert_int_equal(first_and_count[0], 6);
    assert_int_equal(first_and_count[1], STORE_RUNTIMES_MAX);
    store_file_remove(&file);
}

TEST(a_second_process_is_kept_out)
{
    struct store_file file;
    struct store *other = NULL;
    struct error error = { "" };

    store_file_make(&file);
    assert_int_equal(store_open(file.path, &other, &error), -EBUSY);
    assert_null(other);
    assert_non_null(strstr(error.text, "another process"));
    store_file_remove(&file);
}

TEST(a_newer_schema_is_refused)
{
    struct store_file file;
    struct store *store = NULL;
    struct error error = { "" };
    sqlite3 *db = NULL;

    store_file_make(&file);
    store_close(file.store);
    assert_int_equal(sqlite3_open(file.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version=99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(store_open(file.path, &store, &error), -EPROTO);
    assert_non_null(strstr(error.text, "newer version (schema 99"));
    file.store = NULL;
    store_file_remove(&file);
}

TEST(a_file_that_is_no_database_is_refused)
{
    struct store_file file;
    struct store *store = NULL;
    struct error error = { "" };

    store_file_make(&file);
    store_close(file.store);
    file.store = NULL;

    FILE *text = fopen(file.path, "w");

    assert_non_null(text);
    for (int i = 0; i < 200; i++)
        fputs("this is no database\n", text);
    fclose(text);
    assert_int_equal(store_open(file.path, &store, &error), -EBADMSG);
    assert_non_null(strstr(error.text, "stint.db"));
    store_file_remove(&file);
}

TEST(only_the_owner_may_read_the_file)
{
    struct store_file file;
    struct stat stat_now;
    char wal[160];

    store_file_make(&file);
    assert_int_equal(stat(file.path, &stat_now), 0);
    assert_int_equal(stat_now.st_mode & 0777, 0600);
    store_begin(file.store);
    open_rent(file.store, 1);
    store_file_commit(&file);
    snprintf(wal, sizeof(wal), "%s-wal", file.path);
    assert_int_equal(stat(wal, &stat_now), 0);
    assert_int_equal(stat_now.st_mode & 0777, 0600);
    assert_int_equal(chmod(file.path, 0644), 0);
    store_file_again(&file);
    assert_int_equal(stat(file.path, &stat_now), 0);
    assert_int_equal(stat_now.st_mode & 0777, 0600);
    store_file_remove(&file);
}

/* A table that is missing stands for a disk that is full. */
TEST(a_write_that_fails_undoes_the_whole_turn)
{
    struct store_file file;
    struct error error = { "" };
    sqlite3 *db = NULL;

    store_file_make(&file);
    assert_int_equal(sqlite3_open(file.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE reason", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    store_begin(file.store);
    store_note_key(file.store, 2);
    open_rent(file.store, 1);
    store_reason(file.store, &(struct store_reason){ .why = plan_because(REASON_EMPTY, 0) });
    open_rent(file.store, 2);

    assert_true(store_commit(file.store, &error) < 0);
    assert_non_null(strstr(error.text, "cannot be written"));
    assert_int_equal(store_open_intents(file.store), 0);
    assert_int_equal(store_next_key(file.store), 1);
    store_begin(file.store);
    open_rent(file.store, 1);
    store_file_commit(&file);
    assert_int_equal(store_open_intents(file.store), 1);
    store_file_remove(&file);
}

TEST(while_a_commit_is_under_way_the_last_one_can_be_asked)
{
    struct store_file file;
    struct store_totals totals;
    const struct ledger_bill bill = { .from = 1, .to = 2, .sums = { .boot = 5, .bill = 5 } };

    store_file_make(&file);
    store_begin(file.store);
    open_rent(file.store, 1);
    store_bill(file.store, 1, &bill);
    store_file_commit(&file);
    store_begin(file.store);
    open_rent(file.store, 2);
    store_bill(file.store, 2, &bill);

    assert_int_equal(store_commit_begin(file.store, NULL), 1);
    assert_int_equal(store_open_intents(file.store), 1);
    assert_true(store_is_settled(file.store, 1));
    assert_false(store_is_settled(file.store, 2));
    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    assert_int_equal(totals.bill, 5);
    store_commit_run(file.store);
    assert_int_equal(store_commit_end(file.store, NULL), 0);
    assert_int_equal(store_open_intents(file.store), 2);
    assert_true(store_is_settled(file.store, 2));
    assert_int_equal(store_totals(file.store, &totals, NULL), 0);
    assert_int_equal(totals.bill, 10);

    store_begin(file.store);
    assert_int_equal(store_commit_begin(file.store, NULL), 0); /* nothing to run */
    store_file_again(&file);
    assert_int_equal(store_open_intents(file.store), 2);
    store_file_remove(&file);
}

CHECK_MAIN(RUN(what_was_not_committed_is_gone_after_a_crash),
           RUN(what_became_of_rents_is_told_in_the_order_of_their_ends),
           RUN(a_killed_process_leaves_its_commits_and_nothing_else),
           RUN(the_next_key_is_above_every_intent_and_instance),
           RUN(an_intent_is_open_until_it_is_closed_and_closes_once),
           RUN(a_rollback_takes_keys_and_counters_back), RUN(counters_outlive_the_process),
           RUN(an_instance_lives_until_its_bill_or_its_end),
           RUN(reasons_come_back_in_words_with_prices), RUN(pruning_leaves_open_intents_and_books),
           RUN(boots_are_those_of_machines_that_became_ready),
           RUN(history_comes_back_newest_but_in_order),
           RUN(a_machine_that_turns_up_after_its_end_lives_unless_it_has_its_bill),
           RUN(marks_outlive_the_process),
           RUN(interruptions_outlive_the_process_and_later_ones_take_the_place),
           RUN(a_file_that_knows_no_interruptions_is_opened), RUN(of_runtimes_the_newest_are_kept),
           RUN(a_second_process_is_kept_out), RUN(a_newer_schema_is_refused),
           RUN(a_file_that_is_no_database_is_refused), RUN(only_the_owner_may_read_the_file),
           RUN(a_write_that_fails_undoes_the_whole_turn),
           RUN(while_a_commit_is_under_way_the_last_one_can_be_asked))
