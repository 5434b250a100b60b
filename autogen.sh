#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# autogen.sh - makes a git checkout ready for ./configure. A release tarball does not need it.
#
#   ./autogen.sh              everything
#   ./autogen.sh --families   only lib/launcher/families.am, from the registry
set -eu
cd "$(dirname "$0")"

# A launcher family is one file and one line in registry.def: this list is made from it.
families()
{
    sed -n 's/^ROLLCALL_LAUNCHER(\([a-z][a-z0-9_]*\)).*/\1/p' lib/launcher/registry.def | {
        echo '# Made by autogen.sh from registry.def: do not edit.'
        printf 'launcher_family_sources ='
        while read -r family; do
            printf ' \\\n\tlib/launcher/%s.c' "$family"
        done
        echo
    } > lib/launcher/families.am.new
    mv lib/launcher/families.am.new lib/launcher/families.am
}

if [ "${1:-}" = --families ]; then
    families
    exit 0
fi

for tool in autoconf automake libtoolize pkg-config; do
    command -v "$tool" > /dev/null || {
        echo "autogen.sh: $tool is missing; on Debian: apt-get install autoconf automake libtool pkg-config" >&2
        exit 1
    }
done

families
mkdir -p build-aux
autoreconf --force --install --warnings=all,no-portability "$@"
