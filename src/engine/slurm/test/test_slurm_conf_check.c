/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor says of slurm.conf and of slurmctld's unit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_conf_check.h"

struct said {
    char kinds[256];
};

static void tell(void *context, const struct finding *finding)
{
    struct said *said = context;
    const size_t used = strlen(said->kinds);

    assert_true(strlen(finding->text) > 20);
    assert_true(strlen(finding->advice) > 20);
    (void)snprintf(said->kinds + used, sizeof(said->kinds) - used, "%s %s\n", finding->severity,
                   finding->kind);
}

static void next_kind(void *context)
{
    (void)context;
}

static void expect(const char *text, bool offers_gpu, bool observes, const char *kinds)
{
    struct said said = { "" };
    const struct finding_sink sink = { .tell = tell, .next_kind = next_kind, .context = &said };
    struct line line;
    struct error error = { "" };
    struct slurm_conf_facts facts;
    char copy[256];

    (void)snprintf(copy, sizeof(copy), "%s", text);
    assert_int_equal(line_parse(copy, strlen(copy), &line, &error), 0);
    facts = slurm_conf_facts_read(&line);
    slurm_conf_check(&facts, offers_gpu, observes, &sink);
    assert_string_equal(said.kinds, kinds);
}

#define REST " gpu=1 words=1"

TEST(slurm_22_05_with_frequent_backfill_is_an_error)
{
    expect("configuration release=22.05.8 backfill_s=30" REST, true, false,
           "error slurmctld-crash\n");
    expect("configuration release=22.05.8 backfill_s=30" REST, true, true,
           "note slurmctld-crash\n");
    expect("configuration release=22.05.8 backfill_s=3600" REST, true, false, "");
    expect("configuration release=22.05.8 backfill_s=0" REST, true, false, "");
}

TEST(later_releases_and_unknown_ones_are_good)
{
    expect("configuration release=23.02.0 backfill_s=30" REST, true, false, "");
    expect("configuration release=24.11.5 backfill_s=30" REST, true, false, "");
    expect("configuration release=x backfill_s=30" REST, true, false, "");
    expect("configuration backfill_s=30" REST, true, false, "");
}

TEST(gpus_need_their_type_only_if_they_can_be_rented)
{
    expect("configuration release=24.11.5 gpu=0 words=1", true, false, "warning no-gres-types\n");
    expect("configuration release=24.11.5 gpu=0 words=1", false, false, "");
}

TEST(features_need_a_node_that_has_them)
{
    expect("configuration release=24.11.5 gpu=1 words=0", true, false, "note no-words\n");
}

TEST(what_was_not_reported_is_not_judged)
{
    struct said said = { "" };
    const struct finding_sink sink = { .tell = tell, .next_kind = next_kind, .context = &said };

    slurm_conf_check(&(struct slurm_conf_facts){ .is_known = false }, true, false, &sink);
    assert_string_equal(said.kinds, "");
}

static void write_file(const char *root, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

TEST(a_unit_without_restart_is_noticed)
{
    char root[] = "/tmp/slurm-conf-XXXXXX";
    char path[256];
    const char *roots[] = { root, NULL };

    assert_non_null(mkdtemp(root));
    assert_true(slurm_conf_is_restarted(roots)); /* not a service here */
    write_file(root, "slurmctld.service", "[Service]\nExecStart=/usr/sbin/slurmctld\n");
    assert_false(slurm_conf_is_restarted(roots));
    (void)snprintf(path, sizeof(path), "%s/slurmctld.service.d", root);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(root, "slurmctld.service.d/restart.conf", "[Service]\nRestart=on-failure\n");
    assert_true(slurm_conf_is_restarted(roots));
    write_file(root, "slurmctld.service.d/restart.conf", "[Service]\nRestart=no\n");
    assert_false(slurm_conf_is_restarted(roots));
    write_file(root, "slurmctld.service.d/restart.conf", "[Service]\n");
    write_file(root, "slurmctld.service", "[Service]\nRestart=always\n");
    assert_true(slurm_conf_is_restarted(roots));

    (void)snprintf(path, sizeof(path), "%s/slurmctld.service.d/restart.conf", root);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/slurmctld.service.d", root);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/slurmctld.service", root);
    (void)unlink(path);
    (void)rmdir(root);
}

CHECK_MAIN(RUN(slurm_22_05_with_frequent_backfill_is_an_error),
           RUN(later_releases_and_unknown_ones_are_good),
           RUN(gpus_need_their_type_only_if_they_can_be_rented),
           RUN(features_need_a_node_that_has_them), RUN(what_was_not_reported_is_not_judged),
           RUN(a_unit_without_restart_is_noticed))
