/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_file.h - read a catalogue from YAML or JSON. docs/reference/files/catalogue.md has every key.
 *
 * Two forms are distinguished by their top-level keys: Stint's own has 'types', that of Eva's
 * simulator (an EC2 configuration) has 'instance_types'.
 *
 * Promises:  pure; types and offers keep the order of the file; prices are exact to the
 *            micro-dollar. On failure nothing is kept and 'ret' is untouched.
 * Bounds:    O(bytes); LIMIT_OFFERS types and offers, LIMIT_FAMILIES families,
 *            LIMIT_PRICE_POINTS changes of price.
 */
#ifndef STINT_TRACE_CATALOGUE_FILE_H
#define STINT_TRACE_CATALOGUE_FILE_H

#include <stddef.h>

#include "base/error.h"
#include "model/catalogue.h"

/* Parse the whole text into 'ret', to be freed by catalogue_done. */
int catalogue_file_read(const char *text, size_t length, struct catalogue *ret,
                        struct error *reterr);

#endif
