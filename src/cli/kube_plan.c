/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kube_plan.h"

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/operator.h"
#include "cli/report_table.h"
#include "cli/verb.h"
#include "engine/kubernetes/kube_costing.h"
#include "engine/kubernetes/kube_snapshot.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"

enum option_key {
    KEY_OUTPUT = 'o',
    KEY_FROM = 0x100,
    KEY_CATALOGUE,
    KEY_SPOT,
};

static const struct argp_option options[] = {
    { "from", KEY_FROM, "FILE", 0,
      "What kubectl printed of the cluster: kubectl get nodes,pods,poddisruptionbudgets -A -o json (needed)",
      0 },
    { "catalogue", KEY_CATALOGUE, "FILE", 0,
      "What can be rented at what price (needed); `stint catalogue refresh` makes one of today",
      0 },
    { "spot", KEY_SPOT, NULL, 0,
      "Every pod may run on spot machines; by default those alone that do now", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "table (default), json or csv", 0 },
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
    "Compare what the nodes of a Kubernetes cluster cost with what the same pods would cost on other machines, "
    "under the constraints that they have, and with the least that any choice of machines costs. Nothing is "
    "changed, and nobody is asked: it reads what kubectl printed.\v"
    "Pods that cannot move (no controller, a disruption budget that allows none, a hostPath volume, an annotation "
    "against disruption, or requirements that are not understood) keep their node. Nodes whose price the "
    "catalogue does not have are left out, and counted.\n"
    "\n"
    "Exit codes: 0 done, 1 a file cannot be read, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  kubectl get nodes,pods,poddisruptionbudgets -A -o json >cluster.json\n"
    "  stint plan --from cluster.json --catalogue aws-us-east-1.yaml\n"
    "  stint plan --from cluster.json --catalogue aws-us-east-1.yaml --spot -o json";

struct arguments {
    const char *from;
    const char *catalogue;
    bool may_use_spot;
    enum output_format format;
};

bool kube_plan_is_meant(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--from", 6) == 0 || strncmp(argv[i], "--catalogue", 11) == 0 ||
            strcmp(argv[i], "--spot") == 0)
            return true;
    }
    return false;
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
    case ARGP_KEY_END:
        if (arguments->from == NULL || arguments->catalogue == NULL)
            argp_error(state, "both --from and --catalogue are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int load(const struct arguments *arguments, struct kube_snapshot *snapshot,
                struct catalogue *catalogue, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(arguments->catalogue, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, catalogue, reterr);
    input_file_done(&file);
    if (rc < 0)
        return error_prefix(reterr, rc, arguments->catalogue);
    file = (struct input_file){ 0 };
    rc = input_file_read(arguments->from, &file, reterr);
    if (rc == 0) {
        rc = kube_snapshot_read(snapshot, file.text, file.length, reterr);
        if (rc < 0)
            (void)error_prefix(reterr, rc, arguments->from);
        input_file_done(&file);
    }
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
        (void)printf("; %s %s, because a pod there cannot move",
                     count(costing->kept_nodes, "node").text,
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
        (void)printf("%s", has_any ? "" : "\nPods that stay where they are, because each\n");
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
        { costing->other_nodes, "node", "that nobody rents (control plane, virtual)" },
        { costing->outside, "pod", "on those nodes" },
        { costing->waiting, "pod", "pending now, with a place in the plan" },
        { costing->without_request, "pod", "without requests: taken to need no room" },
        { costing->unplaced, "pod", "that fit no machine of the catalogue: no place in the plan" },
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
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
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
