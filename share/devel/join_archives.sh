#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# join_archives.sh LD OBJCOPY AR OUT ARCHIVE...: one archive of one object, in which every name is local that
# is not meant for others (visibility "default"), so that it cannot clash with a name of the program.
set -eu
ld=$1 objcopy=$2 ar=$3 out=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ld" -r -o "$work/stint.o" --whole-archive "$@"
"$objcopy" --localize-hidden "$work/stint.o"
rm -f "$out"
"$ar" rcsD "$out" "$work/stint.o"
