/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_rules.c - see slurm_rules.h. The order in which limits count is Slurm's: those of the partition's
 * QOS go before those of the job's (or after, with OverPartQOS), and both before the associations', of
 * which group limits count for every association up to the root and the others for the job's own only.
 */
#include "engine/slurm/slurm_rules.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/word_list.h"
#include "engine/slurm/slurm_fields.h"
#include "engine/slurm/slurm_record.h"

enum {
    TEXT_SIZE = 192,
    NAME_SIZE = 320,
    QUOTAS_MAX = 1 << 16,
    ASSOC_DEPTH_MAX = 64,
    GROUPS_MAX = 256
};

/* AccountingStorageEnforce; no public header has these. */
enum { ENFORCE_ASSOCS = 1 << 0, ENFORCE_LIMITS = 1 << 1, ENFORCE_QOS = 1 << 3 };

#define NO_LIMIT INFINITE64

/* ---- reasons ---- */

/* Kinds of TRES that Slurm has words of their own for. */
enum tres_kind {
    KIND_UNKNOWN,
    KIND_CPU,
    KIND_MEM,
    KIND_NODE,
    KIND_ENERGY,
    KIND_GRES,
    KIND_LICENCE,
    KIND_BB,
    KIND_BILLING,
    KINDS
};

enum limit_kind {
    ASSOC_GRP,
    ASSOC_GRP_MINS,
    ASSOC_PER_JOB,
    ASSOC_PER_NODE,
    ASSOC_MINS_PER_JOB,
    QOS_GRP,
    QOS_GRP_MINS,
    QOS_PER_JOB,
    QOS_PER_NODE,
    QOS_MINS_PER_JOB,
    QOS_PER_USER,
    QOS_PER_ACCOUNT,
    QOS_LEAST,
    LIMIT_KINDS
};

static const uint16_t reason_of[LIMIT_KINDS][KINDS] = {
    [ASSOC_GRP] = { WAIT_ASSOC_GRP_UNK, WAIT_ASSOC_GRP_CPU, WAIT_ASSOC_GRP_MEM, WAIT_ASSOC_GRP_NODE,
                    WAIT_ASSOC_GRP_ENERGY, WAIT_ASSOC_GRP_GRES, WAIT_ASSOC_GRP_LIC,
                    WAIT_ASSOC_GRP_BB, WAIT_ASSOC_GRP_BILLING },
    [ASSOC_GRP_MINS] = { WAIT_ASSOC_GRP_UNK_MIN, WAIT_ASSOC_GRP_CPU_MIN, WAIT_ASSOC_GRP_MEM_MIN,
                         WAIT_ASSOC_GRP_NODE_MIN, WAIT_ASSOC_GRP_ENERGY_MIN,
                         WAIT_ASSOC_GRP_GRES_MIN, WAIT_ASSOC_GRP_LIC_MIN, WAIT_ASSOC_GRP_BB_MIN,
                         WAIT_ASSOC_GRP_BILLING_MIN },
    [ASSOC_PER_JOB] = { WAIT_ASSOC_MAX_UNK_PER_JOB, WAIT_ASSOC_MAX_CPU_PER_JOB,
                        WAIT_ASSOC_MAX_MEM_PER_JOB, WAIT_ASSOC_MAX_NODE_PER_JOB,
                        WAIT_ASSOC_MAX_ENERGY_PER_JOB, WAIT_ASSOC_MAX_GRES_PER_JOB,
                        WAIT_ASSOC_MAX_LIC_PER_JOB, WAIT_ASSOC_MAX_BB_PER_JOB,
                        WAIT_ASSOC_MAX_BILLING_PER_JOB },
    [ASSOC_PER_NODE] = { WAIT_ASSOC_MAX_UNK_PER_NODE, WAIT_ASSOC_MAX_CPU_PER_NODE,
                         WAIT_ASSOC_MAX_MEM_PER_NODE, WAIT_ASSOC_MAX_UNK_PER_NODE,
                         WAIT_ASSOC_MAX_ENERGY_PER_NODE, WAIT_ASSOC_MAX_GRES_PER_NODE,
                         WAIT_ASSOC_MAX_UNK_PER_NODE, WAIT_ASSOC_MAX_BB_PER_NODE,
                         WAIT_ASSOC_MAX_BILLING_PER_NODE },
    [ASSOC_MINS_PER_JOB] = { WAIT_ASSOC_MAX_UNK_MINS_PER_JOB, WAIT_ASSOC_MAX_CPU_MINS_PER_JOB,
                             WAIT_ASSOC_MAX_MEM_MINS_PER_JOB, WAIT_ASSOC_MAX_NODE_MINS_PER_JOB,
                             WAIT_ASSOC_MAX_ENERGY_MINS_PER_JOB, WAIT_ASSOC_MAX_GRES_MINS_PER_JOB,
                             WAIT_ASSOC_MAX_LIC_MINS_PER_JOB, WAIT_ASSOC_MAX_BB_MINS_PER_JOB,
                             WAIT_ASSOC_MAX_BILLING_MINS_PER_JOB },
    [QOS_GRP] = { WAIT_QOS_GRP_UNK, WAIT_QOS_GRP_CPU, WAIT_QOS_GRP_MEM, WAIT_QOS_GRP_NODE,
                  WAIT_QOS_GRP_ENERGY, WAIT_QOS_GRP_GRES, WAIT_QOS_GRP_LIC, WAIT_QOS_GRP_BB,
                  WAIT_QOS_GRP_BILLING },
    [QOS_GRP_MINS] = { WAIT_QOS_GRP_UNK_MIN, WAIT_QOS_GRP_CPU_MIN, WAIT_QOS_GRP_MEM_MIN,
                       WAIT_QOS_GRP_NODE_MIN, WAIT_QOS_GRP_ENERGY_MIN, WAIT_QOS_GRP_GRES_MIN,
                       WAIT_QOS_GRP_LIC_MIN, WAIT_QOS_GRP_BB_MIN, WAIT_QOS_GRP_BILLING_MIN },
    [QOS_PER_JOB] = { WAIT_QOS_MAX_UNK_PER_JOB, WAIT_QOS_MAX_CPU_PER_JOB, WAIT_QOS_MAX_MEM_PER_JOB,
                      WAIT_QOS_MAX_NODE_PER_JOB, WAIT_QOS_MAX_ENERGY_PER_JOB,
                      WAIT_QOS_MAX_GRES_PER_JOB, WAIT_QOS_MAX_LIC_PER_JOB, WAIT_QOS_MAX_BB_PER_JOB,
                      WAIT_QOS_MAX_BILLING_PER_JOB },
    [QOS_PER_NODE] = { WAIT_QOS_MAX_UNK_PER_NODE, WAIT_QOS_MAX_CPU_PER_NODE,
                       WAIT_QOS_MAX_MEM_PER_NODE, WAIT_QOS_MAX_UNK_PER_NODE,
                       WAIT_QOS_MAX_ENERGY_PER_NODE, WAIT_QOS_MAX_GRES_PER_NODE,
                       WAIT_QOS_MAX_UNK_PER_NODE, WAIT_QOS_MAX_BB_PER_NODE,
                       WAIT_QOS_MAX_BILLING_PER_NODE },
    [QOS_MINS_PER_JOB] = { WAIT_QOS_MAX_UNK_MINS_PER_JOB, WAIT_QOS_MAX_CPU_MINS_PER_JOB,
                           WAIT_QOS_MAX_MEM_MINS_PER_JOB, WAIT_QOS_MAX_NODE_MINS_PER_JOB,
                           WAIT_QOS_MAX_ENERGY_MINS_PER_JOB, WAIT_QOS_MAX_GRES_MINS_PER_JOB,
                           WAIT_QOS_MAX_LIC_MINS_PER_JOB, WAIT_QOS_MAX_BB_MINS_PER_JOB,
                           WAIT_QOS_MAX_BILLING_MINS_PER_JOB },
    [QOS_PER_USER] = { WAIT_QOS_MAX_UNK_PER_USER, WAIT_QOS_MAX_CPU_PER_USER,
                       WAIT_QOS_MAX_MEM_PER_USER, WAIT_QOS_MAX_NODE_PER_USER,
                       WAIT_QOS_MAX_ENERGY_PER_USER, WAIT_QOS_MAX_GRES_PER_USER,
                       WAIT_QOS_MAX_LIC_PER_USER, WAIT_QOS_MAX_BB_PER_USER,
                       WAIT_QOS_MAX_BILLING_PER_USER },
    [QOS_PER_ACCOUNT] = { WAIT_QOS_MAX_UNK_PER_ACCT, WAIT_QOS_MAX_CPU_PER_ACCT,
                          WAIT_QOS_MAX_MEM_PER_ACCT, WAIT_QOS_MAX_NODE_PER_ACCT,
                          WAIT_QOS_MAX_ENERGY_PER_ACCT, WAIT_QOS_MAX_GRES_PER_ACCT,
                          WAIT_QOS_MAX_LIC_PER_ACCT, WAIT_QOS_MAX_BB_PER_ACCT,
                          WAIT_QOS_MAX_BILLING_PER_ACCT },
    [QOS_LEAST] = { WAIT_QOS_MIN_UNK, WAIT_QOS_MIN_CPU, WAIT_QOS_MIN_MEM, WAIT_QOS_MIN_NODE,
                    WAIT_QOS_MIN_ENERGY, WAIT_QOS_MIN_GRES, WAIT_QOS_MIN_LIC, WAIT_QOS_MIN_BB,
                    WAIT_QOS_MIN_BILLING },
};

