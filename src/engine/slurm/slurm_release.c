/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_release.h"

#include <stdio.h>
#include <unistd.h>

/* In libslurm, but in no header; renamed in 24.05. */
#if SLURM_IS_FROM(24, 5)
extern char *slurm_job_state_reason_string(enum job_state_reason reason);

const char *slurm_release_reason(uint32_t reason)
{
    return slurm_job_state_reason_string((enum job_state_reason)reason);
}
#else
extern char *slurm_job_reason_string(enum job_state_reason reason);

const char *slurm_release_reason(uint32_t reason)
{
    return slurm_job_reason_string((enum job_state_reason)reason);
}
#endif

int slurm_release_load_job(job_info_msg_t **ret, uint32_t id, uint16_t flags)
{
#if SLURM_IS_FROM(26, 5)
    slurm_step_id_t step = SLURM_STEP_ID_INITIALIZER;

    step.job_id = id;
    return slurm_load_job(ret, step, flags);
#else
    return slurm_load_job(ret, id, flags);
#endif
}

bool slurm_release_is_unsure(int code)
{
#if SLURM_IS_FROM(24, 5)
    return code == SLURMCTLD_COMMUNICATIONS_BACKOFF || code == SLURMCTLD_COMMUNICATIONS_HARD_DROP;
#elif !SLURM_IS_FROM(23, 2)
    return code == SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH ||
           code == SLURM_PROTOCOL_SOCKET_IMPL_NEGATIVE_RECV_LENGTH ||
           code == SLURM_PROTOCOL_SOCKET_IMPL_NOT_ALL_DATA_SENT;
#else
    (void)code;
    return false;
#endif
}

void slurm_release_sign(update_node_msg_t *wish)
{
#if SLURM_IS_FROM(26, 5)
    (void)wish;
#else
    wish->reason_uid = getuid();
#endif
}

bool slurm_release_allocated(const node_info_t *node, uint64_t *ret_cpus, uint64_t *ret_mem_mib)
{
#if SLURM_IS_FROM(25, 11)
    *ret_cpus = node->alloc_cpus;
    *ret_mem_mib = node->alloc_memory;
    return true;
#else
    uint16_t cpus = 0;

    if (node->select_nodeinfo == NULL ||
        slurm_get_select_nodeinfo(node->select_nodeinfo, SELECT_NODEDATA_SUBCNT,
                                  NODE_STATE_ALLOCATED, &cpus) != SLURM_SUCCESS ||
        slurm_get_select_nodeinfo(node->select_nodeinfo, SELECT_NODEDATA_MEM_ALLOC,
                                  NODE_STATE_ALLOCATED, ret_mem_mib) != SLURM_SUCCESS)
        return false;
    *ret_cpus = cpus;
    return true;
#endif
}

uint32_t slurm_release_parse(const char *version)
{
    unsigned year = 0;
    unsigned month = 0;
    unsigned micro = 0;

    if (version == NULL || sscanf(version, "%2u.%2u.%3u", &year, &month, &micro) < 2)
        return 0;
    return SLURM_VERSION_NUM(year, month, micro & 0xff);
}

uint32_t slurm_release_of_controller(void)
{
    slurm_conf_t *conf = NULL;

    if (slurm_load_ctl_conf(0, &conf) != 0 || conf == NULL)
        return 0;
    const uint32_t release = slurm_release_parse(conf->version);

    slurm_release_free_conf(conf);
    return release;
}

void slurm_release_free_conf(slurm_conf_t *conf)
{
#if SLURM_IS_FROM(26, 5)
    slurm_free_conf(conf);
#else
    slurm_free_ctl_conf(conf);
#endif
}

/* Since 25.11 a credential is known by the run that it is for. */
bool slurm_release_revokes_late(uint32_t release)
{
    return release < SLURM_VERSION_NUM(25, 11, 0);
}
