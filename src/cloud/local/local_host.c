/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_host.c - see local_host.h.
 *
 *     spawn 'init' --'r'--> spawn 'ip link add' --exit 0--> write 'g' --'u'--> up
 *
 * A struct machine lives until its last handle is closed; 'handles' counts them.
 */
#include "cloud/local/local_host.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/line.h"
#include "base/mem.h"
#include "cloud/job_watch.h"
#include "cloud/local/local_protocol.h"

enum {
    ENV_OWN_MAX = 16,
    ENV_VALUE_SIZE = PATH_MAX + 32,
    HOSTS_PER_NET = 254,
    LINK_NUMBERS = 1000000, /* six digits behind LOCAL_BRIDGE_MAX letters and a '-' */
};

struct machine {
    struct local_host *host;
    uint32_t row;
    uint32_t number;
    uint32_t handles;
    bool is_down;
    uv_process_t init;
    uv_process_t ip;
    uv_pipe_t in;
    uv_pipe_t out;
    uv_write_t go;
    char heard[8];
};

struct local_host {
    struct local_host_config config;
    struct machine **of_row;
    uint32_t rows;
    uint32_t rows_room;
};

/* The script's environment: "K=V" texts, and pointers to them. */
struct env {
    char text[ENV_OWN_MAX][ENV_VALUE_SIZE];
    char *list[ENV_OWN_MAX + LOCAL_ENV_MAX + 1];
    uint32_t count;
};

