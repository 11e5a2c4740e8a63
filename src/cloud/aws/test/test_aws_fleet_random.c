/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fleet under random requests, faults and restarts; the seed is in the message of a failure. Launches
 * are of one machine or several, get all of them or fewer, and every other seed has subnets. What
 * must hold: never two living instances of one key; each machine that is not returned runs or was
 * refused in the end; what is returned ends; nothing is left; no offer that was refused is asked
 * for again before its back-off ends.
 */
#include "cloud/aws/test/ec2_double.h"

#include "base/rng.h"
#include "cloud/aws/aws_fleet_private.h"

enum { SEEDS = 100, STEPS = 400, KEYS_MAX = 512 };

struct fate {
    bool is_rented;
    bool is_given_back;
    uint32_t running;
    uint32_t refused;
    uint32_t gone;
};

static struct ec2_double ec2;
static struct catalogue catalogue;
static struct aws_fleet *fleet;
static struct cloud_port port;
static struct rng rng;
static struct fate fates[KEYS_MAX];
static uint32_t keys;
static uint32_t lists;
static uint32_t listed;
static msec_t now;
static bool has_subnets;
static msec_t blocked_until[8]; /* by offer: what the test knows of its refusals */

/* The offer that a launch asks for; OFFER_NONE: it is no launch. */
static uint32_t offer_in(const char *body)
{
    char offer[160];
    char name[160];

    double_get(body, "TagSpecification.1.Tag.4.Value", offer, sizeof(offer));
    for (uint32_t i = 0; i < catalogue.offer_count; i++) {
        fleet_offer_name(&catalogue, i, name);
        if (strcmp(name, offer) == 0)
            return i;
    }
    return OFFER_NONE;
}

static void on_send(void *context, uint64_t call, const char *body, size_t size, msec_t timeout)
{
    const uint32_t offer = offer_in(body);

    (void)context;
    (void)timeout;
    if (offer != OFFER_NONE)
        assert_true(now >= blocked_until[offer]);
    double_send(&ec2, call, body, size);
}

static void on_event(void *context, const struct cloud_event *event)
{
    (void)context;
    assert_true(event->at == now);
    if (event->kind == CLOUD_LISTED) {
        listed++;
        return;
    }
    assert_in_range(event->instance, 1, keys);

    struct fate *fate = &fates[event->instance];

    fate->running += event->kind == CLOUD_RUNNING ? 1 : 0;
    fate->refused += event->kind == CLOUD_REFUSED ? 1 : 0;
    fate->gone += event->kind == CLOUD_GONE ? 1 : 0;
    assert_true(fate->refused <= 1);
    assert_false(fate->refused > 0 && fate->running > 0);
}

static void on_note(void *context, bool is_error, const char *text)
{
    (void)context;
    (void)text;
    assert_false(is_error);
}

static void open_fleet(uint64_t seed)
{
    static const struct aws_subnet subnets[] = { { "us-east-1a", "subnet-a" },
                                                 { "us-east-1b", "subnet-b" } };
    const struct aws_fleet_config config = {
        .subnets = subnets,
        .subnet_count = has_subnets ? 2 : 0,
        .launch_template = "lt-1",
        .catalogue = &catalogue,
        .cluster = "lab",
        .node_prefix = "st-",
        .image = "ami-1",
        .on_send = on_send,
        .on_event = on_event,
        .on_note = on_note,
        .seed = seed,
        .page = 7,
    };

    assert_int_equal(aws_fleet_create(&config, &fleet, NULL), 0);
    port = aws_fleet_port(fleet);
}

static bool is_token_known(const char *body)
{
    char token[80];

    double_get(body, "ClientToken", token, sizeof(token));
    for (uint32_t i = 0; i < ec2.count; i++) {
        if (strcmp(ec2.instances[i].token, token) == 0)
            return true;
    }
    return false;
}

/* A launch gets fewer machines than it asks for; a fleet none, under its own kind of answer. */
static void grant_some(uint32_t index, uint32_t offer)
{
    const bool is_fleet = strstr(ec2.calls[index].body, "Action=CreateFleet") != NULL;

    ec2.most = is_fleet ? 0 : 1;
    if (is_fleet || double_number(ec2.calls[index].body, "MaxCount") > ec2.most)
        blocked_until[offer] = now + 30000;
    double_answer(&ec2, fleet, now, index, FAULT_NONE, NULL);
    ec2.most = UINT32_MAX;
}

/* An answer of some kind to one of the calls that wait. */
static void answer_one(bool has_faults)
{
    const uint32_t index = (uint32_t)rng_below(&rng, ec2.call_count);
    const uint64_t dice = has_faults ? rng_below(&rng, 100) : 99;
    const char *body = ec2.calls[index].body;
    const uint32_t offer = offer_in(body);
    const bool is_new = offer != OFFER_NONE && !is_token_known(body);

    if (dice < 6) {
        double_answer(&ec2, fleet, now, index, FAULT_CUT_BEFORE, NULL);
    } else if (dice < 14) {
        double_answer(&ec2, fleet, now, index, FAULT_CUT_AFTER, NULL);
    } else if (dice < 24) {
        double_answer(&ec2, fleet, now, index, FAULT_CODE, "RequestLimitExceeded");
    } else if (dice < 44 && is_new) {
        blocked_until[offer] = now + 30000;
        double_answer(&ec2, fleet, now, index, FAULT_CODE, "InsufficientInstanceCapacity");
    } else if (dice < 60 && is_new) {
        grant_some(index, offer);
    } else {
        double_answer(&ec2, fleet, now, index, FAULT_NONE, NULL);
    }
}

