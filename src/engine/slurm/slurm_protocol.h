/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_protocol.h - what both ends of the pipe between the daemon and stint-slurm must agree on;
 * docs/format/slurm-protocol.md has the words.
 */
#ifndef STINT_ENGINE_SLURM_PROTOCOL_H
#define STINT_ENGINE_SLURM_PROTOCOL_H

enum { SLURM_PROTOCOL = 1 }; /* what 'hello' carries */

#endif
