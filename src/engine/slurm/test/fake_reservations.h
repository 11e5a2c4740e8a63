/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_reservations.h - slurmctld's reservations, as far as the lease needs them: a name is created once, and updates go by name.
 */
#ifndef STINT_ENGINE_FAKE_RESERVATIONS_H
#define STINT_ENGINE_FAKE_RESERVATIONS_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/slurm/slurm_lease.h"

enum { FAKE_RESERVATIONS = 64 };

struct fake_reservations {
    struct fake_reservation {
        char name[SLURM_LEASE_NAME];
        char text[SLURM_LEASE_TEXT];
        msec_t end;
    } row[FAKE_RESERVATIONS];
    uint32_t count;
};

static inline struct fake_reservation *fake_reservation(struct fake_reservations *records,
                                                        const char *name)
{
    for (uint32_t i = 0; i < records->count; i++) {
        if (strcmp(records->row[i].name, name) == 0)
            return &records->row[i];
    }
    return NULL;
}

/* What becomes of the step at 'now', by slurmctld's clock. */
static inline enum slurm_lease_answer fake_reservations_do(struct fake_reservations *records,
                                                           const struct slurm_lease *lease,
                                                           const struct slurm_lease_step *step,
                                                           msec_t now, struct slurm_lease_list *ret)
{
    struct fake_reservation *record = fake_reservation(records, step->name);
    const msec_t end = now + step->seconds * MSEC_PER_SEC;

    switch (step->what) {
    case SLURM_LEASE_CREATE:
        if (record != NULL)
            return SLURM_LEASE_TAKEN;
        assert(records->count < FAKE_RESERVATIONS);
        record = &records->row[records->count++];
        (void)snprintf(record->name, sizeof(record->name), "%s", step->name);
        (void)snprintf(record->text, sizeof(record->text), "%s", lease->text);
        record->end = end;
        return SLURM_LEASE_DONE;
    case SLURM_LEASE_EXTEND:
        if (record == NULL)
            return SLURM_LEASE_GONE;
        record->end = end;
        return SLURM_LEASE_DONE;
    case SLURM_LEASE_REMOVE:
        if (record == NULL)
            return SLURM_LEASE_GONE;
        *record = records->row[--records->count];
        return SLURM_LEASE_DONE;
    case SLURM_LEASE_LOOK:
        *ret = (struct slurm_lease_list){ .now_s = now / MSEC_PER_SEC };
        for (uint32_t i = 0; i < records->count; i++)
            slurm_lease_add(ret, lease, records->row[i].name, records->row[i].end / MSEC_PER_SEC,
                            records->row[i].text);
        return SLURM_LEASE_DONE;
    case SLURM_LEASE_REST:
        break;
    }
    return SLURM_LEASE_DONE;
}

#endif
