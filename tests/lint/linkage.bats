#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# How the objects are linked: what they load, and what hardens them.

load helper

dynamic()
{
    readelf -dW "$1"
}

segments()
{
    readelf -lW "$1"
}

exchange=$prefix/libexec/rollcall/rollcall-exchange
all=("$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$exchange" "$mapper")

# libpmix comes and goes with the launcher's environment: it is opened where it is needed.
@test "plugin, library and programs load libc and nothing else, but for the map's, which loads hwloc" {
    for object in "$plugin" "$library" "$command" "$asker" "$exchange"; do
        expect_same libc.so.6 "$(needed "$object")"
    done
    expect_same "$(printf '%s\n' libc.so.6 libhwloc.so.15)" "$(needed "$mapper")"
}

@test "what is preloaded loads nothing" {
    expect_same "" "$(needed "$preload")$(needed "$pins")$(needed "$lookup")"
}

soname()
{
    dynamic "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

@test "the library's soname has a version, those of plugin and preload have none" {
    expect_same librollcall.so.0 "$(soname "$library")"
    expect_same rollcall.so "$(soname "$plugin")"
    expect_same librollcall-preload.so "$(soname "$preload")"
    expect_same librollcall-pins.so "$(soname "$pins")"
    expect_same librollcall-lookup.so "$(soname "$lookup")"
    [ ! -L "$preload" ]
    [ ! -L "$plugin" ]
}

@test "no object has a search path, relocates its code, or has a stack or segment that can be written and executed" {
    for object in "${all[@]}"; do
        echo "$object"
        run -1 grep -E 'RPATH|RUNPATH|TEXTREL' <(dynamic "$object")
        segments "$object" | grep -qE 'GNU_STACK.* RW +0x'
        run -1 grep -E 'LOAD.*RWE' <(segments "$object")
    done
}

@test "every object binds at start and makes its tables read-only" {
    for object in "${all[@]}"; do
        segments "$object" | grep -q GNU_RELRO
        dynamic "$object" | grep -qE '\(FLAGS_1\).*NOW|BIND_NOW'
    done
}

@test "the programs are position-independent" {
    for object in "$command" "$asker" "$exchange" "$mapper"; do
        readelf -hW "$object" | grep -q 'Type: *DYN'
    done
}

@test "plugin, library and programs have a stack protector, the preload has none" {
    for object in "$plugin" "$library" "$command" "$asker" "$exchange" "$mapper"; do
        wanted "$object" | grep -qx __stack_chk_fail
    done
    run wanted "$preload"
    [[ $output != *__stack_chk* ]]
}

# Each process that it is loaded into maps it. The limit leaves some 3 KiB for what is next; raise it with a reason.
# (128 and not 120: tables of pointers became code, and the loader writes to three pages fewer.)
@test "the preload is small: 128 KiB of code" {
    size=$(size -A "$preload" | awk '$1 == ".text" { print $2 }')
    echo "$size bytes of code"
    [ "$size" -lt $((128 * 1024)) ]
}

@test "no object holds a folder of the machine that it was built on" {
    for object in "${all[@]}"; do
        strip --strip-debug -o "$BATS_TEST_TMPDIR/stripped" "$object"
        run grep -cF "$top" "$BATS_TEST_TMPDIR/stripped"
        [ "$output" = 0 ]
    done
}
