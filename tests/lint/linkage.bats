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

# Four families were 48 KiB; the next thirteen, with what they need of files and lists of hosts, were 2 KiB each.
# The order of the network, and Slurm's own numbers beside it, is half a KiB.
# What a task sees of the GPUs is 5 KiB, what it is told of cores and network cards 4, what a container sees and gets 3,
# what torchrun and accelerate were given themselves 2, the order of a Slurm step's nodes 2, the keys same and
# lookup, and the check of what a stamp tells, 2, and to plan once more with what was learned 1.
@test "the preload is small: 70 KiB of code, and 2.25 KiB for each launcher family" {
    size=$(size -A "$preload" | awk '$1 == ".text" { print $2 }')
    families=$(grep -c '^ROLLCALL_LAUNCHER(' "$top/lib/launcher/registry.def")
    echo "$size bytes of code, $families families"
    [ "$families" -ge 4 ]
    [ "$size" -lt $((71680 + 2304 * families)) ]
}

@test "no object holds a folder of the machine that it was built on" {
    for object in "$plugin" "$preload" "$pins" "$lookup" "$library" "$command" "$asker" "$mapper"; do
        strip --strip-debug -o "$BATS_TEST_TMPDIR/stripped" "$object"
        run grep -cF "$top" "$BATS_TEST_TMPDIR/stripped"
        [ "$output" = 0 ]
    done
}
