/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_protocol.h - what both ends of the pipe between the daemon and stint-slurm must agree on;
 * docs/reference/protocols/slurm.md has the words.
 */
#ifndef STINT_ENGINE_SLURM_PROTOCOL_H
#define STINT_ENGINE_SLURM_PROTOCOL_H

#include <stdint.h>

enum { SLURM_PROTOCOL = 1 }; /* what 'hello' carries */

/*
 * A job that waits for us has a begin time so many seconds (a hundred years) after the one that its
 * user wanted: Slurm sees to its dependencies meanwhile, and does not start it.
 * Twice as much: its user held it there, and it waits for us only once they have released it.
 */
#define SLURM_GATE_S ((int64_t)3155760000)

/*
 * What begins later than this (in November 2123) waits for us: no job was put off before 2023. A user's own
 * time beyond it is cut by the script, so that it is not taken for the gate.
 */
#define SLURM_GATED_FROM (SLURM_GATE_S + (int64_t)1700000000)

/* How an admin comment begins that says why a job waits, and how long it may be. */
#define SLURM_NOTE "Stint: "
enum { SLURM_NOTE_SIZE = 192 };

#endif
