/* SPDX-License-Identifier: Apache-2.0 */
#include "solve/cbc_solver.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#ifdef STINT_HAS_CBC
#include <coin/Cbc_C_Interface.h>

#include "base/mem.h"

/* The rows as columns, the form that the library takes. */
struct matrix {
    CoinBigIndex *start;
    int *row;
    double *value;
};

static struct matrix by_column(const struct milp *milp)
{
    struct matrix matrix = { .start = mem_alloc(milp->columns + 2, sizeof(*matrix.start)) };
    uint32_t count = 0;

    for (uint32_t i = 0; i < milp->row_count; i++) {
        for (uint32_t k = 0; k < milp->rows[i].entry_count; k++)
            matrix.start[milp->rows[i].entries[k].column + 2]++;
        count += milp->rows[i].entry_count;
    }
    for (uint32_t i = 2; i < milp->columns + 2; i++)
        matrix.start[i] += matrix.start[i - 1];
    matrix.row = mem_alloc(count + 1, sizeof(*matrix.row));
    matrix.value = mem_alloc(count + 1, sizeof(*matrix.value));
    for (uint32_t i = 0; i < milp->row_count; i++) {
        for (uint32_t k = 0; k < milp->rows[i].entry_count; k++) {
            const struct milp_entry *entry = &milp->rows[i].entries[k];
            const CoinBigIndex at = matrix.start[entry->column + 1]++;

            matrix.row[at] = (int)i;
            matrix.value[at] = entry->value;
        }
    }
    return matrix;
}

static void load(Cbc_Model *model, const struct milp *milp)
{
    struct matrix matrix = by_column(milp);
    double *lower = mem_alloc(milp->columns, sizeof(*lower));
    double *at_least = mem_alloc(milp->row_count + 1, sizeof(*at_least));
    double *at_most = mem_alloc(milp->row_count + 1, sizeof(*at_most));

    for (uint32_t i = 0; i < milp->row_count; i++) {
        at_least[i] = milp->rows[i].at_least;
        at_most[i] = HUGE_VAL;
    }
    Cbc_loadProblem(model, (int)milp->columns, (int)milp->row_count, matrix.start, matrix.row,
                    matrix.value, lower, milp->most, milp->cost, at_least, at_most);
    for (uint32_t i = 0; i < milp->columns; i++)
        Cbc_setInteger(model, (int)i);
    mem_free(matrix.start);
    mem_free(matrix.row);
    mem_free(matrix.value);
    mem_free(lower);
    mem_free(at_least);
    mem_free(at_most);
}

static int solve(const struct milp *milp, double *x, struct milp_answer *ret)
{
    Cbc_Model *model = Cbc_newModel();
    char nodes[16];
    char gap[32];

    (void)snprintf(nodes, sizeof(nodes), "%u", milp->node_most);
    (void)snprintf(gap, sizeof(gap), "%.9f", milp->gap);
    load(model, milp);
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "maxNodes", nodes);
    Cbc_setParameter(model, "ratioGap", gap);
    Cbc_setParameter(model, "threads", "0");
    if (milp->below > 0)
        Cbc_setCutoff(model, milp->below);
    if (milp->first_will_do)
        Cbc_setMaximumSolutions(model, 1);
    if (milp->is_small) {
        Cbc_setParameter(model, "cutsOnOff", "off");
        Cbc_setParameter(model, "heuristicsOnOff", "off");
    }
    (void)Cbc_solve(model);

    const double *solution = Cbc_bestSolution(model);

    *ret =
        (struct milp_answer){ .is_found = solution != NULL,
                              .is_optimal = Cbc_isProvenOptimal(model) != 0,
                              .is_none = solution == NULL && Cbc_isNodeLimitReached(model) == 0 &&
                                         Cbc_isProvenInfeasible(model) != 0,
                              .nodes = (uint32_t)Cbc_getNodeCount(model),
                              .bound = Cbc_getBestPossibleObjValue(model) };
    for (uint32_t i = 0; solution != NULL && i < milp->columns; i++)
        x[i] = round(solution[i]);
    Cbc_deleteModel(model);
    return 0;
}

const struct milp_solver *cbc_solver(void)
{
    static const struct milp_solver solver = { .name = "cbc", .solve = solve };

    return &solver;
}

#else

const struct milp_solver *cbc_solver(void)
{
    return NULL;
}

#endif
