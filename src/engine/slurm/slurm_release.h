/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_release.h - all that differs between the releases of Slurm, 22.05 to 26.05, and the one header of
 * stint-slurm that includes libslurm's.
 *
 * There are two releases: that of libslurm, which is known when this is compiled and decides what things are
 * called, and that of slurmctld, which may be a newer one, is known when it answers, and decides what must be
 * worked around. docs/reference/slurm-options.md has a table of both kinds.
 */
#ifndef STINT_ENGINE_SLURM_RELEASE_H
#define STINT_ENGINE_SLURM_RELEASE_H

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- libslurm's ---- */

#define SLURM_IS_FROM(year, month) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(year, month, 0))

#if !SLURM_IS_FROM(22, 5)
#error "stint-slurm needs Slurm 22.05 or later"
#endif

/* The typedefs stood for pointers before they stood for what is pointed to. */
#if SLURM_IS_FROM(23, 11)
typedef hostlist_t *slurm_hosts_t;
typedef list_t *slurm_rows_t;
typedef list_itr_t *slurm_rows_at_t;
#else
typedef hostlist_t slurm_hosts_t;
typedef List slurm_rows_t;
typedef ListIterator slurm_rows_at_t;
#endif

/* A bit of SelectTypeParameters, which became an enum. */
#ifdef CR_MEMORY
#define SLURM_COUNTS_MEMORY CR_MEMORY
#else
#define SLURM_COUNTS_MEMORY SELECT_MEMORY
#endif

/* "Resources", "Priority" and so on. */
const char *slurm_release_reason(uint32_t reason);

/* As slurm_load_job(), of which the second argument became a struct. */
int slurm_release_load_job(job_info_msg_t **ret, uint32_t id, uint16_t flags);

/* Whether nobody knows what became of a request that was answered so: codes that not every release has. */
bool slurm_release_is_unsure(int code);

/* Who gave the reason of a node; 26.05 finds that out by itself. */
void slurm_release_sign(update_node_msg_t *wish);

/* What is given away of a node. False: that is not known. */
bool slurm_release_allocated(const node_info_t *node, uint64_t *ret_cpus, uint64_t *ret_mem_mib);

/* What slurm_load_ctl_conf() has given. */
void slurm_release_free_conf(slurm_conf_t *conf);

/* ---- slurmctld's ---- */

/* Ask for it: SLURM_VERSION_NUM() of it, or 0 if it does not say. */
uint32_t slurm_release_of_controller(void);

/* "24.11.5" as such a number; 0: it is none. */
uint32_t slurm_release_parse(const char *version);

/* Whether a job that was stopped and starts again within two seconds may be ended permanently, because the slurmd
 * that stopped it takes the new credential for the old one. 'release' of 0 counts as the oldest. */
bool slurm_release_revokes_late(uint32_t release);

#endif