/* How sacctmgr calls the limit. */
static const char *const limit_name[LIMIT_KINDS] = {
    [ASSOC_GRP] = "GrpTRES",
    [ASSOC_GRP_MINS] = "GrpTRESMins",
    [ASSOC_PER_JOB] = "MaxTRESPerJob",
    [ASSOC_PER_NODE] = "MaxTRESPerNode",
    [ASSOC_MINS_PER_JOB] = "MaxTRESMinsPerJob",
    [QOS_GRP] = "GrpTRES",
    [QOS_GRP_MINS] = "GrpTRESMins",
    [QOS_PER_JOB] = "MaxTRESPerJob",
    [QOS_PER_NODE] = "MaxTRESPerNode",
    [QOS_MINS_PER_JOB] = "MaxTRESMinsPerJob",
    [QOS_PER_USER] = "MaxTRESPerUser",
    [QOS_PER_ACCOUNT] = "MaxTRESPerAccount",
    [QOS_LEAST] = "MinTRESPerJob",
};

static enum tres_kind kind_of(const char *tres)
{
    static const struct {
        const char *name;
        enum tres_kind kind;
    } kinds[] = { { "cpu", KIND_CPU },          { "mem", KIND_MEM },         { "node", KIND_NODE },
                  { "energy", KIND_ENERGY },    { "billing", KIND_BILLING }, { "gres/", KIND_GRES },
                  { "license/", KIND_LICENCE }, { "bb/", KIND_BB } };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t length = strlen(kinds[i].name);
        const bool is_prefix = kinds[i].name[length - 1] == '/';

        if (strncmp(tres, kinds[i].name, length) == 0 && (is_prefix || tres[length] == '\0'))
            return kinds[i].kind;
    }
    return KIND_UNKNOWN;
}

static const char *tres_reason(enum limit_kind limit, const char *tres)
{
    return slurm_release_reason(reason_of[limit][kind_of(tres)]);
}

