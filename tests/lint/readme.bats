#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# README.md and README.ja.md say the same, and the picture is of what README.md shows.

load helper

# The levels of the headlines, in their order.
headlines()
{
    grep -oE '^#+ ' "$1"
}

# Code blocks: commands and what they print are not translated, only what stands behind a # is.
blocks()
{
    awk '/^```/ { code = !code } code || /^    [^ ]/' "$1" | sed 's/  *# .*//'
}

# What stands in backquotes: names, options and commands.
words()
{
    # shellcheck disable=SC2016 # they are meant
    grep -oE '`[^`]+`' "$1" | LC_ALL=C sort
}

@test "the Japanese README has the same headlines, commands and names" {
    expect_same "$(headlines "$top/README.md")" "$(headlines "$top/README.ja.md")"
    expect_same "$(blocks "$top/README.md")" "$(blocks "$top/README.ja.md")"
    expect_same "$(words "$top/README.md" | uniq)" "$(words "$top/README.ja.md" | uniq)"
    [ "$(words "$top/README.md" | wc -l)" -gt 100 ]
    # nothing of it was left in English
    run awk '/^```/ { code = !code } !code && /^[A-Za-z-].*[a-z] [a-z]/ && !/[^\x00-\x7f]/' "$top/README.ja.md"
    expect_same "" "$output"
}

@test "the picture is of the run that README.md shows" {
    awk '/^## /{ shown = /^## Before and after/ } /^    / && shown' "$top/README.md" | sed 's/^    //; s/^ *//' |
        grep -v '^$' > "$BATS_TEST_TMPDIR/lines"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -gt 10 ]
    sed -n 's/.*<text [^>]*> *\(.*\)<\/text>/\1/p' "$top/docs/before-after.svg" | sed 's/&gt;/>/g' > "$BATS_TEST_TMPDIR/drawn"
    while IFS= read -r line; do
        grep -qxF -e "$line" "$BATS_TEST_TMPDIR/drawn" || { echo "not in the picture: $line"; return 1; }
    done < "$BATS_TEST_TMPDIR/lines"
    # and the script draws it so
    contrib=$top/contrib/demo/picture
    { echo '== headline'; cat "$BATS_TEST_TMPDIR/lines"; } | "$contrib" > "$BATS_TEST_TMPDIR/picture.svg"
    [ "$(grep -c '<text ' "$BATS_TEST_TMPDIR/picture.svg")" -eq $(($(wc -l < "$BATS_TEST_TMPDIR/lines") + 1)) ]
    run "$contrib" <<< 'no headline'
    [ "$status" -eq 1 ]
}
