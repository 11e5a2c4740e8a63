/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_shapes.h - what a job of Slurm asks for, as a shape of ours.
 *
 * What is asked for per node is what one task asks for. A constraint (-C) and a model of accelerators
 * (--gres=gpu:h100:1) are an expression over the offers of the catalogue (model/offer_set.h), so they are met
 * exactly: types, families, zones, markets, and what the catalogue says of a type. A whole machine (--exclusive,
 * or all memory) is a shape that wants one for itself. The nodes of one job may have to be in one zone.
 *
 * Equal wishes are worked out once, as long as they come again. A shape is kept permanently, so users must
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

/* What one node of the job must have. */
struct slurm_want {
    uint64_t cpus;
    uint64_t mem_mib;
    uint64_t gpus;
    const char *gpu_type;  /* "": any */
    const char *features;  /* Slurm's constraint, or NULL */
    const char *workload;  /* its name */
    bool is_whole_machine; /* nothing else may run beside it */
    bool is_in_one_zone;   /* all nodes of the job */
    bool has_rules;        /* for markets, which may change with time */
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
    struct slurm_wishes known;  /* those that came since the others were set aside */
    struct slurm_wishes before; /* and those; they are forgotten when there are as many new ones */
    uint32_t known_max;
    uint32_t exact_max;       /* shapes before sizes are rounded */
    uint32_t constrained_max; /* shapes before constraints are refused */
    struct names reasons;
};

void slurm_shapes_init(struct slurm_shapes *shapes);
void slurm_shapes_done(struct slurm_shapes *shapes);

/* The shape for it, or why there is none. */
struct slurm_wish slurm_shapes_of(struct slurm_shapes *shapes, const struct slurm_want *want);

/* The wish of a job that is out for a reason of its own. */
struct slurm_wish slurm_shapes_refuse(struct slurm_shapes *shapes, const char *reason);

#endif
