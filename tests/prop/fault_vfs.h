/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_vfs.h - the file system below SQLite, for simulations: quick, and full on command.
 *
 * Files are written where they are asked for, and what a write replaces is kept until the file is synced. So a
 * process that dies leaves what it wrote, and a host that dies what it synced and the first of what it did not.
 */
#ifndef STINT_TESTS_PROP_FAULT_VFS_H
#define STINT_TESTS_PROP_FAULT_VFS_H

#include <stdint.h>

/* Make it the one that every database uses which is opened from now on. */
void fault_vfs_install(void);

/* After so many more writes the disk is full; UINT64_MAX: never. */
void fault_vfs_fill(uint64_t writes);

/* The power goes: of the writes that are not synced so many percent, the first, are on the disk. Nothing is written until
 * it is restored. */
void fault_vfs_cut(uint32_t percent);
void fault_vfs_restore(void);

#endif
