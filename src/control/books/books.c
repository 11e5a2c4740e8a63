/* SPDX-License-Identifier: Apache-2.0 */
#include "control/books/books.h"

#include "base/limits.h"
#include "base/mem.h"

void books_init(struct books *books, struct state *state)
{
    const struct controller_config *config = &state->config;
    const struct catalogue *catalogue = config->catalogue;

    *books = (struct books){
        .state = state,
        .ledger = ledger_create(),
        .knowledge = { .profile = config->profile },
        .boots = mem_alloc(catalogue->offer_count, sizeof(*books->boots)),
        .brake = config->brake,
        .next_proof = MSEC_NEVER,
        .proven_at = -1,
        .next_unblock = MSEC_NEVER,
        .next_price = books_next_price(catalogue, 0),
    };
    colocation_init(&books->knowledge.colocation, config->default_rate);
    runtimes_init(&books->knowledge.runtimes, config->default_estimate_ms,
                  config->estimates == ESTIMATES_LEARNED ? LIMIT_RUNTIME_GROUPS
                                                         : RUNTIMES_GROUPS_MIN);
    map_init(&books->gone);
    map_init(&books->gone_before);
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].is_former)
            state->view.offer_blocked_until[i] = MSEC_NEVER;
    }
}

void books_done(struct books *books)
{
    ledger_destroy(books->ledger);
    colocation_done(&books->knowledge.colocation);
    runtimes_done(&books->knowledge.runtimes);
    map_done(&books->gone);
    map_done(&books->gone_before);
    mem_free(books->lessons);
    mem_free(books->boots);
}
