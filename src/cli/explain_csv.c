/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain_csv.h"

#include <assert.h>
#include <inttypes.h>

#include "draw/csv_text.h"
#include "draw/digits.h"

enum { MONEY_DIGITS = 6, TIME_DIGITS = 3 };

static const char *const columns[] = {
    "policy",
    "seed",
    "decision",
    "time_s",
    "what",
    "job",
    "task",
    "workload",
    "from",
    "instance",
    "type",
    "market",
    "reason",
    "price",
    "passed_over_type",
    "passed_over_market",
    "passed_over_price",
    "saving",
    "move_cost",
    "expected_s",
    "full_saving",
    "full_migration",
    "full_total",
    "partial_saving",
    "partial_migration",
    "partial_total",
};

enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]), DECISION_COLUMNS = 5 };

/* One line, written from left to right. */
struct line {
    FILE *out;
    uint32_t cells;
};

/* Digits, or nothing: as they are. */
static void put_plain(struct line *line, const char *text)
{
    if (line->cells++ > 0)
        (void)fputc(',', line->out);
    (void)fputs(text, line->out);
}

static void put_text(struct line *line, const char *text)
{
    put_plain(line, "");
    if (text[0] != '\0')
        csv_text(line->out, text);
}

static void put_empty(struct line *line, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_plain(line, "");
}

static void put_number(struct line *line, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    put_plain(line, text);
}

static void put_fixed(struct line *line, int64_t value, uint32_t digits)
{
    put_plain(line, digits_of_fixed(value, digits, digits, DIGITS_PLAIN).text);
}

static void put_money(struct line *line, money_t value)
{
    if (value == MONEY_UNKNOWN)
        put_empty(line, 1);
    else
        put_fixed(line, value, MONEY_DIGITS);
}

static void put_offer(struct line *line, const struct catalogue *catalogue, uint32_t offer)
{
    if (offer == OFFER_NONE) {
        put_empty(line, 2);
        return;
    }
    put_text(line, catalogue_offer_type_name(catalogue, offer));
    put_text(line, market_name(catalogue->offers[offer].market));
}

/* Whose decision, which, when, and what it does. */
static struct line begin(const struct explain_csv *explain, const struct view *view,
                         const char *what)
{
    struct line line = { .out = explain->out };

    put_text(&line, explain->policy);
    put_number(&line, explain->seed);
    put_number(&line, explain->decision);
    put_fixed(&line, view->now, TIME_DIGITS);
    put_text(&line, what);
    assert(line.cells == DECISION_COLUMNS);
    return line;
}

static void end(struct line *line)
{
    assert(line->cells <= COLUMN_COUNT);
    put_empty(line, COLUMN_COUNT - line->cells);
    (void)fputc('\n', line->out);
}

static void put_reason(struct line *line, const struct view *view, const struct plan_reason *why)
{
    put_text(line, plan_reason_text(why->code));
    put_money(line, why->chosen);
    put_offer(line, view->catalogue, why->passed_offer);
    put_money(line, why->passed_over);
    put_money(line, why->saving);
    put_money(line, why->move_cost);
}

/* A machine that is still to be rented has no id: its number in this decision. */
static void put_fresh(struct line *line, uint32_t rent)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "new-%u", rent + 1);
    put_text(line, text);
}

static void tell_rent(const struct explain_csv *explain, const struct view *view,
                      const struct plan *plan, uint32_t index)
{
    const struct plan_rent *rent = &plan->rents[index];
    struct line line = begin(explain, view, "rent");

    put_empty(&line, 4);
    put_fresh(&line, index);
    put_offer(&line, view->catalogue, rent->offer);
    put_reason(&line, view, &rent->why);
    end(&line);
}

static void put_task(struct line *line, const struct explain_csv *explain, const struct view *view,
                     uint32_t task)
{
    const uint64_t in_trace = view->job.id[view->task.job[task]];
    const struct shape *shape = &view->shapes->rows[view->task.shape[task]];

    assert(in_trace < explain->trace->job_count);
    put_number(line, explain->trace->jobs[in_trace].id);
    put_number(line, view->task.id[task]);
    put_text(line, names_text(&view->shapes->names, shape->name));
}

static void tell_place(const struct explain_csv *explain, const struct view *view,
                       const struct plan *plan, uint32_t index)
{
    const struct plan_place *place = &plan->places[index];
    const uint32_t now_on = view->task.instance[place->task];
    struct line line = begin(explain, view, now_on == ROW_NONE ? "place" : "move");

    put_task(&line, explain, view, place->task);
    if (now_on == ROW_NONE)
        put_empty(&line, 1);
    else
        put_number(&line, view->instance.id[now_on]);
    if (place->fresh) {
        put_fresh(&line, place->target);
        put_offer(&line, view->catalogue, plan->rents[place->target].offer);
    } else {
        put_number(&line, view->instance.id[place->target]);
        put_offer(&line, view->catalogue, view->instance.offer[place->target]);
    }
    put_reason(&line, view, &place->why);
    end(&line);
}

