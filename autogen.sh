#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# autogen.sh - makes a git checkout ready for ./configure. A release tarball does not need it.
set -eu
cd "$(dirname "$0")"

for tool in autoconf automake libtoolize pkg-config; do
    command -v "$tool" > /dev/null || {
        echo "autogen.sh: $tool is missing; on Debian: apt-get install autoconf automake libtool pkg-config" >&2
        exit 1
    }
done

mkdir -p build-aux
autoreconf --force --install --warnings=all,no-portability "$@"
