/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that name many jobs: one line, or a few, for all of them, tasks of one array in one expression.
 *
 * Costs:  O(jobs log jobs); a line of 64 KB for thousands of jobs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_spell.h"

enum { JOBS_LINE_MAX = 1 << 16 };

/* How Slurm calls it: by its own id, or "12_3" while it has none, or one that stands for the whole array,
 * which is what the last of its tasks gets. */
void slurm_job_print(const struct slurm_engine *engine, const struct slurm_job *job, char *buf,
                     size_t size)
{
    const uint32_t array = (uint32_t)(job->id >> (ID_RANK_BITS + ID_INDEX_BITS)) & ID_JOB_MAX;

    if (job->array == INDEX_NONE || (job->is_split && job->record != array))
        (void)snprintf(buf, size, "%" PRIu32, job->record);
    else
        (void)slurm_engine_label(engine, job->id, buf, size);
}

/* A request that names many jobs. */
struct release {
    struct slurm_engine *engine;
    const char *word;
    enum slurm_ask_kind kind;
    struct line_text list;
};

static void end_release(struct release *release)
{
    struct slurm_engine *engine = release->engine;

    if (release->list.size == 0)
        return;
    line_text_append(&release->list, "", 1);
    (void)slurm_ask_begin(engine, release->word);
    line_text_string(&engine->out, "jobs", release->list.text);
    if (release->kind == ASK_RELEASE)
        line_text_string(&engine->out, "partition", engine->config.partition);
    slurm_ask_end(engine, release->kind, 0);
    line_text_reset(&release->list);
}

static void add_release(struct release *release, const char *job)
{
    if (release->list.size > JOBS_LINE_MAX)
        end_release(release);
    if (release->list.size > 0)
        line_text_append(&release->list, ",", 1);
    line_text_append(&release->list, job, (uint32_t)strlen(job));
}

/* Rows that are queued, sorted by id: tasks of one array stand together, in their order. */
static void release_array(struct release *release, const uint64_t *ids, uint32_t count)
{
    const uint32_t array = (uint32_t)(ids[0] >> (ID_RANK_BITS + ID_INDEX_BITS)) & ID_JOB_MAX;
    uint32_t *index = mem_alloc(count, sizeof(*index));
    char ranges[SLURM_EXPRESSION_SIZE];
    char expression[SLURM_EXPRESSION_SIZE + 16];

    for (uint32_t i = 0; i < count; i++)
        index[i] = (uint32_t)(ids[i] >> ID_RANK_BITS & (((uint64_t)1 << ID_INDEX_BITS) - 1)) - 1;
    for (uint32_t from = 0; from < count;) {
        from = slurm_spell_ranges(index, from, count, ranges, sizeof(ranges) - 16);
        (void)snprintf(expression, sizeof(expression), "%" PRIu32 "_[%s]", array, ranges);
        add_release(release, expression);
    }
    mem_free(index);
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void slurm_ask_jobs(struct slurm_engine *engine, const char *word, enum slurm_ask_kind kind,
                    uint64_t *ids, uint32_t count)
{
    struct release release = { .engine = engine, .word = word, .kind = kind };
    char label[SLURM_LABEL_SIZE];

    qsort(ids, count, sizeof(*ids), compare_u64);
    for (uint32_t i = 0; i < count;) {
        const struct slurm_job *job = slurm_job_of(engine, ids[i]);
        uint32_t last = i + 1;

        if (job->array == INDEX_NONE || job->is_split) {
            slurm_job_print(engine, job, label, sizeof(label));
            add_release(&release, label);
            i++;
            continue;
        }
        while (last < count) {
            const struct slurm_job *other = slurm_job_of(engine, ids[last]);

            if (other->array != job->array || other->is_split)
                break;
            last++;
        }
        release_array(&release, ids + i, last - i);
        i = last;
    }
    end_release(&release);
    line_text_done(&release.list);
}
