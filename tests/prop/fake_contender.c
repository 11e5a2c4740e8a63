/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_contender.h"

#include <string.h>

void fake_contender_start(struct fake_contender *one, const char *token, const char *cluster,
                          msec_t begin, msec_t now)
{
    *one = (struct fake_contender){ .is_there = true, .begin = begin };
    slurm_lease_init(&one->lease, token, "host", cluster, 0);
    one->lease.next_at = now - begin;
}

void fake_contender_tick(struct fake_contender *one, struct fake_slurm *slurm, msec_t now)
{
    const msec_t clock = now - one->begin;

    while (one->is_there) {
        const struct slurm_lease_step step = slurm_lease_next(&one->lease, clock);
        struct slurm_lease_list list = { .now_s = 0 };
        enum slurm_lease_answer answer = SLURM_LEASE_FAILED;

        if (step.what == SLURM_LEASE_REST)
            break;
        if (!slurm->is_away)
            answer = fake_reservations_do(&slurm->leases, &one->lease, &step, now, &list);
        slurm_lease_told(&one->lease, &step, clock, clock, answer, &list);
    }
}

msec_t fake_contender_next_wake(const struct fake_contender *one)
{
    return one->is_there ? one->lease.next_at + one->begin : MSEC_NEVER;
}

bool fake_contender_acts(const struct fake_contender *one, msec_t now)
{
    return one->is_there && one->lease.until > now - one->begin;
}

void fake_contender_tell(struct fake_contender *one, struct line_text *out)
{
    static const char *const states[] = { "waits", "settles", "held" };
    const struct slurm_lease *now = &one->lease;

    if (!one->is_there ||
        (now->state == one->told.state && now->until == one->told.until &&
         strcmp(now->other, one->told.other) == 0 && strcmp(now->caller, one->told.caller) == 0))
        return;
    one->told = *now;
    line_text_begin(out, "lease");
    line_text_string(out, "state", states[now->state]);
    line_text_number(out, "epoch", now->epoch);
    line_text_number(out, "until", (uint64_t)now->until);
    line_text_string(out, "other", now->other);
    line_text_string(out, "caller", now->caller);
    line_text_end(out);
}
