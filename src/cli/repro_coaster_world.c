/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/progress.h"
#include "cli/repro_coaster.h"

const char *const coaster_window_words[COASTER_SCORES] = { "YH1", "YH2", "both" };

int coaster_read_trace(const char *file, const char *compressed, struct hybrid_trace *ret,
                       struct error *reterr)
{
    struct input_file text = { 0 };
    int rc = repro_read_data(file, &text, reterr);

    if (rc == -ENOENT)
        rc = repro_read_data(compressed, &text, reterr);
    if (rc == 0)
        rc = hybrid_trace_read(text.text, text.length, ret, reterr);
    input_file_done(&text);
    return rc;
}

int coaster_world_load(struct coaster_world *world, uint32_t jobs, struct error *reterr)
{
    int rc;

    *world = (struct coaster_world){ 0 };
    rc = coaster_read_trace("hybrid/YH1_sub.tr", "hybrid/YH1_sub.tr.zst", &world->windows[0],
                            reterr);
    if (rc == 0)
        rc = coaster_read_trace("hybrid/YH2_sub.tr", "hybrid/YH2_sub.tr.zst", &world->windows[1],
                                reterr);
    if (rc != 0) {
        coaster_world_done(world);
        return rc;
    }
    for (int i = 0; i < COASTER_WINDOWS; i++)
        hybrid_trace_keep_first(&world->windows[i], jobs);
    return 0;
}

void coaster_world_done(struct coaster_world *world)
{
    for (int i = 0; i < COASTER_WINDOWS; i++)
        hybrid_trace_done(&world->windows[i]);
}

/*
 * Runs.
 */

/* So many of a cluster as of the paper's. */
static uint32_t scale(const struct coaster_setting *setting, uint32_t servers)
{
    const uint32_t cluster = setting->cluster > 0 ? setting->cluster : COASTER_SERVERS;
    const uint32_t scaled = (uint32_t)((uint64_t)servers * cluster / COASTER_SERVERS);

    return scaled > 0 ? scaled : 1;
}

uint32_t coaster_most(const struct coaster_setting *setting)
{
    const uint32_t replaced = setting->replaced > 0 ? setting->replaced : COASTER_REPLACED;

    return short_partition_budget(scale(setting, replaced), setting->ratio);
}

static struct shortlong_config config_of(const struct coaster_setting *setting,
                                         const struct hybrid_trace *trace, uint64_t seed)
{
    struct shortlong_config config = shortlong_eagle(trace);

    config.short_servers = scale(setting, setting->servers);
    config.long_servers = scale(setting, COASTER_SERVERS - COASTER_STATIC);
    config.rule.most = coaster_most(setting);
    config.rule.threshold_ppm = 950000;
    config.rule.strict = !setting->loose;
    if (setting->boot_ms > 0)
        config.boot_ms = setting->boot_ms;
    config.mean_life_ms = setting->mean_life_ms;
    config.idle_pull = setting->idle_pull;
    config.boundary_pull = setting->boundary_pull;
    config.seed = seed;
    return config;
}

static double hours(msec_t ms)
{
    return (double)ms / (double)MSEC_PER_HOUR;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* Add what is known of delays in order; all scores are sums until the last seed has run. */
static void add_delays(struct coaster_score *score, const msec_t *delays, uint32_t count)
{
    const uint64_t last_percent = (uint64_t)count * 99 / 100;
    double sum = 0;

    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)delays[i];
    score->mean += sum / count / (double)MSEC_PER_SEC;
    score->p99 += (double)delays[last_percent] / (double)MSEC_PER_SEC;
    score->max += (double)delays[count - 1] / (double)MSEC_PER_SEC;
}

