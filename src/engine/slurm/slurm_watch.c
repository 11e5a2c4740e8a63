/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_watch.c - see slurm_watch.h.
 *
 * Slurm counts a job's restarts; that count is its 'run'. Between two looks a job may have gone
 * through several states, so what happened is read off the two ends:
 *
 *  1. another run, or waiting after it did not wait: requeued;
 *  2. running now, but not before or in another run: started;
 *  3. ended now, but not before or in another run: started, if it ever was, and ended.
 */
#include "engine/slurm/slurm_watch.h"

#include <pwd.h>
#include <string.h>

#include "base/mem.h"
#include "base/word_list.h"
#include "engine/slurm/slurm_fields.h"
#include "engine/slurm/slurm_protocol.h"
#include "engine/slurm/slurm_record.h"

bool slurm_filter_has_rules(const struct slurm_filter *filter)
{
    return filter->partitions != NULL || filter->ignored_partitions != NULL ||
           filter->ignored_uid_count > 0;
}

/* Whether 'list' names one of the partitions that the job may run in. */
static bool names_partition(const char *list, const char *partitions)
{
    while (partitions != NULL && *partitions != '\0') {
        const size_t length = strcspn(partitions, ",");

        if (word_list_has(list, ",", partitions, length))
            return true;
        partitions += length + (partitions[length] == ',');
    }
    return false;
}

bool slurm_filter_is_ours(const struct slurm_filter *filter, const slurm_job_info_t *job)
{
    for (uint32_t i = 0; i < filter->ignored_uid_count; i++) {
        if (filter->ignored_uid[i] == job->user_id)
            return false;
    }
    if (names_partition(filter->ignored_partitions, job->partition))
        return false;
    return filter->partitions == NULL || names_partition(filter->partitions, job->partition);
}

void slurm_watch_init(struct slurm_watch *watch, const struct slurm_filter *filter,
                      struct slurm_rules *rules)
{
    *watch = (struct slurm_watch){ .filter = filter, .rules = rules };
    map_init(&watch->job_index);
    map_init(&watch->member_index);
    map_init(&watch->touched);
    map_init(&watch->node_index);
    map_init(&watch->user_index);
    map_init(&watch->part_index);
}

void slurm_watch_done(struct slurm_watch *watch)
{
    for (uint32_t i = 0; i < watch->nodes_count; i++)
        mem_free(watch->nodes[i].name);
    for (uint32_t i = 0; i < watch->users_count; i++)
        mem_free(watch->users[i].name);
    for (uint32_t i = 0; i < watch->jobs_count; i++)
        mem_free(watch->jobs[i].busy);
    mem_free((void *)watch->parts.rows);
    mem_free(watch->queue);
    slurm_raised_done(&watch->raised);
    mem_free(watch->users);
    mem_free(watch->nodes);
    mem_free(watch->jobs);
    map_done(&watch->user_index);
    map_done(&watch->node_index);
    map_done(&watch->job_index);
    map_done(&watch->member_index);
    map_done(&watch->touched);
    map_done(&watch->part_index);
}

int slurm_watch_keep_raised(struct slurm_watch *watch, const char *path, struct error *reterr)
{
    const int rc = slurm_raised_load(path, &watch->raised, reterr);

    watch->raised_path = path;
    watch->look = watch->raised.look;
    return rc;
}

void slurm_watch_distrust(struct slurm_watch *watch)
{
    watch->jobs_update = 0;
    watch->nodes_update = 0;
}

void slurm_watch_judge_anew(struct slurm_watch *watch)
{
    watch->jobs_update = 0;
}

/* By how much slurmctld's clock is ahead. Seconds are all that Slurm tells, so a difference of up to two
 * is none, and what is known is kept until it is off by more. */
