/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/timeline.h"

#include "base/rng.h"
#include "base/test/check.h"

TEST(events_come_by_time_then_rank_then_order_of_entry)
{
    static const struct timeline_event in[] = {
        { .at = 20, .rank = 0, .who = 3 }, { .at = 10, .rank = 1, .who = 1 },
        { .at = 10, .rank = 1, .who = 2 }, { .at = 10, .rank = 0, .who = 0 },
        { .at = 20, .rank = 0, .who = 4 },
    };
    struct timeline timeline;

    timeline_init(&timeline);
    for (uint32_t i = 0; i < 5; i++)
        timeline_add(&timeline, in[i]);

    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(timeline_take(&timeline).who, i);
    assert_null(timeline_first(&timeline));
    timeline_done(&timeline);
}

/* 'who' of an event is its place in this array. */
static bool is_marked(const void *context, const struct timeline_event *event)
{
    return ((const bool *)context)[event->who];
}

/* Two timelines with the same events: one is swept now and then, of the other the marked events are
 * passed over as they come. */
TEST(what_is_not_swept_out_comes_as_if_nothing_had_been)
{
    enum { EVENTS = 20000 };
    static bool marked[EVENTS];
    struct timeline swept;
    struct timeline whole;
    struct rng rng;
    uint32_t taken = 0;

    timeline_init(&swept);
    timeline_init(&whole);
    rng_init(&rng, 11, 0);
    for (uint32_t i = 0; i < EVENTS; i++) {
        const struct timeline_event event = {
            .at = (msec_t)(i + rng_below(&rng, 500)), /* many at the same moment */
            .rank = (uint32_t)rng_below(&rng, 3),
            .who = i,
        };

        timeline_add(&swept, event);
        timeline_add(&whole, event);
        marked[rng_below(&rng, i + 1)] = true;
        if (rng_below(&rng, 300) == 0)
            timeline_sweep(&swept, is_marked, marked);
    }
    timeline_sweep(&swept, is_marked, marked);

    while (whole.count > 0) {
        const struct timeline_event event = timeline_take(&whole);

        if (marked[event.who])
            continue;
        assert_true(swept.count > 0);
        assert_int_equal(timeline_take(&swept).who, event.who);
        taken++;
    }
    assert_int_equal(swept.count, 0);
    assert_in_range(taken, EVENTS / 10, EVENTS * 9 / 10);
    timeline_done(&swept);
    timeline_done(&whole);
}

CHECK_MAIN(RUN(events_come_by_time_then_rank_then_order_of_entry),
           RUN(what_is_not_swept_out_comes_as_if_nothing_had_been))
