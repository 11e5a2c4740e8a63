/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cloud/aws/aws_catalogue.h"
#include "trace/catalogue_file.h"
#include "trace/input_text.h"

static struct aws_catalogue gathered;
static char *text;
static size_t size;

static const struct aws_catalogue_choice CHOICE = {
    .region = "us-east-1", .date = "2024-05-01", .source = "a test", .arch = "x86_64"
};

static int set_up(void **state)
{
    (void)state;
    aws_catalogue_init(&gathered);
    text = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    aws_catalogue_done(&gathered);
    free(text);
    return 0;
}

static uint32_t write_all(const struct aws_catalogue_choice *choice)
{
    FILE *out = open_memstream(&text, &size);
    uint32_t offers;

    assert_non_null(out);
    offers = aws_catalogue_write(&gathered, choice, out);
    assert_int_equal(fclose(out), 0);
    return offers;
}

static void add_type(const char *name, const char *arch, uint32_t cpus, uint32_t mem_mib)
{
    struct ec2_type row = { .cpus = cpus,
                            .mem_mib = mem_mib,
                            .has_spot = true,
                            .has_on_demand = true,
                            .is_current = true };

    (void)snprintf(row.name, sizeof(row.name), "%s", name);
    (void)snprintf(row.arch, sizeof(row.arch), "%s", arch);
    aws_catalogue_add_type(&gathered, &row);
}

static void add_place(const char *type, const char *zone, money_t spot, msec_t at)
{
    struct ec2_offering offering = { 0 };
    struct ec2_spot_price price = { .product = "Linux/UNIX", .price = spot, .at = at };

    (void)snprintf(offering.type, sizeof(offering.type), "%s", type);
    (void)snprintf(offering.location, sizeof(offering.location), "%s", zone);
    (void)snprintf(price.type, sizeof(price.type), "%s", type);
    (void)snprintf(price.zone, sizeof(price.zone), "%s", zone);
    aws_catalogue_add_offering(&gathered, &offering);
    aws_catalogue_add_spot(&gathered, &price);
}

TEST(what_was_gathered_is_a_catalogue)
{
    struct catalogue catalogue = { 0 };
    struct error error = { "" };

    add_place("c5.large", "us-east-1b", 40000, 5);
    add_place("c5.large", "us-east-1a", 36000, 5);
    add_place("c5.large", "us-east-1a", 35000, 4); /* older */
    add_type("c5.large", "i386,x86_64", 2, 4096);
    add_type("a1.large", "arm64", 2, 4096);
    add_place("a1.large", "us-east-1a", 1, 1);
    add_type("m9.odd", "x86_64", 4, 15616);
    aws_catalogue_add_price(&gathered, "c5.large", 85000);

    assert_int_equal(write_all(&CHOICE), 4);

    assert_string_equal(
        text,
        "date: 2024-05-01\nregion: us-east-1\nsource: a test\nbilling: { step: 1s, minimum: 60s "
        "}\nboot: { acquire: 20s, setup: 60s, release: 5s }\n\ntypes:\n  - name: c5.large\n    "
        "cpu: 2\n    mem_gib: 4\n    offers:\n      - { zone: us-east-1a, price: 0.085 }\n      -"
        " { zone: us-east-1a, market: spot, price: 0.036 }\n      - { zone: us-east-1b, price: "
        "0.085 }\n      - { zone: us-east-1b, market: spot, price: 0.04 }\n\n# The on-demand "
        "price of these is unknown, so they have no such offer:\n#   m9.odd\n");
    assert_int_equal(catalogue_file_read(text, size, &catalogue, &error), 0);
    assert_int_equal(catalogue.offer_count, 4);
    catalogue_done(&catalogue);
}

TEST(spot_offers_of_a_type_say_how_often_it_is_interrupted)
{
    struct catalogue catalogue = { 0 };

    add_type("c5.large", "x86_64", 2, 4096);
    add_type("m5.large", "x86_64", 2, 8192);
    add_place("c5.large", "us-east-1a", 36000, 5);
    add_place("m5.large", "us-east-1a", 40000, 5);
    aws_catalogue_add_price(&gathered, "c5.large", 85000);
    aws_catalogue_add_interruption(&gathered, "c5.large", (struct interruption){ 20, 100 });
    aws_catalogue_add_interruption(&gathered, "x9.unheard", (struct interruption){ 0, 5 });

    assert_int_equal(write_all(&CHOICE), 3);
    assert_non_null(strstr(text, "      - { zone: us-east-1a, price: 0.085 }\n"
                                 "      - { zone: us-east-1a, market: spot, price: 0.036, "
                                 "interruption: [20, 100] }\n"));
    assert_non_null(strstr(text, "      - { zone: us-east-1a, market: spot, price: 0.04 }\n"));
    assert_null(strstr(text, "x9.unheard"));
    assert_int_equal(catalogue_file_read(text, size, &catalogue, NULL), 0);
    assert_int_equal(catalogue.offers[1].interruption.low, 20);
    catalogue_done(&catalogue);
}