static void note_skew(struct slurm_watch *watch)
{
    enum { JITTER_S = 2 };
    const time_t skew = watch->jobs_time - time(NULL);
    const time_t off = skew - watch->skew_s;

    if (off > JITTER_S || off < -JITTER_S)
        watch->skew_s = skew > JITTER_S || skew < -JITTER_S ? skew : 0;
}

time_t slurm_watch_now(const struct slurm_watch *watch)
{
    return time(NULL) + watch->skew_s;
}

bool slurm_watch_knows(const struct slurm_watch *watch, uint32_t job_id)
{
    return map_get(&watch->job_index, job_id) != MAP_NONE;
}

static uint64_t member_key(uint32_t array, uint32_t task)
{
    return (uint64_t)array << 32 | task;
}

/* The hash of "12_" stands for any of its tasks. */
static uint64_t whole_array(const char *job)
{
    return slurm_fields_hash(job, strcspn(job, "_") + 1);
}

void slurm_watch_touch(struct slurm_watch *watch, const char *job)
{
    if (strchr(job, '[') != NULL)
        map_put(&watch->touched, whole_array(job), 0);
    else
        map_put(&watch->touched, slurm_fields_hash(job, strlen(job)), 0);
}

const struct slurm_watched_job *slurm_watch_find(const struct slurm_watch *watch, const char *job,
                                                 uint32_t job_id, uint32_t task)
{
    uint32_t index = MAP_NONE;

    if (map_get(&watch->touched, slurm_fields_hash(job, strlen(job))) != MAP_NONE)
        return NULL;
    if (task != NO_VAL) {
        if (map_get(&watch->touched, whole_array(job)) != MAP_NONE)
            return NULL;
        index = map_get(&watch->member_index, member_key(job_id, task));
    }
    if (index == MAP_NONE)
        index = map_get(&watch->job_index, job_id);
    return index == MAP_NONE ? NULL : &watch->jobs[index];
}

time_t slurm_watch_quiet_until(const struct slurm_watch *watch, uint32_t job_id, uint32_t task)
{
    uint32_t index = MAP_NONE;

    if (task != NO_VAL)
        index = map_get(&watch->member_index, member_key(job_id, task));
    if (index == MAP_NONE)
        index = map_get(&watch->job_index, job_id);
    return index == MAP_NONE ? 0 : watch->jobs[index].quiet_until;
}

/* The job that we watch under this id; a new one waits in the run that it is first seen in. */
static struct slurm_watched_job *watched_job(struct slurm_watch *watch, const slurm_job_info_t *job)
{
    uint32_t index = map_get(&watch->job_index, job->job_id);

    if (index == MAP_NONE) {
        index = watch->jobs_count++;
        MEM_ROOM(watch->jobs, watch->jobs_room, watch->jobs_count);
        watch->jobs[index] = (struct slurm_watched_job){ .id = job->job_id,
                                                         .run = job->restart_cnt,
                                                         .phase = SLURM_WAITING };
        map_put(&watch->job_index, job->job_id, index);
    }
    return &watch->jobs[index];
}

/* What happened since 'old', by the rules above. */
static void tell_what_happened(const struct slurm_watched_job *old, const slurm_job_info_t *job,
                               const struct slurm_parts *parts, struct line_text *out)
{
    const enum slurm_phase phase = slurm_record_phase(job);
    const bool is_other_run = old->run != job->restart_cnt;
    const bool is_new_phase = is_other_run || old->phase != phase;

    if (is_other_run || (is_new_phase && phase == SLURM_WAITING)) {
        line_text_begin(out, "requeued");
        line_text_number(out, "job", job->job_id);
        line_text_number(out, "run", job->restart_cnt);
        line_text_end(out);
    }
    if (!is_new_phase || phase == SLURM_WAITING)
        return;
    if (phase == SLURM_RUNNING) {
        slurm_record_started(job, parts, out);
        return;
    }
    if (job->nodes != NULL && *job->nodes != '\0' && (is_other_run || old->phase == SLURM_WAITING))
        slurm_record_started(job, parts, out);
    slurm_record_ended(job, parts, out);
}

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *own = mem_alloc(size, 1);

    memcpy(own, text, size);
    return own;
}

