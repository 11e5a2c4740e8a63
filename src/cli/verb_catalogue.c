/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint catalogue refresh|show|diff - what can be rented, asked of a cloud and kept in a file.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/line.h"
#include "base/mem.h"
#include "cli/daemon_client.h"
#include "cli/learned_risks.h"
#include "cli/offer_rows.h"
#include "cli/period.h"
#include "cli/report_table.h"
#include "cli/state_path.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "cloud/clouds.h"
#include "daemon/conf.h"
#include "trace/catalogue_file.h"
#include "trace/doc.h"
#include "trace/input_file.h"
#include "trace/input_text.h"

enum option_key {
    KEY_OUTPUT = 'o',
    KEY_CONFIG = 'c',
    KEY_FILE = 'f',
    KEY_REGION = 0x100,
    KEY_ENDPOINT,
    KEY_PROFILE,
    KEY_PRICES,
    KEY_BANDS,
    KEY_HISTORY,
    KEY_ARCH,
    KEY_TYPES,
    KEY_MEMORY,
    KEY_METAL,
    KEY_OLD,
    KEY_NO_SPOT,
    KEY_CLOUD,
    KEY_SOCKET,
    KEY_STATE,
};

/* Each description begins with what the option goes with. */
static const struct argp_option options[] = {
    { "file", KEY_FILE, "FILE", 0,
      "refresh: write the catalogue to FILE (default: standard output)", 0 },
    { "cloud", KEY_CLOUD, "KIND", 0,
      "refresh: the cloud, as 'kind' in stint.conf (default: the first below)", 0 },
    { "region", KEY_REGION, "REGION", 0,
      "refresh: the region (default: from the environment or the profile)", 0 },
    { "profile", KEY_PROFILE, "NAME", 0, "refresh: use the keys of this profile", 0 },
    { "endpoint", KEY_ENDPOINT, "URL", 0, "refresh: ask this address instead of the cloud's own",
      0 },
    { "prices", KEY_PRICES, "FILE", 0,
      "refresh: take on-demand prices from this YAML map of type to dollars per hour instead of"
      " the Pricing API",
      0 },
    { "bands", KEY_BANDS, "FILE", 0,
      "refresh: take interruption rates from this spot-advisor-data.json of the Spot Instance "
      "Advisor",
      0 },
    { "history", KEY_HISTORY, "DAYS", 0,
      "refresh: include the spot prices of the last 1 to 90 days", 0 },
    { "arch", KEY_ARCH, "NAME", 0, "refresh: x86_64 (default), arm64, or any", 0 },
    { "types", KEY_TYPES, "PATTERNS", 0, "refresh, show: only these types, such as 'c7i.*,*.large'",
      0 },
    { "memory", KEY_MEMORY, "PERCENT", 0,
      "refresh: share of a type's memory for jobs (default: 100)", 0 },
    { "metal", KEY_METAL, NULL, 0, "refresh: include machines without a hypervisor", 0 },
    { "old", KEY_OLD, NULL, 0, "refresh: include earlier generations, as --types does", 0 },
    { "no-spot", KEY_NO_SPOT, NULL, 0, "refresh: leave out the spot market", 0 },
    { "socket", KEY_SOCKET, "PATH", 0,
      "show: without FILE, ask the daemon at this socket (default: $STINT_SOCKET, "
      "" DAEMON_SOCKET ")",
      0 },
    { "config", KEY_CONFIG, "FILE", 0,
      "show: read the catalogue and the learned values from the files of this stint.conf, "
      "without the daemon",
      0 },
    { "state", KEY_STATE, "FILE", 0,
      "show: read the learned values from this state file, also while the daemon runs", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "show, diff: table (default), wide, json, yaml or csv",
      0 },
    VERB_SORT_OPTION,
    { NULL, 0, NULL, 0, NULL, 0 },
};

enum { OPTIONS = sizeof(options) / sizeof(options[0]) - 1 };

