/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_main.c - stint-slurm: Slurm, spoken in lines. It decides nothing.
 *
 * One thread and one loop:
 *
 *  1. ask slurmctld whether it is there; if not, say so once, and wait without reading requests;
 *  2. look at nodes and jobs, tell what is news;
 *  3. carry out what was asked for, one line at a time, until it is time to look again;
 *  4. finish the stops whose grace is over.
 *
 * It ends when its input does. What it must know it reads from Slurm; it keeps one thing that Slurm does not, what
 * "scontrol top" has raised (slurm_raised.h).
 */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/line.h"
#include "base/line_input.h"
#include "base/mem.h"
#include "base/units.h"
#include "engine/slurm/slurm_act.h"
#include "engine/slurm/slurm_conf_report.h"
#include "engine/slurm/slurm_keys.h"
#include "engine/slurm/slurm_lease_thread.h"
#include "engine/slurm/slurm_protocol.h"
#include "engine/slurm/slurm_release.h"
#include "engine/slurm/slurm_request.h"
#include "engine/slurm/slurm_rules.h"
#include "engine/slurm/slurm_watch.h"

enum {
    POLL_MS_DEFAULT = 500,
    POLL_MS_MIN = 10,
    POLL_MS_MAX = 3600000,
    ALIVE_MS = 5000, /* something is said at least so often */
    REST_FACTOR = 4, /* a look is followed by a rest of this many times what it cost */
    OUTPUT_MAX = 1 << 20,
    BATCH = 256, /* jobs of a list that are acted on together */
    /* than MessageTimeout, until slurmctld gives up an unconfirmed start: seconds are cut off, and its threads take turns */
    LAUNCH_MORE_S = 6,
};

/* A stop whose signal was sent and whose grace is not over. */
struct stop {
    uint64_t key;
    msec_t due_ms;
    uint32_t run;
    char job[SLURM_JOB_ID_SIZE];
};

struct bridge {
    struct slurm_filter filter;
    const char *raised; /* the file; NULL: none */
    msec_t poll_ms;
    struct slurm_rules rules;
    struct slurm_watch watch;
    uint32_t release; /* slurmctld's; 0: not known */
    struct slurm_keys keys;
    struct line_input input;
    struct line_text out;
    struct stop *stops;
    uint32_t stops_count, stops_room;
    struct slurm_act_item *items; /* BATCH of them */
    msec_t next_look_ms;
    msec_t spoke_ms; /* when something was said last */
    const char *lease_file;
    msec_t lease_ms;
    struct slurm_lease_thread *lease; /* NULL: the daemon has not asked for it */
    struct slurm_lease lease_told;
    int lease_code;       /* why it cannot be had, as said last; 0: for no such reason */
    bool is_greeted;      /* the daemon has said hello */
    bool is_lost;         /* slurmctld does not answer */
    uint64_t looks;       /* so far */
    uint64_t look_wanted; /* before a node may be deleted */
    bool is_finished;     /* no more input, or no common protocol */
    int status;
};

static msec_t monotonic_ms(void)
{
    return slurm_lease_clock();
}

/* Whether we may change anything: always, unless the daemon has asked for the lease. */
static bool may_act(const struct bridge *bridge)
{
    return bridge->lease == NULL || slurm_lease_now(bridge->lease, NULL).until > monotonic_ms();
}

static void flush(struct bridge *bridge)
{
    uint32_t sent = 0;

    while (sent < bridge->out.size) {
        const ssize_t n = write(STDOUT_FILENO, bridge->out.text + sent, bridge->out.size - sent);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            bridge->is_finished = true;
            bridge->status = 1;
            break;
        }
        sent += (uint32_t)n;
    }
    if (sent > 0)
        bridge->spoke_ms = monotonic_ms();
    line_text_reset(&bridge->out);
}

static void say_alive(struct bridge *bridge)
{
    line_text_begin(&bridge->out, "alive");
    line_text_end(&bridge->out);
}

