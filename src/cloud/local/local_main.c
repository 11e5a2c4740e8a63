/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_main.c - stint-cloud-local: plays the cloud on one Linux machine. docs/reference/local-cloud.md says what for.
 *
 *     local_server.c   the socket          local_world.c   what was rented, pure
 *     local_host.c     the namespaces      local_init.c    the first process in one
 *
 * Here they are put together: options, the state folder (lock, journal), the log, the loop.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/line_input.h"
#include "base/mem.h"
#include "base/steady_clock.h"
#include "cloud/local/local_host.h"
#include "cloud/local/local_init.h"
#include "cloud/local/local_server.h"
#include "cloud/local/local_world.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/number.h"

enum { CLOSE_MS_MAX = 10000, IDLE_MS_MIN = 100, IDLE_MS_MAX = 30000 };

struct options {
    const char *socket;
    const char *catalogue;
    const char *boot;
    const char *state;
    const char *log;
    const char *bridge;
    const char *faults;
    unsigned network[2];
    uint32_t mode;
    uint64_t seed;
    msec_t idle_ms; /* 0: machines end on request, and not by themselves */
    char *env[LOCAL_ENV_MAX + 1];
    uint32_t env_count;
    bool is_cleanup;
};

struct cloud {
    struct options options;
    char state[PATH_MAX]; /* absolute, as machines have folders of their own */
    char script[PATH_MAX];
    char program[PATH_MAX];
    struct catalogue catalogue;
    struct local_world *world;
    struct local_host *host;
    struct local_server *server;
    struct local_host_config host_config;
    uv_loop_t loop;
    uv_timer_t wake;
    uv_prepare_t prepare;
    uv_signal_t signals[2];
    uv_timer_t deadline;
    uv_timer_t idle;
    msec_t *idle_since; /* by row; 0: not looked at yet */
    uint32_t idle_count;
    uint32_t idle_room;
    struct steady_clock clock;
    int lock;
    int journal;
    int log;
    bool is_closing;
};

static const char usage[] =
    "usage: stint-cloud-local --socket PATH --catalogue FILE --boot SCRIPT --state FOLDER "
    "--log FILE\n"
    "                         [OPTION...]\n"
    "       stint-cloud-local --state FOLDER --cleanup\n"
    "A cloud on this machine: each rented machine is a set of namespaces. Needs root.\n"
    "\n"
    "  --socket PATH        listen here\n"
    "  --catalogue FILE     machines to rent, and their prices\n"
    "  --boot SCRIPT        program of a machine; its end is the machine's end\n"
    "  --state FOLDER       journal and folders of the machines\n"
    "  --log FILE           append events to this file, as CSV\n"
    "  --boot-env K=V       a variable for the script; repeatable\n"
    "  --bridge NAME        bridge, created if missing (slbr0)\n"
    "  --network A.B        the bridge gets A.B.0.1, machines A.B.1.1 and upwards (10.77)\n"
    "  --mode OCTAL         permissions of the socket (0600)\n"
    "  --seed N             seed of all random draws (1)\n"
    "  --idle-shutdown TIME end an idle machine when its cluster has had no client for so "
    "long\n"
    "                       (30m; 0: never)\n"
    "  --faults LIST        K=V,... or a file of such lines: refuse, duplicate, cut (of "
    "1,000),\n"
    "                       delay_ms, quota, capacity:OFFER\n"
    "  --cleanup            remove the machines of a killed server, as listed in its state "
    "folder\n"
    "  --version, --help\n";

static msec_t now_ms(void *context)
{
    struct cloud *cloud = context;
    struct timespec time = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_REALTIME, &time);
    const msec_t now = (msec_t)time.tv_sec * MSEC_PER_SEC + time.tv_nsec / 1000000;

    return steady_clock_read(&cloud->clock, now, (msec_t)(uv_hrtime() / 1000000));
}

static int fail(const char *text)
{
    (void)fprintf(stderr, "stint-cloud-local: %s\n", text);
    return 1;
}

static void append(int fd, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, text, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            (void)fail("cannot write journal or log");
            return;
        }
        text += n;
        size -= (size_t)n;
    }
}

static void on_note(void *context, const char *lines, uint32_t size)
{
    const struct cloud *cloud = context;

    append(cloud->journal, lines, size);
}

