/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the page of the API: the same that the JSON says, for people with a browser.
 *
 * Written whole on the server, HTML with SVG; the script only fetches the page again and swaps what
 * changed, so everything works without it. No third-party host, no inline script or style: the
 * Content-Security-Policy of http_guard.h allows none. Links are relative, so that the page works below any
 * path (`stint open` puts one in front).
 *
 *   page.c        the frame of every view, what they share, doctor, style and script
 *   page_now.c    /            what runs, what waits and why, what it costs, the last decision
 *   page_time.c   /time        machines over time with what ran on each, spending by market
 *   page_story.c  /job/ID      why a job waits or runs where it does, what it costs
 *                 /machine/ID  why it was rented, what runs and ran there
 *   page_lists.c  /jobs, /ledger, /ledger.csv
 *
 * Promises:  all text from outside is escaped. Numbers stand in <data> with their exact value. GET changes
 *            nothing. No view is larger than 300 KB: lists are cut and say by how much.
 * Costs:     O(machines + jobs) with small constants for what is summed up, the rest by what is shown.
 */
#ifndef STINT_SERVE_PAGE_H
#define STINT_SERVE_PAGE_H

#include "serve/api_private.h"

void page_now(struct api_call *call);
void page_time(struct api_call *call);
void page_job(struct api_call *call);
void page_machine(struct api_call *call);
void page_find(struct api_call *call);
void page_jobs(struct api_call *call);
void page_ledger(struct api_call *call);
void page_ledger_csv(struct api_call *call);
void page_doctor(struct api_call *call);
void page_css(struct api_call *call);
void page_js(struct api_call *call);

/* An error as a page; the way that api_error does it for programs. */
void page_error(struct api_call *call, unsigned status, const char *text);

#endif
