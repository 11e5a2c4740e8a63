/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the books stay exact:
 *
 *  1. The cost of an account up to a cut is floor(price * time) over the whole time since it was
 *     opened. The part below a micro-dollar ('rest') is carried to the next cut, so the cuts sum up
 *     to price_between over the whole, however many there were.
 *  2. A cut is split by running sums of the weights: the borders between tasks are rounded to whole
 *     micro-dollars, and each pays what lies between its two borders. The first border is 0 and the
 *     last is the cost, so the parts sum up to the cost in one pass.
 *  3. Closing books the difference to billing_charge as idle. It is below zero if a cut was made
 *     after the bill had ended, by a report that came before the news of the end.
 *
 * A 'stay' is one task on one instance. It is in two lists: of its instance, in the order of entry,
 * and of its task.
 */
#include "control/books/ledger.h"

#include <assert.h>

#include "base/limits.h"
#include "base/mem.h"

#define NONE UINT32_MAX

__extension__ typedef __int128 wide_t;

struct stay {
    uint32_t instance;
    uint32_t task;
    uint32_t weight;
    uint32_t next; /* of the same instance; of the free ones */
    uint32_t prev;
    uint32_t next_of_task;
};

struct account {
    const struct offer *offer; /* borrowed; NULL: not open */
    msec_t from;
    msec_t until; /* the last cut */
    int64_t rest; /* micro-dollars per hour times ms that are not booked yet; below one whole */
    struct ledger_sums sums;
    uint64_t weight; /* of all stays */
    uint32_t first_stay;
    uint32_t last_stay;
    bool ready;
    bool is_noted; /* among the changed ones */
};

struct task_account {
    struct ledger_due due;
    uint32_t first_stay;
    bool is_noted;
};

/* Rows that have changed since somebody asked. */
struct changes {
    uint32_t *rows;
    uint32_t count;
    uint32_t room;
};

struct ledger {
    struct account *accounts; /* by row of the instance */
    struct task_account *tasks;
    struct stay *stays;
    money_t *of_type; /* what totals.of_type shows */
    uint32_t account_count, accounts_room;
    uint32_t task_count, tasks_room;
    uint32_t stay_count, stays_room;
    uint32_t types_room;
    uint32_t free_stay;
    struct changes changed_accounts;
    struct changes changed_tasks;
    money_t closed; /* bills of closed accounts, for ledger_check */
    struct ledger_totals totals;
};

struct ledger *ledger_create(void)
{
    struct ledger *ledger = mem_alloc(1, sizeof(*ledger));

    ledger->free_stay = NONE;
    return ledger;
}

void ledger_destroy(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    mem_free(ledger->accounts);
    mem_free(ledger->tasks);
    mem_free(ledger->stays);
    mem_free(ledger->changed_accounts.rows);
    mem_free(ledger->changed_tasks.rows);
    mem_free(ledger->of_type);
    mem_free(ledger);
}

/*
 * Rows, made on demand.
 */

static struct account *open_account(const struct ledger *ledger, uint32_t instance)
{
    if (instance >= ledger->account_count || ledger->accounts[instance].offer == NULL)
        return NULL;
    return &ledger->accounts[instance];
}

static void reach_account(struct ledger *ledger, uint32_t instance)
{
    assert(instance < NONE);
    MEM_ROOM(ledger->accounts, ledger->accounts_room, instance + 1);
    while (ledger->account_count <= instance)
        ledger->accounts[ledger->account_count++] = (struct account){ 0 };
}

static void note_change(struct changes *changes, uint32_t row, bool *is_noted)
{
    if (*is_noted)
        return;
    *is_noted = true;
    MEM_ROOM(changes->rows, changes->room, changes->count + 1);
    changes->rows[changes->count++] = row;
}

static void account_changed(struct ledger *ledger, const struct account *account)
{
    const uint32_t row = (uint32_t)(account - ledger->accounts);

    note_change(&ledger->changed_accounts, row, &ledger->accounts[row].is_noted);
}

static void due_changed(struct ledger *ledger, uint32_t task)
{
    note_change(&ledger->changed_tasks, task, &ledger->tasks[task].is_noted);
}

uint32_t ledger_take_changed_account(struct ledger *ledger)
{
    if (ledger->changed_accounts.count == 0)
        return LEDGER_NONE;

    const uint32_t row = ledger->changed_accounts.rows[--ledger->changed_accounts.count];

    ledger->accounts[row].is_noted = false;
    return row;
}

