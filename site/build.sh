#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# site/build.sh [FOLDER]    build the documentation site there (build-site/html); every warning is an error,
#                           also links to pages and headings that do not exist
# site/build.sh --why-not   says what is missing, and succeeds if something is
#
# Needs Python 3 with venv, a Python package index for site/requirements.txt, and mandoc (Debian: mandoc).
set -euo pipefail
cd "$(dirname "$0")/.."
work=build-site

environment() {
    cmp -s site/requirements.txt "$work/venv/made-from" 2>/dev/null && return
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" &&
        "$work/venv/bin/pip" --disable-pip-version-check install --quiet --requirement site/requirements.txt &&
        cp site/requirements.txt "$work/venv/made-from"
}

mkdir -p "$work"
if [ "${1-}" = --why-not ]; then
    command -v mandoc >/dev/null || { echo "there is no mandoc"; exit 0; }
    environment >/dev/null 2>&1 || { echo "no Python index has what site/requirements.txt names"; exit 0; }
    exit 1
fi
environment
"$work/venv/bin/mkdocs" build --quiet --strict --config-file mkdocs.yml --site-dir "$PWD/${1:-$work/html}"
