/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint notify - findings of the doctor, budgets among them, to a webhook: once when one appears, once when it is over.
 *
 * A process of its own beside the daemon: the secret address and a slow receiver are no matter of stintd, and the
 * read-only token is enough. What was reported is in memory only: after a restart, what still holds is reported again.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/mem.h"
#include "cli/notify_post.h"
#include "cli/operator.h"
#include "cli/verb.h"
#include "draw/utf8.h"

enum {
    KEY_HOOK = 'w',
    KEY_FORMAT = 'f',
    KEY_SEVERITY = 's',
    KEY_EVERY = 0x1200,
    KEY_ONCE,
    EVERY_SECONDS = 10,
    EVERY_MAX = 86400,
};

static const char doc[] =
    "Send findings of `stint doctor', such as an almost spent budget or a lost connection, to"
    " a webhook: one message when a finding appears, one when it ends. Runs until you stop "
    "it.\vExamples:\n"
    "  stint notify --webhook-file /etc/stint/webhook\n"
    "  stint notify --webhook-file /etc/stint/slack --format slack --severity error\n"
    "\n"
    "The first line of FILE is the webhook's address. Only its owner may have read access. A "
    "failed message is retried five times, and once more at every check, until it arrives or "
    "the finding ends.\n"
    "\n"
    "Formats:\n"
    "  json   fields event (new or over), cluster, severity, kind, subject, text\n"
    "         and advice\n"
    "  slack  field text, for Slack and Mattermost\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon or an undelivered message (with --once),"
    " 2 wrong usage.";

static const struct argp_option options[] = {
    { "webhook-file", KEY_HOOK, "FILE", 0, "File with the address of the webhook (required)", 0 },
    { "format", KEY_FORMAT, "WORD", 0, "json (default) or slack", 0 },
    { "severity", KEY_SEVERITY, "WORD", 0,
      "Lowest severity to send: note, warning (default) or error", 0 },
    { "every", KEY_EVERY, "SECONDS", 0, "Time between checks (default: 10)", 0 },
    { "once", KEY_ONCE, NULL, 0, "Send the current findings, and exit", 0 },
    { 0 },
};

static const char *const severities[] = { "note", "warning", "error" };

enum { SEVERITIES = sizeof(severities) / sizeof(severities[0]) };

/* A finding that was reported. */
struct known {
    char *severity;
    char *kind;
    char *subject;
    bool is_seen;
};

