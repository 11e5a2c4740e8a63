/* SPDX-License-Identifier: Apache-2.0 */
#include "control/books/books.h"

#include "base/limits.h"
#include "base/mem.h"

void books_init(struct books *books, struct state *state)
{
    const struct controller_config *config = &state->config;

    *books = (struct books){
        .state = state,
        .ledger = ledger_create(),
        .knowledge = { .profile = config->profile },
        .brake = config->brake,
        .next_proof = MSEC_NEVER,
        .proven_at = -1,
        .next_unblock = MSEC_NEVER,
        .next_price = books_next_price(config->catalogue, 0),
    };
    colocation_init(&books->knowledge.colocation, config->default_rate);
    pairs_init(&books->knowledge.pairs, config->default_rate);
    interruptions_init(&books->knowledge.interruptions, config->catalogue);
    runtimes_init(&books->knowledge.runtimes, config->default_estimate_ms,
                  config->estimates == ESTIMATES_LEARNED ? LIMIT_RUNTIME_GROUPS
                                                         : RUNTIMES_GROUPS_MIN);
    books->knowledge.lives.typical_ms = config->default_estimate_ms;
    map_init(&books->unknown_of);
    id_set_init(&books->gone);
    id_set_init(&books->gone_before);
    books_catalogue_changed(books);
}

void books_catalogue_changed(struct books *books)
{
    struct view *view = &books->state->view;
    const struct catalogue *catalogue = view->catalogue;
    const uint32_t known = books->boot_count;

    books->boots = mem_resize(books->boots, catalogue->offer_count, sizeof(*books->boots));
    books->noted_lasts =
        mem_resize(books->noted_lasts, catalogue->offer_count, sizeof(*books->noted_lasts));
    books->refused_since =
        mem_resize(books->refused_since, catalogue->offer_count, sizeof(*books->refused_since));
    for (uint32_t i = known; i < catalogue->offer_count; i++) {
        books->boots[i] = (struct boot_record){ 0 };
        books->noted_lasts[i] = view->offer_lasts[i];
        books->refused_since[i] = -1;
    }
    books->boot_count = catalogue->offer_count;
    interruptions_catalogue_grew(&books->knowledge.interruptions);
    INSTANCE_EACH(instance, view)
    {
        ledger_offer_moved(books->ledger, instance,
                           &catalogue->offers[view->instance.offer[instance]]);
    }
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        if (catalogue->offers[i].is_former)
            view->offer_blocked_until[i] = MSEC_NEVER;
        else if (view->offer_blocked_until[i] == MSEC_NEVER)
            view->offer_blocked_until[i] = 0;
    }
}

void books_done(struct books *books)
{
    ledger_destroy(books->ledger);
    colocation_done(&books->knowledge.colocation);
    work_mix_done(&books->knowledge.work_mix);
    pairs_done(&books->knowledge.pairs);
    mem_free(books->rated);
    interruptions_done(&books->knowledge.interruptions);
    runtimes_done(&books->knowledge.runtimes);
    map_done(&books->unknown_of);
    id_set_done(&books->gone);
    id_set_done(&books->gone_before);
    losses_done(books);
    mem_free(books->lessons);
    mem_free(books->boots);
    mem_free(books->noted_lasts);
    mem_free(books->refused_since);
}
