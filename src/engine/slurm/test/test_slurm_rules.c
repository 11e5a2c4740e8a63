/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables made by hand, of libslurm's own structs; nothing is asked of a slurmctld. */
#include <string.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_record.h"
#include "engine/slurm/slurm_rules.h"

enum { TRES = 4, NOW = 1794717000 };

/* libslurm's structs have pointers to char where it only reads. */
static char *text(const char *of)
{
    union {
        const char *in;
        char *out;
    } pun = { .in = of };

    return pun.out;
}

struct office {
    struct slurm_rules rules;
    partition_info_t part[2];
    partition_info_msg_t parts;
    slurm_license_info_t licence[1];
    license_info_msg_t licences;
    reserve_info_t resv[1];
    reserve_info_msg_t resvs;
    slurmdb_assoc_rec_t root, account, user;
    slurmdb_qos_rec_t normal, of_part;
    slurmdb_assoc_rec_t *assocs[3];
    slurmdb_qos_rec_t *qos[2];
    uint64_t none[TRES];
    char *names[TRES];
    assoc_mgr_info_msg_t accounts;
    slurm_job_info_t job;
    struct slurm_parts components; /* of the job, but the first */
    struct line_text out;
    char said[2048];
};

static void no_limits(struct office *office, slurmdb_assoc_rec_t *assoc)
{
    assoc->grp_jobs = assoc->max_jobs = assoc->grp_wall = assoc->max_wall_pj = INFINITE;
    assoc->grp_tres_ctld = assoc->max_tres_ctld = assoc->max_tres_pn_ctld = office->none;
    assoc->grp_tres_mins_ctld = assoc->max_tres_mins_ctld = office->none;
}

static void no_qos_limits(struct office *office, slurmdb_qos_rec_t *qos, char *name)
{
    qos->name = name;
    qos->grp_jobs = qos->grp_wall = qos->max_jobs_pa = qos->max_jobs_pu = INFINITE;
    qos->max_wall_pj = INFINITE;
    qos->grp_tres_ctld = qos->grp_tres_mins_ctld = qos->max_tres_pj_ctld = office->none;
    qos->max_tres_pn_ctld = qos->max_tres_pu_ctld = qos->max_tres_pa_ctld = office->none;
    qos->max_tres_mins_pj_ctld = qos->min_tres_pj_ctld = office->none;
}

static void open_office(struct office *office)
{
    memset(office, 0, sizeof(*office));
    slurm_rules_init(&office->rules);
    for (int i = 0; i < TRES; i++)
        office->none[i] = INFINITE64;
    office->part[0] = (partition_info_t){
        .name = text("cloud"), .state_up = PARTITION_UP, .max_nodes = INFINITE, .max_time = INFINITE
    };
    office->part[1] = office->part[0];
    office->part[1].name = text("other");
    office->parts = (partition_info_msg_t){ .record_count = 2, .partition_array = office->part };
    office->licence[0] = (slurm_license_info_t){ .name = text("matlab"), .total = 2 };
    office->licences = (license_info_msg_t){ .num_lic = 1, .lic_array = office->licence };
    office->resv[0] =
        (reserve_info_t){ .name = text("today"), .start_time = NOW - 60, .end_time = NOW + 60 };
    office->resvs = (reserve_info_msg_t){ .record_count = 1, .reservation_array = office->resv };
    no_limits(office, &office->root);
    no_limits(office, &office->account);
    no_limits(office, &office->user);
    office->root = (slurmdb_assoc_rec_t){ .id = 1, .acct = text("root") };
    no_limits(office, &office->root);
    office->account.id = 2;
    office->account.parent_id = 1;
    office->account.acct = text("physics");
    office->user.id = 3;
    office->user.parent_id = 2;
    office->user.acct = text("physics");
    office->user.user = text("ann");
    no_qos_limits(office, &office->normal, text("normal"));
    no_qos_limits(office, &office->of_part, text("part"));
    office->names[0] = text("cpu");
    office->names[1] = text("mem");
    office->names[2] = text("node");
    office->names[3] = text("gres/gpu");
    office->accounts = (assoc_mgr_info_msg_t){ .tres_cnt = TRES, .tres_names = office->names };
    office->assocs[0] = &office->root;
    office->assocs[1] = &office->account;
    office->assocs[2] = &office->user;
    office->qos[0] = &office->normal;
    office->qos[1] = &office->of_part;
    office->rules.partitions = &office->parts;
    office->rules.licences = &office->licences;
    office->rules.reservations = &office->resvs;
    office->rules.accounts = &office->accounts;
    office->rules.assocs = office->assocs;
    office->rules.assoc_count = 3;
    office->rules.qos = office->qos;
    office->rules.qos_count = 2;
    office->rules.enforce = 1 | 2 | 8;
    for (uint32_t i = 0; i < 3; i++)
        map_put(&office->rules.assoc_by_id, office->assocs[i]->id, i);
    office->job = (slurm_job_info_t){ .job_id = 12,
                                      .job_state = JOB_PENDING,
                                      .user_id = 2001,
                                      .account = text("physics"),
                                      .assoc_id = 3,
                                      .qos = text("normal"),
                                      .partition = text("cloud"),
                                      .num_nodes = 1,
                                      .time_limit = 10,
                                      .tres_req_str = text("cpu=4,mem=2G,node=1,gres/gpu=1") };
}

