/* SPDX-License-Identifier: Apache-2.0 */
/*
 * improve_units.h - what the search of improve.h works on: tasks, units, offers, in the making of a plan.
 */
#ifndef STINT_DECIDE_IMPROVE_UNITS_H
#define STINT_DECIDE_IMPROVE_UNITS_H

#include "base/arena.h"
#include "decide/improve.h"
#include "decide/regroup.h"
#include "decide/risk.h"

/* Tasks of a machine that may leave it in one decision, and those that stay beside them at most. */
enum { UNIT_FREE_MOST = 6, UNIT_STAYERS_MOST = 32 };

#define UNIT_NONE UINT32_MAX

/* What makes tasks alike where machines are rented. */
struct search_kind {
    uint32_t shape;
    uint32_t market;                 /* the only one in which it may be, or MARKET_COUNT */
    struct risk_stake stake;         /* what is lost with a machine */
    uint32_t next;                   /* of the shape and market, + 1 */
    const struct res *const *demand; /* of each of search.offers */
    const double
        *risk; /* and what losing such machines costs, as a share of the price; NULL: nothing */
};

struct search_task {
    uint32_t task;
    uint32_t workload; /* of search.workloads */
    uint32_t kind;     /* of search.kinds */
    uint32_t home;     /* unit, or UNIT_NONE */
    uint32_t apart;    /* of its job */
    double worth;      /* per hour */
    double price;      /* the same without what waiting costs */
    double wait_price; /* what an hour in which it waits costs beside its worth */
    double pace;
    double start;
    double wait;
    uint64_t token;
    double move_saves; /* of a task that is moved: see improve_savings.h */
    double move_cost;
    bool waits; /* it came to wait, and is left waiting */
};

struct unit {
    uint32_t instance; /* ROW_NONE: a new machine, or none */
    uint32_t offer;    /* of search.offers, of a new machine; UNIT_NONE: it waits */
    uint32_t tasks[REGROUP_TASKS];
    uint32_t task_count;
    const struct search_task *stayers;
    uint32_t stayer_count;
    double price; /* of an instance: for the horizon, but for what is paid */
    struct res free;
    uint64_t hash;  /* of the unit as it stood */
    uint32_t stamp; /* of its last change; 0: none */
    double loss;
};

struct search {
    const struct improve_input *input;
    const struct view *view;
    struct arena *arena;
    struct search_task *tasks;
    uint32_t task_count;
    uint32_t task_room;
    struct unit *units;
    uint32_t unit_count;
    uint32_t unit_room;
    uint32_t stamp;

    struct row_map kind_of; /* per shape and market: the last, + 1 */
    struct search_kind *kinds;
    uint32_t kind_count;
    uint32_t kind_room;
    struct row_map workload_of; /* per workload, + 1 */
    uint32_t *workloads;
    uint32_t workload_count;
    uint32_t workload_room;
    double *rate; /* [workload * workload_count + other] */

    struct regroup_offer *offers;
    uint32_t *offer_rows; /* of the catalogue */
    uint32_t offer_count;
    uint64_t era;
    double hours;         /* the horizon: what is saved or done within it counts */
    double partner_hours; /* until somebody may be expected to share a machine with */
    uint64_t work_left;   /* steps of regroup() that may still be spent */
    bool is_short;        /* there is less of it than all pairs take */
    struct map seen;      /* if so: groups that gave nothing in this decision */
    bool asks;            /* see search_ask */
    bool rents_nothing;   /* only machines that there are, or were asked for, are looked at */
    bool has_risk;        /* machines of some offer are known to be lost */
};

/* Everything that may be changed, in units. */
void search_begin(struct search *search, const struct improve_input *input, struct arena *arena,
                  const struct row_map *uses);

/* What has changed, as a plan; but for why tasks wait. */
void search_end(struct search *search, struct plan *plan, struct row_map *uses);

/* Whether the machine is of the spot market, not there yet, and either nobody's or of an offer that was refused last: no work that runs
 * is to be stopped for it. */
bool search_is_asked(const struct view *view, uint32_t instance);

/*
 * What would be better if the cloud granted it: from now on work that runs may only go to spot machines, new or such as were asked for,
 * and work that waits may also ask for offers that were refused last. Returns the units that are to be looked at: those that have not
 * changed, machines that were asked for first. 'ret' has room for all.
 */
uint32_t search_ask(struct search *search, uint32_t *ret);

/* What has changed since that stamp, as a plan: machines are asked for, and those that were are kept. Work that runs stays, and is moved
 * when the machine is there. Who waits even so is named. */
void search_end_asking(struct search *search, uint32_t since, struct plan *plan,
                       struct row_map *uses);

/* A unit more; its address is good until the next one. */
struct unit *search_add_unit(struct search *search);

/* What it costs the task that machines of the offer are lost, as a share of its price. */
double search_risk(const struct search *search, const struct search_task *of, uint32_t offer);

static inline double search_rate(const struct search *search, const struct search_task *of,
                                 const struct search_task *beside)
{
    return search->rate[of->workload * search->workload_count + beside->workload];
}

/* Decisions are weighed over so many hours. */
#define SEARCH_HOURS_MOST 2.0

#endif