static const char *user_name(struct slurm_watch *watch, uint32_t uid)
{
    uint32_t index = map_get(&watch->user_index, uid);

    if (index == MAP_NONE) {
        const struct passwd *entry = getpwuid(uid);

        index = watch->users_count++;
        MEM_ROOM(watch->users, watch->users_room, watch->users_count);
        watch->users[index].name = entry == NULL ? NULL : copy(entry->pw_name);
        map_put(&watch->user_index, uid, index);
    }
    return watch->users[index].name;
}

/* Of a job that is being cleared away Slurm tells only the nodes that are not done; that it was placed
 * on others too stands in what it requires. A job whose nodes all died before they were cleared waits
 * again, on other terms perhaps, and has them in its record until it starts elsewhere. */
static void note_busy(struct slurm_watched_job *old, const slurm_job_info_t *job)
{
    const enum slurm_phase phase = slurm_record_phase(job);
    const bool is_completing = (job->job_state & JOB_COMPLETING) != 0;
    const bool is_remembered = phase != SLURM_ENDED || is_completing;
    const char *nodes = is_remembered ? job->nodes : NULL;
    const char *required = is_remembered ? job->req_nodes : NULL;

    mem_free(old->busy);
    old->busy = NULL;
    if (nodes != NULL && *nodes != '\0' && required != NULL && *required != '\0') {
        const size_t size = strlen(nodes) + strlen(required) + 2;

        old->busy = mem_alloc(size, 1);
        (void)snprintf(old->busy, size, "%s,%s", nodes, required);
    } else if (nodes != NULL && *nodes != '\0') {
        old->busy = copy(nodes);
    } else if (required != NULL && *required != '\0') {
        old->busy = copy(required);
    }
}

/* It was put back: a start of the run that ended may still be unconfirmed, unless that run is older. One
 * that is first seen waiting after a run may have been put back just now. */
static void note_quiet(const struct slurm_watch *watch, struct slurm_watched_job *old,
                       const slurm_job_info_t *job)
{
    const bool is_new = old->look == 0;
    const bool was_seen = !is_new && old->phase == SLURM_RUNNING;

    if (slurm_record_phase(job) == SLURM_RUNNING)
        old->started = job->start_time;
    else if (job->restart_cnt > 0 && (is_new || job->restart_cnt != old->run))
        old->quiet_until = (was_seen ? old->started : watch->jobs_time) + (time_t)watch->launch_s;
}

/* The line 'job', or what of it is news. */
static void tell_job(struct slurm_watch *watch, struct slurm_watched_job *old,
                     const slurm_job_info_t *job, bool is_full, struct line_text *out)
{
    const uint32_t size = out->size;
    const bool is_waiting = slurm_record_phase(job) == SLURM_WAITING;
    const uint32_t rank = is_waiting ? old->next_rank : 0;
    const struct slurm_record_extra extra = { .user = user_name(watch, job->user_id),
                                              .parts = &watch->parts,
                                              .backfill_s = watch->backfill_s,
                                              .is_mem_counted = watch->is_mem_counted,
                                              .rules = watch->rules,
                                              .now = watch->jobs_time,
                                              .skew = watch->skew_s,
                                              .rank = rank };
    const uint64_t hash = slurm_record_job(job, &extra, out);

    if (hash == old->hash && !is_full) {
        out->size = size;
        if (rank != 0 && rank != old->rank)
            slurm_record_priority(job, rank, out);
    }
    old->hash = hash;
    old->rank = rank;
}

