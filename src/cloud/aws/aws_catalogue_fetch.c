/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_catalogue_fetch.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/rng.h"
#include "cloud/aws/aws_catalogue.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_clock.h"
#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/ec2_answer.h"

enum {
    PAGE_TIMEOUT_MS = 60000,
    RETRY_MS = 500,
    RETRY_MOST_MS = 20000,
    PAGES_MAX = 10000,
    TYPES_NAMED_MAX = 100,
};

enum stage { STAGE_TYPES, STAGE_OFFERINGS, STAGE_SPOT, STAGE_PRICES, STAGE_DONE };

struct fetching {
    struct aws_catalogue_fetch config;
    enum stage stage;
    uv_timer_t timer;
    struct rng rng;
    uint32_t attempts;
    uint32_t pages;
    msec_t begun; /* pages of one list are asked for with the same times */
    int rc;
    struct error error;
    struct aws_form form;
    char token[EC2_TOKEN_SIZE];
};

static void ask(struct fetching *f);

static void on_timer(uv_timer_t *timer)
{
    ask(timer->data);
}

static void stop(struct fetching *f, int rc)
{
    f->stage = STAGE_DONE;
    f->rc = rc;
}

static void next_stage(struct fetching *f)
{
    f->token[0] = '\0';
    f->attempts = 0;
    f->stage = f->stage + 1;
    if (f->stage == STAGE_SPOT && f->config.choice->without_spot)
        f->stage = STAGE_PRICES;
    if (f->stage == STAGE_PRICES && f->config.without_prices)
        f->stage = STAGE_DONE;
}

/* The page was not to be had. */
static void try_again(struct fetching *f, enum aws_verdict verdict, const char *why)
{
    const bool is_final = verdict != AWS_LOST && verdict != AWS_THROTTLED &&
                          (verdict != AWS_STALE_KEYS || f->attempts > 0);

    if (verdict == AWS_STALE_KEYS)
        aws_client_forget_keys(f->config.client);
    if (!is_final && f->attempts < FETCH_ATTEMPTS_MAX) {
        const msec_t wait = aws_fault_wait(&f->rng, RETRY_MS, RETRY_MOST_MS, f->attempts++);

        (void)uv_timer_start(&f->timer, on_timer, (uint64_t)wait, 0);
        return;
    }
    if (f->stage == STAGE_PRICES) {
        char text[ERROR_TEXT_SIZE];

        (void)snprintf(text, sizeof(text), "no prices on demand from the Pricing API: %.400s", why);
        f->config.on_note(f->config.context, text);
        stop(f, 0);
        return;
    }
    stop(f, error_set(&f->error, -EIO, "EC2 did not list its offers: %.400s", why));
}

static void page_done(struct fetching *f)
{
    f->attempts = 0;
    if (f->token[0] == '\0')
        next_stage(f);
    if (++f->pages > PAGES_MAX)
        stop(f, error_set(&f->error, -E2BIG, "EC2 has more pages than it could need"));
    else if (f->config.catalogue->history.is_full)
        stop(f, error_set(&f->error, -E2BIG,
                          "spot prices changed more than %d times; ask for fewer days, or for some "
                          "types",
                          AWS_PRICE_ROWS_MAX));
    ask(f);
}

/* ---- answers ---- */

static void on_type(void *context, const struct ec2_type *row)
{
    const struct fetching *f = context;

    aws_catalogue_add_type(f->config.catalogue, row);
}

static void on_offering(void *context, const struct ec2_offering *row)
{
    const struct fetching *f = context;

    aws_catalogue_add_offering(f->config.catalogue, row);
}

static void on_spot_price(void *context, const struct ec2_spot_price *row)
{
    const struct fetching *f = context;

    if (aws_catalogue_wants(f->config.catalogue, row->type, f->config.choice))
        aws_catalogue_add_spot(f->config.catalogue, row);
}

/* What the page of this stage was asked for with. */
static const char *action_of(const struct fetching *f)
{
    return f->stage == STAGE_TYPES       ? "DescribeInstanceTypes"
           : f->stage == STAGE_OFFERINGS ? "DescribeInstanceTypeOfferings"
                                         : "DescribeSpotPriceHistory";
}

