# SPDX-License-Identifier: BSD-3-Clause
# helper.bash - what all lint tests share; sourced by the .bats files.
#
# Environment: ROLLCALL_BUILD, the build folder (build/release); ROLLCALL_PREFIX,
# what it was installed to (build/prefix). tests/run sets and fills both.

bats_require_minimum_version 1.5.0

here=$BATS_TEST_DIRNAME
top=$(cd "$here/../.." && pwd)
build=${ROLLCALL_BUILD:-$top/build/release}
prefix=${ROLLCALL_PREFIX:-$top/build/prefix}

plugin=$prefix/lib/slurm/rollcall.so
preload=$prefix/lib/librollcall-preload.so
pins=$prefix/lib/librollcall-pins.so
lookup=$prefix/lib/librollcall-lookup.so
library=$prefix/lib/librollcall.so
command=$prefix/bin/rollcall
asker=$prefix/libexec/rollcall/rollcall-pmix
mapper=$prefix/libexec/rollcall/rollcall-map

# expect_same EXPECTED ACTUAL: two texts, and their difference where there is one.
expect_same()
{
    diff -u --label expected --label found <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

# A committed list without its comments, with this version's number.
list()
{
    grep -v '^#' "$here/$1" | sed "s/@VERSION@/$(cat "$top/VERSION")/g"
}

# launchers: the ids of the registry and of the platforms that it includes, in that order
launchers()
{
    sed -e "/^#include \"launcher\/platforms.def\"/r $top/lib/launcher/platforms.def" "$top/lib/launcher/registry.def" |
        sed -nE 's/^ROLLCALL_(LAUNCHER|PLATFORM)\(([a-z0-9]+)[,)].*/\2/p'
}

# Names of the dynamic symbols that an object defines, and of those it wants.
# nm without a version: rollcall_rank@@ROLLCALL_0.1 is rollcall_rank.
defined()
{
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

wanted()
{
    nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' | LC_ALL=C sort -u
}

needed()
{
    readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort
}

# files FOLDER|FILE...: those of the project; in a release's tree MANIFEST lists them.
files()
{
    if [ -e "$top/.git" ]; then
        git -c 'safe.directory=*' -C "$top" ls-files --cached --others --exclude-standard -- "$@" |
            LC_ALL=C sort
    else
        local place
        for place; do
            if [ "$place" = . ]; then cat "$top/MANIFEST"; else grep -E "^$place(/|\$)" "$top/MANIFEST"; fi
        done | LC_ALL=C sort
    fi
}
