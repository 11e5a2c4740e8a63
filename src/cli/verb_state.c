/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint state - check, copy and put back the file in which stintd keeps its books. It speaks to the file,
 * not to the daemon.
 */
#include <argp.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/operator.h"
#include "cli/period.h"
#include "cli/state_path.h"
#include "cli/verb.h"
#include "store/store_care.h"

enum { KEY_STATE = 0x100 };

static const char args_doc[] = "backup FILE\nrestore FILE\ncheck [FILE]";

static const char doc[] =
    "Check, back up and restore the state file of stintd.\n"
    "\n"
    "  backup   write a checked copy to FILE, a new file, also while stintd runs\n"
    "  restore  put such a copy in place and keep the old file beside it; stop\n"
    "           stintd first\n"
    "  check    read the whole state, or FILE, and compare it with its checksums\vExamples:\n"
    "  stint state backup /var/backups/stint-monday.db\n"
    "  stint state check /var/backups/stint-monday.db\n"
    "  stint state restore /var/backups/stint-monday.db\n"
    "\n"
    "After a restore, Stint adopts the machines rented since the backup from the cloud's "
    "list. The books lack the cost of machines that came and went in between.\n"
    "\n"
    "Exit codes: 0 done, 1 failed or the file is damaged, 2 wrong usage.";

static const struct argp_option options[] = {
    { "config", 'c', "FILE", 0,
      "The stint.conf with the key 'state' (default: " STATE_CONF_PATH ")", 0 },
    { "state", KEY_STATE, "FILE", 0, "The state file itself", 0 },
    { 0 },
};

struct arguments {
    const char *conf;
    const char *state;
    const char *word;
    const char *file;
};

static bool is_word(const char *text)
{
    return strcmp(text, "backup") == 0 || strcmp(text, "restore") == 0 ||
           strcmp(text, "check") == 0;
}

static void take_argument(struct arguments *arguments, const char *arg, struct argp_state *state)
{
    if (state->arg_num == 0 && !is_word(arg))
        argp_error(state, "backup, restore or check, not '%s'", arg);
    else if (state->arg_num == 0)
        arguments->word = arg;
    else if (state->arg_num == 1)
        arguments->file = arg;
    else
        argp_error(state, "'%s' is one argument too many", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'c':
        arguments->conf = arg;
        return 0;
    case KEY_STATE:
        arguments->state = arg;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(arguments, arg, state);
        return 0;
    case ARGP_KEY_END:
        if (arguments->word == NULL)
            argp_error(state, "backup, restore or check?");
        else if (arguments->file == NULL && strcmp(arguments->word, "check") != 0)
            argp_error(state, "%s needs a FILE", arguments->word);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_report(const char *path, const struct store_report *report)
{
    print_clean(stdout, path);
    (void)printf(": good; %" PRId64 " bytes, the last entry of %s UTC\n", report->bytes,
                 time_words(report->newest_at).text);
    (void)puts("checked    the structure of every table and index");
    if (!report->is_sealed)
        (void)puts(
            "           NO CHECKSUMS: an older version wrote the file; stintd adds them at its start");
    for (int i = 0; report->is_sealed && i < STORE_REPORT_TABLES; i++) {
        (void)printf("           %-9s %" PRIu64 " rows", report->tables[i].name,
                     report->tables[i].rows);
        if (report->tables[i].money != 0)
            (void)printf(", %s", money_words(report->tables[i].money, 6).text);
        (void)puts(": as their checksum says");
    }
    (void)printf("machines   %" PRIu64 " rented, %" PRIu64
                 " unanswered requests; the next key is %" PRIu64 "\n",
                 report->living, report->open_intents, report->next_key);
}

static bool is_there(const char *path, struct error *reterr)
{
    assert(path != NULL);
    if (access(path, F_OK) == 0)
        return true;
    (void)error_set(reterr, -errno,
                    "%s: %s. -c names the stint.conf of your daemon, --state the state file itself",
                    path, strerror(errno));
    return false;
}

static int check(const char *path)
{
    struct store_report report;
    struct error error = { "" };

    if (!is_there(path, &error) || store_check(path, &report, &error) < 0)
        return verb_fail("state", &error);
    print_report(path, &report);
    return EXIT_DONE;
}

static int backup(const char *path, const char *to)
{
    struct error error = { "" };

    if (!is_there(path, &error) || store_backup(path, to, &error) < 0)
        return verb_fail("state", &error);
    return check(to);
}

static int restore(const char *path, const char *from)
{
    struct store_restored restored;
    struct error error = { "" };

    if (store_restore(path, from, period_now(), &restored, &error) < 0)
        return verb_fail("state", &error);
    print_report(from, &restored.report);
    (void)fputs("restored   to ", stdout);
    print_clean(stdout, path);
    (void)printf("; keys continue with %" PRIu64 ", so that none is used twice\n",
                 restored.first_key);
    if (restored.replaced[0] != '\0') {
        (void)fputs("replaced   what was there is now ", stdout);
        print_clean(stdout, restored.replaced);
        (void)putchar('\n');
    }
    (void)puts("Start stintd: it adopts the machines that the cloud lists.");
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint state";
    const struct argp argp = {
        .options = options, .parser = parse, .args_doc = args_doc, .doc = doc
    };
    struct arguments arguments = { 0 };
    struct error error = { "" };
    char path[STORE_PATH_ROOM];
    bool is_shadow = false;

    if (!operator_parse(&argp, name, argc, argv, &arguments))
        return EXIT_USAGE;
    if (strcmp(arguments.word, "check") == 0 && arguments.file != NULL)
        return check(arguments.file);
    if (state_path(arguments.conf, arguments.state, path, &is_shadow, &error) < 0)
        return verb_fail("state", &error);
    if (strcmp(arguments.word, "check") == 0)
        return check(path);
    return strcmp(arguments.word, "backup") == 0 ? backup(path, arguments.file)
                                                 : restore(path, arguments.file);
}

const struct verb verb_state = {
    .name = "state",
    .summary = "check, back up and restore the daemon's state file",
    .run = run,
};
