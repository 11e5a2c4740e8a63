/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_world.h - the whole daemon in a world of its own, in virtual time.
 *
 * Inside is what stintd is made of: core.h with gate, journal, store, controller and both adapters, which
 * speak lines. Around it are a slurmctld with its bridge (fake_slurm.h, fake_bridge.h) and the local
 * cloud's own world (local_world.h). A seed draws the load, the settings and what goes wrong; the same
 * seed goes the same way to the line.
 *
 * What is judged is what Slurm and the cloud know, never what the daemon believes:
 *
 *   limit      at no instant are there more machines, or dearer ones, than the configuration allows
 *   key        no key rents two things
 *   restart    a job starts once, and once more for each node that it lost and each order of an operator
 *   under-job  no machine is returned while a job runs there, unless the cloud takes it anyway
 *   lost-job   every job completes once, unless somebody cancelled it or it lost its node permanently
 *   left-over  when all is done, all machines and nodes go within a stated time
 *   books      the bills in the store are those of the cloud, to the micro-dollar
 *   charges    each job that has completed is in the ledger
 *   idle       no machine is paid for without work longer than a stated time
 *   orders     no order of the controller fails the check at the gate (daemon/sense.h)
 *   nodes      a job is placed on, and runs on, as many different nodes as it asks for, and none is overfull
 *   writers    nothing is rented, returned, placed or stopped while another stintd may act
 *   start      the daemon starts whenever the disk is not full, whatever a crash has left there
 *   stuck      it ends, and no turn brings the next one for ever
 */
#ifndef STINT_TESTS_PROP_DAEMON_WORLD_H
#define STINT_TESTS_PROP_DAEMON_WORLD_H

#include <stdbool.h>
#include <stdint.h>

enum daemon_fault {
    FAULT_KILL,       /* the daemon, between any two steps */
    FAULT_TORN,       /* the daemon, in the middle of a transaction */
    FAULT_CUT,        /* the connection to the cloud */
    FAULT_BRIDGE,     /* stint-slurm ends and is started again */
    FAULT_SLURMCTLD,  /* is restarted */
    FAULT_LIST_EMPTY, /* the cloud's */
    FAULT_LIST_PART,
    FAULT_LIST_STALE,
    FAULT_LIST_LATE,
    FAULT_REFUSE,  /* the cloud has no capacity */
    FAULT_BOOT,    /* machines do not join */
    FAULT_DEATH,   /* of a machine, without notice */
    FAULT_NOTICE,  /* with it */
    FAULT_MUTE,    /* a node does not answer slurmctld for a while */
    FAULT_DISK,    /* is full */
    FAULT_CLOCK,   /* of the daemon's host is set */
    FAULT_REQUEUE, /* by an operator */
    FAULT_HOLD,
    FAULT_CANCEL,
    FAULT_NODE_DRAIN, /* scontrol */
    FAULT_DRAIN,      /* stint drain */
    FAULT_LIMITS,     /* changed by a reload */
    FAULT_RIVAL,      /* another stintd takes the lease of this Slurm */
    FAULT_KINDS,
};

enum daemon_judge {
    JUDGE_LIMIT,
    JUDGE_KEY,
    JUDGE_RESTART,
    JUDGE_UNDER_JOB,
    JUDGE_LOST_JOB,
    JUDGE_LEFT_OVER,
    JUDGE_BOOKS,
    JUDGE_IDLE,
    JUDGE_STUCK,
    JUDGE_BOUND,
    JUDGE_MARKET,
    JUDGE_ORDERS,
    JUDGE_NODES,
    JUDGE_START,
    JUDGE_WRITERS,
    JUDGE_CHARGES,
    JUDGES,
};

struct daemon_outcome {
    bool failed[JUDGES];
    char text[JUDGES][160]; /* of the first failure */
    uint32_t faults;        /* bits of what was drawn */
    uint32_t happened[FAULT_KINDS];
    uint32_t jobs;
    uint32_t starts;
    uint32_t machines;
    uint32_t kills;
    uint32_t ruled_spot; /* first starts of jobs that ask for a market, on spot machines */
    uint32_t ruled_safe; /* and on others */
    uint32_t bounds;     /* above zero, that the daemon found */
    uint64_t turns;
    uint64_t lines;
    uint64_t digest; /* of all lines */
    int64_t virtual_ms;
    int64_t worst_idle_ms;
};

const char *daemon_fault_name(enum daemon_fault fault);
const char *daemon_judge_name(enum daemon_judge judge);

/* Which faults the seed has: none, one or two of them, all pairs in turn. */
uint32_t daemon_world_faults(uint64_t seed);

/* Live through it; 'folder' is for its files. With 'traces' every line is printed; else, when a judge of
 * the bits 'telling' is the first to fail, the last lines before that are. */
void daemon_world_run(uint64_t seed, const char *folder, bool traces, uint32_t telling,
                      struct daemon_outcome *ret);

#endif