static void on_log(void *context, const char *line)
{
    const struct cloud *cloud = context;

    append(cloud->log, line, strlen(line));
}

enum { WORDS_SIZE = 512 };

static void on_tell(void *context, const char *cluster, const char *lines, uint32_t size)
{
    const struct cloud *cloud = context;

    local_server_tell(cloud->server, cluster, lines, size);
}

/* What the catalogue says of the type: its features, with commas, and the model of its accelerators. */
static void print_words(const struct catalogue *catalogue, const struct machine_type *type,
                        char features[WORDS_SIZE], char model[WORDS_SIZE])
{
    static const char gpu[] = "gpu=";
    size_t used = 0;

    features[0] = model[0] = '\0';
    for (uint32_t at = type->word_first; at != 0; at = catalogue->words[at - 1].next) {
        const char *word = names_text(&catalogue->names, catalogue->words[at - 1].word);

        if (strncmp(word, gpu, sizeof(gpu) - 1) == 0)
            (void)snprintf(model, WORDS_SIZE, "%s", word + sizeof(gpu) - 1);
        else if (used + strlen(word) + 1 < WORDS_SIZE)
            used += (size_t)snprintf(features + used, WORDS_SIZE - used, "%s%s",
                                     used > 0 ? "," : "", word);
    }
}

static bool on_boot(void *context, uint32_t row)
{
    const struct cloud *cloud = context;
    const struct local_machine *machine = local_world_machine(cloud->world, row);
    const struct offer *offer = &cloud->catalogue.offers[machine->offer];
    const struct machine_type *type = catalogue_type_of(&cloud->catalogue, machine->offer);
    char features[WORDS_SIZE];
    char model[WORDS_SIZE];

    print_words(&cloud->catalogue, type, features, model);
    const struct local_order order = {
        .row = row,
        .number = machine->number,
        .name = machine->name,
        .type = catalogue_offer_type_name(&cloud->catalogue, machine->offer),
        .family = names_text(&cloud->catalogue.families, type->family),
        .market = market_name(offer->market),
        .zone = offer->zone == NAME_NONE ? "" : names_text(&cloud->catalogue.names, offer->zone),
        .features = features,
        .gpu_model = model,
        .cpu_milli = type->capacity.amount[RES_CPU],
        .mem_mib = type->capacity.amount[RES_MEM],
        .accel_milli = type->capacity.amount[RES_ACCEL],
    };

    return local_host_boot(cloud->host, &order);
}

static void on_kill(void *context, uint32_t row)
{
    const struct cloud *cloud = context;

    local_host_kill(cloud->host, row);
}

static void on_up(void *context, uint32_t row)
{
    struct cloud *cloud = context;

    local_world_up(cloud->world, row, now_ms(cloud));
}

static void on_down(void *context, uint32_t row)
{
    struct cloud *cloud = context;

    local_world_down(cloud->world, row, now_ms(cloud));
}

static void on_wake(uv_timer_t *timer)
{
    struct cloud *cloud = timer->data;

    local_world_tick(cloud->world, now_ms(cloud));
}

/*
 * Nothing is left running when the daemon is dead: a machine ends when no client has been connected for its
 * cluster, and no job has run there, for 'idle_ms'.
 */

static void look_at_idle(struct cloud *cloud, uint32_t row, msec_t now)
{
    const struct local_machine *machine = local_world_machine(cloud->world, row);
    msec_t *since = &cloud->idle_since[row];

    if (machine->state != LOCAL_RUNNING && machine->state != LOCAL_NOTICED)
        return;
    if (*since == 0 || local_server_hears(cloud->server, local_world_cluster(cloud->world, row)) ||
        local_host_is_busy(cloud->host, row)) {
        *since = now;
        return;
    }
    if (now - *since < cloud->options.idle_ms)
        return;
    (void)fprintf(stderr,
                  "stint-cloud-local: %s ends: no client has asked for it and no job has run there "
                  "for %lld s\n",
                  machine->name, (long long)((now - *since) / MSEC_PER_SEC));
    local_world_end_idle(cloud->world, row, now);
}

