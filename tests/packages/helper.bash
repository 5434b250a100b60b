# SPDX-License-Identifier: BSD-3-Clause
# helper.bash - what the tests of packages share: root folders of Debian releases, and what is done in them.
#
# For each series of Slurm, that is for each Debian release (contrib/minicluster/make-root), two root folders are kept
# in $MINICLUSTER_ROOTS/packages: build/SERIES with what a build needs, and clean/SERIES with Slurm and what the packages
# depend on, which is copied for each test. The release that is packed is made here, by make dist.
#
# Environment: ROLLCALL_DEBS, a folder that keeps the packages from one run to the next (default: none, they are built).

bats_require_minimum_version 1.5.0

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/setup.bash
. "$top/tests/setup.bash"
roots=${MINICLUSTER_ROOTS:-/var/lib/minicluster-roots}/packages
make_root=$top/contrib/minicluster/make-root
minicluster=$top/contrib/minicluster/minicluster
build_packages=(debhelper dh-python libcmocka-dev libhwloc-dev libpmix-dev pkgconf python3 lintian
    dpkg-dev build-essential lmod)
clean_packages=(libhwloc15 python3)
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# inside ROOT CMD...: there, in a mount namespace of its own
inside()
{
    env -i PATH="$system_path" HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${DEB_BUILD_OPTIONS:+DEB_BUILD_OPTIONS="$DEB_BUILD_OPTIONS"} \
        unshare --mount --pid --net --fork --kill-child -- sh -c '
            ip link set lo up && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$@"' - "$@"
}

# The release, once a file of tests: $release.
make_release()
{
    release=$BATS_FILE_TMPDIR/release
    (copy_sources "$release" && cd "$release" && ./autogen.sh &&
        ./configure --quiet --without-slurm --without-pmix --without-hwloc && make dist) \
        > "$BATS_FILE_TMPDIR/release.log" 2>&1 || {
        cat "$BATS_FILE_TMPDIR/release.log" >&2
        return 1
    }
    export release
}

# need_packages_of SERIES: $debs, a folder with its packages; built where no earlier test has
need_packages_of()
{
    local root=$roots/build/$1 there status=0
    debs=${ROLLCALL_DEBS:-$BATS_FILE_TMPDIR}/debs.$1
    [ ! -d "$debs" ] || return 0
    MINICLUSTER_ROOTS=$roots/build "$make_root" "$1" "${build_packages[@]}"
    # in the root folder, which is kept: what was made there is moved away
    there=$(mktemp -d "$root/build.XXXXXX")
    cp "$release"/rollcall-*.tar.gz "$top/packaging/build-debian" "$there"
    DEB_BUILD_OPTIONS="parallel=$(nproc)" inside "$root" sh -ec 'cd "$1"
        ./build-debian rollcall-*.tar.gz out > log 2>&1
        lintian --allow-root --fail-on none --suppress-tags newer-standards-version,out-of-date-standards-version \
            out/*.changes > lintian 2>&1' - "${there#"$root"}" || status=$?
    if [ "$status" -eq 0 ]; then
        mv "$there/out" "$debs"
        mv "$there/lintian" "$debs"
    else
        grep -aE '^(not ok|# (TOTAL|PASS|FAIL|ERROR):|FAIL:|ERROR:)' "$there/log" | head -n 20
        tail -n 40 "$there/log"
    fi
    rm -rf --one-file-system "$there"
    return "$status"
}

# need_clean SERIES: $root, a folder of this test's own
need_clean()
{
    MINICLUSTER_ROOTS=$roots/clean "$make_root" "$1" "${clean_packages[@]}"
    root=$BATS_TEST_TMPDIR/root
    cp -a --reflink=auto "$roots/clean/$1" "$root"
}

# deb NAME...: the files of these packages, copied into $root; their names there
deb()
{
    local name file
    mkdir -p "$root/debs"
    for name; do
        for file in "$debs/${name}_"*.deb; do
            cp "$file" "$root/debs" && printf '/debs/%s\n' "${file##*/}"
        done
    done
}

# What is in the root folder, but for what dpkg, apt and the loader keep for themselves.
listing()
{
    (cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache -o -path ./debs \
        -o -path ./etc/ld.so.cache -o -path ./run -o -path ./tmp -o -path ./dev -o -path ./proc -o -path ./sys \) -prune \
        -o -printf '%y %m %U:%G %p\n' | LC_ALL=C sort -k 4)
}

# A cluster of that root folder, as its administrator has configured plugins.
cluster_up()
{
    export MINICLUSTER_NAME=packages-$$
    "$minicluster" up --name "$MINICLUSTER_NAME" --root "$root" --plugstack "$root/etc/slurm/plugstack.conf" \
        > "$BATS_TEST_TMPDIR/up" 2>&1 3>&- || {
        cat "$BATS_TEST_TMPDIR/up" >&2
        return 1
    }
}

cluster_down()
{
    [ -z "${MINICLUSTER_NAME:-}" ] || "$minicluster" down --name "$MINICLUSTER_NAME" 3>&-
}

login()
{
    # this folder is not in that root folder
    (cd / && exec "$minicluster" run --name "$MINICLUSTER_NAME" -i login "$@" 3>&-)
}

no_node_is_drained()
{
    run -0 login sinfo --noheader --Node --states=drain,draining,drained,down,fail -o '%N %T %E'
    [ -z "$output" ]
}

# need_of_pip NAME REQUIREMENT...: a virtual environment in build/NAME, which is kept
need_of_pip()
{
    local folder=$top/build/$1 python
    shift
    [ "$(cat "$folder/holds" 2> /dev/null)" != "$*" ] || return 0
    rm -rf --one-file-system "$folder"
    python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
    "$python" -m venv "$folder" >&2
    "$folder/bin/pip" -q --disable-pip-version-check install "$@" >&2
    printf '%s\n' "$*" > "$folder/holds"
}
