/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_conf_check.h - compare slurmctld's configuration with what Stint needs of it.
 *
 * stint-slurm reports the facts in a line 'configuration' (docs/reference/protocols/slurm.md) at each list of
 * nodes. The check names the line of slurm.conf that is missing and what happens without it.
 *
 * Promises:  pure. An unknown fact gives no finding.
 * Memory:    texts of findings live until the next call.
 */
#ifndef STINT_ENGINE_SLURM_CONF_CHECK_H
#define STINT_ENGINE_SLURM_CONF_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/line.h"
#include "control/ports/adapter.h"

struct slurm_conf_facts {
    bool is_known;
    uint32_t release;    /* 2205 is 22.05; 0: unknown */
    uint32_t backfill_s; /* between two runs of the backfill scheduler; 0: it does not run */
    bool has_gpu;        /* GresTypes names gpu */
    bool has_words;      /* there is a node stint-words */
};

/* From a line 'configuration'. Fields that cannot be read count as unknown. */
struct slurm_conf_facts slurm_conf_facts_read(const struct line *line);

/* 'offers_gpu': the catalogue has machines with accelerators. 'observes': Stint only watches, so nothing is urgent. */
void slurm_conf_check(const struct slurm_conf_facts *facts, bool offers_gpu, bool observes,
                      const struct finding_sink *to);

/* Whether systemd starts slurmctld again after a crash, by the files below 'roots' (NULL ends the list). No unit
 * file: true, as somebody else looks after it. */
bool slurm_conf_is_restarted(const char *const *roots);

#endif
