/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_burst.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/word_list.h"
#include "engine/slurm/slurm_job_line.h"
#include "trace/doc_value.h"
#include "trace/number.h"
#include "trace/owned_doc.h"

enum { BURSTS_MAX = 1024 };

/*
 * The configuration.
 */

static int read_burst(const struct settings *in, const struct doc_node *map,
                      struct slurm_burst *ret)
{
    static const char *const allowed[] = { "partition", "account", "after", "waiting_hour", NULL };
    int rc = doc_expect(map, DOC_MAP, in->reterr);

    if (rc == 0)
        rc = doc_allow_keys(map, allowed, in->reterr);
    if (rc == 0)
        rc = settings_word(in, map, "partition", &ret->partition);
    if (rc == 0)
        rc = settings_word(in, map, "account", &ret->account);
    if (rc == 0)
        rc = burst_keys_read(map, &ret->rule, in->reterr);
    return rc;
}

int slurm_bursts_read(const struct settings *in, const struct doc_node *map,
                      struct slurm_bursts *ret)
{
    struct slurm_bursts bursts = { 0 };
    const struct doc_node *list = NULL;
    int rc = burst_doc_read(map, &bursts.other, in->reterr);

    if (rc == 0)
        rc = doc_get_list(map, "bursts", &list, in->reterr);
    if (rc == 0 && list != NULL && list->count > BURSTS_MAX)
        return error_set(in->reterr, -E2BIG, "line %u: 'bursts' has more than %d entries",
                         list->line, BURSTS_MAX);
    if (rc == 0 && list != NULL) {
        bursts.row = ARENA_ARRAY(in->arena, struct slurm_burst, list->count);
        bursts.count = list->count;
        DOC_EACH(entry, list)
        {
            if (rc == 0)
                rc = read_burst(in, entry, &bursts.row[entry->index]);
        }
    }
    if (rc == 0)
        *ret = bursts;
    return rc;
}

static bool same_rule(const struct burst_rule *a, const struct burst_rule *b)
{
    return a->after_ms == b->after_ms && a->waiting_hour == b->waiting_hour;
}

bool slurm_bursts_same(const struct slurm_bursts *a, const struct slurm_bursts *b)
{
    if (a->count != b->count || !same_rule(&a->other, &b->other))
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!settings_same_text(a->row[i].partition, b->row[i].partition) ||
            !settings_same_text(a->row[i].account, b->row[i].account) ||
            !same_rule(&a->row[i].rule, &b->row[i].rule))
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

struct slurm_bursts slurm_bursts_copy(const struct slurm_bursts *from, struct arena *arena)
{
    struct slurm_bursts bursts = *from;

    bursts.row = ARENA_ARRAY(arena, struct slurm_burst, from->count);
    for (uint32_t i = 0; i < from->count; i++)
        bursts.row[i] = (struct slurm_burst){ .partition = copy_text(from->row[i].partition, arena),
                                              .account = copy_text(from->row[i].account, arena),
                                              .rule = from->row[i].rule };
    return bursts;
}

/*
 * Jobs.
 */

static const char prefix[] = "stint:";
static const char key[] = "burst=";

bool slurm_burst_is_word(const char *word, size_t length)
{
    return length >= strlen(key) && memcmp(word, key, strlen(key)) == 0;
}

/* "30m" or "never". */
static bool read_value(const char *text, size_t length, struct burst_rule *ret)
{
    msec_t after = 0;

    if (length == strlen("never") && memcmp(text, "never", length) == 0) {
        *ret = (struct burst_rule){ .after_ms = MSEC_NEVER };
        return true;
    }
    if (number_duration(text, length, &after) < 0 || after < 0 || after > LIMIT_TIME_MS)
        return false;
    *ret = (struct burst_rule){ .after_ms = after };
    return true;
}

static bool read_comment(const char *comment, struct burst_rule *ret)
{
    static const char separators[] = " ;\t\n";

    for (const char *at = comment + strspn(comment, separators); *at != '\0';
         at += strspn(at, separators)) {
        const size_t length = strcspn(at, separators);
        const size_t begin = strlen(prefix);

        if (length > begin && memcmp(at, prefix, begin) == 0 &&
            slurm_burst_is_word(at + begin, length - begin) &&
            !read_value(at + begin + strlen(key), length - begin - strlen(key), ret))
            return false;
        at += length;
    }
    return true;
}

bool slurm_burst_is_for(const struct slurm_job_line *line, const char *partition,
                        const char *account)
{
    if (partition != NULL && !word_list_has(line->partition, ",", partition, strlen(partition)))
        return false;
    return account == NULL || (line->account != NULL && strcmp(account, line->account) == 0);
}

bool slurm_burst_of(const struct slurm_bursts *bursts, const struct slurm_job_line *line,
                    struct burst_rule *ret)
{
    const struct slurm_burst *found = NULL;

    for (uint32_t i = 0; i < bursts->count && found == NULL; i++) {
        if (slurm_burst_is_for(line, bursts->row[i].partition, bursts->row[i].account))
            found = &bursts->row[i];
    }
    *ret = found != NULL ? found->rule : bursts->other;
    return line->user_comment == NULL || read_comment(line->user_comment, ret);
}
