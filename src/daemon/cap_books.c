/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cap_books.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/word_list.h"

enum { LABEL_SIZE = 512, NAME_MAX_LENGTH = 100 };

void cap_books_init(struct cap_books *books, const struct conf_caps *conf, msec_t now)
{
    *books = (struct cap_books){ .conf = conf };
    caps_init(&books->caps);
    names_init(&books->labels);
    map_init(&books->resumed);
    for (enum budget_kind i = 0; i < BUDGETS; i++)
        budget_span(i, now, &books->from[i], &books->until[i]);
}

void cap_books_done(struct cap_books *books)
{
    caps_done(&books->caps);
    names_done(&books->labels);
    map_done(&books->resumed);
    mem_free(books->row);
    mem_free(books->tasks);
    mem_free(books->owed);
    *books = (struct cap_books){ .conf = NULL };
}

static void set_limits(struct cap_books *books, uint32_t cap)
{
    const struct conf_cap *conf = &books->conf->row[books->row[cap].entry];

    books->caps.row[cap].max_instances = conf->max_instances;
    books->caps.row[cap].max_price_per_hour = conf->max_price_per_hour;
    books->row[cap].limit[BUDGET_DAY] = conf->max_per_day;
    books->row[cap].limit[BUDGET_MONTH] = conf->max_per_month;
}

void cap_books_tune(struct cap_books *books, const struct conf_caps *conf)
{
    books->conf = conf;
    for (uint32_t i = 0; i < books->caps.count; i++)
        set_limits(books, i);
}

/* ---- who is under which ---- */

/* The cap with that label, which begins with the number of its entry and a colon: two entries for the same owner are
 * two caps. */
static uint32_t cap_of(struct cap_books *books, uint32_t entry, const char *label)
{
    const uint32_t name = names_add(&books->labels, label, strlen(label));

    if (name < books->caps.count)
        return name;
    (void)caps_add(&books->caps, &(struct cap){ .max_instances = 0 });
    MEM_ROOM(books->row, books->rows_room, books->caps.count);
    books->row[name] = (struct cap_spent){ .entry = entry };
    set_limits(books, name);
    return name;
}

/* The length of the name, or of the first of several. */
static size_t length_to(const char *text, char end, size_t most)
{
    size_t length = 0;

    while (length < most && text[length] != '\0' && text[length] != end)
        length++;
    return length;
}

/* Whether the entry is for the owner; then its label, with names in the place of "*". */
static bool label_of(const struct cap_books *books, uint32_t entry, const char *const *owner,
                     char *ret, size_t size)
{
    const struct conf_cap *conf = &books->conf->row[entry];
    int used = snprintf(ret, size, "%" PRIu32 ":", entry);

    for (enum conf_owner i = 0; i < OWNERS; i++) {
        const char *want = conf->owner[i];

        if (want == NULL)
            continue;
        if (owner[i] == NULL || *owner[i] == '\0')
            return false;
        const bool is_any = strcmp(want, "*") == 0;

        if (!is_any && !word_list_has(owner[i], ",", want, strlen(want)))
            return false;
        const char *name = is_any ? owner[i] : want;

        used +=
            snprintf(ret + used, size - (size_t)used, "%s%s %.*s", ret[used - 1] == ':' ? "" : ", ",
                     conf_owner_word(i), (int)length_to(name, ',', NAME_MAX_LENGTH), name);
    }
    for (char *at = ret; *at != '\0'; at++) {
        if ((*at >= 0 && *at < ' ') || *at == '"' || *at == '\\')
            *at = '_'; /* they would part what is kept, or what is shown */
    }
    return true;
}

uint32_t cap_books_set(struct cap_books *books, const struct engine_owner *owner)
{
    const char *const names[OWNERS] = { owner->account, owner->user, owner->partition, owner->qos };
    uint32_t cap[CAPS_PER_SET];
    uint32_t count = 0;
    char label[LABEL_SIZE];

    for (uint32_t i = 0; i < books->conf->count && count < CAPS_PER_SET; i++) {
        if (!label_of(books, i, names, label, sizeof(label)))
            continue;
        if (books->caps.count >= CAPS_MAX &&
            names_find(&books->labels, label, strlen(label)) == NAME_NONE)
            (void)snprintf(label, sizeof(label), "%" PRIu32 ":others", i);
        cap[count++] = cap_of(books, i, label);
    }
    return caps_set(&books->caps, cap, count);
}

/* ---- what is spent ---- */

msec_t cap_books_until(const struct cap_books *books)
{
    return books->until[BUDGET_DAY]; /* a month ends with a day */
}

void cap_books_roll(struct cap_books *books, msec_t now)
{
    for (enum budget_kind i = 0; i < BUDGETS; i++) {
        if (now >= books->from[i] && now < books->until[i])
            continue;
        budget_span(i, now, &books->from[i], &books->until[i]);
        for (uint32_t k = 0; k < books->caps.count; k++)
            books->row[k].spent[i] = 0;
        books->is_changed = true;
    }
}

static struct cap_task *task_of(struct cap_books *books, const struct view *view, uint32_t task)
{
    const uint64_t id = view->task.id[task];

    MEM_ROOM(books->tasks, books->tasks_room, view->task.count);
    while (books->task_count < view->task.count)
        books->tasks[books->task_count++] = (struct cap_task){ .id = 0 };
    if (books->tasks[task].id != id) {
        const uint32_t row = map_get(&books->resumed, id);

        books->tasks[task] =
            (struct cap_task){ .id = id, .seen = row == MAP_NONE ? 0 : books->owed[row] };
        (void)map_remove(&books->resumed, id);
    }
    return &books->tasks[task];
}

