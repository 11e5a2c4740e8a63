/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_rows.h - a table of what can be rented: of a catalogue, or of what a daemon knows of its own.
 *
 * How long machines of a spot offer last is the catalogue's word, or learned by the daemon from the machines that it
 * lost; then it comes with the span in which it is with a chance of 80 %.
 */
#ifndef STINT_CLI_OFFER_ROWS_H
#define STINT_CLI_OFFER_ROWS_H

#include <jansson.h>

#include "cli/report_table.h"
#include "model/catalogue.h"

struct offer_row {
    const char *type;
    const char *market;
    const char *zone;
    int64_t cpu_milli;
    int64_t mem_mib;
    int64_t accel_milli;
    money_t price;
    struct interruption interruption;
    msec_t lasts_ms;      /* MSEC_NEVER: nobody knows */
    const char *lasts_by; /* NULL: nobody */
    int64_t losses_milli; /* -1: it was not learned */
    msec_t machine_ms;
    msec_t low_ms;  /* it is below this with a chance of one in ten, */
    msec_t high_ms; /* and above this with the same */
};

/* 'experience': with columns for what was learned from; then each row has them. */
struct report_table *offer_rows_create(bool experience);
void offer_rows_add(struct report_table *table, const struct offer_row *row, bool experience);

struct offer_row offer_row_of(const struct catalogue *catalogue, uint32_t index);

/* One of "offers" of GET /v1/offers; its texts are the object's. */
struct offer_row offer_row_of_json(const json_t *object);

/* The cell "5-10"; missing if it is not known. */
void offer_rows_add_interruption(struct report_table *table, struct interruption interruption);

#endif
