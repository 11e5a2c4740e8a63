/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_threads.h"

#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"

struct work {
    const struct replay_input *input;
    const struct replay_rhythm *rhythm;
    const struct policy *const *chosen;
    struct replay_run *runs;
    struct error *errors; /* of each policy */
    int *codes;
    pthread_mutex_t lock;
    uint32_t left; /* policies that nobody has begun: the first ones */
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
    uint32_t i;

    while (take(work, &i))
        work->codes[i] = replay_run(work->input, work->rhythm, work->chosen[i], &work->runs[i],
                                    &work->errors[i]);
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

int replay_run_all(const struct replay_input *input, const struct replay_rhythm *rhythm,
                   const struct policy *const *chosen, uint32_t count, struct replay_run *runs,
                   struct error *reterr)
{
    struct work work = {
        .input = input,
        .rhythm = rhythm,
        .chosen = chosen,
        .runs = runs,
        .errors = mem_alloc(count, sizeof(*work.errors)),
        .codes = mem_alloc(count, sizeof(*work.codes)),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .left = count,
    };
    pthread_t threads[REPLAY_THREADS_MAX];
    const uint32_t wanted = count > 0 ? helpers(count, input->trace.task_total) : 0;
    uint32_t started = 0;
    int rc = 0;

    while (started < wanted && pthread_create(&threads[started], NULL, run, &work) == 0)
        started++; /* if none can be had, this one does it all */
    (void)run(&work);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    for (uint32_t i = count; i-- > 0;) {
        if (work.codes[i] < 0) {
            *reterr = work.errors[i];
            rc = error_prefix(reterr, work.codes[i], chosen[i]->name);
        }
    }
    mem_free(work.errors);
    mem_free(work.codes);
    return rc;
}