static void tell_release(const struct explain_csv *explain, const struct view *view,
                         const struct plan_release *release)
{
    struct line line = begin(explain, view, "release");

    put_empty(&line, 4);
    put_number(&line, view->instance.id[release->instance]);
    put_offer(&line, view->catalogue, view->instance.offer[release->instance]);
    put_reason(&line, view, &release->why);
    end(&line);
}

static void tell_suspend(const struct explain_csv *explain, const struct view *view,
                         const struct plan_suspend *suspend)
{
    struct line line = begin(explain, view, "suspend");

    put_task(&line, explain, view, suspend->task);
    put_number(&line, view->instance.id[view->task.instance[suspend->task]]);
    put_empty(&line, 3);
    put_reason(&line, view, &suspend->why);
    end(&line);
}

/* A task that begins to wait by choice. The prices are those of the machine that it waits for, and of what could be rented for
 * it now. */
static void tell_wait(const struct explain_csv *explain, const struct view *view,
                      const struct plan_wait *wait)
{
    struct line line = begin(explain, view, "wait");

    put_task(&line, explain, view, wait->task);
    put_empty(&line, 1);
    if (wait->target == UINT32_MAX)
        put_empty(&line, 1);
    else if (wait->fresh)
        put_fresh(&line, wait->target);
    else
        put_number(&line, view->instance.id[wait->target]);
    put_offer(&line, view->catalogue, wait->offer);
    put_text(&line, plan_wait_text(wait->rule));
    put_money(&line, wait->offer != OFFER_NONE ? view->offer_price[wait->offer] : MONEY_UNKNOWN);
    put_offer(&line, view->catalogue, wait->rent_offer);
    put_money(&line,
              wait->rent_offer != OFFER_NONE ? view->offer_price[wait->rent_offer] : MONEY_UNKNOWN);
    end(&line);
}

static void put_candidate(struct line *line, const struct plan_candidate *candidate)
{
    put_money(line, candidate->saving_per_hour);
    put_money(line, candidate->migration);
    put_money(line, candidate->total);
}

/* Whether both candidates were built; a policy may be configured to consider one kind only. */
static bool was_weighed(const struct plan *plan)
{
    return plan->kind != PLAN_PLAIN && plan->expected_ms > 0;
}

static void tell_keep(const struct explain_csv *explain, const struct view *view,
                      const struct plan *plan)
{
    static const char *const kinds[] = {
        [PLAN_PLAIN] = "",
        [PLAN_PARTIAL] = "; a partial reconfiguration",
        [PLAN_FULL] = "; a full reconfiguration",
    };
    struct line line = begin(explain, view, "keep");
    uint32_t open = 0;
    money_t price = 0;
    char reason[80];

    INSTANCE_EACH(instance, view)
    {
        if (view_is_open(view, instance)) {
            open++;
            price += view->offer_price[view->instance.offer[instance]];
        }
    }
    for (uint32_t i = 0; i < plan->release_count; i++)
        price -= view->offer_price[view->instance.offer[plan->releases[i].instance]];
    assert(plan->release_count <= open);
    (void)snprintf(reason, sizeof(reason), "%u of %u machines stay%s", open - plan->release_count,
                   open, kinds[plan->kind]);

    put_empty(&line, 7);
    put_text(&line, reason);
    put_money(&line, price);
    put_empty(&line, 5);
    if (was_weighed(plan)) {
        put_fixed(&line, plan->expected_ms, TIME_DIGITS);
        put_candidate(&line, &plan->full);
        put_candidate(&line, &plan->partial);
    }
    end(&line);
}

void explain_csv_header(FILE *out)
{
    struct line line = { .out = out };

    for (uint32_t i = 0; i < COLUMN_COUNT; i++)
        put_text(&line, columns[i]);
    end(&line);
}

void explain_csv_plan(struct explain_csv *explain, const struct view *view, const struct plan *plan)
{
    uint32_t waits = 0;

    explain->decision++;
    for (uint32_t i = 0; i < plan->wait_count; i++)
        waits += plan->waits[i].is_new;
    if (plan->rent_count + plan->place_count + plan->release_count + plan->suspend_count + waits ==
            0 &&
        !was_weighed(plan))
        return;
    for (uint32_t i = 0; i < plan->rent_count; i++)
        tell_rent(explain, view, plan, i);
    for (uint32_t i = 0; i < plan->place_count; i++)
        tell_place(explain, view, plan, i);
    for (uint32_t i = 0; i < plan->suspend_count; i++)
        tell_suspend(explain, view, &plan->suspends[i]);
    for (uint32_t i = 0; i < plan->wait_count; i++) {
        if (plan->waits[i].is_new)
            tell_wait(explain, view, &plan->waits[i]);
    }
    for (uint32_t i = 0; i < plan->release_count; i++)
        tell_release(explain, view, &plan->releases[i]);
    tell_keep(explain, view, plan);
}
