/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_private.h - what the views of the page share.
 *
 *     struct page page;
 *
 *     if (!page_begin(&page, call, "Doctor", "doctor"))
 *         return;
 *     fputs(..., page.out);
 *     page_end(&page);
 */
#ifndef STINT_SERVE_PAGE_PRIVATE_H
#define STINT_SERVE_PAGE_PRIVATE_H

#include <stdio.h>

#include "draw/chart.h"
#include "draw/html.h"
#include "serve/page.h"

struct page {
    struct api_call *call;
    FILE *out;
    const char *up; /* from this view to '/': "" or "../" */
};

/* Head and navigation; 'view' is the one that is shown, for the navigation. False: it was answered. */
bool page_begin(struct page *page, struct api_call *call, const char *title, const char *view);

/* Hands the page over as the answer. */
void page_end(struct page *page);

/* What the API answers to a GET with at most one argument; the caller releases it. NULL: an error. */
json_t *page_try(const struct api_call *call, const char *path, const char *key, const char *value);

/* The same before page_begin: an error becomes the answer. */
json_t *page_ask(struct api_call *call, const char *path, const char *key, const char *value);
json_t *page_ask_with(struct api_call *call, const char *path, const struct api_argument *arguments,
                      uint32_t count);

/* Fields of answers: MONEY_UNKNOWN, -1 and "" for what is not there. */
money_t page_money(const json_t *object, const char *key);
int64_t page_number(const json_t *object, const char *key);
const char *page_word(const json_t *object, const char *key);

/* "<a href=...>12_3</a>" */
void page_link_job(const struct page *page, const char *label);
void page_link_machine(const struct page *page, const char *name);

/* "<div class=tile>": a number with its name, and what explains it. Close with page_tile_end. */
void page_tile(const struct page *page, const char *name);
void page_tile_note(const struct page *page);
void page_tile_end(const struct page *page);

/* "<th scope=col>" for each word; one that begins with '#' is a number's column, with '~' one that narrow
 * screens leave out (its cells have the class "wide"). Ends with NULL. */
void page_table(const struct page *page, const char *caption, const char *const *columns);
void page_table_end(const struct page *page);

/* A chart in a box that scrolls sideways where there is no room, and its numbers. */
void page_chart(const struct page *page, const struct chart *chart);

/* The reasons of a decision: when, where, why, for how much, instead of what. */
void page_reasons(const struct page *page, const char *caption, const json_t *reasons);

extern const char page_css_text[];
extern const char page_js_text[];

#endif