/* ---- one job ---- */

/* What is found out about one job. */
struct verdict {
    struct slurm_rules *rules;
    const slurm_job_info_t *job;
    bool is_counting;   /* it runs: its shares are in use; else they are only made known */
    const char *reason; /* of the bar, or NULL */
    struct error text;  /* of the bar */
    uint64_t minutes;   /* that it may run; NO_LIMIT: for ever */
};

/* The first one counts. */
static bool is_first_bar(struct verdict *verdict, enum job_state_reason reason)
{
    if (verdict->reason != NULL)
        return false;
    verdict->reason = slurm_release_reason(reason);
    return true;
}

#define BAR(verdict, reason, ...) \
    ((void)(is_first_bar(verdict, reason) && error_set(&(verdict)->text, -EPERM, __VA_ARGS__) < 0))

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *own = mem_alloc(size, 1);

    memcpy(own, text, size);
    return own;
}

static struct slurm_quota *quota_row(struct slurm_rules *rules, const char *name)
{
    const uint64_t hash = slurm_fields_hash(name, strlen(name));
    uint32_t row = map_get(&rules->by_name, hash);

    if (row != MAP_NONE)
        return &rules->quotas[row];
    if (rules->quota_count >= QUOTAS_MAX)
        return NULL;
    row = rules->quota_count++;
    MEM_ROOM(rules->quotas, rules->quotas_room, rules->quota_count);
    rules->quotas[row] = (struct slurm_quota){ .name = copy(name) };
    map_put(&rules->by_name, hash, row);
    return &rules->quotas[row];
}

/* It takes 'amount' of the quota 'name'; 'text' says what the quota is. */
static struct slurm_quota *draw(struct verdict *verdict, const char *name, uint64_t amount,
                                uint64_t max, const char *reason, const char *text)
{
    struct slurm_rules *rules = verdict->rules;
    struct slurm_quota *quota = amount == 0 ? NULL : quota_row(rules, name);
    char item[NAME_SIZE + 32];

    if (quota == NULL)
        return NULL;
    quota->max = max;
    quota->reason = reason;
    if (quota->text == NULL || strcmp(quota->text, text) != 0) {
        mem_free(quota->text);
        quota->text = copy(text);
    }
    if (verdict->is_counting)
        quota->used += amount;
    (void)snprintf(item, sizeof(item), "%s%s=%llu", rules->draws.size > 0 ? ";" : "", name,
                   (unsigned long long)amount);
    line_text_append(&rules->draws, item, (uint32_t)strlen(item));
    return quota;
}

/* ---- partitions ---- */

static const partition_info_t *find_partition(const struct slurm_rules *rules, const char *name,
                                              size_t length)
{
    for (uint32_t i = 0; rules->partitions != NULL && i < rules->partitions->record_count; i++) {
        const partition_info_t *one = &rules->partitions->partition_array[i];

        if (one->name != NULL && strlen(one->name) == length &&
            strncmp(one->name, name, length) == 0)
            return one;
    }
    return NULL;
}

/* Whether the user is in one of the groups, as far as this host knows; the user may
 * be in one that it does not know. */
static bool is_in_groups(uint32_t uid, const char *groups)
{
    const struct passwd *user = getpwuid(uid);
    gid_t ids[GROUPS_MAX];
    int count = GROUPS_MAX;
    char name[256];

    if (user == NULL || getgrouplist(user->pw_name, user->pw_gid, ids, &count) < 0)
        return true;
    while (*groups != '\0') {
        const size_t length = strcspn(groups, ",");

        if (length > 0 && length < sizeof(name)) {
            memcpy(name, groups, length);
            name[length] = '\0';
            const struct group *group = getgrnam(name);

            if (group == NULL)
                return true;
            for (int i = 0; i < count; i++) {
                if (ids[i] == group->gr_gid)
                    return true;
            }
        }
        groups += length + (groups[length] == ',');
    }
    return false;
}

static bool has_text(const char *text)
{
    return text != NULL && *text != '\0';
}

/* "a,b" as Slurm prints it; it prints "all" or nothing where everybody may. */
static bool is_list(const char *list)
{
    return has_text(list) && strcasecmp(list, "all") != 0;
}

/* Whether "a,b" names it. */
static bool is_listed(const char *list, const char *name)
{
    return word_list_has(list, ",", name, strlen(name));
}

static void check_access(struct verdict *verdict, const partition_info_t *part)
{
    const slurm_job_info_t *job = verdict->job;
    const char *account = job->account == NULL ? "" : job->account;
    const char *qos = job->qos == NULL ? "" : job->qos;

    if ((part->flags & PART_FLAG_REQ_RESV) != 0 && !has_text(job->resv_name))
        BAR(verdict, WAIT_PART_CONFIG, "partition %s needs a reservation", part->name);
    if ((part->flags & PART_FLAG_ROOT_ONLY) != 0 && job->user_id != 0)
        BAR(verdict, WAIT_PART_CONFIG, "partition %s is for root only", part->name);
    if ((part->flags & PART_FLAG_NO_ROOT) != 0 && job->user_id == 0)
        BAR(verdict, WAIT_PART_CONFIG, "partition %s is not for root", part->name);
    if (is_list(part->allow_groups) && job->user_id != 0 &&
        !is_in_groups(job->user_id, part->allow_groups))
        BAR(verdict, WAIT_PART_CONFIG,
            "its user is in none of the groups of partition %s (AllowGroups)", part->name);
    if (is_list(part->allow_accounts) && !is_listed(part->allow_accounts, account))
        BAR(verdict, WAIT_ACCOUNT, "account '%s' may not use partition %s (AllowAccounts)", account,
            part->name);
    if (!is_list(part->allow_accounts) && has_text(part->deny_accounts) &&
        is_listed(part->deny_accounts, account))
        BAR(verdict, WAIT_ACCOUNT, "account '%s' may not use partition %s (DenyAccounts)", account,
            part->name);
    if (is_list(part->allow_qos) && !is_listed(part->allow_qos, qos))
        BAR(verdict, WAIT_QOS, "QOS '%s' may not use partition %s (AllowQos)", qos, part->name);
    if (!is_list(part->allow_qos) && has_text(part->deny_qos) && is_listed(part->deny_qos, qos))
        BAR(verdict, WAIT_QOS, "QOS '%s' may not use partition %s (DenyQos)", qos, part->name);
}

