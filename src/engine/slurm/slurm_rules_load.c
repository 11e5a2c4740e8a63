/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the tables of slurm_rules.h come from slurmctld. Partitions, licences and reservations are asked
 * for with the time of what is known, so that "nothing new" is the usual answer. Associations and QOS
 * have no such time; they are asked for every few seconds, and only where Slurm enforces limits.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "engine/slurm/slurm_fields.h"
#include "engine/slurm/slurm_release.h"
#include "engine/slurm/slurm_rules.h"

/* From so many associations on they are asked for less often. */
enum { ACCOUNTS_MS = 5000, ACCOUNTS_MANY = 2000, ACCOUNTS_MANY_MS = 30000 };

static uint64_t add(uint64_t hash, uint64_t value)
{
    return map_mix(hash ^ value);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return add(hash, text == NULL ? 1 : slurm_fields_hash(text, strlen(text)));
}

static uint64_t add_amounts(uint64_t hash, const uint64_t *amounts, uint32_t count)
{
    for (uint32_t i = 0; amounts != NULL && i < count; i++)
        hash = add(hash, amounts[i]);
    return add(hash, count);
}

/* An empty answer, "nothing new" and a real one; 0 or Slurm's code. */
static int code_of(int result, bool *ret_is_new)
{
    *ret_is_new = result == 0;
    if (result == 0 || errno == SLURM_NO_CHANGE_IN_DATA)
        return 0;
    return errno;
}

static uint64_t hash_partition(uint64_t hash, const partition_info_t *one)
{
    hash = add_text(hash, one->name);
    hash = add_text(hash, one->allow_accounts);
    hash = add_text(hash, one->allow_groups);
    hash = add_text(hash, one->allow_qos);
    hash = add_text(hash, one->deny_accounts);
    hash = add_text(hash, one->deny_qos);
    hash = add_text(hash, one->qos_char);
    hash = add(hash, one->flags);
    hash = add(hash, one->max_nodes);
    hash = add(hash, one->min_nodes);
    hash = add(hash, one->max_time);
    return add(hash, one->state_up);
}

static int load_partitions(struct slurm_rules *rules)
{
    partition_info_msg_t *fresh = NULL;
    bool is_new = false;
    uint64_t hash = 0;
    const int code =
        code_of(slurm_load_partitions(rules->partitions_update, &fresh, SHOW_ALL), &is_new);

    if (!is_new)
        return code;
    for (uint32_t i = 0; i < fresh->record_count; i++)
        hash = hash_partition(hash, &fresh->partition_array[i]);
    if (rules->partitions != NULL)
        slurm_free_partition_info_msg(rules->partitions);
    rules->partitions = fresh;
    rules->partitions_update = fresh->last_update;
    rules->partitions_hash = hash;
    return 0;
}

static int load_licences(struct slurm_rules *rules)
{
    license_info_msg_t *fresh = NULL;
    bool is_new = false;
    uint64_t hash = 0;
    const int code =
        code_of(slurm_load_licenses(rules->licences_update, &fresh, SHOW_ALL), &is_new);

    if (!is_new)
        return code;
    for (uint32_t i = 0; i < fresh->num_lic; i++) {
        const slurm_license_info_t *one = &fresh->lic_array[i];

        hash = add_text(hash, one->name);
        hash = add(hash, one->total);
        hash = add(hash, one->in_use);
        hash = add(hash, one->reserved);
    }
    if (rules->licences != NULL)
        slurm_free_license_info_msg(rules->licences);
    rules->licences = fresh;
    rules->licences_update = fresh->last_update;
    rules->licences_hash = hash;
    return 0;
}

