/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_vfs.h - the file system below SQLite, for simulations: quick, and full on command.
 *
 * Files are written where they are asked for, but nothing is synced: a simulated process that dies
 * leaves what it wrote, as a real one would; only the host's own death is not simulated.
 */
#ifndef STINT_TESTS_PROP_FAULT_VFS_H
#define STINT_TESTS_PROP_FAULT_VFS_H

#include <stdint.h>

/* Make it the one that every database uses which is opened from now on. */
void fault_vfs_install(void);

/* After so many more writes the disk is full; UINT64_MAX: never. */
void fault_vfs_fill(uint64_t writes);

#endif