/* The other components of the job, in their order; none, if it is an ordinary one. */
static void gather_parts(struct slurm_watch *watch, const job_info_msg_t *all,
                         const slurm_job_info_t *job)
{
    struct slurm_parts *parts = &watch->parts;
    uint32_t row = MAP_NONE;

    parts->count = 0;
    while (job->het_job_id != 0 &&
           (row = map_get(&watch->part_index, member_key(job->job_id, parts->count + 1))) !=
               MAP_NONE) {
        MEM_ROOM(parts->rows, parts->room, parts->count + 1);
        parts->rows[parts->count++] = &all->job_array[row];
    }
}

static void look_at_job(struct slurm_watch *watch, const slurm_job_info_t *job, bool is_full,
                        struct line_text *out)
{
    struct slurm_watched_job *old = watched_job(watch, job);

    old->is_part = slurm_record_is_part(job);
    if (!old->is_part) {
        tell_job(watch, old, job, is_full, out);
        tell_what_happened(old, job, &watch->parts, out);
    }
    note_quiet(watch, old, job);
    old->run = job->restart_cnt;
    old->phase = (uint8_t)slurm_record_phase(job);
    old->look = watch->look;
    old->is_gated = slurm_record_is_gated(job) && !slurm_record_is_held(job);
    old->has_nodes = job->req_nodes != NULL && *job->req_nodes != '\0';
    old->has_note = job->admin_comment != NULL &&
                    strncmp(job->admin_comment, SLURM_NOTE, sizeof(SLURM_NOTE) - 1) == 0;
    old->only_requires = slurm_record_only_requires(job);
    note_busy(old, job);
    if (old->member == 0 && job->array_job_id != 0 && job->array_task_id != NO_VAL) {
        old->member = member_key(job->array_job_id, job->array_task_id);
        map_put(&watch->member_index, old->member, (uint32_t)(old - watch->jobs));
    }
}

const struct slurm_watched_job *slurm_watch_job_on(const struct slurm_watch *watch,
                                                   const char *node, uint32_t *at)
{
    while (*at < watch->jobs_count) {
        const struct slurm_watched_job *job = &watch->jobs[(*at)++];
        slurm_hosts_t list = job->busy == NULL ? NULL : slurm_hostlist_create(job->busy);

        if (list == NULL)
            continue;
        const bool is_there = slurm_hostlist_find(list, node) >= 0;

        slurm_hostlist_destroy(list);
        if (is_there)
            return job;
    }
    return NULL;
}

/* Those that the last look did not see are gone. */
static void drop_jobs(struct slurm_watch *watch, struct line_text *out)
{
    for (uint32_t i = 0; i < watch->jobs_count;) {
        struct slurm_watched_job *job = &watch->jobs[i];

        if (job->look == watch->look) {
            i++;
            continue;
        }
        if (!job->is_part) {
            line_text_begin(out, "job-gone");
            line_text_number(out, "job", job->id);
            line_text_end(out);
        }
        (void)map_remove(&watch->job_index, job->id);
        if (job->member != 0)
            (void)map_remove(&watch->member_index, job->member);
        mem_free(job->busy);
        *job = watch->jobs[--watch->jobs_count];
        if (i < watch->jobs_count) {
            map_put(&watch->job_index, job->id, i);
            if (job->member != 0)
                map_put(&watch->member_index, job->member, i);
        }
    }
}

/* What ended makes room for what started, so it is reported first. */
static void look_at_phase(struct slurm_watch *watch, const job_info_msg_t *all,
                          enum slurm_phase phase, bool is_full, struct line_text *out)
{
    for (uint32_t i = 0; i < all->record_count; i++) {
        const slurm_job_info_t *job = &all->job_array[i];

        if (slurm_record_phase(job) != phase || !slurm_filter_is_ours(watch->filter, job))
            continue;
        gather_parts(watch, all, job);
        look_at_job(watch, job, is_full, out);
    }
}

static uint64_t mix(uint64_t hash, const char *name)
{
    return (hash ^ slurm_fields_hash(name == NULL ? "" : name, name == NULL ? 0 : strlen(name))) *
           0x9e3779b97f4a7c15U;
}

