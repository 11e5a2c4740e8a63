/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cbc_solver.h - integer programs solved by COIN-OR's CBC.
 *
 * The layer solve/ holds what the pure layers state and cannot solve themselves: libraries with globals
 * and output of their own. Only offline tools are linked with it; nothing in stintd waits for it.
 */
#ifndef STINT_SOLVE_CBC_SOLVER_H
#define STINT_SOLVE_CBC_SOLVER_H

#include "decide/milp.h"

/* The solver, or NULL where Stint was built without one. */
const struct milp_solver *cbc_solver(void);

#endif
