#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# page.bats - the page of rollcall check --html in a headless Chromium. What the command writes: check.bats.

# bats file_tags=all

load helper

# opens NODES [ODD]: the page of entries.py's step, with which browser.py finds nothing wrong
opens()
{
    local step=$BATS_TEST_TMPDIR/step
    page=$BATS_TEST_TMPDIR/page.html
    python3 "$BATS_TEST_DIRNAME/entries.py" "$@" > "$step"
    [ -n "${server_pid:-}" ] || open_server roll "$step"
    run --separate-stderr env "${at_server[@]}" "$rollcall" check --html
    [ -z "$stderr" ]
    echo "$output" > "$page"
    run -0 python3 "$BATS_TEST_DIRNAME/browser.py" "$page"
    echo "$output"
    [ -z "$output" ]
}

# shows SELECTOR: the texts of such elements in the browser, a line each
shows()
{
    python3 "$BATS_TEST_DIRNAME/browser.py" "$page" "$1"
}

# Rows of nodes: names, how many, ranks, GPUs, cards, cores, what differs
rows='section:last-of-type tr.first'

@test "two nodes that are alike are one row, and nothing is coloured" {
    opens 2
    [ "$(shows h1)" = 'Step 42.7' ]
    [ "$(shows .verdict)" = 'all nodes agree' ]
    [ "$(shows '.sums dd')" = $'2 of 2\n16\nworker\nn1:24512' ]
    [ "$(shows "$rows")" = 'n[1-2] 2 0-15 8 NVIDIA H100 80GB HBM3 8 mlx5 192' ]
    [ "$(shows '.dots li')" = $'n1 ranks 0-7\nn2 ranks 8-15' ]
    [ -z "$(shows '.odd, .odd-node, .blamed:not(i), pre')" ]
}

@test "odd nodes come first, each with the others' value beside its own" {
    opens 40 odd
    [ "$(shows .verdict)" = '5 warnings' ]
    [ "$(shows "$rows th")" = $'n[4-5]\nn9\nn14\nn21\nn[1-3,6-8,10-13,15-20,22-39]' ]
    # a node with fewer GPUs has fewer links
    [ "$(shows "$rows .odd")" = $'1511 GiB\n1024\n0.8.0\n7 NVIDIA H100 80GB HBM3' ]
    [ "$(shows "$rows .usual")" = \
        $'others: 2015 GiB\nothers: 1048576\nothers: 0.9.0\nothers: 8 NVIDIA H100 80GB HBM3' ]
    shows '#what-differs ~ div tr' | grep -qx 'memory 2015 GiB 1511 GiB on n\[4-5\]'
    [ "$(shows '.dots .missing')" = 'n40 has not answered' ]
    [ "$(shows '.dots .blamed b')" = $'n4\nn5\nn9\nn14\nn21' ]
    [ "$(shows pre)" = '--exclude=n4,n5,n9,n14,n21,n40' ]
}

@test "a thousand nodes are as many rows, and a dot each" {
    opens 1000 odd
    [ "$(shows "$rows th" | tail -n 1)" = 'n[1-3,6-8,10-333,335-500,502-999]' ]
    [ "$(shows "$rows" | wc -l)" = 5 ]
    [ "$(shows '.dots li[title]' | wc -l)" = 1000 ]
    [ "$(shows '.dots .blamed' | wc -l)" = 5 ]
    # what a row stands for is drawn when it is opened
    [ "$(shows 'td' | wc -l)" -lt 100 ]
}

@test "where no value is that of most nodes, each is coloured" {
    opens 2 kernels
    [ "$(shows .odd)" = $'6.1.0\n6.5.0\n6.1.0\n6.5.0' ]
    [ "$(shows '#what-differs ~ div td:nth-child(2)')" = - ]
    [ -z "$(shows .usual)" ]
}

@test "amounts that are almost the same are not coloured, whatever their units" {
    opens 5 memory
    [ "$(shows .odd)" = $'1511 GiB\n1511 GiB' ]
    [ "$(shows .usual)" = 'others: 2015 GiB' ]
    [ "$(shows '.dots .blamed b')" = n5.example ]
    [ -z "$(shows '.dots .missing')" ]
    [ "$(shows '.sums div:last-child dd')" = '[fd00::1]:24512' ]
}

@test "a first node of which little is understood" {
    opens 3 foreign
    [ "$(shows '.sums dd')" = $'3 of 3\n24\n-\n-' ]
    [ "$(shows '.dots .blamed b')" = n1 ]
}

@test "a roll with errors" {
    opens 4 twice
    [ "$(shows .verdict.error)" = '1 error' ]
    [ "$(shows '.message.error b')" = 'error RC602' ]
}

@test "components are not compared with each other" {
    opens 6 components
    [ "$(shows .verdict)" = 'all nodes agree' ]
    [ "$(shows "$rows th")" = $'n[1-3]\nn[4-6]' ]
    [ -z "$(shows .odd)" ]
}

@test "texts of users and nodes are shown and not run" {
    opens 6 hostile
    shows '.sums dd' | grep -qF '</script><script>alert(1)</script><img src=x onerror="alert('
    [ -z "$(shows 'img, b b')" ]
}

@test "a page that loads something, hides the keyboard or is hard to read is found" {
    opens 3
    sed -i 's|^<body>|<body><script>1</script><img src="http://127.0.0.1:1/x.png">|; s/--text: #1b1f26/--text: #999/
        s/:focus-visible { outline: 3px solid/:focus-visible { outline: 0 none/; s/make("thead"/make("tbody"/' "$page"
    run -0 python3 "$BATS_TEST_DIRNAME/browser.py" "$page"
    [[ $output == *'it has 3 scripts'* ]]
    [[ $output == *'it has img'* ]]
    [[ $output == *'a table without headings'* ]]
    [[ $output == *'light: a contrast of '* ]]
    [[ $output == *'where the keyboard is cannot be seen'* ]]
}