uint32_t ledger_take_changed_due(struct ledger *ledger)
{
    if (ledger->changed_tasks.count == 0)
        return LEDGER_NONE;

    const uint32_t row = ledger->changed_tasks.rows[--ledger->changed_tasks.count];

    ledger->tasks[row].is_noted = false;
    return row;
}

static void reach_task(struct ledger *ledger, uint32_t task)
{
    assert(task < NONE);
    MEM_ROOM(ledger->tasks, ledger->tasks_room, task + 1);
    while (ledger->task_count <= task)
        ledger->tasks[ledger->task_count++] = (struct task_account){ .first_stay = NONE };
}

static void reach_type(struct ledger *ledger, uint32_t type)
{
    assert(type < NONE);
    MEM_ROOM(ledger->of_type, ledger->types_room, type + 1);
    while (ledger->totals.type_count <= type)
        ledger->of_type[ledger->totals.type_count++] = 0;
    ledger->totals.of_type = ledger->of_type;
}

/*
 * Stays and their two lists.
 */

static uint32_t find_stay(const struct ledger *ledger, uint32_t instance, uint32_t task)
{
    if (task >= ledger->task_count)
        return NONE;

    uint32_t stay = ledger->tasks[task].first_stay;

    while (stay != NONE && ledger->stays[stay].instance != instance)
        stay = ledger->stays[stay].next_of_task;
    return stay;
}

static uint32_t fresh_stay(struct ledger *ledger)
{
    const uint32_t stay = ledger->free_stay;

    if (stay != NONE) {
        ledger->free_stay = ledger->stays[stay].next;
        return stay;
    }
    MEM_ROOM(ledger->stays, ledger->stays_room, ledger->stay_count + 1);
    return ledger->stay_count++;
}

static void add_stay(struct ledger *ledger, uint32_t instance, uint32_t task, uint32_t weight)
{
    const uint32_t stay = fresh_stay(ledger);
    struct account *account = &ledger->accounts[instance];

    ledger->stays[stay] = (struct stay){
        .instance = instance,
        .task = task,
        .weight = weight,
        .next = NONE,
        .prev = account->last_stay,
        .next_of_task = ledger->tasks[task].first_stay,
    };
    ledger->tasks[task].first_stay = stay;
    if (account->last_stay != NONE)
        ledger->stays[account->last_stay].next = stay;
    else
        account->first_stay = stay;
    account->last_stay = stay;
    account->weight += weight;
}

static void unlink_from_task(struct ledger *ledger, uint32_t stay)
{
    uint32_t *link = &ledger->tasks[ledger->stays[stay].task].first_stay;

    while (*link != stay)
        link = &ledger->stays[*link].next_of_task;
    *link = ledger->stays[stay].next_of_task;
}

static void remove_stay(struct ledger *ledger, uint32_t stay)
{
    struct stay *row = &ledger->stays[stay];
    struct account *account = &ledger->accounts[row->instance];

    unlink_from_task(ledger, stay);
    if (row->prev != NONE)
        ledger->stays[row->prev].next = row->next;
    else
        account->first_stay = row->next;
    if (row->next != NONE)
        ledger->stays[row->next].prev = row->prev;
    else
        account->last_stay = row->prev;
    account->weight -= row->weight;
    row->instance = NONE;
    row->next = ledger->free_stay;
    ledger->free_stay = stay;
}

/*
 * Booking.
 */

static void add_sums(struct ledger_sums *sums, const struct ledger_sums *part)
{
    sums->bill += part->bill;
    sums->boot += part->boot;
    sums->idle += part->idle;
    sums->work += part->work;
    sums->boot_ms += part->boot_ms;
    sums->idle_ms += part->idle_ms;
    sums->work_ms += part->work_ms;
}

static void post(struct ledger *ledger, struct account *account, const struct ledger_sums *part)
{
    add_sums(&account->sums, part);
    add_sums(&ledger->totals.sums, part);
    ledger->totals.of_market[account->offer->market] += part->bill;
    ledger->of_type[account->offer->type] += part->bill;
    account_changed(ledger, account);
}

/* What the time from the last cut until 'at' costs; the rest below a micro-dollar is carried. */
static money_t take_cost(struct account *account, msec_t at)
{
    const struct price_series *price = &account->offer->price;
    const wide_t hour = (wide_t)MSEC_PER_HOUR;
    wide_t sum = account->rest;

    for (msec_t from = account->until; from < at;) {
        const msec_t next = price_next_change(price, from);
        const msec_t end = next < at ? next : at;

        sum += (wide_t)price_at(price, from) * (end - from);
        from = end;
    }

    const wide_t cost = sum / hour;

    assert(cost <= INT64_MAX);
    account->rest = (int64_t)(sum % hour);
    return (money_t)cost;
}

