/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint-join - make an EC2 instance a node of its Slurm cluster, and tell when it will be taken away.
 *
 * Asks the metadata service who it is, starts slurmd with what the machine really has, and looks for
 * notices until slurmd ends, whose status is its own. man/stint-join.8 says how to use it.
 *
 * A machine on which no job has run for '--idle' ends itself: whoever manages it would have returned it
 * long before, so it is not managed. The node is drained first, and the processes are looked at once more.
 *
 * Promises:  a machine on which a job runs is never ended. No shell; nothing of the metadata service reaches a command but through join_facts.h.
 *            One notice is reported once; if the command for it fails it is tried again, NOTICE_TRIES times.
 *            A metadata service that dies or talks nonsense disturbs nothing that runs.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/line.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/join_facts.h"
#include "cloud/aws/join_imds.h"
#include "cloud/job_watch.h"
#include "trace/number.h"

enum {
    EXIT_FAILED = 1,
    EXIT_WRONG_USAGE = 2,
    EXIT_NO_PROGRAM = 127,
    EXIT_BY_SIGNAL = 128,
    NOTICE_TRIES = 3,
    NOTICE_MS = 30000,    /* after so long the command for a notice is killed */
    NOTICES_KNOWN = 16,   /* remembered as reported */
    RETRY_FIRST_MS = 500, /* while it is not known who this machine is; doubles */
    RETRY_MOST_MS = 5000,
    IDLE_LOOK_MIN_MS = 200, /* between two looks for jobs: a tenth of the time, within these */
    IDLE_LOOK_MAX_MS = 30000,
    IDLE_SECONDS_MAX = 999999999,
};

static const char usage[] =
    "usage: stint-join [OPTION...]\n"
    "Make this EC2 instance a node of its Slurm cluster, and report its interruption.\n"
    "\n"
    "  --run CMD        command to start (default: slurmd -D -Z -N {node} --conf {conf})\n"
    "  --notice CMD     command for an interruption notice, run once (default: scontrol "
    "update\n"
    "                   nodename={node} state=drain reason={reason})\n"
    "  --feature LIST   features of the node besides type, family, market and zone\n"
    "                   (default: cloud)\n"
    "  --memory N       percent of the memory offered to jobs (default: 100)\n"
    "  --no-rebalance   ignore rebalance recommendations\n"
    "  --every TIME     interval between polls for notices (default: 5s)\n"
    "  --idle TIME      end this machine after so long without a job (default: from the user\n"
    "                   data, else 1h; 0: never)\n"
    "  --end CMD        command to end it (default: shutdown -h now)\n"
    "  --stamp FILE     keep the start of the idle time here, for a restart of stint-join\n"
    "                   (default: /run/stint-join.idle)\n"
    "  --wait TIME      wait so long at boot for user data or tags (default: 5m)\n"
    "  --imds URL       the metadata service, a loopback or link-local address\n"
    "                   (default: " JOIN_IMDS_URL ")\n"
    "  --print          print the words of the command, one per line, and exit\n"
    "  --version, --help\n"
    "\n"
    "CMD is split at spaces, without a shell. {node} {cluster} {type} {zone} {market} {conf}\n"
    "are filled in, and for a notice {action} {reason}. See stint-join(8).\n";

struct options {
    const char *run;
    const char *notice;
    const char *features;
    const char *imds;
    const char *end;
    const char *stamp;
    msec_t idle; /* below 0: not given */
    msec_t every;
    msec_t wait;
    uint64_t mem_percent;
    bool without_rebalance;
    bool is_print;
};

/* What is asked before anything is started, in this order; the tags only if user data has nothing. */
enum question {
    QUESTION_USER_DATA,
    QUESTION_INDEX,
    QUESTION_TAGS, /* the first of them */
    QUESTION_NONE = QUESTION_TAGS + JOIN_TAGS,
};

