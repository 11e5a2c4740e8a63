/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iam_policies.h - the policies of share/aws, put into the program by the build.
 *
 * So that what the doctor tells to add is what the files have.
 */
#ifndef STINT_CLOUD_IAM_POLICIES_H
#define STINT_CLOUD_IAM_POLICIES_H

extern const char iam_policy[];    /* iam-policy.json, for the daemon */
extern const char iam_catalogue[]; /* iam-catalogue.json, for `stint catalogue refresh` */

#endif
