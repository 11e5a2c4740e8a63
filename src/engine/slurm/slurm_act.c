/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_act.c - see slurm_act.h.
 *
 * Before a job is touched it is looked at, so that a late request does no harm: setting the
 * required nodes of a job that runs would be taken by Slurm as a wish to shrink it. A task that was
 * not split off its array yet ("12_3") is only looked at if the request names a run, for that look
 * costs O(tasks of the array) and such a task can only wait. What the watch saw waiting behind the
 * gate, held by nobody else, need not be looked at again: only we open the gate.
 */
#include "engine/slurm/slurm_act.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/slurm/slurm_protocol.h"
#include "engine/slurm/slurm_rank.h"
#include "engine/slurm/slurm_record.h"
#include "engine/slurm/slurm_release.h"

enum { RELEASE_THREADS = 4, STOPPED_S = 2, YOUNG_S = 3, PARTITION_TRIES = 30 };

static int refuse(int code, struct error *reterr)
{
    if (code == 0)
        return 0;
    (void)error_set(reterr, -EIO, "%s", slurm_strerror(code));
    return code;
}

#define REFUSE_OURS(reterr, ...) (error_set(reterr, SLURM_ACT_OURS, __VA_ARGS__))

bool slurm_act_is_unsure(int code)
{
    switch (code) {
    case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURM_COMMUNICATIONS_SEND_ERROR:
    case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURM_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
    case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
    case SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT:
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_IN_STANDBY_USE_BACKUP:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
        return true;
    default:
        return slurm_release_is_unsure(code);
    }
}

/* The ids of "12" or "12_3"; a task of NO_VAL: there is none. */
struct job_ref {
    uint32_t id;
    uint32_t task;
};

static struct job_ref job_ref_of(const char *job)
{
    struct job_ref ref = { .task = NO_VAL };
    char *end = NULL;

    ref.id = (uint32_t)strtoul(job, &end, 10);
    if (*end == '_' && end[1] != '[')
        ref.task = (uint32_t)strtoul(end + 1, NULL, 10);
    return ref;
}

/* The record of 'ref' among those that Slurm gave; that of the whole array if it is not split. */
static const slurm_job_info_t *pick(const job_info_msg_t *all, struct job_ref ref)
{
    const slurm_job_info_t *whole = NULL;

    for (uint32_t i = 0; i < all->record_count; i++) {
        const slurm_job_info_t *job = &all->job_array[i];

        if (ref.task == NO_VAL ? job->job_id == ref.id : job->array_task_id == ref.task)
            return job;
        if (ref.task != NO_VAL && job->array_task_id == NO_VAL)
            whole = job;
    }
    return whole;
}

struct look {
    job_info_msg_t *all;         /* NULL: it was not looked at */
    const slurm_job_info_t *job; /* in 'all' */
};

static void look_done(struct look *look)
{
    slurm_record_free_jobs(look->all);
    look->all = NULL;
}

static int check_look(const struct slurm_watch *watch, const struct look *look, const char *job,
                      uint32_t run, struct error *reterr)
{
    if (look->job == NULL)
        return refuse(ESLURM_INVALID_JOB_ID, reterr);
    if (!slurm_filter_is_ours(watch->filter, look->job))
        return REFUSE_OURS(reterr, "job %s is not to be touched", job);
    if (run != SLURM_RUN_ANY && run != look->job->restart_cnt)
        return REFUSE_OURS(reterr, "job %s is in run %u, not %u", job, look->job->restart_cnt, run);
    return 0;
}

/* Whether what the last look saw tells enough: it waits behind the gate, which only we open. */
static bool is_calm(const struct slurm_watch *watch, const char *job, struct job_ref ref,
                    uint32_t run)
{
    const struct slurm_watched_job *seen = slurm_watch_find(watch, job, ref.id, ref.task);

    return seen != NULL && seen->phase == SLURM_WAITING && seen->is_gated &&
           (run == SLURM_RUN_ANY || run == seen->run);
}

