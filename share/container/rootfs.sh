#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# rootfs.sh BUILD TO - the root file system of an image: stintd, stint-kubernetes, the shared libraries that they are linked with,
# the certificates of authorities, and a user without rights.
set -eu
build=$1
to=$2
mkdir -p "$to/usr/sbin" "$to/usr/bin" "$to/etc/ssl/certs" "$to/var/lib/stint" "$to/tmp"
cp "$build/src/daemon/stintd" "$to/usr/sbin/"
cp "$build/src/engine/kubernetes/stint-kubernetes" "$to/usr/bin/"
strip "$to/usr/sbin/stintd" "$to/usr/bin/stint-kubernetes"
for library in $(ldd "$to/usr/sbin/stintd" "$to/usr/bin/stint-kubernetes" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
    mkdir -p "$to$(dirname "$library")"
    cp -L "$library" "$to$library"
done
cp -L /etc/ssl/certs/ca-certificates.crt "$to/etc/ssl/certs/"
echo 'stint:x:65532:65532::/var/lib/stint:/nonexistent' >"$to/etc/passwd"
echo 'stint:x:65532:' >"$to/etc/group"
echo 'hosts: files dns' >"$to/etc/nsswitch.conf"
chmod 1777 "$to/tmp"
chown 65532:65532 "$to/var/lib/stint" 2>/dev/null || echo "rootfs.sh: $to/var/lib/stint does not belong to the user of the image" >&2
