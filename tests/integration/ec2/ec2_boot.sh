#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ec2_boot.sh NODE TYPE ZONE MARKET - what stint-join starts in an instance of the lab, in the place of slurmd.
#
# The namespaces of one host all have the host's processors and memory: what the type has comes by the
# environment (CPUS, MEM_MIB, ACCELS, ADDRESS, FOLDER), and share/local/boot-slurm.sh starts slurmd with it.
set -eu
export NAME=$1 TYPE=$2 ZONE=$3 MARKET=$4 FAMILY=${2%%.*}
hostname "$NAME"
exec bash "$(dirname "$(readlink -f "$0")")/../../../share/local/boot-slurm.sh"