/* See the head of this file. On failure there is nothing to release. */
static int take_look(const struct slurm_watch *watch, const char *job, uint32_t run,
                     struct look *ret, struct error *reterr)
{
    const struct job_ref ref = job_ref_of(job);
    const bool is_task = strchr(job, '_') != NULL;
    const bool is_ours = !slurm_filter_has_rules(watch->filter) || slurm_watch_knows(watch, ref.id);
    struct look look = { .all = NULL };

    if ((is_task && run == SLURM_RUN_ANY && is_ours) || is_calm(watch, job, ref, run)) {
        *ret = look;
        return 0;
    }
    if (slurm_release_load_job(&look.all, ref.id, SHOW_ALL | SHOW_DETAIL) != 0)
        return refuse(errno, reterr);
    look.job = pick(look.all, ref);

    const int code = check_look(watch, &look, job, run, reterr);

    if (code != 0)
        look_done(&look);
    else
        *ret = look;
    return code;
}

/* The first error of a request to several tasks, which came back as one answer. */
static int take_answers(int code, job_array_resp_msg_t *answers, struct error *reterr)
{
    if (code == SLURM_ERROR)
        code = errno;
    for (uint32_t i = 0; code == 0 && answers != NULL && i < answers->job_array_count; i++)
        code = (int)answers->error_code[i];
    if (answers != NULL)
        slurm_free_job_array_resp(answers);
    return refuse(code, reterr);
}

/* libslurm's structs have pointers to char where it only reads. */
static char *unconst(const char *text)
{
    union {
        const char *in;
        char *out;
    } pun = { .in = text };

    return pun.out;
}

static int update_once(job_desc_msg_t *wish, struct error *reterr)
{
    job_array_resp_msg_t *answers = NULL;
    const int code = slurm_update_job2(wish, &answers);

    return take_answers(code, answers, reterr);
}

/* Without slurmdbd, slurmctld 24.11 and 26.05 answer a change of the partition with whatever error its thread had
 * last, mostly this one, and do nothing. Another thread may do it. */
static int update(job_desc_msg_t *wish, const char *job, struct error *reterr)
{
    const struct timespec pause = { .tv_nsec = 100000000 };

    wish->job_id_str = unconst(job);
    int code = update_once(wish, reterr);

    for (int i = 0; code == EAGAIN && wish->partition != NULL && i < PARTITION_TRIES; i++) {
        (void)nanosleep(&pause, NULL);
        code = update_once(wish, reterr);
    }
    return code;
}

static bool is_same_nodes(const char *one, const char *other)
{
    slurm_hosts_t a = slurm_hostlist_create(one);
    slurm_hosts_t b = slurm_hostlist_create(other);
    bool is_same = a != NULL && b != NULL && slurm_hostlist_count(a) == slurm_hostlist_count(b);
    char *name = NULL;

    while (is_same && (name = slurm_hostlist_shift(a)) != NULL) {
        is_same = slurm_hostlist_find(b, name) >= 0;
        free(name);
    }
    if (a != NULL)
        slurm_hostlist_destroy(a);
    if (b != NULL)
        slurm_hostlist_destroy(b);
    return is_same;
}

/* Whether the job runs on these nodes; of a heterogeneous one, its first component on the first of them. */
static bool runs_on(const slurm_job_info_t *job, const char *nodes)
{
    const size_t length = strcspn(nodes, ";");
    char *first = mem_alloc(length + 1, 1);

    memcpy(first, nodes, length);
    const bool is_there = is_same_nodes(job->nodes, first);

    mem_free(first);
    return is_there;
}

