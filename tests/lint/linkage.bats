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

@test "the plugin loads libc and nothing else" {
    expect_same libc.so.6 "$(needed "$plugin")"
}

@test "the library loads libc and nothing else" {
    expect_same libc.so.6 "$(needed "$library")"
}

@test "the preload loads nothing" {
    expect_same "" "$(needed "$preload")"
    expect_same "" "$(needed "$pins")"
    expect_same "" "$(needed "$lookup")"
}

@test "the command loads libc and nothing else" {
    expect_same libc.so.6 "$(needed "$command")"
}

# hwloc is for `rollcall map`: what is loaded into others, and what each task starts, does without.
@test "the program that draws the map, and no other, loads hwloc" {
    expect_same "$(printf '%s\n' libc.so.6 libhwloc.so.15)" "$(needed "$mapper")"
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$prefix/libexec/rollcall/rollcall-exchange"; do
        run needed "$object"
        [[ $output != *hwloc* ]]
    done
}

# libpmix comes and goes with the launcher's environment: it is opened where it is needed.
@test "the program that asks PMIx loads libc and nothing else" {
    expect_same libc.so.6 "$(needed "$asker")"
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

@test "no object has a search path of its own" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        run dynamic "$object"
        [[ $output != *RPATH* && $output != *RUNPATH* ]]
    done
}

@test "no object relocates its code" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        run dynamic "$object"
        [[ $output != *TEXTREL* ]]
    done
}

@test "no object has a stack that can be executed" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        segments "$object" | grep -qE 'GNU_STACK.* RW +0x'
    done
}

@test "no object has a segment that can be written and executed" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        run segments "$object"
        [[ ! $output =~ LOAD[^$'\n']*RWE ]]
    done
}

@test "every object binds at start and makes its tables read-only" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        segments "$object" | grep -q GNU_RELRO
        dynamic "$object" | grep -qE '\(FLAGS_1\).*NOW|BIND_NOW'
    done
}

@test "the programs are position-independent" {
    for object in "$command" "$asker" "$mapper"; do
        readelf -hW "$object" | grep -q 'Type: *DYN'
    done
}

@test "plugin, library and programs have a stack protector, the preload has none" {
    for object in "$plugin" "$library" "$command" "$asker" "$mapper"; do
        wanted "$object" | grep -qx __stack_chk_fail
    done
    run wanted "$preload"
    [[ $output != *__stack_chk* ]]
}

# Each process that it is loaded into maps it. The limit leaves some 3 KiB for what is next; raise it with a reason.
@test "the preload is small: 120 KiB of code" {
    size=$(size -A "$preload" | awk '$1 == ".text" { print $2 }')
    echo "$size bytes of code"
    [ "$size" -lt $((120 * 1024)) ]
}

@test "no object holds a folder of the machine that it was built on" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        strip --strip-debug -o "$BATS_TEST_TMPDIR/stripped" "$object"
        run grep -cF "$top" "$BATS_TEST_TMPDIR/stripped"
        [ "$output" = 0 ]
    done
}
