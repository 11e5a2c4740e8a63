/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - how much of anything may enter. Checked by the readers, so that no file can size our
 * memory or overflow our sums.
 */
#ifndef STINT_BASE_LIMITS_H
#define STINT_BASE_LIMITS_H

enum {
    LIMIT_TASKS = 1 << 24,         /* of one trace */
    LIMIT_TASKS_PER_JOB = 1 << 20, /* of one job */
    LIMIT_OFFERS = 1 << 17,        /* of one catalogue */
    LIMIT_FAMILIES = 1024,         /* machine families of one catalogue */
    LIMIT_SHAPES = 1 << 20,        /* different kinds of task */
    LIMIT_NAME = 256,              /* bytes of one name */
    LIMIT_FILE_BYTES = 1 << 30,    /* of one input file */
    LIMIT_DOC_NODES = 1 << 22,     /* of one YAML or JSON document */
    LIMIT_DOC_DEPTH = 32,          /* nesting of one YAML or JSON document */
    LIMIT_CONTENTION_NAMES = 4096, /* rows of a co-location matrix */
    LIMIT_PRICE_POINTS = 1 << 24,  /* changes of all price series together */
    LIMIT_RUNTIME_GROUPS = 65536,  /* groups of similar past runs */
};

#define LIMIT_TIME_MS  ((int64_t)1 << 42) /* 139 years: times a million it still fits */
#define LIMIT_MONEY    ((int64_t)1 << 40) /* 1.1 million dollars per hour; 139 years of it fit */
#define LIMIT_RESOURCE ((int64_t)1 << 40) /* a milli-CPU, MiB or milli-accelerator amount */

#endif