/* Whether the job can be placed: 1 yes, 0 it already is, or an error. */
static int can_place(const slurm_job_info_t *job, const char *nodes, struct error *reterr)
{
    switch (slurm_record_phase(job)) {
    case SLURM_WAITING:
        if ((job->job_state & JOB_COMPLETING) != 0)
            return REFUSE_OURS(reterr, "job %u is being cleared away", job->job_id);
        if (slurm_record_is_held(job))
            return REFUSE_OURS(reterr, "job %u is held", job->job_id);
        return 1;
    case SLURM_RUNNING:
        if (runs_on(job, nodes))
            return 0;
        return REFUSE_OURS(reterr, "job %u already runs on %s", job->job_id, job->nodes);
    case SLURM_ENDED:
        break;
    }
    return REFUSE_OURS(reterr, "job %u has ended", job->job_id);
}

static atomic_long clock_skew_s;

void slurm_act_set_clock(time_t skew_s)
{
    atomic_store(&clock_skew_s, (long)skew_s);
}

static atomic_bool starts_at_once;

void slurm_act_set_release(uint32_t release)
{
    atomic_store(&starts_at_once, !slurm_release_revokes_late(release));
}

/* By slurmctld's clock, for it is slurmctld that compares. */
static time_t now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    return at.tv_sec + (time_t)atomic_load(&clock_skew_s);
}

/* When a job that is set free now may begin. */
static time_t begin_of(const struct slurm_watch *watch, const char *job, bool was_stopped)
{
    const struct job_ref ref = job_ref_of(job);
    const time_t quiet_until = slurm_watch_quiet_until(watch, ref.id, ref.task);
    const time_t begin = now() + (was_stopped && !atomic_load(&starts_at_once) ? STOPPED_S : 0);

    return quiet_until > begin ? quiet_until : begin;
}

/*
 * 'nodes' of NULL are left as they are. Who calls knows that no person holds it: the gate's hold is
 * taken back here. Safe in any thread.
 *
 * One that has its own priority already keeps it: computed again, it would lose what an administrator or "scontrol top"
 * has set.
 *
 * A slurmd that has stopped a job refuses it ("credential revoked") within the same second, and
 * slurmctld, up to 25.05, then ends the job permanently. So one that was stopped begins a little later: see begin_of.
 */
static int set_free(const char *job, time_t begin, const char *nodes, const char *partition,
                    const char *comment, bool keeps_priority, struct error *reterr)
{
    job_desc_msg_t wish;

    slurm_init_job_desc_msg(&wish);
    wish.admin_comment = unconst(comment);
    wish.req_nodes = unconst(nodes);
    wish.partition = unconst(partition);
    wish.begin_time = begin;
    if (!keeps_priority)
        wish.priority = INFINITE;
    return update(&wish, job, reterr);
}

/*
 * A job with nodes goes before all others: those that may start anywhere would else take the machine
 * that was rented for it. Nobody else waits for that: Slurm then keeps these nodes free, and no more.
 * Unless fewer nodes are free than it needs: then it starts nothing more of the partition (min_nodes in schedule() of
 * slurmctld's job_scheduler.c), not even what was placed on nodes that are idle. So who needs fewer nodes goes first: what comes
 * after one that needs too many needs at least as many.
 * In a request of its own, as Slurm gives a priority only to a job that is not held.
 */
static void set_first(const char *job, const char *nodes)
{
    job_desc_msg_t wish;

    slurm_init_job_desc_msg(&wish);
    wish.priority = slurm_rank_placed(nodes);
    (void)update(&wish, job, NULL); /* it may run by now */
}

/* Each component of a heterogeneous job ("12+0", "12+1") requires its own nodes; then the gate of all is opened at once
 * ("12"). What went before is harmless if a later one is refused: the gate is closed. */
