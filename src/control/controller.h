/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h - the one loop: events in, a decision, actions out.
 *
 * The controller keeps the view and what history teaches up to date with every event, asks its
 * policy for a plan when it is time to, and carries the plan out through the two ports, step by step
 * as events confirm what was asked. It does not know whether real systems or a simulator stand
 * behind the ports, and reads no clock: every event and every decision brings its time along.
 *
 * How a plan is carried out:
 *  1. what it rents is asked for at once; what it releases goes back when the last task has left;
 *  2. a task that moves is stopped first, and started at its target when it has stopped and the
 *     target is ready; a gang of which one task moves is stopped and started as a whole;
 *  3. a refused offer is not asked for again for a while, and its tasks wait for the next decision; one that has been refused
 *     for some time is doubted;
 *  4. tasks of a machine that was lost wait again;
 *  5. what a limit forbids is dropped, as are placements of tasks that were lost a short time ago; a
 *     gang is dropped as a whole, and with a move all that needs its room.
 *
 * What is known is held against what the ports tell in full, at the start and now and then: see
 * controller_audit.
 *
 * Promises:  late and repeated events are harmless, and so are times in them that cannot be; each action has a key of its own; every instance
 *            that was rented is returned or reported gone before controller_is_idle says so.
 * Costs:     an event is O(tasks on the instance it concerns); a decision what its policy costs; the
 *            end of a list O(all jobs, tasks and instances).
 */
#ifndef STINT_CONTROL_CONTROLLER_H
#define STINT_CONTROL_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/books/ledger.h"
#include "control/state/controller_config.h"
#include "learn/forecast.h"
#include "learn/knowledge.h"
#include "model/plan.h"
#include "model/view.h"
#include "policy/policy.h"

struct controller;

/* What may still be spent, all that is rented paid for; it changes all the time. When it comes to an
 * end, or there is some again, a decision is wanted. */
void controller_set_budget(struct controller *controller, bool has_budget, money_t left);

/* A limit of the config's caps, or whether its budget is used up, is another than before: a decision is wanted. */
void controller_caps_changed(struct controller *controller);

/* Book the time until 'at' of all machines with a task that is under caps, so that what these tasks owe includes it. */
void controller_book_capped(struct controller *controller, msec_t at);

/* What the offer costs at the least, rented now: its minimum, or the first step. */
money_t controller_first_charge(const struct catalogue *catalogue, uint32_t offer, msec_t now);

struct controller *controller_create(const struct controller_config *config);
void controller_destroy(struct controller *controller);

/*
 * What time it is, by a clock that can be trusted more than those behind the ports: from then on no event
 * is taken to be later than what was said last. Whoever never says it has no other clock than the events.
 */
void controller_tell_time(struct controller *controller, msec_t now);

void controller_on_engine(struct controller *controller, const struct engine_event *event);
void controller_on_cloud(struct controller *controller, const struct cloud_event *event);

/* Decide now, and begin to carry it out. */
void controller_decide(struct controller *controller, msec_t now);

/* Whether something happened since the last decision that may call for another. */
bool controller_wants_decision(const struct controller *controller);

/*
 * Ask both ports what there is, and hold what is known against it when the lists have ended: what
 * nobody knew is taken over, what is not named is no more. The first audit asks the engine only when
 * the cloud has listed its machines, so that tasks are found on machines that are known.
 */
void controller_audit(struct controller *controller, msec_t now);

/* Since when a list that was asked for has not ended; -1: none is under way. */
msec_t controller_waits_for_cloud(const struct controller *controller);
msec_t controller_waits_for_engine(const struct controller *controller);

/* Both lists of at least one audit have ended. */
bool controller_is_audited(const struct controller *controller);

/* The next key that it will use; all below were used or never will be. */
uint64_t controller_next_key(const struct controller *controller);

/*
 * Open accounts, and what living tasks owe, that have changed since they were handed out last; false:
 * no more. Who keeps all of them together, with the bills and what was settled until then, can give
 * them to the next process by 'resume_account' and 'resume_due': then over all processes the bills
 * are boot and idle time and what tasks were charged. Tasks that ended in between are never asked for.
 */
bool controller_take_changed_account(struct controller *controller, uint64_t *ret_instance,
                                     struct ledger_account *ret);
bool controller_take_changed_due(struct controller *controller, uint64_t *ret_task,
                                 struct ledger_due *ret);

/*
 * What was learned of an offer's interruptions since it was handed out last; false: no more. The next process is given
 * it before its first audit, which tells it the machines that live.
 */
bool controller_take_changed_risk(struct controller *controller, uint32_t *ret_offer,
                                  struct interruption_memory *ret);

/* False: it cannot be, and is forgotten. */
bool controller_resume_risk(struct controller *controller, uint32_t offer,
                            const struct interruption_memory *memory);

/* So many runs of work that may be moved were saved by notices, and so many lost, by the stats of earlier processes. Before
 * the first audit. */
void controller_resume_notices(struct controller *controller, uint64_t saved, uint64_t lost);

/* Take over what may change while it runs: policy and options, limits, times. */
void controller_tune(struct controller *controller, const struct controller_config *config);

/* The price series of the catalogue were changed, from the current time on: read them again, and decide. */
void controller_prices_changed(struct controller *controller);

/*
 * The catalogue was changed: offers were added, became former or are no longer, prices changed from the current time
 * on. The shapes are bound to it already (shapes_bind). What was rented of an offer that is former now stays until
 * it is of no use; decide.
 */