/* Split 'cost' among the tasks of the account, by the borders between them. */
static void charge_tasks(struct ledger *ledger, const struct account *account, money_t cost,
                         msec_t span)
{
    const wide_t whole = account->weight;
    wide_t weight = 0;
    money_t border = 0;

    for (uint32_t stay = account->first_stay; stay != NONE; stay = ledger->stays[stay].next) {
        struct ledger_due *due = &ledger->tasks[ledger->stays[stay].task].due;

        weight += ledger->stays[stay].weight;

        const money_t next = (money_t)((cost * weight + whole / 2) / whole);

        due->cost += next - border;
        due->occupied_ms += span;
        due_changed(ledger, ledger->stays[stay].task);
        border = next;
    }
    assert(border == cost);
}

/* What the time since the last cut, which costs so much, was used for. */
static struct ledger_sums part_of(const struct account *account, money_t cost, msec_t span)
{
    struct ledger_sums part = { .bill = cost };

    if (!account->ready) {
        part.boot = cost;
        part.boot_ms = span;
    } else if (account->first_stay == NONE) {
        part.idle = cost;
        part.idle_ms = span;
    } else {
        part.work = cost;
        part.work_ms = span;
    }
    return part;
}

/* Cut the account's time at 'at', unless a later cut was made already. */
static void cut(struct ledger *ledger, struct account *account, msec_t at)
{
    if (at <= account->until)
        return;

    const msec_t span = at - account->until;
    const money_t cost = take_cost(account, at);
    const struct ledger_sums part = part_of(account, cost, span);

    account->until = at;
    if (part.work_ms > 0)
        charge_tasks(ledger, account, cost, span);
    post(ledger, account, &part);
}

/*
 * Reports.
 */

bool ledger_open(struct ledger *ledger, uint32_t instance, const struct offer *offer,
                 msec_t billed_from)
{
    assert(offer->market < MARKET_COUNT);
    assert(billed_from >= 0);
    if (open_account(ledger, instance) != NULL)
        return false;

    reach_account(ledger, instance);
    reach_type(ledger, offer->type);
    ledger->accounts[instance] = (struct account){
        .offer = offer,
        .from = billed_from,
        .until = billed_from,
        .first_stay = NONE,
        .last_stay = NONE,
        .is_noted = ledger->accounts[instance].is_noted,
    };
    account_changed(ledger, &ledger->accounts[instance]);
    ledger->totals.open++;
    ledger->totals.opened++;
    return true;
}

void ledger_offer_moved(struct ledger *ledger, uint32_t instance, const struct offer *offer)
{
    struct account *account = open_account(ledger, instance);

    if (account != NULL)
        account->offer = offer;
}

/* 139 years of the dearest machine that there may be. */
static bool is_sum(money_t money)
{
    const money_t most = INT64_MAX / 4;

    return money > -most && money < most;
}

static bool is_span(msec_t span)
{
    return span >= 0 && span <= LIMIT_TIME_MS;
}

/* It may come from a file that somebody changed. */
static bool is_sound(const struct ledger_account *account)
{
    const struct ledger_sums *sums = &account->sums;

    return account->rest >= 0 && account->rest < MSEC_PER_HOUR && account->from >= 0 &&
           account->until >= account->from && account->until <= LIMIT_TIME_MS &&
           is_sum(sums->boot) && is_sum(sums->idle) && is_sum(sums->work) &&
           is_span(sums->boot_ms) && is_span(sums->idle_ms) && is_span(sums->work_ms) &&
           sums->bill == sums->boot + sums->idle + sums->work &&
           sums->boot_ms + sums->idle_ms + sums->work_ms == account->until - account->from;
}

bool ledger_resume(struct ledger *ledger, uint32_t instance, const struct offer *offer,
                   const struct ledger_account *account)
{
    if (!is_sound(account) || !ledger_open(ledger, instance, offer, account->from))
        return false;

    struct account *mine = &ledger->accounts[instance];

    mine->until = account->until;
    mine->rest = account->rest;
    mine->ready = account->is_ready;
    post(ledger, mine, &account->sums);
    ledger->totals.carried += account->sums.work;
    return true;
}

