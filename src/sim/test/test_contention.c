/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates in groups: plain products, and the table as the generator of Eva's artifact misreads it (see
 * docs/research/eva.md), for the nine workloads in the order of the published matrix.
 */
#include "sim/contention.h"

#include <stdio.h>
#include <string.h>

#include "base/test/check.h"

/* In the order of the matrix, by which pairs are listed. */
enum { RESNET18, SAGE, CYCLEGAN, GPT2, GCN, OPENFOAM, SEQ, A3C, VIT, COUNT };

static const char *const names_in_order[COUNT] = {
    "resnet18", "sage", "cyclegan", "gpt2", "gcn", "openfoam", "seq", "a3c", "vit",
};

/* One order in which larger groups may have been listed, and those of which the table has more. */
static const char *const listed[] = { "gpt2", "a3c", "resnet18", "cyclegan", "sage",
                                      "seq",  "vit", "openfoam", "gcn",      NULL };
static const char *const large[] = { "gcn", "a3c", "openfoam", "seq", NULL };

static const double unmeasured = 0.95;

/* Which pairs the published matrix leaves out: seq and a3c beside these. */
static bool is_measured(uint32_t row, uint32_t column)
{
    const bool row_is_odd = row == SEQ || row == A3C;
    const bool column_is_odd = column == SEQ || column == A3C;
    const uint32_t other = row_is_odd ? column : row;

    if (row_is_odd == column_is_odd)
        return true;
    return other == GCN || other == OPENFOAM;
}

/* Made up, all different: 0.500 for the first, 0.580 for the last. */
static double rate_of(uint32_t row, uint32_t column)
{
    return is_measured(row, column) ? (500.0 + row * COUNT + column) / 1000 : unmeasured;
}

struct table {
    struct colocation_matrix matrix;
    struct names workloads;
    struct contention contention;
};

static void read_matrix(struct colocation_matrix *matrix)
{
    char text[4096] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",%s_node0", names_in_order[i]);
    for (uint32_t i = 0; i < COUNT; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "\n%s_node0", names_in_order[i]);
        for (uint32_t j = 0; j < COUNT; j++) {
            if (is_measured(i, j))
                used += (size_t)snprintf(text + used, sizeof(text) - used, ",%.3f", rate_of(i, j));
            else
                used += (size_t)snprintf(text + used, sizeof(text) - used, ",x");
        }
    }
    assert_int_equal(matrix_csv_read(text, used, unmeasured, matrix, NULL), 0);
}

static void table_init(struct table *table, bool permuted)
{
    read_matrix(&table->matrix);
    names_init(&table->workloads);
    for (uint32_t i = 0; i < COUNT; i++)
        (void)names_add(&table->workloads, names_in_order[i], strlen(names_in_order[i]));
    contention_init_matrix(&table->contention, &table->workloads, &table->matrix, unmeasured);
    if (permuted)
        contention_permute(&table->contention, &table->workloads, &table->matrix, listed, large);
}

static void table_done(struct table *table)
{
    contention_done(&table->contention);
    names_done(&table->workloads);
    colocation_matrix_done(&table->matrix);
}

static void check_rate(double got, double want)
{
    assert_true(got > want - 1e-12);
    assert_true(got < want + 1e-12);
}

/* A rate to a whole power. */
static double raised(double rate, uint32_t power)
{
    double product = 1.0;

    for (uint32_t i = 0; i < power; i++)
        product *= rate;
    return product;
}

/*
 * Plain products.
 */

TEST(a_task_alone_runs_at_full_speed)
{
    struct table table;
    const struct contention_part alone = { .workload = GPT2, .count = 1 };
    double rate;

    table_init(&table, false);
    contention_rates(&table.contention, &alone, 1, &rate);

    check_rate(rate, 1.0);
    table_done(&table);
}

TEST(a_rate_is_the_product_over_all_neighbours)
{
    struct table table;
    const struct contention_part group[] = { { GPT2, 2 }, { GCN, 1 }, { VIT, 3 } };
    double rates[3];

    table_init(&table, false);
    contention_rates(&table.contention, group, 3, rates);

    check_rate(rates[0], rate_of(GPT2, GPT2) * rate_of(GPT2, GCN) * raised(rate_of(GPT2, VIT), 3));
    check_rate(rates[1], raised(rate_of(GCN, GPT2), 2) * raised(rate_of(GCN, VIT), 3));
    check_rate(rates[2],
               raised(rate_of(VIT, GPT2), 2) * rate_of(VIT, GCN) * raised(rate_of(VIT, VIT), 2));
    table_done(&table);
}