/* Nodes, minutes and state; 'flags' are the QOS's. A partition that drains takes no new jobs, but
 * starts those that it has. */
static void check_partition(struct verdict *verdict, const partition_info_t *part, uint32_t flags)
{
    const slurm_job_info_t *job = verdict->job;
    const uint64_t nodes = slurm_fields_tres(job->tres_req_str, "node", job->num_nodes);

    if (part->state_up == PARTITION_DOWN)
        BAR(verdict, WAIT_PART_DOWN, "partition %s is down", part->name);
    if (part->state_up == PARTITION_INACTIVE)
        BAR(verdict, WAIT_PART_INACTIVE, "partition %s is inactive", part->name);
    check_access(verdict, part);
    if (nodes < part->min_nodes && (flags & QOS_FLAG_PART_MIN_NODE) == 0)
        BAR(verdict, WAIT_PART_NODE_LIMIT, "it asks for %llu nodes, partition %s wants at least %u",
            (unsigned long long)nodes, part->name, part->min_nodes);
    if (part->max_nodes != INFINITE && (flags & QOS_FLAG_PART_MAX_NODE) == 0 &&
        (nodes > part->max_nodes || (job->max_nodes > part->max_nodes && job->max_nodes < NO_VAL)))
        BAR(verdict, WAIT_PART_NODE_LIMIT, "it asks for %llu nodes, partition %s gives %u",
            (unsigned long long)(nodes > part->max_nodes ? nodes : job->max_nodes), part->name,
            part->max_nodes);
    if (part->max_time != INFINITE && job->time_limit != NO_VAL &&
        job->time_limit > part->max_time &&
        (job->time_min == 0 || job->time_min > part->max_time) &&
        (flags & QOS_FLAG_PART_TIME_LIMIT) == 0)
        BAR(verdict, WAIT_PART_TIME_LIMIT,
            "its time limit is above the %u minutes of partition %s (MaxTime)", part->max_time,
            part->name);
}

static slurmdb_qos_rec_t *find_qos(const struct slurm_rules *rules, const char *name)
{
    for (uint32_t i = 0; name != NULL && i < rules->qos_count; i++) {
        if (rules->qos[i]->name != NULL && strcmp(rules->qos[i]->name, name) == 0)
            return rules->qos[i];
    }
    return NULL;
}

/* The partition that it would start in: the first of its own that does not bar it, or the last one. */
static const partition_info_t *pick_partition(struct verdict *verdict)
{
    const struct slurm_rules *rules = verdict->rules;
    const slurmdb_qos_rec_t *qos = find_qos(rules, verdict->job->qos);
    const char *list = rules->place_in != NULL ? rules->place_in : verdict->job->partition;
    const partition_info_t *found = NULL;

    while (has_text(list)) {
        const size_t length = strcspn(list, ",");
        const partition_info_t *part = find_partition(rules, list, length);

        if (part != NULL) {
            verdict->reason = NULL;
            check_partition(verdict, part, qos == NULL ? 0 : qos->flags);
            found = part;
            if (verdict->reason == NULL)
                return part;
        }
        list += length + (list[length] == ',');
    }
    return found;
}

/* ---- reservations and licences ---- */

static void check_reservation(struct verdict *verdict, time_t now)
{
    const reserve_info_msg_t *all = verdict->rules->reservations;
    const char *name = verdict->job->resv_name;
    const reserve_info_t *found = NULL;

    if (!has_text(name))
        return;
    for (uint32_t i = 0; all != NULL && i < all->record_count; i++) {
        if (all->reservation_array[i].name != NULL &&
            strcmp(all->reservation_array[i].name, name) == 0)
            found = &all->reservation_array[i];
    }
    if (found == NULL)
        BAR(verdict, WAIT_RESV_DELETED, "there is no reservation '%s'", name);
    else if ((found->flags & (RESERVE_FLAG_ANY_NODES | RESERVE_FLAG_FLEX)) == 0)
        BAR(verdict, WAIT_RESERVATION,
            "reservation '%s' has its own nodes, and no rented machine is one of them", name);
    else if (now < found->start_time || (found->end_time != 0 && now >= found->end_time))
        BAR(verdict, WAIT_RESERVATION, "reservation '%s' is not active", name);
}

static const slurm_license_info_t *find_licence(const struct slurm_rules *rules, const char *name,
                                                size_t length)
{
    for (uint32_t i = 0; rules->licences != NULL && i < rules->licences->num_lic; i++) {
        const slurm_license_info_t *one = &rules->licences->lic_array[i];

        if (one->name != NULL && strlen(one->name) == length &&
            strncmp(one->name, name, length) == 0)
            return one;
    }
    return NULL;
}

