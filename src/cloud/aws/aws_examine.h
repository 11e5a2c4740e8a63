/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_examine.h - what is wrong between a configuration and EC2, found without the daemon: whether
 * there are keys and whose they are, which rights are missing and the statement of the policy that
 * would give them.
 *
 * Promises:  nothing is rented, ended or taken (aws_rights.h); no key is in any finding.
 */
#ifndef STINT_CLOUD_AWS_EXAMINE_H
#define STINT_CLOUD_AWS_EXAMINE_H

#include <stddef.h>

#include "cloud/cloud_adapter.h"

/* Takes a few seconds. */
void aws_examine(const struct cloud_subject *subject, const struct finding_sink *to);

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