TEST(workloads_that_the_matrix_does_not_name_run_at_the_unmeasured_rate)
{
    struct colocation_matrix matrix;
    struct names workloads;
    struct contention contention;
    const struct contention_part pair[] = { { 0, 1 }, { 1, 1 } };
    double rates[2];

    read_matrix(&matrix);
    names_init(&workloads);
    (void)names_add(&workloads, "stranger", 8);
    (void)names_add(&workloads, "gpt2", 4);
    contention_init_matrix(&contention, &workloads, &matrix, 0.77);
    contention_rates(&contention, pair, 2, rates);

    check_rate(rates[0], 0.77);
    check_rate(rates[1], 0.77);
    contention_done(&contention);
    names_done(&workloads);
    colocation_matrix_done(&matrix);
}

TEST(a_uniform_rate_holds_for_every_pair)
{
    struct contention contention;
    const struct contention_part group[] = { { 0, 1 }, { 2, 2 } };
    double rates[2];

    contention_init_uniform(&contention, 3, 0.9);
    contention_rates(&contention, group, 2, rates);

    check_rate(rates[0], 0.81);
    check_rate(rates[1], 0.81);
    contention_done(&contention);
}

/*
 * The misread table.
 */

/* The pairs of which the values are exchanged, and differ. */
static bool is_exchanged(uint32_t a, uint32_t b)
{
    static const uint32_t pairs[][2] = {
        { RESNET18, CYCLEGAN }, { RESNET18, GPT2 }, { RESNET18, GCN }, { RESNET18, OPENFOAM },
        { SAGE, CYCLEGAN },     { SAGE, GPT2 },     { SAGE, GCN },     { SAGE, OPENFOAM },
        { GPT2, GCN },          { A3C, GCN },       { A3C, OPENFOAM }, { A3C, SEQ },
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if ((a == pairs[i][0] && b == pairs[i][1]) || (a == pairs[i][1] && b == pairs[i][0]))
            return true;
    }
    return false;
}

TEST(twelve_of_the_thirty_six_mixed_pairs_are_exchanged)
{
    struct table table;
    uint32_t exchanged = 0;

    table_init(&table, true);
    const double *pairs = contention_pairs(&table.contention);

    for (uint32_t a = 0; a < COUNT; a++) {
        for (uint32_t b = 0; b < COUNT; b++) {
            check_rate(pairs[a * COUNT + b], is_exchanged(a, b) ? rate_of(b, a) : rate_of(a, b));
            exchanged += a < b && is_exchanged(a, b);
        }
    }
    assert_int_equal(exchanged, 12);
    table_done(&table);
}

TEST(a_pair_runs_as_its_misread_values_say)
{
    struct table table;
    const struct contention_part pair[] = { { GPT2, 1 }, { GCN, 1 } };
    const struct contention_part twins[] = { { GPT2, 2 } };
    double rates[2];

    table_init(&table, true);
    contention_rates(&table.contention, pair, 2, rates);
    check_rate(rates[0], rate_of(GCN, GPT2));
    check_rate(rates[1], rate_of(GPT2, GCN));
    contention_rates(&table.contention, twins, 1, rates);
    check_rate(rates[0], rate_of(GPT2, GPT2));
    table_done(&table);
}

/* Listed as gpt2, vit, gcn; read as gcn, gpt2, vit: each gets the value of who stands there. */
TEST(in_a_group_of_three_each_gets_the_value_at_its_place_in_the_alphabet)
{
    struct table table;
    const struct contention_part group[] = { { GCN, 1 }, { GPT2, 1 }, { VIT, 1 } };
    double rates[3];

    table_init(&table, true);
    contention_rates(&table.contention, group, 3, rates);

    check_rate(rates[0], rate_of(GPT2, GCN) * rate_of(GPT2, VIT));
    check_rate(rates[1], rate_of(VIT, GCN) * rate_of(VIT, GPT2));
    check_rate(rates[2], rate_of(GCN, GPT2) * rate_of(GCN, VIT));
    table_done(&table);
}

