/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_adapter.h"

#include "engine/slurm/slurm_engine.h"
#include "engine/slurm/slurm_findings.h"
#include "engine/slurm/slurm_report.h"
#include "engine/slurm/slurm_settings.h"
#include "engine/slurm/slurm_wait_words.h"

/*
 * Configuration.
 */

static int read(const struct settings *in, const struct doc_node *map, const void **ret)
{
    struct slurm_settings *settings = ARENA_ARRAY(in->arena, struct slurm_settings, 1);
    const int rc = slurm_settings_read(in, map, settings);

    if (rc == 0)
        *ret = settings;
    return rc;
}

static bool is_same(const void *a, const void *b)
{
    return slurm_settings_same(a, b);
}

static void examine(const void *settings, const struct finding_sink *to)
{
    slurm_findings_examine(settings, to);
}

/* Slurm looks at its requests once a second, and so starts a job 0.5 to 0.8 s after it was placed;
 * if it takes longer it had no room for it. */
static struct engine_lags lags(const void *settings)
{
    const struct slurm_settings *slurm = settings;

    return (struct engine_lags){
        .start_min_ms = 800,
        .start_max_ms = 2 * MSEC_PER_SEC,
        .news_ms = slurm->poll_ms / 2,
        .stop_ms = slurm->stop_signal != NULL ? slurm->stop_grace_ms : 0,
    };
}

static struct engine_owned owned(const void *settings)
{
    const struct slurm_owned *nodes = &((const struct slurm_settings *)settings)->owned;

    return (struct engine_owned){ .kinds = nodes->kinds.rows,
                                  .names = nodes->names,
                                  .kind_of = nodes->kind_of,
                                  .count = nodes->count };
}

/*
 * Life.
 */

static int create(const struct engine_config *config, void **ret, struct error *reterr)
{
    const struct slurm_settings *settings = config->settings;

    (void)reterr;
    *ret = slurm_engine_create(&(struct slurm_engine_config){
        .catalogue = config->catalogue,
        .shapes = config->shapes,
        .users = config->users,
        .job_names = config->job_names,
        .cluster = config->cluster,
        .node_prefix = config->node_prefix,
        .partition = settings->partition,
        .stop_signal = settings->stop_signal,
        .stop_grace_ms = settings->stop_grace_ms,
        .tmp_mib = (uint64_t)settings->tmp_mib,
        .any_zone = settings->any_zone,
        .markets = settings->markets,
        .bursts = settings->bursts,
        .owned = settings->owned.names,
        .owned_count = settings->owned.count,
        .start_timeout_ms = config->start_timeout_ms,
        .observes = config->observes,
        .on_event = config->on_event,
        .on_send = config->on_send,
        .on_say = config->on_say,
        .describe = config->describe,
        .explain = config->explain,
        .caps = config->caps,
        .on_lease = config->on_lease,
        .is_booked = config->is_booked,
        .context = config->context,
    });
    return 0;
}

static void destroy(void *self)
{
    slurm_engine_destroy(self);
}

static struct engine_port port(void *self)
{
    return slurm_engine_port(self);
}

/*
 * Lines.
 */

static void connected(void *self, msec_t now)
{
    slurm_engine_connected(self, now);
}

static void disconnected(void *self, msec_t now)
{
    slurm_engine_disconnected(self, now);
}

static void line(void *self, msec_t now, char *text, size_t length)
{
    slurm_engine_line(self, now, text, length);
}

static void flush(void *self, msec_t now)
{
    slurm_engine_flush(self, now);
}

static msec_t next_wake(const void *self)
{
    return slurm_engine_next_wake(self);
}

static void tick(void *self, msec_t now)
{
    slurm_engine_tick(self, now);
}

static const struct adapter_lines lines = {
    .connected = connected,
    .disconnected = disconnected,
    .line = line,
    .flush = flush,
    .next_wake = next_wake,
    .tick = tick,
};

/* stint-slurm says that it is alive every few seconds; one that was heard so once must go on. */
static struct adapter_peer peer(const void *settings, const char *state, struct arena *arena)
{
    static const char *const environment[] = { "SLURM_", "MUNGE_", NULL };

    return (struct adapter_peer){
        .argv = slurm_settings_argv(settings, state, arena),
        .environment = environment,
        .alive = "alive",
        .silence_ms = 30 * MSEC_PER_SEC,
    };
}

static bool is_usable(const void *self)
{
    return slurm_engine_is_up(self);
}

static const char *fault(const void *self)
{
    return slurm_engine_is_up(self) ? slurm_engine_lease_fault(self) : "slurmctld does not answer";
}

/*
 * Tasks and nodes.
 */

static bool payer(const void *self, uint64_t task, struct engine_payer *ret)
{
    return slurm_engine_payer(self, task, ret);
}

static int label(const void *self, uint64_t task, char *buf, size_t size)
{
    return slurm_engine_label(self, task, buf, size);
}

static uint64_t find(const void *self, const char *text)
{
    return slurm_engine_find(self, text);
}

static bool wait(void *self, uint64_t task, msec_t now, struct engine_wait *ret)
{
    const struct slurm_wait found = slurm_engine_wait(self, task);

    return slurm_wait_words(&found, now, ret);
}

static int imagine(void *self, const char *fields, struct shapes *shapes, struct job_spec *ret,
                   struct error *reterr)
{
    return slurm_engine_imagine(self, fields, shapes, ret, reterr);
}

static void cost(void *self, uint64_t task, money_t money, const char *type)
{
    slurm_engine_cost(self, task, money, type);
}

static void each_stray(const void *self, void (*each)(void *context, uint64_t instance, bool is_up),
                       void *context)
{
    slurm_engine_each_stray(self, each, context);
}

static void each_finding(void *self, bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to)
{
    slurm_findings_each(self, knows, context, to);
}

const struct engine_adapter slurm_adapter = {
    .name = "slurm",
    .title = "Slurm",
    .default_rate = 1.0, /* each task has its own processors */
    .words = {
        .not_ready = "Read its console. Check that it boots and that slurmd reaches "
                     "slurmctld. Stint returns it after 'boot_timeout'.",
        .no_boot = "Read the console of the last one. Check the image, the munge key and the "
                   "security group. Stint tries again by itself, with growing pauses.",
        .no_start = "Read the log of slurmd and of the prolog on the last one. Stint tries again by "
                    "itself, with growing pauses.",
        .bad_machine = "Compare the type's processors, memory, gres and features in the catalogue "
                       "with the ones that slurmd reports.",
        .still_busy = "Run `squeue -w NODE`. Stint returns the machine when these jobs have "
                      "ended, and stops none of them.",
    },
    .read = read,
    .is_same = is_same,
    .examine = examine,
    .lags = lags,
    .owned = owned,
    .create = create,
    .destroy = destroy,
    .port = port,
    .lines = &lines,
    .peer = peer,
    .is_usable = is_usable,
    .fault = fault,
    .label = label,
    .payer = payer,
    .find = find,
    .wait = wait,
    .imagine = imagine,
    .cost = cost,
    .own_job = slurm_report_own_job,
    .report_rate = slurm_report_rate,
    .each_stray = each_stray,
    .each_finding = each_finding,
};
