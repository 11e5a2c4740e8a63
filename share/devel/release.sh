#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# release.sh FOLDER           make the files of a release of the last commit in FOLDER
# release.sh --tree FOLDER    the same of the files as they are, for tests
#
#   stint-VERSION.tar.gz              the source. The same commit gives the same bytes
#   *.deb, *.changes, *.buildinfo     the packages, built from that source
#   stint-container-VERSION.tar.gz    the root file system of the container, with the programs of the packages
#   SHA256SUMS                        of all of them
#
# As root (the container has a user of its own), on the release of Debian that the packages are for, with dpkg-dev and
# what `apt-get build-dep ./` installs. docs/internals/releasing.md says what comes before and after.
set -euo pipefail

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

is_release=yes
[ "${1-}" != --tree ] || { is_release=no && shift; }
[ $# -eq 1 ] || {
    sed -n '4,5s/^# //p' "$0" >&2
    exit 2
}
[ "$(id -u)" -eq 0 ] || fail "run it as root: files of the container belong to its own user"
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/../.."
here=(git -c safe.directory='*')
version=$(tests/version.py --print)
tests/version.py >/dev/null || fail "the files do not agree on the version: tests/version.py"
commit=HEAD
if ! "${here[@]}" diff --quiet HEAD; then
    [ "$is_release" = no ] || fail "there are changes that are not committed: a release is of a commit"
    commit=$("${here[@]}" -c user.name=release -c user.email=release@localhost stash create)
fi
SOURCE_DATE_EPOCH=$("${here[@]}" log -1 --format=%ct HEAD)
export SOURCE_DATE_EPOCH

rm -rf "$out"/tree "$out"/rootfs "$out"/stint-"$version".tar.gz "$out"/stint-container-"$version".tar.gz "$out"/*.deb \
    "$out"/*.changes "$out"/*.buildinfo "$out"/SHA256SUMS
echo "source of $("${here[@]}" rev-parse --short "$commit")"
"${here[@]}" archive --format=tar --prefix="stint-$version/" "$commit" 2>"$out/said" |
    gzip -9n >"$out/stint-$version.tar.gz" || fail "$(cat "$out/said")"

echo "packages"
mkdir "$out/tree"
tar -xzf "$out/stint-$version.tar.gz" -C "$out/tree" --strip-components=1
(cd "$out/tree" && DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=${JOBS:-$(nproc)}" dpkg-buildpackage -us -uc -b) \
    >"$out/said" 2>&1 || fail "the packages cannot be built:"$'\n'"$(tail -n 40 "$out/said")"

echo "container"
"$out/tree/share/container/rootfs.sh" "$(echo "$out"/tree/obj-*)" "$out/rootfs"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner -C "$out/rootfs" -cf - . |
    gzip -9n >"$out/stint-container-$version.tar.gz"
rm -rf "$out/tree" "$out/rootfs" "$out/said"

cd "$out"
sha256sum -- *.tar.gz *.deb *.changes *.buildinfo >SHA256SUMS
sed 's/^[0-9a-f]* *//' SHA256SUMS
