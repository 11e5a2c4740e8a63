/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_vfs.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/mem.h"

struct fault_file {
    sqlite3_file base;
    uint64_t real[]; /* SQLite aligns to eight */
};

static sqlite3_vfs vfs;
static sqlite3_vfs *below;
static uint64_t writes_left = UINT64_MAX;

/* What a write or a truncation replaced that is not on the disk yet. */
struct undo {
    sqlite3_file *file; /* the real one */
    sqlite3_int64 at;
    sqlite3_int64 size_before; /* of the file */
    unsigned char *old;
    int size;
};

static struct undo *undos; /* in the order of the writes */
static uint32_t undo_count;
static uint32_t undos_room;
static bool is_off; /* the power */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)((struct fault_file *)(void *)file)->real;
}

/* All of the file so far is on the disk, or the file is of no interest any more. */
static void forget(const sqlite3_file *file)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < undo_count; i++) {
        if (undos[i].file == file)
            mem_free(undos[i].old);
        else
            undos[kept++] = undos[i];
    }
    undo_count = kept;
}

static void remember(sqlite3_file *file, sqlite3_int64 at, int size)
{
    struct undo undo = { .file = file, .at = at, .size = size };

    (void)file->pMethods->xFileSize(file, &undo.size_before);
    undo.old = mem_alloc((size_t)size + 1, 1);
    (void)file->pMethods->xRead(file, undo.old, size,
                                at); /* what lies behind the end reads as zeros */
    MEM_ROOM(undos, undos_room, undo_count + 1);
    undos[undo_count++] = undo;
}

static void take_back(const struct undo *undo)
{
    if (undo->size > 0)
        (void)undo->file->pMethods->xWrite(undo->file, undo->old, undo->size, undo->at);
    (void)undo->file->pMethods->xTruncate(undo->file, undo->size_before);
    mem_free(undo->old);
}

void fault_vfs_cut(uint32_t percent)
{
    const uint32_t kept = (uint32_t)((uint64_t)undo_count * percent / 100);

    while (undo_count > kept)
        take_back(&undos[--undo_count]);
    while (undo_count > 0)
        mem_free(undos[--undo_count].old);
    mem_free(undos);
    undos = NULL;
    undos_room = 0;
    is_off = true;
}

void fault_vfs_restore(void)
{
    is_off = false;
}

static int on_close(sqlite3_file *file)
{
    forget(real_of(file));
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int on_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), to, size, at);
}

static int on_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
    if (is_off)
        return SQLITE_IOERR_WRITE;
    if (writes_left == 0)
        return SQLITE_FULL;
    remember(real_of(file), at, size);
    if (writes_left != UINT64_MAX)
        writes_left--;
    return real_of(file)->pMethods->xWrite(real_of(file), from, size, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    sqlite3_int64 before = 0;

    if (is_off)
        return SQLITE_IOERR_TRUNCATE;
    (void)real_of(file)->pMethods->xFileSize(real_of(file), &before);
    if (before > size)
        remember(real_of(file), size, (int)(before - size));
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    if (is_off)
        return SQLITE_IOERR_FSYNC;
    forget(real_of(file));
    return SQLITE_OK;
}

static int on_delete(sqlite3_vfs *self, const char *name, int syncs)
{
    (void)self;
    return is_off ? SQLITE_IOERR_DELETE : below->xDelete(below, name, syncs);
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
    vfs.xDelete = on_delete;
    rc = sqlite3_vfs_register(&vfs, 1);
    assert(rc == SQLITE_OK);
    (void)rc;
}

void fault_vfs_fill(uint64_t writes)
{
    writes_left = writes;
}
