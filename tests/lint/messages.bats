#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The texts of the two catalogues.

load helper

@test "causes and cures are plain English, and a cure needs no other line" {
    expect_same "" "$(python3 "$here/sentences.py" "$top")"
}

# row CAUSE CURE: the two catalogues, with one message in each
row()
{
    mkdir -p "$BATS_TEST_TMPDIR/row/lib/base" "$BATS_TEST_TMPDIR/row/cli"
    printf 'ROLLCALL_MESSAGE(RC101, ERROR, PER_NODE,\n    "%s",\n    "%s")\n' "$1" "$2" \
        > "$BATS_TEST_TMPDIR/row/lib/base/messages.def"
    printf 'ROLLCALL_FINDING(D101, RC_LEVEL_ERROR,\n    "%s",\n    "%s")\n' "$1" "$2" \
        > "$BATS_TEST_TMPDIR/row/cli/findings.def"
    run -0 python3 "$here/sentences.py" "$BATS_TEST_TMPDIR/row"
}

@test "a sentence that is not plain is found, in both catalogues" {
    local ten='one two three four five six seven eight nine ten'
    row "$ten $ten; $ten" "$ten $ten; $ten. $ten"
    [ -z "$output" ]
    row "$ten $ten" "$ten"
    [ -z "$output" ]
    row "$ten $ten eleven" "$ten"
    expect_same "$(printf '%s: 15.5 words a sentence in the mean, more than 15\n' lib/base/messages.def cli/findings.def)" "$output"
    row "a; b; c" "$ten $ten $ten eleven; d"
    expect_same "$(printf "%s: cure: more than 30 words: $ten $ten $ten eleven\n" RC101 D101)" "$output"
}

@test "a cure that points back, and a house word, are found" {
    local back word
    for back in 'do what the line says' 'use a mode that the message lists' 'the message names it' 'set what the warning beside it names'; do
        row 'rank 0 has no port' "$back"
        [[ ${#lines[@]} = 2 && ${lines[0]} == 'RC101: cure: points back: '* && ${lines[1]} == 'D101: cure: points back: '* ]]
    done
    row 'rank 0 has no port' 'take the name out of the line of 127.0.0.1'
    [ -z "$output" ]
    for word in desk 'is told' nobody 'goes before' 'half an identity'; do
        row "rank 0 $word a port" 'unset it'
        [[ ${#lines[@]} = 2 && ${lines[0]} == "RC101: not a word of the field: ${word#is }" ]]
    done
}
