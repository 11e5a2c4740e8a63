/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/conf_findings.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "control/ports/findings.h"
#include "daemon/daemon_check.h"
#include "model/catalogue.h"

void findings_init(struct findings *findings)
{
    *findings = (struct findings){ 0 };
    arena_init(&findings->arena);
}

void findings_done(struct findings *findings)
{
    arena_done(&findings->arena);
    mem_free(findings->rows);
}

static const char *copy(struct findings *findings, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *kept = arena_alloc(&findings->arena, size, 1);

    memcpy(kept, text, size);
    return kept;
}

void findings_add(struct findings *findings, const struct finding *finding)
{
    MEM_ROOM(findings->rows, findings->room, findings->count + 1);
    findings->rows[findings->count++] = (struct finding){
        .severity = copy(findings, finding->severity),
        .kind = copy(findings, finding->kind),
        .subject = copy(findings, finding->subject),
        .text = copy(findings, finding->text),
        .advice = copy(findings, finding->advice),
        .address = finding->address != NULL ? copy(findings, finding->address) : NULL,
    };
}

uint32_t findings_errors(const struct findings *findings)
{
    uint32_t errors = 0;

    for (uint32_t i = 0; i < findings->count; i++)
        errors += strcmp(findings->rows[i].severity, "error") == 0;
    return errors;
}

static void add_found(void *context, const struct finding *finding)
{
    findings_add(context, finding);
}

static void next_found(void *context)
{
    (void)context; /* all of them are shown */
}

struct finding_sink findings_sink(struct findings *findings)
{
    return (struct finding_sink){ .tell = add_found, .next_kind = next_found, .context = findings };
}

static void look_at_catalogue(const struct conf *conf, const struct finding_sink *to)
{
    struct catalogue catalogue;
    struct error error;

    if (daemon_check_catalogue(conf, &catalogue, &error) < 0) {
        finding_tell(to,
                     &(struct finding_case){
                         FINDING_CATALOGUE, .subject = "catalogue",
                         .advice = "Correct the file. The reference page of the catalogue file "
                                   "describes its format." },
                     "%s", error.text);
        return;
    }
    if (catalogue.offer_count == 0)
        finding_tell(to,
                     &(struct finding_case){ FINDING_CATALOGUE, .subject = "catalogue",
                                             .advice = "Give each type a price or offers." },
                     "it lacks offers, so Stint can rent nothing");
    catalogue_done(&catalogue);
}

static void look_at_state(const struct conf *conf, const struct finding_sink *to)
{
    char path[PATH_MAX];
    struct stat at = { 0 };

    if ((size_t)snprintf(path, sizeof(path), "%s", conf->state) >= sizeof(path))
        return;

    const char *folder = dirname(path);
    const bool exists = stat(folder, &at) == 0;

    if (exists && S_ISDIR(at.st_mode))
        return;
    finding_tell(to,
                 &(struct finding_case){
                     FINDING_FILE, .subject = "state", .severity = "error",
                     .advice = exists ? "Name a file in a folder."
                                      : "Create the folder, owned by the user of stintd." },
                 "stintd cannot keep its state in %s: %s", folder,
                 strerror(exists ? ENOTDIR : errno));
}

/* A file of the API or of estimates, as stintd would read it. Who asks may have fewer rights. */
static void look_at_file(const struct conf *conf, const char *key,
                         int (*check)(const struct conf *conf, struct error *reterr),
                         const char *advice, const struct finding_sink *to)
{
    struct error error = { "" };
    const int rc = check(conf, &error);

    if (rc < 0)
        finding_tell(to,
                     &(struct finding_case){ FINDING_FILE, .subject = key,
                                             .severity = rc == -EACCES ? "note" : "error",
                                             .advice = advice },
                     "%s", error.text);
}

static void look_at_files(const struct conf *conf, const struct finding_sink *to)
{
    static const char *const secret = "Make it readable for the user of stintd alone.";

    look_at_file(conf, "http.tls_certificate", daemon_check_certificate,
                 "Put the certificate there.", to);
    look_at_file(conf, "http.tls_key", daemon_check_key, secret, to);
    look_at_file(conf, "http.token_file", daemon_check_token, secret, to);
    look_at_file(conf, "estimates.accounting", daemon_check_accounting,
                 "Correct the file, or remove the key. The reference page of sacct files describes "
                 "its format.",
                 to);
}

static void look_at_cloud(const struct conf *conf, const struct finding_sink *to)
{
    const char *text = daemon_check_note(conf);

    if (text != NULL)
        finding_tell(to,
                     &(struct finding_case){ FINDING_CLOUD, .subject = "cloud", .severity = "note",
                                             .advice = "Name one before you leave mode shadow." },
                     "%s", text);
}

void conf_findings(const struct conf *conf, struct findings *ret)
{
    const struct finding_sink sink = findings_sink(ret);

    look_at_catalogue(conf, &sink);
    look_at_state(conf, &sink);
    conf->engine.kind->examine(conf->engine.settings, &sink);
    look_at_files(conf, &sink);
    look_at_cloud(conf, &sink);
}

void cloud_findings(const struct conf *conf, struct findings *ret)
{
    const struct finding_sink sink = findings_sink(ret);
    struct catalogue catalogue;
    const bool has_catalogue = daemon_check_catalogue(conf, &catalogue, NULL) == 0;

    conf->cloud.kind->examine(
        &(struct cloud_subject){
            .settings = conf->cloud.settings,
            .catalogue = has_catalogue ? &catalogue : NULL,
            .cluster = conf->cluster,
            .node_prefix = conf->node_prefix,
        },
        &sink);
    if (has_catalogue)
        catalogue_done(&catalogue);
}
