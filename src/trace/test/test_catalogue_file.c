/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/test/check.h"
#include "trace/catalogue_file.h"

static void read_text(struct catalogue *catalogue, const char *text)
{
    struct error error = { "" };

    if (catalogue_file_read(text, strlen(text), catalogue, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(types_and_offers_are_read_in_the_order_of_the_file)
{
    struct catalogue catalogue;
    read_text(&catalogue, "billing: { step: 1s, minimum: 60s }\n"
                          "boot: { acquire: 30s, setup: 1m }\n"
                          "types:\n"
                          "  - { name: m1.small, cpu: 1.5, mem_gib: 3.5, price: 0.08925 }\n"
                          "  - name: g1.big\n"
                          "    family: gpu\n"
                          "    cpu: 8\n"
                          "    mem_gib: 61\n"
                          "    accel: 1\n"
                          "    pods: 29\n"
                          "    volumes: 25\n"
                          "    boot: { setup: 90s, release: 5s }\n"
                          "    price: 3.06\n"
                          "    offers:\n"
                          "      - market: spot\n"
                          "        zone: here-1a\n"
                          "        price: [[0, 0.918], [1h, 1.02]]\n"
                          "        billing: { step: 1h, minimum: 1h }\n"
                          "      - { market: reserved, zone: here-1a, price: 0 }\n");
    const struct machine_type *small = &catalogue.types[0];
    const struct machine_type *big = &catalogue.types[1];
    const struct offer *offers = catalogue.offers;

    assert_int_equal(catalogue.type_count, 2);
    assert_int_equal(catalogue.offer_count, 4);
    assert_string_equal(names_text(&catalogue.families, small->family), "m1");
    assert_string_equal(names_text(&catalogue.families, big->family), "gpu");
    assert_int_equal(small->capacity.amount[RES_CPU], 1500);
    assert_int_equal(small->capacity.amount[RES_MEM], 3584);
    assert_int_equal(small->capacity.amount[RES_ACCEL], 0);
    assert_int_equal(small->capacity.amount[RES_VOLUMES], 0);
    assert_int_equal(big->capacity.amount[RES_PODS], 29);
    assert_int_equal(big->capacity.amount[RES_VOLUMES], 25);
    assert_int_equal(small->acquire_ms, 30000);
    assert_int_equal(small->setup_ms, 60000);
    assert_int_equal(big->acquire_ms, 30000);
    assert_int_equal(big->setup_ms, 90000);
    assert_int_equal(big->release_ms, 5000);
    assert_int_equal(price_at(&offers[0].price, 0), 89250);
    assert_int_equal(offers[0].market, MARKET_ON_DEMAND);
    assert_int_equal(offers[0].billing.step_ms, 1000);
    assert_int_equal(offers[0].billing.minimum_ms, 60000);
    assert_int_equal(offers[0].zone, NAME_NONE);
    assert_int_equal(price_at(&offers[1].price, 0), 3060000);
    assert_int_equal(offers[2].market, MARKET_SPOT);
    assert_string_equal(names_text(&catalogue.names, offers[2].zone), "here-1a");
    assert_int_equal(price_at(&offers[2].price, 3599999), 918000);
    assert_int_equal(price_at(&offers[2].price, 3600000), 1020000);
    assert_int_equal(offers[2].billing.step_ms, 3600000);
    assert_int_equal(offers[3].market, MARKET_RESERVED);
    assert_int_equal(offers[3].billing.minimum_ms, 60000);
    catalogue_done(&catalogue);
}

TEST(without_a_rule_billing_is_per_second)
{
    struct catalogue catalogue;
    read_text(&catalogue, "types: [{ name: a, cpu: 1, mem_gib: 1, price: 1 }]");

    assert_int_equal(catalogue.offers[0].billing.step_ms, 1000);
    assert_int_equal(catalogue.offers[0].billing.minimum_ms, 0);
    assert_string_equal(names_text(&catalogue.families, catalogue.types[0].family), "a");
    catalogue_done(&catalogue);
}

TEST(a_spot_offer_may_say_how_often_it_is_interrupted)
{
    struct catalogue catalogue;
    read_text(&catalogue, "types:\n"
                          "  - name: a\n"
                          "    cpu: 1\n"
                          "    mem_gib: 1\n"
                          "    price: 1\n"
                          "    offers:\n"
                          "      - { market: spot, zone: x, price: 1, interruption: [5, 10] }\n"
                          "      - { market: spot, zone: y, price: 1, interruption: [0, 100] }\n"
                          "      - { market: spot, zone: z, price: 1 }\n");

    assert_int_equal(catalogue.offers[0].interruption.high, 0);
    assert_int_equal(catalogue.offers[1].interruption.low, 5);
    assert_int_equal(catalogue.offers[1].interruption.high, 10);
    assert_int_equal(catalogue.offers[2].interruption.low, 0);
    assert_int_equal(catalogue.offers[2].interruption.high, 100);
    assert_int_equal(catalogue.offers[3].interruption.high, 0);
    catalogue_done(&catalogue);
}

TEST(the_form_of_eva_is_read)
{
    struct catalogue catalogue;
    read_text(&catalogue,
              "{\"region\": \"x\", \"instance_types\": {\n"
              "\"z.large\": {\"capacity\": [1, 8, 61], \"cost\": 3.06, \"family\": "
              "\"z\", \"instantiate_delay\": 22, \"run_worker_delay\": 51,\n"
              "\"worker_register_delay\": 100, \"terminate_delay\": 1, \"other\": {}},\n"
              "\"a.large\": {\"capacity\": [0, 2, 4], \"cost\": 0.08925, \"family\": "
              "\"a\"}}}");
    const struct machine_type *first = &catalogue.types[0];

    assert_int_equal(catalogue.type_count, 2);
    assert_int_equal(catalogue.offer_count, 2);
    assert_string_equal(catalogue_offer_type_name(&catalogue, 0), "z.large");
    assert_int_equal(first->capacity.amount[RES_ACCEL], 1000);
    assert_int_equal(first->capacity.amount[RES_CPU], 8000);
    assert_int_equal(first->capacity.amount[RES_MEM], 62464);
    assert_int_equal(first->acquire_ms, 22000);
    assert_int_equal(first->setup_ms, 151000);
    assert_int_equal(first->release_ms, 1000);
    assert_int_equal(price_at(&catalogue.offers[0].price, 0), 3060000);
    assert_int_equal(price_at(&catalogue.offers[1].price, 0), 89250);
    assert_int_equal(catalogue.offers[1].billing.step_ms, 1000);
    assert_int_equal(catalogue.offers[1].billing.minimum_ms, 0);
    catalogue_done(&catalogue);
}

TEST(bad_catalogues_are_refused_with_the_line)
{
#define TYPE "types:\n- { name: a, cpu: 1, mem_gib: 1, "
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        { "x: 1\n", "line 1: a catalogue has either the key 'types' (a list of machine types) or "
                    "'instance_types' (an EC2 configuration of Eva), this has neither" },
        { "[]\n", "line 1: the document must be a map of keys and values, not a list" },
        { "types: []\n", "line 1: the catalogue offers nothing" },
        { "types: {}\n", "line 1: 'types' must be a list, not a map of keys and values" },
        { "types: []\nbiling: {}\n",
          "line 2: unknown key 'biling': did you mean 'billing'? There may be: types, billing, "
          "boot, date, region, source" },
        { "types:\n- { name: a, cpu: 1 }\n", "line 2: entry 1 of 'types' lacks the key 'mem_gib'" },
        { TYPE "}\n",
          "line 2: entry 1 of 'types' has no price: give 'price', or a list of 'offers'" },
        { TYPE "price: 1, prise: 2 }\n",
          "line 2: unknown key 'prise': did you mean 'price'? There may be: name, family, cpu, "
          "mem_gib, accel, pods, volumes, boot, price, offers, features, gpu_model" },
        { TYPE "price: 1 }\n- { name: a, cpu: 1, mem_gib: 1, price: 2 }\n",
          "line 3: the type 'a' is there twice" },
        { "types:\n- { name: a, cpu: 0, mem_gib: 0, price: 1 }\n",
          "line 2: the type 'a' has no room for anything: give cpu, mem_gib or accel above 0" },
        { TYPE "price: 0.0000001 }\n",
          "line 2: 'price' must be a number from 0 to 1099511.627776 with fewer digits behind "
          "the point, not '0.0000001'" },
        { TYPE "price: [] }\n", "line 2: 'price' is an empty list" },
        { TYPE "price: [1] }\n", "line 2: entry 1 of 'price' must be a list, not a single value" },
        { TYPE "price: [[1]] }\n", "line 2: entry 1 of 'price' must be a pair [time, price]" },
        { TYPE "price: [[1, 1],\n  [1, 2]] }\n",
          "line 3: the times of a price series must rise from entry to entry" },
        { TYPE "offers: [{ price: 1 }, { price: 2 }] }\n",
          "line 2: the type is offered twice in the same zone and market (on-demand)" },
        { TYPE "offers: [{ market: spot }] }\n",
          "line 2: entry 1 of 'offers' lacks the key 'price'" },
        { TYPE "offers: [{ price: 1, market: auction }] }\n",
          "line 2: 'market' must be on-demand, spot or reserved, not 'auction'" },
        { TYPE "offers: [{ price: 1, interruption: [5, 10] }] }\n",
          "line 2: 'interruption' goes with 'market: spot', not with on-demand" },
        { TYPE "offers: [{ price: 1, market: spot, interruption: 5 }] }\n",
          "line 2: 'interruption' must be a list, not a single value" },
        { TYPE "offers: [{ price: 1, market: spot, interruption: [5] }] }\n",
          "line 2: 'interruption' must be a pair [low, high]" },
        { TYPE "offers: [{ price: 1, market: spot, interruption: [5, 101] }] }\n",
          "line 2: entry 2 of 'interruption' must be a whole number from 0 to 100, not '101'" },
        { TYPE "offers: [{ price: 1, market: spot, interruption: [5, 5] }] }\n",
          "line 2: 'interruption' must rise, from a low to a high percentage" },
        { TYPE "price: 1, interruption: [5, 10] }\n",
          "line 2: unknown key 'interruption': there may be name, family, cpu, mem_gib, accel, pods, "
          "volumes, boot, price, offers, features, gpu_model" },
        { TYPE "price: 1, features: [a, b&c] }\n",
          "line 2: 'b&c' cannot be a feature: it must have no blanks and none of "
          "& | , ( ) [ ] * !" },
        { TYPE "price: 1, gpu_model: 'h 100' }\n",
          "line 2: 'h 100' cannot be a feature: it must have no blanks and none of "
          "& | , ( ) [ ] * !" },
        { TYPE "offers: [{ price: 1, billing: { step: 0 } }] }\n",
          "line 2: 'step' must be a length of time from 0.001s to 4398046511.104s, such as "
          "300s, 5m, 1h or 250ms, not '0'" },
        { "instance_types: { a: { cost: 1, family: a } }\n",
          "line 1: 'a' lacks the key 'capacity'" },
        { "instance_types: { a: { cost: 1, family: a, capacity: [1, 2] } }\n",
          "line 1: 'capacity' must be [gpu, cpu, GiB of memory]" },
        { "instance_types: { a: { cost: x, family: a, capacity: [1, 2, 3] } }\n",
          "line 1: 'cost' must be a number from 0 to 1099511.627776, not 'x'" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct catalogue catalogue = { .type_count = 42 };
        struct error error = { "" };

        assert_int_equal(
            catalogue_file_read(cases[i].text, strlen(cases[i].text), &catalogue, &error), -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        assert_int_equal(catalogue.type_count, 42);
    }
}

TEST(one_type_may_be_offered_in_many_zones_and_markets)
{
    struct catalogue catalogue;
    read_text(&catalogue, TYPE "offers: [\n"
                               "{ price: 1, zone: x }, { price: 1, zone: y }, { price: 1 },\n"
                               "{ price: 1, zone: x, market: spot }, { price: 1, market: spot },\n"
                               "{ price: 1, zone: y, market: reserved }] }\n");

    assert_int_equal(catalogue.offer_count, 6);
    catalogue_done(&catalogue);
}

TEST(a_type_has_features_and_a_model_of_its_accelerators)
{
    struct catalogue catalogue;

    read_text(&catalogue, TYPE "price: 1, features: [infiniband, nvme], gpu_model: h100 }\n"
                               "- { name: b, cpu: 1, mem_gib: 1, price: 1 }\n");
    assert_true(catalogue_has_word(&catalogue, 0, "infiniband", 10));
    assert_true(catalogue_has_word(&catalogue, 0, "nvme", 4));
    assert_true(catalogue_has_word(&catalogue, 0, "gpu=h100", 8));
    assert_false(catalogue_has_word(&catalogue, 0, "h100", 4));
    assert_false(catalogue_has_word(&catalogue, 1, "nvme", 4));
    catalogue_done(&catalogue);
}

CHECK_MAIN(RUN(types_and_offers_are_read_in_the_order_of_the_file),
           RUN(without_a_rule_billing_is_per_second),
           RUN(a_spot_offer_may_say_how_often_it_is_interrupted), RUN(the_form_of_eva_is_read),
           RUN(bad_catalogues_are_refused_with_the_line),
           RUN(one_type_may_be_offered_in_many_zones_and_markets),
           RUN(a_type_has_features_and_a_model_of_its_accelerators))
