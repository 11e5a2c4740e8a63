/* SPDX-License-Identifier: Apache-2.0 */
#include "control/ports/findings.h"

#include <stdarg.h>
#include <stdio.h>

/* The longest are errors of AWS with their request. */
enum { TEXT_SIZE = 2048, ADDRESS_SIZE = 256 };

#define RUNNING "findings"
#define SLURM   "findings-slurm"
#define SETUP   "findings-setup"

const struct finding_kind finding_kinds[FINDING_KINDS] = {
    [FINDING_AUDIT_LATE] = {
        .name = "audit-late",
        .severity = "error",
        .about = "the cloud, or the engine",
        .page = RUNNING,
    },
    [FINDING_BAD_MACHINE] = {
        .name = "bad-machine",
        .severity = "warning",
        .about = "the cluster",
        .page = RUNNING,
    },
    [FINDING_BLOCKED_OFFER] = {
        .name = "blocked-offer",
        .severity = "note",
        .about = "the offer",
        .page = RUNNING,
        .advice = "Stint uses other offers meanwhile. If this persists, request a higher quota "
                  "or remove the offer from the catalogue.",
    },
    [FINDING_BUDGET_LOW] = {
        .name = "budget-low",
        .severity = "warning",
        .about = "limits",
        .page = RUNNING,
        .advice = "When the budget is spent, Stint stops renting and returns empty machines. If "
                  "that is too early, raise the limit in stint.conf and reload stintd.",
    },
    [FINDING_BUDGET_SPENT] = {
        .name = "budget-spent",
        .severity = "error",
        .about = "limits",
        .page = RUNNING,
        .advice = "Stint has stopped renting and returns empty machines. Running jobs continue. "
                  "Raise the limit in stint.conf and reload stintd, or wait for the next "
                  "period.",
    },
    [FINDING_DRAINING] = {
        .name = "draining",
        .severity = "note",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "Run `stint drain --off` to resume renting.",
    },
    [FINDING_FORMER_OFFER] = {
        .name = "former-offer",
        .severity = "warning",
        .about = "the catalogue",
        .page = RUNNING,
        .advice = "Stint returns these machines when their jobs end. To keep them, put the "
                  "offers back and restart stintd.",
    },
    [FINDING_LEAKED] = {
        .name = "leaked",
        .severity = "error",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "They count against the limits, and Stint returns them once they are empty. "
                  "Their cost appears only on the cloud's bill, so check it there.",
    },
    [FINDING_LIMIT] = {
        .name = "limit",
        .severity = "warning",
        .about = "limits",
        .page = RUNNING,
        .advice = "Raise 'limits' in stint.conf and reload stintd, or wait until running jobs "
                  "end.",
    },
    [FINDING_LINK_DOWN] = {
        .name = "link-down",
        .severity = "error",
        .about = "the engine, or the cloud",
        .page = RUNNING,
        .advice = "Stint makes no decisions until the connection is back. Check that the "
                  "program at the other end runs, and read its log.",
    },
    [FINDING_MISSING_MACHINES] = {
        .name = "missing-machines",
        .about = "the cluster",
        .page = RUNNING,
    },
    [FINDING_MORE] = {
        .name = "more",
        .severity = "note",
        .about = "empty",
        .page = RUNNING,
        .advice = "Fix the first ones, then run `stint doctor` again.",
    },
    [FINDING_NO_BOOT] = {
        .name = "no-boot",
        .severity = "error",
        .about = "the cluster",
        .page = RUNNING,
    },
    [FINDING_NO_START] = {
        .name = "no-start",
        .severity = "error",
        .about = "the cluster",
        .page = RUNNING,
    },
    [FINDING_NOT_READY] = {
        .name = "not-ready",
        .severity = "warning",
        .about = "the machine",
        .page = RUNNING,
    },
    [FINDING_NOT_RETURNED] = {
        .name = "not-returned",
        .severity = "error",
        .about = "the machine, or the cluster",
        .page = RUNNING,
        .advice = "Remove its termination protection, or give stintd the right to terminate it "
                  "(`stint doctor --cloud`). You can also terminate it in the cloud console. "
                  "Stint repeats the request meanwhile.",
    },
    [FINDING_OPEN_INTENT] = {
        .name = "open-intent",
        .severity = "warning",
        .about = "journal",
        .page = RUNNING,
        .advice = "Check the logs of the cloud and of the cluster's scheduler. Stint repeats "
                  "the requests after its next audit.",
    },
    [FINDING_OUTDATED] = {
        .name = "outdated",
        .about = "the cluster",
        .page = RUNNING,
    },
    [FINDING_OUTLIVED] = {
        .name = "outlived",
        .severity = "warning",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "The ledger lacks their cost since then, so check the cloud's bill. If this "
                  "continues, terminate them by hand.",
    },
    [FINDING_OWNER_BUDGET_LOW] = {
        .name = "owner-budget-low",
        .severity = "warning",
        .about = "the account, user, partition or QOS",
        .page = RUNNING,
        .advice = "When the budget is spent, new jobs of this owner wait. If that is too early, "
                  "raise the limit in stint.conf and reload stintd.",
    },
    [FINDING_OWNER_BUDGET_SPENT] = {
        .name = "owner-budget-spent",
        .severity = "warning",
        .about = "the account, user, partition or QOS",
        .page = RUNNING,
        .advice = "New jobs of this owner wait. Its running jobs and all other jobs continue. "
                  "Raise the limit in stint.conf and reload stintd, or wait for the next "
                  "period.",
    },
    [FINDING_PROPOSALS] = {
        .name = "proposals",
        .severity = "note",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "Run `stint approve` to list them. Approve or reject each one by its number.",
    },
    [FINDING_SECOND_DAEMON] = {
        .name = "second-daemon",
        .severity = "error",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "Look for the second stintd, and stop the one that you do not need. If there is "
                  "none, restart this stintd, and it takes over its machines.",
    },
    [FINDING_SHADOW] = {
        .name = "shadow",
        .severity = "note",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "Set 'mode: advise' or 'mode: act' in stint.conf when you trust its "
                  "decisions, and restart stintd.",
    },
    [FINDING_STILL_BUSY] = {
        .name = "still-busy",
        .severity = "warning",
        .about = "the machine",
        .page = RUNNING,
    },
    [FINDING_STORE] = {
        .name = "store",
        .severity = "error",
        .about = "store",
        .page = RUNNING,
        .advice = "Stint rents and places nothing until it can write its state file again, and "
                  "it returns empty machines. Free space on that disk, or correct the file's "
                  "permissions.",
    },
    [FINDING_VANISHED] = {
        .name = "vanished",
        .severity = "error",
        .about = "the cluster",
        .page = RUNNING,
        .advice = "Stint counts them as rented and rents no replacements. Check in the EC2 "
                  "console whether they exist and carry the tag stint:cluster.",
    },
    [FINDING_WITHHELD_ORDER] = {
        .name = "withheld-order",
        .severity = "error",
        .about = "the job, or the machine",
        .page = RUNNING,
        .advice = "Stint decides again, so most jobs only start later. This is a bug in Stint: "
                  "report it with the output of `stint doctor -o json` and the log of stintd.",
    },
    [FINDING_HETEROGENEOUS] = {
        .name = "heterogeneous",
        .severity = "warning",
        .about = "the job",
        .page = SLURM,
        .advice = "The job starts when Slurm's backfill scheduler finds nodes for all of its "
                  "components among owned nodes and machines of other jobs. To let Stint rent "
                  "machines for such jobs, run backfill more often: bf_interval=30 in "
                  "SchedulerParameters, with Slurm 23.02.1 or later.",
    },
    [FINDING_NO_GRES_TYPES] = {
        .name = "no-gres-types",
        .severity = "warning",
        .about = "slurm.conf",
        .page = SLURM,
        .advice = "Add GresTypes=gpu to slurm.conf and restart slurmctld.",
    },
    [FINDING_NO_RESTART] = {
        .name = "no-restart",
        .severity = "warning",
        .about = "the unit of slurmctld",
        .page = SLURM,
        .advice = "Run `systemctl edit slurmctld` and add the lines [Service] and "
                  "Restart=on-failure.",
    },
    [FINDING_NO_WORDS] = {
        .name = "no-words",
        .severity = "note",
        .about = "slurm.conf",
        .page = SLURM,
        .advice = "Add NodeName=stint-words State=FUTURE Feature=spot,on-demand to slurm.conf, "
                  "with the features that your users may name.",
    },
    [FINDING_SLURMCTLD_CRASH] = {
        .name = "slurmctld-crash",
        .severity = "error",
        .about = "slurm.conf",
        .page = SLURM,
        .advice = "Add SchedulerParameters=bf_interval=3600 to slurm.conf and restart slurmctld. "
                  "Heterogeneous jobs then no longer start. Slurm 24.11 has neither problem.",
    },
    [FINDING_NOT_STARTED] = {
        .name = "not-started",
        .severity = "warning",
        .about = "the job",
        .page = SLURM,
        .advice = "Stint tries again later. Run `scontrol show job` for details, and check the "
                  "limits of Slurm's partitions, associations and reservations.",
    },
    [FINDING_POLICY] = {
        .name = "policy",
        .severity = "note",
        .about = "the job",
        .page = SLURM,
        .advice = "Stint rents nothing for this job while Slurm would refuse to start it. "
                  "Change the job or the limit, or wait.",
    },
    [FINDING_STUCK_NODE] = {
        .name = "stuck-node",
        .severity = "warning",
        .about = "the node",
        .page = SLURM,
        .advice = "It does no harm. Remove it with `scontrol delete nodename=NAME`.",
    },
    [FINDING_UNHOLDABLE] = {
        .name = "unholdable",
        .severity = "error",
        .about = "the job",
        .page = SLURM,
        .advice = "Ask the user to correct the request, or add a larger machine type to the catalogue.",
    },
    [FINDING_UNKNOWN_NODE] = {
        .name = "unknown-node",
        .severity = "warning",
        .about = "the node",
        .page = SLURM,
        .advice = "Find out who started it, and stop it there. Stint leaves it alone.",
    },
    [FINDING_CATALOGUE] = {
        .name = "catalogue",
        .severity = "error",
        .about = "catalogue",
        .page = SETUP,
    },
    [FINDING_CLOUD] = {
        .name = "cloud",
        .about = "the key of stint.conf",
        .page = SETUP,
    },
    [FINDING_CONFIGURATION] = {
        .name = "configuration",
        .about = "stint.conf",
        .page = SETUP,
    },
    [FINDING_CREDENTIALS] = {
        .name = "credentials",
        .about = "credentials",
        .page = SETUP,
    },
    [FINDING_DAEMON] = {
        .name = "daemon",
        .about = "the address of stintd",
        .page = SETUP,
        .advice = "Start stintd, or check the configuration alone with --offline.",
    },
    [FINDING_ENGINE] = {
        .name = "engine",
        .about = "the key of stint.conf",
        .page = SETUP,
    },
    [FINDING_FILE] = {
        .name = "file",
        .about = "the key of stint.conf",
        .page = SETUP,
    },
    [FINDING_NO_QUEUE] = {
        .name = "no-queue",
        .severity = "note",
        .about = "cloud.queue",
        .page = SETUP,
        .advice = "Create a queue for interruption notices and name it in 'queue'. The AWS "
                  "guide describes both steps.",
    },
    [FINDING_REQUEST_REFUSED] = {
        .name = "request-refused",
        .about = "the action of AWS",
        .page = SETUP,
    },
    [FINDING_RIGHT] = {
        .name = "right",
        .about = "the action of AWS",
        .page = SETUP,
    },
};

void finding_tell(const struct finding_sink *to, const struct finding_case *is, const char *format,
                  ...)
{
    const struct finding_kind *kind = &finding_kinds[is->id];
    char text[TEXT_SIZE];
    char address[ADDRESS_SIZE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    (void)snprintf(address, sizeof(address), "%s/troubleshooting/%s.md#%s", STINT_DOC_DIR,
                   kind->page, kind->name);
    to->tell(to->context, &(struct finding){
                              .severity = is->severity != NULL ? is->severity : kind->severity,
                              .kind = kind->name,
                              .subject = is->subject,
                              .text = text,
                              .advice = is->advice != NULL ? is->advice : kind->advice,
                              .address = address,
                          });
}
