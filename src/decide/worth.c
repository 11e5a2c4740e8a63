/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/worth.h"

#include <assert.h>
#include <string.h>

void worth_group_init(struct worth_group *group, struct arena *arena)
{
    *group = (struct worth_group){ .arena = arena };
}

static bool same_kind(struct worth_kind a, struct worth_kind b)
{
    return a.shape == b.shape && a.siblings == b.siblings;
}

void worth_group_add(struct worth_group *group, struct worth_kind kind)
{
    group->size++;
    group->hash += colocation_token(kind.shape);
    for (uint32_t i = 0; i < group->member_count; i++) {
        if (same_kind(group->members[i].kind, kind)) {
            group->members[i].count++;
            return;
        }
    }
    if (group->member_count == group->room) {
        const uint32_t room = group->room > 0 ? group->room * 2 : 4;
        struct worth_member *members = ARENA_ARRAY(group->arena, struct worth_member, room);

        if (group->member_count > 0)
            memcpy(members, group->members, group->member_count * sizeof(*members));
        group->members = members;
        group->room = room;
    }
    group->members[group->member_count++] = (struct worth_member){ .kind = kind, .count = 1 };
}

struct worth_kind worth_kind_of(const struct worth_rules *rules, uint32_t task)
{
    const struct view *view = rules->view;
    const uint32_t job = view->task.job[task];
    const bool shares_pace = rules->siblings && view->job.gang[job];

    return (struct worth_kind){
        .shape = view->task.shape[task],
        .siblings = shares_pace ? view->job.task_count[job] : 1,
    };
}

void worth_group_of(const struct worth_rules *rules, uint32_t instance, struct arena *arena,
                    struct worth_group *ret)
{
    worth_group_init(ret, arena);
    TASK_EACH(task, rules->view, rules->view->instance.first_task[instance])
    {
        worth_group_add(ret, worth_kind_of(rules, task));
    }
}

/* rate^count by repeated multiplication: the same bits everywhere, unlike pow. */
static double power(double rate, uint32_t count)
{
    double product = 1.0;

    for (uint32_t i = 0; i < count; i++)
        product *= rate;
    return product;
}

/* The throughput of one task of 'shape' in the group, itself being a member of it (or of 'more'). */
static double rate_in(const struct worth_rules *rules, const struct worth_group *group,
                      const struct worth_kind *more, uint32_t shape)
{
    const uint32_t size = group->size + (more != NULL ? 1 : 0);

    if (rules->colocation == NULL || size <= 1)
        return 1.0;

    const uint64_t hash = group->hash + (more != NULL ? colocation_token(more->shape) : 0);
    double rate;

    if (colocation_recorded(rules->colocation, shape, hash - colocation_token(shape), &rate))
        return rate;

    bool counted_self = more != NULL && more->shape == shape;

    rate = 1.0;
    if (more != NULL && more->shape != shape)
        rate *= colocation_pair(rules->colocation, shape, more->shape);
    for (uint32_t i = 0; i < group->member_count; i++) {
        const struct worth_member *member = &group->members[i];
        uint32_t others = member->count;

        if (!counted_self && member->kind.shape == shape) {
            others--;
            counted_self = true;
        }
        if (others > 0)
            rate *= power(colocation_pair(rules->colocation, shape, member->kind.shape), others);
    }
    return rate;
}

static double worth_of_one(const struct worth_rules *rules, const struct worth_group *group,
                           const struct worth_kind *more, struct worth_kind kind, bool penalise)
{
    double rate = rate_in(rules, group, more, kind.shape);

    if (penalise && kind.siblings > 1) {
        rate = 1.0 - (1.0 - rate) * (double)kind.siblings;
        if (rate < 0)
            rate = 0;
    }
    return rate * (double)rules->view->shape_price[kind.shape];
}

double worth_of(const struct worth_rules *rules, const struct worth_group *group,
                const struct worth_kind *more, bool penalise)
{
    double sum = 0;

    for (uint32_t i = 0; i < group->member_count; i++) {
        const struct worth_member *member = &group->members[i];

        sum += (double)member->count * worth_of_one(rules, group, more, member->kind, penalise);
    }
    if (more != NULL)
        sum += worth_of_one(rules, group, more, *more, penalise);
    assert(sum >= 0);
    return sum;
}

double worth_alignment(const struct res *demand, const struct res *free, const struct res *capacity)
{
    double sum = 0;

    for (int kind = 0; kind < RES_PRICED; kind++) {
        const double whole = (double)capacity->amount[kind];

        if (capacity->amount[kind] > 0)
            sum += (double)demand->amount[kind] / whole * ((double)free->amount[kind] / whole);
    }
    return sum;
}
