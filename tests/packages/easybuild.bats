#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# EasyBuild's recipe: read, checked and built by the real EasyBuild, of PyPI.

# shellcheck disable=SC2154 # top, release, stderr come from helper and bats

load helper

version=$(cat "$(dirname "$BATS_TEST_FILENAME")/../../VERSION")
recipe=$(echo "$(dirname "$BATS_TEST_FILENAME")"/../../packaging/easybuild/rollcall-"$version"-*.eb)
# its easyconfigs are those of its dependencies
easybuild=(easybuild==5.4.1 pycodestyle==2.14.0)

setup_file()
{
    load helper
    need_of_pip easybuild "${easybuild[@]}"
    make_release
}

# eb ARGUMENT...: with nothing of this machine's but its compiler and Environment Modules
eb()
{
    # shellcheck disable=SC2016 # expanded there
    env -i PATH="$top/build/easybuild/bin:$system_path" HOME="$BATS_TEST_TMPDIR" LANG=C.UTF-8 \
        EASYBUILD_MODULES_TOOL=EnvironmentModules EASYBUILD_MODULE_SYNTAX=Tcl EASYBUILD_PREFIX="$BATS_TEST_TMPDIR/eb" \
        EASYBUILD_TMPDIR="$BATS_TEST_TMPDIR" EASYBUILD_SOURCEPATH="$release" EASYBUILD_PARALLEL="$(nproc)" \
        EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES=1 \
        bash -c '. /usr/share/modules/init/bash; exec eb "$@"' - "$@" 2>&1 3>&-
}

@test "EasyBuild reads the recipe, has each of its dependencies, and finds nothing to say" {
    # all of them, with those of their own, have an easyconfig
    run -0 eb --missing "$recipe"
    for one in Jansson hwloc PMIx binutils pkgconf rollcall; do
        grep -q "^\* $one/" <<< "$output" || { echo "no $one: $output"; return 1; }
    done
    # with the checksum, as its head says
    cp "$recipe" "$BATS_TEST_TMPDIR"
    recipe=$BATS_TEST_TMPDIR/$(basename "$recipe")
    run -0 eb "$recipe" --inject-checksums
    grep -q "^checksums = \['$(sha256sum "$release"/rollcall-*.tar.gz | cut -d ' ' -f 1)'\]\$" "$recipe"
    run -0 eb --check-contrib "$recipe"
    [[ $output == *'style checks PASSed'*'checksums checks PASSed'* ]]
    # and one that it has not is noticed
    sed -i "s/('Jansson', '[^']*')/('Jansson', '1')/" "$recipe"
    run eb --missing "$recipe"
    [ "$status" -ne 0 ]
}

@test "EasyBuild builds the recipe with the system's compiler and libraries; its module has all that a user needs" {
    run -0 eb "$recipe" --try-toolchain=system,system --filter-deps=binutils,pkgconf,PMIx,Jansson,hwloc
    [[ $output == *'Build succeeded for 1 out of 1'* ]]
    cat > "$BATS_TEST_TMPDIR/use" << 'USE'
. /usr/share/modules/init/bash
module use "$1"
module load rollcall
rollcall --version
rollcall map > /dev/null && echo map
python3 -c 'import rollcall; print(rollcall.version(), rollcall.identity().rank)'
pkg-config --modversion rollcall
man -w rollcall
module unload rollcall
command -v rollcall || echo gone
USE
    run -0 --separate-stderr env -i PATH="$system_path" HOME="$BATS_TEST_TMPDIR" LANG=C.UTF-8 \
        bash "$BATS_TEST_TMPDIR/use" "$BATS_TEST_TMPDIR/eb/modules/all"
    echo "$output" "$stderr"
    [ "${lines[0]}" = "rollcall $version" ]
    [ "$(grep -vE '^(plugin|found)' <<< "$output" | tail -n +2)" = "map
$version None
$version
$BATS_TEST_TMPDIR/eb/software/rollcall/$version/share/man/man1/rollcall.1
gone" ]
}
