/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_json.h - the books as the API tells them, for who reads them without a daemon too.
 */
#ifndef STINT_SERVE_LEDGER_JSON_H
#define STINT_SERVE_LEDGER_JSON_H

#include <jansson.h>

#include "store/store_report.h"

/* 'mode' may be NULL: it is not known. NULL: the books cannot be read. */
json_t *ledger_json(struct store *store, const struct store_query *query, const char *mode,
                    struct error *reterr);

#endif
