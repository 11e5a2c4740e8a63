/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloud_port.h - what the controller asks of whoever rents machines, and what it is notified of.
 *
 * Behind it stand EC2, Karpenter's NodeClaims, local namespaces or the simulator.
 *
 * Rules, for whoever implements it: those of engine_port.h. The key under which a machine is rented
 * is the machine's id ever after, so that a request whose answer was lost can be repeated.
 */
#ifndef STINT_CONTROL_CLOUD_PORT_H
#define STINT_CONTROL_CLOUD_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/catalogue.h"

struct cloud_ops {
    /* Rent 'count' machines of the offer in one request, the ids being 'first' and those that
     * follow; for each of them CLOUD_RUNNING or CLOUD_REFUSED. */
    void (*rent)(void *self, uint64_t first, uint32_t count, uint32_t offer);

    /* Give it back, whatever state it is in: CLOUD_GONE, also if it is not there (any more). */
    void (*give_back)(void *self, uint64_t instance);

    /* Tell every machine that is managed by Stint: CLOUD_FOUND for each that was rented and is not gone,
     * CLOUD_GONE for those that went lately; then CLOUD_LISTED. */
    void (*list)(void *self, uint64_t key);
};

struct cloud_port {
    const struct cloud_ops *ops;
    void *self;
};

enum cloud_event_kind {
    CLOUD_RUNNING,  /* it runs and is billed since 'billed_from' */
    CLOUD_REFUSED,  /* no such machine to be had now; the id will never be used */
    CLOUD_NOTICE,   /* it will be taken away soon, or may be: see 'may_stay' */
    CLOUD_GONE,     /* returned or taken away; billed from 'billed_from' (below 0: never) to
                      'billed_to' */
    CLOUD_FOUND,    /* ours, of 'offer'; billed since 'billed_from' (below 0: not yet) */
    CLOUD_LISTED,   /* 'key' of the list that ends here */
    CLOUD_OUTDATED, /* its image or settings are not those that a new machine gets; or are again: see 'is_outdated'. In a
                       list after CLOUD_FOUND, for each that is */
};

struct cloud_event {
    enum cloud_event_kind kind;
    msec_t at;
    uint64_t instance;
    uint64_t key; /* CLOUD_LISTED */
    msec_t billed_from;
    msec_t billed_to;
    uint32_t offer; /* CLOUD_FOUND, and CLOUD_GONE in a list; OFFER_NONE: not known */
    msec_t for_ms;  /* CLOUD_REFUSED: the offer will be refused for so long; 0: nobody knows */
    bool may_stay;  /* CLOUD_NOTICE: it is only at risk, and perhaps never taken away */
    bool is_outdated;
    msec_t until; /* CLOUD_NOTICE: it is not taken away before; 0: nobody knows */
};

/* Of an offer that was refused and is not asked for again before 'until'. */
struct cloud_refusal {
    msec_t at; /* when it was refused last */
    msec_t until;
    uint32_t times;    /* in a row; those of one batch count once */
    bool is_quota;     /* perhaps it was another offer of the same quota */
    bool is_placeless; /* the configuration has no place for it; nobody was asked */
};

#endif