void ledger_resume_due(struct ledger *ledger, uint32_t task, struct ledger_due due)
{
    reach_task(ledger, task);
    ledger->tasks[task].due.cost += due.cost;
    ledger->tasks[task].due.occupied_ms += due.occupied_ms;
    ledger->totals.carried -= due.cost;
    due_changed(ledger, task);
}

bool ledger_account(const struct ledger *ledger, uint32_t instance, struct ledger_account *ret)
{
    const struct account *account = open_account(ledger, instance);

    if (account == NULL)
        return false;
    *ret = (struct ledger_account){
        .from = account->from,
        .until = account->until,
        .rest = account->rest,
        .sums = account->sums,
        .is_ready = account->ready,
    };
    return true;
}

/* As the next cut would find it. */
static struct account account_at(const struct account *account, msec_t at)
{
    struct account then = *account;

    if (at > account->until) {
        const money_t cost = take_cost(&then, at);
        const struct ledger_sums part = part_of(account, cost, at - account->until);

        add_sums(&then.sums, &part);
        then.until = at;
    }
    return then;
}

bool ledger_account_at(const struct ledger *ledger, uint32_t instance, msec_t at,
                       struct ledger_account *ret)
{
    const struct account *account = open_account(ledger, instance);

    if (account == NULL)
        return false;

    const struct account then = account_at(account, at);

    *ret = (struct ledger_account){
        .from = then.from,
        .until = then.until,
        .rest = then.rest,
        .sums = then.sums,
        .is_ready = then.ready,
    };
    return true;
}

/* What charge_tasks would charge the stay for 'cost'. */
static money_t charge_of(const struct ledger *ledger, const struct account *account, uint32_t which,
                         money_t cost)
{
    const wide_t whole = account->weight;
    wide_t before = 0;

    for (uint32_t stay = account->first_stay; stay != which; stay = ledger->stays[stay].next)
        before += ledger->stays[stay].weight;

    const wide_t until = before + ledger->stays[which].weight;

    return (money_t)((cost * until + whole / 2) / whole) -
           (money_t)((cost * before + whole / 2) / whole);
}

struct ledger_due ledger_due_at(const struct ledger *ledger, uint32_t task, msec_t at)
{
    struct ledger_due due = ledger_due(ledger, task);

    if (task >= ledger->task_count)
        return due;
    for (uint32_t stay = ledger->tasks[task].first_stay; stay != NONE;
         stay = ledger->stays[stay].next_of_task) {
        const struct account *account = &ledger->accounts[ledger->stays[stay].instance];
        const struct account then = account_at(account, at);

        if (!account->ready || at <= account->until)
            continue;
        due.cost += charge_of(ledger, account, stay, then.sums.bill - account->sums.bill);
        due.occupied_ms += at - account->until;
    }
    return due;
}

bool ledger_ready(struct ledger *ledger, uint32_t instance, msec_t at)
{
    struct account *account = open_account(ledger, instance);

    if (account == NULL || account->ready)
        return false;
    cut(ledger, account, at);
    account->ready = true;
    account_changed(ledger, account);
    return true;
}

bool ledger_enter(struct ledger *ledger, uint32_t instance, uint32_t task, uint32_t weight_ppm,
                  msec_t at)
{
    struct account *account = open_account(ledger, instance);

    if (account == NULL || find_stay(ledger, instance, task) != NONE)
        return false;
    cut(ledger, account, at);
    reach_task(ledger, task);
    add_stay(ledger, instance, task, weight_ppm > 0 ? weight_ppm : 1);
    return true;
}

bool ledger_leave(struct ledger *ledger, uint32_t instance, uint32_t task, msec_t at)
{
    struct account *account = open_account(ledger, instance);
    const uint32_t stay = find_stay(ledger, instance, task);

    if (account == NULL || stay == NONE)
        return false;
    cut(ledger, account, at);
    remove_stay(ledger, stay);
    return true;
}

bool ledger_book(struct ledger *ledger, uint32_t instance, msec_t at)
{
    struct account *account = open_account(ledger, instance);

    if (account == NULL)
        return false;
    cut(ledger, account, at);
    return true;
}

struct ledger_bill ledger_close(struct ledger *ledger, uint32_t instance, msec_t at)
{
    struct account *account = open_account(ledger, instance);

    if (account == NULL)
        return (struct ledger_bill){ 0 };
    cut(ledger, account, at);
    while (account->first_stay != NONE)
        remove_stay(ledger, account->first_stay);

