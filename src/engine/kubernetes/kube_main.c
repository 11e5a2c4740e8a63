/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_main.c - stint-kubernetes: the API server of Kubernetes, spoken in lines. It decides nothing.
 *
 *     stint-kubernetes engine    pods and nodes (kube_bridge.h)
 *     stint-kubernetes cloud     machines as Karpenter's NodeClaims (kube_claims.h)
 *     stint-kubernetes release   open the gate of all that waits for Stint (kube_release.h)
 *     stint-kubernetes watchdog  do that whenever Stint has not renewed its lease in time (kube_lease.h)
 *     stint-kubernetes install   put what Stint needs into a cluster (kube_install.h)
 *     stint-kubernetes uninstall take all of Stint out of a cluster (kube_uninstall.h)
 *     stint-kubernetes lead      of several copies, one runs a command such as stintd (kube_lead.h)
 *
 * One thread and one loop: lines of the daemon from standard input, answers and news to standard output, libcurl in
 * between. It ends when its input does.
 */
#include <argp.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/line_input.h"
#include "base/mem.h"
#include "engine/kubernetes/kube_bridge.h"
#include "engine/kubernetes/kube_claims.h"
#include "engine/kubernetes/kube_install.h"
#include "engine/kubernetes/kube_lead.h"
#include "engine/kubernetes/kube_lease.h"
#include "engine/kubernetes/kube_protocol.h"
#include "engine/kubernetes/kube_release.h"
#include "engine/kubernetes/kube_uninstall.h"
#include "trace/input_file.h"

enum {
    KEY_CONFIG = 'k',
    KEY_CONTEXT = 'c',
    KEY_CLASS = 'n',
    KEY_AFTER = 'a',
    KEY_DRY = 'd',
    KEY_IMAGE = 'i',
    KEY_CONF = 'f',
    KEY_CATALOGUE = 'p',
    AFTER_S = 120,
    TURN_MS = 1000,
    EXIT_WRONG_USE = 2
};