struct join {
    struct options options;
    uv_loop_t loop;
    struct join_imds *imds;
    uv_timer_t timer; /* the next question */
    uv_timer_t limit; /* of the command for a notice */
    uv_timer_t idle;
    uv_process_t ender; /* drains the node, then ends the machine */
    bool has_ender;
    bool is_drained;   /* it was tried; what is left is to end */
    msec_t idle_limit; /* 0: never */
    msec_t idle_since; /* of CLOCK_BOOTTIME */
    uv_signal_t signals[3];
    uv_process_t child;
    uv_process_t teller; /* the command for a notice */
    bool has_child;
    bool has_teller;
    bool is_ending;
    bool is_silent; /* the service does not answer, and that was said */
    int code;
    enum question question;
    bool is_waiting; /* for tags, and that was said */
    struct join_facts facts;
    char conf[JOIN_CONF_SIZE];
    msec_t retry_ms;
    uint64_t since; /* loop time of the first question */
    enum join_notice_kind looking;
    struct join_notice told[NOTICES_KNOWN]; /* a ring */
    uint32_t told_count;
    struct join_notice telling;
    uint32_t tries; /* of 'telling' */
};

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char text[1024];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    (void)fprintf(stderr, "stint-join: %s\n", text);
}

/* ---- the end ---- */

static void close_if_open(void *handle)
{
    uv_handle_t *one = handle;

    if (!uv_is_closing(one))
        uv_close(one, NULL);
}

static void end(struct join *join, int code)
{
    if (join->is_ending)
        return;
    join->is_ending = true;
    join->code = code;
    uv_stop(&join->loop);
}

/* ---- commands ---- */

static int make_command(const struct join *join, const char *pattern, const char *action,
                        const char *reason, struct join_command *ret, struct error *reterr)
{
    const struct join_filling fillings[] = {
        { "{node}", join->facts.node },
        { "{cluster}", join->facts.cluster },
        { "{type}", join->facts.type },
        { "{zone}", join->facts.zone },
        { "{market}", join->facts.market },
        { "{conf}", join->conf },
        { "{action}", action },
        { "{reason}", reason },
    };
    const size_t all = sizeof(fillings) / sizeof(*fillings);

    /* Only a notice has an action and a reason. */
    return join_command_make(pattern, fillings, action != NULL ? all : all - 2, ret, reterr);
}

static int spawn(struct join *join, uv_process_t *process, struct join_command *command,
                 uv_exit_cb on_exit)
{
    uv_stdio_container_t streams[3] = {
        { .flags = UV_IGNORE },
        { .flags = UV_INHERIT_FD, .data.fd = STDOUT_FILENO },
        { .flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO },
    };
    const uv_process_options_t options = {
        .exit_cb = on_exit,
        .file = command->words[0],
        .args = command->words,
        .stdio = streams,
        .stdio_count = 3,
    };

    process->data = join;
    return uv_spawn(&join->loop, process, &options);
}

static void on_child_exit(uv_process_t *process, int64_t status, int by_signal)
{
    struct join *join = process->data;

    join->has_child = false;
    if (by_signal != 0)
        say("what was started has ended by signal %d", by_signal);
    else
        say("what was started has ended with status %d", (int)status);
    end(join, by_signal != 0 ? EXIT_BY_SIGNAL + by_signal : (int)status);
}

static void print_words(const struct join_command *command)
{
    for (uint32_t i = 0; command->words[i] != NULL; i++)
        (void)puts(command->words[i]);
}

/* ---- notices ---- */

static void look(struct join *join);
static void tell_notice(struct join *join);

static void on_timer(uv_timer_t *timer)
{
    struct join *join = timer->data;

    join->looking = JOIN_INTERRUPTION;
    look(join);
}

static void look_later(struct join *join)
{
    (void)uv_timer_start(&join->timer, on_timer, (uint64_t)join->options.every, 0);
}

static void on_teller_closed(uv_handle_t *handle)
{
    struct join *join = handle->data;

    join->has_teller = false;
}

