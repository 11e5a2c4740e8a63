/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/finding_watch.h"

#include <stdio.h>
#include <string.h>

static void put(char *to, size_t size, const char *text)
{
    (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

/* The tally of that kind and severity; NULL: there are too many. */
static struct serve_finding_tally *tally_of(struct finding_watch *watch, const char *kind,
                                            const char *severity)
{
    for (uint32_t i = 0; i < watch->tally_count; i++) {
        struct serve_finding_tally *tally = &watch->tallies[i];

        if (strcmp(tally->kind, kind) == 0 && strcmp(tally->severity, severity) == 0)
            return tally;
    }
    if (watch->tally_count == FINDING_WATCH_KINDS)
        return NULL;

    char(*words)[FINDING_WATCH_WORD] = watch->words[watch->tally_count];
    struct serve_finding_tally *fresh = &watch->tallies[watch->tally_count++];

    put(words[0], sizeof(words[0]), kind);
    put(words[1], sizeof(words[1]), severity);
    *fresh = (struct serve_finding_tally){ .kind = words[0], .severity = words[1] };
    return fresh;
}

void finding_watch_begin(struct finding_watch *watch, msec_t now)
{
    watch->now = now;
    for (uint32_t i = 0; i < watch->count; i++)
        watch->rows[i].is_seen = false;
    for (uint32_t i = 0; i < watch->tally_count; i++)
        watch->tallies[i].now = 0;
}

static struct finding_watch_row *find(struct finding_watch *watch,
                                      const struct finding_watch_row *like)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        struct finding_watch_row *row = &watch->rows[i];

        if (strcmp(row->kind, like->kind) == 0 && strcmp(row->subject, like->subject) == 0)
            return row;
    }
    return NULL;
}

void finding_watch_see(struct finding_watch *watch, const struct finding *finding)
{
    struct finding_watch_row row = { .since = watch->now, .is_seen = true };

    put(row.severity, sizeof(row.severity), finding->severity);
    put(row.kind, sizeof(row.kind), finding->kind);
    put(row.subject, sizeof(row.subject), finding->subject);

    struct finding_watch_row *known = find(watch, &row);
    struct serve_finding_tally *tally = tally_of(watch, row.kind, row.severity);

    if (tally != NULL && (known == NULL || !known->is_seen))
        tally->now++;
    if (known != NULL) {
        known->is_seen = true;
        return;
    }
    if (watch->count == FINDING_WATCH_MAX)
        return;
    watch->rows[watch->count++] = row;
    if (tally != NULL)
        tally->appeared++;
    if (watch->on_new != NULL)
        watch->on_new(watch->context, finding);
}

/* The oldest makes room. */
static void keep_past(struct finding_watch *watch, const struct finding_watch_row *row)
{
    if (watch->past_count == FINDING_WATCH_PAST)
        memmove(watch->past, watch->past + 1, --watch->past_count * sizeof(*watch->past));
    watch->past[watch->past_count] = *row;
    watch->past[watch->past_count++].until = watch->now;
}

void finding_watch_each_past(const struct finding_watch *watch, msec_t now,
                             void (*each)(void *to, const struct serve_past_finding *past),
                             void *to)
{
    for (uint32_t i = watch->past_count; i > 0; i--) {
        const struct finding_watch_row *row = &watch->past[i - 1];

        if (now - row->until < FINDING_WATCH_PAST_MS)
            each(to, &(struct serve_past_finding){ .severity = row->severity,
                                                   .kind = row->kind,
                                                   .subject = row->subject,
                                                   .since = row->since,
                                                   .until = row->until });
    }
}

void finding_watch_end(struct finding_watch *watch)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < watch->count; i++) {
        const struct finding_watch_row *row = &watch->rows[i];

        if (row->is_seen) {
            watch->rows[kept++] = *row;
            continue;
        }
        keep_past(watch, row);
        if (watch->on_gone != NULL)
            watch->on_gone(watch->context, &(struct finding){ .severity = row->severity,
                                                              .kind = row->kind,
                                                              .subject = row->subject,
                                                              .text = "",
                                                              .advice = "" });
    }
    watch->count = kept;
}
