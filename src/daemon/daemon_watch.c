/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doctor is asked every few seconds, so that what is wrong stands in the log and in the metrics
 * without anybody asking: once when it appears, once when it is over.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon_private.h"
#include "daemon/log.h"

static const msec_t watch_every_ms = 10 * MSEC_PER_SEC;

static void log_new(void *context, const struct finding *finding)
{
    const enum conf_log_level level = strcmp(finding->severity, "error") == 0     ? CONF_LOG_ERROR
                                      : strcmp(finding->severity, "warning") == 0 ? CONF_LOG_WARNING
                                                                                  : CONF_LOG_INFO;

    (void)context;
    log_say(level, "finding kind=%s subject=%s: %s. %s", finding->kind, finding->subject,
            finding->text, finding->advice);
}

static void log_gone(void *context, const struct finding *finding)
{
    (void)context;
    LOG_INFO("finding is over kind=%s subject=%s", finding->kind, finding->subject);
}

static void see(void *to, const struct finding *finding)
{
    if (strcmp(finding->kind, "more") != 0) /* of a kind that is seen anyway */
        finding_watch_see(to, finding);
}

void daemon_each_past(void *context, void (*each)(void *to, const struct serve_past_finding *past),
                      void *to)
{
    const struct daemon *daemon = context;

    finding_watch_each_past(&daemon->watch, daemon->now, each, to);
}

void daemon_watch_findings(struct daemon *daemon)
{
    struct finding_watch *watch = &daemon->watch;
    char alive[24];

    if (daemon->now < daemon->watch_at)
        return;
    if (daemon->watch_at == 0) { /* links take a moment after the start */
        daemon->watch_at = daemon->now + watch_every_ms;
        return;
    }
    daemon->watch_at = daemon->now + watch_every_ms;
    (void)snprintf(alive, sizeof(alive), "%lld", (long long)daemon->now);
    journal_mark(&daemon->journal, MARK_ALIVE, alive); /* a disk that is full is noticed so */
    watch->on_new = log_new;
    watch->on_gone = log_gone;
    watch->context = daemon;
    finding_watch_begin(watch, daemon->now);
    doctor_each(daemon, see, watch);
    finding_watch_end(watch);
    daemon->world.tallies = watch->tallies;
    daemon->world.tally_count = watch->tally_count;
}
