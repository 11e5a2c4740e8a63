/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cloud_findings.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "cli/iam_policies.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_rights.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"

enum { STATEMENTS_SIZE = 4096 };

/* ---- statements of the policies ---- */

static bool has_action(const json_t *statement, const char *action)
{
    const json_t *actions = json_object_get(statement, "Action");

    for (size_t i = 0; i < json_array_size(actions); i++) {
        const char *one = json_string_value(json_array_get(actions, i));

        if (one != NULL && strcmp(one, action) == 0)
            return true;
    }
    return false;
}

/* Write 'text' with the words in capitals filled in; returns how much 'ret' has then. */
static size_t put_filled(const char *text, const struct iam_words *words, char *ret, size_t used,
                         size_t size)
{
    const struct {
        const char *word;
        const char *value;
    } known[] = {
        { "ACCOUNT", words->account },
        { "CLUSTER", words->cluster },
        { "LAUNCH_TEMPLATE_ID", words->launch_template },
        { "QUEUE", words->queue },
    };

    while (*text != '\0' && used + 1 < size) {
        size_t skip = 0;

        for (size_t i = 0; skip == 0 && i < sizeof(known) / sizeof(*known); i++) {
            const size_t length = strlen(known[i].word);

            if (known[i].value == NULL || strncmp(text, known[i].word, length) != 0)
                continue;
            skip = length;
            used += (size_t)snprintf(ret + used, size - used, "%s", known[i].value);
        }
        if (skip == 0)
            ret[used++] = *text++;
        else
            text += skip;
        used = used < size ? used : size - 1;
    }
    ret[used] = '\0';
    return used;
}

void iam_statements(const char *action, const struct iam_words *words, char *ret, size_t size)
{
    const char *const texts[] = { iam_policy, iam_catalogue };
    size_t used = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        json_t *policy = json_loads(texts[i], 0, NULL);
        const json_t *list = json_object_get(policy, "Statement");

        for (size_t j = 0; j < json_array_size(list); j++) {
            const json_t *statement = json_array_get(list, j);
            char *text = has_action(statement, action) ? json_dumps(statement, 0) : NULL;

            if (text == NULL)
                continue;
            if (used > 0)
                used = put_filled(", ", words, ret, used, size);
            used = put_filled(text, words, ret, used, size);
            free(text);
        }
        json_decref(policy);
    }
}

/* ---- EC2 ---- */

static void tell_keys(const struct aws_rights_report *report, struct findings *ret)
{
    char text[1280];

    if (report->has_keys) {
        (void)snprintf(text, sizeof(text), "they come from %s%s%s", report->source,
                       report->who[0] != '\0' ? "; they are those of " : "", report->who);
        findings_add(ret, &(struct finding){ "note", "cloud", "credentials", text,
                                             "nothing is to be done" });
        return;
    }
    (void)snprintf(text, sizeof(text), "%s%s%s: %s",
                   report->source[0] != '\0' ? "those from " : "there are none", report->source,
                   report->source[0] != '\0' ? " cannot be used" : "", report->why);
    findings_add(ret, &(struct finding){ "error", "cloud", "credentials", text,
                                         "give stintd keys or a role; docs/AWS.md has the order in "
                                         "which they are looked for" });
}

static void tell_missing(const struct aws_rights_report *report, enum aws_right_name name,
                         const struct iam_words *words, struct findings *ret)
{
    const struct aws_right *right = &aws_rights[name];
    char statements[STATEMENTS_SIZE];
    char text[ERROR_TEXT_SIZE + 128];
    char advice[STATEMENTS_SIZE + 512];

    iam_statements(right->action, words, statements, sizeof(statements));
    (void)snprintf(text, sizeof(text), "the right is missing%s (%s)",
                   right->is_for_catalogue ? "; `stint catalogue refresh` needs it" : "",
                   report->rights[name].detail);
    (void)snprintf(advice, sizeof(advice), "add to the policy of %s: %s",
                   report->who[0] != '\0' ? report->who : "whoever has these keys", statements);
    findings_add(ret, &(struct finding){ right->is_for_catalogue ? "warning" : "error", "right",
                                         right->action, text, advice });
}

static void tell_wrong(const struct aws_right *right, const char *detail, struct findings *ret)
{
    const bool is_launch = strcmp(right->action, "ec2:RunInstances") == 0;

    findings_add(ret,
                 &(struct finding){ right->is_for_catalogue ? "warning" : "error", "cloud",
                                    right->action, detail,
                                    is_launch ? "a launch would fail like this: correct the launch "
                                                "template, image, subnets or quota that it names"
                                              : "correct what it names, or try again later" });
}

static void tell_rights(const struct aws_rights_report *report, const struct iam_words *words,
                        struct findings *ret)
{
    char there[1024] = "";
    size_t used = 0;

