/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rent_merge.h - one new machine in the place of two, where it costs no more.
 *
 * Machines are rented one after the other, each for what is left then, so two of them may be alike and half of a larger one that costs
 * as much as both. Each machine costs something that is not in its price (see prefer_large in rent_value.c), and services stay for long. So of
 * the machines that a plan rents for services, two give way to one that holds all that would be on both, as long as there are such two.
 *
 * Merged are machines on demand in one zone, with nothing but tasks that have no end, need not be apart from others and wait for no gang. The one
 * that takes their place costs no more than both together, is lost no more often and boots as soon as the slower one.
 *
 * Promises:  every task has its place; the plan costs no more per hour. Of the mergers of a machine the one that saves most comes first, then
 *            the one with the cheaper other machine, then with the one that was rented first.
 * Costs:     O(o log o + w x m x o) for m machines that are looked at, in parts of w = 64, and o offers; O(tasks) for those that are merged.
 * Memory:    the plan's arena.
 */
#ifndef STINT_DECIDE_RENT_MERGE_H
#define STINT_DECIDE_RENT_MERGE_H

#include "model/plan.h"
#include "model/view.h"

/* Of what the plan rents from 'first_rent' on and places from 'first_place' on; nothing before has to do with it. */
void rent_merge(const struct view *view, uint32_t first_rent, uint32_t first_place,
                struct plan *plan);

#endif
