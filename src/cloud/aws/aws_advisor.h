/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_advisor.h - how often spot machines are interrupted, from the file of AWS's Spot Instance Advisor.
 *
 * No API tells it. The public file spot-advisor-data.json has per region, system and type the index
 * of a band, and what the bands are as labels for people: "<5%", "5-10%", ">20%". Its numbers 'max'
 * say something else than the labels (11 beside "5-10%"); the labels are what AWS shows.
 *
 * Promises:  what is read is checked, also of the types that were not asked for; on failure the
 *            catalogue is as before. Keys that are of no use here are passed over.
 * Bounds:    those of trace/doc.h, ADVISOR_BANDS_MAX bands, LIMIT_OFFERS types. O(bytes).
 */
#ifndef STINT_CLOUD_AWS_ADVISOR_H
#define STINT_CLOUD_AWS_ADVISOR_H

#include <stddef.h>

#include "base/error.h"
#include "cloud/aws/aws_catalogue.h"

enum { ADVISOR_BANDS_MAX = 16 };

/* The bands of the region's types, for Linux. A region without any is an error. */
int aws_advisor_read(const char *text, size_t size, const char *region,
                     struct aws_catalogue *catalogue, struct error *reterr);

#endif
