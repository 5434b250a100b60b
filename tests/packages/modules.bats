#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The module files, loaded and unloaded by the real Lmod of three Debian releases and by Environment Modules.

load helper

version=$(cat "$(dirname "$BATS_TEST_FILENAME")/../../VERSION")

# As packaging/README.md says, "by hand": the release in /opt/rollcall/VERSION, but for that it is elsewhere until then.
setup_file()
{
    make_release
    mkdir "$BATS_FILE_TMPDIR/build"
    (cd "$BATS_FILE_TMPDIR/build" && tar -xzf "$release"/rollcall-*.tar.gz --strip-components=1 &&
        ./configure --quiet --prefix="/opt/rollcall/$version" --sysconfdir=/etc --with-slurm=/usr &&
        make -s -j"$(nproc)" && make -s install DESTDIR="$BATS_FILE_TMPDIR/installed") \
        > "$BATS_FILE_TMPDIR/log" 2>&1 || {
        tail -n 40 "$BATS_FILE_TMPDIR/log" >&2
        return 1
    }
}

# session ROOT SUFFIX [AS]: module-session in that root folder, with the files *SUFFIX there, called *AS. rollcall is
# where the module files say; all of it is mounted, and gone afterwards.
session()
{
    local work=$BATS_TEST_TMPDIR/work as=${3-$2}

    mkdir -p "$work/modules/rollcall" "$work/opt/rollcall/$version"
    cp "$top/packaging/modulefiles/rollcall$2" "$work/modules/rollcall/$version$as"
    cp "$top/packaging/modulefiles/rollcall$2" "$work/modules/rollcall/99$as"
    printf '#%%Module\nset ModulesVersion "%s"\n' "$version" > "$work/modules/rollcall/.version"
    cp "$top/packaging/modulefiles/rollcall-on$2" "$work/modules/rollcall-on$as"
    cp "$top/tests/packages/module-session" "$work/opt/module-session"
    run env -i PATH="$system_path" HOME=/root LANG=C.UTF-8 TERM=dumb \
        unshare --mount --pid --fork --kill-child -- sh -ec '
            root=$1 work=$2 installed=$3 version=$4
            mount --bind "$installed" "$work/opt/rollcall/$version"
            mkdir "$work/opt/modules"
            mount --bind "$work/modules" "$work/opt/modules"
            mount --rbind "$work/opt" "$root/opt"
            mount -t proc proc "$root/proc"
            [ "$root" = / ] || { mount --rbind /dev "$root/dev"; mount -t tmpfs tmpfs "$root/tmp"; }
            exec chroot "$root" bash -l -c ". /opt/module-session $version /opt/modules"' \
        - "$1" "$work" "$BATS_FILE_TMPDIR/installed/opt/rollcall/$version" "$version"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = 'all is well' ]
}

# lmod SERIES: in the root folder in which packages are built, which has it. Its own files, and those for Tcl.
lmod()
{
    MINICLUSTER_ROOTS=$roots/build "$make_root" "$1" "${build_packages[@]}"
    session "$roots/build/$1" .lua
    rm -rf "$BATS_TEST_TMPDIR/work"
    session "$roots/build/$1" .tcl ''
}

@test "Lmod of Debian 12: load puts the paths there, unload leaves nothing; rollcall-on sets ROLLCALL" {
    lmod 22.05
}

@test "Lmod of Debian 13: load puts the paths there, unload leaves nothing; rollcall-on sets ROLLCALL" {
    lmod 24.11
}

@test "Lmod of Debian testing: load puts the paths there, unload leaves nothing; rollcall-on sets ROLLCALL" {
    lmod 26.05
}

@test "Environment Modules: load puts the paths there, unload leaves nothing; rollcall-on sets ROLLCALL" {
    session / .tcl ''
}
