/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kube_plan.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/report_table.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "engine/kubernetes/kube_anonymise.h"
#include "engine/kubernetes/kube_client.h"
#include "engine/kubernetes/kube_config.h"
#include "engine/kubernetes/kube_costing.h"
#include "engine/kubernetes/kube_snapshot.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"

enum option_key {
    KEY_OUTPUT = 'o',
    KEY_FROM = 0x100,
    KEY_CATALOGUE,
    KEY_SPOT,
    KEY_KUBECONFIG,
    KEY_CONTEXT,
    KEY_IN_CLUSTER,
    KEY_SNAPSHOT,
    KEY_ANONYMISE,
};

enum { LISTS = 3, FRESH_STARTS = 3 };

static const struct argp_option options[] = {
    { "from", KEY_FROM, "FILE", 0,
      "Output of kubectl get nodes,pods,poddisruptionbudgets -A -o json, or a snapshot", 0 },
    { "kubeconfig", KEY_KUBECONFIG, "FILE", 0, "Ask the API server of this file instead", 0 },
    { "context", KEY_CONTEXT, "NAME", 0, "With --kubeconfig: use this context of the file", 0 },
    { "in-cluster", KEY_IN_CLUSTER, NULL, 0, "Ask the API server of the surrounding pod instead",
      0 },
    { "snapshot", KEY_SNAPSHOT, "FILE", 0, "Save the answers of the API server for --from", 0 },
    { "anonymise", KEY_ANONYMISE, NULL, 0,
      "With --snapshot: keep only the fields used by Stint, and replace names and site labels "
      "by numbers. Works with --from too",
      0 },
    { "catalogue", KEY_CATALOGUE, "FILE", 0,
      "Machines to rent and their prices (required). `stint catalogue refresh' writes a current"
      " one",
      0 },
    { "spot", KEY_SPOT, NULL, 0,
      "Allow every pod on spot machines (default: only pods that run on spot now)", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    VERB_SORT_OPTION,
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
    "Compare the cost of a Kubernetes cluster's nodes with the cost of the same pods on other"
    " machines under the same constraints, and with the lower bound of every choice of "
    "machines. It changes nothing: it reads the output of kubectl, or lists nodes, pods and "
    "disruption budgets of an API server.\vExamples:\n"
    "  kubectl get nodes,pods,poddisruptionbudgets -A -o json >cluster.json\n"
    "  stint plan --from cluster.json --catalogue aws-us-east-1.yaml\n"
    "  stint plan --from cluster.json --catalogue aws-us-east-1.yaml --spot -o json\n"
    "  stint plan --kubeconfig ~/.kube/config --catalogue a.yaml --snapshot c.json\n"
    "  stint plan --from c.json --catalogue a.yaml --snapshot d.json --anonymise\n"
    "\n"
    "Fixed pods keep their node: those with no controller, a disruption budget of zero, a "
    "hostPath volume, an annotation against disruption, or requirements unknown to Stint. "
    "Nodes with a price unknown to the catalogue are left out, and counted.\n"
    "\n"
    "Exit codes: 0 done, 1 a file cannot be read, 2 wrong usage.";

struct arguments {
    const char *from;
    const char *kubeconfig;
    const char *context;
    const char *snapshot;
    const char *catalogue;
    bool is_in_cluster;
    bool is_anonymous;
    bool may_use_spot;
    enum output_format format;
};

bool kube_plan_is_meant(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--from", 6) == 0 || strncmp(argv[i], "--catalogue", 11) == 0 ||
            strncmp(argv[i], "--kubeconfig", 12) == 0 || strcmp(argv[i], "--in-cluster") == 0 ||
            strcmp(argv[i], "--spot") == 0)
            return true;
    }
    return false;
}

