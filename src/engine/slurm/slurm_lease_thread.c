/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_lease_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { TOKEN_SIZE = 20, HOST_SIZE = 65 };

struct slurm_lease_thread {
    pthread_t id;
    pthread_mutex_t lock;
    struct slurm_lease lease; /* as the last step has left it */
    int64_t ahead_s;          /* slurmctld's clock, of ours */
    int code;                 /* why the last step failed; 0: it did not */
};

msec_t slurm_lease_clock(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

struct slurm_lease slurm_lease_now(struct slurm_lease_thread *thread, int *ret_code)
{
    (void)pthread_mutex_lock(&thread->lock);
    const struct slurm_lease lease = thread->lease;

    if (ret_code != NULL)
        *ret_code = thread->code;
    (void)pthread_mutex_unlock(&thread->lock);
    return lease;
}

static time_t now_s(const struct slurm_lease_thread *thread)
{
    return time(NULL) + (time_t)thread->ahead_s;
}

/*
 * Calls.
 */

static enum slurm_lease_answer failure(void)
{
    if (errno == ESLURM_RESERVATION_NAME_DUP)
        return SLURM_LEASE_TAKEN;
    return errno == ESLURM_RESERVATION_INVALID ? SLURM_LEASE_GONE : SLURM_LEASE_FAILED;
}

/* The name in the answer is left: releases differ in who frees it, and there is one for each epoch. */
static enum slurm_lease_answer create(const struct slurm_lease_thread *thread,
                                      struct slurm_lease_step *step, char *text)
{
    char users[] = "root";
    resv_desc_msg_t wanted;

    slurm_init_resv_desc_msg(&wanted);
    wanted.name = step->name;
    wanted.start_time = now_s(thread);
    wanted.end_time = wanted.start_time + (time_t)step->seconds;
    wanted.users = users;
    wanted.flags = RESERVE_FLAG_ANY_NODES;
    wanted.burst_buffer = text;
    errno = 0;
    return slurm_create_reservation(&wanted) != NULL ? SLURM_LEASE_DONE : failure();
}

static enum slurm_lease_answer extend(const struct slurm_lease_thread *thread,
                                      struct slurm_lease_step *step)
{
    resv_desc_msg_t wanted;

    slurm_init_resv_desc_msg(&wanted);
    wanted.name = step->name;
    wanted.end_time = now_s(thread) + (time_t)step->seconds;
    errno = 0;
    return slurm_update_reservation(&wanted) == SLURM_SUCCESS ? SLURM_LEASE_DONE : failure();
}

static enum slurm_lease_answer take_away(struct slurm_lease_step *step)
{
    reservation_name_msg_t wanted = { .name = step->name };

    errno = 0;
    return slurm_delete_reservation(&wanted) == SLURM_SUCCESS ? SLURM_LEASE_DONE : failure();
}

static enum slurm_lease_answer look(struct slurm_lease_thread *thread,
                                    const struct slurm_lease *lease, struct slurm_lease_list *ret)
{
    reserve_info_msg_t *found = NULL;

    errno = 0;
    if (slurm_load_reservations(0, &found) != SLURM_SUCCESS)
        return SLURM_LEASE_FAILED;
    thread->ahead_s = (int64_t)found->last_update - (int64_t)time(NULL);
    *ret = (struct slurm_lease_list){ .now_s = (int64_t)found->last_update };
    for (uint32_t i = 0; i < found->record_count; i++) {
        const reserve_info_t *one = &found->reservation_array[i];

        if (one->name != NULL)
            slurm_lease_add(ret, lease, one->name, (int64_t)one->end_time,
                            one->burst_buffer != NULL ? one->burst_buffer : "");
    }
    slurm_free_reservation_info_msg(found);
    return SLURM_LEASE_DONE;
}

static enum slurm_lease_answer carry_out(struct slurm_lease_thread *thread,
                                         struct slurm_lease *lease, struct slurm_lease_step *step,
                                         struct slurm_lease_list *ret)
{
    switch (step->what) {
    case SLURM_LEASE_LOOK:
        return look(thread, lease, ret);
    case SLURM_LEASE_CREATE:
        return create(thread, step, lease->text);
    case SLURM_LEASE_EXTEND:
        return extend(thread, step);
    case SLURM_LEASE_REMOVE:
        return take_away(step);
    case SLURM_LEASE_REST:
        break;
    }
    return SLURM_LEASE_DONE;
}

static void rest(msec_t ms)
{
    const struct timespec wait = { .tv_sec = ms / MSEC_PER_SEC,
                                   .tv_nsec = ms % MSEC_PER_SEC * 1000000 };

    (void)nanosleep(&wait, NULL);
}

static void *run(void *context)
{
    struct slurm_lease_thread *thread = context;
    struct slurm_lease lease = slurm_lease_now(thread, NULL);

    for (;;) {
        const msec_t sent = slurm_lease_clock();
        struct slurm_lease_step step = slurm_lease_next(&lease, sent);
        struct slurm_lease_list list = { .now_s = 0 };

        if (step.what == SLURM_LEASE_REST) {
            rest(step.at - sent);
            continue;
        }
        const enum slurm_lease_answer answer = carry_out(thread, &lease, &step, &list);
        const int code = answer == SLURM_LEASE_FAILED ? errno : 0;

        slurm_lease_told(&lease, &step, sent, slurm_lease_clock(), answer, &list);
        (void)pthread_mutex_lock(&thread->lock);
        thread->lease = lease;
        thread->code = code;
        (void)pthread_mutex_unlock(&thread->lock);
    }
    return NULL;
}

/*
 * The token.
 */

static int make_token(char *token, struct error *reterr)
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return error_set(reterr, -EIO, "no random numbers: %s", strerror(errno));
    (void)snprintf(token, TOKEN_SIZE, "%016" PRIx64, number);
    return 0;
}

