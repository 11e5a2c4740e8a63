#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# debian_root.sh make ROOT SUITE PACKAGE...   make ROOT the root folder of that Debian with these packages, unless it is
# debian_root.sh run ROOT COMMAND...          run COMMAND in there, in the project, which is at /src
# debian_root.sh --why-not                    what keeps it from running here; fails if there is nothing to say
#
# For the tests with another release of Slurm: each Debian has one. The packages come from where this machine's apt has
# its own. ROOT is made anew if it was made for something else. Nothing is started in there, and what is mounted for a
# command is gone with it.
set -u
set -o pipefail
cd "$(dirname "$0")/../../.." || exit 1

why_not() {
    local name
    if [ "$(id -u)" -ne 0 ]; then
        echo "needs root, for a root folder of another Debian"
        return
    fi
    for name in mmdebstrap unshare; do
        command -v "$name" >/dev/null || {
            echo "no $name; Debian: mmdebstrap util-linux"
            return
        }
    done
    [ -n "$(mirror)" ] || echo "apt has no lists of Debian here"
}

mirror() {
    # shellcheck disable=SC1091,SC2016 # what this machine runs; apt fills these in
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n "s/^Debian $(. /etc/os-release && echo "${VERSION_CODENAME-}") //p" | sort -u | head -n 1
}

# The lists of a Debian that is still being made may be older than they say they may; their signatures are checked.
make_root() { # ROOT SUITE PACKAGE...
    local root=$1 suite=$2 wanted
    local -a options
    shift 2
    wanted="$suite $*"
    [ "$(cat "$root.made" 2>/dev/null)" != "$wanted" ] || return 0
    mapfile -t options < <(apt-config dump | grep -E '^Acquire::(https?|Retries)\b' | grep -v '""' | sed 's/^/--aptopt=/')
    rm -rf --one-file-system "$root" "$root.made"
    mkdir -p "$(dirname "$root")"
    mmdebstrap --quiet --variant=apt --mode=root --include="$(IFS=,; echo "$*")" --dpkgopt=force-unsafe-io \
        --aptopt='Acquire::Check-Valid-Until "false"' "${options[@]}" "$suite" "$root" "$(mirror)" &&
        mkdir -p "$root/src" && echo "$wanted" >"$root.made"
}

# Its root folder must be a mount and not a chroot, as the tests make namespaces of their own.
run_inside() { # ROOT COMMAND...
    # shellcheck disable=SC2016 # the inner shell expands it
    exec unshare --mount --propagation private bash -euc '
        root=$1
        shift
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        mount -t tmpfs tmpfs "$root/run"
        mount --bind . "$root/src"
        cd "$root"
        mkdir -p .old
        pivot_root . .old
        umount -l /.old
        cd /src
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"' run "$@"
}

case ${1-} in
--why-not)
    reason=$(why_not)
    echo "$reason"
    [ -n "$reason" ]
    ;;
make) make_root "${@:2}" ;;
run) run_inside "${@:2}" ;;
*)
    sed -n '4,6s/^# //p' "$0" >&2
    exit 2
    ;;
esac