static const struct argp_option options[] = {
    { "kubeconfig", KEY_CONFIG, "FILE", 0,
      "Address of the API server and credentials (default: the account of the surrounding pod)",
      0 },
    { "context", KEY_CONTEXT, "NAME", 0, "Use this context of the file", 0 },
    { "node-class", KEY_CLASS, "GROUP/KIND/NAME", 0,
      "cloud: the node class of every machine, such as karpenter.k8s.aws/EC2NodeClass/default", 0 },
    { "after", KEY_AFTER, "SECONDS", 0,
      "watchdog: open the gates if the lease is this old; 10 to 86400, default 120", 0 },
    { "dry-run", KEY_DRY, NULL, 0, "install, uninstall: print the changes, and only read", 0 },
    { "image", KEY_IMAGE, "IMAGE", 0, "install: run the daemon in the cluster too", 0 },
    { "conf", KEY_CONF, "FILE", 0, "install with an image: the daemon's stint.conf", 0 },
    { "catalogue", KEY_CATALOGUE, "FILE", 0, "install with an image: the catalogue", 0 },
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
    "Connect stintd with a Kubernetes API server. stintd starts this program itself and "
    "exchanges lines with it.\vROLE is one of\n"
    "  engine     report pods and nodes, and place pods\n"
    "  cloud      rent machines as NodeClaims of Karpenter\n"
    "  release    open the gate of every pod that waits for Stint, and exit\n"
    "  watchdog   do that whenever Stint renews its lease too late\n"
    "  install    create the namespace, the admission policy and the rights of\n"
    "             Stint; with --image, --conf and --catalogue the daemon too\n"
    "  uninstall  remove labels, policy, gates, empty machines and rights of Stint;\n"
    "             pods keep running\n"
    "  lead       wait for the Lease stint-leader, run COMMAND while holding it,\n"
    "             and kill COMMAND when the lease is lost\n"
    "\n"
    "Exit codes: 0 end of input, or done, 1 no answer or a refusal from the API server, a "
    "lost lease, or machines left that run pods, 2 wrong usage. lead exits with the code of "
    "COMMAND.";

struct arguments {
    const char *role;
    const char *kubeconfig;
    const char *context;
    char *node_class;
    char **command; /* of lead */
    const char *image;
    const char *conf;
    const char *catalogue;
    uint64_t after_s;
    bool is_dry;
};

struct program {
    struct arguments arguments;
    struct kube_bridge bridge;
    struct kube_claims claims;
    struct kube_talk *talk; /* of the role */
    struct line_input input;
    msec_t spoke_ms;
    struct kube_lease lease;
    int code; /* of the command */
    bool is_cloud;
    bool is_lost;
    bool is_over;
};

static bool is_role(const char *word)
{
    return strcmp(word, "engine") == 0 || strcmp(word, "cloud") == 0 ||
           strcmp(word, "release") == 0 || strcmp(word, "watchdog") == 0 ||
           strcmp(word, "install") == 0 || strcmp(word, "uninstall") == 0 ||
           strcmp(word, "lead") == 0;
}

/* The role, or the command of lead with all that follows. */
static void take_word(struct arguments *arguments, char *arg, struct argp_state *state)
{
    if (arguments->role == NULL && is_role(arg)) {
        arguments->role = arg;
    } else if (arguments->role != NULL && strcmp(arguments->role, "lead") == 0) {
        arguments->command = &state->argv[state->next - 1];
        state->next = state->argc;
    } else {
        argp_error(state,
                   "name one role: engine, cloud, release, watchdog, install, uninstall or lead");
    }
}

static bool is_one_of(const char *role, const char *one, const char *other)
{
    return role != NULL && (strcmp(role, one) == 0 || strcmp(role, other) == 0);
}

static void check_arguments(const struct arguments *arguments, const struct argp_state *state)
{
    const char *role = arguments->role;
    const int daemon =
        (arguments->image != NULL) + (arguments->conf != NULL) + (arguments->catalogue != NULL);

    if (role == NULL)
        argp_error(state,
                   "name one role: engine, cloud, release, watchdog, install, uninstall or lead");
    if (arguments->is_dry && !is_one_of(role, "install", "uninstall"))
        argp_error(state, "--dry-run goes with install and uninstall");
    if (daemon > 0 && (daemon < 3 || !is_one_of(role, "install", "install")))
        argp_error(state, "--image, --conf and --catalogue go together, with install");
    if (is_one_of(role, "lead", "lead") && arguments->command == NULL)
        argp_error(state, "lead needs a command, behind --");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case KEY_CONFIG:
        arguments->kubeconfig = arg;
        return 0;
    case KEY_CONTEXT:
        arguments->context = arg;
        return 0;
    case KEY_CLASS:
        arguments->node_class = arg;
        return 0;
    case KEY_AFTER:
        if (line_number(arg, 86400, &arguments->after_s) < 0 || arguments->after_s < 10)
            argp_error(state, "--after is 10 to 86400 seconds");
        return 0;
    case KEY_DRY:
        arguments->is_dry = true;
        return 0;
    case KEY_IMAGE:
        arguments->image = arg;
        return 0;
    case KEY_CONF:
        arguments->conf = arg;
        return 0;
    case KEY_CATALOGUE:
        arguments->catalogue = arg;
        return 0;
    case ARGP_KEY_ARG:
        take_word(arguments, arg, state);
        return 0;
    case ARGP_KEY_END:
        check_arguments(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static msec_t monotonic_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

static void flush(struct program *program)
{
    struct line_text *out = &program->talk->out;
    uint32_t sent = 0;

    while (sent < out->size) {
        const ssize_t n = write(STDOUT_FILENO, out->text + sent, out->size - sent);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            program->is_over = true;
            break;
        }
        sent += (uint32_t)n;
    }
    if (sent > 0)
        program->spoke_ms = monotonic_ms();
    line_text_reset(out);
}

static void take_line(struct program *program, char *text, size_t length)
{
    struct error error = { "" };
    struct line line;

    if (length == SIZE_MAX)
        kube_talk_error(program->talk, "a line that is too long");
    else if (line_parse(text, length, &line, &error) < 0)
        kube_talk_error(program->talk, error.text);
    else if (program->is_cloud)
        kube_claims_line(&program->claims, &line);
    else
        kube_bridge_line(&program->bridge, &line);
}

static void read_lines(struct program *program)
{
    size_t length;
    char *text;
    char *room = line_input_room(&program->input, &length);
    const ssize_t n = read(STDIN_FILENO, room, length);

    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        program->is_over = true;
        return;
    }
    if (n < 0)
        return;
    line_input_add(&program->input, (size_t)n);
    while (line_input_next(&program->input, &text, &length))
        take_line(program, text, length);
}

/* The engine's daemon learns that we are there, and whether the server is. */
static void keep_alive(struct program *program)
{
    struct line_text *out = &program->talk->out;
    const bool is_lost = !kube_net_is_up(program->talk->net);

    if (program->is_cloud)
        return;
    if (program->bridge.is_greeted && !program->bridge.is_observing)
        kube_lease_tick(&program->lease, program->talk->net, monotonic_ms());
    if (is_lost != program->is_lost) {
        program->is_lost = is_lost;
        line_text_begin(out, "server");
        line_text_string(out, "state", is_lost ? "lost" : "back");
        line_text_end(out);
    }
    if (out->size == 0 && monotonic_ms() - program->spoke_ms >= KUBE_ALIVE_MS) {
        line_text_begin(out, "alive");
        line_text_end(out);
    }
}

static void run(struct program *program)
{
    line_input_init(&program->input);
    if (!program->is_cloud)
        kube_bridge_begin(&program->bridge);
    while (!program->is_over && !program->talk->is_over) {
        flush(program);
        if (kube_net_turn(program->talk->net, STDIN_FILENO, TURN_MS))
            read_lines(program);
        if (!program->is_cloud)
            kube_bridge_tick(&program->bridge);
        keep_alive(program);
    }
    flush(program);
    line_input_done(&program->input);
}

static int load_config(const struct arguments *arguments, struct kube_config *ret,
                       struct error *reterr)
{
    struct input_file file = { 0 };
    int rc;

    if (arguments->kubeconfig == NULL)
        return kube_config_in_cluster(ret, reterr);
    rc = input_file_read(arguments->kubeconfig, &file, reterr);
    if (rc < 0)
        return rc;
    rc = kube_config_read(file.text, file.length, arguments->kubeconfig, arguments->context, ret,
                          reterr);
    explicit_bzero(file.text, file.length);
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, arguments->kubeconfig) : 0;
}