static void release(struct machine *machine)
{
    assert(machine->handles > 0);
    machine->handles--;
    if (machine->handles == 0)
        mem_free(machine);
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static void end_machine(struct machine *machine)
{
    if (!machine->is_down)
        (void)uv_process_kill(&machine->init, SIGTERM);
}

static void on_init_exit(uv_process_t *process, int64_t status, int signal)
{
    struct machine *machine = process->data;
    struct local_host *host = machine->host;
    const uint32_t row = machine->row;

    (void)status;
    (void)signal;
    machine->is_down = true;
    host->of_row[row] = NULL;
    uv_close((uv_handle_t *)&machine->init, on_closed);
    uv_close((uv_handle_t *)&machine->in, on_closed);
    uv_close((uv_handle_t *)&machine->out, on_closed);
    host->config.on_down(host->config.context, row);
}

static void on_ip_exit(uv_process_t *process, int64_t status, int signal)
{
    struct machine *machine = process->data;
    static char go[] = "g";
    const uv_buf_t byte = uv_buf_init(go, 1);

    uv_close((uv_handle_t *)process, on_closed);
    if (machine->is_down)
        return;
    if (status != 0 || signal != 0 ||
        uv_write(&machine->go, (uv_stream_t *)&machine->in, &byte, 1, NULL) < 0)
        end_machine(machine);
}

/* The namespace is there: put one end of a link into it, the other on the bridge. */
static void make_link(struct machine *machine)
{
    char bridge[16];
    char link[32];
    char pid[16];

    (void)snprintf(bridge, sizeof(bridge), "%s", machine->host->config.bridge);
    (void)snprintf(link, sizeof(link), "%s-%" PRIu32, bridge, machine->number % LINK_NUMBERS);
    (void)snprintf(pid, sizeof(pid), "%d", machine->init.pid);

    char *argv[] = { (char[]){ "ip" },
                     (char[]){ "link" },
                     (char[]){ "add" },
                     (char[]){ "name" },
                     link,
                     (char[]){ "master" },
                     bridge,
                     (char[]){ "up" },
                     (char[]){ "type" },
                     (char[]){ "veth" },
                     (char[]){ "peer" },
                     (char[]){ "name" },
                     (char[]){ "eth0" },
                     (char[]){ "netns" },
                     pid,
                     NULL };
    const uv_process_options_t options = {
        .file = "ip",
        .args = argv,
        .exit_cb = on_ip_exit,
    };

    machine->ip.data = machine;
    machine->handles++;
    if (uv_spawn(machine->host->config.loop, &machine->ip, &options) < 0) {
        uv_close((uv_handle_t *)&machine->ip, on_closed);
        end_machine(machine);
    }
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    struct machine *machine = handle->data;

    (void)wanted;
    *ret = uv_buf_init(machine->heard, sizeof(machine->heard));
}

static void on_heard(uv_stream_t *stream, ssize_t size, const uv_buf_t *bytes)
{
    struct machine *machine = stream->data;

    if (size < 0) {
        (void)uv_read_stop(stream);
        return;
    }
    for (ssize_t i = 0; i < size && !machine->is_down; i++) {
        if (bytes->base[i] == 'r')
            make_link(machine);
        else if (bytes->base[i] == 'u')
            machine->host->config.on_up(machine->host->config.context, machine->row);
    }
}

__attribute__((format(printf, 2, 3))) static void env_add(struct env *env, const char *format, ...)
{
    va_list arguments;

    assert(env->count < ENV_OWN_MAX);
    va_start(arguments, format);
    (void)vsnprintf(env->text[env->count], ENV_VALUE_SIZE, format, arguments);
    va_end(arguments);
    env->list[env->count] = env->text[env->count];
    env->count++;
}

static void address_of(const struct local_host_config *config, uint32_t number, char ret[16])
{
    const uint32_t k = (number - 1) % (HOSTS_PER_NET * HOSTS_PER_NET);

    (void)snprintf(ret, 16, "%u.%u.%u.%u", config->network[0] & 255U, config->network[1] & 255U,
                   (1 + k / HOSTS_PER_NET) & 255U, (1 + k % HOSTS_PER_NET) & 255U);
}

static void fill_env(const struct local_host_config *config, const struct local_order *order,
                     const char *folder, const char *address, struct env *env)
{
    const char *path = getenv("PATH");

    env->count = 0;
    env_add(env, "PATH=%s", path != NULL ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
    env_add(env, "NAME=%s", order->name);
    env_add(env, "TYPE=%s", order->type);
    env_add(env, "FAMILY=%s", order->family);
    env_add(env, "MARKET=%s", order->market);
    env_add(env, "ZONE=%s", order->zone);
    env_add(env, "TYPE_FEATURES=%s", order->features);
    env_add(env, "GPU_MODEL=%s", order->gpu_model);
    env_add(env, "CPUS=%" PRId64, order->cpu_milli / 1000);
    env_add(env, "MEM_MIB=%" PRId64, order->mem_mib);
    env_add(env, "ACCELS=%" PRId64, order->accel_milli / 1000);
    env_add(env, "ADDRESS=%s", address);
    env_add(env, "FOLDER=%s", folder);
    env_add(env, "STATE=%s", config->state);
    for (uint32_t i = 0; config->env[i] != NULL; i++)
        env->list[env->count++] = config->env[i];
    env->list[env->count] = NULL;
}

/* When the process began, in the kernel's ticks, to tell it from a later one of the same number; 0:
 * there is none, or only its name is left until someone reaps it. */
static uint64_t began_at(int pid)
{
    char path[64];
    char text[1024];
    uint64_t ticks = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    const ssize_t size = read(fd, text, sizeof(text) - 1);

    (void)close(fd);
    if (size <= 0)
        return 0;
    text[size] = '\0';

    /* Field 2 is a name in brackets, which may hold anything; field 22 is meant. */
    char *rest = strrchr(text, ')');

    if (rest != NULL && strncmp(rest, ") Z", 3) == 0)
        return 0;
    for (int field = 2; rest != NULL && field < 22; field++) {
        rest = strchr(rest, ' ');
        if (rest != NULL)
            rest++;
    }
    if (rest == NULL)
        return 0;
    char *end = strchr(rest, ' ');

    if (end != NULL)
        *end = '\0';
    return line_number(rest, UINT64_MAX, &ticks) < 0 ? 0 : ticks;
}

static void note_pid(const char *folder, int pid)
{
    char path[PATH_MAX + 8];

    (void)snprintf(path, sizeof(path), "%s/pid", folder);
    FILE *file = fopen(path, "we");

    if (file == NULL)
        return;
    (void)fprintf(file, "%d %" PRIu64 "\n", pid, began_at(pid));
    (void)fclose(file);
}

/* The machine's folder and console; the descriptor of the latter, or below 0. */
static int make_folder(const struct local_host_config *config, const struct local_order *order,
                       char *folder, size_t size)
{
    char console[PATH_MAX + 16];

    const int length = snprintf(folder, size, "%s/machines/%" PRIu32 "-%s", config->state,
                                order->number, order->name);

    if (length < 0 || (size_t)length >= size || mkdir(folder, 0755) < 0)
        return -1;
    (void)snprintf(console, sizeof(console), "%s/console", folder);
    return open(console, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int spawn_init(struct machine *machine, const struct local_order *order, const char *folder,
                      int console)
{
    const struct local_host_config *config = &machine->host->config;
    struct env *env = mem_alloc(1, sizeof(*env));
    char address[16];
    char name[LOCAL_NAME_MAX + 1];

    (void)snprintf(name, sizeof(name), "%s", order->name);
    address_of(config, order->number, address);
    fill_env(config, order, folder, address, env);

    char *argv[] = { (char[]){ "stint-cloud-local" },
                     (char[]){ "init" },
                     config->script,
                     name,
                     address,
                     (char[]){ "16" },
                     NULL };
    uv_stdio_container_t stdio[] = {
        { .flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&machine->in },
        { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&machine->out },
        { .flags = UV_INHERIT_FD, .data.fd = console },
    };
    const uv_process_options_t options = {
        .file = config->program,
        .args = argv,
        .env = env->list,
        .cwd = folder,
        .exit_cb = on_init_exit,
        .stdio = stdio,
        .stdio_count = 3,
    };
    const int error = uv_spawn(config->loop, &machine->init, &options);

    mem_free(env);
    return error;
}

bool local_host_boot(struct local_host *host, const struct local_order *order)
{
    char folder[PATH_MAX];
    const int console = make_folder(&host->config, order, folder, sizeof(folder));

    if (console < 0)
        return false;
    struct machine *machine = mem_alloc(1, sizeof(*machine));

    machine->host = host;
    machine->row = order->row;
    machine->number = order->number;
    machine->handles = 3;
    machine->init.data = machine;
    machine->in.data = machine;
    machine->out.data = machine;
    (void)uv_pipe_init(host->config.loop, &machine->in, 0);
    (void)uv_pipe_init(host->config.loop, &machine->out, 0);
    const int error = spawn_init(machine, order, folder, console);

    (void)close(console);
    if (error < 0) {
        machine->is_down = true;
        uv_close((uv_handle_t *)&machine->init, on_closed);
        uv_close((uv_handle_t *)&machine->in, on_closed);
        uv_close((uv_handle_t *)&machine->out, on_closed);
        return false;
    }
    note_pid(folder, machine->init.pid);
    (void)uv_read_start((uv_stream_t *)&machine->out, on_room, on_heard);
    while (host->rows <= order->row) {
        MEM_ROOM(host->of_row, host->rows_room, host->rows + 1);
        host->of_row[host->rows++] = NULL;
    }
    host->of_row[order->row] = machine;
    return true;
}

bool local_host_is_busy(const struct local_host *host, uint32_t row)
{
    const struct machine *machine = row < host->rows ? host->of_row[row] : NULL;
    const uint64_t space = machine != NULL ? job_watch_space_of(machine->init.pid) : 0;

    return space == 0 || job_watch_is_busy("/proc", space);
}

void local_host_kill(struct local_host *host, uint32_t row)
{
    if (row < host->rows && host->of_row[row] != NULL)
        end_machine(host->of_row[row]);
}

struct local_host *local_host_create(const struct local_host_config *config)
{
    struct local_host *host = mem_alloc(1, sizeof(*host));

    host->config = *config;
    return host;
}

void local_host_destroy(struct local_host *host)
{
    if (host == NULL)
        return;
    mem_free(host->of_row);
    mem_free(host);
}

/* Run 'ip' with these words and wait for it. */
static bool run_ip(char *const *words)
{
    pid_t pid = 0;
    int status = 0;

    if (posix_spawnp(&pid, "ip", NULL, NULL, words, environ) != 0)
        return false;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void mark_path(const struct local_host_config *config, char ret[PATH_MAX])
{
    (void)snprintf(ret, PATH_MAX, "%s/bridge", config->state);
}

/* With an ether address of its own: else a bridge takes the lowest one among its links, and whenever a
 * machine comes or goes the others may lose their way to the host for seconds. */
int local_host_make_bridge(const struct local_host_config *config, struct error *reterr)
{
    char bridge[16];
    char address[24];
    char ether[24];
    char mark[PATH_MAX];

    if (if_nametoindex(config->bridge) != 0)
        return 0;
    mark_path(config, mark);
    FILE *file = fopen(mark, "we");

    if (file == NULL || fprintf(file, "%s\n", config->bridge) < 0 || fclose(file) != 0)
        return error_set(reterr, -EIO, "cannot write %s", mark);
    (void)snprintf(bridge, sizeof(bridge), "%s", config->bridge);
    (void)snprintf(address, sizeof(address), "%u.%u.0.1/16", config->network[0] & 255U,
                   config->network[1] & 255U);
    (void)snprintf(ether, sizeof(ether), "02:00:%02x:%02x:00:01", config->network[0] & 255U,
                   config->network[1] & 255U);

    char *const add[] = { (char[]){ "ip" },
                          (char[]){ "link" },
                          (char[]){ "add" },
                          bridge,
                          (char[]){ "address" },
                          ether,
                          (char[]){ "type" },
                          (char[]){ "bridge" },
                          NULL };
    char *const assign[] = { (char[]){ "ip" },
                             (char[]){ "addr" },
                             (char[]){ "add" },
                             address,
                             (char[]){ "dev" },
                             bridge,
                             NULL };
    char *const up[] = { (char[]){ "ip" }, (char[]){ "link" }, (char[]){ "set" },
                         bridge,           (char[]){ "up" },   NULL };

    if (!run_ip(add) || !run_ip(assign) || !run_ip(up))
        return error_set(reterr, -EIO, "cannot make the bridge %s; is there 'ip', and are we root?",
                         config->bridge);
    return 0;
}

void local_host_remove_bridge(const struct local_host_config *config)
{
    char mark[PATH_MAX];
    char bridge[16] = "";

    mark_path(config, mark);
    FILE *file = fopen(mark, "re");

    if (file == NULL)
        return;
    if (fgets(bridge, sizeof(bridge), file) == NULL)
        bridge[0] = '\0';
    (void)fclose(file);
    bridge[strcspn(bridge, "\n")] = '\0';
    char *const words[] = { (char[]){ "ip" }, (char[]){ "link" }, (char[]){ "del" }, bridge, NULL };

    if (bridge[0] != '\0' && if_nametoindex(bridge) != 0)
        (void)run_ip(words);
    (void)unlink(mark);
}

/* Kill the process that the folder names, unless its number has passed to another. */
static void end_left_over(const char *folder)
{
    char path[PATH_MAX + NAME_MAX + 16];
    int pid = 0;
    uint64_t began = 0;

    (void)snprintf(path, sizeof(path), "%s/pid", folder);
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return;
    /* NOLINTNEXTLINE(cert-err34-c): both numbers are held against /proc */
    const int fields = fscanf(file, "%d %" SCNu64, &pid, &began);

    (void)fclose(file);
    if (fields != 2 || pid <= 1 || began == 0 || began_at(pid) != began)
        return;
    (void)kill(pid, SIGTERM);
    for (int i = 0; i < 200 && began_at(pid) == began; i++)
        (void)usleep(10000);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

void local_host_cleanup(const struct local_host_config *config)
{
    char machines[PATH_MAX];

    (void)snprintf(machines, sizeof(machines), "%s/machines", config->state);
    DIR *folder = opendir(machines);
    const struct dirent *entry = NULL;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char path[PATH_MAX + NAME_MAX + 2];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", machines, entry->d_name);
        end_left_over(path);
        (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    if (folder != NULL)
        (void)closedir(folder);
    local_host_remove_bridge(config);
}