/* How the lease stands, if that is news. */
static void tell_lease(struct bridge *bridge)
{
    static const char *const states[] = { "waits", "settles", "held" };
    struct slurm_lease *told = &bridge->lease_told;
    struct slurm_lease now;
    int code = 0;

    if (bridge->lease == NULL)
        return;
    now = slurm_lease_now(bridge->lease, &code);
    if (code == bridge->lease_code && now.state == told->state && now.until == told->until &&
        strcmp(now.other, told->other) == 0 && strcmp(now.caller, told->caller) == 0)
        return;
    *told = now;
    bridge->lease_code = code;
    line_text_begin(&bridge->out, "lease");
    line_text_string(&bridge->out, "state", states[now.state]);
    line_text_number(&bridge->out, "epoch", now.epoch);
    line_text_number(&bridge->out, "until", (uint64_t)now.until);
    line_text_string(&bridge->out, "other", now.other);
    line_text_string(&bridge->out, "caller", now.caller);
    if (code != 0 && now.until == 0)
        line_text_prose(&bridge->out, "text", slurm_strerror(code));
    line_text_end(&bridge->out);
}

/* Whoever waits for us must know that we are there. */
static void keep_alive(struct bridge *bridge)
{
    if (bridge->out.size == 0 && monotonic_ms() - bridge->spoke_ms >= ALIVE_MS)
        say_alive(bridge);
}

/* Say what became of slurmctld, when that changes. */
static void set_lost(struct bridge *bridge, int code)
{
    const bool is_lost = code != 0;

    if (is_lost == bridge->is_lost)
        return;
    bridge->is_lost = is_lost;
    bridge->release = 0; /* who comes back may be another */
    line_text_begin(&bridge->out, "controller");
    line_text_string(&bridge->out, "state", is_lost ? "lost" : "back");
    if (is_lost)
        line_text_prose(&bridge->out, "text", slurm_strerror(code));
    line_text_end(&bridge->out);
    slurm_watch_distrust(&bridge->watch);
    slurm_rules_distrust(&bridge->rules);
}

/* libslurm's own configuration, which no header declares; NULL: there is none. */
static const slurm_conf_t *configuration(void)
{
    return dlsym(RTLD_DEFAULT, "slurm_conf");
}

/* Whether any slurmctld answers. libslurm's other calls would wait for one. */
static bool is_there(void)
{
    const slurm_conf_t *conf = configuration();
    const int count = conf == NULL || conf->control_cnt == 0 ? 1 : (int)conf->control_cnt;

    for (int i = 0; i < count; i++) {
        if (slurm_ping(i) == 0)
            return true;
    }
    return false;
}

static void tell_failure(struct bridge *bridge, const char *word, uint64_t key, int code,
                         const char *text)
{
    line_text_begin(&bridge->out, word);
    line_text_number(&bridge->out, "key", key);
    line_text_number(&bridge->out, "code", code > 0 ? (uint64_t)code : 0);
    line_text_prose(&bridge->out, "text", text);
    line_text_end(&bridge->out);
}

/* Answer the action of 'key' and remember the answer, unless nobody knows what became of it. 'was', if
 * not NULL, is what the job did before. */
static void answer_was(struct bridge *bridge, uint64_t key, int code, const struct error *error,
                       const char *was)
{
    const uint32_t begin = bridge->out.size;

    if (slurm_act_is_unsure(code)) {
        tell_failure(bridge, "unsure", key, code, error->text);
        slurm_keys_forget(&bridge->keys, key);
        set_lost(bridge, code);
        return;
    }
    if (code == 0) {
        line_text_begin(&bridge->out, "done");
        line_text_number(&bridge->out, "key", key);
        line_text_string(&bridge->out, "was", was);
        line_text_end(&bridge->out);
    } else {
        tell_failure(bridge, "refused", key, code, error->text);
    }
    slurm_keys_answer(&bridge->keys, key, bridge->out.text + begin, bridge->out.size - begin);
}

static void answer(struct bridge *bridge, uint64_t key, int code, const struct error *error)
{
    answer_was(bridge, key, code, error, NULL);
}

static void tell_failed(struct bridge *bridge, uint64_t key, const struct slurm_act_item *item)
{
    line_text_begin(&bridge->out, "failed");
    line_text_number(&bridge->out, "key", key);
    line_text_string(&bridge->out, "job", item->job);
    line_text_number(&bridge->out, "code", item->code > 0 ? (uint64_t)item->code : 0);
    line_text_prose(&bridge->out, "text", item->error.text);
    line_text_end(&bridge->out);
}