TEST(what_the_system_takes_of_the_memory_is_left_out)
{
    struct aws_catalogue_choice choice = CHOICE;

    add_type("c5.large", "x86_64", 2, 4096);
    add_place("c5.large", "us-east-1a", 36000, 5);
    choice.mem_percent = 93;
    assert_int_equal(write_all(&choice), 1);
    assert_non_null(strstr(text, "    mem_gib: 3.7197265625\n")); /* 3,809 MiB */
}

TEST(memory_that_is_no_whole_gib_reads_back_the_same)
{
    struct catalogue catalogue = { 0 };

    add_type("m9.odd", "x86_64", 4, 15617);
    add_place("m9.odd", "z", 5, 5);

    assert_int_equal(write_all(&CHOICE), 1);
    assert_int_equal(catalogue_file_read(text, size, &catalogue, NULL), 0);
    assert_int_equal(catalogue.types[0].capacity.amount[RES_MEM], 15617);
    catalogue_done(&catalogue);
}

TEST(types_are_chosen_by_pattern)
{
    assert_true(text_matches(NULL, "c5.large"));
    assert_true(text_matches("m5.*,c5.*", "c5.large"));
    assert_true(text_matches("*.large", "c5.large"));
    assert_true(text_matches("c5.large", "c5.large"));
    assert_false(text_matches("c5.larg", "c5.large"));
    assert_false(text_matches("c5.large*large", "c5.large"));
    assert_false(text_matches("m5.*", "c5.large"));
}

TEST(prices_come_from_the_pricing_api)
{
    static const char PAGE[] =
        "{\"PriceList\":[\"{\\\"product\\\":{\\\"attributes\\\":{\\\"instanceType\\\":"
        "\\\"c5.large\\\",\\\"marketoption\\\":\\\"OnDemand\\\"}},\\\"terms\\\":"
        "{\\\"OnDemand\\\" :{\\\"A.B\\\":{\\\"priceDimensions\\\":"
        "{\\\"A.B.C\\\":{\\\"unit\\\":\\\"Hrs\\\",\\\"pricePerUnit\\\":{\\\"USD\\\":"
        "\\\"0.0850000000\\\"}}}}}}}\",\"nonsense\",7],\"NextToken\":\"t\"}";
    char token[EC2_TOKEN_SIZE];

    assert_int_equal(aws_catalogue_read_products(&gathered, PAGE, strlen(PAGE), token, NULL), 0);

    assert_string_equal(token, "t");
    assert_int_equal(gathered.types[0].on_demand, 85000);
    assert_true(aws_catalogue_read_products(&gathered, "{}", 2, token, NULL) < 0);
    assert_true(aws_catalogue_read_products(&gathered, "x", 1, token, NULL) < 0);
}

TEST(prices_come_from_a_file)
{
    static const char FILE_TEXT[] = "c5.large: 0.085\nm5.large: 0.096\n";
    struct error error = { "" };

    assert_int_equal(aws_catalogue_read_prices(&gathered, FILE_TEXT, strlen(FILE_TEXT), &error), 0);
    assert_int_equal(gathered.types[1].on_demand, 96000);
    assert_true(aws_catalogue_read_prices(&gathered, "a: b", 4, &error) < 0);
}

/* Rows of one zone: from before the begin (5,000 s), within, of no change, and one told twice. */
static const struct price_change ROWS[] = {
    { 1000000, 31000 }, { 4000000, 36000 },  { 8600000, 36000 },  { 12200000, 40500 },
    { 12200500, 1 },    { 12200500, 39000 }, { 12200500, 39000 }, { 91400000, 41000 },
};
enum { ROW_COUNT = sizeof(ROWS) / sizeof(*ROWS) };