static int set_parts(const char *job, const struct slurm_request *request, struct error *reterr)
{
    char name[SLURM_JOB_ID_SIZE + 16];
    const char *nodes = request->nodes;
    int code = 0;

    for (uint32_t part = 0; *nodes != '\0' && code == 0; part++) {
        const size_t length = strcspn(nodes, ";");
        char *own = mem_alloc(length + 1, 1);
        job_desc_msg_t wish;

        memcpy(own, nodes, length);
        (void)snprintf(name, sizeof(name), "%s+%u", job, part);
        slurm_init_job_desc_msg(&wish);
        wish.req_nodes = own;
        wish.partition = unconst(request->partition);
        wish.admin_comment = unconst(request->text);
        code = update(&wish, name, reterr);
        mem_free(own);
        nodes += length + (nodes[length] == ';');
    }
    return code;
}

static int set_gated(struct slurm_watch *watch, const char *job, struct error *reterr)
{
    job_desc_msg_t wish;

    slurm_init_job_desc_msg(&wish);
    wish.begin_time = now() + SLURM_GATE_S;
    wish.priority = INFINITE;     /* of a held job Slurm does not watch the dependencies */
    wish.req_nodes = unconst(""); /* they may go */
    slurm_watch_touch(watch, job);
    return update(&wish, job, reterr);
}

int slurm_act_place(struct slurm_watch *watch, const struct slurm_request *request,
                    struct error *reterr)
{
    struct look look = { .all = NULL };
    int code = take_look(watch, request->job, request->run, &look, reterr);

    if (code != 0)
        return code;
    const int verdict = look.job == NULL ? 1 : can_place(look.job, request->nodes, reterr);

    look_done(&look);
    if (verdict != 1)
        return verdict;
    const time_t begin =
        begin_of(watch, request->job, request->run != 0 && request->run != SLURM_RUN_ANY);
    const bool has_parts = strchr(request->nodes, ';') != NULL;

    slurm_watch_touch(watch, request->job);
    if (has_parts)
        code = set_parts(request->job, request, reterr);
    if (code == 0)
        code = set_free(request->job, begin, has_parts ? NULL : request->nodes,
                        has_parts ? NULL : request->partition, has_parts ? NULL : request->text,
                        false, reterr);
    if (code == 0)
        set_first(request->job, request->nodes);
    return code;
}

/* Whether the job may be touched at all. */
static int permit(const struct slurm_watch *watch, const char *job, uint32_t run,
                  struct error *reterr)
{
    struct look look = { .all = NULL };
    const int code = take_look(watch, job, run, &look, reterr);

    look_done(&look);
    return code;
}

/* Whether it waits, so that its gate can be opened or closed. */
static int check_waiting(const struct slurm_watch *watch, const char *job, struct error *reterr)
{
    struct look look = { .all = NULL };
    const int code = take_look(watch, job, SLURM_RUN_ANY, &look, reterr);

    if (code != 0)
        return code;
    const bool is_waiting = look.job == NULL || slurm_record_phase(look.job) == SLURM_WAITING;
    const bool is_held = look.job != NULL && slurm_record_is_held(look.job);

    look_done(&look);
    if (is_held)
        return REFUSE_OURS(reterr, "job %s is held", job);
    return is_waiting ? 0 : refuse(ESLURM_JOB_NOT_PENDING, reterr);
}

/* Everything about a release that needs the watch; the call itself is made elsewhere. */
static void prepare_release(struct slurm_watch *watch, struct slurm_act_item *item)
{
    const struct job_ref ref = job_ref_of(item->job);
    const struct slurm_watched_job *seen = slurm_watch_find(watch, item->job, ref.id, ref.task);

    item->nodes = seen == NULL || seen->has_nodes ? "" : NULL;
    item->keeps_priority = seen != NULL && seen->rank != 0;
    item->has_note = seen != NULL && seen->has_note;
    item->begin = begin_of(watch, item->job, seen != NULL && seen->run > 0);
    item->code = check_waiting(watch, item->job, &item->error);
    if (item->code == 0)
        slurm_watch_touch(watch, item->job);
}

