/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_private.h - shared by the parts of the API:
 *
 *   api.c          routes, arguments, errors, the small answers
 *   api_lists.c    jobs, instances, the plan
 *   api_offers.c   what can be rented, and how long its machines last
 *   api_market.c   in which markets a job may run
 *   api_forecast.c how long a job will run, and how certain that is
 *   api_ledger.c   what was spent
 *   api_estimate.c what would become of a job that is not submitted yet
 *   api_wait.c     what tasks wait for by a choice of the policy, and limits in words
 *   api_explain.c  why a job waits or runs where it does, why an instance is there; in one line: wait_line.c
 */
#ifndef STINT_SERVE_API_PRIVATE_H
#define STINT_SERVE_API_PRIVATE_H

#include <jansson.h>

#include "serve/api.h"

/* One request under way. */
struct api_call {
    struct serve_world *world;
    const struct view *view;
    msec_t now;
    const struct api_request *request;
    struct api_reply *reply;
    json_t **tree; /* where an answer in JSON goes as it is; NULL: it becomes text */
};

/* What GET answers to a caller that may read everything, for views that are made of it: no text is written and read again. NULL:
 * there is no answer. The status is that of the reply. */
json_t *api_ask(const struct api_call *call, const char *path, const struct api_argument *arguments,
                uint32_t count, unsigned *ret_status);

/* Answer with the object, which is taken over. */
void api_json(struct api_call *call, unsigned status, json_t *object);

/* Answer with {"error": ...}. */
void api_error(struct api_call *call, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of an argument, or NULL. */
const char *api_argument(const struct api_call *call, const char *key);

/* The argument 'limit' or its default; false: it was answered with an error. */
bool api_limit(struct api_call *call, uint32_t *ret);

/* Fields of objects. Texts may be NULL and may hold any bytes; prices may be MONEY_UNKNOWN, times
 * -1 or MSEC_NEVER: these become null. */
json_t *api_text(const char *text);
void api_set_text(json_t *object, const char *key, const char *text);
void api_set_number(json_t *object, const char *key, int64_t value);
void api_set_bool(json_t *object, const char *key, bool value);
void api_set_money(json_t *object, const char *key, money_t value);
void api_set_time(json_t *object, const char *key, msec_t value);
void api_set_resources(json_t *object, const struct res *res);

/* Of a name's number, NULL where it is not known. */
const char *api_name(const struct names *names, uint32_t number);

/* What the bill of the instance would be if it ended now. */
money_t api_bill_now(const struct api_call *call, uint32_t instance);

/* What the tasks of the job owe so far. */
money_t api_job_cost(const struct api_call *call, uint32_t job);

/* How long the task has run by now; the view knows it as of the last event. */
msec_t api_executed(const struct api_call *call, uint32_t task);

/* The demands of the shape on any family: of the cheapest machine that holds it, or the first. */
const struct res *api_shape_demand(const struct api_call *call, uint32_t shape);

/* How far the job is: the state of its furthest task. */
enum task_state api_job_state(const struct view *view, uint32_t job, uint32_t ret_count[4]);

/* The bound and the gap to it; null: not known yet. */
json_t *api_bound(const struct serve_world *world);

/* The markets that the job may run in, and the same in words; null and "": any. */
json_t *api_market(const struct api_call *call, uint32_t job, char *ret, size_t size);

/* How long the task will run in all, as far as is known by now: more than it has run. */
msec_t api_expected_ms(const struct api_call *call, uint32_t task);

/* By what that is judged, and the same in words; null and "": no end is known. */
json_t *api_forecast(const struct api_call *call, uint32_t task, char *ret, size_t size);

/* A forecast for programs. */
json_t *api_forecast_json(const struct forecast *forecast);

/* What the task pays per hour: its part of its machine's price; 'alone' if it has none. */
money_t api_pays_per_hour(const struct api_call *call, uint32_t task, money_t alone);

/* What the price comes to over that time; MONEY_UNKNOWN: one of them is not known. */
money_t api_price_of_span(money_t per_hour, msec_t span);
money_t api_add_money(money_t sum, money_t more);

/* The limit in words for people, "" for one that others tell. */
void api_limit_text(const struct api_call *call, enum controller_limit limit, char *ret,
                    size_t size);

/* Whether the offer is left alone for a while; by whom and until when. */
bool api_is_refused(const struct api_call *call, uint32_t offer, struct cloud_refusal *ret);

/* Whether the task waits by a choice of the policy; then for what, in fields and in words. */
bool api_wait_choice(const struct api_call *call, const struct controller_wait *wait,
                     json_t *object, char *ret, size_t size);

/* Why the task waits: its rule, and all that is known of that, in fields and in words. */
void api_wait_fields(const struct api_call *call, const struct controller_wait *wait,
                     json_t *object, char *ret, size_t size);

/* The tasks that wait, each with its rule, at most 'most'. */
json_t *api_waits(const struct api_call *call, uint32_t most);

/* "90 s", "12 min", "3 h 20 min". */
void api_span_text(msec_t span, char *ret, size_t size);

void api_jobs(struct api_call *call);
void api_instances(struct api_call *call);
void api_offers(struct api_call *call);
void api_plan(struct api_call *call);
void api_estimate(struct api_call *call);
void api_explain(struct api_call *call);
void api_history(struct api_call *call);
void api_ledger(struct api_call *call);

#endif