struct notify {
    struct daemon_options daemon;
    const char *hook_file;
    struct notify_hook hook;
    bool is_slack;
    int least; /* of severities */
    long every;
    bool once;
    struct known *known;
    uint32_t known_count;
    uint32_t known_room;
    bool has_failed; /* the daemon or the webhook, and it was said */
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static int severity_of(const char *word)
{
    for (int i = 0; i < SEVERITIES; i++) {
        if (strcmp(word, severities[i]) == 0)
            return i;
    }
    return -1;
}

static void parse_every(const char *arg, struct argp_state *state, long *ret)
{
    char *end = NULL;

    *ret = strtol(arg, &end, 10);
    if (end == arg || *end != 0 || *ret < 1 || *ret > EVERY_MAX)
        argp_error(state, "--every is 1 to %d seconds, not '%s'", EVERY_MAX, arg);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct notify *notify = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &notify->daemon;
        return 0;
    case KEY_HOOK:
        notify->hook_file = arg;
        return 0;
    case KEY_FORMAT:
        notify->is_slack = strcmp(arg, "slack") == 0;
        if (!notify->is_slack && strcmp(arg, "json") != 0)
            argp_error(state, "--format is json or slack, not '%s'", arg);
        return 0;
    case KEY_SEVERITY:
        notify->least = severity_of(arg);
        if (notify->least < 0)
            argp_error(state, "--severity is note, warning or error, not '%s'", arg);
        return 0;
    case KEY_EVERY:
        parse_every(arg, state, &notify->every);
        return 0;
    case KEY_ONCE:
        notify->once = true;
        return 0;
    case ARGP_KEY_END:
        if (notify->hook_file == NULL)
            argp_error(state, "--webhook-file is required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- messages ---- */

static json_t *clean_string(struct arena *arena, const char *text)
{
    return json_string(utf8_clean(arena, text));
}

/* Text for Slack, in which three characters have a meaning. */
static void put_slack(FILE *out, struct arena *arena, const char *text)
{
    for (const char *at = utf8_clean(arena, text); *at != 0; at++) {
        if (*at == '&')
            (void)fputs("&amp;", out);
        else if (*at == '<' || *at == '>')
            (void)fputs(*at == '<' ? "&lt;" : "&gt;", out);
        else
            (void)fputc(*at, out);
    }
}

static json_t *slack_message(struct arena *arena, const json_t *finding, const char *cluster,
                             bool is_over)
{
    const char *const parts[] = { cluster, is_over ? ": over: " : ": ",
                                  field_word(finding, "severity"), " ", field_word(finding, "kind"),
                                  " (", field_word(finding, "subject"), ")",
                                  /* and what only a new one has */
                                  ": ", field_word(finding, "text"), ". ",
                                  field_word(finding, "advice") };
    const size_t count = is_over ? 8 : sizeof(parts) / sizeof(parts[0]);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        put_slack(out, arena, parts[i]);
    (void)fclose(out);

    json_t *message = json_pack("{s:s}", "text", text);

    free(text);
    return message;
}

static json_t *plain_message(struct arena *arena, const json_t *finding, const char *cluster,
                             bool is_over)
{
    static const char *const fields[] = { "severity", "kind", "subject", "text", "advice" };
    json_t *message = json_object();

    (void)json_object_set_new(message, "event", json_string(is_over ? "over" : "new"));
    (void)json_object_set_new(message, "cluster", clean_string(arena, cluster));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const char *text = field_text(finding, fields[i]);

        (void)json_object_set_new(message, fields[i],
                                  clean_string(arena, text != NULL ? text : ""));
    }
    return message;
}

static int send_message(const struct notify *notify, const json_t *finding, const char *cluster,
                        bool is_over, struct error *reterr)
{
    struct arena arena;

    arena_init(&arena);

    json_t *message = notify->is_slack ? slack_message(&arena, finding, cluster, is_over)
                                       : plain_message(&arena, finding, cluster, is_over);
    char *text = message != NULL ? json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    const int rc = text != NULL ? notify_post(&notify->hook, text, reterr)
                                : error_set(reterr, -ENOMEM, "no memory for a message");

    free(text);
    json_decref(message);
    arena_done(&arena);
    return rc;
}

/* ---- what is known ---- */

static struct known *find(const struct notify *notify, const json_t *finding)
{
    for (uint32_t i = 0; i < notify->known_count; i++) {
        struct known *known = &notify->known[i];

        if (strcmp(known->kind, field_word(finding, "kind")) == 0 &&
            strcmp(known->subject, field_word(finding, "subject")) == 0)
            return known;
    }
    return NULL;
}

static void remember(struct notify *notify, const json_t *finding)
{
    MEM_ROOM(notify->known, notify->known_room, notify->known_count + 1);
    notify->known[notify->known_count++] = (struct known){
        .severity = strdup(field_word(finding, "severity")),
        .kind = strdup(field_word(finding, "kind")),
        .subject = strdup(field_word(finding, "subject")),
        .is_seen = true,
    };
}

static void forget(struct notify *notify, uint32_t i)
{
    free(notify->known[i].severity);
    free(notify->known[i].kind);
    free(notify->known[i].subject);
    notify->known[i] = notify->known[--notify->known_count];
}

/* One that was not delivered is not known: it is tried again at the next look. */
static int report_new(struct notify *notify, const json_t *findings, const char *cluster,
                      struct error *reterr)
{
    const json_t *finding;
    size_t i;

    json_array_foreach(findings, i, finding)
    {
        struct known *known = find(notify, finding);

        if (known != NULL)
            known->is_seen = true;
        if (known != NULL || severity_of(field_word(finding, "severity")) < notify->least)
            continue;

        const int rc = send_message(notify, finding, cluster, false, reterr);

        if (rc < 0)
            return rc;
        remember(notify, finding);
    }
    return 0;
}

static int report_over(struct notify *notify, const char *cluster, struct error *reterr)
{
    for (uint32_t i = notify->known_count; i > 0; i--) {
        const struct known *known = &notify->known[i - 1];

        if (known->is_seen)
            continue;

        json_t *finding = json_pack("{s:s,s:s,s:s}", "severity", known->severity, "kind",
                                    known->kind, "subject", known->subject);
        const int rc = send_message(notify, finding, cluster, true, reterr);

        json_decref(finding);
        if (rc < 0)
            return rc;
        forget(notify, i - 1);
    }
    return 0;
}

static int look(struct notify *notify, struct error *reterr)
{
    json_t *status = NULL;
    json_t *doctor = NULL;
    int rc = daemon_get(&notify->daemon, "/v1/status", &status, reterr);

    if (rc == 0)
        rc = daemon_get(&notify->daemon, "/v1/doctor", &doctor, reterr);
    if (rc == 0) {
        for (uint32_t i = 0; i < notify->known_count; i++)
            notify->known[i].is_seen = false;
        rc = report_new(notify, json_object_get(doctor, "findings"), field_word(status, "cluster"),
                        reterr);
    }
    if (rc == 0)
        rc = report_over(notify, field_word(status, "cluster"), reterr);
    json_decref(doctor);
    json_decref(status);
    return rc;
}

/* What goes wrong is said once, not every ten seconds. */
static int look_and_say(struct notify *notify)
{
    struct error error = { "" };
    const int rc = look(notify, &error);

    if (rc < 0 && !notify->has_failed)
        (void)verb_fail("notify", &error);
    if (rc == 0 && notify->has_failed)
        (void)fputs("stint notify: works again\n", stderr);
    notify->has_failed = rc < 0;
    return rc < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint notify";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    const struct sigaction action = { .sa_handler = stop };
    struct notify notify = { .daemon = { .no_csv = true }, .least = 1, .every = EVERY_SECONDS };
    struct error error = { "" };
    int code = EXIT_DONE;

    if (!operator_parse(&argp, name, argc, argv, &notify))
        return EXIT_USAGE;
    if (notify_hook_read(notify.hook_file, &notify.hook, &error) < 0)
        return verb_fail("notify", &error);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    while (stopped == 0) {
        code = look_and_say(&notify);
        if (notify.once || stopped != 0)
            break;
        (void)nanosleep(&(struct timespec){ .tv_sec = notify.every }, NULL);
    }
    while (notify.known_count > 0)
        forget(&notify, notify.known_count - 1);
    mem_free(notify.known);
    return notify.once ? code : EXIT_DONE;
}

const struct verb verb_notify = {
    .name = "notify",
    .summary = "send findings of the doctor to a webhook",
    .run = run,
};