static void take_licence(struct verdict *verdict, const char *item, size_t length)
{
    const size_t named = strcspn(item, ":*=,;");
    const size_t size = named < length ? named : length;
    const uint64_t amount = named < length ? strtoull(item + named + 1, NULL, 10) : 1;
    const slurm_license_info_t *licence = find_licence(verdict->rules, item, size);
    const char *reason = slurm_release_reason(WAIT_LICENSES);
    char name[NAME_SIZE];
    char text[TEXT_SIZE];

    if (licence == NULL) {
        BAR(verdict, WAIT_LICENSES, "there is no licence '%.*s'", (int)size, item);
        return;
    }
    if (amount > licence->total)
        BAR(verdict, WAIT_LICENSES, "it asks for %llu of the %u licences '%s'",
            (unsigned long long)amount, licence->total, licence->name);
    (void)snprintf(name, sizeof(name), "lic:%.256s", licence->name);
    (void)snprintf(text, sizeof(text), "the %u licences '%s' are taken", licence->total,
                   licence->name);
    struct slurm_quota *quota = draw(verdict, name, amount, licence->total, reason, text);

    if (quota != NULL)
        quota->floor = (uint64_t)licence->in_use + licence->reserved;
}

static void check_licences(struct verdict *verdict)
{
    const char *list = verdict->job->licenses;

    while (has_text(list)) {
        const size_t length = strcspn(list, ",;");

        if (length > 0)
            take_licence(verdict, list, length);
        list += length + (list[length] != '\0');
    }
}

/* ---- associations and QOS ---- */

/* An amount of TRES as Slurm prints it: "2", "1.5G". What has a unit is counted in MiB, as memory is. */
static uint64_t read_amount(const char *text)
{
    static const char units[] = "KMGTP";
    char *end = NULL;
    double amount = strtod(text, &end);
    const char *unit = *end == '\0' ? NULL : strchr(units, *end);

    if (unit == NULL)
        return amount < 0 ? 0 : (uint64_t)amount;
    for (const char *at = units + 1; at < unit; at++)
        amount *= 1024;
    return unit == units ? (uint64_t)(amount / 1024) : (uint64_t)amount;
}

/* What it asks for, or was given, of each TRES. */
static const uint64_t *read_amounts(struct slurm_rules *rules, const char *tres)
{
    const uint32_t count = rules->accounts->tres_cnt;

    if (rules->amounts == NULL)
        rules->amounts = mem_alloc(count + 1, sizeof(*rules->amounts));
    for (uint32_t i = 0; i < count; i++) {
        const char *name = rules->accounts->tres_names[i];
        const size_t length = name == NULL ? 0 : strlen(name);
        const char *at = tres;

        rules->amounts[i] = 0;
        while (at != NULL && length > 0) {
            if (strncmp(at, name, length) == 0 && at[length] == '=')
                rules->amounts[i] = read_amount(at + length + 1);
            at = strchr(at, ',');
            at = at == NULL ? NULL : at + 1;
        }
    }
    return rules->amounts;
}

/* Whose limit it is: the words in which it is reported, and the name of its quotas. */
struct owner {
    const char *words; /* "account chemistry" */
    const char *name;  /* "assoc:12" */
};

static bool is_limit(const uint64_t *limits, uint32_t i)
{
    return limits != NULL && limits[i] < NO_VAL64;
}

static bool is_of_minutes(enum limit_kind kind)
{
    return kind == ASSOC_MINS_PER_JOB || kind == QOS_MINS_PER_JOB || kind == ASSOC_GRP_MINS ||
           kind == QOS_GRP_MINS;
}

/* What a limit of this kind counts of 'amount': as it is, times its minutes, or per node. */
static uint64_t counted(const struct verdict *verdict, enum limit_kind kind, uint64_t amount)
{
    const uint64_t nodes =
        slurm_fields_tres(verdict->job->tres_req_str, "node", verdict->job->num_nodes);

    if (is_of_minutes(kind))
        return amount * verdict->minutes;
    if ((kind == ASSOC_PER_NODE || kind == QOS_PER_NODE) && nodes > 1)
        return amount / nodes + (amount % nodes != 0);
    return amount;
}

/* Amounts that it may have at most (or at least) by itself. */
static void check_each(struct verdict *verdict, enum limit_kind kind, const uint64_t *limits,
                       const uint64_t *first, const struct owner *owner)
{
    const struct slurm_rules *rules = verdict->rules;

    if (is_of_minutes(kind) && verdict->minutes >= NO_VAL)
        return;
    for (uint32_t i = 0; i < rules->accounts->tres_cnt; i++) {
        const char *tres = rules->accounts->tres_names[i];

        if (!is_limit(limits, i) || is_limit(first, i) || tres == NULL)
            continue;
        const uint64_t amount = counted(verdict, kind, rules->amounts[i]);

        if (kind == QOS_LEAST ? amount < limits[i] : amount > limits[i])
            BAR(verdict, (enum job_state_reason)reason_of[kind][kind_of(tres)],
                "%s of %s is %llu %s%s, and it asks for %llu", limit_name[kind], owner->words,
                (unsigned long long)limits[i], tres, is_of_minutes(kind) ? " minutes" : "",
                (unsigned long long)amount);
    }
}

static uint64_t scaled(uint64_t limit, double factor)
{
    return factor > 0 && factor < 1e6 ? (uint64_t)((double)limit * factor) : limit;
}

/* Amounts that it shares with others. */
static void draw_each(struct verdict *verdict, enum limit_kind kind, const uint64_t *limits,
                      const uint64_t *first, double factor, const struct owner *owner)
{
    const struct slurm_rules *rules = verdict->rules;
    char name[NAME_SIZE];
    char text[TEXT_SIZE];

    for (uint32_t i = 0; i < rules->accounts->tres_cnt; i++) {
        const char *tres = rules->accounts->tres_names[i];

        if (!is_limit(limits, i) || is_limit(first, i) || tres == NULL)
            continue;
        const uint64_t limit = scaled(limits[i], factor);

        (void)snprintf(name, sizeof(name), "%.200s:%s:%.80s", owner->name, limit_name[kind], tres);
        (void)snprintf(text, sizeof(text), "%s of %s is %llu %s", limit_name[kind], owner->words,
                       (unsigned long long)limit, tres);
        (void)draw(verdict, name, rules->amounts[i], limit, tres_reason(kind, tres), text);
    }
}