/* Listed as gpt2, gcn, gcn; read as gcn, gcn, gpt2: the second gcn counts for both. */
TEST(for_a_repeated_name_the_last_place_counts)
{
    struct table table;
    const struct contention_part group[] = { { GCN, 2 }, { GPT2, 1 } };
    double rates[2];

    table_init(&table, true);
    contention_rates(&table.contention, group, 2, rates);

    check_rate(rates[0], rate_of(GCN, GCN) * rate_of(GCN, GPT2));
    check_rate(rates[1], rate_of(GCN, GCN) * rate_of(GCN, GPT2));
    table_done(&table);
}

TEST(a_group_above_ten_is_the_product_of_the_misread_pairs)
{
    struct table table;
    const struct contention_part group[] = { { GPT2, 10 }, { GCN, 1 } };
    double rates[2];

    table_init(&table, true);
    contention_rates(&table.contention, group, 2, rates);

    check_rate(rates[0], raised(rate_of(GPT2, GPT2), 9) * rate_of(GCN, GPT2));
    check_rate(rates[1], raised(rate_of(GPT2, GCN), 10));
    table_done(&table);
}

/* Listed as openfoam, then eleven times gcn; read with openfoam at the end. */
TEST(of_some_workloads_the_table_has_groups_of_up_to_twenty_five)
{
    struct table table;
    const struct contention_part inside[] = { { GCN, 11 }, { OPENFOAM, 1 } };
    const struct contention_part beyond[] = { { GCN, 25 }, { OPENFOAM, 1 } };
    double rates[2];

    table_init(&table, true);
    contention_rates(&table.contention, inside, 2, rates);
    check_rate(rates[1], raised(rate_of(GCN, GCN), 10) * rate_of(GCN, OPENFOAM));
    contention_rates(&table.contention, beyond, 2, rates);
    check_rate(rates[1], raised(rate_of(OPENFOAM, GCN), 25));
    table_done(&table);
}

/*
 * Rates that drift.
 */

enum { SPAN_MS = 10 * CONTENTION_STEP_MS };

static double rate_beside(const struct contention *contention, uint32_t workload, uint32_t other,
                          msec_t at)
{
    const struct contention_part pair[] = { { workload, 1 }, { other, 1 } };
    double rates[2];

    contention_rates_at(contention, at, pair, 2, rates);
    return rates[0];
}

TEST(rates_drift_to_those_of_other_pairs_and_back)
{
    struct table table;
    struct rng rng;
    const struct contention *contention = &table.contention;
    double sums[2] = { 0 };
    uint32_t changed = 0;

    table_init(&table, false);
    rng_init(&rng, 1, 1);
    contention_drift(&table.contention, SPAN_MS, &rng);
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t j = 0; j < COUNT; j++) {
            const double later = contention->drift.later[i * COUNT + j];
            const double best = contention_best(contention)[i * COUNT + j];
            const double first = rate_of(i, j);

            sums[0] += first;
            sums[1] += later;
            changed += later < first || later > first;
            check_rate(best, later > first ? later : first);
            if (i == j)
                continue;
            check_rate(rate_beside(contention, i, j, 0), first);
            check_rate(rate_beside(contention, i, j, CONTENTION_STEP_MS - 1), first);
            check_rate(rate_beside(contention, i, j, SPAN_MS / 2), (first + later) / 2);
            check_rate(rate_beside(contention, i, j, SPAN_MS), later);
            check_rate(rate_beside(contention, i, j, SPAN_MS / 2 * 3), (first + later) / 2);
            check_rate(rate_beside(contention, i, j, (msec_t)SPAN_MS * 4), first);
        }
    }
    assert_true(changed > COUNT * COUNT / 2);
    assert_true(sums[0] > sums[1] - 1e-9 && sums[0] < sums[1] + 1e-9); /* the same rates */
    table_done(&table);
}

CHECK_MAIN(RUN(a_task_alone_runs_at_full_speed), RUN(a_rate_is_the_product_over_all_neighbours),
           RUN(workloads_that_the_matrix_does_not_name_run_at_the_unmeasured_rate),
           RUN(a_uniform_rate_holds_for_every_pair),
           RUN(twelve_of_the_thirty_six_mixed_pairs_are_exchanged),
           RUN(a_pair_runs_as_its_misread_values_say),
           RUN(in_a_group_of_three_each_gets_the_value_at_its_place_in_the_alphabet),
           RUN(for_a_repeated_name_the_last_place_counts),
           RUN(a_group_above_ten_is_the_product_of_the_misread_pairs),
           RUN(of_some_workloads_the_table_has_groups_of_up_to_twenty_five),
           RUN(rates_drift_to_those_of_other_pairs_and_back))