/* Whether it waits behind the gate and is held there by nobody but the gate. */
static int check_gated(const struct slurm_watch *watch, const char *job, struct error *reterr)
{
    struct look look = { .all = NULL };
    const int code = take_look(watch, job, SLURM_RUN_ANY, &look, reterr);

    if (code != 0)
        return code;
    const bool is_ours =
        look.job == NULL || (slurm_record_is_gated(look.job) && !slurm_record_is_held(look.job));

    look_done(&look);
    return is_ours ? 0 : REFUSE_OURS(reterr, "job %s does not wait behind the gate", job);
}

/* What the threads of one release share. */
struct release_work {
    struct slurm_act_item *items;
    uint32_t count;
    const char *partition;
    int (*act)(const struct release_work *work, struct slurm_act_item *item);
    atomic_uint next;
    atomic_int lost; /* the code that says that slurmctld is gone, or 0 */
};

static int release_one(const struct release_work *work, struct slurm_act_item *item)
{
    return set_free(item->job, item->begin, item->nodes, work->partition,
                    item->has_note ? "" : NULL, item->keeps_priority, &item->error);
}

/* The hold alone: when it may begin stays as it is. */
static int unhold_one(const struct release_work *work, struct slurm_act_item *item)
{
    job_desc_msg_t wish;

    (void)work;
    slurm_init_job_desc_msg(&wish);
    wish.priority = INFINITE;
    return update(&wish, item->job, &item->error);
}

static void *release_some(void *context)
{
    struct release_work *work = context;

    for (;;) {
        const uint32_t i = atomic_fetch_add(&work->next, 1);

        if (i >= work->count)
            return NULL;
        struct slurm_act_item *item = &work->items[i];
        const int lost = atomic_load(&work->lost);

        if (lost != 0 && item->code == 0)
            item->code = refuse(lost, &item->error);
        if (item->code != 0)
            continue;
        item->code = work->act(work, item);
        if (slurm_act_is_unsure(item->code))
            atomic_store(&work->lost, item->code);
    }
}

static void run_work(struct release_work *work)
{
    pthread_t threads[RELEASE_THREADS];
    uint32_t started = 0;

    for (uint32_t i = 0; i < work->count; i++) {
        if (slurm_act_is_unsure(work->items[i].code))
            atomic_store(&work->lost, work->items[i].code);
    }
    while (started < RELEASE_THREADS - 1 && started + 1 < work->count &&
           pthread_create(&threads[started], NULL, release_some, work) == 0)
        started++;
    (void)release_some(work);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

void slurm_act_release(struct slurm_watch *watch, struct slurm_act_item *items, uint32_t count,
                       const char *partition)
{
    struct release_work work = {
        .items = items, .count = count, .partition = partition, .act = release_one
    };

    for (uint32_t i = 0; i < count; i++)
        prepare_release(watch, &items[i]);
    run_work(&work);
}

void slurm_act_unhold(struct slurm_watch *watch, struct slurm_act_item *items, uint32_t count)
{
    struct release_work work = { .items = items, .count = count, .act = unhold_one };

    for (uint32_t i = 0; i < count; i++)
        items[i].code = check_gated(watch, items[i].job, &items[i].error);
    run_work(&work);
}

void slurm_act_hold(struct slurm_watch *watch, struct slurm_act_item *items, uint32_t count)
{
    int lost = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct slurm_act_item *item = &items[i];

        item->code =
            lost != 0 ? refuse(lost, &item->error) : check_waiting(watch, item->job, &item->error);
        if (item->code == 0)
            item->code = set_gated(watch, item->job, &item->error);
        if (slurm_act_is_unsure(item->code))
            lost = item->code;
    }
}

/* What it does now, if it cannot be cancelled. */
static int check_cancel(const struct look *look, struct error *reterr)
{
    if (look->job == NULL || slurm_record_phase(look->job) == SLURM_WAITING)
        return 0;
    if (slurm_record_phase(look->job) == SLURM_RUNNING)
        return REFUSE_OURS(reterr, "job %u already runs on %s", look->job->job_id,
                           look->job->nodes);
    return REFUSE_OURS(reterr, "job %u has ended", look->job->job_id);
}

