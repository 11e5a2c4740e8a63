/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.h - a store in a folder of its own, for tests.
 */
#ifndef STINT_STORE_STORE_FILE_H
#define STINT_STORE_STORE_FILE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/test/check.h"
#include "store/store.h"

struct store_file {
    char folder[64];
    char path[128];
    struct store *store;
};

static inline void store_file_open(struct store_file *file)
{
    struct error error = { "" };

    if (store_open(file->path, &file->store, &error) < 0)
        fail_msg("%s", error.text);
}

static inline void store_file_make(struct store_file *file)
{
    snprintf(file->folder, sizeof(file->folder), "/tmp/stint-test-XXXXXX");
    assert_non_null(mkdtemp(file->folder));
    snprintf(file->path, sizeof(file->path), "%s/stint.db", file->folder);
    store_file_open(file);
}

/* Close and open again, as after a crash: what was not committed is not there. */
static inline void store_file_again(struct store_file *file)
{
    store_close(file->store);
    store_file_open(file);
}

static inline void store_file_commit(const struct store_file *file)
{
    struct error error = { "" };

    if (store_commit(file->store, &error) < 0)
        fail_msg("%s", error.text);
}

static inline void store_file_remove(struct store_file *file)
{
    store_close(file->store);

    DIR *folder = opendir(file->folder);

    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    assert_int_equal(rmdir(file->folder), 0);
}

#endif
