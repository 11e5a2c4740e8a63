/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/learned_risks.h"

#include "daemon/offer_index.h"
#include "store/store_report.h"

struct recall {
    struct learned_risks *risks;
    struct offer_index index;
};

/* A time to come is a clock that was set back since. */
static void resume(void *context, const struct store_interruption *kept)
{
    const struct recall *recall = context;
    const struct interruption_memory memory = {
        .losses_micro = kept->losses_micro,
        .machine_ms = kept->machine_ms,
        .at = kept->at < recall->risks->now ? kept->at : recall->risks->now,
    };
    const uint32_t offer = offer_index_find(&recall->index, kept->offer);

    if (offer != OFFER_NONE)
        (void)interruptions_resume(&recall->risks->interruptions, offer, &memory);
}

int learned_risks_read(const char *state, const struct catalogue *catalogue, msec_t now,
                       struct learned_risks *ret, struct error *reterr)
{
    struct recall recall = { .risks = ret };
    struct store *store = NULL;
    int rc = store_open_books(state, &store, reterr);

    if (rc < 0)
        return rc;
    ret->now = now;
    interruptions_init(&ret->interruptions, catalogue);
    offer_index_init(&recall.index, catalogue);
    rc = store_each_interruption(store, resume, &recall, reterr);
    offer_index_done(&recall.index);
    store_close(store);
    if (rc < 0)
        learned_risks_done(ret);
    return rc;
}

void learned_risks_done(struct learned_risks *risks)
{
    interruptions_done(&risks->interruptions);
}

struct offer_row learned_risks_row(const struct learned_risks *risks, uint32_t offer)
{
    const struct interruptions *learned = &risks->interruptions;
    struct interruption_rate rate;
    struct offer_row row = offer_row_of(learned->catalogue, offer);

    if (interruptions_rate(learned, offer, risks->now, &rate)) {
        row.lasts_ms = interruptions_mean_ms(learned, offer, risks->now);
        row.lasts_by = "learned";
        row.losses_milli = (int64_t)(rate.losses * 1000 + 0.5);
        row.machine_ms = (msec_t)(rate.hours * (double)MSEC_PER_HOUR);
        row.low_ms = interruption_span_ms(rate.high);
        row.high_ms = interruption_span_ms(rate.low);
    }
    return row;
}