static void close_office(struct office *office)
{
    office->rules.partitions = NULL;
    office->rules.licences = NULL;
    office->rules.reservations = NULL;
    office->rules.accounts = NULL;
    office->rules.assocs = NULL;
    office->rules.qos = NULL;
    slurm_rules_done(&office->rules);
    line_text_done(&office->out);
}

/* What is said of the job. */
static const char *verdict(struct office *office)
{
    line_text_reset(&office->out);
    line_text_begin(&office->out, "job");
    slurm_rules_judge(&office->rules, &office->job, &office->components, NOW, &office->out);
    line_text_end(&office->out);
    (void)snprintf(office->said, sizeof(office->said), "%.*s", (int)office->out.size - 1,
                   office->out.text);
    return office->said;
}

static void barred(struct office *office, const char *reason)
{
    char expected[128];

    (void)snprintf(expected, sizeof(expected), "job bar=%s bar_text=", reason);
    if (strncmp(verdict(office), expected, strlen(expected)) != 0)
        assert_string_equal(office->said, expected);
}

static void quotas(struct office *office, const char *expected)
{
    line_text_reset(&office->out);
    slurm_rules_tell(&office->rules, true, &office->out);
    (void)snprintf(office->said, sizeof(office->said), "%.*s", (int)office->out.size,
                   office->out.text);
    assert_string_equal(office->said, expected);
}

TEST(a_job_within_all_limits_has_neither_bar_nor_draws)
{
    struct office office;

    open_office(&office);
    assert_string_equal(verdict(&office), "job");
    close_office(&office);
}

TEST(partitions_bar_by_state_time_and_nodes)
{
    struct office office;

    open_office(&office);
    office.part[0].max_time = 5;
    barred(&office, "PartitionTimeLimit");
    office.normal.flags = QOS_FLAG_PART_TIME_LIMIT;
    assert_string_equal(verdict(&office), "job");
    office.part[0].max_time = INFINITE;
    office.part[0].state_up = PARTITION_DOWN;
    barred(&office, "PartitionDown");
    office.part[0].state_up = PARTITION_INACTIVE;
    barred(&office, "PartitionInactive");
    office.part[0].state_up = PARTITION_DRAIN; /* takes no new ones, starts those that it has */
    assert_string_equal(verdict(&office), "job");
    office.part[0].min_nodes = 2;
    barred(&office, "PartitionNodeLimit");
    office.part[0].min_nodes = 0;
    office.part[0].max_nodes = 1;
    office.job.tres_req_str = text("cpu=4,node=2");
    barred(&office, "PartitionNodeLimit");
    close_office(&office);
}

