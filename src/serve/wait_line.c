/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/wait_line.h"

#include <stdio.h>
#include <string.h>

#include "serve/api_private.h"

struct wait_line {
    struct api_call call;
    char *text;
    size_t size;
};

static int put(const struct wait_line *line, const char *text)
{
    const size_t length = strnlen(text, line->size - 1);

    memcpy(line->text, text, length);
    line->text[length] = '\0';
    return (int)length;
}

/* Figures stand behind a colon, and move. */
static int put_limit(const struct wait_line *line, const char *text)
{
    static const char prefix[] = "limit ";
    const char *colon = strstr(text, ": ");
    const bool is_limit = strncmp(text, prefix, sizeof(prefix) - 1) == 0;
    char cut[SERVE_TEXT];

    (void)snprintf(cut, sizeof(cut), "%.*s%s",
                   colon == NULL ? (int)sizeof(cut) : (int)(colon - text), text,
                   is_limit && colon != NULL ? " is reached" : "");
    return put(line, cut);
}

/* What the engine, the operator and the budgets say. */
static int put_beyond(const struct wait_line *line, uint64_t task)
{
    static const char *const moving[] = { "budget", "owner-budget", "owner-limit" };
    const struct serve_world *world = line->call.world;
    struct serve_wait beyond;

    if (world->waits == NULL || world->waits(world->context, task, &beyond, 1) == 0)
        return 0;
    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
        if (strcmp(beyond.why, moving[i]) == 0)
            return put_limit(line, beyond.text);
    }
    return put(line, beyond.text);
}

static int put_bound(const struct wait_line *line, uint32_t task)
{
    const struct view *view = line->call.view;
    const uint32_t instance = view->task.instance[task];
    const uint8_t state = view->instance.state[instance];
    const msec_t expected = view->instance.ready_expected[instance];
    char name[64];
    char ready[64];
    char text[SERVE_TEXT];

    serve_machine_text(line->call.world, view->instance.id[instance], name, sizeof(name));
    if (state == INSTANCE_REQUESTED || state == INSTANCE_BOOTING) {
        adapter_clock_text(expected, line->call.now, ready, sizeof(ready));
        (void)snprintf(text, sizeof(text), "waits for %s, which %s (%s %s)", name,
                       state == INSTANCE_REQUESTED ? "is requested" : "boots",
                       expected > line->call.now ? "expected" : "was expected", ready);
    } else {
        (void)snprintf(text, sizeof(text), "waits for its start on %s", name);
    }
    return put(line, text);
}

/* Whether the catalogue has an offer that holds it, and whether one of those may be asked for. */
static bool is_offered(const struct wait_line *line, uint32_t shape, bool *ret_is_free)
{
    const struct api_call *call = &line->call;
    const struct catalogue *catalogue = call->view->catalogue;
    bool is_held = false;

    *ret_is_free = false;
    for (uint32_t i = 0; i < catalogue->offer_count && !*ret_is_free; i++) {
        struct cloud_refusal refusal;

        if (!shape_fits_offer(call->view->shapes, shape, catalogue, i))
            continue;
        is_held = true;
        *ret_is_free = !api_is_refused(call, i, &refusal);
    }
    return is_held;
}

static int put_offers(const struct wait_line *line, uint32_t task, enum plan_wait_rule rule)
{
    const struct view *view = line->call.view;
    const uint32_t shape = view->task.shape[task];
    bool is_free = false;

    if (!is_offered(line, shape, &is_free))
        return put(line, shape_has_rules(view->shapes, shape)
                             ? "no machine type in its current markets is large enough"
                             : "no machine type is large enough");
    if (!is_free)
        return put(line, "the cloud has no large enough machine at the moment");
    return put(line, plan_wait_text(rule));
}

static int put_unbound(const struct wait_line *line, uint32_t task)
{
    const struct api_call *call = &line->call;
    const struct controller_wait wait = controller_wait_of(call->world->controller, task);
    char limit[4 * SERVE_TEXT];
    char until[64];
    char text[SERVE_TEXT];

    if (wait.limit == LIMIT_BUDGET)
        return put(line, "the rest of the budget is too small for its machine");
    api_limit_text(call, wait.limit, limit, sizeof(limit));
    if (limit[0] != '\0')
        return put_limit(line, limit);
    if (wait.not_before > call->now) {
        adapter_clock_text(wait.not_before, call->now, until, sizeof(until));
        (void)snprintf(text, sizeof(text), "its last start failed; the next try is at %s", until);
        return put(line, text);
    }
    if (wait.is_queued)
        return put(line, "a short job: it starts as soon as any machine has free capacity");
    if (call->world->draining)
        return put(line, "Stint is draining and rents nothing");
    return put_offers(line, task, wait.rule);
}

/* The task of the job that is the furthest behind: what the whole waits for. */
static uint32_t hindmost(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    uint32_t found = task;

    for (uint32_t other = view->job.first_task[job]; other != ROW_NONE;
         other = view->task.sibling[other]) {
        if (view->task.state[other] < view->task.state[found])
            found = other;
    }
    return found;
}

int serve_wait_line(struct serve_world *world, uint64_t task, msec_t now, char *ret, size_t size)
{
    const struct view *view = controller_view(world->controller);
    const struct wait_line line = { .call = { .world = world, .view = view, .now = now },
                                    .text = ret,
                                    .size = size };
    uint32_t row = view_find_task(view, task);

    ret[0] = '\0';
    if (!world->ready)
        return -1;
    const int beyond = put_beyond(&line, task);

    if (beyond > 0)
        return beyond;
    if (row == ROW_NONE)
        return -1;
    row = hindmost(view, row);
    if (view->task.state[row] == TASK_RUNNING)
        return 0;
    return view->task.state[row] == TASK_WAITING ? put_unbound(&line, row) : put_bound(&line, row);
}
