#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# embed.sh BUILD: install what is built in the folder BUILD, and use libstint as somebody else would: by
# pkg-config, with nothing of this tree but the example. In TAP.
#
# embed.sh --update BUILD: write tests/golden/embed.txt anew.
set -u
set -o pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
update=false
[ "$1" != --update ] || { update=true && shift; }
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

C=(gcc -std=c17 -Wall -Wextra -Werror -pedantic)
CXX=(g++ -x c++ -std=c++17 -Wall -Wextra -Werror -pedantic)

number=0
failed=0
try() { # try SENTENCE COMMAND...
    local sentence=$1 said
    number=$((number + 1))
    shift
    if said=$("$@" 2>&1); then
        echo "ok $number - $sentence"
        return 0
    fi
    failed=1
    echo "not ok $number - $sentence"
    tail -n 40 <<<"$said" | sed 's/^/# /'
    return 1
}

try_cxx() {
    command -v "${CXX[0]}" >/dev/null && { try "$@" || return 1; } && return
    number=$((number + 1))
    echo "ok $number - $1 # SKIP no ${CXX[0]}"
}

installs() {
    DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet --tags devel,runtime && [ -f "$(pc)" ]
}

pc() {
    find "$work/root" -name stint.pc
}

libdir() {
    dirname "$(dirname "$(pc)")"
}

flags() { # flags OPTION...: of the package in the folder that it was installed in
    PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_LIBDIR=$(dirname "$(pc)") \
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" stint
}

# No word in the names that a library shows but ours; the version itself is one.
is_ours() {
    ! grep -v -E '^(stint_[a-z_]+|STINT_0)$'
}

shown() { # what the shared library shows
    nm -D --defined-only "$(libdir)/libstint.so" | awk '{ print $3 }' | sed 's/@.*//' | LC_ALL=C sort -u
}

shows_only_ours() {
    shown | grep -q '^stint_controller_decide$' && shown | is_ours &&
        nm -g --defined-only "$(libdir)/libstint.a" | awk 'NF == 3 { print $3 }' | is_ours
}

# The list is also what Debian's tools hold the package to.
shows_what_is_listed() {
    diff <(shown) <(sed -n 's/^ \([A-Za-z0-9_]*\)@.*/\1/p' "$source/debian/libstint0.symbols" | LC_ALL=C sort -u)
}

needs_only_libc() {
    local needed
    needed=$(readelf -d "$(libdir)/libstint.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    echo "$needed"
    ! grep -v -E '^(libc|libm|ld-linux.*)\.so\.[0-9]+$' <<<"$needed"
}

installs_one_folder() {
    local folder found
    folder=$(dirname "$(dirname "$(find "$work/root" -path '*/stint/stint.h')")")
    found=$(cd "$folder" && find . -name '*.h' | grep -v '^\./stint/[a-z]*\.h$')
    echo "$found"
    [ -z "$found" ] && diff -r "$source/include/stint" "$folder/stint" && flags --cflags | grep -F -w -e "-I$folder"
}

# Every header compiles alone.
stands_alone() { # stands_alone COMPILER...
    local header
    local -a options
    read -r -a options < <(flags --cflags)
    for header in "$source"/include/stint/*.h; do
        echo "#include <stint/$(basename "$header")>" >"$work/alone.c"
        "$@" "${options[@]}" -fsyntax-only "$work/alone.c" || return 1
    done
}

builds() { # builds NAME COMPILER...
    local name=$1
    local -a options
    shift
    read -r -a options < <(flags --cflags --libs)
    "$@" -o "$work/$name" "$source/examples/embed/toy.c" "${options[@]}"
}

# Against the archive, whatever else is there.
builds_static() {
    local -a options
    read -r -a options < <(flags --cflags)
    "${C[@]}" -o "$work/static" "$source/examples/embed/toy.c" "${options[@]}" "$(libdir)/libstint.a" -lm
}

answers() { # answers NAME
    LD_LIBRARY_PATH=$(libdir) "$work/$1" >"$work/$1.txt" && diff "$source/tests/golden/embed.txt" "$work/$1.txt"
}

try "the library is installed" installs || { echo 1..1 && exit 1; }
if [ "$update" = true ]; then
    builds c "${C[@]}" && LD_LIBRARY_PATH=$(libdir) "$work/c" >"$source/tests/golden/embed.txt"
    exit
fi
try "there is one folder of headers, and all of them are in it" installs_one_folder
try "every name that is shown begins with stint_" shows_only_ours
try "the names are those of debian/libstint0.symbols" shows_what_is_listed
try "it needs libc and libm alone" needs_only_libc
try "each header compiles alone in C" stands_alone "${C[@]}"
try_cxx "each header compiles alone in C++" stands_alone "${CXX[@]}"
try "the example is built in C" builds c "${C[@]}" && try "and answers as it should" answers c
try_cxx "the example is built in C++" builds cxx "${CXX[@]}" && try_cxx "and answers the same" answers cxx
try "the example is built with the archive" builds_static && try "and answers the same" answers static
echo "1..$number"
exit "$failed"
