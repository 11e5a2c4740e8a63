/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_lease.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH_NAME "stint-lease."
#define CALL_NAME  "stint-wait."

enum {
    KEEP_S = 86400,           /* slurmctld removes a record after this time */
    HELD_KEEP_S = 2 * KEEP_S, /* marks an owner that may act */
    CALL_S = 120,
    RETRY_MS = 1000,
};

/* An owner without an extension for this long counts as dead. A wrong guess costs a pause. */
static msec_t wait_ms(const struct slurm_lease *lease)
{
    return lease->life_ms / 2;
}

/* The part of a record's text between the n-th semicolon and the next. */
static const char *part(const char *text, int n, int *ret_length)
{
    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, ';');
        text = text == NULL ? NULL : text + 1;
    }
    *ret_length = text == NULL ? 0 : (int)strcspn(text, ";");
    return text == NULL ? "" : text;
}

static bool is_own(const struct slurm_lease *lease, const char *text)
{
    int length = 0;
    int own = 0;
    const char *token = part(text, 1, &length);
    const char *ours = part(lease->text, 1, &own);

    return length > 0 && length == own && strncmp(token, ours, (size_t)own) == 0;
}

/* What slurmctld takes in a text without quotes. */
static void add_part(char *text, const char *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t at = strlen(text);

    text[at++] = ';';
    for (; *value != '\0' && at < SLURM_LEASE_TEXT / 2 - 1; value++) {
        text[at] = *value;
        if (strchr(plain, *value) == NULL)
            text[at] = '_';
        at++;
    }
    text[at] = '\0';
}

void slurm_lease_init(struct slurm_lease *lease, const char *token, const char *host,
                      const char *cluster, msec_t life_ms)
{
    assert(token[0] != '\0' && strlen(token) <= 32);
    *lease = (struct slurm_lease){
        .text = "v1",
        .life_ms = life_ms > 0 ? life_ms : SLURM_LEASE_LIFE_MS,
        .next = SLURM_LEASE_LOOK,
    };
    add_part(lease->text, token);
    add_part(lease->text, host);
    add_part(lease->text, cluster);
}

struct slurm_lease_step slurm_lease_next(const struct slurm_lease *lease, msec_t now)
{
    struct slurm_lease_step step = {
        .what = lease->next,
        .seconds = lease->state == SLURM_LEASE_HELD ? HELD_KEEP_S : KEEP_S,
        .name = "",
    };
    int length = 0;
    const char *token = part(lease->text, 1, &length);

    if (now < lease->next_at)
        return (struct slurm_lease_step){ .what = SLURM_LEASE_REST, .at = lease->next_at };
    if (lease->is_calling) {
        step.seconds = CALL_S;
        (void)snprintf(step.name, sizeof(step.name), CALL_NAME "%.*s", length, token);
    } else if (step.what != SLURM_LEASE_LOOK) {
        (void)snprintf(step.name, sizeof(step.name), EPOCH_NAME "%" PRIu64,
                       step.what == SLURM_LEASE_REMOVE ? lease->lower : lease->epoch);
    }
    return step;
}

void slurm_lease_add(struct slurm_lease_list *list, const struct slurm_lease *lease,
                     const char *name, int64_t end_s, const char *text)
{
    char *end = NULL;

    if (strncmp(name, CALL_NAME, strlen(CALL_NAME)) == 0 && end_s > list->now_s &&
        !is_own(lease, text))
        (void)snprintf(list->caller, sizeof(list->caller), "%s", text);
    if (strncmp(name, EPOCH_NAME, strlen(EPOCH_NAME)) != 0 || name[strlen(EPOCH_NAME)] < '0' ||
        name[strlen(EPOCH_NAME)] > '9')
        return;

    const uint64_t epoch = strtoull(name + strlen(EPOCH_NAME), &end, 10);

    if (*end != '\0' || epoch >= UINT64_MAX / 2)
        return;
    if (list->has_top && epoch < list->top) {
        list->has_lower = true;
        list->lower = epoch;
        return;
    }
    if (list->has_top) {
        list->has_lower = true;
        list->lower = list->top;
    }
    list->has_top = true;
    list->top = epoch;
    list->top_end_s = end_s;
    (void)snprintf(list->top_text, sizeof(list->top_text), "%s", text);
}

static void do_next(struct slurm_lease *lease, enum slurm_lease_do what, msec_t at)
{
    lease->next = what;
    lease->next_at = at;
    lease->is_calling = false;
}

static void lose(struct slurm_lease *lease, msec_t now)
{
    lease->state = SLURM_LEASE_WAITS;
    lease->until = 0;
    lease->has_seen = false;
    do_next(lease, SLURM_LEASE_LOOK, now);
}

/*
 * This epoch has our token: an earlier process or an unanswered call created it. No later epoch
 * exists. So we may act if that process might.
 */
static void take_up(struct slurm_lease *lease, const struct slurm_lease_list *list, msec_t now)
{
    const bool is_held = list->top_end_s - list->now_s > KEEP_S;

    lease->state = is_held ? SLURM_LEASE_HELD : SLURM_LEASE_SETTLES;
    lease->epoch = list->top;
    lease->owned = now;
    do_next(lease, SLURM_LEASE_EXTEND, now);
}

static bool is_as_seen(const struct slurm_lease *lease, const struct slurm_lease_list *list)
{
    return lease->has_seen && lease->seen == list->top && lease->seen_end_s == list->top_end_s &&
           strcmp(lease->seen_text, list->top_text) == 0;
}

