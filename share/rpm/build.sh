#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build.sh FOLDER   build the rpm packages of this tree in FOLDER, with the rpm tools that are here
#
# Where that is not an rpm system (Debian's package rpm, say), what must be installed for the build is not checked by rpm but by meson, and
# the packages are good for reading only: their libraries are those of this machine.
set -euo pipefail
[ $# -eq 1 ] || {
    sed -n '4s/^# //p' "$0" >&2
    exit 2
}
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/../.."
version=$(sed -n "s/^Version: *//p" share/rpm/stint.spec)
mkdir -p "$out"/{SOURCES,SPECS}
git ls-files -z | tar --null -T - --transform "s|^|stint-$version/|" -czf "$out/SOURCES/stint-$version.tar.gz"
checks=()
[ -e /etc/redhat-release ] || checks=(--nodeps)
rpmbuild -bb --quiet "${checks[@]}" --define "_topdir $out" share/rpm/stint.spec
find "$out/RPMS" -name '*.rpm' | sort