/* Those that "scontrol top" compares: of one user, account, partition and QOS. */
static uint64_t set_of(const slurm_job_info_t *job)
{
    return mix(mix(mix(job->user_id + 1, job->account), job->partition), job->qos);
}

/* One that this stint-slurm sees for the first time may be known to an earlier one. */
static void meet(const struct slurm_watch *watch, struct slurm_raise_row *row)
{
    if (row->seen == 0 && !slurm_raised_recall(&watch->raised, row))
        row->seen = watch->look;
}

/* Keep what users have raised, in the queue that was just ranked. What cannot be written is tried again with the next look. */
static void keep_raised(struct slurm_watch *watch, uint32_t count, struct line_text *out)
{
    struct error error = { "" };

    if (watch->raised_path == NULL || !watch->is_raised_new)
        return;
    watch->is_raised_new =
        slurm_raised_save(watch->raised_path, watch->queue, count, watch->look, &error) < 0;
    if (watch->is_raised_new && !watch->is_raised_told) {
        line_text_begin(out, "error");
        line_text_prose(out, "text", error.text);
        line_text_end(out);
    }
    watch->is_raised_told = watch->is_raised_new;
}

/* Rank what waits: each job by itself, then those of one user among themselves. */
static void rank_queue(struct slurm_watch *watch, const job_info_msg_t *all, struct line_text *out)
{
    uint32_t count = 0;

    MEM_ROOM(watch->queue, watch->queue_room, all->record_count);
    for (uint32_t i = 0; i < all->record_count; i++) {
        const slurm_job_info_t *job = &all->job_array[i];

        if (slurm_record_phase(job) != SLURM_WAITING || slurm_record_is_part(job) ||
            !slurm_filter_is_ours(watch->filter, job))
            continue;
        const struct slurm_watched_job *old = watched_job(watch, job);

        watch->queue[count++] = (struct slurm_raise_row){
            .set = set_of(job),
            .submitted = job->submit_time,
            .id = job->job_id,
            .run = job->restart_cnt,
            .rank = slurm_rank(job, &watch->rank_rules, slurm_record_begin(job), watch->jobs_time),
            .nice = job->nice,
            .old_nice = old->nice,
            .seen = old->seen,
            .raised = old->raised,
            .tag = (uint32_t)(old - watch->jobs),
        };
        meet(watch, &watch->queue[count - 1]);
    }
    slurm_raised_done(&watch->raised);
    watch->is_raised_new |= slurm_raise(watch->queue, count, watch->look);
    for (uint32_t i = 0; i < count; i++) {
        struct slurm_watched_job *job = &watch->jobs[watch->queue[i].tag];

        job->next_rank = watch->queue[i].rank;
        job->nice = watch->queue[i].nice;
        job->seen = watch->queue[i].seen;
        job->raised = watch->queue[i].raised;
    }
    keep_raised(watch, count, out);
}

/* What runs, whoever's it is, takes its share of the quotas; these are reported before the jobs. */
static void look_at_quotas(struct slurm_watch *watch, const job_info_msg_t *all, bool is_full,
                           struct line_text *out)
{
    slurm_rules_begin_count(watch->rules);
    for (uint32_t i = 0; i < all->record_count; i++) {
        const enum slurm_phase phase = slurm_record_phase(&all->job_array[i]);

        if (phase != SLURM_ENDED)
            slurm_rules_count(watch->rules, &all->job_array[i], phase == SLURM_RUNNING);
    }
    slurm_rules_tell(watch->rules, is_full, out);
}

static void index_parts(struct slurm_watch *watch, const job_info_msg_t *all)
{
    if (watch->part_index.count > 0) {
        map_done(&watch->part_index);
        map_init(&watch->part_index);
    }
    for (uint32_t i = 0; i < all->record_count; i++) {
        const slurm_job_info_t *job = &all->job_array[i];

        if (slurm_record_is_part(job))
            map_put(&watch->part_index, member_key(job->het_job_id, job->het_job_offset), i);
    }
}

