/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_sts.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_role.h"
#include "cloud/aws/aws_secret_read.h"
#include "cloud/aws/aws_xml.h"

enum { CODE_SIZE = 64 };

void aws_sts_ask(const struct aws_role_step *step, const char *web_token, struct aws_form *ret)
{
    aws_form_begin(ret, web_token != NULL ? "AssumeRoleWithWebIdentity" : "AssumeRole",
                   "2011-06-15");
    aws_form_add(ret, "RoleArn", step->role);
    aws_form_add(ret, "RoleSessionName", step->session[0] != '\0' ? step->session : "stint");
    if (step->seconds > 0)
        aws_form_number(ret, "DurationSeconds", step->seconds);
    if (web_token == NULL && step->external_id[0] != '\0')
        aws_form_add(ret, "ExternalId", step->external_id);
    aws_form_add(ret, "WebIdentityToken", web_token);
}

static void on_open(void *context, const char *path, uint32_t depth)
{
    (void)context;
    (void)path;
    (void)depth;
}

static void on_close(void *context, const char *path, uint32_t depth, const char *text)
{
    static const char *const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.";

    (void)depth;
    if (aws_xml_ends_in(path, "Error/Code") && text[strspn(text, letters)] == '\0')
        (void)snprintf(context, CODE_SIZE, "%s", text);
}

int aws_sts_read(const struct aws_http_answer *answer, struct aws_secret *ret, struct error *reterr)
{
    char code[CODE_SIZE] = "";
    const struct aws_xml_sink sink = { on_open, on_close, code };

    if (answer->fault < 0)
        return error_set(reterr, answer->fault, "%s", answer->reason);
    if (answer->status == 200)
        return aws_secret_read_xml(answer->body, answer->size, ret, reterr);
    (void)aws_xml_read(answer->body, answer->size, &sink, NULL);
    return error_set(reterr, -EACCES, "HTTP status %d%s%s%s", answer->status,
                     code[0] != '\0' ? ", " : "", code,
                     strcmp(code, "AccessDenied") == 0
                         ? ": the role must trust who asks, and who asks needs sts:AssumeRole"
                         : "");
}
