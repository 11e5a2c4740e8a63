/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding_watch.h - which findings of the doctor are new, and which are no more.
 *
 * Findings are looked for when somebody asks. So that nobody must ask, the daemon asks itself every few
 * seconds and tells the difference:
 *
 *     finding_watch_begin(&watch, now);
 *     finding_watch_see(&watch, &finding);      each that there is; new ones are reported at once
 *     finding_watch_end(&watch);                those that were not seen are reported as gone
 *
 * A finding is the same if kind and subject are; its text may change all the time. The last ones that are gone are kept
 * for a while: a fault may heal before anybody looks.
 *
 * Promises:  each is reported once when it appears and once when it is gone. Beyond FINDING_WATCH_MAX at a
 *            time, further ones are counted, but not reported.
 * Costs:     O(findings of now times findings of before); there are few.
 */
#ifndef STINT_DAEMON_FINDING_WATCH_H
#define STINT_DAEMON_FINDING_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/serve.h"

enum {
    FINDING_WATCH_MAX = 512,
    FINDING_WATCH_KINDS = 64, /* with their severity */
    FINDING_WATCH_WORD = 32,
    FINDING_WATCH_SUBJECT = 128,
    FINDING_WATCH_PAST = 32,
};

#define FINDING_WATCH_PAST_MS (INT64_C(10) * 60 * MSEC_PER_SEC)

struct finding_watch_row {
    char severity[FINDING_WATCH_WORD];
    char kind[FINDING_WATCH_WORD];
    char subject[FINDING_WATCH_SUBJECT];
    msec_t since;
    msec_t until; /* of one that is gone */
    bool is_seen;
};

struct finding_watch {
    struct finding_watch_row rows[FINDING_WATCH_MAX];
    uint32_t count;
    struct finding_watch_row past[FINDING_WATCH_PAST]; /* gone, the oldest first */
    uint32_t past_count;
    msec_t now;
    struct serve_finding_tally tallies[FINDING_WATCH_KINDS]; /* of all kinds that ever were */
    char words[FINDING_WATCH_KINDS][2][FINDING_WATCH_WORD];
    uint32_t tally_count;
    /* Whom to tell; either may be NULL. A finding that is gone has no text and no advice. */
    void (*on_new)(void *context, const struct finding *finding);
    void (*on_gone)(void *context, const struct finding *finding);
    void *context;
};

void finding_watch_begin(struct finding_watch *watch, msec_t now);
void finding_watch_see(struct finding_watch *watch, const struct finding *finding);
void finding_watch_end(struct finding_watch *watch);

/* Those that are gone since FINDING_WATCH_PAST_MS, the last first. */
void finding_watch_each_past(const struct finding_watch *watch, msec_t now,
                             void (*each)(void *to, const struct serve_past_finding *past),
                             void *to);

#endif