static const char intro[] =
    "Write a catalogue of a cloud's current offers, show a catalogue, list the features that "
    "jobs can request, or compare two catalogues.\vExamples:\n"
    "  stint catalogue refresh --region us-east-1 --types 'c7i.*' -f c7i.yaml\n"
    "  stint catalogue refresh --region us-east-1 --history 30 -f spring.yaml\n"
    "  stint catalogue show c7i.yaml\n"
    "  stint catalogue show --types 'c7i.*'\n"
    "  stint catalogue show c7i.yaml --state /var/lib/stint/stint.db\n"
    "  stint catalogue features c7i.yaml\n"
    "  stint catalogue diff old.yaml c7i.yaml -o csv\n"
    "\n"
    "A type with an unknown price gets no offer, and a comment at the end names it. Without "
    "FILE, show asks the daemon. It then adds the losses of each spot offer, the "
    "machine-hours behind them, and the learned time between losses with its 80 % bounds. If "
    "the daemon is down, show reads the files of " STATE_CONF_PATH ". refresh can ask these "
    "clouds:\n";

static const char outro[] = "\n"
                            "Exit codes: 0 done, 1 failed, 2 wrong usage.";

enum act { ACT_NONE, ACT_REFRESH, ACT_SHOW, ACT_DIFF, ACT_FEATURES, ACTS };

struct arguments {
    enum act act;
    const char *paths[2];
    uint32_t path_count;
    const char *file;
    const char *cloud; /* NULL: the first that can be asked */
    const char *region;
    const char *endpoint;
    const char *profile;
    const char *prices;
    const char *bands;
    const char *arch;
    const char *types;
    const char *socket;
    const char *conf;
    const char *state;
    uint64_t mem_percent; /* 0: not given */
    uint64_t history;     /* days; 0: none */
    bool with_metal;
    bool with_old;
    bool without_spot;
    enum output_format format;
    bool given[OPTIONS];
};

static const char *const act_words[ACTS] = { "", "refresh", "show", "diff", "features" };

/* ---- the command line ---- */

/* The first cloud that can be asked, or the one of that name. */
static const struct cloud_adapter *find_source(const char *name)
{
    for (int i = 0; clouds[i] != NULL; i++) {
        if (clouds[i]->gather != NULL && (name == NULL || strcmp(clouds[i]->name, name) == 0))
            return clouds[i];
    }
    return NULL;
}

static void take_word(const struct argp_state *state, const char *word, struct arguments *arguments)
{
    if (arguments->act != ACT_NONE) {
        if (arguments->path_count == 2)
            argp_error(state, "two files at most, not '%s' too", word);
        else
            arguments->paths[arguments->path_count++] = word;
        return;
    }
    for (int i = 1; i < ACTS; i++) {
        if (strcmp(word, act_words[i]) == 0)
            arguments->act = (enum act)i;
    }
    if (arguments->act == ACT_NONE)
        argp_error(state, "refresh, show, features or diff, not '%s'", word);
}

static void check_words(const struct argp_state *state, const struct arguments *arguments)
{
    static const uint32_t wanted[ACTS] = { 0, 0, 1, 2, 1 };

    if (arguments->act == ACT_NONE)
        argp_error(state, "what to do: refresh, show, features or diff?");
    else if (arguments->path_count != wanted[arguments->act] &&
             (arguments->act != ACT_SHOW || arguments->path_count > 0))
        argp_error(state, "refresh takes no file, show one or none, features one, diff two");
    else if (arguments->act == ACT_SHOW && arguments->path_count > 0 && arguments->socket != NULL)
        argp_error(state, "--socket works only without FILE");
    else if (arguments->path_count > 0 && arguments->conf != NULL)
        argp_error(state, "--config names a catalogue, and so does FILE: give one of them");
    else if (arguments->socket != NULL && (arguments->conf != NULL || arguments->state != NULL))
        argp_error(state, "--socket asks the daemon, --config and --state read files");
    else if (arguments->history > 0 && arguments->without_spot)
        argp_error(state, "--history needs the spot market; remove --no-spot");
    for (int i = 0; i < OPTIONS; i++) {
        const char *acts = options[i].doc;
        const int length = (int)strcspn(acts, ":");
        const char *act = act_words[arguments->act];

        if (arguments->given[i] && memmem(acts, (size_t)length, act, strlen(act)) == NULL)
            argp_error(state, "--%s goes with %.*s only", options[i].name, length, acts);
    }
}

