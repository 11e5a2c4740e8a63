/* SPDX-License-Identifier: Apache-2.0 */
/*
 * risk.h - what work on a machine costs when the machine may be taken away.
 *
 * Machines of an offer are lost at random, once in view.offer_lasts on average (by experience or else by the
 * catalogue). With each loss the work is done again that was not saved, and another machine is set up and the task
 * brought there. So a task that saves after each span c of work, and needs r to run again, takes
 *
 *     (e^(c/m) - 1) / (c/m)  x  (1 + r/m)
 *
 * times as long on machines that last for m on average: exactly, where nothing is lost while it restarts. What never
 * saves has its whole runtime for c. What can be saved between the cloud's notice and the loss loses nothing in as many
 * cases as there is a notice. An offer of which nobody knows how long its machines last costs its price.
 *
 * The same rule says what a single run was expected to lose, whether it was lost or not (risk_expected_redo). Summed over
 * the runs that a task needs on average, that is what the formula above adds to its work.
 *
 * Costs:  O(1); some ten multiplications.
 */
#ifndef STINT_DECIDE_RISK_H
#define STINT_DECIDE_RISK_H

#include "learn/runtimes.h"
#include "model/view.h"

/* What is at stake on a machine: the most work that one loss undoes, and what it takes to go on elsewhere besides the
 * machine's setup. Both in milliseconds. */
struct risk_stake {
    double redo;
    double restart;
};

/* In how many cases of all, as a share, a loss undoes what was not saved before: all, but where it can be saved between the notice and the
 * loss. */
static inline double risk_unsaved(const struct view *view, uint32_t shape, bool fixed)
{
    const struct shape_delays *delays = &view->shapes->rows[shape].delays;
    const bool is_saved =
        !fixed && view->notice_ms > 0 && delays->kill_ms + delays->upload_ms <= view->notice_ms;

    return is_saved ? 1 - (double)view->notice_ppm / 1e6 : 1;
}

/* Of a task of the shape that is expected to run for so long; 'fixed': a stop loses its work (job.fixed). Work without an
 * end has nothing to do again. */
static inline struct risk_stake risk_stake_of(const struct view *view, uint32_t shape,
                                              msec_t runtime, bool fixed)
{
    const struct shape_delays *delays = &view->shapes->rows[shape].delays;
    const msec_t stop = delays->kill_ms + delays->upload_ms;
    const double unsaved = risk_unsaved(view, shape, fixed);
    const msec_t every = delays->checkpoint_ms;
    const msec_t at_once = runtime < RUNTIME_HORIZON_MS ? runtime : 0;

    return (struct risk_stake){
        .redo = unsaved * (double)(every > 0 && every < at_once ? every : at_once),
        .restart = (double)(delays->fetch_ms + delays->build_ms + delays->init_ms) +
                   (1 - unsaved) * (double)stop,
    };
}

/* Of a task that runs and has so much left: with what it has done and not saved, which a loss would undo however soon it comes,
 * twice what is left to be lost on average. */
static inline struct risk_stake risk_stake_here(const struct view *view, uint32_t task,
                                                msec_t remaining, bool fixed)
{
    const msec_t unsaved = view_progress(view, task) - view->task.saved_ms[task];

    return risk_stake_of(view, view->task.shape[task],
                         remaining < RUNTIME_HORIZON_MS ? remaining + 2 * unsaved : remaining,
                         fixed);
}

/* (e^x - 1) / x, by its series: the same bits everywhere. Beyond 12, where work takes some
 * 13,000 times as long, nobody asks how bad it is, and money still fits. */
static inline double risk_growth(double x)
{
    const double most = 12;
    const double within = x < most ? x : most;
    double term = 1;
    double sum = 1;

    for (int n = 2; term > sum * 1e-15; n++) {
        term *= within / n;
        sum += term;
    }
    return sum;
}

/* How many times as long the work takes on machines that last so long and are set up so long: 1 or above. */
static inline double risk_factor_of(msec_t lasts, msec_t setup, struct risk_stake stake)
{
    if (lasts == MSEC_NEVER)
        return 1;

    const double mean = lasts > 0 ? (double)lasts : 1;

    return risk_growth(stake.redo / mean) * (1 + ((double)setup + stake.restart) / mean);
}

/* And on machines of the offer. */
static inline double risk_factor(const struct view *view, uint32_t offer, struct risk_stake stake)
{
    return risk_factor_of(view->offer_lasts[offer],
                          catalogue_type_of(view->catalogue, offer)->setup_ms, stake);
}

/* How much of its work a run that went on for 'ran' was expected to lose with its machine, in milliseconds; 'stake' is of a
 * task of that length. In any short time dt the machine is lost with a chance of dt/m, and half of what is at stake
 * is at hand then, on average. */
static inline double risk_expected_redo(const struct view *view, uint32_t offer,
                                        struct risk_stake stake, msec_t ran)
{
    const msec_t lasts = view->offer_lasts[offer];

    if (lasts == MSEC_NEVER || ran <= 0)
        return 0;
    return (double)ran / (double)(lasts > 0 ? lasts : 1) * stake.redo / 2;
}

/* What an hour of work costs there now, in micro-dollars. */
static inline double risk_price(const struct view *view, uint32_t offer, struct risk_stake stake)
{
    return (double)view->offer_price[offer] * risk_factor(view, offer, stake);
}

/* The stakes of several tasks: of each by its share of the work, so that one long task among many short ones does not
 * make them dear, nor the other way round. */
struct risk_mix {
    double work;
    double redo;
    double restart;
};

static inline void risk_mix_add(struct risk_mix *mix, struct risk_stake stake, double work)
{
    mix->work += work;
    mix->redo += work * stake.redo;
    mix->restart += work * stake.restart;
}

static inline struct risk_stake risk_mix_stake(const struct risk_mix *mix)
{
    return mix->work > 0 ? (struct risk_stake){ mix->redo / mix->work, mix->restart / mix->work }
                         : (struct risk_stake){ 0, 0 };
}

#endif