static void check_whole(const struct argp_state *state, const struct arguments *arguments)
{
    const int sources = (arguments->from != NULL) + (arguments->kubeconfig != NULL) +
                        (arguments->is_in_cluster ? 1 : 0);

    if (sources != 1)
        argp_error(state, "one of --from, --kubeconfig and --in-cluster is needed");
    if (arguments->catalogue == NULL)
        argp_error(state, "--catalogue is needed: what machines cost");
    if (arguments->context != NULL && arguments->kubeconfig == NULL)
        argp_error(state, "--context goes with --kubeconfig");
    if (arguments->is_anonymous && arguments->snapshot == NULL)
        argp_error(state, "--anonymise goes with --snapshot, the file to be written");
    if (arguments->snapshot != NULL && arguments->from != NULL && !arguments->is_anonymous)
        argp_error(state,
                   "--snapshot saves the answers of an API server; with --from, add --anonymise");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case KEY_FROM:
        arguments->from = arg;
        return 0;
    case KEY_CATALOGUE:
        arguments->catalogue = arg;
        return 0;
    case KEY_SPOT:
        arguments->may_use_spot = true;
        return 0;
    case KEY_OUTPUT:
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case VERB_KEY_SORT:
        report_table_sort_all(arg);
        return 0;
    case KEY_KUBECONFIG:
        arguments->kubeconfig = arg;
        return 0;
    case KEY_CONTEXT:
        arguments->context = arg;
        return 0;
    case KEY_IN_CLUSTER:
        arguments->is_in_cluster = true;
        return 0;
    case KEY_SNAPSHOT:
        arguments->snapshot = arg;
        return 0;
    case KEY_ANONYMISE:
        arguments->is_anonymous = true;
        return 0;
    case ARGP_KEY_END:
        check_whole(state, arguments);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int load_catalogue(const char *path, struct catalogue *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, ret, reterr);
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

/* What is read goes to the plan, and without names to a file, if there is to be one. */
struct taking {
    struct kube_snapshot *snapshot;
    struct kube_anonymiser anonymiser;
    bool is_anonymous;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct taking *taking = context;

    (void)event;
    if (taking->is_anonymous)
        kube_anonymise(&taking->anonymiser, object);
    return kube_snapshot_add(taking->snapshot, object);
}

static int not_written(const char *path, struct error *reterr)
{
    const int code = errno != 0 ? errno : EIO;

    return error_set(reterr, -code, "%s cannot be written: %s", path, strerror(code));
}

/* The snapshot's file; NULL with 0: there is to be none. */
static int open_copy(const char *path, FILE **ret, struct error *reterr)
{
    *ret = path != NULL ? fopen(path, "we") : NULL;
    return path != NULL && *ret == NULL ? not_written(path, reterr) : 0;
}

static int close_copy(const char *path, FILE *copy, int rc, struct error *reterr)
{
    const bool is_bad = copy != NULL && ferror(copy) != 0;

    if (copy != NULL && (fclose(copy) != 0 || is_bad) && rc == 0)
        return not_written(path, reterr);
    return rc;
}

static int load_file(const struct arguments *arguments, struct kube_snapshot *snapshot,
                     struct error *reterr)
{
    struct taking taking = { .snapshot = snapshot, .is_anonymous = arguments->is_anonymous };
    const struct kube_object_sink sink = { .on_object = on_object, .context = &taking };
    struct input_file file = { 0 };
    FILE *copy = NULL;
    int rc = input_file_read(arguments->from, &file, reterr);

    if (rc < 0)
        return rc;
    rc = open_copy(arguments->snapshot, &copy, reterr);
    kube_anonymiser_init(&taking.anonymiser, copy);
    if (rc == 0) {
        rc = kube_snapshot_read_by(snapshot, &sink, file.text, file.length, reterr);
        if (rc < 0)
            (void)error_prefix(reterr, rc, arguments->from);
        rc = close_copy(arguments->snapshot, copy, rc, reterr);
    }
    kube_anonymiser_done(&taking.anonymiser);
    input_file_done(&file);
    return rc;
}

/* All lists; -ESTALE: one became too old while it was read. */
static int list_all(struct kube_client *client, struct taking *taking, FILE *copy,
                    struct error *reterr)
{
    static const struct {
        const char *path;
        enum kube_kind kind;
    } lists[LISTS] = { { "/api/v1/nodes", KUBE_NODE },
                       { "/api/v1/pods", KUBE_POD },
                       { "/apis/policy/v1/poddisruptionbudgets", KUBE_BUDGET } };
    const struct kube_object_sink sink = { .on_object = on_object, .context = taking };

    for (int i = 0; i < LISTS; i++) {
        const int rc = kube_client_list(client, lists[i].path, lists[i].kind, &sink, copy, reterr);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Once; into a snapshot that is empty again. */
static int ask_once(struct kube_client *client, const struct arguments *arguments,
                    struct kube_snapshot *snapshot, struct error *reterr)
{
    struct taking taking = { .snapshot = snapshot, .is_anonymous = arguments->is_anonymous };
    FILE *copy = NULL;
    int rc = open_copy(arguments->snapshot, &copy, reterr);

    if (rc < 0)
        return rc;
    kube_snapshot_done(snapshot);
    kube_snapshot_init(snapshot);
    kube_anonymiser_init(&taking.anonymiser, copy);
    rc = list_all(client, &taking, arguments->is_anonymous ? NULL : copy, reterr);
    kube_anonymiser_done(&taking.anonymiser);
    return close_copy(arguments->snapshot, copy, rc, reterr);
}

static int ask_server(const struct kube_config *config, const struct arguments *arguments,
                      struct kube_snapshot *snapshot, struct error *reterr)
{
    struct kube_client *client = NULL;
    int rc = kube_client_create(config, &client, reterr);

    for (int i = 0; rc == 0 && i < FRESH_STARTS; i++) {
        rc = ask_once(client, arguments, snapshot, reterr);
        if (rc != -ESTALE)
            break;
        rc = i + 1 < FRESH_STARTS ? 0 : rc;
    }
    kube_client_destroy(client);
    if (rc == 0 && snapshot->node_count == 0)
        rc = error_set(reterr, -ENODATA, "the cluster has no nodes");
    if (rc == 0)
        kube_snapshot_close(snapshot);
    return rc;
}

static int load_server(const struct arguments *arguments, struct kube_snapshot *snapshot,
                       struct error *reterr)
{
    struct kube_config config = { 0 };
    struct input_file file = { 0 };
    int rc;

    if (arguments->is_in_cluster) {
        rc = kube_config_in_cluster(&config, reterr);
    } else {
        rc = input_file_read(arguments->kubeconfig, &file, reterr);
        if (rc == 0) {
            rc = kube_config_read(file.text, file.length, arguments->kubeconfig, arguments->context,
                                  &config, reterr);
            explicit_bzero(file.text, file.length);
            input_file_done(&file);
            if (rc < 0)
                (void)error_prefix(reterr, rc, arguments->kubeconfig);
        }
    }
    if (rc == 0)
        rc = ask_server(&config, arguments, snapshot, reterr);
    kube_config_done(&config);
    return rc;
}

static int load(const struct arguments *arguments, struct kube_snapshot *snapshot,
                struct catalogue *catalogue, struct error *reterr)
{
    int rc = load_catalogue(arguments->catalogue, catalogue, reterr);

    if (rc < 0)
        return rc;
    rc = arguments->from != NULL ? load_file(arguments, snapshot, reterr)
                                 : load_server(arguments, snapshot, reterr);
    if (rc < 0)
        catalogue_done(catalogue);
    return rc;
}

static const struct report_column columns[] = {
    { .key = "type", .heading = "machine type", .kind = REPORT_TEXT },
    { .key = "zone", .heading = "zone", .kind = REPORT_TEXT },
    { .key = "market", .heading = "market", .kind = REPORT_TEXT },
    { .key = "price_usd_per_hour", .heading = "$/h each", .kind = REPORT_MONEY, .digits = 4 },
    { .key = "now", .heading = "now", .kind = REPORT_INTEGER },
    { .key = "planned", .heading = "planned", .kind = REPORT_INTEGER },
    { .key = "now_usd_per_hour", .heading = "$/h now", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "planned_usd_per_hour", .heading = "$/h planned", .kind = REPORT_MONEY, .digits = 2 },
};

static struct report_table *make_table(const struct kube_costing *costing,
                                       const struct catalogue *catalogue)
{
    struct report_table *table =
        report_table_create("cluster", columns, sizeof(columns) / sizeof(columns[0]));

    for (uint32_t i = 0; i < costing->row_count; i++) {
        const struct kube_costing_row *row = &costing->rows[i];
        const struct offer *offer = &catalogue->offers[row->offer];
        const money_t price = price_at(&offer->price, 0);

        report_table_add_text(table, catalogue_offer_type_name(catalogue, row->offer));
        report_table_add_text(
            table, offer->zone != NAME_NONE ? names_text(&catalogue->names, offer->zone) : NULL);
        report_table_add_text(table, market_name(offer->market));
        report_table_add_money(table, price);
        report_table_add_integer(table, row->now);
        report_table_add_integer(table, row->planned);
        report_table_add_money(table, price * row->now);
        report_table_add_money(table, price * row->planned);
    }
    return table;
}

/* For programs. */
static void add_notes(struct report_table *table, const struct kube_costing *costing)
{
    report_table_note_money(table, "now_usd_per_hour", costing->now);
    report_table_note_money(table, "planned_usd_per_hour", costing->planned);
    report_table_note_money(table, "bound_usd_per_hour", costing->bound);
    report_table_note_money(table, "pods_usd_per_hour", costing->shares.pods);
    report_table_note_money(table, "daemons_usd_per_hour", costing->shares.daemons);
    report_table_note_money(table, "reserved_usd_per_hour", costing->shares.reserved);
    report_table_note_money(table, "idle_usd_per_hour", costing->shares.idle);
    report_table_note_integer(table, "nodes", costing->priced_nodes);
    report_table_note_integer(table, "nodes_without_price", costing->unpriced_nodes);
    report_table_note_integer(table, "nodes_not_rented", costing->other_nodes);
    report_table_note_integer(table, "nodes_kept", costing->kept_nodes);
    report_table_note_integer(table, "machines_planned", costing->planned_machines);
    report_table_note_integer(table, "machines_over_pod_limit", costing->over_pod_limit);
    report_table_note_integer(table, "pods", costing->pods);
    report_table_note_integer(table, "pods_waiting", costing->waiting);
    report_table_note_integer(table, "pods_that_move", costing->moves);
    report_table_note_integer(table, "pods_not_compared", costing->outside);
    report_table_note_integer(table, "pods_without_request", costing->without_request);
    report_table_note_integer(table, "pods_that_fit_nowhere", costing->unplaced);
}

/* "1 pod", "2 pods" */
struct counted {
    char text[64];
};

static struct counted count(uint32_t number, const char *word)
{
    struct counted counted;

    (void)snprintf(counted.text, sizeof(counted.text), "%" PRIu32 " %s%s", number, word,
                   number == 1 ? "" : "s");
    return counted;
}

static unsigned percent(money_t part, money_t whole)
{
    return whole > 0 && part > 0 ? (unsigned)((part * 100 + whole / 2) / whole) : 0;
}

static void print_now(const struct kube_costing *costing)
{
    const struct kube_shares *shares = &costing->shares;

    (void)printf("%s %s %s per hour: %u %% for pods, %u %% for daemons, %u %% reserved for the "
                 "system, %u %% idle.\n",
                 count(costing->priced_nodes, "node").text,
                 costing->priced_nodes == 1 ? "costs" : "cost", money_words(costing->now, 2).text,
                 percent(shares->pods, costing->now), percent(shares->daemons, costing->now),
                 percent(shares->reserved, costing->now), percent(shares->idle, costing->now));
}

static void print_plan(const struct kube_costing *costing)
{
    const bool is_less = costing->planned < costing->now;

    if (is_less)
        (void)printf("The same pods fit on %s for %s per hour: %u %% less. %s would move",
                     count(costing->planned_machines, "machine").text,
                     money_words(costing->planned, 2).text,
                     percent(costing->now - costing->planned, costing->now),
                     count(costing->moves, "pod").text);
    else
        (void)printf("No cheaper machines were found for the same pods (%s per hour)",
                     money_words(costing->planned, 2).text);
    if (costing->kept_nodes > 0)
        (void)printf("; %s %s, because of a fixed pod", count(costing->kept_nodes, "node").text,
                     costing->kept_nodes == 1 ? "stays" : "stay");
    (void)printf(".\nNo choice of machines costs less than %s per hour, even if every pod could "
                 "move.\n\n",
                 money_words(costing->bound, 2).text);
}

static void print_stays(const struct kube_costing *costing)
{
    bool has_any = false;

    for (int stay = KUBE_STAYS_DAEMON + 1; stay < KUBE_STAY_COUNT; stay++) {
        if (costing->stays[stay] == 0)
            continue;
        (void)printf("%s", has_any ? "" : "\nPods that stay in place, because each\n");
        (void)printf("  %6" PRIu32 "  %s\n", costing->stays[stay],
                     kube_stay_text((enum kube_stay)stay));
        has_any = true;
    }
}

static void print_not_counted(const struct kube_costing *costing)
{
    const struct {
        uint32_t number;
        const char *word;
        const char *what;
    } lines[] = {
        { costing->unpriced_nodes, "node",
          "without a price in the catalogue, with all pods there" },
        { costing->other_nodes, "node", "outside of Stint (control plane, virtual)" },
        { costing->outside, "pod", "on those nodes" },
        { costing->waiting, "pod", "pending now, with a place in the plan" },
        { costing->without_request, "pod", "without requests: counted with size 0" },
        { costing->unplaced, "pod",
          "too large for every machine of the catalogue: left out of the plan" },
        { costing->over_pod_limit, "planned machine", "with more pods than its kubelet may take" },
    };

    (void)puts(
        "\nNot counted: preferred (not required) affinities, ephemeral storage, traffic between zones, "
        "volumes, load balancers, discounts.");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (lines[i].number > 0)
            (void)printf("  %s %s\n", count(lines[i].number, lines[i].word).text, lines[i].what);
    }
}

static int report(const struct arguments *arguments, const struct kube_costing *costing,
                  const struct catalogue *catalogue)
{
    struct report_table *table = make_table(costing, catalogue);

    add_notes(table, costing);
    if (arguments->format == OUTPUT_TABLE) {
        print_now(costing);
        print_plan(costing);
    }

    const bool is_written = report_table_write(table, arguments->format, stdout) == 0;

    report_table_destroy(table);
    if (arguments->format == OUTPUT_TABLE) {
        print_stays(costing);
        print_not_counted(costing);
    }
    return is_written && fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

int kube_plan_run(int argc, char **argv)
{
    static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
    static char name[] = "stint plan";
    struct arguments arguments = { .format = OUTPUT_TABLE };
    struct kube_snapshot snapshot;
    struct kube_costing costing;
    struct catalogue catalogue;
    struct error error = { "" };

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    kube_snapshot_init(&snapshot);
    if (load(&arguments, &snapshot, &catalogue, &error) < 0) {
        kube_snapshot_done(&snapshot);
        return verb_fail("plan", &error);
    }
    kube_costing(&snapshot, &catalogue, arguments.may_use_spot, &costing);

    const int code = report(&arguments, &costing, &catalogue);

    kube_costing_done(&costing);
    catalogue_done(&catalogue);
    kube_snapshot_done(&snapshot);
    return code;
}
