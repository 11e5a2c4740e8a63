/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_sts.h - what is said to STS to take on a role or to learn whose keys these are, and what it answers.
 *
 * Promises:  any answer may be read. An error tells the code that STS refuses with, never its message:
 *            that of a wrong signature quotes what was signed, and a session's token is part of it.
 */
#ifndef STINT_CLOUD_AWS_STS_H
#define STINT_CLOUD_AWS_STS_H

#include "base/error.h"

enum { AWS_STS_ACCOUNT_SIZE = 13 }; /* 12 digits */

struct aws_form;
struct aws_http_answer;
struct aws_role_step;
struct aws_secret;

/* Fill the body of a request: with a web identity's token one that needs no signature; NULL: AssumeRole,
 * which is to be signed with the keys that may take the role on. */
void aws_sts_ask(const struct aws_role_step *step, const char *web_token, struct aws_form *ret);

/* The keys of the role. */
int aws_sts_read(const struct aws_http_answer *answer, struct aws_secret *ret,
                 struct error *reterr);

/* Fill the body of GetCallerIdentity, which needs no right. */
void aws_sts_ask_account(struct aws_form *ret);

/* The account of its answer, into 'ret' of AWS_STS_ACCOUNT_SIZE bytes. -EKEYEXPIRED: the keys are not, or no
 * longer, known. */
int aws_sts_read_account(const struct aws_http_answer *answer, char *ret, struct error *reterr);

#endif
