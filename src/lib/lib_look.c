/* SPDX-License-Identifier: Apache-2.0 */
/* What a controller knows, in the words of include/stint/. */
#include <assert.h>
#include <errno.h>

#include "lib/lib_private.h"

/* The limit as the key that sets it, where there is one. */
static const char *limit_text(enum controller_limit limit)
{
    static const char *const texts[] = {
        [LIMIT_INSTANCES] = "max_instances",
        [LIMIT_PRICE] = "max_price_per_hour",
        [LIMIT_NO_RENT] = "rent_nothing",
        [LIMIT_PROBE] = "machines do not become ready",
        [LIMIT_BUDGET] = "the budget",
        [LIMIT_DOUBT] = "the cloud's list lacks too many machines",
        [LIMIT_TURN] = "others came before it and wait for what a limit allows",
        [LIMIT_RIVAL] = "another process rents for this cluster",
        [LIMIT_BURST] = "it waits for owned machines",
        [LIMIT_CAP] = "a limit of its account or the like",
    };

    if (limit == LIMIT_NONE)
        return NULL;
    if ((size_t)limit < sizeof(texts) / sizeof(texts[0]) && texts[limit] != NULL)
        return texts[limit];
    return "a limit";
}

static enum stint_task_state task_state(uint8_t state)
{
    switch ((enum task_state)state) {
    case TASK_FREE:
    case TASK_WAITING:
    case TASK_HIDDEN:
        return STINT_TASK_WAITING;
    case TASK_BOUND:
        return STINT_TASK_BOUND;
    case TASK_RUNNING:
        return STINT_TASK_RUNNING;
    }
    return STINT_TASK_WAITING;
}

int stint_controller_task(const struct stint_controller *controller, uint64_t task,
                          struct stint_task *ret)
{
    const struct view *view = controller_view(controller->control);
    const uint32_t row = view_find_task(view, task);

    if (row == ROW_NONE)
        return -ENOENT;

    const uint32_t instance = view->task.instance[row];
    const struct controller_wait wait = controller_wait_of(controller->control, row);
    const struct stint_task found = {
        .state = task_state(view->task.state[row]),
        .job = view->job.id[view->task.job[row]],
        .instance = instance != ROW_NONE ? view->instance.id[instance] : 0,
        .started_at = view->task.state[row] == TASK_RUNNING ? view->task.launched_at[row] : -1,
        .estimate_ms = view->task.estimate_ms[row],
        .cost = ledger_due(controller_ledger(controller->control), row).cost,
        .not_before = wait.not_before,
        .limit = limit_text(wait.limit),
    };

    return lib_give(ret, &found, sizeof(found), sizeof(struct stint_task));
}

int stint_controller_wait(const struct stint_controller *controller, uint64_t task,
                          struct stint_wait *ret)
{
    const struct view *view = controller_view(controller->control);
    const uint32_t row = view_find_task(view, task);

    if (row == ROW_NONE)
        return -ENOENT;

    const struct controller_wait wait = controller_wait_of(controller->control, row);
    const struct plan_wait *choice = &wait.choice;
    const bool is_waiting = wait.rule != WAIT_NONE;
    const struct stint_wait found = {
        .rule = is_waiting ? plan_wait_word(wait.rule) : NULL,
        .text = is_waiting ? plan_wait_text(wait.rule) : NULL,
        .limit = limit_text(wait.limit),
        .instance = wait.instance,
        .offer = choice->offer != OFFER_NONE ? choice->offer : STINT_NONE,
        .rent_offer = choice->rent_offer != OFFER_NONE ? choice->rent_offer : STINT_NONE,
        .expected_at = choice->expected != MSEC_NEVER ? choice->expected : STINT_NEVER,
        .until = choice->until != MSEC_NEVER ? choice->until : STINT_NEVER,
        .rent_cost = choice->rent_cost != MONEY_UNKNOWN ? choice->rent_cost : STINT_MONEY_UNKNOWN,
        .wait_cost = choice->wait_cost != MONEY_UNKNOWN ? choice->wait_cost : STINT_MONEY_UNKNOWN,
    };

    return lib_give(ret, &found, sizeof(found), sizeof(struct stint_wait));
}

static enum stint_instance_state instance_state(uint8_t state)
{
    switch ((enum instance_state)state) {
    case INSTANCE_FREE:
    case INSTANCE_REQUESTED:
        return STINT_INSTANCE_REQUESTED;
    case INSTANCE_BOOTING:
        return STINT_INSTANCE_BOOTING;
    case INSTANCE_READY:
        return STINT_INSTANCE_READY;
    case INSTANCE_DRAINING:
        return STINT_INSTANCE_DRAINING;
    case INSTANCE_RETURNED:
        return STINT_INSTANCE_RETURNED;
    }
    return STINT_INSTANCE_REQUESTED;
}

int stint_controller_instance(const struct stint_controller *controller, uint64_t instance,
                              struct stint_instance *ret)
{
    const struct view *view = controller_view(controller->control);
    const uint32_t row = view_find_instance(view, instance);

    if (row == ROW_NONE)
        return -ENOENT;

    const struct stint_instance found = {
        .state = instance_state(view->instance.state[row]),
        .offer = view->instance.offer[row],
        .task_count = view->instance.task_count[row],
        .used = lib_resources(&view->instance.used[row]),
        .rented_at = view->instance.rented_at[row],
        .billed_from = view->instance.billed_from[row],
    };

    return lib_give(ret, &found, sizeof(found), sizeof(struct stint_instance));
}

uint64_t stint_controller_next_instance(const struct stint_controller *controller,
                                        uint64_t instance)
{
    const struct view *view = controller_view(controller->control);
    uint32_t row = view->instance.first;

    if (instance != 0) {
        row = view_find_instance(view, instance);
        row = row != ROW_NONE ? view->instance.next[row] : ROW_NONE;
    }
    return row != ROW_NONE ? view->instance.id[row] : 0;
}

int stint_controller_totals(const struct stint_controller *controller, struct stint_totals *ret)
{
    const struct view *view = controller_view(controller->control);
    const struct ledger_totals *books = ledger_totals(controller_ledger(controller->control));
    const struct controller_stats *stats = controller_stats(controller->control);
    struct stint_totals totals = {
        .bill = books->sums.bill,
        .boot = books->sums.boot,
        .idle = books->sums.idle,
        .work = books->sums.work,
        .price_per_hour = controller_price_per_hour(controller->control),
        .tasks = view->task.living,
        .tasks_waiting = view->task.waiting_count,
        .instances = view->instance.living,
        .bills_open = books->open,
        .decisions = stats->decisions,
        .rented = stats->rented,
        .refused = stats->refused,
        .lost = stats->lost,
        .migrations = stats->migrations,
        .late_events = stats->late_events,
    };

    for (int cause = 0; cause < EVICTION_CAUSES; cause++)
        totals.evictions += stats->evicted[cause];
    return lib_give(ret, &totals, sizeof(totals), sizeof(struct stint_totals));
}
