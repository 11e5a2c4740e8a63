/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_defaults.h - the text of examples/offers.csv, for `stint pool` without a catalogue.
 */
#ifndef STINT_CLI_POOL_DEFAULTS_H
#define STINT_CLI_POOL_DEFAULTS_H

extern const char pool_defaults[];

#endif
