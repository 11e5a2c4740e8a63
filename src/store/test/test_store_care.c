/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_care.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "store/test/store_file.h"

/* Books that span many pages. */
static void fill(struct store *store, int count, msec_t at)
{
    char label[32];

    for (int i = 1; i <= count; i++) {
        const uint64_t id = (uint64_t)i;

        (void)snprintf(label, sizeof(label), "%d_%d", i / 10, i % 10);
        store_instance(store, &(struct store_instance){ .id = id,
                                                        .name = label,
                                                        .offer = "c7i.large in a, spot",
                                                        .type = "c7i.large",
                                                        .market = "spot",
                                                        .per_hour = 89000,
                                                        .asked_at = at });
        if (i % 3 != 0)
            store_bill(store, id,
                       &(struct ledger_bill){ .from = at,
                                              .to = at + 3600000,
                                              .sums = { .boot = 10, .idle = 20, .work = i } });
        else
            store_account_set(
                store, &(struct store_account){
                           .instance = id, .from = at, .until = at + 10, .sums = { .boot = i } });
        store_due(store, &(struct store_due){ .task = id,
                                              .label = label,
                                              .name = "train",
                                              .user = "ada",
                                              .type = "c7i.large",
                                              .cost = i,
                                              .alone_cost = (money_t)2 * i,
                                              .ended_at = at + 100 });
        store_owed_set(store, &(struct store_due){
                                  .task = id + 100000, .label = label, .user = "bob", .cost = i });
    }
}

