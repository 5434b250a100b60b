#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Plain English: short sentences in each page that people read.

load helper

# measured FILE: its words, sentences, mean and longest sentence
measured()
{
    "$here/prose" "$1" | awk 'NR == 2 { print $1, $2, $3, $4 }'
}

@test "each page has 15 words a sentence in the mean, and 35 at most" {
    cd "$top"
    "$here/prose" man/*.in README.md docs/*.md docs/jobs/*.md CONTRIBUTING.md HACKING.md SECURITY.md SKILL.md contrib/*/README.md packaging/README.md
}

@test "what is no prose is not counted: Markdown" {
    cat > "$BATS_TEST_TMPDIR/page.md" << 'END'
# A headline of no interest. To anyone.

One two [three](https://example.org/a.b) `four words. in code` five.
Six "seven." Eight e.g. nine!

    a block. Of code.

| a table | of. cells. |
|---|---|

- A label
- An item goes on
  here.

```
another block. Of code.
```
Without a full stop it is counted
END
    expect_same "22 5 4.4 7" "$(measured "$BATS_TEST_TMPDIR/page.md")"
}

@test "what is no prose is not counted: roff" {
    cat > "$BATS_TEST_TMPDIR/page.7" << 'END'
'\" t
.TH PAGE 7 2026-11-22 "page" "page"
.SH A HEADLINE
One two
.B "three words"
four
.RB ( five ).
.PP
.EX
a block. Of code.
.EE
.TP
.B a tag. Of a list.
An item goes on here.
.TS
l l.
a table	of. cells.
.TE
END
    expect_same "10 2 5.0 5" "$(measured "$BATS_TEST_TMPDIR/page.7")"
}

@test "a long sentence, a long mean and an expression of the house are named" {
    words=$(seq 36 | tr '\n' ' ')
    echo "$words goes before desks." > "$BATS_TEST_TMPDIR/page.md"
    run -1 "$here/prose" "$BATS_TEST_TMPDIR/page.md"
    [[ $output == *"39.0 words a sentence, 15 at most"* ]]
    [[ $output == *"39 words, 35 at most: 1 2 3 "* ]]
    [[ $output == *'"goes before" (takes precedence over)'* ]]
    [[ $output == *'"desks" (rendezvous server)'* ]]
}

@test "comments: the product's -> at most one word a line, few words of the house" {
    mapfile -t sources < <(files lib spank shim cli libexec | grep '\.[ch]$')
    [ ${#sources[@]} -gt 150 ]
    expect_same "" "$(python3 "$here/comments.py" "$top" "${sources[@]}")"
}

@test "comments: too many words a line, too many of one word -> both named; text in strings is not counted" {
    mkdir "$BATS_TEST_TMPDIR/lib"
    printf '/* one where two */\nchar *text = "/* own own own own own own */";\n' > "$BATS_TEST_TMPDIR/lib/a.c"
    expect_same 'all folders: 1.50 comment words a line, 1.0 at most
lib: 1.50 comment words a line, 1.3 at most
"where": 333.3 of 1,000 comment words, 1.5 at most' "$(python3 "$here/comments.py" "$BATS_TEST_TMPDIR" lib/a.c)"
}
