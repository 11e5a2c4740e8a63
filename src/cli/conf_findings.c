/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/conf_findings.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"

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

static int read_catalogue(const char *path, struct catalogue *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, ret, reterr);
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

static void look_at_catalogue(const struct conf *conf, struct findings *findings)
{
    struct catalogue catalogue;
    struct error error;

    if (read_catalogue(conf->catalogue, &catalogue, &error) < 0) {
        findings_add(findings, &(struct finding){ "error", "catalogue", "catalogue", error.text,
                                                  "correct the file; docs/format/catalogue.md says "
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

/* Whether there is such a program, by its path or in $PATH. */
static bool is_program(const char *name)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");

    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0;
    while (at != NULL && *at != 0) {
        const size_t length = strcspn(at, ":");

        if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, name) < sizeof(path) &&
            access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static void look_at_engine(const struct conf *conf, struct findings *findings)
{
    char text[PATH_MAX + 64];

    if (conf->engine.program == NULL || is_program(conf->engine.program))
        return;
    (void)snprintf(text, sizeof(text), "the program %s is not there, or cannot be run",
                   conf->engine.program);
    findings_add(findings, &(struct finding){ "warning", "engine", "engine.program", text,
                                              "install it, or name its whole path" });
}

static void look_at_secret(const char *key, const char *path, struct findings *findings)
{
    struct stat at;

    if (path == NULL)
        return;
    if (stat(path, &at) != 0) {
        add_file(findings, errno == EACCES ? "note" : "error", key, path, errno,
                 "make it readable for the user that stintd runs as, and for nobody else");
        return;
    }
    if ((at.st_mode & (S_IRWXO)) != 0) {
        char text[PATH_MAX + 64];

        (void)snprintf(text, sizeof(text), "everybody on this machine may read %s", path);
        findings_add(findings,
                     &(struct finding){ "warning", "secret", key, text, "chmod o= that file" });
    }
}

static void look_at_certificate(const struct conf *conf, struct findings *findings)
{
    if (conf->http.tls_certificate != NULL && access(conf->http.tls_certificate, R_OK) != 0)
        add_file(findings, errno == EACCES ? "note" : "error", "http.tls_certificate",
                 conf->http.tls_certificate, errno, "put the certificate there");
}

void conf_findings(const struct conf *conf, struct findings *ret)
{
    look_at_catalogue(conf, ret);
    look_at_state(conf, ret);
    look_at_engine(conf, ret);
    look_at_certificate(conf, ret);
    look_at_secret("http.tls_key", conf->http.tls_key, ret);
    look_at_secret("http.token_file", conf->http.token_file, ret);
}