TEST(a_history_is_its_changes_whatever_the_order_of_its_rows)
{
    static const char WRITTEN[] =
        "# Changes of price are [seconds since 1970-01-01T01:23:20Z, dollars per hour].\n"
        "types:\n"
        "  - name: c5.large\n"
        "    cpu: 2\n"
        "    mem_gib: 4\n"
        "    offers:\n"
        "      - { zone: us-east-1a, market: spot, price: [[0, 0.036], [7200, 0.0405], "
        "[7200.5, 0.039], [86400, 0.041]], interruption: [5, 10] }\n";
    struct rng rng;

    rng_init(&rng, 7, 1);
    for (int round = 0; round < 50; round++) {
        struct price_change rows[ROW_COUNT];

        memcpy(rows, ROWS, sizeof(ROWS));
        aws_catalogue_keep_history(&gathered, 5000000);
        add_type("c5.large", "x86_64", 2, 4096);
        aws_catalogue_add_interruption(&gathered, "c5.large", (struct interruption){ 5, 10 });
        for (uint32_t left = ROW_COUNT; left > 0; left--) {
            const uint32_t taken = (uint32_t)rng_below(&rng, left);

            add_place("c5.large", "us-east-1a", rows[taken].per_hour, rows[taken].at);
            rows[taken] = rows[left - 1];
        }
        assert_int_equal(write_all(&CHOICE), 1);
        assert_non_null(strstr(text, WRITTEN));
        free(text);
        text = NULL;
        aws_catalogue_done(&gathered);
    }
}

TEST(a_history_reads_back_and_one_price_is_a_number)
{
    struct catalogue catalogue = { 0 };

    aws_catalogue_keep_history(&gathered, 5000000);
    add_type("c5.large", "x86_64", 2, 4096);
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        add_place("c5.large", "us-east-1a", ROWS[i].per_hour, ROWS[i].at);
    add_place("c5.large", "us-east-1b", 33000, 6000000);
    add_place("c5.large", "us-east-1b", 33000, 7000000);

    assert_int_equal(write_all(&CHOICE), 2);
    assert_non_null(strstr(text, "{ zone: us-east-1b, market: spot, price: 0.033 }\n"));
    assert_int_equal(catalogue_file_read(text, size, &catalogue, NULL), 0);
    assert_int_equal(catalogue.offers[0].price.count, 4);
    assert_int_equal(price_at(&catalogue.offers[0].price, 7199999), 36000);
    assert_int_equal(price_at(&catalogue.offers[0].price, 7200000), 40500);
    catalogue_done(&catalogue);
}

TEST(a_history_is_bounded)
{
    aws_catalogue_keep_history(&gathered, 1);
    for (uint32_t i = 0; i < AWS_PRICE_ROWS_MAX; i++)
        aws_price_history_add(&gathered.history, &(uint32_t){ 0 }, i, 1);
    assert_false(gathered.history.is_full);
    add_place("c5.large", "us-east-1a", 1, 1);
    assert_true(gathered.history.is_full);
    assert_int_equal(gathered.history.count, AWS_PRICE_ROWS_MAX);
}

TEST(types_are_wanted_if_they_will_be_written)
{
    add_type("c5.large", "x86_64", 2, 4096);
    add_type("a1.large", "arm64", 2, 4096);
    aws_catalogue_add_price(&gathered, "m5.large", 96000);

    assert_true(aws_catalogue_wants(&gathered, "c5.large", &CHOICE));
    assert_false(aws_catalogue_wants(&gathered, "a1.large", &CHOICE));
    assert_false(aws_catalogue_wants(&gathered, "m5.large", &CHOICE)); /* EC2 has not told of it */
    assert_false(aws_catalogue_wants(&gathered, "x9.large", &CHOICE));
}

TEST(a_name_that_would_break_the_file_is_dropped)
{
    add_type("c5 }\nboot: x", "x86_64", 2, 4096);
    add_type("c5.large", "x86_64", 2, 4096);
    add_place("c5.large", "a }\n", 5, 5);

    assert_int_equal(write_all(&CHOICE), 0);
    assert_null(strstr(text, "boot: x"));
    assert_true(gathered.dropped > 0);
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

CHECK_MAIN(WITH(what_was_gathered_is_a_catalogue),
           WITH(spot_offers_of_a_type_say_how_often_it_is_interrupted),
           WITH(what_the_system_takes_of_the_memory_is_left_out),
           WITH(memory_that_is_no_whole_gib_reads_back_the_same), WITH(types_are_chosen_by_pattern),
           WITH(prices_come_from_the_pricing_api), WITH(prices_come_from_a_file),
           WITH(a_history_is_its_changes_whatever_the_order_of_its_rows),
           WITH(a_history_reads_back_and_one_price_is_a_number), WITH(a_history_is_bounded),
           WITH(types_are_wanted_if_they_will_be_written),
           WITH(a_name_that_would_break_the_file_is_dropped))