static void on_idle(uv_timer_t *timer)
{
    struct cloud *cloud = timer->data;
    const uint32_t count = local_world_machine_count(cloud->world);

    MEM_ROOM(cloud->idle_since, cloud->idle_room, count);
    while (cloud->idle_count < count)
        cloud->idle_since[cloud->idle_count++] = 0;
    for (uint32_t row = 0; row < count && !cloud->is_closing && cloud->server != NULL; row++)
        look_at_idle(cloud, row, now_ms(cloud));
}

/* Before the loop sleeps: until when may it? */
static void on_prepare(uv_prepare_t *prepare)
{
    struct cloud *cloud = prepare->data;
    const msec_t wake = local_world_next_wake(cloud->world);
    const msec_t now = now_ms(cloud);

    if (cloud->is_closing && local_world_living(cloud->world) == 0) {
        uv_stop(&cloud->loop);
    } else if (wake == MSEC_NEVER) {
        (void)uv_timer_stop(&cloud->wake);
    } else {
        uv_update_time(&cloud->loop);
        (void)uv_timer_start(&cloud->wake, on_wake, wake > now ? (uint64_t)(wake - now) : 0, 0);
    }
}

static void on_deadline(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void on_signal(uv_signal_t *handle, int signal)
{
    struct cloud *cloud = handle->data;

    (void)signal;
    if (cloud->is_closing)
        return;
    cloud->is_closing = true;
    (void)uv_timer_start(&cloud->deadline, on_deadline, CLOSE_MS_MAX, 0);
    local_world_close(cloud->world, now_ms(cloud));
}

/* "K=V" of --faults or of a line of its file. */
static int take_fault(struct cloud *cloud, char *text)
{
    static const char capacity[] = "capacity:";
    char *equals = strrchr(text, '=');
    uint32_t value = 0;
    uint64_t count = 0;

    if (equals == NULL)
        return -EINVAL;
    *equals = '\0';
    if (strncmp(text, capacity, strlen(capacity)) == 0) {
        if (line_number(equals + 1, UINT32_MAX, &count) < 0)
            return -EINVAL;
        return local_world_set_capacity(cloud->world, text + strlen(capacity), (uint32_t)count);
    }
    const enum local_fault fault = local_fault_read(text, equals + 1, &value);

    if (fault == LOCAL_FAULT_KINDS)
        return -EINVAL;
    local_world_set_fault(cloud->world, fault, value);
    return 0;
}

static int take_faults(struct cloud *cloud, struct error *reterr)
{
    const char *list = cloud->options.faults;
    struct input_file file = { .text = NULL };
    char *copy = NULL;
    int error = 0;

    if (list == NULL)
        return 0;
    if (strchr(list, '=') == NULL) {
        error = input_file_read(list, &file, reterr);
        if (error < 0)
            return error;
        list = file.text;
    }
    copy = strdup(list);
    assert(copy != NULL);
    char *rest = copy;
    char *item = NULL;

    while (error == 0 && (item = strsep(&rest, ",\n")) != NULL) {
        if (item[0] == '\0' || item[0] == '#')
            continue;
        error = take_fault(cloud, item);
        if (error < 0)
            (void)error_set(reterr, error, "--faults: '%s' is none", item);
    }
    free(copy);
    input_file_done(&file);
    return error;
}

static int read_catalogue(struct cloud *cloud, struct error *reterr)
{
    struct input_file file = { .text = NULL };
    int error = input_file_read(cloud->options.catalogue, &file, reterr);

    if (error == 0) {
        error = catalogue_file_read(file.text, file.length, &cloud->catalogue, reterr);
        if (error < 0)
            error = error_prefix(reterr, error, cloud->options.catalogue);
    }
    input_file_done(&file);
    return error;
}

/* What the journal says; a last line that was cut short by a crash is let go. */
static int read_journal(struct cloud *cloud, const char *path, struct error *reterr)
{
    struct input_file file = { .text = NULL };
    int error = 0;

    if (access(path, F_OK) != 0)
        return 0;
    error = input_file_read(path, &file, reterr);
    if (error < 0)
        return error;
    char *at = file.text;
    char *end = NULL;

    while (error == 0 && (end = strchr(at, '\n')) != NULL) {
        struct line line;

        error = line_parse(at, (size_t)(end - at), &line, reterr);
        if (error == 0)
            error = local_world_restore(cloud->world, &line, reterr);
        at = end + 1;
    }
    if (error == 0 && *at != '\0')
        error = truncate(path, at - file.text) == 0 ? 0 : error_set(reterr, -EIO, "cannot cut");
    if (error < 0)
        error = error_prefix(reterr, error, path);
    input_file_done(&file);
    return error;
}

/* Whoever can write there could have us, who are root, write elsewhere and end processes of
 * others. */
static int check_state(const char *path, struct error *reterr)
{
    struct stat about;

    if (lstat(path, &about) < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return error_set(
            reterr, -EACCES,
            "%s: must be a folder that belongs to this user and is not writable by others", path);
    return 0;
}

/* The folder, its lock, absolute paths. */
static int open_state(struct cloud *cloud, struct error *reterr)
{
    char path[PATH_MAX + 16];

    if (mkdir(cloud->options.state, 0755) < 0 && errno != EEXIST)
        return error_set(reterr, -errno, "%s: %s", cloud->options.state, strerror(errno));
    const int error = check_state(cloud->options.state, reterr);

    if (error < 0)
        return error;
    if (realpath(cloud->options.state, cloud->state) == NULL)
        return error_set(reterr, -errno, "%s: %s", cloud->options.state, strerror(errno));
    (void)snprintf(path, sizeof(path), "%s/lock", cloud->state);
    cloud->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (cloud->lock < 0 || flock(cloud->lock, LOCK_EX | LOCK_NB) < 0)
        return error_set(reterr, -EBUSY, "%s: another server uses it", cloud->state);
    (void)snprintf(path, sizeof(path), "%s/machines", cloud->state);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    cloud->host_config = (struct local_host_config){
        .loop = &cloud->loop,
        .program = cloud->program,
        .script = cloud->script,
        .state = cloud->state,
        .bridge = cloud->options.bridge,
        .network = { cloud->options.network[0], cloud->options.network[1] },
        .on_up = on_up,
        .on_down = on_down,
        .context = cloud,
    };
    memcpy(cloud->host_config.env, cloud->options.env, sizeof(cloud->options.env));
    return 0;
}

static int open_files(struct cloud *cloud, struct error *reterr)
{
    static const char head[] =
        "ms,event,id,name,offer,price_microdollars_per_hour,billed_from,billed_to,why\n";
    char path[PATH_MAX + 16];
    struct stat about;

    (void)snprintf(path, sizeof(path), "%s/journal", cloud->state);
    const int error = read_journal(cloud, path, reterr);

    if (error < 0)
        return error;
    cloud->journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (cloud->journal < 0)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    cloud->log =
        open(cloud->options.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (cloud->log < 0 || fstat(cloud->log, &about) < 0)
        return error_set(reterr, -errno, "%s: %s", cloud->options.log, strerror(errno));
    if (about.st_size == 0)
        on_log(cloud, head);
    return 0;
}

static int open_world(struct cloud *cloud, struct error *reterr)
{
    const struct local_world_config config = {
        .catalogue = &cloud->catalogue,
        .seed = cloud->options.seed,
        .boot = on_boot,
        .kill = on_kill,
        .tell = on_tell,
        .note = on_note,
        .log = on_log,
        .context = cloud,
    };
    size_t size = sizeof(cloud->program);
    int error = read_catalogue(cloud, reterr);

    if (error < 0)
        return error;
    if (realpath(cloud->options.boot, cloud->script) == NULL || access(cloud->script, X_OK) < 0)
        return error_set(reterr, -errno, "%s: %s", cloud->options.boot, strerror(errno));
    if (uv_exepath(cloud->program, &size) < 0)
        return error_set(reterr, -ENOENT, "cannot find our own program");
    cloud->world = local_world_create(&config);
    error = take_faults(cloud, reterr);
    if (error == 0)
        error = open_files(cloud, reterr);
    return error;
}

static void start_handles(struct cloud *cloud)
{
    static const int numbers[2] = { SIGTERM, SIGINT };

    (void)uv_timer_init(&cloud->loop, &cloud->wake);
    (void)uv_timer_init(&cloud->loop, &cloud->deadline);
    (void)uv_timer_init(&cloud->loop, &cloud->idle);
    cloud->idle.data = cloud;
    if (cloud->options.idle_ms > 0) {
        const uint64_t every = (uint64_t)cloud->options.idle_ms / 10;

        (void)uv_timer_start(&cloud->idle, on_idle, 0,
                             every < IDLE_MS_MIN   ? IDLE_MS_MIN
                             : every > IDLE_MS_MAX ? IDLE_MS_MAX
                                                   : every);
    }
    (void)uv_prepare_init(&cloud->loop, &cloud->prepare);
    cloud->wake.data = cloud;
    cloud->prepare.data = cloud;
    (void)uv_prepare_start(&cloud->prepare, on_prepare);
    for (int i = 0; i < 2; i++) {
        (void)uv_signal_init(&cloud->loop, &cloud->signals[i]);
        cloud->signals[i].data = cloud;
        (void)uv_signal_start(&cloud->signals[i], on_signal, numbers[i]);
    }
}

static void close_handles(struct cloud *cloud)
{
    uv_close((uv_handle_t *)&cloud->wake, NULL);
    uv_close((uv_handle_t *)&cloud->deadline, NULL);
    uv_close((uv_handle_t *)&cloud->idle, NULL);
    uv_close((uv_handle_t *)&cloud->prepare, NULL);
    for (int i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&cloud->signals[i], NULL);
}

static int serve(struct cloud *cloud, struct error *reterr)
{
    const struct local_server_config config = {
        .loop = &cloud->loop,
        .world = cloud->world,
        .socket = cloud->options.socket,
        .mode = cloud->options.mode,
        .seed = cloud->options.seed,
        .now = now_ms,
        .context = cloud,
    };
    int error = local_host_make_bridge(&cloud->host_config, reterr);

    if (error < 0)
        return error;
    (void)uv_loop_init(&cloud->loop);
    cloud->host = local_host_create(&cloud->host_config);
    local_world_restored(cloud->world, now_ms(cloud));
    start_handles(cloud);
    error = local_server_open(&config, &cloud->server, reterr);
    if (error == 0) {
        (void)uv_run(&cloud->loop, UV_RUN_DEFAULT);
        local_server_close(cloud->server);
        cloud->server = NULL;
        (void)unlink(cloud->options.socket);
    }
    close_handles(cloud);
    (void)uv_run(&cloud->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&cloud->loop);
    local_host_destroy(cloud->host);
    local_host_remove_bridge(&cloud->host_config);
    return error;
}

static int run(struct cloud *cloud)
{
    struct error error = { "" };
    int code = open_state(cloud, &error);

    if (code == 0 && cloud->options.is_cleanup) {
        char path[PATH_MAX + 16];

        local_host_cleanup(&cloud->host_config);
        (void)snprintf(path, sizeof(path), "%s/journal", cloud->state);
        (void)unlink(path);
        return 0;
    }
    if (code == 0)
        code = open_world(cloud, &error);
    if (code == 0)
        code = serve(cloud, &error);
    local_world_destroy(cloud->world);
    catalogue_done(&cloud->catalogue);
    mem_free(cloud->idle_since);
    return code < 0 ? fail(error.text) : 0;
}

static bool take_network(const char *text, unsigned ret[2])
{
    char copy[16];
    uint64_t numbers[2] = { 0, 0 };

    if (strlen(text) >= sizeof(copy))
        return false;
    (void)snprintf(copy, sizeof(copy), "%s", text);
    char *point = strchr(copy, '.');

    if (point == NULL)
        return false;
    *point = '\0';
    if (line_number(copy, 255, &numbers[0]) < 0 || line_number(point + 1, 255, &numbers[1]) < 0)
        return false;
    ret[0] = (unsigned)numbers[0];
    ret[1] = (unsigned)numbers[1];
    return true;
}

static bool take_mode(const char *text, uint32_t *ret)
{
    char *end = NULL;
    const unsigned long mode = strtoul(text, &end, 8);

    *ret = (uint32_t)mode;
    return end != text && *end == '\0' && mode <= 0777;
}

static bool take_bridge(const char *text, const char **ret)
{
    const size_t length = strlen(text);

    *ret = text;
    return length > 0 && length <= LOCAL_BRIDGE_MAX &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789") == length;
}

static bool take_env(struct options *options, char *text)
{
    if (options->env_count == LOCAL_ENV_MAX || strchr(text, '=') == NULL)
        return false;
    options->env[options->env_count++] = text;
    return true;
}

enum {
    OPT_SOCKET,
    OPT_CATALOGUE,
    OPT_BOOT,
    OPT_STATE,
    OPT_LOG,
    OPT_FAULTS,
    OPT_TEXTS, /* those above are texts, kept as they are */
    OPT_ENV,
    OPT_BRIDGE,
    OPT_NETWORK,
    OPT_MODE,
    OPT_SEED,
    OPT_IDLE,
    OPT_CLEANUP,
    OPT_VERSION,
    OPT_HELP,
};

/* 0: go on; 1: done; below 0: it was wrong. */
static int take_option(struct options *options, int option)
{
    bool is_good = true;

    switch (option) {
    case OPT_ENV:
        is_good = take_env(options, optarg);
        break;
    case OPT_BRIDGE:
        is_good = take_bridge(optarg, &options->bridge);
        break;
    case OPT_NETWORK:
        is_good = take_network(optarg, options->network);
        break;
    case OPT_MODE:
        is_good = take_mode(optarg, &options->mode);
        break;
    case OPT_SEED:
        is_good = line_number(optarg, UINT64_MAX, &options->seed) == 0;
        break;
    case OPT_IDLE:
        is_good = number_duration(optarg, strlen(optarg), &options->idle_ms) == 0 &&
                  options->idle_ms >= 0;
        break;
    case OPT_CLEANUP:
        options->is_cleanup = true;
        break;
    case OPT_VERSION:
        (void)puts("stint-cloud-local " STINT_VERSION);
        return 1;
    case OPT_HELP:
        (void)fputs(usage, stdout);
        return 1;
    default:
        is_good = false;
    }
    return is_good ? 0 : -EINVAL;
}

static int take_options(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {
        { "socket", required_argument, NULL, OPT_SOCKET },
        { "catalogue", required_argument, NULL, OPT_CATALOGUE },
        { "boot", required_argument, NULL, OPT_BOOT },
        { "state", required_argument, NULL, OPT_STATE },
        { "log", required_argument, NULL, OPT_LOG },
        { "faults", required_argument, NULL, OPT_FAULTS },
        { "boot-env", required_argument, NULL, OPT_ENV },
        { "bridge", required_argument, NULL, OPT_BRIDGE },
        { "network", required_argument, NULL, OPT_NETWORK },
        { "mode", required_argument, NULL, OPT_MODE },
        { "seed", required_argument, NULL, OPT_SEED },
        { "idle-shutdown", required_argument, NULL, OPT_IDLE },
        { "cleanup", no_argument, NULL, OPT_CLEANUP },
        { "version", no_argument, NULL, OPT_VERSION },
        { "help", no_argument, NULL, OPT_HELP },
        { NULL, 0, NULL, 0 },
    };
    const char **texts[OPT_TEXTS] = { &options->socket, &options->catalogue, &options->boot,
                                      &options->state,  &options->log,       &options->faults };
    int option = 0;
    int result = 0;

    while (result == 0 && (option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option >= 0 && option < OPT_TEXTS)
            *texts[option] = optarg;
        else
            result = take_option(options, option);
    }
    if (result != 0)
        return result;
    if (optind < argc || options->state == NULL)
        return -EINVAL;
    if (!options->is_cleanup && (options->socket == NULL || options->catalogue == NULL ||
                                 options->boot == NULL || options->log == NULL))
        return -EINVAL;
    return 0;
}

int main(int argc, char **argv)
{
    static struct cloud cloud = {
        .options = { .bridge = "slbr0",
                     .network = { 10, 77 },
                     .mode = 0600,
                     .seed = 1,
                     .idle_ms = (msec_t)1800 * MSEC_PER_SEC },
    };

    if (argc > 1 && strcmp(argv[1], "init") == 0)
        return local_init_main(argc, argv);
    const int options = take_options(&cloud.options, argc, argv);

    if (options > 0)
        return 0;
    if (options < 0) {
        (void)fputs(usage, stderr);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return run(&cloud);
}