static void draw_job(struct verdict *verdict, enum job_state_reason reason, const char *limit,
                     uint32_t max, const struct owner *owner)
{
    char name[NAME_SIZE];
    char text[TEXT_SIZE + NAME_SIZE];

    (void)snprintf(name, sizeof(name), "%.200s:%s", owner->name, limit);
    (void)snprintf(text, sizeof(text), "%s of %s is %u", limit, owner->words, max);
    (void)draw(verdict, name, 1, max, slurm_release_reason(reason), text);
}

static bool is_count(uint32_t limit)
{
    return limit < NO_VAL; /* NO_VAL and INFINITE are none */
}

/* What was used up in the past. */
static void check_spent(struct verdict *verdict, enum limit_kind kind, const uint64_t *limits,
                        const uint64_t *first, const long double *raw, const struct owner *owner)
{
    const struct slurm_rules *rules = verdict->rules;

    check_each(verdict, kind, limits, first, owner);
    for (uint32_t i = 0; i < rules->accounts->tres_cnt && raw != NULL; i++) {
        const char *tres = rules->accounts->tres_names[i];

        if (!is_limit(limits, i) || is_limit(first, i) || tres == NULL || raw[i] < 0)
            continue;
        if (raw[i] / 60 >= (long double)limits[i])
            BAR(verdict, (enum job_state_reason)reason_of[kind][kind_of(tres)],
                "%s of %s, %llu %s minutes, are used up", limit_name[kind], owner->words,
                (unsigned long long)limits[i], tres);
    }
}

static void check_wall(struct verdict *verdict, enum job_state_reason reason, uint32_t limit,
                       const struct owner *owner)
{
    if (is_count(limit) && verdict->minutes < NO_VAL && verdict->minutes > limit)
        BAR(verdict, reason, "its time limit is above the %u minutes of %s (MaxWall)", limit,
            owner->words);
}

static void check_group_wall(struct verdict *verdict, enum job_state_reason reason, uint32_t limit,
                             double used_s, const struct owner *owner)
{
    if (is_count(limit) && used_s >= 0 && used_s / 60 >= limit)
        BAR(verdict, reason, "GrpWall of %s, %u minutes, is used up", owner->words, limit);
}

/* Limits of 'qos' that 'first', which goes before it, does not have. */
static void check_qos(struct verdict *verdict, const slurmdb_qos_rec_t *qos,
                      const slurmdb_qos_rec_t *first)
{
    static const slurmdb_qos_rec_t none = { .grp_jobs = INFINITE,
                                            .grp_wall = INFINITE,
                                            .max_jobs_pa = INFINITE,
                                            .max_jobs_pu = INFINITE,
                                            .max_wall_pj = INFINITE };
    const slurmdb_qos_rec_t *over = first == NULL ? &none : first;
    const char *account = verdict->job->account == NULL ? "" : verdict->job->account;
    char words[TEXT_SIZE];
    char name[NAME_SIZE];
    char of_user[NAME_SIZE];
    char of_account[NAME_SIZE];

    (void)snprintf(words, sizeof(words), "QOS %.100s", qos->name);
    (void)snprintf(name, sizeof(name), "qos:%.100s", qos->name);
    (void)snprintf(of_user, sizeof(of_user), "qos:%.100s:user:%u", qos->name,
                   verdict->job->user_id);
    (void)snprintf(of_account, sizeof(of_account), "qos:%.100s:account:%.90s", qos->name, account);
    const struct owner all = { words, name };
    const struct owner user = { words, of_user };
    const struct owner acct = { words, of_account };

    if (is_count(qos->grp_jobs) && !is_count(over->grp_jobs))
        draw_job(verdict, WAIT_QOS_GRP_JOB, "GrpJobs", qos->grp_jobs, &all);
    if (is_count(qos->max_jobs_pa) && !is_count(over->max_jobs_pa))
        draw_job(verdict, WAIT_QOS_MAX_JOB_PER_ACCT, "MaxJobsPerAccount", qos->max_jobs_pa, &acct);
    if (is_count(qos->max_jobs_pu) && !is_count(over->max_jobs_pu))
        draw_job(verdict, WAIT_QOS_MAX_JOB_PER_USER, "MaxJobsPerUser", qos->max_jobs_pu, &user);
    if (!is_count(over->max_wall_pj))
        check_wall(verdict, WAIT_QOS_MAX_WALL_PER_JOB, qos->max_wall_pj, &all);
    if (!is_count(over->grp_wall) && qos->usage != NULL)
        check_group_wall(verdict, WAIT_QOS_GRP_WALL, qos->grp_wall, qos->usage->grp_used_wall,
                         &all);
    check_each(verdict, QOS_PER_JOB, qos->max_tres_pj_ctld, over->max_tres_pj_ctld, &all);
    check_each(verdict, QOS_PER_NODE, qos->max_tres_pn_ctld, over->max_tres_pn_ctld, &all);
    check_each(verdict, QOS_MINS_PER_JOB, qos->max_tres_mins_pj_ctld, over->max_tres_mins_pj_ctld,
               &all);
    check_each(verdict, QOS_LEAST, qos->min_tres_pj_ctld, over->min_tres_pj_ctld, &all);
    check_spent(verdict, QOS_GRP_MINS, qos->grp_tres_mins_ctld, over->grp_tres_mins_ctld,
                qos->usage == NULL ? NULL : qos->usage->usage_tres_raw, &all);
    draw_each(verdict, QOS_GRP, qos->grp_tres_ctld, over->grp_tres_ctld, 0, &all);
    draw_each(verdict, QOS_PER_USER, qos->max_tres_pu_ctld, over->max_tres_pu_ctld, 0, &user);
    draw_each(verdict, QOS_PER_ACCOUNT, qos->max_tres_pa_ctld, over->max_tres_pa_ctld, 0, &acct);
}