static void on_teller_exit(uv_process_t *process, int64_t status, int by_signal)
{
    struct join *join = process->data;

    (void)uv_timer_stop(&join->limit);
    uv_close((uv_handle_t *)process, on_teller_closed);
    if (status == 0 && by_signal == 0) {
        join->tries = 0;
        return;
    }
    say("the command for the notice has failed (%s %d)", by_signal != 0 ? "signal" : "status",
        by_signal != 0 ? by_signal : (int)status);
    if (join->tries >= NOTICE_TRIES)
        join->tries = 0; /* it was said; more of the same will not help */
}

static void on_limit(uv_timer_t *timer)
{
    struct join *join = timer->data;

    say("the command for the notice takes too long and is killed");
    (void)uv_process_kill(&join->teller, SIGKILL);
}

static bool is_told(const struct join *join, const struct join_notice *notice)
{
    const uint32_t count = join->told_count < NOTICES_KNOWN ? join->told_count : NOTICES_KNOWN;

    for (uint32_t i = 0; i < count; i++) {
        if (join_notice_is_same(&join->told[i], notice))
            return true;
    }
    return false;
}

static void tell_notice(struct join *join)
{
    struct join_command command = { 0 };
    struct error error = { "" };
    char reason[128];
    int rc;

    join_notice_reason(&join->telling, reason);
    join->tries++;
    rc = make_command(join, join->options.notice, join->telling.action, reason, &command, &error);
    if (rc < 0) { /* it was tried at the start; a long value is all that is left */
        say("%s", error.text);
        join->tries = 0;
        return;
    }
    rc = spawn(join, &join->teller, &command, on_teller_exit);
    join->has_teller = true;
    if (rc < 0) {
        say("the command for the notice cannot be started: %s", uv_strerror(rc));
        uv_close((uv_handle_t *)&join->teller, on_teller_closed);
        if (join->tries >= NOTICE_TRIES)
            join->tries = 0;
        return;
    }
    (void)uv_timer_start(&join->limit, on_limit, NOTICE_MS, 0);
}

static void take_notice(struct join *join, const struct aws_http_answer *answer)
{
    struct join_notice notice;
    struct error error = { "" };

    if (join_notice_read(join->looking, answer->body, answer->size, &notice, &error) < 0) {
        say("%s", error.text);
        return;
    }
    /* One at a time; what is not reported yet is found by a later look. */
    if (join->has_teller || join->tries > 0 || is_told(join, &notice))
        return;
    join->told[join->told_count++ % NOTICES_KNOWN] = notice;
    join->telling = notice;
    say("notice: %s", notice.action);
    tell_notice(join);
}

static void note_silence(struct join *join, const struct aws_http_answer *answer)
{
    const bool is_silent = answer->fault < 0 || (answer->status != 200 && answer->status != 404);

    if (is_silent && !join->is_silent) {
        if (answer->fault < 0)
            say("the metadata service does not answer: %s", answer->reason);
        else
            say("the metadata service answers with status %d", answer->status);
    } else if (!is_silent && join->is_silent) {
        say("the metadata service answers again");
    }
    join->is_silent = is_silent;
}

static void on_looked(void *context, const struct aws_http_answer *answer)
{
    struct join *join = context;

    note_silence(join, answer);
    if (answer->fault == 0 && answer->status == 200)
        take_notice(join, answer);
    if (!join->is_silent && join->looking == JOIN_INTERRUPTION &&
        !join->options.without_rebalance) {
        join->looking = JOIN_REBALANCE;
        look(join);
        return;
    }
    if (!join->has_teller && join->tries > 0)
        tell_notice(join);
    look_later(join);
}

static void look(struct join *join)
{
    join_imds_get(join->imds,
                  join->looking == JOIN_INTERRUPTION
                      ? "/latest/meta-data/spot/instance-action"
                      : "/latest/meta-data/events/recommendations/rebalance",
                  JOIN_NOTICE_MAX, on_looked, join);
}

/* ---- it is not needed ---- */

/* Since the machine was started; goes on while it sleeps. */
static msec_t uptime(void)
{
    struct timespec time = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_BOOTTIME, &time);
    return (msec_t)time.tv_sec * MSEC_PER_SEC + time.tv_nsec / 1000000;
}