/* "TOKEN HOST", as written here; false: there is none, or it is of another host. */
static bool read_token(const char *path, const char *host, char *token)
{
    FILE *file = fopen(path, "re");
    char text[TOKEN_SIZE + HOST_SIZE + 2] = "";
    size_t size = 0;

    if (file == NULL)
        return false;
    size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    if (strspn(text, "0123456789abcdef") != 16 || text[16] != ' ' ||
        strlen(text + 17) != strlen(host) + 1 || strncmp(text + 17, host, strlen(host)) != 0)
        return false;
    (void)snprintf(token, TOKEN_SIZE, "%.16s", text);
    return true;
}

static int write_token(const char *path, const char *host, const char *token, struct error *reterr)
{
    FILE *file = fopen(path, "we");
    const bool is_good = file != NULL && fprintf(file, "%s %s\n", token, host) > 0;

    if (file != NULL && fclose(file) == 0 && is_good)
        return 0;
    return error_set(reterr, -errno, "cannot write '%s': %s", path, strerror(errno));
}

int slurm_lease_start(const char *file, const char *cluster, msec_t life_ms,
                      struct slurm_lease_thread **ret, struct error *reterr)
{
    struct slurm_lease_thread *thread = NULL;
    char host[HOST_SIZE] = "";
    char token[TOKEN_SIZE] = "";
    int rc = 0;

    (void)gethostname(host, sizeof(host) - 1);
    if (file == NULL || !read_token(file, host, token)) {
        rc = make_token(token, reterr);
        if (rc == 0 && file != NULL)
            rc = write_token(file, host, token, reterr);
    }
    if (rc < 0)
        return rc;
    thread = mem_alloc(1, sizeof(*thread));
    slurm_lease_init(&thread->lease, token, host, cluster, life_ms);
    (void)pthread_mutex_init(&thread->lock, NULL);
    rc = pthread_create(&thread->id, NULL, run, thread);
    if (rc != 0)
        return error_set(reterr, -rc, "no thread for the lease: %s", strerror(rc));
    (void)pthread_detach(thread->id);
    *ret = thread;
    return 0;
}