/* slurmctld itself refuses to change the begin time of a job that runs, so a start between the look and
 * the update is not lost. */
int slurm_act_cancel(struct slurm_watch *watch, const struct slurm_request *request,
                     struct error *reterr)
{
    struct look look = { .all = NULL };
    int code = take_look(watch, request->job, request->run, &look, reterr);

    if (code != 0)
        return code;
    code = check_cancel(&look, reterr);
    look_done(&look);
    return code != 0 ? code : set_gated(watch, request->job, reterr);
}

static bool begins_with_note(const char *comment,
                             int (*compare)(const char *, const char *, size_t))
{
    return compare(comment, SLURM_NOTE, sizeof(SLURM_NOTE) - 1) == 0;
}

static int look_at_comment(const struct slurm_watch *watch, const struct slurm_request *request,
                           struct look *ret, struct error *reterr)
{
    const struct job_ref ref = job_ref_of(request->job);
    struct look look = { .all = NULL };

    if (slurm_release_load_job(&look.all, ref.id, SHOW_ALL | SHOW_DETAIL) != 0)
        return refuse(errno, reterr);
    look.job = pick(look.all, ref);
    const int code = check_look(watch, &look, request->job, SLURM_RUN_ANY, reterr);

    if (code != 0)
        look_done(&look);
    else
        *ret = look;
    return code;
}

/* Whether somebody else wrote its comment: that is left alone. */
static bool has_comment_of_site(const slurm_job_info_t *job)
{
    const char *comment = job->admin_comment == NULL ? "" : job->admin_comment;

    return *comment != '\0' && !begins_with_note(comment, strncasecmp);
}

static int refuse_comment(const slurm_job_info_t *job, struct error *reterr)
{
    return REFUSE_OURS(reterr, "the admin comment of job %u is the site's", job->job_id);
}

/* The hold counts, whoever's the comment is. */
int slurm_act_give_up(struct slurm_watch *watch, const struct slurm_request *request,
                      struct error *reterr)
{
    job_desc_msg_t wish;
    struct look look = { .all = NULL };
    const int code = look_at_comment(watch, request, &look, reterr);

    if (code != 0 || look.job == NULL)
        return code;
    const bool is_waiting = slurm_record_phase(look.job) == SLURM_WAITING;
    const bool is_held = slurm_record_is_held(look.job);
    const bool is_of_site = has_comment_of_site(look.job);

    look_done(&look);
    if (is_held)
        return REFUSE_OURS(reterr, "job %s is held", request->job);
    if (!is_waiting)
        return refuse(ESLURM_JOB_NOT_PENDING, reterr);
    slurm_init_job_desc_msg(&wish);
    wish.begin_time = now() + 2 * SLURM_GATE_S; /* as the gate marks a hold of the user's */
    wish.priority = 0;
    wish.alloc_sid = ALLOC_SID_USER_HOLD;
    wish.req_nodes = unconst("");
    if (!is_of_site)
        wish.admin_comment = unconst(request->text);
    slurm_watch_touch(watch, request->job);
    return update(&wish, request->job, reterr);
}

int slurm_act_signal(struct slurm_watch *watch, const struct slurm_request *request,
                     bool *ret_waits, struct error *reterr)
{
    struct look look = { .all = NULL };
    const int code = take_look(watch, request->job, request->run, &look, reterr);

    if (code != 0)
        return code;
    const enum slurm_phase phase = look.job == NULL ? SLURM_WAITING : slurm_record_phase(look.job);
    const bool is_young = look.job != NULL && now() - look.job->start_time < YOUNG_S;

    look_done(&look);
    *ret_waits = phase == SLURM_WAITING;
    if (phase == SLURM_WAITING)
        return set_gated(watch, request->job, reterr);
    if (phase != SLURM_RUNNING)
        return refuse(ESLURM_JOB_NOT_RUNNING, reterr);
    /* A script that has just begun has nothing to save, and has not set its trap yet: the signal would end the job. */
    if (request->signal == 0 || is_young)
        return 0;
    const uint16_t flags = request->is_for_all ? KILL_FULL_JOB : KILL_JOB_BATCH;

    if (slurm_kill_job2(request->job, request->signal, flags, NULL) != 0)
        return refuse(errno, reterr);
    return 0;
}

