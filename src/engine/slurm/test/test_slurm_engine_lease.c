/* SPDX-License-Identifier: Apache-2.0 */
/* One daemon at a time: what it is told of the lease, and what is sent without it. */
#include "control/ports/findings.h"
#include "engine/engine_adapter.h"
#include "engine/slurm/test/engine_world.h"

static struct engine_lease told;
static uint32_t tellings;
static char found[256];

static void on_lease(void *context, const struct engine_lease *lease)
{
    (void)context;
    told = *lease;
    tellings++;
}

static void add(void *context, const struct finding *finding)
{
    (void)context;
    (void)snprintf(found, sizeof(found), "%s", finding->text);
}

static const char *finding_of(const struct world *world)
{
    const struct finding_sink sink = { .tell = add };

    found[0] = '\0';
    slurm_lease_tell(world->engine, &sink);
    return found;
}

static void begin_as(struct world *world, const char *cluster, bool observes)
{
    begin(world);
    struct slurm_engine_config config = config_of(world);

    config.cluster = cluster;
    config.observes = observes;
    config.on_lease = on_lease;
    slurm_engine_destroy(world->engine);
    begin_with(world, &config);
    tellings = 0;
    told = (struct engine_lease){ .until = 0 };
    slurm_engine_connected(world->engine, world->now);
    world->sent[0] = '\0';
}

TEST(the_lease_is_asked_for_by_who_acts)
{
    struct world world;

    begin_as(&world, "lab", false);
    line(&world, "hello protocol=1 lease=1");
    sent(&world, "hello protocol=1 lease=lab\n");
    assert_int_equal(tellings, 1);
    assert_int_equal(told.until, 0);
    assert_string_equal(slurm_engine_lease_fault(world.engine),
                        "waiting for the lease of this Slurm");
    finish(&world);

    begin_as(&world, "lab", true);
    line(&world, "hello protocol=1 lease=1");
    sent(&world, "hello protocol=1\n");
    finish(&world);

    begin_as(&world, "lab", false); /* a stint-slurm of 0.2.0 */
    line(&world, "hello protocol=1");
    sent(&world, "hello protocol=1\n");
    assert_int_equal(tellings, 0);
    assert_null(slurm_engine_lease_fault(world.engine));
    finish(&world);
}

TEST(the_daemon_is_told_until_when_it_may_act)
{
    struct world world;

    begin_as(&world, "lab", false);
    line(&world, "hello protocol=1 lease=1");
    line(&world, "lease state=settles epoch=7 until=0");
    assert_int_equal(told.until, 0);
    line(&world, "lease state=held epoch=7 until=123456");
    assert_int_equal(told.until, 123456);
    assert_int_equal(told.epoch, 7);
    assert_null(slurm_engine_lease_fault(world.engine));
    assert_string_equal(finding_of(&world), "");
    line(&world, "lease state=held epoch=7 until=127456 caller=v1;t;h2;c2");
    assert_string_equal(finding_of(&world),
                        "another stintd waits to act on this Slurm (h2, cluster 'c2')");
    line(&world, "lease state=waits epoch=8 until=0 other=v1;t;h2;c2");
    assert_int_equal(told.until, 0);
    assert_string_equal(slurm_engine_lease_fault(world.engine),
                        "another stintd acts on this Slurm");
    assert_string_equal(
        finding_of(&world),
        "another stintd acts on this Slurm (h2, cluster 'c2'), so this one only waits");
    line(&world, "lease state=waits epoch=8 until=0 text=Access%20denied");
    assert_string_equal(slurm_engine_lease_fault(world.engine), "Access denied");
    finish(&world);
}

TEST(what_was_put_off_is_asked_again_with_the_lease)
{
    struct world world;

    begin_as(&world, "lab", false);
    line(&world, "hello protocol=1 lease=1");
    line(&world, "node name=st-7 state=up drain=0");
    world.port.ops->retire(world.port.self, 7);
    slurm_engine_flush(world.engine, world.now);
    world.sent[0] = '\0';
    line(&world, "unsure key=1 code=0 text=no");
    sent(&world, "");
    line(&world, "lease state=held epoch=7 until=123456");
    assert_non_null(strstr(world.sent, "key=1 nodes=st-7"));
    finish(&world);
}

CHECK_MAIN(RUN(the_lease_is_asked_for_by_who_acts), RUN(the_daemon_is_told_until_when_it_may_act),
           RUN(what_was_put_off_is_asked_again_with_the_lease))
