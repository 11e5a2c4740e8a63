/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other public data in Eva's world.
 *
 * Durations: those of Alibaba's GPU cluster of 2023, of pods that ended while it was watched, and of Microsoft's
 * Philly, 2017. Each job of Eva's trace runs for as long as one that is drawn.
 *
 * Spot: the prices of us-east-1 from 1 February 2024 on, in the zones in which somebody has measured for how long
 * machines last: V100 machines for p3, February to March 2023, and machines of 64 Intel CPUs for c7i and r7i,
 * April 2023. A series begins with the trace, and again when it is over. While no machine could be had there is none, and
 * when a machine was lost all of that zone and kind are, two minutes after a notice, as on EC2.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cli/repro_eva.h"
#include "cli/repro_spot.h"
#include "sim/scenario_losses.h"

/*
 * Durations.
 */

struct lengths {
    msec_t *ms;
    uint32_t count;
    uint32_t room;
};

static void add_length(struct lengths *lengths, msec_t ms)
{
    if (ms <= 0)
        return;
    MEM_ROOM(lengths->ms, lengths->room, lengths->count + 1);
    lengths->ms[lengths->count++] = ms;
}

static int read_philly(const struct csv *csv, struct lengths *ret, struct error *reterr)
{
    int64_t ms = 0;
    const int rc = repro_get_number(csv, "duration", 3, 0, LIMIT_TIME_MS, &ms, reterr);

    if (rc == 0)
        add_length(ret, ms);
    return rc;
}

/* When the trace ends: what is deleted then has not ended. */
static const int64_t alibaba_end_s = 12902960;

/* Pods that were never scheduled have no such time. */
static int read_alibaba(const struct csv *csv, struct lengths *ret, struct error *reterr)
{
    int64_t from = 0;
    int64_t to = 0;
    int rc;

    if (csv_field(csv, csv_column(csv, "scheduled_time")).length == 0)
        return 0;
    rc = repro_get_number(csv, "scheduled_time", 0, 0, alibaba_end_s, &from, reterr);
    if (rc == 0)
        rc = repro_get_number(csv, "deletion_time", 0, 0, alibaba_end_s, &to, reterr);
    if (rc == 0 && to < alibaba_end_s)
        add_length(ret, (to - from) * MSEC_PER_SEC);
    return rc;
}

static const struct {
    const char *file;
    int (*read)(const struct csv *csv, struct lengths *ret, struct error *reterr);
} sources[] = {
    [EVA_DURATIONS_ALIBABA_2023] = { "alibaba-gpu-2023/openb_pod_list_default.csv", read_alibaba },
    [EVA_DURATIONS_PHILLY] = { "philly/philly.csv.zst", read_philly },
};

static int read_rows(const struct input_file *file, enum eva_durations durations,
                     struct lengths *ret, struct error *reterr)
{
    struct csv csv;
    int rc = csv_open(&csv, file->text, file->length, reterr);

    if (rc != 0)
        return rc;
    while ((rc = csv_next(&csv, reterr)) == 1) {
        rc = sources[durations].read(&csv, ret, reterr);
        if (rc != 0)
            break;
    }
    csv_close(&csv);
    if (rc == 0 && ret->count == 0)
        rc = error_set(reterr, -EINVAL, "there is no duration in it; get the data again");
    return rc;
}

int eva_draw_durations(struct trace *trace, enum eva_durations durations, uint64_t seed,
                       struct error *reterr)
{
    const char *name = sources[durations].file;
    struct input_file file = { 0 };
    struct lengths lengths = { 0 };
    struct rng rng;
    int rc = repro_read_data(name, &file, reterr);

    if (rc != 0)
        return rc;
    rc = read_rows(&file, durations, &lengths, reterr);
    input_file_done(&file);
    assert(rc != 0 || lengths.ms != NULL);
    rng_init(&rng, seed, 14);
    for (uint32_t i = 0; i < trace->job_count && rc == 0; i++)
        trace->jobs[i].work_ms = lengths.ms[rng_below(&rng, lengths.count)];
    mem_free(lengths.ms);
    return rc == 0 ? 0 : error_prefix(reterr, rc, name);
}

/*
 * Spot.
 */

/* Zones in which a series was measured; where there are no prices as well there is no offer. */
static const struct measured {
    const char *family;
    const char *series; /* the file's name is this, the zone and 'machine' */
    const char *machine;
    const char *zones; /* their last letters */
} measured[] = {
    { "p3", "availability_1-node_aws-02-15-2023", "v100_1", "adf" },
    { "c7i", "preemption_1-node_aws-04-19-2023", "intel_64", "bcd" },
    { "r7i", "preemption_1-node_aws-04-19-2023", "intel_64", "bcd" },
};

enum {
    MEASURED = sizeof(measured) / sizeof(measured[0]),
    ZONE_SIZE = 16,
    PATH_SIZE = 128,
    WINDOW_DAYS = 500
};

static bool is_measured(const struct catalogue *catalogue, uint32_t type, const char *zone)
{
    const char *family = names_text(&catalogue->families, catalogue->types[type].family);

    for (int i = 0; i < MEASURED; i++) {
        if (strcmp(measured[i].family, family) == 0)
            return strchr(measured[i].zones, zone[strlen(zone) - 1]) != NULL;
    }
    return false;
}

static int add_series(struct eva_world *world, const struct measured *of, char letter,
                      struct error *reterr)
{
    struct input_file file = { 0 };
    char zone[ZONE_SIZE];
    char path[PATH_SIZE];
    int rc;

    (void)snprintf(zone, sizeof(zone), "us-east-1%c", letter);
    (void)snprintf(path, sizeof(path), "spot-availability/%s_%s_%s.json.zst", of->series, zone,
                   of->machine);
    rc = repro_read_data(path, &file, reterr);
    if (rc != 0)
        return rc;

    const struct offer_pattern pattern = {
        .family = of->family, .zone = zone, .has_market = true, .market = MARKET_SPOT
    };

    rc = scenario_availability_read(&pattern, file.text, file.length, &world->catalogue,
                                    &world->arena, &world->market, reterr);
    input_file_done(&file);
    return rc == 0 ? 0 : error_prefix(reterr, rc, path);
}

int eva_add_spot(struct eva_world *world, struct error *reterr)
{
    const struct repro_spot spot = {
        .from = 1706745600, /* 1 February 2024, Unix time */
        .window_s = WINDOW_DAYS * (int64_t)24 * 3600,
        .billing = world->catalogue.offers[0].billing,
        .wants = is_measured,
    };
    int rc = repro_spot_add(&world->catalogue, &spot, reterr);

    for (int i = 0; i < MEASURED; i++) {
        for (const char *zone = measured[i].zones; *zone != '\0' && rc == 0; zone++)
            rc = add_series(world, &measured[i], *zone, reterr);
    }
    return rc;
}