void controller_catalogue_changed(struct controller *controller);

/*
 * For whoever stands between it and the cloud and lets a rent wait: the machine was not asked for yet, so
 * its boot is not late; or it never will be, and its tasks are planned again. What the cloud was asked for
 * is not touched.
 */
void controller_rent_waits(struct controller *controller, uint64_t instance, msec_t now);
void controller_rent_withdrawn(struct controller *controller, uint64_t instance, msec_t now);

/* 'task' is a row of the view. */
struct controller_wait controller_wait_of(const struct controller *controller, uint32_t task);

/*
 * What would be if a job came now: the decision that would be made, on a copy of all that is known. Nothing is changed and
 * nothing is asked of anybody. 'shapes' are a copy of the controller's, with that of the job; they outlive the trial.
 * Costs a copy of the view and a whole decision.
 */
struct controller_trial;

struct controller_trial *controller_try(const struct controller *controller,
                                        const struct shapes *shapes, const struct job_spec *spec,
                                        msec_t now);
void controller_trial_destroy(struct controller_trial *trial);

/* Where all would be by that decision, the row of the job there, how long it is expected to run, and what keeps its task, a
 * row of that view, from a place. */
const struct view *controller_trial_view(const struct controller_trial *trial);
uint32_t controller_trial_job(const struct controller_trial *trial);
const struct forecast *controller_trial_forecast(const struct controller_trial *trial);
struct controller_wait controller_trial_wait(const struct controller_trial *trial, uint32_t task);

/* How long the job, a row of the view, was expected to run when that was asked last, and by what. */
const struct forecast *controller_forecast(const struct controller *controller, uint32_t job);

/* The sum that max_price_per_hour is held against: of all instances that live, billed or not. */
money_t controller_price_per_hour(const struct controller *controller);

/*
 * Machines in a row that did not become ready, or where no task started. Only one is rented at a time
 * until one is good. 0: fewer than three, or more of the other kind.
 */
uint32_t controller_failed_boots(const struct controller *controller);
uint32_t controller_failed_starts(const struct controller *controller);

/* To be kept, and returned as the config's. */
struct controller_brake controller_brake(const struct controller *controller);

/*
 * Machines that the cloud's last list did not name though they should be there. A few may have gone;
 * if they are more, the list is doubted: nothing is rented while it is, and they count in every limit.
 * No machine that the engine vouches for is ever taken for gone because a list lacks it.
 */
uint32_t controller_missing(const struct controller *controller);
bool controller_doubts(const struct controller *controller);

/* Machines of this cluster in the cloud's last list that nobody here asked for, after the first audit:
 * another daemon rents for the same cluster. Nothing is rented while there are any; they count in every
 * limit and are left alone. */
uint32_t controller_rivals(const struct controller *controller);

/*
 * Before the first audit: a machine that an earlier process asked for at 'asked_at', and whose end it did
 * not see. It counts from now on; the lists say what became of it.
 */
void controller_remember(struct controller *controller, uint64_t instance, uint32_t offer,
                         msec_t asked_at, msec_t now);

/* ... and was giving back, which the cloud may have heard or not: nothing starts there any more. */
void controller_remember_return(struct controller *controller, uint64_t instance);

/*
 * A machine of an offer that is owned (catalogue_add_owned), from OWNED_ID_FIRST on, so that no key is like its id. It
 * takes work while the engine says so, and costs what the offer says, from 'since' on; it is never asked for and never
 * returned. With 'catches_up' the books wait for the next audit, which tells what runs there already.
 */
void controller_own(struct controller *controller, uint64_t instance, uint32_t offer, msec_t since,
                    bool catches_up);

/* It is owned no more: its account ends. */
void controller_disown(struct controller *controller, uint64_t instance, msec_t at);

/* Machines whose image or settings are not those of new ones: see want/want_outdated.c; and whether the instance, a row of the
 * view, is one. */
struct controller_outdated controller_outdated(const struct controller *controller);
bool controller_is_outdated(const struct controller *controller, uint32_t instance);

/* Since when the instance, a row of the view, has been asked to leave the engine, which has something on
 * it that we do not know of; -1: it has not, or never joined. */
msec_t controller_leaving_since(const struct controller *controller, uint32_t instance);

/* Tasks that are queued at the engine and were not found running yet. */
uint32_t controller_queued(const struct controller *controller);

/* Instead of a decision: nothing new starts anywhere, what has not begun is taken back, and each
 * machine goes when what runs there has ended. No policy is asked. */
void controller_drain(struct controller *controller, msec_t now);

/* When, without any event, a decision is due: the policy asked for it, a refused offer may be asked
 * again, a price changes, a machine should be ready by then, a lost task may be placed again;
 * MSEC_NEVER if never. */
msec_t controller_next_wake(const struct controller *controller);

/* A job ran so long, in a previous run. */
void controller_teach(struct controller *controller, const struct runtime_traits *traits,
                      msec_t runtime_ms);

/* No task and no instance is left. */
bool controller_is_idle(const struct controller *controller);

const struct view *controller_view(const struct controller *controller);
const struct ledger *controller_ledger(const struct controller *controller);
const struct knowledge *controller_knowledge(const struct controller *controller);
const struct controller_stats *controller_stats(const struct controller *controller);

/* Check by brute force that what is known and what is wanted agree: a second look at every row, marked or not,
 * asks the ports for nothing. For tests. */
void controller_check(struct controller *controller);

#endif