static int load_reservations(struct slurm_rules *rules)
{
    reserve_info_msg_t *fresh = NULL;
    bool is_new = false;
    uint64_t hash = 0;
    const int code = code_of(slurm_load_reservations(rules->reservations_update, &fresh), &is_new);

    if (!is_new)
        return code;
    for (uint32_t i = 0; i < fresh->record_count; i++) {
        const reserve_info_t *one = &fresh->reservation_array[i];

        hash = add_text(hash, one->name);
        hash = add(hash, one->flags);
        hash = add(hash, (uint64_t)one->start_time);
        hash = add(hash, (uint64_t)one->end_time);
    }
    if (rules->reservations != NULL)
        slurm_free_reservation_info_msg(rules->reservations);
    rules->reservations = fresh;
    rules->reservations_update = fresh->last_update;
    rules->reservations_hash = hash;
    return 0;
}

/* ---- associations and QOS ---- */

/* Which of the limits on past use are reached; the use itself changes all the time. */
static uint64_t add_spent(uint64_t hash, const uint64_t *limits, const long double *raw,
                          uint32_t count)
{
    for (uint32_t i = 0; limits != NULL && raw != NULL && i < count; i++)
        hash = add(hash, limits[i] < NO_VAL64 && raw[i] / 60 >= (long double)limits[i]);
    return hash;
}

static uint64_t hash_assoc(uint64_t hash, const slurmdb_assoc_rec_t *one, uint32_t count)
{
    hash = add(hash, one->id);
    hash = add(hash, one->parent_id);
    hash = add(hash, one->grp_jobs);
    hash = add(hash, one->max_jobs);
    hash = add(hash, one->grp_wall);
    hash = add(hash, one->max_wall_pj);
    hash = add_amounts(hash, one->grp_tres_ctld, count);
    hash = add_amounts(hash, one->grp_tres_mins_ctld, count);
    hash = add_amounts(hash, one->max_tres_ctld, count);
    hash = add_amounts(hash, one->max_tres_pn_ctld, count);
    hash = add_amounts(hash, one->max_tres_mins_ctld, count);
    if (one->usage == NULL)
        return hash;
    hash = add(hash, one->grp_wall < NO_VAL && one->usage->grp_used_wall / 60 >= one->grp_wall);
    return add_spent(hash, one->grp_tres_mins_ctld, one->usage->usage_tres_raw, count);
}

static uint64_t hash_qos(uint64_t hash, const slurmdb_qos_rec_t *one, uint32_t count)
{
    hash = add_text(hash, one->name);
    hash = add(hash, one->flags);
    hash = add(hash, one->grp_jobs);
    hash = add(hash, one->grp_wall);
    hash = add(hash, one->max_jobs_pa);
    hash = add(hash, one->max_jobs_pu);
    hash = add(hash, one->max_wall_pj);
    hash = add(hash, (uint64_t)(one->limit_factor > 0 && one->limit_factor < 1e6
                                    ? one->limit_factor * 1000
                                    : 0));
    hash = add_amounts(hash, one->grp_tres_ctld, count);
    hash = add_amounts(hash, one->grp_tres_mins_ctld, count);
    hash = add_amounts(hash, one->max_tres_pj_ctld, count);
    hash = add_amounts(hash, one->max_tres_pn_ctld, count);
    hash = add_amounts(hash, one->max_tres_pu_ctld, count);
    hash = add_amounts(hash, one->max_tres_pa_ctld, count);
    hash = add_amounts(hash, one->max_tres_mins_pj_ctld, count);
    hash = add_amounts(hash, one->min_tres_pj_ctld, count);
    if (one->usage == NULL)
        return hash;
    hash = add(hash, one->grp_wall < NO_VAL && one->usage->grp_used_wall / 60 >= one->grp_wall);
    return add_spent(hash, one->grp_tres_mins_ctld, one->usage->usage_tres_raw, count);
}

