/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_examine.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_rights.h"
#include "cloud/aws/iam_policies.h"
#include "control/ports/findings.h"

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

/* ---- findings ---- */

static void tell_keys(const struct aws_rights_report *report, const struct finding_sink *to)
{
    if (report->has_keys) {
        finding_tell(to,
                     &(struct finding_case){ FINDING_CREDENTIALS, .subject = "credentials",
                                             .severity = "note", .advice = "Nothing to do." },
                     "stintd uses the keys from %s%s%s%s", report->source,
                     report->who[0] != '\0' ? " (" : "", report->who,
                     report->who[0] != '\0' ? ")" : "");
        return;
    }
    finding_tell(to,
                 &(struct finding_case){
                     FINDING_CREDENTIALS, .subject = "credentials", .severity = "error",
                     .advice = "Give stintd keys or a role. The AWS configuration page lists the "
                               "places that it searches, in order." },
                 report->source[0] != '\0' ? "stintd cannot use the keys from %s: %s"
                                           : "stintd has found no keys%s: %s",
                 report->source, report->why);
}

static void tell_missing(const struct aws_rights_report *report, enum aws_right_name name,
                         const struct iam_words *words, const struct finding_sink *to)
{
    const struct aws_right *right = &aws_rights[name];
    char statements[STATEMENTS_SIZE];
    char advice[STATEMENTS_SIZE + 512];

    iam_statements(right->action, words, statements, sizeof(statements));
    (void)snprintf(advice, sizeof(advice), "Add to the policy of %s: %s",
                   report->who[0] != '\0' ? report->who : "the owner of these keys", statements);
    finding_tell(to,
                 &(struct finding_case){ FINDING_RIGHT, .subject = right->action,
                                         .severity = right->is_for_catalogue ? "warning" : "error",
                                         .advice = advice },
                 "%s lacks this right (%s)",
                 right->is_for_catalogue ? "`stint catalogue refresh`" : "stintd",
                 report->rights[name].detail);
}

static void tell_wrong(const struct aws_right *right, const char *detail,
                       const struct finding_sink *to)
{
    const bool is_launch = strcmp(right->action, "ec2:RunInstances") == 0;

    finding_tell(
        to,
        &(struct finding_case){
            FINDING_REQUEST_REFUSED, .subject = right->action,
            .severity = right->is_for_catalogue ? "warning" : "error",
            .advice = is_launch ? "Every launch would fail like this. Correct the launch template, "
                                  "image, subnets or quota named here."
                                : "Correct the setting named here, or try again later." },
        "AWS would refuse this request: %s", detail);
}

static void tell_rights(const struct aws_rights_report *report, const struct iam_words *words,
                        const struct finding_sink *to)
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
            tell_missing(report, (enum aws_right_name)i, words, to);
            break;
        case AWS_RIGHT_UNTRIED:
            finding_tell(to,
                         &(struct finding_case){
                             FINDING_RIGHT, .subject = aws_rights[i].action, .severity = "note",
                             .advice = i == AWS_RIGHT_PRODUCTS ? "Supply the prices in a file."
                                                               : "Run this check again later." },
                         "%s", answer->detail);
            break;
        case AWS_RIGHT_WRONG:
            tell_wrong(&aws_rights[i], answer->detail, to);
            break;
        }
    }
    if (used > 0)
        finding_tell(to,
                     &(struct finding_case){ FINDING_RIGHT, .subject = "allowed",
                                             .severity = "note", .advice = "Nothing to do." },
                     "%s", there);
}

static void tell_queue(const struct aws_settings *settings, const struct finding_sink *to)
{
    if (settings->queue == NULL)
        finding_tell(to, &(struct finding_case){ FINDING_NO_QUEUE, .subject = "cloud.queue" },
                     "stint.conf names no queue, so stint-join on the machine alone learns "
                     "of an interruption");
}

static int ask(const struct cloud_subject *subject, struct aws_rights_report *report,
               struct error *reterr)
{
    const struct aws_settings *settings = subject->settings;
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
                                                         .catalogue = subject->catalogue,
                                                         .cluster = subject->cluster,
                                                         .node_prefix = subject->node_prefix,
                                                         .settings = settings },
                            report, reterr);
    aws_client_destroy(client);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    return rc;
}

void aws_examine(const struct cloud_subject *subject, const struct finding_sink *to)
{
    const struct aws_settings *settings = subject->settings;
    const char *queue = settings->queue != NULL ? strrchr(settings->queue, '/') : NULL;
    const char *template = settings->launch_template;
    struct aws_rights_report *report = mem_alloc(1, sizeof(*report));
    struct error error = { "" };

    if (ask(subject, report, &error) < 0) {
        finding_tell(to,
                     &(struct finding_case){ FINDING_CLOUD, .subject = "aws", .severity = "error",
                                             .advice = "Correct 'cloud' in stint.conf." },
                     "%s", error.text);
    } else {
        tell_keys(report, to);
        if (report->has_keys)
            tell_rights(report,
                        &(struct iam_words){
                            .account = report->account[0] != '\0' ? report->account : NULL,
                            .cluster = subject->cluster,
                            .launch_template = template != NULL && strncmp(template, "lt-", 3) == 0
                                                   ? template
                                                   : NULL,
                            .queue = queue != NULL ? queue + 1 : NULL,
                        },
                        to);
        tell_queue(settings, to);
    }
    mem_free(report);
}
