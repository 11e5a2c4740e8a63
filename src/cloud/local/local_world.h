/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_world.h - what stint-cloud-local knows: every machine that was asked for, and what becomes
 * of it.
 *
 *     asked --acquire--> booting --up--> running --> leaving --release--> gone
 *       |                   |               |           ^
 *       +--> refused        +--> refused    +--notice---+
 *
 * It has no clock and makes no namespaces: 'boot' and 'kill' are asked of whoever does, who answers
 * with local_world_up and local_world_down. So it can be tested in virtual time.
 *
 * Promises:  a key of a cluster rents once; asked again it answers what became of it. Same seed and
 *            same calls, same refusals and revocations. A machine that was returned is billed
 *            until its release time is over, one that was revoked or died until then and no longer.
 * Costs:     a call is O(machines that live); a list O(machines that ever were). A record stays
 *            permanently, about 200 bytes.
 * Elsewhere: lines in docs/reference/protocols/local.md, the log in docs/reference/local-cloud.md.
 */
#ifndef STINT_CLOUD_LOCAL_WORLD_H
#define STINT_CLOUD_LOCAL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/line.h"
#include "base/units.h"
#include "cloud/local/local_protocol.h"
#include "cloud/local/local_request.h"
#include "model/catalogue.h"

enum local_state {
    LOCAL_ASKED,
    LOCAL_BOOTING,
    LOCAL_RUNNING,
    LOCAL_NOTICED, /* runs, and will be taken away at 'due' */
    LOCAL_LEAVING, /* killed; the bill ends at 'due' */
    LOCAL_GONE,
    LOCAL_REFUSED,
    LOCAL_STATES,
};

struct local_machine {
    uint64_t key;
    uint32_t cluster; /* by number, in the world's names */
    uint32_t offer;   /* OFFER_NONE: not in the catalogue */
    uint32_t number;  /* from 1, never used twice: its address and its link */
    enum local_state state;
    bool is_hosted;  /* there are processes of it */
    const char *why; /* it is gone, or was refused */
    msec_t due;      /* of what comes next, in states that wait */
    msec_t billed_from;
    msec_t billed_to;
    char name[LOCAL_NAME_MAX + 1];
};

struct local_world;

struct local_world_config {
    const struct catalogue *catalogue;
    uint64_t seed;

    bool (*boot)(void *context, uint32_t row); /* false: it cannot even begin */
    void (*kill)(void *context, uint32_t row);

    /* Lines for everyone who speaks for 'cluster'; for the journal; for the log. */
    void (*tell)(void *context, const char *cluster, const char *lines, uint32_t size);
    void (*note)(void *context, const char *lines, uint32_t size);
    void (*log)(void *context, const char *line);
    void *context;
};

struct local_world *local_world_create(const struct local_world_config *config);
void local_world_destroy(struct local_world *world);

/* Good until the next rent. */
const struct local_machine *local_world_machine(const struct local_world *world, uint32_t row);
uint32_t local_world_machine_count(const struct local_world *world);
uint32_t local_world_living(const struct local_world *world);

/* One line of an earlier journal; then, once, what was running there is gone. */
int local_world_restore(struct local_world *world, const struct line *line, struct error *reterr);
void local_world_restored(struct local_world *world, msec_t now);

/*
 * Carry out a request of 'cluster'; not LOCAL_HELLO. What is for the asker alone is appended to
 * 'answer'.
 */
void local_world_obey(struct local_world *world, msec_t now, const char *cluster,
                      const struct local_request *request, struct line_text *answer);

/* At most so many of the offer at a time; -ENOENT: no such offer. */
int local_world_set_capacity(struct local_world *world, const char *offer, uint32_t count);

void local_world_set_fault(struct local_world *world, enum local_fault fault, uint32_t value);
uint32_t local_world_fault(const struct local_world *world, enum local_fault fault);

/* The machine's script runs; its last process has ended. */
void local_world_up(struct local_world *world, uint32_t row, msec_t now);
void local_world_down(struct local_world *world, uint32_t row, msec_t now);

/* No client of its cluster was connected for long, and no job runs there: it ends, and its bill with it. */
void local_world_end_idle(struct local_world *world, uint32_t row, msec_t now);

/* Of the machine. Good until the next rent. */
const char *local_world_cluster(const struct local_world *world, uint32_t row);

msec_t local_world_next_wake(const struct local_world *world);
void local_world_tick(struct local_world *world, msec_t now);

/* Kill everything; what is hosted is gone when it is down. */
void local_world_close(struct local_world *world, msec_t now);

#endif
