#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# chroot.sh FOLDER: make the files of a release (share/devel/release.sh), follow the README in a clean
# chroot, install the packages in another one, use them, remove them, and look for what is left. In TAP.
# All of it happens in FOLDER, and apt uses the sources of this machine. The README promises a result
# within README_S seconds. With CI_SAMPLE=yes other work runs at the same time, and only the result counts.
#
# chroot.sh --why-not: what keeps it from running here; fails if there is nothing to say.
set -u
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1

# What stint demo needs.
DEMO=(slurm-wlm slurm-wlm-plugins munge iproute2)
README_S=180

# What the packages themselves must leave behind is nothing. These change with every run of dpkg.
PRUNED=(/proc /sys /dev /run /tmp /var/cache /var/log /var/lib/apt)

why_not() {
    local name
    if [ "$(id -u)" -ne 0 ]; then
        echo "needs root, for a chroot"
        return
    fi
    for name in dpkg-buildpackage dh mmdebstrap lintian unshare; do
        command -v "$name" >/dev/null || {
            echo "no $name; Debian: dpkg-dev debhelper mmdebstrap lintian"
            return
        }
    done
    # apt tells what it has lists of, so an apt-get update comes first.
    [ -n "$(sources)" ] || echo "apt has no lists of Debian here"
}

# The sources of the release that runs here, in the form of sources.list.
sources() {
    local release
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    # shellcheck disable=SC2016 # apt fills these in
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 2>/dev/null |
        sed -n "s/^Debian $release\(-updates\|-security\)\{0,1\} deb /deb /p" | sort -u
}

# How this machine's apt gets at them: proxies, certificates, old snapshots.
apt_options() {
    apt-config dump | grep -E '^Acquire::(https?|Check-Valid-Until|Retries)\b' | grep -v '""' |
        sed 's/^/--aptopt=/'
}

number=0
failed=0
try() { # try SENTENCE COMMAND...
    local sentence=$1 log
    number=$((number + 1))
    log=$folder/$number.log
    shift
    if "$@" >"$log" 2>&1; then
        echo "ok $number - $sentence"
        return 0
    fi
    failed=1
    echo "not ok $number - $sentence"
    tail -n 40 "$log" | sed 's/^/# /'
    return 1
}

builds() {
    share/devel/release.sh --tree "$folder"
}

# has_sums: each file of the release is listed with its sum, and the container has its programs and its user.
has_sums() {
    local -a files=("$folder"/*.tar.gz "$folder"/*.deb)
    (cd "$folder" && sha256sum --check --quiet SHA256SUMS) &&
        [ "$(grep -c -e '\.deb$' -e '\.tar\.gz$' "$folder/SHA256SUMS")" -eq "${#files[@]}" ] &&
        tar -tvzf "$folder"/stint-container-*.tar.gz --numeric-owner >"$folder/listed" &&
        grep -q ' 65532/65532 .* ./var/lib/stint/$' "$folder/listed" && grep -q './usr/sbin/stintd$' "$folder/listed"
}

# The commands of the README's first block give a result.
follows_readme() {
    local since=$SECONDS
    mkdir "$root/stint" && tar -xzf "$folder"/stint-[0-9]*.tar.gz -C "$root/stint" --strip-components=1 &&
        sed -n '/^```sh$/,/^```$/p' "$root/stint/README.md" | sed '1d;/^```$/,$d' >"$root/stint.first" &&
        [ "$(wc -l <"$root/stint.first")" -le 3 ] &&
        inside bash -euc 'cd /stint; . /stint.first' | tee "$folder/readme.said" | tail -n 30 &&
        grep -q '^stint  *[0-9.]* *0\.' "$folder/readme.said" || return 1
    echo "$((SECONDS - since))" >"$folder/readme.s"
    [ "${CI_SAMPLE-}" = yes ] || [ "$(cat "$folder/readme.s")" -le "$README_S" ]
}

is_clean() {
    local said
    said=$(cd "$folder" && lintian --allow-root --fail-on error,warning --tag-display-limit 0 ./*.changes)
    echo "$said"
    [ -z "$said" ]
}

# Somebody else's program, with what the packages of the library have and nothing of this tree but the example.
links() {
    local root=$folder/devel toy=examples/embed/toy.c said=tests/golden/embed.txt libraries
    local -a flags
    rm -rf "$root"
    dpkg-deb -x "$folder"/libstint0_*.deb "$root" && dpkg-deb -x "$folder"/libstint-dev_*.deb "$root" &&
        read -r -a flags < <(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$(echo "$root"/usr/lib/*/pkgconfig) \
            PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs stint) &&
        cc -std=c17 -Wall -Wextra -Werror -pedantic -o "$root/toy" "$toy" "${flags[@]}" &&
        c++ -x c++ -std=c++17 -Wall -Wextra -Werror -pedantic -o "$root/toyxx" "$toy" "${flags[@]}" &&
        libraries=$(dirname "$root"/usr/lib/*/libstint.so) &&
        LD_LIBRARY_PATH=$libraries "$root/toy" | diff "$said" - &&
        LD_LIBRARY_PATH=$libraries "$root/toyxx" | diff "$said" -
}

makes_chroot() {
    local -a options
    mapfile -t options < <(apt_options)
    rm -rf "$folder/clean"
    sources | mmdebstrap --quiet --variant=minbase --mode=root "${options[@]}" \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$folder/clean" - &&
        cp -L /etc/resolv.conf "$folder/clean/etc/resolv.conf" &&
        echo '127.0.0.1 localhost' >"$folder/clean/etc/hosts"
}

# inside COMMAND...: in the chroot, with its own processes. The chroot is a mount, so that what runs in
# there can make namespaces of its own.
inside() {
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount --pid --fork --kill-child "${apart[@]}" sh -c '
        mount --bind "$0" "$0" && mount -t proc proc "$0/proc" &&
        mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}

copies_chroot() {
    rm -rf "$root" && cp -a "$folder/clean" "$root"
}

# What the packages and the demo stand on comes first, so that it is not taken for a trace of theirs.
# policy-rc.d: no service is started.
prepares() {
    local wanted
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    cp "$folder"/*.deb "$root/tmp/"
    wanted=$(for deb in "$folder"/*.deb; do
        dpkg-deb -f "$deb" Pre-Depends Depends | sed 's/^[A-Za-z-]*: //' | tr ',' '\n'
    done | cat - <(printf '%s\n' "${DEMO[@]}") | sed 's/^ *//' | grep -v -E '^(lib)?stint' | sort -u |
        paste -s -d ,)
    echo "$wanted"
    inside apt-get -q update && inside apt-get -q satisfy -y --no-install-recommends "$wanted"
}

