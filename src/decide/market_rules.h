/* SPDX-License-Identifier: Apache-2.0 */
/*
 * market_rules.h - in which market the tasks of a job may start now, by the job's own rules.
 *
 * A job may be for spot machines only, for all others only, for spot machines first and for others after so
 * long, and it may have a deadline. Work with a deadline is safe on a spot machine as long as the loss of that
 * machine would not make it late: until
 *
 *     deadline - what would have to be run again and after that - one restart.
 *
 * What would have to be run is counted from what was saved last. A restart is the stop, a new machine that is not
 * spot, and the launch. A job that cannot be stopped without losing its work needs time for two runs and two
 * restarts: nothing is saved of the first, and nobody can end it when the time has come. From that time on ('safe_from' of the view) the job's tasks start on other machines only. Once it has come it stays,
 * whatever is saved later, so that a job does not go to and fro.
 *
 * A job that no other machines than spot ones hold stays with these.
 *
 * Before a policy is asked, each task that waits gets the variant of its shape (model/shape.h) for the market
 * that it may start in: see decide/bonds.h. A task that is bound keeps its market, but is not moved to a spot
 * machine from 'safe_from' on. No policy has to know of it.
 *
 * Promises:  pure; the same view, the same answer.
 * Costs:     O(jobs with a time or a deadline + tasks of those with a deadline), about 50 ns each, and nothing while there are none.
 */
#ifndef STINT_DECIDE_MARKET_RULES_H
#define STINT_DECIDE_MARKET_RULES_H

#include "model/view.h"

/* Work out 'safe_from' of the jobs with a deadline, and keep those that are past it off spot machines. Returns when it
 * matters next that a rule changes; MSEC_NEVER: it never does. The view's reservation prices are of now. */
msec_t market_rules_update(struct view *view);

/* Where tasks of the job may start now. */
enum market_rule market_rule_now(const struct view *view, uint32_t job);

/* How long it takes until a task of the job runs again that is stopped now, on a machine that is not spot. */
msec_t market_restart_ms(const struct view *view, uint32_t job);

/* Whether a task that is past its 'safe_from' should leave the spot machine that it is bound to: it does not run yet, or
 * may be stopped and would run for longer than a restart takes. What ends sooner stays: it is late if just then its machine
 * is lost. */
bool market_should_leave(const struct view *view, uint32_t task);

#endif