/* Where the text of an option goes that is taken as it is; NULL: it is another option. */
static const char **text_of(struct arguments *arguments, int key)
{
    switch (key) {
    case KEY_FILE:
        return &arguments->file;
    case KEY_REGION:
        return &arguments->region;
    case KEY_ENDPOINT:
        return &arguments->endpoint;
    case KEY_PROFILE:
        return &arguments->profile;
    case KEY_PRICES:
        return &arguments->prices;
    case KEY_BANDS:
        return &arguments->bands;
    case KEY_SOCKET:
        return &arguments->socket;
    case KEY_CONFIG:
        return &arguments->conf;
    case KEY_STATE:
        return &arguments->state;
    case KEY_TYPES:
        return &arguments->types;
    default:
        return NULL;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    const char **text = text_of(arguments, key);
    struct error error = { "" };

    for (int i = 0; i < OPTIONS; i++)
        arguments->given[i] |= options[i].key == key;
    if (text != NULL) {
        *text = arg;
        return 0;
    }
    switch (key) {
    case KEY_CLOUD:
        if (find_source(arg) == NULL)
            argp_error(state, "the cloud '%s' has no interface for this, or is unknown", arg);
        arguments->cloud = arg;
        return 0;
    case KEY_ARCH:
        arguments->arch = strcmp(arg, "any") == 0 ? NULL : arg;
        return 0;
    case KEY_MEMORY:
        if (line_number(arg, 100, &arguments->mem_percent) < 0 || arguments->mem_percent == 0)
            argp_error(state, "--memory is a whole number from 1 to 100");
        return 0;
    case KEY_HISTORY:
        if (line_number(arg, 90, &arguments->history) < 0 || arguments->history == 0)
            argp_error(state, "--history is a whole number of days from 1 to 90");
        return 0;
    case KEY_METAL:
        arguments->with_metal = true;
        return 0;
    case KEY_OLD:
        arguments->with_old = true;
        return 0;
    case KEY_NO_SPOT:
        arguments->without_spot = true;
        return 0;
    case KEY_OUTPUT:
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        take_word(state, arg, arguments);
        return 0;
    case ARGP_KEY_END:
        check_words(state, arguments);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- refresh ---- */

static void on_note(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "stint catalogue: %s\n", text);
}

/* A new file takes the place of the old one only when it is whole. */
static int write_file(const char *file, const char *text, size_t length, struct error *reterr)
{
    char path[4096];
    FILE *out = stdout;
    bool has_failed;

    if (file != NULL) {
        (void)snprintf(path, sizeof(path), "%s.new", file);
        out = fopen(path, "we");
        if (out == NULL)
            return error_set(reterr, -errno, "cannot write %s: %s", path, strerror(errno));
    }
    has_failed = fwrite(text, 1, length, out) != length;
    has_failed = fflush(out) != 0 || ferror(out) != 0 || has_failed;
    if (file != NULL) {
        has_failed = (has_failed || fsync(fileno(out)) != 0);
        has_failed = (fclose(out) != 0 || has_failed);
        has_failed = (has_failed || rename(path, file) != 0);
        if (has_failed)
            (void)unlink(path);
    }
    return has_failed
               ? error_set(reterr, -EIO, "cannot write %s", file != NULL ? file : "the catalogue")
               : 0;
}

static int gather(const struct arguments *arguments, FILE *out, struct cloud_gathered *ret,
                  struct error *reterr)
{
    const struct cloud_query query = {
        .region = arguments->region,
        .endpoint = arguments->endpoint,
        .profile = arguments->profile,
        .prices = arguments->prices,
        .bands = arguments->bands,
        .arch = arguments->arch,
        .types = arguments->types,
        .mem_percent = (uint32_t)arguments->mem_percent,
        .history_days = (uint32_t)arguments->history,
        .with_metal = arguments->with_metal,
        .with_old = arguments->with_old,
        .without_spot = arguments->without_spot,
        .on_note = on_note,
    };
    const struct cloud_adapter *source = find_source(arguments->cloud);

    if (source == NULL)
        return error_set(reterr, -ENOTSUP, "no supported cloud has an interface for this");

    const int rc = source->gather(&query, out, ret, reterr);

    if (rc == 0 && ret->offers == 0)
        return error_set(reterr, -ENOENT,
                         "no type of these has a known price; see --types, --arch");
    return rc;
}

static int refresh(const struct arguments *arguments, struct error *reterr)
{
    struct cloud_gathered gathered = { 0 };
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (out == NULL)
        return error_set(reterr, -errno, "no memory for the catalogue");

    int rc = gather(arguments, out, &gathered, reterr);

    if (fclose(out) != 0 && rc == 0)
        rc = error_set(reterr, -ENOMEM, "no memory for the catalogue");
    if (rc == 0)
        rc = write_file(arguments->file, text, length, reterr);
    if (rc == 0)
        fprintf(stderr, "stint catalogue: %" PRIu32 " offers of %s\n", gathered.offers,
                gathered.region);
    free(text);
    return rc;
}

/* ---- show and diff ---- */

struct loaded {
    struct catalogue catalogue;
    char words[3][128]; /* date, region, source; empty: not said */
};

static const char *const words[] = { "date", "region", "source" };

static void load_words(const struct input_file *file, struct loaded *ret)
{
    const struct doc_node *root = NULL;
    struct arena arena;

    arena_init(&arena);
    if (doc_parse(file->text, file->length, &arena, &root, NULL) == 0) {
        for (int i = 0; i < 3; i++) {
            const struct doc_node *node = doc_find(root, words[i]);

            (void)snprintf(ret->words[i], sizeof(ret->words[i]), "%s",
                           node != NULL && node->kind == DOC_SCALAR ? node->text : "");
        }
    }
    arena_done(&arena);
}

static int load(const char *path, struct loaded *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, &ret->catalogue, reterr);
    if (rc < 0)
        (void)error_prefix(reterr, rc, path);
    else
        load_words(&file, ret);
    input_file_done(&file);
    return rc;
}

static const char *zone_of(const struct catalogue *catalogue, const struct offer *offer)
{
    return offer->zone != NAME_NONE ? names_text(&catalogue->names, offer->zone) : "";
}

static int write_rows(struct report_table *table, enum output_format format, struct error *reterr)
{
    const int rc = report_table_write(table, format, stdout);

    report_table_destroy(table);
    return rc < 0 ? error_set(reterr, rc, "cannot write the table") : 0;
}

/* The row, unless another type was asked for; whether it was added. */
static bool add_row(const struct arguments *arguments, struct report_table *table,
                    const struct offer_row *row, bool experience)
{
    if (!text_matches(arguments->types, row->type))
        return false;
    offer_rows_add(table, row, experience);
    return true;
}

static void warn_of_none(const struct arguments *arguments, uint32_t shown, const char *where)
{
    if (shown == 0 && arguments->types != NULL)
        fprintf(stderr, "stint catalogue: no type of %s matches '%s'\n", where, arguments->types);
}

/* 'risks' may be NULL: nothing was learned. */
static int show_loaded(const struct arguments *arguments, const struct loaded *loaded,
                       const struct learned_risks *risks, const char *where, struct error *reterr)
{
    struct report_table *table = offer_rows_create(risks != NULL);
    uint32_t shown = 0;

    for (int i = 0; i < 3; i++) {
        report_table_note_text(table, words[i], loaded->words[i]);
        if (arguments->format == OUTPUT_TABLE && loaded->words[i][0] != '\0')
            printf("%s: %s\n", words[i], loaded->words[i]);
    }
    for (uint32_t i = 0; i < loaded->catalogue.offer_count; i++) {
        const struct offer_row row =
            risks != NULL ? learned_risks_row(risks, i) : offer_row_of(&loaded->catalogue, i);

        shown += add_row(arguments, table, &row, risks != NULL);
    }
    warn_of_none(arguments, shown, where);
    return write_rows(table, arguments->format, reterr);
}

/* The catalogue of that file, with what the state file has; 'state' may be NULL. */
static int show_file(const struct arguments *arguments, const char *path, const char *state,
                     struct error *reterr)
{
    struct loaded loaded = { 0 };
    struct learned_risks risks;
    int rc = load(path, &loaded, reterr);

    if (rc < 0)
        return rc;
    if (state != NULL)
        rc = learned_risks_read(state, &loaded.catalogue, period_now(), &risks, reterr);
    if (rc == 0) {
        rc = show_loaded(arguments, &loaded, state != NULL ? &risks : NULL, path, reterr);
        if (state != NULL)
            learned_risks_done(&risks);
    }
    catalogue_done(&loaded.catalogue);
    return rc;
}

/* Both files as a configuration names them, but for what the command line names. */
static int show_configured(const struct arguments *arguments, struct error *reterr)
{
    const char *path = arguments->conf != NULL ? arguments->conf : STATE_CONF_PATH;
    char state[STORE_PATH_ROOM];
    bool is_shadow = false;
    struct conf conf = { 0 };
    int rc = state_path(path, arguments->state, state, &is_shadow, reterr);

    if (rc == 0)
        rc = conf_load(path, &conf, reterr);
    if (rc < 0)
        return rc;

    /* Where a daemon never ran there is nothing that it learned; who names a file means it. */
    const bool is_there =
        arguments->conf != NULL || arguments->state != NULL || access(state, F_OK) == 0;

    rc = show_file(arguments, conf.catalogue, is_there ? state : NULL, reterr);
    conf_done(&conf);
    return rc;
}

/* What the daemon can rent, with what it has learned. */
static int show_daemon(const struct arguments *arguments, struct error *reterr)
{
    const struct daemon_options daemon = { .socket = arguments->socket };
    uint32_t shown = 0;
    json_t *answer = NULL;
    const json_t *offer;
    size_t i;
    const int rc = daemon_get(&daemon, "/v1/offers?limit=10000", &answer, reterr);

    if (rc < 0)
        return rc;

    struct report_table *table = offer_rows_create(true);

    json_array_foreach(json_object_get(answer, "offers"), i, offer)
    {
        const struct offer_row row = offer_row_of_json(offer);

        shown += add_row(arguments, table, &row, true);
    }
    warn_of_none(arguments, shown, "the daemon's catalogue");
    json_decref(answer);
    return write_rows(table, arguments->format, reterr);
}

static int show(const struct arguments *arguments, struct error *reterr)
{
    if (arguments->path_count > 0)
        return show_file(arguments, arguments->paths[0], arguments->state, reterr);
    if (arguments->conf != NULL || arguments->state != NULL)
        return show_configured(arguments, reterr);

    const int rc = show_daemon(arguments, reterr);
    const char *named = arguments->socket != NULL ? arguments->socket : getenv("STINT_SOCKET");

    /* Who names a socket means that daemon. */
    if (rc != -ECONNREFUSED || (named != NULL && named[0] != '\0') ||
        access(STATE_CONF_PATH, R_OK) != 0)
        return rc;
    fprintf(stderr, "stint catalogue: no stintd listens on " DAEMON_SOCKET
                    "; from the files that " STATE_CONF_PATH " names:\n");
    return show_configured(arguments, reterr);
}

/* What a catalogue says of an offer. */
struct terms {
    money_t price; /* MONEY_UNKNOWN: there is no such offer */
    struct interruption interruption;
};

/* Offers by type, zone and market, each as one name. */
static void index_offers(const struct catalogue *catalogue, struct names *names,
                         struct terms *terms)
{
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const struct offer *offer = &catalogue->offers[i];
        char name[1024];
        const int length =
            snprintf(name, sizeof(name), "%s\t%s\t%s", catalogue_offer_type_name(catalogue, i),
                     market_name(offer->market), zone_of(catalogue, offer));

        terms[names_add(names, name, (size_t)length)] =
            (struct terms){ offer->price.changes[offer->price.count - 1].per_hour,
                            offer->interruption };
    }
}

