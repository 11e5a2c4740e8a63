/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/conf_findings.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
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
    };
}

uint32_t findings_errors(const struct findings *findings)
{
    uint32_t errors = 0;

    for (uint32_t i = 0; i < findings->count; i++)
        errors += strcmp(findings->rows[i].severity, "error") == 0;
    return errors;
}

/* What the key names cannot be used, for the reason in 'number'. */
static void add_file(struct findings *findings, const char *severity, const char *key,
                     const char *path, int number, const char *advice)
{
    char text[PATH_MAX + 128];

    (void)snprintf(text, sizeof(text), "%s cannot be used: %s", path, strerror(number));
    findings_add(findings, &(struct finding){ severity, "file", key, text, advice });
}

static void look_at_catalogue(const struct conf *conf, struct findings *findings)
{
    struct catalogue catalogue;
    struct error error;

    if (daemon_check_catalogue(conf, &catalogue, &error) < 0) {
        findings_add(findings, &(struct finding){ "error", "catalogue", "catalogue", error.text,
                                                  "correct the file; docs/reference/files/catalogue.md says "
                                                  "how it is written" });
        return;
    }
    if (catalogue.offer_count == 0)
        findings_add(findings, &(struct finding){ "error", "catalogue", "catalogue",
                                                  "it offers nothing that could be rented",
                                                  "give each type a price or offers" });
    catalogue_done(&catalogue);
}

static void look_at_state(const struct conf *conf, struct findings *findings)
{
    char path[PATH_MAX];
    struct stat at;

    if ((size_t)snprintf(path, sizeof(path), "%s", conf->state) >= sizeof(path))
        return;

    const char *folder = dirname(path);

    if (stat(folder, &at) != 0)
        add_file(findings, "error", "state", folder, errno,
                 "make the folder, owned by the user that stintd runs as");
    else if (!S_ISDIR(at.st_mode))
        add_file(findings, "error", "state", folder, ENOTDIR, "name a file in a folder");
}

static void add_found(void *context, const struct finding *finding)
{
    findings_add(context, finding);
}

static void next_found(void *context)
{
    (void)context; /* all of them are shown */
}

static struct finding_sink sink_of(struct findings *findings)
{
    return (struct finding_sink){ .tell = add_found, .next_kind = next_found, .context = findings };
}

static void look_at_engine(const struct conf *conf, struct findings *findings)
{
    const struct finding_sink sink = sink_of(findings);

    conf->engine.kind->examine(conf->engine.settings, &sink);
}

/* A file of the API or of estimates, as stintd would read it. Who asks may have fewer rights. */
static void look_at_file(const struct conf *conf, const char *key,
                         int (*check)(const struct conf *conf, struct error *reterr),
                         const char *advice, struct findings *findings)
{
    struct error error = { "" };
    const int rc = check(conf, &error);

    if (rc < 0)
        findings_add(findings, &(struct finding){ rc == -EACCES ? "note" : "error", "file", key,
                                                  error.text, advice });
}

static void look_at_files(const struct conf *conf, struct findings *ret)
{
    static const char *const secret =
        "make it readable by the user that stintd runs as, and by no one else";

    look_at_file(conf, "http.tls_certificate", daemon_check_certificate,
                 "put the certificate there", ret);
    look_at_file(conf, "http.tls_key", daemon_check_key, secret, ret);
    look_at_file(conf, "http.token_file", daemon_check_token, secret, ret);
    look_at_file(conf, "estimates.accounting", daemon_check_accounting,
                 "write it as docs/reference/files/sacct.md says, or leave the key out", ret);
}

static void look_at_cloud(const struct conf *conf, struct findings *ret)
{
    const char *text = daemon_check_note(conf);

    if (text != NULL)
        findings_add(ret, &(struct finding){ "note", "cloud", "cloud", text,
                                             "name one before you leave mode shadow" });
}

void conf_findings(const struct conf *conf, struct findings *ret)
{
    look_at_catalogue(conf, ret);
    look_at_state(conf, ret);
    look_at_engine(conf, ret);
    look_at_files(conf, ret);
    look_at_cloud(conf, ret);
}

void cloud_findings(const struct conf *conf, struct findings *ret)
{
    const struct finding_sink sink = sink_of(ret);
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
