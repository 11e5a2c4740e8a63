/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_sts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cloud/aws/aws_fault.h"
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
    const struct aws_xml_sink sink = { .on_open = on_open, .on_close = on_close, .context = code };

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

/* ---- whose keys these are ---- */

struct who {
    bool is_answer;
    char account[AWS_STS_ACCOUNT_SIZE];
    char code[CODE_SIZE];
};

static void on_who_root(void *context, const char *name)
{
    struct who *who = context;

    who->is_answer = strcmp(name, "GetCallerIdentityResponse") == 0;
}

static void on_who(void *context, const char *path, uint32_t depth, const char *text)
{
    struct who *who = context;

    if (aws_xml_ends_in(path, "GetCallerIdentityResult/Account") &&
        strlen(text) + 1 == sizeof(who->account) && text[strspn(text, "0123456789")] == '\0')
        memcpy(who->account, text, sizeof(who->account));
    on_close(who->code, path, depth, text);
}

void aws_sts_ask_account(struct aws_form *ret)
{
    aws_form_begin(ret, "GetCallerIdentity", "2011-06-15");
}

int aws_sts_read_account(const struct aws_http_answer *answer, char *ret, struct error *reterr)
{
    struct who who = { 0 };
    const struct aws_xml_sink sink = {
        .on_open = on_open, .on_close = on_who, .context = &who, .on_root = on_who_root
    };
    enum aws_verdict verdict;

    if (answer->fault < 0)
        return error_set(reterr, answer->fault, "%s", answer->reason);
    const int rc = aws_xml_read(answer->body, answer->size, &sink, reterr);

    verdict = aws_fault_judge(answer, who.code);
    if (verdict == AWS_STALE_KEYS || aws_fault_is_of_keys(who.code))
        return error_set(reterr, -EKEYEXPIRED, "HTTP status %d, %s", answer->status, who.code);
    if (verdict != AWS_DONE)
        return error_set(reterr, -EIO, "HTTP status %d%s%s", answer->status,
                         who.code[0] != '\0' ? ", " : "", who.code);
    if (rc < 0)
        return rc;
    if (!who.is_answer || who.account[0] == '\0')
        return error_set(reterr, -EBADMSG, "the answer names no account");
    memcpy(ret, who.account, sizeof(who.account));
    return 0;
}
