/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_fields.h - what Slurm's records mean where they do not say it plainly.
 *
 * Promises:  pure; takes whatever Slurm sends, NULL included. Needs no libslurm.
 */
#ifndef STINT_ENGINE_SLURM_FIELDS_H
#define STINT_ENGINE_SLURM_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* The count of 'name' in "cpu=4,mem=2G,node=2,billing=4", or 'otherwise' if it is not there. */
uint64_t slurm_fields_tres(const char *tres, const char *name, uint64_t otherwise);

/*
 * Memory per node in MiB. 'asked' is Slurm's pn_min_memory: per node, or per CPU if its top bit is
 * set. CPUs that do not divide evenly are rounded up, for the fullest node must fit.
 */
uint64_t slurm_fields_mem_mib(uint64_t asked, uint64_t cpus, uint64_t nodes);

/* A hash of 'size' bytes (FNV-1a, then mixed): tells whether a line is news. */
uint64_t slurm_fields_hash(const char *bytes, uint64_t size);

#endif
