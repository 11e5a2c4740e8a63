/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was learned of interruptions outlives the process: it goes into the journal with the books, and the next
 * process begins with it. Offers are kept in words; what the catalogue does not have any more waits in the file. How
 * often notices came in time is kept in two counters.
 *
 * Costs:  a record for each offer whose machines came or went since the last write, and once an hour for each that
 *         has machines.
 */
#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "daemon/offer_index.h"

/* In the virtual world no machine is ever taken away: nothing is learned from it. */
void daemon_note_risks(struct daemon *daemon)
{
    struct interruption_memory memory;
    char words[SERVE_TEXT];
    uint32_t offer;

    if (daemon->shadow != NULL)
        return;
    while (controller_take_changed_risk(daemon->controller, &offer, &memory)) {
        (void)offer_index_words(&daemon->catalogue, offer, words, sizeof(words));
        journal_interruption(&daemon->journal, &(struct store_interruption){
                                                   .offer = words,
                                                   .losses_micro = memory.losses_micro,
                                                   .machine_ms = memory.machine_ms,
                                                   .at = memory.at,
                                               });
    }
}

struct recall {
    struct controller *controller;
    msec_t now;
    struct offer_index index;
    uint32_t known;
};

static void resume(void *context, const struct store_interruption *kept)
{
    struct recall *recall = context;
    const struct interruption_memory memory = {
        .losses_micro = kept->losses_micro,
        .machine_ms = kept->machine_ms,
        .at = kept->at < recall->now ? kept->at : recall->now,
    };

    if (controller_resume_risk(recall->controller, offer_index_find(&recall->index, kept->offer),
                               &memory))
        recall->known++;
}

int daemon_resume_risks(struct daemon *daemon, msec_t now, struct error *reterr)
{
    struct recall recall = { .controller = daemon->controller, .now = now };

    offer_index_init(&recall.index, &daemon->catalogue);

    const int rc = store_each_interruption(daemon->store, resume, &recall, reterr);

    controller_resume_notices(daemon->controller, store_counted(daemon->store, COUNT_NOTICE_SAVED),
                              store_counted(daemon->store, COUNT_NOTICE_LOST));

    if (rc == 0 && recall.known > 0)
        LOG_INFO("interruptions of an earlier run are known offers=%u", recall.known);
    offer_index_done(&recall.index);
    return rc;
}
