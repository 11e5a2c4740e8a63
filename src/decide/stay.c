/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/stay.h"

/* How long the task did not run for the sake of being where it is: by the delays of its shape, and by
 * the start of the machine if that was not ready. */
static msec_t arrival_took(const struct view *view, uint32_t task)
{
    static const msec_t least = 60 * MSEC_PER_SEC; /* not all delays are known */

    const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;
    const uint32_t instance = view->task.instance[task];
    const msec_t boot = view->instance.ready_expected[instance] - view->task.bound_at[task];
    const msec_t took = delays->kill_ms + delays->upload_ms + delays->fetch_ms + delays->build_ms +
                        delays->init_ms + (boot > 0 ? boot : 0);

    return took > least ? took : least;
}

msec_t stay_until(const struct view *view, uint32_t task, int64_t times)
{
    enum { DOUBLINGS_MAX = 16 };

    const uint32_t stops = view->task.stops[task];
    const uint32_t doublings = stops <= DOUBLINGS_MAX ? stops - 1 : DOUBLINGS_MAX;

    if (stops == 0)
        return view->now;

    const msec_t once = arrival_took(view, task) << doublings;

    return times < MSEC_NEVER / 2 / once ? view->task.launched_at[task] + times * once : MSEC_NEVER;
}
