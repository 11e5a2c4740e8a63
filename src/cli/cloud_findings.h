/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloud_findings.h - what is wrong between a configuration and its cloud, found without the daemon.
 *
 * Of EC2: whether there are keys and whose they are, which rights are missing and the statement of
 * the policy that would give them. Of the local cloud: whether its socket answers.
 *
 * Promises:  nothing is rented, ended or taken (aws_rights.h); no key is in any finding.
 */
#ifndef STINT_CLI_CLOUD_FINDINGS_H
#define STINT_CLI_CLOUD_FINDINGS_H

#include <stddef.h>

#include "cli/conf_findings.h"

/* Asks the cloud that a good configuration names; takes a few seconds. */
void cloud_findings(const struct conf *conf, struct findings *ret);

/* What the words in capitals of the policies stand for; NULL: they stay. */
struct iam_words {
    const char *account;
    const char *cluster;
    const char *launch_template;
    const char *queue; /* its name, not its URL */
};

/* The statements of share/aws that give 'action', one line of JSON, commas between; cut to 'size'.
 * Empty: there are none. */
void iam_statements(const char *action, const struct iam_words *words, char *ret, size_t size);

#endif