/* How the terms differ, in a word; NULL: they do not. */
static const char *word_for(const struct terms *old, const struct terms *fresh)
{
    if (old->price != fresh->price) {
        if (old->price == MONEY_UNKNOWN)
            return "new";
        if (fresh->price == MONEY_UNKNOWN)
            return "gone";
        return fresh->price > old->price ? "dearer" : "cheaper";
    }
    return old->interruption.low != fresh->interruption.low ||
                   old->interruption.high != fresh->interruption.high
               ? "interruption"
               : NULL;
}

static void add_change(struct report_table *table, const char *name, const struct terms *old,
                       const struct terms *fresh)
{
    const char *word = word_for(old, fresh);
    char parts[3][LIMIT_NAME + 1];

    if (word == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        const size_t length = strcspn(name, "\t");

        (void)snprintf(parts[i], sizeof(parts[i]), "%.*s", (int)length, name);
        name += length + (name[length] == '\t' ? 1 : 0);
    }
    report_table_add_text(table, word);
    for (int i = 0; i < 3; i++)
        report_table_add_text(table, parts[i]);
    report_table_add_money(table, old->price);
    report_table_add_money(table, fresh->price);
    offer_rows_add_interruption(table, old->interruption);
    offer_rows_add_interruption(table, fresh->interruption);
}