static uint32_t count_told(const struct slurm_watch *watch)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < watch->jobs_count; i++)
        count += !watch->jobs[i].is_part;
    return count;
}

static void forget_touches(struct slurm_watch *watch)
{
    if (watch->touched.count == 0)
        return;
    map_done(&watch->touched);
    map_init(&watch->touched);
}

int slurm_watch_jobs(struct slurm_watch *watch, bool is_full, struct line_text *out,
                     uint32_t *ret_count)
{
    job_info_msg_t *all = NULL;

    if (slurm_load_jobs(is_full ? 0 : watch->jobs_update, &all, SHOW_ALL | SHOW_DETAIL) != 0)
        return errno == SLURM_NO_CHANGE_IN_DATA ? 0 : errno;
    watch->jobs_update = all->last_update;
    watch->jobs_time = all->last_update;
    note_skew(watch);
    watch->look++;
    forget_touches(watch);
    index_parts(watch, all);
    look_at_quotas(watch, all, is_full, out);
    rank_queue(watch, all, out);
    look_at_phase(watch, all, SLURM_ENDED, is_full, out);
    look_at_phase(watch, all, SLURM_WAITING, is_full, out);
    look_at_phase(watch, all, SLURM_RUNNING, is_full, out);
    drop_jobs(watch, out);
    slurm_record_free_jobs(all);
    if (ret_count != NULL)
        *ret_count = count_told(watch);
    return 0;
}

static struct slurm_watched_node *watched_node(struct slurm_watch *watch, const char *name)
{
    const uint64_t id = slurm_fields_hash(name, strlen(name));
    uint32_t index = map_get(&watch->node_index, id);

    if (index == MAP_NONE) {
        index = watch->nodes_count++;
        MEM_ROOM(watch->nodes, watch->nodes_room, watch->nodes_count);
        watch->nodes[index] = (struct slurm_watched_node){ .id = id, .name = copy(name) };
        map_put(&watch->node_index, id, index);
    }
    return &watch->nodes[index];
}

static void drop_nodes(struct slurm_watch *watch, struct line_text *out)
{
    for (uint32_t i = 0; i < watch->nodes_count;) {
        struct slurm_watched_node *node = &watch->nodes[i];

        if (node->look == watch->look) {
            i++;
            continue;
        }
        line_text_begin(out, "node-gone");
        line_text_string(out, "name", node->name);
        line_text_end(out);
        mem_free(node->name);
        (void)map_remove(&watch->node_index, node->id);
        *node = watch->nodes[--watch->nodes_count];
        if (i < watch->nodes_count)
            map_put(&watch->node_index, node->id, i);
    }
}

int slurm_watch_nodes(struct slurm_watch *watch, bool is_full, struct line_text *out,
                      uint32_t *ret_count)
{
    node_info_msg_t *all = NULL;

    if (slurm_load_node(is_full ? 0 : watch->nodes_update, &all, SHOW_ALL) != 0)
        return errno == SLURM_NO_CHANGE_IN_DATA ? 0 : errno;
    watch->nodes_update = all->last_update;
    watch->look++;
    for (uint32_t i = 0; i < all->record_count; i++) {
        const node_info_t *info = &all->node_array[i];

        if (!slurm_record_is_node(info))
            continue;
        struct slurm_watched_node *node = watched_node(watch, info->name);
        const uint32_t size = out->size;
        const uint64_t hash = slurm_record_node(info, out);

        if (hash == node->hash && !is_full)
            out->size = size;
        node->hash = hash;
        node->look = watch->look;
    }
    drop_nodes(watch, out);
    slurm_free_node_info_msg(all);
    if (ret_count != NULL)
        *ret_count = watch->nodes_count;
    return 0;
}
