#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# configure: what is missing is said, what was asked for and is not there is an error.

load helper

# The builds here differ from build/release in a part: they lie beside it, and what both compile alike comes from
# tests/run's ccache.
setup()
{
    mkdir -p "$top/build"
    tree=$(mktemp -d "$top/build/configure.XXXXXX")
    tree_before=$PATH
    [ ! -d "$top/build/ccache" ] || {
        export CCACHE_DIR=$top/build/ccache CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
        PATH=/usr/lib/ccache:$PATH
    }
}

teardown()
{
    PATH=$tree_before
    rm -rf --one-file-system "$tree"
}

# What configure finds of the compiler and of libc, not of libraries.
setup_file()
{
    (cd "$BATS_FILE_TMPDIR" && "${BATS_TEST_DIRNAME%/tests/lint}/configure" --quiet --config-cache) \
        > "$BATS_FILE_TMPDIR/configure.log" 2>&1
    sed -i -E '/slurm|spank|pmix|hwloc|cmocka|pkg_|PKG_/Id' "$BATS_FILE_TMPDIR/config.cache"
}

# configure [ARGUMENT...]: in a folder of this test's own.
configure()
{
    (cd "$tree" && "$top/configure" --quiet "$@" 2>&1)
}

# with_cache [ARGUMENT...]: the same with the compiler and flags of all, which need not be looked at again
with_cache()
{
    cp "$BATS_FILE_TMPDIR/config.cache" "$tree/config.cache"
    configure --config-cache "$@"
}

@test "all parts are found here, and the summary says so" {
    run configure
    [ "$status" -eq 0 ]
    [[ $output == *"plugin            yes, for Slurm "* ]]
    [[ $output == *"asking PMIx       yes, with the headers of PMIx "* ]]
    [[ $output == *"rollcall map      yes, with hwloc "* ]]
    [[ $output == *"unit tests        yes, with cmocka "* ]]
    [[ $output != *costs:* ]]
    # folders as they will be
    [[ $output == *$'\n  plugin folder     /usr/local/lib/slurm\n  plugstack folder  /usr/local/etc/slurm/plugstack.conf.d'* ]]
}

@test "--with-slurm names a folder without Slurm: an error that says what was looked for" {
    run with_cache --with-slurm="$BATS_TEST_TMPDIR/none"
    [ "$status" -ne 0 ]
    [[ $output == *"--with-slurm=$BATS_TEST_TMPDIR/none was given, but there is no usable slurm/spank.h"* ]]
}

# bats test_tags=all
@test "--with-pmix, --with-hwloc and --with-cmocka, too" {
    for part in pmix hwloc cmocka; do
        run with_cache --with-$part="$BATS_TEST_TMPDIR/none"
        [ "$status" -ne 0 ]
        [[ $output == *"--with-$part=$BATS_TEST_TMPDIR/none was given, but no usable $part is there"* ]]
    done
}

@test "--with-slurm takes a folder of its own headers" {
    mkdir -p "$BATS_TEST_TMPDIR/slurm/include"
    cp -r "$(dirname "$(echo '#include <slurm/spank.h>' | gcc -M -x c - | grep -o '/[^ ]*slurm/spank.h')")" \
        "$BATS_TEST_TMPDIR/slurm/include/slurm"
    sed -i 's/^\(#define SLURM_VERSION_NUMBER\) .*/\1 0x190501/' \
        "$BATS_TEST_TMPDIR/slurm/include/slurm/slurm_version.h"
    run with_cache --with-slurm="$BATS_TEST_TMPDIR/slurm"
    [ "$status" -eq 0 ]
    [[ $output == *"plugin            yes, for Slurm 25.05"* ]]
}

# bats test_tags=all
@test "without Slurm the rest is built" {
    run with_cache --enable-werror --without-slurm --without-pmix --prefix="$BATS_TEST_TMPDIR/prefix"
    [ "$status" -eq 0 ]
    [[ $output == *"plugin            no"*"costs: srun --ddp"*"libslurm-dev"* ]]
    make -C "$tree" -j2 install > "$BATS_TEST_TMPDIR/make.log" 2>&1
    prefix=$BATS_TEST_TMPDIR/prefix
    [ -f "$prefix/lib/librollcall-preload.so" ]
    [ -f "$prefix/include/rollcall.h" ]
    [ ! -e "$prefix/lib/slurm" ]
    [ ! -e "$prefix/etc" ]
    run env -i OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 \
        "$prefix/bin/rollcall" show --long
    [[ $output == *"set  RANK "*"set  MASTER_PORT "* ]]
    run "$prefix/bin/rollcall" explain RC301
    [ "$status" -eq 0 ]
}

# bats test_tags=all
@test "without PMIx the rest is built, and what asks it says what is missing; --with-plugindir moves the plugin" {
    run with_cache --enable-werror --without-pmix --with-plugindir="$BATS_TEST_TMPDIR/plugins" --prefix="$BATS_TEST_TMPDIR/prefix"
    [ "$status" -eq 0 ]
    [[ $output == *"asking PMIx       no"*"costs: rollcall exec under prterun"*"libpmix-dev"* ]]
    make -C "$tree" -j2 install > "$BATS_TEST_TMPDIR/make.log" 2>&1
    [ -f "$BATS_TEST_TMPDIR/plugins/rollcall.so" ]
    grep -q "^optional $BATS_TEST_TMPDIR/plugins/rollcall.so" \
        "$BATS_TEST_TMPDIR/prefix/etc/slurm/plugstack.conf.d/rollcall.conf"
    [ -x "$BATS_TEST_TMPDIR/prefix/libexec/rollcall/rollcall-exchange" ]
    [ ! -e "$BATS_TEST_TMPDIR/prefix/libexec/rollcall/rollcall-pmix" ]
    run env -i PMIX_NAMESPACE=prterun-n1-76@1 PMIX_RANK=1 "$BATS_TEST_TMPDIR/prefix/bin/rollcall" exec -- true
    [ "$status" -eq 1 ]
    [[ $output == *"RC120"* ]]
}