/* The records of a list of libslurm, in an array of our own. */
static void *flatten(slurm_rows_t list, uint32_t *ret_count)
{
    const int count = list == NULL ? 0 : slurm_list_count(list);
    void **rows = mem_alloc((size_t)count + 1, sizeof(*rows));
    slurm_rows_at_t at = count == 0 ? NULL : slurm_list_iterator_create(list);

    *ret_count = 0;
    for (void *row = NULL; at != NULL && (row = slurm_list_next(at)) != NULL;)
        rows[(*ret_count)++] = row;
    if (at != NULL)
        slurm_list_iterator_destroy(at);
    return rows;
}

static void drop_accounts(struct slurm_rules *rules)
{
    mem_free(rules->assocs);
    mem_free(rules->qos);
    mem_free(rules->amounts);
    rules->assocs = NULL;
    rules->qos = NULL;
    rules->amounts = NULL;
    rules->assoc_count = rules->qos_count = 0;
    map_done(&rules->assoc_by_id);
    map_init(&rules->assoc_by_id);
    if (rules->accounts != NULL)
        slurm_free_assoc_mgr_info_msg(rules->accounts);
    rules->accounts = NULL;
}

static int load_accounts(struct slurm_rules *rules)
{
    assoc_mgr_info_request_msg_t wish = { .flags =
                                              ASSOC_MGR_INFO_FLAG_ASSOC | ASSOC_MGR_INFO_FLAG_QOS };
    assoc_mgr_info_msg_t *fresh = NULL;
    uint64_t hash = 0;

    if (slurm_load_assoc_mgr_info(&wish, &fresh) != 0 || fresh == NULL)
        return errno;
    drop_accounts(rules);
    rules->accounts = fresh;
    rules->assocs = flatten(fresh->assoc_list, &rules->assoc_count);
    rules->qos = flatten(fresh->qos_list, &rules->qos_count);
    for (uint32_t i = 0; i < rules->assoc_count; i++) {
        map_put(&rules->assoc_by_id, rules->assocs[i]->id, i);
        hash = hash_assoc(hash, rules->assocs[i], fresh->tres_cnt);
    }
    for (uint32_t i = 0; i < rules->qos_count; i++)
        hash = hash_qos(hash, rules->qos[i], fresh->tres_cnt);
    rules->accounts_hash = hash;
    return 0;
}

int slurm_rules_load(struct slurm_rules *rules, msec_t now_ms, bool *ret_changed)
{
    const uint64_t before = rules->partitions_hash ^ rules->licences_hash ^
                            rules->reservations_hash ^ rules->accounts_hash;
    int code = load_partitions(rules);

    *ret_changed = false;
    if (code == 0)
        code = load_licences(rules);
    if (code == 0)
        code = load_reservations(rules);
    if (code == 0 && rules->enforce != 0 && now_ms >= rules->accounts_at) {
        code = load_accounts(rules);
        rules->accounts_at =
            now_ms + (rules->assoc_count > ACCOUNTS_MANY ? ACCOUNTS_MANY_MS : ACCOUNTS_MS);
    }
    *ret_changed = before != (rules->partitions_hash ^ rules->licences_hash ^
                              rules->reservations_hash ^ rules->accounts_hash);
    return code;
}

void slurm_rules_distrust(struct slurm_rules *rules)
{
    rules->partitions_update = rules->licences_update = rules->reservations_update = 0;
    rules->accounts_at = 0;
}

void slurm_rules_done(struct slurm_rules *rules)
{
    drop_accounts(rules);
    if (rules->partitions != NULL)
        slurm_free_partition_info_msg(rules->partitions);
    if (rules->licences != NULL)
        slurm_free_license_info_msg(rules->licences);
    if (rules->reservations != NULL)
        slurm_free_reservation_info_msg(rules->reservations);
    for (uint32_t i = 0; i < rules->quota_count; i++) {
        mem_free(rules->quotas[i].name);
        mem_free(rules->quotas[i].text);
    }
    mem_free(rules->quotas);
    map_done(&rules->by_name);
    map_done(&rules->assoc_by_id);
    line_text_done(&rules->draws);
}
