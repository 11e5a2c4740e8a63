/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_watch.h - whether a job runs on a machine, by its processes alone.
 *
 * A machine that is no longer managed must end itself, and one that runs a job must not, whoever is
 * dead. So no daemon is asked: a process counts as a job's if it is Slurm's manager of a step (slurmstepd; not
 * the one that slurmd keeps for its control group), or if it has SLURM_JOB_ID in its environment, which
 * batch scripts, their children, prologs and epilogs do.
 *
 * Promises:  in doubt there is a job: if the processes cannot be read, one is taken to run.
 * Costs:     reads /proc once; about 20 microseconds a process.
 */
#ifndef STINT_CLOUD_JOB_WATCH_H
#define STINT_CLOUD_JOB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* 'proc' is "/proc", or a folder like it. With a 'space' other than 0 only processes of that process
 * namespace count: the inode of its /proc/PID/ns/pid. */
bool job_watch_is_busy(const char *proc, uint64_t space);

/* The process namespace of the children of a process; 0: not to be read. */
uint64_t job_watch_space_of(int pid);

#endif
