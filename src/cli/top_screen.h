/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_screen.h - `stint top` on a terminal, by ncurses: lists with a cursor, sorting, a filter, details and help.
 *
 * The daemon is asked about once a second, only for the list that is shown, and less often where it takes long to
 * answer, so that a terminal left open takes little of its time (a twentieth, unless an answer takes half a second). While it cannot be asked, what was
 * known last stays on the screen below a line that says so.
 *
 * Promises:  the terminal is left as it was found, on q, Ctrl-C and SIGTERM. No control character of a name reaches
 *            it. Nothing depends on colour alone.
 * Costs:     a frame is O(rows of the terminal); an answer is sorted once, not at each key.
 */
#ifndef STINT_CLI_TOP_SCREEN_H
#define STINT_CLI_TOP_SCREEN_H

#include "cli/daemon_client.h"
#include "cli/top_rows.h"

struct top_setup {
    const struct daemon_options *daemon;
    struct top_order order[TOP_VIEWS];
    enum top_view view;
    const char *filter;
    bool colour;
};

/* Until the user ends it. -ENOTTY: this terminal cannot be drawn on; nothing was printed. */
int top_screen(const struct top_setup *setup);

#endif