/* The two QOS of a job in the order in which they count; either may be NULL. */
struct qos_pair {
    const slurmdb_qos_rec_t *one, *two;
};

static struct qos_pair order_qos(const struct slurm_rules *rules, const slurm_job_info_t *job,
                                 const partition_info_t *part)
{
    const slurmdb_qos_rec_t *of_job = find_qos(rules, job->qos);
    const slurmdb_qos_rec_t *of_part =
        part == NULL || !has_text(part->qos_char) ? NULL : find_qos(rules, part->qos_char);

    if (of_part == NULL || of_part == of_job)
        return (struct qos_pair){ of_job, NULL };
    if (of_job != NULL && (of_job->flags & QOS_FLAG_OVER_PART_QOS) != 0)
        return (struct qos_pair){ of_job, of_part };
    return (struct qos_pair){ of_part, of_job };
}

/* Of two rows of limits the ones that count first. */
static const uint64_t *either(const struct slurm_rules *rules, const uint64_t *one,
                              const uint64_t *two, uint64_t *scratch)
{
    for (uint32_t i = 0; i < rules->accounts->tres_cnt; i++)
        scratch[i] = is_limit(one, i) ? one[i] : is_limit(two, i) ? two[i] : NO_LIMIT;
    return scratch;
}

static bool has_count(struct qos_pair qos, size_t offset)
{
    const slurmdb_qos_rec_t *both[] = { qos.one, qos.two };

    for (int i = 0; i < 2; i++) {
        uint32_t limit = INFINITE;

        if (both[i] != NULL)
            memcpy(&limit, (const char *)both[i] + offset, sizeof(limit));
        if (is_count(limit))
            return true;
    }
    return false;
}

static const uint64_t *limits_of(const slurmdb_qos_rec_t *qos, size_t offset)
{
    const uint64_t *limits = NULL;

    if (qos != NULL)
        memcpy(&limits, (const char *)qos + offset, sizeof(limits));
    return limits;
}

/* Those of the QOS, per TRES, that an association's yield to. */
#define FIRST(field)                                                      \
    either(rules, limits_of(qos.one, offsetof(slurmdb_qos_rec_t, field)), \
           limits_of(qos.two, offsetof(slurmdb_qos_rec_t, field)), scratch)

static double factor_of(struct qos_pair qos)
{
    const slurmdb_qos_rec_t *both[] = { qos.one, qos.two };

    for (int i = 0; i < 2; i++) {
        if (both[i] != NULL && both[i]->limit_factor > 0 && both[i]->limit_factor < 1e6)
            return both[i]->limit_factor;
    }
    return 0;
}

/* Limits that an association shares with those below it. */
static void check_group(struct verdict *verdict, const slurmdb_assoc_rec_t *assoc,
                        struct qos_pair qos, const struct owner *owner, uint64_t *scratch)
{
    const struct slurm_rules *rules = verdict->rules;
    const slurmdb_assoc_usage_t *usage = assoc->usage;

    if (is_count(assoc->grp_jobs) && !has_count(qos, offsetof(slurmdb_qos_rec_t, grp_jobs)))
        draw_job(verdict, WAIT_ASSOC_GRP_JOB, "GrpJobs", assoc->grp_jobs, owner);
    if (!has_count(qos, offsetof(slurmdb_qos_rec_t, grp_wall)) && usage != NULL)
        check_group_wall(verdict, WAIT_ASSOC_GRP_WALL, assoc->grp_wall, usage->grp_used_wall,
                         owner);
    check_spent(verdict, ASSOC_GRP_MINS, assoc->grp_tres_mins_ctld, FIRST(grp_tres_mins_ctld),
                usage == NULL ? NULL : usage->usage_tres_raw, owner);
    draw_each(verdict, ASSOC_GRP, assoc->grp_tres_ctld, FIRST(grp_tres_ctld), factor_of(qos),
              owner);
}

/* Limits of the association that is the job's own. */
static void check_own(struct verdict *verdict, const slurmdb_assoc_rec_t *assoc,
                      struct qos_pair qos, const struct owner *owner, uint64_t *scratch)
{
    const struct slurm_rules *rules = verdict->rules;

    if (is_count(assoc->max_jobs) && !has_count(qos, offsetof(slurmdb_qos_rec_t, max_jobs_pa)) &&
        !has_count(qos, offsetof(slurmdb_qos_rec_t, max_jobs_pu)))
        draw_job(verdict, WAIT_ASSOC_MAX_JOBS, "MaxJobs", assoc->max_jobs, owner);
    if (!has_count(qos, offsetof(slurmdb_qos_rec_t, max_wall_pj)))
        check_wall(verdict, WAIT_ASSOC_MAX_WALL_PER_JOB, assoc->max_wall_pj, owner);
    if (!(factor_of(qos) > 0)) /* else Slurm's answer tells */
        check_each(verdict, ASSOC_PER_JOB, assoc->max_tres_ctld, FIRST(max_tres_pj_ctld), owner);
    check_each(verdict, ASSOC_PER_NODE, assoc->max_tres_pn_ctld, FIRST(max_tres_pn_ctld), owner);
    check_each(verdict, ASSOC_MINS_PER_JOB, assoc->max_tres_mins_ctld, FIRST(max_tres_mins_pj_ctld),
               owner);
}

static const slurmdb_assoc_rec_t *assoc_of(const struct slurm_rules *rules, uint32_t id)
{
    const uint32_t row = id == 0 ? MAP_NONE : map_get(&rules->assoc_by_id, id);

    return row == MAP_NONE ? NULL : rules->assocs[row];
}

