#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# container.sh BUILD - the root file system of share/container is small, and its programs run in it as a user without rights. TAP.
set -u -o pipefail
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/..")
if [ "$(id -u)" != 0 ]; then
    echo "1..0 # SKIP only root can change the root of a program"
    exit 0
fi
if [ ! -f /etc/ssl/certs/ca-certificates.crt ]; then
    echo "1..0 # SKIP there are no certificates of authorities here (ca-certificates)"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
count=0
bad=0

point() { # NAME COMMAND...
    local name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        bad=1
    fi
}

inside() {
    env -i PATH=/usr/sbin:/usr/bin chroot --userspec=65532:65532 "$root" "$@"
}

is_small() {
    local size
    size=$(du -sk --apparent-size "$root" | cut -f1)
    echo "# $size KiB"
    [ "$size" -lt 30000 ]
}

# Outside of a pod it says what is missing.
runs() {
    inside /usr/sbin/stintd --version | sed 's/^/# /' && inside /usr/bin/stint-kubernetes --help >"$work/said" && grep -q watchdog "$work/said" &&
        ! inside /usr/bin/stint-kubernetes release 2>"$work/said" && grep -q "outside of a cluster" "$work/said"
}

has_no_shell() {
    ! find "$root" -name sh -o -name bash -o -name 'python*' -o -name perl | grep .
}

echo 1..4
point "the root file system is made" "$source/share/container/rootfs.sh" "$build" "$root"
point "it is smaller than 30 MB" is_small
point "its programs run as a user without rights" runs
point "there is no shell in it" has_no_shell
exit "$bad"
