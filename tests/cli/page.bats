#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# page.bats - the page of rollcall check --html in a real browser, a headless Chromium. Its text: check.bats.

# bats file_tags=all

load helper

# opens NODES [ODD]: the page of entries.py's step; browser.py finds nothing wrong with it
opens()
{
    python3 "$BATS_TEST_DIRNAME/entries.py" "$@" > "$BATS_TEST_TMPDIR/step"
    [ -n "${server_pid:-}" ] || open_server roll "$BATS_TEST_TMPDIR/step"
    run --separate-stderr env "${at_server[@]}" "$rollcall" check --html
    echo "$output" > "$BATS_TEST_TMPDIR/page.html"
    expect_nothing_wrong
}

expect_nothing_wrong()
{
    run -0 python3 "$BATS_TEST_DIRNAME/browser.py" "$BATS_TEST_TMPDIR/page.html"
    echo "$output"
    [ -z "$output" ]
}

@test "a page of three nodes, alike and not" {
    opens 3
    opens 3 odd
}

@test "a page of forty nodes" {
    opens 40 odd
}

@test "a page of a thousand nodes" {
    opens 1000 odd
}

@test "a page of texts that are none of its own" {
    opens 40 hostile
}

@test "a page that loads something, hides the keyboard or is hard to read is found" {
    opens 3
    sed -i 's|^<body>|<body><script>1</script><img src="http://127.0.0.1:1/x.png">|; s/--text: #1b1f26/--text: #999/
        s/:focus-visible { outline: 3px solid/:focus-visible { outline: 0 none/; s/^<thead>.*//' "$BATS_TEST_TMPDIR/page.html"
    run -0 python3 "$BATS_TEST_DIRNAME/browser.py" "$BATS_TEST_TMPDIR/page.html"
    [[ $output == *'it has script'* && $output == *'it has img'* && $output == *'a table without headings'* ]]
    [[ $output == *'light: a contrast of '* && $output == *'where the keyboard is cannot be seen'* ]]
}
