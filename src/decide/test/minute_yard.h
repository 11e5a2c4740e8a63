/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minute_yard.h - the yard of the tests of paid time: machines take two seconds to boot and are billed
 * for a minute at the least. Small ones have 2 CPUs for 1 dollar, large ones 8 for 4.
 */
#ifndef STINT_DECIDE_MINUTE_YARD_H
#define STINT_DECIDE_MINUTE_YARD_H

#include "decide/runtime_bins.h"
#include "decide/test/yard.h"

#define SECOND ((msec_t)1000)

enum { TWO, EIGHT };          /* offers */
enum { ONE_CPU, EIGHT_CPUS }; /* shapes */

static inline void minute_yard_init(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "a", 2, 8, 0, 1.0);
    (void)yard_type(yard, "a", 8, 32, 0, 4.0);
    for (uint32_t i = 0; i < yard->catalogue.type_count; i++) {
        yard->catalogue.types[i].acquire_ms = SECOND;
        yard->catalogue.types[i].setup_ms = SECOND;
        yard->catalogue.offers[i].billing =
            (struct billing_rule){ .step_ms = SECOND, .minimum_ms = 60 * SECOND };
    }
    (void)yard_shape(yard, 1, 1, 0);
    (void)yard_shape(yard, 8, 8, 0);
    yard_open(yard);
}

/* So many tasks, each expected to run for so long. */
static inline void minute_yard_tasks(struct yard *yard, uint32_t shape, uint32_t count,
                                     msec_t runtime)
{
    for (uint32_t i = 0; i < count; i++)
        (void)yard_task_for(yard, shape, runtime);
}

/* The runtime bins of all that is in the yard. */
static inline void minute_yard_bins(struct yard *yard, struct runtime_bins *ret)
{
    struct machine_index *index = ARENA_ARRAY(&yard->arena, struct machine_index, 1);

    machine_index_init(index, RUNTIME_PAID, true, &yard->arena);
    machine_index_absorb(index, &yard->view);
    runtime_bins_begin(ret, index, &yard->arena);
}

#endif