/* What a start before this one has seen and learned: a slurmd that fails again and again, or user data that
 * never come, must not keep the machine. */
static void read_stamp(struct join *join)
{
    FILE *file = fopen(join->options.stamp, "re");
    const msec_t now = uptime();
    long long since = 0;
    long long limit = 0;

    join->idle_since = now;
    if (file == NULL)
        return;
    if (fscanf(file, "%lld %lld", &since, &limit) == 2 && since >= 0 && since <= now &&
        limit >= 0) {
        join->idle_since = (msec_t)since;
        join->idle_limit = (msec_t)limit;
    }
    (void)fclose(file);
}

static void write_stamp(const struct join *join)
{
    FILE *file = fopen(join->options.stamp, "we");

    if (file == NULL)
        return; /* then the next start begins from nothing */
    (void)fprintf(file, "%lld %lld\n", (long long)join->idle_since, (long long)join->idle_limit);
    (void)fclose(file);
}

static void on_ender_closed(uv_handle_t *handle)
{
    struct join *join = handle->data;

    join->has_ender = false;
}

/* Drained or not: without slurmctld nothing can start here either. The next look goes on. */
static void on_ender_exit(uv_process_t *process, int64_t status, int by_signal)
{
    struct join *join = process->data;

    if (join->is_drained && (status != 0 || by_signal != 0))
        say("the command that ends this machine has failed (%s %d)",
            by_signal != 0 ? "signal" : "status", by_signal != 0 ? by_signal : (int)status);
    join->is_drained = true;
    uv_close((uv_handle_t *)process, on_ender_closed);
}

static void run_ender(struct join *join, const char *pattern)
{
    struct join_command command = { 0 };
    struct error error = { "" };
    int rc = make_command(join, pattern, "idle", "stint-join-idle", &command, &error);

    if (rc == 0)
        rc = spawn(join, &join->ender, &command, on_ender_exit);
    join->has_ender = command.words[0] != NULL;
    if (rc < 0) {
        say("%s cannot be started: %s", pattern,
            error.text[0] != '\0' ? error.text : uv_strerror(rc));
        join->is_drained = true;
        if (join->has_ender)
            uv_close((uv_handle_t *)&join->ender, on_ender_closed);
    }
}

static void on_idle(uv_timer_t *timer)
{
    struct join *join = timer->data;
    const msec_t now = uptime();

    if (join->has_ender)
        return;
    if (job_watch_is_busy("/proc", 0)) {
        join->idle_since = now;
        join->is_drained = false;
        write_stamp(join);
        return;
    }
    if (now - join->idle_since < join->idle_limit)
        return;
    if (!join->is_drained && join->has_child) {
        say("no job has run for %lld s: drains this node, and ends the machine",
            (long long)((now - join->idle_since) / MSEC_PER_SEC));
        run_ender(join, join->options.notice);
        return;
    }
    run_ender(join, join->options.end);
}

static void look_for_jobs(struct join *join)
{
    msec_t every = join->idle_limit / 10;

    (void)uv_timer_stop(&join->idle);
    write_stamp(join);
    if (join->idle_limit == 0)
        return;
    every = every < IDLE_LOOK_MIN_MS ? IDLE_LOOK_MIN_MS : every;
    every = every > IDLE_LOOK_MAX_MS ? IDLE_LOOK_MAX_MS : every;
    (void)uv_timer_start(&join->idle, on_idle, 0, (uint64_t)every);
}

/* At the start: by the option, or by what was learned before. */
static void watch_idle(struct join *join)
{
    join->idle_limit = 3600 * MSEC_PER_SEC;
    read_stamp(join);
    if (join->options.idle >= 0)
        join->idle_limit = join->options.idle;
    look_for_jobs(join);
}

/* It has learned who this machine is, and perhaps how long it may be idle. */
static void take_idle(struct join *join)
{
    uint64_t seconds = 0;

    if (join->options.idle < 0 && join->facts.idle[0] != '\0' &&
        line_number(join->facts.idle, IDLE_SECONDS_MAX, &seconds) == 0)
        join->idle_limit = (msec_t)seconds * MSEC_PER_SEC;
    look_for_jobs(join);
}