    for (int i = 0; i < AWS_RIGHTS; i++) {
        const struct aws_right_answer *answer = &report->rights[i];

        switch (answer->state) {
        case AWS_RIGHT_UNASKED:
            break;
        case AWS_RIGHT_THERE:
            used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%s",
                                     used > 0 ? ", " : "", aws_rights[i].action);
            used = used < sizeof(there) ? used : sizeof(there) - 1;
            break;
        case AWS_RIGHT_MISSING:
            tell_missing(report, (enum aws_right_name)i, words, ret);
            break;
        case AWS_RIGHT_UNTRIED:
            findings_add(ret,
                         &(struct finding){ "note", "right", aws_rights[i].action, answer->detail,
                                            i == AWS_RIGHT_PRODUCTS ? "give the prices in a file"
                                                                    : "ask again when it can be" });
            break;
        case AWS_RIGHT_WRONG:
            tell_wrong(&aws_rights[i], answer->detail, ret);
            break;
        }
    }
    if (used > 0)
        findings_add(
            ret, &(struct finding){ "note", "right", "allowed", there, "nothing is to be done" });
}

static void tell_queue(const struct conf *conf, struct findings *ret)
{
    if (conf->cloud.aws.queue == NULL)
        findings_add(ret,
                     &(struct finding){ "note", "cloud", "cloud.queue",
                                        "no queue of notices: only stint-join on the machine hears "
                                        "that it will be taken away",
                                        "make one as docs/AWS-IN-AN-HOUR.md says" });
}

static int read_catalogue(const char *path, struct catalogue *ret)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, NULL);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, ret, NULL);
    input_file_done(&file);
    return rc;
}

static int ask_aws(const struct conf *conf, const struct catalogue *catalogue,
                   struct aws_rights_report *report, struct error *reterr)
{
    const struct aws_settings *settings = &conf->cloud.aws;
    struct aws_client *client = NULL;
    uv_loop_t loop;
    int rc;

    (void)uv_loop_init(&loop);
    rc = aws_client_create(&(struct aws_client_config){ .loop = &loop,
                                                        .region = settings->region,
                                                        .endpoint = settings->endpoint,
                                                        .profile = settings->profile },
                           &client, reterr);
    if (rc == 0)
        rc = aws_rights_ask(&(struct aws_rights_config){ .loop = &loop,
                                                         .client = client,
                                                         .catalogue = catalogue,
                                                         .cluster = conf->cluster,
                                                         .node_prefix = conf->node_prefix,
                                                         .settings = settings },
                            report, reterr);
    aws_client_destroy(client);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    return rc;
}

static void look_at_aws(const struct conf *conf, struct findings *ret)
{
    const struct aws_settings *settings = &conf->cloud.aws;
    const char *queue = settings->queue != NULL ? strrchr(settings->queue, '/') : NULL;
    const char *template = settings->launch_template;
    struct aws_rights_report *report = mem_alloc(1, sizeof(*report));
    struct catalogue catalogue;
    struct error error = { "" };
    const bool has_catalogue = read_catalogue(conf->catalogue, &catalogue) == 0;

    if (ask_aws(conf, has_catalogue ? &catalogue : NULL, report, &error) < 0) {
        findings_add(ret, &(struct finding){ "error", "cloud", "aws", error.text,
                                             "correct 'cloud' in stint.conf" });
    } else {
        tell_keys(report, ret);
        if (report->has_keys)
            tell_rights(report,
                        &(struct iam_words){
                            .account = report->account[0] != '\0' ? report->account : NULL,
                            .cluster = conf->cluster,
                            .launch_template = template != NULL && strncmp(template, "lt-", 3) == 0
                                                   ? template
                                                   : NULL,
                            .queue = queue != NULL ? queue + 1 : NULL,
                        },
                        ret);
        tell_queue(conf, ret);
    }
    if (has_catalogue)
        catalogue_done(&catalogue);
    mem_free(report);
}

/* ---- the local cloud ---- */

static void look_at_local(const struct conf *conf, struct findings *ret)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[sizeof(address.sun_path) + 128];

    if (fd < 0 || strlen(conf->cloud.socket) >= sizeof(address.sun_path))
        errno = ENAMETOOLONG;
    else
        (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", conf->cloud.socket);
    if (address.sun_path[0] != '\0' &&
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0) {
        findings_add(ret, &(struct finding){ "note", "cloud", "cloud.socket",
                                             "the local cloud answers", "nothing is to be done" });
    } else {
        (void)snprintf(text, sizeof(text), "the local cloud does not answer at %s: %s",
                       address.sun_path, strerror(errno));
        findings_add(ret, &(struct finding){ "error", "cloud", "cloud.socket", text,
                                             "start stint-cloud-local with this --socket" });
    }
    if (fd >= 0)
        (void)close(fd);
}

void cloud_findings(const struct conf *conf, struct findings *ret)
{
    if (conf->cloud.is_aws)
        look_at_aws(conf, ret);
    else
        look_at_local(conf, ret);
}
