#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# demo.bats - contrib/demo/demo, the first thing that README.md has a reader type.

bats_require_minimum_version 1.5.0

load leftout

setup_file()
{
    needs_root || return 0
}

# From its first headline on, without the lines that stand between two others.
shown()
{
    awk '/^==/ { shown = 1 } shown && NF' | cut -c 1-112
}

@test "the demo prints what the picture of README.md shows" {
    top=$BATS_TEST_DIRNAME/../..
    run timeout -k 10 570 "$top/contrib/demo/demo" --prefix "$ROLLCALL_PREFIX"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(tail -n 1 <<< "$output")" = '  -> trained: 4 ranks, each once.' ]
    sed -n 's/.*<text [^>]*>\(.*\)<\/text>/\1/p' "$top/docs/before-after.svg" | sed 's/&gt;/>/g' > "$BATS_TEST_TMPDIR/picture"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/picture")" -ge 20 ]
    diff "$BATS_TEST_TMPDIR/picture" <(shown <<< "$output")
}

@test "without root, and where no package manager knows what is there, it shows one node" {
    top=$BATS_TEST_DIRNAME/../..
    folder=$(mktemp -d /var/tmp/rollcall-demo.XXXXXX)
    mkdir -p "$folder/contrib" "$folder/tests" "$folder/bin"
    cp -R "$top/contrib/demo" "$folder/contrib"
    cp -R "$top"/tests/setup{,.bash} "$folder/tests"
    for program in sudo dpkg-query; do
        printf '#!/bin/sh\nexit 1\n' > "$folder/bin/$program"
        chmod 755 "$folder/bin/$program"
    done
    # a user to whom PYTHON belongs
    run timeout -k 10 570 unshare --user --map-user=1000 env HOME="$folder" PATH="$folder/bin:$PATH" \
        "$folder/contrib/demo/demo" --prefix "$ROLLCALL_PREFIX"
    rm -rf --one-file-system "$folder"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'no root here: this shows one node'* ]]
    [ "$(tail -n 1 <<< "$output")" = '  -> trained: 2 ranks, each once.' ]
}