/* ---- joining ---- */

static void look_at_machine(struct join_machine *ret)
{
    char text[4096];
    FILE *file = fopen("/proc/meminfo", "re");
    size_t size = 0;
    DIR *devices = opendir("/dev");
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    *ret = (struct join_machine){ .cpus = cpus > 0 ? (uint32_t)cpus : 0 };
    if (file != NULL) {
        size = fread(text, 1, sizeof(text) - 1, file);
        (void)fclose(file);
    }
    text[size] = '\0';
    ret->mem_mib = join_read_meminfo(text);
    while (devices != NULL) {
        const struct dirent *one = readdir(devices); /* NOLINT(concurrency-mt-unsafe): one thread */

        if (one == NULL)
            break;
        if (strncmp(one->d_name, "nvidia", 6) == 0 && one->d_name[6] != '\0' &&
            one->d_name[6 + strspn(one->d_name + 6, "0123456789")] == '\0')
            ret->gpus++;
    }
    if (devices != NULL)
        (void)closedir(devices);
}

static int start(struct join *join, struct error *reterr)
{
    struct join_machine machine;
    struct join_command command = { 0 };
    int rc;

    look_at_machine(&machine);
    rc = join_conf_line(&join->facts, &machine, join->options.features,
                        (uint32_t)join->options.mem_percent, join->conf, reterr);
    if (rc == 0)
        rc = make_command(join, join->options.run, NULL, NULL, &command, reterr);
    if (rc < 0)
        return rc;
    if (join->options.is_print) {
        print_words(&command);
        end(join, 0);
        return 0;
    }
    say("joins cluster %s as node %s: %s", join->facts.cluster, join->facts.node, join->conf);
    rc = spawn(join, &join->child, &command, on_child_exit);
    if (rc < 0) {
        say("%s cannot be started: %s", command.words[0], uv_strerror(rc));
        end(join, EXIT_NO_PROGRAM);
        return 0;
    }
    join->has_child = true;
    take_idle(join);
    look_later(join);
    return 0;
}

static void ask_question(struct join *join);

static void on_retry(uv_timer_t *timer)
{
    ask_question(timer->data);
}

static void ask_later(struct join *join)
{
    if (uv_now(&join->loop) - join->since >= (uint64_t)join->options.wait) {
        say("gives up: the metadata service did not identify this machine in time");
        end(join, EXIT_FAILED);
        return;
    }
    (void)uv_timer_start(&join->timer, on_retry, (uint64_t)join->retry_ms, 0);
    join->retry_ms = join->retry_ms * 2 < RETRY_MOST_MS ? join->retry_ms * 2 : RETRY_MOST_MS;
}

static int take_user_data(struct join *join, const struct aws_http_answer *answer,
                          struct error *reterr)
{
    int rc = -ENOENT;

    if (answer->status != 404)
        rc = join_facts_read(answer->body, answer->size, &join->facts, reterr);
    join->question = rc == -ENOENT ? QUESTION_TAGS : QUESTION_INDEX;
    return rc == -ENOENT ? 0 : rc;
}

static int take_index(struct join *join, const struct aws_http_answer *answer, struct error *reterr)
{
    uint32_t index = 0; /* of a service that does not know it */
    int rc = 0;

    if (answer->status != 404)
        rc = join_index_read(answer->body, answer->size, &index, reterr);
    join->question = QUESTION_NONE;
    return rc < 0 ? rc : join_facts_count_on(&join->facts, index, reterr);
}

/* -EAGAIN: it is not there yet. Tags appear a little after the instance does. */
static int take_tag(struct join *join, const struct aws_http_answer *answer, struct error *reterr)
{
    const enum join_tag tag = (enum join_tag)(join->question - QUESTION_TAGS);

    if (answer->status == 404) {
        if (!join->is_waiting)
            say("the user data is empty, and the tag %s is missing so far; see stint-join(8)",
                join_tag_path(tag));
        join->is_waiting = true;
        return -EAGAIN;
    }
    join->question++;
    return join_facts_take_tag(tag, answer->body, answer->size, &join->facts, reterr);
}