static void on_page(void *context, const struct aws_http_answer *http)
{
    struct fetching *f = context;
    const struct ec2_sink sink = {
        .on_type = on_type, .on_offering = on_offering, .on_spot_price = on_spot_price, .context = f
    };
    struct ec2_answer answer = { 0 };
    struct error error = { "" };
    int rc = 0;

    if (http->fault == 0)
        rc = ec2_answer_read(http->body, http->size, action_of(f), &sink, &answer, &error);

    const enum aws_verdict verdict = aws_fault_judge(http, answer.code);

    if (verdict == AWS_DONE && rc == 0) {
        memcpy(f->token, answer.next_token, sizeof(f->token));
        page_done(f);
        return;
    }
    if (answer.code[0] != '\0')
        (void)error_set(&error, -EIO, "%s: %s", answer.code, answer.message);
    try_again(f, verdict == AWS_DONE ? AWS_LOST : verdict,
              http->fault < 0 ? http->reason : error.text);
}

/* "com.amazonaws.pricing#UnrecognizedClientException", say. */
static bool is_of_keys(const struct aws_http_answer *http)
{
    json_t *object = json_loadb(http->body, http->size, 0, NULL);
    const char *kind = json_string_value(json_object_get(object, "__type"));
    const char *mark = kind != NULL ? strrchr(kind, '#') : NULL;
    const bool is = kind != NULL && aws_fault_is_of_keys(mark != NULL ? mark + 1 : kind);

    json_decref(object);
    return is;
}

static void on_prices(void *context, const struct aws_http_answer *http)
{
    struct fetching *f = context;
    struct error error = { "" };
    int rc = 0;

    if (http->fault == 0 && http->status == 200) {
        rc = aws_catalogue_read_products(f->config.catalogue, http->body, http->size, f->token,
                                         &error);
        if (rc == 0) {
            page_done(f);
            return;
        }
    } else if (http->fault == 0 && is_of_keys(http)) {
        (void)error_set(&error, -EIO, "%s", AWS_NO_PRICES_FOR_KEYS);
    } else if (http->fault == 0) {
        (void)error_set(&error, -EIO, "HTTP status %d", http->status);
    }
    try_again(f, aws_fault_judge(http, rc < 0 ? "Unreadable" : ""),
              http->fault < 0 ? http->reason : error.text);
}

/* ---- requests ---- */

/* Half of the types are never chosen, and a type is 4 KB of answer. */
static void put_type_filters(struct aws_form *form, const struct aws_catalogue_choice *choice)
{
    const char *const filters[][2] = {
        { "processor-info.supported-architecture", choice->arch },
        { "bare-metal", choice->with_metal ? NULL : "false" },
        { "current-generation", choice->with_old || choice->types != NULL ? NULL : "true" },
    };
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        if (filters[i][1] == NULL)
            continue;
        count++;
        aws_form_item(form, "Filter.#.Name", count, filters[i][0]);
        aws_form_item(form, "Filter.#.Value.1", count, filters[i][1]);
    }
}

/* The types that patterns have chosen, if a list of them is short enough for a request. */
static void put_types(struct fetching *f)
{
    const struct names *names = &f->config.catalogue->type_names;
    uint32_t count = 0;

    for (uint32_t i = 0; i < names->count; i++)
        count += aws_catalogue_wants(f->config.catalogue, names_text(names, i), f->config.choice);
    if (count > TYPES_NAMED_MAX)
        return;
    count = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (aws_catalogue_wants(f->config.catalogue, names_text(names, i), f->config.choice))
            aws_form_item(&f->form, "InstanceType.#", ++count, names_text(names, i));
    }
}

static void put_spot(struct fetching *f)
{
    const msec_t begin = f->config.catalogue->history.begin;
    char text[32];

    aws_form_begin(&f->form, "DescribeSpotPriceHistory", "2016-11-15");
    aws_form_add(&f->form, "ProductDescription.1", "Linux/UNIX");
    aws_clock_print(begin > 0 ? begin : f->begun, text);
    aws_form_add(&f->form, "StartTime", text);
    aws_clock_print(f->begun, text);
    aws_form_add(&f->form, "EndTime", text);
    aws_form_number(&f->form, "MaxResults", 1000);
    if (f->config.choice->types != NULL)
        put_types(f);
}

