/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_text.h - how Slurm writes times, durations, memory and trackable resources (TRES).
 *
 * Promises:  pure; nothing is written on failure, which is -EINVAL for what Slurm does not write
 *            and -ERANGE for what is beyond base/limits.h.
 * Bounds:    O(length).
 */
#ifndef STINT_TRACE_SLURM_TEXT_H
#define STINT_TRACE_SLURM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

/* What is not known, in all of these. */
enum { SLURM_UNKNOWN = -1 };

/*
 * A point in time: "2026-10-01T12:00:00", taken as it stands without a time zone, or seconds since
 * 1970; "Unknown", "None" and nothing are unknown. In seconds since 1970.
 */
int slurm_time(const char *text, size_t length, int64_t *ret_s);

/*
 * A length of time: [days-]hours:minutes:seconds, minutes:seconds, either with a fraction;
 * "UNLIMITED", "Partition_Limit", "INVALID" and nothing are unknown.
 */
int slurm_duration(const char *text, size_t length, msec_t *ret);

/* What an amount of memory is counted for. */
enum slurm_per {
    SLURM_PER_JOB,
    SLURM_PER_NODE, /* suffix n */
    SLURM_PER_CPU,  /* suffix c */
};

struct slurm_memory {
    int64_t mib; /* rounded up */
    enum slurm_per per;
};

/* "16G", "4000Mc", "1.50Tn"; without a letter in MiB; "" and "?" are unknown. */
int slurm_memory(const char *text, size_t length, struct slurm_memory *ret);

/* Of a whole job; SLURM_UNKNOWN where the text does not say. */
struct slurm_tres {
    int64_t cpus;
    int64_t mem_mib;
    int64_t gpus; /* of any type */
    int64_t nodes;
};

/*
 * "billing=8,cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=32G,node=2". GPUs that are given by type only are
 * added up; what is neither of these is passed over.
 */
int slurm_tres(const char *text, size_t length, struct slurm_tres *ret);

#endif
