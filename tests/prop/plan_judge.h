/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_judge.h - whether a plan can be carried out in the world that it was made for.
 *
 * By brute force, from the rules of model/plan.h and control/controller.h: each task is placed at
 * most once, on a machine that is open or that the plan rents from an offer that may be asked for;
 * only a job that is not on its way already and not fixed is moved; of a gang all tasks that wait are
 * placed, or none; the tasks of a job that must be in one zone or market are; with everything in its place no machine holds more than it can, nor two tasks
 * that must be apart; what is suspended runs, or is in the way of a service, may be stopped, and is a whole gang if it is one; what is released ends up empty and what is rented does not, unless it is asked
 * for first, or the policy rents 'stocks' for a queue.
 */
#ifndef STINT_TESTS_PLAN_JUDGE_H
#define STINT_TESTS_PLAN_JUDGE_H

#include "model/plan.h"
#include "model/view.h"

/* NULL, or what is wrong. */
const char *plan_judge(const struct view *view, const struct plan *plan, bool stocks);

#endif
