/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits and budgets of accounts, users, partitions and QOS in the daemon: from the configuration and the store, and
 * in words. What is spent is counted in daemon_books.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"

enum { TEXT_MAX = 4 << 20 };

static bool has_caps(const struct daemon *daemon)
{
    return daemon->conf.caps.count > 0;
}

void daemon_caps_start(struct daemon *daemon)
{
    cap_books_init(&daemon->caps, &daemon->conf.caps, daemon->now);
    daemon->caps_at = daemon->now;
    if (!has_caps(daemon))
        return;
    char *text = mem_alloc(TEXT_MAX, 1);

    store_marked(daemon->store, MARK_CAPS, text, TEXT_MAX);
    if (!cap_books_read(&daemon->caps, text))
        LOG_WARNING(
            "the state file does not give the costs of accounts and users, so their budgets begin at "
            "zero");
    mem_free(text);
    (void)cap_books_judge(&daemon->caps);
}

void daemon_caps_tune(struct daemon *daemon, const struct conf_caps *conf)
{
    for (uint32_t i = 0; i < daemon->conf.caps.count; i++) {
        struct conf_cap *row = &daemon->conf.caps.row[i];

        row->max_instances = conf->row[i].max_instances;
        row->max_price_per_hour = conf->row[i].max_price_per_hour;
        row->max_per_day = conf->row[i].max_per_day;
        row->max_per_month = conf->row[i].max_per_month;
    }
    cap_books_tune(&daemon->caps, &daemon->conf.caps);
    daemon->caps_at = daemon->now;
}

uint32_t daemon_caps_of(void *context, const struct engine_owner *owner)
{
    struct daemon *daemon = context;

    return cap_books_set(&daemon->caps, owner);
}

/*
 * For people.
 */

static const char *label_of(const struct daemon *daemon, uint32_t cap)
{
    return strchr(names_text(&daemon->caps.labels, cap), ':') + 1;
}

static bool is_under(const struct daemon *daemon, uint32_t set, uint32_t cap)
{
    const struct cap_set *caps = &daemon->caps.caps.sets[set];

    for (uint32_t i = 0; i < caps->count; i++) {
        if (caps->cap[i] == cap)
            return true;
    }
    return false;
}

/* What of a cap is in use now. */
static struct serve_cap cap_of(const struct daemon *daemon, uint32_t cap)
{
    const struct view *view = controller_view(daemon->controller);
    const struct cap_spent *spent = &daemon->caps.row[cap];
    struct serve_cap ret = {
        .owner = label_of(daemon, cap),
        .max_instances = daemon->caps.caps.row[cap].max_instances,
        .max_price_per_hour = daemon->caps.caps.row[cap].max_price_per_hour,
        .is_spent = daemon->caps.caps.row[cap].is_spent,
    };

    for (enum budget_kind i = 0; i < BUDGETS; i++)
        ret.budgets[i] = (struct serve_budget){ .period = budget_word(i),
                                                .limit = spent->limit[i],
                                                .spent = spent->spent[i],
                                                .until = daemon->caps.until[i],
                                                .warn_percent = daemon->conf.warn_percent };
    INSTANCE_EACH(instance, view)
    {
        bool has = false;

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            has = has || is_under(daemon, view->job.caps[view->task.job[task]], cap);
        }
        has = has && !view_is_owned(view, instance);
        ret.instances += has;
        if (has)
            ret.price_per_hour += view->offer_price[view->instance.offer[instance]];
    }
    return ret;
}

void daemon_each_cap(void *context, void (*each)(void *to, const struct serve_cap *cap), void *to)
{
    const struct daemon *daemon = context;

    for (uint32_t i = 0; has_caps(daemon) && i < daemon->caps.caps.count; i++) {
        const struct serve_cap cap = cap_of(daemon, i);

        each(to, &cap);
    }
}

/* The budget that is used up; the month's, if both are. */
static void spent_text(const struct daemon *daemon, const struct serve_cap *cap,
                       struct serve_wait *ret)
{
    char spent[SERVE_TEXT] = "";

    for (enum budget_kind i = 0; i < BUDGETS; i++) {
        const struct serve_budget *budget = &cap->budgets[i];

        if (budget->limit == 0 || budget->spent < budget->limit)
            continue;
        serve_budget_text(budget, daemon->now, spent, sizeof(spent));
        ret->until = budget->until;
    }
    ret->why = "owner-budget";
    (void)snprintf(ret->text, sizeof(ret->text), "the budget of %.80s is spent: %.150s", cap->owner,
                   spent);
}

bool daemon_waits_for_cap(const struct daemon *daemon, uint64_t task, struct serve_wait *ret)
{
    const uint32_t row = view_find_task(controller_view(daemon->controller), task);

    if (!has_caps(daemon) || row == ROW_NONE)
        return false;
    const struct controller_wait wait = controller_wait_of(daemon->controller, row);

    if (wait.limit != LIMIT_CAP || wait.capped.reason == CAPPED_NOT)
        return false;
    const struct serve_cap cap = cap_of(daemon, wait.capped.cap);
    char price[SERVE_TEXT];
    char most[SERVE_TEXT];

    *ret = (struct serve_wait){ .why = "owner-limit", .until = MSEC_NEVER };
    if (wait.capped.reason == CAPPED_SPENT) {
        spent_text(daemon, &cap, ret);
    } else if (wait.capped.reason == CAPPED_INSTANCES) {
        (void)snprintf(ret->text, sizeof(ret->text),
                       "limit instances of %.80s: its jobs are on %" PRIu32 " of %" PRIu32
                       " machines",
                       cap.owner, cap.instances, cap.max_instances);
    } else {
        serve_money_text(cap.price_per_hour, price, sizeof(price));
        serve_money_text(cap.max_price_per_hour, most, sizeof(most));
        (void)snprintf(
            ret->text, sizeof(ret->text),
            "limit dollars_per_hour of %.80s: its machines cost $%.30s of $%.30s, and one more would "
            "exceed that",
            cap.owner, price, most);
    }
    return true;
}
