/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_threads.h"

#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"

struct work {
    const struct replay_all *all;
    struct error *errors; /* of each policy */
    int *codes;
    pthread_mutex_t lock;
    uint32_t
        left; /* what nobody has begun: the first ones, of which the very first is the baselines */
};

/* The next to be done, the last first: those that take long stand there by default. False: there is none. */
static bool take(struct work *work, uint32_t *ret)
{
    bool is_some;

    (void)pthread_mutex_lock(&work->lock);
    is_some = work->left > 0;
    if (is_some)
        *ret = --work->left;
    (void)pthread_mutex_unlock(&work->lock);
    return is_some;
}

static void *run(void *pointer)
{
    struct work *work = pointer;
    const struct replay_all *all = work->all;
    uint32_t i;

    while (take(work, &i)) {
        if (i == 0)
            replay_baselines(all->input, all->suspend_ms, all->baselines);
        else
            work->codes[i - 1] = replay_run(all->input, all->rhythm, all->chosen[i - 1],
                                            &all->runs[i - 1], &work->errors[i - 1]);
    }
    return NULL;
}

/* How many threads besides this one are of use, and have the memory. */
static uint32_t helpers(uint32_t count, uint32_t tasks)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = processors < 1 ? 1 : (uint32_t)processors;

    if (most > REPLAY_THREADS_MAX)
        most = REPLAY_THREADS_MAX;
    while (most > 1 && (uint64_t)tasks * most > REPLAY_TASKS_AT_ONCE)
        most--;
    return (most < count ? most : count) - 1;
}

int replay_run_all(const struct replay_all *all, struct error *reterr)
{
    struct work work = {
        .all = all,
        .errors = mem_alloc(all->count, sizeof(*work.errors)),
        .codes = mem_alloc(all->count, sizeof(*work.codes)),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .left = all->count + 1,
    };
    pthread_t threads[REPLAY_THREADS_MAX];
    const uint32_t wanted = helpers(all->count + 1, all->input->trace.task_total);
    uint32_t started = 0;
    int rc = 0;

    while (started < wanted && pthread_create(&threads[started], NULL, run, &work) == 0)
        started++; /* if none can be had, this one does it all */
    (void)run(&work);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    for (uint32_t i = all->count; i-- > 0;) {
        if (work.codes[i] < 0) {
            *reterr = work.errors[i];
            rc = error_prefix(reterr, work.codes[i], all->chosen[i]->name);
        }
    }
    mem_free(work.errors);
    mem_free(work.codes);
    return rc;
}
