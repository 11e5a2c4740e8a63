/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding_watch.h - which findings of the doctor are new, and which are no more.
 *
 * Findings are looked for when somebody asks. So that nobody must ask, the daemon asks itself every few
 * seconds and tells the difference:
 *
 *     finding_watch_begin(&watch);
 *     finding_watch_see(&watch, &finding);      each that there is; new ones are reported at once
 *     finding_watch_end(&watch);                those that were not seen are reported as gone
 *
 * A finding is the same if kind and subject are; its text may change all the time.
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
};

struct finding_watch_row {
    char severity[FINDING_WATCH_WORD];
    char kind[FINDING_WATCH_WORD];
    char subject[FINDING_WATCH_SUBJECT];
    bool is_seen;
};

struct finding_watch {
    struct finding_watch_row rows[FINDING_WATCH_MAX];
    uint32_t count;
    struct serve_finding_tally tallies[FINDING_WATCH_KINDS]; /* of all kinds that ever were */
    char words[FINDING_WATCH_KINDS][2][FINDING_WATCH_WORD];
    uint32_t tally_count;
    /* Whom to tell; either may be NULL. A finding that is gone has no text and no advice. */
    void (*on_new)(void *context, const struct finding *finding);
    void (*on_gone)(void *context, const struct finding *finding);
    void *context;
};

void finding_watch_begin(struct finding_watch *watch);
void finding_watch_see(struct finding_watch *watch, const struct finding *finding);
void finding_watch_end(struct finding_watch *watch);

#endif