/* "GROUP/KIND/NAME", each of which is a name. */
static int take_class(struct program *program, struct error *reterr)
{
    char *text = program->arguments.node_class;
    char *kind = text != NULL ? strchr(text, '/') : NULL;
    char *name = kind != NULL ? strchr(kind + 1, '/') : NULL;

    if (name == NULL)
        return error_set(reterr, -EINVAL, "--node-class GROUP/KIND/NAME is needed for cloud");
    *kind++ = '\0';
    *name++ = '\0';
    if (!kube_talk_is_name(text) || !kube_talk_is_name(kind) || !kube_talk_is_name(name))
        return error_set(reterr, -EINVAL,
                         "--node-class is GROUP/KIND/NAME, each of which is a name");
    program->claims.class_group = text;
    program->claims.class_kind = kind;
    program->claims.class_name = name;
    return 0;
}

static int release(struct kube_client *client, struct error *reterr)
{
    struct kube_net *net = kube_net_create(client);
    struct kube_released released;
    int rc = kube_release(net, &released, reterr);

    kube_net_destroy(net);
    if (rc == 0)
        (void)printf("%u gates opened, %u refused\n", released.opened, released.refused);
    if (rc == 0 && released.refused > 0)
        rc = error_set(reterr, -EIO, "the API server refused to change some pods");
    return rc;
}

static int read_text(const char *path, struct input_file *ret, struct error *reterr)
{
    const int rc = path != NULL ? input_file_read(path, ret, reterr) : 0;

    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

static int install(const struct arguments *arguments, struct kube_client *client,
                   struct error *reterr)
{
    struct input_file conf = { 0 };
    struct input_file catalogue = { 0 };
    int rc = read_text(arguments->conf, &conf, reterr);

    if (rc == 0)
        rc = read_text(arguments->catalogue, &catalogue, reterr);
    if (rc == 0)
        rc = kube_install(client,
                          &(struct kube_install){ .image = arguments->image,
                                                  .conf = conf.text,
                                                  .catalogue = catalogue.text,
                                                  .is_dry = arguments->is_dry },
                          reterr);
    input_file_done(&conf);
    input_file_done(&catalogue);
    return rc;
}

static int serve(struct program *program, struct error *reterr)
{
    struct kube_config config = { 0 };
    struct kube_client *client = NULL;
    int rc = program->is_cloud ? take_class(program, reterr) : 0;

    if (rc == 0)
        rc = load_config(&program->arguments, &config, reterr);
    if (rc == 0)
        rc = kube_client_create(&config, &client, reterr);
    if (rc == 0 && strcmp(program->arguments.role, "release") == 0) {
        rc = release(client, reterr);
    } else if (rc == 0 && strcmp(program->arguments.role, "install") == 0) {
        rc = install(&program->arguments, client, reterr);
    } else if (rc == 0 && strcmp(program->arguments.role, "uninstall") == 0) {
        rc = kube_uninstall(client, program->arguments.is_dry, reterr);
    } else if (rc == 0 && strcmp(program->arguments.role, "watchdog") == 0) {
        kube_lease_watch(client, (msec_t)program->arguments.after_s * MSEC_PER_SEC);
    } else if (rc == 0 && strcmp(program->arguments.role, "lead") == 0) {
        rc = kube_lead_run(client, program->arguments.command, reterr);
        program->code = rc > 0 ? rc : 0;
    } else if (rc == 0) {
        program->talk = program->is_cloud ? &program->claims.talk : &program->bridge.talk;
        program->talk->net = kube_net_create(client);
        run(program);
        kube_net_destroy(program->talk->net);
    }
    kube_client_destroy(client);
    kube_config_done(&config);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "ROLE [-- COMMAND...]", doc, NULL, NULL, NULL
    };
    struct program *program = mem_alloc(1, sizeof(*program));
    struct error error = { "" };
    int code;
    int rc;

    (void)setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    argp_err_exit_status = EXIT_WRONG_USE;
    program->arguments.after_s = AFTER_S;
    if (argp_parse(&argp, argc, argv, 0, NULL, &program->arguments) != 0)
        return EXIT_WRONG_USE;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    kube_claims_init(&program->claims);
    program->is_cloud = strcmp(program->arguments.role, "cloud") == 0;
    rc = serve(program, &error);
    if (rc < 0)
        (void)fprintf(stderr, "stint-kubernetes: %s\n", error.text);
    code = program->code;
    kube_claims_done(&program->claims);
    kube_bridge_done(&program->bridge);
    mem_free(program);
    curl_global_cleanup();
    return rc < 0 ? EXIT_FAILURE : code;
}
