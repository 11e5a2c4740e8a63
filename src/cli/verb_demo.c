/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint demo - a whole cluster on this computer, for a minute or two.
 *
 * The work is done by share/demo/demo.sh; here only the parts are found: beside this program as they
 * are installed, or in the build folder that it was built in.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/own_folder.h"
#include "cli/verb.h"
#include "cli/verb_options.h"

#ifndef STINT_PREFIX
#define STINT_PREFIX "/usr"
#endif

static const char doc[] =
    "Start a small Slurm cluster on this computer, submit jobs, let Stint rent machines for "
    "them, and clean up.\vExample:\n"
    "  sudo stint demo\n"
    "\n"
    "Slurm is real. The rented machines are namespaces of this computer "
    "(stint-cloud-local(8)), so the demo costs nothing. It is isolated from the network, and "
    "the kernel removes all of it at the end, even after a crash.\n"
    "\n"
    "It needs root, and on Debian 12 the packages slurm-wlm slurm-wlm-plugins munge iproute2."
    " It prints a link to the daemon's page and, on a terminal, shows the live view of `stint"
    " top'. It takes one or two minutes. Ctrl-C ends it early.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.";

static const struct argp_option options[] = {
    { "jobs", 'j', "N", 0, "Submit N jobs, and two more (default 40)", 1 },
    { "share", 's', "FOLDER", 0, "Folder of the script and its files (default: as installed)", 1 },
    { 0 },
};

struct demo {
    const char *jobs;
    const char *share;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct demo *demo = state->input;

    switch (key) {
    case 'j':
        if (strspn(arg, "0123456789") != strlen(arg) || *arg == '\0' || strlen(arg) > 4)
            argp_error(state, "--jobs wants a number up to 9999, not '%s'", arg);
        demo->jobs = arg;
        return 0;
    case 's':
        demo->share = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one argument too many", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Put the first of two paths that is there into the environment. False: neither is. */
static bool find(const char *name, const char *built, const char *installed)
{
    const char *path = access(built, F_OK) == 0 ? built : installed;

    return access(path, F_OK) == 0 && setenv(name, path, 0) == 0;
}

struct part {
    const char *name;
    const char *built;     /* below the folder of 'stint' in a build folder */
    const char *installed; /* whole */
    const char *package;
};

static const struct part parts[] = {
    { "STINT_DAEMON", "../daemon/stintd", STINT_PREFIX "/sbin/stintd", "stintd" },
    { "STINT_CLOUD", "../cloud/local/stint-cloud-local", STINT_PREFIX "/sbin/stint-cloud-local",
      "stintd" },
    { "STINT_SLURM", "../engine/slurm/stint-slurm", STINT_PREFIX "/bin/stint-slurm",
      "stint-slurm" },
    { "STINT_JOB_SUBMIT", "../../share-of-source/slurm/job_submit.lua",
      STINT_PREFIX "/share/stint/slurm/job_submit.lua", "stint-slurm" },
    { "STINT_SHARE", "../../share-of-source", STINT_PREFIX "/share/stint", "stint" },
};

enum { PART_COUNT = sizeof(parts) / sizeof(parts[0]) };

static int find_parts(struct error *reterr)
{
    char folder[PATH_MAX];
    char built[2 * PATH_MAX];

    if (own_folder(folder, sizeof(folder)) < 0)
        return error_set(reterr, -ENOENT, "this program cannot find its own folder");
    (void)snprintf(built, sizeof(built), "%s/stint", folder);
    (void)setenv("STINT", built, 0);
    for (int i = 0; i < PART_COUNT; i++) {
        (void)snprintf(built, sizeof(built), "%s/%s", folder, parts[i].built);
        if (!find(parts[i].name, built, parts[i].installed))
            return error_set(reterr, -ENOENT,
                             "%s is not there; install the package %s, or build it with "
                             "-Dslurm=enabled",
                             parts[i].installed, parts[i].package);
    }
    return 0;
}

static int run_demo(int argc, char **argv)
{
    static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
    static char name[] = "stint demo";
    struct demo demo = { .jobs = "40" };
    struct error error = { "" };
    char script[PATH_MAX];

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &demo) != 0)
        return EXIT_USAGE;
    if (geteuid() != 0) {
        (void)error_set(&error, -EPERM, "needs root, to make namespaces: sudo stint demo");
        return verb_fail("demo", &error);
    }
    if (demo.share != NULL)
        (void)setenv("STINT_SHARE", demo.share, 1);
    if (find_parts(&error) < 0)
        return verb_fail("demo", &error);
    (void)snprintf(script, sizeof(script), "%s/demo/demo.sh", getenv("STINT_SHARE"));
    (void)execlp("bash", "bash", script, demo.jobs, (char *)NULL);
    (void)error_set(&error, -errno, "cannot start bash: %s", strerror(errno));
    return verb_fail("demo", &error);
}

const struct verb verb_demo = {
    .name = "demo",
    .summary = "try Stint with Slurm on this computer, at no cost",
    .run = run_demo,
};
