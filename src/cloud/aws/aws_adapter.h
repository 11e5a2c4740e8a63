/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_adapter.h - EC2 as one of the daemon's clouds; its settings are struct aws_settings.
 */
#ifndef STINT_CLOUD_AWS_ADAPTER_H
#define STINT_CLOUD_AWS_ADAPTER_H

#include "cloud/cloud_adapter.h"

extern const struct cloud_adapter aws_adapter;

#endif
