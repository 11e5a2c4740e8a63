/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status_lines.h"

#include <inttypes.h>

#include "cli/operator.h"
#include "draw/digits.h"

void status_line_who(FILE *out, const json_t *status)
{
    const msec_t now = field_integer(status, "now", -1);
    const msec_t since = field_integer(status, "started_at", -1);

    print_clean(out, field_word(status, "cluster"));
    (void)fputs(": mode ", out);
    print_clean(out, field_word(status, "mode"));
    (void)fputs(", policy ", out);
    print_clean(out, field_word(status, "policy"));
    (void)fprintf(out, ", up %s", span_words(now >= 0 && since >= 0 ? now - since : -1).text);
    if (!json_is_true(json_object_get(status, "ready")))
        (void)fputs(", NOT READY: it waits for the lists of engine and cloud", out);
    if (json_is_true(json_object_get(status, "draining")))
        (void)fputs(", DRAINING: nothing is rented", out);
    (void)fputc('\n', out);
}

void status_line_work(FILE *out, const json_t *status)
{
    const json_t *tasks = json_object_get(status, "tasks");
    const int64_t jobs = field_integer(json_object_get(status, "jobs"), "living", 0);

    (void)fprintf(out,
                  "%" PRId64 " job%s; tasks: %" PRId64 " running, %" PRId64 " assigned, %" PRId64
                  " waiting\n",
                  jobs, jobs == 1 ? "" : "s", field_integer(tasks, "running", 0),
                  field_integer(tasks, "bound", 0), field_integer(tasks, "waiting", 0));
}

void status_line_machines(FILE *out, const json_t *status)
{
    static const char *const states[] = { "ready", "booting", "requested", "draining", "returned" };
    const json_t *instances = json_object_get(status, "instances");
    const char *between = "";

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        const int64_t count = field_integer(instances, states[i], 0);

        if (count == 0)
            continue;
        (void)fprintf(out, "%s%" PRId64 " %s", between, count, states[i]);
        between = ", ";
    }
    (void)fprintf(out, "%s; %s per hour\n", between[0] == 0 ? "none" : "",
                  money_words(field_money(status, "cost_microdollars_per_hour"), 3).text);
}

void status_line_money(FILE *out, const json_t *status)
{
    const money_t savings = field_money(status, "savings_microdollars");
    const money_t alone = field_money(status, "alone_microdollars");

    (void)fputs(money_words(field_money(status, "bill_microdollars"), 2).text, out);
    if (savings != MONEY_UNKNOWN && alone != MONEY_UNKNOWN && alone > 0)
        (void)fprintf(out, ", %s saved against one machine per task (%s %%)",
                      money_words(savings, 2).text,
                      digits_of_real((double)savings / (double)alone * 100, 1, DIGITS_PLAIN).text);
    (void)fputc('\n', out);
}

void status_line_bound(FILE *out, const char *before, const json_t *status)
{
    const json_t *bound = json_object_get(status, "bound");
    const json_t *gap = json_object_get(bound, "gap");

    if (!json_is_real(gap))
        return;
    char text[1024];

    (void)snprintf(text, sizeof(text),
                   "no machines for the %" PRId64
                   " placed tasks cost less than %s per hour; these cost %s, %s %% more",
                   field_integer(bound, "tasks", 0),
                   money_words(field_money(bound, "bound_microdollars_per_hour"), 3).text,
                   money_words(field_money(bound, "cost_microdollars_per_hour"), 3).text,
                   digits_of_real(json_real_value(gap) * 100, 1, DIGITS_PLAIN).text);
    print_folded(out, before, text);
}
