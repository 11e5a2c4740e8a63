/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/tempo.h"

#include <math.h>

void tempo_event(struct tempo *tempo, msec_t at)
{
    if (tempo->events == 0 || at < tempo->first_at)
        tempo->first_at = at;
    if (tempo->events == 0 || at > tempo->last_at)
        tempo->last_at = at;
    tempo->events++;
}

void tempo_full(struct tempo *tempo)
{
    tempo->fulls++;
}

msec_t tempo_expected(const struct tempo *tempo, msec_t now)
{
    if (tempo->fulls == 0 || tempo->events < 2)
        return now;
    if (tempo->fulls >= tempo->events)
        return 0;

    const double gap = (double)(tempo->last_at - tempo->first_at) / (double)(tempo->events - 1);
    const double p = (double)tempo->fulls / (double)tempo->events;

    return (msec_t)(-gap / log(1.0 - p));
}