static void note_seen(struct slurm_lease *lease, const struct slurm_lease_list *list, msec_t now)
{
    lease->has_seen = true;
    lease->seen = list->top;
    lease->seen_end_s = list->top_end_s;
    memcpy(lease->seen_text, list->top_text, sizeof(lease->seen_text));
    lease->since = now;
}

static void wait_on(struct slurm_lease *lease, const struct slurm_lease_list *list, msec_t now)
{
    (void)snprintf(lease->other, sizeof(lease->other), "%s", list->top_text);
    if (list->has_top && is_own(lease, list->top_text)) {
        take_up(lease, list, now);
        return;
    }
    if (list->has_top && !is_as_seen(lease, list))
        note_seen(lease, list, now);
    if (!list->has_top || now - lease->since >= wait_ms(lease)) {
        /* After a loss of state, a former owner must not extend our epoch. The time makes its number new. */
        lease->epoch = list->has_top ? list->top + 1 : (uint64_t)list->now_s;
        do_next(lease, SLURM_LEASE_CREATE, now);
        return;
    }
    do_next(lease, SLURM_LEASE_LOOK, now + lease->life_ms / 20);
    if (list->has_top && (!lease->has_called || now - lease->called_at >= lease->life_ms)) {
        lease->next = lease->has_called ? SLURM_LEASE_EXTEND : SLURM_LEASE_CREATE;
        lease->is_calling = true;
    }
}

/*
 * Our epoch ruled when this look was made, after the extension. Another owner creates a later epoch,
 * and acts a whole life after that. So we may act for a life from the extension on.
 */
static void confirm(struct slurm_lease *lease, const struct slurm_lease_list *list, msec_t now)
{
    if (!list->has_top || list->top != lease->epoch || !is_own(lease, list->top_text)) {
        lose(lease, now);
        return;
    }
    if (lease->sent - lease->owned >= lease->life_ms)
        lease->state = SLURM_LEASE_HELD;
    if (lease->state == SLURM_LEASE_HELD)
        lease->until = lease->sent + lease->life_ms;
    lease->other[0] = '\0';
    do_next(lease, SLURM_LEASE_EXTEND, lease->sent + lease->life_ms / 5);
    if (lease->state != SLURM_LEASE_HELD)
        return;
    lease->lower = list->lower;
    if (list->has_lower) {
        do_next(lease, SLURM_LEASE_REMOVE, now);
    } else if (lease->has_called) {
        do_next(lease, SLURM_LEASE_REMOVE, now);
        lease->is_calling = true;
    }
}

static void told_look(struct slurm_lease *lease, msec_t now, enum slurm_lease_answer answer,
                      const struct slurm_lease_list *list)
{
    if (answer == SLURM_LEASE_DONE) {
        memcpy(lease->caller, list->caller, sizeof(lease->caller));
        if (lease->state == SLURM_LEASE_WAITS)
            wait_on(lease, list, now);
        else
            confirm(lease, list, now);
        return;
    }
    lease->has_seen = false;
    do_next(lease, lease->state == SLURM_LEASE_WAITS ? SLURM_LEASE_LOOK : SLURM_LEASE_EXTEND,
            now + RETRY_MS);
}

static void told_call(struct slurm_lease *lease, enum slurm_lease_do what, msec_t now,
                      enum slurm_lease_answer answer)
{
    lease->is_calling = false;
    lease->called_at = now;
    lease->has_called =
        what != SLURM_LEASE_REMOVE && (answer == SLURM_LEASE_DONE || answer == SLURM_LEASE_TAKEN);
    if (what == SLURM_LEASE_REMOVE)
        do_next(lease, SLURM_LEASE_EXTEND, lease->sent + lease->life_ms / 5);
    else
        do_next(lease, SLURM_LEASE_LOOK, now + lease->life_ms / 20);
}

void slurm_lease_told(struct slurm_lease *lease, const struct slurm_lease_step *step, msec_t sent,
                      msec_t now, enum slurm_lease_answer answer,
                      const struct slurm_lease_list *list)
{
    if (lease->is_calling) {
        told_call(lease, step->what, now, answer);
        return;
    }
    switch (step->what) {
    case SLURM_LEASE_REST:
        break;
    case SLURM_LEASE_LOOK:
        told_look(lease, now, answer, list);
        break;
    case SLURM_LEASE_CREATE:
        lose(lease, now + RETRY_MS); /* the next look shows whether it was done */
        if (answer == SLURM_LEASE_DONE) {
            lease->state = SLURM_LEASE_SETTLES;
            lease->owned = now;
            do_next(lease, SLURM_LEASE_EXTEND, now);
        }
        break;
    case SLURM_LEASE_EXTEND:
        lease->sent = sent;
        if (answer == SLURM_LEASE_DONE)
            do_next(lease, SLURM_LEASE_LOOK, now);
        else if (answer == SLURM_LEASE_FAILED)
            do_next(lease, SLURM_LEASE_EXTEND, now + RETRY_MS);
        else
            lose(lease, now);
        break;
    case SLURM_LEASE_REMOVE: /* the next look shows the next one */
        do_next(lease, SLURM_LEASE_EXTEND, lease->sent + lease->life_ms / 5);
        break;
    }
}

const char *slurm_lease_words(const char *text, char *buf, size_t size)
{
    int host = 0;
    int cluster = 0;
    const char *host_at = part(text, 2, &host);
    const char *cluster_at = part(text, 3, &cluster);

    (void)snprintf(buf, size, "%.*s, cluster '%.*s'", host, host_at, cluster, cluster_at);
    return buf;
}