static int print_diff(const struct arguments *arguments, const struct loaded *files,
                      struct error *reterr)
{
    static const struct report_column columns[] = {
        { .key = "change", .heading = "change", .kind = REPORT_TEXT },
        { .key = "type", .heading = "type", .kind = REPORT_TEXT },
        { .key = "market", .heading = "market", .kind = REPORT_TEXT },
        { .key = "zone", .heading = "zone", .kind = REPORT_TEXT },
        { .key = "old_price", .heading = "old $", .kind = REPORT_MONEY, .digits = 4 },
        { .key = "new_price", .heading = "new $", .kind = REPORT_MONEY, .digits = 4 },
        { .key = "old_interruption",
          .heading = "old %",
          .kind = REPORT_TEXT,
          .align = REPORT_ALIGN_RIGHT },
        { .key = "new_interruption",
          .heading = "new %",
          .kind = REPORT_TEXT,
          .align = REPORT_ALIGN_RIGHT },
    };
    struct report_table *table =
        report_table_create("changes", columns, sizeof(columns) / sizeof(*columns));
    const uint32_t most = files[0].catalogue.offer_count + files[1].catalogue.offer_count;
    struct terms *old = mem_alloc(most, sizeof(*old));
    struct terms *fresh = mem_alloc(most, sizeof(*fresh));
    struct names names;

