/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint report-rate - a job says how fast it runs beside others.
 */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/verb.h"
#include "cli/verb_options.h"
#include "engine/engines.h"
#include "trace/number.h"

#define RATE_SOCKET "/run/stint/rate.sock"

enum { REPORT_SIZE = 128, ANSWER_SIZE = 256, PATIENCE_MS = 5000, KEY_SOCKET = 0x100 };

static const char doc[] =
    "Report the speed of a job: its throughput as a share of its throughput on a machine of "
    "its own. The daemon learns from it how jobs slow each other down.\vExamples:\n"
    "  stint report-rate 0.83\n"
    "  stint report-rate --job 12_3 1\n"
    "\n"
    "Call it within a job now and then, for example after each epoch. Only the user of a job,"
    " or root, may report for it. On the daemon's machine it reports to http.rate_socket of "
    "stint.conf(5), or to $STINT_RATE_SOCKET. Elsewhere it reports through the scheduler of "
    "the job.\n"
    "\n"
    "Exit codes: 0 done, 1 rejected, or no answer from the daemon, 2 wrong usage.";

struct arguments {
    const char *job;
    const char *rate;
    const char *socket;
};

static const struct argp_option argp_options[] = {
    { "job", 'j', "JOB", 0, "The job (default: $STINT_JOB, else the job around this command)", 0 },
    { "socket", KEY_SOCKET, "PATH", 0,
      "The daemon's socket (default: $STINT_RATE_SOCKET, else " RATE_SOCKET ")", 0 },
    { 0 },
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'j':
        arguments->job = arg;
        return 0;
    case KEY_SOCKET:
        arguments->socket = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->rate != NULL)
            argp_error(state, "one rate at a time, please");
        arguments->rate = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->rate == NULL)
            argp_error(state, "which rate? Such as 0.83");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *environment(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* The job as its user writes it; false: it is not known. */
static bool find_job(const struct arguments *arguments, char *ret, size_t size)
{
    const char *job = arguments->job != NULL ? arguments->job : environment("STINT_JOB");

    if (job != NULL) {
        const int length = snprintf(ret, size, "%s", job);

        return length > 0 && (size_t)length < size;
    }
    for (uint32_t i = 0; engines[i] != NULL; i++) {
        if (engines[i]->own_job != NULL && engines[i]->own_job(ret, size))
            return true;
    }
    return false;
}

/* By way of the engine: there is no socket here, and nobody has named one. -ENOENT: no engine knows such jobs. */
static int report_elsewhere(const struct arguments *arguments, const char *job,
                            struct error *reterr)
{
    int rc = -ENOENT;

    if (arguments->socket != NULL || access(RATE_SOCKET, F_OK) == 0)
        return rc;
    for (uint32_t i = 0; engines[i] != NULL && rc == -ENOENT; i++) {
        if (engines[i]->report_rate != NULL)
            rc = engines[i]->report_rate(job, arguments->rate, reterr);
    }
    return rc;
}

static int connect_to(const char *path, struct error *reterr)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const struct sockaddr_un any = { .sun_family = AF_UNIX }; /* the kernel gives it a name */
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return error_set(reterr, -errno, "socket: %s", strerror(errno));
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (bind(fd, (const struct sockaddr *)(const void *)&any, sizeof(any.sun_family)) < 0 ||
        connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) < 0) {
        const int failed = errno;

        (void)close(fd);
        return error_set(
            reterr, -failed,
            "%s: %s; is http.rate_socket set in stint.conf, and stintd on this machine?", path,
            strerror(failed));
    }
    return fd;
}

/* Send it, and wait for the answer. */
static int report(int fd, const char *text, struct error *reterr)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    char answer[ANSWER_SIZE];

    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        return error_set(reterr, -errno, "%s", strerror(errno));
    if (poll(&wait, 1, PATIENCE_MS) <= 0)
        return error_set(reterr, -ETIMEDOUT, "the daemon does not answer");

    const ssize_t size = recv(fd, answer, sizeof(answer) - 1, 0);

    if (size < 0)
        return error_set(reterr, -errno, "%s", strerror(errno));
    answer[size] = '\0';
    return strcmp(answer, "ok") == 0 ? 0 : error_set(reterr, -EPERM, "not taken: %s", answer);
}

static int run(int argc, char **argv)
{
    static const struct argp argp = { argp_options, parse, "RATE", doc, NULL, NULL, NULL };
    static char name[] = "stint report-rate";
    struct arguments arguments = { .socket = environment("STINT_RATE_SOCKET") };
    struct error error = { "" };
    char job[REPORT_SIZE / 2];
    char text[REPORT_SIZE];
    uint32_t ppm = 0;

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    if (number_rate(arguments.rate, strlen(arguments.rate), &ppm) < 0) {
        fprintf(stderr, "stint report-rate: a rate is above 0 and at most 1, such as 0.83\n");
        return EXIT_USAGE;
    }
    if (!find_job(&arguments, job, sizeof(job))) {
        fprintf(stderr, "stint report-rate: which job? Use --job, or set STINT_JOB\n");
        return EXIT_USAGE;
    }

    const int elsewhere = report_elsewhere(&arguments, job, &error);

    if (elsewhere != -ENOENT)
        return elsewhere < 0 ? verb_fail("report-rate", &error) : EXIT_DONE;
    (void)snprintf(text, sizeof(text), "%s %s", job, arguments.rate);

    const int fd = connect_to(arguments.socket != NULL ? arguments.socket : RATE_SOCKET, &error);

    if (fd < 0)
        return verb_fail("report-rate", &error);

    const int rc = report(fd, text, &error);

    (void)close(fd);
    return rc < 0 ? verb_fail("report-rate", &error) : EXIT_DONE;
}

const struct verb verb_report_rate = {
    .name = "report-rate",
    .summary = "report the speed of a job, from within the job",
    .run = run,
};
