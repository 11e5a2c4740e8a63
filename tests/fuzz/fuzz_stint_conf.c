/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "cloud/local/local_adapter.h"
#include "daemon/conf.h"
#include "engine/slurm/slurm_adapter.h"
#include "engine/slurm/slurm_settings.h"

/* Whatever was accepted is within its documented range. */
static void check_conf(const struct conf *conf)
{
    const struct slurm_settings *engine = conf->engine.settings;

    assert(conf->cluster != NULL && strlen(conf->cluster) <= 40);
    assert(strlen(conf->node_prefix) <= 24);
    assert(conf->catalogue != NULL && conf->state != NULL && conf->policy != NULL);
    assert(conf->mode < CONF_MODES && conf->log_level < CONF_LOG_LEVELS);
    assert(conf->default_estimate_ms > 0);
    assert(conf->max_price_per_hour >= 0 && conf->max_price_per_hour <= LIMIT_MONEY);
    assert(conf->timing.decide_delay_ms >= 0 && conf->timing.decide_delay_ms <= 60000);
    assert(conf->timing.audit_ms >= 1000);
    assert(conf->engine.kind == &slurm_adapter);
    assert(engine->poll_ms >= 50 && engine->poll_ms <= 60000);
    assert(engine->stop_grace_ms >= 0 && engine->stop_grace_ms <= 600000);
    assert(engine->only_partitions.count <= 1024);
    assert(conf->http.socket_mode <= 0777);
    assert(strlen(conf->http.socket) <= 107);
    if (conf->cloud.kind == &local_adapter) {
        const struct local_settings *cloud = conf->cloud.settings;

        assert(strlen(cloud->socket) <= 107);
    }
    assert((conf->http.tls_key == NULL) == (conf->http.tls_certificate == NULL));
    assert(conf_fixed_difference(conf, conf) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conf conf = { 0 };
    struct error error = { "" };

    if (conf_parse("/etc/stint/stint.conf", (const char *)data, size, &conf, &error) < 0) {
        fuzz_check_error(&error);
        assert(conf.cluster == NULL);
        return 0;
    }
    check_conf(&conf);
    conf_done(&conf);
    return 0;
}
