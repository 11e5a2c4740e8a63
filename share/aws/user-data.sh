#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An example for 'cloud: { user_data: ... }' in stint.conf, for images that cloud-init starts. What is in
# braces is filled in by stintd. stint-join reads the six lines below by itself, so that an image in
# which stint-join.service is enabled needs nothing else; then leave 'user_data' away.
STINT_CLUSTER={cluster}
STINT_NODE={node}
STINT_TYPE={type}
STINT_ZONE={zone}
STINT_MARKET={market}
STINT_IDLE={idle}
mount -t nfs4 head.example.internal:/home /home
systemctl start stint-join