static void on_told(void *context, const struct aws_http_answer *answer)
{
    struct join *join = context;
    struct error error = { "" };
    int rc;

    note_silence(join, answer);
    if (join->is_silent)
        rc = -EAGAIN;
    else if (join->question == QUESTION_USER_DATA)
        rc = take_user_data(join, answer, &error);
    else if (join->question == QUESTION_INDEX)
        rc = take_index(join, answer, &error);
    else
        rc = take_tag(join, answer, &error);
    if (rc == -EAGAIN) {
        ask_later(join);
        return;
    }
    if (rc == 0 && join->question != QUESTION_NONE) {
        join->retry_ms = RETRY_FIRST_MS;
        ask_question(join);
        return;
    }
    if (rc == 0)
        rc = start(join, &error);
    if (rc < 0) {
        say("%s", error.text);
        end(join, EXIT_FAILED);
    }
}

static void ask_question(struct join *join)
{
    if (join->question == QUESTION_USER_DATA)
        join_imds_get(join->imds, "/latest/user-data", JOIN_USER_DATA_MAX, on_told, join);
    else if (join->question == QUESTION_INDEX)
        join_imds_get(join->imds, "/latest/meta-data/ami-launch-index", JOIN_TAG_MAX, on_told,
                      join);
    else
        join_imds_get(join->imds, join_tag_path((enum join_tag)(join->question - QUESTION_TAGS)),
                      JOIN_TAG_MAX, on_told, join);
}

/* ---- life ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    struct join *join = handle->data;

    if (join->has_child)
        (void)uv_process_kill(&join->child, number);
    else if (number != SIGHUP)
        end(join, EXIT_BY_SIGNAL + number);
}

static void close_each(uv_handle_t *handle, void *context)
{
    (void)context;
    close_if_open(handle);
}

static int run(struct join *join)
{
    static const int numbers[3] = { SIGTERM, SIGINT, SIGHUP };

    if (uv_loop_init(&join->loop) < 0)
        return EXIT_FAILED;
    (void)uv_timer_init(&join->loop, &join->timer);
    (void)uv_timer_init(&join->loop, &join->limit);
    (void)uv_timer_init(&join->loop, &join->idle);
    join->idle.data = join;
    join->timer.data = join;
    join->limit.data = join;
    for (int i = 0; i < 3; i++) {
        (void)uv_signal_init(&join->loop, &join->signals[i]);
        join->signals[i].data = join;
        (void)uv_signal_start(&join->signals[i], on_signal, numbers[i]);
    }
    join->imds = join_imds_create(&join->loop, join->options.imds);
    join->retry_ms = RETRY_FIRST_MS;
    join->since = uv_now(&join->loop);
    if (!join->options.is_print)
        watch_idle(join);
    ask_question(join);
    (void)uv_run(&join->loop, UV_RUN_DEFAULT);
    join_imds_destroy(join->imds);
    uv_walk(&join->loop, close_each, NULL);
    (void)uv_run(&join->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&join->loop);
    return join->code;
}

/* Commands that could never be filled are reported now, not when there is a notice. */
static int try_commands(struct join *join, struct error *reterr)
{
    struct join_command command = { 0 };
    int rc = make_command(join, join->options.run, NULL, NULL, &command, reterr);

    if (rc == 0)
        rc = make_command(join, join->options.notice, "", "", &command, reterr);
    if (rc == 0)
        rc = make_command(join, join->options.end, "", "", &command, reterr);
    return rc;
}

/* ---- options ---- */

enum {
    OPT_RUN = 0x100,
    OPT_NOTICE,
    OPT_FEATURE,
    OPT_MEMORY,
    OPT_NO_REBALANCE,
    OPT_EVERY,
    OPT_WAIT,
    OPT_IDLE,
    OPT_END,
    OPT_STAMP,
    OPT_IMDS,
    OPT_PRINT,
    OPT_VERSION,
    OPT_HELP,
};