void cap_books_due(struct cap_books *books, const struct view *view, uint32_t task, money_t cost)
{
    const struct cap_set *set = &books->caps.sets[view->job.caps[view->task.job[task]]];

    if (set->count == 0)
        return;
    struct cap_task *known = task_of(books, view, task);
    const money_t more = cost - known->seen;

    known->seen = cost;
    for (uint32_t i = 0; i < set->count; i++) {
        for (enum budget_kind k = 0; k < BUDGETS; k++)
            books->row[set->cap[i]].spent[k] += more;
    }
    books->is_changed = books->is_changed || more != 0;
}

void cap_books_settle(struct cap_books *books, const struct view *view, uint32_t task, money_t cost)
{
    cap_books_due(books, view, task, cost);
    if (task < books->task_count)
        books->tasks[task].id = 0;
}

void cap_books_resume(struct cap_books *books, uint64_t task, money_t cost)
{
    MEM_ROOM(books->owed, books->owed_room, books->owed_count + 1);
    books->owed[books->owed_count] = cost;
    map_put(&books->resumed, task, books->owed_count++);
}

bool cap_books_judge(struct cap_books *books)
{
    bool changes = false;

    for (uint32_t i = 0; i < books->caps.count; i++) {
        const struct cap_spent *row = &books->row[i];
        bool is_spent = false;

        for (enum budget_kind k = 0; k < BUDGETS; k++)
            is_spent = is_spent || (row->limit[k] > 0 && row->spent[k] >= row->limit[k]);
        changes = changes || is_spent != books->caps.row[i].is_spent;
        books->caps.row[i].is_spent = is_spent;
    }
    return changes;
}

uint32_t cap_books_percent(const struct cap_books *books)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < books->caps.count; i++) {
        for (enum budget_kind k = 0; k < BUDGETS; k++) {
            const money_t limit = books->row[i].limit[k];
            const money_t spent = books->row[i].spent[k];

            if (limit > 0 && spent > 0) {
                const money_t percent = spent >= limit ? 100 : mul_div(spent, 100, limit);

                most = percent > most ? (uint32_t)percent : most;
            }
        }
    }
    return most;
}

/* ---- what is kept ---- */

void cap_books_text(struct cap_books *books, struct line_text *ret)
{
    char line[LABEL_SIZE + 96];

    line_text_reset(ret);
    (void)snprintf(line, sizeof(line), "%" PRId64 "\t%" PRId64 "\n", books->from[BUDGET_DAY],
                   books->from[BUDGET_MONTH]);
    line_text_append(ret, line, (uint32_t)strlen(line));
    for (uint32_t i = 0; i < books->caps.count; i++) {
        const money_t *spent = books->row[i].spent;
        const char *label = strchr(names_text(&books->labels, i), ':') + 1;

        if (spent[BUDGET_MONTH] == 0 && spent[BUDGET_DAY] == 0)
            continue;
        (void)snprintf(line, sizeof(line), "%s\t%" PRId64 "\t%" PRId64 "\n", label,
                       spent[BUDGET_DAY], spent[BUDGET_MONTH]);
        line_text_append(ret, line, (uint32_t)strlen(line));
    }
    line_text_append(ret, "", 1);
    books->is_changed = false;
}

/* The entry whose label it could be: the one that names the same kinds of owners, and each that is named. */
static bool is_of_entry(const struct conf_cap *conf, const char *label)
{
    for (enum conf_owner i = 0; i < OWNERS; i++) {
        const char *word = conf_owner_word(i);
        const size_t length = strlen(word);

        if (conf->owner[i] == NULL)
            continue;
        if (strncmp(label, word, length) != 0 || label[length] != ' ')
            return false;
        label += length + 1;
        const size_t name = strcspn(label, ",");

        if (strcmp(conf->owner[i], "*") != 0 &&
            (strlen(conf->owner[i]) != name || strncmp(conf->owner[i], label, name) != 0))
            return false;
        label += name + (label[name] == ',') + (label[name] == ',' && label[name + 1] == ' ');
    }
    return *label == '\0';
}

static void take_spent(struct cap_books *books, const char *label, const money_t *spent,
                       const bool *is_now)
{
    char own[LABEL_SIZE];

    for (uint32_t i = 0; i < books->conf->count; i++) {
        if (!is_of_entry(&books->conf->row[i], label))
            continue;
        (void)snprintf(own, sizeof(own), "%" PRIu32 ":%.400s", i, label);
        const uint32_t cap = cap_of(books, i, own);

        for (enum budget_kind k = 0; k < BUDGETS; k++)
            books->row[cap].spent[k] = is_now[k] ? spent[k] : 0;
    }
}

bool cap_books_read(struct cap_books *books, const char *text)
{
    char label[LABEL_SIZE];
    msec_t from[BUDGETS] = { 0 };
    money_t spent[BUDGETS] = { 0 };
    bool is_now[BUDGETS];

    if (*text == '\0')
        return true;
    if (sscanf(text, "%" SCNd64 "\t%" SCNd64, &from[BUDGET_DAY], &from[BUDGET_MONTH]) != 2)
        return false;
    for (enum budget_kind k = 0; k < BUDGETS; k++)
        is_now[k] = from[k] == books->from[k];
    while ((text = strchr(text, '\n')) != NULL && *++text != '\0') {
        if (sscanf(text, "%511[^\t]\t%" SCNd64 "\t%" SCNd64, label, &spent[BUDGET_DAY],
                   &spent[BUDGET_MONTH]) != 3)
            return false;
        take_spent(books, label, spent, is_now);
    }
    return true;
}
