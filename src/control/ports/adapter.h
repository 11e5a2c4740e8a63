/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter.h - what adapters of engines and of clouds have in common.
 *
 * An adapter reaches the outside in one of two ways. Most speak lines with another program: they have
 * no I/O of their own, say whom they want to be connected with (struct adapter_peer), are handed every
 * line and give away what is to be sent (struct adapter_lines). The others have connections of their
 * own in the loop of the daemon; then there are no adapter_lines.
 */
#ifndef STINT_CONTROL_ADAPTER_H
#define STINT_CONTROL_ADAPTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

/* Something that is wrong, or worth a note. The texts live for the call. */
struct finding {
    const char *severity; /* "error", "warning", "note" */
    const char *kind;     /* a short word: "leaked", "unholdable" ... */
    const char *subject;
    const char *text;
    const char *advice;
    const char *address; /* of its entry in the documentation; NULL: there is none */
};

/* Who receives findings. */
struct finding_sink {
    void (*tell)(void *context, const struct finding *finding);
    /* What follows is of another kind; of many of one kind only some are shown. */
    void (*next_kind)(void *context);
    void *context;
};

/* The program at the other end: a child of ours, or who listens on a Unix socket. */
struct adapter_peer {
    const char *const *argv;        /* of a child, NULL at the end; NULL: a socket */
    const char *const *environment; /* what variables of ours a child needs begin with, NULL at the
                                       end; besides those that every program needs. May be NULL */
    const char *socket;
    const char *alive;   /* a line that says no more than that it is there; NULL: there is none */
    uint32_t silence_ms; /* once that was heard, it must go on to be heard of so often */
};

/* Our end of the connection. 'self' is the adapter. */
struct adapter_lines {
    void (*connected)(void *self, msec_t now);
    void (*disconnected)(void *self, msec_t now);

    /* One line without its line feed, which may be changed, with room for one byte behind it;
     * SIZE_MAX: it was too long. */
    void (*line)(void *self, msec_t now, char *text, size_t length);

    /* Send what was asked for since. */
    void (*flush)(void *self, msec_t now);

    /* When 'tick' has something to do; MSEC_NEVER: it has not. */
    msec_t (*next_wake)(const void *self);
    void (*tick)(void *self, msec_t now);
};

/* "13:02:03 UTC", with the day unless that is today. */
void adapter_clock_text(msec_t at, msec_t now, char *ret, size_t size);

#endif
