/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commit_answer.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>

static struct portfolio_question portfolio_question(const struct commit_answer *answer)
{
    const struct commit_question *question = answer->question;

    return (struct portfolio_question){
        .input = { .usage = answer->counts,
                   .hours = question->usage->hours,
                   .classes = answer->classes,
                   .class_count = answer->class_count,
                   .interest_ppm = question->interest_ppm },
        .outlook = PORTFOLIO_OUTLOOK_DEFAULTS,
        .held = question->held,
        .held_count = question->held_count,
        .fall_ppm = question->fall_ppm,
    };
}

static money_t pure_cost(const struct portfolio_input *input, const struct portfolio_plan *plan)
{
    struct portfolio_bill bill;

    portfolio_cost(input, plan, &bill);
    return bill.pure;
}

static void look_back(const struct portfolio_input *input, struct arena *arena,
                      struct commit_past *ret)
{
    const struct portfolio_plan none = { 0 };
    struct portfolio_plan plan;

    ret->on_demand = pure_cost(input, &none);
    portfolio_online(input, &PORTFOLIO_OUTLOOK_DEFAULTS, arena, &plan);
    ret->online = pure_cost(input, &plan);
    portfolio_greedy(input, arena, &plan);
    ret->greedy = pure_cost(input, &plan);
    ret->bound = portfolio_bound(input, arena);
}

/* The advice with the classes up to a term; the others are left out of 'classes'. */
static void choose_up_to(const struct portfolio_question *question, uint32_t term_hours,
                         struct arena *arena, struct commit_choice *ret)
{
    struct commitment classes[COMMITMENT_CLASSES_MAX];
    struct portfolio_question narrow = *question;
    uint32_t count = 0;

    for (uint32_t k = 0; k < question->input.class_count; k++) {
        if (question->input.classes[k].term_hours <= term_hours)
            classes[count++] = question->input.classes[k];
    }
    narrow.input.classes = classes;
    narrow.input.class_count = count;
    *ret = (struct commit_choice){ .term_hours = term_hours };
    portfolio_advise(&narrow, arena, &ret->advice);
    for (uint32_t k = 1; k < count; k++)
        ret->bought += ret->advice.of_class[k].buy;
}

/* The shortest term above 'term_hours'; 0: there is none. */
static uint32_t next_term(const struct commit_answer *answer, uint32_t term_hours)
{
    uint32_t next = 0;

    for (uint32_t k = 1; k < answer->class_count; k++) {
        const uint32_t term = answer->classes[k].term_hours;

        if (term > term_hours && (next == 0 || term < next))
            next = term;
    }
    return next;
}

static void choose(const struct portfolio_question *question, struct arena *arena,
                   struct commit_answer *answer)
{
    /* What is held names classes by their place, which leaving some out would change. */
    if (question->held_count > 0)
        return;
    for (uint32_t term = next_term(answer, 0); term > 0; term = next_term(answer, term))
        choose_up_to(question, term, arena, &answer->choices[answer->choice_count++]);
}

static void measure(struct commit_answer *answer)
{
    const uint32_t hours = answer->question->usage->hours;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < hours; i++) {
        sum += answer->counts[i];
        answer->peak = answer->counts[i] > answer->peak ? answer->counts[i] : answer->peak;
    }
    answer->mean = (double)sum / hours;
}

int commit_answer(const struct commit_question *question, uint32_t column, struct arena *arena,
                  struct commit_answer *ret, struct error *reterr)
{
    struct commit_answer answer = {
        .question = question,
        .column = names_text(&question->usage->columns, column),
        .counts = usage_column(question->usage, column),
        .class_count = question->commitments->class_count,
    };

    answer.price = question->price > 0 ? question->price
                                       : commitments_price(question->commitments, answer.column);
    commitments_at(question->commitments, answer.price, answer.classes);
    for (uint32_t k = 0; k < answer.class_count; k++)
        answer.carried[k] = commitment_carried(&answer.classes[k], question->interest_ppm);

    const struct portfolio_question asked = portfolio_question(&answer);

    if (!portfolio_is_sound(&asked.input))
        return error_set(reterr, -ERANGE,
                         "the machines of this column, times the hours, times the prices of the "
                         "classes, are more money than can be counted");
    measure(&answer);
    portfolio_advise(&asked, arena, &answer.advice);
    choose(&asked, arena, &answer);
    look_back(&asked.input, arena, &answer.past);
    *ret = answer;
    return 0;
}

uint32_t commit_answer_order(const struct commit_answer *answer,
                             uint32_t ret[static COMMITMENT_CLASSES_MAX])
{
    uint32_t count = 0;

    for (uint32_t k = 1; k < answer->class_count; k++) {
        uint32_t at = count++;

        for (; at > 0 &&
               answer->advice.of_class[ret[at - 1]].layer > answer->advice.of_class[k].layer;
             at--)
            ret[at] = ret[at - 1];
        ret[at] = k;
    }
    ret[count++] = 0;
    return count;
}

double commit_answer_used_price(const struct commit_answer *answer, uint32_t class_index,
                                double busy)
{
    const struct commitment *commitment = &answer->carried[class_index];

    return commitment_fixed_rate(commitment) / busy + (double)commitment->per_used_hour;
}

money_t commit_answer_saving(const struct commit_answer *answer, uint32_t class_index)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[class_index];
    const struct commitment *commitment = &answer->carried[class_index];
    const double per_used = (double)(answer->price - commitment->per_used_hour);
    const double each = line->busy * per_used - commitment_fixed_rate(commitment);

    return (money_t)llround(each * line->buy * COMMIT_MONTH_HOURS);
}

money_t commit_rates_saving(const struct portfolio_rates *rates)
{
    return (rates->without - rates->with) * COMMIT_MONTH_HOURS;
}

money_t commit_rates_saving_today(const struct portfolio_rates *rates, uint32_t interest_ppm,
                                  uint32_t hours)
{
    return interest_today(interest_ppm, rates->without - rates->with, hours);
}

money_t commit_rates_regret(const struct portfolio_rates *rates)
{
    return (rates->with - rates->best) * COMMIT_MONTH_HOURS;
}
