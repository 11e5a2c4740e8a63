/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would be decided if one job more were there: the decision itself, made on a copy of the state. Nothing of the
 * original is changed, and no port is called: there is none in a state, and what is marked in the copy is forgotten.
 *
 * Prices, risks and what was learned are those of the last decision.
 *
 * Costs:  a copy of all rows, and a decision of a policy that remembers nothing.
 */
#include "base/mem.h"
#include "control/want/want.h"
#include "decide/bonds.h"
#include "decide/reservation.h"

static void add_job(struct want_trial *trial, const struct job_spec *given)
{
    struct job_spec spec = *given;
    const struct job_lesson lesson = books_lesson(&trial->books, &spec);

    trial->forecast = lesson.forecast;
    trial->job = state_add_job(&trial->state, &spec);
    books_add_lesson(&trial->books, trial->job, &lesson);
}

static void decide(struct want_trial *trial)
{
    struct view *view = &trial->state.view;
    struct plan plan;
    struct turns turns;

    reservation_update(view);
    want_rules(&trial->want);
    bonds_update(view);
    want_decision(&trial->want, &plan, &turns);
    trial->state.stats.decisions++;
    want_trim(&trial->want, &plan, &turns);
    want_plan(&trial->want, &plan);
}

void want_trial_begin(struct want_trial *ret, const struct state *state, const struct books *books,
                      const struct shapes *shapes, const struct job_spec *spec, msec_t now)
{
    state_copy(&ret->state, state, shapes);
    (void)state_advance(&ret->state, now);
    ret->books = *books;
    ret->books.state = &ret->state;
    ret->books.lessons = mem_copy(
        books->lessons,
        state->view.job.count < books->lessons_room ? state->view.job.count : books->lessons_room,
        books->lessons_room, sizeof(*books->lessons));
    want_init(&ret->want, &ret->state, &ret->books);
    add_job(ret, spec);
    decide(ret);
}

void want_trial_end(struct want_trial *trial)
{
    want_done(&trial->want);
    mem_free(trial->books.lessons);
    state_done(&trial->state);
}