/* Act on the first jobs of 'list', as many as one batch takes; what is left of it. */
static const char *act_on_some(struct bridge *bridge, const struct slurm_request *request,
                               const char *list, uint32_t *ret_count)
{
    const char *rest = list;
    uint32_t count = 0;

    while (count < BATCH) {
        struct slurm_act_item *item = &bridge->items[count];

        *item = (struct slurm_act_item){ .code = 0 };
        rest = slurm_request_next_job(list, item->job);
        if (rest == NULL)
            break;
        list = rest;
        count++;
    }
    if (request->verb == SLURM_HOLD)
        slurm_act_hold(&bridge->watch, bridge->items, count);
    else if (request->verb == SLURM_UNHOLD)
        slurm_act_unhold(&bridge->watch, bridge->items, count);
    else
        slurm_act_release(&bridge->watch, bridge->items, count, request->partition);
    *ret_count = count;
    return list;
}

/* Release or hold a list; what fails is reported one by one, and what is left counted. */
static void act_on_list(struct bridge *bridge, const struct slurm_request *request)
{
    const char *rest = request->jobs;
    uint32_t good = 0;
    uint32_t bad = 0;
    uint32_t count = 0;

    if (bridge->items == NULL)
        bridge->items = mem_alloc(BATCH, sizeof(*bridge->items));
    do {
        rest = act_on_some(bridge, request, rest, &count);
        for (uint32_t i = 0; i < count; i++) {
            const struct slurm_act_item *item = &bridge->items[i];

            if (slurm_act_is_unsure(item->code)) {
                answer(bridge, request->key, item->code, &item->error);
                return;
            }
            good += item->code == 0;
            bad += item->code != 0;
            if (item->code != 0 && request->verb != SLURM_UNHOLD) /* nothing hangs on that one */
                tell_failed(bridge, request->key, item);
        }
    } while (count == BATCH);
    const uint32_t begin = bridge->out.size;

    line_text_begin(&bridge->out, "done");
    line_text_number(&bridge->out, "key", request->key);
    line_text_number(&bridge->out, "count", good);
    line_text_number(&bridge->out, "failed", bad);
    line_text_end(&bridge->out);
    slurm_keys_answer(&bridge->keys, request->key, bridge->out.text + begin,
                      bridge->out.size - begin);
}

static void begin_stop(struct bridge *bridge, const struct slurm_request *request)
{
    struct error error = { "" };
    bool is_waiting = false;
    const int code = slurm_act_signal(&bridge->watch, request, &is_waiting, &error);

    if (code != 0 || is_waiting) {
        answer_was(bridge, request->key, code, &error, "waiting");
        return;
    }
    struct stop stop = { .key = request->key,
                         .due_ms = monotonic_ms() + request->grace_ms,
                         .run = request->run };

    assert(strlen(request->job) < sizeof(stop.job));
    memcpy(stop.job, request->job, strlen(request->job));
    MEM_ROOM(bridge->stops, bridge->stops_room, bridge->stops_count + 1);
    bridge->stops[bridge->stops_count++] = stop;
}

/* Without the lease nothing is done, and it is asked again when we have it. */
static void put_off(struct bridge *bridge, uint64_t key)
{
    tell_failure(bridge, "unsure", key, 0, "another stintd may have the lease");
    slurm_keys_forget(&bridge->keys, key);
}

static void finish_stops(struct bridge *bridge)
{
    const msec_t now_ms = monotonic_ms();

    for (uint32_t i = 0; i < bridge->stops_count && !bridge->is_lost;) {
        const struct stop stop = bridge->stops[i];
        struct error error = { "" };

        if (stop.due_ms > now_ms) {
            i++;
            continue;
        }
        bridge->stops[i] = bridge->stops[--bridge->stops_count];
        if (!may_act(bridge)) {
            put_off(bridge, stop.key);
            continue;
        }
        answer_was(bridge, stop.key, slurm_act_requeue(&bridge->watch, stop.job, stop.run, &error),
                   &error, "running");
    }
}