    names_init(&names);
    for (uint32_t i = 0; i < most; i++)
        old[i] = fresh[i] = (struct terms){ .price = MONEY_UNKNOWN };
    index_offers(&files[0].catalogue, &names, old);
    index_offers(&files[1].catalogue, &names, fresh);
    report_table_note_text(table, "old_date", files[0].words[0]);
    report_table_note_text(table, "new_date", files[1].words[0]);
    for (uint32_t i = 0; i < names.count; i++)
        add_change(table, names_text(&names, i), &old[i], &fresh[i]);
    const int rc = report_table_write(table, arguments->format, stdout);

    names_done(&names);
    mem_free(old);
    mem_free(fresh);
    report_table_destroy(table);
    return rc < 0 ? error_set(reterr, rc, "cannot write the table") : 0;
}

static int diff(const struct arguments *arguments, struct error *reterr)
{
    struct loaded files[2] = { 0 };
    int rc = load(arguments->paths[0], &files[0], reterr);

    if (rc < 0)
        return rc;
    rc = load(arguments->paths[1], &files[1], reterr);
    if (rc == 0) {
        rc = print_diff(arguments, files, reterr);
        catalogue_done(&files[1].catalogue);
    }
    catalogue_done(&files[0].catalogue);
    return rc;
}

/* Each cloud says itself what is needed to ask it. */
/* ---- features ---- */

