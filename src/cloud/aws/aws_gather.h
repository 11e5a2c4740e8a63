/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_gather.h - ask EC2, and its Pricing API, what can be rented, and write it down as a catalogue.
 */
#ifndef STINT_CLOUD_AWS_GATHER_H
#define STINT_CLOUD_AWS_GATHER_H

#include "cloud/cloud_adapter.h"

/* For struct cloud_adapter. Takes some seconds. */
int aws_gather(const struct cloud_query *query, FILE *out, struct cloud_gathered *ret,
               struct error *reterr);

#endif