# A line for everything there is: its kind, rights, owner and name, and of a file in /etc its sum.
listing() {
    local -a prune=()
    local path
    for path in "${PRUNED[@]}"; do
        prune+=(-path "$path" -prune -o)
    done
    inside find / -xdev "${prune[@]}" -printf '%y %m %u %g %p\n'
    # passwd- and the like are the copies from before the last change.
    inside find /etc -xdev -type f ! -name '*-' ! -name ld.so.cache -exec sha256sum {} +
}

installs() {
    listing | LC_ALL=C sort >"$folder/before"
    inside sh -c 'dpkg -i /tmp/*.deb'
}

purges() {
    local deb
    local -a names=()
    for deb in "$folder"/*.deb; do
        names+=("$(dpkg-deb -f "$deb" Package)")
    done
    inside dpkg --purge "${names[@]}" && ! inside dpkg -l 'stint*' 'libstint*' | grep '^[a-z][a-zA-Z] '
}

leaves_no_trace() {
    listing | LC_ALL=C sort >"$folder/after"
    [ -s "$folder/before" ] && diff "$folder/before" "$folder/after"
}

# The files of the packages must be seen by listing(), or it proves nothing.
is_seen() {
    listing | LC_ALL=C sort >"$folder/during"
    LC_ALL=C comm -13 "$folder/before" "$folder/during" | grep ' /usr/bin/stint$'
}

main() {
    folder=$1
    mkdir -p "$folder" || exit 1
    folder=$(realpath "$folder")
    root=$folder/root
    apart=()
    umask 022
    if try "the files of a release are made" builds; then
        try "their sums are right, and the container has its programs" has_sums
        try "lintian has nothing to say" is_clean
        try "another program links with libstint-dev, in C and in C++" links
        if try "a clean chroot is made" makes_chroot && try "it is copied" copies_chroot; then
            try "the README's first commands give a result" follows_readme
            [ ! -s "$folder/readme.s" ] || echo "# README: $(cat "$folder/readme.s") s"
        fi
        if try "another copy is clean" copies_chroot && try "what the packages need is there" prepares; then
            apart=(--net)
            try "the packages install" installs
            try "what they laid down is seen" is_seen
            cp debian/tests/smoke "$root/tmp/smoke"
            smoke
            try "the packages are purged" purges
            try "they leave no trace" leaves_no_trace
        fi
    fi
    echo "1..$number"
    rm -rf "$root" "$folder/clean"
    exit "$failed"
}

# Its points, under our numbers.
smoke() {
    local line
    inside sh /tmp/smoke >"$folder/smoke.log" || failed=1
    [ -s "$folder/smoke.log" ] || try "the packages are used" false
    while read -r line; do
        case $line in
        ok* | not*)
            number=$((number + 1))
            sed -E "s/^(ok|not ok) [0-9]+/\1 $number/" <<<"$line"
            ;;
        \#*) echo "$line" ;;
        esac
    done <"$folder/smoke.log"
}

if [ "${1-}" = --why-not ]; then
    reason=$(why_not)
    echo "$reason"
    [ -n "$reason" ]
    exit
fi
main "$@"
