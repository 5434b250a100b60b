#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# demo.bats - contrib/demo/demo, the first thing that README.md has a reader type.

bats_require_minimum_version 1.5.0

load leftout

setup_file()
{
    needs_root || return 0
}

# What it shows of the Lightning script, without and with rollcall.
shown()
{
    awk '/^== without rollcall/ { shown = 1 } /^== plain torch/ { shown = 0 } shown && !/^==/ && NF'
}

@test "the demo prints what README.md shows, and srun --ddp trains" {
    top=$BATS_TEST_DIRNAME/../..
    run timeout -k 10 570 "$top/contrib/demo/demo" --prefix "$ROLLCALL_PREFIX"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(tail -n 1 <<< "$output")" = '  -> trained: 4 ranks, each once.' ]
    awk '/^## / { shown = /^## Before and after/ } /^    / && shown' "$top/README.md" | sed 's/^    //' \
        > "$BATS_TEST_TMPDIR/readme"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/readme")" -ge 15 ]
    diff "$BATS_TEST_TMPDIR/readme" <(shown <<< "$output")
}