static void put_stage(struct fetching *f)
{
    switch (f->stage) {
    case STAGE_TYPES:
        aws_form_begin(&f->form, "DescribeInstanceTypes", "2016-11-15");
        aws_form_number(&f->form, "MaxResults", 100);
        put_type_filters(&f->form, f->config.choice);
        break;
    case STAGE_OFFERINGS:
        aws_form_begin(&f->form, "DescribeInstanceTypeOfferings", "2016-11-15");
        aws_form_add(&f->form, "LocationType", "availability-zone");
        aws_form_number(&f->form, "MaxResults", 1000);
        break;
    case STAGE_SPOT:
        put_spot(f);
        break;
    case STAGE_PRICES:
    case STAGE_DONE:
        assert(false);
    }
    if (f->token[0] != '\0')
        aws_form_add(&f->form, "NextToken", f->token);
}

/* Linux, shared, without software to pay for, as it is rented and not reserved. */
static void ask_prices(struct fetching *f)
{
    static const char *const wanted[][2] = {
        { "operatingSystem", "Linux" }, { "tenancy", "Shared" },        { "preInstalledSw", "NA" },
        { "capacitystatus", "Used" },   { "marketoption", "OnDemand" },
    };
    json_t *filters = json_array();
    json_t *body = json_pack("{s:s,s:s,s:i,s:o}", "ServiceCode", "AmazonEC2", "FormatVersion",
                             "aws_v1", "MaxResults", 100, "Filters", filters);
    char *text;

    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        (void)json_array_append_new(filters,
                                    json_pack("{s:s,s:s,s:s}", "Type", "TERM_MATCH", "Field",
                                              wanted[i][0], "Value", wanted[i][1]));
    (void)json_array_append_new(filters, json_pack("{s:s,s:s,s:s}", "Type", "TERM_MATCH", "Field",
                                                   "regionCode", "Value",
                                                   aws_client_region(f->config.client)));
    if (f->token[0] != '\0')
        (void)json_object_set_new(body, "NextToken", json_string(f->token));
    text = json_dumps(body, JSON_COMPACT);
    assert(text != NULL);
    aws_client_call(f->config.client,
                    &(struct aws_call){ .service = "pricing",
                                        .region = "us-east-1",
                                        .body = text,
                                        .size = strlen(text),
                                        .target = "AWSPriceListService.GetProducts",
                                        .timeout_ms = PAGE_TIMEOUT_MS },
                    on_prices, f);
    free(text);
    json_decref(body);
}

static void ask(struct fetching *f)
{
    if (f->stage == STAGE_DONE)
        return;
    if (f->stage == STAGE_PRICES) {
        ask_prices(f);
        return;
    }
    put_stage(f);
    aws_client_call(f->config.client,
                    &(struct aws_call){ .service = "ec2",
                                        .body = f->form.text,
                                        .size = f->form.size,
                                        .timeout_ms = PAGE_TIMEOUT_MS },
                    on_page, f);
}

static void on_closed(uv_handle_t *handle)
{
    handle->data = NULL;
}

int aws_catalogue_fetch_all(const struct aws_catalogue_fetch *fetch, struct error *reterr)
{
    struct fetching f = { .config = *fetch, .begun = aws_client_now() };

    rng_init(&f.rng, fetch->seed, 2);
    (void)uv_timer_init(fetch->loop, &f.timer);
    f.timer.data = &f;
    ask(&f);
    while (f.stage != STAGE_DONE)
        (void)uv_run(fetch->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&f.timer, on_closed);
    while (f.timer.data != NULL)
        (void)uv_run(fetch->loop, UV_RUN_NOWAIT);
    aws_form_done(&f.form);
    if (f.rc < 0 && reterr != NULL)
        *reterr = f.error;
    return f.rc;
}
