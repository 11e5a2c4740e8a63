/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_markets.h"

#include <errno.h>
#include <string.h>

#include "trace/doc_value.h"

enum { MARKETS_MAX = 1024 };

static int read_entry(const struct doc_node *entry, struct scenario_market *ret,
                      struct error *reterr)
{
    static const char *const allowed[] = { "user", "workload", "market", "after", "within", NULL };
    int rc = doc_expect(entry, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(entry, allowed, reterr);
    if (rc == 0)
        rc = doc_get_name(entry, "user", &ret->user, reterr);
    if (rc == 0)
        rc = doc_get_name(entry, "workload", &ret->workload, reterr);
    if (rc == 0)
        rc = market_words_of(entry, &ret->words, reterr);
    return rc;
}

int scenario_markets_read(const struct doc_node *root, struct arena *arena,
                          struct scenario_markets *ret, struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(root, "markets", &list, reterr);

    if (rc < 0 || list == NULL)
        return rc;
    if (list->count > MARKETS_MAX)
        return error_set(reterr, -E2BIG, "line %u: 'markets' has more than %d entries", list->line,
                         MARKETS_MAX);
    ret->row = ARENA_ARRAY(arena, struct scenario_market, list->count);
    ret->count = list->count;
    DOC_EACH(entry, list)
    {
        if (rc == 0)
            rc = read_entry(entry, &ret->row[entry->index], reterr);
    }
    return rc;
}

static bool is_for(const char *wanted, const char *text)
{
    return wanted == NULL || strcmp(wanted, text) == 0;
}

static const struct scenario_market *find(const struct scenario_markets *markets,
                                          const struct trace *trace, const struct trace_job *job)
{
    const struct shape *shape = &trace->shapes.rows[job->shape];

    for (uint32_t i = 0; i < markets->count; i++) {
        if (is_for(markets->row[i].user, names_text(&trace->users, job->user)) &&
            is_for(markets->row[i].workload, names_text(&trace->shapes.workloads, shape->workload)))
            return &markets->row[i];
    }
    return NULL;
}

void scenario_markets_apply(const struct scenario_markets *markets, struct trace *trace)
{
    for (uint32_t i = 0; i < trace->job_count && markets->count > 0; i++) {
        struct trace_job *job = &trace->jobs[i];
        const struct scenario_market *market =
            job_has_rules(&job->rules) ? NULL : find(markets, trace, job);

        if (market == NULL)
            continue;
        job->rules = market_words_rules(&market->words, job->arrival_ms);
        if (job_has_rules(&job->rules))
            job->shape = shapes_by_market(&trace->shapes, job->shape);
    }
}