/* The whole list; the look behind it may tell news as well. */
static void send_list(struct bridge *bridge, const struct slurm_request *request)
{
    const slurm_conf_t *conf = configuration();
    const uint32_t begin = bridge->out.size;
    uint32_t count = 0;

    line_text_begin(&bridge->out, "list");
    line_text_number(&bridge->out, "key", request->key);
    line_text_string(&bridge->out, "what", request->what);
    if (conf != NULL && conf->slurmd_timeout > 0)
        line_text_number(&bridge->out, "silence_s", conf->slurmd_timeout);
    line_text_end(&bridge->out);

    const int code = strcmp(request->what, "jobs") == 0
                         ? slurm_watch_jobs(&bridge->watch, true, &bridge->out, &count)
                         : slurm_watch_nodes(&bridge->watch, true, &bridge->out, &count);

    if (code != 0) {
        bridge->out.size = begin;
        tell_failure(bridge, slurm_act_is_unsure(code) ? "unsure" : "refused", request->key, code,
                     slurm_strerror(code));
        set_lost(bridge, code);
        return;
    }
    line_text_begin(&bridge->out, "done");
    line_text_number(&bridge->out, "key", request->key);
    line_text_number(&bridge->out, "count", count);
    line_text_end(&bridge->out);
    if (strcmp(request->what, "nodes") == 0)
        slurm_conf_report(&bridge->out);
}

/*
 * A slurmctld that is restarted throws away a job if a node that it ran on or requires is not known
 * any more, even if the job waits again and only is not cleared off the others yet. So a node is
 * deleted only if a look after it was set down has found no such job. One that only waits and has the
 * node named by its user would keep it for ever; what it names is taken off it first.
 */
static int may_delete(struct bridge *bridge, const struct slurm_request *request,
                      struct error *reterr)
{
    const struct slurm_watched_job *job = NULL;
    uint32_t at = 0;
    uint32_t keeper = 0;

    if (bridge->looks < bridge->look_wanted)
        return error_set(reterr, SLURM_ACT_OURS, "not before the next look");
    while ((job = slurm_watch_job_on(&bridge->watch, request->nodes, &at)) != NULL) {
        keeper = job->id;
        if (job->only_requires)
            slurm_act_loosen(&bridge->watch, job->id);
    }
    if (keeper != 0)
        return error_set(reterr, SLURM_ACT_OURS, "job %u is not cleared off it yet, or requires it",
                         keeper);
    return 0;
}

static void act(struct bridge *bridge, const struct slurm_request *request)
{
    struct error error = { "" };
    int code = 0;

    slurm_keys_open(&bridge->keys, request->key);
    switch (request->verb) {
    case SLURM_RELEASE:
    case SLURM_HOLD:
    case SLURM_UNHOLD:
        act_on_list(bridge, request);
        return;
    case SLURM_STOP:
        begin_stop(bridge, request);
        return;
    case SLURM_CANCEL:
        code = slurm_act_cancel(&bridge->watch, request, &error);
        answer_was(bridge, request->key, code, &error, "waiting");
        return;
    case SLURM_PLACE:
        code = slurm_act_place(&bridge->watch, request, &error);
        break;
    case SLURM_GIVE_UP:
        code = slurm_act_give_up(&bridge->watch, request, &error);
        break;
    case SLURM_COMMENT:
        code = slurm_act_comment(&bridge->watch, request, &error);
        break;
    case SLURM_EXPLAIN:
        code = slurm_act_explain(&bridge->watch, request, &error);
        break;
    case SLURM_DOWN:
        bridge->look_wanted = bridge->looks + 1;
        code = slurm_act_node(request, &error);
        break;
    case SLURM_DELETE:
        code = may_delete(bridge, request, &error);
        if (code == 0)
            code = slurm_act_node(request, &error);
        break;
    case SLURM_DRAIN:
    case SLURM_RESUME:
        code = slurm_act_node(request, &error);
        break;
    case SLURM_HELLO:
    case SLURM_LIST:
        assert(false); /* obey() has taken them */
    }
    answer(bridge, request->key, code, &error);
}

static void tell_error(struct bridge *bridge, const char *text)
{
    line_text_begin(&bridge->out, "error");
    line_text_prose(&bridge->out, "text", text);
    line_text_end(&bridge->out);
}