/*
 * Slurm lets a requeued job wait for two minutes, but only if its nodes tell that it was cleared away. If
 * one is set down first, it would start again at once, where it was stopped: so its gate is closed here.
 * What it requires stays until it is cleared away, as that alone tells where it was.
 */
int slurm_act_requeue(struct slurm_watch *watch, const char *job, uint32_t run,
                      struct error *reterr)
{
    const int allowed = permit(watch, job, run, reterr); /* the grace may have been long */

    if (allowed != 0)
        return allowed;
    job_array_resp_msg_t *answers = NULL;
    const int sent = slurm_requeue2(unconst(job), JOB_RUNNING, &answers);
    const int code = take_answers(sent, answers, reterr);
    job_desc_msg_t wish;

    if (code != 0)
        return code;
    slurm_init_job_desc_msg(&wish);
    wish.begin_time = now() + SLURM_GATE_S;
    slurm_watch_touch(watch, job);
    (void)update(&wish, job, NULL); /* it may have ended by itself meanwhile */
    return 0;
}

/* "12", "12_3" or "12_[3-9]": the record alone, never tasks of its array that were split off it. To be
 * freed. */
static char *record_name(const slurm_job_info_t *job)
{
    const bool is_whole = job->array_job_id != 0 && job->array_task_str != NULL;
    const char *tasks = is_whole ? job->array_task_str : "";
    const size_t size = 64 + strlen(tasks);
    char *name = mem_alloc(size, 1);

    if (job->array_job_id != 0 && job->array_task_id != NO_VAL)
        (void)snprintf(name, size, "%u_%u", job->array_job_id, job->array_task_id);
    else if (is_whole)
        (void)snprintf(name, size, "%u_[%.*s]", job->array_job_id, (int)strcspn(tasks, "%"), tasks);
    else
        (void)snprintf(name, size, "%u", job->job_id);
    return name;
}

/* The same, but of a heterogeneous job, "12+1": the component alone. */
static char *component_name(const slurm_job_info_t *job)
{
    enum { NAME_SIZE = 32 };

    if (job->het_job_id == 0)
        return record_name(job);
    char *name = mem_alloc(NAME_SIZE, 1);

    (void)snprintf(name, NAME_SIZE, "%u+%u", job->het_job_id, job->het_job_offset);
    return name;
}

void slurm_act_loosen(struct slurm_watch *watch, uint32_t job_id)
{
    job_info_msg_t *all = NULL;
    job_desc_msg_t wish;

    if (slurm_release_load_job(&all, job_id, SHOW_ALL | SHOW_DETAIL) != 0)
        return;
    const slurm_job_info_t *job = pick(all, (struct job_ref){ .id = job_id, .task = NO_VAL });

    if (job != NULL && slurm_record_only_requires(job)) {
        char *name = component_name(job);

        slurm_init_job_desc_msg(&wish);
        wish.req_nodes = unconst("");
        slurm_watch_touch(watch, name);
        (void)update(&wish, name, NULL);
        mem_free(name);
    }
    slurm_record_free_jobs(all);
}

int slurm_act_comment(const struct slurm_watch *watch, const struct slurm_request *request,
                      struct error *reterr)
{
    job_desc_msg_t wish;
    struct look look = { .all = NULL };
    int code = look_at_comment(watch, request, &look, reterr);