static void fill_and_close(struct store_file *file, int count)
{
    store_file_make(file);
    store_begin(file->store);
    fill(file->store, count, 1000000);
    store_note_key(file->store, (uint64_t)count + 1);
    store_file_commit(file);
    store_close(file->store);
    file->store = NULL;
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void check_refused(const struct store_file *file, const char *word)
{
    struct store_report report;
    struct store *store = NULL;
    struct error error = { "" };

    assert_int_equal(store_check(file->path, &report, &error), -EBADMSG);
    if (strstr(error.text, word) == NULL)
        fail_msg("'%s' is not in '%s'", word, error.text);
    assert_int_equal(store_open(file->path, &store, &error), -EBADMSG);
    assert_null(store);
    assert_non_null(strstr(error.text, "damaged"));
    assert_non_null(strstr(error.text, "stint state restore"));
}

TEST(what_was_written_by_any_statement_is_under_the_seal)
{
    struct store_file file;
    struct store_report report;

    fill_and_close(&file, 30);
    store_file_open(&file);
    store_begin(file.store);
    fill(file.store, 30, 2000000); /* again: bills replaced, dues added to */
    store_instance_end(file.store, 3, 5);
    store_owed_remove(file.store, 100001);
    store_owed_remove(file.store, 77);
    store_count(file.store, COUNT_LAUNCHES, 4);
    store_file_commit(&file);
    store_begin(file.store);
    fill(file.store, 5, 3000000);
    store_rollback(file.store);
    store_file_again(&file);

    assert_int_equal(store_check(file.path, &report, NULL), 0);
    assert_true(report.is_sealed);
    assert_string_equal(report.tables[0].name, "bill");
    assert_int_equal(report.tables[0].rows, 20);
    assert_string_equal(report.tables[2].name, "due");
    assert_int_equal(report.tables[2].money, 2 * 30 * 31 / 2);
    assert_int_equal(report.tables[3].rows, 29);
    store_file_remove(&file);
}

TEST(a_changed_number_in_any_table_of_the_books_is_found)
{
    static const struct {
        const char *change;
        const char *table;
    } cases[] = {
        { "UPDATE bill SET work=work*15 WHERE instance=7", "'bill'" },
        { "UPDATE bill SET work=work+1,idle=idle-1 WHERE instance=7", "'bill'" },
        { "UPDATE due SET user='eve' WHERE task=9", "'due'" },
        { "UPDATE due SET cost=cost-1 WHERE task=1; UPDATE due SET cost=cost+1 WHERE task=2",
          "'due'" },
        { "DELETE FROM owed WHERE task=100004", "'owed'" },
        { "UPDATE account SET rest=1 WHERE instance=6", "'account'" },
        { "UPDATE instance SET ended_at=NULL WHERE id=4", "'instance'" },
        { "UPDATE counter SET value=1 WHERE name='next_key'", "'counter'" },
        { "DELETE FROM seal WHERE name='due'", "lost its checksum" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_file file;

        fill_and_close(&file, 30);
        sql(file.path, cases[i].change);
        check_refused(&file, cases[i].table);
        store_file_remove(&file);
    }
}

static void write_at(const char *path, off_t at, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
    close(fd);
}

/* Whichever page it is: either the damage is found, or the page was not in use. */
TEST(a_zeroed_page_is_never_taken_for_the_truth)
{
    static const char zeros[4096];
    struct store_file file;
    struct store_report report;
    struct stat size;
    char good[160];
    int found = 0;

    fill_and_close(&file, 2000);
    (void)snprintf(good, sizeof(good), "%s/good", file.folder);
    assert_int_equal(store_backup(file.path, good, NULL), 0);
    assert_int_equal(stat(good, &size), 0);

    const int pages = (int)(size.st_size / 4096);

    assert_true(pages > 100);
    for (int page = 0; page < pages; page += 7) {
        (void)unlink(file.path);
        assert_int_equal(store_backup(good, file.path, NULL), 0);
        write_at(file.path, (off_t)page * 4096, zeros, sizeof(zeros));
        found += store_check(file.path, &report, NULL) < 0;
    }
    assert_int_equal(found, (pages + 6) / 7);
    store_file_remove(&file);
}

TEST(a_flipped_bit_in_a_row_is_found)
{
    static const char needle[] = "train";
    struct store_file file;
    char *text;
    FILE *in;
    size_t size;
    size_t at = 0;

    fill_and_close(&file, 300);
    in = fopen(file.path, "rb");
    assert_non_null(in);
    text = malloc(1 << 20);
    assert_non_null(text);
    size = fread(text, 1, 1 << 20, in);
    fclose(in);
    while (at < size && memcmp(text + at, needle, sizeof(needle) - 1) != 0)
        at++;
    assert_true(at < size);
    text[at] ^= 1;
    write_at(file.path, (off_t)at, text + at, 1);
    free(text);

    check_refused(&file, "'due'");
    store_file_remove(&file);
}

TEST(a_file_that_was_cut_is_refused)
{
    struct store_file file;

    fill_and_close(&file, 300);
    assert_int_equal(truncate(file.path, 8192), 0);
    check_refused(&file, "");
    store_file_remove(&file);
}

TEST(a_file_that_was_emptied_is_not_a_new_one)
{
    struct store_file file;
    struct store *store = NULL;
    struct error error = { "" };

    fill_and_close(&file, 3);
    assert_int_equal(truncate(file.path, 0), 0);
    assert_int_equal(store_open(file.path, &store, &error), -EBADMSG);
    assert_non_null(strstr(error.text, "empty"));

    assert_int_equal(unlink(file.path), 0); /* that somebody did on purpose */
    store_file_open(&file);
    store_file_remove(&file);
}

TEST(books_without_seals_are_sealed_as_they_are)
{
    struct store_file file;
    struct store_report report;

    fill_and_close(&file, 30);
    sql(file.path, "DROP TABLE seal; PRAGMA user_version=1");
    assert_int_equal(store_check(file.path, &report, NULL), 0);
    assert_false(report.is_sealed);
    store_file_open(&file);
    store_close(file.store);
    assert_int_equal(store_check(file.path, &report, NULL), 0);
    assert_true(report.is_sealed);
    assert_int_equal(report.tables[0].rows, 20);
    sql(file.path, "UPDATE bill SET work=0 WHERE instance=1");
    check_refused(&file, "'bill'");
    file.store = NULL;
    store_file_remove(&file);
}

TEST(a_backup_of_a_store_in_use_is_what_was_committed)
{
    struct store_file file;
    struct store_report report;
    struct stat mode;
    struct error error = { "" };
    char to[160];

    store_file_make(&file);
    store_begin(file.store);
    fill(file.store, 30, 1000);
    store_file_commit(&file);
    store_begin(file.store);
    fill(file.store, 60, 1000); /* not yet */
    (void)snprintf(to, sizeof(to), "%s/backup", file.folder);

    assert_int_equal(store_backup(file.path, to, &error), 0);
    assert_int_equal(store_check(to, &report, NULL), 0);
    assert_int_equal(report.tables[2].rows, 30);
    assert_int_equal(report.living, 10);
    assert_int_equal(stat(to, &mode), 0);
    assert_int_equal(mode.st_mode & 0777, 0600);
    assert_int_equal(store_backup(file.path, to, &error), -EEXIST);
    store_file_commit(&file);
    store_file_remove(&file);
}

TEST(a_damaged_store_is_not_backed_up)
{
    struct store_file file;
    struct error error = { "" };
    char to[160];

    fill_and_close(&file, 30);
    sql(file.path, "UPDATE bill SET work=0 WHERE instance=1");
    (void)snprintf(to, sizeof(to), "%s/backup", file.folder);
    assert_int_equal(store_backup(file.path, to, &error), -EBADMSG);
    assert_int_equal(access(to, F_OK), -1);
    store_file_remove(&file);
}

TEST(a_restore_waits_for_nobody_and_uses_no_key_again)
{
    struct store_file file;
    struct store_restored restored;
    struct error error = { "" };
    char backup[160];

    store_file_make(&file);
    store_begin(file.store);
    fill(file.store, 30, 1000);
    store_note_key(file.store, 31);
    store_file_commit(&file);
    (void)snprintf(backup, sizeof(backup), "%s/backup", file.folder);
    assert_int_equal(store_backup(file.path, backup, NULL), 0);
    store_begin(file.store);
    store_note_key(file.store, 5000000); /* machines that came and went */
    store_file_commit(&file);
    assert_int_equal(store_restore(file.path, backup, 4000000, &restored, &error), -EBUSY);
    assert_non_null(strstr(error.text, "another process"));
    store_close(file.store);

    assert_int_equal(store_restore(file.path, backup, 4000000, &restored, &error), 0);
    assert_int_equal(restored.report.tables[2].rows, 30);
    assert_true(restored.first_key > 5000000);
    assert_int_equal(access(restored.replaced, F_OK), 0);
    store_file_open(&file);
    assert_int_equal(store_next_key(file.store), restored.first_key);
    store_file_remove(&file);
}

TEST(keys_are_skipped_by_the_age_of_the_backup_if_the_old_file_cannot_be_read)
{
    struct store_file file;
    struct store_restored restored;
    struct error error = { "" };
    char backup[160];
    const msec_t day = 24 * MSEC_PER_HOUR;

    fill_and_close(&file, 30);
    (void)snprintf(backup, sizeof(backup), "%s/backup", file.folder);
    assert_int_equal(store_backup(file.path, backup, NULL), 0);
    assert_int_equal(truncate(file.path, 100), 0);

    assert_int_equal(store_restore(file.path, backup, 4600000 + day, &restored, &error), 0);
    assert_int_equal(restored.first_key, 31 + STORE_KEYS_STEP + 86400 * STORE_KEYS_PER_SECOND);
    store_file_open(&file);
    store_file_remove(&file);
}

TEST(a_damaged_backup_is_not_restored)
{
    struct store_file file;
    struct store_restored restored;
    struct store_report report;
    struct error error = { "" };
    char backup[160];

    fill_and_close(&file, 30);
    (void)snprintf(backup, sizeof(backup), "%s/backup", file.folder);
    assert_int_equal(store_backup(file.path, backup, NULL), 0);
    sql(backup, "UPDATE due SET cost=0 WHERE task=1");

    assert_int_equal(store_restore(file.path, backup, 5000000, &restored, &error), -EBADMSG);
    assert_int_equal(store_check(file.path, &report, NULL), 0);
    assert_int_equal(report.tables[2].rows, 30);
    store_file_remove(&file);
}

CHECK_MAIN(RUN(what_was_written_by_any_statement_is_under_the_seal),
           RUN(a_changed_number_in_any_table_of_the_books_is_found),
           RUN(a_zeroed_page_is_never_taken_for_the_truth), RUN(a_flipped_bit_in_a_row_is_found),
           RUN(a_file_that_was_cut_is_refused), RUN(a_file_that_was_emptied_is_not_a_new_one),
           RUN(books_without_seals_are_sealed_as_they_are),
           RUN(a_backup_of_a_store_in_use_is_what_was_committed),
           RUN(a_damaged_store_is_not_backed_up),
           RUN(a_restore_waits_for_nobody_and_uses_no_key_again),
           RUN(keys_are_skipped_by_the_age_of_the_backup_if_the_old_file_cannot_be_read),
           RUN(a_damaged_backup_is_not_restored))