static void greet(struct bridge *bridge, const struct slurm_request *request)
{
    struct error error = { "no common protocol" };

    if (request->protocol == SLURM_PROTOCOL &&
        (request->lease == NULL || bridge->lease != NULL ||
         slurm_lease_start(bridge->lease_file, request->lease, bridge->lease_ms, &bridge->lease,
                           &error) == 0)) {
        bridge->is_greeted = true;
        say_alive(bridge);
        return;
    }
    tell_error(bridge, error.text);
    bridge->is_finished = true;
    bridge->status = 2;
}

static void obey(struct bridge *bridge, const struct slurm_request *request)
{
    const char *known = NULL;

    if (request->verb == SLURM_HELLO) {
        greet(bridge, request);
        return;
    }
    if (!bridge->is_greeted) {
        tell_error(bridge, "say hello first");
        return;
    }
    if (request->verb == SLURM_LIST) {
        send_list(bridge, request);
        return;
    }
    switch (slurm_keys_find(&bridge->keys, request->key, &known)) {
    case SLURM_KEY_NEW:
        if (may_act(bridge))
            act(bridge, request);
        else
            put_off(bridge, request->key);
        break;
    case SLURM_KEY_OPEN:
        break;
    case SLURM_KEY_ANSWERED:
        line_text_append(&bridge->out, known, (uint32_t)strlen(known));
        break;
    }
}

/* A request that cannot be read is an error; one that has a key is refused under it. */
static void read_line(struct bridge *bridge, char *text, size_t length)
{
    struct line line;
    struct slurm_request request;
    struct error error = { "" };

    if (length == SIZE_MAX) {
        tell_error(bridge, "the line is too long");
        return;
    }
    if (line_parse(text, length, &line, &error) < 0) {
        tell_error(bridge, error.text);
        return;
    }
    if (slurm_request_read(&line, &request, &error) == 0) {
        obey(bridge, &request);
        return;
    }
    const char *key = line_get(&line, "key");
    uint64_t number = 0;

    if (key != NULL && line_number(key, UINT64_MAX, &number) == 0)
        tell_failure(bridge, "refused", number, 0, error.text);
    else
        tell_error(bridge, error.text);
}

/* Carry out requests until there are no more, it is time to look, or slurmctld is lost. */
static void read_requests(struct bridge *bridge)
{
    char *text = NULL;
    size_t length = 0;

    while (!bridge->is_finished && !bridge->is_lost) {
        if (bridge->is_greeted && monotonic_ms() >= bridge->next_look_ms)
            return;
        if (!line_input_next(&bridge->input, &text, &length))
            return;
        read_line(bridge, text, length);
        if (bridge->out.size > OUTPUT_MAX)
            flush(bridge);
    }
}

/* Processor time: what a look costs us is about what it costs slurmctld. How long it took by the clock
 * says nothing, for when slurmctld is busy it is waiting for the most part. */
static msec_t cost_ms(void)
{
    struct timespec used;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (msec_t)used.tv_sec * MSEC_PER_SEC + used.tv_nsec / 1000000;
}

static void look_around(struct bridge *bridge)
{
    const msec_t begin_ms = cost_ms();
    int code = is_there() ? 0 : SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR;

    bool is_changed = false;

    set_lost(bridge, code);
    if (code == 0 && bridge->release == 0) {
        bridge->release = slurm_release_of_controller();
        slurm_act_set_release(bridge->release);
    }
    if (code == 0)
        code = slurm_rules_load(&bridge->rules, monotonic_ms(), &is_changed);
    if (is_changed)
        slurm_watch_judge_anew(&bridge->watch);
    if (code == 0)
        code = slurm_watch_nodes(&bridge->watch, false, &bridge->out, NULL);
    if (code == 0)
        code = slurm_watch_jobs(&bridge->watch, false, &bridge->out, NULL);
    set_lost(bridge, code);
    if (code == 0)
        bridge->looks++;
    slurm_act_set_clock(bridge->watch.skew_s);

    const msec_t rest_ms = (cost_ms() - begin_ms) * REST_FACTOR;

    bridge->next_look_ms = monotonic_ms() + (rest_ms > bridge->poll_ms ? rest_ms : bridge->poll_ms);
}

