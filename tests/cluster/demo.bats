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
