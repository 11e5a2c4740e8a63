/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint kubernetes - put Stint into a Kubernetes cluster, and take it out.
 *
 * The work is done by stint-kubernetes(1), which is found beside this program or in the build folder that it was
 * built in. Its roles for the daemon (engine, cloud, lead) are not for people, so this verb does not offer them.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/operator.h"
#include "cli/own_folder.h"
#include "cli/suggest.h"
#include "cli/verb.h"

static const char usage[] =
    "Usage: stint kubernetes [OPTION...] install|uninstall|release|watchdog\n";

static const char help[] =
    "Install Stint into a Kubernetes cluster, and remove it.\n"
    "\n"
    "  install      create the namespace, admission policy, roles and service account; with\n"
    "               --image, --conf and --catalogue the daemon too\n"
    "  uninstall    remove labels, policy, gates, empty machines and rights; pods keep "
    "running\n"
    "  release      open the gate of every pod that waits for Stint, and exit\n"
    "  watchdog     do that whenever Stint renews its lease too late\n"
    "\n"
    "  -d, --dry-run           for install and uninstall: print the changes, and only read\n"
    "  -k, --kubeconfig=FILE   address of the API server, and your credentials\n"
    "  -c, --context=NAME      use this context of the file\n"
    "  -?, --help              print this text\n"
    "\n"
    "Example:\n"
    "  stint kubernetes install --dry-run --kubeconfig ~/.kube/config\n"
    "\n"
    "stint-kubernetes(1) has all options. Exit codes: 0 done; 1 no answer or a refusal from "
    "the\n"
    "API server, or machines are left that run pods; 2 wrong usage.\n";

static const char *const roles[] = { "install", "uninstall", "release", "watchdog" };

enum { ROLE_COUNT = sizeof(roles) / sizeof(roles[0]) };

/* Of stint-kubernetes(1); tests/usage.sh compares. */
static const char *const options[] = { "after", "catalogue", "conf",       "context",    "dry-run",
                                       "help",  "image",     "kubeconfig", "node-class", "usage" };

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

/* Say which role or option was probably meant, if a word is none but like one. */
static bool suggest_word(int argc, char **argv, bool has_role)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const bool is_option = strncmp(argv[i], "--", 2) == 0;
        const char *word = is_option ? argv[i] + 2 : argv[i];
        char name[32];
        const char *near = NULL;

        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
        if (is_option)
            near = suggest(name, options, OPTION_COUNT);
        else if (!has_role && argv[i][0] != '-')
            near = suggest(name, roles, ROLE_COUNT);
        if (near == NULL || (is_option && strncmp(near, name, strlen(name)) == 0)) /* abbreviated */
            continue;
        fputs("stint kubernetes: there is no ", stderr);
        fputs(is_option ? "option '--" : "role '", stderr);
        print_clean(stderr, name);
        fprintf(stderr, "'; did you mean '%s%s'? `stint kubernetes --help` lists them\n",
                is_option ? "--" : "", near);
        return true;
    }
    return false;
}

static bool is_role(const char *word)
{
    for (int i = 0; i < ROLE_COUNT; i++) {
        if (strcmp(word, roles[i]) == 0)
            return true;
    }
    return false;
}

/* Become stint-kubernetes. Returns only if that is not possible. */
static int become(char **argv, struct error *reterr)
{
    char folder[PATH_MAX];
    char path[2 * PATH_MAX];

    if (own_folder(folder, sizeof(folder)) < 0)
        return error_set(reterr, -ENOENT, "this program cannot find its own folder");
    (void)snprintf(path, sizeof(path), "%s/../engine/kubernetes/stint-kubernetes", folder);
    if (access(path, X_OK) != 0)
        (void)snprintf(path, sizeof(path), "%s/stint-kubernetes", folder);
    (void)execv(path, argv);
    return error_set(reterr, -errno, "cannot start %s: %s; it is in the package stintd", path,
                     strerror(errno));
}

static int run_kubernetes(int argc, char **argv)
{
    static char name[] = "stint kubernetes";
    struct error error = { "" };
    bool has_role = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0) {
            fputs(usage, stdout);
            fputs(help, stdout);
            return EXIT_DONE;
        }
        has_role = has_role || is_role(argv[i]);
    }
    if (suggest_word(argc, argv, has_role))
        return EXIT_USAGE;
    if (!has_role) {
        fputs(usage, stderr);
        fputs("Try `stint kubernetes --help' for more information.\n", stderr);
        return EXIT_USAGE;
    }
    argv[0] = name;
    (void)become(argv, &error);
    return verb_fail("kubernetes", &error);
}

const struct verb verb_kubernetes = {
    .name = "kubernetes",
    .summary = "install Stint into a Kubernetes cluster, or remove it",
    .run = run_kubernetes,
};