/* How long there is nothing to do but to listen. */
static int wait_ms(const struct bridge *bridge)
{
    const msec_t now_ms = monotonic_ms();
    msec_t due_ms = bridge->next_look_ms;

    if (due_ms > bridge->spoke_ms + ALIVE_MS)
        due_ms = bridge->spoke_ms + ALIVE_MS;

    if (!bridge->is_greeted)
        return -1;
    for (uint32_t i = 0; i < bridge->stops_count && !bridge->is_lost; i++) {
        if (bridge->stops[i].due_ms < due_ms)
            due_ms = bridge->stops[i].due_ms;
    }
    return due_ms <= now_ms ? 0 : (int)(due_ms - now_ms);
}

/* Wait for input or for the next thing to do. While slurmctld is lost only the end is heard. */
static void hear(struct bridge *bridge)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = bridge->is_lost ? 0 : POLLIN };
    size_t size = 0;
    char *room = NULL;

    if (poll(&in, 1, wait_ms(bridge)) <= 0)
        return;
    if ((in.revents & POLLIN) == 0) {
        bridge->is_finished = in.revents != 0;
        return;
    }
    room = line_input_room(&bridge->input, &size);
    if (size == 0)
        return;
    const ssize_t n = read(STDIN_FILENO, room, size);

    if (n > 0)
        line_input_add(&bridge->input, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        bridge->is_finished = true;
}

static void hello(struct bridge *bridge)
{
    char release[32];

    (void)snprintf(
        release, sizeof(release), "%02d.%02d.%d", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
        SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER), SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
    line_text_begin(&bridge->out, "hello");
    line_text_number(&bridge->out, "protocol", SLURM_PROTOCOL);
    line_text_string(&bridge->out, "stint", STINT_VERSION);
    line_text_string(&bridge->out, "slurm", release);
    line_text_number(&bridge->out, "lease", 1);
    line_text_end(&bridge->out);
}

/* What is kept is worth little: without it, or if it makes no sense, the points of Slurm alone count. */
static void recall(struct bridge *bridge)
{
    struct error error = { "" };

    if (bridge->raised != NULL &&
        slurm_watch_keep_raised(&bridge->watch, bridge->raised, &error) < 0)
        tell_error(bridge, error.text);
}

static void run(struct bridge *bridge)
{
    hello(bridge);
    recall(bridge);
    while (!bridge->is_finished) {
        if (bridge->is_greeted && monotonic_ms() >= bridge->next_look_ms)
            look_around(bridge);
        read_requests(bridge);
        finish_stops(bridge);
        tell_lease(bridge);
        keep_alive(bridge);
        flush(bridge);
        if (!bridge->is_finished)
            hear(bridge);
    }
    flush(bridge);
}

static const char usage[] =
    "usage: stint-slurm [OPTION...]\n"
    "Connect stintd with slurmctld, in lines over standard input and output.\n"
    "\n"
    "  --poll SECONDS             poll slurmctld at this interval (0.5)\n"
    "  --partitions LIST          manage these partitions only\n"
    "  --ignore-partitions LIST   leave these partitions alone\n"
    "  --ignore-users LIST        leave the jobs of these users alone (names or numbers)\n"
    "  --place-in PARTITION       place jobs in this partition instead of their own\n"
    "  --raised FILE              keep the priorities of 'scontrol top' in this file\n"
    "  --lease FILE               keep the name of the lease's owner in this file\n"
    "  --lease-life SECONDS       how long the lease holds (20)\n"
    "  --version                  print the versions of this program and of Slurm\n"
    "  --help                     print this text\n";

/* Seconds with up to three digits behind the point, as milliseconds; -1: it is no such number. */
static msec_t parse_seconds(const char *text)
{
    char *end = NULL;
    const double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds * 1000 >= POLL_MS_MIN) ||
        !(seconds * 1000 <= POLL_MS_MAX))
        return -1;
    return (msec_t)(seconds * 1000);
}

