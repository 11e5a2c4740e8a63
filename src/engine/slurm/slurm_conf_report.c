/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_conf_report.h"

#include <stdlib.h>
#include <string.h>

/* Never comes: its features make those words known to Slurm (docs/start/slurm.md). */
static char words_node[] = "stint-words";

uint32_t slurm_conf_backfill_s(const slurm_conf_t *conf)
{
    enum { NORMAL_S = 30 };
    static const char word[] = "bf_interval=";
    const char *params = conf == NULL ? NULL : conf->sched_params;
    const char *at = params == NULL ? NULL : strstr(params, word);

    if (conf == NULL || conf->schedtype == NULL || strstr(conf->schedtype, "backfill") == NULL)
        return 0;
    const long seconds = at == NULL ? NORMAL_S : strtol(at + sizeof(word) - 1, NULL, 10);

    return seconds > 0 && seconds < UINT16_MAX ? (uint32_t)seconds : 0;
}

static bool has_words(void)
{
    node_info_msg_t *found = NULL;

    if (slurm_load_node_single(&found, words_node, SHOW_ALL | SHOW_FUTURE) != SLURM_SUCCESS)
        return false;
    const bool ret = found->record_count > 0;

    slurm_free_node_info_msg(found);
    return ret;
}

void slurm_conf_report(struct line_text *out)
{
    slurm_conf_t *conf = NULL;

    if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS || conf == NULL)
        return;
    line_text_begin(out, "configuration");
    line_text_string(out, "release", conf->version);
    line_text_number(out, "backfill_s", slurm_conf_backfill_s(conf));
    line_text_number(out, "gpu",
                     conf->gres_plugins != NULL && strstr(conf->gres_plugins, "gpu") != NULL);
    line_text_number(out, "words", has_words());
    line_text_end(out);
    slurm_release_free_conf(conf);
}
