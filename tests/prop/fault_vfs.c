/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_vfs.h"

#include <assert.h>
#include <sqlite3.h>

struct fault_file {
    sqlite3_file base;
    uint64_t real[]; /* SQLite aligns to eight */
};

static sqlite3_vfs vfs;
static sqlite3_vfs *below;
static uint64_t writes_left = UINT64_MAX;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)((struct fault_file *)(void *)file)->real;
}

static int on_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int on_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), to, size, at);
}

static int on_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
    if (writes_left == 0)
        return SQLITE_FULL;
    if (writes_left != UINT64_MAX)
        writes_left--;
    return real_of(file)->pMethods->xWrite(real_of(file), from, size, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), ret);
}

static int on_lock(sqlite3_file *file, int kind)
{
    return real_of(file)->pMethods->xLock(real_of(file), kind);
}

static int on_unlock(sqlite3_file *file, int kind)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), kind);
}

static int on_check_lock(sqlite3_file *file, int *ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int on_control(sqlite3_file *file, int what, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int on_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int on_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int on_shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **ret)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extends, ret);
}

static int on_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void on_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int on_shm_unmap(sqlite3_file *file, int removes)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), removes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_check_lock,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_traits,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *ret)
{
    const int rc = below->xOpen(below, name, real_of(file), flags, ret);

    (void)self;
    file->pMethods = real_of(file)->pMethods != NULL ? &methods : NULL;
    return rc;
}

void fault_vfs_install(void)
{
    int rc;

    if (below != NULL)
        return;
    below = sqlite3_vfs_find(NULL);
    assert(below != NULL);
    vfs = *below;
    vfs.zName = "stint-fault";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct fault_file) + below->szOsFile;
    vfs.xOpen = on_open;
    rc = sqlite3_vfs_register(&vfs, 1);
    assert(rc == SQLITE_OK);
    (void)rc;
}

void fault_vfs_fill(uint64_t writes)
{
    writes_left = writes;
}
