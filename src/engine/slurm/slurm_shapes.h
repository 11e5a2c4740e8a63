/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_shapes.h - what a job of Slurm asks for, as a shape of ours.
 *
 * What is asked for per node is what one task asks for. Where any machine will do there is one
 * demand for all families. A constraint, a type of accelerators, or a whole machine make it a demand
 * for each family that has a type for it:
 *
 *  1. a whole machine (--exclusive, or all memory) is the capacity of the smallest type of the
 *     family that holds the job. On a larger one of the same family our view has room left that
 *     Slurm does not give; what is placed there waits.
 *  2. a constraint that some types of a family meet and others do not is a demand as large as the
 *     smallest that meets it, so that smaller ones are out. A larger one that does not meet it is
 *     refused by Slurm.
 *  3. a market or a zone is met by types that are offered nowhere else.
 *
 * Equal wishes are worked out once, as long as they come again. A shape is kept for good, so users must
 * not be able to use them up: from so many on, new wishes have no workload, sizes are rounded up (not
 * past a machine that holds them as they are), and further on new constraints are refused. Sizes as such
 * never are.
 *
 * Memory:  owned by the table, and bounded; catalogue, words and shapes are borrowed.
 */
#ifndef STINT_ENGINE_SLURM_SHAPES_H
#define STINT_ENGINE_SLURM_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "model/catalogue.h"
#include "model/shape.h"

#define SHAPE_NONE UINT32_MAX

struct slurm_word;

/* What one node of the job must have. */
struct slurm_want {
    uint64_t cpus;
    uint64_t mem_mib;
    uint64_t gpus;
    const char *gpu_type;  /* "": any */
    const char *features;  /* Slurm's constraint, or NULL */
    const char *workload;  /* its name */
    bool is_whole_machine; /* nothing else may run beside it */
};

struct slurm_wish {
    uint32_t shape;  /* SHAPE_NONE: nothing can hold it */
    uint32_t reason; /* in 'reasons', then */
};

/* Wishes that were worked out. */
struct slurm_wishes {
    struct names wants;     /* each different one as a text */
    struct slurm_wish *row; /* by number of 'wants' */
    uint32_t rows_room;
};

struct slurm_shapes {
    const struct catalogue *catalogue;
    struct shapes *shapes;
    const struct slurm_word *features;
    uint32_t feature_count;
    const struct slurm_word *gres_types;
    uint32_t gres_type_count;
    struct slurm_wishes known;  /* those that came since the others were set aside */
    struct slurm_wishes before; /* and those; they are forgotten when there are as many new ones */
    uint32_t known_max;
    uint32_t exact_max;       /* shapes before sizes are rounded */
    uint32_t constrained_max; /* shapes before constraints are refused */
    struct names reasons;
    struct shape_demand *demands; /* scratch */
    uint32_t demands_room;
};

void slurm_shapes_init(struct slurm_shapes *shapes);
void slurm_shapes_done(struct slurm_shapes *shapes);

/* The shape for it, or why there is none. */
struct slurm_wish slurm_shapes_of(struct slurm_shapes *shapes, const struct slurm_want *want);

/* The wish of a job that is out for a reason of its own. */
struct slurm_wish slurm_shapes_refuse(struct slurm_shapes *shapes, const char *reason);

#endif