    if (look.job != NULL && !request->is_for_user && has_comment_of_site(look.job))
        code = refuse_comment(look.job, reterr);
    look_done(&look);
    if (code != 0)
        return code;
    slurm_init_job_desc_msg(&wish);
    if (request->is_for_user)
        wish.comment = unconst(request->text);
    else
        wish.admin_comment = unconst(request->text);
    const int answer = update(&wish, request->job, reterr);

    if (answer == ESLURM_ALREADY_DONE || answer == ESLURM_JOB_FINISHED)
        (void)error_set(reterr, -EIO, "the job has ended, and there is no accounting to write to");
    return answer;
}

/* Whether the comment may become 'text' ("": none): 0, 1 if there is nothing to do, or a refusal. */
static int check_explain(const slurm_job_info_t *job, const char *text, struct error *reterr)
{
    const char *comment = job->admin_comment == NULL ? "" : job->admin_comment;

    if (strcmp(comment, text) == 0)
        return 1;
    if (has_comment_of_site(job))
        return refuse_comment(job, reterr);
    if (*text == '\0')
        return begins_with_note(comment, strncmp) ? 0 : 1;
    if (slurm_record_phase(job) != SLURM_WAITING || slurm_record_is_held(job))
        return REFUSE_OURS(reterr, "job %u does not wait, or is held", job->job_id);
    return 0;
}

/* slurmctld 22.05 sets the comment of a job that no node of the moment could run, and answers with an error for that:
 * so what became of it is read, not believed. */
static int verify_comment(const struct slurm_watch *watch, const struct slurm_request *request,
                          const char *text, int code)
{
    struct look look = { .all = NULL };

    if (slurm_act_is_unsure(code) || look_at_comment(watch, request, &look, NULL) != 0 ||
        look.job == NULL)
        return code;
    const char *comment = look.job->admin_comment == NULL ? "" : look.job->admin_comment;
    const bool is_set = strcmp(comment, text) == 0;

    look_done(&look);
    return is_set ? 0 : code;
}

int slurm_act_explain(const struct slurm_watch *watch, const struct slurm_request *request,
                      struct error *reterr)
{
    const char *text = request->text == NULL ? "" : request->text;
    struct look look = { .all = NULL };
    job_desc_msg_t wish;
    int code = look_at_comment(watch, request, &look, reterr);

    if (code != 0 || look.job == NULL)
        return code;
    code = check_explain(look.job, text, reterr);
    char *name = code == 0 ? record_name(look.job) : NULL;

    look_done(&look);
    if (code != 0)
        return code == 1 ? 0 : code;
    slurm_init_job_desc_msg(&wish);
    wish.admin_comment = unconst(text);
    code = update(&wish, name, reterr);
    mem_free(name);
    return code == 0 ? 0 : verify_comment(watch, request, text, code);
}

static uint32_t node_state_of(enum slurm_verb verb)
{
    if (verb == SLURM_DOWN)
        return NODE_STATE_DOWN;
    return verb == SLURM_DRAIN ? NODE_STATE_DRAIN : NODE_RESUME;
}

int slurm_act_node(const struct slurm_request *request, struct error *reterr)
{
    update_node_msg_t wish;
    int code;

    slurm_init_update_node_msg(&wish);
    wish.node_names = unconst(request->nodes);
    if (request->verb == SLURM_DELETE) {
        code = slurm_delete_node(&wish);
    } else {
        if (request->verb == SLURM_DOWN) {
            /* With ReturnToService=2 a word of its slurmd brings a node up that is only down. */
            wish.node_state = NODE_STATE_DRAIN;
            wish.reason = unconst(request->text == NULL ? "stint" : request->text);
            slurm_release_sign(&wish);
            (void)slurm_update_node(&wish);
        }
        wish.node_state = node_state_of(request->verb);
        if (request->verb != SLURM_RESUME) {
            wish.reason = unconst(request->text == NULL ? "stint" : request->text);
            slurm_release_sign(&wish);
        }
        code = slurm_update_node(&wish);
    }
    return refuse(code == 0 ? 0 : errno, reterr);
}
