/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What offers cost now, and until when those that were refused are left alone.
 *
 * How long their machines last, as far as that is known, is looked at after each loss and every hour.
 *
 * Costs:  a block what forgetting the reservation prices costs; a refresh O(offers), but nothing until a price
 *         changes or a block ends.
 */
#include "control/books/books.h"
#include "decide/reservation.h"

msec_t books_next_price(const struct catalogue *catalogue, msec_t now)
{
    msec_t next = MSEC_NEVER;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const msec_t change = price_next_change(&catalogue->offers[i].price, now);

        if (change < next)
            next = change;
    }
    return next;
}

void books_block(struct books *books, uint32_t offer, msec_t at, msec_t length)
{
    struct view *view = &books->state->view;
    const msec_t until = at + length;

    if (until > view->offer_blocked_until[offer]) /* late news does not end a block early */
        view->offer_blocked_until[offer] = until;
    if (until < books->next_unblock)
        books->next_unblock = until;
    reservation_forget(view);
}

void books_refused(struct books *books, uint32_t offer, msec_t at)
{
    static const msec_t most = MSEC_PER_HOUR;
    struct view *view = &books->state->view;
    msec_t *since = &books->refused_since[offer];

    if (*since < 0 || at < *since)
        *since = at;

    const msec_t so_far = at - *since;
    const msec_t until = at + (so_far < most ? so_far : most);

    if (until > view->offer_doubted_until[offer])
        view->offer_doubted_until[offer] = until;
}

void books_granted(struct books *books, uint32_t offer)
{
    books->refused_since[offer] = -1;
    books->state->view.offer_doubted_until[offer] = 0;
}

void books_refresh_offers(struct books *books, msec_t now)
{
    struct view *view = &books->state->view;

    if (now < books->next_price && now < books->next_unblock)
        return;
    books->next_unblock = MSEC_NEVER;
    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        view->offer_price[i] = price_at(&view->catalogue->offers[i].price, now);
        if (view->offer_blocked_until[i] > now &&
            view->offer_blocked_until[i] < books->next_unblock)
            books->next_unblock = view->offer_blocked_until[i];
    }
    books->next_price = books_next_price(view->catalogue, now);
    reservation_forget(view);
}

/* Whether machines last for another time, by a quarter and more. */
static bool is_news(msec_t before, msec_t now)
{
    if (before == MSEC_NEVER || now == MSEC_NEVER)
        return before != now;
    return now > before + before / 4 || now < before - before / 4;
}

void books_refresh_risks(struct books *books, msec_t now)
{
    static const msec_t patience = MSEC_PER_HOUR;
    struct interruptions *learned = &books->knowledge.interruptions;
    struct view *view = &books->state->view;

    if (!learned->has_changed && now < books->next_risks)
        return;
    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        view->offer_lasts[i] = interruptions_mean_ms(learned, i, now);
        if (is_news(books->noted_lasts[i], view->offer_lasts[i])) {
            books->noted_lasts[i] = view->offer_lasts[i];
            view->offer_risk_changed[i] = now;
        }
    }
    interruptions_mark_living(learned);
    learned->has_changed = false;
    books->next_risks = now + patience;
}
