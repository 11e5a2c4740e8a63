/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_findings.h - what is wrong with a configuration, found without the daemon.
 *
 * The same reader as stintd's, then a look at the files that it names. A finding says how bad it is,
 * what it is about, what is wrong and what to do.
 *
 * Memory:  texts are copied; owned by the list until findings_done.
 */
#ifndef STINT_CLI_CONF_FINDINGS_H
#define STINT_CLI_CONF_FINDINGS_H

#include <stdint.h>

#include "base/arena.h"
#include "control/ports/adapter.h"
#include "daemon/conf.h"

struct findings {
    struct arena arena;
    struct finding *rows;
    uint32_t count;
    uint32_t room;
};

void findings_init(struct findings *findings);
void findings_done(struct findings *findings);
void findings_add(struct findings *findings, const struct finding *finding);

/* Who adds to the list what is sent to it. */
struct finding_sink findings_sink(struct findings *findings);

/* How many are of severity "error". */
uint32_t findings_errors(const struct findings *findings);

/* Look at the files that a good configuration names. */
void conf_findings(const struct conf *conf, struct findings *ret);

/* Ask the cloud that a good configuration names; takes a few seconds, and rents nothing. */
void cloud_findings(const struct conf *conf, struct findings *ret);

#endif