/* Add the users of 'names', which is taken apart. */
static int ignore_users(struct slurm_filter *filter, char *names)
{
    char *rest = names;
    char *name = NULL;

    while ((name = strsep(&rest, ",")) != NULL) {
        const struct passwd *user = getpwnam(name);
        uint64_t uid = 0;

        if (user != NULL) {
            uid = user->pw_uid;
        } else if (line_number(name, UINT32_MAX, &uid) < 0) {
            (void)fprintf(stderr, "stint-slurm: no user '%s'\n", name);
            return -EINVAL;
        }
        if (filter->ignored_uid_count == SLURM_FILTER_USERS_MAX) {
            (void)fprintf(stderr, "stint-slurm: at most %d users can be ignored\n",
                          SLURM_FILTER_USERS_MAX);
            return -E2BIG;
        }
        filter->ignored_uid[filter->ignored_uid_count++] = (uint32_t)uid;
    }
    return 0;
}

/* 0: go on; 1: done; below 0: it was wrong. */
static int take_option(struct bridge *bridge, int option)
{
    switch (option) {
    case 'p':
        bridge->poll_ms = parse_seconds(optarg);
        return bridge->poll_ms < 0 ? -EINVAL : 0;
    case 'o':
        bridge->filter.partitions = optarg;
        return 0;
    case 'i':
        bridge->filter.ignored_partitions = optarg;
        return 0;
    case 'P':
        bridge->rules.place_in = optarg;
        return 0;
    case 'r':
        bridge->raised = optarg;
        return 0;
    case 'l':
        bridge->lease_file = optarg;
        return 0;
    case 'L':
        bridge->lease_ms = parse_seconds(optarg);
        return bridge->lease_ms < 0 ? -EINVAL : 0;
    case 'u':
        return ignore_users(&bridge->filter, optarg);
    case 'V':
        (void)printf("stint-slurm %s for Slurm %d.%02d\n", STINT_VERSION,
                     SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                     SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER));
        return 1;
    case 'h':
        (void)fputs(usage, stdout);
        return 1;
    default:
        return -EINVAL;
    }
}

static int take_options(struct bridge *bridge, int argc, char **argv)
{
    static const struct option known[] = {
        { "poll", required_argument, NULL, 'p' },
        { "partitions", required_argument, NULL, 'o' },
        { "ignore-partitions", required_argument, NULL, 'i' },
        { "ignore-users", required_argument, NULL, 'u' },
        { "place-in", required_argument, NULL, 'P' },
        { "raised", required_argument, NULL, 'r' },
        { "lease", required_argument, NULL, 'l' },
        { "lease-life", required_argument, NULL, 'L' },
        { "version", no_argument, NULL, 'V' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    int option = 0;
    int result = 0;

    while (result == 0 && (option = getopt_long(argc, argv, "", known, NULL)) != -1)
        result = take_option(bridge, option);
    if (result == 0 && optind < argc)
        result = -EINVAL;
    if (result < 0)
        (void)fputs(usage, stderr);
    return result;
}

int main(int argc, char **argv)
{
    struct bridge bridge = { .poll_ms = POLL_MS_DEFAULT };
    const int options = take_options(&bridge, argc, argv);

    if (options != 0)
        return options < 0 ? 2 : 0;
    /* libslurm cuts the tasks of an array to 64 letters unless it is asked not to. */
    (void)setenv("SLURM_BITSTR_LEN", "0", 1);
    slurm_init(NULL);
    slurm_rules_init(&bridge.rules);
    slurm_watch_init(&bridge.watch, &bridge.filter, &bridge.rules);
    const slurm_conf_t *conf = configuration();

    bridge.rules.enforce = conf == NULL ? 0 : conf->accounting_storage_enforce;
    bridge.watch.launch_s = (conf != NULL ? conf->msg_timeout : 10U) + LAUNCH_MORE_S;
    bridge.watch.is_mem_counted =
        conf != NULL && (conf->select_type_param & SLURM_COUNTS_MEMORY) != 0;
    bridge.watch.rank_rules = slurm_rank_rules(conf);
    bridge.watch.backfill_s = slurm_conf_backfill_s(conf);
    slurm_keys_init(&bridge.keys);
    line_input_init(&bridge.input);

    run(&bridge);

    mem_free(bridge.stops);
    mem_free(bridge.items);
    line_text_done(&bridge.out);
    line_input_done(&bridge.input);
    slurm_keys_done(&bridge.keys);
    slurm_watch_done(&bridge.watch);
    slurm_rules_done(&bridge.rules);
    slurm_fini();
    return bridge.status;
}
