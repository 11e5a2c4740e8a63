/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/local/local_adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cloud/local/local_cloud.h"
#include "control/ports/findings.h"
#include "trace/doc_value.h"
#include "trace/settings.h"

/*
 * Configuration.
 */

static int read_settings(const struct settings *in, const struct doc_node *map, const void **ret)
{
    static const char *const allowed[] = { "kind", "socket", NULL };
    struct local_settings *settings = ARENA_ARRAY(in->arena, struct local_settings, 1);
    int rc = doc_allow_keys(map, allowed, in->reterr);

    settings->socket = "/run/stint/cloud.sock";
    if (rc == 0)
        rc = settings_socket(in, map, "socket", &settings->socket);
    if (rc == 0)
        *ret = settings;
    return rc;
}

static bool is_same(const void *a, const void *b)
{
    const struct local_settings *x = a;
    const struct local_settings *y = b;

    return settings_same_text(x->socket, y->socket);
}

static void examine(const struct cloud_subject *subject, const struct finding_sink *to)
{
    const struct local_settings *settings = subject->settings;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(settings->socket) >= sizeof(address.sun_path))
        errno = ENAMETOOLONG;
    else
        (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", settings->socket);
    if (address.sun_path[0] != '\0' &&
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        finding_tell(to,
                     &(struct finding_case){ FINDING_CLOUD, .subject = "cloud.socket",
                                             .severity = "note", .advice = "Nothing to do." },
                     "the local cloud answers");
    else
        finding_tell(
            to,
            &(struct finding_case){ FINDING_CLOUD, .subject = "cloud.socket", .severity = "error",
                                    .advice = "Start stint-cloud-local with this --socket." },
            "the local cloud does not answer at %s: %s", address.sun_path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
}

static const char *region(const void *settings)
{
    (void)settings;
    return "";
}

/* Its lists come from the program that holds the machines. */
static msec_t settle_ms(const void *settings)
{
    (void)settings;
    return 0;
}

/*
 * Life.
 */

static int create(const struct cloud_config *config, void **ret, struct error *reterr)
{
    (void)reterr;
    *ret = local_cloud_create(&(struct local_cloud_config){
        .catalogue = config->catalogue,
        .cluster = config->cluster,
        .node_prefix = config->node_prefix,
        .on_event = config->on_event,
        .on_send = config->on_send,
        .context = config->context,
    });
    return 0;
}

static void destroy(void *self)
{
    local_cloud_destroy(self);
}

static struct cloud_port port(void *self)
{
    return local_cloud_port(self);
}

/*
 * Lines.
 */

static void connected(void *self, msec_t now)
{
    local_cloud_connected(self, now);
}

static void disconnected(void *self, msec_t now)
{
    local_cloud_disconnected(self, now);
}

static void line(void *self, msec_t now, char *text, size_t length)
{
    local_cloud_line(self, now, text, length);
}

static void flush(void *self, msec_t now)
{
    local_cloud_flush(self, now);
}

static msec_t next_wake(const void *self)
{
    return local_cloud_next_wake(self);
}

static void tick(void *self, msec_t now)
{
    local_cloud_tick(self, now);
}

static const struct adapter_lines lines = {
    .connected = connected,
    .disconnected = disconnected,
    .line = line,
    .flush = flush,
    .next_wake = next_wake,
    .tick = tick,
};

static struct adapter_peer peer(const void *settings, struct arena *arena)
{
    const struct local_settings *local = settings;

    (void)arena;
    return (struct adapter_peer){ .socket = local->socket };
}

static bool is_usable(const void *self)
{
    return local_cloud_is_ready(self);
}

static const char *fault(const void *self)
{
    return local_cloud_is_ready(self) ? NULL : "it has not said hello";
}

const struct cloud_adapter local_adapter = {
    .name = "local",
    .read = read_settings,
    .is_same = is_same,
    .examine = examine,
    .region = region,
    .settle_ms = settle_ms,
    .notice_ms = 120 * MSEC_PER_SEC, /* if whoever revokes says so */
    .notice_ppm = 500000,
    .create = create,
    .destroy = destroy,
    .port = port,
    .lines = &lines,
    .peer = peer,
    .is_usable = is_usable,
    .fault = fault,
};
