/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/clouds.h"

#include <assert.h>

#include "cloud/aws/aws_adapter.h"
#include "cloud/karpenter/karpenter_adapter.h"
#include "cloud/local/local_adapter.h"

const struct cloud_adapter *const clouds[] = { &local_adapter, &aws_adapter, &karpenter_adapter,
                                               NULL };

static_assert(sizeof(clouds) / sizeof(*clouds) <= CLOUDS_MAX + 1, "raise CLOUDS_MAX");