static void note_word(struct names *all, const char *word)
{
    (void)names_add(all, word, strlen(word));
}

/* What an expression may ask for (model/offer_set.h), but for models of GPUs. */
static void note_offer(struct names *all, const struct catalogue *catalogue, uint32_t index)
{
    const struct offer *offer = &catalogue->offers[index];
    const struct machine_type *type = &catalogue->types[offer->type];

    note_word(all, names_text(&catalogue->families, type->family));
    note_word(all, names_text(&catalogue->names, type->name));
    note_word(all, market_name(offer->market));
    if (offer->zone != NAME_NONE)
        note_word(all, names_text(&catalogue->names, offer->zone));
    for (uint32_t at = type->word_first; at != 0; at = catalogue->words[at - 1].next) {
        const char *word = names_text(&catalogue->names, catalogue->words[at - 1].word);

        if (strchr(word, '=') == NULL)
            note_word(all, word);
    }
}

static int features(const struct arguments *arguments, struct error *reterr)
{
    struct loaded loaded = { 0 };
    struct names all;
    const int rc = load(arguments->paths[0], &loaded, reterr);

    if (rc < 0)
        return rc;
    names_init(&all);
    note_word(&all, "cloud");
    for (uint32_t i = 0; i < loaded.catalogue.offer_count; i++)
        note_offer(&all, &loaded.catalogue, i);
    for (uint32_t i = 0; i < all.count; i++)
        (void)printf("%s%s", i > 0 ? "," : "", names_text(&all, i));
    (void)printf("\n");
    names_done(&all);
    catalogue_done(&loaded.catalogue);
    return 0;
}

static void write_doc(char *ret, size_t size)
{
    size_t used = (size_t)snprintf(ret, size, "%s", intro);

    for (int i = 0; clouds[i] != NULL && used < size; i++) {
        if (clouds[i]->gather != NULL)
            used += (size_t)snprintf(ret + used, size - used, "\n%s: %s\n", clouds[i]->name,
                                     clouds[i]->gather_help);
    }
    if (used < size)
        (void)snprintf(ret + used, size - used, "%s", outro);
}

static int run(int argc, char **argv)
{
    static char name[] = "stint catalogue";
    static char doc[8192];
    struct arguments arguments = { .arch = "x86_64" };
    struct error error = { "" };
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "refresh\nshow [FILE]\nfeatures FILE\ndiff OLD NEW",
        .doc = doc,
    };
    int rc = 0;

    argv[0] = name;
    write_doc(doc, sizeof(doc));
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    switch (arguments.act) {
    case ACT_REFRESH:
        rc = refresh(&arguments, &error);
        break;
    case ACT_SHOW:
        rc = show(&arguments, &error);
        break;
    case ACT_DIFF:
        rc = diff(&arguments, &error);
        break;
    case ACT_FEATURES:
        rc = features(&arguments, &error);
        break;
    case ACT_NONE:
    case ACTS:
        break;
    }
    return rc < 0 ? verb_fail("catalogue", &error) : EXIT_DONE;
}

const struct verb verb_catalogue = {
    .name = "catalogue",
    .summary = "list a cloud's offers and prices, and compare two lists",
    .run = run,
    .has_rows = true,
    .sort_columns = "type, cpu, mem_gib, accel, market, zone, price, interruption, lasts_hours, "
                    "lasts_by, losses, machine_hours, lasts_low_hours, lasts_high_hours, change, "
                    "old_price, new_price, old_interruption, new_interruption",
};