TEST(partitions_bar_by_who_may_use_them)
{
    struct office office;

    open_office(&office);
    office.part[0].allow_accounts = text("chemistry");
    barred(&office, "AccountNotAllowed");
    office.part[0].allow_accounts = text("chemistry,physics");
    assert_string_equal(verdict(&office), "job");
    office.part[0].allow_accounts = NULL;
    office.part[0].deny_accounts = text("physics");
    barred(&office, "AccountNotAllowed");
    office.part[0].deny_accounts = NULL;
    office.part[0].allow_qos = text("urgent");
    barred(&office, "QOSNotAllowed");
    office.part[0].allow_qos = NULL;
    office.part[0].flags = PART_FLAG_REQ_RESV;
    barred(&office, "PartitionConfig");
    close_office(&office);
}

TEST(of_several_partitions_one_is_enough)
{
    struct office office;

    open_office(&office);
    office.part[0].state_up = PARTITION_DOWN;
    office.job.partition = text("cloud,other");
    assert_string_equal(verdict(&office), "job");
    office.part[1].state_up = PARTITION_DOWN;
    barred(&office, "PartitionDown");
    office.part[1].state_up = PARTITION_UP;
    office.job.partition = text("cloud");
    office.rules.place_in = "other"; /* where it is placed counts, not where it waits */
    assert_string_equal(verdict(&office), "job");
    close_office(&office);
}

TEST(a_job_of_a_reservation_runs_on_its_nodes_only)
{
    struct office office;

    open_office(&office);
    office.job.resv_name = text("today");
    barred(&office, "Reservation");
    office.resv[0].flags = RESERVE_FLAG_ANY_NODES;
    assert_string_equal(verdict(&office), "job");
    office.resv[0].start_time = NOW + 10;
    barred(&office, "Reservation");
    office.job.resv_name = text("gone");
    barred(&office, "ReservationDeleted");
    close_office(&office);
}

TEST(licences_are_quotas_that_what_runs_has_taken_from)
{
    struct office office;

    open_office(&office);
    office.job.licenses = text("matlab:1");
    assert_string_equal(verdict(&office), "job draws=lic:matlab=1");
    office.job.job_state = JOB_RUNNING;
    slurm_rules_begin_count(&office.rules);
    slurm_rules_count(&office.rules, &office.job, office.job.job_state == JOB_RUNNING);
    quotas(&office, "quota name=lic:matlab max=2 used=1 reason=Licenses "
                    "text=the%202%20licences%20'matlab'%20are%20taken\n");
    office.licence[0].in_use = 1;
    office.licence[0].reserved = 1;
    slurm_rules_begin_count(&office.rules);
    slurm_rules_count(&office.rules, &office.job, office.job.job_state == JOB_RUNNING);
    quotas(&office, "quota name=lic:matlab max=2 used=2 reason=Licenses "
                    "text=the%202%20licences%20'matlab'%20are%20taken\n");
    office.job.licenses = text("matlab:3");
    barred(&office, "Licenses");
    office.job.licenses = text("none");
    barred(&office, "Licenses");
    close_office(&office);
}

TEST(an_association_bars_what_is_too_much_and_counts_what_is_shared)
{
    struct office office;
    uint64_t two_cpus[TRES] = { 2, INFINITE64, INFINITE64, INFINITE64 };
    uint64_t some[TRES] = { 8, 4096, INFINITE64, INFINITE64 };

    open_office(&office);
    office.user.max_tres_ctld = two_cpus;
    barred(&office, "AssocMaxCpuPerJobLimit");
    office.user.max_tres_ctld = office.none;
    office.account.max_tres_ctld = two_cpus; /* only the job's own association's count */
    assert_string_equal(verdict(&office), "job");
    office.user.max_wall_pj = 5;
    barred(&office, "AssocMaxWallDurationPerJobLimit");
    office.user.max_wall_pj = INFINITE;
    office.user.max_jobs = 1;
    office.account.grp_jobs = 7;
    office.root.grp_tres_ctld = some;
    assert_string_equal(verdict(&office),
                        "job draws=assoc:3:MaxJobs=1;assoc:2:GrpJobs=1;assoc:1:GrpTRES:cpu=4;"
                        "assoc:1:GrpTRES:mem=2048");
    office.job.assoc_id = 99;
    barred(&office, "InvalidAccount");
    close_office(&office);
}