# bats test_tags=all
@test "without hwloc the rest is built, and rollcall map says what is missing" {
    run with_cache --enable-werror --without-hwloc --without-slurm --without-pmix
    [ "$status" -eq 0 ]
    [[ $output == *"rollcall map      no"*"costs: rollcall map."*"libhwloc-dev"* ]]
    run sed -n 's/^am__append_[0-9]* = //p; s/^pkglibexec_PROGRAMS = //p' "$tree/Makefile"
    [[ $output != *rollcall-map* ]]
    make -C "$tree" -j2 rollcall
    run "$tree/rollcall" map
    [ "$status" -eq 2 ]
    [ "$output" = "rollcall: map: this rollcall was built without hwloc; install it (Debian: libhwloc-dev) and build again" ]
    "$tree/rollcall" map --help > /dev/null
}

# bats test_tags=all
@test "an hwloc that is too old is as good as none, and the summary says why" {
    mkdir -p "$BATS_TEST_TMPDIR/hwloc/include" "$BATS_TEST_TMPDIR/hwloc/lib/pkgconfig"
    cp -r "$(dirname "$(echo '#include <hwloc.h>' | gcc -M -x c - | grep -o '/[^ ]*/hwloc\.h')")"/hwloc* \
        "$BATS_TEST_TMPDIR/hwloc/include"
    sed -i 's/^\(#define HWLOC_API_VERSION\) .*/\1 0x00020100/' "$BATS_TEST_TMPDIR/hwloc/include/hwloc.h"
    printf 'Name: hwloc\nDescription: old\nVersion: 2.1.0\nCflags: -isystem %s\nLibs: -lhwloc\n' \
        "$BATS_TEST_TMPDIR/hwloc/include" > "$BATS_TEST_TMPDIR/hwloc/lib/pkgconfig/hwloc.pc"
    run with_cache --with-hwloc="$BATS_TEST_TMPDIR/hwloc" --without-slurm
    [ "$status" -eq 0 ]
    [[ $output == *"rollcall map      no: hwloc 2.1.0 is older than 2.5"*"costs: rollcall map."* ]]
}

# bats test_tags=all
@test "the command finds what asks PMIx wherever both are installed to" {
    way()
    {
        run with_cache --without-slurm "$@"
        [ "$status" -eq 0 ] || return 1
        sed -n 's/^#define ROLLCALL_LIBEXEC_FROM_BIN "\(.*\)"$/\1/p' "$tree/lib/config.h"
    }
    expect_same ../libexec/rollcall "$(way --prefix=/usr)"
    expect_same ../lib/x86_64-linux-gnu/rollcall "$(way --prefix=/usr --libexecdir=/usr/lib/x86_64-linux-gnu)"
    expect_same ../../opt/tools/libexec/rollcall "$(way --prefix=/usr --exec-prefix=/opt/tools --bindir=/usr/bin)"
}

# bats test_tags=all
@test "without cmocka make check fails and says what to install" {
    run with_cache --without-cmocka
    [ "$status" -eq 0 ]
    [[ $output == *"unit tests        no"*"libcmocka-dev"* ]]
    run make -C "$tree" check-local
    [ "$status" -ne 0 ]
    [[ $output == *"configure found no cmocka"*"libcmocka-dev"* ]]
}

@test "--with-plugindir wants a whole path" {
    run with_cache --with-plugindir=relative
    [ "$status" -ne 0 ]
}

# bats test_tags=all
@test "a distribution's hardening flags do not reach the preload" {
    run configure CFLAGS="-g -O2 -fstack-protector-all -fstack-clash-protection" CPPFLAGS=-D_FORTIFY_SOURCE=2
    [ "$status" -eq 0 ]
    make -C "$tree" -j2 shim/librollcall-preload.la lib/librollcall.la
    expect_same environ "$(wanted "$tree/shim/.libs/librollcall-preload.so")"
    wanted "$tree/lib/.libs/librollcall.so" | grep -qx __stack_chk_fail
}

# bats test_tags=all
@test "the preload needs no libc without optimisation either" {
    run configure CFLAGS="-g -O0"
    [ "$status" -eq 0 ]
    make -C "$tree" -j2 shim/librollcall-preload.la
    expect_same environ "$(wanted "$tree/shim/.libs/librollcall-preload.so")"
}

# bats test_tags=all
@test "clang builds everything without a warning" {
    run configure --enable-werror CC=clang
    [ "$status" -eq 0 ]
    make -C "$tree" -j2
    expect_same environ "$(wanted "$tree/shim/.libs/librollcall-preload.so")"
}

# The unit tests as they are run in another layer, and the plugin with sanitizers in a third.
# bats test_tags=all
@test "the unit tests pass under address and undefined-behaviour sanitizers" {
    run configure --enable-werror --enable-sanitizers
    [ "$status" -eq 0 ]
    [[ $output == *"sanitizers        address,undefined"* ]]
    make -C "$tree" -j2 check
}

@test "a sanitizer that there is not is an error" {
    run configure --enable-sanitizers=nonsense
    [ "$status" -ne 0 ]
    [[ $output == *"cannot link with -fsanitize=nonsense"* ]]
}