static void add_run(struct coaster_score *score, const struct shortlong_result *run)
{
    const double life_max = hours(run->life_max_ms);

    add_delays(score, run->delays, run->short_tasks);
    score->transients += ratio((double)run->up_ms, (double)(run->end_ms - run->first_ms));
    score->transients_arrival +=
        ratio((double)run->up_until_last_ms, (double)(run->last_ms - run->first_ms));
    score->life_hours += ratio(hours(run->life_sum_ms), run->ready_count);
    score->long_seconds +=
        ratio((double)run->long_sum_ms / (double)MSEC_PER_SEC, (double)run->long_jobs);
    score->in_long += ratio(run->short_in_long, run->short_tasks);
    score->lost += run->lost_count;
    if (run->peak > score->peak)
        score->peak = run->peak;
    if (life_max > score->life_max_hours)
        score->life_max_hours = life_max;
}

static int compare_times(const void *left, const void *right)
{
    const msec_t a = *(const msec_t *)left;
    const msec_t b = *(const msec_t *)right;

    return (a > b) - (a < b);
}

/* The delays of several runs in one order. */
static uint32_t pool_delays(const struct shortlong_result runs[COASTER_WINDOWS], msec_t **ret)
{
    uint32_t count = 0;

    for (int i = 0; i < COASTER_WINDOWS; i++)
        count += runs[i].short_tasks;
    *ret = mem_alloc(count > 0 ? count : 1, sizeof(**ret));
    count = 0;
    for (int i = 0; i < COASTER_WINDOWS; i++) {
        for (uint32_t k = 0; k < runs[i].short_tasks; k++)
            (*ret)[count++] = runs[i].delays[k];
    }
    qsort(*ret, count, sizeof(**ret), compare_times);
    return count;
}

static void run_windows(const struct coaster_world *world, const struct coaster_setting *setting,
                        uint64_t seed, struct shortlong_result runs[COASTER_WINDOWS])
{
    for (int i = 0; i < COASTER_WINDOWS; i++) {
        const struct shortlong_config config = config_of(setting, &world->windows[i], seed);

        shortlong_run(&config, &runs[i]);
    }
}

static void done_windows(struct shortlong_result runs[COASTER_WINDOWS])
{
    for (int i = 0; i < COASTER_WINDOWS; i++)
        shortlong_result_done(&runs[i]);
}

static void divide(struct coaster_score *score, double seeds)
{
    score->mean /= seeds;
    score->p99 /= seeds;
    score->max /= seeds;
    score->transients /= seeds;
    score->transients_arrival /= seeds;
    score->life_hours /= seeds;
    score->long_seconds /= seeds;
    score->in_long /= seeds;
    score->lost /= seeds;
}

void coaster_measure(const struct coaster_world *world, const struct coaster_setting *setting,
                     uint64_t seed, uint32_t seeds, struct coaster_score ret[COASTER_SCORES])
{
    const clock_t began = clock();
    struct progress progress;

    memset(ret, 0, COASTER_SCORES * sizeof(*ret));
    progress_start(&progress, setting->label);
    for (uint32_t k = 0; k < seeds; k++) {
        struct shortlong_result runs[COASTER_WINDOWS];
        msec_t *pooled = NULL;

        run_windows(world, setting, seed + k, runs);
        for (int i = 0; i < COASTER_WINDOWS; i++)
            add_run(&ret[i], &runs[i]);

        const uint32_t count = pool_delays(runs, &pooled);

        add_delays(&ret[COASTER_POOLED], pooled, count);
        mem_free(pooled);
        done_windows(runs);
        progress_step(&progress, k + 1, seeds);
    }
    progress_end(&progress);
    for (int i = 0; i < COASTER_SCORES; i++) {
        divide(&ret[i], seeds);
        ret[i].seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    }
}

uint32_t coaster_delays(const struct coaster_world *world, const struct coaster_setting *setting,
                        uint64_t seed, msec_t **ret)
{
    struct shortlong_result runs[COASTER_WINDOWS];

    run_windows(world, setting, seed, runs);

    const uint32_t count = pool_delays(runs, ret);

    done_windows(runs);
    return count;
}

double coaster_bill(const struct coaster_setting *setting, const struct coaster_score *score)
{
    return setting->servers + ratio(score->transients, setting->ratio);
}
