#!/usr/bin/env bats
# The catalogue's examples: what the code prints today.

load helper

@test "every example of a message is what the code prints" {
    expect_same "" "$(python3 "$here/messages.py" "$top")"
}

@test "an example that the code does not print is found" {
    mkdir "$BATS_TEST_TMPDIR/top"
    cp -r "$top/cli" "$top/exchange" "$top/guard" "$top/lib" "$top/shim" "$top/spank" "$top/watch" "$BATS_TEST_TMPDIR/top"
    sed -i 's/%s %s there %s: on %s/%s %s here %s, on %s/' "$BATS_TEST_TMPDIR/top/lib/exchange/checkranks.c"
    run python3 "$here/messages.py" "$BATS_TEST_TMPDIR/top"
    expect_same "RC602: rank 1 is there twice: on n2 and on n3" "$output"
}