TEST(a_qos_goes_before_the_association_and_that_of_the_partition_first)
{
    struct office office;
    uint64_t two_cpus[TRES] = { 2, INFINITE64, INFINITE64, INFINITE64 };
    uint64_t eight_cpus[TRES] = { 8, INFINITE64, INFINITE64, INFINITE64 };

    open_office(&office);
    office.user.max_tres_ctld = two_cpus;
    office.normal.max_tres_pj_ctld = eight_cpus;
    assert_string_equal(verdict(&office), "job");
    office.part[0].qos_char = text("part");
    office.of_part.max_tres_pj_ctld = two_cpus;
    barred(&office, "QOSMaxCpuPerJobLimit");
    office.normal.flags = QOS_FLAG_OVER_PART_QOS;
    assert_string_equal(verdict(&office), "job");
    close_office(&office);
}

TEST(a_qos_counts_per_user_and_per_account)
{
    struct office office;
    uint64_t two_cpus[TRES] = { 2, INFINITE64, INFINITE64, INFINITE64 };

    open_office(&office);
    office.normal.max_jobs_pu = 1;
    office.normal.max_jobs_pa = 2;
    office.normal.max_tres_pa_ctld = two_cpus;
    office.user.max_jobs = 9; /* gives way */
    assert_string_equal(verdict(&office),
                        "job draws=qos:normal:account:physics:MaxJobsPerAccount=1;"
                        "qos:normal:user:2001:MaxJobsPerUser=1;"
                        "qos:normal:account:physics:MaxTRESPerAccount:cpu=4");
    slurm_rules_begin_count(&office.rules);
    slurm_rules_count(&office.rules, &office.job, office.job.job_state == JOB_RUNNING);
    line_text_reset(&office.out);
    slurm_rules_tell(&office.rules, true, &office.out);
    line_text_append(&office.out, "", 1);
    assert_non_null(strstr(office.out.text, "max=2 used=0 reason=MaxCpuPerAccount "));
    assert_non_null(strstr(office.out.text, "max=2 used=0 reason=MaxJobsPerAccount "));
    assert_non_null(strstr(office.out.text, "max=1 used=0 reason=QOSMaxJobsPerUserLimit "));
    close_office(&office);
}

TEST(what_asks_for_too_little_or_has_used_all_up_is_barred)
{
    struct office office;
    uint64_t eight_cpus[TRES] = { 8, INFINITE64, INFINITE64, INFINITE64 };
    uint64_t minutes[TRES] = { 100, INFINITE64, INFINITE64, INFINITE64 };
    long double used[TRES] = { 6000 };
    slurmdb_assoc_usage_t usage = { .usage_tres_raw = used };

    open_office(&office);
    office.normal.min_tres_pj_ctld = eight_cpus;
    barred(&office, "QOSMinCpuNotSatisfied");
    office.normal.min_tres_pj_ctld = office.none;
    office.account.grp_tres_mins_ctld = minutes;
    office.account.usage = &usage;
    barred(&office, "AssocGrpCPUMinutesLimit");
    used[0] = 0;
    assert_string_equal(verdict(&office), "job");
    office.job.time_limit = 30; /* 4 x 30 minutes */
    barred(&office, "AssocGrpCPUMinutesLimit");
    close_office(&office);
}

CHECK_MAIN(RUN(a_job_within_all_limits_has_neither_bar_nor_draws),
           RUN(partitions_bar_by_state_time_and_nodes), RUN(partitions_bar_by_who_may_use_them),
           RUN(of_several_partitions_one_is_enough),
           RUN(a_job_of_a_reservation_runs_on_its_nodes_only),
           RUN(licences_are_quotas_that_what_runs_has_taken_from),
           RUN(an_association_bars_what_is_too_much_and_counts_what_is_shared),
           RUN(a_qos_goes_before_the_association_and_that_of_the_partition_first),
           RUN(a_qos_counts_per_user_and_per_account),
           RUN(what_asks_for_too_little_or_has_used_all_up_is_barred))
