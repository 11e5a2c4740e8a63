#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# boot-slurm.sh - what a machine of stint-cloud-local runs to be a node of a Slurm cluster.
#
# stint-cloud-local gives NAME, TYPE, FAMILY, MARKET, ZONE, TYPE_FEATURES, GPU_MODEL, CPUS, MEM_MIB, ACCELS,
# ADDRESS and FOLDER.
# Of the cluster it is told with --boot-env:
#
#   SLURM_ETC    folder with slurm.conf (/etc/slurm)
#   MUNGE_RUN    folder with munged's socket (/run/munge)
#   HOSTS        file for /etc/hosts; it must name the controller (/etc/hosts)
#   FEATURES     features of every node besides type, family, market, zone and those of the catalogue (cloud)
#   GRES_NAME    what an accelerator is called (gpu)
#   REAL_MEMORY  share of MEM_MIB that jobs may ask for, in percent (100)
#
# Mounts are the machine's own: a name look-up that would hang, and the files that slurmd writes, are
# covered here, and nothing of the host is changed.
set -eu

SLURM_ETC=${SLURM_ETC:-/etc/slurm}
MUNGE_RUN=${MUNGE_RUN:-/run/munge}
HOSTS=${HOSTS:-/etc/hosts}
FEATURES=${FEATURES:-cloud}
GRES_NAME=${GRES_NAME:-gpu}
REAL_MEMORY=${REAL_MEMORY:-100}

mkdir -p "$FOLDER/slurm" "$FOLDER/munge"
cp "$SLURM_ETC"/*.conf "$FOLDER/slurm/"
# Control groups belong to the host, so the cluster's way to hold jobs in them is not for its namespaces.
sed -i -E -e 's/^ *(ProctrackType) *=.*/\1=proctrack\/linuxproc/I' -e 's/^ *(TaskPlugin) *=.*/\1=task\/none/I' \
    -e 's/^ *(JobAcctGatherType) *=.*/\1=jobacct_gather\/none/I' "$FOLDER/slurm/slurm.conf"
spool=$(sed -n -E 's/^ *SlurmdSpoolDir *= *([^ #]*).*/\1/Ip' "$FOLDER/slurm/slurm.conf" | sed "s/%[nh]/$NAME/g")
spool=${spool:-/var/spool/slurmd}
cp "$HOSTS" "$FOLDER/hosts"
echo "$ADDRESS $NAME" >>"$FOLDER/hosts"
: >"$FOLDER/resolv.conf"

# Accelerators that are not there: slurmd wants a device file for each, and any will do.
: >"$FOLDER/slurm/gres.conf"
gres=
if [ "$ACCELS" -gt 0 ]; then
    echo "Name=$GRES_NAME ${GPU_MODEL:+Type=$GPU_MODEL }File=/dev/tty[10-$((9 + ACCELS))]" >"$FOLDER/slurm/gres.conf"
    gres="Gres=$GRES_NAME:${GPU_MODEL:+$GPU_MODEL:}$ACCELS"
fi

features=$FEATURES
for word in "$TYPE" "$FAMILY" "$MARKET" "$ZONE" "${TYPE_FEATURES:-}"; do
    [ -z "$word" ] || features="$features,$word"
done

mount --bind "$FOLDER/hosts" /etc/hosts
mount --bind "$FOLDER/resolv.conf" /etc/resolv.conf
mount --bind "$FOLDER/slurm" /etc/slurm
mount --bind "$MUNGE_RUN" "$FOLDER/munge"
mount -t tmpfs tmpfs /run
mkdir /run/munge
mount --move "$FOLDER/munge" /run/munge
mkdir -p "$spool"
mount -t tmpfs tmpfs "$spool"
unset SLURM_CONF

exec slurmd -D -Z -N "$NAME" --conf \
    "CPUs=$CPUS RealMemory=$((MEM_MIB * REAL_MEMORY / 100)) Feature=$features $gres"