    const struct offer *offer = account->offer;
    const msec_t end = at > account->from ? at : account->from;
    const money_t charge = billing_charge(&offer->billing, &offer->price, account->from, end);
    const money_t added = charge - account->sums.bill;
    const msec_t paid = billing_paid_span(&offer->billing, end - account->from);

    post(ledger, account,
         &(struct ledger_sums){
             .bill = added,
             .idle = added,
             .idle_ms = paid - (account->until - account->from),
         });
    account->offer = NULL;
    ledger->closed += charge;
    ledger->totals.open--;
    return (struct ledger_bill){
        .from = account->from,
        .to = end,
        .sums = account->sums,
    };
}

bool ledger_is_open(const struct ledger *ledger, uint32_t instance)
{
    return open_account(ledger, instance) != NULL;
}

struct ledger_due ledger_due(const struct ledger *ledger, uint32_t task)
{
    return task < ledger->task_count ? ledger->tasks[task].due : (struct ledger_due){ 0 };
}

struct ledger_due ledger_settle(struct ledger *ledger, uint32_t task)
{
    const struct ledger_due due = ledger_due(ledger, task);

    if (task >= ledger->task_count)
        return due;
    while (ledger->tasks[task].first_stay != NONE)
        remove_stay(ledger, ledger->tasks[task].first_stay);
    ledger->tasks[task].due = (struct ledger_due){ 0 };
    due_changed(ledger, task);
    ledger->totals.settled += due.cost;
    return due;
}

const struct ledger_totals *ledger_totals(const struct ledger *ledger)
{
    return &ledger->totals;
}

/*
 * The check.
 */

/* How many stays the account has, which agree with it. */
static uint32_t check_account(const struct ledger *ledger, uint32_t instance)
{
    const struct account *account = &ledger->accounts[instance];
    const struct ledger_sums *sums = &account->sums;
    uint64_t weight = 0;
    uint32_t count = 0;
    uint32_t prev = NONE;

    for (uint32_t stay = account->first_stay; stay != NONE; stay = ledger->stays[stay].next) {
        assert(ledger->stays[stay].instance == instance);
        assert(ledger->stays[stay].prev == prev);
        assert(find_stay(ledger, instance, ledger->stays[stay].task) == stay);
        weight += ledger->stays[stay].weight;
        prev = stay;
        count++;
    }
    assert(account->last_stay == prev);
    assert(account->weight == weight);
    assert(sums->bill == sums->boot + sums->idle + sums->work);
    assert(sums->boot_ms + sums->idle_ms + sums->work_ms == account->until - account->from);
    return count;
}

/* What the tasks owe, and how many stays they have. */
static money_t check_tasks(const struct ledger *ledger, uint32_t *ret_stays)
{
    money_t owed = 0;
    uint32_t count = 0;

    for (uint32_t task = 0; task < ledger->task_count; task++) {
        owed += ledger->tasks[task].due.cost;
        for (uint32_t stay = ledger->tasks[task].first_stay; stay != NONE;
             stay = ledger->stays[stay].next_of_task) {
            assert(ledger->stays[stay].task == task);
            count++;
        }
    }
    *ret_stays = count;
    return owed;
}

void ledger_check(const struct ledger *ledger)
{
    const struct ledger_totals *totals = &ledger->totals;
    money_t bill = ledger->closed;
    money_t by_market = 0;
    money_t by_type = 0;
    uint32_t open = 0;
    uint32_t stays = 0;
    uint32_t stays_of_tasks = 0;

    for (uint32_t i = 0; i < ledger->account_count; i++) {
        if (open_account(ledger, i) == NULL)
            continue;
        stays += check_account(ledger, i);
        bill += ledger->accounts[i].sums.bill;
        open++;
    }
    for (int market = 0; market < MARKET_COUNT; market++)
        by_market += totals->of_market[market];
    for (uint32_t type = 0; type < totals->type_count; type++)
        by_type += totals->of_type[type];

    const money_t owed = check_tasks(ledger, &stays_of_tasks);

    assert(totals->open == open);
    assert(stays == stays_of_tasks);
    assert(totals->sums.bill == bill);
    assert(totals->sums.bill == by_market);
    assert(totals->sums.bill == by_type);
    assert(totals->sums.bill == totals->sums.boot + totals->sums.idle + totals->sums.work);
    assert(totals->sums.work == totals->settled + owed + totals->carried);
}
