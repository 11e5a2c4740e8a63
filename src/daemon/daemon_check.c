/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/daemon_check.h"

#include <string.h>

#include "base/mem.h"
#include "serve/http_guard.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/sacct.h"
#include "trace/short_doc.h"

int daemon_check_catalogue(const struct conf *conf, struct catalogue *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(conf->catalogue, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, ret, reterr);
    input_file_done(&file);
    if (rc == 0 && (rc = short_doc_check(&conf->short_pool, ret, reterr)) < 0)
        catalogue_done(ret);
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
