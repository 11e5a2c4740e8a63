/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/daemon_check.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "serve/http_guard.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/sacct.h"
#include "trace/short_doc.h"

/* Far above the dearest machine of any cloud. */
static const money_t price_most = 10000 * MONEY_PER_USD;

/* A machine for nothing is rented first, beyond every limit of dollars. */
static int check_prices(const struct catalogue *catalogue, uint32_t offer, struct error *reterr)
{
    const struct price_series *price = &catalogue->offers[offer].price;
    const char *name = catalogue_offer_type_name(catalogue, offer);
    const bool is_paid = catalogue->offers[offer].market == MARKET_RESERVED; /* in advance */

    for (uint32_t i = 0; i < price->count; i++) {
        if (price->changes[i].per_hour == 0 && !is_paid)
            return error_set(reterr, -EINVAL,
                             "type '%s' has the price 0, so no limit of dollars would count its "
                             "machines: give its price, or remove it",
                             name);
        if (price->changes[i].per_hour > price_most)
            return error_set(reterr, -EINVAL,
                             "type '%s' has a price above $%lld an hour: prices are in dollars per "
                             "hour",
                             name, (long long)(price_most / MONEY_PER_USD));
    }
    return 0;
}

/* The reader accepts more, for simulations. */
static int check_live(const struct catalogue *catalogue, struct error *reterr)
{
    int rc = 0;

    for (uint32_t type = 0; type < catalogue->type_count; type++) {
        if (catalogue->types[type].capacity.amount[RES_CPU] <= 0)
            return error_set(reterr, -EINVAL,
                             "type '%s' has no CPU, so no job can run there: give its 'cpu', or "
                             "remove it",
                             names_text(&catalogue->names, catalogue->types[type].name));
    }
    for (uint32_t offer = 0; rc == 0 && offer < catalogue->offer_count; offer++)
        rc = check_prices(catalogue, offer, reterr);
    return rc;
}

int daemon_check_catalogue(const struct conf *conf, struct catalogue *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(conf->catalogue, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, ret, reterr);
    input_file_done(&file);
    if (rc == 0) {
        rc = check_live(ret, reterr);
        if (rc == 0)
            rc = short_doc_check(&conf->short_pool, ret, reterr);
        if (rc < 0)
            catalogue_done(ret);
    }
    return rc < 0 ? error_prefix(reterr, rc, conf->catalogue) : 0;
}

int daemon_check_accounting(const struct conf *conf, struct error *reterr)
{
    struct input_file file = { 0 };
    struct sacct_log log;

    if (!conf->learn || conf->accounting == NULL)
        return 0;

    int rc = input_file_read(conf->accounting, &file, reterr);

    if (rc < 0)
        return rc;
    rc = sacct_read(file.text, file.length, SACCT_DEMAND_REQUESTED, &log, reterr);
    input_file_done(&file);
    if (rc < 0)
        return error_prefix(reterr, rc, conf->accounting);
    sacct_done(&log);
    return 0;
}

int daemon_check_token(const struct conf *conf, struct error *reterr)
{
    char token[HTTP_TOKEN_MAX + 1];
    int rc = 0;

    if (conf->http.token_file != NULL)
        rc = http_guard_token(conf->http.token_file, token, reterr);
    if (rc == 0 && conf->http.read_token_file != NULL)
        rc = http_guard_token(conf->http.read_token_file, token, reterr);
    explicit_bzero(token, sizeof(token));
    return rc;
}

static int check_file(const char *path, bool secret, struct error *reterr)
{
    char *text = NULL;
    const int rc = path != NULL ? http_guard_file(path, secret, &text, reterr) : 0;

    if (text != NULL)
        explicit_bzero(text, strlen(text));
    mem_free(text);
    return rc;
}

int daemon_check_certificate(const struct conf *conf, struct error *reterr)
{
    return check_file(conf->http.tls_certificate, false, reterr);
}

int daemon_check_key(const struct conf *conf, struct error *reterr)
{
    return check_file(conf->http.tls_key, true, reterr);
}

const char *daemon_check_note(const struct conf *conf)
{
    const struct cloud_adapter *cloud = conf->cloud.kind;

    return cloud->note != NULL ? cloud->note(conf->cloud.settings) : NULL;
}

int daemon_check(const struct conf *conf, struct error *reterr)
{
    struct catalogue catalogue = { 0 };
    int rc = daemon_check_catalogue(conf, &catalogue, reterr);

    if (rc < 0)
        return rc;
    catalogue_done(&catalogue);
    rc = daemon_check_accounting(conf, reterr);
    if (rc == 0)
        rc = daemon_check_token(conf, reterr);
    if (rc == 0)
        rc = daemon_check_certificate(conf, reterr);
    if (rc == 0)
        rc = daemon_check_key(conf, reterr);
    return rc;
}