static void check_assocs(struct verdict *verdict, struct qos_pair qos)
{
    const struct slurm_rules *rules = verdict->rules;
    const slurmdb_assoc_rec_t *assoc = assoc_of(rules, verdict->job->assoc_id);
    uint64_t *scratch = mem_alloc(rules->accounts->tres_cnt + 1, sizeof(*scratch));
    char words[TEXT_SIZE];
    char name[NAME_SIZE];

    for (uint32_t depth = 0; assoc != NULL && depth < ASSOC_DEPTH_MAX; depth++) {
        const struct owner owner = { words, name };

        if (has_text(assoc->user))
            (void)snprintf(words, sizeof(words), "user %.64s in account %.64s", assoc->user,
                           assoc->acct == NULL ? "" : assoc->acct);
        else
            (void)snprintf(words, sizeof(words), "account %.100s",
                           assoc->acct == NULL ? "" : assoc->acct);
        (void)snprintf(name, sizeof(name), "assoc:%u", assoc->id);
        check_group(verdict, assoc, qos, &owner, scratch);
        if (depth == 0)
            check_own(verdict, assoc, qos, &owner, scratch);
        assoc = assoc_of(rules, assoc->parent_id);
    }
    mem_free(scratch);
}

static void check_accounting(struct verdict *verdict, const partition_info_t *part)
{
    struct slurm_rules *rules = verdict->rules;
    const slurm_job_info_t *job = verdict->job;

    if (rules->accounts == NULL)
        return;
    const struct qos_pair qos = order_qos(rules, job, part);

    if ((rules->enforce & ENFORCE_ASSOCS) != 0 && job->assoc_id != 0 && rules->assoc_count > 0 &&
        assoc_of(rules, job->assoc_id) == NULL)
        BAR(verdict, FAIL_ACCOUNT, "account '%s' of its user is not there any more",
            job->account == NULL ? "" : job->account);
    if ((rules->enforce & ENFORCE_QOS) != 0 && has_text(job->qos) && rules->qos_count > 0 &&
        find_qos(rules, job->qos) == NULL)
        BAR(verdict, FAIL_QOS, "there is no QOS '%s'", job->qos);
    if ((rules->enforce & ENFORCE_LIMITS) == 0)
        return;
    (void)read_amounts(rules, verdict->is_counting && has_text(job->tres_alloc_str)
                                  ? job->tres_alloc_str
                                  : job->tres_req_str);
    if (qos.one != NULL)
        check_qos(verdict, qos.one, NULL);
    if (qos.two != NULL)
        check_qos(verdict, qos.two, qos.one);
    check_assocs(verdict, qos);
}

/* Everything about one job; its draws are in 'rules' afterwards. */
static void weigh(struct verdict *verdict, time_t now)
{
    const slurm_job_info_t *job = verdict->job;

    line_text_reset(&verdict->rules->draws);
    verdict->minutes =
        job->time_limit == NO_VAL || job->time_limit == INFINITE ? NO_LIMIT : job->time_limit;
    const partition_info_t *part = pick_partition(verdict);

    check_reservation(verdict, now);
    check_licences(verdict);
    check_accounting(verdict, part);
}

/* ---- what runs ---- */

void slurm_rules_begin_count(struct slurm_rules *rules)
{
    for (uint32_t i = 0; i < rules->quota_count; i++)
        rules->quotas[i].used = 0;
}

void slurm_rules_count(struct slurm_rules *rules, const slurm_job_info_t *job, bool is_running)
{
    struct verdict verdict = { .rules = rules, .job = job, .is_counting = is_running };

    if (rules->accounts == NULL && !has_text(job->licenses))
        return;
    weigh(&verdict, 0);
}

void slurm_rules_tell(struct slurm_rules *rules, bool is_full, struct line_text *out)
{
    for (uint32_t i = 0; i < rules->quota_count; i++) {
        struct slurm_quota *quota = &rules->quotas[i];
        const uint32_t begin = out->size;

        line_text_begin(out, "quota");
        line_text_string(out, "name", quota->name);
        line_text_number(out, "max", quota->max);
        line_text_number(out, "used", quota->used > quota->floor ? quota->used : quota->floor);
        line_text_string(out, "reason", quota->reason);
        line_text_prose(out, "text", quota->text);
        line_text_end(out);
        const uint64_t hash = slurm_fields_hash(out->text + begin, out->size - begin);

        if (hash == quota->told && !is_full)
            out->size = begin;
        quota->told = hash;
    }
}

void slurm_rules_judge(struct slurm_rules *rules, const slurm_job_info_t *job,
                       const struct slurm_parts *parts, time_t now, struct line_text *out)
{
    struct line_text draws = { .text = NULL };
    bool is_barred = false;

    for (uint32_t i = 0; i <= parts->count; i++) {
        struct verdict verdict = { .rules = rules, .job = i == 0 ? job : parts->rows[i - 1] };

        weigh(&verdict, now);
        if (verdict.reason != NULL && !is_barred) {
            line_text_string(out, "bar", verdict.reason);
            line_text_prose(out, "bar_text", verdict.text.text);
            is_barred = true;
        }
        if (rules->draws.size == 0)
            continue;
        if (draws.size > 0)
            line_text_append(&draws, ";", 1);
        line_text_append(&draws, rules->draws.text, rules->draws.size);
    }
    if (draws.size > 0) {
        line_text_append(&draws, "", 1);
        line_text_string(out, "draws", draws.text);
    }
    line_text_done(&draws);
}

/* ---- memory ---- */

void slurm_rules_init(struct slurm_rules *rules)
{
    *rules = (struct slurm_rules){ .place_in = rules->place_in };
    map_init(&rules->assoc_by_id);
    map_init(&rules->by_name);
}
