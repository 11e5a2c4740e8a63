/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - every kind of finding that `stint doctor` shows, with its severity and advice.
 *
 * The table is in findings.c. Each kind has an entry in docs/troubleshooting, and tests/findings.py
 * compares both. To add a kind, add an id here, a row there and a heading in the document.
 *
 *     finding_tell(to, &(struct finding_case){ FINDING_NO_BOOT, .subject = cluster },
 *                  "the last %u machines never became ready", failed);
 *
 * Memory:  the texts that the sink receives live for the call.
 */
#ifndef STINT_CONTROL_FINDINGS_H
#define STINT_CONTROL_FINDINGS_H

#include "control/ports/adapter.h"

enum finding_id {
    /* Of a running cluster. */
    FINDING_AUDIT_LATE,
    FINDING_BAD_MACHINE,
    FINDING_BLOCKED_OFFER,
    FINDING_BUDGET_LOW,
    FINDING_BUDGET_SPENT,
    FINDING_DRAINING,
    FINDING_FORMER_OFFER,
    FINDING_LEAKED,
    FINDING_LIMIT,
    FINDING_LINK_DOWN,
    FINDING_MISSING_MACHINES,
    FINDING_MORE,
    FINDING_NO_BOOT,
    FINDING_NO_START,
    FINDING_NOT_READY,
    FINDING_NOT_RETURNED,
    FINDING_OPEN_INTENT,
    FINDING_OUTDATED,
    FINDING_OUTLIVED,
    FINDING_OWNER_BUDGET_LOW,
    FINDING_OWNER_BUDGET_SPENT,
    FINDING_PROPOSALS,
    FINDING_SECOND_DAEMON,
    FINDING_SHADOW,
    FINDING_STILL_BUSY,
    FINDING_STORE,
    FINDING_VANISHED,
    FINDING_WITHHELD_ORDER,
    /* Of Slurm. */
    FINDING_HETEROGENEOUS,
    FINDING_NO_GRES_TYPES,
    FINDING_NO_RESTART,
    FINDING_NOT_STARTED,
    FINDING_NO_WORDS,
    FINDING_POLICY,
    FINDING_SLURMCTLD_CRASH,
    FINDING_STUCK_NODE,
    FINDING_UNHOLDABLE,
    FINDING_UNKNOWN_NODE,
    /* Of the configuration and of the account at the cloud. */
    FINDING_CATALOGUE,
    FINDING_CLOUD,
    FINDING_CONFIGURATION,
    FINDING_CREDENTIALS,
    FINDING_DAEMON,
    FINDING_ENGINE,
    FINDING_FILE,
    FINDING_NO_QUEUE,
    FINDING_REQUEST_REFUSED,
    FINDING_RIGHT,
    FINDING_KINDS,
};

struct finding_kind {
    const char *name;     /* as `stint doctor -o json` and the metrics have it */
    const char *severity; /* NULL: each case has its own */
    const char *about;    /* what 'subject' is */
    const char *page;     /* of docs/troubleshooting; the heading is 'name' */
    const char *advice;   /* NULL: each case has its own */
};

extern const struct finding_kind finding_kinds[FINDING_KINDS];

struct finding_case {
    enum finding_id id;
    const char *subject;
    const char *severity; /* NULL: that of the table */
    const char *advice;   /* likewise */
};

/* Send one finding to 'to'. The format has no full stop at its end. */
__attribute__((format(printf, 3, 4))) void
finding_tell(const struct finding_sink *to, const struct finding_case *is, const char *format, ...);

#endif