static void check_one_each(void)
{
    uint32_t alive[KEYS_MAX] = { 0 };

    for (uint32_t i = 0; i < ec2.count; i++) {
        const uint64_t key = double_key(&ec2.instances[i]);

        assert_in_range(key, 1, keys);
        alive[key] += double_is_alive(&ec2.instances[i]) ? 1 : 0;
        assert_true(alive[key] <= 1);
    }
}

/* The daemon dies and another starts: its requests may have arrived or not. */
static void restart(uint64_t seed)
{
    aws_fleet_destroy(fleet);
    while (ec2.call_count > 0) {
        char *body = ec2.calls[--ec2.call_count].body;

        if (rng_below(&rng, 2) == 0)
            double_act(&ec2, body, now);
        mem_free(body);
    }
    memset(blocked_until, 0, sizeof(blocked_until)); /* that memory dies with it */
    open_fleet(seed + (uint64_t)now);
    port.ops->list(port.self, ++lists);
    listed = lists - 1;
    /* Of what was asked for the new one knows nothing: give all of it back. */
    for (uint32_t key = 1; key <= keys; key++) {
        if (fates[key].gone + fates[key].refused == 0) {
            fates[key].is_given_back = true;
            port.ops->give_back(port.self, key);
        }
    }
}

static void act(uint64_t seed, bool has_restarts)
{
    const uint64_t dice = rng_below(&rng, 100);

    if (dice < 10 && keys + 4 < KEYS_MAX) {
        const uint32_t count = 1 + (uint32_t)rng_below(&rng, 3);

        port.ops->rent(port.self, keys + 1, count, (uint32_t)rng_below(&rng, 7));
        for (uint32_t i = 0; i < count; i++)
            fates[++keys].is_rented = true;
    } else if (dice < 16 && keys > 0) {
        const uint64_t key = 1 + rng_below(&rng, keys);

        if (fates[key].refused == 0) {
            fates[key].is_given_back = true;
            port.ops->give_back(port.self, key);
        }
    } else if (dice < 18) {
        port.ops->list(port.self, ++lists);
    } else if (dice < 22 && ec2.count > 0) {
        double_end(&ec2, (uint32_t)rng_below(&rng, ec2.count), now);
    } else if (dice < 40) {
        for (uint32_t i = 0; i < ec2.count; i++) {
            if (strcmp(ec2.instances[i].state, "pending") == 0)
                ec2.instances[i].state = "running";
        }
    } else if (dice == 99 && has_restarts) {
        restart(seed);
    }
}

static void settle(void)
{
    const msec_t end = now + 300000;

    while (now < end) {
        if (ec2.call_count > 0) {
            answer_one(false);
            continue;
        }

        const msec_t wake = aws_fleet_next_wake(fleet);

        if (wake == MSEC_NEVER)
            break;
        now = wake > now ? wake : now;
        for (uint32_t k = 0; k < ec2.count; k++) {
            if (strcmp(ec2.instances[k].state, "pending") == 0)
                ec2.instances[k].state = "running";
        }
        aws_fleet_tick(fleet, now);
    }
}

static void check_end(void)
{
    for (uint32_t key = 1; key <= keys; key++) {
        if (fates[key].is_given_back)
            assert_true(fates[key].gone + fates[key].refused > 0);
        else
            assert_true(fates[key].running + fates[key].refused + fates[key].gone > 0);
    }
    for (uint32_t i = 0; i < ec2.count; i++) {
        const struct fate *fate = &fates[double_key(&ec2.instances[i])];

        assert_int_equal(double_is_alive(&ec2.instances[i]), fate->gone + fate->refused == 0);
    }
    assert_int_equal(listed, lists);
}

static void run(uint64_t seed, bool has_restarts)
{
    double_init(&ec2);
    ec2.page = 7;
    rng_init(&rng, seed, 1);
    memset(fates, 0, sizeof(fates));
    memset(blocked_until, 0, sizeof(blocked_until));
    keys = 0;
    lists = 0;
    listed = 0;
    now = 1700000000000;
    has_subnets = seed % 2 == 0;
    open_fleet(seed);
    for (int i = 0; i < STEPS; i++) {
        act(seed, has_restarts);
        now += (msec_t)rng_below(&rng, 2000);
        aws_fleet_tick(fleet, now);
        for (uint64_t k = rng_below(&rng, 4); k > 0 && ec2.call_count > 0; k--)
            answer_one(true);
        check_one_each();
    }
    for (uint64_t key = 1; key <= keys; key++) {
        if (rng_below(&rng, 2) == 0 && fates[key].refused == 0) {
            fates[key].is_given_back = true;
            port.ops->give_back(port.self, key);
        }
    }
    settle();
    check_one_each();
    check_end();
    aws_fleet_destroy(fleet);
    double_done(&ec2);
}

static uint64_t last_seed; /* for the debugger, and for whoever reads a failure */

static int say_seed(void **state)
{
    (void)state;
    print_message("# last seed %" PRIu64 "\n", last_seed);
    return 0;
}

static void run_seeds(bool has_restarts)
{
    double_catalogue(&catalogue);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        last_seed = seed;
        run(seed, has_restarts);
    }
    catalogue_done(&catalogue);
}

TEST(whatever_is_lost_there_is_one_machine_for_one_key)
{
    run_seeds(false);
}

TEST(whatever_is_lost_and_whoever_dies_nothing_is_left)
{
    run_seeds(true);
}

CHECK_MAIN(cmocka_unit_test_teardown(whatever_is_lost_there_is_one_machine_for_one_key, say_seed),
           cmocka_unit_test_teardown(whatever_is_lost_and_whoever_dies_nothing_is_left, say_seed))
