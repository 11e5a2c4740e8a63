/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bill_world FILE SEED - write the books of a made-up cluster to FILE, and on standard output, as the log of its
 * cloud would have it, one machine a line: key, type, market, price per hour in micro-dollars, and when its bill
 * began and ended, in milliseconds; owned nodes are in the books alone. tests/bill.py makes a bill of that and holds the tool against it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "control/ports/engine_port.h"
#include "model/billing.h"
#include "store/store.h"

#define START ((msec_t)1793491200000) /* 2026-11-01 */

enum { MACHINES = 120, TYPES = 3, USERS = 4 };

static const struct {
    const char *name;
    money_t price;
} types[TYPES] = { { "c7i.large", 89250 }, { "m7i.xlarge", 201600 }, { "p5.48xlarge", 55040000 } };

static const char *const users[USERS] = { "ada", "bob", "eve", "mel" };
static const char *const accounts[USERS] = { "physics", "physics", "biology", NULL };

/* A machine, and one task that had it for all of its time but the boot. */
static void add_machine(struct store *store, struct rng *rng, uint64_t id)
{
    const uint32_t type = (uint32_t)rng_below(rng, 8) == 0 ? 2 : (uint32_t)rng_below(rng, 2);
    const bool is_spot = rng_below(rng, 3) == 0;
    const money_t price = is_spot ? types[type].price * 2 / 5 : types[type].price;
    const msec_t from = START + (msec_t)rng_below(rng, 20 * 24 * 3600) * 1000 + 137;
    const msec_t length = 60000 + (msec_t)rng_below(rng, 40 * 3600) * 1000;
    const struct price_change change = { 0, price };
    const struct price_series series = { &change, 1 };
    const struct billing_rule billing = { .step_ms = 1000, .minimum_ms = 60000 };
    const money_t cost = billing_charge(&billing, &series, from, from + length);
    const money_t boot = cost / 20;
    const uint32_t user = (uint32_t)rng_below(rng, USERS);

    store_instance(store, &(struct store_instance){ .id = id,
                                                    .name = "st-1",
                                                    .offer = types[type].name,
                                                    .type = types[type].name,
                                                    .zone = "us-east-1a",
                                                    .market = is_spot ? "spot" : "on-demand",
                                                    .per_hour = price,
                                                    .asked_at = from });
    store_bill(store, id,
               &(struct ledger_bill){ .from = from,
                                      .to = from + length,
                                      .sums = { .bill = cost,
                                                .boot = boot,
                                                .work = cost - boot,
                                                .boot_ms = length / 20,
                                                .work_ms = length - length / 20 } });
    store_due(store, &(struct store_due){ .task = id,
                                          .label = "1",
                                          .user = users[user],
                                          .account = accounts[user],
                                          .partition = "cloud",
                                          .cost = cost - boot,
                                          .alone_cost = cost,
                                          .occupied_ms = length - length / 20,
                                          .ended_at = from + length });
    printf("%" PRIu64 " %s %s %" PRId64 " %" PRId64 " %" PRId64 "\n", id, types[type].name,
           is_spot ? "spot" : "on-demand", price, from, from + length);
}

/* An owned node, for a price that its owner has stated; no cloud has a log of it. */
static void add_owned(struct store *store, uint32_t number, money_t per_hour)
{
    const msec_t length = (msec_t)15 * 24 * MSEC_PER_HOUR;
    const money_t cost = money_for(per_hour, length);

    store_account_set(
        store, &(struct store_account){ .instance = OWNED_ID_FIRST + number,
                                        .from = START,
                                        .until = START + length,
                                        .sums = { .bill = cost, .work = cost, .work_ms = length },
                                        .is_ready = true });
    store_due(store, &(struct store_due){ .task = 1000 + number,
                                          .label = "2",
                                          .user = "ada",
                                          .account = "physics",
                                          .partition = "cloud",
                                          .cost = cost,
                                          .alone_cost = cost,
                                          .occupied_ms = length,
                                          .ended_at = START + length });
}

int main(int argc, char **argv)
{
    struct store *store = NULL;
    struct error error = { "" };
    struct rng rng;

    if (argc != 3 || store_open(argv[1], &store, &error) < 0) {
        (void)fprintf(stderr, "bill_world FILE SEED: %s\n", error.text);
        return EXIT_FAILURE;
    }
    rng_init(&rng, strtoull(argv[2], NULL, 10), 1);
    store_begin(store);
    store_mark(store, MARK_CLUSTER, "lab");
    store_mark(store, MARK_CLOUD, "aws");
    store_mark(store, MARK_REGION, "us-east-1");
    store_mark(store, MARK_ACCOUNT, "123456789012");
    for (uint64_t id = 1; id <= MACHINES; id++)
        add_machine(store, &rng, id);
    add_owned(store, 0, 250000);
    add_owned(store, 1, 0);
    if (store_commit(store, &error) < 0) {
        (void)fprintf(stderr, "bill_world: %s\n", error.text);
        return EXIT_FAILURE;
    }
    store_close(store);
    return EXIT_SUCCESS;
}
