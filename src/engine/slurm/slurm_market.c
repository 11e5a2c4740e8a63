/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_market.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "engine/slurm/slurm_burst.h"
#include "engine/slurm/slurm_job_line.h"
#include "engine/slurm/slurm_rate.h"
#include "trace/doc_value.h"

enum { MARKETS_MAX = 1024 };

/*
 * The configuration.
 */

static int read_market(const struct settings *in, const struct doc_node *map,
                       struct slurm_market *ret)
{
    static const char *const allowed[] = {
        "partition", "account", "market", "after", "within", NULL
    };
    int rc = doc_expect(map, DOC_MAP, in->reterr);

    if (rc == 0)
        rc = doc_allow_keys(map, allowed, in->reterr);
    if (rc == 0)
        rc = settings_word(in, map, "partition", &ret->partition);
    if (rc == 0)
        rc = settings_word(in, map, "account", &ret->account);
    if (rc == 0)
        rc = market_words_of(map, &ret->words, in->reterr);
    return rc;
}

int slurm_markets_read(const struct settings *in, const struct doc_node *map,
                       struct slurm_markets *ret)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(map, "markets", &list, in->reterr);

    if (rc < 0 || list == NULL)
        return rc;
    if (list->count > MARKETS_MAX)
        return error_set(in->reterr, -E2BIG, "line %u: 'markets' has more than %d entries",
                         list->line, MARKETS_MAX);

    struct slurm_markets markets = {
        .row = ARENA_ARRAY(in->arena, struct slurm_market, list->count),
        .count = list->count,
    };

    DOC_EACH(entry, list)
    {
        if (rc == 0)
            rc = read_market(in, entry, &markets.row[entry->index]);
    }
    if (rc == 0)
        *ret = markets;
    return rc;
}

static bool same_words(const struct market_words *a, const struct market_words *b)
{
    return a->market == b->market && a->spot_for_ms == b->spot_for_ms &&
           a->within_ms == b->within_ms;
}

bool slurm_markets_same(const struct slurm_markets *a, const struct slurm_markets *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!settings_same_text(a->row[i].partition, b->row[i].partition) ||
            !settings_same_text(a->row[i].account, b->row[i].account) ||
            !same_words(&a->row[i].words, &b->row[i].words))
            return false;
    }
    return true;
}

static const char *copy_text(const char *text, struct arena *arena)
{
    char *own = NULL;

    if (text == NULL)
        return NULL;
    own = ARENA_ARRAY(arena, char, strlen(text) + 1);
    memcpy(own, text, strlen(text) + 1);
    return own;
}

struct slurm_markets slurm_markets_copy(const struct slurm_markets *from, struct arena *arena)
{
    struct slurm_markets markets = { .row = ARENA_ARRAY(arena, struct slurm_market, from->count),
                                     .count = from->count };

    for (uint32_t i = 0; i < from->count; i++)
        markets.row[i] =
            (struct slurm_market){ .partition = copy_text(from->row[i].partition, arena),
                                   .account = copy_text(from->row[i].account, arena),
                                   .words = from->row[i].words };
    return markets;
}

/*
 * Jobs.
 */

static const char prefix[] = "stint:";

/* Read the words of the comment that are for us; 'ret' is left alone if there are none. False: they are not understood. */
static bool read_comment(const char *comment, const char *move_word, struct market_words *ret)
{
    static const char separators[] = " ;\t\n";
    const size_t move = strlen(move_word);
    bool is_found = false;

    for (const char *at = comment + strspn(comment, separators); *at != '\0';
         at += strspn(at, separators)) {
        const char *word = at;
        size_t length = strcspn(at, separators);

        at += length;
        if (length < strlen(prefix) || strncmp(word, prefix, strlen(prefix)) != 0)
            continue;
        if (length >= move && strncmp(word, move_word, move) == 0 &&
            (length == move || word[move] == ',')) {
            if (length <= move + 1)
                continue;
            word += move + 1; /* "stint:move,market=spot" */
            length -= move + 1;
        } else {
            word += strlen(prefix);
            length -= strlen(prefix);
        }
        if (slurm_burst_is_word(word, length) || slurm_rate_is_word(word, length))
            continue;
        if (is_found || market_words_read(word, length, ret, NULL) < 0)
            return false;
        is_found = true;
    }
    return true;
}

static struct market_words configured(const struct slurm_markets *markets,
                                      const struct slurm_job_line *line)
{
    for (uint32_t i = 0; i < markets->count; i++) {
        if (slurm_burst_is_for(line, markets->row[i].partition, markets->row[i].account))
            return markets->row[i].words;
    }
    return (struct market_words){ .market = MARKET_RULE_ANY };
}

bool slurm_market_of(const struct slurm_markets *markets, const struct slurm_job_line *line,
                     const char *move_word, struct slurm_market_rules *ret)
{
    *ret = (struct slurm_market_rules){ .words = configured(markets, line) };
    if (line->deadline != NUMBER_NONE && line->deadline > 0 &&
        line->deadline <= LIMIT_TIME_MS / MSEC_PER_SEC)
        ret->deadline = (msec_t)line->deadline * MSEC_PER_SEC;
    return line->user_comment == NULL || read_comment(line->user_comment, move_word, &ret->words);
}

bool slurm_market_same(const struct slurm_market_rules *a, const struct slurm_market_rules *b)
{
    return a->deadline == b->deadline && a->caps == b->caps && same_words(&a->words, &b->words) &&
           a->burst.after_ms == b->burst.after_ms && a->burst.waiting_hour == b->burst.waiting_hour;
}

struct job_rules slurm_market_rules(const struct slurm_market_rules *rules, msec_t eligible)
{
    struct job_rules job = market_words_rules(&rules->words, eligible);

    if (rules->deadline > 0 && (job.deadline == 0 || rules->deadline < job.deadline))
        job.deadline = rules->deadline;
    return job;
}
