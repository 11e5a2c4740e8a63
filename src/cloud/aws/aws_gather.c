/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_gather.h"

#include <errno.h>
#include <stdio.h>
#include <uv.h>

#include "cloud/aws/aws_advisor.h"
#include "cloud/aws/aws_catalogue.h"
#include "cloud/aws/aws_catalogue_fetch.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_clock.h"
#include "trace/input_file.h"

/* Prices on demand or, where a region is given, the bands of its spot machines. */
static int add_file(const char *path, const char *bands_of, struct aws_catalogue *gathered,
                    struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = bands_of != NULL ? aws_advisor_read(file.text, file.length, bands_of, gathered, reterr)
                          : aws_catalogue_read_prices(gathered, file.text, file.length, reterr);
    if (rc < 0)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    return rc;
}

static int fetch(const struct cloud_query *query, uv_loop_t *loop,
                 const struct aws_catalogue_choice *choice, struct aws_catalogue *gathered,
                 char *ret_region, struct error *reterr)
{
    struct aws_client *client = NULL;
    int rc = aws_client_create(&(struct aws_client_config){ .loop = loop,
                                                            .region = query->region,
                                                            .endpoint = query->endpoint,
                                                            .profile = query->profile },
                               &client, reterr);

    if (rc == -EDESTADDRREQ)
        return error_set(reterr, rc, "no AWS region: give --region, or set AWS_REGION");
    if (rc < 0)
        return rc;
    (void)snprintf(ret_region, EC2_NAME_SIZE, "%s", aws_client_region(client));
    rc = aws_catalogue_fetch_all(
        &(struct aws_catalogue_fetch){ .loop = loop,
                                       .client = client,
                                       .catalogue = gathered,
                                       .seed = uv_hrtime(),
                                       .choice = choice,
                                       .without_prices = query->prices != NULL,
                                       .on_note = query->on_note,
                                       .context = query->context },
        reterr);
    aws_client_destroy(client);
    return rc;
}

static void say_source(const struct cloud_query *query, msec_t begin, char *ret, size_t size)
{
    char since[32];

    aws_clock_print(begin, since);
    (void)snprintf(ret, size, "%s%s%s%s",
                   query->prices != NULL ? "EC2, and a file of prices" : "EC2 and its Pricing API",
                   query->bands != NULL ? ", Spot Instance Advisor" : "",
                   query->history_days > 0 ? ", spot prices since " : "",
                   query->history_days > 0 ? since : "");
}

int aws_gather(const struct cloud_query *query, FILE *out, struct cloud_gathered *ret,
               struct error *reterr)
{
    struct aws_catalogue gathered;
    char region[EC2_NAME_SIZE] = "";
    char source[128];
    char date[32];
    const struct aws_catalogue_choice choice = {
        .region = region,
        .date = date,
        .source = source,
        .arch = query->arch,
        .types = query->types,
        .mem_percent = query->mem_percent,
        .with_metal = query->with_metal,
        .with_old = query->with_old,
        .without_spot = query->without_spot,
    };
    uv_loop_t loop;
    int rc;

    const msec_t now = aws_client_now() / 1000 * 1000; /* EC2 takes whole seconds */
    const msec_t begin = now - (msec_t)query->history_days * 24 * 3600 * 1000;

    aws_clock_print(now, date);
    date[10] = '\0';
    say_source(query, begin, source, sizeof(source));
    (void)uv_loop_init(&loop);
    aws_catalogue_init(&gathered);
    if (query->history_days > 0)
        aws_catalogue_keep_history(&gathered, begin);
    rc = fetch(query, &loop, &choice, &gathered, region, reterr);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    if (rc == 0 && query->prices != NULL)
        rc = add_file(query->prices, NULL, &gathered, reterr);
    if (rc == 0 && query->bands != NULL)
        rc = add_file(query->bands, region, &gathered, reterr);
    if (rc == 0) {
        ret->offers = aws_catalogue_write(&gathered, &choice, out);
        (void)snprintf(ret->region, sizeof(ret->region), "%s", region);
    }
    aws_catalogue_done(&gathered);
    return rc;
}
