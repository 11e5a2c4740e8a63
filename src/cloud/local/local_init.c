/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/local/local_init.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/line.h"

enum { STATUS_BROKEN = 125 };

struct init {
    char *script;
    const char *name;
    struct in_addr address;
    struct in_addr mask;
};

static int broken(const char *what)
{
    (void)fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
    return STATUS_BROKEN;
}

static bool say(char byte)
{
    ssize_t n = 0;

    do
        n = write(STDOUT_FILENO, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Wait for a byte; false: the other side is gone. */
static bool hear(void)
{
    char byte = 0;
    ssize_t n = 0;

    do
        n = read(STDIN_FILENO, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static bool set_address(int fd, unsigned long request, const char *link, struct in_addr address)
{
    struct ifreq ask = { .ifr_flags = 0 };
    const struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = address };

    memcpy(ask.ifr_name, link, strlen(link) + 1);
    memcpy(&ask.ifr_addr, &in, sizeof(in));
    return ioctl(fd, request, &ask) == 0;
}

static bool set_up(int fd, const char *link)
{
    struct ifreq ask = { .ifr_flags = 0 };

    memcpy(ask.ifr_name, link, strlen(link) + 1);
    if (ioctl(fd, SIOCGIFFLAGS, &ask) != 0)
        return false;
    ask.ifr_flags = (short)(ask.ifr_flags | IFF_UP);
    return ioctl(fd, SIOCSIFFLAGS, &ask) == 0;
}

static bool set_network(const struct init *init)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return false;
    const bool is_good = set_up(fd, "lo") && set_address(fd, SIOCSIFADDR, "eth0", init->address) &&
                         set_address(fd, SIOCSIFNETMASK, "eth0", init->mask) && set_up(fd, "eth0");
    const int error = errno;

    (void)close(fd);
    errno = error;
    return is_good;
}

static void unblock(void)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the script's process: a session, no input, all output to the console. */
static _Noreturn void exec_script(const struct init *init)
{
    char *const argv[] = { init->script, NULL };
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)setsid();
    if (nothing >= 0)
        (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)execv(init->script, argv);
    _exit(broken(init->script));
}

/* Process 1: reap until the script has ended. */
static int inner(const struct init *init)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    unblock();
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        return broken("mount");
    if (sethostname(init->name, strlen(init->name)) != 0)
        return broken("host name");
    if (!hear())
        return STATUS_BROKEN;
    if (!set_network(init))
        return broken("network");
    const pid_t script = fork();

    if (script < 0)
        return broken("fork");
    if (script == 0)
        exec_script(init);
    if (!say('u'))
        return STATUS_BROKEN;
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    for (;;) {
        int status = 0;
        const pid_t ended = wait(&status);

        if (ended == script)
            return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_BROKEN;
        if (ended < 0 && errno != EINTR)
            return broken("wait");
    }
}

/* Outside: wait for process 1, which takes everything with it, or for the order to end it. */
static int wait_for(pid_t child, const sigset_t *signals)
{
    for (;;) {
        int status = 0;
        const int signal = sigwaitinfo(signals, NULL);

        if (signal == SIGTERM)
            (void)kill(child, SIGKILL);
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_BROKEN;
    }
}

static bool read_options(int argc, char **argv, struct init *ret)
{
    uint64_t bits = 0;

    if (argc != 6 || inet_pton(AF_INET, argv[4], &ret->address) != 1 ||
        line_number(argv[5], 32, &bits) < 0 || bits == 0)
        return false;
    ret->script = argv[2];
    ret->name = argv[3];
    ret->mask.s_addr = htonl(UINT32_MAX << (32 - bits));
    return true;
}

int local_init_main(int argc, char **argv)
{
    struct init init = { .script = NULL };
    sigset_t signals;

    if (!read_options(argc, argv, &init)) {
        (void)fputs("init: for the server's use only\n", stderr);
        return 2;
    }
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)prctl(PR_SET_NAME, "stint-machine");
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) != 0)
        return broken("namespaces");
    const pid_t child = fork();

    if (child < 0)
        return broken("fork");
    if (child == 0)
        _exit(inner(&init));
    if (!say('r'))
        (void)kill(child, SIGKILL);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    return wait_for(child, &signals);
}