static bool take_time(const char *text, msec_t *ret)
{
    return number_duration(text, strlen(text), ret) == 0 && *ret >= 1 &&
           *ret <= (msec_t)24 * 3600 * MSEC_PER_SEC;
}

static bool take_option(struct options *options, int option, const char *value)
{
    switch (option) {
    case OPT_RUN:
        options->run = value;
        return true;
    case OPT_NOTICE:
        options->notice = value;
        return true;
    case OPT_FEATURE:
        options->features = value;
        return join_features_are_good(value);
    case OPT_MEMORY:
        return line_number(value, 100, &options->mem_percent) == 0 && options->mem_percent > 0;
    case OPT_NO_REBALANCE:
        options->without_rebalance = true;
        return true;
    case OPT_EVERY:
        return take_time(value, &options->every);
    case OPT_WAIT:
        return take_time(value, &options->wait);
    case OPT_IDLE:
        options->idle = 0;
        return strcmp(value, "0") == 0 || take_time(value, &options->idle);
    case OPT_END:
        options->end = value;
        return true;
    case OPT_STAMP:
        options->stamp = value;
        return true;
    case OPT_IMDS:
        options->imds = value;
        return join_imds_is_allowed(value);
    case OPT_PRINT:
        options->is_print = true;
        return true;
    default:
        return false;
    }
}

static const struct option known[] = {
    { "run", required_argument, NULL, OPT_RUN },
    { "notice", required_argument, NULL, OPT_NOTICE },
    { "feature", required_argument, NULL, OPT_FEATURE },
    { "memory", required_argument, NULL, OPT_MEMORY },
    { "no-rebalance", no_argument, NULL, OPT_NO_REBALANCE },
    { "every", required_argument, NULL, OPT_EVERY },
    { "wait", required_argument, NULL, OPT_WAIT },
    { "idle", required_argument, NULL, OPT_IDLE },
    { "end", required_argument, NULL, OPT_END },
    { "stamp", required_argument, NULL, OPT_STAMP },
    { "imds", required_argument, NULL, OPT_IMDS },
    { "print", no_argument, NULL, OPT_PRINT },
    { "version", no_argument, NULL, OPT_VERSION },
    { "help", no_argument, NULL, OPT_HELP },
    { 0 },
};

/* 0: go on; 1: done; below 0: it was wrong. */
static int take_options(struct options *options, int argc, char **argv)
{
    int option;
    int index = 0;

    while ((option = getopt_long(argc, argv, "", known, &index)) != -1) {
        if (option == OPT_VERSION) {
            (void)puts("stint-join " STINT_VERSION);
            return 1;
        }
        if (option == OPT_HELP) {
            (void)fputs(usage, stdout);
            return 1;
        }
        if (option == '?')
            return -EINVAL;
        if (!take_option(options, option, optarg)) {
            say("--%s: that value cannot be used", known[index].name);
            return -EINVAL;
        }
    }
    return optind == argc ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
    static struct join join = {
        .options = {
            .run = "slurmd -D -Z -N {node} --conf {conf}",
            .notice = "scontrol update nodename={node} state=drain reason={reason}",
            .features = "cloud",
            .imds = JOIN_IMDS_URL,
            .end = "shutdown -h now",
            .stamp = "/run/stint-join.idle",
            .idle = -1,
            .every = 5 * MSEC_PER_SEC,
            .wait = 300 * MSEC_PER_SEC,
            .mem_percent = 100,
        },
    };
    struct error error = { "" };
    const int rc = take_options(&join.options, argc, argv);

    if (rc != 0) {
        if (rc < 0)
            (void)fputs(usage, stderr);
        return rc < 0 ? EXIT_WRONG_USAGE : 0;
    }
    if (try_commands(&join, &error) < 0) {
        say("%s", error.text);
        return EXIT_WRONG_USAGE;
    }
    return run(&join);
}
